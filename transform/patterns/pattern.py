"""The base class of patterns, alternatives, and conditions on matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol, TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import DataType, lacking
from rlx.grammar.nodes.node import all_same
from rlx.grammar.nodes.overloaded import element_type, python_number
from rlx.grammar.nodes.python_places import MisuseError, described, here, listed, located, spelt
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.registry import lookup
from rlx.solver.order import bind, free_shape_vars, substitute, subtype
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import NOTHING, alike, argument, operands, python_literal
from rlx.transform.builder import values
from rlx.transform.patterns.attempt import Attempt, MatchedValues

# ---------------------------------------------------------------- arguments of patterns


class PatternError(ValueError):
    """A pattern that can never match.

    The message begins with ``file:line:column`` of the code that wrote it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(located(message, here()))


def text(given: object, what: str) -> str:
    """A text. Raises MisuseError if it is not a text."""
    if not isinstance(given, str):
        raise MisuseError(f"expected {what}, found {described(given)}", here())
    return given


def natural(number: object, what: str) -> int:
    """An index. Raises MisuseError or PatternError if it is not an integer, or is negative."""
    found = python_number(number)
    if isinstance(found, bool) or not isinstance(found, int):
        raise MisuseError(f"{what}: expected an integer, found {described(number)}", here())
    if found < 0:
        raise PatternError(f"nothing matches: {what} is {found}")
    return found


_CALLS = "rlx.transform.patterns.expressions"
"""The module of calls, by name, because its patterns are patterns of this module."""


class PatternListener(Protocol):
    """Gets the new patterns of a ``with`` statement."""

    same_shapes: list[SameShapeConstraint]

    def add(self, pattern: Pattern) -> None:
        """A pattern is made."""

    def link(
        self, producer: Pattern, consumer: Pattern, index: int | None = None, only: bool = False
    ) -> None:
        """The value of one pattern is used by that of another one."""


CONTEXTS: list[PatternListener] = []
"""The contexts of the `with` statements that are open, from outside to inside."""
Heads = frozenset[object] | None
"""The kinds of expressions that a pattern can match; None for any."""


