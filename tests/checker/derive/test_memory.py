"""The memory model: summaries of functions, and what the checker says where they meet a use."""

from __future__ import annotations

from collections import Counter

import pytest

from rlx.checker.check import check_text
from rlx.checker.memory import FunctionSummary, MemoryWalk, Summaries, root
from rlx.grammar.nodes import ast
from tests.checker.derive.memory_law import violation

T = 'R.Tensor((4,), "float32")'
IN_PLACE = f'R.call_inplace_packed("f", {{}}, inplace_indices=[0], sinfo_args={T})'

FUNCTIONS = {
    "returns a parameter": (["return b"], set(), {1}),
    "a view": (["c = R.memory.view(a, R.shape([4]))", "return c"], set(), {0}),
    "a reshape": (["c = R.reshape(a, R.shape([2, 2]))", "return c"], set(), {0}),
    "a sum": (["c = R.add(a, b)", "return c"], set(), set()),
    "a tuple": (["return (R.exp(a), b)"], set(), {1}),
    "a field": (["t = (a, b)", "c = t[1]", "return c"], set(), {1}),
    "a branch": (["if k:", "    c = a", "else:", "    c = b", "return c"], set(), {0, 1}),
    "in place": ([f"c = {IN_PLACE.format('b')}", "return c"], {1}, {1}),
    "of a view": (["v = R.memory.view(b, R.shape([4]))", f"c = {IN_PLACE.format('v')}", "return a"], {1}, {0}),
    "of a copy": (["v = R.exp(b)", f"c = {IN_PLACE.format('v')}", "return c"], set(), set()),
    "by a function": (["c = M.writes(a)", "return c"], {0}, {0}),
    "by a closure": (
        ["@R.function", f"def g() -> {T}:", f"    c = {IN_PLACE.format('b')}", "    return c", "d = g()", "return d"], {1}, {1},
    ),
    "of a closure": (["@R.function", f"def g(x: {T}) -> {T}:", "    return x", "d = g(b)", "return d"], set(), {1}),
    "itself": (["if k:", "    c = M.tried(b, a, k)", "else:", "    c = b", "return c"], set(), {0, 1}),
    "itself in place": (
        ["if k:", f"    c = {IN_PLACE.format('a')}", "else:", "    c = M.tried(b, a, k)", "return c"], {0, 1}, {0, 1},
    ),
}  # fmt: skip
"""The lines of a function of two tensors, the parameters that it may write, and those that it may return."""


@pytest.mark.parametrize("case", FUNCTIONS)
def test_summaries(case: str) -> None:
    lines, writes, returns = FUNCTIONS[case]
    result = " -> R.Object" if case.startswith("itself") else ""
    body = "".join(f"        {line}\n" for line in lines)
    text = (
        f"@I.ir_module\nclass M:\n    @R.function\n    def writes(x: {T}):\n        y = {IN_PLACE.format('x')}\n        return y\n"
        f'    @R.function\n    def tried(a: {T}, b: {T}, k: R.Prim("bool")){result}:\n{body}'
    )
    report = check_text(text)
    (module,) = report.modules
    (gv,) = [gv for gv in module.functions if gv.name_hint == "tried"]
    function = module.functions[gv]
    summary = Summaries(module).of(gv)
    assert isinstance(function, ast.Function)
    assert summary is not None
    assert (set(summary.written(function)), set(summary.returned(function))) == (writes, returns), (
        str(report)
    )


def test_a_closure_writes_what_is_around_it() -> None:
    text = f"@R.function\ndef main(x: {T}):\n    @R.function\n    def g() -> {T}:\n        y = {IN_PLACE.format('x')}\n        return y\n    return g\n"
    (module,) = check_text(text).modules
    (gv,) = module.functions
    found: list[set[object]] = []

    class Walk(MemoryWalk):
        def summary(self, function: ast.Function, name: ast.Var | None = None) -> FunctionSummary:
            made = super().summary(function, name)
            found.append({getattr(root(cell), "name_hint", None) for cell in made.writes})
            return made

    Walk(Summaries(module)).summary(module.functions[gv])  # type: ignore[arg-type]
    assert found == [{"x"}, set()]


