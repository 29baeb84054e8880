// Runs the extension with a stub of the module vscode: what it registers, and that the adapter which
// it names answers.
//
// usage: node test.js ASYNCDBG
"use strict";
const assert = require("assert");
const { spawn } = require("child_process");
const Module = require("module");
const path = require("path");

const asyncdbg = path.resolve(process.argv[2]);
const registered = { factories: {}, commands: {} };
let typed;

class DebugAdapterExecutable {
	constructor(command, args) {
		Object.assign(this, { command, args });
	}
}

class DebugAdapterNamedPipeServer {
	constructor(path) {
		this.path = path;
	}
}

const stub = {
	DebugAdapterExecutable,
	DebugAdapterNamedPipeServer,
	workspace: { getConfiguration: () => ({ get: (name) => ({ path: asyncdbg, arguments: ["--no-cache"] }[name]) }) },
	debug: {
		registerDebugAdapterDescriptorFactory(type, factory) {
			registered.factories[type] = factory;
			return { dispose() {} };
		},
	},
	commands: {
		registerCommand(name, run) {
			registered.commands[name] = run;
			return { dispose() {} };
		},
	},
	window: {
		showInputBox(options) {
			assert.strictEqual(options.validateInput("12"), undefined);
			assert.ok(options.validateInput("x"));
			return typed;
		},
	},
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? stub : load(name, ...rest));

const manifest = require("./package.json");
const extension = require(manifest.main);
const context = { subscriptions: [] };
extension.activate(context);
assert.strictEqual(context.subscriptions.length, 2);

const debuggers = manifest.contributes.debuggers;
assert.deepStrictEqual(Object.keys(registered.factories), debuggers.map((d) => d.type));
for (const command of Object.values(debuggers[0].variables)) {
	typed = "42";
	assert.strictEqual(registered.commands[command](), "42");
}
for (const example of debuggers[0].initialConfigurations.concat(debuggers[0].configurationSnippets.map((s) => s.body))) {
	const known = debuggers[0].configurationAttributes[example.request].properties;
	for (const name of Object.keys(example)) {
		assert.ok(["type", "request", "name"].includes(name) || known[name], `${name} is not described`);
	}
}

const describe = (configuration) => registered.factories.asyncdbg.createDebugAdapterDescriptor({ configuration });
assert.strictEqual(describe({ socket: "/run/user/1000/dap.sock" }).path, "/run/user/1000/dap.sock");
const { command, args } = describe({});
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const request = JSON.stringify({ seq: 1, type: "request", command: "initialize", arguments: { adapterID: "asyncdbg" } });
let answer = "";
server.stdout.on("data", (bytes) => {
	answer += bytes;
});
server.on("close", () => {
	assert.match(answer, /"supportsConfigurationDoneRequest":true/);
	extension.deactivate();
	console.log("vscode: all as it should be");
});
server.stdin.end(`Content-Length: ${request.length}\r\n\r\n${request}`);
