/* A live process as a target: opens it and reads its memory. See live.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/path.h"
#include "debugger/base/str.h"
#include "debugger/elf/elf_image.h"
#include "debugger/live/code_maps.h"
#include "debugger/live/fd_info.h"
#include "debugger/live/live.h"
#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"
#include "debugger/live/read_guard.h"
#include "debugger/live/tracer.h"
#include "debugger/memory/page_cache.h"
#include "debugger/target/module.h"

enum { CHECK_TRIES = 15, MAX_UNSERVED = 1, PAGE = 4096 };

static const double check_again_s = 0.02;

void live_read_clock(struct live *l)
{
	l->t->clock.monotonic_ns = clock_now_ns() + (uint64_t)l->clock_offset;
	l->t->clock.known = true;
}

/* Takes another thread as the reader, which has ended. False: there is none. */
static bool target_live_renew_reader(struct live *l)
{
	pid_t tid = proc_living_thread(l->t->pid);
	bool is_new = tid != l->reader;

	l->reader = tid;
	return is_new;
}

struct error *live_same_program(struct live *l)
{
	SCRATCH(scratch);
	size_t len = 0;
	const char *auxv = proc_read(&scratch, l->reader, "auxv", &len);

	if ((!auxv || len == 0) && target_live_renew_reader(l))
		auxv = proc_read(&scratch, l->reader, "auxv", &len);
	if (!auxv || len == 0)
		return live_exited(l->t->pid);
	if (len != l->auxv_len || memcmp(auxv, l->auxv, len) != 0)
		return error_new(ERR_STATE,
		                 "process %d executes another program now: start asyncdbg again",
		                 (int)l->t->pid);
	return NULL;
}

static bool live_region(struct target *t, struct arena *a, uint64_t addr, struct region *ret)
{
	return proc_region(a, proc_living_thread(t->pid), addr, ret);
}

static ssize_t read_mem_file(const struct live *l, void *buf, size_t len, uint64_t addr)
{
	if (addr > INT64_MAX)
		return -1;
	read_guard_begin();
	ssize_t n = pread(l->mem_fd, buf, len, (off_t)addr);
	read_guard_end();
	return n;
}

static struct error *read_plain(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct live *l = t->private;
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	*ret = 0;
	l->reads++;
	if (!l->use_mem_fd) {
		ssize_t n = read_guard_vectors(l->reader, &local, 1, &remote, 1);
		if (n >= 0) {
			*ret = (size_t)n;
			return NULL;
		}
		if (errno == ESRCH)
			return target_live_renew_reader(l) ? read_plain(t, addr, buf, len, ret)
			                                   : live_exited(t->pid);
		if (errno != ENOSYS && errno != EPERM)
			return NULL;
		l->use_mem_fd = true;
	}
	ssize_t n = read_mem_file(l, buf, len, addr);
	*ret = n > 0 ? (size_t)n : 0;
	return NULL;
}

/*
 * Whether a page may be requested from its server now: not while the process stands still, as it
 * may be that server, nor where no one has answered: each such read may leave a process behind.
 */
static bool may_request(const struct live *l)
{
	return !l->standing && !tracer_is_halted(l->tracer) && l->unserved < MAX_UNSERVED;
}

