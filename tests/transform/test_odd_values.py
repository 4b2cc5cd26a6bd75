"""Odd arguments are taken, or errors at the line that gave them."""

from __future__ import annotations

from tests.transform.odd_values import failures


def test_odd_values() -> None:
    assert not failures(300, 0)
