"""Edits that fix a diagnostic: one small function for each code.

An edit is a proposal. `relax-check --fix` keeps it only if the mended program checks better: see
:mod:`rlx.checker.fixing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import Record, Span, replace
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.source_tokens import closing, statements


class EditPlace(Record):
    """The diagnostic and the text from which an edit is made."""

    diagnostic: Diagnostic
    span: Span
    source: Source
    modules: Sequence[IRModule]

    @property
    def text(self) -> str:
        """The text that the diagnostic points at."""
        return self.source.text[slice(*self.span)]

    def function(self) -> ast.Function | None:
        """The innermost function of Relax around the place."""
        found: ast.Function | None = None
        for module in self.modules:
            for top in module.relax_functions.values():
                if _holds(top, self.span):
                    found = top
                    for inner in expressions(top):
                        if isinstance(inner, ast.Function) and _holds(inner, self.span):
                            found = inner
        return found


Make = Callable[[EditPlace], Edit | None]
EDITS: dict[str, Make] = {}
"""The functions that propose an edit, by the codes of the diagnostics."""


def mends(*codes: str) -> Callable[[Make], Make]:
    """Register what mends these codes."""

    def register(make: Make) -> Make:
        EDITS.update(dict.fromkeys(codes, make))
        return make

    return register


def with_edits(
    diagnostics: Sequence[Diagnostic], source: Source, modules: Sequence[IRModule]
) -> list[Diagnostic]:
    """The diagnostics, each with an edit where there is a way to mend it."""
    return [_with_edit(found, source, modules) for found in diagnostics]


def _with_edit(found: Diagnostic, source: Source, modules: Sequence[IRModule]) -> Diagnostic:
    if found.edit is not None or found.span is None or found.span[1] > len(source.text):
        return found
    place = EditPlace(found, found.span, source, modules)
    edit = suggested_word(place)
    if edit is None and found.code in EDITS:
        edit = EDITS[found.code](place)
    if edit is None:
        return found
    return replace(found, edit=replace(edit, is_safe=found.code not in UNSAFE))


UNSAFE = frozenset(["D15-result", "WF08-annotation", "WF12-entry", "WF13-name"])
"""Codes whose edits add a check at run time, guess a type, or change which names others call."""


def suggested_word(place: EditPlace) -> Edit | None:
    """The word that the help suggests, in place of the one that is not known."""
    if len(place.diagnostic.meant) != 1:
        return None
    (word,) = place.diagnostic.meant
    tokens = list(words_of(place.source.text, place.span))
    if len(tokens) != 1 or tokens[0].span != place.span:
        return None
    if tokens[0].type == "STRING":
        quote, inner = place.text[0], place.text[1:-1].replace(".", "_")
        plain = quote in "'\"" and (not inner or f"_{inner}".isidentifier())
        return Edit(place.span, f"{quote}{word}{quote}") if plain else None
    if place.text[:1].isidentifier():
        prefix, dot, _ = place.text.rpartition(".")
        _, _, rest = word.partition(".")
        if dot and not rest:  # the help names the last word alone
            word = f"{prefix}.{word}"
        elif dot and not word.startswith("@"):  # as the text calls that module
            word = f"{place.text.partition('.')[0]}.{rest}"
        return Edit(place.span, word.removeprefix("@"))
    return None


@mends("D14-impure")
def declare_impure(place: EditPlace) -> Edit | None:
    """A function that has effects says so: ``@R.function(pure=False)``."""
    function = place.function()
    if function is None or any(
        isinstance(block, ast.DataflowBlock) and _holds(block, place.span)
        for block in _blocks(function)
    ):
        return None
    head = _decorator(place.source.text, function)
    return None if head is None else _impure(head)


@mends("WF12-entry")
def let_it_be_entered(place: EditPlace) -> Edit | None:
    """The function can be called from outside: without ``private=True``."""
    function = place.function()
    head = None if function is None else _decorator(place.source.text, function)
    if head is None:
        return None
    for at, token in enumerate(head):
        if token.type == "TARGET" and token.value == "private":
            return _without_argument(head, at)
    return None


@mends("WF13-name")
def name_the_symbol(place: EditPlace) -> Edit | None:
    """The global symbol becomes the function's name."""
    for module in place.modules:
        for name, function in module.functions.items():
            if function.name_span != place.span or function.span is None:
                continue
            for statement in statements(place.source.text, (place.span[1], function.span[1])):
                for key, _, value in zip(statement, statement[1:], statement[2:], strict=False):
                    if key.value in ("'global_symbol'", '"global_symbol"'):
                        return Edit((value.start + 1, value.end - 1), name.name_hint)
    return None


