"""All pages: the chapters, the index of rules and of codes, and what the search looks through."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from rlx.spec.blocks import constructs
from rlx.spec.html.chapter import Chapter, Section, chapter
from rlx.spec.html.links import Links
from rlx.spec.html.markdown import Markdown
from rlx.spec.html.rule import rule_html
from rlx.spec.reader import FOLDER, Rule, rules
from rlx.spec.reader import chapters as files
from rlx.writing import make_folder, write

ORDER = (
    *("README", "well_formedness", "normal_form", "derivation", "order", "operators", "prim_funcs"),
    *("dynamic_checks", "evaluation", "evaluation_operators", "evaluation_nn"),
    *("evaluation_tir", "evaluation_native", "ledger"),
)
"""The chapters in the order in which one reads them; others follow."""

_SYMBOLS = (
    '<h2 id="symbols">Symbols</h2>\n<p>These pages show <code>G</code> as &Gamma;, '
    "<code>S</code> as &Sigma;, <code>s</code> as &sigma;, and <code>|-</code> as ⊢.</p>"
)
_SHORT = {"README": "Overview"}
"""The name of a chapter in the menu, if it is not the chapter's title."""

ASSETS = ("style.css", "script.js")
_HERE = Path(__file__).parent


def build(folder: Path) -> list[Path]:
    """Write all pages into a folder, which is made if it is not there.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    OSError
        If they cannot be written.
    """
    make_folder(folder)
    chapters = _chapters()
    links = Links(chapters)
    files = {each.page: _page(each, chapters, links) for each in chapters}
    files["rules.html"] = _framed("All rules", _rules(chapters, links), None, chapters)
    files["codes.html"] = _framed("All codes", _codes(links), None, chapters)
    files["search.js"] = f"window.entries = {json.dumps(_entries(chapters, links))};\n"
    for name in ASSETS:
        files[name] = (_HERE / name).read_text(encoding="utf-8")
    for name, text in files.items():
        write(folder / name, text, within=[folder])
    return [folder / name for name in files]


def _chapters() -> list[Chapter]:
    place = {stem: at for at, stem in enumerate(ORDER)}
    paths = sorted(
        files(), key=lambda p: (p.parent != FOLDER, place.get(p.stem, len(ORDER)), p.stem)
    )
    return [chapter(path) for path in paths]


# ---------------------------------------------------------------- pages


def _page(page: Chapter, chapters: Sequence[Chapter], links: Links) -> str:
    markdown = Markdown(links, page.targets)
    body = "\n".join(_section(section, page, markdown) for section in page.sections)
    body = _with_anchors(body.replace('<h2 id="symbols">Symbols</h2>', _SYMBOLS))
    return _framed(page.title, body, page, chapters)


def _section(section: Section, page: Chapter, markdown: Markdown) -> str:
    word = section.word
    if word in rules():
        return rule_html(rules()[word], section, markdown)
    text = markdown.block(section.parts.get("", ""))
    title = markdown.inline(section.title)
    if word.isdigit():
        witness = section.parts.get("Witness", "")
        told = (
            f'<p class="source"><b>Witness:</b> {markdown.inline(witness)}</p>' if witness else ""
        )
        inner = f"{text}{_followers(int(word), markdown.links)}{told}"
        head = f'<article class="rule" id="{word}"><span id="{section.slug}"></span>'
        return f"{head}<h3>{title}</h3>{inner}</article>"
    first, *_ = page.sections
    level = 1 if section is first else section.level + 1
    return f'<h{level} id="{section.slug}">{title}</h{level}>\n{text}'


def _followers(number: int, links: Links) -> str:
    """The rules that follow an entry of the ledger."""
    found = [name for name, rule in rules().items() if number in rule.ledger]
    if not found:
        return ""
    return f'<p class="why"><b>Rules:</b> {", ".join(links.text(name) for name in found)}</p>'


def _with_anchors(body: str) -> str:
    """The index of constructs with an anchor at each line."""
    head, mark, tail = body.partition('<h2 id="index">')
    row = re.compile(r"<tr>\n<td>(?:<a[^>]*>)?<code>(\w+)</code>(?:</a>)?</td>")
    anchored = row.sub(r'<tr id="construct-\1">\n<td><code>\1</code></td>', tail)
    return f"{head}{mark}{anchored}"


