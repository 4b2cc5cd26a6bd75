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

import json
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

Mono = tuple[int, ...]
Poly = dict[Mono, int]
"""Coefficients by monomial, which is a sorted tuple of the numbers of atoms; none is zero."""
Cond = tuple[Any, ...]
"""``("ge" | "eq" | "ne", terms of a polynomial)`` beside 0, or ``("and" | "or", conditions)``."""
TRUE: Cond = ("and", ())
FALSE: Cond = ("or", ())
DEPTH, WORK, BITS, CASES, LENGTH = 100, 4_000_000, 40_000, 4_096, 16_000_000
"""Limits: nesting, operations on terms, bits of a number, cases of a table, length of a text."""
_SIGNS = {"ge": ">=", "eq": "==", "ne": "!="}
_TOKEN = re.compile(r"\s*(?:(\d+)|([^\W\d]\w*)|(//|[=!<>]=|[-+*%<>(),]))")
_NAME = re.compile(r"(?!(?:and|or|not|True|False)\Z)[^\W\d]\w*\Z")
_CAST = re.compile(r"(u?int)([1-9]\d{0,3})\Z")
_LEVELS = {"or": 1, "and": 2, **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4)}
_LEVELS |= {"+": 5, "-": 5, "*": 6, "//": 6, "%": 6}


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


class Algebra:
    """Polynomials over atoms: variables (``"var"``), quotients (``"div"``), ``max(P, 0)``
    (``"max"``), and 1 or 0 for a condition (``"choice"``).
    """

    def __init__(self) -> None:
        self.atoms: list[tuple[str, tuple[Any, ...]]] = []
        self.names: list[str] = []
        self.named: dict[str, int] = {}
        self.numbers: dict[object, int] = {}
        self.wide: set[str] = set()
        self.work = WORK

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

    def name(self, atom: tuple[str, tuple[Any, ...]]) -> str:
        """The name of a new atom; none may be new except where :meth:`define` says so."""
        raise RefusedError("PF01-names", "a quotient, maximum or choice has no name")

    def define(self, name: str, atom: tuple[str, tuple[Any, ...]]) -> Poly:
        """A new atom."""
        good = _NAME.match(name) is not None and name not in self.named
        self.need("PF01-names", good, f"{name!r:.40} cannot be a name")
        self.named[name] = self.numbers[atom] = len(self.atoms)
        self.atoms.append(atom)
        self.names.append(name)
        return {(self.numbers[atom],): 1}

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
        up, down = beside("ge", b), negate(beside("ge", b))
        c = self.choose(up, b, shift(b, 0, -1)) if FALSE in (up, down) else b
        if FALSE not in (up, down):
            other = shift(self.truncated(a, shift(b, 0, -1)), 0, -1)
            return self.choose(up, self.truncated(a, b), other)
        return shift(self.truncated(a, c), 0, 1 if up == TRUE else -1)

    def truncated(self, a: Poly, b: Poly) -> Poly:
        """The same for a positive divisor."""
        opposite = shift(self.div(shift(a, 0, -1), b), 0, -1)
        return self.choose(beside("ge", a), self.div(a, b), opposite)

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


