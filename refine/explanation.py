"""Explanations of answers for people.

While terms are compared, a :class:`Trail` collects what was done; what led nowhere is dropped. It is
written out only on request (:func:`steps_of`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.terms import TRUE, ApplicationTerm, Lambda, Reduce, ResultTerm, TensorTerm, Term
from rlx.solver.context import Context, ContextState, constraints
from rlx.solver.prover import Prover
from rlx.solver.question_parser import show
from rlx.solver.verdict import Proved

STEPS = 60
"""The most steps that are written out for a function."""
NOTES = 2_000
"""The most notes that a trail keeps."""
DEPTH = 5
"""The depth to which an element is written out."""
WIDTH = 110
"""The most letters of a term."""
FACTS = 8
"""The most facts among which those are looked for that a conclusion needs."""


_TYPED = re.compile(r"T\.[a-z]+\d+\(([^()]*)\)")
"""A constant with its type."""


class ProofStep(Record):
    """A step of a proof.

    Attributes
    ----------
    depth
        How many steps it is a part of.
    kind
        ``"function"``, ``"equal"``, ``"elements"``, ``"open"``, ``"index"``, ``"choice"``,
        ``"values"``, ``"reduction"``, ``"sum"``, ``"cases"``, ``"bits"``, ``"split"``, ``"case"`` or
        ``"answer"``.
    text
        The step, in a line.
    """

    depth: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.text}"


class Note(Record):
    """A step of a trail.

    Attributes
    ----------
    parts
        What the step is about: terms, elements and facts.
    """

    depth: int
    kind: str
    parts: tuple[Any, ...]


class Trail:
    """The notes of a comparison, in order."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self._depth = 0

    def note(self, kind: str, *parts: Any) -> None:
        """Keep a step."""
        if len(self.notes) < NOTES:
            self.notes.append(Note(self._depth, kind, parts))

    def attempt(self) -> tuple[int, int]:
        """The place to which :meth:`drop` goes back."""
        return len(self.notes), self._depth

    def drop(self, place: tuple[int, int]) -> bool:
        """Forget the steps since a place: they led nowhere. Returns False."""
        del self.notes[place[0] :]
        self._depth = place[1]
        return False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Make the notes of the block parts of the last step."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


class TermNames:
    """The names of terms in the programs. `before` and `after`: the names of the bindings of
    both programs.
    """

    def __init__(self, before: Mapping[Term, str], after: Mapping[Term, str]) -> None:
        self._sides = (dict(before), dict(after))

    def learn(self, views: Mapping[TensorTerm, TensorTerm]) -> None:
        """Call views by the bindings that they are the values of."""
        for names in self._sides:
            for binding, view in views.items():
                if isinstance(view, Lambda) and binding in names:
                    names.setdefault(view, names[binding])

    def own(self, term: Term, side: int) -> str | None:
        """The name of a value in the program of a side."""
        return self._sides[side].get(term)

    def called(self, term: object, side: int = 0) -> str:
        """The name of a value, and the program that has it: the one of the side, if both have."""
        for way in (side, 1 - side):
            name = self._sides[way].get(term)  # type: ignore[call-overload]
            if name is not None:
                return f"`{name}` of {('BEFORE', 'AFTER')[way]}"
        match term:
            case ResultTerm(of=made):
                return f"the result of {call_of(made)}"
            case TensorTerm(name=name):
                return f"the tensor {name}"
        return " ".join(str(term).split())[:WIDTH]

    def element(self, expr: PrimExpr) -> str:
        """An element on one line, not too long."""
        text = _TYPED.sub(r"\1", " ".join(show(self._small(expr, DEPTH)).split()))
        return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."

    def _small(self, expr: PrimExpr, depth: int) -> PrimExpr:
        """An element in which tensors have the names of bindings, and deep parts are left out."""
        below = tir.children(expr)
        if not below and not isinstance(expr, tir.BufferLoad):
            return expr
        kind = tir.type_of(expr)
        if depth == 0:
            return tir.Var("...", kind)
        match expr:
            case tir.BufferLoad(buffer=tensor, indices=indices):
                at = ", ".join(show(self._small(each, depth - 1)) for each in indices)
                return tir.Var(f"{self._short(tensor)}[{at}]", kind)
            case Reduce():
                domain = ", ".join(
                    f"{v.name} < {show(self._small(e, depth - 1))}"
                    for v, e in zip(expr.axes, expr.extents, strict=True)
                )
                inner = show(self._small(expr.sources[0], depth - 1))
                when = ""
                if expr.guard is not TRUE:
                    when = f" if {show(self._small(expr.guard, depth - 1))}"
                return tir.Var(f"{expr.combiner.name}({inner} for {domain}{when})", kind)
        return tir.with_operands(expr, [self._small(each, depth - 1) for each in below])

    def _short(self, tensor: object) -> str:
        for names in self._sides:
            if tensor in names:
                return names[tensor]
        if isinstance(tensor, ResultTerm):
            made = tensor.of.name
            return tensor.name if made.startswith("relax.call") else short(made)
        return str(getattr(tensor, "name", tensor))


