"""The facade: each call takes a path, a text, a module, or a module of TVM."""

from __future__ import annotations

import cProfile
import subprocess
import sys
from html import unescape
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import rlx

GOOD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        y = R.add(x, x)
        return y
"""
BAD = GOOD.replace("R.add(x, x)", "R.add(x, z)").replace("        y =", "        y  =")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "good.rlx"
    path.write_text(GOOD, "utf-8")
    return path


def test_a_program_is_taken_in_every_form(file: Path) -> None:
    module = rlx.parse(GOOD)
    for subject in (GOOD, file, str(file), module):
        report = rlx.check(subject)
        assert report.ok and report.errors == () and report.diagnostics == ()
        assert rlx.show(rlx.load(subject)) == rlx.show(module) == str(module)
        assert rlx.fmt(subject) == rlx.fmt(rlx.show(module))
        result = rlx.run(subject, inputs={"x": np.ones((3, 4), "float32")})
        assert result.ok and np.array_equal(result.numpy(), np.full((3, 4), 2, "float32"))


def test_diagnostics_say_where(file: Path) -> None:
    file.write_text(BAD, "utf-8")
    report = rlx.check(file)
    assert not report.ok and len(report.errors) == 1 and report.warnings == ()
    assert str(report.errors[0]).startswith(f"{file}:6:23: error[WF02-undefined]: ")
    assert "error[WF02-undefined]" in str(report)
    assert repr(report) == f"<Report on {file}: 1 errors, 0 warnings>"
    with pytest.raises(rlx.IllFormedError, match="WF02-undefined") as caught:
        rlx.run(file)
    assert len(caught.value.report.errors) == 1


def test_why_is_the_tree_of_the_command(file: Path) -> None:
    module = rlx.parse(GOOD)
    for subject, text in ((GOOD, GOOD), (file, GOOD), (module, str(module))):
        line = next(n for n, t in enumerate(text.splitlines(), 1) if t.strip().startswith("y ="))
        tree = str(rlx.why(subject, line))
        assert tree.startswith("y : Tensor((n, 4), float32) [D11 Bindings")
    with pytest.raises(rlx.PlaceError, match="line 1 of <text> is blank; the nearest is"):
        rlx.why(GOOD, 1)
    assert rlx.why(BAD, 6, 23).has_error


def test_a_profiler_at_work_is_put_back() -> None:
    before, seen = sys.getprofile(), list[str]()
    profiler = cProfile.Profile()
    line = next(n for n, t in enumerate(GOOD.splitlines(), 1) if t.strip().startswith("y ="))

    def profile(frame: FrameType, event: str, value: object) -> None:
        seen.append(event)

    try:
        for active in (profiler, profile):
            sys.setprofile(profile)
            if active is profiler:
                profiler.enable()
            rlx.why(GOOD, line)
            assert sys.getprofile() is active
            sys.setprofile(None)
    finally:
        sys.setprofile(before)
    assert seen


def test_a_syntax_error_has_its_place() -> None:
    with pytest.raises(rlx.ParseError) as caught:
        rlx.parse(GOOD.replace("R.add(x, x)", "R.add(x, "))
    assert caught.value.lineno == 6 and caught.value.filename == "<text>"
    assert str(caught.value.diagnostics[0]).startswith("<text>:6:")


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"found int"):
        rlx.check(3)
    with pytest.raises(FileNotFoundError):
        rlx.check("modle.rlx")
    with pytest.raises(IsADirectoryError, match="relax-check"):
        rlx.check(tmp_path)
    with pytest.raises(TypeError, match=r"rlx\.load takes paths"):
        rlx.parse(tmp_path)  # type: ignore[arg-type]
    python = tmp_path / "other.py"
    python.write_text("x = 3\n", "utf-8")
    with pytest.raises(rlx.SubjectError, match="no Relax program"):
        rlx.load(python)
    two = GOOD + GOOD.replace("Module", "Other")
    with pytest.raises(rlx.SubjectError, match="2 modules: Module, Other"):
        rlx.parse(two)
    assert rlx.parse(two, name="Other").name == "Other"
    with pytest.raises(rlx.SubjectError, match="found Module, Other"):
        rlx.parse(two, name="Third")
    (tmp_path / "latin.rlx").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(rlx.SubjectError, match="not UTF-8"):
        rlx.check(tmp_path / "latin.rlx")


def test_answers_are_no_truth_values() -> None:
    for answer in (rlx.check(GOOD), rlx.prove("n == n"), rlx.run(GOOD)):
        with pytest.raises(TypeError, match="no truth value"):
            bool(answer)


def test_verdicts() -> None:
    assert rlx.prove("n*2 % 2 == 0").proved
    refuted = rlx.prove("n == m", assume=["n <= m"])
    assert refuted.refuted and str(refuted) == "refuted: n = 0, m = 1"
    assert refuted._repr_html_().startswith("<pre")


def test_notebooks_show_what_is_printed() -> None:
    line = next(n for n, t in enumerate(GOOD.splitlines(), 1) if t.strip().startswith("y ="))
    for answer in (rlx.check(BAD), rlx.why(GOOD, line), rlx.run(GOOD)):
        shown = answer._repr_html_()
        assert shown.startswith("<pre") and shown.endswith("</pre>")
        assert unescape(shown.partition(">")[2].removesuffix("</pre>")) == str(answer).rstrip()


def test_notes_are_no_errors() -> None:
    report = rlx.check("@R.function\ndef f(x: R.Tensor) -> R.Tensor:\n    return R.sin(x + 1)\n")
    by_kind = (*report.errors, *report.warnings, *report.notes)
    assert sorted(map(str, by_kind)) == sorted(map(str, report.diagnostics))
    assert {d.severity for d in report.notes} <= {"note"}


def test_inputs_in_every_form() -> None:
    text = """
