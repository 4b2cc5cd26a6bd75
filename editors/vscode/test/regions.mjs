// Prints what the grammar makes of files: for each, its tokens as [line, start, end, innermost scope], and the depth
// of what is still open at its end. `node test/regions.mjs FILE...`
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

async function grammar() {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const path = new URL("../syntaxes/relax.tmLanguage.json", import.meta.url).pathname;
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(readFileSync(path, "utf8"), path),
  });
  return registry.loadGrammar("source.relax");
}

function regions(relax, text) {
  let state = INITIAL;
  const tokens = [];
  for (const [number, line] of text.split("\n").entries()) {
    const found = relax.tokenizeLine(line, state);
    state = found.ruleStack;
    for (const { startIndex, endIndex, scopes } of found.tokens) {
      tokens.push([number, startIndex, Math.min(endIndex, line.length), scopes.slice(1)]);
    }
  }
  return { tokens, open: state.depth - 1 };
}

const relax = await grammar();
const texts = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => regions(relax, text))));