def short(name: str) -> str:
    """The name of an operator without its dialect."""
    return name.removeprefix("relax.")


def call_of(made: ApplicationTerm) -> str:
    """The function or operator that an application calls."""
    match made.attributes:
        case (tir.PrimFunc(attrs=_), *_) if made.name == "relax.call_tir":
            return "a PrimFunc"
        case ("packed", str() as name, *_):
            return f"the packed function {name}"
    return f"R.{short(made.name)}" if made.name.startswith("relax.") else short(made.name)


NAMELESS = TermNames({}, {})
"""The names in an explanation without programs."""


class FunctionProof(Record):
    """The comparison of two functions.

    Attributes
    ----------
    name
        Their name.
    notes
        What was done.
    names
        What terms are called.
    end
        What came out, in a line.
    conditions
        The conditions on sizes and indices that the prover proved on the way.
    """

    name: str
    notes: tuple[Note, ...]
    names: TermNames
    end: str
    conditions: tuple[Proved, ...] = ()

    def equal_bindings(self) -> Iterator[tuple[str, str]]:
        """The names of bindings of BEFORE and AFTER whose values are proved to be equal."""
        for note in self.notes:
            if note.kind == "equal" and note.depth == 0:
                ours, theirs = map(self.names.own, note.parts, (0, 1))
                if ours is not None and theirs is not None:
                    yield ours, theirs

    def steps(self) -> Iterator[ProofStep]:
        """The steps; of a long proof, only the beginning."""
        yield ProofStep(0, "function", f"{self.name}:")
        left = self._told()
        for note, text in islice(left, STEPS):
            yield ProofStep(1 + note.depth, note.kind, text)
        more = sum(1 for _ in left)
        if more:
            yield ProofStep(1, "answer", f"... and {more} more steps")
        yield ProofStep(1, "answer", self.end)

    def _told(self) -> Iterator[tuple[Note, str]]:
        """The notes that tell something new, with their texts."""
        seen: set[object] = set()
        known: int | None = None
        for note, following in pairwise([*self.notes, Note(-1, "answer", ())]):
            if known is not None and note.depth > known:
                continue
            known = None
            if note.kind == "equal":
                if frozenset(note.parts) in seen:
                    known = note.depth
                    continue
                seen.add(frozenset(note.parts))
            text = _text(note, self.names)
            if text is None or (note.depth, text) in seen:
                continue
            if note.kind in ("index", "choice", "open"):
                seen.add((note.depth, text))
            if note.kind == "elements" and following.depth < note.depth:
                text = f"{text.removesuffix(':')}, they read the same element"
            yield note, text


