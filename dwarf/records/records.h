/*
 * Results of debug info look-ups, stored so that the DWARF need not be read for them again. They
 * live in memory for this run, in a cache file for the next run (cache.h), and in a layout file for
 * a stripped binary (layout_file.h).
 *
 * A record is a row of numbers and texts, stored under a kind and a key. The code that writes a
 * kind also reads it: lookup_cached.c, type_records.c, variables.c, statics.c and others. DIE
 * offsets in a record are offsets in the module's .debug_info, so that a type from a file and the
 * same type from DWARF are equal.
 *
 * The bytes of a file are hostile. Whatever they hold, reading terminates, stays in bounds, and
 * yields numbers, terminated texts or nothing. The records may still describe another program: code
 * that uses a type from a file checks it as it checks a type from DWARF.
 */
#ifndef DWARF_RECORDS_RECORDS_H
#define DWARF_RECORDS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"
#include "debugger/elf/elf_image.h"
#include "dwarf/scan/reader.h"

/*
 * Kinds of records. The values are written into files: append only. Increment RECORDS_FORMAT when a
 * record changes, or when results that were stored turn out to be wrong.
 */
enum record_kind {
	/* 1 -> tier, its reason, rustc version, own package, whether panics unwind, own
	 * directories, those with relative names */
	RECORD_MODULE,
	RECORD_CRATE,    /* crate -> version */
	RECORD_TYPE,     /* DIE -> kind, name, sizes, target */
	RECORD_DETAILS,  /* DIE -> members, variants, enumerators */
	RECORD_NAME,     /* qualified name -> DIE of the type, 0 none */
	RECORD_FUNCTION, /* DIE -> name, linkage name, range */
	RECORD_PC,       /* link-time address -> DIE of the function that covers it, 0 none */
	RECORD_PARAM,    /* name, DIE of a function -> DIE of its template parameter, 0 none */
	RECORD_VARIABLE, /* name, DIE of a function -> DIE of its variable's type, 0 none */
	RECORD_ARGUMENT, /* DIE of a function -> DIE of its first parameter's type, 0 none */
	RECORD_TLS,      /* path -> thread-locals */
	RECORD_STATIC,   /* qualified name -> type and address; also a size -> 0 and address */
	RECORD_VTABLE,   /* link-time address of a vtable -> DIE of the type, exact */
	RECORD_POLL,     /* DIE of a coroutine -> linkage name of its poll function */
	RECORD_AWAITEE,  /* name of an awaitee's type, coroutine and number -> file and line */
	RECORD_HOME,     /* DIE -> common prefix of the names of its crate's units */
	RECORD_HAS_POLL, /* name of a type, its DIE -> how it is polled: enum polled_record */
	/*
	 * Generic path, home -> names of the instances. Name of a function, 1 in place of a home ->
	 * indices of the units in which it may be (dwarf/lookup/function_names.c).
	 */
	RECORD_INSTANCES,
	RECORD_LINES,    /* link-time pc -> inlined functions with lines */
	RECORD_INLINED,  /* link-time pc -> inlined functions */
	RECORD_FRAME,    /* link-time pc -> variables of the frame and their locations */
	RECORD_CODE,     /* link-time address -> DIE of the function that begins there */
	RECORD_INLINES,  /* DIE of a function -> selected functions inlined into it */
	RECORD_GLOBALS,  /* name without its path -> statics; "*" -> their number: all are listed */
	RECORD_DECLARED, /* name of a variable, coroutine and state -> file, line, its offset */
	RECORD_PLACE,    /* DIE of a variable -> file, directory of its unit, line */
	RECORD_GENERICS, /* DIE of a type -> its template parameters */
	RECORD_HELD,     /* nth state of a coroutine -> its variables: see held_futures_plan() */
	RECORD_CONTEXT,  /* DIE of a function -> whether it has a task's Context */
	/*
	 * 1 -> name of a function: see enumerated_executor(); 2 -> see enumerated_has_probes(); an
	 * address with the highest bit -> a number: see enumerated_argument(). In the file of
	 * surveys: a file -> the executors in it, see executor_detect_cache.h.
	 */
	RECORD_EXECUTOR,
	RECORD_KINDS,
};

enum { RECORDS_FORMAT = 11 };

/*
 * Bits of RECORD_HAS_POLL: those of enum polled_as (lookup.h), and one that says that streams were
 * looked for. A record without it is only about futures.
 */
enum polled_record { POLLED_BITS = 3, POLLED_STREAMS_TOO = 4 };

/* Identifies the program that a file of records belongs to. */
struct records_identity {
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_len;
	uint64_t fingerprint; /* of its sections or symbols, depending on the kind of file */
};

