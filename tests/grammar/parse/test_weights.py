"""Weights in a text's metadata: megabytes that are skipped, and decoded to the very numbers."""

from __future__ import annotations

import base64
import binascii
import json
import random
import struct
from copy import deepcopy

import numpy as np
import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.encoded import EncodedBytes, encoded_size
from rlx.grammar.nodes.node import walk
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read import lexer
from rlx.grammar.read.outline import metadata_span
from rlx.grammar.read.parser import Parsed, parse

COUNT = 60_000
WEIGHTS = np.random.default_rng(1).standard_normal(COUNT).astype("<f4")
PROGRAM = f"""\
@R.function
def main(x: R.Tensor(({COUNT},), "float32")):
    y = R.add(x, metadata["ir.GenericConst"][0])
    return y
"""


def tensor(data: np.ndarray) -> str:
    """A tensor as TVM writes it into JSON."""
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, data.ndim, 2, 32, 1)
    shape = struct.pack(f"<{data.ndim}q", *data.shape)
    whole = head + shape + struct.pack("<q", data.nbytes) + data.tobytes()
    return base64.b64encode(whole).decode()


def metadata(data: np.ndarray) -> str:
    """The JSON of a module with one constant, with its slashes escaped, as TVM does."""
    nodes = [
        {"type": "ffi.String", "data": "ir.GenericConst"},
        {"type": "ffi.Tensor", "data": tensor(data)},
        {"type": "relax.Constant", "data": {"data": 1}},
        {"type": "ffi.Array", "data": [2]},
        {"type": "ffi.Map", "data": [0, 3]},
    ]
    return json.dumps({"root_index": 4, "nodes": nodes}).replace("/", "\\/")


def in_python(text: str, quotes: str = '"""') -> str:
    """A string of Python that stands for a text."""
    escaped = text.replace("\\", "\\\\").replace(quotes[0], "\\" + quotes[0])
    return f"{quotes}{escaped}{quotes}"


def weights_of(parsed: Parsed) -> np.ndarray:
    """The data of the constant."""
    assert parsed.diagnostics == ()
    (found,) = (node for node in walk(parsed.modules[0]) if isinstance(node, ast.Literal))
    assert found.content is not None
    return np.frombuffer(bytes(found.content), "<f4")


LAYOUTS = {
    "in front": lambda held: f"metadata = tvm.ir.load_json({held})\n{PROGRAM}",
    "behind": lambda held: f"{PROGRAM}\nmetadata = tvm.ir.load_json({held})\n",
    "on other lines": lambda held: f"metadata = tvm.ir.load_json(\n    {held},\n)\n{PROGRAM}",
    "in a Python file": lambda held: (
        "import tvm\nfrom tvm.script import relax as R\n\n"
        f"metadata = tvm.ir.load_json({held})\n\n\n{PROGRAM}\n"
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_the_numbers_are_those_that_were_written(layout: str, quotes: str) -> None:
    text = LAYOUTS[layout](in_python(metadata(WEIGHTS), quotes))
    parsed = parse(text, "weights.py" if "Python" in layout else "weights.rlx")
    assert weights_of(parsed).tobytes() == WEIGHTS.tobytes()


@pytest.mark.parametrize("count", [4000, 4001, 4002, 500_000])
def test_data_stays_in_the_text_until_it_is_used(count: int) -> None:
    """The lengths differ in how base64 is filled up."""
    values = np.arange(count, dtype=np.float32) / 7
    text = LAYOUTS["in front"](in_python(metadata(values)))
    (content,) = (n.content for n in walk(parse(text).modules[0]) if isinstance(n, ast.Literal))
    assert isinstance(content, EncodedBytes)
    assert bytes(content) == values.tobytes()
    sent: object = deepcopy(content)
    assert isinstance(sent, bytes)  # another process does not get the text


def test_a_line_of_weights_may_be_longer_than_other_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexer, "MAX_LINE", 1000)
    monkeypatch.setattr("rlx.grammar.read.outline.MAX_LINE", 1000)
    text = LAYOUTS["in front"](in_python(metadata(WEIGHTS)))
    assert weights_of(parse(text)).tobytes() == WEIGHTS.tobytes()
    (found,) = parse(f"{text}# {'x' * 1000}\n").diagnostics
    assert "too long to be read" in found.message


def test_mistakes_beside_weights_have_their_lines() -> None:
    held = in_python(metadata(WEIGHTS))
    text = LAYOUTS["in front"](held).replace("return y", "return z = 1")
    parsed = parse(text)
    assert [parsed.source.position(d.span[0])[0] for d in parsed.diagnostics if d.span] == [5]


@pytest.mark.parametrize(
    "before",
    ['"""a text\nmetadata = tvm.ir.load_json(\'\'\'\n"""\n', "# metadata = load_json('''\n"],
)
def test_what_only_looks_like_metadata_is_none(before: str) -> None:
    text = before + LAYOUTS["behind"](in_python(metadata(WEIGHTS)))
    span = metadata_span(text)
    assert span is not None and span[0] > len(before) + len(PROGRAM)
    assert weights_of(parse(text)).tobytes() == WEIGHTS.tobytes()


@pytest.mark.parametrize("end", [10, 1000, 100_000, -4, -1])
def test_weights_that_are_cut_off_are_answered(end: int) -> None:
    text = LAYOUTS["in front"](in_python(metadata(WEIGHTS)))
    head = text.index('"""') + 3
    whole = text[: head + end if end > 0 else text.index(PROGRAM) + end]
    parsed = parse(whole)
    assert all(found.is_error or found.code == "PARSE-nothing" for found in parsed.diagnostics)


def test_a_mark_of_another_tensor_is_no_tensor() -> None:
    """Control characters in the JSON stand for nothing."""
    text = LAYOUTS["in front"](in_python(metadata(WEIGHTS).replace("P6G0", "\x017;")))
    parsed = parse(text)
    assert any(found.is_error for found in parsed.diagnostics) or weights_of(parsed).size == 0


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 66])
def test_a_string_ends_where_python_ends_it(count: int) -> None:
    """An odd number of backslashes escapes the quote behind them."""
    held = f'"""{chr(92) * count}""" "x"""'
    ends = 6 + count if count % 2 == 0 else len(held)
    text = f"metadata = tvm.ir.load_json({held})"
    span = metadata_span(text)
    start = text.index(held)
    assert span == (None if count % 2 == 0 else (start + 3, start + ends - 3))


