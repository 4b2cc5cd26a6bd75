"""Questions with bit operations as bit vectors.

A vector is so wide that no value of the question overflows it: what Z3 proves holds for exact
integers, for all values of the variables within their ranges and within int64.
"""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import coarse_intervals, prim_exprs, smt
from rlx.solver.prim_exprs import Range
from rlx.solver.smt import Query, Writer, Written

_WIDEST = 260
_SPARE = 2
_MOST_WORK = 20_000
"""The maximum number of bits of a value, and of all partial products of multiplications and
divisions: larger ones are rarely decided.
"""


def width(query: Query, most: int = _MOST_WORK) -> int | None:
    """The number of bits that hold all values of a question; None if they are too many, or all
    products need more than ``most`` partial products.
    """
    known: dict[PrimExpr, coarse_intervals.Limits] = {}
    for var, (low, high) in zip(query.variables, query.ranges, strict=True):
        if low is None or high is None:
            return None
        known[var] = low, high
    bits = work = 1
    for node in tir.postorder(query.goal, *query.facts):
        if node not in known:
            limits = coarse_intervals.of_node(node, [known[each] for each in tir.children(node)])
            if limits is None:
                return None
            known[node] = limits
        low, high = known[node]
        bits = max(bits, low.bit_length(), high.bit_length())
        if isinstance(node, tir.Binary) and isinstance(node, (tir.Mul, *INTEGER_DIVISIONS)):
            light = isinstance(node.b, tir.IntImm) or prim_exprs.is_power(node.b)
            work += 0 if light else bits * bits
        if bits > _WIDEST or work > most:
            return None
    return bits + _SPARE


def encode(query: Query, bits: int) -> str:
    """The SMT-LIB text of a question over vectors of this width, without ``check-sat``."""
    return _BitWriter(query, bits).text(query)


_BINARY: dict[type[PrimExpr], str] = {
    tir.Add: "(bvadd {a} {b})",
    tir.Sub: "(bvsub {a} {b})",
    tir.Mul: "(bvmul {a} {b})",
    tir.FloorDiv: "(bvsdiv (bvsub {a} (bvsmod {a} {b})) {b})",
    tir.FloorMod: "(bvsmod {a} {b})",
    tir.TruncDiv: "(bvsdiv {a} {b})",
    tir.TruncMod: "(bvsrem {a} {b})",
    tir.Min: "(ite (bvsle {a} {b}) {a} {b})",
    tir.Max: "(ite (bvsge {a} {b}) {a} {b})",
    tir.EQ: "(= {a} {b})",
    tir.NE: "(distinct {a} {b})",
    tir.LT: "(bvslt {a} {b})",
    tir.LE: "(bvsle {a} {b})",
    tir.GT: "(bvsgt {a} {b})",
    tir.GE: "(bvsge {a} {b})",
}
_SHIFTED: dict[type[PrimExpr], str] = {
    tir.Mul: "(bvshl {a} {k})",
    tir.FloorDiv: "(bvashr {a} {k})",
    tir.FloorMod: "(bvand {a} (bvsub {b} {one}))",
}
"""The same where the right operand is ``1 << k``."""
_CALLS = {
    "bitwise_and": "bvand",
    "bitwise_or": "bvor",
    "bitwise_xor": "bvxor",
    "shift_left": "bvshl",
}


class _BitWriter(Writer):
    """Writes numbers as bit vectors."""

    def __init__(self, query: Query, bits: int) -> None:
        self._width = bits
        super().__init__(query, "")

    def sort(self) -> str:
        return f"(_ BitVec {self._width})"

    def constant(self, value: int) -> str:
        return f"(_ bv{value % (1 << self._width)} {self._width})"

    def at_most(self, low: str, high: str) -> str:
        return f"(bvsle {low} {high})"

    def written(self, node: PrimExpr, operands: list[Written]) -> Written:
        match node:
            case tir.Binary() if type(node) in _BINARY:
                return self._arithmetic(node, *map(self.number, operands))
            case tir.Call(op=op) if op in _CALLS:
                return f"({_CALLS[op]} {' '.join(map(self.number, operands))})", False
        return super().written(node, operands)

    def _arithmetic(self, node: tir.Binary, a: str, b: str) -> Written:
        exponent = self._exponent(node.b)
        text = _BINARY[type(node)]
        if exponent and type(node) in _SHIFTED:
            text = _SHIFTED[type(node)]
        filled = text.format(a=a, b=b, k=exponent, one=self.constant(1))
        return filled, isinstance(node, tir.Comparison)

    def _exponent(self, node: PrimExpr) -> str:
        """The exponent of a power of two; empty for another number."""
        if prim_exprs.is_power(node):
            return self.number(self.known[tir.children(node)[1]])
        value = int(node.value) if isinstance(node, tir.IntImm) else 0
        return self.constant(value.bit_length() - 1) if value > 0 == value & (value - 1) else ""

    def cast(self, node: tir.Cast, value: Written) -> str:
        limits = prim_exprs.wraps_to(node)
        kept = node.dtype.bits
        if limits is None or kept >= self._width:
            return self.number(value)
        extend = "zero_extend" if limits[0] == 0 else "sign_extend"
        low = f"((_ extract {kept - 1} 0) {self.number(value)})"
        return f"((_ {extend} {self._width - kept}) {low})"


def script(query: Query, style: str, word_ranges: tuple[Range, ...]) -> str:
    """A complete SMT-LIB 2 script, for any solver.

    A question with bit operations is written as bit vectors, within ``word_ranges``.

    Raises TypeError if its values are too large for them.
    """
    names = [f"; v{i} is {v.name}" for i, v in enumerate(query.variables)]
    head = ["; unsat: the goal holds wherever it is defined", *names, "(set-logic ALL)"]
    if any(map(prim_exprs.bitwise, tir.postorder(query.goal, *query.facts))):
        query = query.within(word_ranges)
        bits = width(query, _WIDEST**3)
        if bits is None:
            raise TypeError(f"expected values of at most {_WIDEST} bits, found larger ones")
        body = encode(query, bits)
    else:
        body = smt.encode(query, style)
    return "\n".join(head) + "\n" + body + "(check-sat)\n"
