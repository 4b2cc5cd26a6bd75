"""`rlx compare` and `rlx bisect --inputs` against TVM: what TVM computes otherwise is named, and what it computes right is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tvm")

from rlx.checker.check import check_text
from rlx.commands import bisect
from rlx.comparison.compare import Run, RunComparison, against_tvm
from rlx.comparison.peer import TvmProcess
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import FLOAT32
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.print.weights import print_with_weights
from rlx.semantics.machine.entries import callable_functions
from rlx.semantics.run.inputs import inputs


@pytest.fixture(scope="module")
def tvm() -> Iterator[TvmProcess]:
    with TvmProcess() as made:
        yield made


def compared(tvm: TvmProcess, text: str, given: dict[str, object]) -> RunComparison:
    """A comparison of the function `main` with TVM."""
    report = check_text(text)
    assert report.ok, str(report)
    (module,) = report.modules
    function = callable_functions([module])["main"][1]
    return against_tvm(Run(module, report.source, "main", inputs(function, given).values), tvm)


def test_control_flow_calls_and_tuples_agree(tvm: TvmProcess) -> None:
    found = compared(
        tvm,
        """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
        s = R.split(x, 2, axis=1)
        l = s[0]
        if c:
            u = R.exp(l)
            y = R.nn.softmax(u)
        else:
            y = R.negative(l)
        z = Module.helper(y)
        return (z, s)

    @R.function(private=True)
    def helper(y: R.Tensor(("n", 2), "float32")):
        m = R.mean(y, axis=[1])
        k = R.argmax(y, axis=1)
        return (m, k)
""",
        {"x": np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32), "c": True},
    )
    assert found.agrees and found.compared == 7, found


def test_a_nan_that_tvm_simplifies_away(tvm: TvmProcess) -> None:
    """`x * 0` is a NaN if x is infinite; TVM's arithmetic makes it 0."""
    found = compared(
        tvm,
        """\
@R.function
def main(x: R.Tensor((3,), "float32")):
    y = R.log(x)
    z = R.multiply(y, R.const(0, "float32"))
    return z
""",
        {"x": np.zeros(3, np.float32)},
    )
    assert found.not_finite is not None and found.not_finite.spot.name == "y"
    assert found.difference is not None and found.difference.spot.name == "z"


def test_memory_that_nobody_has_written_is_not_compared(tvm: TvmProcess) -> None:
    """TVM's has what was there before."""
    found = compared(
        tvm,
        """\
@R.function(pure=False)
def main(x: R.Tensor((8,), "float32")):
    s = R.vm.alloc_storage(R.shape([32]), 0, R.dtype("uint8"))
    t = R.vm.alloc_tensor(s, 0, R.shape([8]), R.dtype("float32"))
    y = R.add(x, x)
    return y
""",
        {"x": np.ones(8, np.float32)},
    )
    assert found.agrees and found.compared == 1, found


def test_a_long_sum_of_eight_bits_may_be_off_by_several_units(tvm: TvmProcess) -> None:
    """TVM adds 144 products in another order, or with more bits."""
    import ml_dtypes

    random = np.random.default_rng(3)
    x, w = (random.standard_normal(s).astype(ml_dtypes.float8_e4m3fn) for s in ((4, 144), (144, 4)))
    found = compared(
        tvm,
        """\
@R.function
def main(x: R.Tensor((4, 144), "float8_e4m3fn"), w: R.Tensor((144, 4), "float8_e4m3fn")):
    y = R.matmul(x, w)
    return y
""",
        {"x": x, "w": w},
    )
    assert found.agrees, found.difference


def test_an_operator_that_is_legalised_wrong(tvm: TvmProcess) -> None:
    """The logical exclusive or of two true numbers is false; that of their bits differs."""
    found = compared(
        tvm,
        """\
@R.function
def main(x: R.Tensor((2,), "int64"), y: R.Tensor((2,), "int64")):
    a = R.add(x, y)
    b = R.logical_xor(a, y)
    return b
""",
        {"x": np.array([1, 2]), "y": np.array([4, 1])},
    )
    assert found.difference is not None and found.difference.spot.line == 4
    assert found.difference.cut is not None and [*found.difference.cut.inputs] == ["a", "y"]


