#include "runtimes/analysis/group_range.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/marked.h"

/* ---- reading ---- */

/*
 * Reads "127.0.0.1:443" or "[::1]:443"; the number of an IPv6 address is its lower half. A text
 * that is no address remains as it is.
 */
static void read_address(struct group_slot *slot)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	char copy[INET6_ADDRSTRLEN + sizeof("[]:65535")];
	bool six = *slot->text == '[';

	if (slot->len >= sizeof(copy))
		return;
	memcpy(copy, slot->text, slot->len);
	copy[slot->len] = '\0';
	char *port = six ? strstr(copy, "]:") : strchr(copy, ':');
	size_t host = port ? (size_t)(port - copy) + six : slot->len;

	copy[host - six] = '\0';
	if (inet_pton(six ? AF_INET6 : AF_INET, copy + six, bytes) != 1)
		return;
	for (size_t i = six ? 8 : 0; i < (six ? 16 : 4); i++)
		slot->whole = slot->whole << 8 | bytes[i];
	slot->host = host;
	if (port)
		slot->fraction = (uint32_t)strtoul(port + six + 1, NULL, 10);
}

/* Reads "12", "3.2" or "0x7f00", and of the place in a queue the number that it begins with. */
static void read_number(struct group_slot *slot)
{
	bool hex = str_begins(slot->text, "0x");
	char *point;

	slot->whole = strtoull(slot->text, &point, hex ? 16 : 10);
	if (point == slot->text || *point != '.')
		return;
	for (uint32_t i = 0, unit = 100000000; unit && point[1 + i] >= '0' && point[1 + i] <= '9';
	     i++) {
		slot->fraction += unit * (uint32_t)(point[1 + i] - '0');
		unit /= 10;
	}
}

static void add_slot(struct group_text *t, const char *text, const struct marked_part *part)
{
	struct group_slot slot = { .text = text + part->start, .len = part->len };

	if (part->kind == MARKED_IS_PLURAL || t->nslots == GROUP_SLOTS)
		return;
	if (part->kind == MARKED_IS_ADDRESS)
		read_address(&slot);
	else if (part->kind != MARKED_IS_LIST)
		read_number(&slot);
	t->slots[t->nslots++] = slot;
}

void group_text_read(struct group_text *ret, const char *text, const char *parts)
{
	size_t len = text ? strlen(text) : 0, from = 0;
	struct marked_part part = { 0 };

	ret->nslots = 0;
	str_truncate(&ret->pattern, 0);
	if (!text)
		return;
	while (marked_next(&parts, len, &part)) {
		const char mark = (char)part.kind;

		str_append_len(&ret->pattern, text + from, part.start - from);
		str_append_len(&ret->pattern, &mark, 1);
		add_slot(ret, text, &part);
		from = part.start + part.len;
	}
	str_append_len(&ret->pattern, text + from, len - from);
}

void group_text_free(struct group_text *t)
{
	str_free(&t->pattern);
	t->nslots = 0;
}

/* ---- ranges ---- */

static int group_compare_slots(const struct group_slot *a, const struct group_slot *b)
{
	if (a->whole != b->whole)
		return a->whole < b->whole ? -1 : 1;
	return a->fraction < b->fraction ? -1 : a->fraction > b->fraction;
}

void group_range_init(struct group_range *r, struct arena *a, const struct group_text *t,
                      const char *text)
{
	*r = (struct group_range){ .first = text };
	if (!text)
		return;
	r->nslots = t->nslots;
	r->pattern = arena_strdup(a, str_text(&t->pattern));
	r->min = arena_memdup(a, t->slots, t->nslots * sizeof(*t->slots));
	r->max = arena_memdup(a, t->slots, t->nslots * sizeof(*t->slots));
}

void group_range_add(struct group_range *r, const struct group_text *t, const char *text)
{
	if (text == r->first || !text || !r->first)
		return;
	r->varies = r->varies || strcmp(text, r->first) != 0;
	for (size_t i = 0; i < r->nslots && i < t->nslots; i++) {
		if (group_compare_slots(&t->slots[i], &r->min[i]) < 0)
			r->min[i] = t->slots[i];
		if (group_compare_slots(&t->slots[i], &r->max[i]) > 0)
			r->max[i] = t->slots[i];
	}
}

/* Appends two addresses: as a range of ports when the host is the same, else both addresses. */
static void append_addresses(struct str *s, const struct group_slot *min,
                             const struct group_slot *max)
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

static void append_number(struct str *s, const struct group_slot *min, const struct group_slot *max)
{
	if (!min) {
		str_append(s, "N");
		return;
	}
	if (min->host && group_compare_slots(min, max) != 0) {
		append_addresses(s, min, max);
		return;
	}
	str_append_len(s, min->text, min->len);
	if (group_compare_slots(min, max) == 0)
		return;
	str_append(s, "-");
	str_append_len(s, max->text, max->len);
}

static void append_queue(struct str *s, const struct group_slot *min, const struct group_slot *max)
{
	if (min && max->whole == 0) {
		str_append(s, "first in its queue");
		return;
	}
	if (min)
		str_append_uint(s, min->whole);
	else
		str_append(s, "N");
	if (min && group_compare_slots(min, max) != 0) {
		str_append(s, "-");
		str_append_uint(s, max->whole);
	}
	str_append(s, " ahead in its queue");
}

static void append_list(struct str *s, const struct group_slot *min, const struct group_slot *max)
{
	(void)min;
	(void)max;
	str_append(s, "(...)");
}

static bool is_one(const struct group_slot *min, const struct group_slot *max)
{
	return group_compare_slots(min, max) == 0 && min->len == 1 && *min->text == '1';
}

const char *group_range_text(struct arena *a, const struct group_range *r)
{
	static void (*const append[])(struct str *, const struct group_slot *,
	                              const struct group_slot *) = {
		[MARKED_IS_NUMBER] = append_number,
		[MARKED_IS_ADDRESS] = append_number,
		[MARKED_IS_LIST] = append_list,
		[MARKED_IS_QUEUE] = append_queue,
	};
	STR(s);
	size_t slot = 0;

	if (!r->varies)
		return r->first;
	for (const char *c = r->pattern; *c; c++) {
		bool kept = slot < r->nslots;

		if (*c < MARKED_IS_NUMBER || *c > MARKED_IS_PLURAL) {
			str_append_len(&s, c, 1);
		} else if (*c == MARKED_IS_PLURAL) {
			bool before = slot && slot <= r->nslots;

			if (!before || !is_one(&r->min[slot - 1], &r->max[slot - 1]))
				str_append(&s, "s");
		} else {
			append[(int)*c](&s, kept ? &r->min[slot] : NULL,
			                kept ? &r->max[slot] : NULL);
			slot++;
		}
	}
	return arena_strdup(a, str_text(&s));
}
