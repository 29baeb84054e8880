/* Which instance of a coroutine a thread polls, and the state of its object. */
#include <string.h>

#include "dwarf/lookup/argument_place.h"
#include "dwarf/types/type.h"
#include "runtimes/stepping/step_plan.h"

/* The coroutine that a function polls, from the type Pin<&mut T> of its argument; NULL: none. */
static const struct type *polled_coroutine(const struct function *f)
{
	const struct type *pin = function_first_argument(f);
	const struct member *m = pin ? type_single_member(pin) : NULL;
	const struct type *pointer = m ? m->type : pin;
	const struct type *t =
		pointer && type_kind(pointer) == TYPE_POINTER ? type_target(pointer) : NULL;

	return t && type_is_coroutine(t) ? t : NULL;
}

struct error *step_instance_find(struct step_plan *p, const struct step_frame *f,
                                 struct step_instance *ret)
{
	struct argument_place place;

	*ret = (struct step_instance){ 0 };
	const struct type *t = p->at.function ? polled_coroutine(p->at.function) : NULL;
	if (!t)
		return NULL;
	if (!argument_place_at(p->at.function, f->pc, &place) || place.reg >= p->arch->nregs)
		return NULL;
	uint64_t value = f->regs.r[place.reg];
	if (place.in_memory)
		TRY(control_read(&p->d->control, value + (uint64_t)place.offset, &value,
		                 sizeof(value)));
	*ret = (struct step_instance){ .type = t, .addr = value };
	return NULL;
}

bool step_instance_is_new(struct step_plan *p, uint64_t pc, const struct step_frame *f)
{
	const struct step_plan before = *p;

	step_place_at(p, pc, &p->at);
	if (p->at.function)
		step_instance_enter(p, f);
	const char *state = step_instance_state(p);
	bool is_new = state && strcmp(state, "Unresumed") == 0;
	p->at = before.at;
	p->instance = before.instance;
	return is_new;
}

/*
 * A result of more than two words is returned in memory, whose address is then the first argument
 * (System V psABI, 3.2.3). Rust does so earlier where it is no scalar pair: then the other argument
 * is taken, whose memory has no such state.
 */
void step_instance_enter(struct step_plan *p, const struct step_frame *f)
{
	const struct type *t = polled_coroutine(p->at.function);

	for (unsigned i = 0; t && i < 2; i++) {
		p->instance = (struct step_instance){ t, f->regs.r[p->arch->arguments[i]] };
		const char *state = step_instance_state(p);

		if (state && strcmp(state, "Returned") != 0 && strcmp(state, "Panicked") != 0)
			return;
	}
	p->instance = (struct step_instance){ 0 };
}

const char *step_instance_state(struct step_plan *p)
{
	const struct type *t = p->instance.type;
	const struct member *discr = t ? type_discr(t) : NULL;
	uint64_t size = discr ? type_size(discr->type) : 0, value = 0;
	const struct variant *variants;
	size_t n;

	if (!size || size > sizeof(value))
		return NULL;
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, p->instance.addr + discr->offset, &value, size);
	if (err)
		return NULL;
	variants = type_variants(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (variants[i].discr == value)
			return variants[i].name;
	}
	return NULL;
}
