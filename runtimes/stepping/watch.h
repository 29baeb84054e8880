/*
 * Watchpoints of the debuggee: memory whose changes, or accesses to it, halt it. They have numbers
 * together with breakpoints, and are the CPU's (TRACER_WATCH): nothing is written to the program. A
 * place ends with its program: a new one needs a new watchpoint.
 */
#ifndef RUNTIMES_STEPPING_WATCH_H
#define RUNTIMES_STEPPING_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/vec.h"
#include "dwarf/frame/frame_scope.h"

struct debuggee;
struct predicate;
struct snapshot;
struct internal_breakpoint;
struct type;
struct variant;

enum { WATCH_MAX_BYTES = 32 /* of four breakpoints of eight */ };

/*
 * The coroutine that has what is watched as one of its variables, or whose state is watched, and
 * the frame and block of a running function. If neither is known, the place lasts as long as the
 * program.
 */
struct watch_owner {
	const struct type *type;  /* NULL: no coroutine, or unknown */
	uint64_t addr;            /* run-time */
	struct frame_scope scope; /* zeros: no frame, or unknown */
	pid_t tid;                /* on whose stack the frame is */
};

/* The place whose owner is asked for. */
struct watch_place {
	const char *text; /* the expression */
	uint64_t addr;
	const char *task; /* id of the task in whose future it is; NULL: none, or unknown */
	pid_t stack;      /* the thread on whose stack it is; 0: it is on none */
};

enum watch_kind {
	WATCH_WRITE, /* a change of the value */
	/*
	 * A read. x86-64 has breakpoints for accesses only: it is one after which the value is the
	 * same, and so also a write of the same value.
	 */
	WATCH_READ,
	WATCH_ACCESS, /* a read or a write */
	WATCH_NKINDS,
};

/* Memory of the program that a path of a condition stands for. */
struct watch_name {
	const char *path;
	const struct type *type;
	uint64_t addr;
};

/* Hits that count, and those of them that halt. Strings and names are copied. */
struct watch_rule {
	const char *condition;          /* predicate.h; NULL: none */
	const struct watch_name *names; /* of all paths of the condition */
	size_t nnames;
	uint64_t skip;  /* number of hits that are passed before it halts */
	uint64_t every; /* of those behind them, each of that number halts; 0: all */
};

/* Hits of a watchpoint. */
struct watch_hits {
	uint64_t nstops; /* the control.nstops of the last one, which may be decided again */
	bool changed;    /* the last one is no read, or write of the same value */
	bool undecided;
	uint64_t n;         /* hits with the condition true */
	uint64_t unchanged; /* number of writes of the value that it had: passed over */
	/*
	 * Error of the first hit whose condition could not be read; that hit halts, as of a
	 * breakpoint.
	 */
	const char *problem;
	uint64_t unreadable;
};

struct watchpoint {
	struct debuggee *debuggee; /* its debuggee */
	unsigned number;           /* from 1; never used again, nor by a breakpoint */
	const char *text;          /* as it was typed */
	const char *task;        /* id of the task in whose future it is; NULL: none, or unknown */
	uint64_t addr, size;     /* bytes, at most WATCH_MAX_BYTES; run-time */
	const struct type *type; /* of the value; of a state, that of the coroutine at `whole` */
	uint64_t whole;
	enum watch_kind kind;
	bool state;   /* the state of a coroutine, rather than a value */
	bool enabled; /* false also when its program is gone */
	bool halts;   /* it is one of those that halt the program now */
	struct watch_hits hits;
	const char *note; /* why it watches nothing; NULL: nothing to say */
	/*
	 * A variable ends with its scope, and its owner: the watchpoint halts the program once more
	 * then, with a note in place of a value, and watches nothing from there on.
	 */
	struct watch_owner owner;
	const struct variant *since; /* the state of the owner when it was set; NULL: unknown */
	/* At the code that drops the owner, and where its frame returns to. */
	VEC(struct internal_breakpoint *) drops;
	bool ended;             /* at this stop, or before */
	struct watch_rule rule; /* in rule_arena */
	const struct predicate *parsed;
	/* Values before and after the last hit, or when it was set. Texts as `print` has them. */
	const char *old, *value;
	unsigned char bytes[WATCH_MAX_BYTES];
	struct arena arena; /* text, task */
	struct arena value_arena, old_arena, rule_arena;
};

struct watchpoints {
	VEC(struct watchpoint *) list; /* ascending number */
	bool reported; /* a report was made that a thread of this program is not watched */
};

/* Properties of a new watchpoint. Strings are copied; type is the program's. */
struct watch_options {
	const char *text, *task;
	const struct type *type;
	uint64_t addr;
	struct watch_owner owner;
	enum watch_kind kind;
	bool state; /* type is a coroutine at addr: its state alone */
	struct watch_rule rule;
};

/*
 * Finds the innermost future of the task that has an address within it, and the frame in which the
 * expression's first name is a variable. All zeros: there is neither, as of what lies in a box.
 */
struct error *watch_owner_find(struct debuggee *d, const struct snapshot *snap,
                               const struct watch_place *place, struct watch_owner *ret) MUST_CHECK;
/* "write", "read", "read_write": the value of "access" in JSON. */
const char *watch_kind_name(enum watch_kind kind);
/* "watchpoint", "read watchpoint", "access watchpoint" */
const char *watch_noun(const struct watchpoint *w);
/*
 * Watches memory of the halted program. ERR_USAGE if it is too large, or not aligned; the errors of
 * TRACER_WATCH.
 */
struct error *watch_add(struct debuggee *d, const struct watch_options *options,
                        struct watchpoint **ret) MUST_CHECK;
/* The watchpoint of that number; NULL: none. */
struct watchpoint *watch_numbered(struct debuggee *d, unsigned number);
/* ERR_USAGE if the condition cannot be parsed: nothing changes. */
struct error *watch_set_rule(struct watchpoint *w, const struct watch_rule *rule) MUST_CHECK;
/*
 * The debugger has written to the memory of the halted program: what is watched there has that
 * value now, and the next hit compares with it.
 */
struct error *watch_take_written(struct debuggee *d) MUST_CHECK;
/* ERR_STATE: its program is gone. */
struct error *watch_enable(struct watchpoint *w, bool enabled) MUST_CHECK;
struct error *watch_delete(struct watchpoint *w) MUST_CHECK;
/* Whether the last stop is one of d->watch: a hit, or the end of what it watches. */
bool watch_is_stop(const struct debuggee *d);
/*
 * A control.on_unwatched, with the debuggee: tells the listener, once for each program, that hits
 * of new threads are not seen.
 */
void watch_report_unwatched(void *debuggee, pid_t tid, int errnum);
/* The program is another one, or gone: they watch nothing any more. */
void watch_forget(struct debuggee *d);
void watch_free_all(struct debuggee *d);

#endif
