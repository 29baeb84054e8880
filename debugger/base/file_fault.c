#include "debugger/base/file_fault.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = PATH_MAX + 128 };

static atomic_uint faults;
static char name[PATH_MAX]; /* of the first one */

/* A line of maps, and where it lies. Nothing that a signal handler may not call is called here. */
struct mapped {
	uintptr_t start, end;
	const char *path; /* NULL: no file */
};

static const char *read_hex(const char *at, uintptr_t *ret)
{
	for (*ret = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			*ret = *ret << 4 | (uintptr_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*ret = *ret << 4 | (uintptr_t)(*at - 'a' + 10);
		else
			return at;
	}
}

/* "7f00-7f10 r--p 00000000 08:01 42 /path" */
static struct mapped file_fault_parse(char *line)
{
	struct mapped m = { 0 };
	const char *at = read_hex(line, &m.start);

	if (*at == '-')
		read_hex(at + 1, &m.end);
	m.path = strchr(line, '/');
	return m;
}

/* Finds the mapping of a file that has addr. line: LINE bytes, in which its path stays. */
static bool file_fault_find(int fd, uintptr_t addr, char *line, struct mapped *ret)
{
	size_t n = 0;
	char c;

	/* Byte by byte: this happens once, and needs no memory but the stack's. */
	while (read(fd, &c, 1) == 1) {
		if (c != '\n') {
			if (n + 1 < LINE)
				line[n++] = c;
			continue;
		}
		line[n] = '\0';
		n = 0;
		*ret = file_fault_parse(line);
		if (ret->start <= addr && addr < ret->end)
			return ret->path != NULL;
	}
	return false;
}

/* Puts zeros in the place of a mapping from addr on. */
static bool replace(uintptr_t addr)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = addr - addr % page;
	char line[LINE];
	struct mapped m;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && file_fault_find(fd, addr, line, &m);

	if (fd >= 0)
		close(fd);
	if (!found || mmap((void *)start, m.end - start, PROT_READ,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	if (atomic_fetch_add(&faults, 1) == 0)
		strncpy(name, m.path, sizeof(name) - 1);
	return true;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code == BUS_ADRERR && replace((uintptr_t)info->si_addr))
		return;
	/* Something else: it happens again when this returns, and ends asyncdbg. */
	signal(number, SIG_DFL);
}

void file_fault_install(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
}

unsigned file_fault_count(void)
{
	return faults;
}

struct error *file_fault_check(void)
{
	if (faults == 0)
		return NULL;
	return error_new(ERR_CORRUPT,
	                 "%s was truncated while in use, and its contents are unknown now; open "
	                 "the program again when the file is complete",
	                 name);
}
