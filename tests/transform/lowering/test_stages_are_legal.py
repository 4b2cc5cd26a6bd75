"""LAW: what each stage of lowering makes of a legal program is legal, also when it is printed and read, and ends as before.

``python -m tests.transform.lowering.test_stages_are_legal COUNT SEED`` tries as many generated programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rlx import run, vm
from rlx.checker import check_text
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.nodes import ast
from rlx.grammar.read.parser import parse
from rlx.transform import legalize
from rlx.transform.lowering.local_functions import LambdaLift
from rlx.transform.lowering.passes import PassError
from rlx.transform.lowering.structure import RemovePurityChecking
from rlx.vm.compilation import STAGES
from tests.long_run import long_run

CAPTURED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        few = {given}
        pair = (few, y)

        @R.function
        def scaled(z: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            count = R.shape_of({inside})
            return R.add(z, y)

        return scaled(x)
"""
GIVEN = [
    "R.unique(x)",
    "R.nonzero(x)",
    "R.add(x, y)",
    "R.strided_slice(x, [0], [0], [2])",
    "R.unique(R.concat([x, y]))",
]
"""Values with dimensions that no variable names, and with such as have a name."""


MATRIX = 'R.Tensor((2, 3), "float32")'
ADDING = f"""
    @R.function
    def f(y: {MATRIX}) -> {MATRIX}:
        return R.add(x, y)
"""
LOOP = f"""
    @R.function
    def loop(i: R.Tensor((), "int64"), s: {MATRIX}) -> {MATRIX}:
        c = R.less(i, R.const(4, "int64"))
        if c:
            r = loop(R.add(i, R.const(1, "int64")), R.add(s, x))
        else:
            r = s
        return r
"""
CLOSURES = {
    "recursive": f"{LOOP}    return loop(R.const(0, 'int64'), x)",
    "recursive, in a tuple": f"{LOOP}    t = (loop, x)\n    g = t[0]\n    return g(R.const(0, 'int64'), x)",
    "recursive, captured": f"""{LOOP}
    @R.function
    def user(y: {MATRIX}) -> {MATRIX}:
        a = loop(R.const(0, "int64"), y)
        return loop(R.const(3, "int64"), a)
    return user(x)
""",
    "in a tuple": f"{ADDING}    t = (f, x)\n    g = t[0]\n    return g(x)",
    "another name": f"{ADDING}    g = f\n    return g(g(x))",
    "passed on": f"""{ADDING}
    @R.function
    def twice(k: R.Callable(({MATRIX},), {MATRIX}), y: {MATRIX}) -> {MATRIX}:
        return k(k(y))
    return twice(f, x)
""",
    "on two ways": f"""{ADDING}
    if R.less(R.const(0.0, "float32"), R.max(x)):
        g = f
    else:
        g = f
    return g(x)
""",
    "promises inside": f"""
    @R.function
    def nested(y: {MATRIX}) -> {MATRIX}:
        @R.function
        def deeper(z: {MATRIX}) -> {MATRIX}:
            q = R.call_pure_packed("vm.builtin.copy", z, sinfo_args=({MATRIX},))
            return q
        return deeper(y)
    return nested(x)
""",
    "a cast to a tuple": f"""
    o: R.Object = (x, (x, x))
    t = R.match_cast(o, R.Tuple(R.Object, R.Tuple(R.Object, {MATRIX})))
    u = R.match_cast(t[0], {MATRIX})
    return R.add(u, t[1][1])
""",
    "a callee that is an object": f"""
    o: R.Object = R.ExternFunc("vm.builtin.copy")
    y = R.call_pure_packed(o, x, sinfo_args=({MATRIX},))
    return R.add(x, y)
""",
    "a length that is left to a reshape": """
    n = T.int64()
    m = T.int64()
    y = R.match_cast(x, R.Tensor((n, m), "float32"))
    z = R.reshape(y, R.shape([-1]))
    return R.add(x, R.reshape(z, R.shape([2, 3])))
""",
    "a destination that is returned": f"""
    y = R.call_dps_packed("my.exp", (x,), out_sinfo={MATRIX})
    return R.add(x, y)
""",
}
"""Bodies with closures, casts and calls from outside, which stages give another form."""


