"""Near misses of calls: whatever the checker lets pass runs to a value or to a fault, never to IllFormed.

Every form of call meets callees, arguments, declared results and keywords of every kind, where one part of a legal call
is another. ``RLX_CALLS=all`` also tries all calls in which two are (45,000, some five minutes); the suite tries some of each.
"""

from __future__ import annotations

import os
import random
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.semantics.machine import load
from rlx.semantics.outcome import IllFormed, Outcome, Returned, Stuck
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Packed, Tensor, TupleValue

PROGRAM = """
@I.ir_module
class M:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]}})
    @T.prim_func
    def kernel(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
    @T.prim_func
    def sized(a: T.handle, k: T.int64, b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = T.float32(0)
    @R.function(private=True)
    def closure(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return a
    @R.function(private=True)
    def impure(a: R.Object) -> R.Object:
        R.func_attr({{"relax.force_pure": 1}})
        return a
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), n: R.Tensor("int64"), s: R.Shape([4]), p: R.Prim("int64"),
             t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")), f: R.Callable, o: R.Object):
        cls = M
        w = (x, x)
        g = R.make_closure(cls.closure, ())
        y = {call}
        return y
"""

CALLEES = (
    *("cls.kernel", "cls.sized", "cls.closure", "cls.impure", '"copy"', '"kernel"', '"closure"'),
    *('R.ExternFunc("copy")', '"missing"', "x", "s", "p", "t", "o", "f", "g", 'R.str("copy")'),
    *('"vm.builtin.copy"', '"vm.builtin.shape_of"', "(x,)", 'R.dtype("int8")', "R.shape([4])"),
)
ARGUMENTS = (
    *("(x,)", "(x, x)", "()", "x", "t", "w", "s", "p", "o", "R.shape([4])", "(s,)", "(p,)", "(o,)"),
    *("(t,)", "(x, p)", "(x, 3)", "(x, f)", '("a",)', '"a"', "3", "((x,), x)", "(cls.closure,)"),
    *(
        *("(n,)", "(x, n)", "(x, s)", "(x, o)", "(g,)", 'R.dtype("int8")', "(x, x, x)", "f"),
        "cls.kernel",
    ),
)
TYPES = (
    *("", 'R.Tensor((4,), "float32")', 'R.Tensor((5,), "float32")', 'R.Tensor((4,), "int8")'),
    *("R.Tensor((4,))", 'R.Tensor("float32", ndim=1)', 'R.Tensor(s, "float32")', "R.Tensor"),
    *("R.Object", "R.Shape([4])", 'R.Prim("int64")', "R.Callable", "R.Tuple()", "[]", "()", "None"),
    *(
        '[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")]',
        '"float32"',
        "x",
        "3",
        "R.Tensor((p,))",
    ),
    *('R.Tuple(R.Tensor((4,), "float32"), R.Object)', 'R.Tensor((4,), "float32", "cuda:0")', "s"),
)
EXTRAS = (
    *("", "tir_vars=s", "tir_vars=R.shape([4])", "tir_vars=x", "tir_vars=3", 'tir_vars="a"'),
    *("tir_vars=o", "tir_vars=(p,)", "tir_vars=()", "inplace_indices=[0]", "inplace_indices=0"),
    *("inplace_indices=[-1]", "inplace_indices=[7]", "inplace_indices=x", "inplace_indices=[0, 1]"),
    *("te_grad_name=3", "axis=1", "inplace_indices=[]", 'inplace_indices="a"', "tir_vars=(o,)"),
)
FORMS = (
    *("R.call_tir", "R.call_tir_inplace", "R.call_tir_with_grad", "R.call_dps_packed"),
    *("R.call_builtin_with_ctx", "R.invoke_closure", "R.invoke_pure_closure", "R.make_closure"),
    *("R.vm.call_tir_dyn", "R.call_py_func", "R.call_packed", "R.call_pure_packed"),
    *("R.call_inplace_packed", "call"),
)
SPREAD = frozenset(["R.call_packed", "R.call_pure_packed", "R.call_inplace_packed", "call"])


def written(*parts: str) -> str:
    """A call as a text: form, callee, arguments, declared results, a keyword."""
    form, callee, arguments, types, extra = parts
    if form in SPREAD and arguments.startswith("("):
        arguments = arguments[1:-1].rstrip(",")
    word = "out_sinfo" if form in FORMS[:4] or form == "R.call_py_func" else "sinfo_args"
    given = [arguments] if arguments else []
    given += [f"{word}={types}"] if types else []
    given += [extra] if extra else []
    if form == "call":
        return f"{callee.strip(chr(34))}({', '.join(given)})"
    return f"{form}({', '.join([callee, *given])})"


KINDS = ((), CALLEES, ARGUMENTS, TYPES, EXTRAS)
T = 'R.Tensor((4,), "float32")'
RIGHT = {
    "R.call_tir": ("cls.kernel", "(x,)", T, ""),
    "R.call_tir_inplace": ("cls.kernel", "(x, x)", T, "inplace_indices=[1]"),
    "R.call_tir_with_grad": ("cls.kernel", "(x,)", T, ""),
    "R.call_dps_packed": ('"copy"', "(x,)", T, ""),
    "R.call_builtin_with_ctx": ('"vm.builtin.copy"', "(x,)", T, ""),
    "R.invoke_closure": ("g", "(x,)", T, ""),
    "R.invoke_pure_closure": ("g", "(x,)", T, ""),
    "R.make_closure": ("cls.closure", "(x,)", "", ""),
    "R.vm.call_tir_dyn": ("cls.kernel", "(x, x)", "", ""),
    "R.call_py_func": ('"copy"', "(x,)", T, ""),
    "R.call_packed": ('"copy"', "(x,)", T, ""),
    "R.call_pure_packed": ('"copy"', "(x,)", T, ""),
    "R.call_inplace_packed": ('"copy"', "(x,)", T, "inplace_indices=[0]"),
    "call": ("cls.closure", "(x,)", "", ""),
}


