/* Which function answers which request, and what it needs. */
#include "commands/dap/server.h"

const struct dap_command_row dap_table[] = {
	{ "initialize", DAP_NEEDS_NOTHING, dap_initialize, NULL },
	{ "launch", DAP_NEEDS_NOTHING, dap_launch, dap_after_start },
	{ "attach", DAP_NEEDS_NOTHING, dap_attach, dap_after_start },
	{ "configurationDone", DAP_NEEDS_PROGRAM, dap_configured, dap_after_configured },
	{ "disconnect", DAP_NEEDS_NOTHING, dap_disconnect, NULL },
	{ "terminate", DAP_NEEDS_PROGRAM, dap_terminate, dap_after_terminate },
	{ "cancel", DAP_NEEDS_NOTHING, dap_cancel, NULL },
	{ "threads", DAP_NEEDS_PROGRAM, dap_threads, NULL },
	{ "stackTrace", DAP_NEEDS_STOP, dap_stack_trace, NULL },
	{ "scopes", DAP_NEEDS_STOP, dap_scopes, NULL },
	{ "variables", DAP_NEEDS_STOP, dap_variables, NULL },
	{ "evaluate", DAP_NEEDS_PROGRAM, dap_evaluate, NULL },
	{ "source", DAP_NEEDS_NOTHING, dap_source, NULL },
	{ "setBreakpoints", DAP_NEEDS_PROGRAM, dap_set_breakpoints, NULL },
	{ "setFunctionBreakpoints", DAP_NEEDS_PROGRAM, dap_set_function_breakpoints, NULL },
	{ "setInstructionBreakpoints", DAP_NEEDS_PROGRAM, dap_set_instruction_breakpoints, NULL },
	{ "setExceptionBreakpoints", DAP_NEEDS_PROGRAM, dap_set_exception_breakpoints, NULL },
	{ "continue", DAP_NEEDS_CONTROL, dap_continue, NULL },
	{ "pause", DAP_NEEDS_CONTROL, dap_pause, dap_after_pause },
	{ "next", DAP_NEEDS_CONTROL, dap_step_missing, NULL },
	{ "stepIn", DAP_NEEDS_CONTROL, dap_step_missing, NULL },
	{ "stepOut", DAP_NEEDS_CONTROL, dap_step_missing, NULL },
	{ 0 },
};
