"""Spelling of calls: attributes are plain, null is only a value, tuples only where they are meant."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module

TEXT = """@R.function(pure=False)
def main(x: R.Tensor((n, 4), "float32"), t: R.Tuple(R.Tensor((n, 4), "float32")), o: R.Object):
    n = T.int64()
    y = {}
    return y
"""


def said(call: str) -> list[tuple[str, str]]:
    """The codes and severities of what is said about a call."""
    found = check_text(TEXT.format(call), "<call>").diagnostics
    return [(d.code, d.severity) for d in found]


ARGUMENT = [("D14-argument", "error")]


@pytest.mark.parametrize(
    "call",
    [
        "R.sum(x, axis=R.prim_value(1))",
        "R.sum(x, R.prim_value(1))",
        "R.sum(x, [R.prim_value(1)])",
        "R.sum(x, axis=R.shape([1]))",
        'R.astype(x, R.dtype("float16"))',
        'R.astype(x, dtype=R.str("float16"))',
        "R.cumsum(x, axis=R.null_value())",
        'R.nn.pad(x, (1, 1, 2, 2), pad_mode=R.str("constant"))',
    ],
)
def test_an_attribute_stands_in_no_box(call: str) -> None:
    assert said(call) == ARGUMENT


@pytest.mark.parametrize(
    "call",
    [
        "R.sum(x, axis=1)",
        "R.sum(x, None)",
        'R.astype(x, "float16")',
        'R.memory.view(x, R.shape([n, 4]), R.dtype("float32"))',
        'R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("float32"), R.prim_value(0), R.str("global"))',
        "R.full((n, R.prim_value(4)), R.const(1.0, 'float32'))",
        'R.print(x, format=R.str("{}"))',  # as TVM prints it
        'R.assert_op(R.const(True, "bool"), x, format=R.str("{}"))',
    ],
)
def test_an_expression_may_stand_in_one(call: str) -> None:
    assert said(call) == []


@pytest.mark.parametrize(
    "call",
    [
        "R.exp(None)",
        'R.print(None, format="{}")',
        "R.memory.kill_tensor(None)",
    ],
)
def test_null_is_no_operand(call: str) -> None:
    assert said(call) == ARGUMENT


@pytest.mark.parametrize(
    "call", ["R.concat((x, None))", "R.invoke_closure(o, (None,), sinfo_args=R.Object)"]
)
def test_null_is_no_field(call: str) -> None:
    assert said(call) == [("PARSE", "error")]


@pytest.mark.parametrize(
    "call",
    [
        "R.memory.kill_tensor((x,))",
        "R.grad.no_grad((x,))",
        "R.shape_to_tensor((1, 2))",
        'R.print((x,), format="{}")',
    ],
)
def test_a_tuple_is_no_single_value(call: str) -> None:
    assert said(call) == ARGUMENT


def test_an_attribute_has_32_bits() -> None:
    assert said("R.repeat(x, repeats=4294967296)") == ARGUMENT
    assert said("R.split(x, [4294967296], axis=1)") == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('R.call_dps_packed("f", t, out_sinfo=R.Tensor((n, 4), "float32"))', "warning"),
        ('R.call_dps_packed("f", 1, out_sinfo=R.Tensor((n, 4), "float32"))', "error"),
        ("R.invoke_closure(o, t, sinfo_args=R.Object)", "warning"),
        ("R.invoke_closure(o, x, sinfo_args=R.Object)", ""),
        ("R.invoke_closure(o, (x,), sinfo_args=R.Object)", ""),
    ],
)
def test_the_arguments_of_a_call_stand_in_it(call: str, expected: str) -> None:
    found = [s for code, s in said(call) if code == "OBL-written-tuple"]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ('R.device("cpu", 0)', ""),
        ('"cuda:0"', ""),
        ('"cpu"', ""),
        ('"foo"', "error"),
        ("1", "error"),
        ("(1, 2)", "error"),
        ("o", "warning"),
    ],
)
def test_a_hint_names_a_device(device: str, expected: str) -> None:
    found = [s for code, s in said(f"R.hint_on_device(x, {device})") if code == "OBL-hint-device"]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ('R.Tensor((n, 4), "float32")', ""),
        ("R.Tensor((n, 4))", ""),
        ('R.Tensor((n, 4), "float32", "cuda:0")', "warning"),
        ("R.Shape([n, 4])", "error"),
    ],
)
def test_what_is_overwritten_is_what_is_yielded(info: str, expected: str) -> None:
    call = f'R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args={info})'
    found = [s for code, s in said(call) if code == "OBL-kept-info"]
    assert found == ([expected] if expected else [])


def test_results_that_older_texts_leave_out() -> None:
    assert said("R.invoke_closure(o, (x,))") == [("OBL-stated-result", "warning")]
    assert said('R.call_py_func("f", x, x, out_sinfo=R.Tensor((n, 4), "float32"))') == []


@pytest.mark.parametrize("kind", ["int", "float"])
def test_a_number_with_a_type_keeps_it(kind: str) -> None:
    text = f'@R.function\ndef main(x: R.Tensor((4,), "{kind}32")):\n    y = {{}}\n    return y\n'
    number = 3 if kind == "int" else 3.0
    for call, agrees in (
        (f"R.add(x, {number})", True),
        (f"R.add(x, T.{kind}32({number}))", True),
        (f"R.add(x, T.{kind}64({number}))", False),
        (f"x * T.{kind}64({number})", False),
    ):
        report = check_text(text.format(call))
        again = check_text(print_module(report.modules[0]))
        assert (report.ok, again.ok) == (agrees, agrees), call


def test_a_number_has_32_bits() -> None:
    text = '@R.function\ndef main(x: R.Tensor((4,), "int64")):\n    y = {}\n    return y\n'
    warned = [("OBL-agree-dtype", "warning")]
    for call, expected in (
        ("R.add(x, 1)", warned),
        ("R.add(1, x)", warned),
        ("R.add(x, R.prim_value(1))", []),
        ('R.add(x, R.const(1, "int64"))', []),
        ("R.add(1, 2)", []),
    ):
        found = check_text(text.format(call), "<call>").diagnostics
        assert [(d.code, d.severity) for d in found] == expected, call
