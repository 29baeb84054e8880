/* For fuzzers: every query of debug info, wherever that came from. */
#ifndef DWARF_TEST_ASK_ALL_H
#define DWARF_TEST_ASK_ALL_H

#include "debugger/test/fuzz.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show.h"
#include "dwarf/values/unwrap_newtype.h"

enum { ASK_MEMORY = 0x70000000, ASK_MEMORY_SIZE = 1 << 14, ASK_MAX_LISTED = 64 };

/* Memory for values: words that lead into it, small numbers, text. */
static inline void ask_map_memory(struct target *t)
{
	static uint64_t words[ASK_MEMORY_SIZE / 8];

	for (size_t i = 0; i < ASK_MEMORY_SIZE / 8; i++) {
		static const uint64_t small[] = { 0, 1, 2, 3, 5, 8, 0x6162636465666768, 16 };

		words[i] = i % 3 ? ASK_MEMORY + i * 56 % ASK_MEMORY_SIZE : small[i / 3 % 8];
	}
	target_fake_map(t, ASK_MEMORY, words, sizeof(words));
}

static inline void ask_value(struct debuginfo *di, struct show_cache *cache, struct arena *a,
                             struct value v)
{
	struct target *t = di->target;
	const struct variant *variant;
	const char *text;
	struct slice slice;
	struct value to;
	uint64_t number;
	bool found;

	fuzz_check_line(show_value(t, di, cache, a, v, NULL));
	show_word(t, di, cache, a, v.type, 1, NULL);
	error_free(value_variant(t, v, &variant));
	if (type_kind(v.type) == TYPE_ENUM || type_kind(v.type) == TYPE_CENUM)
		error_free(value_enum_name(t, v, &text));
	error_free(value_uint(t, v, &number));
	error_free(value_slice(t, v, &slice));
	error_free(value_shared(t, v, &to));
	error_free(value_string(t, a, v, 100, &text));
	error_free(show_deref(t, cache, v, &to, &found));
	error_free(show_index(t, cache, v, 1, &to));
}

static inline void ask_path(struct target *t, struct arena *a, struct value v, const char *expr)
{
	const struct path *path;
	struct error *err = path_resolve(a, v.type, expr, &path);
	struct value to;
	uint64_t number;
	bool found;

	if (!err) {
		path_plan(a, path);
		path_type(path);
		path_first_pointer(path, &number);
		path_offset(path, &number);
		err = path_eval(t, path, v, &to, &found);
	}
	error_free(err);
}

static inline void ask_type(struct debuginfo *di, struct show_cache *cache, struct arena *a,
                            const struct type *type)
{
	static const char *const paths[] = { "__0", "0.1 | ptr.pointer", "Some.0.inner",
		                             "head.next" };
	struct value v = { type, ASK_MEMORY + 0x80 };
	unsigned line;
	const char *file;
	size_t n;

	if (!type)
		return;
	type_kind(type);
	type_align(type);
	type_is_dyn(type);
	type_is_slice(type);
	type_is_coroutine(type);
	type_single_member(type);
	type_comp_dir(type);
	unwrap_newtype(type);
	const struct member *members = type_members(type, &n);
	for (size_t i = 0; i < n && i < ASK_MAX_LISTED; i++) {
		if (members[i].type)
			type_size(members[i].type);
	}
	const struct variant *variants = type_variants(type, &n);
	for (size_t i = 0; i < n && i < ASK_MAX_LISTED; i++) {
		if (variants[i].payload)
			type_name(variants[i].payload);
		if (variants[i].name)
			type_variant(type, variants[i].name);
	}
	type_enumerators(type, &n);
	type_params(type, &n);
	lookup_context(type);
	lookup_polled_as(type);
	if (type_is_coroutine(type)) {
		lookup_poll_linkage(type);
		lookup_awaitee_line(type, type_name(type), 0, &file, &line);
		struct saved_variable saved = { type, 3, "__awaitee", type_name(type), 8 };
		lookup_declaration(&saved, &file, &line);
	}
	ask_value(di, cache, a, v);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		ask_path(di->target, a, v, paths[i]);
	fuzz_check_text("", strlen(type_name(type)) > (1 << 24));
}

static inline void ask_address(struct debuginfo *di, struct arena *a, uint64_t addr)
{
	const struct function *f = lookup_function(di, addr);
	struct location *l;
	size_t n;

	if (f) {
		function_param(f, "T");
		function_variable(f, "self");
		function_first_argument(f);
	}
	l = lookup_locations(di, addr, a, &n);
	for (size_t i = 0; i < n; i++)
		l[i].name = l[i].file ? l[i].file : l[i].name;
	lookup_functions_at(di, addr, a, &n);
	lookup_rust_functions_at(di, addr, a, &n);
}

static inline void ask_names(struct dwarf_module *dm, struct arena *a)
{
	const char *doubt;
	struct thread_local *locals;
	struct global *globals;
	const struct type *type;
	uint64_t addr, number;
	size_t n, total;

	error_free(lookup_thread_locals(dm, "tokio::runtime::context::CONTEXT", a, &locals, &n,
	                                &doubt));
	error_free(lookup_thread_locals(dm, "shapes::LOCAL", a, &locals, &n, &doubt));
	lookup_static(dm, "shapes::LIMIT", &type, &addr);
	lookup_initial_number(dm, "shapes::LIMIT", 4, &number);
	error_free(lookup_globals(dm, "LIMIT", a, &globals, &n, &total));
	lookup_crate_version(dm, "tokio");
	debuginfo_rustc_version(dm);
	lookup_type(dm, "alloc::string::String", 0);
	lookup_has_instance(dm, 1, "core::ptr::drop_in_place", "u8");
}

#endif
