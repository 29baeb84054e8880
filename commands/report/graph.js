/*
 * Who waits for whom, as a picture: from left to right. It shows a part of the graph that the eye
 * can follow, circles first, and says how much it leaves out.
 */

const GRAPH = (() => {
	const NODE = 7;
	const EDGE = 7;
	const parties = new Set(['task', 'block_on', 'thread']);
	const nodes = [];
	const rows = data.graph_nodes;
	for (let i = 0; i < rows.length; i += NODE)
		nodes.push({
			index: nodes.length, kind: strings[rows[i]], task: rows[i + 1] - 1,
			thread: rows[i + 2], label: strings[rows[i + 3]], fn: strings[rows[i + 4]],
			object: strings[rows[i + 5]], stuck: (rows[i + 6] & 1) !== 0,
			any: (rows[i + 6] & 2) !== 0, outside: (rows[i + 6] & 4) !== 0,
			out: [], into: [], party: parties.has(strings[rows[i]]), circle: false,
		});
	const list = data.graph_edges;
	const edges = [];
	for (let i = 0; i < list.length; i += EDGE)
		edges.push({
			from: nodes[list[i]], to: nodes[list[i + 1]], kind: strings[list[i + 2]],
			weak: (list[i + 3] & 1) !== 0, queued: (list[i + 3] & 2) !== 0,
			granted: (list[i + 3] & 4) !== 0, evidence: strings[list[i + 4]],
			doubt: strings[list[i + 5]], phrase: strings[list[i + 6]],
		});
	edges.forEach((e) => e.from.out.push(e));

	/*
	 * A place in a queue is no thing of its own: who has it waits for the lock, and for the one
	 * before. Places lead to each other in long chains; the lock is at their end.
	 */
	const locks = new Map();
	const locksBehind = (queue) => {
		const chain = [];
		for (let q = queue; q && !locks.has(q);) {
			chain.push(q);
			locks.set(q, q.out.filter((e) => !e.to.party && e.to.kind !== 'queue'));
			const next = q.out.find((e) => e.to.kind === 'queue');
			q = next && next.to;
		}
		for (const q of chain.reverse()) {
			const next = q.out.find((e) => e.to.kind === 'queue');
			if (next && !locks.get(q).length)
				locks.set(q, locks.get(next.to));
		}
		return locks.get(queue);
	};
	const whole = edges.filter((e) => e.from.kind !== 'queue').flatMap((e) => {
		if (e.to.kind !== 'queue')
			return [e];
		const first = e.to.out.filter((f) => f.to.party);
		return [...locksBehind(e.to).map((f) => ({ ...e, to: f.to, doubt: f.doubt || e.doubt })),
			...first.map((f) => ({ ...e, to: f.to, kind: 'behind', doubt: f.doubt || e.doubt }))];
	});

	/* One lock may be several nodes, by who waits; those with the same owners look like one. */
	const same = new Map();
	const look = (n) => {
		if (n.party || !n.object)
			return n;
		const key = [n.kind, n.label, ...n.out.map((e) => e.to.index + e.kind).sort()].join();
		if (!same.has(key))
			same.set(key, n);
		same.get(key).stuck ||= n.stuck;
		return same.get(key);
	};
	/* Looked at once: what many know has as many edges as have to be compared. */
	const ones = new Map();
	const one = (n) => {
		if (!ones.has(n))
			ones.set(n, look(n));
		return ones.get(n);
	};
	const kept = whole.filter((e) => one(e.from) === e.from);
	kept.forEach((e) => { e.to = one(e.to); });
	const merged = new Map(nodes.map((n) => [n, one(n)]));
	nodes.forEach((n) => { n.out = []; });
	for (const e of kept) {
		e.from.out.push(e);
		e.to.into.push(e);
	}
	return { nodes: nodes.filter((n) => n.kind !== 'queue' && merged.get(n) === n), edges: kept,
		all: nodes };
})();

const nodeOfTask = new Map(GRAPH.nodes.filter((n) => n.kind === 'task').map((n) => [n.task, n]));

/* "#graph-7" of a task, "#graph-thread-1". */
const graphLink = (n) => '#graph-' + (n.task >= 0 ? taskLink(n.task).slice(6) : 'thread-' + n.thread);

