"""The memory that a function needs: the largest amount alive at once, as a formula over its sizes.

A value lies in memory from the binding that makes it to the last binding that uses it, or a view of
it. Where a value may be a view or a copy, it counts as a copy. A call needs what its callee needs.
Arguments and constants are counted apart; what happens inside of PrimFuncs and packed functions is
not seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import NamedTuple

from rlx.checker.derive import known_infos
from rlx.checker.lowered.objects import KILLS, STORAGE, TENSOR
from rlx.checker.memory import (
    IN_PLACE,
    Cell,
    Held,
    MemoryWalk,
    Summaries,
    root,
    sharing,
)
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.nodes.promises import promised_limits
from rlx.grammar.nodes.visit import (
    bindings_in,
    evaluated,
    free_vars,
    reached_functions,
    result_of,
)
from rlx.solver import Prover, Refuted
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.order import instantiate
from rlx.solver.poly import Polynomial
from rlx.transform.lowering.local_functions import LambdaLift
from rlx.transform.lowering.structure import Normalize


class Living(NamedTuple):
    """A value that is alive at a peak.

    Attributes
    ----------
    name
        Its variable.
    span
        What makes it, in the text; None if the text does not have it.
    size
        Its bytes.
    function
        The function whose binding it is.
    """

    name: str
    span: Span | None
    size: tir.PrimExpr
    function: str


class Peak(NamedTuple):
    """A place at which more may be alive than at any other, for some sizes.

    Attributes
    ----------
    size
        The bytes that are alive there.
    living
        What they belong to.
    """

    size: tir.PrimExpr
    living: tuple[Living, ...]


class MemoryUse(Record):
    """The memory of a function.

    Attributes
    ----------
    entry
        Its name.
    arguments, constants
        The bytes of its arguments, and of the constants that it and its callees use.
    peaks
        The places at which most is alive; several where it depends on the sizes which one it is.
    unknown
        Values whose size is not known, which are not counted, and why.
    bounds
        The upper bounds that the function declares for shape variables, by their names.
    """

    entry: str
    arguments: tir.PrimExpr
    constants: int
    peaks: tuple[Peak, ...]
    unknown: tuple[tuple[str, Span | None, str], ...]
    bounds: Mapping[str, int]

    @property
    def peak(self) -> tir.PrimExpr:
        """The bytes that are alive at most, arguments and constants not counted."""
        return reduce(tir.Max, [each.size for each in self.peaks])

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the shape variables that the answer depends on."""
        living = (value.size for peak in self.peaks for value in peak.living)
        exprs = (self.arguments, *(peak.size for peak in self.peaks), *living)
        names = dict.fromkeys(var.name for each in exprs for var in tir.free_vars(each))
        return tuple(names)

    def highest(self, sizes: Mapping[str, int]) -> tuple[int, Peak]:
        """The peak for these sizes, and its bytes."""
        found = [(number(each.size, sizes), each) for each in self.peaks]
        return max(found, key=lambda pair: pair[0])


def number(size: tir.PrimExpr, sizes: Mapping[str, int]) -> int:
    """The value of a formula. Raises ValueError if a shape variable has no value, or the formula
    none for these.
    """
    values = {}
    for var in tir.free_vars(size):
        if var.name not in sizes:
            raise ValueError(f"{var.name} has no value")
        values[var] = sizes[var.name]
    try:
        return max(evaluate(size, values), 0)
    except UndefinedError as error:
        place = ", ".join(f"{var.name}={value}" for var, value in values.items())
        raise ValueError(f"{size} is not defined{place and f' at {place}'}: {error}") from None


def memory_use(module: IRModule, entry: str) -> MemoryUse:
    """The memory that a function of a module needs. Raises KeyError if the module has no such Relax
    function.

    Parameters
    ----------
    module
        A module without errors. Of one in which storage is allocated, what its storages need is
        counted, and not the tensors in them.
    entry
        The name of a Relax function.
    """
    return memory_uses(module, [entry])[0]


def memory_uses(
    module: IRModule, entries: Sequence[str], *, killed: bool = False
) -> list[MemoryUse]:
    """The memory that functions of a module need; see :func:`memory_use`.

    Parameters
    ----------
    killed
        Whether the module is one of TVM's after `KillAfterLastUse`: a variable keeps its value until
        it is killed, or else until the function returns, and `reshape` makes views.
    """
    functions = {gv.name_hint: gv for gv, f in module.relax_functions.items()}
    found = _ModuleMemory(LambdaLift()(Normalize()(module)), killed)
    return [found.entry(functions[entry]) for entry in entries]


