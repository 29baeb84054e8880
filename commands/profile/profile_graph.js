/*
 * The graph. A box is a node of the tree or, below it, what its tasks did there themselves: one of
 * the states. Instead of boxes too narrow to be seen there is one for all of them.
 */

const ROW_HEIGHT = 26;
const MIN_WIDTH = 2.5; /* pixels of a box */
const NARROW = 28; /* pixels in which no text is to be read */
const MOST_BOXES = 2000;
const NONE = -1; /* the state of a box of a node */
const REST = -2; /* that of a box for what is too narrow; its node is that above */

/* The boxes below a node that is as wide as the whole; rows before row are those above it. */
function layout(zoom, row, width) {
	const boxes = [{ node: zoom, state: NONE, row, at: 0, share: 1, parent: null }];
	const all = weight(zoom);
	if (!all)
		return boxes;
	for (let i = 0; i < boxes.length && boxes.length < MOST_BOXES; i++) {
		const box = boxes[i];
		if (box.state !== NONE)
			continue;
		let at = box.at;
		for (const part of partsToShow(box.node, all * MIN_WIDTH / width)) {
			const share = part.time / all;
			boxes.push({ ...part, row: box.row + 1, at, share, parent: box });
			at += share;
		}
	}
	return boxes;
}

/* The parts of a node, and one for those of less time, if together they have more. */
function partsToShow(node, least) {
	const parts = partsOf(node);
	const shown = parts.filter((part) => part.time >= least);
	const rest = parts.slice(shown.length);
	const time = rest.reduce((sum, part) => sum + part.time, 0);
	if (rest.length > 1 && time >= least)
		shown.push({ node, state: REST, time, places: rest.length });
	return shown;
}

/* The children of a node and the states of its own, the largest first. */
function partsOf(node) {
	const parts = childrenOf[node].map((child) => ({ node: child, state: NONE, time: weight(child) }));
	for (let s = 0; s < states.length; s++)
		parts.push({ node, state: s, time: counted[s] ? selfTime(node, s) : 0 });
	return parts.filter((part) => part.time > 0).sort((a, b) => b.time - a.time);
}

const boxTime = (box) => (box.state === NONE ? weight(box.node) : box.time);
const boxName = (box) => (box.state === NONE ? nodeName(box.node)
	: box.state === REST ? plural(box.places, 'smaller part') : states[box.state]);

/* Of the line at the bottom of a box: the states of its time beside each other. */
function stateStops(node) {
	const all = weight(node);
	const stops = [];
	let at = 0;
	for (let s = 0; s < states.length; s++) {
		if (!counted[s] || !totalTime(node, s))
			continue;
		const to = at + 100 * totalTime(node, s) / all;
		stops.push(`var(--${states[s]}) ${at}% ${to}%`);
		at = to;
	}
	return stops.length ? `linear-gradient(90deg, ${stops.join(', ')})` : 'none';
}

class Graph {
	/* host: its element. chosen(box): called when another box is selected. */
	constructor(host, chosen, zoomed) {
		this.host = host;
		this.chosen = chosen;
		this.zoomed = zoomed;
		this.zoom = 0;
		this.selected = { node: 0, state: NONE };
		this.matches = null; /* of a search: by node; null: there is none */
		host.addEventListener('click', (e) => this.click(e));
		host.addEventListener('focusin', (e) => this.focus(e));
		host.addEventListener('keydown', (e) => this.key(e));
		new ResizeObserver(() => this.draw()).observe(host);
	}

