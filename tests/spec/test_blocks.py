"""The blocks of the rules: they are read, they fit the code, and the index finds every construct."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node
from rlx.spec import blocks, rules
from rlx.spec.judgements import JUDGEMENTS, judgement_of
from rlx.spec.reader import Inference, Rule, inference
from rlx.spec.registry import register_all

LINES = [
    "D12-tuple: G; S |- t : TupleStructInfo(I0,",
    "  ..., Ik)",
    "G(x) = I",
    "D12-index: 0 <= i <= k",
    "----",
    "G; S |- TupleGetItem(t, i) : Ii",
]


def test_a_block_is_read() -> None:
    block = inference(LINES)
    assert block == Inference(
        (
            ("D12-tuple", "G; S |- t : TupleStructInfo(I0, ..., Ik)"),
            ("", "G(x) = I"),
            ("D12-index", "0 <= i <= k"),
        ),
        "G; S |- TupleGetItem(t, i) : Ii",
        "derivation",
    )
    assert block.labels == ("D12-tuple", "D12-index")


@pytest.mark.parametrize("lines", [LINES[:4], LINES[:5], [*LINES, "x"], [*LINES, "---", "x"]])
def test_a_block_has_one_bar_and_one_conclusion(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="a block has one"):
        inference(lines)


def test_examples_are_no_part_of_the_premises() -> None:
    block = ["```rule", "X1-a: a", "---", "|- X normal", "```"]
    rest = ["", "Premises:", "- `X1-a`: a.", "", "Source: [Title, 1][t]."]
    fenced = ["What holds.", *block, *rest, "```relax bad X1-a", "## no heading", "```"]
    rule = Rule("X1", "Title", "x.md", fenced)
    assert rule.statement == "What holds." and rule.premises == {"X1-a": "a."}
    assert rule.source == "Title, 1."
    assert rule.block is not None and rule.block.labels == ("X1-a",)
    (example,) = rule.examples
    assert example == ("relax", False, ("X1-a",), "## no heading\n")


def test_the_blocks_fit_the_code() -> None:
    register_all()
    assert blocks.problems() == []


GOOD = [
    "What holds.",
    "```rule",
    "D12-tuple: G; S |- e : TupleStructInfo(I0, ..., Ik)",
    "D12-index: 0 <= i <= k",
    "----",
    "G; S |- TupleGetItem(e, i) : Ii",
    "```",
    "Premises:",
    "- `D12-tuple`: what is indexed is a tuple.",
    "- `D12-index`: the tuple has a field of that index.",
    *("```relax good", "```", "```relax bad D12-tuple D12-index", "```"),
]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", []),
        ("D12-index: 0 <= i <= k", "", ["the block lacks the premise D12-index"]),
        ("D12-index: 0", "0", ["the block lacks the premise D12-index"]),
        ("- `D12-tuple`: what is indexed is a tuple.", "", ["D12-tuple labels no premise of the"]),
        ("G; S |- TupleGetItem(e, i) : Ii", "e has Ii", ["the conclusion has the form of no"]),
        (
            "G; S |- TupleGetItem(e, i) : Ii",
            "K |- TupleGetItem(e, i) ok",
            ["judgement", "not decide"],
        ),
        ("0 <= i <= k", "x\nD12-index: y", ["D12-index stands twice in the block"]),
        ("```relax good\n```", "", ["there is no good program"]),
        ("bad D12-tuple", "bad", ["no bad program makes D12-tuple fail"]),
    ],
)
def test_a_block_that_does_not_fit_is_named(old: str, new: str, said: list[str]) -> None:
    register_all()
    lines = "\n".join(GOOD).replace(old, new).split("\n") if old else GOOD
    found = blocks.problems_of(Rule("D12", "Fields", "derivation.md", lines))
    assert len(found) == len(said), found
    assert all(words in problem for words, problem in zip(said, found, strict=True))


@pytest.mark.parametrize("judgement", JUDGEMENTS, ids=lambda j: j.name)
def test_a_form_is_of_one_judgement(judgement: object) -> None:
    assert judgement_of(judgement.form) == judgement.name  # type: ignore[attr-defined]


def test_the_code_that_decides_a_judgement_is_there() -> None:
    for judgement in JUDGEMENTS:
        for module in judgement.modules:
            assert find_spec(module) is not None, module


def test_every_judgement_is_concluded_by_a_rule() -> None:
    concluded = {rule.block.judgement for rule in rules().values() if rule.block is not None}
    assert concluded == {judgement.name for judgement in JUDGEMENTS}


def test_the_abstract_syntax_is_that_of_the_nodes() -> None:
    relax, prim = blocks.constructs()
    bases = {"Expr", "Binding", "StructInfo", "PrimExpr", "Stmt", "Binary", "Comparison"}
    helpers = {"Literal", "VDevice", "IterVar"}
    # what could not be read is in no program
    helpers |= {"ErrorExpr"}
    assert set(relax) == _nodes(ast) - bases - helpers | {"PrimFunc"}
    assert set(prim) == _nodes(tir) - bases - helpers


def _nodes(module: object) -> set[str]:
    """The names of the node classes that a module defines."""
    return {
        name
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Node)
        and value is not Node
        and value.__module__.startswith(module.__name__)  # type: ignore[attr-defined]
    }


def test_a_construct_has_rules_in_every_phase_that_it_goes_through() -> None:
    """The index lists the rules that derive and evaluate each construct."""
    heads, *rows = (row.strip("| ").split(" | ") for row in blocks.index() if "---" not in row)
    found = {row[0].strip("`"): dict(zip(heads[1:], row[1:], strict=True)) for row in rows}
    relax, prim = blocks.constructs()
    infos = {name for name in relax if name.endswith("StructInfo")}
    for name in relax:
        if name != "IRModule":
            assert found[name]["evaluation"] != "-", name
        assert found[name]["derivation"] != "-", name
        assert name not in infos or found[name]["order"] != "-", name
    named = {(name, rule.file) for rule in rules().values() for name in rule.constructs}
    for name in set(relax) - infos - {"IRModule", "PrimFunc", "Op", "BindingBlock"}:
        assert {(name, "derivation.md"), (name, "evaluation.md")} <= named, name
    assert {(name, "order.md") for name in infos} <= named
    for name in prim:
        row = found.get(f"tir.{name}") or found[name]
        assert row["evaluation"] != "-", name


def test_premises_without_a_program_are_premises() -> None:
    known = {code for rule in rules().values() for code in rule.premises}
    assert blocks.SHOWN_BY_TESTS.keys() <= known


def test_every_link_of_the_index_leads_to_a_rule() -> None:
    linked = {blocks.link(rule) for rule in rules().values()}
    cells = [cell for row in blocks.index()[2:] for cell in row.strip("| ").split(" | ")[1:]]
    assert {link for cell in cells if cell != "-" for link in cell.split(", ")} <= linked