function nodeByLink(id) {
	const thread = id.match(/^thread-(\d+)$/);
	return thread ? GRAPH.nodes.find((n) => n.party && n.thread === Number(thread[1]))
		: nodeOfTask.get(taskByLink(id));
}

/* Nodes on circles of edges that bind: strongly connected components, without recursion. */
function circles(nodes) {
	const order = new Map();
	const low = new Map();
	const stack = [];
	const on = new Set();
	const found = [];
	for (const root of nodes) {
		if (order.has(root))
			continue;
		const path = [[root, 0]];
		while (path.length) {
			const top = path[path.length - 1];
			const [n] = top;
			if (top[1] === 0) {
				order.set(n, order.size);
				low.set(n, order.get(n));
				stack.push(n);
				on.add(n);
			}
			const e = n.out[top[1]++];
			if (e) {
				if (e.weak)
					continue;
				if (!order.has(e.to))
					path.push([e.to, 0]);
				else if (on.has(e.to))
					low.set(n, Math.min(low.get(n), order.get(e.to)));
				continue;
			}
			path.pop();
			if (path.length) {
				const up = path[path.length - 1][0];
				low.set(up, Math.min(low.get(up), low.get(n)));
			}
			if (low.get(n) !== order.get(n))
				continue;
			const part = stack.splice(stack.lastIndexOf(n));
			part.forEach((m) => on.delete(m));
			if (part.length > 1 || n.out.some((f) => f.to === n && !f.weak))
				found.push(part);
		}
	}
	return found;
}

/* Marks the circles that a verdict is about. */
(() => {
	const members = new Set(data.verdicts.flatMap((v) => v.members.map((m) => GRAPH.all[m])));
	const suspects = GRAPH.nodes.filter((n) => n.stuck);
	for (const part of circles(suspects.length ? suspects : [])) {
		if (part.some((n) => members.has(n)))
			part.forEach((n) => { n.circle = true; });
	}
	members.forEach((n) => { if (n) n.circle = true; });
	/* Who stands before whom in a queue is worth a line where it matters only. */
	const matters = (e) => e.kind !== 'behind' || (e.from.circle && e.to.circle);
	GRAPH.edges = GRAPH.edges.filter(matters);
	GRAPH.nodes.forEach((n) => {
		n.out = n.out.filter(matters);
		n.into = n.into.filter(matters);
	});
	GRAPH.nodes = GRAPH.nodes.filter((n) => n.out.length || n.into.length);
})();

/*
 * At most so many nodes, the nearest ones around `around`; without it, circles, then what is stuck,
 * then what most wait for.
 */
function choosePart(around, most) {
	const chosen = new Set();
	const seeds = around ? [around] : [...GRAPH.nodes].sort((a, b) => b.circle - a.circle ||
		b.stuck - a.stuck || b.into.length - a.into.length || a.index - b.index);
	for (const seed of seeds) {
		const queue = [seed];
		for (let i = 0; i < queue.length && chosen.size < most; i++) {
			const n = queue[i];
			if (chosen.has(n))
				continue;
			chosen.add(n);
			/* What it waits for explains it; of those that wait for it a few will do. */
			for (const e of n.out.slice(0, most))
				queue.push(e.to);
			for (const e of n.into.slice(0, 12))
				queue.push(e.from);
		}
		if (chosen.size >= most)
			break;
	}
	return chosen;
}

/* ---- the picture ---- */

/* As graph.css has them. */
const TITLE = { size: 13, family: 'text', weight: 600 };
const MORE = { size: 11, family: 'mono', weight: 400 };
const widthIn = (text, font) => textWidth(text, font.size, font.family, font.weight);

/* As much of a text's beginning as fits. */
function cutEnd(text, font, room) {
	let [fits, end] = [0, text.length];
	if (widthIn(text, font) <= room)
		return text;
	while (fits < end) {
		const middle = (fits + end + 1) >> 1;
		if (widthIn(text.slice(0, middle) + '…', font) <= room)
			fits = middle;
		else
			end = middle - 1;
	}
	return text.slice(0, fits) + '…';
}

/*
 * A path of which the end matters: whole, else without what is generic, as many of its last parts as
 * fit. Of "<a::T as b::Trait>::call::{async_block#0}" the type is worth more than the end:
 * "…::T…::call…".
 */