class Pattern:
    """A pattern for expressions. Patterns are objects: a pattern that is used twice must match
    equal expressions.

    Patterns match the values of variables: a pattern for a call matches a variable that is bound to
    such a call.

    Attributes
    ----------
    heads
        The kinds of expressions that it can match: names of operators and classes of nodes; None
        for any.
    """

    heads: Heads = None

    def __call__(
        self, *args: Pattern, varg_default_wildcard: bool = False, **named: object
    ) -> Pattern:
        """A call whose callee matches this pattern, with operands that match others.

        Parameters
        ----------
        *args
            Patterns of the operands. An operand matches however the call writes it: by position, by
            keyword or by default. Operands that the pattern leaves out have their defaults.
        varg_default_wildcard
            Whether operands that the pattern leaves out may be anything.
        **named
            Patterns of further operands by name, and values of attributes by name.

        Raises
        ------
        PatternError
            If no call of the operator matches.
        """
        made: Pattern = import_module(_CALLS).CallPattern(self, args, varg_default_wildcard, named)
        return made

    def __or__(self, other: Pattern) -> OrPattern:
        """This or the other."""
        return OrPattern(self, other)

    def __and__(self, other: Pattern) -> AndPattern:
        """Both at once."""
        return AndPattern(self, other)

    def __invert__(self) -> NotPattern:
        """Anything but this."""
        return NotPattern(self)

    def __rshift__(self, user: Pattern) -> PatternSeq:
        """A value that the other pattern alone uses: ``a >> b >> c`` is a chain."""
        return self.only_used_by(user)

    def __xor__(self, user: Pattern) -> PatternSeq:
        """A value that the other pattern uses, perhaps among others."""
        return self.used_by(user)

    @spelt
    def has_attr(self, attrs: Mapping[str, object]) -> AttrPattern:
        """Require these attributes of a call, by name; defaults count as given. For a function:
        these attributes of the function.

        Raises
        ------
        PatternError
            If the operator has no parameter of this name.
        """
        return AttrPattern(self, attrs)

    @spelt
    def has_dtype(self, dtype: str | DataType) -> DataTypePattern:
        """Require a tensor of this element type.

        Raises
        ------
        PatternError
            If there is no such type, or the pattern already requires another one.
        """
        return DataTypePattern(self, dtype)

    @spelt
    def has_shape(self, shape: Sequence[int | str | PrimExpr]) -> ShapePattern:
        """Require a tensor whose dimensions are proved equal to these.

        A name as a text matches any dimension, and the same dimension if it is repeated:
        ``("n", "n")`` matches square matrices. A shape variable, such as ``rlx.dim("n")``, matches
        itself.
        """
        return ShapePattern(self, shape)

    @spelt
    def has_struct_info(self, info: StructInfo | str) -> StructInfoPattern:
        """Require a value whose struct info is at least this precise. In a text, each name of a
        dimension matches one dimension; the shape variables of a node match themselves.
        """
        return StructInfoPattern(self, info)

    has_ty = has_struct_info
    """TVM's name of :meth:`has_struct_info`."""

    @spelt
    def where(self, condition: Callable[[Expr], bool]) -> Pattern:
        """Require that a user-defined predicate holds for the expression."""
        return _Where(self, condition)

    @spelt
    def used_by(self, other: Pattern, index: int | None = None) -> PatternSeq:
        """Require that a value matching the other pattern uses this value.

        Parameters
        ----------
        index
            The index of the operand in that call; any if None.
        """
        return PatternSeq([self]).used_by(other, index)

    @spelt
    def only_used_by(self, other: Pattern, index: int | None = None) -> PatternSeq:
        """Require that the value is used, and only by values matching the other pattern."""
        return PatternSeq([self]).only_used_by(other, index)

    def fork_to(self, *users: Pattern) -> None:
        """In a :class:`PatternContext`, require that each of the other patterns uses this value.

        Raises
        ------
        MisuseError
            If there is none.
        """
        if not CONTEXTS:
            raise MisuseError("there is no PatternContext: open one with a `with`", here())
        for user in users:
            self.used_by(user)

    def same_shape_as(self, *others: Pattern) -> SameShapeConstraint:
        """In a :class:`PatternContext`, require that all these values have the same shape."""
        return SameShapeConstraint(self, *others)

    def dup(self) -> Pattern:
        """A copy with new parts, which may match other expressions than the parts of this one."""
        made = copied(self, {})
        assert isinstance(made, Pattern)
        return made

    def match(self, expr: Expr, var2val: Mapping[ast.Var, Expr] | None = None) -> bool:
        """Whether an expression matches.

        Parameters
        ----------
        var2val
            The values of variables, as :func:`rlx.transform.get_var2val` gives them. Without it,
            variables match as variables only.
        """
        return self.extract_matched_expr(expr, var2val) is not None

    def extract_matched_expr(
        self, expr: Expr, var2val: Mapping[ast.Var, Expr] | None = None
    ) -> dict[Pattern, Expr] | None:
        """The expressions that the parts of the pattern match; None if it does not match.

        Parameters
        ----------
        var2val
            As for :meth:`match`.

        Raises
        ------
        MisuseError
            If it is not an expression.
        """
        if not isinstance(expr, Expr):
            raise MisuseError(f"expected an expression, found {described(expr)}", here())
        if not isinstance(var2val, Mapping | None):
            words = f"expected values by variables, found {described(var2val)}"
            raise MisuseError(f"{words}: write get_var2val(function)", here())
        attempt = Attempt(MatchedValues(var2val or {}))
        for _ in self.matches(expr, attempt):
            return dict(attempt.found)
        return None

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        """Every way in which the pattern matches; during the iteration, the attempt has the
        assignment of the parts.
        """
        raise NotImplementedError

    def parts(self) -> Iterator[Pattern]:
        """The patterns directly inside."""
        for value in vars(self).values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Pattern):
                    yield each

    def __repr__(self) -> str:
        return type(self).__name__.removesuffix("Pattern").lstrip("_").lower()


def copied(value: object, made: dict[int, object]) -> object:
    """A pattern with copies of its parts; other values as they are."""
    if isinstance(value, tuple):
        return tuple(copied(each, made) for each in value)
    if not isinstance(value, Pattern):
        return value
    known = made.get(id(value))
    if known is None:
        known = made[id(value)] = object.__new__(type(value))
        for name, part in vars(value).items():
            setattr(known, name, copied(part, made))
        if isinstance(known, PatternSeq):
            known.record()
        elif not isinstance(known, WildcardPattern):
            recorded(known)
    return known


def recorded(pattern: Pattern) -> None:
    """Tell the current context, if there is one, about a new pattern."""
    if CONTEXTS:
        CONTEXTS[-1].add(pattern)


class WildcardPattern(Pattern):
    """Any expression."""

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        yield from attempt.standing(self, expr)


