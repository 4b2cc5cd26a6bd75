"""Executables of random instructions, most of them with a sense: calls of each other, of the run time, jumps, constants."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import dtype
from rlx.vm import ExecBuilder, ExecBuildError, Executable
from rlx.vm.builder import UnusedInput
from rlx.vm.instructions import Argument
from rlx.vm.library import LIBRARY

KERNEL = """
@T.prim_func(private=True)
def double(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        Y[i] = X[i] * T.float32(2)
"""
OPERATOR = """
@R.function
def main(x: R.Tensor, y: R.Tensor):
    z = R.add(x, y)
    return z
"""


def _halved(x: Any) -> Any:
    if isinstance(x, str):
        raise TypeError("no half of a text")
    x *= 0.5
    return x


PACKED: dict[str, Any] = {
    "less": lambda a, b: bool(a < b),
    "halved": _halved,
    "pair": lambda *args: tuple(args),
}
ARITY = {"f0": 0, "f1": 1, "f2": 2}
CALLED = (
    *("make_tuple", "move", "copy", "shape_of", "reshape", "alloc_storage", "alloc_tensor"),
    *("alloc_heap", "store_shape", "load_shape", "print", "invoke_closure", "make_closure"),
    *("call_tir_dyn", "kill_object", "read_if_cond", "tuple_getitem", "match_shape", "make_shape"),
)


class Maker:
    """One executable."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.ib = ExecBuilder()
        self.ib.add_kernel("double", KERNEL)
        self.ib.add_operator("plus", OPERATOR)
        self.known: list[int] = []
        self.refused: list[str] = []

    def executable(self) -> Executable:
        """Three functions; what the builder refuses is left out."""
        for name, inputs in ARITY.items():
            names = [f"x{k}" for k in range(inputs)] if self.pick.random() < 0.5 else ()
            try:
                with warnings.catch_warnings(), self.ib.function(name, inputs, names):
                    warnings.simplefilter("ignore", UnusedInput)
                    self.body(inputs)
            except ExecBuildError as error:
                self.refused.append(str(error))
                with self.ib.function(name):
                    self.ib.emit_call("vm.builtin.make_tuple", [], self.ib.r(0))
                    self.ib.emit_ret(self.ib.r(0))
        return self.ib.get(formalize=self.pick.random() < 0.5, reuse=self.pick.random() < 0.5)

    def body(self, inputs: int) -> None:
        """Some instructions, in which jumps lead a few steps on, seldom back."""
        self.known = list(range(inputs))
        count = self.pick.randint(2, 9)
        for at in range(count):
            chance = self.pick.random()
            if chance < 0.12 and self.known:
                self.ib.emit_if(self.register(), self.distance(at, count))
            elif chance < 0.18:
                self.ib.emit_goto(self.distance(at, count))
            elif chance < 0.22 and self.known:
                self.ib.emit_ret(self.register())
            else:
                self.call()
        self.ib.emit_ret(self.register() if self.known else self.ib.r(0))

    def distance(self, at: int, count: int) -> int:
        back = self.pick.random() < 0.12
        return self.pick.randint(-at, 0) if back else self.pick.randint(1, max(1, count - at))

    def register(self) -> Argument:
        return self.ib.r(self.pick.choice(self.known))

    def argument(self) -> Any:
        """A register mostly, of those written last; an immediate, a constant, a function, the state."""
        chance = self.pick.random()
        if chance < 0.55 and self.known:
            return self.ib.r(self.pick.choice(self.known[-3:]))
        if chance < 0.7:
            return self.pick.choice([0, 1, 2, -1])
        if chance < 0.78:
            return self.ib.f(self.pick.choice(["f0", "f1", "f2", "less", "nobody", "double"]))
        if chance < 0.83:
            return self.ib.vm_state()
        if chance < 0.86:
            return self.pick.choice([None, (np.ones(2, "float32"), (2,)), 1.5])
        constants = [np.arange(3, dtype="float32"), (2, 3), (3,), "text {}", dtype("float32")]
        return self.pick.choice([*constants, np.array(True), np.arange(2)])

    def call(self) -> None:
        """A call of something, with arguments that it may like."""
        ib, pick = self.ib, self.pick
        name = pick.choice([*ARITY, *PACKED, "double", "plus", "nobody", *CALLED, *CALLED])
        full = f"vm.builtin.{name}" if name in CALLED else name
        args = [self.argument() for _ in range(ARITY.get(name, pick.choice([0, 1, 1, 2, 2, 3])))]
        tensor = np.arange(3, dtype="float32")
        liked = {
            "alloc_storage": [(24,), 0, dtype("uint8")],
            "alloc_tensor": [*args[:1], 0, (3,), dtype("float32")],
            "alloc_heap": [3],
            "store_shape": [(2, 3), *args[:1], 0, 1],
            "load_shape": [*args[:1], 0, pick.choice([1, 2, 3])],
            "reshape": [*args[:1], (3, 1)],
            "shape_of": args[:1],
            "plus": [*args[:1], tensor],
            "double": [tensor, *args[:1]],
            "less": [pick.choice([0, 1, 2]), *args[:1]],
            "halved": args[:1],
            "invoke_closure": args or [ib.f("f1")],
            "make_closure": [ib.f(pick.choice(list(ARITY))), *args[1:]],
            "call_tir_dyn": [ib.f(pick.choice(["double", "f2"])), *args],
        }.get(name)
        if liked is not None and pick.random() < 0.85:
            args = liked
        if pick.random() < 0.1:
            args = [ib.vm_state(), *args]
        dst = pick.randint(0, 6)
        ib.emit_call(full, args, None if pick.random() < 0.1 else ib.r(dst))
        if dst not in self.known:
            self.known.append(dst)


assert {f"vm.builtin.{name}" for name in CALLED} - LIBRARY.keys() <= {
    *("vm.builtin.invoke_closure", "vm.builtin.make_closure", "vm.builtin.call_tir_dyn"),
}
