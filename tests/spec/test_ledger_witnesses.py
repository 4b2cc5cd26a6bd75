"""Witnesses of the ledger that belong to no single room."""

from __future__ import annotations

import numpy as np
import pytest

from rlx import SubjectError, run
from rlx.checker.check import Report, check_text
from rlx.checker.normal_form import normal_form
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse, parse_prim_expr


def _check(signature: str, body: str, result: str = "") -> Report:
    lines = "\n    ".join(body.splitlines())
    return check_text(f"@R.function\ndef main({signature}){result}:\n    {lines}\n")


def _codes(report: Report) -> list[str]:
    return [d.code for d in report.diagnostics if d.severity != "note"]


def test_ledger_13_a_signature_reads_no_size_from_a_function() -> None:
    # By the letter a closure that is passed for f would tell n.
    signature = 'f: R.Callable((R.Tensor((n,)),), R.Object), x: R.Tensor((n * 2,), "float32")'
    assert _codes(_check(signature, "return x")) == ["WF06-unbound"]
    assert _codes(_check(signature + ", s: R.Shape([n])", "return x")) == []


def test_ledger_34_parameters_may_bind_too() -> None:
    # By the letter only a cast may introduce n, and no signature could.
    assert _codes(_check('x: R.Tensor((n, 4), "float32"), s: R.Shape([m])', "return x")) == []


def test_ledger_36_scalars_are_expressions() -> None:
    # Immediates alone would forbid passing a dimension to a packed function.
    assert _codes(_check("x: R.Tensor((n,))", "y = R.prim_value(n * 2)\nreturn y")) == []
    found = _check("x: R.Tensor((n,))", "y = R.prim_value(k)\nreturn y")
    assert _codes(found) == ["WF05-unbound"]


def test_ledger_37_division_has_a_direction() -> None:
    # `Div` of the letter could be any of three operators, which differ at negative numbers.
    kinds = {type(parse_prim_expr(text)) for text in ("n // 2", "T.truncdiv(n, 2)", "n % 2")}
    assert len(kinds) == 3
    assert (
        _codes(_check('x: R.Tensor((n,), "int8")', "y = R.shape([(n + 1) // 2])\nreturn y")) == []
    )


def test_ledger_38_void_has_no_bits() -> None:
    # The letter gives it 0 bits in one place and 64 in another, where it would be a pointer.
    assert dtype("void").bits == 0 and dtype("void") is not dtype("handle")


def test_ledger_39_narrow_types_exist() -> None:
    for name in ("bfloat16", "float8_e4m3fn", "int4", "float4_e2m1fn"):
        assert _codes(_check(f'x: R.Tensor((4,), "{name}")', "return x")) == [], name
    assert _codes(_check('x: R.Tensor((4,), "float32x4")', "return x")) == ["WF20-lanes"]


def test_ledger_41_more_is_a_leaf() -> None:
    # By the letter the callee of a call, a packed function and a function literal would have to be bound first.
    parsed = parse(
        "@R.function\ndef main(c: R.Tensor((), 'bool'), x: R.Tensor):\n"
        "    y = R.call_pure_packed('f', x, sinfo_args=R.Tensor)\n"
        "    @R.function\n    def g(z: R.Tensor):\n        return z\n"
        "    if c:\n        w = y\n    else:\n        w = x\n    return w"
    )
    (module,) = parsed.modules
    assert normal_form(module) == []


def test_ledger_41_a_packed_function_is_looked_up_last() -> None:
    # By the letter the callee is evaluated before the arguments: `noted` would not be called.
    text = """
@R.function(pure=False)
def main():
    y = R.call_packed("nobody", R.call_packed("noted"))
    return y
"""
    calls: list[int] = []
    found = run(text, packed={"noted": lambda: calls.append(1)})
    assert "E-extern-registered" in str(found) and calls == [1]


def test_ledger_42_effects_keep_their_order() -> None:
    # Breadth first, h would be called before g.
    (module,) = parse(
        "@R.function(pure=False)\ndef main(f: R.Callable, g: R.Callable, h: R.Callable, x: R.Any):\n"
        "    y = R.tuple(f(g(x)), h(x))\n    return y"
    ).modules
    (function,) = normalize(module).functions.values()
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    order = [
        binding.value.op.name_hint
        for binding in function.body.blocks[0].bindings
        if isinstance(binding, ast.VarBinding)
        and isinstance(binding.value, ast.Call)
        and isinstance(binding.value.op, ast.Var)
    ]
    assert order == ["g", "f", "h"]


