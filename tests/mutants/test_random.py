"""Random mutants: the same seed draws the same ones, each is another program, and what was set aside can still be made."""

from __future__ import annotations

import ast
import itertools
import json
import os
import pickle
import runpy
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType

import parso
import pytest

from . import child
from .blocks import PROBE, block_of, blocks, sides_of, with_probes
from .choose import Reach, words_of
from .draw import ARROW, ROOT, Drawn, bare, draw, make, places, set_aside
from .patch import Functions, changed
from .users import all_users

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


@pytest.mark.parametrize(
    ("operator", "text", "drawn"),
    [
        ("NumberReplacer", "NODES = 4000\n", False),
        ("NumberReplacer", "NODES = 4\n", True),
        ("NumberReplacer", "BYTES = 4 << 30\n", False),
        ("NumberReplacer", "@lru_cache(maxsize=4)\ndef f(): pass\n", False),
        ("NumberReplacer", "x = 4000\n", True),
        ("RemoveDecorator", "@cache\ndef f(): pass\n", False),
        ("RemoveDecorator", "@lru_cache(maxsize=4)\ndef f(): pass\n", False),
        ("RemoveDecorator", "@property\ndef f(): pass\n", True),
        ("NumberReplacer", "engine.spend(10)\n", False),
        ("NumberReplacer", "FIRST_SLOT = 16\n", True),
        ("ReplaceComparisonOperator_Gt_GtE", "NODES = 4000\nx > NODES\n", False),
        ("ReplaceComparisonOperator_Gt_Lt", "NODES = 4000\nx > NODES\n", True),
        ("ReplaceComparisonOperator_Gt_GtE", "NODES = 4\nx > NODES\n", True),
        ("ReplaceComparisonOperator_Eq_LtE", "len(x) == 0\n", False),
        ("ReplaceComparisonOperator_Gt_NotEq", "len(x) > 0\n", False),
        ("ReplaceComparisonOperator_Eq_LtE", "len(x) == 1\n", True),
        ("ReplaceComparisonOperator_Gt_GtE", "len(x) > 0\n", True),
        ("ReplaceComparisonOperator_Eq_LtE", "size(x) == 0\n", True),
        ("ReplaceTrueWithFalse", "zip(a, (1, 0), strict=True)\n", False),
        ("ReplaceFalseWithTrue", "zip(a, (1, 0), strict=False)\n", True),
        ("ReplaceTrueWithFalse", "f(a, strict=True)\n", True),
    ],
)
def test_changes_that_nobody_can_tell_are_not_drawn(operator: str, text: str, drawn: bool) -> None:
    made = [
        make("a/b.py", text, place)
        for group in places(parso.parse(text))  # type: ignore[no-untyped-call]
        for place in group
        if place.operator == f"core/{operator}"
    ]
    assert made and any(made) is drawn


def test_what_the_operators_cannot_change_is_not_drawn() -> None:
    text = "try:\n    f()\nexcept (a.B, C):\n    pass\n"
    handlers = [
        make("a/b.py", text, place)
        for group in places(parso.parse(text))  # type: ignore[no-untyped-call]
        for place in group
        if place.operator == "core/ExceptionReplacer"
    ]
    assert [mutant is None for mutant in handlers] == [True, False]


