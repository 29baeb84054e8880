/* Tests of demangle.c: demangled symbols and names from linkage names. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"

static const struct {
	const char *symbol, *expected;
} symbols[] = {
	/* Not mangled. */
	{ "", "" },
	{ "main", "main" },
	{ "_start", "_start" },
	{ "_R", "_R" },
	{ "_ZN", "_ZN" },
	{ "pthread_create@GLIBC_2.34", "pthread_create@GLIBC_2.34" },
	{ "bad\033\377", "bad?\357\277\275" },
	/* Legacy. */
	{ "_ZN3zoo3app3big17h796d96965302b0d2E", "zoo::app::big" },
	{ "_ZN3zoo3app3big17h796d96965302b0d2E.llvm.9907", "zoo::app::big" },
	{ "_ZN3zoo3app10A$LT$T$GT$4meth28_$u7b$$u7b$closure$u7d$$u7d$17h796d96965302b0d2E",
	  "zoo::app::A<T>::meth::{{closure}}" },
	{ "_ZN54_$LT$zoo..app..A$LT$u8$GT$$u20$as$u20$zoo..app..Tr$GT$2go28_$u7b$$u7b$closure$u7d$"
	  "$u7d$17h5aaa769be87e87c7E",
	  "<zoo::app::A<u8> as zoo::app::Tr>::go::{{closure}}" },
	{ "_ZN3zoo3app16A$LT$$RF$str$GT$4refd28_$u7b$$u7b$closure$u7d$$u7d$17hc250b382a4fb3a1bE",
	  "zoo::app::A<&str>::refd::{{closure}}" },
	{ "_ZN4core3str21_$LT$impl$u20$str$GT$3len17h0123456789abcdefE",
	  "core::str::<impl str>::len" },
	/* v0. */
	{ "_RNCNvNtCsl0y9Sv6FzPe_3zoo3app3big0B5_", "zoo::app::big::{closure#0}" },
	{ "_RNCNvNtCsl0y9Sv6FzPe_3zoo3app3big0B5_.llvm.123", "zoo::app::big::{closure#0}" },
	{ "_RNCINvMs_NtCsl0y9Sv6FzPe_3zoo3appINtB7_1AhE4methKj3_E0B9_",
	  "<zoo::app::A<u8>>::meth::<3>::{closure#0}" },
	{ "_RNCNvXNtCsl0y9Sv6FzPe_3zoo3appINtB4_1AhENtB4_2Tr2go0B6_",
	  "<zoo::app::A<u8> as zoo::app::Tr>::go::{closure#0}" },
	{ "_RNCNvMs0_NtCsl0y9Sv6FzPe_3zoo3appINtB7_1AReE4refd0B9_",
	  "<zoo::app::A<&str>>::refd::{closure#0}" },
	{ "_RNCNvXs1_NtCsl0y9Sv6FzPe_3zoo3appINtNtCslNYArtu3iFV_5alloc3vec3VecINtB7_1AhEEINtB7_"
	  "3GenhE3run0B9_",
	  "<alloc::vec::Vec<zoo::app::A<u8>> as zoo::app::Gen<u8>>::run::{closure#0}" },
	{ "_RNCINvNtCsl0y9Sv6FzPe_3zoo3app4cgenKc78_Kb1_Kan3_E0B6_",
	  "zoo::app::cgen::<'x', true, -3>::{closure#0}" },
	{ "_RNCINvNtCsl0y9Sv6FzPe_3zoo3app3genFUKCPhEuNCNCNvB6_4main0s7_0E0B6_",
	  "zoo::app::gen::<unsafe extern \"C\" fn(*const u8), zoo::main::{closure#0}::{closure#9}"
	  ">::{closure#0}" },
	{ "_RNCNvCsl0y9Sv6FzPe_3zoou14ncode__gva6byh0B3_",
	  "zoo::\303\274n\303\257code_\303\251::{closure#0}" },
	{ "_RINvNtNtNtCsjy4RocKEUOj_5tokio7runtime4task3raw4pollNCNCNvCsl0y9Sv6FzPe_3zoo4main0s1_0"
	  "INtNtCslNYArtu3iFV_5alloc4sync3ArcNtNtNtB6_9scheduler14current_thread6HandleEEBU_",
	  "tokio::runtime::task::raw::poll::<zoo::main::{closure#0}::{closure#3}, alloc::sync::Arc<"
	  "tokio::runtime::scheduler::current_thread::Handle>>" },
	{ "_RINvC1a1bTRLCOhAtj4_SxEDNtC4core4Senp6OutputuEL_E",
	  "_RINvC1a1bTRLCOhAtj4_SxEDNtC4core4Senp6OutputuEL_E" },
	{ "_RINvC1a1bTOhAtj4_SxEDNtC4core4Sendp6OutputuEL_E",
	  "a::b::<(*mut u8, [u16; 4], [i64]), dyn core::Send<Output = ()>>" },
	{ "_RINvC1a1bDG_INtC4core2FnTRL0_mEEp6OutputyEL_E",
	  "a::b::<dyn for<'a> core::Fn<(&'a u32,), Output = u64>>" },
	{ "_RNSC1a4shim4namC", "_RNSC1a4shim4namC" },
	{ "_RNSC1a6vtable", "a::{shim:vtable#0}" },
	{ "_RINvC1a1bKmffffffff_Ko123456789abcdef01_Kp_E",
	  "_RINvC1a1bKmffffffff_Ko123456789abcdef01_Kp_E" },
	{ "_RINvC1a1bKmffffffff_Ko123456789abcdef01_KpE",
	  "a::b::<4294967295, 0x123456789abcdef01, _>" },
	/* A back reference to itself, one ahead, numbers that overflow. */
	{ "_RB_", "_RB_" },
	{ "_RNvB0_1a", "_RNvB0_1a" },
	{ "_RNvBzzzzzzzzzzzzzz_1a", "_RNvBzzzzzzzzzzzzzz_1a" },
	{ "_RC99999999999999999999a", "_RC99999999999999999999a" },
	{ "_RNvXINtC1a1bDGzzzzzzz_C1cEL_EhNtC1d1e1f", "_RNvXINtC1a1bDGzzzzzzz_C1cEL_EhNtC1d1e1f" },
	/* C++. */
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
	  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
};

