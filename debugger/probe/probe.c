#include "debugger/probe/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "debugger/live/proc.h"
#include "debugger/probe/off_time.h"
#include "debugger/probe/thread_ids.h"

/* The object file of probe.bpf.c. */
__asm__(".section .rodata\n"
        ".balign 8\n"
        "probe_object:\n"
        ".incbin \"" PROBE_PROGRAM "\"\n"
        "probe_object_end:\n"
        ".previous\n");
extern const unsigned char probe_object[], probe_object_end[];

/* linux/bpf.h has these since 6.6. */
enum {
	TRACE_UPROBE_MULTI = 48,
	MIN_RING = 64 << 10,
	MAX_RING = 1 << 30,
	KEPT_FDS = 1 << 17, /* two for each point */
	MAX_READ = 1 << 16, /* records of one call */
};
struct uprobe_multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, unused;
};

struct probes {
	struct bpf_object *object;
	struct bpf_program *program;
	struct ring_buffer *ring;
	int points, places, returns, counts, off_times, frames; /* descriptors of maps */
	struct off_time *off_time;                              /* NULL: not measured */
	char *no_off_times; /* why not; NULL: it is, or is not wanted */
	bool in_namespace;  /* not the first pid namespace: the ids of threads are not the kernel's
	                     */
	pid_t pid;
	int memory;            /* of the process, as it was when it was opened; -1: none */
	int executable;        /* descriptor; -1: none */
	char file[32];         /* its path */
	uint64_t some_address; /* of a point; 0: none */
	enum probe_backend backend;
	struct thread_ids ids;
	int64_t clock_offset; /* from the kernel's clock to ours; ns */
	VEC(int) links;       /* descriptors, a perf event behind its link */
	uint32_t npoints;     /* points that were described, by their largest index */
	probe_record_fn *visit;
	void *arg;
	uint32_t left; /* records that this call may yet read */
};

bool probes_are_built(const char **why)
{
	*why = NULL;
	return true;
}

static int log_message(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;

	if (level == LIBBPF_DEBUG || !log_enabled("probe") || vasprintf(&text, format, args) < 0)
		return 0;
	LOG("probe", "%s", text);
	free(text);
	return 0;
}

/* ---- loading ---- */

static bool probe_have_capability(int which)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &head, caps) == 0 &&
	       (caps[CAP_TO_INDEX(which)].effective & CAP_TO_MASK(which));
}

/* The error with its remedy when the kernel says that a capability is missing. */
static struct error *not_permitted(const char *what)
{
	bool all = probe_have_capability(CAP_SYS_ADMIN);
	bool bpf = all || probe_have_capability(CAP_BPF),
	     perfmon = all || probe_have_capability(CAP_PERFMON);

	if (bpf && perfmon)
		return error_new(ERR_OS,
		                 "%s: the kernel refused it in spite of CAP_BPF and CAP_PERFMON: a "
		                 "seccomp filter or the user namespace of a container, kernel "
		                 "lockdown or a security module forbids it; run asyncdbg outside",
		                 what);
	return error_new(
		ERR_OS,
		"%s: the kernel refused it, because asyncdbg lacks %s: run it as root, or give it "
		"CAP_BPF and CAP_PERFMON (start a container with --cap-add=BPF --cap-add=PERFMON)",
		what,
		bpf       ? "CAP_PERFMON"
		: perfmon ? "CAP_BPF"
			  : "CAP_BPF and CAP_PERFMON");
}

static struct error *probe_refused(int errnum, const char *what)
{
	if (errnum == EACCES)
		return error_new(ERR_UNSUPPORTED,
		                 "%s: the kernel's verifier rejected it; --log probe shows why",
		                 what);
	if (errnum == EPERM)
		return not_permitted(what);
	if (errnum == ENOSYS)
		return error_new(ERR_UNSUPPORTED, "%s: this kernel has no BPF", what);
	return error_os(errnum, "%s", what);
}

static size_t ring_size(size_t wanted)
{
	size_t size = MIN_RING;

	while (size < wanted && size < MAX_RING)
		size *= 2;
	return size;
}

static struct error *set_settings(struct bpf_object *object, const struct probe_settings *settings)
{
	struct bpf_map *map;
	size_t size;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		const void *now = bpf_map__initial_value(map, &size);

		if (!strstr(name, ".rodata") || !now || size < sizeof(*settings))
			continue;
		void *copy = alloc_zeroed(size);
		memcpy(copy, now, size);
		memcpy(copy, settings, sizeof(*settings)); /* its first variable */
		int failed = bpf_map__set_initial_value(map, copy, size);
		free(copy);
		return failed ? error_os(-failed, "setting up the probes") : NULL;
	}
	return error_new(ERR_UNSUPPORTED, "the BPF program of this build is damaged");
}

