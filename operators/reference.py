"""The reference of the operators, generated from their declarations.

``python -m rlx.operators.reference FILE`` writes a page of all operators; `rlx explain R.concat`
shows one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rlx.grammar.command_line import CommandParser
from rlx.operators.argument_kinds import KINDS
from rlx.operators.parameters import Parameter
from rlx.operators.registry import families, lookup
from rlx.writing import make_folder, write

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
