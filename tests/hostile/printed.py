"""Printed text cannot command: ``python -m tests.hostile.printed [COUNT] [SEED]``.

Hostile names and strings in every place of a program, in file names and on command lines go through every command and every
format, and through the language server. An answer must have no hidden character, no line that a service obeys, and no line that
the program chose to begin.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rlx.checker.render.human import ANSI
from rlx.cli import main as rlx

from .editor import WHOLE, made_server
from .every_command import Answer, asked

ROOT = Path(__file__).resolve().parent.parent
WORD = "Injected"
"""No line of ours begins with it."""

EVIL = (
    "\x1b]0;title\x07\x1b[41mred\x9b2J\x7f\u202eabc\u2066\u200b\ufeff\U000e0041%0A::error::x"
    f"\n::error file=a::x\n  ::error::x\n##[error]y\n##vso[task.complete]y\n##teamcity[x]\n{WORD}\r{WORD}\u2028{WORD}\x85{WORD}\x0b{WORD}\x0c{WORD}"
    f"\n```\n{WORD}\n````\n[x](command:evil)<script>alert(1)</script></pre><img src=x>\ud800"
)
"""Everything that may do something, in one text."""

SHORT = f"\x1b[2J\u202e\n::error::x\n##vso[x]\n{WORD}"
RAW = "".join(c for c in EVIL if c not in '\n\r\0\ud800"`')
"""What may stand in a literal or a comment as it is."""

INVISIBLE = ["\u115f", "\u3164", "\uffa0", "字"]
"""What an identifier may contain."""

TEMPLATE = """\
# {raw}
@I.ir_module
class M{name}:
    I.module_attrs({{"{evil}": "{evil}"}})
    I.module_global_infos({{"vdevice": [I.vdevice({{"kind": "llvm", "tag": "{short}"}}, 0, "{short}")]}})

    @T.prim_func(private=True)
    def kernel{name}(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32", scope="{short}")):
        T.func_attr({{"{evil}": "{evil}"{symbol}}})
        for i in range(4):
            with T.sblock("{short}"):
                vi = T.axis.spatial(4, i)
                T.block_attr({{"{short}": "{short}"}})
                b[vi] = a[vi] + T.float32(1)  # {raw}

    @R.function(pure=False)
    def main{name}(x{name}: R.Tensor((4, "n"), "float32"), y: R.Object) -> R.Object:
        R.func_attr({{"{evil}": "{evil}"{symbol}}})
        s = R.str("{evil}")
        p = R.call_packed("{short}", x{name}, sinfo_args=R.Tensor((4,), "float32"))
        q = R.call_pure_packed("vm.builtin.{short}", s, sinfo_args=R.Object)
        _ = R.print(s, format="{short} {{}}")
        _ = R.assert_op(R.const(True, "bool"), x{name}, format="{evil}")
        e = R.ExternFunc("{short}")
        d = R.dtype("float32")
        t{name}: R.Tensor((4,), "float32", vdevice="llvm") = R.add(p, p)
        {extra}
        return (s, t{name}, q)
"""
EXTRAS = [
    "z = R.add(p, x)",
    'z = R.matmul(x, R.const(["{short}"], "{short}"))',
    'z: R.Tensor((4,), "{short}") = p',
    'z = R.astype(p, "{short}")',
    'z = R.to_vdevice(p, "{short}")',
    'z: R.Tensor((4,), "float32", "{evil}") = p',
    'z = R.call_dps_packed("{evil}", (p,), out_sinfo=R.Tensor((5,), "float32"))',
    'z: R.Tensor(("{short}",), "float32") = p',
    'z = R.nn.conv2d(x, x, data_layout="{short}", kernel_layout="{short}")',
    'z = R.einsum((p, p), subscripts="{evil}")',
    'z = R.call_tir(M.{short}, (p,), out_sinfo=R.Tensor((4,), "float32"))',
    'z = undefined{name}("{evil}")',
    'z = R.unknown{name}(p, key{name}="{short}")',
    "{raw}",
    'z = "{evil}',
    'z = R.builtin.alloc_tensor(R.shape([4]), dtype="float32", runtime_device_index=0, storage_scope="{short}")',
    'z = R.call_inplace_packed("{short}", p, inplace_indices=[0], sinfo_args=R.Tensor((4,), "float32"))',
]
RUNS = """\
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    s = R.str("{evil}")
    _ = R.print(s, x, format="{short} {{}} {{}}")
    y = R.call_packed("{short}", x, sinfo_args=R.Tensor((2,), "float32"))
    return (s, y)
"""
RETURNS = """\
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    s = R.str("{evil}")
    _ = R.print(s, format="{{}}")
    t = (s, R.str("{short}"), x)
    return t
"""
RELAY = """\
#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {{
  /* {raw} */
  %0 = add(%x, %x);
  let %y: Tensor[(3), float32] = nn.relu(%0, a="{json_evil}");
  fn (%z, Primitive=1, Compiler="{json_short}") {{ %z }}
}}
"""
RELAY_RIGHT = """\
#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {{
  let %f = fn (%z: Tensor[(2), float32], Compiler="{json_evil}") {{ nn.relu(%z) }};
  %f(%x)
}}
"""


def literal(text: str) -> str:
    """The text inside of a literal, in ASCII."""
    return ascii(text)[1:-1].replace('"', '\\"')


def filled(template: str, name: str = "", **more: str) -> str:
    """A template with hostile strings; ``name`` is added to identifiers."""
    words = {"raw": RAW, "evil": literal(EVIL), "short": literal(SHORT), "name": name}
    extra = more.get("extra", "pass")
    words |= {"json_evil": json.dumps(EVIL)[1:-1], "json_short": json.dumps(SHORT)[1:-1]}
    words["symbol"] = more.get("symbol", "").format(**words)
    words["extra"] = extra.format(**words)
    return template.format(**words)


def programs() -> Iterator[tuple[str, str]]:
    """File names' ends and texts that are written for this."""
    for at, extra in enumerate(EXTRAS):
        yield ".rlx", filled(TEMPLATE, INVISIBLE[at % len(INVISIBLE)], extra=extra)
    yield ".rlx", filled(TEMPLATE, extra="z = p")
    yield ".rlx", filled(TEMPLATE, extra="z = p", symbol=', "global_symbol": "{short}"')
    yield ".rlx", filled(RUNS)
    yield ".rlx", filled(RETURNS)
    yield (
        ".py",
        f'"""\n::error::x\n##[error]x\n{WORD}\n"""\nimport tvm\n{filled(RETURNS)}\nx = "\\d"\n',
    )
    yield ".relay", filled(RELAY)
    yield ".relay", filled(RELAY_RIGHT)


