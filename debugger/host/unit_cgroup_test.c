/* Tests of unit_cgroup.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debugger/host/unit_cgroup.h"

static void a_service_is_found_by_its_name(void **state)
{
	(void)state;
	assert_true(unit_cgroup_has_text("web", "0::/system.slice/web.service\n"));
	assert_true(unit_cgroup_has_text("web.service", "0::/system.slice/web.service\n"));
	assert_true(unit_cgroup_has_text("web", "0::/system.slice/web.service/payload\n"));
	assert_true(
		unit_cgroup_has_text("web@1", "0::/system.slice/system-web.slice/web@1.service\n"));
	assert_true(unit_cgroup_has_text("run-7.scope", "0::/system.slice/run-7.scope\n"));
	assert_true(unit_cgroup_has_text("memory", "0::/system.slice/_memory.service\n"));
	assert_false(unit_cgroup_has_text("web", "0::/system.slice/webhook.service\n"));
	assert_false(unit_cgroup_has_text("web", "0::/system.slice/my-web.service\n"));
	assert_false(unit_cgroup_has_text("web", "0::/system.slice/web.scope\n"));
	assert_false(unit_cgroup_has_text("", "0::/system.slice/web.service\n"));
	assert_false(unit_cgroup_has_text("web", "0::/\n"));
	assert_false(unit_cgroup_has_text("web", ""));
}

/* Names that a user has chosen. */
static void a_unit_of_a_user_is_none_of_the_system(void **state)
{
	(void)state;
	assert_false(unit_cgroup_has_text("web", "0::/user.slice/user-1000.slice/user@1000.service/"
	                                         "app.slice/web.service\n"));
	assert_false(unit_cgroup_has_text("web", "0::/system.slice/other.service/web.service\n"));
	assert_false(unit_cgroup_has_text("web", "0::/../web.service\n"));
	assert_false(unit_cgroup_has_text("web",
	                                  "3:cpu:/system.slice/web.service\n"
	                                  "0::/user.slice/user-1000.slice/session-2.scope\n"));
}

/* The hierarchy of systemd counts where another one is mounted, too. */
static void the_hierarchy_of_systemd_counts(void **state)
{
	(void)state;
	assert_true(unit_cgroup_has_text("web",
	                                 "12:pids:/\n1:name=systemd:/system.slice/web.service\n"
	                                 "0::/system.slice/web.service\n"));
	assert_true(
		unit_cgroup_has_text("web", "1:name=systemd:/system.slice/web.service\n0::/\n"));
	assert_false(unit_cgroup_has_text("web", "1:name=systemd:/system.slice/other.service\n"
	                                         "0::/system.slice/web.service\n"));
}

static void no_process_is_of_a_unit_that_does_not_exist(void **state)
{
	(void)state;
	assert_false(unit_cgroup_has_process("asyncdbg-no-such-unit", 1));
	assert_false(unit_cgroup_has_process("web", 0x7fffffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_is_found_by_its_name),
		cmocka_unit_test(a_unit_of_a_user_is_none_of_the_system),
		cmocka_unit_test(the_hierarchy_of_systemd_counts),
		cmocka_unit_test(no_process_is_of_a_unit_that_does_not_exist),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
