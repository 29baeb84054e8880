#include "runtimes/thread/blocked.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/variables.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/future/pool.h"

/* Paths from a lock of std to its futex word. */
#define MUTEX_WORD  "inner.futex"
#define READER_WORD "inner.state"
#define WRITER_WORD "inner.writer_notify"

/*
 * Functions that block, by prefixes of their path and of their own name. Any of them may be
 * inlined. If a stack has several, the outermost is the most informative: a channel's recv calls
 * thread::park.
 */
static const struct blocked_call {
	const char *within, *name;
	const char *kind;
	const char *text;
	const char *word; /* for locks of std: path to the futex word that it waits on */
	const char *self; /* type of the self argument whose address identifies the object */
} calls[] = {
	/* paths of std since 1.85, then of earlier versions */
	{ "std::sync::poison::mutex::", "lock", "std_mutex", "std Mutex lock", MUTEX_WORD, NULL },
	{ "std::sync::mutex::", "lock", "std_mutex", "std Mutex lock", MUTEX_WORD, NULL },
	{ "std::sync::nonpoison::mutex::", "lock", "std_mutex", "std Mutex lock", MUTEX_WORD,
	  NULL },
	{ "std::sys::", "lock_contended", "std_mutex", "std Mutex lock", NULL, NULL },
	{ "std::sync::poison::rwlock::", "read", "std_rwlock", "std RwLock read", READER_WORD,
	  NULL },
	{ "std::sync::rwlock::", "read", "std_rwlock", "std RwLock read", READER_WORD, NULL },
	{ "std::sync::nonpoison::rwlock::", "read", "std_rwlock", "std RwLock read", READER_WORD,
	  NULL },
	{ "std::sys::", "read_contended", "std_rwlock", "std RwLock read", NULL, NULL },
	{ "std::sync::poison::rwlock::", "write", "std_rwlock", "std RwLock write", WRITER_WORD,
	  NULL },
	{ "std::sync::rwlock::", "write", "std_rwlock", "std RwLock write", WRITER_WORD, NULL },
	{ "std::sync::nonpoison::rwlock::", "write", "std_rwlock", "std RwLock write", WRITER_WORD,
	  NULL },
	{ "std::sys::", "write_contended", "std_rwlock", "std RwLock write", NULL, NULL },
	{ "std::sync::poison::condvar::", "wait", "std_condvar", "std Condvar wait", MUTEX_WORD,
	  NULL },
	{ "std::sync::condvar::", "wait", "std_condvar", "std Condvar wait", MUTEX_WORD, NULL },
	{ "std::sync::nonpoison::condvar::", "wait", "std_condvar", "std Condvar wait", MUTEX_WORD,
	  NULL },
	{ "std::sync::barrier::", "wait", "std_barrier", "std Barrier wait", NULL,
	  "std::sync::barrier::Barrier" },
	{ "std::sync::poison::once::", "call", "std_once", "std Once, run by another thread", NULL,
	  NULL },
	{ "std::sync::once::", "call", "std_once", "std Once, run by another thread", NULL, NULL },
	{ "std::thread::", "park", "std_thread_park", "std::thread::park", NULL, NULL },
	{ "std::thread::", "join", "std_join", "std JoinHandle join", NULL, NULL },
	{ "std::thread::scoped::", "scope", "std_join", "end of a std::thread::scope", NULL, NULL },
	{ "std::sync::mpmc::list::", "recv", "std_channel", "std channel receive", NULL,
	  "std::sync::mpmc::list::Channel" },
	{ "std::sync::mpmc::array::", "recv", "std_channel", "std channel receive", NULL,
	  "std::sync::mpmc::array::Channel" },
	{ "std::sync::mpmc::zero::", "recv", "std_channel", "std channel receive", NULL,
	  "std::sync::mpmc::zero::Channel" },
	{ "std::sync::mpmc::array::", "send", "std_channel", "std channel send", NULL,
	  "std::sync::mpmc::array::Channel" },
	{ "std::sync::mpmc::zero::", "send", "std_channel", "std channel send", NULL,
	  "std::sync::mpmc::zero::Channel" },
	{ "std::sync::mpmc::", "recv", "std_channel", "std channel receive", NULL, NULL },
	{ "std::sync::mpsc::", "recv", "std_channel", "std channel receive", NULL, NULL },
	{ "std::sync::mpmc::", "send", "std_channel", "std channel send", NULL, NULL },
	{ "std::sync::mpsc::", "send", "std_channel", "std channel send", NULL, NULL },
	{ "crossbeam_channel::flavors::list::", "recv", "std_channel", "crossbeam channel receive",
	  NULL, "crossbeam_channel::flavors::list::Channel" },
	{ "crossbeam_channel::flavors::array::", "recv", "std_channel", "crossbeam channel receive",
	  NULL, "crossbeam_channel::flavors::array::Channel" },
	{ "crossbeam_channel::flavors::zero::", "recv", "std_channel", "crossbeam channel receive",
	  NULL, "crossbeam_channel::flavors::zero::Channel" },
	{ "crossbeam_channel::flavors::array::", "send", "std_channel", "crossbeam channel send",
	  NULL, "crossbeam_channel::flavors::array::Channel" },
	{ "crossbeam_channel::flavors::zero::", "send", "std_channel", "crossbeam channel send",
	  NULL, "crossbeam_channel::flavors::zero::Channel" },
	{ "crossbeam_channel::", "recv", "std_channel", "crossbeam channel receive", NULL, NULL },
	{ "crossbeam_channel::", "send", "std_channel", "crossbeam channel send", NULL, NULL },
	{ "crossbeam_channel::select::", "", "std_channel", "crossbeam channel select", NULL,
	  NULL },
	{ "parking_lot::raw_mutex::", "lock", "parking_lot", "parking_lot Mutex lock", NULL,
	  "parking_lot::raw_mutex::RawMutex" },
	{ "lock_api::mutex::", "lock", "parking_lot", "parking_lot Mutex lock", NULL,
	  "lock_api::mutex::Mutex" },
	{ "parking_lot::raw_rwlock::", "lock_shared", "parking_lot", "parking_lot RwLock read",
	  NULL, "parking_lot::raw_rwlock::RawRwLock" },
	{ "lock_api::rwlock::", "read", "parking_lot", "parking_lot RwLock read", NULL,
	  "lock_api::rwlock::RwLock" },
	{ "parking_lot::raw_rwlock::", "lock_exclusive", "parking_lot", "parking_lot RwLock write",
	  NULL, "parking_lot::raw_rwlock::RawRwLock" },
	{ "lock_api::rwlock::", "write", "parking_lot", "parking_lot RwLock write", NULL,
	  "lock_api::rwlock::RwLock" },
	{ "parking_lot::raw_rwlock::", "upgrade", "parking_lot", "parking_lot RwLock upgrade", NULL,
	  "parking_lot::raw_rwlock::RawRwLock" },
	{ "parking_lot::condvar::", "wait", "parking_lot", "parking_lot Condvar wait", NULL,
	  "parking_lot::condvar::Condvar" },
};
enum { NCALLS = sizeof(calls) / sizeof(calls[0]), MAX_WAIT_DETAILS = 12 };

