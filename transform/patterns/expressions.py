"""Patterns of each kind of expression: calls, functions, tuples, variables, constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.python_places import (
    MisuseError,
    described,
    flag,
    here,
    listed,
    of_kind,
    spelt,
)
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.suggest import did_you_mean
from rlx.operators.parameters import REQUIRED
from rlx.operators.registry import Operator, lookup, similar
from rlx.operators.rule_helpers import numbers_in
from rlx.transform.arguments import NOTHING, alike, argument, is_null, operand_names, operands
from rlx.transform.arguments import python_literal as plain
from rlx.transform.builder.given import ARGUMENTS
from rlx.transform.patterns.attempt import Attempt
from rlx.transform.patterns.pattern import (
    Heads,
    NotPattern,
    Pattern,
    PatternError,
    WildcardPattern,
    dimensions_given,
    expected,
    natural,
    recorded,
    same_dimensions,
    text,
)


def wildcard() -> WildcardPattern:
    """Any expression."""
    return WildcardPattern()


def reject(pattern: Pattern) -> NotPattern:
    """Anything that a pattern does not match: ``~pattern``."""
    return ~expected(pattern)


@spelt
def has_dtype(dtype: str | DataType, pattern: Pattern | None = None) -> Pattern:
    """A tensor of this element type."""
    return _given(pattern).has_dtype(dtype)


@spelt
def has_attr(attrs: Mapping[str, object], pattern: Pattern | None = None) -> Pattern:
    """A call with these attributes."""
    return _given(pattern).has_attr(attrs)


def _given(pattern: Pattern | None) -> Pattern:
    return wildcard() if pattern is None else expected(pattern)


# ------------------------------------------------------------ names


class _Named(Pattern):
    """A variable or function by its name; any if there is no name."""

    kinds: tuple[type[Expr], ...]

    def __init__(self, name_hint: str = "") -> None:
        self.name = text(name_hint, "a name")

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        if isinstance(expr, self.kinds):
            found = expr.global_symbol if isinstance(expr, ast.ExternFunc) else expr.name_hint  # type: ignore[attr-defined]
            if self.name in ("", found):
                yield from attempt.standing(self, expr)


class VarPattern(_Named):
    """A variable, with the name ``name`` if it is not empty; its value is not matched."""

    kinds = (ast.Var,)


class DataflowVarPattern(VarPattern):
    """A variable that is local to its dataflow block."""

    kinds = (ast.DataflowVar,)


class GlobalVarPattern(_Named):
    """The name of a function of the module."""

    kinds = (ast.GlobalVar,)


class ExternFuncPattern(_Named):
    """A packed function; ``global_symbol`` is its name."""

    kinds = (ast.ExternFunc,)

    def __init__(self, global_symbol: str = "") -> None:
        super().__init__(global_symbol)

    @property
    def global_symbol(self) -> str:
        """The name of the function; empty for any."""
        return self.name


class _FunctionName(_Named):
    """A function of the module, or a packed function."""

    kinds = (ast.GlobalVar, ast.ExternFunc)


@spelt
def is_var(name: str = "") -> VarPattern:
    """A variable, with the given name if any; its value is not matched."""
    return VarPattern(name)


@spelt
def is_dfv(name: str = "") -> DataflowVarPattern:
    """A variable that is local to its dataflow block, with the given name if any."""
    return DataflowVarPattern(name)


@spelt
def is_gv(name: str = "") -> GlobalVarPattern:
    """The name of a function of the module, this one if given."""
    return GlobalVarPattern(name)


@spelt
def is_function(name: str) -> Pattern:
    """A function of the module, or a packed function, with this name."""
    return _FunctionName(name)


# ------------------------------------------------------------ calls


@spelt
def is_op(op_name: str) -> OpPattern:
    """A call of an operator. Called with patterns, it also matches the operands.

    Parameters
    ----------
    op_name
        ``"add"``, ``"nn.relu"``, with ``relax.`` before it or not.

    Raises
    ------
    PatternError
        If there is no such operator.
    """
    name = text(op_name, "the name of an operator")
    full = name if name.startswith("relax.") else f"relax.{name}"
    operator = lookup(full)
    if operator is None:
        meant = did_you_mean([word.removeprefix("R.") for word in similar(full)])
        raise PatternError(f"unknown operator {name!r}" + (f"; {meant}" if meant else ""))
    return OpPattern(operator)


class OpPattern(Pattern):
    """A call of an operator, with any arguments until it is called; or the operator itself.

    Attributes
    ----------
    expr
        The operator.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = of_kind(operator, Operator, "an operator: write is_op('add')")
        self.expr = ast.op(operator.name)
        self.heads = frozenset([operator.name])

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if value is self.expr or (isinstance(value, ast.Call) and value.op is self.expr):
            yield from attempt.standing(self, expr)

    def __repr__(self) -> str:
        return self.operator.name.removeprefix("relax.")


