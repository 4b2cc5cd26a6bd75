"""The run-time check of values against annotations: casts, entries of functions, returns
(E-cast).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any, NoReturn

from rlx.grammar.nodes import ast, tir
from rlx.semantics.faults import Stop
from rlx.semantics.struct_info_of import number_at
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
from rlx.solver.order.demands import KINDS, Demand, Path, demands, every, sizes
from rlx.spec.registry import refuted, rule

Point = Mapping[tir.Var, int]


class CastFailed(Exception):
    """A check failed.

    Attributes
    ----------
    code
        The premise of E-cast that failed.
    path
        The path inside the value: ``("argument 0", "field 1", "dimension 2")``.
    expected, found
        Both sides as text.
    value
        The whole checked value.
    """

    value: Value | None = None

    def __init__(self, code: str, path: Path, expected: str, found: str) -> None:
        where = ", ".join(path)
        super().__init__(f"{where + ': ' if where else ''}expected {expected}, found {found}")
        self.code = code
        self.path = path
        self.expected = expected
        self.found = found


def check(
    values: Sequence[Value],
    infos: Sequence[ast.StructInfo],
    known: Point,
    shapes: Mapping[ast.Var, Sequence[int]] | None = None,
) -> dict[tir.Var, int]:
    """Check values against annotations, all together, and bind their shape variables. Raises
    CastFailed if a value does not match its annotation.

    Parameters
    ----------
    values, infos
        The values and their annotations: the arguments of a call, or the value of a cast or a
        return.
    known
        The known numbers of shape variables.
    shapes
        The shapes held by variables that annotations give as the shapes of tensors.

    Returns
    -------
    dict
        ``known`` with the variables that were bound.
    """
    return compare(values, [demands(info) for info in infos], known, shapes)


@rule("E-cast", "check of values")
def compare(
    values: Sequence[Value],
    wanted: Sequence[Sequence[Demand]],
    known: Point,
    shapes: Mapping[ast.Var, Sequence[int]] | None = None,
) -> dict[tir.Var, int]:
    """Compare values with the parts of their annotations; see :func:`check`."""
    point: dict[tir.Var, Any] = dict(known)
    for value, found in zip(values, wanted, strict=True):
        for demand in every(found):
            if (
                isinstance(demand.wanted, tir.Var)
                and (number := number_at(value, demand)) is not None
            ):
                point.setdefault(demand.wanted, number)
    comparison = _Comparison(point, shapes or {})
    for at, (value, found) in enumerate(zip(values, wanted, strict=True)):
        comparison.outer = (f"argument {at}",) if len(values) > 1 else ()
        try:
            comparison.all_hold(value, found)
        except CastFailed as failed:
            failed.value = value
            raise
    return point


def match_cast(value: Value, info: ast.StructInfo, known: Point) -> dict[tir.Var, int]:
    """Check one value like `R.match_cast`; see :func:`check`."""
    return check([value], [info], known)


class _Comparison:
    """The second phase: each demand put to the value.

    Attributes
    ----------
    outer
        Where the value stands among those that are checked together.
    """

    def __init__(self, point: Point, shapes: Mapping[ast.Var, Sequence[int]]) -> None:
        self.point = point
        self.shapes = shapes
        self.outer: Path = ()

    def all_hold(self, value: Value, found: Sequence[Demand]) -> None:
        """Put demands to a value, and those behind them to what they are about."""
        for demand in found:
            COMPARED[demand.premise](self, value, demand)
            if demand.premise == "fields" and isinstance(value, TupleValue):
                for inner in demand.then:
                    self.all_hold(value.fields[inner.fields[-1]], (inner,))
            else:
                self.all_hold(value, demand.then)

    def _kind(self, value: Value, demand: Demand) -> None:
        if type(value) not in VALUES[type(demand.wanted)] or (
            isinstance(value, Packed) and demand.wanted.params is not None
        ):
            from rlx.semantics.machine.message_text import kind

            self._fail("kind", demand, KINDS[type(demand.wanted)], kind(value))

    def _dtype(self, value: Any, demand: Demand) -> None:
        # NumPy's names of element types are those of Relax.
        if str(demand.wanted) != str(value.dtype):
            what = "a scalar" if isinstance(value, Scalar) else "elements"
            self._fail("dtype", demand, f"{what} of type {demand.wanted}", str(value.dtype))

    def _device(self, value: Any, demand: Demand) -> None:
        wanted, here = demand.wanted, value.device
        if here is not None and here != (wanted.target, wanted.index):
            device = f"the device {wanted.target}:{wanted.index}"
            self._fail("device", demand, device, f"{here[0]}:{here[1]}")

    def _rank(self, value: Any, demand: Demand) -> None:
        rank = len(_sizes_of(value))
        if rank != demand.wanted:
            self._fail("rank", demand, f"rank {demand.wanted}", f"rank {rank}")

    def _held(self, value: Any, demand: Demand) -> None:
        held = self.shapes.get(demand.wanted)
        if held is None:
            self._fail("undefined", demand, f"a shape in {demand.wanted.name_hint}", "none")
        literals = tuple(tir.IntImm(size) for size in held)
        wanted = sizes(demand.whole, len(held), literals, demand.path, demand.fields)
        self.all_hold(value, wanted)

    def _dimension(self, value: Any, demand: Demand) -> None:
        wanted, size = self._evaluated(demand), _sizes_of(value)[demand.axis]
        if wanted != size:
            self._fail("dimension", demand, str(wanted), str(size))

    def _value(self, value: Any, demand: Demand) -> None:
        wanted, number = self._evaluated(demand), value.value
        if wanted != number and not (isnan(wanted) and isnan(number)):
            self._fail("value", demand, str(wanted), str(number))

    def _fields(self, value: Any, demand: Demand) -> None:
        if len(value.fields) != demand.wanted:
            self._fail("fields", demand, f"{demand.wanted} fields", str(len(value.fields)))

    def _function(self, value: Value, demand: Demand) -> None:
        """Compare a known closure with the expected type: it must be such a function for every
        call.
        """
        from rlx.semantics.struct_info_of import struct_info_of
        from rlx.solver.order import compatibility, rename_apart, substitute
        from rlx.solver.prover import Prover

        if isinstance(value, Packed):
            return
        info = demand.wanted
        numbers = {var: tir.IntImm(number, var.dtype) for var, number in self.point.items()}
        given, wanted = struct_info_of(value), substitute(info, numbers)
        assert isinstance(given, ast.FuncStructInfo)
        if info.params is None and info.derive_func is None:
            # What this very closure yields is known, whatever it is given.
            given = ast.FuncStructInfo(None, rename_apart(given).ret, given.purity)
        found = compatibility(given, wanted, Prover())
        match found.kind, found.reason:
            case "compatible", _:
                return
            case _, object(code="COMPAT-opaque-derivation") if info.derive_func is not None:
                return
        self._fail("function", demand, "a function of that type", found.message)

    def _evaluated(self, demand: Demand) -> int | float:
        expr = demand.wanted
        if isinstance(expr, tir.FloatImm):
            return expr.value
        try:
            if any(tir.type_of(node).is_float for node in tir.postorder(expr)):
                return _with_floats(expr, self.point)
            return evaluate(expr, self.point, int64=True)
        except (UndefinedError, Stop) as error:
            self._fail("undefined", demand, "a number", str(error))

    def _fail(self, premise: str, demand: Demand, expected: str, found: str) -> NoReturn:
        code = f"E-cast-{premise}"
        refuted(code)
        raise CastFailed(code, self.outer + demand.path, expected, found)


def _with_floats(expr: tir.PrimExpr, point: Point) -> int | float:
    from rlx.semantics.machine.prim_exprs import value_at

    found: int | float = value_at(expr, point)
    return found


def _sizes_of(value: Tensor | ShapeValue) -> tuple[int, ...]:
    return value.values if isinstance(value, ShapeValue) else value.shape


VALUES: dict[type[ast.StructInfo], tuple[type[Value], ...]] = {
    ast.TensorStructInfo: (Tensor,),
    ast.ShapeStructInfo: (ShapeValue,),
    ast.PrimStructInfo: (Scalar,),
    ast.TupleStructInfo: (TupleValue,),
    ast.FuncStructInfo: (Closure, PrimFuncValue, Packed),
}
"""The values of each kind."""
COMPARED: dict[str, Callable[[_Comparison, Any, Demand], None]] = {
    "kind": _Comparison._kind,
    "dtype": _Comparison._dtype,
    "device": _Comparison._device,
    "rank": _Comparison._rank,
    "held": _Comparison._held,
    "dimension": _Comparison._dimension,
    "value": _Comparison._value,
    "fields": _Comparison._fields,
    "function": _Comparison._function,
}
"""The method that makes each kind of comparison."""
