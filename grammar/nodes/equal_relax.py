"""Comparison of Relax nodes that bind variables or have several spellings."""

from __future__ import annotations

from rlx.grammar.dialects import CONSTANT_KEYS, split_key
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.comparison import Path, Special, TreeComparison, require
from rlx.grammar.nodes.equal_tir import counted, prim_func


def _relax_var(run: TreeComparison, a: ast.Var, b: ast.Var, path: Path) -> None:
    run.same(a, b, path)


def _global_var(run: TreeComparison, a: ast.GlobalVar, b: ast.GlobalVar, path: Path) -> None:
    require(a.name_hint == b.name_hint, path, a, b)


def _bind_var(run: TreeComparison, a: ast.Var, b: ast.Var, path: Path) -> None:
    """Compare what a binding says of its variable, then pair the variables."""
    require(type(a) is type(b), path, type(a).__name__, type(b).__name__)
    _pair(run, a, b)
    run.then((a.struct_info_annotation, b.struct_info_annotation, (path, "struct_info_annotation")))


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
        (a.attrs, b.attrs, (path, "attrs")),
        (a.global_infos, b.global_infos, (path, "global_infos")),
        (a.externs, b.externs, (path, "externs")),
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
        (a.ret_struct_info, b.ret_struct_info, (path, "ret_struct_info")),
        (counted(a.attrs, name), counted(b.attrs, name), (path, "attrs")),
        (a.body, b.body, (path, "body")),
    )


def _func_info(
    run: TreeComparison, a: ast.FuncStructInfo, b: ast.FuncStructInfo, path: Path
) -> None:
    run.enter(a.binders, b.binders, (path, "binders"))
    run.then(
        (a.params, b.params, (path, "params")),
        (a.ret, b.ret, (path, "ret")),
        (a.purity, b.purity, (path, "purity")),
        (a.derive_func, b.derive_func, (path, "derive_func")),
    )


def _tensor(
    run: TreeComparison, a: ast.TensorStructInfo, b: ast.TensorStructInfo, path: Path
) -> None:
    known = isinstance(a.shape, ast.ShapeExpr) and isinstance(b.shape, ast.ShapeExpr)
    run.then(
        (a.shape, b.shape, (path, "shape")),
        (a.dtype, b.dtype, (path, "dtype")),
        (-1 if known else a.ndim, -1 if known else b.ndim, (path, "ndim")),
        (a.vdevice, b.vdevice, (path, "vdevice")),
        (a.distribution, b.distribution, (path, "distribution")),
    )


def _shape(run: TreeComparison, a: ast.ShapeStructInfo, b: ast.ShapeStructInfo, path: Path) -> None:
    known = a.values is not None and b.values is not None
    run.then(
        (a.values, b.values, (path, "values")),
        (-1 if known else a.ndim, -1 if known else b.ndim, (path, "ndim")),
    )


def _var_binding(run: TreeComparison, a: ast.VarBinding, b: ast.VarBinding, path: Path) -> None:
    value = (a.value, b.value, (path, "value"))
    if isinstance(a.value, ast.Function):  # it may call itself
        run.then(lambda: _bind_var(run, a.var, b.var, (path, "var")), value)
    else:
        run.then(value, lambda: _bind_var(run, a.var, b.var, (path, "var")))


_NOTHING = ast.Var("_")


def _match_cast(run: TreeComparison, a: ast.MatchCast, b: ast.MatchCast, path: Path) -> None:
    x, y = a.var or _NOTHING, b.var or _NOTHING
    unused = {v for v in (x, y) if v.name_hint == "_" and v.struct_info_annotation is None}

    def cast() -> None:
        run.enter(a.shape_vars, b.shape_vars, (path, "shape_vars"))
        patterns = _pattern(a), _pattern(b)
        if patterns[0] is not None and patterns[1] is not None:
            run.then((*patterns, (path, "struct_info")))
        else:
            run.then((a.struct_info, b.struct_info, (path, "struct_info")))

    def bind() -> None:
        if _NOTHING in (x, y):
            require(len(unused) == len({x, y}), (path, "var"), x, y)
        else:
            _bind_var(run, x, y, (path, "var"))

    run.then((a.value, b.value, (path, "value")), cast, bind)


def _pattern(cast: ast.MatchCast) -> ast.ShapeExpr | None:
    """The dimensions of a match of shapes. The rest of what it casts to is not said: it follows
    from the value, once the value's type is known.
    """
    match cast.struct_info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr() as shape) if cast.by_shape:
            return shape
        case ast.ShapeStructInfo(values=tuple() as values) if cast.by_shape:
            return ast.ShapeExpr(values)
    return None


def _key(key: str) -> tuple[str, str]:
    """A reference to a constant outside the text, whatever a version calls constants."""
    word, number = split_key(key)
    return ("" if word in CONSTANT_KEYS else word, number)


def _literal(run: TreeComparison, a: ast.Literal, b: ast.Literal, path: Path) -> None:
    keys = [_key(x.key or "") for x in (a, b)]
    run.then(
        (a.dtype, b.dtype, (path, "dtype")),
        (a.shape, b.shape, (path, "shape")),
        (repr(a.value), repr(b.value), (path, "value")),
        (keys[0], keys[1], (path, "key")),
    )


SPECIAL: dict[type, Special] = {
    ast.IRModule: _module,
    _Global: _global,
    ast.Function: _function,
    ast.FuncStructInfo: _func_info,
    ast.TensorStructInfo: _tensor,
    ast.ShapeStructInfo: _shape,
    ast.VarBinding: _var_binding,
    ast.MatchCast: _match_cast,
    ast.Var: _relax_var,
    ast.DataflowVar: _relax_var,
    ast.GlobalVar: _global_var,
    ast.Literal: _literal,
}
