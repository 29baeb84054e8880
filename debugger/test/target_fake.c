#include "debugger/test/target_fake.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"

struct area {
	uint64_t addr;
	unsigned char *data; /* in the target's arena */
	size_t len;
};

struct fake {
	VEC(struct area) areas;
	VEC(struct thread) threads;
};

static struct area *area_at(struct target *t, uint64_t addr)
{
	struct fake *f = t->private;

	for (size_t i = 0; i < f->areas.n; i++) {
		struct area *area = &f->areas.data[i];
		if (addr - area->addr < area->len)
			return area;
	}
	return NULL;
}

static struct error *fake_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	size_t done = 0;
	const struct area *area;

	while (done < len && (area = area_at(t, addr + done))) {
		size_t offset = addr + done - area->addr;
		size_t n = area->len - offset < len - done ? area->len - offset : len - done;
		memcpy((char *)buf + done, area->data + offset, n);
		done += n;
	}
	*ret = done;
	return NULL;
}

/* All areas are writable. */
static struct error *fake_each_writable(struct target *t, memory_fn *visit, void *arg)
{
	const struct fake *f = t->private;

	for (size_t i = 0; i < f->areas.n; i++) {
		const struct area *area = &f->areas.data[i];

		if (!visit(area->addr, area->addr + area->len, arg))
			break;
	}
	return NULL;
}

static void fake_close(struct target *t)
{
	struct fake *f = t->private;

	vec_free(&f->areas);
	vec_free(&f->threads);
	free(f);
}

static const struct target_ops fake_ops = {
	.kind = "fake",
	.read = fake_read,
	.close = fake_close,
	.each_writable = fake_each_writable,
};

struct target *target_fake_open(void)
{
	struct target *t = target_new(&fake_ops, arch_for_machine(EM_X86_64), false);

	t->private = calloc(1, sizeof(struct fake));
	if (!t->private)
		out_of_memory();
	t->root = "";
	return t;
}

void target_fake_map(struct target *t, uint64_t addr, const void *data, size_t len)
{
	struct fake *f = t->private;
	struct area *area = vec_push(&f->areas);

	*area = (struct area){ addr, arena_memdup(&t->arena, data, len), len };
}

void target_fake_poke(struct target *t, uint64_t addr, const void *data, size_t len)
{
	const struct area *area = area_at(t, addr);

	assert(area && len <= area->len - (addr - area->addr));
	memcpy(area->data + (addr - area->addr), data, len);
}

struct thread *target_fake_thread(struct target *t, pid_t tid)
{
	struct fake *f = t->private;
	struct thread *th = vec_push(&f->threads);

	*th = (struct thread){ .tid = tid,
		               .number = (unsigned)f->threads.n,
		               .has_regs = true,
		               .regs = arch_regs_new(t->arch, &t->arena) };
	t->threads = f->threads.data;
	t->nthreads = f->threads.n;
	return th;
}