def test_ledger_43_normalisation_produces_the_form_of_a_call() -> None:
    # By the letter, only the second of these texts is well-formed.
    given = 'x: R.Tensor((4,), "int8"), t: R.Tuple(R.Tensor((4,), "int8"))'
    call = 'y = R.call_dps_packed("f", {}, out_sinfo=R.Tensor((4,), "int8"))\nreturn y'
    for args in ("t", "(x,)", "x"):
        report = _check(given, call.format(args))
        assert report.ok, args
        (module,) = report.modules
        assert normal_form(normalize(module)) == []
    (before,) = parse(
        f"@R.function\ndef main({given}):\n    "
        + call.format("t").split("\n")[0]
        + "\n    return y"
    ).modules
    assert [d.code for d in normal_form(before)] == ["NF5-form"]


def test_ledger_44_a_value_may_call_back() -> None:
    # Nothing in the letter says whether f may be main.
    found = check_text(
        "@I.ir_module\nclass M:\n    @R.function\n"
        "    def main(x: R.Tensor, f: R.Callable((R.Tensor,), R.Any)) -> R.Any:\n"
        "        with R.dataflow():\n            y = f(x)\n            R.output(y)\n        return y\n"
        "    @R.function\n    def give(x: R.Tensor):\n        cls = M\n        t = (cls.main, x)\n        return t\n"
    )
    assert _codes(found) == ["WF07-possible"]


def test_ledger_46_the_result_is_checked_as_annotated() -> None:
    # The example of the letter announces [N*N, M*M] and checks (N*M, M*M).
    signature = 'x: R.Tensor((m * n,), "float32"), y: R.Tensor((m, n), "float32")'
    body = 'z = R.zeros(R.shape([{}, m * m]), "float32")\nreturn z'
    result = ' -> R.Tensor((n * n, m * m), "float32")'
    assert _codes(_check(signature, body.format("n * n"), result)) == []
    assert _codes(_check(signature, body.format("n * m"), result)) == ["D15-result"]


def test_ledger_48_scalars_evaluate_not_their_types() -> None:
    found = _check("x: R.Tensor((n,))", "y = R.prim_value(n + 1)\nreturn y")
    (var,) = (v for v in found.info if isinstance(v, ast.Var) and v.name_hint == "y")
    assert isinstance(found.info[var], ast.PrimStructInfo)


def test_ledger_49_a_shape_annotation_lists_dimensions() -> None:
    # The letter's survey allows a variable there; its grammar has a list only.
    assert _codes(_check("x: R.Tensor", "s = R.shape_of(x)\nt: R.Shape(s) = s\nreturn t")) == [
        "PARSE"
    ]


KERNELS = """
@I.ir_module
class M:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm")]}})
    @T.prim_func
    def kernel(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
    @T.prim_func
    def scaled(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32"), k: T.int64):
        for i in range(4):
            b[i] = a[i] * T.Cast("float32", k)
    @R.function(private=True)
    def placed(x: R.Tensor((4,), "float32", "llvm:0")) -> R.Tensor((4,), "float32", "llvm:0"):
        return x
    @R.function
    def main({params}) -> R.Object:
        cls = M
        {body}
        return y
"""
X = 'x: R.Tensor((4,), "float32")'
OUT = 'R.Tensor((4,), "float32")'


def _module(params: str, *lines: str) -> list[str]:
    text = KERNELS.format(params=params, body="\n        ".join(lines))
    return [f"{d.severity} {d.code}" for d in check_text(text).diagnostics if d.severity != "note"]


def test_ledger_51_an_object_may_be_what_is_expected() -> None:
    # By the letter an Object is incompatible with a tensor: this would be an error.
    assert _module(f"{X}, o: R.Object", "y = R.add(x, o)") == ["warning D14-argument"]
    assert _module(X, 'y = R.add(x, R.str("a"))') == ["error D14-argument"]