static int probe_take_record(void *arg, void *data, size_t size)
{
	struct probes *p = arg;
	struct probe_record record = { 0 };
	size_t head = size < sizeof(record) ? size : sizeof(record);

	if (head < offsetof(struct probe_record, start))
		return 0;
	memcpy(&record, data, head);
	if (record.copied > size - head)
		return 0;
	record.tid = (uint32_t)thread_ids_visible(&p->ids, (pid_t)record.tid);
	record.time += (uint64_t)p->clock_offset;
	if (record.kind == PROBE_RETURN)
		record.start += (uint64_t)p->clock_offset;
	if (!p->visit(&record, (const unsigned char *)data + head, p->arg))
		return -ECANCELED;
	return --p->left ? 0 : -ECANCELED;
}

/* Before Linux 5.11 maps count as locked memory. */
static void raise_locked_memory(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

/*
 * A program that may sleep is entered and left in less time, about 16 ns at each point: the kernel
 * does so under another kind of RCU.
 */
static void make_multi(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_flags(program, bpf_program__flags(program) | BPF_F_SLEEPABLE);
}

static struct error *probe_load(struct probes *p, const struct probes_options *o)
{
	int failed;

	p->object =
		bpf_object__open_mem(probe_object, (size_t)(probe_object_end - probe_object), NULL);
	if (!p->object)
		return probe_refused(errno, "loading the BPF program");
	p->program = bpf_object__find_program_by_name(p->object, "at_point");
	struct bpf_map *ring = bpf_object__find_map_by_name(p->object, "ring");
	if (!p->program || !ring)
		return error_new(ERR_UNSUPPORTED, "the BPF program of this build is damaged");
	struct probe_settings settings = { .min_ns = o->min_ns };

	thread_ids_close(&p->ids);
	thread_ids_open(&p->ids, o->pid, &settings);
	settings.off_times = o->off_times && !settings.ns_inode;
	p->in_namespace = settings.ns_inode != 0;
	TRY(set_settings(p->object, &settings));
	bpf_map__set_max_entries(ring, (uint32_t)ring_size(o->ring));
	bpf_program__set_type(p->program, BPF_PROG_TYPE_KPROBE);
	if (p->backend != PROBE_PERF)
		make_multi(p->program);
	failed = bpf_object__load(p->object);
	if (failed)
		return probe_refused(-failed, "loading the BPF program");
	p->points = bpf_object__find_map_fd_by_name(p->object, "points");
	p->places = bpf_object__find_map_fd_by_name(p->object, "places");
	p->returns = bpf_object__find_map_fd_by_name(p->object, "returns");
	p->counts = bpf_object__find_map_fd_by_name(p->object, "counts");
	p->off_times = bpf_object__find_map_fd_by_name(p->object, "off_times");
	p->frames = bpf_object__find_map_fd_by_name(p->object, "frames");
	p->ring = ring_buffer__new(bpf_map__fd(ring), probe_take_record, p, NULL);
	return p->ring ? NULL : probe_refused(errno, "the ring buffer of the probes");
}

static void unload(struct probes *p)
{
	ring_buffer__free(p->ring);
	bpf_object__close(p->object);
	p->ring = NULL;
	p->object = NULL;
}

/* ---- attaching ---- */

static long attach_multi(const struct probes *p, const char *file, const uint64_t *offsets,
                         const uint64_t *counters, const uint64_t *cookies, size_t n)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)bpf_program__fd(p->program),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)file,
		.offsets = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)counters,
		.cookies = (uintptr_t)cookies,
		.cnt = (uint32_t)n,
		.pid = (uint32_t)p->pid,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

/*
 * Whether the kernel has uprobe_multi. A kernel that has it rejects a path that is no regular file
 * as such (EBADF); one without it does not know the attach type.
 */
static bool has_multi(const struct probes *p)
{
	const uint64_t offset = 0;
	long fd = attach_multi(p, "/", &offset, NULL, &offset, 1);
	int errnum = errno;

	if (fd >= 0)
		close((int)fd);
	LOG("probe", "uprobe_multi: errno %d", errnum);
	return errnum == EBADF;
}

static struct error *probe_attach_all(struct probes *p, const char *file,
                                      const struct probe_site *sites, size_t n)
{
	SCRATCH(tmp);
	uint64_t *offsets = NEW_ARRAY(&tmp, uint64_t, n), *cookies = NEW_ARRAY(&tmp, uint64_t, n);
	uint64_t *counters = NEW_ARRAY(&tmp, uint64_t, n);

	for (size_t i = 0; i < n; i++) {
		offsets[i] = sites[i].offset;
		cookies[i] = sites[i].point;
		counters[i] = sites[i].semaphore;
	}
	long fd = attach_multi(p, file, offsets, counters, cookies, n);
	if (fd < 0)
		return probe_refused(errno, "attaching the probes");
	*vec_push(&p->links) = (int)fd;
	return NULL;
}