/* Crates whose functions may be between the blocking call and the program's own function. */
static const char *const libraries[] = {
	"std::",
	"core::",
	"alloc::",
	"parking_lot::",
	"lock_api::",
	"parking_lot_core::",
	"crossbeam_channel::",
	"crossbeam_utils::",
};

/* A name without a path is a function of libc. */
static bool blocked_is_library(const char *name)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		if (str_begins(name, libraries[i]))
			return true;
	}
	return !strstr(name, "::") && name[0] != '<';
}

/* The last part of a path that is not a closure: "recv" of "a::recv<T>::{closure#1}". */
static const char *own_name(struct arena *tmp, const char *name)
{
	const char *path = name_without_generics(tmp, name), *own = qualified_last(path);

	for (int hop = 0; str_begins(own, "{closure") && own - path > 2 && hop < 8; hop++) {
		path = arena_strndup(tmp, path, (size_t)(own - path) - 2);
		own = qualified_last(path);
	}
	return own;
}

static const struct blocked_call *find_call(struct arena *tmp, const char *name)
{
	for (size_t i = 0; i < NCALLS; i++) {
		if (str_begins(name, calls[i].within) &&
		    str_begins(own_name(tmp, name), calls[i].name))
			return &calls[i];
	}
	return NULL;
}

