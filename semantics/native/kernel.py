"""Kernels: compiled PrimFuncs that are called on NumPy arrays."""

from __future__ import annotations

import struct
import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from rlx.grammar import tir
from rlx.grammar.dtype import DataType
from rlx.semantics.faults import Fault, OutOfFuel, Unsupported
from rlx.semantics.native import compiler
from rlx.semantics.native.program import FIRST_SLOT, Program, generate
from rlx.semantics.native.writer import Site
from rlx.spec.registry import refuted

Argument = np.ndarray[Any, Any] | int | float

MEMORY_LIMIT = 4 << 30
"""Bytes that a call may allocate at a time."""
_ENDLESS = (1 << 63) - 1
_WORKSPACE_LIMIT = 256 << 20


class _Workspace(threading.local):
    """Memory for what kernels allocate, kept from call to call: fresh pages cost more than many kernels."""

    memory: np.ndarray[Any, Any] | None = None


_workspace = _Workspace()


class _Entry:
    """One compiled variant of a kernel."""

    __slots__ = ("call", "ffi", "library", "sites")

    def __init__(self, program: Program) -> None:
        self.library, self.ffi = compiler.library(program.text)
        self.call = self.library.rlx_kernel
        self.sites = program.sites


class Kernel:
    """A PrimFunc as machine code.

    Calling it writes into the arrays among the arguments, in place. Arrays that are not contiguous are
    copied (and copied back where the kernel writes). What is not tracked: reads of memory that was never
    written; allocated memory then reads as zero.

    Attributes
    ----------
    source
        The generated C.
    """

    def __init__(self, func: tir.PrimFunc, *, bounds: bool = True) -> None:
        self._func = func
        self._bounds = bounds
        program = generate(func, bounds=bounds, disjoint=True)
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
    ) -> None:
        """Run on arrays and numbers, in the order of the parameters.

        Parameters
        ----------
        fuel
            The number of loop iterations allowed; None for no limit.
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
        fields = [_ENDLESS if fuel is None else fuel, memory, *[0] * (FIRST_SLOT - 2)]
        arrays, back = self._pass(args, fields)
        entry = self._overlapped() if overlap(arrays, self._written) else self._disjoint
        site = _run(entry, fields)
        for original, copy in back:
            np.copyto(original, copy)
        if site is not None:
            _stop(*site)

    def _overlapped(self) -> _Entry:
        """The variant for arguments that share memory: nothing is reordered."""
        if self._overlapping is None:
            program = generate(self._func, bounds=self._bounds, disjoint=False)
            self._overlapping = _Entry(program)
        return self._overlapping

    def _pass(
        self, args: Sequence[Argument], fields: list[int]
    ) -> tuple[list[np.ndarray[Any, Any] | None], list[tuple[Any, Any]]]:
        if len(args) != len(self._parameters):
            expected = len(self._parameters)
            wrong(f"the function takes {expected} arguments and is given {len(args)}")
        arrays: list[np.ndarray[Any, Any] | None] = []
        back: list[tuple[Any, Any]] = []
        for position, arg in enumerate(args):
            buffer, wanted = self._parameters[position]
            if buffer is None or wanted is None:
                fields.append(scalar(position, self._vars[position].dtype, arg))
                arrays.append(None)
                continue
            array = checked(position, buffer, wanted, arg)
            written = position in self._written
            if written and not array.flags.writeable:
                wrong(f"argument {position} ({buffer.name}) is written to and read-only")
            if not (array.flags.c_contiguous and array.flags.aligned):
                copy = np.array(array, order="C")
                if written:
                    back.append((array, copy))
                array = copy
            arrays.append(array)
            fields.append(array.__array_interface__["data"][0])
            fields.extend(array.shape)
        return arrays, back


def numpy_type(data_type: DataType) -> np.dtype[Any]:
    """The element type of the arrays that a buffer takes."""
    name = str(data_type)
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def wrong(message: str) -> None:
    """Raise the fault of an argument that does not fit."""
    refuted("E-tir-argument")
    raise Fault("E-tir-argument", message)


def scalar(position: int, data_type: DataType, value: Argument) -> int:
    """A number as the 64 bits that a kernel is given."""
    if isinstance(value, np.ndarray):
        wrong(f"argument {position} is an array, and the function wants a number")
    if data_type.is_float:
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])  # type: ignore[arg-type]
    if isinstance(value, (float, np.floating)):
        wrong(
            f"argument {position} is {value}, and the function wants a number of type {data_type}"
        )
    number = int(value)  # type: ignore[arg-type]
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
    assert isinstance(arg, np.ndarray)
    if arg.dtype != wanted:
        wrong(f"argument {position} ({buffer.name}) has elements of {arg.dtype}, not {wanted}")
    if arg.ndim != len(buffer.shape):
        wrong(f"argument {position} ({buffer.name}) has {arg.ndim} axes, not {len(buffer.shape)}")
    return arg


def overlap(arrays: Sequence[np.ndarray[Any, Any] | None], written: frozenset[int]) -> bool:
    """Whether memory that is written to is shared by two arguments."""
    spans = []
    for position, array in enumerate(arrays):
        if array is not None and array.nbytes:
            start = array.__array_interface__["data"][0]
            spans.append((start, start + array.nbytes, position in written))
    spans.sort()
    return any(
        after[0] < before[1] and (before[2] or after[2])
        for at, before in enumerate(spans)
        for after in spans[at + 1 :]
    )


def _run(entry: _Entry, fields: list[int]) -> tuple[Site, int, int] | None:
    """Call the machine code; the place where it stopped and two values, or None."""
    memory, _workspace.memory = _workspace.memory, None
    if memory is not None:
        start = memory.__array_interface__["data"][0]
        fields[3] = (start + 63) & ~63
        fields[4] = memory.nbytes - 64
    v = entry.ffi.new("int64_t[]", fields)
    failed = entry.call(v)
    wanted = v[6]
    if wanted > fields[4] and wanted < _WORKSPACE_LIMIT:
        memory = np.empty(wanted + 64, np.uint8)
    _workspace.memory = memory
    return (entry.sites[v[8]], v[9], v[10]) if failed else None


def _stop(site: Site, a: int, b: int) -> None:
    number = struct.unpack("<d", struct.pack("<q", a))[0]
    message = site.message.replace("{a}", str(a)).replace("{b}", str(b)).replace("{f}", str(number))
    refuted(site.code)
    kind = OutOfFuel if site.code == "E-tir-fuel" else Fault
    raise kind(site.code, message, site.span)


def compile(func: tir.PrimFunc, *, bounds: bool = True) -> Kernel:
    """Compile a PrimFunc with the system's C compiler, or find it compiled.

    Parameters
    ----------
    bounds
        Whether accesses to buffers are checked; without, a program that indexes out of range may crash
        the process.

    Raises
    ------
    NoCompiler
        If there is no compiler; the reference evaluator does without.
    Unsupported
        `E-native-construct`: there is no C for part of the function.
    """
    try:
        return Kernel(func, bounds=bounds)
    except compiler.Refused as error:
        raise Unsupported("E-native-construct", f"the C compiler refuses: {error}") from error
