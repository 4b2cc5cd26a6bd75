"use strict";
const trace = JSON.parse(document.getElementById("trace").textContent);
const $ = id => document.getElementById(id);
const element = (tag, text, kind) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

// ---------------------------------------------------------------- state: steps applied, each with its undoing
// `result` and `fresh` are those of the latest step alone; `fresh` has the objects that it made (null) or changed
// (what they were before).
const state = { at: 0, frames: [], objects: new Map(), result: null, names: new Set(), fresh: new Map() };
const undo = [];
const topmost = () => state.frames[state.frames.length - 1];

const change = {
  // [">", name] a frame is pushed; ["<"] popped
  ">": ([, name]) => { state.frames.push({ name, variables: new Map() }); return () => state.frames.pop(); },
  "<": () => { const gone = state.frames.pop(); return () => state.frames.push(gone); },
  // ["=", name, text, parts] a name is bound in the top frame; ["-", name] goes out of scope
  "=": ([, name, text, parts]) => {
    const scope = topmost().variables, had = scope.has(name), old = scope.get(name);
    scope.set(name, { text, parts });
    state.names.add(name);
    return () => { if (had) scope.set(name, old); else scope.delete(name); };
  },
  "-": ([, name]) => {
    const scope = topmost().variables, before = [...scope];
    scope.delete(name);
    return () => { scope.clear(); for (const [key, held] of before) scope.set(key, held); };
  },
  // ["+", object, text, memory, cells] an object comes into being; ["~", object, text, cells] its memory changes
  "+": ([, id, text, memory, cells]) => {
    state.objects.set(id, { text, memory, cells });
    state.fresh.set(id, null);
    return () => state.objects.delete(id);
  },
  "~": ([, id, text, cells]) => {
    const old = state.objects.get(id);
    state.objects.set(id, { ...old, text, cells });
    state.fresh.set(id, old);
    return () => state.objects.set(id, old);
  },
  // [".", text, parts] the value that the step yields
  ".": ([, text, parts]) => { state.result = { text, parts }; return () => {}; },
};

function clear() { state.result = null; state.names.clear(); state.fresh.clear(); }
function apply(changes) { clear(); return (changes || []).map(item => change[item[0]](item)); }
function forward() { undo.push(apply(trace.steps[state.at++][3])); }
function back() { state.at--; for (const undoing of undo.pop().reverse()) undoing(); }
function reset() {
  state.at = undo.length = state.frames.length = 0;
  state.objects.clear();
  apply(trace.start);
}
function go(target) {
  target = Math.max(0, Math.min(trace.steps.length, Math.trunc(Number(target)) || 0));
  if (target === 0) reset();
  if (state.at > target) {  // one step more and forward again: what it did is shown as on the way forward
    while (state.at >= target) back();
    forward();
  }
  while (state.at < target) forward();
  show();
}

// ---------------------------------------------------------------- the source, its colours and the redex in it
// Offsets of the trace count characters, those of this language count halves of some of them.
const characters = [...trace.source], halves = [0];
if (characters.length !== trace.source.length)
  for (const character of characters) halves.push(halves[halves.length - 1] + character.length);
