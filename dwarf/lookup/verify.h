/*
 * Compares what a shortcut says with the full search. Only the asyncdbg that the tests build for it
 * does so (testdata/run/verify.c); elsewhere nothing is left of it.
 */
#ifndef DWARF_LOOKUP_VERIFY_H
#define DWARF_LOOKUP_VERIFY_H

#include <stdbool.h>

struct type;

#ifdef VERIFY_SHORTCUTS
/*
 * Returns answer, a shortcut's answer to lookup_has_poll(). Ends the process when a search through
 * all units of the module says something else.
 */
bool verify_has_poll(const struct type *t, bool answer, const char *shortcut);
#else
#define verify_has_poll(t, answer, shortcut) (answer)
#endif

#endif