class OrPattern(Pattern):
    """Matches where one of two patterns does.

    Attributes
    ----------
    left, right
        The two.
    """

    def __init__(self, left: Pattern, right: Pattern) -> None:
        self.left, self.right = expected(left), expected(right)
        one, other = left.heads, right.heads
        self.heads = None if one is None or other is None else one | other
        recorded(self)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for each in (self.left, self.right):
            for _ in each.matches(expr, attempt):
                yield from attempt.standing(self, expr)


class _Alternative(Pattern):
    """One side of an :class:`OrPattern`; its match counts as a match of the whole."""

    def __init__(self, side: Pattern, whole: Pattern) -> None:
        self.side, self.whole, self.heads = side, whole, side.heads

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.side.matches(expr, attempt):
            yield from attempt.standing(self.whole, expr)


def alternatives(pattern: Pattern) -> Iterator[Pattern]:
    """The patterns of which one must match, in order."""
    if not isinstance(pattern, OrPattern):
        yield pattern
        return
    for side in (pattern.left, pattern.right):
        for each in alternatives(side):
            yield _Alternative(each, pattern)


class AndPattern(Pattern):
    """Matches where both of two patterns do.

    Attributes
    ----------
    left, right
        The two.
    """

    def __init__(self, left: Pattern, right: Pattern) -> None:
        self.left, self.right = expected(left), expected(right)
        both = [heads for heads in (left.heads, right.heads) if heads is not None]
        self.heads = frozenset.intersection(*both) if both else None
        if self.heads is not None and not self.heads:
            raise PatternError(f"nothing matches both {left!r} and {right!r}")
        recorded(self)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.left.matches(expr, attempt):
            for _ in self.right.matches(expr, attempt):
                yield from attempt.standing(self, expr)


class NotPattern(Pattern):
    """Matches where another pattern does not.

    Attributes
    ----------
    reject
        The other.
    """

    def __init__(self, to_reject: Pattern) -> None:
        self.reject = expected(to_reject)
        if isinstance(to_reject, WildcardPattern):
            raise PatternError("nothing matches: a wildcard is everything")
        recorded(self)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.reject.matches(expr, attempt):
            return
        yield from attempt.standing(self, expr)


