/*
 * A program for bpftrace. Distributions build bpftrace so that it takes only entries of functions
 * (without "probe offset support"). So its points are not those of our own trace: the ends of polls
 * and of parking are uretprobes, and no point is moved to where it costs less.
 */
#include "commands/time/bpftrace.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/names/demangle.h"
#include "runtimes/trace/plan.h"

enum {
	MAX_PROBES = 500, /* bpftrace's own limit is 512 */
	MAX_TYPE = 60,    /* bytes: a string of bpftrace has 64 */
};

struct script {
	FILE *f;
	const struct trace_plan *plan;
	struct arena arena;
	const char *path;             /* of the file with the current point */
	struct trace_point_code code; /* of the current point */
	int pid;                      /* 0: all processes of the file */
};

/* ---- words of the language ---- */

/* The file of a module, as we can open it. */
static struct error *file_of(struct script *s, const struct module *m, const char **ret)
{
	char link[64], path[PATH_MAX] = "";
	struct stat opened, named;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", m->fd);
	ssize_t len = m->fd >= 0 ? readlink(link, path, sizeof(path) - 1) : -1;
	if (len <= 0 || fstat(m->fd, &opened) != 0 || stat(path, &named) != 0 ||
	    opened.st_ino != named.st_ino || opened.st_dev != named.st_dev)
		return error_new(ERR_UNSUPPORTED, "the file of %s has been deleted", m->path);
	for (ssize_t i = 0; i < len; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+",
		            path[i]))
			return error_new(ERR_UNSUPPORTED,
			                 "bpftrace cannot take the path of the program: %s",
			                 str_clean(&s->arena, path, (size_t)len));
	}
	*ret = arena_strdup(&s->arena, path);
	return NULL;
}

/* A type as part of a string; short enough for one, too. */
static const char *bpftrace_type_of(struct script *s, const struct trace_point *p)
{
	STR(text);
	const char *name = p->type ? name_short(&s->arena, p->type) : "?";

	for (size_t i = 0; name[i] && text.len < MAX_TYPE - 4; i++) {
		if (name[i] < ' ' || name[i] > '~' || strchr("\"\\%", name[i]))
			str_append(&text, "?");
		else
			str_printf(&text, "%c", name[i]);
	}
	if (strlen(name) > text.len)
		str_append(&text, "...");
	return arena_strdup(&s->arena, str_text(&text));
}

static void bpftrace_begin_probe(struct script *s, const char *kind, const struct trace_point *p)
{
	fprintf(s->f, "%s:%s:0x%" PRIx64, kind, s->path, p->entry);
	if (s->pid)
		fprintf(s->f, " /pid == %d/", s->pid);
	fprintf(s->f, " {");
}

static void bpftrace_print_event(struct script *s, enum trace_event event, const char *format,
                                 const char *arguments)
{
	fprintf(s->f, " printf(\"%%llu %%d %s%s\\n\", nsecs, tid%s);", trace_event_name(event),
	        format, arguments);
}

/* Sets $task to the id of the task. */
static void read_task(struct script *s, const struct trace_point *p)
{
	fprintf(s->f,
	        " $h = (uint64)arg%u; $table = *(uint64 *)($h + %" PRIu64 ");"
	        " $task = *(uint64 *)($h + *(uint64 *)($table + %" PRIu64 "));",
	        p->parameter, s->code.table_offset, s->code.id_slot);
}

/* Sets $poll to the address in the file of the task's poll function. */
static void read_poll(struct script *s, const struct trace_point *p)
{
	fprintf(s->f, " $poll = *(uint64 *)($table + %" PRIu64 ") - (reg(\"ip\") - 0x%" PRIx64 ");",
	        s->code.poll_slot, p->entry);
}

/* ---- probes ---- */

/*
 * Writes a poll of a task whose address is its id. Its end is left out: a panic may unwind through
 * the function, which a uretprobe turns into the end of the program.
 */
static void write_start(struct script *s, const struct trace_point *p)
{
	bpftrace_begin_probe(s, "uprobe", p);
	fprintf(s->f, " $h = (uint64)arg%u;", p->parameter);
	bpftrace_print_event(s, TRACE_POLL_START,
	                     arena_printf(&s->arena, " 0x%%llx %s", bpftrace_type_of(s, p)),
	                     ", $h");
	fprintf(s->f, " }\n");
}