LONG = 100
"""The number of nodes of the longest question whether one peak is at most another one."""
UNDECIDED = 3
"""The number of undecided questions of a module after which no more are asked."""
SIZES = 1, 2, 3, 10, 1000
"""The sizes, the same for all variables, at which such a question is evaluated before it is asked."""
LARGE = 1 << 20
"""The size of one variable, where all others are 1, at which it is evaluated, too."""
MOST_PEAKS = 4
"""The number of peaks up to which those of a callee are counted in its caller."""
Unknown = tuple[str, Span | None, str]
"""A function, a place in it, and why the memory there is not known."""


class _Alive(NamedTuple):
    """The bytes that are alive at a place, and their owners."""

    total: Polynomial
    living: tuple[Living, ...]


class _ModuleMemory:
    """The memory use of the functions of a module."""

    def __init__(self, module: IRModule, killed: bool) -> None:
        self.module, self.killed = module, killed
        self.info = known_infos(module)
        self.summaries = Summaries(module)
        self.prover = Prover()
        self.unknown: dict[Unknown, None] = {}
        self._atoms: list[tir.PrimExpr] = []
        self._numbers: dict[object, int] = {}
        self._found: dict[ast.GlobalVar, tuple[tuple[_Alive, ...], Collection[Unknown]]] = {}
        self._under_way: set[ast.GlobalVar] = set()
        self._loops = False
        self._undecided = 0
        self._told_apart: list[Mapping[tir.Var, int]] = []
        """The sizes that answered a question of peaks: mostly those of other peaks, too."""

    def entry(self, callee: ast.GlobalVar) -> MemoryUse:
        function = self.module.functions[callee]
        assert isinstance(function, ast.Function)
        if self._loops:  # what was found depends on where the loop was entered
            self._found.clear()
            self._loops = False
        self.unknown = {}
        peaks = self.peaks(callee) or (_Alive(Polynomial({}), ()),)
        zero = Polynomial({})
        arguments = reduce(
            Polynomial.__add__, (self.size(p, p.name_hint, None) for p in function.params), zero
        )
        return MemoryUse(
            callee.name_hint,
            self.expr(arguments),
            self._constants(callee),
            tuple(Peak(self.expr(state.total), state.living) for state in peaks),
            tuple(self.unknown),
            {var.name: most for var, most in promised_limits(function).items()},
        )

    def peaks(self, callee: ast.GlobalVar) -> tuple[_Alive, ...]:
        """The largest states of a call of a function; empty while it calls itself."""
        if callee in self._under_way:
            self.unknown[callee.name_hint, None, "it calls itself: one call of it is counted"] = (
                None
            )
            self._loops = True
            return ()
        if callee not in self._found:
            function = self.module.functions[callee]
            assert isinstance(function, ast.Function)
            self._under_way.add(callee)
            outer, self.unknown = self.unknown, {}
            found = self._largest(_LiveWalk(self, function, callee.name_hint).found)
            self._found[callee] = found, self.unknown
            self.unknown = outer
            self._under_way.discard(callee)
        peaks, unknown = self._found[callee]
        self.unknown.update(dict.fromkeys(unknown))
        return peaks

    def called(self, call: ast.Call, callee: ast.GlobalVar) -> Iterator[_Alive]:
        """The bytes that a call needs, in the sizes of the caller."""
        info = self.info.get(callee)
        args = [self.info.get(arg) for arg in call.args]
        images: dict[tir.Var, tir.PrimExpr] = {}
        if isinstance(info, ast.FuncStructInfo) and None not in args:
            known = instantiate(info, args, self.prover).binding.mapping  # type: ignore[arg-type]
            for var, image in known.items():
                if isinstance(var, tir.Var) and isinstance(image, tir.PrimExpr):
                    images[var] = image
        peaks = self.peaks(callee)
        if len(peaks) > MOST_PEAKS:
            why = f"it has {len(peaks)} peaks, each the largest for some sizes: none is counted"
            self.unknown[callee.name_hint, call.span, why] = None
            return
        for state in peaks:
            living = tuple(
                each._replace(size=tir.substitute(each.size, images)) for each in state.living
            )
            yield _Alive(self.polynomial(tir.substitute(self.expr(state.total), images)), living)

    def _largest(self, states: Sequence[_Alive]) -> tuple[_Alive, ...]:
        """Without those that are, for all sizes, at most another one."""
        kept: list[tuple[_Alive, _PeakValues]] = []
        for state in sorted(states, key=lambda s: len(s.total.terms), reverse=True):
            values = _PeakValues(self.expr(state.total))
            if not any(self._is_at_most(values, other) for _, other in kept):
                kept.append((state, values))
        return tuple(state for state, _ in kept)

    def _is_at_most(self, a: _PeakValues, b: _PeakValues) -> bool:
        """Whether one is, for all sizes, proved to be at most the other."""
        if self._undecided >= UNDECIDED or a.exceeds(b):
            return False
        if any(a.exceeds_at(b, sizes) for sizes in self._told_apart):
            return False
        question = tir.LE(a.expr, b.expr)
        if tir.larger_than(LONG, question):
            return False
        verdict = self.prover.always(question)
        self._undecided += verdict.status == "unknown"
        if isinstance(verdict, Refuted):
            self._told_apart.append(verdict.values)
        return verdict.proved

    def _constants(self, callee: ast.GlobalVar) -> int:
        """The bytes of those of a function and of the functions that it calls, each once."""
        functions = self.module.relax_functions
        inside = reached_functions([callee], functions) & functions.keys()
        found = {node for gv in inside for node in evaluated(functions[gv], ast.Constant)}
        total = sum((self.size(node, "constant", None) for node in found), Polynomial({}))
        return total.value or 0

    # ------------------------------------------------------------ sizes

    def size(self, expr: ast.Expr, name: str, span: Span | None) -> Polynomial:
        """The bytes of a value."""
        known: dict[int, Polynomial] = {}  # a type may be a part of another one many times

        def size(info: ast.StructInfo | None) -> Polynomial:
            match info:
                case ast.TupleStructInfo(fields=fields):
                    if id(info) not in known:
                        known[id(info)] = sum(map(size, fields), Polynomial({}))
                    return known[id(info)]
                case ast.TensorStructInfo(
                    shape=ast.ShapeExpr(values=dims), dtype=DataType() as kind
                ):
                    return self._product(dims, _bytes_each(kind))
                case ast.TensorStructInfo(shape=ast.ShapeExpr()):
                    self.unknown[(name, span, "its element type is not known")] = None
                case ast.TensorStructInfo():
                    self.unknown[(name, span, "its shape is not known")] = None
            return Polynomial({})

        return size(self.info.get(expr))

    def storage(self, call: ast.Call) -> Polynomial:
        """The bytes of a storage."""
        shape = call.args[0]
        assert isinstance(call.op, ast.Op)
        if not isinstance(shape, ast.ShapeExpr):
            self.unknown[("a piece of memory", call.span, "its size is not known")] = None
            return Polynomial({})
        position = STORAGE[call.op.op_name]
        kind = None if position is None else call.args[position]
        each = _bytes_each(kind.value) if isinstance(kind, ast.DataTypeImm) else 1
        return self._product(shape.values, each)

    def _product(self, dims: Iterable[tir.PrimExpr], each: int) -> Polynomial:
        return reduce(Polynomial.__mul__, map(self.polynomial, dims), Polynomial.of(each))

    def polynomial(self, expr: tir.PrimExpr) -> Polynomial:
        """An expression as a polynomial; what is no sum or product is an indeterminate."""
        return tir.fold(expr, self._polynomial)

    def _polynomial(self, node: tir.PrimExpr, operands: list[Polynomial]) -> Polynomial:
        match node:
            case tir.IntImm(value=value):
                return Polynomial.of(value)
            case tir.Add():
                return operands[0] + operands[1]
            case tir.Sub():
                return operands[0] - operands[1]
            case tir.Mul():
                return operands[0] * operands[1]
            case tir.Cast():
                return operands[0]
        alone = not operands or isinstance(node, tir.Let)
        # what is written twice is one indeterminate
        key = (
            type(node),
            getattr(node, "op", None),
            *(frozenset(p.terms.items()) for p in operands),
        )
        place = self._numbers.setdefault(node if alone else key, len(self._atoms))
        if place == len(self._atoms):
            self._atoms.append(node)
        return Polynomial({(place,): 1})

    def expr(self, total: Polynomial) -> tir.PrimExpr:
        """A polynomial as an expression: what is subtracted last, products of most factors first."""
        made: tir.PrimExpr | None = None
        terms = sorted(total.terms.items(), key=lambda term: (term[1] < 0, -len(term[0]), term[0]))
        for mono, count in terms:
            factors = [self._atoms[k] for k in mono]
            if abs(count) != 1 or not factors:
                factors.append(tir.IntImm(abs(count)))
            term = reduce(tir.Mul, factors)
            if made is None:
                made = term if count > 0 else tir.Sub(tir.IntImm(0), term)
            else:
                made = tir.Add(made, term) if count > 0 else tir.Sub(made, term)
        return tir.IntImm(0) if made is None else made


