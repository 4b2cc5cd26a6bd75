"""LAW: a program that is only warned of never ends IllFormed or Stuck, whatever its objects turn out to be.

``python -m tests.semantics.machine.test_warned`` gives objects to each operator, in several places.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes.dtype import dtype
from rlx.operators.registry import every_name
from rlx.semantics.machine import MachineProgram, load
from rlx.semantics.outcome import IllFormed, Outcome, Returned, Stuck
from rlx.semantics.values import (
    NULL,
    UNIT,
    DataTypeValue,
    Opaque,
    Packed,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from tests.spec.examples import PACKED

MODULE = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]})
    @T.prim_func
    def k(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]
    @R.function
    def g(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), o: R.Object, u: R.Object):
        m = T.int64()
        """
OUT = 'out_sinfo=R.Tensor((2,), "float32")'
BODIES = (
    "return M.g(o)",
    "y: R.Shape([2]) = o; return y",
    "y: R.Tuple(R.Tensor, R.Object) = o; return y[0]",
    "y: R.Callable((R.Tensor,), R.Tensor, purity=True) = o; return y(x)",
    "y = R.match_cast(o, R.Callable); return y(x, u)",
    "y = R.match_cast(o, R.Tuple(R.Object, R.Shape([m]))); return R.zeros((m,), 'int8')",
    "y = R.match_cast(o, R.Prim(value=m)); return R.zeros((m,), 'int8')",
    f"return R.call_tir(M.k, o, {OUT})",
    f"return R.call_tir(M.k, (o,), {OUT})",
    f"return R.call_tir_inplace(M.k, (x, o), inplace_indices=[1], {OUT})",
    f"return R.call_dps_packed(o, (x,), {OUT})",
    f'return R.call_dps_packed("copy", o, {OUT})',
    "return R.call_pure_packed(o, x, sinfo_args=R.Object)",
    'return R.call_inplace_packed("same", o, inplace_indices=[0], sinfo_args=R.Tensor)',
    "return R.invoke_closure(o, (x,), sinfo_args=R.Object)",
    "return R.hint_on_device(o, R.cpu(0))",
    "return M.k(o, u)",
    "y = R.vm.kill_object(o); return y",
    'return R.vm.alloc_tensor(o, 0, R.shape([2]), "float32")',
    'return R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (o,), sinfo_args=R.Tensor)',
    'return R.call_packed("vm.builtin.match_shape", o, u, 1, 1, 0, sinfo_args=R.Tuple())',
    "return R.memory.view(o, R.shape([2]), 'float32', 0)",
    "return R.reshape(x, o)",
    "return R.nn.conv2d(o, o)",
    "return R.nn.softmax(o)",
    "return R.take(o, u)",
    "return R.triu(o)",
)
OPERANDS = ("o", "x, o", "o, x", "o, o", "o, o, o", "(o, x)", "o, 0", "o, R.shape([2])")


def ready(body: str) -> MachineProgram | None:
    """The program with this body; None if the checker refuses it."""
    report = check_text(MODULE + "\n        ".join(body.split("; ")) + "\n")
    return load(report.modules[0], packed=PACKED, output=lambda _: None) if report.ok else None


def end(program: MachineProgram, given: Value) -> Outcome:
    return program.run("main", [Tensor(np.ones(2, np.float32)), given, ShapeValue((2,))], fuel=2000)


@cache
def objects() -> tuple[Value, ...]:
    """An object of each kind."""
    x = Tensor(np.ones(2, np.float32))
    functions = []
    for name in ("g", "k"):
        program = ready(f"return M.{name}")
        assert program is not None
        found = end(program, NULL)
        assert isinstance(found, Returned)
        functions.append(found.value)
    return (
        *(
            x,
            Tensor(np.array(True)),
            Tensor(np.ones((2, 2), np.int32)),
            Storage(np.zeros(64, "u1")),
        ),
        *(ShapeValue((2,)), Scalar(2), UNIT, TupleValue((x, Scalar(1))), StringValue("same")),
        *(DataTypeValue(dtype("int8")), NULL, Packed(lambda *a: a[0], "p"), Opaque(object())),
        *functions,
    )


def wrong(body: str) -> Iterator[str]:
    """The objects with which the program ends in a way that it must not."""
    program = ready(body)
    if program is None:
        return
    for given in objects():
        found = end(program, given)
        if isinstance(found, IllFormed | Stuck):
            yield f"{body} with {type(given).__name__}: {found}"


@pytest.mark.parametrize("body", BODIES)
def test_a_program_that_is_warned_of_is_not_ill_formed(body: str) -> None:
    assert ready(body) is not None, "the checker refuses it"
    assert list(wrong(body)) == []


def main() -> int:
    """Print what ends wrongly, of all operators."""
    names = [name.removeprefix("relax.") for name in every_name()]
    bodies = [f"return R.{name}({given})" for name in names for given in OPERANDS]
    found = [each for body in (*BODIES, *bodies) for each in wrong(body)]
    print("\n".join([*found, f"{len(found)} of {len(bodies)} programs end wrongly"]))
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
