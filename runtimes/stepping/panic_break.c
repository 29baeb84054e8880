/* Panics, before anything is unwound: std calls rust_panic() for each, which debuggers may rely on.
 */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "dwarf/module/code_map.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/debuggee.h"
#include "runtimes/stepping/event_break_private.h"

/* ---- where ---- */

static bool is_rust_panic(const char *symbol, struct arena *a)
{
	static const char name[] = "rust_panic";

	if (!strstr(symbol, name))
		return false;
	const char *last = qualified_last(demangle(a, symbol));
	return qualified_base_len(last) == strlen(name) && str_begins(last, name);
}

static void panic_break_find_in(struct breakpoint *bp, const struct code_map *code)
{
	SCRATCH(tmp);

	bp->event->std = code;
	for (size_t i = 0; i < code->n && !bp->nplaces; i++) {
		if (!is_rust_panic(code->functions[i].name, &tmp))
			continue;
		bp->places = NEW(&bp->find_arena, struct breakpoint_place);
		*bp->places = (struct breakpoint_place){
			.addr = code->functions[i].low + code->dm->module->bias,
			.function = "rust_panic",
			.breakpoint = bp,
		};
		bp->nplaces = 1;
	}
}

struct error *panic_break_find(struct breakpoint *bp)
{
	struct inspector *in = asyncdbg_inspector(bp->debuggee->handle);
	struct arena *a = &bp->find_arena;

	bp->event->std = NULL;
	/* std may be a library of its own. */
	for (size_t i = 0; i < in->di->nmodules && !bp->nplaces; i++) {
		struct dwarf_module *dm = debuginfo_program_module(in->di, i);
		struct code_map *code = NEW(a, struct code_map);

		if (!dm)
			continue;
		struct error *err CLEANUP(error_freep) = code_map_read(dm, a, code);
		if (!err)
			panic_break_find_in(bp, code);
	}
	if (!bp->nplaces)
		bp->note = "panics cannot be observed in this program: it has no symbol "
			   "rust_panic, for example because it is stripped";
	return NULL;
}

/* ---- what it says ---- */

enum { MAX_MESSAGE = 4096 };

/* A text in the memory; NULL: it cannot be read. */
static const char *panic_break_read_text(struct control *c, uint64_t addr, uint64_t len,
                                         struct arena *a)
{
	char *text = arena_alloc(a, MAX_MESSAGE + 1);

	if (!len || len > MAX_MESSAGE)
		return NULL;
	struct error *err CLEANUP(error_freep) = control_read(c, addr, text, len);
	return err ? NULL : str_clean(a, text, len);
}

/*
 * The text of a FormatStringPayload: a String and a pointer to the stack, in an order that the
 * compiler chooses. Its length and capacity are the only small numbers.
 */
static const char *read_formatted(struct control *c, const uint64_t *words, uint64_t sp,
                                  struct arena *a)
{
	enum { NWORDS = 4, SMALL = 1 << 30 };
	const uint64_t stack = 1 << 23;
	uint64_t text = 0, len = UINT64_MAX;
	size_t ntexts = 0, nsmall = 0;

	for (size_t i = 0; i < NWORDS; i++) {
		if (words[i] < SMALL) {
			len = words[i] < len ? words[i] : len;
			nsmall++;
		} else if (words[i] - sp >= stack) {
			text = words[i];
			ntexts++;
		}
	}
	return nsmall == 2 && ntexts == 1 ? panic_break_read_text(c, text, len, a) : NULL;
}

/* The name of a method in the table of the panic's payload, which names its type; "": unknown. */
static const char *payload_type(struct debuggee *d, const struct code_map *std, uint64_t table,
                                struct arena *a)
{
	enum { FIRST = 3, END = 7 };

	for (uint64_t slot = FIRST; slot < END; slot++) {
		uint64_t addr;
		struct error *err CLEANUP(error_freep) =
			control_read(&d->control, table + slot * sizeof(addr), &addr, sizeof(addr));
		const struct code_function *f =
			err ? NULL : code_map_at(std, addr - std->dm->module->bias);
		const char *name = f ? demangle(a, f->name) : "";

		if (strstr(name, "Payload"))
			return name;
	}
	return "";
}

