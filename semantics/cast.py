"""The run-time check of values against annotations: casts, entries of functions, returns (E-cast)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NoReturn

from rlx.grammar import ast, tir
from rlx.semantics.values import (
    Closure,
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.spec.registry import refuted, rule

Point = Mapping[tir.Var, int]
Path = tuple[str, ...]


class CheckFailed(Exception):
    """A check said no.

    Attributes
    ----------
    code
        The premise of E-cast that failed.
    path
        Where inside of the value: ``("argument 0", "field 1", "dimension 2")``.
    expected, found
        Both sides, in words.
    value
        The value that was checked, whole.
    """

    value: Value | None = None

    def __init__(self, code: str, path: Path, expected: str, found: str) -> None:
        where = ", ".join(path)
        super().__init__(f"{where + ': ' if where else ''}expected {expected}, found {found}")
        self.code = code
        self.path = path
        self.expected = expected
        self.found = found


@rule("E-cast", "9a58b5dc")
def check(
    values: Sequence[Value],
    infos: Sequence[ast.StructInfo],
    known: Point,
    shapes: Mapping[ast.Var, Sequence[int]] | None = None,
) -> dict[tir.Var, int]:
    """Check values against annotations, all together, and bind their shape variables.

    Parameters
    ----------
    values, infos
        A value and its annotation each: the arguments of a call, or one of a cast or a return.
    known
        The numbers of the shape variables that have one.
    shapes
        The shapes that variables standing for a tensor's shape hold.

    Returns
    -------
    dict
        ``known`` with the variables that were bound.

    Raises
    ------
    CheckFailed
        If a value does not fit.
    """
    point: dict[tir.Var, Any] = dict(known)
    paths = [(f"argument {at}",) if len(values) > 1 else () for at in range(len(values))]
    for value, info in zip(values, infos, strict=True):
        for expr, number in _positions(value, info):
            if isinstance(expr, tir.Var):
                point.setdefault(expr, number)
    comparison = _Comparison(point, shapes or {})
    for value, info, path in zip(values, infos, paths, strict=True):
        try:
            comparison.compare(value, info, path)
        except CheckFailed as failed:
            failed.value = value
            raise
    return point


def match_cast(value: Value, info: ast.StructInfo, known: Point) -> dict[tir.Var, int]:
    """Check one value, as `R.match_cast` does; see :func:`check`."""
    return check([value], [info], known)


def _positions(value: Value, info: ast.StructInfo) -> Iterator[tuple[tir.PrimExpr, int | float]]:
    """Dimensions and values of an annotation with the numbers they meet."""
    match info, value:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)), Tensor(shape=sizes):
            yield from zip(dims, sizes, strict=False)
        case ast.ShapeStructInfo(values=dims), ShapeValue(values=sizes) if dims is not None:
            yield from zip(dims, sizes, strict=False)
        case ast.PrimStructInfo(value=expr), Scalar(value=number) if expr is not None:
            yield expr, number
        case ast.TupleStructInfo(fields=infos), TupleValue(fields=fields):
            for field, inner in zip(fields, infos, strict=False):
                yield from _positions(field, inner)


class _Comparison:
    """The second phase."""

    def __init__(self, point: Point, shapes: Mapping[ast.Var, Sequence[int]]) -> None:
        self.point = point
        self.shapes = shapes

    def compare(self, value: Value, info: ast.StructInfo, path: Path) -> None:
        """Compare a value with its annotation."""
        match info, value:
            case ast.ObjectStructInfo(), _:
                return
            case ast.TensorStructInfo(), Tensor():
                self._tensor(value, info, path)
            case ast.ShapeStructInfo(), ShapeValue():
                self._dimensions(value.values, info.ndim, info.values, path)
            case ast.PrimStructInfo(), Scalar():
                self._scalar(value, info, path)
            case ast.TupleStructInfo(), TupleValue():
                self._tuple(value, info, path)
            case ast.FuncStructInfo(params=None), Packed():
                return
            case ast.FuncStructInfo(), Closure() | PrimFuncValue():
                self._function(value, info, path)
            case _:
                from rlx.semantics.machine.words import kind

                _fail("E-cast-kind", path, _KINDS[type(info)], kind(value))

    def _tensor(self, value: Tensor, info: ast.TensorStructInfo, path: Path) -> None:
        if not info.dtype.is_void and str(info.dtype) != value.dtype:
            _fail("E-cast-dtype", path, f"elements of type {info.dtype}", value.dtype)
        device = info.vdevice
        here = value.device
        if device is not None and here is not None and here != (device.target, device.index):
            found = f"{here[0]}:{here[1]}"
            _fail("E-cast-device", path, f"the device {device.target}:{device.index}", found)
        shape = info.shape
        if isinstance(shape, ast.Var):
            held = self.shapes.get(shape)
            if held is None:
                _fail("E-cast-undefined", path, f"a shape in {shape.name_hint}", "none")
            self._dimensions(value.shape, info.ndim, None, path)
            literals = tuple(tir.IntImm(size) for size in held)
            self._dimensions(value.shape, len(held), literals, path)
        else:
            dims = shape.values if isinstance(shape, ast.ShapeExpr) else None
            self._dimensions(value.shape, info.ndim, dims, path)

    def _dimensions(
        self,
        sizes: tuple[int, ...],
        ndim: int,
        dims: tuple[tir.PrimExpr, ...] | None,
        path: Path,
    ) -> None:
        if ndim not in (-1, len(sizes)):
            _fail("E-cast-rank", path, f"rank {ndim}", f"rank {len(sizes)}")
        for at, (dim, size) in enumerate(zip(dims or (), sizes, strict=False)):
            wanted = self._number(dim, (*path, f"dimension {at}"))
            if wanted != size:
                _fail("E-cast-dimension", (*path, f"dimension {at}"), str(wanted), str(size))

    def _scalar(self, value: Scalar, info: ast.PrimStructInfo, path: Path) -> None:
        if info.dtype != value.dtype:
            _fail("E-cast-dtype", path, f"a scalar of type {info.dtype}", str(value.dtype))
        if info.value is not None:
            wanted = self._number(info.value, path)
            if wanted != value.value and not (isnan(wanted) and isnan(value.value)):
                _fail("E-cast-value", path, str(wanted), str(value.value))

    def _tuple(self, value: TupleValue, info: ast.TupleStructInfo, path: Path) -> None:
        if len(value.fields) != len(info.fields):
            wanted = f"{len(info.fields)} fields"
            _fail("E-cast-fields", path, wanted, f"{len(value.fields)}")
        for at, (field, inner) in enumerate(zip(value.fields, info.fields, strict=True)):
            self.compare(field, inner, (*path, f"field {at}"))

    def _function(self, value: Value, info: ast.FuncStructInfo, path: Path) -> None:
        """What is known of a closure against what is expected: it must be such a function for every call."""
        from rlx.semantics.run_time import struct_info_of
        from rlx.solver.order import compatibility, rename_apart, substitute
        from rlx.solver.order.subtype import says_nothing
        from rlx.solver.prover import Prover

        if says_nothing(info):
            return
        numbers = {var: tir.IntImm(number, var.dtype) for var, number in self.point.items()}
        given, wanted = struct_info_of(value), substitute(info, numbers)
        assert isinstance(given, ast.FuncStructInfo)
        if info.params is None and info.derive_func is None:
            # What this very closure yields is known, whatever it is given.
            given = ast.FuncStructInfo(None, rename_apart(given).ret, given.purity)
        found = compatibility(given, wanted, Prover())
        derived = found.reason is not None and found.reason.code == "COMPAT-opaque-derivation"
        if found.kind != "compatible" and not (derived and info.derive_func is not None):
            _fail("E-cast-function", path, "a function of that type", found.message)

    def _number(self, expr: tir.PrimExpr, path: Path) -> int | float:
        if isinstance(expr, tir.FloatImm):
            return expr.value
        try:
            return evaluate(expr, self.point, int64=True)
        except UndefinedError as error:
            _fail("E-cast-undefined", path, "a number", str(error))


_KINDS: dict[type, str] = {
    ast.TensorStructInfo: "a tensor",
    ast.ShapeStructInfo: "a shape",
    ast.PrimStructInfo: "a scalar",
    ast.TupleStructInfo: "a tuple",
    ast.FuncStructInfo: "a function",
}


def _fail(code: str, path: Path, expected: str, found: str) -> NoReturn:
    refuted(code)
    raise CheckFailed(code, path, expected, found)
