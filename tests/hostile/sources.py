"""The programs that the hostile tests damage: examples, generated ones, and what TVM prints."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from rlx.generate.programs import Options, random_module
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.outline import metadata_span
from rlx.grammar.read.parser import parse
from tests.spec.programs import CHAPTERS, beside

from .corpus import examples

WHOLE = 5_000
"""Longer texts than this many characters are cut into functions, each with all that it calls."""


def of_examples() -> Iterator[tuple[str, str]]:
    """The programs under ``examples/`` without an error of syntax, with their names."""
    for path in examples():
        text = path.read_text("utf-8")
        if not any(d.is_error for d in parse(text).diagnostics):
            yield path.stem, text


def generated(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Random programs, in the spelling of random versions."""
    for number in range(seed, seed + count):
        rng = random.Random(number)
        version = rng.choice(["0.16", "0.24", "0.26", "0.27", "0.27"])
        yield f"generated-{number}", print_module(random_module(rng, Options(8)), version)


def read_by_tvm() -> Iterator[tuple[str, str]]:
    """Texts of unusual constructs that TVM reads."""
    for path in sorted((Path(__file__).parents[1] / "tvm" / "texts").glob("*.txt")):
        yield path.stem, path.read_text("utf-8")


def written() -> Iterator[str]:
    """Short texts written by people: those beside the rules, the examples, unusual constructs."""
    for chapter in CHAPTERS:
        yield from (text for _, text in beside(chapter))
    yield from (text for _, text in of_examples())
    yield from (text for _, text in read_by_tvm())


def printed_by_tvm() -> Iterator[tuple[str, str]]:
    """TVM's texts: networks in their stages, after single passes, unusual constructs; metadata included."""
    from tests.tvm import constructs, models, passes

    for name in constructs.NAMES:
        if name != "long_function":
            yield name, constructs.build(name).script(show_meta=True)
    for name in passes.PASSES:
        yield from functions(name, passes.apply(name).script(show_meta=True))
    for model in models.MODELS:
        for stage, module in models.stages(model):
            yield from functions(f"{model}-{stage}", module.script(show_meta=True))


def functions(name: str, text: str) -> Iterator[tuple[str, str]]:
    """A text that is short enough, or its functions, each with those it calls and the metadata it uses."""
    if len(text) <= WHOLE:
        yield name, text
        return
    (module,) = parse(text).modules
    held = metadata_span(text)
    head = re.search(r"^(\w+ = TypeVar.*\n)*@I\.ir_module.*\nclass .*\n", text, re.MULTILINE)
    assert head is not None
    for var in module.functions:
        body = "".join(_source(text, module.functions[v]) for v in _reached(module, var))
        if len(body) <= WHOLE:
            data = text[: text.index("\n", held[1]) + 1] if held and "metadata[" in body else ""
            yield f"{name}.{var.name_hint}", f"{data if len(data) < WHOLE else ''}{head[0]}{body}"


def _reached(module: ast.IRModule, start: ast.GlobalVar) -> list[ast.GlobalVar]:
    found = [start]
    for var in found:
        function = module.functions[var]
        if isinstance(function, ast.Function):
            called = [e for e in expressions(function) if isinstance(e, ast.GlobalVar)]
            found += dict.fromkeys(c for c in called if c in module.functions and c not in found)
    return found


def _source(text: str, function: object) -> str:
    """The lines of a function, its decorator included."""
    start, end = function.span  # type: ignore[attr-defined]
    above = text.rfind("\n    @", 0, start) + 1
    return f"{text[above:end].rstrip()}\n\n"
