"""A constant of any type keeps its bits in texts, runs and proofs; NumPy and ml_dtypes say what they are."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype, numpy_type
from rlx.grammar.nodes.node import Node, replace, walk
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.print.weights import print_with_weights

TYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *("int4", "int8", "int16", "int32", "int64", "uint4", "uint8", "uint16", "uint32", "uint64"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
)

SHAPES = ((), (1,), (3,), (2, 2), (0,), (0, 3), (5,))


def program(content: bytes, kind: str, shape: tuple[int, ...]) -> ast.IRModule:
    """A module that returns a constant."""
    module = rlx.parse(
        "@R.function\ndef main():\n    c = metadata['ir.GenericConst'][0]\n    return c\n"
    )

    def change(node: Node) -> Node:
        if not isinstance(node, ast.Literal):
            return node
        return replace(node, dtype=dtype(kind), shape=shape, content=content)

    made: ast.IRModule = rebuild(module, change)
    return made


@st.composite
def constants(draw: st.DrawFn) -> tuple[bytes, str, tuple[int, ...]]:
    """The bits, type and shape of a constant: NaN of any payload, -0.0, subnormals, and all integers."""
    kind, shape = draw(st.sampled_from(TYPES)), draw(st.sampled_from(SHAPES))
    numbers = numpy_type(dtype(kind))
    assert numbers is not None
    bits = dtype(kind).bits
    elements = draw(
        st.lists(st.integers(0, (1 << bits) - 1), min_size=prod(shape), max_size=prod(shape))
    )
    return b"".join(e.to_bytes(numbers.itemsize, "little") for e in elements), kind, shape


@given(constants())
def test_texts_and_runs_keep_the_bits(made: tuple[bytes, str, tuple[int, ...]]) -> None:
    content, kind, shape = made
    module = program(content, kind, shape)
    text = print_with_weights(module)
    (read,) = (node for node in walk(rlx.parse(text)) if isinstance(node, ast.Literal))
    assert read.content is not None
    assert (str(read.dtype), read.shape, bytes(read.content)) == (kind, shape, content)
    for each in (module, text, print_with_weights(module, behind=True)):
        outcome = rlx.run(each)
        array = outcome.value.data  # type: ignore[attr-defined]
        assert (array.shape, array.tobytes()) == (shape, content)
    assert rlx.refines(module, text).proved


@given(constants(), st.data())
def test_one_other_bit_is_another_constant(
    made: tuple[bytes, str, tuple[int, ...]], data: st.DataObject
) -> None:
    """It is never proved to be the same. It is refuted only if NumPy finds the numbers different."""
    content, kind, shape = made
    if not content:
        return
    size = len(content) // prod(shape)
    element = data.draw(st.integers(0, prod(shape) - 1))
    bit = data.draw(st.integers(0, dtype(kind).bits - 1))
    flipped = bytearray(content)
    flipped[element * size + bit // 8] ^= 1 << bit % 8
    answer = rlx.refines(program(content, kind, shape), program(bytes(flipped), kind, shape))
    assert not answer.proved
    one, other = (
        np.frombuffer(each, numpy_type(dtype(kind))).astype("float64")
        for each in (content, flipped)
    )
    if kind not in ("int64", "uint64"):  # float64 does not have all of these
        assert not (answer.refuted and np.array_equal(one, other, equal_nan=True))


def test_integers_of_four_bits_are_written_whatever_the_other_half_of_their_byte_is() -> None:
    """Arrays of int4 may hold -1 as 0x0f or 0xff; both are the number -1."""
    for content in (b"\x0f\x03\x08", b"\xff\x03\xf8"):
        outcome = rlx.run(print_with_weights(program(content, "int4", (3,))))
        assert outcome.value.data.astype("int32").tolist() == [-1, 3, -8]  # type: ignore[attr-defined]
