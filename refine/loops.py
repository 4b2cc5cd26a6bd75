"""PrimFuncs as terms: the final contents of buffers as a function of their initial contents.

The statements are read in order, with the content of each buffer (:mod:`rlx.refine.loops_content`).
The body of a loop is read once, for any iteration: what a buffer that it writes holds at the
beginning of an iteration is a hole. :mod:`rlx.refine.loops_exit` finds what all iterations leave.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32, DataType, dtype
from rlx.grammar.nodes.node import Record, Span, replace
from rlx.grammar.nodes.tir import Buffer, PrimExpr
from rlx.refine import fused_loops, terms
from rlx.refine.definedness import requirement
from rlx.refine.facts import Facts, index_bound
from rlx.refine.lanes import number_of_lanes, one_lane
from rlx.refine.loops_content import (
    Content,
    LostContent,
    Unread,
    Unwritten,
    WrittenPiece,
    inverse,
    with_piece,
)
from rlx.refine.loops_exit import AllIterations, Load, conjuncts, used_in
from rlx.refine.terms import TRUE, InputTerm, Reduce, TensorTerm, both, tensors_of
from rlx.semantics.tir.calls import extreme
from rlx.solver.context import Context

__all__ = ["Holes", "ReadingNeed", "Unread", "read_loops"]


class ReadingNeed(Record):
    """A condition under which a reading is right.

    It must hold for all values of the axes below their extents that satisfy what is given.

    Attributes
    ----------
    condition
        The condition.
    axes, extents, given
        For which values it must hold.
    why
        What it is needed for, as a sentence.
    span
        The place.
    """

    condition: PrimExpr
    axes: tuple[tir.Var, ...]
    extents: tuple[PrimExpr, ...]
    given: tuple[PrimExpr, ...]
    why: str
    span: Span | None


class Holes(Record):
    """The results of a PrimFunc, as functions of its parameters.

    Attributes
    ----------
    inputs
        What each buffer parameter holds before, in order: the input of the key ``("slot", k)``,
        where k is the position among all parameters.
    numbers
        The variable of each scalar parameter, by position.
    shapes
        The declared shape of each buffer parameter.
    outputs
        What a buffer parameter that is written holds afterwards, by position.
    needs
        What must hold so that the reading is right, as far as it was not proved.
    """

    inputs: tuple[TensorTerm, ...]
    numbers: Mapping[int, tir.Var]
    shapes: tuple[tuple[PrimExpr, ...], ...]
    outputs: Mapping[int, TensorTerm]
    needs: tuple[ReadingNeed, ...]


def read_loops(function: tir.PrimFunc) -> Holes:
    """Read the results of a PrimFunc. Raises Unread if a statement cannot be read, or if an iteration
    depends on earlier ones in a way that is not a reduction or a scan.
    """
    try:
        return Reader().function(function)
    except RecursionError:
        raise Unread("the statements are nested too deeply") from None


LIMIT = 20_000
"""How many expressions may be visited for one PrimFunc."""

MOST_PIECES = 48
"""How many writes of one buffer are kept apart."""


class Reader:
    """Reads one PrimFunc.

    Attributes
    ----------
    facts
        What is known at the place that is read.
    contents
        What each buffer holds there.
    needs
        What is not proved.
    parameters
        The buffers that the caller gives.
    """

    def __init__(self) -> None:
        self.facts = Facts(Context())
        self.contents: dict[Buffer, Content] = {}
        self.needs: list[ReadingNeed] = []
        self.work = 0
        self.loops: dict[tir.Var, PrimExpr] = {}
        self.parameters = set[Buffer]()
        self._domain: list[tuple[tir.Var, PrimExpr]] = []
        self._given: list[PrimExpr] = []
        self._env: dict[tir.Var, PrimExpr] = {}
        self._regions: dict[Buffer, tuple[Buffer, tuple[PrimExpr, ...]]] = {}
        self._ranges: dict[tir.Var, PrimExpr] = {}
        self._memo: dict[PrimExpr, PrimExpr] = {}
        self._scope: object = object()
        self._tensors: dict[
            tuple[Content, object], tuple[TensorTerm, tuple[tir.Var, ...]] | None
        ] = {}
        self._holes = 0
        self._sizes: set[tir.Var] = set()
        self._span: Span | None = None
        self._starts: dict[tir.Var, PrimExpr] = {}
        self._written: dict[tir.Stmt, dict[Buffer, None]] = {}

    # ------------------------------------------------------------ the whole

    def function(self, function: tir.PrimFunc) -> Holes:
        """Read a whole PrimFunc."""
        inputs: list[TensorTerm] = []
        numbers: dict[int, tir.Var] = {}
        slots: dict[int, Buffer] = {}
        used = {
            *function.params,
            *(v for b in function.buffer_map.values() for v in tir.free_vars(*b.shape)),
        }
        for k, param in enumerate(function.params):
            buffer = function.buffer_map.get(param)
            if buffer is None:
                if param.dtype.code == "handle":
                    raise Unread(f"{param.name} is a pointer", function.name_span)
                numbers[k] = param
                if param.dtype.is_integer:
                    self.facts.context.declare(param, lower=None)
                continue
            self._plain(buffer, used)
            hole = terms.input_term(("slot", k), buffer.name, buffer.shape, buffer.dtype)
            inputs.append(hole)
            slots[k] = buffer
            self.contents[buffer] = Content(hole, ())
        self._sizes.update(function.params)
        for buffer in slots.values():
            self._sizes.update(tir.free_vars(*buffer.shape))
        self.parameters.update(slots.values())
        before = dict(self.contents)
        self.statement(function.body)
        outputs = {
            k: self._after(buffer, self.contents[buffer])
            for k, buffer in slots.items()
            if self.contents[buffer] is not before[buffer]
        }
        shapes = tuple([buffer.shape for buffer in slots.values()])
        return Holes(tuple(inputs), numbers, shapes, outputs, tuple(self.needs))

    def _after(self, buffer: Buffer, content: Content) -> TensorTerm:
        axes = self.axes_of(buffer, content)
        shape = tuple(map(self.converted, buffer.shape))
        with self.scope():
            self.index(axes, shape)
            value = self.resolved(content, axes, buffer.name, None)
        return terms.lam(shape, axes, value, buffer.name, buffer.dtype)

    def _plain(self, buffer: Buffer, used: Collection[tir.Var] | None = None) -> None:
        """Memory that no other buffer shares, without vectors. The offset of a parameter is 0, and any
        variable that is not used otherwise is that.
        """
        if buffer.dtype.lanes > 1:
            raise Unread(f"the elements of {buffer.name} are vectors", buffer.span)
        if buffer.attrs.get("data") is not None:
            raise Unread(f"{buffer.name} is in the memory of another buffer", buffer.span)
        if buffer.attrs.get("strides"):
            raise Unread(f"{buffer.name} has strides", buffer.span)
        match buffer.attrs.get("elem_offset"):
            case None | 0 | tir.IntImm(value=0):
                pass
            case tir.Var() as offset if used is not None and offset not in used:
                pass
            case _:
                raise Unread(f"{buffer.name} has an offset", buffer.span)

    def axes_of(self, buffer: Buffer, content: Content) -> list[tir.Var]:
        """Variables for the indices of a buffer, of the types with which it was last written."""
        while not content.pieces and isinstance(content.below, Content):
            content = content.below
        given = content.pieces[-1].indices if content.pieces else buffer.shape
        return [tir.Var("i", tir.type_of(index)) for index in given]

    # ------------------------------------------------------------ facts

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Facts and memory of expressions of a place."""
        memo, scope = self._memo, self._scope
        loops, ranges = dict(self.loops), dict(self._ranges)
        domain, given = len(self._domain), len(self._given)
        self._memo, self._scope = {}, object()
        try:
            with self.facts.scope():
                yield
        finally:
            self._memo, self._scope = memo, scope
            self.loops, self._ranges = loops, ranges
            del self._domain[domain:]
            del self._given[given:]

    def index(self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr]) -> None:
        """Assume that indices are inside their extents."""
        self.facts.index(axes, extents)
        for axis, extent in zip(axes, extents, strict=True):
            self._ranges[axis] = extent
            self._domain.append((axis, extent))

    def assume(self, condition: PrimExpr, value: bool = True) -> None:
        """Assume that a condition holds, or that it does not."""
        while isinstance(condition, tir.Not):
            condition, value = condition.a, not value
        if isinstance(condition, tir.And) and value:
            self.assume(condition.a)
            self.assume(condition.b)
            return
        if condition is TRUE and value:
            return
        self.facts.assume(condition, value)
        self._given.append(condition if value else tir.interned(tir.Not(condition)))

    def _assume_closed(self, condition: PrimExpr, value: bool) -> None:
        """Assume a condition of a branch. One on what earlier iterations computed is left out: it
        would make the first iteration, which begins a reduction, look different from the others.
        """
        if not self.is_open(condition):
            self.assume(condition, value)

    def holds(self, condition: PrimExpr) -> bool | None:
        """Whether a condition always holds (True), never (False), or is undecided (None)."""
        while isinstance(condition, tir.Not):
            inner = self.holds(condition.a)
            return None if inner is None else not inner
        match condition:
            case tir.LE(a=tir.IntImm(value=0), b=tir.Var() as axis) if axis in self._ranges:
                return True
            case tir.LT(a=tir.Var() as axis, b=limit) if axis in self._ranges:
                if self._ranges[axis] is limit:
                    return True
        asked = self.facts.asked
        found = self.facts.holds(condition)
        self.spend(30 if self.facts.asked > asked else 1)
        return found

    def spend(self, units: int) -> None:
        """Count work; beyond the limit a PrimFunc is not read."""
        self.work += units
        if self.work > LIMIT:
            raise Unread("the loops are too large to be read")

    # ------------------------------------------------------------ statements

    def statement(self, stmt: tir.Stmt) -> None:
        """Read a statement."""
        self.spend(1)
        self._span = getattr(stmt, "span", None) or self._span
        match stmt:
            case tir.SeqStmt(stmts=stmts):
                for each in stmts:
                    self.statement(each)
            case tir.BufferStore():
                self._store(stmt)
            case tir.For():
                self._for(stmt)
            case tir.Block():
                self._block(stmt)
            case tir.IfThenElse(condition=condition, then_case=then, else_case=other):
                self._branch(
                    self._valued(condition),
                    lambda: self.statement(then),
                    None if other is None else lambda: self.statement(other),
                )
            case tir.LetStmt(var=var, value=value):
                self._bind(var, self._valued(value), stmt.span)
            case tir.AllocBuffer(buffer=buffer):
                self._allocate(buffer)
            case tir.Assert(condition=condition):
                self.need(self._valued(condition), "an assertion must hold", stmt.span)
            case tir.With():
                self._with(stmt)
            case tir.MatchBuffer(buffer=buffer, source=source):
                self._match(buffer, source, stmt.span)
            case tir.Evaluate(value=value):
                self._evaluate(value, stmt.span)
            case tir.While():
                raise Unread("the number of iterations of a while loop is not known", stmt.span)
            case _:
                raise Unread("the statement is not known", getattr(stmt, "span", None))

    def _bind(self, var: tir.Var, value: PrimExpr, span: Span | None) -> None:
        if var.dtype.code == "handle" or var.dtype.lanes > 1:
            raise Unread(f"{var.name} is a pointer or a vector", span)
        self._env[var] = self.stored(value, var.dtype)

    def _allocate(self, buffer: Buffer) -> None:
        self._plain(buffer)
        self.contents[buffer] = Content(Unwritten(buffer.name), ())

    def _with(self, stmt: tir.With) -> None:
        match stmt.call, stmt.var:
            case tir.Call(op="attr"), _:
                self.statement(stmt.body)
            case tir.Call(op="launch_thread", args=(_, extent)), tir.Var() as var:
                zero = tir.IntImm(0, var.dtype)
                self._for(tir.For(var, zero, extent, "thread_binding", stmt.body, {}, stmt.span))
            case _:
                raise Unread(f"T.{stmt.call.op} is not known", stmt.span)

    def _evaluate(self, value: PrimExpr, span: Span | None) -> None:
        match value:
            case tir.IntImm():
                return
            case tir.Call(op=op) if op in _WITHOUT_EFFECT:
                return
            case tir.Call(op=op):
                raise Unread(f"T.{op} has an effect that terms do not describe", span)
        self.converted(value)

    def _match(self, buffer: Buffer, source: tir.BufferLoad, span: Span | None) -> None:
        if buffer.dtype != source.buffer.dtype:
            raise Unread(f"{buffer.name} has another element type than its memory", span)
        starts = [i.start if isinstance(i, tir.Slice) else i for i in source.indices]
        first = tuple(map(self.converted, starts))
        if len(buffer.shape) > len(first):
            raise Unread(f"{buffer.name} has more axes than its memory", span)
        self._regions[buffer] = (source.buffer, first)

    def _store(self, stmt: tir.BufferStore) -> None:
        count = number_of_lanes(stmt)
        if count > 1:
            self._store_lanes(stmt, count)
            return
        buffer, indices = self._place(stmt.buffer, stmt.indices, stmt.span)
        value = self.stored(self._valued(stmt.value), buffer.dtype)
        if buffer.dtype == INT32 and not isinstance(value, tir.IntImm) and not tensors_of(value):
            value = tir.interned(tir.Cast(INT32, value))  # whatever type a loop's index gets later
        self.inside(buffer, indices, "a write is", stmt.span)
        if buffer not in self.contents:
            raise Unread(f"{buffer.name} has no memory here", stmt.span)
        piece = WrittenPiece((), (), TRUE, indices, value, stmt.span)
        self._add(buffer, piece)

    def _store_lanes(self, stmt: tir.BufferStore, count: int) -> None:
        """Read the store of a vector as a loop over its lanes. All lanes are read before one is
        written: what is read of the same memory is the same element.
        """
        own = self._memory(stmt.buffer)
        for node in tir.postorder(tir.interned(stmt.value)):
            match node:
                case tir.BufferLoad(buffer=buffer, indices=indices) if self._memory(buffer) is own:
                    same = buffer is stmt.buffer and len(indices) == len(stmt.indices)
                    if not same or any(
                        tir.interned(a) is not tir.interned(b)
                        for a, b in zip(indices, stmt.indices, strict=True)
                    ):
                        raise Unread("a vector is written where another one is read", stmt.span)
        at = tir.Var("lane", INT32)
        indices = tuple([one_lane(each, at) for each in stmt.indices])
        store = tir.BufferStore(stmt.buffer, indices, one_lane(stmt.value, at), stmt.span)
        zero, extent = tir.IntImm(0, INT32), tir.IntImm(count, INT32)
        self._for(tir.For(at, zero, extent, "serial", store, {}, stmt.span))

    def _memory(self, buffer: Buffer) -> Buffer:
        """The buffer that a buffer is a region of, or itself."""
        while buffer in self._regions:
            buffer = self._regions[buffer][0]
        return buffer

    def _add(self, buffer: Buffer, piece: WrittenPiece) -> None:
        content = with_piece(self.contents[buffer], piece)
        if len(content.pieces) > MOST_PIECES:
            raise Unread(f"{buffer.name} is written by too many statements", piece.span)
        self.spend(len(content.pieces))
        self.contents[buffer] = content

    def _place(
        self, buffer: Buffer, indices: Sequence[PrimExpr], span: Span | None
    ) -> tuple[Buffer, tuple[PrimExpr, ...]]:
        """The memory of a buffer, and the converted indices."""
        return self._within(buffer, tuple(map(self.converted, indices)), span)

    def _within(
        self, buffer: Buffer, found: tuple[PrimExpr, ...], span: Span | None
    ) -> tuple[Buffer, tuple[PrimExpr, ...]]:
        while buffer in self._regions:
            self.inside(buffer, found, "an access is", span)
            whole, first = self._regions[buffer]
            ahead = len(first) - len(found)
            moved = [
                tir.interned(tir.Add(start, at)) if not tir.is_zero(start) else at
                for start, at in zip(first[ahead:], found, strict=True)
            ]
            buffer, found = whole, (*first[:ahead], *moved)
        return buffer, tuple(map(self.facts.undivided, found))

    # ------------------------------------------------------------ branches

    def _branch(
        self,
        condition: PrimExpr,
        then: Callable[[], None],
        other: Callable[[], None] | None = None,
    ) -> None:
        """Read one part where a condition holds, and another one where it does not."""
        outside = self.contents
        found: list[tuple[PrimExpr, dict[Buffer, Content]]] = []
        negated = tir.interned(tir.Not(condition))
        for test, value, part in ((condition, True, then), (negated, False, other)):
            if part is None:
                continue
            self.contents = {buffer: Content(c, ()) for buffer, c in outside.items()}
            with self.scope():
                self._assume_closed(condition, value)
                part()
            found.append((test, self.contents))
        self.contents = dict(outside)
        for test, contents in found:
            for buffer, content in outside.items():
                lost = contents[buffer].below
                if isinstance(lost, LostContent) and lost is not content.below:
                    self.contents[buffer] = Content(lost, ())
                    continue
                for piece in contents[buffer].pieces:
                    guard = both(test, piece.guard)
                    self._add(buffer, replace(piece, guard=guard))

    # ------------------------------------------------------------ loops and blocks

    def _for(self, stmt: tir.For) -> None:
        stmt = fused_loops.split(stmt, self._is_at_least) or stmt
        low, extent = self.converted(stmt.min), self.converted(stmt.extent)
        self._starts[stmt.loop_var] = tir.interned(tir.converted(low, stmt.loop_var.dtype, None))
        step = None if stmt.step is None else self.converted(stmt.step)
        if step is not None:
            if not isinstance(step, tir.IntImm) or step.value < 1:
                raise Unread("the step of a loop is not a positive number", stmt.span)
            ahead = terms.index(step.value - 1, step.dtype)
            extent = tir.interned(tir.FloorDiv(tir.Add(extent, ahead), step))
        elif isinstance(extent, tir.IntImm) and tir.is_zero(low):
            limit = self._guarded(stmt, extent)
            extent = extent if limit is None else terms.index(min(extent.value, limit))
        match extent:
            case tir.IntImm(value=times) if times <= 0:
                return
            case tir.IntImm(value=1):
                self._env[stmt.loop_var] = tir.interned(
                    tir.converted(low, stmt.loop_var.dtype, None)
                )
                self.statement(stmt.body)
                return
        axis = tir.Var(stmt.loop_var.name, stmt.loop_var.dtype)
        if axis.dtype.bits < INT32.bits:
            raise Unread(f"{axis.name} counts in {axis.dtype}", stmt.span)
        value: PrimExpr = axis if step is None else tir.Mul(axis, step)
        value = value if tir.is_zero(low) else tir.Add(value, low)
        self._env[stmt.loop_var] = tir.interned(value)
        before = self.contents
        written = [buffer for buffer in self._stores_in(stmt.body) if buffer in before]
        holes: dict[InputTerm, Buffer] = {}
        self.contents = dict(before)
        for buffer in written:
            self._holes += 1
            hole = terms.input_term(
                ("loop", self, self._holes), buffer.name, buffer.shape, buffer.dtype
            )
            holes[hole] = buffer
            self.contents[buffer] = Content(hole, ())
        with self.scope():
            self.index([axis], [extent])
            self.loops[axis] = extent
            self.statement(stmt.body)
            after = {buffer: self.contents[buffer] for buffer in written}
            self.contents = before
            end = AllIterations(self, axis, extent, holes, after, stmt.span)
        self.contents = dict(before)
        for buffer, pieces in end.pieces().items():
            if isinstance(pieces, LostContent):
                self.contents[buffer] = Content(pieces, ())
                continue
            for piece in pieces:
                self._add(buffer, piece)

    def _guarded(self, stmt: tir.For, extent: tir.IntImm) -> int | None:
        """Below which number the variable of a loop must be so that its body does something; None if
        no number is known.
        """
        inner = stmt.body
        evaluated: list[PrimExpr] = []  # also where the body does nothing
        while isinstance(inner, tir.For):
            evaluated += [inner.min, inner.extent, *([] if inner.step is None else [inner.step])]
            inner = inner.body
        match inner:
            case tir.Block(predicate=PrimExpr() as test):
                evaluated += [axis.binding for axis in inner.iter_vars]
            case tir.IfThenElse(condition=test, else_case=None):
                pass
            case _:
                return None
        if any(map(_may_fail, (*evaluated, test))):
            return None
        limits: list[int] = []
        with self.scope():
            self.index([stmt.loop_var], [extent])
            for each in conjuncts(tir.interned(tir.substitute(test, self._env))):
                match index_bound(each, [stmt.loop_var]):
                    case _, tir.IntImm(value=limit), True if self.facts.never_wraps(each):
                        limits.append(limit)
        return min(limits, default=None)

    def _is_at_least(self, size: PrimExpr, number: int) -> bool:
        """Whether a size of the text, which no statement changes, is never below a number."""
        if isinstance(size, tir.IntImm):
            return size.value >= number
        nodes = tir.postorder(tir.interned(tir.substitute(size, self._env)))
        known = self._sizes.union(self.loops)
        if any(
            isinstance(n, tir.BufferLoad) or (isinstance(n, tir.Var) and n not in known)
            for n in nodes
        ):
            return False
        least = terms.index(number, tir.type_of(nodes[-1]))
        return self.holds(tir.interned(tir.LE(least, nodes[-1]))) is True

    def _stores_in(self, stmt: tir.Stmt) -> dict[Buffer, None]:
        """The memory that a statement writes."""
        return dict.fromkeys(map(self._memory, self._stored(stmt)))

    def _stored(self, stmt: tir.Stmt) -> dict[Buffer, None]:
        """The buffers that a statement writes, and the memory of regions that it declares."""
        known = self._written.get(stmt)
        if known is None:
            known = {}
            below: list[tir.Stmt] = []
            match stmt:
                case tir.BufferStore(buffer=buffer):
                    known[buffer] = None
                case tir.MatchBuffer(source=source):
                    known[source.buffer] = None
                case tir.SeqStmt(stmts=stmts):
                    below = list(stmts)
                case tir.Block(init=init, body=body):
                    below = [body] if init is None else [init, body]
                case tir.IfThenElse(then_case=then, else_case=other):
                    below = [then] if other is None else [then, other]
                case tir.For(body=body) | tir.While(body=body) | tir.With(body=body):
                    below = [body]
            for each in below:
                known.update(self._stored(each))
            self._written[stmt] = known
        return known

    def _block(self, stmt: tir.Block) -> None:
        first: PrimExpr = TRUE
        for axis in stmt.iter_vars:
            value = tir.fold(self.converted(axis.binding), _without_0)
            value = tir.interned(tir.converted(value, axis.var.dtype, None))
            self._env[axis.var] = value
            if axis.kind == "R":
                start = terms.index(0, axis.var.dtype)
                if axis.dom is not None:
                    start = self.converted(axis.dom[0])
                elif isinstance(axis.binding, tir.Var):
                    start = self._starts.get(axis.binding, start)
                if value is not start:
                    first = both(first, tir.interned(tir.EQ(value, start)))
        if stmt.predicate is None:
            self._inner(stmt, first)
        else:
            self._branch(self._valued(stmt.predicate), lambda: self._inner(stmt, first))

    def _inner(self, stmt: tir.Block, first: PrimExpr) -> None:
        outside = set(self.contents)
        for buffer in stmt.alloc_buffers:
            self._allocate(buffer)
        if stmt.init is not None:
            init = stmt.init
            if first is TRUE:
                self.statement(init)
            else:
                self._branch(first, lambda: self.statement(init))
        self.statement(stmt.body)
        self.contents = {b: c for b, c in self.contents.items() if b in outside}

    # ------------------------------------------------------------ expressions

    def converted(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the text, as an element; interned."""
        return self.walked(tir.interned(expr), self._env, self._load)

    def _valued(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the text that is no index. In an index numbers are exact (E-tir-index), in a
        value they wrap: here it is known yet that a loop counts in 32 bits.
        """
        found = self.converted(expr)
        reads: dict[PrimExpr, bool] = {}
        tir.fold(found, lambda node, inside: isinstance(node, tir.BufferLoad) or any(inside), reads)
        stack, seen = [found], set[PrimExpr]()
        while stack:
            node = stack.pop()
            if node in seen or isinstance(node, tir.BufferLoad):
                continue
            seen.add(node)
            if tir.type_of(node).bits == INT32.bits and not (reads[node] or self.facts.fits(node)):
                raise Unread(f"{node} may wrap", self._span)
            stack += tir.children(node)
        return found

    def _load(self, buffer: Buffer, indices: tuple[PrimExpr, ...], span: Span | None) -> PrimExpr:
        buffer, found = self._within(buffer, indices, span)
        content = self.contents.get(buffer)
        if content is None:
            raise Unread(f"{buffer.name} has no memory here", span)
        self.inside(buffer, found, "a read is", span)
        return self.read(content, buffer, found, span)

    def walked(
        self,
        root: PrimExpr,
        env: Mapping[tir.Var, PrimExpr],
        load: Load,
    ) -> PrimExpr:
        """An expression with other variables and reads. Each read is asked for under the facts of
        its place: the conditions of `if_then_else`, the domains of reductions.
        """

        def visit(node: PrimExpr) -> tir.Visit[PrimExpr]:
            known = self._memo.get(node)
            if known is not None:
                return known
            self.spend(1)
            made = yield from parts(node)
            made = tir.interned(made)
            self._memo[node] = made
            return made

        def under(node: PrimExpr, condition: PrimExpr, value: bool) -> tir.Visit[PrimExpr]:
            with self.scope():
                self._assume_closed(condition, value)
                made: PrimExpr = yield node
            return made

        def parts(node: PrimExpr) -> tir.Visit[PrimExpr]:
            match node:
                case tir.Var():
                    if env is self._env and node not in env and node not in self._sizes:
                        raise Unread(f"{node.name} has no value here", self._span)
                    return env.get(node, node)
                case tir.IntImm() | tir.FloatImm():
                    return node
                case tir.BufferLoad(buffer=buffer, indices=indices):
                    found = []
                    for index in indices:
                        found.append((yield index))
                    return load(buffer, tuple(found), self._span)
                case tir.Let(var=var, value=value, body=body):
                    bound = yield value
                    assert env is self._env
                    self._env[var] = self.stored(bound, var.dtype)
                    return (yield body)
                case tir.And(a=a, b=b) | tir.Or(a=a, b=b):
                    left = yield a
                    right = yield from under(b, left, isinstance(node, tir.And))
                    return tir.with_operands(node, (left, right))
                case Reduce():
                    return (yield from reduction(node))
                case tir.Call(op="likely" | "tvm_thread_invariant", args=(same,)):
                    return (yield same)
                case tir.Call(op="if_then_else", args=(condition, one, other)):
                    test = yield condition
                    yes = yield from under(one, test, True)
                    no = yield from under(other, test, False)
                    kind = node.dtype or tir.type_of(yes)
                    return tir.Call("if_then_else", (test, yes, no), kind)
                case tir.Call(op="min_value" | "max_value" | "infinity" as word):
                    return _extreme(word, node)
                case tir.Call(op=op) if op not in PURE:
                    raise Unread(f"T.{op} is not a function of its arguments", self._span)
                case tir.OpaqueExpr() | tir.Slice():
                    raise Unread("the expression is not known", self._span)
            operands = []
            for child in tir.children(node):
                operands.append((yield child))
            if type(node) is tir.Call:  # which may have no type yet
                made = terms.rebuilt(node, operands)
            else:
                made = tir.with_operands(node, operands) if operands else node
            self.defined(made)
            return made

        def reduction(node: Reduce) -> tir.Visit[PrimExpr]:
            extents, init, inside = [], [], []
            for each in node.extents:
                extents.append((yield each))
            for each in node.init:
                init.append((yield each))
            axes = terms.fresh(node.axes)
            guard, sources = terms.opened(node, axes)
            with self.scope():
                self.index(axes, extents)
                test = yield guard
                self.assume(test)
                for each in sources:
                    inside.append((yield each))
            return terms.reduce_over(
                node.combiner,
                axes,
                extents,
                inside,
                init,
                guard=test,
                output=node.output,
                ordered=node.ordered,
            )

        memo, self._memo = self._memo, {}
        try:
            return tir.fold_lazily(root, visit)
        finally:
            self._memo = memo

    # ------------------------------------------------------------ reads

    def inside(
        self, buffer: Buffer, indices: Sequence[PrimExpr], what: str, span: Span | None
    ) -> None:
        """Prove that indices are inside a buffer, or need it."""
        if len(indices) != len(buffer.shape):
            raise Unread(f"{buffer.name} has {len(buffer.shape)} axes", span)
        for index, extent in zip(indices, buffer.shape, strict=True):
            limit = self.converted(extent)
            zero = terms.index(0, tir.type_of(index))
            for condition in (tir.LE(zero, index), tir.LT(index, limit)):
                self.need(tir.interned(condition), f"{what} inside {buffer.name}", span)

    def defined(self, node: PrimExpr) -> None:
        """Prove that an operation on elements does not fail, or need it."""
        needed = requirement(node)
        if needed is not None:
            self.need(*needed, self._span)

    def stored(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A value as a buffer or a variable of a type holds it."""
        made = terms.stored(value, kind)
        self.defined(made)
        return made

    def need(self, condition: PrimExpr, why: str, span: Span | None) -> None:
        """Prove a condition, or say that it must hold."""
        if self.holds(condition) is True:
            return
        if self.is_open(condition) or any(map(self.is_open, self._given)):
            raise Unread(f"{why}, which depends on what the iterations before computed", span)
        axes, extents = zip(*self._domain, strict=True) if self._domain else ((), ())
        self.needs.append(ReadingNeed(condition, axes, extents, tuple(self._given), why, span))

    def is_open(self, expr: PrimExpr) -> bool:
        """Whether an element depends on what an enclosing loop computed before."""
        return any(
            isinstance(node, tir.BufferLoad)
            and isinstance(node.buffer, InputTerm)
            and isinstance(node.buffer.key, tuple)
            and node.buffer.key[0] == "loop"
            for node in tir.postorder(expr)
        )

    def read(
        self, content: Content, buffer: Buffer, indices: Sequence[PrimExpr], span: Span | None
    ) -> PrimExpr:
        """The element of a buffer with a content."""
        while not content.pieces and isinstance(content.below, Content):
            content = content.below
        if not content.pieces and isinstance(content.below, TensorTerm):
            return terms.read(content.below, indices)
        key = (content, self._scope)
        if key not in self._tensors:
            self._tensors[key] = self._tensor(content, buffer)
        tensor = self._tensors[key]
        if tensor is None:
            return self.resolved(content, indices, buffer.name, span)
        return terms.read(tensor[0], (*tensor[1], *indices))

    def _tensor(
        self, content: Content, buffer: Buffer
    ) -> tuple[TensorTerm, tuple[tir.Var, ...]] | None:
        """A tensor with the content, and the variables of loops that are its first axes. None if
        it has none: it is read in parts, or depends on earlier iterations.
        """
        axes = self.axes_of(buffer, content)
        shape = tuple(map(self.converted, buffer.shape))
        try:
            with self.scope():
                self.index(axes, shape)
                value = self.resolved(content, axes, buffer.name, self._span, whole=True)
        except Unread:
            return None
        if self.is_open(value):
            return None
        used = set(tir.free_vars(value, *shape))
        outer = tuple([var for var in self.loops if var in used])
        whole = [self.closed(self.loops[var]) for var in outer]
        whole += map(self.closed, shape)
        dims = [dim for dim in whole if dim is not None]
        if len(dims) < len(whole):
            return None
        return terms.lam(dims, (*outer, *axes), value, buffer.name, buffer.dtype), outer

    def closed(self, extent: PrimExpr) -> PrimExpr | None:
        """An extent that is at least as large, without variables of loops and elements."""
        for _ in range(8):
            if any(isinstance(node, tir.BufferLoad) for node in tir.postorder(extent)):
                return None
            inner = [var for var in tir.free_vars(extent) if var in self._ranges]
            if not inner:
                return extent
            var = inner[-1]
            last = tir.Sub(self._ranges[var], terms.index(1, var.dtype))
            found = tir.interned(terms.substitute(extent, {var: last}))
            if self.facts.holds(tir.interned(tir.LE(extent, found))) is not True:
                return None
            extent = found
        return None

    def resolved(
        self,
        content: Content,
        indices: Sequence[PrimExpr],
        name: str,
        span: Span | None,
        whole: bool = False,
    ) -> PrimExpr:
        """The element of a content, by its writers. `whole`: whether the indices are variables that
        stand for all elements. Raises Unread if the element may not be written, or its writer is
        not known.
        """
        choices: list[tuple[PrimExpr, PrimExpr]] = []
        scopes: list[ExitStack] = []
        below: Content | TensorTerm | Unwritten | LostContent = content
        last: PrimExpr | None = None
        try:
            while isinstance(below, Content) and last is None:
                for piece in reversed(below.pieces):
                    found = self.writer(piece, indices, name)
                    if found is None:
                        continue
                    test, value = found
                    if test is TRUE:
                        last = value
                        break
                    choices.append((test, value))
                    scopes.append(ExitStack())
                    scopes[-1].enter_context(self.scope())
                    self.assume(test, False)
                below = below.below
            if last is None:
                match below:
                    case TensorTerm():
                        last = terms.read(below, indices)
                    case LostContent(reason=reason):
                        raise Unread(reason, below.span)
                    case _:
                        test, last = choices.pop() if choices else (terms.FALSE, None)
                        if last is None or (whole and used_in(test, indices)):
                            raise Unread(f"{name} may be read before it is written", span)
                        scopes.pop().close()
                        self.need(test, f"{name} is written before it is read", span)
        finally:
            while scopes:
                scopes.pop().close()
        for test, value in reversed(choices):
            if value is not last:
                kind: DataType = tir.type_of(value)
                last = tir.Call("if_then_else", (test, value, last), kind)
        return tir.interned(last)

    def writer(
        self, piece: WrittenPiece, indices: Sequence[PrimExpr], name: str
    ) -> tuple[PrimExpr, PrimExpr] | None:
        """The condition under which a piece has an element, and its value; None for never."""
        found = inverse(piece.axes, piece.extents, piece.indices, indices, self.facts)
        if found is None:
            raise Unread(f"which iteration writes an element of {name} is not known", piece.span)
        test: PrimExpr = TRUE
        for condition in (*found.conditions, *conjuncts(found.at(piece.guard))):
            held = self.holds(condition)
            if held is False:
                return None
            if held is None:
                test = both(test, condition)
        return test, found.at(piece.value)


PURE = tir.AS_OPERAND | frozenset(
    (
        *("isnan", "isinf", "isfinite", "popcount", "clz", "reinterpret", "min_value", "max_value"),
        *("infinity", "likely", "tvm_thread_invariant", "if_then_else", "fabs", "reduce"),
        *("q_multiply_shift", "q_multiply_shift_per_axis", "nextafter", "fma"),
    )
)
"""Intrinsics that are functions of their arguments."""

_WITHOUT_EFFECT = frozenset(
    ["attr", "assume", "evaluate", "static_assert", "tvm_storage_sync", "prefetch"]
)


def _extreme(word: str, call: tir.Call) -> PrimExpr:
    """The number that `T.min_value("int32")`, `T.max_value` or `T.infinity` is."""
    match call.args:
        case (tir.StringImm(value=name),):
            with suppress(ValueError):  # the text names no type
                kind = dtype(name)
                if kind.is_float:
                    return tir.FloatImm(float(extreme(word, kind)), kind)
                if kind.is_integer and word != "infinity":
                    return tir.IntImm(int(extreme(word, kind)), kind)
    return call


def _without_0(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
    """A node of an index, without 0 as a summand or a factor."""
    zeros = [each for each in operands if tir.is_zero(each)]
    if zeros and isinstance(node, tir.Add):
        return next((each for each in operands if each not in zeros), zeros[0])
    if zeros and isinstance(node, tir.Mul):
        return zeros[0]
    return tir.with_operands(node, operands)


def _may_fail(expr: PrimExpr) -> bool:
    """Whether an expression may have no value."""
    return any(
        isinstance(node, tir.BufferLoad | tir.Call) or requirement(node) is not None
        for node in tir.postorder(tir.interned(expr))
    )
