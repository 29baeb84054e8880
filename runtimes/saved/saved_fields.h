/*
 * The members of the model that a saved snapshot has, and how each is written. There is one list
 * for each struct; the writer and the reader are both generated from it. Add new members of the
 * model here; saved_test.c fails until they are, or are listed there as not saved.
 *
 * F(HOW, member) is one member, L(HOW, member, count) an array and how many elements it has. HOW:
 *
 *   NAME  text that many share      TEXT  text of its own      TEXTS  an array of such
 *   ADDR  an address                U32, U64, I32  numbers     FLAG   a bool
 *   ID    a task's: digits, or a task_key() of a task without a number
 *   others: an enum of SAVED_WORDS, or a struct or array of structs of this list.
 */
#ifndef RUNTIMES_SAVED_SAVED_FIELDS_H
#define RUNTIMES_SAVED_SAVED_FIELDS_H

/* W(HOW, type, words, last): words(value) is NULL for a first value that needs no word. */
#define SAVED_WORDS(W)                                                                             \
	W(FUTURE_KIND, enum future_kind, future_kind_name, FUTURE_OTHER)                           \
	W(FUTURE_STATE, enum future_state, future_state_name, FUTURE_PANICKED)                     \
	W(BRANCH, enum branch, branch_name, BRANCH_HELD)                                           \
	W(ARMED, enum waker_registered, waker_registered_name, WAKER_REGISTERED_NO)                \
	W(TASK_STATE, enum task_state, task_state_name, TASK_CANCELLED)                            \
	W(HOLDING_ROLE, enum holding_role, holding_role_name, HOLDING_DESCRIPTOR)                  \
	W(THREAD_ROLE, enum thread_role, thread_role_name, THREAD_BLOCKING)                        \
	W(COMPLETENESS, enum completeness, completeness_name, COMPLETENESS_SCANNED)                \
	W(ROW_STATUS, enum row_status, row_status_name, ROW_BROKEN)                                \
	W(DEBUG_TIER, enum debug_tier, debug_tier_name, TIER_NONE)                                 \
	W(READING_HOW, enum reading_how, reading_how_name, READ_RUNNING)

/* The elements of details have hand-written code: their values have the kinds of JSON. */
#define SAVED_WAIT(F, L)                                                                           \
	F(NAME, kind)                                                                              \
	F(TEXT, phrase)                                                                            \
	F(NAME, phrase_parts)                                                                      \
	F(ADDR, object)                                                                            \
	F(ADDR, primitive)                                                                         \
	F(ID, task)                                                                                \
	F(TEXT, name)                                                                              \
	F(FLAG, within)                                                                            \
	F(FLAG, anonymous)                                                                         \
	F(ARMED, armed)                                                                            \
	L(DETAILS, details, ndetails)

#define SAVED_LOCAL(F, L)                                                                          \
	F(NAME, name)                                                                              \
	F(NAME, type)                                                                              \
	F(TEXT, value)                                                                             \
	F(ADDR, addr)                                                                              \
	F(FLAG, argument)                                                                          \
	F(FLAG, uncertain)                                                                         \
	F(FLAG, passed_in)                                                                         \
	F(FLAG, may_be_lost)                                                                       \
	F(FLAG, may_be_unset)                                                                      \
	F(FLAG, may_be_stale)                                                                      \
	F(FLAG, global)                                                                            \
	F(FLAG, redacted)                                                                          \
	F(FLAG, no_value)                                                                          \
	F(NAME, problem)

/* Frame numbers are not saved: they are computed from the tree. */
#define SAVED_FUTURE(F, L)                                                                         \
	F(NAME, function)                                                                          \
	F(NAME, type)                                                                              \
	F(ADDR, addr)                                                                              \
	F(NAME, file)                                                                              \
	F(NAME, file_short)                                                                        \
	F(U32, line)                                                                               \
	F(NAME, edge)                                                                              \
	F(TEXT, note)                                                                              \
	F(NAME, variable)                                                                          \
	F(NAME, aliases)                                                                           \
	F(I32, await_point)                                                                        \
	F(FUTURE_KIND, kind)                                                                       \
	F(FUTURE_STATE, state)                                                                     \
	F(BRANCH, branch)                                                                          \
	F(FLAG, running)                                                                           \
	F(FLAG, dyn)                                                                               \
	F(FLAG, inferred)                                                                          \
	F(FLAG, uncertain)                                                                         \
	F(FLAG, joined)                                                                            \
	F(FLAG, stream)                                                                            \
	F(FLAG, wraps)                                                                             \
	F(FLAG, library)                                                                           \
	F(NAME, problem)                                                                           \
	F(NAME, problem_parts)                                                                     \
	F(WAIT, wait)                                                                              \
	F(WAIT, properties)                                                                        \
	L(LOCALS, locals, nlocals)                                                                 \
	L(FUTURES, children, nchildren)