_COMMUTATIVE = frozenset(["relax.add", "relax.multiply"])


class CallPattern(Pattern):
    """A call. The operands of ``add`` and ``multiply`` match in either order.

    Attributes
    ----------
    op
        The pattern of the operator or of the callee.
    args
        The patterns of the operands.
    varg_default_wildcard
        Whether operands that the pattern leaves out may be anything.
    """

    def __init__(
        self,
        op: Pattern,
        args: Sequence[Pattern],
        varg_default_wildcard: bool = False,
        named: Mapping[str, object] = {},
    ) -> None:
        self.op, self.varg_default_wildcard = expected(op), varg_default_wildcard
        self.args = tuple(map(expected, listed(args, "patterns", object)))
        of_kind(named, Mapping, "patterns by name")  # type: ignore[type-abstract]
        self._names: tuple[str, ...] = ()
        self._named: tuple[Pattern, ...] = ()
        self._attrs: dict[str, object] = {}
        self._order: tuple[str, ...] = ()
        if isinstance(op, OpPattern):
            self.heads = frozenset([op.operator.name])
            _counted(op.operator, len(self.args), named, varg_default_wildcard)
            self._order = tuple(operand_names(op.operator))
            self._may_be_null = any(p.optional for p in op.operator.parameters)
            names = [n for n in self._order if n in named]
            self._names, self._named = tuple(names), tuple(expected(named[n]) for n in names)
            self._attrs = {n: plain(value) for n, value in named.items() if n not in names}
        else:
            self.heads = frozenset([ast.Call])
            if named:
                raise PatternError(f"no call matches: {op!r} has no parameter {next(iter(named))}")
        recorded(self)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if not isinstance(value, ast.Call):
            return
        if isinstance(self.op, OpPattern):
            if value.op is self.op.expr and (args := self._operands(value, attempt)) is not None:
                found = False
                for _ in matched_all((*self.args, *self._named), args, attempt):
                    found = True
                    yield from attempt.standing(self, expr)
                if not found and len(self.args) == 2 and self.op.operator.name in _COMMUTATIVE:
                    for _ in matched_all(self.args, args[::-1], attempt):
                        yield from attempt.standing(self, expr)
            return
        count = len(self.args)
        if len(value.args) == count or (self.varg_default_wildcard and len(value.args) > count):
            for _ in self.op.matches(value.op, attempt):
                for _ in matched_all(self.args, value.args[:count], attempt):
                    yield from attempt.standing(self, expr)

    def _operands(self, call: ast.Call, attempt: Attempt) -> Sequence[Expr] | None:
        """The operands that the patterns are compared with; None if the others do not match."""
        count = len(self.args)
        found = operands(call)
        if count > len(found):
            found = operands(call, defaults=True)[:count]
        if len(found) < count:
            return None
        for name, wanted in self._attrs.items():
            if not alike(argument(call, name, NOTHING), wanted):
                return None
        extra = found[count:]
        chosen = list(found[:count])
        if self._names:
            every = operands(call, defaults=True)
            at = self._order
            places = [at.index(name) for name in self._names]
            if any(place >= len(every) for place in places):
                return None
            chosen += [every[place] for place in places]
            extra = tuple(e for k, e in enumerate(extra, count) if k not in places)
        if not self.varg_default_wildcard and extra and not _defaults(call, extra, attempt):
            return None
        if self._may_be_null and any(is_null(attempt.looked_through(each)) for each in chosen):
            return None
        return chosen

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


