"""Writing of the Python function of a batch: its instructions run once without the PrimFuncs, and
what they do to memory and to sizes is written down as code.

The function first checks its inputs and computes its numbers: the sizes of inputs that have
differed so far, and what follows from them. Then it allocates memory, calls all PrimFuncs by one
call of machine code, and makes its outputs. If anything might be otherwise than it was, it leaves
before anything has changed, and the instructions run one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import replace
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import Stop
from rlx.semantics.machine.builtins import IMMEDIATE, LOAD, STORE
from rlx.semantics.machine.prim_funcs import LIMIT, inherited, kernel_arguments
from rlx.semantics.native.kernel import Kernel
from rlx.semantics.native.sequence import ArrayPlace, KernelCall, KernelSequence, fits
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
from rlx.vm.batch_numbers import LARGEST, NoPlan, Number, NumberWriter, Sizes, constant
from rlx.vm.batches import HEAPS, Batch
from rlx.vm.instructions import VM_STATE, Argument, ArgumentKind, CallInstruction
from rlx.vm.library import CALL_TIR_DYN, UINT8, WITH_STATE, MachineState, fields, reporting
from rlx.vm.linking import Linker

FLAGS = 0x501
"""The flags of an array: contiguous, aligned, writeable."""
WIDEST = 8
"""The largest size of an element in bytes. In memory that begins at a multiple of it, the offset of
a tensor determines whether the tensor is aligned.
"""


def address(array: np.ndarray[Any, Any]) -> int:
    """The address of an array's memory."""
    return int(array.__array_interface__["data"][0])


class Base(NamedTuple):
    """Memory that offsets are relative to: the expressions of its array, and of the piece that it
    is the memory of, if it is one.
    """

    array: str
    owner: str = ""


class Written(NamedTuple):
    """The function of a batch, named ``run``: its text, what that reads, and the calls of PrimFuncs
    with the instruction of each; no calls if it only leaves.
    """

    text: str
    scope: dict[str, Any]
    sequence: KernelSequence | None
    places: tuple[int, ...]


def is_size(value: Value) -> bool:
    """Whether a value is an integer that may differ between runs."""
    return isinstance(value, Scalar) and type(value.value) is int and value.dtype == INT64


def numbers(value: Value) -> tuple[int, ...]:
    """The numbers of an input that may differ from run to run."""
    match value:
        case Tensor(shape=sizes) | ShapeValue(values=sizes):
            return tuple(sizes)
        case Storage(data=data):
            return (data.nbytes,)
        case Scalar(value=int() as number) if is_size(value):
            return (number,)
    return ()


