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
 * Returns answer, a shortcut's answer to lookup_polled_as(), of which only the bits of mask are
 * meant. Ends the process when a search through all units of the module finds something else. A
 * shortcut may miss one bit of two.
 */
unsigned verify_polled_as(const struct type *t, unsigned answer, unsigned mask,
                          const char *shortcut);
#else
#define verify_polled_as(t, answer, mask, shortcut) (answer)
#endif

#endif
