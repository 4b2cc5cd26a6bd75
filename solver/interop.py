"""Conversion between TVM's expressions and ours, through TVM's public attributes.

Reading an expression does not need TVM itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, INT64, DataType, dtype
from rlx.grammar.nodes.prim_operators import BY_NAME, BY_NODE
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.definedness import partial

_EXPECTED = "expected an expression, as a text, a PrimExpr or one of TVM"
_HANDLE = dtype("handle")
_BITS = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "BitwiseNot": "bitwise_not",
    "LShift": "shift_left",
    "RShift": "shift_right",
}
_LOADS = ("BufferLoad", "TensorLoad")
_SHARED = 40_000
"""The maximum number of nodes that are kept for later questions."""
_PURE = 2
"""The largest ``TCallEffectKind`` of a call that changes nothing: it reads the state."""
_NUMBERS = frozenset(BY_NAME) | {"Var", "SizeVar", "IntImm", "Select", "Cast", "Not", "Let", "Call"}


def is_expression(value: object) -> bool:
    """Whether this is an expression of TVM, or ``a == b`` of two of them."""
    kind = type(value)
    return (
        kind.__name__ in _NUMBERS
        or hasattr(value, "asobject")
        or any(base.__name__ in ("Expr", "PrimExpr", "IterVar") for base in kind.__mro__)
    ) and kind.__module__.partition(".")[0] in ("tvm", "tvm_ffi")


class Foreign:
    """The expressions of TVM in questions, which share their variables.

    A variable of TVM becomes one variable. A value that is no integer arithmetic, such as an
    element of a buffer, a call or a cast of a float, becomes one unknown integer, the same wherever
    TVM's expressions are structurally equal, or equal but for arguments and indices of one normal
    form; so loads of one element count as equal, as in TVM. What
    is no integer either makes its question unknown. ``claimed`` gives the variable of ours that a
    variable of TVM is, by its name and type, if there is one. Arithmetic on types other than int32 and int64
    wraps; in these two, TVM assumes that nothing overflows.
    """

    def __init__(self, claimed: Callable[[str, DataType], tir.Var | None]) -> None:
        self._claimed = claimed
        self._variables: dict[Any, PrimExpr] = {}
        self._values: dict[Any, PrimExpr] = {}
        self._origin: dict[PrimExpr, Any] = {}
        self._wraps = False
        self._lets = 0
        self._shared: dict[tuple[object, ...], PrimExpr] = {}
        self._engine: Any = None
        self._arguments: dict[PrimExpr, tuple[Any, tuple[PrimExpr, ...]]] = {}
        self._lanes: dict[int, tir.Var] = {}
        self._by_lane = False

    def lane(self, expr: object) -> tuple[PrimExpr, tir.Var, int]:
        """One lane of a vector of TVM, the variable of its number, and how many there are: a ramp is
        a sum. What is no ramp of integers, such as a load of several elements, is no integer.
        """
        count = self.lanes(expr)
        number = self._lanes.setdefault(count, tir.Var("lane", INT64))
        self._by_lane = True
        try:
            return self.read(expr), number, count
        finally:
            self._by_lane = False

    def lanes(self, expr: Any) -> int:
        """How many values an expression of TVM has."""
        return _dtype(_object(expr)).lanes

    def write_lanes(
        self, base: PrimExpr, stride: PrimExpr, original: Any, short: Callable[[PrimExpr], PrimExpr]
    ) -> Any:
        """A vector of TVM of the type of another one; None as for :meth:`write`."""
        from tvm import prim, tirx  # type: ignore[import-not-found,unused-ignore]

        number = prim.IntImm(str(_element(_dtype(_object(original)))), 0)
        first, step = self.write(base, number, short), self.write(stride, number, short)
        if first is None or step is None:
            return None
        count = self.lanes(original)
        still = isinstance(stride, tir.IntImm) and not stride.value
        return tirx.Broadcast(first, count) if still else tirx.Ramp(first, step, count)

    def read(self, expr: object) -> PrimExpr:
        """Our expression for one of TVM. Raises TypeError if it is not an expression of TVM."""
        if not is_expression(expr):
            from rlx.solver.usage_errors import described

            raise TypeError(f"{_EXPECTED}, found {described(expr)}")
        root = _object(expr)
        # By the address of the object: TVM's `==` makes an expression.
        done: dict[object, PrimExpr] = {}
        strange: set[PrimExpr] = set()
        stack: list[tuple[Any, Any, Any]] = [(root, _key(root), None)]
        while stack:
            node, key, below = stack.pop()
            name = type(node).__name__
            kind = BY_NAME.get(name)
            if isinstance(node, _Definition):
                node.outer = self._variables.get(node.var), done
                self._variables[node.var] = done[_key(node.value)]
                self._lets += 1
                done = {}  # the variable has another value inside
                continue
            if below is None:
                if key in done:
                    continue
                if name == "IntImm":
                    self._meet(key[1])
                    done[key] = self._one(tir.IntImm, *key)
                    continue
                operands = self._below(node) if kind is None else (node.a, node.b)
                below = [(operand, _key(operand), None) for operand in operands]
                if below:
                    stack.append((node, key, below))
                    stack.extend(reversed(below))
                    continue
            if name == "Let":
                (_, given, _), (definition, *_), (_, body, _) = below
                whole = done[body]
                done = self._leave(definition)
                value = done[given]
                if whole not in strange and partial(value):
                    # It is evaluated where the body does not use it, too.
                    whole = tir.Select(tir.EQ(value, value), whole, whole)
                done[key] = whole
            else:
                parts = tuple([done[part] for _, part, _ in below])
                if kind is None or strange or self._wraps:
                    done[key] = self._node(node, parts, strange)
                else:
                    done[key] = self._one(kind, *parts)
        return done[_key(root)]

    def _below(self, node: Any) -> tuple[Any, ...]:
        """The operands of a node; those of vectors if one lane of them is read."""
        name = type(node).__name__
        if self._by_lane and name == "Broadcast":
            return (node.value,)
        if self._by_lane and name == "Ramp" and type(node.lanes).__name__ in ("int", "IntImm"):
            return (node.base, node.stride)
        return _operands(node)

    def _kind(self, node: Any) -> DataType:
        """The type of a node, or of one lane of it."""
        return _element(_dtype(node)) if self._by_lane else _dtype(node)

    def _one(self, kind: Callable[..., PrimExpr], *parts: Any) -> PrimExpr:
        """A node that stands for all of its kind and parts, so that answers and normal forms are
        remembered from one question to the next, whose expressions are other objects of TVM.
        """
        key = (kind, *parts)
        found = self._shared.get(key)
        if found is None:
            if len(self._shared) > _SHARED:
                self._shared.clear()
            found = self._shared[key] = kind(*parts)
        return found

    def _leave(self, definition: _Definition) -> dict[object, PrimExpr]:
        assert definition.outer is not None
        self._lets -= 1
        before, done = definition.outer
        if before is None:
            del self._variables[definition.var]
        else:
            self._variables[definition.var] = before
        return done

    def _node(self, node: Any, operands: tuple[PrimExpr, ...], strange: set[PrimExpr]) -> PrimExpr:
        name = type(node).__name__
        if operands:
            odd = next((operand for operand in operands if operand in strange), None)
            if odd is not None:
                kind = _dtype(node) if all(_type(each) for each in operands) else None
                words = f"{name} with {prim_exprs.named(odd)}"
                return self._opaque(node, strange, tir.Call(words, (), kind))
            if name in _LOADS:
                return self._opaque(node, strange, None, operands)
            match name, operands:
                case "Broadcast", (a,):
                    return a
                case "Ramp", (a, b):
                    return tir.Add(a, tir.Mul(b, self._lanes[_dtype(node).lanes]))
                case _, (a, b) if name in BY_NAME:
                    return self._wrapped(node, BY_NAME[name](a, b))
                case "Cast", (value,):
                    cast = tir.Cast(self._kind(node), value)
                    if not prim_exprs.scalar(cast.dtype):
                        strange.add(cast)
                    self._meet(cast.dtype)
                    return cast
                case "Select", (condition, a, b):
                    return tir.Select(condition, a, b)
                case "Not", (a,):
                    return tir.Not(a)
                case "Call", _:
                    _, _, op = str(node.op.name).rpartition(".")
                    call = tir.Call(op, operands, _dtype(node))
                    if prim_exprs.conditional(call):
                        return call
                    if prim_exprs.has_call([call]):
                        return self._wrapped(node, call)
                    return self._opaque(node, strange, None, operands)
            if name in _BITS:
                return self._wrapped(node, tir.Call(_BITS[name], operands, self._kind(node)))
        elif name in ("Var", "SizeVar"):
            found = self._variables.get(node)
            if found is None:
                word, kind = str(getattr(node, "name", None) or node.name_hint), _dtype(node)
                if name == "SizeVar":
                    found = tir.Var(word, kind, is_size=True)
                else:
                    found = self._claimed(word, kind) or tir.Var(word, kind)
                self._variables[node] = found
                self._keep(found, node, strange)
            elif not prim_exprs.scalar(tir.type_of(found)):
                strange.add(found)
            return found
        return self._opaque(node, strange)

    def _opaque(
        self,
        node: Any,
        strange: set[PrimExpr],
        call: tir.Call | None = None,
        operands: tuple[PrimExpr, ...] = (),
    ) -> PrimExpr:
        """A value that is not computed here; one for all that are structurally equal, or have
        ``operands`` of the same normal forms.
        """
        if call is None:
            name, kind = type(node).__name__, _dtype(node)
            if name == "Call":
                name = str(getattr(node.op, "name", name)).rpartition(".")[2]
            # The type of what depends on a call that changes the state is not told, so that it is
            # no integer.
            call = tir.Call(name, (), kind if _pure(node) else None)
        import tvm_ffi

        same: Any = None if self._lets else tvm_ffi.StructuralKey(node)  # type: ignore[call-arg]
        found = self._values.get(same)
        if found is None:
            known = bool(operands) and strange.isdisjoint(operands)
            found = self._applied(node, call, operands) if known else call
            if same is not None:
                self._values[same] = found
        # The variables of a Let mean nothing outside of it.
        self._keep(found, node if same is not None else None, strange)
        return found

    def _applied(self, node: Any, call: PrimExpr, operands: tuple[PrimExpr, ...]) -> PrimExpr:
        """The value of a call or a load with these arguments; ``call`` if it is a new one."""
        import tvm_ffi

        forms = self._forms(operands)
        found = call
        if forms:
            head = tvm_ffi.StructuralKey(_head(node))  # type: ignore[call-arg]
            found = self._values.setdefault((head, tir.type_of(call), forms), call)
        self._arguments.setdefault(found, (node, operands))
        return found

    def arguments(self, expr: PrimExpr) -> list[PrimExpr]:
        """The arguments and indices of the calls and loads in an expression."""
        if not self._arguments:
            return []
        inside = (self._arguments.get(node) for node in tir.postorder(expr))
        return [each for _, operands in filter(None, inside) for each in operands]

    def with_arguments(self, expr: PrimExpr, change: Callable[[PrimExpr], PrimExpr]) -> PrimExpr:
        """The expression with other arguments of its calls and loads."""

        def changed(node: PrimExpr) -> PrimExpr | None:
            if node not in self._arguments or not isinstance(node, tir.Call):
                return None
            given, operands = self._arguments[node]
            return self._applied(
                given, tir.Call(node.op, (), node.dtype), tuple(map(change, operands))
            )

        return tir.transform([expr], changed)[0]

    def _forms(self, operands: tuple[PrimExpr, ...]) -> tuple[object, ...]:
        """The normal forms of operands, for variables of any value; none if they take too much
        work.
        """
        from rlx.solver import normal_form
        from rlx.solver.budget import FUEL
        from rlx.solver.poly import TooMuchWorkError

        if self._engine is None:
            self._engine = normal_form.Engine(FUEL)
        self._engine.fuel = FUEL
        try:
            return tuple(
                normal_form.normalize(self._engine, each) for each in prim_exprs.expand([*operands])
            )
        except (TooMuchWorkError, RecursionError):
            self._engine = None
            return ()

    def _keep(self, found: PrimExpr, node: Any, strange: set[PrimExpr]) -> None:
        if node is not None:
            self._origin.setdefault(found, node)
        kind = found.dtype if isinstance(found, (tir.Call, tir.Var)) else None
        if kind is None or not prim_exprs.scalar(kind):
            strange.add(found)
        else:
            self._meet(kind)

    def _meet(self, kind: DataType) -> None:
        """A value has this type: arithmetic on some types wraps from here on."""
        self._wraps = self._wraps or not (_overflows_never(kind) or kind == BOOL)

    def _wrapped(self, node: Any, found: PrimExpr) -> PrimExpr:
        if not self._wraps or isinstance(found, (tir.Comparison, tir.And, tir.Or)):
            return found
        kind = self._kind(node)
        return found if _overflows_never(kind) else tir.Cast(kind, found)

    def write(
        self,
        expr: PrimExpr,
        original: object,
        short: Callable[[PrimExpr], PrimExpr] = lambda each: each,
    ) -> Any:
        """TVM's expression of the type of another one, for what its variables are known to be.

        It is None where the type cannot hold a value that occurs in it. ``short`` gives the form in
        which arguments of calls and loads are written.
        """
        from tvm import prim, tirx  # type: ignore[import-not-found,unused-ignore]

        wanted = _dtype(_object(original))
        leaves = {
            node: self._leaf(node, short)
            for node in tir.postorder(expr)
            if node in self._origin or node in self._arguments
        }
        if any(leaf is None for leaf in leaves.values()):
            return None
        kinds = [kind for kind in map(_dtype, leaves.values()) if kind != BOOL]
        width = max((kind.bits for kind in kinds), default=64) if wanted == BOOL else wanted.bits
        if wanted != BOOL and not _overflows_never(wanted) and not isinstance(expr, tir.IntImm):
            leaf = leaves.get(expr)
            if leaf is None or _dtype(leaf) == wanted:
                return leaf
            return prim.Cast(str(wanted), leaf)
        number = wanted if wanted != BOOL else INT32 if width <= 32 else INT64
        if any(k.bits > number.bits or (k.bits == number.bits and k != number) for k in kinds):
            return None
        low, high = prim_exprs.dtype_range(number)
        values: dict[PrimExpr, Any] = {}
        values |= leaves
        for node in tir.postorder(expr, known=leaves):
            below = [_of_type(values[child], number) for child in tir.children(node)]
            if not isinstance(node, (tir.And, tir.Or, tir.Not, tir.Cast)):
                below = _numbers(node, below, number)
            match node:
                case (
                    tir.EQ(a=a, b=tir.IntImm(value=0 | 1 as value))
                    | tir.NE(a=a, b=tir.IntImm(value=0 | 1 as value))
                ) if _dtype(values[a]) == BOOL:
                    same = bool(value) == isinstance(node, tir.EQ)
                    values[node] = values[a] if same else prim.Not(values[a])
                case tir.IntImm(value=value, dtype=kind):
                    if not low <= value <= high:
                        return None
                    values[node] = prim.IntImm(str(kind if kind == BOOL else number), value)
                case tir.Select():
                    values[node] = prim.Select(*below)
                case tir.Not():
                    values[node] = prim.Not(*below)
                case tir.Binary() if type(node) in BY_NODE:
                    # TVM has the names of our classes, but for the truncated divisions.
                    name = {"TruncDiv": "Div", "TruncMod": "Mod"}.get(
                        type(node).__name__, type(node).__name__
                    )
                    values[node] = getattr(prim, name)(*below)
                case tir.Cast(dtype=kind) if kind.is_integer and _holds(number, kind):
                    same = _dtype(below[0]) == kind
                    values[node] = below[0] if same else prim.Cast(str(kind), *below)
                case tir.Call(op=op) if op in _WRITTEN:
                    values[node] = getattr(tirx, op)(*below)
                case _:
                    return None
        found = _of_type(values[expr], number)
        kind = _dtype(found)
        if kind == BOOL != wanted:
            return prim.Cast(str(wanted), found)
        return found if kind == wanted else None

    def _leaf(self, node: PrimExpr, short: Callable[[PrimExpr], PrimExpr]) -> Any:
        """A variable, a call or a load in TVM, the latter two with short arguments; None if an
        argument cannot be written.
        """
        given, operands = self._arguments.get(node, (None, ()))
        arguments = [short(each) for each in operands]
        written = self._origin.get(node)
        if written is not None and all(map(operator.is_, arguments, operands)):
            return written
        originals = _operands(given)
        written = [self.write(*each, short) for each in zip(arguments, originals, strict=True)]
        known = all(each is not None for each in written)
        return _with_arguments(given, written) if known else None


_WRITTEN = frozenset(f"bitwise_{op}" for op in ("and", "or", "xor", "not"))
_WRITTEN |= {"if_then_else", "shift_left", "shift_right", "abs", "ceildiv"}
"""The calls that are functions of TVM with the same name."""


class _Definition:
    """Stands between the value and the body of a ``Let``, and gives its variable the value."""

    def __init__(self, var: Any, value: Any) -> None:
        self.var, self.value = var, value
        self.outer: tuple[PrimExpr | None, dict[object, PrimExpr]] | None = None


def _object(expr: Any) -> Any:
    """``n == m`` and ``n != m`` of TVM are not expressions yet: they wait for a ``bool()`` that
    asks for identity.
    """
    expr = expr.asobject() if hasattr(expr, "asobject") else expr
    return expr.var if type(expr).__name__ == "IterVar" else expr


def _key(node: Any) -> Any:
    """What a node is known by while an expression is read: its address, which is its hash, but for a
    number, whose hash is its value, and for -1 that of -2: a number and its type.
    """
    return (int(node.value), _dtype(node)) if type(node).__name__ == "IntImm" else hash(node)


def _operands(node: Any) -> tuple[Any, ...]:
    name = type(node).__name__
    if name in BY_NAME or name in _BITS:
        return (node.a,) if name == "BitwiseNot" else (node.a, node.b)
    match name:
        case "Select":
            return (node.condition, node.true_value, node.false_value)
        case "Cast":
            return (node.value,)
        case "Not":
            return (node.a,)
        case "Let":
            return (node.value, _Definition(node.var, node.value), node.body)
        case "Call" if _pure(node):
            return tuple(node.args)
        case "BufferLoad" | "TensorLoad":
            return tuple(node.indices)
    return ()


def _of_type(written: Any, number: DataType) -> Any:
    """An operand in TVM; a narrower one is cast to the type of the arithmetic."""
    from tvm import prim

    return written if _dtype(written) in (number, BOOL) else prim.Cast(str(number), written)


def _numbers(node: PrimExpr, operands: list[Any], number: DataType) -> list[Any]:
    """The operands of a node in TVM, where truth values that are counted with become numbers."""
    from tvm import prim

    first = int(prim_exprs.conditional(node))
    counted = operands[first:]
    logical = first or isinstance(node, (tir.EQ, tir.NE))
    if logical and all(_dtype(each) == BOOL for each in counted):
        return operands
    cast = [prim.Cast(str(number), x) if _dtype(x) == BOOL else x for x in counted]
    return operands[:first] + cast


def _holds(number: DataType, kind: DataType) -> bool:
    """Whether a type has all values of another one."""
    return kind.bits + (kind.code == "uint") <= number.bits + (number.code == "uint")


def _with_arguments(node: Any, arguments: list[Any]) -> Any:
    """A call or a load with other arguments."""
    from tvm import tirx

    if type(node).__name__ == "Call":
        return type(node)(node.op, arguments, attrs=node.attrs, ret_ty=node.ty)
    return tirx.BufferLoad(_head(node), arguments)


def _head(node: Any) -> Any:
    """What a call or a load is besides its arguments and its type."""
    match type(node).__name__:
        case "TensorLoad":
            return node.source
        case "BufferLoad":
            return node.buffer
    return (node.op, node.attrs)


def _type(found: PrimExpr) -> DataType | None:
    """The type of an operand; None for a call that changes the state."""
    return found.dtype if isinstance(found, tir.Call) else INT64


def _pure(node: Any) -> bool:
    """Whether an expression is no call that changes the state."""
    if type(node).__name__ != "Call":
        return True
    effect = getattr(node.op, "get_attr", lambda _: None)("TCallEffectKind")
    return effect is not None and int(effect) <= _PURE


def _dtype(node: Any) -> DataType:
    """Newer TVM keeps the data type in ``ty``, older in ``dtype``; a handle is no number."""
    found = getattr(getattr(node, "ty", None), "dtype", None) or getattr(node, "dtype", None)
    return _HANDLE if found is None else _named(str(found))


def _element(kind: DataType) -> DataType:
    """The type of one value of a vector."""
    return kind if kind.lanes == 1 else dtype(str(kind).rpartition("x")[0])


@cache
def _named(text: str) -> DataType:
    try:
        return dtype(text)
    except ValueError:
        return _HANDLE


def _overflows_never(kind: DataType) -> bool:
    return kind in (INT32, INT64)
