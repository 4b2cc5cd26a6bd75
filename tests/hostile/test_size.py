"""Big inputs: those that are ordinary are checked, the others refused, and none takes for ever."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import rlx
from rlx.checker.driver import sources
from rlx.checker.why.explain import everything
from rlx.checker.why.json import as_json
from rlx.cli import COMMANDS, guarded

from .corpus import CLEAN, FOUND, Answer, complaint

HANG = 120
"""Seconds after which a run counts as one that does not end; speed itself is measured in benchmarks/."""


def run(text: str | bytes, folder: Path, *options: str, stack: int | None = None) -> Answer:
    """The real command, as a process of its own, whose stack may first be this large."""
    path = folder / "big.rlx"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    done = subprocess.run(
        [sys.executable, "-m", "rlx", "check", *options, str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=HANG,
        env={**os.environ, "NO_COLOR": "1"},
        preexec_fn=None if stack is None else lambda: _limit(stack),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def _limit(stack: int) -> None:
    resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def function(body: str, params: str = 'x: R.Tensor((4,), "float32")') -> str:
    return f"@R.function\ndef main({params}):\n{body}    return x\n"


def many_bindings(count: int) -> str:
    lines = [f"    v{i} = R.add({f'v{i - 1}' if i else 'x'}, x)\n" for i in range(count)]
    return function("".join(lines), 'x: R.Tensor(("n", 4), "float32")')


def long_sum(terms: int) -> str:
    total = " + ".join(["n"] * terms)
    return function(
        f'    y: R.Tensor(({terms} * n,), "float32") = R.zeros(R.shape([{total}]), dtype="float32")\n',
        'x: R.Tensor(("n",), "float32")',
    )


def nested_ifs(depth: int) -> str:
    head = "@R.function\ndef main(c: R.Tensor((), 'bool'), x: R.Tensor((4,), 'float32')):\n"
    lines = [f"{' ' * (i + 1)}if c:\n" for i in range(depth)]
    lines.append(f"{' ' * (depth + 1)}y = x\n")
    for i in reversed(range(depth)):
        lines.append(f"{' ' * (i + 1)}else:\n{' ' * (i + 2)}y = x\n")
    return head + "".join(lines) + " return y\n"


def nested(opening: str, closing: str, depth: int, inside: str = "x") -> str:
    return function(f"    y = {opening * depth}{inside}{closing * depth}\n")


ORDINARY: dict[str, Callable[[], str]] = {
    "5,000 bindings": lambda: many_bindings(5_000),
    "a sum of 3,000 terms": lambda: long_sum(3_000),
    "500 nested ifs": lambda: nested_ifs(500),
    "400 nested parentheses": lambda: nested("(", ")", 400),
    "a tuple of 20,000": lambda: function(f"    y = ({'x, ' * 20_000})\n"),
    "2,000 parameters": lambda: function(
        "", ", ".join(["x: R.Object", *(f"p{i}: R.Tensor((4,), 'float32')" for i in range(2_000))])
    ),
    "500 functions": lambda: "".join(
        function("    y = R.add(x, x)\n").replace("main", f"f{i}") for i in range(500)
    ),
    "a name of 100,000 letters": lambda: function("    y = x\n").replace("y", "y" * 100_000),
    "a string of 1,000,000 letters": lambda: function(f'    y = R.str("{"s" * 1_000_000}")\n'),
    "20,000 comment lines": lambda: "# nothing\n" * 20_000 + function("    y = x\n"),
    "a rank of 5,000": lambda: function(
        f"    y = R.shape([{', '.join(map(str, range(5_000)))}])\n"
    ),
}

REFUSED: dict[str, Callable[[], str]] = {
    "20,000 nested parentheses": lambda: nested("(", ")", 20_000),
    "20,000 open parentheses": lambda: nested("(", "", 20_000),
    "20,000 closing parentheses": lambda: nested("", ")", 20_000),
    "20,000 open brackets of all kinds": lambda: nested("([{", "", 6_667),
    "2,000 nested ifs": lambda: nested_ifs(2_000),
    "5,000 nested calls": lambda: nested("R.add(", ", x)", 5_000),
    "a line of 5 MB": lambda: function(f"    y = {'x' * 5_000_000}\n"),
    "a line of 5 MB of operators": lambda: function(f"    y = {'?' * 5_000_000}\n"),
    "an integer of 10,000 digits": lambda: function(
        f'    y = R.zeros(R.shape([{"9" * 10_000}]), dtype="float32")\n'
    ),
    "an annotation with an integer of 10,000 digits": lambda: function(
        "", f'x: R.Tensor(({"9" * 10_000},), "float32")'
    ),
    "20,000 lines that mean nothing": lambda: "@R.function\n" + "def = (\n" * 20_000,
    "an unclosed string of 1 MB": lambda: function(f'    y = R.str("{"s" * 1_000_000}\n'),
}

ANSWERED: dict[str, Callable[[], str]] = {
    "20,000 minus signs": lambda: nested("-", "", 20_000),
    "5,000 subscripts": lambda: function(f"    y = x{'[0]' * 5_000}\n"),
    "5,000 times to the power": lambda: function(f"    y = x{' ** x' * 5_000}\n"),
    "5,000 times plus": lambda: function(f"    y = x{' + x' * 5_000}\n"),
    "5,000 levels of indentation": lambda: "".join(
        " " * (i % 2_000) + "if c:\n" for i in range(5_000)
    ),
    "5,000 tuples in tuples, by name": lambda: function(
        "    v0 = (x,)\n" + "".join(f"    v{k} = (v{k - 1},)\n" for k in range(1, 5_000))
    ).replace("return x", "return v4999"),
    "20,000 decorators": lambda: "@R.function\n" * 20_000,
    "20,000 attributes": lambda: function(f"    y = R{'.a' * 20_000}(x)\n"),
    "5,000 errors": lambda: function("    y = R.add(x)\n" * 1_000 + "    y = z\n" * 4_000),
    "a sum of 3,000 products": lambda: function(
        f"    y = R.shape([{' + '.join(f'n * m * {i}' for i in range(3_000))}])\n",
        'x: R.Tensor(("n", "m"), "float32")',
    ),
    "a power tower of sums": lambda: function(
        f"    y = R.shape([{' * '.join(['(n + m + 1)'] * 60)}])\n",
        'x: R.Tensor(("n", "m"), "float32")',
    ),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_size_is_checked(name: str, tmp_path: Path) -> None:
    answer = run(ORDINARY[name](), tmp_path)
    assert (answer.status, answer.err) == (CLEAN, ""), answer.out[-1000:]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_beyond_the_limits_is_refused(name: str, tmp_path: Path) -> None:
    answer = run(REFUSED[name](), tmp_path)
    assert complaint(answer) is None
    assert answer.status == FOUND
    assert len(answer.out) < 1_000_000, "the report is not as long as the input"


@pytest.mark.parametrize("name", ANSWERED)
def test_every_size_is_answered(name: str, tmp_path: Path) -> None:
    assert complaint(run(ANSWERED[name](), tmp_path)) is None


def test_a_small_stack_grows(tmp_path: Path) -> None:
    text = ANSWERED["5,000 tuples in tuples, by name"]()
    assert complaint(run(text, tmp_path, stack=1 << 20)) is None


def test_a_big_binary_file_is_refused(tmp_path: Path) -> None:
    answer = run(bytes(range(256)) * 40_000, tmp_path)
    assert complaint(answer) is None
    assert answer.status == FOUND


STARVED = """
import resource, threading, rlx
TEXT = '@R.function\\ndef main(x: R.Tensor((2,), "float32")):\\n    return x\\n'
rlx.check(TEXT)

