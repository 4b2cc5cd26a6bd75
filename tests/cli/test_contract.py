"""The contract of `relax-check`."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.checker.driver import check_files
from rlx.checker.driver.mistakes import SHOW_TRACEBACK
from rlx.checker.driver.sources import source_of
from rlx.checker.render.files import FileReport
from rlx.commands import check as command
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.operators import external, registry

GOOD = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    y = R.nn.relu(x)
    return y
"""
BAD = GOOD.replace("relu(x)", "relu(z)")  # nothing binds z
WARNED = """\
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    z = R.add(x, y)
    return z
"""
NOTED = GOOD.replace("R.nn.relu(x)", "R.emit(x)").replace(' -> R.Tensor(("n", 4), "float32")', "")

DIAGNOSTIC = {
    "code": str,
    "rule": str,
    "severity": str,
    "message": str,
    "line": int,
    "column": int,
    "end_line": int,
    "end_column": int,
    "related": [{"message": str, "line": int, "column": int, "end_line": int, "end_column": int}],
    "notes": [str],
    "help": (str, type(None)),
    "edit": (dict, type(None)),
    "counterexample": (dict, type(None)),
}
SCHEMA = {
    "version": int,
    "files": [{"path": str, "diagnostics": [DIAGNOSTIC]}],
    "summary": {
        "files": int,
        "errors": int,
        "warnings": int,
        "modules": int,
        "functions": int,
        "prim_funcs": int,
        "obligations": {"proved": int, "refuted": int, "unknown": int},
    },
}


def assert_fits(value: Any, schema: Any) -> None:
    """The value has the schema's keys, in its order, and its types."""
    match schema:
        case dict():
            assert list(value) == list(schema)
            for key, inner in schema.items():
                assert_fits(value[key], inner)
        case [inner]:
            for element in value:
                assert_fits(element, inner)
        case _:
            assert isinstance(value, schema)


class Run:
    """Runs the command in this process, in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.folder / f"{name}.rlx").write_text(text, encoding="utf-8")

    def __call__(self, *argv: str) -> tuple[int, str, str]:
        try:
            status = command.main(argv)
        except SystemExit as leaving:  # argparse
            assert isinstance(leaving.code, int)
            status = leaving.code
        out, err = self.capsys.readouterr()
        return status, out, err

    def json(self, *argv: str) -> Any:
        """The report as an object."""
        return json.loads(self("--format", "json", *argv)[1])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    return Run(tmp_path, capsys)


@pytest.fixture(autouse=True)
def own_operators() -> Iterator[None]:
    """Operators that a test declares, or allows, are unknown to the tests after it."""
    before = dict(registry.declared)
    yield
    for name in set(registry.declared) - set(before):
        if not registry.is_built_in(name):
            del registry.declared[name]
            registry.forget(name)
    external.loaded.clear()
    registry.allowed.clear()


def spawned(*argv: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command as a process."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from rlx.cli import relax_check; raise SystemExit(relax_check())",
            *argv,
        ],
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


# ---------------------------------------------------------------------------------- exit status


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (GOOD, [], 0),
        (BAD, [], 1),
        (WARNED, [], 0),
        (WARNED, ["--strict"], 1),
        (NOTED, ["--strict"], 0),
        (BAD, ["--strict"], 1),
        ("", [], 1),
    ],
)
def test_status(run: Run, text: str, options: list[str], expected: int) -> None:
    run.write(program=text)
    assert run("program.rlx", *options)[0] == expected


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--format", "xml", "a.rlx"],
        ["--no-such-option", "a.rlx"],
        ["--select", "WF99", "a.rlx"],
        ["--ignore", "nonsense", "a.rlx"],
        ["--explain", "WF99"],
        ["--explain"],
    ],
)
def test_wrong_usage_is_2(run: Run, argv: list[str]) -> None:
    run.write(a=GOOD)
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err


def test_an_empty_folder_is_2(run: Run) -> None:
    (run.folder / "empty").mkdir()
    status, _, err = run("empty")
    assert status == 2
    assert err == "relax-check: no Relax program under empty\n"


def test_a_missing_file_is_2_and_the_others_are_checked(run: Run) -> None:
    run.write(a=BAD, c=GOOD)
    status, out, _ = run("a.rlx", "b.rlx", "c.rlx")
    assert status == 2
    assert "error[READ]: cannot read this file: No such file or directory\n --> b.rlx\n" in out
    assert " --> a.rlx:3:" in out
    assert "\n3 files checked: 2 errors" in out


def test_a_forbidden_file_is_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the refusal is the system call's answer, given by hand."""
    run.write(a=GOOD, b=GOOD)

    def refuse(path: str, shown: str) -> tuple[Source, Diagnostic | None]:
        if path == "a.rlx":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return source_of(path, shown)

    monkeypatch.setattr(check_files, "source_of", refuse)
    status, out, _ = run("a.rlx", "b.rlx")
    assert status == 2
    assert "error[READ]: cannot read this file: Permission denied\n --> a.rlx" in out


