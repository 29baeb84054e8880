#include "dwarf/module/residency.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "debugger/base/log.h"
#include "dwarf/module/debuginfo.h"

/*
 * Limits in bytes: of all resident memory (MAX_RESIDENT, MAX_IN_FOLIOS), and of resident file
 * pages, below which dropping pages does not pay (MAX_FILES; MAX_SCATTERED for the scattered
 * section). The limit is lower with large folios, because a few faults map as much as hundreds do
 * later.
 */
enum {
	MAX_RESIDENT = 126 << 20,
	MAX_IN_FOLIOS = 100 << 20,
	MAX_FILES = 30 << 20,
	MAX_SCATTERED = 22 << 20,
	PAGE = 4096,
	FAULT = 64 << 10,    /* bytes that the kernel maps at once, by default */
	HUGE_PAGE = 2 << 20, /* the largest folio that is mapped whole */
	PIECE = 1 << 20,
	CHECK_AFTER = 4 << 20, /* bytes read between checks: one costs as much as scanning 20 KB */
	ASK_FOLIOS_AFTER = 8 << 20,
	SWEEP = 16 << 20,     /* bytes per call: older kernels block allocations of other threads
	                         meanwhile */
	SPARE = 32 << 20,     /* bytes below the limit that a sweep must reach, or it continues */
	SWEEPS_OF_FOLIOS = 2, /* sweeps of folios are cheap, but folios come back whole */
	STRIDE = 16 << 20,    /* bytes of a pass between two checks */
};

bool residency_add(struct file_mapping *m, const void *data, uint64_t offset, size_t size)
{
	uint8_t *base = (uint8_t *)(uintptr_t)((uintptr_t)data - offset);

	if (!data || offset > SIZE_MAX - size || (uintptr_t)base % PAGE != 0)
		return false;
	if (!m->base)
		*m = (struct file_mapping){ .base = base, .low = offset, .high = offset };
	if (m->base != base || (m->size && offset + size > m->size))
		return false;
	m->low = offset < m->low ? offset : m->low;
	m->high = offset + size > m->high ? offset + size : m->high;
	return true;
}

void residency_add_scattered(struct file_mapping *m, const void *data, uint64_t offset, size_t size)
{
	if (residency_add(m, data, offset, size))
		m->scattered = (struct file_part){ offset, offset + size };
}

/*
 * The kernel maps a folio whole only if it fits into one mapping. Alternating the flag of pieces
 * splits the mapping in the middle of folios.
 */
static void make_pieces(const struct file_mapping *m, struct file_part part)
{
	uintptr_t end = (uintptr_t)(m->base + part.high);
	uintptr_t at = (uintptr_t)(m->base + part.low) / PIECE * PIECE + PIECE + PIECE / 2;

	for (; at + PIECE <= end; at += 2 * PIECE) {
		if (madvise((void *)at, PIECE, MADV_NOHUGEPAGE) != 0)
			return; /* a kernel without huge pages has no large folios either */
	}
}

void residency_confirm(struct file_mapping *m)
{
	FILE *maps = m->base ? fopen("/proc/self/maps", "re") : NULL;
	uintptr_t first = (uintptr_t)m->base + m->low;
	unsigned long long start, end, offset, inode;
	char *line = NULL;
	size_t space = 0;

	m->size = 0;
	while (maps && getline(&line, &space, maps) > 0) {
		if (sscanf(line, "%llx-%llx %*s %llx %*s %llu", &start, &end, &offset, &inode) != 4)
			continue;
		/* Allocated memory, as of an uncompressed section, has no inode. */
		if (first >= start && first < end && inode && start - (uintptr_t)m->base == offset)
			m->size = (size_t)(end - (uintptr_t)m->base);
	}
	free(line);
	if (maps)
		fclose(maps);
	if (m->high > m->size)
		m->size = 0;
	if (m->size)
		make_pieces(m, m->scattered);
}

/* Drops the whole pages between two offsets of the file. */
static void drop(const struct file_mapping *m, size_t low, size_t high)
{
	low = (low + PAGE - 1) & ~(size_t)(PAGE - 1);
	high &= ~(size_t)(PAGE - 1);
	if (low < high && madvise(m->base + low, high - low, MADV_DONTNEED) != 0)
		LOG("dwarf", "madvise failed");
}

