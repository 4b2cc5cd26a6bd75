"""One argument of a legal call is damaged: what is said points at an argument that there may be, and at the right one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from rlx.grammar.nodes.ast import ShapeExpr, TensorStructInfo, Var
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators import lookup
from tests.operators.cases import LEGAL, Case
from tests.operators.context import Derived, Recorder, derive, shape, tensor, variable
from tests.operators.corners import CORNERS

KINDS = ("int8", "int64", "float16", "float64", "bool", "uint32")
NUMBERS = (-1, -9, 0, 7, 99, 1 << 31, 1 << 70)

WITH_A_LENGTH = {
    *("OBL-concat-dims", "OBL-expand-dims", "OBL-gradient-dims", "OBL-replace-dims"),
    *("OBL-split-sections", "OBL-shuffle-channels", "OBL-pad-negative", "OBL-topk-count"),
    *("OBL-output-size", "OBL-groups-divide", "OBL-group-divides", "OBL-workers-divide"),
    "OBL-view-size",
}
"""What a number breaks together with the length of an operand, at which the error may point."""

TOO_LONG = "does not fit into 32 bits"


def otherwise(argument: Any, numbers: Sequence[int]) -> Iterator[Any]:
    """The argument with one thing changed."""
    match argument:
        case TensorStructInfo():
            kind, device = argument.dtype, argument.vdevice
            for other in KINDS:
                if dtype(other) != kind:
                    yield TensorStructInfo(argument.shape, dtype(other), argument.ndim, device)
            if isinstance(argument.shape, ShapeExpr):
                dims = argument.shape.values
                yield tensor((*dims, 5), str(kind))
                for at in range(len(dims)):
                    yield tensor((*dims[:at], *dims[at + 1 :]), str(kind))
                    yield tensor((*dims[:at], 13, *dims[at + 1 :]), str(kind))
            yield shape((3,))
        case bool():
            return
        case int():
            yield from numbers
        case tuple() | list():
            for at, item in enumerate(argument):
                for other in otherwise(item, numbers):
                    yield (*argument[:at], other, *argument[at + 1 :])


def is_number(argument: Any) -> bool:
    """Whether an argument is a number, or a tuple that begins with one."""
    first = argument[0] if isinstance(argument, tuple | list) and argument else argument
    return isinstance(first, int)


def damaged(
    numbers: Sequence[int], every: int = 1
) -> Iterator[tuple[Case, int | str, Any, Derived]]:
    """Legal calls, which argument of them is changed, to what, and what is said then; of all changes one of so many."""
    at_change = count()
    for name, args, attrs in [*LEGAL, *CORNERS]:
        if derive(name, *args, **attrs).reports:
            continue
        for at, argument in enumerate(args):
            for new in otherwise(argument, numbers):
                if next(at_change) % every:
                    continue
                fewer = (*args[:at], new, *args[at + 1 :])
                yield (name, args, attrs), at, new, derive(name, *fewer, **attrs)
        for word, argument in attrs.items():
            for new in otherwise(argument, numbers):
                if next(at_change) % every:
                    continue
                yield (name, args, attrs), word, new, derive(name, *args, **{**attrs, word: new})


def test_a_report_points_at_an_argument_that_there_may_be() -> None:
    failures, reports = [], 0
    for (name, args, _), at, new, found in damaged(NUMBERS, every=3):
        operator = lookup(f"relax.{name}")
        assert operator is not None
        for (code, severity, message), place in zip(
            found.reports, found.recorder.places, strict=True
        ):
            reports += 1
            names = [parameter.name for parameter in operator.parameters]
            where = (
                names[place]
                if isinstance(place, int) and len(args) <= place < len(names)
                else place
            )
            there = where is None or where in names or where in range(len(args))
            alone = is_number(new) and severity == "error" and code not in WITH_A_LENGTH
            of_another = alone and where not in (None, at)
            if not there or of_another:
                failures.append((name, at, new, place, code, message))
    assert failures == []
    assert reports > 500


def test_where_a_number_may_have_32_bits_it_may_have_all_of_them() -> None:
    least, most = -(1 << 31), (1 << 31) - 1
    refused = defaultdict[Any, set[int]](set)
    for (name, args, attrs), at, new, found in damaged((least - 1, least, most, most + 1)):
        if is_number(new) and any(TOO_LONG in message for _, _, message in found.reports):
            old = args[at] if isinstance(at, int) else attrs[at]
            given, items = ((old,), (new,)) if isinstance(new, int) else (old, new)
            changed = next(n for n, (a, b) in enumerate(zip(given, items, strict=True)) if a != b)
            refused[name, str(args), str(attrs), at, changed].add(items[changed])
    assert len(refused) > 100
    assert [key for key, numbers in refused.items() if numbers != {least - 1, most + 1}] == []


def objects() -> Iterator[tuple[Case, Var, dict[str, Any], tuple[Any, ...]]]:
    """Legal calls with a variable, of which nothing is known, in place of one argument."""
    for name, args, attrs in LEGAL:
        for at in range(len(args)):
            o = variable(OBJECT, "o")
            yield (name, args, attrs), o, attrs, (*args[:at], o, *args[at + 1 :])


def test_what_may_be_something_else_is_warned_of_unless_an_error_stands_behind_it() -> None:
    said = Counter[str]()
    for (name, *_), o, attrs, args in objects():
        found = [r for r in derive(name, *args, **attrs).reports if " may not be " in r[2]]
        recorder = Recorder()
        recorder.poison.add(o)
        silent = derive(name, *args, recorder=recorder, **attrs).reports
        assert [r for r in silent if " may not be " in r[2]] == [], (name, args)
        said.update(message.partition(" may not be ")[2] for _, _, message in found)
    assert all(said[kind] > 3 for kind in ("a tensor", "a shape", "a scalar")), said
