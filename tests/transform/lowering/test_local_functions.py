"""Lambda lifting: what becomes of local functions that are called, passed on, or call each other."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx import vm
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics import Fault
from rlx.transform import LambdaLift, dead_code, lambda_lifting

NESTED = """\
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    @R.function
    def f(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        return R.add(x, y)
    @R.function
    def g(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        @R.function
        def inner(z: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return f(R.multiply(z, y))
        return inner(f(y))
    return g(x)
"""
SIZES = """\
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    @R.function
    def twice(y: R.Tensor((n * 2,), "float32")) -> R.Tensor((n * 2,), "float32"):
        return R.add(y, y)
    @R.function
    def f(y: R.Tensor((n * 2,), "float32")) -> R.Tensor((n * 2,), "float32"):
        return twice(twice(y))
    return f(R.concat([x, x]))
"""
RECURSIVE = """\
@R.function
def main(x: R.Tensor((3,), "float32")):
    @R.function
    def grow(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        if R.greater(R.sum(y), R.const(40.0, "float32")):
            r = y
        else:
            r = grow(R.add(x, y))
        return r
    return grow(x)
"""
PASSED_ON = """\
@R.function
def main(x: R.Tensor((3,), "float32")):
    @R.function
    def called(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(x, y)
    @R.function
    def held(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return called(R.multiply(y, y))
    both = (held, held)
    return (held(x), called(x))
"""
SCALAR = """\
@R.function
def main(k: R.Prim(value="k"), x: R.Tensor(("n",), "float32")):
    k = T.int64()
    n = T.int64()
    @R.function
    def inner(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        z = R.zeros(R.shape([k]), "float32")
        return R.add(x, y)
    @R.function
    def f(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        return inner(inner(y))
    return f(x)
"""
GIVEN = np.arange(1, 4, dtype=np.float32)
PROGRAMS = {"nested": NESTED, "sizes": SIZES, "recursive": RECURSIVE, "passed on": PASSED_ON}


def values(program: rlx.IRModule) -> list[list[float]]:
    made = vm.VirtualMachine(vm.build(program), backend="steps")["main"](GIVEN)
    return [part.tolist() for part in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_lifted_program_is_legal_and_computes_the_same(name: str) -> None:
    (module,) = parse(PROGRAMS[name]).modules
    expected = values(module)
    for lift in (LambdaLift(), lambda_lifting):
        lifted = lift(module)
        assert lift(lifted) is lifted
        report = rlx.check(print_module(lifted))
        assert not report.errors, str(report)
        assert values(lifted) == expected


@pytest.mark.parametrize("name", ["nested", "sizes", "recursive"])
def test_what_is_only_called_makes_no_closure(name: str) -> None:
    (module,) = parse(PROGRAMS[name]).modules
    for lift in (LambdaLift(), lambda_lifting):
        text = print_module(lift(module))
        assert "closure" not in text
        assert text.count("    @R.function") == 0


def test_a_value_is_a_closure_and_calls_what_it_called() -> None:
    (module,) = parse(PASSED_ON).modules
    lifted = print_module(LambdaLift()(module))
    assert "held_closure = R.make_closure(main_held, (x,))" in lifted
    assert "held = R.match_cast(held_closure, R.Callable(" in lifted
    assert lifted.count("make_closure") == 1 and lifted.count("= main_called(") == 2
    kept = print_module(lambda_lifting(module))
    assert "closure" not in kept and kept.count("    @R.function") == 1
    assert kept.count("= called(") == 2


@pytest.mark.parametrize("uses", ["return f(x)", "g = (f, f)\n    return g[0](x)"])
def test_a_scalar_that_is_captured_may_still_be_negative(uses: str) -> None:
    """The tensor of `k` elements is not used, but where `k` is negative, it ends the run."""
    (module,) = parse(SCALAR.replace("return f(x)", uses)).modules
    for lift in (LambdaLift(), lambda_lifting):
        lifted = dead_code(lift(module))
        assert not rlx.check(print_module(lifted)).errors
        for program in (module, lifted):
            assert isinstance(rlx.run(program, inputs=[-1, GIVEN]), Fault)
            assert rlx.run(program, inputs=[2, GIVEN]).numpy().tolist() == [3, 6, 9]
            machine = vm.VirtualMachine(vm.build(program), backend="steps")
            assert machine["main"](2, GIVEN).tolist() == [3, 6, 9]


def test_a_captured_scalar_comes_before_the_tensor_whose_dimension_it_is() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((3,), "float32"), m: R.Prim("int64"), k: R.Prim("int64"), p: R.Tensor((2, "m * k"), "float32")):
    @R.function
    def inner(a: R.Tensor((3,), "float32")) -> R.Tuple(R.Tensor((3,), "float32"), R.Tensor(ndim=2, dtype="float32")):
        return (R.exp(a), p)
    return inner(x)
""")
    given = [np.zeros(3, "float32"), 2, 3, np.ones((2, 6), "float32")]
    for lift in (LambdaLift(), lambda_lifting):
        lifted = lift(module)
        assert rlx.check(lifted).ok
        one, other = rlx.run(lifted, inputs=given).numpy()
        assert one.tolist() == [1, 1, 1] and other.shape == (2, 6)
