"""Closures with arguments of their own: TVM's machine and this one hand them over in the same order."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor
from tests.tvm.target import QUICK

TEXT = """
@I.ir_module
class Module:
    @R.function(private=True)
    def less(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32"), c: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        d = R.subtract(a, R.multiply(b, c))
        return d

    @R.function(pure=False)
    def made(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32"), z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        one = R.make_closure(cls.less, (x,))
        r = R.invoke_closure(one, (y, z), ty_args=(R.Tensor((2,), "float32"),))
        return r

    @R.function(pure=False)
    def local(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32"), z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def inner(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            b = R.subtract(a, R.multiply(x, y))
            return b
        r = inner(z)
        return r
"""

GIVEN = [np.array(numbers, np.float32) for numbers in ([1, 2], [10, 20], [100, 300])]


@pytest.mark.parametrize("entry", ["made", "local"])
def test_the_order_of_arguments(entry: str) -> None:
    lifted = relax.transform.LambdaLift()(tvm.script.from_source(TEXT))
    machine = relax.VirtualMachine(tvm.compile(lifted, target=QUICK), tvm.cpu())
    theirs = machine[entry](*map(tvm.runtime.tensor, GIVEN)).numpy()
    for text in (TEXT, lifted.script()):
        end = load(parse(text).modules[0]).run(entry, list(map(Tensor, GIVEN)))
        assert isinstance(end, Returned) and isinstance(end.value, Tensor)
        assert end.value.data.tolist() == theirs.tolist()
