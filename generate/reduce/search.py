"""The search for a small interesting module: delta debugging, pass by pass, until nothing more can
go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rlx.generate.reduce.passes import PASSES, Pass, cutting, size
from rlx.grammar.nodes import ast

# ---------------------------------------------------------------- functions


# ---------------------------------------------------------------- bindings


# ---------------------------------------------------------------- expressions


# ---------------------------------------------------------------- annotations, parameters, blocks


# ---------------------------------------------------------------- numbers and PrimFuncs


T = TypeVar("T")
Test = Callable[[ast.IRModule], bool]


def reduce(module: ast.IRModule, interesting: Test) -> ast.IRModule:
    """A small module that is still interesting; from it, no single step leads to a smaller one.

    Parameters
    ----------
    module
        An interesting module.
    interesting
        The test; it may be called with modules that break any rule.
    """
    from rlx.grammar.print.printer import print_module

    seen: dict[str, bool] = {}

    def test(candidate: ast.IRModule) -> bool:
        text = print_module(candidate)
        if text not in seen:
            seen[text] = interesting(candidate)
        return seen[text]

    before = None
    while before is not module:
        before = module
        for step in (*PASSES, _cutting(module)):
            module = _exhaust(module, step, test)
    return module


def _cutting(module: ast.IRModule) -> Pass:
    from rlx.checker.check import check_module
    from rlx.grammar.diagnostic import Source

    report = check_module(module, Source("<reduced>", ""))
    return cutting({var: info for var, info in report.info.items() if isinstance(var, ast.Var)})


def _exhaust(module: ast.IRModule, step: Pass, test: Test) -> ast.IRModule:
    """Take away the sites of one pass, large groups first, then smaller ones.

    The sites that are left after a step are found anew, since a step makes new nodes.
    """
    share = 1
    while True:
        sites = step.sites(module)
        if not sites:
            return module
        width = max(1, len(sites) // share)
        taken = False
        at = 0
        while at < len(sites):
            chosen = sites[at : at + width]
            made = step.without(module, chosen)
            smaller = (
                made if made is not module and size(made) < size(module) and test(made) else None
            )
            if smaller is None:
                at += width
            else:
                # Behind a step the same positions hold what was not tried yet.
                module, taken, sites = smaller, True, step.sites(smaller)
        if width == 1 and not taken:
            return module
        if width > 1:
            share *= 2


def reduce_text(text: str, interesting: Callable[[str], bool]) -> str:
    """The same for lines of text: for what does not parse, or what printing it anew would heal.

    Parameters
    ----------
    text
        An interesting text.
    interesting
        The test.
    """
    lines = text.splitlines(keepends=True)
    width = max(1, len(lines) // 2)
    while True:
        at, taken = 0, False
        while at < len(lines):
            fewer = lines[:at] + lines[at + width :]
            if fewer and interesting("".join(fewer)):
                lines, taken = fewer, True
            else:
                at += width
        if width == 1 and not taken:
            return "".join(lines)
        if not taken:
            width = max(1, width // 2)


# ---------------------------------------------------------------- programs as text


def reduced(text: str, interesting: Callable[[str], bool]) -> str:
    """The smallest text found: by modules where it can be read and printing it anew keeps it
    interesting.
    """
    from rlx.grammar.print.weights import print_with_weights
    from rlx.grammar.read.parser import parse

    parsed = parse(text)
    broken = any(found.is_error for found in parsed.diagnostics)
    try:
        printed = (
            "" if broken or len(parsed.modules) != 1 else print_with_weights(parsed.modules[0])
        )
    except RecursionError:  # too deep for any text
        printed = ""
    if not printed or not interesting(printed):
        return reduce_text(text, interesting)
    return print_with_weights(
        reduce(parsed.modules[0], lambda made: interesting(print_with_weights(made)))
    )
