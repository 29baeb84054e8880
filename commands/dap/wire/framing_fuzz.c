/* Fuzzes what comes from a client: the stream in two pieces, and each message as a tree. */
#include "commands/dap/wire/framing.h"
#include "commands/dap/wire/node.h"
#include "debugger/test/fuzz.h"

static size_t count(const struct node *n)
{
	size_t ret = 1;

	for (const struct node *child = node_first(n); child; child = child->next)
		ret += count(child);
	return ret;
}

/* Takes all messages; returns their number. */
static size_t take_all(struct framing *f, enum framing_result *last)
{
	size_t n = 0, len;
	char *text;

	for (;; n++) {
		SCRATCH(a);
		const struct node *root;

		*last = framing_take(f, &a, &text, &len);
		if (*last != FRAMING_MESSAGE)
			return n;
		if (text[len] != '\0' || len > FRAMING_MAX_CONTENT)
			fuzz_fail("a message without an end", "");
		struct error *err = node_read(&a, text, len, &root);
		if (err)
			fuzz_check_line(err->message);
		else if (count(root) > NODE_MAX_NODES + 1)
			fuzz_fail("too many values", "");
		error_free(err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct framing whole = { 0 }, parts = { 0 };
	enum framing_result end, part_end;
	size_t half = size / 2;

	framing_add(&whole, data, size);
	size_t n = take_all(&whole, &end);

	framing_add(&parts, data, half);
	size_t first = take_all(&parts, &part_end);
	if (part_end != FRAMING_BAD) {
		framing_add(&parts, data + half, size - half);
		first += take_all(&parts, &part_end);
		if (first != n || part_end != end)
			fuzz_fail("pieces are read in another way than the whole", "");
	}
	framing_free(&whole);
	framing_free(&parts);
	return 0;
}
