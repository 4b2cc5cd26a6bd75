"""Laws that hold of every derivation, on generated programs."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.checker.derive import derive
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, DataType
from rlx.grammar.nodes.node import Node
from rlx.grammar.print.printer import show
from rlx.solver.order import free_shape_vars, free_vars

UNARY = ["exp", "negative", "nn.relu", "permute_dims", "sum"]
BINARY = ["add", "multiply", "matmul", "maximum"]


def tensor(dims: list[tir.PrimExpr], dtype: DataType = FLOAT32) -> ast.TensorStructInfo:
    return ast.TensorStructInfo(ast.ShapeExpr(tuple(dims)), dtype, len(dims))


class Writer:
    """Writes a random function: straight bindings, casts that bind shape variables, branches, tuples."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0
        self.dims: list[tir.PrimExpr] = [tir.IntImm(i) for i in (1, 2, 4)]
        self.values: list[ast.Var] = []

    def pick(self) -> ast.Var:
        return self.draw(st.sampled_from(self.values))

    def info(self) -> StructInfo:
        dims = self.draw(st.lists(st.sampled_from(self.dims), max_size=3))
        dtype = self.draw(st.sampled_from([FLOAT32, FLOAT32, INT64]))
        return self.draw(
            st.sampled_from(
                [
                    tensor(dims, dtype),
                    ast.TensorStructInfo(None, dtype, len(dims)),
                    ast.ShapeStructInfo(tuple(dims), len(dims)),
                    ast.TupleStructInfo((tensor(dims),)),
                ]
            )
        )

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def value(self, depth: int) -> Expr:
        kind = self.draw(st.integers(0, 7 if depth else 5))
        if kind <= 1:
            name = self.draw(st.sampled_from(UNARY))
            return ast.Call(ast.op(f"relax.{name}"), (self.pick(),))
        if kind == 2:
            name = self.draw(st.sampled_from(BINARY))
            return ast.Call(ast.op(f"relax.{name}"), (self.pick(), self.pick()))
        if kind == 3:
            return ast.Tuple((self.pick(), self.pick()))
        if kind == 4:
            return ast.TupleGetItem(self.pick(), self.draw(st.integers(0, 1)))
        if kind == 5:
            return ast.ShapeExpr((self.draw(st.sampled_from(self.dims)),))
        if kind == 6:
            cond = ast.Constant(ast.Literal(True, BOOL, ()))
            return ast.If(cond, self.seq(depth - 1), self.seq(depth - 1))
        return self.function(depth - 1)

    def binding(self, depth: int) -> ast.Binding:
        if self.draw(st.integers(0, 4)):
            value = self.value(depth)
            var = ast.Var(self.name())
            binding: ast.Binding = ast.VarBinding(var, value)
        else:
            value = self.pick()
            fresh = tir.Var(f"k{self.count}")
            var = ast.Var(self.name())
            target = tensor([fresh, *self.draw(st.lists(st.sampled_from(self.dims), max_size=1))])
            binding = ast.MatchCast(var, value, target, (fresh,))
            self.dims.append(fresh)
        self.values.append(var)
        return binding

    def seq(self, depth: int) -> ast.SeqExpr:
        dims, values = list(self.dims), list(self.values)
        count = self.draw(st.integers(1, 4))
        block = ast.BindingBlock(tuple([self.binding(depth) for _ in range(count)]))
        body = self.pick()
        self.dims, self.values = dims, values
        return ast.SeqExpr((block,), body)

    def function(self, depth: int) -> ast.Function:
        dims, values = list(self.dims), list(self.values)
        n = tir.Var(f"n{self.count}")
        self.dims.append(n)
        params = [ast.Var(self.name(), tensor([n, tir.IntImm(4)]))]
        params += [ast.Var(self.name(), self.info()) for _ in range(2)]
        self.values += params
        body = self.seq(depth)
        self.dims, self.values = dims, values
        return ast.Function(tuple(params), body, shape_vars=(n,))


@st.composite
def modules(draw: st.DrawFn) -> ast.IRModule:
    return ast.IRModule({ast.GlobalVar("main"): Writer(draw).function(2)})


def findings(module: ast.IRModule) -> list[tuple[str, str]]:
    return [(d.code, d.message) for d in derive(module).diagnostics]


