#include "dwarf/scan/scan_loop.h"

#include <dwarf.h>
#include <stdlib.h>

/* MAX_DEPTH: each `let` of a function opens a block in that of the `let` before it. */
enum { MAX_DEPTH = 1 << 14, AHEAD = 768 /* bytes to prefetch with read_ahead() */ };

/* The position of a pass in the tree: the enclosing scope, and whether it is within a function. */
struct depth {
	uint32_t parent;
	bool in_function; /* local variables are read through libdw */
};

/* The position below the scope that was recorded last. */
static struct depth below_note(const struct pass *p, struct depth at, const struct abbrev *ab)
{
	return (struct depth){ (uint32_t)(p->out->scopes.n - 1),
		               at.in_function || ab->tag == DW_TAG_subprogram };
}

/* Skips a DIE with a code of two bytes that becomes no scope; NULL when it is another DIE. */
static const uint8_t *skip_long_code(const struct abbrev_table *abbrevs, const uint8_t *p,
                                     unsigned skip, const struct step **step)
{
	uint32_t code = (p[0] & 0x7f) | (uint32_t)p[1] << 7;
	size_t block;

	if (p[1] >= 0x80 || code >= abbrevs->n || !(abbrevs->steps[code].skip & skip))
		return NULL;
	*step = &abbrevs->steps[code];
	return step_over(*step, p + 2, &block);
}

/* clang-format off */

/* All sizes of DIEs that enum move covers. */
#define EACH_SIZE(of)                                                                              \
	of(1)  of(2)  of(3)  of(4)  of(5)  of(6)  of(7)  of(8)  of(9)  of(10) of(11) of(12)        \
	of(13) of(14) of(15) of(16) of(17) of(18) of(19) of(20) of(21) of(22) of(23) of(24)        \
	of(25) of(26) of(27) of(28) of(29) of(30) of(31) of(32) of(33) of(34) of(35) of(36)        \
	of(37) of(38) of(39) of(40) of(41) of(42) of(43) of(44) of(45) of(46) of(47)

/*
 * Advances n bytes and jumps to the next move. Each use has a jump of its own, so that the branch
 * predictor learns each separately.
 */
#define GO_ON(n)                                                                                   \
	do {                                                                                       \
		p += (n);                                                                          \
		if (p >= end || at == last)                                                        \
			goto out;                                                                  \
		step = &steps[p[0]];                                                               \
		read_ahead(p, AHEAD);                                                              \
		goto *labels[moves[p[0]]];                                                         \
	} while (0)

/* Most blocks have one or two bytes. */
#define GO_ON_BEHIND_BLOCK(n)                                                                      \
	do {                                                                                       \
		if (block == 1)                                                                    \
			GO_ON((n) + 1);                                                            \
		if (block == 2)                                                                    \
			GO_ON((n) + 2);                                                            \
		GO_ON((n) + block);                                                                \
	} while (0)

#define GO_BELOW(depth)                                                                            \
	do {                                                                                       \
		if (step->has_children) {                                                          \
			at[1] = (depth);                                                           \
			at++;                                                                      \
		}                                                                                  \
	} while (0)

#define MOVES(n)                                                                                   \
	fixed_##n:                                                                                 \
		GO_BELOW(at[0]);                                                                   \
		GO_ON(n);                                                                          \
	numbers_##n:                                                                               \
		if (numbers_are_long(step, p + 1))                                                 \
			goto out;                                                                  \
		GO_BELOW(at[0]);                                                                   \
		GO_ON(n);                                                                          \
	block_##n:                                                                                 \
		block = p[1 + step->block_at];                                                     \
		if (block >= 0x80 || numbers_are_long(step, p + 1 + block))                        \
			goto out;                                                                  \
		GO_BELOW(at[0]);                                                                   \
		GO_ON_BEHIND_BLOCK(n);                                                             \
	note_##n:                                                                                  \
		if (!scan_record_if_fixed(pass, p, at->parent, &block))                                  \
			goto out;                                                                  \
		GO_BELOW(below_note(pass, at[0], &abbrevs->by_code[p[0]]));                        \
		moves = abbrevs->moves[at->in_function];                                           \
		if (block == 0)                                                                    \
			GO_ON(n);                                                                  \
		GO_ON_BEHIND_BLOCK(n);

