"""D16: PrimFuncs as Relax sees them."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import FLOAT32, HANDLE, INT32

from .programs import module

KERNEL = """
@T.prim_func(private=True)
def kernel(a: T.Buffer((n, T.int64(4)), "float32"), k: T.int64, b: T.Buffer((T.int64(4),), "float32")):
    T.evaluate(0)
"""


def calling(call: str) -> str:
    return f"""
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((4,), "float32")):
        z = {call}
        return z
    """


def test_buffers_are_tensors_and_scalars_are_scalars() -> None:
    derived = module(KERNEL, calling("cls.kernel(x, R.prim_value(1), y)"))
    assert derived.codes == []
    params = "Tensor((n, 4), float32), Prim(int64), Tensor((4,), float32)"
    assert derived.shown("kernel") == f"Callable(({params}) -> Tuple(), impure)"
    assert derived.shown("z") == "Tuple()"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("cls.kernel(y, R.prim_value(1), y)", "error D14-argument"),
        ("cls.kernel(x, y, y)", "error D14-argument"),
        ("cls.kernel(x, y)", "error D14-arity"),
    ],
)
def test_direct_calls_are_checked(call: str, code: str) -> None:
    assert module(KERNEL, calling(call)).codes == [code]


def test_a_direct_call_is_an_effect() -> None:
    text = calling("cls.kernel(x, R.prim_value(1), y)").replace("(pure=False)", "")
    assert module(KERNEL, text).codes == ["error D14-impure"]


def prim_func(params: tuple[tir.Var, ...], buffers: dict[tir.Var, tir.Buffer], ret: object) -> str:
    from rlx.checker.derive import derive
    from rlx.grammar.print.printer import show

    gv = ast.GlobalVar("f")
    function = tir.PrimFunc(params, tir.SeqStmt(()), ret, buffers, {})  # type: ignore[arg-type]
    return show(derive(ast.IRModule({gv: function})).info[gv])


def test_a_scalar_that_a_shape_mentions_is_bound() -> None:
    handle, n = tir.Var("h", HANDLE), tir.Var("n")
    buffer = tir.Buffer("b", (tir.Mul(n, n),), FLOAT32)
    shown = prim_func((handle, n), {handle: buffer}, None)
    assert shown == "Callable((Tensor((n * n,), float32), Prim(int64, n)) -> Tuple(), impure)"


def test_a_handle_without_a_buffer_is_any_object() -> None:
    assert prim_func((tir.Var("h", HANDLE),), {}, None) == "Callable((Object) -> Tuple(), impure)"


def test_a_return_type_is_a_scalar() -> None:
    assert prim_func((), {}, INT32) == "Callable(() -> Prim(int32), impure)"
