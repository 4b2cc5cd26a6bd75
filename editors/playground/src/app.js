// The page: an editor, the panes, and the questions that they ask the worker.

import { history, historyKeymap, defaultKeymap, indentWithTab } from "@codemirror/commands";
import { closeBrackets } from "@codemirror/autocomplete";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import * as fragment from "./fragment.js";

const $ = (id) => document.getElementById(id);
const opened = performance.now();
const SOON = 60; // ms after a key before the program is checked
const PATIENCE = 8000; // ms after which one can stop a question

// ---------------------------------------------------------------- the worker

const asked = new Map();
let worker = null;
let counter = 0;
let progress = "Loading Python";
let verdict = "";

function start() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if ("progress" in data) progress = data.progress;
    if (data.broken) progress = `rlx could not be started: ${data.broken}`;
    const resolve = asked.get(data.id);
    if (resolve) {
      asked.delete(data.id);
      resolve(data.dropped ? null : data);
    }
    show();
  };
  worker.onerror = (event) => {
    progress = `rlx could not be started: ${event.message ?? "the worker does not run"}`;
    show();
  };
}

function ask(pane, question) {
  const id = ++counter;
  worker.postMessage({ ...question, pane, id });
  setTimeout(() => asked.has(id) && offerToStop(), PATIENCE);
  return new Promise((resolve) => asked.set(id, resolve)).finally(show);
}

function show() {
  const status = $("status");
  status.textContent = progress || verdict;
  status.classList.toggle("busy", Boolean(progress) || asked.size > 0);
}

function offerToStop() {
  if (progress || $("stop")) return;
  const button = Object.assign(document.createElement("button"), { id: "stop", textContent: "Stop" });
  button.onclick = () => {
    worker.terminate();
    for (const resolve of asked.values()) resolve(null);
    asked.clear();
    button.remove();
    progress = "Starting again";
    start();
    show();
  };
  $("status").after(button);
}

// ---------------------------------------------------------------- the editors

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.className), tags.meta], color: "var(--name)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

const common = [
  lineNumbers(), history(), drawSelection(), indentOnInput(), indentUnit.of("    "), bracketMatching(), closeBrackets(),
  highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), python(), syntaxHighlighting(colours),
  keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
];

const known = hoverTooltip(async (view, at) => {
  const found = await ask("hover", { code: text(), at });
  if (!found?.text) return null;
  return { pos: found.from, end: found.to, create: () => ({ dom: markdown(found.text) }) };
});

const editor = new EditorView({
  parent: $("editor"),
  state: EditorState.create({
    extensions: [
      ...common, lintGutter(), known,
      EditorView.contentAttributes.of({ "aria-label": "Program" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) edited();
        else if (update.selectionSet && pane === "why") later("why", SOON);
      }),
    ],
  }),
});
const after = new EditorView({
  parent: $("after"),
  state: EditorState.create({
    extensions: [
      ...common,
      EditorView.contentAttributes.of({ "aria-label": "The other program" }),
      EditorView.updateListener.of((update) => update.docChanged && later("refines", 400)),
    ],
  }),
});

const text = () => editor.state.doc.toString();
const fill = (view, code) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code }, selection: { anchor: 0 } });

