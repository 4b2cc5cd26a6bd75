"""The small passes: what they do, and that they keep what programs mean; ``python -m tests.transform.passes`` is the long run."""

from __future__ import annotations

from collections import Counter

import pytest

import rlx
from rlx.grammar.nodes.ast import IRModule
from rlx.transform import lambda_lifting, passes
from tests.transform.passes import failures

HEAD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32")):
        n = T.int64()
"""


def program(text: str) -> IRModule:
    return rlx.parse(HEAD + "".join(f"        {line}\n" for line in text.strip().splitlines()))


def shown(module: IRModule) -> list[str]:
    lines = rlx.show(module).splitlines()
    start = next(at for at, line in enumerate(lines) if line.strip().startswith("def main"))
    found = [line.strip() for line in lines[start + 1 :]]
    return found[: found.index("")] if "" in found else found


@pytest.mark.filterwarnings("ignore::rlx.BuildWarning")
def test_meaning_is_kept() -> None:
    changed: Counter[str] = Counter()
    assert failures(8, 400, changed) == []
    assert len(changed) > 3


def test_what_a_local_function_used_is_taken_out_once() -> None:
    module = program("""
a = R.nn.relu(x)
@R.function
def local(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    b = a
    return y
return a
""")
    assert shown(passes.dead_code(module)) == ["a = R.nn.relu(x)", "return a"]


def test_dead_code() -> None:
    module = program("""
a = R.add(x, x)
c = R.nn.relu(a)
d = R.divide(x, x)
e = R.reshape(x, R.shape([4, n]))
i = R.match_cast(x, R.Tensor((n, 4), "float32"))
r = R.exp(x)
return r
""")
    assert shown(passes.dead_code(module)) == [
        'i = R.match_cast(x, R.Tensor((n, 4), dtype="float32"))',
        "r = R.exp(x)",
        "return r",
    ]


def test_common_subexpressions() -> None:
    module = program("""
with R.dataflow():
    a = R.add(x, x)
    c = R.add(x, x)
    d = R.sum(a, axis=[0])
    e = R.sum(c, axis=[0])
    f = R.sum(c, axis=[1])
    g = R.add(d, e)
    h = R.add(d, e)
    R.output(f, g, h)
return (f, g, h)
""")
    assert shown(passes.common_subexpressions(module)) == [
        "with R.dataflow():",
        "a = R.add(x, x)",
        "d = R.sum(a, axis=[0])",
        "f = R.sum(a, axis=[1])",
        "g = R.add(d, d)",
        "R.output(f, g)",
        "return (f, g, g)",
    ]


def test_fold_shapes() -> None:
    module = program("""
s = R.shape_of(w)
t = R.shape_of(x)
u = R.reshape(w, R.shape([2 * 4, 2]))
return (s, t, u)
""")
    assert shown(passes.fold_shapes(module)) == [
        "s = R.shape([4, 4])",
        "t = R.shape([n, 4])",
        "u = R.reshape(w, R.shape([8, 2]))",
        "return (s, t, u)",
    ]


def test_fuse_matmul_add() -> None:
    module = program("""
with R.dataflow():
    m = R.matmul(x, w)
    a = R.add(m, b)
    m1 = R.matmul(a, w)
    a1 = R.add(m1, b)
    r = R.add(a1, m1)
    R.output(r)
return r
""")
    found = passes.fuse_matmul_add(module)
    assert shown(found) == [
        "cls = Module",
        "with R.dataflow():",
        "a = cls.fused_matmul_add(x, w, b)",
        "m1 = R.matmul(a, w)",
        "a1 = R.add(m1, b)",
        "r = R.add(a1, m1)",
        "R.output(r)",
        "return r",
    ]
    assert rlx.check(found).ok


def test_lambda_lifting() -> None:
    module = program(
        """
@R.function
def scaled(y: R.Tensor((4,), "float32")) -> R.Tensor(("n", 4), "float32"):
    z = R.multiply(x, y)
    return z
a = scaled(b)
c = scaled(a) if False else a
return a
""".replace("c = scaled(a) if False else a\n", "")
    )
    found = lambda_lifting(module)
    assert shown(found) == ["cls = Module", "a = cls.scaled(b, x)", "return a"]
    report = rlx.check(found)
    assert report.ok, str(report)
    names = [gv.name_hint for gv in found.functions]
    assert names == ["main", "scaled"]
    assert "private" in next(reversed(list(found.functions.values()))).attrs


@pytest.mark.parametrize(
    "call",
    [
        'R.call_pure_packed("f", x, sinfo_args=R.Tensor((n, 4), "float32"))',
        'R.call_dps_packed("f", (x,), out_sinfo=R.Tensor((n, 4), "float32"))',
        "R.memory.view(x, None, None, None)",
    ],
)
def test_what_is_called_outside_is_called_as_often_as_before(call: str) -> None:
    module = program(
        f"with R.dataflow():\n    c = {call}\n    d = {call}\n    R.output(c, d)\nreturn (c, d)"
    )
    assert rlx.check(module).ok
    assert passes.common_subexpressions(module) is module


def test_nothing_to_do_gives_the_same_module() -> None:
    module = program("r = R.exp(x)\nreturn r")
    for name in passes.__all__:
        assert getattr(passes, name)(module) is module


def test_the_shape_of_an_operand_by_keyword() -> None:
    both = [program(f"s = R.shape_of({given})\nreturn s") for given in ("x", "expr=x")]
    one, other = (shown(passes.fold_shapes(module)) for module in both)
    assert one == other and "R.shape([n, 4])" in "".join(one)


def test_an_operand_by_keyword_may_fail_like_any_other() -> None:
    for given in ("x, w", "x, x2=w", "x1=x, x2=w"):
        module = program(f"with R.dataflow():\n    d = R.add({given})\n    R.output()\nreturn x")
        assert passes.dead_code(module) is module, given
