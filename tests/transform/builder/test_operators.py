"""``rlx.op``: a function for each operator, with the signature of its declaration."""

from __future__ import annotations

import inspect
import random
from ast import ClassDef, FunctionDef, parse, stmt
from typing import Any

import pytest

import rlx
from rlx.generate.programs import random_module
from rlx.generate.programs.plan import Options
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.operators.argument_kinds import KINDS
from rlx.operators.operator_call import OperatorCall
from rlx.operators.registry import every_name
from rlx.transform import structural_equal
from rlx.transform.builder import stub
from rlx.transform.builder.given import WORDS
from rlx.transform.builder.operators import member

F = 'R.Tensor(("n", 4), "float32")'
op: Any = rlx.op


def stubs() -> dict[str, list[str]]:
    """The parameters of the functions that type checkers see, by the operators' names."""
    found = {}

    def read(body: list[stmt], path: str) -> None:
        for node in body:
            if isinstance(node, ClassDef):
                read(node.body, f"{node.name.removeprefix('_').lower()}.")
            elif isinstance(node, FunctionDef):
                args = node.args
                taken = [*args.args, args.vararg, *args.kwonlyargs, args.kwarg]
                found[path + node.name] = [each.arg for each in taken if each is not None]

    read(parse(stub.text()).body, "")
    return found


def test_type_checkers_see_each_operator_with_its_parameters() -> None:
    found = stubs()
    assert {*found} == {*every_name(), "call_packed", "linear", "shape"}  # which are no operators
    for name, parameters in found.items():
        function: Any = rlx.op
        for part in name.split("."):
            function = getattr(function, part)
        assert parameters == list(inspect.signature(function).parameters), name


def test_each_kind_of_parameter_has_a_type() -> None:
    assert WORDS.keys() == KINDS.keys()


def test_each_operator_has_a_function() -> None:
    for name in every_name():
        function: Any = rlx.op
        for part in name.split("."):
            function = getattr(function, part)
        assert inspect.signature(function).return_annotation == "Call"
        assert function.__doc__, name
    assert "add" in dir(rlx.op) and "relu" in dir(rlx.op.nn)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda c, x, i: op.where(c, x, 2), 'R.where(c, x, R.const(2.0, "float16"))'),
        (lambda c, x, i: op.where(c, -1, i), 'R.where(c, R.const(-1, "int64"), i)'),
        (lambda c, x, i: op.full_like(x, 1), 'R.full_like(x, R.const(1.0, "float16"))'),
        (lambda c, x, i: op.full_like(i, 1), 'R.full_like(i, R.const(1, "int64"))'),
        (lambda c, x, i: 2 * x, 'R.multiply(R.const(2.0, "float16"), x)'),
        (lambda c, x, i: i - 2, 'R.subtract(i, R.const(2, "int64"))'),
    ],
)
def test_a_number_has_the_element_type_of_the_tensor_that_it_stands_for(
    make: Any, wanted: str
) -> None:
    """Not that of the tensor which chooses."""
    params = [
        rlx.Var(name, f'R.Tensor((3,), "{kind}")')
        for name, kind in (("c", "bool"), ("x", "float16"), ("i", "int64"))
    ]
    bb = rlx.BlockBuilder()
    with bb.function("main", params):
        bb.emit_func_output(bb.emit(make(*params)))
    assert wanted in str(bb.get())


def test_texts_and_calls_are_the_same() -> None:
    x = rlx.Var("x", F)
    n = rlx.dim("n")
    assert [
        str(made)
        for made in (
            rlx.op.reshape(x, (n * 2, 2)),
            rlx.op.concat([x, x], axis=1),
            rlx.op.astype(x, "float16"),
            rlx.op.clip(x, 0, 1),
            rlx.op.sum(x, axis=[0], keepdims=True),
            rlx.op.split(x, 2, axis=1),
            rlx.op.full((n,), rlx.const(1.0), dtype="float32"),
            rlx.op.call_pure_packed("f", x, sinfo_args=F),
            rlx.op.shape([n, 4]),
            rlx.op.assert_op(x, [x, x], format="{}"),
        )
    ] == [
        "R.reshape(x, R.shape([n * 2, 2]))",
        "R.concat((x, x), axis=1)",
        'R.astype(x, dtype="float16")',
        "R.clip(x, 0, 1)",
        "R.sum(x, axis=[0], keepdims=True)",
        "R.split(x, indices_or_sections=2, axis=1)",
        'R.full(R.shape([n]), R.const(1.0, "float32"), dtype="float32")',
        'R.call_pure_packed("f", x, ty_args=(R.Tensor((n, 4), dtype="float32"),))',
        "R.shape([n, 4])",
        'R.assert_op(x, [x, x], format=R.str("{}"))',
    ]


def test_mistakes_are_named() -> None:
    x = rlx.Var("x", F)
    with pytest.raises(AttributeError, match=r"did you mean rlx\.op\.matmul"):
        member("", "matmull")
    with pytest.raises(AttributeError, match=r"R\.const is not an operator: write rlx\.const"):
        member("", "const")
    with pytest.raises(TypeError, match="expected dimensions in a list, found int 3"):
        rlx.op.shape(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="x2"):
        rlx.op.add(x)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="reshape: shape: expected a scalar"):
        rlx.op.reshape(x, ("n", 4))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes an integer"):
        x[1.5]  # type: ignore[index]
    with pytest.raises(TypeError, match="only a tuple has fields"):
        _a, _b = x


