"""Kernels: compiled PrimFuncs that are called on NumPy arrays."""

from __future__ import annotations

import struct
import threading
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

import numpy as np

from rlx.grammar import tir
from rlx.grammar.dtype import DataType
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import Fault, OutOfFuel
from rlx.semantics.native import compiler
from rlx.semantics.native.arrays import GUARDED, Copies, Damaged, tangled
from rlx.semantics.native.program import FIRST_SLOT, Program, generate
from rlx.semantics.native.refusal import refuse
from rlx.semantics.native.writer import Site
from rlx.semantics.tir import evaluate
from rlx.semantics.tir.program import no_value
from rlx.spec.registry import refuted, rule

Argument = np.ndarray[Any, Any] | int | float

MEMORY_LIMIT = 4 << 30
"""Bytes that a call may allocate at a time."""
_ENDLESS = (1 << 63) - 1
_WORKSPACE_LIMIT = 256 << 20


class _Workspace(threading.local):
    """Memory for what kernels allocate, kept from call to call: fresh pages cost more than many kernels."""

    memory: tuple[np.ndarray[Any, Any], int, int] | None = None


_workspace = _Workspace()


class _Entry:
    """One compiled variant of a kernel."""

    __slots__ = ("call", "ffi", "fields", "library", "sites")

    def __init__(self, program: Program) -> None:
        self.library, self.ffi = compiler.library(program.text)
        self.fields = self.ffi.typeof("int64_t[]")
        self.call = self.library.rlx_kernel
        self.sites = program.sites


