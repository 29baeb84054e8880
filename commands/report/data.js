'use strict';
/*
 * The data of the report, understood. commands/report/report_*.c say what it is made of; this
 * file, graph.js and locks.js know the order of its numbers.
 *
 * Every string in it comes from the program that was looked at and may be hostile: it goes into
 * the page as text (dom.js), never as HTML.
 */

const data = JSON.parse(document.getElementById('data').textContent);
const strings = data.strings;
const tasks = data.tasks;
const taskCount = tasks.id.length;

/* ---- shapes: a future with all that is below it, without what differs from task to task ---- */

const SHAPE = {
	FUNCTION: 0, TYPE: 1, TYPE_SHORT: 2, FILE: 3, FILE_SHORT: 4, LINE: 5, AWAIT_POINT: 6,
	EDGE: 7, ALIASES: 8, WAIT: 9, BITS: 10, NCHILDREN: 11, COLUMNS: 12,
};
/* Of SHAPE.BITS above the enums. */
const BIT = {
	RUNNING: 1 << 8, DYN: 1 << 9, INFERRED: 1 << 10, UNCERTAIN: 1 << 11, WITHIN: 1 << 12,
	ANONYMOUS: 1 << 13, WAIT: 1 << 14, NOTE: 1 << 15, PROBLEM: 1 << 16, WRAPS: 1 << 17,
};
const BRANCH_POLLED = 0;
const OTHER = data.words.kind.length - 1;

const kindOf = (bits) => bits & 3;
const stateOf = (bits) => (bits >> 2) & 7;
const branchOf = (bits) => (bits >> 5) & 7;

/* How many detail numbers a future of these bits has itself. */
const detailsOf = (bits) =>
	(bits & BIT.WAIT ? 3 : 0) + (bits & BIT.NOTE ? 1 : 0) + (bits & BIT.PROBLEM ? 1 : 0);

/* Where each shape begins in data.shapes; children come before their parents. */
const shapeAt = (() => {
	const at = [];
	const rows = data.shapes;
	for (let i = 0; i < rows.length; i += SHAPE.COLUMNS + rows[i + SHAPE.NCHILDREN])
		at.push(i);
	return Uint32Array.from(at);
})();

const shapeColumn = (shape, column) => data.shapes[shapeAt[shape] + column];

/* A number for each shape from its own bits and from those of its children. */
function overShapes(array, combine) {
	for (let s = 0; s < shapeAt.length; s++) {
		const at = shapeAt[s] + SHAPE.COLUMNS;
		const n = shapeColumn(s, SHAPE.NCHILDREN);
		array[s] = combine(s, data.shapes, at, at + n, array);
	}
	return array;
}

/* How many detail numbers a tree has. */
const shapeDetails = overShapes(new Uint32Array(shapeAt.length), (s, rows, at, end, below) => {
	let n = detailsOf(shapeColumn(s, SHAPE.BITS));
	for (; at < end; at++)
		n += below[rows[at]];
	return n;
});

/*
 * What a tree waits for, by the shape of its root: leaves: all that a poll comes to, in their order,
 * as [kind of wait, where its phrase is]; kinds: of these, each once, none that is empty; phrases: where those of all its futures are, polled or
 * not. Where: the index among the tree's details; -1: it has none. See future_leaves().
 */
const shapeWaits = (() => {
	const known = [];
	return (root) => known[root] ||= (() => {
		const waits = { leaves: [], kinds: [], phrases: [] };
		let at = 0;
		const walk = (s, polled) => {
			const bits = shapeColumn(s, SHAPE.BITS);
			const phrase = bits & BIT.WAIT ? at : -1;
			const first = shapeAt[s] + SHAPE.COLUMNS;
			const leaves = waits.leaves.length;
			at += detailsOf(bits);
			if (phrase >= 0)
				waits.phrases.push(phrase);
			for (let i = 0; i < shapeColumn(s, SHAPE.NCHILDREN); i++) {
				const child = data.shapes[first + i];
				walk(child, polled && branchOf(shapeColumn(child, SHAPE.BITS)) === BRANCH_POLLED);
			}
			if (polled && waits.leaves.length === leaves)
				waits.leaves.push([strings[shapeColumn(s, SHAPE.WAIT)], phrase]);
		};
		walk(root, true);
		waits.kinds = [...new Set(waits.leaves.map(([kind]) => kind))].filter(Boolean);
		return waits;
	})();
})();

/* ---- trees ---- */

/*
 * The tree of a shape with its details, which begin at details[at]. Nodes are numbered as
 * asyncdbg numbers them: the root is 0, children follow their parent. below: with its children.
 */
