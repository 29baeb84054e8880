#include "runtimes/trace/returns.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/inspector.h"

enum {
	MAX_LEVELS = 6,     /* levels of callers that return at once themselves */
	MAX_SITES = 64,     /* sites of one such search */
	ENTRY_TO_AFTER = 8, /* a return takes the return address from the stack */
	NEAR = 24,          /* bytes before an indirect call in which its table is loaded */
};

/* A search for the sites of one call. */
struct returns_search {
	const struct returns *r;
	uint64_t after; /* of the innermost call */
	int32_t delta;  /* of the stack pointer, from the entry of the innermost callee */
	bool no_result; /* the callers up to here may return something else */
	unsigned level, nfound;
};

static void search_return(struct returns_search *s, uint64_t after);

static void returns_report(struct returns_search *s, const struct code_function *f,
                           const struct code_site *site)
{
	struct arena *a = s->r->a;
	const char *name = *f->name ? name_without_generics(a, demangle(a, f->name)) : NULL;

	if (s->nfound++ >= MAX_SITES)
		return;
	s->r->found(&(struct return_site){ name ? inspector_clean_name(a, name) : NULL, s->after,
	                                   site->address, s->delta + site->stack_delta, site->slow,
	                                   site->has_result && !s->no_result },
	            s->r->arg);
}

static void visit_caller(uint64_t next, void *arg)
{
	search_return(arg, next);
}

/*
 * Searches the returns of the callers, where a caller returns at once: no instruction in between is
 * emulated. False: nothing calls the function directly.
 */
static bool search_outer(struct returns_search *s, const struct code_function *f, int32_t to_return,
                         bool keeps_result)
{
	struct returns_search outer = *s;

	if (s->level >= MAX_LEVELS)
		return false;
	outer.level++;
	outer.delta += to_return;
	outer.no_result |= !keeps_result;
	code_map_each_caller(s->r->code, f->low, visit_caller, &outer);
	bool found = outer.nfound > s->nfound;
	s->nfound = outer.nfound;
	return found;
}

static void search_return(struct returns_search *s, uint64_t after)
{
	const struct code_function *f = code_map_at(s->r->code, after - 1);
	struct code_bytes bytes;
	struct code_site site;
	int32_t to_return;
	bool keeps_result;

	if (!f || s->nfound >= MAX_SITES || !code_map_bytes(s->r->code, f, &bytes) ||
	    !code_return_site(&bytes, after, false, &site))
		return;
	if (site.slow && code_leads_to_return(&bytes, after, &to_return, &keeps_result) &&
	    search_outer(s, f, to_return, keeps_result))
		return;
	if (site.slow && s->r->over_calls && !code_return_site(&bytes, after, true, &site))
		return;
	returns_report(s, f, &site);
}

bool returns_of_address(const struct returns *r, uint64_t after)
{
	struct returns_search s = { .r = r, .after = after, .delta = ENTRY_TO_AFTER };

	search_return(&s, after);
	return s.nfound > 0;
}

static void visit_call(uint64_t after, void *arg)
{
	returns_of_address(arg, after);
}

void returns_of_function(const struct returns *r, uint64_t function)
{
	struct returns copy = *r;

	code_map_each_caller(r->code, function, visit_call, &copy);
}

/* ---- calls through a table ---- */

/* The name of the function in which a closure is; of other functions their own. */
static const char *without_closure(struct arena *a, const char *name)
{
	const char *closure = strstr(name, "::{closure");

	return closure ? arena_strndup(a, name, (size_t)(closure - name)) : name;
}

static bool is_caller(const char *whole, const struct runtime *runtime, struct arena *tmp)
{
	const char *within = runtime->tracing.poll_caller_within,
		   *own = runtime->tracing.poll_caller;

	if (!str_begins(whole, within))
		return false;
	const char *name = without_closure(tmp, whole), *last = qualified_last(name);

	return last > name + strlen(within) && qualified_base_len(last) == strlen(own) &&
	       str_begins(last, own);
}

/* Whether the code before a link-time address is of one of the callers, inlined. */
static bool is_inlined(const struct returns *r, uint64_t after)
{
	SCRATCH(tmp);
	uint64_t pc = after - 1 + r->code->dm->module->bias;
	size_t n;
	const struct location *l = lookup_rust_functions_at(r->in->di, pc, &tmp, &n);

	for (size_t i = 0; l && i < n; i++) {
		if (l[i].name && is_caller(l[i].name, r->runtime, &tmp))
			return true;
	}
	return false;
}

/* Whether an instruction is "mov offset(register), register": of 32 or 64 bits. */
static bool loads_from(const uint8_t *at, size_t len, uint64_t offset)
{
	bool indexed = (at[1] & 7) == 4;

	if (at[0] != 0x8b)
		return false;
	if ((at[1] & 0xc0) == 0x40)
		return at[2] == offset || (len > 3 && at[3] == offset);
	return offset == 0 && (at[1] & 0xc0) == 0 && (at[1] & 7) != 5 &&
	       (!indexed || (at[2] & 7) != 5);
}

/*
 * Whether the bytes before an indirect call load a pointer at table_offset of an object, as a call
 * through its table does: most other indirect calls are sorted out without debug info.
 */
static bool loads_table(const uint8_t *call, size_t before, uint64_t table_offset)
{
	size_t n = before < NEAR ? before : NEAR;

	for (size_t i = 3; i <= n; i++) {
		if (loads_from(call - i, i, table_offset))
			return true;
	}
	return table_offset == 0 && n >= 2 && loads_from(call - 2, 2, 0);
}

