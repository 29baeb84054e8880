/* Files with code that a process has mapped, without the rest of /proc/PID/maps. */
#ifndef DEBUGGER_LIVE_CODE_MAPS_H
#define DEBUGGER_LIVE_CODE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A number for these mappings: the same as long as none of them comes or goes. pid: that of a
 * thread, too. False: they cannot be read, or there are none, as of a thread that has ended.
 */
bool code_maps_key(pid_t pid, uint64_t *ret);
/*
 * code_maps_key() from text, as on kernels before 6.11; another number than that of
 * code_maps_key().
 */
bool code_maps_key_of_text(pid_t pid, uint64_t *ret);

#endif
