/*
 * Resolution of paths in which others may have chosen the names on the way: in a target's root
 * (/proc/PID/root), or in a folder in which other users create links.
 */
#ifndef DEBUGGER_BASE_PATH_H
#define DEBUGGER_BASE_PATH_H

#include <stdbool.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/*
 * Opens with O_PATH, which neither opens a device nor blocks on a pipe, what path leads to. flags:
 * O_DIRECTORY, or O_NOFOLLOW for the last name. -1 with errno.
 *
 * Beyond a link of /proc into another process's files (/proc/PID/root, /proc/PID/cwd), names are
 * resolved in the root that this link leads to, as chroot(2) does: an absolute symbolic link in a
 * container never leads to a file of the host. Kernels without openat2 (before Linux 5.6) follow no
 * link there at all: ELOOP. *inside, unless NULL: the path leads through such a link.
 */
int path_find(const char *path, int flags, bool *inside);

/* Splits path behind its last slash: "a/b" is "a" and "b", and "b" is "." and "b". */
void path_split(struct arena *a, const char *path, const char **folder, const char **name);

/*
 * Opens a folder that asyncdbg chose by itself, such as that of its cache. ERR_OS, or ERR_USAGE
 * where it belongs to another user, or others may write to it.
 */
struct error *path_open_own_folder(const char *path, int *ret) MUST_CHECK;

/*
 * Creates such a folder and its parents, but only in folders of the effective user: with sudo,
 * $HOME may belong to another. Whether it worked is seen by path_open_own_folder().
 */
void path_make_own_folder(const char *path);

/* Creates a folder that the user named, unless it exists; its parent exists. ERR_OS. */
struct error *path_make_folder(const char *path) MUST_CHECK;

#endif
