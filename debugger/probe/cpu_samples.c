#include "debugger/probe/cpu_samples.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "debugger/live/proc.h"

enum {
	RING = 2 << 20,         /* bytes for the samples of a CPU; a power of two */
	SMALL_RING = 512 << 10, /* without CAP_IPC_LOCK: kernel.perf_event_mlock_kb allows it */
	MAX_CPUS = 8192,
	MAX_RECORD = 1 << 16, /* the size of a record has 16 bits */
	MAX_REGS = 64,
};

/* The samples of one CPU. */
struct ring {
	unsigned cpu;
	int fd; /* of the event that owns it; -1: none yet */
	struct perf_event_mmap_page *page;
	size_t size; /* of its data, which follows the page */
};

struct cpu_samples {
	pid_t pid;
	const struct arch *arch;
	struct perf_event_attr event;
	int64_t clock_offset; /* from the kernel's clock to ours; ns */
	VEC(struct ring) rings;
	VEC(int) fds; /* of all events */
	uint64_t lost;
	unsigned char record[MAX_RECORD]; /* the record that is read */
	uint64_t regs[MAX_REGS];
};

/* ---- events ---- */

static uint64_t register_mask(const struct arch *arch)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < arch->nregs; i++)
		mask |= UINT64_C(1) << arch->perf_regs[i];
	return mask;
}

static void describe_event(struct cpu_samples *s, unsigned hz)
{
	s->event = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(s->event),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
		               PERF_SAMPLE_STACK_USER,
		.inherit = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_regs_user = register_mask(s->arch),
		.sample_stack_user = CPU_SAMPLES_STACK,
	};
}

static int cpu_samples_open_event(const struct cpu_samples *s, pid_t tid, unsigned cpu)
{
	return (int)syscall(SYS_perf_event_open, &s->event, tid, (int)cpu, -1,
	                    PERF_FLAG_FD_CLOEXEC);
}

static struct error *cpu_samples_refused(int errnum)
{
	if (errnum == ENOSYS || errnum == ENOENT || errnum == EOPNOTSUPP)
		return error_new(ERR_UNSUPPORTED, "this kernel has no perf events");
	if (errnum == EMFILE)
		return error_new(
			ERR_OS,
			"too many threads for the limit of open files: raise it (ulimit -n)");
	if (errnum != EACCES && errnum != EPERM)
		return error_os(errnum, "sampling the CPUs");
	if (!proc_perf_is_for_users())
		return error_new(ERR_OS, "the kernel refused it: give asyncdbg CAP_PERFMON, or "
		                         "lower kernel.perf_event_paranoid to 2");
	return error_new(ERR_OS, "the kernel refused it: a seccomp filter or a security module "
	                         "forbids perf_event_open; run asyncdbg outside the container, or "
	                         "start the container with --cap-add=PERFMON");
}

static void *map_ring(int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

/* Gives the samples of an event to the ring of its CPU, which the first one creates. */
static struct error *join_ring(struct ring *r, int fd)
{
	if (r->fd >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) != 0)
			return error_os(errno, "sampling the CPUs");
		return NULL;
	}
	r->size = RING;
	r->page = map_ring(fd, r->size);
	if (!r->page) {
		r->size = SMALL_RING;
		r->page = map_ring(fd, r->size);
	}
	if (!r->page)
		return error_os(errno, "a buffer for samples");
	r->fd = fd;
	return NULL;
}

/* A thread may have ended, and a CPU may be off. */
static struct error *sample_thread(struct cpu_samples *s, pid_t tid)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct ring *r = &s->rings.data[i];
		int fd = cpu_samples_open_event(s, tid, r->cpu);

		if (fd < 0 && errno == ESRCH)
			return NULL;
		if (fd < 0 && (errno == EACCES || errno == EPERM) && !s->event.exclude_kernel) {
			s->event.exclude_kernel = 1;
			fd = cpu_samples_open_event(s, tid, r->cpu);
		}
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			return cpu_samples_refused(errno);
		*vec_push(&s->fds) = fd;
		TRY(join_ring(r, fd));
	}
	return NULL;
}

/* Threads that start meanwhile inherit the events of the thread that starts them. */
static struct error *sample_threads(struct cpu_samples *s)
{
	char path[32];
	struct error *err = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	DIR *dir = opendir(path);
	if (!dir)
		return error_os(errno, "listing the threads of process %d", (int)s->pid);
	for (const struct dirent *e; !err && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid > 0)
			err = sample_thread(s, tid);
	}
	closedir(dir);
	if (!err && !s->fds.n)
		err = error_new(ERR_STATE, "process %d has no threads to sample", (int)s->pid);
	return err;
}

/* The CPUs that are on, from a list like "0-3,8". */
static struct error *find_cpus(struct cpu_samples *s)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned from, to;
	char next = ',';

	while (f && next == ',' && s->rings.n < MAX_CPUS && fscanf(f, "%u%c", &from, &next) >= 1) {
		to = from;
		if (next == '-' && fscanf(f, "%u%c", &to, &next) < 1)
			break;
		for (; from <= to && s->rings.n < MAX_CPUS; from++)
			*vec_push(&s->rings) = (struct ring){ .cpu = from, .fd = -1 };
	}
	if (f)
		fclose(f);
	if (!s->rings.n)
		return error_new(ERR_UNSUPPORTED, "/sys does not list the CPUs");
	return NULL;
}

struct error *cpu_samples_open(pid_t pid, const struct arch *arch, unsigned hz,
                               struct cpu_samples **ret)
{
	struct cpu_samples *s CLEANUP(cpu_samples_closep) = alloc_zeroed(sizeof(*s));

