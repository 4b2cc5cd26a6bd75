"""USE: what a call overwrites in place is not used again, under whatever name."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

T = 'R.Tensor((4,), "float32")'
CALL = f'R.call_inplace_packed("f", {{}}, inplace_indices=[0], sinfo_args={T})'

USED = {
    "itself": ["a = {x}", "y = R.add(a, x)"],
    "another name": ["b = x", "a = {x}", "y = R.add(a, b)"],
    "a tuple around it": ["b = (x, x)", "a = {x}", "y = R.add(a, b[1])"],
    "what is returned": ["a = {x}", "y = (a, x)"],
    "a cast": [f"b = R.match_cast(x, {T})", "a = {b}", "y = R.add(a, x)"],
    "a view": [
        "b = R.memory.view(x, R.shape([4]))",
        "a = {x}",
        "y = R.add(a, b)",
    ],
    "its memory": ["b = R.memory.view(x, R.shape([4]))", "a = {b}", "y = R.add(a, x)"],
    "overwritten twice": ["a = {x}", "b = {x}", "y = R.add(a, b)"],
    "a field": ["a = {t[0]}", "y = R.add(a, t[0])"],
    "the tuple": ["a = {t[0]}", "y = (a, t)"],
    "a branch": ["if c:", "    b = {x}", "else:", "    b = R.exp(x)", "y = R.add(b, x)"],
    "a branch's result": [
        *("if c:", "    b = x", "else:", "    b = t[1]"),
        *("a = {b}", "y = R.add(a, x)"),
    ],
    "another argument": [
        f'y = R.call_inplace_packed("f", x, x, inplace_indices=[0], sinfo_args={T})'
    ],
}
NOT_USED = {
    "the result": ["a = {x}", "y = R.add(a, a)"],
    "a chain": ["a = {x}", "b = {a}", "y = R.exp(b)"],
    "a copy": ["b = R.exp(x)", "a = {b}", "y = R.add(a, x)"],
    "used before": ["b = R.exp(x)", "a = {x}", "y = R.add(a, b)"],
    "the other field": ["a = {t[0]}", "y = R.add(a, t[1])"],
    "a tuple that is not used": ["b = (x, x)", "a = {x}", "y = a"],
    "the other branch": ["if c:", "    b = {x}", "else:", "    b = R.exp(x)", "y = R.exp(b)"],
}


def found(lines: list[str]) -> list[str]:
    """The codes of what is said of a function with these lines."""
    body = [line.replace("{", "\0").replace("}", "\1") for line in lines]
    for name in ("x", "a", "b", "t[0]"):
        body = [line.replace(f"\0{name}\1", CALL.format(name)) for line in body]
    text = "\n    ".join(
        [f'def main(x: {T}, t: R.Tuple({T}, {T}), c: R.Tensor((), "bool")):', *body]
    )
    report = check_text(f"@R.function\n{text}\n    return y\n", "uses.rlx")
    return [f"{d.severity} {d.code}" for d in report.diagnostics]


@pytest.mark.parametrize("case", USED)
def test_a_use_behind_the_call_is_warned_of(case: str) -> None:
    assert set(found(USED[case])) == {"warning USE-overwritten-after"}


@pytest.mark.parametrize("case", NOT_USED)
def test_what_nothing_sees_may_be_overwritten(case: str) -> None:
    assert found(NOT_USED[case]) == []


@pytest.mark.parametrize("index", ["n", "[n]", "[k]", "R.prim_value(0)", "0.0", "'0'", "[None]"])
def test_what_is_no_index_overwrites_nothing(index: str) -> None:
    call = CALL.format("x").replace("[0]", index)
    text = f"@R.function(pure=False)\ndef main(x: {T}, k: R.Prim('int64'), n: T.int64):\n    a = {call}\n    return x\n"
    report = check_text(text, "uses.rlx")
    assert {d.code for d in report.diagnostics} <= {"D14-argument", "PARSE"}


COPY = """\
@I.ir_module
class M:
    @T.prim_func
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({{"{mark}": True}})
        for i in range(4):
            B[i] = A[i]
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        cls = M
        {before}
        _ = cls.copy({args})
        return y
"""


@pytest.mark.parametrize(
    ("before", "args", "said"),
    [
        ("z = x", "x, z", True),
        ("z = (x, y)", "z[1], y", True),
        ("z = R.memory.view(x, R.shape([4]))", "z, x", True),
        ("z = R.exp(x)", "x, z", False),
        ("z = (x, y)", "z[0], y", False),
    ],
)
def test_a_prim_func_that_says_noalias_gets_memory_of_its_own(
    before: str, args: str, said: bool
) -> None:
    for mark in ("tir.noalias", "tirx.noalias"):
        text = COPY.format(mark=mark, before=before, args=args)
        codes = [d.code for d in check_text(text).diagnostics if d.severity != "note"]
        assert codes == ["USE-aliased-apart"] * said
    assert check_text(COPY.format(mark="a", before=before, args=args)).diagnostics == ()


@pytest.mark.parametrize("given", ["u", "t"])
def test_the_overwritten_arguments_stand_in_the_call(given: str) -> None:
    """A variable that holds the tuple does not say what is overwritten; TVM's parser refuses it."""
    text = (
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def k(A: T.Buffer((4,)), B: T.Buffer((4,))):\n"
        "        for i in range(4):\n            A[i] = B[i]\n    @R.function\n"
        f"    def main(x: {T}, t: R.Tuple({T}, {T})):\n        u = (x, t[0])\n"
        f"        y = R.call_tir_inplace(cls.k, {{}}, inplace_indices=[0], out_sinfo={T})\n"
        "        return y\n"
    )
    for args, wanted in (given, ["OBL-inplace-literal"]), (f"({given}[0], {given}[1])", []):
        told = [d for d in check_text(text.format(args)).diagnostics if d.severity != "note"]
        assert [d.code for d in told] == wanted and not any(d.is_error for d in told)
