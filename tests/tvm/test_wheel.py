"""The Python files of TVM's own wheel hold no errors: about 890 files, and about 50 with Relax or TIR in them.

Each file that mentions a decorator of Relax is checked. ``RLX_WHEEL=all`` has every file of the wheel read, which takes half a
minute.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.checker.driver.sources import find

pytest.importorskip("tvm")

import tvm

ROOT = Path(tvm.__file__).parent


def _files() -> list[str]:
    if os.environ.get("RLX_WHEEL") == "all":
        return sorted(map(str, ROOT.rglob("*.py")))
    return find([str(ROOT)])[0]


def test_no_file_of_the_wheel_has_an_error_or_a_warning() -> None:
    files = _files()
    assert len(files) >= 40
    found: list[str] = []
    modules = 0
    for path in files:
        report = check_text(Path(path).read_text(), path)
        modules += len(report.modules)
        found += [
            f"{path}: {d.code} {d.message}" for d in report.diagnostics if d.severity != "note"
        ]
    assert not found
    assert modules >= 130
