"""Record the shape questions that checking real models asks.

Usage: ``python -m benchmarks.prover.record_questions`` checks the networks of `tests/tvm` at every
stage of compilation and after single passes, and those of `dynamic_models.py`, and writes every
distinct question with its facts, and how often it was asked, to `recorded.txt`. Questions that
differ in the names of variables only are one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rlx.checker.check import check_text
from rlx.checker.derive.knowledge import AliasProver
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.dim_arithmetic import same
from rlx.solver.question_parser import show

RECORDED = Path(__file__).parent / "recorded.txt"

_STAGES = {"cached": ("imported",), "shuffled": ("imported",)}
"""What TVM can do with a dynamic model: it cannot legalise those with slices between symbols, nor
lower a dimension 8*k of which k is nowhere given."""

Asked = tuple[PrimExpr, ...]
"""A condition, or two sides of an equation."""


class QuestionRecorder:
    """Counts questions; what operators settle on sight counts as well.

    Attributes
    ----------
    counts
        How often each text was asked.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def note(self, asked: Asked, facts: Sequence[PrimExpr]) -> None:
        """One more question."""
        names: dict[tir.Var, PrimExpr] = {}
        for var in tir.free_vars(*asked, *facts):
            names[var] = tir.Var(_name(len(names)), var.dtype)
        sides = [show(tir.substitute(part, names)) for part in asked]
        known = "; ".join(show(tir.substitute(fact, names)) for fact in facts)
        question = " == ".join(map(_side, sides)) if len(sides) > 1 else sides[0]
        self.counts[f"{question} | {known}" if known else question] += 1

    def patches(self) -> Iterator[tuple[Any, str, object]]:
        """What has to be replaced where so that all provers and operators report here.

        Operators are loaded when they are first needed: those loaded by now are covered.
        """
        yield self._asking("equal", lambda a, b: [(a, b)])
        yield self._asking("always", lambda condition: [(condition,)])
        yield self._asking("never", lambda condition: [(condition,)])
        yield self._asking("relate_all", lambda pairs: [_pair(a, b) for a, b in pairs])
        for name, module in list(sys.modules.items()):
            # `same` of other modules compares other things
            if name.startswith("rlx.operators.") and getattr(module, "same", None) is same:
                yield module, "same", self._sight(same)

    def _asking(
        self, method: str, questions: Callable[..., list[Asked]]
    ) -> tuple[Any, str, object]:
        original = getattr(AliasProver, method)

        def asked(prover: AliasProver, *given: object) -> object:
            for question in questions(*given):
                sides = tuple(prover.resolved(side) for side in question)
                self.note(sides, prover.context.state.facts)
            return original(prover, *given)

        return AliasProver, method, asked

    def _sight(
        self, original: Callable[[PrimExpr, PrimExpr], bool]
    ) -> Callable[[PrimExpr, PrimExpr], bool]:
        def same(a: PrimExpr, b: PrimExpr) -> bool:
            found = original(a, b)
            if found:
                self.note((a, b), ())
            return found

        return same


def _pair(a: PrimExpr, b: PrimExpr) -> Asked:
    is_true = type(b) is tir.IntImm and b.dtype == BOOL and bool(b.value)
    return (a,) if is_true else (a, b)


def _side(text: str) -> str:
    return (
        f"({text})"
        if any(word in text for word in ("=", "<", ">", " and ", " or ", "not "))
        else text
    )


def _name(number: int) -> str:
    return "nmkabcdefghijlopqrstuvwxyz"[number] if number < 26 else f"x{number}"


def programs() -> Iterator[tuple[str, str]]:
    """Names and texts of all that is checked."""
    from benchmarks.prover import dynamic_models
    from tests.tvm import constructs, models, passes

    for model in models.MODELS:
        for stage, module in models.stages(model):
            yield f"{model}-{stage}", str(module.script())
    for name in passes.PASSES:
        yield name, str(passes.apply(name).script())
    for name in constructs.NAMES:
        yield name, str(constructs.build(name).script())
    for model, module in dynamic_models.modules().items():
        for stage in _STAGES.get(model, ("imported", "legalized", "fused")):
            yield f"{model}-{stage}", str(models.STAGES[stage](module).script())


def main() -> int:
    """Write the file."""
    recorder = QuestionRecorder()
    texts = list(programs())
    for name, text in texts:
        check_text(text, name)  # loads the operators
    for owner, attribute, value in recorder.patches():
        setattr(owner, attribute, value)
    for name, text in texts:
        before = recorder.counts.total()
        check_text(text, name)
        print(f"{recorder.counts.total() - before:6} questions of {name}")
    lines = [f"{count}\t{text}" for text, count in recorder.counts.most_common()]
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{recorder.counts.total()} questions, {len(lines)} distinct")
    return 0


if __name__ == "__main__":
    sys.exit(main())
