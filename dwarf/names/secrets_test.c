/* Tests of secrets.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/names/secrets.h"

static int setup(void **state)
{
	static struct secrets s;

	s = (struct secrets){ 0 };
	secrets_add_known(&s);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	secrets_free(*state);
	return 0;
}

static void test_names(void **state)
{
	static const char *const secret[] = {
		"key",
		"KEY",
		"keys",
		"api_key",
		"apiKey",
		"APIKey",
		"ApiKeys",
		"API_KEYS",
		"private_key",
		"passwords",
		"x-api-key",
		"aws.secret",
		"token2",
		"authToken",
		"Authorization",
		"key_",
		"__key",
		"2key",
		"proxy-authorization",
		"SECRET",
		"user_token_hash",
	};
	static const char *const open[] = {
		"monkey",      "keyboard",     "keyed",     "turkeys",
		"tokenizer",   "passwordless", "secretary", "k_ey",
		"authorize",   "hockey",       "",          "_",
		"ke",          "keyss",        "sskey",     "k\xc3\xa9y",
		"key\xc3\xa9",
	};

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++) {
		if (!secrets_has(*state, secret[i], strlen(secret[i])))
			fail_msg("%s is not secret", secret[i]);
	}
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		if (secrets_has(*state, open[i], strlen(open[i])))
			fail_msg("%s is secret", open[i]);
	}
}

static void test_texts_of_keys(void **state)
{
	static const char *const secret[] = {
		"\"authorization\"",
		"\"X-Api-Key\"",
		"b\"token\"",
		"Authorization",
		"HeaderName { inner: Standard(Authorization) }",
		"HeaderName { inner: Custom(ByteStr { bytes: b\"x-api-key\" }) }",
		"(\"app\", \"password\")",
	};
	static const char *const open[] = {
		"\"content-type\"",
		"\"the key of it\"",
		"Key { id: 5 }",
		"PublicKey(5)",
		"5",
		"Pair { key: 5 }",
		"\"to\\\"ken\"",
		"\"",
		"",
		"\"\\",
	};

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++) {
		if (!secrets_has_text(*state, secret[i], strlen(secret[i])))
			fail_msg("%s is not secret", secret[i]);
	}
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		if (secrets_has_text(*state, open[i], strlen(open[i])))
			fail_msg("%s is secret", open[i]);
	}
}

static void test_the_list(void **state)
{
	struct secrets *s = *state;

	assert_true(secrets_add(s, "cookie"));
	assert_true(secrets_has(s, "session_cookies", 15));
	assert_true(secrets_remove(s, "key"));
	assert_false(secrets_has(s, "api_key", 7));
	assert_true(secrets_has(s, "token", 5));
	assert_false(secrets_add(s, ""));
	assert_false(secrets_add(s, "two words"));
	assert_false(secrets_add(s, "Capital"));
	assert_false(secrets_add(s, "abcdefghijklmnopqrstuvwxyzabcdefg"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_texts_of_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_list, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
