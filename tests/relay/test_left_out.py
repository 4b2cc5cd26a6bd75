"""A call without one of its attributes has the default of Relay, or is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx import relay
from rlx.grammar.print.printer import print_module
from tests.markdown import assert_example, examples
from tests.relay.operator_calls import CALLS
from tests.relay.test_operators import text_of

LEFT_OUT = Path(__file__).with_name("left_out.md")
_ATTRIBUTE = re.compile(r', \w+=(?:\[[^=]*\]|"[^"]*"|[^,=\[\]"]+)(?=, \w+=|\)$)')


def without_one() -> Iterator[str]:
    """Each call without each of its attributes, and without all."""
    for call in CALLS:
        found = list(_ATTRIBUTE.finditer(call))
        for each in found:
            yield call[: each.start()] + call[each.end() :]
        if len(found) > 1:
            yield call[: found[0].start()] + ")"


def meaning(call: str) -> str:
    text, _ = text_of(call)
    errors = [str(d) for d in relay.check(text).diagnostics if d.is_error]
    if errors:
        return "\n".join(errors)
    lines = print_module(relay.to_relax(relay.parse(text))).splitlines()
    return "\n".join(line.strip() for line in lines if " = " in line and "T.int64()" not in line)


def test_a_call_without_an_attribute_has_a_meaning_or_an_error() -> None:
    calls = list(dict.fromkeys(without_one()))
    assert len(calls) > 150
    for call in calls:
        assert meaning(call), call


@pytest.mark.parametrize("name", [example.name for example in examples(LEFT_OUT)])
def test_what_it_means(name: str) -> None:
    assert_example(LEFT_OUT, name, meaning(name.strip("`")))
