/* Fuzzes the JSON reader; jansson decides whether a text is valid. */
#include <jansson.h>

#include "debugger/base/json_reader.h"
#include "debugger/test/fuzz.h"

enum { MAX_DEPTH = 200 };

/* Reads all values, each by its kind. */
static void read_value(struct json_reader *r, struct arena *a, int depth)
{
	const char *text;

	if (depth == MAX_DEPTH) {
		json_skip(r);
		return;
	}
	switch (json_peek(r)) {
	case JSON_IS_OBJECT:
		json_enter_object(r);
		while (json_next_key(r))
			read_value(r, a, depth + 1);
		break;
	case JSON_IS_ARRAY:
		json_enter_array(r);
		while (json_next_element(r))
			read_value(r, a, depth + 1);
		break;
	case JSON_IS_TEXT:
		text = json_take_text(r, a);
		fuzz_check_line(text);
		break;
	case JSON_IS_NUMBER:
		json_take_integer(r);
		break;
	case JSON_IS_BOOL:
		json_take_bool(r);
		break;
	default:
		json_skip(r);
	}
}

/* Copies the input: the reader changes its text, and the sanitizer detects reads past the copy. */
static char *copy(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* jansson stops at a NUL. */
	json_t *j = size && memchr(data, 0, size)
	                    ? NULL
	                    : json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
	struct json_reader r;
	char *text = copy(data, size);
	SCRATCH(a);

	json_reader_init(&r, text, size);
	read_value(&r, &a, 0);
	if (r.p < text || r.p > text + size)
		fuzz_fail("beyond the end", "");
	memcpy(text, data, size);
	json_reader_init(&r, text, size);
	json_skip(&r);
	/* The reader refuses documents that nest too deeply. */
	if (j && !json_at_end(&r) && r.problem && strcmp(r.problem, "is nested too deep") != 0)
		fuzz_fail("valid, but refused", r.problem);
	if (j && !r.problem && !json_at_end(&r))
		fuzz_fail("valid, but not read to its end", "");
	json_decref(j);
	free(text);
	return 0;
}
