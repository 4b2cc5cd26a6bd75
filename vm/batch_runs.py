"""Batches at work: the plan for the inputs at hand is found, or made, and run."""

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
from rlx.semantics.store import Blank, Store
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
from rlx.vm.batch_inputs import FLAGS, taking
from rlx.vm.batch_planning import plan
from rlx.vm.batch_plans import (
    BatchPlan,
    ConstantResult,
    HeapResult,
    InputResult,
    MemoryResult,
    NoPlan,
    PlanFormulas,
    Result,
    TensorResult,
    TupleResult,
)
from rlx.vm.batches import Batch
from rlx.vm.callees import OwnFunction
from rlx.vm.instructions import CallInstruction
from rlx.vm.linking import Linker

MOST_PLANS = 8
"""Plans that one batch keeps, and how often it plans anew before an old plan serves again."""
MOST_KEPT = 64 << 20
"""Bytes that a plan keeps between runs."""
_UINT8 = np.dtype(np.uint8)


class _Others(list[Value]):
    """What a run gives that is not for such inputs."""


OTHERS = _Others()
Ended = Sequence[Value] | Failure | None


class PlannedRun:
    """A plan, ready to run on inputs of the sizes that it was made for."""

    def __init__(self, made: BatchPlan) -> None:
        self.plan = made
        bases = len(made.inputs) + len(made.constants) + len(made.pieces)
        self._sequence = KernelSequence(made.calls, bases)
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
        made = self.plan
        pieces = self._pieces([piece.size for piece in made.pieces])
        failed = self._calls(values, pieces)
        if failed is not None:
            return failed
        for position, content in made.heaps.items():
            values[position].data[...] = content  # type: ignore[attr-defined]
        return self._outputs(values, made.results, pieces, store)

    def _pieces(self, sizes: Sequence[int]) -> list[np.ndarray[Any, Any]]:
        """The memory that is allocated. What only the plan sees is the same as the last time."""
        made, kept = self.plan.pieces, self._kept
        total = sum(size for size, piece in zip(sizes, made, strict=True) if piece.kept)
        found: list[np.ndarray[Any, Any]] = []
        for k, (size, piece) in enumerate(zip(sizes, made, strict=True)):
            held = kept[k]
            if held is None or len(held) < size or total > MOST_KEPT:
                held = allocate((size,), _UINT8)
                kept[k] = held if piece.kept and total <= MOST_KEPT else None
            found.append(held)
        return found

    def _calls(
        self, values: Sequence[Value], pieces: Sequence[np.ndarray[Any, Any]]
    ) -> Failure | None:
        inputs: list[Any] = [values[position].data for position in self.plan.inputs]  # type: ignore[attr-defined]
        return self._sequence([*inputs, *self.plan.constants, *pieces])

    def _outputs(
        self,
        values: Sequence[Value],
        results: Sequence[Result],
        pieces: Sequence[np.ndarray[Any, Any]],
        store: Store,
    ) -> Sequence[Value]:
        found: list[Value] = []
        storages: dict[int, Storage] = {}

        def storage(piece: int) -> Storage:
            held = storages.get(piece)
            if held is None:
                held = Storage(pieces[piece], self.plan.pieces[piece].device)
                storages[piece] = held
            return held

        for result in results:
            match result:
                case TensorResult(piece=piece) if piece is not None:
                    found.append(_laid(result, storage(piece), store))
                case TensorResult(base=base):
                    found.append(_within(result, values[base], store))
                case InputResult(position=position):
                    found.append(values[position])
                case ConstantResult(value=value):
                    found.append(value)
                case HeapResult(content=content):
                    found.append(Tensor(content.copy()))
                case MemoryResult(piece=piece):
                    found.append(storage(piece))
                case TupleResult(parts=parts):
                    found.append(TupleValue(tuple(found[part] for part in parts)))
        return [found[number] for number in self.plan.outputs]


class SizedRun(PlannedRun):
    """A plan, ready to run on inputs of all sizes for which its formulas hold."""

    def __init__(
        self,
        made: BatchPlan,
        formulas: PlanFormulas,
        values: Sequence[Value],
        heaps: Sequence[bool],
    ) -> None:
        super().__init__(made)
        self._take = taking(values, heaps)
        self._heaps = [k for k, heap in enumerate(heaps) if heap]
        self._sized = formulas
        steps, sequence = formulas.steps, self._sequence
        first = 1 + steps.arrays + 2 * len(steps.kernels)
        puts = _puts(formulas, sequence, first, first + 1)
        steps = steps._replace(words=[*steps.words, *puts])
        self._formulas = Formulas(steps, [sequence.memory, sequence.words])

    def _run(self, values: Sequence[Value], store: Store) -> Ended:
        numbers = self._take(*values)
        if numbers is None:
            return OTHERS
        heaps = [values[k].data for k in self._heaps]  # type: ignore[attr-defined]
        if not self._formulas(numbers, heaps):
            return OTHERS
        sized = self._sized
        found = self._formulas.read(sized.first, sized.length)
        pieces = self._pieces([found[place] for place in sized.pieces])
        failed = self._calls(values, pieces)
        if failed is not None:
            return failed
        results: list[Result] = [*self.plan.results]
        for k, places in sized.results.items():
            results[k] = _resized(results[k], [found[place] for place in places])
        return self._outputs(values, results, pieces, store)


def _puts(formulas: PlanFormulas, sequence: KernelSequence, memory: int, words: int) -> list[int]:
    """The steps that put the sizes and offsets of calls where the calls read them."""
    made: list[int] = []
    for args, sizes, offsets in zip(formulas.calls, sequence.sizes, sequence.offsets, strict=True):
        for (numbers, begin), size, offset in zip(args, sizes, offsets, strict=True):
            for axis, slot in enumerate(numbers):
                made += (PUT, memory, size + axis, slot)
            if begin >= 0:
                made += (PUT, words, offset, begin)
    return made


def _resized(result: Result, numbers: Sequence[int]) -> Result:
    """A result with the numbers that it has this time."""
    match result:
        case TensorResult():
            *sizes, offset = numbers
            return result._replace(shape=tuple(sizes), offset=offset)
        case HeapResult():
            return HeapResult(np.array(numbers, np.int64))
        case ConstantResult(value=Scalar()):
            return ConstantResult(Scalar(numbers[0]))
    return ConstantResult(ShapeValue(tuple(numbers)))


def _within(made: TensorResult, whole: Value, store: Store) -> Tensor:
    """A tensor in an input: in a piece of memory, or a view of another tensor."""
    if isinstance(whole, Storage):
        return _laid(made, whole, store)
    assert isinstance(whole, Tensor)
    return Tensor(whole.data.reshape(made.shape), whole.device, whole.storage)


def _laid(made: TensorResult, storage: Storage, store: Store) -> Tensor:
    data = np.ndarray(made.shape, made.dtype, storage.data, made.offset)
    tensor = Tensor(data, made.device, storage)
    if made.blank and data.size:
        store.blank[id(tensor)] = Blank(tensor)
    return tensor


class BatchRunner:
    """A batch of one function, with its plans.

    Attributes
    ----------
    batch
        Its instructions and registers.
    stopped
        What the last run stopped with, and the instruction that stopped it.
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
                self._sized = [sized, *self._sized[: MOST_PLANS - 1]]
                return sized
            run = PlannedRun(made)
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
        if len(pieces) > 1:
            found.append(tuple(pieces.index(piece) for piece in pieces))
        return tuple(found)
