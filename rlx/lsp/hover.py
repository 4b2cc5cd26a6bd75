"""The hover text of a word, as Markdown."""

from __future__ import annotations

from collections.abc import Callable

from rlx.grammar.nodes.node import Span
from rlx.grammar.streams import fenced, visible
from rlx.lsp.document import KINDS, Document
from rlx.lsp.names import PlacedName
from rlx.lsp.vocabulary import describe, signature_of
from rlx.lsp.window import Window


def hover(
    document: Document, window: Window, at: int, part: Callable[[], Window]
) -> tuple[str, Span] | None:
    """The hover text for an offset, and its place.

    Parameters
    ----------
    document
        The whole text.
    window
        What the checker knows around the place.
    part
        Gives the function there as a text of its own.
    """
    word = document.operator_at(at)
    if word is not None:
        found = _word(word[0], window, at)
        if found:
            return found, word[1]
    name = document.names.at(at)
    if name is not None:
        return _name(document, window, name, part), name.span
    expression = window.document.expression(window.into(at))
    if expression is None:
        return None
    return fenced("python", expression[0]), window.back(expression[1])


def _word(word: str, window: Window, at: int) -> str:
    known, text = signature_of(word), describe(word)
    if known is None:
        return ""
    result = window.document.call_result(window.into(at))
    end = "" if result is None else f" -> {result}"
    return f"{fenced('python', visible(known.label + end))}\n\n{text}".rstrip()


def _name(document: Document, window: Window, name: PlacedName, part: Callable[[], Window]) -> str:
    defined = document.names.definition(name)
    if defined is None:
        return fenced("python", f"{name.name}: R.Any")
    line, _ = document.source.position(defined.span[0])
    statement = visible(document.statement(defined.span[0]))
    info = None
    if name.kind in ("variable", "parameter", "function"):
        info = window.document.type_of(window.into(defined.span[0]))
    if name.kind == "function" and info is None:
        return fenced("python", statement)
    if info is not None:
        words = fenced("python", visible(f"{name.name}: {info}"))
        alone = part()
        if alone.part is not None and alone.part.bodies:  # what it is made from is left out
            return f"{words}\n\n{document.derivation(name.span[0])}".rstrip()
        return f"{words}\n\n{alone.document.derivation(alone.into(name.span[0]))}".rstrip()
    what = KINDS.get(name.kind, name.kind)
    uses = len(document.names.places(name)) - 1
    times = "once" if uses == 1 else f"{uses} times"
    said = f"{what} `{name.name}`, bound on line {line}, used {times} more"
    if name.kind == "shape":
        said += "; an integer of 64 bits, at least 0"
    return f"{fenced('python', statement)}\n\n{said}."
