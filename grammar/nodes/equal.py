"""Structural equality up to the names of bound variables.

Two programs are equal if one becomes the other by renaming bound variables: Relax variables, shape
variables, variables and buffers of PrimFuncs. Functions of a module are matched by name. Spans,
comments, the name of the class and differences of spelling are ignored:

- a function without declared purity is pure;
- ``global_symbol`` may be omitted if it is the function's own name, and ``s_tir`` may always be
  omitted, because the spellings before 0.25 do not have it; a shape variable may be declared as a
  size (``is_size_var``), because 0.27 does not have it;
- a buffer may be a parameter or be matched in the body; an axis may repeat the range of its loop or
  leave it to ``T.axis.remap``;
- a cast that binds nothing binds ``_``;
- a match of shapes only may be written as a cast to the same annotation, because only the spellings
  of 2022 have both;
- ``ndim`` beside a shape literal is redundant.

The comparison uses an explicit stack instead of recursion, so the size of programs is not limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlx.grammar.dialects import CONSTANT_KEYS, split_key
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.comparison import SPECIAL, Path, TreeComparison, TreeDifference, require
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.grammar.read.prim_scalars import SCALARS, memory_scope


def _fields(a: object, b: object, path: Path, *names: str) -> Iterator[tuple[Any, Any, Path]]:
    """These fields of two nodes, to be compared."""
    return ((getattr(a, name), getattr(b, name), (path, name)) for name in names)


def _prim_var(run: TreeComparison, a: tir.Var, b: tir.Var, path: Path) -> None:
    require(a.dtype == b.dtype, path, a.dtype, b.dtype)
    run.same(a, b, path)


def counted(attrs: Mapping[str, object], name: str) -> dict[str, object]:
    """The attributes of a function that are compared: those that every spelling writes."""
    implied = {"global_symbol": name}
    return {k: v for k, v in attrs.items() if k != "s_tir" and implied.get(k) != v}


def prim_func(
    run: TreeComparison, a: tir.PrimFunc, b: tir.PrimFunc, path: Path, name: str = ""
) -> None:
    require(len(a.params) == len(b.params), path, f"{len(a.params)}", f"{len(b.params)} parameters")
    run.enter(_implicit(a), _implicit(b), (path, "buffer_map"))
    pairs = list(zip(a.params, b.params, strict=True))
    for i, (x, y) in enumerate(pairs):
        require(x.dtype == y.dtype, ((path, "params"), i), x.dtype, y.dtype)
        require(x.pointee == y.pointee, ((path, "params"), i), x.pointee, y.pointee)
        run.bind(x, y)
    buffers = [
        (a.buffer_map.get(x), b.buffer_map.get(y), ((path, "params"), i))
        for i, (x, y) in enumerate(pairs)
    ]
    run.then(
        lambda: _declare_all(run, buffers),
        *_fields(a, b, path, "ret_type"),
        (counted(a.attrs, name), counted(b.attrs, name), (path, "attrs")),
        *_fields(a, b, path, "body"),
    )


def _implicit(function: tir.PrimFunc) -> tuple[tir.Var, ...]:
    """The shape variables that the buffers of the parameters bind."""
    params = set(function.params)
    found = (v for buffer in function.buffer_map.values() for v in shape_vars_of(buffer))
    return tuple(dict.fromkeys(v for v in found if v not in params))


def _declare_all(run: TreeComparison, buffers: list[tuple[Any, Any, Path]]) -> None:
    for a, b, path in buffers:
        if a is None or b is None:
            require(a is b, path, a, b)
        else:
            run.bind(a, b)
    for a, b, path in reversed(buffers):
        if a is not None:
            run.then(*_fields(a, b, path, *_OF_BUFFERS))


_OF_BUFFERS = ("shape", "dtype", "attrs")


def _for(run: TreeComparison, a: tir.For, b: tir.For, path: Path) -> None:
    run.loops[a.loop_var], run.loops[b.loop_var] = a, b
    run.then(
        *_fields(a, b, path, "min", "extent", "step", "kind", "attrs"),
        lambda: run.bind(a.loop_var, b.loop_var),
        *_fields(a, b, path, "body"),
    )


def _iter_var(run: TreeComparison, a: tir.IterVar, b: tir.IterVar, path: Path) -> None:
    require(a.var.dtype == b.var.dtype, path, a.var.dtype, b.var.dtype)
    doms: tuple[object, object] = (a.dom, b.dom)
    if (a.dom is None) != (b.dom is None):
        doms = (_dom(run, a), _dom(run, b))
    run.then(
        *_fields(a, b, path, "kind"),
        (*doms, (path, "dom")),
        *_fields(a, b, path, "binding"),
        lambda: run.bind(a.var, b.var),
    )


def _dom(run: TreeComparison, axis: tir.IterVar) -> object:
    """The range of an axis, its loop's where it does not say; from zero, only where it ends."""
    if axis.dom is None:
        loop = run.loops.get(axis.binding)
        return None if loop is None or not tir.is_zero(loop.min) else loop.extent
    return axis.dom[1] if tir.is_zero(axis.dom[0]) else axis.dom


