#include "commands/out/stopped.h"

const char *stopped_reason_name(enum control_reason reason)
{
	static const char *const names[] = {
		[CONTROL_STARTED] = "started",
		[CONTROL_ATTACHED] = "attached",
		[CONTROL_BREAKPOINT] = "breakpoint",
		[CONTROL_SIGNAL] = "signal",
		[CONTROL_INTERRUPTED] = "interrupted",
		[CONTROL_STEPPED] = "stepped",
		[CONTROL_EXEC] = "exec",
		[CONTROL_EXITED] = "exited",
		[CONTROL_KILLED] = "killed",
		[CONTROL_GONE] = "gone",
	};

	return names[reason];
}
