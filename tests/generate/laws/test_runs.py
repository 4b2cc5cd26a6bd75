"""Runs: determined, sound, and the same for what only looks different."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_module
from rlx.checker.normalize import normalize
from rlx.generate import inputs_for, modules
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import expressions
from rlx.semantics.machine.numpy_conversion import typed
from rlx.semantics.outcome import IllFormed, Returned, Stuck
from rlx.transform.dynamic_checks import eliminate
from tests.semantics.machine.packed import PACKED
from tests.semantics.machine.soundness import examine

from .running import RUNNABLE, entry, run, same

MODULES = modules(size=8, features=RUNNABLE)


@given(MODULES, st.data())
def test_progress(module: ast.IRModule, data: st.DataObject) -> None:
    """A program in which the checker finds nothing never gets stuck, and is never refused by a run."""
    outcome = run(module, data.draw(inputs_for(entry(module))))
    assert not isinstance(outcome, Stuck | IllFormed), outcome


@given(MODULES, st.data())
def test_preservation(module: ast.IRModule, data: st.DataObject) -> None:
    """Derivation is sound: in every configuration a value is one of those that were derived."""
    report = check_module(module, Source("generated", ""))
    (normal,) = report.modules
    function = entry(normal)
    infos = [p.struct_info_annotation for p in function.params]
    plain = data.draw(inputs_for(function))
    args = [typed(p, info) for p, info in zip(plain, infos, strict=True)]
    examine(report, normal, "main", args, PACKED)


@given(MODULES, st.data())
def test_determinism(module: ast.IRModule, data: st.DataObject) -> None:
    """Two runs on the same inputs end alike, to the bit."""
    inputs = data.draw(inputs_for(entry(module)))
    assert same(run(module, inputs), run(module, inputs))


@given(MODULES, st.data(), st.integers(0, 99))
def test_the_order_in_a_dataflow_block_is_free(
    module: ast.IRModule, data: st.DataObject, seed: int
) -> None:
    """Bindings of a dataflow block in another order that keeps definitions before uses: the same end.

    Where a run ends before it returns, another binding may be the first that cannot be evaluated.
    """
    inputs = data.draw(inputs_for(entry(module)))
    before, after = run(module, inputs), run(reordered(module, random.Random(seed)), inputs)
    assert isinstance(before, Returned) == isinstance(after, Returned)
    assert not isinstance(before, Returned) or same(before, after)


def reordered(module: ast.IRModule, rng: random.Random) -> ast.IRModule:
    """The module with the dataflow blocks of its functions' bodies in another order."""
    return module.map_relax_functions(lambda _, f: replace(f, body=_shuffled(f.body, rng)))


def _shuffled(body: ast.Expr, rng: random.Random) -> ast.Expr:
    if not isinstance(body, ast.SeqExpr):
        return body
    blocks = tuple(
        ast.DataflowBlock(tuple(_order(list(b.bindings), rng)))
        if isinstance(b, ast.DataflowBlock)
        else b
        for b in body.blocks
    )
    return replace(body, blocks=blocks)


def _order(left: list[ast.Binding], rng: random.Random) -> list[ast.Binding]:
    """Bindings in a random order in which each stands behind those that it uses; casts keep their places.

    What a cast binds is used by dimensions, and what it learns by what follows, so nothing passes it.
    """
    made: list[ast.Binding] = []
    while left:
        casts = [k for k, b in enumerate(left) if isinstance(b, ast.MatchCast)]
        movable = left[: casts[0]] if casts else left
        if not movable:
            made.append(left.pop(0))
            continue
        bound = {b.var for b in left if isinstance(b, ast.VarBinding)}
        ready = [b for b in movable if isinstance(b, ast.VarBinding) and not _uses(b) & bound]
        chosen = rng.choice(ready)
        left.remove(chosen)
        made.append(chosen)
    return made


def _uses(binding: ast.VarBinding) -> set[ast.Expr]:
    return {e for e in expressions(binding.value) if isinstance(e, ast.Var)}


@given(MODULES, st.data())
def test_checks_that_are_proved_are_not_missed(module: ast.IRModule, data: st.DataObject) -> None:
    """Without the casts that are proved redundant, a program ends as before."""
    inputs = data.draw(inputs_for(entry(module)))
    assert same(run(module, inputs), run(eliminate(normalize(module)), inputs))


@given(modules(size=6, features=frozenset({"symbolic", "call_tir", "inplace"})), st.data())
def test_machine_code_and_steps_agree(module: ast.IRModule, data: st.DataObject) -> None:
    """PrimFuncs as machine code and by the reference evaluator."""
    inputs = data.draw(inputs_for(entry(module)))
    assert same(run(module, inputs), run(module, inputs, "native"), exact=False)
