"""The effect of all iterations of a loop, computed from the effect of one iteration.

An iteration reads holes: what buffers hold when it begins. If no earlier iteration wrote the
element, it is what was there before the loop. If each iteration updates an element from its own
old value, all of them together are a reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.node import Record, Span, replace
from rlx.grammar.nodes.tir import Buffer, PrimExpr
from rlx.refine import terms
from rlx.refine.facts import Facts, polynomial
from rlx.refine.loops_content import Content, LostContent, Unread, WrittenPiece, inverse
from rlx.refine.terms import TRUE, InputTerm, Reduce, all_of, both

Load = Callable[[Buffer, tuple[PrimExpr, ...], Span | None], PrimExpr]
"""Gives the expression for a read of a buffer."""


class ReaderOfLoops(Protocol):
    """The part of the reader of statements (`loops.py`) that the end of a loop uses."""

    facts: Facts
    contents: dict[Buffer, Content]
    loops: dict[tir.Var, PrimExpr]
    parameters: set[Buffer]

    def scope(self) -> AbstractContextManager[None]: ...
    def index(self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr]) -> None: ...
    def assume(self, condition: PrimExpr, value: bool = True) -> None: ...
    def holds(self, condition: PrimExpr) -> bool | None: ...
    def converted(self, expr: PrimExpr) -> PrimExpr: ...
    def walked(self, root: PrimExpr, env: Mapping[tir.Var, PrimExpr], load: Load) -> PrimExpr: ...
    def read(
        self, content: Content, buffer: Buffer, indices: Sequence[PrimExpr], span: Span | None
    ) -> PrimExpr: ...
    def resolved(
        self, content: Content, indices: Sequence[PrimExpr], name: str, span: Span | None
    ) -> PrimExpr: ...
    def writer(
        self, piece: WrittenPiece, indices: Sequence[PrimExpr], name: str
    ) -> tuple[PrimExpr, PrimExpr] | None: ...
    def closed(self, extent: PrimExpr) -> PrimExpr | None: ...
    def is_open(self, expr: PrimExpr) -> bool: ...


class _Folded(Record):
    """A piece whose value each iteration updates.

    Attributes
    ----------
    piece
        The piece; its indices and its guard do not depend on the loop.
    combine, axes, extents, guard, sources, output
        The reduction, but for its initial values.
    members
        The buffers that are updated together.
    places
        The indices of the element of each of them.
    entered
        The conditions of the update that depend on the iteration.
    begins
        For each of them: the condition and the value with which the first iteration replaces the
        old one; None if it does not.
    """

    piece: WrittenPiece
    combine: terms.Combination
    axes: tuple[tir.Var, ...]
    extents: tuple[PrimExpr, ...]
    guard: PrimExpr
    sources: tuple[PrimExpr, ...]
    output: int
    members: tuple[Buffer, ...]
    places: tuple[tuple[PrimExpr, ...], ...]
    begins: tuple[tuple[PrimExpr, PrimExpr] | None, ...]
    entered: tuple[PrimExpr, ...]


class _Scan(Record):
    """A piece whose iterations read what earlier ones wrote.

    Attributes
    ----------
    piece
        The piece of one iteration.
    hole
        What it reads.
    dims
        The axes of the buffer that the iterations run along; the others stay.
    along
        The one of them along which they go on.
    """

    piece: WrittenPiece
    hole: InputTerm
    dims: tuple[int, ...]
    along: int


class AllIterations:
    """The content that all iterations of a loop leave.

    Parameters
    ----------
    reader
        At the end of the body, where the variable of the loop is declared.
    axis, extent
        The loop; it begins at 0.
    holes
        What stands for the contents at the beginning of an iteration.
    after
        What an iteration writes.
    """

    def __init__(
        self,
        reader: ReaderOfLoops,
        axis: tir.Var,
        extent: PrimExpr,
        holes: Mapping[InputTerm, Buffer],
        after: Mapping[Buffer, Content],
        span: Span | None,
    ) -> None:
        self.reader = reader
        self.axis = axis
        self.extent = extent
        self.holes = holes
        self.span = span
        self.after = {buffer: content.pieces for buffer, content in after.items()}
        self.lost: dict[Buffer, LostContent] = {
            buffer: content.below
            for buffer, content in after.items()
            if isinstance(content.below, LostContent)
        }
        self.folds: dict[Buffer, _Folded] = {}
        self.scans: dict[Buffer, _Scan] = {}
        self._settle()
        self._carried()
        self.determined = {
            piece: self._determines(piece)
            for buffer, pieces in self.after.items()
            if buffer not in self.folds and buffer not in self.lost
            for piece in pieces
            if self._varies(piece.indices, piece.guard, piece.extents)
        }
        for buffer, pieces in self.after.items():
            if buffer not in self.folds and buffer not in self.lost:
                self._in_order(buffer, pieces)
        for buffer in self.lost:
            self._need_written(buffer)

    # ------------------------------------------------------------ holes

    def _own_holes(self, *exprs: PrimExpr) -> list[tir.BufferLoad]:
        return [
            node
            for node in tir.postorder(*exprs)
            if isinstance(node, tir.BufferLoad) and node.buffer in self.holes
        ]

    def _settle(self) -> None:
        found = {}
        for buffer, pieces in self.after.items():
            found[buffer] = pieces
            if buffer not in self.lost:
                try:
                    found[buffer] = tuple(map(self._settled, pieces))
                except Unread as error:
                    self.lost[buffer] = LostContent(error.reason, error.span or self.span)
        self.after = found

    def _need_written(self, buffer: Buffer) -> None:
        """Need that what is read to compute a content that is not understood was written before the
        loop: a read of what was not fails, also where the content is not used. Raises Unread if it
        may not have been.
        """
        reader = self.reader
        for piece in self.after[buffer]:
            with reader.scope():
                reader.index(piece.axes, piece.extents)
                reader.assume(piece.guard)
                for node in self._own_holes(
                    piece.guard, piece.value, *piece.indices, *piece.extents
                ):
                    assert isinstance(node.buffer, InputTerm)
                    source = self.holes[node.buffer]
                    if source not in reader.parameters:
                        content = reader.contents[source]
                        found = reader.read(content, source, node.indices, piece.span)
                        if reader.is_open(found):
                            raise Unread(
                                f"{source.name} may be read before it is written", self.span
                            )

    def _settled(self, piece: WrittenPiece) -> WrittenPiece:
        """A piece in which reads of what was there before the loop say so."""
        if not self._own_holes(piece.guard, piece.value, *piece.indices, *piece.extents):
            return piece
        reader = self.reader
        with reader.scope():
            reader.index(piece.axes, piece.extents)
            guard = self._walked(piece.guard)
            reader.assume(guard)
            indices = tuple(map(self._walked, piece.indices))
            value = self._walked(piece.value)
        return replace(piece, guard=guard, indices=indices, value=value)

    def _walked(self, expr: PrimExpr) -> PrimExpr:
        return self.reader.walked(expr, {}, self._load)

    def _load(self, term: Buffer, indices: tuple[PrimExpr, ...], span: Span | None) -> PrimExpr:
        assert isinstance(term, terms.TensorTerm)
        buffer = self.holes.get(term) if isinstance(term, InputTerm) else None
        if buffer in self.lost:
            raise Unread(self.lost[buffer].reason, self.lost[buffer].span)
        if buffer is None or not all(self._apart(p, indices) for p in self.after[buffer]):
            return terms.read(term, indices)
        return self.reader.read(self.reader.contents[buffer], buffer, indices, span)

    def _apart(self, piece: WrittenPiece, place: Sequence[PrimExpr], later: bool = False) -> bool:
        """Whether no earlier iteration, or no later one, writes an element with a piece."""
        own = {self.axis, *piece.axes}
        for index, at in zip(piece.indices, place, strict=True):
            used = [var for var in tir.free_vars(index) if var in own]
            if used == [self.axis] and index is at and self._injective(index):
                return True
        other, *axes = terms.fresh((self.axis, *piece.axes))
        names: dict[tir.Var, PrimExpr] = dict(
            zip((self.axis, *piece.axes), (other, *axes), strict=True)
        )
        found = inverse(
            (other, *axes),
            (self.extent, *[terms.substitute(e, names) for e in piece.extents]),
            [terms.substitute(e, names) for e in piece.indices],
            place,
            self.reader.facts,
        )
        if found is None:
            return False
        value = found.values[other]
        first, second = (value, self.axis) if later else (self.axis, value)
        if value is self.axis or self.reader.holds(tir.interned(tir.LE(first, second))):
            return True
        guard = conjuncts(found.at(terms.substitute(piece.guard, names)))
        return any(self.reader.holds(each) is False for each in (*found.conditions, *guard))

    def _injective(self, index: PrimExpr, rising: bool = False) -> bool:
        """Whether an index has another value in each iteration, by its form; with ``rising``, a
        larger one.
        """
        found = polynomial(index)
        if found is None:
            return False
        parts = [product for product in found if self.axis in tir.free_vars(*product)]
        return parts == [(self.axis,)] and (not rising or found[(self.axis,)] > 0)

    def _varies(self, *parts: PrimExpr | Iterable[PrimExpr]) -> bool:
        """Whether expressions depend on the iteration."""
        return any(
            self.axis in tir.free_vars(each)
            for part in parts
            for each in ((part,) if isinstance(part, PrimExpr) else part)
        )

    # ------------------------------------------------------------ updates

    def _carried(self) -> None:
        """Find the buffers whose elements depend on earlier iterations."""
        reads: dict[Buffer, dict[Buffer, None]] = {}
        for buffer, pieces in self.after.items():
            found: dict[Buffer, None] = {}
            for piece in pieces:
                for node in self._own_holes(piece.value, piece.guard, *piece.indices):
                    assert isinstance(node.buffer, InputTerm)
                    found[self.holes[node.buffer]] = None
            if found and buffer not in self.lost:
                reads[buffer] = found
        read_by: dict[Buffer, dict[Buffer, None]] = {}
        for buffer, found in reads.items():
            for each in found:
                read_by.setdefault(each, {})[buffer] = None
        for buffer, found in reads.items():
            try:
                scan = self._scan(buffer) if set(found) == {buffer} else None
                if scan is not None:
                    self.scans[buffer] = scan
                    continue
                # A pair stays a pair in the loops around, also where one of it stands alone.
                whole = self._members(buffer, [reads, read_by])
                least = self._members(buffer, [reads])
                try:
                    self.folds[buffer] = self._fold(buffer, whole)
                except Unread:
                    if len(least) == len(whole):
                        raise
                    self.folds[buffer] = self._fold(buffer, least)
            except Unread as error:
                self.lost[buffer] = LostContent(error.reason, error.span or self.span)

    def _members(
        self, buffer: Buffer, edges: Sequence[Mapping[Buffer, Mapping[Buffer, None]]]
    ) -> list[Buffer]:
        """The buffers that some lead to from one, in order."""
        together = {buffer}
        waiting = [buffer]
        while waiting:
            each = waiting.pop()
            for other in (other for edge in edges for other in edge.get(each, {})):
                if other not in together:
                    together.add(other)
                    waiting.append(other)
        return [b for b in self.after if b in together]

    def _fold(self, buffer: Buffer, members: Sequence[Buffer]) -> _Folded:
        """The reduction that updates of buffers are."""
        reader = self.reader
        pieces = []
        for each in members:
            if each in self.lost:
                raise Unread(self.lost[each].reason, self.lost[each].span)
            pieces.append(self._update(each))
        first = pieces[0]
        for piece in pieces:
            same = piece.axes == first.axes and piece.guard is first.guard
            if not same or self._own_holes(piece.guard, *piece.indices, *piece.extents):
                raise Unread(_DEPENDS, piece.span)
        if self._varies(first.extents):
            raise Unread("the extent of an inner loop depends on the loop around it", first.span)
        spread = any(self._varies(piece.indices) for piece in pieces)
        olds = [tir.Var(f"x{k}", each.dtype) for k, each in enumerate(members)]
        begins: list[tuple[PrimExpr, PrimExpr] | None] = []
        values = [piece.value for piece in pieces]
        guard = first.guard
        with reader.scope():
            reader.index(first.axes, first.extents)
            for each, piece, old in zip(members, pieces, olds, strict=True):
                hole = next(h for h, b in self.holes.items() if b is each)
                for node in self._own_holes(*values):
                    if node.buffer is hole and not self._same(node.indices, piece.indices):
                        raise Unread(_DEPENDS, piece.span)
                begin, values = self._begun(hole, values, old)
                begins.append(begin)
        if spread and (len(members) > 1 or any(begins)):
            raise Unread(_DEPENDS, first.span)
        found = _combined(olds, values, members.index(buffer), self.span)
        test, combine, sources, axes, extents, inside = found
        piece = pieces[members.index(buffer)]
        kept = [each for each in conjuncts(guard) if not self._varies(each)]
        moved = [each for each in conjuncts(guard) if self._varies(each)]
        extents, bounds = self._box(axes, extents, first.span)
        return _Folded(
            replace(piece, guard=all_of(kept)),
            combine,
            (self.axis, *axes),
            (self.extent, *extents),
            all_of([*moved, *bounds, *conjuncts(test), *conjuncts(inside)]),
            tuple(sources),
            members.index(buffer),
            tuple(members),
            tuple([each.indices for each in pieces]),
            tuple(begins),
            tuple(moved),
        )

    def _update(self, buffer: Buffer) -> WrittenPiece:
        """The writes of an iteration to a buffer as one piece, where all are in the same
        place.
        """
        pieces = self.after[buffer]
        if not pieces:
            raise Unread(_DEPENDS, self.span)
        last = pieces[-1]
        if len(pieces) == 1 and not self._own_holes(last.guard):
            return last
        for piece in pieces:
            names = dict(zip(piece.axes, last.axes, strict=False))
            moved = [terms.substitute(each, names) for each in (*piece.indices, *piece.extents)]
            if len(piece.axes) != len(last.axes) or moved != [*last.indices, *last.extents]:
                raise Unread(f"several statements update {buffer.name}", last.span)
        hole = next(h for h, b in self.holes.items() if b is buffer)
        with self.reader.scope():
            self.reader.index(last.axes, last.extents)
            content = Content(hole, pieces)
            value = self.reader.resolved(content, last.indices, buffer.name, last.span)
        return replace(last, guard=TRUE, value=value)

    def _box(
        self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr], span: Span | None
    ) -> tuple[list[PrimExpr], list[PrimExpr]]:
        """Extents that do not depend on the iteration, and the conditions for that."""
        dims: list[PrimExpr] = []
        bounds: list[PrimExpr] = []
        for axis, extent in zip(axes, extents, strict=True):
            if not self._varies(extent):
                dims.append(extent)
                continue
            last = tir.Sub(self.extent, terms.index(1, self.axis.dtype))
            most = terms.substitute(extent, {self.axis: last})
            if self.reader.holds(tir.interned(tir.LE(extent, most))) is not True:
                raise Unread("the extent of an inner loop depends on the loop around it", span)
            dims.append(most)
            bounds.append(tir.interned(tir.LT(axis, extent)))
        return dims, bounds

    def _same(self, some: Sequence[PrimExpr], others: Sequence[PrimExpr]) -> bool:
        return all(
            a is b or self.reader.facts.equal(a, b) for a, b in zip(some, others, strict=True)
        )

    def _begun(
        self, hole: InputTerm, values: Sequence[PrimExpr], old: tir.Var
    ) -> tuple[tuple[PrimExpr, PrimExpr] | None, list[PrimExpr]]:
        """The values with a variable for the old element, and what the first iteration has instead
        of it.
        """
        begins: dict[tuple[PrimExpr, PrimExpr], None] = {}
        wrapped: dict[PrimExpr, PrimExpr] = {}
        for node in tir.postorder(*values):
            match node:
                case tir.Call(op="if_then_else", args=(test, value, tir.BufferLoad(buffer=of))):
                    if of is hole and not self._own_holes(test, value) and self._at_first(test):
                        begins[(test, value)] = None
                        wrapped[node] = old
        if len(begins) > 1:
            raise Unread(_DEPENDS, self.span)
        bare = False

        def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            nonlocal bare
            if isinstance(node, tir.BufferLoad) and node.buffer is hole:
                bare = True
                return old
            return terms.rebuilt(node, operands)

        known = dict(wrapped)
        made = [tir.interned(tir.fold(value, new, known)) for value in values]
        if begins and bare:
            raise Unread(_DEPENDS, self.span)
        if not begins:
            return None, made
        ((test, value),) = begins
        start: dict[tir.Var, PrimExpr] = {self.axis: terms.index(0, self.axis.dtype)}
        return (terms.substitute(test, start), terms.substitute(value, start)), made

    def _at_first(self, condition: PrimExpr) -> bool:
        """Whether a condition never holds after the first iteration."""
        with self.reader.scope():
            self.reader.assume(tir.interned(tir.LE(terms.index(1, self.axis.dtype), self.axis)))
            return self.reader.holds(condition) is False

    def _scan(self, buffer: Buffer) -> _Scan | None:
        """A piece that reads only elements before those that it writes along an axis; None if it
        is something else.
        """
        pieces = self.after[buffer]
        if len(pieces) != 1 or self._own_holes(pieces[0].guard, *pieces[0].indices):
            return None
        (piece,) = pieces
        own = {self.axis, *piece.axes}
        used = [own.intersection(tir.free_vars(index)) for index in piece.indices]
        dims = tuple([k for k, each in enumerate(used) if each])
        along = next(
            (
                k
                for k in dims
                if used[k] == {self.axis} and self._injective(piece.indices[k], rising=True)
            ),
            None,
        )
        if along is None or not self._determines(piece):
            return None
        hole = next(h for h, b in self.holes.items() if b is buffer)

        def load(term: Buffer, indices: tuple[PrimExpr, ...], span: Span | None) -> PrimExpr:
            if term is hole:
                for k, (index, at) in enumerate(zip(piece.indices, indices, strict=True)):
                    if k not in dims and index is not at:
                        raise Unread(_DEPENDS, span)
                before = tir.LT(indices[along], piece.indices[along])
                if self.reader.holds(tir.interned(before)) is not True:
                    raise Unread(_DEPENDS, span)
            assert isinstance(term, terms.TensorTerm)
            return terms.read(term, indices)

        with self.reader.scope():
            self.reader.index(piece.axes, piece.extents)
            self.reader.assume(piece.guard)
            try:
                self.reader.walked(piece.value, {}, load)
            except Unread:
                return None
        return _Scan(piece, hole, dims, along)

    # ------------------------------------------------------------ writers

    def _determines(self, piece: WrittenPiece) -> bool:
        """Whether the indices of a piece say which iteration wrote."""
        targets = [tir.Var("a", tir.type_of(index)) for index in piece.indices]
        found = inverse(
            (self.axis, *piece.axes),
            (self.extent, *piece.extents),
            piece.indices,
            targets,
            self.reader.facts,
        )
        return found is not None

    def _in_order(self, buffer: Buffer, pieces: Sequence[WrittenPiece]) -> None:
        """Check that an earlier piece of a later iteration does not hide a later piece."""
        if not any(self._varies(p.indices, p.guard, p.extents) for p in pieces):
            return
        for k, later in enumerate(pieces):
            for piece in pieces[:k]:
                with self.reader.scope():
                    self.reader.index(later.axes, later.extents)
                    self.reader.assume(later.guard)
                    apart = self._apart(piece, later.indices, later=True)
                if not apart:
                    self.lost[buffer] = LostContent(
                        f"iterations write the same elements of {buffer.name}",
                        later.span or self.span,
                    )
                    return

    # ------------------------------------------------------------ behind the loop

    def pieces(self) -> dict[Buffer, tuple[WrittenPiece, ...] | LostContent]:
        """The pieces that the loop has written at its end."""
        found: dict[Buffer, tuple[WrittenPiece, ...] | LostContent] = {}
        for buffer, pieces in self.after.items():
            try:
                if buffer in self.lost:
                    found[buffer] = self.lost[buffer]
                elif buffer in self.folds:
                    found[buffer] = (self._folded(buffer, self.folds[buffer]),)
                elif buffer in self.scans:
                    found[buffer] = (self._scanned(buffer, self.scans[buffer]),)
                elif any(self.determined.get(p) is False for p in pieces):
                    found[buffer] = self._last_writers(buffer, pieces)
                else:
                    found[buffer] = tuple([self._extended(piece) for piece in pieces])
            except Unread as error:
                found[buffer] = LostContent(error.reason, error.span or self.span)
                with self.reader.scope():
                    self.reader.index([self.axis], [self.extent])
                    self._need_written(buffer)
        return found

    def _some(self) -> PrimExpr:
        """The condition that there is an iteration."""
        some = tir.interned(tir.LT(terms.index(0, tir.type_of(self.extent)), self.extent))
        return TRUE if self.reader.holds(some) else some

    def _extended(self, piece: WrittenPiece) -> WrittenPiece:
        if piece in self.determined:
            return replace(
                piece,
                axes=(self.axis, *piece.axes),
                extents=(self.extent, *piece.extents),
            )
        last: dict[tir.Var, PrimExpr] = {
            self.axis: tir.interned(tir.Sub(self.extent, terms.index(1, self.axis.dtype)))
        }
        value = terms.substitute(piece.value, last)
        return replace(piece, guard=both(self._some(), piece.guard), value=value)

    def _cells(self, buffer: Buffer) -> tuple[tuple[tir.Var, ...], tuple[PrimExpr, ...]]:
        """Variables for an element of a buffer, and the extents."""
        shape = tuple(map(self.reader.converted, buffer.shape))
        return tuple([tir.Var("a", tir.type_of(dim)) for dim in shape]), shape

    def _hit(self, piece: WrittenPiece, cells: Sequence[tir.Var]) -> PrimExpr:
        """The condition that a piece writes an element."""
        equal = [
            tir.interned(tir.EQ(index, cell))
            for index, cell in zip(piece.indices, cells, strict=True)
        ]
        return all_of([*equal, *conjuncts(piece.guard)])

    def _last_writers(
        self, buffer: Buffer, pieces: Sequence[WrittenPiece]
    ) -> tuple[WrittenPiece, ...]:
        """Writes of which the last one remains: combined by dropping what was there."""
        if len(pieces) > 1:
            raise Unread(f"iterations write the same elements of {buffer.name}", pieces[0].span)
        (piece,) = pieces
        cells, shape = self._cells(buffer)
        x, y = tir.Var("x", buffer.dtype), tir.Var("y", buffer.dtype)
        with self.reader.scope():
            self.reader.index(cells, shape)
            before = self.reader.read(self.reader.contents[buffer], buffer, cells, piece.span)
        value = terms.reduce_over(
            terms.combiner((x,), (y,), (y,)),
            (self.axis, *piece.axes),
            (self.extent, *piece.extents),
            (piece.value,),
            (before,),
            guard=self._hit(piece, cells),
        )
        if any(self._varies(extent) for extent in piece.extents):
            raise Unread("the extent of an inner loop depends on the loop around it", piece.span)
        return (WrittenPiece(cells, shape, TRUE, cells, value, piece.span),)

    def _folded(self, buffer: Buffer, fold: _Folded) -> WrittenPiece:
        """The piece of a reduction."""
        reader = self.reader
        piece = fold.piece
        if self._varies(piece.indices):
            return self._scattered(buffer, fold)
        begun = any(fold.begins)
        some = self._some() if begun else TRUE
        inits: list[PrimExpr] = []
        with reader.scope():
            reader.index(piece.axes, piece.extents)
            reader.assume(piece.guard)
            reader.assume(some)
            start: dict[tir.Var, PrimExpr] = {self.axis: terms.index(0, self.axis.dtype)}
            entered = [terms.substitute(each, start) for each in fold.entered]
            for each, indices, begin in zip(fold.members, fold.places, fold.begins, strict=True):
                content = reader.contents[each]
                if begin is None:
                    inits.append(reader.read(content, each, indices, piece.span))
                    continue
                test, value = begin
                open_ = [c for c in (*conjuncts(test), *entered) if reader.holds(c) is not True]
                if open_:
                    whole = all_of(open_)
                    with reader.scope():
                        reader.assume(whole, False)
                        old = reader.read(content, each, indices, piece.span)
                    value = tir.interned(tir.Call("if_then_else", (whole, value, old), each.dtype))
                inits.append(value)
        value = terms.reduce_over(
            fold.combine,
            fold.axes,
            fold.extents,
            fold.sources,
            inits,
            guard=fold.guard,
            output=fold.output,
        )
        return replace(piece, guard=both(some, piece.guard), value=value)

    def _scanned(self, buffer: Buffer, scan: _Scan) -> WrittenPiece:
        """The piece of a scan."""
        reader = self.reader
        piece = self._extended(scan.piece)
        shape = [reader.converted(buffer.shape[k]) for k in scan.dims]
        cells = [tir.Var("i", tir.type_of(piece.indices[k])) for k in scan.dims]
        places = list(piece.indices)
        for k, cell in zip(scan.dims, cells, strict=True):
            places[k] = cell
        with reader.scope():
            reader.index(cells, shape)
            found = reader.writer(piece, places, buffer.name)
            if found is None:
                return piece
            test, value = found
            if test is not TRUE:
                with reader.scope():
                    reader.assume(test, False)
                    old = reader.read(reader.contents[buffer], buffer, places, piece.span)
                value = tir.interned(tir.Call("if_then_else", (test, value, old), buffer.dtype))
        used = set(tir.free_vars(value, *shape))
        outer = [var for var in reader.loops if var in used]
        dims = [reader.closed(each) for each in (*[reader.loops[v] for v in outer], *shape)]
        whole = [dim for dim in dims if dim is not None]
        if len(whole) < len(dims):
            raise Unread(_DEPENDS, piece.span)
        hole = terms.previous(whole, buffer.dtype)

        def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            if isinstance(node, tir.BufferLoad) and node.buffer is scan.hole:
                return terms.read(hole, (*outer, *[operands[k] for k in scan.dims]))
            return terms.rebuilt(node, operands)

        body = tir.interned(tir.fold(value, new))
        if reader.is_open(body):
            raise Unread(_DEPENDS, piece.span)
        along = len(outer) + scan.dims.index(scan.along)
        made = terms.scan(whole, (*outer, *cells), body, along, buffer.name)
        at = [piece.indices[k] for k in scan.dims]
        return replace(piece, value=terms.read(made, (*outer, *at)))

    def _scattered(self, buffer: Buffer, fold: _Folded) -> WrittenPiece:
        """Updates of elements that depend on the iteration: each element combines those that hit
        it.
        """
        piece = fold.piece
        cells, shape = self._cells(buffer)
        with self.reader.scope():
            self.reader.index(cells, shape)
            before = self.reader.read(self.reader.contents[buffer], buffer, cells, piece.span)
        # The inner axes of the piece come behind the loop, before those of the update.
        value = terms.reduce_over(
            fold.combine,
            (self.axis, *piece.axes, *fold.axes[1:]),
            (self.extent, *piece.extents, *fold.extents[1:]),
            fold.sources,
            (before,),
            guard=all_of([*conjuncts(self._hit(piece, cells)), *conjuncts(fold.guard)]),
        )
        return WrittenPiece(cells, shape, TRUE, cells, value, piece.span)


_DEPENDS = "what an iteration computes depends on those before it, and is no reduction"

Combined = tuple[
    PrimExpr,
    terms.Combination,
    Sequence[PrimExpr],
    Sequence[tir.Var],
    Sequence[PrimExpr],
    PrimExpr,
]


def _combined(
    olds: Sequence[tir.Var], values: Sequence[PrimExpr], output: int, span: Span | None
) -> Combined:
    """New elements as a combination of the old ones with others: a condition, the combination, its
    sources, and the axes, extents and guard of a reduction inside.
    """
    test: PrimExpr = TRUE
    if len(values) == 1:
        (old,) = olds
        test, value = _guarded(values[0], old)
        values = [value]
    inner = _nested(olds, values)
    if inner is not None:
        combine, sources, axes, extents, guard = inner
        return test, combine, sources, axes, extents, guard
    if len(values) == 1:
        chain = _chain(values[0], olds[0])
        if chain is not None:
            return (test, *chain, TRUE)
    news = [tir.Var(f"y{k}", old.dtype) for k, old in enumerate(olds)]
    taken: dict[PrimExpr, tir.Var] = {}
    free = list(news)
    dependent: dict[PrimExpr, bool] = {}
    for node in tir.postorder(*values):
        below = tir.children(node)
        dependent[node] = node in olds or any(dependent[child] for child in below)
    kinds = {var.dtype for var in news}
    waiting = list(values)
    seen: set[PrimExpr] = set()
    while waiting:
        node = waiting.pop(0)
        if node in seen or node in olds or isinstance(node, tir.IntImm | tir.FloatImm):
            continue
        seen.add(node)
        if not dependent[node] and _kind(node) in kinds:
            _take(node, taken, free, span)
            continue
        if isinstance(node, Reduce | tir.BufferLoad | tir.Var):
            raise Unread(_DEPENDS, span)
        waiting += tir.children(node)

    def new_node(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
        return terms.rebuilt(node, operands)

    known: dict[PrimExpr, PrimExpr] = dict(taken)
    results = [tir.interned(tir.fold(value, new_node, known)) for value in values]
    sources_of = {var: source for source, var in taken.items()}
    zeros = [
        tir.interned(tir.FloatImm(0.0, v.dtype) if v.dtype.is_float else tir.IntImm(0, v.dtype))
        for v in news
    ]
    sources = [sources_of.get(var, zero) for var, zero in zip(news, zeros, strict=True)]
    return test, terms.combiner(olds, news, results), sources, (), (), TRUE


def _guarded(value: PrimExpr, old: tir.Var) -> tuple[PrimExpr, PrimExpr]:
    """A condition outside of which an element keeps its value, and the value where it holds.

    Choices between updates by one operation become an update by a choice.
    """
    parts = terms.choice(value)
    if parts is not None and not used_in(parts[0], [old]):
        c, one, other = parts
        if other is old:
            test, inner = _guarded(one, old)
            return both(c, test), inner
        if one is old:
            test, inner = _guarded(other, old)
            return both(tir.interned(tir.Not(c)), test), inner
        (p, a), (q, b) = _guarded(one, old), _guarded(other, old)
        if (
            isinstance(a, tir.Add | tir.Mul | tir.Max | tir.Min)
            and type(a) is type(b)
            and a.a is old
            and isinstance(b, tir.Binary)
            and b.a is old
            and not _mentions_any((a.b, b.b), [old])
        ):
            test = TRUE
            if p is not TRUE or q is not TRUE:
                test = tir.interned(tir.Or(both(c, p), both(tir.interned(tir.Not(c)), q)))
            chosen = tir.Call("if_then_else", (c, a.b, b.b), old.dtype)
            return test, tir.interned(type(a)(old, chosen))
    return TRUE, value


Chain = tuple[terms.Combination, Sequence[PrimExpr], Sequence[tir.Var], Sequence[PrimExpr]]


def _chain(value: PrimExpr, old: tir.Var) -> Chain | None:
    """An update by one operation, once or several times: the combination, the source, and the axis
    over several updates.
    """
    kind = type(value)
    if kind not in (tir.Add, tir.Mul, tir.Max, tir.Min, tir.And, tir.Or):
        return None
    new = tir.Var("y", old.dtype)
    sources: list[PrimExpr] = []
    node = value
    while type(node) is kind and isinstance(node, tir.Binary) and node.a is not old:
        if node.b is old and not sources and not used_in(node.a, [old]):
            combine = terms.combiner((old,), (new,), (kind(new, old),))
            return combine, (node.a,), (), ()
        sources.insert(0, node.b)
        node = node.a
    if type(node) is not kind or not isinstance(node, tir.Binary):
        return None
    sources.insert(0, node.b)
    if _mentions_any(sources, [old]):
        return None
    combine = terms.combiner((old,), (new,), (kind(old, new),))
    if len(sources) == 1:
        return combine, sources, (), ()
    step = tir.Var("u")
    source = sources[-1]
    for k, each in reversed(list(enumerate(sources[:-1]))):
        here = tir.EQ(step, terms.index(k))
        source = tir.Call("if_then_else", (here, each, source), old.dtype)
    return combine, (tir.interned(source),), (step,), (terms.index(len(sources)),)


def _take(
    node: PrimExpr, taken: dict[PrimExpr, tir.Var], free: list[tir.Var], span: Span | None
) -> None:
    """Give a source one of the variables of its type."""
    if node in taken:
        return
    kind = _kind(node)
    found = next((var for var in free if var.dtype == kind), None)
    if found is None:
        raise Unread(_DEPENDS, span)
    free.remove(found)
    taken[node] = found


def _kind(node: PrimExpr) -> DataType:
    """The type of a source."""
    if isinstance(node, tir.Call) and node.op in ("isnan", "isinf", "isfinite"):
        return BOOL
    return tir.type_of(node)


def _nested(
    olds: Sequence[tir.Var], values: Sequence[PrimExpr]
) -> (
    tuple[terms.Combination, Sequence[PrimExpr], Sequence[tir.Var], Sequence[PrimExpr], PrimExpr]
    | None
):
    """The parts of reductions that begin with the old elements."""
    first = values[0]
    if not isinstance(first, Reduce):
        return None
    for k, value in enumerate(values):
        if not isinstance(value, Reduce) or value.output != k or value.init != tuple(olds):
            return None
        if value.args != first.args or value.combiner is not first.combiner:
            return None
        if not value.ordered or value.axes != first.axes:
            return None
    if _mentions_any((*first.extents, first.guard, *first.sources), olds):
        return None
    axes = terms.fresh(first.axes)
    guard, sources = terms.opened(first, axes)
    return first.combiner, sources, axes, first.extents, guard


def used_in(expr: PrimExpr, variables: Sequence[PrimExpr]) -> bool:
    """Whether an expression has one of some variables."""
    return any(var in variables for var in tir.free_vars(expr))


def _mentions_any(exprs: Iterable[PrimExpr], variables: Sequence[tir.Var]) -> bool:
    return any(used_in(expr, variables) for expr in exprs)


def conjuncts(condition: PrimExpr) -> list[PrimExpr]:
    """The parts of a conjunction."""
    if condition is TRUE:
        return []
    if isinstance(condition, tir.And):
        return [*conjuncts(condition.a), *conjuncts(condition.b)]
    return [condition]