def documented() -> list[str]:
    """The programs of the tests' reports and examples: together they have nearly every diagnostic."""
    found = []
    for path in sorted(
        [*(ROOT / "checker" / "reports").glob("*.md"), *(ROOT / "examples").glob("*.md")]
    ):
        text = path.read_text(encoding="utf-8")
        found += re.findall(r"^```(?:rlx|python)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return found


_LITERAL = re.compile(r'"([^"\\\n]*)"')
_NAME = re.compile(
    r"(?<![.\w\"@])(?!(?:def|class|return|with|if|else|for|in|as|True|False|None|pass|while|assert|and|or|not|R|T|I|cls|range)\b)[A-Za-z_]\w*(?!\w*[(\".=])"
)


def spoiled(text: str, rng: random.Random) -> str:
    """A program with hostile strings in some of its literals, names and lines."""
    way = rng.randrange(4)
    if way != 1:
        share = rng.choice([0.15, 0.5, 1])
        evil = [literal(SHORT), literal(EVIL), RAW]

        def other(found: re.Match[str]) -> str:
            bad = rng.choice(evil)
            return f'"{rng.choice([found[1], ""])}{bad}"' if rng.random() < share else found[0]

        text = _LITERAL.sub(other, text)
    if way != 2:
        names = sorted(set(_NAME.findall(text)))
        for name in rng.sample(names, min(len(names), 2)):
            text = re.sub(rf"\b{name}\b", name + rng.choice(INVISIBLE), text)
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    if way == 3:
        lines[at] += rng.choice([RAW, f"  # {RAW}", f' "{literal(EVIL)}'])
    return "\n".join(lines)


def hidden(text: str) -> list[str]:
    """The hidden characters of a text, by Unicode's own table."""
    return sorted(
        {
            ascii(c)
            for c in text
            if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        }
    )


def wrong(text: str, github: bool = False, diff: bool = False) -> list[str]:
    """The problems with printed text; each line of a ``diff`` begins with a sign."""
    found = [f"hidden {', '.join(bad)}"] if (bad := hidden(text)) else []
    for line in text.split("\n"):
        begun = line.lstrip()
        ours = github and re.match(
            r"::(error|warning|notice) title=[\w-]+,file=[^:,\n]*(,\w+=\d+)*::", line
        )
        if begun.startswith("::") and not ours:
            found.append(f"a command of GitHub: {line[:80]!r}")
        if re.search(r"##\w*\[", line):
            found.append(f"a command of Azure or TeamCity: {line[:80]!r}")
        if (line if diff else begun).startswith(WORD):
            found.append(f"a line that the program began: {line[:80]!r}")
    return found


def commands(path: str, folder: Path, rng: random.Random | None) -> Iterator[list[str]]:
    """Command lines for a file; some of them, if a generator draws."""
    if path.endswith(".relay"):
        yield from (
            ["relay", action, path] for action in ("check", "to-anf", "to-graph", "to-relax", "run")
        )
        yield ["relay", "check", path, "--format", "json"]
        yield ["relay", "run", path, "--format", "json"]
        return
    made = str(folder / f"made{SHORT.replace('/', '')}.rlxexe")
    listed: list[list[str]] = [
        ["check", path],
        ["check", path, "--format", "json", "--derivations"],
        ["check", path, "--format", "sarif"],
        ["check", path, "--format", "github", "--statistics"],
        ["check", path, "--dynamic-checks", "--statistics"],
        ["check", path, "--types"],
        ["check", path, "--types", "--format", "json"],
        ["check", path, "--spec", "2022"],
        ["check", path, "--diff"],
        ["fmt", path, "--diff"],
        ["fmt", path, "--check"],
        ["fmt", path, "--check", "--to", "2022"],
        ["lower", path],
        ["lower", path, "--legalize", "--to", "LegalizeOps"],
        ["run", path, "--fuel", "500"],
        ["run", path, "--fuel", "500", "--format", "json"],
        ["run", path, "--backend", "vm", "--profile"],
        ["step", path, "--limit", "50"],
        ["step", path, "--limit", "50", "--format", "json"],
        ["step", path, "--limit", "50", "--html", str(folder / "page.html")],
        ["build", path, "-o", made],
        ["disasm", made],
        ["disasm", made, "--stats"],
        ["disasm", made, "--python"],
        ["disasm", made, "--c"],
        ["run", made, "--format", "json"],
        ["run", made],
        ["step", made, "--limit", "50"],
        ["memory", path, "--html", str(folder / "page.html")],
        ["memory", path, "--format", "json"],
        *(["graph", path, "--format", kind] for kind in ("dot", "json")),
        ["graph", path, path, "-o", str(folder / "page.html")],
        ["compare", path, path],
        ["compare", path, path, "--format", "json"],
        ["diff", path, path],
        ["diff", path, path, "--format", "json"],
        ["check", path, "--target", "0.27"],
        ["check", path, "--output-file", str(folder / "report.txt")],
        ["refines", path, path, "--explain"],
        ["refines", path, path, "--format", "json"],
    ]
    lines = Path(path).read_bytes().count(b"\n") + 1
    places = range(1, lines + 1) if rng is None else [rng.randint(1, lines)]
    listed += [["why", f"{path}:{line}", "--rules"] for line in places]
    listed += [["why", f"{path}:{line}", "--format", "json"] for line in list(places)[:2]]
    if rng is not None:
        listed = [*listed[:4], *rng.sample(listed[4:], 4)]
    yield from listed


class Terminal(io.StringIO):
    """A stream that people read."""

    def isatty(self) -> bool:
        return True


_COLOURS = "|".join(map(re.escape, {"0", *ANSI.values()}))
_OURS = re.compile(f"\x1b\\[(?:{_COLOURS})m|\r|\x1b\\[K")


def asked_at_terminal(words: list[str]) -> Answer:
    """The answer to a command line at a terminal, without our colours."""
    out, err = Terminal(), Terminal()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", ["rlx", *words]),
        patch.dict(os.environ, {"TERM": "xterm", "NO_COLOR": ""}),
    ):
        try:
            status = rlx()
        except SystemExit as left:
            status = int(left.code or 0)
    return Answer(status, *(_OURS.sub("", each.getvalue()) for each in (out, err)))


