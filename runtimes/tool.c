#include "runtimes/tool.h"

#include <string.h>

#include "dwarf/qualified.h"

/* Ends of their names, and modules that have nothing else. */
static const char *const tools[] = { "Barrier", "DuplexStream", "Guard",     "LinkedList", "Mutex",
	                             "Notify",  "Permit",       "RwLock",    "Semaphore",  "Sender",
	                             "Waiter",  "Waitlist",     "WeakSender" };
static const char *const tool_modules[] = { "tokio::loom::", "tokio::sync::mpsc::",
	                                    "tokio::sync::watch::" };

/* Does the type's path, generics cut, end so? */
static bool ends_with(const char *type_name, const char *end)
{
	size_t len = qualified_base_len(type_name), wanted = strlen(end);

	return len >= wanted && strncmp(type_name + len - wanted, end, wanted) == 0;
}

bool tool_is_named(const char *type_name)
{
	static const char crate[] = "tokio::";

	if (strncmp(type_name, crate, sizeof(crate) - 1) != 0)
		return false;
	for (size_t i = 0; i < sizeof(tool_modules) / sizeof(tool_modules[0]); i++) {
		if (strncmp(type_name, tool_modules[i], strlen(tool_modules[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (ends_with(type_name, tools[i]))
			return true;
	}
	return false;
}
