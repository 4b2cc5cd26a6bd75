"""The memory model: values that may share memory, and the effects of functions on memory.

Binding is aliasing: a variable, a field of a tuple, the result of a branch and a view lie in the
memory of what they name. A view (`memory.view`) and a mark for the compiler surely share the memory
of their operand; `reshape`, `expand_dims`, `squeeze` and `flatten` may share it, as a compiler
decides (:attr:`rlx.operators.registry.Operator.shares`). The results of all other operators, of
`call_tir`, `call_dps_packed` and packed functions are new, but for those of the run time that hand
on their argument. A call of a function does what its
:class:`FunctionSummary` says; of a function of which nothing is known, the result may lie in the memory of
the arguments and of what the function captured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import (
    argument_places,
    bindings_in,
    called_globals,
    callees_first,
    free_vars,
    result_of,
)
from rlx.operators import lookup
from rlx.operators.registry import Sharing

IN_PLACE = frozenset(["relax.call_tir_inplace", "relax.call_inplace_packed"])
"""The operators that overwrite arguments and count as pure."""

HANDING_ON = frozenset(
    f"vm.builtin.{name}" for name in ("reshape", "copy", "move", "ensure_zero_offset", "to_device")
)
"""Functions of the run time whose result may lie in the memory of the first argument."""

Cell = object
"""A piece of memory: a variable or call that it came from, or a pair of a cell and the number of a
field in it.
"""

Held = Any
"""The memory of a value: a frozenset of cells that it may lie in, or a tuple with the memory of
each field.
"""

NOWHERE: Held = frozenset()


class FunctionSummary(NamedTuple):
    """The effect of a call of a function on memory.

    Attributes
    ----------
    writes
        The memory that it may write: cells of parameters, and cells around the function.
    always
        Those of them that every call writes.
    returns
        The memory that its result may lie in, as far as it is not new: cells of parameters, and
        cells around the function.
    captures
        The variables around it that it uses.
    """

    writes: frozenset[Cell] = frozenset()
    always: frozenset[Cell] = frozenset()
    returns: Held = NOWHERE
    captures: tuple[ast.Var, ...] = ()

    def written(self, function: ast.Function) -> frozenset[int]:
        """The positions of the parameters of which it may write some part."""
        roots = set(map(root, self.writes))
        return frozenset(k for k, param in enumerate(function.params) if param in roots)

    def returned(self, function: ast.Function) -> frozenset[int]:
        """The positions of the parameters in whose memory the result may lie in part."""
        roots = set(map(root, cells(self.returns)))
        return frozenset(k for k, param in enumerate(function.params) if param in roots)


class Summaries:
    """The summaries of the Relax functions of a module, inferred when one is first asked for."""

    def __init__(self, module: ast.IRModule) -> None:
        self.module = module
        self._found: dict[ast.GlobalVar, FunctionSummary] | None = None

    def of(self, callee: ast.GlobalVar) -> FunctionSummary | None:
        """The summary of a function; None if it is no Relax function of the module."""
        if not isinstance(self.module.functions.get(callee), ast.Function):
            return None
        if self._found is None:
            self._found = {}
            self._infer()
        return self._found.get(callee, FunctionSummary())  # in a cycle, it does nothing at first

    def _infer(self) -> None:
        """Infer callees before their callers, and functions that call each other until nothing
        changes.
        """
        assert self._found is not None
        relax = self.module.relax_functions
        calls = {gv: [c for c in called_globals(f) if c in relax] for gv, f in relax.items()}
        order = tuple(callees_first(calls))
        position = {gv: k for k, gv in enumerate(order)}
        cyclic = any(position[c] >= position[gv] for gv, cs in calls.items() for c in cs)
        for _ in range(_TURNS if cyclic else 1):
            before = dict(self._found)
            for gv in order:
                self._found[gv] = MemoryWalk(self).summary(relax[gv])
            if before == self._found:
                break


_TURNS = 8
"""The most rounds through functions that call each other."""


class MemoryWalk:
    """A walk over functions in the order of evaluation, which knows the memory of each value.

    A subclass overrides :meth:`used` and :meth:`overwrote` to see what happens to it.

    Attributes
    ----------
    held
        The memory of each variable that was bound.
    source
        The cells in whose memory a cell lies under a new name: what overwrote it gave it this name.
    functions
        The summaries of local functions, by the variables that are bound to them.
    certain
        Whether the place is reached by every call of the current function.
    """

    def __init__(self, summaries: Summaries) -> None:
        self.summaries = summaries
        self.held: dict[ast.Expr, Held] = {}
        self.certain = True
        self.functions: dict[ast.Var, tuple[FunctionSummary, ast.Function]] = {}
        self.source: dict[Cell, frozenset[Cell]] = {}
        self._writes: set[Cell] = set()
        self._always: set[Cell] = set()

    # ------------------------------------------------------------ what a subclass sees

    def used(self, expr: ast.Expr, span: Span | None) -> None:
        """An expression is used, with all that it holds."""

    def overwrote(self, call: ast.Call, at: int, written: Held, certain: bool) -> None:
        """A call overwrote memory: that of its argument ``at``, or what its callee captured (-1).

        ``certain`` says that the call surely does.
        """

    # ------------------------------------------------------------ functions

    def summary(self, function: ast.Function, name: ast.Var | None = None) -> FunctionSummary:
        """Walk over a function; ``name`` is the variable that it is bound to."""
        captures = tuple(v for v in free_vars(function) if v is not name)
        outside = self._writes, self._always, self.certain
        around = _union(map(self.memory, captures))
        own = {*function.params, *map(root, around)}
        found = FunctionSummary(captures=captures)
        for _ in range(_TURNS):
            if name is not None:
                self.functions[name] = found, function
                self.held[name] = around
            self._writes, self._always, self.certain = set(), set(), True
            result = bounded(self.sequence(function.body))
            now = FunctionSummary(
                frozenset(c for c in self._writes if root(c) in own),
                frozenset(c for c in self._always if root(c) in own),
                _within(self._traced(result), own),
                captures,
            )
            if now == found or name not in free_vars(function):
                break
            found = now
        self._writes, self._always, self.certain = outside
        return now

    def sequence(self, body: ast.Expr) -> Held:
        """The bindings of a body, then its result; the memory of the result."""
        for binding in bindings_in(body):
            self._binding(binding)
        body, span = result_of(body)
        self.used(body, span)
        return self.memory(body)

    def _binding(self, binding: ast.VarBinding | ast.MatchCast) -> None:
        value, var = binding.value, binding.var
        match value:
            case ast.Call():
                held = self.call(value)
            case ast.If():
                held = self.branch(value)
            case ast.Function():
                found = self.summary(value, var)
                held = _union(map(self.memory, found.captures))
                if var is not None:
                    self.functions[var] = found, value
            case _:
                held = self.memory(value)
                if isinstance(value, ast.Var) and var is not None and value in self.functions:
                    self.functions[var] = self.functions[value]
        if var is not None:
            self.held[var] = held

    def branch(self, node: ast.If) -> Held:
        """A branch: either way may have been taken."""
        self.used(node.cond, node.cond_span)
        outside, self.certain = self.certain, False
        then, other = self.ways(node)
        self.certain = outside
        return either(bounded(then), bounded(other))

    def ways(self, node: ast.If) -> tuple[Held, Held]:
        """The memory of the results of both branches."""
        return self.sequence(node.true_branch), self.sequence(node.false_branch)

    # ------------------------------------------------------------ calls

    def call(self, call: ast.Call) -> Held:
        """A call: its operands are used, then what the callee does happens; the memory of its
        result.
        """
        if isinstance(call.op, ast.Var):
            self.used(call.op, call.op_span or call.span)
        for arg, span in zip(call.args, argument_places(call), strict=True):
            self.used(arg, span)
        match call.op:
            case ast.Op(op_name=name):
                return self._operator(call, name)
            case ast.ExternFunc(global_symbol=name):
                return self._external(name, call.args, call)
            case ast.GlobalVar() as callee:
                function = self.summaries.module.functions.get(callee)
                found = self.summaries.of(callee)
                if found is not None and isinstance(function, ast.Function):
                    return self._known(call, found, function)
            case ast.Var() as callee:
                return self._value(call, callee)
        return frozenset([call])

    def _operator(self, call: ast.Call, name: str) -> Held:
        if name in IN_PLACE:
            return self._in_place(call)
        if name in _INVOKING:
            callee, *given = call.args
            return _perhaps(tuple(map(self.memory, (callee, *given))), call)
        if name == "relax.make_closure":
            return _union(map(self.memory, call.args))
        if name == "relax.call_pure_packed" and call.args:
            external, *given = call.args
            if isinstance(external, ast.ExternFunc):
                return self._external(external.global_symbol, given, call)
        shares = sharing(name)
        if shares == "never" or not call.args:
            return frozenset([call])
        first, *_ = call.args
        found = self.memory(first)
        if shares == "perhaps":
            return _perhaps(found, call)
        return found or frozenset([call])

    def _external(self, name: str, args: Sequence[ast.Expr], call: ast.Call) -> Held:
        """A packed function."""
        if name in HANDING_ON and args:
            return _perhaps(self.memory(args[0]), call)
        return frozenset([call])

    def _value(self, call: ast.Call, callee: ast.Var) -> Held:
        """A call of a function value, which may be known."""
        if callee in self.functions:
            return self._known(call, *self.functions[callee])
        return _perhaps(tuple(map(self.memory, (callee, *call.args))), call)

    def _known(self, call: ast.Call, summary: FunctionSummary, function: ast.Function) -> Held:
        params = function.params
        if len(params) != len(call.args):
            return frozenset([call])
        given: dict[Cell, Held] = dict(zip(params, map(self.memory, call.args), strict=True))
        positions = {param: k for k, param in enumerate(params)}
        gone: set[Cell] = set()
        for written in summary.writes:
            memory = _instance(written, given)
            certain = self.certain and written in summary.always
            self._write(memory, certain)
            self.overwrote(call, positions.get(root(written), -1), memory, certain)  # type: ignore[call-overload]
            gone.update(cells(memory))
        result = bounded(_instances(summary.returns, given))
        return self._renewed(call, result, frozenset(gone))

    def _renewed(self, cell: Cell, result: Held, gone: frozenset[Cell]) -> Held:
        """The memory of a result: what was overwritten in it has a new value."""
        if isinstance(result, tuple):
            return tuple(self._renewed((cell, k), r, gone) for k, r in enumerate(result))
        if result & gone:
            self.rename(cell, result & gone)
        return (result - gone) | {cell}

    def _in_place(self, call: ast.Call) -> Held:
        args = overwritable(call)
        results: list[Held] = []
        for number, k in enumerate(indices(call)):
            results.append(frozenset([(call, number)]))
            if k not in range(len(args)):
                continue
            memory = self.memory(args[k])
            self.rename((call, number), frozenset(cells(memory)))
            self._write(memory, self.certain)
            self.overwrote(call, k, memory, self.certain)
        if len(results) == 1:
            return results[0]
        return tuple(results)

    def _write(self, memory: Held, certain: bool) -> None:
        found = self._traced(frozenset(cells(memory)))
        self._writes |= found
        if certain and len(found) == 1:
            self._always |= found

    def rename(self, cell: Cell, held: frozenset[Cell]) -> None:
        """Let a cell be a new name of memory."""
        self.source[cell] = self._traced(held)

    def _traced(self, held: Held) -> Held:
        """Memory by its first names."""
        if isinstance(held, tuple):
            return tuple(map(self._traced, held))
        return frozenset(first for cell in held for first in self.source.get(cell, (cell,)))

    # ------------------------------------------------------------ memory

    def memory(self, expr: ast.Expr) -> Held:
        """The memory that the value of an expression may lie in."""
        match expr:
            case ast.Var():
                if expr not in self.held:
                    self.held[expr] = frozenset([expr])
                return self.held[expr]
            case ast.Tuple(fields=fields):
                return tuple(map(self.memory, fields))
            case ast.TupleGetItem(tuple_value=inner, index=index):
                return _field(self.memory(inner), index)
        return NOWHERE

    def may_alias(self, one: ast.Expr, other: ast.Expr) -> bool:
        """Whether two values may share memory."""
        return not disjoint(self.memory(one), self.memory(other))


_INVOKING = frozenset(["relax.invoke_closure", "relax.invoke_pure_closure"])


def sharing(operator: str) -> Sharing:
    """Whether the result of an operator lies in the memory of its first operand."""
    found = lookup(operator)
    return "never" if found is None else found.shares


def overwritable(call: ast.Call) -> Sequence[ast.Expr]:
    """The arguments that a call in place may name."""
    match call.op, call.args:
        case ast.Op(op_name="relax.call_tir_inplace"), (_, ast.Tuple(fields=fields), *_):
            return fields
        case ast.Op(op_name="relax.call_inplace_packed"), (_, *args):
            return args
    return ()


def indices(call: ast.Call) -> Sequence[int]:
    """The arguments that the results of a call in place overwrite, as far as they are numbers."""
    given = call.attrs.get("inplace_indices", ())
    items = given if isinstance(given, tuple | list) else (given,)
    numbers = [getattr(item, "value", item) for item in items]
    return [number if isinstance(number, int) else -1 for number in numbers]


def cells(held: Held) -> Iterator[Cell]:
    """The cells of memory, those of fields included; fields that are the same object once."""
    pending: list[Held] = [held]
    seen = set[int]()
    while pending:
        part = pending.pop()
        if isinstance(part, frozenset):
            yield from part
        elif id(part) not in seen:
            seen.add(id(part))
            pending += part


_FIELDS = 1_000
"""Fields of a value that are told apart, those of its fields included."""


def bounded(held: Held) -> Held:
    """The memory of a value of many fields as one set, which any of them may lie in.

    Tuples that double have few parts and endless fields.
    """
    counted: dict[int, int] = {}

    def fields(part: Held) -> int:
        if isinstance(part, frozenset):
            return 1
        if id(part) not in counted:
            counted[id(part)] = sum(map(fields, part))
        return counted[id(part)]

    return held if fields(held) <= _FIELDS else frozenset(cells(held))


def disjoint(one: Held, other: Held) -> bool:
    """Whether two values share no memory: no cell, and none that is a field of another."""
    first, second = frozenset(cells(one)), frozenset(cells(other))
    wider = (inner for cell in second for inner in around(cell))
    return first.isdisjoint(wider) and second.isdisjoint(c for cell in first for c in around(cell))


def around(cell: Cell) -> Iterator[Cell]:
    """A cell, and those that it is a field of."""
    yield cell
    while isinstance(cell, tuple):
        cell, _ = cell
        yield cell


def root(cell: Cell) -> Cell:
    """The variable or call that a cell is a field of."""
    *_, last = around(cell)
    return last


def either(a: Held, b: Held) -> Held:
    """The memory of one of two values."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(either(x, y) for x, y in zip(a, b, strict=True))
    return frozenset((*cells(a), *cells(b)))


