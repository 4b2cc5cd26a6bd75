"""The programs of a campaign: one for each seed."""

from __future__ import annotations

import random

from rlx.grammar import ast
from rlx.grammar.printer import print_module
from rlx.grammar.visit import walk


def program(seed: int) -> tuple[str, set[str]]:
    """The text of a program, and the operators that it uses."""
    from rlx.generate.programs import random_module

    module = random_module(random.Random(seed))
    used = {
        expr.op_name
        for function in module.functions.values()
        if isinstance(function, ast.Function)
        for expr in walk(function)
        if isinstance(expr, ast.Op)
    }
    return print_module(module), used
