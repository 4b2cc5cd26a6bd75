"""The hooks for pre-commit and the action for GitHub do what they say, on real programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
BIN = Path(sys.executable).parent

GOOD = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        y = R.exp(x)
        return y
"""
BAD = GOOD.replace("R.exp(x)", "R.exp(z)")


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"} | environment
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with good, bad and unformatted programs, and Python without and with Relax."""
    texts = {
        "good.rlx": GOOD,
        "bad.rlx": BAD,
        "loose.rlx": GOOD.replace("R.exp(x)", "R.exp( x )"),
        "plain.py": "import os\n",
        "model.py": BAD,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_hooks_run_commands_of_the_package() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert [hook["id"] for hook in HOOKS] == ["relax-check", "relax-check-python", "rlx-fmt"]
    for hook in HOOKS:
        assert shlex.split(hook["entry"])[0] in scripts
        assert hook["language"] == "python" and hook["name"] and hook["description"]


@pytest.mark.parametrize(
    ("identifier", "paths", "status"),
    [
        ("relax-check", ["good.rlx", "loose.rlx"], 0),
        ("relax-check", ["good.rlx", "bad.rlx"], 1),
        ("relax-check-python", ["plain.py"], 0),
        ("relax-check-python", ["plain.py", "model.py"], 1),
        ("rlx-fmt", ["good.rlx", "loose.rlx"], 0),
    ],
)
def test_a_hook_fails_where_it_should(
    identifier: str, paths: list[str], status: int, project: Path
) -> None:
    (hook,) = [each for each in HOOKS if each["id"] == identifier]
    if "files" in hook:
        assert all(re.search(hook["files"], path) for path in paths)
    done = run([*shlex.split(hook["entry"]), *hook["args"], *paths], project)
    assert done.returncode == status, done.stdout + done.stderr
    if identifier == "rlx-fmt":  # that a hook changed a file is what pre-commit reports
        assert (project / "loose.rlx").read_text("utf-8") == (project / "good.rlx").read_text(
            "utf-8"
        )


def check(project: Path, PYTHONPATH: str = "", **inputs: str) -> subprocess.CompletedProcess[str]:
    """The last step of the action, as a runner runs it."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Check"]
    given = {name: each["default"] for name, each in ACTION["inputs"].items()} | inputs
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)
        for name, text in step["env"].items()
    }
    installed = project / "temp" / "rlx" / "bin"
    installed.mkdir(parents=True)
    (installed / "relax-check").symlink_to(BIN / "relax-check")
    (installed / "python").write_text(f'#!/bin/sh\nexec {BIN}/python "$@"\n', encoding="utf-8")
    (installed / "python").chmod(0o755)
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    if PYTHONPATH:
        variables["PYTHONPATH"] = PYTHONPATH
    return run(shell, project, RUNNER_TEMP=str(project / "temp"), **variables)


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@needs_bash
def test_the_action_marks_lines(project: Path) -> None:
    done = check(project, paths="good.rlx bad.rlx")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=WF02-undefined,file=bad.rlx,line=5,")
    shutil.rmtree(project / "temp")
    assert check(project, paths="good.rlx").returncode == 0


@needs_bash
def test_the_action_writes_sarif(project: Path) -> None:
    done = check(project, format="sarif", arguments="--ignore WF02", output="out.sarif")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert '"version": "2.1.0"' in (project / "out.sarif").read_text("utf-8")


@needs_bash
def test_inputs_of_the_action_are_no_commands(project: Path) -> None:
    done = check(
        project, paths='good.rlx $(touch${IFS}here) "; touch here', arguments="`touch here`"
    )
    assert done.returncode == 2
    assert not (project / "here").exists()


@pytest.mark.parametrize("args", [["--"], ["--strict"], ["--strict", "--"]])
@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_file_named_like_an_option_is_refused(
    hook: dict[str, Any], args: list[str], project: Path
) -> None:
    """pre-commit passes the names of a stranger's files."""
    if hook["id"] == "rlx-fmt" and "--strict" in args:
        args = [word.replace("--strict", "--check") for word in args]
    (project / "evil.py").write_text("open('mark', 'w')\n", encoding="utf-8")
    name = "--operators=evil.py"
    (project / name).write_text("", encoding="utf-8")
    done = run([*shlex.split(hook["entry"]), *args, name, "good.rlx"], project)
    assert done.returncode == 2
    assert name in done.stderr and "./" in done.stderr
    assert not (project / "mark").exists()


@needs_bash
def test_the_action_imports_nothing_of_the_checkout(project: Path) -> None:
    """Each Python that a step runs, in a folder with modules of the names that Python looks for."""
    mark = project / "mark"
    for name in ("venv", "pip", "json", "re", "typing", "sitecustomize", "rlx"):
        evil = f"open({str(mark)!r}, 'a').write({name!r})\n"
        (project / f"{name}.py").write_text(evil, encoding="utf-8")
    done = check(project, paths="good.rlx", PYTHONPATH=str(project))
    assert (done.returncode, done.stderr) == (0, "")
    (install,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Install rlx"]
    (project / "temp" / "rlx" / "bin" / "python").unlink()
    asked = project / "asked"  # the steps of the installation, which need no network
    stub = f'#!/bin/sh\npwd >> {asked}; echo "$@" >> {asked}; [ "$1" = -I ]\n'
    for path in (project / "stub", project / "temp" / "rlx" / "bin" / "python"):
        path.write_text(stub, encoding="utf-8")
        path.chmod(0o755)
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", install["run"]]
    temporary = str(project / "temp")
    done = run(shell, project, PYTHON=str(project / "stub"), SOURCE="x", RUNNER_TEMP=temporary)
    assert done.returncode == 0, done.stderr
    folders = asked.read_text("utf-8").splitlines()[::2]
    assert folders == [temporary, temporary]
    assert not mark.exists()


@needs_bash
def test_the_report_of_the_action_follows_no_link(project: Path) -> None:
    elsewhere = project / "elsewhere"
    elsewhere.write_text("kept", encoding="utf-8")
    (project / "out.sarif").symlink_to(elsewhere)
    done = check(project, paths="bad.rlx", format="sarif", output="out.sarif")
    assert done.returncode == 1
    assert elsewhere.read_text("utf-8") == "kept"
    assert '"version": "2.1.0"' in (project / "out.sarif").read_text("utf-8")


@needs_bash
def test_steps_of_the_action_are_shell() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        if "run" in step:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
            done = subprocess.run(
                ["bash", "-n", "-c", step["run"]], capture_output=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, b"")
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])


def test_the_readme_names_hooks_and_inputs_that_there_are() -> None:
    text = (ROOT / "docs/how-to/ci.md").read_text("utf-8")
    hooks, step = (
        yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    )
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    (repository,) = hooks["repos"]
    assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in HOOKS}
    assert set(step[0]["with"]) <= set(ACTION["inputs"])
    assert repository["rev"] == step[0]["uses"].split("@")[1] == f"v{version}"
