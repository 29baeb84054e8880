/*
 * asyncdbg/tasks, /tree, /graph, /check: the answers of commands as the JSON of --json, for
 * extensions of editors. The body has it as "document".
 */
#include <stdlib.h>
#include <string.h>

#include "commands/dap/context.h"
#include "debugger/base/vec.h"

typedef VEC(const char *) word_vec;

/* Runs a command and writes its document. */
static struct error *put_document(struct dap *d, struct request *r, const word_vec *words)
{
	const struct words command = { words->data, words->n };
	enum status status = STATUS_OK;
	char *text = NULL, *messages = NULL;
	size_t len = 0, nmessages = 0;
	struct out_options options = { .answers = open_memstream(&text, &len),
		                       .messages = open_memstream(&messages, &nmessages) };

	if (!options.answers || !options.messages)
		out_of_memory();
	struct out *out = out_json_new(&options, false);
	bool good = d->call->shell->execute(d->s, out, &command, &status);
	out_free(out);
	fclose(options.answers);
	fclose(options.messages);
	struct error *err = NULL;
	if (good && len)
		json_put_document(r->w, "document", text, len);
	else
		err = error_new(ERR_STATE, "%.*s", (int)strcspn(messages, "\n"), messages);
	free(text);
	free(messages);
	return err;
}

static void custom_add_word(word_vec *words, const char *word)
{
	*vec_push(words) = word;
}

/* "filter": { "state": "idle" } */
static struct error *add_filter(const struct node *filter, word_vec *words)
{
	for (const struct node *n = node_first(filter); n; n = n->next) {
		if (!n->key || !node_text(n))
			return error_new(ERR_USAGE, "filter must be an object of strings");
		custom_add_word(words, "--with");
		custom_add_word(words, n->key);
		custom_add_word(words, node_text(n));
	}
	return NULL;
}

static struct error *custom_run(struct dap *d, struct request *r, word_vec *words)
{
	struct error *err = put_document(d, r, words);

	vec_free(words);
	return err;
}

struct error *dap_custom_tasks(struct dap *d, struct request *r)
{
	word_vec words = { 0 };
	int64_t limit = dap_number(r, "limit", 0);

	custom_add_word(&words, "tasks");
	struct error *err = add_filter(node_get(r->arguments, "filter"), &words);
	if (err) {
		vec_free(&words);
		return err;
	}
	if (limit > 0) {
		custom_add_word(&words, "--limit");
		custom_add_word(&words, arena_printf(r->a, "%lld", (long long)limit));
	}
	return custom_run(d, r, &words);
}

struct error *dap_custom_tree(struct dap *d, struct request *r)
{
	const char *task = dap_text(r, "task");
	word_vec words = { 0 };

	if (!task || *task == '-')
		return error_new(ERR_USAGE, "asyncdbg/tree needs the id of a task");
	custom_add_word(&words, "async");
	custom_add_word(&words, "task");
	custom_add_word(&words, task);
	return custom_run(d, r, &words);
}

struct error *dap_custom_graph(struct dap *d, struct request *r)
{
	word_vec words = { 0 };

	custom_add_word(&words, "async");
	custom_add_word(&words, "graph");
	return custom_run(d, r, &words);
}

struct error *dap_custom_check(struct dap *d, struct request *r)
{
	word_vec words = { 0 };

	custom_add_word(&words, "check");
	return custom_run(d, r, &words);
}
