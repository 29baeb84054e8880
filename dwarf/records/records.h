/*
 * What debug info answered, kept so that it need not be asked again: in memory for this run, in a
 * file of the cache for the next one (cache.h), in a layout file for a stripped binary
 * (layout_file.h).
 *
 * A fact is a record below a kind and a key, and is found by them alone. A record is a row of
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
 * Written into files: append only, and count FACTS_FORMAT up when a record changes, or when answers
 * that were kept have turned out wrong.
 */
enum fact_kind {
	FACT_MODULE,    /* 1 -> tier, why, rustc version, own package */
	FACT_CRATE,     /* crate -> version */
	FACT_TYPE,      /* DIE -> kind, name, sizes, target */
	FACT_DETAILS,   /* DIE -> members, variants, enumerators */
	FACT_NAME,      /* qualified name -> DIE of the type, 0 none */
	FACT_FUNCTION,  /* DIE -> name, linkage name, range */
	FACT_PC,        /* link-time address -> DIE of the function that covers it, 0 none */
	FACT_PARAM,     /* name, DIE of a function -> DIE of its template parameter, 0 none */
	FACT_VARIABLE,  /* the same of a variable */
	FACT_ARGUMENT,  /* DIE of a function -> DIE of its first argument's type, 0 none */
	FACT_TLS,       /* path -> thread-locals */
	FACT_STATIC,    /* qualified name -> type and address */
	FACT_VTABLE,    /* link-time address of a vtable -> DIE of the type, exact */
	FACT_POLL,      /* DIE of a coroutine -> linkage name of its poll function */
	FACT_AWAITEE,   /* name of an awaitee's type, coroutine and number -> file and line */
	FACT_HOME,      /* DIE -> what the names of its crate's units begin with */
	FACT_HAS_POLL,  /* name of a type, its DIE -> whether it is polled */
	FACT_INSTANCES, /* generic path, home -> names of the instances */
	FACT_LINES,     /* link-time pc -> inlined functions with lines */
	FACT_INLINED,   /* link-time pc -> inlined functions */
	FACT_FRAME,     /* link-time pc -> variables of the frame and their locations */
	FACT_CODE,      /* link-time address -> DIE of the function that begins there */
	FACT_INLINES,   /* DIE of a function -> telling functions inlined into it */
	FACT_GLOBALS,   /* name without its path -> statics; "*" -> their number: all are known */
	FACT_DECLARED,  /* name of a variable, coroutine and state -> file, line, its offset */
	FACT_PLACE,     /* DIE of a variable -> file, directory of its unit, line */
	FACT_GENERICS,  /* DIE of a type -> its template parameters */
	FACT_HELD,      /* nth state of a coroutine -> its variables: see held_plan() */
	FACT_CONTEXT,   /* DIE of a function -> whether it has a task's Context */
	FACT_EXECUTOR,  /* 1 -> name of a function: see enumerated_executor() */
	FACT_KINDS,
};

enum { FACTS_FORMAT = 10 };

/* Which program a file of facts belongs to. */
struct facts_identity {
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

struct facts;

/* Empty: it remembers what it is told. */
struct facts *facts_new(void);
void facts_free(struct facts *f);
/* ---- asking ---- */

/* A record being read. */
struct fact {
	struct reader r;
	const struct facts *of;
};

/*
 * The record below (kind, key) or, where text is not NULL, below (kind, key and text). A key of 0
 * without text is never known. f may be NULL: nothing is known.
 */
bool fact_find(const struct facts *f, enum fact_kind kind, uint64_t key, const char *text,
               struct fact *ret);
/* The record of that kind with the greatest key that is not above key. Files only, not memory. */
bool fact_find_below(const struct facts *f, enum fact_kind kind, uint64_t key, uint64_t *found,
                     struct fact *ret);
/* The next number or text; 0 or NULL at the end of the record. Texts live as long as the facts. */
uint64_t fact_number(struct fact *fact);
const char *fact_text(struct fact *fact);
/* The next number as a count of entries to come: not more than the record has bytes left. */
size_t fact_count(struct fact *fact);
/* All of the record was read, and nothing beyond it: else what was read may be half of it. */
bool fact_ended(const struct fact *fact);

/* ---- telling ---- */

/* A record being written. */
struct fact_draft {
	struct facts *of;
	enum fact_kind kind;
	uint64_t key;
	struct str bytes;
};

/* f may be NULL: nothing is kept. Each begin is followed by an end. */
void fact_begin(struct fact_draft *d, struct facts *f, enum fact_kind kind, uint64_t key,
                const char *text);
void fact_add_number(struct fact_draft *d, uint64_t number);
void fact_add_text(struct fact_draft *d, const char *text); /* NULL is allowed */
/*
 * Between these two nothing that is told is kept: for a search that looks at much to find little.
 * They nest.
 */
void facts_pause(struct facts *f);
void facts_resume(struct facts *f);
bool facts_are_paused(const struct facts *f);
/* From now on it is known; what was known below that key before is forgotten. */
void fact_end(struct fact_draft *d);

/* The key of the nth of something of a DIE; 0 when n is too large for one. */
enum { FACT_NTHS = 256 };

static inline uint64_t fact_nth_key(uint64_t die, uint64_t n)
{
	return n < FACT_NTHS ? die << 8 | n : 0;
}

static inline uint64_t fact_nth_die(uint64_t key)
{
	return key >> 8;
}

static inline uint64_t fact_nth_number(uint64_t key)
{
	return key & 255;
}

/* ---- files ---- */

/*
 * Lets f know what the file of size bytes at data says; f owns data (malloc) from then on, also on
 * failure. One file at most. ERR_CORRUPT when it is no such file or one of a program that is not
 * the expected one (NULL: any), ERR_UNSUPPORTED when another version wrote it.
 */
struct error *facts_load(struct facts *f, void *data, size_t size,
                         const struct facts_identity *expected) MUST_CHECK;
/* Makes the header of a changed file right again, for tests with hostile ones. */
void facts_sign(void *data, size_t size);
/* What the loaded file says that it belongs to, NULL when there is none. */
const struct facts_identity *facts_identity(const struct facts *f);
/* Bytes of the loaded file, 0 none. */
size_t facts_size(const struct facts *f);
/* The loaded file is one of layout: what it does not know is not there. */
bool facts_are_whole(const struct facts *f);
/* Was anything told since facts_new() that the loaded file does not have? */
bool facts_are_new(const struct facts *f);
/* All that is known, as the bytes of a file, malloced. whole: see facts_are_whole(). */
void *facts_save(const struct facts *f, const struct facts_identity *identity, bool whole,
                 size_t *size);

#endif