def _union(parts: Iterable[Held]) -> frozenset[Cell]:
    return frozenset(cell for held in parts for cell in cells(held))


def _perhaps(held: Held, call: ast.Call) -> frozenset[Cell]:
    """Memory that a result may lie in, or new one. Several cells are a doubt already."""
    found = frozenset(cells(held))
    return found if len(found) > 1 else found | {call}


def _field(held: Held, index: int) -> Held:
    if isinstance(held, tuple):
        return held[index] if index in range(len(held)) else NOWHERE
    return frozenset((cell, index) for cell in held)


def _instance(cell: Cell, given: Mapping[Cell, Held]) -> Held:
    """A cell of a parameter in a call, by the memory of the arguments; another cell is itself."""
    if isinstance(cell, tuple):
        whole, index = cell
        found = _instance(whole, given)
        return frozenset([cell]) if found == {whole} else _field(found, index)
    return given.get(cell, frozenset([cell]))


def _instances(held: Held, given: Mapping[Cell, Held]) -> Held:
    if isinstance(held, tuple):
        return tuple(_instances(field, given) for field in held)
    found = [_instance(cell, given) for cell in held]
    return found[0] if len(found) == 1 else _union(found)


def _within(held: Held, own: set[Any]) -> Held:
    """The part of memory that lies in some variables."""
    if isinstance(held, tuple):
        return tuple(_within(field, own) for field in held)
    return frozenset(cell for cell in held if root(cell) in own)


def is_noalias(function: tir.PrimFunc) -> bool:
    """Whether a PrimFunc declares that what it stores to is in no other argument."""
    return any(function.attrs.get(word) for word in ("tirx.noalias", "tir.noalias"))
