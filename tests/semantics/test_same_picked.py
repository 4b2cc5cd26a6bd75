"""All that is said of values: by the functions of the run time, casts, literals and files, of questions that were picked because
each shows a mistake which the others do not.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.semantics.test_same_picked 6000 300 --room semantics/machine` picks more of them.
"""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.grammar.dtype import dtype
from rlx.grammar.printer import show
from rlx.semantics.cast import CastFailed, check
from rlx.semantics.demanded import bound_by
from rlx.semantics.faults import Stop
from rlx.semantics.machine.builtin_words import TAKES, misused
from rlx.semantics.machine.builtins import BUILTINS
from rlx.semantics.machine.message_text import show as in_words
from rlx.semantics.machine.numpy_conversion import to_plain, to_value, typed, values_inside
from rlx.semantics.run.files import load, save
from rlx.semantics.run.json_values import json_value
from rlx.semantics.run.literals import from_python, literal, value_of
from rlx.semantics.run.options import UsageError, given_inputs
from rlx.semantics.run.value_text import block, line
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import Tensor, Value, fitted, fitted_arguments, fitted_scalar
from tests.semantics.random_values import asked as pool
from tests.semantics.random_values import plain, read
from tests.snapshots import assert_picked
from tests.solver.order.random_pairs import Reader

__all__ = ["pool"]

PARTS = 20


def said(ask: Callable[[], object]) -> str:
    """An answer, or the words of what was raised."""
    try:
        found = ask()
    except Stop as stop:
        return f"{type(stop).__name__} {stop.code} {stop.message} {stop.value}"
    except CastFailed as failed:
        return f"{failed} {failed.code} {failed.path} {failed.expected} {failed.found}"
    except (ValueError, UsageError) as error:
        return f"{type(error).__name__}: {error}"
    except (TypeError, AttributeError, IndexError, OverflowError, KeyError) as error:
        # The machine says of these what the function takes.
        return type(error).__name__
    return "\n".join(_shown(found)) if isinstance(found, Value) else repr(found)


def _shown(value: Value) -> Iterator[str]:
    """A value in each of its forms."""
    yield line(value)
    yield block(value)
    yield in_words(value)
    yield json.dumps(json_value(value))
    yield said(lambda: show(struct_info_of(value)))
    yield str([line(each) for each in values_inside([value, value])])


def answers(text: str) -> str:
    """All that is said of a question."""
    question = json.loads(text)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return "\n".join(_answers(question))


def _answers(question: dict[str, Any]) -> Iterator[str]:
    info = Reader().read(question["info"]) if "info" in question else None
    match question:
        case {"call": name, "args": given}:
            yield from _called(name, [read(each) for each in given])
        case {"cast": given, "infos": infos}:
            yield from _cast([read(each) for each in given], infos)
        case {"literal": text}:
            assert info is not None
            yield said(lambda: literal(text))
            yield said(lambda: value_of(literal(text), info))
        case {"python": given}:
            assert info is not None
            yield said(lambda: from_python("x", given, info))
            yield said(lambda: to_value(given))
            yield said(lambda: typed(given, info))
        case {"array": given}:
            assert info is not None
            array = to_plain(read(given))
            yield said(lambda: from_python("x", array, info))
            yield said(lambda: from_python("x", (array, 2), info))
            yield said(lambda: to_value([array, (1, 2), "x", None, 2.5], [read(given)]))
        case {"file": way, "of": given}:
            yield said(lambda: _file(way, read(given), info))
        case {"fitted": number, "kind": kind}:
            yield said(lambda: fitted(plain(number), dtype(kind)))
            yield said(lambda: fitted_scalar(plain(number), dtype(kind)))
        case {"options": given}:
            yield said(lambda: given_inputs(given))


def _called(name: str, args: list[Value]) -> Iterator[str]:
    yield said(lambda: BUILTINS[name].call(*args))
    yield from (line(arg) for arg in args)
    if name in TAKES:
        yield misused(name, TAKES[name], args).message
    yield said(lambda: str([line(arg) for arg in fitted_arguments(args)]))


def _cast(args: list[Value], infos: list[Any]) -> Iterator[str]:
    reader = Reader()
    wanted = [reader.read(info) for info in infos]
    known = {reader.names["m"]: 2}
    shapes = {reader.held["s"]: (2, 2)}

    def found() -> object:
        point = check(args, wanted, known, shapes)
        return sorted((var.name, number) for var, number in point.items())

    yield said(found)
    yield said(lambda: [(var.name, number) for var, number in bound_by(args, wanted).items()])
    yield from ("\n".join(_shown(arg)) for arg in args)


def _file(way: str, value: Value, info: Any) -> Value:
    """What a file gives, which was written well or badly."""
    assert isinstance(value, Tensor)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        several = way in ("pair", "one")
        path = folder / ("x.npz" if several else "x.npy")
        array: Any = value.data
        match way:
            case "pair":
                np.savez(path, array, array)
            case "one":
                np.savez(path, array)
            case "complex":
                np.save(path, np.zeros(2, "complex64"))
            case "object":
                np.save(path, np.array([{}, None]), allow_pickle=True)
            case "text":
                np.save(path, np.array(["a", "b"]))
            case "big":
                np.save(path, np.arange(4, dtype=">i4"))
            case "bytes":
                np.save(path, np.array([b"\x01", b"\xff"], "V1"))
            case "header":
                path.write_bytes(b"nothing of the kind")
            case "empty":
                path.write_bytes(b"")
            case "cut":
                held = io.BytesIO()
                np.save(held, np.arange(100))
                path.write_bytes(held.getvalue()[:200])
            case "plain":
                save(path, array)
        try:
            return load(path, info)
        except ValueError as error:
            raise ValueError(str(error).replace(name, "FOLDER")) from None


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_questions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
