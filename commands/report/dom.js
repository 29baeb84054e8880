/*
 * Making elements. What comes from the program gets in as text nodes and as values of a few
 * harmless attributes; nothing here or elsewhere in the page parses HTML.
 */

const ATTRIBUTES = new Set(['id', 'type', 'title', 'role', 'scope', 'tabindex', 'colspan', 'value']);

/*
 * An element: 'div.class', properties, children (strings become text; null and false nothing).
 * on: event listeners by name; style: properties by name; href: only within the page.
 */
function el(tag, properties, ...children) {
	const [name, ...classes] = tag.split('.');
	return fill(document.createElement(name), classes, properties, children);
}

/* The same for a picture. */
function svg(tag, properties, ...children) {
	const [name, ...classes] = tag.split('.');
	return fill(document.createElementNS('http://www.w3.org/2000/svg', name), classes, properties,
		children);
}

function fill(node, classes, properties, children) {
	if (classes.length)
		node.classList.add(...classes);
	for (const [key, value] of Object.entries(properties || {})) {
		if (value === null || value === undefined)
			continue;
		if (key.startsWith('aria-')) {
			node.setAttribute(key, value);
		} else if (value === false) {
			continue;
		} else if (key === 'on') {
			for (const [event, listener] of Object.entries(value))
				node.addEventListener(event, listener);
		} else if (key === 'style') {
			for (const [property, text] of Object.entries(value))
				node.style.setProperty(property, text);
		} else if (key === 'href') {
			if (!String(value).startsWith('#'))
				throw new Error('a link out of the page');
			node.setAttribute('href', value);
		} else if (key === 'hidden' || key === 'disabled' || key === 'checked' || key === 'open') {
			node[key] = true;
		} else if (ATTRIBUTES.has(key) || key.startsWith('data-') ||
			node.namespaceURI !== 'http://www.w3.org/1999/xhtml') {
			node.setAttribute(key, value);
		} else {
			throw new Error('attribute ' + key);
		}
	}
	for (const child of children.flat(Infinity)) {
		if (child || child === '0')
			node.append(child);
	}
	return node;
}

/* Of an element that is there: with these in place of what it had. */
function refill(node, ...children) {
	node.replaceChildren();
	return fill(node, [], null, children);
}

/*
 * Text of which the end matters most, in two parts: where there is no room, the first is cut.
 * at: where the second begins.
 */
function cutText(text, at, style) {
	if (at <= 0)
		return code(text, style);
	return el('code.path' + style, null, el('span', null, text.slice(0, at)),
		el('span', null, text.slice(at)));
}

/*
 * "tokio::sync::" and "Mutex::lock": a method with its type, a function alone; "<... as ...>::" and
 * "call". Not with other generics.
 */
function nameText(name, style) {
	const parts = name.match(/^(<.+ as .+>::)([^<>]+)$/s) || /^[^<>()&* ]*$/.test(name) &&
		(name.match(/^(.*?::)([A-Z].*)$/) || name.match(/^(.*::)([^:{]+(?:::\{.*)?)$/));
	return cutText(name, parts ? parts[1].length : 0, style);
}

/* A file with its line, and before it its folder. */
const placeText = (place) => cutText(place, place.lastIndexOf('/') + 1, '.place');

/* How wide text is in a font of the page, in pixels. The page has the fonts that there are. */
const textWidth = (() => {
	const pen = document.createElement('canvas').getContext('2d');
	const text = getComputedStyle(document.documentElement);
	const families = { mono: text.getPropertyValue('--mono'), text: text.fontFamily };
	return (words, size, family = 'text', weight = 400) => {
		pen.font = `${weight} ${size}px ${families[family]}`;
		return pen.measureText(words).width;
	};
})();

const byId = (id) => document.getElementById(id);

/* Text of the program: what is written from right to left stays within. */
const code = (text, more) => el('code' + (more || ''), null, text);

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const count = (n) => n.toLocaleString('en-US');
const plural = (n, noun) => count(n) + ' ' + noun + (n === 1 ? '' : 's');

/* A link to a task by its number in the data. */
const taskAnchor = (task, text) =>
	el('a.task', { href: taskLink(task) }, text || 'task ' + taskId(task));

/* The same by id, as text where there is no such task. */
function idAnchor(id) {
	const task = taskByLink(id);
	return task < 0 ? 'task ' + id : taskAnchor(task);
}

const threadAnchor = (number, text) =>
	threadByNumber.has(number)
		? el('a', { href: '#thread-' + number }, text || 'thread ' + number)
		: text || 'thread ' + number;

/* A term and what it is; nothing where that is empty. */
function fact(term, ...value) {
	const known = value.flat(Infinity).filter((v) => v || v === '0');
	return known.length ? el('div', null, el('dt', null, term), el('dd', null, ...known)) : null;
}
