/* What tasks and threads have that others wait for, by lock and channel. */

const ROLES = ['held by', 'sender', 'receiver', 'known to', 'a possible guard'];

const holdings = (() => {
	const COLUMNS = 15;
	const rows = data.holdings;
	const list = [];
	for (let i = 0; i < rows.length; i += COLUMNS)
		list.push({
			role: rows[i], kind: strings[rows[i + 1]], type: strings[rows[i + 2]],
			addr: strings[rows[i + 3]], object: strings[rows[i + 4]], task: rows[i + 5] - 1,
			thread: rows[i + 6], frame: rows[i + 7] - 1, path: strings[rows[i + 8]],
			place: strings[rows[i + 9]] + (rows[i + 10] ? ':' + rows[i + 10] : ''),
			declared: (rows[i + 11] & 1) !== 0, granted: (rows[i + 11] & 2) !== 0,
			partial: (rows[i + 11] & 4) !== 0, permits: rows[i + 12],
			doubt: strings[rows[i + 13]], places: rows[i + 14],
		});
	return list;
})();

/* Holdings by object and role: of a channel its senders, and its receivers. */
const holdingsAlike = new Map();
for (const h of holdings) {
	const key = h.object + ' ' + h.role;
	if (!holdingsAlike.has(key))
		holdingsAlike.set(key, []);
	holdingsAlike.get(key).push(h);
}

/* What it is to its owner: permits may have been given to a future that has not run since. */
const roleOf = (h) => h.partial ? 'in part given to' : h.granted ? 'given to' : ROLES[h.role];

/*
 * Why it may not be so, as the graph says it; '' where it is certain. Of several places of one owner
 * it is in one.
 */
const doubtOf = (h) => [h.places > 1 ? 'one of ' + count(h.places) + ' places' : '',
	doubtWords(h.doubt, holdingsAlike.get(h.object + ' ' + h.role))].filter(Boolean).join(', ');

const holdingsOfTask = (() => {
	const byTask = new Map();
	for (const h of holdings.filter((h) => !h.partial)) {
		if (!byTask.has(h.task))
			byTask.set(h.task, []);
		byTask.get(h.task).push(h);
	}
	return (task) => byTask.get(task) || [];
})();

/* Calls found(task, kind, object, phrase), all numbers of strings, for each wait with an object. */
function overWaits(found) {
	const walk = (s, task, at) => {
		const bits = shapeColumn(s, SHAPE.BITS);
		if (bits & BIT.WAIT && tasks.details[at + 1])
			found(task, shapeColumn(s, SHAPE.WAIT), tasks.details[at + 1], tasks.details[at]);
		at += detailsOf(bits);
		const first = shapeAt[s] + SHAPE.COLUMNS;
		for (let i = 0; i < shapeColumn(s, SHAPE.NCHILDREN); i++)
			at = walk(data.shapes[first + i], task, at);
		return at;
	};
	for (let task = 0; task < taskCount; task++) {
		if (tasks.shape[task])
			walk(tasks.shape[task] - 1, task, taskDetails[task]);
	}
}

/* Locks and channels with who has and who wants them; those that most wait for come first. */
function findObjects() {
	const byObject = new Map();
	const get = (object, kind) => {
		if (!byObject.has(object))
			byObject.set(object, { object, kind, has: [], wants: [] });
		return byObject.get(object);
	};
	/* Who can end a wait before those who wait as well: in the order of roles. */
	for (const h of [...holdings].sort((a, b) => a.role - b.role))
		get(h.object, h.kind).has.push(h);
	overWaits((task, kind, object, phrase) => {
		const o = byObject.get(strings[object]);
		if (o)
			o.wants.push({ task, phrase: strings[phrase] });
	});
	return [...byObject.values()].sort((a, b) => b.wants.length - a.wants.length ||
		b.has.length - a.has.length);
}

const kindWords = (kind) => kind.replace(/_/g, ' ');

/* What locks and channels are called in the graph: "Mutex 0x7f00 (`name`)", by address. */
const objectLabels = new Map(GRAPH.all.filter((n) => n.object).map((n) => [n.object, n.label]));

/* "Mutex" and, where the program has a name for it, that. */
function objectWords(o) {
	const m = (objectLabels.get(o.object) || '').match(/^(.*?) 0x[0-9a-f]+(?: \(`(.*)`\))?$/s);
	return m ? [m[1], m[2] || ''] : [kindWords(o.kind), ''];
}

const objectLine = (o, key, open) => ({
	key, level: 1, open, style: '.group', object: o, letters: objectWords(o).join().length + 16,
	render: () => {
		const [what, name] = objectWords(o);
		return [el('span.id', null, what), name ? code(name, '.name') : null,
			code(o.object || 'of unknown address', name ? '.quiet' : '.name')];
	},
	cells: () => ['', el('span.wait', null, [o.has.length && plural(o.has.length, 'place') + ' with it',
		o.wants.length && plural(o.wants.length, 'task') + ' waiting'].filter(Boolean).join(', '))],
});

