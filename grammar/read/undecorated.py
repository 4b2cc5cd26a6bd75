"""Definitions without a Relax decorator: Python functions of a module, which are skipped, and
forgotten decorators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.lines import line_start
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.outline import HEAD, indentation, logical_lines, outline
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.read.script_vocabulary import is_known
from rlx.grammar.read.source_tokens import names_in, parts_of
from rlx.grammar.suggest import closest, did_you_mean

_PYTHON_FUNCTION = frozenset(["pyfunc", "I.pyfunc", "ir.pyfunc", "tvm.script.pyfunc"])
_ANNOTATIONS = frozenset(
    ["Tensor", "Shape", "Tuple", "Object", "Any", "Callable", "Prim", "DTensor"]
)
_OTHER = (
    (r"(?m)^[ \t]*(?:def @|fn \(%|#\[version)", "a text of Relay: check it by `rlx relay check`"),
    (
        r'\A\s*\{(?s:.)*"nbformat"',
        "a notebook: `%load_ext rlx` and then `%%relax` check its cells in Jupyter",
    ),
    (
        r'\A\s*[{\[]\s*(?:["\d\[{\]}-]|$)',
        "JSON: `rlx compare` and `rlx bisect` read what tvm.ir.save_json writes, the others a text",
    ),
)
"""How a text begins that is no TVMScript, and what it is."""

_MAKES_RELAX = (
    ("torch", "tvm.relax.frontend.torch.from_exported_program makes Relax of an exported model"),
    (
        "onnx",
        "tvm.relax.frontend.onnx.from_onnx makes Relax of a model, and `rlx compare` reads .onnx",
    ),
    ("relay", "Relay's text, mod.astext(), is checked by `rlx relay check`"),
    ("tvm", "save the text that module.script() returns, and check that file"),
)
"""Modules that a Python file imports, and what to do to get from them to a text of Relax."""

MARKS = {"class": ("@I.ir_module", "class"), "def": ("@R.function", "function")}
"""For each kind of definition, its decorator, and what it is called."""


def without_python_functions(text: str) -> str:
    """The text with every function under ``@I.pyfunc`` blanked, because its body is Python; offsets
    are kept.
    """
    parts: list[str] = []
    at = 0
    for start, stop in logical_lines(text):
        if start < at or text[start] != "@":
            continue
        if next(names_in(text, (start + 1, stop)), None) in _PYTHON_FUNCTION:
            end = _end(text, start, indentation(text, start))
            blank = "\n".join([" " * len(line) for line in text[start:end].split("\n")])
            parts += [text[at:start], "pass", blank[4:]]
            at = end
    return "".join((*parts, text[at:]))


def _end(text: str, start: int, width: int) -> int:
    """The end of the decorated function whose decorator is at ``start``."""
    inside, end = False, start
    for begin, stop in logical_lines(text, start):
        if inside and indentation(text, begin) <= width:
            break
        inside = inside or text.startswith(("def ", "def\t", "async "), begin)
        end = stop
    return end


def missing(
    text: str,
    canonical: Callable[[str], str],
    language: Callable[[str], str],
    read: Collection[Span],
) -> Iterator[Diagnostic]:
    """Classes and functions that look like Relax but have no decorator, or one of nobody.

    Parameters
    ----------
    canonical
        Maps an imported Python name to the name in Relax texts.
    language
        The prefix for which a name is imported from TVMScript.
    read
        The parsed definitions; nothing inside them is reported.
    """
    covered = sorted(read)
    outer: tuple[int, tuple[str, str, Span]] | None = None
    mark: Span | None = None
    for start, end in logical_lines(text):
        above = mark
        mark = (start, end) if text[start] == "@" else None
        head = HEAD.match(text, start)
        if head is None or any(a <= start < b for a, b in covered):
            continue
        marked = above is not None
        width = start - line_start(text, start)
        if outer is not None and width <= outer[0]:
            outer = None
        if head[1] == "class":
            if not marked and text[head.end() : end].lstrip().startswith(":"):
                outer = (width, (head[1], head[2], head.span()))
            continue
        names = set(names_in(text, (start, end)))
        words = {canonical(word) for word in _annotating(names)}
        if above is not None:
            written = next(names_in(text, (above[0] + 1, above[1])), None) or "…"
            module, _, word = canonical(written).rpartition(".")
            if language(written.partition(".")[0]) or module.startswith("tvm.script"):
                yield from _unknown_decorator(written, module, word, above)
            elif "R" in words:
                message = (
                    f"'@{written}' is not a decorator of Relax, so rlx does not read {head[2]!r}"
                )
                help = "write @R.function below it"
                yield Diagnostic("PARSE-decorator", "warning", message, above, help=help)
        if marked or "R" not in words:  # one for PrimFuncs may be a macro
            continue
        if outer is not None:
            yield undecorated(text, *outer[1], "warning")
            outer = None
        elif "self" not in names:
            yield undecorated(text, head[1], head[2], head.span(), "warning")


def _unknown_decorator(written: str, module: str, word: str, mark: Span) -> Iterator[Diagnostic]:
    """A decorator of TVMScript that does not exist."""
    if word not in _HELPERS and not (module == "T" and is_known(word)):
        help = "write @T.prim_func" if module == "T" else "write @R.function"
        yield Diagnostic("PARSE", "error", f"unknown decorator '@{written}'", mark, help=help)


_HELPERS = frozenset(["macro", "inline", "pyfunc", "meta_class", "jit"])
"""Decorators of TVMScript that define no function of a module."""


def unread(text: str, language: Callable[[str], str]) -> Iterator[Diagnostic]:
    """The first function of a file without any definition that seems to be one of TVMScript: it
    uses the words of Relax, or has the parameters of a PrimFunc.

    Functions that call a builder of programs use the same words, and so do Python functions with
    functions of their own and methods.

    Parameters
    ----------
    language
        The prefix for which a name is imported from TVMScript.
    """
    for function in outline(text) if "IRBuilder" not in text else ():
        head = HEAD.match(text, function.head)
        if head is None or line_start(text, function.head) != function.start:
            continue
        body = (function.head_end, function.end)
        if any(HEAD.match(text, start) for start, _ in logical_lines(text[: body[1]], body[0])):
            continue
        params = set(names_in(text, (head.end(), function.head_end)))
        if "self" in params:
            continue
        names = params | set(names_in(text, body))
        for name in sorted(names):
            first, _, last = name.partition(".")
            letter = language(first) if last else ""
            of_prim_func = (
                letter == "T"
                and last in ("Buffer", "handle")
                and name in params
                and (last == "handle" or f"{name}(" in text[head.end() : function.head_end])
            )
            if letter == "R" or of_prim_func:
                mark = "@R.function" if letter == "R" else "@T.prim_func"
                found = undecorated(text, "def", function.name, head.span(), "warning", mark)
                yield replace(found, edit=None)
                return


def misplaced(text: str, span: Span) -> Diagnostic:
    """The diagnostic for a top-level line of a Relax text that is not a decorated definition."""
    head = HEAD.match(text, span[0])
    if head is not None:
        found = undecorated(text, head[1], head[2], head.span(), "error")
        return replace(found, code="PARSE")
    words: list[str] = []
    first = [*islice(words_of(text, span), 2)]
    if [token.type for token in first] == ["TARGET", "HEAD"]:
        words = closest(first[1].value.removesuffix("("), ["TypeVar"])
    begins = f"{text[:1000]}\n{text[slice(*span)]}"
    others = (f"this looks like {what}" for form, what in _OTHER if re.search(form, begins))
    help = next(others, None) or did_you_mean(words)
    return Diagnostic(
        "PARSE",
        "error",
        "expected a decorated class or function: @I.ir_module, @R.function or @T.prim_func",
        span,
        help=help,
    )


def nothing(text: str) -> Diagnostic:
    """The note on a Python file without Relax. It says what makes Relax of what the file imports."""
    imported = {
        word
        for line in re.findall(r"^[ \t]*(?:from|import)[ \t]+([\w., ]+)", text, re.MULTILINE)
        for word in re.findall(r"\w+", line)
    }
    help = next((help for name, help in _MAKES_RELAX if name in imported), None)
    return Diagnostic("PARSE-nothing", "note", "no Relax program found", None, help=help)


def _annotating(names: Collection[str]) -> Iterator[str]:
    """The prefixes of names such as `R.Tensor`."""
    for name in names:
        module, _, last = name.rpartition(".")
        if module and last in _ANNOTATIONS:
            yield module


def undecorated(
    text: str, kind: str, name: str, head: Span, severity: str, mark: str = ""
) -> Diagnostic:
    """The diagnostic for a class or function of a text that has no decorator."""
    mark, word = mark or MARKS[kind][0], MARKS[kind][1]
    start, _ = head
    line = line_start(text, start)
    indent = " " * (start - line)
    return Diagnostic(
        "PARSE-decorator",
        severity,
        f"the {word} {name!r} has no decorator, so rlx does not read it",
        head,
        help=f"write {mark} above it",
        edit=Edit((line, line), f"{indent}{mark}\n"),
    )


def not_imported(text: str, read: Sequence[Span], prefixes: bool = True) -> Iterator[Diagnostic]:
    """The languages of scripts that the definitions use and the Python file does not bind, each
    where it is used first; without `prefixes` only the words of old texts.
    """
    from rlx.grammar.read.surroundings import Surroundings

    around = Surroundings(text)
    told: set[str] = set()
    old = is_prototype(text)  # its parser evaluated no names
    for start, end in read:
        scope = around.scope_at(start)
        for found in parts_of(text, (start, end)):
            head = re.split(r"\W", found.value, maxsplit=1)[0]
            known = (_IMPORTS.get(head) if prefixes else None) or _WORDS.get("" if old else head)
            if head in told or known is None or found.type not in _NAMED:
                continue
            told.add(head)
            if around.value(head, scope, start) is ... and head not in around.names(scope):
                words = f"{head!r} is not imported in this Python file"
                help = f"write `{known}`"
                span = (found.start, found.start + len(head))
                yield Diagnostic("PYTHON-import", "warning", words, span, help=help)


_NAMED = ("DOTTED", "HEAD", "INFO")
_IMPORTS = {
    head: f"from tvm.script import {module} as {head}"
    for head, module in {"R": "relax", "T": TIR_MODULES[-1], "I": "ir"}.items()
}
"""The import of each prefix."""
_WORDS = {"relax": "from tvm import relax"}
_WORDS |= {word: f"R.{word}" for word in ("Tensor", "Shape", "Tuple", "Callable", "match_cast")}
"""Words of old texts that rlx always reads, and Python only if they are imported."""
