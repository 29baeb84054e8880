#include "runtimes/trace/trace_key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/common/runtime.h"
#include "runtimes/model/model.h"

enum { KIND_SHIFT = 56, MAX_KINDS = 126 };

static const uint64_t is_address = 1ULL << 63, addresses = (1ULL << KIND_SHIFT) - 1;

/* The number of a runtime's kind, from 1; 0: there is none of that name. */
static uint64_t trace_key_number_of(const char *kind, size_t len)
{
	const struct runtime *const *list = registered_runtimes.runtimes;

	for (uint64_t i = 0; list[i] && i < MAX_KINDS; i++) {
		if (strlen(list[i]->name) == len && strncmp(list[i]->name, kind, len) == 0)
			return i + 1;
	}
	return 0;
}

static uint64_t make(uint64_t kind, uint64_t address)
{
	return address ? is_address | kind << KIND_SHIFT | (address & addresses) : 0;
}

uint64_t trace_key_of_address(const char *kind, uint64_t address)
{
	return make(trace_key_number_of(kind, strlen(kind)), address);
}

uint64_t trace_key_address(uint64_t key)
{
	return key & addresses;
}

uint64_t trace_key(const struct task *task)
{
	uint64_t key;

	if (task->number)
		return task->number;
	return task->id && trace_key_read(task->id, &key) ? key : 0;
}

bool trace_key_is_number(uint64_t key)
{
	return !(key & is_address);
}

const char *trace_key_text(struct arena *a, uint64_t key)
{
	uint64_t kind = (key & ~is_address) >> KIND_SHIFT;

	if (!(key & is_address))
		return arena_printf(a, "%" PRIu64, key);
	if (!kind)
		return arena_printf(a, "0x%" PRIx64, key & addresses);
	return task_key(a, registered_runtimes.runtimes[kind - 1]->name, key & addresses);
}

/* A number without sign, to the end of the text. */
static bool trace_key_read_number(const char *text, int base, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, base);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

bool trace_key_read(const char *text, uint64_t *ret)
{
	const char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text;
	uint64_t kind = colon ? trace_key_number_of(text, (size_t)(colon - text)) : 0;

	if (colon && !kind)
		return false;
	if (number[0] != '0' || (number[1] != 'x' && number[1] != 'X'))
		return !colon && trace_key_read_number(text, 10, ret);
	if (!trace_key_read_number(number, 16, ret) || *ret > addresses || !*ret)
		return false;
	*ret = make(kind, *ret);
	return true;
}

bool trace_key_is(uint64_t key, uint64_t wanted)
{
	bool any_kind = wanted & is_address && !((wanted & ~is_address) >> KIND_SHIFT);

	return key == wanted ||
	       (any_kind && key & is_address && (key & addresses) == (wanted & addresses));
}
