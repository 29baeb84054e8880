/* The first page: what was looked at, what is wrong, how much there is of what. */

/* How many tasks have each value of a function that gives a list of different ones, most first. */
function tally(of) {
	const counts = new Map();
	for (let task = 0; task < taskCount; task++) {
		for (const value of of(task))
			counts.set(value, (counts.get(value) || 0) + 1);
	}
	return [...counts].sort((a, b) => b[1] - a[1]);
}

/*
 * A list of bars; each leads to the tasks that a query finds. entries: [name, n, link, class]. apart:
 * no task is in two of them.
 */
function bars(entries, most, rest, apart) {
	const longest = entries.reduce((max, e) => Math.max(max, e[1]), 1);
	const left = entries.slice(most);
	return [
		el('ul.bars', null, entries.slice(0, most).map(([name, n, link, style]) =>
			el('li', null, el('a', { href: link },
				el('span.bar-name', null, typeof name === 'string' ? el('span', null, name) : name), el('span.bar-count', null, count(n)),
				el('span.bar-track', { 'aria-hidden': 'true' }, el('span.bar-fill' + (style || ''),
					{ style: { width: Math.max(0.5, (100 * n) / longest) + '%' } })))))),
		left.length ? el('p.quiet', null, 'and ' + plural(left.length, rest) +
			(apart ? ' with ' + plural(left.reduce((sum, e) => sum + e[1], 0), 'task') : '')) : null,
	];
}

const queryLink = (query) => '#tasks?' + encodeURIComponent(query);
const quoted = (text) => (/\s/.test(text) ? '"' + text + '"' : text);

const card = (style, title, ...content) =>
	el('section.card.' + style, null, el('h2', null, title), ...content);

function statesCard() {
	if (!taskCount)
		return null;
	const states = tally((task) => [taskState(task)]);
	return card('small', 'Tasks',
		el('p.big', null, count(taskCount), groups.length ? el('span.quiet', null, ' in ' +
			plural(groups.length, 'kind')) : null),
		el('div.stack', { 'aria-hidden': 'true' }, states.map(([state, n]) =>
			el('span.' + state, { style: { 'flex-grow': n } }))),
		el('ul.legend', null, states.map(([state, n]) => el('li', null,
			el('a', { href: queryLink('state:' + state) }, stateDot(state), ' ' + count(n))))));
}

function waitsCard() {
	let several = 0;
	const waits = tally((task) => {
		const kinds = taskWaitKinds(task);
		several += kinds.length > 1;
		return kinds.length ? kinds : [''];
	}).map(([kind, n]) => [kind ? kind.replace(/_/g, ' ') : 'nothing known', n,
		queryLink('wait:' + (kind ? quoted('=' + kind) : 'none'))]);
	return waits.length ? card('tall', 'Waiting for', bars(waits, 8, 'other kind', !several),
		several ? el('p.quiet', null, plural(several, 'task') + (several === 1 ? ' waits' : ' wait') +
			' for several and count in each.') : null) : null;
}

function groupsCard() {
	if (!groups.length)
		return null;
	const entries = groups.map((g) => [[nameText(taskName(g.example), '.name'),
		el('span.quiet', null, taskAwaiting(g.example))], g.count, '#group-' + g.index]);
	return card('tall', 'Largest groups', bars(entries, 8, 'other kind', true));
}

const STUCK_MOST = 4;

function threadsCard() {
	const roles = new Map();
	for (const th of data.threads) {
		const role = th.role === 'other' ? 'in no runtime' : th.role;
		roles.set(role, (roles.get(role) || 0) + 1);
	}
	const stuck = data.threads.filter((th) => th.wait);
	return card('small', 'Threads',
		el('p.big', null, count(data.threads.length)),
		el('ul.legend', null, [...roles].map(([role, n]) => el('li', null, count(n) + ' ' + role))),
		stuck.length ? el('ul.plain.brief', null, stuck.slice(0, STUCK_MOST).map((th) => el('li', null,
			threadAnchor(th.number), ': ', el('span.wait', null, th.wait.phrase)))) : null,
		stuck.length > STUCK_MOST ? el('p.quiet', null, 'and ' + count(stuck.length - STUCK_MOST) +
			' more') : null);
}

