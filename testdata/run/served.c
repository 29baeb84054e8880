/*
 * A process one of whose arguments, which /proc shows as its command line, lies in memory whose
 * pages it would have to serve itself through userfaultfd. It never does.
 *
 * It prints "ready" and the address of such a page, or "skipped: REASON", and stays until its
 * standard input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int skip(const char *why)
{
	printf("skipped: %s: %s\n", why, strerror(errno));
	return 77;
}

/* Becomes this program with an argument that fills a page, wherever it begins. */
static int begin_again(void)
{
	static char argument[3 * PAGE];

	memset(argument, 'x', sizeof(argument) - 1);
	execl("/proc/self/exe", "served", argument, NULL);
	return skip("execl");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return begin_again();

	uintptr_t inside = ((uintptr_t)argv[1] + PAGE - 1) / PAGE * PAGE;
	void *served = mmap((void *)inside, PAGE, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { inside, PAGE },
		                         .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (served == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		return skip("userfaultfd");
	printf("ready\n%p\n", served);
	fflush(stdout);
	while (getchar() != EOF)
		;
	/* The leak check of a sanitized build, which exit() runs, reads the page and never ends. */
	_exit(0);
}
