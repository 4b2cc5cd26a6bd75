"""Declarations of operators, and their lookup by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rlx.grammar.nodes.ast import Call, StructInfo
from rlx.grammar.suggest import LIMIT
from rlx.operators.binding import Reader, plan
from rlx.operators.context import OperatorContext
from rlx.operators.derived_dimensions import shortened
from rlx.operators.operator_call import OperatorCall, Violation
from rlx.operators.parameters import OperatorSignature
from rlx.spec.registry import need

if TYPE_CHECKING:
    from rlx.operators.evaluation import Evaluation, Plain


_found: dict[str, Operator | None] = {}
allowed: list[str] = []
"""Patterns of the operators that are known without a declaration; see :func:`allow`."""
_BUILDER = """
    emit emit_te emit_match_cast emit_var_binding emit_with_sinfo emit_with_ty emit_with_type arg func_name
    func_ret_struct_info func_ret_ty func_ret_type func_ret_value If Then Else SeqExpr TupleGetItem rewriter
    dist.call_tir dist.const dist.device_mesh cpu cuda rocm metal opencl vulkan vpi hexagon webgpu ext_dev
"""
_SCRIPT_FUNCTIONS = frozenset(_BUILDER.split())
"""Functions of the script's builder, which texts may call and which are not operators."""


@cache
def _texts() -> Mapping[str, str]:
    """The texts of the files that declare operators, by the names of their modules.

    The full name of an operator stands in the file that declares it, so that a lookup imports
    hardly any other one.
    """
    paths = sorted(Path(__file__).parent.glob("[!_]*.py"))
    found = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    return {module: text for module, text in found.items() if "operator(" in text}


@cache
def families() -> Mapping[str, list[str]]:
    """The names of all operators of Relax, without the leading ``relax.``, by the module that
    declares them. All of these modules are imported.
    """
    for module in _texts():
        import_module(f"{__package__}.{module}")
    found: dict[str, list[str]] = {}
    for name, operator in sorted(declared.items()):
        package, _, family = operator.rule.__module__.rpartition(".")
        if package == __package__:
            found.setdefault(family, []).append(name.removeprefix("relax."))
    return dict(sorted(found.items()))


def every_name() -> list[str]:
    """The names of all operators of Relax, without the leading ``relax.``."""
    return [name for names in families().values() for name in names]


def is_prefix(prefix: str) -> bool:
    """Whether names of operators of Relax begin with this prefix (``relax.nn.``)."""
    return any(f'"{prefix}' in text for text in _texts().values())


def lookup(name: str) -> Operator | None:
    """The operator with this full name (``relax.nn.relu``), or None."""
    try:
        return _found[name]
    except KeyError:
        found = _found[name] = _import(name)
        return found


def _import(name: str) -> Operator | None:
    if name not in declared:
        written = re.compile(rf"\b{re.escape(name)}(?![\w.])")
        for module, text in _texts().items():
            if name in text and written.search(text):
                import_module(f"{__package__}.{module}")
    return declared.get(name)


def is_known(name: str) -> bool:
    """Whether calls of an undeclared operator are legal: the parser's own functions, and allowed
    operators.
    """
    from fnmatch import fnmatchcase

    short = name.removeprefix("relax.")
    return short in _SCRIPT_FUNCTIONS or any(fnmatchcase(short, each) for each in allowed)


class RuleError(TypeError):
    """The rule of an operator does not return struct info.

    Attributes
    ----------
    line
        The location of the rule, ``file:line``.
    """

    def __init__(self, rule: Rule, found: object) -> None:
        code = getattr(rule, "__code__", None)
        self.line = f"{code.co_filename}:{code.co_firstlineno}" if code else "?"
        words = f"the rule yields {type(found).__name__} {found!r:.40}"
        super().__init__(f"{words}, expected struct info ({self.line})")


def is_built_in(name: str) -> bool:
    """Whether Relax has an operator with this full name."""
    operator = lookup(name)
    return operator is not None and operator.rule.__module__.rpartition(".")[0] == __package__


def forget(name: str) -> None:
    """Forget the lookup of an operator, because it is about to be declared."""
    _found.pop(name, None)
    _suggestible.cache_clear()
    similar.cache_clear()


def allow(pattern: str) -> None:
    """Allow calls of undeclared operators whose name (without ``relax.``) matches a pattern such as
    ``my.*``.
    """
    short = pattern.removeprefix("relax.").removeprefix("R.")
    if short not in allowed:
        allowed.append(short)


