"""Calls of PrimFuncs: the tensors that they fill, as terms, and whether they may fail."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import terms
from rlx.refine.definedness import requirement
from rlx.refine.definitions import Unopened
from rlx.refine.facts import Facts, always_evaluated, assume_reads
from rlx.refine.loops import Holes, Unread, read_loops
from rlx.refine.matching import Matcher
from rlx.refine.terms import (
    ApplicationTerm,
    FilledHoles,
    InputTerm,
    Lambda,
    NumberTerm,
    OpaqueTerm,
    ResultTerm,
    TensorTerm,
)


class CallOfLoops(Record):
    """A call of a PrimFunc whose loops were read.

    Attributes
    ----------
    holes
        What the PrimFunc computes.
    filled
        Fills the holes with the arguments.
    places
        The positions of the parameters that are filled.
    shapes
        Conditions on the shapes of the arguments: where one does not hold, the call fails.
    """

    holes: Holes
    filled: FilledHoles
    places: tuple[int, ...]
    shapes: tuple[PrimExpr, ...]


UNWRITTEN = "unwritten"
"""The first part of the key of a tensor with the content before a PrimFunc wrote."""


class LoopsOpener:
    """Opens calls of PrimFuncs; each PrimFunc is read once."""

    def __init__(self) -> None:
        self._read: dict[tir.PrimFunc, Holes | str] = {}
        self._calls: dict[ApplicationTerm, CallOfLoops | str] = {}

    def open(self, result: ResultTerm) -> TensorTerm:
        """The tensor that a call fills. Raises Unopened if the loops cannot be read as terms."""
        call = self._call(result.of)
        (k,) = result.path
        output = call.holes.outputs.get(call.places[k])
        if output is None:
            raise Unopened("its PrimFunc does not fill it")
        return call.filled.tensor(output)

    def fills(self, result: ResultTerm, facts: Facts) -> bool:
        """Whether a call of a PrimFunc writes each element of a tensor that it fills."""
        try:
            return _written_everywhere(self.open(result), facts)
        except Unopened:
            return False

    def safe(
        self,
        application: ApplicationTerm,
        matcher: Matcher,
        read: Callable[[], Iterable[TensorTerm]],
    ) -> bool:
        """Whether a call of a PrimFunc cannot fail.

        Parameters
        ----------
        read
            Gives tensors whose elements are computed without a failure: what they read is there,
            and their operations have results.
        """
        facts = matcher.facts
        try:
            call = self._call(application)
        except Unopened:
            return False
        if not all(facts.holds(condition) is True for condition in call.shapes):
            return False
        if not set(call.holes.outputs) <= set(call.places):
            return False
        for position, output in call.holes.outputs.items():
            if not _written_everywhere(call.filled.tensor(output), facts, (UNWRITTEN, position)):
                return False
        equal = FilledHoles(matcher.representatives, {})
        met = _Requirements(matcher, read)
        for need in call.holes.needs:
            axes = terms.fresh(need.axes)
            renamed: dict[tir.Var, PrimExpr] = dict(zip(need.axes, axes, strict=True))
            extents, given, (condition,) = (
                [equal.expr(call.filled.expr(terms.substitute(e, renamed))) for e in each]
                for each in (need.extents, need.given, (need.condition,))
            )
            with facts.scope():
                facts.index(axes, extents)
                for each in given:
                    facts.assume(each)
                for tensor in read() if terms.tensors_of(condition) else ():
                    assume_reads(tensor, axes, extents, facts)
                    _assume_read_elements(tensor, condition, facts)
                if facts.holds(condition) is True or met.imply(condition):
                    continue
                # What is read may be computed of indices alone.
                if not matcher.attempt(partial(_always, matcher, condition)):
                    return False
        return True

    def filled_by(self, application: ApplicationTerm) -> Iterator[TensorTerm]:
        """The tensors that a call of a PrimFunc fills, as far as its loops can be read."""
        with suppress(Unopened):
            call = self._call(application)
            yield from map(call.filled.tensor, call.holes.outputs.values())

    def _call(self, application: ApplicationTerm) -> CallOfLoops:
        found = self._calls.get(application)
        if found is None:
            try:
                found = self._filled(application)
            except Unopened as error:
                found = str(error)
            self._calls[application] = found
        if isinstance(found, str):
            raise Unopened(found)
        return found

    def _holes(self, function: tir.PrimFunc) -> Holes:
        found = self._read.get(function)
        if found is None:
            try:
                found = read_loops(function)
            except Unread as error:
                found = str(error)
            self._read[function] = found
        if isinstance(found, str):
            raise Unopened(found)
        return found

    def _filled(self, application: ApplicationTerm) -> CallOfLoops:
        function, outlines, first = _parts(application)
        holes = self._holes(function)
        if isinstance(first, tuple):
            arguments: dict[int, object] = dict(enumerate(application.arguments))
        else:
            arguments = dict(enumerate(application.arguments[:first]))
            for k, outline in enumerate(outlines):
                _, shape, kind = outline
                key = (UNWRITTEN, first + k)
                arguments[first + k] = terms.input_term(key, "unwritten", shape, kind)
            behind = first + len(outlines)
            arguments |= {behind + k: a for k, a in enumerate(application.arguments[first:])}
        if len(arguments) != len(function.params):
            raise Unopened("its PrimFunc takes another number of arguments")
        variables: dict[tir.Var, PrimExpr] = {}
        for position, var in holes.numbers.items():
            number = arguments[position]
            if isinstance(number, NumberTerm):
                variables[var] = number.value
            elif isinstance(number, OpaqueTerm) and (var.dtype.is_float or var.dtype == BOOL):
                # it is never a place: it is the element of a tensor without axes
                held = terms.input_term(("number", number.of, number.path), var.name, (), var.dtype)
                variables[var] = terms.read(held, ())
            else:
                raise Unopened("its PrimFunc takes a number that is not known")
        tensors: dict[TensorTerm, TensorTerm] = {}
        known: list[tuple[Sequence[PrimExpr], Sequence[PrimExpr]]] = []
        slots = [k for k in range(len(function.params)) if k not in holes.numbers]
        for position, hole, shape in zip(slots, holes.inputs, holes.shapes, strict=True):
            tensor = arguments[position]
            if not isinstance(tensor, TensorTerm):
                raise Unopened("an argument of its PrimFunc is not a tensor of known shape")
            if tensor.dtype != hole.dtype or len(tensor.shape) != len(shape):
                raise Unopened("an argument of its PrimFunc has another type")
            tensors[hole] = tensor
            known.append((shape, tensor.shape))
            for declared, dim in zip(shape, tensor.shape, strict=True):
                if isinstance(declared, tir.Var):
                    variables.setdefault(declared, dim)
        equal = [
            tir.interned(tir.EQ(terms.substitute(declared, variables), dim))
            for shape, dims in known
            for declared, dim in zip(shape, dims, strict=True)
        ]
        differ = tuple([e for e in equal if e.a is not e.b])
        places = first if isinstance(first, tuple) else range(first, first + len(outlines))
        return CallOfLoops(holes, FilledHoles(tensors, variables), tuple(places), differ)


class _Requirements:
    """The conditions that hold because a program that returns has computed them; see
    :meth:`LoopsOpener.safe`.
    """

    def __init__(self, matcher: Matcher, read: Callable[[], Iterable[TensorTerm]]) -> None:
        self._matcher, self._read = matcher, read
        self._met: list[tuple[Lambda, PrimExpr]] | None = None

    def imply(self, condition: PrimExpr) -> bool:
        """Whether a condition holds: by the sizes of what is not empty, because an operation
        requires it that is computed without a failure, or by the definitions of what it reads.
        """
        facts = self._matcher.facts
        self._matcher.assume_filled()
        for each in self._forms(condition):
            if facts.holds(each) is True:
                return True
            for tensor, known in self._required():
                place: dict[tir.Var, PrimExpr] = {}
                if _matched(known, each, tensor.axes, place) and _exists(tensor, place, facts):
                    return True
        return False

    def _required(self) -> Sequence[tuple[Lambda, PrimExpr]]:
        """The conditions that elements of tensors require, with the tensors."""
        if self._met is None:
            self._met = [
                (tensor, form)
                for tensor in self._read()
                if isinstance(tensor, Lambda)
                for node in always_evaluated(tensor.element)
                if (needed := requirement(node)) is not None
                for form in self._forms(needed[0])
            ]
        return self._met

    def _forms(self, condition: PrimExpr) -> Iterator[PrimExpr]:
        """A condition, and what it is when more and more of what it reads is replaced by its
        definition.
        """
        yield condition
        for _ in range(MOST_OPENED):
            depth = self._matcher.deepest(condition)
            condition = self._matcher.opened_inside(condition, depth)
            if not depth or len(list(tir.postorder(condition))) > LARGEST:
                return
            yield condition


MOST_OPENED, LARGEST = 8, 2_000
"""The most replacements of a condition's reads by their definitions, and the most parts it may have then."""


