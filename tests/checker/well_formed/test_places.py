"""An unknown name is shown where it stands, with the fields taken of it: Python's own reader says where that is."""

from __future__ import annotations

import ast
import re
from itertools import count
from random import Random

import pytest

from rlx.checker.check import check_text

UNKNOWN = "zz"
NAMES = ("x", "t", "u")
HEAD = """@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((2,)), t: R.Tuple(R.Tensor((2,)), R.Tensor((2,))), u: R.Tuple(R.Tuple(R.Object))):
"""


def operand(random: Random, depth: int = 3) -> str:
    """An expression of names: of the parameters, or unknown."""
    name = random.choice([*NAMES, UNKNOWN, UNKNOWN])
    name += "".join(random.choice(["[0]", "[ 1 ]"]) for _ in range(random.choice([0, 0, 1, 2])))
    if not depth:
        return name
    parts = [operand(random, depth - 1) for _ in range(2)]
    return random.choice(
        [
            *(name, name),
            f"({parts[0]}, {parts[1]})",
            f"({parts[0]},)[0]",
            f"R.add({', '.join(parts)})",
            f"R.exp({parts[0]})",
            f"R.concat(({parts[0]}, {parts[1]}), axis=0)",
            f'R.call_dps_packed("g", ({parts[0]},), R.Tensor((2,)))',
            f'R.call_packed("g", {parts[0]}, {parts[1]})',
        ]
    )


def body(random: Random) -> str:
    """Statements around such expressions."""
    lines = [f"a{at} = {operand(random)}" for at in range(random.randint(0, 2))]
    if random.random() < 0.3:
        lines.append(f"c = R.match_cast({operand(random)}, R.Tensor((2,)))")
    if random.random() < 0.4:
        branches = [f"    b = {operand(random)}" for _ in range(2)]
        lines += [f"if {operand(random, 0)}:", branches[0], "else:", branches[1]]
    lines.append(f"return {operand(random)}")
    number = count()
    text = "".join(f"        {line}\n" for line in lines)
    return re.sub(rf"\b{UNKNOWN}\b", lambda _: f"{UNKNOWN}{next(number)}", text)


def unknown_names(text: str) -> list[str]:
    """The text of each unknown name with the numbers in brackets behind it, as Python reads it."""
    tree = ast.parse(text)
    above = {
        child: node
        for node in ast.walk(tree)
        for child in ast.iter_child_nodes(node)
        if isinstance(node, ast.Subscript) and node.value is child
    }
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id.startswith(UNKNOWN)]
    found.sort(key=lambda name: (name.lineno, name.col_offset))
    return [place(above.get(name, name)) for name in found]


def place(node: ast.expr) -> str:
    """Line and column of both ends."""
    return f"{node.lineno}:{node.col_offset + 1}-{node.end_lineno}:{(node.end_col_offset or 0) + 1}"


@pytest.mark.parametrize("seed", range(60))
def test_each_unknown_name(seed: int) -> None:
    text = HEAD + body(Random(seed))
    report = check_text(text)
    spans = [d.span for d in report.diagnostics if d.code == "WF02-undefined" and d.span]
    shown = ["-".join("{}:{}".format(*report.source.position(at)) for at in span) for span in spans]
    assert shown == unknown_names(text), text