class Reader:
    """Reads a text of the language of questions; ``divisors`` are those that are evaluated whenever
    the whole is.
    """

    def __init__(self, algebra: Algebra, text: object) -> None:
        algebra.need("PF01-text", isinstance(text, str), "expected a text")
        algebra.spend(len(str(text)))
        found = [*_TOKEN.finditer(str(text).rstrip())]
        whole = sum(len(match[0]) for match in found) == len(str(text).rstrip())
        algebra.need("PF01-text", whole, f"cannot read {str(text)[:60]!r}")
        self.algebra = algebra
        self.tokens = [match[match.lastindex or 0] for match in found] + [""]
        self.place = self.depth = self.wide = 0
        self.divisors: list[Poly] = []
        self.form = self.chain(1)
        self.expect("")

    def expect(self, *tokens: str) -> str:
        """The next token, one of some; of no others, any."""
        token = self.tokens[self.place]
        right = token in tokens if tokens else token != ""
        self.algebra.need("PF01-text", right, f"found {token or 'the end'!r}")
        self.place += 1
        return token

    def number(self, form: Poly | Cond) -> Poly:
        """A form as a number."""
        return form if isinstance(form, dict) else self.algebra.choose(form, {(): 1}, {})

    def cond(self, form: Poly | Cond) -> Cond:
        """A form as a truth value."""
        return beside("ne", form) if isinstance(form, dict) else form

    def chain(self, level: int) -> Poly | Cond:
        """Operators that bind at least as tightly as a level."""
        self.depth += 1
        self.algebra.need("PF01-text", self.depth < DEPTH, "a text is nested too deeply")
        left = self.operand(level)
        while (strength := _LEVELS.get(self.tokens[self.place], 0)) >= level:
            word, mark = self.expect(), len(self.divisors)
            right = self.chain(strength + 1)
            if strength <= 2:
                del self.divisors[mark:]
                left = join(word, self.cond(left), self.cond(right))
            else:
                left = self.binary(word, self.number(left), self.number(right))
            chained = strength == 4 and _LEVELS.get(self.tokens[self.place]) == 4
            self.algebra.need("PF01-text", not chained, "a chain of comparisons")
        self.depth -= 1
        return left

    def binary(self, word: str, a: Poly, b: Poly) -> Poly | Cond:
        """An operator on two numbers."""
        algebra, difference = self.algebra, combine((1, a), (-1, b))
        algebra.spend(len(a) + len(b) + 1)
        if word in ("//", "%", "truncdiv", "truncmod"):
            self.divisors += [b] if not value(b) else []
            quotient = algebra.truncdiv(a, b) if word.startswith("t") else algebra.div(a, b)
            exact = word in ("//", "truncdiv")
            return quotient if exact else combine((1, a), (-1, algebra.mul(b, quotient)))
        match word:
            case "+":
                return combine((1, a), (1, b))
            case "-":
                return difference
            case "*":
                return algebra.mul(a, b)
            case "==" | "!=":
                return beside("eq" if word == "==" else "ne", difference)
            case "<=" | "<":
                return beside("ge", shift(difference, -(word == "<"), -1))
            case ">=" | ">":
                return beside("ge", shift(difference, -(word == ">")))
        larger = algebra.positive_part(difference)
        return combine((1, a), (-1, larger)) if word == "min" else combine((1, b), (1, larger))

    def operand(self, level: int) -> Poly | Cond:
        """A number, a name, or what stands in brackets, after a sign or in a call."""
        token = self.expect()
        if token == "(":
            form = self.chain(1)
            self.expect(")")
            return form
        if token == "-":
            return shift(self.number(self.chain(7)), 0, -1)
        if token == "not" and level <= 3:
            return negate(self.cond(self.chain(3)))
        if token in ("True", "False"):
            return TRUE if token == "True" else FALSE
        if token.isdecimal():
            self.algebra.need("PF01-text", len(token) < 4000, "a number has too many digits")
            return shift({}, int(token))
        if self.tokens[self.place] == "(":
            return self.call(token)
        known = self.algebra.named.get(token)
        self.algebra.need("PF01-text", known is not None, f"{token!r:.40} is no variable")
        self.wide += token in self.algebra.wide
        return {(known,): 1}  # type: ignore[dict-item]

    def call(self, name: str) -> Poly | Cond:
        """A choice, a cast, or an operator by name."""
        before, given, marks = self.wide, list[Poly | Cond](), list[int]()
        while self.expect("," if given else "(", ")") != ")":
            given.append(self.chain(1))
            marks.append(len(self.divisors))
        cast = _CAST.match(name)
        if name in ("min", "max", "truncdiv", "truncmod") and len(given) == 2:
            return self.binary(name, self.number(given[0]), self.number(given[1]))
        if name in ("select", "if_then_else") and len(given) == 3:
            del self.divisors[marks[0] :]
            chosen, (a, b) = self.cond(given[0]), given[1:]
            if isinstance(a, tuple) and isinstance(b, tuple):
                return join("or", join("and", chosen, a), join("and", negate(chosen), b))
            return self.algebra.choose(chosen, self.number(a), self.number(b))
        known = len(given) == 1 and (cast is not None or name == "bool")
        self.algebra.need("PF01-text", known, f"{name!r:.40} is not known")
        if cast is None:
            return self.cond(given[0])
        number, bits, wide = self.number(given[0]), int(cast[2]), self.wide > before
        self.wide += bits > 64 or (bits == 64 and cast[1] == "uint")
        if cast[1] == "int" and bits >= 64 and not wide:
            return number
        least, size = (0 if cast[1] == "uint" else -(1 << (bits - 1))), shift({}, 1 << bits)
        quotient = self.algebra.div(shift(number, -least), size)
        return combine((1, number), (-1, self.algebra.mul(size, quotient)))


