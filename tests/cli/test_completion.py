"""`rlx completion`: what a shell offers after a beginning."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from rlx import completion
from rlx.cli import COMMANDS
from rlx.completion import commands
from tests.snapshots import assert_snapshot

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script of each shell, `rlx.SHELL`."""
    folder = tmp_path_factory.mktemp("completion")
    described = commands()
    for shell, write in completion.SHELLS.items():
        (folder / f"rlx.{shell}").write_text(write(described), encoding="utf-8")
    return folder


def test_it_prints_the_script(capsys: pytest.CaptureFixture[str], scripts: Path) -> None:
    assert completion.main(["bash"]) == 0
    assert capsys.readouterr().out == (scripts / "rlx.bash").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        completion.main(["powershell"])


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_shell_reads_it(shell: str, scripts: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", scripts / f"rlx.{shell}"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def offered(folder: Path, *lines: Sequence[str]) -> list[list[str]]:
    """What bash offers for the last word of each line."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = [f"source {folder / 'rlx.bash'}"]
    for words in lines:
        quoted = " ".join(f"'{word}'" for word in words)
        script += [f"COMP_WORDS=({quoted})", f"COMP_CWORD={len(words) - 1}", "_rlx"]
        script.append('echo "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [line.split() for line in done.stdout.split("\n")[:-1]]


def test_bash_offers_what_there_is(scripts: Path) -> None:
    """Every command, every option of each, and the values of those that have some."""
    described = commands()
    assert offered(scripts, ["rlx", ""]) == [list(COMMANDS)]
    for command in described:
        flags = [flag for option in command.options for flag in option.flags]
        assert offered(scripts, ["rlx", command.name, "-"]) == [flags]
        valued = [option for option in command.options if option.flags and option.takes]
        lines = [["rlx", command.name, "x", each.flags[-1], ""] for each in valued]
        if lines:
            assert offered(scripts, *lines) == [list(each.values) for each in valued]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_value_is_offered_just_where_one_may_follow(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The parser itself says which options take none."""
    parser = completion.parser_of(name)
    (described,) = (each for each in commands() if each.name == name)
    for option in described.options:
        for flag in option.flags:
            if flag.startswith("--"):
                with suppress(SystemExit):
                    parser.parse_args([f"{flag}=x"])
                refused = "ignored explicit argument" in capsys.readouterr().err
                assert refused != option.takes, flag


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rlx ex", ["explain"]),
        ("relax-check --form", ["--format"]),
        ("/usr/bin/relax-check --format sa", ["sarif"]),
        ("rlx run --backend =", ["steps", "native", "vm"]),
        ("rlx run --backend = na", ["native"]),
        ("rlx explain D14-ari", ["D14-arity"]),
        ("rlx check --ignore WF02-un", ["WF02-undefined"]),
        ("rlx run examples/sh", []),  # files are the shell's own affair
        ("rlx nonsense --fo", []),
    ],
)
def test_bash_completes(line: str, words: list[str], scripts: Path) -> None:
    assert offered(scripts, line.split(" ")) == [words]


def test_fish_completes(scripts: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    ask = f"source {scripts / 'rlx.fish'}; complete -C 'rlx check --format '"
    done = subprocess.run(
        ["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True
    )
    found = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert found == ["github", "human", "json", "sarif"]


MADE_UP = (
    completion.Command(
        "check",
        "Check 'files': [all] of them\\them",
        (
            completion.Option(("-h", "--help"), "show this", False, (), False),
            completion.Option(
                ("--format",), "the form: of [what] is said", True, ("a", "b"), False
            ),
            completion.Option(("-o", "--out"), "where", True, (), True),
            completion.Option(("-n",), "how many", True, (), False),
            completion.Option((), "what to check", True, (), True),
        ),
    ),
    completion.Command(
        "explain", "Say more", (completion.Option((), "a code", True, ("WF01", "WF02"), False),)
    ),
    completion.Command("none", "Nothing", (completion.Option((), "a text", True, (), False),)),
)


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_each_kind_of_option_in_each_shell(shell: str) -> None:
    assert_snapshot(SNAPSHOTS / f"completion.{shell}", completion.SHELLS[shell](MADE_UP))