def test_numbers_beside_tensors_get_their_type() -> None:
    bb = rlx.BlockBuilder()
    x, k = rlx.Var("x", 'R.Tensor((4,), "float16")'), rlx.Var("k", 'R.Tensor((4,), "int8")')
    with bb.function("main", [x, k]):
        made = [bb.lookup_binding(bb.emit(value)) for value in (x + 1, 2 - x, x * 0.5, k % 3)]
        assert [str(value) for value in made] == [
            'R.add(x, R.const(1.0, "float16"))',
            'R.subtract(R.const(2.0, "float16"), x)',
            'R.multiply(x, R.const(0.5, "float16"))',
            'R.mod(k, R.const(3, "int8"))',
        ]
        with pytest.raises(rlx.BuildError, match="OBL-agree-dtype"):
            bb.emit(k + 0.5)
        compared = bb.emit(x < 1)
        assert isinstance(info := bb.struct_info(compared), ast.TensorStructInfo)
        assert str(info.dtype) == "bool"
        both = bb.emit((x, k))
        assert isinstance(bb.lookup_binding(bb.emit(both[0])), ast.TupleGetItem)
        with pytest.raises(rlx.BuildError, match="D12-index"):
            bb.emit(both[2])
        bb.emit_func_output(both)
    assert rlx.check(bb.get()).ok


def test_operators_of_ones_own() -> None:
    """Declared once, they are known to build, check, run and generate."""
    from rlx.operators.registry import declared, forget

    def compute(x: Any, times: int) -> Any:
        return x * times

    @rlx.operator("mine.scaled", calls="f(a, b), 3", compute=compute)
    def scaled(site: OperatorCall, x: TensorStructInfo, times: int = 2) -> StructInfo:
        """A matrix of floats, some times."""
        if x.ndim != 2:
            site.fail("OBL-rank-operand", "expected a matrix", 0)
        return x

    own: Any = rlx.op
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor((3,), "float32")')
    try:
        bb = rlx.BlockBuilder()
        with bb.function("main", [x, y]):
            with pytest.raises(rlx.BuildError, match=r"mine\.scaled: expected a matrix"):
                bb.emit(own.mine.scaled(y))
            bb.emit_func_output(own.mine.scaled(x, times=3))
        module = bb.get()
        assert "R.mine.scaled(x, times=3)" in rlx.show(module)
        assert rlx.check(module).ok
        outcome = rlx.run(module, inputs={"x": [[1.0, 2.0, 3.0, 4.0]], "y": [0.0, 0.0, 0.0]})
        assert outcome.numpy().tolist() == [[3.0, 6.0, 9.0, 12.0]]
        options = Options(operators=("mine.scaled",), features=frozenset())
        texts = [rlx.show(random_module(random.Random(seed), options)) for seed in range(20)]
        assert any("R.mine.scaled(" in text for text in texts)
    finally:
        del declared["relax.mine.scaled"]
        forget("relax.mine.scaled")
        vars(rlx.op).pop("mine", None)
    with pytest.raises(AttributeError):
        member("", "mine")


@pytest.mark.parametrize(
    ("words", "bias", "kind"),
    [("w", None, None), ("w, b", "b", None), ('w, b, out_dtype="float64"', "b", "float64")],
)
def test_linear_is_that_of_texts(words: str, bias: str | None, kind: str | None) -> None:
    kinds = {"x": 'R.Tensor(("n", 3), "float32")', "w": 'R.Tensor((4, 3), "float32")'}
    kinds["b"] = f'R.Tensor((4,), "{kind or "float32"}")'
    bb, given = rlx.BlockBuilder(), {name: rlx.Var(name, info) for name, info in kinds.items()}
    with bb.function("main", [*given.values()]):
        y = bb.emit(rlx.op.linear(given["x"], given["w"], given.get(bias or ""), kind))
        bb.emit_func_output(y)
    head = ", ".join(f"{name}: {info}" for name, info in kinds.items())
    text = f"@R.function\ndef main({head}):\n    return R.linear(x, {words})\n"
    assert structural_equal(bb.get(), rlx.check(rlx.parse(text)).modules[0])


def test_words_of_tvm_that_are_others_here() -> None:
    module = rlx.parse("@R.function\ndef f(x: R.Object):\n    return x\n")
    for owner, name, advice in (
        (rlx.op, "masked_fill", "write rlx.op.where(mask, value, x)"),
        (rlx.op.nn, "relu6", "write rlx.op.clip(x, 0, 6)"),
        (rlx.transform, "pass_instrument", "a class with run_before_pass"),
        (rlx.transform, "ToMixedPrecision", "TVM's relax.transform.ToMixedPrecision"),
        (module, "functions_items", "write module.functions.items()"),
        (module["f"], "struct_info", "read function.params"),
    ):
        with pytest.raises(AttributeError) as error:
            getattr(owner, name)
        assert advice in str(error.value)
