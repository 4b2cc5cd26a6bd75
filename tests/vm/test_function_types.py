"""Functions are compared with types of functions alike on the source, after each pass, and by the virtual machine."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np

from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.values import Tensor, Value
from rlx.vm import Executable, VirtualMachine, build
from rlx.vm.compilation import STAGES
from rlx.vm.saving import from_bytes, to_bytes
from tests.vm.agreement import End, on_machine, on_vm

TYPES = (
    *(f'R.Callable((R.Tensor(({a},), "float32"),), R.Tensor(({b},), "float32"), purity={p})' for a, b, p in (
        ("2", "2", True), ("3", "3", True), ("n", "n", True), ("m", "m", True), ("2", "n", False), ("n", "2", False)
    )),
    'R.Callable((R.Tensor("float32", ndim=1),), R.Object, purity=True)',
    'R.Callable((R.Tensor(("n",), "int32"),), R.Object, purity=False)',
    "R.Callable((R.Object,), R.Object, purity=False)",
    "R.Callable((R.Object, R.Object), R.Object, purity=False)",
    'R.Callable(ret=R.Tensor((3,), "float32"), purity=True)',
    "R.Callable(ret=R.Tensor, purity=False)",
    "R.Callable",
)  # fmt: skip
GIVEN = ("cls.two", "cls.three", "cls.any", "cls.impure", "inner", "caller", "z", "cls.prim")
WAYS = ("parameter", "cast", "result", "in a tuple", "of a local function")


def module(given: str, wanted: str, way: str) -> str:
    """A program in which a function meets a type in one way; `n` is the length of `z`."""
    ask, give = {
        "parameter": (f"f: {wanted}, z: R.Tensor((n,), 'float32')", "cls.meet(o, z)"),
        "in a tuple": (f"t: R.Tuple({wanted}, R.Tensor((n,), 'float32'))", "cls.meet((o, z))"),
    }.get(way, ("z: R.Tensor((n,), 'float32')", "z"))
    last = {
        "cast": "got = R.match_cast(o, {})".format(wanted.replace('("n",)', "(n,)")),
        "result": "got = cls.same(o, z)",
        "of a local function": "got = local(o)",
    }.get(way, f"got = {give}")
    return f"""
@I.ir_module
class M:
    @T.prim_func(private=True)
    def prim(x: T.handle, y: T.handle):
        X = T.match_buffer(x, (2,), "float32")
        Y = T.match_buffer(y, (2,), "float32")
        for i in range(2):
            Y[i] = X[i]
    @R.function
    def two(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, x)
    @R.function
    def three(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(x, x)
    @R.function
    def any(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return R.add(x, x)
    @R.function(pure=False)
    def impure(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, x)
    @R.function(pure=False)
    def same(o: R.Object, z: R.Tensor(("n",), "float32")) -> {wanted}:
        n = T.int64()
        return o
    @R.function(pure=False)
    def meet({ask.replace("(n,)", '("n",)')}) -> R.Object:
        n = T.int64()
        return R.prim_value(1)
    @R.function(pure=False)
    def main(z: R.Tensor(("n",), "float32")) -> R.Object:
        n = T.int64()
        cls = M
        @R.function
        def inner(x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(x, z)
        @R.function
        def caller(x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            w = inner(x)
            return w
        @R.function(pure=False)
        def local(f: {wanted}) -> R.Object:
            return R.prim_value(2)
        o: R.Object = {given}
        {last}
        return R.prim_value(3)
"""


def ends(text: str, args: tuple[Value, ...]) -> dict[str, End]:
    """The outcome of each way to run a program."""
    now = parse(text).modules[0]
    found = {"source": on_machine(now, "main", args)}
    executable = build(now)
    for stage in STAGES:
        now = stage()(now)
        found[stage.__name__] = on_machine(now, "main", args)
    found["lowered, as text"] = on_machine(parse(print_module(now)).modules[0], "main", args)
    printed: list[str] = []
    read = Executable.of(from_bytes(to_bytes(executable)))
    for name, each in (("vm", executable), ("vm, saved", read)):
        machine = VirtualMachine(each, output=printed.append)
        found[name] = on_vm(machine, printed, "main", args)
    return found


def test_functions_meet_types_alike_in_all_ways() -> None:
    every = list(product(GIVEN, TYPES, WAYS))
    seen: Counter[str] = Counter()
    for given, wanted, way in random.Random(7).sample(every, 12):
        text = module(given, wanted, way)
        for size in (2, 3):
            found = ends(text, (Tensor(np.ones(size, "float32")),))
            kinds = {name: end.kind for name, end in found.items()}
            assert len(set(kinds.values())) == 1, (given, wanted, way, size, found)
            seen[found["source"].kind] += 1
    assert seen["CheckFailed"] > 3 and seen["Returned"] > 3, seen
