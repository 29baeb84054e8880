/* Tests of names.c: shortened names of types and functions. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>
#include <string.h>

#include "dwarf/names/demangle.h"

/* Names that rustc 1.95 wrote for a tokio 1.53 program, and some in the spelling of symbols. */
struct name {
	const char *full, *expected;
};

#define TASK(future)                                                                               \
	"tokio::runtime::task::core::Cell<" future ", alloc::sync::Arc<tokio::runtime::"           \
	"scheduler::multi_thread::handle::Handle, alloc::alloc::Global>>"

static const struct name short_names[] = {
	/* Paths and the parts that are cut. */
	{ "u8", "u8" },
	{ "()", "()" },
	{ "!", "!" },
	{ "main", "main" },
	{ "app::net::Server", "app::net::Server" },
	{ "std::thread::park", "std::thread::park" },
	{ "std::io::stdio::Stderr", "Stderr" },
	{ "core::option::Option<u64>", "Option<u64>" },
	{ "core::option::Option<usize>::Some", "Option<usize>::Some" },
	{ "core::num::bignum::tests::Big8x3::digits", "Big8x3::digits" },
	{ "tokio::runtime::task::join::JoinHandle<u64>::new<u64>",
	  "tokio::runtime::task::join::JoinHandle<u64>::new<u64>" },
	{ "core::mem::maybe_uninit::MaybeUninit<libc::unix::linux_like::in_addr>",
	  "MaybeUninit<in_addr>" },
	{ "app::caf\303\251::\303\234n\303\257<app::\303\251t\303\251>",
	  "app::caf\303\251::\303\234n\303\257<\303\251t\303\251>" },
	/* Default arguments. */
	{ "alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle, "
	  "alloc::alloc::Global>",
	  "Arc<Handle>" },
	{ "alloc::sync::Weak<app::Shared, &alloc::alloc::Global>", "Weak<Shared>" },
	{ "core::pin::Pin<alloc::sync::Arc<std::thread::thread::Inner, std::alloc::System>>",
	  "Pin<Arc<Inner>>" },
	{ "std::collections::hash::map::HashMap<alloc::string::String, alloc::vec::Vec<u8, "
	  "alloc::alloc::Global>, std::hash::random::RandomState, alloc::alloc::Global>",
	  "HashMap<String, Vec<u8>>" },
	{ "alloc::alloc::Global", "Global" },
	{ "app::Pool<alloc::alloc::Global>", "app::Pool<Global>" },
	{ "app::Pool<alloc::alloc::GlobalPool, alloc::alloc::GlobalPool>",
	  "app::Pool<GlobalPool, GlobalPool>" },
	/* Coroutines and closures. */
	{ "app::run::{async_fn_env#0}<T>", "async fn app::run" },
	{ "app::run::{async_fn#0}<T>", "async fn app::run" },
	{ "app::run::{async_fn_env#0}<T>::Suspend0", "async fn app::run::Suspend0" },
	{ "core::pin::Pin<alloc::boxed::Box<app::big::{async_fn_env#0}, alloc::alloc::Global>>",
	  "Pin<Box<async fn app::big>>" },
	{ "&mut app::main::{async_block_env#0}", "&mut async block app::main::{async_block#0}" },
	{ "app::run::{async_fn#0}::{async_block_env#1}", "async block app::run::{async_block#1}" },
	{ "core::future::poll_fn::PollFn<zoo::main::{async_block#0}::{closure_env#20}>",
	  "PollFn<closure zoo::main::{async_block#0}::{closure#20}>" },
	{ "zoo::main::{async_block#0}::{closure#12}::{async_closure_env#0}",
	  "async closure zoo::main::{async_block#0}::{closure#12}" },
	{ "zoo::app::nest::{async_fn#0}::inner::{async_fn_env#0}<std::collections::hash::map::"
	  "HashMap<alloc::string::String, alloc::vec::Vec<core::option::Option<alloc::boxed::Box<"
	  "(dyn core::any::Any + core::marker::Send), alloc::alloc::Global>>, "
	  "alloc::alloc::Global>, std::hash::random::RandomState, alloc::alloc::Global>>",
	  "async fn zoo::app::nest::inner" },
	{ "tokio::runtime::task::harness::poll_future::{closure#0}::Guard<zoo::app::big::"
	  "{async_fn_env#0}, alloc::sync::Arc<app::Handle, alloc::alloc::Global>>",
	  "tokio::runtime::task::harness::poll_future::{closure#0}::Guard<async fn "
	  "zoo::app::big, Arc<Handle>>" },
	{ "*mut " TASK("zoo::app::gen_outer::{async_fn_env#0}<zoo::app::gen::{async_fn_env#0}<"
	               "extern \"C\" fn(u8) -> u8, zoo::main::{closure_env#7}>>"),
	  "*mut Cell<async fn zoo::app::gen_outer, Arc<Handle>>" },
	{ TASK("core::pin::Pin<alloc::boxed::Box<zoo::main::{async_block#0}::{async_block_env#13}, "
	       "alloc::alloc::Global>>"),
	  "tokio::runtime::task::core::Cell<Pin<Box<async block zoo::main::{async_block#0}::"
	  "{async_block#13}>>, Arc<Handle>>" },
	{ "{async_fn_env#0}<u8>", "async fn {async_fn#0}" },
	{ "app::{impl#2}::go::{async_fn_env#0}", "async fn app::{impl#2}::go" },
	/* dyn, pointers, tuples, arrays, functions. */
	{ "core::pin::Pin<alloc::boxed::Box<(dyn core::future::future::Future<Output=()> + "
	  "core::marker::Send), alloc::alloc::Global>>",
	  "Pin<Box<dyn Future<Output=()> + Send>>" },
	{ "&(dyn core::future::future::Future<Output=()> + core::marker::Send)",
	  "&(dyn Future<Output=()> + Send)" },
	{ "*const (dyn app::Tr)", "*const dyn Tr" },
	{ "&mut dyn app::Tr", "&mut dyn Tr" },
	{ "alloc::boxed::Box<dyn core::error::Error+core::marker::Send>", "Box<dyn Error + Send>" },
	{ "&&[(u8, app::net::Server); 4]", "&&[(u8, Server); 4]" },
	{ "&mut [app::net::Server]", "&mut [Server]" },
	{ "(app::A<u8>,)", "(A<u8>,)" },
	{ "(&mut alloc::vec::Vec<std::process::Child, alloc::alloc::Global>, "
	  "lock_api::GuardNoSend)",
	  "(&mut Vec<Child>, GuardNoSend)" },
	{ "zoo::app::H<fn(&str) -> &[u8]>", "zoo::app::H<fn(&str) -> &[u8]>" },
	{ "fn(u8, &mut [u16]) -> core::option::Option<char>",
	  "fn(u8, &mut [u16]) -> Option<char>" },
	{ "unsafe extern \"C\" fn(*const u8, ...)", "unsafe extern \"C\" fn(*const u8, ...)" },
	{ "a::b<for<'a> fn(&'a mut u8) -> &'a u8>", "a::b<for<'a> fn(&'a mut u8) -> &'a u8>" },
	{ "dyn for<'a> core::ops::function::Fn<(&'a u32,), Output = u64> + 'static",
	  "dyn for<'a> Fn<(&'a u32,), Output=u64> + 'static" },
	{ "app::Ref<'_, 'static, u8>", "app::Ref<'_, 'static, u8>" },
	/* Constants. */
	{ "zoo::app::meth<u8, 3>", "zoo::app::meth<u8, 3>" },
	{ "app::Buf<{CONST#d04753e636d39563}, true, -3>", "app::Buf<_, true, -3>" },
	{ "app::Buf<'x', '\\'', '>'>", "app::Buf<'x', '\\'', '>'>" },
	/* In the spelling of demangled symbols. */
	{ "<app::A<u8> as app::Tr>::go", "<app::A<u8> as Tr>::go" },
	{ "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", "<Vec<T, A> as Drop>::drop" },
	{ "<zoo::app::A<u8>>::meth::<3>", "zoo::app::A<u8>::meth<3>" },
	{ "core::str::<impl str>::len", "str::len" },
	{ "core::slice::<impl [T]>::sort", "<[T]>::sort" },
	{ "core::fmt::num::imp::<impl core::fmt::Display for u8>::fmt", "<u8 as Display>::fmt" },
	{ "<sample::boxed_dyn::{async_block_env#0} as core::future::future::Future>::{vtable}",
	  "<async block sample::boxed_dyn::{async_block#0} as Future>::{vtable}" },
	/* Names that are not Rust, or empty. */
	{ "", "" },
	{ "a::b<", "a::b<" },
	{ "a<b>>", "a<b>>" },
	{ "a::", "a::" },
	{ "{impl#0", "{impl#0" },
	{ "'", "'" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
	  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
	{ "app::\033[31mred", "app::?[31mred" },
	{ "app::\377<u8", "app::\357\277\275<u8" },
};

static const struct name plain_names[] = {
	{ "app::run<u8, Vec<u8>>", "app::run" },
	{ "app::run<fn(u8) -> u8>", "app::run" },
	{ "tokio::runtime::task::list::LocalOwnedTasks<alloc::sync::Arc<u8>>::bind<app::X>",
	  "tokio::runtime::task::list::LocalOwnedTasks::bind" },
	{ "app::mid::{async_fn_env#0}<u8>", "app::mid::{async_fn_env#0}" },
	{ "<app::A<u8>>::go::<3>", "app::A::go" },
	/* The type may have its own function of that name. */
	{ "<app::A<u8> as app::Tr<X>>::go", "<app::A as app::Tr>::go" },
	{ "app::net::<impl app::Tr<X> for app::A<u8>>::go", "<app::A as app::Tr>::go" },
	{ "app::net::<impl app::A<u8>>::go", "app::A::go" },
	{ "<&mut T as app::Tr>::go", "<&mut T as app::Tr>::go" },
	{ "<T as app::Tr>::go", "<T as app::Tr>::go" },
	{ "<<a::A as b::B>::C as d::D>::e", "<<a::A as b::B>::C as d::D>::e" },
	{ "&core::cell::Cell<u8>", "&core::cell::Cell" },
	{ "broken<", "broken<" },
};

static const struct name function_names[] = {
	{ "app::mid::{async_fn_env#0}<u8>", "app::mid" },
	{ "app::mid::{async_fn#0}", "app::mid" },
	{ "app::run::{async_fn#0}::{async_block_env#1}", "app::run::{async_block#1}" },
	{ "app::go::{closure_env#0}", "app::go::{closure#0}" },
	{ "app::go::{closure#0}::{async_closure_env#0}", "app::go::{closure#0}" },
	{ "sample::ac::async_closure::{async_fn#0}::{closure#0}::{async_closure#0}",
	  "sample::ac::async_closure::{closure#0}" },
	{ "tokio::sync::mutex::{impl#10}::lock::{async_fn#0}::{async_block_env#0}<u32>",
	  "tokio::sync::mutex::{impl#10}::lock::{async_block#0}" },
	{ "app::outer::{async_fn#0}::inner::{async_fn_env#0}<u8>", "app::outer::inner" },
	{ "zoo::main::{async_block#0}::{async_block#11}",
	  "zoo::main::{async_block#0}::{async_block#11}" },
	{ "tokio::time::sleep::Sleep", "tokio::time::sleep::Sleep" },
	{ "tokio::time::timeout::Timeout<app::f::{async_fn_env#0}>",
	  "tokio::time::timeout::Timeout" },
	{ "{async_fn_env#0}<u8>", "{async_fn#0}" },
};

typedef const char *convert(struct arena *a, const char *full);

static void check(convert *f, const struct name *names, size_t n)
{
	SCRATCH(a);

	for (size_t i = 0; i < n; i++)
		assert_string_equal(f(&a, names[i].full), names[i].expected);
}

#define CHECK(f, names) check((f), (names), sizeof(names) / sizeof(*(names)))

static void test_short(void **state)
{
	(void)state;
	CHECK(name_short, short_names);
}

static void test_plain(void **state)
{
	(void)state;
	CHECK(name_without_generics, plain_names);
}

static void test_function(void **state)
{
	(void)state;
	CHECK(name_function, function_names);
}

/* count copies of open, and as many of close. */
static char *nested(struct arena *a, const char *open, const char *close, size_t count)
{
	size_t nopen = strlen(open), nclose = strlen(close);
	char *text = arena_alloc(a, count * (nopen + nclose) + 2), *p = text;

	for (size_t i = 0; i < count; i++, p += nopen)
		memcpy(p, open, nopen);
	*p++ = 'x';
	for (size_t i = 0; i < count; i++, p += nclose)
		memcpy(p, close, nclose);
	return text;
}

static void test_deep(void **state)
{
	static const char *const pairs[][2] = {
		{ "a::B<", ">" },     { "(", ")" },      { "[", "]" },      { "&", "" },
		{ "<", " as a>::b" }, { "fn(", ")" },    { "dyn a<", ">" }, { "{", "}" },
		{ "a::<impl ", ">" }, { "*const ", "" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		SCRATCH(a);
		const char *deep = nested(&a, pairs[i][0], pairs[i][1], 3000);

		name_short(&a, deep);
		name_function(&a, deep);
		assert_non_null(name_without_generics(&a, deep));
	}
	SCRATCH(a);
	const char *full = nested(&a, "app::Layer<", ">", NAME_MAX_DEPTH);
	assert_string_equal(name_short(&a, full), full);
	full = nested(&a, "app::Layer<", ">", NAME_MAX_DEPTH - 1);
	assert_string_equal(name_without_generics(&a, full), "app::Layer");
}

static void test_long(void **state)
{
	SCRATCH(a);
	char *full = arena_alloc(&a, NAME_MAX_LENGTH * 2);
	(void)state;

	memset(full, 'a', NAME_MAX_LENGTH * 2 - 1);
	const char *cut = name_short(&a, full);
	assert_int_equal(strlen(cut), NAME_MAX_LENGTH + 3);
	assert_string_equal(cut + NAME_MAX_LENGTH, "...");
}

/* Real names with a few bytes changed: nothing crashes, and all output is sanitised. */
static void test_mutated(void **state)
{
	static const char bytes[] = "<>(){}[]&*#:, 'a_\377\033\"-=;+0";
	unsigned seed = 1;
	(void)state;

	for (size_t round = 0; round < 300; round++)
		for (size_t i = 0; i < sizeof(short_names) / sizeof(*short_names); i++) {
			SCRATCH(a);
			char *text = arena_strdup(&a, short_names[i].full);
			size_t len = strlen(text);

			for (unsigned n = 0; len && n < 1 + round % 3; n++) {
				seed = seed * 1103515245 + 12345;
				text[(seed >> 8) % len] = bytes[(seed >> 20) % (sizeof(bytes) - 1)];
			}
			assert_null(strchr(name_short(&a, text), '\033'));
			assert_null(strchr(name_without_generics(&a, text), '\033'));
			assert_null(strchr(name_function(&a, text), '\033'));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),    cmocka_unit_test(test_plain),
		cmocka_unit_test(test_function), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_long),     cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
