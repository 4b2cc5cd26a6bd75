"""Effects of a call on the memory of its arguments: first reads, writes, kept and returned memory.

Which values lie in the same memory, the memory model says (:mod:`rlx.checker.memory`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rlx.checker.memory import (
    HANDING_ON,
    FunctionSummary,
    Held,
    MemoryWalk,
    Summaries,
    cells,
    is_noalias,
    root,
    sharing,
)
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.visit import free_vars


class MemoryAccess(NamedTuple):
    """The first access of a function to the memory of a parameter.

    Attributes
    ----------
    reads
        Whether it reads what was there before; None where that is not known.
    writes
        Whether it writes; None where that is not known.
    """

    reads: bool | None
    writes: bool | None


UNKNOWN = MemoryAccess(None, None)
UNUSED = MemoryAccess(False, False)


@lru_cache(maxsize=512)
def first_accesses(function: tir.PrimFunc) -> tuple[MemoryAccess, ...]:
    """The access to the memory of each parameter, in order.

    The first access in the order of the text decides what is read: a loop is taken to run at least
    once, and a buffer that is stored to first is taken to be filled before it is read. All is
    unknown where the body has parts that hide what they touch.
    """
    seen = _Seen()
    try:
        seen.statement(function.body)
    except _HiddenError:
        return (UNKNOWN,) * len(function.params)
    found: list[MemoryAccess] = []
    for param in function.params:
        buffer = function.buffer_map.get(param)
        found.append(UNUSED if buffer is None else seen.of(buffer))
    return tuple(found)


class _HiddenError(Exception):
    """A part of the body may touch any buffer."""


class _Seen:
    """The walk over a body in the order of the text."""

    def __init__(self) -> None:
        self._reads: dict[tir.Buffer, bool | None] = {}
        self._writes: dict[tir.Buffer, bool | None] = {}
        self._parts: dict[tir.Buffer, tir.Buffer] = {}

    def of(self, buffer: tir.Buffer) -> MemoryAccess:
        return MemoryAccess(self._reads.get(buffer, False), self._writes.get(buffer, False))

    def statement(self, stmt: tir.Stmt) -> None:
        pending: list[tuple[tir.Stmt | None, bool]] = [(stmt, True)]
        while pending:
            now, certain = pending.pop()
            match now:
                case None:
                    pass
                case tir.SeqStmt(stmts=stmts):
                    pending += [(each, certain) for each in reversed(stmts)]
                case tir.BufferStore(buffer=buffer, indices=indices, value=value):
                    self._expressions((*indices, value), certain)
                    _note(self._writes, self._parts.get(buffer, buffer), certain)
                case tir.For(min=low, extent=extent, step=step, body=body):
                    self._expressions(
                        (low, extent) if step is None else (low, extent, step), certain
                    )
                    pending.append((body, certain))
                case tir.While(condition=condition, body=body):
                    self._expressions((condition,), certain)
                    pending.append((body, False))
                case tir.IfThenElse(condition=condition, then_case=then, else_case=otherwise):
                    self._expressions((condition,), certain)
                    pending += [(otherwise, False), (then, False)]
                case tir.Block(iter_vars=axes, predicate=predicate, init=init, body=body):
                    self._expressions([axis.binding for axis in axes], certain)
                    inside = certain and predicate is None
                    pending += [(body, inside), (init, inside)]
                case tir.LetStmt(value=value) | tir.Evaluate(value=value):
                    self._expressions((value,), certain)
                case tir.Assert(condition=condition):
                    self._expressions((condition,), certain)
                case tir.MatchBuffer(buffer=part, source=source):
                    self._expressions(source.indices, certain)
                    self._parts[part] = self._parts.get(source.buffer, source.buffer)
                case tir.AllocBuffer(op=op) if op != "decl_buffer":
                    pass
                case _:
                    raise _HiddenError

    def _expressions(self, exprs: Iterable[tir.PrimExpr], certain: bool) -> None:
        for expr in exprs:
            for node in tir.postorder(expr):
                if isinstance(node, tir.BufferLoad):
                    buffer = self._parts.get(node.buffer, node.buffer)
                    if buffer not in self._writes:  # else a store came first, on some way at least
                        _note(self._reads, buffer, certain)
                elif isinstance(node, tir.OpaqueExpr) or _hides(node):
                    raise _HiddenError


def _note(accesses: dict[tir.Buffer, bool | None], buffer: tir.Buffer, certain: bool) -> None:
    if certain:
        accesses[buffer] = True
    else:
        accesses.setdefault(buffer, None)


_LEAVING = frozenset(["ret", "break_loop", "continue_loop"])
_HIDING = ("address_of", "access_ptr", "call_packed", "call_extern", "call_cpacked", "tvm_", "ptx")


def _hides(node: tir.PrimExpr) -> bool:
    """Whether an expression reaches memory in another way than by an index, or leaves a loop or the
    function.
    """
    if not isinstance(node, tir.Call):
        return False
    return node.op in _LEAVING or any(word in str(node.op) for word in _HIDING)


LOOKING = frozenset(
    f"vm.builtin.{name}"
    for name in (
        *("match_shape", "match_prim_value", "check_tensor_info", "check_shape_info"),
        *("check_tuple_info", "check_prim_value_info", "check_func_info", "shape_of"),
    )
)
"""Functions of the run time that look at the shape of a tensor, not at its elements."""

READING = frozenset(
    f"vm.builtin.{name}" for name in ("read_if_cond", "tensor_to_shape", "multinomial_from_uniform")
)
"""Functions of the run time that read elements, and give something new."""

_STATES = ("vm.builtin.attention_kv_cache_", "vm.builtin.kv_state_", "vm.builtin.rnn_state_")
"""Functions that hold a state of their own: they copy the tensors that they are given."""

_KEEPING = frozenset({"relax.make_closure", "relax.invoke_closure", "relax.call_builtin_with_ctx"})
"""Operators that may keep their arguments."""


class Touch(NamedTuple):
    """An argument of a call, and the call's effect on its memory.

    Attributes
    ----------
    value
        The argument.
    access
        What happens to its elements.
    """

    value: ast.Expr
    access: MemoryAccess


class Effect(NamedTuple):
    """The effect of a call on memory.

    Attributes
    ----------
    touches
        Each argument, those in tuples one by one.
    keeps
        Whether it may keep what it is given.
    result
        The arguments in whose memory the result may lie.
    noalias
        Whether the callee declares that what it writes is in no other argument.
    """

    touches: tuple[Touch, ...]
    keeps: bool = False
    result: tuple[ast.Expr, ...] = ()
    noalias: bool = False


class _Summary(NamedTuple):
    """A function's first access to the memory of each parameter, and the parameters that it may
    return.
    """

    accesses: tuple[MemoryAccess, ...]
    returned: frozenset[int]
    keeps: bool


class CallEffects:
    """The effects of the calls of a module; Relax functions are followed into."""

    def __init__(self, module: ast.IRModule) -> None:
        self._module = module
        self._memory = Summaries(module)
        self._summaries: Mapping[ast.GlobalVar, _Summary] | None = None

    def of(self, call: ast.Call) -> Effect:
        """The effect of a call."""
        match call.op, call.args:
            case ast.GlobalVar() as name, args:
                return self._global(name, args)
            case ast.Op(op_name="relax.vm.call_tir_dyn"), (callee, given):
                if isinstance(callee, ast.GlobalVar):
                    return self._global(callee, tuple(_flat((given,))))
                return _unknown((given,))
            case ast.Op(op_name=name), _:
                written = tuple(v for v in call.attrs.values() if isinstance(v, ast.Expr))
                values = tuple(_flat((*call.args, *written)))
                if name in _KEEPING:
                    return _unknown(call.args)
                shares = sharing(name)
                reads = {"never": True, "perhaps": None, "surely": False}[shares]
                result = () if shares == "never" else values
                return Effect(_all(values, MemoryAccess(reads, False)), result=result)
            case ast.ExternFunc(global_symbol=name), args:
                return _external(name, args)
        return _unknown(call.args)

    def _global(self, name: ast.GlobalVar, args: Sequence[ast.Expr]) -> Effect:
        callee = self._module.functions.get(name)
        values = tuple(_flat(args))
        if isinstance(callee, tir.PrimFunc):
            accesses = first_accesses(callee)
            touches = tuple(
                Touch(value, accesses[k] if k < len(accesses) else UNUSED)
                for k, value in enumerate(values)
            )
            return Effect(touches, noalias=is_noalias(callee))
        if self._summaries is None:
            self._summarise()
            assert self._summaries is not None
        summary = self._summaries.get(name)
        if summary is None or len(args) != len(summary.accesses):
            return _unknown(args)
        touches = tuple(
            Touch(value, access)
            for arg, access in zip(args, summary.accesses, strict=True)
            for value in _flat([arg])
        )
        result = tuple(args[k] for k in sorted(summary.returned))
        return Effect(touches, summary.keeps, result)

    def _summarise(self) -> None:
        """Follow all Relax functions until nothing changes; calls among them begin with nothing."""
        functions = self._module.relax_functions
        now = {
            name: _Summary((UNUSED,) * len(function.params), frozenset(), False)
            for name, function in functions.items()
        }
        for turn in range(_TURNS + 1):
            self._summaries = now
            following = {
                name: _Follow(self, self._memory, function).all()
                for name, function in functions.items()
            }
            if turn == _TURNS:  # summaries that still change are unknown
                following = {
                    name: each if each == now[name] else _nothing_known(functions[name])
                    for name, each in following.items()
                }
            if following == now:
                break
            now = following
        self._summaries = now


_TURNS = 8
"""The most rounds through the functions of a module; summaries that still change are unknown."""


class _Follow(MemoryWalk):
    """The walk over one Relax function that notes what happens to the memory of its parameters."""

    def __init__(self, effects: CallEffects, summaries: Summaries, function: ast.Function) -> None:
        super().__init__(summaries)
        self._effects, self._function = effects, function
        self._positions = {param: k for k, param in enumerate(function.params)}
        self._accesses = [UNUSED] * len(function.params)
        self._keeps = False

    def all(self) -> _Summary:
        """The whole function."""
        returned = self._params(self.sequence(self._function.body))
        return _Summary(tuple(self._accesses), returned, self._keeps)

    def summary(self, function: ast.Function, name: ast.Var | None = None) -> FunctionSummary:
        """A local function keeps what it captures."""
        captures = tuple(var for var in free_vars(function) if var is not name)
        self._keeps |= any(self._params(self.memory(var)) for var in captures)
        return FunctionSummary(captures=captures)

    def call(self, call: ast.Call) -> Held:
        effect = self._effects.of(call)
        for argument, access in effect.touches:
            params = self._params(self.memory(argument))
            for k in params:
                self._touched(k, access, self.certain and len(params) == 1)
            self._keeps |= bool(params) and effect.keeps
        return frozenset(cell for value in effect.result for cell in cells(self.memory(value)))

    def branch(self, node: ast.If) -> Held:
        for k in self._params(self.memory(node.cond)):
            self._touched(k, MemoryAccess(True, False), self.certain)
        return super().branch(node)

    def _params(self, held: Held) -> frozenset[int]:
        """The positions of the parameters in whose memory a value may lie in part."""
        return frozenset(
            self._positions[found]
            for cell in cells(held)
            if isinstance(found := root(cell), ast.Var) and found in self._positions
        )

    def _touched(self, k: int, access: MemoryAccess, certain: bool) -> None:
        reads, writes = self._accesses[k]
        if writes is False:  # otherwise the read value may be the one written here
            reads = _then(reads, access.reads, certain)
        self._accesses[k] = MemoryAccess(reads, _then(writes, access.writes, certain))


def _then(before: bool | None, now: bool | None, certain: bool) -> bool | None:
    """Combine two possible events in order: an access that was certain stays certain."""
    if before is True or now is False:
        return before
    return now if certain else None


def _nothing_known(function: ast.Function) -> _Summary:
    count = len(function.params)
    return _Summary((UNKNOWN,) * count, frozenset(range(count)), True)


def _external(name: str, args: Sequence[ast.Expr]) -> Effect:
    values = tuple(_flat(args))
    if name in LOOKING:
        return Effect(_all(values, UNUSED))
    if name in READING:
        return Effect(_all(values, MemoryAccess(True, False)))
    if name in HANDING_ON:
        return Effect(_all(values, UNUSED), result=tuple(args[:1]))
    if name.startswith(_STATES):
        state = () if name.endswith("_create") else tuple(args[:1])
        return Effect(_all(values, UNKNOWN), result=state)
    return _unknown(args)


def _unknown(args: Sequence[ast.Expr]) -> Effect:
    """The effect of an unknown function: it may read, write, keep and return every argument."""
    values = tuple(_flat(args))
    return Effect(_all(values, UNKNOWN), True, values)


def _all(values: Sequence[ast.Expr], access: MemoryAccess) -> tuple[Touch, ...]:
    return tuple(Touch(value, access) for value in values)


def _flat(args: Sequence[ast.Expr]) -> Iterator[ast.Expr]:
    for arg in args:
        if isinstance(arg, ast.Tuple):
            yield from _flat(arg.fields)
        else:
            yield arg