/* Reads memory that somebody serves; ends where nobody does. */
static size_t read_served(struct target *t, uint64_t addr, unsigned char *buf, size_t len)
{
	struct live *l = t->private;
	size_t done = 0;

	while (done < len) {
		uint64_t at = addr + done;
		size_t left = len - done, page = PAGE - at % PAGE;
		size_t part = served_memory_present(&l->served, at, left);

		/* A single page is requested: others might be served that nobody needs. */
		if (!part && may_request(l))
			part = page < left ? page : left;
		part = part < SERVED_READER_MAX ? part : SERVED_READER_MAX;
		ssize_t n = part ? served_reader_read(&l->served_reader, l->reader, at, buf + done,
		                                      part)
		                 : 0;
		l->unserved += n < 0 && errno == EAGAIN;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (done < len)
		target_note(t, "memory that is served through userfaultfd or FUSE was read as far "
		               "as it is present, or as it was served in time: a read of the rest "
		               "can block");
	return done;
}

static struct error *target_live_read_memory(struct target *t, uint64_t addr, void *buf, size_t len,
                                             size_t *ret)
{
	const struct live *l = t->private;
	unsigned char *to = buf;

	*ret = 0;
	for (size_t part, n = 0; *ret < len; *ret += n) {
		bool is_served;

		part = served_memory_part(&l->served, addr + *ret, len - *ret, &is_served);
		if (is_served)
			n = read_served(t, addr + *ret, to + *ret, part);
		else
			TRY(read_plain(t, addr + *ret, to + *ret, part, &n));
		if (n < part) {
			*ret += n;
			break;
		}
	}
	return NULL;
}

struct error *live_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	const struct live *l = t->private;

	TRY(target_live_read_memory(t, addr, buf, len, ret));
	tracer_hide_breakpoints(l->tracer, addr, buf, *ret);
	return NULL;
}

enum { MAX_IOV = 1024 }; /* IOV_MAX */

struct vectors {
	struct iovec data[MAX_IOV];
	size_t n;
};

/*
 * Adds a range, merging it with the last one if it follows directly. False if there is no room.
 * Remote ranges may be any addresses, up to the end of the address space.
 */
static bool add_vector(struct vectors *v, void *base, size_t len)
{
	struct iovec *last = v->n ? &v->data[v->n - 1] : NULL;
	uintptr_t end;

	if (last && !__builtin_add_overflow((uintptr_t)last->iov_base, last->iov_len, &end) &&
	    end == (uintptr_t)base) {
		last->iov_len += len;
		return true;
	}
	if (v->n == MAX_IOV)
		return false;
	v->data[v->n++] = (struct iovec){ base, len };
	return true;
}

void live_find_served(struct live *l)
{
	served_memory_find(&l->served, l->t->pid);
	if (l->served.spans.n)
		served_reader_start(&l->served_reader);
}

static bool is_partly_served(const struct live *l, uint64_t addr, size_t len)
{
	bool is_served;

	return l->served.spans.n &&
	       (served_memory_part(&l->served, addr, len, &is_served) < len || is_served);
}

/*
 * Long remote vectors make this fast. Local and remote vectors need not have the same lengths:
 * ranges that are neighbours in the target become one remote range wherever their local buffers
 * are.
 */
static struct error *live_read_batch(struct target *t, struct read_range *ranges, size_t n)
{
	struct live *l = t->private;
	struct vectors local, remote;

	for (size_t i = 0; i < n;) {
		size_t end = i;

		local.n = remote.n = 0;
		for (; end < n && remote.n < MAX_IOV; end++) {
			struct read_range *r = &ranges[end];

			r->got = 0;
			/* A range that somebody serves is read by itself, below. */
			if (is_partly_served(l, r->addr, r->len) ||
			    !add_vector(&local, r->buf, r->len))
				break;
			add_vector(&remote, (void *)(uintptr_t)r->addr, r->len);
		}
		l->reads++;
		ssize_t got = l->use_mem_fd || !local.n
		                      ? -1
		                      : read_guard_vectors(l->reader, local.data, local.n,
		                                           remote.data, remote.n);
		size_t left = got > 0 ? (size_t)got : 0;
		for (; i < end && left >= ranges[i].len; i++) {
			ranges[i].got = ranges[i].len;
			tracer_hide_breakpoints(l->tracer, ranges[i].addr, ranges[i].buf,
			                        ranges[i].len);
			left -= ranges[i].len;
		}
		/*
		 * The read stopped at a range with a hole, or is not permitted: read that range by
		 * itself.
		 */
		if (i < end || !local.n) {
			TRY(live_read(t, ranges[i].addr, ranges[i].buf, ranges[i].len,
			              &ranges[i].got));
			i++;
		}
	}
	return NULL;
}