	if (!arch->perf_regs || arch->nregs > MAX_REGS)
		return error_new(ERR_UNSUPPORTED, "samples of %s programs are not understood",
		                 arch->name);
	s->pid = pid;
	s->arch = arch;
	s->clock_offset = proc_kernel_offset();
	describe_event(s, hz);
	TRY(find_cpus(s));
	file_raise_limit(); /* each thread takes a descriptor per CPU */
	TRY(sample_threads(s));
	*ret = s;
	s = NULL;
	return NULL;
}

void cpu_samples_stop(struct cpu_samples *s)
{
	for (size_t i = 0; i < s->fds.n; i++)
		ioctl(s->fds.data[i], PERF_EVENT_IOC_DISABLE, 0);
}

void cpu_samples_close(struct cpu_samples *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->rings.n; i++) {
		if (s->rings.data[i].page)
			munmap(s->rings.data[i].page,
			       (size_t)sysconf(_SC_PAGESIZE) + s->rings.data[i].size);
	}
	while (s->fds.n)
		close(s->fds.data[--s->fds.n]);
	vec_free(&s->rings);
	vec_free(&s->fds);
	free(s);
}

void cpu_samples_closep(struct cpu_samples **s)
{
	cpu_samples_close(*s);
}

bool cpu_samples_have_kernel(const struct cpu_samples *s)
{
	return !s->event.exclude_kernel;
}

uint64_t cpu_samples_lost(const struct cpu_samples *s)
{
	return s->lost;
}

/* ---- records ---- */

/* Rest of a record. */
struct bytes {
	const unsigned char *at;
	size_t n;
};

static bool cpu_samples_take(struct bytes *b, void *ret, size_t size)
{
	if (b->n < size)
		return false;
	memcpy(ret, b->at, size);
	b->at += size;
	b->n -= size;
	return true;
}

/* Registers stand in the order of the kernel's numbers. */
static bool take_registers(struct cpu_samples *s, struct bytes *b)
{
	uint64_t abi, mask = s->event.sample_regs_user;
	uint64_t values[MAX_REGS] = { 0 };

	if (!cpu_samples_take(b, &abi, sizeof(abi)) || abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (unsigned i = 0; i < MAX_REGS; i++) {
		if (mask >> i & 1 && !cpu_samples_take(b, &values[i], sizeof(values[i])))
			return false;
	}
	for (unsigned i = 0; i < s->arch->nregs; i++)
		s->regs[i] = values[s->arch->perf_regs[i]];
	return true;
}

/* The bytes are there in any case; how many of them could be read stands behind them. */
static bool take_stack(struct bytes *b, struct cpu_sample *sample)
{
	uint64_t size, copied;

	if (!cpu_samples_take(b, &size, sizeof(size)))
		return false;
	if (!size)
		return true;
	if (size > b->n)
		return false;
	sample->stack = b->at;
	b->at += size;
	b->n -= size;
	if (!cpu_samples_take(b, &copied, sizeof(copied)) || copied > size)
		return false;
	sample->stack_size = copied;
	return true;
}

/* Threads of processes that it has forked inherit the events too. */
static bool take_sample(struct cpu_samples *s, const struct perf_event_header *head,
                        struct bytes *b, struct cpu_sample *ret)
{
	uint32_t ids[2]; /* of the process and the thread */

	*ret = (struct cpu_sample){ .regs = s->regs };
	if (!cpu_samples_take(b, ids, sizeof(ids)) ||
	    !cpu_samples_take(b, &ret->time, sizeof(ret->time)))
		return false;
	if ((pid_t)ids[0] != s->pid)
		return false;
	ret->tid = (pid_t)ids[1];
	ret->time += (uint64_t)s->clock_offset;
	ret->in_kernel = (head->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	return take_registers(s, b) && take_stack(b, ret);
}

static void cpu_samples_take_record(struct cpu_samples *s, const struct perf_event_header *head,
                                    cpu_sample_fn *visit, void *arg)
{
	struct bytes b = { s->record + sizeof(*head), head->size - sizeof(*head) };
	struct cpu_sample sample;
	uint64_t lost[2]; /* the event, and how many */

	if (head->type == PERF_RECORD_LOST && cpu_samples_take(&b, lost, sizeof(lost)))
		s->lost += lost[1];
	else if (head->type == PERF_RECORD_SAMPLE && take_sample(s, head, &b, &sample))
		visit(&sample, arg);
}

/* Copies bytes of a ring, which go on at its beginning. */
static void copy_bytes(const struct ring *r, uint64_t from, void *to, size_t n)
{
	const unsigned char *data = (const unsigned char *)r->page + (size_t)sysconf(_SC_PAGESIZE);
	size_t at = from & (r->size - 1);
	size_t first = n < r->size - at ? n : r->size - at;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, n - first);
}

static void read_ring(struct cpu_samples *s, const struct ring *r, cpu_sample_fn *visit, void *arg)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	struct perf_event_header record;

	while (head - tail >= sizeof(record)) {
		copy_bytes(r, tail, &record, sizeof(record));
		if (record.size < sizeof(record) || record.size > head - tail)
			tail = head; /* damaged: the rest is of no use */
		else {
			copy_bytes(r, tail, s->record, record.size);
			cpu_samples_take_record(s, &record, visit, arg);
			tail += record.size;
		}
		__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
	}
}

void cpu_samples_read(struct cpu_samples *s, cpu_sample_fn *visit, void *arg)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		if (s->rings.data[i].page)
			read_ring(s, &s->rings.data[i], visit, arg);
	}
}
