"""Deep programs in threads with a small stack: an answer or an exception, and the process lives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from rlx.cli import COMMANDS

SCRIPT = """
import sys, threading
import rlx

text = '''@R.function
def main(x: R.Tensor((2,), "float32")):
    v0 = x
''' + "".join(f"    v{i + 1} = (v{i}, x)\\n" for i in range(5000)) + "    return v5000\\n"
nested = "(" * 400 + "x" + ", x)" * 400
tuples = f'''@R.function
def main(x: R.Tensor((2,), "float32")):
    y = {nested}
    return y
'''
goal = "(" * 800 + "n" + " % 7 + 1)" * 800 + " >= 0"

def work():
    print(rlx.check(text).ok, rlx.check(tuples).ok)
    print(rlx.prove(goal).status)
    print(rlx.run(text).ok, rlx.run(tuples).ok)
    print(len(rlx.fmt(text)) > 5000, len(rlx.fmt(tuples)) > 800)
    print(rlx.why(tuples, 3) is not None)

threading.stack_size(131072)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("alive", sys.getrecursionlimit())
"""


def test_deep_programs_in_a_thread_with_a_small_stack() -> None:
    """musl gives threads 128 KiB."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = ["True True", "proved", "True True", "True True", "True", "alive 1000"]
    assert done.stdout.splitlines() == expected, done.stderr


LINES = {
    **{name: f"{name} deep.rlx" for name in ("check", "graph", "memory", "lower", "step")},
    **{name: f"{name} deep.rlx deep.rlx" for name in ("refines", "diff", "compare")},
    **{name: f"{name} --help" for name in ("fuzz", "lsp", "bisect", "generate")},
    "fmt": "fmt --diff deep.rlx",
    "prove": f"prove {'(' * 200}n{'%7+1)' * 200}>=0",
    "verify-proof": "verify-proof deep.rlx",
    "run": "run deep.rlx --seed 0",
    "build": "build deep.rlx -o deep.exe",
    "disasm": "disasm deep.exe",
    "relay": "relay check deep.relay",
    "reduce": "reduce deep.rlx --test false",
    "why": "why deep.rlx:400",
    "explain": "explain D14",
    "skill": "skill",
    "completion": "completion bash",
}
"""A line for each command; those with `--help` read no program, or need TVM."""

IN_A_THREAD = """
import contextlib, io, json, sys, threading
from importlib import import_module
import rlx
from rlx.cli import COMMANDS

def work(name, words):
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = import_module(COMMANDS[name][0]).main(words, name)
    except SystemExit as ended:
        status = ended.code
    ends[name] = status

ends = {}
threading.stack_size(64 << 10)
for line in json.load(sys.stdin):
    name, *words = line.split()
    thread = threading.Thread(target=work, args=(name, words))
    thread.start()
    thread.join()
print(json.dumps(ends))
"""


def test_each_command_in_a_thread_with_a_small_stack(tmp_path: Path) -> None:
    assert LINES.keys() == COMMANDS.keys()
    lines = [f"    v{k} = (v{k - 1}, x)\n" if k else "    v0 = (x, x)\n" for k in range(500)]
    head = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n'
    (tmp_path / "deep.rlx").write_text(f"{head}{''.join(lines)}    return v499\n")
    relay = f"{'add(' * 400}%x{', %x)' * 400}"
    text = f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) {{\n  {relay}\n}}\n'
    (tmp_path / "deep.relay").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", IN_A_THREAD],
        input=json.dumps([*LINES.values()]),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert ends.pop("reduce") == ends.pop("verify-proof") == 1
    assert ends == dict.fromkeys(ends, 0)


def test_what_a_function_raises_in_the_other_thread_arrives_here() -> None:
    script = (
        "import rlx, threading\n"
        "def work():\n"
        "    try:\n"
        "        rlx.run('@R.function\\ndef main(x: R.Object):\\n    return y\\n')\n"
        "    except rlx.IllFormedError as error:\n"
        "        print(type(error).__name__)\n"
        "threading.stack_size(131072)\n"
        "threading.Thread(target=work).start()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "IllFormedError\n"
