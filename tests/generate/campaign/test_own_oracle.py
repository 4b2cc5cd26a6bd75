"""An oracle of the user's own: what it refuses is a finding, reduced, that can be seen again."""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx.commands import fuzz as command
from rlx.generate.campaign.finding_file import OWN, read_entries
from rlx.generate.campaign.oracles import examine
from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.oracles.meaning import Meaning, differ
from rlx.generate.campaign.oracles.own import OwnOracleError, function_of
from rlx.generate.campaign.oracles.run import backend_findings
from rlx.generate.campaign.processes import Worker, findings
from rlx.grammar.read.parser import parse
from rlx.semantics import Tensor
from rlx.semantics.live_memory import limited
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned

ORACLES = """
import rlx

calls = []

def no_tuples(module):
    assert isinstance(module, rlx.IRModule)
    assert "R.Tuple(" not in rlx.show(module), "a tuple of 3"

def says(module):
    return "too long" if len(str(module)) > 10 else None

def lies(module):
    return False

def silent(module):
    assert not module.functions

def odd(module):
    return 3

def fine(module):
    return True

def takes_two(before, after):
    return True
"""
RUNS = """
from rlx.grammar.read.parser import parse
from rlx.semantics import Tensor
from rlx.semantics.machine import load
import numpy as np

TEXT = '''
@R.function
def main(x: R.Tensor((6,), "float32")):
    return R.add(x, x)
'''

def runs(module):
    (program,) = parse(TEXT).modules
    x = Tensor(np.ones(6, np.float32))
    outcome = load(program, backend="steps").run("main", [x], fuel=100)
    return f"ended with {getattr(outcome, 'code', None)}"
"""
DOUBLE = "@R.function\ndef main(x: R.Tensor((6,), 'float32')):\n    return R.add(x, x)\n"
PROGRAM = "@R.function\ndef main(x: R.Any):\n    return x\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_oracles.py"
    path.write_text(ORACLES, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("says", "too long"),
        ("lies", "returns False"),
        ("silent", "AssertionError: assert not module.functions"),
        ("odd", "returns int; expected None, bool or str"),
    ],
)
def test_what_it_says_is_a_finding(file: Path, function: str, sentence: str) -> None:
    (found,) = examine(f"{file}:{function}", PROGRAM, 0)
    assert (found.kind, found.stage, found.sentence) == (OWN, function, sentence)
    assert examine(f"{file}:fine", PROGRAM, 0) == []


@pytest.mark.parametrize(("memory", "code"), [(None, "None"), (23, "E-result-memory-there")])
def test_memory_limits_the_runs_of_a_worker(memory: int | None, code: str, tmp_path: Path) -> None:
    """The result takes 24 bytes."""
    path = tmp_path / "runs.py"
    path.write_text(RUNS, encoding="utf-8")
    worker = Worker(f"{path}:runs", "", memory=memory)
    for one in (worker, worker.strict()):
        (found,) = findings(one.examine(0, PROGRAM))
        assert found.sentence == f"ended with {code}"
        one.close()


@pytest.mark.parametrize(("memory", "backend"), [(23, "steps"), (24, "steps"), (23, "native")])
def test_the_limit_of_memory_says_nothing_of_a_program(memory: int, backend: str) -> None:
    """A run that it ends differs from no other one."""
    module, *_ = parse(DOUBLE).modules
    given = [Tensor(np.ones(6, np.float32))]
    before = load(module, backend="steps").run("main", deepcopy(given), fuel=100)
    with limited(memory):
        after = load(module, backend=backend).run("main", given, fuel=100)
    assert isinstance(after, Returned) == (memory == 24)
    runs = [Meaning("main", 6, given, outcome) for outcome in (before, after)]
    assert differ(*([run] for run in runs)) is None
    case = Case(DOUBLE, 0, "", lambda _: None)
    assert not list(backend_findings(case, after, before))


def test_names_that_there_are_not(file: Path) -> None:
    for name, words in [
        (f"{file}:sayz", "did you mean 'says'"),
        ("no_such_module:f", "cannot import 'no_such_module': ModuleNotFoundError"),
        (f"{file.parent}/other.py:f", "FileNotFoundError"),
        (":f", "expected my_module:function"),
        ("json:", "expected my_module:function"),
        (f"{file}:takes_two", "'takes_two' of .* cannot be called with one module"),
    ]:
        with pytest.raises(OwnOracleError, match=words.replace("(", "\\(")):
            function_of(name)


def test_a_campaign_with_it(file: Path) -> None:
    """Nothing is written beside what git ignores; the finding is legal, and is seen again."""
    argv = [
        "fuzz",
        "--oracle",
        "my_oracles:no_tuples",
        "--time",
        "4s",
        "--jobs",
        "1",
        "--seed",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "rlx", *argv],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    folder = file.parent / ".rlx" / "fuzz"
    assert (file.parent / ".rlx" / ".gitignore").read_text() == "*\n"
    assert {path.name for path in file.parent.iterdir()} <= {".rlx", "__pycache__", file.name}
    (entry,) = read_entries(folder)
    assert entry.kind == OWN and entry.happens == "AssertionError: a tuple of 3"
    assert rlx.check(entry.program).ok
    again = [sys.executable, "-m", "rlx.generate.campaign.replay", str(folder / entry.path)]
    refused = subprocess.run(
        again, cwd=file.parent, capture_output=True, text=True, timeout=600, check=False
    )
    assert refused.returncode == 1 and "add `--oracle my_oracles:no_tuples`" in refused.stdout
    again += ["--oracle", "my_oracles:no_tuples"]
    seen = subprocess.run(
        again, cwd=file.parent, capture_output=True, text=True, timeout=600, check=False
    )
    assert seen.returncode == 0 and "seen: AssertionError" in seen.stdout, seen.stderr
    file.write_text("def no_tuples(module): pass\n", encoding="utf-8")
    gone = subprocess.run(
        again, cwd=file.parent, capture_output=True, text=True, timeout=600, check=False
    )
    assert gone.returncode == 1 and "the oracle finds nothing any more" in gone.stdout


def test_what_cannot_be_had_is_wrong_usage(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in [
        (f"{file}:sayz", "did you mean 'says'?"),
        ("delphi", "invalid choice: 'delphi'"),
    ]:
        with pytest.raises(SystemExit) as ended:
            command.main(["--oracle", name, "--out", str(file.parent)])
        assert ended.value.code == 2
        assert words in capsys.readouterr().err


def test_a_function_without_a_signature_may_take_one() -> None:
    assert function_of("builtins:str") is str  # inspect knows nothing of it
    with pytest.raises(OwnOracleError, match="cannot be called with one module"):
        function_of("builtins:globals")  # it says that it takes none
