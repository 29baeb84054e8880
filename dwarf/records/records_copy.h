/* Records of many DIEs made into few: what a layout file holds. See layout_file.h. */
#ifndef DWARF_RECORDS_RECORDS_COPY_H
#define DWARF_RECORDS_RECORDS_COPY_H

#include "dwarf/records/records.h"

/*
 * New records that say the same with as few types as can tell it. Each unit describes the types
 * that it uses, the same one often in a hundred units: types are one when all that is known of them
 * is the same, and of the types that they lead to, and so on; a name alone says little. DIEs become
 * numbers from 1. A type that is one of many crates' units has no home (RECORD_HOME): what is asked
 * by it is answered for all crates together. Functions keep theirs. The caller frees what it gets;
 * ntypes, if not NULL: types before and after.
 */
struct records *records_merged(const struct records *f, size_t ntypes[2]);

#endif
