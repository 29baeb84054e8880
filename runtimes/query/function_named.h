/* Functions by the name that asyncdbg shows of them. */
#ifndef RUNTIMES_QUERY_FUNCTION_NAMED_H
#define RUNTIMES_QUERY_FUNCTION_NAMED_H

#include "dwarf/lookup/code_places.h"

/*
 * Like lookup_function_places(), but for names with generics, too, which mean that instance alone:
 * "app::eat<u8>", "<app::Doubler as app::Handler>::handle".
 */
struct error *function_named_places(struct debuginfo *di, const char *name, struct arena *a,
                                    struct code_places *ret) MUST_CHECK;

#endif
