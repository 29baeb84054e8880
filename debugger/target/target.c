#include "debugger/target/target.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/memory/page_cache.h"
#include "debugger/target/module.h"

enum { MAX_NOTES = 1000, RELEASED_COPY = 16 << 20 };

struct target *target_new(const struct target_ops *ops, const struct arch *arch, bool cached)
{
	struct target *t = calloc(1, sizeof(*t));

	if (!t)
		out_of_memory();
	t->ops = ops;
	t->arch = arch;
	t->stopped = !ops->stop;
	t->memory.cache = cached ? page_cache_new() : NULL;
	return t;
}

static void target_forget_laid_out(struct target *t)
{
	vec_free(&t->stop.laid_out.list);
	arena_free(&t->stop.laid_out.bytes);
}

static void target_free(struct target *t)
{
	page_cache_free(t->memory.cache);
	free(t->notes);
	vec_free(&t->excluded);
	target_forget_laid_out(t);
	arena_free(&t->stop.arena);
	arena_free(&t->arena);
	free(t);
}

void target_close(struct target *t)
{
	if (!t)
		return;
	target_resume(t);
	modules_close(t);
	t->ops->close(t);
	target_free(t);
}

void target_closep(struct target **t)
{
	target_close(*t);
}

struct error *target_read_batch(void *arg, struct read_range *ranges, size_t n)
{
	struct target *t = arg;

	if (t->ops->read_batch)
		return t->ops->read_batch(t, ranges, n);
	for (size_t i = 0; i < n; i++)
		TRY(t->ops->read(t, ranges[i].addr, ranges[i].buf, ranges[i].len, &ranges[i].got));
	return NULL;
}

void target_forget_threads(struct target *t)
{
	t->threads = NULL;
	t->nthreads = 0;
	arena_free(&t->stop.arena);
	t->generation++;
	t->epoch++;
	t->stop.misses = t->stop.doubts = 0;
	target_forget_laid_out(t);
}

struct error *target_stop(struct target *t)
{
	const struct page_copy how = { .settled = true };
	struct error *err = NULL;
	bool whole;

	if (!t->ops->stop)
		return NULL;
	assert(!t->stopped);
	target_forget_threads(t);
	t->stop.copy = (struct copy){ 0 };
	if (t->memory.cache)
		page_cache_plan(t->memory.cache, false);
	TRY(t->ops->stop(t));
	t->stopped = t->stop.frozen = true;
	if (t->memory.cache) {
		err = page_cache_copy(t->memory.cache, &how, target_read_batch, t, &whole);
		page_cache_take(t->memory.cache);
	}
	if (err)
		target_resume(t);
	return err;
}

struct error *target_stop_threads(struct target *t, const pid_t *tids, size_t n)
{
	assert(target_is_halted(t) && n);
	t->stop.few = tids;
	t->stop.nfew = n;
	struct error *err = target_stop(t);
	t->stop.few = NULL;
	t->stop.nfew = 0;
	return err;
}

void target_invalidate(struct target *t)
{
	assert(!t->stopped || !t->ops->stop);
	if (!t->ops->stop)
		return;
	if (t->memory.cache)
		page_cache_expire(t->memory.cache);
	t->stop.frozen = false;
	t->epoch++;
}

void target_release_copy(struct target *t)
{
	if (!t->ops->stop || t->stopped || !t->memory.cache ||
	    page_cache_held(t->memory.cache) < RELEASED_COPY)
		return;
	page_cache_release(t->memory.cache);
	t->epoch++;
}

void target_resume(struct target *t)
{
	if (!t->ops->resume || !t->stopped)
		return;
	t->ops->resume(t);
	t->stopped = false;
}

