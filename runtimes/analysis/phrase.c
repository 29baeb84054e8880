#include "runtimes/analysis/phrase.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The control characters that mark variable parts in a pattern. Phrases contain none. */
enum mark {
	MARK_NUMBER = 1,
	MARK_LIST,  /* "(tasks 17, 18)" */
	MARK_QUEUE, /* "first in its queue", "2 tasks ahead in its queue (tasks 17, 18)" */
};

/* The maximum length of a variable part or name. Text from a file may lack the end. */
enum { LOOK_AHEAD = 4096 };

static const char first_in_queue[] = "first in its queue";
static const char ahead_in_queue[] = " ahead in its queue";

/* Counted nouns. Patterns contain the plural. */
static const char *const nouns[] = { "byte",   "permit", "reader", "receiver", "second",
	                             "sender", "task",   "tick",   "waiter",   "worker" };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Matches " sender" or " senders" at a word's end. Returns the length, and the noun in *noun. */
static size_t noun_length(const char *text, const char **noun)
{
	for (size_t i = 0; *text == ' ' && i < sizeof(nouns) / sizeof(*nouns); i++) {
		size_t len = strlen(nouns[i]);

		if (strncmp(text + 1, nouns[i], len) != 0)
			continue;
		len += 1 + (text[1 + len] == 's');
		if (is_word(text[len]))
			continue;
		*noun = nouns[i];
		return len;
	}
	return 0;
}

/* The length of text up to and including that character; 0: not within LOOK_AHEAD. */
static size_t length_to(const char *text, char last)
{
	const char *end = memchr(text, last, strnlen(text, LOOK_AHEAD));

	return end ? (size_t)(end - text) + 1 : 0;
}

static bool has_digit(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (isdigit((unsigned char)text[i]))
			return true;
	}
	return false;
}

static void add_slot(struct phrase *p, enum mark mark, struct phrase_slot slot)
{
	const char text = (char)mark;

	str_append_len(&p->pattern, p->rest, (size_t)(slot.text - p->rest));
	str_append_len(&p->pattern, &text, 1);
	if (p->nslots < PHRASE_SLOTS)
		p->slots[p->nslots++] = slot;
}

static uint64_t read_digits(const char *text, size_t len, unsigned base)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = (char)tolower((unsigned char)text[i]);
		unsigned digit = c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');

		if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
			return UINT64_MAX;
	}
	return n;
}

/* Reads up to nine digits as billionths. */
static uint32_t read_fraction(const char *text, size_t len)
{
	uint32_t n = 0;

	for (size_t i = 0; i < 9; i++)
		n = n * 10 + (i < len ? (uint32_t)(text[i] - '0') : 0);
	return n;
}

/* Reads ":443" after an address into the fraction. */
static void read_port(struct phrase_slot *slot)
{
	const char *text = slot->text + slot->len;
	size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;

	if (!digits)
		return;
	slot->fraction = (uint32_t)read_digits(text + 1, digits, 10);
	slot->len += 1 + digits;
}

/*
 * Reads "127.0.0.1:443" or "[::1]:443"; the number of an IPv6 address is its lower half. len 0:
 * there is no address.
 */
static struct phrase_slot read_address(const char *text)
{
	struct phrase_slot slot = { .text = text };
	bool six = *text == '[';
	const char *of = six ? "0123456789abcdef:." : "0123456789.";
	unsigned char bytes[sizeof(struct in6_addr)];
	char copy[INET6_ADDRSTRLEN];
	size_t len = 0;

	while (len < sizeof(copy) && text[six + len] && strchr(of, text[six + len]))
		len++;
	if (len < 2 || len >= sizeof(copy) || (six && text[1 + len] != ']'))
		return slot;
	memcpy(copy, text + six, len);
	copy[len] = '\0';
	if (inet_pton(six ? AF_INET6 : AF_INET, copy, bytes) != 1)
		return slot;
	for (size_t i = six ? 8 : 0; i < (six ? 16 : 4); i++)
		slot.whole = slot.whole << 8 | bytes[i];
	slot.host = slot.len = len + (six ? 2 : 0);
	read_port(&slot);
	return slot;
}

/* Reads "12", "3.2", "0x7f00" or an address. */
static struct phrase_slot read_number(const char *start, const char *text)
{
	struct phrase_slot slot = read_address(text);