/* Whether it is a condition variable's wait, during which the lock passed to it is released. */
static bool blocked_releases_lock(const struct blocked_call *call)
{
	return strstr(call->within, "::condvar::") != NULL;
}

/* The blocking call found in the frames inward of the frame that polls. */
struct blocked {
	const struct blocked_call *call; /* NULL none */
	const struct location *waits;    /* its function */
	size_t first, last; /* range of physical frames of library functions, inclusive */
};

/* Whether (frame, level) is the mark or outward of it. */
static bool blocked_beyond(const struct mark *m, size_t frame, size_t level)
{
	return frame > m->frame || (frame == m->frame && level >= m->level);
}

static void read_calls(struct collector *c, const struct thread_stack *s, const struct mark *m,
                       struct blocked *ret)
{
	for (size_t i = 0; i <= m->frame; i++) {
		for (size_t j = 0; j < s->nfunctions[i] && !blocked_beyond(m, i, j); j++) {
			const struct location *l = &s->functions[i][j];
			const struct blocked_call *call;

			if (!l->name)
				continue;
			if (!blocked_is_library(l->name))
				return;
			ret->last = i;
			call = find_call(&c->scratch, l->name);
			/* A row that gives no address does not replace an inner one with a self. */
			if (call && (!ret->call || call->word || call->self || !ret->call->self)) {
				ret->call = call;
				ret->waits = l;
			}
		}
	}
}

/* The frame in which the thread polls a task or root, or runs a job; NULL: it does neither. */
static const struct mark *working(struct collector *c, const struct thread_info *info,
                                  const struct thread_stack *s, const struct marks *marks)
{
	const struct mark *m = marks->n ? &marks->data[marks->n - 1] : NULL;

	if (!m)
		return NULL;
	if (m->kind == MARK_BLOCK_ON)
		return stack_is_polling(s, marks, marks->n - 1) ? m : NULL;
	if (m->kind != MARK_TASK_POLL)
		return NULL;
	const char *name = stack_mark_future_name(&c->scratch, m);
	/* A worker is itself a job of the blocking pool. */
	if (name ? m->of->threads.worker_job && strstr(name, m->of->threads.worker_job)
	         : info->task == NULL)
		return NULL;
	/*
	 * This mark may be the runtime's own loop, which is parked, if there are no usable names.
	 */
	return info->role == THREAD_WORKER && !info->task && stack_is_parked(s, m) ? NULL : m;
}

/* ---- which lock ---- */

/* The type of the lock whose method l is, from the method's path. */
static const struct type *lock_type(struct collector *c, const struct location *l)
{
	const char *own = qualified_last(l->name);

	if (!l->function || own - l->name < 3)
		return NULL;
	const char *self = arena_strndup(&c->in->arena, l->name, (size_t)(own - l->name) - 2);
	return lookup_type(l->function->dm, self, l->function->die);
}

/* Offset of the member at a path that follows no pointer. */
static bool blocked_offset_in(struct collector *c, const struct type *t, const char *expr,
                              uint64_t *ret)
{
	const struct path *p = t ? inspector_optional_path(c->in, t, expr) : NULL;

	return p && path_offset(p, ret);
}

/* The address of the lock around a futex word. */
static uint64_t lock_of_word(struct collector *c, const struct blocked_call *call,
                             const struct type *t, uint64_t word)
{
	uint64_t offset = 0;

	return blocked_offset_in(c, t, call->word, &offset) && offset < word ? word - offset : 0;
}