/* The end of the constant mapping that covers addr, 0 when there is none. */
static uint64_t constant_end(const struct target *t, uint64_t addr)
{
	size_t low = 0, high = t->memory.nconstant;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->memory.constant[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->memory.nconstant && t->memory.constant[low].start <= addr
	               ? t->memory.constant[low].end
	               : 0;
}

static struct error *read_ops(void *arg, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct target *t = arg;

	return t->ops->read(t, addr, buf, len, ret);
}

/* Reads the page of addr into the cache. *ret false: it cannot be read now. */
static struct error *fill_page(struct target *t, uint64_t addr, bool *ret)
{
	bool running_again = !t->stopped && t->stop.frozen;

	*ret = !running_again || constant_end(t, addr) != 0;
	if (!*ret) {
		page_cache_miss(t->memory.cache, addr);
		t->stop.misses++;
		t->stop.doubts++;
		return NULL;
	}
	struct error *err = page_cache_fill(t->memory.cache, addr, !running_again, read_ops, t);
	if (err && running_again) {
		/* The program may have ended; what the stop has copied stays readable. */
		error_free(err);
		*ret = false;
		return NULL;
	}
	return err;
}

static struct error *read_cached(struct target *t, uint64_t addr, unsigned char *buf, size_t len,
                                 size_t *ret)
{
	size_t done = 0;

	while (done < len) {
		const unsigned char *page;
		enum page_state state = page_cache_get(t->memory.cache, addr + done, &page);
		if (state == PAGE_UNKNOWN) {
			bool known;
			TRY(fill_page(t, addr + done, &known));
			if (!known)
				break;
			state = page_cache_get(t->memory.cache, addr + done, &page);
		}
		if (state != PAGE_PRESENT) {
			t->stop.doubts += page_cache_changed(t->memory.cache, addr + done, 1);
			break;
		}
		size_t offset = (addr + done) % CACHE_PAGE;
		size_t n = CACHE_PAGE - offset < len - done ? CACHE_PAGE - offset : len - done;
		memcpy(buf + done, page + offset, n);
		t->stop.doubts += page_cache_changed(t->memory.cache, addr + done, n);
		done += n;
	}
	*ret = done;
	return NULL;
}

/*
 * Addresses from here on are not canonical on any machine with 57 bits of them or less, which
 * neither a program nor the kernel can use.
 */
#define LAID_OUT UINT64_C(0x7ff0000000000000)

enum { LAID_OUT_GAP = 64, LAID_OUT_MAX = 1 << 16 };

uint64_t target_lay_out(struct target *t, const void *bytes, size_t len)
{
	uint64_t addr = LAID_OUT;

	if (t->stop.laid_out.list.n == LAID_OUT_MAX)
		target_forget_laid_out(t);
	if (t->stop.laid_out.list.n) {
		const struct laid_out *last =
			&t->stop.laid_out.list.data[t->stop.laid_out.list.n - 1];

		addr = (last->addr + last->len + LAID_OUT_GAP) / LAID_OUT_GAP * LAID_OUT_GAP;
	}
	*vec_push(&t->stop.laid_out.list) =
		(struct laid_out){ addr, arena_memdup(&t->stop.laid_out.bytes, bytes, len), len };
	return addr;
}

bool target_is_laid_out(uint64_t addr)
{
	return addr >= LAID_OUT && addr < LAID_OUT << 1;
}

static size_t read_laid_out(const struct target *t, uint64_t addr, void *buf, size_t len)
{
	size_t low = 0, high = t->stop.laid_out.list.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct laid_out *l = &t->stop.laid_out.list.data[mid];

		if (addr >= l->addr + l->len) {
			low = mid + 1;
		} else if (addr < l->addr) {
			high = mid;
		} else {
			size_t offset = (size_t)(addr - l->addr);

			len = len < l->len - offset ? len : l->len - offset;
			memcpy(buf, l->bytes + offset, len);
			return len;
		}
	}
	return 0;
}

struct error *target_read_some(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	if (target_is_laid_out(addr)) {
		*ret = read_laid_out(t, addr, buf, len);
		return NULL;
	}
	/* Cut at the end of the address space. */
	if (len > 0 && addr + (len - 1) < addr)
		len = (size_t)(0 - addr);
	if (t->memory.cache)
		return read_cached(t, addr, buf, len, ret);
	return t->ops->read(t, addr, buf, len, ret);
}

void target_begin_scratch_cache(struct target *t, struct target_scratch_cache *before)
{
	*before = (struct target_scratch_cache){ t->memory.cache, t->stop.misses, t->stop.doubts,
		                                 t->stop.frozen, t->stop.laid_out };
	t->stop.laid_out = (struct laid_out_list){ 0 };
	t->memory.cache = t->memory.cache ? page_cache_new_no_readahead() : NULL;
	t->stop.frozen = false;
}

void target_end_scratch_cache(struct target *t, const struct target_scratch_cache *before)
{
	page_cache_free(t->memory.cache);
	t->memory.cache = before->cache;
	t->stop.misses = before->misses;
	t->stop.doubts = before->doubts;
	t->stop.frozen = before->frozen;
	target_forget_laid_out(t);
	t->stop.laid_out = before->laid_out;
}

struct error *target_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	size_t got = 0;

	TRY(target_read_some(t, addr, buf, len, &got));
	return got == len ? NULL : error_fault(addr + got);
}

