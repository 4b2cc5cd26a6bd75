"""A small specification: what is read, and its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.spec import __main__ as command
from rlx.spec import blocks, coverage, reader
from rlx.spec.coverage import Coverage, gate, table
from rlx.spec.reader import Rule, ledger, rules
from rlx.spec.registry import Registration, implementations, register_all
from tests.spec import small

CACHED = (reader.rules, reader.ledger, blocks.constructs)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the small specification, which all code takes for the real one."""
    small.write(tmp_path / "spec")
    monkeypatch.setattr(reader, "FOLDER", tmp_path / "spec")
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
    """The functions of the rules: one as it should be, one without a block, two, one without a heading."""
    register_all()
    one, other = (implementations[name][0].function for name in ("D12", "SUB-object"))
    found = {
        "D12": [Registration("derivation", one)],
        "D13": [Registration("derivation", one)],
        "SUB-any": [Registration("binding", other)] * 2,
        "GONE": [Registration("derivation", one)],
    }
    for module in (blocks, command):
        monkeypatch.setattr(module, "implementations", found)
    return found


def test_a_rule_is_read(folder: Path) -> None:
    rule = rules()["D12"]
    assert (rule.title, rule.file, rule.constructs) == (
        "Fields",
        "derivation.md",
        ("TupleGetItem", "Var"),
    )
    assert rule.statement == "The field `i` of a tuple, as D13 says."
    assert rule.premises == {
        "D12-tuple": "what is indexed is a tuple, and has *fields*.",
        "D12-index": "the tuple has a field of that index.",
    }
    assert (rule.source, rule.tvm, rule.ledger) == ("Title, 1.", "does < otherwise.", (2, 1))
    assert rule.block is not None
    assert rule.block.premises == (
        ("D12-tuple", "G; S |- e' : TupleStructInfo(I0, ..., Ik)"),
        ("", "G(x) = I"),
        ("D12-index", "0 <= i <= k"),
    )
    assert rule.block.conclusion == "G; S |- TupleGetItem(e, i) : Ii"
    assert rule.block.judgement == "derivation"
    assert [(each.kind, each.good, each.codes) for each in rule.examples] == [
        ("relax", True, ()),
        ("relax", False, ("D12-tuple", "D12-index", "D12-tuple")),
    ]
    assert "D14" not in rules()  # it is inside of a fence


def test_the_ledger_and_the_syntax_are_read(folder: Path) -> None:
    entries = {number: (e.title, e.text, e.witnesses) for number, e in ledger().items()}
    assert entries == {
        1: ("The first thing", "It says one thing. D12 says another.", ("test_one", "test_two")),
        2: ("The second", "Nobody shows it.", ()),
        3: ("The third", "No rule follows it.", ()),
    }
    relax, tir = blocks.constructs()
    assert relax == ("Function", "Var", "TupleGetItem", "PrimFunc")
    assert tir == ("Var", "Add", "PrimFunc")


def test_what_is_wrong_with_it(folder: Path, registered: object) -> None:
    subtype = "rlx.solver.order.subtype registers it for the judgement 'binding'"
    assert blocks.problems() == [
        "D12: the block lacks Var of the heading",
        "D13: there is no block",
        "SUB-any: the block lacks the premise SUB-any",
        f"SUB-any: {subtype}, its block concludes 'subtyping'",
        f"SUB-any: {subtype}, its block concludes 'subtyping'",
        "T-add: the conclusion has the form of no judgement: x : Add(Var(n))",
        "T-add: there is no bad program",
        "README.md: the tables are old; `python -m rlx.spec --write` makes them",
    ]


def test_the_rules_are_listed(
    folder: Path, registered: dict[str, list[Registration]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([]) == 1
    out, told = capsys.readouterr()
    rows = {row[:22].strip(): row[22:].split() for row in out.splitlines()}
    module = registered["D12"][0].function.__module__
    assert rows == {
        "D12": ["'derivation'", module, "D12-tuple,", "D12-index"],
        "D13": ["-", module],
        "SUB-any": ["'subtyping'", "twice", "SUB-any"],
        "T-add": ["''", "missing"],
        "GONE": ["no", "heading"],
    }
    assert told.splitlines() == blocks.problems()


def _fitting(monkeypatch: pytest.MonkeyPatch, *problems: str) -> dict[str, list[Registration]]:
    """Each rule has one function, and only the problems that are given."""
    known = {name: [Registration("", test_the_rules_are_listed)] for name in rules()}
    monkeypatch.setattr(command, "implementations", known)
    monkeypatch.setattr(command, "problems", lambda: [*problems])
    return known


def _without(known: Any) -> None:
    known["D13"] = []


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
        *((change, (), 1) for change in (_without, _twice, _gone)),
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
