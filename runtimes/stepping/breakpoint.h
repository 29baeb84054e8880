/*
 * Numbered breakpoints of the debuggee. They are kept when it ends, and are found again in the next
 * one.
 */
#ifndef RUNTIMES_STEPPING_BREAKPOINT_H
#define RUNTIMES_STEPPING_BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/vec.h"
#include "runtimes/hits/hit_rate.h"
#include "runtimes/hits/log_message.h"
#include "runtimes/stepping/event_break.h"

struct predicate;
struct debuggee;
struct trace_point;
struct internal_breakpoint;
struct tracer_filter;
struct internal_hit;

/* An address of a breakpoint; strings are in the breakpoint's arena. */
struct breakpoint_place {
	uint64_t addr;        /* run-time */
	const char *function; /* qualified name; NULL: unknown */
	const char *file;     /* for display; NULL: unknown */
	unsigned line;        /* 0: unknown */
	bool inlined;
	bool of_line; /* of a line or function, not of an address: see first_poll.h */
	struct breakpoint *breakpoint;        /* breakpoint that it belongs to */
	struct internal_breakpoint *internal; /* NULL: it is not planted */
	/*
	 * Breakpoints on events of tasks: the trace point that tells what a hit means, and the
	 * threads that it concerns.
	 */
	const struct trace_point *point;
	const struct tracer_filter *filter; /* as of an internal breakpoint; NULL: all */
};

struct breakpoint {
	struct debuggee *debuggee; /* its debuggee */
	unsigned number;           /* from 1; never used again */
	const char *text;          /* as it was typed: "src/main.rs:41", "app::serve", "0x401000" */
	const char *task; /* id of the task that it is for; NULL: all, and threads without one */
	struct event_break *event; /* NULL: it is on a place in the code */
	uint64_t skip;             /* number of hits that are passed before it halts */
	uint64_t every;            /* of those behind them, each of that number halts; 0: all */
	uint64_t hits;             /* hits by its task, with its condition true */
	bool enabled, temporary;
	bool pending; /* it has no place, and is found when a library is loaded */
	const char *
		near; /* the functions that its text probably means; NULL: none, or it has places */
	/*
	 * Text of a logpoint, which never halts: as it was typed, and parsed. NULL: the breakpoint
	 * is none.
	 */
	const char *log;
	const struct log_message *message;
	struct hit_rate rate;  /* of the hits that halt nothing */
	const char *condition; /* as it was typed; NULL: none */
	const struct predicate *parsed;
	/*
	 * Error of the first hit whose condition could not be read. That hit halts; later ones of
	 * which it cannot be read pass, and are counted. NULL: none so far.
	 */
	const char *problem;
	bool doubted;        /* a hit halted because a variable in it was in doubt */
	uint64_t unreadable; /* number of these hits, with the first one */
	bool undecided;      /* it halts now because of that */
	bool halts;          /* it is one of those that halt the program now */
	struct breakpoint_place *places;
	size_t nplaces;
	/*
	 * Note: why it has no place, or something to know about its places: "line 40 has no code".
	 * NULL: nothing.
	 */
	const char *note;
	struct arena arena; /* text and task */
	struct arena condition_arena;
	struct arena find_arena; /* places and note, until it is found again */
};

struct breakpoints {
	VEC(struct breakpoint *) list; /* ascending number */
	unsigned last;                 /* the last number given */
};

/* Properties of a new breakpoint; copied. */
struct breakpoint_options {
	const char *text, *task, *condition; /* text: of an event what it is to be of */
	const char *log;                     /* the text of a logpoint; NULL: it halts */
	enum event_break_kind event;
	uint64_t every_ns; /* of EVENT_BREAK_DEADLOCK */
	uint64_t skip, every;
	bool temporary;
};

/* ERR_USAGE if the text can be no place. */
struct error *breakpoint_check(const char *text) MUST_CHECK;
/* "logpoint" or "breakpoint". */
const char *breakpoint_noun(const struct breakpoint *bp);
/*
 * Adds a breakpoint, and if there is a program finds and plants it. It may have no place: its note
 * says why. An event that cannot be seen in the program is ERR_STATE, unless a library that is
 * loaded later may have it: then it is pending.
 */
struct error *breakpoint_add(struct debuggee *d, const struct breakpoint_options *options,
                             struct breakpoint **ret) MUST_CHECK;
/* Resets the counts for a new program: no hits so far, and no condition that could not be read. */
void breakpoint_count_anew(struct debuggee *d);
/* Finds all breakpoints in a new program and plants those that are enabled. */
struct error *breakpoint_find_all(struct debuggee *d) MUST_CHECK;
/* breakpoint_find_all() for a single breakpoint. */
struct error *breakpoint_find_again(struct breakpoint *bp) MUST_CHECK;
/* Takes its places away, until it is found again. */
struct error *breakpoint_forget_places(struct breakpoint *bp) MUST_CHECK;
/* The breakpoint of that number; NULL: none. */
struct breakpoint *breakpoint_numbered(struct breakpoints *b, unsigned number);
/* Plants its places, or takes them away. */
struct error *breakpoint_enable(struct breakpoint *bp, bool enabled) MUST_CHECK;
/* Gives it another condition; NULL or "": none. ERR_USAGE if it cannot be parsed: nothing changes.
 */
struct error *breakpoint_set_condition(struct breakpoint *bp, const char *text) MUST_CHECK;
/* Takes it away and frees it. */
struct error *breakpoint_delete(struct breakpoint *bp) MUST_CHECK;
/* Counts a hit. Whether it halts. */
bool breakpoint_hit(struct breakpoint *bp);
/* The hit_callback of its places. */
struct error *breakpoint_decide(void *place, const struct internal_hit *hit, bool *stop) MUST_CHECK;
/* Tells the listener, if there is one. */
void breakpoint_warn(const struct breakpoint *bp, const char *text);
/*
 * Counts what a hit that halts nothing has cost since the program was halted for it. Once, where
 * that is too much, the rate is reported to the listener, with what costs less.
 */
void breakpoint_count_cost(struct breakpoint *bp);
/*
 * The program is about to run: rates begin at 0 again; those of filters are counted while it runs.
 */
struct error *breakpoint_begin_rates(struct debuggee *d) MUST_CHECK;
void breakpoint_free_all(struct debuggee *d);

#endif