def answered(words: list[str], at_terminal: bool = False) -> list[str]:
    """The problems with the answer to a command line."""
    answer = asked_at_terminal(words) if at_terminal else asked(words)
    github = "github" in words
    found = [f"stdout: {each}" for each in wrong(answer.out, github, "--diff" in words)] + [
        f"stderr: {each}" for each in wrong(answer.err)
    ]
    if "json" in words or "sarif" in words:
        try:
            if answer.out:
                json.loads(answer.out.encode("utf-8").decode("utf-8"))
        except ValueError as error:
            found.append(f"not JSON: {error}")
    if "is a bug in rlx" in answer.err:
        found.append(answer.err[:400])
    return [f"{' '.join(map(ascii, words))}: {each}" for each in found]


def page_wrong(text: str) -> list[str]:
    """The problems with a page of HTML: no markup of the program, nothing hidden."""
    found = [f"hidden {', '.join(bad)}"] if (bad := hidden(text)) else []
    for markup in ("<script>alert", "</pre><img", "<img src=x"):
        if markup in text:
            found.append(f"markup {markup!r}")
    return found


def served(path: str, text: str) -> list[str]:
    """The problems with the messages of the language server about a text."""
    return asyncio.run(_served(path, text))


async def _served(path: str, text: str) -> list[str]:
    server = made_server()
    uri = Path(path).resolve().as_uri()
    server.changed(uri, text)
    settling = server.text(uri).settling
    if settling is not None:
        settling.cancel()
    found = []
    for each in server.shown(uri):
        told = [each["message"], *(r["message"] for r in each["relatedInformation"])]
        found += [f"diagnostic: {bad}" for one in told for bad in wrong(one)]

    def answered(question: str, **more: Any) -> Any:
        params = {"textDocument": {"uri": uri}, "range": WHOLE, "context": {}, **more}
        return server.handlers[f"textDocument/{question}"](params)

    for action in answered("codeAction"):
        found += [f"action: {bad}" for bad in wrong(action["title"])]
    for hint in answered("inlayHint"):
        found += [f"hint: {bad}" for bad in wrong(hint["label"])]
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for match in list(re.finditer(r"\w+", line))[:6]:
            at = {"line": number, "character": min(match.start(), len(line))}
            hover = answered("hover", position=at)
            if hover is not None:
                found += [f"hover: {bad}" for bad in markdown_wrong(hover["contents"]["value"])]
    last = {"line": len(lines) - 2, "character": 8}
    for item in answered("completion", position=last)["items"]:
        found += [f"completion: {bad}" for bad in wrong(f"{item.get('detail')}")]
    server.forget(uri)
    return found


