/* Writes and reads the records of inlined marker functions (inlined.h). */
#include "dwarf/lookup/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "debugger/base/vec.h"
#include "dwarf/module/line.h"
#include "dwarf/records/records.h"

enum { MAX_CHAIN = 128 /* marker functions, one inlined in another */ };

/* A marker function that is inlined. */
struct inlined {
	uint64_t function;
	unsigned depth; /* number of marker functions around it, itself included */
	const char *file;
	unsigned line; /* line of the call in the next marker function around it */
	struct inlined_range {
		uint64_t low, size;
	} * ranges;
	size_t nranges;
};

struct keeper {
	struct dwarf_module *dm;
	struct unit *u;
	inlined_wanted *wanted;
	void *arg;
	VEC(struct inlined) found;
	struct arena arena;
};

struct inlined_call {
	const char *file;
	unsigned line;
};

static uint64_t inlined_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &value) == 0 ? value : 0;
}

static uint64_t origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin)
	               ? dwarf_dieoffset(&origin)
	               : 0;
}

static void read_ranges(struct keeper *k, Dwarf_Die *die, struct inlined *ret)
{
	VEC(struct inlined_range) ranges = { 0 };
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (high > low)
			*vec_push(&ranges) = (struct inlined_range){ low, high - low };
	}
	ret->nranges = ranges.n;
	ret->ranges = vec_to_arena(&ranges, &k->arena);
}

/* outer: the call in the next marker function around; NULL: this level is directly below it. */
static void inlined_descend(struct keeper *k, Dwarf_Die *die, unsigned depth,
                            const struct inlined_call *outer, int level)
{
	Dwarf_Die child;

	if (level > DIE_MAX_NESTING || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_lexical_block)
			inlined_descend(k, &child, depth, outer, level + 1);
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		struct inlined_call call = outer ? *outer : (struct inlined_call){ NULL, 0 };
		uint64_t function = origin_of(&child);

		if (!outer) {
			call.file = line_file(k->dm, k->u,
			                      (unsigned)inlined_number_of(&child, DW_AT_call_file));
			call.line = (unsigned)inlined_number_of(&child, DW_AT_call_line);
		}
		bool tells = function && k->wanted(k->dm, function, k->arg);
		if (tells) {
			struct inlined *one = vec_push(&k->found);

			*one = (struct inlined){
				function, depth + 1, call.file, call.line, NULL, 0
			};
			read_ranges(k, &child, one);
		}
		inlined_descend(k, &child, depth + tells, tells ? NULL : &call, level + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void keep(struct keeper *k, uint64_t die)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(k->dm), RECORD_INLINES, die, NULL);
	record_add_text(&d, k->u->comp_dir);
	record_add_number(&d, k->found.n);
	for (size_t i = 0; i < k->found.n; i++) {
		const struct inlined *one = &k->found.data[i];

		record_add_number(&d, one->depth);
		record_add_number(&d, one->function);
		record_add_text(&d, one->file);
		record_add_number(&d, one->line);
		record_add_number(&d, one->nranges);
		for (size_t j = 0; j < one->nranges; j++) {
			record_add_number(&d, one->ranges[j].low);
			record_add_number(&d, one->ranges[j].size);
		}
	}
	record_end(&d);
}

bool inlined_keep(struct dwarf_module *dm, uint64_t die, inlined_wanted *wanted, void *arg)
{
	struct keeper k = {
		.dm = dm, .u = debuginfo_unit_of(dm, die), .wanted = wanted, .arg = arg
	};
	Dwarf_Die d;

	if (!k.u || !dwarf_offdie(dm->dwarf, die, &d))
		return false;
	inlined_descend(&k, &d, 0, NULL, 0);
	bool any = k.found.n != 0;
	if (any)
		keep(&k, die);
	vec_free(&k.found);
	arena_free(&k.arena);
	return any;
}

/* ---- reading ---- */

static bool covers(struct record *record, uint64_t pc)
{
	bool found = false;

	for (size_t n = record_count(record); n; n--) {
		uint64_t low = record_number(record), size = record_number(record);

		found |= pc >= low && pc - low < size;
	}
	return found;
}

static size_t read_chain(struct record *record, uint64_t pc, struct inlined chain[MAX_CHAIN])
{
	size_t n = 0;

	for (size_t left = record_count(record); left; left--) {
		struct inlined one = { .depth = (unsigned)record_number(record) };

		one.function = record_number(record);
		one.file = record_text(record);
		one.line = (unsigned)record_number(record);
		/* The records are sorted outermost first; two at one depth share no address. */
		if (covers(record, pc) && one.depth == n + 1 && n < MAX_CHAIN)
			chain[n++] = one;
	}
	return n;
}

struct location *inlined_places(const struct function *f, uint64_t pc, struct arena *a, bool lines,
                                size_t *nret)
{
	struct inlined chain[MAX_CHAIN];
	const char *comp_dir;
	struct record record;

	if (!record_find(debuginfo_records(f->dm), RECORD_INLINES, f->die, NULL, &record))
		return NULL;
	comp_dir = record_text(&record);
	size_t n = read_chain(&record, pc, chain);
	struct location *ret = NEW_ARRAY(a, struct location, n + 1);
	for (size_t i = 0; i <= n; i++) {
		struct location *l = &ret[i]; /* innermost first */
		size_t depth = n - i;         /* 0: the physical function */

		l->function = depth ? lookup_function_die(f->dm, chain[depth - 1].function) : f;
		l->comp_dir = comp_dir;
		l->inlined = depth > 0;
		if (l->function) {
			l->name = l->function->name;
			l->linkage = l->function->linkage;
		}
		if (lines && i > 0) {
			l->file = chain[depth].file;
			l->line = chain[depth].line;
		}
	}
	*nret = n + 1;
	return ret;
}
