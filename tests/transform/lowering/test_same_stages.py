"""What each stage of lowering makes of generated programs is what it was: `tests/vm/agreement.py` says that it is right.

`RLX_UPDATE_SNAPSHOTS=1 pytest` writes the digests anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.parser import parse
from rlx.transform.lowering.passes import PassError
from rlx.vm.code_generation import generate
from rlx.vm.compilation import STAGES
from tests.snapshots import assert_digest

SNAPSHOTS = Path(__file__).parent / "snapshots"
SEEDS = [seed for seed in range(300, 350) if is_legal(seed)]


@pytest.mark.parametrize("seed", SEEDS)
def test_stages(seed: int) -> None:
    now = parse(program(seed)[0]).modules[0]
    shown: list[str] = []
    try:
        for stage in STAGES:
            now = stage()(now)
            shown.append(str(now))
        for reuse in (True, False):
            made = generate(now, reuse=reuse)
            shown += [made.as_text(), made.as_python(), made.stats()]
    except PassError as error:
        shown.append(str(error))
    assert_digest(SNAPSHOTS / "stages.txt", f"program {seed}", "\n\n".join(shown))