def copy(*given: Any) -> Any:
    """A packed function for every way of calling: it fills its last argument, and returns its first."""
    if len(given) > 1:
        given[-1][...] = given[0]
    return given[0]


PACKED: dict[str, Any] = {"copy": copy}


def near(form: str) -> list[str]:
    """A legal call, and all in which one of its parts is another."""
    right = (form, *RIGHT[form])
    found = {written(*right): None}
    for at in range(1, 5):
        for other in KINDS[at]:
            found[written(*right[:at], other, *right[at + 1 :])] = None
    return list(found)


def far(form: str) -> list[str]:
    """All in which two of its parts are others."""
    right = (form, *RIGHT[form])
    found: dict[str, None] = {}
    for a, b in combinations(range(1, 5), 2):
        for first, second in product(KINDS[a], KINDS[b]):
            mixed = (*right[:a], first, *right[a + 1 : b], second, *right[b + 1 :])
            found[written(*mixed)] = None
    return list(found)


def chosen(form: str) -> list[str]:
    """The calls of a form that are tried."""
    if os.environ.get("RLX_CALLS") == "all":
        return [*near(form), *far(form)]
    choice = random.Random(form)
    return [*choice.sample(near(form), 25), *choice.sample(far(form), 10)]


def errors(call: str) -> list[str]:
    """The codes of the errors that the checker finds in a call."""
    report = check_text(PROGRAM.format(call=call), "calls.rlx")
    return [d.code for d in report.diagnostics if d.is_error]


def outcome(call: str) -> Outcome | None:
    """The outcome of a call; None if the checker refuses it."""
    report = check_text(PROGRAM.format(call=call), "calls.rlx")
    if any(d.is_error for d in report.diagnostics):
        return None
    (module,) = report.modules
    main = module["main"]
    assert isinstance(main, ast.Function)
    made = {"f": Packed(lambda *given: given[0], "f"), "o": Tensor(np.zeros(4, np.float32))}
    known = replace(main, params=tuple(p for p in main.params if p.name_hint not in made))
    values = (*inputs(known, {}).values, *made.values())
    return load(module, packed=PACKED, output=lambda _: None).run("main", values, fuel=1000)


@pytest.mark.parametrize("form", FORMS)
def test_a_legal_call_returns(form: str) -> None:
    assert isinstance(outcome(written(form, *RIGHT[form])), Returned)


@pytest.mark.parametrize("form", FORMS)
def test_what_passes_the_checker_is_not_ill_formed(form: str) -> None:
    refused = 0
    for call in chosen(form):
        found = outcome(call)
        refused += found is None
        assert not isinstance(found, IllFormed | Stuck), (call, found)
    assert refused


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("R.call_pure_packed(cls.closure, x, sinfo_args=R.Object)", "OBL-packed-function"),
        ("R.call_dps_packed(cls.closure, (x,), out_sinfo=[])", "OBL-packed-function"),
        ('R.call_inplace_packed("copy", x, inplace_indices=[0])', "OBL-stated-result"),
        ("R.invoke_closure(x, (x,), sinfo_args=R.Object)", "OBL-closure-function"),
        ("R.invoke_closure(cls.closure, (), sinfo_args=R.Object)", "OBL-closure-arity"),
        ("R.invoke_closure(cls.closure, (s,), sinfo_args=R.Object)", "OBL-closure-argument"),
        ("R.make_closure(cls.closure, (x, x))", "OBL-closure-arity"),
        ("R.call_py_func(x, (x,), out_sinfo=R.Object)", "OBL-name-string"),
        (f"R.call_tir(cls.kernel, ((x,),), out_sinfo={T})", "OBL-passed-kind"),
        (f"R.call_tir(cls.kernel, (x,), out_sinfo={T}, tir_vars=x)", "OBL-trailing-kind"),
        ('R.call_tir(cls.kernel, (x,), out_sinfo=R.Tensor("float32"))', "OBL-outputs-shape"),
        ("R.call_tir(cls.kernel, (x,), out_sinfo=R.Tensor((4,)))", "OBL-allocated-dtype"),
        ("R.vm.call_tir_dyn(cls.closure, (x, x))", "OBL-callee-prim_func"),
    ],
)
def test_one_error_for_each(call: str, code: str) -> None:
    assert errors(call) == [code]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("R.call_pure_packed(o, x, sinfo_args=R.Object)", "OBL-packed-function"),
        ("R.call_py_func(o, (x,), out_sinfo=R.Object)", "OBL-name-string"),
        (f"R.call_tir(cls.kernel, (o,), out_sinfo={T})", "OBL-passed-kind"),
        ("R.make_closure(cls.closure, o)", "D14-argument"),
    ],
)
def test_an_object_may_be_what_is_expected(call: str, code: str) -> None:
    report = check_text(PROGRAM.format(call=call), "calls.rlx")
    assert [(d.code, d.severity) for d in report.diagnostics] == [(code, "warning")]


def test_a_call_may_have_no_results() -> None:
    found = outcome('R.call_dps_packed("copy", (x,), out_sinfo=[])')
    assert isinstance(found, Returned) and isinstance(found.value, TupleValue)
    assert found.value.fields == ()
