#include "runtimes/tool.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/qualified.h"

/* Ends of their names, and modules that have nothing else. */
static const char *const tools[] = { "Barrier", "DuplexStream", "Guard",     "LinkedList", "Mutex",
	                             "Notify",  "Permit",       "RwLock",    "Semaphore",  "Sender",
	                             "Waiter",  "Waitlist",     "WeakSender" };
static const char *const tool_modules[] = { "tokio::loom::", "tokio::sync::mpsc::",
	                                    "tokio::sync::watch::" };

bool path_ends_with(const char *type_name, const char *end)
{
	size_t len = qualified_base_len(type_name), wanted = strlen(end);

	return len >= wanted && strncmp(type_name + len - wanted, end, wanted) == 0;
}

bool tool_is_named(const char *type_name)
{
	if (!str_begins(type_name, "tokio::"))
		return false;
	for (size_t i = 0; i < sizeof(tool_modules) / sizeof(tool_modules[0]); i++) {
		if (str_begins(type_name, tool_modules[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (path_ends_with(type_name, tools[i]))
			return true;
	}
	return false;
}
