/*
 * What hyper's connections are made of: which parts are futures, and which are none. Each kind of
 * connection is a type of its own, and in optimised code what polls it has its poll function
 * inlined: the source of the crate says it without a search of the debug info, which may find no
 * trace of it.
 */
#ifndef RUNTIMES_CONNECTION_H
#define RUNTIMES_CONNECTION_H

enum connection_part {
	CONNECTION_NONE, /* the name is of none that is known */
	CONNECTION_FUTURE,
	CONNECTION_TOOL, /* no future, though it may have some inside */
};

/* Of a type of that name. hyper 0.14.32, 1.0.0 and 1.12.0, hyper-util 0.1.21. */
enum connection_part connection_part(const char *type_name);

#endif
