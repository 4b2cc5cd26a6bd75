"""A checker of proofs about integers, in the calculus of `spec/proofs.md`.

It imports nothing of rlx: this file and Python's standard library suffice to check a certificate,
and `python checker.py FILE` works without the package.

A certificate claims that a goal holds for all integers in given ranges that satisfy the
assumptions, wherever the goal is defined. Its proof is a refutation. The first facts are the
ranges, the assumptions, the divisors that cannot be zero, and the negation of the goal. Each step
adds one fact, and states it exactly as this file writes it; the last fact is ``false``.

A quotient with the divisor zero is some number here. Evaluation discards it or has no value at all,
so what holds for every such number holds wherever the goal is defined.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from keyword import iskeyword
from typing import Any, NamedTuple

Mono = tuple[int, ...]
Poly = dict[Mono, int]
"""Coefficients by monomial, which is a sorted tuple of the numbers of atoms; none is zero."""
Cond = tuple[Any, ...]
"""``("ge" | "eq" | "ne", terms of a polynomial)`` beside 0, or ``("and" | "or", conditions)``."""
TRUE: Cond = ("and", ())
FALSE: Cond = ("or", ())
DEPTH, WORK, BITS, CASES, LENGTH = 100, 4_000_000, 13_000, 4_096, 16_000_000
"""Limits: nesting, operations on terms, bits of a number, cases of a table, length of a text."""
_SIGNS = {"ge": ">=", "eq": "==", "ne": "!="}
_CAST = re.compile(r"(u?int)([1-9]\d{0,3})\Z")


class RefusedError(Exception):
    """A certificate proves nothing; ``code`` is the premise that fails."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


def combine(*parts: tuple[int, Poly]) -> Poly:
    """A sum of multiples of polynomials."""
    total: Poly = {}
    for factor, poly in parts:
        for mono, coef in poly.items():
            total[mono] = total.get(mono, 0) + factor * coef
    return {m: c for m, c in total.items() if c}


def shift(poly: Poly, constant: int, factor: int = 1) -> Poly:
    """``factor * poly + constant``"""
    return combine((factor, poly), (constant, {(): 1}))


def value(poly: Poly) -> int | None:
    """The value of a constant."""
    return None if poly.keys() - {()} else poly.get((), 0)


def terms(poly: Poly) -> tuple[tuple[Mono, int], ...]:
    """The terms in one order, so that equal polynomials are equal tuples."""
    return tuple(sorted(poly.items()))


def beside(kind: str, poly: Poly) -> Cond:
    """A polynomial beside 0; decided if it is constant."""
    known = value(poly)
    if known is None:
        return (kind, terms(poly))
    return TRUE if {"ge": known >= 0, "eq": known == 0, "ne": known != 0}[kind] else FALSE


def negate(cond: Cond) -> Cond:
    """The opposite condition."""
    kind, parts = cond
    if kind == "ge":
        return beside("ge", shift(dict(parts), -1, -1))
    opposite = {"eq": "ne", "ne": "eq", "and": "or", "or": "and"}[kind]
    return (opposite, parts if kind in _SIGNS else tuple(map(negate, parts)))


def join(kind: str, *conds: Cond) -> Cond:
    """The conjunction or disjunction of conditions, flat and without trivial parts."""
    neutral, decided = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
    flat = [part for cond in conds for part in (cond[1] if cond[0] == kind else (cond,))]
    if decided in flat:
        return decided
    flat = [part for part in flat if part != neutral]
    return flat[0] if len(flat) == 1 else (kind, tuple(flat))


class Step(NamedTuple):
    """A step, with what it names looked up: an atom, polynomials, the polynomials of facts."""

    given: dict[str, Any]
    rule: str
    atom: Poly
    operands: tuple[Any, ...]
    terms: list[Poly]
    facts: list[Poly]
    kinds: str
    depth: int