function runtimesCard() {
	if (!data.runtimes.length)
		return null;
	const cell = (v) => el('td', null, v === null || v === undefined ? '–' : String(v));
	const heads = ['Runtime', 'Flavor', 'Workers', 'Tasks', 'Injected', 'Blocking', 'Version'];
	return el('section.card.wide', null, el('h2', null, 'Runtimes'),
		el('div.scroll', { tabindex: '0', role: 'group', 'aria-label': 'Runtimes' }, el('table', null,
			el('thead', null, el('tr', null, heads.map((h) => el('th', { scope: 'col' }, h)))),
			el('tbody', null, data.runtimes.map((r) => el('tr', null,
				el('th', { scope: 'row' }, r.index + (r.name ? ' ' + r.name : '')), cell(r.flavor || r.kind),
				cell(r.workers), el('td', null, el('a', { href: queryLink('runtime:' + r.index) },
					r.tasks === null ? '–' : count(r.tasks) + (r.local_set_tasks ? ' and ' +
						count(r.local_set_tasks) + ' of LocalSets' : ''))),
				cell(r.injection_queue_len),
				cell(r.blocking_threads === null ? null : r.blocking_threads + ' (' +
					r.blocking_idle + ' idle, ' + r.blocking_queued + ' queued)'),
				cell(r.version)))))));
}

const UNSEARCHED_MOST = 30;

function notesCard() {
	const how = data.reading.how === 'stopped' ? null
		: 'The process was not stopped while it was read: what changed meanwhile is marked.';
	const notes = [...(how ? [how] : []), ...data.notes, ...data.graph_notes];
	const unsearched = data.unsearched.slice(0, UNSEARCHED_MOST);
	if (data.unsearched.length > UNSEARCHED_MOST)
		unsearched.push('and ' + plural(data.unsearched.length - UNSEARCHED_MOST, 'other place'));
	/* Where nothing but notes was found, they are on top: see nothingFound(). */
	if (!taskCount && !data.verdicts.length)
		return null;
	return el('section.card.wide.notes', { id: 'missing' }, el('h2', null,
		data.complete ? 'Notes' : 'What is missing'),
		notes.length ? el('ul.plain', null, notes.map((n) => el('li', null, n)))
			: el('p.quiet', null, data.complete ? 'Nothing that was asked for is missing.'
				: 'Some things could not be read; each says why where it is.'),
		unsearched.length ? [el('h3', null, 'Not searched for who holds what'),
			el('ul.plain', null, unsearched.map((n) => el('li', null, n)))] : null);
}

