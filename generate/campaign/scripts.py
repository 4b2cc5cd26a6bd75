"""The test that comes with a finding: an expected failure as long as the divergence is there."""

from __future__ import annotations

import re
import signal

from rlx.generate.campaign.finding import Finding

HEAD = '''\
"""{title}

{sentence}
"""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("program.py")

EXPECTED = {expected!r}
"""How it ends: an exception, or a signal's number with a minus."""

STEPS = """
import sys
import tvm
from tvm import relax
text = open(sys.argv[1], encoding="utf-8").read()
{steps}
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
    pytest.xfail("TVM {version}")
'''

VERSION = "0.27.0.post1"

READ = "module = tvm.script.from_source(text, check_well_formed=False)\n"

WELL_FORMED = "assert relax.analysis.check_well_formed(module)"

REFUSED = """\
try:
    module = tvm.script.from_source(text, check_well_formed=False)
except Exception:
    sys.exit(0)
assert not relax.analysis.check_well_formed(module)"""

ROUND_TRIP = """\
import tvm_ffi
again = tvm.script.from_source(module.script(show_meta=True), check_well_formed=False)
assert tvm_ffi.structural_equal(module, again, map_free_vars=True)"""

BUILD = """\
assert relax.analysis.check_well_formed(module)
relax.build(relax.transform.LambdaLift()(module), target="llvm")"""

EXAMINE = """\
from rlx.generate.campaign.oracles import examine
found = examine({oracle!r}, text, "tvm", {seed}, {stage!r})
assert not any(finding.key.partition(' with relax.')[0] == {key!r} for finding in found), found"""


def script(finding: Finding) -> str:
    """The pytest file of a finding."""
    title = f"{finding.kind}: {finding.stage}: {finding.cause}"
    return HEAD.format(
        title=_inside(title),
        sentence=_inside(finding.sentence),
        steps=_steps(finding).replace("\\", "\\\\").replace('"""', '\\"\\"\\"'),
        expected=_expected(finding),
        version=VERSION,
    )


def _expected(finding: Finding) -> str:
    """What the end of the steps has to show: which exception, or which signal."""
    if finding.cause.startswith("signal "):
        return str(-signal.Signals[finding.cause.split()[1]])
    if finding.kind == "hang":
        return "TimeoutExpired"
    raised = None if "examine(" in _steps(finding) else _RAISED.match(finding.sentence)
    return raised[1] if raised is not None else "AssertionError"


_RAISED = re.compile(r"(\w*Error):")


def _inside(text: str) -> str:
    """Text for the inside of a docstring."""
    return text.replace("\\", "\\\\").replace('"', "'")


def _steps(finding: Finding) -> str:
    from rlx.generate.campaign.peer import BEFORE, PASSES

    if finding.kind == "rejected legal" and finding.stage in ("TVM's parser", "TVM's well_formed"):
        return READ + WELL_FORMED
    if finding.kind == "accepted illegal":
        return REFUSED
    if finding.stage == "TVM reads what TVM printed":
        return READ + ROUND_TRIP
    if finding.stage == "TVM's build":
        return READ + BUILD
    if finding.kind in ("crash", "hang") and finding.stage in PASSES:
        chain = (*BEFORE.get(finding.stage, ()), finding.stage)
        return READ + "\n".join(f"module = relax.transform.{name}()(module)" for name in chain)
    # What is compared with the rules needs the rules.
    return EXAMINE.format(
        oracle=finding.oracle,
        seed=finding.seed,
        stage=finding.stage,
        key=finding.key.partition(" with relax.")[0],
    )
