#include "dwarf/names/punycode.h"

#include <stdbool.h>
#include <string.h>

/* Decodes one delta of RFC 3492, with '_' for '-' as in v0. */
static bool punycode_delta(const char **p, const char *end, uint32_t bias, uint32_t *delta)
{
	uint32_t weight = 1;

	for (uint32_t k = 36;; k += 36) {
		if (*p == end)
			return false;
		char c = *(*p)++;
		uint32_t digit, part, threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

		if (c >= 'a' && c <= 'z')
			digit = (uint32_t)(c - 'a');
		else if (c >= '0' && c <= '9')
			digit = 26 + (uint32_t)(c - '0');
		else
			return false;
		if (__builtin_mul_overflow(digit, weight, &part) ||
		    __builtin_add_overflow(*delta, part, delta))
			return false;
		if (digit < threshold)
			return true;
		if (__builtin_mul_overflow(weight, 36 - threshold, &weight))
			return false;
	}
}

static uint32_t punycode_adapt(uint32_t delta, uint32_t count, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	for (delta += delta / count; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

size_t punycode_decode(const char *text, size_t len, uint32_t chars[static PUNYCODE_MAX])
{
	const char *end = text + len;
	const char *split = memrchr(text, '_', len);
	const char *p = split ? split + 1 : text;
	uint32_t code = 0x80, bias = 72, at = 0;
	size_t n = 0;

	if (len > PUNYCODE_MAX)
		return 0;
	for (const char *q = text; split && q < split; q++)
		chars[n++] = (unsigned char)*q;
	while (p < end) {
		uint32_t before = at, count = (uint32_t)n + 1;

		if (n == PUNYCODE_MAX || !punycode_delta(&p, end, bias, &at))
			return 0;
		bias = punycode_adapt(at - before, count, before == 0 && code == 0x80);
		if (__builtin_add_overflow(code, at / count, &code) || code > 0x10ffff ||
		    (code >= 0xd800 && code < 0xe000))
			return 0;
		at %= count;
		memmove(chars + at + 1, chars + at, (n - at) * sizeof(*chars));
		chars[at++] = code;
		n++;
	}
	return n;
}
