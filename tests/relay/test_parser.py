"""Relay's text format: what is read, what is refused, and what is said of mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlx import ParseError, relay
from rlx.grammar.nodes.dtype import dtype
from rlx.relay.attributes import MetadataReference
from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayFuncType,
    RelayIf,
    RelayLet,
    RelayProjection,
    RelayTensorType,
    RelayTuple,
    RelayTupleType,
)
from rlx.relay.parser import read
from rlx.relay.translation import translate

FULL = """#[version = "0.0.5"]
/* a /* nested */ comment */
def @main(%x: Tensor[(n, ?), float32] /* ty=Tensor[(1, 3), float32] span=a:1:2 */,
          %input.1: (float32, (int64,)), Primitive=1) -> Tensor[(?, 3), float32] {
  %0 = nn.conv2d(%x, %x, padding=[1, 1, -1, 1], kernel_size=[3], data_layout="NCHW", a=None);
  %1 = (%0, %input.1.1.0); // a line
  let %f: fn (float32) -> _ = fn (%y: float32, a=1f) {
    if (%y < 1f && True) { %1.0 } else if (False) { 1 } else { %f(-3.5e-2f64 + %x * 2) }
  };
  let %b = { let %c = 1i64; %c };
  %2 = @other(%f, (), %b)
  %f(%2)
}
def @other(%x, %y, %z) { %x }
""".replace(" && True", "")


def errors(text: str) -> list[str]:
    """The diagnostics of a text: code, place and message, and the help behind a bar."""
    return [
        f"{d.source.position(d.span[0])[0] if d.source and d.span else 0}:{d.code}: {d.message}"
        + (f" | {d.help}" if d.help else "")
        for d in read(text).diagnostics
    ]


def test_a_text_reads_back() -> None:
    module = relay.parse(FULL)
    assert [var.name for var in module.functions] == ["main", "other"]
    again = relay.parse(str(module))
    assert relay.structural_equal(again, module)
    assert str(again) == str(module)


def test_types_and_attributes() -> None:
    main = relay.parse(FULL)["main"]
    first, second = (param.annotation for param in main.params)
    assert isinstance(first, RelayTensorType) and first.shape == ("n", None)
    assert isinstance(second, RelayTupleType) and len(second.fields) == 2
    assert isinstance(main.ret, RelayTensorType) and main.ret.shape == (None, 3)
    assert main.attrs == {"Primitive": 1}
    assert isinstance(main.body, RelayLet)
    annotation = main.body.var.annotation
    assert isinstance(annotation, RelayFuncType) and annotation.ret is None
    assert repr(main.body.value.attrs) == "{'a': 1.0}"  # type: ignore[attr-defined]


def test_a_node_is_one_object_and_two_calls_are_two() -> None:
    shared = relay.parse("fn (%x) { %1 = log(%x); add(%1, %1) }")["main"].body
    apart = relay.parse("fn (%x) { add(log(%x), log(%x)) }")["main"].body
    assert isinstance(shared, RelayCall) and shared.args[0] is shared.args[1]
    assert isinstance(apart, RelayCall) and apart.args[0] is not apart.args[1]
    one = relay.parse("fn (%x) { %1 = log(%x); add(%1, %1) }")
    assert not relay.structural_equal(one, relay.parse("fn (%x) { add(log(%x), log(%x)) }"))


def test_symbols_bind_as_in_arithmetic() -> None:
    long = relay.parse("fn (%a, %b, %c) { %a + %b * -%c < %a - %b - 1 }")
    short = relay.parse(
        "fn (%a, %b, %c) { less(add(%a, multiply(%b, negative(%c))),"
        " subtract(subtract(%a, %b), 1)) }"
    )
    assert relay.structural_equal(long, short)


def test_brackets_fields_and_blocks() -> None:
    body = relay.parse("fn (%p) { (%p.0, (%p.1,), (), (%p), (let %a = 1; %a)) }")["main"].body
    assert isinstance(body, RelayTuple) and len(body.fields) == 5
    first, second, third, fourth, fifth = body.fields
    assert isinstance(first, RelayProjection) and first.index == 0
    assert isinstance(second, RelayTuple) and isinstance(third, RelayTuple)
    assert isinstance(fifth, RelayLet) and fourth is relay_param(body)


def relay_param(body: RelayTuple) -> object:
    first = body.fields[0]
    assert isinstance(first, RelayProjection)
    return first.value


def test_a_line_may_begin_with_a_bracket() -> None:
    body = relay.parse("fn (%x) {\n  let %y = %x\n  (%y, %y)\n}")["main"].body
    assert isinstance(body, RelayLet) and isinstance(body.body, RelayTuple)


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1", 1, "int32"),
        ("-7i64", -7, "int64"),
        ("255u8", 255, "uint8"),
        ("1f", 1.0, "float32"),
        ("1.5", 1.5, "float32"),
        ("2e-5f64", 2e-5, "float64"),
        ("0.5f16", 0.5, "float16"),
        ("3bf16", 3.0, "bfloat16"),
        ("-inff", -math.inf, "float32"),
        ("inff64", math.inf, "float64"),
        ("True", True, "bool"),
        ("-2147483648", -2147483648, "int32"),
    ],
)
def test_numbers(text: str, value: object, kind: str) -> None:
    module = relay.parse(f"fn () {{ {text} }}")
    body = module["main"].body
    assert isinstance(body, RelayConstant)
    assert (body.data.value, body.data.dtype, body.data.shape) == (value, dtype(kind), ())
    assert relay.structural_equal(relay.parse(str(module)), module)


def test_attributes_read_back() -> None:
    text = (
        'fn (%x) { f(%x, a=[[1, 2], [-3]], b="q\\"e", c=None, d=True, e=0.25f64, g=5000000000i64) }'
    )
    module = relay.parse(text)
    body = module["main"].body
    assert isinstance(body, RelayCall)
    assert dict(body.attrs) == {
        "a": ((1, 2), (-3,)),
        "b": 'q"e',
        "c": None,
        "d": True,
        "e": 0.25,
        "g": 5_000_000_000,
    }
    assert relay.structural_equal(relay.parse(str(module)), module)
    device = relay.parse("fn (%x) { on_device(%x, virtual_device=meta[VirtualDevice][0]) }")
    call = device["main"].body
    assert isinstance(call, RelayCall)
    assert call.attrs["virtual_device"] == MetadataReference("VirtualDevice", 0)
    assert "virtual_device=meta[VirtualDevice][0]" in str(device)


def test_an_if_may_follow_an_else() -> None:
    body = relay.parse("fn (%a) { if (%a) { 1 } else if (%a) { 2 } else { 3 } }")["main"].body
    assert isinstance(body, RelayIf) and isinstance(body.false_branch, RelayIf)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "def @a(%x) { %1 = f(%2); %2 = g(%3); %3 = h(%1); %3 }",
            [
                (
                    "1:RL-name-cycle: the nodes form a cycle: %2 depends on %1, and %1 depends on %2 |"
                    " only a function or a let of a function can refer to itself"
                ),
                (
                    "1:RL-name-cycle: the nodes form a cycle: %3 depends on %2, and %2 depends on %3 |"
                    " only a function or a let of a function can refer to itself"
                ),
            ],
        ),
        (
            "def @a(%x) { %1 = f(%1); %1 }",
            [
                (
                    "1:RL-name-cycle: the nodes form a cycle: %1 depends on itself |"
                    " only a function or a let of a function can refer to itself"
                )
            ],
        ),
        ("def @a(%x) { f(%1) }", ["1:RL-name-bound: %1 is not bound"]),
        ("@a(1)", ["1:RL-name-bound: there is no function @a"]),
        ("f(primfn(1))", []),
        (
            "@a = primfn(%x: handle) -> ()",
            ["1:PARSE: @a is a function of TIR: only a module that is not lowered is read"],
        ),
        ("def @a(%x) { %x.1234567890 }", ["1:PARSE: there is no field 1234567890…"]),
        ("def @a(%x) { %x.01234567891 }", ["1:PARSE: there is no field 0123456789…"]),
        ("def @a(%x) { %x.123456789 }", []),
        (
            "def @a(%weight) { f(%wieght) }",
            ["1:RL-name-bound: %wieght is not bound | did you mean '%weight'?"],
        ),
        (
            "def @a(%x) { %1 = f(%2);\n%2 = g(%x); %1 }",
            ["1:RL-name-bound: %2 is used before it is bound"],
        ),
        (
            "def @a(%x) { %0 = if (%x) { %1 = f(%x); %1 } else { 1 }; g(%1) }",
            [("1:RL-name-bound: %1 is bound in a block that has ended | bind it before the block")],
        ),
        ("def @a(%x) { 1 }\ndef @a() { 2 }", ["2:RL-name-once: two functions have the name @a"]),
        ("def @a(%x, %x) { 1 }", ["1:RL-name-once: two parameters have the name %x"]),
        ("def @a(%x) { %1 = f(%x); %1 = f(%x); %1 }", ["1:RL-name-once: %1 is bound twice"]),
        (
            "def @muladd() { @muladdd() }",
            ["1:RL-name-bound: there is no function @muladdd | did you mean '@muladd'?"],
        ),
        ("def @a(%x { %x }", ["1:PARSE: '(' is never closed"]),
        ("def @a(%x) { (%x }", ["1:PARSE: '}' does not close '('"]),
        ("def @a(%x) { %x\n\ndef @b() { 1 }", ["1:PARSE: '{' is never closed"]),
        ("def @a(%x) { %x } }", ["1:PARSE: '}' has no matching opening bracket"]),
        ("def @a(%x) { /* %x }", ["1:PARSE: the comment is not closed"]),
        ('def @a(%x) { f(%x, a="b) }', ["1:PARSE: the string is not closed on its line"]),
        ("def @a(%x) { %x $ }", ["1:PARSE: '$' is not a number, name or symbol of Relay"]),
        ("", ["1:PARSE: expected a function: def @main(…) { … }"]),
        ("def @a() { }", ["1:PARSE: expected an expression: the value of the block, found '}'"]),
        (
            "def @a(%x) { x }",
            [
                (
                    "1:PARSE: 'x' stands alone: expected a call or a variable |"
                    " variables begin with %: %x"
                )
            ],
        ),
        (
            "def @a(%x: Tensr[(1), float32], %y: Tensor[(1,), flot32]) { %x }",
            [
                "1:PARSE: 'Tensr' is not a type | did you mean 'Tensor'?",
                "1:PARSE: 'flot32' is not an element type | did you mean 'float32'?",
            ],
        ),
        (
            "def @a(%x) { f(a=1, %x) }",
            ["1:PARSE: expected an attribute: operands come before attributes, found '%x'"],
        ),
        ("def @a(%x) { f(%x, a=1, a=2) }", ["1:PARSE: the attribute a is given twice"]),
        (
            "def @a(%x) { if (%x) { 1 } }",
            ["1:PARSE: expected 'else': an if of Relay has two branches, found '}'"],
        ),
        (
            "def @a() { 3000000000 }",
            [
                (
                    "1:PARSE: 3000000000 does not fit into int32, whose range is -2147483648 to 2147483647 |"
                    " write 3000000000i64"
                )
            ],
        ),
        ("def @a() { 1f7 }", ["1:PARSE: expected float of 16, 32, 64 bits, found float7"]),
        (
            "def @a(%x) { %1 = add(%x,; %2 = ); f(%1) }",
            ["1:PARSE: expected an expression, found ';'"],
        ),
        ("def @a(%x) { %1 = f(%x) %1 }", ["1:PARSE: expected ';' after the binding, found '%1'"]),
        ("def @a(%x) { %x\n %x }", ["2:PARSE: expected the end of the block, found '%x'"]),
    ],
)
def test_mistakes(text: str, said: list[str]) -> None:
    assert errors(text) == said


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("type List[A] { Cons(A), Nil, }\ndef @a() { 1 }", "adt", "type List"),
        ("def @a(%l: List[float32]) { 1 }", "adt", "the type List"),
        ("def @a(%l) { match (%l) { Nil => 1, } }", "adt", "match"),
        ("def @a(%x) { Cons(%x, Nil) }", "adt", "Cons"),
        ("def @a(%x: Ref[float32]) { 1 }", "ref", "the type Ref"),
        ("def @a(%x) { ref(%x) }", "ref", "ref"),
        ("def @a(%x) { %x := 1 }", "ref", ":="),
        ("def @a(%f) { gradient(%f) }", "gradient", "gradient"),
        ("def @a[T](%x: T) -> T { %x }", "polymorphic", "type parameters"),
    ],
)
def test_what_is_refused_by_name(text: str, code: str, words: str) -> None:
    first = read(text).diagnostics[0]
    assert first.code == f"RL-refused-{code}"
    assert first.message.startswith(words)
    assert first.span is not None and text[slice(*first.span)] in words + text


def test_all_mistakes_of_a_text_are_found() -> None:
    text = "def @a(%x) {\n  %1 = f(%y);\n  %2 = g(;);\n  %2\n}\n"
    text += "def @b() { @c(%1) }\n"
    assert [line.partition(":")[0] for line in errors(text)] == ["2", "3", "6", "6"]


def test_errors_are_raised_with_their_place() -> None:
    with pytest.raises(ParseError) as raised:
        relay.parse("def @a() {\n  %x\n}")
    assert (raised.value.lineno, raised.value.offset) == (2, 3)
    with pytest.raises(TypeError, match="expected a text, found bytes"):
        relay.parse(b"")  # type: ignore[arg-type]


def test_nesting_has_limits() -> None:
    (found,) = errors("fn (%x) { " + "(" * 60_000 + "%x" + ")" * 60_000 + " }")
    assert "brackets and blocks are nested deeper than 50000" in found
    (found,) = errors(f"fn (%x: {'(' * 600}int32{',)' * 600}) {{ %x }}")
    assert "types are nested deeper than 500" in found
    (found,) = errors(f"fn (%x) {{ f(%x, a={'[' * 600}1{']' * 600}) }}")
    assert "lists of attributes are nested deeper than 500" in found
    tuples = "".join(f"  %{k} = (%{k - 1},);\n" for k in range(1, 1_200))
    (found,) = errors(f"fn (%x: int32) {{\n  %0 = (%x,);\n{tuples}  %1199\n}}")
    assert "tuples are nested deeper than 1000, counted through the nodes that they use" in found


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("(", "%x", ")"),
        ("negative(", "%x", ")"),
        ("let %v = { ", "negative(%x)", " }; %v"),
        ("{ let %v = 1; ", "%x", " }"),
    ],
)
def test_two_thousand_nested_parts_are_read_converted_and_checked(
    opening: str, inner: str, closing: str
) -> None:
    text = f"fn (%x: int32) {{ {opening * 2_000}{inner}{closing * 2_000} }}"
    module = relay.parse(text)
    assert relay.structural_equal(relay.parse(str(module)), module)
    assert relay.check(text).ok
    assert len(str(relay.to_graph(module))) > 0
    assert relay.run(module, np.array(3, np.int32)).ok


def test_branches_nested_by_nodes_have_a_limit() -> None:
    lines = [f"  %{k} = if (%c) {{ %{k - 1} }} else {{ %x }};\n" for k in range(1, 1_200)]
    text = f"fn (%x: int32, %c: bool) {{\n  %0 = negative(%x);\n{''.join(lines)}  %1199\n}}"
    (found,) = read(text).diagnostics
    assert found.message.startswith("branches and functions are nested deeper than 1000")
    chain = "if (%c) { %x } else " * 1_000 + "{ %x }"
    (found,) = read(f"fn (%x: int32, %c: bool) {{ {chain} }}").diagnostics
    assert found.message == "branches and functions are nested deeper than 1000"
    assert not read(f"fn (%x: int32) {{ {'-' * 1_000}%x }}").diagnostics


def test_a_text_may_name_its_free_variables() -> None:
    text = "free_var %x: Tensor[(2, 2), float32] /* ty */;\nfree_var %y: int32;\nadd(%x, %x)"
    function = relay.parse(text)["main"]
    assert [param.name for param in function.params] == ["x", "y"]
    assert relay.check(text).ok


def test_the_device_of_a_parameter_is_passed_over() -> None:
    text = "fn (%x {virtual_device=meta[VirtualDevice][0]}: int32) { %x }"
    plain = relay.parse("fn (%x: int32) { %x }")
    assert relay.structural_equal(relay.parse(text), plain)


def test_a_dimension_of_a_result_is_reported_where_it_stands() -> None:
    text = "fn (%x: Tensor[(2,), int32]) -> Tensor[(m,), int32] { %x }"
    (found,) = relay.check(text).errors
    assert found.span is not None
    assert text[found.span[0] : found.span[1]] == "Tensor[(m,), int32]"


def test_names_with_a_dash_and_differences() -> None:
    text = "fn (%in-put, %b: (float32,)) { let %v-w = log(%in-put); %v-w - %b.0-log(%v-w) - %b.0 }"
    module = relay.parse(text)
    assert [param.name for param in module["main"].params] == ["in-put", "b"]
    assert relay.structural_equal(relay.parse(str(module)), module)
    apart = text.replace("in-put", "i").replace("v-w", "v").replace("-log", " - log")
    assert relay.structural_equal(relay.parse(apart.replace("%i", "%in_put")), module)
    assert errors("def @a-b(%x) { %x-y }") == errors("def @a(%x) { %x - y }")


def test_what_a_function_says_of_itself_is_left_out_with_a_note() -> None:
    inner = 'fn (%y, Composite="dnnl.relu", Primitive=1) { nn.relu(%y) }'
    text = f"fn (%x) {{ %1 = {inner}; %1(%x) }}"
    assert relay.check(text).diagnostics == ()
    notes = translate(relay.parse(text)).losses
    assert [(d.code, d.severity) for d in notes] == [("RL-operator-attribute", "note")] * 2
    assert [d.message.split()[2] for d in notes] == ["Composite", "Primitive"]
    assert {d.span[0] for d in notes if d.span} == {text.index("fn (%y")}


def test_type_parameters_are_refused_where_they_stand() -> None:
    text = "def @a[A](%x) { %x }\ndef @b(%x) { fn[B](%y: B) { %y } }"
    found = read(text).diagnostics
    assert {d.code for d in found} == {"RL-refused-polymorphic"}
    assert [d.span and d.span[0] for d in found] == [text.index("[A"), text.index("[B")]
