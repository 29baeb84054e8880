/*
 * A tree as a list of lines of one height, of which only those in sight are in the document: it
 * may have a million. The lines are a flat array that its owner makes; each is an object:
 *
 *   key       what it is known by when the lines are made anew
 *   level     from 1
 *   open      true, false; undefined: it cannot be opened
 *   render()  its elements
 *
 * The list has the focus as a whole (aria-activedescendant); keys are those of a tree:
 * https://www.w3.org/WAI/ARIA/apg/patterns/treeview/
 */

const ROW_HEIGHT = 28;
const MARGIN = 12; /* lines above and below those in sight */
const PRINTED = 1000;

class Rows {
	/*
	 * host: an empty element. label: for those who hear the page. head: titles of columns.
	 * toggle(row, open), select(row): what to do then.
	 */
	constructor(host, { label, head, toggle, select }) {
		this.rows = [];
		this.at = -1;
		this.toggle = toggle;
		this.onselect = select;
		this.prefix = host.id + '-';
		this.canvas = el('div.canvas', { role: 'none' });
		this.tree = el('div.tree', {
			role: 'tree', tabindex: '0', 'aria-label': label,
			on: {
				scroll: () => this.draw(false),
				keydown: (e) => this.key(e),
				click: (e) => this.click(e),
				dblclick: (e) => this.click(e),
				mouseover: (e) => this.explain(e.target.closest('.cell')),
			},
		}, this.canvas);
		host.append(el('div.head', { 'aria-hidden': 'true' }, head.map((h) => el('span', null, h))),
			this.tree);
		this.drawn = [0, 0];
		new ResizeObserver(() => this.draw(false)).observe(this.tree);
	}

	/* New lines. The selection stays on the line of the same key. */
	set(rows) {
		const key = this.at >= 0 ? this.rows[this.at].key : null;
		this.rows = rows;
		this.at = key === null ? -1 : rows.findIndex((r) => r.key === key);
		this.count();
		this.canvas.style.setProperty('height', rows.length * ROW_HEIGHT + 'px');
		this.draw(true);
	}

	/* Tells each line which one of how many it is below its parent. */
	count() {
		const seen = [];
		for (const row of this.rows) {
			seen.length = row.level + 1;
			row.nth = seen[row.level] = (seen[row.level] || 0) + 1;
		}
		const sizes = [];
		for (let i = this.rows.length - 1; i >= 0; i--) {
			const row = this.rows[i];
			sizes.length = row.level + 1;
			row.of = sizes[row.level] ||= row.nth;
		}
	}

	/* Brings those in sight into the document. */
	draw(anew) {
		const height = this.tree.clientHeight;
		const top = this.tree.scrollTop;
		const from = Math.max(0, Math.floor(top / ROW_HEIGHT) - MARGIN);
		const end = height
			? Math.min(this.rows.length, Math.ceil((top + height) / ROW_HEIGHT) + MARGIN)
			: from;
		if (!anew && from === this.drawn[0] && end === this.drawn[1])
			return;
		this.show(from, end);
	}

	show(from, end) {
		const lines = [];
		this.drawn = [from, end];
		for (let i = from; i < end; i++)
			lines.push(this.line(i));
		this.canvas.replaceChildren(...lines);
		this.mark();
	}

	line(i) {
		const row = this.rows[i];
		return el('div.row' + (row.style || ''), {
			role: 'treeitem', id: this.prefix + i, 'data-row': i,
			'aria-level': row.level, 'aria-posinset': row.nth, 'aria-setsize': row.of,
			'aria-expanded': row.open, 'aria-selected': i === this.at,
			style: { top: i * ROW_HEIGHT + 'px', '--level': row.level - 1 },
		}, el('span.cell.first', null, el('span.twist', { 'aria-hidden': 'true' }), row.render()),
		row.cells ? row.cells().map((c) => el('span.cell', null, c)) : null);
	}

	mark() {
		for (const line of this.canvas.children)
			line.setAttribute('aria-selected', Number(line.dataset.row) === this.at);
		const seen = this.at >= this.drawn[0] && this.at < this.drawn[1];
		if (seen)
			this.tree.setAttribute('aria-activedescendant', this.prefix + this.at);
		else
			this.tree.removeAttribute('aria-activedescendant');
	}

	/* Selects line i and brings it into sight. */
	select(i) {
		if (i < 0 || i >= this.rows.length)
			return;
		this.at = i;
		const top = i * ROW_HEIGHT;
		if (top < this.tree.scrollTop)
			this.tree.scrollTop = top;
		else if (top + ROW_HEIGHT > this.tree.scrollTop + this.tree.clientHeight)
			this.tree.scrollTop = top + ROW_HEIGHT - this.tree.clientHeight;
		this.draw(false);
		this.mark();
		this.onselect(this.rows[i]);
	}

	/* The same by key, in the middle, where there is such a line; the keys are the list's then. */
	reveal(key) {
		const i = this.rows.findIndex((r) => r.key === key);
		if (i >= 0) {
			this.tree.scrollTop = Math.max(0, i * ROW_HEIGHT - this.tree.clientHeight / 3);
			this.select(i);
		}
		this.tree.focus({ preventScroll: true });
	}

	set_open(i, open) {
		if (this.rows[i].open === undefined || this.rows[i].open === open)
			return;
		this.toggle(this.rows[i], open);
	}

	/* What does not fit is told by a tip. */
	explain(cell) {
		const cut = cell && [cell, ...cell.querySelectorAll('code, span')]
			.some((part) => part.scrollWidth > part.clientWidth);
		if (cut)
			cell.title = cell.textContent;
	}

	click(e) {
		const line = e.target.closest('.row');
		if (!line || e.target.closest('a'))
			return;
		const i = Number(line.dataset.row);
		this.select(i);
		if (e.type === 'dblclick' || e.target.closest('.twist'))
			this.set_open(i, !this.rows[i].open);
	}

	parent(i) {
		const level = this.rows[i].level;
		while (i >= 0 && this.rows[i].level >= level)
			i--;
		return i;
	}

	key(e) {
		if (e.ctrlKey || e.altKey || e.metaKey || e.target !== this.tree)
			return;
		const row = this.rows[this.at];
		const page = Math.max(1, Math.floor(this.tree.clientHeight / ROW_HEIGHT) - 1);
		const last = this.rows.length - 1;
		const go = (i) => this.select(Math.max(0, Math.min(last, i)));
		const keys = {
			ArrowDown: () => go(this.at + 1),
			ArrowUp: () => go(this.at - 1),
			PageDown: () => go(this.at + page),
			PageUp: () => go(this.at - page),
			Home: () => go(0),
			End: () => go(last),
			ArrowRight: () => row && (row.open === false ? this.set_open(this.at, true)
				: row.open && go(this.at + 1)),
			ArrowLeft: () => row && (row.open ? this.set_open(this.at, false)
				: this.parent(this.at) >= 0 && go(this.parent(this.at))),
			Enter: () => row && this.set_open(this.at, !row.open),
			' ': () => row && this.set_open(this.at, !row.open),
		};
		if (!keys[e.key])
			return;
		e.preventDefault();
		keys[e.key]();
	}

	/* Paper does not scroll: the first lines, all of them in the document. */
	print(on) {
		if (on)
			this.show(0, Math.min(this.rows.length, PRINTED));
		else
			this.draw(true);
	}
}