class Constrained(Pattern):
    """A pattern with a condition on what it matches.

    Attributes
    ----------
    pattern
        The pattern.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = expected(pattern)
        self.heads = pattern.heads
        recorded(self)

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        """Whether the condition holds of an expression that the pattern matches."""
        raise NotImplementedError

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.pattern.matches(expr, attempt):
            if self.holds(expr, attempt):
                yield from attempt.standing(self, expr)

    def __repr__(self) -> str:
        return repr(self.pattern)


class AttrPattern(Constrained):
    """A call, or a function, with certain attributes.

    Attributes
    ----------
    attrs
        The attributes by name, as plain values.
    """

    def __init__(self, pattern: Pattern, attrs: Mapping[str, object]) -> None:
        super().__init__(pattern)
        if not isinstance(attrs, Mapping):
            raise MisuseError(f"expected arguments by name, found {described(attrs)}", here())
        self.attrs = {name: python_literal(value) for name, value in attrs.items()}
        for head in pattern.heads or ():
            operator = lookup(head) if isinstance(head, str) else None
            for name in attrs if operator is not None else ():
                known = [p.name for p in operator.parameters]  # type: ignore[union-attr]
                if name not in known:
                    words = f"{head} has no parameter {name!r}; it has {', '.join(known)}"
                    raise PatternError(f"no call matches: {words}")

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        value = attempt.looked_through(expr)
        if isinstance(value, ast.Function):
            known = value.attrs
            return all(
                name in known and alike(python_literal(known[name]), wanted)
                for name, wanted in self.attrs.items()
            )
        if not isinstance(value, ast.Call):
            return False
        given = ((argument(value, n, NOTHING), wanted) for n, wanted in self.attrs.items())
        return all(alike(found, wanted) for found, wanted in given)


class DataTypePattern(Constrained):
    """A tensor of a certain element type.

    Attributes
    ----------
    dtype
        The element type.
    """

    def __init__(self, pattern: Pattern, dtype: str | DataType) -> None:
        super().__init__(pattern)
        try:
            self.dtype = element_type(dtype)
        except (TypeError, ValueError) as error:
            raise PatternError(f"no tensor matches: {error}") from None
        found = lacking(self.dtype)
        if found is not None:
            raise PatternError(f"no tensor matches: {found[1]}")
        for other in _constraints(pattern, DataTypePattern):
            if other.dtype != self.dtype:
                words = f"no tensor is both of {other.dtype} and of {self.dtype}"
                raise PatternError(f"no tensor matches: {words}")

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        info = attempt.around.info(expr)
        return isinstance(info, TensorStructInfo) and info.dtype == self.dtype


class ShapePattern(Constrained):
    """A tensor of a certain shape.

    Attributes
    ----------
    shape
        The dimensions.
    """

    def __init__(self, pattern: Pattern, shape: Sequence[int | str | PrimExpr]) -> None:
        super().__init__(pattern)
        self.shape, self._open = dimensions_given(shape)
        for other in _constraints(pattern, ShapePattern):
            if len(other.shape) != len(self.shape):
                words = f"no tensor has both {len(other.shape)} and {len(self.shape)} dimensions"
                raise PatternError(f"no tensor matches: {words}")

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        info = attempt.around.info(expr)
        found = dimensions(info) if isinstance(info, TensorStructInfo) else None
        return found is not None and same_dimensions(found, self.shape, self._open, attempt)


def dimensions_given(shape: object) -> tuple[tuple[PrimExpr, ...], frozenset[tir.Var]]:
    """The dimensions that a pattern requires, and the shape variables of texts, which match any
    dimension. Raises MisuseError or PatternError if they are not dimensions.
    """
    if isinstance(shape, ast.ShapeExpr):
        shape = shape.values
    if not isinstance(shape, list | tuple):
        raise MisuseError(f"expected the dimensions of a shape, found {described(shape)}", here())
    found = tuple(_dimension(dim) for dim in shape)
    texts = (made for given, made in zip(shape, found, strict=True) if isinstance(given, str))
    return found, frozenset(var for dim in texts for var in tir.free_vars(dim))


def same_dimensions(
    found: Sequence[PrimExpr],
    wanted: Sequence[PrimExpr],
    names: Collection[tir.Var],
    attempt: Attempt,
) -> bool:
    """Whether dimensions are certainly those that a pattern requires."""
    if len(found) != len(wanted):
        return False
    if all_same(found, wanted):
        return True
    shapes = [ast.ShapeStructInfo(tuple(dims), len(dims)) for dims in (found, wanted)]
    return _fits(shapes[0], shapes[1], names, attempt)


def _dimension(given: object) -> PrimExpr:
    found = values.scalar(given, here())
    if not tir.type_of(found).is_integer:
        raise PatternError(f"no tensor matches: a dimension is {found} of {tir.type_of(found)}")
    if isinstance(found, tir.IntImm) and found.value < 0:
        raise PatternError(f"no tensor matches: a dimension is {found.value}")
    return found


class StructInfoPattern(Constrained):
    """A value of a certain kind.

    Attributes
    ----------
    struct_info
        What its struct info is at least.
    """

    def __init__(self, pattern: Pattern, struct_info: StructInfo | str) -> None:
        super().__init__(pattern)
        self.struct_info = values.struct_info(struct_info)
        given = isinstance(struct_info, str)
        self._open = frozenset(free_shape_vars(self.struct_info) if given else ())

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        info = attempt.around.info(expr)
        return info is not None and _fits(info, self.struct_info, self._open, attempt)


def _fits(
    found: StructInfo, wanted: StructInfo, names: Collection[tir.Var], attempt: Attempt
) -> bool:
    """Whether a value of one info is certainly one of the other, in which some shape variables
    match any dimension.
    """
    prover = attempt.around.prover
    if names:
        images = bind((wanted,), (found,), frozenset(names), prover).mapping
        if any(name not in images for name in names):
            return False
        wanted = substitute(wanted, images)
    return subtype(found, wanted, prover).proved


class _Where(Constrained):
    def __init__(self, pattern: Pattern, condition: Callable[[Expr], bool]) -> None:
        super().__init__(pattern)
        if not callable(condition):
            raise MisuseError(f"expected a function, found {described(condition)}", here())
        self.condition = condition

    def holds(self, expr: Expr, attempt: Attempt) -> bool:
        return self.condition(attempt.looked_through(expr))


class PatternSeq(Pattern):
    """A chain of patterns: the value of each one is used by that of the next. It matches the first
    value.

    Parameters
    ----------
    patterns
        The patterns in order; ``chain[k]`` is one of them.
    only_use
        Whether each value is used by nothing else.
    """

    def __init__(self, patterns: Sequence[Pattern], only_use: bool = False) -> None:
        self.patterns = tuple(map(expected, listed(patterns, "patterns", object)))
        if not self.patterns:
            raise PatternError("nothing matches: the chain has no patterns")
        self._links: tuple[tuple[int | None, bool], ...] = ((None, only_use),) * (
            len(self.patterns) - 1
        )
        self.heads = self.patterns[0].heads
        if len(self.patterns) > 1:
            self.record()

    def __getitem__(self, index: int) -> Pattern:
        return self.patterns[index]

    def __len__(self) -> int:
        return len(self.patterns)

    def used_by(self, other: Pattern, index: int | None = None) -> PatternSeq:
        """Extend the chain: a value of the other pattern, or of a chain's first one, uses the last
        value.
        """
        return self._then(other, index, False)

    def only_used_by(self, other: Pattern, index: int | None = None) -> PatternSeq:
        """Extend the chain: only values of the other pattern use the last value."""
        return self._then(other, index, True)

    def _then(self, user: Pattern, index: int | None, only: bool) -> PatternSeq:
        if index is not None:
            natural(index, "the index of an argument")
        expected(user)
        others, links = (
            (user.patterns, user._links) if isinstance(user, PatternSeq) else ((user,), ())
        )
        made = PatternSeq([self.patterns[0]])
        made.patterns = (*self.patterns, *others)
        made._links = (*self._links, (index, only), *links)
        made.record()
        return made

    def record(self) -> None:
        """Tell the current context which pattern uses which."""
        if CONTEXTS:
            pairs = zip(self.patterns, self.patterns[1:], self._links, strict=False)
            for producer, consumer, (index, only) in pairs:
                CONTEXTS[-1].link(producer, consumer, index, only)

    def matches(self, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self._from(0, expr, attempt):
            yield from attempt.standing(self, expr)

    def _from(self, at: int, expr: Expr, attempt: Attempt) -> Iterator[None]:
        for _ in self.patterns[at].matches(expr, attempt):
            if at == len(self._links):
                yield
            elif isinstance(expr, ast.Var):
                yield from self._used(at, expr, attempt)

    def _used(self, at: int, var: ast.Var, attempt: Attempt) -> Iterator[None]:
        index, only = self._links[at]
        users = attempt.around.users(var)
        fitting = [u for u, value in users if u is not None and stands_at(var, value, index)]
        if only:
            if not users or len(fitting) < len(users):
                return
            following = self.patterns[at + 1]
            first, *rest = fitting
            if all(any(True for _ in following.matches(user, attempt)) for user in rest):
                yield from self._from(at + 1, first, attempt)
            return
        for user in fitting:
            yield from self._from(at + 1, user, attempt)

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.patterns))


class SameShapeConstraint:
    """In the current :class:`PatternContext`, the tensors of several patterns have the same shape.

    Attributes
    ----------
    args
        The patterns.
    """

    def __init__(self, *args: Pattern) -> None:
        self.args = tuple(expected(each) for each in args)
        if not CONTEXTS:
            raise PatternError("equal shapes can be required only in a `with PatternContext()`")
        CONTEXTS[-1].same_shapes.append(self)

    def holds(self, attempt: Attempt) -> bool:
        """Whether the values that are matched so far have the same shape."""
        infos = [attempt.around.info(e) for p in self.args if (e := attempt.found.get(p))]
        shapes = [dimensions(i) if isinstance(i, TensorStructInfo) else None for i in infos]
        if not shapes:
            return True
        first, *rest = shapes
        return first is not None and all(
            other is not None and same_dimensions(other, first, (), attempt) for other in rest
        )


def stands_at(var: ast.Var, value: Expr, index: int | None) -> bool:
    """Whether a variable is the operand with this index in a call, or any if it is None. For calls
    of PrimFuncs, the arguments of the PrimFunc count.
    """
    if index is None:
        return True
    args = operands(value) if isinstance(value, ast.Call) else ()
    if args and isinstance(args[-1], ast.Tuple) and "call_" in getattr(value, "op_name", ""):
        args = args[-1].fields
    return index < len(args) and args[index] is var


C = TypeVar("C", bound=Constrained)


def _constraints(pattern: Pattern, kind: type[C]) -> Iterator[C]:
    """The conditions of one kind around a pattern."""
    while isinstance(pattern, Constrained):
        if isinstance(pattern, kind):
            yield pattern
        pattern = pattern.pattern


def expected(pattern: object) -> Pattern:
    """The value if it is a pattern; otherwise an error. Raises MisuseError if it is not a pattern."""
    if not isinstance(pattern, Pattern):
        raise MisuseError(
            f"expected a pattern, such as wildcard(), found {described(pattern)}", here()
        )
    return pattern