class Checker:
    """The facts of a proof, and the rules that add to them. Atoms of polynomials are variables
    (``"var"``), quotients (``"div"``), ``max(P, 0)`` (``"max"``), and 1 or 0 for a condition
    (``"choice"``).
    """

    def __init__(self) -> None:
        self.atoms: list[tuple[str, tuple[Any, ...]]] = []
        self.names: list[str] = []
        self.named: dict[str, int] = {}
        self.numbers: dict[object, int] = {}
        self.facts: list[Cond] = []
        self.used: list[bool] = []
        self.closed, self.waiting, self.work = False, "", WORK

    def need(self, label: str, holds: bool, message: str) -> None:
        """Refuse the certificate unless a premise holds."""
        if not holds:
            raise RefusedError(label, message)

    def spend(self, amount: int) -> None:
        """Count work."""
        self.work -= amount
        self.need("PF01-work", self.work >= 0, "the proof needs too much work")

    def mul(self, a: Poly, b: Poly) -> Poly:
        """The product of polynomials."""
        self.spend(1 + 4 * len(a) * len(b))
        total: Poly = {}
        for left, x in a.items():
            for right, y in b.items():
                self.spend(len(left) + len(right) + (x.bit_length() + y.bit_length()) // 64)
                mono = tuple(sorted(left + right))
                total[mono] = total.get(mono, 0) + x * y
        small = all(c.bit_length() < BITS for c in total.values())
        self.need("PF01-work", small, "a number is too large")
        return {m: c for m, c in total.items() if c}

    def define(self, name: str, atom: tuple[str, tuple[Any, ...]]) -> Poly:
        """A new atom."""
        good = name.isidentifier() and not iskeyword(name) and name not in self.named
        self.need("PF01-names", good, f"{name!r:.40} cannot be a name")
        self.named[name] = self.numbers[atom] = len(self.atoms)
        self.atoms.append(atom)
        self.names.append(name)
        return {(self.numbers[atom],): 1}

    def name(self, atom: tuple[str, tuple[Any, ...]]) -> str:
        """The name of a new atom: the one that waits for its definition."""
        name, self.waiting = self.waiting, ""
        self.need("PF01-names", name != "", "a quotient, maximum or choice has no name")
        return name

    def atom(self, kind: str, *operands: Any) -> Poly:
        """The atom of a kind with these operands."""
        atom = (kind, operands)
        found = self.numbers.get(atom)
        return self.define(self.name(atom), atom) if found is None else {(found,): 1}

    def div(self, a: Poly, b: Poly) -> Poly:
        """The quotient ``a // b``."""
        top, below = value(a), value(b)
        if below and top is not None:
            return shift({}, top // below)
        return a if below == 1 else self.atom("div", terms(a), terms(b))

    def positive_part(self, a: Poly) -> Poly:
        """``max(a, 0)``"""
        known = value(a)
        return self.atom("max", terms(a)) if known is None else shift({}, max(known, 0))

    def choose(self, cond: Cond, a: Poly, b: Poly) -> Poly:
        """``a`` if a condition holds, otherwise ``b``."""
        if cond in (TRUE, FALSE):
            return a if cond == TRUE else b
        return combine((1, b), (1, self.mul(self.atom("choice", cond), combine((1, a), (-1, b)))))

    def truncdiv(self, a: Poly, b: Poly) -> Poly:
        """The quotient rounded towards zero, by the signs of both numbers."""
        known, opposite = value(b), shift(b, 0, -1)
        if known is not None and known < 0:
            return shift(self.truncdiv(a, opposite), 0, -1)
        signs = ((b, 1),) if known is not None else ((b, 1), (opposite, -1))
        up, *down = (
            self.choose(
                beside("ge", a),
                shift(self.div(a, c), 0, sign),
                shift(self.div(shift(a, 0, -1), c), 0, -sign),
            )
            for c, sign in signs
        )
        return self.choose(beside("ge", b), up, down[0]) if down else up

    def text(self, poly: Poly) -> str:
        """A polynomial as text: higher powers first, the constant last."""
        parts: list[str] = []
        for mono, coef in sorted(poly.items(), key=lambda t: (-len(t[0]), t[0])):
            number = [str(abs(coef))] if abs(coef) != 1 or not mono else []
            parts += ["-" if coef < 0 else "+", "*".join(number + [self.names[i] for i in mono])]
        parts[:2] = ["".join(parts[:2]).lstrip("+")]
        return " ".join(parts) or "0"

    def sentence(self, cond: Cond) -> str:
        """A condition as text."""
        kind, parts = cond
        if kind in _SIGNS:
            return f"{self.text(dict(parts))} {_SIGNS[kind]} 0"
        joined = f" {kind} ".join(f"({self.sentence(part)})" for part in parts)
        return joined or ("True" if cond == TRUE else "False")

    def claim(self, given: Any) -> None:
        """What is claimed gives the facts that a proof begins with."""
        fields = {"version": int, "goal": str, "assume": list, "variables": dict, "names": dict}
        whole = isinstance(given, dict) and given.keys() == {*fields, "proof"}
        good = whole and all(type(given[key]) is kind for key, kind in fields.items())
        self.need("PF01-fields", good and given["version"] == 1, "the fields are others")
        for name, limits in given["variables"].items():
            shaped = isinstance(limits, list) and len(limits) == 2
            whole = shaped and all(type(x) is int or x is None for x in limits)
            self.need("PF01-range", whole, f"the range of {name:.40}")
            var = self.define(name, ("var", (name,)))
            for limit, sign in zip(limits, (1, -1), strict=True):
                self.add(TRUE if limit is None else beside("ge", shift(var, -sign * limit, sign)))
        for name, text in given["names"].items():
            self.waiting, count = name, len(self.atoms)
            read = Reader(self, text)
            fresh = not self.waiting and read.form == {(count,): 1}
            self.need("PF01-names", fresh, f"{name:.40} names nothing new")
        for text in given["assume"]:
            self.assume(text)
        self.assume(given["goal"], negate)

    def assume(self, text: object, change: Callable[[Cond], Cond] = lambda cond: cond) -> None:
        """A condition is true, or its opposite; its divisors are not zero."""
        read = Reader(self, text)
        for divisor in read.divisors:
            self.add(beside("ne", divisor))
        form = read.form
        self.add(change(beside("ne", form) if isinstance(form, dict) else form))

    def add(self, cond: Cond) -> None:
        """A new fact; each part of a conjunction is one."""
        if cond[0] == "and":
            for part in cond[1]:
                self.add(part)
        elif cond == FALSE:
            self.closed = True
        else:
            self.facts.append(cond)
            self.used.append(False)

    def run(self, steps: object, assumed: Cond = TRUE, depth: int = 0) -> None:
        """A proof that the facts, with one more, cannot all be true."""
        before, closed = len(self.facts), self.closed
        self.add(assumed)
        start = len(self.facts)
        self.need("PF01-steps", isinstance(steps, list) and depth < DEPTH, "expected steps")
        for step in steps:  # type: ignore[attr-defined]
            self.need("PF01-end", not self.closed, "steps follow after the end")
            self.step(step, depth + 1)
        self.need("PF01-end", self.closed, "the proof does not end in false")
        self.need("PF01-used", all(self.used[start:]), "a step is not used")
        del self.facts[before:], self.used[before:]
        self.closed = closed

    def step(self, given: Any, depth: int) -> None:
        """One step adds one fact."""
        name = given.get("rule") if isinstance(given, dict) else None
        self.need("PF01-steps", isinstance(name, str) and name in RULES, "expected a rule")
        method, takes = RULES[name]
        fields = {key: kind for key, kind in FIELDS.items() if key in takes}
        whole = given.keys() == {"rule", *fields}
        good = whole and all(type(given[key]) is kind for key, kind in fields.items())
        self.need("PF01-steps", good, f"{name} takes other fields")
        self.spend(10)
        index = self.named.get(given["atom"], -1) if "atom" in fields else -1
        kind, operands = self.atoms[index] if index >= 0 else ("", ())
        self.need(
            "PF01-steps", "atom" not in fields or kind in takes, "the name is of another kind"
        )
        polys = [self.number(text) for text in given.get("terms", ())]
        facts = [] if name == "sum" else [self.fact(each) for each in given.get("uses", ())]
        known = [dict(parts) if sort in _SIGNS else {} for sort, parts in facts]
        kinds = " ".join(sort for sort, _ in facts)
        step = Step(given, name, {(index,): 1}, operands, polys, known, kinds, depth)
        cond: Cond = getattr(self, method)(step)
        self.need("PF01-stated", given["gives"] == self.sentence(cond), "it gives another fact")
        self.need("PF01-used", cond != TRUE, "the step says nothing")
        self.add(cond)

    def fact(self, number: object) -> Cond:
        """A fact, which is used now."""
        known = type(number) is int and 0 <= number < len(self.facts)
        self.need("PF01-fact", known, f"there is no fact {number!r:.40}")
        self.used[number] = True  # type: ignore[index]
        return self.facts[number]  # type: ignore[index]

    def number(self, text: object) -> Poly:
        """A polynomial, written as this file writes it."""
        found = Reader(self, text).form
        right = isinstance(found, dict) and self.text(found) == text
        self.need("PF01-stated", right, "a polynomial is written differently")
        return found  # type: ignore[return-value]

    def shape(self, step: Step, code: str, terms: int, *kinds: str) -> None:
        """The number of polynomials and the kinds of facts that a rule takes; what is 0 is also at
        least 0.
        """
        right = len(step.terms) == terms and step.kinds in kinds
        right = right or (len(step.terms) == terms and step.kinds.replace("eq", "ge") in kinds)
        self.need(code, right, "the rule takes other facts or polynomials")

    # The rules

    def sum(self, step: Step) -> Cond:
        """PF02: a sum of products of facts."""
        total, kind, last, uses = Poly(), "eq", [-1], step.given["uses"]
        self.need("PF02-uses", len(uses) == len(step.terms), "a factor for each product")
        for product, numbers in zip(step.terms, uses, strict=True):
            facts = [self.fact(each) for each in (numbers if isinstance(numbers, list) else [-1])]
            ordered = numbers == sorted(numbers) and (not numbers or numbers > last)
            self.need("PF02-uses", ordered, "the facts stand in another order")
            last = numbers
            kinds = {each[0] for each in facts}
            self.need("PF02-kind", kinds <= {"ge", "eq"}, "a fact is neither >= 0 nor == 0")
            if "eq" not in kinds:
                kind = "ge"
                self.need("PF02-sign", (value(product) or 0) > 0, "the factor is not positive")
            for _, poly in facts:
                product = self.mul(product, dict(poly))
            self.spend(len(total))
            total = combine((1, total), (1, product))
        return beside(kind, total)

    def cut(self, step: Step) -> Cond:
        """PF03: ``D*Y + D - 1 >= 0`` gives ``Y >= 0`` for a positive D."""
        self.shape(step, "PF03-of", 2, "ge", "ge ge")
        (divisor, result), known = step.terms, value(step.terms[0])
        positive = [] if known is not None and known > 0 else [shift(divisor, -1)]
        self.need("PF03-divisor", step.facts[1:] == positive, "the divisor is not positive")
        slack = combine((1, self.mul(divisor, result)), (-1, step.facts[0]))
        if step.kinds.startswith("eq") and not slack:
            return beside("eq", result)
        rest = value(combine((1, slack), (1, divisor)))
        self.need("PF03-rest", rest is not None and rest > 0, "the rest is too small")
        return beside("ge", result)

    def division(self, step: Step) -> Cond:
        """PF04, PF05: the remainder of a quotient of A and B is at least 0 and less than a positive
        B; of a negative one, take ``-A`` and ``-B``. What leaves such a remainder is the quotient.
        """
        exact, (top, divisor) = step.rule == "quotient", map(dict, step.operands)
        code, known = "PF05" if exact else "PF04", value(divisor)
        self.shape(step, f"{code}-of", int(exact), "", "ge", *("ge ge", "ge ge ge") * exact)
        signs = step.facts[: known is None]
        sign = 1 if (known > 0 if known is not None else signs == [shift(divisor, -1)]) else -1
        proved = known != 0 if known is not None else signs == [shift(divisor, -1, sign)]
        self.need(f"{code}-divisor", proved, "the divisor may be zero")
        product = self.mul(divisor, step.terms[0] if exact else step.atom)
        low = combine((sign, top), (-sign, product))
        both = beside("ge", low), beside("ge", shift(combine((sign, divisor), (-1, low)), -1))
        left = [beside("ge", poly) for poly in step.facts[known is None :]]
        if exact:
            right = left == [cond for cond in both if cond != TRUE]
            self.need("PF05-remainder", right, "the remainder is another")
            return beside("eq", combine((1, step.atom), (-1, step.terms[0])))
        self.need("PF04-of", not left, "one fact for the sign of the divisor is enough")
        return both[step.rule == "floor-high"]

    def pair(self, step: Step) -> Cond:
        """PF06: what is not 0 and at least 0 is at least 1. PF07: what is at least 0 and at most 0
        is 0. PF09: nothing is both 0 and not 0.
        """
        kinds, code = {"strict": ("ne ge", "PF06"), "squeeze": ("ge ge", "PF07")}.get(
            step.rule, ("eq ne", "PF09")
        )
        self.shape(step, f"{code}-of", 0, kinds)
        a, b = step.facts
        equal = b == shift(a, 0, -1) or (b == a and code != "PF07")
        self.need(f"{code}-equal", equal, "the facts are about different numbers")
        if step.rule == "clash":
            return FALSE
        return beside("eq", a) if step.rule == "squeeze" else beside("ge", shift(b, -1))

    def factor(self, step: Step) -> Cond:
        """PF08: a factor of what is not 0 is not 0."""
        self.shape(step, "PF08-of", 2, "ne")
        product = self.mul(*step.terms)
        self.need("PF08-product", product == step.facts[0], "the product is another")
        return beside("ne", step.terms[0])

    def atom_fact(self, step: Step) -> Cond:
        """PF10: ``max(P, 0)`` is at least 0 and P, and one of them. PF11: a choice is 1 where its
        condition holds, otherwise 0.
        """
        if step.rule in ("max-zero", "choice-low"):
            return beside("ge", step.atom)
        if step.rule == "choice-high":
            return beside("ge", shift(step.atom, 1, -1))
        cond, wanted = step.operands[0], {(): 1}
        if step.rule.startswith("max"):
            cond, wanted = beside("ge", dict(cond)), dict(cond)
        other = combine((1, step.atom), (-1, wanted))
        if step.rule == "max-least":
            return beside("ge", other)
        yes = join("and", cond, beside("eq", other))
        return join("or", yes, join("and", negate(cond), beside("eq", step.atom)))

    def branch(self, step: Step) -> Cond:
        """PF12: each alternative of a fact is impossible. PF13: a number is one of
        those between two limits. PF14: what cannot be false is a fact.
        """
        proofs, conds, gives = step.given["proofs"], list[Cond](), FALSE
        match step.rule:
            case "cases":
                self.shape(step, "PF12-of", 0, "or", "ne")
                conds = [*self.facts[step.given["uses"][0]][1]]
                if step.kinds == "ne":
                    conds = [beside("ge", shift(step.facts[0], -1, sign)) for sign in (1, -1)]
            case "table":
                self.shape(step, "PF13-of", 1, "ge ge")
                low = value(combine((1, step.terms[0]), (-1, step.facts[0])))
                high = value(combine((1, step.terms[0]), (1, step.facts[1])))
                limited = low is not None and high is not None and high - low < CASES
                self.need("PF13-limits", limited, "the facts are no limits, or too wide ones")
                values = range(low or 0, (high or 0) + 1)
                conds = [beside("eq", shift(step.terms[0], -each)) for each in values]
            case _:
                gives = Reader(self, step.given["gives"]).form  # type: ignore[assignment]
                self.need(
                    "PF14-gives",
                    isinstance(gives, tuple) and gives[0] in _SIGNS,
                    "a lemma is one comparison with 0",
                )
                conds = [negate(gives)]
        self.need("PF12-proofs", len(proofs) == len(conds), f"expected {len(conds)} proofs")
        for proof, cond in zip(proofs, conds, strict=True):
            self.run(proof, cond, step.depth)
        return gives


class Reader:
    """Reads a condition or number, in the syntax of Python; ``divisors`` are those that are
    evaluated whenever the whole is.
    """

    def __init__(self, algebra: Checker, text: object) -> None:
        algebra.need("PF01-text", isinstance(text, str) and len(text) <= LENGTH, "expected a text")
        self.algebra, self.divisors = algebra, list[Poly]()
        algebra.spend(len(str(text)))
        try:
            tree = ast.parse(str(text), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise RefusedError("PF01-text", f"cannot read {str(text)[:60]!r}") from None
        self.form = self.visit(tree)

    def number(self, node: ast.expr) -> Poly:
        """An expression as a number."""
        form = self.visit(node)
        return form if isinstance(form, dict) else self.algebra.choose(form, {(): 1}, {})

    def cond(self, node: ast.expr) -> Cond:
        """An expression as a truth value."""
        form = self.visit(node)
        return beside("ne", form) if isinstance(form, dict) else form

    def visit(self, node: ast.expr) -> Poly | Cond:
        """The form of an expression."""
        match node:
            case ast.Constant(value=bool() as known):
                return TRUE if known else FALSE
            case ast.Constant(value=int() as known):
                return shift({}, known)
            case ast.Name(id=name) if name in self.algebra.named:
                return {(self.algebra.named[name],): 1}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return shift(self.number(operand), 0, -1)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negate(self.cond(operand))
            case ast.BoolOp(op=word, values=[first, *others]):
                conds, mark = [self.cond(first)], len(self.divisors)
                conds += map(self.cond, others)
                del self.divisors[mark:]
                return join("and" if isinstance(word, ast.And) else "or", *conds)
            case ast.Compare(left=left, ops=[word], comparators=[right]):
                return self.compared(word, self.number(left), self.number(right))
            case ast.BinOp():
                rest = [node]
                while isinstance(rest[-1].left, ast.BinOp):
                    rest.append(rest[-1].left)
                value = self.number(rest[-1].left)
                for each in reversed(rest):
                    value = self.binary(type(each.op).__name__, value, self.number(each.right))
                return value
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(name, args)
        raise RefusedError("PF01-text", f"not of the language: {ast.unparse(node):.60}")

    def compared(self, word: ast.cmpop, a: Poly, b: Poly) -> Cond:
        """A comparison of two numbers."""
        left, right = combine((1, b), (-1, a)), combine((1, a), (-1, b))
        match word:
            case ast.Eq() | ast.NotEq():
                return beside("eq" if isinstance(word, ast.Eq) else "ne", right)
            case ast.Lt() | ast.LtE():
                return beside("ge", shift(left, -isinstance(word, ast.Lt)))
            case ast.Gt() | ast.GtE():
                return beside("ge", shift(right, -isinstance(word, ast.Gt)))
        raise RefusedError("PF01-text", "not a comparison of the language")

    def binary(self, word: str, a: Poly, b: Poly) -> Poly:
        """An operator on two numbers."""
        algebra = self.algebra
        algebra.spend(len(a) + len(b) + 1)
        if word in ("FloorDiv", "Mod", "truncdiv", "truncmod"):
            self.divisors += [] if value(b) else [b]
            quotient = algebra.truncdiv(a, b) if word.startswith("t") else algebra.div(a, b)
            exact = word in ("FloorDiv", "truncdiv")
            return quotient if exact else combine((1, a), (-1, algebra.mul(b, quotient)))
        if word in ("min", "max"):
            larger = algebra.positive_part(combine((1, a), (-1, b)))
            return combine((1, b), (1, larger)) if word == "max" else combine((1, a), (-1, larger))
        algebra.need("PF01-text", word in ("Add", "Sub", "Mult"), f"{word} is not known")
        return (
            algebra.mul(a, b) if word == "Mult" else combine((1, a), (1 - 2 * (word == "Sub"), b))
        )

    def call(self, name: str, args: list[ast.expr]) -> Poly | Cond:
        """A choice, a cast, or an operator by name; int64 and wider types keep a number."""
        cast = _CAST.match(name)
        match name, args:
            case (("min" | "max" | "truncdiv" | "truncmod"), [a, b]):
                return self.binary(name, self.number(a), self.number(b))
            case (("select" | "if_then_else"), [chosen, a, b]):
                cond, mark = self.cond(chosen), len(self.divisors)
                yes, no = self.visit(a), self.visit(b)
                del self.divisors[mark:]
                if isinstance(yes, tuple) and isinstance(no, tuple):
                    return join("or", join("and", cond, yes), join("and", negate(cond), no))
                one, other = (
                    form if isinstance(form, dict) else self.algebra.choose(form, {(): 1}, {})
                    for form in (yes, no)
                )
                return self.algebra.choose(cond, one, other)
            case "bool", [operand]:
                return self.cond(operand)
            case _, [operand] if cast is not None:
                number, bits, signed = self.number(operand), int(cast[2]), cast[1] == "int"
                if signed and bits >= 64:
                    return number
                size, low = shift({}, 1 << bits), signed << (bits - 1)
                quotient = self.algebra.div(shift(number, low), size)
                return combine((1, number), (-1, self.algebra.mul(size, quotient)))
        raise RefusedError("PF01-text", f"{name:.40} is not known")


FIELDS = {"gives": str, "atom": str, "terms": list, "uses": list, "proofs": list}
RULES = {
    "sum": ("sum", "gives terms uses"),
    "cut": ("cut", "gives terms uses"),
    "quotient": ("division", "gives atom div terms uses"),
    **dict.fromkeys(("floor-low", "floor-high"), ("division", "gives atom div uses")),
    **dict.fromkeys(("strict", "squeeze", "clash"), ("pair", "gives uses")),
    "factor": ("factor", "gives terms uses"),
    **dict.fromkeys(("max-zero", "max-least", "max-cases"), ("atom_fact", "gives atom max")),
    **dict.fromkeys(
        ("choice-low", "choice-high", "choice-cases"), ("atom_fact", "gives atom choice")
    ),
    "cases": ("branch", "gives uses proofs"),
    "table": ("branch", "gives terms uses proofs"),
    "lemma": ("branch", "gives proofs"),
}
"""Each rule's method, and the fields of its steps with the kinds of its atom."""


def check(certificate: Any, checker: Checker | None = None) -> None:
    """Check a certificate; raises RefusedError if it proves nothing."""
    checker = Checker() if checker is None else checker
    try:
        checker.claim(certificate)
        checker.run(certificate["proof"])
    except (RecursionError, ValueError, OverflowError) as error:
        raise RefusedError("PF01-work", f"too large: {error}") from error


def read(text: str) -> Any:
    """The certificate in a text; raises RefusedError if it is no JSON."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a name occurs twice in an object")
        return dict(pairs)

    try:
        if len(text) > LENGTH:
            raise ValueError("the text is too long")
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise RefusedError("PF01-fields", f"no certificate: {error}") from error


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        check(read(file.read()))
    print("proved")
