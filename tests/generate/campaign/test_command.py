"""`rlx fuzz`: what it refuses, and what it says when it is stopped."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlx.commands import fuzz as command
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.finding_file import read_entries

FINDINGS = Path(__file__).parents[3] / "findings"
FOUND = Finding("crash", "check", "a stage", "signal SIGSEGV", "It ended.", "", "x", 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--jobs", "0"], "positive integer, found '0'"),
        (["--jobs", "-1"], "positive integer, found '-1'"),
        (["--time", "soon"], "expected a duration (90s, 10m, 2h), found 'soon'"),
        (["--seed", "x"], "expected an integer, found 'x'"),
        (["--oracle", "delphi"], "invalid choice"),
        (["--dask", "nonsense"], "--dask nonsense: missing port number"),
    ],
)
def test_usage(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main([*options, "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(state: Any, *rest: object) -> None:
        state.add(FOUND)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "campaign", stopped)
    with pytest.raises(KeyboardInterrupt):
        command.main(["--out", str(tmp_path), "--jobs", "1"])
    said = capsys.readouterr().out
    assert FOUND.key in said
    assert "1 findings have no file yet" in said


def test_a_short_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in ourselves; the line of progress says how far it is."""
    options = ["--time", "5s", "--jobs", "1", "--seed", "5", "--oracle", "roundtrip"]
    assert command.main([*options, "--out", str(tmp_path)]) == 0
    said, progress = capsys.readouterr()
    assert "0 findings" in said
    last = progress.strip().splitlines()[-1].split()
    rules, operators = last[last.index("rules,") - 1], last[last.index("operators,") - 1]
    assert int(rules) > 5
    assert int(operators) > 5
    assert (tmp_path / "README.md").exists()


def test_each_new_cause_is_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of `--known` are counted under their paths; a new one is one file, with the same key the next time."""
    text = "class Module:\n    x = R.nn.relu(y)\n"
    said = "InternalError: Variable lv{} could not be found in any group"
    met = [Finding("crash", "passes", "FuseOps", "N", said.format(k), "", text, k) for k in (1, 2)]
    new = [Finding("crash", "passes", "FuseOps", "signal SIGSEGV", "It ended.", "", text, 3)]

    def seen(state: Any, *rest: object) -> list[Finding]:
        return [finding for finding in (*met, *new) if state.add(finding)]

    monkeypatch.setattr(command, "campaign", seen)
    options = ["--out", str(tmp_path), "--known", str(FINDINGS), "--jobs", "1", "--no-reduce"]
    assert command.main([*options, "--seed", "1"]) == 1
    printed = capsys.readouterr().out
    assert "2  crash/FuseOps-dataflow-block-in-a-branch.rlx" in printed
    assert [entry.path for entry in read_entries(tmp_path)] == [
        "crash/FuseOps-nn-relu-signal-SIGSEGV.rlx"
    ]
    assert command.main([*options, "--seed", "2"]) == 0
    assert len(read_entries(tmp_path)) == 1


@pytest.mark.parametrize("word", ["a", "of", "memory", "\n\tindented"])
@pytest.mark.parametrize("count", [1, 20, 60, 99, 100, 101, 300])
def test_a_new_cause_is_told_in_one_line(
    word: str,
    count: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A long sentence keeps the words that fit into 200 characters; dots stand for the rest."""
    sentence = " ".join([word] * count)
    found = Finding("crash", "check", "a stage", "a cause", sentence, "", "x", 1)

    def seen(state: Any, *rest: object) -> list[Finding]:
        state.add(found)
        return [found]

    monkeypatch.setattr(command, "campaign", seen)
    assert command.main(["--out", str(tmp_path), "--jobs", "1", "--no-reduce"]) == 1
    printed = capsys.readouterr().out.splitlines()
    (told,) = (line.partition(".rlx: ")[2] for line in printed if ".rlx: " in line)
    whole = " ".join(sentence.split())
    if len(whole) <= 200:
        assert told == whole
    else:
        words = told.removesuffix(" …").split()
        assert whole.startswith(" ".join(words)) and told.endswith(" …")
        assert len(told) <= 200 < len(told) + 1 + len(words[0])


@pytest.mark.parametrize("seed", range(5))
def test_progress_is_told_once_a_second(
    seed: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And whenever the time is over, so that the last line counts everything."""
    rng = random.Random(seed)
    times = [0.0]
    while times[-1] < 20:
        times.append(times[-1] + rng.choice([0.0, 0.1, 0.4, 0.9, 1.0, 1.1, 3.0]))

    def seen(state: Any, *rest: Any) -> list[Finding]:
        progress: Callable[[Any, float], None] = rest[4]
        for number, elapsed in enumerate(times):
            state.done[0] = number
            progress(state, elapsed)
        return []

    monkeypatch.setattr(command, "campaign", seen)
    command.main(["--out", str(tmp_path), "--jobs", "1", "--time", "19s"])
    told = set(map(int, re.findall(r"s: (\d+) programs", capsys.readouterr().err)))
    last = 0.0
    for number, elapsed in enumerate(times):
        assert (number in told) == (elapsed - last >= 1 or elapsed >= 19), (elapsed, last)
        last = elapsed if number in told else last


def test_what_a_known_finding_explains_after_reduction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no file, and is counted with the known one."""
    text = "class Module:\n    y = R.eye_like(x)\n    z = R.atan(y)\n"
    said = "TypeError: it requires the input to have float dtype"
    found = Finding("crash", "run", "TVM's build", said, said, "", text, 3)
    monkeypatch.setattr(command, "campaign", lambda state, *_: [found] if state.add(found) else [])
    monkeypatch.setattr(command, "Worker", lambda *_, **__: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(command, "reduce", lambda finding, *_: (finding, True))
    options = ["--out", str(tmp_path), "--known", str(FINDINGS), "--jobs", "1"]
    assert command.main(options) == 0
    printed = capsys.readouterr().out
    path = "wrong-code/LegalizeOps-eye_like-ignores-its-dtype.rlx"
    assert f"same cause as {path}" in printed and "0 findings, 0 of them new" in printed
    assert f"     1  {path}" in printed
    assert read_entries(tmp_path) == []


def test_damaged_files_of_an_earlier_campaign_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign begins anew, and its findings are written beside them."""
    monkeypatch.setattr(command, "campaign", lambda state, *_: [FOUND] if state.add(FOUND) else [])
    options = ["--out", str(tmp_path), "--jobs", "1", "--no-reduce", "--seed", "1"]
    assert command.main(options) == 1
    (state,) = tmp_path.glob("*.json")
    state.write_bytes(state.read_bytes()[:-9])
    (entry,) = tmp_path.glob("*/*.rlx")
    entry.write_bytes(b"\xff" + entry.read_bytes())
    (entry.parent / "other.rlx").write_text("# half of a hea")
    capsys.readouterr()
    assert command.main(options) == 1
    told = capsys.readouterr().err
    assert f"rlx fuzz: {state} is damaged: it is not JSON; it is now {state}.damaged; " in told
    assert f"crash/{entry.stem}: not UTF-8 (byte 0)" in told
    assert "crash/other: expected a field of a finding" in told
    assert len(list(tmp_path.glob("*/*.rlx"))) == 3
    assert not list(tmp_path.rglob(".rlx-*"))