@R.function
def f(x: R.Tensor(("n",), "float32"), t: R.Tuple(R.Tensor(("n",), "int8"), R.Prim("int64")), s: R.Shape(ndim=2)):
    return (x, t, s)
"""
    x = np.arange(3, dtype="float32")
    result = rlx.run(text, inputs=[x, ([1, 2, 3], 7), (4, 5)])
    first, (second, third), shape = result.numpy()
    assert np.array_equal(first, x) and second.dtype == np.int8 and (third, shape) == (7, (4, 5))
    again = rlx.run(text, inputs={"x": result.value.fields[0], "n": 3}, seed=1)  # type: ignore[attr-defined]
    assert np.array_equal(again.numpy()[0], x)
    with pytest.raises(ValueError, match="no parameter or shape variable 'y'"):
        rlx.run(text, inputs={"y": x})
    with pytest.raises(ValueError, match="found 1 field instead of 2"):
        rlx.run(text, inputs={"t": (1,)})
    with pytest.raises(ValueError, match="at most 3"):
        rlx.run(text, inputs=[1, 2, 3, 4])
    with pytest.raises(TypeError, match="found ndarray"):
        rlx.run(text, inputs=x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a name, found list .*inputs=\["):
        rlx.run(text, [x])  # type: ignore[arg-type]


def test_runs_that_return_nothing_say_why() -> None:
    failed = rlx.run(GOOD, inputs={"x": np.ones((3, 4))})
    assert not failed.ok and str(failed).startswith("check failed[")
    with pytest.raises(RuntimeError, match="check failed"):
        failed.numpy()
    with pytest.raises(rlx.SubjectError, match="functions that can be called: main"):
        rlx.run(GOOD, entry="mian")
    with pytest.raises(ValueError, match="'native' or 'steps'"):
        rlx.run(GOOD, backend="cuda")


def test_external_functions_are_the_callers() -> None:
    text = """
@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    return R.call_pure_packed("twice", x, sinfo_args=R.Tensor((2,), "float32"))
"""
    found = rlx.run(text, inputs=[[1.0, 2.0]], packed={"twice": lambda a: a * 2})
    assert np.asarray(found).tolist() == [2.0, 4.0]
    assert not rlx.run(text).ok


def test_every_public_name_is_there_and_documented() -> None:
    for name in rlx.__all__:
        value = getattr(rlx, name)
        assert value is not None and (name == "__version__" or value.__doc__), name
    with pytest.raises(AttributeError, match="it has: BlockBuilder"):
        rlx.chek  # noqa: B018
    assert rlx.solver.prove("n == n").proved


def test_importing_loads_nothing() -> None:
    code = "import sys, rlx; print(sorted(m for m in sys.modules if m.split('.')[0] in ('rlx', 'numpy', 'z3')))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['rlx', 'rlx.lazy', 'rlx.op', 'rlx.search_path']"


def test_an_operator_imports_the_file_that_declares_it() -> None:
    code = (
        "import sys, rlx; rlx.op.nn.relu, rlx.op.add; found = {*sys.modules}; "
        "from rlx.operators.registry import families; "
        "print(*(f for f in families() if f'rlx.operators.{f}' in found))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["elementwise"]