class _PeakValues:
    """A sum, and its values where all sizes are the same, and where one of them is much larger than
    the others.
    """

    def __init__(self, expr: tir.PrimExpr) -> None:
        self.expr, self._free = expr, tir.free_vars(expr)
        self._same = [self._at(size) for size in SIZES]
        self._alone = {var: self._at(1, {var: LARGE}) for var in self._free}

    def _at(self, size: int, others: Mapping[tir.Var, int] = {}) -> int | None:
        """The value where sizes are the same but for some; None if it is undefined."""
        try:
            return evaluate(self.expr, {**dict.fromkeys(self._free, size), **others})
        except UndefinedError:
            return None

    def exceeds_at(self, other: _PeakValues, sizes: Mapping[tir.Var, int]) -> bool:
        """Whether it is larger than the other sum at some sizes."""
        here, there = self._at(1, sizes), other._at(1, sizes)
        return here is not None and there is not None and here > there

    def exceeds(self, other: _PeakValues) -> bool:
        """Whether one of the values is larger than the other sum is there."""
        pairs = zip(self._same, other._same, strict=True)
        alone = ((x, other._alone.get(var, other._same[0])) for var, x in self._alone.items())
        return any(x is not None and y is not None and x > y for x, y in chain(pairs, alone))


def _at_most(a: Polynomial, b: Polynomial) -> bool:
    return all(count >= 0 for count in (b - a).terms.values())