def _block(run: TreeComparison, a: tir.Block, b: tir.Block, path: Path) -> None:
    require(len(a.alloc_buffers) == len(b.alloc_buffers), (path, "alloc_buffers"), a.name, b.name)
    buffers = [
        (x, y, ((path, "alloc_buffers"), i))
        for i, (x, y) in enumerate(zip(a.alloc_buffers, b.alloc_buffers, strict=True))
    ]
    run.then(
        *_fields(a, b, path, "name", "iter_vars"),
        lambda: _declare_all(run, buffers),
        *_fields(a, b, path, "predicate", "reads", "writes", "attrs", "init", "body"),
    )


def _let(run: TreeComparison, a: tir.LetStmt, b: tir.LetStmt, path: Path) -> None:
    require(a.var.dtype == b.var.dtype, path, a.var.dtype, b.var.dtype)
    require(a.var.pointee == b.var.pointee, path, a.var.pointee, b.var.pointee)
    run.then(*_fields(a, b, path, "value"), lambda: run.bind(a.var, b.var))


def _alloc(run: TreeComparison, a: tir.AllocBuffer, b: tir.AllocBuffer, path: Path) -> None:
    (word, left), (other, right) = _memory(a), _memory(b)
    require(word == other, (path, "op"), a.op, b.op)
    run.then(
        *_fields(left, right, path, *_OF_BUFFERS),
        lambda: run.bind(a.buffer, b.buffer),
    )


def _memory(stmt: tir.AllocBuffer) -> tuple[str, tir.Buffer]:
    """The allocation of a buffer, in one of the spellings that mean the same."""
    scope = memory_scope(stmt)
    if scope is not None:
        return "alloc_buffer", replace(stmt.buffer, attrs={**stmt.buffer.attrs, "scope": scope})
    word = stmt.op.removeprefix("sblock_")  # one word before 0.24
    return "alloc_buffer" if word in SCALARS else word, stmt.buffer


def _with(run: TreeComparison, a: tir.With, b: tir.With, path: Path) -> None:
    left, right = a.var, b.var
    work: list[Any] = [*_fields(a, b, path, "call")]
    if left is None or right is None:
        require(left is right, path, left, right)
    else:
        require(left.dtype == right.dtype, path, left.dtype, right.dtype)
        work.append(lambda: run.bind(left, right))
    run.then(*work, *_fields(a, b, path, "body"))


def _let_expr(run: TreeComparison, a: tir.Let, b: tir.Let, path: Path) -> None:
    require(a.var.dtype == b.var.dtype, path, a.var.dtype, b.var.dtype)
    run.then(
        *_fields(a, b, path, "value"),
        lambda: run.bind(a.var, b.var),
        *_fields(a, b, path, "body"),
    )


def _match(run: TreeComparison, a: tir.MatchBuffer, b: tir.MatchBuffer, path: Path) -> None:
    run.then(
        *_fields(a, b, path, "source"),
        *_fields(a.buffer, b.buffer, path, *_OF_BUFFERS),
        lambda: run.bind(a.buffer, b.buffer),
    )