class BatchWriter:
    """Runs the instructions of a batch on stand-ins, and writes its function.

    Parameters
    ----------
    values
        Its inputs, which are not changed.
    varying
        The inputs and the places among their numbers that may differ from run to run.
    """

    def __init__(
        self,
        linker: Linker,
        batch: Batch,
        values: Sequence[Value],
        varying: Collection[tuple[int, int]],
    ) -> None:
        self._linker, self._batch = linker, batch
        self._names = linker.executable.names
        self._store = Store(linker, keeping=False)
        self._state = MachineState(linker.state.output, linker.state.devices, self._store)
        self._held: list[Value] = list(values)  # so that no identity is given twice
        self._positions: dict[int, int] = {id(value): k for k, value in enumerate(values)}
        self._write = NumberWriter()
        self._scope: dict[str, Any] = {}
        self._sizes: dict[int, Sizes] = {}
        self._heaps: dict[int, list[Number]] = {}
        self._before: list[tuple[Tensor, list[Number]]] = []
        self._memories: dict[int, Base] = {}
        self._lies: dict[int, tuple[Base, Number]] = {}
        self._pool: set[int] = set()
        self._pieces: list[tuple[Storage, Number]] = []
        self._apart: list[int] = []
        self._calls: list[tuple[int, Kernel, list[Any]]] = []
        self._made: list[str] = []
        self._results: dict[int, str] = {}
        self._registers: dict[int, Value] = {}
        self._immediates: dict[int, Value] = {}
        self._values, self._varying = values, varying

    def function(self, code: Sequence[CallInstruction]) -> Written:
        """The function of the batch with these instructions. Raises NoPlan if there is none."""
        self._inputs()
        try:
            for at, instruction in enumerate(code, self._batch.start):
                made = self._instruction(at, instruction)
                self._held.append(made)
                self._registers[instruction.dst] = made
        except Stop as stop:  # it will come again, in its place
            raise NoPlan(stop.message, tuple(self._apart)) from None
        if self._apart:
            raise NoPlan("some instructions run by themselves", tuple(self._apart))
        if not self._calls:
            raise NoPlan("no PrimFunc is called")
        return self._whole()

    def refusal(self) -> Written:
        """The function for inputs like these that has the instructions run one by one."""
        with suppress(NoPlan):
            self._inputs()
        return self._text([*self._write.lines, "return None"], None)

    # ------------------------------------------------------------ inputs

    def _inputs(self) -> None:
        for k, (register, value) in enumerate(zip(self._batch.inputs, self._values, strict=True)):
            self._registers[register] = self._input(k, value, register in self._batch.heaps)

    def _input(self, k: int, value: Value, heap: bool) -> Value:
        """The stand-in of an input; the function leaves where the input is of another kind."""
        known = self._known
        known(f"type(v{k}) is {{}}", type(value))
        if heap and isinstance(value, Tensor):
            return self._heap_input(k, value)
        if self._positions[id(value)] != k:  # the next time it may be another value
            value = replace(value)
            self._held.append(value)
            self._positions[id(value)] = k
        found = ""
        match value:
            case Tensor(data=data, device=device):
                self._write.lines[f"a{k} = v{k}.data"] = None
                known(f"a{k}.dtype == {{}} and v{k}.device == {{}}", data.dtype, device)
                known(f"a{k}.flags.num & {FLAGS} == {data.flags.num & FLAGS}")
                self._lies[id(value)] = Base(f"a{k}"), constant(0)
                found = f"a{k}.shape"
            case ShapeValue():
                found = f"v{k}.values"
            case Storage(data=data, device=device):
                odd = address(data) % WIDEST
                known(f"v{k}.device == {{}} and address(v{k}.data) % {WIDEST} == {odd}", device)
                if odd:
                    raise NoPlan("a piece of memory begins at an odd address")
                self._memories[id(value)] = Base(f"v{k}.data", f"v{k}")
                found = f"(v{k}.data.nbytes,)"
            case Scalar(value=number, dtype=kind):
                known(f"v{k}.dtype == {{}} and type(v{k}.value) is {{}}", kind, type(number))
                if is_size(value):
                    found = f"(v{k}.value,)"
                else:
                    known(f"repr(v{k}.value) == {{}}", repr(number))
            case DataTypeValue(value=content) | StringValue(value=content):
                known(f"v{k}.value == {{}}", content)
            case TupleValue():
                raise NoPlan("an input is a tuple")
        self._sizes[id(value)] = self._given(k, found, numbers(value))
        if isinstance(value, Tensor) and not value.data.flags.c_contiguous:
            raise NoPlan("an input is not contiguous")
        return value

    def _known(self, condition: str, *values: object) -> None:
        """Demand something of the inputs; the function is given the values in it."""
        names = [f"k{len(self._scope) + n}" for n in range(len(values))]
        self._scope.update(zip(names, values, strict=True))
        self._write.demand(condition.format(*names))

    def _given(self, k: int, found: str, seen: tuple[int, ...]) -> Sizes:
        """The numbers of an input, of which the function knows those that never differed."""
        if not any((k, axis) in self._varying for axis in range(len(seen))):
            if found:
                self._write.demand(f"{found} == {seen}")
            return tuple(map(constant, seen))
        self._write.demand(f"len({found}) == {len(seen)}")
        made = [Number(f"n{k}_{axis}", number) for axis, number in enumerate(seen)]
        self._write.lines[f"{', '.join(number.text for number in made)}, = {found}"] = None
        for axis in range(len(seen)):
            if (k, axis) in self._varying:
                self._write.demand(f"{-LARGEST} <= {made[axis].text} <= {LARGEST}")
            else:
                made[axis] = constant(self._write.fixed(made[axis]))
        return tuple(made)

    def _heap_input(self, k: int, value: Tensor) -> Tensor:
        copy = Tensor(value.data.copy())
        self._held.append(copy)
        self._positions[id(copy)] = k
        self._write.lines[f"h{k} = v{k}.data.tolist()"] = None
        self._write.demand(f"len(h{k}) == {self._heap(copy)}")
        cells = [Number(f"h{k}[{at}]", seen.seen) for at, seen in enumerate(self._heaps[id(copy)])]
        self._heaps[id(copy)] = cells
        self._before.append((copy, [*cells]))
        return copy

    def _heap(self, heap: Tensor) -> int:
        if heap.data.ndim != 1 or heap.data.dtype != np.int64:
            raise NoPlan("a shape heap is not a row of integers")
        self._heaps[id(heap)] = list(map(constant, heap.data))
        return len(heap.data)

    # ------------------------------------------------------------ instructions

    def _instruction(self, at: int, instruction: CallInstruction) -> Value:
        """Run one instruction."""
        name, given = self._names[instruction.callee], instruction.args
        unpacks = name in CALL_TIR_DYN
        if unpacks:
            name, given = self._names[given[0].number], given[1:]
        args = [self._argument(arg) for arg in given]
        self._held += args
        if any(arg.kind is ArgumentKind.FUNCTION for arg in given) or (unpacks and not args):
            self._apart.append(at)
            return NULL
        if unpacks:
            args = [*args[:-1], *self._fields(args[-1])]
        if name in self._linker.executable.kernels:
            return self._kernel(at, name, args)
        return self._builtin(at, name, args)

    def _argument(self, arg: Argument) -> Value:
        match arg.kind:
            case ArgumentKind.IMMEDIATE:
                found = self._immediates.get(arg.number)
                if found is None:
                    found = self._same_in_each_run(Scalar(arg.number))
                    self._immediates[arg.number] = found
                return found
            case ArgumentKind.CONSTANT:
                return self._constant(arg.number)
            case ArgumentKind.FUNCTION:
                return NULL
        return self._state if arg.number == VM_STATE else self._registers[arg.number]

    def _constant(self, number: int) -> Value:
        value = self._linker.executable.constants[number]
        if isinstance(value, TupleValue):
            raise NoPlan("a tuple of the pool is copied each time")
        if isinstance(value, Tensor) and id(value) not in self._pool:
            self._pool.add(id(value))
            self._scope[f"c{number}"] = value.data
            self._lies[id(value)] = Base(f"c{number}"), constant(0)
        return self._same_in_each_run(value)

    def _same_in_each_run(self, value: Value) -> Value:
        self._held.append(value)
        self._sizes[id(value)] = tuple(map(constant, numbers(value)))
        return value

    def _fields(self, value: Value) -> tuple[Value, ...]:
        """Unpack the fields of a tuple or a shape."""
        found = fields(value)
        self._held += found
        if isinstance(value, ShapeValue):
            for part, number in zip(found, self._of(value), strict=True):
                self._sizes[id(part)] = (number,)
        return found

    def _of(self, value: Value) -> Sizes:
        """The numbers of a value."""
        try:
            return self._sizes[id(value)]
        except KeyError:
            raise NoPlan("it is not known where a number comes from") from None

    def _number(self, value: Value) -> Number:
        (found,) = self._of(value)
        return found

    def _integer(self, value: Value) -> Number:
        """The number of a scalar; one that is not of 64 bits is the same in each run."""
        return self._number(value) if is_size(value) else constant(value.value)  # type: ignore[attr-defined]

    def _fixed(self, values: Sequence[Value]) -> list[int]:
        """The integers among values, which must be the same in each run."""
        return [
            self._write.fixed(self._integer(value))
            for value in values
            if isinstance(value, Scalar) and isinstance(value.value, int)
        ]

    def _builtin(self, at: int, name: str, args: list[Value]) -> Value:
        given = [arg for arg in args if arg is not self._state]
        for k, value in enumerate(given):
            if id(value) in self._pool:
                raise NoPlan("a tensor of the pool is copied for each call")
            if (id(value) in self._heaps) != (k == HEAPS.get(name) and value is not NULL):
                raise NoPlan("a value used as a shape heap is not one, or a heap is not", (at,))
        passed = [self._state, *given] if name in WITH_STATE else args
        if name not in ("vm.builtin.alloc_tensor", *WITH_STATE):
            passed = given
        made = reporting(name)(*passed)
        self._follow(name.removeprefix("vm.builtin."), given, made)
        return made

    def _follow(self, name: str, args: Sequence[Value], made: Any) -> None:
        """Note what a run-time function did to sizes and memory."""
        sizes = self._sizes
        match name:
            case "alloc_shape_heap" | "alloc_heap":
                self._fixed(args)
                self._heap(made)
            case "match_shape":
                program = self._fixed(args[2:])[1:]  # behind the rank
                self._match(self._of(args[0]), args[1], program)
            case "match_prim_value":
                self._match((self._integer(args[0]),), args[1], self._fixed(args[2:])[:2])
            case "make_shape":
                program = self._fixed(args[1:])[1:]
                steps = zip(program[::2], program[1::2], strict=True)
                sizes[id(made)] = tuple(self._from(args[0], *step) for step in steps)
            case "make_prim_value":
                number = self._from(args[0], *self._fixed(args[1:])[:2])
                if is_size(made):
                    sizes[id(made)] = (number,)
                else:
                    self._write.fixed(number)
            case "store_shape":
                heap = self._heaps[id(args[1])]
                for size, place in zip(self._of(args[0]), self._fixed(args[2:]), strict=True):
                    heap[place] = size
            case "load_shape":
                heap = self._heaps[id(args[0])]
                sizes[id(made)] = tuple(heap[place] for place in self._fixed(args[1:]))
            case "alloc_storage":
                self._alloc_storage(args, made)
            case "alloc_tensor":
                self._alloc_tensor(args, made)
            case "reshape":
                self._reshape(args, made)
            case "shape_of":
                sizes[id(made)] = self._of(args[0])
            case "move":
                if made is not args[0]:
                    raise NoPlan("a value is copied")
            case "tuple_getitem" | "check_tensor_info" | "check_shape_info":
                self._fixed(args[1:])  # the place, and the rank

    def _match(self, sizes: Sizes, heap: Value, program: Sequence[int]) -> None:
        steps = zip(program[::2], program[1::2], strict=True)
        for size, (code, operand) in zip(sizes, steps, strict=True):
            if code == STORE:
                self._heaps[id(heap)][operand] = size
            elif code == IMMEDIATE:
                self._write.equal(size, constant(operand))
            elif code == LOAD:
                self._write.equal(size, self._heaps[id(heap)][operand])

    def _from(self, heap: Value, code: int, operand: int) -> Number:
        return constant(operand) if code == IMMEDIATE else self._heaps[id(heap)][operand]

    def _alloc_storage(self, args: Sequence[Value], made: Storage) -> None:
        size, *rest = args
        kind = next((v.value for v in rest if isinstance(v, DataTypeValue)), UINT8)
        self._fixed(rest)
        sizes = (self._integer(size),) if isinstance(size, Scalar) else self._of(size)
        for each in sizes:
            self._write.least(0, each)
        total = self._write.product((*sizes, constant(numpy_type(kind).itemsize)))
        self._write.least(0, total, constant(LIMIT))
        self._sizes[id(made)] = (total,)
        k = len(self._pieces)
        self._memories[id(made)] = Base(f"p{k}.data", f"p{k}")
        self._pieces.append((made, total))

    def _alloc_tensor(self, args: Sequence[Value], made: Tensor) -> None:
        storage, *rest = args
        shape = next(v for v in rest if isinstance(v, ShapeValue))
        place = next((v for v in rest if isinstance(v, Scalar)), None)
        begin = constant(0) if place is None else self._integer(place)
        sizes, width = self._of(shape), made.data.itemsize
        for each in sizes:
            self._write.least(1, each)
        self._write.least(0, begin)
        if begin.varies:
            if begin.seen % width:
                raise NoPlan("a tensor begins at an odd place")
            self._write.demand(f"{begin.text} % {width} == 0")
        length = self._write.product((*sizes, constant(width)))
        end = self._write.computed(tir.Add, begin, length)
        self._write.least(0, end, self._number(storage))
        self._sizes[id(made)] = sizes
        self._lies[id(made)] = self._memories[id(storage)], begin

    def _reshape(self, args: Sequence[Value], made: Tensor) -> None:
        whole, shape = args
        shared = isinstance(shape, ShapeValue) and np.shares_memory(made.data, whole.data)  # type: ignore[attr-defined]
        if not shared:
            raise NoPlan("a tensor was copied, or is empty")
        sizes = self._of(shape)
        for each in sizes:
            self._write.least(1, each)
        self._write.equal(self._write.product(self._of(whole)), self._write.product(sizes))
        self._sizes[id(made)], self._lies[id(made)] = sizes, self._lies[id(whole)]
        inherited(self._store, (whole,), made)

    # ------------------------------------------------------------ PrimFuncs

    def _kernel(self, at: int, name: str, args: Sequence[Value]) -> Value:
        linker = self._linker
        func = linker.prim_func(name)
        given = [
            part
            for arg in args
            if arg is not self._state
            for part in (self._fields(arg) if isinstance(arg, ShapeValue) else (arg,))
        ]
        if any(id(arg) in self._heaps for arg in given):
            self._on_heap(at, name, func, given)
            return TupleValue(())
        kernel = linker.prim_funcs.native(func)
        if kernel is None or kernel.valued:
            self._apart.append(at)
            self._fill(given)
            return TupleValue(())
        arrays = kernel_arguments(given)
        if len(arrays) < len(kernel.taken):
            arrays = kernel.completed(arrays)
        tensors = [arg for arg in given if isinstance(arg, Tensor)]
        if not fits(kernel, arrays) or any(t.data.size == 0 for t in tensors):
            raise NoPlan(f"{name} is given other arrays than it takes, or empty ones")
        self._written(at, name, func, given)
        found = [self._passed(arg, taken) for arg, taken in zip(given, kernel.taken, strict=False)]
        ranks = [arg.data.ndim if isinstance(arg, Tensor) else 0 for arg in given]
        for place, axis in kernel.places(ranks):
            found.append(self._of(given[place])[axis])
        self._calls.append((at, kernel, found))
        return TupleValue(())

    def _on_heap(self, at: int, name: str, func: tir.PrimFunc, given: Sequence[Value]) -> None:
        """A PrimFunc that computes with one heap. Most need no machine code."""
        (heap, *others) = given
        if others or not isinstance(heap, Tensor):
            raise NoPlan(f"{name} reads a heap and something else", (at,))
        cells = self._heaps[id(heap)]
        if self._write.on_heap(func, cells):
            heap.data[:] = [cell.seen for cell in cells]
            return
        self._linker.prim_funcs.run(func, name, [heap.data], {})
        self._apart.append(at)
        self._heap(heap)

    def _passed(self, arg: Value, taken: Any) -> Any:
        """The argument of a PrimFunc: a tensor, or a number, which may differ from run to run."""
        if isinstance(arg, Tensor):
            for each in self._of(arg):
                self._write.least(1, each)
            return arg
        assert isinstance(arg, Scalar)
        if is_size(arg) and taken.dtype == INT64:
            return self._number(arg)
        self._fixed([arg])
        return arg.value

    def _written(self, at: int, name: str, func: Any, given: Sequence[Value]) -> None:
        """See to it that a PrimFunc reads nothing that was not written, and note what it writes."""
        runs, blank = self._linker.prim_funcs, self._store.blank
        if any(id(given[k]) in self._pool for k in runs.writes(func) if k < len(given)):
            raise NoPlan(f"{name} writes to a constant")
        unwritten = [k for k, value in enumerate(given) if id(value) in blank]
        if not runs.filled(func).issuperset(unwritten):
            self._apart.append(at)  # it may leave elements unwritten
        self._fill(given)

    def _fill(self, values: Sequence[Value]) -> None:
        """Note that tensors are written."""
        for value in values:
            if isinstance(value, Tensor) and id(value) in self._store.blank:
                self._store.filled(value)

    # ------------------------------------------------------------ the whole

    def _whole(self) -> Written:
        """The function, when all instructions have run."""
        outputs = [self._result(self._registers[r]) for r in self._batch.outputs]
        bases: dict[str, int] = {}
        calls, places = [], []
        for at, kernel, args in self._calls:
            calls.append(KernelCall(kernel, tuple(self._place(arg, bases) for arg in args)))
            places.append(at)
        sequence = KernelSequence(calls, len(bases))
        lines = [*self._write.lines]
        for k, (piece, size) in enumerate(self._pieces):
            lines.append(f"p{k} = Storage(allocate(({size.text},), uint8), d{k})")
            self._scope[f"d{k}"] = piece.device
        lines += self._puts(sequence)
        lines.append(f"failed = sequence(({''.join(f'{base}, ' for base in bases)}))")
        lines.append("if failed: return failed")
        for heap, cells in self._before:
            name = f"v{self._positions[id(heap)]}"
            for at, (cell, now) in enumerate(zip(cells, self._heaps[id(heap)], strict=True)):
                if now != cell:
                    lines.append(f"{name}.data[{at}] = {now.text}")
        lines += [*self._made, f"return ({''.join(f'{each}, ' for each in outputs)})"]
        return self._text(lines, sequence, tuple(places))

    def _place(self, arg: Any, bases: dict[str, int]) -> Any:
        """The places of a call's arguments, or their numbers, as they were."""
        if isinstance(arg, Tensor):
            base, begin = self._lies[id(arg)]
            number = bases.setdefault(base.array, len(bases))
            return ArrayPlace(number, begin.seen, arg.data.shape)
        return arg.seen if isinstance(arg, Number) else arg

    def _puts(self, sequence: KernelSequence) -> list[str]:
        """The lines that put sizes and offsets where the calls read them."""
        made: list[str] = []
        for (_, _, args), at, offsets in zip(
            self._calls, sequence.sizes, sequence.offsets, strict=True
        ):
            for arg, first, offset in zip(args, at, offsets, strict=True):
                sizes: Sizes = (arg,) if isinstance(arg, Number) else ()
                if isinstance(arg, Tensor):
                    sizes = self._of(arg)
                    _, begin = self._lies[id(arg)]
                    if begin.varies:
                        made.append(f"words[{offset}] = {begin.text}")
                for axis, size in enumerate(sizes):
                    if size.varies:
                        made.append(f"memory[{first + axis}] = {size.text}")
        return made

    def _text(
        self, lines: Sequence[str], sequence: KernelSequence | None, places: tuple[int, ...] = ()
    ) -> Written:
        names = "".join(f", v{k}" for k in range(len(self._values)))
        text = f"def run(blank{names}):" + "".join(f"\n {line}" for line in lines)
        return Written(text, self._scope, sequence, places)

    def _result(self, value: Value) -> str:
        """The variable that holds a result; the lines that make it are written."""
        if id(value) in self._positions:
            return f"v{self._positions[id(value)]}"
        found = self._results.get(id(value))
        if found is None:
            text = self._recipe(value)
            found = self._results[id(value)] = f"r{len(self._results)}"
            self._made.append(f"{found} = {text}")
            if isinstance(value, Tensor) and id(value) in self._store.blank:
                self._made.append(f"blank[id({found})] = Blank({found})")
        return found

    def _recipe(self, value: Value) -> str:
        """The expression of a result."""
        if id(value) in self._heaps:
            return f"Tensor(array({_tuple(self._heaps[id(value)])}, int64))"
        match value:
            case Tensor():
                return self._tensor(value)
            case Storage():
                return self._memories[id(value)].owner
            case TupleValue(fields=parts):
                return f"TupleValue(({''.join(f'{self._result(part)}, ' for part in parts)}))"
            case ShapeValue() if any(size.varies for size in self._of(value)):
                return f"ShapeValue({_tuple(self._of(value))})"
            case Scalar() if is_size(value) and self._number(value).varies:
                return f"Scalar({self._number(value).text})"
            case ShapeValue() | Scalar() | DataTypeValue() | StringValue() | Null():
                self._scope[f"u{len(self._results)}"] = value
                return f"u{len(self._results)}"
        raise NoPlan(f"a result is {type(value).__name__}")

    def _tensor(self, value: Tensor) -> str:
        """A tensor in a piece of memory, or in an input, or a view of one."""
        if id(value) in self._pool:
            raise NoPlan("a tensor of the pool is copied each time")
        blank = self._store.blank.get(id(value))
        if blank is not None and blank.written is not None:
            raise NoPlan("a result is written in part")
        base, begin = self._lies[id(value)]
        sizes = _tuple(self._of(value))
        if not base.owner:
            whole = f"v{base.array[1:]}"
            return f"Tensor({base.array}.reshape({sizes}), {whole}.device, {whole}.storage)"
        kind, device = f"e{len(self._results)}", f"f{len(self._results)}"
        self._scope[kind], self._scope[device] = value.data.dtype, value.device
        array = f"ndarray({sizes}, {kind}, {base.array}, {begin.text})"
        return f"Tensor({array}, {device}, {base.owner})"


def _tuple(numbers: Sizes | Sequence[Number]) -> str:
    return f"({''.join(f'{number.text}, ' for number in numbers)})"
