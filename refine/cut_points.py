"""Cut points: tensors inside of AFTER that are equal to tensors inside of BEFORE.

They are looked for from the arguments upwards, so that each comparison opens only what lies between
a tensor and the cut points below it: the work grows with the number of calls, not with their depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar.nodes import tir
from rlx.refine.matching import Matcher
from rlx.refine.terms import (
    ApplicationTerm,
    ConstantTerm,
    Lambda,
    OpaqueTerm,
    ResultTerm,
    ScanTerm,
    TensorTerm,
    Term,
    TupleTerm,
    tensors_of,
)

CANDIDATES = 4
"""The most tensors of BEFORE that one of AFTER is compared with."""
BETWEEN = 40
"""The most tensors between a candidate and the cut points below it."""
STEPS = 1_500
"""The most comparisons of elements for one candidate."""


def in_order(roots: Sequence[Term]) -> list[TensorTerm]:
    """The tensors that values are made of, each behind those that it is made of."""
    return [term for term in _terms(roots) if isinstance(term, TensorTerm)]


def _terms(roots: Sequence[Term]) -> list[Term]:
    found: dict[Term, None] = {}
    stack: list[tuple[Term, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        term, ready = stack.pop()
        if ready:
            found[term] = None
        elif term not in found:
            stack.append((term, True))
            stack += [(each, False) for each in _below(term) if each not in found]
    return list(found)


def _below(term: Term) -> list[Term]:
    match term:
        case TupleTerm(fields=fields):
            return list(fields)
        case Lambda(element=body) | ScanTerm(element=body):
            return list(tensors_of(body))
        case ResultTerm(of=application) | OpaqueTerm(of=ApplicationTerm() as application):
            return list(application.arguments)
    return []


Pair = tuple[TensorTerm, TensorTerm]


def find(matcher: Matcher, before: Sequence[Term], after: Sequence[Term]) -> Pair | None:
    """Compare the tensors of AFTER with those of BEFORE, and let the matcher know the equal ones.

    Returns the first tensor of AFTER that is made of cut points and is equal to no tensor of BEFORE
    that is made of the same, behind the last of these; None if there is none.
    """
    stuck: Pair | None = None
    known = set(in_order(before))
    by_type: dict[object, list[TensorTerm]] = {}
    users: dict[Term, list[Term]] = {}
    for term in _terms(before):
        for part in _below(term):
            users.setdefault(part, []).append(term)
        if isinstance(term, ResultTerm | Lambda):
            by_type.setdefault((term.dtype, len(term.shape)), []).append(term)
    for tensor in in_order(after):
        if tensor in known or not isinstance(tensor, ResultTerm | Lambda):
            continue
        found = _candidates(matcher, tensor, by_type, users)[:CANDIDATES]
        for candidate in found:
            if matcher.try_equal(candidate, tensor, STEPS):
                matcher.representatives[tensor] = candidate
                break
        else:
            if found and stuck is None:
                stuck = found[-1], tensor
    return stuck


def _candidates(
    matcher: Matcher,
    tensor: TensorTerm,
    by_type: dict[object, list[TensorTerm]],
    users: dict[Term, list[Term]],
) -> list[TensorTerm]:
    """Tensors of BEFORE that are made of the cut points that a tensor of AFTER is made of, and these
    themselves: a kernel may copy what it is given.
    """
    frontier = {matcher.representatives.get(t, t) for t in _leaves(tensor)}
    alike = by_type.get((tensor.dtype, len(tensor.shape)), [])
    near = _above(frontier, users) | frontier if frontier else set(alike)
    found = [
        candidate
        for candidate in alike
        if candidate in near
        and candidate.shape == tensor.shape
        and (candidate in frontier or _between(candidate, frontier))
    ]
    if len(found) > 1:
        wanted = _functions(matcher, tensor, frontier)
        found.sort(key=lambda candidate: _functions(matcher, candidate, frontier) != wanted)
    return found


def _above(frontier: set[TensorTerm], users: dict[Term, list[Term]]) -> set[Term]:
    """What is made of the tensor of a frontier that has the fewest users, with no more between."""
    level: set[Term] = {min(frontier, key=lambda each: len(users.get(each, ())))}
    found: set[Term] = set()
    for _ in range(BETWEEN + 1):
        level = {user for term in level for user in users.get(term, ())} - found
        found |= level
    return found


def _functions(matcher: Matcher, tensor: TensorTerm, frontier: set[TensorTerm]) -> set[str]:
    """What the elements of a tensor are made with, down to a frontier: those made with the same are
    compared first.
    """
    found: set[str] = set()
    stack, seen = [tensor], set(frontier)
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        opened = matcher.opened(term)
        if isinstance(opened, Lambda):
            for node in tir.postorder(opened.element):
                if isinstance(node, tir.Call):
                    found.add(node.op)
                elif isinstance(node, tir.Min | tir.Max):
                    found.add(type(node).__name__)
            stack += tensors_of(opened.element)
        else:
            stack += _leaves(term)
    return found


def _leaves(tensor: TensorTerm) -> Iterator[TensorTerm]:
    """The tensors that a tensor is made of directly."""
    stack = _below(tensor)
    while stack:
        term = stack.pop()
        if isinstance(term, TupleTerm | OpaqueTerm):  # an opaque value is made of tensors, too
            stack += _below(term)
        elif isinstance(term, TensorTerm) and not isinstance(term, ConstantTerm):
            yield term


def _between(candidate: TensorTerm, frontier: set[TensorTerm]) -> bool:
    """Whether a tensor is made of those of a frontier alone, and of all of them."""
    stack, seen = _below(candidate), set()
    met: set[TensorTerm] = set()
    while stack:
        term = stack.pop()
        if isinstance(term, TensorTerm) and term in frontier:
            met.add(term)
            continue
        if term in seen:
            continue
        seen.add(term)
        if len(seen) > BETWEEN:
            return False
        below = _below(term)
        if (
            not below
            and isinstance(term, TensorTerm)
            and not isinstance(term, ConstantTerm | ResultTerm)
        ):
            return False
        stack += below
    return met == frontier