def test_the_notes_leave_a_test_that_takes_too_long(tmp_path: Path) -> None:
    file = tmp_path / "test_times.py"
    file.write_text(
        "def test_long():\n    while True:\n        pass\n\ndef test_short():\n    pass\n"
    )
    environment = {"RLX_REACH": str(tmp_path / "notes"), "RLX_REACH_SECONDS": "0.3"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.reach", str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTEST_ADDOPTS": "", **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert "1 passed, 1 skipped" in done.stdout
    [notes] = (tmp_path / "notes").glob("*.jsonl")
    assert [json.loads(line)[0].rpartition("::")[2] for line in notes.read_text().splitlines()] == [
        "test_short"
    ]


@pytest.mark.parametrize(
    ("first", "second", "status", "examined"),
    [(5, 0, 0, 10), (4, 8, 0, 20), (4, 7, 1, 20), (0, 10, 1, 20), (10, 0, 0, 10)],
)
def test_a_bad_sample_is_followed_by_another(
    first: int,
    second: int,
    status: int,
    examined: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    from . import random

    asked: list[Drawn] = []
    kinds = [*["noticed"] * first, *["survived"] * (10 - first)]
    kinds += [*["noticed"] * second, *["unreached"] * (10 - second)]

    def judged(mutants: list[Drawn], *_: object) -> list[random.Verdict]:
        made = kinds[len(asked) : len(asked) + len(mutants)]
        asked.extend(mutants)
        return [random.Verdict(m, kind, "") for m, kind in zip(mutants, made, strict=True)]

    monkeypatch.setattr(random, "examined", judged)
    given = ["random", "10", "3", "--room", "spec", "--reach", str(tmp_path), "--least", "80"]
    monkeypatch.setattr(sys, "argv", given)
    assert (random.main(), len(asked)) == (status, examined)
    assert asked == list(islice(draw(3, ("spec",)), examined))


def test_annotations_are_no_change() -> None:
    assert bare(TEXT) == bare(TEXT.replace("int | None", "int & None").replace("y: int", "y: str"))
    assert bare(TEXT) != bare(TEXT.replace("+", "-"))
    for head, told in (("TYPE_CHECKING", False), ("CHECKING", True)):
        text = f"if {head}:\n    class A:\n        @property\n        def b(self): ...\n"
        assert (bare(text) != bare(text.replace("@property", ""))) == told


@pytest.mark.parametrize(
    ("line", "block"),
    [(1, None), (4, None), (6, "f#0"), (7, "f#1"), (9, "f#2"), (10, "f#2"), (11, "f#2")],
)
def test_the_block_of_a_line(line: int, block: str | None) -> None:
    assert block_of(ast.parse(TEXT), line) == block


def test_the_name_of_a_block_depends_on_its_function_alone() -> None:
    inside = "class A:\n    def f(self):\n        for x in self:\n            x()\n"
    names = ["A.f#0", "A.f#1"]
    assert [block.name for block in blocks(ast.parse(inside))] == names
    assert [block.name for block in blocks(ast.parse(f"{TEXT}\n{inside}"))][3:] == names
    again = [block.name for block in blocks(ast.parse(inside + inside))]
    assert again == [*names, "A.f~1#0", "A.f~1#1"]


def test_the_blocks_that_a_line_decides_about() -> None:
    assert [sides_of(ast.parse(TEXT), line) for line in (1, 6, 7, 9)] == [
        [],
        ["f#1", "f#2"],
        [],
        [],
    ]


def test_a_function_that_keeps_its_answers_is_loaded_anew(tmp_path: Path) -> None:
    text = "class A:\n    @cache\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n"
    (tmp_path / "main.jsonl").write_text(
        json.dumps(["tests/a.py::one", 1.0, ["a/b.py:A.g#0"], "01"])
    )
    choices = [Reach(tmp_path).of(Drawn("a/b.py", line, "", "", ""), text) for line in (4, 7)]
    assert [(len(choice.tests), choice.anew) for choice in choices] == [(1, True), (1, False)]


@pytest.mark.parametrize(
    ("file", "line", "users"),
    [
        ("operators/vision.py", "    site: Site, data: Tensor, score_threshold", ["operators/vision.py:get_valid_counts#0"]),
        ("grammar/vdevices.py", '    "opencl": 4', ["grammar/vdevices.py:numbered#0", "operators/device.py:hinted#0"]),
        ("generate/calls/pattern.py", '    "made": lambda', ["generate/calls/pattern.py:_slot#1"]),
        ("solver/order/compatibility.py", "    def path", ["solver/order/compatibility.py:Compatibility.path#0", "solver/order/compatibility.py:_blame#0"]),
    ],
)  # fmt: skip
def test_who_uses_what_stands_outside_of_functions(file: str, line: str, users: list[str]) -> None:
    """A default, an entry of a table, one that only calls of a function make, and the decorator of a method."""
    lines = (ROOT / file).read_text("utf-8").splitlines()
    [at, *_] = [at for at, text in enumerate(lines, 1) if text.startswith(line)]
    levels = all_users().of(file, at)
    assert set(users) <= set().union(*levels)
    assert users[0] in levels[0]


def test_an_entry_of_a_table_is_asked_of_tests_that_name_it() -> None:
    diff = f'    "relax.take": 1, "n": 2{ARROW}    "relax.take": 2, "n": 2'
    assert words_of(Drawn("a/b.py", 1, "", "", diff)) == {"relax.take", "take"}


def test_what_a_shared_fixture_reaches_is_noted_for_all_its_tests(tmp_path: Path) -> None:
    (tmp_path / "test_shared.py").write_text(
        "import pytest\n\n@pytest.fixture(scope='module')\ndef made():\n"
        "    from rlx.spec.html.highlight import formula\n    return formula('a')\n\n"
        "def test_one(made): pass\n\ndef test_two(made): pass\n\ndef test_three(): pass\n"
    )
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.reach", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTEST_ADDOPTS": "", "RLX_REACH": str(tmp_path / "notes")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    [notes] = (tmp_path / "notes").glob("*.jsonl")
    masks = [int(json.loads(line)[3], 16) for line in notes.read_text().splitlines()]
    assert masks[0] == masks[1] != 0 == masks[2]


def test_probes_stand_at_the_heads_of_blocks(tmp_path: Path) -> None:
    reached: list[str] = []
    file = tmp_path / "b.py"
    for wanted in (None, {"a/b.py:f#2"}):
        file.write_text(ast.unparse(with_probes(Path("a/b.py"), TEXT, wanted)), "utf-8")
        f = runpy.run_path(str(file), {PROBE: reached.append})["f"]
        assert f(1) == 5 and f.__doc__ == "Text."
    assert reached == ["a/b.py:f#0", "a/b.py:f#2", "a/b.py:f#2"]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("x + LIMIT", "y + LIMIT", []),
        ("y + LIMIT", "y - LIMIT", ["f"]),
        ("LIMIT = 4", "LIMIT = 5", None),
    ],
)
def test_which_functions_a_change_needs(old: str, new: str, names: list[str] | None) -> None:
    codes = [compile(text, "f.py", "exec") for text in (TEXT, TEXT.replace(old, new))]
    found = changed(*codes)
    assert (None if found is None else [code.co_qualname for code, _ in found]) == names


