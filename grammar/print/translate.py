"""Programs as a dialect can write them.

Three constructs of older versions have no spelling of their own since 0.26 or 0.27: shape variables
that ``R.call_tir`` passes behind its results (``tir_vars=``), scalars that say their value
(``R.Prim(value=n)``), and ``dtype="void"``, which left the data type open. Where another construct
means the same, it replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.dialects import Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Span, changed, replace, walk
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import numbers, whole

CALLS_TIR = (
    *("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad"),
    *("relax.dist.call_tir", "relax.dist.call_tir_local_view"),
)
"""The operators that call a PrimFunc of the module."""

_DATA_TYPES = ("dtype", "out_dtype")


class InexpressibleError(Exception):
    """A dialect has no text for a part of a program.

    Attributes
    ----------
    words
        What it has no text for.
    span
        Where that stands in the source, if known.
    """

    def __init__(self, words: str, span: Span | None) -> None:
        super().__init__(words)
        self.words = words
        self.span = span


def expressible(module: ast.IRModule, dialect: Dialect) -> ast.IRModule:
    """The module with what the dialect cannot write replaced by what means the same.

    Raises
    ------
    InexpressibleError
        If nothing means the same.
    """
    if not dialect.prim_value:
        return module
    translation = _Translation(module, dialect)
    made = translation.module(module)
    return _moved(made, translation.layouts, dialect)


class _Translation(Rewriter):
    """Translates the Relax functions of one module.

    Attributes
    ----------
    layouts
        For each PrimFunc that a call passes trailing scalars to: the numbers of the other arguments
        and of these.
    """

    def __init__(self, module: ast.IRModule, dialect: Dialect) -> None:
        super().__init__()
        self.dialect = dialect
        self.prim_funcs = {
            gv for gv, function in module.functions.items() if isinstance(function, tir.PrimFunc)
        }
        self.layouts: dict[ast.GlobalVar, tuple[int, int]] = {}
        self.bound: set[tir.Var] = set()

    def _refuse(self, words: str, span: Span | None) -> InexpressibleError:
        return InexpressibleError(f"dialect {self.dialect.version} {words}", span)

    # ------------------------------------------------------------ calls

    def call(self, call: ast.Expr) -> ast.Expr:
        made = super().call(call)
        assert isinstance(made, ast.Call)
        if not self.dialect.void_dtypes and any(map(_is_void, made.attrs.items())):
            attrs = {key: value for key, value in made.attrs.items() if not _is_void((key, value))}
            made = replace(made, attrs=attrs)
        return self._call_tir(made) if made.op_name in CALLS_TIR else made

    def _call_tir(self, call: ast.Call) -> ast.Call:
        callee, given, *rest = call.args
        numbers = rest[0] if rest else call.attrs.get("tir_vars")
        fields = given.fields if isinstance(given, ast.Tuple) else None
        scalars = () if numbers is None else _scalars(numbers)
        if scalars is None or (scalars and fields is None):
            words = "passes each scalar of tir_vars by itself, and this call does not name them"
            raise self._refuse(words, call.span)
        if not isinstance(callee, ast.GlobalVar) or callee not in self.prim_funcs:
            if scalars:
                words = "has no tir_vars, and the PrimFunc of this call is not in the module"
                raise self._refuse(words, call.span)
            return call
        if fields is None:
            return call
        layout = (len(fields), len(scalars))
        if self.layouts.setdefault(callee, layout) != layout:
            words = f"has no tir_vars, and calls of {callee.name_hint!r} pass them differently"
            raise self._refuse(words, call.span)
        if numbers is None:
            return call
        attrs = {key: value for key, value in call.attrs.items() if key != "tir_vars"}
        return replace(call, args=(callee, ast.Tuple((*fields, *scalars))), attrs=attrs)

    # ------------------------------------------------------------ scalars

    def function(self, function: ast.Function) -> ast.Function:
        for param in function.params:
            info = param.struct_info_annotation
            value = info.value if isinstance(info, ast.PrimStructInfo) else None
            known = value in self.bound
            self.bound.update(v for v in function.shape_vars if _mentions(info, v))
            if isinstance(info, ast.PrimStructInfo) and type(value) is tir.Var and not known:
                self._scalar(param, info, value)
        self.bound.update(function.shape_vars)
        return super().function(function)

    def _scalar(self, var: ast.Var, info: ast.PrimStructInfo, value: tir.Var) -> ast.Var:
        """A scalar that gives a shape variable its value is this variable."""
        if var.shape_var is value:
            return var
        plain = replace(info, value=value)
        self.renamed[var] = replace(var, shape_var=value, struct_info_annotation=plain)
        return self.renamed[var]

    def define(self, var: ast.Var) -> ast.Var:
        info = var.struct_info_annotation
        if isinstance(info, ast.PrimStructInfo) and info.value is var.shape_var:
            return self.renamed.get(var, var)  # what the dialect prints as its type alone
        return self.renamed.get(var) or super().define(var)

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        var, info = binding.var, binding.var.struct_info_annotation
        if isinstance(info, ast.PrimStructInfo) and _says(binding.value, info.value):
            plain = replace(info, value=None)
            self.renamed[var] = replace(var, struct_info_annotation=plain)
        return super().var_binding(binding)

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        info, value = binding.struct_info, getattr(binding.struct_info, "value", None)
        if isinstance(info, ast.PrimStructInfo) and value in binding.shape_vars:
            var = binding.var
            if var is None or var.name_hint == "_":
                var = ast.Var(value.name, span=binding.span)
            new = self.renamed[var] = replace(var, shape_var=value)
            made = replace(binding, var=new, struct_info=replace(info, value=None), shape_vars=())
            return (changed(made, value=self.expr(binding.value)),)
        return super().match_cast(binding)

    def struct_info(self, info: ast.StructInfo) -> ast.StructInfo:
        if isinstance(info, ast.PrimStructInfo) and info.value is not None:
            words = f"has no annotation for a scalar with its value, R.Prim(value={info.value})"
            raise self._refuse(words, info.span)
        return super().struct_info(info)


def _is_void(attribute: tuple[str, object]) -> bool:
    """Whether an attribute leaves a data type open."""
    key, value = attribute
    return key in _DATA_TYPES and (
        value == "void" or (isinstance(value, DataType) and value.is_void)
    )


def _scalars(numbers: object) -> tuple[ast.Expr, ...] | None:
    """The scalars that ``tir_vars`` passes; None if the text does not list them."""
    match numbers:
        case ast.Var(struct_info_annotation=ast.ShapeStructInfo(values=tuple() as values)):
            return tuple(map(ast.PrimValue, values))
        case ast.ShapeExpr(values=values):
            return tuple(map(ast.PrimValue, values))
        case ast.Tuple(fields=fields):
            return fields
    return None


def _mentions(info: ast.StructInfo | None, var: tir.Var) -> bool:
    parts = () if info is None else whole(info)
    return any(var in tir.free_vars(number) for part in parts for number in numbers(part))


def _says(value: ast.Expr, number: tir.PrimExpr | None) -> bool:
    """Whether a value is a scalar with this number."""
    return (
        number is not None
        and isinstance(value, ast.PrimValue)
        and structural_equal(value.value, number)
    )


def _moved(
    module: ast.IRModule, layouts: Mapping[ast.GlobalVar, tuple[int, int]], dialect: Dialect
) -> ast.IRModule:
    """The module with trailing scalars of PrimFuncs moved in front of the results."""
    moved = {gv: layout for gv, layout in layouts.items() if layout[1]}
    if not moved:
        return module
    for function in module.functions.values():
        _only_called(function, moved, dialect)
    functions = dict(module.functions)
    for gv, (given, scalars) in moved.items():
        function = functions[gv]
        assert isinstance(function, tir.PrimFunc)
        params = function.params
        front, results = params[:given], params[given : len(params) - scalars]
        order = (*front, *params[len(params) - scalars :], *results)
        functions[gv] = replace(function, params=order)
    return replace(module, functions=functions)


def _only_called(
    function: ast.Function | tir.PrimFunc,
    moved: Mapping[ast.GlobalVar, tuple[int, int]],
    dialect: Dialect,
) -> None:
    """Refuse a mention of a PrimFunc that is no call by ``R.call_tir``: its arguments would stay."""
    if not isinstance(function, ast.Function):
        return
    nodes = list(walk(function))
    calls = (node for node in nodes if isinstance(node, ast.Call) and node.op_name in CALLS_TIR)
    called = [call.args[0] for call in calls]
    for gv in moved:
        if sum(node is gv for node in nodes) != sum(each is gv for each in called):
            words = f"dialect {dialect.version} has no tir_vars, and {gv.name_hint!r} is also used"
            raise InexpressibleError(f"{words} without R.call_tir", function.name_span)
