"""`python checker.py < FILE`: checks a proof in the calculus of `spec/proofs.md`, without rlx. Each
step adds a fact to what is assumed of integers and to the negated goal, until False."""

import ast
import json
import re
import sys
from itertools import product as rows
from keyword import iskeyword
from types import SimpleNamespace as Step
from typing import Any

Mono = tuple[int, ...]  # the numbers of atoms, sorted
Poly = dict[Mono, int]  # coefficients, none of which is 0
Cond = tuple[Any, ...]  # ("ge" | "eq" | "ne", terms) beside 0, or ("and" | "or", conditions)
TRUE, FALSE = Cond(("and", ())), Cond(("or", ()))
DEPTH, WORK, BITS, CASES = 100, 4_000_000, 13_000, 4_096  # limits; WORK counts terms
_COMPARED = {"Eq": ("eq", 1, 0), "NotEq": ("ne", 1, 0), "Lt": ("ge", -1, -1)}
_COMPARED |= {"LtE": ("ge", -1, 0), "Gt": ("ge", 1, -1), "GtE": ("ge", 1, 0)}
_SIGNS, _CAST = ("ge", "eq", "ne"), re.compile(r"(u?int)([1-9]\d{0,3})\Z")
_WIDE = re.compile(r"\buint(6[4-9]|[7-9]\d|\d{3,4})\(|\bint(6[5-9]|[7-9]\d|\d{3,4})\(")


class RefusedError(Exception):
    """A certificate proves nothing; ``args`` are the premise that fails, and a message."""


def combine(*parts: tuple[int, Poly]) -> Poly:
    total: Poly = {}
    for factor, poly in parts:
        for mono, coef in poly.items():
            total[mono] = total.get(mono, 0) + factor * coef
    return {m: c for m, c in total.items() if c}


def shift(poly: Poly, constant: int, factor: int = 1) -> Poly:
    return combine((factor, poly), (constant, {(): 1}))


def value(poly: Poly) -> int | None:
    return None if poly.keys() - {()} else poly.get((), 0)


def beside(kind: str, poly: Poly) -> Cond:
    known = value(poly)
    holds = {"ge": (known or 0) >= 0, "eq": known == 0, "ne": known != 0}[kind]
    return (kind, tuple(sorted(poly.items()))) if known is None else (TRUE if holds else FALSE)


def as_cond(form: Poly | Cond) -> Cond:
    return beside("ne", form) if isinstance(form, dict) else form


def negate(cond: Cond) -> Cond:
    kind, parts = cond
    if kind == "ge":
        return beside("ge", shift(dict(parts), -1, -1))
    opposite = {"eq": "ne", "ne": "eq", "and": "or", "or": "and"}[kind]
    return (opposite, parts if kind in _SIGNS else tuple(map(negate, parts)))


def join(kind: str, *conds: Cond) -> Cond:
    neutral, decided = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
    flat = [part for cond in conds for part in (cond[1] if cond[0] == kind else (cond,))]
    flat = [decided] if decided in flat else [part for part in flat if part != neutral]
    return flat[0] if len(flat) == 1 else (kind, tuple(flat))


def length(cond: Cond) -> int:  # the number of its terms
    return len(cond[1]) if cond[0] in _SIGNS else 1 + sum(map(length, cond[1]))


