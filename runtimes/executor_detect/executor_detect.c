#include "runtimes/executor_detect/executor_detect.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/elf/elf_sections.h"
#include "runtimes/common/runtime.h"
#include "runtimes/inspect/other_executors.h"

enum {
	MAX_EXECUTORS = 32, /* rows of all tables */
	MAX_PATH_LEN = 512, /* length of the path of a source file below its crate */
};

/* An executor to search for. */
struct executor_detect_wanted {
	const char *name, *crate;
	char package[64]; /* the directory of its sources: "futures-executor" */
	char below[64];   /* and the start of the paths of its files within: "src/local_pool" */
	char symbol[64];  /* part of the mangled names of its functions: "5tokio7runtime" */
	bool whole;       /* the symbol is that of a crate, and not of a module in one */
	bool supported, found;
	const char *version; /* in the survey's arena; NULL: unknown */
};

struct executor_detect_search {
	struct arena *a;
	struct executor_detect_wanted wanted[MAX_EXECUTORS];
	size_t n;
	bool rust;
};

/* ---- texts to search for ---- */

/* Adds an executor; code: the path of its module, "tokio::runtime". */
static void executor_detect_want(struct executor_detect_search *s, const char *name,
                                 const char *crate, const char *code, bool supported)
{
	struct executor_detect_wanted *w = &s->wanted[s->n];
	const char *module = strstr(code, "::");
	size_t len = module ? (size_t)(module - code) : strlen(code);

	if (s->n == MAX_EXECUTORS)
		return;
	*w = (struct executor_detect_wanted){ .name = name,
		                              .crate = crate,
		                              .supported = supported };
	module = module ? module + 2 : "";
	snprintf(w->package, sizeof(w->package), "%.*s", (int)len, code);
	for (char *p = w->package; *p; p++)
		*p = *p == '_' ? '-' : *p;
	snprintf(w->below, sizeof(w->below), "src/%s", module);
	int n = snprintf(w->symbol, sizeof(w->symbol), "%zu%.*s", len, (int)len, code);
	if (*module && n > 0 && (size_t)n < sizeof(w->symbol))
		snprintf(w->symbol + n, sizeof(w->symbol) - (size_t)n, "%zu%s", strlen(module),
		         module);
	w->whole = *module == '\0';
	s->n++;
}

/*
 * Whether the tasks of a runtime are made by another crate than its executors: async-task has tasks
 * of executors that are not async-executor's, such as ntex's.
 */
static bool has_tasks_of_another(const struct runtime *r)
{
	size_t len = strcspn(r->path, ":");

	return r->path[len] && (strncmp(r->path, r->executor, len) != 0 ||
	                        (r->executor[len] && r->executor[len] != ':'));
}

static void want_all(struct executor_detect_search *s)
{
	for (const struct runtime *const *r = registered_runtimes.runtimes; *r; r++)
		executor_detect_want(s, (*r)->name, (*r)->name, (*r)->executor, true);
	for (const struct runtime *const *r = registered_runtimes.runtimes; *r; r++) {
		char crate[sizeof(s->wanted->package)];

		snprintf(crate, sizeof(crate), "%.*s", (int)strcspn((*r)->path, ":"), (*r)->path);
		if (has_tasks_of_another(*r))
			executor_detect_want(s, (*r)->name, (*r)->name, crate, true);
	}
	for (const struct runtime *const *r = registered_runtimes.runtimes; *r; r++) {
		for (const struct crate_row *row = (*r)->former; row && row->crate; row++)
			executor_detect_want(s, row->name, row->crate, row->crate, false);
	}
	for (const struct crate_row *row = other_executors; row->crate; row++)
		executor_detect_want(s, row->name, row->crate, row->crate, false);
}

/* ---- paths of source files ---- */

/* Whether a path of a Rust source file goes on at text: "runtime/context.rs". */
static bool is_source(const char *text, const char *end)
{
	for (size_t i = 0; i < MAX_PATH_LEN && text + i + 3 <= end; i++) {
		if (memcmp(text + i, ".rs", 3) == 0)
			return true;
		if (!isalnum((unsigned char)text[i]) && !strchr("_-/.", text[i]))
			return false;
	}
	return false;
}

/*
 * The part of a directory's name behind the package and a hyphen, if it is a version as Cargo
 * names directories: "tokio-1.54.1". NULL: the directory is not of the package. "" without version.
 */
static const char *executor_detect_version_of(struct arena *a,
                                              const struct executor_detect_wanted *w,
                                              const char *name, size_t len)
{
	size_t n = strlen(w->package);

	if (len < n || memcmp(name, w->package, n) != 0)
		return NULL;
	if (len == n)
		return "";
	if (name[n] != '-' || len < n + 2 || !isdigit((unsigned char)name[n + 1]))
		return NULL;
	return str_clean(a, name + n + 1, len - n - 1);
}