static void live_close(struct target *t)
{
	struct live *l = t->private;

	if (!l)
		return;
	if (l->mem_fd >= 0)
		close(l->mem_fd);
	if (l->own_tracer)
		tracer_free(l->tracer);
	vec_free(&l->peeks);
	served_memory_free(&l->served);
	served_reader_close(&l->served_reader);
	fd_info_close(t);
	free(l);
}

static struct error *live_update_modules(struct target *t, bool *changed);

static bool live_is_halted(const struct target *t)
{
	return tracer_is_halted(((const struct live *)t->private)->tracer);
}

static const struct target_ops live_ops = {
	.kind = "live",
	.read = live_read,
	.region = live_region,
	.update_modules = live_update_modules,
	.each_writable = live_each_writable,
	.read_batch = live_read_batch,
	.stop = live_stop,
	.resume = live_resume,
	.stop_briefly = live_stop_briefly,
	.peek = live_thread_stats,
	.recheck = live_recheck,
	.is_halted = live_is_halted,
	.slept_on = live_thread_slept_on,
	.close = live_close,
};

/* --- opening --- */

/* Opens a path; below the target's root, links are resolved in that root. */
static bool target_live_stat_found(const char *path, struct stat *ret)
{
	int fd CLEANUP(file_close) = path_find(path, 0, NULL);

	return fd >= 0 && fstat(fd, ret) == 0;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return target_live_stat_found(a, &x) && target_live_stat_found(b, &y) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether a path of the target is one of ours: not where it has another root, as in a container. */
static bool is_path_of_ours(const struct target *t, const char *inside, const char *path)
{
	struct stat st;

	return same_file(inside, path) ||
	       (!target_live_stat_found(inside, &st) && same_file(t->root, "/"));
}

/*
 * Tries in this order: the executable that the kernel has open (right even if it was deleted or
 * replaced), the path as we see it or, where the target has another root, below that root, and the
 * file that the kernel has mapped (for deleted libraries; needs CAP_CHECKPOINT_RESTORE).
 */
static struct module_file target_live_find_file(struct target *t, const struct mapping *m,
                                                bool is_main, unsigned attempt)
{
	const struct live *l = t->private;
	const char *inside = arena_printf(&t->arena, "%s%s", t->root, m->path);
	const char *shown = is_path_of_ours(t, inside, m->path) ? m->path : inside;
	const char *opened;

	if (is_main && l->exe)
		return attempt == 0 ? (struct module_file){ l->exe, l->exe }
		                    : (struct module_file){ 0 };
	attempt += !is_main;
	switch (attempt) {
	case 0:
		opened = arena_printf(&t->arena, "/proc/%d/exe", (int)l->reader);
		return (struct module_file){ opened, shown };
	case 1:
		return (struct module_file){ shown, shown };
	case 2:
		opened = arena_printf(&t->arena, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		                      (int)l->reader, m->start, m->end);
		return (struct module_file){ opened, m->path };
	default:
		return (struct module_file){ 0 };
	}
}

/* Records the read-only parts of modules, which can be read while the target runs. */
static void keep_constant(struct target *t, const struct mapping *mappings, size_t nmappings)
{
	t->memory.nconstant = 0;
	t->memory.constant = NEW_ARRAY(&t->arena, struct mapping, nmappings);
	for (size_t i = 0; i < nmappings; i++) {
		if (mappings[i].readable && !mappings[i].writable &&
		    module_at(t, mappings[i].start))
			t->memory.constant[t->memory.nconstant++] = mappings[i];
	}
}

/* Few calls find anything new: those take no memory of the target, and little time. */
static struct error *live_update_modules(struct target *t, bool *changed)
{
	struct live *l = t->private;
	uint64_t key;
	size_t n;

	if (!code_maps_key(l->reader, &key) &&
	    !(target_live_renew_reader(l) && code_maps_key(l->reader, &key)))
		return live_exited(t->pid);
	TRY(live_same_program(l));
	if (key == l->maps_key)
		return NULL;
	struct mapping *mappings = proc_maps(&t->arena, l->reader, &n);
	if (!mappings)
		return live_exited(t->pid);
	struct error *err = modules_update(t, mappings, n, target_live_find_file, changed);
	if (*changed)
		keep_constant(t, mappings, n);
	if (!err)
		l->maps_key = key;
	return err;
}

/*
 * A unique name of the process, see struct target: proc(5), /proc/PID/stat and
 * /proc/sys/kernel/random/boot_id.
 */
static const char *find_instance(struct target *t)
{
	const char *text = proc_read(&t->arena, t->pid, "stat", NULL);
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct proc_stat stat;
	char boot[64] = "";

	if (f && !fgets(boot, sizeof(boot), f))
		boot[0] = '\0';
	if (f)
		fclose(f);
	boot[strcspn(boot, "\n")] = '\0';
	if (!boot[0] || !text || !proc_stat_parse(&t->arena, text, &stat) || !stat.start_time)
		return NULL;
	return arena_printf(&t->arena, "%s %" PRIu64, boot, stat.start_time);
}

static struct error *target_live_read_process(struct target *t)
{
	struct live *l = t->private;
	char path[64];

	l->auxv = proc_read(&t->arena, l->reader, "auxv", &l->auxv_len);
	const char *comm = proc_read(&t->arena, t->pid, "comm", NULL);
	if (!l->auxv || !comm || l->auxv_len == 0)
		return live_exited(t->pid);
	t->command = str_clean(&t->arena, comm, strcspn(comm, "\n"));
	t->instance = find_instance(t);
	t->entry = elf_auxv_find(l->auxv, l->auxv_len, AT_ENTRY);
	t->vdso = elf_auxv_find(l->auxv, l->auxv_len, AT_SYSINFO_EHDR);
	t->root = arena_printf(&t->arena, "/proc/%d/root", (int)l->reader);
	l->clock_offset = proc_monotonic_offset(t->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)l->reader);
	l->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return l->mem_fd >= 0 ? NULL : error_os(errno, "opening %s", path);
}