class _Cells(MemoryWalk):
    """The memory of each variable, where a tensor lies in its storage.

    Attributes
    ----------
    views
        Whether what may be a view or a copy, is a view; else it counts as a copy.
    """

    def __init__(self, summaries: Summaries, views: bool) -> None:
        super().__init__(summaries)
        self.views = views
        self._made: dict[Cell, int] = {}
        self._count = 0

    def call(self, call: ast.Call) -> Held:
        self._add(call)
        name = call.op.op_name if isinstance(call.op, ast.Op) else ""
        if name in TENSOR:
            return self.memory(call.args[0])
        held = super().call(call)
        if sharing(name) == "perhaps":
            return self.memory(call.args[0]) if self.views else frozenset([call])
        return held

    def branch(self, node: ast.If) -> Held:
        """The memory of both ways, where it is older than the branch, or else one of its own."""
        before = self._count
        held = super().branch(node)
        if all(self._made.get(cell, -1) < before for cell in self._roots(held, {})):
            return held
        self._add(node)
        return frozenset([node])

    def _add(self, cell: Cell) -> None:
        self._made[cell] = self._count
        self._count += 1

    def roots(self, expr: ast.Expr, seen: dict[int, Held] | None = None) -> set[Cell]:
        """The cells that first held the memory of a value; memory overwritten in place is the same.

        Tuples may hold each other again and again: what `seen` has is left out, and added to it.
        """
        return self._roots(self.memory(expr), {} if seen is None else seen)

    def _roots(self, memory: Held, seen: dict[int, Held]) -> set[Cell]:
        found: set[Cell] = set()
        pending: list[Held] = [memory]
        while pending:
            held = pending.pop()
            if id(held) in seen:
                continue
            seen[id(held)] = held
            if isinstance(held, tuple):
                pending += held
                continue
            for cell in held:
                if cell in self.source:
                    pending.append(self.source[cell])
                else:
                    found.add(root(cell))
        return found


