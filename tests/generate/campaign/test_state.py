"""What a campaign has done is kept, once, and goes on where it stopped."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

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

    def run(first: int) -> ChunkResult:
        done.append(first)
        return chunk(first, f"cause {first // CHUNK % 3}")

    for _ in range(2):
        state = CampaignState(path)
        with ThreadPoolExecutor(2) as pool:
            campaign(state, lambda first, p=pool: p.submit(run, first), 0, 0.2, 2, lambda *_: None)  # type: ignore[misc]
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
    assert state.programs == CHUNK * len(tries)
    assert set(tries.values()) == {3}


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
