/* The list of tasks: searched, grouped, each with its tree. */

const GROUP_FROM = 50;   /* tasks: grouping is the default above, as on a terminal */
const UNFOLD_MOST = 20000; /* lines that "Expand all" may come to */
const SHOW_OPEN = 150;   /* shapes' lines: as few as that are open from the start */

/* ---- lines ---- */

const stateDot = (state) => el('span.state.' + state, null, state);

/* As `tasks` says it: the first of what it waits for, and how much more there is. */
const waitText = (text, others) => (text && others
	? el('span.waits', null, el('span.wait', null, text), el('span.quiet', null, '+' + others + ' more'))
	: el('span.wait', null, text));

function taskLine(task, level, open) {
	const changed = taskChanged(task);
	return {
		key: 't' + task, level, open, task, place: taskAwaiting(task),
		letters: taskName(task).length + (changed ? 10 : 0),
		render: () => [
			el('span.id', null, 'Task ' + taskId(task)), nameText(taskName(task), '.name'),
		],
		tags: changed ? () => el('span.tag', { title: 'It changed while it was read' }, 'changed') : null,
		cells: () => [
			stateDot(taskState(task)),
			placeText(taskAwaiting(task)),
			tasks.problem[task] ? el('span.problem', null, strings[tasks.problem[task]])
				: waitText(taskWaiting(task), taskOthers(task)),
		],
	};
}

function groupLine(group, members, open) {
	const example = group.example;
	const all = members.length === group.count;
	return {
		key: 'g' + group.index, level: 1, open, group, members, style: '.group',
		letters: taskName(example).length, place: taskAwaiting(example),
		render: () => [
			el('span.count', { title: plural(group.count, 'task') + ' alike' },
				all ? count(group.count) : count(members.length) + ' of ' + count(group.count)),
			nameText(taskName(example), '.name'),
		],
		cells: () => [
			group.states.map((n, s) => (n ? el('span.state.' + data.words.task[s], null,
				n === group.count ? data.words.task[s] : count(n),
				n === group.count ? null : el('span.sr', null, ' ' + data.words.task[s])) : null)),
			placeText(taskAwaiting(example)),
			waitText(groupWaiting(group), taskOthers(group.example)),
		],
	};
}

const membersLine = (group, members, open) => ({
	key: 'g' + group.index + 'm', level: 2, open, group, members, style: '.members', letters: 20,
	render: () => [el('span', null, members.length === group.count
		? 'All ' + plural(members.length, 'task') : plural(members.length, 'task') + ' found')],
	cells: () => ['', '', el('span.quiet', null, members.length > 1 && !hasKey(members[members.length - 1])
		? 'oldest ' + taskId(members[0]) + ', newest ' + taskId(members[members.length - 1]) : '')],
});

/* ---- the list ---- */

class TaskList {
	constructor() {
		this.query = '';
		this.states = new Set();
		this.open = new Set();   /* keys of tasks and groups */
		this.closed = new Set(); /* keys of forks */
		this.grouped = taskCount > GROUP_FROM;
		this.found = searchTasks('', this.states);
		this.list = new Rows(byId('task-list'), {
			label: 'Tasks', head: ['Task and its futures', 'State', 'At', 'Waiting for'],
			styles: ['states', 'place', 'what'],
			toggle: (row, open) => this.toggle(row, open),
			about: aboutLine, panel: byId('task-about'),
			empty: () => (taskCount ? 'No task is like that.' : noTasks()),
		});
		byId('task-list').classList.toggle('mixed', groups.some((g) =>
			g.states.filter(Boolean).length > 1));
		this.controls();
		if (taskCount <= SHOW_OPEN && this.lines() <= SHOW_OPEN)
			this.all(true);
		this.refresh();
	}

