"""Every spelling of a thing, in every version, is read as the same node."""

from __future__ import annotations

import base64
import json
import struct

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_struct_info
from rlx.grammar.read.parser import parse, parse_expr, parse_prim_expr, parse_struct_info


@pytest.mark.parametrize(
    ("spelling", "same_as"),
    [
        ('R.Tensor[(n, k), "f32"]', 'R.Tensor((n, k), dtype="float32")'),
        ("Tensor[(n, m)]", "R.Tensor((n, m))"),
        ('R.Tensor[_, "f32"]', 'R.Tensor(dtype="float32")'),
        ("R.Tensor[_, _]", "R.Tensor"),
        ('R.Tensor(("n", 4), dtype="float32")', 'R.Tensor((n, 4), "float32")'),
        ('R.Tensor(("n", "m * 2"), "int8")', 'R.Tensor((n, m * 2), "int8")'),
        ('R.Tensor("float32")', 'R.Tensor(dtype="float32")'),
        ('R.Tensor("float32", ndim=2)', 'R.Tensor(dtype="float32", ndim=2)'),
        ("R.Tensor()", "R.Tensor"),
        ('R.Tensor(dtype="", ndim=-1)', "R.Tensor"),
        ("R.Tensor((), dtype=None)", "R.Tensor([])"),
        ("R.Object", "R.Any"),
        ("R.Object()", "R.Any"),
        ('R.Prim("int64")', "T.int64"),
        ("R.Prim(value=n + 1)", 'R.Prim("int64", n + 1)'),
        ('R.Prim(value="n + 1")', "R.Prim(value=n + 1)"),
        ("R.Shape(ndim=2)", "R.Shape(None, 2)"),
        ('R.Shape(["n", "n * 4"])', "R.Shape([n, n * 4])"),
        ("R.Tuple(R.Tensor, R.Shape)", "R.Tuple([R.Tensor, R.Shape])"),
        ("R.Callable((R.Tensor,), R.Any, True)", "R.Callable((R.Tensor,), R.Any, purity=True)"),
        ("R.Callable((R.Tensor,), R.Any)", "R.Callable((R.Tensor,), R.Any, True)"),
    ],
)
def test_annotations(spelling: str, same_as: str) -> None:
    a, b = parse_struct_info(spelling), parse_struct_info(same_as)
    assert print_struct_info(a) == print_struct_info(b)
    assert structural_equal(a, b, map_free_vars=True)


def test_rank_zero() -> None:
    info = parse_struct_info("R.Shape([])")
    assert isinstance(info, ast.ShapeStructInfo)
    assert (info.values, info.ndim) == ((), 0)


def test_opaque_functions() -> None:
    bare = parse_struct_info("R.Callable")
    with_result = parse_struct_info("R.Callable(ret=R.Tensor)")
    assert isinstance(bare, ast.FuncStructInfo) and isinstance(with_result, ast.FuncStructInfo)
    assert bare.params is None and with_result.params is None
    assert isinstance(with_result.ret, ast.TensorStructInfo)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("n + 1", tir.Add),
        ("n // 4 * 4", tir.Mul),
        ("-n", tir.Mul),
        ("T.max(n, 4)", tir.Max),
        ("T.if_then_else(n < 4, n, 4)", tir.Call),
        ("n == 4 and not m < 3", tir.And),
        ("not n == 4", tir.Not),
        ("T.truncdiv(n, 3)", tir.TruncDiv),
        ('T.Cast("int32", n)', tir.Cast),
        ("T.Select(n < 4, n, 4)", tir.Select),
        ("T.int32(7)", tir.IntImm),
        ("n << 2", tir.Call),
    ],
)
def test_scalars(text: str, kind: type) -> None:
    assert type(parse_prim_expr(text)) is kind


