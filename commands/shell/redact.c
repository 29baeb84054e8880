#include "commands/shell/redact.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/str.h"

enum { MAX_FILE = 1 << 16 /* bytes */ };

/* The path of the list; NULL when unknown. The XDG standard makes relative paths invalid. */
static const char *config_path(struct arena *a)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		return arena_printf(a, "%s/asyncdbg/redact", config);
	if (home && *home == '/')
		return arena_printf(a, "%s/.config/asyncdbg/redact", home);
	return NULL;
}

/* *text becomes NULL when there is no such file. */
static struct error *read_file(struct arena *a, const char *path, char **text, size_t *size)
{
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t n = 0;

	*text = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? NULL : error_os(errno, "%s", path);
	if (fstat(fd, &st) != 0)
		return error_os(errno, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_FILE)
		return error_new(ERR_CORRUPT, "%s: it is not a file of at most %d bytes", path,
		                 MAX_FILE);
	char *bytes = arena_alloc(a, MAX_FILE + 1);
	while (n < MAX_FILE) {
		ssize_t got = read(fd, bytes + n, MAX_FILE - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_os(errno, "%s", path);
		if (got == 0)
			break;
		n += (size_t)got;
	}
	bytes[n] = '\0';
	*text = bytes;
	*size = n;
	return NULL;
}

/* Removes a comment and surrounding blanks, and converts to lower case. */
static char *stripped(char *line)
{
	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r");
	for (size_t n = strlen(line); n && strchr(" \t\r", line[n - 1]); n--)
		line[n - 1] = '\0';
	for (char *p = line; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return line;
}

struct error *redact_read(struct arena *a, const char *path, struct secrets *ret)
{
	struct secrets s CLEANUP(secrets_free) = { 0 };
	unsigned number = 0;
	size_t size = 0;
	char *text, *end;

	TRY(read_file(a, path, &text, &size));
	secrets_add_known(&s);
	for (char *line = text; line && line < text + size; line = end + 1) {
		number++;
		end = memchr(line, '\n', (size_t)(text + size - line));
		end = end ? end : text + size;
		*end = '\0';
		bool whole = strlen(line) == (size_t)(end - line);
		const char *word = stripped(line);
		bool ok = *word == '\0'  ? true
		          : *word == '-' ? secrets_remove(&s, word + 1)
		                         : secrets_add(&s, word);

		if (!ok || !whole)
			return error_new(ERR_CORRUPT,
			                 "%s:%u: it is not a word of at most %d letters; "
			                 "--show-secrets ignores the file",
			                 path, number, SECRET_WORD_MAX);
	}
	*ret = s;
	s = (struct secrets){ 0 };
	return NULL;
}

struct error *redact_load(struct arena *a, struct secrets *ret)
{
	const char *path = config_path(a);

	if (!path) {
		secrets_add_known(ret);
		return NULL;
	}
	struct error *err = redact_read(a, path, ret);
	if (!err || err->kind != ERR_OS || err->errnum != EACCES)
		return err;
	/* EACCES: for example, the home directory of root read by another user. */
	error_free(err);
	return error_os(EACCES,
	                "%s, which may name secrets, cannot be read: set HOME or XDG_CONFIG_HOME "
	                "to a directory of this user, or show all values with --show-secrets",
	                path);
}
