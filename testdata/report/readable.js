// Whether all of a report can be read: on a small and a large screen, by day and by night.
//
// usage: node readable.js MODULES BROWSER OUTPUT REPORT.html...
//
// MODULES: a folder with node_modules/playwright-core. Any report will do, those of real servers
// too. Each of its parts is looked at as it opens, with all lines open, and with a line chosen:
//
// - the page is never wider than the screen;
// - text that is cut ends in an ellipsis, and a tip has all of it;
// - names come before what stands behind them, and have the room that is there;
// - text of the graph stays within its box;
// - text stands out from what is behind it (WCAG 2.1, 1.4.3: 4.5 to 1).
//
// Screenshots go to OUTPUT as REPORT-PART-WIDTH-SCHEME.png.

import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executablePath, output, ...files] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');

const SCREENS = [{ width: 1366, height: 768 }, { width: 2560, height: 1300 }];
const SCHEMES = ['light', 'dark'];
const PARTS = ['overview', 'tasks', 'graph', 'locks', 'threads'];
const MOST_SHOWN = 12; /* complaints about one part */

/*
 * Runs in the page: what is wrong with what is in sight. Only what stands here can be used.
 */
function complaints() {
	const wrong = [];
	const say = (what, text) => wrong.push(what + ': ' + text.trim().slice(0, 100));
	const root = document.documentElement;
	const SLACK = 1.5; /* px: edges of letters */

	if (root.scrollWidth > root.clientWidth || document.body.scrollWidth > root.clientWidth)
		say('the page is too wide', document.body.scrollWidth + ' px');

	const clips = (e) => {
		const style = getComputedStyle(e);
		return style.overflowX === 'hidden' || style.overflowX === 'clip';
	};
	const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
	const dots = (e) => getComputedStyle(e).textOverflow === 'ellipsis';
	/* A tip is made when the pointer comes. */
	const tipped = (e, text) => {
		e.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
		const holder = e.closest('[title]');
		const plain = (t) => t.replace(/\s+/g, ' ').trim();
		return holder !== null && plain(holder.title).includes(plain(text));
	};
	const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
		!e.closest('.sr, svg, .skip, noscript');

	/* ---- text that is cut ---- */

	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const range = document.createRange();
	const texts = [];
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (walker.currentNode.data.trim() && seen(e) && !e.matches('script, style, title'))
			texts.push(walker.currentNode);
	}
	for (const node of texts) {
		range.selectNodeContents(node);
		const e = node.parentElement;
		const box = range.getBoundingClientRect();
		let ellipsis = false, view = { left: 0, right: root.clientWidth, top: -1e9, bottom: 1e9 };
		let cut = false, scrolled = false;
		for (let a = e; a && a !== document.body && !scrolled; a = a.parentElement) {
			const clip = a.getBoundingClientRect();
			ellipsis ||= dots(a);
			if (clips(a)) {
				view = { left: Math.max(view.left, clip.left), right: Math.min(view.right, clip.right),
					top: Math.max(view.top, clip.top), bottom: Math.min(view.bottom, clip.bottom) };
				cut ||= box.right > clip.right + SLACK || box.left < clip.left - SLACK ||
					box.bottom > clip.bottom + 4 || box.top < clip.top - 4;
			}
			scrolled = scrolls(a);
			if (scrolled && a.matches('.tree') && a.scrollWidth > a.clientWidth)
				say('a list scrolls sideways', a.getAttribute('aria-label'));
		}
		if (!cut && !scrolled && box.right > root.clientWidth + SLACK)
			say('beyond the screen', node.data);
		if (!cut)
			continue;
		const hidden = box.top >= view.bottom - 4 || view.right - view.left < 1;
		if (!hidden && !ellipsis)
			say('cut without an ellipsis', node.data);
		else if (!hidden && view.right - box.left < 8)
			say('no room even for an ellipsis', node.data);
		if (!tipped(e, node.data))
			say('cut without a tip', node.data);
	}
	for (const input of document.querySelectorAll('input[placeholder]')) {
		if (!seen(input) || input.value)
			continue;
		const style = getComputedStyle(input);
		const pen = document.createElement('canvas').getContext('2d');
		pen.font = style.font;
		if (pen.measureText(input.placeholder).width > input.clientWidth -
			parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) + SLACK &&
			(style.textOverflow !== 'ellipsis' || input.title === ''))
			say('cut without an ellipsis', input.placeholder);
	}

	/* ---- names first ---- */

	for (const list of document.querySelectorAll('.list')) {
		if (!seen(list))
			continue;
		const split = list.closest('.split');
		const about = split.querySelector('.about');
		if (!about.textContent.trim() && list.clientWidth < split.clientWidth - 1)
			say('an empty panel takes room', list.id);
		for (const name of list.querySelectorAll('.row .name')) {
			const parts = [name, ...name.children];
			if (!parts.some((p) => p.scrollWidth > p.clientWidth + SLACK))
				continue;
			const cell = name.closest('.cell');
			if (cell.clientWidth < 0.4 * list.clientWidth)
				say('a name is cut in ' + cell.clientWidth + ' of ' + list.clientWidth + ' px',
					name.textContent);
			const clip = cell.getBoundingClientRect();
			for (const other of cell.querySelectorAll('.tag, .state')) {
				if (other.getBoundingClientRect().top < clip.bottom - 4)
					say('a name is cut for the sake of ' + other.textContent, name.textContent);
			}
		}
	}

	/* ---- the picture ---- */

	for (const node of document.querySelectorAll('#view-graph:not([hidden]) .node')) {
		const box = node.querySelector('rect').getBBox();
		const tip = node.querySelector('title').textContent;
		for (const text of node.querySelectorAll('text')) {
			const at = text.getBBox();
			if (text.matches('.beside'))
				continue;
			if (at.x < box.x + 2 || at.x + at.width > box.x + box.width - 2)
				say('beyond its box', text.textContent);
			for (const other of node.querySelectorAll('text')) {
				const b = other.getBBox();
				if (other !== text && b.x >= at.x && b.x < at.x + at.width && b.y < at.y + at.height &&
					at.y < b.y + b.height)
					say('on top of each other', text.textContent + ' and ' + other.textContent);
			}
			if (/…/.test(text.textContent) && !text.textContent.split('…').every((part) => tip.includes(part)))
				say('cut without a tip', text.textContent);
		}
		if (node.querySelector('.outside') && !document.querySelector('.key .outside'))
			say('a sign without a legend', node.textContent);
	}

	/* ---- contrast ---- */

	const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	const rgba = (color) => {
		pixel.clearRect(0, 0, 1, 1);
		pixel.fillStyle = color;
		pixel.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
		return [r, g, b, a / 255];
	};
	const known = new Map();
	const colour = (text) => known.get(text) || known.set(text, rgba(text)).get(text);
	const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
	const ground = (e) => {
		const layers = [];
		for (let a = e; a; a = a.parentElement) {
			layers.push(colour(getComputedStyle(a).backgroundColor));
			if (layers.at(-1)[3] === 1)
				break;
		}
		return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
	};
	const light = (c) => {
		const [r, g, b] = c.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92
			: ((v / 255 + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const reported = new Set();
	const compare = (front, back, text) => {
		const [a, b] = [light(over(front, back)), light(back)];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const key = front.join() + back.join();
		if (ratio < 4.5 && !reported.has(key))
			say('contrast of ' + ratio.toFixed(2), text);
		reported.add(key);
	};
	for (const node of texts) {
		if (!node.parentElement.closest(':disabled'))
			compare(colour(getComputedStyle(node.parentElement).color), ground(node.parentElement), node.data);
	}
	for (const text of document.querySelectorAll('#view-graph:not([hidden]) svg text')) {
		const box = text.closest('.node') && !text.matches('.beside') && text.closest('.node').querySelector('rect');
		compare(colour(getComputedStyle(text).fill), box ? colour(getComputedStyle(box).fill).slice(0, 3)
			: ground(text.closest('.picture')), text.textContent);
	}
	return wrong;
}

let failed = 0;

async function look(page, where) {
	const wrong = [...new Set(await page.evaluate(complaints))];
	if (!wrong.length)
		return;
	failed++;
	console.log('FAILED: ' + where);
	for (const line of wrong.slice(0, MOST_SHOWN))
		console.log('\t' + line);
	if (wrong.length > MOST_SHOWN)
		console.log(`\tand ${wrong.length - MOST_SHOWN} more`);
}

/* A list as it opens, with all open, in its middle and at its end, and with a line chosen. */
async function lookAtList(page, where) {
	const tree = page.locator('.view:not([hidden]) .tree');
	if (!await tree.count())
		return;
	for (const opener of await page.locator('.view:not([hidden]) #unfold:enabled').all())
		await opener.click();
	await tree.focus();
	for (const key of ['Home', 'ArrowRight', 'ArrowDown', 'End', 'ArrowRight', 'PageUp']) {
		await page.keyboard.press(key);
		await look(page, `${where}, after ${key}`);
	}
	for (const share of [0.3, 0.6]) {
		await tree.evaluate((e, at) => { e.scrollTop = at * e.scrollHeight; }, share);
		await page.waitForTimeout(50);
		await look(page, `${where}, ${100 * share} % down`);
	}
}

const browser = await chromium.launch({
	executablePath,
	// A container's root has no sandbox, and its /dev/shm may be small.
	args: ['--no-sandbox', '--disable-dev-shm-usage'],
});

async function lookAt(file, viewport, colorScheme) {
	const page = await browser.newPage({ viewport, colorScheme });
	page.setDefaultTimeout(600000); // the machine may be busy
	const name = basename(file, '.html');
	page.on('pageerror', (e) => {
		failed++;
		console.log(`FAILED: ${name}: ${e.stack}`);
	});
	await page.goto(pathToFileURL(resolve(file)).href);
	if (await page.getAttribute('html', 'data-ready') !== 'yes') {
		failed++;
		console.log(`FAILED: ${name} did not get ready`);
	}
	for (const part of PARTS) {
		const where = `${name}, ${part}, ${viewport.width}, ${colorScheme}`;
		if (!await page.locator('#to-' + part).count())
			continue;
		await page.click('#to-' + part);
		await page.waitForSelector('#view-' + part, { state: 'visible' });
		await page.screenshot({ path: resolve(output,
			`${name}-${part}-${viewport.width}-${colorScheme}.png`) });
		await look(page, where);
		await lookAtList(page, where);
	}
	await page.close();
}

for (const file of files) {
	const before = failed;
	for (const screen of SCREENS) {
		for (const scheme of SCHEMES)
			await lookAt(file, screen, scheme);
	}
	if (failed === before)
		console.log('ok: all of it can be read: ' + basename(file));
}
await browser.close();
process.exitCode = failed ? 1 : 0;
