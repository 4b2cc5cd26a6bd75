"""Kernels: compiled PrimFuncs that are called on NumPy arrays."""

from __future__ import annotations

import builtins
import struct
import sys
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import FaultStop, OutOfFuelStop, Stop, UnsupportedStop
from rlx.semantics.native import compiler
from rlx.semantics.native.arrays import GUARDED, Copies, tangled
from rlx.semantics.native.c_program import CProgram, parameters
from rlx.semantics.native.c_types import refuse, wrapped
from rlx.semantics.native.frame import (
    FIRST_SLOT,
    FIRST_VALUE,
    FUEL,
    HAS_RETURNED,
    LEFT,
    RETURNED,
    SECOND_VALUE,
    SITE,
)
from rlx.semantics.native.interface import ffi
from rlx.semantics.native.kept import kept
from rlx.semantics.native.together import LoadedKernel, entries
from rlx.semantics.native.workspace import call_with_memory
from rlx.semantics.native.writer import StopSite
from rlx.spec.registry import refuted, rule

Argument = np.ndarray[Any, Any] | int | float

MEMORY_LIMIT = 4 << 30
"""The maximum number of bytes that a call may have allocated at one time."""
ENDLESS = sys.maxsize


class _Frame(NamedTuple):
    """The arguments that a kernel is called with: its numbers, the addresses of the arrays, and the
    shapes that the numbers have.
    """

    numbers: Any
    places: Any
    shapes: list[tuple[int, ...] | None]


class Variant:
    """One compiled variant of a kernel."""

    __slots__ = ("call", "ffi", "library", "returns", "sites", "takes")

    def __init__(self, program: CProgram, entry: LoadedKernel) -> None:
        self.call, self.library = entry
        self.ffi = ffi()
        self.sites = program.sites
        self.takes = program.allocates
        self.returns = program.returns


class Taken(NamedTuple):
    """The requirements on one argument: an array of a type and a rank, or a number (no type).

    ``rank`` is also how many of the numbers of a call belong to it, which is 1 for a number.
    """

    buffer: tir.Buffer | None
    wanted: np.dtype[Any] | None
    rank: int
    dtype: DataType
    written: bool


