"""LAW: passes in a wrong order, or twice, say which must run first, or the program stays the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rlx import vm
from rlx.grammar.read.parser import parse
from rlx.transform.lowering.local_functions import LambdaLift
from rlx.transform.lowering.passes import ModulePass, PassError, Sequential
from rlx.vm.compilation import STAGES

MODULE = parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = X[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        @R.function
        def inner(y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            return R.add(x, y)
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
            b = R.call_tir(cls.double, (a,), R.Tensor((n,), "float32"))
            R.output(b)
        c = R.match_cast(b, R.Tensor((4,), "float32"))
        held = (inner,)
        d = inner(b)
        return (c, d)
""").modules[0]
NAMES = [stage.__name__ for stage in STAGES]


def end(passes: Sequence[ModulePass]) -> str:
    """The result of a program after passes, or the error of one."""
    try:
        executable = vm.build(MODULE, passes=passes)
        c, d = vm.VirtualMachine(executable, backend="steps")["main"](np.ones(4, np.float32))
        with pytest.raises(vm.CheckFailed):
            vm.VirtualMachine(executable, backend="steps")["main"](np.ones(3, np.float32))
    except PassError as error:
        return str(error)
    return f"{c.tolist()} {d.tolist()}"


RIGHT = end([stage() for stage in STAGES])


@pytest.mark.parametrize("first", STAGES, ids=NAMES)
def test_two_passes_in_front_of_all(first: type[ModulePass]) -> None:
    assert RIGHT.startswith("[4.0, 4.0")
    for second in STAGES:
        found = end([first(), second(), *(stage() for stage in STAGES)])
        says = any(f"run {name} first" in found or f"before {name}" in found for name in NAMES)
        assert found == RIGHT or says, (second.__name__, found)


@pytest.mark.parametrize("missing", STAGES, ids=NAMES)
def test_all_passes_but_one(missing: type[ModulePass]) -> None:
    found = end([stage() for stage in STAGES if stage is not missing])
    assert found == RIGHT or any(f"run {name} first" in found for name in NAMES)
    assert (found == RIGHT) is (
        missing.__name__
        in ("Normalize", "RemovePurityChecking", "StaticPlanBlockMemory", "AttachGlobalSymbol")
    )


@pytest.mark.parametrize("twice", STAGES, ids=NAMES)
def test_a_pass_twice_is_a_pass_once(twice: type[ModulePass]) -> None:
    passes: list[ModulePass] = []
    for stage in STAGES:
        passes += [stage(), stage()] if stage is twice else [stage()]
    assert end([Sequential(passes)]) == RIGHT


TAKEN = """
@I.ir_module
class Module:
    @R.function
    def main_inner(y: R.Tensor((4,), "float32")):
        return R.multiply(y, y)

    @R.function
    def main_inner_1(y: R.Tensor((4,), "float32")):
        return R.multiply(y, y)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            @R.function
            def inner(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                return R.add(z, z)
            w = inner(y)
            return R.add(x, w)
        a = inner(x)
        b = Module.main_inner(x)
        c = Module.main_inner_1(x)
        return (a, b, c)
"""


def test_a_lifted_function_has_a_name_of_its_own() -> None:
    module = parse(TAKEN).modules[0]
    lifted = LambdaLift()(module)
    names = [gv.name_hint for gv in lifted.functions]
    assert len(names) == len(set(names)) == 5
    assert {"main_inner", "main_inner_1", "main_inner_2", "main"} < {*names}
    given = np.arange(4, dtype=np.float32)
    for each in (module, lifted):
        a, b, c = vm.VirtualMachine(vm.build(each), backend="steps")["main"](given)
        assert a.tolist() == [*(given * 3)]
        assert b.tolist() == c.tolist() == [*(given * given)]
