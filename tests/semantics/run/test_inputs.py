"""The arguments of `rlx run`: what fits is taken as it is said, what does not is refused."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from rlx.commands.run import main
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse
from rlx.semantics.faults import FaultStop as Stopped
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import typed
from rlx.semantics.outcome import Fault, Returned
from rlx.semantics.run.inputs import InputError, Inputs, inputs
from rlx.semantics.values import Scalar, Tensor, TupleValue


def entry(params: str) -> ast.Function:
    text = f'n = TypeVar("n")\nm = TypeVar("m")\n@R.function\ndef main({params}):\n    return 0\n'
    (function,) = parse(text).modules[0].functions.values()
    assert isinstance(function, ast.Function)
    return function


def given(params: str, **texts: str) -> Inputs:
    return inputs(entry(params), texts)


def refused(params: str, **texts: str) -> str:
    with pytest.raises(InputError) as found:
        given(params, **texts)
    return str(found.value)


def tensor(kind: str, text: str) -> np.ndarray:
    value = given(f'x: R.Tensor("{kind}")', x=text).values[0]
    assert isinstance(value, Tensor)
    found: np.ndarray = value.data
    return found


# ---------------------------------------------------------------- scalars


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("int32", "9999999999", "not an integer of type int32 (-2147483648 to 2147483647)"),
        ("int64", "5.5", "5.5 is not an integer of type int64"),
        ("int64", "5.0", "5.0 is not an integer of type int64"),
        ("int64", "true", "True is a bool, not int64"),
        ("uint8", "-1", "-1 is not an integer of type uint8 (0 to 255)"),
        ("bool", "0.5", "0.5 is neither true nor false"),
        ("bool", "2", "2 is neither true nor false"),
        ("float16", "1e9", "does not fit into float16"),
        ("float64", "1e999", "write inf for infinity"),
        ("float32", "'1'", "'1' is not a number"),
        ("float32", "[1]", "[1] is not a number"),
    ],
)
def test_scalars_that_do_not_fit(kind: str, text: str, message: str) -> None:
    assert message in refused(f'k: R.Prim("{kind}")', k=text)


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [
        ("int32", "-2147483648", -2147483648),
        ("bool", "true", True),
        ("bool", "0", False),
        ("float16", "0.1", 0.0999755859375),
        ("float64", "5", 5.0),
        ("float32", "-inf", -math.inf),
    ],
)
def test_scalars_are_numbers_of_their_type(kind: str, text: str, number: float) -> None:
    (value,) = given(f'k: R.Prim("{kind}")', k=text).values
    assert isinstance(value, Scalar)
    assert value.value == number and type(value.value) is type(number)


def test_nan() -> None:
    (value,) = given('k: R.Prim("float32")', k="nan").values
    assert isinstance(value, Scalar) and math.isnan(value.value)


def ident(kind: str, number: object) -> object:
    text = f'@R.function\ndef main(k: R.Prim("{kind}")) -> R.Prim("{kind}"):\n    return k\n'
    scalar = Scalar(number, dtype(kind))  # type: ignore[arg-type]
    return load(parse(text).modules[0]).run("main", [scalar])


@pytest.mark.parametrize(("kind", "number"), [("int32", 9999999999), ("int64", 5.5), ("bool", 0.5)])
def test_scalars_from_python_are_checked(kind: str, number: object) -> None:
    end = ident(kind, number)
    assert isinstance(end, Fault) and end.code == "E-prim-overflow"
    with pytest.raises(Stopped):
        typed(number, ast.PrimStructInfo(dtype(kind)))


def test_integers_from_packed_functions_are_checked() -> None:
    text = """@R.function
def main() -> R.Prim("int64"):
    k = R.call_packed("give", sinfo_args=R.Prim("int64"))
    return k