class Kernel:
    """A PrimFunc as machine code.

    Calling it writes into the arrays among the arguments, in place. Arrays that are not contiguous
    are copied (and copied back where the kernel writes); where such arrays share some of their
    elements, the reference evaluator runs instead. Reads of unwritten memory are not detected;
    allocated memory reads as zero.

    Attributes
    ----------
    taken
        The requirements on each argument.
    valued
        Whether a call may return a value.
    entry
        The variant for arguments that share no memory.
    written, filled
        The positions of arrays that are written to, and of those that are written completely before
        they are read.
    """

    def __init__(
        self, func: tir.PrimFunc, bounds: bool, program: CProgram, entry: LoadedKernel
    ) -> None:
        self._func = func
        self._bounds = bounds
        self._program = program
        self.written = program.written
        self.filled = program.filled
        self.taken = [
            Taken(None, None, 1, var.dtype, at in self.written)
            if buffer is None
            else Taken(
                buffer,
                numpy_type(buffer.dtype),
                len(buffer.shape),
                buffer.dtype,
                at in self.written,
            )
            for at, (var, buffer) in enumerate(program.parameters)
        ]
        self.valued = program.returns or func.ret_type is not None
        self._vars = [var for var, _ in program.parameters]
        self.entry = Variant(program, entry)
        self._address = self.entry.ffi.from_buffer
        self._frames: list[_Frame] = []
        self._take: Callable[[Sequence[Argument], _Frame], bool] | None = None
        self._arrays = sum(taken.buffer is not None for taken in self.taken)
        self._numbers = FIRST_SLOT + sum(taken.rank for taken in self.taken)
        self.general_variant: Variant | None = None

    @property
    def source(self) -> str:
        """The generated C."""
        return self._program.text

    def __call__(
        self,
        args: Sequence[Argument],
        fuel: int | None = None,
        unwritten: Collection[int] = (),
        *,
        memory: int = MEMORY_LIMIT,
    ) -> int | float | None:
        """Run on arrays and numbers, in the order of the parameters; the value it returns, if any.

        Parameters
        ----------
        fuel
            Units of fuel for iterations of loops (E-tir-fuel); None for no limit.
        unwritten
            Positions of arrays that hold nothing yet. Accepted for the reference evaluator's sake,
            unused.
        memory
            Bytes that may be allocated at a time.

        Raises
        ------
        FaultStop
            `E-tir-argument`, `E-tir-bounds`, `E-tir-divide`, `E-tir-allocate`, `E-tir-cast-range`,
            …
        OutOfFuelStop
            `E-tir-fuel`
        """
        frame = self._frame()
        if self._take is None:
            self._take = self._in_place()
        if self._take(args, frame):
            stopped = self._run(frame, fuel, memory)
        elif tangled(args, self.written):
            from rlx.semantics.tir import evaluate

            return evaluate(self._func, args, fuel=fuel, unwritten=unwritten, memory=memory)
        else:
            copies = Copies(args, self.written)
            self._pass(args, frame, copies)
            stopped = self._run(frame, fuel, memory)
            copies.finish()
        if stopped is not None:
            raise stop_of(*stopped)
        returned = self._returned(frame.numbers) if self.valued else None
        self._frames.append(frame)
        return returned

    def _frame(self) -> _Frame:
        """A frame that no call uses."""
        try:
            return self._frames.pop()
        except IndexError:
            new = self.entry.ffi.new
            numbers, places = new("int64_t[]", self._numbers), new("void *[]", self._arrays)
            return _Frame(numbers, places, [None] * self._arrays)

    def _run(self, frame: _Frame, fuel: int | None, memory: int) -> Stopped | None:
        """Run the machine code; the place where it stopped and two values, or None."""
        variant = self.entry
        failed = _call(variant, frame, fuel, memory)
        if failed == LEFT:
            variant = self.general()
            failed = _call(variant, frame, fuel, memory)
        if not failed:
            return None
        numbers = frame.numbers
        return variant.sites[numbers[SITE]], numbers[FIRST_VALUE], numbers[SECOND_VALUE]

    def _returned(self, numbers: Any) -> int | float | None:
        """The value that the last run left."""
        if not numbers[HAS_RETURNED]:
            if self._func.ret_type is not None:
                from rlx.semantics.tir.program import no_value

                no_value(self._func)
            return None
        value: int = numbers[RETURNED]
        kind = self._func.ret_type
        if kind is not None and kind.is_float:
            return _as_float(value)
        return value if kind is None else wrapped(value, kind)

    def general(self) -> Variant:
        """The variant for arguments that share memory or are very large, without reordering."""
        if self.general_variant is None:
            from rlx.semantics.native.program import generate

            vector = self._program.vector
            program = generate(self._func, bounds=self._bounds, disjoint=False, vector=vector)
            [entry] = entries([program])
            if isinstance(entry, compiler.CompilerGaveUp):
                raise entry
            self.general_variant = Variant(program, entry)
        return self.general_variant

    def _in_place(self) -> Callable[[Sequence[Argument], _Frame], bool]:
        """The function that puts arguments into a frame, unless one cannot be used where it is; it
        is made at the first call.
        """
        scope: dict[str, Any] = {"ndarray": np.ndarray, "measure": _measure, "scalar": scalar}
        scope["address"] = self._address
        for k, (_, wanted, _, dtype, _) in enumerate(self.taken):
            scope |= {f"w{k}": wanted, f"d{k}": dtype}
        exec(_taking(tuple((t.wanted is None, t.rank, t.written) for t in self.taken)), scope)  # noqa: S102
        made: Callable[[Sequence[Argument], _Frame], bool] = scope["take"]
        return made

    def _pass(self, args: Sequence[Argument], frame: _Frame, copies: Copies) -> None:
        """Put the arguments into the frame, or their copies, which ``copies`` keeps."""
        if len(args) != len(self.taken):
            args = self.completed(args)
        at, count = FIRST_SLOT, 0
        for position, arg in enumerate(args):
            buffer, wanted, rank, dtype, written = self.taken[position]
            if buffer is None or wanted is None:
                frame.numbers[at] = scalar(position, dtype, arg)
                at += rank
                continue
            array = checked(position, buffer, wanted, arg)
            if GUARDED or not array.flags.carray:
                if written and not array.flags.writeable:
                    where = f"argument {position} ({buffer.name})"
                    wrong(f"{where} is read-only, but the function writes to it")
                array = copies.compact(position, array)
            frame.places[count] = self._address(array)
            _measure(frame, count, at, array.shape)
            count += 1
            at += rank

    def completed(self, args: Sequence[Argument]) -> list[Argument]:
        """The arguments, completed by trailing scalars that the shapes of arrays determine."""
        missing = self.taken[len(args) :]
        if len(args) > len(self.taken) or any(taken.buffer is not None for taken in missing):
            expected = len(self.taken)
            wrong(f"the function takes {expected} arguments, found {len(args)}")
        places = self.places([arg.ndim if isinstance(arg, np.ndarray) else 0 for arg in args])
        return [*args, *(args[at].shape[axis] for at, axis in places)]  # type: ignore[union-attr]

    def places(self, ranks: Sequence[int]) -> list[tuple[int, int]]:
        """For each omitted trailing scalar, the argument and the axis that determine it.

        Parameters
        ----------
        ranks
            The ranks of the given arguments; 0 if not an array.
        """
        places: dict[tir.PrimExpr, tuple[int, int]] = {}
        for at, (rank, taken) in enumerate(zip(ranks, self.taken, strict=False)):
            shape = () if taken.buffer is None else taken.buffer.shape[:rank]
            for axis, dim in enumerate(shape):
                places.setdefault(dim, (at, axis))
        for var in self._vars[len(ranks) :]:
            if var not in places:
                wrong(f"the argument {var.name} is missing")
        return [places[var] for var in self._vars[len(ranks) :]]


