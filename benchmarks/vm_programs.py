"""What the benchmark of the virtual machine runs."""

from __future__ import annotations

from typing import Any

from tvm import relax

from rlx import vm
from rlx.grammar.read.parser import parse


def chain(count: int, size: int = 16) -> Any:
    """TVM's module of so many elementwise operators one after the other."""
    builder = relax.BlockBuilder()
    x, y = (relax.Var(name, relax.TensorType((size,), "float32")) for name in "xy")
    operators = [relax.op.add, relax.op.multiply, relax.op.subtract, relax.op.maximum]
    with builder.function("main", [x, y]):
        with builder.dataflow():
            value = x
            for k in range(count):
                value = builder.emit(operators[k % 4](value, y))
            value = builder.emit_output(value)
        builder.emit_func_output(value)
    return builder.get()


def caller(name: str, count: int) -> vm.Executable:
    """A function that calls one of that name so many times, each time with what came before."""
    builder = vm.ExecBuilder()
    with builder.function("main", num_inputs=1):
        for _ in range(count):
            builder.emit_call(name, [builder.r(0)], builder.r(0))
        builder.emit_ret(builder.r(0))
    return builder.get()


def many(count: int) -> vm.Executable:
    """So many functions of a few instructions."""
    functions = "".join(
        f"""
@R.function
def f{k}(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    y = R.add(x, R.const({k}.0, "float32"))
    z = R.multiply(y, y)
    return z
"""
        for k in range(count)
    )
    return vm.build(parse(functions).modules[0])


def countdown() -> vm.Executable:
    """A function that calls itself until its argument is 0."""
    text = """
@R.function
def main(k: R.Prim(value="n")) -> R.Prim("int64"):
    n = T.int64()
    if R.prim_value(n < 1):
        r: R.Prim("int64") = k
    else:
        r: R.Prim("int64") = main(R.prim_value(n - 1))
    return r
"""
    return vm.build(parse(text).modules[0])
