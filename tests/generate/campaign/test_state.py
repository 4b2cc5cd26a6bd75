"""The state of a campaign is kept, and the campaign goes on where it stopped."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from rlx.generate.campaign.campaign import ATTEMPTS, CHUNK, campaign, chunks
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.state import PER_CAUSE, CampaignState, ChunkResult


def finding(cause: str, seed: int = 0) -> Finding:
    return Finding("crash", "passes", "FuseOps", cause, "It ends.", "", "text", seed)


def chunk(first: int, *causes: str) -> ChunkResult:
    made = ChunkResult(first)
    made.programs = CHUNK
    made.findings = [finding(cause, first) for cause in causes]
    made.operators.update(["relax.abs"])
    return made


def test_a_chunk_counts_once() -> None:
    state = CampaignState()
    assert [f.cause for f in state.merge(chunk(0, "a", "a", "b"))] == ["a", "b"]
    assert state.merge(chunk(0, "c")) == []
    assert (state.programs, state.seen[finding("a").key]) == (CHUNK, 2)


def test_few_findings_that_differ_only_in_operators() -> None:
    state = CampaignState()
    causes = [f"signal SIGSEGV with R.op{k}" for k in range(2 * PER_CAUSE)]
    assert len(state.merge(chunk(0, *causes))) == PER_CAUSE


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    state = CampaignState(tmp_path / "state.json")
    state.merge(chunk(40, "a"))
    state.save()
    again = CampaignState(tmp_path / "state.json")
    assert again.done == state.done
    assert [f.record() for f in again.findings.values()] == [finding("a", 40).record()]
    assert again.operators == state.operators
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_a_campaign_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    done: list[int] = []

    def submit(first: int) -> Future[ChunkResult]:
        """Done at once: what is still under way when the time is up may be begun again."""
        made: Future[ChunkResult] = Future()
        done.append(first)
        made.set_result(chunk(first, f"cause {first // CHUNK % 3}"))
        return made

    for _ in range(2):
        state = CampaignState(path)
        campaign(state, submit, 0, 0.2, 2, lambda *_: None)
    assert len(done) == len(set(done)) == len(state.done)
    assert sorted(done) == list(range(0, len(done) * CHUNK, CHUNK))
    assert sum(state.seen.values()) == len(done)
    assert next(chunks(state, 0)) == len(done) * CHUNK


def test_a_chunk_that_fails_is_begun_again() -> None:
    tries: dict[int, int] = {}

    def submit(first: int) -> Future[ChunkResult]:
        made: Future[ChunkResult] = Future()
        tries[first] = tries.get(first, 0) + 1
        if tries[first] < 3:
            made.set_exception(OSError("lost"))
        else:
            made.set_result(chunk(first))
        return made

    state = CampaignState()
    campaign(state, submit, 0, 0.05, 1, lambda *_: None)
    assert state.done
    assert all(tries[first] == 3 for first in state.done)
    assert max(tries.values()) == 3
    assert state.programs == CHUNK * len(state.done)
    assert len(tries) - len(state.done) <= 2  # those under way when the time was up


def test_what_fails_always_ends_the_campaign() -> None:
    tries: list[int] = []

    def submit(first: int) -> Future[ChunkResult]:
        tries.append(first)
        made: Future[ChunkResult] = Future()
        made.set_exception(OSError("lost"))
        return made

    with pytest.raises(OSError, match="lost"):
        campaign(CampaignState(), submit, 0, 5.0, 1, lambda *_: None)
    assert max(tries.count(first) for first in tries) == ATTEMPTS + 1


def test_a_first_program_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlx.generate.campaign.campaign.FIRST", 0.1)
    state = CampaignState()
    assert campaign(state, lambda _: Future(), 0, 0.05, 1, lambda *_: None) == []
    assert state.programs == 0


def saved(path: Path) -> CampaignState:
    state = CampaignState(path)
    state.merge(chunk(40, "a", "b"))
    state.merge(chunk(45, "a"))
    state.kept.add(finding("a").key)
    state.seconds = 1.5
    state.save()
    return state


def other_values(record: object) -> Iterator[Any]:
    """A record with each of its parts of another type, or missing."""
    others: list[Any] = [
        None,
        True,
        -1,
        10**400,
        1e308,
        "x",
        "\ud800",
        [],
        [[]],
        [{}],
        {},
        {"x": "y"},
        {"x": -1},
        {"1": 1e9},
    ]
    yield from (json.loads(json.dumps(other)) for other in others)
    if isinstance(record, dict):
        for key, value in record.items():
            yield {name: part for name, part in record.items() if name != key}
            yield from ({**record, key: other} for other in other_values(value))
    elif isinstance(record, list):
        for at, value in enumerate(record):
            yield from ([*record[:at], other, *record[at + 1 :]] for other in other_values(value))


def damages(text: bytes) -> Iterator[bytes]:
    rng = random.Random(3)
    yield from (text[:length] for length in range(0, len(text), 7))
    for _ in range(200):
        at = rng.randrange(len(text))
        yield text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1 :]
    yield from (json.dumps(other).encode() for other in other_values(json.loads(text)))
    yield from (b"\0" * 100, b"[" * 100_000, b"9" * 10_000, b"\xff\xfe", b'{"done": NaN}')


def test_a_damaged_state_is_told_and_put_aside(tmp_path: Path) -> None:
    """After any damage the campaign can begin anew, and the file is still there."""
    path = tmp_path / "state.json"
    saved(path)
    text = path.read_bytes()
    assert not CampaignState(path).damage
    for number, damaged in enumerate(damages(text)):
        path.write_bytes(damaged)
        state = CampaignState(path)
        if not state.damage:  # such as a tab for a space
            assert json_of(damaged) == json_of(text), damaged
            continue
        assert state.damage.startswith(f"{path} is damaged: "), damaged
        (aside,) = tmp_path.glob("*.damaged")
        assert state.damage.endswith(f"; it is now {aside}") and aside.read_bytes() == damaged
        aside.unlink()
        assert (state.done, state.findings, state.kept, state.seconds) == ({}, {}, set(), 0.0)
        assert not state.seen and not state.rules and not state.operators
        if number % 50 == 0:
            assert saved(path).programs == CampaignState(path).programs == 2 * CHUNK


def json_of(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def test_a_state_that_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.mkdir()
    (path / "below").write_text("")
    assert "not a regular file" in CampaignState(path).damage
    assert (tmp_path / "state.json.damaged" / "below").exists()
    os.mkfifo(path)
    assert "not a regular file" in CampaignState(path).damage  # and nobody waits for the pipe
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)
    assert "1099511627776 bytes" in CampaignState(path).damage
    assert len(list(tmp_path.glob("*.damaged*"))) == 3
    saved(path)
    assert not CampaignState(path).damage


def test_a_chunk_that_is_ended_counts_with_what_it_has() -> None:
    state, part = CampaignState(), ChunkResult(0)
    part.programs = 2
    ended: list[Future[ChunkResult]] = []

    def submit(first: int) -> Future[ChunkResult]:
        ended.append(Future())
        ended[-1].set_running_or_notify_cancel()
        return ended[-1]

    def finish() -> None:
        if not ended[0].done():
            ended[0].set_result(part)

    campaign(state, submit, 0, 0.05, 1, lambda *_: None, finish)
    assert state.programs == 2
