/*
 * What debug info answered, kept so that it need not be asked again: in memory for this run, in a
 * file of the cache for the next one (cache.h), in a layout file for a stripped binary
 * (layout_file.h).
 *
 * A record is a record below a kind and a key, and is found by them alone. A record is a row of
 * numbers and texts; who writes a kind reads it too: lookup_cached.c, type.c, variables.c,
 * statics.c. DIE offsets in
 * it are those of the module's .debug_info, so that a type from a file and one from DWARF are the
 * same type.
 *
 * The bytes of a file are hostile: whatever they hold, reading ends, stays inside, and gives
 * numbers, texts that end, or nothing. They may of course describe another program: whoever uses a
 * type that came from them checks it as one that came from DWARF.
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
 * Written into files: append only, and count RECORDS_FORMAT up when a record changes, or when
 * answers that were kept have turned out wrong.
 */
enum record_kind {
	RECORD_MODULE,    /* 1 -> tier, why, rustc version, own package */
	RECORD_CRATE,     /* crate -> version */
	RECORD_TYPE,      /* DIE -> kind, name, sizes, target */
	RECORD_DETAILS,   /* DIE -> members, variants, enumerators */
	RECORD_NAME,      /* qualified name -> DIE of the type, 0 none */
	RECORD_FUNCTION,  /* DIE -> name, linkage name, range */
	RECORD_PC,        /* link-time address -> DIE of the function that covers it, 0 none */
	RECORD_PARAM,     /* name, DIE of a function -> DIE of its template parameter, 0 none */
	RECORD_VARIABLE,  /* the same of a variable */
	RECORD_ARGUMENT,  /* DIE of a function -> DIE of its first argument's type, 0 none */
	RECORD_TLS,       /* path -> thread-locals */
	RECORD_STATIC,    /* qualified name -> type and address */
	RECORD_VTABLE,    /* link-time address of a vtable -> DIE of the type, exact */
	RECORD_POLL,      /* DIE of a coroutine -> linkage name of its poll function */
	RECORD_AWAITEE,   /* name of an awaitee's type, coroutine and number -> file and line */
	RECORD_HOME,      /* DIE -> what the names of its crate's units begin with */
	RECORD_HAS_POLL,  /* name of a type, its DIE -> whether it is polled */
	RECORD_INSTANCES, /* generic path, home -> names of the instances */
	RECORD_LINES,     /* link-time pc -> inlined functions with lines */
	RECORD_INLINED,   /* link-time pc -> inlined functions */
	RECORD_FRAME,     /* link-time pc -> variables of the frame and their locations */
	RECORD_CODE,      /* link-time address -> DIE of the function that begins there */
	RECORD_INLINES,   /* DIE of a function -> telling functions inlined into it */
	RECORD_GLOBALS,   /* name without its path -> statics; "*" -> their number: all are known */
	RECORD_DECLARED,  /* name of a variable, coroutine and state -> file, line, its offset */
	RECORD_PLACE,     /* DIE of a variable -> file, directory of its unit, line */
	RECORD_GENERICS,  /* DIE of a type -> its template parameters */
	RECORD_HELD,      /* nth state of a coroutine -> its variables: see unpolled_plan() */
	RECORD_CONTEXT,   /* DIE of a function -> whether it has a task's Context */
	RECORD_EXECUTOR,  /* 1 -> name of a function: see enumerated_executor() */
	RECORD_KINDS,
};

enum { RECORDS_FORMAT = 10 };

/* Which program a file of records belongs to. */
struct records_identity {
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_len;
	uint64_t fingerprint; /* of its sections or symbols, whatever the kind of file says */
};

/*
 * The path of the functions that the compiler makes to drop values. rustc 1.97 calls them
 * drop_glue, and drop_in_place is a function of core that calls one: a search for this path visits
 * both.
 */
#define DROP_GLUE "core::ptr::drop_in_place"

struct records;

/* Empty: it remembers what it is told. */
struct records *records_new(void);
void records_free(struct records *f);
/* ---- asking ---- */

/* A record being read. */
struct record {
	struct reader r;
	const struct records *of;
};

/*
 * The record below (kind, key) or, where text is not NULL, below (kind, key and text). A key of 0
 * without text is never known. f may be NULL: nothing is known.
 */
bool record_find(const struct records *f, enum record_kind kind, uint64_t key, const char *text,
                 struct record *ret);
/* The record of that kind with the greatest key that is not above key. Files only, not memory. */
bool record_find_below(const struct records *f, enum record_kind kind, uint64_t key,
                       uint64_t *found, struct record *ret);
/* The next number or text; 0 or NULL at the end of the record. Texts live as long as the records.
 */
uint64_t record_number(struct record *record);
const char *record_text(struct record *record);
/* The next number as a count of entries to come: not more than the record has bytes left. */
size_t record_count(struct record *record);
/* All of the record was read, and nothing beyond it: else what was read may be half of it. */
bool record_ended(const struct record *record);

/* ---- telling ---- */

/* A record being written. */
struct record_writer {
	struct records *of;
	enum record_kind kind;
	uint64_t key;
	struct str bytes;
};

/* f may be NULL: nothing is kept. Each begin is followed by an end. */
void record_begin(struct record_writer *d, struct records *f, enum record_kind kind, uint64_t key,
                  const char *text);
void record_add_number(struct record_writer *d, uint64_t number);
void record_add_text(struct record_writer *d, const char *text); /* NULL is allowed */
/*
 * Between these two nothing that is told is kept: for a search that looks at much to find little.
 * They nest.
 */
void records_pause(struct records *f);
void records_resume(struct records *f);
bool records_are_paused(const struct records *f);
/* From now on it is known; what was known below that key before is forgotten. */
void record_end(struct record_writer *d);

/* The key of the nth of something of a DIE; 0 when n is too large for one. */
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
 * Lets f know what the file of size bytes at data says; f owns data (malloc) from then on, also on
 * failure. One file at most. ERR_CORRUPT when it is no such file or one of a program that is not
 * the expected one (NULL: any), ERR_UNSUPPORTED when another version wrote it.
 */
struct error *records_load(struct records *f, void *data, size_t size,
                           const struct records_identity *expected) MUST_CHECK;
/* Makes the header of a changed file right again, for tests with hostile ones. */
void records_sign(void *data, size_t size);
/* What the loaded file says that it belongs to, NULL when there is none. */
const struct records_identity *records_identity(const struct records *f);
/* Bytes of the loaded file, 0 none. */
size_t records_size(const struct records *f);
/* The loaded file is one of layout: what it does not know is not there. */
bool records_are_whole(const struct records *f);
/* Was anything told since records_new() that the loaded file does not have? */
bool records_are_new(const struct records *f);
/* All that is known, as the bytes of a file, malloced. whole: see records_are_whole(). */
void *records_save(const struct records *f, const struct records_identity *identity, bool whole,
                   size_t *size);

#endif
