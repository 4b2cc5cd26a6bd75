"""Nodes that Python code makes: lists are tuples, and parts of wrong kinds are told by name."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr

x, y = (rlx.Var(name, ["n", 4], "float32") for name in "xy")
flag = rlx.Var("flag", [], "bool")
ADD = rlx.op.add(x, y).op


def built(make: Callable[[], Expr]) -> ast.IRModule:
    """A module that returns a value."""
    bb = rlx.BlockBuilder()
    with bb.function("main", [x, y, flag]):
        bb.emit_func_output(bb.emit(make()))
    return bb.get()


def test_none_is_no_attributes_and_no_types() -> None:
    call = ast.Call(ast.op("relax.ewise_fma"), [rlx.Var("x", (4,))] * 3, None, None)  # type: ignore[arg-type]
    assert (call.attrs, call.sinfo_args) == ({}, ())
    with pytest.raises(rlx.MisuseError, match="expected a tuple or list as args, found NoneType"):
        ast.Call(ast.op("relax.exp"), None)  # type: ignore[arg-type]


def test_lists_are_tuples() -> None:
    call = ast.Call(ADD, [x, y])  # type: ignore[arg-type]
    pair = ast.Tuple([call, x])  # type: ignore[arg-type]
    assert call.args == (x, y) and pair.fields == (call, x)
    bound = rlx.Var("v")
    block = ast.BindingBlock([ast.VarBinding(bound, pair)])  # type: ignore[arg-type]
    function = ast.Function([x, y], ast.SeqExpr([block], bound))  # type: ignore[arg-type]
    bb = rlx.BlockBuilder()
    bb.add_func(function, "main")
    assert rlx.check(bb.get()).ok
    assert "v = (R.add(x, y), x)" in rlx.show(bb.get())


WRONG: dict[str, tuple[Callable[[], Expr], str]] = {
    "attributes in the place of types": (
        lambda: ast.Call(ADD, (x, y), {}, {}),  # type: ignore[arg-type]
        "found dict {}: write Call(op, args, attrs, sinfo_args)",
    ),
    "fields one by one": (lambda: ast.Tuple(x, y), "expected a tuple or list as fields"),  # type: ignore[arg-type]
    "a sequence in the other order": (
        lambda: ast.SeqExpr(x, ()),  # type: ignore[arg-type]
        "write SeqExpr(blocks, body)",
    ),
    "the name of an operator": (
        lambda: ast.Call("relax.add", (x, y)),  # type: ignore[arg-type]
        "op of Call: expected an expression",
    ),
    "a number as operand": (
        lambda: ast.Call(ADD, (x, 1)),  # type: ignore[arg-type]
        "args of Call: expected an expression, such as a variable or rlx.const(1); found int 1",
    ),
    "a number inside": (
        lambda: rlx.op.exp(ast.Call(ADD, (x, 1))),  # type: ignore[arg-type]
        "args of Call: expected an expression",
    ),
    "a field in the other order": (
        lambda: ast.TupleGetItem(0, ast.Tuple((x, y))),  # type: ignore[arg-type]
        "tuple_value of TupleGetItem: expected an expression",
    ),
    "numbers as dimensions": (
        lambda: ast.ShapeExpr((2, 3)),  # type: ignore[arg-type]
        "rlx.op.shape([n, 2]) takes numbers, too; found int 2",
    ),
    "a branch that is missing": (
        lambda: ast.If(flag, x, None),  # type: ignore[arg-type]
        "false_branch of If: expected an expression",
    ),
    "a number as constant": (
        lambda: ast.Constant(3.0),  # type: ignore[arg-type]
        "rlx.const(…) makes a constant; found float 3.0",
    ),
}


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_a_part_of_a_wrong_kind_is_named(make: Callable[[], Expr], words: str) -> None:
    with pytest.raises(rlx.MisuseError) as raised:
        built(make)
    assert words in str(raised.value) and "test_nodes_by_hand.py:" in str(raised.value)


@pytest.mark.parametrize("name", ["a number inside", "a number as operand"])
def test_mutators_name_it_too(name: str) -> None:
    make, words = WRONG[name]

    class Wrong(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Expr:
            return make()

    class Visited(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Expr:
            is_first = call.op_name == "relax.exp"
            return super().visit_call(make() if is_first else call)  # type: ignore[arg-type]

    for mutator in (Wrong(), Visited()):
        with pytest.raises(rlx.MisuseError, match=re.escape(words)):
            mutator(built(lambda: rlx.op.exp(x)))


def test_shape_variables_are_bound_where_code_leaves_them_out() -> None:
    """By signatures, by casts, and by those of local functions."""
    n, m, k = rlx.dim("n"), rlx.dim("m"), rlx.dim("k")
    square = rlx.Var("square", [k, k], "float32")
    local = rlx.Var("local")
    inner = ast.Function((square,), rlx.op.exp(square))
    given = rlx.Var("given", 'R.Tensor("float32", ndim=2)')
    cast, flat, out = rlx.Var("cast"), rlx.Var("flat"), rlx.Var("out")
    rows = rlx.Var("rows", [n], "float32")
    target = rlx.Var("_", [n, m], "float32").struct_info
    assert target is not None
    bindings = (
        ast.VarBinding(local, inner),
        ast.MatchCast(cast, given, target),
        ast.VarBinding(flat, rlx.op.reshape(cast, [n * m])),
        ast.VarBinding(out, ast.Tuple((flat, rows))),
    )
    body = ast.SeqExpr((ast.BindingBlock(bindings),), out)
    function = ast.Function((rows, given), body)
    bb = rlx.BlockBuilder()
    bb.add_func(function, "main")
    assert [var.name for var in bb.get()["main"].shape_vars] == ["n"]  # type: ignore[union-attr]
    for module in (bb.get(), rlx.IRModule.from_expr(function)):
        assert rlx.check(module).ok
        assert rlx.transform.dead_code(module)["main"] is not module["main"]
    assert rlx.ExprMutator()(function).shape_vars == (n,)

    bb = rlx.BlockBuilder()
    with bb.function("main", [given]):
        bb.emit_normalized(ast.MatchCast(cast, given, target))
        closure = bb.emit(inner)
        bb.emit_func_output(bb.emit((rlx.op.reshape(cast, [n * m]), closure)))
    assert rlx.check(bb.get()).ok


def test_functions_by_hand() -> None:
    binding = ast.VarBinding(rlx.Var("v"), 3)  # type: ignore[arg-type]
    body = ast.SeqExpr((ast.BindingBlock((binding,)),), x)
    with pytest.raises(rlx.MisuseError, match="value of VarBinding: expected an expression"):
        rlx.BlockBuilder().add_func(ast.Function((x,), body), "main")


@pytest.mark.parametrize("of", [2.5, [[1, 2, 3], [4, 5, 6]], np.ones((1, 3), "float16")])
def test_constants_have_a_type_and_elements(of: object) -> None:
    made, wanted = rlx.const(of), np.array(of)
    assert isinstance(made, ast.Constant)
    info = made.struct_info
    assert isinstance(info.shape, ast.ShapeExpr)
    assert tuple(info.shape) == wanted.shape and info.ndim == wanted.ndim
    found = made.data.numpy()
    assert np.array_equal(found, wanted) and str(found.dtype) == info.dtype
    found[...] = 7
    assert np.array_equal(made.data.numpy(), wanted)


def test_a_shape_and_a_tuple_are_true_if_they_have_parts() -> None:
    assert not rlx.op.shape([]) and not ast.Tuple(())
    assert rlx.op.shape([2, 3]) and ast.Tuple((x,)) and x.struct_info.shape  # type: ignore[union-attr]
    with pytest.raises(rlx.MisuseError, match="which only a run knows"):
        bool(x)


TVMS: dict[str, Callable[[], object]] = {
    "match.bound(pattern) in a match": lambda: x.attrs,  # type: ignore[attr-defined]
    "constant.data.numpy() has the elements": lambda: rlx.const(1.0).value,  # type: ignore[attr-defined]
    "write constant.struct_info": lambda: rlx.const(1.0).ty,  # type: ignore[attr-defined]
    "write function.ret_struct_info": lambda: ast.Function((x,), x).ret_ty,  # type: ignore[attr-defined]
    "write x is y": lambda: x.same_as(y),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("words", TVMS)
def test_attributes_under_names_of_tvm(words: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(words)):
        TVMS[words]()


def test_no_attributes_may_be_none() -> None:
    """As in TVM: `relax.Call(op, args, None, [type])`."""
    call = ast.Call(ast.ExternFunc("f"), [x], None, [ast.ObjectStructInfo()])  # type: ignore[arg-type]
    bb = rlx.BlockBuilder()
    with bb.function("main", [x], pure=False):
        bb.emit_func_output(bb.emit(call))
    assert rlx.check(bb.get()).ok and call.attrs == {}


@pytest.mark.parametrize("name", ["float16", "int64", "bool", "uint8", "bfloat16", "float8_e4m3fn"])
def test_numpy_takes_element_types(name: str) -> None:
    kind = rlx.Var("x", [2], name).struct_info.dtype  # type: ignore[union-attr]
    zeros = np.zeros((2,), kind)
    assert str(zeros.dtype) == name and zeros.astype(kind).dtype == kind.dtype
    made = rlx.const(zeros)
    assert isinstance(made, ast.Constant) and made.struct_info.dtype == kind


def test_elements_that_numpy_does_not_have() -> None:
    kind = rlx.Var("x", [2], "float32x4").struct_info.dtype  # type: ignore[union-attr]
    with pytest.raises((TypeError, AttributeError)):
        np.zeros((2,), kind)


SHARED: dict[str, Callable[[Expr], Expr]] = {
    "both operands": lambda s: s * s,
    "beside a call of it": lambda s: rlx.op.add(rlx.op.nn.relu(s), s),
    "at the end of a chain": lambda s: rlx.op.add(rlx.op.abs(rlx.op.nn.relu(s * s)), s),
    "in a tuple": lambda s: ast.Tuple((s, rlx.op.nn.relu(s), s)),
    "in a field of a tuple": lambda s: ast.TupleGetItem(ast.Tuple((s * s, s)), 0),
}


@pytest.mark.parametrize("in_dataflow", [False, True])
@pytest.mark.parametrize("name", SHARED)
def test_one_object_is_evaluated_once(name: str, in_dataflow: bool) -> None:
    """As TVM's builder does: `s = subtract(a, b)`, `bb.emit(multiply(s, s))`."""
    bb = rlx.BlockBuilder()
    with bb.function("main", [x, y]):
        if in_dataflow:
            with bb.dataflow():
                made = bb.emit_output(SHARED[name](rlx.op.subtract(x, y)))
        else:
            made = bb.emit(SHARED[name](rlx.op.subtract(x, y)))
        bb.emit_func_output(made)
    module = bb.get()
    assert rlx.check(module).ok
    assert rlx.show(module).count("R.subtract") == 1
    spelled = rlx.BlockBuilder()
    with spelled.function("main", [x, y]):
        shared = spelled.emit(rlx.op.subtract(x, y))
        spelled.emit_func_output(spelled.emit(SHARED[name](shared)))
    sizes = [np.arange(8.0).reshape(2, 4), np.full((2, 4), 3.5)]
    inputs = {"x": sizes[0].astype("float32"), "y": sizes[1].astype("float32")}
    one, other = (rlx.run(each, inputs=inputs) for each in (module, spelled.get()))
    assert str(one.numpy()) == str(other.numpy())
