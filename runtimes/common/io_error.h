/* std::io::Error. */
#ifndef RUNTIMES_COMMON_IO_ERROR_H
#define RUNTIMES_COMMON_IO_ERROR_H

#include "dwarf/values/show_rows.h"

/* Rows for show_register(): errors of std::io printed as values. */
extern const struct show_row io_error_shown[];

#endif
