"""Modules that TVM 0.27's own passes break, with nothing said: found, named, and nothing else reported."""

from __future__ import annotations

from collections import Counter

from tvm.relax import transform

from rlx.checker.check import check_text

from . import constructs, models
from .networks.layers import Module


def errors(module: Module) -> Counter[tuple[str, str]]:
    """The number of times that each code was reported as an error, with the marked words up to a type."""
    text = str(module.script())
    found = check_text(text).diagnostics
    return Counter(
        (d.code, text[slice(*d.span)].partition(":")[0]) for d in found if d.is_error and d.span
    )


def test_storage_shared_by_two_branches() -> None:
    """StaticPlanBlockMemory lets one branch of an if use the storage that the other one allocates.

    TVM prints it as a variable without a value, and nothing more is said of that one.
    """
    assert errors(models.lowered(constructs.build("if_else"))) == {("PARSE", "storage1"): 1}


def test_a_closure_lifted_out_of_its_variables() -> None:
    """LambdaLift leaves uses of a closure that the lifted function does not get."""
    assert errors(transform.LambdaLift()(constructs.build("closures"))) == {("PARSE", "scale_1"): 2}


def test_effects_in_a_dataflow_block() -> None:
    """LazyTransformParams asks for parameters, with effects, inside a dataflow block.

    It also uses what it killed.
    """
    lifted = transform.LiftTransformParams()(models.MODELS["encoder_decoder"]())
    found = errors(transform.LazyTransformParams()(lifted))
    assert {code for code, _ in found} == {"D14-impure", "PARSE", "MEM-alive-used"}
    calls = [words for code, words in found.elements() if code == "D14-impure"]
    assert sum("get_item" in words for words in calls) > 40