def test_ledger_52_a_result_may_have_the_shape_of_a_variable() -> None:
    call = "y = R.call_dps_packed('f', (x,), out_sinfo=R.Tensor({}'float32'{}))"
    assert _module(f"{X}, s: R.Shape(ndim=1)", call.format("s, ", "")) == []
    assert _module(X, call.format("", ", ndim=1")) == ["error OBL-outputs-shape"]


def test_ledger_53_a_prim_func_writes_where_it_is_told() -> None:
    assert _module(X, f"y = R.call_dps_packed(cls.kernel, (x,), out_sinfo={OUT})") == []
    found = _module(X, f"y = R.call_pure_packed(cls.kernel, x, sinfo_args={OUT})")
    assert found == ["error OBL-packed-function"]


def test_ledger_54_trailing_scalars_come_last() -> None:
    # Before the result, the scalar would meet a buffer.
    call = f"y = R.call_tir(cls.scaled, (x,), out_sinfo={OUT}, tir_vars=R.shape([2]))"
    assert _module(X, call) == []


def test_ledger_55_purity_is_declared_and_not_cast() -> None:
    declared = "R.Callable(ret=R.Object, purity=True)"
    assert _module(f"{X}, f: {declared}", "y = f(x)") == []
    found = _module(f"{X}, o: R.Object", f"f = R.match_cast(o, {declared})", "y = f(x)")
    assert "error D14-impure" in found
    whole = 'R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"), True)'
    found = _module(X, f'f = R.match_cast(R.ExternFunc("foo"), {whole})', "y = f(x)")
    assert "error D14-impure" in found


def test_ledger_56_an_overwritten_value_is_not_used() -> None:
    call = f"a = R.call_inplace_packed('f', x, inplace_indices=[0], sinfo_args={OUT})"
    assert _module(X, call, "y = R.add(a, a)") == []
    assert _module(X, call, "y = R.add(a, x)") == ["warning USE-overwritten-after"]


def test_ledger_57_a_module_may_have_no_entry_yet() -> None:
    text = (
        "@I.ir_module\nclass M:\n    @R.function(private=True)\n"
        "    def main(x: R.Tensor):\n        return x\n"
    )
    (found,) = check_text(text).diagnostics
    assert (found.code, found.severity) == ("WF12-entry", "warning")
    with pytest.raises(SubjectError):
        run(text, inputs=[np.ones(2, "float32")])


def test_ledger_87_a_kernel_has_another_symbol() -> None:
    text = (
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def k(A: T.Buffer((4,))):\n"
        "        T.func_attr({'global_symbol': 'other'})\n"
        "        for i in range(4):\n            A[i] = T.float32(0)\n"
    )
    (found,) = check_text(text).diagnostics
    assert (found.code, found.severity) == ("WF13-name", "warning")


def test_ledger_88_a_view_is_an_alias_and_a_reshape_may_be_one() -> None:
    import numpy as np

    from rlx.semantics.machine import load
    from rlx.semantics.outcome import Returned
    from rlx.semantics.values import Tensor

    kernel = (
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def clear(A: T.Buffer((2, 2), 'float32')):\n"
        "        A[0, 0] = T.float32(0)\n    @R.function(pure=False)\n"
        f"    def main(x: {OUT}):\n        y = R.{{}}(x, R.shape([2, 2]))\n        _ = cls.clear(y)\n        return x\n"
    )
    for operator, first in ("memory.view", 0.0), ("reshape", 1.0):
        (module,) = check_text(kernel.format(operator)).modules
        ended = load(module).run("main", [Tensor(np.ones(4, np.float32))])
        assert isinstance(ended, Returned)
        assert ended.value.data[0] == first  # type: ignore[attr-defined]
        call = f"z = R.call_inplace_packed('f', y, inplace_indices=[0], sinfo_args={OUT})"
        lines = f"y = R.{operator}(x, R.shape([4]))", call, "w = R.add(z, x)"
        assert _module(X, *lines) == ["warning USE-overwritten-after"]


def test_ledger_89_one_value_has_one_shape() -> None:
    casts = (
        "m = T.int64()",
        "k = T.int64()",
        "a = R.match_cast(x, R.Tensor((m,), 'float32'))",
        "b = R.match_cast({}, R.Tensor((k,), 'float32'))",
        "y = R.add(a, b)",
    )
    params = "x: R.Tensor('float32', ndim=1), z: R.Tensor('float32', ndim=1)"
    for other, wanted in ("x", []), ("z", ["warning OBL-broadcast-dims"]):
        assert _module(params, *(line.format(other) for line in casts)) == wanted


