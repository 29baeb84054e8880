/*
 * A program to debug, for the tests of debugger/ and dwarf/unwind/unwind.c. Its threads stay in
 * known functions. "threads [LIBRARY]" loads LIBRARY (library.c), prints the expected values, one
 * per line, and "ready", and ends at the end of its standard input.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { NTHREADS = 3 };
enum { PRESERVED = 4712 };

const char constant[] = "constant text of the test program";
int variable = 4711;

__thread struct {
	char padding[24];
	uint64_t value;
} local __attribute__((aligned(64))) = { .value = UINT64_C(0x1122334455667788) };
/* Makes the size of PT_TLS not a multiple of its alignment. */
__thread char odd[5];

static void *(*library_local)(void);
static pthread_barrier_t all_there;

static void print_thread(void *in_library)
{
	printf("thread %d %p %p\n", (int)gettid(), (void *)&local.value, in_library);
}

static void wait_for_end(void)
{
	char byte;

	while (read(0, &byte, 1) > 0)
		;
}

__attribute__((noinline)) static void innermost(void)
{
	pthread_barrier_wait(&all_there);
	wait_for_end();
	__asm__ volatile("");
}

__attribute__((noinline)) static void middle(void)
{
	/* Its caller finds it there, and what it calls does not mention it. */
#ifdef __x86_64__
	register uint64_t preserved __asm__("rbx") = PRESERVED;

	__asm__ volatile("" : "+r"(preserved));
	innermost();
	__asm__ volatile("" : : "r"(preserved));
#else
	innermost();
	__asm__ volatile("");
#endif
}

static void *worker(void *arg)
{
	char name[] = "worker-0";

	name[7] = (char)('0' + (intptr_t)arg);
	pthread_setname_np(pthread_self(), name);
	odd[0] = name[7];
	/* The first thread never touches the library's thread-local. */
	print_thread(library_local && arg ? library_local() : NULL);
	middle();
	return NULL;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&all_there, NULL, NTHREADS + 1);
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);
		if (library)
			*(void **)&library_local = dlsym(library, "library_local");
		if (!library_local)
			return 1;
	}
	print_thread(library_local ? library_local() : NULL);
	printf("constant %p\nvariable %p\n", (const void *)constant, (void *)&variable);
	for (intptr_t i = 0; i < NTHREADS; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, worker, (void *)i);
	}
	pthread_barrier_wait(&all_there);
	printf("ready\n");
	wait_for_end();
	return 0;
}
