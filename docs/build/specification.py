"""The pages of the specification: `spec/*.md` with links wherever a text names a rule, and each rule typeset as an
inference.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from rlx.spec import ledger, rules
from rlx.spec.blocks import constructs
from rlx.spec.reader import FOLDER, Inference, chapters, inference
from rlx.spec.typeset import typeset

HOME = "reference/specification"

ABOUT = {
    "tree": ("A tree that keeps the rule", "A tree that breaks the rule"),
    "order": ("Judgements that hold", "Judgements that fail"),
    "refines": (
        "A program that means the same",
        "A program that is not proved to mean the same",
    ),
    "checks": (
        "A program without checks that a run needs",
        "A program with checks that a run needs",
    ),
    "run": ("A run that returns", "A run that fails"),
    "tir": ("A run of a PrimFunc that ends", "A run of a PrimFunc that fails"),
}
"""The captions of good and bad examples, by their kind."""
PROGRAM = ("A program that keeps the rule", "A program that breaks the rule")

_FENCE = re.compile(r"^(`{3,})\s*(.*)$")
_HEADING = re.compile(r"^(#{1,6}) (\S+)(.*)$")
_LABEL = re.compile(r"^(Why|Premises|Source|Ledger|Witness|TVM):")
_PREMISE = re.compile(r"^- `([\w-]+)`: ")
_ROW = re.compile(r"^\| `(\w+)` \|")
_LINK = re.compile(r"(\[[^\]]*\]\()([^)\s:]+\.md)(#[^)]*)?\)")
_CODE = re.compile(r"(?<![\[\w`])`([A-Z]\w*(?:-[a-z][\w-]*)?)`(?![\]`])")
_ENTRY = re.compile(r"\b\d+\b")


def pages() -> dict[str, str]:
    """The pages by their addresses: one for each chapter, and the list of all rules."""
    found = {f"{HOME}/{page_of(path)}": _page(path) for path in chapters()}
    rows = [
        f"| [{name}]({rule.page}.md#{name}) | {rule.title} |"
        f" {rule.block.judgement if rule.block else ''} |"
        for name, rule in rules().items()
    ]
    head = "# All rules\n\n| rule | title | judgement |\n|---|---|---|\n"
    found[f"{HOME}/rules.md"] = head + "\n".join(rows) + "\n"
    return found


def page_of(path: Path) -> str:
    """The name of a chapter's page: all pages are in one folder."""
    stem = path.relative_to(FOLDER).with_suffix("").as_posix()
    return f"{stem.replace('README', 'index').replace('/', '-')}.md"


def _page(path: Path) -> str:
    lines: list[str] = []
    rule, inside_index = "", False
    for fence, body in _parts(path.read_text("utf-8")):
        if fence is not None:
            lines += _fence(fence, body, rule)
            continue
        for line in body:
            if heading := _HEADING.match(line):
                marks, word, rest = heading.groups()
                rule = word if word in rules() else ""
                inside_index = word == "Index"
                if rule or word in map(str, ledger()):
                    lines += [_anchor(word), ""]
                lines.append(f"{marks} {word}{rest}")
            else:
                lines += _text(line, path, inside_index)
    return "\n".join(lines) + "\n"


def _parts(text: str) -> Iterator[tuple[str | None, list[str]]]:
    """The text outside of fences (None), and each fence with the words behind its mark."""
    outside: list[str] = []
    inside: list[str] = []
    mark = head = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        if mark:
            if line.strip() == mark:
                yield head, inside
                mark = ""
            else:
                inside.append(line)
        elif opened:
            yield None, outside
            outside, inside = [], []
            mark, head = opened.groups()
        else:
            outside.append(line)
    yield None, outside


def _fence(head: str, body: list[str], rule: str) -> list[str]:
    words = head.split()
    if words == ["rule"] and rule:
        return ["", _inference(rule, inference(body)), ""]
    if len(words) < 2 or words[1] not in ("good", "bad"):
        mark = "````" if any(line.startswith("```") for line in body) else "```"
        return [f"{mark}text", *body, mark]
    kind, verdict, *codes = words
    said = ABOUT.get(kind, PROGRAM)[verdict == "bad"]
    named = " ".join(map(_named, dict.fromkeys(codes)))
    language = "text" if kind in ("order", "vm", "relay", "relayrun", "procedure") else "python"
    summary = f"{said}: {named}" if named else said
    return [
        "",
        f'<details class="{verdict}" markdown><summary markdown="span">{summary}</summary>',
        "",
        f"```{language}",
        *body,
        "```",
        "",
        "</details>",
    ]


def _text(line: str, path: Path, inside_index: bool) -> list[str]:
    """A line outside of fences, with its links."""
    linked = _LINK.sub(lambda match: _moved(match, path), line)
    if premise := _PREMISE.match(line):
        code, rest = premise.group(1), line[premise.end() :]
        anchor = "" if code in rules() else _anchor(code)
        return [f"- {anchor}`{code}`: {_CODE.sub(_linked, rest)}"]
    if label := _LABEL.match(line):
        rest = linked[label.end() :]
        if label.group(1) == "Ledger":
            rest = _ENTRY.sub(lambda match: f"[{match.group()}](ledger.md#{match.group()})", rest)
        return ["", f"**{label.group(1)}:**{_CODE.sub(_linked, rest)}", ""][: 3 if not rest else 2]
    if inside_index and (row := _ROW.match(line)):
        name = row.group(1)
        return [f"| {_anchor(f'construct-{name}')}`{name}` |{linked[row.end() :]}"]
    return [_CODE.sub(_linked, linked)]


def _anchor(name: str) -> str:
    return f'<a id="{name}"></a>'


def _moved(match: re.Match[str], path: Path) -> str:
    """A link to another chapter, whose page may have another name."""
    start, target, anchor = match.groups()
    absolute = posixpath.normpath((path.parent / target).as_posix())
    return f"{start}{page_of(Path(absolute))}{anchor or ''})"


def _linked(match: re.Match[str]) -> str:
    return _named(match.group(1))


def _named(name: str) -> str:
    """A name in Markdown, with a link if it is that of a rule, a premise or a construct."""
    address = _address(name, "md")
    return f"[`{name}`]({address})" if address else f"`{name}`"


def _address(name: str, suffix: str) -> str | None:
    if name in rules():
        return f"{rules()[name].page}.{suffix}#{name}"
    for rule in rules().values():
        if name in rule.premises:
            return f"{rule.page}.{suffix}#{name}"
    relax, tir = constructs()
    return f"index.{suffix}#construct-{name}" if name in relax or name in tir else None


def _inference(name: str, block: Inference) -> str:
    """Premises over a bar, the conclusion under it; HTML."""

    def address(construct: str) -> str | None:
        return _address(construct, "html")

    above = "".join(
        f'<div class="premise"><span class="label">{_label(label)}</span>'
        f"<span>{typeset(text, address)}</span></div>"
        for label, text in block.premises
    )
    return (
        f'<figure class="inference" aria-label="{name}"><div class="frac">'
        f'<div class="above">{above or "&nbsp;"}</div>'
        f'<div class="below">{typeset(block.conclusion, address)}</div></div>'
        f'<figcaption><b>{name}</b><a href="index.html#judgements">{escape(block.judgement)}</a>'
        "</figcaption></figure>"
    )


def _label(label: str) -> str:
    return f'<a href="{_address(label, "html") or "#"}">{label}</a>' if label else ""
