"""Shared memory: only that of tensors whose lives are over, and only by the plan."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.transform.lowering.lifetimes import Lives
from rlx.transform.lowering.memory import StaticPlanBlockMemory, VMMemoryLower
from rlx.transform.lowering.planned_piece import is_size

CHAIN = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        first = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        _ = cls.copy(x, first)
        second = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        _ = cls.copy(first, second)
        USE
        third = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        _ = cls.copy(second, third)
        fourth = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        _ = cls.copy(third, fourth)
        return RESULT
"""


def shown(use: str = "", result: str = "fourth", planned: bool = True) -> str:
    """The program after the passes on memory."""
    text = CHAIN.replace("        USE\n", f"        {use}\n" if use else "").replace(
        "RESULT", result
    )
    module = rlx.parse(text)
    if planned:
        module = StaticPlanBlockMemory()(module)
    return rlx.show(VMMemoryLower()(module))


def places(text: str) -> list[tuple[str, str]]:
    """The piece and the offset of each tensor."""
    lines = [
        line.split("alloc_tensor(")[1] for line in text.splitlines() if "alloc_tensor(" in line
    ]
    return [tuple(line.split(", ")[:2]) for line in lines]  # type: ignore[misc]


def test_nothing_is_shared_without_a_plan() -> None:
    assert len(set(places(shown(planned=False)))) == 4
    assert len(set(places(shown()))) < 4


USES = {
    "as an operand": "q = R.exp(first)",
    "by keyword": "q = R.clip(x, min=0, max=1)\n        p = R.call_tir(cls.copy, (first,), out_sinfo=R.Tensor((4,), 'float32'))",
    "in a tuple": "q = (first, x)",
    "in a tuple in a tuple": "q = ((first, x), x)",
    "by another name": "q = first",
    "of a packed function": "q = R.call_packed('f', first, sinfo_args=R.Object)",
}


@pytest.mark.parametrize("name", USES)
def test_a_tensor_that_is_returned_is_not_written_over(name: str) -> None:
    result = "(fourth, q)" if "keyword" not in name else "(fourth, q, p)"
    if name in ("as an operand",):
        result = "(fourth, q, first)"
    found = places(shown(USES[name], result))
    assert found[0] not in found[1:], name


def test_memory_that_a_keyword_passes_on_is_not_shared() -> None:
    shape, kind = ast.ShapeExpr((tir.IntImm(4),)), ast.DataTypeImm(dtype("float32"))
    held, free, result = ast.Var("held"), ast.Var("free"), ast.Var("result")
    made = ast.Call(ast.Op("relax.builtin.alloc_tensor"), (shape, kind))
    used = ast.Call(ast.Op("relax.unknown"), (), attrs={"count": 3, "of": ast.Tuple((held,))})
    bindings = [
        ast.VarBinding(held, made),
        ast.VarBinding(free, made),
        ast.VarBinding(result, used),
        ast.VarBinding(ast.Var("none"), ast.Tuple(())),
    ]
    lives = Lives(bindings, result, {})
    assert lives.escaping == {held}
    assert lives.last == {held: 2, free: 1}


N = tir.Var("n", dtype("int64"))
MINUS, NONE, ONE, TWO = map(tir.IntImm, (-1, 0, 1, 2))
SIZES = {
    "n": (N, True),
    "0": (NONE, True),
    "-1": (MINUS, False),
    "n + 1": (tir.Add(N, ONE), True),
    "n + -1": (tir.Add(N, MINUS), False),
    "n - 1": (tir.Sub(N, ONE), False),
    "n * 2": (tir.Mul(N, TWO), True),
    "n * -1": (tir.Mul(N, MINUS), False),
    "-1 * -1": (tir.Mul(MINUS, MINUS), False),
    "min(n, 1)": (tir.Min(N, ONE), True),
    "min(n, -1)": (tir.Min(N, MINUS), False),
    "max(n, -1)": (tir.Max(N, MINUS), True),
    "max(-1, n)": (tir.Max(MINUS, N), True),
    "max(-1, -1)": (tir.Max(MINUS, MINUS), False),
    "n // 1": (tir.FloorDiv(N, ONE), True),
    "n // 0": (tir.FloorDiv(N, NONE), False),
    "n // -1": (tir.FloorDiv(N, MINUS), False),
    "-1 // 2": (tir.FloorDiv(MINUS, TWO), False),
    "-1 % 1": (tir.FloorMod(MINUS, ONE), True),
    "-1 % 2": (tir.FloorMod(MINUS, TWO), True),
    "n % 0": (tir.FloorMod(N, NONE), False),
    "n % -1": (tir.FloorMod(N, MINUS), False),
    "n // n": (tir.FloorDiv(N, N), False),
}


@pytest.mark.parametrize("text", SIZES)
def test_what_is_surely_a_size(text: str) -> None:
    expr, wanted = SIZES[text]
    assert is_size(expr) == wanted
