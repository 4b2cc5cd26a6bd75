"""Kernels under the sanitisers of addresses and undefined behaviour (`python -m tests.semantics.native.sanitised` for many)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.native import compiler, prelude
from tests.semantics.native.sanitised.__main__ import SOURCES
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
from tests.semantics.tir.programs import of_body

BATCHES = [
    ("nests", FULL, 2),
    ("nests", SHIPPED, 2),
    ("programs", SHIPPED, 2),
    ("generated", SLIGHT, 3),
    ("legalised", PLAIN, 2),
    ("legalised", SHIPPED, 2),
    ("ours", FULL, 2),
    ("ours", WRITTEN_OUT, 2),
    ("styles", FULL, 2),
    ("styles", SHIPPED, 2),
    ("scheduled", PLAIN, 1),
    ("mutated", SLIGHT, 1),
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
    for build in (PLAIN, SHIPPED):
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


@pytest.mark.parametrize(
    ("kind", "wanted_lanes"),
    [("float32", 1), ("int64", 3), ("float16", 5)],
)
def test_a_guarded_load_does_not_read_beyond_its_buffer(
    kind: str, wanted_lanes: int, tmp_path: Path
) -> None:
    """If GCC 12 knows for which lanes a load is, it loads the others as well."""
    forms = {
        "x[i]": f"i < {wanted_lanes}",
        f"x[i - {8 - wanted_lanes}]": f"{8 - wanted_lanes} <= i",
    }
    cases = []
    for value, condition in forms.items():
        for lanes in (8, 16, 32):
            x = f'x: T.Buffer(({wanted_lanes + lanes - 8 if "-" in value else wanted_lanes},), "{kind}")'
            func = of_body(
                f'{x}, y: T.Buffer(({lanes},), "{kind}")',
                f"for i in range({lanes}): y[i] = T.if_then_else({condition}, {value}, T.{kind}(1))",
            )
            shapes = [tuple(d.value for d in b.shape) for b in func.buffer_map.values()]  # type: ignore[attr-defined]
            cases.append(Case(func, [np.ones(shape, kind) for shape in shapes], condition))
    repeated = [case for case in cases for _ in range(16)]  # the pages lie behind, or in front
    found = run(repeated, tmp_path / "b", [32] * len(repeated), SHIPPED, processors()[0])
    assert {answer.ending for answer in found} == {"returned"}


@pytest.mark.parametrize(
    ("kind", "whole"), [("float32", "int8"), ("float64", "int32"), ("float16", "int64")]
)
def test_the_integer_part_of_a_float_has_no_sign_of_zero(
    kind: str, whole: str, tmp_path: Path
) -> None:
    """GCC takes a conversion to an integer and back for `trunc`."""
    func = of_body(
        f'x: T.Buffer((64,), "{kind}"), y: T.Buffer((64,), "{kind}")',
        f'for i in range(64): y[i] = T.Cast("{kind}", T.Cast("{whole}", '
        f"T.max(T.min(x[i], T.{kind}(5)), T.{kind}(-5))))",
    )
    case = Case(func, [np.full(64, -0.5, kind), np.ones(64, kind)], "truncated")
    [found] = run([case], tmp_path / "b", [32], WRITTEN_OUT, processors()[0])
    assert found.ending == "returned" and not np.signbit(found.arrays[1]).any()