class ProofChecker:
    """The facts of a proof, and the rules that add to them. Atoms: ``"var"``, a quotient ``"div"``,
    ``"max"`` of a number and 0, ``"power"`` of 2, common ``"bits"``, a ``"choice"`` of 1 or 0."""

    def __init__(self) -> None:
        self.atoms: list[tuple[str, tuple[Any, ...]]] = []
        self.named, self.numbers = dict[str, int](), dict[object, int]()
        self.facts, self.used, self.demands = list[Cond](), list[bool](), list[Cond]()
        self.closed, self.waiting, self.work, self.known = False, "", WORK, self.named

    def need(self, label: str, holds: bool, message: str) -> None:
        if not holds:
            raise RefusedError(label, message)

    def spend(self, amount: int) -> None:
        self.work -= amount
        self.need("PF01-work", self.work >= 0, "the proof needs too much work")

    def mul(self, a: Poly, b: Poly) -> Poly:
        total: Poly = {}
        for left, x in a.items():
            for right, y in b.items():
                self.spend(5 + len(left + right) + (x.bit_length() + y.bit_length()) // 64)
                mono = tuple(sorted(left + right))
                total[mono] = total.get(mono, 0) + x * y
        self.need("PF01-work", all(c.bit_length() < BITS for c in total.values()), "too large")
        return {m: c for m, c in total.items() if c}

    def define(self, name: str, atom: tuple[str, tuple[Any, ...]]) -> Poly:
        good = name.isidentifier() and not iskeyword(name) and ast.unparse(ast.parse(name)) == name
        self.need("PF01-names", good and name not in self.named, f"{name!r:.40} cannot be a name")
        self.named[name] = self.numbers[atom] = len(self.atoms)
        self.atoms.append(atom)
        return {(self.numbers[atom],): 1}

    def name(self, atom: tuple[str, tuple[Any, ...]]) -> str:
        self.waiting, name = "", self.waiting
        return name  # none, where the certificate has no name for a new atom

    def atom(self, kind: str, *operands: Any) -> Poly:
        operands = tuple(tuple(sorted(x.items())) if type(x) is dict else x for x in operands)
        if (kind, operands) not in self.numbers:
            self.define(self.name((kind, operands)), (kind, operands))
        return {(self.numbers[kind, operands],): 1}

    def div(self, a: Poly, b: Poly) -> Poly:
        top, below = value(a), value(b)
        if below and top is not None:
            return shift({}, top // below)
        return a if below == 1 else self.atom("div", a, b)

    def common(self, a: Poly, b: Poly) -> Poly:
        mask, other = (value(a), b) if value(b) is None else (value(b), a)
        if mask is None:
            a, b = sorted((a, b), key=lambda x: sorted(x.items()))
            return a if a == b else self.atom("bits", a, b)
        if mask < 0:
            return combine((1, other), (-1, self.common(other, shift({}, ~mask))))
        edges = [1 << i for i in range(mask.bit_length() + 1) if (mask ^ mask << 1) >> i & 1]
        self.spend(len(edges) * (10 + len(other) + mask.bit_length() // 16))
        return combine(*(((-1) ** i * n, self.div(other, {(): n})) for i, n in enumerate(edges)))

    def power(self, exponent: Poly) -> Poly:
        size = -1 if (known := value(exponent)) is None else known
        self.need("PF01-work", size < BITS, "too large")
        return self.atom("power", exponent) if size < 0 else shift({}, 1 << size)

    def choose(self, cond: Cond, a: Poly, b: Poly) -> Poly:
        if cond in (TRUE, FALSE):
            return a if cond == TRUE else b
        self.spend(length(cond))
        return combine((1, b), (1, self.mul(self.atom("choice", cond), combine((1, a), (-1, b)))))

    def as_number(self, form: Poly | Cond) -> Poly:
        return form if isinstance(form, dict) else self.choose(form, {(): 1}, {})

    def claim(self, given: Any) -> None:
        fields = {"version": int, "goal": str, "assume": list, "variables": dict, "names": dict}
        good = fields == {key: type(given[key]) for key in given if key != "proof"}
        self.need("PF01-fields", good and given["version"] == 1, "the fields are others")
        for name, limits in given["variables"].items():
            kinds = [type(x) in (int, type(None)) for x in limits] if type(limits) is list else []
            self.need("PF01-range", kinds == [True, True], f"the range of {name:.40}")
            var = self.define(name, ("var", (name,)))
            for limit, sign in zip(limits, (1, -1), strict=True):
                self.add(TRUE if limit is None else beside("ge", shift(var, -sign * limit, sign)))
        for name, text in given["names"].items():
            self.waiting, count = name, len(self.atoms)
            fresh = self.parse(text) == {(count,): 1} and not self.waiting
            self.need("PF01-names", fresh, f"{name:.40} names nothing new")
        self.known = given["variables"]  # what is claimed names no other atoms
        for text, negated in [*((each, False) for each in given["assume"]), (given["goal"], True)]:
            cond = as_cond(self.parse(text))
            for each in (*self.demands, negate(cond) if negated else cond):
                self.add(TRUE if each in self.facts else each)

    def add(self, cond: Cond) -> None:
        parts = cond[1] if cond[0] == "and" else (cond,)
        self.facts += [part for part in parts if part != FALSE]
        self.used += [False] * (len(self.facts) - len(self.used))
        self.closed = self.closed or FALSE in parts

    def run(self, steps: object, assumed: Cond = TRUE, depth: int = 0) -> None:
        before, closed, self.known = len(self.facts), self.closed, self.named
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
        name: Any = given.get("rule") if isinstance(given, dict) else None
        self.need("PF01-steps", isinstance(name, str) and name in RULES, "expected a rule")
        method, code, takes, atoms, count, wanted = RULES[name]
        kinds: dict[str, object] = {"rule": str, "gives": str, **({"atom": str} if atoms else {})}
        kinds |= {key: list for key in takes.split()}
        self.need("PF01-steps", kinds == {key: type(given[key]) for key in given}, "other fields")
        index = self.named.get(given.get("atom", ""), -1)
        kind, operands = self.atoms[index] if index >= 0 else ("", ())
        self.need("PF01-steps", not atoms or kind == atoms, "the name is of another kind")
        polys = [self.as_number(self.parse(each)) for each in given.get("terms", ())]
        facts = [] if name == "sum" else [self.fact(each) for each in given.get("uses", ())]
        held = operands if kind == "choice" else (("ge", each) for each in operands)
        self.spend(30 + sum(map(length, (*facts, *held))))
        sorts = " ".join(sort for sort, _ in facts)
        fit = wanted == "*" or {sorts, sorts.replace("eq", "ge")} & {*wanted.split(", ")}
        self.need("PF01-of", bool(fit) and count in (len(polys), -1), "other facts or polynomials")
        known = [dict(parts) if sort in _SIGNS else {} for sort, parts in facts]
        found = {"code": code, "point": {(index,): 1}, "operands": operands, "depth": depth}
        stated = as_cond(self.parse(given["gives"]))
        found |= {"polys": polys, "facts": known, "kinds": sorts, "conds": facts, "stated": stated}
        right = stated == getattr(self, method)(Step(**given, **found))
        self.need("PF01-stated", right, "it gives another fact")
        self.need("PF01-used", stated != TRUE, "the step says nothing")
        self.add(stated)

    def fact(self, number: Any) -> Cond:
        self.need("PF01-fact", type(number) is int and 0 <= number < len(self.facts), "no fact")
        self.used[int(number)] = True
        return self.facts[int(number)]

    def parse(self, text: str) -> Poly | Cond:  # no comments, and no words in numbers (1or)
        self.spend(len(text))
        self.demands.clear()
        return self.visit(ast.parse(re.sub(r"[#.\\]|\b\d\w*[^\W\d]", "$", text), mode="eval").body)

    def visit(self, node: ast.expr) -> Poly | Cond:
        match node:
            case ast.Constant(value=int() as known):  # True and False are integers of Python
                self.need("PF01-work", known.bit_length() < BITS, "too large")
                return [FALSE, TRUE][known] if type(known) is bool else shift({}, known)
            case ast.Name(id=name) if name in self.known:
                return {(self.named[name],): 1}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.binary("Sub", {}, self.as_number(self.visit(operand)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negate(as_cond(self.visit(operand)))
            case ast.BoolOp(op=word, values=[first, *others]):
                conds, mark = [as_cond(self.visit(first))], len(self.demands)
                conds += [as_cond(self.visit(other)) for other in others]
                del self.demands[mark:]
                self.spend(sum(map(length, conds)))
                return join("and" if isinstance(word, ast.And) else "or", *conds)
            case ast.Compare(left, [op], [right]) if type(op).__name__ in _COMPARED:
                a, b = self.as_number(self.visit(left)), self.as_number(self.visit(right))
                kind, sign, constant = _COMPARED[type(op).__name__]
                return beside(kind, shift(combine((1, a), (-1, b)), constant, sign))
            case ast.BinOp():
                rest = [node]
                while isinstance(rest[-1].left, ast.BinOp):
                    rest.append(rest[-1].left)
                result = self.as_number(self.visit(rest[-1].left))
                for each in reversed(rest):
                    b = self.as_number(self.visit(each.right))
                    result = self.binary(type(each.op).__name__, result, b)
                return result
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(name, args)
        self.need("PF01-text", False, f"{type(node).__name__} is not of the language")
        return {}

    def binary(self, word: str, a: Poly, b: Poly) -> Poly:
        self.spend(len(a) + len(b) + 1)
        if word in ("FloorDiv", "Mod", "truncdiv", "truncmod"):
            self.demands += [] if value(b) else [beside("ne", b)]
            up = shift(self.div(shift(a, 0, -1), b), 0, -1) if word.startswith("t") else {}
            quotient = self.div(a, b)
            if word.startswith("t"):  # rounded down if the signs agree, otherwise up
                agree = [[beside("ge", shift(x, 0, sign)) for x in (a, b)] for sign in (1, -1)]
                agreed = join("or", *(join("and", *each) for each in agree))
                quotient = self.choose(agreed, quotient, up)
            return quotient if "iv" in word else combine((1, a), (-1, self.mul(b, quotient)))
        if word in ("min", "max"):
            gap = combine((1, a), (-1, b))
            larger = self.atom("max", gap) if (n := value(gap)) is None else shift({}, max(n, 0))
            return combine((1, b), (1, larger)) if word == "max" else combine((1, a), (-1, larger))
        if word in ("BitAnd", "BitOr", "BitXor"):
            both, times = self.common(a, b), -1 if word == "BitOr" else -2
            return both if word == "BitAnd" else combine((1, a), (1, b), (times, both))
        if word in ("LShift", "RShift"):
            self.demands += [beside("ge", b), beside("ge", shift(b, 63, -1))]
            return self.mul(a, self.power(b)) if word == "LShift" else self.div(a, self.power(b))
        self.need("PF01-text", word in ("Add", "Sub", "Mult"), f"{word} is not known")
        return self.mul(a, b) if word == "Mult" else combine((1, a), ((-1) ** (word == "Sub"), b))

    def call(self, name: str, args: list[ast.expr]) -> Poly | Cond:
        first, mark = self.visit(args[0]) if args else {}, len(self.demands)
        others = [self.visit(arg) for arg in args[1:]]
        if name in ("min", "max", "truncdiv", "truncmod") and len(args) == 2:
            return self.binary(name, self.as_number(first), self.as_number(others[0]))
        if name in ("select", "if_then_else") and len(args) == 3:
            del self.demands[mark:]
            cond, (a, b) = as_cond(first), others
            if isinstance(a, tuple) and isinstance(b, tuple):
                self.spend(2 * length(cond) + length(a) + length(b))
                return join("or", join("and", cond, a), join("and", negate(cond), b))
            return self.choose(cond, self.as_number(a), self.as_number(b))
        cast = _CAST.match(name)
        self.need("PF01-text", len(args) == 1 and bool(cast or name == "bool"), "an unknown call")
        number, signed = self.as_number(first), name.startswith("int")
        if cast is None or (signed and int(cast[2]) >= 64):
            self.need("PF01-text", not (cast and _WIDE.search(ast.unparse(args[0]))), "it wraps")
            return as_cond(first) if cast is None else number
        size, low = shift({}, 1 << int(cast[2])), signed << (int(cast[2]) - 1)
        return combine((1, number), (-1, self.mul(size, self.div(shift(number, low), size))))

    def sum(self, step: Step) -> Cond:
        """PF02: a sum of products of facts."""
        total, kind, uses = Poly(), "eq", step.uses
        right = uses == [[*x] for x in sorted({tuple(sorted(each)) for each in uses})]
        self.need("PF02-uses", right and len(uses) == len(step.polys), "facts in another order")
        for product, numbers in zip(step.polys, uses, strict=True):
            facts = [self.fact(each) for each in numbers]
            kinds = {"ge", *(each[0] for each in facts)}
            self.need("PF02-kind", kinds <= {"ge", "eq"}, "a fact is neither >= 0 nor == 0")
            kind = "ge" if kinds == {"ge"} else kind
            self.need("PF02-sign", kinds != {"ge"} or (value(product) or 0) > 0, "another sign")
            for _, poly in facts:
                product = self.mul(product, dict(poly))
            self.spend(len(total))
            total = combine((1, total), (1, product))
        return beside(kind, total)

    def cut(self, step: Step) -> Cond:
        """PF03: ``D*Y + D - 1 >= 0`` gives ``Y >= 0`` for a positive D."""
        (divisor, result), known = step.polys, value(step.polys[0]) or 0
        positive = step.facts[1:] == [shift(divisor, -1)][known > 0 :]
        self.need("PF03-divisor", positive, "the divisor is not positive")
        slack = combine((1, self.mul(divisor, result)), (-1, step.facts[0]))
        exact = step.kinds.startswith("eq") and not slack
        rest = value(combine((1, slack), (1, divisor))) or 0
        self.need("PF03-rest", exact or rest > 0, "the rest is too small")
        return beside("eq" if exact else "ge", result)

    def division(self, step: Step) -> Cond:
        """PF04: the limits of a remainder, for both signs. PF05: a quotient by its remainder."""
        (top, below), exact, known = map(dict, step.operands), step.code == "PF05", step.facts[:1]
        size = value(below) or 0
        signs = [s for s in (1, -1) if size * s > 0 or (not size and shift(below, -1, s) in known)]
        self.need(f"{step.code}-divisor", bool(signs), "the divisor may be zero")
        product = self.mul(below, step.polys[0] if exact else step.point)
        low = combine((signs[0], top), (-signs[0], product))
        both = beside("ge", low), beside("ge", shift(combine((signs[0], below), (-1, low)), -1))
        label, wanted = ("PF05-remainder", both) if exact else ("PF01-of", ())
        self.match(label, step.conds[not size :], *wanted)
        difference = combine((1, step.point), *((-1, each) for each in step.polys))
        return beside("eq", difference) if exact else both[step.rule == "floor-high"]

    def match(self, label: str, facts: list[Cond], *wanted: Cond) -> None:
        """Some facts are certain conditions, of which ``P >= 0`` also follows from ``P == 0``."""
        left = [each for each in wanted if each != TRUE]
        good = all(fact in (each, ("eq", each[1])) for fact, each in zip(facts, left, strict=False))
        self.need(label, good and len(facts) == len(left), "other facts")

    def pair(self, step: Step) -> Cond:
        """PF06, PF07: not 0, or both limits. PF08: a factor of what is not 0. PF09: 0 and not 0."""
        a, b = step.facts[0], step.facts[-1]
        if step.code == "PF08":
            self.need("PF08-product", self.mul(*step.polys) == a, "the product is another")
            return beside("ne", step.polys[0])
        equal = b == shift(a, 0, -1) or (b == a and step.code != "PF07")
        self.need(f"{step.code}-equal", equal, "the facts are about different numbers")
        return {"PF06": beside("ge", shift(b, -1)), "PF07": beside("eq", a)}.get(step.code, FALSE)

    def extreme(self, step: Step) -> Cond:
        """PF10: what ``max(P, 0)`` is. PF11: a choice is 1 where its condition holds, else 0."""
        part, cond, wanted = step.rule.partition("-")[2], step.operands[0], Poly({(): 1})
        if step.code == "PF10":
            cond, wanted = beside("ge", dict(cond)), dict(cond)
        other = combine((1, step.point), (-1, wanted))
        if part != "cases":
            high = {"zero": step.point, "low": step.point, "least": other}
            return beside("ge", high.get(part, shift(other, 0, -1)))
        yes = join("and", cond, beside("eq", other))
        return join("or", yes, join("and", negate(cond), beside("eq", step.point)))

    def bits(self, step: Step) -> Cond:
        """PF15: what holds for each row of bits of the terms; the number -1 has all bits."""
        gives, terms, seen, sole = step.stated, step.polys[::2], set[int](), set[int]()
        self.need("PF15-gives", gives[0] in ("ge", "eq"), "it is neither >= 0 nor == 0")
        times, known = [value(each) or 0 for each in step.polys[1::2]], step.facts
        good = len(terms) == len(times) <= 10 and known == [x for x in terms if x in known]
        self.need("PF15-terms", good and "ne" not in step.kinds, "other terms or facts")
        rest = combine((1, dict(gives[1])), *((-n, x) for n, x in zip(times, terms, strict=True)))
        good = all(len(m) < 2 and self.atoms[i][0] == "bits" for m in rest for i in m)
        self.need("PF15-bits", good, "more than bits is left")
        for bits in rows((0, 1), repeat=len(terms)):
            total = sum(map(int.__mul__, times, bits)) + self.bit(rest, terms, bits, seen)
            ones = {i for i, term in enumerate(terms) if bits[i] and term in known}
            sole |= ones if total > 0 and len(ones) == 1 else set()  # a fact that is needed
            holds = total == 0 or (total > 0 and bool(ones) and gives[0] == "ge")
            self.need("PF15-rows", holds, "it does not hold for some bits")
        seen |= {i for i, count in enumerate(times) if count}
        self.need("PF15-terms", len(seen) == len(terms) and len(sole) == len(known), "not needed")
        return Cond(gives)

    def bit(self, poly: Poly, terms: list[Poly], row: tuple[int, ...], seen: set[int]) -> int:
        self.spend(1 + len(poly))
        opposite = shift(poly, -1, -1)
        for term in sorted(terms, key=lambda x: (x != poly, x != opposite, -len(x))):
            times, more = divmod(poly.get(max(term), 0), term[max(term)])
            rest = poly if more or not times else combine((1, poly), (-times, term))
            if rest is not poly and (term == opposite or len(rest) < len(poly)):
                seen.add(terms.index(term))
                return times * row[terms.index(term)] + self.bit(rest, terms, row, seen)
        if [*poly.values()] != [1] or () in poly:
            return sum(c * self.bit({m: 1}, terms, row, seen) if m else -c for m, c in poly.items())
        kind, parts = self.atoms[min(poly)[0]] if len(min(poly)) < 2 else ("", ())
        both = [self.bit(dict(p), terms, row, seen) for p in parts if kind == "bits"]
        self.need("PF15-bits", len(both) == 2 and {*both} <= {0, 1}, "a number has no bits")
        return min(both)

    def powers(self, step: Step) -> Cond:
        """PF16: ``2**E`` is more than E, and the product of ``2**P`` and ``2**Q`` for E = P + Q."""
        (exponent,), point = map(dict, step.operands), step.point
        parts = step.polys or [exponent]
        same = beside("eq", combine((1, exponent), *((-1, part) for part in parts)))
        self.match("PF16-exponents", step.conds, *(beside("ge", part) for part in parts), same)
        if not step.polys:
            return beside("ge", shift(combine((1, point), (-1, exponent)), -1))
        return beside("eq", combine((1, point), (-1, self.mul(*map(self.power, parts)))))

    def split(self, step: Step) -> Cond:
        """PF17: numbers in two parts, and the limit of what has no bits above a power of two."""
        size, *parts = step.polys
        below, known = shift(size, -1), [self.atoms[i] for m in size for i in dict.fromkeys(m)]
        count = next(iter(size.values()), 0) if len(size) == 1 else 0
        conds = [beside("ge", dict(each[0])) for kind, each in known if kind == "power"]
        if count < 1 or count & (count - 1) or len(conds) < len(known):
            conds = [beside("ge", below), beside("eq", self.common(size, below))]
        both = zip(map(dict, step.operands), parts, strict=True)
        rests = [combine((1, each), (-1, self.mul(size, part))) for each, part in both]
        conds += [beside("ge", x) for r in rests for x in (r, combine((1, below), (-1, r)))]
        self.match("PF17-rests", step.conds, *conds)
        low = self.common(*rests)
        if step.rule == "bits-limit":
            return beside("ge", combine((1, below), (1, low), *((-1, r) for r in rests)))
        high = self.mul(size, self.common(*parts))
        return beside("eq", combine((1, step.point), (-1, high), (-1, low)))

    def branch(self, step: Step) -> Cond:
        """PF12: no alternative is possible. PF13: no value is. PF14: what cannot be false."""
        gives = step.stated if step.code == "PF14" else FALSE
        if step.code == "PF12":
            apart = [beside("ge", shift(step.facts[0], -1, sign)) for sign in (1, -1)]
            conds = apart if step.kinds == "ne" else [*step.conds[0][1]]
        elif step.code == "PF13":
            low, high = (value(combine((1, *step.polys), (s, step.facts[s > 0]))) for s in (-1, 1))
            limited = low is not None and high is not None and high - low < CASES
            self.need("PF13-limits", limited and () not in step.polys[0], "no limits, or too wide")
            values = range(low or 0, (high or 0) + 1)
            self.spend(len(values) * len(step.polys[0]))
            conds = [beside("eq", shift(step.polys[0], -each)) for each in values]
        else:
            self.need("PF14-gives", gives[0] in _SIGNS, "a lemma is a comparison with 0")
            conds = [negate(gives)]
        self.need(f"{step.code}-proofs", len(step.proofs) == len(conds), "other cases")
        for proof, cond in zip(step.proofs, conds, strict=True):
            self.run(proof, cond, step.depth)
        return gives


RULES = {  # method, code, fields, kind of atom, number of terms, kinds of facts (0 is also >= 0)
    "sum": ("sum", "PF02", "terms uses", "", -1, ""),
    "cut": ("cut", "PF03", "terms uses", "", 2, "ge, ge ge"),
    **dict.fromkeys(("floor-low", "floor-high"), ("division", "PF04", "uses", "div", 0, ", ge")),
    "quotient": ("division", "PF05", "terms uses", "div", 1, ", ge, ge ge, ge ge ge"),
    "strict": ("pair", "PF06", "uses", "", 0, "ne ge"),
    "squeeze": ("pair", "PF07", "uses", "", 0, "ge ge"),
    "factor": ("pair", "PF08", "terms uses", "", 2, "ne"),
    "clash": ("pair", "PF09", "uses", "", 0, "eq ne"),
    **{f"max-{x}": ("extreme", "PF10", "", "max", 0, "") for x in ("zero", "least", "cases")},
    **{f"choice-{x}": ("extreme", "PF11", "", "choice", 0, "") for x in ("low", "high", "cases")},
    "bits": ("bits", "PF15", "terms uses", "", -1, "*"),
    "power-low": ("powers", "PF16", "uses", "power", 0, "*"),
    "power-sum": ("powers", "PF16", "terms uses", "power", 2, "*"),
    **{f"bits-{x}": ("split", "PF17", "terms uses", "bits", 3, "*") for x in ("split", "limit")},
    "cases": ("branch", "PF12", "uses proofs", "", 0, "or, ne"),
    "table": ("branch", "PF13", "terms uses proofs", "", 1, "ge ge"),
    "lemma": ("branch", "PF14", "proofs", "", 0, ""),
}


def check(certificate: Any, checker: ProofChecker | None = None) -> None:
    """Check a certificate; raises RefusedError if it proves nothing."""
    try:
        (checker := checker or ProofChecker()).claim(certificate)
        checker.run(certificate["proof"])
    except (LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise RefusedError("PF01-work", f"it cannot be followed: {error}") from error


def read(text: str) -> Any:
    """The certificate in a text; raises RefusedError if it is no JSON."""
    try:  # an object in which a name occurs twice is none
        return json.loads(text, object_pairs_hook=lambda x: (None, dict(x))[len(dict(x)) == len(x)])
    except (ValueError, RecursionError) as error:
        raise RefusedError("PF01-fields", f"no certificate: {error}") from error


if __name__ == "__main__":
    check(read(sys.stdin.read()))
    print("proved")