	if (slot.len)
		return slot;
	if (starts_with(text, "0x") && isxdigit((unsigned char)text[2])) {
		slot.len = 2 + strspn(text + 2, "0123456789abcdefABCDEF");
		slot.whole = read_digits(text + 2, slot.len - 2, 16);
		return slot;
	}
	slot.len = strspn(text, "0123456789");
	slot.whole = read_digits(text, slot.len, 10);

	const char *point = text + slot.len;
	bool first = text == start || text[-1] != '.';
	size_t digits = first && *point == '.' ? strspn(point + 1, "0123456789") : 0;
	if (!digits || point[1 + digits] == '.' || is_word(point[1 + digits]))
		return slot;
	slot.fraction = read_fraction(point + 1, digits);
	slot.len += 1 + digits;
	return slot;
}

/*
 * Takes a list in parentheses that has digits, of *used characters. Returns false when there is
 * none at text.
 */
static bool take_list(struct phrase *p, const char *text, size_t *used)
{
	size_t len = *text == '(' ? length_to(text, ')') : 0;

	if (!len || memchr(text, '{', len) || memchr(text, '<', len) || !has_digit(text, len))
		return false;
	add_slot(p, MARK_LIST, (struct phrase_slot){ .text = text, .len = len });
	*used = len;
	return true;
}

/* The length of the text after a number that makes it a position in a queue; 0: it is none. */
static size_t queue_length(const char *text)
{
	const char *noun;
	size_t len = noun_length(text, &noun);

	if (!len || !starts_with(text + len, ahead_in_queue))
		return 0;
	len += strlen(ahead_in_queue);
	return len + (starts_with(text + len, " (") ? length_to(text + len, ')') : 0);
}

static bool take_number(struct phrase *p, const char *start, const char *text, size_t *used)
{
	struct phrase_slot slot = read_number(start, text);
	const char *noun = NULL;
	size_t len;

	if (!slot.len || is_word(text[slot.len]))
		return false;
	*used = slot.len;
	len = queue_length(text + slot.len);
	if (len) {
		add_slot(p, MARK_QUEUE, slot);
		*used += len;
		return true;
	}
	add_slot(p, MARK_NUMBER, slot);
	len = noun_length(text + slot.len, &noun);
	if (len) {
		str_append(&p->pattern, " ");
		str_append(&p->pattern, noun);
		str_append(&p->pattern, "s");
		*used += len;
	}
	return true;
}

/* Takes a variable part at the beginning of a word. */
static bool take(struct phrase *p, const char *start, const char *text, size_t *used)
{
	if (*text == '(')
		return take_list(p, text, used);
	if (*text == 'f' && starts_with(text, first_in_queue)) {
		add_slot(p, MARK_QUEUE, (struct phrase_slot){ .text = text, .len = 0 });
		*used = strlen(first_in_queue);
		return true;
	}
	return (isdigit((unsigned char)*text) || *text == '[') && take_number(p, start, text, used);
}

/*
 * The length of the next fixed part: a word, a name such as "{closure#0}" or "<[u8; 4]>", or one
 * character.
 */
static size_t plain_length(const char *text)
{
	size_t len = *text == '{' ? length_to(text, '}') : *text == '<' ? length_to(text, '>') : 0;

	if (len)
		return len;
	while (is_word(text[len]))
		len++;
	return len ? len : 1;
}

void phrase_parse(struct phrase *ret, const char *text)
{
	const char *start = text;
	size_t used;

	ret->nslots = 0;
	ret->rest = text;
	str_truncate(&ret->pattern, 0);
	while (text && *text) {
		if (take(ret, start, text, &used))
			ret->rest = text + used;
		else
			used = plain_length(text);
		text += used;
	}
	if (text)
		str_append_len(&ret->pattern, ret->rest, (size_t)(text - ret->rest));
}

void phrase_free(struct phrase *p)
{
	str_free(&p->pattern);
	p->nslots = 0;
}

static int compare_slots(const struct phrase_slot *a, const struct phrase_slot *b)
{
	if (a->whole != b->whole)
		return a->whole < b->whole ? -1 : 1;
	return a->fraction < b->fraction ? -1 : a->fraction > b->fraction;
}

