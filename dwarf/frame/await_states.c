#include "dwarf/frame/await_states.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/module/line.h"

enum { MAX_DIES = 1 << 20, MAX_AWAITS = 1 << 14, UNKNOWN = -1 };

/* A variable `__awaitee`: its block is that of one await. */
struct await_states_await {
	Dwarf_Off die;
	const struct type *type;
	uint64_t offset; /* in the coroutine */
	bool placed;     /* offset is known */
	const char *file;
	unsigned line;           /* where the awaited expression begins */
	struct state_set states; /* those in which the coroutine may be suspended at it */
};

struct await_states_block {
	Dwarf_Off die, last; /* the last DIE that is in it */
};

struct await_states {
	struct dwarf_module *dm;
	const struct type *coroutine;
	VEC(struct await_states_await) awaits;
	VEC(struct await_states_block) blocks;
	size_t seen; /* DIEs */
	/* States of suspension of which the await is not known for certain. */
	struct state_set elsewhere;
	bool cut; /* there may be more awaits */
	struct arena arena;
};

/* ---- reading ---- */

const struct type *await_states_pinned(const struct type *argument)
{
	const struct member *m = argument && type_is(argument, "core::pin::Pin")
	                                 ? type_single_member(argument)
	                                 : NULL;

	return m && type_kind(m->type) == TYPE_POINTER ? type_target(m->type) : NULL;
}

const struct type *await_states_coroutine(const struct type *argument)
{
	const struct type *t = await_states_pinned(argument);

	return t && type_is_coroutine(t) ? t : NULL;
}

const struct type *await_states_type_of(struct dwarf_module *dm, Dwarf_Die *variable)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	return dwarf_attr_integrate(variable, DW_AT_type, &attr) && dwarf_formref_die(&attr, &type)
	               ? type_at(dm, dwarf_dieoffset(&type))
	               : NULL;
}

static const struct type *await_states_poll_fn_kind(struct dwarf_module *dm, Dwarf_Die *function)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child) != 0)
		return NULL;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			return await_states_coroutine(await_states_type_of(dm, &child));
	} while (dwarf_siblingof(&child, &child) == 0);
	return NULL;
}

/* Reads the offset of a variable from the coroutine, whose address a pointer in the frame has. */
static void read_offset(Dwarf_Die *variable, struct await_states_await *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(variable, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n < 2 || n > 3 ||
	    ops[1].atom != DW_OP_deref || (n == 3 && ops[2].atom != DW_OP_plus_uconst))
		return;
	ret->offset = n == 3 ? ops[2].number : 0;
	ret->placed = true;
}

static void add_await(struct await_states *s, Dwarf_Die *variable)
{
	struct await_states_await a = { .die = dwarf_dieoffset(variable),
		                        .type = await_states_type_of(s->dm, variable),
		                        .file = line_file_of(s->dm, variable) };
	int line;

	if (s->awaits.n >= MAX_AWAITS) {
		s->cut = true;
		return;
	}
	read_offset(variable, &a);
	if (dwarf_decl_line(variable, &line) == 0 && line > 0)
		a.line = (unsigned)line;
	*vec_push(&s->awaits) = a;
}

static bool await_states_is_awaitee(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name =
		dwarf_tag(die) == DW_TAG_variable && dwarf_attr_integrate(die, DW_AT_name, &attr)
			? dwarf_formstring(&attr)
			: NULL;

	return name && strcmp(name, "__awaitee") == 0;
}

/* Returns the last DIE in a block. */
static Dwarf_Off await_states_read_block(struct await_states *s, Dwarf_Die *die, int depth)
{
	size_t at = s->blocks.n;
	Dwarf_Off last = dwarf_dieoffset(die);
	Dwarf_Die child;

	*vec_push(&s->blocks) = (struct await_states_block){ .die = last };
	if (depth > DIE_MAX_NESTING || s->seen > MAX_DIES)
		s->cut = true;
	else if (dwarf_child(die, &child) == 0) {
		do {
			last = dwarf_dieoffset(&child);
			if (++s->seen > MAX_DIES)
				s->cut = true;
			else if (await_states_is_awaitee(&child))
				add_await(s, &child);
			else if (dwarf_tag(&child) == DW_TAG_lexical_block)
				last = await_states_read_block(s, &child, depth + 1);
		} while (!s->cut && dwarf_siblingof(&child, &child) == 0);
	}
	s->blocks.data[at].last = last;
	return last;
}

/* ---- which await is which state ---- */

static const struct member *await_states_awaitee_of(const struct variant *v)
{
	return v->payload && v->name && str_begins(v->name, "Suspend")
	               ? type_member(v->payload, "__awaitee")
	               : NULL;
}

static bool is_at(const struct await_states_await *a, const struct variant *v)
{
	const struct member *m = await_states_awaitee_of(v);

	return m && m->type == a->type && (!a->placed || v->offset + m->offset == a->offset);
}

/* Optimised code often has no place of an await. */
static bool is_alike(const struct await_states_await *a, const struct await_states_await *b)
{
	return a->type == b->type && (!a->placed || !b->placed || a->offset == b->offset);
}

/* Awaits and states of one type and place. */
struct await_states_verdict_group {
	size_t awaits, states;
	uint64_t begin, end; /* sums of their lines */
	bool same_file;
};