def wrong(message: str) -> NoReturn:
    """Raise the fault of an invalid argument."""
    refuted("E-tir-argument")
    raise FaultStop("E-tir-argument", message)


def scalar(position: int, data_type: DataType, value: Argument) -> int:
    """A number as the 64 bits that are passed to a kernel."""
    if not isinstance(value, (int, float, np.generic)):
        from rlx.semantics.tir.arguments import only_number

        only_number(position, value)
    if data_type.is_float:
        [bits] = struct.unpack("<q", struct.pack("<d", float(value)))
        return int(bits)
    if isinstance(value, (float, np.floating)):
        wrong(f"argument {position}: expected a number of type {data_type}, found {value}")
    number = int(value)
    low, high = limits(data_type)
    if not low <= number <= high:
        wrong(f"argument {position}: {number} does not fit into {data_type}")
    return wrapped(number, INT64)


def _as_float(bits: int) -> float:
    """The number of a float64 with these bits."""
    [number] = struct.unpack("<d", struct.pack("<q", bits))
    return float(number)


def checked(
    position: int, buffer: tir.Buffer, wanted: np.dtype[Any], arg: Argument
) -> np.ndarray[Any, Any]:
    """An argument, checked and converted to the array of a buffer."""
    if not isinstance(arg, np.ndarray):
        found = f"an array, found {type(arg).__name__}"
    elif arg.dtype != wanted:
        found = f"elements of {wanted}, found {arg.dtype}"
    elif arg.ndim != len(buffer.shape):
        found = f"{len(buffer.shape)} axes, found {arg.ndim}"
    else:
        return arg
    wrong(f"argument {position} ({buffer.name}): expected {found}")


Stopped = tuple[StopSite, int, int]


def _measure(frame: _Frame, count: int, at: int, shape: tuple[int, ...]) -> None:
    """Put the shape of an array into the numbers of a frame."""
    frame.shapes[count] = shape
    for axis, dim in enumerate(shape):
        frame.numbers[at + axis] = dim


@lru_cache(maxsize=1024)
def _taking(kinds: tuple[tuple[bool, int, bool], ...]) -> CodeType:
    """The code of ``take``, for arguments of these kinds: whether one is a number, its rank, and
    whether it is written to. A loop over the arguments would take twice the time.
    """
    lines = ["def take(args, frame):"]
    if GUARDED:
        lines.append(" return False")
    lines.append(f" if len(args) != {len(kinds)}: return False")
    lines.append(f" [{', '.join(f'a{k}' for k in range(len(kinds)))}] = args")
    lines.append(" numbers, places, shapes = frame")
    at, count = FIRST_SLOT, 0
    for k, (is_number, rank, written) in enumerate(kinds):
        if is_number:
            lines.append(f" numbers[{at}] = scalar({k}, d{k}, a{k})")
        else:
            usable = "" if written else " and not (flags.c_contiguous and flags.aligned)"
            lines += [
                f" if type(a{k}) is not ndarray or a{k}.dtype is not w{k} and a{k}.dtype != w{k}:",
                "  return False",
                f" flags, shape = a{k}.flags, a{k}.shape",
                f" if not flags.carray{usable}: return False",
                f" if shapes[{count}] != shape:",
                f"  if len(shape) != {rank}: return False",
                f"  measure(frame, {count}, {at}, shape)",
                f" places[{count}] = address(a{k})",
            ]
            count += 1
        at += rank
    text = "\n".join([*lines, " return True"])
    return builtins.compile(text, "<arguments of a kernel>", "exec")


