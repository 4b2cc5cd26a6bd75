"""Memory that programs handle by themselves, and the functions of the run time that lowered programs call."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.semantics.outcome import Fault, Unsupported
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue
from tests.semantics.machine.running import DOUBLE, ended, floats, returned

HEAD = '@R.function(pure=False)\ndef main(x: R.Tensor((n,), "float32")) -> R.Any:\n    cls = M\n'


def lines(*body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body) + DOUBLE


STORAGE = 's = R.vm.alloc_storage(R.shape([16]), 0, R.dtype("uint8"), R.str("global"))'


def tensor(name: str, offset: int, size: str = "2") -> str:
    return f'{name} = R.vm.alloc_tensor(s, {offset}, R.shape([{size}]), R.dtype("float32"), 0)'


def test_tensors_in_one_piece_of_memory_are_aliases() -> None:
    text = lines(
        *(STORAGE, tensor("a", 0), tensor("b", 0), tensor("c", 8)),
        *("cls.double(x, a)", "cls.double(x, c)", "cls.double(a, c)", "return (a, b, c)"),
    )
    found = returned(text, floats(1, 2))
    assert [f.data.tolist() for f in found.fields] == [[2, 4], [2, 4], [4, 8]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kill", ["R.vm.kill_object(a)", "R.memory.kill_tensor(a)"])
@pytest.mark.parametrize("use", ["return a", "return (x, a)", "b = a", "R.vm.kill_object(a)"])
def test_use_after_kill(kill: str, use: str) -> None:
    behind = () if use.startswith("return") else ("return x",)
    text = lines(STORAGE, tensor("a", 0), "cls.double(x, a)", kill, use, *behind)
    end = ended(text, floats(1, 2))
    assert (type(end), end.code) == (Fault, "E-var-alive")


@pytest.mark.parametrize("kill", ["R.vm.kill_object(s)", "R.memory.kill_storage(s)"])
def test_memory_is_there_as_long_as_a_tensor_lies_in_it(kill: str) -> None:
    """TVM's KillAfterLastUse ends a storage right behind the last tensor that is laid into it."""
    text = lines(STORAGE, tensor("a", 0), kill, "cls.double(x, a)", "return a")
    assert returned(text, floats(1, 2)).data.tolist() == [2, 4]  # type: ignore[attr-defined]
    end = ended(text.replace("return a", tensor("b", 0) + "\n    return a"), floats(1, 2))
    assert (type(end), end.code) == (Fault, "E-var-alive")


def test_an_alias_outlives_the_variable() -> None:
    text = lines("a = R.add(x, x)", "b = a", "R.memory.kill_tensor(a)", "return b")
    assert returned(text, floats(1, 2)).data.tolist() == [2, 4]  # type: ignore[attr-defined]


def test_the_shape_heap() -> None:
    text = lines(
        'heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (4,), sinfo_args=(R.Tensor(("int64")),))',
        'R.call_packed("vm.builtin.check_tensor_info", x, 1, R.dtype("float32"), R.str("x"), sinfo_args=(R.Tuple,))',
        'R.call_packed("vm.builtin.match_shape", x, heap, 1, 1, 2, R.str("x"), sinfo_args=(R.Tuple,))',
        'R.call_packed("vm.builtin.match_shape", R.shape([n, 5, 6]), heap, 3, 3, 2, 0, 5, 2, 0, sinfo_args=(R.Tuple,))',
        'R.call_packed("vm.builtin.match_prim_value", R.prim_value(n), heap, 1, 3, R.str("x"), sinfo_args=(R.Tuple,))',
        'a = R.call_packed("vm.builtin.make_shape", heap, 3, 0, 7, 1, 2, 1, 3, sinfo_args=(R.Shape(ndim=3),))',
        'b = R.call_packed("vm.builtin.make_prim_value", heap, 1, 2, sinfo_args=(R.Prim("int64"),))',
        "return (a, b)",
    )
    found = returned(text, floats(1, 2))
    assert isinstance(found, TupleValue)
    shape, number = found.fields
    assert isinstance(shape, ShapeValue) and shape.values == (7, 2, 2)
    assert isinstance(number, Scalar) and number.value == 2


