#include "runtimes/query/frame_value.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/native_variables.h"
#include "dwarf/types/scalar.h"
#include "dwarf/values/show.h"
#include "runtimes/model/names.h"
#include "runtimes/query/expression_step.h"
#include "runtimes/query/locals.h"

enum { MAX_TEXT = 4096 /* bytes of a string */ };

/* ---- scalars ---- */

static const char *utf8(struct arena *a, uint64_t code)
{
	unsigned char text[4];
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; code >>= 6)
		text[i] = (unsigned char)(0x80 | (code & 0x3f));
	text[0] = (unsigned char)(first[n] | code);
	return str_clean(a, (const char *)text, n);
}

/* bytes: little-endian, size of them. */
static struct error *of_scalar(const struct type *t, const unsigned char *bytes, struct arena *a,
                               struct frame_value *ret)
{
	enum type_kind kind = type_kind(t);
	uint64_t size = type_size(t);
	float single;

	if (size < 1 || size > sizeof(ret->number))
		return error_new(ERR_STATE, "a number of %u bits is too large to be compared",
		                 (unsigned)size * 8);
	ret->kind = kind == TYPE_BOOL    ? FRAME_VALUE_BOOL
	            : kind == TYPE_CHAR  ? FRAME_VALUE_TEXT
	            : kind == TYPE_FLOAT ? FRAME_VALUE_REAL
	                                 : FRAME_VALUE_INTEGER;
	memcpy(&ret->number, bytes, size);
	if (kind == TYPE_FLOAT && size == sizeof(single)) {
		memcpy(&single, bytes, sizeof(single));
		ret->real = (double)single;
	} else if (kind == TYPE_FLOAT && size == sizeof(ret->real)) {
		memcpy(&ret->real, bytes, sizeof(ret->real));
	} else if (kind == TYPE_FLOAT) {
		return error_new(ERR_STATE, "%s cannot be compared", type_name(t));
	}
	if (kind == TYPE_CHAR)
		ret->text = utf8(a, ret->number & 0x1fffff);
	if (kind == TYPE_INT && ret->number >> (size * 8 - 1)) {
		uint64_t above = size == 8 ? 0 : UINT64_MAX << (size * 8);

		ret->negative = true;
		ret->number = 0 - (ret->number | above);
	}
	return NULL;
}

static struct error *read_scalar(struct evaluation *e, struct arena *a, struct frame_value *ret)
{
	unsigned char bytes[sizeof(uint64_t)] = { 0 };
	uint64_t size = type_size(e->v.type);

	if (!e->in_memory)
		memcpy(bytes, &e->word, sizeof(bytes));
	else if (size <= sizeof(bytes))
		TRY(target_read(e->c->in->target, e->v.addr, bytes, size));
	return of_scalar(e->v.type, bytes, a, ret);
}

/* ---- other values ---- */

static bool is_string(const struct type *t)
{
	const char *name = type_name(t);

	return strcmp(name, "alloc::string::String") == 0 || strcmp(name, "&str") == 0 ||
	       strcmp(name, "&mut str") == 0 || str_begins(name, "alloc::boxed::Box<str");
}

/* As `print` shows it, but without the quotes of a text. */
static const char *shown(struct evaluation *e, struct arena *a)
{
	struct inspector *in = e->c->in;
	const char *text = show_value(in->target, in->di, &in->show, a, e->v, NULL);
	size_t len = strlen(text);

	return text[0] == '"' && len > 1 && text[len - 1] == '"'
	               ? arena_strndup(a, text + 1, len - 2)
	               : text;
}

/* Steps from the value into what it is a wrapper of, or points to. */
static struct error *look_into(struct evaluation *e, bool *found)
{
	struct inspector *in = e->c->in;
	const struct member *only = type_single_member(e->v.type);

	TRY(show_deref(in->target, &in->show, e->v, &e->v, found));
	if (*found)
		return NULL;
	if (type_kind(e->v.type) == TYPE_POINTER)
		return error_new(ERR_STATE, "a pointer in the path is null");
	/* An enum is shown: Some(3) is not 3. */
	if (type_kind(e->v.type) == TYPE_STRUCT)
		TRY(expression_look_through(e, &e->v, found));
	if (!*found && only && only->type && type_kind(e->v.type) == TYPE_STRUCT) {
		e->v = (struct value){ only->type, e->v.addr + only->offset };
		*found = true;
	}
	return NULL;
}

static struct error *frame_value_of(struct evaluation *e, struct arena *a, struct frame_value *ret)
{
	struct value whole = e->v;
	bool found = true;

