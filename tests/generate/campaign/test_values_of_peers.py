"""Values of each kind on their way to a peer and back; ends of two machines; passes behind passes that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.oracles.run import backend_findings
from rlx.semantics.outcome import CheckFailed, Ended, Fault, Outcome, Returned, Stuck
from rlx.semantics.values import Scalar, ShapeValue, Tensor
from tests.generate.campaign.test_oracles import (
    LEGAL_SEED,
    PROGRAM,
    Array,
    Peer,
    Sizes,
    edited,
    put,
    raising,
)

KINDS = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), s: R.Shape([2, 3]), p: R.Prim("int64"), t: R.Tuple(R.Tensor((2,), "float32"), R.Shape([3]))) -> R.Object:
        return (x, s, p, t)
"""


class Negative(Array):
    """The peer's name for a tensor with a negative length."""

    def numpy(self) -> Any:
        raise ValueError("negative dimensions are not allowed")


CHANGES: dict[str, tuple[Callable[[Any, Any, Any, Any], Any], str]] = {
    "nothing": (lambda x, s, p, t: (x, s, p, t), ""),
    "a list": (lambda x, s, p, t: [x, s, p, list(t)], ""),
    "another tensor": (lambda x, s, p, t: (Array(x.data + 1), s, p, t), "field 0: 2 of 2 elements"),
    "another shape": (lambda x, s, p, t: (x, Sizes((2, 4)), p, t), "(2, 3) became (2, 4)"),
    "a longer shape": (lambda x, s, p, t: (x, Sizes((2, 3, 1)), p, t), "(2, 3) became (2, 3, 1)"),
    "another number": (lambda x, s, p, t: (x, s, p + 1, t), " became "),
    "a tuple inside": (lambda x, s, p, t: (x, s, p, (t[0], Sizes((4,)))), "field 3: field 1: (3,) became (4,)"),
    "a shape for a tensor": (lambda x, s, p, t: (s, s, p, t), "a Tensor became a ShapeValue"),
    "a number for a shape": (lambda x, s, p, t: (x, 1.5, p, t), "a ShapeValue became a Scalar"),
    "a part less": (lambda x, s, p, t: (x, s, p), "a TupleValue became a TupleValue"),
    "a function": (lambda x, s, p, t: (x, s, p, object()), ""),
    "a length below 0": (lambda x, s, p, t: (Negative(0), s, p, t), "expected a tensor from TVM: negative dimensions"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_each_kind_of_value(change: str) -> None:
    """The peer returns its argument with one change."""
    returned, words = CHANGES[change]
    given: list[Any] = []

    def main(*args: Any) -> Any:
        given.append(args)
        return returned(*args)

    found = put("run", Peer(compiled=lambda module, without=(): {"main": main}), KINDS)
    x, s, p, (inner, sizes) = given[0]
    assert [type(part) for part in (x, s, inner, sizes)] == [Array, Sizes, Array, Sizes]
    assert isinstance(p, int) and (s, sizes) == ((2, 3), (3,))
    if not words:
        assert found == []
        return
    [(kind, stage, _, sentence)] = found
    assert (kind, stage) == ("wrong-code", "TVM's virtual machine")
    assert words in sentence


def _ended(kind: type[Ended], words: str) -> Outcome:
    return kind("E-rule", "E-rule-premise", words, (3, 4), ())


ONE = Returned(Tensor(np.zeros(2, "float32")))
ENDS: list[tuple[Outcome, Outcome, str]] = [
    (ONE, ONE, ""),
    (ONE, Returned(Tensor(np.ones(2, "float32"))), "2 of 2 elements of float32, at (0,): 1.0 became 0.0"),
    (ONE, Returned(Scalar(1)), "a Scalar became a Tensor"),
    (Returned(ShapeValue((1,))), Returned(ShapeValue((2,))), "(2,) became (1,)"),
    (_ended(Fault, "a"), _ended(Fault, "b"), ""),
    (ONE, _ended(Fault, "b"), "native code: "),
    (_ended(CheckFailed, "a"), _ended(Fault, "b"), "native code: "),
    (_ended(Stuck, "no rule"), ONE, "no rule"),
    (ONE, _ended(Stuck, "no rule"), "no rule"),
    (_ended(Stuck, "no rule"), _ended(Stuck, "none"), "no rule"),
]  # fmt: skip


@pytest.mark.parametrize(("native", "steps", "words"), ENDS)
def test_ends_of_two_machines(native: Outcome, steps: Outcome, words: str) -> None:
    found = [*backend_findings(Case(PROGRAM, LEGAL_SEED, "", lambda _: None), native, steps)]
    assert bool(found) == bool(words)
    for each in found:
        assert each.kind == "wrong-code" and each.sentence.startswith(words)
        assert each.rule == ("E-rule" if "Stuck" in f"{type(native)}{type(steps)}" else "")


CHAIN = ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR", "RewriteDataflowReshape")


def _chain(**made: Callable[[Any], Any]) -> Callable[[], list[tuple[str, Callable[[Any], Any]]]]:
    """Passes, of which some do something."""
    return lambda: [(name, made.get(name, lambda module: module)) for name in CHAIN]


def test_a_pass_behind_one_that_fails_is_not_blamed() -> None:
    wrong = edited("R.add(x, y)", "R.subtract(x, y)")
    illegal = edited("R.add(x, y)", "R.add(x, z)")
    failing = raising(RuntimeError("died"))
    assert put("passes", Peer(passes=_chain())) == []
    for behind in CHAIN[1:]:
        [(kind, stage, _, _)] = put(
            "passes", Peer(passes=_chain(LegalizeOps=failing, **{behind: wrong}))
        )
        assert (kind, stage) == ("crash", "LegalizeOps")
    [(kind, stage, _, _)] = put("passes", Peer(passes=_chain(LegalizeOps=illegal, FuseOps=wrong)))
    assert (kind, stage) == ("wrong-code", "LegalizeOps")
    assert [f[:2] for f in put("passes", Peer(passes=_chain(AnnotateTIROpPattern=failing, FuseOps=wrong)))] == [
        ("crash", "AnnotateTIROpPattern")
    ]  # fmt: skip
    assert [f[:2] for f in put("passes", Peer(passes=_chain(FuseTIR=wrong)))] == [("wrong-code", "FuseTIR, run")]  # fmt: skip


def test_a_pass_behind_an_ill_formed_module_is_not_asked() -> None:
    seen: list[Any] = []

    def legalized(module: Any) -> Any:
        seen.append(edited("R.add(x, y)", "R.multiply(x, y)")(module))
        return seen[-1]

    peer = Peer(
        passes=_chain(LegalizeOps=legalized, FuseOps=raising(RuntimeError("asked"))),
        why_ill_formed=lambda module: "bound twice" if any(module is each for each in seen) else "",
    )
    [(kind, stage, cause, _)] = put("passes", peer)
    assert (kind, stage, cause) == ("wrong-code", "LegalizeOps", "ill-formed: bound twice")
