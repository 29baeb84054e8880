/*
 * Walks the collections of std whose elements are in no slice: VecDeque, LinkedList, BTreeMap, and
 * hashbrown's RawTable, which is in HashMap and HashSet. A BTreeSet contains a BTreeMap.
 */
#ifndef DWARF_VALUES_ENTRIES_H
#define DWARF_VALUES_ENTRIES_H

#include "dwarf/values/show.h"

enum entries_kind { ENTRIES_NONE, ENTRIES_DEQUE, ENTRIES_LIST, ENTRIES_TABLE, ENTRIES_BTREE };

/* Compares names: callers that have many values cache the result for each type. */
enum entries_kind entries_kind(const struct type *t);

/* An element, or the key and the value of a map's entry. */
struct entry {
	struct value key;   /* or the element; type NULL: the debug info does not have it */
	struct value value; /* type NULL: none */
};

/* Returns false to end the walk. */
typedef bool entry_fn(const struct entry *entry, void *arg);

/*
 * Calls each for every element of v in order. Sets *count to the number of elements before the
 * first call. Only the beginning of a hash table that is nearly empty but very large is visited.
 * ERR_LAYOUT: the type has not the expected members; each was not called. ERR_CORRUPT: the members
 * contradict each other.
 */
struct error *entries_walk(struct target *t, struct show_cache *cache, struct value v,
                           enum entries_kind kind, entry_fn *each, void *arg, uint64_t *count)
	MUST_CHECK;

/* The element at an index of a VecDeque; the deque is read again for each. ERR_USAGE: too large. */
struct error *entries_of_deque(struct target *t, struct show_cache *cache, struct value v,
                               uint64_t index, struct value *ret) MUST_CHECK;
/* The number of elements of a VecDeque. */
struct error *entries_in_deque(struct target *t, struct show_cache *cache, struct value v,
                               uint64_t *ret) MUST_CHECK;

#endif
