/* Files that asyncdbg writes: where they go, what they replace, and what they never touch. */
#include "debugger/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/base/arena.h"
#include "debugger/base/file.h"
#include "debugger/base/path.h"

static const struct file_format whole_format = { .begins = "whole" };

/*
 * A host, and in it the root of another process, seen through a link of /proc as /proc/PID/root is:
 * its folder tmp is an absolute link, which leads to a folder of both.
 */
struct two_roots {
	char host[64], root[96];
	char inside[64]; /* /proc/self/fd/N of the root */
	int fd;
};

static const char *text_in(struct arena *a, const char *folder, const char *name)
{
	return arena_printf(a, "%s/%s", folder, name);
}

static void make(const char *path, const char *text)
{
	int fd CLEANUP(file_close) = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void assert_has(const char *path, const char *text)
{
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	char got[64];

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got)), strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

static struct error *save_text(const char *path, const char *text)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	TRY(new_file_open(path, 0600, &whole_format, &file));
	fputs(text, file.f);
	return new_file_finish(&file);
}

static void assert_refused(const char *path, const char *why)
{
	struct error *err CLEANUP(error_freep) = save_text(path, "whole");

	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
	assert_non_null(strstr(err->message, why));
}

/* asyncdbg opens such a root as /proc/PID/root; here it is a descriptor, which is a like link. */
static void begin_roots(struct two_roots *r)
{
	SCRATCH(a);

	strcpy(r->host, "/tmp/new_file_test.XXXXXX");
	assert_non_null(mkdtemp(r->host));
	snprintf(r->root, sizeof(r->root), "%s/root", r->host);
	assert_int_equal(mkdir(r->root, 0700), 0);
	assert_int_equal(mkdir(text_in(&a, r->host, "shared"), 0700), 0);
	/* Absolute links: in the root they mean ROOT/tmp/..., for the host the host's folder. */
	const char *within = text_in(&a, r->root, r->host + 1);
	assert_int_equal(mkdir(text_in(&a, r->root, "tmp"), 0700), 0);
	assert_int_equal(mkdir(within, 0700), 0);
	assert_int_equal(mkdir(text_in(&a, within, "shared"), 0700), 0);
	assert_int_equal(symlink(text_in(&a, r->host, "shared"), text_in(&a, r->root, "link")), 0);
	r->fd = open(r->root, O_PATH | O_CLOEXEC);
	assert_true(r->fd >= 0);
	snprintf(r->inside, sizeof(r->inside), "/proc/self/fd/%d", r->fd);
}

static void end_roots(struct two_roots *r)
{
	SCRATCH(a);

	close(r->fd);
	assert_int_equal(system(arena_printf(&a, "rm -rf %s", r->host)), 0);
}

static void test_it_is_there_only_when_finished(void **state)
{
	char directory[] = "/tmp/new_file_test.XXXXXX";
	struct new_file file = { 0 };
	SCRATCH(a);

	(void)state;
	assert_non_null(mkdtemp(directory));
	const char *path = text_in(&a, directory, "file"), *link = text_in(&a, directory, "link");
	assert_null(new_file_open(path, 0600, &whole_format, &file));
	fputs("half", file.f);
	new_file_drop(&file);
	assert_int_equal(access(path, F_OK), -1);
	assert_null(save_text(path, "whole"));
	assert_has(path, "whole");
	assert_null(save_text(path, "whole again"));
	assert_has(path, "whole again");
	struct error *err = save_text(text_in(&a, directory, "no/file"), "whole");
	assert_int_equal(err->kind, ERR_OS);
	error_free(err);
	/* The target of a link of ours is replaced, the link stays. */
	assert_int_equal(symlink(path, link), 0);
	assert_null(save_text(link, "other"));
	assert_has(path, "other");
	/* A file that starts differently is not replaced now. */
	assert_refused(path, "is not such a file");
	assert_refused(link, "is not such a file");
	assert_has(path, "other");
	/* The directory must contain no other file. */
	assert_int_equal(unlink(link), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

static void test_only_regular_files_are_replaced(void **state)
{
	char directory[] = "/tmp/new_file_test.XXXXXX";
	SCRATCH(a);

	(void)state;
	assert_non_null(mkdtemp(directory));
	const char *fifo = text_in(&a, directory, "fifo"), *link = text_in(&a, directory, "link");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_refused(fifo, "is a pipe");
	assert_refused(fifo, "-o -");
	assert_int_equal(symlink(fifo, link), 0);
	assert_refused(link, "is a pipe");
	assert_refused("/dev/full", "is a device");
	assert_refused(directory, "is a directory");
	assert_refused("/", "is a directory");
	assert_null(save_text("/dev/null", "whole"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("nowhere", link), 0);
	struct error *err CLEANUP(error_freep) = save_text(link, "whole");
	assert_non_null(err);
	assert_non_null(strstr(err->message, "leads nowhere"));
	unlink(link);
	unlink(fifo);
	assert_int_equal(rmdir(directory), 0);
}

static void test_links_of_others_are_not_followed(void **state)
{
	char directory[] = "/tmp/new_file_test.XXXXXX";
	SCRATCH(a);

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(directory));
	const char *path = text_in(&a, directory, "file"), *link = text_in(&a, directory, "link");
	make(path, "whole");
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(lchown(link, 12345, 12345), 0);
	assert_refused(link, "of another user");
	/* A folder of another user that the user names is fine, as with sudo in one's own home. */
	assert_int_equal(chown(directory, 12345, 12345), 0);
	assert_null(save_text(path, "whole and new"));
	assert_has(path, "whole and new");
	unlink(link);
	unlink(path);
	assert_int_equal(rmdir(directory), 0);
}

/* An absolute link in a container leads to the container's file. */
static void test_a_root_is_not_left(void **state)
{
	struct two_roots r;
	SCRATCH(a);

	(void)state;
	begin_roots(&r);
	const char *within = text_in(&a, r.root, r.host + 1);
	assert_null(save_text(text_in(&a, r.inside, "link/file"), "whole"));
	assert_int_equal(access(text_in(&a, r.host, "shared/file"), F_OK), -1);
	assert_has(text_in(&a, within, "shared/file"), "whole");
	assert_null(save_text(text_in(&a, r.inside, "../../link/other"), "whole"));
	assert_has(text_in(&a, within, "shared/other"), "whole");
	/* A link as the last name, to an empty file of the host: it stays empty. */
	const char *host = text_in(&a, r.host, "shared/victim"),
		   *last = text_in(&a, r.root, "last");
	make(host, "");
	assert_int_equal(symlink(host, last), 0);
	assert_refused(text_in(&a, r.inside, "last"), "symbolic link");
	assert_has(host, "");
	/* A link below /proc/PID/root is not followed on the host for reading, either. */
	make(host, "of the host");
	assert_int_equal(file_open_regular(text_in(&a, r.inside, "last")), -1);
	make(text_in(&a, within, "shared/victim"), "of the root");
	int fd CLEANUP(file_close) = file_open_regular(text_in(&a, r.inside, "last"));
	char got[16];
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got)), strlen("of the root"));
	assert_memory_equal(got, "of the root", strlen("of the root"));
	/* The host's own link to the root of the other is no way around. */
	assert_int_equal(symlink(r.inside, text_in(&a, r.host, "way")), 0);
	assert_null(save_text(text_in(&a, r.host, "way/link/third"), "whole"));
	assert_has(text_in(&a, within, "shared/third"), "whole");
	end_roots(&r);
}

