"""SMT-LIB texts of a question, and Z3 on them.

A text asserts the assumptions and the negation of the goal: ``unsat`` proves the goal. Variables
are named ``v0``, ``v1``, … by first appearance, so the text does not depend on names and on the
order of facts.
"""

from __future__ import annotations

import builtins
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from threading import Thread, get_ident
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.prim_operators import BY_NODE
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.processes import safe_environment
from rlx.solver import prim_exprs
from rlx.solver.prim_exprs import Range

_INLINE = 160
EMERGENCY = 0.8
"""The CPU seconds after which Z3 is abandoned: several times what its work limit ever takes."""

LEFT = "out of time"
_PATIENCE = 0.1


class Query(Record):
    """A question in canonical order.

    Attributes
    ----------
    variables
        The variables by first appearance.
    ranges
        The smallest and largest value of each variable.
    facts
        The assumed conditions, including that divisors are not zero.
    goal
        The condition to prove.
    positive
        The divisors known to be positive wherever they are evaluated.
    """

    variables: tuple[tir.Var, ...]
    ranges: tuple[Range, ...]
    facts: tuple[PrimExpr, ...]
    goal: PrimExpr
    positive: frozenset[PrimExpr]

    def where(self, conditions: Sequence[PrimExpr]) -> Query:
        """The same question with more facts."""
        facts = (*self.facts, *(c for c in conditions if c is not prim_exprs.TRUE))
        return Query(self.variables, self.ranges, facts, self.goal, self.positive)

    def within(self, ranges: tuple[Range, ...]) -> Query:
        """The same question with other ranges of the variables."""
        return Query(self.variables, ranges, self.facts, self.goal, self.positive)


class Answer(Record):
    """The answer of Z3: ``"unsat"``, ``"sat"`` with values by name, or ``"unknown"`` with a
    reason.
    """

    status: str
    model: Mapping[str, int] = {}
    reason: str = ""


STYLES = ("purified", "raw", "split")
"""The encodings: quotients as variables; SMT-LIB's own ``div`` and ``mod``; case split on signs."""


def encode(query: Query, style: str = "purified") -> str:
    """The SMT-LIB text of a question, without ``check-sat``."""
    return Writer(query, style).text(query)


Written = tuple[str, bool]
"""The text of an expression, and whether it is a truth value."""


