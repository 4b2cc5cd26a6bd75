"""What the rules say of calls, and what the calls give, that were picked because each notices a change of the code.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/operators/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.operators.test_same_picked 3000 300 --room operators` adds other calls.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from rlx.checker.check import Report, check_text
from rlx.grammar import ast, tir
from rlx.grammar.ast import StructInfo, TensorStructInfo
from rlx.grammar.dtype import dtype
from rlx.grammar.printer import show
from rlx.grammar.visit import walk
from rlx.operators.context import Place
from rlx.operators.evaluation import OperatorFault, Plain, numpy_dtype
from rlx.operators.foreign_names import own_name, own_parameters
from rlx.operators.reference import described
from rlx.operators.registry import (
    every_name,
    is_built_in,
    is_known,
    is_listed_prefix,
    lookup,
    similar,
)
from rlx.operators.site import CallAlone
from rlx.solver.evaluate import evaluate
from tests.hostile.damage import damaged, tokens
from tests.operators.spoiled import prim_call, spoiled, strange_name
from tests.snapshots import assert_picked

PARTS = 40
POINTS = ((4, 3, 2), (2, 5, 3), (1, 1, 1), (3, 0, 2), (8, 4, 5))
SHOWN = 40
"""Elements of a value that are shown."""


def pool(random: Random) -> str:
    """A call of an operator or a PrimFunc, sometimes with a damaged token; a name."""
    chance = random.random()
    if chance < 0.04:
        return json.dumps(strange_name(random, random.choice(every_name())))
    text = prim_call(random) if chance < 0.2 else spoiled(random)
    if random.random() < 0.1:
        text = damaged(text, tokens(text), random)
    return text


def answers(text: str) -> str:
    """All that is said of a call, what is concluded, and what it gives; or what is known of a name."""
    return "\n".join(
        _of_name(json.loads(text)) if text[:1] == '"' and "\n" not in text else _of_call(text)
    )


def _of_name(name: str) -> Iterator[str]:
    full = f"relax.{name}"
    yield f"{similar(name)} {similar(full)} {own_name(name)} {own_parameters(name)}"
    yield f"{is_known(full)} {is_listed_prefix(name)} {is_built_in(full)} {described(name)}"
    operator = lookup(full)
    if operator is not None:
        yield f"{operator!r} {operator.can_evaluate} {operator.has_form} {operator.pure}"


def _of_call(text: str) -> Iterator[str]:
    report = check_text(text)
    yield f"{report} {report.obligations}"
    for found in report.diagnostics:
        yield f"{found.span} {found.help} {found.related} {found.edit} {found.notes}"
    for node, info in report.info.items():
        yield f"{type(node).__name__} {show(info)} {getattr(info, 'vdevice', None)}"
    yield from map(str, report.modules)
    for module in report.modules:
        for function in module.functions.values():
            if isinstance(function, ast.Function):
                yield from _alone(function)
    if report.ok:
        for module in report.modules:
            for function in module.functions.values():
                if isinstance(function, ast.Function):
                    yield from Run(report, text).results(function)


class Alone(CallAlone):
    """What is said of a call of which no module is known."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        self.told.append(f"{severity} {code} {message} {at} {sorted(extra)}")


def _alone(function: ast.Function) -> Iterator[str]:
    """What the rules conclude of each call by what its operands' annotations say."""
    for node in walk(function):
        if isinstance(node, ast.Call) and isinstance(node.op, ast.Op):
            operator = lookup(node.op.op_name)
            if operator is not None:
                context = Alone()
                found = show(operator.derive(node, context))
                normal = operator.normalize(node) if operator.has_form else None
                yield f"{found} {context.told} {context.discharged} {normal}"


class _NoValue(Exception):
    """Something that is not evaluated here."""


