"""Argument checks of the prover's functions; each error names the expected and the actual value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import NoReturn

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs

_SHOWN = 60

DIGITS = 4000
"""The decimal digits of the longest number; Python writes none of more than 4300."""
_BEYOND: int = 10**DIGITS


def too_long(value: int) -> bool:
    """Whether a number has more digits than are read and written."""
    return abs(value) >= _BEYOND


def described(value: object) -> str:
    """A value with its type, in a few words: ``str 'n + 1'``."""
    if isinstance(value, tir.Var):
        return f"the variable {value.name}"
    if isinstance(value, PrimExpr):
        from rlx.solver.expression_text import show

        return f"the expression {show(value):.{_SHOWN}}"
    if value is None:
        return "None"
    return f"{type(value).__name__} {value!r:.{_SHOWN}}"


def expression(value: object) -> NoReturn:
    """Say that a value is not an expression.

    Raises
    ------
    TypeError
        Always.
    """
    advice = f"; {COMPARED}" if isinstance(value, bool) else ""
    raise TypeError(
        "expected an expression, as a text, a PrimExpr or one of TVM, found"
        f" {described(value)}{advice}"
    )


COMPARED = (
    "== and != between nodes compare identity and give a bool: write tir.EQ(a, b) or tir.NE(a, b),"
    " or the condition as a text"
)
"""The spelling of a comparison that Python would evaluate immediately."""


def condition(found: PrimExpr) -> None:
    """Check that an expression is a condition. Raises TypeError if it is something else, such as an
    integer.
    """
    if not prim_exprs.may_be_condition(found):
        raise TypeError(no_condition(found))


def no_condition(found: PrimExpr) -> str:
    """The message for a number where a condition is expected."""
    from rlx.solver.expression_text import show

    text = show(found)
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    kind = tir.type_of(found)
    if not kind.is_integer:
        return f"expected a condition on integers, found {shown} of type {kind}"
    return (
        f"expected a condition, found the integer {shown}; compare it with something, as in {shown}"
        " == 0"
    )


def conditions_inside(expr: PrimExpr) -> None:
    """Check that the operands of ``and``, ``or``, ``not`` and choices are conditions. Raises
    TypeError if an integer is used where a condition is expected.
    """
    for node in tir.postorder(expr):
        match node:
            case tir.And(a=a, b=b) | tir.Or(a=a, b=b):
                condition(a)
                condition(b)
            case tir.Not(a=a) | tir.Select(condition=a):
                condition(a)
            case tir.Call(args=(a, _, _)) if prim_exprs.conditional(node):
                condition(a)


def flag(name: str, value: object) -> None:
    """Check that an option is True or False. Raises TypeError if it is something else."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected True or False, found {described(value)}")


def variable(found: object) -> None:
    """Check that an argument is a variable. Raises TypeError if it is something else, such as a
    name.
    """
    if not isinstance(found, tir.Var):
        raise TypeError(
            "expected a variable, by its name, as a tir.Var or as one of TVM, found"
            f" {described(found)}"
        )


def held(
    var: tir.Var, found: PrimExpr, limits: Callable[[PrimExpr], tuple[int | None, ...]]
) -> None:
    """Check that a variable's type holds a value of an expression, by the limits of the latter.
    Raises ValueError if it holds none.
    """
    kind = var.dtype
    if not prim_exprs.scalar(kind) or (kind.code == "int" and kind.bits >= prim_exprs.BITS):
        return  # signed 64-bit types count as exact integers
    least, most = prim_exprs.dtype_range(kind)
    low, high = limits(found)
    if (low is not None and low > most) or (high is not None and high < least):
        from rlx.solver.expression_text import show

        raise ValueError(
            f"{var.name} of type {kind} has values from {least} to {most}, not {show(found)}"
        )


def limit(name: str, value: object, of: str = "") -> int | None:
    """The smallest or largest value of a variable, or None; ``of`` is its name, if known. Raises
    TypeError if it is not an integer, and ValueError if it is too long.
    """
    if value is None:
        return None
    whose = f" for {of!r}" if of else ""
    try:
        if not isinstance(value, bool):
            found = index(value)  # type: ignore[arg-type]
            if too_long(found):
                raise ValueError(f"{name}: the number{whose} has more than {DIGITS} digits")
            return found
    except TypeError:
        pass
    raise TypeError(f"{name}: expected an integer or None{whose}, found {described(value)}")


def one_of(name: str, value: object, known: Iterable[str]) -> None:
    """Check that an option has one of its known values. Raises ValueError if it has another one."""
    options = list(known)
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(map(repr, options[:-1])) + f" or {options[-1]!r}"
        raise ValueError(f"{name}: expected {listed}, found {described(value)}")