def _global_var(run: TreeComparison, a: ast.GlobalVar, b: ast.GlobalVar, path: Path) -> None:
    require(a.name_hint == b.name_hint, path, a, b)


def _bind_var(run: TreeComparison, a: ast.Var, b: ast.Var, path: Path) -> None:
    """Compare what a binding says of its variable, then pair the variables."""
    require(type(a) is type(b), path, type(a).__name__, type(b).__name__)
    _pair(run, a, b)
    run.then(*_fields(a, b, path, "struct_info_annotation"))


def _pair(run: TreeComparison, a: ast.Var, b: ast.Var) -> None:
    """Pair two variables, and the shape variables that they are."""
    run.bind(a, b)
    if a.shape_var is not None and b.shape_var is not None:
        run.bind(a.shape_var, b.shape_var)


def _module(run: TreeComparison, a: ast.IRModule, b: ast.IRModule, path: Path) -> None:
    left = {gv.name_hint: _Global(gv.name_hint, f) for gv, f in a.functions.items()}
    right = {gv.name_hint: _Global(gv.name_hint, f) for gv, f in b.functions.items()}
    run.then(
        (left, right, (path, "functions")),
        *_fields(a, b, path, "attrs", "global_infos", "externs"),
    )


class _Global:
    """A function of a module, with the name that its ``global_symbol`` repeats."""

    def __init__(self, name: str, function: ast.Function | tir.PrimFunc) -> None:
        self.name = name
        self.function = function


def _global(run: TreeComparison, a: _Global, b: _Global, path: Path) -> None:
    f, g = a.function, b.function
    match f, g:
        case ast.Function(), ast.Function():
            _function(run, f, g, path, a.name)
        case tir.PrimFunc(), tir.PrimFunc():
            prim_func(run, f, g, path, a.name)
        case _:
            require(False, path, f, g)


def _function(
    run: TreeComparison, a: ast.Function, b: ast.Function, path: Path, name: str = ""
) -> None:
    require(len(a.params) == len(b.params), path, f"{len(a.params)}", f"{len(b.params)} parameters")
    run.enter(a.shape_vars, b.shape_vars, (path, "shape_vars"))
    for x, y in zip(a.params, b.params, strict=True):
        _pair(run, x, y)
    require((a.is_pure is False) == (b.is_pure is False), (path, "is_pure"), a.is_pure, b.is_pure)
    require(
        a.returns_none == b.returns_none, (path, "returns_none"), a.returns_none, b.returns_none
    )
    infos = [
        (x.struct_info_annotation, y.struct_info_annotation, ((path, "params"), i))
        for i, (x, y) in enumerate(zip(a.params, b.params, strict=True))
    ]
    run.then(
        *infos,
        *_fields(a, b, path, "ret_struct_info"),
        (counted(a.attrs, name), counted(b.attrs, name), (path, "attrs")),
        *_fields(a, b, path, "body"),
    )


def _func_info(
    run: TreeComparison, a: ast.FuncStructInfo, b: ast.FuncStructInfo, path: Path
) -> None:
    run.enter(a.binders, b.binders, (path, "binders"))
    run.then(*_fields(a, b, path, "params", "ret", "purity", "derive_func"))


def _tensor(
    run: TreeComparison, a: ast.TensorStructInfo, b: ast.TensorStructInfo, path: Path
) -> None:
    known = isinstance(a.shape, ast.ShapeExpr) and isinstance(b.shape, ast.ShapeExpr)
    run.then(
        *_fields(a, b, path, "shape", "dtype"),
        (-1 if known else a.ndim, -1 if known else b.ndim, (path, "ndim")),
        *_fields(a, b, path, "vdevice", "distribution"),
    )


def _shape(run: TreeComparison, a: ast.ShapeStructInfo, b: ast.ShapeStructInfo, path: Path) -> None:
    known = a.values is not None and b.values is not None
    run.then(
        *_fields(a, b, path, "values"),
        (-1 if known else a.ndim, -1 if known else b.ndim, (path, "ndim")),
    )