class Run:
    """Values of a function's bindings, for parameters that are made of the text."""

    def __init__(self, report: Report, text: str) -> None:
        self.report = report
        seed = zlib.crc32(text.encode())
        self.random = np.random.default_rng(seed)
        self.point = dict(zip("nmk", POINTS[seed % len(POINTS)], strict=True))
        self.awkward = seed % 3 == 0
        self.values: dict[ast.Expr, Plain] = {}
        self.info: StructInfo | None = None

    def results(self, function: ast.Function) -> Iterator[str]:
        """What each binding gives, up to one that is not evaluated."""
        try:
            for param in function.params:
                self.values[param] = self._made(param.struct_info_annotation)
            assert isinstance(function.body, ast.SeqExpr)
            for block in function.body.blocks:
                for binding in block.bindings:
                    if not isinstance(binding, ast.VarBinding):
                        raise _NoValue(type(binding).__name__)
                    self.values[binding.var] = value = self.value(binding.value)
                    yield f"= {plain(value)}"
        except (_NoValue, OperatorFault) as end:
            yield f"{type(end).__name__} {getattr(end, 'code', '')} {end}"
        except Exception as end:  # noqa: BLE001 - the machine asks the rule again then, with all shapes
            yield type(end).__name__

    def _made(self, info: StructInfo | None) -> Plain:
        match info:
            case TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
                sizes = tuple(self.random.choice([2, 2, 2, 1, 3], max(ndim, 0)).tolist())
                if isinstance(shape, ast.ShapeExpr):
                    sizes = tuple(max(int(self.prim(dim)), 0) for dim in shape.values)
                return self._array(sizes, "float32" if kind.is_void else str(kind))
            case ast.ShapeStructInfo(values=values):
                return tuple(int(self.prim(dim)) for dim in values or ())
            case ast.PrimStructInfo(value=value):
                return 2 if value is None else self.prim(value)
            case ast.TupleStructInfo(fields=fields):
                return tuple(map(self._made, fields))
        return self._array((2, 2), "float32")

    def _array(self, sizes: tuple[int, ...], kind: str) -> Any:
        found = numpy_dtype(dtype(kind))
        if kind == "bool":
            return self.random.integers(0, 2, sizes).astype(bool)
        if "int" in kind:
            low = -2 if self.awkward and not kind.startswith("u") else 0
            return (
                self.random.integers(low, 4 if self.awkward else 2, sizes)
                .astype(np.int8)
                .astype(found)
            )
        quarters = self.random.integers(-8 if self.awkward else 1, 9, sizes) / 4
        if self.awkward:
            quarters = np.where(self.random.random(sizes) < 0.1, np.nan, quarters)
            quarters = np.where(self.random.random(sizes) < 0.1, -np.inf, quarters)
        with np.errstate(all="ignore"):
            return quarters.astype(found)

    def prim(self, expr: tir.PrimExpr) -> int | float | bool:
        """The number of an expression."""
        if isinstance(expr, tir.FloatImm):
            return expr.value
        try:
            return evaluate(expr, {var: self.point.get(var.name, 2) for var in tir.free_vars(expr)})
        except (ArithmeticError, TypeError, ValueError, KeyError) as error:
            raise _NoValue(str(error)) from None

    def value(self, expr: ast.Expr) -> Plain:
        """The value of an expression."""
        match expr:
            case ast.Var() if expr in self.values:
                return self.values[expr]
            case ast.Constant(data=data) if data.value is not None:
                return np.array(data.value, dtype=numpy_dtype(data.dtype))
            case ast.PrimValue(value=inner):
                return self.prim(inner)
            case ast.StringImm(value=text):
                return text
            case ast.Tuple(fields=fields):
                return tuple(map(self.value, fields))
            case ast.ShapeExpr(values=dims):
                return tuple(int(self.prim(dim)) for dim in dims)
            case ast.DataTypeImm(value=kind):
                return kind
            case ast.TupleGetItem(tuple_value=inner, index=index):
                return self.value(inner)[index]
            case ast.Call(op=ast.Op(op_name="relax.null_value")):
                return None
            case ast.Call(op=ast.Op(op_name=name), args=args):
                operator = lookup(name)
                if operator is not None and operator.can_evaluate:
                    self.info = self.report.info.get(expr)
                    return operator.evaluate(expr, list(map(self.value, args)), self)
        raise _NoValue(type(expr).__name__)


def plain(value: Plain) -> str:
    """A value to two digits: the last ones are not the same on all processors."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(plain, value))})"
    if not isinstance(value, np.ndarray | np.generic):
        return f"{value:.3g}" if isinstance(value, float) else repr(value)
    wide = np.asarray(value).reshape(-1)
    shown = wide[:: 1 + wide.size // SHOWN]
    if "int" in str(wide.dtype) or wide.dtype == bool:
        numbers = [str(int(each)) for each in shown]
    else:
        numbers = [f"{float(each):.2g}" for each in shown]
    return f"{wide.dtype}{np.shape(value)} {' '.join(numbers)}"


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_calls(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
