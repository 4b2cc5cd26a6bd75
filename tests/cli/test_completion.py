"""`rlx completion`: what a shell offers after a beginning."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rlx import completion
from rlx.cli import COMMANDS


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripts of each program and shell: `rlx.bash`."""
    folder = tmp_path_factory.mktemp("completion")
    for program in completion.PROGRAMS:
        for shell in completion.SHELLS:
            script = completion.completion_script(shell, program)
            (folder / f"{program}.{shell}").write_text(script, encoding="utf-8")
    return folder


def test_it_prints_the_script(capsys: pytest.CaptureFixture[str], scripts: Path) -> None:
    for program in completion.PROGRAMS:
        assert completion.main(["bash", "--program", program]) == 0
        assert capsys.readouterr().out == (scripts / f"{program}.bash").read_text("utf-8")
    with pytest.raises(SystemExit):
        completion.main(["ksh"])


def test_without_what_writes_the_scripts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert completion.main(["bash"]) == 2
    assert "pip install 'rlx[completion]'" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("program", completion.PROGRAMS)
def test_the_shell_reads_it(shell: str, program: str, scripts: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = scripts / f"{program}.{shell}"
    done = subprocess.run([shell, "-n", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def offered(scripts: Path, line: str) -> list[str]:
    """bash's completions of the last word of a line."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    words = line.split(" ")
    program = words[0]
    function = f"_shtab_{program.replace('-', '_')}"
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""\
        source {scripts / f"{program}.bash"}
        COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {function} 2>/dev/null
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_offers_every_command_and_every_option(scripts: Path) -> None:
    assert sorted(offered(scripts, "rlx ")) == sorted(COMMANDS)
    for name in COMMANDS:
        flags = {f for a in completion.parser_of(name)._actions for f in a.option_strings}
        assert set(offered(scripts, f"rlx {name} -")) == flags


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rlx ex", ["explain"]),
        ("relax-check --form", ["--format"]),
        ("relax-check --format sa", ["sarif"]),
        ("rlx run --backend na", ["native"]),
        ("rlx explain D14-ari", ["D14-arity"]),
        ("rlx check --ignore WF02-un", ["WF02-undefined"]),
        ("rlx nonsense --fo", []),
    ],
)
def test_bash_completes(line: str, words: list[str], scripts: Path) -> None:
    assert offered(scripts, line) == words


def test_fish_completes(scripts: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    ask = f"source {scripts / 'rlx.fish'}; complete -C 'rlx check --format '"
    done = subprocess.run(
        ["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True
    )
    found = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert sorted(found) == ["github", "human", "json", "sarif"]
