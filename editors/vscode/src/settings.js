// What the settings ask for, apart from the editor, so that it can be tested without one.
"use strict";

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

/** Whether a document is one that the server is asked about. */
function wanted(selector, document) {
  return selector.some(
    (each) => each.language === document.languageId && each.scheme === document.uri.scheme,
  );
}

module.exports = { read, wanted };
