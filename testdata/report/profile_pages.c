/*
 * Writes pages of profiles that no program makes at will.
 *
 * usage: profile_pages server FILE     a few types of tasks with chains of awaits, all states
 *        profile_pages hostile FILE    every string is an attack
 *        profile_pages many FILE       PLACES places, in chains of DEPTH
 *        profile_pages empty FILE      no tasks
 *        profile_pages rough FILE      no time off the processor, events lost
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/profile/profile_view.h"
#include "debugger/base/str.h"
#include "runtimes/model/model.h"

enum { PLACES = 20000, DEPTH = 12, MS = 1000000 };

/* Each would leave a mark if a browser took it for more than text. */
static const char evil[] =
	"</script><script>document.documentElement.dataset.hacked='script'</script>"
	"<img src=x onerror=\"document.documentElement.dataset.hacked='img'\">"
	"<style>*{display:none}</style>\"'><!--]]>&lt;\xe2\x80\xa8\xe2\x80\xae{{7*7}}";

static struct arena arena;
static struct time_profile *profile;

/* A chain: "app::run@src/main.rs:12 app::read@src/io.rs:7", and what the last one awaits. */
static const struct trace_place *make_place(const char *chain, const char *leaf)
{
	struct trace_place *place = NEW(&arena, struct trace_place);
	struct trace_frame *frames = NEW_ARRAY(&arena, struct trace_frame, DEPTH);
	char *save, *words = arena_strdup(&arena, chain);

	for (char *word = strtok_r(words, " ", &save); word && place->nframes < DEPTH;
	     word = strtok_r(NULL, " ", &save)) {
		char *file = strchr(word, '@'), *line = strrchr(word, ':');

		*file = *line = '\0';
		frames[place->nframes++] =
			(struct trace_frame){ word, file + 1, (unsigned)atoi(line + 1), false,
			                      NULL };
	}
	place->frames = frames;
	place->leaf = leaf;
	return place;
}

static void add(const char *type, uint64_t task, enum task_doing doing, uint64_t ms,
                uint64_t off_ms, const struct trace_place *place)
{
	time_profile_add(&(struct task_span){ .task = task,
	                                      .slot = (uint32_t)task,
	                                      .type = type,
	                                      .doing = doing,
	                                      .to = { ms * MS },
	                                      .exact = true,
	                                      .open = true,
	                                      .off_ns = off_ms * MS,
	                                      .off_known = true,
	                                      .place = place,
	                                      .resumed = place },
	                 profile);
}

static void make_server(void)
{
	static const char http[] = "shop::http::serve::{async_fn_env#0}";
	static const char jobs[] = "shop::jobs::run::{async_fn_env#0}<shop::jobs::Nightly>";
	const struct trace_place *read = make_place("shop::http::serve@shop/src/http.rs:41 "
	                                            "shop::http::request@shop/src/http.rs:88",
	                                            "tokio::io::util::read::Read<TcpStream>");
	const struct trace_place *query = make_place("shop::http::serve@shop/src/http.rs:44 "
	                                             "shop::orders::find@shop/src/orders.rs:17 "
	                                             "shop::db::query@shop/src/db.rs:120",
	                                             "tokio::sync::mutex::Mutex<shop::db::Pool>");
	const struct trace_place *sleep =
		make_place("shop::jobs::run@shop/src/jobs.rs:9", "tokio::time::sleep::Sleep");

	add(http, 1, DOING_WAITING, 6000, 0, read);
	add(http, 1, DOING_WAITING, 2500, 0, query);
	add(http, 1, DOING_RUNNABLE, 700, 0, query);
	add(http, 1, DOING_POLLING, 900, 350, query);
	add(http, 2, DOING_POLLING, 300, 10, NULL);
	add(jobs, 3, DOING_POLLING, 1200, 1100, sleep);
	add(jobs, 3, DOING_WAITING, 1800, 0, sleep);
}

static void make_hostile(void)
{
	static struct trace_frame frame = { evil, evil, 7, false, NULL };
	static const struct trace_place place = { .frames = &frame, .nframes = 1, .leaf = evil };

	add(evil, 1, DOING_WAITING, 900, 0, &place);
	add(evil, 1, DOING_POLLING, 100, 50, &place);
}

static void make_many(void)
{
	for (unsigned i = 0; i < PLACES; i++) {
		STR(chain);

		for (unsigned depth = 0; depth < DEPTH; depth++)
			str_printf(&chain, "app::f%u@src/f%u.rs:%u ", i % (1 << depth), depth,
			           i % 7 + 1);
		add(i % 2 ? "app::a::{async_fn_env#0}" : "app::b::{async_fn_env#0}", i % 2,
		    (enum task_doing)(DOING_RUNNABLE + i % 3), 1 + i % 17, 0,
		    make_place(str_text(&chain), "Sleep"));
	}
}

static void make(const char *kind, struct profile_view *v)
{
	if (strcmp(kind, "server") == 0 || strcmp(kind, "rough") == 0)
		make_server();
	else if (strcmp(kind, "hostile") == 0)
		make_hostile();
	else if (strcmp(kind, "many") == 0)
		make_many();
	if (strcmp(kind, "rough") != 0)
		return;
	add("shop::late", 9, DOING_UNKNOWN, 400, 0, NULL);
	v->no_off = "this kernel does not let it be seen";
	v->totals.lost = 7;
	v->totals.unmatched = 3;
	v->untracked = 1;
}

int main(int argc, char **argv)
{
	static struct snapshot snapshot = { .target = { .command = "shop", .pid = 4711 } };
	static const struct out_options options = { 0 };
	const struct answer answer = { .command = "profile", .snapshot = &snapshot };
	struct profile_tree tree;
	struct profile_view v = {
		.tree = &tree, .answer = &answer, .options = &options, .duration_ns = 10000ull * MS
	};
	FILE *f = argc == 3 ? fopen(argv[2], "w") : NULL;

	if (!f)
		return 64;
	profile = time_profile_new();
	make(argv[1], &v);
	if (strcmp(argv[1], "hostile") == 0)
		snapshot.target.command = evil;
	time_profile_tree(profile, &arena, NULL, NULL, &tree);
	profile_html_write(f, &v);
	time_profile_free(profile);
	arena_free(&arena);
	return fclose(f) == 0 ? 0 : 1;
}
