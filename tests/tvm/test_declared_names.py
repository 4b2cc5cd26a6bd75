"""Dimensions of bodies, types by their words, and texts in PrimFuncs: TVM reads and refuses the same."""

from __future__ import annotations

from textwrap import indent

import pytest
import tvm
from tvm.script.parser import tirx

from rlx.checker.check import check_text
from rlx.grammar.read.script_vocabulary import is_known

RELAX = '@R.function\ndef main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor("float32", ndim=2)):\n'
CAST = 'y = R.match_cast(w, R.Tensor(({}, 4), "float32"))\nreturn y'
DIMENSIONS_READ = {
    "of the signature": CAST.format("n"),
    "declared": "k = T.int64()\n" + CAST.format("k"),
    "in a result": 'y = R.call_dps_packed("f", (x,), out_ty=R.Tensor((n, 4), "float32"))\nreturn y',
    "of a nested signature": '@R.function\ndef g(a: R.Tensor(("k", 4), "float32")) -> '
    'R.Tensor(("k", 4), "float32"):\n    return a\ny = g(x)\nreturn y',
}
DIMENSIONS_REFUSED = {
    "undeclared": CAST.format("k"),
    "declared below": CAST.format("k") + "\nk = T.int64()",
    "quoted": CAST.format('"n"'),
    "quoted, undeclared": CAST.format('"k"'),
    "quoted arithmetic": CAST.format('"n * 2"'),
    "quoted, declared": "k = T.int64()\n" + CAST.format('"k"'),
    "quoted in an annotation": 'y: R.Tensor(("n", 4), "float32") = R.add(x, x)\nreturn y',
    "quoted in a shape": 'y = R.match_cast(R.shape_of(x), R.Shape(["n", 4]))\nreturn y',
    "quoted in a result": 'y = R.call_dps_packed("f", (x,), out_ty=R.Tensor(("n", 4), "float32"))\nreturn y',
    "undeclared in an annotation": 'y: R.Tensor((k, 4), "float32") = x\nreturn y',
    "undeclared in a shape": "y = R.match_cast(R.shape_of(x), R.Shape([k, 4]))\nreturn y",
}
PRIM = '@T.prim_func\ndef f(b: T.Buffer((4,), "float32")):\n    for i in range(4):\n'
TEXTS_READ = {
    "two texts": 'if "a" == "b":\n    b[i] = 1.0',
    "two texts and a condition": 'if "a" != "b" and i < 2:\n    b[i] = 1.0',
    "an argument": 'T.evaluate(T.call_extern("int32", "f", "i"))',
}
TEXTS_REFUSED = {
    "a name": 'if direction == "ld":\n    b[i] = 1.0',
    "beside a number": 'if i == "i":\n    b[i] = 1.0',
    "in a sum": 'b[i] = "i" + 1',
    "an extent": 'for j in range("i"):\n    b[i] = 1.0',
    "an index": 'b["i"] = 1.0',
    "of an intrinsic": 'b[i] = T.max("i", 1)',
    "stored": 'b[i] = "i"',
}
WORDS = [
    f"{base}{bits}{lanes}"
    for base in ("int", "uint", "float", "bfloat", "i", "u", "f", "bf")
    for bits in ("", "0", "2", "3", "6", "8", "12", "16", "24", "32", "64", "80", "128", "256")
    for lanes in ("", "x1", "x3", "x4", "x8", "x16", "x32", "x64", "x128")
    if base + bits != "float8"  # a word of versions before 0.20
] + [
    *(
        *("bool", "boolean", "boolx4", "handle", "handlex2", "void", "string", "object"),
        "float8_e4m3x3",
    ),
    *(
        "float8_e4m3",
        "float8_e4m3x4",
        "float8_e3m4",
        "float4_e2m1fnx8",
        "float6_e5m2",
        "float8_e4m3f",
    ),
]


def relax(body: str) -> str:
    return RELAX + indent(body, "    ") + "\n"


def prim(body: str) -> str:
    return PRIM + indent(body, "        ") + "\n"


READ = {name: relax(body) for name, body in DIMENSIONS_READ.items()}
READ |= {name: prim(body) for name, body in TEXTS_READ.items()}
REFUSED = {name: relax(body) for name, body in DIMENSIONS_REFUSED.items()}
REFUSED |= {name: prim(body) for name, body in TEXTS_REFUSED.items()}


def errors(text: str) -> list[str]:
    return [d.message for d in check_text(text).diagnostics if d.is_error]


@pytest.mark.parametrize("name", list(READ))
def test_what_tvm_reads(name: str) -> None:
    tvm.script.from_source(READ[name])
    assert errors(READ[name]) == []


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_tvm_refuses(name: str) -> None:
    with pytest.raises(tvm.error.DiagnosticError):
        tvm.script.from_source(REFUSED[name])
    assert len(errors(REFUSED[name])) in ((1, 2) if name == "a name" else (1,))


def test_the_words_of_types() -> None:
    assert [word for word in WORDS if is_known(word) != hasattr(tirx, word)] == []


@pytest.mark.parametrize("word", ["int6", "int128", "float12", "int16x3", "boolx4", "bfloat16x4"])
def test_an_unknown_type_is_refused_wherever_it_stands(word: str) -> None:
    for text in (
        f"{PRIM}        v = T.{word}()\n        b[i] = 1.0\n",
        f"{PRIM}        v: T.{word} = 1\n        b[i] = 1.0\n",
        f"{PRIM}        b[i] = T.{word}(1)\n",
        PRIM.replace("b:", f"v: T.{word}, b:") + "        b[i] = 1.0\n",
        f"@R.function\ndef f(v: T.{word}):\n    return v\n",
    ):
        [message] = errors(text)
        assert f"T.{word}" in message


def test_what_2022_declares_by_a_cast() -> None:
    for cast in ("R.match_shape(x, (k, 4))", 'R.match_cast(x, R.Tensor[(k, 4), "float32"])'):
        text = f'@R.function\ndef f(x: R.Tensor[_, "float32"]):\n    y = {cast}\n    return y\n'
        assert errors(text) == []


def test_types_without_bits() -> None:
    for word in ("int", "uint", "float"):
        text = f'@R.function\ndef f(x: R.Tensor((4,), "{word}")) -> R.Tensor((4,), "{word}32"):\n    return x\n'
        tvm.script.from_source(text)
        assert errors(text) == []