/* The address of the lock's state word, which its guards lead to. 0 unknown. */
static uint64_t primitive_of_word(struct collector *c, const struct blocked_call *call,
                                  const struct type *t, uint64_t lock, uint64_t word)
{
	static const char state_path[] = READER_WORD;
	uint64_t offset;

	if (strcmp(call->kind, "std_mutex") == 0 ||
	    (strcmp(call->kind, "std_rwlock") == 0 && strcmp(call->word, READER_WORD) == 0))
		return word;
	if (strcmp(call->kind, "std_rwlock") != 0 || !lock)
		return 0;
	return blocked_offset_in(c, t, state_path, &offset) ? lock + offset : 0;
}

struct self_search {
	struct target *target;
	const char *type;
	const struct type *found; /* type of the value at addr */
	uint64_t addr;
	bool several;
};

static void note_self(const struct variable *v, void *arg)
{
	struct self_search *search = arg;
	const struct type *t = type_kind(v->type) == TYPE_POINTER ? type_target(v->type) : NULL;
	uint64_t addr = v->value;

	if (!t || !v->name || strcmp(v->name, "self") != 0 || !type_is(t, search->type))
		return;
	struct error *err =
		v->in_memory ? target_read_uint(search->target, v->addr, 8, &addr) : NULL;
	if (!err && addr) {
		search->several |= search->addr && search->addr != addr;
		search->addr = addr;
		search->found = t;
	}
	error_free(err);
}

/*
 * The address of self in the blocking frames; 0 if the debug info has no unique location. *state:
 * for a lock of parking_lot, the address of its state word.
 */
static uint64_t self_of_call(struct collector *c, const struct thread_stack *s,
                             const struct blocked *b, uint64_t *state)
{
	static const char state_path[] = "raw.state | state";
	uint64_t offset;

	struct self_search search = { .target = c->in->target, .type = b->call->self };

	for (size_t i = b->first; i <= b->last && i < s->stack.nframes; i++) {
		uint64_t cfa = i + 1 < s->stack.nframes ? s->stack.frames[i + 1].sp : 0;

		variables_in_frame(c->in->di, &s->stack.frames[i], cfa, note_self, &search);
	}
	if (search.several || !search.addr)
		return 0;
	if (strcmp(b->call->kind, "parking_lot") == 0 && !blocked_releases_lock(b->call) &&
	    blocked_offset_in(c, search.found, state_path, &offset))
		*state = search.addr + offset;
	return search.addr;
}

/* ---- the wait ---- */

static struct wait_detail *blocked_add_detail(struct collector *c, struct wait *w, const char *key,
                                              enum detail_kind kind)
{
	if (!w->details)
		w->details = NEW_ARRAY(c->a, struct wait_detail, MAX_WAIT_DETAILS + 1);
	struct wait_detail *d = &w->details[w->ndetails];
	if (w->ndetails < MAX_WAIT_DETAILS)
		w->ndetails++;
	*d = (struct wait_detail){ .key = key, .kind = kind };
	return d;
}

/*
 * The call that was restarted, by a function of that name. std's sleep::nanosleep() and glibc's
 * nanosleep() call clock_nanosleep(2), musl's clock_nanosleep() calls nanosleep(2): the first
 * argument decides, a clock or an address. No address is as low as the number of a clock.
 */
static const struct syscall *restarted_syscall(const struct thread_stack *s,
                                               const struct arch *arch, const char *name)
{
	enum { LOWEST_ADDRESS = 4096 };
	static const char sleep[] = "nanosleep";

	if (strcmp(name, sleep) == 0 && s->thread->regs.syscall_args[0] < LOWEST_ADDRESS)
		name = "clock_nanosleep";
	return arch_syscall_named(arch, name);
}

/*
 * The system call that a thread is in; NULL if it is not known. After an earlier stop interrupted a
 * call with a timeout, the kernel continues it as restart_syscall(2) with the same arguments. Then
 * the names of the surrounding functions show which call it was.
 */
