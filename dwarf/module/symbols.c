#include "dwarf/module/symbols.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"

static const char *symbols_section_of(const struct module *m, uint64_t addr, struct arena *a)
{
	GElf_Addr at = addr, bias;
	Elf_Scn *scn = dwfl_module_address_section(m->dwfl, &at, &bias);
	Elf *elf = dwfl_module_getelf(m->dwfl, &bias);
	GElf_Shdr shdr;
	size_t names;

	if (!scn || !elf || !gelf_getshdr(scn, &shdr) || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	const char *name = elf_strptr(elf, names, shdr.sh_name);
	return name && *name ? str_clean(a, name, strlen(name)) : NULL;
}

bool symbol_at(struct debuginfo *di, uint64_t addr, struct arena *a, struct symbol_place *ret)
{
	const struct module *m = module_at(di->target, addr);
	GElf_Off offset = 0;
	GElf_Sym sym;

	*ret = (struct symbol_place){ 0 };
	if (!m || !m->dwfl)
		return false;
	ret->section = symbols_section_of(m, addr, a);
	const char *name = dwfl_module_addrinfo(m->dwfl, addr, &offset, &sym, NULL, NULL, NULL);
	/* The nearest symbol before the address must cover it. */
	if (name && offset < sym.st_size) {
		ret->name = demangle(a, name);
		ret->offset = offset;
		ret->size = sym.st_size;
	}
	return true;
}

const char *symbol_thread_local(struct debuginfo *di, const struct module *m, uint64_t offset,
                                struct arena *a)
{
	struct dwarf_module *dm = debuginfo_module(di, m);
	const struct tls_symbols *symbols = dm ? debuginfo_tls_symbols(dm) : NULL;

	for (size_t i = 0; symbols && i < symbols->n; i++) {
		const struct symbol *s = &symbols->data[i];

		if (offset >= s->value && offset - s->value < s->size)
			return demangle(a, s->name);
	}
	return NULL;
}
