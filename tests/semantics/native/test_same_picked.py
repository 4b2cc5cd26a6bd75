"""The C of PrimFuncs, or why there is none, of those that were picked because each shows a mistake which the others do not.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/native/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.semantics.native.test_same_picked 6000 300 --room semantics/native` picks more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from rlx.grammar import tir
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import Stop
from rlx.semantics.native.arrays import Copies, Damaged, tangled
from rlx.semantics.native.kernel import checked, scalar
from tests.hostile.damage import damaged, tokens
from tests.semantics.native.random_programs import Maker
from tests.semantics.native.sanitised.nests import Nest
from tests.semantics.native.test_same_code import code
from tests.semantics.random_prim_funcs import arguments, functions, printed, program
from tests.semantics.tir.test_same_picked import shown
from tests.snapshots import assert_picked

PARTS = 20


def pool(random: Random) -> str:
    """A text with PrimFuncs; half of them nests that native code reorders, with one number or word changed."""
    if random.random() < 0.5:
        return program(random)
    seed = random.randrange(1 << 30)
    text = printed((Nest if random.random() < 0.7 else Maker)(seed).function())
    for _ in range(random.choice((0, 1, 1, 2))):
        changed = damaged(text, tokens(text), random)
        text = changed if functions(changed) else text
    return f"# {json.dumps({'seed': 0})}\n{text}"


def arrays(func: tir.PrimFunc, asked: dict[str, Any]) -> Iterator[str]:
    """What is said of arguments before a kernel is called."""
    try:
        given = arguments(func, asked)
    except Stop as stop:
        yield stop.message
        return
    for at, (param, value) in enumerate(zip(func.params, given, strict=False)):
        try:
            buffer = func.buffer_map.get(param)
            if buffer is None:
                yield str(scalar(at, param.dtype, value))
            else:
                taken = checked(at, buffer, numpy_type(buffer.dtype), value)
                yield f"{taken is value} {taken.strides} {taken.flags.aligned}"
        except Stop as stop:
            yield stop.message
    written = frozenset(range(0, len(given), 2))
    yield str(tangled(given, written))
    copies = Copies(given, written)
    for at, value in enumerate(given):
        if isinstance(value, np.ndarray):
            copied = copies.compact(at, value)
            yield f"{copied is value} {copied.strides}"
            if copied is not value:
                copied[...] = at
    try:
        copies.finish()
    except Damaged as damage:
        yield f"damaged {damage}"
    yield from map(shown, given)


def answers(text: str) -> str:
    """The C of each PrimFunc of a text, in several settings."""
    head, _, below = text.partition("\n")
    made = functions(below)
    asked = json.loads(head[2:])
    said = ["\n".join(arrays(func, asked)) for func in made]
    found = [code(func, True, True, 32) for func in made]
    found += [code(func, False, False, 64) for func in made]
    found += [code(func, True, False, 16) for func in made]
    return "\n\n".join([*said, *found])


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_functions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
