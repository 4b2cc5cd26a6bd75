"""`rlx bisect` blames for what happened, with a legal program in which the same happens."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tvm")

import rlx
from rlx.commands import bisect
from rlx.generate.campaign.finding_file import FindingFile, write_entry
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import FLOAT32
from rlx.grammar.print.weights import metadata_of

BARE = """
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((2, 3), "float32"):
    a = R.add(x, y)
    b = R.nn.relu(a)
    c = R.subtract(b, y)
    d = R.multiply(c, c)
    return d
"""
RAISES = """
import tvm


def fails(module, context):
    text = module.script()
    if "R.subtract" not in text:
        raise ValueError("another reason")
    if "R.add" not in text:
        fails_elsewhere()
    assert "R.subtract" not in text


def fails_elsewhere():
    raise AssertionError


pipeline = tvm.transform.module_pass(fails, opt_level=0, name="Fails")
"""
IMPURE = """
import tvm


def edit(module, context):
    text = module.script(show_meta=True).replace("R.nn.relu(a)", 'R.call_packed("f", a, sinfo_args=R.Tensor((2, 3), "float32"))')
    return tvm.script.from_source(text, check_well_formed=False)


pipeline = tvm.transform.module_pass(edit, opt_level=0, name="ComputePrimValue")
"""


WRONG = IMPURE.replace(
    '"R.nn.relu(a)", \'R.call_packed("f", a, sinfo_args=R.Tensor((2, 3), "float32"))\'',
    '"R.add(x, y)", "R.subtract(x, y)"',
)


def found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str, passes: str = ""
) -> tuple[int, str]:
    """The exit status of the command, and what it says."""
    (tmp_path / "model.rlx").write_text(text)
    if passes:
        (tmp_path / "own_passes.py").write_text(passes)
        path = f"__import__('sys').path.insert(0, {str(tmp_path)!r})"
        options = ("--pipeline", f"({path}, __import__('own_passes').pipeline)[1]", *options)
    status = bisect.main([str(tmp_path / "model.rlx"), *options])
    return status, capsys.readouterr().out


def pasted(said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The output of the script of a report, executed as it stands there."""
    script = said.partition("## How to see it\n\n```python\n")[2].rpartition("```")[0]
    (tmp_path / "pasted.py").write_text(script)
    runpy.run_path(str(tmp_path / "pasted.py"))
    return capsys.readouterr().out


def test_a_function_alone_is_a_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = found(tmp_path, capsys, BARE, "--pipeline", "zero")
    assert status == 0 and said.endswith("model.rlx: no pass of zero did anything wrong\n")


def test_a_reduced_program_is_legal_and_fails_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same error elsewhere, or another one, is not what was found."""
    status, said = found(
        tmp_path, capsys, BARE, "--no-run", "--format", "json", "--seconds", "300", passes=RAISES
    )
    blame = json.loads(said)["blame"]
    assert status == 1 and (blame["pass"], blame["kind"]) == ("Fails", "raises")
    assert "own_passes.py:11, in fails\n    assert" in blame["message"]
    assert rlx.check(blame["program"]).ok
    assert "R.subtract" in blame["program"] and "R.add" in blame["program"]
    assert "R.multiply" not in blame["program"]


def test_a_difference_by_choice_is_nobodys_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--no-run", "--no-reduce", "--known", str(tmp_path / "known"))
    entry = FindingFile(
        *("by-choice", "ComputePrimValue-calls", BARE, "It calls.", "No call.", "D14-impure"),
        *("ComputePrimValue", "R.add", "any", "0.27", "read; ComputePrimValue"),
        prints="f",
        also="D14-impure",
    )
    write_entry(entry, tmp_path / "known")
    status, said = found(tmp_path, capsys, BARE, *options, passes=IMPURE)
    assert status == 0 and f"different by choice: {entry.path}" in said
    other = IMPURE.replace("ComputePrimValue", "AnotherPass")
    (tmp_path / "again").mkdir()
    status, said = found(tmp_path / "again", capsys, BARE, *options, passes=other)
    assert status == 1 and 'R.call_packed("f", a' in pasted(said, tmp_path, capsys)


def test_what_the_default_pipeline_makes_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BARE.replace('x: R.Tensor((2, 3), "float32")', 'x: R.Tensor(dtype="float32", ndim=2)')
    text = text.replace('-> R.Tensor((2, 3), "float32")', "")
    options = ("--no-run", "--no-reduce")
    status, said = found(tmp_path, capsys, text, *options)
    assert status == 1 and said.startswith(
        "# the code generation of the virtual machine raises an error\n"
    )
    assert found(tmp_path, capsys, text, *options, "--no-build")[0] == 0


def test_a_missing_packed_function_is_found_by_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.call_pure_packed("not.there", x, sinfo_args=[R.Tensor((2,), "float32")])
    return y
"""
    inputs = tmp_path / "x.npz"
    np.savez(inputs, x=np.ones(2, "float32"))
    status, said = found(tmp_path, capsys, text, "--inputs", str(inputs), "--no-reduce")
    assert status == 1 and said.startswith("# the run of the virtual machine raises an error\n")
    assert "not.there" in said.partition("## The program")[0]
    with pytest.raises(Exception, match=r"not\.there"):
        pasted(said, tmp_path, capsys)


