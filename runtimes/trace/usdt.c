#include "runtimes/trace/usdt.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "debugger/base/file.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/live/proc.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

/* ---- the files ---- */

/* A file that is loaded, and the probes of all files, in their order. */
struct file_id {
	dev_t dev;
	ino_t ino;
};
struct all_notes {
	VEC(struct usdt_probe) probes;
	VEC(const struct module *) modules; /* of each probe */
	VEC(struct file_id) files;
	struct usdt_notes lost; /* what is missing */
};

static void usdt_free_notes(struct all_notes *all)
{
	vec_free(&all->probes);
	vec_free(&all->modules);
	vec_free(&all->files);
}

/* Whether it is the first module with its file: one that is loaded twice has its probes once. */
static bool is_new_file(struct all_notes *all, const struct module *m)
{
	struct stat st;

	if (m->fd < 0 || fstat(m->fd, &st) != 0)
		return false;
	for (size_t i = 0; i < all->files.n; i++) {
		if (all->files.data[i].dev == st.st_dev && all->files.data[i].ino == st.st_ino)
			return false;
	}
	*vec_push(&all->files) = (struct file_id){ st.st_dev, st.st_ino };
	return true;
}

static void add_notes(struct all_notes *all, const struct module *m, const struct usdt_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		if (all->probes.n == USDT_MAX_PROBES) {
			all->lost.left_out++;
			continue;
		}
		struct usdt_probe *p = vec_push(&all->probes);
		*p = notes->probes[i];
		p->file = m->is_main ? NULL : m->path;
		*vec_push(&all->modules) = m;
	}
	all->lost.bad += notes->bad;
	if (!all->lost.bad_why)
		all->lost.bad_why = notes->bad_why;
	all->lost.left_out += notes->left_out;
	all->lost.sections_left_out += notes->sections_left_out;
}

/* Whether no more can be added: whatever the next file has is left out unread. */
static bool usdt_is_full(struct all_notes *all)
{
	bool full = all->probes.n == USDT_MAX_PROBES;

	all->lost.sections_left_out += full;
	return full;
}

static struct error *read_modules(const struct target *t, bool is_main, struct arena *a,
                                  struct all_notes *all)
{
	for (size_t i = 0; i < t->modules.n; i++) {
		const struct module *m = t->modules.data[i];
		struct usdt_notes notes;

		if (m->is_main != is_main || !is_new_file(all, m))
			continue;
		TRY(interrupt_check());
		if (usdt_is_full(all))
			continue;
		TRY(usdt_notes_read(a, m->fd, &notes));
		add_notes(all, m, &notes);
	}
	return NULL;
}

static struct error *read_all(const struct target *t, struct arena *a, struct all_notes *all)
{
	TRY(read_modules(t, true, a, all));
	return read_modules(t, false, a, all);
}

struct error *trace_usdt_notes(const struct target *t, struct arena *a, struct usdt_notes *ret)
{
	struct all_notes all = { 0 };
	struct error *err = read_all(t, a, &all);

	*ret = all.lost;
	ret->n = all.probes.n;
	ret->probes = vec_to_arena(&all.probes, a);
	usdt_free_notes(&all);
	return err;
}

/* ---- descriptions for the kernel ---- */

static bool is_register(unsigned number)
{
	return number < PROBE_REGISTERS;
}

/* False: the kernel cannot read it. */
static bool usdt_describe(const struct usdt_operand *o, bool texts, struct probe_value *ret)
{
	if ((o->has_base && !is_register(o->base)) || (o->has_index && !is_register(o->index)))
		return false;
	*ret = (struct probe_value){
		.number = o->number,
		.size = (uint8_t)o->size,
		.base = (uint8_t)(o->has_base ? o->base : PROBE_NO_REGISTER),
		.index = (uint8_t)(o->has_index ? o->index : PROBE_NO_REGISTER),
		.scale = (uint8_t)o->scale,
		.shift = (uint8_t)o->shift,
		.text = texts && o->size == 8 && o->kind != USDT_OPERAND_CONSTANT,
	};
	switch (o->kind) {
	case USDT_OPERAND_CONSTANT:
		ret->kind = PROBE_CONSTANT;
		return true;
	case USDT_OPERAND_REGISTER:
		ret->kind = PROBE_REGISTER;
		return true;
	case USDT_OPERAND_MEMORY:
		ret->kind = PROBE_MEMORY;
		return true;
	case USDT_OPERAND_UNKNOWN:
		break;
	}
	return false;
}

