"""The normal form of one term under the facts: definitions that are opened, conditions that are
decided, choices that are taken, reductions that are simpler than they are written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, DataType, limits
from rlx.grammar.nodes.prim_operators import BY_NODE
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import terms
from rlx.refine.definitions import Unopened
from rlx.refine.explanation import Trail
from rlx.refine.facts import (
    Facts,
    embeds,
    index_bound,
    made_of_floats,
    only_index,
    polynomial,
    sum_of,
    turned,
)
from rlx.refine.loops_exit import conjuncts
from rlx.refine.terms import (
    ConstantTerm,
    FilledHoles,
    InputTerm,
    Lambda,
    Reduce,
    ResultTerm,
    ScanTerm,
    TensorTerm,
    Term,
    TupleTerm,
)

STEPS = 40_000
"""The most comparisons of elements for one question."""
QUESTIONS = 2_000
"""The most questions to the prover while two tensors are compared."""
SHORT = 12
"""The longest axis of which the last indices are looked at alone."""
PARTS = 24
"""The most parts of a float that are looked at to see which inputs it is computed from."""
POWER = 12
"""Powers of two up to it, and their inverses, are exact in all types of floats."""
FACTORS = 8
"""The most elements of a reduction that are written out."""
_CONSTANTS = 4
"""The most definitions that are opened to see whether an element is a constant."""
_INDICES = 12
"""The most that are opened to see whether an element is made of indices."""
_WHOLE = ("floor", "ceil", "round", "trunc")
"""Functions whose results are whole numbers, which they leave as they are."""
RISING = frozenset(["exp", "expm1", "tanh", "sigmoid", "erf", "atan", "sinh", "asinh"])
"""Functions of all real numbers that rise everywhere."""
_GROWING = RISING | {*_WHOLE}
"""Functions that never fall."""
_LARGEST = {"float16": 65504.0, "float32": 3.4e38, "float64": 1.79e308, "bfloat16": 3.38e38}
_TURNED: dict[type, Any] = {tir.GT: tir.LT, tir.GE: tir.LE}
_WIDENED = {(one, "float32") for one in ("float16", "bfloat16")}
"""Conversions between floats that keep NaN and infinities, and nothing else becomes one."""
_EXACT = 1 << 24
"""Whole numbers below it are converted without rounding or wrapping."""

Open = Callable[[ResultTerm, str], TensorTerm]
"""The definition of a result at a level; raises Unopened if there is none."""


class Exhausted(Exception):
    """The limits of work are reached."""


class NormalForms:
    """Terms under facts that come and go.

    Parameters
    ----------
    facts
        What is known of sizes.
    open_result
        Opens the result of an application.
    level
        ``"bitwise"`` or ``"real"``.
    as_written
        Whether a float is the number that is written, not that of its type which is nearest.

    Attributes
    ----------
    steps
        The number of comparisons and openings so far.
    limit
        The most of these.
    reasons
        The reasons why applications could not be opened.
    representatives
        The tensors that stand for equal ones.
    rounded
        Whether a float was met that is written with more digits than its type holds.
    """

    def __init__(self, facts: Facts, open_result: Open, level: str, as_written: bool) -> None:
        self.facts = facts
        self.level = level
        self.real = level == "real"
        self.steps = 0
        self.limit = STEPS
        self.representatives: dict[TensorTerm, TensorTerm] = {}
        self.reasons: dict[object, str] = {}
        self.rounded = False
        self.trail = Trail()
        self._open, self._as_written = open_result, as_written
        self.asked_before = 0
        self.frozen: frozenset[TensorTerm] = frozenset()
        self._definitions: dict[TensorTerm, TensorTerm | None] = {}
        self._depths: dict[object, int] = {}

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Facts that are assumed inside hold inside only."""
        with self.facts.scope():
            yield

    def count_step(self) -> None:
        """Count a step. Raises Exhausted if there were too many."""
        self.steps += 1
        if self.steps > self.limit or self.facts.asked - self.asked_before > QUESTIONS:
            raise Exhausted

    # ------------------------------------------------------------ definitions

    def may_open(self, tensor: TensorTerm) -> bool:
        """Whether a tensor has a definition."""
        return self.opened(tensor) is not None

    def opened(self, tensor: TensorTerm) -> TensorTerm | None:
        """A tensor by its definition, one level deep; None if there is none, or it is not looked
        below it.
        """
        hidden = tensor in self.frozen and not isinstance(tensor, Lambda)
        return None if hidden else self.definition(tensor)

    def definition(self, tensor: TensorTerm) -> TensorTerm | None:
        """The definition of a tensor, also of one that may not be opened; None if there is none."""
        if isinstance(tensor, Lambda):
            return tensor
        if not isinstance(tensor, ResultTerm):
            return None
        if tensor not in self._definitions:
            try:
                found = self._open(tensor, self.level)
            except Unopened as error:
                self.reasons.setdefault(tensor, str(error))
                self._definitions[tensor] = None
            else:
                self._definitions[tensor] = FilledHoles(self.representatives, {}).tensor(found)
        return self._definitions[tensor]

    def depth(self, tensor: TensorTerm) -> int:
        """The length of the longest chain of definitions below a tensor."""
        stack: list[TensorTerm] = [tensor]
        while stack:
            at = stack[-1]
            if at in self._depths:
                stack.pop()
                continue
            below = tensors_below(at)
            missing = [t for t in below if t not in self._depths]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._depths[at] = 1 + max((self._depths[t] for t in below), default=0)
        return self._depths[tensor]

    def of_indices(self, tensor: TensorTerm) -> bool:
        """Whether the elements of a tensor are computed of their indices alone, by few definitions:
        those of ``R.arange``, say. It costs little to look below it; and where it holds the indices at
        which another tensor is read, only these numbers show that the read is inside.
        """
        if self.depth(tensor) > _INDICES:
            return False
        stack, seen = [tensor], {tensor}
        while stack:
            part = stack.pop()
            found = self.definition(part)
            if _is_of_indices(part):
                continue
            if not isinstance(found, Lambda):
                return False
            new = [each for each in terms.tensors_of(found.element) if each not in seen]
            seen.update(new)
            stack += new
        return True

    def deepest(self, atom: PrimExpr) -> int:
        """The depth of the deepest tensor that an atom reads and that has a definition."""
        return max(
            (
                self.depth(tensor)
                for tensor in terms.tensors_of(atom)
                if self.opened(tensor) is not None
            ),
            default=0,
        )

    def opened_inside(self, root: PrimExpr, depth: int) -> PrimExpr:
        """An element in which the reads of tensors of a depth are replaced by their definitions.

        Definitions have reductions of their own, so those around the reads get other variables first.
        """
        self.count_step()
        known: dict[PrimExpr, PrimExpr] = {}
        stack, seen = [tir.interned(root)], set()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if not isinstance(node, Reduce):
                stack += tir.children(node)
                continue
            axes = terms.fresh(node.axes)
            guard, sources = terms.opened(node, axes)
            known[node] = terms.reduce_over(
                node.combiner,
                axes,
                [self.opened_inside(each, depth) for each in node.extents],
                [self.opened_inside(each, depth) for each in sources],
                [self.opened_inside(each, depth) for each in node.init],
                guard=self.opened_inside(guard, depth),
                output=node.output,
                ordered=node.ordered,
            )

        def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            made = terms.rebuilt(node, operands)
            if isinstance(made, tir.BufferLoad) and isinstance(made.buffer, TensorTerm):
                tensor = made.buffer
                if isinstance(tensor, ConstantTerm):
                    read = _read_constant(tensor, made.indices)
                    return made if read is None else read
                if self.depth(tensor) == depth:
                    found = self.opened(tensor)
                    if found is not None:
                        self.trail.note("open", tensor, 0)
                        return terms.element(found, made.indices)
            return made

        return tir.interned(tir.fold(tir.interned(root), new, known))

    def behind(self, x: PrimExpr) -> PrimExpr:
        """An element behind the reads of tensors with few definitions."""
        found = self.head(tir.interned(x))
        for _ in range(_CONSTANTS):
            if not (
                isinstance(found, tir.BufferLoad)
                and isinstance(found.buffer, ResultTerm)
                and self.depth(found.buffer) <= _CONSTANTS
            ):
                break
            tensor = self.opened(found.buffer)
            if tensor is None:
                break
            found = self.head(terms.element(tensor, found.indices))
        return found

    # ------------------------------------------------------------ conditions

    def condition_of(self, x: PrimExpr) -> PrimExpr | None:
        """The undecided condition of a choice."""
        parts = terms.choice(x)
        return None if parts is None else self.atomic(parts[0])

    def inner_condition(self, x: PrimExpr) -> PrimExpr | None:
        """The first undecided condition of a choice inside an element, or a truth value as a
        number, outside of reductions.
        """
        stack, seen = [x], set()
        while stack:
            node = stack.pop()
            if node in seen or isinstance(node, Reduce):
                continue
            seen.add(node)
            if self.real and isinstance(node, tir.Select):
                node = self.head(node)  # an extremum, where it is one
            found = self.condition_of(chosen_number(node) or node)
            if found is not None and self.holds(found) is None:
                return found
            stack += tir.children(node)
        return None

    def atomic(self, condition: PrimExpr) -> PrimExpr:
        """The first undecided part of a condition."""
        condition = self.written(condition)
        match condition:
            case tir.And(a=a, b=b) | tir.Or(a=a, b=b):
                return self.atomic(a) if self.holds(a) is None else self.atomic(b)
            case tir.Not(a=a):
                return self.atomic(a)
            case tir.Select(condition=a) | tir.Call(op="if_then_else", args=(a, _, _)):
                return self.atomic(a if self.holds(a) is None else self.head(condition))
            case tir.EQ(a=a, b=b) if tir.type_of(a) == BOOL:
                return self.atomic(a) if self.holds(a) is None else self.atomic(b)
        return turned(condition)

    def choices_taken(self, x: PrimExpr) -> PrimExpr:
        """An element in which the choices that are decided are taken, outside of reductions."""
        known: dict[PrimExpr, PrimExpr] = {n: n for n in tir.postorder(x) if isinstance(n, Reduce)}

        def node(each: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            if terms.choice(each) is not None:
                taken = self.holds(operands[0])
                if taken is not None:
                    return operands[1] if taken else operands[2]
            return terms.rebuilt(each, operands)

        return tir.interned(tir.fold(tir.interned(x), node, known))

    def holds(self, condition: PrimExpr) -> bool | None:
        """Whether a condition is decided by the facts."""
        condition = self.written(condition)
        match condition:
            case tir.And(a=a, b=b):
                both = self.holds(a), self.holds(b)
                if False in both:
                    return False
                return True if both == (True, True) else None
            case tir.Or(a=a, b=b):
                both = self.holds(a), self.holds(b)
                if True in both:
                    return True
                return False if both == (False, False) else None
            case tir.Not(a=a):
                inner = self.holds(a)
                return None if inner is None else not inner
            case (
                tir.Select(condition=a, true_value=b, false_value=c)
                | tir.Call(op="if_then_else", args=(a, b, c))
            ):
                taken = self.holds(a)
                return None if taken is None else self.holds(b if taken else c)
            case tir.EQ(a=a, b=b) if tir.type_of(a) == BOOL:
                both = self.holds(a), self.holds(b)
                if None not in both:
                    return both[0] == both[1]
        return self.facts.holds(condition)

    def written(self, condition: PrimExpr) -> PrimExpr:
        """A condition that a tensor of Booleans holds, as its definition says it."""
        while True:
            match condition:
                case tir.BufferLoad(buffer=TensorTerm() as tensor, indices=indices):
                    made = self.opened(tensor)
                    if made is None or not isinstance(made, Lambda):
                        return condition
                    condition = terms.element(made, indices)
                case tir.EQ(a=a, b=tir.IntImm(value=value)) if tir.type_of(a) == BOOL:
                    condition = a if value else tir.Not(a)
                case tir.NE(a=a, b=tir.IntImm(value=value)) if tir.type_of(a) == BOOL:
                    condition = tir.Not(a) if value else a
                case tir.Comparison(a=a, b=b) if any(map(_number_read, (a, b))):
                    condition = type(condition)(_number_read(a) or a, _number_read(b) or b)
                case tir.Comparison(a=a, b=b) if any(map(_is_literal, (a, b))) and any(
                    map(self._of_truth, (a, b))
                ):
                    condition = type(condition)(self._of_truth(a) or a, self._of_truth(b) or b)
                    condition = _logical(condition) or condition
                case tir.LE(a=a, b=b) | tir.GE(a=b, b=a) if self.real and tir.type_of(a).is_float:
                    condition = tir.Not(tir.LT(b, a))
                case tir.EQ(a=a, b=b) if tir.type_of(a).is_float and self.behind(a) is self.behind(
                    b
                ):
                    condition = tir.Not(tir.Call("isnan", (a,), BOOL))
                case tir.Call(op="isnan", args=(a,)) if (
                    self.real
                    and (parts := self._inputs_of(a)) is not None
                    and (len(parts) != 1 or parts[0] is not tir.interned(a))
                ):
                    condition = tir.Not(terms.TRUE)
                    for part in parts:
                        condition = tir.Or(condition, tir.Call("isnan", (part,), BOOL))
                case _:
                    found = _logical(condition)
                    if found is None:
                        return self._of_indices(tir.interned(condition))
                    condition = found

    def _inputs_of(self, x: PrimExpr) -> list[PrimExpr] | None:
        """The elements of inputs from which a real number is computed that is defined, and no
        infinity, wherever they are; None if that is not known.
        """
        found: dict[PrimExpr, None] = {}
        stack = [self.behind(x)]
        for _ in range(PARTS):
            if not stack:
                return list(found)
            part = stack.pop()
            if isinstance(part, tir.BufferLoad) and isinstance(part.buffer, InputTerm):
                found[part] = None
                continue
            operands = _operands_of_total(part)
            if operands is None:
                return None
            stack += map(self.behind, operands)
        return None

    def _of_truth(self, x: PrimExpr) -> PrimExpr | None:
        """The number that a truth value becomes; None if an element is none."""
        found = None if _is_literal(x) else self.behind(x)
        truth = isinstance(found, tir.Cast) and tir.type_of(found.value) == BOOL
        return found if truth else None

    def _of_indices(self, condition: PrimExpr) -> PrimExpr:
        """A comparison of integers that tensors of indices hold, such as ranges, without these
        tensors.
        """
        found = condition
        whole = isinstance(condition, tir.Comparison) and tir.type_of(condition.a).is_integer
        if whole and not self.facts.is_index(condition):
            for _ in range(_INDICES):
                depth = self.deepest(found)
                if not 0 < depth <= _INDICES:
                    break
                found = self.opened_inside(found, depth)
                if self.facts.is_index(found):
                    return found
            assert isinstance(found, tir.Comparison)
            if any(isinstance(each, Reduce) for each in (found.a, found.b)):
                a, b = (self.head(each) for each in (found.a, found.b))
                a, b = ((written_out(x) if isinstance(x, Reduce) else None) or x for x in (a, b))
                found = tir.interned(type(found)(a, b))
                if self.facts.is_index(found):
                    return found
        return condition

    def _settled(self, number: PrimExpr, kind: DataType) -> PrimExpr | None:
        """A number of sizes and indices as a float, with the choices taken that are decided; None if
        there is none.
        """
        if not self.facts.is_index(number) or not any(
            isinstance(node, tir.Min | tir.Max | tir.Select) for node in tir.postorder(number)
        ):
            return None
        settled = self.facts.settled(number)
        if settled is number:
            return None
        sum_ = tir.interned(sum_of(polynomial(settled)))
        return tir.interned(_converted(sum_, kind) or tir.Cast(kind, sum_))

    # ------------------------------------------------------------ elements

    def head(self, x: PrimExpr) -> PrimExpr:
        """An element whose outermost part is in normal form: choices that are decided are taken,
        and reads of lambdas are replaced.
        """
        while True:
            match x:
                case tir.TruncMod(a=a, b=b) if tir.type_of(a).is_float:
                    x = tir.interned(tir.Call("fmod", (a, b), tir.type_of(a)))
                case tir.Call(op="nearbyint", args=args):
                    x = tir.interned(tir.Call("round", args, x.dtype))  # both to even
                case tir.Select(
                    condition=tir.Or(a=tir.Comparison() as c, b=tir.Call(op="isnan", args=(nan,))),
                    true_value=a,
                    false_value=b,
                ) if self.real and (extremum := _extremum(c, nan, a, b)) is not None:
                    x = extremum
                case (
                    tir.Select(condition=c, true_value=a, false_value=b)
                    | tir.Call(op="if_then_else", args=(c, a, b))
                ):
                    found = self._chosen(c, a, b)
                    if found is None:
                        return x
                    x = found
                case tir.BufferLoad(buffer=TensorTerm() as tensor, indices=indices) if (
                    tensor in self.representatives
                ):
                    x = terms.read(self.representatives[tensor], indices)
                case tir.BufferLoad(buffer=Lambda() as tensor, indices=indices):
                    x = terms.element(tensor, indices)
                case tir.BufferLoad(buffer=ConstantTerm() as tensor, indices=indices):
                    found = _read_constant(tensor, indices)
                    return x if found is None else found
                case tir.Call(op="likely", args=(inner,)):
                    x = tir.interned(inner)
                case tir.Call(op=op, args=(inner,)) if op in _WHOLE and self.is_whole(inner):
                    x = tir.interned(inner)
                case tir.Call(op="floor" | "ceil", args=(inner,)) if self.real and (
                    parts := self._index_and_rest(inner)
                ):
                    index, rest = parts
                    whole = math.floor(rest) if x.op == "floor" else math.ceil(rest)
                    number = tir.Add(index, tir.IntImm(whole)) if whole else index
                    x = tir.interned(tir.Cast(tir.type_of(x), number))
                case tir.FloatImm(value=number, dtype=kind) if math.isfinite(number):
                    found = rounded_to(x, kind)
                    if found is None or found.value == number:
                        return x
                    self.rounded = True
                    if self._as_written:
                        return x
                    x = found
                case tir.LT(a=a, b=b) if a is b:
                    return terms.FALSE
                case tir.Comparison() if type(x) in _TURNED:
                    x = tir.interned(_TURNED[type(x)](x.b, x.a))
                case tir.Max(a=tir.Min(a=a, b=high), b=low) if tir.type_of(x).is_integer and (
                    self.facts.holds(tir.LE(low, high))
                ):
                    x = tir.interned(tir.Min(tir.Max(a, low), high))
                case tir.Max() | tir.Min() | tir.Add() | tir.Sub() if tir.type_of(
                    x
                ).is_integer and made_of_floats(x):
                    a, b = (self.head(tir.interned(e)) for e in (x.a, x.b))
                    made = tir.interned(type(x)(a, b))
                    if made is x:
                        return x
                    x = made
                case tir.Cast(dtype=kind, value=inner) if self.same_numbers(
                    tir.type_of(inner), kind
                ):
                    x = tir.interned(inner)
                case tir.Cast(dtype=kind, value=inner) if (
                    tir.type_of(inner) == BOOL
                    and (taken := self.holds(tir.interned(inner))) is not None
                ):
                    x = tir.interned(
                        tir.FloatImm(float(taken), kind)
                        if kind.is_float
                        else tir.IntImm(int(taken), kind)
                    )
                case tir.Call(op="shift_right" | "bitwise_and", args=(a, b)) if (
                    power := self._power_of_two(x.op, b)
                ) is not None:
                    x = tir.interned(
                        (tir.FloorDiv if x.op == "shift_right" else tir.FloorMod)(a, power)
                    )
                case tir.Cast(dtype=kind, value=inner):
                    found = self._cast(self.head(tir.interned(inner)), kind, tir.type_of(inner))
                    if found is None:
                        return x
                    x = found
                case tir.Mul(a=a, b=b) | tir.Div(a=a, b=b) if tir.type_of(a).is_float:
                    found = self._factor(x, a, b)
                    if found is None:
                        return x
                    x = tir.interned(found)
                case tir.Sub(a=a, b=b) if tir.type_of(a).is_float and (
                    str(self._written_number(b)) == "0.0"
                ):
                    x = tir.interned(a)
                case tir.Sub(a=a, b=b) | tir.Add(a=a, b=b) if (
                    not self.real
                    and tir.type_of(a).is_float
                    and (plain := self._with_opposite(x, a, b)) is not None
                ):
                    x = tir.interned(plain)
                case tir.Call(op="fabs", args=(a,)) if (
                    same := _same_size(self.behind(a))
                ) is not None:
                    x = tir.interned(tir.Call("fabs", (same,), tir.type_of(x)))
                case tir.Add(a=a, b=b) if tir.type_of(a).is_float and (
                    tir.interned(a) is tir.interned(b)
                ):
                    x = tir.interned(tir.Mul(tir.FloatImm(2.0, tir.type_of(a)), a))
                case tir.Max(a=a, b=b) | tir.Min(a=a, b=b) if (
                    self.real and (other := _beside_infinity(x, a, b)) is not None
                ):
                    x = tir.interned(other)
                case Reduce():
                    found = self._simple_reduction(x)
                    if found is x:
                        return x
                    x = found
                case _:
                    return x

    def _chosen(self, c: PrimExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
        """The branch that a choice takes; None if that is not known."""
        if tir.interned(a) is tir.interned(b):
            return tir.interned(a)
        taken = self.holds(tir.interned(c))
        if taken is None:
            return None
        if self.facts.is_index(c) and turned(c) not in self.facts.chosen:
            self.trail.note("choice", c, taken, self.facts.context.state)
        return tir.interned(a if taken else b)

    def _cast(self, opened: PrimExpr, kind: DataType, before: DataType) -> PrimExpr | None:
        """An element as a number of another type, without a cast around it; None if it needs one."""
        found = _converted(opened, kind)
        if found is None and kind.code == "int" and kind.bits >= 32:
            counted = self._counted(opened)
            if counted is not None:
                found = tir.interned(tir.converted(counted, kind, None))
        if embeds(kind, before) and (first := self._widened(opened, kind)):
            found = first
        if found is None and kind.is_float:
            found = self._settled(opened, kind)
        return found

    def _factor(self, x: PrimExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
        """A product or a quotient of floats where one operand is a plain number; None otherwise."""
        if self._is_one(b):
            return a
        if type(x) is tir.Div:
            inverse = self._inverse(b)
            return None if inverse is None else tir.Mul(a, inverse)
        return b if self._is_one(a) else self._negated_twice(a, b)

    def same_numbers(self, a: DataType, b: DataType) -> bool:
        """Whether two element types have the same numbers: as real numbers all floats have."""
        return a == b or (self.real and a.is_float and b.is_float)

    def _power_of_two(self, op: str, x: PrimExpr) -> PrimExpr | None:
        """The divisor for which a shift by a number is a quotient, and a mask a remainder."""
        number, kind = self.head(tir.interned(x)), tir.type_of(x)
        if not isinstance(number, tir.IntImm) or number.value < 0 or not kind.is_integer:
            return None
        divisor = (
            1 << number.value
            if op == "shift_right" and number.value < kind.bits
            else number.value + 1
        )
        fits = divisor & (divisor - 1) == 0 and divisor < 1 << (kind.bits - 1)
        return tir.IntImm(divisor, kind) if fits else None

    def _widened(self, x: PrimExpr, kind: DataType) -> PrimExpr | None:
        """The element of a type that an element of a wider type is converted from."""
        match x:
            case tir.Cast(value=inner) if tir.type_of(inner) == kind:
                return tir.interned(inner)
            case tir.BufferLoad(buffer=ResultTerm() as tensor, indices=indices):
                made = self.opened(tensor)
                if made is not None and made is not tensor:
                    return self._widened(self.head(terms.element(made, indices)), kind)
        return None

    def is_whole(self, x: PrimExpr) -> bool:
        """Whether a float is a whole number, or none at all, because of how it is computed."""
        found = self.behind(x)
        match found:
            case tir.Call(op=op):
                return op in _WHOLE
            case tir.Cast(value=inner):
                return tir.type_of(inner).is_integer or tir.type_of(inner) == BOOL
        return False

    def _counted(self, x: PrimExpr) -> PrimExpr | None:
        """The int64 that a float is, if it is computed of indices by sums and products that are exact
        in all types from float32 on, as what ``R.arange`` counts by a float.
        """
        if not tir.type_of(x).is_float or tir.type_of(x).bits < FLOAT32.bits:
            return None
        found: PrimExpr | None = None
        match x:
            case tir.FloatImm():
                found = _converted(x, INT64)
            case tir.Cast(value=inner) if tir.type_of(inner).code == "int":
                found = tir.converted(inner, INT64, None) if self.facts.is_index(inner) else None
            case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) | tir.Mul(a=a, b=b):
                one, other = (self._counted(self.head(tir.interned(each))) for each in (a, b))
                found = None if one is None or other is None else type(x)(one, other)
        if found is None:
            return None
        inside = (tir.LT(tir.IntImm(-_EXACT), found), tir.LT(found, tir.IntImm(_EXACT)))
        exact = all(self.facts.holds(tir.interned(each)) is True for each in inside)
        return tir.interned(found) if exact else None

    def _index_and_rest(self, x: PrimExpr) -> tuple[PrimExpr, Fraction] | None:
        """A real number as an index and a constant, if it is a sum of these."""
        x = self.head(tir.interned(x))
        match x:
            case tir.FloatImm(value=value) if math.isfinite(value):
                return terms.index(0), Fraction(value)
            case tir.Cast(value=inner) if tir.type_of(inner) == INT64 and self.facts.is_index(
                inner
            ):
                return inner, Fraction(0)
            case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b):
                one, other = self._index_and_rest(a), self._index_and_rest(b)
                if one is not None and other is not None:
                    (i, c), (j, d) = one, other
                    return type(x)(i, j), c + d if isinstance(x, tir.Add) else c - d
        return None

    def _is_one(self, x: PrimExpr) -> bool:
        """Whether an element is the constant 1 of floats, by which a product is exact."""
        return self._written_number(x) == 1

    def _inverse(self, x: PrimExpr) -> PrimExpr | None:
        """One over a constant that is a power of two of every type of floats: a product with it
        rounds as the quotient does.
        """
        number = self._written_number(x) or 0.0
        exact = abs(math.frexp(number)[0]) == 0.5 and 2.0**-POWER <= abs(number) <= 2.0**POWER
        return tir.FloatImm(1 / number, tir.type_of(x)) if exact else None

    def known_float(self, x: PrimExpr) -> float | None:
        """The number that a float is, if it is a constant."""
        match self.behind(x):
            case tir.FloatImm(value=value):
                return value
            case tir.Cast(dtype=kind, value=inner) if kind.is_float:
                if tir.type_of(inner).is_float:
                    number = self.known_float(inner)
                    made = None if number is None else tir.FloatImm(number, tir.type_of(inner))
                    rounded = None if made is None else rounded_to(made, kind)
                    return None if rounded is None else rounded.value
        return None

    def _opposite_of(self, x: PrimExpr) -> PrimExpr | None:
        """The other factor of a product with -1, which is exact; None for anything else."""
        product = self.behind(x)
        if isinstance(product, tir.Mul):
            if self._written_number(product.b) == -1:
                return product.a
            if self._written_number(product.a) == -1:
                return product.b
        return None

    def _negated_twice(self, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
        """The factor of a product with -1 twice; None for anything else."""
        for one, other in ((a, b), (b, a)):
            if self._written_number(other) == -1:
                return self._opposite_of(one)
        return None

    def _with_opposite(
        self, x: tir.Add | tir.Sub, a: PrimExpr, b: PrimExpr
    ) -> tir.Add | tir.Sub | None:
        """A sum with an opposite as a difference, and the other way around: they round alike."""
        turned = tir.Sub if isinstance(x, tir.Add) else tir.Add
        second = self._opposite_of(b)
        if second is not None:
            return turned(a, second)
        first = self._opposite_of(a) if isinstance(x, tir.Add) else None
        return None if first is None else tir.Sub(b, first)

    def _written_number(self, x: PrimExpr) -> float | None:
        """A constant of floats; None if an element is none."""
        if not isinstance(x, (tir.FloatImm, tir.BufferLoad, tir.Cast)):
            return None
        opened = self.head(tir.interned(x))
        return opened.value if isinstance(opened, tir.FloatImm) else None

    # ------------------------------------------------------------ reductions

    def _simple_reduction(self, x: Reduce) -> PrimExpr:
        """A reduction without axes of one value; its initial value if its domain is empty."""
        guard, sources = x.guard, x.sources
        if any(self.facts.holds(tir.LE(e, tir.IntImm(0))) for e in x.extents):
            return x.init[x.output]
        narrow = self._narrowed(x)
        if narrow is not x:
            return narrow
        if x.combiner.name == "prod" and not tir.type_of(x).is_float and (few := written_out(x)):
            return few
        if self.real and tir.type_of(x).is_float and all(_is_number(e, 1) for e in x.extents):
            only = written_out(x)
            assert only is not None
            return only
        if x.combiner.name in ("max", "min") and (self.real or not tir.type_of(x).is_float):
            extremum = self._flat(x) or self._opposite(x) or self._pulled(x) or self._in_two(x)
            if extremum is not None:
                return extremum
        if x.combiner.name == "prod" and (self.real or not tir.type_of(x).is_float):
            made = self._flat(x) or (self._in_two(x) if self._is_neutral(x) else None)
            if made is not None:
                return made
        single = self._at_one_index(x)
        if single is not None:
            return single
        alone = [self._once(x, k) for k in range(len(x.axes))]
        # A choice between an element and the identity is a guard.
        taken = self._guarded(x)
        if x.axes and not any(alone) and taken is None:
            return x
        axes = terms.fresh(x.axes)
        guard, sources = terms.opened(x, axes)
        if taken is not None:
            parts = terms.choice(self.head(sources[0]))
            if parts is not None:
                c, a, b = parts
                keep = c if taken else tir.Not(c)
                guard = keep if guard is terms.TRUE else tir.And(guard, keep)
                sources = (a if taken else b,)
        zero = {v: terms.index(0, v.dtype) for v, one in zip(axes, alone, strict=True) if one}
        guard = terms.substitute(guard, zero)
        sources = tuple([terms.substitute(s, zero) for s in sources])
        left = [k for k, one in enumerate(alone) if not one]
        if not left:
            if self.real and self.ignores_init(x):
                return sources[0]
            values = dict(
                zip((*x.combiner.left, *x.combiner.right), (*x.init, *sources), strict=True)
            )
            made = terms.substitute(x.combiner.results[x.output], values)
            if guard is not terms.TRUE:
                made = tir.Call("if_then_else", (guard, made, x.init[x.output]), x.dtype)
            return tir.interned(made)
        return terms.reduce_over(
            x.combiner,
            [axes[k] for k in left],
            [x.extents[k] for k in left],
            sources,
            x.init,
            guard=guard,
            output=x.output,
            ordered=x.ordered,
        )

    def _at_one_index(self, x: Reduce) -> PrimExpr | None:
        """A reduction whose guard says which index an axis has, without this axis."""
        summed = x.combiner.name == "sum" and (self.real or not tir.type_of(x).is_float)
        if x.guard is terms.TRUE or summed:  # sums are looked at as a whole
            return None
        axes = list(terms.fresh(x.axes))
        guard, sources = terms.opened(x, axes)
        conditions = conjuncts(guard)
        for part in conditions:
            if not isinstance(part, tir.EQ) or set(axes).isdisjoint(tir.free_vars(part)):
                continue
            with self._over(axes, x.extents, terms.TRUE):
                index = self.facts.is_index(part)
                found = only_index(self.facts.settled(part) if index else part, axes)
            if found is None:
                continue
            k, place = found
            extents = list(x.extents)
            axis, extent = axes.pop(k), extents.pop(k)
            rest = [
                terms.substitute(each, {axis: place}) for each in conditions if each is not part
            ]
            within = (tir.LE(terms.index(0), place), tir.LT(place, extent), *rest)
            return terms.reduce_over(
                x.combiner,
                axes,
                extents,
                [terms.substitute(each, {axis: place}) for each in sources],
                x.init,
                guard=terms.all_of(map(tir.interned, within)),
                output=x.output,
                ordered=x.ordered,
            )
        return None

    def _flat(self, x: Reduce) -> PrimExpr | None:
        """An extremum of extrema, or a product of products, as one; None if it is not of this form."""
        axes = terms.fresh(x.axes)
        guard, (source,) = terms.opened(x, axes)
        with self._over(axes, x.extents, guard):
            inner = self.head(source)
        if (
            not isinstance(inner, Reduce)
            or inner.combiner.name != x.combiner.name
            or inner.init != x.init
            or (x.combiner.name == "prod" and not self._is_neutral(x))
            or any(not set(axes).isdisjoint(tir.free_vars(e)) for e in inner.extents)
        ):
            return None
        more = terms.fresh(inner.axes)
        condition, sources = terms.opened(inner, more)
        return terms.reduce_over(
            x.combiner,
            (*axes, *more),
            (*x.extents, *inner.extents),
            sources,
            x.init,
            guard=terms.all_of((guard, condition)),
            ordered=x.ordered,
        )

    def _is_neutral(self, x: Reduce) -> bool:
        """Whether a product begins with 1."""
        return _is_number(self.head(x.init[0]), 1)

    def _opposite(self, x: Reduce) -> PrimExpr | None:
        """The largest of the opposites of floats as the opposite of the smallest, or the other way
        around.
        """
        axes = terms.fresh(x.axes)
        guard, (source,) = terms.opened(x, axes)
        init, kind = x.init[0], tir.type_of(x)
        if not (self.real and kind.is_float and isinstance(init, tir.FloatImm)):
            return None
        with self._over(axes, x.extents, guard):
            inner = _negated(self.head(source))
        if inner is None:
            return None
        other = terms.named_combiner("min" if x.combiner.name == "max" else "max", kind)
        first = tir.FloatImm(-init.value, kind)
        found = terms.reduce_over(
            other, axes, x.extents, (inner,), (first,), guard=guard, ordered=x.ordered
        )
        return tir.interned(tir.Mul(found, tir.FloatImm(-1.0, kind)))

    def _pulled(self, x: Reduce) -> PrimExpr | None:
        """An extremum over elements that grow with one number: that of a sum with the same number
        for all, or of an extremum with it. None if it is not of this form, or its initial value matters.
        """
        if not self.ignores_init(x):
            return None
        axes = terms.fresh(x.axes)
        guard, (source,) = terms.opened(x, axes)
        with self._over(axes, x.extents, guard):
            inner = self.head(source)

        def over(rest: PrimExpr) -> PrimExpr:
            return terms.reduce_over(
                x.combiner, axes, x.extents, (rest,), x.init, guard=guard, ordered=x.ordered
            )

        real = tir.type_of(x).is_float  # sums of integers may wrap
        match inner:
            case tir.Cast(dtype=kind, value=rest) if tir.type_of(rest).is_integer and embeds(
                tir.type_of(rest), kind
            ):
                narrow = tir.type_of(rest)
                return tir.interned(
                    tir.Cast(
                        kind,
                        terms.reduce_over(
                            terms.named_combiner(x.combiner.name, narrow),
                            axes,
                            x.extents,
                            (rest,),
                            (tir.IntImm(limits(narrow)[x.combiner.name == "min"], narrow),),
                            guard=guard,
                            ordered=x.ordered,
                        ),
                    )
                )
            case tir.Call(op=op, args=(rest,)) if real and op in _GROWING:
                return tir.interned(tir.Call(op, (over(rest),), tir.type_of(inner)))
            case tir.Mul(a=rest, b=same) | tir.Mul(a=same, b=rest) | tir.Div(a=rest, b=same) if (
                real and 0 < (self.known_float(same) or 0) < math.inf
            ):
                return tir.interned(type(inner)(over(rest), same))
        grows = [tir.Max, tir.Min, *([tir.Add, tir.Sub] if real else [])]
        if type(inner) not in grows:
            return None
        assert isinstance(inner, tir.Binary)
        ways = (
            [(inner.a, inner.b)]
            if isinstance(inner, tir.Sub)
            else [
                (inner.a, inner.b),
                (inner.b, inner.a),
            ]
        )
        for rest, same in ways:
            if set(axes).isdisjoint(tir.free_vars(same)):
                return tir.interned(type(inner)(over(rest), same))
        return None

    def _in_two(self, x: Reduce) -> PrimExpr | None:
        """An extremum or a product of a choice by one of its indices, as that of two; None if it is
        not of this form.
        """
        axes = terms.fresh(x.axes)
        guard, (source,) = terms.opened(x, axes)
        with self._over(axes, x.extents, guard):
            match self.head(source):
                case (
                    tir.Select(condition=condition, true_value=a, false_value=b)
                    | tir.Call(op="if_then_else", args=(condition, a, b))
                ) if x.init[0] not in (a, b):  # else it is a guard
                    found = self._place_of_choice(self.atomic(condition), axes, x.extents)
                    found = found if self.facts.never_wraps(condition) else None
                case _:
                    found = None
        if found is None:
            return None
        k, size = found
        extent = x.extents[k]
        within = (tir.LE(terms.index(0), size), tir.LE(size, extent))
        if not all(self.facts.holds(each) is True for each in within):
            return None
        behind = {axes[k]: tir.interned(tir.Add(axes[k], size))}
        parts = []
        for length, moved in (
            (size, {}),
            (sum_of(polynomial(tir.interned(tir.Sub(extent, size)))), behind),
        ):
            parts.append(
                terms.reduce_over(
                    x.combiner,
                    axes,
                    [*x.extents[:k], length, *x.extents[k + 1 :]],
                    (terms.substitute(source, moved),),
                    x.init,
                    guard=terms.substitute(guard, moved),
                    ordered=x.ordered,
                )
            )
        first, rest = parts
        kind = {"max": tir.Max, "min": tir.Min, "prod": tir.Mul}[x.combiner.name]
        return tir.interned(kind(first, rest))

    def _place_of_choice(
        self, condition: PrimExpr, axes: Sequence[tir.Var], extents: Sequence[PrimExpr]
    ) -> tuple[int, PrimExpr] | None:
        """The position of the one index that a condition tells apart, and from where on; None if there
        is none. One value of an index is told apart from those below it, then from those above it.
        """
        bound = index_bound(condition, axes)
        if bound is not None:
            return bound[:2]
        alone = only_index(condition, axes)
        if alone is None:
            return None
        k, place = alone
        place = terms.index(1) if _is_number(place, 0) else place
        return (k, place) if self.facts.holds(tir.LT(place, extents[k])) is True else None

    @contextmanager
    def _over(
        self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr], guard: PrimExpr
    ) -> Iterator[None]:
        """The facts inside of a reduction."""
        with self.scope():
            self.facts.index(axes, extents)
            self.facts.assume(guard)
            yield

    def _narrowed(self, x: Reduce) -> PrimExpr:
        """A reduction over short axes without the last indices that its guard rules out."""
        sizes = {
            k: extent.value
            for k, extent in enumerate(x.extents)
            if isinstance(extent, tir.IntImm) and 0 < extent.value <= SHORT
        }
        if x.guard is terms.TRUE or not sizes:
            return x
        axes = terms.fresh(x.axes)
        guard, sources = terms.opened(x, axes)
        extents = list(x.extents)

        def holds(condition: PrimExpr, inside: Sequence[int]) -> bool | None:
            with self.scope():
                self.facts.index([axes[k] for k in inside], [extents[k] for k in inside])
                return self.facts.holds(tir.interned(condition))

        for k, size in sizes.items():
            others = [other for other in range(len(axes)) if other != k]
            last = size
            while last and (
                holds(
                    terms.substitute(guard, {axes[k]: terms.index(last - 1, axes[k].dtype)}), others
                )
                is False
            ):
                last -= 1
            extents[k] = terms.index(last, axes[k].dtype)
        always = holds(guard, range(len(axes))) is True
        if not always and all(a is b for a, b in zip(extents, x.extents, strict=True)):
            return x
        return terms.reduce_over(
            x.combiner,
            axes,
            extents,
            sources,
            x.init,
            guard=terms.TRUE if always else guard,
            output=x.output,
            ordered=x.ordered,
        )

    def _once(self, x: Reduce, position: int) -> bool:
        """Whether one value of an axis gives the same as all of them."""
        extent = x.extents[position]
        if self.facts.holds(tir.EQ(extent, tir.IntImm(1))) is True:
            return True
        if x.combiner.name not in ("max", "min", "and", "or"):
            return False
        if self.facts.holds(tir.LE(tir.IntImm(1), extent)) is not True:
            return False
        if any(x.axes[position] in tir.free_vars(e) for e in (x.guard, *x.sources[1:])):
            return False
        return x.axes[position] not in tir.free_vars(x.sources[0]) or self._reads_one(x, position)

    def _reads_one(self, x: Reduce, position: int) -> bool:
        """Whether the element that is read is the same for all indices of an axis."""
        axes = terms.fresh(x.axes)
        _, (source, *_) = terms.opened(x, axes)
        if not isinstance(source, tir.BufferLoad):
            return False
        if any(each is axes[position] for each in source.indices):
            return False
        first = {axes[position]: terms.index(0, axes[position].dtype)}
        with self._over(axes, x.extents, terms.TRUE):
            return all(
                axes[position] not in tir.free_vars(each)
                or (
                    self.facts.is_index(each)
                    and self.facts.equal(each, terms.substitute(each, first))
                )
                for each in source.indices
            )

    def _guarded(self, x: Reduce) -> bool | None:
        """Whether the source is a choice whose second branch is the identity of the sum (True), or whose
        first branch is (False); None if there is no such choice, or the sum begins otherwise.
        """
        if len(x.sources) != 1:
            return None
        exact = x.combiner.name in ("sum", "prod") or not tir.type_of(x).is_float
        neutral = {"sum": 0, "prod": 1}.get(x.combiner.name)
        if x.combiner.name in ("max", "min") and (self.real or exact):

            def is_neutral(value: PrimExpr) -> bool:
                return value is x.init[0]

        elif neutral is not None and _is_number(x.init[0], neutral):

            def is_neutral(value: PrimExpr) -> bool:
                return _is_number(value, neutral)

        else:
            return None
        parts = terms.choice(x.sources[0])
        if parts is not None:
            if is_neutral(parts[2]):
                return True
            if is_neutral(parts[1]):
                return False
        return None

    def ignores_init(self, x: Reduce) -> bool:
        """Whether the initial value of a maximum, or a minimum, does not matter."""
        (init, *others) = x.init
        sign = {"max": -1, "min": 1}.get(x.combiner.name)
        kind = tir.type_of(x)
        if others or sign is None or not isinstance(init, tir.FloatImm | tir.IntImm):
            return False
        if isinstance(init, tir.FloatImm):
            extreme = init.value * sign >= _LARGEST.get(str(kind), math.inf)
        else:
            extreme = kind.is_integer and init.value == limits(kind)[sign > 0]
        axes = terms.fresh(x.axes)
        return extreme and self.has_point(axes, x.extents, terms.opened(x, axes)[0])

    def has_point(
        self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr], guard: PrimExpr
    ) -> bool:
        """Whether a domain has a point: the first one, or, under a guard, one that each axis has
        alone, in its middle or at its ends.
        """
        if not all(self.facts.holds(tir.LT(tir.IntImm(0), e)) is True for e in extents):
            return False
        if self.facts.always(terms.substitute(guard, {v: terms.index(0, v.dtype) for v in axes})):
            return True
        conditions = conjuncts(guard)
        if any(len(set(axes) & set(tir.free_vars(each))) > 1 for each in conditions):
            return False
        for axis, extent in zip(axes, extents, strict=True):
            own = [each for each in conditions if axis in tir.free_vars(each)]
            conditions = [each for each in conditions if each not in own]
            if not own:
                continue
            if not isinstance(extent, tir.IntImm):
                return False
            points = dict.fromkeys((extent.value // 2, 0, extent.value - 1))
            inside = [
                terms.substitute(terms.all_of(own), {axis: terms.index(k, axis.dtype)})
                for k in points
            ]
            if not (
                any(map(self.facts.always, inside)) or self.facts.always(reduce(tir.Or, inside))
            ):
                return False
        return all(map(self.facts.always, conditions))


def written_out(x: Reduce) -> PrimExpr | None:
    """A reduction over few indices with all its elements, in order; None if there are more."""
    extents = [extent.value for extent in x.extents if isinstance(extent, tir.IntImm)]
    if len(extents) < len(x.extents) or math.prod(extents) > FACTORS:
        return None
    axes = terms.fresh(x.axes)
    guard, sources = terms.opened(x, axes)
    found = [tir.interned(each) for each in x.init]
    operands = (*x.combiner.left, *x.combiner.right)
    for point in product(*map(range, extents)):
        values = {axis: terms.index(k, axis.dtype) for axis, k in zip(axes, point, strict=True)}
        more = [terms.substitute(each, values) for each in sources]
        joined = dict(zip(operands, (*found, *more), strict=True))
        made = [terms.substitute(each, joined) for each in x.combiner.results]
        if guard is not terms.TRUE:
            when = terms.substitute(guard, values)
            made = [
                tir.interned(tir.Call("if_then_else", (when, new, old), tir.type_of(old)))
                for new, old in zip(made, found, strict=True)
            ]
        found = made
    return found[x.output]


def _negated(x: PrimExpr) -> PrimExpr | None:
    """The operand of a negation of floats, however it is written; None for anything else."""
    match x:
        case (
            tir.Mul(a=a, b=tir.FloatImm(value=-1.0))
            | tir.Mul(a=tir.FloatImm(value=-1.0), b=a)
            | tir.Sub(a=tir.FloatImm(value=0.0), b=a)
        ):
            return a
    return None


def _same_size(x: PrimExpr) -> PrimExpr | None:
    """A float with the same absolute value: the operand of `fabs` or of a negation; None for anything
    else.
    """
    match x:
        case tir.Call(op="fabs", args=(a,)):
            return a
    return _negated(x)


def chosen_number(x: PrimExpr) -> PrimExpr | None:
    """A truth value as a number, written as a choice of 1 and 0."""
    match x:
        case tir.Cast(dtype=kind, value=condition) if tir.type_of(condition) == BOOL:
            one, zero = (
                tir.FloatImm(float(k), kind) if kind.is_float else tir.IntImm(k, kind)
                for k in (1, 0)
            )
            return tir.interned(tir.Select(condition, one, zero))
    return None


def _logical(condition: PrimExpr) -> PrimExpr | None:
    """A Boolean element written with ``and``, ``or``, ``not`` and ``==``, one step; None if it is."""
    match condition:
        case tir.Cast(dtype=kind, value=a) if kind == BOOL:
            of = tir.type_of(a)
            if of == BOOL:
                return a
            return tir.NE(a, tir.FloatImm(0.0, of) if of.is_float else tir.IntImm(0, of))
        case tir.Call(op="bitwise_not", args=(a,)) if tir.type_of(a) == BOOL:
            return tir.Not(a)
        case tir.Call(op=op, args=(tir.Cast(dtype=kind, value=a),)) if (
            op in ("isnan", "isinf", "isfinite") and (str(tir.type_of(a)), str(kind)) in _WIDENED
        ):
            return tir.Call(op, (a,), BOOL)
        case tir.Call(op="isinf", args=(a,)):
            kind = tir.type_of(a)
            return tir.EQ(tir.Call("fabs", (a,), kind), tir.FloatImm(math.inf, kind))
        case tir.Call(op="isfinite", args=(a,)):
            nan, infinite = (tir.Call(op, (a,), BOOL) for op in ("isnan", "isinf"))
            return tir.And(tir.Not(nan), tir.Not(infinite))
        case tir.NE(a=a, b=b) if tir.type_of(a).is_float or tir.type_of(a) == BOOL:
            return tir.Not(tir.EQ(a, b))
        case (
            tir.Comparison(a=tir.Cast(value=truth), b=number)
            | tir.Comparison(a=number, b=tir.Cast(value=truth))
        ) if tir.type_of(truth) == BOOL and isinstance(number, tir.IntImm | tir.FloatImm):
            return _of_truth(condition, truth)
        case tir.Comparison(a=tir.IntImm(value=0), b=tir.Cast(dtype=kind, value=a)) if _keeps_sign(
            tir.type_of(a), kind
        ):
            return type(condition)(tir.IntImm(0, tir.type_of(a)), a)
    found = _operands(condition)
    if found is None:
        return None
    a, b = found
    match condition:
        case tir.Add() | tir.Max() | tir.Call(op="bitwise_or"):
            return tir.Or(a, b)
        case tir.Mul() | tir.Min() | tir.Call(op="bitwise_and"):
            return tir.And(a, b)
        case tir.Call(op="bitwise_xor"):
            return tir.Not(tir.EQ(a, b))
        case tir.LT():
            return tir.And(tir.Not(a), b)
        case tir.LE():
            return tir.Or(tir.Not(a), b)
        case tir.GT():
            return tir.And(a, tir.Not(b))
        case tir.GE():
            return tir.Or(a, tir.Not(b))
        case tir.EQ() if tir.type_of(condition.a) != BOOL:
            return tir.EQ(a, b)
        case tir.NE():
            return tir.Not(tir.EQ(a, b))
    return None


def _is_literal(x: PrimExpr) -> bool:
    return isinstance(x, tir.IntImm | tir.FloatImm)


def _operands_of_total(x: PrimExpr) -> list[PrimExpr] | None:
    """The numbers from which a real number is computed that is defined wherever they are; None if
    that is not known.
    """
    match x:
        case tir.FloatImm(value=value) if math.isfinite(value):
            return []
        case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) | tir.Mul(a=a, b=b):
            return [a, b]
        case tir.Max(a=a, b=b) | tir.Min(a=a, b=b):
            return [a, b]
        case tir.Cast(value=inner) if tir.type_of(inner).is_float:
            return [inner]
        case tir.Cast():
            return []
        case tir.Call(op=op, args=(a,)) if op in _GROWING:
            return [a]
    return None


def _of_truth(condition: tir.Comparison, truth: PrimExpr) -> PrimExpr:
    """A comparison of a truth value, as the number 0 or 1, with a number."""
    exact = BY_NODE[type(condition)].exact
    assert exact is not None
    ways = []
    for value in (0, 1):
        a, b = (
            each.value if isinstance(each, tir.IntImm | tir.FloatImm) else value
            for each in (condition.a, condition.b)
        )
        ways.append(bool(exact(a, b)))
    if ways[0] is ways[1]:
        return tir.interned(tir.IntImm(int(ways[0]), BOOL))
    return truth if ways[1] else tir.Not(truth)


def _keeps_sign(kind: DataType, target: DataType) -> bool:
    """Whether a conversion between signed integers loses nothing."""
    return kind.code == target.code == "int" and kind.bits <= target.bits


def _operands(condition: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
    """The Boolean operands of an operation on them, or on the numbers 0 and 1 that they become."""
    match condition:
        case tir.Binary(a=a, b=b) | tir.Call(args=(a, b)):
            inner = [x.value if isinstance(x, tir.Cast) else x for x in (a, b)]
            compares = isinstance(condition, tir.Comparison)
            operands = inner if compares else [a, b]
            if all(tir.type_of(x) == BOOL for x in operands):
                return operands[0], operands[1]
    return None


def _extremum(c: tir.Comparison, nan: PrimExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
    """The extremum that a choice gives, NaN if ``a`` or ``b`` is: as real numbers, the larger or
    the smaller one, as for a reduction.
    """
    below = turned(c)
    if not isinstance(below, tir.LT):
        return None
    first, second, x, y, nan = map(_of_real, (below.a, below.b, a, b, nan))
    if tir.type_of(x) == tir.type_of(y):
        a, b = x, y
    if nan is x and (first, second) == (y, x):
        return tir.interned(tir.Max(a, b))
    if nan is x and (first, second) == (x, y):
        return tir.interned(tir.Min(a, b))
    return None


def _beside_infinity(x: tir.Max | tir.Min, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
    """The operand of an extremum whose other one is beyond all real numbers, or the last one of the type."""
    sign = -1 if isinstance(x, tir.Max) else 1
    last = _LARGEST.get(str(tir.type_of(x)), math.inf)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, tir.FloatImm) and one.value * sign >= last:
            return other
    return None


def _of_real(x: PrimExpr) -> PrimExpr:
    """The float that a float is converted from: the same real number."""
    while isinstance(x, tir.Cast) and x.dtype.is_float and tir.type_of(x.value).is_float:
        x = x.value
    return tir.interned(x)


def tensors_below(tensor: TensorTerm) -> list[TensorTerm]:
    """The tensors that a tensor is made of."""
    match tensor:
        case Lambda(element=body) | ScanTerm(element=body):
            return terms.tensors_of(body)
        case ResultTerm(of=application):
            return list(_tensors(application.arguments))
    return []


def _tensors(values: Sequence[Term]) -> Iterator[TensorTerm]:
    """The tensors in values, those of a tuple once."""
    seen: set[Term] = set()
    stack = [*reversed(values)]
    while stack:
        value = stack.pop()
        if isinstance(value, TensorTerm):
            yield value
        elif isinstance(value, TupleTerm) and value not in seen:
            seen.add(value)
            stack.extend(reversed(value.fields))


def _is_number(x: PrimExpr, number: int) -> bool:
    """Whether an element is a number, with the sign that 0 has as an initial value."""
    if isinstance(x, tir.FloatImm):
        return x.value == number and str(x.value)[0] != "-"
    return isinstance(x, tir.IntImm) and x.value == number


def _converted(number: PrimExpr, kind: DataType) -> PrimExpr | None:
    """A constant converted to another type, as far as every conversion gives the same."""
    match number:
        case tir.FloatImm() if kind.is_float:
            return rounded_to(number, kind)
        case tir.FloatImm(value=value) if kind.code == "int" and kind.bits >= 32:
            if math.isfinite(value) and value == int(value) and abs(value) < _EXACT:
                return tir.interned(tir.IntImm(int(value), kind))
        case tir.IntImm(value=value) if kind.is_float and tir.type_of(number).is_integer:
            rounded = rounded_to(tir.FloatImm(float(value), kind), kind)
            return rounded if rounded is not None and rounded.value == value else None
        case tir.IntImm(value=value) if kind.code == "int" and kind.bits >= 32:
            if abs(value) < _EXACT and tir.type_of(number).is_integer:
                return tir.interned(tir.IntImm(value, kind))
    return None


def rounded_to(number: tir.FloatImm, kind: DataType) -> tir.FloatImm | None:
    """A float converted to another type of floats."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    known = numpy_type(kind)
    if known is None:
        return None
    with np.errstate(over="ignore"):
        return tir.interned(tir.FloatImm(float(np.array(number.value).astype(known)), kind))


def lowest_and_highest(tensor: ConstantTerm) -> tuple[int, int]:
    """The smallest and the largest element of a constant of integers; 0 and -1 if there are none."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    array = np.frombuffer(tensor.content, numpy_type(tensor.dtype))
    return (int(array.min()), int(array.max())) if array.size else (0, -1)


def is_finite(tensor: ConstantTerm) -> bool:
    """Whether no element of a constant is an infinity or NaN."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    kind = numpy_type(tensor.dtype)
    return kind is not None and bool(np.isfinite(np.frombuffer(tensor.content, kind)).all())


def _is_of_indices(tensor: TensorTerm) -> bool:
    """Whether a tensor is a constant of integers that indices tell, such as the positions that PyTorch keeps."""
    if not (isinstance(tensor, ConstantTerm) and tensor.dtype.is_integer):
        return False
    return _read_constant(tensor, [tir.Var("i") for _ in tensor.shape]) is not None


def _read_constant(tensor: ConstantTerm, indices: Sequence[PrimExpr]) -> PrimExpr | None:
    """The element of a constant as a number or an expression; None if it is none."""
    for found in (constant(tensor), _progression(tensor, indices)):
        if found is not None:
            return found
    return terms.constant_at(tensor, indices)


def _progression(tensor: ConstantTerm, indices: Sequence[PrimExpr]) -> PrimExpr | None:
    """The element of a constant of integers along one axis, which grow by one number from index to index."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    kind = numpy_type(tensor.dtype)
    long = [i for i, dim in zip(indices, tensor.shape, strict=True) if not _is_number(dim, 1)]
    if kind is None or len(long) != 1 or str(tensor.dtype) not in ("int32", "int64"):
        return None
    array = np.frombuffer(tensor.content, kind)
    if array.size < 2:
        return None
    first, step = int(array[0]), int(array[1]) - int(array[0])
    if int(array[-1]) != first + step * (array.size - 1) or (np.diff(array) != step).any():
        return None
    place = tir.Mul(terms.index(step), long[0])
    value = place if first == 0 else tir.Add(terms.index(first), place)
    return tir.interned(value if tensor.dtype == INT64 else tir.Cast(tensor.dtype, value))


def _number_read(x: PrimExpr) -> PrimExpr | None:
    """The element that is read of a constant whose elements are all the same; None if it is not
    that.
    """
    if isinstance(x, tir.BufferLoad) and isinstance(x.buffer, ConstantTerm):
        return constant(x.buffer)
    return None


def constant(tensor: ConstantTerm) -> PrimExpr | None:
    """The element of a constant whose elements are all the same."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    kind = numpy_type(tensor.dtype)
    if kind is None:
        return None
    array = np.frombuffer(tensor.content, kind)
    if not array.size or array.tobytes() != array[:1].tobytes() * array.size:
        return None
    return terms.number_of(array[0], tensor.dtype)
