/* The options of `top`. */
#ifndef COMMANDS_TOP_TOP_OPTIONS_H
#define COMMANDS_TOP_TOP_OPTIONS_H

#include "commands/base/call.h"
#include "commands/top/top_view.h"

struct top_options {
	double interval, over; /* seconds */
	uint64_t count;        /* of frames; 0: without end */
	struct top_view view;  /* its filter is borrowed from the call */
};

/* ERR_USAGE. */
struct error *top_options_read(const struct call *call, struct top_options *ret) MUST_CHECK;
/* top_options_read() for struct command.check. */
struct error *top_options_check(const struct call *call) MUST_CHECK;

#endif
