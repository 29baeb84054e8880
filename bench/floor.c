/*
 * What the least costs that the kernel can do at probe points: a program that returns at once, or
 * one that reads the header of the object of a call, reads the clock at its start and its end, and
 * writes a record for the call, or one for each of both. It checks nothing that a tracer has to
 * check: neither which call returns, nor whose object it is.
 *
 * usage: floor OBJECT PROGRAM PID FILE
 *
 * OBJECT is floor.bpf.c, compiled; PROGRAM one of its functions. A line of stdin is a point of
 * FILE: 0 (start of a call, with the object in %rdi) or 1 (its end), and its offset. An empty line
 * ends the points; `attached` is printed. When stdin ends, the number of records is.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_POINTS = 65536, INTERVAL_MS = 10, TRACE_UPROBE_MULTI = 48 };

/* linux/bpf.h has it since 6.6. */
struct uprobe_multi_attr {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t n, multi_flags, pid, unused;
};

static uint64_t offsets[MAX_POINTS], cookies[MAX_POINTS];
static unsigned long long nrecords;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int take(void *arg, void *data, size_t size)
{
	(void)arg, (void)data, (void)size;
	nrecords++;
	return 0;
}

static size_t read_points(void)
{
	char line[64];
	size_t n = 0;

	while (n < MAX_POINTS && fgets(line, sizeof(line), stdin) && line[0] != '\n') {
		char *end;

		cookies[n] = strtoull(line, &end, 10);
		offsets[n++] = strtoull(end, NULL, 16);
	}
	return n;
}

/* A program that may sleep is entered in less time; that of asyncdbg may. */
static struct bpf_object *load(const char *path, const char *name)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *p;

	check(object, path);
	bpf_object__for_each_program(p, object)
	{
		bpf_program__set_autoload(p, strcmp(bpf_program__name(p), name) == 0);
		bpf_program__set_type(p, BPF_PROG_TYPE_KPROBE);
		bpf_program__set_expected_attach_type(p, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
		bpf_program__set_flags(p, bpf_program__flags(p) | BPF_F_SLEEPABLE);
	}
	check(bpf_object__load(object) == 0, "loading the program");
	return object;
}

static int attach(const struct bpf_object *object, const char *name, const char *pid,
                  const char *file, size_t n)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(object, name);
	struct uprobe_multi_attr attr = {
		.type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)file,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.n = (uint32_t)n,
		.pid = (uint32_t)atoi(pid),
	};

	check(p, name);
	attr.program = (uint32_t)bpf_program__fd(p);
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct pollfd end = { .fd = STDIN_FILENO };

	if (argc != 5)
		return 64;
	struct bpf_object *object = load(argv[1], argv[2]);
	int map = bpf_object__find_map_fd_by_name(object, "ring");
	struct ring_buffer *ring = ring_buffer__new(map, take, NULL, NULL);

	check(ring, "the ring buffer");
	int link = attach(object, argv[2], argv[3], argv[4], read_points());
	check(link >= 0, "attaching");
	puts("attached");
	fflush(stdout);
	while (poll(&end, 1, INTERVAL_MS) == 0)
		ring_buffer__consume(ring);
	close(link);
	ring_buffer__consume(ring);
	printf("%llu\n", nrecords);
	return 0;
}
