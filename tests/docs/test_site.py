"""The site: it builds without a warning, asks for nothing from elsewhere, and leaves nothing out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rlx.cli import COMMANDS
from rlx.operators.registry import families
from rlx.spec import ledger, rules
from rlx.spec.blocks import constructs
from tests.browser import dom_after

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


class Loaded(HTMLParser):
    """The files that a page loads as soon as it is opened, and the words that it shows."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video"):
            self.found += [value for name in ("src", "srcset") if (value := given.get(name))]
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(given.get("href") or "")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """The site loads no web fonts and no foreign scripts: each page works from a folder."""
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        for address in Loaded(page).found:
            assert not re.match(r"(?:https?:)?//", address), (page, address)
            if page.name != "404.html":  # whose addresses are those of a server's root
                assert (page.parent / address.partition("?")[0].partition("#")[0]).exists(), (
                    page,
                    address,
                )
    for style in site.rglob("*.css"):
        assert not re.search(
            r"@import|url\((?![\"']?(?:data:|#))[\"']?(?:https?:)?//", style.read_text("utf-8")
        ), style


SEARCH = """
const field = document.querySelector("[data-md-component=search-query]")
setTimeout(() => {
  document.querySelector("#__search").click()
  field.value = "--fix"
  field.dispatchEvent(new Event("keyup", { bubbles: true }))
}, 2000)
"""


