"""The steps of a finding are judged with steps made here; TVM itself is not needed."""

from __future__ import annotations

import pytest

from rlx.generate.campaign import replay
from rlx.generate.campaign.finding_file import TELLS, FindingFile


class Session:
    """Steps that fail or not; the value is how many went well."""

    def __init__(self, program: str) -> None:
        self.value, self.difference = 0, ""
        self.given: dict[str, object] = {}

    def step(self, text: str) -> None:
        if text.startswith("bad"):
            raise ValueError("no such axis")
        self.value += 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"see": "one; two", "returns": "2"}, ""),
        ({"see": "one; two", "returns": "3"}, "TVM returns something else: 2"),
        ({"see": "one; bad"}, "bad fails: ValueError: no such axis"),
        ({"see": "one; bad", "error": "no such axis"}, ""),
        ({"see": "one; bad", "error": "no such axis", "returns": "1"}, ""),
        (
            {"see": "one; bad", "error": "no such axis", "returns": "2"},
            "TVM returns something else",
        ),
        ({"see": "one; bad", "error": "another"}, "bad fails with another message: ValueError"),
        ({"see": "one; two", "error": "no such axis"}, "two does not fail"),
        ({"see": "bad; bad2", "error": "no such axis"}, "bad fails: ValueError: no such axis"),
        ({"see": "one", "later": "bad", "error": "no such axis"}, ""),
        ({"see": "one", "later": "bad", "error": "another"}, "bad fails with another message"),
        ({"see": "one", "later": "two", "error": "no such axis"}, "two does not fail"),
        ({"see": "one", "later": "bad; bad2", "error": "no such axis"}, "bad fails: ValueError"),
        ({"see": "bad", "later": "two", "error": "no such axis"}, "bad fails: ValueError"),
        (
            {"see": "one", "later": "bad", "error": "no such axis", "returns": "3"},
            "TVM returns something else: 1",
        ),
    ],
)
def test_what_is_seen_of_a_finding(
    fields: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "ReplaySession", Session)
    entry = FindingFile("refuses-legal", "a-name", "", **{**dict.fromkeys(TELLS, ""), **fields})
    seen = replay.missed(entry)
    assert seen.startswith(said) if said else not seen
