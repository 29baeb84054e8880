/*
 * Where the nodes of a picture stand: in columns, so that edges lead from left to right, and so that
 * few of them cross. Edges that pass a column have a place in it, like a node.
 */

const SIZE = { width: 176, height: 46, across: 96, down: 16, lane: 8, edge: 12 };

/* Columns: a node is to the right of all that wait for it, but for edges that close a circle. */
function makeColumns(part) {
	const state = new Map();
	const column = new Map();
	const order = [];
	const starts = [...part].sort((a, b) => a.into.length - b.into.length || a.index - b.index);
	for (const root of starts) {
		if (state.has(root))
			continue;
		const path = [[root, 0]];
		state.set(root, 1);
		while (path.length) {
			const top = path[path.length - 1];
			const e = top[0].out[top[1]++];
			if (!e) {
				state.set(top[0], 2);
				order.push(top[0]);
				path.pop();
			} else if (part.has(e.to) && !state.has(e.to)) {
				state.set(e.to, 1);
				path.push([e.to, 0]);
			} else if (state.get(e.to) === 1) {
				e.back = true;
			}
		}
	}
	for (const n of order.reverse()) {
		column.set(n, column.get(n) || 0);
		for (const e of n.out) {
			if (part.has(e.to) && !e.back)
				column.set(e.to, Math.max(column.get(e.to) || 0, column.get(n) + 1));
		}
	}
	return column;
}

/* The parts that no edge connects, each a picture of its own; those with circles first. */
function components(part) {
	const seen = new Set();
	const list = [];
	for (const root of part) {
		if (seen.has(root))
			continue;
		const found = [root];
		seen.add(root);
		for (const n of found) {
			for (const m of [...n.out.map((e) => e.to), ...n.into.map((e) => e.from)]) {
				if (part.has(m) && !seen.has(m)) {
					seen.add(m);
					found.push(m);
				}
			}
		}
		list.push(found);
	}
	const weight = (nodes) => nodes.filter((n) => n.circle).length * 1e6 +
		nodes.filter((n) => n.stuck).length * 1e3 + nodes.length;
	return list.filter((nodes) => nodes.length > 1).sort((a, b) => weight(b) - weight(a));
}

/* A place in a column: of a node, or of an edge that passes (node is null). */
const makeItem = (node, column) => ({ node, column, before: [], behind: [], at: 0,
	height: node ? SIZE.height : SIZE.lane });

/* The places of a component, linked as its edges lead; each edge knows those that it passes. */
function makeItems(nodes, column) {
	const items = new Map(nodes.map((n) => [n, makeItem(n, column.get(n))]));
	const list = [...items.values()];
	for (const e of nodes.flatMap((n) => n.out)) {
		e.via = [];
		if (!items.has(e.to) || column.get(e.to) <= column.get(e.from))
			continue;
		let last = items.get(e.from);
		for (let c = column.get(e.from) + 1; c <= column.get(e.to); c++) {
			const next = c === column.get(e.to) ? items.get(e.to) : makeItem(null, c);
			if (!next.node) {
				e.via.push(next);
				list.push(next);
			}
			last.behind.push(next);
			next.before.push(last);
			last = next;
		}
	}
	return list;
}

/* Orders each column by where the neighbours of its places are, back and forth. */
function untangle(columns) {
	const number = (list) => list.forEach((item, i) => { item.at = i - (list.length - 1) / 2; });
	const mean = (near, otherwise) => (near.length
		? near.reduce((sum, item) => sum + item.at, 0) / near.length : otherwise);
	columns.forEach(number);
	for (let round = 0; round < 8; round++) {
		const right = round % 2 === 0;
		for (const list of right ? columns : [...columns].reverse()) {
			const key = new Map(list.map((item) => [item, mean(right ? item.before : item.behind,
				item.at)]));
			list.sort((a, b) => key.get(a) - key.get(b) || a.at - b.at);
			number(list);
		}
	}
}

/* Gives each node x and y, from top on; returns where the picture ends. */
function place(nodes, column, top) {
	const columns = [];
	for (const item of makeItems(nodes, column))
		(columns[item.column] ||= []).push(item);
	for (let c = 0; c < columns.length; c++)
		columns[c] ||= [];
	untangle(columns);
	const heights = columns.map((list) =>
		list.reduce((sum, item) => sum + item.height + SIZE.down, -SIZE.down));
	const height = Math.max(...heights);
	columns.forEach((list, c) => {
		let y = top + (height - heights[c]) / 2;
		for (const item of list) {
			const to = item.node || item;
			to.x = SIZE.edge + c * (SIZE.width + SIZE.across);
			to.y = y;
			y += item.height + SIZE.down;
		}
	});
	return { right: SIZE.edge + columns.length * (SIZE.width + SIZE.across) - SIZE.across,
		bottom: top + height };
}