def markdown_wrong(text: str) -> list[str]:
    """The problems with Markdown: what programs contain is code, and stays in its block."""
    from markdown_it import MarkdownIt

    found = wrong(text)
    for token in MarkdownIt().parse(text):
        if token.type in ("html_block",) or any(
            c.type in ("link_open", "html_inline", "image") for c in token.children or ()
        ):
            found.append(f"markup: {token.content[:80]!r}")
        if (
            token.type not in ("fence", "code_block")
            and WORD in token.content
            and "`" not in token.content
        ):
            found.append(f"text of the program outside of its block: {token.content[:80]!r}")
    return found


def trial(suffix: str, text: str, folder: Path, rng: random.Random | None = None) -> list[str]:
    """The problems with all answers about one text."""
    inside = folder / "a\x1b[41m\n::error::x ##vso[x] \u202e%, :b"
    inside.mkdir(exist_ok=True)
    path = inside / f"p\n{WORD}\udcff{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    found = []
    for words in commands(str(path), folder, rng):
        found += answered(words, at_terminal=rng is not None and rng.random() < 0.3)
    page = folder / "page.html"
    if page.exists():
        found += [f"page: {bad}" for bad in page_wrong(page.read_text(encoding="utf-8"))]
        page.unlink()
    report = folder / "report.txt"
    if report.exists():
        found += [f"report: {bad}" for bad in wrong(report.read_text(encoding="utf-8"))]
    if suffix == ".rlx":
        found += served(str(folder / "open.rlx"), text)
    return found


