// DebugClient of @vscode/debugadapter-testsupport as a client of `asyncdbg dap`.
//
// usage: node client.js ASYNCDBG PROGRAM SOURCE LINE CORE EXE
"use strict";
const assert = require("assert");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [asyncdbg, program, source, line, core, exe] = process.argv.slice(2);
const LIMIT = 300000; // milliseconds until a test is given up

async function start() {
	const client = new DebugClient(asyncdbg, "dap", "asyncdbg");
	client.defaultTimeout = LIMIT;
	await client.start();
	return client;
}

async function launch() {
	const client = await start();
	const [, , stop] = await Promise.all([
		client.waitForEvent("initialized").then(async () => {
			const set = await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [{ line: Number(line) }] });
			assert.ok(set.body.breakpoints[0].verified);
			await client.configurationDoneRequest();
		}),
		client.launch({ program, sourceMap: { "/src": source.replace(/\/steps\/src\/main.rs$/, "") } }),
		client.assertStoppedLocation("breakpoint", { path: source, line: Number(line) }),
	]);
	assert.ok(stop.body.stackFrames.some((frame) => frame.name === "async steps::walk"));
	const { threads } = (await client.threadsRequest()).body;
	const running = threads.find((thread) => /steps::walk on worker/.test(thread.name));
	const frames = (await client.stackTraceRequest({ threadId: running.id })).body.stackFrames;
	const { scopes } = (await client.scopesRequest({ frameId: frames[0].id })).body;
	const { variables } = (await client.variablesRequest({ variablesReference: scopes[0].variablesReference })).body;
	assert.ok(variables.some((variable) => variable.name === "message"));
	await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
	await Promise.all([client.assertOutput("stdout", "{\"walkers\"", LIMIT), client.waitForEvent("terminated"),
		client.continueRequest({ threadId: running.id })]);
	await client.stop();
}

async function postMortem() {
	const client = await start();
	await Promise.all([
		client.waitForEvent("initialized").then(() => client.configurationDoneRequest()),
		client.initializeRequest().then(() => client.attachRequest({ core, program: exe })),
		client.waitForEvent("stopped"),
	]);
	const { threads } = (await client.threadsRequest()).body;
	assert.strictEqual(threads.filter((thread) => thread.name.startsWith("task ")).length, 24);
	await assert.rejects(client.continueRequest({ threadId: threads[0].id }), /post-mortem/);
	await client.stop();
}

launch()
	.then(postMortem)
	.then(() => console.log("testsupport: all as it should be"))
	.catch((error) => {
		console.error(error);
		process.exit(1);
	});