const offset = at => halves.length > 1 && at >= 0 ? halves[at] : at;
const starts = [0];
for (let i = 0; i < trace.source.length; i++) if (trace.source[i] === "\n") starts.push(i + 1);
const texts = trace.source.split("\n"), rows = [], colours = texts.map(() => []);
const TOKEN = new RegExp([
  /(?<comment>#[^\n]*)/, /(?<string>"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/, /(?<decorator>@[\w.]+)/,
  /(?<keyword>\b(?:def|return|with|if|else|elif|class|for|while|in|as|lambda|not|and|or|True|False|None|import|from|pass)\b)/,
  /(?<builtin>\b[RTI]\.[\w.]+)/, /(?<number>\b\d[\w.]*)/,
].map(part => part.source).join("|"), "g");

function lineOf(at) {
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle; else high = middle - 1;
  }
  return low;
}
for (const token of trace.source.matchAll(TOKEN)) {
  const kind = Object.keys(token.groups).find(name => token.groups[name] !== undefined);
  const end = token.index + token[0].length;
  for (let row = lineOf(token.index); row < texts.length && starts[row] < end; row++) {
    const from = Math.max(0, token.index - starts[row]), to = Math.min(texts[row].length, end - starts[row]);
    if (from < to) colours[row].push([from, to, kind]);
  }
}
function coloured(row, from, to) {
  const made = document.createDocumentFragment(), text = texts[row];
  let at = from;
  for (const [start, end, kind] of colours[row]) {
    const first = Math.max(start, from), last = Math.min(end, to);
    if (first >= last) continue;
    made.append(text.slice(at, first), element("span", text.slice(first, last), kind));
    at = last;
  }
  made.append(text.slice(at, to));
  return made;
}
{
  const all = document.createDocumentFragment();
  texts.forEach((text, at) => {
    const row = element("div");
    row.dataset.line = at + 1;
    row.append(text ? coloured(at, 0, text.length) : " ");
    rows.push(row);
    all.append(row);
  });
  $("source").append(all);
}
let marked = [];
function mark(start, end) {
  for (const at of marked) {
    rows[at].replaceChildren(texts[at] ? coloured(at, 0, texts[at].length) : " ");
    rows[at].className = "";
    rows[at].removeAttribute("aria-current");
  }
  marked = [];
  if (start < 0) return;
  const first = lineOf(start), last = Math.min(lineOf(Math.max(start, end - 1)), first + 200);
  for (let at = first; at <= last; at++) {
    const length = texts[at].length;
    const blank = texts[at].length - texts[at].trimStart().length;
    const from = Math.min(length, Math.max(at === first ? 0 : blank, start - starts[at])), to = Math.min(length, end - starts[at]);
    const inside = element("mark");
    inside.append(coloured(at, from, to));
    rows[at].replaceChildren(coloured(at, 0, from), inside, coloured(at, to, length));
    rows[at].className = "here";
    rows[at].setAttribute("aria-current", "step");
    marked.push(at);
  }
  rows[first].scrollIntoView({ block: "nearest" });
}

// ---------------------------------------------------------------- values as tables
// Cells are [[label, rows], …], and what is left out: rows, columns, slices.
function tables(name, object, before) {
  const made = document.createDocumentFragment(), { slices, left } = object.cells;
  slices.forEach(([label, cells], at) => {
    const table = element("table", undefined, "values"), old = before && before.cells ? before.cells.slices[at][1] : null;
    const caption = element("caption", label || " ", label ? "" : "sr");
    if (!label) caption.textContent = name;
    table.append(caption);
    const head = table.createTHead().insertRow(), flat = object.cells.rank === 1;
    if (!flat) head.append(element("th"));
    const body = table.createTBody();
    cells[0].forEach((_, column) => head.append(scoped(column, "col")));
    cells.forEach((line, row) => {
      const shown = body.insertRow();
      if (!flat) shown.append(scoped(row, "row"));
      line.forEach((text, column) => {
        const cell = shown.insertCell(), was = old ? old[row][column] : text;
        if (was === text) { cell.textContent = text; return; }
        cell.className = "changed";
        cell.append(element("del", was), " ", element("ins", text));
      });
    });
    made.append(table);
  });
  const more = left.map((count, at) => count && `${count} more ${["rows", "columns", "slices"][at]}`).filter(Boolean);
  if (more.length) made.append(element("p", `… ${more.join(", ")}`, "kind"));
  return made;
}
function scoped(text, scope) {
  const made = element("th", String(text));
  made.scope = scope;
  return made;
}

