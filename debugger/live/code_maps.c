#include "debugger/live/code_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/live/proc.h"

enum { MAX_MAPPINGS = 1 << 20 };

/* PROCMAP_QUERY of linux/fs.h, Linux 6.11, which older headers do not have. */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define QUERY _IOWR('f', 17, struct query)
enum { EXECUTABLE = 1 << 2, COVERING_OR_NEXT = 1 << 4, FILE_BACKED = 1 << 5 };

/* Returns an errno; 0: all mappings were seen. */
static int code_maps_ask(int fd, uint64_t *ret)
{
	struct query q = { .size = sizeof(q),
		           .flags = EXECUTABLE | COVERING_OR_NEXT | FILE_BACKED };
	uint64_t key = 0;

	for (int i = 0; i < MAX_MAPPINGS; i++) {
		if (ioctl(fd, QUERY, &q) != 0) {
			*ret = key;
			return errno == ENOENT && i > 0 ? 0 : errno;
		}
		const uint64_t parts[] = {
			key, q.start, q.end, q.offset, q.inode, q.major, q.minor
		};

		key = map_key_of(parts, sizeof(parts));
		q.addr = q.end;
	}
	return E2BIG;
}

/* proc(5): "START-END rwxp OFFSET DEVICE INODE  PATH", and paths alone begin with a slash. */
static bool maps_code(const char *line)
{
	const char *flags = strchr(line, ' ');

	return flags && strlen(flags) > 3 && flags[3] == 'x' && strchr(flags, '/');
}

bool code_maps_key_of_text(pid_t pid, uint64_t *ret)
{
	SCRATCH(tmp);
	char *save = NULL, *text = proc_read(&tmp, pid, "maps", NULL);
	uint64_t key = 1;

	if (!text || !*text)
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (maps_code(line))
			key = map_key_of_pair(key, map_key_of_text(line));
	}
	*ret = key;
	return true;
}

bool code_maps_key(pid_t pid, uint64_t *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	int errnum = code_maps_ask(fd, ret);
	close(fd);
	return errnum == 0 || code_maps_key_of_text(pid, ret);
}