static const struct syscall *find_syscall(struct collector *c, const struct thread_stack *s)
{
	static const char *const restarted[] = { "nanosleep", "futex", "poll" };
	const struct arch *arch = c->in->target->arch;
	const struct syscall *call = arch_syscall(arch, s->thread->regs.syscall);

	if (!call || strcmp(call->name, "restart_syscall") != 0)
		return call;
	for (size_t i = 0; i < s->stack.nframes; i++) {
		size_t n = s->nfunctions[i];
		const struct location *l = s->functions[i];

		/* Functions of the C library have no names there. */
		if (!n || !l[0].name)
			l = lookup_functions_at(c->in->di, s->stack.frames[i].lookup_pc,
			                        &c->scratch, &n);

		for (size_t j = 0; j < n; j++) {
			const char *name = l[j].name;

			if (!name || !blocked_is_library(name))
				return call;
			for (size_t k = 0; k < sizeof(restarted) / sizeof(restarted[0]); k++) {
				if (strstr(qualified_last(name), restarted[k]))
					return restarted_syscall(s, arch, restarted[k]);
			}
		}
	}
	return call;
}

/* The thread that a pthread_join waits for: glibc waits on the futex word that contains its tid,
 * which the kernel clears when the thread exits (set_tid_address(2)). */
static const struct thread *joined_thread(struct collector *c, uint64_t word)
{
	uint64_t tid;
	struct error *err = target_read_uint(c->in->target, word, 4, &tid);

	error_free(err);
	return err || tid == 0 || tid > INT32_MAX ? NULL
	                                          : target_thread_by_tid(c->in->target, (pid_t)tid);
}

/* ---- pools ---- */

/* The search for the pool in whose function a thread waits at a primitive. */
struct blocked_pool_search {
	struct leaf *l;
	uint64_t primitive;
	struct pool pool;
	bool found;
};

/* Is it a variable `self` of a function of that pool's, and the primitive its own? */
static struct error *try_handle(struct blocked_pool_search *search, const struct pool_row *row,
                                const struct variable *v)
{
	struct target *t = search->l->d->c->in->target;
	struct value handle = { type_target(v->type), v->value }, object;
	uint64_t addr = 0;
	bool found;

	if (v->in_memory)
		TRY(target_read_uint(t, v->addr, 8, &handle.addr));
	TRY(leaf_strip_to(search->l, handle, row->type, &object, &found));
	if (found)
		TRY(pool_primitive(search->l, row, object, &addr, &found));
	if (found && addr == search->primitive) {
		search->pool = (struct pool){ .row = row, .object = object };
		search->found = true;
	}
	return NULL;
}

static void blocked_note_handle(const struct variable *v, void *arg)
{
	struct blocked_pool_search *search = arg;
	const struct type *t = type_kind(v->type) == TYPE_POINTER ? type_target(v->type) : NULL;

	if (!t || !v->name || strcmp(v->name, "self") != 0 || search->found)
		return;
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		for (const struct pool_row *row = (*crate)->pools; row && row->type; row++) {
			if (row->handle && type_is(t, row->handle))
				error_free(try_handle(search, row, v));
		}
	}
}

/* Describes the wait at the condition variable of a pool, if it is one. */
static void blocked_describe_pool(struct collector *c, struct wait *w, const struct thread_stack *s,
                                  const struct blocked *b, const struct mark *m)
{
	struct decoder d = { .c = c };
	struct leaf l = { .d = &d, .w = w };
	struct blocked_pool_search search = { .l = &l, .primitive = w->object };

	for (size_t i = b->first; i <= m->frame && i < s->stack.nframes && !search.found; i++) {
		uint64_t cfa = i + 1 < s->stack.nframes ? s->stack.frames[i + 1].sp : 0;

		variables_in_frame(c->in->di, &s->stack.frames[i], cfa, blocked_note_handle,
		                   &search);
	}
	if (!search.found)
		return;
	w->primitive = w->object;
	error_free(pool_describe(&l, &search.pool, ""));
}

