/*
 * Data shared by the program in the kernel (probe.bpf.c) and this process: the kinds of probe
 * points, and the records of the ring buffer. Only the types of linux/types.h: both sides must lay
 * them out alike.
 */
#ifndef DEBUGGER_PROBE_PROBE_RECORD_H
#define DEBUGGER_PROBE_PROBE_RECORD_H

#include <linux/types.h>

/* Set before the program is loaded. */
struct probe_settings {
	__u64 min_ns; /* of a call: shorter ones leave no record of their return */
	/*
	 * The pid namespace whose thread ids the records have, that of the process: device, as the
	 * kernel has it, and inode. 0: the first one of the kernel.
	 */
	__u64 ns_device, ns_inode;
	__u64 off_times; /* 1: the map off_times is used */
};

/*
 * Events that a point observes. An object is what a call works on, such as a task: an address in a
 * register. Calls of one thread nest.
 */
enum probe_kind {
	PROBE_CALL = 1, /* entry of a function on an object; it returns at a PROBE_RETURN */
	PROBE_RETURN,   /* code that runs after such a call has returned, in the same block */
	PROBE_OBJECT,   /* entry of a function on an object */
	PROBE_FINAL,    /* the same; the innermost call on that object has finished it */
	PROBE_PLACE,    /* a place in the code without an object: registers and stack are read */
};

enum {
	PROBE_MAX_POINTS = 65536,
	PROBE_MAX_DEPTH = 8, /* calls that nest on one thread; a power of two */
	/* Threads whose calls are followed; one that is in none goes first. A power of two. */
	PROBE_MAX_THREADS = 4096,
	PROBE_TRIES = 16,        /* of places for a new thread, before another one loses its own */
	PROBE_REST = 1000000000, /* ns without a hit after which a thread's place may be taken */
	PROBE_MAX_RETURNS = 16384, /* addresses to which calls return */
	PROBE_MAX_TABLES = 16384,  /* tables that are remembered */
	PROBE_MAX_FRAMES = 65536,  /* addresses to which calls return in known frames */
	PROBE_MAX_PATH = 24,       /* addresses of one way back along calls */
	PROBE_LOOKS = 16,          /* calls of a point of which the return address is looked at */
	PROBE_MAX_COPY = 256,      /* bytes of an object in a record: fewer than these */
	PROBE_MAX_PIECES = 4,      /* pieces of an object in one copy */
	PROBE_MAX_BOXES = 3,       /* objects behind pointers in one copy */
	PROBE_MAX_PLACES = 8192,   /* points of the kind PROBE_PLACE */
	PROBE_MAX_VALUES = 12,     /* values that are read at one of them */
	PROBE_MAX_TEXT = 128,      /* bytes of one text there, with its NUL; longer ones are cut */
};

/* Bytes of an object, from its address. */
struct probe_piece {
	__u32 offset, len;
};

/* How the return address of a function is found from that of a call that it makes. */
struct probe_frame {
	__u32 distance;   /* it lies so many bytes above that one; 0: the way is of no interest */
	__u32 by_pointer; /* 1: above the address that the frame pointer has */
	/*
	 * The frame pointer of the function's caller is kept so many bytes below the return
	 * address; 0: in its register; PROBE_KEPT_UNKNOWN.
	 */
	__u32 kept;
};

#define PROBE_KEPT_UNKNOWN 0xffffffffu

/*
 * Bytes of an object to which what was copied before has a pointer. They follow the pieces. They
 * are read only while the bytes at state in the copy, up to 4, are this value; size 0: always.
 */
struct probe_box {
	__u32 pointer;     /* its place in the copy */
	__u32 offset, len; /* of the bytes, from where it points to */
	__u32 state, size, value;
};

/* A value that is read at a place. */
enum probe_value_kind { PROBE_CONSTANT, PROBE_REGISTER, PROBE_MEMORY };
enum {
	PROBE_REGISTERS = 17,   /* DWARF numbers of x86-64: the general ones, then %rip */
	PROBE_NO_REGISTER = 31, /* as base or index: 0 */
};
struct probe_value {
	__s64 number; /* the constant, or it is added to the address */
	__u8 kind;
	__u8 size; /* bytes of memory, at most 8 */
	/* The register; the address is base + index * scale + number. */
	__u8 base, index, scale;
	__u8 shift; /* of the register's bits to the right */
	__u8 text;  /* it may be the address of a text that ends with NUL */
	__u8 unused;
};
struct probe_place {
	__u32 n, unused;
	struct probe_value values[PROBE_MAX_VALUES];
};

/*
 * A point behind an instruction that exchanges a number of an object ("lock cmpxchg"), where the
 * flags still say whether it did so. A hit counts only if it did, and the bits of the number,
 * before and after, are these. Registers have DWARF numbers, or are PROBE_NO_REGISTER.
 */
struct probe_exchange {
	__u8 used; /* 0: the point is none such */
	__u8 base, index, scale;
	__u8 source; /* the register with the number after; %rax has the one before */
	/* 1: nothing is exchanged: each hit counts, and base, index and displacement tell of what
	 */
	__u8 always;
	__u8 unused[2];
	__s32 displacement; /* base + index * scale + this is the address of the object */
	__u32 old_any, old_none, new_any, new_none; /* old_any 0: whatever it was */
};

enum probe_silence {
	PROBE_NO_HIT = 1,  /* the record of the hit itself; a call is still followed */
	PROBE_NO_END = 2,  /* of a PROBE_CALL: the record of its return */
	PROBE_NO_CALL = 4, /* of a PROBE_CALL: it is not followed, for nothing is at its return */
};

