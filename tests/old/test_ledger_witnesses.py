"""Witnesses of the ledger's entries on the specification of 2022: what its letter says, executed, and what rlx does instead."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from rlx.checker.check import check_text as check_today
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import VOID, dtype
from rlx.grammar.read.parser import parse
from rlx.old import check_text
from rlx.old.evaluation import run
from rlx.old.expansion import check_annotation
from rlx.old.order import find_glb, is_subtype
from rlx.old.shape_exprs import UNKNOWN
from rlx.old.shape_exprs import text as shape_text
from rlx.old.substitution import map_shape_vars
from rlx.old.types import OBJECT, DynTensorType, FuncType, TupleType, Type
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Ended, Outcome
from rlx.solver.prover import Prover
from tests.old.procedures import ShapeReader

F32, I32 = dtype("float32"), dtype("int32")
TENSORS = [DynTensorType(rank, kind) for rank in (-1, 1, 2) for kind in (VOID, F32, I32)]


def codes(text: str) -> list[str]:
    return [d.code for d in check_text(text).diagnostics if d.severity != "note"]


def main(signature: str, *body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return f"@R.function\ndef main({signature}:\n{lines}"


def shape_of(text: str, name: str) -> str:
    """The `shape_` of a variable."""
    report = check_text(text)
    assert not report.diagnostics, report
    (derived,) = report.derivations
    found = [
        s for v, s in derived.shape_of.items() if isinstance(v, ast.Var) and v.name_hint == name
    ]
    return shape_text(found[-1])


def outcome(text: str, *args: object) -> Outcome:
    (module,) = parse(text).modules
    return run(module, "main", [to_value(arg) for arg in args])


def ended(text: str, *args: object) -> str:
    found = outcome(text, *args)
    return "returned" if found.ok else str(getattr(found, "code", ""))


def test_ledger_60_a_result_binds_no_shape_variable() -> None:
    text = main("x: R.Tensor[_, 'float32']) -> R.Tensor[(k,), 'float32']", "return x")
    assert "OWF04-unbound" in codes(text)


def _by_the_letter(pairs: Sequence[tuple[DynTensorType, DynTensorType]]) -> set[tuple[Type, Type]]:
    """The rules of 2022 for tensors, closed under reflexivity and transitivity."""
    below: set[tuple[Type, Type]] = {(a, a) for a, _ in pairs}
    for a, b in pairs:
        if a.ndim >= 0 and b == DynTensorType(a.ndim, VOID):
            below.add((a, b))
        if a.ndim >= 0 and not a.dtype.is_void and b == DynTensorType(-1, a.dtype):
            below.add((a, b))
    while True:
        more = {(a, d) for a, b in below for c, d in below if b == c} - below
        if not more:
            return below
        below |= more


def test_ledger_61_all_tensors_are_tensors() -> None:
    letter = _by_the_letter(list(itertools.product(TENSORS, TENSORS)))
    top = DynTensorType()
    assert {a for a, b in letter if b == top} == {top}
    assert all(is_subtype(each, top) for each in TENSORS)
    assert all(is_subtype(a, b) for a, b in letter)


def _glb_by_the_letter(one: DynTensorType, other: DynTensorType) -> DynTensorType | None:
    ndim, kind = one.ndim, one.dtype
    if ndim == -1:
        ndim == other.ndim  # noqa: B015 - as it is written
    if kind.is_void:
        kind = other.dtype
    if ndim not in (-1, other.ndim):
        return None
    if not kind.is_void and other.dtype != kind:
        return None
    return DynTensorType(ndim, kind)


def test_ledger_62_the_meet_of_tensors_is_below_both() -> None:
    any_rank, rank_2 = DynTensorType(-1, F32), DynTensorType(2, VOID)
    assert _glb_by_the_letter(rank_2, any_rank) is None
    assert _glb_by_the_letter(any_rank, DynTensorType(2, F32)) == any_rank  # which is above
    for one, other in itertools.product(TENSORS, TENSORS):
        met = find_glb(one, other)
        below = [t for t in TENSORS if is_subtype(t, one) and is_subtype(t, other)]
        assert (met is None) == (not below)
        assert met is None or (met in below and all(is_subtype(t, met) for t in below))


def test_ledger_63_a_pure_function_meets_an_impure_one() -> None:
    pure, impure = FuncType((OBJECT,), OBJECT, True), FuncType((OBJECT,), OBJECT, False)
    assert is_subtype(pure, impure)
    assert find_glb(pure, impure) == find_glb(impure, pure) == pure


def test_ledger_64_types_may_have_values_in_common() -> None:
    one, other = DynTensorType(2, VOID), DynTensorType(-1, F32)
    assert not is_subtype(one, other) and not is_subtype(other, one)
    both = DynTensorType(2, F32)
    assert is_subtype(both, one) and is_subtype(both, other)
    text = main("x: R.Tensor(ndim=2)) -> R.Tensor[_, 'float32']", "return x")
    assert codes(text) == ["OT-function-cast"]
    text = main("x: R.Tensor(ndim=2)) -> R.Tensor(ndim=3)", "return x")
    assert codes(text) == ["OT-function-result"]


def test_ledger_65_a_tuple_of_one_has_no_field_1() -> None:
    assert codes(main("t: R.Tuple(R.Tensor))", "return t[1]")) == ["OT-field-index"]
    assert codes(main("t: R.Tuple(R.Tensor))", "return t[0]")) == []


def test_ledger_66_an_exact_annotation_is_no_error() -> None:
    exact = 'R.Tensor[(n,), "float32"]'
    text = main(
        f"x: {exact}) -> {exact}",
        f"y: {exact} = x",
        f"z: {exact} = R.match_shape(y, (n,))",
        "return z",
    )
    assert codes(text) == []


def test_ledger_67_a_match_needs_no_annotation() -> None:
    text = main("x: R.Tensor[_, 'float32'])", "y = R.match_shape(x, (n, 2))", "return y")
    (derived,) = check_text(text).derivations
    (found,) = (t for v, t in derived.types.items() if getattr(v, "name_hint", "") == "y")
    assert found == DynTensorType(2, F32)


def test_ledger_68_a_matched_shape_has_no_shape() -> None:
    text = main(
        "s: R.Shape, x: R.Tensor[_, 'float32'])", "t = R.match_shape(s, (n, 2))", "return t"
    )
    assert shape_of(text, "t") == "RuntimeDepShape()"
    assert shape_of(text.replace("s: R.Shape", "s: R.Object"), "t") == "RuntimeDepShape()"
    text = main("x: R.Tensor[_, 'float32'])", "y = R.match_shape(x, (n, 2))", "return y")
    assert shape_of(text, "y") == "(n, 2)"


def test_ledger_69_a_value_of_another_rank_fails_the_check() -> None:
    text = main("x: R.Object)", "y = R.match_shape(x, (n, 2))", "return y")
    assert codes(text) == []
    assert ended(text, np.zeros((3, 2), "float32")) == "returned"
    assert ended(text, np.zeros((3,), "float32")) == "OE-match-rank"
    assert ended(text, (np.zeros((3, 2), "float32"),)) == "OE-match-kind"


CALLED = """@R.function
def f(x: R.Tensor[{takes}, "float32"]{more}) -> R.Tensor[{gives}, "float32"]:
    return x

