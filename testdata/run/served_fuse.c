/*
 * A process that has mapped a file of a file system in user space (FUSE), which it serves itself
 * by a thread: the first page when it is asked for, the second one never. The kernel reads such a
 * page in a sleep that not even SIGKILL ends.
 *
 * usage: served_fuse DIRECTORY, where the file system is mounted, for this process alone
 *
 * The program prints "ready" and the addresses of both pages, or "skipped: REASON", and stays until
 * its standard input ends. Root, and the right to mount, is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_NODE = 2, MARK = 0x5a, REQUEST = 1 << 17 };

static int device;

static int skip(const char *why)
{
	printf("skipped: %s: %s\n", why, strerror(errno));
	return 77;
}

static void answer(uint64_t unique, int error, const void *body, size_t len)
{
	struct fuse_out_header head = { .unique = unique, .error = error };
	struct iovec parts[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)body, len } };

	head.len = (uint32_t)(sizeof(head) + len);
	ssize_t written = writev(device, parts, 2);
	(void)written;
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){ .ino = node,
		                   .size = node == FILE_NODE ? 2 * PAGE : 0,
		                   .mode = node == FILE_NODE ? S_IFREG | 0600 : S_IFDIR | 0700,
		                   .nlink = 1,
		                   .blksize = PAGE };
}

static void answer_read(const struct fuse_in_header *head, const struct fuse_read_in *in)
{
	static unsigned char page[PAGE];

	if (in->offset >= PAGE)
		return;
	memset(page, MARK, sizeof(page));
	answer(head->unique, 0, page, sizeof(page));
}

static void answer_request(const struct fuse_in_header *head, const void *body)
{
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
		                            .minor = FUSE_KERNEL_MINOR_VERSION,
		                            .max_write = PAGE };
	const struct fuse_attr_out attr = { .attr_valid = 3600, .attr = attributes(head->nodeid) };
	const struct fuse_entry_out entry = { .nodeid = FILE_NODE,
		                              .attr_valid = 3600,
		                              .entry_valid = 3600,
		                              .attr = attributes(FILE_NODE) };
	const struct fuse_open_out open = { .fh = 1 };

	switch (head->opcode) {
	case FUSE_INIT:
		answer(head->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(head->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_LOOKUP:
		answer(head->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_OPEN:
		answer(head->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		answer_read(head, body);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(head->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve(void *arg)
{
	static struct {
		struct fuse_in_header head;
		unsigned char body[REQUEST];
	} request;

	(void)arg;
	while (read(device, &request, sizeof(request)) > 0)
		answer_request(&request.head, request.body);
	return NULL;
}

/* In a namespace of its own, which ends with this process. */
static int mount_served(const char *directory)
{
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d", device,
	         (int)getuid(), (int)getgid());
	return device >= 0 && unshare(CLONE_NEWNS) == 0 &&
	                       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	                       mount("served", directory, "fuse", MS_NOSUID | MS_NODEV, options) ==
	                               0
	               ? 0
	               : -1;
}

int main(int argc, char **argv)
{
	char path[4096];
	pthread_t thread;

	if (argc != 2 || mount_served(argv[1]) != 0)
		return skip("FUSE");
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	pthread_create(&thread, NULL, serve, NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *file = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || file == MAP_FAILED)
		return skip(path);
	/* At the end of the process the kernel would ask the thread once more, which is gone then.
	 */
	close(fd);
	printf("ready\n%p\n%p\n", (void *)file, (void *)(file + PAGE));
	fflush(stdout);
	while (getchar() != EOF)
		;
	_exit(0);
}