def in_base64(string: str) -> bytes | None:
    """The value of a string once Python and JSON have read the escapes of its slashes."""
    try:
        plain = json.loads('"' + string.replace("\\\\", "\\") + '"', strict=False)
        found = binascii.a2b_base64(plain, strict_mode=True)
    except ValueError:
        return None
    return None if len(plain) % 4 else found  # Python takes "AAAA=", too


@pytest.mark.parametrize("seed", range(4))
def test_base64_is_what_python_decodes(seed: int) -> None:
    draw = random.Random(seed)
    legal = 0
    for _ in range(2000):
        made = base64.b64encode(draw.randbytes(draw.randrange(9))).decode()
        made = made.replace("/", draw.choice(["/", "\\/", "\\\\/"]))
        for _ in range(draw.randrange(3)):
            at = draw.randrange(len(made) + 1)
            made = made[:at] + draw.choice("A=/\\+\n é") + made[at + draw.randrange(2) :]
        expected = in_base64(made)
        size = encoded_size(f'"{made}"', (1, len(made) + 1))
        assert size == (None if expected is None else len(expected)), made
        if size:
            legal += 1
            assert bytes(EncodedBytes(made, (0, len(made)), 0, size)) == expected
    assert legal > 500


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_formatted_text_has_the_same_weights(layout: str) -> None:
    """All but the weights is as it is without them, and of these no character changes."""
    path = "weights.py" if "Python" in layout else "weights.rlx"
    held = in_python(metadata(WEIGHTS).replace(", ", ",\n\n"))
    whole = LAYOUTS[layout](held).replace("R.add(x, ", "R.add( x,")
    small = whole.replace(held, in_python(metadata(WEIGHTS[:2])))
    for text in (whole, whole.replace("\n", "\r\n")):
        made = format_text(text, path).text
        assert made is not None
        assert made.count(held) == 1
        assert "R.add(x, metadata" in made
        assert made.replace(held, in_python(metadata(WEIGHTS[:2]))) == format_text(small, path).text
        assert format_text(made, path).text == made
        assert weights_of(parse(made, path)).tobytes() == WEIGHTS.tobytes()


def test_what_is_not_formatted_beside_weights_has_its_line() -> None:
    held = in_python(metadata(WEIGHTS).replace(", ", ",\n"))
    text = LAYOUTS["in front"](held).replace("return y", "return z = 1")
    (said,) = format_text(text).complaints
    assert said.startswith(f"<text>:{text[: text.index('return z')].count(chr(10)) + 1}:")


def test_metadata_that_is_no_json_is_an_error_when_it_is_formatted() -> None:
    (said,) = format_text(LAYOUTS["in front"](in_python("{"))).complaints
    assert "not valid JSON" in said