PROGRAM = """\
@R.function
def main(x: R.Tensor((3, 4), "float32"), w: R.Tensor((4, 4), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)
        b = R.nn.relu(a)
        R.output(b)
    return b
"""
WRONG_ON_LARGE = (
    "tvm.ir.transform.Sequential([relax.transform.CanonicalizeBindings(), tvm.transform.module_pass(lambda m, c:"
    ' tvm.script.from_source(m.script().replace("R.nn.relu(a)", "R.minimum(R.nn.relu(a), R.const(100, \'float32\'))")),'
    ' opt_level=0, name="Clamps")])'
)


def test_a_pass_that_is_wrong_on_these_inputs_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Random inputs are small, and show nothing."""
    program = tmp_path / "model.rlx"
    program.write_text(PROGRAM)
    np.savez(tmp_path / "x.npz", x=np.full((3, 4), 90, np.float32), w=np.ones((4, 4), np.float32))
    words = [str(program), "--inputs", str(tmp_path / "x.npz"), "--pipeline", WRONG_ON_LARGE]
    assert bisect.main([*words, "--no-reduce"]) == 1
    report = capsys.readouterr().out
    assert report.startswith("# Clamps changes what the program returns\n")
    assert "the first binding that differs: b" in report
    (script,) = re.findall(r"## How to see it\n\n```python\n(.*?)\n```", report, re.DOTALL)
    exec(script, {})  # noqa: S102 - as a reader runs what is pasted
    shown = capsys.readouterr().out
    assert "R.minimum(lv1, R.const(100.0" in shown
    assert re.findall(r"\[\[(\d+)\.", shown) == ["360", "100"]


def test_what_only_fails_with_probes_is_no_difference(tvm: TvmProcess) -> None:
    """Probes let TVM's plan reuse the memory of the branch that is not taken."""
    text = """\
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
    if c:
        r = R.multiply(x, x)
    else:
        r = R.exp(R.add(x, x))
    return r
"""
    found = compared(tvm, text, {"c": np.array(False), "x": np.ones(4, np.float32)})
    assert found.agrees and [note.partition(":")[0] for note in found.notes] == [
        "only results were compared"
    ]


def test_a_program_that_has_no_value_on_these_inputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "model.rlx"
    program.write_text(
        '@R.function\ndef main(x: R.Tensor((6,), "float32"), i: R.Tensor((1,), "int64")):\n'
        "    y = R.take(x, i, axis=0)\n    return y\n"
    )
    np.savez(tmp_path / "x.npz", x=np.ones(6, np.float32), i=np.array([-1]))
    assert bisect.main([str(program), "--inputs", str(tmp_path / "x.npz")]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.endswith("no run was compared")
    assert [line.split(":")[1] for line in rest] == [" the program"] and "index -1" in rest[0]


def test_tvm_gets_the_weights_of_a_text(tvm: TvmProcess) -> None:
    """Models that are imported have their weights as metadata, which rlx writes for TVM again."""
    head = '@R.function\ndef main(x: R.Tensor((2, 3), "float32")):\n'
    body = '    w = metadata["ir.GenericConst"][0]\n    y = R.matmul(x, w)\n    return y\n'
    weights = np.random.default_rng(2).standard_normal((3, 4)).astype(np.float32)
    (module,) = check_text(head + body).modules

    def change(node: Node) -> Node:
        if not isinstance(node, ast.Literal):
            return node
        return ast.Literal(None, FLOAT32, (3, 4), node.key, weights.tobytes())

    typed = rebuild(module, change)
    text = print_with_weights(replace(typed, name="Module", bare=False))
    found = compared(tvm, text, {"x": np.ones((2, 3), np.float32)})
    assert found.agrees and found.compared == 1, found
