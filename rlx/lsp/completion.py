"""Completions at a place: names in scope, words of the script, arguments, data types."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.lines import line_start
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.lexer import OPENING
from rlx.grammar.read.source_tokens import long_strings, on_one_line, parts_of
from rlx.grammar.streams import visible
from rlx.lsp.document import KINDS, Document
from rlx.lsp.vocabulary import MODULE_FORMS, WordSignature, describe, signature_of, words_behind
from rlx.lsp.window import Window


class Completion(Record):
    """A word that may be written.

    Attributes
    ----------
    kind
        ``"operator"``, ``"type"``, ``"argument"``, ``"dtype"``, or as for names.
    word
        The word of the script that its documentation is about.
    """

    label: str
    detail: str
    kind: str
    span: Span
    word: str = ""


class OpenCall(Record):
    """A call whose brackets are open at a place.

    Attributes
    ----------
    head
        What is called.
    argument
        The number of the argument there.
    keyword
        Its name, if it is given by name.
    nested
        Whether the place is inside of another bracket of the argument.
    """

    head: str
    argument: int
    keyword: str
    nested: bool


NEAREST = 200
"""The most names of a long function that are offered; the editor asks again as more is written."""

_FAR = 4_000
_DTYPE_HEADS = frozenset(["Tensor", "Buffer", "match_buffer", "alloc_buffer", "Prim", "const"])
_DIMENSIONS = frozenset(["Tensor", "Shape", "shape", "Buffer", "match_buffer"])
DECORATORS = ("R.function", "T.prim_func", "I.ir_module")


def open_call(text: str, at: int) -> OpenCall | None:
    """The innermost call that is open at an offset."""
    line = line_start(text, max(0, at - _FAR))
    start = next((a for a, b in long_strings(text) if a < line < b), line)
    opened: list[list[object]] = []
    for each in parts_of(text, (start, at)):
        change = OPENING.get(each.type, 0)
        if each.type in ("DEF", "AT", "RETURN", "WITH"):
            opened.clear()
        elif change > 0:
            opened.append([each.value.removesuffix("(") if each.type == "HEAD" else "", 0, ""])
        elif change < 0:
            del opened[-1:]
        elif opened and each.type == "COMMA":
            opened[-1][1:] = [opened[-1][1] + 1, ""]  # type: ignore[operator]
        elif opened and each.type == "TARGET":
            opened[-1][2] = each.value
    nested = bool(opened) and not opened[-1][0]
    for head, argument, keyword in reversed(opened):
        if head:
            return OpenCall(str(head), int(argument), str(keyword), nested)  # type: ignore[call-overload]
    return None


def signature_at(document: Document, at: int) -> tuple[WordSignature, int] | None:
    """The signature of the call that is open at an offset, and the number of the parameter there."""
    call = open_call(document.source.text, at)
    if call is None:
        return None
    known = signature_of(call.head) or _own_function(document, call.head, at)
    if known is None:
        return None
    names = [p.lstrip("*").partition(":")[0].strip() for p in known.parameters]
    if call.keyword in names:
        return known, names.index(call.keyword)
    last = len(names) - 1
    variadic = known.parameters[-1:] and known.parameters[-1].startswith("*")
    return known, min(call.argument, last) if variadic else call.argument


def _own_function(document: Document, head: str, at: int) -> WordSignature | None:
    """A function of the module, or a local one."""
    text = document.source.text
    start = text.rfind(head, 0, at)
    found = document.names.at(start + len(head) - 1) if start >= 0 else None
    place = None if found is None else document.names.definition(found)
    if place is None or place.kind != "function":
        return None
    statement = document.statement(place.span[0])
    inside, _, result = statement.partition("(")[2].rpartition("->")
    inside = inside or result
    return WordSignature(
        head, tuple(_split(inside.rstrip()[:-1])), result.strip() if inside != result else ""
    )


def _split(text: str) -> Iterator[str]:
    """The parts of a list at its own commas."""
    start = depth = 0
    for each in parts_of(text, (0, len(text))):
        depth += OPENING.get(each.type, 0)
        if each.type == "COMMA" and depth == 0:
            yield text[start : each.start].strip()
            start = each.end
    if text[start:].strip():
        yield text[start:].strip()


def completions(document: Document, window: Window, at: int) -> list[Completion]:
    """The words that could stand before an offset."""
    text = document.source.text
    quoted = _open_string(text, at)
    start = at
    while start and (text[start - 1].isalnum() or text[start - 1] in ("_" if quoted else "_.")):
        start -= 1
    word, span = text[start:at], (start, at)
    if quoted:
        return list(_in_string(document, text, at, span))
    module, dot, _ = word.partition(".")
    if dot and module in MODULE_FORMS:
        return [
            Completion(
                f"{module}.{w}",
                _detail(f"{module}.{w}"),
                "type" if w[:1].isupper() else "operator",
                span,
                f"{module}.{w}",
            )
            for w in words_behind(module)
        ]
    if text[start - 1 : start] == "@":
        return [Completion(w, describe(w), "operator", span, w) for w in DECORATORS]
    if dot:
        return list(_members(document, module, span, at))
    return [*_arguments(document, text, span), *_names(document, window, span)]


def _detail(word: str) -> str:
    found = signature_of(word)
    return "" if found is None else found.label


def _open_string(text: str, at: int) -> bool:
    """Whether an offset is inside of a string of its line."""
    quote, escape = "", False
    for letter in text[line_start(text, at) : at]:
        if escape:
            escape = False
        elif quote:
            escape = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter == "#":
            return False
        elif letter in "\"'":
            quote = letter
    return bool(quote)


def _in_string(document: Document, text: str, at: int, span: Span) -> Iterator[Completion]:
    """Data types, or the shape variables of dimensions."""
    from rlx.grammar.nodes.dtype import SCALAR_NAMES

    line = line_start(text, at)
    quote = max(text.rfind('"', line, at), text.rfind("'", line, at))
    call = open_call(text, quote)
    if call is None:
        return
    last = call.head.rpartition(".")[2]
    if call.nested and last in _DIMENSIONS:
        yield from _shapes(document, span)
    elif call.keyword.endswith("dtype") or (not call.keyword and _takes_dtype(call)):
        yield from (Completion(name, "data type", "dtype", span) for name in SCALAR_NAMES)


def _takes_dtype(call: OpenCall) -> bool:
    if call.head.rpartition(".")[2] in _DTYPE_HEADS:
        return True
    known = signature_of(call.head)
    if known is None or call.argument >= len(known.parameters):
        return False
    return "dtype" in known.parameters[call.argument]


def _shapes(document: Document, span: Span) -> Iterator[Completion]:
    """The shape variables of the function, and those that the text declares."""
    names = document.names
    listed = dict.fromkeys(
        each.name
        for stretch in (*names.around(span[0]), *names.gaps)
        for each in names.of(stretch)
        if each.kind == "shape" and each.span[1] != span[1]
    )
    yield from (Completion(name, "shape variable", "shape", span) for name in listed)


def _members(document: Document, module: str, span: Span, at: int) -> Iterator[Completion]:
    """The functions of the class that is meant by a name."""
    names = document.names
    number = names.stretches[names.stretch(at)][1]
    owner = module if names.top.get(module) == "class" else ""
    if not owner and number is not None:
        owner = names.owners[number]
    for of, name in names.functions:
        if of == owner:
            head = function_head(document, names.functions[of, name][0])
            yield Completion(f"{module}.{name}", head, "function", span)


def function_head(document: Document, number: int) -> str:
    piece = document.cut.pieces[number]
    start = piece.span[0] + piece.at
    end = piece.span[0] + len(piece.head)
    return visible(on_one_line(document.source.text, (start, end)).removesuffix(":"))


def _arguments(document: Document, text: str, span: Span) -> Iterator[Completion]:
    """The parameters of the call that is open, to be given by name."""
    call = open_call(text, span[0])
    if call is None or call.nested or call.keyword:
        return
    known = signature_of(call.head) or _own_function(document, call.head, span[0])
    for parameter in known.parameters if known is not None else ():
        name, _, kind = parameter.partition(":")
        if not name.startswith("*"):
            yield Completion(f"{name}=", kind.strip(), "argument", span, call.head)


def fits(query: str, name: str) -> bool:
    """Whether the letters of a query stand in a name in this order, as editors look for words."""
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())


def _names(document: Document, window: Window, span: Span) -> Iterator[Completion]:
    """The names that are bound before a place in its function, functions, and modules."""
    names = document.names
    seen: set[str] = set()
    text = document.source.text
    written, line = text[slice(*span)], line_start(text, span[0])
    for each in names.bound_before(span[0]):
        if len(seen) > NEAREST:
            break
        if each.name in seen or not fits(written, each.name):
            continue
        if each.kind == "variable" and each.span[0] >= line:
            continue  # the statement that binds it is being written
        if each.kind not in ("function", "class"):
            seen.add(each.name)
            info = None
            if each.kind in ("variable", "parameter"):
                info = window.document.type_of(window.into(each.span[0]))
            detail = KINDS.get(each.kind, each.kind) if info is None else visible(str(info))
            yield Completion(each.name, detail, each.kind, span)
    for name, kind in names.top.items():
        if name not in seen and kind in ("shape", "class", "variable"):
            seen.add(name)
            yield Completion(name, KINDS.get(kind, kind), kind, span)
    yield from _members(document, "cls", span, span[0])
    yield from (Completion(module, "", "module", span) for module in ("R", "T", "I"))
