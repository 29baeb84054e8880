#include "commands/base/output_format.h"

#include <ctype.h>
#include <string.h>

#include "debugger/base/arena.h"

enum { HEAD = 1024 /* bytes that hold the head of a page or the first members of a document */ };

static bool output_format_contains(const uint8_t *start, size_t size, const char *text)
{
	return memmem(start, size < HEAD ? size : HEAD, text, strlen(text)) != NULL;
}

/* The head of every page names its generator: it is not any page of the web. */
static bool is_own_page(const uint8_t *start, size_t size)
{
	return output_format_contains(start, size, "name=\"generator\" content=\"asyncdbg\"");
}

/* The value of the first member that is named command is this command. */
static bool is_own_json(const uint8_t *start, size_t size, const char *command)
{
	static const char key[] = "\"command\":";
	const uint8_t *end = start + (size < HEAD ? size : HEAD);
	const uint8_t *at = memmem(start, (size_t)(end - start), key, sizeof(key) - 1);
	size_t len = strlen(command);

	if (!at || !output_format_contains(start, size, "\"schema\":") ||
	    !output_format_contains(start, size, "\"asyncdbg/"))
		return false;
	for (at += sizeof(key) - 1; at < end && *at == ' ';)
		at++;
	return (size_t)(end - at) > len + 1 && *at == '"' && memcmp(at + 1, command, len) == 0 &&
	       at[len + 1] == '"';
}

static bool is_json_trace(const uint8_t *start, size_t size)
{
	return is_own_json(start, size, "trace");
}

static bool is_json_profile(const uint8_t *start, size_t size)
{
	return is_own_json(start, size, "profile");
}

/* "10.0 s: 12 tasks, 345 polls" */
static bool is_text_profile(const uint8_t *start, size_t size)
{
	const uint8_t *end = memchr(start, '\n', size < HEAD ? size : HEAD);
	size_t len = end ? (size_t)(end - start) : 0;

	return len && isdigit(*start) && memmem(start, len, " s: ", 4) &&
	       memmem(start, len, " tasks, ", 8) &&
	       (memmem(start, len, " polls", 6) || memmem(start, len, " samples", 8));
}

/*
 * The first packet: the tag of a packet and its length, then the sequence, which asyncdbg
 * numbers 1. Other writers of traces begin with other fields.
 */
static bool is_perfetto(const uint8_t *start, size_t size)
{
	size_t at = 1;

	while (at < size && at < 6 && (start[at] & 0x80))
		at++;
	return at + 2 < size && start[at + 1] == 0x50 && start[at + 2] == 1;
}

/* "task type;frame;[polling] 123", where the state in brackets is asyncdbg's own. */
static bool is_folded(const uint8_t *start, size_t size)
{
	const uint8_t *end = memchr(start, '\n', size), *at = end;

	while (at && at > start && isdigit(at[-1]))
		at--;
	if (!at || at == end || at - start < 3 || at[-1] != ' ' || at[-2] != ']')
		return false;
	const uint8_t *open = memrchr(start, '[', (size_t)(at - start));
	return open && open > start && open[-1] == ';';
}

/* The first field is a message of the length of a pprof sample type, and its first is a number. */
static bool is_pprof(const uint8_t *start, size_t size)
{
	enum { MAX_TYPE = 16, SAMPLE_TYPE = 1 << 3 | 2, NUMBER = 1 << 3 };
	unsigned char head[3];

	return file_format_inflate(start, size, head, sizeof(head)) && head[0] == SAMPLE_TYPE &&
	       head[1] <= MAX_TYPE && head[2] == NUMBER;
}

const struct file_format output_format_page = { .begins = "<!doctype html>",
	                                        .is_own = is_own_page };
const struct file_format output_format_dot = { .begins = "digraph asyncdbg" };
const struct file_format output_format_metrics = { .begins = "# HELP asyncdbg_" };
const struct file_format output_format_json_trace = { .begins = "{", .is_own = is_json_trace };
const struct file_format output_format_json_profile = { .begins = "{", .is_own = is_json_profile };
const struct file_format output_format_text_trace = { .begins = "     SECONDS" };
const struct file_format output_format_text_profile = { .is_own = is_text_profile };
const struct file_format output_format_perfetto = { .begins = "\n", .is_own = is_perfetto };
const struct file_format output_format_folded = { .is_own = is_folded };
const struct file_format output_format_pprof = { .begins = "\x1f\x8b", .is_own = is_pprof };
