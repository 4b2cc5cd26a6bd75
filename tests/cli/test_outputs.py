"""What the commands print for the examples, whole: held to snapshots.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/cli/test_outputs.py` writes them anew; read what it wrote.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from rlx import cli
from tests.snapshots import assert_entries

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent / "snapshots"

COMMANDS = {
    "check": """
        check examples/mlp.rlx examples/broken --statistics
        check examples/broken/broadcast.rlx examples/broken/syntax.rlx --format json
        check examples/broken/kernel.rlx examples/broken/leak.rlx --format github
        check examples/broken/result.rlx --format sarif
        check examples/match_cast.rlx examples/call_tir.rlx examples/closures.rlx --dynamic-checks
        check examples/match_cast.rlx --dynamic-checks --format json
        check examples/broken --select WF,D14-arity --strict
        check examples/broken --ignore PARSE,WF,D --format json
        check examples/nowhere.rlx
        check --select nonsense examples/mlp.rlx
    """,
    "explain": """
        explain WF09
        explain PARSE
        explain D14-arty
    """,
    "format": """
        fmt --diff examples/shapes.rlx --dialect 0.16
        fmt --diff examples/call_tir.rlx --dialect 0.24
        fmt --check examples/tuples.rlx
        fmt --diff examples/broken/syntax.rlx
    """,
    "prove": """
        prove '(n + 3)//4*4 >= n' --explain
        prove 'n*m == m*n' --explain
        prove 'n//4*4 == n' --explain
        prove 'n//4*4 == n' --assume 'n % 4 == 0' --explain
        prove 'n % 8 < 8 and n - 1 < n' --lower n=none --format json
        prove 'n + 1 > n' --int64 --format json
        prove 'min(n, m) <= max(n, 3)' --format json --explain
        prove 'n*n*n != 2*m*m*m or m == 0'
        prove 'n != m' --smtlib --assume 'n < m'
        prove 'truncdiv(n, -3) <= 0 or n < 0' --smtlib --lower n=-9
        prove 'n <'
        prove 'n == n' --assume 'n < 0'
        prove 'n // m == 1' --assume 'n == m' --explain
    """,
    "endings": """
        run tests/cli/programs/failing.rlx --entry cast --input x=[[1,2]]
        run tests/cli/programs/failing.rlx --entry cast --input x=[[1,2,3],[4,5,6]] --format json
        run tests/cli/programs/failing.rlx --entry signature --input x=[1,2] --input y=[1,2,3]
        run tests/cli/programs/failing.rlx --entry signature --input n=2 --seed 5
        run tests/cli/programs/failing.rlx --entry result --input x=[1] --format json
        run tests/cli/programs/failing.rlx --entry divided --input x=[7,-7] --input y=[2,0]
        run tests/cli/programs/failing.rlx --entry divided --input x=[7,-7,6] --input y=[2,2,-4]
        run tests/cli/programs/failing.rlx --entry asserted --input x=[1,2] --input c=false
        run tests/cli/programs/failing.rlx --entry asserted --input x=[1,2] --input c=true
        run tests/cli/programs/failing.rlx --entry printed --input x=[0.5,2] --input k=-3
        run tests/cli/programs/failing.rlx --entry printed --input x=[] --input k=9223372036854775807 --format json
        run tests/cli/programs/failing.rlx --entry outside --input x=[1]
        run tests/cli/programs/failing.rlx --entry outside --input x=[1] --format json
        run tests/cli/programs/failing.rlx --entry endless --input x=[1] --fuel 50 --format json
        run tests/cli/programs/failing.rlx --entry sized --input n=4 --input m=0
        run tests/cli/programs/failing.rlx --entry sized --input n=9 --input m=4
        run tests/cli/programs/failing.rlx --entry wide --input x=[1,2]
        run tests/cli/programs/failing.rlx --entry wide --input x=[]
        run tests/cli/programs/failing.rlx --entry branches --input c=false
        run tests/cli/programs/failing.rlx --entry branches --input c=true
        run tests/cli/programs/failing.rlx
        run tests/cli/programs/memory.rlx --entry past --input x=[1]
        step tests/cli/programs/failing.rlx --entry cast --input x=[[1,2]] --format json
        step tests/cli/programs/failing.rlx --entry divided --input x=[7,-7] --input y=[2,0]
        step tests/cli/programs/failing.rlx --entry endless --input x=[1] --limit 12 --rule E-call
        step tests/cli/programs/failing.rlx --entry printed --input x=[0.5] --input k=1
        step tests/cli/programs/failing.rlx --entry cast --limit 0
        step tests/cli/programs/failing.rlx --entry cast --rule E-nothing
    """,
    "values": """
        run tests/cli/programs/values.rlx --entry kinds --input n=2 --input m=3 --input p=-7 --input q=true --input f=0.1
        run tests/cli/programs/values.rlx --entry kinds --input n=0 --input m=1 --input x=ones --seed 2 --format json
        run tests/cli/programs/values.rlx --entry types --seed 4
        run tests/cli/programs/values.rlx --entry types --seed 4 --format json
        run tests/cli/programs/values.rlx --entry types --input a=[true,false] --input b=[-8,7] --input c=[0,255,1] --input d=iota --input h=18446744073709551615 --input i=ones
        run tests/cli/programs/values.rlx --entry types --input b=[8,0]
        run tests/cli/programs/values.rlx --entry types --input c=[1,2]
        run tests/cli/programs/values.rlx --entry types --input c=[-1,0,0]
        run tests/cli/programs/values.rlx --entry types --input a=[1,2]
        run tests/cli/programs/values.rlx --entry types --input h=1.5
        run tests/cli/programs/values.rlx --entry nested --input n=2 --seed 1
        run tests/cli/programs/values.rlx --entry nested --input 't=([1,2,3],([[1,2],[3,4],[5,6]],9),())' --format json
        run tests/cli/programs/values.rlx --entry nested --input 't=([1],([[1,2],[3,4]],9),())'
        run tests/cli/programs/values.rlx --entry nested --input 't=([1],[2])'
        run tests/cli/programs/values.rlx --entry unknown --seed 3
        run tests/cli/programs/values.rlx --entry unknown --input x=[[1,2]] --input y=2.5 --input z=[[[true]]] --input s=[1,2,3]
        run tests/cli/programs/values.rlx --entry special --input x=[1,-1,0,inf,-inf,nan]
        run tests/cli/programs/values.rlx --entry special --input x=[1,-1,0,inf,-inf,nan] --format json
        run tests/cli/programs/values.rlx --entry closed --input n=3 --input x=iota
        run tests/cli/programs/values.rlx --entry kinds --input n=x
        run tests/cli/programs/values.rlx --entry kinds --input x=[[1
        run tests/cli/programs/values.rlx --entry kinds --input x=nowhere.npy
        run tests/cli/programs/memory.rlx --input x=[1,2]
        step tests/cli/programs/memory.rlx --input x=[1,2] --backend steps
        step tests/cli/programs/memory.rlx --input x=[1,2] --backend steps --format json
        step tests/cli/programs/values.rlx --entry nested --input n=2 --seed 1 --format json
        step tests/cli/programs/values.rlx --entry closed --input n=3 --input x=iota --format json
        step tests/cli/programs/values.rlx --entry types --seed 4 --format json
    """,
    "run": """
        run examples/recursion.rlx --entry square_k_times --backend steps --input x=ones
        run examples/recursion.rlx --entry even --backend steps --fuel 5
        run examples/match_cast.rlx --entry pairs --backend steps --input x=iota
        run examples/lookup.rlx --backend steps --format json --seed 3
        run examples/shapes.rlx --entry interleave --backend steps --input n=2
        run examples/call_tir.rlx --backend steps --input a=iota --input b=iota --format json
        run examples/broken/arity.rlx
        run examples/tuples.rlx --input nobody=3
        run examples/tuples.rlx --entry nothing
        run examples/recursion.rlx
    """,
    "step": """
        step examples/tuples.rlx --backend steps --limit 40 --input x=ones
        step examples/match_cast.rlx --entry positives --backend steps --limit 30 --input x=ones
        step examples/recursion.rlx --entry even --backend steps --limit 60 --rule E-if
        step examples/closures.rlx --backend steps --limit 25 --format json --input x=ones
        step examples/call_tir.rlx --backend steps --limit 6 --input a=ones
    """,
    "why": """
        why examples/broken/broadcast.rlx:14
        why examples/broken/kernel.rlx:28:36
        why examples/broken/result.rlx:10
        why examples/broken/leak.rlx:11
        why examples/broken/syntax.rlx:11
        why examples/recursion.rlx:16 --depth 3
        why examples/call_tir.rlx:45 --format json --depth 1
        why examples/match_cast.rlx:28 --rules
        why examples/closures.rlx:22
        why examples/mlp.rlx:1
        why examples/mlp.rlx:21:900
    """,
}


def said(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[str, str]:
    """The command, and all that it prints."""
    monkeypatch.setattr(sys, "argv", ["rlx", *shlex.split(line)])
    try:
        status: object = cli.main()
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    out = re.sub(r"^ *[\d.]+ ms .*\n", "", out, flags=re.MULTILINE)  # the slowest questions
    parts = [f"exit status {status}", out, *([f"on standard error:\n{err}"] if err else [])]
    return line, "\n".join(part.rstrip() for part in parts if part).replace(str(ROOT), "ROOT")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "120")
    lines = [line.strip() for line in COMMANDS[name].strip().splitlines()]
    assert_entries(
        SNAPSHOTS / f"outputs-{name}.txt", [said(line, monkeypatch, capsys) for line in lines]
    )