static void test_symbols(void **state)
{
	SCRATCH(a);
	(void)state;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		assert_string_equal(demangle(&a, symbols[i].symbol), symbols[i].expected);
}

/* Nested tuples, each of two references to the one before: 2^40 elements in 400 bytes. */
static void test_v0_doubling(void **state)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t previous = 8;
	SCRATCH(a);
	STR(s);
	(void)state;

	str_append(&s, "_RINvC1a1bThhE");
	for (int i = 0; i < 40; i++) {
		char number[4] = { 0 };
		size_t here = s.len - 2, value = previous - 1;

		number[0] = digits[value / 62];
		number[1] = digits[value % 62];
		str_printf(&s, "TB%s_B%s_E", number, number);
		previous = here;
	}
	str_append(&s, "E");
	const char *text = demangle(&a, str_text(&s));
	assert_int_equal(strncmp(text, "a::b::<(u8, u8), ((u8, u8), (u8, u8))", 37), 0);
	assert_true(strlen(text) <= NAME_MAX_LENGTH + 3);
	assert_string_equal(text + strlen(text) - 3, "...");
}

static void test_cxx_doubling(void **state)
{
	SCRATCH(a);
	STR(s);
	(void)state;

	str_append(&s, "_Z1fI1aS_E1b");
	for (int i = 0; i < 30; i++)
		str_printf(&s, "I%sS%c_S%c_E", "1x", '0' + i % 10, '0' + i % 10);
	assert_non_null(demangle(&a, str_text(&s)));
}

static void test_long_and_deep(void **state)
{
	SCRATCH(a);
	char *symbol = arena_alloc(&a, NAME_MAX_LENGTH * 2);
	(void)state;

	memset(symbol, 'S', NAME_MAX_LENGTH * 2 - 1);
	const char *text = demangle(&a, symbol);
	assert_int_equal(strlen(text), NAME_MAX_LENGTH + 3);
	memcpy(symbol, "_RINvC1a1b", 10);
	symbol[NAME_MAX_LENGTH - 1] = '\0';
	assert_string_equal(demangle(&a, symbol), symbol);
	memset(symbol + 2, 'N', NAME_MAX_LENGTH - 3);
	assert_string_equal(demangle(&a, symbol), symbol);
}

static void test_mutated(void **state)
{
	unsigned seed = 7;
	(void)state;

	for (size_t round = 0; round < 100; round++)
		for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
			SCRATCH(a);
			char *text = arena_strdup(&a, symbols[i].symbol);
			size_t len = strlen(text);

			for (unsigned n = 0; len > 3 && n < 1 + round % 3; n++) {
				seed = seed * 1103515245 + 12345;
				text[2 + (seed >> 8) % (len - 2)] =
					symbols[16 + seed % 10].symbol[2 + (seed >> 20) % 20];
			}
			assert_null(strchr(demangle(&a, text), '\033'));
		}
}

