"""Translation of programs to constructs that a dialect can express.

Some constructs of older versions have no spelling of their own since 0.26 or 0.27: shape variables
that ``R.call_tir`` passes behind its results (``tir_vars=``), scalars that say their value
(``R.Prim(value=n)``), ``dtype="void"``, which left the data type open, and type arguments of
operators that derive their type. Before 0.26, only a cast gave a shape variable its number. Where
another construct means the same, it replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.dialects import OUT_OPERATORS, Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT32, INT64, DataType
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, Span, changed, replace, same, walk
from rlx.grammar.nodes.rewrite import Rewriter, rebuild
from rlx.grammar.nodes.struct_infos import all_parts, numbers

CALLS_TIR = (
    *("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad"),
    *("relax.dist.call_tir", "relax.dist.call_tir_local_view"),
)
"""The operators that call a PrimFunc of the module."""

_TYPED = frozenset(
    f"relax.{name}"
    for name in (
        *("call_pure_packed", "call_inplace_packed", "call_builtin_with_ctx"),
        *("invoke_closure", "invoke_pure_closure"),
    )
)
"""The operators whose type arguments are the type of the result."""

_OPEN = {
    **dict.fromkeys(("relax.ones_like", "relax.zeros_like"), 1),
    **dict.fromkeys(("relax.cumprod", "relax.cumsum", "relax.eye_like", "relax.full"), 2),
    **dict.fromkeys(("relax.full_like", "relax.matmul", "relax.memory.view"), 2),
    **{f"relax.nn.conv{n}d": 9 for n in (1, 2, 3)},
    **{f"relax.nn.conv{n}d_transpose": 10 for n in (1, 2, 3)},
    **{f"relax.image.resize{n}d": 10 for n in (2, 3)},
}
"""The operators whose data type may be open, and its place among the arguments."""


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


def expressible(
    module: ast.IRModule, dialect: Dialect, text: str = "", of_2022: bool = False
) -> ast.IRModule:
    """The module with what the dialect cannot write replaced by what means the same.

    Parameters
    ----------
    module, dialect
        The module, and the dialect to write it in.
    text
        The source, if there is one.
    of_2022
        Whether the text is from 2022, when a call with a value did not have to be bound.

    Raises
    ------
    InexpressibleError
        If nothing means the same.
    """
    if not dialect.prototype:
        module = _WrittenShapes(dialect.version).module(module)
    if not dialect.prim_value:
        return _ByCasts().module(module)
    translation = _Translation(module, dialect, text, of_2022)
    made = _moved(translation.module(module), translation.layouts, dialect)
    return made if dialect.slice_values else _with_ramps(made)


def _with_ramps(module: ast.IRModule) -> ast.IRModule:
    """The module with `A[T.Ramp(0, 1, 4)]` where a slice `A[0:4]` is a value."""
    functions = dict(module.functions)
    for gv, each in functions.items():
        if isinstance(each, tir.PrimFunc) and any(tir.sliced_values(each)):
            functions[gv] = rebuild(each, _store_of_ramps)
    return replace(module, functions=functions)


def _store_of_ramps(node: Node) -> Node:
    if not isinstance(node, tir.BufferStore):
        return node
    return changed(node, value=rebuild(node.value, _load_of_ramps))


def _load_of_ramps(node: Node) -> Node:
    if not isinstance(node, tir.BufferLoad) or not any(map(tir.is_slice, node.indices)):
        return node
    return changed(node, indices=tuple(_ramp(index, node) for index in node.indices))


def _ramp(index: tir.PrimExpr, load: tir.BufferLoad) -> tir.PrimExpr:
    """`T.Ramp(start, step, lanes)` for a slice."""
    match index:
        case tir.Slice(start=tir.IntImm(value=first), stop=tir.IntImm(value=stop)):
            length = stop - first
        case tir.Slice(start=start, stop=tir.Add(a=a, b=tir.IntImm(value=length))) if (
            structural_equal(start, a)
        ):
            pass
        case _ if not tir.is_slice(index):
            return index
        case _:
            raise InexpressibleError("a slice of unknown length as a value", load.span)
    step = index.step or tir.IntImm(1, INT32, index.span)
    if not isinstance(step, tir.IntImm) or step.value < 1:
        raise InexpressibleError("a slice with an unknown step as a value", load.span)
    lanes = tir.IntImm(len(range(0, length, step.value)), INT32, index.span)
    return tir.Call("Ramp", (index.start, step, lanes), None, {}, index.span)


def with_flags(module: ast.IRModule) -> ast.IRModule:
    """A module of a version whose PrimFuncs all are what is marked ``s_tir=True`` since 0.25.

    Those with blocks are marked when they are printed.
    """
    functions = dict(module.functions)
    for gv, each in functions.items():
        if isinstance(each, tir.PrimFunc) and not any(isinstance(n, tir.Block) for n in walk(each)):
            functions[gv] = replace(each, attrs={**each.attrs, "s_tir": True})
    return replace(module, functions=functions)


class _WrittenShapes(Rewriter):
    """Writes out the shapes of results, which TVM takes from no variable; a cast names the
    dimensions of those that are computed.
    """

    def __init__(self, version: str) -> None:
        super().__init__()
        self.version = version
        self.values: dict[ast.Var, ast.Expr] = {}

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        info = binding.struct_info
        if binding.var and isinstance(info, ast.ShapeStructInfo) and info.values is not None:
            self.values[binding.var] = ast.ShapeExpr(info.values)
        return super().match_cast(binding)

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        value = self.values[binding.var] = binding.value
        casts: list[ast.Binding] = []
        if isinstance(value, ast.Call):
            binding = changed(binding, value=self._with_shapes(value, casts))
        return (*casts, *super().var_binding(binding))

    def call(self, call: ast.Expr) -> ast.Expr:
        """A call that is not bound has no place for a cast."""
        made, casts = super().call(call), list[ast.Binding]()
        assert isinstance(made, ast.Call)
        made = self._with_shapes(made, casts)
        if casts:
            words = "writes out the shape of a result: bind this call to a variable"
            raise InexpressibleError(f"dialect {self.version} {words}", made.span)
        return made

    def _with_shapes(self, call: ast.Call, casts: list[ast.Binding]) -> ast.Call:
        if call.op_name not in OUT_OPERATORS:
            return call
        infos = [self._written(info, call, casts) for info in call.sinfo_args]
        return changed(call, sinfo_args=same(call.sinfo_args, infos))

    def _written(
        self, info: ast.StructInfo, call: ast.Call, casts: list[ast.Binding]
    ) -> ast.StructInfo:
        if isinstance(info, ast.TupleStructInfo):
            fields = [self._written(field, call, casts) for field in info.fields]
            return changed(info, fields=same(info.fields, fields))
        shape = info.shape if isinstance(info, ast.TensorStructInfo) else None
        if not isinstance(shape, ast.Var):
            return info
        value = self.values.get(shape)
        if not isinstance(value, ast.ShapeExpr):
            value = self._named(shape, _rank_of(shape, value), call, casts)
        return replace(info, shape=value)

    def _named(
        self, shape: ast.Var, rank: int, call: ast.Call, casts: list[ast.Binding]
    ) -> ast.ShapeExpr:
        """The dimensions of a shape that is computed, behind a cast that binds them."""
        if rank < 0:
            words = f"writes out the shape of a result; {shape.name_hint!r} has an unknown rank"
            raise InexpressibleError(f"dialect {self.version} {words}", call.span)
        dims = tuple(tir.Var(f"{shape.name_hint}_{k}", INT64) for k in range(rank))
        var = type(shape)(f"{shape.name_hint}_dims")
        casts.append(ast.MatchCast(var, shape, ast.ShapeStructInfo(dims, rank), dims))
        return ast.ShapeExpr(dims)


def _rank_of(shape: ast.Var, value: ast.Expr | None) -> int:
    """The rank that a text says of a shape; -1 if it says none."""
    said = value.sinfo_args if isinstance(value, ast.Call) else ()
    for info in (shape.struct_info_annotation, *said):
        if isinstance(info, ast.ShapeStructInfo) and info.ndim >= 0:
            return info.ndim
    return -1


class _Translation(Rewriter):
    """Translates the Relax functions of one module.

    Attributes
    ----------
    layouts
        For each PrimFunc that a call passes trailing scalars to: the numbers of the other arguments
        and of these.
    """

    def __init__(self, module: ast.IRModule, dialect: Dialect, text: str, of_2022: bool) -> None:
        super().__init__()
        self.dialect = dialect
        self.text = text
        self.of_2022 = of_2022
        self.prim_funcs = module.prim_funcs
        self.layouts: dict[ast.GlobalVar, tuple[int, int]] = {}
        self.bound: set[tir.Var] = set()
        self.values: dict[ast.Var, ast.Expr] = {}
        self.cast_to: dict[ast.Var, ast.StructInfo] = {}

    def _refuse(self, words: str, span: Span | None) -> InexpressibleError:
        return InexpressibleError(f"dialect {self.dialect.version} {words}", span)

    # ------------------------------------------------------------ calls

    def call(self, call: ast.Expr) -> ast.Expr:
        made = super().call(call)
        assert isinstance(made, ast.Call)
        if not self.dialect.void_dtypes and made.op_name in _OPEN:
            made = _without_void(made, _OPEN[made.op_name])
        if not self.dialect.void_dtypes and made.op_name == "relax.layout_transform":
            made = self._without_separators(made)
        if made.sinfo_args:
            made = self._without_types(made)
        return self._call_tir(made) if made.op_name in CALLS_TIR else made

    def _without_separators(self, call: ast.Call) -> ast.Call:
        given = {key for key in call.attrs if key.endswith("axis_separators")}
        if any(call.attrs[key] for key in given):
            raise self._refuse("has no axis_separators in R.layout_transform", call.span)
        attrs = {key: value for key, value in call.attrs.items() if key not in given}
        return replace(call, attrs=attrs) if given else call

    def _without_types(self, call: ast.Call) -> ast.Call:
        """A call without type arguments that its callee does not need."""
        if call.span is not None and self.text.startswith("R.emit_with_", call.span[0]):
            return call
        match call.op:
            case ast.Op(op_name=name) if name not in _TYPED and name not in OUT_OPERATORS:
                return replace(call, sinfo_args=())
            case ast.GlobalVar():
                return replace(call, sinfo_args=())
            case ast.Var():
                words = "has no type arguments for the call of a variable"
                raise self._refuse(words, call.span)
        return call

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
            if self.dialect.type_vars and isinstance(given, ast.Var):
                words = "lists the arguments of R.call_tir, and this call passes them as one tuple"
                raise self._refuse(words, call.span)
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
        for node in walk(function.body):
            if isinstance(node, ast.VarBinding):
                self.values[node.var] = node.value
            elif isinstance(node, ast.MatchCast) and node.var is not None:
                self.cast_to[node.var] = node.struct_info
        if function.ret_struct_info is not None and self._gives(
            function.body, function.ret_struct_info
        ):
            function = replace(function, ret_struct_info=_unvalued(function.ret_struct_info))
        return super().function(function)

    def _annotated(self, value: ast.Expr) -> ast.StructInfo | None:
        """The type that an annotation or a cast says of a value."""
        match value:
            case ast.Var():
                return self.cast_to.get(value, value.struct_info_annotation)
            case ast.TupleGetItem(tuple_value=whole, index=index):
                said = self._annotated(whole)
                if isinstance(said, ast.TupleStructInfo) and 0 <= index < len(said.fields):
                    return said.fields[index]
        return None

    def _gives(self, value: ast.Expr, info: ast.StructInfo | None) -> bool:
        """Whether a value is made of scalars that have the values in a type."""
        match value:
            case ast.SeqExpr(body=body):
                return self._gives(body, info)
            case ast.If(true_branch=first, false_branch=second):
                return self._gives(first, info) and self._gives(second, info)
            case ast.Var() if value in self.values:
                return self._gives(self.values[value], info)
        match info:
            case ast.TupleStructInfo(fields=infos) if isinstance(value, ast.Tuple):
                same = len(infos) == len(value.fields)
                return same and all(map(self._gives, value.fields, infos))
            case ast.PrimStructInfo(value=tir.PrimExpr() as number):
                scalar = value.shape_var if isinstance(value, ast.Var) else None
                return _says(value, number) or (scalar is not None and scalar is number)
        return info is None or _unvalued(info) is info

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
        if info is not None and self._gives(binding.value, info):
            plain = _unvalued(info)
            if plain is not info:
                self.renamed[var] = replace(var, struct_info_annotation=plain)
        value = binding.value
        if self.of_2022 and isinstance(value, ast.Call) and isinstance(value.op, ast.ExternFunc):
            binding = replace(binding, value_span=None)  # it is printed as a binding
        return super().var_binding(binding)

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        info, value = binding.struct_info, getattr(binding.struct_info, "value", None)
        if isinstance(info, ast.PrimStructInfo) and value in binding.shape_vars:
            var = binding.var
            if var is None or var.name_hint == "_":
                var = ast.Var(value.name, span=binding.span)
            said = var.struct_info_annotation
            if isinstance(said, ast.PrimStructInfo) and said.value is value:
                said = _unvalued(said)
            new = replace(var, shape_var=value, struct_info_annotation=said)
            plain = _unvalued(info)
            known = self._annotated(binding.value)
            if known is not None and structural_equal(_unvalued(known), plain):
                new = self.renamed[var] = replace(new, struct_info_annotation=plain)
                return (ast.VarBinding(new, self.expr(binding.value), span=binding.span),)
            self.renamed[var] = new
            made = replace(binding, var=new, struct_info=plain, shape_vars=())
            return (changed(made, value=self.expr(binding.value)),)
        if isinstance(info, ast.TupleStructInfo) and _unvalued(info) is not info:
            return self._cast_of_tuple(binding, info)
        var = binding.var
        said = None if var is None else var.struct_info_annotation
        if var is not None and said is not None and not structural_equal(said, info):
            self.renamed[var] = replace(var, struct_info_annotation=info)
        return super().match_cast(binding)

    def _cast_of_tuple(
        self, binding: ast.MatchCast, info: ast.TupleStructInfo
    ) -> tuple[ast.Binding, ...]:
        """A cast whose scalars give shape variables their values: each is a field of the result."""
        var, left = binding.var, list(binding.shape_vars)
        if var is None or var.name_hint == "_":
            var = ast.Var("fields", span=binding.span)
        said = var.struct_info_annotation
        if said is not None and structural_equal(said, info):
            var = self.renamed[var] = replace(var, struct_info_annotation=_unvalued(said))
        fields, scalars, named = [], [], []
        for index, field in enumerate(info.fields):
            value = field.value if isinstance(field, ast.PrimStructInfo) else None
            if type(value) is tir.Var and value in left:
                left.remove(value)
                plain = ast.PrimStructInfo(value.dtype)
                name = ast.Var(value.name, plain, value.span, shape_var=value)
                scalars.append(ast.VarBinding(name, ast.TupleGetItem(var, index)))
                named.append(value)
                field = plain
            fields.append(field)
        if any(_mentions(field, number) for field in fields for number in named):
            raise self._refuse("declares the scalars of a cast in front of it", binding.span)
        cast = replace(binding, var=var, struct_info=ast.TupleStructInfo(tuple(fields)))
        made = super().match_cast(replace(cast, shape_vars=tuple(left)))
        return (*made, *scalars)

    def struct_info(self, info: ast.StructInfo) -> ast.StructInfo:
        if isinstance(info, ast.PrimStructInfo) and info.value is not None:
            words = f"has no annotation for a scalar with its value, R.Prim(value={info.value})"
            raise self._refuse(words, info.span)
        return super().struct_info(info)


class _ByCasts(Rewriter):
    """Gives shape variables their numbers by casts, as the versions before 0.26 do."""

    def define(self, var: ast.Var) -> ast.Var:
        return self.renamed.get(var) or super().define(var)

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        var, number = binding.var, binding.var.shape_var
        if number is None:
            return super().var_binding(binding)
        plain = self.renamed[var] = replace(var, shape_var=None)
        value, made = self.expr(binding.value), []
        if isinstance(value, ast.If):
            chosen = replace(plain)
            made, value = [replace(binding, var=chosen, value=value)], chosen
        info = ast.PrimStructInfo(number.dtype, number)
        return (*made, ast.MatchCast(plain, value, info, (number,), span=binding.span))

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        number = None if binding.var is None else binding.var.shape_var
        if binding.var is None or number is None:
            return super().match_cast(binding)
        plain = self.renamed[binding.var] = replace(binding.var, shape_var=None)
        info = ast.PrimStructInfo(number.dtype, number)
        made = replace(binding, var=plain, value=self.expr(binding.value), struct_info=info)
        return (replace(made, shape_vars=(*binding.shape_vars, number)),)


def _unvalued(info: ast.StructInfo) -> ast.StructInfo:
    """A type in which scalars do not say their values; parameters of functions do."""
    match info:
        case ast.PrimStructInfo(value=tir.PrimExpr()):
            return replace(info, value=None)
        case ast.TupleStructInfo(fields=fields):
            return changed(info, fields=same(fields, map(_unvalued, fields)))
    return info


def _without_void(call: ast.Call, place: int) -> ast.Call:
    """A call that leaves its data type open by not mentioning it."""
    void = {
        key: value
        for key, value in call.attrs.items()
        if key in ("dtype", "out_dtype") and _is_void(value)
    }
    if void:
        attrs = {key: value for key, value in call.attrs.items() if key not in void}
        call = replace(call, attrs=attrs)
    if len(call.args) == place + 1 and _is_void(getattr(call.args[place], "value", None)):
        call = replace(call, args=call.args[:place])
    return call


def _is_void(value: object) -> bool:
    return value == "void" or (isinstance(value, DataType) and value.is_void)


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
    parts = () if info is None else all_parts(info)
    return any(var in tir.free_vars(number) for part in parts for number in numbers(part))


def _says(value: ast.Expr, number: tir.PrimExpr | None) -> bool:
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
