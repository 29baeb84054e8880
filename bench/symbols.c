/*
 * How long one pass over the symbols of an executable takes on this machine.
 *
 * usage: symbols EXE [RUNS]
 *
 * Prints one line of JSON: the number of symbols in .symtab, and the median over RUNS (9) of the
 * microseconds that it takes to map the file and to read every symbol and its name once.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 99 };

static volatile uint64_t sink;

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "symbols: %s: %s\n", what,
	        errno != 0 ? strerror(errno) : "not as expected");
	exit(2);
}

static double now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static size_t read_symbols(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0)
		fail(path);
	size_t size = (size_t)status.st_size;
	const unsigned char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		fail(path);
	close(fd);
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
	size_t count = 0;
	uint64_t sum = 0;
	for (size_t i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
		const char *names = (const char *)file + sections[sections[i].sh_link].sh_offset;
		count = sections[i].sh_size / sizeof *symbols;
		for (size_t s = 0; s < count; s++)
			sum += symbols[s].st_value + strlen(names + symbols[s].st_name);
	}
	sink = sum;
	munmap((void *)file, size);
	return count;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: symbols EXE [RUNS]\n", stderr);
		return 64;
	}
	size_t runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 9;
	runs = runs < 1 ? 1 : runs > MAX_RUNS ? MAX_RUNS : runs;
	double times[MAX_RUNS];
	size_t count = 0;
	for (size_t run = 0; run < runs; run++) {
		double begin = now_us();
		count = read_symbols(argv[1]);
		times[run] = now_us() - begin;
	}
	qsort(times, runs, sizeof *times, compare);
	printf("{\"symbols\":%zu,\"us\":%.1f}\n", count, times[runs / 2]);
	return 0;
}
