"""Excluded files of a project: a pattern matches a path or a directory around it."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from rlx.checker.driver.configuration import ConfigurationError, ProjectSettings, configuration

PATHS = ("a.rlx", "old/a.rlx", "old/more/a.rlx", "new/old/a.rlx", "new/older/b.py")
PATTERNS = ("a.rlx", "old", "old/", "o*", "*/old", "*.rlx", "*/a.rlx", "new/o*", "*", "?ew", "")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_a_path_or_a_directory_around_it(
    tmp_path: Path, pattern: str, path: str
) -> None:
    settings = ProjectSettings(exclude=("none", pattern), root=str(tmp_path))
    around = [str(each) for each in (PurePosixPath(path), *PurePosixPath(path).parents)]
    expected = any(fnmatch(each, pattern.rstrip("/")) for each in around if each != ".")
    assert settings.excludes(str(tmp_path / path)) == expected


def test_without_patterns_nothing_is_passed_over(tmp_path: Path) -> None:
    assert not ProjectSettings(root=str(tmp_path)).excludes(str(tmp_path / "a.rlx"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("select = " + "9" * 5000, "4300 digits"),
        ("select = " + "[" * 50_000 + "]" * 50_000, "nested too deeply"),
        ('"\\u001b[2J" = 1', "has no key '\\x1b[2J'"),
    ],
    ids=["number", "deep", "name"],
)
def test_values_that_no_reader_takes(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.rlx]\n{text}\n")
    with pytest.raises(ConfigurationError) as caught:
        configuration(str(tmp_path))
    assert said in str(caught.value) and str(caught.value).isprintable()
