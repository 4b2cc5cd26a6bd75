"""Packed functions and PrimFuncs: what they return, what they change, how they fail."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest

from rlx.semantics.outcome import CheckFailed, Fault, Unsupported
from rlx.semantics.values import NULL, Packed, Scalar, ShapeValue, StringValue, Tensor, TupleValue
from tests.semantics.machine.running import DOUBLE, double, ended, floats, returned, value

PACKED = "@R.function(pure=False)\ndef main(x: R.Any, y: R.Any) -> R.Any:\n    return "
OUT = 'R.Tensor((n,), "float32")'
PURE = (
    '@R.function\ndef main(x: R.Tensor((n,), "float32"), y: R.Tensor((n,), "float32")) -> R.Any:\n'
)


def test_plain_functions_get_plain_values() -> None:
    seen: list[Any] = []

    def outside(*args: Any) -> Any:
        seen.extend(args)
        return args[0]

    text = (
        PACKED
        + 'R.call_packed("f", x, y, R.str("s"), R.dtype("int8"), R.prim_value(3), R.null_value())'
    )
    x = Tensor(floats(1, 2))
    assert returned(text, x, [4, 5], f=outside) is x
    array, shape, *rest = seen
    assert array is x.data and shape == (4, 5)
    assert [str(r) for r in rest] == ["s", "int8", "3", "None"]


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        (3, Scalar),
        (True, Scalar),
        (0.5, Scalar),
        ("s", StringValue),
        ((1, 2), ShapeValue),
        (("s", 1), TupleValue),
        ((), TupleValue),
        (np.zeros(2), Tensor),
        (np.float32(1), Tensor),
    ],
)
def test_plain_results_become_values(plain: Any, expected: type) -> None:
    assert type(returned(PACKED + 'R.call_packed("f")', 0, 0, f=lambda: plain)) is expected


def test_opaque_objects_are_passed_on() -> None:
    text = PACKED + 'R.call_packed("get", R.call_packed("make"))'
    cache = {"a": 1}
    found = returned(text, 0, 0, make=lambda: cache, get=lambda held: (held is cache, "same"))
    assert found.fields[0].value is True  # type: ignore[attr-defined]
    assert returned(PACKED + 'R.call_packed("none")', 0, 0, none=lambda: None) is NULL


def test_packed_functions_of_values() -> None:
    x = Tensor(floats(1))
    made = Packed(lambda a, b: TupleValue((b, a)), "swap")
    found = returned(PACKED + 'R.call_packed("swap", x, y)', x, 2, swap=made)
    assert found.fields[1] is x  # type: ignore[attr-defined]


def test_mutation_is_seen_by_all_aliases() -> None:
    text = """
@R.function(pure=False)
def main(x: R.Any) -> R.Any:
    pair = (x, x)
    y = R.call_packed("double", x)
    return (pair, y)
"""
    x = Tensor(floats(1, 2))
    found = returned(text, x, double=double)
    assert found.fields[1] is x and found.fields[0].fields == (x, x)  # type: ignore[attr-defined]
    assert x.data.tolist() == [2, 4]


def test_packed_functions_that_fail() -> None:
    text = PACKED + 'R.call_packed("f", x)'
    end = ended(text, 1, 1, f=lambda x: x / 0)
    assert (type(end), end.code) == (Fault, "E-packed-raised")
    assert "ZeroDivisionError" in end.message
    end = ended(text, 1, 1, f=Packed(lambda x: 3, "f"))  # type: ignore[arg-type, return-value]
    assert (type(end), end.code) == (Fault, "E-packed-value")


def test_packed_functions_with_new_results() -> None:
    text = PURE + '    return R.call_dps_packed("f", (x, y), out_sinfo=' + OUT + ")"

    def add(x: Any, y: Any, out: Any) -> None:
        out[:] = x + y

    assert returned(text, floats(1), floats(2), f=add).data.tolist() == [3]  # type: ignore[attr-defined]
    two = (
        PURE
        + f'    return R.call_dps_packed("f", (x, y), out_sinfo=[{OUT}, R.Tensor((n, 2), "int8")])'
    )
    found = returned(two, floats(1), floats(2), f=lambda x, y, out, _: add(x, y, out))
    assert [f.shape for f in found.fields] == [(1,), (1, 2)]  # type: ignore[attr-defined]


KERNELS = f"""{DOUBLE}
@T.prim_func(private=True)
def clobber(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n):
        with T.sblock("y"):
            v = T.axis.spatial(n, i)
            y[v] = x[v]
            x[v] = T.float32(0)