#define SAVED_SOURCE(F, L)                                                                         \
	F(NAME, file)                                                                              \
	F(NAME, file_short)                                                                        \
	F(U32, line)

#define SAVED_TASK(F, L)                                                                           \
	F(ID, id)                                                                                  \
	F(U64, number)                                                                             \
	F(U32, runtime)                                                                            \
	F(ADDR, addr)                                                                              \
	F(ADDR, local_set)                                                                         \
	F(FLAG, undriven)                                                                          \
	F(TASK_STATE, state)                                                                       \
	F(FLAG, notified)                                                                          \
	F(U32, thread)                                                                             \
	F(NAME, type)                                                                              \
	F(U64, size)                                                                               \
	F(SOURCE, spawned_at)                                                                      \
	F(SOURCE, defined_at)                                                                      \
	F(FUTURE, root)                                                                            \
	F(TEXT, problem)                                                                           \
	F(NAME, problem_parts)                                                                     \
	F(FLAG, changed)                                                                           \
	F(FLAG, has_wakers)                                                                        \
	F(U64, wakers)

/* Task and future are written as numbers by separate code. */
#define SAVED_HOLDING(F, L)                                                                        \
	F(HOLDING_ROLE, role)                                                                      \
	F(NAME, kind)                                                                              \
	F(NAME, type)                                                                              \
	F(ADDR, addr)                                                                              \
	F(ADDR, object)                                                                            \
	F(ADDR, primitive)                                                                         \
	F(U64, permits)                                                                            \
	F(U32, thread)                                                                             \
	F(U32, stack_frame)                                                                        \
	F(NAME, function)                                                                          \
	F(TEXT, path)                                                                              \
	F(NAME, file)                                                                              \
	F(NAME, file_short)                                                                        \
	F(U32, line)                                                                               \
	F(FLAG, declared)                                                                          \
	F(FLAG, granted)                                                                           \
	F(FLAG, partial)                                                                           \
	F(FLAG, queued)                                                                            \
	F(FLAG, uncertain)                                                                         \
	F(FLAG, sole)                                                                              \
	F(I32, fd)                                                                                 \
	F(FLAG, shared)                                                                            \
	F(FLAG, nobody_else)

#define SAVED_RUNTIME(F, L)                                                                        \
	F(U32, index)                                                                              \
	F(NAME, kind)                                                                              \
	F(TEXT, flavor)                                                                            \
	F(FLAG, workers_poll)                                                                      \
	F(TEXT, name)                                                                              \
	F(ADDR, addr)                                                                              \
	F(U32, workers)                                                                            \
	F(U64, ntasks)                                                                             \
	F(U64, expected_tasks)                                                                     \
	F(FLAG, has_expected)                                                                      \
	F(COMPLETENESS, completeness)                                                              \
	F(U64, rejected)                                                                           \
	F(U64, inject_len)                                                                         \
	F(FLAG, has_inject)                                                                        \
	F(U64, blocking_threads)                                                                   \
	F(U64, blocking_idle)                                                                      \
	F(U64, blocking_queued)                                                                    \
	F(FLAG, has_blocking)                                                                      \
	F(U64, blocking_limit)                                                                     \
	F(FLAG, has_limit)                                                                         \
	F(NAME, version)                                                                           \
	F(TEXT, found_by)

#define SAVED_STACK_FRAME(F, L)                                                                    \
	F(U32, number)                                                                             \
	F(ADDR, pc)                                                                                \
	F(NAME, function)                                                                          \
	F(NAME, function_full)                                                                     \
	F(NAME, aliases)                                                                           \
	F(NAME, file)                                                                              \
	F(NAME, file_short)                                                                        \
	F(U32, line)                                                                               \
	F(FLAG, inlined)                                                                           \
	F(NAME, module)                                                                            \
	F(ID, polls_task)

