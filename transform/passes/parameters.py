"""Values for parameters and for shape variables of functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

from rlx.checker.derive.naming import may_be_negative
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.overloaded import prim
from rlx.grammar.nodes.python_places import MisuseError, Place, described, here, of_kind, spelt
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import binding_positions
from rlx.grammar.nodes.tir import PrimExpr, type_of
from rlx.grammar.nodes.visit import bindings, called_globals, evaluated
from rlx.solver.order import (
    bind,
    free_shape_vars,
    substitute,
    substitute_prim,
    subtype,
)
from rlx.solver.prover import Prover
from rlx.te.linear import simplified
from rlx.te.scalar import Scalar
from rlx.transform.analysis import defined_symbolic_vars, free_symbolic_vars
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.builder.values import const
from rlx.transform.lowering.passes import ModulePass

K = TypeVar("K")
V = TypeVar("V")
Values = Mapping[str | ast.Var, object]
Sizes = Mapping[str | tir.Var, int | PrimExpr]


class WithValues(Rewriter):
    """A function with expressions in place of variables, and scalars in place of shape variables.
    `values` and `dims`: what stands for each variable and shape variable.
    """

    def __init__(self, values: Mapping[ast.Var, Expr], dims: Mapping[tir.Var, PrimExpr]) -> None:
        super().__init__()
        self.values, self.dims = dict(values), dict(dims)

    def var(self, var: ast.Var) -> Expr:
        found = self.values.get(var)
        return super().var(var) if found is None else found

    def function(self, function: ast.Function) -> ast.Function:
        made = super().function(function)
        left = tuple(v for v in made.shape_vars if v not in self.dims)
        return made if left == made.shape_vars else replace(made, shape_vars=left)

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        (made,) = super().match_cast(binding)
        left = tuple(v for v in binding.shape_vars if v not in self.dims)
        return (made if left == binding.shape_vars else replace(made, shape_vars=left),)

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        found = substitute_prim(expr, self.dims)
        return expr if found is expr else simplified(Scalar(found, type_of(found))).node


def functions_as_values(module: IRModule) -> set[ast.GlobalVar]:
    """The functions that are mentioned elsewhere than as callees."""
    calls = Counter(c.op for c in evaluated(module, ast.Call) if isinstance(c.op, ast.GlobalVar))
    mentions = Counter(evaluated(module, ast.GlobalVar))
    return {gv for gv, times in mentions.items() if times > calls[gv]}


@spelt
def bind_symbolic_vars(function: ast.Function, sizes: Sizes) -> ast.Function:
    """A function with numbers, or scalars, for shape variables that its signature or its casts
    bind.

    Parameters
    ----------
    sizes
        The values by shape variable or by name.

    Raises
    ------
    MisuseError
        If the function has no such shape variable, or two of this name, or a size cannot be one, or
        the function does not bind the variables of a size.
    """
    place = here()
    of_kind(function, ast.Function, "a function")
    dims: dict[tir.Var, PrimExpr] = {}
    own = defined_symbolic_vars(function)
    infos = [param.struct_info_annotation for param in function.params]
    infos += [b.struct_info for b in bindings(function) if isinstance(b, ast.MatchCast)]
    for key, size in _by_name(sizes, place).items():
        named = [v for v in own if v is key or v.name == key]
        if len(named) != 1:
            known = ", ".join(v.name for v in own) or "none"
            word = getattr(key, "name", key)
            what = "several" if named else "no"
            raise MisuseError(f"{what} shape variables {word!r}; there are: {known}", place)
        (var,) = named
        if var in dims:
            raise MisuseError(f"{var.name} has two sizes, by its name and by itself", place)
        dims[var] = found = prim(size, var.dtype, place)
        of = "" if may_be_negative((var,), infos) else " of at least 0"
        negative = isinstance(found, tir.IntImm) and found.value < 0
        if type_of(found).code != "int" or (of and negative):
            raise MisuseError(
                f"{var.name}: expected an integer{of}, found {described(size)}", place
            )
    if not dims:
        return function
    made = WithValues({}, dims).function(function)
    new = {v for dim in dims.values() for v in tir.free_vars(dim)}
    said = [p.struct_info_annotation for p in made.params if p.struct_info_annotation is not None]
    alone = (v for info in said for v in binding_positions(info) if isinstance(v, tir.Var))
    bound = dict.fromkeys((*made.shape_vars, *(v for v in alone if v in new)))
    made = replace(made, shape_vars=tuple(bound))
    loose = set(free_symbolic_vars(made)) - set(free_symbolic_vars(function))
    if loose:
        names = ", ".join(sorted(v.name for v in loose))
        words = "is no dimension of a parameter, nor of a cast"
        raise MisuseError(f"{names} {words} of the function", place)
    return made


def _by_name(given: Mapping[K, V], place: Place) -> Mapping[K, V]:
    if not isinstance(given, Mapping):
        raise MisuseError(f"expected a dictionary of values, found {described(given)}", place)
    return given


@spelt
def bind_params(function: ast.Function, values: Values) -> ast.Function:
    """A function without some of its parameters, for which constants stand.

    Parameters
    ----------
    values
        Arrays, numbers or expressions, by parameter or by its name. The shape variables in the
        parameters' annotations get the dimensions of the values. Arrays and numbers get the element
        types of their parameters.

    Raises
    ------
    MisuseError
        If the function has no such parameter, or two of this name, or a value does not fit it.
    """
    place = here()
    of_kind(function, ast.Function, "a function")
    found: dict[ast.Var, Expr] = {}
    for key, value in _by_name(values, place).items():
        named = [p for p in function.params if p is key or p.name_hint == key]
        if len(named) != 1:
            word = key if isinstance(key, str) else described(key)
            known = ", ".join(p.name_hint for p in function.params) or "none"
            what = "several parameters" if named else "no parameter"
            raise MisuseError(f"{what} {word!r}; there are: {known}", place)
        (param,) = named
        if param in found:
            name = param.name_hint
            raise MisuseError(f"{name} has two values, by its name and by itself", place)
        info = param.struct_info_annotation
        kind = info.dtype if isinstance(info, ast.TensorStructInfo) else None
        if kind is not None and kind.is_void:
            kind = None
        given = value if isinstance(value, Expr) else const(value, kind)
        found[param] = given
    dims = _dimensions(found, place)
    made = WithValues(found, dims).function(function)
    left = tuple(p for p, old in zip(made.params, function.params, strict=True) if old not in found)
    return replace(made, params=left)


def _dimensions(found: Mapping[ast.Var, Expr], place: Place) -> dict[tir.Var, PrimExpr]:
    """The shape variables that values determine."""
    pairs: dict[ast.Var, tuple[StructInfo, StructInfo]] = {}
    builder = BlockBuilder()
    for param, value in found.items():
        wanted = param.struct_info_annotation
        if wanted is not None:
            pairs[param] = wanted, builder.struct_info(value)
    prover, several = Prover(), tuple(pairs.values())
    names = frozenset(v for wanted, _ in several for v in free_shape_vars(wanted))
    images = bind(tuple(w for w, _ in several), tuple(k for _, k in several), names, prover).mapping
    for param, (wanted, known) in pairs.items():
        if not subtype(known, substitute(wanted, images), prover).proved:
            name = param.name_hint
            words = f"the value of {name} is {known}, but the parameter is {wanted}"
            raise MisuseError(words, place)
    return {v: image for v, image in images.items() if isinstance(v, tir.Var)}  # type: ignore[misc]


class BindParams(ModulePass):
    """Constants stand for parameters of a function.

    Parameters
    ----------
    func_name
        The name of the function.
    params
        As for :func:`bind_params`.
    """

    @spelt
    def __init__(self, func_name: str, params: Values) -> None:
        self._function = of_kind(func_name, str, "the name of a function")
        self._values = _by_name(params, here())

    def apply(self, module: IRModule) -> IRModule:
        """The module with the changed function."""
        if self._values and any(gv.name_hint == self._function for gv in called_globals(module)):
            mend = "bind the values in the calls"
            raise self.refuse(self._function, "callers, which pass all arguments", mend)
        return _with(module, self._function, lambda f: bind_params(f, self._values))


class BindSymbolicVars(ModulePass):
    """Numbers stand for shape variables.

    Parameters
    ----------
    binding_map
        As for :func:`bind_symbolic_vars`.
    func_name
        The function; None for all that have such a variable, without those that are used as
        values: who calls such a function is not known, and its type is that of a value.
    """

    @spelt
    def __init__(self, binding_map: Sizes, func_name: str | None = None) -> None:
        self._sizes = _by_name(binding_map, here())
        self._function = func_name and of_kind(func_name, str, "the name of a function")

    def apply(self, module: IRModule) -> IRModule:
        """The module with the changed functions."""
        if self._function is not None:
            return _with(module, self._function, lambda f: bind_symbolic_vars(f, self._sizes))
        _by_name(self._sizes, here())
        functions, known = dict(module.functions), set[object]()
        values = functions_as_values(module)
        for gv, function in functions.items():
            if isinstance(function, ast.Function) and gv not in values:
                bound = defined_symbolic_vars(function)
                own = {*bound, *(v.name for v in bound)}
                sizes = {key: size for key, size in self._sizes.items() if key in own}
                functions[gv] = bind_symbolic_vars(function, sizes)
                known |= own
        for key in self._sizes:
            if key not in known:
                names = ", ".join(sorted(each for each in known if isinstance(each, str)))
                words = f"no function has a shape variable {key}; there are: {names or 'none'}"
                if values:
                    words += "; functions that are used as values keep theirs unless one is named"
                raise MisuseError(words, here())
        return replace(module, functions=functions)


def _with(module: IRModule, name: str, change: Callable[[ast.Function], ast.Function]) -> IRModule:
    functions = dict(module.functions)
    of_kind(name, str, "the name of a function")
    for gv, function in functions.items():
        if gv.name_hint == name and isinstance(function, ast.Function):
            functions[gv] = change(function)
            return replace(module, functions=functions)
    known = ", ".join(gv.name_hint for gv in functions) or "none"
    raise MisuseError(f"the module has no Relax function {name!r}; it has: {known}", here())
