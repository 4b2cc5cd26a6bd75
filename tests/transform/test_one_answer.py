"""One cast, one answer: of the checker, of the list of checks, of elimination and of the machine."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Returned
from rlx.transform.dynamic_checks import eliminate

HEAD = """
@I.ir_module
class M:
    @R.function
    def f(a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        return a
    @R.function(pure=False)
    def g(a: R.Object) -> R.Object:
        return a
"""
ANSWERS = {
    ("cls.f", "R.Callable"): "redundant",
    ("cls.g", "R.Callable"): "redundant",
    ("cls.f", "R.Object"): "redundant",
    ("cls.f", 'R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32"))'): "needed",
    ("cls.f", 'R.Callable((R.Tensor((k,), "float32"),), R.Tensor((k,), "float32"))'): "redundant",
    ("cls.f", "R.Callable((R.Object, R.Object), R.Object)"): "impossible",
    ("cls.f", 'R.Callable((R.Tensor((4,), "float32"),), R.Shape)'): "impossible",
    ("cls.f", "R.Callable(ret=R.Shape)"): "impossible",
    ("cls.f", "R.Tensor"): "impossible",
    ('R.ExternFunc("h")', "R.Callable"): "redundant",
    ('R.ExternFunc("h")', "R.Shape"): "impossible",
    ("(cls.f, x)", "R.Tuple(R.Callable, R.Tensor)"): "redundant",
    ("(cls.f, x)", "R.Tuple(R.Callable)"): "impossible",
    ("R.prim_value(3)", "T.int64"): "redundant",
    ("R.prim_value(3)", "T.int32"): "impossible",
    ("R.prim_value(3)", "R.Prim(value=4)"): "impossible",
    ("R.shape([1, 2])", "R.Shape(ndim=2)"): "redundant",
    ("R.shape([1, 2])", "R.Shape([2, 2])"): "impossible",
    ("x", "R.Tensor(ndim=1)"): "redundant",
    ("x", 'R.Tensor((0,), "float32")'): "impossible",
    ('R.str("a")', "R.Tensor"): "needed",
}
FAILS = {
    ("cls.f", "R.Callable(purity=True, ret=R.Shape)"),
    ("cls.g", "R.Callable(purity=True, ret=R.Object)"),
    ('R.ExternFunc("h")', "R.Callable((R.Object,), R.Object, False)"),
    ('R.str("a")', "R.Tensor"),
}
"""Casts that fail though what is known of the value may not say so."""


@pytest.mark.parametrize(("value", "target"), [*ANSWERS, *sorted(FAILS - set(ANSWERS))])
def test_all_agree(value: str, target: str) -> None:
    text = f"""{HEAD}
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Object:
        cls = M
        v = {value}
        y = R.match_cast(v, {target})
        return y
"""
    report = check_text(text)
    codes = [d.code for d in report.diagnostics]
    (module,) = report.modules
    (check,) = [c for c in analyse(module) if c.kind == "cast"]
    if (value, target) in ANSWERS:
        assert check.status == ANSWERS[value, target]
    assert codes == (["D11-cast"] if check.status == "impossible" else [])
    removed = eliminate(module) is not module
    assert removed == (check.status == "redundant")
    import numpy as np

    from rlx.semantics.values import Tensor

    outcome = load(module, packed={"h": lambda *_: None}).run(
        "main", [Tensor(np.zeros(4, "float32"))]
    )
    fails = check.status == "impossible" or (value, target) in FAILS
    assert isinstance(outcome, CheckFailed if fails else Returned)
