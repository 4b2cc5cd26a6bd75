"""Syntax errors: what was expected, in words; and reading goes on, so that one run reports several."""

from __future__ import annotations

import random

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import bindings_in
from rlx.grammar.read import outline
from rlx.grammar.read.lexer import MAX_NESTING
from rlx.grammar.read.parser import (
    ParseError,
    parse,
    parse_expr,
    parse_prim_expr,
    parse_struct_info,
)

HEAD = "@R.function\ndef f(x: R.Tensor((4,), 'float32')):\n"


@pytest.mark.parametrize(
    ("body", "message", "line", "column"),
    [
        ("    y = R.add(x, )) + 1\n    return y", "found ')'", 3, 19),
        ("    y R.exp(x)\n    return x", "found 'R.exp('", 3, 7),
        (
            "    y = R.add(x, x\n    z = x\n    return z",
            "expected ')' or ',', found the end of the line",
            3,
            19,
        ),
        ("    y = 'abc\n    return x", "this string is not closed on its line", 3, 9),
        ("    y = x $ x\n    return x", "'$' is not allowed in a Relax text", 3, 11),
        ("    while x:\n        y = x\n    return x", "Relax has no loops", 3, 5),
        ("    if x:\n        y = x\n    return x", "an if of Relax needs an else", 3, 5),
        ("    y = x", "the function 'f' has no return statement", 2, 5),
        ("    return x\n    y = x", "statements after a return are never executed", 4, 5),
        ("    y = R.shape(x)\n    return x", "R.shape takes a list of dimensions", 3, 17),
        ("    y = R.const('a')\n    return x", "expected the data of a constant", 3, 17),
        ("    y: R.Tensor(4) = x\n    return x", "expected the shape of a tensor", 3, 17),
        (
            "    y = T.alloc_buffer((4,), 'int8')\n    return x",
            "T.alloc_buffer is not a value",
            3,
            9,
        ),
        ("    y = T.handle('int8')\n    return x", "T.handle is not a value", 3, 9),
        ("    y = T.launch_thread('threadIdx.x', 3)\n    return x", "is not a value", 3, 9),
        ("    x += 1\n    return x", "a Relax variable is bound only once", 3, 5),
        ("    y: 4 = x\n    return x", "expected an annotation", 3, 8),
        ("    y = os.system('ls')\n    return x", "unknown name 'os.system'", 3, 9),
        (
            "    y = R.const(1, 'quux')\n    return x",
            "expected a data type such as 'float32', found 'quux'",
            3,
            20,
        ),
        (
            "    with open('f'):\n        y = x\n    return x",
            "expected `with R.dataflow():`",
            3,
            10,
        ),
    ],
)
def test_message_and_place(body: str, message: str, line: int, column: int) -> None:
    parsed = parse(HEAD + body)
    found = parsed.diagnostics[0]
    assert found.code == "PARSE" and found.is_error
    assert message in found.message
    assert found.span is not None
    assert parsed.source.position(found.span[0]) == (line, column)


def test_one_run_reports_several() -> None:
    parsed = parse(
        HEAD + "    a = R.add(x, ))\n    b = R.exp(a)\n    c = = b\n    return b\n\n"
        "@R.function\ndef g(x: R.Tensor) -> :\n    return x\n\n"
        "@R.function\ndef h(x: R.Tensor):\n    return x\n"
    )
    lines = [parsed.source.position(d.span[0])[0] for d in parsed.diagnostics if d.span]
    assert lines == [3, 5, 9]
    assert [v.name_hint for v in parsed.modules[0].functions] == ["f", "g", "h"]


def test_what_could_not_be_read_binds_its_name() -> None:
    parsed = parse(HEAD + "    a = R.add(x, ))\n    b = R.exp(a)\n    return b")
    (function,) = parsed.modules[0].functions.values()
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    values = {b.var: b.value for b in bindings_in(function.body) if isinstance(b, ast.VarBinding)}
    (call,) = (value for value in values.values() if isinstance(value, ast.Call))
    (argument,) = call.args
    assert isinstance(argument, ast.Var)
    error = values[argument]
    assert isinstance(error, ast.ErrorExpr) and error.span is not None
    assert parsed.source.position(error.span[0]) == (3, 5)


