#include "runtimes/stepping/control.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/elf/elf_image.h"
#include "debugger/live/proc.h"
#include "debugger/live/read_guard.h"
#include "debugger/live/tracer.h"

enum {
	YIELD_NS = 1000000,
	ENDING_NS = 200000000, /* one wait for the last event of a process */
	ENDING_WAITS = 50,     /* so many of one that is seen to end */
};

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Signals that end a program which is in error, and those that a terminal sends. */
static const uint64_t stop_signals = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) |
                                     BIT(SIGABRT) | BIT(SIGSYS) | BIT(SIGTRAP) | BIT(SIGINT) |
                                     BIT(SIGQUIT) | BIT(SIGTSTP);
/*
 * Signals for us: ^C, ^Z, and breakpoints that are not ours. A program that ^Z has stopped would
 * wait for ever: nobody but us has its terminal, and a stopped one is not even halted by ^C.
 */
static const uint64_t drop_signals = BIT(SIGINT) | BIT(SIGTSTP) | BIT(SIGTRAP);

static struct error *control_request(struct control *c, struct tracer_request *r)
{
	if (!c->tracer)
		c->tracer = tracer_new();
	return tracer_request(c->tracer, r);
}

static struct error *control_request_plain(struct control *c, enum tracer_request_kind kind)
{
	return control_request(c, &(struct tracer_request){ .kind = kind });
}

static struct error *control_need_program(const struct control *c)
{
	return c->pid ? NULL : error_new(ERR_STATE, "no program is being debugged");
}

/* ---- waiting ---- */

static void forget_program(struct control *c)
{
	c->pid = 0;
	internal_breakpoint_forget(c);
}

static void set_stop(struct control *c, const struct event *e)
{
	struct control_stop stop = {
		.tid = e->tid, .addr = e->addr, .signal = e->signal, .status = e->status
	};

	switch (e->kind) {
	case EVENT_BREAKPOINT:
		stop.reason = CONTROL_BREAKPOINT;
		break;
	case EVENT_WATCH:
		stop.reason = CONTROL_WATCH;
		break;
	case EVENT_EXEC:
		stop.reason = CONTROL_EXEC;
		break;
	case EVENT_EXIT:
		stop.reason = CONTROL_EXITED;
		break;
	case EVENT_KILLED:
		stop.reason = CONTROL_KILLED;
		break;
	default:
		stop.reason = CONTROL_SIGNAL;
		break;
	}
	c->stop = stop;
	c->stop_ns = clock_now_ns();
	c->nstops++;
	if (e->kind == EVENT_EXIT || e->kind == EVENT_KILLED)
		forget_program(c);
	else if (e->kind == EVENT_EXEC)
		internal_breakpoint_forget(c);
}

static bool is_last(const struct event *e)
{
	return e->kind == EVENT_EXIT || e->kind == EVENT_KILLED;
}

/* Reports an event that does not halt. */
static void control_report(const struct control *c, const struct event *e)
{
	if (e->kind == EVENT_SIGNAL && c->on_signal && c->signals.print & BIT(e->signal))
		c->on_signal(c->on_signal_arg, e->tid, e->signal);
	else if (e->kind == EVENT_UNWATCHED && c->on_unwatched)
		c->on_unwatched(c->on_unwatched_arg, e->tid, e->status);
}

/* Takes events until one that halts or is the last; *found false: there is none in that time. */
static struct error *control_take_stop(struct control *c, uint64_t timeout_ns, bool *found)
{
	uint64_t begin = clock_now_ns();
	struct event e;

	do {
		uint64_t left = clock_between(clock_since(begin), timeout_ns);

		if (timeout_ns == UINT64_MAX)
			left = timeout_ns;
		TRY(tracer_wait_event(c->tracer, left, &e, found));
		if (*found && !e.halted)
			control_report(c, &e);
	} while (*found && !e.halted && !is_last(&e));
	if (*found)
		set_stop(c, &e);
	return NULL;
}

