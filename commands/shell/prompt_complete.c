#include "commands/shell/prompt_complete.h"

#include <editline/readline.h>
#include <stdlib.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/shell/command.h"
#include "commands/shell/complete_value.h"
#include "debugger/base/vec.h"
#include "runtimes/query/complete_place.h"

/* The completions, which libedit queries one by one with a callback that has no argument. */
static struct {
	struct arena arena;
	const char **words;
	size_t n, next;
	struct session *session; /* for the variables that complete the path of `print` */
} completions;

static char *next_completion(const char *text, int state)
{
	(void)text;
	(void)state;
	return completions.next < completions.n ? strdup(completions.words[completions.next++])
	                                        : NULL;
}

/* Completes the last name of a path: "self.shut" becomes "self.shutdown". */
static size_t complete_names(struct arena *a, const char *names, const char *path, size_t path_len,
                             const char *partial, const char ***ret)
{
	VEC(const char *) found = { 0 };
	size_t len = strlen(partial), n;

	for (const char *p = names; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (n > len && strncmp(p, partial, len) == 0)
			*vec_push(&found) =
				arena_printf(a, "%.*s%.*s", (int)path_len, path, (int)n, p);
	}
	n = found.n;
	*ret = vec_to_arena(&found, a);
	return n;
}

/*
 * Completes a path of `print`. This takes a snapshot, as the command does; on failure there are no
 * completions.
 */
static size_t complete_path(struct session *s, struct arena *a, const char *typed,
                            const char ***ret)
{
	const char *dot = strrchr(typed, '.'), *partial = dot ? dot + 1 : typed;
	SCRATCH(tmp);
	const struct call call = {
		.command = &print_command,
		.args = { (const char *[]){
				  arena_strndup(&tmp, typed, dot ? (size_t)(dot - typed) : 0) },
		          1 },
	};
	const struct snapshot *snap;
	struct question question = { 0 };

	if (!asyncdbg_target(s->handle))
		return 0;
	print_command.ask(s, &call, &question);
	question.names = true;
	struct error *err CLEANUP(error_freep) =
		session_snapshot(s, print_command.wants, &question, &snap);
	const char *names = !err && snap->printed ? snap->printed->value : NULL;

	return names ? complete_names(a, names, typed, (size_t)(partial - typed), partial, ret) : 0;
}

/* Completes a place, of which more follows unless it is a whole path of a function. */
static void complete_place(const char *text)
{
	completions.n = complete_place_list(asyncdbg_debuginfo(completions.session->handle), text,
	                                    &completions.arena, &completions.words);
	const char *first = completions.n ? completions.words[0] : "";

	if (completions.n != 1 || first[strlen(first) - 1] == ':')
		rl_completion_append_character = '\0';
}

char **prompt_complete(const char *text, int start, int end)
{
	SCRATCH(tmp);
	struct words *commands, before = { 0 };
	size_t n = 0;

	(void)end;
	rl_attempted_completion_over = 1;
	arena_free(&completions.arena);
	completions.n = completions.next = 0;

	/* The command begins after the last `;`. */
	const char *typed = arena_strndup(&tmp, rl_line_buffer, (size_t)start);
	const char *semicolon = strrchr(typed, ';');
	struct error *err CLEANUP(error_freep) =
		words_split(&tmp, semicolon ? semicolon + 1 : typed, &commands, &n);
	if (!err && n)
		before = commands[0];
	if (before.n && strcmp(before.word[0], "help") == 0)
		before = (struct words){ before.word + 1, before.n - 1 };
	rl_completion_append_character = ' ';
	const enum value_kind kind = complete_value_kind(&before);
	if (kind == VALUE_PATH && *text != '-') {
		/* More of the path may follow. */
		rl_completion_append_character = '\0';
		completions.n = complete_path(completions.session, &completions.arena, text,
		                              &completions.words);
	} else {
		completions.n = command_complete(&completions.arena, command_table, &before, text,
		                                 &completions.words);
	}
	if (!completions.n && kind == VALUE_PLACE)
		complete_place(text);
	if (!completions.n && kind == VALUE_FILE)
		return rl_completion_matches(text, rl_filename_completion_function);
	if (!completions.n)
		completions.n = complete_value_list(completions.session, kind, text,
		                                    &completions.arena, &completions.words);
	return rl_completion_matches(text, next_completion);
}

void prompt_complete_begin(struct session *s)
{
	completions.session = s;
}

void prompt_complete_end(void)
{
	arena_free(&completions.arena);
	completions.session = NULL;
}
