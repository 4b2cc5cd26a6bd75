"""Pointers of PrimFuncs: views of memory as other elements, C's functions on bytes, places of elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body, stopped

A = 'A: T.Buffer((8,), "int32")'
WIDTHS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8}
KINDS = st.sampled_from(sorted(WIDTHS))
PLACES = st.integers(0, 31)


def _view(name: str, kind: str) -> str:
    return f'{name} = T.decl_buffer(({32 // WIDTHS[kind]},), "{kind}", data=A.data)'


@given(st.lists(st.tuples(KINDS, PLACES), max_size=12), KINDS, PLACES)
def test_an_element_is_written_once_all_its_bytes_are(
    writes: list[tuple[str, int]], kind: str, place: int
) -> None:
    lines, model, mask = [], np.zeros(32, np.uint8), np.zeros(32, bool)
    for what, at in writes:
        index, width = at * WIDTHS["int8"] // WIDTHS[what], WIDTHS[what]
        lines += [_view("v", what), f"v[{index}] = T.{what}({at + 1})"]
        model.view(what)[index] = at + 1
        mask[index * width : (index + 1) * width] = True
    index, width = place // WIDTHS[kind], WIDTHS[kind]
    lines += [_view("r", kind), f'O[0] = T.Cast("int64", r[{index}])']
    func = of_body(f'{A}, O: T.Buffer((1,), "int64")', "\n".join(lines))
    array, out = np.zeros(8, np.int32), np.zeros(1, np.int64)
    if mask[index * width : (index + 1) * width].all():
        evaluate(func, [array, out], unwritten=[0])
        assert out[0] == model.view(kind)[index]
    else:
        assert stopped(func, array, out, unwritten=[0]).code == "E-tir-unwritten"
    assert array.tobytes() == model.tobytes()


@given(st.sampled_from(["memcpy", "memmove"]), *[st.integers(0, 7)] * 2, st.integers(0, 32))
def test_bytes_are_copied(name: str, to: int, source: int, count: int) -> None:
    call = f'T.call_extern("handle", "{name}", T.address_of(A[{to}]), T.address_of(A[{source}]), {count})'
    func, array = of_body(A, call), np.arange(100, 108, dtype=np.int32)
    bytes_ = array.view(np.uint8).copy()
    if max(to, source) * 4 + count > 32:
        assert stopped(func, array).code == "E-tir-bounds"
    elif name == "memcpy" and abs(to - source) * 4 < count:
        assert stopped(func, array).code == "E-tir-pointer-overlap"
    else:
        evaluate(func, [array])
        bytes_[to * 4 : to * 4 + count] = bytes_[source * 4 : source * 4 + count].copy()
        assert array.tobytes() == bytes_.tobytes()


@given(st.integers(0, 7), st.integers(0, 32), st.integers(0, 300))
def test_bytes_are_filled(to: int, count: int, value: int) -> None:
    func = of_body(A, f'T.call_extern("handle", "memset", T.address_of(A[{to}]), {value}, {count})')
    array = np.arange(100, 108, dtype=np.int32)
    bytes_ = array.view(np.uint8).copy()
    if to * 4 + count > 32:
        assert stopped(func, array).code == "E-tir-bounds"
        return
    evaluate(func, [array])
    bytes_[to * 4 : to * 4 + count] = value % 256
    assert array.tobytes() == bytes_.tobytes()


@given(st.integers(0, 32))
def test_copied_bytes_are_written_as_the_original(count: int) -> None:
    body = f"""
        b = T.alloc_buffer((8,), "int32")
        for i in range(4):
            b[i] = i
        T.call_extern("handle", "memcpy", A.data, b.data, {count})
        for i in range(8):
            O[0] = A[i]
            O[1] = i
    """
    func = of_body(f'{A}, O: T.Buffer((2,), "int32")', body)
    out = np.full(2, -1, np.int32)
    assert stopped(func, np.zeros(8, np.int32), out, unwritten=[0]).code == "E-tir-unwritten"
    assert out[1] == min(count // 4, 4) - 1


@pytest.mark.parametrize(
    "pointer",
    [
        "T.address_of(A[2])",
        "A.ptr_to([2])",
        'A.access_ptr("r", offset=2)',
        'T.tvm_access_ptr(T.type_annotation("int32"), A.data, 2, 6, 1)',
        'T.tvm_access_ptr(T.type_annotation("int8"), A.data, 8, 6, 1)',
        "T.handle_add_byte_offset(A.data, 8)",
        "T.address_of(A[T.Ramp(2, 1, 4)])",
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_the_place_of_an_element(pointer: str, named: bool) -> None:
    let = f'p: T.let[T.handle("int32")] = {pointer}\n' if named else ""
    body = f'{let}b = T.decl_buffer((6,), "int32", data={"p" if named else pointer})\nA[0] = b[1]'
    array = np.arange(8, dtype=np.int32)
    evaluate(of_body(A, body), [array])
    assert array[0] == 3


def test_the_place_of_an_element_of_a_region() -> None:
    body = """
        with T.sblock():
            V = T.match_buffer(A[2:6], (4,), "int32", strides=[1], offset_factor=1)
            b = T.decl_buffer((3,), "int32", data=V.access_ptr("r", offset=1))
            A[0] = b[0]
    """
    array = np.arange(8, dtype=np.int32)
    evaluate(of_body(A, body), [array])
    assert array[0] == 3


def test_no_pointer_is_null() -> None:
    array = np.zeros(8, np.int32)
    evaluate(of_body(A, 'A[0] = T.Cast("int32", T.isnullptr(A.data)) + 5'), [array])
    assert array[0] == 5


def test_an_external_function_gets_the_elements_behind_a_pointer() -> None:
    def fill(given: np.ndarray[tuple[int], np.dtype[np.int32]]) -> None:
        given[:] = 7

    array = np.zeros(8, np.int32)
    func = of_body(A, 'T.call_packed("fill", T.address_of(A[5]))')
    evaluate(func, [array], call={"fill": fill}, unwritten=[0])
    assert array.tolist() == [0] * 5 + [7] * 3


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_elements_that_are_vectors(order: list[int]) -> None:
    picks = "\n".join(f"A[T.Ramp({2 * k}, 1, 2)] = b[{at}]" for k, at in enumerate(order))
    body = """
        b = T.alloc_buffer((4,), "int32x2")
        for i in range(4):
            b[i] = A[T.Ramp(2 * i, 1, 2)]
    """
    array = np.arange(8, dtype=np.int32)
    wanted = array.reshape(4, 2)[order].ravel().tolist()
    lines = "\n".join(line[8:] for line in body.strip("\n").splitlines())
    evaluate(of_body(A, f"{lines.strip()}\n{picks}"), [array])
    assert array.tolist() == wanted


@pytest.mark.parametrize("step", [-3, -2, -1, 1, 2, 3])
def test_slices_with_a_step(step: int) -> None:
    places = range(7 if step < 0 else 0, 7 + 3 * step if step < 0 else 3 * step, step)
    array = np.arange(8, dtype=np.int32)
    body = f"A[{places.start}:{places.stop}:{step}] = T.Ramp(50, 1, 3)"
    evaluate(of_body(A, body), [array])
    assert array[list(places)].tolist() == [50, 51, 52]


def test_a_slice_with_no_step() -> None:
    func = of_body(A, "A[0:8:0] = T.Ramp(50, 1, 3)")
    assert stopped(func, np.zeros(8, np.int32)).code == "E-tir-bounds"


def test_the_layout_of_a_buffer_is_numbers() -> None:
    body = """
        for i in range(2):
            with T.sblock("x"):
                v = T.axis.spatial(2, i)
                b = T.match_buffer(A[v * 4:v * 4 + 4], (4,), "int32", strides=("s",), offset_factor=1)
                b[0] = b.elem_offset * 100 + b.strides[0] * 10 + b.shape[0]
    """
    array = np.zeros(8, np.int32)
    evaluate(of_body(A, body), [array])
    assert array.tolist() == [14, 0, 0, 0, 414, 0, 0, 0]
    wide = np.zeros((4, 3), np.int64)
    sized = "a: T.handle"
    func = of_body(
        sized,
        """
        n, s = T.int64(), T.int64()
        b = T.match_buffer(a, (n, 2), "int64", strides=("s", 1))
        b[1, 0] = b.strides[0] * T.int64(10) + b.shape[0]
        """,
    )
    evaluate(func, [wide[:, :2]])
    assert wide[1, 0] == 34 and wide.sum() == 34


@pytest.mark.parametrize("part", ["A.strides[1]", "n.shape[0]", "A.shape[n]"])
def test_other_parts_have_no_meaning(part: str) -> None:
    error = stopped(of_body(f"{A}, n: T.int32", f"A[0] = {part}"), np.zeros(8, np.int32), 1)
    assert error.code == "E-tir-opaque" and error.span is not None
