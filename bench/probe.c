/*
 * What the shortest pause of a process can cost on this machine: stops all of its threads, reads
 * their registers, copies so many bytes of its writable memory, and lets it go on.
 *
 * usage: probe PID BYTES [RUNS]
 *
 * Prints one line of JSON, times in microseconds, medians of RUNS (9):
 * - stop_us: from the first PTRACE_INTERRUPT to the last thread's registers, and the resuming;
 * - read_us: one process_vm_readv over the BYTES, 1 MiB a piece, into memory that is there already;
 * - bytes: how many were read (fewer if the process has fewer);
 * - fifo: whether the probe could run at SCHED_FIFO, as a debugger does for the stop.
 *
 * The bytes are those of private writable mappings that are in memory, from the first heap on.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum { MAX_THREADS = 4096, MAX_PIECES = 65536, MAX_RUNS = 99, PIECE = 1 << 20, PAGE = 4096 };

static pid_t threads[MAX_THREADS];
static size_t thread_count;
static struct iovec pieces[MAX_PIECES];
static size_t piece_count;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("probe: ", stderr);
	vfprintf(stderr, format, arguments);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(arguments);
	exit(2);
}

static double now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void seize_threads(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);
	if (directory == NULL)
		fail("%s", path);
	struct dirent *entry;
	while ((entry = readdir(directory)) != NULL && thread_count < MAX_THREADS) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
			fail("cannot attach to thread %d", (int)tid);
		threads[thread_count++] = tid;
	}
	closedir(directory);
}

/* Is the page in memory? A page that is not would be read as zeros, faster than any real one. */
static bool is_present(FILE *pagemap, uint64_t addr)
{
	uint64_t entry;
	if (fseeko(pagemap, (off_t)(addr / PAGE * sizeof entry), SEEK_SET) != 0 ||
	    fread(&entry, sizeof entry, 1, pagemap) != 1)
		return false;
	return entry >> 63;
}

/* Adds the present pages of a mapping, as runs of at most PIECE bytes, up to `left` bytes. */
static size_t add_mapping(FILE *pagemap, uint64_t start, uint64_t end, size_t left)
{
	size_t added = 0;
	bool joined = false;
	for (uint64_t addr = start; addr < end && added < left; addr += PAGE) {
		if (!is_present(pagemap, addr)) {
			joined = false;
			continue;
		}
		size_t take = left - added < PAGE ? left - added : PAGE;
		if (joined && pieces[piece_count - 1].iov_len < PIECE) {
			pieces[piece_count - 1].iov_len += take;
		} else if (piece_count < MAX_PIECES) {
			pieces[piece_count++] = (struct iovec){ (void *)(uintptr_t)addr, take };
		} else {
			break;
		}
		joined = true;
		added += take;
	}
	return added;
}

static size_t find_memory(pid_t pid, size_t bytes)
{
	char path[64];
	char line[512];
	size_t found = 0;
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	FILE *pagemap = fopen(path, "re");
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	if (maps == NULL || pagemap == NULL)
		fail("%s", path);
	setvbuf(pagemap, NULL, _IOFBF, 1 << 16);
	while (found < bytes && fgets(line, sizeof line, maps) != NULL) {
		uint64_t start;
		uint64_t end;
		char protection[5];
		char name[256] = "";
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %*u %255s", &start, &end,
		           protection, name) < 3)
			continue;
		bool heap = name[0] == '\0' || strcmp(name, "[heap]") == 0;
		if (heap && strcmp(protection, "rw-p") == 0)
			found += add_mapping(pagemap, start, end, bytes - found);
	}
	fclose(maps);
	fclose(pagemap);
	return found;
}

static void stop_threads(void)
{
	struct user_regs_struct registers;
	struct iovec place = { &registers, sizeof registers };
	for (size_t i = 0; i < thread_count; i++)
		if (ptrace(PTRACE_INTERRUPT, threads[i], NULL, NULL) != 0)
			fail("cannot interrupt thread %d", (int)threads[i]);
	for (size_t i = 0; i < thread_count; i++)
		if (waitpid(threads[i], NULL, __WALL) != threads[i])
			fail("cannot wait for thread %d", (int)threads[i]);
	for (size_t i = 0; i < thread_count; i++) {
		place.iov_len = sizeof registers;
		if (ptrace(PTRACE_GETREGSET, threads[i], (void *)NT_PRSTATUS, &place) != 0)
			fail("cannot read the registers of thread %d", (int)threads[i]);
	}
}

static void read_memory(pid_t pid, unsigned char *destination)
{
	size_t offset = 0;
	for (size_t first = 0; first < piece_count; first += 64) {
		size_t count = piece_count - first < 64 ? piece_count - first : 64;
		size_t length = 0;
		for (size_t i = 0; i < count; i++)
			length += pieces[first + i].iov_len;
		struct iovec local = { destination + offset, length };
		if (process_vm_readv(pid, &local, 1, pieces + first, count, 0) != (ssize_t)length)
			fail("cannot read the memory");
		offset += length;
	}
}

static void resume_threads(void)
{
	for (size_t i = 0; i < thread_count; i++)
		if (ptrace(PTRACE_CONT, threads[i], NULL, NULL) != 0)
			fail("cannot resume thread %d", (int)threads[i]);
}

static bool be_urgent(bool urgent)
{
	struct sched_param parameters = { .sched_priority = urgent ? 1 : 0 };
	return sched_setscheduler(0, urgent ? SCHED_FIFO : SCHED_OTHER, &parameters) == 0;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, compare);
	return values[count / 2];
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: probe PID BYTES [RUNS]\n", stderr);
		return 64;
	}
	pid_t pid = (pid_t)strtol(argv[1], NULL, 10);
	size_t bytes = strtoul(argv[2], NULL, 10);
	size_t runs = argc > 3 ? strtoul(argv[3], NULL, 10) : 9;
	runs = runs < 1 ? 1 : runs > MAX_RUNS ? MAX_RUNS : runs;
	double stops[MAX_RUNS];
	double reads[MAX_RUNS];
	size_t found = find_memory(pid, bytes);
	unsigned char *destination = mmap(NULL, found + PAGE, PROT_READ | PROT_WRITE,
	                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (destination == MAP_FAILED)
		fail("no memory");
	seize_threads(pid);
	bool fifo = true;
	for (size_t run = 0; run < runs; run++) {
		fifo = be_urgent(true) && fifo;
		double begin = now_us();
		stop_threads();
		double stopped = now_us();
		read_memory(pid, destination);
		double read = now_us();
		resume_threads();
		double end = now_us();
		be_urgent(false);
		stops[run] = stopped - begin + (end - read);
		reads[run] = read - stopped;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	printf("{\"threads\":%zu,\"fifo\":%s,\"bytes\":%zu,\"pieces\":%zu,"
	       "\"stop_us\":%.1f,\"read_us\":%.1f}\n",
	       thread_count, fifo ? "true" : "false", found, piece_count, median(stops, runs),
	       median(reads, runs));
	return 0;
}
