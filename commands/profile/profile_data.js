/* The profile: a tree of all stacks, with the time that tasks spent there in each state. */

const data = JSON.parse(byId('data').textContent);
const { strings, states } = data;
const KINDS = { ROOT: -1, TYPE: 0, FRAME: 1, LEAF: 2, CODE: 3 };

/* Columns of a row of data.nodes, which is one array. Behind them is the time of its own, by state. */
const NODE = { PARENT: 0, KIND: 1, NAME: 2, FULL: 3, FILE: 4, LINE: 5, SELF: 6 };
const NODE_COLUMNS = NODE.SELF + states.length;

/* Node 0 is all tasks; row i of the data is node i + 1. Parents come before their children. */
const nodeCount = data.nodes.length / NODE_COLUMNS + 1;
const nodeColumn = (node, column) =>
	node ? data.nodes[(node - 1) * NODE_COLUMNS + column] : column === NODE.KIND ? KINDS.ROOT : 0;
const parentOf = (node) => nodeColumn(node, NODE.PARENT);
const selfTime = (node, state) => nodeColumn(node, NODE.SELF + state);

const childrenOf = Array.from({ length: nodeCount }, () => []);
const totals = new Float64Array(nodeCount * states.length);
for (let node = 1; node < nodeCount; node++)
	childrenOf[parentOf(node)].push(node);
for (let node = nodeCount - 1; node >= 0; node--) {
	for (let s = 0; s < states.length; s++) {
		totals[node * states.length + s] += selfTime(node, s);
		if (node)
			totals[parentOf(node) * states.length + s] += totals[node * states.length + s];
	}
}

const nodeName = (node) => (node ? strings[nodeColumn(node, NODE.NAME)] : 'all tasks');
const nodeFull = (node) => (node ? strings[nodeColumn(node, NODE.FULL)] : nodeName(node));
function nodePlace(node) {
	const file = node ? strings[nodeColumn(node, NODE.FILE)] : '';
	const line = node && nodeColumn(node, NODE.LINE);
	return file && line ? file + ':' + line : file;
}

/* Which states are counted: by their number. */
const counted = states.map(() => true);

const totalTime = (node, state) => totals[node * states.length + state];

/* The time of a node in the states that are counted; of its own alone, or with its children. */
function timeOf(node, of) {
	let sum = 0;
	for (let s = 0; s < states.length; s++)
		sum += counted[s] ? of(node, s) : 0;
	return sum;
}
const weight = (node) => timeOf(node, totalTime);

function timeText(ns) {
	const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
	const [unit, name] = units.find(([u]) => ns >= u) || [1, 'ns'];
	return (ns / unit).toLocaleString('en-US', { maximumSignificantDigits: 4 }) + ' ' + name;
}

function shareText(part, whole) {
	if (!part || !whole)
		return '0 %';
	const percent = 100 * part / whole;
	return percent < 0.1 ? '< 0.1 %' : percent.toFixed(1) + ' %';
}
