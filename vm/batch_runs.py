"""Execution of batches: finds or makes the plan for the given inputs and runs it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from rlx.semantics.faults import Stop
from rlx.semantics.machine.prim_funcs import allocate
from rlx.semantics.native.compiler import NoCompiler
from rlx.semantics.native.formulas import PUT, Formulas
from rlx.semantics.native.sequence import Failure, KernelSequence
from rlx.semantics.store import Store
from rlx.semantics.values import (
    DataTypeValue,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.vm.batch_inputs import FLAGS, WIDEST, address, taking
from rlx.vm.batch_outputs import giving
from rlx.vm.batch_planning import plan
from rlx.vm.batch_plans import (
    BatchPlan,
    NoPlan,
    PlanFormulas,
)
from rlx.vm.batches import Batch
from rlx.vm.callees import OwnFunction
from rlx.vm.instructions import CallInstruction
from rlx.vm.linking import Linker

MOST_PLANS = 8
"""The number of plans that a batch keeps, and how often it makes a new plan before it reuses an old
one.
"""
MOST_KEPT = 64 << 20
"""Bytes that a plan keeps between runs."""
_UINT8 = np.dtype(np.uint8)


class _Others(list[Value]):
    """What a run gives that is not for such inputs."""


OTHERS = _Others()
Ended = Sequence[Value] | Failure | None


class PlannedRun:
    """A plan that is ready to run on inputs of the sizes that it was made for."""

    def __init__(self, made: BatchPlan, values: Sequence[Value]) -> None:
        self.plan = made
        bases = len(made.inputs) + len(made.constants) + len(made.pieces)
        self._sequence = KernelSequence(made.calls, bases)
        self._give = giving(made, values)
        self._busy = Lock()
        self._kept: list[np.ndarray[Any, Any] | None] = [None] * len(made.pieces)

    def __call__(self, values: Sequence[Value], store: Store) -> Ended:
        """What the outputs hold; which call failed; None where another thread runs the plan.

        `OTHERS` where the plan is not for such inputs.
        """
        if not self._busy.acquire(blocking=False):
            return None
        try:
            return self._run(values, store)
        finally:
            self._busy.release()

    def _run(self, values: Sequence[Value], store: Store) -> Ended:
        ended = self._with(values, [piece.size for piece in self.plan.pieces], (), store)
        if not isinstance(ended, Failure):
            for position, content in self.plan.heaps.items():
                values[position].data[...] = content  # type: ignore[attr-defined]
        return ended

    def _with(
        self, values: Sequence[Value], sizes: Sequence[int], numbers: Sequence[int], store: Store
    ) -> Sequence[Value] | Failure:
        """What the outputs hold, with pieces of memory of these sizes, and with these numbers."""
        pieces = self._pieces(sizes)
        inputs = [values[position].data for position in self.plan.inputs]  # type: ignore[attr-defined]
        failed = self._sequence([*inputs, *self.plan.constants, *pieces])
        return failed or self._give(values, numbers, pieces, store.blank)

    def _pieces(self, sizes: Sequence[int]) -> Sequence[np.ndarray[Any, Any]]:
        """The memory that is allocated. What only the plan sees is the same as the last time."""
        kept, much = self._kept, sum(sizes) > MOST_KEPT
        found = []
        for k, size in enumerate(sizes):
            held = kept[k]
            if held is None or len(held) < size or much:
                held = allocate((size,), _UINT8)
                kept[k] = held if self.plan.pieces[k].kept and not much else None
            found.append(held)
        return found


class SizedRun(PlannedRun):
    """A plan that is ready to run on inputs of all sizes for which its formulas are valid."""

    def __init__(
        self,
        made: BatchPlan,
        formulas: PlanFormulas,
        values: Sequence[Value],
        heaps: Sequence[bool],
    ) -> None:
        super().__init__(made, values)
        self._take = taking(values, heaps)
        self._heaps = [k for k, heap in enumerate(heaps) if heap]
        self._place, self._length = formulas.first, formulas.length
        steps, sequence = formulas.steps, self._sequence
        first = 1 + steps.arrays + 2 * len(steps.kernels)
        puts = _puts(formulas, sequence, first, first + 1)
        steps = steps._replace(words=[*steps.words, *puts])
        self._formulas = Formulas(steps, [sequence.memory, sequence.words])

    def _run(self, values: Sequence[Value], store: Store) -> Ended:
        numbers = self._take(*values)
        if numbers is None:
            return OTHERS
        if not self._formulas(numbers, [values[k].data for k in self._heaps]):  # type: ignore[attr-defined]
            return OTHERS
        found = self._formulas.read(self._place, self._length)
        return self._with(values, found[: len(self.plan.pieces)], found, store)


def _puts(formulas: PlanFormulas, sequence: KernelSequence, memory: int, words: int) -> list[int]:
    """The steps that put the sizes and offsets of calls where the calls read them."""
    made: list[int] = []
    for args, sizes, offsets in zip(formulas.calls, sequence.sizes, sequence.offsets, strict=True):
        for (numbers, begin), size, offset in zip(args, sizes, offsets, strict=True):
            for axis, slot in enumerate(numbers):
                made += (PUT, memory, size + axis, slot)
            if begin is not None:
                made += (PUT, words, offset, begin)
    return made


class BatchRunner:
    """A batch of one function, with its plans.

    Attributes
    ----------
    batch
        Its instructions and registers.
    stopped
        The exception that stopped the last run, and the instruction that raised it.
    """

    def __init__(
        self,
        linker: Linker,
        function: OwnFunction,
        batch: Batch,
        code: Sequence[CallInstruction],
    ) -> None:
        self.batch = batch
        self._linker, self._function, self._code = linker, function, code
        self._store = linker.state.store
        self._heaps = [register in batch.heaps for register in batch.inputs]
        self._plans: dict[Hashable, PlannedRun | None] = {}
        self._sized: list[SizedRun] = []
        self._left = MOST_PLANS
        self.stopped: tuple[Stop, int] | None = None

    def __call__(self, *values: Value) -> Sequence[Value] | None:
        """What the outputs hold after the batch; None if its instructions must run one by one."""
        blank = self._store.blank
        if blank and not blank.keys().isdisjoint(map(id, values)):
            return None
        for sized in self._sized:
            found = sized(values, self._store)
            if found is not OTHERS:
                self._left = MOST_PLANS
                return self._ended(sized, found)
        key = self._key(values)
        if key is None:
            return None
        try:
            run = self._plans[key]
            self._left = MOST_PLANS
        except KeyError:
            if not self._left:
                return None
            run = self._made(key, values)
        if run is None:
            return None
        return self._ended(run, run(values, self._store))

    def _ended(self, run: PlannedRun, found: Ended) -> Sequence[Value] | None:
        """What a run gives, or the fault that it ends with."""
        if isinstance(found, Failure):
            self.stopped = found.stop, run.plan.places[found.call]
            raise found.stop
        return None if found is OTHERS else found

    def _made(self, key: Hashable, values: Sequence[Value]) -> PlannedRun | None:
        """A plan for inputs, which is kept."""
        run: PlannedRun | None
        self._left -= 1
        if len(self._plans) >= MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        try:
            made = plan(self._linker, self.batch, self._code, values)
            if made.formulas is not None:
                sized = SizedRun(made, made.formulas, values, self._heaps)
                self._sized = [sized, *self._sized][:MOST_PLANS]
                return sized
            run = PlannedRun(made, values)
        except NoPlan as reason:
            run = None
            if reason.apart:
                self._function.apart |= set(reason.apart)
                self._function.run = None  # is translated anew when it is called again
        except (NoCompiler, MemoryError):
            run = None
        self._plans[key] = run
        return run

    def _key(self, values: Sequence[Value]) -> Hashable:
        """What a plan depends on; None where there is none for such values."""
        found: list[Hashable] = []
        pieces: list[int] = []
        for value, heap in zip(values, self._heaps, strict=True):
            match value:
                case Tensor(data=data, device=device):
                    found += (data.shape, data.dtype, data.flags.num & FLAGS, device)
                    if heap:
                        found.append(data.tobytes())
                case ShapeValue(values=sizes):
                    found += (ShapeValue, sizes)
                case Scalar(value=number, dtype=kind):
                    found += (kind, repr(number))
                case Storage(data=data, device=device):
                    if address(data) % WIDEST:
                        return None
                    pieces.append(id(value))
                    found += (Storage, data.nbytes, device)
                case DataTypeValue(value=kind):
                    found += (DataTypeValue, kind)
                case StringValue(value=text):
                    found += (StringValue, text)
                case TupleValue():
                    return None
                case _:  # handed on, or left out
                    found.append(type(value))
        return (*found, *map(pieces.index, pieces))
