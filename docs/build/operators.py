"""The pages of operators, made from their declarations: signature, rule, obligations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

from rlx.operators.argument_kinds import KINDS
from rlx.operators.parameters import Parameter
from rlx.operators.reference import described
from rlx.operators.registry import Operator, every_name, families, lookup
from rlx.spec import premise_rule, rules

INDEX = """# Operators

Every operator of Relax that rlx knows: {count} of them. Each page is made from the declarations: the signature, what the rule says, and the
proof obligations that a call gives. A call is an error where an obligation fails for all sizes, a warning where it can fail, a note where that
is undecided.

| family | operators |
|---|---|
"""

_CODE = re.compile(r"OBL-[a-z][\w-]*")


def pages() -> dict[str, str]:
    """The pages by their addresses."""
    found: dict[str, str] = {}
    index = INDEX.format(count=len(every_name()))
    for family, names in sorted(families().items()):
        title = family.replace("_", " ").capitalize()
        sections = [_section(name) for name in sorted(names)]
        found[f"reference/operators/{family}.md"] = f"# Operators: {title.lower()}\n\n" + "\n".join(
            sections
        )
        listed = ", ".join(f"[{name}]({family}.md#{_anchor(name)})" for name in sorted(names))
        index += f"| [{title}]({family}.md) | {listed} |\n"
    found["reference/operators/index.md"] = index
    return found


def _anchor(name: str) -> str:
    """The anchor of an operator's heading."""
    return re.sub(r"[^\w-]", "", f"r{name}".lower())


def _section(name: str) -> str:
    operator = lookup(f"relax.{name}")
    lines = described(name)
    assert operator is not None and lines is not None
    parts = [f"## R.{name} {{ #{_anchor(name)} }}", f"```text\n{lines[0]}\n```"]
    parts.append(inspect.cleandoc(operator.rule.__doc__ or "").partition("\n\n")[0])
    if operator.parameters:
        rows = [f"| `{p.name}` | {_takes(p)} |" for p in operator.parameters]
        parts.append("\n".join(["| parameter | takes |", "|---|---|", *rows]))
    parts.append(lines[-1])
    asked = sorted(obligations(operator))
    if asked:
        parts.append("Obligations:\n\n" + "\n".join(map(_obligation, asked)))
    return "\n\n".join(parts) + "\n"


def _takes(parameter: Parameter) -> str:
    words = KINDS[parameter.kind].words
    words = f"any number of arguments, each {words}" if parameter.variadic else words
    return f"{words} or null" if parameter.optional else words


def _obligation(code: str) -> str:
    rule = premise_rule(code)
    assert rule is not None
    page = f"../codes/{rule.page}.md#{code.lower()}"
    return f"- [`{code}`]({page}): {rule.premises[code]}"


def obligations(operator: Operator) -> set[str]:
    """The codes that a call of an operator can be given: those that its rule names, or a function
    of the room that it calls.
    """
    known = {code for rule in rules().values() for code in rule.premises}
    found = {
        c for f in _called(operator.rule) for c in _constants(f.__code__) if _CODE.fullmatch(c)
    }
    return found & known


def _called(first: object) -> Iterator[FunctionType]:
    """A function and those of the room that it can reach by name."""
    seen: set[int] = set()
    pending = [first]
    while pending:
        function = inspect.unwrap(pending.pop())  # type: ignore[arg-type]
        if not isinstance(function, FunctionType) or id(function) in seen:
            continue
        seen.add(id(function))
        yield function
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            inner = vars(value).values() if isinstance(value, ModuleType) else (value,)
            pending += [
                v for v in inner if getattr(v, "__module__", "").startswith(_HOME) and callable(v)
            ]
        pending += [
            cell.cell_contents
            for cell in function.__closure__ or ()
            if callable(cell.cell_contents)
        ]


_HOME = "rlx.operators."


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _constants(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _constants(constant)
        elif isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from (c for c in constant if isinstance(c, str))