@settings(max_examples=30, deadline=None)
@given(modules())
def test_derivation_is_deterministic(module: ast.IRModule) -> None:
    first, second = derive(module), derive(module)
    assert findings(module) == [(d.code, d.message) for d in first.diagnostics]
    assert [show(i) for i in first.info.values()] == [show(i) for i in second.info.values()]


def check_scope(
    info: Mapping[Node, StructInfo],
    expr: Expr,
    variables: frozenset[ast.Var],
    shapes: frozenset[tir.Var],
) -> None:
    """Every variable bound in an expression is described by what is in scope where it is bound."""

    match expr:
        case ast.Function(params=params, body=body, shape_vars=own):
            check_scope(info, body, variables.union(params), shapes.union(own))
        case ast.If(true_branch=then, false_branch=other):
            check_scope(info, then, variables, shapes)
            check_scope(info, other, variables, shapes)
        case ast.SeqExpr(blocks=blocks):
            outside = (variables, shapes)
            for binding in (b for block in blocks for b in block.bindings):
                assert isinstance(binding, (ast.VarBinding, ast.MatchCast))
                check_scope(info, binding.value, variables, shapes)
                if isinstance(binding, ast.MatchCast):
                    shapes = shapes.union(binding.shape_vars)
                assert binding.var is not None
                variables = variables | {binding.var}
                assert shapes.issuperset(free_shape_vars(info[binding.var]))
                assert variables.issuperset(free_vars(info[binding.var]))
            assert outside[1].issuperset(free_shape_vars(info[expr]))
            assert outside[0].issuperset(free_vars(info[expr]))


@settings(max_examples=30, deadline=None)
@given(modules())
def test_struct_info_mentions_only_what_is_in_scope(module: ast.IRModule) -> None:
    info = derive(module).info
    for gv, function in module.functions.items():
        assert isinstance(function, ast.Function)
        assert not free_shape_vars(info[gv])
        check_scope(info, function, frozenset(), frozenset())


def annotated(expr: Expr, info: dict[Node, StructInfo], new: dict[ast.Var, ast.Var]) -> Expr:
    """A copy in which every bound variable is annotated with what was derived for it."""

    def use(e: Expr) -> Expr:
        return annotated(e, info, new)

    match expr:
        case ast.Var():
            return new.get(expr, expr)
        case ast.Call(op=op, args=args):
            return ast.Call(op, tuple(map(use, args)))
        case ast.Tuple(fields=fields):
            return ast.Tuple(tuple(map(use, fields)))
        case ast.TupleGetItem(tuple_value=value, index=index):
            return ast.TupleGetItem(use(value), index)
        case ast.If(cond=cond, true_branch=then, false_branch=other):
            return ast.If(cond, use(then), use(other))
        case ast.Function(params=params, body=body, shape_vars=own):
            return ast.Function(params, use(body), info[expr].ret, shape_vars=own)  # type: ignore[attr-defined]
        case ast.SeqExpr(blocks=(block,), body=body):
            bindings: list[ast.Binding] = []
            for b in block.bindings:
                assert isinstance(b, (ast.VarBinding, ast.MatchCast))
                assert b.var is not None
                value = use(b.value)
                var = new[b.var] = ast.Var(b.var.name_hint, info[b.var])
                if isinstance(b, ast.MatchCast):
                    bindings.append(ast.MatchCast(var, value, b.struct_info, b.shape_vars))
                else:
                    bindings.append(ast.VarBinding(var, value))
            return ast.SeqExpr((ast.BindingBlock(tuple(bindings)),), use(body))
    return expr


@settings(max_examples=30, deadline=None)
@given(modules())
def test_annotating_with_what_was_derived_adds_nothing(module: ast.IRModule) -> None:
    derivation = derive(module)
    copy = ast.IRModule(
        {gv: annotated(f, dict(derivation.info), {}) for gv, f in module.functions.items()}  # type: ignore[arg-type, misc]
    )
    new = derive(copy)
    before = {d.message for d in derivation.diagnostics}
    if not before:
        assert not new.diagnostics
    for diagnostic in new.diagnostics:
        assert not diagnostic.code.startswith(("D11-annotation", "D15"))
