"""unparsable print: TVM reads what TVM printed: opaque function types differ

the module that is read back is not structurally equal, at <root>.functions[I.GlobalVar('main')].ty.params[0].derive_func
"""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("program.py")

EXPECTED = 'AssertionError'
"""How it ends: an exception, or a signal's number with a minus."""

STEPS = """
import sys
import tvm
from tvm import relax
text = open(sys.argv[1], encoding="utf-8").read()
module = tvm.script.from_source(text, check_well_formed=False)
import tvm_ffi
again = tvm.script.from_source(module.script(show_meta=True), check_well_formed=False)
assert tvm_ffi.structural_equal(module, again, map_free_vars=True)
"""


def test_finding() -> None:
    # In a process of its own: some of these end the process.
    command = [sys.executable, "-c", STEPS, str(PROGRAM)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired as error:
        ended = repr(error)
    else:
        assert done.returncode != 0, "mended: there is no divergence any more"
        ended = str(done.returncode) if done.returncode < 0 else done.stderr
    assert EXPECTED in ended, ended[-2000:]
    pytest.xfail("TVM 0.27.0.post1")
