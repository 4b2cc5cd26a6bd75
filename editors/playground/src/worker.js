// rlx beside the page. Two Pythons: the first runs rlx, and gets NumPy as soon as a program is run; Z3 is in the second
// one, which starts as soon as the prover asks.

import { loadPyodide } from "./pyodide/pyodide.mjs";
import { install, read, unpacked } from "./bundle.js";

const PACKAGES = "/packages";
const fetched = self.fetch.bind(self);
self.fetch = (address, ...more) => // Pyodide asks for its library by itself
  String(address).endsWith(".wasm") ? unpacked(`${address}.gz`, "application/wasm") : fetched(address, ...more);

async function script(address) {
  const code = await (await unpacked(`${address}.gz`, "text/javascript")).blob();
  return import(URL.createObjectURL(code));
}

async function begun(load, folder, name, bundle) {
  const [module, own] = await Promise.all([script(`${folder}/${name}`), read(bundle)]);
  const indexURL = new URL(`./${folder}/`, self.location).href;
  const python = await load({ indexURL, createPyodideModule: module.default });
  python.runPython(`import sys; sys.path.insert(0, "${PACKAGES}")`);
  install(python.FS, PACKAGES, own);
  return python;
}

const ready = (async () => {
  const python = await begun(loadPyodide, "pyodide", "pyodide.asm.js", "rlx.bundle");
  python.runPython("import panes; panes.begin()");
  postMessage({ progress: "" });
  return python;
})();
ready.catch((error) => postMessage({ broken: String(error) }));

const LATER = {
  numpy: async (python) => install(python.FS, PACKAGES, await read("numpy.bundle")),
  async z3(python) {
    const { loadPyodide: load } = await import("./solver/pyodide.mjs");
    const other = await begun(load, "solver", "pyodide.asm.mjs", "z3.bundle");
    python.registerJsModule("z3_beside", { ask: other.pyimport("served").answer });
  },
};
const NAMES = { numpy: "NumPy", z3: "Z3" };
const come = {}; // what is here, or on its way

async function bring(name) {
  const python = await ready;
  await (come[name] ??= LATER[name](python));
  python.runPython(`panes.arrived("${name}")`);
}

async function answered(question) {
  const python = await ready;
  const ask = python.globals.get("panes").answer;
  const text = JSON.stringify(question);
  for (;;) {
    const started = performance.now();
    const answer = JSON.parse(ask(text));
    if (!answer.needs) return { ...answer, id: question.id, time: performance.now() - started };
    postMessage({ progress: `Loading ${NAMES[answer.needs]}` });
    await bring(answer.needs);
    postMessage({ progress: "" });
  }
}

const waiting = [];
let working = false;
const rest = () => new Promise((go) => setTimeout(go)); // messages that came meanwhile are read

self.onmessage = async ({ data }) => {
  const older = waiting.findIndex((each) => each.pane === data.pane);
  if (older >= 0) postMessage({ id: waiting.splice(older, 1)[0].id, dropped: true }); // an edit came in between
  waiting.push(data);
  if (working) return;
  working = true;
  while (waiting.length) {
    postMessage(await answered(waiting.shift()));
    await rest();
  }
  working = false;
  warm();
};

let warming = false;

// What later questions need is made ready in small steps, each of which an edit waits for at most.
async function warm() {
  if (warming) return;
  warming = true;
  const python = await ready;
  const step = python.globals.get("panes").warm;
  while (!working && step()) await rest();
  warming = false;
}
