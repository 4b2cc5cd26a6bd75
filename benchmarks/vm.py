"""The virtual machine beside TVM's: calls, chains, a decoder's step, lowering, loading, memory.

``python -m benchmarks.vm [NAME…]`` prints one line for each figure. Times are processor time on
one thread, the sides in turns, the median of many runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL", "TVM"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np
import tvm
from tvm import relax, transform

from rlx import vm
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.parser import parse
from rlx.semantics.arrays import numpy_type
from rlx.semantics.values import Packed, Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.evaluate import evaluate
from rlx.transform.lowering.calls import CallTIRRewrite
from rlx.transform.lowering.emitter import operator_name
from rlx.transform.lowering.lifetimes import ALLOCATIONS, Lives
from rlx.transform.lowering.memory import StaticPlanBlockMemory
from rlx.transform.lowering.packing import Item, lower_bound
from rlx.transform.lowering.passes import Sequential
from rlx.transform.lowering.structure import Normalize, RemovePurityChecking, ToNonDataflow
from rlx.vm.compilation import STAGES
from tests.tvm import test_run_models as networks
from tests.tvm.models import MODELS
from tests.tvm.networks.decoder import decoder, stack

# Planned memory of the model networks: ours, TVM's, and the least that the live tensors need.


SIZE = 16
"""The value of every shape variable."""
STORAGES = ("relax.memory.alloc_storage", "relax.builtin.alloc_tensor")


def planned() -> Iterator[str]:
    """The bytes of each network's largest function."""
    for model in MODELS:
        module = relax.transform.LegalizeOps()(MODELS[model]())
        passes = ["ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite"]
        sequence = [getattr(relax.transform, name)() for name in passes]
        theirs = transform.Sequential([*sequence, relax.transform.StaticPlanBlockMemory()])(module)
        mine = parse(module.script(show_meta=True)).modules[0]
        explicit = Sequential(
            [Normalize(), ToNonDataflow(), RemovePurityChecking(), CallTIRRewrite()]
        )(mine)
        ours = StaticPlanBlockMemory()(explicit)
        yield from _rows(model, ours, parse(theirs.script(show_meta=True)).modules[0], explicit)


def _rows(model: str, ours: IRModule, theirs: IRModule, explicit: IRModule) -> Iterator[str]:
    peers = {gv.name_hint: f for gv, f in theirs.functions.items()}
    for gv, function in ours.functions.items():
        peer = peers.get(gv.name_hint)
        if not isinstance(function, ast.Function) or not isinstance(peer, ast.Function):
            continue
        mine, other = allocated(function), allocated(peer, bytes_alone=True)
        if other:
            least = needed(explicit, gv.name_hint)
            yield (
                f"{model} {gv.name_hint}: {mine} bytes, TVM {other}: {mine / other:.2f} times; "
                f"{mine / least:.2f} of the {least} that are alive at once"
            )


def allocated(function: ast.Function, bytes_alone: bool = False) -> int:
    """The bytes of all pieces of memory that a function asks for."""
    return sum(
        size_of(node, bytes_alone and operator_name(node) == STORAGES[0])
        for node in expressions(function)
        if isinstance(node, ast.Call) and operator_name(node) in STORAGES
    )


def size_of(call: ast.Call, bytes_alone: bool = False) -> int:
    """The bytes that an allocation asks for; TVM's pieces of memory are always counted in bytes."""
    shape = call.args[0]
    kind = next(arg.value for arg in call.args if isinstance(arg, ast.DataTypeImm))
    assert isinstance(shape, ast.ShapeExpr)
    return prod(map(_number, shape.values)) * (1 if bytes_alone else int(numpy_type(kind).itemsize))


def _number(value: object) -> int:
    assert isinstance(value, tir.PrimExpr)
    return int(evaluate(value, {var: SIZE for var in tir.free_vars(value)}))