/* A number of 1, 2, 4 or 8 bytes. */
static uint64_t uint_of(const unsigned char *bytes, size_t size)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (size) {
	case 1:
		return bytes[0];
	case 2:
		memcpy(&two, bytes, sizeof(two));
		return le16toh(two);
	case 4:
		memcpy(&four, bytes, sizeof(four));
		return le32toh(four);
	default:
		memcpy(&eight, bytes, sizeof(eight));
		return le64toh(eight);
	}
}

struct error *target_read_uint(struct target *t, uint64_t addr, size_t size, uint64_t *ret)
{
	unsigned char bytes[sizeof(uint64_t)];
	const unsigned char *page;

	assert(size == 1 || size == 2 || size == 4 || size == 8);
	/* Fast path: nearly every number lies in a cached page. */
	if (t->memory.cache && addr % CACHE_PAGE <= CACHE_PAGE - size &&
	    page_cache_get(t->memory.cache, addr, &page) == PAGE_PRESENT) {
		t->stop.doubts += page_cache_changed(t->memory.cache, addr, size);
		*ret = uint_of(page + addr % CACHE_PAGE, size);
		return NULL;
	}
	TRY(target_read(t, addr, bytes, size));
	*ret = uint_of(bytes, size);
	return NULL;
}

struct error *target_read_cstr(struct target *t, struct arena *a, uint64_t addr, size_t max,
                               const char **ret)
{
	char piece[256];
	STR(text);

	while (text.len < max) {
		size_t want = max - text.len < sizeof(piece) ? max - text.len : sizeof(piece);
		size_t got = 0;
		TRY(target_read_some(t, addr + text.len, piece, want, &got));
		size_t len = strnlen(piece, got);
		str_append_len(&text, piece, len);
		if (len < got)
			break;
		if (got < want)
			return error_fault(addr + text.len);
	}
	*ret = str_clean(a, str_text(&text), text.len);
	return NULL;
}

bool target_region(struct target *t, struct arena *a, uint64_t addr, struct region *ret)
{
	return t->ops->region && t->ops->region(t, a, addr, ret);
}

struct error *target_each_writable(struct target *t, memory_fn *visit, void *arg)
{
	return t->ops->each_writable ? t->ops->each_writable(t, visit, arg) : NULL;
}

struct error *target_read_through(struct target *t, uint64_t addr, void *buf, size_t len,
                                  size_t *ret)
{
	if (len > 0 && addr + (len - 1) < addr)
		len = (size_t)(0 - addr);
	return t->ops->read(t, addr, buf, len, ret);
}

struct error *target_update_modules(struct target *t, bool *changed)
{
	*changed = false;
	if (!t->ops->update_modules)
		return NULL;
	struct target_scratch_cache before;

	target_begin_scratch_cache(t, &before);
	struct error *err = t->ops->update_modules(t, changed);
	target_end_scratch_cache(t, &before);
	return err;
}

const struct thread *target_thread_by_tid(const struct target *t, pid_t tid)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		if (t->threads[i].tid == tid)
			return &t->threads[i];
	}
	return NULL;
}

static int compare_tids(const void *a, const void *b)
{
	pid_t x = ((const struct thread *)a)->tid, y = ((const struct thread *)b)->tid;

	return (x > y) - (x < y);
}

void target_set_threads(struct target *t, const struct thread *threads, size_t n)
{
	t->threads = arena_memdup(&t->stop.arena, threads, n * sizeof(*threads));
	t->nthreads = n;
	if (n > 0)
		qsort(t->threads, n, sizeof(*threads), compare_tids);
	for (size_t i = 0; i < n; i++) {
		if (t->threads[i].tid == t->pid) {
			struct thread leader = t->threads[i];
			memmove(t->threads + 1, t->threads, i * sizeof(leader));
			t->threads[0] = leader;
			break;
		}
	}
	for (size_t i = 0; i < n; i++)
		t->threads[i].number = (unsigned)i + 1;
}

void target_note(struct target *t, const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	int len = vasprintf(&line, format, args);
	va_end(args);
	if (len < 0)
		out_of_memory();
	bool known = t->nnotes >= MAX_NOTES;
	for (size_t i = 0; i < t->nnotes && !known; i++)
		known = strcmp(t->notes[i], line) == 0;
	if (!known) {
		t->notes = reallocarray(t->notes, t->nnotes + 1, sizeof(*t->notes));
		if (!t->notes)
			out_of_memory();
		t->notes[t->nnotes++] = arena_strdup(&t->arena, line);
	}
	free(line);
}