def test_a_bug_is_101_and_the_others_are_checked(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import rlx.checker.check

    check_text = rlx.checker.check.check_text

    def fail_on_a(text: str, path: str) -> Any:
        if path == "a.rlx":
            raise AssertionError("what cannot be")
        return check_text(text, path)

    monkeypatch.setattr(rlx.checker.check, "check_text", fail_on_a)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run.write(a=GOOD, b=BAD)
    status, out, err = run("a.rlx", "b.rlx", "c.rlx")
    assert status == 101  # stronger than the 2 of c.rlx and the 1 of b.rlx
    assert (
        "error[INTERNAL]: the checker crashed on this file: AssertionError: what cannot be" in out
    )
    assert " --> b.rlx:3:" in out
    assert "Traceback" not in out + err
    (kept,) = tmp_path.glob("rlx-traceback-*.txt")
    assert f"please report it with the file and the traceback in {kept}" in out
    assert "AssertionError: what cannot be" in kept.read_text()


def test_a_traceback_is_shown_to_those_who_ask(tmp_path: Path) -> None:
    (tmp_path / "a.rlx").write_text(GOOD)
    script = (
        "import sys, rlx.checker.check as check\n"
        "from rlx.cli import relax_check\n"
        "check.check_text = lambda *_: 1 // 0\n"
        "sys.exit(relax_check())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "a.rlx"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, SHOW_TRACEBACK: "1"},
        check=False,
    )
    assert done.returncode == 101
    assert done.stderr.startswith("Traceback (most recent call last)")
    assert "ZeroDivisionError" in done.stderr


# -------------------------------------------------------------------------------------- formats


def test_json_is_the_contract(run: Run) -> None:
    run.write(a=BAD, b=WARNED, c=GOOD, d="def f(:\n")
    report = run.json(".", "missing.rlx")
    assert_fits(report, SCHEMA)
    assert report["version"] == 1
    assert [f["path"] for f in report["files"]] == [
        "./a.rlx",
        "./b.rlx",
        "./c.rlx",
        "./d.rlx",
        "missing.rlx",
    ]
    assert report["summary"]["files"] == 5
    a, b, c, d, missing = (f["diagnostics"] for f in report["files"])
    assert [x["severity"] for x in a] == ["error"]
    assert (a[0]["line"], a[0]["column"], a[0]["end_line"], a[0]["end_column"]) == (3, 19, 3, 20)
    assert [x["severity"] for x in b] == ["warning"]
    assert set(b[0]["counterexample"]) == {"n", "m"}
    assert c == []
    assert d[0]["code"] == d[0]["rule"] == "PARSE"
    assert missing[0]["code"] == "READ"
    assert report["summary"]["errors"] == 2 + len(d)
    assert report["summary"]["warnings"] == 1


@pytest.mark.parametrize("format", ["json", "sarif"])
def test_stdout_is_one_object_whatever_happens(run: Run, format: str) -> None:
    run.write(a=BAD)
    _, out, _ = run("--format", format, "a.rlx", "missing.rlx", "--statistics", "--strict")
    assert isinstance(json.loads(out), dict)


def test_statistics(run: Run) -> None:
    run.write(a=BAD, b=BAD, c=WARNED)
    code = run.json("a.rlx")["files"][0]["diagnostics"][0]["code"]
    _, out, err = run("a.rlx", "b.rlx", "c.rlx", "--statistics")
    assert re.search(
        rf"\n\n2  error    {code}\n1  warning  \S+\n\n\d+ questions? to the prover, by what answered them\n"
        r"(\d+  .+\n)+the slowest\n( +\d+\.\d ms  .+  c\.rlx:\d+:\d+\n){1,3}$",
        out,
    )
    assert err == ""
    _, out, err = run("--format", "json", "a.rlx", "b.rlx", "--statistics")
    assert err == f"2  error    {code}\n"
    counted = json.loads(out)["statistics"]
    assert counted["codes"] == {code: 2}
    assert counted["questions"] == {"asked": 0, "means": {}, "slowest": []}
    _, out, _ = run("--format", "json", "c.rlx", "--statistics")
    asked = json.loads(out)["statistics"]["questions"]
    assert asked["asked"] == sum(asked["means"].values()) > 0
    assert asked["slowest"][0]["path"] == "c.rlx"


# ------------------------------------------------------------------------------------ selection


def test_select_and_ignore(run: Run) -> None:
    run.write(a=BAD, b=WARNED)
    everything = run.json("a.rlx", "b.rlx")["files"]
    (error,), (warning,) = (file["diagnostics"] for file in everything)

    def codes(*argv: str) -> list[str]:
        files = run.json("a.rlx", "b.rlx", *argv)["files"]
        return [d["code"] for file in files for d in file["diagnostics"]]

    assert codes("--select", error["code"]) == [error["code"]]
    assert codes("--select", error["rule"]) == [error["code"]]
    assert codes("--select", "WF") == [error["code"]]
    assert codes("--ignore", "WF") == [warning["code"]]
    assert codes("--select", f"{error['rule']}, {warning['rule']}") == [
        error["code"],
        warning["code"],
    ]
    assert codes("--select", "WF", "--ignore", error["code"]) == []
    assert run("a.rlx", "--ignore", "WF")[0] == 0


def test_what_keeps_a_file_from_being_checked_cannot_be_ignored(run: Run) -> None:
    run.write(a="def f(:\n")
    for argv in (["--ignore", "PARSE"], ["--select", "WF"]):
        assert run("a.rlx", *argv)[0] == 1
    assert run("missing.rlx", "--ignore", "READ")[0] == 2


# ---------------------------------------------------------------------------------------- paths


def test_a_folder_means_the_files_with_relax_under_it_in_order(run: Run) -> None:
    hidden = (".venv/lib/site.py", "a/site-packages/b.py")
    for name in ("b.rlx", "a/z.rlx", "a/b/c.rlx", "a.rlx", "a/model.py", "a/not.txt", *hidden):
        path = run.folder / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GOOD)
    (run.folder / "models" / "a" / "other.py").write_text("import os\n")
    (run.folder / "models" / "a" / "empty.py").write_text(
        "import tvm.script\n@tl.function\ndef f(): pass\n"
    )
    (run.folder / "models" / "folder.rlx").mkdir()
    (run.folder / "models" / "loop").symlink_to(run.folder / "models")
    inside = ["a/b/c.rlx", "a/model.py", "a/z.rlx"]
    expected = ["models/a.rlx", *(f"models/{name}" for name in inside), "models/b.rlx"]
    assert [f["path"] for f in run.json("models")["files"]] == expected
    assert [f["path"] for f in run.json("models", "models/a.rlx")["files"]] == expected