def needed(module: IRModule, name: str) -> int:
    """The most bytes of tensors of a function that are alive at one time."""
    function = module[name]
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    rows = [binding for block in function.body.blocks for binding in block.bindings]
    lives = Lives(rows, function.body.body, module.prim_funcs)
    items = []
    for at, binding in enumerate(rows):
        if not isinstance(binding, ast.VarBinding):
            continue
        value = binding.value
        if isinstance(value, ast.Call) and operator_name(value) in ALLOCATIONS:
            end = len(rows) if binding.var in lives.escaping else lives.last[binding.var]
            items.append(Item(at, end, size_of(value)))
    return lower_bound(items)


# What the benchmark of the virtual machine runs.


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


def timed(*runs: Callable[[], object], times: int = 50) -> list[float]:
    """Seconds of processor time of each: the median of runs in turns, without the first of each."""
    found: list[list[float]] = [[] for _ in runs]
    for turn in range(times + 1):
        for seconds, run in zip(found, runs, strict=True):
            begin = time.process_time()
            run()
            if turn:
                seconds.append(time.process_time() - begin)
    return [median(seconds) for seconds in found]


def calls() -> Iterator[str]:
    """The cost of an instruction without that of its callee."""
    count = 1000
    same = Packed(lambda value: value, "same")
    machine = vm.VirtualMachine(caller("same", count), {"same": same})
    argument: list[Value] = [Scalar(1)]

    def by_hand() -> None:
        value: Value = argument[0]
        for _ in range(count):
            value = same.call(value)

    ours, plain = timed(lambda: machine.invoke("main", argument), by_hand)
    own = (ours - plain) / count * 1e6
    yield f"a call of a function of Python: {own:.2f} µs beside the function itself"
    machine = vm.VirtualMachine(caller("vm.builtin.move", count))
    (ours,) = timed(lambda: machine.invoke("main", argument))
    yield f"a call of vm.builtin.move: {ours / count * 1e6:.2f} µs"


def chains() -> Iterator[str]:
    """200 elementwise operators on small tensors."""
    count = 200
    module = chain(count)
    x, y = (np.random.default_rng(0).random(16, np.float32) for _ in range(2))
    theirs = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())["main"]
    given = [tvm.runtime.tensor(x), tvm.runtime.tensor(y)]
    text = module.script(show_meta=True)
    ours = vm.VirtualMachine(vm.build(parse(text).modules[0], legalize=True))
    args = [Tensor(x), Tensor(y)]
    a, b = timed(lambda: ours.invoke("main", args), lambda: theirs(*given))
    yield (
        f"chain of {count} operators on 16 elements: {a * 1e6:.0f} µs, TVM {b * 1e6:.0f} µs: "
        f"{a / b:.2f} times; {a / count * 1e6:.2f} µs an operator"
    )


class Conversation:
    """A decoder of 4 layers on both machines, after a prompt of 8 tokens."""

    def __init__(self, hidden: int) -> None:
        module = decoder(4, hidden)
        text = module.script(show_meta=True)
        functions = dict(networks.entries(text))
        self._theirs = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())
        executable = vm.build(parse(text).modules[0], legalize=True)
        self._ours = vm.VirtualMachine(executable, networks.PACKED)
        theirs = list(self._theirs[networks.EFFECT]())
        made = self._ours.invoke(networks.EFFECT, [])
        assert isinstance(made, TupleValue)
        self._caches: list[Any] = list(made.fields)
        self._ours.invoke("prefill", networks.arguments(functions["prefill"], 8, self._caches))
        prompt = networks.arguments(functions["prefill"], 8, theirs)
        self._theirs["prefill"](*map(networks.to_tvm, prompt))
        self._given = networks.arguments(functions["decode"], 9, self._caches)
        self._passed = [
            networks.to_tvm(arg) for arg in networks.arguments(functions["decode"], 9, theirs)
        ]

    def ours(self, length: int) -> None:
        """One more token on our machine."""
        given = [ShapeValue((length,)) if isinstance(x, ShapeValue) else x for x in self._given]
        self._ours.invoke("decode", given)

    def theirs(self, length: int) -> None:
        """One more token on TVM's machine."""
        self._theirs["decode"](
            *(
                tvm.runtime.ShapeTuple([length]) if isinstance(x, ShapeValue) else y
                for x, y in zip(self._given, self._passed, strict=True)
            )
        )

    def forget(self) -> None:
        """Go back to the prompt, on our side; TVM's caches cannot."""
        for cache in self._caches:
            cache.value.fill = 8