/* The event that has halted the program, if it is there. An interrupt is left to the caller. */
static struct error *take_arrived(struct control *c, bool *found)
{
	struct error *err = control_take_stop(c, 0, found);

	if (!err || err->kind != ERR_INTERRUPTED)
		return err;
	error_free(err);
	return NULL;
}

/* Halts the program, for that reason. An event that halts may have come at the same time. */
static struct error *control_halt(struct control *c, enum control_reason reason)
{
	bool found;
	struct error *err CLEANUP(error_freep) = control_request_plain(c, TRACER_HALT);

	TRY(take_arrived(c, &found));
	if (found)
		return NULL;
	if (err) {
		struct error *ret = err;

		err = NULL;
		return ret;
	}
	c->stop = (struct control_stop){ .reason = reason, .tid = proc_living_thread(c->pid) };
	c->nstops++;
	return NULL;
}

/* Time until the next look. */
static uint64_t control_until_look(const struct periodic_check *l)
{
	return l->every_ns ? clock_between(clock_since(l->last_ns), l->every_ns) : UINT64_MAX;
}

static struct error *look_if_due(struct periodic_check *l, bool *stop)
{
	bool stops = false;

	if (control_until_look(l))
		return NULL;
	TRY(l->look(l->arg, &stops));
	l->last_ns = clock_now_ns();
	*stop |= stops;
	return NULL;
}

/* Waits until the program is halted, with looks in between. */
static struct error *wait_looking(struct control *c)
{
	struct periodic_check *const looks[] = { &c->look, &c->count, &c->step };
	const size_t n = sizeof(looks) / sizeof(*looks);
	bool found = false, stop = false;

	while (!found && !stop) {
		uint64_t soonest = UINT64_MAX;

		for (size_t i = 0; i < n; i++)
			soonest = control_until_look(looks[i]) < soonest
			                  ? control_until_look(looks[i])
			                  : soonest;
		TRY(control_take_stop(c, soonest, &found));
		for (size_t i = 0; i < n && !found; i++)
			TRY(look_if_due(looks[i], &stop));
	}
	if (!stop)
		return NULL;
	TRY(control_halt(c, CONTROL_CAUGHT));
	/* An interrupt asks for no more than a halt, and has it now. */
	if (c->stop.reason == CONTROL_CAUGHT)
		interrupt_clear();
	return NULL;
}

/*
 * Waits until the program is halted. *interrupted: by interrupt_request(); an event that halts may
 * have come at the same time.
 */
static struct error *wait_stop(struct control *c, bool *interrupted)
{
	struct error *err = wait_looking(c);

	*interrupted = err && err->kind == ERR_INTERRUPTED;
	if (*interrupted) {
		error_free(err);
		err = control_halt(c, CONTROL_INTERRUPTED);
		interrupt_clear();
	}
	return err;
}

/* Runs the program until anything halts it, be it an internal breakpoint that lets the thread pass.
 */
static struct error *run_on(struct control *c, bool *interrupted)
{
	TRY(internal_breakpoint_commit(c));
	struct error *err = control_request_plain(c, TRACER_CONTINUE);

	/* The program may have ended while it was halted: its last event says so. */
	if (err && err->kind == ERR_STATE) {
		error_free(err);
		err = NULL;
	}
	*interrupted = false;
	return err ? err : wait_stop(c, interrupted);
}

/* Asks the internal breakpoints that a thread has come to beside what has halted it, so that it
 * halts once. */
static struct error *ask_there(struct control *c, pid_t tid, uint64_t *addr, bool *stop)
{
	struct tracer_request r = { .kind = TRACER_ARRIVE, .arrive = { .tid = tid } };

	*stop = false;
	TRY(control_request(c, &r));
	const struct internal_hit hit = { tid, r.arrive.addr };
	*addr = hit.addr;
	return hit.addr ? internal_breakpoint_dispatch(c, &hit, stop) : NULL;
}

