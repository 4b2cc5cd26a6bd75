"""LAW: small steps on the source, small steps after each stage, and the virtual machine end alike."""

from __future__ import annotations

import os
import random

import pytest

from rlx.generate.campaign.programs import is_legal, program

from .agreement import End, differ, differences

PLACES = range(12)


@pytest.fixture(scope="module")
def first() -> int:
    """The first seed: another one each time, but the same one in CI."""
    return 0 if os.environ.get("CI") else random.SystemRandom().randrange(2**16)


@pytest.mark.parametrize("place", PLACES)
def test_stages_and_machine_agree(place: int, first: int) -> None:
    seed = first + place
    if is_legal(seed):
        assert list(differences(program(seed)[0], seed)) == [], seed


def test_names_of_closures_are_not_compared() -> None:
    def printing(line: str) -> End:
        return End("Returned", None, (line,))

    one = printing("closure fn3closure fn3, 1")
    assert differ(one, printing("closure main_fn3closure main_fn3, 1")) is None
    assert differ(one, printing("closure fn3closure fn3, 2")) is not None
    assert differ(one, printing("closure fn3, 1")) is not None