/* Lets openat2 fail as in Linux 5.5, for this process and the rest of its life. */
static void forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void write_without_openat2(struct two_roots *r)
{
	SCRATCH(a);
	const char *within = text_in(&a, r->root, r->host + 1);

	forbid_openat2();
	/* No link is followed in the root, and everything else works. */
	struct error *err = save_text(text_in(&a, r->inside, "link/file"), "whole");
	assert_non_null(err);
	assert_int_equal(err->errnum, ELOOP);
	error_free(err);
	err = save_text(text_in(&a, r->inside, "tmp/../../file"), "whole");
	assert_non_null(err);
	error_free(err);
	assert_null(save_text(text_in(&a, r->inside, "tmp/file"), "whole"));
	assert_has(text_in(&a, r->root, "tmp/file"), "whole");
	assert_null(save_text(text_in(&a, within, "shared/../shared/file"), "whole"));
	assert_int_equal(symlink("shared/", text_in(&a, r->host, "relative")), 0);
	assert_null(save_text(text_in(&a, r->host, "relative/file"), "whole"));
	assert_has(text_in(&a, r->host, "shared/file"), "whole");
	int fd CLEANUP(file_close) = file_open_regular("/proc/self/exe");
	assert_true(fd >= 0);
	int top CLEANUP(file_close) = path_find("//", O_DIRECTORY, NULL);
	assert_true(top >= 0);
	assert_int_equal(path_find("", 0, NULL), -1);
	assert_int_equal(symlink("circle", text_in(&a, r->host, "circle")), 0);
	assert_int_equal(path_find(text_in(&a, r->host, "circle"), 0, NULL), -1);
	assert_int_equal(errno, ELOOP);
}

static void test_kernels_without_openat2(void **state)
{
	struct two_roots r;
	int status;

	(void)state;
	begin_roots(&r);
	pid_t child = fork();
	if (child == 0) {
		write_without_openat2(&r);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	end_roots(&r);
}

/* The folder's descriptor is 0 in a program that has no standard input. */
static void save_without_input(const char *directory, const char *path)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };
	int folder CLEANUP(file_close) = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);

	assert_true(folder > 0);
	close(STDIN_FILENO);
	assert_null(new_file_open_at(folder, "file", 0600, &file));
	assert_int_equal(file.folder, 0);
	fputs("whole", file.f);
	assert_null(new_file_finish(&file));
	assert_int_equal(fcntl(0, F_GETFD), -1);
	assert_has(path, "whole");
}

static void test_no_standard_input(void **state)
{
	char directory[] = "/tmp/new_file_test.XXXXXX";
	int status;
	SCRATCH(a);

	(void)state;
	assert_non_null(mkdtemp(directory));
	const char *path = text_in(&a, directory, "file");
	pid_t child = fork();
	if (child == 0) {
		save_without_input(directory, path);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

/* Write errors are reported by new_file_finish(), and nothing is left behind. */
static void test_a_full_disk(void **state)
{
	char directory[] = "/tmp/new_file_test.XXXXXX";
	struct rlimit before, small;
	SCRATCH(a);

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 2, .rlim_max = before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct error *err CLEANUP(error_freep) = save_text(text_in(&a, directory, "file"), "whole");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_OS);
	assert_int_equal(err->errnum, EFBIG);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_there_only_when_finished),
		cmocka_unit_test(test_only_regular_files_are_replaced),
		cmocka_unit_test(test_links_of_others_are_not_followed),
		cmocka_unit_test(test_a_root_is_not_left),
		cmocka_unit_test(test_kernels_without_openat2),
		cmocka_unit_test(test_no_standard_input),
		cmocka_unit_test(test_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
