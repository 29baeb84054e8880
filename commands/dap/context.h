/*
 * State shared by the requests of a client. The Debug Adapter Protocol
 * (microsoft.github.io/debug-adapter-protocol, 1.71): one client, one session, one program.
 * Requests are answered by the main thread, one after the other.
 *
 * While the program runs, each request halts it for as long as its answer takes. The client sees it
 * as running all the time.
 */
#ifndef COMMANDS_DAP_CONTEXT_H
#define COMMANDS_DAP_CONTEXT_H

#include "commands/base/call.h"
#include "commands/dap/ids.h"
#include "commands/dap/wire/inbox.h"
#include "commands/dap/wire/message.h"
#include "commands/dap/wire/output.h"
#include "commands/dap/wire/paths.h"
#include "commands/out/out.h"

enum dap_state {
	DAP_NEW,        /* before "initialize" */
	DAP_IDLE,       /* there is no program */
	DAP_CONFIGURED, /* there is one, and "configurationDone" is missing */
	DAP_STOPPED,
	DAP_RUNNING,
	DAP_ENDED, /* the program has ended, or was let go */
};

/* Capabilities from the client's "initialize". */
struct dap_client {
	bool lines_from_0, columns_from_0, paths_are_uris;
	bool progress, invalidated, memory, ansi;
};

enum dap_breakpoint_kind { DAP_LINE, DAP_FUNCTION, DAP_INSTRUCTION, DAP_EXCEPTION };

/* A breakpoint that the client has asked for. */
struct dap_breakpoint {
	enum dap_breakpoint_kind kind;
	unsigned number;    /* breakpoint.number */
	const char *source; /* of DAP_LINE: the path, as the client has it */
	const char *key;    /* all its properties, for comparison */
	bool wanted;        /* by the request that is being answered */
};

/* State of a breakpoint as last sent to the client. */
struct dap_reported {
	unsigned number;
	uint64_t addr; /* of its first place; 0: it has none */
	unsigned line;
	bool verified, pending;
};

/* Memory that the client may watch. */
struct dap_data {
	const char *id; /* dataId */
	struct watch_options options;
	/* The frame for the paths of a condition, until that stop is over: control.nstops. */
	int64_t frame;
	uint64_t nstops;
	unsigned number; /* of the watchpoint; 0: none was asked for */
};

/* Requests to the program that are still to be carried out. */
struct dap_pending {
	bool stop_at_entry; /* a stop follows "configurationDone" */
	bool pause;         /* of a running program */
	bool terminate;     /* SIGTERM was sent: the next request kills */
	bool resume; /* it goes on to receive SIGTERM, of which the client is to be notified */
	bool step, step_one; /* by step, or by one instruction; only pause and the like end it */
	struct step_options options;
	bool decision; /* a hit is still to be decided: it was interrupted */
};

/* How loading is reported. */
struct dap_progress {
	int64_t answering; /* seq of the request that is being answered; 0: none */
	unsigned n;        /* number of times that progress was reported */
	bool is_reported;  /* progress is being reported */
};

struct dap {
	struct session *s;
	const struct call *call;             /* of the command */
	const struct dap_command_row *table; /* see table.c */
	struct out *console;                 /* see running_messages() */
	FILE *console_file;
	struct sender sender;
	struct inbox inbox;
	struct output output; /* of a launched program */
	enum dap_state state;
	struct dap_client client;
	const struct listener *listener; /* with --listen */
	bool is_stranger; /* the client is not of our user, and has not shown the token */
	bool launched;    /* by "launch" */
	struct control_program program; /* by "launch" */
	bool post_mortem;               /* a core or a saved snapshot */
	struct dap_pending pending;
	struct dap_progress progress;
	bool done;          /* the connection ends */
	int stop_thread;    /* of the last "stopped" */
	bool groups_noted;  /* the client was notified that tasks are listed as groups */
	struct paths paths; /* the source map */
	size_t max_tasks;
	struct ids ids;
	VEC(struct dap_breakpoint) breakpoints;
	VEC(struct dap_reported) reported;
	VEC(struct dap_data) data;
	struct arena data_arena; /* of their texts */
	struct arena arena;      /* lives until the end */
};

/* A request that is being answered. */
struct request {
	int64_t seq;
	const char *command;
	const struct node *arguments;
	struct arena *a;       /* lives until the request is answered */
	struct message *m;     /* the answer, in whose body members may be put */
	struct json_writer *w; /* writer of m */
};

/* State that a request requires. */
enum dap_need {
	DAP_NEEDS_NOTHING, /* nothing but "initialize" */
	DAP_NEEDS_PROGRAM,
	DAP_NEEDS_STOP,    /* a program that stands still, for the client too */
	DAP_NEEDS_CONTROL, /* a program that can be continued */
};

typedef struct error *dap_fn(struct dap *d, struct request *r);

/* A request, and the function that answers it. */
struct dap_command_row {
	const char *name;
	enum dap_need need;
	dap_fn *answer;
	/* Called when the answer was sent; NULL: nothing is to be done. */
	void (*after)(struct dap *d);
};

/* ---- for the files of requests ---- */

/*
 * The snapshot of this stop with at least these wants; taken when it is first asked for. While the
 * program runs, of this moment.
 */
struct error *dap_snapshot(struct dap *d, unsigned wants, const struct snapshot **ret) MUST_CHECK;
/* Forgets the state of the program: it has run, or memory was changed. */
void dap_forget(struct dap *d);
/* Puts a line on the console, with a newline at its end. */
void dap_note(struct dap *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether the debuggee is held now, though the client may see it as running. */
bool dap_is_held(const struct dap *d);

/* The breakpoint that has halted the program at the last stop; NULL: none. */
struct breakpoint *dap_hit(const struct dap *d);

/* Members of "arguments": NULL, otherwise where one is missing. */
const char *dap_text(const struct request *r, const char *name);
int64_t dap_number(const struct request *r, const char *name, int64_t otherwise);
bool dap_is_true(const struct request *r, const char *name, bool otherwise);

/* ---- the requests, by file ---- */

/* session.c */
dap_fn dap_initialize, dap_launch, dap_attach, dap_configured, dap_disconnect, dap_terminate,
	dap_restart;
void dap_after_restart(struct dap *d);
void dap_after_start(struct dap *d), dap_after_configured(struct dap *d),
	dap_after_terminate(struct dap *d);
/* moves.c */
dap_fn dap_continue, dap_pause, dap_next, dap_step_in, dap_step_out, dap_cancel;
void dap_after_pause(struct dap *d);
/* threads.c, stack.c */
dap_fn dap_threads, dap_stack_trace;
/* variables.c */
dap_fn dap_scopes, dap_variables;
/* breakpoints.c */
dap_fn dap_set_breakpoints, dap_set_function_breakpoints, dap_set_instruction_breakpoints,
	dap_set_exception_breakpoints, dap_breakpoint_locations;
/* memory.c, custom.c, completions.c */
dap_fn dap_read_memory, dap_disassemble, dap_modules, dap_completions;
dap_fn dap_custom_tasks, dap_custom_tree, dap_custom_graph, dap_custom_check;
/* evaluate.c */
dap_fn dap_evaluate;
/* source.c */
dap_fn dap_source, dap_locations;
/* exceptions.c */
dap_fn dap_exception_info;
/* data.c, change.c */
dap_fn dap_data_breakpoint_info, dap_set_data_breakpoints;
dap_fn dap_set_variable, dap_set_expression;
void dap_after_set(struct dap *d);

#endif
