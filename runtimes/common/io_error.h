/* std::io::Error. */
#ifndef RUNTIMES_COMMON_IO_ERROR_H
#define RUNTIMES_COMMON_IO_ERROR_H

#include "dwarf/values/show_rows.h"

/* How errors of std::io are printed as values. Rows for show_register(). */
extern const struct show_row io_error_shown[];

#endif
