// rlx beside the page: Pyodide and rlx, and Z3 as soon as the prover asks for it.

import { loadPyodide } from "./pyodide/pyodide.mjs";
import { install, read } from "./bundle.js";

const PACKAGES = "/packages";
const own = read("rlx.bundle");
let solver = null; // its bundle, once it is wanted

const ready = (async () => {
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", self.location).href });
  postMessage({ progress: "Loading rlx" });
  install(python.FS, PACKAGES, await own);
  python.runPython(`import sys; sys.path.insert(0, "${PACKAGES}"); import panes; panes.begin()`);
  postMessage({ progress: "" });
  return python;
})();
ready.catch((error) => postMessage({ broken: String(error) }));

async function answered(question) {
  const python = await ready;
  const ask = python.globals.get("panes").answer;
  const text = JSON.stringify(question);
  const started = performance.now();
  let answer = JSON.parse(ask(text));
  if (answer.needs === "z3") {
    postMessage({ progress: "Loading Z3" });
    solver ??= read("z3.bundle");
    install(python.FS, PACKAGES, await solver);
    python.runPython("import importlib; importlib.invalidate_caches()");
    postMessage({ progress: "" });
    answer = JSON.parse(ask(text));
  }
  return { ...answer, id: question.id, time: performance.now() - started };
}

const waiting = [];
let working = false;

self.onmessage = async ({ data }) => {
  const older = waiting.findIndex((each) => each.pane === data.pane);
  if (older >= 0) postMessage({ id: waiting.splice(older, 1)[0].id, dropped: true }); // an edit came in between
  waiting.push(data);
  if (working) return;
  working = true;
  while (waiting.length) {
    const answer = await answered(waiting.shift());
    postMessage(answer);
    await new Promise((go) => setTimeout(go)); // messages that came meanwhile are read first
  }
  working = false;
  solver ??= read("z3.bundle");
  (await ready).runPython("panes.warm()");
};
