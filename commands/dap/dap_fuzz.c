/*
 * Fuzzes the contents of messages of a client that debugs a core. An input has a message on each
 * line, without its header. What starts or ends programs, and what a console could do, is left out.
 */
#include "commands/dap/server.h"
#include "commands/test/world.h"

static struct session session;
static struct asyncdbg_options options;

/* The core is open already. */
static struct error *attach_core(struct dap *d, struct request *r)
{
	(void)r;
	d->post_mortem = true;
	d->pending.stop_at_entry = true;
	d->state = DAP_CONFIGURED;
	return NULL;
}

/* No command of the console: those may write files. */
static struct error *evaluate(struct dap *d, struct request *r)
{
	const char *context = dap_text(r, "context");

	if (context && strcmp(context, "repl") == 0)
		return error_new(ERR_UNSUPPORTED, "there is no console");
	return dap_evaluate(d, r);
}

static const struct dap_command_row *table(void)
{
	static const char *const left_out[] = { "launch", "terminate", "restart" };
	static struct dap_command_row rows[64];
	size_t n = 0;

	for (const struct dap_command_row *row = dap_table; row->name && n < 63; row++) {
		bool is_left_out = false;

		for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
			is_left_out |= strcmp(row->name, left_out[i]) == 0;
		if (is_left_out)
			continue;
		rows[n] = *row;
		if (row->answer == dap_attach)
			rows[n].answer = attach_core;
		if (row->answer == dap_evaluate)
			rows[n].answer = evaluate;
		n++;
	}
	return rows;
}

static void put_message(struct str *out, const char *text, size_t len)
{
	str_printf(out, "Content-Length: %zu\r\n\r\n", len);
	str_append_len(out, text, len);
}

static void put_lines(struct str *out, const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t len = end ? (size_t)(end - text) : size;

		put_message(out, text, len);
		text += len;
		size -= len;
		if (size) {
			text++;
			size--;
		}
	}
}

/* Every answer is a message, and JSON. */
static void check_answers(int fd)
{
	static const char head[] = "Content-Length: ";
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)size + 1), *at = text;

	if (!text || pread(fd, text, (size_t)size, 0) != size)
		fuzz_fail("no answers", "");
	text[size] = '\0';
	while (at < text + size) {
		char *content = strstr(at, "\r\n\r\n");

		if (strncmp(at, head, strlen(head)) != 0 || !content)
			fuzz_fail("an answer without a header", at);
		size_t len = strtoull(at + strlen(head), NULL, 10);
		content += 4;
		if (len > (size_t)(text + size - content))
			fuzz_fail("an answer that is cut", at);
		fuzz_check_json(content, len);
		at = content + len;
	}
	if (getenv("FUZZ_SHOW"))
		fprintf(stderr, "%s\n", text);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const first[] = {
		"{\"seq\":1,\"type\":\"request\",\"command\":\"initialize\",\"arguments\":{}}",
		"{\"seq\":2,\"type\":\"request\",\"command\":\"attach\",\"arguments\":{}}",
		"{\"seq\":3,\"type\":\"request\",\"command\":\"configurationDone\"}",
	};
	struct dap *d = alloc_zeroed(sizeof(*d));
	const struct call call = { .shell = &execute_for_calls };
	char path[FUZZ_PATH], output[FUZZ_PATH];
	STR(text);

	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		put_message(&text, first[i], strlen(first[i]));
	put_lines(&text, (const char *)data, size);
	int in = fuzz_file(text.data, text.len, path), out = fuzz_file("", 0, output);
	*d = (struct dap){ .s = &session, .call = &call, .table = table() };
	error_free(dap_serve(d, in, out));
	check_answers(out);
	close(in);
	close(out);
	free(d);
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error *err = fuzz_open(&options, NULL, &session);

	(void)argc, (void)argv;
	if (err)
		fuzz_fail("no program", err->message);
	/* The first look at the core is taken here, not at the expense of an input. */
	LLVMFuzzerTestOneInput(NULL, 0);
	return 0;
}
