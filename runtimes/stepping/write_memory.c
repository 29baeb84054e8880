#include "runtimes/stepping/write_memory.h"

#include "debugger/live/tracer.h"
#include "runtimes/stepping/control.h"

struct error *write_memory(struct control *c, uint64_t addr, const void *bytes, size_t len)
{
	struct tracer_request request = { .kind = TRACER_WRITE_MEMORY,
		                          .write = { .addr = addr, .bytes = bytes, .len = len } };

	if (!c->pid)
		return error_new(ERR_STATE, "only a program under control can be written to: "
		                            "\"attach\" takes a process under control");
	return tracer_request(c->tracer, &request);
}
