// Starts `rlx lsp` with the first document that it can answer about.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { read, serverOf, wanted } = require("./settings");

/** The client that runs, or is being started. */
let client;

function settings() {
  const section = vscode.workspace.getConfiguration("rlx");
  return read((name) => section.get(name));
}

async function start() {
  const { command, args, selector } = settings();
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const server = {
    ...serverOf(command, args, folder?.uri.fsPath, os.homedir(), process.env),
    transport: TransportKind.stdio,
  };
  client = new LanguageClient("rlx", "Relax", server, { documentSelector: selector });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `Relax: cannot start '${command} ${args.join(" ")}' (${error.message}). ` +
        "Install it with: pip install rlx, or set rlx.path.",
    );
  }
}

/** Start the server unless it runs, if a document needs it and the user trusts the folder. */
async function startFor(document) {
  if (vscode.workspace.isTrusted && client === undefined && wanted(settings().selector, document)) {
    await start();
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined) {
    await running.dispose();
  }
}

async function restart() {
  await stop();
  for (const document of vscode.workspace.textDocuments) {
    await startFor(document);
  }
}

/**
 * Do what stands above a function: the words of a command, whose first is `rlx`. No shell and no
 * terminal reads them, since the name of a file may have any characters.
 */
function inTerminal(name, words) {
  if (!vscode.workspace.isTrusted) {
    return;
  }
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const { command } = settings();
  const cwd = folder?.uri.fsPath ?? os.homedir();
  const server = serverOf(command, words.slice(1), cwd, cwd, { ...process.env, FORCE_COLOR: "1" });
  const written = new vscode.EventEmitter();
  const say = (text) => written.fire(text.replaceAll("\n", "\r\n"));
  let child;
  const pty = {
    onDidWrite: written.event,
    open() {
      child = spawn(server.command, server.args, {
        ...server.options,
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stdout.setEncoding("utf8").on("data", say);
      child.stderr.setEncoding("utf8").on("data", say);
      child.on("error", (error) => say(`${error.message}\n`));
      child.on("close", (status) => say(`\nexit status ${status}\n`));
    },
    close: () => child?.kill(),
  };
  vscode.window.createTerminal({ name: `rlx ${name}`, pty }).show(true);
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("rlx.restart", restart),
    ...["run", "step", "why", "refines"].map((name) =>
      vscode.commands.registerCommand(`rlx.${name}`, (words) => inTerminal(name, words)),
    ),
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      const asked = ["rlx.path", "rlx.arguments", "rlx.python"];
      if (asked.some((name) => change.affectsConfiguration(name))) {
        await restart();
      }
    }),
  );
  await restart();
}

module.exports = { activate, deactivate: stop };
