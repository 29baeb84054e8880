/* Futures as lines of a list, and what is shown of one beside it. */

/*
 * The child that stands below f without indentation, so that a chain of awaits stays straight: the
 * only one that f does not merely hold. As in asyncdbg's own trees.
 */
function straight(f) {
	const polled = f.children.filter((c) => data.words.branch[c.branch] !== 'held');
	return polled.length === 1 ? polled[0] : null;
}

const frameName = (f) => (f.kind === OTHER ? f.typeShort || f.fn : f.fn || f.typeShort) || '?';

function framePlace(f) {
	if (f.fileShort && (f.bits & BIT.RUNNING || f.state === 'suspended' || f.kind === OTHER))
		return f.fileShort + (f.line ? ':' + f.line : '');
	return f.state && f.state !== 'suspended' ? f.state : '';
}

const branchWords = (branch) => (branch === 'held' ? 'held, not polled' : branch);

/* Small words behind a name: why it is there, and what is not as usual. */
function frameTags(f) {
	const branch = data.words.branch[f.branch];
	const tags = [];
	if (f.edge && f.edge !== 'await' && f.edge !== 'next' && f.edge !== branch)
		tags.push(f.edge);
	if (f.branch !== BRANCH_POLLED)
		tags.push(branchWords(branch));
	if (f.bits & BIT.RUNNING)
		tags.push('running');
	if (f.bits & BIT.DYN)
		tags.push('dyn');
	if (f.bits & BIT.INFERRED)
		tags.push('inferred');
	if (f.aliases || f.bits & BIT.UNCERTAIN)
		tags.push('one of several');
	if (f.note)
		tags.push(f.note);
	return tags;
}

function frameLine(f, owner, level, more) {
	const side = f.branch !== BRANCH_POLLED;
	const name = frameName(f);
	const place = framePlace(f);
	const tags = frameTags(f);
	return {
		level, frame: f, owner, style: side ? '.frame.side' : '.frame', ...more, place,
		letters: name.length + tags.reduce((sum, t) => sum + t.length + 3, 0),
		render: () => [
			el('span.number', null, '#' + f.number),
			nameText(name, f.kind === OTHER ? '.name.other' : '.name'),
		],
		tags: () => tags.map((t) => el('span.tag', null, t)),
		cells: () => [
			...(owner.thread ? [] : ['']), /* tasks have a column of states */
			placeText(place),
			f.problem ? el('span.problem', null, f.problem)
				: f.wait ? el('span.wait', null, f.wait.phrase || f.wait.kind) : '',
		],
	};
}

/*
 * Adds the lines of a tree. key: what its lines' keys begin with. closed: a set of keys; a fork is
 * open unless it is there.
 */
function addFrames(rows, tree, owner, level, key, closed) {
	const chain = (start, at) => {
		for (let f = start; f;) {
			const next = straight(f);
			const side = f.children.filter((c) => c !== next);
			const mine = key + 'f' + f.number;
			const open = side.length ? !closed.has(mine) : undefined;
			rows.push(frameLine(f, owner, at, { key: mine, open }));
			for (const child of open ? side : [])
				chain(child, at + 1);
			f = next;
		}
	};
	chain(tree, level);
}

/* A variable, as Rust would print it. */
function localLine(l) {
	return el('li', null,
		l.argument ? el('span.tag', null, 'argument') : null,
		code(l.name || '_', '.name'), el('span.quiet', null, ': '), code(l.type, '.quiet'),
		l.value ? [' = ', code(l.value, '.value')] : el('span.problem', null, ' ' +
			(l.problem || 'unknown')),
		l.passedIn ? el('span.quiet', null, ' (as passed in)')
			: l.mayBeLost ? el('span.quiet', null, ' (may not have been set since the last await)')
			: l.mayBeUnset ? el('span.quiet', null, ' (may not have been set)')
			: l.mayBeStale ? el('span.quiet', null, ' (a register may have a newer value)')
			: l.uncertain ? el('span.quiet', null, ' (may have been moved out)') : null);
}

function localList(locals) {
	if (!locals.length)
		return null;
	return [el('h3', null, 'Variables'), el('ul.locals', null, locals.map(localLine))];
}

/* What is shown of the future in focus. owner: { task } or { thread }. */
function aboutFrame(f, owner) {
	const states = [data.words.kind[f.kind].replace('_', ' '), f.state];
	if (f.state === 'suspended' && f.awaitPoint >= 0)
		states.push('at await point ' + f.awaitPoint);
	if (f.bits & BIT.RUNNING)
		states.push('running');
	return [
		el('h2', null, code(frameName(f))),
		el('p.quiet', null, 'Frame ' + f.number + ' of ', owner.task !== undefined
			? taskAnchor(owner.task) : owner.thread ? threadAnchor(owner.thread) : 'the group'),
		f.problem ? el('p.problem', null, f.problem) : null,
		el('dl', null,
			fact('Waits for', f.wait && linked(f.wait.phrase || '')),
			fact('Object', f.wait && f.wait.object && code(f.wait.object)),
			fact('Involves', f.wait && f.wait.task && idAnchor(f.wait.task)),
			fact('Is', states.filter(Boolean).join(', ')),
			fact('In its parent', [f.edge, f.branch !== BRANCH_POLLED &&
				data.words.branch[f.branch]].filter(Boolean).join(', ')),
			fact('Place', f.file && code(f.file + (f.line ? ':' + f.line : ''))),
			fact('Function', f.fn && code(f.fn)),
			fact('Type', f.type && code(f.type)),
			fact('Or', f.aliases && code(f.aliases)),
			fact('Span', f.note),
			fact('Reached', f.bits & BIT.DYN && 'through a vtable'),
			fact('Found', f.bits & BIT.INFERRED && 'by its looks on the stack')),
		localList(localsOf(owner.task === undefined ? -1 : owner.task, owner.thread || 0, f.number)),
	];
}
