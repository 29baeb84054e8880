#include "runtimes/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "runtimes/held.h"
#include "runtimes/leaf.h"
#include "runtimes/locals.h"
#include "runtimes/stack.h"
#include "runtimes/tokio.h"
#include "runtimes/whatis.h"

enum {
	FIRST_STACK_COPY = 64 * 1024, /* per thread, before it is known how deep they are */
	STACK_COPY = 16 * 1024,       /* beyond what the rehearsal has touched */
	MAX_ROUNDS = 3,
	NOTES_AFTERWARDS = 16 << 20, /* of debug info, once all that is needed was seen */
};

const char *clean_name(struct arena *a, const char *name)
{
	STR(text);

	if (!name)
		return NULL;
	str_append_clean(&text, name, strlen(name));
	return arena_strdup(a, str_text(&text));
}

void inspector_note(struct inspector *in, const char *text)
{
	*vec_push(&in->notes) = text;
}

/* A resolved path and what it was resolved from. */
struct known_path {
	const struct type *from;
	const char *expr;
	const struct path *path;
};

struct error *inspector_path(struct inspector *in, const struct type *from, const char *expr,
                             const struct path **ret)
{
	uint64_t key = ((uintptr_t)from * UINT64_C(0x9e3779b97f4a7c15)) ^ (uintptr_t)expr;
	struct known_path *known = map_get(&in->paths, key | 1);

	/* Two pairs may share a key; then the one asked for last is remembered. */
	if (!known || known->from != from || known->expr != expr) {
		struct known_path found = { .from = from, .expr = expr };

		TRY(path_resolve(&in->arena, from, expr, &found.path));
		known = arena_memdup(&in->arena, &found, sizeof(found));
		map_put(&in->paths, key | 1, known);
	}
	*ret = known->path;
	return NULL;
}

struct error *inspector_eval(struct inspector *in, struct value from, const char *expr,
                             struct value *ret, bool *found)
{
	const struct path *p;

	*found = false;
	TRY(inspector_path(in, from.type, expr, &p));
	return path_eval(in->target, p, from, ret, found);
}

static const char *hex(struct arena *a, const unsigned char *bytes, size_t len)
{
	STR(text);

	for (size_t i = 0; i < len; i++)
		str_printf(&text, "%02x", bytes[i]);
	return arena_strdup(a, str_text(&text));
}

static const char *tokio_versions(struct inspector *in)
{
	STR(text);

	for (const struct tokio *k = in->tokio; k; k = k->next) {
		if (k->version)
			str_printf(&text, "%s%s", text.len ? ", " : "", k->version);
	}
	return text.len ? arena_strdup(&in->arena, str_text(&text)) : NULL;
}

static void describe_target(struct inspector *in)
{
	static const enum debug_tier tiers[] = {
		[DWARF_FULL] = TIER_FULL,
		[DWARF_LINES] = TIER_LINES,
		[DWARF_SYMBOLS] = TIER_SYMBOLS,
		[DWARF_NONE] = TIER_NONE,
	};
	struct target *t = in->target;
	struct target_info *info = &in->info;
	struct dwarf_module *dm = t->main_module ? debuginfo_module(in->di, t->main_module) : NULL;

	info->kind = t->ops->kind;
	info->pid = t->pid;
	info->core = clean_name(&in->arena, t->path);
	info->command = clean_name(&in->arena, t->command);
	info->arch = t->arch ? t->arch->name : NULL;
	info->signal = t->signal.number;
	info->signal_tid = t->signal.tid;
	info->tier = TIER_NONE;
	info->tier_reason = "its executable was not found: name it with --exe";
	if (t->main_module) {
		info->exe = clean_name(&in->arena, t->main_module->path);
		if (t->main_module->build_id_len)
			info->build_id = hex(&in->arena, t->main_module->build_id,
			                     t->main_module->build_id_len);
	}
	if (dm) {
		info->tier = tiers[dm->tier];
		info->tier_reason = dm->tier_reason;
		info->rustc = debuginfo_rustc_version(dm);
		info->tokio = tokio_versions(in);
		if (!info->tokio)
			info->tokio = debuginfo_crate_version(dm, "tokio");
	}
}

struct error *inspector_open(struct target *t, struct inspector **ret)
{
	struct inspector *in = calloc(1, sizeof(*in));
	struct error *err;

	if (!in)
		out_of_memory();
	in->target = t;
	err = debuginfo_open(t, &in->di);
	if (!err)
		err = unwinder_open(t, &in->unwinder);
	if (err) {
		inspector_close(in);
		return err;
	}
	tokio_detect(in);
	describe_target(in);
	*ret = in;
	return NULL;
}

void inspector_close(struct inspector *in)
{
	if (!in)
		return;
	tokio_close(in->tokio);
	unwinder_close(in->unwinder);
	debuginfo_close(in->di);
	map_free(&in->coroutines);
	map_free(&in->futures);
	vec_free(&in->notes);
	map_free(&in->holders);
	map_free(&in->paths);
	map_free(&in->drops);
	map_free(&in->selects);
	show_free(&in->show);
	arena_free(&in->arena);
	free(in);
}

