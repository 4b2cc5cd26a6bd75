"""The nodes that Python's operators on expressions make;
:mod:`rlx.grammar.nodes.overloads` has the operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.by_hand import with_shape_vars
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType, array_of, dtype, numpy_type
from rlx.grammar.nodes.encoded import buffer_of
from rlx.grammar.nodes.overloads import OwnOperators
from rlx.grammar.nodes.prim_operators import BY_SYMBOL, exact
from rlx.grammar.nodes.python_places import MisuseError, Place, described, here
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import called_globals

if TYPE_CHECKING:
    import numpy as np

NUMBER = "number"
"""The mark in :attr:`rlx.grammar.nodes.ast.Call.spelled` of an argument that is a bare number."""


def value(name: str, operands: tuple[object, ...]) -> ast.Call:
    """A call of an operator on values; a bare number is marked and gets its type from a tensor
    operand.
    """
    place = here()
    numbers: dict[int | str, str] = {
        at: NUMBER for at, given in enumerate(operands) if is_number(given)
    }
    args = tuple([expr(given, place) for given in operands])
    return ast.Call(ast.op(name), args, span=place, spelled=numbers)


def call(callee: object, args: tuple[object, ...]) -> ast.Call:
    """A call of a function value.

    Raises
    ------
    MisuseError
        If the callee is an operator, or an argument is not a value.
    """
    place = here()
    if not isinstance(callee, ast.Expr) or isinstance(callee, ast.Op):
        raise MisuseError("call the operator as a function: rlx.op.add(x, y)", place)
    return ast.Call(callee, tuple([expr(given, place) for given in args]), span=place)


def item(tuple_value: ast.Expr, index: object) -> ast.TupleGetItem:
    """A field of a tuple.

    Raises
    ------
    MisuseError
        If the index is not an integer; for parts of tensors use ``rlx.op.take`` or
        ``rlx.op.strided_slice``.
    """
    number = python_number(index)
    if isinstance(number, bool) or not isinstance(number, int):
        raise MisuseError(
            (
                f"x[…] takes an integer and gives a field of a tuple; found {index!r}. For a"
                " part of a tensor, write rlx.op.strided_slice(x, …) or rlx.op.take(x, …)"
            ),
            here(),
        )
    return ast.TupleGetItem(tuple_value, number, here())


def has_parts(given: object) -> bool:
    """Answer Python's question whether a value is true: a shape with dimensions is, as everything
    that has a length, and a tuple with fields.

    Raises
    ------
    MisuseError
        For other values: only a run knows it.
    """
    if isinstance(given, ast.ShapeExpr | ast.Tuple):
        return len(given) > 0
    words = (
        f"Python asks whether {given} is true, which only a run knows. For an element"
        " write rlx.op.where(condition, a, b), for conditions rlx.op.logical_and(a, b), and to"
        " compare nodes `is` or `is not None`"
    )
    raise MisuseError(words, here())


def array(data: ast.Literal) -> np.ndarray[Any, Any]:
    """The elements of a constant, in an array of their own.

    Raises
    ------
    MisuseError
        If the text leaves them out, or NumPy has no such elements.
    """
    import numpy as np

    kind = numpy_type(data.dtype)
    if kind is None:
        raise MisuseError(f"NumPy has no elements of type {data.dtype}", here())
    if data.value is not None:
        return array_of(data.value, kind).reshape(data.shape or ())
    if data.content is None:
        raise MisuseError("the program text omits the constant's data", here())
    return np.frombuffer(buffer_of(data.content), kind).reshape(data.shape or ())


def truth(given: PrimExpr) -> bool:
    """Answer Python's question whether a scalar is true, for literals and comparisons of them.

    Raises
    ------
    MisuseError
        If it depends on a variable.
    """
    match given:
        case tir.IntImm(value=number) | tir.FloatImm(value=number):
            return bool(number)
        case tir.Comparison(
            a=tir.IntImm(value=a) | tir.FloatImm(value=a),
            b=tir.IntImm(value=b) | tir.FloatImm(value=b),
        ):
            return bool(exact(type(given))(a, b))
    words = (
        f"Python asks whether {given} is true, which depends on its variables: ask bb.prove(…) or"
        " rlx.prove(…), combine conditions with tir.And, and compare nodes with `is`"
    )
    raise MisuseError(words, here())


def length(given: ast.Expr) -> int:
    """The number of fields of a tuple.

    Raises
    ------
    MisuseError
        If it is not known to be a tuple.
    """
    if isinstance(given, ast.Tuple):
        return len(given.fields)
    info = given.struct_info_annotation if isinstance(given, ast.Var) else None
    if isinstance(info, ast.TupleStructInfo):
        return len(info.fields)
    found = str(given)
    if isinstance(given, ast.Var) and info is not None:
        raise MisuseError(
            f"only a tuple has fields; {found} is {info}. Its dimensions are x.struct_info.shape,"
            " and rlx.op.shape_of(x) is its shape as a value",
            here(),
        )
    raise MisuseError(
        f"the number of fields of {found} is not known before it is emitted: write"
        " t = bb.emit(…), then a, b = t, or t[0]",
        here(),
    )


_OPERATORS = {
    **{name: f"{name}(x, …)" for name in ("astype", "max", "mean", "min", "reshape", "sum")},
    "T": "permute_dims(x)",
    "transpose": "permute_dims(x, …)",
}
"""The operators for attributes that arrays have."""


def missing(given: object, name: str) -> str:
    """The replacement for an attribute that an expression does not have."""
    words = f"{type(given).__name__!r} object has no attribute {name!r}"
    if name in ("shape", "dtype", "ndim"):
        known = (
            f"x.struct_info.{name}"
            if isinstance(given, ast.Var)
            else f"x = bb.emit(…), then x.struct_info.{name}"
        )
        words += f": write {known}"
        if name == "shape":
            words += "; rlx.op.shape_of(x) is the shape as a value"
    elif name in _OPERATORS:
        words += f": write rlx.op.{_OPERATORS[name]}"
    elif name in ("struct_info", "ty") and isinstance(given, ast.Function):
        words += ": read function.params and function.ret_struct_info"
    elif name == "inline_functions" and isinstance(given, ast.Function):
        words += ": put the functions into one module, and write InlinePrivateFunctions()(module)"
    elif name == "create_empty" and isinstance(given, ast.Function):
        words += ": write Function(params, body), or bb.function(…)"
    elif name in ("ret_ty", "ret_type") and isinstance(given, ast.Function):
        words += ": write function.ret_struct_info"
    elif name == "same_as":
        words += ": write x is y"
    elif name == "value" and isinstance(given, ast.Constant):
        words += ": constant.data.numpy() has the elements"
    elif name == "ty" and isinstance(given, ast.Constant):
        words += ": write constant.struct_info"
    elif name in _OF_VALUES and isinstance(given, ast.Var):
        words += ": it is a variable. Its value is match.bound(pattern) in a match, and"
        words += " bb.lookup_binding(x), self.scope[x] or get_var2val(function)[x] elsewhere"
    elif name in ("struct_info", "ty") and not isinstance(given, ast.Var):
        words += ": bind it, x = bb.emit(…), and read x.struct_info, or ask bb.struct_info(…)"
    elif name in _ELSEWHERE and isinstance(given, ast.Var):
        words += f": write x.{_ELSEWHERE[name]}"
    elif name in ("script", "show") and isinstance(given, ast.Function):
        words += ": write rlx.show(function)"
    elif name == "name" and isinstance(given, ast.Op):
        words += ": write call.op_name"
    return words


_OF_VALUES = frozenset(["attrs", "args", "op", "op_name", "fields", "index", "data"])
"""Attributes of what variables are bound to."""
_ELSEWHERE = {"name": "name_hint", "ty": "struct_info", "checked_type": "struct_info"}
"""Attributes of variables under the names of TVM's versions."""


