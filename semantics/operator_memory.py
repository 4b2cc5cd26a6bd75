"""The memory that NumPy allocates while an operator computes.

NumPy lets a program replace the functions that allocate the data of arrays (NEP 49), for the
current context alone. Ours refuse a large piece if the process would grow too much by it. NumPy
itself still frees the memory, so arrays may outlive the context.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import local
from typing import Any

from rlx.semantics.live_memory import TooMuchMemory, current, in_words

LARGE = 1 << 20
"""The bytes from which a piece counts: to look at each of the small ones takes longer than they
do.
"""

_SET, _GET = 304, 305
"""The places of ``PyDataMem_SetHandler`` and ``PyDataMem_GetHandler`` in the table of NumPy's C
API, to which compiled extensions refer by number, too.
"""

_Pointer, _Size = ctypes.c_void_p, ctypes.c_size_t
_Malloc = ctypes.PYFUNCTYPE(_Pointer, _Pointer, _Size)
_Calloc = ctypes.PYFUNCTYPE(_Pointer, _Pointer, _Size, _Size)
_Realloc = ctypes.PYFUNCTYPE(_Pointer, _Pointer, _Pointer, _Size)


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler`` of NumPy."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", _Pointer),
        ("malloc", _Malloc),
        ("calloc", _Calloc),
        ("realloc", _Realloc),
        ("free", _Pointer),
    )


class _Room(local):
    """The memory that this thread's operator may take.

    Attributes
    ----------
    most
        The bytes that this process may have.
    refused
        Whether it would have had more.
    """

    most = float("inf")
    refused = False

    def admits(self, size: int) -> bool:
        """Whether there is room for another piece."""
        if size < LARGE or _resident() + size <= self.most:
            return True
        self.refused = True
        return False


_room = _Room()


@contextmanager
def bounded() -> Iterator[None]:
    """Limit what an operator takes while it computes to what is left for the tensors of this run.

    Where the system does not tell the memory of a process, nothing is limited.

    Raises TooMuchMemory if it needs more.
    """
    try:
        before = _resident()
    except OSError:
        yield
        return
    memory = current()
    free, outer = memory.free, _room.most
    _room.most, _room.refused = before + free, False
    set_handler, ours = _exchange()
    earlier = set_handler(ours)
    try:
        yield
    except MemoryError:
        if not _room.refused:
            raise
        raise TooMuchMemory(
            f"the operator needs more than {in_words(free)} while it computes,"
            f" {in_words(memory.live)} are in use, and the limit is {in_words(memory.limit)}"
        ) from None
    finally:
        set_handler(earlier)
        _room.most = outer


def _resident() -> int:
    """The bytes of memory that this process has. Raises OSError if the system does not tell."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


@cache
def _exchange() -> tuple[Any, Any]:
    """The function of NumPy that takes a handler and returns the earlier one, and our handler."""
    api = import_module("numpy._core._multiarray_umath")._ARRAY_API
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = _Pointer
    python.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = _Pointer, ctypes.c_char_p, _Pointer
    address = python.PyCapsule_GetPointer(api, None)
    table = ctypes.cast(address, ctypes.POINTER(_Pointer))
    get_handler = ctypes.PYFUNCTYPE(ctypes.py_object)(table[_GET])
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET])

    name = b"mem_handler"
    usual = _Handler.from_address(python.PyCapsule_GetPointer(get_handler(), name))
    made = _Handler.from_buffer_copy(usual)
    made.name = b"rlx"

    def malloc(context: Any, size: int) -> Any:
        return usual.malloc(context, size) if _room.admits(size) else None

    def calloc(context: Any, count: int, size: int) -> Any:
        return usual.calloc(context, count, size) if _room.admits(count * size) else None

    def realloc(context: Any, piece: Any, size: int) -> Any:
        return usual.realloc(context, piece, size) if _room.admits(size) else None

    made.malloc, made.calloc, made.realloc = _Malloc(malloc), _Calloc(calloc), _Realloc(realloc)
    kept = ctypes.py_object((usual, made))
    python.Py_IncRef(kept)  # arrays call `free` of this handler until the process ends
    return set_handler, python.PyCapsule_New(ctypes.addressof(made), name, None)
