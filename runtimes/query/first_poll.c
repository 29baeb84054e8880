#include "runtimes/query/first_poll.h"

#include <string.h>

#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "runtimes/common/inspector.h"

enum { MAX_CODE = 16 << 10 /* bytes: a constant that is set there takes 8 to 20 */ };

/*
 * The first instruction from which execution may go to anywhere but the next one. A branch backward
 * is a loop, as the one that touches each page of a large frame: its end is behind it all the same.
 */
static uint64_t find_jump(struct instruction_reader *reader, const uint8_t *code, uint64_t low,
                          size_t size)
{
	struct instruction in;

	for (size_t at = 0; at < size; at += in.size) {
		instruction_read(reader, low + at, code + at, size - at, &in);
		bool is_loop = in.flow == FLOW_BRANCH && in.is_branch && in.target >= low &&
		               in.target <= low + at;

		if (in.bad || (in.flow != FLOW_NEXT && in.flow != FLOW_CALL && !is_loop))
			return low + at;
	}
	return low;
}

static bool find_end(struct target *t, const struct function *f, uint64_t *ret)
{
	SCRATCH(tmp);
	const uint16_t machine = t->arch->elf_machine;
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;
	uint64_t size = f->high > f->low ? f->high - f->low : 0;

	size = size < MAX_CODE ? size : MAX_CODE;
	uint8_t *code = arena_alloc(&tmp, size);
	struct error *err CLEANUP(error_freep) = target_read(t, f->low, code, size);
	if (!err)
		err = instruction_reader_open(machine, SYNTAX_INTEL, &reader);
	if (err)
		return false;
	*ret = find_jump(reader, code, f->low, size);
	return true;
}

/*
 * Behind the rows of the function's own line. Unoptimised code stores its arguments there, so that
 * the debug info's place of an argument has something else until then.
 */
static bool find_begin(const struct function *f, const struct function_lines *l, uint64_t *ret)
{
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		*ret = row->addr;
		if (row->addr > f->low && row->line && row->line != l->calls[0].line)
			return true;
	}
	return false;
}

static bool first_poll_find_state(const struct type *coroutine, struct first_poll *ret)
{
	size_t n;
	const struct variant *variants = type_variants(coroutine, &n);

	ret->state = type_discr(coroutine);
	for (size_t i = 0; ret->state && i < n; i++) {
		ret->unresumed = variants[i].discr;
		if (strcmp(variants[i].name, "Unresumed") == 0)
			return !variants[i].is_default;
	}
	return false;
}

void first_poll_read(struct inspector *in, const struct function *f, const struct function_lines *l,
                     struct first_poll *ret)
{
	struct first_poll found = { .function = f };

	*ret = (struct first_poll){ 0 };
	if (!f || !debuginfo_need(f->dm))
		return;
	const struct type *coroutine = await_states_coroutine(function_first_argument(f));
	if (coroutine && first_poll_find_state(coroutine, &found) &&
	    find_begin(f, l, &found.begin) && find_end(in->target, f, &found.end) &&
	    found.begin < found.end)
		*ret = found;
}

bool first_poll_has(const struct first_poll *poll, uint64_t addr)
{
	return poll->function && addr >= poll->begin && addr < poll->end;
}

bool first_poll_filter(const struct first_poll *poll, uint64_t addr, struct tracer_filter *ret)
{
	struct argument_place place;

	if (!first_poll_has(poll, addr) || !argument_place_at(poll->function, addr, &place))
		return false;
	const int64_t state = (int64_t)poll->state->offset;
	*ret = (struct tracer_filter){ .reg = place.reg,
		                       .nloads = 1 + place.in_memory,
		                       .offset = { place.offset },
		                       .size = (unsigned)type_size(poll->state->type),
		                       .value = poll->unresumed };
	if (place.in_memory)
		ret->offset[1] = state;
	else
		ret->offset[0] += state;
	return true;
}
