// Registers `asyncdbg dap` as the debug adapter of the type "asyncdbg". All else is in the server.
"use strict";
const vscode = require("vscode");

function activate(context) {
	const factory = {
		createDebugAdapterDescriptor(session) {
			const { socket } = session.configuration;
			if (socket) return new vscode.DebugAdapterNamedPipeServer(socket);
			const settings = vscode.workspace.getConfiguration("asyncdbg");
			const options = settings.get("arguments") || [];
			return new vscode.DebugAdapterExecutable(settings.get("path") || "asyncdbg", [...options, "dap"]);
		},
	};
	context.subscriptions.push(
		vscode.debug.registerDebugAdapterDescriptorFactory("asyncdbg", factory),
		vscode.commands.registerCommand("asyncdbg.pickProcess", () =>
			vscode.window.showInputBox({
				prompt: "Process id",
				validateInput: (text) => (/^[1-9][0-9]*$/.test(text) ? undefined : "A process id is a number"),
			})
		)
	);
}

function deactivate() {}

module.exports = { activate, deactivate };
