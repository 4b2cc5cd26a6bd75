"""Every block of the README and of the site does what it shows.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/docs` writes the outputs of commands anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import COMMAND, READ, SHOWN, UPDATE, Fence, Session, alike, fences

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
QUICK = """\
from hypothesis import Phase, settings

settings.register_profile("pages", phases=[p for p in Phase if p is not Phase.explain])
settings.load_profile("pages")
"""
"""Beside the tests of a page: which parts of a failure matter takes Hypothesis fifteen seconds, and no page shows it."""
PAGES = [
    README,
    ROOT / "generate" / "README.md",
    ROOT / "editors" / "README.md",
    ROOT / "rlx" / "commands" / "skill.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_page_does_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "findings").symlink_to(ROOT / "findings")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    session = Session(tmp_path)
    text = page.read_text("utf-8")
    problems: list[str] = []
    try:
        for fence in fences(text):
            done = _executed(fence, session, f"{page.name} at {fence.at}")
            if isinstance(done, tuple):
                text = text.replace(*done, 1)
            elif done:
                problems.append(done)
    finally:
        session.close()
    if UPDATE:
        page.write_text(text, "utf-8")
    assert not problems, "\n\n".join(problems)


def _executed(fence: Fence, session: Session, name: str) -> str | tuple[str, str] | None:
    """The problem with a block, or in an update the text for another; None if there is none."""
    if fence.title:
        path = Path(fence.title)
        assert not path.is_absolute() and ".." not in path.parts
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fence.text, "utf-8")
        if path.name.startswith("test_"):
            path.with_name("conftest.py").write_text(QUICK, "utf-8")
        return None
    if fence.language == "console":
        return _console(fence, session)
    if fence.language == "python":
        return session.python(fence.text, name)
    if fence.language in READ:
        READ[fence.language](fence.text)
        return None
    assert fence.language in SHOWN, f"{name}: a block of {fence.language!r} is not executed"
    return None


def _console(fence: Fence, session: Session) -> str | tuple[str, str] | None:
    parts, problems = [], []
    commands = COMMAND.findall(fence.text)
    assert commands, f"no command in:\n{fence.text}"
    for command, shown in commands:
        said = session.command(command)
        fine = alike(shown, said)
        parts.append(f"$ {command}\n{shown if fine else said}")
        if not fine:
            problems.append(f"$ {command}\nshown:\n{shown}\nsaid:\n{said}")
    if UPDATE:
        return fence.text, "".join(parts)
    return "\n".join(problems) or None


def test_what_is_left_out_stands_for_anything() -> None:
    assert alike("a\n...\nd\n", "a\nb\nc\nd\n") and alike("a … c\n", "a b c\n")
    assert (
        not alike("a\n...\ne\n", "a\nb\n")
        and not alike("a\nb\n", "a\n")
        and not alike("a\n", "a\nb\n")
    )


def test_the_words_of_a_diagnostic_are_left_to_its_room() -> None:
    shown = "error[D14-arity]: f takes one\n   | ^^^ here\n   = help: leave it out\n"
    assert alike(shown, "error[D14-arity]: f has one\n   | ^^^ there\n   = help: drop it\n")
    assert not alike(shown, shown.replace("arity", "binding"))
    assert not alike(shown, shown.replace("| ^", "|  ^"))


def test_files_named_by_the_readme_exist() -> None:
    for name in re.findall(r"\]\(([\w./-]+)\)", README.read_text("utf-8")):
        assert (ROOT / name).exists(), name


def test_two_commands_do_the_set_up() -> None:
    """`.ci/run` takes them from here; what they install by the system's package manager is said."""
    text = README.read_text("utf-8")
    check, test = [line for line in text.splitlines() if line.startswith("python3 -m venv")]
    assert re.search(r"&& \.venv/bin/relax-check examples/\S+", check)
    assert re.search(r"\.\[dev,tvm,cluster\].* && \.venv/bin/python -m pytest[ \w-]*$", test)
    assert "apt-get" in text and "sudo" in text


def test_the_readme_is_short() -> None:
    """A screen and a half."""
    assert len(README.read_text("utf-8").splitlines()) <= 90


def test_there_is_something_to_execute() -> None:
    pages = {page: list(fences(page.read_text("utf-8"))) for page in PAGES}
    commands = [
        c for blocks in pages.values() for fence in blocks for c in COMMAND.findall(fence.text)
    ]
    assert len(commands) >= 35
    for name in ("check", "prove", "step", "fuzz"):
        assert any(
            fence.language == "console" for fence in pages[ROOT / f"docs/tutorial/{name}.md"]
        )
