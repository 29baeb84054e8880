/*
 * A tree as a list of lines of one height, of which only those in sight are in the document: it
 * may have a million. The lines are a flat array that its owner makes; each is an object:
 *
 *   key       what it is known by when the lines are made anew
 *   level     from 1
 *   open      true, false; undefined: it cannot be opened
 *   letters   how many its name and what stands behind it have
 *   place     what the column of places says, if it has a place
 *   render()  its name and what stands before it
 *   tags()    what stands behind the name where there is room; may be left out
 *   cells()   what is in the other columns; may be left out
 *
 * The list has the focus as a whole (aria-activedescendant); keys are those of a tree:
 * https://www.w3.org/WAI/ARIA/apg/patterns/treeview/
 */

const ROW_HEIGHT = 28;
const MARGIN = 12; /* lines above and below those in sight */
const PRINTED = 1000;

/* In pixels: what stands before a name, "Task 12345" or "#12"; and how much a level is indented. */
const BEFORE_NAME = 124;
const BEFORE_FRAME = 56;
const INDENT = 20;

/* How wide a letter of a name is. */
const letterWidth = textWidth('0'.repeat(100), 12.9, 'mono') / 100;

class Rows {
	/*
	 * host: an empty element. label: for those who hear the page. head: titles of columns, the first
	 * of which has names; styles: classes of the others. toggle(row, open): what to do then.
	 * about(row): what to tell of a line that is chosen; panel: the element to tell it in.
	 * empty(): what to say where there are no lines.
	 */
	constructor(host, { label, head, styles, toggle, about, panel, empty }) {
		this.rows = [];
		this.at = -1;
		this.toggle = toggle;
		this.styles = styles;
		this.panel = new Panel(panel, about, () => this.tree.focus({ preventScroll: true }));
		this.empty = el('p.empty.quiet', { hidden: true });
		this.said = empty;
		this.host = host;
		this.widest = { name: 0, place: 0 };
		this.prefix = host.id + '-';
		this.canvas = el('div.canvas', { role: 'none' });
		this.tree = el('div.tree', {
			role: 'tree', tabindex: '0', 'aria-label': label,
			on: {
				scroll: () => this.draw(false),
				keydown: (e) => this.key(e),
				click: (e) => this.click(e),
				dblclick: (e) => this.click(e),
			},
		}, this.canvas);
		host.append(el('div.head', { 'aria-hidden': 'true' }, head.map((h, i) =>
			el('span.cell' + (i ? '.' + styles[i - 1] : ''), null, h))), this.empty, this.tree);
		this.drawn = [0, 0];
		new ResizeObserver(() => this.draw(false)).observe(this.tree);
	}

	/* New lines. The selection stays on the line of the same key. */
	set(rows) {
		const key = this.at >= 0 ? this.rows[this.at].key : null;
		this.rows = rows;
		this.at = key === null ? -1 : rows.findIndex((r) => r.key === key);
		this.count();
		this.measure();
		refill(this.empty, rows.length ? null : this.said());
		this.empty.hidden = rows.length > 0;
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

	/*
	 * Makes columns as wide as names and places are, within bounds (lists.css); never narrower, so
	 * that they stay where they are when a line is opened.
	 */
	measure() {
		let { name, place } = this.widest;
		for (const row of this.rows) {
			name = Math.max(name, (row.level - 1) * INDENT + row.letters * letterWidth +
				(row.frame || row.stack ? BEFORE_FRAME : BEFORE_NAME));
			place = Math.max(place, (row.place || '').length);
		}
		this.widest = { name, place };
		this.host.style.setProperty('--name', Math.ceil(name) + 'px');
		this.host.style.setProperty('--place', Math.ceil(place * letterWidth + 2) + 'px');
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
		}, el('span.cell.first', null,
			el('span.lead', null, el('span.twist', { 'aria-hidden': 'true' }), row.render()),
			row.tags ? row.tags() : null),
		row.cells ? row.cells().map((c, k) => el('span.cell.' + this.styles[k], null, c)) : null);
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

	/* Selects line i, tells of it and brings it into sight. asked: even if telling was ended. */
	select(i, asked) {
		if (i < 0 || i >= this.rows.length)
			return;
		this.at = i;
		this.panel.tell(this.rows[i], asked);
		const top = i * ROW_HEIGHT;
		if (top < this.tree.scrollTop)
			this.tree.scrollTop = top;
		else if (top + ROW_HEIGHT > this.tree.scrollTop + this.tree.clientHeight)
			this.tree.scrollTop = top + ROW_HEIGHT - this.tree.clientHeight;
		this.draw(false);
		this.mark();
	}

	/* The same by key, in the middle, where there is such a line; the keys are the list's then. */
	reveal(key) {
		const i = this.rows.findIndex((r) => r.key === key);
		if (i >= 0) {
			this.panel.tell(this.rows[i], true);
			this.tree.scrollTop = Math.max(0, i * ROW_HEIGHT - this.tree.clientHeight / 3);
			this.select(i, true);
		}
		this.tree.focus({ preventScroll: true });
	}

	set_open(i, open) {
		if (this.rows[i].open === undefined || this.rows[i].open === open)
			return;
		this.toggle(this.rows[i], open);
	}

	click(e) {
		const line = e.target.closest('.row');
		if (!line || e.target.closest('a'))
			return;
		const i = Number(line.dataset.row);
		this.select(i, true);
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
			Enter: () => row && (this.panel.ended ? this.select(this.at, true)
				: this.set_open(this.at, !row.open)),
			Escape: () => this.panel.end(),
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
