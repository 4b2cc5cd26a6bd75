"""LAW: random rows of instructions end alike at once and one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, dtype
from rlx.semantics.machine.message_text import show
from rlx.semantics.values import (
    NULL,
    UNIT,
    DataTypeValue,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    Tensor,
    TupleValue,
)
from rlx.vm import ExecBuilder, Executable, RunError, VirtualMachine
from rlx.vm.instructions import Argument

from .agreement import at_once
from .random_code import KERNEL

pytestmark = pytest.mark.filterwarnings("ignore::rlx.vm.builder.UnusedInput")

KERNELS = {
    "double": KERNEL,
    "first": """
@T.prim_func(private=True)
def first(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(1):
        Y[i] = X[i]
""",
    "next": """
@T.prim_func(private=True)
def next(x: T.handle):
    H = T.match_buffer(x, (4,), "int64")
    H[2] = H[1] + T.int64(1)
""",
    "flat": """
@T.prim_func(private=True)
def flat(x: T.handle, y: T.handle, n: T.int64):
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        Y[i] = X[i] + T.float32(1)
""",
}


class Rows:
    """A function of rows: of a tensor, and of memory that is allocated, mostly in good order."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.ib = ExecBuilder()
        for name, text in KERNELS.items():
            self.ib.add_kernel(name, text)
        self.next = 2
        self.tensors: list[Argument] = [self.ib.r(0), self.ib.r(1)]
        self.storages: list[Argument] = []
        self.others: list[Argument] = []
        self.heaps: list[Argument] = []
        self.shapes: list[Argument] = []

    def executable(self) -> Executable:
        ib = self.ib
        with ib.function("main", 2):
            for _ in range(self.pick.randint(1, 3)):
                self.heap()
            for _ in range(self.pick.randint(6, 16)):
                self.instruction()
            kept = [*self.tensors, *self.storages, *self.others, *self.shapes, *self.heaps]
            some = self.pick.sample(kept, min(len(kept), self.pick.randint(1, 6)))
            ib.emit_call("vm.builtin.make_tuple", [ib.r(0), *some], ib.r(self.next))
            ib.emit_call("see", [ib.r(self.next)])
            ib.emit_ret(ib.r(self.next))
        return ib.get()

    def call(self, name: str, args: Sequence[Any], kept: list[Argument] | None = None) -> None:
        result = None
        if kept is not None:
            result = self.ib.r(self.next)
            kept.append(result)
            self.next += 1
        self.ib.emit_call(name, [*args], result)

    def heap(self) -> None:
        self.call("vm.builtin.alloc_shape_heap", [4], self.heaps)
        heap = self.heaps[-1]
        source = self.pick.choice(self.tensors)
        self.call("vm.builtin.match_shape", [source, heap, 1, self.pick.choice([1, 2]), 0], None)
        self.call("vm.builtin.store_shape", [(5, 3), heap, 1, 3], None)

    def instruction(self) -> None:
        ib, pick = self.ib, self.pick
        tensor, other = pick.choice(self.tensors), pick.choice(self.tensors[-3:])
        heap, state = pick.choice(self.heaps), [ib.vm_state()][: pick.randrange(2)]
        odd = pick.random() < 0.04
        shape = pick.choice([ib.c((2,)), ib.c((0,)), ib.c((3, 1)), *self.shapes]) if odd else (3,)
        match pick.randrange(20):
            case 0 | 1 | 2 | 3 | 4 | 5:
                called = pick.choice(["double", "double", "double", "first", "flat"])
                tail = [3] if called == "flat" and pick.random() < 0.5 else []
                source = np.ones(3, "float32") if pick.random() < 0.1 else tensor
                self.call(called, [source, other, *tail])
            case 6:
                called = pick.choice(["double", "flat"])
                none: list[Argument] = []
                self.call("vm.builtin.make_tuple", [], none)
                sizes = ib.c((3,)) if called == "flat" else none[0]
                self.call("vm.builtin.call_tir_dyn", [ib.f(called), tensor, other, sizes])
            case 7:
                self.call("vm.builtin.make_shape", [heap, 1, 1, pick.choice([0, 3])], self.shapes)
            case 8:
                self.call("vm.builtin.make_prim_value", [heap, 1, pick.choice([0, 3])], self.others)
            case 9 | 10:
                size = pick.choice([(64,), (64,), (64,), (36,), (12,)])
                args = [*state, ib.c(size), 0, dtype("uint8")]
                self.call("vm.builtin.alloc_storage", args, self.storages)
            case 11 | 12 | 13 | 14 if self.storages:
                args = [*state, pick.choice(self.storages), pick.choice([0, 0, 0, 12, 24])]
                self.call("vm.builtin.alloc_tensor", [*args, shape, dtype("float32")], self.tensors)
            case 15:
                self.call("vm.builtin.reshape", [tensor, shape], self.tensors)
            case 16:
                self.call("vm.builtin.shape_of", [tensor], self.shapes)
            case 17 if odd:
                wrong = [tensor, heap, np.ones(3, "float32"), (np.ones(3, "float32"), 1)]
                self.call("vm.builtin.move", [pick.choice(wrong)], self.others)
            case 18:
                self.call("next", [tensor if odd else heap])
            case _:
                held = [tensor, *self.shapes[:1], *self.storages[:1], *self.others[-1:]]
                self.call("vm.builtin.make_tuple", held, self.others)


def ending(machine: VirtualMachine, *arrays: np.ndarray[Any, Any]) -> str:
    """The end of a run, and the content of its arguments then."""
    given = [Tensor(array.copy()) for array in arrays]
    try:
        value = show(machine.invoke("main", given))
    except RunError as error:
        value = f"{error.outcome.__name__} {error} {error.place}"
    return f"{value} {[each.data.tolist() for each in given]}"


ODD = (
    *(
        Scalar(3),
        Scalar(4),
        Scalar(3, INT32),
        Scalar(4, INT32),
        Scalar(0.5, FLOAT32),
        Scalar(True, BOOL),
    ),
    *(
        Scalar(float("nan"), FLOAT32),
        Scalar(1 << 62),
        ShapeValue((2, 3)),
        ShapeValue((3, 2)),
        ShapeValue(()),
    ),
    *(StringValue("a"), StringValue("b"), DataTypeValue(INT32), DataTypeValue(BOOL), NULL, UNIT),
    *(
        Storage(np.zeros(size, "uint8"), device)
        for size in (8, 24)
        for device in (None, ("cpu", 1))
    ),
    *(
        Tensor(np.ones(shape, kind))
        for shape in ((), (2,), (2, 0))
        for kind in ("float32", "int64")
    ),
    *(
        Tensor(np.ones((2, 4))[:, ::step], device)
        for step in (1, 2)
        for device in (None, ("cpu", 1))
    ),
    TupleValue((Scalar(1),)),
)
"""Values that a row only hands on, each of which may be another one the next time."""


@pytest.mark.parametrize("twice", [True, False])
def test_rows_are_given_values_of_each_kind(twice: bool) -> None:
    """One machine is given all of them, one after the other, and each time what it gives is what it was given."""
    ib = ExecBuilder()
    ib.add_kernel("double", KERNELS["double"])
    with ib.function("main", 4):
        r = ib.r
        for _ in range(3):
            ib.emit_call("double", [r(0), r(1)])
        ib.emit_call("vm.builtin.make_tuple", [r(2), r(3), r(1)], r(4))
        ib.emit_ret(r(4))
    machine = at_once(ib.get())
    for one, other in product(ODD, ODD[::5]):
        x, y = Tensor(np.ones(2, "float32")), Tensor(np.zeros(2, "float32"))
        found = machine.invoke("main", [x, y, one, one if twice else other])
        assert isinstance(found, TupleValue)
        first, second, last = found.fields
        assert (show(first), show(second)) == (show(one), show(one if twice else other))
        assert last is y and y.data.tolist() == [2, 2]


@pytest.mark.parametrize("part", range(4))
def test_rows_run_at_once_as_they_do_one_by_one(part: int) -> None:
    for seed in range(part * 25, part * 25 + 25):
        assert_ends_alike(seed)


def assert_ends_alike(seed: int) -> None:
    """The rows of a seed, given arrays of several sizes one after the other."""
    three, two = np.arange(1, 4, dtype="float32"), np.arange(5, 7, dtype="float32")
    five = np.arange(2, 7, dtype="float32")
    executable = Rows(seed).executable()
    packed = {"see": lambda *args: None}
    together = at_once(executable, packed, fuel=100)
    one_by_one = VirtualMachine(executable, packed, fuel=100)
    others = ((two, three), (three, two[:0]), (two, two))[seed % 6 : seed % 6 + 1]
    sizes = (five, five), (two[:1], two[:1]), (three, three)
    for given in ((three, three), (three, three + 1), *others, *sizes):
        assert ending(together, *given) == ending(one_by_one, *given), f"{seed}\n{executable}"