def _defaults(call: ast.Call, extra: Sequence[Expr], attempt: Attempt) -> bool:
    """Whether the last operands of a call say what is meant without them."""
    operator = lookup(call.op_name)
    assert operator is not None
    parameters = [p for p in operator.parameters if p.kind in ARGUMENTS]
    if any(p.variadic for p in parameters):
        return False
    for parameter, given in zip(parameters[::-1], extra[::-1], strict=False):
        value = attempt.looked_through(given)
        if parameter.default is None or parameter.default is REQUIRED:
            if not is_null(value):
                return False
        elif plain(value) != plain(parameter.default):
            return False
    return True


def matched_all(
    patterns: Sequence[Pattern], exprs: Sequence[Expr], attempt: Attempt
) -> Iterator[None]:
    """Every way in which patterns match expressions one by one."""
    if not patterns:
        yield
        return
    for _ in patterns[0].matches(exprs[0], attempt):
        yield from matched_all(patterns[1:], exprs[1:], attempt)


def _counted(operator: Operator, given: int, named: Mapping[str, object], varg: bool) -> None:
    """Refuse a pattern that no call of the operator matches."""
    name = operator.name.removeprefix("relax.")
    parameters = [p for p in operator.parameters if p.kind != "types"]
    wanted = [p for p in parameters if p.kind in ARGUMENTS]
    known = [p.name for p in parameters]
    for word in named:
        if word not in known:
            raise PatternError(
                f"no call matches: {name} has no parameter {word!r}; it has {', '.join(known)}"
            )
    behind = {p.name for p in wanted[given:]}
    for p in wanted[:given]:
        if p.name in named:
            raise PatternError(f"no call matches: {p.name} of {name} is given twice")
    least = sum(p.default is REQUIRED and not p.variadic for p in wanted)
    most = None if any(p.variadic for p in wanted) else len(wanted)
    have = given + len(behind & named.keys())
    if (have < least and not varg) or (most is not None and given > most):
        expected = f"{least}" if least == most else f"{least} to {most if most else 'any number'}"
        attributes = [p.name for p in parameters if p.kind not in ARGUMENTS]
        hint = ""
        if most is not None and given > most and attributes:
            hint = f"; {', '.join(attributes)}: attributes, for has_attr or keywords"
        raise PatternError(
            f"no call matches: {name} takes {expected} operand{'s' * (expected != '1')},"
            f" the pattern has {have}{hint}"
        )


def is_call(callee: Pattern, *args: Pattern) -> CallPattern:
    """A call of a function value that matches."""
    return CallPattern(callee, args)


@spelt
def is_call_packed(func_name: str, args: Sequence[Pattern] | None = None) -> CallPattern:
    """A call of a packed function; with any arguments if none are given."""
    return CallPattern(
        ExternFuncPattern(func_name),
        () if args is None else several(args, "patterns of arguments"),
        args is None,
    )


@spelt
def is_call_tir(func_name: str, args: Sequence[Pattern] | Pattern | None = None) -> CallPattern:
    """A call of a PrimFunc of the module, by `R.call_tir`.

    Parameters
    ----------
    args
        Patterns of the arguments, or one of their tuple; None for any.
    """
    return _call_of("call_tir", GlobalVarPattern(func_name), args)