/* Bytes of an indirect call (ff /2) through a register or memory; 0: it is none. */
static size_t indirect_call_len(const uint8_t *at, size_t left)
{
	if (left < 3 || at[0] != 0xff || (at[1] & 0x38) != 0x10)
		return 0;
	size_t sib = (at[1] & 0xc0) != 0xc0 && (at[1] & 7) == 4;

	switch (at[1] & 0xc0) {
	case 0xc0:
		return 2;
	case 0x40:
		return 3 + sib;
	case 0x00:
		return (at[1] & 7) == 5 ? 0 : 2 + sib;
	}
	return 0;
}

static void search_inlined(const struct returns *r, uint64_t table_offset)
{
	const struct code_map *m = r->code;

	for (size_t i = 0; i + 8 < m->text_len; i++) {
		const uint8_t *at = memchr(m->text + i, 0xff, m->text_len - i - 8);

		if (!at)
			return;
		i = (size_t)(at - m->text);
		size_t len = indirect_call_len(at, m->text_len - i);
		uint64_t after = m->text_address + i + len;
		if (len && loads_table(at, i, table_offset) && is_inlined(r, after))
			returns_of_address(r, after);
	}
}

/* ---- calls through a table, without names ---- */

/* A load of 8 bytes of memory into a register: "mov offset(base), to". */
struct load {
	unsigned base, to; /* numbers of registers, as instructions have them */
	uint8_t offset;
};

static bool read_load(const uint8_t *at, struct load *ret)
{
	uint8_t prefix = at[0], operands = at[2];
	bool indexed = (operands & 7) == 4;

	if ((prefix & 0xf8) != 0x48 || at[1] != 0x8b || (operands & 0xc0) != 0x40 ||
	    (indexed && at[3] != 0x24))
		return false;
	*ret = (struct load){ (operands & 7U) | (prefix & 1U) << 3,
		              (operands >> 3 & 7U) | (prefix & 4U) << 1, at[3 + indexed] };
	return true;
}

/* Whether an indirect call, or a jump, whose second byte is at[1] takes its target from there. */
static bool goes_through(const uint8_t *at, unsigned base, uint64_t offset)
{
	bool extended = at[-1] == 0x41, indexed = (at[1] & 7) == 4;
	unsigned own = (at[1] & 7U) | (extended ? 8U : 0U);

	if (own != base || (indexed && at[2] != 0x24))
		return false;
	switch (at[1] & 0xc0) {
	case 0x00:
		return offset == 0 && (at[1] & 7) != 5;
	case 0x40:
		return at[2 + indexed] == offset;
	}
	return false;
}

/* Whether bytes up to end have "mov of, %rdi", or of is that register: the first argument. */
static bool passes(const uint8_t *at, const uint8_t *end, unsigned of)
{
	enum { RDI = 7 };
	const uint8_t stored[] = { (uint8_t)(0x48 | (of >> 3) << 2), 0x89,
		                   (uint8_t)(0xc0 | (of & 7) << 3 | RDI) };
	const uint8_t loaded[] = { (uint8_t)(0x48 | of >> 3), 0x8b,
		                   (uint8_t)(0xc0 | RDI << 3 | (of & 7)) };

	return of == RDI || memmem(at, (size_t)(end - at), stored, sizeof(stored)) ||
	       memmem(at, (size_t)(end - at), loaded, sizeof(loaded));
}

/*
 * Whether the code before an indirect call, or a jump, takes the table of an object, then a
 * function from it, and passes the object on to that.
 */
static bool is_nameless_poll(const uint8_t *at, size_t before, const struct probe_id *id)
{
	enum { FAR = 40 };
	size_t n = before < FAR ? before : FAR;
	struct load load;

	for (size_t i = 4; i <= n; i++) {
		if (read_load(at - i, &load) && load.offset == id->table_offset &&
		    goes_through(at, load.to, id->poll_slot) && passes(at - n, at, load.base))
			return true;
	}
	return false;
}

/* Handles a tail jump: its target returns to the callers of the function that jumps. */
static void search_jump(const struct returns *r, uint64_t address)
{
	const struct code_function *f = code_map_at(r->code, address);
	struct code_bytes bytes;

	if (f && code_map_bytes(r->code, f, &bytes) && code_is_tail_jump_thunk(&bytes))
		returns_of_function(r, f->low);
}

static void search_nameless(const struct returns *r, const struct probe_id *id)
{
	const struct code_map *m = r->code;

	for (size_t i = 1; i + 8 < m->text_len; i++) {
		const uint8_t *at = memchr(m->text + i, 0xff, m->text_len - i - 8);

		if (!at)
			return;
		i = (size_t)(at - m->text);
		bool jumps = (at[1] & 0x38) == 0x20;
		size_t len = indirect_call_len(at, m->text_len - i);
		if ((!jumps && !len) || !is_nameless_poll(at, i, id))
			continue;
		if (jumps)
			search_jump(r, m->text_address + i);
		else
			returns_of_address(r, m->text_address + i + len);
	}
}

void returns_of_polls(const struct returns *r, const uint64_t *callers, size_t n,
                      const struct probe_id *id)
{
	struct returns copy = *r;
	struct code_bytes bytes;

	for (size_t i = 0; i < n; i++) {
		const struct code_function *f = code_map_at(r->code, callers[i]);

		if (!f || !code_map_bytes(r->code, f, &bytes))
			continue;
		if (code_is_tail_jump_thunk(&bytes))
			returns_of_function(r, f->low);
		else
			code_each_indirect_call(&bytes, visit_call, &copy);
	}
	if (r->nameless)
		search_nameless(r, id);
	else if (r->runtime->tracing.poll_caller)
		search_inlined(r, id->table_offset);
}
