/* The contract of probe.h in a build without a compiler for BPF programs, without libbpf or without
 * capstone. */
#include "debugger/probe/probe.h"

#include "debugger/probe/code_exchange.h"
#include "debugger/probe/code_site.h"
#include "debugger/probe/code_store.h"

static const char reason[] = "this build was made without clang, libbpf or capstone";

bool probes_are_built(const char **why)
{
	*why = reason;
	return false;
}

struct error *probes_open(const struct probes_options *options, struct probes **ret)
{
	(void)options, (void)ret;
	return error_new(ERR_UNSUPPORTED,
	                 "probes are not available: %s: build asyncdbg with these installed",
	                 reason);
}

void probes_detach(struct probes *p)
{
	(void)p;
}

void probes_close(struct probes *p)
{
	(void)p;
}

void probes_closep(struct probes **p)
{
	(void)p;
}

const char *probes_executable(const struct probes *p)
{
	(void)p;
	return NULL;
}

bool probes_are_over(const struct probes *p)
{
	(void)p;
	return false;
}

const char *probes_backend(const struct probes *p)
{
	(void)p;
	return "none";
}

const char *probes_off_times_missing(const struct probes *p)
{
	(void)p;
	return reason;
}

void probes_add_thread(struct probes *p, pid_t tid)
{
	(void)p, (void)tid;
}

bool probes_off_time(const struct probes *p, pid_t tid, uint64_t *ns)
{
	(void)p, (void)tid, (void)ns;
	return false;
}

static struct error *none(void)
{
	return error_new(ERR_UNSUPPORTED, "probes are not available: %s", reason);
}

struct error *probes_describe(struct probes *p, uint32_t index, const struct probe_point *point)
{
	(void)p, (void)index, (void)point;
	return none();
}

struct error *probes_describe_place(struct probes *p, uint32_t index,
                                    const struct probe_place *place)
{
	(void)p, (void)index, (void)place;
	return none();
}

struct error *probes_know_return(struct probes *p, uint64_t address)
{
	(void)p, (void)address;
	return none();
}

bool probes_know_frame(struct probes *p, uint64_t address, const struct probe_frame *frame)
{
	(void)p, (void)address, (void)frame;
	return false;
}

struct error *probes_attach(struct probes *p, const char *file, const struct probe_site *sites,
                            size_t n)
{
	(void)p, (void)file, (void)sites, (void)n;
	return none();
}

struct error *probes_read(struct probes *p, probe_record_fn *visit, void *arg, bool *more)
{
	(void)p, (void)visit, (void)arg;
	*more = false;
	return none();
}

uint64_t probes_count(const struct probes *p, enum probe_count which)
{
	(void)p, (void)which;
	return 0;
}

bool code_is_emulated(const uint8_t *bytes, size_t len)
{
	(void)bytes, (void)len;
	return false;
}

bool code_looped_site(const struct code_bytes *function, int argument, struct code_site *ret)
{
	(void)function, (void)argument, (void)ret;
	return false;
}

bool code_entry_site(const struct code_bytes *function, int argument, struct code_site *ret)
{
	(void)function, (void)argument, (void)ret;
	return false;
}

bool code_return_site(const struct code_bytes *function, uint64_t address, bool over_calls,
                      struct code_site *ret)
{
	(void)function, (void)address, (void)over_calls, (void)ret;
	return false;
}

bool code_each_indirect_call(const struct code_bytes *function, code_call_fn *visit, void *arg)
{
	(void)function, (void)visit, (void)arg;
	return false;
}

bool code_leads_to_return(const struct code_bytes *function, uint64_t address, int32_t *stack_delta,
                          bool *keeps_result)
{
	(void)function, (void)address, (void)stack_delta, (void)keeps_result;
	return false;
}

bool code_tail_jump(const struct code_bytes *function, unsigned argument, struct code_tail *ret)
{
	(void)function, (void)argument, (void)ret;
	return false;
}

bool code_is_tail_jump_thunk(const struct code_bytes *function)
{
	(void)function;
	return false;
}

bool code_each_exchange(const struct code_bytes *function, code_exchange_fn *visit, void *arg)
{
	(void)function, (void)visit, (void)arg;
	return false;
}

bool code_each_direct_call(const struct code_bytes *function, code_direct_fn *visit, void *arg)
{
	(void)function, (void)visit, (void)arg;
	return false;
}

void probes_reopen(struct probes *p)
{
	(void)p;
}

bool code_each_store(const struct code_bytes *function, code_store_fn *visit, void *arg)
{
	(void)function, (void)visit, (void)arg;
	return false;
}

bool code_never_returns(const struct code_bytes *function)
{
	(void)function;
	return false;
}