static void describe_call(struct collector *c, struct wait *w, const struct thread_stack *s,
                          const struct blocked *b)
{
	const struct syscall *call = find_syscall(c, s);
	uint64_t word = call && call->takes_futex ? s->thread->regs.syscall_args[0] : 0;

	w->kind = b->call->kind;
	w->phrase = b->call->text;
	if (b->call->word && word) {
		const struct type *t = lock_type(c, b->waits);

		w->object = lock_of_word(c, b->call, t, word);
		w->primitive = primitive_of_word(c, b->call, t, w->object, word);
	} else if (b->call->self) {
		w->object = self_of_call(c, s, b, &w->primitive);
	}
	if (w->object)
		w->phrase = arena_printf(c->a, "%s at 0x%" PRIx64, w->phrase, w->object);
	if (word && strcmp(w->kind, "std_join") == 0) {
		const struct thread *th = joined_thread(c, word);

		if (th && th != s->thread) {
			blocked_add_detail(c, w, "thread", DETAIL_INT)->number = th->number;
			w->phrase = arena_printf(c->a, "%s of thread #%u", w->phrase, th->number);
		}
	}
}

static void describe_syscall(struct collector *c, struct wait *w, const struct thread_stack *s)
{
	const struct regs *regs = &s->thread->regs;
	const struct syscall *call = find_syscall(c, s);

	w->kind = "syscall";
	if (!call) {
		w->phrase = arena_printf(c->a, "system call %" PRIu64, regs->syscall);
	} else if (call->takes_fd) {
		w->phrase = arena_printf(c->a, "system call %s(fd %d)", call->name,
		                         (int)regs->syscall_args[0]);
		blocked_add_detail(c, w, "fd", DETAIL_INT)->number = (int)regs->syscall_args[0];
	} else {
		w->phrase = arena_printf(c->a, "system call %s", call->name);
	}
	blocked_add_detail(c, w, "syscall_number", DETAIL_INT)->number = (int64_t)regs->syscall;
	if (call)
		blocked_add_detail(c, w, "syscall", DETAIL_STRING)->string = call->name;
}

/* Signals whose default action dumps core, without SIGTRAP, which debuggers use. */
static bool is_deadly(int signal)
{
	static const int deadly[] = { SIGABRT, SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
		                      SIGSYS,  SIGQUIT, SIGXCPU, SIGXFSZ };

	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		if (signal == deadly[i])
			return true;
	}
	return false;
}

/* Whether the stack has a function whose path begins with head. libc functions have no names here.
 */
static bool blocked_has_function(const struct thread_stack *s, const char *head)
{
	for (size_t i = 0; i < s->stack.nframes; i++) {
		for (size_t j = 0; j < s->nfunctions[i]; j++) {
			const char *found = s->functions[i][j].name;

			if (found && str_begins(found, head))
				return true;
		}
	}
	return false;
}

/* The fatal signal, on a core, if this thread received it, else NULL. */
static struct wait *find_death(struct collector *c, const struct thread_stack *s)
{
	const struct target_signal *signal = &c->in->target->signal;

	if (signal->tid == 0 || signal->tid != s->thread->tid || !is_deadly(signal->number))
		return NULL;
	struct wait *w = NEW(c->a, struct wait);
	const char *how = "";

	if (signal->number == SIGABRT && blocked_has_function(s, "core::panicking::"))
		how = " (a panic that aborts)";
	else if (signal->number == SIGABRT && blocked_has_function(s, "std::process::abort"))
		how = " (it called abort)";
	w->kind = "signal";
	w->phrase = arena_printf(c->a, "killed by SIG%s%s", sigabbrev_np(signal->number), how);
	blocked_add_detail(c, w, "signal", DETAIL_INT)->number = signal->number;
	return w;
}

/*
 * Functions of std that make system calls one after the other. A thread in one of them is mostly
 * between two of these: `blocking` 1.6 loops in spawn() while no thread can be made (EAGAIN), and a
 * look at it mostly meets it outside a call.
 */
static const char *const calling[] = {
	"std::thread::builder::Builder::spawn",
	"std::thread::Builder::spawn",
	"std::thread::spawn",
	"std::fs::",
	"std::net::",
	"std::process::",
	"std::sys::",
};

static bool makes_calls(const char *name)
{
	for (size_t i = 0; i < sizeof(calling) / sizeof(calling[0]); i++) {
		if (str_begins(name, calling[i]))
			return true;
	}
	return false;
}

/*
 * Activity of a thread that is in no system call: only what the stack proves. One look does not
 * tell a computation from a loop of calls that fail at once.
 */
