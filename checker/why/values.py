"""Arguments and results of a rule, in the short form of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlx.checker.derive import message_text
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record, fields, tuple_text
from rlx.grammar.print.show import show
from rlx.solver.verdict import Proved, Refuted, Relation, Unknown, Verdict

LENGTH = 160
"""Characters of one value that are shown."""

_PLACES = frozenset(
    ["at", "best", "i", "index", "j", "names", "number", "path", "premise", "span", "what", "word"]
)
"""Arguments of rules that say where something stands or how to speak of it, not what it is."""

_SHOWN = ast.StructInfo | ast.Expr | ast.VDevice | tir.PrimExpr


def argument_texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The arguments of a rule that are values of the program, by parameter."""
    for name, value in arguments.items():
        if name in _PLACES or name.startswith("_"):
            continue
        text = value_text(value)
        if text:
            yield name, text
        elif isinstance(value, Record):  # several values, handed over together
            parts = ((n, part) for n, part in fields(value) if n not in arguments)
            yield from ((n, value_text(part)) for n, part in parts if isinstance(part, _SHOWN))
        elif name != "self" and isinstance(getattr(value, "binding", None), dict):
            yield "binding", images_text(value.binding)


def images_text(images: Mapping[Any, Any]) -> str:
    """The images of variables: ``n := 4, m := k``."""
    pairs = (f"{show(var)} := {value_text(image)}" for var, image in images.items())
    return shortened(", ".join(pairs)) or "nothing"


def value_text(value: object) -> str:
    """A value of the program in short form; nothing where it is none."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float() | DataType():
            return str(value)
        case str():
            return shortened(value)
    if isinstance(value, _SHOWN):
        return shortened(show(value))
    if isinstance(value, tuple | list) and all(
        isinstance(v, _SHOWN | DataType | int) for v in value
    ):
        texts = [show(v) if isinstance(v, _SHOWN) else str(v) for v in value]
        return shortened(tuple_text(texts))
    return ""


def result_text(value: object) -> str:
    """The result of a rule, if it is a value of the program."""
    return "" if isinstance(value, bool | int | float | str) else value_text(value)


def shortened(text: str, length: int = LENGTH) -> str:
    """A text with its middle left out if it is long."""
    if len(text) <= length:
        return text
    half = (length - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


# ---------------------------------------------------------------- questions


def question_text(method: str, arguments: Mapping[str, Any]) -> str:
    """The question that the prover was asked."""
    match method:
        case "equal":
            return f"{show(arguments['a'])} == {show(arguments['b'])}"
        case "relate_all":
            pairs = [_equation(a, b) for a, b in arguments["pairs"]]
            return shortened(" and ".join(dict.fromkeys(pairs)) or "nothing")
        case "never":
            return f"never {show(arguments['condition'])}"
    return show(arguments["condition"])


def _equation(a: tir.PrimExpr, b: tir.PrimExpr) -> str:
    """Two sides of a comparison; a condition alone where the other side is true."""
    is_true = isinstance(b, tir.IntImm) and b.value == 1 and b.dtype.code == "bool"
    return show(a) if is_true else f"{show(a)} == {show(b)}"


def verdict_of(answer: object) -> str:
    """``"proved"``, ``"refuted"`` or ``"unknown"``."""
    match answer:
        case Verdict():
            return answer.status
        case Relation(kind="always"):
            return "proved"
        case Relation(kind="never" | "sometimes"):
            return "refuted"
    return "unknown"


def reasons(answer: object) -> tuple[str, ...]:
    """Why the prover answered that."""
    match answer:
        case Proved(means=means, divisors=divisors):
            needed = tuple(f"{show(d)} is not 0" for d in divisors)
            return (f"by {means}", *needed)
        case Refuted(example=example):
            return (_for(example),)
        case Unknown(reason=reason):
            return (reason,)
        case Relation():
            return _of_relation(answer)
    return ()


def _of_relation(answer: Relation) -> tuple[str, ...]:
    found: list[str] = []
    if answer.kind == "never":
        found.append("false if all sizes are at least 1")
    elif answer.counterexample is not None:
        found.append(_for(answer.counterexample))
    if answer.kind == "sometimes" and answer.witness:
        found.append(f"true for {message_text.values(answer.witness)}")
    if answer.assumption is not None:
        found.append(f"it would hold if {show(answer.assumption)}")
    if answer.zero_saves:
        found.append("it may hold if a size is 0")
    if answer.reason:
        found.append(answer.reason)
    return tuple(found)


def _for(example: Mapping[str, int]) -> str:
    return f"false for {message_text.values(example)}" if example else "false for all sizes"
