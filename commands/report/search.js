/*
 * Search: words that all must be found, "-word" that must not, "field:word" in one place only.
 * Each word is looked for once in each string and once in each shape, however many tasks there are.
 */

const lowerStrings = [];
const lower = (i) => (lowerStrings[i] ??= strings[i].toLowerCase());

/* A query as terms: { text, field, not }. Quotes keep blanks. */
function parseQuery(query) {
	const terms = [];
	for (const [, not, field, quoted, plain] of query.matchAll(
		/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)) {
		const text = (quoted ?? plain).toLowerCase();
		if (!text)
			continue;
		if (field && !Object.hasOwn(FIELDS, field))
			terms.push({ not: not !== '', field: '', text: field + ':' + text });
		else
			terms.push({ not: not !== '', field: field || '', text });
	}
	return terms;
}

/* Which shapes have it in themselves or below. */
function shapesWith(text, columns, withPlace) {
	return overShapes(new Uint8Array(shapeAt.length), (s, rows, at, end, below) => {
		for (const c of columns) {
			if (lower(shapeColumn(s, c)).includes(text))
				return 1;
		}
		const line = shapeColumn(s, SHAPE.LINE);
		if (withPlace && line && (lower(shapeColumn(s, SHAPE.FILE_SHORT)) + ':' + line).includes(text))
			return 1;
		for (; at < end; at++) {
			if (below[rows[at]])
				return 1;
		}
		return 0;
	});
}

/* Which strings have it. */
function stringsWith(text) {
	const has = new Uint8Array(strings.length);
	for (let i = 0; i < strings.length; i++)
		has[i] = lower(i).includes(text) ? 1 : 0;
	return has;
}

const inShapes = (columns, withPlace) => (text) => {
	const has = shapesWith(text, columns, withPlace);
	return (task) => tasks.shape[task] !== 0 && has[tasks.shape[task] - 1] === 1;
};

/*
 * "wait:none"; "wait:=mutex": it waits for that kind itself; "wait:mutex": the text is in the kind or
 * the phrase of any of its futures, as in `tasks --with waiting_on`.
 */
function waitsFor(text) {
	if (text === 'none')
		return (task) => taskWaitKinds(task).length === 0;
	if (text.startsWith('='))
		return (task) => taskWaitKinds(task).some((kind) => kind.toLowerCase() === text.slice(1));
	/* Kinds are shown with blanks. */
	const kinds = shapesWith(text.replace(/ /g, '_'), [SHAPE.WAIT], false);
	const has = stringsWith(text);
	return (task) => has[tasks.waiting[task]] || (tasks.shape[task] !== 0 &&
		(kinds[tasks.shape[task] - 1] === 1 || shapeWaits(tasks.shape[task] - 1).phrases
			.some((at) => has[tasks.details[taskDetails[task] + at]])));
}

/* By field: what makes a test of a task from a term's text. */
const FIELDS = {
	id: (text) => (task) => taskId(task) === text,
	task: (text) => (task) => taskId(task) === text,
	state: (text) => (task) => taskState(task) === text,
	wait: waitsFor,
	runtime: (text) => (task) => String(tasks.runtime[task]) === text,
	thread: (text) => (task) => String(tasks.thread[task]) === text,
	fn: inShapes([SHAPE.FUNCTION], false),
	file: inShapes([SHAPE.FILE_SHORT], true),
	type: inShapes([SHAPE.TYPE], false),
	is: (text) => (task) =>
		(text === 'changed' && taskChanged(task)) || (text === 'notified' && taskNotified(task)) ||
		(text === 'problem' && tasks.problem[task] !== 0),
};

function anywhere(text) {
	const columns = [SHAPE.FUNCTION, SHAPE.TYPE_SHORT, SHAPE.FILE_SHORT, SHAPE.ALIASES, SHAPE.WAIT];
	const shapes = shapesWith(text, columns, true);
	const has = stringsWith(text);
	const address = text.startsWith('0x');
	return (task) => {
		if (taskId(task).includes(text) || has[tasks.waiting[task]] || has[tasks.problem[task]])
			return true;
		if (tasks.shape[task] && shapes[tasks.shape[task] - 1])
			return true;
		for (let i = taskDetails[task]; i < taskDetails[task + 1]; i++) {
			if (has[tasks.details[i]])
				return true;
		}
		return address && taskAddress(task).includes(text);
	};
}

/* The tasks that a query and a set of states (empty: all) let through, in their order. */
function searchTasks(query, states) {
	const tests = parseQuery(query).map((term) => {
		const test = (FIELDS[term.field] || anywhere)(term.text);
		return term.not ? (task) => !test(task) : test;
	});
	if (states.size)
		tests.push((task) => states.has(taskState(task)));
	const found = [];
	for (let task = 0; task < taskCount; task++) {
		if (tests.every((test) => test(task)))
			found.push(task);
	}
	return found;
}
