"""A call on its own: arguments are given by their struct info, and what the rule says is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    Constant,
    Expr,
    FuncStructInfo,
    ObjectStructInfo,
    PrimValue,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    Var,
)
from rlx.grammar.nodes.dtype import VOID, dtype
from rlx.operators import lookup
from rlx.operators.context import Message, OperatorContext, Place
from rlx.spec.registry import refuted

n, m, k = tir.Var("n"), tir.Var("m"), tir.Var("k")


def prim(value: int | tir.PrimExpr) -> tir.PrimExpr:
    return value if isinstance(value, tir.PrimExpr) else tir.IntImm(value)


def times(a: int | tir.PrimExpr, b: int | tir.PrimExpr) -> tir.PrimExpr:
    return tir.Mul(prim(a), prim(b))


def plus(a: int | tir.PrimExpr, b: int | tir.PrimExpr) -> tir.PrimExpr:
    return tir.Add(prim(a), prim(b))


def half(a: tir.PrimExpr) -> tir.PrimExpr:
    return tir.FloorDiv(a, prim(2))


def tensor(
    shape: Sequence[int | tir.PrimExpr] | Var | None = None, kind: str = "float32", ndim: int = -1
) -> TensorStructInfo:
    """A tensor's struct info; without a shape only its rank (or not even that) is known."""
    if isinstance(shape, Var):
        info = shape.struct_info_annotation
        assert isinstance(info, ShapeStructInfo)
        return TensorStructInfo(shape, dtype(kind), info.ndim)
    if shape is None:
        return TensorStructInfo(None, dtype(kind), ndim)
    return TensorStructInfo(ShapeExpr(tuple(map(prim, shape))), dtype(kind), len(shape))


def shape(values: Sequence[int | tir.PrimExpr] | None = None, ndim: int = -1) -> ShapeStructInfo:
    if values is None:
        return ShapeStructInfo(None, ndim)
    return ShapeStructInfo(tuple(map(prim, values)), len(values))


def variable(info: StructInfo, name: str = "x") -> Var:
    return Var(name, info)


def constant(value: Any, kind: str) -> Constant:
    sizes: list[int] = []
    inner = value
    while isinstance(inner, tuple):
        sizes.append(len(inner))
        inner = inner[0] if inner else None
    return Constant(ast.Literal(value, dtype(kind), tuple(sizes)))


def argument(value: Any) -> Expr:
    """A positional argument: struct info stands for a variable, numbers and tuples for themselves."""
    match value:
        case Expr():
            return value
        case StructInfo():
            return variable(value)
        case None:
            return ast.Call(ast.op("relax.null_value"), ())
        case bool():
            return PrimValue(tir.IntImm(int(value), dtype("bool")))
        case int() | tir.PrimExpr():
            return PrimValue(prim(value))
        case float():
            return PrimValue(tir.FloatImm(value))
        case str():
            return ast.StringImm(value)
        case tuple() | list():
            return ast.Tuple(tuple(argument(item) for item in value))
    raise TypeError(f"no argument: {value!r}")


class Recorder(OperatorContext):
    """Remembers what is said; variables carry their struct info."""

    def __init__(
        self, functions: dict[ast.GlobalVar, tir.PrimFunc | FuncStructInfo] | None = None
    ) -> None:
        super().__init__()
        self.required = 0
        self.context = self.prover.context
        self.reports: list[tuple[str, str, str]] = []
        self.places: list[Place] = []
        self.functions = functions or {}
        self.poison: set[Expr] = set()
        self.fresh: list[tir.Var] = []
        self.values: dict[Var, Expr] = {}

    def bound(self, var: Var) -> Expr | None:
        return self.values.get(var)

    def vdevices(self) -> Sequence[tuple[str, int]]:
        return (("llvm", 0), ("cuda", 0))

    def poisoned(self, expr: Expr) -> bool:
        return expr in self.poison

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        refuted(code)
        self.reports.append((code, severity, message))
        self.places.append(at)

    def require(
        self,
        code: str,
        conditions: Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        self.required += 1
        whole = reduce(tir.And, conditions)
        verdict = self.prover.always(whole)
        if verdict.status == "proved":
            return True
        never = self.prover.never(whole).status == "proved"
        unknown = "note" if verdict.status == "unknown" else "warning"
        self.report(code, "error" if never else unknown, message(), at)
        return not never

    def fresh_dim(self, hint: str) -> tir.Var:
        var = super().fresh_dim(hint)
        self.fresh.append(var)
        return var

    def global_info(self, gv: ast.GlobalVar) -> FuncStructInfo | None:
        found = self.functions.get(gv)
        if isinstance(found, tir.PrimFunc):
            return FuncStructInfo((), ObjectStructInfo())
        return found

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        found = self.functions.get(gv)
        return found if isinstance(found, tir.PrimFunc) else None


class Derived:
    """The result of a call, and what was said about it."""

    def __init__(self, info: StructInfo, recorder: Recorder) -> None:
        self.info = info
        self.recorder = recorder
        self.reports = recorder.reports

    @property
    def codes(self) -> list[str]:
        return [code for code, _, _ in self.reports]

    @property
    def severities(self) -> list[str]:
        return [severity for _, severity, _ in self.reports]

    @property
    def message(self) -> str:
        """The one message."""
        (report,) = self.reports
        return report[2]

    def __str__(self) -> str:
        from rlx.grammar.print.printer import show

        return show(self.info)


def derive(
    name: str,
    *args: Any,
    types: Sequence[StructInfo] = (),
    recorder: Recorder | None = None,
    **attrs: Any,
) -> Derived:
    """Derive a call of ``relax.name``."""
    operator = lookup(f"relax.{name}")
    assert operator is not None, name
    recorder = recorder or Recorder()
    call = ast.Call(ast.op(f"relax.{name}"), tuple(map(argument, args)), attrs, tuple(types))
    return Derived(operator.derive(call, recorder), recorder)


def legal(name: str, *args: Any, **attrs: Any) -> str:
    """The struct info of a call that nothing is said about."""
    found = derive(name, *args, **attrs)
    assert found.reports == []
    return str(found)


__all__ = [
    "VOID",
    "Derived",
    "Recorder",
    "argument",
    "constant",
    "derive",
    "half",
    "k",
    "legal",
    "m",
    "n",
    "plus",
    "prim",
    "shape",
    "tensor",
    "times",
    "variable",
]