def _call(variant: Variant, frame: _Frame, fuel: int | None, memory: int) -> int:
    """Call the machine code; 0, or how it ended before its end."""
    v = frame.numbers
    v[FUEL] = ENDLESS if fuel is None else min(fuel, ENDLESS)
    if variant.returns:
        v[HAS_RETURNED] = 0
    if variant.takes:
        failed: int = call_with_memory(variant.call, v, frame.places, memory)
    else:
        failed = variant.call(v, frame.places)
    return failed


def stop_of(site: StopSite, a: int, b: int) -> Stop:
    """The exception for a kernel that stopped at a site with two values."""
    message = site.message
    if site.code != "E-tir-assert":  # that message is the program's
        message = message.replace("{a}", str(a)).replace("{b}", str(b))
        message = message.replace("{f}", str(_as_float(a)))
    refuted(site.code)
    kind = OutOfFuelStop if site.code == "E-tir-fuel" else FaultStop
    return kind(site.code, message, site.span)


def compile(func: tir.PrimFunc, *, bounds: bool = True, vector: int | None = None) -> Kernel:
    """Compile a PrimFunc with the system's C compiler, or find it in the cache.

    Parameters
    ----------
    bounds
        Whether accesses to buffers are checked; without checks, a program that indexes out of range
        may crash the process.
    vector
        The vector size in bytes for reductions, at least 1; None for the processor's. It only
        affects the order of sums.

    Raises
    ------
    NoCompiler
        If there is no compiler; the reference evaluator needs none.
    UnsupportedStop
        `E-native-construct`: there is no C for part of the function.
    """
    [made] = compile_all([func], bounds=bounds, vector=vector)
    if isinstance(made, UnsupportedStop):
        raise made
    return made


@rule("E-native", "native code")
def compile_all(
    funcs: Sequence[tir.PrimFunc], *, bounds: bool = True, vector: int | None = None
) -> list[Kernel | UnsupportedStop]:
    """As :func:`compile`, for several PrimFuncs at once, which takes much less time. Where one
    has no machine code, the list has the reason.

    Raises
    ------
    NoCompiler
        If there is no compiler.
    """
    programs = kept(
        f"kernels {bounds} {vector}", tuple(funcs), lambda: _programs(funcs, bounds, vector)
    )
    for func, program in zip(funcs, programs, strict=True):
        if isinstance(program, CProgram):
            program.parameters = parameters(func)  # those of this function, not of a copy
    ready = iter(entries([each for each in programs if isinstance(each, CProgram)]))
    made: list[Kernel | UnsupportedStop] = []
    for func, program in zip(funcs, programs, strict=True):
        if isinstance(program, UnsupportedStop):
            made.append(program)
        elif isinstance(entry := next(ready), compiler.CompilerGaveUp):
            made.append(_rejected(entry))
        else:
            made.append(Kernel(func, bounds, program, entry))
    return made


def _programs(
    funcs: Sequence[tir.PrimFunc], bounds: bool, vector: int | None
) -> list[CProgram | UnsupportedStop]:
    """The C code of PrimFuncs, or why there is none."""
    from rlx.semantics.native.program import generate  # if the cache has the code, none is made

    programs: list[CProgram | UnsupportedStop] = []
    for func in funcs:
        try:
            programs.append(generate(func, bounds=bounds, disjoint=True, vector=vector))
        except UnsupportedStop as reason:
            programs.append(reason)
    return programs


def _rejected(error: compiler.CompilerGaveUp) -> UnsupportedStop:
    try:
        refuse(f"machine code: the C compiler rejects it: {error}")
    except UnsupportedStop as stop:
        return stop
