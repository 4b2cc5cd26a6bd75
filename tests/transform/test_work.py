"""The work of passes is bounded by the program: counted, not timed."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.visit import evaluated
from rlx.transform import ConvertToDataflow, is_op, op, rewrite, wildcard
from tests.checker.test_work import calls


def chain(count: int) -> ast.IRModule:
    """Functions without annotated results, each of which calls the one before."""
    functions = "".join(
        f'    @R.function\n    def f{i}(x: R.Tensor(("n",), "float32")):\n'
        f"        y = {f'M.f{i - 1}(x)' if i else 'R.exp(x)'}\n"
        "        z = R.add(y, y)\n        return z\n"
        for i in range(count)
    )
    return rlx.parse(f"@I.ir_module\nclass M:\n{functions}")


def test_each_function_of_a_chain_is_derived_once() -> None:
    of = ConvertToDataflow()
    of(chain(2))  # what is loaded once does not count
    once, fourfold = (calls(lambda n=n: of(chain(n))) for n in (20, 80))  # type: ignore[misc]
    assert fourfold < 6 * once


def test_a_rewrite_of_many_functions_copies_no_module_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []
    get, x = rlx.BlockBuilder.get, wildcard()

    def counted(self: rlx.BlockBuilder) -> ast.IRModule:
        made.append(self)
        return get(self)

    monkeypatch.setattr(rlx.BlockBuilder, "get", counted)
    for count in (3, 30):
        made.clear()
        assert "R.tanh" in rlx.show(rewrite(chain(count), is_op("exp")(x), lambda m: op.tanh(m[x])))
        assert len(made) == 1


def choices(expr: tir.PrimExpr) -> int:
    """The largest number of choices that stand around a part of an expression."""
    inner = max(map(choices, tir.children(expr)), default=0)
    return inner + (isinstance(expr, tir.Call) and expr.op == "if_then_else")


@pytest.mark.parametrize("operator", ["concat", "stack"])
@pytest.mark.parametrize("count", [2, 3, 64, 100])
def test_each_of_many_tensors_is_behind_few_conditions(operator: str, count: int) -> None:
    names = ", ".join("x" for _ in range(count))
    head = '@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):\n'
    module = rlx.parse(f"{head}    y = R.{operator}(({names}), axis=0)\n    return y\n")
    kernels = rlx.transform.legalize(module).functions.values()
    [kernel] = [f for f in kernels if isinstance(f, tir.PrimFunc)]
    [store] = evaluated(kernel.body, tir.BufferStore)
    assert choices(store.value) == (count - 1).bit_length()
