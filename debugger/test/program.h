/*
 * For tests: builds threads.c and library.c with cc and runs them. They have no sanitizers, whose
 * address space is too large for a core. SOURCE_DIR is the top of the source tree.
 */
#ifndef DEBUGGER_TEST_PROGRAM_H
#define DEBUGGER_TEST_PROGRAM_H

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAM_THREADS = 4, PROGRAM_PATH = 128 };

struct program {
	pid_t pid;
	int to; /* its standard input */
	FILE *from;
	/* What the program prints about itself. */
	struct program_thread {
		int tid;
		uint64_t local, library_local; /* addresses, 0: not allocated */
	} threads[PROGRAM_THREADS];            /* the main thread first, then as they started */
	size_t nthreads;
	uint64_t constant, variable;
};

/* A new directory; program_remove_directory() deletes it and the files in it. */
static inline const char *program_directory(void)
{
	static char path[PROGRAM_PATH];

	snprintf(path, sizeof(path), "%s/asyncdbg-test.XXXXXX",
	         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(path))
		abort();
	return path;
}

/* The exit status of a shell command, whose output is dropped; -1 if a signal ended it. */
__attribute__((format(printf, 1, 2))) static inline int program_run(const char *format, ...)
{
	char *command, *quiet;
	va_list args;

	va_start(args, format);
	if (vasprintf(&command, format, args) < 0 ||
	    asprintf(&quiet, "(%s) >/dev/null 2>&1 </dev/null", command) < 0)
		abort();
	va_end(args);
	int status = system(quiet);
	free(command);
	free(quiet);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void program_remove_directory(const char *directory)
{
	program_run("rm -rf '%s'", directory);
}

/* Compiles debugger/test/SOURCE to DIRECTORY/NAME; false when cc cannot. */
static inline bool program_build(const char *directory, const char *name, const char *source,
                                 const char *flags)
{
	const char *top = getenv("SOURCE_DIR");

	return program_run("cc -std=gnu11 -D_GNU_SOURCE -g -O1 -fno-optimize-sibling-calls "
	                   "-o '%s/%s' '%s/debugger/test/%s' %s -pthread -ldl",
	                   directory, name, top ? top : ".", source, flags) == 0;
}

static inline void program_read(struct program *p)
{
	char line[256];

	while (fgets(line, sizeof(line), p->from) && strcmp(line, "ready\n") != 0) {
		struct program_thread th = { 0 };
		void *local, *library = NULL;
		if (sscanf(line, "thread %d %p %p", &th.tid, &local, &library) >= 2 &&
		    p->nthreads < PROGRAM_THREADS) {
			th.local = (uintptr_t)local;
			th.library_local = (uintptr_t)library;
			p->threads[p->nthreads++] = th;
		}
		sscanf(line, "constant %" SCNx64, &p->constant);
		sscanf(line, "variable %" SCNx64, &p->variable);
	}
	if (p->nthreads != PROGRAM_THREADS)
		abort();
}

/* Runs path and waits until it is ready. argument and preload may be NULL. */
static inline struct program program_start(const char *path, const char *argument,
                                           const char *preload)
{
	struct program p = { 0 };
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		abort();
	p.pid = fork();
	if (p.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl(path, path, argument, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.to = in[1];
	p.from = fdopen(out[0], "r");
	if (p.pid < 0 || !p.from)
		abort();
	program_read(&p);
	return p;
}

/* Lets the program end; returns its exit status, -1 if a signal ended it. */
static inline int program_end(struct program *p)
{
	int status = -1;

	if (p->pid <= 0)
		return -1;
	close(p->to);
	waitpid(p->pid, &status, 0);
	fclose(p->from);
	*p = (struct program){ 0 };
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void program_kill(struct program *p)
{
	if (p->pid > 0)
		kill(p->pid, SIGKILL);
	program_end(p);
}

#endif
