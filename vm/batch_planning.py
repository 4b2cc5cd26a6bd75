"""Planning of batches: the instructions run once without the PrimFuncs, and the calls of PrimFuncs
are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.semantics.faults import Stop
from rlx.semantics.machine.prim_funcs import inherited, kernel_arguments
from rlx.semantics.native.sequence import ArrayPlace, KernelCall, fits
from rlx.semantics.store import Store
from rlx.semantics.values import (
    NULL,
    DataTypeValue,
    Null,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.vm.batch_formulas import FormulaWriter
from rlx.vm.batch_inputs import address
from rlx.vm.batch_plans import (
    Allocation,
    Base,
    BatchPlan,
    CallSlots,
    ConstantResult,
    HeapResult,
    InputResult,
    MemoryKind,
    MemoryResult,
    NoPlan,
    Result,
    TensorResult,
    TupleResult,
)
from rlx.vm.batch_steps import NoFormula
from rlx.vm.batches import ALLOCATES_HEAP, HEAPS, Batch
from rlx.vm.instructions import VM_STATE, VOID, Argument, ArgumentKind, CallInstruction
from rlx.vm.library import CALL_TIR_DYN, WITH_STATE, MachineState, fields, told
from rlx.vm.linking import Linker

IMMUTABLE = (ShapeValue, Scalar, DataTypeValue, StringValue, Null)


def plan(
    linker: Linker, batch: Batch, code: Sequence[CallInstruction], values: Sequence[Value]
) -> BatchPlan:
    """The plan of a batch for given inputs.

    Parameters
    ----------
    code
        The instructions of the batch.
    values
        Its inputs. They are not changed.

    Raises
    ------
    NoPlan
        If there is none.
    """
    planner = _BatchPlanner(linker, batch, values)
    try:
        for at, instruction in enumerate(code, batch.start):
            planner.instruction(at, instruction)
        return planner.plan()
    except Stop as stop:  # it will come again, in its place
        raise NoPlan(stop.message) from None


class _BatchPlanner:
    """Runs the instructions of a batch on stand-ins."""

    def __init__(self, linker: Linker, batch: Batch, values: Sequence[Value]) -> None:
        self._linker, self._batch = linker, batch
        self._names = linker.executable.names
        self._store = Store(linker, keeping=False)
        self._state = MachineState(linker.state.output, linker.state.devices, self._store)
        self._held: list[Value] = list(values)  # so that no identity is given twice
        self._positions = {id(value): k for k, value in enumerate(values)}
        self._memories: dict[int, Base] = {}
        self._lies: dict[int, tuple[Base, int]] = {}
        self._heaps: dict[int, Tensor] = {}
        self._constants: list[np.ndarray[Any, Any]] = []
        self._constant_numbers: dict[int, int] = {}
        self._pieces: list[Storage] = []
        self._seen: set[int] = set()
        self._apart: dict[int, str] = {}
        self._calls: list[tuple[int, Any, list[Any]]] = []
        self._slots: list[tuple[CallSlots, ...]] = []
        self._results: list[Result] = []
        self._numbers: dict[int, int] = {}
        self._registers: dict[int, Value] = {}
        self._formulas: FormulaWriter | None = FormulaWriter()
        self._results_of: list[Value] = []
        heaps = frozenset(batch.heaps)
        taken: list[Value] = []
        for position, (register, value) in enumerate(zip(batch.inputs, values, strict=True)):
            made = self._input(position, value, register in heaps)
            self._registers[register] = made
            if id(made) not in self._heaps:
                taken.append(made)
        self._follow(FormulaWriter.inputs, taken, list(self._heaps.values()))

    def _follow(self, what: Callable[..., Any], *args: Any) -> Any:
        """Note how numbers come to be, as long as that is known."""
        if self._formulas is not None:
            try:
                return what(self._formulas, *args)
            except NoFormula:
                self._formulas = None
        return None

    def _input(self, position: int, value: Value, heap: bool) -> Value:
        if heap and isinstance(value, Tensor):
            copy = Tensor(value.data.copy())
            self._heaps[id(copy)] = copy
            self._positions[id(copy)] = position
            self._held.append(copy)
            return copy
        if self._positions[id(value)] != position:  # the next time it may be another value
            value = _another(value)
            self._held.append(value)
            self._positions[id(value)] = position
        if isinstance(value, Tensor):
            if not value.data.flags.c_contiguous:
                raise NoPlan("an input is not contiguous")
            self._lies[id(value)] = Base(MemoryKind.INPUT, position), 0
        elif isinstance(value, Storage):
            self._memories[id(value)] = Base(MemoryKind.INPUT, position)
        return value

    # ------------------------------------------------------------ instructions

    def instruction(self, at: int, instruction: CallInstruction) -> None:
        """Run one instruction."""
        name = self._names[instruction.callee]
        args = [self._argument(arg) for arg in instruction.args]
        if name in CALL_TIR_DYN:
            unpacked = [*args[1:-1], *self._fields(args[-1])]
            made = self._kernel(at, self._names[instruction.args[0].number], unpacked)
        elif name in self._linker.executable.kernels:
            made = self._kernel(at, name, args)
        else:
            made = self._builtin(name, args)
        self._held += (made, *args)
        if instruction.dst != VOID:
            self._registers[instruction.dst] = made

    def _argument(self, arg: Argument) -> Value:
        match arg.kind:
            case ArgumentKind.IMMEDIATE:
                immediate = Scalar(arg.number)
                self._follow(FormulaWriter.constant, immediate)
                return immediate
            case ArgumentKind.CONSTANT:
                return self._constant(self._linker.executable.constants[arg.number])
            case ArgumentKind.FUNCTION:
                return NULL  # the callee, which its name says
        return self._state if arg.number == VM_STATE else self._registers[arg.number]

    def _constant(self, value: Value) -> Value:
        if isinstance(value, TupleValue):
            raise NoPlan("a tuple of the pool is copied each time")
        if isinstance(value, Tensor) and id(value) not in self._lies:
            self._constant_numbers[id(value)] = len(self._constants)
            self._lies[id(value)] = Base(MemoryKind.CONSTANT, len(self._constants)), 0
            self._constants.append(value.data)
        self._follow(FormulaWriter.constant, value)
        return value

    def _fields(self, value: Value) -> tuple[Value, ...]:
        """What a tuple or a shape is unpacked to."""
        found = fields(value)
        self._held += found
        if isinstance(value, ShapeValue):
            self._follow(FormulaWriter.unpacked, value, found)
        return found

    def _builtin(self, name: str, args: list[Value]) -> Value:
        given = [arg for arg in args if arg is not self._state]
        self._only_heaps_where_they_belong(name, given)
        passed = [self._state, *given] if name in WITH_STATE else args
        if name not in ("vm.builtin.alloc_tensor", *WITH_STATE):
            passed = given
        made = told(name)(*passed)
        if name in ALLOCATES_HEAP:
            assert isinstance(made, Tensor)
            self._heaps[id(made)] = made
        elif isinstance(made, Storage) and id(made) not in self._memories:
            self._memories[id(made)] = Base(MemoryKind.PIECE, len(self._pieces))
            self._pieces.append(made)
        elif name == "vm.builtin.alloc_tensor":
            self._laid(made, passed)
        elif name == "vm.builtin.reshape" and isinstance(made, Tensor):
            self._viewed(made, given[0])
        self._follow(FormulaWriter.called, name, given, made)
        return made

    def _only_heaps_where_they_belong(self, name: str, given: Sequence[Value]) -> None:
        place = HEAPS.get(name)
        for k, value in enumerate(given):
            if id(value) in self._constant_numbers:
                raise NoPlan("a tensor of the pool is copied for each call")
            if k == place:
                if id(value) not in self._heaps and not isinstance(value, Null):
                    raise NoPlan("a value used as a shape heap is not one")
            elif id(value) in self._heaps:
                raise NoPlan("a shape heap is used as something else")

    def _laid(self, made: Value, passed: Sequence[Value]) -> None:
        """A tensor in a piece of memory."""
        assert isinstance(made, Tensor)
        storage = made.storage
        assert storage is not None
        base = self._memories[id(storage)]
        self._lies[id(made)] = base, address(made.data) - address(storage.data)
        if passed[0] is not self._state and base.kind is MemoryKind.PIECE:
            self._seen.add(base.number)  # it shows what the memory held: zeros

    def _viewed(self, made: Tensor, whole: Value) -> None:
        if not np.shares_memory(made.data, whole.data):  # type: ignore[attr-defined]
            raise NoPlan("a tensor was copied, or is empty")
        self._lies[id(made)] = self._lies[id(whole)]
        inherited(self._store, (whole,), made)

    # ------------------------------------------------------------ PrimFuncs

    def _kernel(self, at: int, name: str, args: Sequence[Value]) -> Value:
        linker = self._linker
        func = linker.prim_func(name)
        kernel = linker.prim_funcs.native(func)
        given = [
            part
            for arg in args
            if arg is not self._state
            for part in (self._fields(arg) if isinstance(arg, ShapeValue) else (arg,))
        ]
        if kernel is None or kernel.valued:
            self._apart[at] = f"{name} does not run natively, or gives a value"
            self._fill(given)
            return TupleValue(())
        tensors = [arg for arg in given if isinstance(arg, Tensor)]
        if tensors and all(id(tensor) in self._heaps for tensor in tensors):
            linker.prim_funcs.run(func, name, kernel_arguments(given), {})
            self._follow(FormulaWriter.heap_kernel, kernel, given)
            return TupleValue(())
        arrays = kernel_arguments(given)
        if len(arrays) < len(kernel.taken):
            arrays = kernel.completed(arrays)
        if not fits(kernel, arrays) or any(t.data.size == 0 for t in tensors):
            raise NoPlan(f"{name} is given other arrays than it takes, or empty ones")
        self._written(at, name, func, given)
        self._calls.append((at, kernel, [*given, *arrays[len(given) :]]))
        self._slots.append(self._follow(FormulaWriter.kernel, kernel, given))
        return TupleValue(())

    def _written(self, at: int, name: str, func: Any, given: Sequence[Value]) -> None:
        """See to it that a PrimFunc reads nothing that was not written, and note what it writes."""
        runs, blank = self._linker.prim_funcs, self._store.blank
        writes = runs.writes(func)
        for k, value in enumerate(given):
            if k in writes and (id(value) in self._constant_numbers or id(value) in self._heaps):
                raise NoPlan(f"{name} writes to a constant or a heap")
            if id(value) in self._heaps:
                raise NoPlan(f"{name} reads a heap and a tensor")
        unwritten = [k for k, value in enumerate(given) if id(value) in blank]
        if not runs.filled(func).issuperset(unwritten):
            self._apart[at] = f"{name} may leave elements unwritten"
        self._fill(given)

    def _fill(self, values: Sequence[Value]) -> None:
        """Note that tensors are written."""
        for value in values:
            if isinstance(value, Tensor) and id(value) in self._store.blank:
                self._store.filled(value)

    # ------------------------------------------------------------ the plan

    def plan(self) -> BatchPlan:
        """What was written down."""
        if self._apart:
            raise NoPlan("; ".join(self._apart.values()), tuple(self._apart))
        if not self._calls:
            raise NoPlan("no PrimFunc is called")
        outputs = tuple(self._result(self._registers[r]) for r in self._batch.outputs)
        used: dict[int, int] = {}
        for _, _, args in self._calls:
            for arg in args:
                if isinstance(arg, Tensor):
                    base, _ = self._lies[id(arg)]
                    if base.kind is MemoryKind.INPUT:
                        used.setdefault(base.number, len(used))
        behind = len(used) + len(self._constants)
        first = {MemoryKind.CONSTANT: len(used), MemoryKind.PIECE: behind}

        def lies(arg: Any) -> Any:
            if not isinstance(arg, Tensor):
                return arg.value if isinstance(arg, Scalar) else arg
            base, offset = self._lies[id(arg)]
            if base.kind is MemoryKind.INPUT:
                return ArrayPlace(used[base.number], offset, arg.data.shape)
            return ArrayPlace(first[base.kind] + base.number, offset, arg.data.shape)

        calls = tuple(KernelCall(k, tuple(map(lies, args))) for _, k, args in self._calls)
        return BatchPlan(
            calls,
            tuple(at for at, _, _ in self._calls),
            tuple(used),
            tuple(self._constants),
            tuple(
                Allocation(piece.data.nbytes, piece.device, k not in self._seen)
                for k, piece in enumerate(self._pieces)
            ),
            self._heap_contents(),
            tuple(self._results),
            outputs,
            self._follow(FormulaWriter.plan, self._slots, self._results_of),
        )

    def _heap_contents(self) -> dict[int, np.ndarray[Any, Any]]:
        return {
            self._positions[key]: heap.data
            for key, heap in self._heaps.items()
            if key in self._positions
        }

    def _result(self, value: Value) -> int:
        """The number of a result."""
        found = self._numbers.get(id(value))
        if found is None:
            made = self._recipe(value)
            found = self._numbers[id(value)] = len(self._results)
            self._results.append(made)
            self._results_of.append(NULL if isinstance(made, InputResult) else value)
        return found

    def _recipe(self, value: Value) -> Result:
        if id(value) in self._positions:
            return InputResult(self._positions[id(value)])
        if id(value) in self._heaps:
            return HeapResult(self._heaps[id(value)].data)
        match value:
            case Tensor():
                return self._tensor(value)
            case Storage():
                return MemoryResult(self._escapes(self._memories[id(value)].number))
            case TupleValue(fields=parts):
                return TupleResult(tuple(self._result(part) for part in parts))
        if isinstance(value, IMMUTABLE):
            return ConstantResult(value)
        raise NoPlan(f"a result is {type(value).__name__}")

    def _tensor(self, value: Tensor) -> Result:
        if id(value) in self._constant_numbers:
            raise NoPlan("a tensor of the pool is copied each time")
        blank = self._store.blank.get(id(value))
        if blank is not None and blank.written is not None:
            raise NoPlan("a result is written in part")
        base, offset = self._lies[id(value)]
        piece = self._escapes(base.number) if base.kind is MemoryKind.PIECE else None
        shape, kind = value.data.shape, value.data.dtype
        number = base.number if base.kind is MemoryKind.INPUT else -1
        return TensorResult(number, piece, offset, shape, kind, value.device, blank is not None)

    def _escapes(self, piece: int) -> int:
        self._seen.add(piece)
        return piece


def _another(value: Value) -> Value:
    """The same value as another object."""
    match value:
        case Tensor(data=data, device=device, storage=storage):
            return Tensor(data, device, storage)
        case Storage(data=data, device=device):
            return Storage(data, device)
        case ShapeValue(values=sizes):
            return ShapeValue(sizes)
        case Scalar(value=number, dtype=kind):
            return Scalar(number, kind)
        case DataTypeValue() | StringValue() | Null():
            return value
    raise NoPlan("one value is given twice")