def work():
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), resource.RLIM_INFINITY))
    try:
        print(rlx.check(TEXT).ok)
    except RuntimeError as error:
        print(type(error).__name__, error)

threading.stack_size(256 << 10)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="the memory of a process is limited as on Linux"
)
def test_a_thread_with_a_small_stack_and_no_memory_for_another_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARVED], check=True, capture_output=True, text=True, timeout=HANG
    )
    assert done.stdout.startswith("StackError the stack of this thread is too small for rlx")
    assert "call rlx from a thread with a stack of 7 MiB" in done.stdout


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
@pytest.mark.parametrize("line", ["check", "fmt", "run", "disasm", "why /dev/zero:1", "lower"])
def test_a_device_without_an_end_is_no_program(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *words = line.split()
    ran = import_module(COMMANDS[name][0]).main
    assert guarded(ran, words or ["/dev/zero"], f"rlx {name}") in (1, 2)
    done = capsys.readouterr()
    said = done.out + done.err
    assert "NUL character" in said or "expected a decorated class" in said or "disasm" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("name", ["check", "fmt", "run", "lower"])
def test_a_text_without_an_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sources, "MOST", 1 << 22)
    pipe = tmp_path / "endless.rlx"
    os.mkfifo(pipe)
    writing = subprocess.Popen(["sh", "-c", 'exec yes "# a comment" > "$1"', "sh", str(pipe)])
    try:
        assert guarded(import_module(COMMANDS[name][0]).main, [str(pipe)], f"rlx {name}") == 2
    finally:
        writing.kill()
        writing.wait()
    done = capsys.readouterr()
    assert "this is longer than 4 MiB" in done.out + done.err


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def test_an_endless_stream_that_is_not_text_is_refused() -> None:
    given = "exec tr '\\0' '\\377' < /dev/zero"
    with subprocess.Popen(["sh", "-c", given], stdout=subprocess.PIPE) as writing:
        assert writing.stdout is not None
        data = sources.read_all(writing.stdout)  # type: ignore[arg-type]
        writing.stdout.close()
    found = sources.decode(data, "p.rlx")[1]
    assert found is not None
    assert found.message == "the byte 0xff is not UTF-8"


