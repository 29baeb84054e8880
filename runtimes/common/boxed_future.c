#include "runtimes/common/boxed_future.h"

#include "debugger/base/str.h"
#include "dwarf/types/type.h"

static const char prefix[] = "core::pin::Pin<alloc::boxed::Box<";

bool boxed_future_is_name(const char *type)
{
	return str_begins(type, prefix);
}

const struct type *boxed_future(const struct type *future)
{
	const struct member *pointer;
	const struct type *inner;

	if (!boxed_future_is_name(type_name(future)))
		return NULL;
	pointer = type_member(future, "pointer");
	pointer = pointer ? pointer : type_member(future, "__pointer");
	inner = pointer ? type_target(pointer->type) : NULL;
	return inner && type_size(inner) && !str_begins(type_name(inner), "dyn ") ? inner : NULL;
}
