#include "dwarf/types/scalar.h"

bool type_is_scalar(const struct type *t)
{
	switch (type_kind(t)) {
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_INT:
	case TYPE_UINT:
	case TYPE_FLOAT:
		return true;
	case TYPE_POINTER:
		return type_name(t)[0] == '*';
	default:
		return false;
	}
}
