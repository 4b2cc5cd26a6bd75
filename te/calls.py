"""Calls of PrimFuncs made from tensor expressions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.overloaded import attributes, expr
from rlx.grammar.nodes.python_places import MisuseError, described, type_name
from rlx.te.check import check_reads, is_plain
from rlx.te.convert import Converter, alike
from rlx.te.errors import fail, here
from rlx.te.graph import computed, operations, unbound
from rlx.te.prim_func import distinct, of_operations
from rlx.te.scalar import Scalar
from rlx.te.tensor import Operation, Tensor, indices_of

CALL_TIR = "relax.call_tir"


class Staged(Record):
    """A PrimFunc with the arguments of its call.

    Attributes
    ----------
    function
        The PrimFunc.
    args
        The Relax tensors that are passed.
    result
        The struct info of the result.
    numbers
        The values of its scalar parameters, which are passed behind the tensors: shape variables
        that the shapes of the arguments do not determine.
    proved
        Whether the PrimFunc is legal because of how it was made.
    """

    function: tir.PrimFunc
    args: tuple[Expr, ...]
    result: StructInfo
    numbers: tuple[Expr, ...]
    proved: bool

    def call(self, callee: GlobalVar) -> ast.Call:
        """The call, with the name of the function in a module."""
        args: tuple[Expr, ...] = (callee, ast.Tuple((*self.args, *self.numbers)))
        return ast.Call(ast.op(CALL_TIR), args, sinfo_args=(self.result,))


def staged(
    outputs: Any,
    inputs: Sequence[Tensor],
    held: Mapping[ast.Var, tir.Var] = {},
) -> Staged:
    """The PrimFunc that computes the outputs, and the arguments of its call. Raises
    TensorExpressionError if a placeholder that is read has no Relax value, or as
    :func:`create_prim_func` does.

    Parameters
    ----------
    outputs
        A tensor, or a tuple of tensors; a tuple of one tensor means the tensor.
    inputs
        The tensors that are passed, in order. Other tensors of Relax values that are read follow
        them.
    held
        The scalars that stand for variables of Relax.
    """
    given = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
    for each in given:
        if not isinstance(each, Tensor):
            fail(f"expected a tensor, or a tuple of tensors, as result; found {type_name(each)}")
        if each.value is not None:
            fail(f"the result {each.name} is an argument: expected a computed tensor")
    if not given:
        fail("expected at least one tensor as result, found none")
    found = operations(given)
    passed = _passed(given, found, inputs)
    distinct(given)
    ops = [*(t.op for t in passed if t.op not in found), *found]
    numbers = unbound([*passed, *given], ops)
    scalars = [Scalar(var, var.dtype) for var in numbers]
    undecided = check_reads(ops)
    function = of_operations([*passed, *scalars, *given], ops, INT64, store_identities=True)
    proved = not undecided and all(map(is_plain, ops))
    infos = tuple(_info(tensor) for tensor in given)
    result: StructInfo = infos[0] if len(infos) == 1 else TupleStructInfo(infos)
    args = tuple(tensor.value for tensor in passed if tensor.value is not None)
    values = {number: var for var, number in held.items()}
    passed_on = tuple(values.get(number) or ast.PrimValue(number) for number in numbers)
    return Staged(function, args, result, passed_on, proved)


def _passed(
    outputs: Sequence[Tensor], ops: Sequence[Operation], inputs: Sequence[Tensor]
) -> list[Tensor]:
    """The placeholders that the function takes."""
    known = {tensor.op: tensor for tensor in inputs}
    for op in [op for op in ops if not computed(op) and op not in known]:
        found = next((t for o in ops for t in o.input_tensors if t.op is op), None)
        if found is None:
            fail(f"the result {op.name} is a placeholder: expected a computed tensor")
        if found.value is None:
            fail(f"{op.name} is read, but is neither an argument nor a te_tensor", op.place)
        known[op] = found
    return list(known.values())


def _info(tensor: Tensor) -> TensorStructInfo:
    dims = tuple(
        tir.IntImm(dim.value) if isinstance(dim.value, int) else dim.node for dim in tensor.shape
    )
    return TensorStructInfo(ast.ShapeExpr(dims), tensor.dtype, len(dims))


# ---------------------------------------------------------------- with a builder


class Builder(Protocol):
    """The methods of a :class:`rlx.BlockBuilder` that calls need."""

    def emit(self, value: object, name_hint: str = "") -> ast.Var:
        """Bind a value."""

    def add_func(self, function: tir.PrimFunc, name: str) -> GlobalVar:
        """Add a function."""

    def add_proved(self, function: tir.PrimFunc, name: str) -> GlobalVar:
        """Add a function that needs no check."""

    def struct_info(self, value: object) -> StructInfo:
        """The struct info of a value."""


def call_te(
    builder: Builder,
    function: Callable[..., Any],
    *args: Any,
    primfunc_name_hint: str | None = None,
    primfunc_attrs: Mapping[str, object] | None = None,
    **kwargs: Any,
) -> ast.Call:
    """The call of the PrimFunc that a function of tensor expressions makes; the PrimFunc is added
    to the module.

    Parameters
    ----------
    builder
        The builder of the module that gets the PrimFunc.
    function
        Called with the arguments; returns a tensor, or a tuple of tensors.
    *args, **kwargs
        Values of Relax are converted: tensors to tensors, tuples to tuples, shapes to tuples of
        scalars, scalars to scalars; everything else is passed as it is.
    primfunc_name_hint
        The name of the PrimFunc; by default that of the function.
    primfunc_attrs
        Further attributes of the PrimFunc.

    Raises
    ------
    TensorExpressionError
        If an argument has no known shape, or the expression is wrong; with the line that wrote it.
    """
    if not hasattr(builder, "struct_info"):
        fail(f"expected a builder, found {described(builder)}")
    hint = _hint(function, primfunc_name_hint)
    try:
        attrs = {} if primfunc_attrs is None else attributes(primfunc_attrs)
    except MisuseError as error:
        fail(f"primfunc_attrs: {error.message}")
    convert = Converter(builder.struct_info)
    with indices_of(INT64):
        values = [convert(_leaf(builder, arg)) for arg in args]
        named: Mapping[str, Any] = {k: convert(_leaf(builder, v)) for k, v in kwargs.items()}
        outputs = _applied(function, hint, values, named)
        made = staged(outputs, convert.tensors, convert.scalars)
    return added(builder, made, hint, attrs)


def _hint(function: object, wanted: object) -> str:
    """The name of the PrimFunc that a function becomes."""
    if not callable(function) or isinstance(function, Expr | type):
        fail(f"expected a function of tensor expressions, found {described(function)}")
    name = getattr(function, "__name__", "te") if wanted is None else wanted
    if not isinstance(name, str):
        fail(f"expected a name for the PrimFunc, found {name!r}")
    return name


def _applied(
    function: Callable[..., Any], name: str, values: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """The results of a function of tensor expressions for arguments. Raises TensorExpressionError if it
    does not take these; or if it fails, and was given something else than tensors.
    """
    try:
        return function(*values, **named)
    except (TypeError, AttributeError, LookupError) as error:
        _takes(function, name, values, named)
        others = [each for each in (*values, *named.values()) if not isinstance(each, Tensor)]
        if not others:
            raise
        found = ", ".join(map(described, others))
        what = f"{type(error).__name__}: {error}"
        fail(f"{name} does not work with arguments that are no tensors, {found}: {what}")


def _takes(
    function: Callable[..., Any], name: str, values: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Raises TensorExpressionError if a function does not take these arguments."""
    try:
        taken = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        taken.bind(*values, **named)
    except TypeError as error:
        fail(f"wrong arguments for {name}{taken}: {error}")