// ---------------------------------------------------------------- what is shown
const SHOWN = 30, BOXES = 200;
const sentence = {
  ">": ([, name]) => `enters ${name}`,
  "<": () => "leaves",
  "=": ([, name, text]) => `${name} = ${text}`,
  "-": ([, name]) => `${name} goes out of scope`,
  "+": ([, id, text]) => `#${id} comes into being: ${text}`,
  "~": ([, id, text]) => `#${id} becomes ${text}`,
  ".": ([, text]) => text,
};
function show() {
  const step = state.at ? trace.steps[state.at - 1] : null, rule = step ? trace.rules[step[0]] : null;
  $("slider").value = $("at").value = state.at;
  $("slider").setAttribute("aria-valuetext", `step ${state.at} of ${trace.steps.length}`);
  $("link").textContent = `step ${state.at} of ${trace.steps.length}`;
  $("link").href = `#step=${state.at}`;
  const start = step ? offset(step[1]) : -1, end = step ? offset(step[2]) : -1;
  mark(start, end);
  $("said").textContent = step
    ? `Step ${state.at}: ${rule.id}${start < 0 ? "" : `, line ${lineOf(start) + 1}`}`
    : "Before the first step";
  const changes = (step ? step[3] : trace.start) || [];
  $("changed").replaceChildren(...changes.map(item => element("li", sentence[item[0]](item), item[0] === "." ? "result" : "")));
  clause(rule);
  frames();
  store();
  remember();
}
function clause(rule) {
  if (!rule) { $("clause").replaceChildren(element("p", "No rule was applied yet.")); return; }
  const head = element("p");
  head.append(element("b", rule.id, "id"), ` ${rule.title}`);
  const parts = [head, element("p", rule.clause)];
  if (rule.inference) {
    const shown = element("div", undefined, "inference"), above = element("div", undefined, "above");
    shown.setAttribute("role", "img");
    shown.setAttribute("aria-label", `${rule.id} as an inference: ${rule.spoken}`);
    for (const [label, premise] of rule.inference.premises) {
      const typeset = element("span");
      typeset.innerHTML = premise;  // of the specification, escaped when it was written
      above.append(element("span", label, "label"), typeset);
    }
    const below = element("div", undefined, "below");
    below.innerHTML = rule.inference.conclusion;
    shown.append(above, below);
    parts.push(shown);
  }
  parts.push(element("p", rule.why, "why"));
  $("clause").replaceChildren(...parts);
}
function frames() {
  const all = [], last = state.frames.length - 1;
  for (let at = last; at >= Math.max(0, last - SHOWN + 1); at--) {
    const frame = state.frames[at], box = element("div", undefined, at === last ? "frame" : "frame below");
    box.append(element("h3", frame.name));
    const table = element("table", undefined, "variables");
    table.append(element("caption", `variables of ${frame.name}`, "sr"));
    for (const [name, { text }] of frame.variables) {
      const row = table.insertRow();
      row.append(scoped(name, "row"));
      row.insertCell().textContent = text;
      if (at === last && state.names.has(name)) row.className = "fresh";
    }
    box.append(table);
    all.push(box);
  }
  if (last >= SHOWN) all.push(element("p", `… and ${last + 1 - SHOWN} frames below`, "mono"));
  $("frames").replaceChildren(...all);
}
function holders() {
  const found = new Map();
  for (const frame of state.frames)
    for (const [name, { parts }] of frame.variables)
      for (const [path, id] of parts) found.set(id, (found.get(id) || []).concat(`${name}${path} in ${frame.name}`));
  return found;
}
function store() {
  const held = holders(), memories = new Map();
  for (const [id, object] of state.objects) {
    if (!memories.has(object.memory)) memories.set(object.memory, []);
    memories.get(object.memory).push(id);
  }
  const live = [], idle = [];
  for (const ids of memories.values())
    (ids.some(id => held.has(id) || state.fresh.has(id)) ? live : idle).push(ids);
  const boxes = live.slice(-BOXES).map(ids => box(ids, held));
  if (live.length > BOXES) boxes.unshift(element("p", `… and ${live.length - BOXES} more`, "mono"));
  if (idle.length) {
    const more = element("details");
    more.append(element("summary", `${idle.length} without a name`), ...idle.slice(-BOXES).map(ids => box(ids, held)));
    boxes.push(more);
  }
  if (!boxes.length) boxes.push(element("p", "empty"));
  $("store").replaceChildren(...boxes);
}
// One piece of memory with all its names; its objects are shown apart only where they look different.
function box(ids, held) {
  const fresh = ids.filter(id => state.fresh.has(id)), made = element("div", undefined, fresh.length ? "box fresh" : "box");
  const names = element("div", undefined, "names");
  for (const id of ids) {
    names.append(element("b", `#${id}`));
    for (const name of held.get(id) || []) names.append(element("span", name, "name"));
    if (state.fresh.has(id)) names.append(element("span", state.fresh.get(id) ? "changed" : "new", "tag"));
  }
  made.append(names);
  const seen = new Set();
  for (const id of ids) {
    const object = state.objects.get(id);
    if (seen.has(object.text)) continue;
    seen.add(object.text);
    const before = state.fresh.get(id), kind = object.cells ? object.text.replace(/ \[.*/s, "") : object.text;
    const line = element("div", undefined, "mono kind");
    if (before && !object.cells && before.text !== object.text) line.append(element("del", before.text), " ", element("ins", kind));
    else line.textContent = kind;
    made.append(line);
    if (object.cells) made.append(tables(`#${id}`, object, before));
  }
  return made;
}

// ---------------------------------------------------------------- a link to a step
let writing = 0;
function remember() {  // browsers allow an address to change some times a second only
  clearTimeout(writing);
  writing = setTimeout(() => {
    if (location.hash !== `#step=${state.at}`) history.replaceState(null, "", `#step=${state.at}`);
  }, 250);
}
function wanted() {
  const found = /^#(?:step=)?(\d+)$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}
window.addEventListener("hashchange", () => { const step = wanted(); if (step !== null && step !== state.at) go(step); });

// ---------------------------------------------------------------- playing
let playing = 0;
function play() {
  if (playing) { stop(); return; }
  if (state.at === trace.steps.length) go(0);
  playing = setInterval(() => {
    go(state.at + 1);
    if (state.at === trace.steps.length) stop();
  }, 1000 / Number($("speed").value));
  $("play").textContent = "Stop";
  $("said").setAttribute("aria-live", "off");
}
function stop() {
  clearInterval(playing);
  playing = 0;
  $("play").textContent = "Play";
  $("said").setAttribute("aria-live", "polite");
}
$("speed").onchange = () => { if (playing) { stop(); play(); } };

// ---------------------------------------------------------------- keys and buttons
const word = () => $("search").value.trim().toLowerCase();
function seek(direction) {
  if (!word()) return;
  const fits = at => trace.rules[trace.steps[at][0]].id.toLowerCase().includes(word());
  for (let at = state.at - 1 + direction; at >= 0 && at < trace.steps.length; at += direction)
    if (fits(at)) { go(at + 1); return; }
}
function count() {
  const fits = trace.rules.map(rule => rule.id.toLowerCase().includes(word()));
  $("found").textContent = word() ? `${trace.steps.filter(step => fits[step[0]]).length} steps` : "";
}
const halted = action => () => { stop(); action(); };
const keys = {
  ArrowRight: halted(() => go(state.at + 1)), ArrowLeft: halted(() => go(state.at - 1)),
  Home: halted(() => go(0)), End: halted(() => go(trace.steps.length)), " ": play,
  n: halted(() => seek(1)), p: halted(() => seek(-1)), "/": () => $("search").focus(),
  "?": () => { $("help").open = !$("help").open; },
};
document.addEventListener("keydown", event => {
  const target = event.target, tag = target.tagName;
  const typing = (tag === "INPUT" && target.type !== "range") || tag === "SELECT";
  if (typing && event.key === "Enter" && target === $("search")) { seek(event.shiftKey ? -1 : 1); return; }
  if (event.key === "Escape") { $("help").open = false; if (typing) target.blur(); return; }
  const pressing = event.key === " " && ["BUTTON", "SUMMARY", "A"].includes(tag);
  if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
$("first").onclick = keys.Home; $("last").onclick = keys.End; $("play").onclick = play;
$("back").onclick = keys.ArrowLeft; $("forward").onclick = keys.ArrowRight;
$("next").onclick = keys.n; $("previous").onclick = keys.p;
$("slider").max = $("at").max = trace.steps.length;
$("slider").oninput = event => { stop(); go(event.target.value); };
$("at").onchange = event => { stop(); go(event.target.value); };
$("search").oninput = count;

document.title = `rlx step: ${trace.path}`;
$("title").textContent = `${trace.path} · ${trace.entry}`;
$("outcome").textContent = $("outcome").title = trace.outcome.text;
$("outcome").className = trace.outcome.kind === "returned" ? "mono good" : "mono bad";
reset();
go(wanted() ?? 0);