	for (int hop = 0; hop < EXPRESSION_HOPS && found; hop++) {
		if (!e->v.type)
			return error_new(ERR_STATE, "its type is not known");
		if (type_is_scalar(e->v.type))
			return read_scalar(e, a, ret);
		TRY(expression_leave_register(e));
		if (hop == 0 || type_kind(e->v.type) != TYPE_STRUCT)
			whole = e->v;
		if (is_string(e->v.type)) {
			ret->kind = FRAME_VALUE_TEXT;
			return value_string(e->c->in->target, a, e->v, MAX_TEXT, &ret->text);
		}
		TRY(look_into(e, &found));
	}
	e->v = whole;
	ret->kind = FRAME_VALUE_TEXT;
	ret->text = shown(e, a);
	return NULL;
}

static struct error *text_of(struct evaluation *e, struct arena *a, struct frame_value *ret)
{
	struct inspector *in = e->c->in;

	if (!e->v.type)
		return error_new(ERR_STATE, "its type is not known");
	ret->kind = FRAME_VALUE_TEXT;
	ret->text = e->in_memory
	                    ? show_value(in->target, in->di, &in->show, a, e->v, NULL)
	                    : show_word(in->target, in->di, &in->show, a, e->v.type, e->word, NULL);
	return ret->text ? NULL
	                 : error_new(ERR_STATE, "it is in a register and has more than one part");
}

/* ---- the frame ---- */

/* Makes the answer from an expression that was followed to its value. */
typedef struct error *read_value(struct evaluation *e, struct arena *a, struct frame_value *ret);

/* Evaluates in the function that is inlined innermost there. */
static struct error *evaluate_at(struct inspector *in, const struct frame_place *place,
                                 const char *expression, read_value *read, struct arena *a,
                                 struct frame_value *ret)
{
	struct collector c = { .in = in, .a = a };
	struct evaluation e = { .c = &c };
	struct error *err = expression_evaluate(&e, place, expression);

	if (!err)
		err = read(&e, a, ret);
	/* A parameter as it was passed in still is a value of the variable. */
	if (!err && !e.out->passed_in)
		ret->doubt = local_uncertainty(e.out);
	arena_free(&c.scratch);
	return err;
}

static unsigned depth_at(struct inspector *in, uint64_t pc)
{
	SCRATCH(tmp);
	size_t n;

	lookup_functions_at(in->di, pc, &tmp, &n);
	return (unsigned)n - 1;
}

static struct error *evaluate(struct inspector *in, const struct regs *regs, const char *expression,
                              read_value *read, struct arena *a, struct frame_value *ret)
{
	struct target *t = in->target;
	uint64_t pc = regs->r[t->arch->pc];
	const struct frame frame = {
		.pc = pc,
		.lookup_pc = pc,
		.sp = regs->r[t->arch->sp],
		.has_sp = true,
		.regs = regs->r,
		.known_regs =
			t->arch->nregs < 64 ? (UINT64_C(1) << t->arch->nregs) - 1 : UINT64_MAX,
	};
	const struct frame_place place = { .frame = &frame, .depth = depth_at(in, pc) };
	const struct native_scope scope = { .frame = &frame };
	const struct frame_place native = { .native = &scope };
	struct error *err = evaluate_at(in, &place, expression, read, a, ret);

	if (!err || err->kind == ERR_INTERRUPTED)
		return err;
	/* Only the debug info itself tells the pieces of a variable, and why one has no value. */
	error_free(err);
	*ret = (struct frame_value){ 0 };
	return evaluate_at(in, &native, expression, read, a, ret);
}

/* Evaluates in memory as it is now. */
static struct error *evaluate_now(struct inspector *in, const struct regs *regs,
                                  const char *expression, read_value *read, struct arena *a,
                                  struct frame_value *ret)
{
	struct target *t = in->target;
	struct target_scratch_cache before;

	*ret = (struct frame_value){ 0 };
	target_begin_scratch_cache(t, &before);
	struct error *err = evaluate(in, regs, expression, read, a, ret);
	target_end_scratch_cache(t, &before);
	return err;
}

struct error *frame_value(struct inspector *in, const struct regs *regs, const char *expression,
                          struct arena *a, struct frame_value *ret)
{
	return evaluate_now(in, regs, expression, frame_value_of, a, ret);
}

struct error *frame_value_at(struct inspector *in, const struct type *type, uint64_t addr,
                             struct arena *a, struct frame_value *ret)
{
	struct collector c = { .in = in, .a = a };
	struct evaluation e = { .c = &c, .v = { type, addr }, .in_memory = true };
	struct target_scratch_cache before;

	*ret = (struct frame_value){ 0 };
	target_begin_scratch_cache(in->target, &before);
	struct error *err = frame_value_of(&e, a, ret);
	target_end_scratch_cache(in->target, &before);
	arena_free(&c.scratch);
	return err;
}

struct error *frame_value_text(struct inspector *in, const struct regs *regs,
                               const char *expression, struct arena *a, struct frame_value *ret)
{
	return evaluate_now(in, regs, expression, text_of, a, ret);
}
