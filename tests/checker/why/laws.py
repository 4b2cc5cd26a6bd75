"""Laws of every derivation; ``python -m tests.checker.why.laws [PROGRAMS]`` runs long.

A tree must conclude what the checker concluded, and lead to every premise that fails.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from rlx.checker.check import Report, check_text
from rlx.checker.why.build import StepBuilder
from rlx.checker.why.explain import at_place
from rlx.checker.why.recorder import recording
from rlx.checker.why.step import Step, every, settle
from rlx.generate.near import CODES, near_miss
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import print_module
from rlx.grammar.print.show import show
from rlx.spec import rules
from rlx.spec.registry import implementations


def broken_laws(text: str) -> Iterator[str]:
    """The problems with the derivations of a text."""
    with recording() as recorder:
        report = check_text(text)
    builder = StepBuilder(report, recorder)
    yield from _conclusions(builder, report)
    yield from _failures(builder, report)


def _conclusions(builder: StepBuilder, report: Report) -> Iterator[str]:
    """Each tree concludes the struct info of the checker's table, by registered rules."""
    roots: list[Step] = []
    for node, info in report.info.items():
        if not isinstance(node, ast.Expr):
            continue
        step = builder.expression(node)
        roots.append(step)
        if step.kind != "rule" or step.info is None or show(step.info) != show(info):
            yield f"{show(node)} is {show(info)}, and the tree says {step}"
        record = builder.records.get(node)
        placed = any(below.code == "VDEV-propagate" for _, below in step.below)
        if record is not None and show(record.result) != show(info) and not placed:
            yield f"{show(node)} is {show(info)}, and {record.name} gave {show(record.result)}"
    settle(roots)
    for step in every(roots):
        if step.kind == "rule" and step.code not in implementations:
            yield f"no function is registered for {step.code}"


def _failures(builder: StepBuilder, report: Report) -> Iterator[str]:
    """At the place of each diagnostic some tree has the premise that failed."""
    for found in report.diagnostics:
        line, column = report.source.position((found.span or (0, 0))[0])
        for at in (None, column):
            roots = at_place(builder, report, line, at).roots
            if not any(_is_failure(step, found.code) for step in every(roots)):
                yield f"{found.code} fails at {line}:{column}, and no tree there says so"


def _is_failure(step: Step, code: str) -> bool:
    return step.kind == "premise" and step.code == code and step.status != "holds"


def of_rules() -> Iterator[tuple[str, int, str]]:
    """The programs beside the rules of the specification."""
    for name, rule in rules().items():
        for at, example in enumerate(rule.examples):
            if example.kind == "relax":
                yield name, at, example.text


def main(count: int) -> int:
    """Check the laws on near misses, the specification's programs, and random ones."""
    from hypothesis import HealthCheck, Phase, given, settings

    from rlx.generate import modules

    texts = {code: print_module(near_miss(code, random.Random(0))) for code in CODES}
    texts |= {f"{name} {at}": text for name, at, text in of_rules()}
    wrong = 0
    for name, text in texts.items():
        for problem in broken_laws(text):
            wrong += 1
            print(f"{name}: {problem}")

    @settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(modules())
    def hold(module: ast.IRModule) -> None:
        assert not list(broken_laws(print_module(module)))

    hold()
    print(f"{len(texts)} texts, {count} programs: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 500))
