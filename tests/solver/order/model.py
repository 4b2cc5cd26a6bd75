"""A model of values: does a value belong to a StructInfo, given values of the variables?

It shares no code with the judgements it is used against. Functions are judged by what they do: a
closure belongs to a function type if for all values of its variables (up to 3) it accepts all arguments
of a small universe that the parameters allow, and returns what belongs to the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import cast

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.node import Record
from rlx.solver.evaluate import UndefinedError, evaluate

Assignment = Mapping[tir.Var, int]


class Value(Record):
    """Base of values."""


class Text(Value):
    """An object of no other kind."""

    text: str


class Tensor(Value):
    """A tensor, without its elements."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    device: str = "llvm"


class Shape(Value):
    """A shape value."""

    dims: tuple[int, ...]


class Prim(Value):
    """A boxed scalar."""

    dtype: str
    value: int


class Tuple(Value):
    """A tuple."""

    fields: tuple[Value, ...]


class Closure(Value):
    """A function: what it returns for some arguments, None where it refuses them."""

    name: str
    arity: int
    pure: bool
    behaviour: Callable[..., Value | None]


class Packed(Value):
    """A packed function that returns ``result``; ``obedient`` if it returns what a call's types say."""

    result: Value
    pure: bool
    obedient: bool = False


def dims_of(exprs: tuple[tir.PrimExpr, ...], point: Assignment) -> tuple[int, ...] | None:
    """The values of dimensions, None where one has none or is negative."""
    try:
        found = tuple(evaluate(e, point) for e in exprs)
    except UndefinedError:
        return None
    return found if all(d >= 0 for d in found) else None


def member(value: Value, info: StructInfo, point: Assignment) -> bool:
    """Whether ``value`` belongs to ``info`` when the free shape variables have these values."""
    match info, value:
        case ast.ObjectStructInfo(), _:
            return True
        case TensorStructInfo(), Tensor():
            return _tensor(value, info, point)
        case ShapeStructInfo(values=None, ndim=ndim), Shape(dims=dims):
            return ndim in (-1, len(dims))
        case ShapeStructInfo(values=tuple() as values), Shape(dims=dims):
            return dims_of(values, point) == dims
        case PrimStructInfo(dtype=dtype, value=None), Prim(dtype=name):
            return str(dtype) == name
        case PrimStructInfo(dtype=dtype, value=expr), Prim(dtype=name, value=number):
            assert expr is not None
            return str(dtype) == name and dims_of((expr,), point) == (number,)
        case TupleStructInfo(fields=infos), Tuple(fields=parts) if len(infos) == len(parts):
            return all(member(v, i, point) for v, i in zip(parts, infos, strict=True))
        case FuncStructInfo(params=None), Packed():
            return _packed(value, info, point)
        case FuncStructInfo(params=None), Closure():
            return _called_blindly(value, info, point)
        case FuncStructInfo(params=tuple()), Closure():
            return _closure(value, info, point)
    return False


def _tensor(value: Tensor, info: TensorStructInfo, point: Assignment) -> bool:
    said = info.shape
    if isinstance(said, ast.Var):
        said_info = said.struct_info_annotation
        assert isinstance(said_info, ShapeStructInfo) and said_info.values is not None
        said = ShapeExpr(said_info.values)
    return (
        (info.dtype.is_void or str(info.dtype) == value.dtype)
        and info.ndim in (-1, len(value.shape))
        and (info.vdevice is None or info.vdevice.target == value.device)
        and (said is None or dims_of(cast(ShapeExpr, said).values, point) == value.shape)
    )


def _packed(value: Packed, info: FuncStructInfo, point: Assignment) -> bool:
    if info.purity and not value.pure:
        return False
    if info.derive_func == "default":
        return value.obedient
    return info.derive_func == "empty" or member(value.result, info.ret, point)


def _closure(value: Closure, info: FuncStructInfo, point: Assignment) -> bool:
    assert info.params is not None
    if value.arity != len(info.params) or (info.purity and not value.pure):
        return False
    for inner in assignments(info.binders, point):
        allowed = [[a for a in ARGUMENTS if member(a, p, inner)] for p in info.params]
        for args in product(*allowed):
            result = value.behaviour(*args)
            if result is None or not member(result, info.ret, inner):
                return False
    return True


def _called_blindly(value: Closure, info: FuncStructInfo, point: Assignment) -> bool:
    """A closure of which callers know nothing: whatever it is given, what it yields is what they expect."""
    if (info.purity and not value.pure) or info.derive_func == "default":
        return False
    if info.derive_func == "empty":
        return True
    results = (value.behaviour(*args) for args in product(ARGUMENTS, repeat=value.arity))
    return all(result is None or member(result, info.ret, point) for result in results)