function makeTree(shape, details, at, below) {
	let number = 0;
	const make = (s) => {
		const column = (c) => data.shapes[shapeAt[s] + c];
		const text = (c) => strings[column(c)];
		const bits = column(SHAPE.BITS);
		const f = {
			number: number++, bits, branch: branchOf(bits), kind: kindOf(bits),
			state: data.words.future[stateOf(bits)], fn: text(SHAPE.FUNCTION),
			type: text(SHAPE.TYPE), typeShort: text(SHAPE.TYPE_SHORT), file: text(SHAPE.FILE),
			fileShort: text(SHAPE.FILE_SHORT), line: column(SHAPE.LINE),
			awaitPoint: column(SHAPE.AWAIT_POINT) - 1, edge: text(SHAPE.EDGE),
			aliases: text(SHAPE.ALIASES), wait: null, note: '', problem: '', children: [],
		};
		if (bits & BIT.WAIT) {
			f.wait = {
				kind: text(SHAPE.WAIT), phrase: strings[details[at]],
				object: strings[details[at + 1]], task: strings[details[at + 2]] || '',
			};
			at += 3;
		}
		if (bits & BIT.NOTE)
			f.note = strings[details[at++]];
		if (bits & BIT.PROBLEM)
			f.problem = strings[details[at++]];
		const first = shapeAt[s] + SHAPE.COLUMNS;
		for (let i = 0; below && i < column(SHAPE.NCHILDREN); i++)
			f.children.push(make(data.shapes[first + i]));
		return f;
	};
	return make(shape);
}

/* Where the details of each task begin. */
const taskDetails = (() => {
	const at = new Uint32Array(taskCount + 1);
	for (let i = 0; i < taskCount; i++)
		at[i + 1] = at[i] + (tasks.shape[i] ? shapeDetails[tasks.shape[i] - 1] : 0);
	return at;
})();

/* The future of a task; null where it could not be read. */
function taskTree(task) {
	if (!tasks.shape[task])
		return null;
	return makeTree(tasks.shape[task] - 1, tasks.details, taskDetails[task], true);
}

const threadTree = (th) => (th.shape ? makeTree(th.shape - 1, th.details, 0, true) : null);

/* ---- tasks ---- */

const taskId = (task) => String(tasks.id[task]);
/* Is it a key, as the executor has no ids? It does not tell the age of its task. Such tasks come last. */
const hasKey = (task) => taskId(task).includes(':');
const taskState = (task) => data.words.task[tasks.state[task]];
const taskNotified = (task) => (tasks.flags[task] & 1) !== 0;
const taskChanged = (task) => (tasks.flags[task] & 2) !== 0;
const taskWaiting = (task) => strings[tasks.waiting[task]];
const taskAwaiting = (task) => strings[tasks.awaiting[task]];

function taskAddress(task) {
	const addr = tasks.addr[task];
	return typeof addr === 'number' ? '0x' + addr.toString(16) : addr || '';
}

/* The shape that says what a task is: of its root, unless that wraps another future, whose it is. */
function namedShape(shape) {
	for (;;) {
		const first = shapeAt[shape] + SHAPE.COLUMNS;
		const wraps = (shapeColumn(shape, SHAPE.BITS) & BIT.WRAPS) !== 0;
		const children = data.shapes.slice(first, first + shapeColumn(shape, SHAPE.NCHILDREN));
		const next = wraps ? children.find((s) => strings[shapeColumn(s, SHAPE.EDGE)] === 'await' &&
			branchOf(shapeColumn(s, SHAPE.BITS)) === BRANCH_POLLED) : undefined;
		if (next === undefined)
			return shape;
		shape = next;
	}
}

const shapeNames = [];

function shapeName(root) {
	const shape = namedShape(root);
	const other = kindOf(shapeColumn(shape, SHAPE.BITS)) === OTHER;
	return strings[shapeColumn(shape, other ? SHAPE.TYPE_SHORT : SHAPE.FUNCTION)];
}

/* What a task is called in a list: the function of what it is, else its type. */
const taskName = (task) => (tasks.shape[task] &&
	(shapeNames[tasks.shape[task] - 1] ??= shapeName(tasks.shape[task] - 1))) ||
	strings[tasks.type[task]] || '?';

const threadByNumber = new Map(data.threads.map((th) => [th.number, th]));

/* What the thread sits in that runs a task; null where it is none or sits in nothing. */
function threadWait(task) {
	const th = taskState(task) === 'running' ? threadByNumber.get(tasks.thread[task]) : null;
	return th ? th.wait : null;
}

const taskLeaves = (task) => (tasks.shape[task] ? shapeWaits(tasks.shape[task] - 1).leaves : []);

