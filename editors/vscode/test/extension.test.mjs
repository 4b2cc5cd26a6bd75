// The built extension in an editor that is not there, and the server that its settings start.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import Module, { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const manifest = require("../package.json");
const { read, serverOf, wanted } = require("../src/settings.js");

const defaults = Object.fromEntries(
  Object.entries(manifest.contributes.configuration.properties).map(([name, property]) => [
    name.replace("rlx.", ""),
    property.default,
  ]),
);
const shown = [];
const commands = new Map();

/** Whatever is not given is a class, which is what the client extends. */
function open(given) {
  return new Proxy(given, {
    get: (target, name) => target[name] ?? (name === "then" ? undefined : class {}),
    has: () => true,
  });
}

const nothing = { dispose() {} };
const vscode = open({
  workspace: {
    getConfiguration: () => ({ get: (name) => defaults[name] }),
    onDidOpenTextDocument: () => nothing,
    onDidChangeConfiguration: () => nothing,
    onDidGrantWorkspaceTrust: () => nothing,
    isTrusted: false,
    textDocuments: [{ languageId: "relax", uri: { scheme: "file" } }],
  },
  window: { showErrorMessage: (text) => shown.push(text) },
  commands: {
    registerCommand(name, run) {
      commands.set(name, run);
      return nothing;
    },
  },
});

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require("../dist/extension.js");

test("an untrusted folder starts no server, and every command of the manifest is there", async () => {
  const subscriptions = [];
  await extension.activate({ subscriptions });
  const declared = manifest.contributes.commands.map(({ command }) => command);
  const lenses = ["run", "step", "why", "refines"].map((name) => `rlx.${name}`);
  assert.deepEqual([...commands.keys()], [...declared, ...lenses]);
  await commands.get("rlx.restart")();
  await extension.deactivate();
  assert.deepEqual(shown, []);
  assert.equal(subscriptions.length, 8);
});

test("a Python file alone starts no server", async () => {
  vscode.workspace.isTrusted = true;
  vscode.workspace.textDocuments[0].languageId = "python";
  await extension.activate({ subscriptions: [] });
  await extension.deactivate();
  assert.deepEqual(shown, []);
});

test("the server starts outside of the folder that is edited", () => {
  const { command, options } = serverOf("rlx", ["lsp"], "/work", os.homedir(), { PATH: "/bin" });
  assert.equal(command, "rlx");
  assert.equal(options.cwd, os.homedir());
  assert.deepEqual(options.env, { PATH: "/bin", PYTHONSAFEPATH: "1" });
  const own = serverOf(".venv/bin/rlx", [], "/work", "/home", {}).command;
  assert.equal(own, path.join("/work", ".venv/bin/rlx"));
  assert.equal(serverOf("/opt/rlx", [], "/work", "/home", {}).command, "/opt/rlx");
});

test("no shell and no terminal reads the name of a file", async () => {
  const name = "/work/it's $(exit 1)\x03;\n`x`.rlx";
  const heard = [];
  const script = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
  vscode.EventEmitter = class {
    fire = (text) => heard.push(text);
  };
  vscode.window.createTerminal = ({ pty }) => {
    pty.open();
    return { show() {} };
  };
  defaults.path = process.execPath;
  commands.get("rlx.run")(["rlx", "-e", script, name]);
  while (!heard.join("").includes("exit status 0")) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(JSON.parse(heard[0]), [name]);
  defaults.path = "";
  vscode.workspace.isTrusted = false;
  vscode.window.createTerminal = () => assert.fail("started in an untrusted folder");
  commands.get("rlx.run")(["rlx", "run", name]);
});

test("settings say for which documents", () => {
  const python = { languageId: "python", uri: { scheme: "file" } };
  const relax = { languageId: "relax", uri: { scheme: "untitled" } };
  const { selector } = read((name) => defaults[name]);
  assert.deepEqual([wanted(selector, python), wanted(selector, relax)], [false, true]);
  const both = read((name) => name === "python" || defaults[name]).selector;
  assert.deepEqual([wanted(both, python), wanted(both, relax)], [true, true]);
});

test("the command of the settings answers", { skip: !process.env.RLX && "RLX names no rlx" }, async () => {
  const rpc = require("vscode-jsonrpc/node");
  const { command, args } = read((name) => (name === "path" ? process.env.RLX : defaults[name]));
  const server = spawn(command, [...args, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(server.stdout, server.stdin);
  const told = new Promise((resolve) => {
    connection.onNotification("textDocument/publishDiagnostics", resolve);
  });
  connection.listen();
  await connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
  await connection.sendNotification("initialized", {});
  const text = '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    return y\n';
  const textDocument = { uri: "file:///work/a.rlx", languageId: "relax", version: 1, text };
  await connection.sendNotification("textDocument/didOpen", { textDocument });
  const { diagnostics } = await told;
  assert.deepEqual(diagnostics.map(({ code }) => code), ["WF02-undefined"]);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  const status = await new Promise((resolve) => server.on("exit", resolve));
  connection.dispose();
  assert.equal(status, 0);
});