struct error *control_report_breakpoint_here(struct control *c, pid_t tid)
{
	uint64_t addr;
	bool stop;

	TRY(control_need_program(c));
	TRY(ask_there(c, tid, &addr, &stop));
	if (stop)
		c->stop = (struct control_stop){ .reason = CONTROL_BREAKPOINT,
			                         .tid = tid,
			                         .addr = addr };
	return NULL;
}

struct error *control_ask(struct control *c, bool *stop)
{
	const struct internal_hit hit = { c->stop.tid, c->stop.addr };
	uint64_t addr;
	bool there;

	*stop = true;
	if (c->stop.reason == CONTROL_BREAKPOINT)
		return internal_breakpoint_dispatch(c, &hit, stop);
	if (c->stop.reason != CONTROL_WATCH)
		return NULL;
	*stop = false;
	if (c->watched)
		TRY(c->watched(c->watched_arg, &hit, stop));
	return *stop ? ask_there(c, hit.tid, &addr, &there) : NULL;
}

/* Whether what has halted the program lets it pass. */
static struct error *control_ask_breakpoints(struct control *c, bool *pass)
{
	bool stop;

	TRY(control_ask(c, &stop));
	*pass = !stop;
	return NULL;
}

/*
 * Whether a halted process is ending: SIGKILL takes its threads out of the stop, to run (R) to
 * their exit, where they may sleep (D). On a busy machine that takes longer than one wait.
 */
static bool control_is_ending(pid_t pid)
{
	SCRATCH(tmp);
	struct proc_stat stat;
	const char *file = arena_printf(&tmp, "task/%d/stat", (int)proc_living_thread(pid));
	const char *text = proc_read(&tmp, pid, file, NULL);

	return !text || !proc_stat_parse(&tmp, text, &stat) || stat.exits ||
	       strchr("RZX", stat.state);
}

/* Takes the last event of a program that ends although it is halted; one that does not has none. */
static void take_end_if_ending(struct control *c)
{
	bool found;

	for (int i = 0; c->pid && (i == 0 || (i < ENDING_WAITS && control_is_ending(c->pid))); i++)
		error_free(control_take_stop(c, ENDING_NS, &found));
}

struct error *control_stop_from_error(struct control *c, struct error *err)
{
	if (!err || !c->pid)
		return err;
	if (err->kind != ERR_INTERRUPTED) {
		take_end_if_ending(c);
		if (c->pid)
			return err;
		error_free(err);
		return NULL;
	}
	error_free(err);
	interrupt_clear();
	c->stop = (struct control_stop){ .reason = CONTROL_INTERRUPTED,
		                         .tid = proc_living_thread(c->pid) };
	c->nstops++;
	return NULL;
}

struct error *control_continue(struct control *c)
{
	struct error *err = NULL;
	bool pass = false, interrupted;

	TRY(control_need_program(c));
	terminal_give(&c->terminal, c->pid);
	c->look.last_ns = c->count.last_ns = c->step.last_ns = clock_now_ns();
	do {
		err = run_on(c, &interrupted);
		if (!err)
			err = control_ask_breakpoints(c, &pass);
	} while (!err && pass && !interrupted);
	if (!err && pass)
		c->stop = (struct control_stop){ .reason = CONTROL_INTERRUPTED,
			                         .tid = proc_living_thread(c->pid) };
	terminal_take(&c->terminal);
	return control_stop_from_error(c, err);
}

struct error *control_step(struct control *c, pid_t tid)
{
	struct tracer_request r = { .kind = TRACER_STEP, .step = { .tid = tid } };
	bool found = false, pass = false;

