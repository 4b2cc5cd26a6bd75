"""Programs with devices run: inputs are where parameters are, hints and transfers move them."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.machine.operators import target_device
from rlx.semantics.outcome import CheckFailed, Outcome, Returned
from rlx.semantics.run.inputs import inputs

PROGRAM = """
@I.ir_module
class M:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]}})
    @R.function
    def main(x: R.Tensor((4,), "float32", vdevice="llvm:0")) -> R.Object:
        y: R.Object = {value}
        z = R.match_cast(y, R.Tensor((4,), "float32", vdevice="cuda:0"))
        return z
"""


def outcome(value: str) -> Outcome:
    """The outcome of a program that wants the value on the other device."""
    report = check_text(PROGRAM.format(value=value), "devices.rlx")
    assert not [d for d in report.diagnostics if d.is_error]
    (main,) = report.modules[0].functions.values()
    assert isinstance(main, ast.Function)
    return load(report.modules[0]).run("main", inputs(main, {}).values)


def test_hints_and_transfers_move_a_tensor() -> None:
    for value in ('R.to_vdevice(x, "cuda:0")', "R.hint_on_device(x, R.device(2, 0))"):
        assert isinstance(outcome(value), Returned), value


def test_an_input_is_where_its_parameter_is() -> None:
    for value in ("R.exp(x)", "R.hint_on_device(x, R.cpu(0))"):
        found = outcome(value)
        assert isinstance(found, CheckFailed) and found.code == "E-cast-device"


def test_a_tensor_that_nobody_placed_is_anywhere() -> None:
    assert isinstance(outcome('R.zeros(R.shape([4]), "float32")'), Returned)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("cuda", ("cuda", 0)),
        ("cuda:2", ("cuda", 2)),
        ("cuda:2:global", ("cuda", 2)),
        ("cuda:x", ("cuda", 0)),
        ("cuda:", ("cuda", 0)),
    ],
)
def test_a_text_names_a_device(name: str, wanted: tuple[str, int]) -> None:
    x = ast.Var("x")
    by_position = ast.Call(ast.op("relax.to_vdevice"), (x, ast.StringImm(name)))
    assert target_device(None, by_position, ()) == wanted
    by_keyword = ast.Call(ast.op("relax.to_vdevice"), (x,), attrs={"dst_vdevice": name})
    assert target_device(None, by_keyword, ()) == wanted
    assert target_device(None, ast.Call(ast.op("relax.to_vdevice"), (x,)), ()) is None
