/* Threads: what each does, the future it drives, its stack. */

const FRAME = {
	NUMBER: 0, PC: 1, FUNCTION: 2, FULL: 3, FILE: 4, FILE_SHORT: 5, LINE: 6, INLINED: 7, MODULE: 8,
	TASK: 9,
};

/* Library code, which one rarely looks for: asyncdbg shortens its paths so. */
const isForeign = (frame) => !strings[frame[FRAME.FILE_SHORT]] ||
	strings[frame[FRAME.FILE_SHORT]].startsWith('...');

function threadRole(th) {
	const runtime = th.runtime === null || th.runtime === undefined ? '' : ' of runtime ' + th.runtime;
	if (th.role === 'worker')
		return 'worker' + (th.worker === null ? '' : ' ' + th.worker) + runtime;
	return th.role === 'other' ? '' : th.role + runtime;
}

function threadLine(th, open) {
	return {
		key: 'h' + th.number, level: 1, open, th,
		letters: (th.name || '').length + threadRole(th).length,
		render: () => [
			el('span.id', null, 'Thread ' + th.number), code(th.name || '', '.name'),
		],
		tags: () => [el('span.quiet', null, threadRole(th))],
		cells: () => [
			th.task ? [idAnchor(th.task)] : '',
			th.problem ? el('span.problem', null, th.problem)
				: el('span.wait', null, th.wait ? th.wait.phrase : th.state || ''),
		],
	};
}

const stackName = (frame) => strings[frame[FRAME.FUNCTION]] || strings[frame[FRAME.FULL]] || '?';

const stackPlace = (frame) => strings[frame[FRAME.FILE_SHORT]] +
	(frame[FRAME.LINE] ? ':' + frame[FRAME.LINE] : '');

const stackLine = (th, frame) => ({
	letters: stackName(frame).length + (frame[FRAME.INLINED] ? 10 : 0), place: stackPlace(frame),
	key: 'h' + th.number + 's' + frame[FRAME.NUMBER], level: 2, th, stack: frame,
	style: isForeign(frame) ? '.frame.foreign' : '.frame',
	render: () => [
		el('span.number', null, '#' + frame[FRAME.NUMBER]),
		nameText(stackName(frame), '.name'),
	],
	tags: () => [
		frame[FRAME.INLINED] ? el('span.tag', null, 'inlined') : null,
		frame[FRAME.TASK] ? el('span.tag', null, 'polls ' , idAnchor(strings[frame[FRAME.TASK]])) : null,
	],
	cells: () => [
		placeText(stackPlace(frame)),
		el('span.quiet', null, strings[frame[FRAME.MODULE]]),
	],
});

const titleLine = (th, what, text) => ({
	key: 'h' + th.number + what, level: 2, th, style: '.title', letters: 0, render: () => text,
});

class ThreadList {
	constructor() {
		this.open = new Set();
		this.closed = new Set();
		this.list = new Rows(byId('thread-list'), {
			label: 'Threads', head: ['Thread and its frames', 'At', 'Doing'],
			toggle: (row, open) => {
				const set = row.frame ? this.closed : this.open;
				if (row.frame ? !open : open)
					set.add(row.key);
				else
					set.delete(row.key);
				this.refresh();
			},
			styles: ['place', 'what'], about: aboutThreadLine, panel: byId('thread-about'),
			empty: () => 'No threads were read.',
		});
		if (data.threads.length === 1)
			this.open.add('h' + data.threads[0].number);
		this.refresh();
	}

	refresh() {
		const rows = [];
		for (const th of data.threads) {
			const tree = threadTree(th);
			const more = tree || th.frames.length;
			const open = more ? this.open.has('h' + th.number) : undefined;
			rows.push(threadLine(th, open));
			if (!open)
				continue;
			if (tree) {
				rows.push(titleLine(th, 'a', 'Future that it drives'));
				addFrames(rows, tree, { thread: th.number }, 2, 'h' + th.number, this.closed);
			}
			if (th.frames.length)
				rows.push(titleLine(th, 'n', 'Stack'));
			th.frames.forEach((frame) => rows.push(stackLine(th, frame)));
		}
		this.list.set(rows);
	}

	jump(number) {
		this.open.add('h' + number);
		this.refresh();
		this.list.reveal('h' + number);
	}
}

const aboutThreadLine = (row) => (row.frame ? aboutFrame(row.frame, row.owner)
	: row.stack ? aboutStack(row.th, row.stack) : aboutThread(row.th));

const aboutThread = (th) => [
	el('h2', null, 'Thread ' + th.number),
	th.problem ? el('p.problem', null, th.problem) : null,
	el('dl', null,
		fact('Name', th.name && code(th.name)),
		fact('Thread id', String(th.tid)),
		fact('Role', threadRole(th) || 'in no runtime'),
		fact('Does', th.state),
		fact('Sits in', th.wait && th.wait.phrase),
		fact('Object', th.wait && th.wait.object && code(th.wait.object)),
		fact('Runs', th.task && idAnchor(th.task)),
		fact('Job', th.job && code(th.job)),
		fact('Local queue', th.queue_len === null ? null : String(th.queue_len)),
		fact('Link', el('a', { href: '#thread-' + th.number }, '#thread-' + th.number))),
];

const aboutStack = (th, frame) => [
	el('h2', null, code(stackName(frame))),
	el('p.quiet', null, 'Frame ' + frame[FRAME.NUMBER] + ' of ', threadAnchor(th.number)),
	el('dl', null,
		fact('Polls', frame[FRAME.TASK] && idAnchor(strings[frame[FRAME.TASK]])),
		fact('Place', frame[FRAME.FILE] && code(strings[frame[FRAME.FILE]] +
			(frame[FRAME.LINE] ? ':' + frame[FRAME.LINE] : ''))),
		fact('Whole name', frame[FRAME.FULL] && code(strings[frame[FRAME.FULL]])),
		fact('Address', frame[FRAME.PC] && code(strings[frame[FRAME.PC]])),
		fact('Module', frame[FRAME.MODULE] && code(strings[frame[FRAME.MODULE]])),
		fact('Inlined', frame[FRAME.INLINED] && 'into the next one')),
];
