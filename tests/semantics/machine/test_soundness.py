"""Derived struct info holds at run time: programs of the examples, of the checker's tests, and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import Report, check_module, check_text
from rlx.generate import inputs_for, modules
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.operators.evaluation import OperatorFault
from rlx.semantics.machine.numpy_conversion import typed
from rlx.semantics.outcome import CheckFailed, Outcome, OutOfFuel, Returned, Unsupported
from rlx.semantics.run.inputs import InputError, inputs
from rlx.semantics.values import Value
from tests.examples.test_markdown import CASES
from tests.semantics.machine.packed import PACKED
from tests.semantics.machine.running import HEADER
from tests.semantics.machine.soundness import examine

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.rlx"))
SIZES = (0, 1, 3)
"""Numbers for the shape variables of a signature, as long as they all may be alike."""


def outcomes(text: str, name: str) -> list[tuple[str, Outcome | None]]:
    """The outcomes of the functions of a clean program, each for several sizes."""
    report = check_text(text, name)
    if any(d.is_error for d in report.diagnostics):
        return []
    return [
        (function.name_hint, examine(report, module, function.name_hint, args))
        for module in report.modules
        for function, node in module.relax_functions.items()
        for args in arguments(node)
    ]


def arguments(node: ast.Function) -> list[tuple[Value, ...]]:
    """Arguments for a function, if there can be made some up."""
    found = []
    for size in SIZES if node.shape_vars else (1,):
        names = {p.name_hint for p in node.params}
        given = {v.name: str(size) for v in node.shape_vars if v.name not in names}
        try:
            found.append(inputs(node, given, seed=size).values)
        except (InputError, OperatorFault):  # nothing of that type can be made up
            return []
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    found = outcomes(path.read_text(encoding="utf-8"), path.name)
    assert found
    assert not [(name, end) for name, end in found if not expected_of(end)]


def expected_of(end: Outcome | None) -> bool:
    """Whether a program that the checker has nothing against may end so: it may ask what is false, or what is not here."""
    return (
        end is None
        or isinstance(end, Returned | CheckFailed | Unsupported)
        or getattr(end, "code", "") == "E-extern-registered"
    )


@pytest.mark.parametrize(("name", "text"), [c[:2] for c in CASES], ids=[c[0] for c in CASES])
def test_programs_of_the_checkers_tests(name: str, text: str) -> None:
    for _, end in outcomes(text, name):  # what else must not be, `examine` says
        assert end is None or not isinstance(end, OutOfFuel)


BY_HAND = {
    "shapes": """
@R.function
def main(x: R.Tensor((n, m), "float32")) -> R.Tensor((m * n,), "float32"):
    with R.dataflow():
        s = R.shape([m * n])
        flat = R.reshape(x, s)
        twice = R.add(flat, flat)
        R.output(twice)
    return twice
""",
    "closures": """
@R.function
def main(x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
    cls = M
    @R.function
    def inner(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        z = R.add(x, y)
        return z
    again = cls.apply(inner, x)
    return again

@R.function(private=True)
def apply(
    f: R.Callable((R.Tensor((n,), "float32"),), R.Tensor((n,), "float32"), True),
    x: R.Tensor((n,), "float32"),
) -> R.Tensor((n,), "float32"):
    y = f(x)
    return f(y)
""",
    "branches": """
@R.function
def main(x: R.Tensor((n,), "float32"), c: R.Tensor((), "bool")) -> R.Any:
    if c:
        y = R.concat((x, x), axis=0)
        r = (y, R.shape([n]))
    else:
        r = (x, R.shape([n + 1]))
    a = r[0]
    return (a, r)
""",
    "casts": """
@R.function
def main(x: R.Any) -> R.Tensor(ndim=2, dtype="float32"):
    a, b = T.int64(), T.int64()
    y = R.match_cast(x, R.Tensor((a, b), "float32"))
    with R.dataflow():
        z = R.permute_dims(y)
        w = R.reshape(z, R.shape([b, a]))
        R.output(w)
    return w
""",
    "recursion": """
@R.function
def main(k: R.Prim(value=n), x: R.Tensor((m,), "float32")) -> R.Tensor((m,), "float32"):
    cls = M
    if R.prim_value(n < 1):
        r: R.Tensor((m,), "float32") = x
    else:
        y = R.multiply(x, x)
        r: R.Tensor((m,), "float32") = cls.main(R.prim_value(n - 1), y)
    return r
""",
}


def by_hand(name: str) -> Report:
    body = "\n".join("    " + line for line in BY_HAND[name].strip().splitlines())
    report = check_text(HEADER + body)
    assert not [d for d in report.diagnostics if d.is_error], report.diagnostics
    return report


@pytest.mark.parametrize("name", BY_HAND)
def test_programs_by_hand(name: str) -> None:
    report = by_hand(name)
    (module,) = report.modules
    node = module["main"]
    assert isinstance(node, ast.Function)
    made = arguments(node)
    if name == "casts":
        from rlx.semantics.values import Tensor

        made = [(Tensor(np.ones(shape, np.float32)),) for shape in ((2, 3), (0, 1))]
    assert made
    for args in made:
        assert isinstance(examine(report, module, "main", args), Returned)


@given(modules(size=8), st.data())
def test_generated_programs(module: ast.IRModule, data: st.DataObject) -> None:
    report = check_module(module, Source("", "generated"))
    (normal,) = report.modules
    for function, node in normal.relax_functions.items():
        if "global_symbol" in node.attrs:
            plain = data.draw(inputs_for(node))
            infos = [p.struct_info_annotation for p in node.params]
            args = [typed(p, info) for p, info in zip(plain, infos, strict=True)]
            examine(report, normal, function.name_hint, args, PACKED)
