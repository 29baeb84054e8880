#include "dwarf/pass.h"

#include <dwarf.h>

enum { MAX_DEPTH = 512, AHEAD = 768 /* bytes that read_ahead() is asked for */ };

/* Where a pass is in the tree: the scope around, and whether a function is. */
struct depth {
	uint32_t parent;
	bool in_function; /* locals are libdw's business */
};

/* Below the scope that was noted last. */
static struct depth below_note(const struct pass *p, struct depth at, const struct abbrev *ab)
{
	return (struct depth){ (uint32_t)(p->out->scopes.n - 1),
		               at.in_function || ab->tag == DW_TAG_subprogram };
}

/* A DIE with a code of two bytes that becomes no scope; NULL when it is another one. */
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

/*
 * The cases of run_shapes(): for each number of bytes that a DIE can have, what each class of moves
 * does. What keeps p apart keeps the compiler from making one addition of them all.
 */
#define APART(p) __asm__("" : : "r"(p))

#define GO_ON(n)                                                                                   \
	p += (n);                                                                                  \
	APART(p);                                                                                  \
	continue

/* Most blocks are as short as these. */
#define GO_ON_BEHIND_BLOCK(n)                                                                      \
	if (block == 1) {                                                                          \
		GO_ON((n) + 1);                                                                    \
	} else if (block == 2) {                                                                   \
		GO_ON((n) + 2);                                                                    \
	} else if (block == 3) {                                                                   \
		GO_ON((n) + 3);                                                                    \
	}                                                                                          \
	GO_ON((n) + block)

#define GO_BELOW(depth)                                                                            \
	if (step->has_children) {                                                                  \
		at[1] = (depth);                                                                   \
		at++;                                                                              \
	}

#define CASES(n)                                                                                   \
	case MOVE_FIXED + (n):                                                                     \
		GO_BELOW(at[0]);                                                                   \
		GO_ON(n);                                                                          \
	case MOVE_NUMBERS + (n):                                                                   \
		if (numbers_are_long(step, p + 1))                                                 \
			goto out;                                                                  \
		GO_BELOW(at[0]);                                                                   \
		GO_ON(n);                                                                          \
	case MOVE_BLOCK + (n):                                                                     \
		block = p[1 + step->block_at];                                                     \
		if (block >= 0x80 || numbers_are_long(step, p + 1 + block))                        \
			goto out;                                                                  \
		GO_BELOW(at[0]);                                                                   \
		GO_ON_BEHIND_BLOCK(n);                                                             \
	case MOVE_NOTE + (n):                                                                      \
		if (!note_if_shaped(pass, p, at->parent, &block))                                  \
			goto out;                                                                  \
		GO_BELOW(below_note(pass, at[0], &abbrevs->by_code[p[0]]));                        \
		moves = abbrevs->moves[at->in_function];                                           \
		if (block == 0) {                                                                  \
			GO_ON(n);                                                                  \
		}                                                                                  \
		GO_ON_BEHIND_BLOCK(n);
#define CASES_4(n)  CASES(n) CASES((n) + 1) CASES((n) + 2) CASES((n) + 3)
#define CASES_12(n) CASES_4(n) CASES_4((n) + 4) CASES_4((n) + 8)

/*
 * Behind the DIEs that follow, as far as they have their shapes, as nearly all do. Stops also where
 * the depth would leave [1, MAX_DEPTH).
 */
static const uint8_t *run_shapes(struct pass *pass, const uint8_t *p, const uint8_t *end,
                                 struct depth **depth, struct depth *last)
{
	const struct abbrev_table *abbrevs = pass->abbrevs;
	const struct step *steps = abbrevs->steps, *step;
	struct depth *at = *depth, *first = last - MAX_DEPTH + 1;
	const uint8_t *moves = abbrevs->moves[at->in_function];
	size_t block;

	while (p < end && at < last) {
		step = &steps[p[0]];
		read_ahead(p, AHEAD);
		switch (moves[p[0]]) {
			CASES(1)
			CASES(2)
			CASES(3)
			CASES_12(4)
			CASES_12(16)
			CASES_12(28)
			CASES_12(40)
			CASES_12(52)
		case MOVE_END:
			if (at == first)
				goto out;
			at--;
			moves = abbrevs->moves[at->in_function];
			GO_ON(1);
		case MOVE_LONG_CODE: {
			const uint8_t *behind = skip_long_code(
				abbrevs, p, at->in_function ? SKIP_IN_FUNCTION : SKIP_OUTSIDE,
				&step);

			if (!behind)
				goto out;
			GO_BELOW(at[0]);
			p = behind;
			continue;
		}
		default:
			goto out;
		}
	}
out:
	*depth = at;
	return p;
}

static void run_pass(struct pass *p)
{
	struct unit *u = p->u;
	struct reader r = reader_at(p->s->info, u->first_die, u->end);
	struct depth stack[MAX_DEPTH] = { { SCOPE_NONE, false } }, *at = stack;
	struct depth *last = &stack[MAX_DEPTH - 1];

	/* A note's offset has 32 bits. */
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
			note_scope(p, &r, die, ab, at->parent);
			below = below_note(p, *at, ab);
		} else {
			skip_values(p, &r, ab);
		}
		if (ab->has_children) {
			if (at == last)
				break;
			*++at = below;
		}
	}
}

void pass_note(const struct dwarf_sections *s, struct unit *u, const struct abbrev_table *abbrevs,
               struct notes *out)
{
	struct pass p = {
		.s = s, .u = u, .abbrevs = abbrevs, .start = s->info.data + u->start, .out = out
	};

	run_pass(&p);
}

bool pass_has_tag(const struct dwarf_sections *s, struct unit *u,
                  const struct abbrev_table *abbrevs, unsigned tag)
{
	struct pass p = { .s = s, .u = u, .abbrevs = abbrevs, .wanted_tag = tag };

	run_pass(&p);
	return p.found;
}
