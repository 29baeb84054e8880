#include "dwarf/names/diverging.h"

#include <stddef.h>

#include "debugger/base/str.h"

bool diverging_is(const char *name)
{
	static const char *const begins[] = {
		"core::panicking::",       "std::panicking::begin_panic",
		"core::option::unwrap_f",  "core::option::expect_f",
		"core::result::unwrap_f",  "core::slice::index::slice_",
		"core::str::slice_error",  "alloc::raw_vec::handle_error",
		"alloc::alloc::handle_al", "std::process::exit",
		"std::process::abort",     "_Unwind_Resume",
		"core::cell::panic_",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		if (str_begins(name, begins[i]))
			return true;
	}
	return false;
}
