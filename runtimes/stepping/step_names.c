/* What steps and their ends are called. */
#include "runtimes/stepping/step.h"

const char *step_kind_name(enum step_kind kind)
{
	static const char *const names[] = {
		[STEP_NEXT] = "next",   [STEP_INTO] = "step",         [STEP_FINISH] = "finish",
		[STEP_UNTIL] = "until", [STEP_INSTRUCTION] = "nexti",
	};

	return names[kind];
}

const char *step_reason_name(enum step_reason reason)
{
	static const char *const names[] = {
		[STEP_NONE] = "none",         [STEP_LINE] = "step",
		[STEP_RETURNED] = "returned", [STEP_LEFT] = "left",
		[STEP_DROPPED] = "dropped",   [STEP_CANCELLED] = "cancelled",
		[STEP_PANICKED] = "panicked", [STEP_BROKEN] = "broken",
	};

	return names[reason];
}
