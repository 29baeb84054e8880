#include "dwarf/module/line_program.h"

#include <dwarf.h>
#include <stdlib.h>

enum { MAX_ROWS = (1 << 29) - 1 };

bool line_program_header(struct section line, struct reader *r, struct line_header *ret)
{
	uint64_t length = read_fixed(r, 4);

	*ret = (struct line_header){ .offset_size = length == 0xffffffff ? 8 : 4 };
	if (ret->offset_size == 8)
		length = read_fixed(r, 8);
	if (r->bad || length > (uint64_t)(r->end - r->p))
		return false;
	r->end = r->p + length;
	ret->end = (uint64_t)(r->end - line.data);
	ret->version = (unsigned)read_fixed(r, 2);
	if (ret->version < 2 || ret->version > 5)
		return false;
	if (ret->version >= 5)
		read_skip(r, 2); /* address and segment selector size */
	uint64_t header = read_fixed(r, ret->offset_size);
	ret->program = (uint64_t)(r->p - line.data) + header;
	ret->minimum_size = (unsigned)read_fixed(r, 1);
	ret->operations = ret->version >= 4 ? (unsigned)read_fixed(r, 1) : 1;
	ret->is_statement = read_fixed(r, 1);
	ret->line_base = (int8_t)read_fixed(r, 1);
	ret->line_range = (unsigned)read_fixed(r, 1);
	ret->opcode_base = (unsigned)read_fixed(r, 1);
	ret->operands = r->p;
	read_skip(r, ret->opcode_base ? ret->opcode_base - 1 : 0);
	return !r->bad && header <= ret->end - (ret->program - header);
}

/* ---- the program ---- */

/* A line program that runs. */
struct line_program_machine {
	const struct line_header *h;
	struct reader r;
	struct line_entry row; /* of the registers */
	unsigned operation;    /* op_index */
	size_t sequence;       /* index of its first row */
	bool begun;            /* it has a row */
	uint64_t begin;        /* the address of that row */
	uint64_t low, high;    /* rows elsewhere are left out */
	bool is_sorted;
	line_entry_vec *rows;
};

static int line_program_compare(const void *a, const void *b)
{
	const struct line_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->ends_sequence != y->ends_sequence)
		return x->ends_sequence ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void reset(struct line_program_machine *m)
{
	m->row = (struct line_entry){ .file = 1, .line = 1, .is_statement = m->h->is_statement };
	m->operation = 0;
	m->sequence = m->rows->n;
	m->begun = false;
}

static void line_program_advance(struct line_program_machine *m, uint64_t operations)
{
	const struct line_header *h = m->h;

	if (h->operations == 1) {
		m->row.addr += h->minimum_size * operations;
		return;
	}
	operations += m->operation;
	m->row.addr += h->minimum_size * (operations / h->operations);
	m->operation = (unsigned)(operations % h->operations);
}

static void line_program_add_row(struct line_program_machine *m)
{
	line_entry_vec *rows = m->rows;

	if (!m->begun)
		m->begin = m->row.addr;
	m->begun = true;
	if (m->row.addr >= m->low && m->row.addr <= m->high) {
		m->row.order = rows->n & MAX_ROWS;
		m->r.bad |= rows->n >= MAX_ROWS;
		m->is_sorted &=
			!rows->n || line_program_compare(&rows->data[rows->n - 1], &m->row) < 0;
		*vec_push(rows) = m->row;
	}
	m->row.ends_prologue = false;
}

static void end_sequence(struct line_program_machine *m)
{
	m->row.ends_sequence = true;
	line_program_add_row(m);
	if (m->begin == 0)
		m->rows->n = m->sequence;
	reset(m);
}

static void run_extended(struct line_program_machine *m)
{
	uint64_t size = read_uleb(&m->r);
	struct reader r = m->r;

	read_skip(&m->r, size);
	if (m->r.bad || !size)
		return;
	r.end = m->r.p;
	switch (read_fixed(&r, 1)) {
	case DW_LNE_end_sequence:
		end_sequence(m);
		break;
	case DW_LNE_set_address:
		m->row.addr = read_fixed(&r, (unsigned)(size - 1 < 8 ? size - 1 : 8));
		m->operation = 0;
		break;
	default:
		break;
	}
}

static void skip_operands(struct line_program_machine *m, unsigned opcode)
{
	for (unsigned n = m->h->operands[opcode - 1]; n && !m->r.bad; n--)
		read_uleb(&m->r);
}