@mends("WF01-escape")
def put_it_out(place: EditPlace) -> Edit | None:
    """A variable that is used behind its dataflow block is one of the block's outputs."""
    name, text = place.text, place.source.text
    bound = place.diagnostic.related[0].span if place.diagnostic.related else None
    function = place.function()
    if bound is None or function is None or not name.isidentifier():
        return None
    for block in _blocks(function):
        if not isinstance(block, ast.DataflowBlock) or not _holds(block, bound) or not block.span:
            continue
        for statement in statements(text, block.span):
            end = closing(statement, 0)
            if statement[0].value in ("R.output(", "R.outputs(") and end is not None:
                at = statement[end].start
                return Edit((at, at), f", {name}" if end > 1 else name)
        return _last_in_block(text, block, bound, f"R.output({name})")
    return None


@mends("WF08-annotation")
def annotate_result(place: EditPlace) -> Edit | None:
    """A recursive function says what it returns."""
    function = place.function()
    return None if function is None else _annotation(place.source.text, function)


def _annotation(text: str, function: ast.Function) -> Edit | None:
    """The annotation of the first parameter: what recursive functions mostly return.

    The check decides.
    """
    span = function.params[0].annotation_span if function.params else None
    if span is None or function.span is None:
        return None
    for statement in statements(text, function.span):
        end = closing(statement, 1)
        if end is None or end + 1 >= len(statement) or statement[end + 1].type != "COLON":
            return None
        at = statement[end + 1].start
        return Edit((at, at), f" -> {text[slice(*span)]}")
    return None


@mends("D15-result")
def cast_the_result(place: EditPlace) -> Edit | None:
    """A result that is possibly wrong is checked when the function runs."""
    function, text = place.function(), place.source.text
    if place.diagnostic.severity != "warning" or not place.text.isidentifier():
        return None
    if function is None or function.ret_span is None or not isinstance(function.body, ast.SeqExpr):
        return None
    if function.body.body_span != place.span:
        return None
    line = text.rfind("\n", 0, place.span[0]) + 1
    head = text[line : place.span[0]]
    indent = head[: len(head) - len(head.lstrip())]
    name = f"{place.text}_checked"
    cast = f"{indent}{name} = R.match_cast({place.text}, {text[slice(*function.ret_span)]})\n"
    return Edit((line, place.span[1]), f"{cast}{head}{name}")


def _holds(node: ast.Function | ast.BindingBlock, span: Span) -> bool:
    return node.span is not None and node.span[0] <= span[0] < node.span[1]


def _blocks(function: ast.Function) -> Iterator[ast.BindingBlock]:
    """The blocks of a function, those of its branches and of functions in it included."""
    for expr in expressions(function):
        if isinstance(expr, ast.SeqExpr):
            yield from expr.blocks


def _decorator(text: str, function: ast.Function) -> list[Token] | None:
    """The decorator above a function that makes it one of Relax, without its `@`."""
    found: list[Token] | None = None
    for statement in statements(text, (0, (function.name_span or (0, 0))[1])):
        if statement[0].type == "AT":
            word = statement[1].value.rstrip("(").rpartition(".")[2] if len(statement) > 1 else ""
            found = statement[1:] if word in ("function", "func") else found
        elif statement[0].type != "DEF":
            found = None
    return found


def _impure(head: list[Token]) -> Edit | None:
    """A decorator with `pure=False`, unless it says already whether the function is pure."""
    if ("TARGET", "pure") in [(token.type, token.value) for token in head]:
        return None
    end = head[-1]
    if end.type != "RPAR":
        return Edit((end.end, end.end), "(pure=False)")
    last = head[-2]
    if last.type == "COMMA":
        return Edit((last.end, last.end), " pure=False,")
    return Edit((last.end, last.end), "pure=False" if len(head) == 2 else ", pure=False")


def _without_argument(head: list[Token], at: int) -> Edit | None:
    """A decorator without the keyword that stands at a place of it; without brackets if that leaves
    none.
    """
    if len(head) == at + 3 and at == 1:
        return Edit((head[0].end - 1, head[-1].end), "")
    if head[at + 2].type == "COMMA":
        return Edit((head[at].start, head[at + 3].start), "")
    return Edit((head[at - 1].start, head[at + 1].end), "")


def _last_in_block(text: str, block: ast.DataflowBlock, inside: Span, line: str) -> Edit | None:
    """A line behind the last one of a block, indented as the line of a place in it."""
    assert block.span is not None
    start = text.rfind("\n", 0, inside[0]) + 1
    indent = text[start : inside[0]]
    if indent.strip():
        return None
    end = max(found[-1].end for found in statements(text, block.span))
    at = f"{text}\n".index("\n", end)
    return Edit((at, at), f"\n{indent}{line}")
