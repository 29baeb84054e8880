#include "commands/ask/each.h"

#include <string.h>

#include "commands/out/out.h"
#include "debugger/base/str.h"

/* A word with each {} replaced by the id. */
static const char *filled(struct arena *a, const char *word, const char *id)
{
	STR(s);

	while (*word) {
		bool here = strncmp(word, "{}", 2) == 0;

		if (here)
			str_append(&s, id);
		else
			str_append_len(&s, word, 1);
		word += here ? 2 : 1;
	}
	return arena_strdup(a, str_text(&s));
}

/*
 * Replaces {} after the split into words: an id may come from a file and must not create other
 * words or commands.
 */
static struct words filled_words(struct arena *a, const struct words *words, const char *id)
{
	struct words ret = { NEW_ARRAY(a, const char *, words->n), words->n };

	for (size_t i = 0; i < words->n; i++)
		ret.word[i] = filled(a, words->word[i], id);
	return ret;
}

static struct error *each_check_one(const struct call_shell *shell, const struct words *words,
                                    unsigned *wants)
{
	SCRATCH(tmp);
	struct call call;

	TRY(shell->find(&tmp, words, &call));
	if (option_has(&call, "exec"))
		return error_new(ERR_USAGE, "--exec cannot be nested");
	*wants |= call.command->wants;
	if (call.verbose)
		*wants |= WANT_LOCALS;
	if (call.command->wants_of)
		*wants |= call.command->wants_of(&call);
	return NULL;
}

static struct error *check_line_of(const struct call_shell *shell, const char *text,
                                   unsigned *wants)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	TRY(words_split(&tmp, text, &commands, &n));
	if (!n)
		return error_new(ERR_USAGE, "--exec needs a command");
	for (size_t i = 0; i < n; i++) {
		struct words words = filled_words(&tmp, &commands[i], "1");

		TRY(each_check_one(shell, &words, wants));
	}
	return NULL;
}

struct error *each_check(const struct call *call)
{
	const char *text = option_value(call, "exec");
	unsigned wants = 0;

	return text ? check_line_of(call->shell, text, &wants) : NULL;
}

unsigned each_wants(const struct call *call)
{
	const char *text = option_value(call, "exec");
	unsigned wants = 0;
	struct error *err CLEANUP(error_freep) =
		text ? check_line_of(call->shell, text, &wants) : NULL;

	return wants;
}

/* The state that commands may change, and the settings that differ during --exec. */
struct kept {
	struct session session;
	bool pinned, interactive;
};

static void each_begin(struct session *s, struct out *out, struct kept *ret)
{
	*ret = (struct kept){ *s, asyncdbg_reuse_snapshot(s->handle, true),
		              out->options.interactive };
	/* The snapshot is read once: its subject and notes are printed once. */
	out->options.interactive = true;
}

static void each_end(struct session *s, struct out *out, const struct kept *kept)
{
	asyncdbg_reuse_snapshot(s->handle, kept->pinned);
	s->focus = kept->session.focus;
	s->frame = kept->session.frame;
	memcpy(s->task, kept->session.task, sizeof(s->task));
	out->options.interactive = kept->interactive;
}

/*
 * Copies the ids, because they must outlive the snapshot, which a command may replace, and each
 * answer's arena.
 */
static const char **copy_ids(struct arena *a, const struct selection *chosen, size_t n)
{
	const char **ids = NEW_ARRAY(a, const char *, n);

	for (size_t i = 0; i < n; i++)
		ids[i] = arena_strdup(a, chosen->tasks[i]->id);
	return ids;
}

/* Runs the commands for one task, up to the first that fails. */
static void run_one(struct session *s, const struct call_shell *shell, const struct words *commands,
                    size_t n, const char *id, struct out *out, enum status *status)
{
	SCRATCH(tmp);

	for (size_t i = 0; i < n && !s->quit; i++) {
		struct words words = filled_words(&tmp, &commands[i], id);

		if (!shell->execute(s, out, &words, status))
			break;
	}
}

static struct error *each_run_all(struct session *s, const struct call *call,
                                  const char *const *ids, size_t n, struct out *out)
{
	SCRATCH(tmp);
	enum status status = STATUS_OK;
	struct words *commands;
	size_t ncommands;

	TRY(words_split(&tmp, option_value(call, "exec"), &commands, &ncommands));
	for (size_t i = 0; i < n && !s->quit; i++) {
		TRY(interrupt_check());
		run_one(s, call->shell, commands, ncommands, ids[i], out, &status);
	}
	s->finding = status;
	return NULL;
}

struct error *each_run(struct session *s, const struct answer *answer, const struct call *call,
                       const struct selection *chosen, struct out *out)
{
	SCRATCH(tmp);
	size_t n = chosen->n < chosen->limit ? chosen->n : chosen->limit;
	const char **ids = copy_ids(&tmp, chosen, n);
	struct selection cut = *chosen;
	struct answer rest = *answer;
	struct kept kept;

	each_begin(s, out, &kept);
	/* Only --exec pins the snapshot: this one is nested. */
	if (kept.pinned) {
		each_end(s, out, &kept);
		return error_new(ERR_USAGE, "--exec cannot be nested");
	}
	struct error *err = each_run_all(s, call, ids, n, out);

	if (!err && (n < cut.n || !n)) {
		/* A command may have taken another snapshot. */
		rest.snapshot = asyncdbg_last(s->handle);
		out_begin(out, &rest);
		select_shown(&cut, out);
		err = out_end(out);
	}
	each_end(s, out, &kept);
	return err;
}
