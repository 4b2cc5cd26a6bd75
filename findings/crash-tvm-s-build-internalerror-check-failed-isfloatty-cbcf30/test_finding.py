"""crash: TVM's build: InternalError: Check failed: (IsFloatType(a.ty())) is false: T.te.tensor_load(metadata[Q], N)

InternalError: Check failed: (IsFloatType(a.ty())) is false: T.te.tensor_load(metadata['te.Tensor'][0], ax0) # Metadata omitted. Use show_meta=True in script() method to show it.
"""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("program.py")

STEPS = """
import sys
import tvm
from tvm import relax
text = open(sys.argv[1], encoding="utf-8").read()
module = tvm.script.from_source(text, check_well_formed=False)
assert relax.analysis.check_well_formed(module)
relax.build(relax.transform.LambdaLift()(module), target="llvm")
"""


@pytest.mark.xfail(strict=True, reason="TVM 0.27.0.post1")
def test_finding() -> None:
    # In a process of its own: some of these end the process.
    done = subprocess.run(
        [sys.executable, "-c", STEPS, str(PROGRAM)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
