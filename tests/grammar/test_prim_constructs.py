"""Asserts, heads of `with`, `T.Let` and regions matched in blocks: nodes that print as they were read."""

from __future__ import annotations

from textwrap import indent

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

HEAD = """@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((8, 8), "float32"), k: T.float32, n: T.int32):
"""

BODIES = {
    "assert with text": 'assert n > 0, "n is \\"small\\""',
    "assert with parts": 'assert A[n, 0] > T.float32(0.0), ("RuntimeError", ["at ", "0"])',
    "attribute": 'with T.attr(n, "pragma", 1):\n    A[0, 0] = k',
    "threads": 'with T.launch_thread("blockIdx.x", n) as bx:\n    A[bx, 0] = k',
    "let": (
        "for i in range(8):\n"
        '    A[i, 0] = T.Let(T.cos(x) * x, where={x: T.Cast("float32", i) / T.float32(2.0)})\n'
        "    A[i, 1] = T.Let(x, where={x: k}) + T.Let(x + k, where={x: T.float32(2.0)})"
    ),
    "let of a literal": "A[0, T.Let(i + n, where={i: T.int32(3)})] = k",
    "let of a negation": 'A[0, T.Cast("int32", T.Let(x, where={x: not n > 5}))] = k',
    "annotations": (
        't = T.alloc_local((8,), annotations={"addresses": [], "alignment": 64})\n'
        "t[0] = k\n"
        "A[0, 0] = t[0]"
    ),
    "slice with a step": "A[0, n:n + 8:2] = T.Broadcast(k, 4)",
    "slice that runs back": "A[0, 7:-1:-1] = A[1, T.Ramp(0, 1, 8)]",
    "shuffle": "A[0, 0:2] = T.Shuffle([A[1, T.Ramp(0, 1, 4)], k], [4, 0])",
    "pointer": (
        'p: T.let[T.handle("float32", "global")] = A.data\n'
        't = T.decl_buffer((64,), "float32", data=p)\n'
        "t[9] = k"
    ),
    "pointer to an element": (
        'p: T.let[T.handle("float32")] = T.address_of(A[1, 2])\n'
        't = T.decl_buffer((4,), "float32", data=p)\n'
        "t[0] = k"
    ),
    "type of a pointer": 'T.call_extern(T.handle().ty, "memset", T.address_of(A[0, 0]), 0, 32)',
    "region": (
        'with T.sblock("b"):\n'
        '    row = T.match_buffer(A[n, 0:8], (8,), "float32", strides=(1,))\n'
        "    row[3] = k"
    ),
}


def function(body: str) -> tir.PrimFunc:
    result = parse(HEAD + indent(body, "        "))
    assert not result.diagnostics, [d.message for d in result.diagnostics]
    [func] = result.modules[0].functions.values()
    assert isinstance(func, tir.PrimFunc)
    return func


@pytest.mark.parametrize("name", list(BODIES))
def test_what_is_printed_reads_back(name: str) -> None:
    module = parse(HEAD + indent(BODIES[name], "        ")).modules[0]
    function(BODIES[name])
    text = print_module(module)
    assert BODIES[name].split("\n")[0].strip() in text
    again = parse(text)
    assert not again.diagnostics
    assert structural_equal(module, again.modules[0])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("assert with text", 'assert n > 0, "n"'),
        ("attribute", 'with T.attr(n, "pragma", 2):\n    A[0, 0] = k'),
        ("threads", 'with T.launch_thread("blockIdx.x", n) as bx:\n    A[n, 0] = k'),
        ("let of a literal", "A[0, T.Let(i + n, where={i: T.int32(4)})] = k"),
        ("region", BODIES["region"].replace("A[n, 0:8]", "A[0, 0:8]")),
    ],
)
def test_what_differs_is_told_apart(name: str, other: str) -> None:
    assert structural_equal(function(BODIES[name]), function(BODIES[name]))
    assert not structural_equal(function(BODIES[name]), function(other))


def test_a_thread_bound_by_assignment_stands_around_what_follows() -> None:
    around = function(BODIES["threads"])
    behind = function('bx = T.launch_thread("blockIdx.x", n)\nA[bx, 0] = k')
    assert structural_equal(around, behind)
    assert isinstance(behind.body, tir.With) and isinstance(behind.body.body, tir.BufferStore)


def test_the_variable_of_a_let_has_the_type_of_its_value() -> None:
    body = function("A[0, 0] = T.Let(x / k, where={x: k * k / T.exp(k)})").body
    assert isinstance(body, tir.BufferStore) and isinstance(body.value, tir.Let)
    assert str(body.value.var.dtype) == "float32"
    assert tir.type_of(body.value) == body.value.var.dtype


@pytest.mark.parametrize(
    "text",
    ["assert n > 0, n", "t = T.bind()", "t = T.bind(1, 2)", "t = T.meta_var()"],
)
def test_other_forms_are_kept_as_text(text: str) -> None:
    result = parse(HEAD + indent(text, "        "))
    assert [d.code for d in result.diagnostics] == ["PARSE-opaque"]
    assert structural_equal(result.modules[0], parse(print_module(result.modules[0])).modules[0])


def test_a_tab_in_kept_text_is_eight_columns_wide() -> None:
    text = """@T.prim_func
def f(a: T.Buffer((8,), "float32")):
        for i in range(8):
                yield [
i,
        (i,
                        i), [
                i,
                ]]
                a[i] = 1.0
"""
    (spaces,), (tabs,) = (parse(t).modules for t in (text, text.replace(" " * 8, "\t")))
    assert print_module(tabs) == print_module(spaces)
    assert "        yield [\n        i,\n        (i,\n                i), [\n" in str(tabs)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ('with T.sblock("b":\n    A[0, 0] = k', "expected ')' or ',', found ':'", ":"),
        ("A[0, 0] = k if n", "this is not Python: expected 'else' after 'if' expression", "k if "),
        ("A[0, 0] = (k", "this is not Python: '(' was never closed", "("),
        ("try:\n    pass\nexcept: pass", "not supported by TVM in a PrimFunc: try statement", "t"),
        ("A[0, 0] = T.parallel", "expected a scalar, found 'T.parallel'", "T.parallel"),
        ('A[0, 0] = T.sblock("b")', "T.sblock is not a value", 'T.sblock("b")'),
        ("break", "no loop is around this `break`", "break"),
        ("while n > 0: A[0, 0] = k\ncontinue", "no loop is around this `continue`", "continue"),
        (
            'T.func_attr({"global_symbol": 3})',
            "the global symbol of a function is a string",
            'T.func_attr({"global_symbol": 3})',
        ),
        ("A[0, 0] = {}", "a stored value must be a number, not a dictionary", "{}"),
        (
            "with T.sblock(k):\n    A[0, 0] = k",
            "T.sblock takes a string as 'name', found the variable 'k'",
            "k",
        ),
        (
            "A[0, 0] = T.int64()",
            "T.int64() without an argument declares a variable; it is not a value",
            "T.int64()",
        ),
    ],
)
def test_what_no_version_reads_is_an_error(text: str, message: str, at: str) -> None:
    whole = HEAD + indent(text, "        ")
    found = [d for d in parse(whole).diagnostics if d.is_error]
    assert [d.message for d in found] == [message]
    assert found[0].span is not None and whole[slice(*found[0].span)] == at
