"""The pass: each call of an operator with a definition becomes a call of its PrimFunc.

The length of a slice of a slice mentions the sliced length several times. Written out, a chain of
such dimensions is exponentially long, and each PrimFunc of the chain would repeat it. So a value
whose dimensions are long is bound by a cast that names them, and what is made from it mentions the
names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from rlx.checker.check import IllFormedError, Report, check_alone
from rlx.checker.derive.naming import scalars
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, Expr, GlobalVar, IRModule, StructInfo
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, Record, replace, walk
from rlx.grammar.nodes.prim_operators import divides_by_zero
from rlx.grammar.nodes.python_places import module_of, spelt
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import fields_or_itself, numbers, rebuilt, with_numbers
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import bindings, bound_vars, expressions
from rlx.grammar.print.show import show
from rlx.operators import lookup
from rlx.operators.context import RecordingContext
from rlx.operators.exprs import Declined, decline
from rlx.operators.registry import Operator
from rlx.solver.order import free_shape_vars
from rlx.te.calls import Staged, staged
from rlx.te.convert import Converter
from rlx.te.errors import TensorExpressionError
from rlx.te.tensor import indices_of
from rlx.transform.legalization.arguments import arguments, results

LONG = 12
"""A dimension of more nodes gets a name."""

_PLAIN = ("relax.call_tir", "relax.call_dps_packed", "relax.call_tir_inplace")


class Left(Record):
    """A call that is not legalised.

    Attributes
    ----------
    operator
        The operator's name without the leading ``relax.``.
    reason
        The reason.
    function
        The name of the function that contains it.
    """

    operator: str
    reason: str
    function: str


class Legalized(Record):
    """A legalised module, with the remaining operator calls."""

    module: IRModule
    left: tuple[Left, ...]


@spelt
def legalize(module: IRModule) -> IRModule:
    """Replace operators with a tensor expression definition by calls of PrimFuncs.

    Parameters
    ----------
    module
        Well-formed and without errors. Calls with an unproved premise are kept: they may fail at
        run time, and an operator reports the failure better than a PrimFunc.

    Returns
    -------
    IRModule
        In normal form. :func:`legalized` returns the remaining calls and the reasons.
    """
    return legalized(module).module


@spelt
def legalized(module: IRModule) -> Legalized:
    """Like :func:`legalize`, with the list of remaining calls.

    Raises
    ------
    MisuseError
        If it is not a module.
    IllFormedError
        If the module has errors.
    """
    report = check_alone(module_of(module))
    if not report.ok:
        raise IllFormedError(report)
    (normal,) = report.modules
    pass_ = _Pass(normal, report)
    with indices_of(INT64):
        made = pass_.module(normal)
    if pass_.added:
        made = replace(made, functions={**made.functions, **pass_.added})
    return Legalized(made, tuple(pass_.left))


class _Pass(Rewriter):
    """Rewrites the bindings of calls.

    Attributes
    ----------
    info
        The struct info of expressions, with the names that long dimensions got so far.
    added
        The PrimFuncs.
    left
        The calls that stay.
    """

    def __init__(self, module: IRModule, report: Report) -> None:
        super().__init__()
        self._derived = report.info
        self.info = dict(report.info)
        self._dims: dict[tir.PrimExpr, tir.Var] = {}
        self.added: dict[GlobalVar, tir.PrimFunc] = {}
        self.left: list[Left] = []
        self._names = Names(gv.name_hint for gv in module.functions)
        self._alike: dict[object, list[GlobalVar]] = {}
        self._function = ""
        self._count = 0
        self._known: dict[object, tuple[Staged, GlobalVar, list[int]]] = {}

    def _again(self, call: ast.Call, key: object) -> Expr | None:
        """The call of the PrimFunc that was made for a call of the same operator with arguments of
        the same struct info.
        """
        known = self._known.get(key)
        if known is None:
            return None
        made, gv, places = known
        result = _known_result(call, self.info, made.result)
        given = [*_leaves(call)]
        args = tuple([given[at] for at in places])
        return replace(replace(made, args=args, result=result).call(gv), span=call.span)

    def _remember(self, call: ast.Call, key: object, made: Staged, gv: GlobalVar) -> None:
        """Keep the PrimFunc of a call for later calls, if it takes only arguments of the call."""
        at = {arg: place for place, arg in reversed([*enumerate(_leaves(call))])}
        if all(arg in at for arg in made.args):
            self._known[key] = made, gv, [at[arg] for arg in made.args]

    def _add(self, function: tir.PrimFunc, hint: str) -> GlobalVar:
        """The name of a function in the module; equal functions have one."""
        function = replace(function, attrs={**function.attrs, "private": True})
        alike = self._alike.setdefault(_outline(function), [])
        for known in alike:
            if structural_equal(self.added[known], function):
                return known
        gv = GlobalVar(self._names.new(hint))
        self.added[gv] = function
        alike.append(gv)
        return gv

    def module(self, module: IRModule) -> IRModule:
        """A module; PrimFuncs of nested functions are attributed to the outer one."""
        self._owner = {id(f): gv.name_hint for gv, f in module.functions.items()}
        relax = module.relax_functions.values()
        self._named = {var for function in relax for var in _shape_vars(function)}
        self._signed = {var for function in relax for var in scalars(function)}
        self._cast = {var for function in relax for var in _only_cast(function)}
        return super().module(module)

    def sequence(self, seq: ast.SeqExpr) -> Expr:
        """A sequence; the names that dimensions get in it are not known behind it."""
        outer, self._dims = self._dims, dict(self._dims)
        try:
            return super().sequence(seq)
        finally:
            self._dims = outer

    def var_binding(self, binding: ast.VarBinding) -> tuple[Binding, ...]:
        """A variable binding; if dimensions of its value are long, a cast behind it names them."""
        (made,) = super().var_binding(binding)
        assert isinstance(made, ast.VarBinding)
        value, var = made.value, made.var
        if isinstance(value, ast.Function):
            return (made,)
        known = self._value_info(value)
        if known is not None:
            self.info[var] = known
        short = None if binding.var in self._cast else self._with_names(self.info.get(var))
        if short is None:
            return (made,)
        self.info[var] = short
        if isinstance(value, ast.Var | ast.TupleGetItem | ast.Tuple):
            return (made,)  # its parts have the names
        before = replace(var, struct_info_annotation=None)
        return replace(made, var=before), ast.MatchCast(var, before, short, self._new)

    def _value_info(self, value: Expr) -> StructInfo | None:
        """The struct info of a value that mentions named dimensions; None where it is the derived
        one.
        """
        match value:
            case ast.Call(op=ast.Op(op_name="relax.call_tir"), sinfo_args=(info,)):
                return info
            case ast.Var():
                return self.info.get(value)
            case ast.TupleGetItem(tuple_value=whole, index=index):
                held = self.info.get(whole)
                return held.fields[index] if isinstance(held, ast.TupleStructInfo) else None
            case ast.Tuple(fields=fields):
                found = [self.info.get(field) for field in fields]
                known = tuple(each for each in found if each is not None)
                return ast.TupleStructInfo(known) if len(known) == len(fields) else None
        return None

    def _with_names(self, info: StructInfo | None) -> StructInfo | None:
        """A type of tensors with names for its long dimensions; None if there are none."""
        self._new: tuple[tir.Var, ...] = ()
        if info is None or not _has_shapes(info) or not _long(info):
            return None

        def named(dim: tir.PrimExpr) -> tir.PrimExpr:
            if not tir.larger_than(LONG, dim):
                return dim
            key = tir.interned(dim)
            if key not in self._dims:
                self._count += 1
                self._dims[key] = var = tir.Var(f"d{self._count}", INT64)
                self._named.add(var)
                self._new += (var,)
            return self._dims[key]

        return rebuilt(info, lambda part: with_numbers(part, named))

    def function(self, function: ast.Function) -> ast.Function:
        """A function."""
        outer, self._function = self._function, self._owner.get(id(function), self._function)
        kept, dims = self.info, self._dims
        if dims:  # of the function around this one, which has shape variables of its own
            self.info, self._dims = dict(self._derived), {}
        found = super().function(function)
        self._function, self.info, self._dims = outer, kept, dims
        return found

    def call(self, call: ast.Call) -> Expr:
        """A call of an operator that has a definition becomes one of its PrimFunc."""
        found = super().call(call)
        if not isinstance(call.op, ast.Op) or not isinstance(found, ast.Call):
            return found
        name = call.op.op_name
        operator = lookup(name)
        if operator is None or name in _PLAIN:
            return found
        short = name.removeprefix("relax.")
        key = _arguments_key(call, self.info)
        again = None if key is None else self._again(call, key)
        if again is not None:
            return again
        try:
            made = define(operator, call, self.info, self._named, self._signed)
        except Declined as reason:
            self.left.append(Left(short, str(reason), self._function))
            return found
        gv = self._add(made.function, short.rpartition(".")[2])
        if key is not None:
            self._remember(call, key, made, gv)
        return replace(made.call(gv), span=call.span)


def _leaves(call: ast.Call) -> Iterator[Expr]:
    """The arguments of a call, with the fields of tuples in place of the tuples."""
    for arg in call.args:
        yield from arg.fields if isinstance(arg, ast.Tuple) else (arg,)


def _arguments_key(call: ast.Call, info: Mapping[Node, StructInfo]) -> object:
    """A key on which the PrimFunc of a call depends, if that is the struct info of variables, shapes,
    numbers and words alone; None if it may be more.
    """
    lengths = [len(arg.fields) if isinstance(arg, ast.Tuple) else -1 for arg in call.args]
    parts: list[object] = [call.op, *lengths]
    leaves = [*_leaves(call)]
    for arg in leaves:
        known = info.get(arg) if isinstance(arg, ast.Var) else None
        if isinstance(arg, ast.ShapeExpr):
            parts.append(tuple(map(tir.interned, arg.values)))
            continue
        if not isinstance(known, ast.TensorStructInfo) or not _has_shapes(known):
            return None
        dims = map(tir.interned, known.shape.values)  # type: ignore[union-attr]
        parts.append((leaves.index(arg), known.dtype, known.vdevice, tuple(dims)))
    for name, value in call.attrs.items():
        plain = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(each, str | int | float | bool | None) for each in plain):
            return None
        parts.append((name, *((type(each), repr(each)) for each in plain)))
    return None if call.sinfo_args else tuple(parts)


def _outline(function: tir.PrimFunc) -> object:
    """A key that equal functions share, and different ones seldom."""
    buffers = tuple(
        (b.dtype, *(_word(node) for dim in b.shape for node in walk(tir.interned(dim))))
        for b in function.buffer_map.values()
    )
    # A set, because parts of a body may be one object in one function and two in another.
    return len(function.params), buffers, frozenset(map(_word, walk(function.body)))


def _word(node: Node) -> object:
    """A node without its parts and without names."""
    if isinstance(node, tir.IntImm | tir.FloatImm | tir.StringImm):
        return repr(node.value)
    return type(node)


def _shape_vars(function: ast.Function) -> Iterator[tir.Var]:
    """The shape variables that a function binds: its parameters, its casts, its scalars."""
    for node in expressions(function):
        if isinstance(node, ast.Function):
            yield from node.shape_vars
    for binding in bindings(function):
        if isinstance(binding, ast.MatchCast):
            yield from binding.shape_vars
    yield from (var.shape_var for var in bound_vars(function) if var.shape_var is not None)


def _only_cast(function: ast.Function) -> Iterator[Expr]:
    """The variables that are only cast: the casts name their dimensions."""
    cast = Counter(b.value for b in bindings(function) if isinstance(b, ast.MatchCast))
    if cast:
        used = Counter(expr for expr in expressions(function) if isinstance(expr, ast.Var))
        yield from (var for var, times in cast.items() if times == used[var])  # type: ignore[index]


def define(
    operator: Operator,
    call: ast.Call,
    info: Mapping[Node, StructInfo],
    named: Collection[tir.Var],
    signed: Collection[tir.Var] = (),
) -> Staged:
    """The PrimFunc for a call of an operator, and the arguments of its call. `named`: the shape
    variables of the program; the call can mention no others. `signed`: those that may be negative.
    Raises Declined if the operator has no definition, or none for this call; the message gives the
    reason.
    """
    short = operator.name.removeprefix("relax.")
    defined = operator.definition
    if defined is None:
        decline(operator.reason)
    context = RecordingContext(info)
    context.signed.update(signed)
    for var in signed:
        context.prover.context.declare(var, lower=None)
    result = operator.derive(call, context)
    if context.open:
        decline(context.open[0])
    convert = Converter(context.info)
    targets = results(result, short.rpartition(".")[2])
    try:
        values = arguments(operator, call, context, convert)
        outputs = defined(targets, *values)
        made = staged(outputs, convert.tensors)
    except TensorExpressionError as error:
        decline(error.message)
    for buffer in made.function.buffer_map.values():
        for dim in buffer.shape:
            if not isinstance(dim, tir.Var | tir.IntImm) and any(
                map(divides_by_zero, tir.postorder(dim))
            ):
                decline(f"the dimension {show(dim)} divides by 0, which a PrimFunc may not")
    made = replace(made, result=_known_result(call, info, result))
    numbers = [each.value for each in made.numbers if isinstance(each, ast.PrimValue)]
    written = [var for number in numbers for var in tir.free_vars(number)]
    for var in (*free_shape_vars(made.result), *written):
        if var not in named:
            decline(f"{var.name} is not a shape variable: bind it with R.match_cast")
    return made


def _known_result(
    call: ast.Call, info: Mapping[Node, StructInfo], derived: StructInfo
) -> StructInfo:
    """The struct info of a call's result, on the device that is known for the call."""
    known = info.get(call, derived)
    if not _has_shapes(known):
        return derived
    if not _long(known):
        return known
    parts = zip(fields_or_itself(derived), fields_or_itself(known), strict=True)
    placed = tuple(replace(part, vdevice=its.vdevice) for part, its in parts)  # type: ignore[attr-defined]
    return placed[0] if isinstance(derived, ast.TensorStructInfo) else ast.TupleStructInfo(placed)


def _long(info: StructInfo) -> bool:
    """Whether dimensions of tensors are long."""
    return any(
        not isinstance(dim, tir.IntImm | tir.Var) and tir.larger_than(LONG, dim)
        for part in fields_or_itself(info)
        for dim in numbers(part)
    )


def _has_shapes(info: StructInfo) -> bool:
    """Whether an annotation is a tensor with known dimensions, or a tuple of such tensors."""
    return all(
        isinstance(part, ast.TensorStructInfo) and isinstance(part.shape, ast.ShapeExpr)
        for part in fields_or_itself(info)
    )