def test_ledger_58_a_tensor_that_nobody_placed() -> None:
    from rlx.semantics.machine import load
    from rlx.semantics.outcome import Returned

    body = "a = R.zeros(R.shape([4]), 'float32')\n        y = cls.placed(a)"
    report = check_text(KERNELS.format(params="", body=body))
    assert [(d.code, d.severity) for d in report.diagnostics] == [("D14-argument", "warning")]
    assert isinstance(load(report.modules[0]).run("main", []), Returned)


def test_ledger_59_packed_functions_get_arguments_one_by_one() -> None:
    assert _module(X, f"y = R.call_pure_packed('f', x, x, sinfo_args={OUT})") == []


def test_ledger_90_a_closure_is_some_function() -> None:
    text = """
@R.function(pure=False)
def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")) -> R.Object:
    @R.function
    def one(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return y
    @R.function
    def two(y: R.Tensor((2,), "float32"), z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return z
    if c:
        f = one
    else:
        f = two
    g = R.match_cast(f, R.Callable)
    return g(x)
"""
    assert _codes(check_text(text)) == []
    (module,) = parse(text).modules
    assert run(module, inputs=[np.array(True), np.ones(2, "float32")]).ok
    wrong = run(module, inputs=[np.array(False), np.ones(2, "float32")])
    assert type(wrong).__name__ in ("CheckFailed", "Fault")


def test_ledger_90_a_function_may_be_a_closure() -> None:
    # By the letter, a type without parameters is incompatible with one that has some.
    given = "f: R.Callable(ret=R.Object, purity=True), x: R.Object"
    body = "g: R.Callable((R.Object,), R.Object, purity=True) = f\nreturn g(x)"
    (found,) = _check(given, body).diagnostics
    assert (found.code, found.severity) == ("D11-annotation", "warning")


def test_ledger_91_an_annotation_places_a_tensor() -> None:
    text = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32", "cuda:0"):
        y: R.Tensor((2,), "float32", "llvm:0") = R.add(x, x)
        z = R.zeros((2,), "float32")
        return {result}
"""
    assert _codes(check_text(text.replace("{result}", "z"))) == []
    assert _codes(check_text(text.replace("{result}", "R.add(y, z)"))) != []


def test_ledger_92_a_mask_is_a_warning() -> None:
    text = '@R.function\ndef main(x: R.Tensor((2,), "float32"), m: R.Tensor((2,), "bool")):\n    return R.multiply({})\n'
    for order, severity in (("x, m", "warning"), ("m, x", "error")):
        (found,) = check_text(text.format(order)).diagnostics
        assert (found.code, found.severity) == ("OBL-agree-dtype", severity)


def test_ledger_95_an_operand_may_have_no_device() -> None:
    text = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})
    @R.function
    def main(x: R.Tensor((2,), "float32"), z: R.Tensor((2,), "float32", "cuda:0")):
        y = R.exp(x)
        w = R.add(z, R.const(1, "float32"))
        return (y, w)
"""
    assert _codes(check_text(text)) == []
    assert run(text, inputs=[np.ones(2, "float32")] * 2).ok


def test_ledger_96_a_name_of_a_killed_variable_is_a_use() -> None:
    text = """
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    s = R.memory.alloc_storage(R.shape([8]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([2]), "float32")
    {order[0]}
    {order[1]}
    _1 = R.memory.kill_storage(s)
    return x
"""
    named, killed = "y = t", "_ = R.memory.kill_tensor(t)"
    assert _codes(check_text(text.format(order=(named, killed)))) == []
    assert _codes(check_text(text.format(order=(killed, named)))) == ["MEM-alive-used"]


def test_ledger_98_an_annotation_may_know_the_rank() -> None:
    body = 'y = R.match_cast(x, R.Tensor(s, "float32", ndim=2))\nreturn y'
    for shape, expected in (
        ("R.Shape(ndim=2)", []),
        ("R.Shape", []),  # by the letter -1 is not 2
        ("R.Shape(ndim=1)", ["D17-rank"]),
    ):
        assert _codes(_check(f"s: {shape}, x: R.Object", body)) == expected