/* A point, by its index. */
struct probe_point {
	__u8 kind;     /* enum probe_kind; 0: none */
	__u8 argument; /* the register of that parameter, 0 to 2, has the object's address; 3: stack
	                */
	__u8 silent;   /* of enum probe_silence: records that are not written */
	__u8 npieces;  /* of the object, copied at the return of a call */
	/* The id of the object is a number of 8 bytes this far from its address; 0: not known. */
	__u32 id_offset;
	/*
	 * The object has a pointer to a table at table_offset, and the table has the number
	 * id_offset at id_slot, if id_offset is 0.
	 */
	__u32 table_offset, id_slot;
	/*
	 * Run-time address of the point; 0: any. The same file may be mapped elsewhere by a program
	 * that the process executes, where what is known of its code does not hold.
	 */
	__u64 address;
	/* The stack pointer there minus that at the entry of the function, or of the call. */
	__s32 stack_delta;
	__s32 stack_slot; /* of argument 3: distance from the stack pointer at the entry */
	/*
	 * While one of these bits of the 4 bytes at busy_offset is set, another thread works on the
	 * object: its pieces are not copied. 0: never.
	 */
	__u32 busy_offset, busy_mask;
	struct probe_piece pieces[PROBE_MAX_PIECES];
	/* A byte follows the last box: bits, from the lowest on, of those that could not be read.
	 */
	struct probe_box boxes[PROBE_MAX_BOXES];
	__u32 nboxes;
	/*
	 * The address of the object is its id, while it lives. The pointer at table_offset follows
	 * each record of a call of it: 8 bytes, 0 if it could not be read.
	 */
	__u32 is_own_id;
	/*
	 * PROBE_CALL: the lowest byte of what it returns is 0 where it has finished its object.
	 * PROBE_RETURN: %rax has what the call has returned.
	 */
	__u32 has_result;
	__u32 unfinished; /* of a PROBE_FINAL: it counts only while no bit of busy_mask is set */
	/*
	 * PROBE_OBJECT: this far behind the id lie 8 bytes that follow its record, unless they
	 * cannot be read; 0: none. PROBE_CALL without is_own_id: the pointer at table_offset
	 * follows, and then these bytes, 0 if they cannot be read.
	 */
	__u32 behind_id;
	/* Not 0: the pieces and boxes of a PROBE_CALL are copied at its entry, not its return. */
	__u32 at_entry;
	/*
	 * PROBE_OBJECT: the address of the point in its file. The addresses follow to which the
	 * calls return that have led there, also in the file, 8 bytes each, the innermost first: up
	 * to the first one whose frame is not known. 0: they do not.
	 */
	__u64 path_from;
	__u32 path_kept;                /* probe_frame.kept of the function at the point */
	struct probe_exchange exchange; /* of a PROBE_OBJECT or PROBE_FINAL */
	/* Written by the program; 0 at first. */
	__u32 looked;      /* how many calls were looked at: see PROBE_LOOKS */
	__u64 first_table; /* a table, shifted by 16 bits, and below it what it has at id_slot */
};

enum {
	PROBE_FINISHED = 1,   /* of a return: a PROBE_FINAL of the object came before it, or what it
	                         returned says so */
	PROBE_LATE = 2,       /* of a return: it was seen only by the next event of the thread */
	PROBE_UNREAD = 4,     /* the object could not be read: id is 0, or the copy is missing */
	PROBE_NEW_RETURN = 8, /* of a call: it returns to an address without a point */
};

/*
 * A record of the ring. In one of a PROBE_PLACE, object and start are sets of values, with a bit
 * for each from the lowest on: those that could not be read, and those that have a text. The values
 * follow as words of 8 bytes, of which as many bits are set as the value has, then the texts, each
 * with NUL. Records of calls and returns are cut off behind their last word that is not 0 if
 * nothing follows them: what is written costs the more the longer it is.
 */
struct probe_record {
	__u64 time;   /* ns, CLOCK_MONOTONIC; in the ring that of the kernel, without our time
	                 namespace */
	__u64 object; /* its address */
	__u64 id;     /* of the object; 0: unknown */
	__u32 tid;    /* in the pid namespace of the settings; 0: it has none there */
	__u32 point;  /* of a return: that of its call */
	__u8 kind;    /* enum probe_kind */
	__u8 flags;
	__u16 copied;   /* bytes that follow */
	__u32 by_point; /* the point of the call of by */
	/* The members from here on may be cut off. */
	__u64 start; /* of a return: when the call began; of a call: the address it returns to, or 0
	              */
	__u64 by;    /* id of the object of the innermost call that the thread is in; 0: none */
	/*
	 * PROBE_OBJECT or PROBE_FINAL: the pointer at table_offset; 0: none. A call or its return:
	 * ns that the thread was off its CPU up to then, where that is measured.
	 */
	__u64 table;
};

/* How long a thread is off its CPU. */
struct probe_off_time {
	__u64 total; /* ns, up to the last time that it came back */
	__u64 since; /* ns, CLOCK_MONOTONIC: it is off since then; 0: it is on one */
	/*
	 * 1: it was added at since, and has neither come nor gone yet: it has been off all the
	 * time, or on. ran: ns on CPUs, as the kernel had counted them then.
	 */
	__u64 unsure, ran;
};

/* Counters of the program, an array of 64-bit numbers for each CPU. */
enum probe_count {
	PROBE_LOST,      /* records for which the ring had no room */
	PROBE_UNMATCHED, /* returns without their call: it began before the points were there */
	PROBE_TOO_DEEP,  /* calls that nest deeper than PROBE_MAX_DEPTH */
	PROBE_NCOUNTS,
};

#endif
