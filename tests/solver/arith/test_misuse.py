"""Every misuse of the prover's interface is refused with what was expected and what was found."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rlx.solver
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import ObjectStructInfo
from rlx.grammar.nodes.dtype import dtype
from rlx.solver import Context, Prover, Refuted, Relation, explain, prove, to_smtlib
from rlx.solver.order import compatibility
from rlx.solver.verdict import Verdict

UNTYPED: Any = rlx.solver
"""The interface as whoever does not check types uses it."""

N = tir.Var("n")
CONDITION = tir.GE(N, tir.IntImm(0))
FLOAT = tir.Var("f", dtype("float32"))

ZOO: tuple[Any, ...] = (
    None,
    True,
    np.True_,
    3,
    -1,
    2**70,
    2.5,
    np.int64(3),
    *("", "n", "n + 1", "n >= 0", "n = 2", "raw", "n +", b"n >= 0"),
    [],
    ["n >= 0"],
    [3],
    [None],
    (CONDITION, CONDITION),
    [(CONDITION, 1)],
    [(N, N)],
    [(N,)],
    {},
    {"n": 3},
    {"n": "3"},
    {"n": True},
    {"m": 3},
    {N: 3},
    {3: 3},
    {"n >= 0"},
    N,
    CONDITION,
    tir.Add(N, tir.IntImm(1)),
    tir.And(N, CONDITION),
    tir.Not(tir.Add(N, N)),
    tir.Select(N, CONDITION, CONDITION),
    FLOAT,
    tir.EQ(FLOAT, FLOAT),
    tir.FloatImm(1.5),
    tir.StringImm("n"),
    ObjectStructInfo(),
    Context(),
    Prover(),
    prove("n >= 1"),
    Relation("always"),
    object(),
    len,
    int,
    np.zeros(3),
)
"""Right and wrong values for any parameter."""


def made(method: str) -> Callable[..., Any]:
    """A method of a new object, so that one misuse does not change the next."""
    kind = Prover if hasattr(Prover, method) else Context
    original = getattr(kind, method)

    def call(*args: Any, **options: Any) -> Any:
        return original(kind(), *args, **options)

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        list(inspect.signature(original).parameters.values())[1:]
    )
    return call


CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "prove": (prove, {"goal": "n >= 0"}),
    "explain": (explain, {"goal": "n >= 0"}),
    "to_smtlib": (to_smtlib, {"goal": "n >= 0"}),
    "Prover": (Prover, {}),
    "Prover.equal": (made("equal"), {"a": N, "b": N}),
    "Prover.always": (made("always"), {"condition": CONDITION}),
    "Prover.never": (made("never"), {"condition": CONDITION}),
    "Prover.complete": (made("complete"), {"refuted": prove("n >= 1")}),
    "Prover.simplify": (made("simplify"), {"expr": N}),
    "Prover.relate": (made("relate"), {"a": N, "b": N}),
    "Prover.relate_all": (made("relate_all"), {"pairs": [(N, N)]}),
    "Prover.assumption": (made("assumption"), {"condition": CONDITION}),
    "Context.declare": (made("declare"), {"var": N}),
    "Context.assume": (made("assume"), {"condition": CONDITION}),
    "Context.define": (made("define"), {"var": N, "expr": tir.IntImm(3)}),
}
SETTINGS = [
    (name, parameter)
    for name, (call, _) in CALLS.items()
    for parameter in inspect.signature(call).parameters
]


def refused_clearly(call: Callable[..., Any], arguments: dict[str, Any]) -> bool:
    """Whether a call is refused; if so, in words that say what was expected and found."""
    try:
        call(**arguments)
    except (TypeError, ValueError) as error:
        text = str(error)
        clear = ("expected" in text and "found" in text) or "is not known" in text
        assert clear or "takes conditions" in text, (arguments, text)
        assert "object is not" not in text and "unsupported operand" not in text, text
        return True
    except UserWarning as warning:
        assert "no variable" in str(warning)
    return False


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize(("name", "parameter"), SETTINGS)
def test_any_value_for_one_parameter(name: str, parameter: str) -> None:
    call, arguments = CALLS[name]
    refused = [refused_clearly(call, {**arguments, parameter: value}) for value in ZOO]
    assert any(refused)
    assert not all(refused)


@pytest.mark.filterwarnings("error::UserWarning")
def test_any_values_for_all_parameters() -> None:
    rng = random.Random(0)
    for _ in range(4000):
        call, arguments = CALLS[rng.choice(list(CALLS))]
        optional = [p for p in inspect.signature(call).parameters if rng.random() < 0.5]
        chosen = {p: rng.choice(ZOO) for p in {*arguments, *optional}}
        refused_clearly(call, chosen)


@pytest.mark.parametrize(
    "verdict",
    [prove("n >= 0"), prove("n >= 1"), Prover().always(tir.EQ(FLOAT, FLOAT))],
    ids=lambda verdict: verdict.status,
)
def test_a_verdict_is_no_truth_value(verdict: Verdict) -> None:
    asked: list[Callable[[], object]] = [
        lambda: bool(verdict),
        lambda: not verdict,
        lambda: verdict and True,
        lambda: 1 if verdict else 0,
        lambda: all([verdict]),
    ]
    for ask in asked:
        with pytest.raises(TypeError, match=r"verdict\.proved"):
            ask()
    assert (verdict.proved, verdict.refuted, verdict.unknown) == tuple(
        verdict.status == status for status in ("proved", "refuted", "unknown")
    )


def test_relations_and_compatibilities_are_no_truth_values() -> None:
    with pytest.raises(TypeError, match=r"relation\.kind"):
        bool(Prover().relate(N, N))
    info = ObjectStructInfo()
    with pytest.raises(TypeError, match="compare its kind"):
        bool(compatibility(info, info, Prover()))


def test_a_comparison_that_python_decides_is_refused() -> None:
    for goal in (N == tir.Var("n"), N != tir.Var("m"), True, False):
        with pytest.raises(TypeError, match=r"write tir\.EQ\(a, b\)"):
            prove(goal)
        with pytest.raises(TypeError, match=r"write tir\.EQ\(a, b\)"):
            prove("n >= 0", assume=[goal])
        with pytest.raises(TypeError, match=r"write tir\.EQ\(a, b\)"):
            Prover().always(goal)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda: UNTYPED.prove("n + 1"),
            "expected a condition, found the integer n \\+ 1; compare it",
        ),
        (lambda: UNTYPED.prove("n"), "expected a condition, found the integer n"),
        (lambda: UNTYPED.prove(tir.Add(N, N)), "expected a condition, found the integer n \\+ n"),
        (lambda: UNTYPED.prove("not (n + 1)"), "not takes conditions, found the integer n \\+ 1"),
        (
            lambda: UNTYPED.prove("n + 1 and n > 2"),
            "and takes conditions, found the integer n \\+ 1",
        ),
        (lambda: UNTYPED.prove("select(n + 1, n, 2) > 2"), "select takes conditions"),
        (lambda: UNTYPED.prove("n >= 0", ["n + 1"]), "expected a condition"),
        (lambda: UNTYPED.Context().assume(N), "expected a condition, found the integer n"),
        (lambda: UNTYPED.Context().declare("n + 1"), "expected a variable, .* found str 'n \\+ 1'"),
        (lambda: UNTYPED.Context().declare(None), "expected a variable, .* found None"),
        (lambda: UNTYPED.Context().assume("n + 1"), "expected a condition, found the integer n"),
        (lambda: UNTYPED.Context().declare(N, lower=5, upper=3), "found lower=5 and upper=3 for n"),
        (
            lambda: UNTYPED.Context().declare(N, "0"),
            "lower: expected an integer or None, found str '0'",
        ),
        (lambda: UNTYPED.Context().define(3, N), "expected a variable, .* found int 3"),
        (
            lambda: Context().define(tir.Var("u", dtype("uint8")), "300"),
            "u of type uint8 has values from 0 to 255, not 300",
        ),
        (
            lambda: UNTYPED.prove("n >= 0", lower={N: 3}),
            "expected the name of a variable, found the variable n",
        ),
        (lambda: UNTYPED.prove("n >= 0", lower=3), "lower: expected a mapping"),
        (
            lambda: UNTYPED.prove("n >= 0", int64="yes"),
            "int64: expected True or False, found str 'yes'",
        ),
        (
            lambda: UNTYPED.to_smtlib("n >= 0", style="foo"),
            "style: expected 'purified', 'raw' or 'split'",
        ),
        (
            lambda: UNTYPED.prove("n >= 0", assume=3),
            "assume: expected a list of conditions, found int 3",
        ),
        (lambda: UNTYPED.Prover("n"), "expected a Context, found str 'n'"),
        (lambda: UNTYPED.Prover().relate_all([(N,)]), "expected pairs of expressions"),
        (lambda: UNTYPED.Prover().complete(UNTYPED.prove("n >= 0")), "expected a Refuted"),
    ],
)
def test_the_error_says_what_was_expected_and_found(ask: Callable[[], object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        ask()


def test_a_scope_that_was_not_begun_cannot_be_left() -> None:
    with pytest.raises(IndexError, match=r"expected a push\(\)"):
        Context().pop()


def test_one_assumption_may_stand_alone() -> None:
    for fact in ("n >= 1", tir.GE(N, tir.IntImm(1))):
        assert prove(tir.GE(N, tir.IntImm(1)), fact).proved
    assert isinstance(prove("n >= 1"), Refuted)
