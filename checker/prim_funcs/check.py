"""The check of a module's PrimFuncs, with TIR12 and TIR13: the regions that blocks declare."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache, partial
from keyword import kwlist

from rlx.checker.prim_funcs.expressions import dimension
from rlx.checker.prim_funcs.out_of_bounds import bounds
from rlx.checker.prim_funcs.state import PrimFuncCheck, enter_parameters, survey, undefined, within
from rlx.checker.prim_funcs.statements import elements, statement
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import evaluated
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.read.python_syntax import free_names
from rlx.grammar.read.source_tokens import words_in
from rlx.grammar.read.surroundings import Surroundings
from rlx.solver.prim_exprs import conditional
from rlx.spec.registry import rule


def prim_funcs(
    module: IRModule,
    source: Source | None = None,
    errors: Sequence[Span | None] = (),
    captured: Collection[Node] = frozenset(),
) -> list[Diagnostic]:
    """Every violation of TIR01 to TIR17 in the PrimFuncs of a module.

    Parameters
    ----------
    source
        The text that the module was read from. In a Python file, names may be captured.
    errors
        Where the text has syntax errors.
    captured
        Variables, annotations and PrimFuncs whose meaning Python around the program gives.
    """
    found: list[Diagnostic] = []
    captures = _captures(source)
    for function in module.prim_funcs.values():
        text = None if source is None else source.text
        state = PrimFuncCheck(function, captures(function), text, module.type_vars)
        state.from_python = captured
        state.incomplete = function in captured
        state.mistakes = [span for span in errors if within(span, function.span)]
        survey(state)
        enter_parameters(state)
        for extent in _computed_extents(function):
            dimension(state, extent)
        for buffer in function.buffer_map.values():
            elements(state, buffer)
        statement(state, function.body)
        _kept_names(state)
        if not state.diagnostics and not state.mistakes:
            bounds(state)
            regions(state)
            is_marked(state)
        found += state.diagnostics
    return found


_WORD = re.compile(
    r"""#[^\n]*|(?<![fF])(?:"[^"\n]*"|'[^'\n]*')|(?<![\w.])(?<!def )([A-Za-z_]\w*)(?!\w|\s*=[^=])"""
)
"""The names in a text; empty for comments and strings, but for formatted ones."""
_OUTSIDE = re.compile(r"\b(?:class\s+\w+|import\b[^\n]*)")
_KNOWN = frozenset([*kwlist, *dir(builtins), "T", "R", "I", "metadata", ""]) - {"_"}


def _kept_names(state: PrimFuncCheck) -> None:
    """The names in attributes and in text that is kept are bound, too."""
    function, source = state.function, state.source
    if state.incomplete or source is None or function.span is None:
        return
    words = {*_WORD.findall(source, *function.span)} - _KNOWN - state.everywhere.keys()
    words -= {each.name for each in function.params}
    words -= {each.name for each in function.buffer_map.values()}
    words = {word for word in words if not state.captured(word)}
    # Few functions have others: comments, attributes. In 2022, a buffer declared its dimensions.
    if not words or is_prototype(source):
        return
    for name, span in free_names(source, function.span):
        if name in words and name not in _outside(source) and state.once(("name", name)):
            undefined(state, name, span, state.names)


@lru_cache(maxsize=4)
def _outside(text: str) -> frozenset[str]:
    """The names of modules and, also in printed comments, of what is imported."""
    parts = _OUTSIDE.findall(text)
    return frozenset(word for part in parts for word in words_in(part, (0, len(part))))


def _computed_extents(function: tir.PrimFunc) -> Iterator[tir.PrimExpr]:
    """The dimensions of the parameters' buffers that are no variables or whole numbers alone."""
    for buffer in function.buffer_map.values():
        yield from (each for each in buffer.shape if type(each) not in (tir.Var, tir.IntImm))


def _captures(source: Source | None) -> Callable[[tir.PrimFunc], Callable[[str], bool]]:
    """Whether a name in a function may come from the Python around it: something there binds it."""
    if source is None or not source.path.endswith(".py"):
        return lambda function: lambda name: False
    around = Surroundings(source.text)

    def captured(function: tir.PrimFunc) -> Callable[[str], bool]:
        scope = around.scope_at(function.span[0] if function.span else 0)
        return partial(around.may_bind, scope)

    return captured