/* Writes a poll, a job of a blocking pool, or the life of a worker. */
static void write_poll(struct script *s, const struct trace_point *p)
{
	STR(text);
	bool worker = p->job == TRACE_WORKER;
	const char *of = p->job == TRACE_BLOCKING ? " blocking " : " ";

	bpftrace_begin_probe(s, "uprobe", p);
	if (worker) {
		bpftrace_print_event(s, TRACE_WORKER_START, "", "");
	} else {
		read_task(s, p);
		fprintf(s->f,
		        " @task[tid, reg(\"sp\")] = $task; @start[tid, reg(\"sp\")] = nsecs;");
		str_printf(&text, " %%llu%s%s", of, bpftrace_type_of(s, p));
		bpftrace_print_event(s, TRACE_POLL_START, str_text(&text), ", $task");
	}
	fprintf(s->f, " }\n");
	bpftrace_begin_probe(s, "uretprobe", p);
	if (worker) {
		bpftrace_print_event(s, TRACE_WORKER_STOP, "", "");
	} else {
		str_append(&text, " %llu ns");
		fprintf(s->f, " $sp = reg(\"sp\") - 8; if (@start[tid, $sp]) {");
		bpftrace_print_event(s, TRACE_POLL_END, str_text(&text),
		                     ", @task[tid, $sp], nsecs - @start[tid, $sp]");
		fprintf(s->f, " } delete(@task[tid, $sp]); delete(@start[tid, $sp]);");
	}
	fprintf(s->f, " }\n");
}

static void write_park(struct script *s, const struct trace_point *p)
{
	bpftrace_begin_probe(s, "uprobe", p);
	bpftrace_print_event(s, TRACE_PARK, "", "");
	fprintf(s->f, " }\n");
	bpftrace_begin_probe(s, "uretprobe", p);
	bpftrace_print_event(s, TRACE_UNPARK, "", "");
	fprintf(s->f, " }\n");
}

static void write_task(struct script *s, const struct trace_point *p)
{
	bpftrace_begin_probe(s, "uprobe", p);
	read_task(s, p);
	read_poll(s, p);
	fprintf(s->f, " if (!@worker[$poll]) {");
	bpftrace_print_event(s, p->role == TRACE_AT_SPAWN ? TRACE_SPAWN : TRACE_TERMINATE,
	                     " %llu %s", ", $task, @type[$poll]");
	fprintf(s->f, " } }\n");
}

/* Whether each hit there is a spawn or an end. */
static bool is_task_event(const struct trace_point *p)
{
	return (p->role == TRACE_AT_SPAWN && !p->for_place) || p->role == TRACE_AT_END;
}

static bool is_first(const struct trace_plan *plan, size_t index)
{
	const struct trace_point *p = &plan->points[index];

	for (size_t i = 0; i < index; i++) {
		if (plan->points[i].role == p->role && plan->points[i].code == p->code &&
		    plan->points[i].entry == p->entry)
			return false;
	}
	return true;
}

static struct error *set_module(struct script *s, const struct trace_point *p)
{
	const struct module *before = s->code.module;

	s->code = trace_point_code(p);
	if (s->code.stripped)
		return error_new(
			ERR_NO_DEBUGINFO,
			"%s is stripped: bpftrace needs symbols to find addresses; use trace",
			s->code.module->path);
	if (s->code.module != before)
		TRY(file_of(s, s->code.module, &s->path));
	return NULL;
}

static struct error *write_points(struct script *s)
{
	for (size_t i = 0; i < s->plan->n; i++) {
		const struct trace_point *p = &s->plan->points[i];

		if (!is_first(s->plan, i))
			continue;
		TRY(set_module(s, p));
		if (p->kernel.is_own_id && p->role == TRACE_AT_POLL)
			write_start(s, p);
		else if (p->kernel.is_own_id)
			continue;
		else if (p->role == TRACE_AT_POLL)
			write_poll(s, p);
		else if (p->role == TRACE_AT_PARK)
			write_park(s, p);
		else if (is_task_event(p))
			write_task(s, p);
	}
	return NULL;
}