/*
 * The path of the compiler-generated functions that drop values. rustc 1.97 calls them drop_glue;
 * there drop_in_place is a function of core that calls drop_glue. A search for this path visits
 * both.
 */
#define DROP_GLUE "core::ptr::drop_in_place"
/*
 * A path that stands for the impls of Drop: the instances are those of drop(&mut T), whatever the
 * path of the impl is. The generic argument of their names is T.
 */
#define OWN_DROP "core::ops::drop::Drop::drop"
/* A path that stands for the types of coroutines: the instances are their qualified names. */
#define COROUTINE_TYPES "{coroutine}"
/*
 * A path with one instance, of the same name, where no function of the crate shares its code with
 * another one: the crate was built with opt-level 0, and the linker folded no functions. None where
 * that is unknown.
 */
#define UNMERGED_CODE "{unmerged}"

struct records;

/* Creates an empty set, which stores the records that are written to it. */
struct records *records_new(void);
void records_free(struct records *f);
/* ---- reading ---- */

/* A record being read. */
struct record {
	struct reader r;
	const struct records *of;
};

/*
 * Finds the record under (kind, key) or, if text is not NULL, under (kind, key, text). A key of 0
 * without text is never found. f may be NULL, which is an empty set.
 */
bool record_find(const struct records *f, enum record_kind kind, uint64_t key, const char *text,
                 struct record *ret);
/*
 * Finds the record of that kind with the greatest key that is not above key. Searches the loaded
 * file only, not the records of this run.
 */
bool record_find_below(const struct records *f, enum record_kind kind, uint64_t key,
                       uint64_t *found, struct record *ret);
/*
 * The next number or text; 0 or NULL at the end of the record. Texts live as long as the records
 * do.
 */
uint64_t record_number(struct record *record);
const char *record_text(struct record *record);
/* The next number, as a count of entries that follow: at most the bytes left in the record. */
size_t record_count(struct record *record);
/*
 * True if the whole record was read and nothing beyond it. If false, the values read may be
 * incomplete.
 */
bool record_ended(const struct record *record);

/* ---- writing ---- */

/* A record being written. */
struct record_writer {
	struct records *of;
	enum record_kind kind;
	uint64_t key;
	struct str bytes;
};

/* f may be NULL: nothing is stored then. Each record_begin() needs a record_end(). */
void record_begin(struct record_writer *d, struct records *f, enum record_kind kind, uint64_t key,
                  const char *text);
void record_add_number(struct record_writer *d, uint64_t number);
void record_add_text(struct record_writer *d, const char *text); /* NULL is allowed */
/*
 * Between these two calls no written record is stored: for searches that look at many DIEs to find
 * few. The calls nest.
 */
void records_pause(struct records *f);
void records_resume(struct records *f);
bool records_are_paused(const struct records *f);
/* Stores the record. It replaces an earlier one under that key. */
void record_end(struct record_writer *d);

/* The key of the nth item of a DIE; 0 when n is too large for a key. */
enum { RECORD_NTHS = 256 };

static inline uint64_t record_nth_key(uint64_t die, uint64_t n)
{
	return n < RECORD_NTHS ? die << 8 | n : 0;
}

static inline uint64_t record_nth_die(uint64_t key)
{
	return key >> 8;
}

static inline uint64_t record_nth_number(uint64_t key)
{
	return key & 255;
}

/* ---- files ---- */

/*
 * Adds the file of size bytes at data to f. f owns data (malloc) from then on, also on failure. One
 * file at most. ERR_CORRUPT when data is no such file, or belongs to a program other than the
 * expected one (NULL: any); ERR_UNSUPPORTED when another version wrote it.
 */
struct error *records_load(struct records *f, void *data, size_t size,
                           const struct records_identity *expected) MUST_CHECK;
/* Recomputes the header of a modified file, for tests with hostile files. */
void records_sign(void *data, size_t size);
/* The identity that the loaded file states, NULL when no file is loaded. */
const struct records_identity *records_identity(const struct records *f);
/* Size of the loaded file in bytes, 0 when none is loaded. */
size_t records_size(const struct records *f);
/*
 * True if the loaded file is a layout file, which is complete: what it does not list does not
 * exist.
 */
bool records_are_whole(const struct records *f);
/* Was any record written since records_new() that the loaded file does not have? */
bool records_are_new(const struct records *f);
/* All records as the bytes of a file, malloced. whole: see records_are_whole(). */
void *records_save(const struct records *f, const struct records_identity *identity, bool whole,
                   size_t *size);

#endif
