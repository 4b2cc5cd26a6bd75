"""Equality of integers that wrap, and of Boolean elements, as bit vectors.

What congruence and sums leave are elements with bit operations, casts to other widths, extrema and
choices of integers. Z3 gets them as vectors of the bits that their types have, so that every
operation wraps as it does in a run. Other elements are unknown vectors.
"""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.matching import Matcher
from rlx.refine.terms import Reduce
from rlx.solver import smt

RLIMIT = 400_000
"""The work of one question to Z3."""
ATOMS = 12
"""The most elements that are unknown vectors."""
QUESTIONS = 24
"""The most questions for one pair of functions."""
PARTS = 120
"""The most parts of two elements."""
_OPERATIONS: dict[type[PrimExpr], str] = {
    tir.Add: "(bvadd {a} {b})",
    tir.Sub: "(bvsub {a} {b})",
    tir.Mul: "(bvmul {a} {b})",
    tir.And: "(and {a} {b})",
    tir.Or: "(or {a} {b})",
    tir.EQ: "(= {a} {b})",
    tir.NE: "(distinct {a} {b})",
}
_ORDERED: dict[type[PrimExpr], str] = {
    tir.LT: "(bv{s}lt {a} {b})",
    tir.LE: "(bv{s}le {a} {b})",
    tir.GT: "(bv{s}gt {a} {b})",
    tir.GE: "(bv{s}ge {a} {b})",
    tir.Min: "(ite (bv{s}le {a} {b}) {a} {b})",
    tir.Max: "(ite (bv{s}ge {a} {b}) {a} {b})",
}
_DIVISIONS: dict[tuple[str, type[PrimExpr]], str] = {
    (
        "int",
        tir.FloorDiv,
    ): "(bvsub (bvsdiv {a} {b}) (ite (bvslt (bvsrem {a} {b}) {zero}) {one} {zero}))",
    ("int", tir.FloorMod): "(bvsmod {a} {b})",
    ("int", tir.TruncDiv): "(bvsdiv {a} {b})",
    ("int", tir.TruncMod): "(bvsrem {a} {b})",
    ("uint", tir.FloorDiv): "(bvudiv {a} {b})",
    ("uint", tir.FloorMod): "(bvurem {a} {b})",
    ("uint", tir.TruncDiv): "(bvudiv {a} {b})",
    ("uint", tir.TruncMod): "(bvurem {a} {b})",
}
"""Divisions by positive numbers."""
_CALLS = {"bitwise_and": "bvand", "bitwise_or": "bvor", "bitwise_xor": "bvxor"}
_BOOLEAN = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
_TRUNCATED = (tir.TruncDiv, tir.TruncMod)
_TRUTH = (tir.And, tir.Or, tir.EQ, tir.NE)
"""Operations on truth values."""


def equal(matcher: Matcher, x: PrimExpr, y: PrimExpr) -> bool:
    """Whether two integers, or Boolean elements, are equal for all values of the elements in them.

    The conditions that are assumed hold.
    """
    if matcher.bit_questions >= QUESTIONS or not (_is_operation(x) or _is_operation(y)):
        return False
    question = _BitQuestion(matcher)
    try:
        one, other = question.name(x), question.name(y)
        for condition, value in matcher.facts.chosen.items():
            if not matcher.facts.is_index(condition):
                text = question.name(condition)
                question.lines.append(f"(assert {text if value else f'(not {text})'})")
    except _TooLarge:
        return False
    question.lines.append(f"(assert (distinct {one} {other}))")
    if smt.solve("\n".join(question.lines), RLIMIT).status != "unsat":
        matcher.bit_questions += 1
        return False
    matcher.trail.note("bits", x, y)
    return True


class _TooLarge(Exception):
    """There are too many parts for a question."""


def _is_operation(x: PrimExpr) -> bool:
    """Whether an element is computed from others by an operation on integers."""
    kinds = [tir.type_of(each) for each in tir.children(x)]
    made = isinstance(x, tir.Binary | tir.Cast | tir.Not | tir.Select | tir.Call)
    return made and not isinstance(x, Reduce) and any(k.is_integer for k in kinds)


def _sort(kind: DataType) -> str:
    return "Bool" if kind == BOOL else f"(_ BitVec {kind.bits})"


def _number(value: int, kind: DataType) -> str:
    if kind == BOOL:
        return "true" if value else "false"
    return f"(_ bv{value % (1 << kind.bits)} {kind.bits})"


