/*
 * Finds the argument that tells whether a call passes None: a worker of tokio that parks without a
 * limit passes None as the duration.
 */
#ifndef RUNTIMES_COMMON_NONE_ARGUMENT_H
#define RUNTIMES_COMMON_NONE_ARGUMENT_H

#include <stdbool.h>
#include <stdint.h>

struct debuginfo;
struct dwarf_module;
struct function;

struct none_argument {
	unsigned reg;  /* DWARF number of the register that tells, at the function's entry */
	uint32_t none; /* the lower half of it where the argument is None */
};

/*
 * The parameter of that name of the function at a link-time address: by a layout file, else by the
 * debug info. False: unknown.
 */
bool none_argument_of(struct debuginfo *di, struct dwarf_module *dm, uint64_t link,
                      const char *name, struct none_argument *ret);
/* Notes the argument for a layout file, where it is known. */
void none_argument_note(const struct function *f, const char *name);

#endif
