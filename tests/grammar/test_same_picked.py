"""What is read of texts, what is said of them, and how they are printed and formatted, that were picked because each
notices a change of the code, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/grammar/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.grammar.test_same_picked 3000 300 --room grammar` adds other texts.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rlx.grammar import ast, tir
from rlx.grammar.command_line import CommandParser, integer, natural, positive, seconds
from rlx.grammar.comments import comments
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.dtype import dtype, lacking
from rlx.grammar.entries import unquote
from rlx.grammar.equal import first_difference
from rlx.grammar.formatting import format_text
from rlx.grammar.kept_text import kept_names
from rlx.grammar.lexer import Lexer
from rlx.grammar.misspelt import data_type, decorator, form
from rlx.grammar.node import Record
from rlx.grammar.outline import logical_lines, metadata_text, outline
from rlx.grammar.parser import (
    ParseError,
    parse,
    parse_expr,
    parse_prim_expr,
    parse_struct_info,
)
from rlx.grammar.pasteable import pasteable
from rlx.grammar.printer import print_module, show
from rlx.grammar.printer_pieces import print_expr, print_prim_expr, print_struct_info
from rlx.grammar.rewrite import Rewriter, rebuild
from rlx.grammar.script_vocabulary import is_known, meant_by
from rlx.grammar.suggest import closest, closest_names
from rlx.grammar.visit import bindings, called_globals, free_vars, struct_infos, walk
from tests.grammar.parse.test_forms import LINES, STATEMENTS
from tests.grammar.parse.test_trees import Dump
from tests.grammar.rebuild import changes, copied
from tests.grammar.spoiled import VERSIONS, arithmetic, spoiled
from tests.hostile.damage import POOL, damaged, tokens
from tests.snapshots import assert_picked

PARTS = 60
COMPARED = 3
"""Changes of a module that are compared with it."""

PIECES = (
    *(
        'R.Tensor((n, 4), "float32")',
        'R.Tensor(("n + 1", "m * 2"), ndim=2)',
        "R.Shape([n, m // 2])",
    ),
    *("R.Tuple(R.Tensor, R.Any)", 'R.Callable((R.Tensor,), R.Prim("int64"), False)', "R.Object"),
    *(
        "n * (m + 1) // 3 % k",
        "T.max(n, m) - T.min(n, 2)",
        "n if m < 3 else -k",
        "-(-n)",
        "T.int32(3) + n",
    ),
    *(
        "(n + m) + k - (n - m)",
        "n // (m // 2)",
        "not n < 3 and m == 2 or k != 1",
        "T.Cast('int8', n)",
    ),
    *(
        "R.add(x, R.const(1.5, 'float16'))",
        "(x, y)[0]",
        "x + y * 2 - -z",
        "R.shape([n, 2])",
        "x[0][1]",
    ),
    *(
        "float32",
        "int4x4",
        "uint8",
        "bool",
        "handle",
        "",
        "float8_e4m3fn",
        "flaot32",
        "int65",
        "int",
    ),
    *(
        "R.functon",
        "I.ir_modul",
        "R.dataflw",
        "T.gird",
        "T.axis.spatail",
        "R.calltir",
        "T.prim_fun",
    ),
    *(
        r'"a\tb\x41"',
        r"'\u00e9\N{DASH}'",
        'r"\\n"',
        'b"x"',
        '"""a\nb"""',
        '"\\',
        '"a" "b"',
        "'\\101\\8'",
    ),
)


ARGUMENTS = (
    *(
        "--count",
        "--seed",
        "--from",
        "--time",
        "--format",
        "--cuont",
        "--form",
        "--se",
        "--",
        "-3",
        "0",
    ),
    *(
        "1",
        "12",
        "1.5",
        "x",
        "--count=2",
        "--count=-2",
        "--seed=-7",
        "--seed=x",
        "--from=0",
        "--from=-1",
    ),
    *(
        "--time=0",
        "--time=0.5",
        "--time=inf",
        "--time=nan",
        "--time=x",
        "--format=jsn",
        "--format=json",
    ),
    *(
        "--formt=json",
        "--format=--",
        "--seed=٣",
        "-x",
        "--forma",
        "--no-cache",
        "--count=" + "9" * 70,
    ),
)


def pool(random: Random) -> str:
    """A text, or a piece of one."""
    if random.random() < 0.02:
        return json.dumps({"arguments": random.choices(ARGUMENTS, k=random.randrange(1, 5))})
    if random.random() < 0.12:
        lines = f"{LINES}{STATEMENTS}".strip().splitlines()
        piece = random.choice(
            [
                *PIECES,
                *[arithmetic(random, "nmk23") for _ in range(20)],
                random.choice(POOL),
                random.choice(lines),
            ]
        )
        if piece and random.random() < 0.7:
            piece = damaged(piece, tokens(piece) or [(0, len(piece))], random)
        return json.dumps({"piece": piece})
    return spoiled(random)


def answers(text: str) -> str:
    """All that is read of a text and made of it."""
    if text.startswith('{"arguments"'):
        return _of_arguments(json.loads(text)["arguments"])
    lines = _of_piece(json.loads(text)["piece"]) if text.startswith('{"piece"') else _of_text(text)
    return "\n".join(lines)


def _of_arguments(given: list[str]) -> str:
    """What a command makes of its arguments, or what it says of them in its own words, behind those of Python."""
    parser = CommandParser(prog="rlx")
    for name, read in (("--count", positive), ("--seed", integer), ("--from", natural)):
        parser.add_argument(name, type=read)
    parser.add_argument("--time", type=seconds)
    parser.add_argument("--format", choices=("human", "json", "sarif"))
    parser.add_argument("path", nargs="*")
    told = io.StringIO()
    try:
        with redirect_stderr(told):
            return str(parser.parse_args(given))
    except SystemExit as end:
        last = told.getvalue().splitlines()[-1]
        return f"{end.code} {last.rpartition('; ')[2] if '; ' in last else ''}"


class Spans(Dump):
    """A tree with its spans as numbers."""

    def covered(self, span: Any) -> str:
        return "-" if span is None else f"{span[0]}-{span[1]}"


def _said(found: Diagnostic) -> str:
    edit = found.edit and (found.edit.span, found.edit.text)
    related = [(label.span, label.message) for label in found.related]
    return f"{found} {found.span} {found.help} {found.meant} {found.notes} {related} {edit}"


def _of_text(text: str) -> Iterator[str]:
    path = "x.py" if zlib.crc32(text.encode("utf-8", "surrogatepass")) % 2 == 0 else "<text>"
    parsed = parse(text, path)
    yield from map(_said, parsed.diagnostics)
    yield f"{sorted(map(show, parsed.holes))} {sorted(map(_shown, parsed.captured))}"
    for module in parsed.modules:
        yield from _of_module(module, text)
    for version in ("0.16", "0.27"):
        made = format_text(text, path, version)
        yield f"{made.text} {made.complaints} {made.status}"
    yield from _of_lines(text)


def _shown(node: Any) -> str:
    return show(node) if isinstance(node, ast.Expr | ast.StructInfo | tir.PrimExpr) else str(node)


def _of_module(module: ast.IRModule, text: str) -> Iterator[str]:
    """The tree, what is printed of it, and how it compares."""
    yield from Spans(text).lines("module", module, 0)
    printed = {_outcome(lambda v=version: print_module(module, v)) for version in VERSIONS}  # type: ignore[misc]
    yield from sorted(printed)
    yield pasteable(module)
    again = parse(print_module(module)).modules
    yield f"{[first_difference(module, other) for other in again]}"
    yield f"{[first_difference(module, other, True) for other in again]}"
    possible = changes(module)
    for at in range(0, len(possible), 1 + len(possible) // COMPARED):
        other = possible[at]()
        yield f"{first_difference(module, other)} {first_difference(other, module, True)}"
    assert Rewriter().module(module) is module
    assert rebuild(module, lambda node: node) is module
    for rename in (str, lambda name: name[:1], lambda _: "x"):
        copy = copied(module, rename)
        yield f"{print_module(copy)} {first_difference(module, copy)} {first_difference(copy, module)}"
    yield _outcome(lambda: print_module(Longer().module(module)))
    yield _outcome(lambda: print_module(rebuild(module, _longer)))
    for function in module.functions.values():
        if isinstance(function, ast.Function):
            yield from _of_function(function)


def _longer(node: Any) -> Any:
    """A number that is one more."""
    if isinstance(node, tir.IntImm) and node.dtype.bits > 1:
        return tir.IntImm(node.value + 1, node.dtype, node.span)
    return node


class Longer(Rewriter):
    """Numbers that are one more, and of bindings of one variable to another only the first of two."""

    def prim_expr(self, expr: tir.PrimExpr) -> tir.PrimExpr:
        made: tir.PrimExpr = rebuild(expr, _longer)
        return made

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        if isinstance(binding.value, ast.Tuple) and binding.value.fields:
            return ()
        return super().var_binding(binding)


def _outcome(work: Callable[[], str]) -> str:
    """What work gives, or the error that it ends with."""
    try:
        return work()
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__} {error}"


def _of_function(function: ast.Function) -> Iterator[str]:
    names = [f"{var.name_hint}" for var in free_vars(function)]
    yield f"{names} {[g.name_hint for g in called_globals(function)]}"
    yield " ".join(type(each).__name__ for each in bindings(function))
    for node in walk(function):
        if not isinstance(node, ast.Function | ast.SeqExpr | ast.If):
            yield f"{show(node)} | {print_expr(node, '0.16')} | {node!r:.300}"
    for info in struct_infos(function):
        yield f"{show(info)} | {print_struct_info(info, '0.24')} | {_outcome(info._repr_html_)}"


def _of_lines(text: str) -> Iterator[str]:
    """Tokens, logical lines, comments, and what is found without reading."""
    told: list[str] = []
    lexer = Lexer(text, 0, len(text), lambda *said: told.append(str(said)))
    yield " ".join(f"{t.type}{t.start}-{t.end}" for t in lexer)
    yield " ".join(told)
    yield f"{[*logical_lines(text)]} {[*comments(text)]} {metadata_text(text)}"
    yield " ".join(str(tuple(name)) for name in kept_names(text))
    for found in outline(text):
        yield repr(found)


def _of_piece(text: str) -> Iterator[str]:
    """A text that is no whole program, as each thing that it may be."""
    for read, printed in (
        (parse_expr, print_expr),
        (parse_struct_info, print_struct_info),
        (parse_prim_expr, print_prim_expr),
    ):
        yield _outcome(lambda r=read, p=printed: _piece(text, r, p))  # type: ignore[misc]
    yield _outcome(lambda: f"{dtype(text)!r} {lacking(dtype(text))} {dtype(text).is_float}")
    yield _outcome(lambda: unquote(text))
    yield f"{form(text)} {decorator(text)} {data_type(text)} {is_known(text)} {meant_by(text)}"
    yield f"{closest(text, POOL)} {closest_names(text, POOL)}"


def _piece(text: str, read: Callable[[str], Any], printed: Callable[[Any], str]) -> str:
    try:
        found: Record = read(text)
    except ParseError as error:
        told = "\n".join(map(_said, error.diagnostics))
        return f"{told} {error} {error.lineno} {error.offset} {error.text}"
    tree = "\n".join(Spans(text).lines("piece", found, 0))
    return f"{tree}\n{printed(found)} {_shown(found)} {found!r}"


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_texts(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
