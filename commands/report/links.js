/*
 * The graph's words for what was found nowhere else are long; as `async graph` says it. list: what
 * else there is for the same object, with doubts of their own.
 */
function doubtWords(doubt, list) {
	const candidates = list.filter((one) => one.doubt === data.sole_doubt).length;
	if (doubt !== data.sole_doubt)
		return doubt;
	return candidates > 1 ? 'one of the only ' + count(candidates) + ' candidates' : 'the only candidate';
}

/*
 * Text of asyncdbg's own words, in which tasks and threads are named and names of the program are
 * quoted: the first become links, the second code.
 */

const NAMED = /\btask (0x[0-9a-f]+|\d+)|\btasks ((?:\d+, )+\d+)|\bthread #?(\d+)|`([^`]*)`/g;

function linked(text) {
	const parts = [];
	let end = 0;
	for (const m of text.matchAll(NAMED)) {
		parts.push(text.slice(end, m.index));
		if (m[1])
			parts.push(idAnchor(m[1]));
		else if (m[2])
			parts.push('tasks ', m[2].split(', ').flatMap((id, i) => [i ? ', ' : '',
				taskByLink(id) < 0 ? id : taskAnchor(taskByLink(id), id)]));
		else if (m[4] !== undefined)
			parts.push(code(m[4]));
		else
			parts.push(threadAnchor(Number(m[3]), m[0]));
		end = m.index + m[0].length;
	}
	return [...parts, text.slice(end)];
}