def regions(state: PrimFuncCheck) -> None:
    """Look at each block that says what it reads and writes."""
    for block in evaluated(state.function.body, tir.Block):
        covers(state, block)


@rule("TIR12", "PrimFunc")
def covers(state: PrimFuncCheck, block: tir.Block) -> None:
    """A block without others in it says which buffers from around it it stores to, and of which it
    stores elements.
    """
    if any(inner is not block for inner in evaluated(block, tir.Block)):
        return
    if not block.reads and not block.writes:  # it leaves both to a comment, as TVM's own kernels do
        return
    listed = {"reads": _named(block.reads), "writes": _named(block.writes)}
    # What a block writes it may also read: a reduction does.
    own = {*block.alloc_buffers, *(listed["writes"] or ())}
    for buffer, word, span in _touched(block, own):
        named = listed[word]
        if named is None or buffer in named or buffer in own:
            continue
        if state.once((word, block, buffer)):
            state.report(
                f"TIR12-{word}",
                (
                    f"the block {block.name!r} {word} {buffer.name!r}, but its T.{word} does"
                    " not list it"
                ),
                span,
                severity="warning",
                help=f"add it to T.{word}, or omit T.reads and T.writes",
            )


_BLOCKS = frozenset(["T.sblock", "T.sblock_alloc_buffer"])


@rule("TIR13", "PrimFunc")
def is_marked(state: PrimFuncCheck) -> None:
    """A function with blocks says that it is one for schedules."""
    function = state.function
    if state.source is None or function.span is None or function.attrs.get("s_tir"):
        return
    if (
        "T.sblock" not in state.source[slice(*function.span)]
    ):  # most have none: no need to read them
        return
    names = kept_names(state.source, *function.span)
    found = next((n for n in names if n.name in _BLOCKS and n.after == "("), None)
    if found is not None and not has_old_forms(state.source):
        state.report(
            "TIR13-mark",
            f"{found.name} is used in a PrimFunc without s_tir=True, which TVM rejects since 0.25",
            found.span,
            severity="warning",
            help="write `@T.prim_func(s_tir=True)`",
        )


@lru_cache(maxsize=4)
def has_old_forms(text: str) -> bool:
    """Whether a text has what only versions before 0.26 read: 0.24 knows no mark."""
    return any(word in text for word in ("R.Object", "out_sinfo", "sinfo_args")) and any(
        n.name == "R.Object" or (n.name in ("out_sinfo", "sinfo_args") and n.after == "=")
        for n in kept_names(text)
    )


def _named(given: tuple[tir.PrimExpr, ...] | None) -> set[tir.Buffer] | None:
    """The buffers of regions; None where they are not all understood."""
    if given is None or not all(isinstance(region, tir.BufferLoad) for region in given):
        return None
    return {region.buffer for region in given if isinstance(region, tir.BufferLoad)}


def _touched(
    block: tir.Block, own: set[tir.Buffer]
) -> Iterator[tuple[tir.Buffer, str, Span | None]]:
    """The buffers and indices that the body stores to; buffers that are bound in it are added to
    ``own``.
    """
    for stmt in evaluated(block, tir.Stmt):
        match stmt:
            case tir.BufferStore(buffer=buffer, value=value):
                yield buffer, "writes", stmt.span
                yield from _loads(value)
            case tir.AllocBuffer(buffer=buffer) | tir.MatchBuffer(buffer=buffer):
                own.add(buffer)


def _loads(value: tir.PrimExpr) -> Iterator[tuple[tir.Buffer, str, Span | None]]:
    """The elements that a value is made of: TVM's own kernels leave out what only indices and
    conditions read.
    """

    def below(node: tir.PrimExpr) -> Sequence[tir.PrimExpr]:
        if isinstance(node, tir.BufferLoad):
            return ()
        return tir.children(node)[1 if conditional(node) else 0 :]

    for node in tir.reached([value], below):
        if isinstance(node, tir.BufferLoad):
            yield node.buffer, "reads", node.span
