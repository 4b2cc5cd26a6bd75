"""The state of memory at one point of a lowered program, and its rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple, TypeVar

from rlx.checker.lowered.objects import ELSEWHERE, Laid, MemoryPiece, apart, at_most, never
from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.spec.registry import reported, rule


class Event(NamedTuple):
    """A write to a piece of memory: its place, whether it happens on every way here, and by which
    tensor.
    """

    span: Span | None
    certain: bool
    by: MemoryPiece | None = None


class Use(NamedTuple):
    """Memory that a call may use: whether it reads what was there, and whether it writes.

    None stands for what is not known.
    """

    pieces: Collection[MemoryPiece]
    reads: bool | None
    writes: bool | None


class State(NamedTuple):
    """The state of memory at one point.

    Attributes
    ----------
    alive
        What was made so far.
    killed, overwritten
        Variables that came to an end, and tensors of which another one wrote the memory.
    written
        Tensors that something may have written.
    """

    alive: tuple[MemoryPiece, ...]
    killed: Mapping[ast.Var, Event]
    overwritten: Mapping[MemoryPiece, Event]
    written: frozenset[MemoryPiece]


class Memory:
    """The memory of one function, followed in the order of evaluation."""

    def __init__(self, found: list[Diagnostic]) -> None:
        self._found = found
        self._alive: dict[MemoryPiece, None] = {}
        self._killed: dict[ast.Var, Event] = {}
        self._ended: set[MemoryPiece] = set()
        self._overwritten: dict[MemoryPiece, Event] = {}
        self._written: set[MemoryPiece] = set()
        self._away: set[MemoryPiece] = set()
        self._told: set[tuple[str, object]] = set()
        self._apart: dict[tuple[object, object], bool | None] = {}

    # What happens

    def made(self, piece: MemoryPiece, *, blank: bool = False) -> frozenset[MemoryPiece]:
        """A new piece of memory; ``blank`` if it is a tensor that nothing wrote yet."""
        self._alive[piece] = None
        if not blank:
            self._written.add(piece)
        return frozenset([piece])

    def given_away(self, pieces: Iterable[MemoryPiece]) -> None:
        """Mark memory that others may hold from now on: this function need not free it."""
        for piece in pieces:
            self._away.add(piece)
            if isinstance(piece, Laid) and piece.storage is not None:
                self._away.add(piece.storage)

    def use(self, pieces: Collection[MemoryPiece], span: Span | None) -> None:
        self.call([Use(pieces, True, False)], span, apart=False)

    def call(self, uses: Sequence[Use], span: Span | None, apart: bool) -> None:
        """A call uses memory: what it reads is read before anything is written.

        ``apart`` says that the callee relies on it that what it writes is in no other argument.
        """
        for use in uses:
            if use.reads is not False:
                self._reads(use, span)
        for use in uses:
            if use.writes is not False:
                single = len(use.pieces) == 1
                for piece in use.pieces:
                    self._write(piece, span, single and use.writes is True)
        for written, other in permutations(uses, 2):
            if written.writes is True and True in (other.reads, other.writes):
                self._within(written, other, span, apart)

    def _reads(self, use: Use, span: Span | None) -> None:
        seen = [piece for piece in use.pieces if piece is not ELSEWHERE]
        gone = all(piece in self._overwritten for piece in seen)
        for piece in seen:
            # Of a value that may lie in several pieces some one is meant.
            if gone or piece not in self._overwritten:
                self._read(piece, span, len(use.pieces) == 1 and use.reads is True)

    @rule("MEM-alive", "memory")
    def named(self, var: ast.Var, span: Span | None) -> None:
        """A variable is used."""
        event = self._killed.get(var)
        if event is not None:
            message = f"{var.name_hint} is used after it was killed"
            self._tell("MEM-alive-used", var, message, span, event.span, event.certain)

    @rule("MEM-kill", "memory")
    def kill(self, var: ast.Var, span: Span | None) -> None:
        """A variable comes to its end."""
        event = self._killed.get(var)
        if event is not None:
            message = f"{var.name_hint} is killed twice"
            self._tell("MEM-kill-once", var, message, span, event.span, event.certain)
        self._killed.setdefault(var, Event(span, True))

    def end_of(self, pieces: Iterable[MemoryPiece]) -> None:
        """Pieces of memory whose variable is killed are not left."""
        self._ended.update(pieces)

    @rule("MEM-written", "memory")
    def _read(self, piece: MemoryPiece, span: Span | None, certain: bool) -> None:
        event = self._overwritten.get(piece)
        if event is not None:
            self._overlapping(piece, span, event, certain)
        elif isinstance(piece, Laid) and piece not in self._written and certain:
            message = f"{piece.name} is read before it is written"
            self._tell("MEM-written-before", piece, message, span, piece.span, False)

    def _within(self, written: Use, other: Use, span: Span | None, apart: bool) -> None:
        """The bytes that a call writes are disjoint from those that it reads.

        USE-aliased judges a tensor that is passed twice.
        """
        if len(written.pieces) != 1 or len(other.pieces) != 1:
            return
        (piece,), (beside,) = written.pieces, other.pieces
        if isinstance(piece, Laid) and isinstance(beside, Laid) and piece is not beside:
            shared = self._share(piece, beside)
            if shared is not False:
                event = Event(span, apart and shared is True, piece)
                self._overlapping(beside, span, event, apart)

    @rule("MEM-apart", "memory", refuses=True)
    def _overlapping(
        self, piece: MemoryPiece, span: Span | None, event: Event, certain: bool
    ) -> None:
        by = event.by.name if event.by is not None else "another tensor"
        message = f"{piece.name} is read after {by} was written to the same memory"
        before = event.span
        if before is not None and before == span:
            message = f"the call writes {by} to memory in which it also reads {piece.name}"
            before = piece.span
        sure = certain and event.certain
        self._tell("MEM-apart-overlap", piece, message, span, before, sure)

    def _write(self, piece: MemoryPiece, span: Span | None, certain: bool) -> None:
        if isinstance(piece, Laid):
            for other in self._alive:
                if other is not piece and other in self._written and isinstance(other, Laid):
                    self._covers(piece, other, span, certain)
        self._written.add(piece)
        if certain:
            self._overwritten.pop(piece, None)

    def _covers(self, piece: Laid, other: Laid, span: Span | None, certain: bool) -> None:
        if other in self._overwritten:
            return
        shared = self._share(piece, other)
        if shared is not False:
            self._overwritten[other] = Event(span, certain and shared is True, piece)

    def _share(self, piece: Laid, other: Laid) -> bool | None:
        """Whether two tensors have a byte in common; None if they may have one."""
        if piece.storage is None or other.storage is not piece.storage:
            return False
        if piece.offset is None or other.offset is None:
            return False  # the run alone can tell
        key = piece.place, other.place
        if key not in self._apart:
            self._apart[key] = apart((piece.offset, piece.end), (other.offset, other.end))
        found = self._apart[key]
        return None if found is None else not found

    @rule("MEM-fits", "memory")
    def fits(self, piece: Laid, other: str | None) -> None:
        """A tensor lies inside of its piece of memory; ``other`` says what it is laid into that is
        none.
        """
        if other is not None:
            message = f"{piece.name} is laid into {other}, not into a piece of memory"
            self._tell("MEM-fits-memory", piece, message, piece.span, None, True)
            return
        if piece.offset is not None and never(tir.GE(piece.offset, tir.IntImm(0))):
            message = f"{piece.name} begins at byte {piece.offset}, before its memory"
            self._tell("MEM-fits-start", piece, message, piece.span, None, True)
            return
        size = None if piece.storage is None else piece.storage.size
        if piece.storage is None or size is None or piece.end is None or at_most(piece.end, size):
            return
        message = f"{piece.name} ends at byte {piece.end}, but {piece.storage.name} has {size}"
        wrong = never(tir.LE(piece.end, size))
        self._tell("MEM-fits-end", piece, message, piece.span, piece.storage.span, wrong)

    @rule("MEM-leak", "memory")
    def end(self) -> None:
        """Report a leak at the end of a function that kills memory but not all of its own."""
        if all(isinstance(piece, Laid) for piece in self._ended):
            return
        for piece in self._alive:
            gone = piece in self._ended or piece in self._away
            if not isinstance(piece, Laid) and not gone:
                message = f"{piece.name} is never killed, and nothing else holds it"
                self._tell("MEM-leak-killed", piece, message, piece.span, None, False)

    # Branches

    def state(self) -> State:
        """The present state."""
        return State(
            tuple(self._alive),
            dict(self._killed),
            dict(self._overwritten),
            frozenset(self._written),
        )

    def restore(self, state: State) -> None:
        """Go back to what was known."""
        self._alive = dict.fromkeys(state.alive)
        self._killed, self._overwritten = dict(state.killed), dict(state.overwritten)
        self._written = set(state.written)

    def join(self, other: State) -> None:
        """Two branches meet: what happened in one of them only may have happened."""
        self._alive.update(dict.fromkeys(other.alive))
        self._killed = _joined(self._killed, other.killed)
        self._overwritten = _joined(self._overwritten, other.overwritten)
        self._written |= other.written

    def _tell(
        self,
        code: str,
        what: MemoryPiece | ast.Var,
        message: str,
        span: Span | None,
        before: Span | None,
        certain: bool,
    ) -> None:
        if (code, what) in self._told:
            return
        self._told.add((code, what))
        severity = "error" if certain else "warning"
        allocated = isinstance(what, MemoryPiece) and before == what.span
        label = "it is allocated here" if allocated else _LABELS.get(code, "")
        related = () if before is None else (Label(before, label),)
        plain = certain or code in ("MEM-leak-killed", "MEM-written-before")
        may = message if plain else f"perhaps {message}"
        where = span or what.span
        found = Diagnostic(code, severity, may, where, "", related, help=_HELP[code])
        self._found.append(reported(found))


_LABELS = {
    "MEM-alive-used": "it is killed here",
    "MEM-kill-once": "it is killed here first",
    "MEM-written-before": "it is allocated here",
    "MEM-apart-overlap": "the memory is written here",
    "MEM-fits-end": "the memory is allocated here",
    "MEM-leak-killed": "it is allocated here",
}
_HELP = {
    "MEM-alive-used": "kill it after its last use",
    "MEM-kill-once": "kill it once",
    "MEM-written-before": "write it first, or read another tensor",
    "MEM-apart-overlap": "place the two tensors side by side, or in different storages",
    "MEM-fits-memory": "write the result of R.memory.alloc_storage or R.vm.alloc_storage",
    "MEM-fits-start": "begin at byte 0 or later",
    "MEM-fits-end": "make the storage larger, or begin the tensor earlier",
    "MEM-leak-killed": "kill it after its last use",
}


T = TypeVar("T")


def _joined(one: Mapping[T, Event], other: Mapping[T, Event]) -> dict[T, Event]:
    found: dict[T, Event] = {}
    for key in (*one, *other):
        match one.get(key), other.get(key):
            case Event() as first, Event() as second:
                found[key] = first._replace(certain=first.certain and second.certain)
            case (Event() as only, None) | (None, Event() as only):
                found[key] = only._replace(certain=False)
    return found
