"""Spellings that few texts have: each is the same program as a usual one, or is refused in words; and the same program
is printed for it.
"""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.lexer import MAX_NESTING
from rlx.grammar.read.parser import parse

VECTOR = 'x: R.Tensor((4,), "float32")'
GIVEN = f"g: R.Object, {VECTOR}"


def relax(body: str, parameters: str = VECTOR) -> str:
    """A Relax function."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"@R.function(pure=False)\ndef f({parameters}):\n{lines}"


def prim(body: str, parameters: str = "") -> str:
    """A PrimFunc on two vectors, or on other parameters."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    vectors = 'A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")'
    return f"@T.prim_func(s_tir=True)\ndef f({parameters or vectors}):\n{lines}"


SAME = {
    "relax.Tensor": (relax("return x", "x: relax.Tensor"), relax("return x", "x: R.Tensor")),
    "tir.handle": (
        prim("T.evaluate(a)", "a: tir.handle, b: tir.int32"),
        prim("T.evaluate(a)", "a: T.handle, b: T.int32"),
    ),
    "unknown dimensions": (
        relax(
            'y: R.Shape([_, 4]) = s\nz: R.Tuple(R.Tensor((_, 4), "float32"), R.Shape([_])) = t\n'
            "g: R.Callable((R.Object,), R.Tensor((_,))) = h\nreturn y",
            "s: R.Shape, t: R.Object, h: R.Object",
        ),
        relax(
            "y: R.Shape(ndim=2) = s\n"
            'z: R.Tuple(R.Tensor("float32", ndim=2), R.Shape(ndim=1)) = t\n'
            "g: R.Callable((R.Object,), R.Tensor(ndim=1)) = h\nreturn y",
            "s: R.Shape, t: R.Object, h: R.Object",
        ),
    ),
    "a text in three quotes": (
        relax("y = R.str('''a b''')\nz = R.str(\"\"\"c\"\"\")\nreturn y"),
        relax('y = R.str("a b")\nz = R.str("c")\nreturn y'),
    ),
    "a field by a typed number": (
        relax("y = t[T.int64(1)]\nreturn y", "t: R.Tuple(R.Tensor((4,)), R.Object)"),
        relax("y = t[1]\nreturn y", "t: R.Tuple(R.Tensor((4,)), R.Object)"),
    ),
    "typed numbers in constants": (
        relax('y = R.const([T.int32(3), T.int32(4)])\nz = R.const(T.float32("inf"))\nreturn y'),
        relax('y = R.const([3, 4], "int32")\nz = R.const("inf", "float32")\nreturn y'),
    ),
    "a data type as a value": (
        relax('y: R.Tensor((2,), R.dtype("int8")) = R.const([1, 2], R.dtype("int8"))\nreturn y'),
        relax('y: R.Tensor((2,), "int8") = R.const([1, 2], "int8")\nreturn y'),
    ),
    "a cast of 2022 with a list": (
        relax("y = R.cast(x, [R.Tensor(ndim=1)])\nreturn y"),
        relax("y = R.match_cast(x, R.Tensor(ndim=1))\nreturn y"),
    ),
    "variables of tir_vars by place": (
        relax('y = R.call_tir(g, (x,), R.Tensor((4,), "float32"), R.shape([4]))\nreturn y', GIVEN),
        relax(
            'y = R.call_tir(g, (x,), out_sinfo=R.Tensor((4,), "float32"),'
            " tir_vars=R.shape([4]))\nreturn y",
            GIVEN,
        ),
    ),
    "several results of 2022": (
        relax('y = R.call_tir([(4,), (2,)], "f", (x,))\nreturn y'),
        relax(
            'y = R.call_dps_packed("f", (x,), out_sinfo=[R.Tensor((4,)), R.Tensor((2,))])\nreturn y'
        ),
    ),
    "a bracket of brackets": (
        relax("return x", 'x: R.Tensor[[4, 4], "float32"], y: R.Tensor[[4, 4]]'),
        relax("return x", 'x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4))'),
    ),
    "bytes that are no characters": (
        relax(r'y = R.str("\xff\xfe \xc3\xa4")' + "\nreturn y"),
        relax('y = R.str("\xff\xfe \xe4")\nreturn y'),
    ),
    "a division of floats": (prim("B[0] = T.Div(A[0], A[1])"), prim("B[0] = A[0] / A[1]")),
    "pointers": (
        prim("p: T.let[T.Ptr[T.float32]] = A.data\nB[0] = A[0]"),
        prim('p: T.let[T.handle("float32")] = A.data\nB[0] = A[0]'),
    ),
    "types of parameters": (
        prim("T.evaluate(c)", "c: T.let[T.int32], d: T.handle('float32'), e: T.Ptr(T.float32)"),
        prim("T.evaluate(c)", "c: T.int32, d: T.handle('float32'), e: T.handle('float32')"),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_both_are_the_same(name: str) -> None:
    first, second = map(parse, SAME[name])
    assert not first.diagnostics and not second.diagnostics
    assert structural_equal(first.modules[0], second.modules[0])
    printed = print_module(first.modules[0], "0.27")
    assert printed == print_module(second.modules[0], "0.27")
    assert structural_equal(first.modules[0], parse(printed).modules[0])


KEPT = {
    "loops of dependent extents": prim(
        "for i in range(4):\n    for j in range(i + 1):\n        B[i] = A[j]"
    ),
    "an empty block": prim('with T.sblock("b"):\n    pass\nB[0] = A[0]'),
    "attributes in attributes": prim(
        'T.func_attr({"a": {"b": 1}})\n'
        'for i in T.serial(4, annotations={"c": {"d": {"e": "s"}}}):\n    B[i] = A[i]'
    ),
    "the stride of a variable": prim(
        "A = T.match_buffer(a, (4,), strides=[T.int64()])\nA[0] = 1.0", "a: T.handle"
    ),
    "the value of a comparison": prim(
        'B[0] = T.Let(T.Cast("float32", z), where={z: A[0] > T.float32(1.0)})'
    ),
    "a tuple for a shape": relax("y: R.Shape(ndim=2) = R.tuple(x, x)\nreturn y"),
    "branches that end in dataflow blocks": relax(
        "if c:\n    with R.dataflow():\n        a = R.add(x, x)\n        y = R.exp(a)\n"
        "        R.output(y)\nelse:\n    y = R.exp(x)\nreturn y",
        f'c: R.Tensor((), "bool"), {VECTOR}',
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_printed_is_the_same_program(name: str) -> None:
    read = parse(KEPT[name])
    assert not read.diagnostics
    printed = print_module(read.modules[0], "0.27")
    again = parse(printed)
    assert not again.diagnostics and structural_equal(read.modules[0], again.modules[0])
    assert print_module(again.modules[0], "0.27") == printed


LOOPS = "\n".join(" " * depth + f"for i{depth} in range(4):" for depth in range(MAX_NESTING + 8))
REFUSED = {
    relax(f"y = R.sum(x, axis={'1' * 41})\nreturn y"): (
        "this integer of 41 digits is outside the 64-bit range"
    ),
    relax("y = R.sum(x, axis=0_)\nreturn y"): "'0_' is not an integer literal",
    relax(f"y = R.const(1.{'0' * 401})\nreturn y"): "this number has too many digits",
    relax('y = R.const(float("abc"))\nreturn y'): "float(…) takes a number",
    relax('y = R.const(T.min_value("int32"))\nreturn y'): (
        "expected the data of a constant, found a scalar expression"
    ),
    relax("a, b: R.Tensor = R.split(x, 2)\nreturn a"): "expected one name before the annotation",
    relax(f"y = x{' ** x' * (MAX_NESTING + 1)}\nreturn y"): (
        f"powers are nested deeper than {MAX_NESTING} levels"
    ),
    prim(f"{LOOPS}\n{' ' * (MAX_NESTING + 8)}B[0] = 1.0"): (
        f"blocks are nested deeper than {MAX_NESTING} levels"
    ),
    relax("return x", "x: T.Buffer"): (
        "expected an annotation such as R.Tensor((n, 4), \"float32\"), found the name 'T.Buffer'"
    ),
    relax("return x", 'x: R.Tensor((4,), "float32", "cuda:x")'): (
        "expected a device such as 'cuda:0', found 'cuda:x'"
    ),
    relax("y = x; )\nreturn x"): ("expected an expression, ';', 'assert', 'pass' or …, found ')'"),
    relax(
        "if c:\n    with R.dataflow():\n        a = R.add(x, x)\nelse:\n    y = x\nreturn y",
        f'c: R.Tensor((), "bool"), {VECTOR}',
    ): "a branch of an if must end with the binding of a variable",
    relax('y = metadata[R.str("a")][0]\nreturn y'): "expected a string, found R.str(…)",
    prim("B[0] = T.Let(z, z)"): "T.Let takes a body and where={variable: value}",
    prim("with A[0]:\n    B[0] = 1.0"): "`with` does not accept a number",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(text: str) -> None:
    assert [d.message for d in check_text(text, "a.rlx").diagnostics] == [REFUSED[text]]


VIEW = """@T.prim_func
def f(A: T.Buffer((4, 4), "float32"), m: T.int32, s: T.handle):
    S = T.match_buffer(s, (m, 4), strides=({strides}))
    V = {view}
    A[0, 0] = V[0]
"""


@pytest.mark.parametrize(
    "view",
    [
        *("m.view(16)", "A.view(m)", "A.view()", "A.view(-1, -1)", "A.view(0, -1)"),
        *('A.view("foo")', "S.view(-1)", "S.view(16)"),
        f"A.view({'(' * 300}16{')' * 300})",
    ],
)
def test_a_view_that_rlx_cannot_read_is_kept_as_text(view: str) -> None:
    strides = "" if view == "S.view(-1)" else "8, 1"
    text = VIEW.format(view=view, strides=strides)
    read = parse(text)
    assert {d.code for d in read.diagnostics} == {"PARSE-opaque"}
    assert f"    V = {view}\n" in print_module(read.modules[0], "0.27")


@pytest.mark.parametrize(
    "line",
    [
        "t: R.Tensor",
        "t: 3",
        't: T.handle("float32")',
        "T.match_buffer(A, 4)",
    ],
)
def test_a_line_without_a_meaning_in_a_prim_func_is_kept_as_text(line: str) -> None:
    read = parse(prim(f"{line}\nB[0] = A[0]"))
    assert [d.code for d in read.diagnostics] == ["PARSE-opaque"]
    assert f"    {line}\n" in print_module(read.modules[0], "0.27")


def test_other_assignments_to_metadata_are_no_metadata() -> None:
    text = relax("return x")
    plain = parse(f"{text}metadata = tvm.ir.load_json(1)\n", "a.py")
    assert [d.code for d in plain.diagnostics] == []
    assert structural_equal(plain.modules[0], parse(text).modules[0])
