"""One call before both: accepted, warned of or refused; and which of the two knows more of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.print.printer import show
from rlx.solver.evaluate import UndefinedError, evaluate
from tests.tvm.translate import Translation

from .calls import DIMENSIONS, OneCall, Written, write
from .peer import Peer, Refused

POINTS = ((8, 3, 5), (12, 11, 4), (16, 16, 9), (1, 5, 2))
"""Values of the shape variables at which dimensions are compared."""


@dataclass(frozen=True)
class Verdict:
    """The answers of both systems about a call.

    Attributes
    ----------
    kind
        ``agree``; ``silent`` (TVM refuses what we let pass), ``refused`` (the reverse), ``less`` (TVM knows more
        of the result), ``other`` (it knows something else), ``crash`` (our checker raises).
    ours, theirs
        Our code, or the struct info; TVM's message, or the type.
    """

    kind: str
    operator: str
    label: str
    text: str
    ours: str
    theirs: str


def judge(peer: Peer, call: OneCall) -> Verdict:
    """Ask both about a call."""
    return judge_text(peer, call.operator, call.label, write(call))


def judge_text(peer: Peer, operator: str, label: str, written: Written) -> Verdict:
    """Ask both about the text of a call."""
    call = (operator, label)
    try:
        severity, said, info, variables = _ours(written)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return _verdict("crash", call, written, f"{type(error).__name__}: {error}", "")
    try:
        theirs = peer.derive(written)
    except Refused as refusal:
        kind = "silent" if severity in ("none", "note") else "agree"
        return _verdict(kind, call, written, said, str(refusal))
    if severity == "error":
        return _verdict("refused", call, written, said, str(theirs))
    kind, found = _compare(peer, theirs, info, variables)
    return _verdict(kind, call, written, f"{show(info) if info else 'nothing'} {said}", found)


def judge_killed(call: OneCall, status: int) -> Verdict:
    """Our judgement of a call that killed the process: TVM refuses it, in its way."""
    written = write(call)
    severity, said, _, _ = _ours(written)
    kind = "silent" if severity in ("none", "note") else "agree"
    return _verdict(kind, (call.operator, call.label), written, said, f"killed by signal {status}")


def _verdict(kind: str, call: tuple[str, str], written: Written, ours: str, theirs: str) -> Verdict:
    params = ", ".join(f"{name}: {annotation}" for name, annotation in written.params)
    return Verdict(kind, *call, f"{params} |- {written.expr}", ours, theirs)


def _ours(written: Written) -> tuple[str, str, StructInfo | None, dict[str, tir.Var]]:
    """The worst severity and what was said, the struct info of the call, our shape variables."""
    report = check_text(written.module, "<call>")
    order = ("error", "warning", "note")
    found = sorted(report.diagnostics, key=lambda d: order.index(d.severity))
    said = f"{found[0].code}: {found[0].message}" if found else ""
    severity = found[0].severity if found else "none"
    if not report.modules:
        return severity, said, None, {}
    functions = report.modules[0].functions.values()
    (function,) = (f for f in functions if isinstance(f, ast.Function))
    variables = [b.var for b in bindings(function.body) if isinstance(b, ast.VarBinding)]
    var = variables[-1] if variables else None
    info = None if var is None else report.info.get(var)
    return severity, said, info, {v.name: v for v in function.shape_vars}


class _Holders(dict[Any, ast.Var]):
    """Some variable for every one of TVM's that holds a shape: only the rank is compared then."""

    def __missing__(self, key: Any) -> ast.Var:
        return ast.Var("shape")


def _compare(
    peer: Peer, theirs: Any, ours: StructInfo | None, variables: Mapping[str, tir.Var]
) -> tuple[str, str]:
    """``agree``, ``less`` or ``other``, and TVM's type as we write it."""
    translation = Translation()
    translation.variables = _Holders()
    for name in DIMENSIONS:
        translation.shape_vars[peer.dims[name]] = variables.get(name, tir.Var(name))
    try:
        expected = translation.info(theirs)
    except (KeyError, AttributeError, ValueError):
        return "agree", str(theirs)
    points = [
        {variables[name]: value for name, value in zip(DIMENSIONS, point, strict=True)}
        for point in POINTS
    ]
    kinds = [_order(expected, ours, point) for point in points]
    worst = next((kind for kind in ("other", "less") if kind in kinds), "agree")
    return worst, show(expected)


def _order(theirs: StructInfo, ours: StructInfo | None, point: Mapping[tir.Var, int]) -> str:
    match theirs, ours:
        case ast.ObjectStructInfo(), _:
            return "agree"
        case ast.TensorStructInfo(), ast.TensorStructInfo():
            return _tensors(theirs, ours, point)
        case ast.ShapeStructInfo(), ast.ShapeStructInfo():
            return _shapes(theirs.ndim, theirs.values, ours.ndim, ours.values, point)
        case ast.PrimStructInfo(), ast.PrimStructInfo():
            return "agree" if theirs.dtype == ours.dtype else "other"
        case ast.TupleStructInfo(fields=a), ast.TupleStructInfo(fields=b):
            if len(a) != len(b):
                return "other"
            kinds = [_order(x, y, point) for x, y in zip(a, b, strict=True)]
            return next((kind for kind in ("other", "less") if kind in kinds), "agree")
        case ast.FuncStructInfo(), ast.FuncStructInfo():
            return "agree"
        case _, ast.ObjectStructInfo() | None:
            return "less"
    return "other"


def _tensors(
    theirs: ast.TensorStructInfo, ours: ast.TensorStructInfo, point: Mapping[tir.Var, int]
) -> str:
    if theirs.dtype != ours.dtype and not theirs.dtype.is_void:
        return "less" if ours.dtype.is_void else "other"
    if theirs.vdevice is not None and theirs.vdevice != ours.vdevice:
        device = ours.vdevice
        if device is None:
            return "less"
        if (device.target, device.index) != (theirs.vdevice.target, theirs.vdevice.index):
            return "other"
    a, b = (x.shape.values if isinstance(x.shape, ast.ShapeExpr) else None for x in (theirs, ours))
    return _shapes(theirs.ndim, a, ours.ndim, b, point)


def _shapes(rank: int, a: Any, ours: int, b: Any, point: Mapping[tir.Var, int]) -> str:
    if a is not None and any(_below_zero(x, point) for x in a):
        a = None  # which says no more than the rank
    if a is None:
        if rank in (-1, ours):
            return "agree"
        return "less" if ours == -1 else "other"
    if b is None:
        return "less" if ours in (-1, len(a)) and len(a) else "agree" if ours == 0 else "other"
    if len(a) != len(b):
        return "other"
    same = all(_value(x, point) in (_value(y, point), None) for x, y in zip(a, b, strict=True))
    return "agree" if same else "other"


def _below_zero(e: tir.PrimExpr, point: Mapping[tir.Var, int]) -> bool:
    value = _value(e, point)
    return isinstance(value, int) and value < 0


def _value(e: tir.PrimExpr, point: Mapping[tir.Var, int]) -> int | str | None:
    try:
        return int(evaluate(e, point))
    except UndefinedError:
        return "undefined"
    except KeyError:
        return None
