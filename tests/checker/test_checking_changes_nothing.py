"""A module is the same after it is checked: each field of each node is the object that it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import rlx
from rlx.checker.check import check_modules
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, fields
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

FILES = sorted((Path(__file__).parents[2] / "examples").rglob("*.rlx"))
MATCHES = """
@R.function
def main(x: R.Tensor("float16", ndim=2), c: R.Tensor((), "bool")):
    n, m = T.int64(), T.int64()
    p = (R.shape_of(x), R.exp(x))
    a = p[0]
    s = R.match_shape(a, (n, m))
    if c:
        y = R.match_shape(p[1], (n, m))
    else:
        y = R.match_shape(x, (n, m))
    return (s, y)
"""


def held(module: ast.IRModule) -> Iterator[tuple[Node, str, object]]:
    """Every field of every node, with what it holds."""
    stack: list[object] = [module]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, Node) and id(value) not in seen:
            seen.add(id(value))
            for name, part in fields(value):
                yield value, name, part
                stack.append(part)
        elif isinstance(value, tuple):
            stack += value
        elif isinstance(value, Mapping):
            stack += (*value, *value.values())


def is_unchanged(module: ast.IRModule) -> bool:
    """Checks a module; whether all of it is what it was."""
    before, shown = list(held(module)), print_module(module)
    check_modules((module,), Source("", "<module>"))
    after = list(held(module))
    same = len(before) == len(after) and all(
        a[0] is b[0] and a[2] is b[2] for a, b in zip(before, after, strict=True)
    )
    return same and print_module(module) == shown


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_the_same_after_its_check(path: Path) -> None:
    assert all(map(is_unchanged, parse(path.read_text()).modules))


def test_casts_that_compare_shapes_are_the_same() -> None:
    """The report's module, which is another one, has the struct info that such a cast gives."""
    (module,) = parse(MATCHES).modules
    assert is_unchanged(module)
    report = check_modules((module,), Source(MATCHES))
    assert report.ok and report.modules[0] is not module
    casts = [each for each in bindings(report.modules[0]) if isinstance(each, ast.MatchCast)]
    kinds = {cast.var.name_hint: type(cast.struct_info) for cast in casts if cast.var is not None}
    assert kinds == {"s": ast.ShapeStructInfo, "y": ast.TensorStructInfo}


def test_a_module_of_the_builder_is_the_same_after_its_check() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", ["n", 4], "float32")
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(rlx.op.add(x, x)))
    assert is_unchanged(bb.get())