class Kernel:
    """A PrimFunc as machine code.

    Calling it writes into the arrays among the arguments, in place. Arrays that are not contiguous are
    copied (and copied back where the kernel writes); where such arrays share some of their elements, the
    reference evaluator runs instead. What is not tracked: reads of memory that was never
    written; allocated memory then reads as zero.

    Attributes
    ----------
    source
        The generated C.
    """

    def __init__(
        self, func: tir.PrimFunc, *, bounds: bool = True, vector: int | None = None
    ) -> None:
        self._func = func
        self._bounds = bounds
        self._vector = vector
        program = generate(func, bounds=bounds, disjoint=True, vector=vector)
        self.source = program.text
        self._parameters = [
            (buffer, None if buffer is None else numpy_type(buffer.dtype))
            for _, buffer in program.parameters
        ]
        self._vars = [var for var, _ in program.parameters]
        self._written = program.written
        self._disjoint = _Entry(program)
        self._overlapping: _Entry | None = None

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
            Positions of arrays that hold nothing yet. Accepted for the reference evaluator's sake, unused.
        memory
            Bytes that may be allocated at a time.

        Raises
        ------
        Fault
            `E-tir-argument`, `E-tir-bounds`, `E-tir-divide`, `E-tir-allocate`, `E-tir-cast-range`, …
        OutOfFuel
            `E-tir-fuel`
        """
        if tangled(args, self._written):
            return evaluate(self._func, args, fuel=fuel, unwritten=unwritten, memory=memory)
        fields = [
            _ENDLESS if fuel is None else min(fuel, _ENDLESS),
            memory,
            *[0] * (FIRST_SLOT - 2),
        ]
        copies = Copies(args, self._written)
        self._pass(args, fields, copies)
        stopped = _run(self._disjoint, fields)
        if stopped == _OVERLAP:
            stopped = _run(self._overlapped(), fields)
        copies.finish()
        if stopped is not None:
            _stop(*stopped)
        return self._returned(fields)

    def _returned(self, fields: list[int]) -> int | float | None:
        """The value that the last run left."""
        if not fields[13]:
            if self._func.ret_type is not None:
                no_value(self._func)
            return None
        kind = self._func.ret_type
        if kind is not None and kind.is_float:
            return float(struct.unpack("<d", struct.pack("<q", fields[12]))[0])
        return fields[12] if kind is None or kind.code == "int" else fields[12] % (1 << 64)

    def _overlapped(self) -> _Entry:
        """The variant for arguments that share memory: nothing is reordered."""
        if self._overlapping is None:
            program = generate(self._func, bounds=self._bounds, disjoint=False, vector=self._vector)
            self._overlapping = _Entry(program)
        return self._overlapping

    def _pass(self, args: Sequence[Argument], fields: list[int], copies: Copies) -> None:
        """Append the arguments to the fields; arrays that have to be copied are kept in ``copies``."""
        if len(args) != len(self._parameters):
            args = self._completed(args)
        for position, arg in enumerate(args):
            buffer, wanted = self._parameters[position]
            if buffer is None or wanted is None:
                fields.append(scalar(position, self._vars[position].dtype, arg))
                continue
            array = checked(position, buffer, wanted, arg)
            if GUARDED or not array.flags.carray:
                if position in self._written and not array.flags.writeable:
                    wrong(f"argument {position} ({buffer.name}) is written to and read-only")
                array = copies.compact(position, array)
            fields.append(array.__array_interface__["data"][0])
            fields.extend(array.shape)

    def _completed(self, args: Sequence[Argument]) -> list[Argument]:
        """Arguments with the scalars at the end that the shapes of arrays say."""
        missing = self._parameters[len(args) :]
        if len(args) > len(self._parameters) or any(buffer is not None for buffer, _ in missing):
            expected = len(self._parameters)
            wrong(f"the function takes {expected} arguments and is given {len(args)}")
        sizes: dict[tir.PrimExpr, int] = {}
        for arg, (buffer, _) in zip(args, self._parameters, strict=False):
            if buffer is not None and isinstance(arg, np.ndarray):
                for dim, size in zip(buffer.shape, arg.shape, strict=False):
                    sizes.setdefault(dim, size)
        for var in self._vars[len(args) :]:
            if var not in sizes:
                wrong(f"the argument {var.name} is missing")
        return [*args, *(sizes[var] for var in self._vars[len(args) :])]


def wrong(message: str) -> NoReturn:
    """Raise the fault of an argument that does not fit."""
    refuted("E-tir-argument")
    raise Fault("E-tir-argument", message)


def scalar(position: int, data_type: DataType, value: Argument) -> int:
    """A number as the 64 bits that a kernel is given."""
    if isinstance(value, np.ndarray):
        wrong(f"argument {position} is an array, and the function wants a number")
    if data_type.is_float:
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])
    if isinstance(value, (float, np.floating)):
        wrong(
            f"argument {position} is {value}, and the function wants a number of type {data_type}"
        )
    number = int(value)
    low = -(1 << (data_type.bits - 1)) if data_type.code == "int" else 0
    if not low <= number < low + (1 << data_type.bits):
        wrong(f"argument {position} is {number}, which is no number of type {data_type}")
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def checked(
    position: int, buffer: tir.Buffer, wanted: np.dtype[Any], arg: Argument
) -> np.ndarray[Any, Any]:
    """An argument as the array that a buffer wants."""
    if not isinstance(arg, np.ndarray):
        wrong(f"argument {position} ({buffer.name}) is {type(arg).__name__}, not an array")
    if arg.dtype != wanted:
        wrong(f"argument {position} ({buffer.name}) has elements of {arg.dtype}, not {wanted}")
    if arg.ndim != len(buffer.shape):
        wrong(f"argument {position} ({buffer.name}) has {arg.ndim} axes, not {len(buffer.shape)}")
    return arg


Stopped = tuple[Site | None, int, int]
_OVERLAP: Stopped = (None, 0, 0)
"""What a kernel answers that was compiled for arguments which do not overlap, and met some that do."""


def _run(entry: _Entry, fields: list[int]) -> Stopped | None:
    """Call the machine code; the place where it stopped and two values, or None."""
    memory, _workspace.memory = _workspace.memory, None
    if memory is not None:
        fields[3], fields[4] = memory[1:]
    v = entry.ffi.new(entry.fields, fields)
    failed = entry.call(v)
    fields[12], fields[13] = v[12], v[13]
    wanted = v[6]
    if v[11]:
        raise Damaged("a kernel wrote outside of memory that it allocated")
    if fields[4] < wanted < _WORKSPACE_LIMIT and not GUARDED:
        array = np.empty(wanted + 64, np.uint8)
        memory = (array, (array.__array_interface__["data"][0] + 63) & ~63, wanted)
    _workspace.memory = memory
    if not failed:
        return None
    return _OVERLAP if failed == 2 else (entry.sites[v[8]], v[9], v[10])


def _stop(site: Site | None, a: int, b: int) -> None:
    assert site is not None
    message = site.message
    if site.code != "E-tir-assert":  # that message is the program's
        number = struct.unpack("<d", struct.pack("<q", a))[0]
        message = message.replace("{a}", str(a)).replace("{b}", str(b)).replace("{f}", str(number))
    refuted(site.code)
    kind = OutOfFuel if site.code == "E-tir-fuel" else Fault
    raise kind(site.code, message, site.span)


@rule("E-native", "770b9586")
def compile(func: tir.PrimFunc, *, bounds: bool = True, vector: int | None = None) -> Kernel:
    """Compile a PrimFunc with the system's C compiler, or find it compiled.

    Parameters
    ----------
    bounds
        Whether accesses to buffers are checked; without, a program that indexes out of range may crash
        the process.
    vector
        Bytes of the vectors that reductions are laid out for, at least 1; None for the processor's. Every
        number gives the same results, but for the order of sums.

    Raises
    ------
    NoCompiler
        If there is no compiler; the reference evaluator does without.
    Unsupported
        `E-native-construct`: there is no C for part of the function.
    """
    try:
        return Kernel(func, bounds=bounds, vector=vector)
    except compiler.Refused as error:
        refuse(f"machine code: the C compiler refuses it: {error}")
