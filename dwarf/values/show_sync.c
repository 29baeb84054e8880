/* Prints the locks, cells, channels and handles of std whose members say little. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/values/queue_length.h"
#include "dwarf/values/show_private.h"

/* ---- locks ---- */

/* std/src/sys/sync/rwlock/futex.rs: the number of readers; this value: locked by a writer. */
enum { RWLOCK_MASK = 0x3fffffff };

/* expr: the lock's word */
struct error *show_std_lock(struct show *s, struct value v, const struct std_row *row)
{
	struct value inner;
	uint64_t poisoned, word;
	bool is_rwlock = strcmp(row->type, "RwLock") == 0;

	TRY(show_row_place(s, v, "data", &inner));
	TRY(show_row_number(s, v, "poison.failed", &poisoned));
	word = show_row_number_or_0(s, v, row->expr[0]);
	word &= is_rwlock ? RWLOCK_MASK : UINT64_MAX;
	show_printf(s, "%s { data: ", row->type);
	show_inner(s, inner);
	if (is_rwlock && word && word != RWLOCK_MASK)
		show_printf(s, ", readers: %" PRIu64, word);
	else if (word)
		show_put(s, ", locked");
	show_printf(s, ", poisoned: %s, .. }", poisoned ? "true" : "false");
	return NULL;
}

/* ---- cells that are set once ---- */

/* Prints Name(value), or Name(<uninit>) where there is none. */
static void show_set(struct show *s, const char *name, const struct value *inner)
{
	show_printf(s, "%s(", name);
	if (inner)
		show_inner(s, *inner);
	else
		show_put(s, "<uninit>");
	show_put(s, ")");
}

/* expr: an Option, in an UnsafeCell */
struct error *show_once_cell(struct show *s, struct value v, const struct std_row *row)
{
	struct value option, some;
	struct error *err;

	TRY(show_row_place(s, v, row->expr[0], &option));
	err = show_row_place(s, v, "inner.Some.0", &some);
	if (err && err->kind != ERR_CORRUPT)
		return err;
	show_set(s, row->type, err ? NULL : &some);
	error_free(err);
	return NULL;
}

/* expr: an enum with the variants Init, Uninit and Poisoned, in an UnsafeCell */
struct error *show_lazy_cell(struct show *s, struct value v, const struct std_row *row)
{
	struct value state, init;
	const char *name;

	TRY(show_row_place(s, v, row->expr[0], &state));
	const struct member *m = type_single_member(state.type);
	if (m && type_kind(state.type) == TYPE_STRUCT)
		state = (struct value){ m->type, state.addr + m->offset };
	TRY(value_enum_name(s->target, state, &name));
	if (name && strcmp(name, "Init") == 0) {
		TRY(show_row_place(s, state, "Init.0", &init));
		show_set(s, row->type, &init);
	} else if (name && strcmp(name, "Poisoned") == 0) {
		show_printf(s, "%s(<poisoned>)", row->type);
	} else {
		show_set(s, row->type, NULL);
	}
	return NULL;
}

enum once { ONCE_NEW, ONCE_POISONED, ONCE_RUNNING, ONCE_DONE };

/* library/std/src/rt.rs: a Once, new as long as the program's file holds it. */
static const char new_once[] = "std::rt::cleanup::CLEANUP";

/*
 * library/std/src/sys/sync/once/futex.rs. The lowest two bits count from "new" to "done", upwards
 * in some versions and downwards in others, with members of the same names: what a new one of this
 * program holds distinguishes them. The third bit is set while threads wait for one that runs.
 */
static struct error *read_once(struct show *s, struct value once, enum once *ret)
{
	enum { STATE_MASK = 3, QUEUED = 4, MAX = 7, OLD_QUEUED = 3, OLD_DONE = 4 };
	uint64_t word, new_word;
	struct error *err = show_row_number(s, once, "inner.state", &word);

	if (!err) {
		*ret = word == OLD_DONE ? ONCE_DONE : word == OLD_QUEUED ? ONCE_RUNNING : word;
		return word > OLD_DONE ? error_new(ERR_CORRUPT, "state") : NULL;
	}
	error_free(err);
	TRY(show_row_number(s, once, "inner.state_and_queued", &word));
	if (word > MAX)
		return error_new(ERR_CORRUPT, "state_and_queued");
	if (word & QUEUED) {
		*ret = ONCE_RUNNING;
		return NULL;
	}
	if (!lookup_initial_number(type_module(once.type), new_once, type_size(once.type),
	                           &new_word) ||
	    (new_word != 0 && new_word != STATE_MASK))
		return error_new(ERR_LAYOUT, "the numbers of the states are not known");
	*ret = new_word ? STATE_MASK - word : word;
	return NULL;
}

void show_learn(struct dwarf_module *dm)
{
	uint64_t number;

	lookup_initial_number(dm, new_once, sizeof(uint32_t), &number);
}

struct error *show_once(struct show *s, struct value v, const struct std_row *row)
{
	static const char *const names[] = { "new", "poisoned", "running", "done" };
	enum once state;

	TRY(read_once(s, v, &state));
	show_printf(s, "%s { state: %s }", row->type, names[state]);
	return NULL;
}