def test_precedence_is_pythons() -> None:
    found = parse_prim_expr("a + b * c - d // e % f")
    assert isinstance(found, tir.Sub)
    assert isinstance(found.a, tir.Add) and isinstance(found.b, tir.FloorMod)
    assert isinstance(found.b.a, tir.FloorDiv)


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("x + y", "relax.add"),
        ("-x", "relax.negative"),
        ("x.astype('int8')", "relax.astype"),
        ("R.nn.relu(x)", "relax.nn.relu"),
        ("relax.op.add(x, y)", "relax.add"),
        ("relax.op.nn.relu(x)", "relax.nn.relu"),
        ("R.call_tir(cls.f, (x,), out_sinfo=R.Tensor)", "relax.call_tir"),
        ("R.call_tir((n, m), f, [x])", "relax.call_tir"),
        ('R.call_tir(f, (x,), (n, m), dtype="float32")', "relax.call_tir"),
        ('R.call_tir(f, x, (n, m), "float32")', "relax.call_tir"),
        ('R.call_tir("g", (x,), (n, m), dtype="float32")', "relax.call_dps_packed"),
    ],
)
def test_operators(text: str, op: str) -> None:
    body = f"@R.function\ndef main(x: R.Tensor((n, m)), y: R.Tensor, f: R.Callable):\n    r = {text}\n    return r"
    function = _function(body)
    assert isinstance(function.body, ast.SeqExpr)
    (binding,) = function.body.blocks[0].bindings
    assert isinstance(binding, ast.VarBinding)
    assert isinstance(binding.value, ast.Call)
    assert isinstance(binding.value.op, ast.Op) and binding.value.op.op_name == op


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ('(n, m), dtype="int8"', 'R.Tensor((n, m), "int8")'),
        ('(n, m), "int8"', 'R.Tensor((n, m), "int8")'),
        ('shape=(n, 4), dtype="int8"', 'R.Tensor((n, 4), "int8")'),
        ('x.shape, dtype="int8"', 'R.Tensor((n, m), "int8")'),
        (
            '((n,), (m, 2)), dtype=["int8", "bool"]',
            '[R.Tensor((n,), "int8"), R.Tensor((m, 2), "bool")]',
        ),
        (
            '(n * 2,), dtype="int8", tir_vars=R.shape([n])',
            'R.Tensor((n * 2,), "int8"), tir_vars=R.shape([n])',
        ),
    ],
)
def test_shape_and_element_type_of_a_result_apart(apart: str, together: str) -> None:
    head = (
        "@R.function\ndef main(x: R.Tensor((n, m)), f: R.Callable):\n    r = R.call_tir(f, (x,), "
    )
    first, second = (_function(f"{head}{given})\n    return r") for given in (apart, together))
    assert structural_equal(first, second)


def _function(text: str) -> ast.Function:
    parsed = parse(text)
    assert not parsed.diagnostics, [d.message for d in parsed.diagnostics]
    (function,) = parsed.modules[0].functions.values()
    assert isinstance(function, ast.Function)
    return function


@pytest.mark.parametrize(
    "head",
    [
        'def f(x: R.Tensor(("n", 4), "float32"))',
        'def f(x: R.Tensor((n, 4), "float32"))',
        'def f[n](x: R.Tensor((n, 4), "float32"))',
        'def f(x: R.Tensor[(n, 4), "f32"])',
    ],
)
def test_signatures_bind(head: str) -> None:
    function = _function(
        f"@R.function\n{head}:\n    n = T.int64()\n    s = R.shape([n])\n    return s"
    )
    assert [v.name for v in function.shape_vars] == ["n"]
    body = function.body
    assert isinstance(body, ast.SeqExpr)
    binding = body.blocks[0].bindings[0]
    assert isinstance(binding, ast.VarBinding) and isinstance(binding.value, ast.ShapeExpr)
    assert binding.value.values[0] is function.shape_vars[0]


def test_a_cast_binds_once() -> None:
    function = _function(
        "@R.function\ndef f(x: R.Tensor(ndim=2), y: R.Tensor(ndim=2)):\n"
        "    n = T.int64()\n"
        "    a = R.match_cast(x, R.Tensor((n * m, n), 'int8'))\n"
        "    b = R.match_shape(y, (m, n))\n"
        "    return b"
    )
    assert isinstance(function.body, ast.SeqExpr)
    a, b = function.body.blocks[0].bindings
    assert isinstance(a, ast.MatchCast) and isinstance(b, ast.MatchCast)
    assert [v.name for v in a.shape_vars] == ["n"]
    assert [v.name for v in b.shape_vars] == ["m"]


def test_surrounding_python_is_passed_over() -> None:
    parsed = parse(
        "import os\nprint('''@R.function''')\n\ndef helper():\n    @R.function\n    def g(x: R.Tensor):\n"
        "        return x\n    return g\n\n@R.function\ndef f(x: R.Tensor):\n    return x\n\nos.remove(f)\n",
        "test.py",
    )
    assert not parsed.diagnostics
    assert all(module.bare for module in parsed.modules)
    assert [[v.name_hint for v in m.functions] for m in parsed.modules] == [["g"], ["f"]]


