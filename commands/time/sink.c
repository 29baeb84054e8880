#include "commands/time/sink.h"

void sink_freep(struct sink **s)
{
	if (*s)
		(*s)->ops->free(*s);
}
