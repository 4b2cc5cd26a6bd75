"""Cut points: tensors inside of AFTER that are equal to tensors inside of BEFORE.

They are looked for from the arguments upwards, so that each comparison opens only what lies between
a tensor and the cut points below it: the work grows with the number of calls, not with their depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.definitions import SizeOfCall
from rlx.refine.matching import Matcher
from rlx.refine.terms import (
    ApplicationTerm,
    ConstantTerm,
    InputTerm,
    Lambda,
    OpaqueTerm,
    ResultTerm,
    ScanTerm,
    TensorTerm,
    Term,
    TupleTerm,
    lam,
    read,
    tensors_of,
)

CANDIDATES = 4
"""The most tensors of BEFORE that one of AFTER is compared with."""
BETWEEN = 40
"""The most tensors between a candidate and the cut points below it."""
STEPS = 3_000
"""The most comparisons of elements for one candidate."""

SPARE = 4_000
"""The most comparisons and questions in vain for tensors that are not made of cut points directly: what is above one
that is equal to nothing is seldom equal to something.
"""


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


def _with_sources(
    roots: Sequence[Term], sources: Sequence[SizeOfCall]
) -> Iterator[TensorTerm | SizeOfCall]:
    """The tensors that values are made of, and before them calls that give sizes, each behind what
    it is made of.
    """
    found: dict[TensorTerm, None] = {}
    for source in sources:
        new = [each for each in in_order(source[0].arguments) if each not in found]
        found.update(dict.fromkeys(new))
        yield from new
        yield source
    yield from (each for each in in_order(roots) if each not in found)


def find(
    matcher: Matcher,
    before: Sequence[Term],
    after: Sequence[Term],
    ours: Mapping[SizeOfCall, tir.Var],
    both: Mapping[SizeOfCall, tir.Var],
) -> Pair | None:
    """Compare the tensors of AFTER with those of BEFORE, and let the matcher know the equal ones.

    Returns the first tensor of AFTER that is made of cut points and is equal to no tensor of BEFORE
    that is made of the same, behind the last of these; None if there is none.

    Parameters
    ----------
    before, after
        Values of the programs.
    ours, both
        The sizes that calls of BEFORE give, and those of both: equal calls give equal ones.
    """
    before = [*(each for made, *_ in ours for each in made.arguments), *before]
    stuck: Pair | None = None
    known = set(in_order(before))
    joined = set[TensorTerm]()
    spare = SPARE
    by_type: dict[object, list[TensorTerm]] = {}
    users: dict[Term, list[Term]] = {}
    for term in _terms(before):
        for part in _below(term):
            users.setdefault(matcher.representative(part), []).append(term)
        if isinstance(term, ResultTerm | Lambda | InputTerm):
            by_type.setdefault((term.dtype, len(term.shape)), []).append(term)
    for tensor in _with_sources(after, [each for each in both if each not in ours]):
        if isinstance(tensor, tuple):
            for source, size in ours.items():
                if source[1:] == tensor[1:] and matcher.applications(source[0], tensor[0]):
                    matcher.join_sizes([size], [both[tensor]])
            continue
        if tensor in known or not isinstance(tensor, ResultTerm | Lambda):
            continue
        cuts, direct = _cuts(matcher, tensor, known)
        found: list[TensorTerm] = []
        if direct or spare > 0:
            found = _candidates(matcher, tensor, cuts, direct, by_type, users)
        found.sort(key=lambda candidate: candidate in joined)
        for candidate in found[:CANDIDATES]:
            begin = matcher.steps + matcher.facts.asked
            steps, below = (STEPS, None) if direct else (min(STEPS, spare), cuts)
            if matcher.try_equal(candidate, tensor, steps, below):
                matcher.join(candidate, tensor)
                joined.add(candidate)
                break
            spare -= 0 if direct else matcher.steps + matcher.facts.asked - begin
        else:
            view = matcher.opened(tensor) if _is_view(tensor) else None
            if view is not None:
                matcher.representatives[tensor] = view
            elif found and stuck is None:
                stuck = found[:CANDIDATES][-1], tensor
    return stuck


def _known_lengths(tensor: TensorTerm) -> list[PrimExpr | None]:
    """The lengths of the axes of a tensor, None for those of which only the origin is known."""
    if not isinstance(tensor, ResultTerm):
        return list(tensor.shape)
    given = {
        var
        for part in _below(tensor)
        if isinstance(part, TensorTerm)
        for var in tir.free_vars(*part.shape)
    }
    return [None if isinstance(d, tir.Var) and d not in given else d for d in tensor.shape]


def _same_lengths(
    matcher: Matcher, one: Sequence[PrimExpr | None], other: Sequence[PrimExpr | None]
) -> bool:
    return all(
        a == b
        or (
            not (a is None or b is None or isinstance(a, tir.IntImm) or isinstance(b, tir.IntImm))
            and matcher.facts.same_length(a, b)
        )
        for a, b in zip(one, other, strict=True)
    )


def _candidates(
    matcher: Matcher,
    tensor: TensorTerm,
    cuts: Sequence[TensorTerm],
    direct: bool,
    by_type: dict[object, list[TensorTerm]],
    users: dict[Term, list[Term]],
) -> list[TensorTerm]:
    """Tensors of BEFORE that are made of the cut points that a tensor of AFTER is made of, and these
    themselves: a kernel may copy what it is given. If there are tensors between, as for a part of
    what AFTER computes at once, it may be made of fewer.
    """
    frontier = {part for cut in cuts for part in _viewed(cut)}
    alike = by_type.get((tensor.dtype, len(tensor.shape)), [])
    near = _above(frontier, users, direct) | frontier if frontier else set(alike)
    lengths = _known_lengths(tensor)
    layouts = _layouts(len(tensor.shape)) if any(map(_is_view, cuts)) else ()
    found = [
        candidate
        for candidate in alike
        if candidate in near
        and (
            _same_lengths(matcher, _known_lengths(candidate), lengths)
            or any(_permuted(candidate.shape, each) == tensor.shape for each in layouts)
        )
        and (candidate in frontier or _between(matcher, candidate, frontier, direct))
    ]
    if len(found) > 1:
        wanted = _functions(matcher, tensor, frontier)
        found.sort(key=lambda candidate: _functions(matcher, candidate, frontier) != wanted)
    if not layouts:
        return found
    views = [_view(candidate, each) for candidate in found for each in layouts]
    return [each for each in (*found, *views) if each.shape == tensor.shape]


def _layouts(rank: int) -> tuple[tuple[int, ...], ...]:
    """The orders of axes that put the channels last, and back."""
    if rank < 3:
        return ()
    middle = tuple(range(2, rank))
    return (0, *middle, 1), (0, rank - 1, *range(1, rank - 1))


def _permuted(shape: tuple[tir.PrimExpr, ...], order: Sequence[int]) -> tuple[tir.PrimExpr, ...]:
    return tuple([shape[k] for k in order])


def _view(tensor: TensorTerm, order: Sequence[int]) -> TensorTerm:
    """A tensor with its axes in another order."""
    axes = tuple([tir.Var(f"i{k}") for k in range(len(order))])
    places = dict(zip(order, axes, strict=True))
    element = read(tensor, [places[k] for k in range(len(order))])
    return lam(_permuted(tensor.shape, order), axes, element, tensor.name, tensor.dtype)


def _is_view(term: TensorTerm) -> bool:
    """Whether a tensor is another one with its axes in another order."""
    match term:
        case Lambda(axes=axes, element=tir.BufferLoad(indices=indices)):
            return len(indices) == len(axes) and set(indices) == set(axes)
        case ResultTerm(of=ApplicationTerm(name="relax.permute_dims")):
            return True
    return False


def _viewed(cut: TensorTerm) -> Sequence[TensorTerm]:
    """A tensor, or the one that it is a view of."""
    match cut:
        case Lambda(element=tir.BufferLoad(buffer=TensorTerm() as source)) if _is_view(cut):
            return (source,)
        case ResultTerm(of=ApplicationTerm(arguments=(TensorTerm() as source, *_))) if _is_view(
            cut
        ):
            return (source,)
    return (cut,)


def _above(frontier: set[TensorTerm], users: dict[Term, list[Term]], together: bool) -> set[Term]:
    """The terms that are made of a tensor of a frontier, with at most `BETWEEN` other terms between; if they
    are made of all together, of the one with the fewest users.
    """
    level: set[Term] = set(frontier)
    if together:
        level = {min(frontier, key=lambda each: len(users.get(each, ())))}
    found: set[Term] = set()
    for _ in range(BETWEEN + 1):
        level = {user for term in level for user in users.get(term, ())} - found
        found |= level
    return found


def _functions(matcher: Matcher, tensor: TensorTerm, frontier: set[TensorTerm]) -> set[str]:
    """The functions that the elements of a tensor are computed with, down to a frontier. Tensors
    with the same functions are compared first.
    """
    found: set[str] = set()
    stack, seen = [tensor], set(frontier)
    while stack:
        below = stack.pop()
        term = matcher.representatives.get(below, below)
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


def _cuts(
    matcher: Matcher, tensor: TensorTerm, known: set[TensorTerm]
) -> tuple[list[TensorTerm], bool]:
    """The cut points and inputs that a tensor of AFTER is made of, and whether nothing is between."""
    found: dict[TensorTerm, None] = {}
    direct = True
    stack, seen = list(_leaves(tensor))[::-1], set[TensorTerm]()
    while stack:
        leaf = stack.pop()
        if leaf in seen:
            continue
        seen.add(leaf)
        cut = matcher.representatives.get(leaf, leaf)
        below = [] if cut is not leaf or leaf in known else list(_leaves(leaf))
        if below and len(seen) <= BETWEEN:
            stack += below[::-1]
        elif below or cut is not leaf or leaf in known or isinstance(leaf, InputTerm):
            found[cut] = None
            continue
        direct = False  # what is made of constants alone is no cut point
    return list(found), direct


def _leaves(tensor: TensorTerm) -> Iterator[TensorTerm]:
    """The tensors that a tensor is made of directly."""
    stack = _below(tensor)
    while stack:
        term = stack.pop()
        if isinstance(term, TupleTerm | OpaqueTerm):  # an opaque value is made of tensors, too
            stack += _below(term)
        elif isinstance(term, TensorTerm) and not isinstance(term, ConstantTerm):
            yield term


def _between(
    matcher: Matcher, candidate: TensorTerm, frontier: set[TensorTerm], together: bool
) -> bool:
    """Whether a tensor of BEFORE is made of those of a frontier alone, and of all of them if they are ``together``."""
    stack, seen = _below(candidate), set()
    met: set[TensorTerm] = set()
    while stack:
        term = matcher.representative(stack.pop())
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
    return met == frontier if together else bool(met) or not frontier
