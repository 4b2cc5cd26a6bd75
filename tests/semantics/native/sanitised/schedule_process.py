"""A process that schedules: a line of JSON for each number from the one that it is given, with texts and what was done to them.

TVM's schedules make some processes crash.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import count
from typing import Any

from rlx.generate.campaign.peer import Peer
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import print_module

from .expression_stages import tensor_expression
from .legalised import Call
from .schedules import STEPS, lowered

Changed = tuple[str, list[str]]


def texts(peer: Peer, number: int) -> list[Changed]:
    """Functions after one step or several, each with the names of its steps."""
    rng = random.Random(number)
    try:
        made = tensor_expression(rng) if rng.random() < 0.5 else _legalised(peer, rng)
    except Exception:  # noqa: BLE001 - what TVM does not legalise has no schedule
        return []
    return [changed(base, rng) for base in made for _ in range(2)]


def changed(base: Any, rng: random.Random) -> Changed:
    """The text of a function after random steps, and what they were."""
    import tvm
    from tvm import s_tir

    words: list[str] = []
    schedule = s_tir.Schedule(tvm.IRModule({"main": base}))
    for _ in range(rng.randint(1, 8)):
        step = rng.choice(STEPS)
        try:
            step(schedule, rng)
            words.append(step.__name__)
        except Exception:  # noqa: BLE001 - a step that this function does not allow
            words.append(f"(not {step.__name__})")
    module = schedule.mod
    if rng.random() < 0.3:
        try:
            module = lowered(module, rng)
            words.append("lowered")
        except Exception:  # noqa: BLE001 - TVM lowers not everything that it schedules
            module = schedule.mod
    return module["main"].script(), words


def _legalised(peer: Peer, rng: random.Random) -> list[Any]:
    """The PrimFuncs of one operator."""
    functions: dict[ast.GlobalVar, object] = {ast.GlobalVar("f"): Call(rng).function(0)}
    text = print_module(ast.IRModule(functions), "0.27")  # type: ignore[arg-type]
    module = peer.relax.transform.LegalizeOps()(peer.read(text))
    found = [func for func in module.functions.values() if "PrimFunc" in type(func).__name__]
    return [func.with_attr("global_symbol", "main") for func in found]


if __name__ == "__main__":
    for number in count(int(sys.argv[1])):
        sys.stdout.write(json.dumps([number, texts(Peer(), number)]) + "\n")
        sys.stdout.flush()
