"""Programs as users of TVM write and build them: every engine of rlx returns what TVM's virtual machine returns.

A run of the tests draws some programs; `python -m tests.tvm.test_runs [KIND…]` runs all of them, and prints those that are not
as listed. The lists in `runs/listed.toml` say which programs are not the same, and why.
"""

from __future__ import annotations

import os
import random
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.tvm.runs import built, programs
from tests.tvm.runs.programs import HERE, Program
from tests.tvm.runs.running import verdict

KINDS = {
    **{kind: programs.of_texts for kind in programs.TEXTS},
    "expressions": built.of_kind,
    "pipelines": built.of_kind,
}
SAMPLE = 6
"""The programs of each kind in a run of the tests; `python -m tests.tvm.test_runs` takes all."""

LISTED: Mapping[str, tuple[str, str]] = {
    name: (kind, reason)
    for kind, names in tomllib.loads((HERE / "listed.toml").read_text("utf-8")).items()
    for name, reason in names.items()
}
DIES = "tvm dies"
"""The verdict on programs that end TVM's process; they are not run here."""


def unlike(found: Sequence[Program]) -> Iterator[str]:
    """The programs whose verdict is not the one that is listed."""
    for program in found:
        expected, _ = LISTED.get(program.name, ("same", ""))
        if expected == DIES:
            continue
        what, reason = verdict(program)
        if what != expected:
            yield f"{program.name}: {what}, expected {expected}: {reason}"


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_tvm(kind: str) -> None:
    known = KINDS[kind](kind)
    drawn = random.Random(0 if os.environ.get("CI") else None).sample(
        sorted(known), min(SAMPLE, len(known))
    )
    wrong = list(unlike([known[name] for name in drawn]))
    assert not wrong, "\n".join(wrong)


def test_what_is_listed_exists() -> None:
    known = {name for kind, of in KINDS.items() for name in of(kind)}
    assert LISTED.keys() <= known
    assert all(reason for _, reason in LISTED.values())
    assert len(known) >= 900


def main(kinds: Sequence[str]) -> None:
    for kind in kinds or KINDS:
        found = list(KINDS[kind](kind).values())
        wrong = list(unlike(found))
        print(f"{kind}: {len(found)} programs, {len(wrong)} not as listed", *wrong, sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1:])