@spelt
def is_call_dps_packed(
    func_name: str, args: Sequence[Pattern] | Pattern | None = None
) -> CallPattern:
    """A call of a packed function that writes its result, by `R.call_dps_packed`."""
    return _call_of("call_dps_packed", ExternFuncPattern(func_name), args)


def _call_of(
    operator: str, callee: Pattern, args: Sequence[Pattern] | Pattern | None
) -> CallPattern:
    if args is None:
        return CallPattern(is_op(operator), (callee,), varg_default_wildcard=True)
    given = args if isinstance(args, Pattern) else TuplePattern(args)
    return CallPattern(is_op(operator), (callee, given))


class FunctionPattern(Pattern):
    """A function with its parameters and its result.

    Attributes
    ----------
    params
        The patterns of the parameters.
    body
        The pattern of the result.
    """

    heads: Heads = frozenset([ast.Function])

    def __init__(self, params: Sequence[Pattern], body: Pattern) -> None:
        self.params, self.body = several(params, "patterns of parameters"), expected(body)
        recorded(self)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        function = attempt.looked_through(expr)
        if not isinstance(function, ast.Function) or len(function.params) != len(self.params):
            return
        outer = dict(attempt.inner)
        attempt.inner.update(
            (b.var, b.value) for b in bindings(function) if isinstance(b, ast.VarBinding)
        )
        body = function.body
        result = body.body if isinstance(body, ast.SeqExpr) else body
        for _ in matched_all((*self.params, self.body), (*function.params, result), attempt):
            yield from attempt.standing(self, expr)
        attempt.inner = outer


# ------------------------------------------------------------ constants, shapes, expressions


class ConstantPattern(Pattern):
    """A constant.

    Attributes
    ----------
    value
        What all elements must equal; None for any.
    """

    heads: Heads = frozenset([ast.Constant])

    def __init__(self, value: object = None) -> None:
        self.value = value

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        found = attempt.looked_through(expr)
        if isinstance(found, ast.Constant) and (
            self.value is None or _is_everywhere(found, self.value)
        ):
            yield from attempt.standing(self, expr)


@spelt
def is_const(value: object = None) -> ConstantPattern:
    """A constant; if a value is given, all elements must equal it."""
    return ConstantPattern(value)


def _is_everywhere(expr: ast.Constant, value: object) -> bool:
    written = expr.data.value
    return written is not None and all(number == value for number in numbers_in(written))


class PrimArrPattern(Pattern):
    """A shape literal.

    Attributes
    ----------
    shape
        The dimensions, which ``pattern[k]`` also gives; None for any.
    """

    heads: Heads = frozenset([ast.ShapeExpr])

    def __init__(self, shape: Sequence[int | str | PrimExpr] | None) -> None:
        self._open: frozenset[tir.Var] = frozenset()
        self.shape: tuple[PrimExpr, ...] | None = None
        if shape is not None:
            self.shape, self._open = dimensions_given(shape)

    def __getitem__(self, index: int) -> PrimExpr:
        return (self.shape or ())[index]

    def __len__(self) -> int:
        return len(self.shape or ())

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        found = attempt.looked_through(expr)
        if isinstance(found, ast.ShapeExpr) and (
            self.shape is None or same_dimensions(found.values, self.shape, self._open, attempt)
        ):
            yield from attempt.standing(self, expr)


@spelt
def is_shape(shape: Sequence[int | str | PrimExpr] | None = None) -> PrimArrPattern:
    """A shape literal; if dimensions are given, they must be proved equal to its own, as for
    :meth:`Pattern.has_shape`.
    """
    return PrimArrPattern(shape)


class ExprPattern(Pattern):
    """An expression that is equal to a given one.

    Attributes
    ----------
    expr
        The expression.
    """

    def __init__(self, expr: Expr) -> None:
        if not isinstance(expr, Expr):
            raise MisuseError(f"expected an expression, found {described(expr)}", here())
        self.expr = expr

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for each in (expr, attempt.looked_through(expr)):
            if each is self.expr or structural_equal(each, self.expr):
                yield from attempt.standing(self, expr)
                return


