// Takes a picture of a profile: all that its tasks did but waiting, with the longest box chosen.
//
// usage: node profile_picture.js MODULES BROWSER PROFILE.html OUTPUT.png

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executablePath, profile, output] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');

const browser = await chromium.launch({
	executablePath,
	// A container's root has no sandbox, and its /dev/shm may be small.
	args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 640 }, colorScheme: 'light' });
await page.goto(pathToFileURL(resolve(profile)).href);
await page.click('#states [data-state=waiting]');
await page.focus('.box[aria-selected=true]');
for (let row = 0; row < 4; row++)
	await page.keyboard.press('ArrowDown');
await page.evaluate(() => document.activeElement.blur());
assert.doesNotMatch(await page.innerText('body'), /(^|\s)\/(home|root|tmp|work|build)\b/);
await page.screenshot({ path: output });
await browser.close();