def test_nesting_has_a_documented_limit() -> None:
    deep = "(" * (MAX_NESTING + 1) + "x" + ")" * (MAX_NESTING + 1)
    parsed = parse(HEAD + f"    y = {deep}\n    return y")
    assert any(f"deeper than {MAX_NESTING}" in d.message for d in parsed.diagnostics)
    allowed = "(" * (MAX_NESTING - 2) + "x" + ")" * (MAX_NESTING - 2)
    assert not parse(HEAD + f"    y = {allowed}\n    return y").diagnostics
    assert MAX_NESTING >= 500


def test_what_a_prim_func_does_that_is_python_is_kept() -> None:
    parsed = parse(
        "@T.prim_func\ndef f(a: T.handle):\n    A = T.match_buffer(a, (4,), 'int8')\n"
        "    with T.launch(3) as q:\n        A[0] = q\n    A[1] = T.int8(2)\n"
    )
    assert {d.severity for d in parsed.diagnostics} == {"note"}
    assert len(parsed.modules) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "x = 1\n", "class M:\n    pass\n"])
def test_no_program_at_all(text: str) -> None:
    (found,) = parse(text, "empty.rlx").diagnostics
    assert found.is_error and found.code == "PARSE"


def test_pieces_raise() -> None:
    for read, text in (
        (parse_expr, "R.add(x,"),
        (parse_struct_info, "R.Tensor((4, )"),
        (parse_struct_info, "4"),
        (parse_prim_expr, "n +"),
        (parse_prim_expr, "{}"),
    ):
        with pytest.raises(ParseError) as raised:
            read(text)
        assert raised.value.diagnostics[0].severity == "error"


def test_an_open_bracket_ends_before_the_next_statement() -> None:
    open_bracket = "expected ',' or ']', found the end of the line"
    second = "expected ',' or the end of the line, found 'q'"
    for end, expected in {"": [open_bracket], " q": [open_bracket, second]}.items():
        found = parse(HEAD + f"    y = R.exp([x\n    return y{end}\n").diagnostics
        assert [each.message for each in found] == expected


