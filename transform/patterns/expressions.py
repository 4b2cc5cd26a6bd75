"""Patterns of each kind of expression: calls, tuples, variables, constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.python_places import MisuseError, described, here
from rlx.grammar.suggest import did_you_mean
from rlx.operators.parameters import REQUIRED
from rlx.operators.registry import Operator, lookup, similar
from rlx.transform.builder.values import scalar
from rlx.transform.patterns.attempt import Attempt
from rlx.transform.patterns.given import PatternError, natural, text
from rlx.transform.patterns.pattern import (
    Heads,
    Pattern,
    Wildcard,
    expected,
)


def wildcard() -> Pattern:
    """Any expression."""
    return Wildcard()


def is_var(name: str | None = None) -> Pattern:
    """A variable, with the given name if any; its value is not matched."""
    return _Variable(name if name is None else text(name, "the name of a variable"))


class _Variable(Pattern):
    def __init__(self, name: str | None) -> None:
        self.name = name

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        if isinstance(expr, ast.Var) and self.name in (None, expr.name_hint):
            yield from attempt.standing(self, expr)


def is_op(name: str) -> _Op:
    """A call of an operator. Called with patterns, it also matches the arguments.

    Parameters
    ----------
    name
        ``"add"``, ``"nn.relu"``, with ``relax.`` before it or not.

    Raises
    ------
    PatternError
        If there is no such operator.
    """
    full = name if text(name, "the name of an operator").startswith("relax.") else f"relax.{name}"
    operator = lookup(full)
    if operator is None:
        meant = did_you_mean([word.removeprefix("R.") for word in similar(full)])
        raise PatternError(f"unknown operator {name!r}" + (f"; {meant}" if meant else ""))
    return _Op(operator)


class _Op(Pattern):
    """A call of an operator, with any arguments until it is called."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.node = ast.op(operator.name)
        self.heads = frozenset([operator.name])

    def __call__(self, *args: Pattern) -> Pattern:
        """With arguments that match these patterns.

        Raises
        ------
        PatternError
            If no call of the operator has so many.
        """
        return _CallOf(self, self.operator, args)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if isinstance(value, ast.Call) and value.op is self.node:
            yield from attempt.standing(self, expr)

    def __repr__(self) -> str:
        return self.operator.name.removeprefix("relax.")


def is_call(callee: Pattern, *args: Pattern) -> Pattern:
    """A call of a function value that matches."""
    return _CallOf(expected(callee), None, args)


class _CallOf(Pattern):
    def __init__(self, head: Pattern, operator: Operator | None, args: Sequence[Pattern]) -> None:
        self.head, self.args = head, tuple(expected(arg) for arg in args)
        self.heads = head.heads
        if operator is not None:
            _count(operator, len(args))

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if not isinstance(value, ast.Call) or len(value.args) != len(self.args):
            return
        head = value if isinstance(self.head, _Op) else value.op
        for _ in self.head.matches(head, attempt):
            for _ in _all(self.args, value.args, attempt):
                yield from attempt.standing(self, expr)

    def __repr__(self) -> str:
        return f"{self.head}({', '.join(map(repr, self.args))})"


def _all(patterns: Sequence[Pattern], exprs: Sequence[Expr], attempt: Attempt) -> Iterator[None]:
    """Every way in which patterns match expressions one by one."""
    if not patterns:
        yield
        return
    (pattern, *patterns), (expr, *exprs) = patterns, exprs
    for _ in pattern.matches(expr, attempt):
        yield from _all(patterns, exprs, attempt)


def _count(operator: Operator, given: int) -> None:
    parameters = [p for p in operator.parameters if p.kind != "types"]
    least = sum(p.default is REQUIRED and not p.variadic for p in parameters)
    most = None if any(p.variadic for p in parameters) else len(parameters)
    if given < least or (most is not None and given > most):
        name = operator.name.removeprefix("relax.")
        expected = f"{least}" if least == most else f"{least} to {most if most else 'any number'}"
        raise PatternError(
            f"no call matches: {name} takes {expected} argument{'s' * (expected != '1')},"
            f" the pattern has {given}"
        )


