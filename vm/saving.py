"""Executables as bytes.

A file consists of eight magic bytes, the version as four bytes, the SHA-256 of everything after it,
the length of the description as eight bytes, the description as JSON, and the words of the
instructions, eight bytes each. All integers are little-endian. Loading a file does not call or
compile anything in it; :mod:`rlx.vm.shipped_code` describes the use of its C code.
"""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Mapping, Sequence
from hashlib import sha256
from stat import S_ISREG
from typing import Any

import numpy as np

from rlx.checker.driver.sources import read_all
from rlx.semantics.live_memory import available
from rlx.vm.checking import complaints
from rlx.vm.constants import ConstantError, found_text, from_json, to_json
from rlx.vm.executable_parts import ExecutableParts, VMFunction
from rlx.vm.file_kind import MAGIC
from rlx.vm.shipped_code import shipped

PathLike = str | os.PathLike[str]

VERSION = 2
_HEAD = struct.Struct("<8sI32s")
_LENGTH = struct.Struct("<Q")
_WORD = np.dtype("<i8")


class LoadError(ValueError):
    """A file or text that is not an executable or is damaged; the message gives the reason."""


def to_bytes(executable: ExecutableParts) -> bytes:
    """An executable as bytes; equal executables give equal bytes."""
    description = json.dumps(described(executable), separators=(",", ":"), sort_keys=True)
    text = description.encode("utf-8", "surrogatepass")
    words = np.array(executable.words, _WORD)
    rest = _LENGTH.pack(len(text)) + text + words.tobytes()
    return _HEAD.pack(MAGIC, VERSION, sha256(rest).digest()) + rest


def read_executable(path: PathLike) -> bytes:
    """The bytes of an executable, or the first ones of another file. Raises OSError if it cannot be
    read.
    """
    with open(path, "rb") as file:
        begin = file.read(len(MAGIC))
        if begin != MAGIC:
            return begin
        found = os.fstat(file.fileno())
        if found.st_size > available():
            raise OSError(errno.EFBIG, "this is longer than the free memory")
        return begin + (file.read() if S_ISREG(found.st_mode) else read_all(file, of_text=False))


def from_bytes(content: bytes, name: str = "the file") -> ExecutableParts:
    """The executable that :func:`to_bytes` wrote. Raises LoadError if the bytes are not an
    executable, are damaged, or have another version.
    """
    try:
        executable = _opened(content)
        wrong = next(complaints(executable), None)
    except LoadError as error:
        raise LoadError(f"{name}: {error}") from None
    if wrong is not None:
        raise LoadError(f"{name}: {wrong}")
    return executable


def _opened(content: bytes) -> ExecutableParts:
    if content[: len(MAGIC)] != MAGIC:
        raise LoadError("expected an executable of rlx, found another file")
    if len(content) < _HEAD.size + _LENGTH.size:
        raise LoadError("the executable is truncated")
    _, version, digest = _HEAD.unpack_from(content)
    if version != VERSION:
        raise LoadError(f"expected an executable of version {VERSION}, found version {version}")
    rest = memoryview(content)[_HEAD.size :]
    if sha256(rest).digest() != digest:
        raise LoadError("the executable is damaged: its checksum is wrong")
    (length,) = _LENGTH.unpack_from(rest)
    text, words = rest[_LENGTH.size :][:length], rest[_LENGTH.size + length :]
    if len(text) != length or len(words) % _WORD.itemsize:
        raise LoadError("the executable is damaged: its lengths are inconsistent")
    try:
        description = json.loads(bytes(text).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise LoadError(f"the description of the executable is not JSON: {error}") from None
    return from_description(description, tuple(np.frombuffer(words, _WORD).tolist()))


def described(executable: ExecutableParts) -> dict[str, Any]:
    """The description of an executable: everything except the words of its instructions, as lists,
    numbers and strings.
    """
    return {
        "functions": [
            [f.name, f.start, f.end, f.num_inputs, f.registers, list(f.parameters)]
            for f in executable.functions
        ],
        "names": list(executable.names),
        "constants": [to_json(value) for value in executable.constants],
        "offsets": list(executable.offsets),
        "kernels": dict(executable.kernels),
        "operators": dict(executable.operators),
        "signatures": dict(executable.signatures),
        "c": dict(shipped(executable)),
    }


def from_description(description: Any, words: Sequence[int]) -> ExecutableParts:
    """The executable made of a description and words. Their consistency is not checked. Raises
    LoadError if a part is missing or has the wrong form.
    """
    match description:
        case {
            "functions": list(functions),
            "names": list(names),
            "constants": list(constants),
            "offsets": list(offsets),
            "kernels": dict(kernels),
            "operators": dict(operators),
            "signatures": dict(signatures),
            "c": dict(code),
        }:
            pass
        case _:
            raise LoadError("the description of the executable has missing or unknown parts")
    if not all(isinstance(name, str) and name for name in names):
        raise LoadError("the table of names contains an entry that is not a name")
    if not all(type(offset) is int for offset in offsets):
        raise LoadError("the offsets of instructions are not integers")
    try:
        pool = tuple(from_json(written) for written in constants)
    except ConstantError as error:
        raise LoadError(str(error)) from None
    return ExecutableParts(
        tuple(_function(written) for written in functions),
        tuple(names),
        pool,
        words,
        tuple(offsets),
        _texts(kernels),
        _texts(operators),
        _texts(signatures),
        _texts(code),
    )


def _function(written: Any) -> VMFunction:
    match written:
        case [str(name), int(start), int(end), int(inputs), int(registers), list(parameters)]:
            if name and all(isinstance(parameter, str) for parameter in parameters):
                return VMFunction(name, start, end, inputs, registers, tuple(parameters))
    raise LoadError(f"expected a function, found {found_text(written)}")


def _texts(found: Mapping[Any, Any]) -> dict[str, str]:
    if not all(isinstance(text, str) for text in found.values()):
        raise LoadError("the functions of the executable are not texts")
    return dict(found)
