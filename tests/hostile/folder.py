"""A stranger's folder whose files leave a mark when they are imported, loaded or run, and every command in it:
``python -m tests.hostile.folder``.

The folder has a file, or a package, named after each module of the standard library and of every installed package; libraries and
programs named after those that rlx loads and starts; and configuration that asks for code. ``.`` is on ``PATH``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import packages_distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rlx.commands.prove import main as prove
from tests.lsp.wire import Message, Wire

EXAMPLES = Path(__file__).parents[2] / "examples"
BIN = Path(sys.executable).parent
SECONDS = 600
ENDED = (0, 1, -signal.SIGTERM)
"""How a command ends that could do its work."""

PROGRAMS = (
    *("cc", "gcc", "clang", "ld", "as", "cc1", "collect2", "git", "sh", "python", "python3"),
    *("uname", "rlx"),
)
LIBRARIES = (
    "libz3.so",
    "libm.so.6",
    "libmvec.so.1",
    "libc.so.6",
    "libgomp.so.1",
    "libstdc++.so.6",
    "libtvm.so",
)
GROUPS = (
    "hypothesis",
    "pytest11",
    "pygls",
    "console_scripts",
    "distributed.comm.backends",
    "numpy_backends",
)

LIBRARY = """\
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) {{
    FILE *file = fopen("{mark}", "a");
    fputs("a library\\n", file);
    fclose(file);
}}
"""

PROJECT = """\
[project]
name = "evil"
version = "1"
[project.entry-points.hypothesis]
evil = "evil"
[tool.pytest.ini_options]
addopts = "-p evil"
[tool.rlx]
operators = ["evil.py", "evil_module"]
"""

GOAL = ["prove", "n*m <= n*n + m*m"]
"""Only Z3 decides this."""
LONG = 20_000
"""Characters of a text from which the server checks functions one by one, and the whole in another process."""


FUNCTION = """\
    @R.function
    def f{}(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        return R.add(y, x)

"""


class Line(NamedTuple):
    """A command line, its standard input, and seconds after which it is ended."""

    words: Sequence[str]
    given: bytes = b""
    stop: float = 0.0


def names() -> list[str]:
    """Every module that rlx or what it depends on may ask for; `rlx` is the program itself."""
    asked = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}
    asked |= {"conftest", "evil", "evil_module", "_manylinux", "readline", "pwd", "tvm"}
    asked |= {"tvm_ffi", "onnx", "torch", "IPython", "cvc5", "pygls"}  # some are not installed
    return sorted(name for name in asked if name.isidentifier() and name != "rlx")


def furnish(folder: Path, mark: Path, packages: Sequence[bool]) -> None:
    """Fill a folder. ``packages`` says, by turns, whether a name is a package or a file."""
    for number, name in enumerate(names()):
        text = f"open({str(mark)!r}, 'a').write({name!r} + '\\n')\n"
        if packages[number % len(packages)]:
            inside = folder / name
            inside.mkdir()
            for file in ("__init__.py", "__main__.py"):
                (inside / file).write_text(text, encoding="utf-8")
        else:
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "evil.pth").write_text(f"import os; open({str(mark)!r}, 'a').write('pth')\n", "utf-8")
    information = folder / "evil-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: evil\nVersion: 1\n", "utf-8"
    )
    points = "".join(f"[{group}]\nevil = evil\n" for group in GROUPS)
    (information / "entry_points.txt").write_text(points, "utf-8")
    (folder / "pyproject.toml").write_text(PROJECT, "utf-8")
    for name in PROGRAMS:
        path = folder / name
        if not path.exists():
            path.write_text(f"#!/bin/sh\necho {name} >> {mark}\nexit 1\n", "utf-8")
            path.chmod(0o755)
    _put_libraries(folder, mark)
    for name in ("mlp.rlx", "broken/unbound.rlx"):
        shutil.copy(EXAMPLES / name, folder)
    for number in range(3):  # large enough for a process each
        text = (EXAMPLES / "mlp.rlx").read_text("utf-8") + "#" * 40_000 + "\n"
        (folder / f"large{number}.rlx").write_text(text, "utf-8")
    (folder / "some.relay").write_text(RELAY, "utf-8")
    _put_repository(folder, mark)


RELAY = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) { add(%x, %x) }\n'


def _put_repository(folder: Path, mark: Path) -> None:
    """A repository that has `mlp.rlx`, and whose configuration asks for a program."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "mlp.rlx"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    with (folder / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(f"[core]\n\tfsmonitor = echo git >> {mark}\n")


def _put_libraries(folder: Path, mark: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        return
    with TemporaryDirectory() as made:
        source, library = Path(made, "mark.c"), Path(made, "mark.so")
        source.write_text(LIBRARY.format(mark=mark), "utf-8")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        for name in (*LIBRARIES, *_names_of_z3()):
            shutil.copy(library, folder / name)


def _names_of_z3() -> Iterator[str]:
    """The names under which Z3's package looks for its library."""
    from importlib.util import find_spec

    found = find_spec("z3")
    for home in found.submodule_search_locations or () if found is not None else ():
        yield from (path.name for path in Path(home, "lib").glob("libz3*"))


def lines(outside: Path) -> list[Line]:
    """A line for each command, and for what commands do in other ways."""
    program = (EXAMPLES / "broken" / "unbound.rlx").read_bytes()
    made, proof = str(outside / "made.rlxexe"), str(outside / "proof.json")
    ready = str(outside / "ready.json")  # all lines run at once
    assert prove([*GOAL[1:], "--certificate", ready], "rlx prove") == 0
    listed = [
        *(["check", "mlp.rlx"], ["check", "."], ["check", "--format", "sarif", "unbound.rlx"]),
        *(["check", "--types", "mlp.rlx"], ["check", "--fix", "--", "unbound.rlx"], ["--version"]),
        *(["fmt", "--check", "mlp.rlx"], GOAL, [*GOAL, "--smtlib"], ["why", "mlp.rlx:14"]),
        *(["run", "mlp.rlx", "--backend", "native"], ["run", "mlp.rlx", "--backend", "steps"]),
        *(["step", "mlp.rlx"], ["build", "mlp.rlx", "--legalize", "-o", made]),
        *(["lower", "mlp.rlx", "--legalize"], ["relay", "to-relax", "some.relay"]),
        *(["relay", "run", "some.relay"], ["generate", "-n", "2"], ["explain", "D14"]),
        *([*GOAL, "--certificate", proof], ["verify-proof", ready]),
        *(["refines", "mlp.rlx", "large0.rlx", "--explain"], ["memory", "mlp.rlx"]),
        *(["completion", "bash"], ["reduce", "mlp.rlx", "--test", "/bin/grep -q softmax"]),
        ["fuzz", "--time", "1s", "--jobs", "1", "--out", str(outside / "fuzz")],
        ["bisect", "mlp.rlx", "--no-run", "--no-reduce"],
        *(["compare", "mlp.rlx", "mlp.rlx"], ["diff", "mlp.rlx", "large0.rlx"], ["skill"]),
        *(["graph", "mlp.rlx"], ["refines", "HEAD:mlp.rlx", "mlp.rlx"]),
    ]
    return [
        *map(Line, listed),
        Line(["check", "-"], program),
        Line(["check", "--fix", "-"], program),
        Line(["check", "--watch", "mlp.rlx"], stop=2.0),
    ]


def environment(outside: Path) -> dict[str, str]:
    """The environment of the commands."""
    made = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    made["PATH"] = f".:{made['PATH']}"
    return made | {"HOME": str(outside), "RLX_CACHE": str(outside / "cache")}


def spelling(kind: str) -> list[str]:
    """The command that starts the program."""
    return {
        "script": [str(BIN / "rlx")],
        "module": [sys.executable, "-m", "rlx"],
        "safe": [sys.executable, "-P", "-m", "rlx"],
    }[kind]


def run(line: Line, start: Sequence[str], folder: Path, outside: Path) -> tuple[int, str]:
    """Run a command in the folder: its status, and what it wrote to stderr."""
    with subprocess.Popen(
        [*start, *line.words],
        cwd=folder,
        env=environment(outside),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        if line.stop:
            time.sleep(line.stop)
            process.terminate()
        watchdog = threading.Timer(SECONDS, process.kill)
        watchdog.start()
        _, said = process.communicate(line.given)
        watchdog.cancel()
    return process.returncode, said.decode(errors="replace")


def session(start: Sequence[str], folder: Path, outside: Path) -> list[Message]:
    """A server's session in which a long text is opened, edited and checked anew: the messages that were shown."""
    uri = (folder / "mlp.rlx").as_uri()
    functions = map(FUNCTION.format, range(LONG // len(FUNCTION) + 9))
    long = "@I.ir_module\nclass Long:\n" + "".join(functions)
    wire = Wire(environment(outside), start=start, folder=folder)
    try:
        params: dict[str, object] = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "capabilities": {},
        }
        wire.answer(wire.ask("initialize", params))
        wire.notify("initialized", {})
        wire.open(uri, long)
        wire.told(uri, 1)
        wire.change(uri, long.replace("R.exp(x)", "R.exp(y)", 1), 2)
        wire.told(uri, 2)
        del wire.diagnostics[uri]
        wire.told(uri, 2)  # of the whole text, from the process beside the server
        at = {"textDocument": {"uri": uri}, "position": {"line": 12, "character": 10}}
        wire.answer(wire.ask("textDocument/hover", at))
        wire.end()
    finally:
        wire.close()
    return wire.shown


def left(mark: Path) -> str:
    """The files that left marks since the last question."""
    if not mark.exists():
        return ""
    said = " ".join(mark.read_text("utf-8").split())
    mark.unlink()
    return said


def main() -> int:
    """Every command in both kinds of folder, spelt in every way; 1 if one left a mark."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    wrong = count = 0
    for packages in (False, True):
        with TemporaryDirectory() as made:
            root = Path(made).resolve()
            folder, outside, mark = root / "folder", root / "outside", root / "mark"
            folder.mkdir()
            outside.mkdir()
            furnish(folder, mark, [packages])
            for kind in ("script", "module", "safe"):
                for line in lines(outside):
                    status, said = run(line, spelling(kind), folder, outside)
                    marks = left(mark)
                    count += 1
                    if marks or status not in ENDED:
                        wrong += 1
                        sys.stdout.write(
                            f"{kind} {' '.join(line.words)}: {status} {marks}\n{said}\n"
                        )
                session(spelling(kind), folder, outside)
                if marks := left(mark):
                    wrong += 1
                    sys.stdout.write(f"{kind} lsp: {marks}\n")
    sys.stdout.write(f"{count} command lines and 6 sessions, {wrong} wrong\n")
    return 1 if wrong else 0


def all_at_once(
    start: Sequence[str], folder: Path, outside: Path, commands: Sequence[str] = ()
) -> list[str]:
    """The lines whose commands could not do their work, two at a time; ``commands`` chooses some."""
    todo = [line for line in lines(outside) if not commands or line.words[0] in commands]
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda line: (line, *run(line, start, folder, outside)), todo)
        return [f"{line.words}: {said}" for line, status, said in done if status not in ENDED]


if __name__ == "__main__":
    sys.exit(main())
