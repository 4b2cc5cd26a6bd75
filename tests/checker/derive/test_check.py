"""The whole check: all that is wrong with a text in one run, each mistake once, in order."""

from __future__ import annotations

import pytest

from rlx.checker.check import Report, check_module, check_text
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import show
from rlx.grammar.read.parser import parse


def codes(report: Report) -> list[str]:
    return [d.code for d in report.diagnostics]


def test_a_clean_text() -> None:
    text = '@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    return R.exp(R.exp(x))\n'
    report = check_text(text, "clean.rlx")
    assert report.diagnostics == ()
    assert report.source.path == "clean.rlx"
    (module,) = report.modules
    (gv,) = module.functions
    assert show(report.info[gv]) == "Callable((Tensor((n,), float32)) -> Tensor((n,), float32))"


EVERYTHING = """
@I.ir_module
class First:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((5,), "float32"):
        y: R.Tensor((3,), "float32") = x
        z = R.add(y, undefined)
        return x

@I.ir_module
class Second:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = (x)[3]
        z = R.add(x, ))
        return R.no_such_operator(x)
"""


def test_all_mistakes_of_all_modules_in_the_order_of_the_text() -> None:
    report = check_text(EVERYTHING)
    expected = ["D11-annotation", "WF02-undefined", "D15-result", "D12-tuple", "PARSE"]
    assert codes(report) == [*expected, "D14-operator"]
    positions = [d.span for d in report.diagnostics]
    assert positions == sorted(positions)  # type: ignore[type-var]
    assert len(report.modules) == 2


def test_an_operator_that_nobody_declared_is_noted_once_in_a_file() -> None:
    function = "@I.ir_module\nclass {}:\n    @R.function\n    def main(x: R.Object):\n        y = R.unheard_of(x)\n        return y\n\n"
    report = check_text(function.format("A") + function.format("B"))
    assert codes(report) == ["D14-operator"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("y = z\n    w = R.add(y, z)\n    return w", "WF02-undefined"),
        ("y = R.exp\n    return y", "WF09-value"),
        ('y: R.Tensor((k,), "float32") = x\n    return y', "WF14-unbound"),
        ('y = R.zeros(R.shape([k]), "float32")\n    return y', "WF05-unbound"),
    ],
)
def test_what_well_formedness_reports_is_not_reported_again(body: str, code: str) -> None:
    text = f'@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    {body}\n'
    assert set(codes(check_text(text))) == {code}


def test_obligations_of_all_modules_are_counted() -> None:
    function = (
        '@I.ir_module\nclass A:\n    @R.function\n    def main(x: R.Tensor(("n", 4))):\n'
        "        y = R.reshape(x, R.shape([2, 2, n]))\n        return y\n\n"
    )
    held = check_text(function + function.replace("class A", "class B")).obligations
    assert (held.proved, held.refuted, held.unknown) == (2, 0, 0)


def test_devices_are_propagated() -> None:
    text = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @R.function
    def main(x: R.Tensor((4,), "float32", "llvm:0"), y: R.Tensor((4,), "float32")):
        z = R.add(x, y)
        return z
"""
    report = check_text(text)
    assert report.diagnostics == ()
    (y,) = (v for v in report.info if isinstance(v, ast.Var) and v.name_hint == "y")
    info = report.info[y]
    assert isinstance(info, ast.TensorStructInfo)
    assert info.vdevice is not None


def test_a_module_that_was_not_read_from_a_text_of_its_own() -> None:
    parsed = parse("@R.function\ndef main(x: R.Object):\n    return x[0]\n")
    report = check_module(parsed.modules[0], parsed.source)
    assert codes(report) == ["D12-tuple"]
