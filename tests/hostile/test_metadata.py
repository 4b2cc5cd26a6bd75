"""Damaged metadata and damaged references to it; arguments of intrinsics by name are data, too."""

from pathlib import Path

import pytest

from rlx.grammar.read.metadata import read_metadata
from rlx.grammar.read.outline import metadata_span
from rlx.grammar.read.parser import parse

from .corpus import check, complaint

CONSTANT = Path(__file__).with_name("constant.txt")
"""A training module as TVM prints it: constants in a function, and bare tensors among the module's attributes."""


def test_a_constant_is_damaged_alone() -> None:
    """An unreadable tensor is one error, and the other tensors are read."""
    text = CONSTANT.read_text("utf-8")
    assert parse(text).diagnostics == ()
    before = read_metadata(text, metadata_span(text))
    assert before is not None and all(t is not None for kind in before.values() for t in kind)
    start = text.index("P6G")
    damaged_one = text[:start] + "AAAA" + text[start + 4 :]
    after = read_metadata(damaged_one, metadata_span(damaged_one))
    assert after is not None and {kind: len(t) for kind, t in after.items()} == {
        kind: len(t) for kind, t in before.items()
    }
    assert [t for kind in after.values() for t in kind].count(None) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{", ""),
        ('GenericConst"][0]', 'GenericConst"][7]'),
        ('GenericConst"][0]', 'GenericConst"]["a"]'),
        ('GenericConst"][0]', 'GenericConst"][-1]'),
    ],
)
def test_references_are_checked(old: str, new: str) -> None:
    text = CONSTANT.read_text("utf-8")
    span = metadata_span(text)
    assert span is not None
    at = text.index(old, span[0] if old == "{" else span[1])
    found = parse(text[:at] + new + text[at + len(old) :]).diagnostics
    assert [d.code for d in found if d.is_error] == ["PARSE"]


@pytest.mark.parametrize(
    "call",
    [
        'T.tanh("f", s, ty_args=(R.Tensor((2,), "float32"),))',
        "T.tanh(x, axis=R.Object)",
        "T.foo(where={x: 1})",
        "T.foo(1, dtype=x)",
        "T.foo(1, a=[x, [y]])",
        "T.func_attr({'a': R.Callable, 'b': [x, {'c': R.Object}]})",
    ],
)
def test_named_arguments_of_intrinsics_are_data(call: str, tmp_path: Path) -> None:
    relax = f'@R.function\ndef main(s: R.Shape(ndim=2), x: R.Tensor((2,), "float32")):\n    y = {call}\n    return y\n'
    tir = f'@T.prim_func\ndef main(x: T.int32, s: T.Buffer((2,), "float32")):\n    s[0] = {call}\n'
    for text in (relax, tir):
        assert complaint(check(text.encode(), tmp_path)) is None
