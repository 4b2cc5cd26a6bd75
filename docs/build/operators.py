"""The pages of operators, made from their declarations: signature, rule, obligations."""

from __future__ import annotations

import inspect
import re

from docs.build.broken_calls import broken_calls
from rlx.generate.calls.written import legal_calls
from rlx.grammar.print.printer import show
from rlx.lsp.vocabulary import legal_call
from rlx.operators.argument_kinds import KINDS
from rlx.operators.parameters import Parameter
from rlx.operators.reference import described, obligations
from rlx.operators.registry import Operator, every_name, families, lookup
from rlx.spec import premise_rule

INDEX = """# Operators

Every operator of Relax that rlx knows: {count} of them. Each page is made from the declarations: the signature, what the rule says, the shape
of the result, a legal call, and the proof obligations that a call gives, each with a call that fails it. A call is an error where an obligation
fails for all sizes, a warning where it can fail, a note where that is undecided. Letters in shapes stand for any size.

| family | operators |
|---|---|
"""
MATCH_CAST = """
## R.match_cast

`y = R.match_cast(x, R.Tensor((m, 4), "float32"))` is not an operator but a binding: it checks at run time that a value has a type, and binds the
shape variables in it. Its rules are [D11](../specification/derivation.md#D11), [D18](../specification/derivation.md#D18) and
[E-match-cast](../specification/evaluation.md#E-match-cast); [Dynamic checks](../../explanation/dynamic-checks.md) says when one is needed.
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
    found["reference/operators/index.md"] = index + MATCH_CAST
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
    rows = [f"| `{call.shapes}` | `{show(result)}` |" for call, result in legal_calls(operator)]
    if rows:
        parts.append("\n".join(["| shapes | result |", "|---|---|", *dict.fromkeys(rows)]))
    if example := legal_call(name):
        parts.append(f"A legal call:\n\n```python\n{example}\n```")
    parts += _obligations(operator)
    return "\n\n".join(parts) + "\n"


def _obligations(operator: Operator) -> list[str]:
    asked, broken = sorted(obligations(operator)), broken_calls(operator)
    lines = []
    for code in asked:
        rule = premise_rule(code)
        assert rule is not None
        page = f"../codes/{rule.page}.md#{code.lower()}"
        lines.append(f"- [`{code}`]({page}): {rule.premises[code]}")
        if code in broken:
            call, message = broken[code]
            *operands, shown = call.lines
            given = "".join(f"`{each}`, " for each in operands)
            said = message.partition(": ")[2].replace("*", r"\*")
            lines.append(f"    It fails for {given}`{shown}`: {said}")
    return ["Obligations:\n\n" + "\n".join(lines)] if lines else []


def _takes(parameter: Parameter) -> str:
    words = KINDS[parameter.kind].words
    words = f"any number of arguments, each {words}" if parameter.variadic else words
    return f"{words} or null" if parameter.optional else words
