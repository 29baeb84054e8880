/*
 * What asyncdbg says of a core whose memory is not what it should be: thousands of times in one
 * process, with debug info read once. Built with the sanitizers, a fault in any answer ends it.
 *
 * usage: hostile_memory CORE EXECUTABLE SEEDS [FIRST_SEED]
 *
 * A first, unchanged run notes every place that is read. Each seed then changes some of them as
 * they are read: a bit, a byte, a word that is 0, small, huge, or the address of another such
 * place. Prints the slowest seed; ends with 1 when one took too long or was no answer at all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/base/session.h"
#include "commands/out/out.h"
#include "commands/shell/execute.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"

enum { MAX_CHANGES = 64, TOO_LONG = 60 /* seconds */ };

struct change {
	uint64_t addr, word;
	uint64_t mask; /* bits of the word that are replaced */
};

static struct {
	struct target_ops ops;
	const struct target_ops *core;
	VEC(uint64_t) places; /* words that the unchanged run read */
	struct map known;
	bool recording;
	struct change changes[MAX_CHANGES];
	size_t nchanges;
} hostile;

static uint64_t state;

/* splitmix64: the same seeds give the same changes everywhere. */
static uint64_t next_random(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void note(uint64_t addr, size_t len)
{
	enum { MAX_NOTED = 4096 }; /* of one read: stacks are read in bulk */

	for (uint64_t at = addr & ~UINT64_C(7); at < addr + len && at < addr + MAX_NOTED; at += 8) {
		if (at && map_put(&hostile.known, at, NULL))
			*vec_push(&hostile.places) = at;
	}
}

static void change(uint64_t addr, unsigned char *buf, size_t len)
{
	for (size_t i = 0; i < hostile.nchanges; i++) {
		const struct change *c = &hostile.changes[i];

		for (unsigned byte = 0; byte < 8; byte++) {
			uint64_t at = c->addr + byte - addr;
			unsigned char mask = (unsigned char)(c->mask >> (8 * byte));

			if (c->addr + byte < addr || at >= len)
				continue;
			buf[at] = (unsigned char)((buf[at] & ~mask) |
			                          ((unsigned char)(c->word >> (8 * byte)) & mask));
		}
	}
}

static struct error *read_changed(struct target *t, uint64_t addr, void *buf, size_t len,
                                  size_t *ret)
{
	TRY(hostile.core->read(t, addr, buf, len, ret));
	if (hostile.recording)
		note(addr, *ret);
	else
		change(addr, buf, *ret);
	return NULL;
}

static uint64_t random_place(void)
{
	return hostile.places.data[next_random() % hostile.places.n];
}

static void choose_changes(uint64_t seed)
{
	static const size_t numbers[] = { 1, 1, 2, 4, 16, MAX_CHANGES };

	state = seed;
	hostile.nchanges = numbers[next_random() % (sizeof(numbers) / sizeof(numbers[0]))];
	for (size_t i = 0; i < hostile.nchanges; i++) {
		struct change *c = &hostile.changes[i];

		c->addr = random_place();
		c->mask = ~UINT64_C(0);
		c->word = next_random();
		switch (next_random() % 6) {
		case 0: /* one bit */
			c->mask = UINT64_C(1) << (next_random() % 64);
			break;
		case 1: /* one byte */
			c->mask = UINT64_C(0xff) << (next_random() % 8 * 8);
			break;
		case 2:
			c->word = 0;
			break;
		case 3:
			c->word %= 256;
			break;
		case 4:
			c->word = random_place();
			break;
		default:
			break;
		}
	}
}

/* All that looks at memory; both formats. */
static bool ask(struct session *s, struct out *text, struct out *json)
{
	static const char *const lines[] = {
		"async backtrace all -v",
		"tasks",
		"bt all",
		"async backtrace all --group -v",
		"tasks --group waiting_on --with function .",
		"async graph",
		"async deadlocks",
		"check",
	};
	enum status status = STATUS_OK, unknown = STATUS_OK;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		execute_line(s, text, lines[i], &status);
		execute_line(s, json, lines[i], &status);
	}
	/* There may be no such task: it is asked for what its snapshot takes. */
	execute_line(s, text, "async task 1", &unknown);
	execute_line(s, json, "async task 1", &unknown);
	asyncdbg_drop(s->handle);
	return status < STATUS_USAGE;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool run_seed(struct session *s, struct out *text, struct out *json, uint64_t seed,
                     double *slowest, uint64_t *slowest_seed)
{
	double start = seconds(), took;
	bool answered;

	choose_changes(seed);
	alarm(TOO_LONG); /* its default action ends us: the last seed printed is not the one */
	answered = ask(s, text, json);
	alarm(0);
	took = seconds() - start;
	if (took > *slowest) {
		*slowest = took;
		*slowest_seed = seed;
	}
	if (!answered)
		fprintf(stderr, "seed %" PRIu64 ": no answer\n", seed);
	return answered;
}

static void disguise(struct session *s)
{
	hostile.core = asyncdbg_target(s->handle)->ops;
	hostile.ops = *hostile.core;
	hostile.ops.read = read_changed;
	hostile.ops.read_batch = NULL;
	asyncdbg_target(s->handle)->ops = &hostile.ops;
}

int main(int argc, char **argv)
{
	struct asyncdbg_options options = { 0 };
	struct session session;
	FILE *null = fopen("/dev/null", "w");
	struct out_options out_options = { .answers = null, .messages = null };
	uint64_t seeds, first, slowest_seed = 0;
	double slowest = 0;
	bool ok = true;

	if (argc < 4 || !null) {
		fprintf(stderr, "usage: hostile_memory CORE EXECUTABLE SEEDS [FIRST_SEED]\n");
		return STATUS_USAGE;
	}
	options.file = argv[1];
	options.target.exe = argv[2];
	seeds = strtoull(argv[3], NULL, 10);
	first = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	struct error *err = session_open(&options, &session);
	if (err) {
		execute_report(stderr, err);
		error_free(err);
		return STATUS_NOTHING;
	}
	struct out *text = out_text_new(&out_options), *json = out_json_new(&out_options, false);
	disguise(&session);
	hostile.recording = true;
	ok = ask(&session, text, json) && hostile.places.n > 0;
	hostile.recording = false;
	for (uint64_t seed = first; seed < first + seeds && hostile.places.n; seed++)
		ok &= run_seed(&session, text, json, seed, &slowest, &slowest_seed);
	printf("%" PRIu64 " seeds on %zu words, the slowest took %.2f seconds: %" PRIu64 "\n",
	       seeds, hostile.places.n, slowest, slowest_seed);
	out_free(text);
	out_free(json);
	session_close(&session);
	vec_free(&hostile.places);
	map_free(&hostile.known);
	fclose(null);
	return ok ? STATUS_OK : STATUS_PARTIAL;
}
