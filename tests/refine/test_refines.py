"""`rlx.refines` and `rlx refines`: subjects, options, contracts, and programs that cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx.checker.check import IllFormedError
from rlx.checker.normalize import normalize
from rlx.commands.refines import main
from rlx.grammar.nodes import ast
from rlx.grammar.print.weights import print_with_weights
from rlx.refine.contracts import InterfaceError
from rlx.refine.runs import differing
from tests.refine.laws import proofs_alone

PROGRAM = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32")):
    a = R.add(x, y)
    return {result}
"""
BEFORE = PROGRAM.format(result="R.nn.relu(a)")
SAME = PROGRAM.format(result="R.nn.relu(R.permute_dims(R.permute_dims(a, [1, 0]), [1, 0]))")
OTHER = PROGRAM.format(result="R.subtract(x, y)")


def test_every_form_of_a_program(tmp_path: Path) -> None:
    """Paths, texts and modules."""
    path = tmp_path / "before.rlx"
    path.write_text(BEFORE)
    for subject in (path, str(path), BEFORE, rlx.parse(BEFORE)):
        found = rlx.refines(subject, SAME)
        assert found.proved and found.level == "bitwise" and not found.reason


UNLIKE = {
    "an infinity": ("R.minimum(x, R.const(3.4028234663852886e38, 'float32'))", "x", "float32"),
    "a float beyond float32": ("R.astype(R.astype(x, 'float32'), 'float64')", "x", "float64"),
    "the lowest integer": ("R.maximum(x, R.const(-127, 'int8'))", "x", "int8"),
    "not a number": ("R.where(R.equal(x, x), x, R.const(0, 'float32'))", "x", "float32"),
}
"""Results that differ at few inputs, and their element type."""


@pytest.mark.parametrize("case", UNLIKE)
def test_rare_numbers_are_tried(case: str) -> None:
    """Differences that whole numbers do not show: each counterexample is a run."""
    one, other, kind = UNLIKE[case]
    before, after = (
        f"@R.function\ndef main(x: R.Tensor((2,), '{kind}')):\n    y = {result}\n    return y\n"
        for result in (one, other)
    )
    assert rlx.refines(before, after).refuted


def test_a_counterexample_was_run() -> None:
    """The sizes, the inputs, and what both programs return, which NumPy confirms."""
    found = rlx.refines(BEFORE, OTHER)
    assert found.refuted
    example = found.counterexample
    assert example is not None
    x, y = example.inputs["x"], example.inputs["y"]
    assert x.shape == (example.sizes["n"], 4)
    assert (example.before == (x + y).clip(0)).all() and (example.after == x - y).all()


def test_an_answer_has_no_truth_value() -> None:
    """So that `if rlx.refines(…)` is not mistaken for a proof."""
    with pytest.raises(TypeError, match="no truth value"):
        bool(rlx.refines(BEFORE, BEFORE))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (BEFORE.replace("main", "other"), "AFTER has no function 'main'"),
        (BEFORE.replace(', y: R.Tensor((4,), "float32")', "").replace("y)", "x)"), "2 parameters"),
        (BEFORE.replace('"n", 4), "float32"), y', '3, 4), "float32"), y'), "the type of x"),
    ],
)
def test_another_interface(after: str, words: str) -> None:
    """Unlike things are not compared."""
    with pytest.raises(InterfaceError, match=words):
        rlx.refines(BEFORE, after)


