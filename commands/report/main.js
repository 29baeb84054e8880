/* Which part is shown: the address behind # says it, so that links and the way back work. */

const views = [
	{ name: 'overview', title: 'Overview' },
	{ name: 'tasks', title: 'Tasks', count: taskCount },
	...(GRAPH.edges.length ? [{ name: 'graph', title: 'Graph' }] : []),
	...(holdings.length ? [{ name: 'locks', title: 'Locks and channels' }] : []),
	{ name: 'threads', title: 'Threads', count: data.threads.length },
];

drawOverview();
const taskList = new TaskList();
const threadList = new ThreadList();
let lockList = null; /* made when it is first looked at */

function drawNavigation() {
	byId('nav').append(...views.map((view) => el('a', { href: '#' + view.name, id: 'to-' + view.name },
		view.title, view.count === undefined ? null : el('span.badge', null, count(view.count)))));
}

function show(name) {
	for (const view of document.querySelectorAll('.view'))
		view.hidden = view.id !== 'view-' + name;
	for (const link of byId('nav').children) {
		if (link.id === 'to-' + name)
			link.setAttribute('aria-current', 'page');
		else
			link.removeAttribute('aria-current');
	}
}

/* The address as [part, of it]: "#task-7" is ["task-", "7"], "#tasks?x" ["tasks", "x"]. */
function address() {
	const text = location.hash.slice(1);
	const [, part, rest] = text.match(/^(task-|thread-|group-|graph-|[a-z]*\??)(.*)$/s) || ['', '', ''];
	let decoded = rest;
	try {
		decoded = decodeURIComponent(rest);
	} catch {
		/* Not as we write them: taken as it is. */
	}
	return [part.replace('?', ''), decoded];
}

/* Wherever the address leads; what it does not know is the first page. */
function go() {
	const [part, rest] = address();
	if (part === 'task-' && taskByLink(rest) >= 0) {
		show('tasks');
		taskList.jump(taskByLink(rest));
	} else if (part === 'group-' && groups[Number(rest)]) {
		show('tasks');
		taskList.jumpGroup(Number(rest));
	} else if (part === 'thread-' && threadByNumber.has(Number(rest))) {
		show('threads');
		threadList.jump(Number(rest));
	} else if (part === 'graph-' && nodeByLink(rest)) {
		show('graph');
		drawGraph(nodeByLink(rest));
	} else if (part === 'graph' && GRAPH.edges.length) {
		show('graph');
		drawGraph(null);
	} else if (part === 'locks' && holdings.length) {
		show('locks');
		lockList ||= new LockList();
	} else if (part === 'tasks') {
		show('tasks');
		if (rest && rest !== taskList.query) {
			taskList.clear();
			byId('query').value = rest;
			taskList.search(rest);
		}
	} else if (part === 'missing') {
		show('overview');
		byId('missing')?.scrollIntoView();
	} else {
		show(views.some((v) => v.name === part) ? part : 'overview');
	}
}

/* "/" searches from anywhere. */
document.addEventListener('keydown', (e) => {
	if (e.key !== '/' || e.ctrlKey || e.altKey || e.metaKey || e.target.closest('input, textarea'))
		return;
	e.preventDefault();
	if (byId('view-tasks').hidden)
		location.hash = '#tasks';
	show('tasks');
	byId('query').focus();
	byId('query').select();
});

/* On paper all parts follow each other. */
window.addEventListener('beforeprint', () => {
	if (GRAPH.edges.length && !byId('view-graph').firstChild)
		drawGraph(null);
	taskList.list.print(true);
	lockList?.list.print(true);
	threadList.list.print(true);
});
window.addEventListener('afterprint', () => {
	taskList.list.print(false);
	lockList?.list.print(false);
	threadList.list.print(false);
});

drawNavigation();
window.addEventListener('hashchange', go);
go();
document.documentElement.dataset.ready = 'yes';