#define LABELS(n)                                                                                  \
	[MOVE_FIXED + (n)] = &&fixed_##n, [MOVE_NUMBERS + (n)] = &&numbers_##n,                    \
	[MOVE_BLOCK + (n)] = &&block_##n, [MOVE_NOTE + (n)] = &&note_##n,

/* clang-format on */

/*
 * Processes DIEs as long as they have their fixed shapes, as nearly all do. Starts below the unit's
 * root DIE, and also stops where that ends and at MAX_DEPTH. Returns the place of the DIE where it
 * stopped.
 */
static const uint8_t *run_shapes(struct pass *pass, const uint8_t *p, const uint8_t *end,
                                 struct depth **depth, struct depth *last)
{
	static const void *const labels[NMOVES] = { [MOVE_OTHER] = &&out,
		                                    [MOVE_END] = &&end_of_siblings,
		                                    [MOVE_LONG_CODE] = &&long_code,
		                                    EACH_SIZE(LABELS) };
	const struct abbrev_table *abbrevs = pass->abbrevs;
	const struct step *steps = abbrevs->steps, *step;
	struct depth *at = *depth, *first = last - MAX_DEPTH + 1;
	const uint8_t *moves = abbrevs->moves[at->in_function], *behind;
	size_t block;

	GO_ON(0);
	EACH_SIZE(MOVES)
end_of_siblings:
	at--;
	moves = abbrevs->moves[at->in_function];
	if (at > first)
		GO_ON(1);
	p++;
	goto out;
long_code:
	behind = skip_long_code(abbrevs, p, at->in_function ? SKIP_IN_FUNCTION : SKIP_OUTSIDE,
	                        &step);
	if (!behind)
		goto out;
	GO_BELOW(at[0]);
	p = behind;
	GO_ON(0);
out:
	*depth = at;
	return p;
}

/* stack: of MAX_DEPTH. */
static void run_levels(struct pass *p, struct depth *stack)
{
	struct unit *u = p->u;
	struct reader r = reader_at(p->s->info, u->first_die, u->end);
	struct depth *at = stack, *last = &stack[MAX_DEPTH - 1];

	*at = (struct depth){ SCOPE_NONE, false };

	/* The offset in a note has 32 bits. */
	if (u->end - u->start > UINT32_MAX)
		r.end = p->s->info.data + u->start + UINT32_MAX;
	while (!r.bad && r.p < r.end) {
		if (p->out && at > stack && r.end - r.p > MAX_SHAPE)
			r.p = run_shapes(p, r.p, r.end - MAX_SHAPE, &at, last);
		const uint8_t *die = r.p;
		uint64_t code = *r.p < 0x80 ? *r.p++ : read_uleb(&r);

		if (code == 0) {
			if (at == stack)
				break;
			at--;
			continue;
		}
		if (code >= p->abbrevs->n || p->abbrevs->by_code[code].tag == 0)
			break;
		const struct abbrev *ab = &p->abbrevs->by_code[code];
		struct depth below = *at;

		if (p->wanted_tag) {
			p->found |= ab->tag == p->wanted_tag;
			if (p->found)
				return;
		}
		if (ab->wanted && at > stack && !(at->in_function && ab->tag == DW_TAG_variable) &&
		    p->out) {
			scan_record_scope(p, &r, die, ab, at->parent);
			below = below_note(p, *at, ab);
		} else {
			scan_record_skip_values(p, &r, ab);
		}
		if (ab->has_children) {
			if (at == last)
				break;
			*++at = below;
		}
	}
}

static void run_pass(struct pass *p)
{
	struct depth *stack = malloc(MAX_DEPTH * sizeof(*stack));

	if (!stack)
		out_of_memory();
	run_levels(p, stack);
	free(stack);
}

void scan_loop_record(const struct dwarf_sections *s, struct unit *u,
                      const struct abbrev_table *abbrevs, struct notes *out)
{
	struct pass p = { .s = s, .u = u, .abbrevs = abbrevs, .out = out };

	run_pass(&p);
}

bool scan_loop_has_tag(const struct dwarf_sections *s, struct unit *u,
                       const struct abbrev_table *abbrevs, unsigned tag)
{
	struct pass p = { .s = s, .u = u, .abbrevs = abbrevs, .wanted_tag = tag };

	run_pass(&p);
	return p.found;
}