function markdown(source) {
  const dom = Object.assign(document.createElement("div"), { className: "known" });
  source.split(/```\w*\n([\s\S]*?)\n```/).forEach((part, at) => {
    if (at % 2) dom.append(Object.assign(document.createElement("pre"), { textContent: part }));
    else part.trim().split(/`([^`]*)`/).forEach((word, odd) =>
      dom.append(odd % 2 ? Object.assign(document.createElement("code"), { textContent: word }) : word));
  });
  return dom;
}

// ---------------------------------------------------------------- the panes

let pane = "check";
const timers = {};

function later(name, wait) {
  $(`${name}-out`).classList.add("stale");
  clearTimeout(timers[name]);
  timers[name] = setTimeout(() => PANES[name](), wait);
}

function edited() {
  later("check", SOON);
  if (pane !== "check") later(pane, pane === "refines" || pane === "step" ? 600 : SOON);
}

function put(name, answer) {
  if (!answer) return false; // a newer question is on its way
  const out = $(`${name}-out`);
  out.classList.remove("stale");
  out.replaceChildren(...coloured(answer.text));
  return true;
}

function* coloured(said) {
  for (const line of said.trimEnd().split("\n")) {
    const kind = /^(error|warning|note)\b/.exec(line)?.[1] ?? (/^\d* ?\+ /.test(line) ? "add" : /^\d* ?- /.test(line) ? "remove"
      : /^proved/.test(line) ? "add" : /^refuted|✗/.test(line) ? "error" : "");
    const span = Object.assign(document.createElement("span"), { className: kind, textContent: `${line}\n` });
    yield span;
  }
}

const PANES = {
  async check() {
    const asking = performance.now();
    const code = text();
    const answer = await ask("check", { code });
    if (!put("check", answer) || code !== text()) return;
    const now = performance.now();
    document.documentElement.dataset.first ??= Math.round(now - opened);
    document.documentElement.dataset.edit = Math.round(now - asking);
    const { errors = 0, warnings = 0 } = answer;
    const counted = [errors && `${errors} error${errors > 1 ? "s" : ""}`, warnings && `${warnings} warning${warnings > 1 ? "s" : ""}`];
    verdict = `${counted.filter(Boolean).join(", ") || "no problems"} · ${Math.round(answer.time)} ms`;
    mark(answer.diagnostics ?? []);
    functions(answer.functions ?? []);
    show();
  },
  async prove() {
    put("prove", await ask("prove", { goal: $("goal").value, assume: $("assume").value }));
  },
  async step() {
    const answer = await ask("step", { code: text(), entry: $("entry").value || $("entry").dataset.wanted, inputs: $("inputs").value });
    if (!put("step", answer)) return;
    $("page").hidden = !answer.page;
    if (answer.page) $("page").srcdoc = answer.page;
  },
  async why() {
    const line = editor.state.doc.lineAt(editor.state.selection.main.head).number;
    $("line").textContent = line;
    put("why", await ask("why", { code: text(), line }));
  },
  async fmt() {
    const answer = await ask("fmt", { code: text() });
    if (!answer) return;
    $("use").disabled = answer.status !== 0;
    put("fmt", answer.status === 0 ? { text: answer.read } : answer);
  },
  async refines() {
    if (!after.state.doc.length) return put("refines", { text: "" });
    put("refines", await ask("refines", { code: text(), after: after.state.doc.toString() }));
  },
};

function mark(diagnostics) {
  const size = editor.state.doc.length;
  const marks = diagnostics.map((found) => ({
    from: Math.min(found.from, size),
    to: Math.min(found.to, size),
    severity: found.severity === "note" ? "info" : found.severity,
    source: found.code,
    message: found.message,
    actions: found.edit && [{ name: found.edit.title, apply: () => apply(found.edit) }],
  }));
  editor.dispatch(setDiagnostics(editor.state, marks));
  $("problems").replaceChildren(...diagnostics.map(problem));
}

const apply = (edit) => editor.dispatch({ changes: { from: edit.from, to: edit.to, insert: edit.text } });

function problem(found) {
  const item = document.createElement("li");
  const code = Object.assign(document.createElement("a"), { textContent: found.code, className: found.severity, href: "#", title: "explain this code" });
  code.onclick = async (event) => {
    event.preventDefault();
    put("check", await ask("explain", { code: found.code }));
  };
  const message = Object.assign(document.createElement("span"), { className: "message", textContent: found.message.split("\n")[0] });
  message.onclick = () => {
    editor.dispatch({ selection: { anchor: found.from, head: found.to }, scrollIntoView: true });
    editor.focus();
  };
  item.append(code, message);
  if (found.edit) {
    const fix = Object.assign(document.createElement("button"), { textContent: "Fix", title: found.edit.title });
    fix.onclick = () => apply(found.edit);
    item.append(fix);
  }
  return item;
}

function functions(found) {
  const entry = $("entry");
  const before = entry.value || entry.dataset.wanted;
  entry.replaceChildren(...found.map(({ name }) => Object.assign(document.createElement("option"), { textContent: name })));
  const names = found.map(({ name }) => name);
  entry.value = names.includes(before) ? before : names.includes("main") ? "main" : (names[0] ?? "");
}

function open(name) {
  pane = PANES[name] ? name : "check";
  for (const tab of document.querySelectorAll("[role=tab]")) tab.setAttribute("aria-selected", tab.dataset.pane === pane);
  for (const each of document.querySelectorAll(".pane")) each.hidden = each.id !== pane;
  after.requestMeasure();
  if (pane !== "check") PANES[pane]();
}

// ---------------------------------------------------------------- examples and links

let examples = [];

function load(example) {
  $("example").value = example.name ?? "";
  fill(after, example.after ?? "");
  for (const name of ["goal", "assume", "inputs"]) $(name).value = example[name] ?? $(name).defaultValue;
  $("entry").value = "";
  $("entry").dataset.wanted = example.entry ?? "";
  fill(editor, example.code);
  // "Why" asks about the line of the cursor: begin on one that binds something
  const line = +example.line || example.code.split("\n").findIndex((each) => /^\s+\w+(:.*)? = R\./.test(each)) + 1 || 1;
  editor.dispatch({ selection: { anchor: editor.state.doc.line(Math.min(line, editor.state.doc.lines)).from } });
  open(example.pane ?? pane);
}

async function fromAddress() {
  const state = await fragment.read(location.hash);
  const example = examples.find(({ name }) => name === state?.example) ?? examples[0];
  if (state === null) {
    load(example);
    verdict = "the link is damaged";
    return show();
  }
  load(state.code === undefined ? { ...example, ...state } : { ...state, pane: state.pane ?? "check" });
}

$("share").onclick = async () => {
  const line = pane === "why" ? String(editor.state.doc.lineAt(editor.state.selection.main.head).number) : "";
  const state = { pane, code: text(), line };
  if (pane === "prove") Object.assign(state, { goal: $("goal").value, assume: $("assume").value });
  if (pane === "step") Object.assign(state, { entry: $("entry").value, inputs: $("inputs").value });
  if (pane === "refines") state.after = after.state.doc.toString();
  history_(await fragment.write(state));
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  $("share").textContent = copied ? "Copied" : "In the address bar";
  setTimeout(() => ($("share").textContent = "Copy link"), 1500);
};
const history_ = (hash) => window.history.replaceState(null, "", hash);

for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.onclick = () => open(tab.dataset.pane);
  tab.onkeydown = ({ key }) => {
    const next = { ArrowRight: tab.nextElementSibling, ArrowLeft: tab.previousElementSibling }[key];
    next?.focus();
    next?.click();
  };
}
$("goal").oninput = () => later("prove", 150);
$("assume").oninput = () => later("prove", 150);
$("run").onclick = () => PANES.step();
$("entry").onchange = () => PANES.step();
$("inputs").onchange = () => PANES.step();
$("use").onclick = () => fill(editor, $("fmt-out").textContent);
$("copy").onclick = () => fill(after, text());
$("example").onchange = ({ target }) => {
  const chosen = examples.find(({ name }) => name === target.value);
  if (chosen) {
    history_(`#example=${encodeURIComponent(chosen.name)}`);
    load({ pane: "check", ...chosen });
  }
};
window.addEventListener("hashchange", fromAddress);

start();
examples = await (await fetch("examples.json")).json();
for (const { name, title } of examples) $("example").append(Object.assign(document.createElement("option"), { value: name, textContent: title }));
await fromAddress();
