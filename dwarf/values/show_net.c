/* Prints Internet addresses as core::net does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/values/show_private.h"

struct error *show_v4(struct show *s, struct value v, const struct std_row *row)
{
	unsigned char b[4];

	(void)row;
	if (type_size(v.type) != sizeof(b))
		return error_new(ERR_LAYOUT, "address");
	TRY(target_read(s->target, v.addr, b, sizeof(b)));
	show_printf(s, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
	return NULL;
}

/* core/src/net/ip_addr.rs: the longest run of more than one 0 is printed as "::" */
static void show_v6_groups(struct show *s, const unsigned *group)
{
	int best = -1, best_len = 1;

	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && group[i + n] == 0)
			n++;
		if (n > best_len) {
			best = i;
			best_len = n;
		}
		i += n;
	}
	for (int i = 0; i < 8; i++) {
		if (i == best) {
			show_put(s, "::");
			i += best_len - 1;
			continue;
		}
		bool follows_gap = best >= 0 && i == best + best_len;
		show_printf(s, "%s%x", i && !follows_gap ? ":" : "", group[i]);
	}
}

struct error *show_v6(struct show *s, struct value v, const struct std_row *row)
{
	unsigned char b[16];
	unsigned group[8];
	bool mapped = true;

	(void)row;
	if (type_size(v.type) != sizeof(b))
		return error_new(ERR_LAYOUT, "address");
	TRY(target_read(s->target, v.addr, b, sizeof(b)));
	for (int i = 0; i < 8; i++) {
		group[i] = (unsigned)b[2 * i] << 8 | b[2 * i + 1];
		mapped &= i > 5 || group[i] == (i == 5 ? 0xffff : 0);
	}
	if (mapped)
		show_printf(s, "::ffff:%u.%u.%u.%u", b[12], b[13], b[14], b[15]);
	else
		show_v6_groups(s, group);
	return NULL;
}

/* expr: the port; the port in network order, before 1.64 */
static struct error *read_port(struct show *s, struct value v, const struct std_row *row,
                               uint64_t *ret)
{
	struct error *err = show_row_number(s, v, row->expr[0], ret);

	if (!err)
		return NULL;
	error_free(err);
	TRY(show_row_number(s, v, row->expr[1], ret));
	*ret = (*ret & 0xff) << 8 | *ret >> 8;
	return NULL;
}

struct error *show_socket_v4(struct show *s, struct value v, const struct std_row *row)
{
	struct value ip;
	uint64_t port;

	TRY(show_row_place(s, v, row->expr[2], &ip));
	TRY(read_port(s, v, row, &port));
	TRY(show_v4(s, ip, row));
	show_printf(s, ":%" PRIu64, port);
	return NULL;
}

struct error *show_socket_v6(struct show *s, struct value v, const struct std_row *row)
{
	struct value ip;
	uint64_t port, scope;

	TRY(show_row_place(s, v, row->expr[2], &ip));
	TRY(read_port(s, v, row, &port));
	TRY(show_row_number(s, v, "scope_id | sin6_scope_id", &scope));
	if (type_size(ip.type) != 16)
		return error_new(ERR_LAYOUT, "address");
	show_put(s, "[");
	TRY(show_v6(s, ip, row));
	if (scope)
		show_printf(s, "%%%" PRIu64, scope);
	show_printf(s, "]:%" PRIu64, port);
	return NULL;
}