class _BitQuestion:
    """The text of a question to Z3, in which each element has a name."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.lines: list[str] = []
        self.atoms: dict[PrimExpr, str] = {}
        self._names: dict[PrimExpr, str] = {}

    def name(self, given: PrimExpr) -> str:
        """The name of an element. Raises _TooLarge if there are too many."""
        x = self._matcher.behind(given)
        if x not in self._names:
            text = self._written(x)
            if text is None:
                self._names[x] = self._atom(x)
            else:
                self._names[x] = f"n{len(self.lines)}"
                sort = _sort(tir.type_of(x))
                self.lines.append(f"(define-fun {self._names[x]} () {sort} {text})")
            if len(self.lines) > PARTS or len(self.atoms) > ATOMS:
                raise _TooLarge
        return self._names[x]

    def _atom(self, x: PrimExpr) -> str:
        """The name of an element of which nothing is known, but that it is equal to another one."""
        for other, name in self.atoms.items():
            reads = isinstance(x, tir.BufferLoad) and isinstance(other, tir.BufferLoad)
            if reads and tir.type_of(other) == tir.type_of(x) and self._matcher.congruent(other, x):
                return name
        name = f"n{len(self.lines)}"
        self.lines.append(f"(declare-const {name} {_sort(tir.type_of(x))})")
        self.atoms[x] = name
        return name

    def _written(self, x: PrimExpr) -> str | None:
        """An operation on other elements; None if it is none."""
        kind = tir.type_of(x)
        match x:
            case tir.IntImm(value=value):
                return _number(value, kind)
            case tir.Not(a=a):
                return f"(not {self.name(a)})"
            case (
                tir.Select(condition=c, true_value=a, false_value=b)
                | tir.Call(op="if_then_else", args=(c, a, b))
            ):
                return f"(ite {self.name(c)} {self.name(a)} {self.name(b)})"
            case tir.Cast(value=inner):
                return self._cast(inner, tir.type_of(inner), kind)
            case tir.Binary(a=a, b=b) as both:
                return self._binary(both, a, b)
            case tir.Call(op="bitwise_not", args=(a,)):
                return f"({'not' if kind == BOOL else 'bvnot'} {self.name(a)})"
            case tir.Call(op="abs", args=(a,)) if kind.code == "int":
                it = self.name(a)
                return f"(ite (bvslt {it} {_number(0, kind)}) (bvneg {it}) {it})"
            case tir.Call(op=op, args=(a, b)) if op in _CALLS:
                table = _BOOLEAN if kind == BOOL else _CALLS
                return f"({table[op]} {self.name(a)} {self.name(b)})"
            case tir.Call(op="shift_left" | "shift_right", args=(a, b)):
                count = self._matcher.behind(b)
                if not isinstance(count, tir.IntImm) or not 0 <= count.value < kind.bits:
                    return None
                right = "bvashr" if kind.code == "int" else "bvlshr"
                shift = "bvshl" if x.op == "shift_left" else right
                return f"({shift} {self.name(a)} {_number(count.value, kind)})"
        return None

    def _binary(self, x: tir.Binary, a: PrimExpr, b: PrimExpr) -> str | None:
        of = tir.type_of(a)
        if of != tir.type_of(b) or not (of.is_integer or of == BOOL):
            return None
        if type(x) in _ORDERED and of != BOOL:
            text = _ORDERED[type(x)]
        elif type(x) in _OPERATIONS and (of != BOOL or isinstance(x, _TRUTH)):
            text = _OPERATIONS[type(x)]
        elif (of.code, type(x)) in _DIVISIONS:
            divisor = self._matcher.behind(b)
            if not isinstance(divisor, tir.IntImm) or divisor.value <= 0:
                return None
            power = divisor.value & (divisor.value - 1) == 0 and not isinstance(x, _TRUNCATED)
            if power:
                return self._by_power(x, divisor.value, of)
            text = _DIVISIONS[of.code, type(x)]
        else:
            return None
        sign = "s" if of.code == "int" else "u"
        zero, one = _number(0, of), _number(1, of)
        return text.format(a=self.name(a), b=self.name(b), s=sign, zero=zero, one=one)

    def _by_power(self, x: tir.Binary, divisor: int, kind: DataType) -> str:
        """A quotient or remainder by a power of two."""
        if isinstance(x, tir.FloorMod):
            return f"(bvand {self.name(x.a)} {_number(divisor - 1, kind)})"
        shift = "bvashr" if kind.code == "int" else "bvlshr"
        return f"({shift} {self.name(x.a)} {_number(divisor.bit_length() - 1, kind)})"

    def _cast(self, x: PrimExpr, of: DataType, kind: DataType) -> str | None:
        if of == BOOL:
            return f"(ite {self.name(x)} {_number(1, kind)} {_number(0, kind)})"
        if not of.is_integer:
            return None
        if kind == BOOL:
            return f"(distinct {self.name(x)} {_number(0, of)})"
        if kind.bits <= of.bits:
            return f"((_ extract {kind.bits - 1} 0) {self.name(x)})"
        extend = "sign_extend" if of.code == "int" else "zero_extend"
        return f"((_ {extend} {kind.bits - of.bits}) {self.name(x)})"
