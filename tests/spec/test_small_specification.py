"""What is read of a small specification, and what is wrong with it: the examples of `small.md`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.spec import __main__ as command
from rlx.spec import blocks, coverage, reader
from rlx.spec.coverage import Coverage, gate, table
from rlx.spec.html import chapter, site
from rlx.spec.reader import Rule, ledger, rules
from rlx.spec.registry import Registration, implementations, register_all
from tests.markdown import assert_example
from tests.spec import small

READ = Path(__file__).with_name("small.md")
CACHED = (reader.rules, reader.ledger, blocks.constructs)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the small specification, which all code takes for the real one."""
    small.write(tmp_path / "spec")
    for module in (reader, chapter, site):
        monkeypatch.setattr(module, "FOLDER", tmp_path / "spec")
    for module in (blocks, command):
        monkeypatch.setattr(module, "README", tmp_path / "spec" / "README.md")
    _forget()
    yield tmp_path
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for cached in CACHED:
        cached.cache_clear()


@pytest.fixture
def registered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Registration]]:
    """The functions of the rules: one as it should be, one for an old clause, two, one without a heading."""
    register_all()
    one, other = (implementations[name][0].function for name in ("D12", "SUB-object"))
    found = {
        "D12": [Registration(rules()["D12"].clause, "derivation", one)],
        "D13": [Registration("0123abcd", "derivation", one)],
        "SUB-any": [Registration(rules()["SUB-any"].clause, "binding", other)] * 2,
        "GONE": [Registration("0", "derivation", one)],
    }
    for module in (blocks, command):
        monkeypatch.setattr(module, "implementations", found)
    return found


@pytest.mark.parametrize("name", ["D12", "D13", "SUB-any", "T-add"])
def test_a_rule_is_read(folder: Path, name: str) -> None:
    fields = {field: getattr(rules()[name], field) for field in sorted(Rule.__slots__)}
    text = "".join(f"{key}: {value!r}\n" for key, value in fields.items())
    assert_example(READ, f"Rule {name}", text)


def test_entries_of_the_ledger_are_read(folder: Path) -> None:
    first, *others = ledger().values()
    assert first.title == "The first thing"
    assert first.witnesses == ("test_one", "test_two")
    assert [entry.title for entry in others] == ["The second", "The third"]


def test_constructs_are_those_of_the_heading_and_of_the_conclusion(folder: Path) -> None:
    found = {name: blocks.constructs_of(rule) for name, rule in rules().items()}
    assert found == {
        "D12": ["TupleGetItem", "Var"],
        "D13": [],
        "SUB-any": [],
        "T-add": ["Add", "Var"],
    }


def test_problems_are_listed(folder: Path, registered: object) -> None:
    assert_example(READ, "Problems", "\n".join(blocks.problems()))


def test_pages_are_written_again_where_they_are(folder: Path) -> None:
    written = site.build(folder / "a" / "site")
    before = [path.read_text(encoding="utf-8") for path in written]
    assert site.build(folder / "a" / "site") == written
    assert [path.read_text(encoding="utf-8") for path in written] == before
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        site_package = __import__("rlx.spec.html", fromlist=["html"])
        _ = site_package.other


