"""Random scalar expressions as text, over every operation that a type has."""

from __future__ import annotations

import random
from collections.abc import Sequence

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", "bfloat16", "float32", "float64")
KINDS = (*INTEGERS, *FLOATS, *FLOATS, "bool")


def bits(kind: str) -> int:
    """The width of a type."""
    return 1 if kind == "bool" else int("".join(c for c in kind if c.isdigit()))


def literal(rng: random.Random, kind: str) -> str:
    """A constant: small, or at the limits of its type."""
    if kind == "bool":
        return f"T.bool({rng.random() < 0.5})"
    if kind in FLOATS:
        special = ("inf", "-inf", "nan", -0.0, 1e-40, 65504.0, 3e38)
        value = rng.choice((0.0, 0.5, 1.0, -1.25, 3.0, -2.0, 100.0))
        chosen = rng.choice(special) if rng.random() < 0.15 else value
        return f'T.{kind}("{chosen}")' if isinstance(chosen, str) else f"T.{kind}({chosen!r})"
    low = -(1 << (bits(kind) - 1)) if kind in SIGNED else 0
    high = low + (1 << bits(kind)) - 1
    near = rng.choice((low, low + 1, high, high - 1))
    small = rng.choice((0, 1, 2, 3, 7, 13, 100)) * rng.choice((1, -1 if kind in SIGNED else 1))
    return f"T.{kind}({near if rng.random() < 0.15 else small})"


class Expressions:
    """Makes expressions of a type from leaves.

    Parameters
    ----------
    types
        The types of the buffers and values that leaves name.
    """

    def __init__(self, rng: random.Random, types: dict[str, str]) -> None:
        self.rng, self.pick, self.types = rng, rng.choice, types

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def of(self, kind: str, leaves: Sequence[str], indices: Sequence[str], depth: int) -> str:
        """An expression of a type."""
        if not depth or self.chance(15):
            return self.leaf(kind, leaves, indices)
        a, b = (self.of(kind, leaves, indices, depth - 1) for _ in range(2))
        match self.rng.randrange(8):
            case 0:
                condition = self.of("bool", leaves, indices, depth - 1)
                word = self.pick(("Select", "if_then_else"))
                return f"T.{word}({condition}, {a}, {b})"
            case 1 if kind != "bool":
                return f"T.{self.pick(('min', 'max'))}({a}, {b})"
            case 2:
                other = self.pick(KINDS)
                return self.cast(self.of(other, leaves, indices, depth - 1), other, kind)
        if kind == "bool":
            return self.condition(a, b, leaves, indices, depth)
        return (self.float_ if kind in FLOATS else self.integer)(kind, a, b)

    def leaf(self, kind: str, leaves: Sequence[str], indices: Sequence[str]) -> str:
        if self.chance(20) or not leaves:
            return literal(self.rng, kind)
        if indices and self.chance(25):
            return f'T.Cast("{kind}", {self.pick(indices)})'
        chosen = self.pick(leaves)
        source = self.types.get(chosen.partition("[")[0], kind)
        return self.cast(chosen, source, kind)

    def cast(self, value: str, source: str, kind: str) -> str:
        """Cast an expression to another type; floats mostly to values that each integer type has."""
        if source == kind:
            return value
        if source in FLOATS and kind in INTEGERS and not self.chance(3):
            value = f"T.max(T.min({value}, T.{source}(5)), T.{source}({-5 * (kind in SIGNED)}))"
        return f'T.Cast("{kind}", {value})'

    def condition(
        self, a: str, b: str, leaves: Sequence[str], indices: Sequence[str], depth: int
    ) -> str:
        match self.rng.randrange(6):
            case 0:
                return f"({a} and {b})"
            case 1:
                return f"({a} or {b})"
            case 2:
                return f"(not {a})"
            case 3:
                kind = self.pick(FLOATS)
                word = self.pick(("isnan", "isinf", "isfinite"))
                return f"T.{word}({self.of(kind, leaves, indices, depth - 1)})"
        kind = self.pick(KINDS[:-1])
        x, y = (self.of(kind, leaves, indices, depth - 1) for _ in range(2))
        return f"({x} {self.pick(('<', '<=', '>', '>=', '==', '!='))} {y})"

    def integer(self, kind: str, a: str, b: str) -> str:
        divisor = b if self.chance(8) else f"T.bitwise_or({b}, T.{kind}(1))"
        if self.chance(50):
            divisor = (
                f"T.{kind}({self.pick((1, 2, 3, 7, 100, *((-1, -3) if kind in SIGNED else ())))})"
            )
        amount = b if self.chance(5) else f"T.bitwise_and({b}, T.{kind}({bits(kind) - 1}))"
        if self.chance(50):
            amount = f"T.{kind}({self.rng.randrange(bits(kind))})"
        forms = (
            *(f"({a} {sign} {b})" for sign in ("+", "-", "*")),
            *(f"({a} {sign} {divisor})" for sign in ("//", "%")),
            *(f"T.{word}({a}, {divisor})" for word in ("truncdiv", "truncmod")),
            *(f"T.{word}({a}, {amount})" for word in ("shift_left", "shift_right")),
            *(f"T.bitwise_{word}({a}, {b})" for word in ("and", "or", "xor")),
            f"T.bitwise_not({a})",
            f"T.abs({a})",
            f'T.Cast("{kind}", T.popcount({a}))',
            f'T.Cast("{kind}", T.clz({a}))',
            f"T.pow({a}, T.{kind}({self.rng.randrange(5)}))",
        )
        return self.pick(forms)

    def float_(self, kind: str, a: str, b: str) -> str:
        forms = (
            *(f"({a} {sign} {b})" for sign in ("+", "-", "*", "/", "+", "-", "*")),
            *(f"T.{word}({a})" for word in ("floor", "ceil", "trunc", "round", "nearbyint")),
            *(f"T.{word}({a})" for word in ("fabs", "sqrt")),
            *(f"T.{word}({a}, {b})" for word in ("copysign", "fmod")),
            f"T.floordiv({a}, {b})",
            f"T.floormod({a}, {b})",
        )
        if self.chance(5):
            return f"T.{self.pick(('exp', 'tanh', 'sigmoid', 'log', 'erf', 'sin'))}({a})"
        return self.pick(forms)
