"""``python -m rlx.transform.builder.stub`` writes `transform/op.pyi`: the operators' signatures for
editors and type checkers. The build of the package runs it; it needs the standard library alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import Parameter as Argument
from pathlib import Path

from rlx.grammar.command_line import CommandParser
from rlx.operators.reference import summary
from rlx.operators.registry import every_name, lookup
from rlx.transform.builder.operators import signature
from rlx.writing import write

TARGET = Path(__file__).parents[1] / "op.pyi"
_HEAD = '''"""The operators, as functions that make calls of them; written by the build of the package."""

from collections.abc import Sequence

from rlx.grammar.nodes.ast import Call, ShapeExpr
from rlx.transform.builder.given import (
    Dimension,
    Info,
    Operand,
    Scalar,
    ShapeLike,
    Type,
    Value,
)

def call_packed(
    func: object,
    *args: object,
    sinfo_args: Info | Sequence[Info] = (),
    ty_args: Info | Sequence[Info] = (),
    **attrs: object,
) -> Call:
    """A call of a packed function that may have effects: ``R.call_packed``."""

def linear(
    data: Value, weight: Value, bias: Value | None = None, out_dtype: Type | None = None
) -> Call:
    """``data @ permute_dims(weight) + bias``: ``R.linear``."""

def shape(values: Sequence[Dimension]) -> ShapeExpr:
    """A shape as a value: ``R.shape``."""

'''


def text() -> str:
    """The expected text of `transform/op.pyi`."""
    spaces: dict[str, list[str]] = {}
    for name in sorted(every_name()):
        space, _, last = name.rpartition(".")
        spaces.setdefault(space, []).append(last)
    parts = [_function("", name, "") for name in spaces.pop("")]
    for space, names in sorted(spaces.items()):
        parts.append(f"\nclass _{space.capitalize()}:\n")
        parts += [_function(space, name, "    ") for name in names]
        parts.append(f"\n{space}: _{space.capitalize()}\n")
    return _HEAD + "".join(parts)


def _function(space: str, name: str, indent: str) -> str:
    operator = lookup(f"relax.{space}.{name}" if space else f"relax.{name}")
    assert operator is not None
    shown: list[str] = []
    alone = False
    for argument in signature(operator).parameters.values():
        star = ""
        match argument.kind:
            case Argument.VAR_POSITIONAL:
                star, alone = "*", True
            case Argument.KEYWORD_ONLY if not alone:
                shown.append("*")
                alone = True
        default = "" if argument.default is Argument.empty else f" = {_default(argument.default)}"
        shown.append(f"{star}{argument.name}: {argument.annotation}{default}")
    head = f"{indent}@staticmethod\n" if space else ""
    word = summary(operator.rule).replace("\\", "\\\\")
    inside = "".join(f"{indent}    {part},\n" for part in shown)
    taken = f"(\n{inside}{indent})" if shown else "()"
    return f'{head}{indent}def {name}{taken} -> Call:\n{indent}    """{word}"""\n\n'


def _default(value: object) -> str:
    if value is None or isinstance(value, bool | int | float | str | tuple):
        return repr(value)
    return "..."


def main(argv: Sequence[str] = ()) -> None:
    """Write the file."""
    CommandParser(
        prog="python -m rlx.transform.builder.stub", description=f"Write {TARGET.name}."
    ).parse_args(argv)
    write(TARGET, text())


if __name__ == "__main__":
    main(sys.argv[1:])