def test_many_files_on_all_cores_give_the_same_report(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"f{i:02}" for i in range(20)]
    run.write(**{name: (BAD, WARNED, GOOD)[i % 3] for i, name in enumerate(names)})
    alone = run.json(".")
    monkeypatch.setattr(check_files, "PAYS_FROM", 0)
    assert run.json(".") == alone
    assert [f["path"] for f in alone["files"]] == [f"./{name}.rlx" for name in names]


def test_a_python_file_is_data(run: Run) -> None:
    text = f"import os\nos.mkdir('made')\nfrom tvm.script import relax as R\n\n{BAD}\nos.mkdir('made')\n"
    (run.folder / "model.py").write_text(text)
    report = run.json("model.py")
    (found,) = report["files"][0]["diagnostics"]
    assert found["line"] == 7
    assert not (run.folder / "made").exists()


def test_standard_input() -> None:
    done = spawned("--format", "json", "-", input=BAD.encode())
    assert done.returncode == 1
    (file,) = json.loads(done.stdout)["files"]
    assert file["path"] == "<stdin>"
    assert file["diagnostics"][0]["line"] == 3


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/bad\xff.rlx"
    with open(name, "wb") as file:
        file.write(BAD.encode())
    for format in ("human", "json", "sarif", "github"):
        done = spawned("--format", format, os.fsdecode(name), env={**os.environ, "LC_ALL": "C"})
        assert (done.returncode, done.stderr) == (1, b"")
        assert done.stdout


