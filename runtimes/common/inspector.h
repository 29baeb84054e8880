/* Inside of the inspector, for the files of this layer. */
#ifndef RUNTIMES_COMMON_INSPECTOR_H
#define RUNTIMES_COMMON_INSPECTOR_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/names/source.h"
#include "dwarf/store/cache.h"
#include "dwarf/unwind/unwind.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show.h"
#include "runtimes/common/request.h"
#include "runtimes/common/runtime.h"
#include "runtimes/model/model.h"

struct holdings;
struct secrets;

struct inspector {
	struct target *target;
	struct debuginfo *di;
	struct unwinder *unwinder;
	void **states;    /* what each runtime keeps, in their order: see inspector_state() */
	struct map paths; /* type and expression -> struct path: see inspector_path() */
	struct map
		selects;  /* closure type -> whether futures::select! made it: see select_join.c */
	struct map drops; /* struct type -> whether it has drop glue: see locals.c */
	struct show_cache show;        /* of values as text */
	const struct secrets *secrets; /* see struct inspector_options */
	struct records_options records;
	uint64_t own_build;                    /* see own_build(); 0 also where no cache is used */
	bool async_code_known, has_async_code; /* of other_executors.c: of all files */
	const char *layout;                    /* the layout file in use, sanitised; NULL none */
	struct target_info info;               /* what does not change between snapshots */
	const char *own_package;               /* debuginfo_own_package() of the executable */
	VEC(const char *) notes; /* found while opening: every snapshot is incomplete by them */
	struct arena arena;      /* until inspector_close() */
	struct arena spare;      /* memory for the next snapshot: see collector_discard() */
};

/* The stack of one thread, unwound, with the functions of each physical frame. */
struct thread_stack {
	const struct thread *thread;
	struct stack stack;
	struct location **functions; /* per frame, innermost first, without lines */
	size_t *nfunctions;
};

/* A set of tasks, met in a future: they are listed when all else is decoded. See task_set.h. */
struct task_set {
	struct value v; /* the set, or what its driver shares with it; type NULL: none */
	const struct task_set_ops *of;
	unsigned runtime;        /* of the task or thread that drives it */
	struct future *future;   /* whose note names the tasks; NULL none */
	const struct task *task; /* that it was met in; NULL none */
};

/* Memory that a future occupies. */
struct future_region {
	const struct type *type;
	uint64_t addr, size;
	bool leaf; /* polls no other future, though its words may be links of a list */
};

/*
 * So many tasks are looked at before notes of debug info are, of which so many bytes may stay: to
 * scan again costs less than memory that is new.
 */
enum { TASKS_AT_ONCE = 64, NOTES_MEANWHILE = 12 << 20 };

/* A task, and the address of its poll function. */
struct task_poll {
	uint64_t poll;
	struct task *task;
};
typedef VEC(struct task_poll) task_poll_vec;

/* One snapshot in the making. */
struct collector {
	struct inspector *in;
	struct snapshot *out;
	struct arena *a; /* out's arena */
	unsigned want;
	const struct question *question; /* NULL none */
	bool rehearsal;                  /* nobody will see the snapshot */
	bool by_poll; /* tasks are decoded in the order of their poll functions, not of their lists
	               */
	task_poll_vec polls;         /* of the tasks listed, when by_poll */
	const struct task *decoding; /* NULL none */
	unsigned decoding_thread;    /* number of the thread whose future is decoded, 0 none */
	struct thread_stack *stacks; /* by index of target->threads */
	size_t list_doubts;          /* target->doubts before the head of a list was read */
	struct map tasks;            /* header address -> struct task */
	struct map wakers;           /* data of a block_on waker -> struct thread_info */
	struct map nodes;  /* address of a set's node, which is a waker's data -> its type */
	struct map places; /* struct future -> struct frame_place: locals.h */
	bool leads_left;   /* a runtime was found that is not in this snapshot */
	VEC(struct task_set) task_sets;    /* met while decoding, each once */
	VEC(struct future_region) regions; /* of the futures of the tree being decoded, in order */
	VEC(uint64_t) told_wakers;         /* where wakers lie that leaves of that tree tell */
	bool some_held;                    /* a tree has futures that it does not poll */
	struct arena scratch;              /* until the snapshot is done */
	struct reached *reached;           /* the list of object_walk(), NULL until the first one */
	size_t nreached;                   /* values that all walks together looked at */
	size_t nreached_near;              /* the same of object_walk_near() */
	/* "Now" on the target's monotonic clock; on a core a lower bound. */
	uint64_t now_ns;
	bool now_known, now_is_bound;
	bool clock_paused;  /* a runtime's own clock stands still (test utilities) */
	struct map vtables; /* address and slot -> struct known_vtable: see collector_vtable() */
	void **states;      /* what each runtime keeps: see collector_state() */
	/* Told each frame of a tree; active: of a coroutine, else NULL. NULL: nobody asks. */
	void (*frame_met)(struct decoder *d, struct value v, const struct variant *active,
	                  struct future *f);
	struct holdings *holdings; /* of holding.c, NULL before the first one */
};

/*
 * What the runtime of that name, its own constant, keeps with an inspector or a collector: so many
 * bytes as it says, zeroed at first. NULL where it is not registered.
 */
void *inspector_state(const struct inspector *in, const char *name);
void *collector_state(const struct collector *c, const char *name);
/* Makes room for it. */
void inspector_open_states(struct inspector *in);
void collector_open_states(struct collector *c);

struct collector *collector_new(struct inspector *in, unsigned want,
                                const struct question *question);
/* Frees the collector and hands over its snapshot. */
struct snapshot *collector_finish(struct collector *c);

/* source_of() a file of the program. */
struct source inspector_source(const struct inspector *in, struct arena *a, const char *file,
                               const char *comp_dir);

/* Adds a reason why no answer can be complete; text lives as long as in. */
void inspector_note(struct inspector *in, const char *text);

/*
 * path_resolve() once for each type and expression; expr must be a constant of the program: its
 * address is the key.
 */
struct error *inspector_path(struct inspector *in, const struct type *from, const char *expr,
                             const struct path **ret) MUST_CHECK;

/* The same for what some versions do not have: NULL where it does not resolve. */
const struct path *inspector_optional_path(struct inspector *in, const struct type *from,
                                           const char *expr);

/* inspector_path() and path_eval() from a value: the place it leads to. */
struct error *inspector_eval(struct inspector *in, struct value from, const char *expr,
                             struct value *ret, bool *found) MUST_CHECK;

/* lookup_vtable() once for each vtable, whose bytes do not change while a snapshot is made. */
const struct type *collector_vtable(struct collector *c, uint64_t addr, unsigned slot, bool *exact);

/* Of inspect_notes.c: the rows of every layout, resolved or not, into the snapshot. */
void inspect_describe_layout(struct collector *c);
/* Notes about what the target, the debug info and the layouts lack. */
void inspect_note_problems(struct collector *c);
/* About threads whose stacks are not known whole because they were not stopped. */
void inspect_note_unstopped(struct collector *c);
/* About what changed while it was read; tasks have marks of their own. */
void inspect_note_doubts(struct collector *c);

/* A name for the model: sanitised, in the snapshot's arena. */
const char *inspector_clean_name(struct arena *a, const char *name);

#endif
