"""The reference is made from the declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.operators.reference import described, main, page
from rlx.operators.registry import families


@pytest.mark.parametrize("name", ["concat", "R.concat", "relax.concat"])
def test_an_operator_by_any_of_its_names(name: str) -> None:
    assert described(name) == [
        "R.concat(tensors, axis=0)",
        "",
        "The tensors concatenated along an axis; vectors if no axis is given.",
        "",
        "  tensors  a tuple of tensors",
        "  axis     an integer or null",
        "",
        "A call of it has no effects. NumPy computes it.",
    ]


def test_what_is_no_operator_is_not_described() -> None:
    assert described("D14") is None


def test_the_page_has_every_operator(tmp_path: Path) -> None:
    assert main([str(tmp_path / "pages" / "operators.md")]) == 0
    text = (tmp_path / "pages" / "operators.md").read_text(encoding="utf-8")
    assert text == page()
    for names in families().values():
        for name in names:
            assert f"### {name}\n" in text


def test_a_page_without_a_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "required: FILE" in capsys.readouterr().err
