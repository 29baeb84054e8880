/* Tests of the list of processes as text: `ps`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "commands/parts/parts.h"
#include "commands/test/answer.h"
#include "runtimes/executor_detect/async_processes.h"

static const struct detected_executor tokio = { "tokio", "tokio", "1.54.1", true },
				      smol = { "async-executor (smol)", "async_executor", NULL,
	                                       false };

/* What is printed of the list, with the colours and the characters of a pipe. */
static const char *print(struct caught *c, const struct async_processes *list)
{
	const struct answer answer = { .command = "ps" };

	catch (c, TEXT);
	out_begin(c->out, &answer);
	part_processes(c->out, list);
	assert_null(out_end(c->out));
	fflush(c->options.answers);
	return c->answers;
}

static void a_row_for_each_process(void **state)
{
	const struct process processes[] = {
		{ .pid = 7, .name = "server", .command = "/srv/server --port 80" },
		{ .pid = 12345, .name = "worker", .command = "" },
		{ .pid = 12346, .name = "python3", .command = "python3 app.py" },
		{ .pid = 12347, .name = "stripped", .command = "stripped" },
		{ .pid = 12348, .name = "packaged", .command = "packaged" },
	};
	const struct detected_executor both[] = { tokio, smol };
	struct async_process async[] = {
		{ .process = &processes[0],
		  .executors = &tokio,
		  .nexecutors = 1,
		  .debug = DEBUG_FULL,
		  .has_tasks = true,
		  .tasks = 4000 },
		{ .process = &processes[1],
		  .executors = both,
		  .nexecutors = 2,
		  .debug = DEBUG_SEPARATE },
		{ .process = &processes[2],
		  .executors = &smol,
		  .nexecutors = 1,
		  .library = "/usr/lib/native.so" },
		{ .process = &processes[3],
		  .executors = &tokio,
		  .nexecutors = 1,
		  .debug = DEBUG_NONE },
		{ .process = &processes[4],
		  .executors = &tokio,
		  .nexecutors = 1,
		  .debug = DEBUG_LAYOUT,
		  .has_tasks = true },
	};
	const struct async_processes list = { .all = { (struct process *)(uintptr_t)processes, 5 },
		                              .data = async,
		                              .n = 5 };
	CAUGHT(c);

	(void)state;
	/* A process without arguments has its name; what is unknown is a dash, and 0 is known. */
	assert_string_equal(
		print(&c, &list),
		"  PID  EXECUTOR                             TASKS  DEBUG INFO           COMMAND\n"
		"    7  tokio 1.54.1                          4000  full                 "
		"/srv/server --port 80\n"
		"12345  tokio 1.54.1, async-executor (smol)      -  full, separate file  worker\n"
		"12346  async-executor (smol) in native.so       -  -                    python3 "
		"app.py\n"
		"12347  tokio 1.54.1                             -  none                 stripped\n"
		"12348  tokio 1.54.1                             0  layout file          packaged\n"
		"5 async of 5 processes\n");
}

static void what_cannot_be_looked_at(void **state)
{
	struct process processes[13] = { { .pid = 1 } };
	struct async_process async[12] = { { 0 } };
	struct async_processes list = { .all = { processes, 13 },
		                        .data = async,
		                        .n = 12,
		                        .denied = 1,
		                        .denied_problem = "not permitted: use sudo" };
	size_t problems = 0;
	CAUGHT(c);

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		processes[i] = (struct process){ .pid = 100, .name = "x", .command = "" };
		async[i] = (struct async_process){ .process = &processes[i],
			                           .executors = &tokio,
			                           .nexecutors = 1,
			                           .problem = "another debugger has it" };
	}
	const char *text = print(&c, &list);
	for (const char *p = text; (p = strstr(p, "! another debugger has it\n")); p++)
		problems++;
	assert_int_equal(problems, 10);
	assert_non_null(
		strstr(text, "2 more processes cannot be looked at: --json has the reasons\n"));
	assert_non_null(strstr(text, "12 async of 13 processes\n"
	                             "! 1 of them may be async, too: not permitted: use sudo\n"));
	list.denied = 3;
	CAUGHT(several);
	assert_non_null(strstr(print(&several, &list),
	                       "3 of them may be async, too, the first: not permitted: use sudo"));
}

static void none(void **state)
{
	struct process one = { .pid = 1 };
	const struct async_processes list = { .all = { &one, 1 } };
	CAUGHT(c);

	(void)state;
	assert_string_equal(print(&c, &list), "0 async of 1 process\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_for_each_process),
		cmocka_unit_test(what_cannot_be_looked_at),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
