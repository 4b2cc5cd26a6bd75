"""Certificates that a stranger wrote, through `rlx verify-proof`: an answer, soon, that commands nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rlx.commands import prove
from rlx.solver.proofs import checker

from .every_command import asked, limited
from .printed import EVIL, SHORT, WORD, wrong

MANY = 3_000
SELECTED = "n >= 0"
for _ in range(60):
    SELECTED = f"select({SELECTED}, n >= 1, n >= 2)"
SUMS = [f"({' + '.join([f'{letter}{i}' for i in range(400)])})" for letter in "vw"]
REFUSED: dict[str, Any] = {
    "a goal that is no text": {"goal": ["n >= 0"]},
    "an undefined name": {"goal": f"n >= {WORD}"},
    "hostile variables": {"variables": {SHORT: [0, None]}},
    "limits that are no integers": {"variables": {"n": [float("nan"), True]}},
    "hostile names": {"names": {"q1": EVIL}},
    "a rule that is not there": {"proof": [{"rule": SHORT}]},
    "facts that are not there": {
        "proof": [{"rule": "clash", "gives": SHORT, "uses": [SHORT, 10**4000]}]
    },
    "empty steps": {"proof": [{}] * MANY},
    "deep brackets": {"goal": "(" * MANY + "n"},
    "a long sum": {"goal": "n" + " + n" * MANY + " < 0"},
    "a long product": {"goal": "n" + " * n" * MANY + " < 0"},
    "a product of sums": {"goal": "*".join(["(n + 1)"] * 300) + " < 0"},
    "a product of numbers": {"goal": "*".join(["9" * 4000] * 300) + " < 0"},
    "a long chain of not": {"goal": "not " * MANY + "n"},
    "many conditions": {"goal": " and ".join(["(n >= 1 or n >= 2)"] * MANY)},
    "many variables": {"variables": {f"v{i}": [0, None] for i in range(MANY)}},
    "a condition that doubles": {"goal": SELECTED},
    "a mask of many bits": {"goal": f"n & 0x{'A' * 500_000} >= 0"},
    "bits that double": {
        "variables": {"x": [0, None], "y": [0, None]},
        "goal": "x >= 0",
        "names": {"b0": "x & y"}
        | {
            name: text
            for i in range(50)
            for name, text in ((f"c{i}", f"b{i} & y"), (f"b{i + 1}", f"b{i} & c{i}"))
        },
        "proof": [{"rule": "bits", "gives": "b50 >= 0", "terms": ["x", "y"], "uses": [0, 1]}],
    },
    "a long operand again and again": {
        "variables": {f"{letter}{i}": [0, None] for letter in "vwn" for i in range(400)},
        "goal": "n0 >= 0",
        "names": {"m": f"max({'*'.join(SUMS)}, 0)"},
        "proof": [{"rule": "max-zero", "gives": "m >= 0", "atom": "m"}] * 10_000,
    },
}
"""Fields that replace those of a proof of ``n >= 0``, which prove nothing then."""

TEXTS = {
    "no JSON": b"",
    "no UTF-8": b"\xff\xfe" + EVIL.encode("utf-8", "surrogatepass"),
    "deep arrays": b"[" * 1_000_000,
    "deep objects": b'{"a":' * MANY,
    "a huge integer": b'{"version": ' + b"9" * 1_000_000 + b"}",
    "a name that occurs twice": b'{"goal": "a", "goal": "b"}',
}


@pytest.fixture
def proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """A certificate of ``n >= 0``."""
    path = tmp_path / "proof.json"
    assert prove.main(["n >= 0", "--certificate", str(path)]) == 0
    capsys.readouterr()
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def verified(data: bytes, folder: Path) -> int:
    """The answer to a certificate, which commands nothing, as an exit status."""
    path = folder / f"p\n{WORD}\x1b.json"
    path.write_bytes(data)
    with limited(10):
        answer = asked(["verify-proof", str(path)])
    assert wrong(answer.out) == wrong(answer.err) == []
    assert "bug in rlx" not in answer.err
    return answer.status


@pytest.mark.parametrize("kind", REFUSED)
def test_other_fields_prove_nothing(
    kind: str, proof: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "WORK", checker.WORK // 10)  # as much for each, in less time
    assert verified(json.dumps(proof | REFUSED[kind]).encode(), tmp_path) == 1


@pytest.mark.parametrize("kind", TEXTS)
def test_other_texts_prove_nothing(kind: str, tmp_path: Path) -> None:
    assert verified(TEXTS[kind], tmp_path) == 1


@pytest.mark.parametrize(
    "goal",
    [
        f"({' + '.join(f'x{i}' for i in range(100))})*({' + '.join(f'x{i}' for i in range(100))}) >= 0",
        f"{' + '.join(f'x{i}*y{i}//{i + 2}' for i in range(600))} >= 0",
    ],
    ids=["the square of a sum", "a sum of quotients"],
)
def test_the_search_for_a_proof_ends(goal: str) -> None:
    with limited(20):
        answer = asked(["prove", "--proof", goal])
    assert answer.status == 0 and "proved" in answer.out


def test_what_is_proved_is_told_in_its_own_lines(proof: dict[str, Any], tmp_path: Path) -> None:
    """A goal may have lines, but no comments, in which it would say what is not proved."""
    lies = "\n".join(f"#{line}" for line in (*EVIL.replace("\0", "").splitlines(), WORD))
    goal = f"(\n{WORD.lower()}\n>= 0{lies.encode('utf-8', 'replace').decode()}\n)"
    spoken = json.dumps(proof).replace('"n"', f'"{WORD.lower()}"')
    assert verified(json.dumps(json.loads(spoken) | {"goal": goal}).encode(), tmp_path) == 1
    goal = f"(\n{WORD.lower()}\n>= 0\n)"
    assert verified(json.dumps(json.loads(spoken) | {"goal": goal}).encode(), tmp_path) == 0


def test_a_number_of_files(proof: dict[str, Any], tmp_path: Path) -> None:
    """A device or a folder among them stops no other."""
    path = tmp_path / "proof.json"
    answer = asked(["verify-proof", "/dev/zero", os.fspath(tmp_path), os.fspath(path)])
    assert answer.status == 2
    assert f"{path}: proved" in answer.out
