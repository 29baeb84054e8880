/* The parts of the page, and what is looked at: the address behind # says which node. */

/* ---- about one box ---- */

function aboutBox({ node, state }) {
	const whole = weight(0);
	const of = state < 0 ? totalTime : (n, s) => (s === state ? selfTime(n, s) : 0);
	const rows = states.map((name, s) => el('tr', null,
		el('th', { scope: 'row', 'data-state': name }, name), el('td', null, timeText(of(node, s))),
		el('td', null, shareText(of(node, s), whole)),
		el('td', null, shareText(of(node, s), states.reduce((sum, _, i) => sum + of(node, i), 0)))));
	const chain = [];
	for (let at = node; at; at = parentOf(at))
		chain.unshift(at);
	const type = chain.length ? data.types[chain[0]] : null;
	refill(byId('details'),
		el('h2', null, state < 0 ? nodeFull(node) : `${states[state]} in ${nodeFull(node)}`),
		nodePlace(node) && el('p.place', null, code(nodePlace(node))),
		type && nodeColumn(node, NODE.KIND) === KINDS.TYPE &&
			el('p', null, plural(type[0], 'task') + (data.samples ? '' : ', ' + plural(type[1], 'poll'))),
		el('table', null,
			el('thead', null, el('tr', null, ['State', 'Time', 'Of all that is counted', 'Of this']
				.map((text) => el('th', { scope: 'col' }, text)))),
			el('tbody', null, rows)),
		chain.length > 1 && el('ol', { 'aria-label': 'The chain of awaits' },
			chain.map((at) => el('li', null, code(nodeName(at) +
				(nodePlace(at) ? ' at ' + nodePlace(at) : ''))))));
}

/* ---- the graph ---- */

const graph = new Graph(byId('graph'), aboutBox, (node) => {
	location.hash = node ? '#node-' + node : '#all';
});

function go() {
	const [, number] = location.hash.match(/^#node-(\d+)$/) || [];
	const node = Number(number || 0);
	graph.zoom = node < nodeCount ? node : 0;
	graph.selected = { node: graph.zoom, state: NONE };
	graph.draw();
	aboutBox(graph.selected);
	byId('back').disabled = !graph.zoom;
}

/* ---- states ---- */

function drawStates() {
	refill(byId('states'), states.map((name, s) => el('button', {
		type: 'button',
		'aria-pressed': String(counted[s]),
		'data-state': name,
		on: { click: () => {
			counted[s] = !counted[s];
			drawStates();
			search();
			byId('states').children[s].focus();
		} },
	}, `${name} ${timeText(totalTime(0, s))}`)));
}

/* ---- search ---- */

const searchText = (node) => (nodeFull(node) + '\n' + nodeName(node) + '\n' + nodePlace(node)).toLowerCase();

/* Marks what has the text, and tells how much time is in and below it. */
function search() {
	const text = byId('query').value.trim().toLowerCase();
	let found = 0, time = 0;
	graph.matches = text ? new Uint8Array(nodeCount) : null;
	const below = new Uint8Array(nodeCount);
	for (let node = 1; text && node < nodeCount; node++) {
		const is = searchText(node).includes(text);
		graph.matches[node] = is ? 1 : 0;
		below[node] = below[parentOf(node)] || is ? 1 : 0;
		found += is ? 1 : 0;
		if (is && !below[parentOf(node)])
			time += weight(node);
	}
	byId('found').textContent = text
		? `${plural(found, 'place')}, ${timeText(time)}, ${shareText(time, weight(0))}` : '';
	graph.draw();
	aboutBox(graph.selected);
}

/* ---- the page ---- */

function drawHeading() {
	document.title = data.program + ': profile';
	refill(byId('program'), data.program);
	refill(byId('heading'), `process ${data.pid}, ${timeText(data.duration_ns)}, ` +
		`${plural(data.tasks, 'task')}, ${data.samples ? plural(data.samples, 'sample') : plural(data.polls, 'poll')}`);
	refill(byId('notes'), data.notes.map((note) => el('p', null, note)));
}

/* "/" searches from anywhere. */
document.addEventListener('keydown', (e) => {
	if (e.key !== '/' || e.ctrlKey || e.altKey || e.metaKey || e.target.closest('input'))
		return;
	e.preventDefault();
	byId('query').focus();
	byId('query').select();
});
byId('query').addEventListener('input', search);
byId('back').addEventListener('click', () => { location.hash = '#all'; });
window.addEventListener('hashchange', go);

drawHeading();
drawStates();
go();
document.documentElement.dataset.ready = 'yes';