def test_several_modules() -> None:
    text = "@I.ir_module\nclass {}:\n    @R.function\n    def f(x: R.Tensor):\n        return x\n\n"
    parsed = parse(text.format("A") + text.format("B"))
    assert [m.name for m in parsed.modules] == ["A", "B"]


def test_annotations_are_shared_and_located() -> None:
    text = (
        "@R.function\ndef f(x: R.Tensor((4,), 'int8')):\n"
        "    y: R.Tensor((4,), 'int8') = x\n    z: R.Tensor((4,), 'int8') = y\n    return z"
    )
    function = _function(text)
    assert isinstance(function.body, ast.SeqExpr)
    y, z = (b.var for b in function.body.blocks[0].bindings if isinstance(b, ast.VarBinding))
    info = y.struct_info_annotation
    assert info is not None and info is z.struct_info_annotation
    assert isinstance(info, ast.TensorStructInfo) and info.shape is not None
    span = ast.locate(info.shape, info, z.annotation_span)
    assert span is not None and text[slice(*span)] == "(4,)"
    assert span[0] > text.index("z:")


_TENSOR = base64.b64encode(
    struct.pack("<QQiiiBBH2qq", 0xDD5E40F096B4A13F, 0, 1, 0, 2, 2, 32, 1, 3, 4, 48) + bytes(48)
).decode()
NESTED = {
    "root_index": 4,
    "nodes": [
        {"type": "ffi.String", "data": "ir.GenericConst"},
        {"type": "ffi.Tensor", "data": _TENSOR},
        {"type": "ir.GenericConst", "data": {"value": 1}},
        {"type": "ffi.Array", "data": [2]},
        {"type": "ffi.Map", "data": [0, 3]},
    ],
}
LISTED = {
    "root": 1,
    "nodes": [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["ir.GenericConst"], "data": [2]},
        {"type_key": "Array", "data": [3]},
        {"type_key": "relax.expr.Constant", "attrs": {"data": "0", "span": "0"}},
    ],
    "b64ndarrays": [_TENSOR],
}


@pytest.mark.parametrize("graph", [NESTED, LISTED], ids=["now", "before 0.21"])
def test_constants_of_metadata_have_their_shape(graph: dict[str, object]) -> None:
    quoted = json.dumps(graph).replace('"', '\\"')
    function = _function(
        f'metadata = tvm.ir.load_json("""{quoted}""")\n'
        '@R.function\ndef f():\n    c = metadata["ir.GenericConst"][0]\n    return c'
    )
    assert isinstance(function.body, ast.SeqExpr)
    (binding,) = function.body.blocks[0].bindings
    assert isinstance(binding, ast.VarBinding) and isinstance(binding.value, ast.Constant)
    assert binding.value.data.shape == (3, 4)
    assert str(binding.value.data.dtype) == "float32"
    assert binding.value.data.content == bytes(48)


def test_nothing_is_evaluated() -> None:
    for text in ("__import__('os')", "eval('1')", "(lambda: 1)()", "[x for x in y]"):
        parsed = parse(f"@R.function\ndef f(y: R.Tensor):\n    z = {text}\n    return y")
        function = next(iter(parsed.modules[0].functions.values()))
        assert parsed.diagnostics or isinstance(function, ast.Function)
    with pytest.raises(SyntaxError):
        parse_expr("f'{x}'")


@pytest.mark.parametrize(
    ("head", "kinds"),
    [
        ("", [tir.AllocBuffer, tir.BufferStore, tir.BufferStore]),
        (
            "# from tvm.script import tirx as T\n",
            [tir.AllocBuffer, tir.BufferStore, tir.BufferStore],
        ),
        ("# from tvm.script import tir as T\n", [tir.LetStmt, tir.BufferStore]),
        ("from tvm.script import ir as I, tir as T\n", [tir.LetStmt, tir.BufferStore]),
    ],
)
@pytest.mark.parametrize("spelled", ["t = A[0]", "t: T.int32 = A[0]"])
def test_an_assignment_in_a_prim_func(head: str, kinds: list[type], spelled: str) -> None:
    text = f'@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    {spelled}\n    A[1] = t + 1\n'
    parsed = parse(head + text, "f.py" if head.startswith("from") else "f.rlx")
    assert not parsed.diagnostics
    [func] = parsed.modules[0].functions.values()
    assert isinstance(func, tir.PrimFunc) and isinstance(func.body, tir.SeqStmt)
    assert [type(stmt) for stmt in func.body.stmts] == kinds
