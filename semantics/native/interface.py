"""The C declaration of a kernel in cffi's precompiled form.

To parse a declaration, cffi loads a C parser, which takes as long as the compilation of a kernel.
So the result is stored here. A test recomputes it and compares.
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
    """The cffi object that loads kernels and makes their arguments."""
    import _cffi_backend  # type: ignore[import-untyped]

    return _cffi_backend.FFI("rlx_kernel", _version=VERSION, _types=TYPES, _globals=GLOBALS)