def test_one_can_search_without_a_server(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    page = (folder / "index.html").read_text("utf-8")
    after = dom_after(page, SEARCH, folder)
    assert re.search(r"\d+ matching documents", after)
    assert "md-search-result__link" in after and "commands/check.html" in after


def test_every_code_has_its_programs(site: Path) -> None:
    for file in {rule.page for rule in rules().values() if rule.premises}:
        page = (site / "reference/codes" / f"{file}.html").read_text("utf-8")
        for rule in rules().values():
            for code in rule.premises if rule.page == file else ():
                section = page.partition(f'<h2 id="{code.lower()}')[2].partition("<h2")[0]
                assert section, code
                if any(code in example.codes for example in rule.examples if not example.good):
                    assert section.count('class="highlight"') >= 2, (
                        f"{code}: a program and what mends it"
                    )


def test_every_operator_and_command_is_there(site: Path) -> None:
    for family, names in families().items():
        text = "".join(Loaded(site / f"reference/operators/{family}.html").text)
        assert all(f"R.{name}(" in text for name in names), family
    for name in COMMANDS:
        text = "".join(Loaded(site / f"reference/commands/{name}.html").text)
        assert f"usage: rlx {name}" in text


def test_operators_have_shapes_a_legal_call_and_failing_ones(site: Path) -> None:
    text = "".join(Loaded(site / "reference/operators/linear_algebra.html").text)
    section = text.partition("R.matmul(x1")[2].partition("R.outer(")[0]
    assert "R.matmul((a, 3, b), (b, c))" in section and "Tensor((a, 3, c), float32)" in section
    assert "A legal call" in section
    assert re.search(r"OBL-matmul-reduction: .*\s+It fails for x1: .*a, 3.*4, b", section)


def test_operators_name_their_obligations() -> None:
    from rlx.operators.reference import obligations
    from rlx.operators.registry import lookup

    for name, code in [
        ("matmul", "OBL-matmul-reduction"),
        ("reshape", "OBL-reshape-count"),
        ("add", "OBL-broadcast-dims"),
        ("concat", "OBL-concat-dims"),
    ]:
        operator = lookup(f"relax.{name}")
        assert operator is not None and code in obligations(operator)
    relu = lookup("relax.nn.relu")
    assert relu is not None and "OBL-matmul-reduction" not in obligations(relu)


def test_every_public_name_is_there(site: Path) -> None:
    from importlib import import_module

    import rlx

    ids: set[str] = set()
    facade = "".join(Loaded(site / "reference/python/rlx.html").text)  # it has names of rooms, too
    for room in ("rlx", *(f"rlx.{name}" for name in rlx.ROOMS)):
        path = site / f"reference/python/{room}.html"
        ids |= set(re.findall(r'id="(rlx\.[\w.]+)"', path.read_text("utf-8")))
        text = facade + "".join(Loaded(path).text)
        for name in import_module(room).__all__:
            assert name in text, f"{room}.{name}"
    assert {"rlx.api.check", "rlx.solver.api.prove", "rlx.tvm.instrument.Instrument"} <= ids


def test_pictures_are_drawn_from_what_is_so(site: Path) -> None:
    from docs.build.pictures import edges, layers

    for name in ("house", "lattice", "run"):
        text = (site / "assets" / f"{name}.svg").read_text("utf-8")
        assert text.startswith("<svg") and "aria-label" in text and "<title>" in text
        assert not re.search(r"href|<script|<image", text)
    assert ("Tensor(ndim=2)", "Tensor") in edges()
    assert ("Tensor((n, m), float32)", "Object") not in edges()
    assert layers().index("checker") < layers().index("grammar")
    assert "E-call" in (site / "assets/run.svg").read_text("utf-8")


class Page(HTMLParser):
    """The anchors, links and words of a page of the specification."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(page.read_text("utf-8").partition("<article")[2].partition("</article>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [value for value in [given.get("id")] if value]
        self.links += [value for value in [given.get("href")] if tag == "a" and value]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def specification(site: Path) -> dict[str, Page]:
    return {path.name: Page(path) for path in (site / "reference/specification").glob("*.html")}


def test_every_rule_premise_construct_and_entry_has_an_anchor(
    specification: dict[str, Page],
) -> None:
    for name, rule in rules().items():
        page = specification[f"{rule.page}.html"]
        assert {name, *rule.premises} <= set(page.ids), name
        assert f"{rule.page}.html#{name}" in specification["rules.html"].links
    assert {str(number) for number in ledger()} <= set(specification["ledger.html"].ids)
    assert {f"construct-{name}" for name in constructs()[0]} <= set(specification["index.html"].ids)


def test_links_between_rules_lead_somewhere(specification: dict[str, Page]) -> None:
    for name, page in specification.items():
        assert len(page.ids) == len(set(page.ids)), name
        for address in page.links:
            target, _, anchor = address.partition("#")
            if "/" not in target and anchor:
                assert anchor in specification[target or name].ids, (name, address)


def words(text: str) -> set[str]:
    """The words of a text outside of code and of the addresses of links."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|\]\[[^]]*\]", " ", text)
    return set(re.findall(r"[a-z]{3,}", prose.lower()))


def test_every_word_of_a_rule_is_on_its_page(specification: dict[str, Page]) -> None:
    for page in {rule.page for rule in rules().values()}:
        shown = words("".join(specification[f"{page}.html"].text).replace("`", ""))
        for name, rule in rules().items():
            if rule.page == page:
                said = (
                    f"{rule.title} {rule.statement} {rule.why} {' '.join(rule.premises.values())}"
                )
                assert words(said) <= shown, name


def test_no_markup_of_the_source_is_left(specification: dict[str, Page]) -> None:
    for name, page in specification.items():
        if name != "index.html":  # which shows how a rule is written
            said = "".join(page.text)
            assert not re.search(r"\]\[[a-z]+[\w-]+\]|\]\(\w+\.md|^## |```", said, re.MULTILINE), (
                name
            )


def test_examples_name_the_premises_that_they_break(specification: dict[str, Page]) -> None:
    known = {code for rule in rules().values() for code in rule.premises}
    for rule in rules().values():
        links = specification[f"{rule.page}.html"].links
        for code in {c for e in rule.examples if not e.good for c in e.codes} & known:
            assert any(link.endswith(f"#{code}") for link in links), (rule.identifier, code)