/* Takes a path: start is the first byte that may belong to it, at points to its "/src/". */
static void take_path(struct executor_detect_search *s, const char *start, const char *at,
                      const char *end)
{
	const char *name = at;

	while (name > start && name[-1] != '/' && isgraph((unsigned char)name[-1]))
		name--;
	for (size_t i = 0; i < s->n; i++) {
		struct executor_detect_wanted *w = &s->wanted[i];
		size_t below = strlen(w->below);

		if ((w->found && w->version) || (size_t)(end - at) <= below + 1 ||
		    memcmp(at + 1, w->below, below) != 0 || !is_source(at + 1, end))
			continue;
		const char *version =
			executor_detect_version_of(s->a, w, name, (size_t)(at - name));
		if (!version)
			continue;
		w->found = true;
		w->version = *version ? version : NULL;
	}
}

static void search_paths(void *search, const char *data, size_t len)
{
	struct executor_detect_search *s = search;
	static const char sources[] = "/src/";
	const char *end = data + len, *from = data, *at;

	s->rust |= memmem(data, len, "/rustc/", 7) || memmem(data, len, "library/core/src/", 17) ||
	           memmem(data, len, "library/std/src/", 16);
	while (s->rust && (at = memmem(from, (size_t)(end - from), sources, sizeof(sources) - 1))) {
		take_path(s, data, at, end);
		from = at + 1;
	}
}

/* ---- symbols ---- */

/*
 * Whether a mangled name has the path from its crate on: tokio's Registration::async_io is of no
 * crate async_io. In v0 names the disambiguator of the crate is before it, as in Cs4fqI2P2rA04_.
 */
static bool begins_at_crate(const char *data, const char *at)
{
	const char *from = at;

	if (at - data >= 3 && memcmp(at - 3, "_ZN", 3) == 0)
		return true;
	if (from == data || *--from != '_')
		return false;
	while (from > data && isalnum((unsigned char)from[-1]))
		from--;
	const char *root = at - 1;
	while (root > from && !(root[-1] == 's' && root - 2 >= from && root[-2] == 'C'))
		root--;
	return root > from;
}

static bool executor_detect_has_symbol(const struct executor_detect_wanted *w, const char *data,
                                       size_t len)
{
	const char *end = data + len, *at = data;

	while ((at = memmem(at, (size_t)(end - at), w->symbol, strlen(w->symbol)))) {
		if (!w->whole || begins_at_crate(data, at))
			return true;
		at++;
	}
	return false;
}

static void search_symbols(void *search, const char *data, size_t len)
{
	struct executor_detect_search *s = search;

	s->rust |= memmem(data, len, "__rust_alloc", 12) ||
	           memmem(data, len, "rust_eh_personality", 19);
	for (size_t i = 0; s->rust && i < s->n; i++) {
		struct executor_detect_wanted *w = &s->wanted[i];

		w->found = w->found || executor_detect_has_symbol(w, data, len);
	}
}

/* ---- the file ---- */

/* Whether an earlier row found the same executor: another crate may have its tasks. */
static bool found_before(const struct executor_detect_search *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s->wanted[i].found && strcmp(s->wanted[i].crate, s->wanted[n].crate) == 0)
			return true;
	}
	return false;
}

static void search_file(struct executor_detect_search *s, struct elf_sections *file)
{
	/* A linker may put constants with relocations into the second one. */
	elf_sections_each(file, ".rodata", EXECUTOR_DETECT_MAX_SECTION, search_paths, s);
	elf_sections_each(file, ".data.rel.ro", EXECUTOR_DETECT_MAX_SECTION, search_paths, s);
	/* A crate without panics has no paths, also where others have some. */
	elf_sections_each(file, ".strtab", EXECUTOR_DETECT_MAX_SECTION, search_symbols, s);
	elf_sections_each(file, ".dynstr", EXECUTOR_DETECT_MAX_SECTION, search_symbols, s);
}

bool executor_detect_executor(const char *crate, struct detected_executor *ret)
{
	struct executor_detect_search s = { 0 };

	want_all(&s);
	for (size_t i = 0; i < s.n; i++) {
		const struct executor_detect_wanted *w = &s.wanted[i];

		if (strcmp(w->crate, crate) != 0)
			continue;
		*ret = (struct detected_executor){ w->name, w->crate, NULL, w->supported };
		return true;
	}
	return false;
}

void executor_detect_file(struct arena *a, int fd, struct detected_executors *ret)
{
	struct executor_detect_search s = { .a = a };
	VEC(struct detected_executor) found = { 0 };
	struct elf_sections *file = elf_sections_open(fd);

	*ret = (struct detected_executors){ 0 };
	if (file) {
		want_all(&s);
		search_file(&s, file);
		ret->has_debug_info = elf_sections_has(file, ".debug_info");
	}
	elf_sections_close(file);
	for (size_t i = 0; i < s.n; i++) {
		const struct executor_detect_wanted *w = &s.wanted[i];

		if (w->found && !found_before(&s, i))
			*vec_push(&found) = (struct detected_executor){ w->name, w->crate,
				                                        w->version, w->supported };
	}
	ret->rust = s.rust;
	ret->n = found.n;
	ret->data = vec_to_arena(&found, a);
}
