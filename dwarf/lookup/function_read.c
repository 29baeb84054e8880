/* Reads a function's DIE: its parameters and variables. */
#include <dwarf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/function_die.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/line.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/die_attrs.h"
#include "dwarf/types/type.h"

/* MAX_ORIGINS: steps from a concrete function to its abstract origin and to its declaration. */
enum { MAX_ORIGINS = 4 };

bool function_each_origin(struct dwarf_module *dm, uint64_t die, function_fn *look, void *arg)
{
	struct die_attrs attrs;

	for (int hops = 0; die && hops < MAX_ORIGINS; hops++) {
		struct die d;

		if (!die_attrs_open(dm, die, &d))
			return false;
		struct die again = d;
		if (look(dm, &d, arg))
			return true;
		die_attrs_read(&again, &attrs);
		die = attrs.origin;
	}
	return false;
}

static bool find_linkage(struct dwarf_module *dm, struct die *function, void *arg)
{
	const char **linkage = arg;
	struct attribute at;
	struct attribute_value v;

	(void)dm;
	while (!*linkage && die_next(function, &at, &v)) {
		if (at.name == DW_AT_linkage_name || at.name == DW_AT_MIPS_linkage_name)
			*linkage = v.string;
	}
	return *linkage != NULL;
}

const char *function_read_linkage(struct dwarf_module *dm, uint64_t function)
{
	const char *linkage = NULL;

	function_each_origin(dm, function, find_linkage, &linkage);
	return linkage;
}

struct child_search {
	unsigned tag;
	const char *name; /* NULL: the first one */
	const struct type *found;
};

static bool find_child(struct dwarf_module *dm, struct die *function, void *arg)
{
	struct child_search *search = arg;
	struct die_attrs attrs;
	struct die d;

	for (bool any = die_child(function, &d); any; any = die_sibling(&d, &d)) {
		if (d.tag != search->tag)
			continue;
		die_attrs_read(&d, &attrs);
		die_attrs_complete(dm, &attrs);
		if (attrs.type &&
		    (!search->name || (attrs.name && strcmp(attrs.name, search->name) == 0))) {
			search->found = type_at(dm, attrs.type);
			return true;
		}
	}
	return false;
}

const struct type *function_read_param(const struct function *f, const char *name)
{
	struct child_search search = { DW_TAG_template_type_parameter, name, NULL };

	function_each_origin(f->dm, f->die, find_child, &search);
	return search.found;
}

const struct type *function_read_first_argument(const struct function *f)
{
	struct child_search search = { DW_TAG_formal_parameter, NULL, NULL };

	function_each_origin(f->dm, f->die, find_child, &search);
	return search.found;
}

struct function_read_variable_search {
	const char *name;
	int depth;
	const struct type *found;
};

static bool find_variable(struct dwarf_module *dm, struct die *scope, void *arg)
{
	struct function_read_variable_search *search = arg;
	struct die_attrs attrs;
	struct die d;

	if (search->depth > DIE_MAX_NESTING)
		return false;
	for (bool any = die_child(scope, &d); any; any = die_sibling(&d, &d)) {
		if (d.tag == DW_TAG_lexical_block) {
			struct die block = d;

			search->depth++;
			bool found = find_variable(dm, &block, search);
			search->depth--;
			if (found)
				return true;
		}
		if (d.tag != DW_TAG_variable && d.tag != DW_TAG_formal_parameter)
			continue;
		die_attrs_read(&d, &attrs);
		die_attrs_complete(dm, &attrs);
		if (attrs.type && attrs.name && strcmp(attrs.name, search->name) == 0) {
			search->found = type_at(dm, attrs.type);
			return true;
		}
	}
	return false;
}

const struct type *function_read_variable(const struct function *f, const char *name)
{
	struct function_read_variable_search search = { .name = name };

	function_each_origin(f->dm, f->die, find_variable, &search);
	return search.found;
}

/*
 * Searches for the nth variable `__awaitee` of a type of that name, depth first as in the source.
 */
struct awaitee_search {
	struct awaitee awaitee;
	unsigned skip;
	int depth;
	struct unit *unit;
	uint64_t file, line;
};

static bool function_read_is_awaitee(struct dwarf_module *dm, struct awaitee_search *search,
                                     struct die_attrs *attrs)
{
	uint64_t type = attrs->type; /* of the variable itself, not of its origin */

	die_attrs_complete(dm, attrs);
	if (!type || !attrs->name || strcmp(attrs->name, "__awaitee") != 0)
		return false;
	return strcmp(type_name(type_at(dm, type)), search->awaitee.type) == 0;
}

static bool find_awaitee(struct dwarf_module *dm, struct die *scope, struct awaitee_search *search)
{
	struct die_attrs attrs;
	struct die d;

	if (search->depth > DIE_MAX_NESTING)
		return false;
	for (bool any = die_child(scope, &d); any; any = die_sibling(&d, &d)) {
		struct die block = d;

		if (d.tag == DW_TAG_variable) {
			die_attrs_read(&d, &attrs);
			if (!function_read_is_awaitee(dm, search, &attrs) || search->skip-- != 0)
				continue;
			search->unit = d.u;
			search->file = attrs.file.value;
			search->line = attrs.line.value;
			return true;
		}
		if (d.tag != DW_TAG_lexical_block)
			continue;
		search->depth++;
		bool found = find_awaitee(dm, &block, search);
		search->depth--;
		if (found)
			return true;
	}
	return false;
}

static bool find_awaitee_line(struct dwarf_module *dm, struct die *function, void *arg)
{
	struct awaitee_search *search = arg;

	search->skip = search->awaitee.nth;
	return find_awaitee(dm, function, search) && search->line;
}

/* If the body was inlined or copied, the lines are in the abstract function. */
bool function_read_awaitee_place(struct dwarf_module *dm, uint64_t poll,
                                 const struct awaitee *awaitee, const char **file, unsigned *line)
{
	struct awaitee_search search = { .awaitee = *awaitee };

	if (!function_each_origin(dm, poll, find_awaitee_line, &search))
		return false;
	*line = (unsigned)search.line;
	*file = line_file(dm, search.unit, (unsigned)search.file);
	return *file != NULL;
}