class _LiveWalk:
    """The bindings of a function in order, with what is alive at each."""

    def __init__(self, module: _ModuleMemory, function: ast.Function, name: str) -> None:
        self.module, self.name = module, name
        self.cells = _Cells(module.summaries, views=module.killed)
        self.cells.summary(function)
        self.found: list[_Alive] = []
        self.sequence(function.body, _Alive(Polynomial({}), ()))

    def sequence(self, body: ast.Expr, outside: _Alive) -> None:
        """A body or a branch, where this is alive around it."""
        rows = list(bindings_in(body))
        seen: dict[int, Held] = {}
        last = dict.fromkeys(self.cells.roots(result_of(body)[0], seen), len(rows))
        if self.module.killed:
            for var, at in self._held_until(rows):
                for cell in self.cells.roots(var):
                    last[cell] = max(at, last.get(cell, 0))
        for at in reversed(range(0 if self.module.killed else len(rows))):
            for var in free_vars(rows[at].value):
                for cell in self.cells.roots(var, seen):
                    last.setdefault(cell, at)
        ends: dict[int, list[Cell]] = {}
        alive: dict[Cell, tuple[Polynomial, Living]] = {}
        total, grown = outside.total, False
        for at, binding in enumerate(rows):
            value = binding.value
            if isinstance(value, ast.If):
                state = self._state(total, outside, alive)
                self.sequence(value.true_branch, state)
                self.sequence(value.false_branch, state)
            elif isinstance(value, ast.Call) and isinstance(value.op, ast.GlobalVar):
                self._callee(value, value.op, self._state(total, outside, alive))
            elif isinstance(value, ast.Call) and isinstance(value.op, ast.Var):
                why = "it is called as a value: what it needs is not known"
                self.module.unknown[value.op.name_hint, value.span, why] = None
            if binding.var is not None and isinstance(value, ast.If | ast.Call):
                name = binding.var.name_hint
                size = self._size(value, binding.var)
                if size.terms and value in self.cells.roots(binding.var):
                    living = Living(name, value.span, self.module.expr(size), self.name)
                    alive[value] = size, living
                    total += size
                    end = max(last.get(value, at), at)
                    ends.setdefault(end, []).append(value)
                    grown = True
                    if not _at_most(Polynomial({}), size):  # what comes may be less
                        self._note(self._state(total, outside, alive))
            if grown and (at in ends or at + 1 == len(rows)):
                self._note(self._state(total, outside, alive))
                grown = False
            for cell in ends.pop(at, ()):
                total -= alive.pop(cell)[0]

    def _held_until(
        self, rows: Sequence[ast.VarBinding | ast.MatchCast]
    ) -> Iterator[tuple[ast.Var, int]]:
        """Each variable with the place at which it is killed, or the end."""
        kills = {
            row.value.args[0]: at
            for at, row in enumerate(rows)
            if isinstance(row.value, ast.Call)
            and isinstance(row.value.op, ast.Op)
            and row.value.op.op_name in KILLS
        }
        for row in rows:
            if row.var is not None:
                yield row.var, kills.get(row.var, len(rows))

    def _state(
        self, total: Polynomial, outside: _Alive, alive: Mapping[Cell, tuple[Polynomial, Living]]
    ) -> _Alive:
        return _Alive(total, (*outside.living, *(living for _, living in alive.values())))

    def _note(self, state: _Alive) -> None:
        if not any(_at_most(state.total, other.total) for other in self.found):
            self.found = [o for o in self.found if not _at_most(o.total, state.total)]
            self.found.append(state)

    def _callee(self, call: ast.Call, callee: ast.GlobalVar, state: _Alive) -> None:
        """Note the bytes that a callee needs beside what is alive."""
        if isinstance(self.module.module.functions.get(callee), ast.Function):
            for inner in self.module.called(call, callee):
                both = state.total + inner.total
                self._note(_Alive(both, (*state.living, *inner.living)))

    def _size(self, value: ast.Call | ast.If, var: ast.Var) -> Polynomial:
        if isinstance(value, ast.Call) and isinstance(value.op, ast.Op):
            if value.op.op_name in STORAGE:
                return self.module.storage(value)
            if value.op.op_name in IN_PLACE:
                return Polynomial({})
        return self.module.size(var, var.name_hint, value.span)


def _bytes_each(kind: DataType) -> int:
    """The bytes of an element."""
    return -(-kind.bits * max(kind.lanes, 1) // 8)
