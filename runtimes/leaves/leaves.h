/*
 * The crates that are no runtime but whose futures a task can wait at: channels, locks, pools,
 * protocols. Each crate is one file with one table (struct crate_types): its leaves, its guards and
 * ends of channels, the member paths that they read. A crate that the program does not have costs
 * nothing: a filter over the names of all rows is consulted before any row.
 */
#ifndef RUNTIMES_LEAVES_LEAVES_H
#define RUNTIMES_LEAVES_LEAVES_H

#include "dwarf/values/show_rows.h"
#include "runtimes/common/crate_types.h"

extern const struct crate_types async_broadcast_types, async_channel_types, async_io_types,
	async_lock_types, async_std_types, bb8_types, deadpool_types, event_listener_types,
	flume_types, futures_lite_types, futures_types, h2_types, hyper_types, mobc_types,
	piper_types, quinn_types, r2d2_types, rustls_types, sqlx_types, tungstenite_types,
	uring_types, want_types;

/* futures_show.c: its types with a text of their own. */
extern const struct show_row futures_shown[];
/* futures_sequences.c */
extern const struct sequence_row futures_sequences[];

#endif
