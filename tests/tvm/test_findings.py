"""Each finding is still there: TVM does what the file's header says, judged without our checker and machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from ctypes import CDLL
from pathlib import Path

import pytest
import tvm  # noqa: F401 - processes that are forked have it
from tvm import relax  # noqa: F401

from rlx.generate.campaign.finding_file import FindingFile, read_entries
from rlx.generate.campaign.peer import version
from rlx.generate.campaign.replay import replay
from rlx.grammar.nodes.node import replace

ENTRIES = read_entries(Path(__file__).parents[2] / "findings")
BY_PATH = {entry.path: entry for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path)
def test_it_is_seen(entry: FindingFile) -> None:
    assert entry.tvm == version()
    with filled_memory() if entry.trait == "unwritten" else nullcontext():
        assert replay(entry) == ""


@contextmanager
def filled_memory() -> Iterator[None]:
    """New memory is full of something: it might hold just what is expected."""
    allocator = CDLL(None)
    perturb = -6  # M_PERTURB of glibc's mallopt; processes that are forked have it, too
    allocator.mallopt(perturb, 0x5A)
    try:
        yield
    finally:
        allocator.mallopt(perturb, 0)


XOR = BY_PATH["wrong-code/LegalizeOps-logical_xor-of-integers-is-bitwise.rlx"]
FOLDED = BY_PATH["crash/FoldConstant-division-by-zero.rlx"]
SQUEEZE = BY_PATH["accepts-illegal/well_formed-squeeze-of-a-long-axis.rlx"]
SPLIT = BY_PATH["accepts-illegal/well_formed-split-indices-descend.rlx"]
LOST = BY_PATH["wrong-code/RemovePurityChecking-nested-function-loses-its-result-type.rlx"]
PRINTED = BY_PATH["prints-wrong/printer-opaque-function-type.rlx"]

NOT_SEEN = (
    (replace(XOR, numpy="np.array([2, 0])"), "TVM returns what is expected"),
    (replace(XOR, returns="np.array([1, 0])"), "TVM returns something else"),
    (replace(FOLDED, program=FOLDED.program.replace("zeros", "ones")), "the process does not end"),
    (replace(FOLDED, signal="SIGSEGV"), "the process ends with SIGFPE"),
    (replace(SQUEEZE, refuted="np.squeeze(x)"), "NumPy accepts"),
    (replace(SPLIT, program=SPLIT.program.replace("[5, 3]", "[1]")), "build does not fail"),
    (replace(SPLIT, error="another message"), "build fails with another message"),
    (replace(SPLIT, see="read; build"), "build fails: "),
    (replace(LOST, prints="is not there"), "the module has no"),
    (replace(LOST, prints="R.Tensor((2, k)"), "the program itself has"),
    (replace(PRINTED, differs=".body"), "the first difference is at"),
    (replace(XOR, numpy="numpy.load('x')"), "cannot evaluate"),
)


@pytest.mark.parametrize(("entry", "said"), NOT_SEEN, ids=[said for _, said in NOT_SEEN])
def test_what_is_mended_is_noticed(entry: FindingFile, said: str) -> None:
    assert said in replay(entry)


def test_what_takes_too_long_is_ended() -> None:
    assert replay(XOR, seconds=0.0) == "no answer within 0 s"
    assert replay(replace(XOR, kind="hang"), seconds=0.0) == ""