def _text(note: Note, names: TermNames) -> str | None:
    match note.kind, note.parts:
        case "equal", (a, b):
            return f"{names.called(a)} equals {names.called(b, 1)}"
        case "open", (TensorTerm() as tensor, int() as side):
            what = "its definition"
            if isinstance(tensor, ResultTerm):
                made = tensor.of
                what = (
                    "the loops of its PrimFunc"
                    if made.name == "relax.call_tir"
                    else f"the definition of {call_of(made)}"
                )
            return f"open {names.called(tensor, side)}: {what}"
        case "elements", (axes, shape):
            domain = ", ".join(f"{v.name} < {show(e)}" for v, e in zip(axes, shape, strict=True))
            return f"at each index {domain}:" if domain else None
        case "index", (a, b, state):
            because = _because(tir.EQ(a, b), state)
            return None if because is None else f"{names.element(a)} = {names.element(b)}{because}"
        case "choice", (condition, taken, state):
            said = condition if taken else tir.Not(condition)
            because = _because(said, state)
            return None if because is None else f"here {names.element(said)}{because}"
        case "split", (condition,):
            return f"{names.element(condition)} is not decided, so there are two cases"
        case "case", (condition, value):
            return f"case {names.element(condition if value else tir.Not(condition))}"
        case "reduction", (x, y, finer, values, conditions):
            return _matched(names, x, y, finer, values, conditions)
        case "cases", (x, y):
            ways = [" + ".join(map(names.element, each)) or "0" for each in (x, y)]
            return f"the sums of {ways[0]} and of {ways[1]} are equal, by Z3 on real numbers (SMT, unchecked)"
        case "values", (x, y, index):
            return f"{names.element(x)} = {names.element(y)} at each {index.name}"
        case "bits", (x, y):
            sides = f"{names.element(x)} and {names.element(y)}"
            return f"{sides} have the same bits, by Z3 (SMT, unchecked)"
        case "sum", (count,):
            return f"both are the same sum of {count} products" if count > 1 else None
    return None


def _matched(
    names: TermNames,
    x: Reduce,
    y: Reduce,
    finer: Sequence[tuple[tir.Var, PrimExpr]],
    values: Mapping[tir.Var, PrimExpr],
    conditions: Sequence[PrimExpr],
) -> str:
    domain = ", ".join(f"{v.name} < {show(e)}" for v, e in finer)
    said = f"match the {x.combiner.name} over {_extents(x)} with that over {_extents(y)}"
    for value in values.values():
        if not isinstance(value, tir.Var):
            said += f", where one index is {show(value)}"
    if conditions:
        said += f", as far as {' and '.join(map(names.element, conditions))}"
    return f"{said}; their elements at {domain}:"


def _extents(x: Reduce) -> str:
    return " x ".join(show(e) for e in x.extents) or "one element"


def _because(goal: PrimExpr, state: ContextState) -> str | None:
    """The facts that a conclusion needs; None if it is plain without any."""
    known = Context()
    for var, (low, high) in state.ranges.items():
        known.declare(var, low, high)

    def follows(facts: Sequence[PrimExpr]) -> bool:
        given = known.copy()
        for fact in facts:
            given.assume(fact)
        return Prover(given).always(goal).proved

    if follows(()):
        return None if _plain(goal) else ", always"
    facts = list(islice(_connected(goal, constraints(state)), FACTS))
    if not follows(facts):
        return ""
    for fact in list(facts):
        less = [each for each in facts if each is not fact]
        if follows(less):
            facts = less
    if any(structural_equal(fact, goal, map_free_vars=False) for fact in facts):
        return None
    return f", since {' and '.join(map(show, facts))}" if facts else ", always"


def _plain(goal: PrimExpr) -> bool:
    """Whether an equation needs no arithmetic to be seen."""
    return not any(
        isinstance(node, tir.FloorDiv | tir.FloorMod | tir.Min | tir.Max | tir.Select)
        for node in tir.postorder(goal)
    )


def _connected(goal: PrimExpr, facts: Sequence[PrimExpr]) -> Iterator[PrimExpr]:
    """The facts about the variables of a goal, the last ones first, then those about others."""
    used = set(tir.free_vars(goal))
    left = list(reversed(facts))
    while True:
        near = [fact for fact in left if not used.isdisjoint(tir.free_vars(fact))]
        if not near:
            return
        yield from near
        left = [fact for fact in left if fact not in near]
        for fact in near:
            used.update(tir.free_vars(fact))
