"""``rlx prove --proof`` and ``--certificate``, and ``rlx verify-proof``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.commands import prove, verify_proof


def test_a_proof_is_written_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "proof.json"
    assert prove.main(["n//4*4 == n", "--assume", "n % 4 == 0", "--certificate", str(file)]) == 0
    assert json.loads(file.read_text(encoding="utf-8"))["goal"] == "n // 4 * 4 == n"
    capsys.readouterr()
    assert verify_proof.main([str(file)]) == 0
    said = capsys.readouterr().out
    assert "n // 4 * 4 == n" in said
    assert "if n % 4 == 0" in said
    assert "n >= 0" in said


def test_another_goal_is_not_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "proof.json"
    prove.main(["n//4*4 <= n", "--certificate", str(file)])
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("n // 4 * 4 <= n", "n // 4 * 4 < n"), encoding="utf-8")
    assert verify_proof.main([str(file)]) == 1
    assert "refused" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"\xff\xfe", b"{}", b""])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    assert verify_proof.main([str(file)]) == 1


def test_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is none that proves nothing: the exit status differs, and one such file stops no other."""
    proof = tmp_path / "proof.json"
    prove.main(["n >= 0", "--certificate", str(proof)])
    capsys.readouterr()
    for path in (tmp_path / "missing", tmp_path):
        assert verify_proof.main([str(path), str(proof)]) == 2
        said = capsys.readouterr()
        assert said.out.startswith(f"{proof}: proved")
        assert "Errno" not in said.err


def test_a_proof_is_shown_in_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main(["(n + 3)//4*4 >= n", "--proof"]) == 0
    said = capsys.readouterr().out
    assert "let q1 = (n + 3)//4" in said
    assert said.rstrip().endswith("So the goal holds wherever it is defined.")


def test_what_is_not_proved_has_no_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "proof.json"
    assert prove.main(["n == m", "--proof", "--certificate", str(file)]) == 1
    assert not file.exists()
    assert "refuted" in capsys.readouterr().out


def test_a_script_is_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main(["n == n", "--smtlib", "--proof"]) == 2
    assert "--smtlib" in capsys.readouterr().err
