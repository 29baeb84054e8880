#include "runtimes/hits/predicate_filter.h"

#include "runtimes/query/frame_filter.h"

static bool to_literal(const struct predicate *p, struct frame_filter_literal *ret)
{
	const struct predicate_value *v = &p->value;

	if (p->op != PREDICATE_LITERAL ||
	    (v->kind != PREDICATE_NUMBER && v->kind != PREDICATE_BOOL))
		return false;
	*ret = (struct frame_filter_literal){
		.is_bool = v->kind == PREDICATE_BOOL,
		.negative = v->negative,
		.number = v->kind == PREDICATE_BOOL ? v->truth : v->number,
	};
	return true;
}

/* The operator with its sides exchanged. */
static enum predicate_op turned(enum predicate_op op)
{
	switch (op) {
	case PREDICATE_LESS:
		return PREDICATE_MORE;
	case PREDICATE_MORE:
		return PREDICATE_LESS;
	case PREDICATE_AT_MOST:
		return PREDICATE_AT_LEAST;
	case PREDICATE_AT_LEAST:
		return PREDICATE_AT_MOST;
	default:
		return op;
	}
}

static bool of_comparison(const struct predicate_place *at, const struct predicate *p,
                          struct tracer_filter *ret)
{
	bool turn = p->left->op == PREDICATE_LITERAL;
	const struct predicate *path = turn ? p->right : p->left;
	enum predicate_op op = turn ? turned(p->op) : p->op;
	struct frame_filter_literal literal;

	if (path->op == PREDICATE_TASK_ID && op == PREDICATE_EQUAL &&
	    to_literal(turn ? p->left : p->right, &literal))
		return !literal.is_bool && !literal.negative &&
		       at->number_filter(at->arg, literal.number, ret);
	if (path->op != PREDICATE_PATH || !to_literal(turn ? p->left : p->right, &literal) ||
	    !frame_filter(at->in, at->pc, path->path, &literal, ret))
		return false;
	if (literal.is_bool && op != PREDICATE_EQUAL && op != PREDICATE_DIFFERS)
		return false;
	ret->order = op == PREDICATE_LESS || op == PREDICATE_AT_LEAST  ? TRACER_LESS
	             : op == PREDICATE_MORE || op == PREDICATE_AT_MOST ? TRACER_MORE
	                                                               : TRACER_EQUAL;
	ret->differs =
		op == PREDICATE_DIFFERS || op == PREDICATE_AT_LEAST || op == PREDICATE_AT_MOST;
	return true;
}

static bool of_bool(const struct predicate_place *at, const struct predicate *p, bool truth,
                    struct tracer_filter *ret)
{
	const struct frame_filter_literal literal = { .is_bool = true, .number = truth };

	return p->op == PREDICATE_PATH && frame_filter(at->in, at->pc, p->path, &literal, ret);
}

bool predicate_filter(const struct predicate_place *at, const struct predicate *p,
                      struct tracer_filter *ret)
{
	switch (p->op) {
	case PREDICATE_AND:
		return predicate_filter(at, p->left, ret) || predicate_filter(at, p->right, ret);
	case PREDICATE_NOT:
		return of_bool(at, p->left, false, ret);
	case PREDICATE_PATH:
		return of_bool(at, p, true, ret);
	case PREDICATE_EQUAL:
	case PREDICATE_DIFFERS:
	case PREDICATE_LESS:
	case PREDICATE_AT_MOST:
	case PREDICATE_MORE:
	case PREDICATE_AT_LEAST:
		return of_comparison(at, p, ret);
	default:
		return false;
	}
}
