"""A prover that is asked and asked stays as small as it is."""

from __future__ import annotations

import gc
import subprocess
import sys

from rlx.solver import Proved, Prover
from rlx.solver.question_parser import parse
from rlx.solver.session import Session

_ASKED = """
import resource
from rlx.grammar.nodes import tir
from rlx.solver import Prover

prover, n, m = Prover(), tir.Var("n"), tir.Var("m")

def ask(first, last):
    for number in range(first, last):
        fresh, size = tir.Var("k"), tir.IntImm(number)
        prover.always(tir.LE(tir.Add(n, size), tir.Add(fresh, tir.Add(n, size))))
        prover.equal(tir.Mul(fresh, size), tir.Mul(size, fresh))
        prover.simplify(tir.Add(tir.Sub(tir.Add(n, size), n), m))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

first = ask(0, 4000)
print(ask(4000, 10000) - first)
"""


def test_questions_that_are_all_different() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ASKED], capture_output=True, text=True, check=True, timeout=300
    )
    grown = int(done.stdout)  # KiB; without a bound it would be some 50,000
    assert grown < 8_000


def test_a_verdict_keeps_no_prover_in_memory() -> None:
    """Not even until the garbage collector runs."""
    texts = ("(n + 3)//4*4 == n + (-n) % 4", "n // 4 * 4 == n")
    goals = [parse(text, {}) for text in texts]
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(each, Session) for each in gc.get_objects())
        proved, refuted = [Prover().always(goal) for goal in goals]
        assert sum(isinstance(each, Session) for each in gc.get_objects()) == before
    finally:
        gc.enable()
    assert isinstance(proved, Proved)
    assert proved.certificate["proof"]
    assert refuted.counterexample == {"n": 1}
