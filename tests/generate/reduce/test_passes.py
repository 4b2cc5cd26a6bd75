"""The parts that the passes of the reducer remove: the examples of `passes.md`, and laws."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.generate.reduce.passes import PASSES, Pass, size
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from tests.markdown import assert_example, examples

TAKEN = Path(__file__).with_name("passes.md")

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


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_what_a_pass_takes_away(step: Pass) -> None:
    (text,) = next(example.given for example in examples(TAKEN) if example.name == step.name)
    (module,) = parse(text).modules
    *_, last = step.sites(module)
    left = print_module(step.without(module, [last]))
    lines = [line for line in left.splitlines() if not line.startswith("# from")]
    assert_example(TAKEN, step.name, "\n".join(lines).strip("\n"))


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_a_site_makes_the_program_no_larger(step: Pass) -> None:
    """Each alone, and all at once."""
    (module,) = check_text(PROGRAM).modules
    sites = step.sites(module)
    assert sites
    for gone in (*([site] for site in sites), sites):
        assert size(step.without(module, gone)) <= size(module)


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_a_pass_without_sites_changes_nothing(step: Pass) -> None:
    if (
        step.name == "earlier results"
    ):  # what nothing uses goes with a later result, whichever it is
        return
    [module] = check_text(PROGRAM).modules
    assert print_module(step.without(module, [])) == print_module(module)
