"""The reference of the operators, generated from their declarations.

``python -m rlx.operators.reference FILE`` writes a page of all operators; `rlx explain R.concat`
shows one.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from rlx.grammar.command_line import CommandParser
from rlx.operators.argument_kinds import KINDS
from rlx.operators.parameters import Parameter
from rlx.operators.registry import Operator, families, lookup
from rlx.spec import rules
from rlx.writing import make_folder, write

_CODE = re.compile(r"OBL-[a-z][\w-]*")

_HEAD = """# Operators

Every operator of Relax that rlx knows, by the file that declares it. A parameter says what it takes, whether null is a value,
and its default. Defaults of attributes may be left out.
"""


def described(name: str) -> list[str] | None:
    """An operator by its name (``concat``, ``R.concat`` or ``relax.concat``) in lines of text; None
    if there is none.
    """
    short = name.removeprefix("R.").removeprefix("relax.")
    operator = lookup(f"relax.{short}")
    if operator is None:
        return None
    parameters = operator.parameters
    lines = [
        f"R.{short}({', '.join(p.written for p in parameters)})",
        "",
        summary(operator.rule),
        "",
    ]
    width = max((len(p.name) for p in parameters), default=0)
    lines += [f"  {p.name:<{width}}  {_words(p)}" for p in parameters]
    effects = "A call of it has no effects." if operator.pure else "A call of it has effects."
    evaluated = " NumPy computes it." if operator.compute is not None else ""
    return [*lines, *([""] if parameters else []), effects + evaluated]


def page() -> str:
    """All operators as a page of Markdown."""
    parts = [_HEAD]
    for family, names in sorted(families().items()):
        parts.append(f"## {family.replace('_', ' ').capitalize()}\n")
        for name in names:
            found = described(name)
            assert found is not None
            parts.append(f"### {name}\n\n```text\n" + "\n".join(found) + "\n```\n")
    return "\n".join(parts)


def _words(parameter: Parameter) -> str:
    words = KINDS[parameter.kind].words
    if parameter.variadic:
        words = f"any number of arguments, each {words}"
    return f"{words} or null" if parameter.optional else words


def summary(rule: object) -> str:
    """The first paragraph of the rule's docstring in one line."""
    return " ".join((rule.__doc__ or "").strip().partition("\n\n")[0].split())


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


def main(argv: Sequence[str]) -> int:
    """Write the page."""
    parser = CommandParser(
        prog="python -m rlx.operators.reference", description="Write a page of all operators."
    )
    parser.add_argument("file", metavar="FILE", help="the page, in Markdown")
    target = Path(parser.parse_args(argv).file)
    try:
        make_folder(target.parent)
        write(target, page())
    except OSError as error:
        parser.error(f"{target}: {error.strerror or error}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