#define SAVED_THREAD(F, L)                                                                         \
	F(U32, number)                                                                             \
	F(I32, tid)                                                                                \
	F(TEXT, name)                                                                              \
	F(THREAD_ROLE, role)                                                                       \
	F(I32, runtime)                                                                            \
	F(TEXT, state)                                                                             \
	F(FLAG, pooled)                                                                            \
	F(FLAG, handle_only)                                                                       \
	F(U64, queue_len)                                                                          \
	F(FLAG, has_queue)                                                                         \
	F(I32, worker)                                                                             \
	F(ID, task)                                                                                \
	F(FUTURE, root)                                                                            \
	F(FLAG, waits_for_root)                                                                    \
	F(NAME, job)                                                                               \
	F(WAIT, wait)                                                                              \
	L(STACK_FRAMES, frames, nframes)                                                           \
	F(TEXT, problem)

#define SAVED_JOB(F, L)                                                                            \
	F(ID, id)                                                                                  \
	F(I32, runtime)                                                                            \
	F(ADDR, addr)                                                                              \
	F(U32, thread)                                                                             \
	F(U64, ahead)                                                                              \
	F(NAME, function)                                                                          \
	F(NAME, type)                                                                              \
	F(SOURCE, spawned_at)

#define SAVED_LAYOUT(F, L)                                                                         \
	F(NAME, module)                                                                            \
	F(TEXT, key)                                                                               \
	F(TEXT, path)                                                                              \
	F(ROW_STATUS, status)                                                                      \
	F(TEXT, matched)                                                                           \
	F(TEXT, plan)                                                                              \
	F(TEXT, tried)

#define SAVED_SOCKET(F, L)                                                                         \
	F(I32, fd)                                                                                 \
	F(NAME, kind)                                                                              \
	F(TEXT, local)                                                                             \
	F(TEXT, peer)                                                                              \
	F(NAME, state)                                                                             \
	F(U64, unsent)                                                                             \
	F(U64, unread)                                                                             \
	F(FLAG, has_sent)                                                                          \
	F(U64, unacknowledged)                                                                     \
	F(U64, retransmits)                                                                        \
	F(FLAG, has_window)                                                                        \
	F(U64, peer_window)

#define SAVED_CRATE(F, L)                                                                          \
	F(TEXT, kind)                                                                              \
	F(TEXT, version)

#define SAVED_TARGET(F, L)                                                                         \
	F(TEXT, kind)                                                                              \
	F(I32, pid)                                                                                \
	F(TEXT, core)                                                                              \
	F(TEXT, instance)                                                                          \
	F(TEXT, command)                                                                           \
	F(TEXT, exe)                                                                               \
	F(TEXT, build_id)                                                                          \
	F(TEXT, arch)                                                                              \
	F(TEXT, rustc)                                                                             \
	L(CRATES, crates, ncrates)                                                                 \
	F(DEBUG_TIER, tier)                                                                        \
	F(TEXT, tier_reason)                                                                       \
	F(TEXT, layout)                                                                            \
	F(I32, signal)                                                                             \
	F(I32, signal_tid)

#define SAVED_READING(F, L)                                                                        \
	F(READING_HOW, how)                                                                        \
	F(U64, pause_ns)                                                                           \
	F(U64, longest_ns)                                                                         \
	F(U32, stops)                                                                              \
	F(U64, threads)                                                                            \
	F(U64, bytes)

/* Members of a snapshot except the arrays of structs, which have a line for each element. */
#define SAVED_SNAPSHOT(F, L)                                                                       \
	L(TEXTS, unsearched, nunsearched)                                                          \
	L(TEXTS, notes, nnotes)                                                                    \
	F(FLAG, has_sockets)                                                                       \
	F(TEXT, others)                                                                            \
	F(TEXT, unscanned)                                                                         \
	F(FLAG, complete)

/* The structs with one line each: S(line, type, fields, array of the snapshot, its count). */
#define SAVED_LINES(S)                                                                             \
	S(runtime, struct runtime_info, SAVED_RUNTIME, runtimes, nruntimes)                        \
	S(thread, struct thread_info, SAVED_THREAD, threads, nthreads)                             \
	S(job, struct job, SAVED_JOB, jobs, njobs)                                                 \
	S(layout, struct layout_info, SAVED_LAYOUT, layout, nlayout)                               \
	S(socket, struct socket_info, SAVED_SOCKET, sockets, nsockets)

#endif