static bool perf_type(uint32_t *ret)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	bool ok = f && fscanf(f, "%u", ret) == 1;

	if (f)
		fclose(f);
	return ok;
}

static struct error *attach_perf(struct probes *p, uint32_t type, const char *file,
                                 const struct probe_site *site)
{
	struct perf_event_attr event = {
		.type = type,
		.size = sizeof(event),
		.config = site->semaphore << 32,
		.config1 = (uintptr_t)file,
		.config2 = site->offset,
	};
	int fd = (int)syscall(SYS_perf_event_open, &event, p->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		return error_new(ERR_OS, "attaching the probes: the kernel refused it: without "
		                         "uprobe_multi (Linux 6.6) it needs root or CAP_SYS_ADMIN");
	if (fd < 0)
		return probe_refused(errno, "attaching the probes");
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = site->point);
	int link = bpf_link_create(bpf_program__fd(p->program), fd, BPF_PERF_EVENT, &options);
	int errnum = errno;
	*vec_push(&p->links) = fd;
	if (link < 0)
		return probe_refused(errnum, "attaching the probes");
	*vec_push(&p->links) = link;
	return NULL;
}

static struct error *attach_each(struct probes *p, const char *file, const struct probe_site *sites,
                                 size_t n)
{
	uint32_t type;

	if (!perf_type(&type))
		return error_new(ERR_UNSUPPORTED,
		                 "attaching the probes: this kernel has no uprobes");
	file_raise_limit(); /* each point takes two descriptors */
	for (size_t i = 0; i < n; i++) {
		TRY(interrupt_check());
		TRY(attach_perf(p, type, file, &sites[i]));
	}
	return NULL;
}

struct error *probes_attach(struct probes *p, const char *file, const struct probe_site *sites,
                            size_t n)
{
	if (!n)
		return NULL;
	return p->backend == PROBE_MULTI ? probe_attach_all(p, file, sites, n)
	                                 : attach_each(p, file, sites, n);
}

/* ---- the contract ---- */

static struct error *open_backend(struct probes *p, const struct probes_options *o)
{
	p->backend = o->backend == PROBE_PERF ? PROBE_PERF : PROBE_MULTI;
	struct error *err = probe_load(p, o);

	if (o->backend == PROBE_BEST && (err ? err->errnum == EINVAL : !has_multi(p))) {
		error_free(err);
		unload(p);
		p->backend = PROBE_PERF;
		err = probe_load(p, o);
	}
	return err;
}

/* Opens the off times. A failure leaves the other probes as they are: the reason is kept. */
static void open_off_times(struct probes *p)
{
	if (p->backend == PROBE_PERF) {
		p->no_off_times =
			strdup("measuring it needs a kernel with uprobe_multi (Linux 6.6)");
		return;
	}
	if (p->in_namespace) {
		p->no_off_times = strdup("asyncdbg runs in a pid namespace");
		return;
	}
	struct error *err CLEANUP(error_freep) = off_time_open(p->off_times, &p->off_time);

	if (err)
		p->no_off_times = strdup(err->message);
}

static void open_process(struct probes *p)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->pid);
	p->memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)p->pid);
	p->executable = open(path, O_PATH | O_CLOEXEC);
	snprintf(p->file, sizeof(p->file), "/proc/self/fd/%d", p->executable);
}

struct error *probes_open(const struct probes_options *options, struct probes **ret)
{
	struct probes *p CLEANUP(probes_closep) = alloc_zeroed(sizeof(*p));

	libbpf_set_print(log_message);
	raise_locked_memory();
	p->pid = options->pid;
	p->memory = p->executable = -1;
	p->clock_offset = proc_kernel_offset();
	TRY(open_backend(p, options));
	if (options->off_times)
		open_off_times(p);
	open_process(p);
	*ret = p;
	p = NULL;
	return NULL;
}

/* Descriptors that close_late() keeps, as a table by number; the caller frees it. */
static bool *fds_kept(const struct probes *p, int pipe)
{
	bool *keep = alloc_zeroed(KEPT_FDS);

	for (size_t i = 0; i < p->links.n; i++) {
		if (p->links.data[i] < KEPT_FDS)
			keep[p->links.data[i]] = true;
	}
	keep[pipe] = true;
	return keep;
}