static void describe_threads(struct collector *c)
{
	struct target *t = c->in->target;
	struct snapshot *s = c->out;

	s->nthreads = t->nthreads;
	s->threads = NEW_ARRAY(c->a, struct thread_info, t->nthreads);
	for (size_t i = 0; i < t->nthreads; i++) {
		s->threads[i].number = t->threads[i].number;
		s->threads[i].tid = t->threads[i].tid;
		s->threads[i].name = clean_name(c->a, t->threads[i].name);
		s->threads[i].runtime = s->threads[i].worker = -1;
		if (!t->threads[i].has_regs)
			s->threads[i].problem = "its registers could not be read";
	}
}

static const char type_root[] = "type:";

static const char *generic_root(struct arena *a, const char *root)
{
	return arena_printf(a,
	                    "the program has no '%s' without parameters; of a generic type each "
	                    "instance is resolved when it is met",
	                    root + strlen(type_root));
}

/*
 * The paths of leaves are resolved when a leaf is met, so that nobody pays for those that are
 * not there; for the whole contract all of them are.
 */
static void describe_leaves(struct collector *c, const struct tokio *k,
                            const struct layout_row *rows, struct layout_info **at)
{
	struct layout l;
	size_t n = 0;

	while (rows[n].key)
		n++;
	layout_resolve(&c->in->arena, k->dm, NULL, rows, n, &l);
	for (size_t i = 0; i < n; i++) {
		if (!l.slots[i].root && strncmp(rows[i].root, type_root, strlen(type_root)) == 0)
			l.slots[i].tried = generic_root(&c->in->arena, rows[i].root);
	}
	layout_describe(&l, c->a, k->module, *at);
	*at += n;
}

static void describe_layout(struct collector *c)
{
	static const struct layout_row *const leaves[] = {
		leaf_core_layout, leaf_time_layout,    leaf_task_layout,   leaf_sync_layout,
		leaf_io_layout,   leaf_process_layout, leaf_stream_layout,
	};
	enum { NLEAVES = sizeof(leaves) / sizeof(leaves[0]) };
	struct snapshot *s = c->out;
	size_t nleaves = 0;

	for (size_t i = 0; i < NLEAVES; i++) {
		for (const struct layout_row *row = leaves[i]; row->key; row++)
			nleaves++;
	}
	for (const struct tokio *k = c->in->tokio; k; k = k->next)
		s->nlayout += k->layout.n + nleaves;
	s->layout = NEW_ARRAY(c->a, struct layout_info, s->nlayout);
	struct layout_info *at = s->layout;
	for (const struct tokio *k = c->in->tokio; k; k = k->next) {
		layout_describe(&k->layout, c->a, k->module, at);
		at += k->layout.n;
		for (size_t i = 0; i < NLEAVES; i++)
			describe_leaves(c, k, leaves[i], &at);
	}
}

/* Brings each thread's stack into the page cache, so that it can be unwound after the stop. */
static void copy_stacks(struct target *t, size_t len)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		if (t->threads[i].has_regs)
			target_prefetch(t, t->threads[i].regs.r[t->arch->sp], len);
	}
}

static void read_stacks(struct collector *c)
{
	struct target *t = c->in->target;

	c->stacks = NEW_ARRAY(&c->scratch, struct thread_stack, t->nthreads);
	for (size_t i = 0; i < t->nthreads; i++)
		stack_read(c, &t->threads[i], &c->stacks[i]);
}

static void note_problems(struct collector *c)
{
	struct target *t = c->in->target;
	struct snapshot *s = c->out;
	const struct target_info *info = &c->in->info;

	for (size_t i = 0; i < t->nnotes; i++)
		snapshot_note(s, "%s", t->notes[i]);
	if (info->tier != TIER_FULL)
		snapshot_incomplete(s, "%s: %s", info->exe ? info->exe : "the program",
		                    info->tier_reason);
	for (size_t i = 0; i < c->in->notes.n; i++)
		snapshot_incomplete(s, "%s", c->in->notes.data[i]);
	for (const struct tokio *k = c->in->tokio; k; k = k->next) {
		for (size_t i = 0; i < k->layout.n; i++) {
			if (k->layout.slots[i].status == ROW_BROKEN)
				snapshot_incomplete(s, "tokio's '%s' was not understood: %s",
				                    k->layout.rows[i].key,
				                    k->layout.slots[i].tried);
		}
	}
	if (s->nruntimes == 0 && c->in->tokio)
		snapshot_note(s, "no thread has entered a tokio runtime");
	else if (s->nruntimes == 0 && info->tier == TIER_FULL && c->in->notes.n == 0)
		snapshot_note(s,
		              "no tokio in this program: neither its executable nor its libraries "
		              "have tokio's thread-local context");
}

struct request {
	unsigned want;
	const struct question *question;
};

