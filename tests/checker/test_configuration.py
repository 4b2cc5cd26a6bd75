"""What a project passes over: a pattern matches a path or a directory around it."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from rlx.checker.driver.configuration import ProjectSettings

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