	TRY(control_need_program(c));
	TRY(internal_breakpoint_commit(c));
	struct error *err = control_request(c, &r);
	/* A signal, its end, or a write that is watched. */
	if (!err)
		err = control_take_stop(c, 0, &found);
	if (!err && found && c->stop.reason == CONTROL_WATCH)
		err = control_ask_breakpoints(c, &pass);
	if (!err && (!found || pass))
		c->stop = (struct control_stop){ .reason = CONTROL_STEPPED, .tid = tid };
	return err;
}

struct error *control_yield(struct control *c, pid_t tid)
{
	struct tracer_request r = { .kind = TRACER_CONTINUE, .resume = { .but = tid } };
	bool found = false, pass = true;

	TRY(control_need_program(c));
	TRY(internal_breakpoint_commit(c));
	TRY(control_request(c, &r));
	struct error *err = control_take_stop(c, YIELD_NS, &found);
	if (!found) {
		struct error *halted = control_halt(c, CONTROL_STEPPED);

		if (err)
			error_free(halted);
		else
			err = halted;
	}
	if (!err && c->stop.reason != CONTROL_STEPPED)
		err = control_ask_breakpoints(c, &pass);
	if (!err && pass)
		c->stop = (struct control_stop){ .reason = CONTROL_STEPPED, .tid = tid };
	return err;
}

/* ---- begin ---- */

/* Plants the CPU's breakpoints in place of those in the code, or removes them. */
static struct error *plant_hardware(struct control *c, bool on, const struct tracer_break *list,
                                    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tracer_request r = { .kind = on ? TRACER_WATCH : TRACER_UNWATCH,
			                    .watch = { .addr = list[i].addr,
			                               .kind = TRACER_EXECUTED,
			                               .filters = list[i].filters,
			                               .nfilters = list[i].n } };

		TRY(control_request(c, &r));
	}
	return NULL;
}

struct error *control_plant(struct control *c, const struct tracer_break *list, size_t n)
{
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { list, n } };

	TRY(control_need_program(c));
	return c->hw_breakpoints_only ? plant_hardware(c, true, list, n) : control_request(c, &r);
}

struct error *control_unplant(struct control *c, const struct tracer_break *list, size_t n)
{
	struct tracer_request r = { .kind = TRACER_UNBREAK, .breaks = { list, n } };

	TRY(control_need_program(c));
	return c->hw_breakpoints_only ? plant_hardware(c, false, list, n) : control_request(c, &r);
}

struct error *control_matches(struct control *c, pid_t tid, const struct tracer_filter *filters,
                              size_t n, bool *ret)
{
	struct tracer_request r = { .kind = TRACER_MATCH,
		                    .match = { .tid = tid, .filters = filters, .n = n } };

	TRY(control_need_program(c));
	TRY(control_request(c, &r));
	*ret = r.match.matches;
	return NULL;
}

struct error *control_watch(struct control *c, uint64_t addr, unsigned len, bool reads, bool on)
{
	struct tracer_request r = { .kind = on ? TRACER_WATCH : TRACER_UNWATCH,
		                    .watch = { .addr = addr,
		                               .len = len,
		                               .kind = reads ? TRACER_ACCESSED : TRACER_WRITTEN } };

	TRY(control_need_program(c));
	return control_request(c, &r);
}

struct error *control_registers(struct control *c, pid_t tid, struct arena *a, struct regs *ret)
{
	struct tracer_request r = { .kind = TRACER_REGISTERS,
		                    .registers = { .tid = tid, .arena = a } };

	TRY(control_need_program(c));
	TRY(control_request(c, &r));
	*ret = r.registers.regs;
	return NULL;
}

struct error *control_passes(struct control *c, uint64_t addr, uint64_t *n, uint64_t *ns)
{
	struct tracer_request r = { .kind = TRACER_PASSES, .passes = { .addr = addr } };

	TRY(control_need_program(c));
	TRY(control_request(c, &r));
	*n = r.passes.n;
	*ns = r.passes.ns;
	return NULL;
}

