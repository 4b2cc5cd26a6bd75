"""LAW: a node knows its children, by the text that it prints and by its own fields."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, replace, walk
from rlx.grammar.nodes.visit import bindings, expressions, struct_infos
from rlx.grammar.read.parser import parse

TEXT = """
@I.ir_module
class Module:
    @T.prim_func
    def copy(a: T.handle, b: T.Buffer((4,), "float32")):
        A = T.match_buffer(a, (4,), "float32")
        for i in T.serial(4):
            with T.sblock("copy"):
                v = T.axis.spatial(4, i)
                b[v] = A[v] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((n, 4), "float32") = R.add(x, R.const(2.0))
            gv = R.match_cast(lv, R.Tensor((n, 4), "float32"))
            R.output(gv)
        if c:
            r = R.reshape(gv, R.shape([n, 2 + 2]))
        else:
            r = R.call_tir(cls.copy, (gv,), out_sinfo=R.Tensor((n, 4), "float32"))
        return r
"""


BINDERS = (ast.Function, ast.VarBinding, ast.MatchCast, tir.PrimFunc)


def _module() -> ast.IRModule:
    (module,) = parse(TEXT).modules
    return module


def test_a_binding_evaluates_its_value_and_then_binds() -> None:
    lv, gv, *_ = bindings(_module())
    assert isinstance(lv, ast.VarBinding)
    assert lv.children() == (lv.value, lv.var.struct_info_annotation)
    assert isinstance(gv, ast.MatchCast)
    assert gv.children() == (gv.value, gv.struct_info)


def test_a_walk_reaches_everything_in_order() -> None:
    names = [type(node).__name__ for node in walk(_module())]
    assert names[:6] == ["IRModule", "PrimFunc", "IntImm", "IntImm", "For", "IntImm"]
    found = {*names}
    assert {"Block", "BufferStore", "BufferLoad", "FloatImm", "IterVar"} <= found
    assert {"If", "MatchCast", "TensorStructInfo", "ShapeExpr", "Constant", "Literal"} <= found


def test_a_name_is_no_child_but_what_is_declared_with_it_is() -> None:
    (lv, *_) = bindings(_module())
    assert isinstance(lv, ast.VarBinding)
    assert lv.var not in [*walk(lv)]
    assert lv.var.struct_info_annotation in lv.children()
    assert not lv.var.children()


def test_an_annotation_that_is_shared_is_visited_once() -> None:
    info: ast.StructInfo = ast.TensorStructInfo()
    for _ in range(60):
        info = ast.TupleStructInfo((info, info))
    assert sum(1 for _ in walk(info)) < 150


def test_a_sum_may_be_long() -> None:
    total: tir.PrimExpr = tir.Var("n")
    for number in range(10_000):
        total = tir.Add(total, tir.IntImm(number))
    assert sum(1 for _ in walk(total)) == 20_001


def test_unchanged_children_leave_the_node() -> None:
    for node in walk(_module()):
        assert node.map_children(lambda child: child, lambda name: name) is node


def test_changed_children_are_the_children_of_the_copy() -> None:
    for node in walk(_module()):
        copies: dict[Node, Node] = {}

        def copied(child: Node, copies: dict[Node, Node] = copies) -> Node:
            return copies.setdefault(child, replace(child))

        made = node.map_children(copied).children()
        for old, new in zip(node.children(), made, strict=True):
            # What is declared with a name stays, because the name does.
            assert new is copies.get(old) or (new is old and isinstance(node, BINDERS))


def test_annotations_are_not_evaluated() -> None:
    module = _module()
    shapes = [e for e in expressions(module) if isinstance(e, ast.ShapeExpr)]
    assert [str(shape) for shape in shapes] == ["R.shape([n, 2 + 2])"]
    found = [str(info) for info in struct_infos(module)]
    tensor = 'R.Tensor((n, 4), dtype="float32")'
    assert found == [tensor, 'R.Tensor((), dtype="bool")', *[tensor] * 4]
