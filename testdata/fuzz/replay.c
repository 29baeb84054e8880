/*
 * Runs a fuzzer's function on files, without a fuzzing engine: a fault ends it, as a failed test.
 *
 * usage: NAME_fuzz FILE_OR_DIRECTORY...
 *
 * Of a directory all files are run, in the order of their names. An input that takes longer than
 * a minute ends the process too.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/test/fuzz.h"

enum { TOO_LONG = 60 /* seconds */ };

/* Those that a fuzzer lacks are these. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return 0;
}

/* A fuzzer's own mutator calls it; nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	(void)data, (void)max_size;
	return size;
}

static size_t run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t size = 0, capacity = 1 << 16;
	uint8_t *data = malloc(capacity);

	if (!f || !data) {
		perror(path);
		exit(1);
	}
	for (size_t n; (n = fread(data + size, 1, capacity - size, f)) > 0;) {
		size += n;
		if (size == capacity)
			data = realloc(data, capacity *= 2);
		if (!data)
			abort();
	}
	fclose(f);
	/* A block of exactly that size: the sanitizer sees each overrun. */
	uint8_t *exact = malloc(size + !size);
	if (!exact)
		abort();
	memcpy(exact, data, size);
	free(data);
	fprintf(stderr, "%s\n", path);
	alarm(TOO_LONG);
	LLVMFuzzerTestOneInput(exact, size);
	alarm(0);
	free(exact);
	return 1;
}

static int is_shown(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static size_t run_path(const char *path)
{
	struct dirent **names;
	struct stat st;
	size_t done = 0;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return run_file(path);
	int n = scandir(path, &names, is_shown, alphasort);
	for (int i = 0; i < n; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		done += run_file(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return done;
}

int main(int argc, char **argv)
{
	size_t done = 0;

	LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		done += run_path(argv[i]);
	printf("%zu inputs\n", done);
	return done ? 0 : 1;
}
