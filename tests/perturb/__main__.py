"""Small changes of one room, and the tests of other rooms that fail: ``python -m tests.perturb [NAME…] [--tests PATH…]``.

Each change is made in a copy of the tree under ``build/perturb``, in which the index of the specification is written
anew. A test that fails without the change, too, does not count.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.perturb.changes import CHANGES, Change
from tests.tree_copy import ROOT, copied

FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - .*)?$", re.MULTILINE)


def changed(folder: Path, change: Change) -> list[str]:
    """Make a change; the files of the product that it touches."""
    for edit in change.edits:
        path = folder / edit.file
        text = path.read_text("utf-8")
        if edit.old and text.count(edit.old) != 1:
            raise ValueError(f"{edit.file} has {text.count(edit.old)} places for {edit.old!r}")
        text = text.replace(edit.old, edit.new) if edit.old else text + edit.new
        path.write_text(text, "utf-8")
    index = [sys.executable, "-m", "rlx.spec", "--write"]
    subprocess.run(index, cwd=folder, env=_environment(folder), capture_output=True, check=False)
    return sorted({e.file for e in change.edits if not e.file.startswith("tests/")})


def _environment(folder: Path) -> dict[str, str]:
    """An environment in which `rlx` is the copy."""
    return {**os.environ, "PYTHONPATH": str(folder), "CI": "true"}


def failures(folder: Path, tests: Sequence[str], jobs: str) -> set[str]:
    """The tests that fail in a copy."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-n", jobs]
    done = subprocess.run(
        [*command, *tests],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    return set(FAILED.findall(done.stdout))


def elsewhere(folder: Path, change: Change, found: set[str], jobs: str) -> list[str]:
    """The tests of other rooms among those that fail, without those that fail in the tree as it is."""
    own = tuple(f"tests/{room}/" for room in change.rooms)
    others = {test for test in found if not test.startswith(own)}
    if others:
        copied(folder)
        others -= failures(folder, sorted({test.partition("[")[0] for test in others}), jobs)
    return sorted(others)


def main() -> int:
    """Print what fails elsewhere; the exit status is 1 if something does."""
    parser = argparse.ArgumentParser(prog="python -m tests.perturb", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CHANGES))
    parser.add_argument("--tests", nargs="+", default=["tests"], metavar="PATH")
    parser.add_argument("-n", default="2", metavar="JOBS", help="processes of pytest (default 2)")
    asked = parser.parse_args()
    folder = ROOT / "build" / "perturb"
    status = 0
    for name in asked.names or CHANGES:
        change = CHANGES[name]
        copied(folder)
        product = changed(folder, change)
        found = failures(folder, asked.tests, asked.n)
        others = elsewhere(folder, change, found, asked.n)
        files = f"{len(product)} file" + "s" * (len(product) != 1)
        print(f"{name}: {files} of the product ({', '.join(product)}); ", end="")
        print(f"tests of other rooms that fail: {len(others)}", *others, sep="\n  ", flush=True)
        status |= bool(others)
    return status


if __name__ == "__main__":
    sys.exit(main())