def _matched(
    pattern: PrimExpr, expr: PrimExpr, axes: Sequence[tir.Var], place: dict[tir.Var, PrimExpr]
) -> bool:
    """Whether an expression is another one at some values of axes, which are put into the place."""
    found = set[tuple[PrimExpr, PrimExpr]]()

    def matched(pattern: PrimExpr, expr: PrimExpr) -> bool:
        if isinstance(pattern, tir.Var) and pattern in axes:
            return place.setdefault(pattern, expr) is expr
        if pattern is expr or (pattern, expr) in found:
            return True
        parts, others = tir.children(pattern), tir.children(expr)
        if type(pattern) is not type(expr) or len(parts) != len(others) or not parts:
            return False
        if tir.interned(tir.with_operands(pattern, others)) is not expr:
            return False
        found.add((pattern, expr))  # a part that does not match ends the whole search
        return all(map(matched, parts, others))

    return matched(pattern, expr)


def _exists(tensor: Lambda, place: dict[tir.Var, PrimExpr], facts: Facts) -> bool:
    """Whether a tensor has an element at a place; axes that are not in it are 0."""
    for axis, extent in zip(tensor.axes, tensor.shape, strict=True):
        value = place.setdefault(axis, terms.index(0, axis.dtype))
        inside = (tir.LE(terms.index(0), value), tir.LT(value, extent))
        if not all(facts.holds(each) is True for each in inside):
            return False
    return True


