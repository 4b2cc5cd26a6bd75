"""wrong code: TVM's virtual machine: another value with relax.nn.nll_loss

main: what the rules give and what TVM returns: 1 of 1 elements, at (): nan became 4.172325134277344e-07
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
from rlx.generate.campaign.oracles import examine
found = examine('run', text, "tvm", 3000000102, "TVM's virtual machine")
assert not any(finding.key.partition(' with relax.')[0] == "run/wrong code/TVM's virtual machine/another value" for finding in found), found
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
