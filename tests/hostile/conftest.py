"""Set-up of all hostile tests."""

from __future__ import annotations

import pytest

from rlx.operators import registry


@pytest.fixture(autouse=True)
def no_operator_stays_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--allow-operator` holds as long as the process, in which other tests follow."""
    monkeypatch.setattr(registry, "allowed", registry.allowed.copy())