static void run_standard(struct line_program_machine *m, unsigned opcode)
{
	const struct line_header *h = m->h;

	switch (opcode) {
	case DW_LNS_copy:
		line_program_add_row(m);
		break;
	case DW_LNS_advance_pc:
		line_program_advance(m, read_uleb(&m->r));
		break;
	case DW_LNS_advance_line:
		m->row.line += (uint32_t)read_sleb(&m->r);
		break;
	case DW_LNS_set_file:
		m->row.file = (uint32_t)read_uleb(&m->r);
		break;
	case DW_LNS_set_column:
		m->row.column = (uint32_t)read_uleb(&m->r);
		break;
	case DW_LNS_negate_stmt:
		m->row.is_statement = !m->row.is_statement;
		break;
	case DW_LNS_const_add_pc:
		line_program_advance(m, (255 - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->row.addr += read_fixed(&m->r, 2);
		m->operation = 0;
		break;
	case DW_LNS_set_prologue_end:
		m->row.ends_prologue = true;
		break;
	default:
		skip_operands(m, opcode);
	}
}

static void line_program_run(struct line_program_machine *m)
{
	const struct line_header *h = m->h;

	while (!m->r.bad && m->r.p < m->r.end) {
		unsigned opcode = *m->r.p++;

		if (opcode >= h->opcode_base) {
			unsigned special = opcode - h->opcode_base;

			line_program_advance(m, special / h->line_range);
			m->row.line += (uint32_t)(h->line_base + (int)(special % h->line_range));
			line_program_add_row(m);
		} else if (opcode) {
			run_standard(m, opcode);
		} else {
			run_extended(m);
		}
	}
}

/* ---- rows ---- */

static bool are_sorted(const line_entry_vec *rows)
{
	for (size_t i = 1; i < rows->n; i++) {
		if (line_program_compare(&rows->data[i - 1], &rows->data[i]) >= 0)
			return false;
	}
	return true;
}

struct sequence {
	uint64_t addr;
	size_t first, n;
};

static int line_program_by_address(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Sorts sequences as wholes: each is sorted, and few overlap. */
static void sort_sequences(line_entry_vec *rows)
{
	VEC(struct sequence) sequences = { 0 };
	line_entry_vec sorted = { 0 };

	for (size_t i = 0; i < rows->n; i++) {
		if (!i || rows->data[i - 1].ends_sequence)
			*vec_push(&sequences) = (struct sequence){ rows->data[i].addr, i, 0 };
		sequences.data[sequences.n - 1].n++;
	}
	qsort(sequences.data, sequences.n, sizeof(*sequences.data), line_program_by_address);
	vec_reserve(&sorted, rows->n);
	for (size_t i = 0; i < sequences.n; i++) {
		const struct sequence *s = &sequences.data[i];

		memcpy(sorted.data + sorted.n, rows->data + s->first, s->n * sizeof(*rows->data));
		sorted.n += s->n;
	}
	vec_free(&sequences);
	vec_free(rows);
	*rows = sorted;
}

void line_program_read_within(struct dwarf_module *dm, const struct unit *u, uint64_t low,
                              uint64_t high, line_entry_vec *ret)
{
	struct section line = dm->sections.line;
	struct reader r = reader_at(line, u->stmt_list, line.size);
	struct line_program_machine m = {
		.rows = ret, .is_sorted = true, .low = low, .high = high
	};
	struct line_header h;

	ret->n = 0;
	if (r.bad || !line_program_header(line, &r, &h) || !h.line_range || !h.operations ||
	    !h.opcode_base)
		return;
	m.h = &h;
	m.r = reader_at(line, h.program, h.end);
	reset(&m);
	line_program_run(&m);
	if (m.r.bad)
		ret->n = 0;
	if (!ret->n)
		return;
	if (!m.is_sorted)
		sort_sequences(ret);
	if (!m.is_sorted && !are_sorted(ret))
		qsort(ret->data, ret->n, sizeof(*ret->data), line_program_compare);
}

void line_program_read(struct dwarf_module *dm, const struct unit *u, line_entry_vec *ret)
{
	line_program_read_within(dm, u, 0, UINT64_MAX, ret);
	if (ret->n)
		ret->data[ret->n - 1].ends_sequence = true;
}