def _is_unwritten(tensor: TensorTerm) -> bool:
    return (
        isinstance(tensor, InputTerm) and isinstance(tensor.key, tuple) and UNWRITTEN in tensor.key
    )


def _always(matcher: Matcher, condition: PrimExpr) -> bool:
    """Whether a condition holds by the definitions of what it reads."""
    while matcher.holds(condition) is not True:
        opened = matcher.opened_inside(condition, matcher.deepest(condition))
        if opened is condition:
            return False
        condition = opened
    return True


def _written_everywhere(tensor: TensorTerm, facts: Facts, own: object = None) -> bool:
    """Whether no element of a tensor is made of what was there before a PrimFunc wrote. With the key of
    what was in its own place: or is just that.
    """
    if not _mentions_unwritten(tensor):
        return True
    if not isinstance(tensor, Lambda):
        return isinstance(tensor, InputTerm) and tensor.key == own
    axes = terms.fresh(tensor.axes)
    with facts.scope():
        facts.index(axes, tensor.shape)
        return _written(terms.element(tensor, axes), facts, axes, own)


def _written(
    element: PrimExpr, facts: Facts, axes: Sequence[tir.Var] = (), own: object = None
) -> bool:
    match element:
        case tir.BufferLoad(buffer=InputTerm(key=key), indices=indices) if (
            own is not None and key == own and all(map(operator.is_, indices, axes))
        ):
            return True
        case tir.Call(op="if_then_else", args=(condition, one, other)):
            if not _written(condition, facts):
                return False
            for value, part in ((True, one), (False, other)):
                if facts.holds(condition) is (not value):
                    continue
                with facts.scope():
                    facts.assume(condition, value)
                    if not _written(part, facts, axes, own):
                        return False
            return True
    for node in tir.postorder(element):
        if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, TensorTerm):
            tensor = node.buffer
            if _is_unwritten(tensor):
                return False
            if _mentions_unwritten(tensor) and not _written(
                terms.element(tensor, node.indices), facts
            ):
                return False
    return True


def _mentions_unwritten(tensor: TensorTerm) -> bool:
    """Whether a tensor is made of what was there before a PrimFunc wrote, at some elements."""
    stack, seen = [tensor], set[TensorTerm]()
    while stack:
        term = stack.pop()
        if _is_unwritten(term):
            return True
        if isinstance(term, Lambda) and term not in seen:
            seen.add(term)
            stack += terms.tensors_of(term.element)
    return False


def _assume_read_elements(tensor: TensorTerm, condition: PrimExpr, facts: Facts) -> None:
    """Assume that elements in a condition are inside what they index, as they are somewhere in a
    tensor.
    """
    if not isinstance(tensor, Lambda):
        return
    wanted = [node for node in tir.postorder(condition) if isinstance(node, tir.BufferLoad)]
    for node in always_evaluated(tensor.element):
        if not isinstance(node, tir.BufferLoad):
            continue
        for index, extent in zip(node.indices, node.buffer.shape, strict=True):
            while isinstance(index, tir.Cast) and index.dtype == INT64:
                index = tir.interned(index.value)
            for at in wanted:
                if isinstance(index, tir.BufferLoad) and index.buffer is at.buffer:
                    place = _place(tensor, index, at, facts)
                    if place is not None:
                        facts.assume(tir.LE(tir.IntImm(0), at))
                        facts.assume(tir.LT(at, terms.substitute(extent, place)))


def _place(
    tensor: Lambda, index: tir.BufferLoad, at: tir.BufferLoad, facts: Facts
) -> dict[tir.Var, PrimExpr] | None:
    """The element of a tensor at which an index is a wanted one; None if there may be none."""
    place: dict[tir.Var, PrimExpr] = {}
    for own, wanted in zip(index.indices, at.indices, strict=True):
        if isinstance(own, tir.Var) and own in tensor.axes:
            if not facts.equal(place.setdefault(own, wanted), wanted):
                return None
        elif not facts.equal(own, wanted):
            return None
    return place if _exists(tensor, place, facts) else None


def _parts(
    application: ApplicationTerm,
) -> tuple[tir.PrimFunc, tuple[Any, ...], int | tuple[int, ...]]:
    """The PrimFunc of a call, the outlines of its results, and the position of the first of them;
    or the positions of all, if the arguments include what they hold before.
    """
    parts: Any = application.attributes
    function, outlines, first = parts
    return function, outlines, first