@T.prim_func(private=True)
def both(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32"), k: T.int64):
    for i in range(n):
        with T.sblock("y"):
            v = T.axis.spatial(n, i)
            y[v] = x[v] * T.Cast("float32", k)
            x[v] = T.float32(7)

@T.prim_func(private=True)
def inplace(x: T.Buffer((n,), "float32")):
    for i in range(n):
        with T.sblock("x"):
            v = T.axis.spatial(n, i)
            x[v] = x[v] + T.float32(1)
"""


def test_call_tir_is_held_to_purity() -> None:
    text = (
        PURE + f"    cls = M\n    return R.call_tir(cls.clobber, (x,), out_sinfo={OUT})\n" + KERNELS
    )
    end = ended(text, floats(1, 2), floats(0, 0))
    assert (type(end), end.rule, end.code) == (Fault, "E-call-tir", "E-call-tir-pure")
    assert isinstance(returned(text, floats(0), floats(0)), Tensor)  # nothing was changed


def test_call_tir_asks_for_a_prim_func_and_a_result() -> None:
    wrong = (
        PURE + f"    cls = M\n    return R.call_tir(cls.main, (x,), out_sinfo={OUT})\n" + KERNELS
    )
    assert ended(wrong, floats(1), floats(1)).code == "E-prim-func-callee"
    for out in ("ndim=1", "'float32', ndim=1", "(1,)", "(n,), ''", ""):
        wrong = f"{PURE}    cls = M\n    return R.call_tir(cls.double, (x,), out_sinfo=R.Tensor({out}))\n"
        end = ended(wrong + KERNELS, floats(1), floats(1))
        assert (type(end), end.code) == (Unsupported, "E-results-declared"), out
    wrong = PURE + f"    cls = M\n    return R.call_tir(cls.double, (cls.main,), out_sinfo={OUT})\n"
    assert ended(wrong + KERNELS, floats(1), floats(1)).code == "E-prim-func-argument"


def test_results_of_types_that_no_array_has() -> None:
    text = '    cls = M\n    return R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n,), "float32x4"))\n'
    assert ended(PURE + text + KERNELS, floats(1), floats(1)).code == "E-element-type"


def test_call_tir_inplace() -> None:
    text = """
@R.function
def main(x: R.Tensor((n,), "float32")) -> R.Any:
    cls = M
    return R.call_tir_inplace(cls.both, (x,), inplace_indices=[0, -1], tir_vars=R.shape([n + 1]),
        out_sinfo=[R.Tensor((n,), "float32"), R.Tensor((n,), "float32")])
"""
    x = Tensor(floats(1, 2))
    found = returned(text + KERNELS, x)
    assert isinstance(found, TupleValue)
    old, new = found.fields
    assert old is x and x.data.tolist() == [7, 7]
    assert isinstance(new, Tensor) and new.data.tolist() == [3, 6]


def test_prim_funcs_called_as_they_are() -> None:
    text = """
@R.function(pure=False)
def main(x: R.Tensor((n,), "float32"), y: R.Tensor((n,), "float32")) -> R.Any:
    cls = M
    a = cls.double(x, y)
    b = R.vm.call_tir_dyn(cls.both, (x, y, R.shape([n])))
    return (a, b)
"""
    x, y = Tensor(floats(1, 2)), Tensor(floats(0, 0))
    assert returned(text + KERNELS, x, y).fields[0].fields == ()  # type: ignore[attr-defined]
    assert (x.data.tolist(), y.data.tolist()) == ([7, 7], [2, 4])


def test_faults_inside_of_prim_funcs() -> None:
    text = PURE + f"    cls = M\n    return R.call_tir(cls.late, (x,), out_sinfo={OUT})\n"
    kernel = """
@T.prim_func(private=True)
def late(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n):
        with T.sblock("y"):
            v = T.axis.spatial(n, i)
            y[v] = x[v + 1]
"""
    end = ended(text + kernel, floats(1), floats(1))
    assert (type(end), end.rule, end.code) == (Fault, "E-call-tir", "E-tir-bounds")


CLOSURE = """
@R.function(pure=False)
def main(x: R.Any, y: R.Any) -> R.Any:
    cls = M
    c = R.make_closure(cls.inner, (x,))
    d = R.make_closure(c, (y,))
    a = R.invoke_closure(c, (y, x), sinfo_args=(R.Any,))
    return (a, R.invoke_pure_closure(d, (y,), sinfo_args=(R.Any,)))

@R.function(private=True)
def inner(a: R.Any, b: R.Any, c: R.Any) -> R.Any:
    return (a, b, c)
"""


def test_closures_with_arguments() -> None:
    x, y = value(1), value(2)
    found = returned(CLOSURE, x, y)
    one, two = found.fields  # type: ignore[attr-defined]
    assert one.fields == (y, x, x) and two.fields == (y, y, x)
    head = "@R.function(pure=False)\ndef main(x: R.Any) -> R.Any:\n    return "
    text = CLOSURE.replace("cls.inner, (x,)", "cls.inner, x")
    assert ended(text, x, y).code == "E-arguments-tuple"
    assert ended(head + "R.make_closure(x, (x,))", 1).code == "E-make-closure-func"
    wrong = ended(head + "R.invoke_closure(x, (x,), sinfo_args=(R.Any,))", 1)
    assert wrong.code == "E-invoke-closure-func"


def test_output_and_assertions() -> None:
    text = """
@R.function(pure=False)
def main(c: R.Prim("bool"), x: R.Any) -> R.Any:
    a = R.print(x, R.str("end"), format="{} then {}.")
    b = R.print(x, R.const([1, 2], "int32"), format="values:")
    d = R.assert_op(c, x, format="x is {}")
    return (a, b, d)
"""
    from rlx.grammar.nodes.dtype import BOOL

    printed: list[str] = []
    assert isinstance(returned(text, Scalar(True, BOOL), 5, printed=printed), TupleValue)
    assert printed == ["5 (int64) then end.", "values: 5 (int64) [1 2]"]
    end = ended(text, Scalar(False, BOOL), 5)
    assert (type(end), end.code, end.message) == (CheckFailed, "E-assert-holds", "x is 5 (int64)")


def test_devices_are_labels() -> None:
    text = """
@R.function
def main(x: R.Tensor((n,), "float32")) -> R.Any:
    there = R.to_vdevice((x, R.shape([n])), dst_vdevice="cuda:1")
    here = R.hint_on_device(x, "cuda:0")
    return (there, here)
"""
    x = Tensor(floats(1), ("llvm", 0))
    found = returned(text, x)
    there, here = found.fields  # type: ignore[attr-defined]
    assert here.device == ("cuda", 0) and here.data is not x.data
    copy = there.fields[0]
    assert copy.device == ("cuda", 1) and copy.data is not x.data
    wrong = text.replace('"cuda:1"', "3")
    assert ended(wrong, x).code == "E-to-vdevice-device"


LOOP = """
@T.prim_func(private=True)
def forever(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n):
        for j in range(1099511627776):
            y[i] = x[i] + y[i]
"""


def test_prim_funcs_may_be_given_a_number_of_iterations() -> None:
    from rlx.semantics.machine import load
    from rlx.semantics.outcome import OutOfFuel
    from tests.semantics.machine.running import module

    text = PURE + f"    cls = M\n    return R.call_dps_packed(cls.forever, (x,), out_sinfo={OUT})\n"
    ready = load(module(text + LOOP), iterations=1000)
    end = ready.run("main", [Tensor(floats(1)), Tensor(floats(1))])
    assert isinstance(end, OutOfFuel) and end.code == "E-tir-fuel"


@pytest.mark.parametrize(
    "call",
    [
        'R.call_packed("f", x, sinfo_args=(R.Tensor((n,), "float32"),))',
        'R.call_packed("f", x, sinfo_args=(R.Tensor((n,), "float32"), R.Any))',
        'R.call_pure_packed("f", x, sinfo_args=(R.Tensor((n,), "float32"),))',
        'R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=(R.Tensor((n,), "float32"),))',
        'R.call_builtin_with_ctx("f", (x,), sinfo_args=(R.Tensor((n,), "float32"),))',
        "R.invoke_closure(cls.inner, (x,), sinfo_args=(R.Tensor((n + 1,)),))",
    ],
)
def test_values_are_what_calls_declare(call: str) -> None:
    text = '@R.function(pure=False)\ndef main(x: R.Tensor((n,), "float32")) -> R.Any:\n'
    text += f"    cls = M\n    return {call}\n"
    text += "@R.function(private=True)\ndef inner(x: R.Any) -> R.Any:\n    return x\n"
    good = (lambda x: (x, x)) if "R.Any)" in call else (lambda x: x)
    if "inner" not in call:
        returned(text, floats(1, 2), f=good)
    end = ended(text, floats(1, 2), f=lambda x: np.zeros(3, np.float32))
    assert isinstance(end, CheckFailed) and end.code.startswith("E-cast-")
    assert end.rule.startswith(("E-call", "E-return"))


def test_a_function_of_which_only_the_result_is_known() -> None:
    text = PACKED.replace("x: R.Any", 'x: R.Callable(ret=R.Tensor((2,), "float32"), purity=False)')
    double_it = Packed(lambda y: y, "same")
    assert returned(text + "x(y)", double_it, floats(1, 2)).shape == (2,)  # type: ignore[attr-defined]
    assert ended(text + "x(y)", double_it, floats(1)).code == "E-cast-dimension"


@pytest.mark.parametrize(("flags", "known"), [("", True), ("private=True", False)])
def test_a_private_primfunc_is_not_found_outside(flags: str, known: bool) -> None:
    text = (
        f"@T.prim_func({flags})\n"
        'def k(x: T.Buffer((2,), "float32")):\n    x[0] = T.float32(9)\n'
        "@R.function(pure=False)\ndef main(x: R.Any) -> R.Any:\n"
        '    y = R.call_packed("k", x)\n    return x\n'
    )
    module = "@I.ir_module\nclass M:\n" + indent(text, "    ")
    if known:
        assert returned(module, Tensor(floats(1, 2))).data.tolist() == [9, 2]  # type: ignore[attr-defined]
    else:
        end = ended(module, Tensor(floats(1, 2)))
        assert (type(end), end.code) == (Fault, "E-extern-registered")


def test_prim_funcs_call_plain_functions_alone() -> None:
    """One that takes values, not arrays, is not for PrimFuncs."""
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def filled(A: T.Buffer((2,), "float32")):
        T.call_packed("fill", A.data)

    @R.function
    def main() -> R.Any:
        cls = Module
        y = R.call_tir(cls.filled, (), R.Tensor((2,), "float32"))
        return y
"""

    def fill(array: Any) -> None:
        array[...] = 3

    made = returned(text, fill=fill)
    assert isinstance(made, Tensor) and made.data.tolist() == [3, 3]
    found = ended(text, fill=Packed(lambda *args: args[0]))
    assert isinstance(found, Unsupported) and found.code == "E-tir-call-unregistered"