static void make_static(const struct usdt_probe *probe, bool texts, struct trace_static *ret)
{
	*ret = (struct trace_static){ .probe = probe };
	ret->n = usdt_operand_parse(EM_X86_64, probe->arguments, ret->operands);
	if (ret->n > USDT_MAX_OPERANDS)
		ret->n = USDT_MAX_OPERANDS;
	ret->place.n = (uint32_t)ret->n;
	for (size_t i = 0; i < ret->n; i++) {
		if (!usdt_describe(&ret->operands[i], texts, &ret->place.values[i]))
			ret->operands[i].kind = USDT_OPERAND_UNKNOWN;
	}
}

/* ---- which of them ---- */

static bool usdt_matches(const char *pattern, const struct usdt_probe *p)
{
	SCRATCH(tmp);

	return fnmatch(pattern, arena_printf(&tmp, "%s:%s", p->provider, p->name), 0) == 0;
}

/* Whether one of the patterns, which end with NULL, matches. */
static bool matches_any(const char *const *patterns, const struct usdt_probe *p)
{
	for (; *patterns; patterns++) {
		if (usdt_matches(*patterns, p))
			return true;
	}
	return false;
}

static bool has_match(const struct trace_statics *statics, const char *pattern)
{
	for (size_t i = 0; i < statics->n; i++) {
		if (usdt_matches(pattern, statics->probes[i].probe))
			return true;
	}
	return false;
}

static struct error *check_statics(const struct trace_statics *statics,
                                   const struct trace_usdt_wanted *wanted)
{
	if (statics->n > PROBE_MAX_PLACES)
		return error_new(ERR_USAGE,
		                 "--usdt supports at most %d places in the program's code",
		                 (int)PROBE_MAX_PLACES);
	for (const char *const *p = wanted->patterns; *p && !wanted->some; p++) {
		if (!has_match(statics, *p))
			return error_new(
				ERR_USAGE,
				"the program has no static probe %s: \"probes\" lists them", *p);
	}
	return NULL;
}

/* Appends the probes that match. */
static void select_probes(const struct all_notes *all, const struct trace_usdt_wanted *wanted,
                          struct arena *a, struct trace_statics *ret)
{
	VEC(struct trace_static) found = { 0 };

	for (size_t i = 0; i < ret->n; i++)
		*vec_push(&found) = ret->probes[i];
	for (size_t i = 0; i < all->probes.n && found.n <= PROBE_MAX_PLACES; i++) {
		if (!matches_any(wanted->patterns, &all->probes.data[i]))
			continue;
		struct usdt_probe *probe = NEW(a, struct usdt_probe);
		*probe = all->probes.data[i];
		struct trace_static *made = vec_push(&found);
		make_static(probe, wanted->texts, made);
		made->module = all->modules.data[i];
	}
	ret->n = found.n;
	ret->probes = vec_to_arena(&found, a);
	vec_free(&found);
}

struct error *trace_usdt_find(const struct target *t, const struct trace_usdt_wanted *wanted,
                              struct arena *a, struct trace_statics *ret)
{
	struct all_notes all = { 0 };
	struct error *err = read_all(t, a, &all);

	*ret = (struct trace_statics){ 0 };
	if (!err)
		select_probes(&all, wanted, a, ret);
	usdt_free_notes(&all);
	return err ? err : check_statics(ret, wanted);
}

/* ---- libraries of a process that has no target ---- */

/* The probes of the file of a mapping. */
static struct error *read_mapping(pid_t pid, const struct mapping *mapping, struct arena *a,
                                  struct all_notes *all)
{
	struct module *m = NEW(a, struct module);
	struct usdt_notes notes;

	m->path = str_clean(a, mapping->path, strlen(mapping->path));
	m->file = arena_printf(a, "/proc/%d/root%s", (int)pid, mapping->path);
	m->fd = file_open_regular(m->file);
	struct error *err = NULL;
	if (is_new_file(all, m) && !usdt_is_full(all) && !(err = usdt_notes_read(a, m->fd, &notes)))
		add_notes(all, m, &notes);
	file_close(&m->fd);
	m->fd = -1;
	/* Executable mappings may be of files that are no libraries. */
	if (!err || err->kind != ERR_UNSUPPORTED)
		return err;
	error_free(err);
	return NULL;
}

