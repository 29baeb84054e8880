#include "debugger/host/unit_cgroup.h"

#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/live/proc.h"

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && memcmp(text + len - n, end, n) == 0;
}

/* Units that have processes of their own, or groups of such. */
static bool has_unit_ending(const char *name)
{
	static const char *const endings[] = { ".service", ".scope", ".slice",
		                               ".socket",  ".mount", ".swap" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		if (ends_with(name, strlen(name), endings[i]))
			return true;
	}
	return false;
}

/*
 * Whether a component of a path is the unit. systemd puts "_" before the names that the kernel
 * could take for its own files, such as "memory.service".
 */
static bool is_unit(const char *component, size_t len, const char *unit)
{
	static const char service[] = ".service";
	size_t n = strlen(unit);

	if (len && *component == '_' && *unit != '_') {
		component++;
		len--;
	}
	if (len < n || memcmp(component, unit, n) != 0)
		return false;
	return len == n || (!has_unit_ending(unit) && len == n + strlen(service) &&
	                    memcmp(component + n, service, strlen(service)) == 0);
}

/*
 * "/system.slice/web.service", or "/a.slice/a-b.slice/web.service/payload": only slices are above a
 * unit of the system. Behind a service, as "user@1000.service", others choose the names.
 */
static bool has_path(const char *unit, const char *path)
{
	while (*path == '/') {
		const char *component = path + 1;
		size_t len = strcspn(component, "/\n");

		if (is_unit(component, len, unit))
			return true;
		if (!ends_with(component, len, ".slice"))
			return false;
		path = component + len;
	}
	return false;
}

/* Lines are HIERARCHY:CONTROLLERS:PATH. */
const char *unit_cgroup_path(const char *text, const char *hierarchy)
{
	size_t len = strlen(hierarchy);
	const char *path = NULL;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *head = *hierarchy == ':' ? strchr(line, ':') : line;

		if (head && strncmp(head, hierarchy, len) == 0)
			path = head + len;
	}
	return path;
}

/*
 * systemd has a hierarchy of its own besides those of cgroup v1, and also where v2 is mounted
 * beside them; else it uses v2.
 */
bool unit_cgroup_has_text(const char *unit, const char *text)
{
	const char *own = unit_cgroup_path(text, ":name=systemd:");
	const char *path = own ? own : unit_cgroup_path(text, "0::");

	return *unit && path && has_path(unit, path);
}

bool unit_cgroup_has_process(const char *unit, pid_t pid)
{
	SCRATCH(tmp);
	const char *text = proc_read(&tmp, pid, "cgroup", NULL);

	return text && unit_cgroup_has_text(unit, text);
}
