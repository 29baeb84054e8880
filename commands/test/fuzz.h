/* For fuzzers: runs commands in both output formats and checks the output. */
#ifndef COMMANDS_TEST_FUZZ_H
#define COMMANDS_TEST_FUZZ_H

#include <jansson.h>

#include "commands/shell/execute.h"
#include "debugger/test/fuzz.h"

/* Checks a sequence of whole JSON documents, whose texts must have no control characters. */
static inline void fuzz_check_json(const char *text, size_t len)
{
	size_t at = 0;

	fuzz_check_text(text, len);
	while (at < len && strspn(text + at, " \n") < len - at) {
		json_error_t error;
		json_t *j = json_loadb(text + at, len - at,
		                       JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);

		if (!j)
			fuzz_fail(error.text, text + at);
		json_decref(j);
		at += (size_t)error.position;
	}
}

/* Runs a line that accesses no file, in both formats, and checks the output. */
static inline void fuzz_execute(struct session *s, const char *line)
{
	for (int json = 0; json < 2; json++) {
		char *answers = NULL, *messages = NULL;
		size_t nanswers = 0, nmessages = 0;
		struct out_options options = { .answers = open_memstream(&answers, &nanswers),
			                       .messages = open_memstream(&messages, &nmessages) };
		struct out *out = json ? out_json_new(&options, false) : out_text_new(&options);
		enum status status = STATUS_OK;

		execute_line(s, out, line, &status);
		out_free(out);
		fclose(options.answers);
		fclose(options.messages);
		/* For debugging: show the output. */
		if (getenv("FUZZ_SHOW"))
			fprintf(stderr, "%s\n%s%s", line, answers, messages);
		if (json)
			fuzz_check_json(answers, nanswers);
		else
			fuzz_check_text(answers, nanswers);
		fuzz_check_text(messages, nmessages);
		free(answers);
		free(messages);
	}
}

#endif
