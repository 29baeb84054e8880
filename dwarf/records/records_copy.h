/*
 * Merges the records of equal types. The result is the content of a layout file: see layout_file.h.
 */
#ifndef DWARF_RECORDS_RECORDS_COPY_H
#define DWARF_RECORDS_RECORDS_COPY_H

#include "dwarf/records/records.h"

/*
 * Returns new records with the same content and as few types as possible. Each unit describes the
 * types that it uses, so that one type is often described in a hundred units. Two types are merged
 * when all that is known of them is equal, and so are the types that they refer to, recursively. An
 * equal name is not enough. DIEs become numbers from 1. A type that occurs in units of several
 * crates gets no home (RECORD_HOME): a look-up that starts from it covers all crates. Functions
 * keep their home. The caller frees the result. ntypes, if not NULL, receives the number of types
 * before and after.
 */
struct records *records_merged(const struct records *f, size_t ntypes[2]);

#endif
