"""Texts of failing premises, with both values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.grammar.nodes.node import Node
from rlx.grammar.wording import counted
from rlx.solver.order.substitute import dimensions, rank
from rlx.solver.order.subtype import Mismatch, Path, sides


def where(path: Path) -> str:
    """A path as text: ``field 1, parameter 0, dimension 2``; empty for the whole annotation."""
    return ", ".join(_step(name, index) for name, index in path)


def _step(name: str, index: int) -> str:
    return name if name in ("result", "value") else f"{name} {index}"


def why(mismatch: Mismatch) -> str:
    """The mismatch: ``float16 where float32 is expected``, ``dimension 1 is n where m is
    expected``.
    """
    if mismatch.left is not None:
        left, right = sides(mismatch)
        return f"{_step(*mismatch.path[-1])} is {_show(left)} where {_show(right)} is expected"
    _, _, premise = mismatch.code.rpartition("-")
    return _WORDS.get(premise, _both)(mismatch.given, mismatch.wanted)


def _show(node: Node) -> str:
    from rlx.grammar.print.printer import show

    return show(node)


def _both(given: Any, wanted: Any) -> str:
    return f"{_show(given)} where {_show(wanted)} is expected"


def _dtype(given: Any, wanted: Any) -> str:
    said = "an unknown element type" if given.dtype.is_void else str(given.dtype)
    return f"{said} where {wanted.dtype} is expected"


def _rank(given: Any, wanted: Any) -> str:
    said = counted(rank(given), "dimension") if rank(given) >= 0 else "an unknown rank"
    return f"{said} where {_expected(rank(wanted))}"


def _device(given: Any, wanted: Any) -> str:
    said = "an unknown device" if given.vdevice is None else _show(given.vdevice)
    return f"{said} where {_show(wanted.vdevice)} is expected"


def _shape_text(given: Any, wanted: Any) -> str:
    if dimensions(given) is None:
        return f"unknown dimensions where {_show(wanted)} is expected"
    return _both(given, wanted)


def _value(given: Any, wanted: Any) -> str:
    return f"an unknown value where {_show(wanted.value)} is expected"


def _length(given: Any, wanted: Any) -> str:
    return f"{counted(len(given.fields), 'field')} where {_expected(len(wanted.fields))}"


def _arity(given: Any, wanted: Any) -> str:
    said = counted(len(given.params), "parameter")
    return f"a function of {said} where one of {len(wanted.params)} is expected"


def _kind_text(given: Any, wanted: Any) -> str:
    names = ["an opaque function" if f.params is None else "a closure" for f in (given, wanted)]
    return f"{names[0]} where {names[1]} is expected"


def _purity(given: Any, wanted: Any) -> str:
    return "an impure function where a pure one is expected"


def _derivation(given: Any, wanted: Any) -> str:
    return f"an opaque function that derives its result otherwise than {_show(wanted)}"


def _solvable(given: Any, wanted: Any) -> str:
    return (
        f"{_show(given)} where {_show(wanted)} is expected: not all dimensions can be equal at once"
    )


def _expected(number: int) -> str:
    return f"{number} is expected" if number == 1 else f"{number} are expected"


_WORDS: dict[str, Callable[[Any, Any], str]] = {
    "dtype": _dtype,
    "rank": _rank,
    "device": _device,
    "shape": _shape_text,
    "values": _shape_text,
    "value": _value,
    "length": _length,
    "arity": _arity,
    "kind": _kind_text,
    "purity": _purity,
    "derivation": _derivation,
    "solvable": _solvable,
}
"""The texts by the last part of the premise's code."""
