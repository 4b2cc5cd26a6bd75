"""Plans for other sizes: each number of a plan is computed from the sizes of the inputs.

While a batch is planned, the writer records how each number was computed, as steps that machine
code repeats for other sizes (:mod:`rlx.semantics.native.formulas`). If a decision depended on a
number, the steps check that it has the same outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import INT64
from rlx.semantics.arrays import numpy_type
from rlx.semantics.machine.builtins import IMMEDIATE, LOAD, STORE
from rlx.semantics.machine.prim_funcs import LIMIT
from rlx.semantics.native import formulas
from rlx.semantics.native.formulas import Steps
from rlx.semantics.native.kernel import Kernel
from rlx.semantics.values import (
    DataTypeValue,
    Null,
    Scalar,
    ShapeValue,
    Storage,
    Tensor,
    TupleValue,
    Value,
)
from rlx.vm.batch_plans import CallSlots, PlanFormulas
from rlx.vm.batch_steps import NoFormula, Slots, StepWriter, is_size, word
from rlx.vm.library import UINT8, data_type


class FormulaWriter(StepWriter):
    """Follows the instructions of one batch.

    The planner keeps every known value alive, so no identity is used twice.
    """

    def __init__(self) -> None:
        super().__init__()
        self._of: dict[int, Slots] = {}
        self._begins: dict[int, int | None] = {}
        self._sizes: dict[int, int] = {}
        self._heaps: dict[int, range] = {}
        self._given = 0
        self._arrays: list[range] = []
        self._pieces: list[int] = []

    # ------------------------------------------------------------ values

    def inputs(self, values: Sequence[Value], heaps: Sequence[Tensor]) -> None:
        """Register the inputs: the sizes of values are passed to the steps in this order, and the
        numbers of heaps are read.
        """
        for value in values:
            match value:
                case Tensor(data=data):
                    self._of[id(value)] = self._taken(data.shape)
                    self._begins[id(value)] = None
                case ShapeValue(values=sizes):
                    self._of[id(value)] = self._taken(sizes)
                case Storage(data=data):
                    (self._sizes[id(value)],) = self._taken((data.nbytes,))
                case Scalar(value=number) if is_size(value):
                    self._of[id(value)] = self._taken((number,))
        self._given = len(self._slots)
        for value in values:
            if id(value) not in self._of:
                self.constant(value)
        for heap in heaps:
            cells = self._heap(heap)
            self._arrays.append(cells)
            self._step(formulas.READ, len(self._arrays), cells.start, len(cells))

    def _taken(self, numbers: Sequence[Any]) -> Slots:
        return tuple(self._slot(word(number)) for number in numbers)

    def _heap(self, heap: Tensor) -> range:
        if heap.data.ndim != 1 or heap.data.dtype != np.int64:
            raise NoFormula
        first = len(self._slots)
        self._slots += map(int, heap.data)
        self._heaps[id(heap)] = range(first, len(self._slots))
        return self._heaps[id(heap)]

    def constant(self, value: Value) -> None:
        """Register a value that is the same in every run."""
        match value:
            case Scalar(value=int() as number):
                self._of[id(value)] = (self._constant(int(number)),)
            case ShapeValue(values=sizes) | Tensor(shape=sizes):
                self._of[id(value)] = tuple(map(self._constant, sizes))
                self._begins[id(value)] = None

    def _numbers(self, value: Value) -> Slots:
        try:
            return self._of[id(value)]
        except KeyError:
            raise NoFormula from None

    def _number(self, value: Value) -> int:
        (found,) = self._numbers(value)
        return found

    def _cell(self, heap: Value, place: int) -> int:
        cells = self._heaps.get(id(heap))
        if cells is None or not 0 <= place < len(cells):
            raise NoFormula
        return cells[place]

    def _put(self, to: int, number: int) -> None:
        self._slots[to] = self._slots[number]
        self._step(formulas.COPY, to, number)

    def _read(self, cell: int) -> int:
        """The current number in a slot of a heap."""
        made = self._slot(self._slots[cell])
        self._step(formulas.COPY, made, cell)
        return made

    # ------------------------------------------------------------ run-time functions

    def called(self, name: str, args: Sequence[Value], made: Value) -> None:
        """Record the call of a run-time function; the arguments do not include the machine's state.

        Raises
        ------
        NoFormula
            If it is unknown how the result was computed.
        """
        rule = _RULES.get(name)
        if rule is None:
            raise NoFormula
        rule(self, args, made)

    def _alloc_heap(self, args: Sequence[Value], made: Tensor) -> None:
        (size,) = args
        self._fixed(self._number(size))
        cells = self._heap(made)
        zero = self._constant(0)
        for cell in cells:
            self._step(formulas.COPY, cell, zero)

    def _match_shape(self, args: Sequence[Value], _: Value) -> None:
        value, heap, rank, *program = args
        self._program((rank,))
        self._matched(self._numbers(value), heap, self._program(program))

    def _match_prim(self, args: Sequence[Value], _: Value) -> None:
        value, heap, *program = args
        self._matched((self._number(value),), heap, self._program(program[:2]))

    def _program(self, args: Sequence[Value]) -> list[int]:
        return [self._fixed(self._number(arg)) for arg in args if isinstance(arg, Scalar)]

    def _matched(self, sizes: Slots, heap: Value, program: Sequence[int]) -> None:
        steps = zip(program[::2], program[1::2], strict=True)
        for size, (code, operand) in zip(sizes, steps, strict=True):
            if code == STORE:
                self._put(self._cell(heap, operand), size)
            elif code == IMMEDIATE:
                self._equal(size, self._constant(operand))
            elif code == LOAD:
                self._equal(size, self._cell(heap, operand))

    def _make_shape(self, args: Sequence[Value], made: Value) -> None:
        heap, rank, *program = args
        self._program((rank,))
        codes = self._program(program)
        steps = zip(codes[::2], codes[1::2], strict=True)
        self._of[id(made)] = tuple(self._made(heap, *step) for step in steps)

    def _make_prim(self, args: Sequence[Value], made: Value) -> None:
        heap, code, operand, *kind = args
        number = self._made(heap, *self._program((code, operand)))
        if kind and getattr(kind[0], "value", None) != INT64:
            self._fixed(number)
            self.constant(made)
        else:
            self._of[id(made)] = (number,)

    def _made(self, heap: Value, code: int, operand: int) -> int:
        if code == IMMEDIATE:
            return self._constant(operand)
        return self._read(self._cell(heap, operand))

    def _store_shape(self, args: Sequence[Value], _: Value) -> None:
        shape, heap, *places = args
        program = self._program(places)
        if len(program) != len(places):
            raise NoFormula
        for size, place in zip(self._numbers(shape), program, strict=True):
            self._put(self._cell(heap, place), size)

    def _load_shape(self, args: Sequence[Value], made: Value) -> None:
        heap, *places = args
        self._of[id(made)] = tuple(self._read(self._cell(heap, p)) for p in self._program(places))

    def _alloc_storage(self, args: Sequence[Value], made: Value) -> None:
        size, *rest = args
        kind = next((v.value for v in rest if isinstance(v, DataTypeValue)), UINT8)
        for value in rest:
            if isinstance(value, Scalar):
                self._fixed(self._number(value))
        sizes = self._numbers(size)
        for each in sizes:
            self._least(each, self._constant(0))
        total = self._times(self._product(sizes), self._constant(numpy_type(kind).itemsize))
        self._least(self._constant(LIMIT), total)
        self._sizes[id(made)] = total
        self._pieces.append(total)

    def _alloc_tensor(self, args: Sequence[Value], made: Value) -> None:
        storage, *rest = args
        assert isinstance(made, Tensor)
        if not made.data.size:
            raise NoFormula
        kind = next(k for k in map(data_type, rest) if k is not None)
        shape = next(v for v in rest if isinstance(v, ShapeValue))
        at = next((self._number(v) for v in rest if isinstance(v, Scalar)), self._constant(0))
        sizes, width = self._numbers(shape), numpy_type(kind).itemsize
        for each in sizes:
            self._least(each, self._constant(1))
        self._least(at, self._constant(0))
        if self._varies(at):
            if self._slots[at] % width:
                raise NoFormula
            self._step(formulas.DIVIDES, width, at)
        end = self._plus(at, self._times(self._product(sizes), self._constant(width)))
        if id(storage) not in self._sizes:
            raise NoFormula
        self._least(self._sizes[id(storage)], end)
        self._of[id(made)], self._begins[id(made)] = sizes, at

    def _shape_of(self, args: Sequence[Value], made: Value) -> None:
        (value,) = args
        self._of[id(made)] = self._numbers(value)

    def _reshape(self, args: Sequence[Value], made: Value) -> None:
        whole, shape = args
        sizes = self._numbers(shape)
        for each in sizes:
            self._least(each, self._constant(1))
        self._equal(self._product(self._numbers(whole)), self._product(sizes))
        self._of[id(made)], self._begins[id(made)] = sizes, self._begins[id(whole)]

    def _check(self, args: Sequence[Value], _: Value) -> None:
        self._program(args[1:])  # the rank, if it is one

    def _same(self, args: Sequence[Value], made: Value) -> None:
        """What it gives was there before, or has no number."""
        if not any(made is arg for arg in args) and not isinstance(made, TupleValue | Null):
            raise NoFormula

    def _item(self, args: Sequence[Value], _: Value) -> None:
        self._fixed(self._number(args[1]))

    # ------------------------------------------------------------ kernels

    def heap_kernel(self, kernel: Kernel, args: Sequence[Value]) -> None:
        """Record a kernel that computes with one heap."""
        if len(args) != 1 or len(kernel.taken) != 1 or kernel.entry.takes:
            raise NoFormula
        (heap,) = args
        assert isinstance(heap, Tensor)
        cells = self._heaps[id(heap)]
        self._run(kernel, cells.start, len(cells))
        self._slots[cells.start : cells.stop] = map(int, heap.data)

    def unpacked(self, shape: ShapeValue, scalars: Sequence[Value]) -> None:
        """The dimensions of a shape, as separate arguments."""
        for slot, value in zip(self._numbers(shape), scalars, strict=True):
            self._of[id(value)] = (slot,)

    def kernel(self, kernel: Kernel, args: Sequence[Value]) -> tuple[CallSlots, ...]:
        """The slots of the arguments of a kernel, including those that the kernel adds itself."""
        found: list[CallSlots] = []
        for arg, taken in zip(args, kernel.taken, strict=False):
            if isinstance(arg, Tensor):
                sizes = self._numbers(arg)
                for each in sizes:
                    self._least(each, self._constant(1))
                found.append(CallSlots(sizes, self._begins[id(arg)]))
            elif not is_size(arg):
                found.append(CallSlots((), None))  # the same in every run
            elif taken.dtype == INT64:
                found.append(CallSlots(self._numbers(arg), None))
            else:
                self._fixed(self._number(arg))
                found.append(CallSlots((), None))
        ranks = [arg.data.ndim if isinstance(arg, Tensor) else 0 for arg in args]
        for place, axis in kernel.places(ranks):
            found.append(CallSlots((found[place].numbers[axis],), None))
        return tuple(found)

    # ------------------------------------------------------------ the whole

    def plan(
        self, calls: Sequence[tuple[CallSlots, ...]], results: Sequence[Value]
    ) -> PlanFormulas:
        """The steps of the whole batch, and the slots of the numbers of its results."""
        for k, cells in enumerate(self._arrays, 1):
            self._step(formulas.WRITE, k, cells.start, len(cells))
        shown: list[int] = [*self._pieces]
        places: dict[int, Slots] = {}
        for k, value in enumerate(results):
            slots = self._of_result(value)
            if any(map(self._varies, slots)):
                places[k] = tuple(range(len(shown), len(shown) + len(slots)))
                shown += slots
        first = len(self._slots)
        for slot in shown:
            self._put(self._slot(0), slot)
        steps = Steps(
            self._placed(len(self._arrays)),
            self._slots,
            len(self._arrays),
            self._kernels,
            self._lengths,
        )
        return PlanFormulas(
            steps,
            self._given,
            tuple(calls),
            first,
            len(shown),
            places,
        )

    def _of_result(self, value: Value) -> Slots:
        if id(value) in self._heaps:
            return tuple(self._heaps[id(value)])
        if isinstance(value, Tensor):
            begin = self._begins[id(value)]
            return (*self._numbers(value), self._constant(0) if begin is None else begin)
        if isinstance(value, ShapeValue) or is_size(value):
            return self._numbers(value)
        return ()


_RULES: dict[str, Callable[[FormulaWriter, Sequence[Value], Any], None]] = {
    f"vm.builtin.{name}": rule
    for name, rule in {
        "alloc_shape_heap": FormulaWriter._alloc_heap,
        "alloc_heap": FormulaWriter._alloc_heap,
        "match_shape": FormulaWriter._match_shape,
        "match_prim_value": FormulaWriter._match_prim,
        "make_shape": FormulaWriter._make_shape,
        "make_prim_value": FormulaWriter._make_prim,
        "store_shape": FormulaWriter._store_shape,
        "load_shape": FormulaWriter._load_shape,
        "alloc_storage": FormulaWriter._alloc_storage,
        "alloc_tensor": FormulaWriter._alloc_tensor,
        "shape_of": FormulaWriter._shape_of,
        "reshape": FormulaWriter._reshape,
        "check_tensor_info": FormulaWriter._check,
        "check_shape_info": FormulaWriter._check,
        "check_prim_value_info": FormulaWriter._check,
        "move": FormulaWriter._same,
        "null_value": FormulaWriter._same,
        "make_tuple": FormulaWriter._same,
        "tuple_getitem": FormulaWriter._item,
    }.items()
}