def body_of(name: str) -> str:
    """A program with a body of the table."""
    return f"@R.function\ndef main(x: {MATRIX}) -> {MATRIX}:\n{CLOSURES[name]}\n"


def my_exp(given: Any, out: Any) -> Any:
    """A function that returns the result it was given memory for, as NumPy does."""
    return np.exp(given, out=out)


@pytest.mark.parametrize("name", CLOSURES)
def test_each_stage_is_legal_and_ends_as_before(name: str) -> None:
    text, x = body_of(name), np.full((2, 3), 0.5, np.float32)
    assert check_text(text).ok
    module = parse(text).modules[0]
    wanted = run(module, inputs=[x], packed={"my.exp": my_exp}).numpy()
    seen: set[str] = set()

    def holds(made: ast.IRModule, stage: str) -> None:
        text = str(made)
        if text in seen:
            return
        seen.add(text)
        report = check_text(text)
        assert report.ok, f"{stage}: {report.errors[0]}\n{text}"
        found = run(report.modules[0], inputs=[x], packed={"my.exp": my_exp})
        assert found.ok, f"{stage}: {found}"
        np.testing.assert_array_equal(found.numpy(), wanted)

    for each in (LambdaLift, RemovePurityChecking):
        holds(each()(module), each.__name__)
    now = module
    for stage in STAGES:
        now = stage()(now)
        holds(now, stage.__name__)


def refused(text: str) -> Iterator[str]:
    """The stages whose result is not legal, with the errors."""
    now: ast.IRModule = parse(text).modules[0]
    for stage in STAGES:
        try:
            now = stage()(now)
        except PassError:
            return
        errors = [d for d in check_text(str(now)).diagnostics if d.is_error]
        if errors:
            yield f"{stage.__name__}: {errors[0].code}: {errors[0].message}"


@pytest.mark.parametrize("inside", ["few", "pair[0]"])
@pytest.mark.parametrize("given", GIVEN)
def test_captured_values(given: str, inside: str) -> None:
    text = CAPTURED.format(given=given, inside=inside)
    assert check_text(text).ok
    assert list(refused(text)) == []


@pytest.mark.parametrize("seed", [s for s in range(700, 708) if is_legal(s)])
def test_generated_programs(seed: int) -> None:
    assert list(refused(program(seed)[0])) == []


DIVIDED = [
    "R.zeros(R.shape([n // (n - n)]), 'float32')",
    "R.zeros(R.shape([n, 1 % (0 * n) + n]), 'float32')",
    "R.reshape(x, R.shape([T.truncdiv(n, 0 * n), 2]))",
    "R.add(x, R.full(R.shape([n // (0 * n)]), R.const(1.0, 'float32')))",
    "R.prim_value(n % (n - n))",
]


@pytest.mark.parametrize("value", DIVIDED)
def test_a_division_by_zero_stays_one(value: str) -> None:
    """A PrimFunc may not divide by a literal 0 (TIR04-zero), so that of the heap finds another one."""
    text = f"@R.function\ndef main(x: R.Tensor(('n',), 'float32')):\n    n = T.int64()\n    y = {value}\n    return y\n"
    assert check_text(text).ok
    assert list(refused(text)) == []
    module = parse(text).modules[0]
    now = legalize(module)
    assert "E-prim-divide" in str(run(now, inputs=[np.ones(2, np.float32)]))
    machine = vm.VirtualMachine(vm.build(module), backend="steps")
    with pytest.raises(vm.Fault, match="integer division by zero"):
        machine["main"](np.ones(2, np.float32))


def first_refused(seed: int, kinds: Counter[str]) -> str:
    """The first stage of a generated program that is not legal; empty if all are."""
    return next(refused(program(seed)[0]), "") if is_legal(seed) else ""


if __name__ == "__main__":
    long_run(first_refused)
