/* Variables of let chains, and no others of unset.rs, may be visible behind their scopes. */
#include "dwarf/frame/wide_scope.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/test/module.h"

struct wide_names {
	struct dwarf_module *dm;
	Dwarf_Die *function;
	struct str names;
	size_t seen; /* variables */
};

static void walk(struct wide_names *w, Dwarf_Die *block)
{
	Dwarf_Die child;

	if (dwarf_child(block, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_lexical_block)
			walk(w, &child);
		if (dwarf_tag(&child) != DW_TAG_variable)
			continue;
		w->seen++;
		if (wide_scope_has(w->dm, w->function, block, &child))
			str_printf(&w->names, "%s ", dwarf_diename(&child));
	} while (dwarf_siblingof(&child, &child) == 0);
}

static bool is_of_program(const char *name)
{
	return name && str_begins(name, "unset::") && !str_begins(name, "unset::unset");
}

static void test_chains(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/unset.elf");
	struct wide_names w = { 0 };
	size_t n;
	const struct scope *scopes = read_scopes(&f, &n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		const struct function *function =
			scopes[i].tag == DW_TAG_subprogram && scopes[i].has_address
				? lookup_function(f.di, scopes[i].low + BIAS)
				: NULL;
		Dwarf_Die die;

		if (!function || !is_of_program(function->name) || !debuginfo_need(function->dm) ||
		    !dwarf_offdie(function->dm->dwarf, function->die, &die))
			continue;
		w.dm = function->dm;
		w.function = &die;
		walk(&w, &die);
	}
	assert_string_equal(str_text(&w.names), "x y ");
	assert_true(w.seen > 10);
	str_free(&w.names);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_chains) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
