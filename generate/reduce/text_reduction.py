"""Reducing a program given as text."""

from __future__ import annotations

from collections.abc import Callable


def reduced(text: str, interesting: Callable[[str], bool]) -> str:
    """The smallest text found: by modules where it can be read and printing it anew keeps it
    interesting.
    """
    from rlx.generate.reduce.search import reduce, reduce_text
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.parser import parse

    parsed = parse(text)
    broken = any(found.is_error for found in parsed.diagnostics)
    try:
        printed = "" if broken or len(parsed.modules) != 1 else print_module(parsed.modules[0])
    except RecursionError:  # too deep for any text
        printed = ""
    if not printed or not interesting(printed):
        return reduce_text(text, interesting)
    return print_module(reduce(parsed.modules[0], lambda made: interesting(print_module(made))))