class _Suggestible:
    """The names that may be meant by an unknown one, without ``R.``, and by their last parts."""

    def __init__(self) -> None:
        from rlx.grammar.read.forms import FORMS
        from rlx.grammar.read.prototype import PROTOTYPE_OPERATORS

        families()
        forms = (head[2:] for head in FORMS if head.startswith("R.") and head[2].islower())
        names = (head.removeprefix("relax.") for head in declared)
        self.words = tuple(dict.fromkeys((*names, *forms, *PROTOTYPE_OPERATORS)))
        self.by_last: dict[str, list[str]] = {}
        for word in self.words:
            self.by_last.setdefault(word.rpartition(".")[2], []).append(word)


_suggestible = cache(_Suggestible)


@lru_cache(1_000)
def similar(name: str) -> tuple[str, ...]:
    """The names in texts that are similar to an unknown operator's name, best first."""
    from rlx.grammar.suggest import closest, distance
    from rlx.operators.foreign_names import own_name

    short = name.removeprefix("relax.")
    known = _suggestible()
    foreign = own_name(short)
    if foreign is not None:
        near = [word for word in closest(short, known.words) if word != foreign]
        return (
            f"R.{foreign}",
            *(f"R.{word}" for word in near if distance(short, word, 1) is not None),
        )
    last = short.rpartition(".")[2]
    found = known.by_last.get(last) or closest(short, known.words)
    if not found:
        found = [word for near in closest(last, known.by_last) for word in known.by_last[near]]
    return tuple(f"R.{word}" for word in found[:LIMIT])


Rule = Callable[..., StructInfo]
R = TypeVar("R", bound=Rule)
Normalizer = Callable[[Call], Call | None]
Compute = Callable[..., Any]
"""Computes a call from the plain values of its parameters (:mod:`rlx.operators.evaluation`)."""
C = TypeVar("C", bound=Compute)
Definition = Callable[..., Any]
"""Defines a call as a tensor expression: called with the derived result (a
:class:`rlx.operators.exprs.Result`, or a tuple of them) and a value for each parameter (tensors of
tensor expressions, tuples of scalars for shapes, numbers, texts, data types); returns a tensor or a
tuple.
"""

Sharing = Literal["never", "perhaps", "surely"]
"""Whether the result of an operator lies in the memory of its first operand."""

_LOWERED = ("relax.builtin.", "relax.memory.", "relax.vm.")

declared: dict[str, Operator] = {}
"""The operators of the families imported so far."""
_values: dict[str, Compute] = {}
_definitions: dict[str, Definition] = {}


