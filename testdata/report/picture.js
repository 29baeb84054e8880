// Takes a picture of a report: its tasks, one of which waits for a lock and is in focus.
//
// usage: node picture.js MODULES BROWSER REPORT.html OUTPUT.png
//
// The part that is shown has no paths of the machine that the core is of, and no time.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executablePath, report, output] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');
const TASK = 10; /* of the fixture `locks`: it wants to write, behind three others and two readers */

const browser = await chromium.launch({
	executablePath,
	// A container's root has no sandbox, and its /dev/shm may be small.
	args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
await page.goto(pathToFileURL(resolve(report)).href + '#task-' + TASK);
await page.waitForSelector('#task-about h2');
await page.evaluate(() => document.activeElement.blur());
assert.doesNotMatch(await page.innerText('body'), /(^|\s)\/(home|root|tmp|work|build)\b/);
await page.screenshot({ path: output });
await browser.close();
