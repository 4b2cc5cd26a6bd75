"""The parameters of an operator, and how the signature in its declaration is read.

A signature is written ``"data, axis: int = -1, dtype: dtype? = None"``: a name, the kind of value (a tensor
where none is given), ``?`` where null is allowed, and a default. ``*values: expr`` takes the positional rest.
"""

from __future__ import annotations

from ast import literal_eval

from rlx.grammar.node import Record


class Required:
    """The default of a parameter that has none."""


REQUIRED = Required()


class Parameter(Record):
    """A parameter of an operator.

    Attributes
    ----------
    name
        As keyword arguments spell it.
    kind
        What the rule receives: a key of :data:`rlx.operators.kinds.KINDS`.
    optional
        Whether null (``None``, ``R.null_value()``, an empty tuple) is a value.
    default
        What an omitted argument stands for; ``REQUIRED`` if it may not be omitted.
    variadic
        Whether it takes all further positional arguments.
    """

    name: str
    kind: str
    optional: bool = False
    default: object = REQUIRED
    variadic: bool = False


def parameters(signature: str) -> tuple[Parameter, ...]:
    """Read a signature.

    Raises
    ------
    ValueError
        If a default is not a literal.
    """
    return tuple(_parameter(text) for text in signature.split(", ")) if signature else ()


def _parameter(text: str) -> Parameter:
    head, has_default, default = text.partition(" = ")
    name, _, kind = head.partition(": ")
    kind = kind or "tensor"
    return Parameter(
        name.lstrip("*"),
        kind.rstrip("?"),
        kind.endswith("?"),
        literal_eval(default) if has_default else REQUIRED,
        name.startswith("*"),
    )
