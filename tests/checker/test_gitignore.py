"""A search passes over the files that git ignores: git itself is asked about random files and patterns."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from rlx.checker.driver.sources import find

NAMES = ["a", "b", "ab", "a b", "c.d", "[a]", "#a", "!b", "build"]
PARTS = [
    *("a", "b", "*", "a*", "?", "[ab]", "[!a]", "**", "*.d", "\\#a", "\\!b", "\\[a]", "build"),
    "a b",
]
SUFFIXES = ["", "/", " ", ".rlx", "/*", "/**"]


def files(folder: Path, random: Random) -> list[str]:
    """Make files, and say where they are."""
    made = set()
    for _ in range(14):
        parts = random.choices(NAMES, k=random.randrange(4))
        name = "/".join([*parts, random.choice(["a", "b", "c.d", "main"]) + ".rlx"])
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        made.add(name)
    return sorted(made)


def pattern(random: Random) -> str:
    start = random.choice(["", "", "", "/", "!"])
    body = "/".join(random.choices(PARTS, k=random.choice([1, 1, 2, 3])))
    return start + body + random.choice(SUFFIXES)


def kept_by_git(folder: Path) -> list[str]:
    command = ["git", "ls-files", "-zco", "--exclude-standard"]
    out = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout
    return sorted(name for name in out.split("\0") if name.endswith(".rlx"))


@pytest.mark.parametrize("seed", range(40))
def test_a_search_finds_what_git_does_not_ignore(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    made = files(tmp_path, random)
    folders = sorted({path.parent for path in tmp_path.rglob("*.rlx")} | {tmp_path})
    for folder in {tmp_path, *random.choices(folders, k=2)}:
        lines = [pattern(random) for _ in range(random.randrange(1, 4))]
        (folder / ".gitignore").write_text("\n".join(["# comment", "", *lines]))
    kept = kept_by_git(tmp_path)
    found, _, _ = find([str(tmp_path)])
    assert sorted(str(Path(path).relative_to(tmp_path)) for path in found) == kept
    assert find([str(tmp_path / name) for name in made])[0] == sorted(
        str(tmp_path / name) for name in made
    )  # what is named is read


def test_the_repository_around_a_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("out/\n*.gen.rlx\n")
    for name in ("in/a.rlx", "in/b.gen.rlx", "in/out/c.rlx", "out/d.rlx", "out/e.gen.rlx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert find([str(tmp_path / "in")])[0] == [str(tmp_path / "in/a.rlx")]
    # a folder that is named is searched, though the repository ignores it
    assert find([str(tmp_path / "out")])[0] == [
        str(tmp_path / "out" / name) for name in ("d.rlx", "e.gen.rlx")
    ]


def test_a_file_of_patterns_that_never_ends_the_search(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(
        f"{'*a' * 100}b\n{'**/' * 100}x\n[\n\\\n" * 20 + "[!" * 30_000
    )
    path = tmp_path / ("a" * 200 + ".rlx")
    path.write_text("")
    assert find([str(tmp_path)])[0] == [str(path)]
