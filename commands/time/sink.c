#include "commands/time/sink.h"

#include <errno.h>

void sink_freep(struct sink **s)
{
	if (*s)
		(*s)->ops->free(*s);
}

struct error *sink_error(struct sink *s)
{
	struct error *err = s->ops->error ? s->ops->error(s) : NULL;

	if (!err && ferror(s->f))
		err = error_os(errno ? errno : EIO, "the file");
	return err;
}
