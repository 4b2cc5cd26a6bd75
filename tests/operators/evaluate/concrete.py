"""Calls with values: the legal calls of the table of cases, at points, with random arrays."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo
from rlx.operators import lookup
from rlx.operators.evaluation import Plain, numpy_dtype
from rlx.solver.evaluate import evaluate
from tests.operators.cases import LEGAL, Case
from tests.operators.context import Recorder, argument, k, m, n

Point = dict[tir.Var, int]
POINTS: tuple[Point, ...] = ({n: 8, m: 3, k: 5}, {n: 12, m: 11, k: 4})


class Unknown(Exception):
    """A case that leaves open what an argument is."""


class Concrete:
    """A call with values.

    Attributes
    ----------
    case
        The call with every dimension a number.
    arrays
        The values of its tensors, in order of appearance.
    """

    def __init__(self, case: Case, point: Point) -> None:
        self.point = point
        self.random = np.random.default_rng(
            zlib.crc32(repr((case, sorted(point.values()))).encode())
        )
        self.values: dict[ast.Expr, Plain] = {}
        name, args, attrs = case
        indices = INDICES.get(name, ())
        made = tuple(self._fixed(a, at in indices) for at, a in enumerate(args))
        if name == "bucketize":
            self.values = {
                var: np.sort(array, None).reshape(array.shape) for var, array in self.values.items()
            }
        if name == "multinomial_from_uniform":
            rows, *_ = self.values
            self.values[rows] = np.full_like(self.values[rows], 1 / self.values[rows].shape[-1])
        if name == "nn.attention_var_len":
            self._sequences()
        self.case: Case = (name, made, {key: self._fixed(a, False) for key, a in attrs.items()})

    def _fixed(self, value: Any, index: bool) -> Any:
        match value:
            case TensorStructInfo(shape=ast.ShapeExpr(values=dims), dtype=kind):
                if kind.is_void:
                    raise Unknown
                sizes = tuple(self._number(d) for d in dims)
                var = ast.Var(f"x{len(self.values)}", _tensor(sizes, value))
                self.values[var] = self._array(sizes, numpy_dtype(kind), index)
                return var
            case StructInfo():
                raise Unknown
            case ast.ShapeExpr(values=dims):
                return ast.ShapeExpr(tuple(tir.IntImm(self._number(d)) for d in dims))
            case ast.Constant(data=data) if data.value is not None:
                self.values[value] = np.array(data.value, dtype=numpy_dtype(data.dtype))
                return value
            case ast.Expr():
                raise Unknown
            case tir.PrimExpr():
                return self._number(value)
            case tuple() | list():
                return type(value)(self._fixed(item, index) for item in value)
        return value

    def _sequences(self) -> None:
        """Beginnings of sequences, and the greatest length: those of the queries, then those of the keys."""
        query, key, _, *vectors = self.values
        for x, starts, longest in ((query, *vectors[:2]), (key, *vectors[2:])):
            total, count = self.values[x].shape[1], self.values[starts].shape[0]
            self.values[starts] = np.linspace(0, total, count).astype(np.int32)
            self.values[longest] = np.array(total, np.int32)

    def _number(self, dim: tir.PrimExpr) -> int:
        return int(evaluate(dim, self.point))

    def _array(self, sizes: tuple[int, ...], kind: np.dtype[Any], index: bool) -> Any:
        if kind.kind == "b":
            return self.random.integers(0, 2, sizes).astype(kind)
        if kind.kind in "iu":
            # Small and positive: they may be indices, shifts, divisors.
            return self.random.integers(0 if index else 1, 2 if index else 5, sizes).astype(kind)
        return np.asarray(self.random.uniform(0.25, 0.95, sizes)).astype(kind)

    # ------------------------------------------------------------ what an evaluation asks for

    info = None

    def prim(self, expr: tir.PrimExpr) -> int | float | bool:
        if isinstance(expr, tir.FloatImm):
            return expr.value
        return evaluate(expr, self.point)

    def value(self, expr: ast.Expr) -> Plain:
        match expr:
            case ast.Var() | ast.Constant():
                return self.values[expr]
            case ast.PrimValue(value=inner):
                return self.prim(inner)
            case ast.StringImm(value=text):
                return text
            case ast.Tuple(fields=fields):
                return tuple(self.value(field) for field in fields)
            case ast.ShapeExpr(values=dims):
                return tuple(self._number(d) for d in dims)
            case ast.Call():
                return None
            case ast.DataTypeImm(value=kind):
                return kind
        raise TypeError(f"no value for {expr!r}")

    # ------------------------------------------------------------ the call

    @property
    def call(self) -> ast.Call:
        name, args, attrs = self.case
        return ast.Call(ast.op(f"relax.{name}"), tuple(map(argument, args)), attrs)

    def evaluate(self) -> Plain:
        call = self.call
        operator = lookup(f"relax.{self.case[0]}")
        assert operator is not None
        return operator.evaluate(call, [self.value(arg) for arg in call.args], self)

    def derive(self) -> StructInfo:
        operator = lookup(f"relax.{self.case[0]}")
        assert operator is not None
        return operator.derive(self.call, Recorder())


INDICES: dict[str, tuple[int, ...]] = {
    "take": (1,),
    "gather_elements": (1,),
    "gather_nd": (1,),
    "scatter_elements": (1,),
    "scatter_nd": (1,),
    "index_tensor": (1,),
    "index_put": (1,),
    "one_hot": (0,),
    "multinomial_from_uniform": (2,),
    "nn.nll_loss": (1,),
    "grad.nll_loss_backward": (2,),
    "grad.take_backward": (2,),
    "vision.non_max_suppression": (1, 2),
}
"""Which arguments hold indices."""


def _tensor(sizes: tuple[int, ...], like: TensorStructInfo) -> TensorStructInfo:
    return TensorStructInfo(
        ast.ShapeExpr(tuple(tir.IntImm(s) for s in sizes)), like.dtype, len(sizes), None
    )


def concrete(wanted: Callable[[str], bool]) -> list[Concrete]:
    """The legal cases of some operators, with values."""
    found = []
    for case in LEGAL:
        operator = lookup(f"relax.{case[0]}")
        if operator is not None and operator.compute is not None and wanted(case[0]):
            for point in POINTS:
                try:
                    found.append(Concrete(case, point))
                except Unknown:
                    break
    return found


def fits(value: Plain, info: StructInfo, point: dict[tir.Var, int]) -> str:
    """Why a value is none of an annotation; empty if it is one. Variables of the annotation take their number from it."""
    match info:
        case ast.TupleStructInfo(fields=fields):
            if not isinstance(value, tuple) or len(value) != len(fields):
                return f"expected {len(fields)} fields, found {value!r}"
            parts = (fits(v, f, point) for v, f in zip(value, fields, strict=True))
            return next((part for part in parts if part), "")
        case TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
            if not isinstance(value, np.ndarray):
                return f"expected a tensor, found {type(value).__name__}"
            if not kind.is_void and value.dtype != numpy_dtype(kind):
                return f"expected {kind}, found {value.dtype}"
            if ndim not in (-1, value.ndim):
                return f"expected rank {ndim}, found {value.shape}"
            dims = shape.values if isinstance(shape, ast.ShapeExpr) else ()
            return _sizes(dims, value.shape, point)
        case ShapeStructInfo(values=dims):
            return _sizes(dims or (), value, point)
        case PrimStructInfo(dtype=kind):
            if isinstance(value, np.generic):
                return "" if str(value.dtype) == str(kind) else f"expected {kind}, found {value!r}"
            return "" if isinstance(value, (bool, int, float)) else f"expected a number: {value!r}"
    return ""


def _sizes(dims: Any, sizes: Any, point: dict[tir.Var, int]) -> str:
    for dim, size in zip(dims, sizes, strict=False):
        if isinstance(dim, tir.Var):
            point.setdefault(dim, size)
        if evaluate(dim, point) != size:
            return f"expected {evaluate(dim, point)}, found {tuple(sizes)}"
    return ""