/* Drops whole huge pages: a split one would have to be mapped again page by page. */
static void drop_folios(const struct file_mapping *m, size_t low, size_t high)
{
	uintptr_t base = (uintptr_t)m->base;
	uintptr_t first = (base + low) / HUGE_PAGE * HUGE_PAGE;
	uintptr_t end = (base + high + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

	drop(m, first > base + m->low ? first - base : m->low,
	     end < base + m->high ? end - base : m->high);
}

/* Is more memory resident than so many bytes, and more of files than files bytes? */
static bool is_more_of(size_t bytes, size_t files)
{
	unsigned long long total, resident, shared;
	char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%llu %llu %llu", &total, &resident, &shared) == 3 &&
	       resident > bytes / PAGE && shared > files / PAGE;
}

/* is_more_of() with the smallest amount of file pages that pays to drop. */
static bool is_more(size_t bytes)
{
	return is_more_of(bytes, MAX_FILES);
}

static void residency_sweep_part(const struct file_mapping *m, size_t low, size_t high)
{
	size_t step = m->in_pieces ? SWEEP : m->size;

	for (size_t at = low; at < high; at += step)
		drop(m, at, step < high - at ? at + step : high);
}

/*
 * Drops pages. The scattered section costs most to drop and to map again: it comes last, and only
 * if the rest was not enough. all: in any case.
 */
static void sweep(const struct file_mapping *m, bool all)
{
	struct file_part last = m->scattered;

	if (last.high == 0)
		last.low = last.high = m->high;
	residency_sweep_part(m, m->low, last.low);
	residency_sweep_part(m, last.high, m->high);
	if (all || is_more_of(MAX_RESIDENT - SPARE, MAX_SCATTERED))
		residency_sweep_part(m, last.low, last.high);
}

/* Drops pages if more than bytes are resident. To unmap a page takes half as long as to map it. */
static void sweep_if_more(struct file_mapping *m, size_t bytes)
{
	if (!m->size || m->high - m->low <= MAX_FILES || !is_more(bytes))
		return;
	if (!m->in_pieces && m->nsweeps == SWEEPS_OF_FOLIOS) {
		make_pieces(m, (struct file_part){ m->low, m->high });
		m->in_pieces = true;
	}
	m->nsweeps += !m->in_pieces;
	sweep(m, bytes == 0);
}

void residency_trim(struct dwarf_module *dm)
{
	dm->file.unchecked = 0;
	sweep_if_more(&dm->file, dm->file.in_pieces ? MAX_RESIDENT : MAX_IN_FOLIOS);
}

void residency_touched(struct dwarf_module *dm)
{
	/* A fault may have mapped a whole folio. */
	long many = dm->file.in_pieces ? CHECK_AFTER / FAULT : ASK_FOLIOS_AFTER / HUGE_PAGE;
	struct rusage usage;

	if (!dm->file.size || getrusage(RUSAGE_THREAD, &usage) != 0 ||
	    usage.ru_minflt - dm->file.faults < many)
		return;
	dm->file.faults = usage.ru_minflt;
	residency_trim(dm);
}

void residency_read(struct dwarf_module *dm, size_t bytes)
{
	dm->file.unchecked += bytes;
	if (dm->file.unchecked >= CHECK_AFTER)
		residency_trim(dm);
}

void residency_release_file_pages(struct dwarf_module *dm)
{
	sweep_if_more(&dm->file, 0);
}

void residency_release(struct dwarf_module *dm)
{
	if (dm->file.size)
		residency_sweep_part(&dm->file, dm->file.low, dm->file.high);
}

void residency_drop(const struct dwarf_module *dm, const uint8_t *data, size_t size)
{
	const struct file_mapping *m = &dm->file;

	if (m->size && data >= m->base + m->low && data + size <= m->base + m->high)
		drop_folios(m, (size_t)(data - m->base), (size_t)(data - m->base) + size);
}

void residency_passed(struct residency_pass *pass, const uint8_t *p)
{
	if ((size_t)(p - pass->from) < STRIDE)
		return;
	if (is_more(MAX_FILES))
		residency_drop(pass->dm, pass->from, (size_t)(p - pass->from));
	pass->from = p;
}
