"""Random expressions in a PrimFunc.

They are defined for all contents of the buffers, and equal on all machines except for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.generate.programs.choices import Choices
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import FLOAT32, INT32, INT64, DataType
from rlx.grammar.nodes.tir import Buffer, PrimExpr, Var

_ZERO = tir.IntImm(0)
_LIMIT = 100
"""Floats are brought between -100 and 100 before they become integers: all integer types hold
these.
"""

Axis = tuple[Var, PrimExpr]
"""A variable that counts from 0, and how far."""


class Terms:
    """The values from which expressions are made at one place.

    Attributes
    ----------
    buffers
        What may be read.
    axes
        The loops around the place, outermost first.
    rare
        Whether there may be what TVM's own pipeline does not compile.
    """

    def __init__(
        self, choices: Choices, buffers: Sequence[Buffer], axes: Sequence[Axis], rare: bool
    ) -> None:
        self.choices, self.buffers, self.axes, self.rare = choices, buffers, axes, rare

    def value(self, kind: DataType) -> PrimExpr:
        """A number of this type, from every buffer of the type as far as that is possible."""
        result: PrimExpr | None = None
        for buffer in self.buffers:
            if buffer.dtype == kind:
                load = self.load(buffer)
                result = load if result is None else self._joined(result, load)
        if result is None and self.buffers:
            result = self.cast(number(0, kind), kind)
        leaf = number(self.choices.below(4), kind)
        result = leaf if result is None else self._joined(result, leaf)
        return self._around(result, kind)

    def condition(self) -> PrimExpr:
        """A comparison of what is exact: axes, elements, numbers."""
        left: PrimExpr = number(1, INT64)
        if self.axes and not self.choices.one_in(3):
            left = self.choices.pick(self.axes)[0]
        elif self.buffers:
            left = self.load(self.choices.pick(self.buffers))
        compared = self.choices.pick((tir.LT, tir.GE, tir.EQ, tir.NE, tir.GT, tir.LE))
        found: PrimExpr = compared(left, number(self.choices.below(3), tir.type_of(left)))
        match self.choices.below(6):
            case 3:
                return tir.And(found, tir.Not(compared(number(2, INT32), number(1, INT32))))
            case 4:
                return tir.Or(found, compared(number(0, INT32), number(1, INT32)))
            case 5:
                return tir.Not(found)
        return found

    def load(self, buffer: Buffer) -> PrimExpr:
        """An element; where no axis fits, an index that is brought into range, or 0 of an empty
        buffer.
        """
        if any(alike(dim, _ZERO) for dim in buffer.shape):
            return number(0, buffer.dtype)
        indices: list[PrimExpr] = []
        guards: list[PrimExpr] = []
        axes = list(self.axes)
        for dim in reversed(buffer.shape):
            found = next((axis for axis in reversed(axes) if alike(axis[1], dim)), None)
            if found is not None:
                axes = axes[: axes.index(found)] or list(self.axes)
                indices.append(found[0])
                continue
            near: PrimExpr = self.axes[-1][0] if self.axes else number(0, tir.type_of(dim))
            if not isinstance(dim, tir.IntImm):
                guards.append(tir.GT(dim, number(0, tir.type_of(dim))))
            indices.append(tir.FloorMod(near, dim))
        load: PrimExpr = tir.BufferLoad(buffer, tuple(reversed(indices)))
        for guard in guards:
            load = self._guarded(guard, load, number(0, buffer.dtype))
        return load

    # ------------------------------------------------------------------ operations

    def _joined(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        return self.choices.pick((tir.Add, tir.Mul, tir.Sub, tir.Max, tir.Min))(a, b)

    def _around(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """An operation on the value, one time in three."""
        if not self.choices.one_in(3):
            return value
        if self.choices.one_in(2):
            return self.choices.pick(_ALWAYS)(self, value, kind)
        forms = _OF_FLOATS if kind.is_float else _OF_INTEGERS
        return self.choices.pick((*forms, *_RARE) if self.rare else forms)(self, value, kind)

    def _guarded(self, condition: PrimExpr, value: PrimExpr, otherwise: PrimExpr) -> PrimExpr:
        return tir.Call("if_then_else", (condition, value, otherwise), tir.type_of(value))

    def selected(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """`T.Select`"""
        return tir.Select(self.condition(), value, number(1, kind))

    def chosen(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """`T.if_then_else`"""
        return self._guarded(self.condition(), value, number(2, kind))

    def let(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """`T.Let`"""
        var = Var("w", kind)
        return tir.Let(var, value, tir.Add(var, var))

    def cast(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """An element of another buffer, or an axis, cast to this type."""
        others = [b for b in self.buffers if b.dtype != kind]
        if others:
            load = self.load(self.choices.pick(others))
            source = tir.type_of(load)
            if source.is_float and not kind.is_float:
                load = tir.Max(tir.Min(load, number(_LIMIT, source)), number(0, source))
            return tir.Cast(kind, load)
        if self.axes:
            return tir.Cast(kind, self.choices.pick(self.axes)[0])
        return value

    def quotient(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A division by what is not 0."""
        if kind.is_float:
            below = tir.Add(tir.Call("fabs", (value,)), number(1, kind))
            return tir.Div(number(3, kind), below)
        division = self.choices.pick((tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod))
        return division(value, number(1 + self.choices.below(4), kind))

    def real(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A function of the C library where it is far from its ends."""
        word = self.choices.pick(("tanh", "sigmoid", "exp", "sqrt", "cos"))
        if word == "exp":
            value = tir.Min(value, number(2, kind))
        if word == "sqrt":
            value = tir.Call("fabs", (value,))
        return tir.Call(word, (value,))

    def bits(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """Two's complement."""
        if self.choices.one_in(4):
            return tir.Call("bitwise_not", (value,))
        word = self.choices.pick(("bitwise_and", "bitwise_or", "bitwise_xor"))
        return tir.Call(word, (value, number(5, kind)))

    def shifted(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A shift by less than the width of the narrowest type."""
        word = self.choices.pick(("shift_left", "shift_right"))
        return tir.Call(word, (value, number(self.choices.below(8), kind)))

    def reinterpreted(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """There and back, so that the number is known."""
        other = {FLOAT32: INT32, INT32: FLOAT32}.get(kind)
        if other is None:
            return value
        there = tir.Call("reinterpret", (tir.StringImm(str(other)), value))
        return tir.Call("reinterpret", (tir.StringImm(str(kind)), there))


Form = Callable[[Terms, PrimExpr, DataType], PrimExpr]

_ALWAYS: tuple[Form, ...] = (Terms.selected, Terms.chosen, Terms.cast)
_OF_FLOATS: tuple[Form, ...] = (Terms.real, Terms.quotient, Terms.real)
_OF_INTEGERS: tuple[Form, ...] = (Terms.quotient, Terms.bits, Terms.shifted)
_RARE: tuple[Form, ...] = (Terms.reinterpreted, Terms.let)


def alike(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two dimensions are the same number or the same variable."""
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm):
        return a.value == b.value
    return a is b


def number(value: int, kind: DataType) -> PrimExpr:
    """A literal."""
    if kind.is_float:
        return tir.FloatImm(float(value), kind)
    return tir.IntImm(value, kind)