/* The process that holds the links: ends when nobody has the other end of the pipe. */
_Noreturn static void close_late(const bool *keep, int pipe)
{
	char byte;

	setsid();
	for (int fd = 0; fd < KEPT_FDS; fd++) {
		if (!keep[fd])
			close(fd);
	}
	close_range(KEPT_FDS, ~0U, 0);
	while (read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* Makes all points write no more records. */
static void silence(struct probes *p)
{
	const struct probe_point none = { 0 };

	for (uint32_t i = 0; i < p->npoints; i++)
		bpf_map_update_elem(p->points, &i, &none, BPF_ANY);
}

/* Gives the links to a process that has all the time that closing them takes. */
static void hand_over(struct probes *p, int pipe)
{
	bool *keep = fds_kept(p, pipe);
	pid_t child = fork();

	if (child == 0) {
		/* A child of a child: nobody has to wait for it. */
		if (fork() == 0)
			close_late(keep, pipe);
		_exit(0);
	}
	free(keep);
	if (child > 0)
		waitpid(child, NULL, 0);
}

void probes_detach(struct probes *p)
{
	bool slow = p->links.n && p->backend == PROBE_PERF;
	int ends[2] = { -1, -1 };

	if (slow) {
		silence(p);
		if (pipe2(ends, O_CLOEXEC) == 0)
			hand_over(p, ends[0]);
	}
	while (p->links.n)
		close(p->links.data[--p->links.n]);
	off_time_close(p->off_time);
	p->off_time = NULL;
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
}

void probes_close(struct probes *p)
{
	if (!p)
		return;
	probes_detach(p);
	vec_free(&p->links);
	free(p->no_off_times);
	thread_ids_close(&p->ids);
	file_close(&p->memory);
	file_close(&p->executable);
	unload(p);
	free(p);
}

void probes_closep(struct probes **p)
{
	probes_close(*p);
}

void probes_reopen(struct probes *p)
{
	file_close(&p->memory);
	file_close(&p->executable);
	open_process(p);
}

const char *probes_executable(const struct probes *p)
{
	return p->executable >= 0 ? p->file : NULL;
}

/* Memory of a program that is gone cannot be read; that of the next one is another file. */
bool probes_are_over(const struct probes *p)
{
	char byte;

	return p->memory >= 0 && p->some_address &&
	       pread(p->memory, &byte, 1, (off_t)p->some_address) == 0;
}

const char *probes_backend(const struct probes *p)
{
	return p->backend == PROBE_MULTI ? "uprobe_multi" : "perf";
}

const char *probes_off_times_missing(const struct probes *p)
{
	return p->no_off_times;
}

void probes_add_thread(struct probes *p, pid_t tid)
{
	if (p->off_time)
		off_time_add(p->off_times, p->pid, tid);
}

bool probes_off_time(const struct probes *p, pid_t tid, uint64_t *ns)
{
	return p->off_time && off_time_read(p->off_times, p->pid, tid, ns);
}

struct error *probes_describe(struct probes *p, uint32_t index, const struct probe_point *point)
{
	if (bpf_map_update_elem(p->points, &index, point, BPF_ANY) != 0)
		return error_os(errno, "describing probe point %u", index);
	if (index >= p->npoints)
		p->npoints = index + 1;
	p->some_address = point->address;
	return NULL;
}

struct error *probes_describe_place(struct probes *p, uint32_t index,
                                    const struct probe_place *place)
{
	if (bpf_map_update_elem(p->places, &index, place, BPF_ANY) != 0)
		return error_os(errno, "describing probe point %u", index);
	return NULL;
}

struct error *probes_know_return(struct probes *p, uint64_t address)
{
	const uint32_t one = 1;

	if (bpf_map_update_elem(p->returns, &address, &one, BPF_ANY) != 0)
		return error_os(errno, "describing a probe point");
	return NULL;
}

bool probes_know_frame(struct probes *p, uint64_t address, const struct probe_frame *frame)
{
	return bpf_map_update_elem(p->frames, &address, frame, BPF_ANY) == 0;
}

struct error *probes_read(struct probes *p, probe_record_fn *visit, void *arg, bool *more)
{
	p->visit = visit;
	p->arg = arg;
	p->left = MAX_READ;
	int n = ring_buffer__consume(p->ring);

	*more = p->left == 0;
	if (n < 0 && n != -ECANCELED && n != -EINTR)
		return error_os(-n, "reading the ring buffer of the probes");
	return NULL;
}

uint64_t probes_count(const struct probes *p, enum probe_count which)
{
	uint32_t key = which;
	uint64_t n = 0;

	bpf_map_lookup_elem(p->counts, &key, &n);
	return n;
}
