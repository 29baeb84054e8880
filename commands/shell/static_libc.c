/*
 * Functions of libc that would load libraries of the system, replaced in the static binary alone.
 * Those libraries are built for the libc of that system; loaded beside the one that is linked in,
 * they crash.
 *
 * So there is no libdebuginfod, users are those of /etc/passwd, whatever nsswitch.conf has, and of
 * the character sets other than UTF-8 only ASCII is there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

void *dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

/* The linker gives us each call of setlocale (--wrap). */
char *__real_setlocale(int category, const char *locale);
char *__wrap_setlocale(int category, const char *locale);

char *__wrap_setlocale(int category, const char *locale)
{
	char *ret = __real_setlocale(category, locale);

	if (ret && locale && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		ret = __real_setlocale(category, "C");
	return ret;
}

/* Users one after another, as libedit completes their names; for one thread. */
static FILE *users;

void setpwent(void)
{
	if (users)
		rewind(users);
}

void endpwent(void)
{
	if (users)
		fclose(users);
	users = NULL;
}

struct passwd *getpwent(void)
{
	if (!users)
		users = fopen("/etc/passwd", "re");
	return users ? fgetpwent(users) : NULL;
}

/* The user with that name, or where it is NULL, with that number. */
static int static_libc_find_user(const char *name, uid_t uid, struct passwd *ret, char *buf,
                                 size_t len, struct passwd **found)
{
	FILE *file = fopen("/etc/passwd", "re");
	int err = file ? 0 : ENOENT;

	*found = NULL;
	while (file && !*found && err == 0) {
		err = fgetpwent_r(file, ret, buf, len, found);
		if (err == 0 && (name ? strcmp(ret->pw_name, name) != 0 : ret->pw_uid != uid))
			*found = NULL;
	}
	if (file)
		fclose(file);
	return err == ENOENT ? 0 : err; /* no such user is no error */
}

int getpwnam_r(const char *name, struct passwd *ret, char *buf, size_t len, struct passwd **found)
{
	return static_libc_find_user(name, 0, ret, buf, len, found);
}

int getpwuid_r(uid_t uid, struct passwd *ret, char *buf, size_t len, struct passwd **found)
{
	return static_libc_find_user(NULL, uid, ret, buf, len, found);
}

struct passwd *getpwuid(uid_t uid)
{
	static struct passwd user;
	static char buf[4096];
	struct passwd *found;

	return static_libc_find_user(NULL, uid, &user, buf, sizeof(buf), &found) == 0 ? found
	                                                                              : NULL;
}