static struct collector *collector_new(struct inspector *in, const struct request *request)
{
	struct collector *c = calloc(1, sizeof(*c));

	if (!c)
		out_of_memory();
	c->in = in;
	c->want = request->want;
	c->question = request->question;
	c->out = calloc(1, sizeof(*c->out));
	if (!c->out)
		out_of_memory();
	c->a = &c->out->arena;
	c->out->complete = true;
	return c;
}

/* Frees the collector and hands over its snapshot. */
static struct snapshot *collector_finish(struct collector *c)
{
	struct snapshot *s = c->out;

	map_free(&c->tasks);
	map_free(&c->places);
	map_free(&c->wakers);
	vec_free(&c->local_sets);
	vec_free(&c->regions);
	vec_free(&c->polls);
	map_free(&c->queued_jobs);
	queues_free(c);
	arena_free(&c->scratch);
	free(c);
	return s;
}

/* All else that needs the memory of one moment; c->stacks are read. */
static void collect(struct collector *c)
{
	describe_threads(c);
	if (c->in->tokio)
		tokio_collect(c);
	else
		tokio_describe_threads_by_stack(c);
	held_settle(c->out);
	snapshot_number_frames(c->out);
	whatis_answer(c);
	question_answer(c, false);
}

static void finish(struct collector *c)
{
	tokio_finish_threads(c);
	snapshot_number_frames(c->out);
	question_answer(c, true);
	if (c->want & WANT_LAYOUT)
		describe_layout(c);
	c->out->target = c->in->info;
	note_problems(c);
}

/*
 * A first, short stop for registers and stacks, then the whole walk on the running program with
 * its answer thrown away: afterwards every type and every line the walk needs is at hand, and
 * it is known which pages of memory it looks at.
 */
static struct error *rehearse(struct inspector *in, const struct request *request,
                              uint64_t *pause_ns)
{
	struct target *t = in->target;

	TRY(target_stop(t));
	copy_stacks(t, FIRST_STACK_COPY);
	target_resume(t);
	*pause_ns += t->pause_ns;

	struct collector *c = collector_new(in, request);
	c->rehearsal = true;
	read_stacks(c);
	target_thaw(t);
	collect(c);
	finish(c);
	snapshot_free(collector_finish(c));
	return interrupt_check();
}

/*
 * Stops only to copy the pages that the last walk touched, and walks the copy. Where the program
 * has moved on meanwhile, a page may be missing: *complete is then false, and another round
 * copies that page too.
 */
static struct error *copy_and_collect(struct inspector *in, const struct request *request,
                                      uint64_t *pause_ns, struct snapshot **ret, bool *complete)
{
	struct target *t = in->target;

	TRY(target_stop(t));
	copy_stacks(t, STACK_COPY);
	target_resume(t);
	*pause_ns += t->pause_ns;

	struct collector *c = collector_new(in, request);
	read_stacks(c);
	collect(c);
	*complete = t->misses == 0;
	LOG("inspect", "%zu pages were missing after a stop of %llu us", t->misses,
	    (unsigned long long)t->pause_ns / 1000);
	if (*complete)
		finish(c);
	*ret = collector_finish(c);
	return NULL;
}

/* Whatever moves: walks while the program stands still. */
static struct error *stop_and_collect(struct inspector *in, const struct request *request,
                                      uint64_t *pause_ns, struct snapshot **ret)
{
	struct target *t = in->target;

	TRY(target_stop(t));
	struct collector *c = collector_new(in, request);
	read_stacks(c);
	collect(c);
	target_resume(t);
	*pause_ns += t->pause_ns;
	finish(c);
	*ret = collector_finish(c);
	return NULL;
}

static struct error *inspect_live(struct inspector *in, const struct request *request,
                                  struct snapshot **ret)
{
	struct snapshot *s = NULL;
	uint64_t pause_ns = 0;
	bool complete = false;

	TRY(rehearse(in, request, &pause_ns));
	debuginfo_relax(in->di, NOTES_AFTERWARDS);
	for (int round = 0; !complete && round < MAX_ROUNDS; round++) {
		snapshot_free(s);
		s = NULL;
		TRY(copy_and_collect(in, request, &pause_ns, &s, &complete));
		struct error *err = interrupt_check();
		if (err) {
			snapshot_free(s);
			return err;
		}
	}
	if (!complete) {
		snapshot_free(s);
		s = NULL;
		TRY(stop_and_collect(in, request, &pause_ns, &s));
	}
	s->pause_ns = pause_ns;
	*ret = s;
	return NULL;
}

struct error *inspect(struct inspector *in, unsigned want, const struct question *question,
                      struct snapshot **ret)
{
	const struct request request = { want, question };
	struct snapshot *s;

	if (in->target->ops->stop)
		TRY(inspect_live(in, &request, &s));
	else
		TRY(stop_and_collect(in, &request, &(uint64_t){ 0 }, &s));
	struct error *err = interrupt_check();
	if (err) {
		snapshot_free(s);
		return err;
	}
	*ret = s;
	return NULL;
}
