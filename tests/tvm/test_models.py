"""Modules that TVM prints are read and printed again without errors, and every binding is derived as by TVM."""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from rlx.checker.check import check_modules, check_text
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import Parsed, parse

from . import constructs, models, passes
from .compare import Comparison, compare, without_annotations
from .networks.layers import Module

EXPLAINED = Path(__file__).with_name("differences.toml")
PROGRAMS = [f"{model}-{stage}" for model in models.MODELS for stage in ("imported", "lowered")]
PROGRAMS += ["decoder4-legalized", "experts-fused"]
PROGRAMS += [*constructs.NAMES, *passes.PASSES]

OPAQUE: dict[str, int] = {}
"""Statements of PrimFuncs that are kept as text, by program; these numbers only become smaller."""


@cache
def stages(model: str) -> dict[str, Module]:
    return dict(models.stages(model))


@cache
def module(program: str) -> Module:
    """TVM's module of that name."""
    if program in passes.PASSES:
        return passes.apply(program)
    model, _, stage = program.partition("-")
    return stages(model)[stage] if stage else constructs.build(program)


@cache
def text(program: str, metadata: bool = False) -> str:
    return str(module(program).script(show_meta=metadata))


def constants(program: str) -> str:
    """The metadata in front of a text, which is where the data of its constants is."""
    return text(program, metadata=True).partition("# from")[0]


@cache
def comparison(program: str) -> Comparison:
    return compare(module(program), without_annotations(text(program, metadata=True)))


@cache
def explained() -> dict[str, int]:
    """The number of known differences by cause."""
    entries = tomllib.loads(EXPLAINED.read_text("utf-8")).get("difference", [])
    assert all(entry["reason"] for entry in entries)
    return {entry["cause"]: entry["count"] for entry in entries}


@cache
def parsed_text(program: str) -> Parsed:
    """The module as we read it, with the data of its constants."""
    return parse(text(program, metadata=True), program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_printed_module_is_read_and_printed_again(program: str) -> None:
    """With the data of its constants; without them `test_a_printed_module_has_no_error` reads it."""
    first = parsed_text(program)
    codes = [found.code for found in first.diagnostics]
    assert codes == ["PARSE-opaque"] * OPAQUE.get(program, 0)
    (parsed,) = first.modules
    assert len(parsed.functions) == len(module(program).functions)
    printed = print_module(parsed)
    second = parse(constants(program) + printed, program)
    assert [found.code for found in second.diagnostics] == codes
    assert first_difference(parsed, second.modules[0]) is None
    assert print_module(second.modules[0]) == printed


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_printed_module_has_no_error(program: str) -> None:
    if text(program) == text(program, metadata=True):
        first = parsed_text(program)
        report = check_modules(first.modules, first.source, first.diagnostics, first.captured)
    else:
        report = check_text(text(program), program)
    assert [found.message for found in report.diagnostics if found.is_error] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_binding_is_derived_as_tvm_derives_it(program: str) -> None:
    """With its annotation taken away, and up to the explained differences."""
    found = comparison(program)
    assert found.compared > 0
    unexplained = [d for d in found.differences if d.cause not in explained()]
    assert not unexplained, "\n".join(map(str, unexplained[:20]))


def test_the_explained_differences_only_become_fewer() -> None:
    counts = Counter(d.cause for program in PROGRAMS for d in comparison(program).differences)
    assert {cause: counts[cause] for cause in explained()} == explained()


def test_a_difference_is_seen() -> None:
    """The comparison can fail: a text that says something else than TVM's module is found out."""
    theirs, printed = module("call_tir"), without_annotations(text("call_tir"))
    assert compare(theirs, printed).differences == ()
    said = 'R.Tensor((n, n), dtype="float32")'
    for instead, cause in [
        ('R.Tensor((n, 4), dtype="float32")', "dimensions"),
        ('R.Tensor((n, n), dtype="int32")', "dtype"),
        ('R.Tensor((n, n, n), dtype="float32")', "rank"),
        (f"R.Tuple({said})", "Tuple for Tensor"),
    ]:
        other = printed.replace(f"out_ty={said}", f"out_ty={instead}").replace(
            f") -> {said}:", "):"
        )
        assert other != printed
        causes = {difference.cause for difference in compare(theirs, other).differences}
        assert f"relax.call_dps_packed of custom.gram: {cause}" in causes


def test_annotations_are_taken_away() -> None:
    line = '        y: R.Tuple(R.Tensor((n,), dtype="f:= "), R.Any) = R.f(x, key=R.Tensor("a"))'
    assert without_annotations(line) == '        y = R.f(x, key=R.Tensor("a"))'
    for kept in ("    a: T.int32 = 7", "    def f(x: R.Any) -> R.Any:", "        y = R.f(x)"):
        assert without_annotations(kept) == kept
    left = without_annotations(text("long_function")).splitlines()
    assert sum(" = R.add(" in line for line in left) == 1000
    assert not any(": R." in line for line in left if "=" in line and "def " not in line)
