/* Reads saved snapshots: decompression, limits on memory, and damaged files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "debugger/base/file.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "runtimes/saved/saved_member.h"
#include "runtimes/saved/saved_record.h"

enum { MAX_LINE = 64 << 20, READ_AT_ONCE = 256 << 10 };

/*
 * The memory that a file may take, in bytes: MIN_BUDGET plus BUDGET_FACTOR times the bytes read. A
 * million equal tasks of ten frames take less than 200 times their size in the file.
 */
enum { MIN_BUDGET = 64 << 20, BUDGET_FACTOR = 512 };

struct saved_read_file {
	const char *path; /* sanitized */
	gzFile gz;
	struct str line;
	struct loader l;
};

/* Counts compressed bytes, so that a file cannot raise its budget by compressing well. */
static void renew_budget(struct saved_read_file *f)
{
	z_off_t read = gzoffset(f->gz);

	f->l.budget = MIN_BUDGET + BUDGET_FACTOR * (size_t)(read > 0 ? read : 0);
}

/* Reads the next line without its newline; false when there is none or on an error. */
static bool next_line(struct saved_read_file *f)
{
	char bytes[READ_AT_ONCE];

	str_truncate(&f->line, 0);
	while (f->line.len < MAX_LINE && gzgets(f->gz, bytes, sizeof(bytes))) {
		size_t len = strlen(bytes);

		/* JSON contains no NUL. */
		if (!len)
			return false;
		str_append_len(&f->line, bytes, len);
		if (bytes[len - 1] == '\n') {
			str_truncate(&f->line, f->line.len - 1);
			f->l.lines++;
			renew_budget(f);
			return true;
		}
	}
	return false;
}

/* The reason why there is no further line, in arena a. */
static const char *saved_read_why_ended(struct saved_read_file *f, struct arena *a)
{
	int problem;
	const char *text = gzerror(f->gz, &problem);

	if (f->line.len >= MAX_LINE)
		return "a line is longer than any that asyncdbg writes";
	if (problem == Z_OK || problem == Z_STREAM_END || problem == Z_BUF_ERROR)
		return "it is cut off there";
	return str_clean(a, text, strlen(text));
}

/* Adds the notes again with snapshot_note(), so that the array can grow later. */
static void renew_notes(struct snapshot *s)
{
	const char **notes = s->notes;
	size_t n = s->nnotes;

	s->notes = NULL;
	s->nnotes = 0;
	for (size_t i = 0; i < n; i++)
		snapshot_note(s, "%s", notes[i]);
}

/*
 * Adds the running jobs of a file that has records of queued jobs alone, with running ones known by
 * their threads, as asyncdbg wrote it before running jobs had records.
 */
static void complete_running_jobs(struct loader *l)
{
	size_t queued = l->jobs.n;

	for (size_t i = 0; i < queued; i++) {
		if (l->jobs.data[i].thread)
			return;
	}
	for (size_t i = 0; i < l->threads.n; i++) {
		const struct thread_info *th = &l->threads.data[i];

		if (th->job)
			*PUSH_CHARGED(l, &l->jobs) = (struct job){ .id = th->task,
				                                   .runtime = th->runtime,
				                                   .thread = th->number,
				                                   .function = th->job };
	}
	/* Running ones come first. */
	struct job *jobs = NEW_ARRAY(l->a, struct job, l->jobs.n + 1);
	size_t running = l->jobs.n - queued;

	if (!l->jobs.n)
		return;
	memcpy(jobs, l->jobs.data + queued, running * sizeof(*jobs));
	memcpy(jobs + running, l->jobs.data, queued * sizeof(*jobs));
	memcpy(l->jobs.data, jobs, l->jobs.n * sizeof(*jobs));
}

/* Moves the records read into the snapshot. */
static void saved_read_publish(struct loader *l)
{
	struct snapshot *s = l->s;

	s->nruntimes = l->runtimes.n;
	s->runtimes = vec_to_arena(&l->runtimes, l->a);
	s->nthreads = l->threads.n;
	s->threads = vec_to_arena(&l->threads, l->a);
	complete_running_jobs(l);
	s->njobs = l->jobs.n;
	s->jobs = vec_to_arena(&l->jobs, l->a);
	s->nlayout = l->layout.n;
	s->layout = vec_to_arena(&l->layout, l->a);
	s->nsockets = l->sockets.n;
	s->sockets = vec_to_arena(&l->sockets, l->a);
	s->ntasks = l->tasks.n;
	s->tasks = vec_to_arena(&l->tasks, l->a);
	s->nholdings = l->holdings.n;
	s->holdings = vec_to_arena(&l->holdings, l->a);
	s->ndescriptors = l->descriptors.n;
	s->descriptors = vec_to_arena(&l->descriptors, l->a);
	renew_notes(s);
	if (!l->has_parts && s->ntasks)
		snapshot_note(s, "an older asyncdbg saved this snapshot: tasks whose waits differ "
		                 "only in numbers are not grouped together");
	snapshot_number_frames(s);
}