def is_number(given: object) -> bool:
    """Whether a value is a bare Python number, which gets its type from the other operand."""
    return isinstance(given, bool | int | float) and not _of_numpy(given)


def named_functions(given: object) -> dict[ast.GlobalVar, Any]:
    """The functions of a module by their names, which may be texts.

    Raises
    ------
    MisuseError
        If it is anything else.
    """
    place = here()
    wanted = 'functions by name, as in {"main": function}'
    if not isinstance(given, Mapping):
        raise MisuseError(f"expected {wanted}, found {described(given)}", place)
    for name, function in given.items():
        if not isinstance(name, str | ast.GlobalVar):
            raise MisuseError(f"expected {wanted}, found the name {described(name)}", place)
        if not isinstance(function, ast.Function | tir.PrimFunc):
            raise MisuseError(f"expected {wanted}, found {described(function)}", place)
    called = {gv.name_hint: gv for function in given.values() for gv in called_globals(function)}
    called |= {gv.name_hint: gv for gv in given if isinstance(gv, ast.GlobalVar)}
    return {
        (called.get(name) or ast.GlobalVar(name) if isinstance(name, str) else name): (
            with_shape_vars(function) if isinstance(function, ast.Function) else function
        )
        for name, function in given.items()
    }


def attributes(given: object, place: Place | None = None) -> dict[str, object]:
    """The attributes of a function, by name.

    Raises
    ------
    MisuseError
        If a name is not a text, or a value has no text in a program.
    """
    place = place or here()
    if not isinstance(given, Mapping):
        raise MisuseError(f"expected attributes by name, found {described(given)}", place)
    for name in given:
        if not isinstance(name, str):
            words = f"expected the name of an attribute, found {described(name)}"
            raise MisuseError(words, place)
    return {name: _attribute(name, value, place) for name, value in given.items()}


