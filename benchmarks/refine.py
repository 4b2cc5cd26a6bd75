"""Answers of `rlx.refines` on pairs of programs that passes made, with the reasons for unknown
ones.

A pair is `NNN-PASS.before.rlx` and `NNN-PASS.after.rlx` in a folder: `python -m benchmarks.refine FOLDER`.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

import rlx
from rlx.refine.contracts import BY_PASS, InterfaceError


def main(folder: Path, only: str = "", floats: str = "real") -> None:
    """Print a row for each pass, and the reasons of what is not proved."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: list[str] = []
    seconds: list[tuple[float, str]] = []
    for path in sorted(folder.glob("*.before.rlx")):
        if not re.search(only, path.name):
            continue
        name = path.name.removesuffix(".before.rlx")
        began = time.process_time()
        try:
            after = path.with_name(f"{name}.after.rlx")
            contract = BY_PASS.get(name.partition("-")[2].removeprefix("relax"))
            try:
                found = rlx.refines(path, after, floats=floats)
                same = not found.refuted
            except InterfaceError:
                if contract is None:
                    raise
                same = False
            if not same and contract is not None:
                found = rlx.refines(path, after, floats=floats, contract=contract)
            answer = found.level or found.status
            if not found.proved:
                reasons.append(f"{name}: {found}")
        except ValueError as error:
            answer = "rejected"
            first, *rest = str(error).splitlines()
            reasons.append(f"{name}: {first} {rest[:1]}")
        seconds.append((time.process_time() - began, name))
        rows[name.partition("-")[2]][answer] += 1
    total: Counter[str] = Counter()
    kinds = ("bitwise", "real", "refuted", "unknown", "rejected")
    print(f"{'pass':32}", *(f"{kind:>9}" for kind in kinds))
    for name, row in sorted(rows.items()):
        total.update(row)
        print(f"{name:32}", *(f"{row[kind]:9}" for kind in kinds))
    print(f"{'all':32}", *(f"{total[kind]:9}" for kind in kinds))
    print("\n".join(reasons))
    slowest, which = max(seconds)
    print(f"median {median(s for s, _ in seconds):.3f} s, slowest {slowest:.2f} s ({which})")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
