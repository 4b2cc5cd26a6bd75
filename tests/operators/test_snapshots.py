"""What every call of `cases.py` gives, and all that is said about it, where: held to snapshots.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/operators/test_snapshots.py` writes them anew.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.grammar.ast import Expr, StructInfo, TensorStructInfo
from rlx.grammar.printer import show
from rlx.grammar.tir import PrimExpr
from tests.operators.cases import (
    DIFFERENT,
    ILLEGAL,
    LEGAL,
    OURS,
    UNKNOWN,
    WARNED,
    Case,
    X,
    case,
    ints,
    unknown,
)
from tests.operators.context import VOID, constant, derive, k, m, n, shape, tensor, variable
from tests.operators.test_obligations import MORE
from tests.snapshots import assert_entries

SNAPSHOTS = Path(__file__).parent / "snapshots"

S, K = variable(shape((k, 2)), "s"), tensor((k, 2, m))

CORNERS: list[Case] = [
    case("gather_nd", K, ints((k, m, 2)), batch_dims=1),
    case("gather_nd", K, ints((k, m, 3)), batch_dims=1),
    case("gather_nd", unknown(3), ints((k, m, 2)), batch_dims=1),
    case("gather_nd", K, ints(ndim=2), batch_dims=1),
    *(
        case("strided_slice", X, axes=[0], begin=[a], end=[b], strides=[step], assume_inbound=True)
        for a, b, step in itertools.product((-1, 0, n, m), (-1, 0, n), (1, -1, -2))
    ),
    *(
        case("strided_slice", X, axes=[0], begin=[a], end=[b], strides=[k])
        for a, b in itertools.product((-1, 0, n, m), (-2, n, k))
    ),
    case("strided_slice", X, axes=variable(shape(ndim=1), "s"), begin=[0], end=[1]),
    case("take", X, ints((m,)), axis=0, mode="clip"),
    *(
        case("take", tensor((4, 2)), constant((1, 7), "int64"), axis=0, mode=mode)
        for mode in ("fast", "clip", "wrap", "nan")
    ),
    case("unique", K, return_inverse=True, axis=1),
    case("unique", unknown(2), return_index=True, return_inverse=True, axis=-1),
    case("reshape", K, S),
    case("broadcast_to", tensor((1, 2)), S),
    case("memory.view", X, (n, 4), None, 0),
    case("nn.group_norm", X, tensor((4,)), tensor((4,)), num_groups=2, channel_axis=1, axes=[1]),
    case("nn.group_norm", X, tensor((4,)), tensor((4,)), num_groups=3, channel_axis=-1, axes=[]),
]
"""Arguments at which a rule takes another way."""


def weaker() -> Iterator[tuple[str, Case]]:
    """Legal calls of which less is known: of one argument the shape, the rank or the element type.

    Each outcome stands once, and not more than six of an operator.
    """
    seen = defaultdict[str, set[str]](set)
    for name, args, attrs in LEGAL:
        for at, info in enumerate(args):
            if not isinstance(info, TensorStructInfo):
                continue
            unshaped = TensorStructInfo(None, info.dtype, info.ndim, info.vdevice)
            untyped = TensorStructInfo(info.shape, VOID, info.ndim, info.vdevice)
            for less in (unshaped, TensorStructInfo(None, info.dtype, -1, info.vdevice), untyped):
                call: Case = (name, (*args[:at], less, *args[at + 1 :]), attrs)
                found = derive(*call[:1], *call[1], **attrs)
                outcome = f"{found} {[report[:2] for report in found.reports]}"
                if outcome not in seen[name] and len(seen[name]) < 6:
                    seen[name].add(outcome)
                    yield "", call


CASES: dict[str, list[tuple[str, Case]]] = {
    "corners": [("", call) for call in CORNERS],
    "weaker": list(weaker()),
    "legal": [("", call) for call in LEGAL],
    "different": [("", call) for call, *_ in DIFFERENT],
    "errors": [*ILLEGAL, *OURS, *MORE],
    "warnings": [*WARNED, *UNKNOWN],
}


def shown(value: Any) -> str:
    """An argument, on one line."""
    match value:
        case Expr() | StructInfo() | PrimExpr():
            return " ".join(show(value).split())
        case tuple() | list():
            return f"({', '.join(map(shown, value))})"
    return repr(value)


def entries(cases: list[tuple[str, Case]]) -> Iterator[tuple[str, str]]:
    """A heading for each call, and what is said of it with the number of the argument it points at."""
    seen = Counter[str]()
    for code, (name, args, attrs) in cases:
        given = [*map(shown, args), *(f"{k}={shown(v)}" for k, v in attrs.items())]
        heading = f"{code} {name}({', '.join(given)})".strip()
        seen[heading] += 1
        if seen[heading] > 1:
            heading += f" ({seen[heading]})"
        found = derive(name, *args, **attrs)
        lines = [f"-> {found}"]
        for report, place in zip(found.reports, found.recorder.places, strict=True):
            lines += [f"{report[1]} {report[0]} at {place!r}", f"  {report[2]}"]
        yield heading, "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_calls(name: str) -> None:
    assert_entries(SNAPSHOTS / f"{name}.txt", entries(CASES[name]))


def test_which_obligations_are_plain() -> None:
    """For each legal call, how many obligations hold on sight, and how many the prover is asked.

    The prover takes longer, and gives the same answer: nothing else shows the difference.
    """
    counts = defaultdict[str, list[str]](list)
    for name, args, attrs in LEGAL:
        recorder = derive(name, *args, **attrs).recorder
        counts[name].append(f"{recorder.discharged}+{recorder.required}")
    entries = ((name, " ".join(found)) for name, found in sorted(counts.items()))
    assert_entries(SNAPSHOTS / "plain.txt", entries)
