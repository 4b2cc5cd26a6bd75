"""The pages of the specification: complete, linked, and in need of nothing from elsewhere."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rlx.spec import ledger, rules
from rlx.spec.__main__ import main
from rlx.spec.blocks import constructs
from rlx.spec.html import build
from rlx.spec.html.highlight import formula
from tests.browser import dom_after

VOID = frozenset(["meta", "link", "input", "br", "hr", "img"])


class Page(HTMLParser):
    """What stands in a page: ids, links, scripts and styles, open elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        if tag in ("script", "link", "img"):
            self.loaded.append(str(found.get("src") or found.get("href")))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, Page]:
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}


def resolves(address: str, page: str, pages: dict[str, Page]) -> bool:
    """Whether there is such a page, with such an anchor."""
    name, _, anchor = address.partition("#")
    target = pages.get(name or page)
    return target is not None and (not anchor or anchor in target.ids)


def test_every_internal_link_leads_somewhere(pages: dict[str, Page]) -> None:
    dead = {
        (name, address)
        for name, page in pages.items()
        for address in page.links
        if not re.match(r"https?://", address) and not resolves(address, name, pages)
    }
    assert dead == set()


def test_no_anchor_stands_twice(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), name
        assert page.open == [], name


def test_nothing_is_loaded_from_elsewhere(folder: Path, pages: dict[str, Page]) -> None:
    for page in pages.values():
        assert all((folder / source).is_file() for source in page.loaded)
    for asset in ("style.css", "script.js"):
        assert "://" not in (folder / asset).read_text(encoding="utf-8")


def test_every_rule_code_and_entry_has_its_place(pages: dict[str, Page]) -> None:
    for name, rule in rules().items():
        ids = pages[f"{rule.page}.html"].ids
        assert {name, *rule.premises} <= set(ids), name
        assert f"{rule.page}.html#{name}" in pages["rules.html"].links
    codes = {code for rule in rules().values() for code in rule.premises}
    assert codes <= {link.partition("#")[2] for link in pages["codes.html"].links}
    assert {str(number) for number in ledger()} <= set(pages["ledger.html"].ids)
    assert {f"construct-{name}" for name in constructs()[0]} <= set(pages["index.html"].ids)