USES = {
    "the caller's tensor": ("y = M.writes(x)\n    z = R.add(x, y)", "error USE-overwritten-callee"),
    "of a view": ("v = R.memory.view(x, R.shape([4]))\n    y = M.writes(v)\n    z = R.add(x, y)", "error USE-overwritten-callee"),
    "of a reshape": ("v = R.reshape(x, R.shape([4]))\n    y = M.writes(v)\n    z = R.add(x, y)", "warning USE-overwritten-callee"),
    "in a branch": ("if k:\n        y = M.writes(x)\n    else:\n        y = x\n    z = R.add(x, y)", "warning USE-overwritten-callee"),
    "of a function in a branch": ("y = M.perhaps(x, k)\n    z = R.add(x, y)", "warning USE-overwritten-callee"),
    "of a field": ("t = (x, x)\n    u = t[0]\n    y = M.writes(u)\n    z = R.add(t[1], y)", "error USE-overwritten-callee"),
    "through two functions": ("y = M.twice(x)\n    z = R.add(x, y)", "error USE-overwritten-callee"),
    "by a closure": (f"@R.function\n    def g() -> {T}:\n        w = {IN_PLACE.format('x')}\n        return w\n    y = g()\n    z = R.add(x, y)", "error USE-overwritten-callee"),
    "by a closure of a closure": (f"@R.function\n    def g() -> {T}:\n        w = {IN_PLACE.format('x')}\n        return w\n    @R.function\n    def h() -> {T}:\n        w = g()\n        return w\n    y = h()\n    z = R.add(x, y)", "error USE-overwritten-callee"),
    "called twice": (f"@R.function\n    def g() -> {T}:\n        w = {IN_PLACE.format('x')}\n        return w\n    y = g()\n    z = g()", "error USE-overwritten-callee"),
    "another argument": ("z = M.both(x, x)", "warning USE-overwritten-callee"),
    "a closure that holds it": (f"@R.function\n    def g() -> {T}:\n        return x\n    y = {IN_PLACE.format('x')}\n    z = g()", "warning USE-overwritten-after"),
    "a closure in a tuple": (f"@R.function\n    def g() -> {T}:\n        return x\n    t = (g, x)\n    y = {IN_PLACE.format('x')}\n    h = t[0]\n    z = h()", "warning USE-overwritten-after"),
    "what a function hands on": (f"y = M.same(x)\n    w = {IN_PLACE.format('y')}\n    z = R.add(x, w)", "warning USE-overwritten-after"),
    "only the result": ("y = M.writes(x)\n    z = R.exp(y)", ""),
    "a copy": ("y = R.exp(x)\n    w = M.writes(y)\n    z = R.add(x, w)", ""),
    "an impure function": ("y = M.impure(x)\n    z = R.add(x, y)", ""),
}  # fmt: skip
"""What a program does with its tensor `x`, and what is said of that."""


@pytest.mark.parametrize("case", USES)
def test_uses_of_what_functions_overwrite(case: str) -> None:
    body, wanted = USES[case]
    inside = body.replace("\n    ", "\n        ")
    text = (
        f"@I.ir_module\nclass M:\n    @R.function\n    def writes(x: {T}):\n        y = {IN_PLACE.format('x')}\n        return y\n"
        f"    @R.function(pure=False)\n    def impure(x: {T}):\n        y = {IN_PLACE.format('x')}\n        return y\n"
        f"    @R.function\n    def twice(x: {T}):\n        y = M.writes(x)\n        return y\n"
        f"    @R.function\n    def same(x: {T}):\n        return x\n"
        f"    @R.function\n    def both(x: {T}, y: {T}):\n        w = M.writes(x)\n        return (w, R.exp(y))\n"
        f'    @R.function\n    def perhaps(x: {T}, k: R.Prim("bool")):\n        if k:\n            y = M.writes(x)\n'
        f"        else:\n            y = x\n        return y\n"
        f'    @R.function(pure={case != "an impure function"})\n    def main(x: {T}, k: R.Prim("bool")):\n'
        f"        {inside}\n        return z\n"
    )
    report = check_text(text)
    found = [f"{d.severity} {d.code}" for d in report.diagnostics if d.severity != "note"]
    assert found == ([wanted] if wanted else []), str(report)


def test_the_law_on_generated_programs() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(40):
        assert not violation(seed, kinds)
    assert kinds["quiet"] and kinds["told"]
