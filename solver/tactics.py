"""The tactics that decide questions, tried in order until one has an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import condition_proofs, differences, intervals, normal_form, prim_exprs, smt
from rlx.solver.context import ContextState
from rlx.solver.generalize import generalizations
from rlx.solver.poly import TooMuchWorkError
from rlx.solver.prim_exprs import Range
from rlx.solver.question import Question, Samples
from rlx.solver.verdict import Proved, Refuted, Unknown, Verdict

_FEW = 20
_FIRST = 48
_MORE = 600
"""The numbers of points tried at sight, first and later."""
_SMT_NODES = 1500
_GENERALIZED = 400
_SIGNED = 3
"""The maximum number of variables whose signs are distinguished."""
_SMT_DEGREE = 8
_SMT_ONCE = 60_000
_SMT_AGAIN = 200_000
"""The work limits of Z3 on each encoding, in rounds; questions that it decides need at most
half.
"""
_SMT_VECTORS = 400_000
_SMT_TEXT = 10_000
_SMT_POWER = 4
"""Longer texts and higher powers get proportionally less work, because a unit of work takes longer
there.
"""
_GENERAL = "generalized"
"""The encoding of a stronger question, whose counterexamples may not refute this one."""
_EXHAUSTED = Unknown("the question needs too much work")


class Tactic(Record):
    """A method of answering questions.

    Attributes
    ----------
    name
        Its name in ``rlx prove --explain``.
    meaning
        A sentence that describes it.
    decide
        Answers a question, or returns None.
    """

    name: str
    meaning: str
    decide: Callable[[Question], Verdict | None]


def by_normal_form(question: Question) -> Verdict | None:
    """Proved if the normal form of the condition is true, or a chain of many facts leads to it. A
    large question gets little fuel at first.
    """
    if question.shared is None:
        return None
    if len(question.near) >= differences.CHAIN:
        found = _by_chains(question)
        if found is not None:
            return found
    question.hasty = question.large
    goal, order, work = question.goal, question.order, question.work
    if question.shared.proves(goal, order, work, hasty=question.hasty):
        return Proved("normal form")
    return None


def _by_chains(question: Question) -> Proved | Refuted | None:
    """The answer that many facts give by chains of them, which say how large the differences of the
    goal's variables are.
    """
    goal, facts, range_of = question.goal, question.near, question.state.range_of
    if differences.proves(goal, facts, range_of):
        return Proved("bounds")
    near = differences.between(goal, facts, range_of)
    if not near:
        return None
    ranges = {var: range_of(var) for var in tir.free_vars(goal, *near)}
    few = Question(goal, ContextState(ranges, tuple(near), {}), near.copy, question.work)
    if _conditions(few) is not None:
        return Proved("bounds") if few.consistent else None
    refuted = _points(few, _FIRST)
    if refuted is None:
        return None
    fixed = (tir.EQ(var, tir.IntImm(value)) for var, value in refuted.values.items())
    values = differences.values([*facts, *fixed], range_of)
    if values is None or not values.keys() >= {*question.variables}:
        return None
    return question.refute(values, "points")


def by_first_points(question: Question) -> Verdict | None:
    """Refuted by small points, if no fact excludes most of them."""
    if question.work.exhausted and not question.hasty:
        return _EXHAUSTED
    if question.facts:
        return None
    question.seen = True
    return _points(question, _FIRST)


def by_few_points(question: Question) -> Verdict | None:
    """Refuted by the smallest of them."""
    return None if question.facts else _points(question, _FEW)


def by_whole_normal_form(question: Question) -> Verdict | None:
    """The normal form with all its fuel, if it had little before."""
    if question.shared is None or not question.hasty:
        return None
    proved = question.shared.proves(question.goal, question.order, question.work)
    return Proved("normal form") if proved else None


def by_conditions(question: Question) -> Verdict | None:
    """Bounds, floors, residues and case distinctions, with the facts and with divisors that are not
    zero.
    """
    return _EXHAUSTED if question.work.exhausted else _conditions(question)


def _conditions(question: Question) -> Proved | None:
    engine = question.engine()
    if not question.consistent:
        return Proved(question.vacuous(), tuple(question.divisors))
    try:
        means = condition_proofs.prove(engine, normal_form.condition(engine, question.goal))
    except (TooMuchWorkError, RecursionError):
        engine.forget_limits()  # the engine may be that of later questions
        raise
    question.tried.append("normal form, bounds, residues and cases")
    return None if means is None else Proved(means, tuple(question.divisors))


def by_more_points(question: Question) -> Verdict | None:
    """Refuted by more points, including solutions of the facts."""
    if question.seen and _affordable(question, _MORE) == _affordable(question, _FIRST):
        # These are the points that were tried at first sight.
        return None
    return _points(question, _MORE)


def by_solutions(question: Question) -> Verdict | None:
    """Refuted by points that solve the facts."""
    question.engine()
    return _points(question, _MORE)


def by_generalization(question: Question) -> Verdict | None:
    """Proofs of stronger questions, in which repeated expressions are variables."""
    for stronger in _generalized(question):
        found = _conditions(stronger)
        if found is not None:
            # What contradicts the facts may be that divisors are not zero.
            return found if stronger.consistent else Proved(question.vacuous(), found.divisors)
    return None


def by_signs(question: Question) -> Verdict | None:
    """Proofs for each sign of the variables in divisions that may be positive and negative."""
    if question.size > _GENERALIZED or question.foreign is not None:
        return None
    cases = [*_signs(question)]
    for ranges in cases:
        state = ContextState(ranges, tuple(question.facts), {})
        if _conditions(Question(question.goal, state, question.facts.copy, question.work)) is None:
            return None
    return Proved("cases", tuple(question.divisors)) if cases else None


def by_directions(question: Question) -> Verdict | None:
    """Proofs of an equation of conditions: each of them follows from the other one."""
    goal = question.goal
    if type(goal) is not tir.EQ or not prim_exprs.is_boolean(goal.a):
        return None
    ranges: dict[tir.Var, Range] = dict(zip(question.variables, question.ranges, strict=True))
    for known, wanted in ((goal.a, goal.b), (goal.b, goal.a)):
        near = [*question.facts, known]
        state = ContextState(ranges, tuple(near), {})
        if _conditions(Question(wanted, state, near.copy, question.work)) is None:
            return None
    return Proved("cases", tuple(question.divisors))


def by_smt(question: Question) -> Verdict | None:
    """Z3's answer on one of its encodings."""
    if question.foreign is not None:
        question.tried.append(f"{prim_exprs.named(question.foreign)} is not integer arithmetic")
        return None
    if question.size > _SMT_NODES:
        question.tried.append(f"{question.size} nodes are too many for SMT")
        return None
    if question.tape.degree > _SMT_DEGREE:
        question.tried.append("a power is too high for SMT")
        return None
    if question.bitwise:
        found = _by_bit_vectors(question)
        if found is not None:
            return found
    texts = _texts(question)
    names = [f"v{i}" for i in range(len(question.variables))]
    power = max(question.tape.degree, _SMT_POWER)
    for limit in (_SMT_ONCE, _SMT_AGAIN):
        for style, text in texts.items():
            length = max(len(text), _SMT_TEXT)
            granted = question.work.for_smt(limit * _SMT_TEXT * _SMT_POWER // (length * power))
            if not granted:
                question.tried.append("no budget is left for SMT")
                return None
            answer = smt.solve(text, granted, names)
            if answer.status == "unsat":
                return Proved(f"smt: {style}", tuple(question.divisors))
            if answer.status == "sat" and style != _GENERAL:
                refuted = _from_model(question, answer, names, style)
                if refuted is not None:
                    return refuted
            question.tried.append(f"smt {style}: {answer.reason or answer.status}")
            if answer.reason == smt.LEFT:
                return None
    return None


_FIRST_POINTS = Tactic("first points", "a few small values refute it", by_first_points)
_CONDITIONS = Tactic("conditions", "bounds, floors, residues and cases decide it", by_conditions)
_MORE_POINTS = Tactic(
    "more points", "other values that satisfy the assumptions refute it", by_more_points
)
_LAST = (
    _MORE_POINTS,
    Tactic("directions", "each of two equal conditions follows from the other one", by_directions),
    Tactic(
        "generalization", "it holds with a variable for what occurs repeatedly", by_generalization
    ),
    Tactic("signs", "it holds for each sign of the variables in divisions", by_signs),
    Tactic("SMT", "Z3 decides one of its encodings", by_smt),
)
TACTICS = (
    Tactic("normal form", "both sides have the same normal form", by_normal_form),
    _FIRST_POINTS,
    Tactic(
        "whole normal form",
        "the same for a large question, with the whole budget",
        by_whole_normal_form,
    ),
    _CONDITIONS,
    *_LAST,
)
"""All tactics, in the order in which they are tried: the cheapest first."""

SEARCH = TACTICS[1:]
"""The remaining tactics if the normal form of a question is known to be undecided."""
POINTS = (_FIRST_POINTS,)
"""The tactics that are tried first for a question that is false somewhere."""
SOLUTIONS = (replace(_MORE_POINTS, decide=by_solutions),)
"""The same where there are facts."""
LIKELY = (replace(_FIRST_POINTS, decide=by_few_points), _CONDITIONS, _FIRST_POINTS, *_LAST)
"""The same as :data:`SEARCH`, for a question that was true wherever it was evaluated."""


def decide(question: Question, tactics: Sequence[Tactic] = TACTICS) -> Verdict:
    """The answer of the first tactic that has one."""
    for tactic in tactics:
        question.trail.append(tactic.name)
        try:
            verdict = tactic.decide(question)
        except (TooMuchWorkError, RecursionError) as reason:
            question.tried.append(str(reason))
            continue
        if verdict is not None:
            return verdict
    return Unknown("; ".join(dict.fromkeys(question.tried)))


def holds_simply(question: Question) -> bool:
    """Whether the simple condition proofs prove a question."""
    try:
        return _conditions(question) is not None
    except (TooMuchWorkError, RecursionError):
        return False


# Points


def _affordable(question: Question, budget: int) -> int:
    """How many points to try: fewer of a large question."""
    return max(8, min(budget, 40_000 // len(question.tape)))


def _points(question: Question, budget: int) -> Refuted | None:
    if question.foreign is not None:
        return None
    tape = question.tape
    if not tape.usable:
        question.tried.append("the values are too large to test points")
        return None
    samples = Samples(tape, question.ranges, question.known_engine)
    point = samples.find(_affordable(question, budget))
    if point is None:
        question.tried.append("no counterexample among small and awkward values")
        return None
    return _refuted(question, point, "points")


# Generalizations


def _generalized(question: Question) -> Iterator[Question]:
    """Stronger questions: what proves one of them proves this one."""
    if question.size > _GENERALIZED or question.foreign is not None:
        return
    engine = question.engine()
    ranges: dict[tir.Var, Range] = dict(zip(question.variables, question.ranges, strict=True))
    if question.bitwise:
        lowest = list[PrimExpr]()
        conditions = [prim_exprs.shared(each) for each in (question.goal, *question.facts)]
        for node in tir.postorder(*conditions):
            if isinstance(node, tir.Call) and node.op == "bitwise_and" and len(node.args) == 2:
                one, other = (normal_form.polynomial(engine, each) for each in node.args)
                if engine.add(one, other) is engine.zero:
                    lowest.append(node)
        if lowest:
            yield from _of_lowest_bits(question, conditions, lowest, ranges)
    for (goal, *near), images in generalizations([question.goal, *question.facts]):
        limits = {
            var: intervals.interval(engine, normal_form.polynomial(engine, expr))
            for var, expr in images.items()
        }
        yield Question(
            goal, ContextState(ranges | limits, tuple(near), {}), near.copy, question.work
        )


def _of_lowest_bits(
    question: Question,
    conditions: Sequence[PrimExpr],
    nodes: Sequence[PrimExpr],
    ranges: dict[tir.Var, Range],
) -> Iterator[Question]:
    """The question with a variable for each ``x & -x`` of a positive x: a power of two that divides x."""
    engine, names = question.engine(), dict[PrimExpr, PrimExpr]()
    numbers: dict[object, tir.Var] = {}
    known = list[PrimExpr]()
    for node in nodes:
        assert isinstance(node, tir.Call)
        for whole in node.args:
            number = normal_form.polynomial(engine, whole)
            low, high = intervals.interval(engine, number)
            if low is None or low < 1:
                continue
            if number not in numbers:
                var = numbers[number] = tir.Var(f"lowest{len(numbers)}")
                ranges = ranges | {var: (1, high)}
                power = tir.Call("bitwise_and", (var, tir.Sub(var, prim_exprs.ONE)), node.dtype)
                known.append(tir.EQ(tir.FloorMod(whole, var), prim_exprs.ZERO))
                known.append(tir.LE(var, whole))
                known.append(tir.EQ(power, prim_exprs.ZERO))
            names[node] = numbers[number]
    if names:
        goal, *near = (tir.fold(each, tir.with_operands, names) for each in conditions)
        yield Question(
            goal, ContextState(ranges, (*near, *known), {}), lambda: [*near, *known], question.work
        )


def _signs(question: Question) -> Iterator[dict[tir.Var, Range]]:
    """The ranges for each case of the signs of variables in divisions, if there are such; a divisor
    may be 0 where it is not evaluated.
    """
    divisions = [
        node
        for node in tir.postorder(question.goal, *question.facts)
        if isinstance(node, INTEGER_DIVISIONS)
    ]
    below = tir.free_vars(*(node.b for node in divisions))
    inside = dict.fromkeys((*below, *tir.free_vars(*(node.a for node in divisions))))
    ranges: dict[tir.Var, Range] = dict(zip(question.variables, question.ranges, strict=True))
    parts: dict[tir.Var, list[Range]] = {}
    for var in inside:
        low, high = ranges[var]
        if len(parts) < _SIGNED and (low is None or low < 0) and (high is None or high > 0):
            zero: list[Range] = [(0, 0)] if var in below else []
            parts[var] = [(len(zero), high), *zero, (low, -1)]
    for limits in product(*parts.values()) if parts else ():
        yield ranges | dict(zip(parts, limits, strict=True))


# SMT


def _by_bit_vectors(question: Question) -> Verdict | None:
    """The question over vectors that are wide enough for all of its values."""
    from rlx.solver import bit_vectors

    query = _fixed(question, question.query())
    bits = bit_vectors.width(query)
    if bits is None:
        question.tried.append("the values are too large for bit vectors")
        return None
    names = [f"v{i}" for i in range(len(question.variables))]
    granted = question.work.for_smt(_SMT_VECTORS)
    answer = smt.solve(bit_vectors.encode(query, bits), granted, names)
    style = f"vectors of {bits} bits"
    if answer.status == "unsat":
        return Proved(f"smt: {style}", tuple(question.divisors))
    if answer.status == "sat":
        return _from_model(question, answer, names, style)
    question.tried.append(f"smt {style}: {answer.reason or answer.status}")
    return None


def _fixed(question: Question, query: smt.Query) -> smt.Query:
    """The question within 64 bits, where variables that the facts leave one value are this value."""
    engine = question.engine()
    ranges = list[Range]()
    values: dict[tir.Var, PrimExpr] = {}
    for var, limits in zip(question.variables, question.word_ranges, strict=True):
        low, high = intervals.interval(engine, normal_form.variable(engine, var))
        ranges.append((low, high) if low is not None and low == high else limits)
        if low is not None and low == high:
            values[var] = tir.IntImm(low, var.dtype)
    if not values:
        return query.within(question.word_ranges)
    goal, *facts = (tir.substitute(each, values) for each in (query.goal, *query.facts))
    return smt.Query(query.variables, tuple(ranges), tuple(facts), goal, query.positive)


def _texts(question: Question) -> dict[str, str]:
    """The encodings by name."""
    texts = {"normalized": smt.encode(question.query(normalized=True), "purified")}
    texts |= {style: smt.encode(question.query(), style) for style in smt.STYLES}
    try:
        general = next(_generalized(question), None)
    except (TooMuchWorkError, RecursionError):
        general = None
    if general is not None:
        texts[_GENERAL] = smt.encode(general.query(normalized=True), "purified")
    return texts


def _from_model(
    question: Question, answer: smt.Answer, names: list[str], style: str
) -> Refuted | None:
    point = tuple(answer.model[name] for name in names)
    if _refuted(question, point, "smt") is None:
        return None
    tape = question.tape
    if tape.usable:
        point = Samples(tape, question.ranges, None).shrink(point)
    return _refuted(question, point, f"smt: {style}")


def _refuted(question: Question, point: Sequence[int], means: str) -> Refuted | None:
    return question.refute(dict(zip(question.variables, point, strict=True)), means)