LINES = [
    [SHORT],
    ["check", SHORT],
    ["check", f"--{SHORT}"],
    ["check", "--select", SHORT, "x"],
    ["check", "--operators", SHORT, "x"],
    ["check", "--format", SHORT],
    ["check", "a", "--explain", SHORT],
    ["explain", EVIL],
    ["explain", f"R.{SHORT}"],
    ["fmt", SHORT],
    ["fmt", "--dialect", EVIL, "x"],
    ["prove", EVIL],
    ["prove", f"n >= 0 and {SHORT}"],
    ["prove", "n >= 0", "--lower", f"n={SHORT}"],
    ["prove", "n >= 0", "--assume", SHORT, "--explain"],
    ["prove", f"(n >= 0#{EVIL}\n)", "--explain", "--proof"],
    ["prove", "n >= 0", "--certificate", f"nowhere/{SHORT}"],
    ["verify-proof", SHORT],
    ["memory", SHORT],
    ["memory", os.devnull, "--at", SHORT, "--chart", SHORT],
    ["refines", SHORT, SHORT],
    ["refines", f"HEAD:{SHORT}", f"{SHORT}:x"],
    ["diff", SHORT, SHORT],
    ["graph", SHORT, "-o", SHORT],
    ["graph", SHORT, SHORT],
    ["compare", SHORT],
    ["compare", SHORT, f"{SHORT}.npz"],
    ["compare", f"{SHORT}.onnx", SHORT],
    ["skill", SHORT],
    ["check", "--target", SHORT, "x"],
    ["refines", os.devnull, os.devnull, "--entry", SHORT, "--assume", SHORT],
    ["run", SHORT],
    ["run", "x", "--input", SHORT],
    ["step", SHORT, "--rule", SHORT],
    ["generate", "--features", SHORT],
    ["generate", "--operators", SHORT],
    ["generate", "--near", SHORT],
    ["lower", SHORT, "--to", SHORT],
    ["build", SHORT, "-o", SHORT],
    ["relay", SHORT, SHORT],
    ["relay", "run", SHORT],
    ["disasm", SHORT],
    ["fuzz", "--oracle", SHORT],
    ["fuzz", "--oracle", f"{SHORT}:f"],
    ["fuzz", "--known", SHORT],
    ["fuzz", "--time", SHORT],
    ["reduce", SHORT, "--test", SHORT],
    ["why", SHORT],
    ["why", f"{SHORT}:1"],
    ["bisect", SHORT],
    ["completion", SHORT],
    ["lsp", SHORT],
]
"""Hostile command lines."""


def main(count: int, seed: int) -> int:
    """Texts of this file, then texts of the tests with other names; what is wrong is printed."""
    rng = random.Random(seed)
    failures = 0
    given: list[tuple[str, str]] = list(programs()) if count == 0 else []
    originals = documented()
    given += [(".rlx", spoiled(rng.choice(originals), rng)) for _ in range(count)]
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for words in LINES if count == 0 else []:
            for bad in answered(words):
                failures += 1
                print(bad)
        for number, (suffix, text) in enumerate(given):
            folder = Path(name, str(number))
            folder.mkdir()
            for bad in trial(suffix, text, folder, rng if count else None):
                failures += 1
                print(number, bad[-400:])
            shutil.rmtree(folder)
    print(f"{len(given)} texts, {failures} mistakes")
    return 1 if failures else 0


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("count", type=int, nargs="?", default=0)
    options.add_argument("seed", type=int, nargs="?", default=0)
    chosen = options.parse_args()
    sys.exit(main(chosen.count, chosen.seed))