function cutStart(name, font, room) {
	if (widthIn(name, font) <= room)
		return name;
	const plain = name.replace(/^([^<>]+)<.*>$/s, '$1<…>')
		.replace(/^<([^<> ]+)(?:<.*>)? as .+>(::[^<>]+)$/s, (all, type, rest) => {
			const typed = '…::' + type.split('::').pop() + '…' + rest;
			return widthIn(typed, font) <= room ? typed : typed.replace(/(::\{[^}]*\})+$/, '…');
		});
	/* Not where "::" is within generics. */
	const parts = /[<>()].*::/s.test(plain) ? [plain] : plain.split('::');
	for (let from = 0; from < parts.length; from++) {
		const text = (from ? '…::' : '') + parts.slice(from).join('::');
		if (widthIn(text, font) <= room)
			return text;
	}
	return cutEnd(parts[parts.length - 1], font, room);
}

/* What stands in a box: two lines of text, and of each how it is cut. */
function nodeWords(n) {
	if (n.kind === 'fork')
		return [n.label.replace(/ 0x[0-9a-f]+$/, ''), n.any ? 'any of them' : 'all of them', cutEnd];
	if (n.kind === 'task')
		return [n.label, taskName(n.task), cutStart];
	if (n.party)
		return [n.label, n.fn || (n.kind === 'thread' ? 'its own code' : ''), cutStart];
	const m = n.label.match(/^(.*?) (0x[0-9a-f]+)(?: \(`(.*)`\))?$/s);
	return m ? [m[3] || m[1], m[3] ? m[1] : m[2], cutEnd] : [n.label, '', cutEnd];
}

/* Left of the text in a box, and right of it. */
const padding = (n) => (n.party ? 14 : 22);
const OUTSIDE = '+ ?';
const roomForOutside = (n) => (n.outside && !n.party ? widthIn(OUTSIDE, MORE) + 10 : 0);

/*
 * Boxes are as wide as what stands in them, and all alike; not so wide that columns do not fit the
 * screen, if they can.
 */
function fitBoxes(part, column) {
	const columns = Math.max(0, ...column.values()) + 1;
	const screen = document.documentElement.clientWidth - 2 * (TURN + SIZE.edge);
	const share = (screen + SIZE.across) / columns - SIZE.across;
	const most = share < 200 ? 260 : Math.min(share, 340);
	let width = 0;
	for (const n of part) {
		const [title, more] = nodeWords(n);
		width = Math.max(width, 2 * padding(n) + Math.max(widthIn(title, TITLE) + roomForOutside(n),
			widthIn(more, MORE)));
	}
	SIZE.width = Math.floor(Math.min(Math.max(width, 150), most));
}

function drawNode(n, part, focus) {
	const [words, below, cutBelow] = nodeWords(n);
	const room = SIZE.width - 2 * padding(n);
	const title = cutEnd(words, TITLE, room - roomForOutside(n));
	const more = cutBelow(below, MORE, room);
	const hidden = n.into.reduce((sum, e) => sum + !part.has(e.from), 0);
	const style = '.node.' + n.kind + (n.circle ? '.circle' : '') + (n.stuck ? '.stuck' : '') +
		(n === focus ? '.focus' : '');
	const box = svg('g', { transform: `translate(${n.x} ${n.y})` },
		svg('title', null, [n.label, n.task >= 0 ? taskName(n.task) : n.fn, n.stuck ? 'stuck' : '',
			n.outside && !n.party ? OUTSIDE + ': ' + OUTSIDE_WORDS : ''].filter(Boolean).join('\n')),
		svg('rect', { width: SIZE.width, height: SIZE.height, rx: n.party ? 7 : 23 }),
		svg('text', { x: padding(n), y: more ? 20 : 28 }, title),
		more ? svg('text.more', { x: padding(n), y: 36 }, more) : null,
		hidden ? svg('text.more.beside', { x: 14, y: SIZE.height + 12 }, count(hidden) + ' more wait') : null,
		n.outside && !n.party ? svg('text.more.outside', { x: SIZE.width - padding(n), y: 20 }, OUTSIDE)
			: null);
	const href = n.task >= 0 ? taskLink(n.task) : n.party ? '#thread-' + n.thread : null;
	return href ? svg('a' + style, { href }, box) : svg('g' + style, null, box);
}

const OUTSIDE_WORDS = 'or something not shown: a timer, I/O, a holder not found';

