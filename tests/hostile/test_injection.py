"""A program is data: nothing in it is ever run, wherever it stands."""

import subprocess
import sys
from pathlib import Path

import pytest

from .corpus import FOUND, check, complaint

CALL = '__import__("os").system("touch {mark}")'

PROGRAM = """\
@I.ir_module
class Module:
    I.module_attrs({{"a": {attribute}}})

    @T.prim_func({decorator}private=True)
    def kernel(a: T.Buffer(({extent},), "float32"), b: T.Buffer((4,), "float32")):
        T.func_attr({{"k": {kernel_attribute}}})
        for i in range({loop}):
            with T.sblock("s"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi] + {element}

    @R.function({function})
    def main(x: R.Tensor((4, {dim}), {dtype}), y: {annotation}) -> {result}:
        R.func_attr({{"f": {function_attribute}}})
        lv: {local} = R.add(x, {argument})
        gv = R.sum(lv, axis={keyword})
        gv1 = {value}
        gv2 = R.const({constant}, "float32")
        gv3 = R.shape([{extents}])
        return {returned}
"""

HARMLESS = {
    "attribute": "1",
    "decorator": "",
    "extent": "4",
    "kernel_attribute": "1",
    "loop": "4",
    "element": "T.float32(1)",
    "function": "",
    "dim": "4",
    "dtype": '"float32"',
    "annotation": "R.Object",
    "result": "R.Object",
    "function_attribute": "1",
    "local": 'R.Tensor((4, 4), "float32")',
    "argument": "x",
    "keyword": "[0]",
    "value": "R.add(x, x)",
    "constant": "1.0",
    "extents": "4",
    "returned": "gv1",
}

SPELLINGS = {
    "call": CALL,
    "quoted": repr(CALL),
    "lambda": f"(lambda: {CALL})()",
    "comprehension": f"[{CALL} for _ in range(1)][0]",
    "walrus": f"(z := {CALL})",
    "f-string": f"f'{{{{{CALL}}}}}'",
    "subscript": f"().__class__.__bases__[0].__subclasses__()[{CALL}]",
    "eval": f"eval({CALL!r})",
    "conditional": f"{CALL} if True else 1",
    "attribute": f"R.__builtins__[{CALL}]",
}


def test_the_harmless_program_is_fine(tmp_path: Path) -> None:
    answer = check(PROGRAM.format(**HARMLESS).encode(), tmp_path)
    assert (answer.status, answer.err) == (0, ""), answer.out


PAIRS = [
    (place, spelling)
    for at, place in enumerate(HARMLESS)
    for number, spelling in enumerate(SPELLINGS)
    if (at + number) % 3 == 0
]
"""Every place and every spelling, not each with each."""


@pytest.mark.parametrize(("place", "spelling"), PAIRS)
def test_nothing_is_run(place: str, spelling: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    evil = SPELLINGS[spelling].format(mark=mark)
    if place == "decorator":
        evil += ", "
    answer = check(PROGRAM.format(**{**HARMLESS, place: evil}).encode(), tmp_path)
    assert not mark.exists()
    assert complaint(answer) is None
    if spelling != "quoted" and place not in ("element", "kernel_attribute", "loop", "extent"):
        assert answer.status == FOUND, answer.out


WRAPPED = """\
import os
os.system("touch {mark}")
raise SystemExit("run")

@R.function
def main(x: R.Tensor((4,), "float32")):
    return x

x = [__import__("os").system("touch {mark}")]
metadata = tvm.ir.load_json(\"\"\"__import__("os").system("touch {mark}")\"\"\")
"""


def test_python_around_a_function_is_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    answer = check(WRAPPED.format(mark=mark).encode(), tmp_path)
    assert not mark.exists()
    assert complaint(answer) is None


WATCHED = """\
import sys

def hook(event, args):
    if event.split(".")[0] in ("subprocess", "socket", "ctypes", "pty", "webbrowser") or event in (
        "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.remove", "os.rename",
    ):
        sys.stderr.write(f"AUDIT {event} {args}")
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+") and not isinstance(args[0], int):
        sys.stderr.write(f"AUDIT {event} {args}")

from rlx.commands import check as command
sys.addaudithook(hook)
sys.exit(command.main(sys.argv[1:]))
"""


def test_the_interpreter_saw_nothing_run(tmp_path: Path) -> None:
    """All places and spellings in a process that reports every program that is started, socket and written file.

    The copy of the process in which a file is checked reports them, too; the pipes to it are no files.
    """
    number = 0
    for spelling in SPELLINGS.values():
        for place in HARMLESS:
            evil = spelling.format(mark=tmp_path / "mark")
            text = PROGRAM.format(**{**HARMLESS, place: evil})
            (tmp_path / f"{number}.rlx").write_text(text, encoding="utf-8")
            number += 1
    paths = [str(path) for path in sorted(tmp_path.glob("*.rlx"))]
    for path in paths[:: max(1, len(paths) // 12)]:
        done = subprocess.run(
            [sys.executable, "-c", WATCHED, path], check=False, capture_output=True, text=True
        )
        assert done.returncode in (0, 1, 2), done.stderr
        assert "AUDIT" not in done.stderr


@pytest.mark.parametrize(
    "name",
    ["int", "str", "Exception", "object", "type", "__builtins__", "R", "T", "I", "None_", "self"],
)
def test_a_class_may_be_named_like_anything(name: str, tmp_path: Path) -> None:
    call = f'R.call_tir({name}.kernel, (gv,), out_sinfo=R.Tensor((4,), "float32"))'
    text = PROGRAM.format(**{**HARMLESS, "value": call}).replace("Module", name)
    answer = check(text.encode(), tmp_path)
    assert complaint(answer) is None
    if name not in ("R", "T", "I"):
        assert answer.status == 0, answer.out


@pytest.mark.parametrize("name", ["__init__", "__class__", "print", "len", "__getattr__", "cls"])
def test_names_of_python_are_only_names(name: str, tmp_path: Path) -> None:
    text = PROGRAM.format(**HARMLESS).replace("lv", name).replace("main", f"{name}_f")
    answer = check(text.encode(), tmp_path)
    assert (answer.status, complaint(answer)) == (0, None), answer.out