static struct await_states_verdict_group alike_of(const struct await_states *s,
                                                  const struct await_states_await *of)
{
	struct await_states_verdict_group ret = { .same_file = true };
	size_t n;
	const struct variant *v = type_variants(s->coroutine, &n);

	for (size_t i = 0; i < n; i++) {
		if (!is_at(of, &v[i]))
			continue;
		ret.states++;
		ret.end += v[i].line;
		ret.same_file &= v[i].file && of->file && strcmp(v[i].file, of->file) == 0;
	}
	for (size_t i = 0; i < s->awaits.n; i++) {
		if (is_alike(of, &s->awaits.data[i])) {
			ret.awaits++;
			ret.begin += s->awaits.data[i].line;
		}
	}
	return ret;
}

/*
 * Whether the line decides which await of a type and place it is. The line of `__awaitee` is that
 * of the beginning of the expression, the line of a state that of its end, `.await`. So none is
 * behind the other, and where their sums are equal, each await is on one line.
 */
static bool lines_decide(const struct await_states_verdict_group *a)
{
	return a->same_file && a->awaits == a->states && a->begin == a->end;
}

static void await_states_find(struct await_states *s, struct await_states_await *a,
                              struct state_set *known)
{
	const struct await_states_verdict_group alike = alike_of(s, a);
	bool by_line = lines_decide(&alike);
	size_t n;
	const struct variant *v = type_variants(s->coroutine, &n);

	for (size_t i = 0; i < n; i++) {
		if (is_at(a, &v[i]) && (!by_line || v[i].line == a->line))
			state_set_add(&a->states, &s->arena, i);
	}
	/* Else an await of the type may be missing, as code that was optimised away. */
	if (alike.awaits == alike.states)
		state_set_unite(known, &s->arena, &a->states);
}

/* An await whose state is not known may be that of each state that has no known await. */
static void match(struct await_states *s)
{
	size_t n;
	const struct variant *v = type_variants(s->coroutine, &n);
	struct state_set known = { 0 };

	for (size_t i = 0; i < s->awaits.n; i++)
		await_states_find(s, &s->awaits.data[i], &known);
	for (size_t i = 0; i < n; i++) {
		if (v[i].name && str_begins(v[i].name, "Suspend") &&
		    (s->cut || !state_set_has(&known, i)))
			state_set_add(&s->elsewhere, &s->arena, i);
	}
}

struct await_states *await_states_read(struct dwarf_module *dm, Dwarf_Die *function)
{
	const struct type *coroutine = await_states_poll_fn_kind(dm, function);
	struct await_states *s = coroutine ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->dm = dm;
	s->coroutine = coroutine;
	await_states_read_block(s, function, 0);
	match(s);
	return s;
}

void await_states_free(struct await_states *s)
{
	if (!s)
		return;
	vec_free(&s->awaits);
	vec_free(&s->blocks);
	arena_free(&s->arena);
	free(s);
}

/* ---- questions ---- */

/* Adds the states that a poll leaves behind: what it began with is not known then. */
static void add_final_states(const struct type *coroutine, struct arena *a, struct state_set *ret)
{
	size_t n;
	const struct variant *v = type_variants(coroutine, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i].name &&
		    (strcmp(v[i].name, "Returned") == 0 || strcmp(v[i].name, "Panicked") == 0))
			state_set_add(ret, a, i);
	}
}

struct state_set await_states_of_block(const struct await_states *s, Dwarf_Die *block,
                                       struct arena *arena)
{
	Dwarf_Off first = dwarf_dieoffset(block), last = first;
	struct state_set ret = { 0 };

	if (s)
		state_set_unite(&ret, arena, &s->elsewhere);
	for (size_t i = 0; s && i < s->blocks.n; i++) {
		if (s->blocks.data[i].die == first)
			last = s->blocks.data[i].last;
	}
	for (size_t i = 0; s && i < s->awaits.n; i++) {
		const struct await_states_await *a = &s->awaits.data[i];

		if (a->die > first && a->die <= last)
			state_set_unite(&ret, arena, &a->states);
	}
	if (!state_set_is_empty(&ret))
		add_final_states(s->coroutine, arena, &ret);
	return ret;
}

bool await_states_is_in_frame(Dwarf_Attribute *location)
{
	Dwarf_Op *ops;
	size_t n;

	return dwarf_getlocation(location, &ops, &n) == 0 && n == 1 &&
	       (ops->atom == DW_OP_fbreg ||
	        (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31));
}

/* The index of the variant that the coroutine has; UNKNOWN. */
static ptrdiff_t state_at(struct target *t, const struct type *coroutine, uint64_t addr)
{
	const struct member *discr = type_discr(coroutine);
	uint64_t size = discr ? type_size(discr->type) : 0, value;
	ptrdiff_t ret = UNKNOWN;
	size_t n;
	const struct variant *v = type_variants(coroutine, &n);

	if (!addr || !size || size > sizeof(value))
		return UNKNOWN;
	struct error *err CLEANUP(error_freep) =
		target_read_uint(t, addr + discr->offset, size, &value);
	for (size_t i = 0; !err && i < n; i++) {
		if (v[i].discr == value)
			ret = (ptrdiff_t)i;
	}
	return ret;
}

bool await_states_has(const struct state_set *states, struct target *t,
                      const struct type *coroutine, uint64_t addr)
{
	if (state_set_is_empty(states))
		return false;
	ptrdiff_t state = state_at(t, coroutine, addr);
	return state == UNKNOWN || state_set_has(states, (size_t)state);
}
