"""`rlx compare` names the binding that was made wrong, allows what rounding does, and says what a user did wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.commands.compare import main
from rlx.comparison import follow

MODEL = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)
        b = R.nn.softmax(a)
        c = R.nn.gelu(b)
        d = R.add(c, x)
        R.output(d)
    return d
"""


class Files:
    """Programs and arrays in a folder, and the command on them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        random = np.random.default_rng(0)
        self.x = random.standard_normal((3, 4)).astype(np.float32)
        self.w = random.standard_normal((4, 4)).astype(np.float32)
        self.arrays("inputs.npz", x=self.x, w=self.w)
        self.program("model.rlx", MODEL)

    def program(self, name: str, text: str) -> None:
        """Write a program."""
        (self.folder / name).write_text(text)

    def arrays(self, name: str, *in_order: Any, **named: Any) -> None:
        """Write arrays."""
        np.savez(self.folder / name, *in_order, **named)

    def compare(self, *words: str) -> tuple[int, str, str]:
        """The status of the command, and what it writes to stdout and stderr."""
        ours = (
            str(self.folder / word) if word.endswith((".rlx", ".npz", ".npy", "cut")) else word
            for word in words
        )
        status = main([*ours])
        said = self._capsys.readouterr()
        return status, said.out, said.err

    def found(self, *words: str) -> dict[str, Any]:
        """The answer as data."""
        _, out, _ = self.compare(*words, "--format", "json")
        found: dict[str, Any] = json.loads(out)
        return found


@pytest.fixture
def files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Files:
    return Files(tmp_path, capsys)


def test_a_changed_binding_is_named_with_its_line_and_inputs(files: Files) -> None:
    files.program("after.rlx", MODEL.replace("R.nn.gelu", "R.nn.silu"))
    found = files.found("model.rlx", "after.rlx", "--inputs", "inputs.npz")
    wrong = found["difference"]
    assert not found["agrees"]
    assert (wrong["name"], wrong["function"], wrong["line"], wrong["kind"]) == (
        "c",
        "main",
        6,
        "differs",
    )
    assert [*wrong["inputs"]] == ["b"] and "R.nn.gelu(b)" in wrong["program"]
    assert wrong["ulp"] > 1000 and wrong["allowed"] < 1e-4


def test_what_rounding_does_is_allowed(files: Files) -> None:
    """The same sums in another order, by NumPy in float64; one is rounded."""
    a = files.x.astype(np.float64) @ files.w
    b = np.exp(a) / np.exp(a).sum(-1, keepdims=True)
    files.arrays("reference.npz", a=a, b=b.astype(np.float32))
    status, said, _ = files.compare("model.rlx", "reference.npz", "--inputs", "inputs.npz")
    assert status == 0 and "agrees: 2 values" in said


def test_a_reference_between_known_values(files: Files) -> None:
    """Only `b` is known: its distance is judged with all that comes before it."""
    files.arrays("reference.npz", b=np.full((3, 4), 0.25, np.float32))
    wrong = files.found("model.rlx", "reference.npz", "--inputs", "inputs.npz")["difference"]
    assert wrong["name"] == "b" and {*wrong["inputs"]} == {"x", "w"}


def test_whole_numbers_that_the_program_cannot_hold(files: Files) -> None:
    """A sum of int8 wraps around, and what is computed of it is not to blame."""
    files.program(
        "int8.rlx",
        """\
@R.function
def main(x: R.Tensor((2, 2), "int8")):
    s = R.matmul(x, x)
    y = R.astype(s, "float32")
    return y
""",
    )
    for number, fits in ((3, True), (100, False)):
        x = np.full((2, 2), number, np.int8)
        wide = x.astype(np.int32) @ x.astype(np.int32)
        files.arrays("x.npz", x=x)
        files.arrays("wide.npz", s=wide, y=wide.astype(np.float64))
        found = files.found("int8.rlx", "wide.npz", "--inputs", "x.npz")
        assert found["agrees"] is fits and (fits or found["difference"]["name"] == "s")


def test_the_first_nan_is_where_finite_operands_make_it(files: Files) -> None:
    files.program(
        "nan.rlx",
        """\
@R.function
def main(x: R.Tensor((2,), "float32"), mask: R.Tensor((2,), "float32")):
    m = R.add(x, mask)
    z = R.subtract(x, x)
    q = R.divide(z, z)
    y = R.add(q, m)
    return y
""",
    )
    files.arrays("infinite.npz", x=np.ones(2, np.float32), mask=np.array([0, -np.inf], np.float32))
    found = files.found("nan.rlx", "nan.rlx", "--inputs", "infinite.npz")
    assert found["difference"] is None
    assert (found["not_finite"]["name"], found["not_finite"]["kind"]) == ("q", "nan")


def test_a_mask_of_infinities_is_not_to_blame_but_the_nan_that_comes_of_it(files: Files) -> None:
    files.program(
        "masked.rlx",
        """\