/* ---- around them ---- */

static size_t count_probes(const struct trace_plan *plan)
{
	size_t n = 2; /* BEGIN and END */

	for (size_t i = 0; i < plan->n; i++) {
		const struct trace_point *p = &plan->points[i];

		if (p->kernel.is_own_id)
			n += p->role == TRACE_AT_POLL;
		else if (p->role == TRACE_AT_POLL || p->role == TRACE_AT_PARK)
			n += 2;
		else
			n += is_task_event(p);
	}
	return n;
}

static bool has_role(const struct trace_plan *plan, enum trace_role role)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (plan->points[i].role == role && !plan->points[i].for_place)
			return true;
	}
	return false;
}

static bool has_own_ids(const struct trace_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (plan->points[i].kernel.is_own_id)
			return true;
	}
	return false;
}

/* Names of the types, by the poll functions. */
static void write_begin(struct script *s)
{
	/* A map that nothing is written to does not exist: a program may have no worker. */
	fprintf(s->f, "BEGIN {\n\t@worker[(uint64)0] = 0;\n");
	for (size_t i = 0; i < s->plan->n; i++) {
		const struct trace_point *p = &s->plan->points[i];

		if (p->role != TRACE_AT_POLL)
			continue;
		fprintf(s->f, "\t@type[(uint64)0x%" PRIx64 "] = \"%s\";\n", p->entry,
		        bpftrace_type_of(s, p));
		if (p->job == TRACE_WORKER)
			fprintf(s->f, "\t@worker[(uint64)0x%" PRIx64 "] = 1;\n", p->entry);
	}
	fprintf(s->f, "\tprintf(\"NANOSECONDS TID EVENT TASK TYPE\\n\");\n}\n");
	fprintf(s->f, "END { clear(@type); clear(@worker); clear(@task); clear(@start); }\n");
}

static void bpftrace_write_head(struct script *s, FILE *messages)
{
	size_t n = count_probes(s->plan);

	fprintf(s->f,
	        "#!/usr/bin/env bpftrace\n"
	        "// The events of the program's async tasks and workers. It is for this build of\n"
	        "// the program, and %s.\n"
	        "// Ends of polls and of parking are uretprobes: while they are attached, a\n"
	        "// backtrace that the program takes within a poll ends there.\n",
	        s->pid ? "for one process" : "shows all processes that run it");
	if (has_own_ids(s->plan))
		fprintf(s->f, "// Of tasks whose ids are addresses only the starts of polls.\n");
	if (!has_role(s->plan, TRACE_AT_SPAWN))
		fprintf(s->f, "// No task-spawn: the compiler has inlined the function.\n");
	if (!has_role(s->plan, TRACE_AT_END))
		fprintf(s->f, "// No task-terminate: the compiler has inlined the function.\n");
	if (n <= MAX_PROBES)
		return;
	fprintf(s->f,
	        "// It has %zu probes: run it with BPFTRACE_MAX_PROBES=%zu and\n"
	        "// BPFTRACE_MAX_BPF_PROGS=%zu in the environment.\n",
	        n, n + 12, n + 12);
	fprintf(messages,
	        "note: the script has %zu probes: run it with BPFTRACE_MAX_PROBES=%zu "
	        "BPFTRACE_MAX_BPF_PROGS=%zu\n",
	        n, n + 12, n + 12);
}

struct error *bpftrace_write(FILE *f, FILE *messages, const struct target *target,
                             const struct trace_plan *plan)
{
	struct script s = { .plan = plan, .pid = target->path ? 0 : (int)target->pid };
	char *text = NULL;
	size_t len;

	/* The program is written whole, or not at all. */
	s.f = open_memstream(&text, &len);
	if (!s.f)
		return error_os(errno, "writing the script");
	bpftrace_write_head(&s, messages);
	write_begin(&s);
	struct error *err = write_points(&s);
	if (fclose(s.f) != 0 && !err)
		err = error_os(errno, "writing the script");
	if (!err)
		fwrite(text, 1, len, f);
	free(text);
	arena_free(&s.arena);
	return err;
}
