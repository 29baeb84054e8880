/* The words of docs/json.md for the enums of the model; the text output uses them too. */
#ifndef RUNTIMES_MODEL_NAMES_H
#define RUNTIMES_MODEL_NAMES_H

#include "runtimes/model/model.h"

const char *future_kind_name(enum future_kind kind);
/* The name of a future's kind; "stream" for a stream or a sink. */
const char *future_kind_of(const struct future *f);
/* Is the edge the usual one from a future to what it polls? */
bool edge_is_plain(const char *edge);
/* NULL for FUTURE_STATE_NONE. */
const char *future_state_name(enum future_state state);
const char *branch_name(enum branch branch);
const char *waker_registered_name(enum waker_registered armed);
const char *task_state_name(enum task_state state);
const char *reading_how_name(enum reading_how how);
const char *thread_role_name(enum thread_role role);
const char *row_status_name(enum row_status status);
const char *debug_tier_name(enum debug_tier tier);
/* "SIGSEGV", or "signal 99" in arena a. */
const char *signal_name(struct arena *a, int signal);
/* NULL for COMPLETENESS_UNKNOWN. */
const char *completeness_name(enum completeness completeness);
const char *holding_role_name(enum holding_role role);
/* Doubt whether the value of a variable is its own now: "may have been moved out"; NULL: it is. */
const char *local_uncertainty(const struct local *l);

#endif