def packed(name: str, *args: str) -> str:
    return f'return R.call_packed("vm.builtin.{name}", {", ".join(args)}, sinfo_args=(R.Any,))'


def test_small_functions_of_the_run_time() -> None:
    x = Tensor(floats(1, 2))
    assert returned(lines(packed("copy", "x")), x) is x
    assert returned(lines(packed("shape_of", "x")), x).values == (2,)  # type: ignore[attr-defined]
    assert returned(lines(packed("tuple_getitem", "(x, x)", "1")), x) is x
    assert returned(lines(packed("tensor_to_shape", "R.const([3, 4])")), x).values == (3, 4)  # type: ignore[attr-defined]
    assert returned(lines(packed("read_if_cond", "R.prim_value(n == 2)")), x).value is True  # type: ignore[attr-defined]
    for ok in (
        packed("check_shape_info", "R.shape([n])", "-1"),
        packed("check_tuple_info", "(x,)", "1"),
        packed("check_prim_value_info", "R.prim_value(n)", 'R.dtype("int64")'),
        packed("check_func_info", "cls.main"),
    ):
        assert returned(lines(ok), x).fields == ()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name",
    [
        *("attention_kv_cache_append", "paged_attention_kv_cache_create", "kv_state_clear"),
        *("distributed.attention_kv_cache_view", "rnn_state_get", "cuda_graph.run_or_capture"),
        *("param_module_from_cache", "tensor_cache.load", "apply_repetition_penalty"),
        *("sample_top_p_from_prob", "invoke_debug_func", "call_py_func", "memory_manager.clear"),
    ],
)
def test_what_only_tvm_has_is_named(name: str) -> None:
    end = ended(lines(packed(name, "x")), floats(1))
    assert (type(end), end.code) == (Unsupported, "E-extern-modelled")
    assert f"vm.builtin.{name}" in end.message


def test_a_reshape_of_the_run_time_is_an_alias() -> None:
    text = lines(packed("reshape", "x", "R.shape([n, 1])"))
    x = Tensor(floats(1, 2))
    found = returned(text, x)
    assert isinstance(found, Tensor) and found.shape == (2, 1)
    assert np.shares_memory(found.data, x.data)
    end = ended(text.replace("[n, 1]", "[n, 2]"), x)
    assert (type(end), end.code) == (Fault, "E-builtin-reshape-size")


@pytest.mark.parametrize(
    ("index", "device"), [(0, ("llvm", 0)), (1, ("cuda", 0)), (2, None), (-1, None)]
)
def test_the_index_of_a_device(index: int, device: object) -> None:
    infos = 'I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global"), I.vdevice("cuda", 0, "global")]})'
    body = f"""
@I.ir_module
class M:
    {infos}
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Any:
        cls = M
        s = R.vm.alloc_storage(R.shape([16]), {index}, R.dtype("uint8"), R.str("global"))
        a = R.vm.alloc_tensor(s, 0, R.shape([2]), R.dtype("float32"), 0)
        b = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), {index}, R.str("global"))
        _1 = cls.fill(a)
        _2 = cls.fill(b)
        return (a, b)
    @T.prim_func(private=True)
    def fill(y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = T.float32(1)
"""
    found = returned(body, floats(1, 2))
    assert [tensor.device for tensor in found.fields] == [device, device]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "use",
    [
        "return s",
        "if R.prim_value(n == 1):\n        r = s\n    else:\n        r = s\n    return r",
        "@R.function(pure=False)\n    def f() -> R.Any:\n        return s\n    r = f()\n    return r",
        "t = (s, x)\n    return t",
    ],
)
def test_a_variable_that_was_ended_is_not_read_anywhere(use: str) -> None:
    text = lines(
        'a = R.vm.alloc_storage(R.shape([64]), 0, R.dtype("uint8"))',
        "s = a",
        "R.vm.kill_object(s)",
        use,
    )
    end = ended(text, floats(1))
    assert (type(end), end.code) == (Fault, "E-var-alive")
