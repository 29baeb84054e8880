/* Tests of `info sockets`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "commands/test/answer.h"

static struct wait_detail fd_detail[] = {
	{ .key = "fd", .kind = DETAIL_INT, .number = 7 },
	{ .key = "fd", .kind = DETAIL_INT, .number = 9 },
	{ .key = "fd", .kind = DETAIL_INT, .number = 11 },
};

static struct future *make_io(struct arena *a, struct wait_detail *fd)
{
	struct future *f = make_future(a, FUTURE_OTHER, "Readiness", NULL);

	f->wait = NEW(a, struct wait);
	*f->wait = (struct wait){ .kind = "io", .details = fd, .ndetails = 1 };
	return f;
}

/* Task 4 waits for fd 7, main for fd 9; task 5 has an unpolled future for fd 11. */
static void add_sockets(struct snapshot *s)
{
	struct arena *a = &s->arena;
	struct socket_info *list = NEW_ARRAY(a, struct socket_info, 3);

	list[0] = (struct socket_info){
		.fd = 7, .kind = "tcp", .local = "127.0.0.1:80", .state = "listen"
	};
	list[1] = (struct socket_info){ .fd = 9,
		                        .kind = "tcp",
		                        .local = "[::1]:80",
		                        .peer = "[::1]:81",
		                        .state = "established",
		                        .unsent = 10,
		                        .unread = 20,
		                        .has_sent = true,
		                        .unacknowledged = 4,
		                        .retransmits = 2,
		                        .has_window = true };
	list[2] = (struct socket_info){ .fd = 11, .kind = "unix" };
	s->sockets = list;
	s->nsockets = 3;
	s->has_sockets = true;
	s->tasks[0]->root->children[0] = make_io(a, &fd_detail[0]);
	s->threads[0].root->children[0] = make_io(a, &fd_detail[1]);
	struct future *held = make_io(a, &fd_detail[2]);
	held->branch = BRANCH_HELD;
	s->tasks[1]->root->children = arena_memdup(a, &held, sizeof(held));
	s->tasks[1]->root->nchildren = 1;
	s->descriptors = NEW_ARRAY(a, struct holding, 4);
	s->ndescriptors = 4;
	for (int i = 0; i < 4; i++)
		s->descriptors[i] = (struct holding){ .role = HOLDING_DESCRIPTOR,
			                              .kind = "io",
			                              .type = "tokio::net::TcpStream",
			                              .task = s->tasks[i & 1],
			                              .path = "conn.stream",
			                              .fd = 9,
			                              .shared = true };
	s->descriptors[1].uncertain = true;
	s->descriptors[2].fd = 8; /* no socket */
	s->descriptors[3] = (struct holding){ .role = HOLDING_DESCRIPTOR,
		                              .kind = "io",
		                              .type = "std::net::TcpListener",
		                              .thread = 1,
		                              .fd = 11 };
}

static void who_waits(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	add_sockets(s);
	catch (&c, TEXT);
	assert_null(run_command(&c, &info_sockets_command, s, NULL));
	assert_non_null(
		strstr(c.answers,
	               "FD  KIND  LOCAL         PEER      STATE        SEND-Q  RECV-Q  UNACKED  "
	               "WINDOW  RETRANS  WAITED FOR BY  HELD BY\n"
	               " 7  tcp   127.0.0.1:80  -         listen            -       -        -  "
	               "     -        -  task 4         -\n"
	               " 9  tcp   [::1]:80      [::1]:81  established      10      20        4  "
	               "     0        2  thread #1      task 4 (`conn.stream`), "
	               "maybe task 5 (`conn.stream`)\n"
	               "11  unix  -             -         -                 -       -        -  "
	               "     -        -  nobody         thread #1\n"));
}

static void who_was_not_found(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	add_sockets(s);
	s->complete = false;
	catch (&c, TEXT);
	assert_null(run_command(&c, &info_sockets_command, s, NULL));
	assert_non_null(strstr(c.answers, "-  nobody that was found  thread #1\n"));
}

static void as_json(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	add_sockets(s);
	catch (&c, JSON);
	assert_null(run_command(&c, &info_sockets_command, s, NULL));
	assert_non_null(strstr(c.answers, "\"fd\": 9"));
	assert_non_null(strstr(c.answers, "\"unread\": 20"));
	assert_non_null(strstr(c.answers, "\"unacknowledged\": 4"));
	assert_non_null(strstr(c.answers, "\"retransmits\": 2"));
	assert_non_null(strstr(c.answers, "\"peer_window\": 0"));
	assert_non_null(strstr(c.answers, "\"peer_window\": null"));
	assert_non_null(strstr(c.answers, "\"role\": \"descriptor\""));
	assert_non_null(strstr(c.answers, "\"shared\": true"));
}

static void of_a_core(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	catch (&c, TEXT);
	struct error *err CLEANUP(error_freep) = run_command(&c, &info_sockets_command, s, NULL);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_STATE);
	assert_string_equal(c.answers, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits),
		cmocka_unit_test(who_was_not_found),
		cmocka_unit_test(as_json),
		cmocka_unit_test(of_a_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
