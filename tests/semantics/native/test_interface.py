"""The declaration of kernels that is kept is what cffi makes of it."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import cffi  # type: ignore[import-untyped]
import pytest

from rlx.semantics.native import interface


def test_what_is_kept_is_what_cffi_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = cffi.FFI()
    reader.cdef(interface.DECLARATION)
    reader.set_source("rlx_kernel", None)
    made = tmp_path / "made.py"
    reader.emit_python_code(str(made))
    given: dict[str, object] = {}

    def note(name: str, **tables: object) -> None:
        given.update(tables, name=name)

    monkeypatch.setattr("_cffi_backend.FFI", note)
    runpy.run_path(str(made))
    assert given == {
        "name": "rlx_kernel",
        "_version": interface.VERSION,
        "_types": interface.TYPES,
        "_globals": interface.GLOBALS,
    }


def test_no_parser_of_c_is_loaded() -> None:
    script = (
        "import sys; from rlx.semantics.native.interface import ffi; assert ffi() is ffi(); "
        "sys.exit('pycparser' in sys.modules or 'cffi.cparser' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
