/* For fuzzers: answers in both formats, each checked. */
#ifndef COMMANDS_TEST_FUZZ_H
#define COMMANDS_TEST_FUZZ_H

#include <jansson.h>

#include "commands/shell/execute.h"
#include "debugger/test/fuzz.h"

/* Whole documents, one behind the other; texts in them may have no control character. */
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

/* Runs a line that touches no file, in both formats; what it prints is checked. */
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
		/* For who wants to see what an input makes. */
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