	controls() {
		const input = byId('query');
		const grouped = byId('grouped');
		input.addEventListener('input', () => this.search(input.value));
		input.addEventListener('keydown', (e) => {
			if (e.key === 'ArrowDown' || e.key === 'Enter') {
				e.preventDefault();
				this.list.tree.focus();
				this.list.select(Math.max(0, this.list.at));
			}
		});
		grouped.checked = this.grouped;
		grouped.addEventListener('change', () => {
			this.grouped = grouped.checked;
			this.refresh();
		});
		byId('unfold').addEventListener('click', () => this.all(true) && this.refresh());
		byId('fold').addEventListener('click', () => this.all(false) && this.refresh());
		this.chips();
	}

	/* A switch for each state that tasks have, when they have several. */
	chips() {
		const counts = new Map();
		for (let task = 0; task < taskCount; task++)
			counts.set(taskState(task), (counts.get(taskState(task)) || 0) + 1);
		if (counts.size < 2)
			return;
		byId('states').append(...[...counts].map(([state, n]) => el('button.chip', {
			type: 'button', 'aria-pressed': 'false', 'data-state': state,
			on: { click: (e) => this.pick(state, e.currentTarget) },
		}, stateDot(state), ' ' + count(n))));
	}

	pick(state, button) {
		const on = !this.states.delete(state);
		if (on)
			this.states.add(state);
		button.setAttribute('aria-pressed', on);
		this.search(this.query);
	}

	search(query) {
		this.query = query;
		this.found = searchTasks(query, this.states);
		this.list.tree.scrollTop = 0;
		this.refresh();
	}

	/* What the list shows of everything: for a jump to a task that the search hides. */
	clear() {
		byId('query').value = '';
		this.states.clear();
		for (const chip of byId('states').children)
			chip.setAttribute('aria-pressed', 'false');
		this.search('');
	}

	toggle(row, open) {
		const set = row.frame ? this.closed : this.open;
		if (row.frame ? !open : open)
			set.add(row.key);
		else
			set.delete(row.key);
		this.refresh();
	}

	/* How many lines all of them open come to; a bound on the work is enough. */
	lines() {
		let n = 0;
		for (let i = 0; i < this.found.length && n <= UNFOLD_MOST; i++)
			n += 1 + (tasks.shape[this.found[i]] ? shapeFrames[tasks.shape[this.found[i]] - 1] : 0);
		return n;
	}

	/* Opens or closes all that is found. Too many: the groups alone. */
	all(open) {
		this.open.clear();
		this.closed.clear();
		if (!open)
			return true;
		if (this.grouped)
			groups.forEach((g) => this.open.add('g' + g.index));
		else if (this.lines() <= UNFOLD_MOST)
			this.found.forEach((task) => this.open.add('t' + task));
		return true;
	}

	addTask(rows, task, level) {
		const tree = tasks.shape[task] !== 0;
		const open = tree ? this.open.has('t' + task) : undefined;
		rows.push(taskLine(task, level, open));
		if (open)
			addFrames(rows, taskTree(task), { task }, level + 1, 't' + task, this.closed);
	}

	addGroup(rows, group, members) {
		const key = 'g' + group.index;
		if (group.count === 1) {
			this.addTask(rows, members[0], 1);
			return;
		}
		const open = this.open.has(key);
		rows.push(groupLine(group, members, open));
		if (!open)
			return;
		const tree = groupTree(group);
		if (tree)
			addFrames(rows, tree, { group }, 2, key, this.closed);
		rows.push(membersLine(group, members, this.open.has(key + 'm')));
		if (this.open.has(key + 'm'))
			members.forEach((task) => this.addTask(rows, task, 3));
	}

	refresh() {
		const rows = [];
		if (this.grouped) {
			const members = groups.map(() => []);
			this.found.forEach((task) => members[tasks.group[task]].push(task));
			groups.filter((g) => members[g.index].length)
				.sort((a, b) => members[b.index].length - members[a.index].length ||
					a.index - b.index)
				.forEach((g) => this.addGroup(rows, g, members[g.index]));
		} else {
			this.found.forEach((task) => this.addTask(rows, task, 1));
		}
		this.list.set(rows);
		this.tell();
	}

