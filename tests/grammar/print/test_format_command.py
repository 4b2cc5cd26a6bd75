"""`rlx fmt`: what it writes, what it leaves alone, and how it ends."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from rlx.commands.fmt import main
from rlx.grammar.dialects import DIALECTS
from rlx.grammar.print.formatting import format_text, lost_at
from rlx.grammar.read.parser import parse

EXAMPLES = Path(__file__).parents[3] / "examples"
MESSY = """\
# About this file.

# About the module.
@I.ir_module
class Module:
    # About the function.
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor:
        # About the sum.
        y = x+x  # it is twice x
        # The end.
        return y
"""
TIDY = """\
# About this file.

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
# About the module.
@I.ir_module
class Module:
    # About the function.
    @R.function
    def main(x: R.Tensor((n,), dtype="float32")) -> R.Tensor:
        # About the sum.
        y = R.add(x, x)  # it is twice x
        # The end.
        return y
"""
BROKEN = "@R.function\ndef main(x: R.Tensor(:\n    return x\n"


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_file_is_formatted_in_place_and_then_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "a.rlx", MESSY)
    assert main([path]) == 0
    assert Path(path).read_text() == TIDY
    assert main(["--check", path]) == 0


def test_the_dialect_can_be_chosen() -> None:
    printed = format_text(TIDY, version="0.16").text
    assert printed is not None
    assert (
        'def main(x: R.Tensor(("n",), dtype="float32")) -> R.Tensor:\n        n = T.int64()'
        in printed
    )


def test_check_and_diff_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.rlx", MESSY)
    assert main(["--check", path]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"{path}: not formatted\n")
    assert main(["--diff", path]) == 0
    assert "-        y = x+x  # it is twice x\n" in capsys.readouterr().out
    assert Path(path).read_text() == MESSY


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", [MESSY, TIDY])
def test_check_says_whether_formatting_writes(
    text: str, end: str, start: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.rlx"
    before = (start + text.replace("\n", end)).encode()
    path.write_bytes(before)
    said = main(["--check", str(path)])
    status = main([str(path)])
    assert said == max(status, path.read_bytes() != before)


def test_standard_input_goes_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MESSY.encode())))
    assert main(["-"]) == 0
    assert capsys.readouterr().out == TIDY


def test_a_text_with_a_syntax_error_is_left_alone_and_others_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, messy = written(tmp_path / "a.rlx", BROKEN), written(tmp_path / "b.rlx", MESSY)
    assert main([broken, messy]) == 1
    assert Path(broken).read_text() == BROKEN
    assert Path(messy).read_text() == TIDY
    assert capsys.readouterr().err.startswith(f"{broken}:2:")


IN_PYTHON = """\
import  tvm
from tvm.script import ir as I, relax as R, tir as T


def make( a,b ):  # odd   spacing
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor(("n",4)))->R.Tensor(("n",4)):
            # above
            y=R.add( x,x )   # behind
            return y
    return M


@R.function
def f(x:R.Tensor((4,))):
    return R.exp( x )

print( make(1,2) )
"""

FORMATTED_IN_PYTHON = """\
import  tvm
from tvm.script import ir as I, relax as R, tirx as T


def make( a,b ):  # odd   spacing
    from typing import TypeVar
    n = TypeVar("n")
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((n, 4))) -> R.Tensor((n, 4)):
            # above
            y = R.add(x, x)  # behind
            return y
    return M


@R.function
def f(x: R.Tensor((4,))):
    return R.exp(x)

