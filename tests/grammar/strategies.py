"""Random modules: well scoped, not necessarily well typed, made of every node that a text can say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, VOID, dtype
from rlx.grammar.nodes.tir import PrimExpr

from .prim_strategies import ARITHMETIC, Draws, prim_funcs

U = TypeVar("U")

NAMES = st.sampled_from(["x", "y", "lv", "gv", "n", "m", "a_1", "for", "T", "w.1", "é"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
FLOATS = st.floats(allow_nan=True, allow_infinity=True)
DTYPES = st.sampled_from(
    [dtype(t) for t in ("float32", "int64", "bool", "float8_e4m3fn", "bfloat16")]
)
KEYS = st.sampled_from(["axis", "dtype", "layout", "strides", "extra"])
DEVICES = st.builds(
    ast.VDevice, st.sampled_from(["llvm", "cuda"]), st.integers(0, 3), st.sampled_from(["global"])
)
INTS = st.one_of(st.integers(-3, 9), st.integers(-(2**63), 2**63 - 1))


class Scope:
    """The names that a place of a module may mention."""

    def __init__(self, globals_: Sequence[ast.GlobalVar]) -> None:
        self.globals = globals_
        self.vars: list[ast.Var] = []
        self.shapes: list[tir.Var] = []
        self.depth = 0


class Relax(Draws):
    """Draws the parts of a Relax function."""

    def __init__(self, draw: st.DrawFn, scope: Scope) -> None:
        super().__init__(draw)
        self.scope = scope
        self.closures = True

    # ------------------------------------------------------------------ dimensions

    def dim(self, depth: int = 2) -> PrimExpr:
        choice = self.draw(st.integers(0, 9 if depth else 3))
        shapes = self.scope.shapes
        if choice < 2 and shapes:
            return self.pick(shapes)
        if choice < 4:
            return tir.IntImm(self.draw(INTS))
        if choice == 4:
            return tir.Call("if_then_else", (self.condition(), self.dim(1), self.dim(1)), INT64)
        if choice == 5:
            return tir.Select(self.condition(), self.dim(1), self.dim(1))
        if choice == 6:
            return tir.Cast(INT64, self.dim(depth - 1))
        made = self.pick(ARITHMETIC)
        return made(self.dim(depth - 1), self.dim(depth - 1))

    def condition(self) -> PrimExpr:
        compared = self.pick((tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE))
        first = compared(self.dim(1), self.dim(1))
        match self.draw(st.integers(0, 4)):
            case 0:
                return tir.And(first, self.condition())
            case 1:
                return tir.Or(self.condition(), first)
            case 2:
                return tir.IntImm(self.draw(st.integers(0, 1)), BOOL)
        return first

    def fresh_shapes(self, count: int) -> tuple[tir.Var, ...]:
        return tuple(tir.Var(self.draw(NAMES)) for _ in range(count))

    def length(self) -> PrimExpr:
        """A dimension of an annotation, where a negative number is an error."""
        dim = self.dim()
        return tir.IntImm(-1 - dim.value) if isinstance(dim, tir.IntImm) and dim.value < 0 else dim

    # ------------------------------------------------------------------ struct info

    def info(self, depth: int = 2) -> ast.StructInfo:
        match self.draw(st.integers(0, 8 if depth else 5)):
            case 0:
                return ast.ObjectStructInfo()
            case 1:
                return ast.ShapeStructInfo(None, self.draw(st.integers(-1, 3)))
            case 2:
                return ast.ShapeStructInfo(self.some(2, self.length))
            case 3:
                kind = dtype(self.draw(st.sampled_from(["int64", "int32", "float32", "bool"])))
                return ast.PrimStructInfo(kind)
            case 4 | 5:
                return self.tensor()
            case 6:
                return ast.TupleStructInfo(self.some(3, lambda: self.info(depth - 1)))
            case 7:
                return ast.PrimStructInfo(INT64, self.dim())
        return self.function_info(depth)

    def tensor(self) -> ast.TensorStructInfo:
        shape = ast.ShapeExpr(self.some(3, self.length)) if self.draw(st.booleans()) else None
        ndim = self.draw(st.integers(-1, 3)) if shape is None else len(shape.values)
        kind = self.draw(st.one_of(st.just(VOID), DTYPES))
        return ast.TensorStructInfo(shape, kind, ndim, self.draw(st.one_of(st.none(), DEVICES)))

    def function_info(self, depth: int) -> ast.FuncStructInfo:
        if not self.closures or self.draw(st.booleans()):
            return self.opaque_function()
        outside = list(self.scope.shapes)
        binders = self.fresh_shapes(self.draw(st.integers(0, 2)))
        self.scope.shapes += binders
        first = (self.binding_info(binders),) if binders else ()
        params = (*first, *self.some(2, lambda: self.info(depth - 1)))
        ret = self.info(0)
        self.scope.shapes = outside
        return ast.FuncStructInfo(params, ret, self.draw(st.booleans()), None, binders)

    def opaque_function(self) -> ast.FuncStructInfo:
        derive = self.draw(st.sampled_from([None, "empty", "default"]))
        ret = ast.ObjectStructInfo() if derive == "empty" else self.info(0)
        return ast.FuncStructInfo(None, ret, self.draw(st.booleans()), derive)

    def binding_info(self, shapes: tuple[tir.Var, ...]) -> ast.StructInfo:
        """An annotation in which each of these variables stands alone, and others besides."""
        if self.draw(st.booleans()):
            return ast.ShapeStructInfo(shapes)
        shape = ast.ShapeExpr((*shapes, *self.some(2, self.length)))
        return ast.TensorStructInfo(shape, self.draw(DTYPES), len(shape.values))

    # ------------------------------------------------------------------ expressions

    def literal(self) -> ast.Constant:
        kind = self.draw(st.sampled_from(["float32", "int32", "bool"]))
        values: dict[str, st.SearchStrategy[object]] = {
            "float32": FLOATS,
            "int32": st.integers(-5, 5),
            "bool": st.booleans(),
        }
        each = values[kind]
        if self.draw(st.booleans()):
            return ast.Constant(ast.Literal(self.draw(each), dtype(kind), ()))
        rows, columns = self.draw(st.integers(1, 2)), self.draw(st.integers(1, 2))
        data = tuple(tuple(self.draw(each) for _ in range(columns)) for _ in range(rows))
        return ast.Constant(ast.Literal(data, dtype(kind), (rows, columns)))

    def outside_constant(self) -> ast.Constant:
        return ast.Constant(ast.Literal(None, VOID, None, 'metadata["ir.GenericConst"][3]'))

    def prim(self) -> PrimExpr:
        match self.draw(st.integers(0, 4)):
            case 0:
                kind = dtype(self.draw(st.sampled_from(["int64", "int32", "uint8"])))
                return tir.IntImm(self.draw(st.integers(0, 9)), kind)
            case 1:
                return tir.FloatImm(self.draw(FLOATS), FLOAT32)
            case 2:
                return tir.IntImm(self.draw(st.integers(0, 1)), BOOL)
        return self.dim()

    def leaf(self) -> ast.Expr:
        choices: list[Callable[[], ast.Expr]] = [
            self.literal,
            self.outside_constant,
            lambda: ast.PrimValue(self.prim()),
            lambda: ast.ShapeExpr(self.some(3, self.dim)),
            lambda: ast.StringImm(self.draw(TEXTS)),
            lambda: ast.DataTypeImm(self.draw(DTYPES)),
            lambda: ast.ExternFunc("f.g", None if self.draw(st.booleans()) else self.info(0)),
            lambda: self.pick(self.scope.globals),
        ]
        if self.scope.vars:
            choices += [lambda: self.pick(self.scope.vars)] * 6
        return self.pick(choices)()

    def expr(self, depth: int = 2) -> ast.Expr:
        match self.draw(st.integers(0, 7 if depth else 3)):
            case 4:
                return ast.Tuple(self.some(3, lambda: self.expr(depth - 1)))
            case 5:
                inner = self.pick((ast.Tuple((self.leaf(),)), self.call(0), *self.scope.vars[:1]))
                return ast.TupleGetItem(inner, self.draw(st.integers(0, 3)))
            case 6 | 7:
                return self.call(depth)
        return self.leaf()

    def attrs(self, depth: int = 1) -> dict[str, object]:
        keys = self.draw(st.lists(KEYS, max_size=2, unique=True))
        return {key: self.attr(depth) for key in keys}

    def attr(self, depth: int) -> object:
        plain: list[st.SearchStrategy[object]] = [
            INTS,
            FLOATS,
            TEXTS,
            st.booleans(),
            st.none(),
            DTYPES,
        ]
        match self.draw(st.integers(0, 6 if depth else 3)):
            case 4:
                return self.some(3, lambda: self.attr(depth - 1))
            case 5:
                return {self.draw(TEXTS): self.attr(depth - 1) for _ in range(2)}
            case 6:
                return ast.ShapeExpr(self.some(2, self.dim))
        return self.draw(self.pick(plain))

    def call(self, depth: int) -> ast.Call:
        arguments = self.some(3, lambda: self.expr(depth - 1) if depth else self.leaf())
        infos = self.some(2, lambda: self.info(1))
        match self.draw(st.integers(0, 7)):
            case 0:
                return self.call_tir(arguments)
            case 1:
                return ast.Call(ast.ExternFunc("f.g"), arguments, self.attrs(0), infos)
            case 2:
                name = self.pick(("call_pure_packed", "call_inplace_packed"))
                packed = ast.ExternFunc("a\nb")
                return ast.Call(ast.op(f"relax.{name}"), (packed, *arguments), self.attrs(0), infos)
            case 3:
                return ast.Call(self.pick(self.scope.globals), arguments, sinfo_args=infos)
            case 4:
                name = self.pick(("call_builtin_with_ctx", "invoke_closure"))
                return ast.Call(
                    ast.op(f"relax.{name}"),
                    (ast.ExternFunc("f"), ast.Tuple(arguments)),
                    sinfo_args=infos,
                )
            case 5 if self.scope.vars:
                return ast.Call(self.pick(self.scope.vars), arguments, sinfo_args=infos)
        name = self.pick(("add", "nn.relu", "null_value", "print", "image.resize2d"))
        return ast.Call(ast.op(f"relax.{name}"), arguments, self.attrs(), infos)

    def call_tir(self, arguments: tuple[ast.Expr, ...]) -> ast.Call:
        name = self.pick(("call_tir", "call_tir_inplace", "call_tir_with_grad", "call_dps_packed"))
        callee: ast.Expr = self.pick(self.scope.globals)
        if name == "call_dps_packed":
            callee = ast.ExternFunc("f")
        outs = tuple(self.tensor() for _ in range(self.draw(st.integers(1, 3))))
        out = outs[0] if len(outs) == 1 else ast.TupleStructInfo(outs)
        extra = (ast.ShapeExpr((self.dim(),)),) if self.draw(st.booleans()) else ()
        return ast.Call(
            ast.op(f"relax.{name}"), (callee, ast.Tuple(arguments), *extra), self.attrs(0), (out,)
        )

    # ------------------------------------------------------------------ bindings

    def var(self, made: type[ast.Var], info: ast.StructInfo | None) -> ast.Var:
        # The name of a scalar is, in a dimension, the scalar: no tensor, nor another dimension.
        name = "p" if isinstance(info, ast.PrimStructInfo) else self.draw(NAMES)
        return made(name, info)

    def annotation(self) -> ast.StructInfo | None:
        return self.info() if self.draw(st.booleans()) else None

    def sequence(self, inside: int) -> ast.SeqExpr:
        blocks: list[ast.BindingBlock] = []
        for _ in range(self.draw(st.integers(0, 3))):
            if self.draw(st.booleans()):
                blocks.append(self.dataflow())
            elif not blocks or isinstance(blocks[-1], ast.DataflowBlock):
                count = self.draw(st.integers(1, 3))
                blocks.append(ast.BindingBlock(tuple(self.binding(inside) for _ in range(count))))
        return ast.SeqExpr(tuple(blocks), self.expr())

    def dataflow(self) -> ast.DataflowBlock:
        found: list[ast.Binding] = []
        local: list[ast.Var] = []
        for _ in range(self.draw(st.integers(0, 3))):
            made = self.pick((ast.DataflowVar, ast.Var))
            found.append(self.simple(made))
            if made is ast.DataflowVar:
                local.append(self.scope.vars[-1])
        self.scope.vars = [v for v in self.scope.vars if v not in local]
        return ast.DataflowBlock(tuple(found))

    def simple(self, made: type[ast.Var]) -> ast.Binding:
        binding: ast.Binding
        if self.draw(st.integers(0, 3)) == 0:
            value = self.expr()
            shapes = self.fresh_shapes(self.draw(st.integers(0, 2)))
            self.scope.shapes += shapes
            info = self.binding_info(shapes)
            var = self.var(made, self.annotation())
            binding = ast.MatchCast(var, value, info, shapes)
        else:
            value = self.expr()
            var = self.var(made, self.matching(value))
            binding = ast.VarBinding(var, value)
        self.scope.vars.append(var)
        return binding

    def matching(self, value: ast.Expr) -> ast.StructInfo | None:
        """An annotation; not one that gives the type which the text of a call leaves out."""
        if isinstance(value, ast.Call):
            return None
        return self.annotation()

    def binding(self, inside: int) -> ast.Binding:
        choice = self.draw(st.integers(0, 6))
        if choice == 0 and inside:
            return self.branches(inside - 1)
        if choice == 1 and inside:
            return self.closure(inside - 1)
        if choice == 2:
            return ast.VarBinding(ast.Var("_"), self.call(1))
        return self.simple(ast.Var)

    def scoped(self, make: Callable[[], U]) -> U:
        variables, shapes = list(self.scope.vars), list(self.scope.shapes)
        made = make()
        self.scope.vars, self.scope.shapes = variables, shapes
        return made

    def branches(self, inside: int) -> ast.VarBinding:
        cond = self.leaf()
        then = self.scoped(lambda: self.sequence(inside))
        otherwise = self.scoped(lambda: self.sequence(inside))
        var = ast.Var(self.draw(NAMES))
        self.scope.vars.append(var)
        return ast.VarBinding(var, ast.If(cond, then, otherwise))

    def closure(self, inside: int) -> ast.VarBinding:
        var = ast.Var(self.draw(NAMES))
        self.scope.vars.append(var)
        return ast.VarBinding(var, self.scoped(lambda: self.function({}, inside)))

    def function(self, attrs: dict[str, object], inside: int) -> ast.Function:
        shapes = self.fresh_shapes(self.draw(st.integers(0, 2)))
        self.scope.shapes += shapes
        first = (ast.Var(self.draw(NAMES), self.binding_info(shapes)),) if shapes else ()
        params = (*first, *self.some(2, lambda: self.var(ast.Var, self.annotation())))
        self.scope.vars += params
        ret = self.annotation()
        written = self.attrs(1)
        return ast.Function(
            params,
            self.sequence(inside),
            ret,
            self.draw(st.sampled_from([None, False])),
            {**attrs, **written},
            shapes,
            comments=self.draw(COMMENTS),
        )


COMMENTS = st.sampled_from([(), ("# What it does.",), ("# First.", '# Second: \\ "é".')])


@st.composite
def functions(draw: st.DrawFn) -> ast.Function:
    """A Relax function on its own."""
    globals_ = [ast.GlobalVar("other")]
    return Relax(draw, Scope(globals_)).function({}, 2)


@st.composite
def struct_infos(draw: st.DrawFn) -> ast.StructInfo:
    """Struct info over two shape variables, free in it; no closures, whose text would bind them."""
    scope = Scope([ast.GlobalVar("other")])
    scope.shapes = [tir.Var("n"), tir.Var("m")]
    relax = Relax(draw, scope)
    relax.closures = False
    return relax.info()


@st.composite
def dims(draw: st.DrawFn) -> PrimExpr:
    """Shape arithmetic over two variables."""
    scope = Scope([ast.GlobalVar("other")])
    scope.shapes = [tir.Var("n"), tir.Var("m")]
    return Relax(draw, scope).dim(4)


@st.composite
def modules(draw: st.DrawFn) -> ast.IRModule:
    """A module of Relax functions and PrimFuncs."""
    names = draw(st.lists(st.sampled_from(["main", "f", "g", "x"]), min_size=1, unique=True))
    globals_ = [ast.GlobalVar(name) for name in names]
    made: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
    for variable in globals_:
        public: dict[str, object] = {"global_symbol": variable.name_hint}
        attrs: dict[str, object] = draw(st.sampled_from([{"private": True}, public]))
        if draw(st.booleans()):
            made[variable] = Relax(draw, Scope(globals_)).function(attrs, 2)
        else:
            made[variable] = draw(prim_funcs(attrs))
    outer = Relax(draw, Scope(globals_))
    devices = [
        ("I.vdevice", d.target, d.index, "global") for d in draw(st.lists(DEVICES, max_size=2))
    ]
    infos: dict[str, tuple[object, ...]] = {"vdevice": tuple(devices)} if devices else {}
    attrs = outer.attrs(0)
    bare = not infos and not attrs and draw(st.booleans())
    return ast.IRModule(made, attrs, infos, "Module", bare, (), draw(COMMENTS) if not bare else ())
