/* The rows of io_direction.c and of tokio: which types read, write or pass I/O on. */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "runtimes/future/io_direction.h"

static enum io_direction_of says(const char *type_name, const char *member)
{
	return io_direction_of(registered_runtimes.crates, type_name, member);
}

static void test_futures(void **state)
{
	(void)state;
	assert_int_equal(says("tokio::io::util::read::Read<app::S>", "reader"), IO_SAYS_READS);
	assert_int_equal(says("tokio::io::util::read_int::ReadU8<app::S>", NULL), IO_SAYS_READS);
	assert_int_equal(says("tokio::io::util::write_all::WriteAll<app::S>", "writer"),
	                 IO_SAYS_WRITES);
	assert_int_equal(says("tokio::io::util::flush::Flush<app::S>", NULL), IO_SAYS_WRITES);
	assert_int_equal(says("futures_util::sink::send::Send<app::S, u8>", NULL), IO_GIVES_ITEMS);
}

/* Copy reads what its member `reader` leads to and writes what `writer` leads to. */
static void test_members(void **state)
{
	static const char copy[] = "tokio::io::util::copy::Copy<app::R, app::W>";

	(void)state;
	assert_int_equal(says(copy, "reader"), IO_SAYS_READS);
	assert_int_equal(says(copy, "writer"), IO_SAYS_WRITES);
	assert_int_equal(says(copy, "buf"), IO_SAYS_NOTHING);
	assert_int_equal(says(copy, NULL), IO_SAYS_NOTHING);
}

static void test_what_passes_on(void **state)
{
	(void)state;
	assert_int_equal(says("tokio::io::util::buf_writer::BufWriter<app::S>", "inner"),
	                 IO_PASSES_ON);
	assert_int_equal(says("&mut tokio::net::tcp::stream::TcpStream", NULL), IO_PASSES_ON);
	assert_int_equal(says("alloc::boxed::Box<dyn app::Io, alloc::alloc::Global>", NULL),
	                 IO_PASSES_ON);
	assert_int_equal(says("alloc::sync::ArcInner<app::S>", "data"), IO_PASSES_ON);
}

/* No direction is known for TLS, which reads in order to write, nor for similar or user types. */
static void test_what_says_nothing(void **state)
{
	(void)state;
	assert_int_equal(says("tokio_rustls::client::TlsStream<app::S>", "io"), IO_SAYS_NOTHING);
	assert_int_equal(says("tokio::net::tcp::split::ReadHalfling", NULL), IO_SAYS_NOTHING);
	assert_int_equal(says("app::Both<tokio::io::util::read::Read<app::S>>", NULL),
	                 IO_SAYS_NOTHING);
	assert_int_equal(says("", NULL), IO_SAYS_NOTHING);
}

static unsigned woken_for(unsigned meant, unsigned woken)
{
	const struct decoder d = { .direction = { .meant = meant } };

	return io_direction_woken(&d, woken);
}

/* Two wakers may be in the socket below TLS: one is left from a wait that was given up. */
static void test_wakers_of_both(void **state)
{
	enum { BOTH = IO_READS | IO_WRITES };

	(void)state;
	assert_int_equal(woken_for(IO_READS, BOTH), IO_READS);
	assert_int_equal(woken_for(IO_WRITES, BOTH), IO_WRITES);
	assert_int_equal(woken_for(0, BOTH), BOTH);
	assert_int_equal(woken_for(IO_READS, IO_WRITES), IO_WRITES);
	assert_int_equal(woken_for(IO_READS, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_futures),        cmocka_unit_test(test_members),
		cmocka_unit_test(test_what_passes_on), cmocka_unit_test(test_what_says_nothing),
		cmocka_unit_test(test_wakers_of_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
