"""Nothing in the text of a program is found by regular expressions but by the lexers.

A file that imports ``re`` is listed here with what it reads by it: no program, or one for a lexer.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.test_imports import ROOT, modules

LEXERS = {
    "grammar/lexer.py": "it is the lexer",
    "grammar/outline.py": "logical lines, whose strings, comments and brackets it reads as tokens",
    "relay/lexer.py": "it is the lexer of Relay's texts",
    "solver/question_parser.py": "the lexer of the prover's questions",
    "vm/listing_parser.py": "the listing of an executable, line by line",
}
TOKENS = {
    "grammar/entries.py": "the escapes in one string literal",
    "grammar/dtype.py": "the name of a data type",
    "grammar/script_vocabulary.py": "the word behind `T.`",
    "operators/layout.py": "the letters of a layout",
    "operators/evaluate/arrays.py": "the name of a data type of NumPy",
    "relay/attribute_reader.py": "the quotation marks in one string literal",
    "relay/expression_reader.py": "one token that stands for several",
    "relay/literal_reader.py": "one number",
    "relay/type_reader.py": "one number",
    "solver/calls.py": "the name of a function",
    "semantics/machine/builtins.py": "the name of a function of the run time",
    "semantics/tir/llvm.py": "the name of an intrinsic of LLVM",
    "semantics/tir/pointer_calls.py": "one attribute of a buffer",
    "vm/listing.py": "a name that needs no quotation marks",
}
COMMENTS = {
    "checker/ignores.py": "one comment, which has a language of its own",
    "grammar/comments.py": "one comment, which a printer writes on its own",
}
NO_PROGRAM = {
    "checker/render/human.py": "colours of a terminal",
    "grammar/command_line.py": "messages of argparse",
    "grammar/pasted_text.py": "what a console or a page puts in front of lines",
    "relay/parser.py": "of what other language a text is that is none of Relay",
    "rlx/commands/fuzz.py": "values of the command line",
    "rlx/commands/step.py": "values of the command line",
    "rlx/commands/why.py": "values of the command line",
    "semantics/native/prelude.py": "C that rlx itself writes",
    "semantics/run/trace.py": "Markdown of the specification, HTML that rlx itself writes",
    "spec/blocks.py": "Markdown of the specification",
    "spec/html/chapter.py": "Markdown of the specification",
    "spec/html/highlight.py": "formulas of the specification",
    "spec/html/links.py": "Markdown of the specification",
    "spec/html/markdown.py": "Markdown of the specification",
    "spec/html/site.py": "Markdown of the specification",
    "spec/judgements.py": "formulas of the specification",
    "spec/reader.py": "Markdown of the specification",
}
MESSAGES = {
    "checker/consequences.py": "the words of a message",
    "generate/campaign/draft.py": "messages of TVM",
    "generate/campaign/finding.py": "messages of TVM, and programs that rlx itself printed",
    "generate/campaign/known_causes.py": "programs that rlx itself printed",
    "generate/campaign/message_matching.py": "messages of TVM",
    "generate/campaign/oracles/case.py": "messages of TVM",
    "generate/campaign/oracles/meaning.py": "messages of TVM",
    "generate/campaign/oracles/traits.py": "messages of TVM, and programs that rlx itself printed",
}
NAMES = {
    "grammar/printer_names.py": "names that are to be printed",
    "grammar/printer_prim.py": "words and strings that are to be printed",
    "grammar/printer_show.py": "a dimension that rlx itself printed",
    "relay/printer.py": "names that are to be printed",
    "relay/type_conversion.py": "names that are to be printed",
    "transform/te/convert.py": "names that are to be printed",
}
TOO_MUCH = {
    "checker/driver/sources.py": "which files are worth reading; the parser says what is in them",
    "operators/registry.py": "which modules of rlx are worth importing",
    "rlx/lsp/cut.py": "words that a function may depend on; names stand in strings, too",
    "rlx/lsp/incremental.py": "whether an edit is one that only a check of the whole text answers",
    "rlx/lsp/server.py": "which files are worth reading; the parser says what is in them",
}
"""Where finding too much costs time and nothing else."""

PATTERNS: Any = importlib.import_module("re._parser")
"""Python's own parser of regular expressions."""

GROUPS = [LEXERS, TOKENS, COMMENTS, NO_PROGRAM, MESSAGES, NAMES, TOO_MUCH]


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a file imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def users() -> set[str]:
    """The files of the product that import ``re``."""
    return {
        str(path.relative_to(ROOT))
        for path in modules().values()
        if {"re", "regex", "sre_compile"} & set(imported(ast.parse(path.read_text("utf-8"))))
    }


def test_only_listed_files_use_them() -> None:
    found = sorted(users() - set().union(*GROUPS))
    assert found == [], "follow the tokens, as grammar/source_tokens.py gives them"


def test_listed_files_still_do() -> None:
    assert sorted(set().union(*GROUPS) - users()) == []


def test_each_file_is_listed_once_with_a_reason() -> None:
    assert len(set().union(*GROUPS)) == sum(map(len, GROUPS))
    assert all(len(reason) > 8 for group in GROUPS for reason in group.values())


@pytest.mark.parametrize(
    "line", ["import re", "import ast, re as r", "def f():\n    from re import Match"]
)
def test_an_import_is_seen(line: str) -> None:
    assert "re" in set(imported(ast.parse(line)))


def _possessive(parsed: Any) -> Iterator[Any]:
    """What a pattern, as Python's parser gives it, repeats without backtracking."""
    if isinstance(parsed, PATTERNS.SubPattern):
        parsed = parsed.data
    if isinstance(parsed, list | tuple):
        if len(parsed) == 2 and str(parsed[0]) == "POSSESSIVE_REPEAT":
            yield list(parsed[1][2])
        for part in parsed:
            yield from _possessive(part)


def _wrong_before_3_11_5(pattern: str, flags: int = 0) -> list[Any]:
    """What is repeated without backtracking although it has more than one way to match."""
    parsed = PATTERNS.parse(pattern, flags)
    plain = ("IN", "LITERAL", "NOT_LITERAL", "ANY", "ATOMIC_GROUP")
    return [
        inner for inner in _possessive(parsed) if len(inner) != 1 or str(inner[0][0]) not in plain
    ]


def test_what_repeats_without_backtracking_is_atomic() -> None:
    """`(?:a|b)*+` matches other texts on Python 3.11.0 to 3.11.4 (CPython's issue 106052); `(?>a|b)*+` does not."""
    patterns = []
    for path in sorted(users()):
        module = importlib.import_module(f"rlx.{path.removeprefix('rlx/')[:-3].replace('/', '.')}")
        patterns += [value for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert len(patterns) > 40 and any("*+" in str(each.pattern) for each in patterns)
    for each in patterns:
        assert _wrong_before_3_11_5(each.pattern, each.flags & re.VERBOSE) == []


def test_a_repetition_that_is_not_atomic_is_seen() -> None:
    assert _wrong_before_3_11_5(r"x(?:(?:aa|b)*+c)?")
    assert not _wrong_before_3_11_5(r"x(?:(?>a|b)*+[cd]++)?")
