// Opens reports in a browser and does what a reader would.
//
// usage: node check.js MODULES BROWSER PAGES OUTPUT
//
// MODULES: a folder with node_modules/playwright-core. PAGES: a folder with locks.html (of the
// fixture of that name), hostile.html, deadlock.html, server.html, plain.html and many.html (of
// pages.c). Screenshots go to OUTPUT. Whether all of a page can be read is for readable.js to say.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const [modules, executablePath, pages, output] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');

// What may be in the document at any time, however many tasks there are.
const MOST_NODES = 3000;
// What one search may put into it.
const MOST_NEW_NODES = 3000;

const browser = await chromium.launch({
	executablePath,
	// A container's root has no sandbox, and its /dev/shm may be small.
	args: ['--no-sandbox', '--disable-dev-shm-usage'],
});

// A page, on which nothing may go wrong: said() lists what did.
async function open(name, address = '', colorScheme = 'light') {
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme });
	page.setDefaultTimeout(600000); // the machine may be busy
	const wrong = [];
	const file = pathToFileURL(resolve(pages, name)).href;
	page.on('console', (m) => wrong.push('console: ' + m.text()));
	page.on('pageerror', (e) => wrong.push('error: ' + e.stack));
	page.on('dialog', (d) => {
		wrong.push('dialog: ' + d.message());
		d.dismiss();
	});
	page.on('request', (r) => r.url().split('#')[0] === file || wrong.push('request: ' + r.url()));
	await page.goto(file + address);
	assert.equal(await page.getAttribute('html', 'data-ready'), 'yes', name + ' did not get ready: ' + wrong);
	return { page, wrong, close: async () => {
		assert.deepEqual(wrong, []);
		await page.close();
	} };
}

const text = (page, selector) => page.textContent(selector);
const nodes = (page) => page.evaluate(() => document.getElementsByTagName('*').length);
const SELECTED = '#task-list [aria-selected=true]';

// Waits until an element has that text: links are followed a moment after they are clicked.
async function has(page, selector, expected) {
	for (let tries = 0; ; tries++) {
		const now = await page.locator(selector).first().textContent({ timeout: 10000 });
		if (expected.test(now) || tries === 200) {
			assert.match(now, expected);
			return;
		}
		await page.waitForTimeout(50);
	}
}

const shot = (page, name) => page.screenshot({ path: resolve(output, name + '.png') });

// Lines of a list as they are in sight; the first of them is the one at the top.
const lines = (page) => page.locator('#task-list .row');

async function goTo(page, address) {
	await page.evaluate((to) => { location.hash = to; }, address);
	await page.waitForFunction((to) => location.hash === to, address);
}

