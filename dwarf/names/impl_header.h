/*
 * Reads from the legacy symbol of a function `poll` or `poll_next` which type it is implemented
 * for:
 * "_ZN55_$LT$app..Foo$LT$T$GT$$u20$as$u20$core..future..future..Future$GT$4poll17h<hash>E" is from
 * "impl<T> Future for app::Foo<T>". Symbols do not contain which instance it is. The trait Stream
 * is futures_core::stream::Stream.
 */
#ifndef DWARF_NAMES_IMPL_HEADER_H
#define DWARF_NAMES_IMPL_HEADER_H

#include <stdbool.h>
#include <stddef.h>

enum poll_form {
	POLL_FORM_VAGUE, /* the type is no plain path */
	POLL_FORM_PLAIN, /* a type without generics */
	POLL_FORM_OPEN,  /* each argument is a parameter of the impl or an associated type of one */
	POLL_FORM_CLOSED, /* some argument is a concrete type: "Foo<u8>" */
};

struct poll_header {
	enum poll_form form;
	const char *path; /* "app..Foo", path_len bytes in the name; NULL when vague */
	size_t path_len;
};

/* symbol[0..len) is the part of a symbol before "4poll17h" or "9poll_next17h"; it may be any text.
 */
struct poll_header impl_header_read(const char *symbol, size_t len);

#endif