struct error *control_read(struct control *c, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	TRY(control_need_program(c));
	ssize_t n = read_guard_vectors(c->pid, &local, 1, &remote, 1);
	/* The main thread has ended before the others. */
	if (n < 0 && errno == ESRCH)
		n = read_guard_vectors(proc_living_thread(c->pid), &local, 1, &remote, 1);
	if (n != (ssize_t)len)
		return error_fault(addr);
	tracer_hide_breakpoints(c->tracer, addr, buf, len);
	return NULL;
}

const struct control_signals *control_signals(struct control *c)
{
	if (!c->signals.is_set)
		c->signals = (struct control_signals){ .stop = stop_signals,
			                               .drop = drop_signals,
			                               .print = stop_signals,
			                               .is_set = true };
	return &c->signals;
}

/*
 * A program that has the terminal is halted by all that would stop it until SIGCONT, for the same
 * reason as by ^Z: see drop_signals.
 */
static struct error *take_control(struct control *c)
{
	const struct control_signals *signals = control_signals(c);
	uint64_t jobs = c->terminal.lent ? BIT(SIGSTOP) | BIT(SIGTTIN) | BIT(SIGTTOU) : 0;
	struct tracer_request r = { .kind = TRACER_CONTROL,
		                    .control = { signals->stop | jobs, signals->drop | jobs } };

	return control_request(c, &r);
}

struct error *control_set_signals(struct control *c, const struct control_signals *signals)
{
	c->signals = *signals;
	c->signals.is_set = true;
	return c->pid ? take_control(c) : NULL;
}

struct error *control_replace_signal(struct control *c, int signal)
{
	struct tracer_request r = { .kind = TRACER_SIGNAL, .signal = { c->stop.tid, signal } };

	TRY(control_need_program(c));
	return control_request(c, &r);
}

static struct error *always_stop(void *arg, const struct internal_hit *hit, bool *stop)
{
	(void)arg, (void)hit;
	*stop = true;
	return NULL;
}

/* Runs to the address where the dynamic linker enters the program. */
static struct error *run_to_entry(struct control *c)
{
	SCRATCH(tmp);
	struct internal_breakpoint *internal;
	size_t len;
	const char *auxv = proc_read(&tmp, c->pid, "auxv", &len);
	uint64_t entry = auxv ? elf_auxv_find(auxv, len, AT_ENTRY) : 0;

	if (!entry)
		return error_new(ERR_STATE, "process %d: it is unknown where it begins",
		                 (int)c->pid);
	TRY(internal_breakpoint_add(c,
	                            &(struct internal_breakpoint_options){ .addr = entry,
	                                                                   .kind = INTERNAL_START,
	                                                                   .decide = always_stop },
	                            &internal));
	struct error *err = control_continue(c);
	struct error *end CLEANUP(error_freep) = internal_breakpoint_remove(c, internal);

	if (!err) {
		err = end;
		end = NULL;
	}
	return err;
}

/* Whether the user has typed the interrupt, for us or for a program that has the terminal. */
static bool is_interrupt(const struct control_stop *stop)
{
	return stop->reason == CONTROL_INTERRUPTED ||
	       (stop->reason == CONTROL_SIGNAL &&
	        (stop->signal == SIGINT || stop->signal == SIGTSTP));
}

static struct error *control_begin(struct control *c)
{
	bool found;

	/* The event of execve(). */
	TRY(control_take_stop(c, 0, &found));
	TRY(take_control(c));
	TRY(control_request_plain(c, TRACER_HALT));
	TRY(run_to_entry(c));
	if (c->pid && is_interrupt(&c->stop))
		return error_new(ERR_INTERRUPTED,
		                 "interrupted: the program was killed before its own code began");
	if (c->pid && c->stop.reason == CONTROL_BREAKPOINT)
		c->stop.reason = CONTROL_STARTED;
	return NULL;
}

struct error *control_enter(struct control *c)
{
	TRY(control_need_program(c));
	TRY(run_to_entry(c));
	if (c->pid && c->stop.reason == CONTROL_BREAKPOINT)
		c->stop.reason = CONTROL_EXEC;
	return NULL;
}

