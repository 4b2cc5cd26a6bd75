"""Annotations of the usual form, which a builder reads without the grammar, are what the grammar reads."""

from __future__ import annotations

import random

import pytest

import rlx
from rlx.grammar import parse_struct_info, structural_equal
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT32, dtype
from rlx.transform.builder import struct_info

DIMS = (
    "0",
    "3",
    "107",
    '"n"',
    '"m"',
    '"n_1"',
    "9223372036854775807",
    '"n + 1"',
    "-1",
    "03",
    "n",
    "",
)
KINDS = ("float32", "int64", "bool", "float8_e4m3fn", "floating", "")


def text(pick: random.Random) -> str:
    """An annotation of the usual form, or one that is nearly of it."""
    dims = ", ".join(
        pick.choice(DIMS[:7] if pick.random() < 0.8 else DIMS) for _ in range(pick.randrange(4))
    )
    end = pick.choice(["", ",", ", "])
    kind = pick.choice([', "{}"', ', dtype="{}"', "", ', "{}", ndim=2']).format(pick.choice(KINDS))
    return f"R.Tensor(({dims}{end}){kind})"


def test_texts_are_read_as_the_grammar_reads_them() -> None:
    pick, legal = random.Random(0), 0
    for given in {text(pick) for _ in range(2000)}:
        names = {name: tir.Var(name) for name in ("n", "m", "n_1")}
        try:
            wanted = parse_struct_info(given, names)
        except rlx.ParseError:
            with pytest.raises(rlx.MisuseError):
                struct_info(given, names)
            continue
        found = struct_info(given, names)
        assert structural_equal(found, wanted), given
        assert getattr(found, "span", None) == getattr(wanted, "span", None)
        legal += 1
    assert legal > 200


def test_a_name_is_one_dimension_in_all_texts() -> None:
    x, y = rlx.Var("x", 'R.Tensor(("rows", 4), "float32")'), rlx.Var("y", 'R.Shape(["rows"])')
    z = rlx.Var("z", ["rows", 4], "float32")
    assert str(z.struct_info) == str(x.struct_info) == 'R.Tensor((rows, 4), dtype="float32")'
    bb = rlx.BlockBuilder()
    with bb.function("main", [x, y, z]):
        bb.emit_func_output(bb.emit(rlx.op.add(x, z)))
    assert rlx.check(bb.get()).ok
    with pytest.raises(rlx.MisuseError, match="a text has its own"):
        rlx.Var("x", 'R.Tensor((2,), "float32")', "float32")
    with pytest.raises(rlx.MisuseError, match="floating"):
        rlx.Var("x", [2], "floating")


@pytest.mark.parametrize(
    "made",
    [
        ast.TensorStructInfo(["n", 4], "float32"),  # type: ignore[arg-type]
        ast.TensorStructInfo((tir.Var("n"), 4), dtype("float32")),  # type: ignore[arg-type]
        ast.TensorStructInfo(ast.ShapeExpr((rlx.dim("n"), tir.IntImm(4))), dtype("float32")),
        ast.TensorStructInfo(ast.ShapeExpr((rlx.dim("n"), tir.IntImm(4, INT32))), dtype("float32")),
    ],
)
def test_types_that_python_made(made: ast.StructInfo) -> None:
    """As TVM's constructors take them: the rank is that of the shape, literals have 64 bits."""
    infos = [rlx.Var("x", made).struct_info]
    call = rlx.op.call_dps_packed("f", [], out_sinfo=[made, made])
    infos += call.sinfo_args[0].fields  # type: ignore[attr-defined]
    for info in infos:
        assert isinstance(info, ast.TensorStructInfo)
        assert str(info) == 'R.Tensor((n, 4), dtype="float32")' and info.ndim == 2


def test_wrong_parts_of_types() -> None:
    for info, words in (
        (ast.TensorStructInfo(("n", None), "float32"), "expected a scalar"),  # type: ignore[arg-type]
        (ast.TensorStructInfo((4,), "flaot32"), "expected a data type"),  # type: ignore[arg-type]
    ):
        with pytest.raises(rlx.MisuseError, match=words):
            rlx.Var("x", info)
    with pytest.raises(rlx.MisuseError, match=r"annotated\(module\) writes all"):
        rlx.op.call_dps_packed("f", [], out_sinfo=None)  # type: ignore[arg-type]