class Operator(OperatorSignature):
    """A built-in or user-defined operator.

    Attributes
    ----------
    pure
        Whether a call of it has no visible effect.
    calls
        Patterns of legal calls, from which programs are generated; empty if they follow from the
        signature.
    broken
        Patterns of calls that break one premise each.
    kept
        The reason why no call of it is compiled to loops; empty if it does not need one.
    shares
        Whether its result lies in the memory of its first operand: for ``"perhaps"``, a compiler
        may choose to copy.
    """

    __slots__ = (
        *("_compute", "_is_flat", "_normalizer", "_plans", "_takes_types"),
        *("broken", "calls", "kept", "pure", "shares"),
    )

    def __init__(
        self,
        name: str,
        rule: Rule,
        *,
        pure: bool,
        calls: str,
        broken: str,
        kept: str,
        shares: Sharing,
        compute: Compute | None,
        normalizer: Normalizer | None,
        defaults: Mapping[str, object],
    ) -> None:
        super().__init__(name, rule, defaults)
        self.pure, self.calls, self.broken, self.kept = pure, calls, broken, kept
        self.shares = shares
        self._compute, self._normalizer = compute, normalizer
        self._plans: dict[object, tuple[Reader, ...]] = {}
        # TVM's passes leave type arguments on the allocations that they make.
        typed = any(p.kind == "types" for p in self.parameters)
        self._takes_types = typed or name.startswith(_LOWERED)
        self._is_flat = not any(p.variadic or p.receiver for p in self.parameters)

    def __repr__(self) -> str:
        return f"Operator({self.name!r}, {', '.join(p.name for p in self.parameters)})"

    def derive(self, call: Call, ctx: OperatorContext) -> StructInfo:
        """The struct info of a call.

        The rule reports errors to the context, at most one per mistake; the result is then what is
        still certain.
        """
        site = OperatorCall(self, call, ctx)
        attrs = call.attrs
        shape = (len(call.args), *attrs) if attrs else len(call.args)
        try:
            if call.sinfo_args and not self._takes_types:
                site.fail(
                    "D14-argument", "takes no type arguments: the operands determine its result"
                )
            readers = self._plans.get(shape)
            if readers is None:
                readers = self._plans[shape] = plan(site)
            values = [read(site) for read in readers]
            need("D14-arity", True)
            need("D14-argument", True)
            result = self.rule(site, *values) if self._is_flat else self._apply(site, values)
            if not isinstance(result, StructInfo):
                raise RuleError(self.rule, result)
            if not self._takes_types:  # else its dimensions are written in the call
                result = shortened(result, ctx)
        except Violation as violation:
            if violation.code is not None:
                words = f"{site.name}: {violation.message}"
                ctx.report(violation.code, "error", words, violation.at, **violation.extra)
            return violation.best
        return result

    def _apply(self, site: OperatorCall, values: Sequence[object]) -> StructInfo:
        """Apply the rule to the values of the parameters; it takes some by name, or one by one."""
        plain: list[object] = []
        named: dict[str, object] = {}
        for parameter, value in zip(self.parameters, values, strict=True):
            if parameter.receiver:
                named[parameter.receiver] = value
            elif parameter.variadic:
                assert isinstance(value, tuple)
                plain.extend(value)
            else:
                plain.append(value)
        return self.rule(site, *plain, **named)

    @property
    def compute(self) -> Compute | None:
        """The function that computes the operator with NumPy, None if there is none."""
        return self._compute or _values.get(self.name)

    @property
    def definition(self) -> Definition | None:
        """The operator as a tensor expression, None if there is none."""
        return _definitions.get(self.name)

    @property
    def reason(self) -> str:
        """The reason why calls of an operator without a definition are not compiled to loops."""
        if self.kept:
            return self.kept
        return "it has no definition as a tensor expression" if self.pure else "it has an effect"

    def evaluate(self, call: Call, args: Sequence[Plain], run: Evaluation) -> Plain:
        """The value of a call.

        Parameters
        ----------
        args
            The values of the positional arguments; plain values are those of
            :mod:`rlx.operators.evaluation`.
        run
            Queries on the run.

        Returns
        -------
        Plain
            New arrays; for an operator whose result surely lies in the memory of its operand, that
            operand or a view of it.

        Raises
        ------
        OperatorFault
            If the operator has no value for these.
        """
        import numpy as np

        from rlx.operators.evaluation import arguments, unshared

        compute = self.compute
        assert compute is not None, f"{self.name} cannot be evaluated"
        values = arguments(self, call, args, run)
        # Infinities and NaN are values, whatever makes them.
        with np.errstate(all="ignore"):
            result = compute(*values)
        return result if self.shares == "surely" else unshared(result, args)

    @property
    def has_form(self) -> bool:
        """Whether the operator prescribes a form for its calls (NF5, WF23)."""
        return self._normalizer is not None

    def normalize(self, call: Call) -> Call | None:
        """The call in the form that this operator prescribes (NF5, WF23).

        Returns
        -------
        Call or None
            None if the call already has this form, or the operator prescribes none.
        """
        return None if self._normalizer is None else self._normalizer(call)


def operator(
    name: str,
    *,
    pure: bool = True,
    calls: str = "",
    broken: str = "",
    kept: str = "",
    shares: Sharing = "never",
    compute: Compute | None = None,
    normalizer: Normalizer | None = None,
    **defaults: object,
) -> Callable[[R], R]:
    """Declare an operator by its rule, whose signature has the parameters; see
    :mod:`rlx.operators.parameters`.

    Parameters
    ----------
    name
        The full name.
    pure
        Whether a call of it has no visible effect.
    calls
        Patterns of legal calls, one per line, the simplest first
        (:mod:`rlx.generate.calls.pattern`). May be omitted if they follow from the signature. The
        rule decides which alternatives are compatible.
    broken
        Patterns of calls that break one premise, each on a line behind the premise's code and a
        colon.
    kept
        The reason why no call of it is compiled to loops, if it follows from nothing else.
    shares
        Whether the result lies in the memory of the first operand.
    compute
        The function that computes it; the same as :func:`computes` says.
    normalizer
        The form that calls must have; see :meth:`Operator.normalize`.
    **defaults
        Defaults of this operator's parameters, if they differ from those of other operators with
        the same rule.
    """

    def declare(rule: R) -> R:
        declared[name] = Operator(
            name,
            rule,
            pure=pure,
            calls=calls,
            broken=broken,
            kept=kept,
            shares=shares,
            compute=compute,
            normalizer=normalizer,
            defaults=defaults,
        )
        return rule

    return declare


def computes(*names: str) -> Callable[[C], C]:
    """Declare that a function computes the operators with these full names."""

    def declare(function: C) -> C:
        _values.update(dict.fromkeys(names, function))
        return function

    return declare


def defines(*names: str) -> Callable[[C], C]:
    """Declare that a function defines the operators with these full names as tensor expressions."""

    def declare(function: C) -> C:
        _definitions.update(dict.fromkeys(names, function))
        return function

    return declare