/* OnceLock, LazyLock; expr: its Once, and where the value is, of type T */
struct error *show_once_lock(struct show *s, struct value v, const struct std_row *row)
{
	struct value once, value;
	enum once state;

	TRY(show_row_place(s, v, row->expr[0], &once));
	TRY(show_row_place(s, v, row->expr[1], &value));
	value.type = type_param(v.type, "T");
	if (!value.type)
		return error_new(ERR_LAYOUT, "T");
	TRY(read_once(s, once, &state));
	show_set(s, row->type, state == ONCE_DONE ? &value : NULL);
	return NULL;
}

/* ---- std::sync::mpsc, a copy of crossbeam's channels ---- */

/* The number of messages of an unbounded channel. */
static struct error *list_length(struct show *s, struct value counter, uint64_t *ret)
{
	uint64_t head, tail;

	TRY(show_row_number(s, counter, "chan.head.value.index", &head));
	TRY(show_row_number(s, counter, "chan.tail.value.index", &tail));
	return queue_length_unbounded(head, tail, ret)
	               ? NULL
	               : error_new(ERR_CORRUPT, "the channel's receiver is ahead of its senders");
}

/*
 * The number of messages of a bounded channel. An index consists of a lap, a mark and a position.
 */
static struct error *array_length(struct show *s, struct value counter, uint64_t *ret,
                                  uint64_t *cap)
{
	uint64_t head, tail, mark;

	TRY(show_row_number(s, counter, "chan.head.value", &head));
	TRY(show_row_number(s, counter, "chan.tail.value", &tail));
	TRY(show_row_number(s, counter, "chan.mark_bit", &mark));
	TRY(show_row_number(s, counter, "chan.cap", cap));
	uint64_t from = head & (mark - 1), to = tail & (mark - 1);
	if (mark & (mark - 1) || from >= *cap || to >= *cap)
		return error_new(ERR_CORRUPT, "the channel's positions are beyond its buffer");
	*ret = queue_length_bounded(head, tail, mark, *cap);
	return NULL;
}

/* expr: the numbers of senders and receivers, from what the two ends share */
struct error *show_mpsc(struct show *s, struct value v, const struct std_row *row)
{
	struct value flavor, counter;
	uint64_t senders, receivers, queued = 0, capacity = 0;
	const char *name;

	TRY(show_row_place(s, v, "inner.flavor", &flavor));
	TRY(value_enum_name(s->target, flavor, &name));
	if (!name)
		return error_new(ERR_CORRUPT, "flavor");
	bool is_list = strcmp(name, "List") == 0, is_array = strcmp(name, "Array") == 0;
	TRY(show_row_place(s, flavor,
	                   is_list    ? "List.0.counter"
	                   : is_array ? "Array.0.counter"
	                              : "Zero.0.counter",
	                   &counter));
	TRY(show_row_number(s, counter, row->expr[0], &senders));
	TRY(show_row_number(s, counter, row->expr[1], &receivers));
	if (is_list)
		TRY(list_length(s, counter, &queued));
	else if (is_array)
		TRY(array_length(s, counter, &queued, &capacity));
	show_printf(s, "%s { ", row->type);
	if (is_list)
		show_printf(s, "queued: %" PRIu64 ", ", queued);
	else if (is_array)
		show_printf(s, "queued: %" PRIu64 " of %" PRIu64 ", ", queued, capacity);
	show_printf(s, "senders: %" PRIu64 "%s }", senders, receivers ? "" : ", closed");
	return NULL;
}

/* ---- pointers and handles ---- */

/* expr: the number of owners */
struct error *show_weak(struct show *s, struct value v, const struct std_row *row)
{
	uint64_t strong;
	struct error *err = show_row_number(s, v, row->expr[0], &strong);

	/* Weak::new() points nowhere. */
	show_put(s, !err && strong                   ? "(Weak)"
	            : err && err->kind == ERR_LAYOUT ? "(Weak)"
	                                             : "(Weak, dropped)");
	error_free(err);
	return NULL;
}

/* The number of owners of the Arc at expr. */
static struct error *strong_count(struct show *s, struct value v, const char *expr, uint64_t *ret)
{
	struct value arc;

	TRY(show_row_place(s, v, expr, &arc));
	return show_row_number(s, arc, "strong", ret);
}

/* A thread drops its part of the packet with the result as the last thing that it does. */
struct error *show_thread_handle(struct show *s, struct value v, const struct std_row *row)
{
	struct value name;
	uint64_t owners;
	struct error *err;

	TRY(strong_count(s, v, "packet", &owners));
	show_printf(s, "%s { ", row->type);
	err = show_row_place(s, v, "thread.inner.name.Some.0", &name);
	if (!err) {
		/* A struct of one CString, or the CString itself. */
		const struct member *m = type_single_member(name.type);
		if (m && !show_is(name.type, "CString", "alloc::ffi"))
			name = (struct value){ m->type, name.addr + m->offset };
		show_put(s, "thread: ");
		show_inner(s, name);
		show_put(s, ", ");
	}
	error_free(err);
	show_printf(s, "finished: %s }", owners > 1 ? "false" : "true");
	return NULL;
}
