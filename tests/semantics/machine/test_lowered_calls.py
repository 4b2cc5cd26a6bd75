"""Calls of run-time functions that stand for operators: both run alike, and registered functions hide them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Fault, Returned
from rlx.semantics.values import UNIT, Packed, Tensor

MODULE = """
@I.ir_module
class Module:
    @R.function
    def less(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.subtract(a, b)

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
{body}
        return z
"""
PAIRS = {
    "closures": (
        """
        f = R.make_closure(cls.less, (y,))
        z = R.invoke_closure(f, (x,), ty_args=(R.Any,))
        """,
        """
        f = R.call_packed("vm.builtin.make_closure", cls.less, y, ty_args=(R.Any,))
        z = R.call_builtin_with_ctx("vm.builtin.invoke_closure", (f, x), ty_args=(R.Any,))
        """,
    ),
    "print": (
        """
        R.print(x, y, format="x = {}, y = {}")
        R.print(x, x)
        R.print(format="alone")
        z = x
        """,
        """
        R.call_packed("relax.run.print", R.str("x = {}, y = {}"), x, y, ty_args=(R.Tuple,))
        R.call_packed("relax.run.print", R.str(""), x, x, ty_args=(R.Tuple,))
        R.call_packed("relax.run.print", R.str("alone"), ty_args=(R.Tuple,))
        z = x
        """,
    ),
    "asserted": (
        """
        R.assert_op(R.const(True), x, format="x = {}")
        z = y
        """,
        """
        R.call_packed("relax.run.assert_op", R.const(True), R.str("x = {}"), x, ty_args=(R.Tuple,))
        z = y
        """,
    ),
    "not asserted": (
        """
        R.assert_op(R.const(False), x, format="x = {}")
        z = y
        """,
        """
        R.call_packed("relax.run.assert_op", R.const(False), R.str("x = {}"), x, ty_args=(R.Tuple,))
        z = y
        """,
    ),
    "no message": (
        """
        R.assert_op(R.const(False))
        z = y
        """,
        """
        R.call_packed("relax.run.assert_op", R.const(False), ty_args=(R.Tuple,))
        z = y
        """,
    ),
    "any tensor": (
        """
        z = R.match_cast(x, R.Tensor)
        """,
        """
        nothing: R.Any = R.null_value()
        R.call_packed("vm.builtin.check_tensor_info", x, -1, nothing, R.str("x "), ty_args=(R.Tuple,))
        z = x
        """,
    ),
    "views": (
        """
        z = R.memory.view(x, R.shape([1]), "int32", 4)
        """,
        """
        z = R.call_packed("runtime.TVMTensorCreateView", x, R.shape([1]), R.dtype("int32"), 4)
        """,
    ),
    "memory": (
        """
        s = R.vm.alloc_storage(R.shape([16]), R.prim_value(0), R.dtype("uint8"))
        z = R.vm.alloc_tensor(s, R.prim_value(8), R.shape([2]), R.dtype("float32"))
        """,
        """
        s = R.call_builtin_with_ctx("vm.builtin.alloc_storage", (R.shape([16]), 0, R.dtype("uint8"), R.str("global")), ty_args=(R.Any,))
        z = R.call_packed("vm.builtin.alloc_tensor", s, 8, R.shape([2]), R.dtype("float32"), ty_args=(R.Tensor,))
        """,
    ),
    "sizes": (
        """
        z = R.shape_to_tensor(R.shape([3, 5]))
        """,
        """
        z = R.call_pure_packed("relax.run.shape_to_tensor", R.shape([3, 5]), ty_args=(R.Tensor,))
        """,
    ),
}


def run(body: str, packed: dict[str, Any] | None = None) -> tuple[Any, list[str]]:
    lines = [f"        {line.strip()}" for line in body.strip().splitlines()]
    text = MODULE.format(body="\n".join(lines))
    printed: list[str] = []
    program = load(parse(text).modules[0], packed=packed or {}, output=printed.append)
    given = [Tensor(np.array(v, np.float32)) for v in ([1, 2], [10, 20])]
    return program.run("main", given), printed


@pytest.mark.parametrize("name", PAIRS)
def test_the_operator_and_its_run_time_function(name: str) -> None:
    (expected, lines), (found, others) = map(run, PAIRS[name])
    assert type(found) is type(expected), found
    assert others == lines
    if isinstance(expected, Returned):
        assert isinstance(found, Returned) and str(found) == str(expected)
    else:
        assert isinstance(found, CheckFailed | Fault) and isinstance(expected, CheckFailed | Fault)
        assert (found.code, found.message) == (expected.code, expected.message)


def test_a_registered_function_hides_it() -> None:
    seen: list[str] = []

    def note(text: Any, *values: Any) -> Any:
        seen.append(text.value)
        return UNIT

    _, printed = run(PAIRS["print"][1], {"relax.run.print": Packed(note)})
    assert (seen, printed) == (["x = {}, y = {}", "", "alone"], [])
