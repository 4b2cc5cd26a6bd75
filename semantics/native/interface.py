"""The C declaration of a kernel, as cffi prepares it for programs that load libraries.

To read a declaration, cffi loads a parser of C, which takes as long as a kernel takes to compile.
So what that parser gives is kept here. A test makes it anew and compares.
"""

from __future__ import annotations

from functools import cache
from typing import Any

DECLARATION = "int32_t rlx_kernel(int64_t *v, void **p);"
VERSION = 0x2601
TYPES = (
    b"\x00\x00\x04\x0d\x00\x00\x05\x03\x00\x00\x06\x03\x00\x00\x00\x0f"
    b"\x00\x00\x15\x01\x00\x00\x17\x01\x00\x00\x07\x03\x00\x00\x00\x01"
)
GLOBALS = (b"\x00\x00\x00\x23rlx_kernel", 0)


@cache
def ffi() -> Any:
    """The object that loads libraries with a kernel, and makes what it is called with."""
    import _cffi_backend  # type: ignore[import-untyped]

    return _cffi_backend.FFI("rlx_kernel", _version=VERSION, _types=TYPES, _globals=GLOBALS)