	draw() {
		const width = this.host.clientWidth;
		const above = [];
		for (let node = this.zoom; node; node = parentOf(node))
			above.unshift(parentOf(node));
		const outer = above.map((node, row) => ({ node, state: NONE, row, at: 0, share: 1, outer: true,
			parent: null }));
		outer.forEach((box, i) => { box.parent = outer[i - 1] || null; });
		this.boxes = [...outer, ...layout(this.zoom, above.length, width)];
		if (outer.length)
			this.boxes[outer.length].parent = outer[outer.length - 1];
		const rows = this.boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
		const hadFocus = this.host.contains(document.activeElement);
		this.host.style.setProperty('height', rows * ROW_HEIGHT + 'px');
		this.host.classList.toggle('searched', this.matches !== null);
		if (!this.boxes.some((box) => this.isSelected(box)))
			this.selected = { node: this.zoom, state: NONE };
		refill(this.host, this.boxes.map((box, i) => this.element(box, i, width)));
		if (hadFocus)
			this.host.querySelector('[aria-selected="true"]').focus();
	}

	isSelected(box) {
		return box.node === this.selected.node && box.state === this.selected.state;
	}

	element(box, i, width) {
		const narrow = box.share * width < NARROW;
		const name = boxName(box);
		const tip = `${name}${box.state === NONE && nodePlace(box.node) ? ' at ' + nodePlace(box.node)
			: ''}: ${timeText(boxTime(box))}, ${shareText(boxTime(box), weight(0))}`;
		const selected = this.isSelected(box);
		const classes = (narrow ? '.narrow' : '') + (box.outer || box.state === REST ? '.outer' : '') +
			(box.state === NONE && this.matches?.[box.node] ? '.found' : '');
		return el('div.box' + classes, {
			role: 'treeitem',
			tabindex: selected ? '0' : '-1',
			title: tip,
			'aria-label': tip,
			'aria-level': String(box.row + 1),
			'aria-selected': String(selected),
			'data-box': String(i),
			'data-state': states[box.state],
			style: {
				top: box.row * ROW_HEIGHT + 'px',
				left: box.at * 100 + '%',
				width: box.share * 100 + '%',
				...(box.state === NONE ? { 'background-image': stateStops(box.node) } : {}),
			},
		}, narrow ? null : name);
	}

	boxAt(target) {
		const element = target.closest('.box');
		return element && this.boxes[Number(element.dataset.box)];
	}

	select(box, focus) {
		this.selected = { node: box.node, state: box.state };
		this.host.querySelectorAll('.box').forEach((element, i) => {
			const is = this.isSelected(this.boxes[i]);
			element.setAttribute('aria-selected', String(is));
			element.tabIndex = is ? 0 : -1;
			if (is && focus)
				element.focus();
		});
		this.chosen(this.selected);
	}

	click(e) {
		const box = this.boxAt(e.target);
		if (box)
			this.show(box);
	}

	/* A node becomes as wide as the whole. */
	show(box) {
		this.select(box, true);
		if (box.state === NONE && box.node !== this.zoom)
			this.zoomed(box.node);
	}

	focus(e) {
		const box = this.boxAt(e.target);
		if (box && !this.isSelected(box))
			this.select(box, false);
	}

	/* The box beside it, in its row: the nearest to the left or to the right. */
	beside(box, step) {
		const row = this.boxes.filter((b) => b.row === box.row).sort((a, b) => a.at - b.at);
		return row[row.indexOf(box) + step];
	}

	key(e) {
		const box = this.boxAt(e.target);
		if (!box || e.ctrlKey || e.altKey || e.metaKey)
			return;
		const to = {
			ArrowDown: () => this.boxes.find((b) => b.parent === box),
			ArrowUp: () => box.parent,
			ArrowLeft: () => this.beside(box, -1),
			ArrowRight: () => this.beside(box, 1),
			Home: () => this.boxes[0],
		}[e.key];
		if (to) {
			const next = to();
			if (next)
				this.select(next, true);
		} else if (e.key === 'Enter' || e.key === ' ') {
			this.show(box);
		} else if (e.key === 'Escape') {
			this.zoomed(this.zoom ? parentOf(this.zoom) : 0);
		} else {
			return;
		}
		e.preventDefault();
	}
}
