/* What is shown of a line that was chosen, beside or below the list, and tips of what is cut. */

class Panel {
	/*
	 * host: the element, empty. about(line): what to tell of it. back(): gives the focus back.
	 * There is no panel until there is something to tell, and none after the reader ended it.
	 */
	constructor(host, about, back) {
		this.host = host;
		this.about = about;
		this.back = back;
		this.ended = false;
		host.hidden = true;
		host.addEventListener('keydown', (e) => {
			if (e.key === 'Escape')
				this.end();
		});
	}

	/* asked: the reader asks for this line, and does not just pass it. */
	tell(line, asked) {
		if (asked)
			this.ended = false;
		if (this.ended)
			return;
		refill(this.host, el('button.close', { type: 'button', title: 'Close (Esc)', 'aria-label':
			'Close', on: { click: () => this.end() } }, '×'),
		el('div.details', null, this.about(line)));
		this.host.scrollTop = 0;
		this.host.hidden = false;
	}

	end() {
		this.ended = !this.host.hidden;
		this.host.hidden = true;
		this.host.replaceChildren();
		this.back();
	}
}

/* ---- tips ---- */

/* All of an element's text; what stands apart in it is apart in the text. */
function wholeText(node) {
	if (!node.childElementCount || node.matches('.path'))
		return node.textContent;
	return [...node.childNodes].map((child) => (child.nodeType === Node.TEXT_NODE ? child.data
		: wholeText(child))).join(' ').replace(/\s+/g, ' ').trim();
}

const isCut = (e) => getComputedStyle(e).overflowX === 'hidden' &&
	(e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 4);

/* What does not fit is shown by a tip, made when the pointer comes near. */
document.addEventListener('mouseover', (e) => {
	for (let part = e.target; part instanceof HTMLElement && part !== document.body;
		part = part.parentElement) {
		if (part.matches('.view, .tree'))
			return;
		if (!isCut(part))
			continue;
		const all = part.closest('.cell') || part.closest('.bar-name, .path') || part;
		all.title = wholeText(all);
		return;
	}
});
