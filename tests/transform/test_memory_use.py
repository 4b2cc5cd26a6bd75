"""LAW: the formula of what a plan needs is, to the byte, the least memory with which the virtual machine runs it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.semantics.live_memory import limited
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Tensor, TupleValue, Value
from rlx.transform.legalization import legalize
from rlx.transform.lowering.memory import StaticPlanBlockMemory
from rlx.transform.memory_use import MemoryUse, memory_use, memory_uses
from rlx.vm import Executable, VirtualMachine
from rlx.vm.code_generation import generate
from rlx.vm.compilation import STAGES

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANNED = STAGES.index(StaticPlanBlockMemory) + 1


def planned(module: IRModule, entry: str) -> tuple[MemoryUse, Executable]:
    """The memory that the plan of a module needs, and the module compiled with it."""
    now = legalize(module)
    for stage in STAGES[:PLANNED]:
        now = stage()(now)
    use = memory_use(now, entry)
    for stage in STAGES[PLANNED:]:
        now = stage()(now)
    return use, generate(now, source=module)


def arrays(value: Value) -> Iterator[Any]:
    if isinstance(value, Tensor):
        yield value.data
    elif isinstance(value, TupleValue):
        for field in value.fields:
            yield from arrays(field)


def least(executable: Executable, entry: str, args: tuple[Value, ...], enough: int) -> int:
    """The fewest bytes besides its arguments with which a function returns; -1 if `enough` are not."""
    own = sum(array.nbytes for arg in args for array in arrays(arg))

    def returns(limit: int) -> bool:
        with limited(limit + own) as memory:
            for arg in args:
                for array in arrays(arg):
                    memory.hold(array)
            machine = VirtualMachine(executable, output=lambda _: None)
            try:
                machine.invoke(entry, list(args))
            except Exception as error:
                if "the limit is" in str(error):
                    return False
                raise
        return True

    if not returns(enough):
        return -1
    low, high = 0, enough
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if returns(middle) else (middle + 1, high)
    return low


def measured(module: IRModule, entry: str, size: int) -> tuple[int, int]:
    """The bytes that the formula gives for a size of all shape variables, and the least that a run takes besides its
    arguments.
    """
    use, executable = planned(module, entry)
    sizes = dict.fromkeys(use.sizes, size)
    function = module[entry]
    assert isinstance(function, ast.Function)
    given = {var.name: str(size) for var in function.shape_vars}
    args = tuple(inputs(function, given, 0).values)
    said = use.highest(sizes)[0]
    return said, least(executable, entry, args, said)


@pytest.mark.parametrize("name", ["attention", "mlp", "call_tir", "convnet", "fused", "in_place"])
@pytest.mark.parametrize("size", [1, 6])
def test_the_plan_of_an_example(name: str, size: int) -> None:
    said, took = measured(rlx.load(EXAMPLES / f"{name}.rlx"), "main", size)
    assert said == took


def test_what_is_alive_at_once() -> None:
    use = rlx.memory(
        """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    a = R.add(x, x)
    b = R.concat([a, a], axis=0)
    s = R.shape_of(b)
    if c:
        t = R.exp(b)
        d = R.sum(t)
    else:
        d = R.sum(x)
    return (d, a)
"""
    )
    (peak,) = use.peaks
    assert {each.name: str(each.size) for each in peak.living} == {
        "a": "n * 16",
        "b": "n * 32",
        "t": "n * 32",
        "gv": "4",  # the result of the branch, which `d` names behind it
    }
    assert (str(use.peak), str(use.arguments), use.constants) == ("n * 80 + 4", "n * 16 + 1", 0)
    assert use.highest({"n": 3})[0] == 244
    with pytest.raises(ValueError, match="n has no value"):
        use.highest({"m": 3})


def test_a_branch_between_values_that_are_there_makes_none() -> None:
    text = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", 4), "float32"), w: R.Tensor(("n", 4), "float32")):
    a = R.exp(x)
    if c:
        y = {}
    else:
        y = w
    z = R.tanh(y)
    return z
"""
    peaks = [rlx.memory(text.format(value)).peaks[0] for value in ("a", "R.exp(a)")]
    assert [[each.name for each in peak.living] for peak in peaks] == [["a", "z"], ["a", "gv"]]


