"""PrimFuncs that compute bounds of their own rounding errors.

Beside each buffer there is a second one of float64, in which each element has a bound of how far a
run in the original types may be from the value in float64. Each operation rounds once, by at most
a unit roundoff of its result. A sum of n terms, which may be added up in any order, is off by
at most (n - 1) roundoffs of the sum of its terms' magnitudes (Jeannerod and Rump, 2013), and
functions such as exp are off by at most `FUNCTIONS` units. What an operand is off by goes through:
exactly for sums and products, by the values at both ends for functions that are monotone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, dtype
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import replace
from rlx.semantics.arrays import numpy_type

FLOAT64 = dtype("float64")

FUNCTIONS = 4.0
"""Units in the last place by which a function such as exp may be off: as much as the vectorised
ones of glibc, and TVM's own.
"""

_LEAST = {"sqrt": 0.0, "rsqrt": 0.0, "log": 0.0, "log2": 0.0, "log10": 0.0, "acosh": 1.0}
_LEAST |= {"log1p": -1.0, "asin": -1.0, "acos": -1.0, "atanh": -1.0}
_MOST = {"asin": 1.0, "acos": 1.0, "atanh": 1.0}
_MONOTONE = {*_LEAST, "exp", "exp2", "exp10", "tanh", "sigmoid", "erf", "atan", "asinh", "sinh"}
_WHOLE = {"floor", "ceil", "trunc", "round", "nearbyint"}
_TESTS = {"isnan", "isinf", "isfinite"}
_SAME = {"likely", "tvm_thread_invariant", "assume_value"}
_CHOICE = {"if_then_else"}


class NoBoundError(Exception):
    """The error of a PrimFunc cannot be bounded; the message says what is in the way."""


def with_errors(
    function: tir.PrimFunc,
    roundoff: float,
    *,
    exact: AbstractSet[int] = frozenset(),
    typical: bool = False,
) -> tir.PrimFunc:
    """The same function in float64, with a bound of the error of each element.

    Each parameter that is a buffer, and not exact, is followed by the buffer of its bounds. Behind
    all of them there is one element, which becomes 1 if a branch that was taken depends on rounding.

    Parameters
    ----------
    exact
        The numbers of the parameters that have no errors, and keep their types.
    roundoff
        The relative error of an operation, where its own type has none that is larger.
    typical
        Whether a sum of n terms counts as off by the root of n roundoffs, as it is if they are
        independent. That is no bound.

    Raises
    ------
    NoBoundError
        If a construct is not known.
    """
    return _Bounded(roundoff, typical).function(function, exact)


_ZERO = tir.FloatImm(0.0, FLOAT64)
_ANY = tir.FloatImm(math.inf, FLOAT64)
_NO = tir.IntImm(0, BOOL)


def _float(value: float) -> tir.FloatImm:
    return tir.FloatImm(float(value), FLOAT64)


def _is_zero(node: tir.PrimExpr) -> bool:
    return isinstance(node, tir.FloatImm) and node.value == 0.0


def _is_no(node: tir.PrimExpr) -> bool:
    return isinstance(node, tir.IntImm) and node.value == 0


def _type(node: tir.PrimExpr) -> DataType:
    """The data type of an expression, through choices, which have that of what they choose from."""
    match node:
        case tir.Call(op=op, args=(_, chosen, _)) if op.split(".")[-1] in _CHOICE:
            return _type(chosen)
        case tir.Comparison() | tir.And() | tir.Or():
            return BOOL
        case tir.Binary(a=a, b=b):
            first = _type(a)
            return first if first.is_float else _type(b)
        case tir.Select(true_value=chosen) | tir.Let(body=chosen):
            return _type(chosen)
    return tir.type_of(node)


def _sum(*terms: tir.PrimExpr) -> tir.PrimExpr:
    total: tir.PrimExpr = _ZERO
    for term in terms:
        if not _is_zero(term):
            total = term if _is_zero(total) else tir.Add(total, term)
    return total


def _times(a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
    return _ZERO if _is_zero(a) or _is_zero(b) else tir.Mul(a, b)


def _call(op: str, *args: tir.PrimExpr) -> tir.PrimExpr:
    return tir.Call(op, args, FLOAT64)


def _magnitude(a: tir.PrimExpr) -> tir.PrimExpr:
    return _call("fabs", a)


def _if(condition: tir.PrimExpr, a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
    return tir.Call("if_then_else", (condition, a, b), _type(a))


def _either(*conditions: tir.PrimExpr) -> tir.PrimExpr:
    found: tir.PrimExpr = _NO
    for each in conditions:
        if not _is_no(each):
            found = each if _is_no(found) else tir.Or(found, each)
    return found


class _Bounded:
    def __init__(self, roundoff: float, typical: bool) -> None:
        self.roundoff, self.typical, self.count = roundoff, typical, 0
        self.wide: dict[tir.Buffer, tir.Buffer] = {}
        self.errors: dict[tir.Buffer, tir.Buffer] = {}
        self.vars: dict[tir.Var, tuple[tir.Var, tir.PrimExpr]] = {}
        self.loops: list[tuple[tir.Var, tir.PrimExpr]] = []
        self.behind: dict[tir.Var, tir.PrimExpr] = {}
        self.unsure = tir.Buffer("rlx_unsure", (tir.IntImm(1),), FLOAT64)

    def function(self, function: tir.PrimFunc, exact: AbstractSet[int]) -> tir.PrimFunc:
        params: list[tir.Var] = []
        buffers: dict[tir.Var, tir.Buffer] = {}
        for number, param in enumerate(function.params):
            params.append(param)
            buffer = function.buffer_map.get(param)
            if buffer is not None and number in exact:
                buffers[param] = self.wide[buffer] = buffer
            elif buffer is not None:
                error = tir.Var(param.name + "_error", param.dtype)
                params.append(error)
                buffers[param], buffers[error] = self.buffer(buffer)
        if not buffers:
            raise NoBoundError("a PrimFunc without buffers")
        flag = tir.Var("rlx_unsure_handle", next(iter(buffers)).dtype)
        buffers[flag] = self.unsure
        attrs = {k: v for k, v in function.attrs.items() if k != "global_symbol"}
        return replace(
            function,
            params=(*params, flag),
            buffer_map=buffers,
            body=self.stmt(function.body),
            attrs=attrs,
        )

    def buffer(self, buffer: tir.Buffer) -> tuple[tir.Buffer, tir.Buffer]:
        """A buffer with the values, and the one with their bounds."""
        if "data" in buffer.attrs:
            raise NoBoundError(f"{buffer.name} has the memory of something else")
        kind = FLOAT64 if buffer.dtype.is_float else buffer.dtype
        self.wide[buffer] = replace(buffer, dtype=kind)
        name = buffer.name + "_error"
        self.errors[buffer] = replace(buffer, name=name, dtype=FLOAT64)
        return self.wide[buffer], self.errors[buffer]

    # ------------------------------------------------------------ statements

    def stmt(self, node: tir.Stmt) -> tir.Stmt:
        match node:
            case tir.SeqStmt(stmts=stmts):
                return self.sequence(stmts)
            case tir.For(loop_var=var, min=least, extent=extent):
                self.loops.append((var, extent))
                body = self.stmt(node.body)
                self.loops.pop()
                loop = replace(
                    node,
                    min=self.value(least),
                    extent=self.value(extent),
                    body=body,
                    kind="serial" if node.kind in ("parallel", "vectorized") else node.kind,
                )
                return self.guarded(loop, least, extent)
            case tir.Block():
                return self.block(node)
            case tir.BufferStore():
                return self.store(node)
            case tir.IfThenElse(condition=condition, then_case=then, else_case=other):
                made = replace(
                    node,
                    condition=self.value(condition),
                    then_case=self.stmt(then),
                    else_case=None if other is None else self.stmt(other),
                )
                return self.guarded(made, condition)
            case tir.LetStmt(var=var, value=value):
                kept, error = self.name(var), self.name(var, "error")
                bound = self.error(value)
                wide = self.value(value)
                self.vars[var] = kept, error
                return tir.SeqStmt((tir.LetStmt(error, bound), tir.LetStmt(kept, wide)))
            case tir.AllocBuffer(buffer=buffer):
                return tir.SeqStmt(
                    tuple(replace(node, buffer=each) for each in self.buffer(buffer))
                )
            case tir.Evaluate(value=tir.IntImm() | tir.FloatImm()):
                return node
        raise NoBoundError(f"a statement of the kind {type(node).__name__}")

    def sequence(self, stmts: Sequence[tir.Stmt]) -> tir.SeqStmt:
        made: list[tir.Stmt] = []
        for each in stmts:
            one = self.stmt(each)
            made += one.stmts if isinstance(one, tir.SeqStmt) else (one,)
        return tir.SeqStmt(tuple(made))

    def guarded(self, node: tir.Stmt, *conditions: tir.PrimExpr) -> tir.Stmt:
        """A statement, before which it is noted whether one of its conditions is not sure."""
        unsure = _either(*map(self.may_differ, conditions))
        if _is_no(unsure):
            return node
        note = tir.BufferStore(self.unsure, (tir.IntImm(0),), _float(1.0))
        return tir.SeqStmt((tir.IfThenElse(unsure, note, None), node))

    def block(self, node: tir.Block) -> tir.Stmt:
        for each in node.iter_vars:
            self.behind[each.var] = each.binding
        buffers = tuple(made for each in node.alloc_buffers for made in self.buffer(each))
        init = None if node.init is None else self.stmt(node.init)
        return replace(
            node,
            reads=None,
            writes=None,
            alloc_buffers=buffers,
            init=init,
            body=self.stmt(node.body),
            attrs={},
        )

    def store(self, node: tir.BufferStore) -> tir.Stmt:
        wide, errors = self.wide.get(node.buffer), self.errors.get(node.buffer)
        if wide is None or errors is None:
            raise NoBoundError(f"the buffer {node.buffer.name} is of outside")
        bound = self.added_up(node) or self.error(node.value)
        bound = self.at_sure_places(bound, node.indices)
        kept = self.fresh(FLOAT64 if _type(node.value).is_float else node.buffer.dtype)
        error = self.fresh(FLOAT64)
        return tir.SeqStmt(
            (
                tir.LetStmt(error, bound),
                tir.LetStmt(kept, self.value(node.value)),
                tir.BufferStore(wide, tuple(map(self.value, node.indices)), kept),
                tir.BufferStore(errors, tuple(map(self.value, node.indices)), error),
            )
        )

    def added_up(self, node: tir.BufferStore) -> tir.PrimExpr | None:
        """The bound of an element to which terms are added in a loop; None of others."""
        if not node.buffer.dtype.is_float:
            return None
        terms = list(_terms(node.value))
        itself = tir.BufferLoad(node.buffer, node.indices)
        own = [each for each in terms if structural_equal(each, itself)]
        if len(own) != 1 or len(terms) < 2:
            return None
        names = {var for index in node.indices for var in self.loops_of(index)}
        times: tir.PrimExpr = _float(len(terms) - 1)
        for var, extent in self.loops:
            if var not in names:
                times = tir.Mul(times, tir.Cast(FLOAT64, self.value(extent)))
        if self.typical:
            times = _call("sqrt", times)
        off = tir.Mul(times, _float(self.of(node.buffer.dtype)))
        added = [
            _sum(self.error(each), tir.Mul(off, _magnitude(self.value(each))))
            for each in terms
            if each is not own[0]
        ]
        return _sum(tir.BufferLoad(self.errors[node.buffer], self.values(node.indices)), *added)

    def loops_of(self, index: tir.PrimExpr) -> Iterator[tir.Var]:
        """The variables of loops that an index depends on."""
        for var in tir.free_vars(index):
            if var in self.behind:
                yield from self.loops_of(self.behind[var])
            else:
                yield var

    # ------------------------------------------------------------ values

    def values(self, nodes: Sequence[tir.PrimExpr]) -> tuple[tir.PrimExpr, ...]:
        return tuple(map(self.value, nodes))

    def value(self, node: tir.PrimExpr) -> tir.PrimExpr:
        """The expression in float64."""
        match node:
            case tir.FloatImm(value=value, dtype=kind):
                return _float(float(np.asarray(value, numpy_type(kind))))
            case tir.Var():
                if node in self.vars:
                    return self.vars[node][0]
                return tir.Cast(FLOAT64, node) if node.dtype.is_float else node
            case tir.BufferLoad(buffer=buffer, indices=indices):
                if buffer not in self.wide:
                    raise NoBoundError(f"the buffer {buffer.name} is of outside")
                loaded = tir.BufferLoad(self.wide[buffer], self.values(indices))
                narrow = buffer.dtype.is_float and buffer not in self.errors
                return tir.Cast(FLOAT64, loaded) if narrow else loaded
            case tir.Cast(dtype=kind, value=value):
                return tir.Cast(FLOAT64 if kind.is_float else kind, self.value(value))
            case tir.Call(dtype=kind):
                wide = FLOAT64 if kind is not None and kind.is_float else kind
                return replace(node, args=self.values(node.args), dtype=wide)
            case tir.Let() | tir.OpaqueExpr() | tir.Slice():
                raise NoBoundError(f"an expression of the kind {type(node).__name__}")
        made: tir.PrimExpr = node.map_children(
            lambda part: self.value(part) if isinstance(part, tir.PrimExpr) else part,
            lambda var: var,
        )
        return made

    def of(self, kind: DataType) -> float:
        """The unit roundoff of an operation with such a result."""
        from ml_dtypes import finfo

        own = float(finfo(numpy_type(kind)).eps) / 2  # type: ignore[no-untyped-call]
        return max(own, self.roundoff)

    def fresh(self, kind: DataType) -> tir.Var:
        self.count += 1
        return tir.Var(f"rlx_{self.count}", kind)

    def name(self, var: tir.Var, role: str = "") -> tir.Var:
        kind = FLOAT64 if role or var.dtype.is_float else var.dtype
        return self.fresh(kind)

    def once(
        self, value: tir.PrimExpr, use: Callable[[tir.PrimExpr], tir.PrimExpr]
    ) -> tir.PrimExpr:
        """An expression that uses a value in several places, computed once."""
        if isinstance(value, tir.Var | tir.FloatImm | tir.IntImm):
            return use(value)
        var = self.fresh(_type(value))
        return tir.Let(var, value, use(var))

    def once_each(
        self,
        values: Sequence[tir.PrimExpr],
        use: Callable[[list[tir.PrimExpr]], tir.PrimExpr],
    ) -> tir.PrimExpr:
        """The same for several values."""
        if not values:
            return use([])
        return self.once(
            values[0], lambda first: self.once_each(values[1:], lambda rest: use([first, *rest]))
        )

    def error(self, node: tir.PrimExpr) -> tir.PrimExpr:
        """By how much an expression may be off, as an expression in float64."""
        kind = _type(node)
        match node:
            case tir.FloatImm(value=value):
                coarse = self.roundoff * abs(value)
                exact = float(np.float32(value)) == value and _few_bits(value)
                return _ZERO if exact or not math.isfinite(value) else _float(coarse)
            case tir.IntImm() | tir.StringImm():
                return _ZERO
            case tir.Var():
                return self.vars[node][1] if node in self.vars else _ZERO
            case tir.BufferLoad(buffer=buffer, indices=indices):
                if buffer not in self.wide:
                    raise NoBoundError(f"the buffer {buffer.name} is of outside")
                errors = self.errors.get(buffer)
                found = _ZERO if errors is None else tir.BufferLoad(errors, self.values(indices))
                return self.at_sure_places(found, indices)
            case tir.Comparison() | tir.And() | tir.Or() | tir.Not():
                unsure = self.may_differ(node)
                return _ZERO if _is_no(unsure) else _if(unsure, _float(1.0), _ZERO)
            case tir.Select(condition=condition, true_value=a, false_value=b):
                return self.chosen(condition, a, b)
            case tir.Cast(value=value):
                return self.converted(node, value)
            case tir.Max(a=a, b=b) | tir.Min(a=a, b=b):
                ea, eb = self.error(a), self.error(b)
                return _ZERO if _is_zero(ea) and _is_zero(eb) else tir.Max(ea, eb)
            case tir.Call(op=op, args=args):
                return self.called(node, op.split(".")[-1], args)
        if not isinstance(node, tir.Binary):
            raise NoBoundError(f"an expression of the kind {type(node).__name__}")
        if not kind.is_float:
            return self.of_integers(node)
        match node:
            case tir.Add() | tir.Sub():
                return self.summed(node)
            case tir.Mul(a=a, b=b):
                return self.product(node, a, b)
            case tir.Div(a=a, b=b):
                return self.quotient(node, a, b)
        return self.unknown(node, (node.a, node.b))

    def rounded(self, value: tir.PrimExpr, kind: DataType, units: float = 1.0) -> tir.PrimExpr:
        """The rounding of a value, and what it loses below the normal numbers."""
        from ml_dtypes import finfo

        tiny = float(finfo(numpy_type(kind)).smallest_subnormal)  # type: ignore[no-untyped-call]
        off = tir.Mul(_float(units * self.of(kind)), _magnitude(value))
        return off if kind == FLOAT64 else tir.Add(off, _float(tiny))

    def summed(self, node: tir.PrimExpr) -> tir.PrimExpr:
        kind = _type(node)
        terms = list(_terms(node))
        errors = [self.error(each) for each in terms]
        if len(terms) == 2:
            return _sum(*errors, tir.Mul(_float(self.of(kind)), _magnitude(self.value(node))))
        off = _float((len(terms) - 1) * self.of(kind))
        sizes = [_magnitude(self.value(each)) for each in terms]
        return _sum(*errors, tir.Mul(off, _sum(*sizes)))

    def product(self, node: tir.PrimExpr, a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
        def made(parts: list[tir.PrimExpr]) -> tir.PrimExpr:
            x, y, ex, ey = parts
            through = _sum(_times(_magnitude(x), ey), _times(_magnitude(y), ex), _times(ex, ey))
            return _sum(through, self.rounded(tir.Mul(x, y), _type(node)))

        return self.once_each([self.value(a), self.value(b), self.error(a), self.error(b)], made)

    def quotient(self, node: tir.PrimExpr, a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
        def made(parts: list[tir.PrimExpr]) -> tir.PrimExpr:
            x, y, ex, ey = parts
            whole = tir.Div(x, y)
            # a division by a constant may be a product with its reciprocal
            own = self.rounded(whole, _type(node), 2.0)
            through = _sum(ex, _times(_magnitude(whole), ey))
            if _is_zero(through):
                return own
            if _is_zero(ey):
                return _sum(tir.Div(through, _magnitude(y)), own)
            below = tir.Sub(_magnitude(y), ey)
            safe = _sum(tir.Div(through, below), own)
            return _if(tir.GT(below, _ZERO), safe, _ANY)

        return self.once_each([self.value(a), self.value(b), self.error(a), self.error(b)], made)

    def converted(self, node: tir.Cast, value: tir.PrimExpr) -> tir.PrimExpr:
        error, source = self.error(value), _type(value)
        if node.dtype.is_float:
            narrower = not source.is_float or source.bits > node.dtype.bits
            if source == BOOL or (not narrower and self.of(node.dtype) <= self.of(source)):
                return error
            whole = tir.Cast(FLOAT64, self.value(value))
            return _sum(error, self.rounded(whole, node.dtype))
        if _is_zero(error):
            return _ZERO
        return self.once(error, lambda e: _if(tir.GT(e, _ZERO), _sum(e, _float(1.0)), _ZERO))

    def chosen(self, condition: tir.PrimExpr, a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
        ea, eb, unsure = self.error(a), self.error(b), self.may_differ(condition)
        sure = _ZERO if _is_zero(ea) and _is_zero(eb) else _if(self.value(condition), ea, eb)
        if _is_no(unsure):
            return sure
        one, other = (tir.Cast(FLOAT64, self.value(each)) for each in (a, b))
        return _if(unsure, _sum(ea, eb, _magnitude(tir.Sub(one, other))), sure)

    def of_integers(self, node: tir.Binary) -> tir.PrimExpr:
        ea, eb = self.error(node.a), self.error(node.b)
        if _is_zero(ea) and _is_zero(eb):
            return _ZERO
        if isinstance(node, tir.Add | tir.Sub):
            return _sum(ea, eb)
        return _if(tir.GT(_sum(ea, eb), _ZERO), _ANY, _ZERO)

    def unknown(self, node: tir.PrimExpr, args: Sequence[tir.PrimExpr]) -> tir.PrimExpr:
        """The bound of an operation of which only the rounding is known."""
        kind = _type(node)
        own = self.rounded(self.value(node), kind, 2 * FUNCTIONS) if kind.is_float else _ZERO
        through = _sum(*map(self.error, args))
        return own if _is_zero(through) else _if(tir.GT(through, _ZERO), _ANY, own)

    def called(self, node: tir.Call, op: str, args: Sequence[tir.PrimExpr]) -> tir.PrimExpr:
        if op in _CHOICE:
            return self.chosen(*args)
        if op in _SAME:
            return self.error(args[0])
        if op in _TESTS:
            unsure = self.may_differ(node)
            return _ZERO if _is_no(unsure) else _if(unsure, _float(1.0), _ZERO)
        if op.startswith("call_") or op in ("tvm_call_packed", "ramp", "Ramp"):
            raise NoBoundError(f"a call of T.{op}")
        if not _type(node).is_float:
            return self.unknown(node, args)
        if op in ("fabs", "abs"):
            return self.error(args[0])
        if op in ("pow", "power"):
            return self.power(node, args[0], args[1])
        if op in ("sin", "cos"):
            own = _float(2 * FUNCTIONS * self.of(_type(node)))
            through = self.error(args[0])
            return own if _is_zero(through) else _sum(own, tir.Min(through, _float(2.0)))
        if op == "fma":
            product = tir.Mul(args[0], args[1])
            return self.error(tir.Add(product, args[2]))
        if op in _MONOTONE or op in _WHOLE:
            return self.monotone(node, op, args[0])
        return self.unknown(node, args)

    def monotone(self, node: tir.Call, op: str, arg: tir.PrimExpr) -> tir.PrimExpr:
        def made(parts: list[tir.PrimExpr]) -> tir.PrimExpr:
            x, e = parts
            here = _call(node.op, x)
            kind = _type(node)
            own = _ZERO if op in _WHOLE else self.rounded(here, kind, 2 * FUNCTIONS)
            if _is_zero(e):
                return own
            low: tir.PrimExpr = tir.Sub(x, e)
            high: tir.PrimExpr = tir.Add(x, e)
            if op in _LEAST:
                low = tir.Max(low, _float(_LEAST[op]))
            if op in _MOST:
                high = tir.Min(high, _float(_MOST[op]))

            def apart(ends: list[tir.PrimExpr]) -> tir.PrimExpr:
                at, below, above = ends
                far = tir.Max(_magnitude(tir.Sub(above, at)), _magnitude(tir.Sub(below, at)))
                return _sum(_times(far, _float(1.0 + 2 * FUNCTIONS * self.of(kind))), own)

            ends = [here, _call(node.op, low), _call(node.op, high)]
            return _if(tir.GT(e, _ZERO), self.once_each(ends, apart), own)

        return self.once_each([self.value(arg), self.error(arg)], made)

    def power(self, node: tir.Call, x: tir.PrimExpr, y: tir.PrimExpr) -> tir.PrimExpr:
        kind = _type(node)
        if isinstance(y, tir.FloatImm) and y.value == int(y.value):
            y_error: tir.PrimExpr = _ZERO
        else:
            y_error = self.error(y)

        def made(parts: list[tir.PrimExpr]) -> tir.PrimExpr:
            at, to, ex, ey = parts
            own = self.rounded(_call(node.op, at, to), kind, 2 * FUNCTIONS)
            through = _sum(ex, ey)
            if _is_zero(through):
                return own
            size = _magnitude(at)
            ends = [
                _call(node.op, base, exponent)
                for base in (tir.Max(tir.Sub(size, ex), _ZERO), tir.Add(size, ex))
                for exponent in (tir.Sub(to, ey), tir.Add(to, ey))
            ]
            here = _call(node.op, size, to)
            far: tir.PrimExpr = _ZERO
            for end in ends:
                far = tir.Max(far, _magnitude(tir.Sub(end, here)))
            # an odd power of a number whose sign is not sure goes through 0
            crossing = _if(
                tir.GT(size, ex), _sum(far, own), _sum(tir.Mul(far, _float(2)), here, here)
            )
            return _if(tir.GT(through, _ZERO), crossing, own)

        return self.once_each([self.value(x), self.value(y), self.error(x), y_error], made)

    # ------------------------------------------------------------ what is not sure

    def may_differ(self, node: tir.PrimExpr) -> tir.PrimExpr:
        """Whether rounding may change a condition or a whole number, as a condition."""
        match node:
            case tir.Comparison(a=a, b=b):
                off = _sum(self.error(a), self.error(b))
                if _is_zero(off):
                    return _NO
                gap = tir.Sub(self.value(a), self.value(b))
                wide = tir.Cast(FLOAT64, gap) if not _type(gap).is_float else gap

                def near(e: tir.PrimExpr) -> tir.PrimExpr:
                    return tir.And(tir.GT(e, _ZERO), tir.LE(_magnitude(wide), e))

                return self.once(off, near)
            case tir.And(a=a, b=b) | tir.Or(a=a, b=b):
                return _either(self.may_differ(a), self.may_differ(b))
            case tir.Not(a=a):
                return self.may_differ(a)
            case tir.Call(op=op, args=(first,)) if op.split(".")[-1] in _TESTS:
                off = self.error(first)
                return _NO if _is_zero(off) else tir.GE(off, _ANY)
            case tir.Call(op=op, args=(first, *_)) if op.split(".")[-1] in _SAME:
                return self.may_differ(first)
        off = self.error(node)
        return _NO if _is_zero(off) else tir.GT(off, _ZERO)

    def at_sure_places(self, bound: tir.PrimExpr, indices: Sequence[tir.PrimExpr]) -> tir.PrimExpr:
        """A bound of an element; infinite if another element may be meant."""
        unsure = _either(*map(self.may_differ, indices))
        return bound if _is_no(unsure) else _if(unsure, _ANY, bound)


def _few_bits(value: float) -> bool:
    """Whether a number is exact in every type of 8 bits of precision."""
    if not math.isfinite(value):
        return True
    mantissa, _ = math.frexp(value)
    return mantissa * 256 == int(mantissa * 256)


def _terms(node: tir.PrimExpr) -> Iterator[tir.PrimExpr]:
    """The terms of a sum, without their signs."""
    stack = [node]
    while stack:
        match stack.pop():
            case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) as each if _type(each).is_float:
                stack += [b, a]
            case tir.PrimExpr() as each:
                yield each