const ownerOf = (h) => (h.task >= 0 ? taskAnchor(h.task) : h.thread
	? threadAnchor(h.thread) : 'unknown');

const holderLine = (h, key) => ({
	key, level: 2, holding: h, style: '.frame', letters: (h.path || '').length + 12, place: h.place,
	render: () => [el('span.role', null, roleOf(h)), ownerOf(h), code(h.path || '', '.name')],
	cells: () => [placeText(h.place), el('span.quiet', null,
		[h.permits > 1 ? plural(h.permits, 'permit') : '', doubtOf(h)].filter(Boolean).join(', '))],
});

const waiterLine = (w, key) => ({
	key, level: 2, waiter: w, style: '.frame', letters: taskName(w.task).length + 12,
	place: taskAwaiting(w.task),
	render: () => [el('span.role', null, 'waits'), taskAnchor(w.task), nameText(taskName(w.task), '.name')],
	cells: () => [placeText(taskAwaiting(w.task)), el('span.wait', null, w.phrase)],
});

class LockList {
	constructor() {
		this.objects = findObjects();
		this.open = new Set(this.objects.slice(0, 12).filter((o) => o.wants.length &&
			o.has.length + o.wants.length < 20).map((o, i) => 'o' + i));
		this.list = new Rows(byId('lock-list'), {
			label: 'Locks and channels', head: ['What', 'At', 'Who'],
			toggle: (row, open) => {
				if (open)
					this.open.add(row.key);
				else
					this.open.delete(row.key);
				this.refresh();
			},
			styles: ['place', 'what'], panel: byId('lock-about'),
			about: (row) => (row.holding ? aboutHolding(row.holding)
				: row.waiter ? aboutTask(row.waiter.task) : aboutObject(row.object)),
			empty: () => 'No locks or channels were found.',
		});
		this.refresh();
	}

	refresh() {
		const rows = [];
		this.objects.forEach((o, i) => {
			const key = 'o' + i;
			rows.push(objectLine(o, key, this.open.has(key)));
			if (!this.open.has(key))
				return;
			o.has.forEach((h, k) => rows.push(holderLine(h, key + 'h' + k)));
			o.wants.forEach((w, k) => rows.push(waiterLine(w, key + 'w' + k)));
		});
		this.list.set(rows);
	}
}

const aboutObject = (o) => [
	el('h2', null, objectWords(o)[0]),
	el('dl', null, fact('Called', objectWords(o)[1] && code(objectWords(o)[1])),
		fact('Address', o.object && code(o.object)),
		fact('Found with', plural(o.has.length, 'place')), fact('Waiting', plural(o.wants.length, 'task'))),
	o.has.length ? null : el('p.quiet', null, 'Nobody was found that has it.'),
	data.unsearched.length ? [el('h3', null, 'Not searched'),
		el('ul.plain', null, data.unsearched.slice(0, 50).map((n) => el('li', null, n)))] : null,
];

const aboutHolding = (h) => [
	el('h2', null, code(h.path || h.kind)),
	h.places > 1 ? el('p.problem', null, 'It is in one of ' + count(h.places) + ' places of ' +
		(h.task >= 0 ? 'this task.' : 'this thread.')) : null,
	h.doubt ? el('p.problem', null, capital(h.doubt) + '.') : null,
	el('dl', null,
		fact('Role', roleOf(h)), fact('Of', ownerOf(h), h.frame > 0 ? ', frame ' + h.frame : null),
		fact(h.declared ? 'Declared' : 'Awaited', h.place && code(h.place)),
		fact('Kind', kindWords(h.kind)), fact('Object', h.object && code(h.object)),
		fact('Permits', h.permits ? count(h.permits) : null),
		fact('Lies at', h.addr && code(h.addr)), fact('Type', h.type && code(h.type))),
];

/* What a task has, for the panel about it. */
function aboutHeld(task) {
	const held = holdingsOfTask(task);
	const most = 20;
	return held.length ? [el('h3', null, 'Has'), el('ul.plain', null,
		held.slice(0, most).map((h) => el('li', null, h.role ? ROLES[h.role] + ' of ' : '',
			kindWords(h.kind), ' ', code(h.object || ''), h.path ? [' in ', code(h.path)] : null,
			el('span.quiet', null, (h.place ? ' at ' + h.place : '') +
				(h.doubt ? ', ' + doubtOf(h) : '')))),
		held.length > most ? el('li.quiet', null, 'and ' + (held.length - most) + ' more') : null)] : null;
}