def test_a_callee_needs_its_memory_in_the_sizes_of_the_caller() -> None:
    use = rlx.memory(
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("a",), "float32")):
        a = T.int64()
        y = R.concat([x, x], axis=0)
        z = Module.twice(y)
        return z

    @R.function(private=True)
    def twice(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = R.exp(x)
        z = R.exp(y)
        return z
""",
        "main",
    )
    assert str(use.peak) == "a * 24"
    assert [(each.function, each.name) for each in use.peaks[0].living] == [
        ("main", "y"),
        ("twice", "y"),
        ("twice", "z"),
    ]


def test_what_is_never_killed_stays_until_the_function_returns() -> None:
    """As TVM lowers a call with two results: nothing reads the tuple, so nothing kills it."""
    module = rlx.load(
        """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    s1 = R.memory.alloc_storage(R.shape([n * 4]), 0, R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s1, 0, R.shape([n]), R.dtype("float32"))
    R.memory.kill_storage(s1)
    both = (a, x)
    s2 = R.memory.alloc_storage(R.shape([n * 4]), 0, R.str("global"), R.dtype("uint8"))
    b = R.memory.alloc_tensor(s2, 0, R.shape([n]), R.dtype("float32"))
    R.memory.kill_storage(s2)
    R.call_packed("kernel", a, b, ty_args=R.Tuple())
    R.memory.kill_tensor(a)
    s3 = R.memory.alloc_storage(R.shape([n * 4]), 0, R.str("global"), R.dtype("uint8"))
    c = R.memory.alloc_tensor(s3, 0, R.shape([n]), R.dtype("float32"))
    R.memory.kill_storage(s3)
    R.call_packed("kernel", b, c, ty_args=R.Tuple())
    return c
"""
    )
    (by_use,) = memory_uses(module, ["main"])
    (by_kills,) = memory_uses(module, ["main"], killed=True)
    assert (str(by_use.peak), str(by_kills.peak)) == ("n * 8", "n * 12")


def test_a_size_that_is_written_twice_is_one() -> None:
    use = rlx.memory(
        """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    a = R.zeros(R.shape([(n + 15) // 16 * 16]), "float32")
    b = R.zeros(R.shape([(n + 15) // 16 * 16]), "float32")
    return (a, b)
"""
    )
    assert str(use.peak) == "(n + 15) // 16 * 128"


def test_what_depends_on_the_sizes_has_several_peaks() -> None:
    use = rlx.memory(
        """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    n, m = T.int64(), T.int64()
    a = R.sum(R.exp(x))
    b = R.sum(R.exp(y))
    return R.add(a, b)
"""
    )
    assert sorted(str(peak.size) for peak in use.peaks) == ["12", "m * 4 + 8", "n * 4 + 4"]
    assert use.highest({"n": 0, "m": 0})[0] == 12
    assert use.highest({"n": 5, "m": 1})[0] == 24
    assert use.highest({"n": 1, "m": 5})[0] == 28


@pytest.mark.parametrize("seed", range(30))
def test_a_chain_needs_what_a_count_of_live_values_says(seed: int) -> None:
    """Random bindings over values of two sizes, beside the plainest count: who was made, and is still read."""
    choose = random.Random(seed)
    sizes = {"x": 1, "y": 2}
    lines, reads = [], []
    for k in range(12):
        if choose.random() < 0.3:
            one = choose.choice(list(sizes))
            other = choose.choice([v for v in sizes if sizes[v] == sizes[one]])
            lines.append(f"v{k} = R.add({one}, {other})")
            reads.append({one, other})
            sizes[f"v{k}"] = sizes[one]
        elif choose.random() < 0.5:
            one = choose.choice(list(sizes))
            lines.append(f"v{k} = {one}")
            reads.append({one})
            sizes[f"v{k}"] = sizes[one]
        else:
            one, other = (choose.choice(list(sizes)) for _ in range(2))
            lines.append(f"v{k} = R.concat([{one}, {other}])")
            reads.append({one, other})
            sizes[f"v{k}"] = sizes[one] + sizes[other]
    body = "".join(f"    {line}\n" for line in lines)
    use = rlx.memory(
        f"""@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n * 2",), "float32")):
    n = T.int64()
{body}    return v11
"""
    )
    owner = {"x": "x", "y": "y"}
    most = 0
    for k, line in enumerate(lines):
        alias = "R." not in line
        owner[f"v{k}"] = owner[line.split(" = ")[1]] if alias else f"v{k}"
        owned = {owner[f"v{j}"] for j in range(k + 1)} - {"x", "y"}
        # a name for a value that is read later keeps that value
        later = {name for read in reads[k + 1 :] for name in read} | {"v11"}
        alive = {v for v in owned if v == f"v{k}" or v in {owner.get(n) for n in reads[k] | later}}
        most = max(most, sum(sizes[v] for v in alive))
    assert use.highest({"n": 10})[0] == most * 40


def test_a_callee_with_many_peaks_is_not_counted_and_said() -> None:
    """Any of five values may be the largest: which, depends on sizes that the caller computes."""
    names = "abcde"
    params = ", ".join(f'{name}: R.Tensor(("{name}1",), "float32")' for name in names)
    body = "".join(f"    {name}2 = R.exp({name})\n    {name}3 = R.sum({name}2)\n" for name in names)
    use = rlx.memory(
        f"""@I.ir_module
class M:
    @R.function
    def work({params}):
{indent(body, "    ")}        return e3
    @R.function
    def main({params}):
        y = M.work(a, b, c, d, e)
        return y
""",
        entry="main",
    )
    assert [name for name, _, why in use.unknown if "5 peaks" in why] == ["work"]
