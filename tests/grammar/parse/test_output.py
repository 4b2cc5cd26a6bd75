"""`R.output` says which variables of a dataflow block outlive it, however the text around it is laid out."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.read.parser import parse
from tests.grammar.noise import noisy

HEAD = '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n'


def exported(text: str) -> list[set[str]]:
    """The exports of each dataflow block of the text."""
    parsed = parse(text)
    assert [d.message for d in parsed.diagnostics] == [], text
    found = []
    for module in parsed.modules:
        for function in module.functions.values():
            assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
            for block in function.body.blocks:
                if isinstance(block, ast.DataflowBlock):
                    names = [b.var for b in block.bindings if isinstance(b, ast.VarBinding)]
                    found.append({v.name_hint for v in names if type(v) is ast.Var})
    return found


def errors(body: str) -> list[tuple[str, str]]:
    """Code and message of each error of a function with this body."""
    report = check_text(HEAD + body)
    return [(d.code, d.message) for d in report.diagnostics if d.is_error]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[set[str]]]:
    """Functions with dataflow blocks, and what each block exports."""
    lines: list[str] = []
    expected: list[set[str]] = []
    count = 0
    for at in range(draw(st.integers(1, 3))):
        lines += ["@R.function", f'def f{at}(x: R.Tensor((4,), "float32")):']
        for _ in range(draw(st.integers(0, 3))):
            names = [f"v{count + k}" for k in range(draw(st.integers(1, 4)))]
            count += len(names)
            kept: list[str] = draw(st.lists(st.sampled_from(names), unique=True))
            lines.append("    with R.dataflow():")
            lines += [f"        {name} = R.exp(x)" for name in names]
            empty: bool = draw(st.booleans())
            if kept or empty:
                word = draw(st.sampled_from(("R.output", "R.outputs")))
                lines.append(f"        {word}({', '.join(kept)})")
            expected.append(set(kept))
        lines.append("    return x")
    return "\n".join(lines) + "\n", expected


@settings(deadline=None)
@given(programs(), st.integers(0, 2**32))
def test_layout_decides_nothing(program: tuple[str, list[set[str]]], seed: int) -> None:
    text, expected = program
    assert exported(text) == expected
    other = noisy(text, random.Random(seed))
    assert exported(other) == expected, other
    (before,), (after,) = parse(text).modules, parse(other).modules
    assert first_difference(before, after) is None


def test_a_block_without_output_takes_none_from_another() -> None:
    block = "    with R.dataflow():\n        a = R.exp(x)\n{}    return x\n"
    text = HEAD + block.format("") + HEAD.replace("main", "other")
    text += block.format("        R.output(a)\n")
    assert exported(text) == [set(), {"a"}]


def test_only_the_last_binding_of_a_name_is_exported() -> None:
    text = (
        "    with R.dataflow():\n        a = R.exp(x)\n        a = R.sin(a)\n        R.output(a)\n"
    )
    (module,) = parse(HEAD + text + "    return a\n").modules
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    kinds = [type(b.var) for b in function.body.blocks[0].bindings]
    assert kinds == [ast.DataflowVar, ast.Var]
    assert errors(text + "    return a\n") == []


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["R.output(a, zzz)"], "'zzz' is not defined"),
        (["R.output(a, x)"], "'x' is not bound in this dataflow block"),
        (["R.output(a, (a,))"], "R.output takes variables, not a tuple"),
        (["R.output(a, 5)"], "R.output takes variables, not 5"),
        (["R.output(a, vars=a)"], "R.output has no argument 'vars'"),
        (
            ["R.output(a)", "R.output(a)"],
            "a second R.output after the R.output of a dataflow block",
        ),
        (["R.output(a)", "b = R.exp(a)"], "a binding after the R.output of a dataflow block"),
    ],
)
def test_what_output_cannot_say_is_one_error(statements: list[str], message: str) -> None:
    block = "".join(f"        {s}\n" for s in ["a = R.exp(x)", *statements])
    assert errors(f"    with R.dataflow():\n{block}    return a\n") == [("PARSE", message)]


@pytest.mark.parametrize("value", ["", "a", "x", "zzz"])
def test_output_outside_of_a_block_is_one_error(value: str) -> None:
    body = (
        f"    with R.dataflow():\n        a = R.exp(x)\n    R.output({value})\n    return {value}\n"
    )
    found = [e for e in errors(body) if e[0] == "PARSE"]
    assert found[0] == ("PARSE", "R.output is used outside a dataflow block")
    assert len(errors(body)) == 1 or value in ("", "zzz")


@pytest.mark.parametrize("head", ["with R.dataflow(3):", "with R.dataflow() as a:"])
def test_a_dataflow_block_has_no_arguments(head: str) -> None:
    assert (
        len(errors(f"    {head}\n        a = R.exp(x)\n        R.output(a)\n    return a\n")) == 1
    )