def _attribute(name: str, given: object, place: Place) -> object:
    value = python_number(given)
    match value:
        case int() if not -(1 << 63) <= value < 1 << 64:
            raise MisuseError(f"attribute {name!r}: the number has more than 64 bits", place)
        case None | str() | bool() | int() | float() | DataType():
            return value
        case ast.StructInfo() | PrimExpr() | tir.Buffer() | ast.Constant() | ast.StringImm():
            return value
        case ast.PrimValue() | ast.ShapeExpr() | ast.DataTypeImm() | ast.ExternFunc():
            return value
        case list() | tuple():
            return type(value)([_attribute(name, each, place) for each in value])
        case Mapping() if all(isinstance(key, str | int) for key in value):
            return {key: _attribute(name, each, place) for key, each in value.items()}
    words = (
        f"attribute {name!r}: expected a text, a number, a node, or a list or dictionary of them"
    )
    raise MisuseError(f"{words}; found {described(value)}", place)


def python_number(given: Any) -> object:
    """A NumPy scalar as a Python number; other values are returned unchanged."""
    return given.item() if _of_numpy(given) and given.shape == () else given


def _of_numpy(given: object) -> bool:
    """Whether something is an array or a scalar of NumPy, or of its further element types."""
    kind = type(given)
    return kind not in _PYTHON and kind.__module__ in _NUMPY and hasattr(given, "tolist")


def element_type(given: Any) -> DataType:
    """An element type, given as one, by its name, or as a NumPy type.

    Raises
    ------
    TypeError, ValueError
        If it is none of these.
    """
    if isinstance(given, DataType):
        return given
    if type(given).__module__.startswith("numpy") or (
        isinstance(given, type) and given.__module__ in _NUMPY
    ):
        given = getattr(given, "name", None) or getattr(given, "__name__", given)
    if not isinstance(given, str):
        raise TypeError(f"expected a data type such as 'float32', found {described(given)}")
    return dtype(given)


def constant(array: Any, place: Place | None = None, kind: DataType | None = None) -> ast.Expr:
    """A NumPy array as a constant, with the element type ``kind`` if given.

    Nested lists cannot express the dimensions after one of length 0, so such an array becomes a
    call of ``R.zeros``.

    Raises
    ------
    ValueError
        If tensors cannot have such elements.
    """
    kind = kind or dtype(str(array.dtype))
    if 0 in array.shape[:-1]:
        shape = ast.ShapeExpr(tuple([prim(length) for length in array.shape]), place)
        zeros = ast.op("relax.zeros")
        return ast.Call(zeros, (shape, ast.StringImm(str(kind), place)), span=place)
    return ast.Constant(ast.Literal(_nested(array.tolist()), kind, tuple(array.shape)), place)


def _nested(value: object) -> object:
    return tuple(map(_nested, value)) if isinstance(value, list) else value


