#include "dwarf/store/layout_file.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/base/str.h"

enum { WORTH_COMPRESSION = 256 << 10, HEADER = 16 };

static const char packed_magic[8] NONSTRING = "adbfactz";
static const char begins[] = "adbfact";
static const struct file_format format = { .begins = begins };

/* ---- identity of the program ---- */

static uint64_t layout_file_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, int fd, uint64_t offset, uint64_t size)
{
	enum { BLOCK = 1 << 16 };
	uint8_t *block CLEANUP(file_bytes_free) = malloc(BLOCK);

	if (!block)
		out_of_memory();
	while (size) {
		size_t n = size < BLOCK ? (size_t)size : BLOCK;
		ssize_t got = pread(fd, block, n, (off_t)offset);

		if (got <= 0)
			return 0;
		memset(block + got, 0, BLOCK - (size_t)got);
		for (ssize_t i = 0; i < got; i += 8) {
			uint64_t word;

			memcpy(&word, block + i, 8);
			hash = layout_file_mix(hash, word);
		}
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return hash;
}

/* 0 when the file cannot be read. */
static uint64_t fingerprint(const struct module *m)
{
	GElf_Addr bias;
	Elf *elf = m->dwfl ? dwfl_module_getelf(m->dwfl, &bias) : NULL;
	uint64_t hash = 1;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while (elf && (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		/* The address and size of notes may change with the build-id; the rest may not. */
		if (!(shdr.sh_flags & SHF_ALLOC) || shdr.sh_type == SHT_NOTE)
			continue;
		hash = layout_file_mix(
			layout_file_mix(layout_file_mix(hash, shdr.sh_addr), shdr.sh_size),
			shdr.sh_flags);
		if ((shdr.sh_flags & SHF_EXECINSTR) && shdr.sh_type == SHT_PROGBITS) {
			hash = hash_bytes(hash, m->fd, shdr.sh_offset, shdr.sh_size);
			if (hash == 0)
				return 0;
		}
	}
	return elf ? hash : 0;
}

static struct records_identity layout_file_identify(const struct module *m)
{
	struct records_identity identity = { .build_id_len = m->build_id_len };

	memcpy(identity.build_id, m->build_id, m->build_id_len);
	identity.fingerprint = fingerprint(m);
	return identity;
}

/* ---- writing ---- */

/* Returns the bytes of the file; consumes data. */
static uint8_t *pack(uint8_t *data, size_t *size)
{
	uLongf packed = compressBound(*size);
	uint64_t plain = *size;
	uint8_t *ret;

	if (*size < WORTH_COMPRESSION)
		return data;
	ret = malloc(HEADER + packed);
	if (!ret)
		out_of_memory();
	if (compress2(ret + HEADER, &packed, data, *size, Z_BEST_COMPRESSION) != Z_OK) {
		free(ret);
		return data;
	}
	free(data);
	memcpy(ret, packed_magic, sizeof(packed_magic));
	memcpy(ret + sizeof(packed_magic), &plain, sizeof(plain));
	*size = HEADER + packed;
	return ret;
}

struct error *layout_file_write(const char *path, const struct dwarf_module *dm,
                                const struct records *f, uint64_t *size)
{
	struct records_identity identity = layout_file_identify(dm->module);
	struct new_file file CLEANUP(new_file_drop) = { 0 };
	size_t n;
	uint8_t *data CLEANUP(file_bytes_free) = records_save(f, &identity, true, &n);

	if (n > LAYOUT_MAX_SIZE)
		return error_new(ERR_UNSUPPORTED, "%s: the layout file would have %zu MB", path,
		                 n >> 20);
	data = pack(data, &n);
	TRY(new_file_open(path, 0600, &format, &file));
	/* Not written through the stream, which loses the errno of a failed write. */
	TRY(file_write(fileno(file.f), path, data, n));
	*size = n;
	return new_file_finish(&file);
}

/* ---- reading ---- */

static struct error *read_whole(const char *path, uint8_t **ret, size_t *size)
{
	int fd CLEANUP(file_close) = -1;

	TRY(file_open(path, &fd));
	return file_read(fd, path, LAYOUT_MAX_FILE, ret, size);
}

/* Undoes pack(): replaces *data. */
static struct error *unpack(const char *path, uint8_t **data, size_t *size)
{
	uint64_t plain;

	if (*size < strlen(begins) || memcmp(*data, begins, strlen(begins)) != 0)
		return error_new(ERR_USAGE,
		                 "%s is not a layout file: `asyncdbg layout EXE -o FILE` makes one "
		                 "from a build with debug info",
		                 path);
	if (*size < HEADER || memcmp(*data, packed_magic, sizeof(packed_magic)) != 0)
		return NULL;
	memcpy(&plain, *data + sizeof(packed_magic), sizeof(plain));
	if (plain == 0 || plain > LAYOUT_MAX_SIZE || plain / 2048 > *size)
		return error_new(ERR_CORRUPT, "%s: its size is wrong", path);
	uint8_t *ret = malloc(plain);
	uLongf got = plain;
	if (!ret)
		out_of_memory();
	if (uncompress(ret, &got, *data + HEADER, *size - HEADER) != Z_OK || got != plain) {
		free(ret);
		return error_new(ERR_CORRUPT, "%s: it cannot be decompressed", path);
	}
	free(*data);
	*data = ret;
	*size = plain;
	return NULL;
}

static struct error *layout_file_check_identity(const char *path, struct dwarf_module *dm,
                                                const struct records_identity *made_for, bool force,
                                                const char **differs)
{
	const struct module *m = dm->module;
	struct arena *a = &dm->di->arena;
	struct records_identity own;

	*differs = NULL;
	if (m->build_id_len && m->build_id_len == made_for->build_id_len &&
	    memcmp(m->build_id, made_for->build_id, m->build_id_len) == 0)
		return NULL;
	own = layout_file_identify(m);
	if (own.fingerprint && own.fingerprint == made_for->fingerprint)
		return NULL;
	*differs = arena_printf(a,
	                        "its build-id is %s, that of %s is %s, and the code differs "
	                        "too",
	                        build_id_text(a, made_for->build_id, made_for->build_id_len),
	                        m->path, build_id_text(a, own.build_id, own.build_id_len));
	if (force)
		return NULL;
	return error_new(ERR_USAGE,
	                 "%s belongs to another program: %s (make it from this very build before "
	                 "it is stripped, or use it with --force)",
	                 path, *differs);
}

struct error *layout_file_load(const char *path, struct records *f)
{
	uint8_t *data CLEANUP(file_bytes_free) = NULL;
	size_t size = 0;

	TRY(read_whole(path, &data, &size));
	TRY(unpack(path, &data, &size));
	struct error *err = error_wrap(records_load(f, data, size, NULL), "%s", path);
	data = NULL;
	if (!err && !records_are_whole(f))
		err = error_new(ERR_USAGE, "%s is a file of the cache, not a layout file", path);
	return err;
}

struct error *layout_file_use(const char *path, struct dwarf_module *dm, bool force,
                              const char **differs)
{
	struct records *f = records_new();
	struct error *err = layout_file_load(path, f);

	if (!err)
		err = layout_file_check_identity(path, dm, records_identity(f), force, differs);
	if (err) {
		records_free(f);
		return err;
	}
	records_free(dm->records);
	dm->records = f;
	return NULL;
}
