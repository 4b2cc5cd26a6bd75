"""After every edit the diagnostics are those of a check of the whole text."""

from __future__ import annotations

import random
import time

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.lsp import incremental
from rlx.lsp.incremental import Checker, pieces
from tests.hostile.damage import damaged, tokens


def module(functions: int, bindings: int = 4) -> str:
    lines = ["@I.ir_module", "class Module:"]
    for k in range(functions):
        lines += [
            "    @R.function",
            (
                f'    def f{k}(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) '
                '-> R.Tensor(("n", 4), "float32"):'
            ),
            "        cls = Module",
            *(f"        v{i} = R.add({f'v{i - 1}' if i else 'x'}, y)" for i in range(bindings)),
            f"        w = {f'cls.f{k - 1}(v0, y)' if k else 'R.exp(v0)'}",
            "        return w",
            "",
        ]
    return "\n".join(lines) + "\n"


def said(found: tuple[Diagnostic, ...]) -> list[tuple[object, ...]]:
    return sorted(
        (d.span, d.code, d.severity, d.message, tuple(r.span for r in d.related), d.help or "")
        for d in found
    )


def test_functions_are_found() -> None:
    text = module(3)
    found = pieces(text)
    assert len(found) == 3
    assert [text[slice(*p.span)].count("def ") for p in found] == [1, 1, 1]
    assert all(text[slice(*p.span)].startswith("    @R.function\n") for p in found)


def edits(seed: int, count: int) -> int:
    """Make edits one after the other; how many of them were checked without the rest of the text."""
    rng = random.Random(seed)
    text = module(5)
    checker = Checker("a.rlx")
    assert checker.check(text) == ()
    cheap = 0
    for _ in range(count):
        before = checker.full
        edited = damaged(text, tokens(text), rng)
        assert said(checker.check(edited)) == said(check_text(edited, "a.rlx").diagnostics), edited
        cheap += checker.full == before
        if rng.random() < 0.2:
            text = edited
        else:
            checker.check(text)
    return cheap


def test_an_edit_gives_what_a_check_of_all_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "SMALL", 0)
    assert sum(edits(seed, 20) for seed in range(6)) > 10


def test_an_edit_in_a_long_file_costs_what_its_function_costs() -> None:
    text = module(300, 20)
    assert len(text.splitlines()) > 7000
    checker = Checker("a.rlx")
    start = time.perf_counter()
    checker.check(text)
    whole = time.perf_counter() - start
    at = text.index("def f150")
    edited = text[:at] + text[at:].replace("R.add(x, y)", "R.add(x, q)", 1)
    start = time.perf_counter()
    found = checker.check(edited)
    again = time.perf_counter() - start
    assert [d.code for d in found] == ["WF02-undefined"] and checker.full == 1
    assert again < whole / 3


def test_a_bracket_that_is_still_open_is_of_one_function() -> None:
    """What everybody types: a call that is not closed yet is checked without the other functions."""
    text = module(80)
    at = text.index("v1 = R.add(v0, y)", text.index("def f40("))
    checker = Checker("a.rlx")
    checker.check(text)
    for edited in (text[: at + 15] + text[at + 17 :], text):
        assert said(checker.check(edited)) == said(check_text(edited, "a.rlx").diagnostics)
    assert checker.full == 1
