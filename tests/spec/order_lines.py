"""Judgements about struct infos, one a line, as the examples of `spec/order.md` write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.print.printer import show
from rlx.grammar.read.parser import parse_prim_expr, parse_struct_info
from rlx.solver.context import Context
from rlx.solver.order import (
    bind,
    compatibility,
    disjoint,
    erase,
    free_shape_vars,
    glb,
    lub,
    substitute,
    subtype,
    to_type,
)
from rlx.solver.order.subtype import NotSubtype
from rlx.solver.prover import Prover

Scope = dict[str, tir.Var]


def judged(text: str) -> str:
    """The code of the premise by which a line fails, ``"false"`` where it fails by none; empty where it holds."""
    scope: Scope = {}
    for symbol, judge in _RELATIONS.items():
        if symbol in text:
            left, right = text.split(symbol)
            return judge(info(left, scope), info(right, scope))
    left, right = text.rsplit(" = ", 1)
    found = _value(left, scope)
    if found == "BIND-conflict-agree":
        return found
    wanted = right if right == "none" or ":=" in right else show(info(right, scope))
    return "" if found == wanted else "false"


def info(text: str, scope: Scope) -> ast.StructInfo:
    """A struct info; shape variables of one name are one variable on the whole line."""
    found = parse_struct_info(text.strip())
    return substitute(found, {v: scope.setdefault(v.name, v) for v in free_shape_vars(found)})


def _prover() -> Prover:
    return Prover(Context())


def _subtype(a: ast.StructInfo, b: ast.StructInfo) -> str:
    verdict = subtype(a, b, _prover())
    if verdict.proved:
        return ""
    return (
        verdict.mismatch.code if isinstance(verdict, NotSubtype) and verdict.mismatch else "false"
    )


def _fits(a: ast.StructInfo, b: ast.StructInfo) -> str:
    found = compatibility(a, b, _prover())
    return "" if found.reason is None else found.reason.code


def _meets(a: ast.StructInfo, b: ast.StructInfo) -> str:
    found = disjoint(a, b, _prover())
    if found is None:
        return ""
    assert found.reason is not None
    return found.reason.code


def _value(text: str, scope: Scope) -> str:
    """The right side of an equation: a struct info, none, or what variables are bound to."""
    for symbol, bound in ((" \\/ ", lub), (" /\\ ", glb)):
        if symbol in text:
            left, right = text.split(symbol)
            found = bound(info(left, scope), info(right, scope), _prover())
            return "none" if found is None else show(found)
    if text.startswith("erase("):
        inner, _, names = text[len("erase(") : -1].rpartition("; ")
        erased = info(inner, scope)
        return show(erase(erased, (), [scope[n] for n in names.split(", ") if n in scope]))
    if text.startswith("bind("):
        parts = text[len("bind(") : -1].split("; ")
        return _bound(parts, scope)
    if text.startswith("type("):
        return show(to_type(info(text[len("type(") : -1], scope)))
    inner, _, put = text.removesuffix("]").rpartition("[")
    name, _, image = put.partition(" := ")
    target = info(inner, scope)
    return show(substitute(target, {scope[name]: parse_prim_expr(image, dict(scope))}))


def _bound(parts: Sequence[str], scope: Scope) -> str:
    """Parameters and arguments in turn; the variables of the parameters are bound."""
    params = [info(part, scope) for part in parts[::2]]
    binders = list(dict.fromkeys(v for param in params for v in free_shape_vars(param)))
    args = [info(part, {}) for part in parts[1::2]]
    found = bind(params, args, binders, _prover())
    if found.conflicts:
        return "BIND-conflict-agree"
    return ", ".join(f"{show(v)} := {show(image)}" for v, image in found.mapping.items()) or "none"


_RELATIONS: dict[str, Callable[[ast.StructInfo, ast.StructInfo], str]] = {
    " <: ": _subtype,
    " fits ": _fits,
    " meets ": _meets,
}
