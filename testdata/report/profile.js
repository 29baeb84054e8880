// Opens pages of profiles in a browser and does what a reader would.
//
// usage: node profile.js MODULES BROWSER PAGES OUTPUT
//
// MODULES: a folder with node_modules/playwright-core. PAGES: a folder with profile-server.html,
// profile-hostile.html, profile-many.html, profile-empty.html and profile-rough.html (of
// profile_pages.c). Screenshots go to OUTPUT.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const [modules, executablePath, pages, output] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');
const MOST_NODES = 3000; // in the document at any time

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

// A page, on which nothing may go wrong.
async function open(name, address = '', colorScheme = 'light', width = 1440) {
	const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
	page.setDefaultTimeout(600000); // the machine may be busy
	const wrong = [];
	const file = pathToFileURL(resolve(pages, `profile-${name}.html`)).href;
	page.on('console', (m) => wrong.push('console: ' + m.text()));
	page.on('pageerror', (e) => wrong.push('error: ' + e.stack));
	page.on('request', (r) => r.url().split('#')[0] === file || wrong.push('request: ' + r.url()));
	await page.goto(file + address);
	assert.equal(await page.getAttribute('html', 'data-ready'), 'yes', name + ' did not get ready: ' + wrong);
	return { page, close: async () => {
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth >
			document.documentElement.clientWidth), false, name + ' is wider than the screen');
		assert.deepEqual(wrong, []);
		await page.close();
	} };
}

const box = (page, name, n = 0) => page.locator('.box', { hasText: name }).nth(n);
const widthOf = async (locator) => (await locator.boundingBox()).width;
const shot = (page, name) => page.screenshot({ path: resolve(output, name + '.png') });
const SELECTED = '.box[aria-selected=true]';

// Of all text in sight: how much it stands out from what is behind it (WCAG 2.1), the least.
const leastContrast = (page) => page.evaluate(() => {
	const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	const rgb = (colour) => {
		pen.clearRect(0, 0, 1, 1);
		pen.fillStyle = colour;
		pen.fillRect(0, 0, 1, 1);
		return pen.getImageData(0, 0, 1, 1).data;
	};
	const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
		const x = c[i] / 255;
		return sum + part * (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
	}, 0);
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const colour = rgb(getComputedStyle(e).backgroundColor);
			if (colour[3] === 255)
				return colour;
		}
		return rgb('white');
	};
	let least = { ratio: 21, text: '' };
	for (const e of document.querySelectorAll('.box, .details *, .top *, .notes *, .states button, #found')) {
		if (![...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()) || !e.checkVisibility())
			continue;
		const both = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((a, b) => b - a);
		const ratio = (both[0] + 0.05) / (both[1] + 0.05);
		if (ratio < least.ratio)
			least = { ratio, text: e.textContent };
	}
	return least;
});