def steps() -> Iterator[str]:
    """A step of a decoder with a cache of keys and values."""
    for hidden in (32, 512):
        times = 40 if hidden < 100 else 10
        said = Conversation(hidden)
        lengths = iter(range(9, 9 + 2 * times + 2))
        others = iter(range(9, 9 + 2 * times + 2))
        a, b = timed(
            lambda n=lengths, s=said: s.ours(next(n)),  # type: ignore[misc]
            lambda n=others, s=said: s.theirs(next(n)),  # type: ignore[misc]
            times=times,
        )

        def again(said: Conversation = said) -> None:
            said.forget()
            said.ours(9)

        (c,) = timed(again, times=times)
        yield (
            f"decoder, 4 layers, hidden {hidden}: a step {a * 1e3:.2f} ms, TVM {b * 1e3:.2f} ms: "
            f"{a / b:.2f} times; of a length that was seen {c * 1e3:.2f} ms: {c / b:.2f} times"
        )
    said = Conversation(32)
    lengths, others = iter(range(9, 120)), iter(range(9, 120))
    (a,) = timed(lambda: said.ours(next(lengths)), times=100)
    (b,) = timed(lambda: said.theirs(next(others)), times=100)
    yield (
        f"  a hundred steps of each side, hidden 32, not in turns: {a * 1e3:.2f} ms, "
        f"TVM {b * 1e3:.2f} ms: {a / b:.2f} times"
    )


THEIR_PASSES = (
    "ToNonDataflow",
    "RemovePurityChecking",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
    "LowerAllocTensor",
    "KillAfterLastUse",
    "LowerRuntimeBuiltin",
    "ComputePrimValue",
    "VMShapeLower",
    "AttachGlobalSymbol",
)


def lowering() -> Iterator[str]:
    """The passes from a module without operators to one for the machine."""
    module = relax.transform.LegalizeOps()(stack(200))
    mine = parse(module.script(show_meta=True)).modules[0]
    sequence = tvm.transform.Sequential([getattr(relax.transform, n)() for n in THEIR_PASSES])
    ours = vm.pipeline()
    with tvm.target.Target("llvm"):
        a, b = timed(lambda: ours(_unknown(mine)), lambda: sequence(module), times=3)
    yield f"200 layers lowered in {a:.2f} s, TVM {b:.2f} s: {a / b:.2f} times"
    parts = []
    for stage in STAGES:
        begin = time.process_time()
        mine = stage()(mine)
        parts.append(f"{stage.__name__} {time.process_time() - begin:.2f} s")
    yield "  " + ", ".join(parts)


def _unknown(module: IRModule) -> IRModule:
    """The module with other bodies, of which it is not remembered that they are in normal form."""
    return module.map_relax_functions(lambda _, f: replace(f, body=replace(f.body)))


def loading() -> Iterator[str]:
    """A file with a thousand functions, and deep recursion."""
    with tempfile.TemporaryDirectory(prefix="rlx-benchmark-") as folder:
        path = Path(folder) / "many.rlxexe"
        many(1000).save(path)
        (seconds,) = timed(lambda: vm.Executable.load(path), times=5)
        size = path.stat().st_size
    yield f"1000 functions, {size / 1e6:.1f} MB, loaded in {seconds:.3f} s"
    deep = vm.VirtualMachine(countdown())
    begin = time.process_time()
    deep["main"](100_000)
    yield f"recursion 100,000 deep: {time.process_time() - begin:.2f} s"


FIGURES: dict[str, Callable[[], Iterator[str]]] = {
    "calls": calls,
    "chain": chains,
    "decoder": steps,
    "lowering": lowering,
    "loading": loading,
    "memory": planned,
}


def main(names: Sequence[str]) -> None:
    """Print the figures of those names, or all, as a list."""
    for name in names or FIGURES:
        for line in FIGURES[name]():
            print(f"  - {line.strip()}" if line.startswith(" ") else f"- {line}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
