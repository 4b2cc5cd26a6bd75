"""Kernels under the sanitisers of addresses and undefined behaviour (`python -m tests.semantics.native.sanitised` for many)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.native import compiler, prelude
from tests.semantics.native.programs import of_body
from tests.semantics.native.sanitised.batch import (
    FULL,
    PLAIN,
    SHIPPED,
    SLIGHT,
    WRITTEN_OUT,
    Build,
    Case,
    flags_of,
    processors,
    run,
)
from tests.semantics.native.sanitised.campaign import Campaign
from tests.semantics.native.sanitised.legalised import legalised
from tests.semantics.native.sanitised.ours import ours
from tests.semantics.native.sanitised.sources import generated, nests, programs

SOURCES = {
    "nests": nests,
    "programs": programs,
    "generated": generated,
    "legalised": legalised,
    "ours": ours,
}
BATCHES = [
    ("nests", FULL, 8),
    ("nests", SHIPPED, 12),
    ("programs", SHIPPED, 4),
    ("generated", SLIGHT, 24),
    ("legalised", PLAIN, 8),
    ("legalised", SHIPPED, 12),
    ("ours", FULL, 6),
    ("ours", WRITTEN_OUT, 8),
]
"""Source, how it is compiled, how many functions; each is four kernels. Random programs take the compiler longest."""


@pytest.mark.parametrize(("source", "build", "size"), BATCHES)
def test_kernels_stay_inside_and_agree_with_the_evaluator(
    source: str, build: Build, size: int, tmp_path: Path
) -> None:
    made = {source: SOURCES[source](size)}
    campaign = Campaign(made, tmp_path / "batch", size=size, builds=(build,))
    campaign.batch()
    assert campaign.report.kernels.total() == 4 * size
    assert not campaign.report.failures, "\n".join(campaign.report.failures)


@pytest.mark.parametrize("index", [-1, 4])
@pytest.mark.parametrize("text", ["x[i] = x[i + {}]", "x[i + {}] = T.int8(1)"])
def test_what_leaves_a_buffer_is_seen(index: int, text: str, tmp_path: Path) -> None:
    func = of_body('x: T.Buffer((4,), "int8")', f"for i in range(1): {text.format(index)}")
    case = Case(func, [np.zeros(4, np.int8)], "outside")
    for build in (PLAIN, SLIGHT, SHIPPED):
        [good, bad] = [
            run([case], tmp_path / "batch", [32], build, (), bounds=bounds)[0]
            for bounds in (True, False)
        ]
        assert good.ending == "E-tir-bounds"
        if (
            build is SHIPPED
        ):  # before a buffer lies the rest of a page: to read there is not noticed
            assert bad.ending.startswith("killed") or (index < 0 and text.startswith("x[i] ="))
        else:
            assert "heap-buffer-overflow" in bad.ending


def test_what_leaves_memory_of_its_own_is_seen(tmp_path: Path) -> None:
    for index in (-1, 5):
        func = of_body(
            'x: T.Buffer((1,), "int8")',
            f't = T.alloc_buffer((5,), "int8")\nfor i in range(1): t[i + {index}] = x[i]\nx[0] = t[0]',
        )
        case = Case(func, [np.zeros(1, np.int8)], "outside")
        [found] = run([case], tmp_path / "b", [32], PLAIN, (), bounds=False)
        assert found.ending.startswith("killed")


def test_what_ships_is_what_is_run() -> None:
    """The build without a sanitiser differs from the compiler's own flags in what makes a library, and in nothing else."""
    _, flags, _ = compiler.toolchain()
    assert [*flags] == [*compiler.FLAGS, *processors()[0]]
    for build, source in ((SHIPPED, ""), (WRITTEN_OUT, prelude.WRITTEN_OUT)):
        made, run_with = compiler.flags_for(source, flags), flags_of(build, processors()[0])
        assert effort(made) == effort(run_with)
        assert rest(made) - rest(run_with) == {"-shared", "-fPIC"}
        assert rest(run_with) - rest(made) == {"-DRLX_FENCED"}
    for build in (PLAIN, SLIGHT, FULL):
        missing = rest(flags) - rest(flags_of(build, processors()[0]))
        assert missing == {"-shared", "-fPIC"}


def effort(flags: Sequence[str]) -> str:
    """The level of optimisation: the last one counts."""
    return [flag for flag in flags if flag.startswith("-O")][-1]


def rest(flags: Sequence[str]) -> set[str]:
    return {flag for flag in flags if not flag.startswith("-O")}


def test_short_loops_are_written_out_early() -> None:
    """GCC makes vectors of a pooling only if its window is written out before: not with `-O1`."""
    _, flags, _ = compiler.toolchain()
    short = of_body(
        'x: T.Buffer((64, 3), "float32"), y: T.Buffer((64,), "float32")',
        "for i, k in T.grid(64, 3):\n"
        '    with T.sblock("s"):\n'
        '        vi, vk = T.axis.remap("SR", [i, k])\n'
        "        with T.init(): y[vi] = T.float32(0)\n"
        "        y[vi] = y[vi] + x[vi, vk]",
    )
    plain = of_body('x: T.Buffer((64,), "float32")', "for i in range(64): x[i] = x[i] + x[i]")
    made = [compiler.flags_for(native.compile(func).source, flags) for func in (short, plain)]
    levels = [compiler.SLIGHT] if compiler.SLIGHT in flags else ["-O2"]
    assert [effort(one) for one in made] == ["-O2", *levels]
