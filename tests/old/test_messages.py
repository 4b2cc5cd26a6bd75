"""Each premise of 2022 with a program of its own that breaks it, and what is said then."""

from __future__ import annotations

import pytest

from rlx.old import check_text
from rlx.old.substitution import map_shape_vars
from rlx.solver.prover import Prover
from tests.old.procedures import ShapeReader

SIGNATURE = "x: R.Tensor[(4,), 'float32'], c: R.Tensor[(), 'bool'], o: R.Object"


def whole(*body: str, signature: str = SIGNATURE, result: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return f"@R.function\ndef main({signature}){result}:\n{lines}"


def block(*body: str) -> list[str]:
    return ["with R.dataflow():", *(f"    {line}" for line in body)]


CASES = [
    ("OWF01-escape", "'a' is a dataflow variable, and its block has ended", whole(*block("a = R.exp(x)", "b = R.exp(a)", "R.outputs(b)"), "return R.exp(a)")),
    ("OWF02-undefined", "'q' is not defined", whole("return q")),
    ("OWF02-global", "the module has no function 'gone'", "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor):\n        return cls.gone\n"),
    ("OWF03-before", "'z' is used before it is bound", whole("y = (z, x)", "z = x", "return y")),
    ("OWF03-scope", "the scope of 'a' has ended", whole("if c:", "    a = R.exp(x)", "    y = a", "else:", "    y = x", "return a")),
    ("OWF04-unbound", "the shape variable 'k' has no value here", whole("return x", result=" -> R.Tensor[(k,), 'float32']")),
    ("OWF05-unbound", "a dimension such as `k + 1` does not bind it", whole("y = R.match_shape(x, (k + 1,))", "return y")),
    ("OWF06-if", "a dataflow block contains an if", whole(*block("if c:", "    y = x", "else:", "    y = R.exp(x)", "R.outputs(y)"), "return y")),
    ("OWF06-recursion", "a dataflow block calls the function that it stands in", whole("@R.function(pure=True)", "def f(z: R.Tensor) -> R.Tensor:", *(f"    {s}" for s in block("w = f(z)", "R.outputs(w)")), "    return w", "return f(x)")),
    ("OWF06-mutual", "calls 'g', which can call 'main'", "@R.function(pure=True)\ndef g(x: R.Tensor) -> R.Tensor:\n    return main(x)\n" + whole(*block("y = g(x)", "R.outputs(y)"), "return y", signature="x: R.Tensor", result=" -> R.Tensor").replace("@R.function", "@R.function(pure=True)")),
    ("OWF07-annotation", "'f' is recursive, so its result must be annotated", whole("@R.function", "def f(z: R.Tensor):", "    return f(z)", "return x")),
    ("OWF10-one", "has one type argument, this one has 2", whole("return R.call_packed('same', x, type_args=[R.Tensor, R.Tensor])")),
    ("OWF11-rank", "the annotation has 1 dimensions, but its rank is 2", whole("return x", signature="x: R.Tuple(R.Tensor((n,), ndim=2))")),
    ("OWF12-captured", "a function uses the dataflow variable 'a' of the block around it", whole(*block("a = R.exp(x)", "@R.function", "def f(z: R.Tensor):", "    return R.add(z, a)", "b = f(x)", "R.outputs(b)"), "return b")),
    ("OWF13-entry", "no function of the module can be called from outside", "@I.ir_module\nclass M:\n    @R.function(private=True)\n    def f(x: R.Tensor):\n        return x\n"),
    ("OWF14-name", "the function 'main' has the global symbol 'start'", whole("R.func_attr({'global_symbol': 'start'})", "return x")),
    ("OMIX-annotation-word", "has no types of shapes with a given rank", whole("return x", signature="x: R.Tuple(R.Shape(ndim=2))")),
    ("OMIX-annotation-word", "has no shapes in the type of a function", whole("return f", signature="f: R.Callable((R.Tensor[(n,), 'float32'],), R.Tensor)")),
    ("OMIX-annotation-word", "has no tensors with elements of type handle", whole("return x", signature="x: R.Tensor[(4,), 'handle']")),
    ("OMIX-value-kind", "a string is not a value", whole("y = (x, R.str('a'))", "return y")),
    ("OMIX-value-kind", "a data type is not a value", whole("y = R.dtype('int8')", "return y")),
    ("OMIX-value-kind", "'k' is used in a dimension: in 2022 only shape variables can be", whole("return x", signature="k: R.Tensor[(3,), 'float32'], x: R.Tensor[(k,), 'float32']")),
    ("OMIX-operator-name", "the specification of 2022 has no `R.make_closure`", whole("@R.function", "def f(z: R.Tensor):", "    return z", "y = R.make_closure(f, (x,))", "return y")),
    ("OT-effect-dataflow", "a dataflow block contains a call that may have side effects", whole(*block("y = o2(x)", "R.outputs(y)"), "return y", signature="x: R.Tensor, o2: R.Callable((R.Tensor,), R.Tensor, False)")),
    ("OT-closure-callee", "only a function can be called, but this is Shape", whole("s = R.shape([4])", "return s(x)")),
    ("OT-closure-arity", "the function takes 2 arguments, found 1", whole("return f(f)", signature="f: R.Callable((R.Object, R.Object), R.Object, True)")),
    ("OT-closure-argument", "argument 2 is Object, expected Tensor", whole("return f(x, o)", signature=SIGNATURE + ", f: R.Callable((R.Object, R.Tensor), R.Object, True)")),
    ("OT-if-condition", "the condition of an if is Object", whole("if o:", "    y = x", "else:", "    y = x", "return y")),
    ("OT-field-tuple", "only a tuple has fields, but this is Object", whole("return o[0]")),
    ("OT-field-index", "the tuple has 1 fields; index 3 is out of range", whole("t = (x,)", "return t[3]")),
    ("OT-function-result", "the result is annotated Shape, but is Tensor", whole("return x", result=" -> R.Shape")),
    ("OT-function-cast", "the result is annotated Shape, but the value is only known to be Object", whole("return o", result=" -> R.Shape")),
    ("OT-function-pure", "the function is declared pure", whole("R.print(x)", "return x").replace("@R.function", "@R.function(pure=True)")),
    ("OT-bind-type", "'y' is annotated Shape, but the value is Tensor", whole("y: R.Shape = x", "return y")),
    ("OT-bind-cast", "the variable of the cast is annotated Shape, but the value is only known to be Object", whole("y: R.Shape = R.match_cast(o, R.Object)", "return y")),
    ("OT-match-kind", "only a tensor or a shape can be matched with a shape, but this is Tuple()", whole("y = R.match_shape(R.tuple(), (n,))", "return y")),
    ("OT-match-rank", "the pattern has 2 dimensions, but the value has rank 1", whole("R.match_shape(x, (n, m))", "return x")),
    ("OT-match-type", "the matched value is annotated Shape, but the value is Tensor", whole("y: R.Shape = R.match_shape(R.exp(x), (n,))", "return y")),
    ("OT-match-cast", "the matched value is annotated Tensor, but the value is only known to be Object", whole("y: R.Tensor = R.match_shape(o, (n,))", "return y")),
    ("OT-cast-never", "this cast to Shape always fails", whole("y = R.match_cast(x, R.Shape)", "return y")),
    ("OS-bind-proved", "the shape is annotated (4,), but is RuntimeDepShape()", whole("w: R.Tensor[(4,), 'float32'] = R.call_packed('same', x, type_args=R.Tensor(ndim=1, dtype='float32'))", "return w")),
    ("OS-call-shape", "expected the dimension 5, found 4", "@R.function\ndef five(x: R.Tensor[(5,), 'float32']):\n    return x\n" + whole("y = five(x)", "return y")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "words", "text"), CASES)
def test_a_program_that_breaks_it(code: str, words: str, text: str) -> None:
    found = [d for d in check_text(text).diagnostics if d.severity != "note"]
    assert [d.code for d in found] == [code], [str(d) for d in found]
    assert words in found[0].message
    assert found[0].span is not None
    assert (found[0].severity == "warning") == (code in ("OWF13-entry", "OT-cast-never"))


@pytest.mark.parametrize(
    ("param", "arg", "fits"),
    [
        ("(n, n)", "(3, 3)", True),
        ("(n, n)", "(a, b)", False),
        ("(n, n)", "(a, a + 0)", True),
        ("(n * 2, n)", "(4, 2)", False),
        ("RuntimeDepShape", "(n,)", False),
        ("(n,)", "RuntimeDepShape", False),
        ("Tuple((n,), (n,))", "Tuple((3,), (a,))", False),
        ("Call(x)", "Call(y)", True),
        ("Call(x)", "(n,)", False),
        ("(n,)", "TupleGetItem(Call(x), 0)", False),
        ("TupleGetItem(Call(x), 0)", "TupleGetItem(Call(x), 0)", True),
        ("TupleGetItem(Call(x), 0)", "TupleGetItem(Call(x), 1)", False),
    ],
)
def test_shapes_that_may_fit(param: str, arg: str, fits: bool) -> None:
    reader = ShapeReader()
    assert map_shape_vars(reader.shape(param), reader.shape(arg), {}, Prover()) is fits
