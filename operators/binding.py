"""Binding of arguments to parameters: by position, by keyword, by default.

The binding depends only on the number of positional arguments and on the keywords. The operator
caches one plan for each such combination.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Literal

from rlx.grammar.dialects import TYPE_KEYWORDS
from rlx.grammar.nodes.ast import Call, Op, Var
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.suggest import closest
from rlx.operators.argument_kinds import KINDS, NULL, Convert, null
from rlx.operators.foreign_names import own_parameters
from rlx.operators.operator_call import OperatorCall, Violation
from rlx.operators.parameters import REQUIRED, Parameter


def similar_parameters(
    keyword: str, parameters: Sequence[Parameter], positional: int, given: Collection[str]
) -> list[str]:
    """The parameters similar to an unknown keyword: those with this name in other libraries, or
    with a similar spelling.

    Parameters
    ----------
    positional, given
        The number of parameters given by position, and the keywords; these parameters are not
        suggested.
    """
    open_names = [
        p.name for p in parameters[positional:] if p.name not in given and p.kind != "types"
    ]
    if any(p.kind == "types" for p in parameters):
        open_names += TYPE_KEYWORDS
    spelled = closest(keyword, open_names)
    if spelled and len(keyword) > 2:
        return spelled
    others = own_parameters(keyword)
    named = [name for name in open_names if name in others]
    return named or spelled


Reader = Callable[["OperatorCall"], Any]


def plan(site: OperatorCall) -> tuple[Reader, ...]:
    """The plan that reads the value of each parameter from calls with the same arguments as this
    one.

    Raises
    ------
    Violation
        ``D14-arity``: too many arguments, or a missing one. ``D14-argument``: an unknown keyword.
    """
    parameters, call = site.operator.parameters, site.call
    given = len(call.args)
    variadic = any(p.variadic for p in parameters)
    if given > len(parameters) and not variadic:
        message = (
            f"takes {_count(len(parameters))}, but {given} {'is' if given == 1 else 'are'} given"
        )
        raise Violation("D14-arity", message, len(parameters), OBJECT, _form(site))
    names = {p.name for p in parameters if not p.variadic or p.kind == "listed"}
    unknown = [keyword for keyword in call.attrs if keyword not in names]
    for keyword in unknown[:-1]:
        message, extra = _unknown_keyword(site, keyword)
        site.ctx.report("D14-argument", "error", f"{site.name}: {message}", keyword, **extra)
    for keyword in unknown[-1:]:
        message, extra = _unknown_keyword(site, keyword)
        raise Violation("D14-argument", message, keyword, OBJECT, extra)
    return tuple(_readers(site))


def _unknown_keyword(site: OperatorCall, keyword: str) -> tuple[str, dict[str, object]]:
    """The message for an unknown keyword, and the parameter that was meant, or all there are."""
    from rlx.grammar.diagnostic import Edit
    from rlx.grammar.suggest import did_you_mean
    from rlx.operators.binding import similar_parameters

    parameters, call = site.operator.parameters, site.call
    message = f"has no parameter named {keyword!r}"
    extra: dict[str, object] = {}
    words = similar_parameters(keyword, parameters, len(call.args), call.attrs)
    if words:
        extra["help"] = did_you_mean(words)
        if keyword in call.attr_spans:
            extra["edit"] = Edit(call.attr_spans[keyword][0], words[0])
    else:
        known = [p.name for p in parameters if p.kind != "types"]
        message += f"; its parameters are {', '.join(known)}" if known else "; it takes none"
    return message, extra


def _readers(site: OperatorCall) -> Iterator[Reader]:
    call = site.call
    for match in matched(site.operator.parameters, len(call.args), call.attrs):
        parameter, index = match.parameter, match.index
        convert = KINDS[parameter.kind].checked
        if match.source == "types":
            if match.twice:
                site.fail("D14-arity", f"there is an extra argument for {parameter.name}", index)
            yield lambda at: at.call.sinfo_args
        elif match.source == "rest":
            yield _rest(convert, parameter, index)
        elif match.source == "positional":
            if match.twice:
                message = f"{parameter.name} is given twice, by position and by keyword"
                help = {"help": "remove one of them"}
                first = site.operator.parameters[0]
                if first.kind == "tensors":
                    help = {"help": f"pass the tensors as one tuple: R.{site.name}((x, y), …)"}
                raise Violation("D14-arity", message, parameter.name, OBJECT, help)
            yield _positional(convert, parameter, index)
        elif match.source == "keyword":
            yield _keyword(convert, parameter, index)
        elif match.source == "default":
            yield _default(site, convert, parameter, index)
        else:
            message = f"the argument for {parameter.name} is missing"
            raise Violation("D14-arity", message, None, OBJECT, _form(site))


def _form(site: OperatorCall) -> dict[str, object]:
    """The signature of the operator, as help."""
    parameters = site.operator.parameters
    written = ", ".join(p.written for p in parameters)
    return {"help": f"write R.{site.name}({written})"}


def _spelled(site: OperatorCall, parameter: Parameter, index: int, at: int | str) -> None:
    """An argument is null only where it may be, and an attribute stands in no box."""
    word = site.call.spelled.get(at)
    if word is None or word in ("number", "typed"):
        return
    name = parameter.name
    if word == "[None]" or (
        word == "None" and not (parameter.optional or parameter.kind == "listed")
    ):
        words = f"{name} contains None" if word == "[None]" else f"{name} is None"
        site.fail("D14-argument", f"{words}, which is not a value", index)
    if word == "R.null_value" and parameter.optional and not KINDS[parameter.kind].plain:
        site.warn("D14-argument", f"{name} is R.null_value(): TVM expects None here", index)
    elif word != "None" and KINDS[parameter.kind].plain:
        words = f"{name} is an attribute, but is given as {word}(…)"
        site.fail("D14-argument", f"{words}: write {KINDS[parameter.kind].words} instead", index)


_NULL = "relax.null_value"


def _maybe_null(site: OperatorCall, value: object, index: int) -> None:
    """A variable of which nothing is known stands for null, and may be something else."""
    if not isinstance(value, Var) or site.ctx.info(value) is NULL or site.ctx.poisoned(value):
        return
    found = site.ctx.bound(value)  # null may be annotated as any value, and so TVM prints it
    if isinstance(found, Call) and isinstance(found.op, Op) and found.op.op_name == _NULL:
        return
    site.warn(
        "D14-argument",
        f"rlx assumes that {site.shown(index)} is null, because nothing else is known about it",
        index,
    )


def _positional(convert: Convert, parameter: Parameter, index: int) -> Reader:
    if not parameter.optional:

        def required(site: OperatorCall) -> Any:
            if site.call.spelled:
                _spelled(site, parameter, index, index)
            return convert(site, site.call.args[index], parameter, index)

        return required

    def read(site: OperatorCall) -> Any:
        value = site.call.args[index]
        if site.call.spelled:
            _spelled(site, parameter, index, index)
        if null(site, value, parameter.kind):
            _maybe_null(site, value, index)
            return None
        return convert(site, value, parameter, index)

    return read


def _keyword(convert: Convert, parameter: Parameter, index: int) -> Reader:
    name, optional = parameter.name, parameter.optional

    def read(site: OperatorCall) -> Any:
        value = site.call.attrs[name]
        if site.call.spelled:
            _spelled(site, parameter, index, name)
        if optional and null(site, value, parameter.kind):
            _maybe_null(site, value, index)
            return None
        return convert(site, value, parameter, index)

    return read


def _rest(convert: Convert, parameter: Parameter, index: int) -> Reader:
    def read(site: OperatorCall) -> Any:
        rest = list(enumerate(site.call.args[index:], index))
        if site.call.spelled:
            for number, _ in rest:
                _spelled(site, parameter, number, number)
        return tuple(convert(site, value, parameter, number) for number, value in rest)

    return read


def _default(site: OperatorCall, convert: Convert, parameter: Parameter, index: int) -> Reader:
    default = parameter.default
    value = None if default is None else convert(site, default, parameter, index)
    return lambda _: value


def _count(number: int) -> str:
    return f"{number or 'no'} argument{'s' if number != 1 else ''}"


Source = Literal["types", "rest", "positional", "keyword", "default", "missing"]


class ArgumentMatch(Record):
    """The source of a parameter's value.

    Attributes
    ----------
    parameter, index
        The parameter and its position.
    source
        ``"positional"``: the argument at this position; ``"rest"``: all arguments from this
        position on; ``"keyword"``: the argument with its name; ``"types"``: the type arguments;
        ``"default"``; ``"missing"``: there is none.
    twice
        Whether a keyword gives it another value.
    """

    parameter: Parameter
    index: int
    source: Source
    twice: bool = False


def matched(
    parameters: Sequence[Parameter], given: int, keywords: Collection[str]
) -> Iterator[ArgumentMatch]:
    """The source of each parameter's value, in the order of the parameters.

    Parameters
    ----------
    given
        The number of positional arguments; surplus arguments are ignored.
    keywords
        The names of the others.
    """
    for index, parameter in enumerate(parameters):
        named = parameter.name in keywords
        if parameter.kind == "types":
            yield ArgumentMatch(parameter, index, "types", index < given)
        elif parameter.variadic and not named:
            yield ArgumentMatch(parameter, index, "rest")
            given = index  # nothing positional is left for the parameters behind it
        elif index < given:
            yield ArgumentMatch(parameter, index, "positional", named)
        elif named:
            yield ArgumentMatch(parameter, index, "keyword")
        else:
            known = parameter.default is not REQUIRED
            yield ArgumentMatch(parameter, index, "default" if known else "missing")
