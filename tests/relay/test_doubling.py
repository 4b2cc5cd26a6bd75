"""Tuples of Relay that double: their types are shared, and not printed without end."""

from __future__ import annotations

import pytest

from rlx.grammar.print.info import TooLongError
from rlx.grammar.print.printer import print_module
from rlx.relay.checking import check
from rlx.relay.parser import parse
from rlx.relay.translation import to_relax
from rlx.relay.type_text import relay_type


def doubling(times: int) -> str:
    lets = [f"  let %v{i + 1} = (%v{i}, %v{i});\n" for i in range(times)]
    head = '#[version = "0.0.5"]\ndef @main(%v0: Tensor[(2), float32]) {\n'
    return f"{head}{''.join(lets)}  %v{times}\n}}\n"


def test_they_are_checked() -> None:
    report = check(doubling(200), "a.relay")
    assert report.ok
    (info,) = report.types.values()
    with pytest.raises(TooLongError, match="1,048,576 characters"):
        relay_type(info)


def test_a_type_that_is_long_and_not_too_long_is_printed() -> None:
    (info,) = check(doubling(10), "a.relay").types.values()
    assert relay_type(info).count("Tensor") == 1 + 2**10


def test_they_are_translated_and_not_printed() -> None:
    assert "R.Tuple(R.Tuple(" in print_module(to_relax(parse(doubling(5))))
    with pytest.raises(TooLongError):
        print_module(to_relax(parse(doubling(60))))