class Step(NamedTuple):
    """A step, with what it names looked up: an atom, polynomials, the polynomials of facts."""

    given: dict[str, Any]
    atom: Poly
    operands: tuple[Any, ...]
    terms: list[Poly]
    facts: list[Poly]
    kinds: list[str]
    depth: int


class Checker(Algebra):
    """The facts of a proof, and the rules that add to them."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[Cond] = []
        self.used: list[bool] = []
        self.closed = False
        self.waiting = ""

    def claim(self, given: Any) -> None:
        """What is claimed gives the facts that a proof begins with."""
        fields = {"version": int, "goal": str, "assume": list, "variables": dict, "names": dict}
        whole = isinstance(given, dict) and given.keys() == {*fields, "proof"}
        good = whole and all(type(given[key]) is kind for key, kind in fields.items())
        self.need("PF01-fields", good and given["version"] == 1, "the fields are others")
        for name, limits in given["variables"].items():
            shaped = isinstance(limits, list) and limits[2:] in ([], ["wide"])
            whole = shaped and all(type(x) is int or x is None for x in limits[:2])
            self.need("PF01-range", whole and len(limits) > 1, f"the range of {name:.40}")
            var = self.define(name, ("var", (name,)))
            self.wide |= set([name] if limits[2:] else [])
            for limit, sign in zip(limits[:2], (1, -1), strict=True):
                self.add(TRUE if limit is None else beside("ge", shift(var, -sign * limit, sign)))
        for name, text in given["names"].items():
            self.waiting, count = name, len(self.atoms)
            read = Reader(self, text)
            fresh = not self.waiting and read.form == {(count,): 1}
            self.need("PF01-names", fresh, f"{name:.40} names nothing new")
        for text in given["assume"]:
            self.assume(text)
        self.assume(given["goal"], negate)

    def name(self, atom: tuple[str, tuple[Any, ...]]) -> str:
        name, self.waiting = self.waiting, ""
        self.need("PF01-names", name != "", "a quotient, maximum or choice has no name")
        return name

    def assume(self, text: object, change: Callable[[Cond], Cond] = lambda cond: cond) -> None:
        """A condition is true, or its opposite; its divisors are not zero."""
        read = Reader(self, text)
        for divisor in read.divisors:
            self.add(beside("ne", divisor))
        self.add(change(read.cond(read.form)))

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
        takes = RULES[name].split()
        fields = {"atom": str, "terms": list, "uses": list, "proofs": list}
        fields = {key: kind for key, kind in fields.items() if key in takes}
        whole = given.keys() == {"rule", "gives", *fields}
        good = whole and all(type(given[key]) is kind for key, kind in fields.items())
        self.need("PF01-steps", good, f"{name} takes other fields")
        self.spend(10)
        index = self.named.get(given["atom"]) if "atom" in fields else 0
        self.need("PF01-steps", index is not None, "there is no such name")
        atom, operands = self.atoms[index] if self.atoms else ("", ())  # type: ignore[index]
        self.need(
            "PF01-steps", "atom" not in fields or atom in takes, "the name is of another kind"
        )
        polys = [self.number(text) for text in given.get("terms", ())]
        facts = [] if name == "sum" else [self.fact(each) for each in given.get("uses", ())]
        polynomials = [dict(parts) if kind in _SIGNS else {} for kind, parts in facts]
        kinds = [kind for kind, _ in facts]
        step = Step(given, {(index,): 1}, operands, polys, polynomials, kinds, depth)  # type: ignore[dict-item]
        cond: Cond = getattr(self, name.replace("-", "_"))(step)
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
        read = Reader(self, text)
        found = read.number(read.form)
        self.need("PF01-stated", self.text(found) == text, "a polynomial is written differently")
        return found

    def shape(self, step: Step, code: str, terms: int, *kinds: str) -> None:
        """The number of polynomials and the kinds of facts that a rule takes; what is 0 is also at
        least 0.
        """
        found = " ".join(step.kinds)
        right = len(step.terms) == terms and {found, found.replace("eq", "ge")} & {*kinds}
        self.need(code, bool(right), "the rule takes other facts or polynomials")

    def remainder(self, step: Step, code: str, result: Poly, sign: list[Poly]) -> tuple[Poly, Poly]:
        """``A - B*result`` and ``B - 1 - A + B*result`` for a positive B; for a negative one, those
        of ``-A`` and ``-B``.
        """
        top, divisor = map(dict, step.operands)
        known = value(divisor)
        positive = known > 0 if known is not None else sign == [shift(divisor, -1)]
        proved = known != 0 and not sign if known is not None else positive
        proved = proved or sign == [shift(divisor, -1, -1)]
        self.need(code, proved, "the divisor may be zero")
        top, divisor = (poly if positive else shift(poly, 0, -1) for poly in (top, divisor))
        rest = combine((1, top), (-1, self.mul(divisor, result)))
        return rest, combine((1, divisor), (-1, rest), (-1, {(): 1}))

    def branches(self, step: Step, code: str, conds: list[Cond]) -> Cond:
        """Each of some conditions is impossible."""
        proofs = step.given["proofs"]
        self.need(code, len(proofs) == len(conds), f"expected {len(conds)} proofs")
        for proof, cond in zip(proofs, conds, strict=True):
            self.run(proof, cond, step.depth)
        return FALSE

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
        self.shape(step, "PF03-of", 2, "ge", "eq", "ge ge", "eq ge")
        (divisor, result), known = step.terms, value(step.terms[0])
        positive = [] if known is not None and known > 0 else [shift(divisor, -1)]
        self.need("PF03-divisor", step.facts[1:] == positive, "the divisor is not positive")
        slack = combine((1, self.mul(divisor, result)), (-1, step.facts[0]))
        if step.kinds[0] == "eq" and not slack:
            return beside("eq", result)
        rest = value(combine((1, slack), (1, divisor)))
        self.need("PF03-rest", rest is not None and rest > 0, "the rest is too small")
        return beside("ge", result)

    def floor_low(self, step: Step) -> Cond:
        """PF04: ``A - B*q >= 0`` for a quotient q of A and a positive B."""
        self.shape(step, "PF04-of", 0, "", "ge")
        return beside("ge", self.remainder(step, "PF04-divisor", step.atom, step.facts)[0])

    def floor_high(self, step: Step) -> Cond:
        """PF04: ``B - 1 - A + B*q >= 0``"""
        self.shape(step, "PF04-of", 0, "", "ge")
        return beside("ge", self.remainder(step, "PF04-divisor", step.atom, step.facts)[1])

    def quotient(self, step: Step) -> Cond:
        """PF05: what leaves the remainder of a quotient is the quotient."""
        self.shape(step, "PF05-of", 1, "", *("ge", "ge ge", "ge ge ge"))
        signs = int(value(dict(step.operands[1])) is None)
        both = self.remainder(step, "PF05-divisor", step.terms[0], step.facts[:signs])
        facts = [beside("ge", poly) for poly in both]
        known = [beside("ge", poly) for poly in step.facts[signs:]]
        wanted = [fact for fact in facts if fact != TRUE]
        self.need("PF05-remainder", known == wanted, "the remainder is another")
        return beside("eq", combine((1, step.atom), (-1, step.terms[0])))

    def same(self, step: Step) -> Cond:
        """PF06: of equal operands, quotients, maxima and choices are equal."""
        kind, mine = self.atoms[self.named[step.given["atom"]]]
        (other,) = step.terms[0] if len(step.terms) == 1 and len(step.terms[0]) == 1 else ((),)
        found, others = self.atoms[other[0]] if len(other) == 1 else ("", ())
        if kind == found == "choice":
            kind, found, mine, others = mine[0][0], others[0][0], mine[0][1:], others[0][1:]
        right = kind == found and kind not in ("var", "and", "or") and step.terms[0] == {other: 1}
        self.need("PF06-kind", right, "they are of different kinds")
        pairs = [(dict(a), dict(b)) for a, b in zip(mine, others, strict=True) if a != b]
        equal = step.facts == [combine((1, a), (-1, b)) for a, b in pairs]
        self.need("PF06-equal", equal and {*step.kinds} <= {"eq"}, "the operands may differ")
        return beside("eq", combine((1, step.atom), (-1, step.terms[0])))

    def strict(self, step: Step) -> Cond:
        """PF07: what is at least 0 and not 0 is at least 1."""
        self.shape(step, "PF07-of", 0, "ne ge")
        different, poly = step.facts
        equal = poly in (different, shift(different, 0, -1))
        self.need("PF07-equal", equal, "the facts are about different numbers")
        return beside("ge", shift(poly, -1))

    def squeeze(self, step: Step) -> Cond:
        """PF08: what is at least 0 and at most 0 is 0."""
        self.shape(step, "PF08-of", 0, "ge ge")
        opposite = step.facts[1] == shift(step.facts[0], 0, -1)
        self.need("PF08-equal", opposite, "the facts are about different numbers")
        return beside("eq", step.facts[0])

    def factor(self, step: Step) -> Cond:
        """PF09: a factor of what is not 0 is not 0."""
        self.shape(step, "PF09-of", 2, "ne")
        product = self.mul(*step.terms)
        self.need("PF09-product", product == step.facts[0], "the product is another")
        return beside("ne", step.terms[0])

    def clash(self, step: Step) -> Cond:
        """PF10: nothing is both 0 and not 0."""
        self.shape(step, "PF10-of", 0, "eq ne")
        equal, different = step.facts
        same = different in (equal, shift(equal, 0, -1))
        self.need("PF10-equal", same, "the facts are about different numbers")
        return FALSE

    def max_zero(self, step: Step) -> Cond:
        """PF11: ``max(P, 0)`` is at least 0."""
        return beside("ge", step.atom)

    def max_least(self, step: Step) -> Cond:
        """PF11: and at least P."""
        return beside("ge", combine((1, step.atom), (-1, dict(step.operands[0]))))

    def max_cases(self, step: Step) -> Cond:
        """PF11: and one of them."""
        poly = dict(step.operands[0])
        positive = beside("eq", combine((1, step.atom), (-1, poly)))
        negative = join("and", beside("ge", shift(poly, 0, -1)), beside("eq", step.atom))
        return join("or", join("and", beside("ge", poly), positive), negative)

    def choice_low(self, step: Step) -> Cond:
        """PF12: a choice is at least 0."""
        return beside("ge", step.atom)

    def choice_high(self, step: Step) -> Cond:
        """PF12: and at most 1."""
        return beside("ge", shift(step.atom, 1, -1))

    def choice_cases(self, step: Step) -> Cond:
        """PF12: it is 1 where its condition holds, otherwise 0."""
        (cond,) = step.operands
        yes = join("and", cond, beside("eq", shift(step.atom, -1)))
        return join("or", yes, join("and", negate(cond), beside("eq", step.atom)))

    def cases(self, step: Step) -> Cond:
        """PF13: each alternative of a fact is impossible."""
        self.shape(step, "PF13-of", 0, "or", "ne")
        if step.kinds == ["ne"]:
            poly = step.facts[0]
            both = [beside("ge", shift(poly, -1)), beside("ge", shift(poly, -1, -1))]
            return self.branches(step, "PF13-proofs", both)
        return self.branches(step, "PF13-proofs", [*self.facts[step.given["uses"][0]][1]])

    def split(self, step: Step) -> Cond:
        """PF14: a number is at least 0, or at most -1."""
        self.shape(step, "PF14-of", 1, "")
        cond = beside("ge", step.terms[0])
        return self.branches(step, "PF14-proofs", [cond, negate(cond)])

    def table(self, step: Step) -> Cond:
        """PF15: each value between two limits is impossible."""
        self.shape(step, "PF15-of", 1, "ge ge")
        low = value(combine((1, step.terms[0]), (-1, step.facts[0])))
        high = value(combine((1, step.terms[0]), (1, step.facts[1])))
        limited = low is not None and high is not None and high - low < CASES
        self.need("PF15-limits", limited, "the facts are no limits, or too wide ones")
        values = range(low, high + 1) if limited else ()  # type: ignore[arg-type,operator]
        conds = [beside("eq", shift(step.terms[0], -each)) for each in values]
        return self.branches(step, "PF15-proofs", conds)

    def lemma(self, step: Step) -> Cond:
        """PF16: what cannot be false is a fact."""
        read = Reader(self, step.given["gives"])
        cond = read.cond(read.form)
        self.need("PF16-gives", cond[0] in _SIGNS, "a lemma is one comparison with 0")
        self.branches(step, "PF16-proofs", [negate(cond)])
        return cond


RULES = {
    "sum": "terms uses",
    "cut": "terms uses",
    "quotient": "atom div terms uses",
    "same": "atom div max choice terms uses",
    **dict.fromkeys(("floor-low", "floor-high"), "atom div uses"),
    **dict.fromkeys(("strict", "squeeze", "clash"), "uses"),
    "factor": "terms uses",
    **dict.fromkeys(("max-zero", "max-least", "max-cases"), "atom max"),
    **dict.fromkeys(("choice-low", "choice-high", "choice-cases"), "atom choice"),
    "cases": "uses proofs",
    "split": "terms proofs",
    "table": "terms uses proofs",
    "lemma": "proofs",
}
"""The fields of each rule's steps, and the kinds of its atom."""


def check(certificate: Any, checker: Checker | None = None) -> None:
    """Check a certificate; raises RefusedError if it proves nothing."""
    checker = Checker() if checker is None else checker
    checker.claim(certificate)
    checker.run(certificate["proof"])


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name occurs twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return dict(pairs)


def read(text: str) -> Any:
    """The certificate in a text; raises RefusedError if it is no JSON."""
    try:
        if len(text) > LENGTH:
            raise ValueError("the text is too long")
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise RefusedError("PF01-fields", f"no certificate: {error}") from error


def main(argv: list[str]) -> int:
    """Check one file; 0 if it is a proof, otherwise 1."""
    try:
        with open(argv[0], encoding="utf-8") as file:
            check(read(file.read(LENGTH + 1)))
    except (OSError, UnicodeDecodeError, IndexError, RefusedError) as error:
        print(f"refused: {error}")
        return 1
    print("proved")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
