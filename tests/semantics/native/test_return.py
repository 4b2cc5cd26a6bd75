"""PrimFuncs that return a value: evaluated and as machine code, called and by a call of Relax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.faults import FaultStop
from rlx.semantics.machine import load
from rlx.semantics.native import compile
from rlx.semantics.outcome import Returned
from rlx.semantics.tir import evaluate
from rlx.semantics.values import Scalar

FUNCS = {
    "double": """
def f(n: T.int64) -> T.int64:
    RETURN(n * T.int64(2))
""",
    "half": """
def f(n: T.int64) -> T.float32:
    RETURN(T.Cast("float32", n) / T.float32(2))
""",
    "narrow": """
def f(n: T.int64) -> T.int8:
    RETURN(n + T.int64(300))
""",
    "early": """
def f(n: T.int64, a: T.Buffer((4,), "int64")) -> T.int64:
    for i in range(4):
        a[i] = a[i] + T.int64(1)
        if a[i] == n:
            RETURN(T.Cast("int64", i))
    RETURN(T.int64(-1))
""",
    "perhaps": """
def f(n: T.int64) -> T.int64:
    if n > T.int64(0):
        RETURN(n)
""",
    "unsigned": """
def f(n: T.int64) -> T.uint64:
    RETURN(T.Cast("uint64", n))
""",
    "status": """
def f(n: T.int64, a: T.Buffer((4,), "int64")):
    a[0] = n
    RETURN(0)
""",
}
EXPECTED: dict[str, dict[int, Any]] = {
    "double": {3: 6, -4: -8},
    "half": {3: 1.5, -1: -0.5},
    "narrow": {1: 45, -300: 0},
    "early": {3: 2, 9: -1, 1: 0},
    "perhaps": {3: 3, 0: "E-tir-return-value"},
    "unsigned": {7: 7, -1: 2**64 - 1, -(2**63): 2**63},
    "status": {7: 0},
}


def function(name: str, word: str) -> tir.PrimFunc:
    """One of the functions, with `return e` or `T.ret(e)`."""
    lines = [
        f"{line[: line.index('RETURN')]}{word.format(line[line.index('RETURN') + 7 : -1])}"
        if "RETURN" in line
        else line
        for line in FUNCS[name].strip().split("\n")
    ]
    parsed = parse("@T.prim_func\n" + "\n".join(lines) + "\n")
    assert not parsed.diagnostics, parsed.diagnostics
    [found] = parsed.modules[0].functions.values()
    assert isinstance(found, tir.PrimFunc)
    return found


@pytest.mark.parametrize("word", ["return {}", "T.ret({})", "T.evaluate(T.ret({}))"])
@pytest.mark.parametrize("name", FUNCS)
def test_the_value_is_the_same_evaluated_and_native(name: str, word: str) -> None:
    func = function(name, word)
    runs: list[Callable[[list[Any]], Any]] = [lambda a: evaluate(func, a), compile(func)]
    for n, expected in EXPECTED[name].items():
        arrays = []
        for run in runs:
            array = np.arange(4)
            args = [n, array][: len(func.params)]
            if isinstance(expected, str):
                with pytest.raises(FaultStop) as caught:
                    run(args)
                assert caught.value.code == expected
            else:
                assert run(args) == expected
            arrays.append(array.tolist())
        assert arrays[0] == arrays[1]


MODULE = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def twice(n: T.int64) -> T.int64:
        T.ret(n * T.int64(2))
    @R.function(pure=False)
    def main(n: R.Prim("int64")) -> R.Prim("int64"):
        cls = M
        m: R.Prim("int64") = cls.twice(n)
        return m
"""


@pytest.mark.parametrize("backend", ["steps", "native"])
def test_a_call_of_relax_has_the_value(backend: str) -> None:
    [module] = parse(MODULE).modules
    end = load(module, backend=backend).run("main", [Scalar(21)])
    assert isinstance(end, Returned) and isinstance(end.value, Scalar)
    assert (end.value.value, str(end.value.dtype)) == (42, "int64")


def test_it_prints_as_the_dialect_writes_it() -> None:
    [module] = parse(MODULE).modules
    assert "return n * T.int64(2)" in print_module(module, "0.27")
    assert "T.ret(n * T.int64(2))" in print_module(module, "0.16")
