"""A program of which the checker says nothing means the same when nothing is overwritten.

``python -m tests.checker.derive.memory_law COUNT SEED`` writes that many programs with views, tuples, branches, functions
and closures. Each runs twice: with `call_tir_inplace`, and with `call_tir`, which stores the same numbers into a new
tensor. If the two ends differ, something used what had been overwritten, and the checker has to say so.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from rlx.checker.check import check_text
from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Scalar, Tensor, TupleValue, Value
from tests.long_run import long_run

T = 'R.Tensor((4,), "float32")'
HEAD = """@I.ir_module
class M:
    @T.prim_func(private=True)
    def more(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] + T.float32(1)
    @T.prim_func(private=True)
    def plus(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + T.float32(1)
"""
WRITES = {
    True: f"R.call_tir_inplace(cls.more, ({{}},), inplace_indices=[0], out_sinfo={T})",
    False: f"R.call_tir(cls.plus, ({{}},), out_sinfo={T})",
}
OVERWRITES = "<more {}>"


class Writer:
    """Writes a random program."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def body(self, tensors: list[str], depth: int, functions: dict[str, int]) -> list[str]:
        """Statements that end with the return of a tuple; `functions` are those to call, by the number of parameters."""
        lines: list[str] = []
        tensors, pairs, functions = list(tensors), [], dict(functions)
        for _ in range(self.choose.randint(2, 5)):
            kind = self.choose.choice(
                ("more", "more", "view", "add", "pair", "field", "if", "closure", "call", "call")
            )
            one, other = self.choose.choice(tensors), self.choose.choice(tensors)
            name = self.fresh()
            match kind:
                case "more":
                    lines.append(f"{name} = {OVERWRITES.format(one)}")
                case "view":
                    lines.append(f"{name} = R.memory.view({one}, R.shape([4]))")
                case "add":
                    lines.append(f"{name} = R.add({one}, {other})")
                case "pair":
                    lines.append(f"{name} = ({one}, {other})")
                    pairs.append(name)
                    continue
                case "field" if pairs:
                    lines.append(
                        f"{name} = {self.choose.choice(pairs)}[{self.choose.randint(0, 1)}]"
                    )
                case "if" if depth:
                    value = self.choose.choice((OVERWRITES.format(one), one))
                    lines += ["if c:", f"    {name} = {value}", "else:", f"    {name} = {other}"]
                case "closure" if depth:
                    count = self.choose.randint(0, 2)
                    params = [self.fresh() for _ in range(count)]
                    inner = self.body([*tensors, *params], depth - 1, functions)
                    said = ", ".join(f"{p}: {T}" for p in params)
                    lines += [
                        "@R.function",
                        f"def {name}({said}):",
                        *(f"    {line}" for line in inner),
                    ]
                    functions[name] = count
                    continue
                case "call" if functions:
                    callee = self.choose.choice(list(functions))
                    given = ", ".join(self.choose.choice(tensors) for _ in range(functions[callee]))
                    lines.append(f"{name}_0 = {callee}({given})")
                    lines.append(f"{name} = {name}_0[{self.choose.randint(0, 1)}]")
                case _:
                    continue
            tensors.append(name)
        last = [self.choose.choice(tensors[-3:]), self.choose.choice(tensors)]
        return [*lines, f"return ({', '.join(last)})"]

    def program(self) -> str:
        """A module with two functions, in which `OVERWRITES` is left open."""
        text = HEAD
        for name, functions in (("inner", {}), ("main", {"cls.inner": 2})):
            params = f'a: {T}, b: {T}, c: R.Prim("bool")' if name == "main" else f"a: {T}, b: {T}"
            depth = 2 if name == "main" else 0
            lines = ["cls = M", *self.body(["a", "b"], depth, functions)]
            text += f"    @R.function\n    def {name}({params}):\n"
            text += "".join(f"        {line}\n" for line in lines)
        return text


def written(program: str, in_place: bool) -> str:
    """A program that overwrites, or that makes new tensors."""
    for _ in range(program.count("<more ")):
        before, rest = program.split("<more ", 1)
        operand, after = rest.split(">", 1)
        program = before + WRITES[in_place].format(operand) + after
    return program


def ends(text: str, condition: bool) -> str:
    """The result of a program."""
    numbers = [np.arange(4, dtype=np.float32), np.arange(4, 8, dtype=np.float32)]
    args: list[Value] = [*map(Tensor, numbers), Scalar(condition, BOOL)]
    ended = load(check_text(text).modules[0], backend="steps").run("main", args, fuel=5000)
    if isinstance(ended, Returned):
        return str(_plain(ended.value))
    return f"{type(ended).__name__} {ended}"


def _plain(value: Value) -> object:
    if isinstance(value, TupleValue):
        return tuple(map(_plain, value.fields))
    assert isinstance(value, Tensor)
    return value.data.tolist()


def violation(seed: int, kinds: Counter[str]) -> str:
    """The way in which a program breaks the law; empty if it does not. `kinds` counts ``"quiet"``,
    ``"told"`` and ``"not legal"`` programs.
    """
    program = Writer(random.Random(seed)).program()
    text = written(program, True)
    report = check_text(text)
    codes = {d.code for d in report.diagnostics if d.severity != "note"}
    if any(code.startswith("USE-") for code in codes):
        kinds["told"] += 1
        return ""
    if not report.ok:
        kinds["not legal"] += 1
        return str(report)
    kinds["quiet"] += 1
    for condition in (True, False):
        found, plain = ends(text, condition), ends(written(program, False), condition)
        if found != plain:
            return f"{found} in place, {plain} with new tensors\n{text}"
    return ""


if __name__ == "__main__":
    long_run(violation)
