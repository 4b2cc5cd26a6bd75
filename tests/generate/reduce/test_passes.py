"""What each pass of the reducer takes away at each of its sites: `RLX_UPDATE_SNAPSHOTS=1 pytest` writes it anew."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.generate.reduce.passes import PASSES, Pass, cutting, size
from rlx.grammar import ast
from rlx.grammar.printer import print_module
from tests.snapshots import assert_entries

SNAPSHOT = Path(__file__).parent / "snapshots" / "passes.txt"
LONGEST = 12
"""Lines of a change that are kept; of a longer one a hash."""

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] + T.float32(1)
            b[i] = b[i] * a[3 - i]

    @R.function(private=True)
    def helper(x: R.Tensor((4,), "float32"), unused: R.Tensor, n: R.Prim("int64")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y

    @R.function(pure=False)
    def main(x: R.Tensor((4, 6), "float32"), v: R.Tensor((4,), "float32"), c: R.Prim("bool")) -> R.Tensor:
        cls = Module
        with R.dataflow():
            a: R.Tensor((4, 6), "float32") = R.exp(x)
            b = a
            d = R.add(a, b)
            t = (a, d)
            u = t[1]
            R.output(u)
        h = cls.helper(v, v, R.prim_value(5))
        w = R.sin(u)
        q = R.print(w, format="{}")
        if c:
            e = R.sum(u, axis=[1], keepdims=True)
            f = R.reshape(e, R.shape([2, 2]))
        else:
            f = R.match_cast(h, R.Tensor((2, 2), "float32"))
        with R.dataflow():
            g = R.cos(f)
            k = R.add(g, R.const(1.5, "float32"))
            R.output(g, k)
        return k
"""


def changed(before: str, after: str) -> str:
    """The lines that differ."""
    lines = [
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line[:1] in ("+", "-")
    ]
    if len(lines) > LONGEST:
        return f"{len(lines)} lines, {hashlib.sha256(after.encode()).hexdigest()[:16]}"
    return "\n".join(lines)


def entries(step: Pass, module: ast.IRModule) -> Iterator[tuple[str, str]]:
    text, sites = print_module(module), step.sites(module)
    for at, site in enumerate(sites):
        made = step.without(module, [site])
        yield f"{step.name}, site {at}, {size(made)}", changed(text, print_module(made))
    yield f"{step.name}, all", changed(text, print_module(step.without(module, sites)))


def test_what_passes_take_away() -> None:
    report = check_text(PROGRAM)
    assert report.ok, report
    [module] = report.modules
    info = {var: known for var, known in report.info.items() if isinstance(var, ast.Var)}
    assert_entries(
        SNAPSHOT,
        [entry for step in (*PASSES, cutting(info)) for entry in entries(step, module)],
    )


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_a_pass_without_sites_changes_nothing(step: Pass) -> None:
    if (
        step.name == "earlier results"
    ):  # what nothing uses goes with a later result, whichever it is
        return
    [module] = check_text(PROGRAM).modules
    assert print_module(step.without(module, [])) == print_module(module)