def assignments(
    variables: tuple[tir.Var, ...], base: Assignment, numbers: tuple[int, ...] = (1, 2, 3)
) -> Iterator[dict[tir.Var, int]]:
    """All ways to give the variables small values."""
    for values in product(numbers, repeat=len(variables)):
        yield {**base, **dict(zip(variables, values, strict=True))}


def _tensors(numbers: tuple[int, ...], ranks: int) -> Iterator[tuple[int, ...]]:
    for rank in range(ranks + 1):
        yield from product(numbers, repeat=rank)


ARGUMENTS: tuple[Value, ...] = (
    *(Tensor(s) for s in _tensors((1, 2, 3), 2)),
    *(Tensor(s, "int8") for s in ((), (2,), (3, 1))),
    Tensor((2,), "float32", "cuda"),
    *(Shape(s) for s in _tensors((1, 2), 2)),
    *(Prim("int64", i) for i in (1, 2)),
    Tuple((Tensor((2,)), Tensor((3,)))),
    Tuple((Tensor((2,)), Tensor((2,)))),
    Text("x"),
)
"""What closures are tried on."""


def first(*args: Value) -> Value | None:
    """Return the first argument."""
    return args[0]


def first_tensor(*args: Value) -> Value | None:
    """Return the first argument, which has to be a tensor."""
    return args[0] if isinstance(args[0], Tensor) else None


def vector(*args: Value) -> Value | None:
    """Return the first argument, which has to be of rank 1."""
    return args[0] if isinstance(args[0], Tensor) and len(args[0].shape) == 1 else None


def doubled(*args: Value) -> Value | None:
    """A tensor of twice the length of the first argument."""
    head = args[0]
    if isinstance(head, Tensor) and len(head.shape) == 1:
        return Tensor((2 * head.shape[0],), head.dtype, head.device)
    return None


def square(*args: Value) -> Value | None:
    """The length of a square matrix, as a vector."""
    head = args[0]
    if isinstance(head, Tensor) and len(head.shape) == 2 and head.shape[0] == head.shape[1]:
        return Tensor((head.shape[0],), head.dtype, head.device)
    return None


def rows(*args: Value) -> Value | None:
    """The number of rows of a matrix, as a vector."""
    head = args[0]
    if isinstance(head, Tensor) and len(head.shape) == 2:
        return Tensor((head.shape[0],), head.dtype, head.device)
    return None


def last_vector(*args: Value) -> Value | None:
    """Return the last argument, which has to be of rank 1."""
    return vector(args[-1])


def of_length(*args: Value) -> Value | None:
    """A vector of the length that a scalar or a shape value says."""
    match args[0]:
        case Prim(value=length) | Shape(dims=(length,)):
            return Tensor((length,))
    return None


def same_length(*args: Value) -> Value | None:
    """The last of some vectors of one length."""
    shapes = {a.shape if isinstance(a, Tensor) else None for a in args}
    return args[-1] if len(shapes) == 1 and None not in shapes else None


def constant(value: Value) -> Callable[..., Value | None]:
    """Return one value whatever the arguments."""

    def behaviour(*args: Value) -> Value | None:
        return value

    return behaviour


_BEHAVIOURS = (
    first,
    first_tensor,
    vector,
    doubled,
    square,
    rows,
    last_vector,
    of_length,
    same_length,
)

FUNCTIONS: tuple[Value, ...] = (
    *(
        Closure(f.__name__, arity, pure, f)
        for f in _BEHAVIOURS
        for arity in (1, 2)
        for pure in (True, False)
    ),
    Closure("constant", 1, True, constant(Tensor((2,)))),
    Closure("constant", 2, True, constant(Tensor((2,), "int8"))),
    Closure("nothing", 0, True, constant(Tuple(()))),
    Packed(Tensor((2,)), False),
    Packed(Tensor((3,)), True),
    Packed(Shape((2,)), True, True),
    Packed(Text("y"), False, True),
)

VALUES: tuple[Value, ...] = (
    *(Tensor(s) for s in _tensors((0, 1, 2, 3, 4), 2)),
    *(Tensor(s, "int8") for s in _tensors((1, 2, 3, 4), 2)),
    *(Tensor(s, "float32", "cuda") for s in _tensors((1, 2, 3), 2)),
    *(Tensor(s, "int8", "cuda") for s in _tensors((1, 2, 3), 2)),
    *(Shape(s) for s in _tensors((0, 1, 2, 3, 4), 2)),
    *(Prim("int64", i) for i in range(7)),
    Prim("float32", 2),
    Text("x"),
    Tuple(()),
    *(Tuple((Tensor((a,)), Tensor((b,)))) for a in range(4) for b in range(7)),
    *(Tuple((Tensor((a,)),)) for a in range(4)),
    Tuple((Tensor((2, 2)), Text("x"))),
    Tuple((FUNCTIONS[0],)),
    *FUNCTIONS,
)
"""Values enough to tell the annotations of the tests apart."""