void phrase_range_init(struct phrase_range *r, struct arena *a, const struct phrase *p,
                       const char *text)
{
	*r = (struct phrase_range){ .first = text };
	if (!text)
		return;
	r->nslots = p->nslots;
	r->pattern = arena_strdup(a, str_text(&p->pattern));
	r->min = arena_memdup(a, p->slots, p->nslots * sizeof(*p->slots));
	r->max = arena_memdup(a, p->slots, p->nslots * sizeof(*p->slots));
}

void phrase_range_add(struct phrase_range *r, const struct phrase *p, const char *text)
{
	if (text == r->first || !text || !r->first)
		return;
	r->varies = r->varies || strcmp(text, r->first) != 0;
	for (size_t i = 0; i < r->nslots && i < p->nslots; i++) {
		if (compare_slots(&p->slots[i], &r->min[i]) < 0)
			r->min[i] = p->slots[i];
		if (compare_slots(&p->slots[i], &r->max[i]) > 0)
			r->max[i] = p->slots[i];
	}
}

/* Appends two addresses: as a range of ports when the host is the same, else both addresses. */
static void append_addresses(struct str *s, const struct phrase_slot *min,
                             const struct phrase_slot *max)
{
	if (min->len == min->host || min->host != max->host ||
	    memcmp(min->text, max->text, min->host) != 0) {
		str_append_len(s, min->text, min->len);
		str_append(s, " and others");
		return;
	}
	str_append_len(s, min->text, min->host);
	str_append(s, " (ports ");
	str_append_uint(s, min->fraction);
	str_append(s, "-");
	str_append_uint(s, max->fraction);
	str_append(s, ")");
}

static void append_number(struct str *s, const struct phrase_slot *min,
                          const struct phrase_slot *max)
{
	if (!min) {
		str_append(s, "N");
		return;
	}
	if (min->host && compare_slots(min, max) != 0) {
		append_addresses(s, min, max);
		return;
	}
	str_append_len(s, min->text, min->len);
	if (compare_slots(min, max) == 0)
		return;
	str_append(s, "-");
	str_append_len(s, max->text, max->len);
}

static void append_queue(struct str *s, const struct phrase_slot *min,
                         const struct phrase_slot *max)
{
	if (min && max->whole == 0) {
		str_append(s, first_in_queue);
		return;
	}
	if (min)
		str_append_uint(s, min->whole);
	else
		str_append(s, "N");
	if (min && compare_slots(min, max) != 0) {
		str_append(s, "-");
		str_append_uint(s, max->whole);
	}
	str_append(s, ahead_in_queue);
}

static void append_list(struct str *s, const struct phrase_slot *min, const struct phrase_slot *max)
{
	(void)min;
	(void)max;
	str_append(s, "(...)");
}

static bool is_one(const struct phrase_slot *min, const struct phrase_slot *max)
{
	return compare_slots(min, max) == 0 && min->len == 1 && *min->text == '1';
}

/*
 * Appends the singular of the noun that follows in the pattern. Returns the length of its plural.
 */
static size_t append_singular(struct str *s, const char *pattern)
{
	const char *noun;
	size_t len = noun_length(pattern, &noun);

	if (len)
		str_printf(s, " %s", noun);
	return len;
}

const char *phrase_range_text(struct arena *a, const struct phrase_range *r)
{
	static void (*const append[])(struct str *, const struct phrase_slot *,
	                              const struct phrase_slot *) = {
		[MARK_NUMBER] = append_number,
		[MARK_LIST] = append_list,
		[MARK_QUEUE] = append_queue,
	};
	STR(s);
	size_t slot = 0;

	if (!r->varies)
		return r->first;
	for (const char *c = r->pattern; *c; c++) {
		bool kept = slot < r->nslots;

		if (*c < MARK_NUMBER || *c > MARK_QUEUE) {
			str_append_len(&s, c, 1);
			continue;
		}
		append[(int)*c](&s, kept ? &r->min[slot] : NULL, kept ? &r->max[slot] : NULL);
		if (kept && is_one(&r->min[slot], &r->max[slot]))
			c += append_singular(&s, c + 1);
		slot++;
	}
	return arena_strdup(a, str_text(&s));
}
