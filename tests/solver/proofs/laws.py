"""Count the proofs with a certificate that checks.

Usage: ``python -m tests.solver.proofs.laws [STRIDE]`` proves every STRIDE-th true question of the benchmark and prints, by
the means of the proofs, how many have steps and how many say "unchecked", and the questions of the latter. The
exit status is 1 if a certificate is refused.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.prover.families import FamilyQuestion
from benchmarks.prover.recheck import questions
from rlx.solver import Proved, prove
from rlx.solver.proofs.checker import check, read


def proved(case: FamilyQuestion) -> Proved:
    """The verdict on a true question."""
    verdict = prove(case.goal, case.assume)
    assert isinstance(verdict, Proved), case.goal
    return verdict


def certified(certificate: dict[str, Any]) -> bool:
    """Whether a certificate has steps, which the checker accepts as they are read from a file."""
    if isinstance(certificate["proof"], str):
        return False
    check(read(json.dumps(certificate)))
    return True


def true_questions(stride: int) -> Sequence[FamilyQuestion]:
    """Some of the true questions of the benchmark."""
    return [case for case in questions() if case.truth][::stride]


def main() -> int:
    """Print the table."""
    stride = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    found: Counter[tuple[str, bool]] = Counter()
    sizes: list[int] = []
    seconds = {"proving": 0.0, "certificates": 0.0}
    for case in true_questions(stride):
        started = time.process_time()
        verdict = proved(case)
        between = time.process_time()
        certificate = verdict.certificate
        seconds["proving"] += between - started
        seconds["certificates"] += time.process_time() - between
        good = certified(certificate)
        found[verdict.means.partition(":")[0], good] += 1
        if good:
            sizes.append(len(json.dumps(certificate)))
        else:
            print(f"{certificate['proof']}: {case.goal} | {'; '.join(case.assume)}")
    print("means                checked  unchecked")
    for means in dict.fromkeys(means for means, _ in found):
        print(f"{means:20} {found[means, True]:7} {found[means, False]:10}")
    sizes.sort()
    print(f"size: median {sizes[len(sizes) // 2]} bytes, largest {sizes[-1]}")
    print(", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