const edgeWords = new Map(Object.entries({
	holds: 'held by', sends: 'sent to by', receives: 'received by', refers: 'known to',
	member: 'of it', runs: 'runs on', queued: 'behind',
}));

/* The way of an edge, and where its words stand. */
function edgeWay(e, bottom) {
	const y0 = e.from.y + SIZE.height / 2;
	const y1 = e.to.y + SIZE.height / 2;
	const x0 = e.from.x + SIZE.width;
	const x1 = e.to.x - 8;
	if (x1 <= x0) {
		/* Back to the left: below everything. */
		const low = bottom + 14 + (e.lane || 0) * 12;
		return {
			path: `M${x0} ${y0}C${x0 + 50} ${y0} ${x0 + 50} ${low} ${x0 - 10} ${low}` +
				`L${e.to.x + 10} ${low}C${e.to.x - 50} ${low} ${e.to.x - 50} ${y1} ${x1} ${y1}`,
			label: [(x0 + e.to.x) / 2, low - 4],
		};
	}
	const bend = SIZE.across / 2;
	let path = `M${x0} ${y0}`;
	let [x, y] = [x0, y0];
	for (const item of e.via) {
		const to = item.y + SIZE.lane / 2;
		path += `C${x + bend} ${y} ${item.x - bend} ${to} ${item.x} ${to}L${item.x + SIZE.width} ${to}`;
		[x, y] = [item.x + SIZE.width, to];
	}
	const first = e.via.length ? e.via[0].y + SIZE.lane / 2 : y1;
	return { path: path + `C${x + bend} ${y} ${x1 - bend} ${y1} ${x1} ${y1}`,
		label: [x0 + bend, (y0 + first) / 2 - 5] };
}

function drawEdge(e, bottom) {
	const way = edgeWay(e, bottom);
	const circle = e.from.circle && e.to.circle && !e.weak;
	const kind = edgeWords.get(e.kind) || e.kind.replace(/_/g, ' ');
	/* A wait for a mutex leads to a box that says so. */
	const words = e.kind === 'poll' || e.to.label.toLowerCase().startsWith(kind + ' ') ? '' : kind;
	return svg('g.edge' + (circle ? '.circle' : '') + (e.weak ? '.weak' : '') +
		(e.kind === 'behind' ? '.behind' : ''), null,
	svg('title', null, [e.phrase || kind, e.evidence, e.doubt].filter(Boolean).join('; ')),
	svg('path', { d: way.path, 'marker-end': circle ? 'url(#tip-circle)' : 'url(#tip)' }),
	words ? svg('text', { x: way.label[0], y: way.label[1] }, words) : null);
}

