/*
 * Leaf futures: what a task waits for in the end. To add one, write a decode function that fills
 * the wait from paths into the type, and a row for it.
 */
#include <inttypes.h>
#include <string.h>

#include "dwarf/path.h"
#include "runtimes/future.h"
#include "runtimes/tokio.h"

typedef struct error *leaf_fn(struct decoder *d, struct value v, struct wait *w);

enum { MAX_DETAILS = 8 };

static struct wait_detail *add_detail(struct decoder *d, struct wait *w, const char *key)
{
	if (!w->details)
		w->details = NEW_ARRAY(d->c->a, struct wait_detail, MAX_DETAILS);
	struct wait_detail *detail = &w->details[w->ndetails++];
	detail->key = key;
	return detail;
}

static void add_int(struct decoder *d, struct wait *w, const char *key, int64_t number)
{
	struct wait_detail *detail = add_detail(d, w, key);

	detail->kind = DETAIL_INT;
	detail->number = number;
}

static void add_string(struct decoder *d, struct wait *w, const char *key, const char *s)
{
	struct wait_detail *detail = add_detail(d, w, key);

	detail->kind = DETAIL_STRING;
	detail->string = s;
}

/* An unsigned number at a path from v. */
static struct error *number_at(struct decoder *d, struct value v, const char *expr, uint64_t *ret)
{
	const struct path *p;
	bool found;

	TRY(inspector_path(d->c->in, v.type, expr, &p));
	TRY(path_uint(d->c->in->target, p, v, ret, &found));
	return found ? NULL
	             : error_new(ERR_CORRUPT, "%s: '%s' is not set", type_name(v.type), expr);
}

/* The row that says where a Sleep keeps its deadline, from the copy of tokio it belongs to. */
static const char *deadline_path(struct decoder *d)
{
	for (const struct tokio *k = d->c->in->tokio; k; k = k->next) {
		if (layout_has(&k->layout, TOKIO_SLEEP_DEADLINE))
			return k->layout.rows[TOKIO_SLEEP_DEADLINE].path;
	}
	return "deadline";
}

static const char *seconds_text(struct decoder *d, uint64_t ns)
{
	if (ns < UINT64_C(10000000000))
		return arena_printf(d->c->a, "%" PRIu64 ".%" PRIu64 " seconds", ns / 1000000000,
		                    ns / 100000000 % 10);
	return arena_printf(d->c->a, "%" PRIu64 " seconds", ns / 1000000000);
}

static struct error *decode_sleep(struct decoder *d, struct value v, struct wait *w)
{
	struct collector *c = d->c;
	const struct path *p;
	struct value deadline;
	uint64_t due;
	bool found;

	TRY(inspector_path(c->in, v.type, deadline_path(d), &p));
	TRY(path_eval(c->in->target, p, v, &deadline, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the sleep has no deadline");
	TRY(tokio_read_instant(c->in, deadline, &due));
	add_int(d, w, "deadline_ns", (int64_t)due);
	if (c->clock_paused) {
		w->phrase =
			"sleep future of a runtime whose clock may be paused (tokio::time::pause)";
		return NULL;
	}
	if (!c->now_known) {
		w->phrase = "sleep future, deadline known but not the time of the core";
		return NULL;
	}
	int64_t left = (int64_t)(due - c->now_ns);
	add_int(d, w, "remaining_ms", left / 1000000);
	add_string(d, w, "now", c->now_is_bound ? "lower bound" : "exact");
	const char *bound = c->now_is_bound ? " [by the last tick of the timers in the core]" : "";
	if (left < 0)
		w->phrase = arena_printf(c->a, "sleep future, sleeping already happened %s ago%s",
		                         seconds_text(d, (uint64_t)-left), bound);
	else
		w->phrase = arena_printf(c->a, "sleep future, sleeping %s%s%s",
		                         c->now_is_bound ? "at most " : "",
		                         seconds_text(d, (uint64_t)left), bound);
	return NULL;
}

static struct error *decode_join(struct decoder *d, struct value v, struct wait *w)
{
	static const char *const states[] = {
		[TASK_IDLE] = "idle",           [TASK_SCHEDULED] = "scheduled",
		[TASK_RUNNING] = "running",     [TASK_COMPLETE] = "complete",
		[TASK_CANCELLED] = "cancelled",
	};
	struct collector *c = d->c;
	struct error *err = NULL;
	struct tokio_header h;

	TRY(number_at(d, v, "raw", &w->object));
	for (struct tokio *k = c->in->tokio; k; k = k->next) {
		error_free(err);
		err = tokio_read_header(c->in->target, k, w->object, &h);
		if (!err)
			break;
	}
	if (err)
		return err;
	const char *state = states[tokio_task_state(h.state)];
	w->task = arena_printf(c->a, "%" PRIu64, h.id);
	/* Each copy of tokio counts its own tasks. */
	const struct task *task = map_get(&c->tasks, w->object);
	const char *whose = task && c->in->tokio->next
	                            ? arena_printf(c->a, " of runtime %u", task->runtime)
	                            : "";
	w->phrase = arena_printf(c->a, "join handle of task %s%s (%s)", w->task, whose, state);
	add_string(d, w, "task_state", state);
	return NULL;
}

static const struct {
	const char *type;
	const char *kind;
	leaf_fn *decode;
	bool proves; /* decoding it succeeds on no stray bytes: it meets an object that exists */
} table[] = {
	{ "tokio::time::sleep::Sleep", "sleep", decode_sleep, false },
	{ "tokio::runtime::task::join::JoinHandle", "join", decode_join, true },
};

bool leaf_proves_itself(const struct type *t)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (type_is(t, table[i].type))
			return table[i].proves;
	}
	return false;
}

bool leaf_is_known(const struct type *t)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (type_is(t, table[i].type))
			return true;
	}
	return false;
}

bool leaf_decode(struct decoder *d, struct value v, struct future *f)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!type_is(v.type, table[i].type))
			continue;
		struct wait *w = NEW(d->c->a, struct wait);
		struct error *err;

		w->kind = table[i].kind;
		w->object = v.addr;
		err = table[i].decode(d, v, w);
		if (err) {
			f->problem = clean_name(d->c->a, err->message);
			d->faults++;
			if (!d->strict)
				d->c->out->complete = false;
			w->phrase = arena_printf(d->c->a, "%s, not readable", w->kind);
		}
		error_free(err);
		f->wait = w;
		return true;
	}
	return false;
}
