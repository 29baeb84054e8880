#include "dwarf/mapped.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debugger/base/log.h"
#include "dwarf/debuginfo.h"

/* Of all memory, and of files: below the latter it is not worth it. */
enum { MAX_RESIDENT = 112 << 20, MAX_FILES = 24 << 20, PAGE = 4096 };

void mapped_add(struct file_mapping *m, const void *data, uint64_t offset, size_t size)
{
	uint8_t *base = (uint8_t *)(uintptr_t)((uintptr_t)data - offset);

	if (!data || offset > SIZE_MAX - size || (uintptr_t)base % PAGE != 0)
		return;
	if (!m->base)
		*m = (struct file_mapping){ base, offset, offset };
	if (m->base != base)
		return;
	m->low = offset < m->low ? offset : m->low;
	m->high = offset + size > m->high ? offset + size : m->high;
}

/* Whole pages between two offsets of the file. */
static void drop(const struct file_mapping *m, size_t low, size_t high)
{
	low = (low + PAGE - 1) & ~(size_t)(PAGE - 1);
	high &= ~(size_t)(PAGE - 1);
	if (low < high && madvise(m->base + low, high - low, MADV_DONTNEED) != 0)
		LOG("dwarf", "madvise failed");
}

/* Is so much resident that pages of files should go? */
static bool is_much(void)
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
	       resident > MAX_RESIDENT / PAGE && shared > MAX_FILES / PAGE;
}

void mapped_trim(struct dwarf_module *dm)
{
	if (dm->file.base && dm->file.high - dm->file.low > MAX_FILES && is_much())
		drop(&dm->file, dm->file.low, dm->file.high);
}

void mapped_drop(const struct dwarf_module *dm, const uint8_t *data, size_t size)
{
	const struct file_mapping *m = &dm->file;

	if (m->base && data >= m->base + m->low && data + size <= m->base + m->high)
		drop(m, (size_t)(data - m->base), (size_t)(data - m->base) + size);
}