	tell() {
		const n = this.found.length;
		byId('found').textContent = n === taskCount ? plural(n, 'task')
			: count(n) + ' of ' + plural(taskCount, 'task');
		byId('unfold').disabled = !this.grouped && this.lines() > UNFOLD_MOST;
		byId('unfold').title = byId('unfold').disabled ? 'Too many lines: search first' : '';
	}

	/* Shows a task with its tree open. */
	jump(task) {
		if (!this.found.includes(task))
			this.clear();
		this.open.add('t' + task);
		if (this.grouped) {
			this.open.add('g' + tasks.group[task]);
			this.open.add('g' + tasks.group[task] + 'm');
		}
		this.refresh();
		this.list.reveal('t' + task);
	}

	/* The same for a group. */
	jumpGroup(index) {
		if (groups[index].count === 1) {
			this.jump(groups[index].example);
			return;
		}
		this.clear();
		this.grouped = byId('grouped').checked = true;
		this.open.add('g' + index);
		this.refresh();
		this.list.reveal('g' + index);
	}
}

const aboutLine = (row) => (row.frame ? aboutFrame(row.frame, row.owner)
	: row.task !== undefined ? aboutTask(row.task) : aboutGroup(row.group));

const ALSO_MOST = 12;

/* What else it waits for, a line each. */
function alsoWaiting(task) {
	const phrases = taskAlsoWaiting(task);
	const lines = phrases.slice(0, ALSO_MOST).map((p) => el('li', null, p ? linked(p)
		: 'what nothing is known of'));
	if (phrases.length > ALSO_MOST)
		lines.push(el('li.quiet', null, 'and ' + count(phrases.length - ALSO_MOST) + ' more'));
	return lines.length ? el('ul.plain', null, lines) : null;
}

function aboutTask(task) {
	const runtime = data.runtimes[tasks.runtime[task]];
	return [
		el('h2', null, 'Task ' + taskId(task)),
		el('p', null, stateDot(taskState(task)),
			taskNotified(task) ? el('span.quiet', null, ' and woken meanwhile') : null),
		tasks.problem[task] ? el('p.problem', null, strings[tasks.problem[task]]) : null,
		taskChanged(task) ? el('p.problem', null,
			'It changed while it was read: parts of it may not fit together.') : null,
		el('dl', null,
			fact('Waits for', linked(taskWaiting(task))),
			fact('And for', alsoWaiting(task)),
			fact('At', taskAwaiting(task) && code(taskAwaiting(task))),
			fact('Runs on', tasks.thread[task] && threadAnchor(tasks.thread[task])),
			fact('Runtime', runtime && runtimeName(runtime)),
			fact('LocalSet', tasks.local_set[task] && code(strings[tasks.local_set[task]])),
			fact('Alike', groups[tasks.group[task]].count > 1 &&
				el('a', { href: '#group-' + tasks.group[task] },
					plural(groups[tasks.group[task]].count, 'task'))),
			fact('Header', taskAddress(task) && code(taskAddress(task))),
			fact('Type', tasks.type[task] && code(strings[tasks.type[task]])),
			fact('Link', el('a', { href: taskLink(task) }, taskLink(task)))),
		aboutHeld(task),
		aboutInGraph(task),
	];
}

function aboutGroup(group) {
	return [
		el('h2', null, plural(group.count, 'task') + ' alike'),
		el('p', null, code(taskName(group.example))),
		el('dl', null,
			fact('States', group.states.map((n, s) => n && [stateDot(data.words.task[s]), ' ',
				count(n), ' ']).filter(Boolean)),
			fact('Oldest', !hasKey(group.newest) && taskAnchor(group.oldest)),
			fact('Newest', !hasKey(group.newest) && taskAnchor(group.newest)),
			fact('At', taskAwaiting(group.example) && code(taskAwaiting(group.example))),
			fact('Wait for', groupWaiting(group))),
		el('p.quiet', null, 'They have the same functions, lines and branches, and wait for the ' +
			'same kind of thing.'),
	];
}
