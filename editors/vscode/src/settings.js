// What the settings ask for, apart from the editor, so that it can be tested without one.
"use strict";

const path = require("node:path");

/**
 * How the server is started, and for which documents.
 * @param {(name: string) => unknown} setting reads one of the settings `rlx.*`
 */
function read(setting) {
  const selector = ["file", "untitled"].map((scheme) => ({ scheme, language: "relax" }));
  if (setting("python")) {
    selector.push({ scheme: "file", language: "python" });
  }
  return {
    command: setting("path") || "rlx",
    args: setting("arguments") || ["lsp"],
    selector,
  };
}

/**
 * The process of the server: it starts outside of the folder that is edited, where Python looks for modules.
 * @param {string} command a name that is on the PATH, or a path; from `folder` if it is relative
 * @param {string | undefined} folder the folder that is edited
 * @param {string} home where the process starts
 */
function serverOf(command, args, folder, home, env) {
  const relative = /[\\/]/.test(command) && !path.isAbsolute(command) && folder !== undefined;
  return {
    command: relative ? path.join(folder, command) : command,
    args,
    options: { cwd: home, env: { ...env, PYTHONSAFEPATH: "1" } },
  };
}

/** Whether a document is one that the server is asked about. */
function wanted(selector, document) {
  return selector.some(
    (each) => each.language === document.languageId && each.scheme === document.uri.scheme,
  );
}

module.exports = { read, serverOf, wanted };
