#include "dwarf/mapped.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debugger/base/log.h"
#include "dwarf/debuginfo.h"

enum { MAX_RESIDENT = 48 << 20, PAGE = 4096 };

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

/* Resident bytes of mapped files; 0 when the kernel does not tell. */
static size_t resident_files(void)
{
	unsigned long long total, resident, shared = 0;
	char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu %llu", &total, &resident, &shared) != 3)
		return 0;
	return (size_t)shared * PAGE;
}

void mapped_trim(struct dwarf_module *dm)
{
	if (dm->file.base && dm->file.high - dm->file.low > MAX_RESIDENT &&
	    resident_files() > MAX_RESIDENT)
		drop(&dm->file, dm->file.low, dm->file.high);
}

void mapped_drop_info(const struct dwarf_module *dm, uint64_t start, uint64_t end)
{
	const uint8_t *info = dm->sections.info.data;

	if (!dm->file.base || info < dm->file.base + dm->file.low ||
	    info + end > dm->file.base + dm->file.high)
		return;
	size_t offset = (size_t)(info - dm->file.base);
	drop(&dm->file, offset + start, offset + end);
}