def _rules(chapters: Sequence[Chapter], links: Links) -> str:
    """Every rule by its chapter, with the judgement that it concludes."""
    parts = ["<h1>All rules</h1>"]
    by_file: dict[str, list[Rule]] = {}
    for rule in rules().values():
        by_file.setdefault(rule.file, []).append(rule)
    for each in chapters:
        own = by_file.get(f"{each.stem}.md")
        if own:
            rows = "".join(
                f'<tr><td><a href="{links.of(r.identifier)}">{r.identifier}</a></td>'
                f"<td>{escape(r.title)}</td><td>{r.block.judgement if r.block else ''}</td></tr>"
                for r in own
            )
            parts.append(
                f'<h2><a href="{each.page}">{escape(each.title)}</a></h2><table>{rows}</table>'
            )
    return "\n".join(parts)


def _codes(links: Links) -> str:
    """Every code that a diagnostic, a fault or a check can have, with what its premise demands."""
    rows = "".join(
        f'<tr><td><a href="{links.of(code)}"><code>{code}</code></a></td>'
        f"<td>{escape(text)}</td></tr>"
        for code, text in sorted(p for rule in rules().values() for p in rule.premises.items())
    )
    return f"<h1>All codes</h1><table>{rows}</table>"


# ---------------------------------------------------------------- frame and search


def _framed(title: str, body: str, page: Chapter | None, chapters: Sequence[Chapter]) -> str:
    """A page with the navigation beside it."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · rlx</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav>
<a class="home" href="index.html">rlx <span>specification</span></a>
<div class="search">
<input type="search" placeholder="Search  /" aria-label="Search" autocomplete="off">
<ol hidden></ol>
</div>
{_navigation(page, chapters)}
</nav>
<main>
{body}
</main>
<script src="search.js"></script>
<script src="script.js"></script>
</body>
</html>
"""


def _navigation(page: Chapter | None, chapters: Sequence[Chapter]) -> str:
    items: list[str] = []
    for each in chapters:
        name = _SHORT.get(each.stem) or escape(each.title)
        mark, inside = (' aria-current="page"', _inside(each)) if each is page else ("", "")
        items.append(f'<li><a href="{each.page}"{mark}>{name}</a>{inside}</li>')
    items.append('<li><a href="rules.html">All rules</a></li>')
    items.append('<li><a href="codes.html">All codes</a></li>')
    items.append('<li><a href="index.html#index">All constructs</a></li>')
    return f"<ul>{''.join(items)}</ul>"


def _inside(page: Chapter) -> str:
    """The headings and rules of the page at hand."""
    rows: list[str] = []
    _, *sections = page.sections
    for section in sections:
        word, rest = section.word, section.rest
        if word in rules() or word.isdigit():
            rows.append(f'<li><a href="#{word}"><b>{word}</b> {escape(rest)}</a></li>')
        else:
            title = escape(section.title)
            rows.append(f'<li class="part"><a href="#{section.slug}">{title}</a></li>')
    return f"<ul>{''.join(rows)}</ul>" if rows else ""


def _entries(chapters: Sequence[Chapter], links: Links) -> list[list[str]]:
    """What can be searched for: kind, name, title, address, and further words."""
    found: list[list[str]] = []
    for each in chapters:
        for section in each.sections:
            word, rest = section.word, section.rest
            if word in rules():
                rule = rules()[word]
                found.append(["rule", word, rule.title, links.of(word) or "", rule.statement])
                found += [
                    ["code", code, text, links.of(code) or "", ""]
                    for code, text in rule.premises.items()
                ]
            elif word.isdigit():
                text = section.parts.get("", "")
                found.append(["ledger", f"Ledger {word}", rest, f"{each.page}#{word}", text])
            else:
                found.append(
                    ["section", section.title, each.title, f"{each.page}#{section.slug}", ""]
                )
    relax, tir = constructs()
    known = [(name, links.of(name)) for name in (*relax, *tir)]
    return found + [["construct", name, "construct", at, ""] for name, at in known if at]