static const struct {
	const char *dwarf, *linkage, *expected;
} impls[] = {
	{ "tokio::sync::mutex::{impl#8}::lock",
	  "_ZN5tokio4sync5mutex14Mutex$LT$T$GT$4lock28_$u7b$$u7b$closure$u7d$$u7d$"
	  "17h0123456789abcdefE",
	  "tokio::sync::mutex::Mutex::lock" },
	{ "zoo::app::{impl#0}::go",
	  "_ZN54_$LT$zoo..app..A$LT$u8$GT$$u20$as$u20$zoo..app..Tr$GT$2go28_$u7b$$u7b$closure$u7d$"
	  "$u7d$17h5aaa769be87e87c7E",
	  "<zoo::app::A as zoo::app::Tr>::go" },
	{ "zoo::app::{impl#0}::go", "_RNCNvXNtCsl0y9Sv6FzPe_3zoo3appINtB4_1AhENtB4_2Tr2go0B6_",
	  "<zoo::app::A as zoo::app::Tr>::go" },
	{ "zoo::app::{impl#1}::meth", "_RNCINvMs_NtCsl0y9Sv6FzPe_3zoo3appINtB7_1AhE4methKj3_E0B9_",
	  "zoo::app::A::meth" },
	{ "zoo::app::{impl#2}::refd",
	  "_ZN3zoo3app16A$LT$$RF$str$GT$4refd28_$u7b$$u7b$closure$u7d$$u7d$17hc250b382a4fb3a1bE",
	  "zoo::app::A::refd" },
	/* The numbers of blocks come from DWARF, since legacy symbols have none. */
	{ "zoo::app::{impl#1}::two::{async_block#3}",
	  "_ZN3zoo3app10A$LT$T$GT$3two28_$u7b$$u7b$closure$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$"
	  "17h7fda0c628924942cE",
	  "zoo::app::A::two::{async_block#3}" },
	/* An impl for a type of another module. */
	{ "zoo::app::{impl#3}::run::{async_block#0}",
	  "_ZN86_$LT$alloc..vec..Vec$LT$zoo..app..A$LT$X$GT$$GT$$u20$as$u20$zoo..app..Gen$LT$X$GT$"
	  "$GT$3run28_$u7b$$u7b$closure$u7d$$u7d$17hd24fcc3f9ec15261E",
	  "<alloc::vec::Vec as zoo::app::Gen>::run::{async_block#0}" },
	{ "axum::serve::listener::{impl#0}::accept",
	  "_ZN90_$LT$tokio..net..tcp..listener..TcpListener$u20$as$u20$axum..serve..listener.."
	  "Listener$GT$6accept28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	  "<tokio::net::tcp::listener::TcpListener as axum::serve::listener::Listener>::accept" },
	/* An impl of a trait that is not in the module of its type. */
	{ "zoo::net::{impl#0}::go",
	  "_ZN3zoo3net54_$LT$impl$u20$zoo..app..Tr$u20$for$u20$zoo..app..A$GT$2go"
	  "28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	  "<zoo::app::A as zoo::app::Tr>::go" },
	{ "core::str::{impl#0}::len", "_ZN4core3str21_$LT$impl$u20$str$GT$3len17h0123456789abcdefE",
	  "str::len" },
	/* A type inside of a function. */
	{ "tokio::runtime::task::harness::poll_future::{closure#0}::{impl#0}::drop",
	  "_ZN133_$LT$tokio..runtime..task..harness..poll_future..$u7b$$u7b$closure$u7d$$u7d$.."
	  "Guard$LT$T$C$S$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
	  "<tokio::runtime::task::harness::poll_future::{{closure}}::Guard as "
	  "core::ops::drop::Drop>::drop" },
	/* Another function, another module, no impl, no symbol. */
	{ "zoo::app::{impl#1}::other", "_ZN3zoo3app10A$LT$T$GT$4meth17h796d96965302b0d2E", NULL },
	{ "zoo::net::{impl#1}::meth", "_ZN3zoo3app10A$LT$T$GT$4meth17h796d96965302b0d2E", NULL },
	{ "zoo::app::{impl#1}::meth::inner", "_ZN3zoo3app10A$LT$T$GT$4meth17h796d96965302b0d2E",
	  NULL },
	{ "zoo::app::big", "_ZN3zoo3app3big17h796d96965302b0d2E", NULL },
	{ "zoo::app::{impl#1}::meth", "", NULL },
	{ "zoo::app::{impl#1}", "main", NULL },
	{ "", "", NULL },
};

static void test_impl(void **state)
{
	SCRATCH(a);
	(void)state;

	for (size_t i = 0; i < sizeof(impls) / sizeof(*impls); i++) {
		const char *path = name_impl_from_linkage(&a, impls[i].dwarf, impls[i].linkage);

		if (!impls[i].expected)
			assert_null(path);
		else
			assert_string_equal(path, impls[i].expected);
	}
}

#define REGISTRY "/home/me/.cargo/registry/src/index-1949/tokio-1.53.1"

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),      cmocka_unit_test(test_v0_doubling),
		cmocka_unit_test(test_cxx_doubling), cmocka_unit_test(test_long_and_deep),
		cmocka_unit_test(test_mutated),      cmocka_unit_test(test_impl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