/* The kinds of all that it waits for, each once; none where nothing is known of it. */
function taskWaitKinds(task) {
	const sits = threadWait(task);
	if (sits)
		return sits.kind ? [sits.kind] : [];
	return tasks.shape[task] ? shapeWaits(tasks.shape[task] - 1).kinds : [];
}

/* The phrases of what it waits for, but for the first one, which taskWaiting() has. */
const taskAlsoWaiting = (task) => (threadWait(task) ? [] : taskLeaves(task).slice(1)
	.map(([, at]) => (at < 0 ? '' : strings[tasks.details[taskDetails[task] + at]])));

/* How many that are. */
const taskOthers = (task) => (threadWait(task) ? 0 : Math.max(0, taskLeaves(task).length - 1));

/*
 * Tasks by id. Two runtimes of different versions can have an id each: the second is "7~1" in
 * links.
 */
const tasksById = new Map();
const taskLinks = (() => {
	const again = new Map();
	for (let i = 0; i < taskCount; i++) {
		const id = taskId(i);
		if (tasksById.has(id)) {
			const n = (tasksById.get(id).again = (tasksById.get(id).again || 0) + 1);
			again.set(i, id + '~' + n);
			tasksById.set(id + '~' + n, { task: i });
		} else {
			tasksById.set(id, { task: i });
		}
	}
	return again;
})();

const taskLink = (task) => '#task-' + encodeURIComponent(taskLinks.get(task) || taskId(task));

/* -1 when there is none. */
function taskByLink(id) {
	const found = tasksById.get(id);
	return found ? found.task : -1;
}

/* The variables of a frame; of a thread where task is -1. */
const localsOf = (() => {
	const COLUMNS = 8;
	const rows = data.locals || [];
	let byFrame = null;
	return (task, thread, frame) => {
		if (!byFrame) {
			byFrame = new Map();
			for (let i = 0; i < rows.length; i += COLUMNS) {
				const key = rows[i] + '/' + rows[i + 1] + '/' + rows[i + 2];
				if (!byFrame.has(key))
					byFrame.set(key, []);
				byFrame.get(key).push(i);
			}
		}
		const found = byFrame.get((task + 1) + '/' + thread + '/' + frame) || [];
		return found.map((i) => ({
			name: strings[rows[i + 3]], type: strings[rows[i + 4]], value: strings[rows[i + 5]],
			argument: (rows[i + 6] & 1) !== 0, uncertain: (rows[i + 6] & 2) !== 0,
			passedIn: (rows[i + 6] & 4) !== 0, mayBeLost: (rows[i + 6] & 8) !== 0,
			mayBeUnset: (rows[i + 6] & 16) !== 0, mayBeStale: (rows[i + 6] & 32) !== 0,
			problem: strings[rows[i + 7]],
		}));
	};
})();

/* How many futures a tree has. */
const shapeFrames = overShapes(new Uint32Array(shapeAt.length), (s, rows, at, end, below) => {
	let n = 1;
	for (; at < end; at++)
		n += below[rows[at]];
	return n;
});

const runtimeName = (r) => 'runtime ' + r.index + (r.name ? ' "' + r.name + '"' : '') + ', ' + (r.flavor || r.kind);

/* ---- groups: tasks that look alike, as asyncdbg made them ---- */

const groups = data.groups.map((numbers, index) => {
	const states = data.words.task.length;
	const [example, size, oldest, newest] = numbers;
	return {
		index, example, count: size, oldest, newest,
		states: numbers.slice(4, 4 + states), nodes: numbers.slice(4 + states),
	};
});

/* What the trees of a group have in common, as a tree: see makeTree(). null where they have none. */
function groupTree(group) {
	const COLUMNS = 5;
	const path = [];
	for (const [number, node] of group.nodes.entries()) {
		const [shape, depth, wait, , futures] = data.group_nodes.slice(node * COLUMNS,
			(node + 1) * COLUMNS);
		if (!shape)
			return null;
		const f = makeTree(shape - 1, [], 0, false);
		f.number = number;
		f.futures = futures;
		if (f.wait)
			f.wait.phrase = strings[wait];
		path.length = depth;
		path[depth] = f;
		if (depth)
			path[depth - 1].children.push(f);
	}
	return path[0];
}

/* What they wait for, as asyncdbg's `tasks` says it of one; numbers as "3-18" where they differ. */
function groupWaiting(group) {
	if (group.waiting === undefined) {
		let f = group.count > 1 ? groupTree(group) : null;
		for (let next = f; next; next = f.children.find((c) => c.branch === BRANCH_POLLED))
			f = next;
		group.waiting = !f || !f.wait || !f.wait.phrase ? taskWaiting(group.example)
			: f.bits & BIT.ANONYMOUS && f.typeShort ? f.typeShort + ': ' + f.wait.phrase
				: f.wait.phrase;
	}
	return group.waiting;
}