@R.function
def main(x: R.Tensor[{given}, "float32"]):
    y = f({call})
    return y
"""


def test_ledger_70_a_number_is_not_mapped() -> None:
    def called(takes: str, given: str) -> list[str]:
        return codes(CALLED.format(takes=takes, gives=takes, given=given, more="", call="x"))

    assert called("(4,)", "(5,)") == ["OS-call-shape"]
    assert called("(n, n * 2)", "(3, 7)") == ["OS-call-shape"]
    assert called("(n, n * 2)", "(3, 6)") == []


def test_ledger_71_the_mapping_is_handed_on() -> None:
    reader = ShapeReader()
    wanted, given = (
        reader.shape("TupleGetItem(Tuple((n,)), 0)"),
        reader.shape("TupleGetItem(Tuple((5,)), 0)"),
    )
    mapping: dict[object, object] = {}
    assert map_shape_vars(wanted, given, mapping, Prover())  # type: ignore[arg-type]
    assert [(str(var), str(image)) for var, image in mapping.items()] == [("n", "5")]
    other = reader.shape("TupleGetItem(Tuple((5,)), 1)")
    assert not map_shape_vars(wanted, other, {}, Prover())


def test_ledger_72_a_parameter_without_a_shape_leaves_the_result_open() -> None:
    def result(more: str, call: str) -> str:
        text = CALLED.format(takes="(4,)", gives="(4,)", given="(4,)", more=more, call=call)
        return shape_of(text, "y")

    assert result("", "x") == "(4,)"
    assert result(", o: R.Object", "x, x") == "RuntimeDepShape()"


def test_ledger_73_the_shape_of_a_call_mentions_the_callers_variables() -> None:
    text = CALLED.format(takes="(n,)", gives="(n,)", given="(k,)", more="", call="x")
    assert shape_of(text, "y") == "(k,)"


def test_ledger_74_an_argument_is_cast_to_its_type() -> None:
    text = main("x: R.Tensor[(n,), 'float32'])", "return x")
    assert ended(text, np.zeros(3, "float32")) == "returned"
    assert ended(text, np.zeros(3, "int32")) == "OE-cast-type"


def test_ledger_75_a_signature_binds_for_the_body() -> None:
    text = main(
        "x: R.Tensor[(n,), 'float32'], t: R.Tuple(R.Tensor[(m,), 'float32']))",
        "return R.shape([n, m])",
    )
    found = outcome(text, np.zeros(3, "float32"), (np.zeros(4, "float32"),))
    assert found.ok and tuple(found.numpy()) == (3, 4)


def test_ledger_76_a_field_behind_an_unknown_one_is_checked() -> None:
    text = main("t: R.Tuple(R.Tensor[_, 'float32'], R.Tensor[(4,), 'float32']))", "return t")
    four, three = np.zeros(4, "float32"), np.zeros(3, "float32")
    assert ended(text, (three, four)) == "returned"
    assert ended(text, (four, three)) == "OE-match-dimension"


KERNEL = """@I.ir_module
class M:
    @T.prim_func
    def kernel(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32"), c: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
            c[i] = a[i]
    @R.function
    def main(x: R.Tensor[(4,), "float32"]):
        y = R.call_tir(cls.kernel, (x,), out_sinfo=[R.Tensor[(4,), "float32"], R.Tensor[(4,), "float32"]])
        return y
"""


def test_ledger_77_call_tir_returns_tensors() -> None:
    report = check_text(KERNEL)
    assert not report.diagnostics, report
    (derived,) = report.derivations
    (found,) = (t for v, t in derived.types.items() if getattr(v, "name_hint", "") == "y")
    assert found == TupleType((DynTensorType(1, F32),) * 2)


def test_ledger_78_the_check_of_a_field_binds_its_variable() -> None:
    value = ast.Var("value")
    computed = ast.TupleGetItem(ast.Call(ast.ExternFunc("shapes"), (value,)), 0)
    checked = check_annotation(value, computed)
    assert isinstance(checked, ast.SeqExpr)
    first, second = checked.blocks[0].bindings
    assert isinstance(first, ast.VarBinding) and isinstance(second, ast.VarBinding)
    assert first.value is value and checked.body is first.var
    assert isinstance(second.value, ast.Call) and isinstance(second.value.args[0], ast.Call)
    assert second.value.args == (second.value.args[0], computed)
    assert second.value.args[0].args == (first.var,)


def test_ledger_79_an_effect_without_a_promise() -> None:
    text = main("x: R.Tensor[_, 'float32'])", "R.print(x)", "return x")
    assert codes(text) == []
    assert [d.code for d in check_today(text).diagnostics] == ["VERSION-inferred"]
    assert "D14-impure" in [d.code for d in check_today(text, target="0.27").diagnostics]
    promised = text.replace("@R.function", "@R.function(pure=True)")
    assert codes(promised) == ["OT-function-pure"]


def test_ledger_80_elements_may_be_unsigned() -> None:
    assert codes(main("x: R.Tensor[(4,), 'uint8'])", "return x")) == []
    assert check_annotation(ast.Var("x"), UNKNOWN) is not None


def test_ledger_81_a_function_that_is_forced_and_impure() -> None:
    text = main("x: R.Tensor[_, 'float32'])", "R.func_attr({'relax.force_pure': True})", "return x")
    text = text.replace("@R.function", "@R.function(pure=False)")
    assert codes(text) == []
    assert [d.code for d in check_today(text).diagnostics] == ["WF21-pure"]


def test_ledger_82_a_shape_of_a_result_is_checked_at_run_time() -> None:
    text = main("x: R.Tensor[(n,), 'float32']) -> R.Tensor[(n + 1,), 'float32']", "return x")
    assert codes(text) == []
    assert ended(text, np.zeros(3, "float32")) == "OE-match-dimension"
    assert [d.code for d in check_today(text).diagnostics] == ["D15-result"]


FUNCTION_OF_4 = """@R.function
def main(x: R.Tensor[(4,), "float32"]):
    @R.function
    def four(y: R.Tensor[(4,), "float32"]) -> R.Tensor[_, "float32"]:
        return y
    o: R.Object = four
    f = R.match_cast(o, R.Callable((R.Tensor(ndim=1, dtype="float32"),), R.Tensor, True))
    return f(x)
"""


def test_ledger_83_the_type_of_a_function_has_no_shapes() -> None:
    assert codes(FUNCTION_OF_4) == []
    assert ended(FUNCTION_OF_4, np.zeros(4, "float32")) == "returned"
    (module,) = parse(FUNCTION_OF_4).modules
    today = load(module).run("main", [to_value(np.zeros(4, "float32"))])
    assert isinstance(today, Ended) and today.code == "E-cast-function"


def test_ledger_84_a_matched_variable_has_the_shape_that_it_says() -> None:
    text = main(
        "x: R.Tensor[_, 'float32'])",
        "y: R.Tensor[(3,), 'float32'] = R.match_shape(x, (4,))",
        "return y",
    )
    assert codes(text) == ["OS-bind-proved"]
    assert codes(text.replace("(3,)", "(4,)")) == []
    cast = text.replace("R.match_shape(x, (4,))", "R.match_cast(x, R.Tensor[(4,), 'float32'])")
    assert codes(cast) == ["OS-bind-proved"]


def test_ledger_85_a_variable_as_shape_says_nothing() -> None:
    text = main(
        "x: R.Tensor[(4,), 'float32'], s: R.Shape)", "y: R.Tensor[s, 'float32'] = x", "return y"
    )
    assert codes(text) == []
    assert shape_of(text, "y") == "(4,)"
    wrong = text.replace("[s, ", "[x, ")
    assert codes(wrong) == []
    assert [d.code for d in check_today(wrong).diagnostics] == ["D17-shape"]


def test_ledger_86_one_unknown_argument_hides_the_shape_of_the_result() -> None:
    text = """@R.function
def apply(f: R.Callable((R.Tensor(dtype="float32", ndim=1),), R.Tensor(dtype="float32", ndim=1), True),
          x: R.Tensor[(n,), "float32"]) -> R.Tensor[(n,), "float32"]:
    y = f(x)
    return x

@R.function
def main(x: R.Tensor[(3,), "float32"]):
    @R.function
    def same(y: R.Tensor[(n,), "float32"]) -> R.Tensor[(n,), "float32"]:
        return y
    z = apply(same, x)
    w = R.broadcast_to(z, R.shape([2, 4]))
    return w
"""
    assert codes(text) == []
    assert shape_of(text, "z") == "RuntimeDepShape()"
    errors = [d.code for d in check_today(text).diagnostics if d.is_error]
    assert errors == ["OBL-expand-dims"]


def test_ledger_93_a_destination_is_all_that_is_written() -> None:
    kind = 'R.Tensor[(2,), "float32"]'
    for call, found in (
        (f'R.call_dps_packed("f", (x,), {kind})', []),
        (f'R.call_packed("f", x, type_args={kind})', ["OT-effect-dataflow"]),
    ):
        body = "with R.dataflow():", f"    y = {call}", "    R.outputs(y)", "return y"
        assert codes(main(f"x: {kind})", *body)) == found


def test_ledger_94_a_packed_function_says_what_it_returns() -> None:
    text = main('x: R.Tensor[(2,), "float32"])', 'y = R.call_packed("f", x)', "return y")
    assert codes(text) == ["OWF10-one"]
    today = text.replace("@R.function", "@R.function(pure=False)")
    assert [d.code for d in check_today(today).diagnostics if d.is_error] == []


def test_ledger_97_a_match_compares_no_element_types() -> None:
    text = main("x: R.Tensor)", "y: R.Tensor[(m,), 'float32'] = R.match_shape(x, (m,))", "return y")
    assert codes(text) == ["OT-match-cast"]
    assert [d.code for d in check_today(text).diagnostics] == []
    cast = text.replace("    y:", "    x = R.cast(x, type_args=R.Tensor[_, 'float32'])\n    y:")
    assert codes(cast) == []