def _var_binding(run: TreeComparison, a: ast.VarBinding, b: ast.VarBinding, path: Path) -> None:
    def bind() -> None:
        _bind_var(run, a.var, b.var, (path, "var"))

    if isinstance(a.value, ast.Function):  # it may call itself
        run.then(bind, *_fields(a, b, path, "value"))
    else:
        run.then(*_fields(a, b, path, "value"), bind)


_NOTHING = ast.Var("_")


def _match_cast(run: TreeComparison, a: ast.MatchCast, b: ast.MatchCast, path: Path) -> None:
    x, y = a.var or _NOTHING, b.var or _NOTHING
    unused = {v for v in (x, y) if v.name_hint == "_" and v.struct_info_annotation is None}

    def cast() -> None:
        run.enter(a.shape_vars, b.shape_vars, (path, "shape_vars"))
        # What else a match of shapes casts to is not said: it follows from the value's type.
        one, other = a.compared_dims, b.compared_dims
        if one is not None and other is not None:
            run.then((one, other, ((path, "struct_info"), "values")))
        else:
            run.then(*_fields(a, b, path, "struct_info"))

    def bind() -> None:
        if _NOTHING in (x, y):
            require(len(unused) == len({x, y}), (path, "var"), x, y)
        else:
            _bind_var(run, x, y, (path, "var"))

    run.then(*_fields(a, b, path, "value"), cast, bind)


def _key(key: str) -> tuple[str, str]:
    """A reference to a constant outside the text, whatever a version calls constants."""
    word, number = split_key(key)
    return ("" if word in CONSTANT_KEYS else word, number)


def _literal(run: TreeComparison, a: ast.Literal, b: ast.Literal, path: Path) -> None:
    """References are equal if their data is; by their numbers where a text omits it."""

    def data() -> None:
        if a.content is None or b.content is None:
            require(_key(a.key or "") == _key(b.key or ""), (path, "key"), a.key, b.key)
        elif a.content != b.content:
            raise TreeDifference((path, "content"), "the data of the constants is different")

    run.then(
        *_fields(a, b, path, "dtype", "shape"),
        (repr(a.value), repr(b.value), (path, "value")),
        data,
    )


SPECIAL.update(
    {
        ast.IRModule: _module,
        _Global: _global,
        ast.Function: _function,
        ast.FuncStructInfo: _func_info,
        ast.TensorStructInfo: _tensor,
        ast.ShapeStructInfo: _shape,
        ast.VarBinding: _var_binding,
        ast.MatchCast: _match_cast,
        ast.Var: TreeComparison.same,
        ast.DataflowVar: TreeComparison.same,
        ast.GlobalVar: _global_var,
        ast.Literal: _literal,
        tir.Var: _prim_var,
        tir.Buffer: TreeComparison.same,
        tir.PrimFunc: prim_func,
        tir.For: _for,
        tir.IterVar: _iter_var,
        tir.Block: _block,
        tir.LetStmt: _let,
        tir.AllocBuffer: _alloc,
        tir.SeqStmt: TreeComparison.statements,
        tir.With: _with,
        tir.Let: _let_expr,
        tir.MatchBuffer: _match,
    }
)


def structural_equal(a: Node, b: Node, map_free_vars: bool = False) -> bool:
    """Whether two nodes are equal up to the names of bound variables.

    Parameters
    ----------
    a, b
        Modules, functions, expressions, struct info, prim expressions or statements.
    map_free_vars
        Whether free variables may be paired one to one; otherwise a free variable is equal only to
        itself.
    """
    return first_difference(a, b, map_free_vars) is None


def first_difference(a: Node, b: Node, map_free_vars: bool = False) -> str | None:
    """The first difference of two nodes, or None if they are structurally equal.

    Returns
    -------
    str or None
        For instance ``functions["main"].body.blocks[0].bindings[2].value.args[1]: Var x is not Var
        y``.
    """
    found = difference(a, b, map_free_vars)
    return None if found is None else str(found)


def difference(a: Node, b: Node, map_free_vars: bool = False) -> TreeDifference | None:
    """Like :func:`first_difference`, with the path to the difference."""
    return None if a is b else TreeComparison(map_free_vars).run(a, b)