function headline() {
	const t = data.target;
	const name = t.command || (t.exe || '').split('/').pop() || 'process ' + t.pid;
	const when = new Date(data.written * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC');
	document.title = name + ' – asyncdbg report';
	byId('program').textContent = name;
	return [
		el('h1', null, name),
		el('dl.facts', null,
			fact(t.kind === 'core' ? 'Core' : 'Process', t.kind === 'core'
				? code(t.core || '?') : String(t.pid)),
			t.kind === 'core' ? fact('Process', String(t.pid)) : null,
			fact('Snapshot', t.saved_file && [code(t.saved_file),
				t.saved_when ? ', saved ' + t.saved_when : '']),
			fact('Ended by', t.signal_name),
			fact('Executable', t.exe && code(t.exe)),
			fact('Build-id', t.build_id && code(t.build_id)),
			...t.runtime_crates.map((c) => fact(c.kind, c.version)),
			fact('rustc', t.rustc), fact('Processor', t.arch),
			fact('Debug info', t.debug_info, t.debug_info_reason && taskCount
				? [': ', linked(t.debug_info_reason)] : null),
			fact('Stood still', data.reading.pause_ns && (data.reading.pause_ns / 1e6).toFixed(2) + ' ms'),
			fact('Written', when + ' by asyncdbg ' + data.version)),
	];
}

/* ---- verdicts ---- */

const verdictNames = new Map([['deadlock', 'Deadlock'], ['futurelock', 'Futurelock'],
	['lost', 'Lost wake-up']]);

/* v: the first of those that are alike; others: the rest of them. */
function verdictCard(v, others) {
	const party = (p) => (typeof p === 'string' ? p : GRAPH.all[p].task >= 0
		? taskAnchor(GRAPH.all[p].task) : threadAnchor(GRAPH.all[p].thread, GRAPH.all[p].label));
	const list = (parties) => parties.flatMap((p, i) => [i ? ', ' : '', party(p)]);
	const more = (n) => (n > 0 ? ' and ' + count(n) + ' more' : '');
	const first = v.members.find((p) => typeof p !== 'string');
	const behind = others.reduce((n, o) => n + o.all_behind, v.all_behind);
	const like = (o, i) => [i ? ', ' : '', ...o.members.slice(0, 4).flatMap(
		(p, k) => [k ? ' with ' : '', party(p)]), more(o.members.length - 4)];
	const name = verdictNames.get(v.kind) || v.kind;
	return el('article.verdict' + (v.possible ? '' : '.certain'), null,
		el('h2', null, v.possible ? 'Possible ' + name.toLowerCase() : name),
		el('p', null, linked(v.text)),
		v.doubts.length ? el('ul.doubts', null, v.doubts.map((d) => el('li', null, d))) : null,
		others.length ? el('p', null, count(others.length) + ' more like it: ',
			others.slice(0, 8).map(like), more(others.length - 8)) : null,
		el('p.links', null,
			/* The text names those of one circle. */
			v.members.length > v.cycle.length ? el('span', null, 'Members: ',
				list(v.members.slice(0, 20)), more(v.members.length - 20)) : null,
			behind ? el('span', null, 'Behind ' +
				(v.members.length > 1 || others.length ? 'them' : 'it') + ': ',
				list(v.behind), more(behind - v.behind.length)) : null,
			first === undefined ? null : el('a', { href: graphLink(GRAPH.all[first]) },
				'In the graph')));
}

/* Why there are no tasks, in a line. */
const noTasks = () => (data.runtimes.length ? 'The runtime' + (data.runtimes.length > 1 ? 's' : '') +
	' of this program had no task when it was looked at.'
	: 'No runtime was found in this program, so no tasks are known.');

/* In place of verdicts, where there is nothing to judge: that it is so, and all that may be why. */
function nothingFound() {
	const reason = data.target.debug_info_reason;
	const notes = data.notes.filter((n) => !reason || !n.endsWith(reason));
	return el('article.verdict', null, el('h2', null, noTasks()),
		reason ? el('p', null, 'Debug info: ', linked(reason)) : null,
		notes.length ? el('ul.plain', null, notes.map((n) => el('li', null, linked(n)))) : null,
		el('p', null, data.runtimes.length ? null : 'There is no verdict on deadlocks or lost wake-ups. ',
			'What the ', el('a', { href: '#threads' }, 'threads'), ' do is shown.'));
}

const VERDICTS_MOST = 20;

function verdictCards() {
	const list = data.verdicts;
	if (!taskCount && !list.length)
		return nothingFound();
	if (!list.length)
		return el('p.none' + (data.complete ? '' : '.partial'), null, data.complete ? null
			: el('strong', null, 'Not all of the program could be read. '),
		'No task was found that can never go on: no deadlock, no futurelock, no lost wake-up.',
		data.graph_notes.length || data.unsearched.length ? ' Not all could be searched.' : null,
		data.complete ? null : [' ', el('a', { href: '#missing' }, 'What is missing')]);
	const firsts = new Map();
	list.forEach((v, i) => {
		if (v.alike === i)
			firsts.set(i, { v, others: [] });
		else
			firsts.get(v.alike).others.push(v);
	});
	const cards = [...firsts.values()];
	return [cards.slice(0, VERDICTS_MOST).map((c) => verdictCard(c.v, c.others)),
		cards.length > VERDICTS_MOST ? el('p.none', null, 'and ' +
			plural(cards.length - VERDICTS_MOST, 'verdict') + ' of other kinds') : null];
}

/* ---- what else is wrong ---- */

const FINDINGS_MOST = 40;
const SEVERITIES = ['error', 'warning', 'info'];

/* Its tasks, where the text does not name them. */
function findingTasks(f) {
	if (!f.tasks.length || /\btasks? \d/.test(f.text))
		return null;
	const left = f.all_tasks - f.tasks.length;
	return [': ', f.tasks.flatMap((id, i) => [i ? ', ' : '', idAnchor(id)]),
		left > 0 ? ' and ' + count(left) + ' more' : null];
}

function findingList() {
	const list = [...data.findings].sort((a, b) =>
		SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
	const left = list.length - FINDINGS_MOST;
	const line = (f) => el('li', null,
		el('span.check.' + f.severity, null, f.check.replace(/-/g, ' ')),
		el('span', null, linked(f.text), findingTasks(f)));
	return list.length ? el('ul.findings', { 'aria-label': 'Findings' },
		list.slice(0, FINDINGS_MOST).map(line),
		left > 0 ? el('li', null, el('span.check', null, 'and ' + count(left) + ' more')) : null) : null;
}

function drawOverview() {
	fill(byId('view-overview'), [], null, [
		el('div.headline', null, headline()),
		el('div.verdicts', null, verdictCards(), findingList()),
		el('div.cards', null, statesCard(), waitsCard(), groupsCard(), threadsCard(),
			runtimesCard(), notesCard()),
	]);
}
