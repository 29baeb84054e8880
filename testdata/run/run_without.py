#!/usr/bin/env python3
"""Runs a command for which the kernel refuses a system call, as filters of containers do.

usage: run_without.py CALL ERROR COMMAND...

CALL   bpf or perf_event_open, of x86-64
ERROR  the error that it gets: EPERM, ENOSYS
"""
import ctypes
import errno
import os
import struct
import sys

CALLS = {"bpf": 321, "perf_event_open": 298}
AUDIT_ARCH_X86_64 = 0xC000003E
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # of struct sock_filter
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def refuse(number, error):
    code = b"".join([
        instruction(LOAD, 4),
        instruction(JUMP_IF_EQUAL, AUDIT_ARCH_X86_64, 0, 3),
        instruction(LOAD, 0),
        instruction(JUMP_IF_EQUAL, number, 0, 1),
        instruction(RETURN, REFUSE | error),
        instruction(RETURN, ALLOW),
    ])
    instructions = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)):
        if libc.prctl(words[0], ctypes.c_ulong(words[1]), words[2], 0, 0) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in CALLS or not hasattr(errno, sys.argv[2]):
        sys.exit(__doc__)
    refuse(CALLS[sys.argv[1]], getattr(errno, sys.argv[2]))
    os.execvp(sys.argv[3], sys.argv[3:])
