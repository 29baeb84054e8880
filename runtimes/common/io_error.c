/*
 * Prints std::io::Error. On 64-bit machines it is one word, whose two lowest bits say what the rest
 * is (std, io/error/repr_bitpacked.rs, since Rust 1.59).
 */
#include "runtimes/common/io_error.h"

#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"

enum { TAG_MASK = 3, TAG_MESSAGE = 0, TAG_CUSTOM, TAG_OS, TAG_KIND, REST = 4 /* bytes before */ };

/* Finds a type by its name in the module of a value. */
static struct error *io_error_find_type(struct value v, const char *name, const struct type **ret)
{
	*ret = lookup_type(type_module(v.type), name, type_die(v.type));
	return *ret ? NULL : error_new(ERR_LAYOUT, "no type of an error");
}

/* An error number of the operating system, which is Linux. */
static void show_os(struct show *s, int32_t code)
{
	const char *text = strerrordesc_np(code);

	show_printf(s, "Os { code: %d", (int)code);
	if (text)
		show_printf(s, ", message: \"%s\"", text);
	show_put(s, " }");
}

static struct error *show_kind(struct show *s, struct value v)
{
	struct value kind = { .addr = v.addr + REST };

	TRY(io_error_find_type(v, "std::io::error::ErrorKind", &kind.type));
	show_put(s, "Kind(");
	show_inner(s, kind);
	show_put(s, ")");
	return NULL;
}

/* Shows the struct that the word points to. */
static struct error *show_pointed(struct show *s, struct value v, const char *type, uint64_t addr)
{
	struct value target = { .addr = addr };

	if (!addr)
		return error_new(ERR_CORRUPT, "no error");
	TRY(io_error_find_type(v, type, &target.type));
	show_inner(s, target);
	return NULL;
}

static struct error *show_error(struct show *s, struct value v, const struct show_row *row)
{
	uint64_t word;

	(void)row;
	TRY(target_read_uint(show_target(s), v.addr, sizeof(word), &word));
	switch (word & TAG_MASK) {
	case TAG_MESSAGE:
		return show_pointed(s, v, "std::io::error::SimpleMessage", word);
	case TAG_CUSTOM:
		return show_pointed(s, v, "std::io::error::Custom", word - TAG_CUSTOM);
	case TAG_OS:
		if ((uint32_t)word != TAG_OS)
			return error_new(ERR_CORRUPT, "an error number");
		show_os(s, (int32_t)(word >> 32));
		return NULL;
	default:
		if ((uint32_t)word != TAG_KIND)
			return error_new(ERR_CORRUPT, "a kind of errors");
		return show_kind(s, v);
	}
}

const struct show_row io_error_shown[] = {
	{ "Error", "std::io::error", SHOW_MEMBER, { "repr" }, NULL },
	{ "Repr", "std::io::error::repr_bitpacked", SHOW_OWN, { NULL }, show_error },
	{ 0 },
};