static struct error *read_mappings(pid_t pid, struct arena *a, struct all_notes *all)
{
	size_t n = 0;
	const struct mapping *mappings = proc_maps(a, pid, &n);
	const char *exe = arena_printf(a, "/proc/%d/exe", (int)pid);
	struct stat st;

	if (!mappings || stat(exe, &st) != 0)
		return error_os(errno, "reading /proc/%d/maps", (int)pid);
	*vec_push(&all->files) = (struct file_id){ st.st_dev, st.st_ino };
	for (size_t i = 0; i < n; i++) {
		TRY(interrupt_check());
		if (mappings[i].executable && *mappings[i].path == '/')
			TRY(read_mapping(pid, &mappings[i], a, all));
	}
	return NULL;
}

struct error *trace_usdt_find_loaded(pid_t pid, const struct trace_usdt_wanted *wanted,
                                     struct arena *a, struct trace_statics *ret)
{
	struct all_notes all = { 0 };
	struct error *err = read_mappings(pid, a, &all);

	if (!err)
		select_probes(&all, wanted, a, ret);
	usdt_free_notes(&all);
	return err ? err : check_statics(ret, wanted);
}

struct error *trace_usdt_check_semaphore(pid_t pid, const struct trace_static *probe)
{
	SCRATCH(tmp);
	uint64_t offset = probe->probe->semaphore_offset;
	size_t n = 0, found = 0;
	const struct mapping *mappings = offset ? proc_maps(&tmp, pid, &n) : NULL;

	for (size_t i = 0; mappings && i < n; i++) {
		const struct mapping *m = &mappings[i];

		found += m->writable && strcmp(m->path, probe->module->path) == 0 &&
		         offset >= m->file_offset && offset - m->file_offset < m->end - m->start;
	}
	if (found < 2)
		return NULL;
	return error_new(ERR_UNSUPPORTED,
	                 "%s:%s cannot be switched on: the page with its semaphore is mapped "
	                 "writable twice, as in programs that are linked without -z relro",
	                 probe->probe->provider, probe->probe->name);
}

/* ---- values read ---- */

/* The value of an operand, from the 8 bytes that the kernel has read. */
static uint64_t extended(const struct usdt_operand *o, uint64_t value)
{
	unsigned unused = 64 - 8 * o->size;

	if (unused >= 64)
		return value;
	return o->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused)
	                    : value << unused >> unused;
}

/* The length without the bytes of a character that was cut off at the end. */
static size_t whole_characters(const char *text, size_t len)
{
	size_t end = len;

	while (end && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
		end--;
	if (!end || (unsigned char)text[end - 1] < 0xc0)
		return len;
	unsigned char first = (unsigned char)text[end - 1];
	size_t needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	return len - (end - 1) < needed ? end - 1 : len;
}

/* Whether a string is text: sanitising changes only its white space. */
static bool is_text(const char *text, const char *clean, size_t len)
{
	if (strlen(clean) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != clean[i] && !strchr("\t\n\r", text[i]))
			return false;
	}
	return true;
}

/* The text at *at of the copy, which ends there, sanitised; NULL: these bytes are no text. */
static const char *next_text(struct arena *a, const unsigned char *copy, size_t len, size_t *at)
{
	const char *text = (const char *)copy + *at;
	const char *end = *at < len ? memchr(text, '\0', len - *at) : NULL;

	if (!end) {
		*at = len;
		return NULL;
	}
	size_t length = (size_t)(end - text);
	*at += length + 1;
	if (length == PROBE_MAX_TEXT - 1)
		length = whole_characters(text, length);
	const char *clean = str_clean(a, text, length);
	return is_text(text, clean, length) ? clean : NULL;
}

void trace_usdt_hit(const struct trace_static *probe, const struct probe_record *record,
                    const unsigned char *copy, struct arena *a, struct trace_hit *ret)
{
	size_t at = probe->n * sizeof(uint64_t);
	uint64_t value;

	*ret = (struct trace_hit){ .probe = probe->probe, .n = probe->n };
	for (size_t i = 0; i < probe->n && at <= record->copied; i++) {
		const struct usdt_operand *o = &probe->operands[i];
		struct trace_argument *arg = &ret->arguments[i];

		memcpy(&value, copy + i * sizeof(value), sizeof(value));
		arg->known = o->kind != USDT_OPERAND_UNKNOWN && !(record->object >> i & 1);
		arg->is_signed = o->is_signed;
		arg->value = extended(o, value);
		if (record->start >> i & 1)
			arg->text = next_text(a, copy, record->copied, &at);
	}
}
