"""Batches at work: the plan for the inputs at hand is found, or made, and run."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from rlx.semantics.faults import Stop
from rlx.semantics.machine.prim_funcs import allocate
from rlx.semantics.native.compiler import NoCompiler
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
from rlx.vm.batch_planning import plan
from rlx.vm.batch_plans import (
    BatchPlan,
    ConstantResult,
    HeapResult,
    InputResult,
    MemoryResult,
    NoPlan,
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
_FLAGS = 0x501  # contiguous, aligned, writeable
_UINT8 = np.dtype(np.uint8)


class PlannedRun:
    """A plan, ready to run."""

    def __init__(self, made: BatchPlan) -> None:
        self.plan = made
        bases = len(made.inputs) + len(made.constants) + len(made.pieces)
        self._sequence = KernelSequence(made.calls, bases)
        self._busy = Lock()
        small = sum(piece.size for piece in made.pieces if piece.kept) <= MOST_KEPT
        self._kept = [
            np.zeros(piece.size, np.uint8) if piece.kept and small else None
            for piece in made.pieces
        ]

    def __call__(self, values: Sequence[Value], store: Store) -> Sequence[Value] | Failure | None:
        """What the outputs hold; which call failed; None where another thread runs the plan."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            return self._run(values, store)
        finally:
            self._busy.release()

    def _run(self, values: Sequence[Value], store: Store) -> Sequence[Value] | Failure:
        made = self.plan
        pieces = [
            allocate((piece.size,), _UINT8) if kept is None else kept
            for piece, kept in zip(made.pieces, self._kept, strict=True)
        ]
        inputs: list[Any] = [values[position].data for position in made.inputs]  # type: ignore[attr-defined]
        failed = self._sequence([*inputs, *made.constants, *pieces])
        if failed is not None:
            return failed
        for position, content in made.heaps.items():
            values[position].data[...] = content  # type: ignore[attr-defined]
        return self._outputs(values, pieces, store)

    def _outputs(
        self, values: Sequence[Value], pieces: Sequence[np.ndarray[Any, Any]], store: Store
    ) -> Sequence[Value]:
        found: list[Value] = []
        storages: dict[int, Storage] = {}

        def storage(piece: int) -> Storage:
            held = storages.get(piece)
            if held is None:
                held = Storage(pieces[piece], self.plan.pieces[piece].device)
                storages[piece] = held
            return held

        for result in self.plan.results:
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


def _within(made: TensorResult, whole: Value, store: Store) -> Tensor:
    """A tensor in an input: in a piece of memory, or a view of another tensor."""
    if isinstance(whole, Storage):
        return _laid(made, whole, store)
    assert isinstance(whole, Tensor)
    return Tensor(whole.data.reshape(made.shape), whole.device, whole.storage)


def _laid(made: TensorResult, storage: Storage, store: Store) -> Tensor:
    size = int(np.prod(made.shape, dtype=np.int64)) * made.dtype.itemsize
    data = storage.data[made.offset : made.offset + size].view(made.dtype).reshape(made.shape)
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
        self._left = MOST_PLANS
        self.stopped: tuple[Stop, int] | None = None

    def __call__(self, *values: Value) -> Sequence[Value] | None:
        """What the outputs hold after the batch; None if its instructions must run one by one."""
        blank = self._store.blank
        if blank and not blank.keys().isdisjoint(map(id, values)):
            return None
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
        found = None if run is None else run(values, self._store)
        if isinstance(found, Failure):
            assert run is not None
            self.stopped = found.stop, run.plan.places[found.call]
            raise found.stop
        return found

    def _made(self, key: Hashable, values: Sequence[Value]) -> PlannedRun | None:
        """A plan for inputs, which is kept."""
        self._left -= 1
        if len(self._plans) >= MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        try:
            run = PlannedRun(plan(self._linker, self.batch, self._code, values))
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
                    found += (data.shape, data.dtype, data.flags.num & _FLAGS, device)
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