class Writer:
    """Collects declarations and assertions; every node is written once.

    Attributes
    ----------
    known
        What is written for a node.
    """

    def __init__(self, query: Query, style: str) -> None:
        self._lines: list[str] = []
        self._style = style
        self._positive = query.positive
        self.known: dict[PrimExpr, Written] = {}
        self._quotients: dict[tuple[str, str], tuple[str, str]] = {}
        self._count = 0
        for place, (var, (low, high)) in enumerate(zip(query.variables, query.ranges, strict=True)):
            name = f"v{place}"
            self.known[var] = name, False
            self._lines.append(f"(declare-const {name} {self.sort()})")
            if low is not None:
                self._assertion(self.at_most(self.constant(low), name))
            if high is not None:
                self._assertion(self.at_most(name, self.constant(high)))

    def text(self, query: Query) -> str:
        """The whole text: declarations, facts, and the opposite of the goal."""
        for fact in query.facts:
            self._assertion(self._truth(tir.fold(fact, self._node, self.known)))
        self._assertion(f"(not {self._truth(tir.fold(query.goal, self._node, self.known))})")
        return "\n".join(self._lines) + "\n"

    # What another theory writes differently

    def sort(self) -> str:
        """The sort of numbers."""
        return "Int"

    def constant(self, value: int) -> str:
        """A number."""
        return str(value) if value >= 0 else f"(- {-value})"

    def at_most(self, low: str, high: str) -> str:
        """``low <= high``"""
        return f"(<= {low} {high})"

    def written(self, node: PrimExpr, operands: list[Written]) -> Written:
        """The text of a node."""
        if isinstance(node, tir.Binary):
            return self._binary(node, *operands)
        match node:
            case tir.IntImm(value=value):
                return self.constant(int(value)), False
            case tir.Not():
                return f"(not {self._truth(*operands)})", True
            case tir.Cast(dtype=kind) if kind == BOOL:
                return self._truth(*operands), True
            case tir.Cast():
                return self.cast(node, *operands), False
            case tir.Call() if prim_exprs.bitwise(node):
                return self._bits(node, *map(self.number, operands)), False
            case tir.Select() | tir.Call():
                c, t, f = operands
                if t[1] and f[1]:
                    return f"(ite {self._truth(c)} {t[0]} {f[0]})", True
                return f"(ite {self._truth(c)} {self.number(t)} {self.number(f)})", False
        raise TypeError(f"{type(node).__name__} is not integer arithmetic")

    def cast(self, node: tir.Cast, value: Written) -> str:
        """A number in another integer type."""
        text = self.number(value)
        limits = prim_exprs.wraps_to(node)
        if limits is None:
            return text
        low, high = limits
        size = self.constant(high - low + 1)
        _, rest = self._floor(f"(- {text} {self.constant(low)})", size, True)
        return f"(+ {rest} {self.constant(low)})"

    def number(self, written: Written) -> str:
        """A truth value as 1 or 0."""
        text, boolean = written
        return f"(ite {text} {self.constant(1)} {self.constant(0)})" if boolean else text

    def _truth(self, written: Written) -> str:
        text, boolean = written
        return text if boolean else f"(distinct {text} {self.constant(0)})"

    # Integers

    def _assertion(self, text: str) -> None:
        self._lines.append(f"(assert {text})")

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _node(self, node: PrimExpr, operands: list[Written]) -> Written:
        text, boolean = self.written(node, operands)
        if len(text) > _INLINE:
            name = self._name("t")
            sort = "Bool" if boolean else self.sort()
            self._lines.append(f"(define-fun {name} () {sort} {text})")
            text = name
        return text, boolean

    def _bits(self, node: tir.Call, a: str, b: str) -> str:
        """An operation on bits as some number, of which only a few limits are known: what is proved
        holds, and each model is replayed.
        """
        found = self._name("b")
        self._lines.append(f"(declare-const {found} Int)")
        if node.op == "shift_left":
            self._assertion(f"(>= {found} 1)")
            return found
        if node.op == "bitwise_and":
            for each in (a, b):
                self._assertion(f"(=> (>= {each} 0) (and (>= {found} 0) (<= {found} {each})))")
        else:
            limits = f"(and (>= {found} 0) (<= {found} (+ {a} {b})))"
            self._assertion(f"(=> (and (>= {a} 0) (>= {b} 0)) {limits})")
        return found

    def _binary(self, node: tir.Binary, left: Written, right: Written) -> Written:
        logical = isinstance(node, (tir.And, tir.Or))
        operand = self._truth if logical else self.number
        a, b, floor, rest, trunc = operand(left), operand(right), "", "", ""
        if isinstance(node, (tir.FloorDiv, tir.FloorMod)):
            floor, rest = self._floor(a, b, node.b in self._positive)
        elif isinstance(node, (tir.TruncDiv, tir.TruncMod)):
            trunc = self._truncated(a, b, node.b in self._positive)
        text = BY_NODE[type(node)].smt.format(a=a, b=b, floor=floor, rest=rest, trunc=trunc)
        return text, logical or isinstance(node, tir.Comparison)

    def _truncated(self, a: str, b: str, positive: bool) -> str:
        """The quotient rounded towards zero, made of those of the numbers without their signs."""
        size = b if positive else f"(ite (>= {b} 0) {b} (- {b}))"
        up = self._floor(a, size, positive)[0]
        down = self._floor(f"(- {a})", size, positive)[0]
        quotient = f"(ite (>= {a} 0) {up} (- {down}))"
        return quotient if positive else f"(ite (>= {b} 0) {quotient} (- {quotient}))"

    def _floor(self, a: str, b: str, positive: bool) -> tuple[str, str]:
        """Quotient and remainder of a floor division."""
        known = self._quotients.get((a, b))
        if known is None:
            made = self._raw(a, b, positive) if self._style == "raw" else self._pure(a, b, positive)
            known = self._quotients[a, b] = made
        return known

    def _raw(self, a: str, b: str, positive: bool) -> tuple[str, str]:
        if positive:
            return f"(div {a} {b})", f"(mod {a} {b})"
        quotient = f"(ite (>= {b} 0) (div {a} {b}) (div (- {a}) (- {b})))"
        return quotient, f"(ite (>= {b} 0) (mod {a} {b}) (- (mod (- {a}) (- {b}))))"

    def _pure(self, a: str, b: str, positive: bool) -> tuple[str, str]:
        q, r = self._name("q"), self._name("r")
        self._lines += [f"(declare-const {q} Int)", f"(declare-const {r} Int)"]
        self._assertion(f"(= {a} (+ (* {b} {q}) {r}))")
        up = f"(and (<= 0 {r}) (< {r} {b}))"
        down = f"(and (<= {r} 0) (< {b} {r}))"
        if positive:
            # Vacuous where a divisor that is not evaluated is zero.
            self._assertion(f"(or (<= {b} 0) {up})" if not b.isdigit() else up)
            if self._style == "split":
                self._assertion(f"(=> (and (> {b} 0) (>= {a} 0)) (>= {q} 0))")
                self._assertion(f"(=> (and (> {b} 0) (< {a} 0)) (< {q} 0))")
                self._assertion(f"(=> (and (> {b} 0) (>= {a} 0)) (<= {q} {a}))")
                self._assertion(f"(=> (and (> {b} 0) (>= {a} {b})) (>= {q} 1))")
        else:
            self._assertion(f"(or (and (> {b} 0) {up}) (and (< {b} 0) {down}) (= {b} 0))")
        return q, r