def test_an_output_that_cannot_be_read_may_export_any_variable() -> None:
    block = "    with R.dataflow():\n        y = R.exp(x)\n        R.output(y z)\n    return y\n"
    assert [d.message for d in check_text(HEAD + block).diagnostics] == [
        "expected ')' or ',', found 'z'"
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_ends_and_tabs(ending: str) -> None:
    text = HEAD + "    y = R.add(x,\n              x)  # twice\n\n    return y\n"
    for indent in ("    ", "\t"):
        parsed = parse(text.replace("    ", indent).replace("\n", ending))
        assert not parsed.diagnostics


@pytest.mark.parametrize("dimension", ["cuda:0", "n n", "n = 3", "n + 1 m"])
def test_a_quoted_dimension_is_one_expression(dimension: str) -> None:
    (found,) = parse(
        f'@R.function\ndef f(x: R.Tensor(("{dimension}", 4))):\n    return x\n'
    ).diagnostics
    assert found.message == f"expected a dimension in the string {dimension!r}"


@pytest.mark.parametrize(("value", "kind"), [("u[0]", "uint8"), ("b[0]", "bool")])
def test_what_has_no_sign_has_no_minus(value: str, kind: str) -> None:
    head = '@T.prim_func\ndef f(u: T.Buffer((4,), "uint8"), b: T.Buffer((4,), "bool")):\n'
    (found,) = parse(f"{head}    u[0] = -{value}\n").diagnostics
    assert found.message == f"unary minus is not supported for a value of type {kind}"


TENSORS = HEAD.replace("x:", "x: R.Tensor((4,), 'float32'), t: R.Tuple(R.Tensor), LONG:")


@pytest.mark.parametrize("owner", ["x", "(x)", "t", "t[0]", "R.add(x, x)", "x.shape"])
@pytest.mark.parametrize("name", ["shape", "dtype", "ndim", "T", "shap", "shapes", "Shape", "size"])
def test_no_attribute_but_the_shape(owner: str, name: str) -> None:
    found = parse(f"{TENSORS}    y = {owner}.{name}\n    return y")
    if name == "shape" and owner != "x.shape":
        assert not found.diagnostics
    else:
        (said,) = found.diagnostics
        assert "a Relax value has no attribute" in said.message and name in said.message


@pytest.mark.parametrize("length", range(1, 80))
def test_the_help_for_an_operator_repeats_operands_up_to_a_length(length: int) -> None:
    name = "v" * length
    text = TENSORS.replace("LONG", name)
    (two, one) = (
        parse(f"{text}    y = {line}\n    return y").diagnostics[0].help
        for line in (f"x << {name}", f"not {name}")
    )
    assert two == (f"write R.left_shift(x, {name})" if length + 3 < 60 else None)
    assert one == (f"write R.logical_not({name})" if length < 60 else None)


@pytest.mark.parametrize("limit", [0, 1, 4, 30])
@pytest.mark.parametrize("seed", range(20))
def test_each_line_that_is_too_long_is_told(
    limit: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    lines = ["ab "[at % 3] * rng.randrange(2 * limit + 2) for at in range(rng.randrange(6))]
    text = "\n".join(lines)
    monkeypatch.setattr(outline, "MAX_LINE", limit)
    spans = outline.long_lines(text)
    assert [text[slice(*span)] for span in spans] == [line for line in lines if len(line) > limit]
    assert all(text[:start].endswith("\n") or start == 0 for start, _ in spans)
    said = [d.span for d in parse(text).diagnostics if "too long to be read" in d.message]
    assert said == [(start, start + 1) for start, _ in spans]


@pytest.mark.parametrize("given", ["None", "0", "b", "name='x'"])
def test_the_start_of_a_reduction_takes_no_arguments(given: str) -> None:
    text = f"""@T.prim_func(s_tir=True)
def f(b: T.Buffer((8,), "int32")):
    with T.sblock("x"):
        v = T.axis.spatial(8, 0)
        with T.init({given}):
            b[v] = 0
        b[v] = 1
"""
    assert [d.message for d in parse(text).diagnostics] == ["T.init takes no arguments"]


@pytest.mark.parametrize("blank", ["", "\\\n", "\\\n\\\n"])
@pytest.mark.parametrize("statement", ["m =", "m = 1 +", "m = n * -"])
def test_the_end_of_a_statement_in_a_prim_func(statement: str, blank: str) -> None:
    """Python says where it stopped, which may be an empty line; what was expected there says more."""
    text = f"@T.prim_func\ndef f(n: T.int64):\n    {statement} {blank}\n    T.evaluate(n)\n"
    (found,) = parse(text).diagnostics
    assert found.message == "expected an expression, found the end of the line"


NUMBERS = [
    *("1__0", "1_", "1__0.", "1_.", "1._0", "1._", "1__0e5", "1.0__1", "0__7.", "1_e1", ".5_"),
    *(".5__0", "1_0._5", "0x_", "0b2", "٣"),
    "１",  # noqa: RUF001
    "1٣",
    "٣.5",
]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "line",
    [
        "@R.function\ndef f(x: R.Object):\n    return R.const({})\n",
        "@R.function\ndef f(x: R.Object):\n    return R.const([1, {}], 'float32')\n",
        "@R.function\ndef f(x: R.Tensor(({}, 2), 'int8')):\n    return x\n",
        "@R.function\ndef f(x: R.Tensor(('{}', 2), 'int8')):\n    return x\n",
        "@T.prim_func\ndef f(b: T.Buffer((4,), 'float32')):\n    b[0] = T.float32({})\n",
    ],
)
def test_what_is_no_number_of_python_is_an_error(line: str, number: str) -> None:
    """Underlines stand between digits, and the digits are those of ASCII."""
    assert any(d.is_error for d in parse(line.format(number)).diagnostics)
    assert check_text(line.format(number), "f.py").diagnostics