def test_the_rules_are_listed(
    folder: Path, registered: dict[str, list[Registration]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([]) == 1
    out, told = capsys.readouterr()
    rows = {row[:22].strip(): row[22:].split() for row in out.splitlines()}
    clauses = {name: rule.clause for name, rule in rules().items()}
    module = registered["D12"][0].function.__module__
    assert rows == {
        "D12": [clauses["D12"], "'derivation'", module, "D12-tuple,", "D12-index"],
        "D13": [clauses["D13"], "-", module, "(registered", "for", "0123abcd)"],
        "SUB-any": [clauses["SUB-any"], "'subtyping'", "twice", "SUB-any"],
        "T-add": [clauses["T-add"], "''", "missing"],
        "GONE": ["no", "heading"],
    }
    assert told.splitlines() == blocks.problems()


def _fitting(monkeypatch: pytest.MonkeyPatch, *problems: str) -> dict[str, list[Registration]]:
    """Each rule has one function, for its clause, and only the problems that are given."""
    known = {n: [Registration(r.clause, "", test_the_rules_are_listed)] for n, r in rules().items()}
    monkeypatch.setattr(command, "implementations", known)
    monkeypatch.setattr(command, "problems", lambda: [*problems])
    return known


def _without(known: Any) -> None:
    known["D13"] = []


def _old(known: Any) -> None:
    known["D13"] = [known["D13"][0]._replace(clause="00000000")]


def _twice(known: Any) -> None:
    known["D13"] *= 2


def _gone(known: Any) -> None:
    known["GONE"] = known["D13"]


def _as_it_is(known: Any) -> None:
    assert known


@pytest.mark.parametrize(
    ("change", "problems", "status"),
    [
        (_as_it_is, (), 0),
        (_as_it_is, ("something",), 1),
        (_as_it_is, ("one", "two"), 1),
        *((change, (), 1) for change in (_without, _old, _twice, _gone)),
    ],
)
def test_anything_wrong_is_status_1(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Any], None],
    problems: tuple[str, ...],
    status: int,
) -> None:
    change(_fitting(monkeypatch, *problems))
    assert command.main([]) == status


def test_the_tables_are_written(folder: Path, registered: object) -> None:
    old = "README.md: the tables are old; `python -m rlx.spec --write` makes them"
    assert old in blocks.problems()
    assert command.main(["--write"]) == 0
    assert old not in blocks.problems()
    assert (folder / "spec" / "README.md").read_text(encoding="utf-8") == blocks.readme()


@pytest.mark.parametrize("argv", [["html"], ["html", "a", "b"], ["html", "--help"]])
def test_the_pages_need_one_folder(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(argv) == 2
    assert capsys.readouterr() == ("", "usage: python -m rlx.spec html OUT\n")


def _covered(applied: int) -> Coverage:
    """Each rule and premise once, but D13 so often, which holds as often."""
    names = {name: 1 for name in rules()}
    codes = {code: 1 for rule in rules().values() for code in rule.premises}
    return Coverage(names | {"D13": applied}, codes | {"SUB-any": 3}, names | {"D13": applied})


def test_coverage_as_a_table(folder: Path) -> None:
    assert table(Coverage({"D12": 12, "T-add": 1}, {"D12-index": 2}, {"D12": 7})).splitlines() == [
        "rule                    applied     held  premises (times failed)",
        "D12                          12        7  tuple 0, index 2",
        "D13                           0        0  -",
        "SUB-any                       0        0  SUB-any 0",
        "T-add                         1        0  -",
        "2 of 4 rules applied, 1 of 3 premises failed in some test",
    ]


@pytest.mark.parametrize(("applied", "status"), [(1, 0), (0, 1)])
def test_the_gate_is_a_status(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    applied: int,
    status: int,
) -> None:
    found = _covered(applied)
    monkeypatch.setattr(coverage.Coverage, "read", lambda: found)
    missing = gate(found)
    assert missing == ["no test applies D13"] * status
    assert command.main(["--gate"]) == status
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in missing))
    assert command.main(["--coverage"]) == status
    assert capsys.readouterr().out == f"{table(found)}\n"


def test_two_blocks_or_two_headings_are_mistakes(folder: Path) -> None:
    block = ["```rule", "----", "|- X normal", "```"]
    with pytest.raises(ValueError, match=r"zebra\.md: X1 has 2 blocks"):
        Rule("X1", "Title", "zebra.md", [*block, *block])
    (folder / "spec" / "zebra.md").write_text("## D12 Again\n", encoding="utf-8")
    rules.cache_clear()
    with pytest.raises(ValueError, match=r"zebra\.md: a second heading D12"):
        rules()
