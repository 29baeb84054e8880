/* Recognises libraries without Rust code, without opening their debug info. */
#include <string.h>

#include "dwarf/module/debuginfo.h"

/* Prefixes of their file names: glibc's and musl's libraries, the compiler's own. */
static const char *const table[] = {
	"libc.so.",     "libc-2.",       "libm.so.",       "libm-2.",       "libmvec.so.",
	"libdl.so.",    "librt.so.",     "libpthread.so.", "libpthread-2.", "libresolv.so.",
	"libgcc_s.so.", "libstdc++.so.", "ld-linux",       "ld-2.",         "ld-musl-",
	"libc.musl-",   "libnss_",       "linux-vdso",
};

bool debuginfo_is_system(const struct module *m)
{
	const char *slash = strrchr(m->path, '/');
	const char *name = slash ? slash + 1 : m->path;

	if (m->is_vdso)
		return true;
	for (size_t i = 0; !m->is_main && i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(name, table[i], strlen(table[i])) == 0)
			return true;
	}
	return false;
}