/* Decides whether a damaged file is an error or an incomplete snapshot. */
static struct error *judge_part(struct saved_read_file *f, const char *wrong, bool late)
{
	struct loader *l = &f->l;

	if (!l->has_header)
		return error_new(ERR_CORRUPT, "it is not a saved snapshot of asyncdbg");
	if (!late || !l->has_snapshot || !l->has_target)
		return error_new(ERR_CORRUPT, "it is damaged at or after line %llu: %s",
		                 (unsigned long long)l->lines, wrong);
	saved_read_publish(l);
	snapshot_incomplete(l->s,
	                    "%s is damaged at or after line %llu: %s; %zu of %llu tasks are there",
	                    f->path, (unsigned long long)l->lines, wrong, l->s->ntasks,
	                    (unsigned long long)l->ntasks);
	return NULL;
}

static struct error *check_end(struct loader *l)
{
	if (!l->has_snapshot || !l->has_target)
		return error_new(ERR_CORRUPT, "it describes no program");
	saved_read_publish(l);
	if (l->s->ntasks != l->ntasks)
		return error_new(ERR_CORRUPT, "it has %zu tasks but announces %llu", l->s->ntasks,
		                 (unsigned long long)l->ntasks);
	return NULL;
}

static struct error *other_version(const struct loader *l)
{
	bool newer = l->version > SAVED_VERSION;

	return error_new(ERR_UNSUPPORTED,
	                 "%s asyncdbg saved it: version %lld of the format, this one reads version "
	                 "%d; print it with the asyncdbg that saved it",
	                 newer ? "a newer" : "an older", (long long)l->version, SAVED_VERSION);
}

static struct error *read_lines(struct saved_read_file *f)
{
	SCRATCH(tmp);
	struct loader *l = &f->l;
	const char *wrong = NULL;
	bool late = true;

	while (!l->ended && !wrong) {
		if (l->lines % PROGRESS_STRIDE == 0) {
			TRY(interrupt_check());
			progress("reading the snapshot", l->tasks.n, l->ntasks);
		}
		if (!next_line(f)) {
			late = true;
			wrong = saved_read_why_ended(f, &tmp);
			break;
		}
		wrong = saved_record(l, &tmp, f->line.data, f->line.len, &late);
		if (l->has_header && l->version != SAVED_VERSION)
			return other_version(l);
	}
	return wrong ? judge_part(f, wrong, late) : check_end(l);
}

static void file_deinit(struct saved_read_file *f)
{
	struct loader *l = &f->l;

	if (f->gz)
		gzclose(f->gz);
	str_free(&f->line);
	snapshot_free(l->s);
	vec_free(&l->names);
	vec_free(&l->runtimes);
	vec_free(&l->threads);
	vec_free(&l->jobs);
	vec_free(&l->layout);
	vec_free(&l->sockets);
	vec_free(&l->tasks);
	vec_free(&l->holdings);
	vec_free(&l->descriptors);
}

struct error *saved_read(const char *path, struct snapshot **ret, struct saved_info *info)
{
	struct saved_read_file f CLEANUP(file_deinit) = { 0 };
	int fd CLEANUP(file_close) = -1;
	SCRATCH(tmp);

	f.path = str_clean(&tmp, path, strlen(path));
	TRY(file_open(path, &fd));
	f.gz = gzdopen(fd, "rb");
	if (!f.gz)
		return error_os(ENOMEM, "%s", f.path);
	fd = -1; /* gzclose() closes it */
	gzbuffer(f.gz, READ_AT_ONCE);
	f.l.s = calloc(1, sizeof(*f.l.s));
	if (!f.l.s)
		out_of_memory();
	f.l.a = &f.l.s->arena;
	struct error *err = read_lines(&f);
	if (err)
		return error_wrap(err, "%s", f.path);
	*ret = f.l.s;
	f.l.s = NULL;
	if (info)
		*info = f.l.info;
	return NULL;
}