/*
 * live_check(), again for a moment where another debugger has the process: a second asyncdbg, such
 * as a watchdog, has it for milliseconds.
 */
static struct error *target_live_check(pid_t pid, bool to_stop, const struct arch **ret)
{
	for (int i = 1;; i++) {
		struct error *err = live_check(pid, to_stop, ret);

		if (!err || err->kind != ERR_STATE || i == CHECK_TRIES)
			return err;
		error_free(err);
		TRY(interrupt_sleep(check_again_s));
	}
}

struct error *target_live_open(pid_t pid, const struct target_options *options, struct target **ret)
{
	struct target *t CLEANUP(target_closep) = NULL;
	const struct arch *arch = NULL;
	size_t nmappings;

	TRY(target_live_check(pid, !options->stop.never && !options->tracer, &arch));
	t = target_new(&live_ops, arch, true);
	t->stop.options = options->stop;
	struct live *l = calloc(1, sizeof(*l));
	if (!l)
		out_of_memory();
	*l = (struct live){
		.t = t,
		.exe = options->exe,
		.reader = proc_living_thread(pid),
		.mem_fd = -1,
		.served_reader = { .socket = -1 },
	};
	l->own_tracer = !options->tracer;
	l->tracer = options->tracer ? options->tracer : tracer_new();
	t->private = l;
	t->pid = pid;
	read_guard_name(pid);
	live_find_served(l);
	if (l->exe)
		TRY(module_check_exe(t, l->exe));
	TRY(target_live_read_process(t));
	/* Reading the key before the mappings lets anything mapped in between be found later. */
	if (!code_maps_key(l->reader, &l->maps_key))
		return error_os(errno, "reading /proc/%d/maps", (int)pid);
	struct mapping *mappings = proc_maps(&t->arena, l->reader, &nmappings);
	if (!mappings)
		return error_os(errno, "reading /proc/%d/maps", (int)pid);
	TRY(modules_report(t, mappings, nmappings, target_live_find_file, options->force));
	keep_constant(t, mappings, nmappings);
	*ret = t;
	t = NULL;
	return NULL;
}
