#include "runtimes/trace/usdt.h"

#include <elf.h>
#include <fnmatch.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

static const struct module *executable_of(const struct target *t)
{
	for (size_t i = 0; i < t->nmodules; i++) {
		if (t->modules[i].is_main && t->modules[i].fd >= 0)
			return &t->modules[i];
	}
	return NULL;
}

struct error *trace_usdt_notes(const struct target *t, struct arena *a, struct usdt_notes *ret)
{
	const struct module *m = executable_of(t);

	*ret = (struct usdt_notes){ 0 };
	return m ? usdt_notes_read(a, m->fd, ret) : NULL;
}

/* ---- what the kernel reads ---- */

static bool is_register(unsigned number)
{
	return number < PROBE_REGISTERS;
}

/* False: the kernel cannot read it. */
static bool describe(const struct usdt_operand *o, bool texts, struct probe_value *ret)
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
		if (!describe(&ret->operands[i], texts, &ret->place.values[i]))
			ret->operands[i].kind = USDT_OPERAND_UNKNOWN;
	}
}

/* ---- which of them ---- */

static bool matches(const char *pattern, const struct usdt_probe *p)
{
	SCRATCH(tmp);

	return fnmatch(pattern, arena_printf(&tmp, "%s:%s", p->provider, p->name), 0) == 0;
}

static bool matches_any(const char *const *patterns, const struct usdt_probe *p)
{
	for (; *patterns; patterns++) {
		if (matches(*patterns, p))
			return true;
	}
	return false;
}

static struct error *check_pattern(const char *pattern, const struct usdt_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		if (matches(pattern, &notes->probes[i]))
			return NULL;
	}
	return error_new(ERR_USAGE, "the program has no static probe %s: probes lists them",
	                 pattern);
}

struct error *trace_usdt_find(const struct target *t, const char *const *patterns, bool texts,
                              struct arena *a, struct trace_statics *ret)
{
	struct usdt_notes notes;
	VEC(struct trace_static) found = { 0 };

	TRY(trace_usdt_notes(t, a, &notes));
	for (const char *const *pattern = patterns; *pattern; pattern++)
		TRY(check_pattern(*pattern, &notes));
	for (size_t i = 0; i < notes.n && found.n <= PROBE_MAX_PLACES; i++) {
		if (matches_any(patterns, &notes.probes[i]))
			make_static(&notes.probes[i], texts, vec_push(&found));
	}
	*ret = (struct trace_statics){ .module = executable_of(t), .n = found.n };
	ret->probes = vec_to_arena(&found, a);
	vec_free(&found);
	if (ret->n > PROBE_MAX_PLACES)
		return error_new(ERR_USAGE, "--usdt takes at most %d places in the program's code",
		                 (int)PROBE_MAX_PLACES);
	return NULL;
}

/* ---- what was read ---- */

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

/* What sanitising does to the white space of a text, it being text otherwise. */
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
