"""Calls of PrimFuncs, natively or by the reference evaluator, and of external functions, with
tracking of their writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.semantics.faults import FaultStop, IllFormedStop, OutOfFuelStop, Stop, UnsupportedStop
from rlx.semantics.live_memory import TooMuchMemory, current
from rlx.semantics.machine.builtin_words import TAKES, misused
from rlx.semantics.machine.builtins import BUILTINS, READING
from rlx.semantics.machine.message_text import kind
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.store import Blank, Change, Store, Version
from rlx.semantics.values import (
    UNIT,
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Storage,
    Tensor,
    Value,
    values_inside,
)
from rlx.spec.registry import rule

if TYPE_CHECKING:
    from rlx.semantics.native import Kernel
    from rlx.semantics.tir import SharedFuel


Unwritten = dict[int, np.ndarray[Any, Any] | None]

SHORT = 10_000
"""The limits of iterations and argument elements for tracking a function that may leave elements
unwritten.
"""


KERNELS = 256
"""The number of functions whose machine code is cached, for all programs."""


_KERNELS: dict[tir.PrimFunc, Kernel] = {}
"""Their machine code, the one that was asked for last at the end; programs share it that have the
function in common: a module before and after a pass, or one that is loaded again.
"""


def _kernels(funcs: Sequence[tir.PrimFunc]) -> list[Kernel | UnsupportedStop]:
    """The machine code of functions, or why there is none."""
    from rlx.semantics.native import compile_all

    found: dict[tir.PrimFunc, Kernel | UnsupportedStop] = {
        func: _KERNELS.pop(func) for func in funcs if func in _KERNELS
    }
    missing = [func for func in funcs if func not in found]
    found.update(zip(missing, compile_all(missing), strict=True))
    for func, kernel in found.items():
        if not isinstance(kernel, UnsupportedStop):
            _KERNELS[func] = kernel
    for func in [*_KERNELS][: max(0, len(_KERNELS) - KERNELS)]:
        del _KERNELS[func]
    return [found[func] for func in funcs]


class PrimFuncs:
    """The PrimFuncs of a program.

    Attributes
    ----------
    fuel, stepwise
        The fuel of each run natively, and of each or of all by the reference evaluator.
    call
        The external functions that they may call.
    returned
        The value that the last run returned, if any.
    notes
        The reasons why some of them do not run natively.
    """

    def __init__(
        self,
        backend: str,
        fuel: int | SharedFuel | Mapping[str, int] | None,
        call: Mapping[str, Callable[..., Any]],
    ) -> None:
        self.backend, self.call = backend, call
        self.stepwise = fuel["steps"] if isinstance(fuel, Mapping) else fuel
        native = fuel["native"] if isinstance(fuel, Mapping) else fuel
        self.fuel = native if isinstance(native, int) else None
        self.notes: list[str] = []
        self.returned: int | float | None = None
        self._runners: dict[tir.PrimFunc, Kernel | Exception] = {}
        self._writes: dict[tir.PrimFunc, frozenset[int]] = {}
        self._reads: dict[tir.PrimFunc, frozenset[int]] = {}
        self._fills: dict[tir.PrimFunc, frozenset[int]] = {}
        self._long: set[tir.PrimFunc] = set()

    def run(
        self, func: tir.PrimFunc, name: str, args: Sequence[Any], unwritten: Unwritten
    ) -> Unwritten:
        """Run one on arrays and numbers. `unwritten`: the positions of arrays that are not
        completely written, each with one byte per element that says whether it was written, or None
        if no element was.

        Returns
        -------
        dict
            The same for the positions of ``unwritten``, as far as elements may still not be
            written.
        """
        runner = self.native(func)
        if runner is None:
            return self._tracked(func, args, unwritten, self.stepwise)
        self.returned = None
        if unwritten and not (
            self.filled(func).issuperset(unwritten)
            and all(a.size for a in args if isinstance(a, np.ndarray))
        ):
            left = self._short(func, args, unwritten)
            if left is not None:
                return left
            self._note(f"{name} runs as native code, which does not track unwritten elements")
        self.returned = runner(args, self.fuel)
        untouched = unwritten.keys() - self.writes(func) if unwritten else ()
        return {k: unwritten[k] for k in untouched}

    def native(self, func: tir.PrimFunc) -> Kernel | None:
        """A function as machine code; None if there is none, or it is not requested."""
        if self.backend == "steps":
            return None
        if func not in self._runners:
            self.prepare([func])
        found = self._runners[func]
        if isinstance(found, Exception):
            self._note(f"the reference evaluator runs PrimFuncs: {found}")
            return None
        return found

    def prepare(self, funcs: Sequence[tir.PrimFunc]) -> None:
        """Compile at once those functions that are not yet machine code, if it is requested."""
        from rlx.semantics.native import NoCompiler

        missing = [func for func in dict.fromkeys(funcs) if func not in self._runners]
        if self.backend == "steps" or not missing:
            return
        try:
            self._runners.update(zip(missing, _kernels(missing), strict=True))
        except NoCompiler as reason:
            self._runners.update(dict.fromkeys(missing, reason))

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _tracked(
        self,
        func: tir.PrimFunc,
        args: Sequence[Any],
        unwritten: Unwritten,
        fuel: int | SharedFuel | None,
    ) -> Unwritten:
        """Run by the reference evaluator, which knows what was written."""
        from rlx.semantics.tir import evaluate

        flags = {
            k: np.zeros(args[k].size, np.uint8) if known is None else known.copy()
            for k, known in unwritten.items()
        }
        self.returned = evaluate(func, args, fuel=fuel, call=self.call, unwritten=flags)
        return {
            k: (found if found.any() else None) for k, found in flags.items() if not found.all()
        }

    def _short(
        self, func: tir.PrimFunc, args: Sequence[Any], unwritten: Unwritten
    ) -> Unwritten | None:
        """Run by the reference evaluator if that takes few iterations; else nothing is changed, and
        None.
        """
        limit = self.fuel
        limit = SHORT if limit is None else min(limit, SHORT)
        if func in self._long or sum(a.size for a in args if isinstance(a, np.ndarray)) > SHORT:
            return None
        written = (arg for k, arg in enumerate(args) if k in self.writes(func))
        before = [(arg, arg.copy()) for arg in written if isinstance(arg, np.ndarray)]
        try:
            return self._tracked(func, args, unwritten, limit)
        except (OutOfFuelStop, UnsupportedStop):
            self._long.add(func)
            for array, content in before:
                array[...] = content
            return None

    def _compiled(self, func: tir.PrimFunc) -> Kernel | None:
        """The kernel of a PrimFunc, if there is one already."""
        found = self._runners.get(func)
        return None if isinstance(found, Exception) else found

    def filled(self, func: tir.PrimFunc) -> frozenset[int]:
        """The parameters whose every element a PrimFunc writes before reading it, if no array is
        empty.
        """
        found = self._fills.get(func)
        if found is None:
            kernel = self._compiled(func)
            if kernel is None:
                from rlx.semantics.native.write_analysis import filled  # it imports the prover

                found = filled(func)
            else:
                found = kernel.filled
            self._fills[func] = found
        return found

    def only_reads(self, func: tir.PrimFunc) -> frozenset[int]:
        """The positions of the parameters that a PrimFunc reads and never writes to."""
        found = self._reads.get(func)
        if found is None:
            from rlx.semantics.native.write_analysis import loads

            read = {load.buffer for load in loads(func.body)}
            buffers = ((k, func.buffer_map.get(param)) for k, param in enumerate(func.params))
            found = frozenset(k for k, b in buffers if b in read) - self.writes(func)
            self._reads[func] = found
        return found

    def writes(self, func: tir.PrimFunc) -> frozenset[int]:
        """The positions of the parameters that a PrimFunc may write to: those that are not
        read-only.
        """
        found = self._writes.get(func)
        if found is None:
            kernel = self._compiled(func)
            found = self._writes[func] = writes(func) if kernel is None else kernel.written
        return found


def writes(func: tir.PrimFunc) -> frozenset[int]:
    """The positions of the parameters that a PrimFunc may write to: all, if it is not known which."""
    from rlx.semantics.native.write_analysis import UnknownWritesError, written_parameters

    try:
        return written_parameters(func)
    except UnknownWritesError:
        return frozenset(range(len(func.params)))


def memory(values: Sequence[Value]) -> Iterator[Any]:
    """The arrays of the tensors in values."""
    for value in values_inside(values):
        if isinstance(value, Tensor | Storage):
            yield value.data


@rule("E-packed", "part of a step")
def call_outside(
    store: Store, callee: Value, args: Sequence[Value], new: Sequence[Value] = ()
) -> tuple[Value, Version]:
    """Call a packed function; return its result, and record its changes of arguments in the store.

    ``new`` are arguments without aliases outside this call.
    """
    if isinstance(callee, PrimFuncValue):  # of the module, by its global symbol
        return UNIT, run_prim_func(store, callee, [*args, *new], None)
    if not isinstance(
        callee, Packed
    ):  # OBL-packed refuses what is none, and warns of what may be none
        raise FaultStop("E-packed-func", f"expected a packed function, found {kind(callee)}")
    own = BUILTINS.get(callee.name) is callee
    if own and callee.name in READING:
        readable(store, args, "E-packed-written")
    before = store.before(memory(args))
    try:
        result = callee.call(*args, *new)
    except (Stop, KeyboardInterrupt):
        raise
    except BaseException as error:
        if own:
            raise misused(callee.name, TAKES[callee.name], [*args, *new]) from None
        words = f"{callee.name} raised {type(error).__name__}: {error}"
        raise FaultStop("E-packed-raised", words) from error
    finally:
        version = store.commit(before + ([] if own else written(store, args)))
    if own and isinstance(result, Tensor):
        version = store.commit(inherited(store, args, result))
    if not isinstance(result, Value):
        raise FaultStop(
            "E-packed-value", f"{callee.name} returned {type(result).__name__}, not a value"
        )
    return result, version


def written(store: Store, values: Sequence[Value]) -> list[Change]:
    """Note that tensors, and those in tuples, may have been written."""
    changes: list[Change] = []
    if store.blank:
        for value in values_inside(values):
            if id(value) in store.blank:
                changes += store.filled(store.blank[id(value)].tensor)
    return changes


def inherited(store: Store, args: Sequence[Value], made: Tensor) -> list[Change]:
    """A tensor that the run time made in the memory of another inherits its written elements."""
    for value in args:
        blank = store.blank.get(id(value))
        if blank is not None and made.data.size == blank.tensor.data.size:
            return store.blanked(made, blank.written)
    return []


def kernel_arguments(args: Sequence[Value]) -> list[Any]:
    """Arguments in the form of PrimFuncs: arrays and numbers, with shapes as separate
    dimensions.
    """
    found: list[Any] = []
    for at, value in enumerate(args):
        match value:
            case Tensor(data=data):
                found.append(data)
            case Scalar(value=number):
                found.append(number)
            case ShapeValue(values=numbers):
                found.extend(numbers)
            case _:
                # OBL-passed refuses what is none of these, and warns of what may be none.
                wanted = "a tensor, a scalar or a shape"
                words = f"argument {at} of a PrimFunc: expected {wanted}, found {kind(value)}"
                raise FaultStop("E-prim-func-argument", words, value=value)
    return found


@rule("E-prim-func", "part of a step")
def run_prim_func(
    store: Store,
    callee: Value,
    args: Sequence[Value],
    writes: Collection[int] | None,
    blank: Collection[int] = (),
) -> Version:
    """Run a PrimFunc on values; it may change those at the positions ``writes``.

    ``blank`` are the positions of new, unwritten tensors; None for ``writes`` means any position.
    """
    if not isinstance(callee, PrimFuncValue):  # OBL-callee names a global PrimFunc
        raise IllFormedStop("E-prim-func-callee", f"expected a PrimFunc, found {kind(callee)}")
    numbers = kernel_arguments(args)
    unwritten = _unwritten(store, args, blank)
    for k, known in unwritten.items():
        if known is None and k in store.program.only_reads(callee):
            words = f"argument {k} is read: {Blank(args[k])}"  # type: ignore[arg-type]
            raise FaultStop("E-prim-func-written", words, value=args[k])
    changed = [a for i, a in enumerate(args) if i not in blank and (writes is None or i in writes)]
    changes = store.before(memory(changed))
    try:
        left = store.program.run_prim_func(callee, numbers, unwritten)
        for k in unwritten:
            changes += store.blanked(args[k], left.get(k, _WHOLE))  # type: ignore[arg-type]
    finally:
        version = store.commit(changes)
    return version


_WHOLE = np.ones(1, np.uint8)


def _unwritten(
    store: Store, args: Sequence[Value], blank: Collection[int]
) -> dict[int, np.ndarray[Any, Any] | None]:
    """The positions of tensors that are not whole, each with what was written of it, None if
    nothing.
    """
    found: dict[int, np.ndarray[Any, Any] | None] = dict.fromkeys(blank)
    if store.blank:
        for at, value in enumerate(args):
            known = store.blank.get(id(value))
            if known is not None:
                found[at] = known.written
    return found


def laid_into(storage: object, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
    """A tensor in a piece of memory, beginning at the byte ``offset``.

    Raises
    ------
    Fault
        ``E-alloc-tensor-storage``, ``E-alloc-tensor-fits``
    """
    if not isinstance(storage, Storage):
        raise FaultStop(  # a storage is an Object, and so is much else
            "E-alloc-tensor-storage",
            f"expected a piece of memory for the tensor, found {kind(storage)}",
        )
    end = offset + prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or offset < 0 or end > storage.data.nbytes:
        found = f"bytes {offset} to {end}; the memory has {storage.data.nbytes}"
        raise FaultStop("E-alloc-tensor-fits", f"a tensor of shape {list(shape)} needs {found}")
    data = storage.data[offset:end].view(dtype).reshape(shape)
    return Tensor(data, storage.device, storage)


@rule("E-alloc", "part of a step")
def allocate(shape: Sequence[int], dtype: Any) -> Any:
    """New memory.

    Raises
    ------
    FaultStop
        ``E-alloc-shape``: a negative dimension. ``E-alloc-size``: more bytes than the limit, or
        than is left for the tensors of this run.
    """
    if min(shape, default=0) < 0:
        raise FaultStop("E-alloc-shape", f"the shape {list(shape)} has a negative dimension")
    total = prod(shape) * dtype.itemsize
    if total > LIMIT:
        raise FaultStop("E-alloc-size", f"the tensor needs {total} bytes; the limit is {LIMIT}")
    memory = current()
    try:
        memory.require(total)
        made = np.zeros(tuple(shape), dtype)
    except TooMuchMemory as error:
        raise FaultStop("E-alloc-size", str(error)) from None
    except MemoryError as error:
        raise FaultStop("E-alloc-size", f"out of memory: {error}") from None
    memory.hold(made)
    return made


LIMIT = 1 << 34
"""The maximum number of bytes of a tensor."""