const checks = {
	async 'it opens with what is most important'() {
		const { page, close } = await open('locks.html');
		assert.match(await page.title(), /^locks/);
		assert.ok(await page.isVisible('#view-overview'));
		assert.ok(!await page.isVisible('#view-tasks'));
		await has(page, '#view-overview', /1\.38\.2/);
		await has(page, '#to-tasks', /29/);
		await shot(page, 'overview-light');
		await close();
	},

	async 'verdicts come first, and the graph shows them'() {
		const { page, close } = await open('deadlock.html');
		assert.equal(await page.locator('.verdict').count(), 1);
		await has(page, '.verdict', /^Deadlock.*task 1.*task 2/s);
		assert.ok(await page.locator('.verdict').evaluate((v) =>
			v.getBoundingClientRect().bottom < document.querySelector('.card').getBoundingClientRect().top));
		await shot(page, 'verdict-light');
		await page.click('.verdict >> text=In the graph');
		await page.waitForSelector('#view-graph svg');
		// Both tasks, both locks and who stands behind; nothing of the channel.
		assert.equal(await page.locator('#view-graph .node.circle').count(), 4);
		assert.equal(await page.locator('#view-graph .edge.circle').count(), 4);
		await has(page, '#view-graph svg', /task 3/);
		assert.doesNotMatch(await text(page, '#view-graph svg'), /task 5/);
		await shot(page, 'graph-light');
		await page.click('#to-graph');
		await page.waitForFunction(() => /task 5/.test(
			document.querySelector('#view-graph svg').textContent));
		await page.click('#view-graph a:has-text("task 3")');
		await has(page, SELECTED, /Task 3/);
		await page.click('#to-locks');
		await has(page, '#lock-list', /held by.*task 1/);
		await has(page, '#lock-list', /waits.*task 2/);
		await page.click('#lock-list >> text=task 2 >> nth=0');
		await has(page, SELECTED, /Task 2/);
		await has(page, '#task-about', /Waits for.*Mutex/s);
		await shot(page, 'task-light');
		await close();
	},

	async 'search narrows'() {
		const { page, close } = await open('locks.html', '#tasks');
		await page.uncheck('#grouped');
		assert.equal(await text(page, '#found'), '29 tasks');
		await page.fill('#query', 'wait:mutex');
		assert.equal(await text(page, '#found'), '3 of 29 tasks');
		for (const line of await lines(page).filter({ hasText: 'Task' }).allTextContents())
			assert.match(line, /mutex/);
		await page.fill('#query', 'wait:mutex id:3');
		assert.equal(await text(page, '#found'), '1 of 29 tasks');
		await page.fill('#query', 'main.rs:60');
		assert.equal(await text(page, '#found'), '2 of 29 tasks');
		await page.fill('#query', '-wait:sleep -wait:mutex');
		assert.equal(await text(page, '#found'), '19 of 29 tasks');
		await page.fill('#query', 'no such thing');
		assert.equal(await text(page, '#found'), '0 of 29 tasks');
		assert.equal(await lines(page).count(), 0);
		await close();
	},

	async 'a link to a task jumps to it and opens it'() {
		const { page, close } = await open('locks.html', '#task-7');
		await has(page, SELECTED, /Task 7/);
		assert.equal(await page.getAttribute('#task-list [aria-selected=true]', 'aria-expanded'),
			'true');
		assert.equal(await text(page, '#task-about h2'), 'Task 7');
		await has(page, '#task-about', /rwlock write/);
		// Out of a search that hides it, by a link.
		await page.fill('#query', 'wait:sleep');
		await goTo(page, '#task-29');
		await page.waitForFunction(() => document.querySelector('#query').value === '');
		await has(page, SELECTED, /Task 29/);
		assert.ok(await page.locator('#task-list [aria-selected=true]').isVisible());
		// From a number of the first page to the tasks that it counts.
		await page.click('#to-overview');
		await page.click('.bars a:has-text("mutex")');
		await has(page, '#found', /^3 of 29 tasks$/);
		await page.goBack();
		await page.waitForSelector('#view-overview', { state: 'visible' });
		await close();
	},

	async 'nothing takes room before there is something to tell'() {
		const { page, close } = await open('server.html', '#tasks');
		const wide = (selector) => page.locator(selector).evaluate((e) => e.clientWidth);
		assert.ok(!await page.isVisible('#task-about'));
		assert.equal(await wide('#task-list'), 1440);
		await page.click('#task-list .row >> nth=0');
		assert.ok(await page.isVisible('#task-about'));
		await page.keyboard.press('Escape');
		assert.ok(!await page.isVisible('#task-about'));
		/* Who ended it is not shown each line that the keys pass. */
		await page.keyboard.press('ArrowDown');
		assert.ok(!await page.isVisible('#task-about'));
		await page.keyboard.press('Enter');
		assert.ok(await page.isVisible('#task-about'));
		await page.click('#task-about .close');
		assert.ok(!await page.isVisible('#task-about'));
		assert.ok(await page.locator('#task-list .tree').evaluate((e) => e === document.activeElement));
		await close();
	},

	async 'all that a task waits for is found and counted'() {
		const { page, close } = await open('server.html', '#tasks');
		await page.uncheck('#grouped');
		const found = async (query, expected) => {
			await page.fill('#query', query);
			assert.equal(await text(page, '#found'), expected, query);
		};
		await found('wait:tcp_read', '2 of 5 tasks');
		await found('wait:mpsc_recv', '2 of 5 tasks');
		await found('wait:"mpsc recv"', '2 of 5 tasks');
		await found('wait:sleep', '3 of 5 tasks');
		await found('wait:"fd 1042"', '2 of 5 tasks');
		/* Task 3 has a join that it does not poll: found, as by `tasks --with waiting_on`, not counted. */
		await found('wait:join', '1 of 5 tasks');
		await found('wait:=join', '0 of 5 tasks');
		await found('wait:=mpsc_recv', '2 of 5 tasks');
		await found('wait:none', '0 of 5 tasks');
		await found('id:2', '1 of 5 tasks');
		await has(page, '#task-list .row[aria-level="1"] .what', /\+2 more$/);
		await page.click('#task-list .row >> nth=0');
		await has(page, '#task-about', /And for.*mpsc_recv.*sleep/s);
		await page.click('#to-overview');
		for (const [kind, n] of [['tcp read', 2], ['mpsc recv', 2], ['sleep', 3], ['mutex', 1]]) {
			await has(page, `.bars a:has-text("${kind}")`, new RegExp(`${kind}${n}$`));
			await page.click(`.bars a:has-text("${kind}")`);
			await has(page, '#found', new RegExp(`^${n} of 5 tasks$`));
			await page.click('#to-overview');
		}
		await close();
	},

	async 'the graph calls tasks what the list calls them, and says what its signs mean'() {
		const { page, close } = await open('server.html', '#graph');
		await page.waitForSelector('#view-graph svg');
		const boxes = await page.locator('#view-graph a.node').allTextContents();
		assert.ok(boxes.some((b) => /task 2.*begin_checkout/s.test(b)), boxes.join());
		/* Of a trait's method, whose it is. */
		assert.ok(boxes.some((b) => /task 4.*CacheWarmer.*run/s.test(b)), boxes.join());
		for (const box of await page.locator('#view-graph .node text').allTextContents())
			assert.doesNotMatch(box, /Instrumented|Map/);
		assert.ok(await page.locator('#view-graph text.outside').count() > 0);
		await has(page, '.key .outside', /\+ \?.*timer/);
		await close();
	},

	async 'locks say what the graph says'() {
		const { page, close } = await open('server.html', '#graph');
		const words = await page.locator('#view-graph .words li').allTextContents();
		await page.click('#to-locks');
		for (const [edge, role, task, doubt] of [
			[/^Mutex .*held by task 2/i, 'held by', 'task 2', /the only candidate$/],
			/* Its variables may have been moved out, but the channel counts one sender. */
			[/^mpsc channel .*task 3/, 'sender', 'task 3', /the only candidate$/],
			[/^semaphore .*held by task 4/i, 'held by', 'task 4', /unless permits are held elsewhere/],
		]) {
			const said = words.find((w) => edge.test(w));
			assert.match(said, doubt);
			const line = await text(page, `#lock-list .row:has-text("${role}"):has(a:text-is("${task}")) .what`);
			assert.match(line, doubt);
		}
		await close();
	},

	async 'a program without a runtime says so'() {
		const { page, close } = await open('plain.html');
		await has(page, '#view-overview .verdict', /No runtime was found.*no tokio in this program/s);
		await page.click('#to-tasks');
		await has(page, '#task-list .empty', /No runtime was found/);
		await close();
	},

	async 'threads have their stacks'() {
		const { page, close } = await open('locks.html', '#thread-1');
		await has(page, '#thread-list [aria-selected=true]', /Thread 1/);
		await has(page, '#thread-list', /locks::main/);
		await shot(page, 'threads-light');
		await close();
	},

	async 'the keyboard does all of it'() {
		const { page, close } = await open('locks.html');
		await page.keyboard.press('/');
		assert.ok(await page.isVisible('#view-tasks'));
		await page.uncheck('#grouped');
		await page.focus('#query');
		await page.keyboard.type('wait:barrier');
		await page.click('#fold');
		await page.focus('#query');
		await page.keyboard.press('ArrowDown');
		await has(page, SELECTED, /Task 25/);
		await page.keyboard.press('ArrowRight');
		const open_ = () => page.getAttribute('#task-list [aria-selected=true]', 'aria-expanded');
		assert.equal(await open_(), 'true');
		await page.keyboard.press('ArrowRight');
		await has(page, SELECTED, /#0/);
		await has(page, '#task-about', /locks::meet/);
		await page.keyboard.press('ArrowLeft');
		await has(page, SELECTED, /Task 25/);
		await page.keyboard.press('ArrowLeft');
		assert.equal(await open_(), 'false');
		await page.keyboard.press('End');
		await has(page, SELECTED, /Task 27/);
		await page.keyboard.press('Home');
		await has(page, SELECTED, /Task 25/);
		// What is read out is the line that is chosen.
		const active = await page.getAttribute('#task-list .tree', 'aria-activedescendant');
		await has(page, '#' + active, /Task 25/);
		await close();
	},

	async 'hostile text does nothing'() {
		for (const address of ['', '#tasks', '#task-4', '#thread-1', '#locks', '#graph', '#graph-4']) {
			const { page, close } = await open('hostile.html', address);
			if (address === '#task-4')
				await page.click('#task-list .frame >> nth=0');
			assert.equal(await page.getAttribute('html', 'data-hacked'), null);
			assert.equal(await page.locator('img, iframe, object, embed, base').count(), 0);
			assert.equal(await page.locator('script').count(), 2);
			assert.equal(await page.locator('style').count(), 1);
			assert.equal(await page.locator('body *').evaluateAll((all) => all.filter((e) =>
				[...e.attributes].some((a) => a.name.startsWith('on') ||
					(a.name === 'href' && !a.value.startsWith('#')))).length), 0);
			await has(page, 'body', /<img src=x onerror=/);
			assert.equal(await page.locator('.verdict').count(), 1);
			await close();
		}
	},

	async 'the page may not load anything'() {
		const { page } = await open('locks.html');
		const violated = await page.evaluate(() => new Promise((done) => {
			document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective));
			document.body.append(Object.assign(new Image(), { src: 'x.png' }));
			setTimeout(() => done('loaded'), 5000);
		}));
		assert.equal(violated, 'img-src');
		await page.close();
	},

	async 'a hundred thousand tasks'() {
		assert.ok(statSync(resolve(pages, 'many.html')).size < 15e6);
		const { page, close } = await open('many.html');
		const few = async (what) => {
			const n = await nodes(page);
			assert.ok(n < MOST_NODES, `${what}: ${n} elements`);
		};
		await few('overview');
		await shot(page, 'many-overview-light');
		await page.click('#to-graph');
		await page.waitForSelector('#view-graph svg');
		await few('graph');
		await has(page, '#view-graph output', / of \d\d,\d\d\d shown/);
		await shot(page, 'many-graph-light');
		await page.click('#to-locks');
		await page.waitForSelector('#lock-list .row');
		await few('locks');
		await page.click('#to-tasks');
		await few('tasks');
		await shot(page, 'many-tasks-light');
		await page.uncheck('#grouped');
		assert.equal(await text(page, '#found'), '100,000 tasks');
		await few('all tasks');
		await page.evaluate(() => {
			window.added = 0;
			new MutationObserver((changes) => changes.forEach((c) => c.addedNodes.forEach((n) => {
				window.added += 1 + (n.getElementsByTagName ? n.getElementsByTagName('*').length : 0);
			}))).observe(document.body, { childList: true, subtree: true });
		});
		await page.fill('#query', 'part7::step');
		assert.equal(await text(page, '#found'), '2,500 of 100,000 tasks');
		await page.waitForFunction(() => window.added > 0);
		const added = await page.evaluate(() => window.added);
		assert.ok(added < MOST_NEW_NODES, `a search made ${added} elements`);
		await page.fill('#query', 'part7::step -state:idle');
		assert.equal(await text(page, '#found'), '358 of 100,000 tasks');
		await page.fill('#query', 'id:77777');
		assert.equal(await text(page, '#found'), '1 of 100,000 tasks');
		await goTo(page, '#task-99999');
		await page.waitForFunction(() => /Task 99999/.test(
			(document.querySelector('#task-list [aria-selected=true]') || {}).textContent));
		await few('jumped');
		await page.focus('#task-list .tree');
		await page.keyboard.press('End');
		await few('at the end');
		await has(page, SELECTED, /./);
		await close();
	},

	async 'it is readable in the dark, in little room and on paper'() {
		const { page, close } = await open('locks.html', '#overview', 'dark');
		await shot(page, 'overview-dark');
		await goTo(page, '#task-7');
		await shot(page, 'tasks-dark');
		await page.setViewportSize({ width: 420, height: 800 });
		await shot(page, 'tasks-narrow');
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		assert.ok(wide <= 420, `it is ${wide} wide`);
		await close();
		const light = await open('locks.html', '#task-7');
		await shot(light.page, 'tasks-light');
		await light.page.pdf({ path: resolve(output, 'print.pdf') });
		await light.close();
	},
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
	try {
		await check();
		console.log('ok: ' + name);
	} catch (error) {
		failed++;
		console.log('FAILED: ' + name + '\n' + error.stack);
	}
}
await browser.close();
process.exitCode = failed ? 1 : 0;
