"""The pages of operators, made from their declarations: signature, rule, obligations."""

from __future__ import annotations

import inspect
import re

from rlx.operators.argument_kinds import KINDS
from rlx.operators.parameters import Parameter
from rlx.operators.reference import described, obligations
from rlx.operators.registry import every_name, families, lookup
from rlx.spec import premise_rule

INDEX = """# Operators

Every operator of Relax that rlx knows: {count} of them. Each page is made from the declarations: the signature, what the rule says, and the
proof obligations that a call gives. A call is an error where an obligation fails for all sizes, a warning where it can fail, a note where that
is undecided.

| family | operators |
|---|---|
"""


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