struct error *control_run(struct control *c, const struct control_program *program)
{
	const struct tracer_launch how = {
		.cwd = program->cwd,
		.env = program->env,
		.output = program->output,
		.errors = program->errors,
		.fixed = !program->random,
		.own_group = isatty(STDIN_FILENO) && !program->no_input,
		.no_input = program->no_input,
		.keep = program->keep,
	};
	struct tracer_request r = { .kind = TRACER_LAUNCH,
		                    .launch = { .path = program->argv[0],
		                                .argv = (char *const *)(uintptr_t)program->argv,
		                                .how = &how } };

	if (c->pid)
		return error_new(ERR_STATE, "process %d is already being debugged", (int)c->pid);
	TRY(control_request(c, &r));
	c->pid = r.launch.pid;
	c->launched = !program->keep;
	c->terminal = (struct terminal){ .lent = how.own_group };
	struct error *err = control_begin(c);
	if (err && c->pid)
		error_free(control_kill(c));
	return err;
}

struct error *control_attach(struct control *c, pid_t pid)
{
	struct tracer_request r = { .kind = TRACER_ATTACH, .attach = { pid } };

	if (c->pid)
		return error_new(ERR_STATE, "process %d is already being debugged", (int)c->pid);
	TRY(control_request(c, &r));
	c->pid = pid;
	c->launched = false;
	c->terminal = (struct terminal){ 0 };
	struct error *err = take_control(c);
	if (!err)
		err = control_request_plain(c, TRACER_HALT);
	c->stop =
		(struct control_stop){ .reason = CONTROL_ATTACHED, .tid = proc_living_thread(pid) };
	if (err)
		error_free(control_detach(c));
	return err;
}

/* ---- the end ---- */

/*
 * Clears an interrupt while the program is let go or ended, which is not to be interrupted. Whether
 * there was one.
 */
static bool control_hold_interrupt(void)
{
	if (!interrupt_is_requested() || interrupt_is_end())
		return false;
	interrupt_clear();
	return true;
}

static void return_interrupt(bool held)
{
	if (held)
		interrupt_request();
}

struct error *control_detach(struct control *c)
{
	TRY(control_need_program(c));
	bool held = control_hold_interrupt();
	struct error *err = control_request_plain(c, TRACER_DETACH);

	return_interrupt(held);
	TRY(err);
	forget_program(c);
	c->stop = (struct control_stop){ .reason = CONTROL_GONE };
	return NULL;
}

static struct error *control_take_end(struct control *c, bool *held)
{
	struct error *err = NULL;
	bool found = true;

	while (c->pid && found && !err) {
		err = control_take_stop(c, UINT64_MAX, &found);
		if (!err || err->kind != ERR_INTERRUPTED || !control_hold_interrupt())
			continue;
		*held = true;
		error_free(err);
		err = NULL;
		found = true;
	}
	return err;
}

struct error *control_kill(struct control *c)
{
	TRY(control_need_program(c));
	bool held = control_hold_interrupt();
	struct error *err = control_request_plain(c, TRACER_KILL);

	if (!err)
		err = control_take_end(c, &held);
	return_interrupt(held);
	return err;
}

void control_close(struct control *c)
{
	tracer_free(c->tracer);
	internal_breakpoint_free_all(c);
	*c = (struct control){ .stop = { .reason = CONTROL_GONE } };
}

struct error *control_write(struct control *c, uint64_t addr, const void *bytes, size_t len)
{
	struct tracer_request request = { .kind = TRACER_WRITE_MEMORY,
		                          .write = { .addr = addr, .bytes = bytes, .len = len } };

	if (!c->pid)
		return error_new(ERR_STATE, "only a debugged program can be written to: \"attach\" "
		                            "attaches to a process");
	return tracer_request(c->tracer, &request);
}
