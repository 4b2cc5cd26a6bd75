"""Certificates of goals that the prover has proved.

The normal form of the prover is computed once more, with a record of its divisions. Each of them
is a fact of the calculus: the remainder of what it gives lies between 0 and the divisor. What the
normal form decides by bounds is proved here by linear combinations of facts, which a linear program
finds; then come case distinctions. Nothing here is trusted: :mod:`rlx.solver.proofs.checker` checks
what is found.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.stack import roomy
from rlx.solver import prim_exprs
from rlx.solver.context import Components, ContextState, constraints, within_dtype, within_word
from rlx.solver.expression_text import show
from rlx.solver.poly import TooMuchWorkError
from rlx.solver.prim_exprs import Range
from rlx.solver.proofs.checker import Cond, Poly, RefusedError, beside, check, combine, shift
from rlx.solver.proofs.closing import Closing
from rlx.solver.proofs.draft import (
    Found,
    NotFoundError,
    distinct_names,
    leaves,
    needed,
    parts_of,
)
from rlx.solver.proofs.sharing import shared
from rlx.solver.verdict import CONTRADICTORY, PARANOID

_SPLITS = 8
_MODELS = 120_000
"""The effort of an attempt by models, which finds what it finds early."""
_EFFORT = 1_150_000
"""The effort of all attempts together, more than a certificate was seen to need."""
_SIGNED = 3
"""The most variables whose signs are distinguished first."""


class Draft(Closing):
    """A proof that becomes a certificate."""

    modelled = False
    """Whether cases are distinguished where a linear model of the facts fails."""
    distinguishing = False
    """Whether the signs of variables in divisions are distinguished first."""

    def certificate(self) -> dict[str, Any]:
        """The finished certificate, without what is not needed. Raises NotFoundError if no proof is
        found.
        """
        self.lowest_bits()
        if self.modelled:
            self.by_models(_SPLITS)
        elif not self.closed:
            self.by_signs(self.signed()[:_SIGNED] if self.distinguishing else [], [])
        steps = needed(shared(needed(self.steps)[0]))[0]
        proof = self.emitted(steps, {n: n for n in range(self.known)}, self.known)
        words = set(re.findall(r"\w+", " ".join(_texts(proof))))
        checker = self.checker
        waiting = [i for i, name in enumerate(checker.names) if name in words or i < self.own]
        named: set[int] = set()
        while waiting:
            index = waiting.pop()
            if index not in named and checker.atoms[index][0] != "var":
                named.add(index)
                waiting += _inside(checker.atoms[index])
        names = {checker.names[index]: self.definition(index) for index in sorted(named)}
        found = {**self.claimed, "names": names, "proof": proof}
        return found

    def by_signs(self, numbers: list[Poly], conds: list[Cond]) -> None:
        """Close the present case, by those of the signs of numbers."""
        if numbers:
            poly, *others = numbers
            number = self.index.get(beside("ne", poly))
            # where a choice depends on the sign, it may be another one at 0
            second = beside("ge", shift(poly, 1)) in conds
            after = [shift(poly, -1)] if self.choosing and number is None and not second else []
            if number is None:
                ((maximum,),) = self.checker.binary("max", poly, {})
                number = self.alternatives(maximum)

            def inside(part: Cond) -> None:
                sign, *_ = parts_of(part)
                more = after if sign == beside("ge", poly) else []
                self.by_signs([*more, *others], [*conds, sign])

            self.cases(number, inside)
            return
        try:
            scope = self.scope(conds)
        except (TooMuchWorkError, RecursionError):
            scope = None
        self.close(_SPLITS, scope, conds)

    @property
    def choosing(self) -> bool:
        """Whether there are maxima or choices."""
        return any(kind in ("max", "choice") for kind, _ in self.checker.atoms)

    def signed(self) -> list[Poly]:
        """The variables in divisions that may be positive and negative; divisors come first. Before them
        the sums of variables whose sign decides how a division rounds.
        """
        divisions = [parts for kind, parts in self.checker.atoms if kind == "div"]
        inside = [
            index
            for place in (1, 0)
            for parts in divisions
            for index in self.below(dict(parts[place]))
        ]
        lows, highs = self.lows(), self.lows(-1)
        found: list[Poly] = [
            {(index,): 1}
            for index in dict.fromkeys(inside)
            if self.is_variable(index)
            and lows.get(index, (-1, 0))[0] < 0 > highs.get(index, (-1, 0))[0]
        ]
        tops = {parts[0] for parts in divisions}
        chosen = [parts[0] for kind, parts in self.checker.atoms if kind == "choice"]
        for part in dict.fromkeys(part for cond in chosen for part in leaves(cond)):
            poly = dict(part)
            mixed = any(c < 0 for c in poly.values()) and any(c > 0 for c in poly.values())
            plain = part in tops and all(self.is_variable(i) for m in poly for i in m)
            if plain and mixed and combine((-1, poly)) not in found:
                found.insert(0, poly)
        return found

    def is_variable(self, index: int) -> bool:
        return self.checker.atoms[index][0] == "var"

    def emitted(
        self, steps: list[Found], numbers: dict[int, int], count: int
    ) -> list[dict[str, Any]]:
        """Steps with the numbers that their facts have in the end."""
        numbers = dict(numbers)
        result = []
        for given, number in steps:
            step = dict(given)
            if "uses" in step:
                step["uses"] = [
                    sorted(numbers[n] for n in use) if isinstance(use, list) else numbers[use]
                    for use in step["uses"]
                ]
                if step["rule"] == "sum":
                    order = sorted(range(len(step["uses"])), key=lambda i: step["uses"][i])
                    for key in ("uses", "terms"):
                        step[key] = [step[key][i] for i in order]
            if "proofs" in step:
                proofs = []
                for below in step["proofs"]:
                    inner = dict(numbers)
                    inner |= {below.first + i: count + i for i in range(below.facts)}
                    proofs.append(self.emitted(below.steps, inner, count + below.facts))
                step["proofs"] = proofs
            if number is not None:
                numbers[number] = count
                count += 1
            result.append(step)
        return result

    def definition(self, index: int) -> str:
        checker = self.checker
        match checker.atoms[index]:
            case "div", (a, b):
                return f"{_bracketed(checker.text(dict(a)))}//{_bracketed(checker.text(dict(b)))}"
            case "bits", (a, b):
                return f"{_bracketed(checker.text(dict(a)))} & {_bracketed(checker.text(dict(b)))}"
            case "power", (a,):
                return f"1 << {_bracketed(checker.text(dict(a)))}"
            case "max", (a,):
                return f"max({checker.text(dict(a))}, 0)"
            case _, (cond,):
                return f"select({checker.sentence(cond)}, 1, 0)"
        raise AssertionError(index)


def _told(condition: PrimExpr) -> PrimExpr:
    """The condition, in which a cast to int64 of what has a wider type inside is what it means: the
    checker takes such casts for their values.
    """

    def wide(node: PrimExpr) -> bool:
        return isinstance(node, tir.Cast) and node.dtype.bits + (node.dtype.code == "uint") > 64

    def exact(node: PrimExpr) -> PrimExpr | None:
        if not isinstance(node, tir.Cast) or node.dtype.code != "int" or node.dtype.bits < 64:
            return None
        limits = prim_exprs.wraps_to(node)
        if limits is None:
            return node.value if any(map(wide, tir.postorder(node.value))) else None
        low, size = tir.IntImm(limits[0]), tir.IntImm(limits[1] - limits[0] + 1)
        return tir.Add(tir.FloorMod(tir.Sub(node.value, low), size), low)

    if any(isinstance(node, tir.Cast) for node in tir.postorder(condition)):
        return tir.transform([condition], exact)[0]
    return condition


def _over_atoms(conditions: Sequence[PrimExpr]) -> tuple[list[PrimExpr], set[tir.Var]]:
    """Conditions in which each part that is no integer arithmetic is a variable of its type, and
    these variables: what is proved then holds whatever they are. Conditions on other values than
    numbers are left out, but not the first one.
    """
    known: dict[PrimExpr, tir.Var] = {}
    taken = {var.name for var in tir.free_vars(*conditions)}

    def atom(each: PrimExpr) -> PrimExpr:
        if not any(isinstance(below, (tir.Call, tir.BufferLoad)) for below in tir.postorder(each)):
            each = tir.interned(each)
        if each not in known:
            word = re.sub(r"\W+", "_", prim_exprs.named(each)).strip("_") or "value"
            name = next(n for k in itertools.count(1) if (n := f"{word}_{k}") not in taken)
            taken.add(name)
            kind = INT64 if prim_exprs.is_boolean(each) else tir.type_of(each)
            known[each] = tir.Var(name, kind)
        var = known[each]
        return tir.NE(var, tir.IntImm(0, INT64)) if prim_exprs.is_boolean(each) else var

    def node(each: PrimExpr, operands: list[PrimExpr | None]) -> PrimExpr | None:
        strange = prim_exprs.stranger([each]) is not None
        if None in operands or (strange and operands) or not prim_exprs.interpreted(each):
            number = prim_exprs.is_boolean(each) or tir.type_of(each).is_integer
            return atom(each) if number else None
        if strange:
            return None
        return tir.with_operands(each, operands) if operands else each  # type: ignore[arg-type]

    found = [tir.fold(each, node) for each in conditions]
    kept = [each for each in found[1:] if each is not None]
    return [found[0] or conditions[0], *kept], set(known.values())


_BRIEF = 40
"""The linear programs of the first attempt, which is made where there are maxima or choices. The
choices of divisions that round towards zero are shorter by the normal form.
"""
_ROUNDED = (tir.TruncDiv, tir.TruncMod)


class ProofAttempt(NamedTuple):
    """How a proof is looked for.

    Attributes
    ----------
    thorough, forgetful
        As in :class:`~rlx.solver.proofs.inequalities.Inequalities`.
    choosing
        Whether it is an attempt that distinguishes signs first, for goals with maxima or choices (as
        divisions that round towards zero are) or for others.
    modelled
        Whether cases are distinguished where a linear model of the facts fails.
    brief
        Whether it is the first attempt, with few linear programs.
    """

    thorough: bool = False
    forgetful: bool = False
    choosing: bool | None = None
    modelled: bool = False
    brief: bool = False


_ATTEMPTS = (
    ProofAttempt(modelled=True, brief=True),
    ProofAttempt(choosing=True),
    ProofAttempt(),
    ProofAttempt(choosing=False),
    ProofAttempt(modelled=True),
    ProofAttempt(thorough=True),
    ProofAttempt(thorough=True, forgetful=True),
)


def found(
    goal: PrimExpr, facts: Sequence[PrimExpr], ranges: Sequence[tuple[tir.Var, Range]]
) -> dict[str, Any] | None:
    """A certificate of a goal, or None if none is found. Raises RefusedError if what was found is
    none: a mistake of this module.
    """
    if any(_wraps_unseen(node) for node in tir.postorder(goal, *facts)):
        return None
    made, left = None, _EFFORT
    for attempt in _ATTEMPTS:
        if made is None and left > 0:
            made, left = _attempt(goal, facts, ranges, left, attempt)
    if made is None:
        return None
    try:
        check(made)
    except RefusedError as error:
        if error.args[0] == "PF01-work":  # it is one, but too large
            return None
        raise
    return made


def _attempt(
    goal: PrimExpr,
    facts: Sequence[PrimExpr],
    ranges: Sequence[tuple[tir.Var, Range]],
    effort: int,
    attempt: ProofAttempt,
) -> tuple[dict[str, Any] | None, int]:
    """A certificate that is not checked yet, or None, and the effort that is left."""
    try:
        draft = Draft(goal, facts, ranges)
        draft.distinguishing = attempt.choosing is not None
        if draft.distinguishing and (draft.choosing != attempt.choosing or not draft.signed()):
            return None, effort
        draft.thorough, draft.forgetful = attempt.thorough, attempt.forgetful
        draft.modelled = attempt.modelled
        if attempt.brief:
            if not draft.choosing or any(isinstance(e, _ROUNDED) for e in tir.postorder(goal)):
                return None, effort
            draft.programs, draft.most_values = _BRIEF, 0
        granted = min(draft.checker.effort, effort, _MODELS if attempt.modelled else effort)
        draft.checker.effort = granted
        try:
            return draft.certificate(), 0
        finally:
            effort -= granted - draft.checker.effort
    except (NotFoundError, RefusedError, TooMuchWorkError, RecursionError):
        return None, effort
    except (SyntaxError, MemoryError):  # Python's parser, which the checker uses, nests no deeper
        return None, effort


def _wraps_unseen(node: PrimExpr) -> bool:
    """Whether a node wraps a number of more than 64 bits though its text does not say so: to the
    checker, which does not know the types of variables, ``int64(x)`` is x.
    """
    if not isinstance(node, tir.Cast) or node.dtype.code != "int" or node.dtype.bits < 64:
        return False
    return prim_exprs.wraps_to(node) is not None


def _inside(part: Any) -> list[int]:
    """The atoms in the operands of an atom."""
    kind, operands = part
    if kind in ("and", "or"):
        return [i for each in operands for i in _inside(each)]
    if kind == "choice":
        return _inside(operands[0])
    polys = operands if kind in ("div", "max", "bits", "power") else [operands]
    return [i for poly in polys for mono, _ in poly for i in mono]


def _bracketed(text: str) -> str:
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


def _texts(proof: list[dict[str, Any]]) -> Iterator[str]:
    for step in proof:
        yield step["gives"]
        yield step.get("atom", "")
        yield from step.get("terms", ())
        for below in step.get("proofs", ()):
            yield from _texts(below)


# ---------------------------------------------------------------- the certificate of a verdict

_WRITTEN = 20_000
"""The largest number of operations that a goal and its assumptions may have as a text, where shared parts are
repeated.
"""
UNCHECKED = "unchecked"
"""The last word of what stands in place of the steps where nothing was found."""


def identity(a: PrimExpr, b: PrimExpr, means: str) -> dict[str, Any]:
    """The certificate that expressions of the same structure are equal, for all integers."""
    goal = tir.EQ(a, b)
    anything: dict[tir.Var, Range] = dict.fromkeys(tir.free_vars(goal), (None, None))
    return certificate(goal, ContextState(anything, (), {}), means)


@roomy
def certificate(goal: PrimExpr, state: ContextState, means: str) -> dict[str, Any]:
    """The certificate of a goal that was proved; ``"proof"`` is a text if none was found. `means`:
    how the prover proved it.
    """
    asked = map(_told, prim_exprs.expand([goal, *constraints(state)]))
    (expanded, *known), atoms = _over_atoms([*asked])

    limited = "vectors" in means  # of bits, which hold the variables within 64 of them

    def range_of(var: tir.Var) -> Range:
        limits = within_dtype(var, None, None) if var in atoms else state.range_of(var)
        return within_word(var, *limits) if limited else limits

    near, far = Components(known).split(tir.free_vars(expanded))
    by = f"by {'SMT' if means.startswith('smt') else means}, {UNCHECKED}"

    def written(facts: Sequence[PrimExpr]) -> int:
        return sum(map(prim_exprs.length, (expanded, *facts)))

    if (size := written(near)) > _WRITTEN:
        goal_text = f"a goal of {size:,} operations"
        empty: dict[str, Any] = {"assume": [], "variables": {}, "names": {}}
        return {"version": 1, "goal": goal_text, **empty, "proof": by}
    refused = None
    tried = (near, known) if far and written(known) <= _WRITTEN else (near,)
    for assumed in reversed(tried) if means == CONTRADICTORY else tried:
        variables = dict.fromkeys(tir.free_vars(expanded, *assumed))
        if assumed is known:
            variables |= dict.fromkeys(state.ranges)
        ranges = [(var, range_of(var)) for var in variables]
        try:
            result = found(expanded, assumed, ranges)
        except RefusedError as error:
            refused, result = error, None
        if result is not None:
            return result
    if refused is not None and PARANOID:
        raise RuntimeError(f"the certificate of {show(goal)} is refused: {refused}")
    names = distinct_names(tir.free_vars(expanded, *near))
    renamed: dict[tir.Var, PrimExpr] = {v: tir.Var(name, v.dtype) for v, name in names.items()}
    return {
        "version": 1,
        "goal": show(tir.substitute(expanded, renamed)),
        "assume": [show(tir.substitute(fact, renamed)) for fact in near],
        "variables": {name: list(range_of(var)) for var, name in names.items()},
        "names": {},
        "proof": by,
    }