@spelt
def is_expr(expr: Expr) -> ExprPattern:
    """An expression that is equal to this one; variables are equal to themselves."""
    return ExprPattern(expr)


# ------------------------------------------------------------ tuples


class TuplePattern(Pattern):
    """A tuple with certain fields; ``pattern[k]`` is the pattern of one of them.

    Attributes
    ----------
    fields
        The patterns of the fields; None for any tuple.
    """

    heads: Heads = frozenset([ast.Tuple])

    def __init__(self, fields: Sequence[Pattern] | None) -> None:
        self.fields = None if fields is None else several(fields, "patterns of fields")
        recorded(self)

    def __getitem__(self, index: int | None) -> TupleGetItemPattern:
        if index is not None and self.fields is not None:
            index = range(len(self.fields))[index]
        return TupleGetItemPattern(self, index)

    def __len__(self) -> int:
        return len(self.fields or ())

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if isinstance(value, ast.Tuple):
            if self.fields is None:
                yield from attempt.standing(self, expr)
            elif len(value.fields) == len(self.fields):
                for _ in self._matched(self.fields, value.fields, attempt):
                    yield from attempt.standing(self, expr)

    def _matched(
        self, patterns: Sequence[Pattern], exprs: Sequence[Expr], attempt: Attempt
    ) -> Iterator[None]:
        return matched_all(patterns, exprs, attempt)


class UnorderedTuplePattern(TuplePattern):
    """A tuple whose fields match the patterns in some order."""

    def _matched(
        self, patterns: Sequence[Pattern], exprs: Sequence[Expr], attempt: Attempt
    ) -> Iterator[None]:
        if not patterns:
            yield
            return
        for at, each in enumerate(exprs):
            for _ in patterns[0].matches(each, attempt):
                yield from self._matched(patterns[1:], [*exprs[:at], *exprs[at + 1 :]], attempt)


@spelt
def is_tuple(fields: Sequence[Pattern] | None = None, unordered: bool = False) -> TuplePattern:
    """A tuple whose fields match these patterns; any tuple if none are given.

    Parameters
    ----------
    unordered
        Whether the fields may match in any order.
    """
    kind = UnorderedTuplePattern if flag(unordered, "unordered") else TuplePattern
    return kind(fields)


class TupleGetItemPattern(Pattern):
    """A field of a tuple.

    Attributes
    ----------
    tuple
        The pattern of the tuple.
    index
        The index of the field; None for any.
    """

    heads: Heads = frozenset([ast.TupleGetItem])

    def __init__(self, tuple_value: Pattern, index: int | None = None) -> None:
        self.tuple = expected(tuple_value)
        self.index = None if index is None else natural(index, "the index of a field")
        recorded(self)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if isinstance(value, ast.TupleGetItem) and self.index in (None, value.index):
            for _ in self.tuple.matches(value.tuple_value, attempt):
                yield from attempt.standing(self, expr)


@spelt
def is_tuple_get_item(tuple_value: Pattern, index: int | None = None) -> TupleGetItemPattern:
    """A field of a tuple, with the given index if any.

    Raises
    ------
    PatternError
        If the index is negative.
    """
    return TupleGetItemPattern(tuple_value, index)


COMPUTED = (CallPattern, TuplePattern, TupleGetItemPattern)
"""The patterns of what a rule replaces; all others may match its operands."""


def several(patterns: object, what: str) -> tuple[Pattern, ...]:
    """A list or tuple of patterns. Raises MisuseError if the argument is not a list or tuple of
    patterns.
    """
    if not isinstance(patterns, list | tuple):
        raise MisuseError(f"expected {what} in a list, found {described(patterns)}", here())
    return tuple(expected(each) for each in patterns)
