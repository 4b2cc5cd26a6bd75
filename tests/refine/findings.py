"""``python -m tests.refine.findings [WORD…]``: each wrong-code finding whose pass makes Relax of Relax, and what ``refines`` says.

TVM's pass runs on the finding's program. What it makes differs from it, so the answer is a counterexample that was run.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import rlx
from rlx.generate.campaign.finding_file import FindingFile, read_entries


def after(entry: FindingFile) -> rlx.IRModule | None:
    """What the pass of a finding makes of its program; None if it is no pass of Relax."""
    import tvm

    made = getattr(tvm.relax.transform, entry.stage, None)
    if made is None:
        return None
    given = tvm.script.from_source(entry.program, check_well_formed=False)
    return rlx.parse(made()(given).script(show_meta=True))


def answer(entry: FindingFile) -> tuple[str, str]:
    """The status, and the reason or difference."""
    try:
        made = after(entry)
        if made is None:
            return "no pass of Relax", entry.stage
        found = rlx.refines(rlx.parse(entry.program), made)
    except Exception as error:  # noqa: BLE001 - each finding is a line of the list
        return "no answer", f"{type(error).__name__}: {error}"
    return found.status, found.reason


def main(words: list[str]) -> None:
    """Print a line for each finding."""
    counted: Counter[str] = Counter()
    for entry in read_entries(Path(__file__).parents[2] / "findings"):
        if entry.kind == "wrong-code" and all(word in entry.path for word in words):
            status, reason = answer(entry)
            counted[status] += 1
            print(f"{status:10} {Path(entry.path).stem}: {reason}"[:220], flush=True)
    print(dict(counted))


if __name__ == "__main__":
    main(sys.argv[1:])
