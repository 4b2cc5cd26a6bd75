"""Reading neither evaluates nor drops anything: what has no place in the tree is an error."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.forms import FORMS
from rlx.grammar.read.parser import parse, parse_expr

HEAD = '@R.function(pure=False)\ndef main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):\n'


def errors(text: str) -> list[str]:
    """The messages of the errors of a text."""
    return [d.message for d in check_text(text).diagnostics if d.is_error]


def formatted(text: str) -> str:
    """The text as `rlx fmt` writes it, which writes that no other way."""
    outcome = format_text(text)
    assert outcome.text is not None, outcome.complaints
    assert format_text(outcome.text).text == outcome.text
    return outcome.text


@pytest.mark.parametrize("literal", ["(x, R.print(x, format='b'))", "[x, R.print(x, format='b')]"])
@pytest.mark.parametrize("index", [0, 1, -1, 2])
def test_a_field_of_a_literal_stays_a_field(literal: str, index: int) -> None:
    found = parse_expr(f"{literal}[{index}]")
    field = 1 if index == -1 else index  # the last one, as in Python
    assert isinstance(found, ast.TupleGetItem) and found.index == field
    assert isinstance(found.tuple_value, ast.Tuple) and len(found.tuple_value.fields) == 2
    text = f"{HEAD}    y = {literal}[{index}]\n    return x\n"
    assert f'y = (x, R.print(x, format="b"))[{field}]' in formatted(text)
    assert bool(errors(text)) == (index == 2)


def test_a_written_tuple_stays_written() -> None:
    text = f"{HEAD}    y = R.tuple(x, x)[0]\n    return y\n"
    assert "y = R.tuple(x, x)[0]" in formatted(text)


@pytest.mark.parametrize("dropped", ["undefined", "R.add(x, R.zeros((5,), 'float32'))"])
def test_a_field_that_nobody_takes_is_checked(dropped: str) -> None:
    assert len(errors(f"{HEAD}    y = (x, {dropped})[0]\n    return y\n")) == 1


@pytest.mark.parametrize(
    "call",
    [
        'R.const(1, "float32"{})',
        "R.shape([4]{})",
        "R.prim_value(1{})",
        'R.str("a"{})',
        'R.dtype("float32"{})',
        'R.ExternFunc("f", R.Callable{})',
        'R.match_cast(x, R.Tensor((4,), "float32"){})',
        "R.shape([T.int64(1{})])",
        'R.shape([T.Cast("int64", 1{})])',
        "R.shape([T.ceildiv(4, 2{})])",
        "R.shape([T.if_then_else(T.Not(True{}), 1, 2)])",
        "R.shape([T.if_then_else(True, 1, 2{})])",
        "R.shape([T.Select(True, 1, 2{})])",
        'R.match_cast(x, R.Tensor((4,), "float32", None, 1{}))',
        "R.match_cast(R.shape([4]), R.Shape([4], 1{}))",
        'R.match_cast(R.prim_value(1), R.Prim("int64"{}))',
        "R.match_cast(x, R.Object({}))",
        'R.match_cast(R.ExternFunc("f"), R.Callable(None, R.Object, True, "default"{}))',
    ],
)
def test_one_argument_too_many_is_an_error(call: str) -> None:
    whole = f"{HEAD}    y = {call}\n    return x\n"
    assert errors(whole.format("")) == []
    extra = "None" if "Object({}" in call else ", None"
    assert len(errors(whole.format(extra))) == 1
    assert len(errors(whole.format(extra.replace("None", "unheard_of=1")))) == 1


@pytest.mark.parametrize("head", sorted(h for h in FORMS if h.startswith("R.")))
def test_an_argument_given_twice_is_an_error(head: str) -> None:
    for name in ("value", "values", "shape", "func", "params", "dtype", "global_symbol"):
        report = parse(f"{HEAD}    y = {head}(x, x, x, {name}=x)\n    return x\n")
        assert [d for d in report.diagnostics if d.is_error] or (
            head.startswith("R.call") or "invoke" in head or "vm." in head
        )


@pytest.mark.parametrize(
    ("statement", "messages"),
    [
        ("x = 5", ["expected a decorated function in the module"]),
        ("x: R.Object = R.exp(y)", ["expected a decorated function in the module"]),
        ("T.foo(1)", ["expected a decorated function in the module"]),
        (
            "I.module_attrs(5)",
            ["I.module_attrs takes a dictionary with strings as keys as 'attrs', found 5"],
        ),
        ('I.module_attrs({"a": 1}, 5)', ["I.module_attrs takes one dictionary"]),
        (
            'I.module_attrs({"a": 1})\n    I.module_attrs({"a": 2})',
            ["I.module_attrs is given twice"],
        ),
        ('"""words"""', []),
        ("pass", []),
    ],
)
def test_statements_of_a_class(statement: str, messages: list[str]) -> None:
    body = '    @R.function\n    def main(x: R.Tensor((4,), "float32")):\n        return x\n'
    text = f"@I.ir_module\nclass M:\n    {statement}\n{body}"
    assert [d.message for d in parse(text).diagnostics] == messages
    if not messages:
        assert ('"""words"""' in formatted(text)) == ("words" in statement)


@pytest.mark.parametrize(
    ("above", "message"),
    [
        ("@R.function(foo=1)", "R.function has no argument 'foo'"),
        ("@R.function\n@foo", "unknown decorator 'foo'"),
        ("@T.prim_func(pure=True)", "T.prim_func has no argument 'pure'"),
    ],
)
def test_decorators_are_known(above: str, message: str) -> None:
    found = parse(f"{above}\ndef main(x: T.int64):\n    return x\n").diagnostics
    assert [d.message for d in found if d.is_error] == [message]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "y = R.exp(x); z = R.sin(y);\n    return z;",
            ["y = R.exp(x)", "z = R.sin(y)", "return z"],
        ),
        (
            "t = (x, x)\n    a, b = t\n    return b",
            ["t = (x, x)", "a = t[0]", "b = t[1]", "return b"],
        ),
        ("a, b = x, c\n    a, b = b, a\n    return a", ["a = x", "b = c", "a_1 = b", "b = a"]),
        (
            "if c: y = x\n    else: z = R.exp(x); y = z\n    return y",
            ["y = x", "z = R.exp(x)", "y = z", "return y"],
        ),
    ],
)
def test_several_statements_in_one(body: str, lines: list[str]) -> None:
    text = f"{HEAD}    {body}\n"
    assert errors(text) == []
    shown = [line.strip() for line in formatted(text).splitlines()]
    assert [line for line in shown if line in lines] == lines, shown


@pytest.mark.parametrize("body", ["a, b = R.split(x, 2)", '"""words"""', "y = +x"])
def test_what_tvm_does_not_read_is_one_error(body: str) -> None:
    assert len(errors(f"{HEAD}    {body}\n    return x\n")) == 1


@pytest.mark.parametrize(
    "comment", ["# import the weights first", "# from here on", "# fmt: off", "# type: ignore"]
)
@pytest.mark.parametrize("where", ["{}\n@R.function", "@R.function", "    {}\n    return x"])
def test_comments_of_people_are_kept(comment: str, where: str) -> None:
    text = f"{HEAD}    return x\n".replace("    return x", f"    {comment}\n    return x")
    if where.startswith("{"):
        text = f"{comment}\n{text}"
    assert formatted(text).count(comment) == text.count(comment)


@pytest.mark.parametrize(
    ("value", "kind"), [("3", "int32"), ("-3", "int32"), ("1.5", "float32"), ("True", "bool")]
)
def test_a_bare_number_is_a_tensor_unless_its_annotation_says_otherwise(
    value: str, kind: str
) -> None:
    text = f"{HEAD}    y = {value}\n    return y\n"
    assert f'y = R.const({value}, "{kind}")' in formatted(text)
    boxed = f"{HEAD}    y: T.{kind} = {value}\n    return y\n"
    assert "R.const" not in formatted(boxed)


def test_what_the_tree_does_not_keep_is_not_formatted() -> None:
    text = "@R.function(check_well_formed=False)\ndef main(x: R.Object):\n    return x\n"
    outcome = format_text(text)
    assert outcome.text is None and "not formatted" in outcome.complaints[0]
    assert format_text(f"# R.DTensor(x), check_well_formed=1\n{HEAD}    return x\n").text
