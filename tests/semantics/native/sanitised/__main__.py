"""``python -m tests.semantics.native.sanitised [COUNT] [--seed N] [--seconds S] [--source NAME]``: kernels under the sanitisers.

Random PrimFuncs, and what TVM's LegalizeOps and our own legalisation make of random calls, are compiled for each width of vectors, run in a process
of their own, and compared with the evaluator. Most batches have ``-fsanitize=address,undefined``; the others are the machine code
that ships, with guard pages around each buffer. Ends with 1 if one failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .campaign import Report, campaign
from .legalised import legalised
from .mutated import mutated
from .ours import ours
from .scheduled import scheduled
from .sources import generated, nests, programs
from .styles import styles

SOURCES = {
    "nests": nests,
    "programs": programs,
    "generated": generated,
    "legalised": legalised,
    "ours": ours,
    "styles": styles,
    "scheduled": scheduled,
    "mutated": mutated,
}


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.semantics.native.sanitised")
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--source", choices=SOURCES, action="append")
    parser.add_argument("--keep", type=Path, help="where failed batches are kept")
    parser.add_argument(
        "--progress", action="store_true", help="say after each batch how far it is"
    )
    options = parser.parse_args()
    chosen = {name: SOURCES[name](options.seed) for name in options.source or SOURCES}
    report, shown = Report(), 0
    with tempfile.TemporaryDirectory(prefix="rlx-sanitised-") as made:
        folder = (options.keep or Path(made)) / "batch"
        for report in campaign(chosen, folder, options.count, options.seconds, options.seed):
            for failure in report.failures[shown:]:
                print(failure, flush=True)
            shown = len(report.failures)
            if options.progress:
                print(f"{report.kernels.total()} kernels, {shown} failures", file=sys.stderr)
    print("\n".join(report.lines()))
    return int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