/* rust_panic() has the payload, a trait object, as its first two parameters. */
static const char *read_message(struct debuggee *d, const struct code_map *std,
                                const struct regs *regs, struct arena *a)
{
	const struct arch *arch = asyncdbg_target(d->handle)->arch;
	uint64_t data = regs->r[arch->arguments[0]], table = regs->r[arch->arguments[1]];
	uint64_t words[4];
	const char *type = payload_type(d, std, table, a);
	struct error *err CLEANUP(error_freep) =
		control_read(&d->control, data, words, 2 * sizeof(*words));

	if (err)
		return NULL;
	if (strstr(type, "StaticStrPayload") || strstr(type, "Payload<&str>"))
		return panic_break_read_text(&d->control, words[0], words[1], a);
	if (!strstr(type, "FormatStringPayload"))
		return NULL;
	struct error *rest CLEANUP(error_freep) =
		control_read(&d->control, data, words, sizeof(words));
	return rest ? NULL : read_formatted(&d->control, words, regs->r[arch->sp], a);
}

/* ---- who catches it ---- */

static bool begins_with_one(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (str_begins(name, *list))
			return true;
	}
	return false;
}

static bool is_catch(const char *name)
{
	static const char *const catches[] = { "std::panicking::catch_unwind",
		                               "std::panicking::try", "std::panic::catch_unwind",
		                               "__rust_try", NULL };

	return begins_with_one(name, catches);
}

static bool panic_break_is_library(const char *name)
{
	static const char *const crates[] = { "std::", "core::", "alloc::", "__rust", NULL };

	return begins_with_one(name, crates) || is_catch(name);
}

static bool panic_break_is_of_runtime(const struct inspector *in, const char *name)
{
	for (const struct runtime *const *list = runtimes_in(in->di); *list; list++) {
		if (str_begins(name, (*list)->path))
			return true;
	}
	return false;
}

/*
 * The task that a panic of a thread would end: the one that it polls, unless the program catches it
 * before. What is outward of a function that catches is the one that wants it.
 */
static const char *task_that_ends(const struct inspector *in, const struct thread_info *th)
{
	bool caught = false;

	for (size_t i = 0; i < th->nframes; i++) {
		const char *name = th->frames[i].function ? th->frames[i].function : "";

		if (th->frames[i].polls_task)
			return th->frames[i].polls_task;
		caught |= is_catch(name);
		if (caught && *name && !panic_break_is_library(name)) {
			if (!panic_break_is_of_runtime(in, name))
				return NULL;
			caught = false;
		}
	}
	return NULL;
}

struct error *panic_break_decide(struct breakpoint *bp, const struct internal_hit *hit,
                                 bool *counts)
{
	SCRATCH(tmp);
	struct debuggee *d = bp->debuggee;
	struct event_break *e = bp->event;
	const char *task = NULL;
	struct regs regs;

	*counts = true;
	if (e->kind == EVENT_BREAK_TASK_PANIC) {
		const struct snapshot *snap;

		TRY(asyncdbg_snapshot(d->handle, WANT_RUNNING | WANT_STACKS, NULL, &snap));
		const struct thread_info *th = snapshot_thread_by_tid(snap, hit->tid);
		d->task_tid = 0; /* the remembered task was of an earlier snapshot */
		task = th ? task_that_ends(asyncdbg_inspector(d->handle), th) : NULL;
		*counts = task != NULL;
	} else {
		TRY(debuggee_task(d, hit->tid, &task));
	}
	if (!*counts)
		return NULL;
	TRY(control_registers(&d->control, hit->tid, &tmp, &regs));
	arena_free(&e->hit_arena);
	e->task = task ? arena_strdup(&e->hit_arena, task) : NULL;
	e->message = read_message(d, e->std, &regs, &e->hit_arena);
	return NULL;
}
