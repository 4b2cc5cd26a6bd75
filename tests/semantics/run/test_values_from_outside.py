"""Values that no program wrote: damaged archives, objects of other libraries, numbers beyond every type."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.semantics.live_memory import limited
from rlx.semantics.outcome import Returned
from rlx.semantics.run.files import FileError
from rlx.semantics.run.files import load as load_file
from rlx.semantics.run.npz import arrays_of
from rlx.semantics.struct_info_of import struct_info_of
from tests.semantics.run.test_inputs import given, refused

PAIR = ast.TupleStructInfo((ast.TensorStructInfo(), ast.TensorStructInfo()))


def test_damaged_archives_are_refused_or_read(tmp_path: Path) -> None:
    """With a byte changed or missing, an archive is refused by one error, or its arrays are there."""
    held = io.BytesIO()
    np.savez_compressed(held, a=np.arange(300.0), b=np.arange(3))
    whole, rng, refusals = held.getvalue(), random.Random(0), 0
    for trial in range(300):
        content, at = bytearray(whole), rng.randrange(len(whole))
        if trial % 3:
            content[at] ^= rng.randrange(1, 256)
        else:
            del content[at:]
        path = tmp_path / "x.npz"
        path.write_bytes(content)
        try:
            found = load_file(path, PAIR)
        except FileError as error:
            assert str(error).startswith(str(path))
            refusals += 1
        else:
            assert len(found.fields) == 2  # type: ignore[attr-defined]
        try:
            assert all(isinstance(each, np.ndarray) for each in arrays_of(str(path)).values())
        except FileError as error:
            assert str(error).startswith(str(path))
    assert refusals > 100


def test_named_arrays_are_measured_before_they_are_loaded(tmp_path: Path) -> None:
    """A small archive that unpacks to much is refused; so are pickles, and an array that is an archive too."""
    bomb, pickled, double = (
        str(tmp_path / f"{name}.npz") for name in ("bomb", "pickled", "double")
    )
    np.savez_compressed(bomb, x=np.zeros(1 << 22, np.uint8))
    with limited(1 << 20), pytest.raises(FileError, match="too large"):
        arrays_of(bomb)
    np.savez(pickled, x=np.array([Path()], object))
    with pytest.raises(FileError, match="Python objects"):
        arrays_of(pickled)
    array = io.BytesIO()
    np.save(array, np.zeros(3))
    Path(double).write_bytes(array.getvalue() + Path(bomb).read_bytes())
    with pytest.raises(FileError, match="one array, and an archive too"):
        arrays_of(double)


def test_an_archive_of_other_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"no array")
        archive.writestr("b.npy", b"\x93NUMPY\x01\x00")
    with pytest.raises(FileError, match=r"x\.npz"):
        load_file(path, PAIR)


@pytest.mark.parametrize(("text", "number"), [("+3", 3), ("[+1, -2]", [1, -2]), ("+-+4", -4)])
def test_signs_of_numbers(text: str, number: Any) -> None:
    shape = "(2,)" if isinstance(number, list) else "()"
    found = given(f'x: R.Tensor({shape}, "int32")', x=text).values[0]
    assert found.data.tolist() == number  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_an_integer_beyond_every_float_does_not_fit(kind: str) -> None:
    assert f"does not fit into {kind}" in refused(f"x: T.{kind}", x="1" + "0" * 400)


class Shared:
    """An array of another library: nothing of NumPy's but the common protocol."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