def added(builder: Builder, made: Staged, hint: str, attrs: Mapping[str, object] = {}) -> ast.Call:
    """The call of a PrimFunc that is added to the module, with further attributes."""
    whole = {**made.function.attrs, **attrs, "private": True}
    private = replace(made.function, attrs=whole)
    add = builder.add_proved if made.proved and not attrs else builder.add_func
    name = add(private, hint if hint.isidentifier() else "te")
    return made.call(name)


def call_of(builder: Builder, tensor: Tensor) -> ast.Call:
    """The call that computes a tensor from tensors of :func:`rlx.te.te_tensor`; its PrimFunc is
    added to the module. Raises TensorExpressionError if it reads a placeholder without a Relax
    value.
    """
    with indices_of(INT64):
        made = staged(tensor, ())
    return added(builder, made, tensor.name)


def emit_te(
    builder: Builder,
    function: Callable[..., Any],
    *args: Any,
    name_hint: str = "",
    **kwargs: Any,
) -> ast.Var:
    """Emit :func:`call_te`, and return the variable of the result, which gets the name."""
    made = call_te(builder, function, *args, **kwargs)
    return builder.emit(made, name_hint)


def _leaf(builder: Builder, given: Any) -> Any:
    """An argument with names for the values that it computes."""
    match given:
        case ast.Tuple(fields=fields):
            return ast.Tuple(tuple(_leaf(builder, field) for field in fields))
        case ast.Var() | ast.Constant() | ast.ShapeExpr() | ast.PrimValue():
            return given
        case ast.StringImm() | ast.DataTypeImm() | ast.TupleGetItem():
            return given
        case Expr():
            return builder.emit(given)
        case tuple() | list():
            return alike(given, [_leaf(builder, each) for each in given])
    if getattr(given, "shape", ()) != () and type(given).__module__ == "numpy":
        return expr(given, here())
    return given