print( make(1,2) )
"""


def test_other_python_stays_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "model.py", IN_PYTHON)
    assert main([path]) == 0
    assert Path(path).read_text() == FORMATTED_IN_PYTHON
    assert main(["--check", path]) == 0


def test_what_depends_on_the_python_around_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "N = 4\nprint(N)\n\n\n@R.function\ndef f(x:R.Tensor((N,))):\n    return x\n"
    path = written(tmp_path / "model.py", text)
    assert main([path]) == 2
    assert Path(path).read_text() == text
    assert ":6:1: not formatted: it depends on the Python code" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["a.rlx", "a.py"])
def test_imports_stay_imports_and_those_that_miss_are_added(path: str) -> None:
    text = "import os  # for later\nfrom tvm.script import relax as R, ir as I\n\n\n" + MESSY
    found = format_text(text, path).text or ""
    assert found.startswith(
        "import os  # for later\nfrom tvm.script import relax as R, ir as I\nfrom typing import TypeVar\n"
    )
    assert "# from" not in found


def test_an_import_names_tir_as_the_dialect_does() -> None:
    text = "from tvm.script import ir as I, tir as T\n\n\n@T.prim_func\ndef f(n: T.int64):\n    T.evaluate(n)\n"
    new = text.replace("tir as T", "tirx as T").replace("prim_func", "prim_func(s_tir=True)")
    assert format_text(text, "a.py").text == new
    assert format_text(text, "a.py", "0.17").text == text


def test_constants_outside_the_text_are_kept() -> None:
    data = 'metadata = tvm.ir.load_json("""{"ir.GenericConst": 1}""")\n'
    body = '@R.function\ndef main():\n    return metadata["ir.GenericConst"][0]\n'
    assert (format_text(data + body).text or "").startswith(data)
    assert (format_text(body + data).text or "").endswith(data)
    complaints = format_text(body + data, version="0.16").complaints
    assert complaints == (
        "<text>: not formatted: its constants are metadata of another version than 0.16",
    )


def test_what_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "missing.rlx")]) == 2
    (tmp_path / "bytes.rlx").write_bytes(b"\xff\xfe")
    assert main([str(tmp_path / "bytes.rlx")]) == 1
    assert "No such file" in (said := capsys.readouterr().err)
    assert "not UTF-8 (byte 0)" in said


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("**/*.rlx")), ids=lambda p: p.stem)
@pytest.mark.parametrize("version", ["0.16", "0.27"])
def test_examples_are_formatted_with_all_their_comments(path: Path, version: str) -> None:
    text = path.read_text()
    if "broken" in path.parts and "syntax" in path.stem:
        assert format_text(text, path.name, version).status == 1
        return
    outcome = format_text(text, path.name, version)
    if (path.stem, version) == ("match_cast", "0.16"):
        assert "no operator R.nonzero, which came with 0.18" in outcome.complaints[0]
        return
    assert outcome.complaints == ()
    printed = outcome.text or ""
    said = [c for line in text.splitlines() if (c := line.partition("#")[2].strip())]
    said = [c for c in said if not c.startswith(("from tvm", "with T."))]  # printed anew
    assert [c for c in said if c not in printed] == []
    assert format_text(printed, path.name, version).text == printed


def test_every_dialect_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--dialect", "0.15", "-"])
    assert ended.value.code == 2
    assert all(version in capsys.readouterr().err for version in list(DIALECTS)[:1])


def test_a_comment_stays_behind_what_fits_on_its_line() -> None:
    text = """@I.ir_module
class M:
    @T.prim_func
    def k(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        t = a[0]  # a scalar
        for i in range(4):
            b[i] = a[i] * t  # stored

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.add(
            x, x
        )  # on one line now
        with R.dataflow():
            z = R.exp(y)  # in a block
            R.output(z)
        return z  # the end
"""
    shown = format_text(text).text
    assert shown is not None
    for line in (
        "t: T.float32 = a[0]  # a scalar",
        "b[i] = a[i] * t  # stored",
        "y = R.add(x, x)  # on one line now",
        "z = R.exp(y)  # in a block",
        "return z  # the end",
    ):
        assert f"    {line}\n" in shown
    assert format_text(shown).text == shown


def test_the_base_classes_of_a_module_stay() -> None:
    text = "@I.ir_module\nclass M(BasePyModule, other.Base):\n    @R.function\n    def main(x: R.Tensor):\n        return x\n"
    shown = format_text(text).text
    assert shown is not None and "class M(BasePyModule, other.Base):\n" in shown


@pytest.mark.parametrize("functions", [1, 2, 3])
@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("end", ["\n", "", "  ", "\n\n\n", "  # why\n", "  # why"])
def test_constants_stay_in_front_of_the_functions_or_behind_them(
    functions: int, at: int, end: str
) -> None:
    """Comments stay with any line ending; between two functions they move behind the last."""
    data = 'metadata = tvm.ir.load_json("""{"ir.GenericConst": 1}""")'
    parts = [
        f'@R.function\ndef f{n}():\n    return metadata["ir.GenericConst"][0]\n\n'
        for n in range(functions)
    ]
    last = at >= functions
    parts.insert(at, data + (end if last or end.endswith("\n") else f"{end}\n"))
    text = "".join(parts)
    printed = format_text(text).text
    assert printed is not None
    assert printed.count(data) == 1
    assert ("# why" in printed) == ("# why" in text)
    assert printed.startswith(data) == (at == 0)
    assert printed.endswith(f"{data}\n") == (at > 0)
    assert format_text(printed).text == printed


ONE = "# one\n@R.function\ndef f(x: R.Tensor):\n    y = R.exp(x)\n    return y\n"
TWO = "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor):\n        return x\n"


@pytest.mark.parametrize(
    ("before", "again", "place"),
    [
        (ONE, ONE, None),
        (ONE, ONE.replace("y", "z"), None),
        (ONE, ONE.replace("exp", "abs"), "R.exp(x)"),
        (ONE, "", "def f"),
        (TWO + TWO, TWO, "class M"),
        (ONE, ONE + "    )\n", "y = R.exp(x)"),
    ],
)
def test_where_a_text_is_read_back_as_something_else(
    before: str, again: str, place: str | None
) -> None:
    at = lost_at(parse(before), parse(again))
    assert at == (None if place is None else before.index(place))