@pytest.mark.parametrize("line", ["check", "fmt", "lower", "run", "graph", "reduce --test true"])
def test_what_is_behind_a_nul_is_not_left_out(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.rlx"
    text = f"{function('')}# \0{'z' * (1 << 20)}\n{function('').replace('main', 'other')}"
    path.write_text(text)
    name, *words = line.split()
    assert guarded(import_module(COMMANDS[name][0]).main, [*words, str(path)], f"rlx {name}") != 0
    done = capsys.readouterr()
    assert "the text contains a NUL character" in done.out + done.err
    assert path.read_text() == text
    with pytest.raises(rlx.SubjectError, match="NUL"):
        rlx.check(path)


DOUBLING = "".join(f"    v{i} = (v{i - 1}, v{i - 1})\n" for i in range(1, 45))


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("graph one.rlx two.rlx --format html", 0),
        ("diff one.rlx two.rlx", 1),
        ("refines one.rlx two.rlx --format json", 1),
        ("compare one.rlx same.rlx", 0),
        ("compare one.rlx two.rlx --format json", 1),
        ("check --derivations --format json one.rlx", 0),
    ],
)
def test_tuples_that_double_are_compared(
    line: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The values have 2**45 places, and the programs 45 lines."""
    monkeypatch.chdir(tmp_path)
    for name, first in (("one", "x"), ("same", "x"), ("two", "R.add(x, x)")):
        text = function(f"    v0 = (x, {first})\n{DOUBLING}").replace("return x", "return v44")
        Path(f"{name}.rlx").write_text(text)
    name, *words = line.split()
    assert import_module(COMMANDS[name][0]).main(words, f"rlx {name}") == status
    assert len(capsys.readouterr().out) < 2_000_000


def test_dimensions_that_square_are_not_written_in_full() -> None:
    """Each is a product of the one before with itself, so its text doubles each time."""
    lines, last = "", "x"
    for k in range(16):
        lines += f"    a{k} = R.concat(({last}, x), axis=0)\n    b{k} = R.outer(a{k}, a{k})\n"
        lines += f"    c{k} = R.flatten(b{k})\n"
        last = f"c{k}"
    text = function(lines, 'x: R.Tensor(("n",), "float32")').replace("return x", f"return {last}")
    _, found = everything(text, "p.rlx")
    assert len(json.dumps(as_json(found.roots, found.source))) < 2_000_000
