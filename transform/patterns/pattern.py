"""The base class of patterns, alternatives, and conditions on matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import DataType, lacking
from rlx.grammar.nodes.overloaded import element_type
from rlx.grammar.nodes.python_places import MisuseError, described, here
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.registry import lookup
from rlx.solver.order import bind, free_shape_vars, substitute, subtype
from rlx.solver.order.substitute import dimensions
from rlx.transform.builder import values
from rlx.transform.patterns.arguments import alike, argument, python_literal
from rlx.transform.patterns.attempt import Attempt
from rlx.transform.patterns.given import PatternError, natural

Heads = frozenset[object] | None
"""The kinds of expressions that a pattern can match; None for any."""


class Pattern:
    """A pattern for expressions. Patterns are objects: a pattern that is used twice must match
    equal expressions.

    Patterns match the values of variables: a pattern for a call matches a variable that is bound to
    such a call.
    """

    heads: Heads = None

    def __or__(self, other: Pattern) -> Pattern:
        """This or the other."""
        return _Or(self, other)

    def __and__(self, other: Pattern) -> Pattern:
        """Both at once."""
        return _And(self, other)

    def __invert__(self) -> Pattern:
        """Anything but this."""
        return _Not(self)

    def __rshift__(self, user: Pattern) -> Pattern:
        """A value that the other pattern uses: ``a >> b >> c`` is a chain."""
        return self.used_by(user)

    def __xor__(self, user: Pattern) -> Pattern:
        """A value that the other pattern alone uses."""
        return self.only_used_by(user)

    def has_attr(self, attrs: Mapping[str, object]) -> Pattern:
        """Require these arguments of a call, by name; defaults count as given.

        Raises
        ------
        PatternError
            If the operator has no parameter of this name.
        """
        return _Attrs(self, attrs)

    def has_dtype(self, dtype: str | DataType) -> Pattern:
        """Require a tensor of this element type.

        Raises
        ------
        PatternError
            If there is no such type, or the pattern already requires another one.
        """
        return _Dtype(self, dtype)

    def has_shape(self, shape: Sequence[int | str | PrimExpr]) -> Pattern:
        """Require a tensor whose dimensions are proved equal to these.

        A name matches any dimension, and the same dimension if it is repeated: ``("n", "n")``
        matches square matrices.
        """
        return _Shape(self, shape)

    def has_struct_info(self, info: StructInfo | str) -> Pattern:
        """Require a value whose struct info is at least this precise; each dimension name in it
        matches one dimension.
        """
        return _Info(self, values.struct_info(info))

    def where(self, condition: Callable[[Expr], bool]) -> Pattern:
        """Require that a user-defined predicate holds for the expression."""
        return _Where(self, condition)

    def used_by(self, user: Pattern, index: int | None = None) -> Pattern:
        """Require that a value matching the other pattern uses this value.

        Parameters
        ----------
        index
            The index of the argument in that call; any if None.
        """
        return _UsedBy(self, user, index, False)

    def only_used_by(self, user: Pattern, index: int | None = None) -> Pattern:
        """Require that the value is used, and only by values matching the other pattern."""
        return _UsedBy(self, user, index, True)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        """Every way in which the pattern matches; during the iteration, the attempt has the
        assignment of the parts.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_").lower()


class Wildcard(Pattern):
    """Any expression."""

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        yield from attempt.standing(self, expr)


class _Or(Pattern):
    def __init__(self, first: Pattern, second: Pattern) -> None:
        self.first, self.second = first, expected(second)
        one, other = first.heads, self.second.heads
        self.heads = None if one is None or other is None else one | other

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for each in (self.first, self.second):
            for _ in each.matches(expr, attempt):
                yield from attempt.standing(self, expr)


class _And(Pattern):
    def __init__(self, first: Pattern, second: Pattern) -> None:
        self.first, self.second = first, expected(second)
        both = [heads for heads in (first.heads, second.heads) if heads is not None]
        self.heads = frozenset.intersection(*both) if both else None
        if self.heads is not None and not self.heads:
            raise PatternError(f"nothing matches both {first!r} and {second!r}")

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.first.matches(expr, attempt):
            for _ in self.second.matches(expr, attempt):
                yield from attempt.standing(self, expr)


class _Not(Pattern):
    def __init__(self, inner: Pattern) -> None:
        self.inner = inner
        if isinstance(inner, Wildcard):
            raise PatternError("nothing matches: a wildcard is everything")

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.inner.matches(expr, attempt):
            return
        yield from attempt.standing(self, expr)


class _Constrained(Pattern):
    """A pattern with a condition on what it matches."""

    def __init__(self, inner: Pattern) -> None:
        self.inner = inner
        self.heads = inner.heads

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        """Whether the condition holds of an expression that the inner pattern matches."""
        raise NotImplementedError

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.inner.matches(expr, attempt):
            if self.holds(expr, attempt):
                yield from attempt.standing(self, expr)

    def __repr__(self) -> str:
        return repr(self.inner)


class _Attrs(_Constrained):
    def __init__(self, inner: Pattern, attrs: Mapping[str, object]) -> None:
        super().__init__(inner)
        if not isinstance(attrs, Mapping):
            raise MisuseError(f"expected arguments by name, found {described(attrs)}", here())
        self.attrs = {name: python_literal(value) for name, value in attrs.items()}
        for head in inner.heads or ():
            operator = lookup(head) if isinstance(head, str) else None
            for name in attrs if operator is not None else ():
                known = [p.name for p in operator.parameters]  # type: ignore[union-attr]
                if name not in known:
                    words = f"{head} has no parameter {name!r}; it has {', '.join(known)}"
                    raise PatternError(f"no call matches: {words}")

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        value = attempt.looked_through(expr)
        if not isinstance(value, ast.Call):
            return False
        return all(alike(argument(value, name), wanted) for name, wanted in self.attrs.items())


