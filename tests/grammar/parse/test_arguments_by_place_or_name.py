"""A form is the same however its arguments are given: by place, by name, or left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.read.parser import parse

FRAME = """\
@R.function(pure=False)
def main(
    x: R.Tensor((n, 4), "float32"), w: R.Tensor((8, 4), "float32"), b: R.Tensor((8,), "float32"),
    s: R.Object, t: R.Tensor, h: R.Tensor((3,), "int64"), e: R.Shape,
):
    n = T.int64()
    y = LINE
    return y
"""

SHAPE = ("[n, 4]", "(4, 8)", "R.shape([n])", "e")
TYPE = ("'int8'", "'float16'")

FORMS: dict[str, list[tuple[str, tuple[str, ...], str]]] = {
    "R.linear": [
        ("data", ("x",), ""),
        ("weight", ("w",), ""),
        ("bias", ("b", "t"), "None"),
        ("out_dtype", TYPE, "None"),
    ],
    "R.nn.relu6": [("data", ("x", "t"), "")],
    "R.vm.builtin.alloc_storage": [
        ("size", SHAPE, ""),
        ("device", ("1", "2"), "cpu"),
        ("dtype", TYPE, "'uint8'"),
    ],
    "R.vm.builtin.alloc_tensor": [
        ("storage", ("s",), ""),
        ("shape", SHAPE, ""),
        ("offset", ("16", "R.prim_value(n)"), "0"),
        ("dtype", TYPE, "'float32'"),
    ],
    "R.vm.builtin.free_storage": [("storage", ("s",), "")],
    "R.vm.builtin.free_tensor": [("tensor", ("x", "t"), "")],
    "R.vm.builtin.alloc_heap": [("size", ("R.prim_value(3)", "R.prim_value(n)"), "")],
    "R.vm.builtin.alloc_shape_heap": [("size", ("R.prim_value(3)",), "")],
    "R.const": [("value", ("1", "2.5", "[1, 2]"), ""), ("dtype", ("'int8'", "'float32'"), "")],
    "R.shape": [("value", ("[n, 4]", "()"), "")],
    "R.prim_value": [("value", ("n", "7"), "")],
    "R.str": [("value", ("'a'",), "")],
    "R.dtype": [("value", TYPE, "")],
    "R.ExternFunc": [("global_symbol", ("'f'",), ""), ("struct_info", ("R.Callable",), "")],
    "R.match_cast": [("value", ("x",), ""), ("struct_info", ("R.Tensor((n, 4))",), "")],
}
"""By its head a form's parameters: the name, some values, and the default (empty: there is none)."""


def read(line: str) -> ast.IRModule:
    """A module in which the line is the value of a binding."""
    found = parse(FRAME.replace("LINE", line))
    assert not found.diagnostics, (line, found.diagnostics)
    return found.modules[0]


def ways(head: str, chosen: list[str]) -> Iterator[str]:
    """The calls with these values: so many by place, the others by name, backwards as well;
    what has its default left out, or not.
    """
    rows = FORMS[head]
    for places in range(len(rows) + 1):
        named = [
            f"{name}={value}"
            for (name, _, _), value in zip(rows[places:], chosen[places:], strict=True)
        ]
        spoken = [
            text
            for text, (_, _, default), value in zip(
                named, rows[places:], chosen[places:], strict=True
            )
            if value != default
        ]
        for rest in (named, named[::-1], spoken):
            yield f"{head}({', '.join([*chosen[:places], *rest])})"


@pytest.mark.parametrize("head", FORMS)
def test_by_place_by_name_or_left_out(head: str) -> None:
    """Each value of a parameter, the others at their default or first value."""
    rows = FORMS[head]
    plain = [default or values[0] for _, values, default in rows]
    full = [values[-1] for _, values, _ in rows]
    sets = [plain, full]
    for at, (_, values, _) in enumerate(rows):
        sets += [[*base[:at], value, *base[at + 1 :]] for base in (plain, full) for value in values]
    for chosen in sets:
        lines = list(ways(head, chosen))
        one = read(lines[0])
        for line in lines[1:]:
            assert first_difference(one, read(line)) is None, (lines[0], line)


@pytest.mark.parametrize("head", FORMS)
def test_each_value_is_read(head: str) -> None:
    """Another value of a parameter is another program."""
    rows = FORMS[head]
    for at, (_, values, default) in enumerate(rows):
        chosen = [each or values[0] for _, values, each in rows]
        read_ones = []
        for value in dict.fromkeys([*values, *filter(None, [default])]):
            chosen[at] = value
            read_ones.append((value, read(f"{head}({', '.join(chosen)})")))
        for number, (value, one) in enumerate(read_ones):
            for other, two in read_ones[:number]:
                assert first_difference(one, two) is not None, (head, value, other)
