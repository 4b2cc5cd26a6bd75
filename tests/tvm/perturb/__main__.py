"""``python -m tests.tvm.perturb``: perturbed calls of all operators before both, and where they disagree."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from .harness import run
from .judge import Verdict
from .table import explained, unused


def main() -> int:
    """Run, list what the table does not explain, and say 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m tests.tvm.perturb", description=__doc__)
    parser.add_argument(
        "--random", type=int, default=0, metavar="N", help="also N calls with several changes"
    )
    parser.add_argument(
        "--sample", type=int, default=0, metavar="N", help="only N of the single changes"
    )
    parser.add_argument(
        "--bases", type=int, default=2, metavar="N", help="legal calls of each operator"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", default="", metavar="NAMES", help="these operators, with commas between"
    )
    parser.add_argument(
        "--out", type=Path, help="write every disagreement to this file, one JSON object a line"
    )
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    disagreements: list[Verdict] = []
    runs = [("sys", options.sample)] if options.bases else []
    runs += [("random", options.random)] if options.random else []
    for kind, count in runs:
        for verdict in run(kind, options.seed, count, options.bases, options.only):
            known = verdict.kind != "agree" and explained(verdict)
            counts[f"{verdict.kind}, explained" if known else verdict.kind] += 1
            if verdict.kind != "agree":
                disagreements.append(verdict)
            if verdict.kind != "agree" and not known:
                print(
                    f"{verdict.kind}: {verdict.text}\n    ours {verdict.ours}\n    TVM  {verdict.theirs}"
                )
    if options.out:
        lines = (json.dumps(asdict(verdict)) for verdict in disagreements)
        options.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{sum(counts.values())} calls: {dict(counts.most_common())}")
    if not options.sample and not options.only:
        for entry in unused(disagreements):
            print(f"the table explains nothing by: {entry.reason}")
    return (
        1 if any(kind in counts for kind in ("silent", "refused", "less", "other", "crash")) else 0
    )


if __name__ == "__main__":
    sys.exit(main())