def test_the_code_of_loaded_functions_is_exchanged() -> None:
    old, new = (compile(text, "f.py", "exec") for text in (TEXT, TEXT.replace("+", "-")))
    [inner] = [const for const in old.co_consts if isinstance(const, CodeType)]
    function = FunctionType(inner, {"LIMIT": 4})
    pairs = changed(old, new)
    assert pairs and Functions().patch(pairs)
    assert function(1) == -3


def test_tests_are_chosen_by_what_they_reach(tmp_path: Path) -> None:
    notes = [
        ["tests/a.py::one", 1.0, ["a/b.py:f#0", "a/b.py:f#2"], "03"],
        ["tests/a.py::two", 2.0, ["a/b.py:f#1"], "05"],
        ["tests/a.py::long", 99.0, [], "05"],
        ["tests/c.py::other", 1.0, ["a/c.py:g#0"], "08"],
    ]
    (tmp_path / "main.jsonl").write_text("\n".join(map(json.dumps, notes)), "utf-8")
    reach = Reach(tmp_path)

    def names(line: int) -> tuple[list[str], bool]:
        choice = reach.of(Drawn("a/b.py", line, "", "", ""), TEXT)
        return [test.name.rpartition(":")[2] for test in choice.tests], choice.reached

    assert names(7) == (["two"], True)
    assert names(10) == (["one"], True)
    assert names(6) == (["two", "one"], True)
    assert names(1) == (["one", "two", "other"], True)


def test_mutants_set_aside_can_be_made() -> None:
    for entry in set_aside():
        text = (ROOT / entry["file"]).read_text("utf-8")
        assert entry["old"] in text and entry["reason"], entry
        changed = text.replace(entry["old"], entry["new"])
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), entry


EXAMINE = """
import os, pickle, sys
from tests.mutants import child
jobs = [child.Job(*job) for job in pickle.load(sys.stdin.buffer)]
statuses = dict(child.serve(jobs, 2, jobs[0].folder))
again = [job._replace(folder=job.folder / "anew") for job in jobs]
anew = dict(child.waited(((at, child.start(job)) for at, job in enumerate(again)), 2))
print([[found[at] for at in range(len(jobs))] for found in (statuses, anew)])
"""


def test_processes_say_whether_a_test_fails(tmp_path: Path) -> None:
    file = "semantics/tir/intrinsics.py"
    text = (ROOT / file).read_text("utf-8")
    line = "    by, product = q - s, x * y\n"
    assert line in text
    test = "tests/semantics/tir/test_values.py::test_q_multiply_shift_rounds_halves_upwards"
    mistakes = [
        line,
        "    by, product = 9 if s > 0 else q - s, x * y\n",
        f"    while 1:\n        0\n{line}",
    ]
    jobs = [
        child.Job(file, text, text.replace(line, mistake), [(test, 2.0)], tmp_path / str(at))
        for at, mistake in enumerate(mistakes)
    ]
    assert _statuses(jobs) == [[0, 1, -signal.SIGPROF]] * 2
    for at, folder in itertools.product(range(3), ("", "anew")):
        assert (tmp_path / str(at) / folder / "last").read_text("utf-8") == (test if at else "")


def test_tests_with_needs_of_their_own_pass_without_a_mistake(tmp_path: Path) -> None:
    """Sanitisers reserve more memory than a process may write to, and mutants are asked without shrinking."""
    tests = [
        (f"tests/generate/test_strategies.py::test_elements_shrink[{kind}]", 60.0)
        for kind in ("bool", "int32")
    ]
    wrapping = "test_a_loop_at_the_limit_of_its_type_runs_to_it[T.int8(126), T.int8(126) + T.int8(1)-values0]"
    tests.append((f"tests/semantics/native/test_wrapping.py::{wrapping}", 60.0))
    file = "generate/elements.py"
    text = (ROOT / file).read_text("utf-8")
    assert _statuses([child.Job(file, text, text, tests, tmp_path)]) == [[0], [0]]
    assert not (tmp_path / "failed").read_text("utf-8")


def _statuses(jobs: list[child.Job]) -> list[list[int]]:
    """How each ends, in loaded functions and anew.

    From a process without `rlx`: only what is not loaded yet can be loaded with a mistake.
    """
    done = subprocess.run(
        [sys.executable, "-c", EXAMINE],
        cwd=ROOT,
        input=pickle.dumps([tuple(job) for job in jobs]),
        stdout=subprocess.PIPE,
        check=True,
    )
    found: list[list[int]] = json.loads(done.stdout)
    return found