def is_function(name: str) -> Pattern:
    """A function of the module, or a packed function, with this name."""
    return _Named(text(name, "the name of a function"))


class _Named(Pattern):
    def __init__(self, name: str) -> None:
        self.name = name

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        match expr:
            case ast.GlobalVar(name_hint=name) | ast.ExternFunc(global_symbol=name):
                if name == self.name:
                    yield from attempt.standing(self, expr)


def is_const(value: object = None) -> Pattern:
    """A constant; if a value is given, all elements must equal it."""
    if value is None:
        return _Kind(ast.Constant, lambda expr: True)
    return _Kind(ast.Constant, lambda expr: _is_everywhere(expr, value))


def _is_everywhere(expr: Expr, value: object) -> bool:
    assert isinstance(expr, ast.Constant)
    stack = [expr.data.value]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
        elif part is None or part != value:
            return False
    return True


def is_shape(values: Sequence[object] | None = None) -> Pattern:
    """A shape literal; if values are given (numbers, names or scalars), they must be its
    dimensions.
    """
    if values is None:
        return _Kind(ast.ShapeExpr, lambda expr: True)
    if not isinstance(values, list | tuple):
        raise MisuseError(f"expected the dimensions of a shape, found {described(values)}", here())
    place = here()
    wanted = ast.ShapeExpr(tuple(scalar(value, place) for value in values))
    return _Kind(ast.ShapeExpr, lambda expr: structural_equal(expr, wanted))


def is_expr(expr: Expr) -> Pattern:
    """An expression that is equal to this one; variables are equal to themselves."""
    if not isinstance(expr, Expr):
        raise MisuseError(f"expected an expression, found {described(expr)}", here())
    return _Equal(expr)


class _Equal(Pattern):
    def __init__(self, wanted: Expr) -> None:
        self.wanted = wanted

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for each in (expr, attempt.looked_through(expr)):
            if each is self.wanted or structural_equal(each, self.wanted):
                yield from attempt.standing(self, expr)
                return


class _Kind(Pattern):
    """An expression of one class of nodes."""

    def __init__(self, kind: type[Expr], condition: Callable[[Expr], bool]) -> None:
        self.kind, self.condition = kind, condition
        self.heads = frozenset([kind])

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if isinstance(value, self.kind) and self.condition(value):
            yield from attempt.standing(self, expr)


def is_tuple(fields: Sequence[Pattern] | None = None) -> Pattern:
    """A tuple whose fields match these patterns; any tuple if none are given."""
    if fields is None:
        return _Kind(ast.Tuple, lambda expr: True)
    return _Tuple(fields)


class _Tuple(Pattern):
    heads: Heads = frozenset([ast.Tuple])

    def __init__(self, fields: Sequence[Pattern]) -> None:
        self.fields = several(fields, "patterns of fields")

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if isinstance(value, ast.Tuple) and len(value.fields) == len(self.fields):
            for _ in _all(self.fields, value.fields, attempt):
                yield from attempt.standing(self, expr)


def is_tuple_get_item(inner: Pattern, index: int | None = None) -> Pattern:
    """A field of a tuple, with the given index if any.

    Raises
    ------
    PatternError
        If the index is negative.
    """
    return _Item(inner, index)


class _Item(Pattern):
    heads: Heads = frozenset([ast.TupleGetItem])

    def __init__(self, inner: Pattern, index: int | None) -> None:
        self.inner = expected(inner)
        self.index = None if index is None else natural(index, "the index of a field")

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        value = attempt.looked_through(expr)
        if isinstance(value, ast.TupleGetItem) and self.index in (None, value.index):
            for _ in self.inner.matches(value.tuple_value, attempt):
                yield from attempt.standing(self, expr)


def several(patterns: object, what: str) -> tuple[Pattern, ...]:
    """A list or tuple of patterns.

    Raises
    ------
    MisuseError
        If the argument is not a list or tuple of patterns.
    """
    if not isinstance(patterns, list | tuple):
        raise MisuseError(f"expected {what} in a list, found {described(patterns)}", here())
    return tuple(expected(each) for each in patterns)