// The page is drawn anew behind the change of its address; the button is the last part of it.
async function zoomed(page) {
	await page.waitForFunction(() => /^#node-/.test(location.hash) && !document.querySelector('#back').disabled);
}

async function whole(page) {
	await page.waitForFunction(() => !/^#node-/.test(location.hash) && document.querySelector('#back').disabled);
}

const checks = {
	async 'it opens with all tasks'() {
		const { page, close } = await open('server');
		assert.match(await page.title(), /^shop: profile/);
		assert.match(await page.textContent('#heading'), /process 4711, 10 s, 3 tasks/);
		assert.match(await page.textContent('#states'), /polling 940 ms.*off-processor 1\.46 s.*runnable 700 ms.*waiting 10\.3 s/s);
		const all = await widthOf(box(page, 'all tasks'));
		const http = await widthOf(box(page, 'async fn shop::http::serve'));
		assert.ok(Math.abs(http / all - 10400 / 13400) < 0.01, `${http} of ${all}`);
		assert.match(await page.textContent('#details'), /waiting\s*10\.3 s\s*76\.9 %/);
		await shot(page, 'profile-light');
		await close();
	},

	async 'a box becomes as wide as the whole, and the way back works'() {
		const { page, close } = await open('server');
		const all = await widthOf(box(page, 'all tasks'));
		await box(page, 'shop::db::query').click();
		await zoomed(page);
		assert.ok(Math.abs(await widthOf(box(page, 'shop::db::query')) - all) < 2);
		assert.match(await page.textContent('#details'), /shop::db::query.*shop\/src\/db\.rs:120/s);
		assert.match(await page.textContent('#details ol'), /shop::http::serve at shop\/src\/http\.rs:44.*shop::orders::find/s);
		assert.equal(await box(page, 'shop::jobs::run').count(), 0);
		const address = await page.evaluate(() => location.hash);
		await page.goBack();
		await whole(page);
		assert.ok(await box(page, 'shop::jobs::run').isVisible());
		const again = await open('server', address);
		assert.ok(Math.abs(await widthOf(box(again.page, 'shop::db::query')) - all) < 2);
		await again.page.click('#back');
		await whole(again.page);
		assert.ok(await box(again.page, 'shop::jobs::run').isVisible());
		await again.close();
		await close();
	},

	async 'a state that is not counted has no boxes'() {
		const { page, close } = await open('server');
		const before = await widthOf(box(page, 'async fn shop::jobs::run'));
		await page.click('#states [data-state=waiting]');
		assert.equal(await page.getAttribute('#states [data-state=waiting]', 'aria-pressed'), 'false');
		assert.equal(await page.locator('.box[data-state=waiting]').count(), 0);
		const all = await widthOf(box(page, 'all tasks'));
		const jobs = await widthOf(box(page, 'async fn shop::jobs::run'));
		assert.ok(jobs > before && Math.abs(jobs / all - 1200 / 3100) < 0.01, `${jobs} of ${all}`);
		await shot(page, 'profile-without-waiting');
		for (const state of ['polling', 'off-processor', 'runnable'])
			await page.click(`#states [data-state=${state}]`);
		assert.equal(await page.locator('.box').count(), 1);
		await page.click('#states [data-state=polling]');
		assert.ok(await page.locator('.box[data-state=polling]').count() >= 2);
		await close();
	},

	async 'search marks what it finds and sums it up'() {
		const { page, close } = await open('server');
		await page.keyboard.press('/');
		await page.keyboard.type('http.rs:44');
		assert.match(await page.textContent('#found'), /^1 place, 4\.1 s, 30\.6 %$/);
		assert.equal(await page.locator('.box.found').count(), 1);
		await shot(page, 'profile-search');
		await page.fill('#query', 'SHOP::');
		assert.match(await page.textContent('#found'), /13\.4 s, 100\.0 %$/);
		await page.fill('#query', 'no such thing');
		assert.match(await page.textContent('#found'), /^0 places/);
		await page.fill('#query', '');
		assert.equal(await page.textContent('#found'), '');
		assert.equal(await page.locator('.graph.searched').count(), 0);
		await close();
	},

	async 'keys walk through the boxes'() {
		const { page, close } = await open('server');
		await page.focus(SELECTED);
		const selected = () => page.getAttribute(SELECTED, 'aria-label');
		await page.keyboard.press('ArrowDown');
		assert.match(await selected(), /^async fn shop::http::serve: 10\.4 s/);
		await page.keyboard.press('ArrowRight');
		assert.match(await selected(), /^async fn shop::jobs::run/);
		assert.match(await page.textContent('#details h2'), /shop::jobs::run::\{async_fn_env#0\}<shop::jobs::Nightly>/);
		await page.keyboard.press('Enter');
		await zoomed(page);
		assert.match(await selected(), /^async fn shop::jobs::run/);
		await page.keyboard.press('Escape');
		await whole(page);
		assert.equal(await page.evaluate(() => location.hash), '#all');
		await page.focus(SELECTED);
		await page.keyboard.press('ArrowUp');
		assert.match(await selected(), /^all tasks/);
		assert.equal(await page.locator('.box[tabindex="0"]').count(), 1);
		await close();
	},

	async 'text is text'() {
		const { page, close } = await open('hostile');
		assert.equal(await page.getAttribute('html', 'data-hacked'), null);
		assert.match(await page.textContent('#program'), /<\/script><script>/);
		assert.equal(await page.locator('main img').count(), 0);
		await page.fill('#query', '<img');
		assert.match(await page.textContent('#found'), /100\.0 %/);
		assert.equal(await page.getAttribute('html', 'data-hacked'), null);
		await close();
	},

	async 'many places stay few boxes'() {
		const { page, close } = await open('many');
		const nodes = () => page.evaluate(() => document.getElementsByTagName('*').length);
		assert.ok(await nodes() < MOST_NODES, await nodes());
		assert.ok(await page.locator('.box[title*="smaller parts"]').count() > 0);
		await page.fill('#query', 'app::f1');
		assert.match(await page.textContent('#found'), /places/);
		await box(page, 'async fn app::a').click();
		await zoomed(page);
		assert.ok(await nodes() < MOST_NODES, await nodes());
		await shot(page, 'profile-many');
		await close();
	},

	async 'what is missing is reported'() {
		const { page, close } = await open('rough');
		assert.match(await page.textContent('#notes'), /lost 7 events: .*polling includes time off the CPU.*: 1 task.*3 polls/s);
		assert.doesNotMatch(await page.textContent('#states'), /off-processor/);
		assert.match(await page.textContent('#states'), /unknown 400 ms/);
		await close();
		const empty = await open('empty');
		assert.equal(await empty.page.locator('.box').count(), 1);
		await empty.close();
	},

	async 'it can be read by day and by night, on small and large screens'() {
		for (const scheme of ['light', 'dark']) {
			for (const width of [420, 1366, 2560]) {
				const { page, close } = await open('rough', '', scheme, width);
				let least = await leastContrast(page);
				assert.ok(least.ratio >= 4.5, `${scheme}: ${least.ratio} of ${least.text}`);
				await page.fill('#query', 'shop::db');
				least = await leastContrast(page);
				assert.ok(least.ratio >= 4.5, `${scheme}, searched: ${least.ratio} of ${least.text}`);
				await shot(page, `profile-${width}-${scheme}`);
				await close();
			}
		}
	},
};

let failed = 0;
for (const [name, run] of Object.entries(checks)) {
	try {
		await run();
		console.log('ok: ' + name);
	} catch (e) {
		failed++;
		console.log(`FAILED: ${name}: ${e.stack}`);
	}
}
await browser.close();
process.exit(failed ? 1 : 0);
