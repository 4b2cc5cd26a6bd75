"""Random mutants: the same seed draws the same ones, each is another program, and what was set aside can still be made."""

from __future__ import annotations

import ast
import pickle
import runpy
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from . import child
from .blocks import PROBE, with_probes
from .choose import block_of
from .draw import ARROW, ROOT, bare, draw, set_aside

TEXT = '''\
LIMIT = 4


def f(x: int | None) -> int:
    """Text."""
    if x is None:
        return 0
    else:
        y: int = x

        return y + LIMIT
'''


def test_a_seed_draws_the_same_mutants() -> None:
    first, second = (list(islice(draw(3, ("spec",)), 12)) for _ in range(2))
    assert first == second
    assert len({(m.file, m.text) for m in first}) == 12
    for mutant in first:
        text = (ROOT / mutant.file).read_text("utf-8")
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(text))
        old, _, _ = mutant.diff.partition(ARROW)
        assert text.splitlines()[mutant.line - 1].strip() == old.splitlines()[0].strip()


def test_annotations_are_no_change() -> None:
    assert bare(TEXT) == bare(TEXT.replace("int | None", "int & None").replace("y: int", "y: str"))
    assert bare(TEXT) != bare(TEXT.replace("+", "-"))


@pytest.mark.parametrize(
    ("line", "block"), [(1, None), (4, None), (6, 5), (7, 7), (9, 9), (10, 9), (11, 9)]
)
def test_the_block_of_a_line(line: int, block: int | None) -> None:
    assert block_of(TEXT, line) == block


def test_probes_stand_at_the_heads_of_blocks(tmp_path: Path) -> None:
    reached: list[str] = []
    file = tmp_path / "b.py"
    file.write_text(ast.unparse(with_probes(Path("a/b.py"), TEXT)), "utf-8")
    f = runpy.run_path(str(file), {PROBE: reached.append})["f"]
    assert f(1) == 5 and f.__doc__ == "Text."
    assert reached == ["a/b.py:5", "a/b.py:9"]


def test_mutants_set_aside_can_be_made() -> None:
    for entry in set_aside():
        text = (ROOT / entry["file"]).read_text("utf-8")
        assert entry["old"] in text and entry["reason"], entry
        changed = text.replace(entry["old"], entry["new"])
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), entry


START = """
import os, pickle, sys
from tests.mutants import child
number = child.start(child.Job(*pickle.load(sys.stdin.buffer)))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
"""


@pytest.mark.parametrize(("new", "status"), [(None, 0), ("9 if s > 0 else", 1), ("while 1: 0", 1)])
def test_a_process_says_whether_a_test_fails(tmp_path: Path, new: str | None, status: int) -> None:
    file = "semantics/tir/intrinsics.py"
    text = (ROOT / file).read_text("utf-8")
    line = "    total_shift = q - s\n"
    assert line in text
    test = "tests/semantics/tir/test_values.py::test_q_multiply_shift_rounds_halves_upwards"
    changed = {
        None: None,
        "9 if s > 0 else": text.replace(line, "    total_shift = 9 if s > 0 else q - s\n"),
        "while 1: 0": text.replace(line, f"    while 1:\n        0\n{line}"),
    }[new]
    job = child.Job(file, changed, [(test, 5.0)], tmp_path)
    # From a process without `rlx`: only what is not loaded yet can be loaded with a mistake.
    done = subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, input=pickle.dumps(tuple(job)), check=False
    )
    assert done.returncode == status
    hangs = "Timeout" in (tmp_path / "stack").read_text("utf-8")
    assert hangs == (new == "while 1: 0")
    assert (tmp_path / "last").read_text("utf-8") == ("" if status == 0 else test)