def test_the_script_of_a_report_shows_both_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "x.npz"
    np.savez(inputs, x=np.full((2, 3), 5, "float32"), y=np.ones(3, "float32"))
    options = ("--no-reduce", "--inputs", str(inputs))
    sys.modules.pop("own_passes", None)
    status, said = found(tmp_path, capsys, BARE, *options, passes=WRONG)
    assert status == 1 and "changes what the program returns" in said
    printed = pasted(said, tmp_path, capsys)
    assert printed.index("25") < printed.index("9."), "before (5 + 1 - 1)**2, after (5 - 1 - 1)**2"


WEIGHTS = """
import numpy as np
import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator


@mutator
class Second(PyExprMutator):
    def visit_generic_const_(self, constant):
        array = constant.value.numpy()
        return relax.const(array + np.float32(array[0, 0] == 2))


def edit(module, context):
    change = Second(module)
    for variable, function in module.functions_items():
        module.update_func(variable, change.visit_expr(function))
    return module


own = tvm.transform.module_pass(edit, opt_level=0, name="Edit")
pipeline = tvm.transform.Sequential([relax.transform.FoldConstant(), own])
"""


def test_a_pass_that_changes_large_weights_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Large arrays are in no text; a report names a file of its own, which is never that of the inputs."""
    wide = [ast.Literal(None, FLOAT32, (512, 512), None, _bytes(value)) for value in (1, 2)]
    text = metadata_of(wide) + LARGE
    inputs = tmp_path / "report.npz"
    np.savez(inputs, x=np.ones((1, 512), "float32"))
    options = ("--inputs", str(inputs), "--no-reduce", "-o", str(tmp_path / "report.md"))
    sys.modules.pop("own_passes", None)
    status, _ = found(tmp_path, capsys, text, *options, passes=WEIGHTS)
    report = (tmp_path / "report.md").read_text()
    assert status == 1 and report.startswith("# Edit changes what the program returns\n")
    assert "most at [0, 0]: expected 1536.0, found 2048.0" in report  # 512 * 3, and 512 * (1 + 3)
    assert "\n# metadata with 2 large constants, 2 MB, is left out\n" in report
    assert len(report) < 10_000
    printed = pasted(report, tmp_path, capsys)
    assert printed.index("[[1536.") < printed.index("[[2048.")


LARGE = """
@R.function
def main(x: R.Tensor((1, 512), "float32")):
    a = R.matmul(x, metadata["ir.GenericConst"][0])
    b = R.matmul(x, metadata["ir.GenericConst"][1])
    c = R.add(a, b)
    return c
"""


def _bytes(value: int) -> bytes:
    return np.full(512 * 512, value, "float32").tobytes()


def test_without_runs_nothing_is_said_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options, words in (
        (("--memory", "8"), "no run was compared\n  not compared: no function can be called"),
        (("--no-run",), "did anything wrong\n"),
    ):
        status, said = found(tmp_path, capsys, BARE, "--pipeline", "zero", *options)
        assert status == 0 and words in said