"""
    module = parse(text).modules[0]
    assert isinstance(load(module, packed={"give": lambda: 1 << 62}).run("main", []), Returned)
    end = load(module, packed={"give": lambda: 1 << 63}).run("main", [])
    assert isinstance(end, Fault) and end.code == "E-prim-overflow"


def test_floats_from_python_are_rounded() -> None:
    end = ident("float16", 0.1)
    assert isinstance(end, Returned) and isinstance(end.value, Scalar)
    assert end.value.value == 0.0999755859375
    ready = load(
        parse("@R.function\ndef main(t: R.Tuple(R.Prim('float16'))):\n    return t\n").modules[0]
    )
    end = ready.run("main", [TupleValue((Scalar(0.1, dtype("float16")),))])
    assert isinstance(end, Returned) and isinstance(end.value, TupleValue)
    assert end.value.fields[0].value == 0.0999755859375  # type: ignore[attr-defined]


# ---------------------------------------------------------------- tensors


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("int4", "[100]", "100 is not an integer of type int4"),
        ("uint8", "[1.7]", "1.7 is not an integer of type uint8"),
        ("int32", "[[1], [1.5]]", "1.5 is not an integer of type int32"),
        ("int32", "[True]", "True is a bool, not int32"),
        ("float32", '["1"]', "'1' is not a number"),
        ("float32", "[None]", "expected a .npy file"),
        ("float32", "[1e60]", "1e+60 does not fit into float32"),
        ("float8_e4m3fn", "[1000.0]", "does not fit into float8"),
        ("float8_e4m3fn", "[inf]", "does not fit into float8"),
        ("float32", "[[1, 2], [3]]", "the first has 2 elements, list 1 of axis 1 has 1"),
        ("float32", "[1, [2]]", "the lists differ in depth"),
        ("float32", "[[1], 2]", "list 1 of axis 1 is a number"),
    ],
)
def test_tensors_that_do_not_fit(kind: str, text: str, message: str) -> None:
    assert message in refused(f'x: R.Tensor("{kind}")', x=text)


def test_tensors_are_rounded_once() -> None:
    # 1 + 2**-8 + 2**-30: by way of float32 it would be a tie, and 1.
    found = tensor("bfloat16", "[1.00390625093132257]")
    assert float(found[0]) == 1.0078125
    assert tensor("float32", "[inf, -inf]").tolist() == [math.inf, -math.inf]
    assert tensor("bool", "[[true], [false]]").tolist() == [[True], [False]]
    assert tensor("int64", "[[], []]").shape == (2, 0)
    assert tensor("int4", "[-8, 7]").astype(int).tolist() == [-8, 7]


def test_without_an_element_type_the_numbers_say_it() -> None:
    kinds = [
        str(given("x: R.Tensor(ndim=1)", x=text).values[0].dtype)  # type: ignore[attr-defined]
        for text in ("[1, 2]", "[1, 2.5]", "[true]", "[]")
    ]
    assert kinds == ["int64", "float64", "bool", "float64"]


def test_tuples_have_literals() -> None:
    (value,) = given("t: R.Tuple()", t="()").values
    assert isinstance(value, TupleValue) and value.fields == ()
    made = given(
        't: R.Tuple(R.Tensor((n,), "int8"), R.Tuple(R.Prim("bool")))', t="([1, 2], (true,))"
    )
    assert made.sizes == {"n": 2}
    assert "(a, b), (a,) or ()" in refused("t: R.Tuple()", t="[]")
    assert "found 0 fields instead of 1" in refused("t: R.Tuple(R.Tensor)", t="()")
    assert "written [2, 3]" in refused("s: R.Shape(ndim=1)", s="4")
    assert "is not an integer of at least 0" in refused("s: R.Shape(ndim=1)", s="[-4]")


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kind", ["bfloat16", "int4", "uint4", "float8_e4m3fn", "float8_e5m2"])
def test_what_is_written_is_read_back(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.rlx"
    path.write_text(f'@R.function\ndef main(x: R.Tensor((3,), "{kind}")):\n    return x\n', "utf-8")
    assert main([str(path), "--input", "x=[1, 2, 3]", "--out", str(tmp_path)]) == 0
    assert main([str(path), "--input", f"x={tmp_path / 'result.npy'}"]) == 0
    assert f"x = {kind}(3) [1 2 3]" in capsys.readouterr().out.splitlines()[-5:]


def of_file(tmp_path: Path, kind: str, array: np.ndarray) -> np.ndarray:
    np.save(tmp_path / "x.npy", array)
    return tensor(kind, str(tmp_path / "x.npy"))


def test_bytes_are_elements_of_the_parameter(tmp_path: Path) -> None:
    wanted = np.array([1.5, -2], ml_dtypes.bfloat16)
    assert of_file(tmp_path, "bfloat16", wanted.view(np.uint16)).tolist() == wanted.tolist()
    swapped = wanted.view(np.uint16).astype(">u2")
    assert of_file(tmp_path, "bfloat16", swapped).tolist() == wanted.tolist()
    fortran = np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(2, 3))
    assert of_file(tmp_path, "int4", fortran).astype(int).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_byte_order_of_a_file_does_not_matter(tmp_path: Path) -> None:
    found = of_file(tmp_path, "float32", np.array([1, 2], ">f4"))
    assert found.dtype.isnative and found.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(2, "V3"), "elements of 3 bytes without a type; expected bfloat16, 2 bytes each"),
        (np.zeros(2, "U3"), "expected bfloat16"),
        (np.zeros(2, "M8[s]"), "expected bfloat16"),
        (np.zeros(2, [("a", "u1"), ("b", "u1")]), "expected bfloat16"),
        (np.zeros(2, ml_dtypes.float8_e5m2), "does not support its element type"),
    ],
)
def test_files_of_something_else(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "x.npy", array)
    assert message in refused('x: R.Tensor("bfloat16")', x=str(tmp_path / "x.npy"))


def test_bytes_that_are_no_element(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([255], np.uint8))
    assert "upper bits" in refused('x: R.Tensor("int4")', x=str(tmp_path / "x.npy"))


def test_bytes_without_a_type_need_one(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(2, "V2"))
    assert "expected numbers" in refused("x: R.Tensor(ndim=1)", x=str(tmp_path / "x.npy"))


@pytest.mark.parametrize(
    "content", [b"", b"junk", b"\x80\x04K\x01.", b"\x93NUMPY\x01\x00\xff\xff{"]
)
def test_files_that_are_no_arrays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    (tmp_path / ".npy").write_bytes(content)
    assert ".npy" in refused("x: R.Tensor", x=str(tmp_path / ".npy"))
    message = refused("x: R.Tensor", x=str(path))
    assert "x.npy" in message and "pickle" not in message and "unsafe" not in message
    (tmp_path / "x.npz").write_bytes(b"PK" + content)
    assert "cannot be read" in refused("x: R.Tuple()", x=str(tmp_path / "x.npz"))


def test_archives_and_arrays_are_not_confused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.zeros(1), b=np.zeros(1))
    np.save(tmp_path / "x.npy", np.zeros(1))
    both = str(tmp_path / "x.npz")
    assert "is a tuple of 2 arrays; expected Tensor" in refused("x: R.Tensor", x=both)
    assert "has 2 arrays" in refused("x: R.Tuple(R.Tensor)", x=both)
    assert "holds one array" in refused("x: R.Tuple(R.Tensor)", x=str(tmp_path / "x.npy"))


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize(
    ("shape", "value", "sizes"),
    [
        ("n * 2", "[1, 2]", {"n": 1}),
        ("3 + n * 2", "[1, 2, 3, 4, 5]", {"n": 1}),
        ("100 - n", "[1, 2]", {"n": 98}),
        ("n * n", "[1, 2, 3, 4]", {"n": 2}),
        ("n // 3", "[1, 2]", {"n": 6}),
    ],
)
def test_sizes_are_solved_for(shape: str, value: str, sizes: dict[str, int]) -> None:
    params = f'y: R.Tensor((n,), "float32"), x: R.Tensor(({shape},), "float32")'
    made = given(params, x=value)
    assert made.sizes == sizes and made.made_up == ("y",)


def test_sizes_are_solved_one_after_the_other() -> None:
    made = given("y: R.Tensor((n + m,)), x: R.Tensor((2 * n,)), z: R.Tensor((n * m, m))",
                 x="[1, 2]", y="[1, 2, 3]")  # fmt: skip
    assert made.sizes == {"n": 1, "m": 2}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"n": "5", "x": "[1, 2, 3]"}, "n=5 and x contradict each other: there x is 3"),
        ({"n": "2", "y": "[1, 2, 3]"}, "n=2 (n * 2 = 4) and y contradict each other: there y is 3"),
        ({"y": "[1, 2, 3]"}, "y: no value of n makes n * 2 = 3"),
        ({"n": "99999999999999999999"}, "n: 99999999999999999999 is not an integer of type int64"),
    ],
)
def test_contradictions(texts: dict[str, str], message: str) -> None:
    assert message in refused("x: R.Tensor((n,)), y: R.Tensor((n * 2,))", **texts)


SHAPES = ("n", "n + 1", "n * 2", "n * n", "n // 2", "7 - n", "n * 3 - 1", "n + m", "n * m + n")
"""Dimensions; Python computes them as well."""


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_said_of_sizes_agrees_with_what_is_given(shape: str) -> None:
    params = f"x: R.Tensor(({shape},)), y: R.Tensor((n,)), z: R.Tensor((m,))"
    for n, m, size in itertools.product(range(5), range(3), range(6)):
        texts = {"n": str(n), "m": str(m), "x": str([0] * size)}
        if eval(shape, {"n": n, "m": m}) == size:
            assert given(params, **texts).sizes == {"n": n, "m": m}
        else:
            assert f"there x is {size}" in refused(params, **texts)


@pytest.mark.parametrize("shape", SHAPES)
def test_sizes_that_are_found_make_what_is_given(shape: str) -> None:
    for m, size in itertools.product(range(3), range(6)):
        possible = [n for n in range(size + 8) if eval(shape, {"n": n, "m": m}) == size]
        params = f"x: R.Tensor(({shape},)), z: R.Tensor((m,)), y: R.Tensor((n,))"
        texts = {"m": str(m), "x": str([0] * size)}
        if possible:
            assert given(params, **texts).sizes["n"] in possible
        elif shape not in ("n * n", "n * m + n"):
            assert f"makes {shape}" in refused(params, **texts)


@pytest.mark.parametrize(
    ("kind", "mean", "deviation"),
    [("bool", 1 / 2, 1 / 2), ("int32", 9 / 2, 33**0.5 / 2), ("float64", 0, 1)],
)
def test_random_elements_are_spread_evenly(kind: str, mean: float, deviation: float) -> None:
    """Booleans, the digits, and the standard normal distribution."""
    count = 10_000
    (value,) = given(f'x: R.Tensor(({count},), "{kind}")', x="rand").values
    assert isinstance(value, Tensor)
    assert abs(value.data.mean() - mean) < 4 * deviation / count**0.5
    assert abs(value.data.std() - deviation) < 0.04
    if kind != "float64":
        assert len(np.unique(value.data)) == (2 if kind == "bool" else 10)


def test_an_input_is_given_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.rlx"
    path.write_text("@R.function\ndef main(x: R.Tensor((3,))):\n    return x\n", "utf-8")
    assert main([str(path), "--input", "x=rand", "--input", "x=ones"]) == 2
    assert "--input x: given twice" in capsys.readouterr().err
    assert main([str(path), "--input", "z=rand"]) == 2
    assert "--input z: there is no parameter" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["-1", "-2", "True", "1.0", "9223372036854775808"])
def test_dimensions_are_integers_from_0(size: str) -> None:
    assert refused("x: R.Shape(ndim=1)", x=f"[{size}]")
    assert "is not an integer of at least 0" in refused("x: R.Shape(ndim=2)", x="[0, -1]")


@pytest.mark.parametrize("ndim", [63, 64, 65, 66, 1000])
def test_a_rank_may_be_as_large_as_numpy_allows(ndim: int) -> None:
    params = f'x: R.Tensor(ndim={ndim}, dtype="int8")'
    expected = "at most 64 dimensions" if ndim > 64 else "too large to generate"
    assert expected in refused(params)


def test_a_size_that_64_bits_cannot_hold_is_no_evidence() -> None:
    params = "s: R.Shape([n * 4611686018427387904])"
    assert given(params, s="[4611686018427387904]").sizes == {"n": 1}
    given(params, s="[5]")  # the run itself compares
