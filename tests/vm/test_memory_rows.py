"""LAW: a row of instructions that hands memory on ends, at once, as it ends one by one.

Pieces of memory and tensors in them go through moves, copies, tuples and back, so that several registers hold one piece, some of which
the row was given and some of which it allocates.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from rlx import vm
from rlx.grammar.nodes.dtype import dtype
from rlx.semantics.machine.message_text import show
from rlx.semantics.values import Storage, Tensor, Value
from rlx.vm.instructions import Argument

from .agreement import at_once
from .random_code import KERNEL

PIECE = 64
"""Bytes of each piece of memory."""
SIZES = (2, 4)
FLOAT32 = dtype("float32")


class Row:
    """One function of two pieces of memory and a tensor, without jumps.

    Attributes
    ----------
    pieces, tensors
        The registers that hold them; of a tensor with its number of elements.
    written
        The tensors that have elements.
    """

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.ib = vm.ExecBuilder()
        self.ib.add_kernel("double", KERNEL)
        self.pieces = [0, 1]
        self.tensors = [(2, 4)]
        self.written = [(2, 4)]
        self.last = 2

    def executable(self) -> vm.Executable:
        """The function, and what it gives: the tensors that hold numbers."""
        with self.ib.function("main", 3):
            for _ in range(self.pick.randint(5, 14)):
                self.pick.choice(
                    (self.allocate, self.lay, self.lay, self.hand_on, self.double, self.double)
                )()
            given = [self.ib.r(register) for register, _ in self.written]
            self.ib.emit_ret(self.call("make_tuple", *given))
        return self.ib.get(formalize=self.pick.random() < 0.5)

    def call(self, name: str, *args: Any) -> Argument:
        self.last += 1
        self.ib.emit_call(f"vm.builtin.{name}", list(args), self.ib.r(self.last))
        return self.ib.r(self.last)

    def allocate(self) -> None:
        self.call("alloc_storage", self.ib.vm_state(), (PIECE,), 0, dtype("uint8"))
        self.pieces.append(self.last)

    def lay(self) -> None:
        size, offset = self.pick.choice(SIZES), self.pick.choice((0, 8, 16, 32))
        piece = self.ib.r(self.pick.choice(self.pieces))
        state = [self.ib.vm_state()] * (self.pick.random() < 0.7)
        self.call("alloc_tensor", *state, piece, offset, (size,), FLOAT32)
        self.tensors.append((self.last, size))
        if not state:
            self.written.append((self.last, size))

    def hand_on(self) -> None:
        """A piece, or a tensor, into another register."""
        size = 0
        if self.pick.random() < 0.5:
            register = self.pick.choice(self.pieces)
        else:
            register, size = self.pick.choice(self.written)
        self.handed(self.ib.r(register))
        if size:
            self.tensors.append((self.last, size))
            self.written.append((self.last, size))
        else:
            self.pieces.append(self.last)

    def handed(self, value: Argument) -> None:
        if self.pick.random() < 0.3:
            self.call("tuple_getitem", self.call("make_tuple", value, value), 1)
        else:
            self.call(self.pick.choice(("move", "copy")), value)

    def double(self) -> None:
        source, size = self.pick.choice(self.written)
        target = self.pick.choice([t for t in self.tensors if t[1] == size])
        args = [self.ib.r(source), self.ib.r(target[0])]
        self.ib.emit_call("double", args, self.ib.r(self.last + 1))
        self.last += 1
        self.written.append(target)


def inputs(seed: int) -> list[Value]:
    """Two pieces of memory, not always with zeros, and a tensor."""
    numbers = np.random.default_rng(seed)
    pieces = [numbers.integers(1, 9, PIECE // 4).astype("float32") for _ in range(2)]
    tensor = Tensor(numbers.integers(1, 9, 4).astype("float32"))
    return [*(Storage(piece.view("uint8")) for piece in pieces), tensor]


def ended(machine: vm.VirtualMachine, seed: int) -> tuple[Any, ...]:
    """The end of a run, and the content of the memory that it was given."""
    given = inputs(seed)
    try:
        shown = show(machine.invoke("main", given))
    except vm.RunError as error:
        return (type(error).__name__, str(error))
    return (shown, *(value.data.tolist() for value in given))  # type: ignore[attr-defined]


@pytest.mark.parametrize("part", range(5))
def test_rows_end_alike(part: int) -> None:
    planned = 0
    for seed in range(30 * part, 30 * part + 30):
        executable = Row(seed).executable()
        alone, together = vm.VirtualMachine(executable), at_once(executable)
        for draw in range(3):
            assert ended(together, draw) == ended(alone, draw), f"seed {seed}, inputs {draw}"
        planned += any(plan.places for batch in together.translator.batches for plan in batch.plans)
    assert planned >= 3, "too few rows have a plan"
