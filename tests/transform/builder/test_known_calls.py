"""A call like one that was checked before is not checked again, and the program is the same as if it were."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule, StructInfo, TensorStructInfo
from rlx.grammar.nodes.node import replace
from rlx.operators.registry import Operator
from rlx.transform.builder.frame import Frame
from rlx.transform.builder.known_calls import KnownCalls
from tests.operators.cases import LEGAL, WARNED, Case
from tests.operators.context import argument, k, m, n, shape, tensor

CASES = [*LEGAL, *(call for _, call in WARNED)]
MORE: list[Case] = [
    ("print", (tensor((n, 4)),), {"format": "{}"}),
    ("memory.kill_tensor", (tensor((n, 4)),), {}),
    ("vm.kill_object", (tensor((n, 4)),), {}),
    ("nn.dropout", (tensor((n, m)),), {}),
    ("builtin.alloc_tensor", ((n, 4),), {"dtype": "float32", "runtime_device_index": 0}),
]


class Again(rlx.ExprMutator):
    """Puts an equal call in place of each one."""

    def visit_call(self, call: ast.Call) -> ast.Expr:
        return replace(super().visit_call(call))


def built(case: Case, dataflow: bool) -> tuple[IRModule, list[str]]:
    """A program with the same call several times, of the same variables; and what is said of it."""
    name, args, attrs = case
    params = [rlx.Var(f"p{at}", arg) for at, arg in enumerate(args) if isinstance(arg, StructInfo)]
    variables = iter(params)
    given = [next(variables) if isinstance(arg, StructInfo) else argument(arg) for arg in args]

    def call() -> ast.Call:
        return ast.Call(ast.op(f"relax.{name}"), tuple(given), attrs)

    sizes = rlx.Var("sizes", shape((n, m, k)))
    bb = rlx.BlockBuilder()
    said = []
    with bb.function("main", [sizes, *params], pure=False):
        with bb.dataflow() if dataflow else nullcontext():
            # On lines of their own: of one place the same thing is said once.
            said.append(emitted(lambda: bb.emit(call())))
            said.append(emitted(lambda: bb.emit(call())))
            said.append(emitted(lambda: bb.emit(call())))
            out = bb.emit_output(sizes) if dataflow else sizes
        bb.emit_func_output(out)
    return bb.get(), [*said, *(str(d) for d in bb.diagnostics)]


def emitted(emit: Callable[[], ast.Var]) -> str:
    """The builder's answer about a call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rlx.BuildWarning)
        try:
            return str(emit().struct_info_annotation)
        except rlx.BuildError as error:
            return str(error)


def cases() -> list[Case]:
    """Two calls of each operator on tensors, and some that have effects."""
    found: dict[str, list[Case]] = {}
    for case in CASES:
        tensors = [arg for arg in case[1] if isinstance(arg, TensorStructInfo)]
        device = any(isinstance(given, ast.VDevice) for given in case[2].values())
        if tensors and not device and not any(isinstance(x.shape, ast.Var) for x in tensors):
            found.setdefault(case[0], []).append(case)
    return [call for calls in found.values() for call in (calls[0], calls[-1])] + MORE


@pytest.mark.parametrize("dataflow", [False, True], ids=["outside", "dataflow"])
def test_the_program_is_the_same_as_if_each_call_were_checked(
    monkeypatch: pytest.MonkeyPatch, dataflow: bool
) -> None:
    quick = [built(case, dataflow) for case in cases()]
    monkeypatch.setattr(KnownCalls, "remember", lambda *_: None)
    monkeypatch.setattr(Frame, "finds_nothing", lambda *_: False)
    slow = [built(case, dataflow) for case in cases()]
    for case, (one, said), (other, heard) in zip(cases(), quick, slow, strict=True):
        assert (rlx.show(one), said) == (rlx.show(other), heard), case


@pytest.mark.parametrize(
    ("operator", "fine", "fault"),
    [
        ("floor_divide", rlx.const(2, "int32"), rlx.const(0, "int32")),
        ("left_shift", rlx.const(31, "int32"), rlx.const(32, "int32")),
        ("bucketize", rlx.const([1.0, 2.0], "float32"), rlx.const([2.0, 1.0], "float32")),
    ],
)
def test_a_call_with_another_constant_is_checked(
    operator: str, fine: ast.Constant, fault: ast.Constant
) -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", tensor((n,), str(fine.data.dtype)))
    called = getattr(rlx.op, operator)
    with bb.function("main", [x]):
        bb.emit(called(x, fine))
        with pytest.warns(rlx.BuildWarning, match="every run of the call faults"):
            last = bb.emit(called(x, fault))
        bb.emit_func_output(last)


def test_a_cast_of_a_field_holds_for_each_name_of_it() -> None:
    bb = rlx.BlockBuilder()
    pair = rlx.Var("pair", 'R.Tuple(R.Tensor("float32", ndim=2), R.Tensor)')
    with bb.function("main", [pair]):
        first, again = bb.emit(pair[0]), bb.emit(pair[0])
        bb.match_cast(again, 'R.Tensor((3, 4), "float32")')
        bb.emit_func_output(bb.emit(rlx.op.exp(first)))
    assert "gv3: R.Tensor((3, 4)" in rlx.show(bb.get())


@pytest.mark.filterwarnings("ignore::rlx.BuildWarning")
def test_equal_calls_in_place_of_calls_change_nothing() -> None:
    for case in cases()[::4]:
        module, _ = built(case, True)
        assert rlx.show(Again()(module)) == rlx.show(module), case


@pytest.mark.parametrize("dataflow", [False, True], ids=["outside", "dataflow"])
def test_a_call_like_another_is_checked_once(
    monkeypatch: pytest.MonkeyPatch, dataflow: bool
) -> None:
    checked: list[ast.Call] = []
    original = Operator.derive

    def derive(self: Operator, call: ast.Call, context: Any) -> StructInfo:
        checked.append(call)
        return original(self, call, context)

    monkeypatch.setattr(Operator, "derive", derive)
    for name in ("exp", "abs", "sum", "add", "matmul"):
        case = next(case for case in LEGAL if case[0] == name)
        checked.clear()
        built(case, dataflow)
        assert len(checked) == 1, name