const tip = (id) => svg('marker', { id, viewBox: '0 0 8 8', refX: 1, refY: 4, markerWidth: 9,
	markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8Z' }));

const TURN = 44;

function drawPicture(part, focus) {
	const column = makeColumns(part);
	fitBoxes(part, column);
	const shapes = [];
	let right = 0;
	let bottom = SIZE.edge;
	for (const nodes of components(part)) {
		const ends = place(nodes, column, bottom);
		const inside = new Set(nodes);
		const edges = nodes.flatMap((n) => n.out.filter((e) => inside.has(e.to)));
		let lanes = 0;
		edges.filter((e) => e.to.x <= e.from.x).forEach((e) => {
			e.lane = Math.min(lanes++, 8);
		});
		edges.sort((a, b) => (a.from.circle && a.to.circle) - (b.from.circle && b.to.circle));
		shapes.push(edges.map((e) => drawEdge(e, ends.bottom)), nodes.map((n) => drawNode(n, part, focus)));
		right = Math.max(right, ends.right);
		bottom = ends.bottom + (lanes ? 26 + Math.min(lanes, 9) * 12 : 0) + 30;
	}
	/* Room for edges that turn around. */
	const width = right + SIZE.edge + 2 * TURN;
	return svg('svg', {
		width, height: bottom, viewBox: `${-TURN} 0 ${width} ${bottom}`, role: 'group',
		'aria-label': 'Graph of who waits for whom',
		/* Made a little smaller where that makes it fit; never so small that it cannot be read. */
		style: { 'min-width': Math.ceil(0.92 * width) + 'px' },
	},
	svg('defs', null, tip('tip'), tip('tip-circle')), shapes.flat());
}

/* ---- the same in words ---- */

function edgeLine(e) {
	const name = (n) => (n.task >= 0 ? taskAnchor(n.task) : n.party
		? threadAnchor(n.thread, n.label) : code(n.label));
	const words = edgeWords.get(e.kind) || (e.kind === 'poll' ? 'polls' : e.kind === 'behind' ? 'behind'
		: 'waits for' + (e.to.party ? ' (' + e.kind.replace(/_/g, ' ') + ')' : ''));
	return el('li', null, name(e.from), ' ' + words + ' ', name(e.to),
		el('span.quiet', null, e.evidence ? [': ', linked(e.evidence)] : null,
			e.doubt ? ' – ' + doubtWords(e.doubt, e.from.out) : null));
}

/* Kinds of nodes that look alike, and what they are. */
const KEY = [
	[['task'], 'task'], [['lock'], 'lock, permits'], [['channel'], 'channel'],
	[['block_on', 'thread', 'runtime'], 'thread'],
	[['fork', 'arm', 'owner'], 'several at once'], [['set'], 'set of tasks'],
	[['wakers'], 'who can notify'],
];

const WORDS_OPEN = 40; /* edges */
const GRAPH_MOST = 90;
const GRAPH_MORE = 400;

/* around: a node, or nothing. */
function drawGraph(around, most) {
	const view = byId('view-graph');
	const part = choosePart(around, most || GRAPH_MOST);
	const edges = GRAPH.edges.filter((e) => part.has(e.from) && part.has(e.to));
	const shown = new Set(edges.flatMap((e) => [e.from, e.to]));
	const left = GRAPH.nodes.length - shown.size;
	refill(view, [
		el('div.bar', null,
			el('strong', null, around ? 'Around ' + around.label : 'Who waits for whom'),
			el('ul.key', null,
				KEY.filter(([kinds]) => [...shown].some((n) => kinds.includes(n.kind)))
					.map(([[kind], words]) => el('li.' + kind, null, words)),
				[...shown].some((n) => n.circle) ? el('li.circle', null, 'in a circle') : null,
				edges.some((e) => e.weak) ? el('li.weak', null, 'may end the wait') : null,
				[...shown].some((n) => n.outside && !n.party) ? el('li.outside', null,
					el('code', null, OUTSIDE), ' ' + OUTSIDE_WORDS) : null),
			around ? el('a', { href: '#graph' }, 'All of it') : null,
			el('output', null, left > 0 ? count(shown.size) + ' of ' + count(GRAPH.nodes.length) +
				' shown' : plural(shown.size, 'node')),
			part.size >= GRAPH_MOST && left > 0 && !most ? el('button', { type: 'button',
				on: { click: () => drawGraph(around, GRAPH_MORE) } }, 'Show more') : null),
		el('div.picture', { tabindex: '0', role: 'group', 'aria-label': 'Picture' },
			drawPicture(part, around)),
		el('details.words', { open: edges.length <= WORDS_OPEN }, el('summary', null, 'The same in words'),
			el('ul.plain', null, edges.slice(0, GRAPH_MORE).map(edgeLine))),
		data.graph_notes.length ? el('ul.plain.quiet', null,
			data.graph_notes.map((n) => el('li', null, n))) : null,
	]);
}

/* What a task waits for and who waits for it, as far as the graph has it. */
function aboutInGraph(task) {
	const n = nodeOfTask.get(task);
	if (!n || (!n.out.length && !n.into.length))
		return null;
	const most = 12;
	const lines = (edges) => edges.slice(0, most).map(edgeLine);
	const further = (edges) => (edges.length > most
		? el('li.quiet', null, 'and ' + count(edges.length - most) + ' more') : null);
	const holders = n.out.flatMap((e) => [e, ...(e.to.party ? [] : e.to.out)]);
	const waiters = n.into.flatMap((e) => [...(e.from.party ? [] : e.from.into), e]);
	return [
		holders.length ? [el('h3', null, 'Who it waits for'), el('ul.plain', null, lines(holders),
			further(holders))] : null,
		waiters.length ? [el('h3', null, 'Who waits for it'), el('ul.plain', null, lines(waiters),
			further(waiters))] : null,
		el('p', null, el('a', { href: graphLink(n) }, 'In the graph')),
	];
}