def test_a_function_that_becomes_private() -> None:
    """Nobody can call it any more, so it does not do what it did."""
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        return x

    @R.function
    def other(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        return R.abs(x)
"""
    one, other = before.split("    @R.function\n    def other")
    after = f"{one}    @R.function(private=True)\n    def other{other}"
    with pytest.raises(InterfaceError, match="'other' is private in AFTER"):
        rlx.refines(before, after)
    assert rlx.refines(before, after, entry="main").proved


KERNEL = """
@T.prim_func
def copy(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
    for i in range(n):
        B[i] = A[i]
"""


def test_kernels_by_themselves() -> None:
    """Conditions are on sizes of their buffers; both have the same parameters."""
    guarded = KERNEL.replace("B[i] =", "if n >= 3:\n            B[i] =")
    assert rlx.refines(KERNEL, guarded).refuted
    assert rlx.refines(KERNEL, guarded, assume="n >= 3").proved
    assert rlx.refines(KERNEL, guarded, assume="n >= 2").refuted
    more = KERNEL.replace('"float32")):', '"float32"), C: T.Buffer((1,), "float32")):')
    more += "    C[0] = T.float32(0)\n"
    for pair in ((KERNEL, more), (more, KERNEL)):
        with pytest.raises(InterfaceError, match=r"\) in BEFORE and \("):
            rlx.refines(*pair)


def test_contracts() -> None:
    """Parameters by name, in a tuple, or for the sizes that AFTER takes."""
    by_name = BEFORE.replace(
        'x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32")',
        'y: R.Tensor((4,), "float32"), x: R.Tensor(("n", 4), "float32")',
    )
    with pytest.raises(InterfaceError, match="by-name"):
        rlx.refines(BEFORE, by_name)
    assert rlx.refines(BEFORE, by_name, contract="by-name").proved
    packed = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), params: R.Tuple(R.Tensor((4,), "float32"))):
    return R.nn.relu(R.add(x, params[0]))
"""
    assert rlx.refines(BEFORE, packed, contract="packed").proved
    alone = "\n@R.function\ndef start():\n    return R.zeros([4], 'float32')\n"
    assert rlx.refines(BEFORE + alone, packed + alone, contract="packed").proved
    fixed = BEFORE.replace('"n", 4), "float32"), y', '3, 4), "float32"), y')
    assert rlx.refines(BEFORE, fixed, contract="sizes").proved


def test_bound_parameters() -> None:
    """A constant of AFTER is the value of the parameter that it stands for, in the proof and in runs."""
    before = """
@R.function
def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor((2,), "float32")):
    return R.multiply(R.add(x, w), w)
"""
    constant = 'R.const([2.0, 3.0], "float32")'
    after = before.replace(', w: R.Tensor((2,), "float32")', "").replace("w)", f"{constant})")
    with pytest.raises(InterfaceError, match="bound"):
        rlx.refines(before, after)
    for contract in ("bound", "BindParams"):
        assert rlx.refines(before, after, contract=contract).proved
    found = rlx.refines(before, after.replace("R.add", "R.subtract"), contract="bound")
    assert found.counterexample is not None
    assert found.counterexample.inputs["w"].tolist() == [2, 3]
    several = after.replace(constant, 'R.const([2.0, 4.0], "float32")', 1)
    with pytest.raises(InterfaceError, match="several constants for w"):
        rlx.refines(before, several, contract="bound")
    for other in ('R.const(2.0, "float32")', 'R.const([2.0, 3.0, 4.0], "float32")'):
        broadcast = after.replace(constant, other)
        with pytest.raises(InterfaceError, match="the constant for w is of another type"):
            rlx.refines(
                before.replace('"n", 2', '"n", "m"'),
                broadcast.replace('"n", 2', '"n", "m"'),
                contract="bound",
            )


def test_modes_of_batch_norm() -> None:
    """A batch norm in the other mode is another one, but for a pass that chooses the mode."""
    before = """
@R.function
def main(x: R.Tensor(("n", 2), "float32"), s: R.Tensor((2,), "float32")):
    return R.nn.batch_norm(x, s, s, s, s, axis=1)[0]
"""
    after = before.replace("axis=1", "axis=1, training=False")
    for contract, one, other in (("inference", before, after), ("training", after, before)):
        assert rlx.refines(one, other).refuted
        assert rlx.refines(one, other, contract=contract).proved
    assert rlx.refines(before, after, contract="DecomposeOpsForInference").proved


LAZY = """
@R.function(pure=False)
def main():
    n = T.int64()
    a = R.call_packed("get_item", 0, sinfo_args=(R.Object,))
    x = R.match_cast(a, R.Tensor((n, 4), "float32"))
    b = R.call_packed("get_item", 1, sinfo_args=(R.Object,))
    y = R.match_cast(b, R.Tensor((4,), "float32"))
    z = R.nn.relu(R.add(x, y))
    done = R.call_packed("set_item", 0, z, sinfo_args=(R.Tuple,))
    return R.tuple()
"""


def test_inputs_that_a_function_gives() -> None:
    """Parameters and results go through functions, by number; the name of the pass says so, too."""
    with pytest.raises(InterfaceError, match="lazy"):
        rlx.refines(BEFORE, LAZY)
    for contract in ("lazy", "LazyTransformParams"):
        assert rlx.refines(BEFORE, LAZY, contract=contract).proved
    wrong = BEFORE.replace("R.add(x, y)", "R.add(x, x)").replace(
        "y: R.Tensor((4,)", 'y: R.Tensor(("n", 4)'
    )
    after = LAZY.replace("R.Tensor((4,)", "R.Tensor((n, 4)")
    assert rlx.refines(wrong, after, contract="lazy").refuted


def test_assumptions() -> None:
    """A rewrite that holds for some sizes."""
    before = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    return R.reshape(x, R.shape([n // 4 * 4]))
"""
    before = before.replace(
        "reshape(x, R.shape([n // 4 * 4]))", "strided_slice(x, axes=[0], begin=[0], end=[4])"
    )
    after = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    return x
"""
    assert rlx.refines(before, after).refuted
    assert rlx.refines(before, after, assume="n == 4").proved


PLACES = """
@R.function
def main(x: R.Tensor((2, 4), "int64")):
    ones = R.full(R.shape([2, 4]), R.const({number}, "float32"), dtype="float32")
    places = R.astype(R.subtract(R.cumsum(ones, axis=1), R.const(1.0, "float32")), "int64")
    return R.add(x, places)
"""
PLACED = """
@R.function
def main(x: R.Tensor((2, 4), "int64")):
    return R.add(x, R.const([{row}, {row}], "int64"))
"""


def test_floats_that_count() -> None:
    """A sum of whole numbers that a float holds is exact in any order; another one depends on it."""
    counted, places = PLACES.format(number=1.0), PLACED.format(row=[0, 1, 2, 3])
    assert rlx.refines(counted, places).proved
    assert rlx.refines(counted, PLACED.format(row=[0, 1, 2, 4])).refuted
    large = [8388607 + 8388608 * k for k in range(4)]
    assert rlx.refines(PLACES.format(number=8388608.0), PLACED.format(row=large)).unknown


SCALED = """
@I.ir_module
class M:
    @T.prim_func
    def k(x: T.Buffer((T.int64(8),), "float32"), y: T.Buffer((T.int64(11),), "float32")):
        for i in range(T.int64(11)):
            y[i] = x[T.max(T.min(T.Cast("int64", T.floor(T.float32({scale}) * T.Cast("float32", i))), T.int64({last})), T.int64(0))]

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        y = R.call_tir(cls.k, (x,), out_sinfo=R.Tensor((11,), "float32"))
        return y
"""


def test_places_that_rounding_decides() -> None:
    """0.7 is a little less as a float: ten times it is below 7, but is rounded to 7."""
    scale = 0.69999998807907104
    one, other = (SCALED.format(scale=scale, last=last) for last in (7, 6))
    assert not rlx.refines(one, other, floats="real").proved
    same, more = (SCALED.format(scale=0.625, last=last) for last in (6, 7))
    assert rlx.refines(same, more, floats="real").proved


PROMISED = """
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    {attributes}
    y = R.nn.relu({operand})
    return R.reshape(y, R.shape([n, 4]))
"""
LIMITS = 'R.func_attr({"tir_var_lower_bound": {"n": 2}, "tir_var_upper_bound": {"n": 8}})'
SLICED = "R.strided_slice(x, axes=[0], begin=[0], end=[8])"


def test_limits_that_a_program_promises() -> None:
    """A pass may rely on limits that BEFORE promises of its sizes, not on those of AFTER."""
    promised = PROMISED.format(attributes=LIMITS, operand="x")
    free = PROMISED.format(attributes="", operand="x")
    after = PROMISED.format(attributes=LIMITS, operand=SLICED)
    found = rlx.refines(promised, after)
    assert found.proved and "for all sizes with 2 <= n and n <= 8, bit for bit" in str(found)
    example = rlx.refines(free, after, faults="kept").counterexample
    assert example is not None and example.sizes["n"] > 8
    assert rlx.refines(free, promised).promised == ()
    first = PROMISED.format(attributes=LIMITS, operand="R.multiply(x, R.const(2, 'float32'))")
    example = rlx.refines(promised, first).counterexample
    assert example is not None and 2 <= example.sizes["n"] <= 8


def test_an_assumption_about_no_size() -> None:
    """A misspelt size is an error, not an assumption that says nothing."""
    with pytest.raises(ValueError, match="BEFORE has no size 'm'; it has: n"):
        rlx.refines(BEFORE, SAME, assume="m >= 2")


def test_assumptions_that_no_size_satisfies() -> None:
    """They would prove everything."""
    with pytest.raises(ValueError, match="no sizes satisfy the assumptions"):
        rlx.refines(BEFORE, OTHER, assume=["n >= 2", "n <= 1"])


@pytest.mark.parametrize("options", [{"floats": "exact"}, {"faults": "maybe"}, {"contract": "x"}])
def test_wrong_options(options: dict[str, str]) -> None:
    """The message lists what is possible."""
    with pytest.raises(ValueError, match="expected"):
        rlx.refines(BEFORE, SAME, **options)
    with pytest.raises(TypeError, match="assume: expected conditions"):
        rlx.refines(BEFORE, SAME, assume=[3])  # type: ignore[list-item]


def test_bits_that_depend_on_an_order() -> None:
    """The answer names the question that does not ask for them."""
    sums = PROGRAM.format(result="R.sum(R.sum(a, axis=[0]))"), PROGRAM.format(result="R.sum(a)")
    found = rlx.refines(*sums)
    assert found.unknown and 'floats="real"' in found.reason
    assert rlx.refines(*sums, floats="real").level == "real"


def test_long_runs_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a kernel with many iterations, not all inputs are tried, and the answer says so."""
    monkeypatch.setattr("rlx.refine.runs.WORK", 1_000)
    before = """
@R.function
def main(x: R.Tensor((200,), "float32")):
    return R.asinh(R.sinh(x))
"""
    after = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def copy(x: T.Buffer((200,), "float32"), y: T.Buffer((200,), "float32")):
        for i in range(200):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor((200,), "float32")):
        return R.call_tir(Module.copy, (x,), out_sinfo=R.Tensor((200,), "float32"))
"""
    found = rlx.refines(before, after, floats="real")
    assert found.unknown and "the runs were ended at the limit of work" in found.reason


def test_a_program_with_errors() -> None:
    """Its diagnostics are in the error."""
    with pytest.raises(IllFormedError):
        rlx.refines(BEFORE, BEFORE.replace("R.add(x, y)", "R.add(x, z)"))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status, and the record for other programs."""
    paths = [tmp_path / name for name in ("before.rlx", "same.rlx", "other.rlx", "wrong.rlx")]
    texts = (BEFORE, SAME, OTHER, BEFORE.replace("R.add(x, y)", "R.add(x, z)"))
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    before, same, other, wrong = map(str, paths)
    assert main([before, same]) == 0
    assert "proved" in capsys.readouterr().out
    assert main([before, other, "--format", "json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["status"] == "refuted" and record["counterexample"]["before"] != []
    assert main([before, wrong]) == 2
    assert main([before, str(tmp_path / "none.rlx")]) == 2
    assert "none.rlx" in capsys.readouterr().err


def test_an_unknown_answer_names_where_it_stops() -> None:
    """A check of AFTER that depends on a sum that is not proved to be that of BEFORE."""
    before = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        double = R.add(x, x)
        cast = R.match_cast(R.call_pure_packed("f", double, sinfo_args=R.Object), R.Tensor((2,), "float32"))
        return cast
"""
    after = before.replace("R.add(x, x)", "R.sinh(x)")
    found = rlx.refines(before, after)
    assert (
        found.unknown and "`double` of AFTER is not proved to be `double` of BEFORE" in found.reason
    )


def test_results_that_share_their_parts() -> None:
    """Each tuple holds the one before twice: written out, the result has 2**60 elements."""
    lines = [f"    v{k} = (v{k - 1}, v{k - 1})" for k in range(1, 60)]
    before, after = (
        "\n".join(
            [
                "@R.function",
                'def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):',
                f"    v0 = R.add({args})",
                *lines,
                "    return v59",
            ]
        )
        for args in ("x, y", "y, x")
    )
    assert rlx.refines(before, after).proved


ONE_SIZE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def relu(h: T.handle, y: T.handle):
        n = T.int64()
        H = T.match_buffer(h, (n, 4), "float32")
        Y = T.match_buffer(y, (n, 4), "float32")
        for i, j in T.grid(n, 4):
            Y[i, j] = T.if_then_else({condition}, T.float32(0), T.max(H[i, j], T.float32(0)))

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32")):
        n = T.int64()
        a = R.add(x, y)
        return R.call_tir(Module.relu, (a,), out_sinfo=R.Tensor((n, 4), "float32"))
"""


def test_a_size_that_a_kernel_alone_names_is_run() -> None:
    """The kernel is wrong for seven rows; no other size shows it."""
    right = ONE_SIZE.format(condition="n == 0 and i == 6")
    assert rlx.refines(BEFORE, right, floats="real").proved
    found = rlx.refines(BEFORE, ONE_SIZE.format(condition="n == 7 and i == 6"), floats="real")
    assert found.refuted and found.counterexample is not None
    assert found.counterexample.sizes == {"n": 7}


REDUCED = """
@R.function
def main(x: R.Tensor(("n", "m", "k"), "float32")):
    return {result}
"""


def test_an_extremum_of_extrema_fails_for_the_same_sizes() -> None:
    """Each fails without elements, unless its result has none: `m` and `k` of AFTER are not 0, or `n` is."""
    nested = REDUCED.format(result="R.max(R.max(x, axis=2), axis=1)")
    assert rlx.refines(nested, REDUCED.format(result="R.max(x, axis=[1, 2])"), floats="real").proved
    one = REDUCED.format(result="R.sum(R.max(x, axis=2), axis=1)")
    assert rlx.refines(one, REDUCED.format(result="R.max(x, axis=[1, 2])")).refuted


def test_what_is_never_defined_may_become_anything() -> None:
    """NumPy and the rules do not subtract Booleans, so BEFORE returns for no arguments."""
    before = '@R.function\ndef main(x: R.Tensor(("n",), "bool")):\n    return R.subtract(x, x)\n'
    after = before.replace("R.subtract(x, x)", "R.logical_not(x)")
    assert rlx.refines(before, after).proved
    assert not rlx.refines(after, before).proved
    assert not rlx.refines(before, after, faults="kept").proved


BLOCKS = """
@R.function
def main(q: R.Tensor(("s", 8), "float32"), k: R.Tensor((6, 8), "float32"), v: R.Tensor((6, 8), "float32")):
    a = R.matmul(q, R.permute_dims(R.strided_slice(k, axes=[0], begin=[0], end=[3])))
    e = R.matmul(q, R.permute_dims(R.strided_slice(k, axes=[0], begin=[3], end=[6])))
    m = R.max(a, axis=-1, keepdims=True)
    l = R.maximum(m, R.max(e, axis=-1, keepdims=True))
    again = R.exp(R.subtract(m, l))
    p = R.exp(R.subtract(a, m))
    r = R.exp(R.subtract(e, l))
    o = R.multiply(R.matmul(p, R.strided_slice(v, axes=[0], begin=[0], end=[3])), {again})
    w = R.add(o, R.matmul(r, R.strided_slice(v, axes=[0], begin=[3], end=[6])))
    z = R.add(R.multiply(R.sum(p, axis=-1, keepdims=True), again), R.sum(r, axis=-1, keepdims=True))
    return R.divide(w, z)
"""
WHOLE = """
@R.function
def main(q: R.Tensor(("s", 8), "float32"), k: R.Tensor((6, 8), "float32"), v: R.Tensor((6, 8), "float32")):
    return R.matmul(R.nn.softmax(R.matmul(q, R.permute_dims(k)), axis=-1), v)
"""


def test_attention_by_blocks() -> None:
    """With the maximum of the blocks so far, as flash attention; one factor is forgotten."""
    assert rlx.refines(WHOLE, BLOCKS.format(again="again"), floats="real").level == "real"
    forgotten = BLOCKS.format(again="R.exp(R.subtract(m, m))")
    assert rlx.refines(WHOLE, forgotten, floats="real").refuted


def test_packed_functions_are_called_by_name() -> None:
    """The difference is in the terms that are not joined."""
    packed = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    y = R.call_packed("my.first", x, sinfo_args=R.Tensor((n,), "float32"))
    return y
"""
    found = rlx.refines(packed, packed.replace("my.first", "my.other"))
    assert found.unknown and found.unjoined is not None
    ours, theirs = found.unjoined
    assert "my.first" in ours and "my.other" in theirs


def test_a_float_that_is_not_above_a_number_may_be_none() -> None:
    """Bit for bit, also where whole numbers are added up: NaN is neither above nor below."""
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def count(X: T.Buffer(("n",), "float32"), Y: T.Buffer(("n",), "int32"), Z: T.Buffer(("n",), "int32")):
        for i in range(n):
            Z[i] = T.Cast("int32", X[i] > T.float32(1)) + Y[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "int32")):
        n = T.int64()
        return R.call_tir(Module.count, (x, y), out_sinfo=R.Tensor((n,), "int32"))
"""
    other = text.replace("X[i] > T.float32(1)", "not X[i] <= T.float32(1)")
    assert rlx.refines(text, other).refuted
    with proofs_alone():
        assert not rlx.refines(text, other).proved
    turned = text.replace("X[i] > T.float32(1)", "T.float32(1) < X[i]")
    assert rlx.refines(text, turned).level == "bitwise"


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extremum_with_exchanged_operands_is_another_one(name: str) -> None:
    """The second operand is the result for NaN and a number, and for 0 and -0."""
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def largest(X: T.Buffer(("n",), "float32"), Y: T.Buffer((), "float32")):
        Y[()] = T.float32(0)
        for k in range(n):
            Y[()] = T.max(Y[()], X[k])

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        return R.call_tir(Module.largest, (x,), out_sinfo=R.Tensor((), "float32"))
""".replace("max", name)
    other = text.replace("Y[()], X[k]", "X[k], Y[()]")
    assert rlx.refines(text, other).refuted
    with proofs_alone():
        assert not rlx.refines(text, other).proved
    assert rlx.refines(text, other, floats="real").level == "real"
    integers = text.replace("T.float32(0)", "0").replace("float32", "int32")
    assert rlx.refines(integers, integers.replace("Y[()], X[k]", "X[k], Y[()]")).proved


RECURSIVE = """
@I.ir_module
class M:
    @R.function(private=True)
    def loop(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((), "float32"):
        n = T.int64()
        if c:
            length = LENGTH
            rest = R.strided_slice(x, axes=[0], begin=[1], end=[n])
            more = R.greater(R.sum(rest), R.const(0.0, "float32"))
            below: R.Tensor((), "float32") = M.loop(rest, more)
            total = R.add(length, below)
        else:
            total = R.const(0.0, "float32")
        return total
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((), "float32"):
        result: R.Tensor((), "float32") = M.loop(x, c)
        return result
"""
COUNTED = RECURSIVE.replace("LENGTH", 'R.sum(R.ones((n,), "float32"))')


@pytest.mark.parametrize("entry", ["main", "loop"])
def test_what_is_assumed_of_an_entry_does_not_hold_where_a_function_calls_itself(
    entry: str,
) -> None:
    before = COUNTED.replace("(private=True)", "" if entry == "loop" else "(private=True)")
    three = before.replace('R.sum(R.ones((n,), "float32"))', 'R.const(3.0, "float32")')
    found = rlx.refines(before, three, entry=entry, floats="real", assume=["n == 3"])
    assert found.refuted
    assert found.counterexample is not None
    assert found.counterexample.sizes == {"n": 3}
    with proofs_alone():
        again = rlx.refines(before, three, entry=entry, floats="real", assume=["n == 3"])
    assert not again.proved


def test_a_recursive_function_that_is_private_is_not_refuted_by_what_is_never_passed() -> None:
    """Only the length of what ``main`` passes counts, and no rest of it is longer."""
    before = COUNTED.replace(
        "x, c)\n        return result", "R.zeros((0,), 'float32'), c)\n        return result"
    )
    after = before.replace("R.sum(R.ones((n,)", "R.sum(R.zeros((n,)")
    found = rlx.refines(before, after, entry="main")
    assert found.unknown, found


def test_a_fault_that_vanishes_is_shown_by_a_run_where_faults_are_kept() -> None:
    before = """
@R.function
def main(x: R.Tensor(("n",), "int32"), y: R.Tensor(("n",), "int32")):
    return R.floor_divide(x, y)
"""
    after = before.replace(
        "return R.floor_divide(x, y)",
        'return R.floor_divide(x, R.where(R.equal(y, R.const(0, "int32")), R.const(1, "int32"), y))',
    )
    found = rlx.refines(before, after, faults="kept")
    assert found.refuted
    assert found.counterexample is not None
    assert "E-divide-zero" in found.counterexample.before
    assert not rlx.refines(before, after).refuted


def test_equal_texts_that_omit_the_data_of_a_constant_may_be_different_programs() -> None:
    text = """
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.add(x, metadata["relax.expr.Constant"][0])
    return y
"""
    found = rlx.refines(text, text)
    assert found.unknown
    assert found.reason == "BEFORE: the text omits the data of a constant"


def test_rounding_in_memory_whose_type_is_not_written_shows_nothing() -> None:
    """Products in two orders are equal as exact numbers."""
    head = "@I.ir_module\nclass Module:\n"
    before = f"""{head}
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        once = R.multiply(R.multiply(x, R.const(3, "float32")), R.const(4099, "float32"))
        twice = R.multiply(once, R.const(4099, "float32"))
        return R.subtract(twice, twice)
"""
    after = f"""{head}
    @T.prim_func(private=True, s_tir=True)
    def products(given: T.handle, made: T.handle):
        n = T.int64()
        x = T.match_buffer(given, (n,), "float32")
        y = T.match_buffer(made, (n,), "float32")
        held = T.sblock_alloc_buffer((n,))
        for i in range(n):
            with T.sblock("held"):
                v = T.axis.spatial(n, i)
                held[v] = x[v] * T.float32(4099) * T.float32(4099)
        for i in range(n):
            with T.sblock("y"):
                v = T.axis.spatial(n, i)
                y[v] = held[v] * T.float32(3) - x[v] * T.float32(3) * T.float32(4099) * T.float32(4099)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.call_tir(Module.products, (x,), out_ty=R.Tensor((n,), "float32"))
"""
    one, other = (normalize(rlx.parse(text)) for text in (before, after))
    assert differing(one, other, "main").example is not None
    assert differing(one, other, "main", real=True).example is None


def test_a_module_keeps_the_data_of_its_constants() -> None:
    """As it was read, or as a pass made it; data of another number is another program."""
    text = """
@R.function
def main(x: R.Tensor(("n", 50), "float32"), w: R.Tensor((50, 50), "float32")):
    return R.matmul(x, w)
"""
    weights = np.arange(2500, dtype="float32").reshape(50, 50)
    one, other = (
        bound(rlx.parse(text), {"w": each}) for each in (weights, weights + (weights == 7))
    )
    read = rlx.parse(print_with_weights(one))
    assert rlx.refines(one, read).proved and rlx.refines(read, read).proved
    found = rlx.refines(read, other)
    assert found.refuted and found.counterexample is not None
    assert rlx.run(read, inputs=[np.eye(50, dtype="float32")]).numpy().tolist() == weights.tolist()


def test_rounding_of_large_constants_shows_nothing() -> None:
    """A factor that is more than there is of it in the sum of both."""
    text = """
@R.function
def main(x: R.Tensor(("n", 50), "float32"), v: R.Tensor((50, 50), "float32"), w: R.Tensor((50, 50), "float32")):
    return {}
"""
    random = np.random.default_rng(0)
    large = random.standard_normal((50, 50)).astype("float32") * 10000
    near = random.standard_normal((50, 50)).astype("float32") - large
    bodies = ("R.add(R.matmul(x, v), R.matmul(x, w))", "R.matmul(x, R.add(v, w))")
    one, other = (
        normalize(bound(rlx.parse(text.format(body)), {"v": large, "w": near})) for body in bodies
    )
    assert differing(one, other, "main", real=True).example is None


def test_a_tie_that_rounding_decides_shows_nothing() -> None:
    """Half a step of a quantisation, which takes no wide floats."""
    text = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
    tenth = R.const(0.1, "float32")
    z = {}
    return R.quantize(z, R.const(0.2, "float32"), R.const(0, "int8"), axis=0)
"""
    sums = (
        "R.multiply(R.add(x, y), tenth)",
        "R.add(R.multiply(x, tenth), R.multiply(y, tenth))",
        "R.add(R.multiply(x, tenth), R.multiply(y, R.const(0.3, 'float32')))",
    )
    one, other, wrong = (normalize(rlx.parse(text.format(each))) for each in sums)
    assert differing(one, other, "main").example is not None
    assert differing(one, other, "main", real=True).example is None
    assert differing(one, wrong, "main", real=True).example is not None


def bound(module: ast.IRModule, values: dict[str | ast.Var, object]) -> ast.IRModule:
    """A program whose parameters have values."""
    [(var, function)] = module.relax_functions.items()
    return ast.IRModule({var: function.bind_params(values)})


def test_what_sums_in_another_order_round_shows_nothing_also_bit_for_bit() -> None:
    """The order of `R.sum` is free; that of additions is not."""
    text = """
@R.function
def main(x: R.Tensor((3,), "float32")):
    a = R.add(R.multiply(x, R.const(0, "float32")), R.const([123456789.0, 0.5, -123456789.0], "float32"))
    return {}
"""
    first, second, third = (
        f"R.strided_slice(a, axes=[0], begin=[{k}], end=[{k + 1}])" for k in range(3)
    )
    pairs = {
        "sums": ("R.sum(a)", f"R.sum(R.concat(({first}, {third}, {second}), axis=0))"),
        "additions": (
            f"R.add(R.add({first}, {second}), {third})",
            f"R.add(R.add({first}, {third}), {second})",
        ),
    }
    shown = {}
    for name, pair in pairs.items():
        one, other = (normalize(rlx.parse(text.format(each))) for each in pair)
        shown[name] = differing(one, other, "main").example is not None
    assert shown == {"sums": False, "additions": True}


def test_numbers_and_buffers_of_a_kernel_stay_in_their_places() -> None:
    """A caller hands over what the signature says, whatever the body does with it."""
    text = "@T.prim_func\ndef f({}):\n    for i in range(4):\n        A[i] = A[i] * s\n"
    params = ["s: T.float32", 'A: T.Buffer((4,), "float32")']
    one, other = (text.format(", ".join(each)) for each in (params, params[::-1]))
    with pytest.raises(
        InterfaceError, match=r"\(float32, buffer\) in BEFORE and \(buffer, float32\) in AFTER"
    ):
        rlx.refines(one, other)
    assert rlx.refines(other, other.replace("A[i] * s", "s * A[i]")).proved