def words(text: str) -> list[str]:
    """The words of a text that stand outside of code and of the addresses of links."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|\]\[[^]]*\]", " ", text)
    return re.findall(r"[a-z]{3,}", prose.lower())


@pytest.mark.parametrize("name", list(rules()))
def test_every_word_of_a_rule_is_in_its_place(name: str, folder: Path) -> None:
    rule = rules()[name]
    page = (folder / f"{rule.page}.html").read_text(encoding="utf-8")
    shown = page.partition(f'<article class="rule" id="{name}"')[2].partition("</article>")[0]
    premises = re.findall(r"<dd>(.*?)</dd>", shown, re.DOTALL)
    for text, html in zip(rule.premises.values(), premises, strict=True):
        assert set(words(text)) <= set(words(re.sub(r"<[^>]*>", "", html))), text
    said = set(words(re.sub(r"<[^>]*>", "", shown)))
    assert set(words(f"{rule.title} {rule.statement} {rule.why}")) <= said


FAILING = re.compile(
    r"(that breaks the rule|that fail|with checks that a run needs): |that ends at "
)
"""What is said of a bad example, before its codes."""
ABOUT = {"tree": "a tree that", "order": "judgements that", "run": "a run that"}


@pytest.mark.parametrize("name", [name for name, rule in rules().items() if rule.examples])
def test_what_is_said_of_an_example(name: str, folder: Path) -> None:
    rule = rules()[name]
    page = (folder / f"{rule.page}.html").read_text(encoding="utf-8")
    shown = page.partition(f'<article class="rule" id="{name}"')[2].partition("</article>")[0]
    said = re.findall(r'<details class="(good|bad)"><summary>(.*?)</summary>', shown, re.DOTALL)
    for example, (kind, summary) in zip(rule.examples, said, strict=True):
        text = re.sub(r"<[^>]*>", "", summary)
        assert text.startswith(ABOUT.get(example.kind, "a program"))
        assert (kind == "good") is example.good
        assert (FAILING.search(text) is None) is example.good
        assert all(code in text for code in example.codes)


def test_every_page_leads_to_each_chapter_by_its_title(folder: Path) -> None:
    """But for the first, whose title is that of all pages."""
    titles = {
        path.name: re.search(r"<h1[^>]*>(.*?)</h1>", path.read_text(encoding="utf-8"), re.DOTALL)
        for path in folder.glob("*.html")
    }
    for path in folder.glob("*.html"):
        menu = path.read_text(encoding="utf-8").partition("<nav")[2].partition("</nav>")[0]
        entries = re.findall(r'<li><a href="([^"#]+)"[^>]*>([^<]*)</a>', menu)
        assert entries[0] == ("index.html", "Overview")
        assert len(entries) == len(titles)
        for address, name in entries[1:]:
            found = titles[address]
            assert found is not None and name == re.sub(r"<[^>]*>", "", found[1])


def test_inferences_are_typeset(folder: Path) -> None:
    for name, rule in rules().items():
        text = (folder / f"{rule.page}.html").read_text(encoding="utf-8")
        shown = text.partition(f'<figure class="inference" aria-label="{name}">')[2]
        assert bool(shown) == (rule.block is not None), name
        assert "|-" not in shown.partition("</figure>")[0], name


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("G; S |- e1 : I'", "&Gamma;; &Sigma; ⊢ <i>e<sub>1</sub></i> : <i>I&prime;</i>"),
        ("vk+1, ..., vm ok", "<i>v<sub>k+1</sub></i>, …, <i>v<sub>m</sub></i> ok"),
        ("<X, F, H> -> Y", "&#10216;<i>X</i>, <i>F</i>, <i>H</i>&#10217; → <i>Y</i>"),
        ("0 < i <= k => a", "0 &lt; <i>i</i> ≤ <i>k</i> ⇒ a"),
        ("S |- I <: J[s]", "&Sigma; ⊢ <i>I</i> &lt;: <i>J</i>[&sigma;]"),
    ],
)
def test_signs_of_the_literature(written: str, shown: str) -> None:
    assert formula(written) == shown


def test_no_markup_is_left_over(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        said = "".join(page.text)
        assert not re.search(
            r"\]\[[a-z]+[\w-]+\]|\]\(\w+\.md|^## |^Premises:", said, re.MULTILINE
        ) or (
            name == "index.html"  # which shows how a rule is written
        ), name


def test_what_the_search_finds_is_there(folder: Path, pages: dict[str, Page]) -> None:
    text = (folder / "search.js").read_text(encoding="utf-8")
    entries = json.loads(text.removeprefix("window.entries = ").removesuffix(";\n"))
    assert all(resolves(address, "", pages) for _, _, _, address, _ in entries)
    assert {"rule", "code", "construct", "ledger", "section"} == {entry[0] for entry in entries}


def test_the_search_in_a_browser(folder: Path) -> None:
    page = (folder / "derivation.html").read_text(encoding="utf-8")
    script = "input.value = 'd14 arity'; input.dispatchEvent(new Event('input'));"
    shown = dom_after(page, script, folder)
    listed = shown.partition('<div class="search">')[2].partition("</div>")[0]
    assert re.findall(r'<a href="([^"]+)" data-kind="code"><b>([^<]+)</b>', listed)[0] == (
        "derivation.html#D14-arity",
        "D14-arity",
    )


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["html", str(tmp_path / "new" / "site")]) == 0
    assert str(tmp_path / "new" / "site" / "index.html") in capsys.readouterr().out
    assert main(["html"]) == 2


def test_without_what_makes_the_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    monkeypatch.delitem(sys.modules, "rlx.spec.html.site", raising=False)
    for name in ("markdown", "rule"):
        monkeypatch.delitem(sys.modules, f"rlx.spec.html.{name}", raising=False)
    assert main(["html", str(tmp_path / "site")]) == 2
    assert "rlx[docs]" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