class _Dtype(_Constrained):
    def __init__(self, inner: Pattern, dtype: str | DataType) -> None:
        super().__init__(inner)
        try:
            self.dtype = element_type(dtype)
        except (TypeError, ValueError) as error:
            raise PatternError(f"no tensor matches: {error}") from None
        found = lacking(self.dtype)
        if found is not None:
            raise PatternError(f"no tensor matches: {found[1]}")
        for other in _constraints(inner, _Dtype):
            if other.dtype != self.dtype:
                words = f"no tensor is both of {other.dtype} and of {self.dtype}"
                raise PatternError(f"no tensor matches: {words}")

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        info = attempt.around.info(expr)
        return isinstance(info, TensorStructInfo) and info.dtype == self.dtype


class _Shape(_Constrained):
    def __init__(self, inner: Pattern, shape: Sequence[int | str | PrimExpr]) -> None:
        super().__init__(inner)
        if isinstance(shape, ast.ShapeExpr):
            shape = shape.values
        if not isinstance(shape, list | tuple):
            raise MisuseError(
                f"expected the dimensions of a shape, found {described(shape)}", here()
            )
        self.shape = tuple(_dimension(dim) for dim in shape)
        for other in _constraints(inner, _Shape):
            if len(other.shape) != len(self.shape):
                words = f"no tensor has both {len(other.shape)} and {len(self.shape)} dimensions"
                raise PatternError(f"no tensor matches: {words}")
        self._info = ast.ShapeStructInfo(self.shape, len(self.shape))

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        info = attempt.around.info(expr)
        found = dimensions(info) if isinstance(info, TensorStructInfo) else None
        if found is None or len(found) != len(self.shape):
            return False
        return _fits(ast.ShapeStructInfo(found, len(found)), self._info, attempt)


def _dimension(given: object) -> PrimExpr:
    found = values.scalar(given, here())
    if not tir.type_of(found).is_integer:
        raise PatternError(f"no tensor matches: a dimension is {found} of {tir.type_of(found)}")
    if isinstance(found, tir.IntImm) and found.value < 0:
        raise PatternError(f"no tensor matches: a dimension is {found.value}")
    return found


class _Info(_Constrained):
    def __init__(self, inner: Pattern, info: StructInfo) -> None:
        super().__init__(inner)
        self.wanted = info

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        info = attempt.around.info(expr)
        return info is not None and _fits(info, self.wanted, attempt)


def _fits(found: StructInfo, wanted: StructInfo, attempt: Attempt) -> bool:
    """Whether a value of one info is certainly one of the other, the shape variables of which stand
    for anything.
    """
    prover = attempt.around.prover
    names = free_shape_vars(wanted)
    images = bind((wanted,), (found,), names, prover).mapping
    if any(name not in images for name in names):
        return False
    return subtype(found, substitute(wanted, images), prover).proved


class _Where(_Constrained):
    def __init__(self, inner: Pattern, condition: Callable[[Expr], bool]) -> None:
        super().__init__(inner)
        if not callable(condition):
            raise MisuseError(f"expected a function, found {described(condition)}", here())
        self.condition = condition

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        return self.condition(attempt.looked_through(expr))


class _UsedBy(Pattern):
    def __init__(self, inner: Pattern, user: Pattern, index: int | None, only: bool) -> None:
        self.inner, self.user, self.index, self.only = inner, expected(user), index, only
        self.heads = inner.heads
        if index is not None:
            natural(index, "the index of an argument")

    def __rshift__(self, user: Pattern) -> Pattern:
        return _UsedBy(self.inner, self.user >> user, self.index, self.only)

    def __xor__(self, user: Pattern) -> Pattern:
        return _UsedBy(self.inner, self.user ^ user, self.index, self.only)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        if not isinstance(expr, ast.Var):
            return
        for _ in self.inner.matches(expr, attempt):
            yield from self._used(expr, attempt)

    def _used(self, var: ast.Var, attempt: Attempt) -> Iterator[None]:
        users = attempt.around.users(var)
        fitting = [user for user, value in users if user is not None and self._stands(var, value)]
        if self.only:
            if not users or len(fitting) < len(users):
                return
            first, *rest = fitting
            if all(any(True for _ in self.user.matches(user, attempt)) for user in rest):
                for _ in self.user.matches(first, attempt):
                    yield from attempt.standing(self, var)
            return
        for user in fitting:
            for _ in self.user.matches(user, attempt):
                yield from attempt.standing(self, var)

    def _stands(self, var: ast.Var, value: Expr) -> bool:
        """Whether a variable is the argument of a call that is asked for."""
        if self.index is None:
            return True
        args = value.args if isinstance(value, ast.Call) else ()
        return self.index < len(args) and args[self.index] is var


C = TypeVar("C", bound=_Constrained)


def _constraints(pattern: Pattern, kind: type[C]) -> Iterator[C]:
    """The conditions of one kind around a pattern."""
    while isinstance(pattern, _Constrained):
        if isinstance(pattern, kind):
            yield pattern
        pattern = pattern.inner


def expected(pattern: object) -> Pattern:
    """The value if it is a pattern; otherwise an error.

    Raises
    ------
    MisuseError
        If it is not a pattern.
    """
    if not isinstance(pattern, Pattern):
        raise MisuseError(
            f"expected a pattern, such as wildcard(), found {described(pattern)}", here()
        )
    return pattern
