"""The programs beside the rules of `spec/old/`, executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.read.parser import parse
from rlx.old import check_text
from rlx.old.check import check_modules
from rlx.old.evaluation import run
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Ended, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.run.value_text import line
from rlx.semantics.values import Value
from rlx.spec.coverage import RuleCounts
from rlx.spec.reader import Example, Rule
from rlx.spec.registry import observing
from tests.old.procedures import called

TREE = "main("
"""How a program begins that Python builds."""


def _module(text: str, nodes: Mapping[str, Any]) -> ast.IRModule:
    own = {"op": ast.op, "RuntimeDepShape": RuntimeDepShape}
    module: ast.IRModule = eval(text, {**vars(tir), **vars(ast), **nodes, **own})
    return module


def reported(example: Example, nodes: Mapping[str, Any]) -> list[str]:
    """The errors and warnings by the rules of 2022."""
    if example.text.startswith(TREE):
        found = check_modules((_module(example.text, nodes),), Source("")).diagnostics
    else:
        found = check_text(example.text).diagnostics
    return [d.code for d in found if d.severity != "note"]


def older(example: Example, rule: Rule, nodes: Mapping[str, Any]) -> list[str]:
    """The same; behind them the premises of the rule that fail without a report of their own."""
    counts = RuleCounts()
    with observing(counts):
        codes = reported(example, nodes)
    unsaid = (c for c in example.codes if c not in codes and c in rule.premises)
    return [*codes, *(code for code in unsaid if counts.failed[code])]


def procedures(example: Example) -> list[str]:
    """Calls of the document's procedures, one a line; the codes of the errors that they raise."""
    return [code for text in example.text.splitlines() if (code := called(text))]


def olderrun(example: Example, nodes: Mapping[str, Any], packed: Mapping[str, Any]) -> list[str]:
    """The end of a run by the rules of 2022: a code, or another result than the first line says."""
    head, _, text = example.text.partition("\n")
    said, _, result = (part.strip() for part in head.removeprefix("#").partition("=>"))
    options = dict(word.strip().split("=", 1) for word in said.split(";") if word.strip())
    fuel = int(options.pop("fuel", 10_000))
    args: Sequence[Value]
    if text.startswith(TREE):
        module, args = _module(text, nodes), [to_value(np.zeros(2, np.float32))]
    else:
        (module,) = parse(text).modules
        function = module["main"]
        assert isinstance(function, ast.Function)
        args = inputs(function, options).values
    outcome = run(module, "main", args, fuel=fuel, packed=packed, output=lambda _: None)
    if isinstance(outcome, Returned):
        got = line(outcome.value)
        return [] if not result or result == got else [f"returned {got}"]
    assert isinstance(outcome, Ended), outcome
    return [outcome.code]