static const char *computing(struct collector *c, const struct thread_stack *s,
                             const struct mark *m)
{
	for (size_t i = m->frame + 1; i-- > 0;) {
		const struct module *at = module_at(c->in->target, s->stack.frames[i].lookup_pc);

		for (size_t j = s->nfunctions[i]; j-- > 0;) {
			const char *name = s->functions[i][j].name;

			if (!blocked_beyond(m, i, j) && name && makes_calls(name))
				return arena_printf(c->a, "%s, between system calls,",
				                    name_without_generics(c->a, name));
		}
		if (i < m->frame && at && debuginfo_is_system(at))
			return "in the C library, in no system call,";
	}
	return "running code";
}

void blocked_find(struct collector *c, struct thread_info *info, struct thread_stack *s,
                  const struct marks *marks)
{
	const struct mark *m;

	if (!s->thread->has_regs) {
		if (s->thread->run_state != 'D')
			return;
		info->wait = NEW(c->a, struct wait);
		info->wait->kind = "kernel";
		info->wait->phrase = "uninterruptible in the kernel (disk, page fault, ...)";
		return;
	}
	info->wait = find_death(c, s);
	m = info->wait ? NULL : working(c, info, s, marks);
	if (!m)
		return;
	struct blocked b = { 0 };
	struct wait *w = info->wait = NEW(c->a, struct wait);
	/* Outside a system call, a blocking function only computes: it is not blocked. */
	if (s->thread->regs.in_syscall)
		read_calls(c, s, m, &b);
	if (b.call) {
		describe_call(c, w, s, &b);
		s->in_condvar = blocked_releases_lock(b.call);
		if (w->object && s->in_condvar)
			blocked_describe_pool(c, w, s, &b, m);
	} else if (s->thread->regs.in_syscall) {
		describe_syscall(c, w, s);
	} else {
		w->kind = "compute";
		w->phrase = computing(c, s, m);
	}
}

/* ---- source location ---- */

static bool blocked_is_own(struct collector *c, const struct location *l)
{
	return l->file && l->name && l->line && !blocked_is_library(l->name) &&
	       !source_path_of(c->in->di, &c->scratch, l->file, l->comp_dir).library;
}

/* The nearest function of the program's own code, and its frame number, inlined frames included. */
static bool blocked_find_own(struct collector *c, const struct thread_stack *s,
                             const struct mark *m, struct location *ret, unsigned *number)
{
	unsigned n = 0;

	for (size_t i = 0; i <= m->frame; i++) {
		size_t count;
		struct location *l = lookup_locations(c->in->di, s->stack.frames[i].lookup_pc,
		                                      &c->scratch, &count);

		for (size_t j = 0; j < count && !blocked_beyond(m, i, j); j++, n++) {
			if (!blocked_is_own(c, &l[j]))
				continue;
			*ret = l[j];
			*number = n;
			return true;
		}
		if (i == m->frame)
			return false;
	}
	return false;
}

void blocked_finish(struct collector *c, struct thread_info *info, const struct thread_stack *s,
                    const struct marks *marks)
{
	const struct mark *m = info->wait ? working(c, info, s, marks) : NULL;
	struct wait *w = info->wait;
	struct location l;
	unsigned number;

	if (!m || !blocked_find_own(c, s, m, &l, &number))
		return;
	const char *function = coroutine_function_name(c->a, &l);
	const char *file = source_path_of(c->in->di, c->a, l.file, l.comp_dir).text;

	blocked_add_detail(c, w, "frame", DETAIL_INT)->number = number;
	blocked_add_detail(c, w, "function", DETAIL_STRING)->string = function;
	blocked_add_detail(c, w, "file", DETAIL_STRING)->string =
		inspector_clean_name(c->a, l.file);
	blocked_add_detail(c, w, "line", DETAIL_INT)->number = l.line;
	w->phrase = arena_printf(c->a, "%s%s frame #%u %s at %s:%u", w->phrase,
	                         wait_is_running(w) ? " in" : ", since", number, function, file,
	                         l.line);
}
