"""LAW: small steps on the source, small steps after each stage, and the virtual machine end alike."""

from __future__ import annotations

import os

import pytest

from rlx.generate.campaign.programs import is_legal, program

from .agreement import differences

FIRST = 0 if os.environ.get("CI") else int.from_bytes(os.urandom(2), "big")
SEEDS = [seed for seed in range(FIRST, FIRST + 24) if is_legal(seed)]


@pytest.mark.parametrize("seed", SEEDS if os.environ.get("CI") else [FIRST])
def test_stages_and_machine_agree(seed: int) -> None:
    assert list(differences(program(seed)[0], seed)) == []