PROGRAM = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})
    @T.prim_func
    def kernel(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i]
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.add(x, x)
        return (y, R.shape([n, 3]), n, R.str("a"), (x, x), kernel)
    @R.function
    def moved(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        t = R.to_vdevice((x, y), "cuda:0")
        u = R.add(t[0], t[1])
        return (t, u)
"""


def test_arrays_of_other_libraries_are_arguments() -> None:
    x = np.arange(3, dtype=np.float32)
    found = rlx.run(PROGRAM, "main", {"x": Shared(x)})
    assert found.ok and found.numpy()[0].tolist() == [0, 2, 4]


def test_the_type_of_a_value_is_below_that_of_its_variable() -> None:
    """The description of a result is the derived struct info, or more exact."""
    assert not [d for d in rlx.check(PROGRAM).diagnostics if d.is_error]
    found = rlx.run(PROGRAM, "main", [np.arange(3, dtype=np.float32)])
    assert isinstance(found, Returned)
    kinds = [type(struct_info_of(field)).__name__ for field in found.value.fields]  # type: ignore[attr-defined]
    assert kinds == [
        *("TensorStructInfo", "ShapeStructInfo", "PrimStructInfo", "ObjectStructInfo"),
        *("TupleStructInfo", "FuncStructInfo"),
    ]


def test_operands_in_tuples_are_on_their_device() -> None:
    x = np.ones(2, np.float32)
    found = rlx.run(PROGRAM, "moved", [x, x])
    assert isinstance(found, Returned)
    pair, added = found.value.fields  # type: ignore[attr-defined]
    assert [field.device for field in (*pair.fields, added)] == [("cuda", 0)] * 3


KERNELS = """
@I.ir_module
class M:
    @T.prim_func
    def scaled(x: T.Buffer((3, 4), "float32"), y: T.Buffer((3, 4), "float32")):
        for i, j in T.grid(3, 4):
            y[i, j] = x[i, j] * T.float32(2)
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((4, 3), "float32")):
        a = R.call_tir(M.scaled, (x,), out_sinfo=R.Tensor((3, 4), "float32"))
        b = R.call_tir(M.scaled, (R.permute_dims(y),), out_sinfo=R.Tensor((3, 4), "float32"))
        c = R.matmul(a, y)
        return (a, R.add(a, b), c, R.sum(b, axis=[0]))
"""
LAID: dict[str, Callable[[Any], Any]] = {
    "by columns": np.asfortranarray,
    "with gaps": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "in a row of zeros": lambda x: np.pad(x, 1)[1:-1, 1:-1],
    "in the other order of bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "at an odd address": lambda x: (
        np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    ),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("backend", ["steps", "native"])
@pytest.mark.parametrize("how", LAID)
def test_arrays_lie_as_they_lie(how: str, backend: str) -> None:
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 3), np.float32)
    y[1] = -2
    kept = [LAID[how](x), LAID[how](y)]
    found = rlx.run(KERNELS, "main", kept, backend=backend)
    assert found.ok, found
    wanted = [2 * x, 2 * x + 2 * y.T, 2 * x @ y, (2 * y.T).sum(0)]
    for one, other in zip(found.numpy(), wanted, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_array_equal(one, other)
    assert np.array_equal(kept[0], x) and np.array_equal(kept[1], y)


@pytest.mark.parametrize("how", LAID)
def test_arrays_from_packed_functions_lie_as_they_lie(how: str) -> None:
    """The result of such a function is ordinary memory afterwards, also on the virtual machine."""
    text = KERNELS.replace(
        "        c = R.matmul(a, y)",
        '        x2 = R.call_packed("laid", x, sinfo_args=(R.Tensor((3, 4), "float32"),))\n'
        '        a = R.call_tir(M.scaled, (x2,), out_sinfo=R.Tensor((3, 4), "float32"))\n'
        "        c = R.matmul(a, y)",
    ).replace("@R.function", "@R.function(pure=False)")
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 3), np.float32)
    packed = {"laid": LAID[how]}
    wanted = 2 * x @ y
    for backend in ("steps", "native"):
        found = rlx.run(text, "main", [x, y], backend=backend, packed=packed)
        assert found.ok, found
        np.testing.assert_array_equal(found.numpy()[2], wanted)
    machine = rlx.vm.VirtualMachine(rlx.vm.build(rlx.parse(text)), packed=packed)
    for arguments in ([x, y], [LAID[how](x), LAID[how](y)]):
        np.testing.assert_array_equal(np.asarray(machine["main"](*arguments)[2]), wanted)


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_a_file_is_measured_before_it_is_loaded(suffix: str, tmp_path: Path) -> None:
    """A header may announce more than there is, and an archive may unpack to more than the memory."""
    path = tmp_path / f"x.{suffix}"
    header = io.BytesIO()
    said = {"descr": "<f4", "fortran_order": False, "shape": (1 << 40,)}
    np.lib.format.write_array_header_1_0(header, said)
    if suffix == "npy":
        path.write_bytes(header.getvalue())
    else:
        np.savez_compressed(path, a=np.zeros(1 << 22, "float32"), b=np.ones(2, "float32"))
    with limited(1 << 20), pytest.raises(FileError, match=r"x\.np[yz] needs .* the limit is 1 MiB"):
        load_file(path, PAIR)
