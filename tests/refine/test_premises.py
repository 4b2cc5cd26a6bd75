"""Which premise of `spec/refinement.md` fails for a pair."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes.ast import IRModule
from rlx.refine.question import compare
from rlx.spec.coverage import RuleCounts
from rlx.spec.registry import observing

LOOP = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def f(x: T.Buffer((T.int64(8), T.int64(4)), "float32"), y: T.Buffer((), "float32")):
        y[()] = T.float32(0)
        for i, j in T.grid(T.int64(8), T.int64(4)):
            if i < T.int64(7):
                y[()] = y[()] + x[i, j]

    @R.function
    def main(x: R.Tensor((8, 4), "float32")):
        return R.call_tir(M.f, (x,), out_sinfo=R.Tensor((), "float32"))
"""
ADD = """
@R.function(pure=False)
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")):
    z = R.call_packed("f", x, sinfo_args=(R.Object,))
    return R.sum(R.add(x, y), axis=1)
"""


@pytest.mark.parametrize(
    ("before", "old", "new", "code"),
    [
        (ADD, "R.add(x, y)", "R.subtract(x, y)", "REFINE-result-equal"),
        (ADD, '"f", x', '"f", y', "REFINE-calls-same"),
        (ADD, "R.sum(R.add(x, y), axis=1)", "R.sum(R.add(x, x), axis=1)", "REFINE-definition-bits"),
        (
            ADD,
            "    return",
            '    w = R.match_cast(x, R.Tensor((2, 4), "float32"))\n    return',
            "REFINE-checks-hold",
        ),
        (LOOP, "i < T.int64(7)", "i < T.int64(6)", "REFINE-reduce-domain"),
        (LOOP, "+ x[i, j]", "+ x[i, j] * x[i, j]", "REFINE-reduce-elements"),
        (
            LOOP,
            "for i, j in T.grid(T.int64(8), T.int64(4))",
            "for j, i in T.grid(T.int64(4), T.int64(8))",
            "REFINE-reduce-order",
        ),
    ],
)
def test_the_premise_that_fails(before: str, old: str, new: str, code: str) -> None:
    """One change, and the premise that is not proved."""
    assert old in before
    modules: list[IRModule] = []
    for text in (before, before.replace(old, new)):
        report = check_text(text)
        assert report.ok, report
        modules += report.modules
    counts = RuleCounts()
    with observing(counts):
        found = compare(modules[0], modules[1])
    assert not found.proved and counts.failed[code]
