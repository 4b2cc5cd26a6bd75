"""rejected legal: TVM's build: ValueError: Multinomial_from_uniform op requires the input uniform_sample and sample_indices to have

ValueError: Multinomial_from_uniform op requires the input uniform_sample and sample_indices to have the same batch size. However, the given uniform_sample tensor has batch size `n` and the given sample_indices tensor has batch size `n`
"""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("program.py")

EXPECTED = 'ValueError'
"""How it ends: an exception, or a signal's number with a minus."""

STEPS = """
import sys
import tvm
from tvm import relax
text = open(sys.argv[1], encoding="utf-8").read()
module = tvm.script.from_source(text, check_well_formed=False)
assert relax.analysis.check_well_formed(module)
relax.build(relax.transform.LambdaLift()(module), target="llvm")
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
