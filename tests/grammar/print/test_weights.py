"""The data of constants in a printed text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.encoded import files_in
from rlx.grammar.nodes.node import Node, replace, walk
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.print.printer import print_module
from rlx.grammar.print.weights import print_with_weights, referring, stored, without_files
from rlx.grammar.read.parser import parse


def module(literals: dict[int, ast.Literal]) -> ast.IRModule:
    """A module that returns constants, which have these numbers in its metadata."""
    lines = [f'    c{n} = metadata["ir.GenericConst"][{n}]' for n in literals]
    text = "\n".join(["@R.function", "def main():", *lines, f"    return c{min(literals)}", ""])
    made = parse(text).modules[0]

    def change(node: Node) -> Node:
        if not isinstance(node, ast.Literal) or node.key is None:
            return node
        given = literals[int(node.key.rpartition("[")[2].rstrip("]"))]
        if given.content is None:
            return given
        return ast.Literal(None, given.dtype, given.shape, node.key, given.content)

    whole: ast.IRModule = rebuild(made, change)
    return whole


def literal(array: np.ndarray, name: str = "") -> ast.Literal:
    kind = dtype(name or str(array.dtype))
    return ast.Literal(None, kind, array.shape, None, array.tobytes())


ARRAYS = {
    "float32": literal(np.arange(6, dtype="<f4").reshape(2, 3)),
    "float16": literal(np.array([1.5, -0.0, 65504], "<f2")),
    "int64": literal(np.array([-1, 2**62], "<i8")),
    "bool": literal(np.array([True, False])),
    "uint8": literal(np.array([[0, 255]], "u1")),
    "bfloat16": literal(np.array([16256], "<u2"), "bfloat16"),
    "float8_e4m3fn": literal(np.array([56, 0, 1], "u1"), "float8_e4m3fn"),
    "float4_e2m1fn": literal(np.array([1, 2, 3], "u1"), "float4_e2m1fn"),
    "a scalar": literal(np.array(7.0, "<f8")),
    "no elements": literal(np.zeros((0, 4), "<f4")),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_what_is_printed_is_read_again(what: str) -> None:
    given = ARRAYS[what]
    text = print_with_weights(module({2: given, 5: ARRAYS["int64"]}))
    read = parse(text)
    assert read.diagnostics == ()
    first, second = (n for n in walk(read.modules[0]) if isinstance(n, ast.Literal))
    assert (first.dtype, first.shape, first.content) == (given.dtype, given.shape, given.content)
    assert second.content == ARRAYS["int64"].content


# TVM 0.27 writes elements of four bits in pairs, and does not read them so
@pytest.mark.parametrize("what", [what for what in ARRAYS if what != "float4_e2m1fn"])
def test_tvm_reads_the_same_numbers(what: str) -> None:
    tvm = pytest.importorskip("tvm")
    given = ARRAYS[what]
    text = print_with_weights(replace(module({1: given}), name="Module", bare=False))
    made = tvm.script.from_source(text)
    data = made["main"].body.blocks[0].bindings[0].value.value
    assert (str(data.dtype), tuple(data.shape)) == (str(given.dtype), given.shape)
    if what in ("float32", "float16", "int64", "uint8", "a scalar"):  # those that NumPy has
        assert data.numpy().tobytes() == given.content


def test_a_text_without_data_stays_as_it_is() -> None:
    text = '@R.function\ndef main():\n    c = metadata["ir.GenericConst"][0]\n    return c\n'
    read = parse(text).modules[0]
    assert "load_json" not in print_with_weights(read)


def test_many_elements_are_data_of_their_own_also_behind_the_program() -> None:
    """The lines of the program are then those that it has without them."""
    rows = tuple(tuple(float(10 * i + j) for j in range(100)) for i in range(100))
    written = ast.Literal(rows, dtype("float32"), (100, 100))
    given = module({3: ARRAYS["int64"], 0: written})
    text = print_with_weights(given, behind=True)
    assert text.partition("metadata = ")[0] == print_module(referring(given))
    assert max(map(len, text.partition("metadata = ")[0].splitlines())) < 100
    for each in (text, print_with_weights(given)):
        read = {n.key: n for n in walk(parse(each).modules[0]) if isinstance(n, ast.Literal)}
        assert len(read) == 2
        whole, other = sorted(read.values(), key=lambda n: len(n.shape or ()), reverse=True)
        assert np.frombuffer(bytes(whole.content or b""), "<f4").reshape(100, 100).tolist() == [
            list(row) for row in rows
        ]
        assert other.content == ARRAYS["int64"].content


def test_large_data_is_in_files_that_a_text_names(tmp_path: Path) -> None:
    """A text names no file of another folder, which may be anybody's."""
    wide = literal(np.arange(1 << 18, dtype="<f4"))
    small = ARRAYS["int64"]
    given = module({0: wide, 1: small, 2: wide})
    kept = stored(given, tmp_path)
    text = print_with_weights(kept)
    assert len(text) < 5000 and len(list(tmp_path.iterdir())) == 1, "both share their data"
    with files_in(str(tmp_path)):
        read = [n.content for n in walk(parse(text).modules[0]) if isinstance(n, ast.Literal)]
    assert read == [wide.content, small.content, wide.content]
    assert print_with_weights(stored(kept, tmp_path)) == text
    parsed = parse(text)
    unknown = [n.content for n in walk(parsed.modules[0]) if isinstance(n, ast.Literal)]
    assert parsed.diagnostics == () and unknown == [None, small.content, None]
    assert "is left out" in without_files(text) and without_files(LINE) == LINE


LINE = print_with_weights(module({0: ARRAYS["int64"]}))
