"""The steps of traces are named by the rules of the judgement "step", and by no others."""

from __future__ import annotations

from itertools import islice

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.semantics.machine import Configuration, load
from rlx.semantics.run.inputs import inputs
from rlx.spec import rules
from tests.spec.examples import PACKED, header

LONGEST = 60


def test_each_rule_of_the_judgement_names_a_step_and_no_part_of_a_step_does() -> None:
    chapter = [rule for rule in rules().values() if rule.file == "evaluation.md"]
    named: set[str] = set()
    for example in (e for rule in chapter for e in rule.examples if e.kind == "run" and e.good):
        options, _, text = header(example)
        given = {k: v for k, v in options.items() if k not in ("fuel", "backend", "iterations")}
        (module,) = check_text(text).modules
        main = module["main"]
        assert isinstance(main, ast.Function)
        ready = load(module, packed=PACKED, backend="steps", output=lambda _: None)
        for now in islice(ready.trace("main", inputs(main, given).values), LONGEST):
            if isinstance(now, Configuration) and now.rule:
                named.add(now.rule)
    judged = {r.identifier for r in rules().values() if r.block and r.block.judgement == "step"}
    assert named == judged