def expr(given: object, place: Place | None = None) -> ast.Expr:
    """A Python value as an expression: numbers, texts, tuples and lists, scalars of arithmetic,
    data types; NumPy arrays and scalars become constants.

    Raises
    ------
    MisuseError
        If it is none of these.
    """
    if isinstance(given, ast.Expr):
        return given
    if _of_numpy(given):
        try:
            return constant(given, place)
        except ValueError:
            raise MisuseError(
                f"{described(given)} cannot be the element type of a tensor", place or here()
            ) from None
    match given:
        case PrimExpr() | OwnOperators(node=PrimExpr()):
            return ast.PrimValue(prim(given), place)
        case bool() | int() | float():
            return ast.PrimValue(prim(given, place=place), place)
        case str():
            return ast.StringImm(given, place)
        case DataType():
            return ast.DataTypeImm(given, place)
        case tuple() | list():
            return ast.Tuple(tuple([expr(part, place) for part in given]), (), place)
        case None:
            return ast.Call(ast.op("relax.null_value"), (), span=place)
    raise MisuseError(
        f"expected a Relax value, a number or a tuple; found {described(given)}", place or here()
    )


def prim(given: object, beside: DataType | None = None, place: Place | None = None) -> PrimExpr:
    """A Python value as a scalar; ``beside`` is the type of the other operand.

    Raises
    ------
    MisuseError
        If it is not a scalar, or an integer that does not fit into 64 bits.
    """
    if type(given) is int and beside is None and -(1 << 63) <= given < 1 << 63:
        return tir.IntImm(given, INT64, place)
    match python_number(given):
        case (PrimExpr() as found) | OwnOperators(node=PrimExpr() as found):
            if isinstance(found, tir.Var | tir.IntImm):
                return found
            if any(isinstance(part, tir.BufferLoad) for part in tir.postorder(found)):
                words = (
                    f"{found} reads an element of a buffer, which cannot be part of a Relax value"
                )
                raise MisuseError(words, place or here())
            return found
        case ast.PrimValue(value=found):
            return found
        case bool() as number:
            return tir.IntImm(int(number), BOOL, place)
        case int() as number:
            if beside is not None and beside.is_float:
                return tir.FloatImm(float(number), beside, place)
            kind = INT64 if beside is None or not beside.is_integer else beside
            limit = 64 if kind.code == "uint" else 63
            if not -(1 << 63) <= number < 1 << limit:
                raise MisuseError(f"the integer {number} has more than 64 bits", place or here())
            return tir.IntImm(number, kind, place)
        case float() as number:
            wanted = beside if beside is not None and beside.is_float else dtype("float64")
            return tir.FloatImm(number, wanted, place)
    raise MisuseError(f"expected a scalar or a number, found {described(given)}", place or here())


def scalar(symbol: str, a: object, b: object) -> PrimExpr:
    """An operator on two scalars; for two literal integers, it is computed.

    Raises
    ------
    MisuseError
        If an operand is not a scalar.
    """
    if isinstance(a, ast.Expr) or isinstance(b, ast.Expr):
        _mixed(symbol)
    place = here()
    left = prim(a, tir.type_of(b) if isinstance(b, PrimExpr) else None, place)
    right = prim(b, tir.type_of(left), place)
    if symbol == "/":
        kind = tir.type_of(left)
        node = tir.Div if kind.is_float or tir.type_of(right).is_float else tir.TruncDiv
        return node(left, right, place)
    found = BY_SYMBOL[symbol]
    assert found.node is not None
    if (
        isinstance(left, tir.IntImm)
        and isinstance(right, tir.IntImm)
        and left.dtype == right.dtype
        and found.exact is not None
        and not issubclass(found.node, tir.Comparison)
        and not (symbol in ("//", "%") and right.value == 0)
    ):
        return tir.IntImm(found.exact(left.value, right.value), left.dtype, place)
    return found.node(left, right, place)


def negative(given: PrimExpr) -> PrimExpr:
    """A negated scalar."""
    kind = tir.type_of(given)
    return tir.negated(given, kind, here())


def _mixed(symbol: str) -> NoReturn:
    raise MisuseError(
        (
            f"{symbol!r} cannot combine a scalar expression with a Relax value: bind the"
            " scalar first, with bb.emit(…)"
        ),
        here(),
    )


_NUMPY = frozenset(["numpy", "ml_dtypes"])
_PYTHON = frozenset([int, float, bool, str, tuple, list])
"""The modules of array classes and their elements."""