def solve(text: str, rlimit: int, names: Sequence[str] = ()) -> Answer:
    """Run Z3 with a work limit and fixed seeds, in its own context.

    ``rlimit`` gives the same result on every machine. But multiplications of numbers with a hundred
    thousand digits, which Z3 makes from some powers, are not counted as work and cannot be
    interrupted. So Z3 runs in a thread and is abandoned after :data:`EMERGENCY` CPU seconds,
    several times what its limit ever takes.

    Returns
    -------
    Answer
        With the reason :data:`LEFT` if Z3 was abandoned.
    """
    z3 = loaded_z3()
    context = z3.Context()
    if sys.platform == "emscripten":  # a browser has no threads; one can only close the page
        return _asked(context, text, rlimit, names)
    asked = _Asked(lambda: _asked(context, text, rlimit, names))
    answer = asked.wait()
    if answer is None:
        context.interrupt()
        return Answer("unknown", {}, LEFT)
    return answer


@cache
def loaded_z3() -> Any:
    """Z3 with the library of its package.

    Left alone, it tries a library in the current folder first, then those of ``PATH``.
    """
    found = find_spec("z3")
    homes = list(found.submodule_search_locations or ()) if found is not None else []
    inside = [os.path.join(home, "lib") for home in homes]
    builtins.Z3_LIB_DIRS = [*inside, *homes, os.path.join(sys.prefix, "lib")]  # type: ignore[attr-defined]
    try:
        with safe_environment():
            import z3  # type: ignore[import-untyped]
    finally:
        del builtins.Z3_LIB_DIRS  # type: ignore[attr-defined]
    return z3


class _Asked(Thread):
    """Asks Z3, beside the thread that waits for the answer."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        super().__init__(daemon=True)
        self.ask = ask
        self.answer: Answer | None = None
        self.clock: int | None = None

    def run(self) -> None:
        # Only a thread itself knows for sure that it is there; macOS has no clocks of threads.
        if hasattr(time, "pthread_getcpuclockid"):
            self.clock = time.pthread_getcpuclockid(get_ident())
        self.answer = self.ask()

    def wait(self) -> Answer | None:
        """The answer, or None after :data:`EMERGENCY` seconds of the processor."""
        self.start()
        started = time.monotonic()
        while True:
            self.join(_PATIENCE)
            if not self.is_alive():
                return self.answer
            try:
                spent = time.monotonic() - started
                if self.clock is not None:
                    spent = time.clock_gettime(self.clock)
            except OSError:  # it ended in between
                continue
            if spent > EMERGENCY:
                return None


def _asked(context: Any, text: str, rlimit: int, names: Sequence[str]) -> Answer:
    """Z3's answer.

    Its default solver first runs tactics that do not count their work, and they decide less than
    its core alone: the core is asked directly. A Gröbner basis, Horner's scheme over intervals
    whose numbers grow, and a Hermite normal form of rows with numbers like 2**64 may take seconds
    and decide nothing more of the benchmark.
    """
    z3 = loaded_z3()
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", rlimit)
    solver.set("random_seed", 0)
    solver.set("smt.arith.nl.grobner", False)
    solver.set("smt.arith.nl.horner", False)
    solver.set("smt.arith.enable_hnf", False)
    try:
        solver.from_string(text)
        status = str(solver.check())
        if status != "sat":
            reason = solver.reason_unknown() if status == "unknown" else ""
            return Answer(status, {}, reason)
        model = solver.model()
        values = {str(d): model[d] for d in model.decls()}
        found: dict[str, int] = {}
        for name in names:
            value = values.get(name)
            found[name] = _value(z3, value)
    except (
        z3.Z3Exception,
        ValueError,
    ) as error:  # Python does not read numbers of over 4,300 digits
        return Answer("unknown", {}, str(error))
    return Answer("sat", found)


def _value(z3: Any, value: object) -> int:
    match value:
        case z3.IntNumRef():
            return int(value.as_long())
        case z3.BitVecNumRef():
            return int(value.as_signed_long())
    return 0