# ---------------------------------------------------------------------------------------- bytes


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        (b"\xff\xfe@\0R\0", "this file is UTF-16", (1, 1)),
        (b"# \xc3\xa4\n# \xff\n", "the byte 0xff is not UTF-8", (2, 3)),
        (b"# a\r\n# \xc3", "the byte 0xc3 is not UTF-8", (2, 3)),
        (b"# \xc3\xa4\r\n\0", "the text contains a NUL character", (2, 1)),
    ],
)
def test_bytes_that_are_no_text(
    run: Run, data: bytes, message: str, place: tuple[int, int]
) -> None:
    (run.folder / "a.rlx").write_bytes(data)
    assert run("a.rlx")[0] == 1
    (found,) = run.json("a.rlx")["files"][0]["diagnostics"]
    assert (found["code"], found["message"]) == ("PARSE", message)
    assert (found["line"], found["column"]) == place


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_other_systems_texts_are_the_same_text(run: Run, end: bytes, mark: bytes) -> None:
    run.write(a=BAD)
    plain = run.json("a.rlx")
    (run.folder / "a.rlx").write_bytes(mark + BAD.encode().replace(b"\n", end))
    assert run.json("a.rlx") == plain


# ------------------------------------------------------------------------------------- terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_only_at_a_terminal_and_only_on_long_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reports() -> Iterator[FileReport]:
        return (FileReport(str(i), None) for i in range(3))

    for stream, patience, expected in (
        (io.StringIO(), 0.0, ""),
        (Terminal(), 60.0, ""),
        (Terminal(), 0.0, "\r\x1b[Kchecked 1 of 3 files, 0 with errors\r\x1b[K"),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(check_files, "SILENCE", patience)
        monkeypatch.setattr(check_files, "EVERY", 60.0)
        assert len(list(check_files.with_progress(reports(), 3))) == 3
        assert stream.getvalue() == expected


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "a.rlx").write_text(BAD * 500)
    process = subprocess.Popen(
        [sys.executable, "-m", "rlx", "check", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1


def test_a_full_disk_is_2() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rlx", "check", "-"],
            input=GOOD.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"rlx check: No space left on device\n"


def test_interrupted(tmp_path: Path) -> None:
    """Control-C ends the run at once, with 130, without a word and without orphans."""
    os.mkfifo(tmp_path / "never.rlx")
    process = subprocess.Popen(
        [sys.executable, "-m", "rlx", "check", str(tmp_path / "never.rlx")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with (tmp_path / "never.rlx").open("wb"):  # waits until somebody reads it
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


# ----------------------------------------------------------------------------------------- cost


def test_a_small_check_loads_no_heavy_library(tmp_path: Path) -> None:
    (tmp_path / "a.rlx").write_text(GOOD)
    script = (
        "import sys; from rlx.commands.check import main; main([sys.argv[1]]);"
        "print(*sorted(set(sys.modules) & {'z3', 'numpy', 'hypothesis', 'multiprocessing', 'tvm',"
        " 'dataclasses', 'inspect', 'lark', 'asyncio', 'importlib.metadata'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.rlx")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[1:] == [""]


def test_a_failure_outside_the_files_is_101(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from rlx.cli import guarded

    def fail(*_: object) -> int:
        raise RuntimeError("no such luck")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert guarded(fail, [], "relax-check") == 101
    (kept,) = tmp_path.glob("rlx-traceback-*.txt")
    assert capsys.readouterr().err == (
        "relax-check: this is a bug in rlx: RuntimeError: no such luck\n"
        f"  report the command line, its input and the traceback in {kept}\n"
    )


# ---------------------------------------------------------------------------------------- operators of the user's own

OWN = """
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    y = R.{}(x, axis=1)
    return y
"""


def test_an_allowed_operator_is_a_note(run: Run) -> None:
    run.write(a=OWN.format("mine.gate"))
    assert run("a.rlx")[0] == 1
    for pattern in ("mine.gate", "mine.*", "R.mine.*", "relax.mine.gate"):
        status, out, _ = run("a.rlx", "--allow-operator", pattern)
        assert status == 0 and "note[D14-operator]" in out, pattern
        registry.allowed.clear()
    assert run("a.rlx", "--allow-operator", "other.*")[0] == 1


@pytest.mark.parametrize("configured", [True, False])
def test_an_operator_of_a_module_is_checked(run: Run, configured: bool) -> None:
    name = f"own{configured}.gate"
    run.write(a=OWN.format(name), b=OWN.format(name).replace("axis", "axs"))
    module = (
        f"import rlx\n@rlx.operator({name!r})\ndef gate(site, x, axis: int = -1):\n    return x\n"
    )
    (run.folder / "ops.py").write_text(module)
    options = ["--operators", "ops.py"]
    if configured:
        (run.folder / "pyproject.toml").write_text('[tool.rlx]\noperators = ["ops.py"]\n')
        options = ["--trust-config"]
    assert run("a.rlx", *options)[:2] == (0, "1 file checked: no problems\n")
    status, out, _ = run("b.rlx", *options)
    assert status == 1 and "did you mean 'axis'?" in out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "declares no operator"),
        ("1 / 0", "ZeroDivisionError"),
        ("import rlx\n@rlx.operator('add')\ndef add(site, x): return x", "already"),
        ("import rlx\n@rlx.operator('a b')\ndef add(site, x): return x", "expected the name of an"),
        (
            "import rlx\n@rlx.operator('own.odd')\ndef odd(site, x: bytes): return x",
            "expected a kind of parameter",
        ),
    ],
)
def test_a_module_without_operators_is_refused(run: Run, text: str, reason: str) -> None:
    run.write(a=GOOD)
    name = f"bad{len(text)}.py"
    (run.folder / name).write_text(text)
    status, _, err = run("a.rlx", "--operators", name)
    assert status == 2 and reason in err


def test_a_rule_that_fails_is_its_authors(run: Run) -> None:
    """An exception in the rule of an operator of one's own is no bug of rlx: the line is named."""
    (run.folder / "ops.py").write_text(
        'import rlx\n\n\n@rlx.operator("my.op")\ndef op(site, x):\n    return x.nothing\n'
    )
    (run.folder / "a.rlx").write_text(
        "@R.function\ndef main(x: R.Any):\n    y = R.my.op(x)\n    return y\n"
    )
    status, out, _ = run("a.rlx", "--operators", "ops.py")
    assert status == 2
    assert (
        "error[OPERATORS]: the rule of an operator that you declared failed: AttributeError" in out
    )
    assert "ops.py:6" in out and "bug in rlx" not in out


def test_a_rule_that_yields_no_struct_info_is_named(run: Run) -> None:
    (run.folder / "ops.py").write_text(
        'import rlx\n\n\n@rlx.operator("my.three")\ndef op(site, x):\n    return 3\n'
    )
    (run.folder / "a.rlx").write_text(
        "@R.function\ndef main(x: R.Any):\n    y = R.my.three(x)\n    return y\n"
    )
    status, out, _ = run("a.rlx", "--operators", "ops.py")
    assert status == 2 and "yields int 3, expected struct info" in out
    assert "ops.py:4" in out and "bug in rlx" not in out


@pytest.mark.parametrize("table", ["operator = []", "operators = 3", "operators = [", "x = 1"])
def test_a_wrong_configuration_is_refused(run: Run, table: str) -> None:
    run.write(a=GOOD)
    (run.folder / "pyproject.toml").write_text(f"[tool.rlx]\n{table}\n")
    status, _, err = run("a.rlx")
    assert status == 2 and "pyproject.toml" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '[tool.rlx]\nselect = ["D99"]\n',
            "no rule has the name D99; did you mean 'D09' or 'D19'?",
        ),
        ('[tool.rlx]\nignore = ["D14", "wf2"]\n', "no rule has the name wf2"),
        ("[tool]\nrlx = 3\n", "tool.rlx must be a table"),
        ("[tool]\nrlx = {strikt = true}\n", "did you mean 'strict'?"),
        ("tool = 'rlx'\n", "tool must be a table"),
        ("# rlx \udcff\n", "invalid start byte"),
    ],
)
def test_a_configuration_is_refused_with_its_file(run: Run, text: str, words: str) -> None:
    run.write(a=GOOD)
    (run.folder / "pyproject.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    status, _, err = run("a.rlx")
    assert status == 2 and "pyproject.toml: " in err and words in err


# ---------------------------------------------------------------- mending

MISSPELT = GOOD.replace("relu(x)", "rleu(x)")


def test_fix_mends_files_and_checks_them(run: Run) -> None:
    path = run.folder / "a.rlx"
    path.write_bytes(MISSPELT.replace("\n", "\r\n").encode())
    status, out, _ = run("--diff", "a.rlx")
    assert status == 1 and "+    y = R.nn.relu(x)\n" in out
    assert b"rleu" in path.read_bytes()
    status, out, err = run("--fix", "a.rlx")
    assert (status, err) == (0, "relax-check: a.rlx: 1 edit made\n") and "no problems" in out
    assert path.read_bytes() == GOOD.replace("\n", "\r\n").encode()
    assert run("--diff", "a.rlx")[:2] == (0, "")
    path.write_text(MISSPELT.rstrip("\n"))
    assert run("--diff", "a.rlx")[1].count("\n\\ No newline at end of file\n") == 1
    assert [p.name for p in run.folder.iterdir()] == ["a.rlx"]


def test_standard_input_is_mended_to_standard_output() -> None:
    done = spawned("--fix", "-", "--stdin-filename", "model.rlx", input=MISSPELT.encode())
    assert (done.returncode, done.stdout.decode()) == (0, GOOD)
    done = spawned("--stdin-filename", "model.py", "-", input=b"x = 3\n")
    assert done.returncode == 0 and b"model.py" in done.stdout
    assert spawned("--fix", "-", "a.rlx").returncode == 2
    assert spawned("--watch", "-").returncode == 2


def test_watch_checks_again_after_a_change(tmp_path: Path) -> None:
    (tmp_path / "a.rlx").write_text(BAD, "utf-8")
    code = "from rlx.cli import relax_check; raise SystemExit(relax_check())"
    with subprocess.Popen(
        [sys.executable, "-c", code, "--watch", "."],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"watching 1 file\n"
        (tmp_path / "b.rlx").write_text(GOOD, "utf-8")
        assert process.stderr.readline() == b"watching 2 files\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and b"2 files checked: 1 error" in out


def test_configuration_holds_for_all_runs(run: Run) -> None:
    run.write(warned=WARNED)
    (run.folder / "old").mkdir()
    (run.folder / "old" / "bad.rlx").write_text(BAD)
    table = run.folder / "pyproject.toml"
    table.write_text('[tool.rlx]\nexclude = ["old"]\nstrict = true\n')
    status, out, _ = run(".")
    assert status == 1 and "1 file checked: 1 warning" in out
    for named in ("old/bad.rlx", "old"):  # as a hook names the files that changed
        status, out, err = run(named)
        assert status == 0 and f"{named} is excluded by" in err
    assert run("--isolated", "old/bad.rlx")[0] == 1
    option = "warned.rlx is excluded by --extend-exclude\n"  # the file excludes another one
    assert run("--extend-exclude", "warned.rlx", "warned.rlx")[2].endswith(option)
    table.write_text('[tool.rlx]\nexclude = ["*/bad.rlx"]\nignore = ["OBL"]\nstrict = true\n')
    assert run(".")[0] == 0
    assert run("--select", "OBL", "warned.rlx")[0] == 1  # what is asked for is shown
    table.write_text('[tool.rlx]\nignore = ["OBLX"]\n')
    assert run(".")[0] == 2
    table.write_text('[tool.rlx]\nignroe = ["OBL"]\n')
    status, _, err = run(".")
    assert status == 2 and "did you mean 'ignore'?" in err
    table.write_text('[tool.rlx]\nstrict = "yes"\n')
    assert "must be true or false" in run(".")[2]
    table.write_text("[tool]\nrlx = 3\n# tool.rlx\n")
    assert "must be a table" in run(".")[2]