@R.function
def main(s: R.Tensor((2, 2), "float32"), keep: R.Tensor((2, 2), "bool")):
    b = R.where(keep, s, R.const(float("-inf"), "float32"))
    p = R.nn.softmax(b)
    return p
""",
    )
    for keep, wrong in (([[1, 0], [1, 1]], None), ([[1, 0], [0, 0]], "p")):
        files.arrays("s.npz", s=np.ones((2, 2), np.float32), keep=np.array(keep, bool))
        found = files.found("masked.rlx", "masked.rlx", "--inputs", "s.npz")["not_finite"]
        assert (found and found["name"]) == wrong


def test_the_binding_is_cut_out_and_run_alone(files: Files) -> None:
    files.program("after.rlx", MODEL.replace("R.nn.gelu", "R.nn.silu"))
    words = ["model.rlx", "after.rlx", "--inputs", "inputs.npz", "--out", "cut"]
    (written,) = files.found(*words)["written"]
    files.program(
        "alone.rlx", Path(written["program"]).read_text().replace("R.nn.gelu", "R.nn.silu")
    )
    again = files.found("cut/c.rlx", "alone.rlx", "--inputs", "cut/c.npz")["difference"]
    assert again["name"] == "c" and again["ulp"] > 1000


def test_exact_accepts_no_rounding_of_whole_numbers(files: Files) -> None:
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    near = np.nextafter(whole @ np.eye(4, dtype=np.float32), np.float32(np.inf))
    files.arrays("whole.npz", x=whole, w=np.eye(4, dtype=np.float32))
    files.arrays("near.npz", a=near)
    words = ["model.rlx", "near.npz", "--inputs", "whole.npz"]
    assert files.compare(*words)[0] == 0
    assert files.compare(*words, "--exact")[0] == 1


def test_arrays_in_order(files: Files) -> None:
    files.arrays("order.npz", files.x, files.w)
    files.arrays("reference.npz", a=files.x @ files.w)
    assert files.compare("model.rlx", "reference.npz", "--inputs", "order.npz")[0] == 0


def test_mistakes_of_users(files: Files) -> None:
    files.arrays("reference.npz", a=files.x @ files.w)
    files.arrays("name.npz", X=files.x, w=files.w)
    files.arrays("type.npz", x=files.x.astype(np.float64), w=files.w)
    files.arrays("shape.npz", x=files.x, w=files.w[:2])
    files.arrays("swapped.npz", files.w[:, :3], files.x)
    files.arrays("objects.npz", x=np.array([None]))
    files.arrays("unknown.npz", zz=files.x)
    np.save(files.folder / "one.npy", files.x)
    files.program("text.npz", "no archive")
    for inputs, said in {
        "name.npz": "there is no parameter 'X'; there are: x, w, n; did you mean 'x'?",
        "type.npz": "x: expected elements of type float32, found float64",
        "shape.npz": "w, dimension 0: expected 4, found 2",
        "swapped.npz": "x, dimension 1: expected 4, found 3",
        "objects.npz": "found Python objects",
        "one.npy": "a .npy file has one array without a name",
        "text.npz": "expected an .npz file",
        "none.npz": "No such file or directory",
    }.items():
        status, out, err = files.compare("model.rlx", "reference.npz", "--inputs", inputs)
        assert (status, out) == (2, "") and said in err, inputs
    for words, said in (
        (["model.rlx", "unknown.npz"], "values: zz; bindings: a, b, c, d"),
        (["model.rlx", "reference.npz", "--entry", "mian"], "no function 'mian'"),
        (["model.rlx", "none.rlx"], "No such file or directory"),
        (["model.rlx", "reference.npz", "--out", "model.rlx"], "not a directory"),
    ):
        status, out, err = files.compare(*words)
        assert (status, out) == (2, "") and said in err, words


def test_a_tuple_in_a_tuple_that_was_compared_does_not_hide_the_rest(files: Files) -> None:
    text = """\
@R.function
def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
    a = (x, x)
    b = (a, y)
    c = (b, a, {})
    return c
"""
    files.program("one.rlx", text.format("x"))
    files.program("two.rlx", text.format("y"))
    status, out, _ = files.compare("one.rlx", "two.rlx")
    assert status == 1 and "one.rlx:5" in out, out
    assert files.compare("one.rlx", "one.rlx")[0] == 0


def test_a_run_without_an_end(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "FUEL", 1000)
    files.program(
        "loop.rlx",
        "@R.function\ndef main(x: R.Object) -> R.Object:\n    y: R.Object = main(x)\n    return y\n",
    )
    status, _, said = files.compare("loop.rlx", "loop.rlx", "--input", "x=1")
    assert status == 2 and "did not end within 1000 steps" in said, said
