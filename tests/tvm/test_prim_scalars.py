"""Scalars that are assigned to, in PrimFuncs: TVM reads the same, reads what is printed, and computes the same values."""

from __future__ import annotations

import random
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi

from rlx.checker.check import check_text
from rlx.grammar.nodes import tir
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics import native
from rlx.semantics.tir import evaluate
from tests.tvm.target import QUICK

HEAD = '@T.prim_func\ndef f(A: T.Buffer((4,), "float32"), N: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):\n'

READ = {
    "reassigned": "t = 1.0\nt = t + A[0]\nB[0] = t",
    "augmented": "t = A[0]\nt += A[1]\nB[0] = t",
    "annotated": "t: T.float32 = 1\nt = t * A[1]\nB[0] = t",
    "declared": "t: T.float32\nt = A[0]\nB[0] = t",
    "cast": "t: T.int32 = A[0]\nB[t % 4] = 1.0",
    "another type": "t = A[0]\nt = N[0]\nB[0] = t",
    "in a branch": "t = A[0]\nif N[0] > 2:\n    t = A[1]\nB[0] = t",
    "of a loop": "for i in range(4):\n    t = A[i]\n    t = t + t\n    B[i] = t\nt = N[0]\nB[t % 4] = 0.0",
    "over a loop": "t = 0.0\nfor i in range(4):\n    t = t + A[i]\n    B[i] = t",
    "counting": "i = 0\nwhile i < 4:\n    B[i] = A[i]\n    i = i + 1",
    "a condition": "t = N[0] > 2\nif t:\n    B[0] = A[0]",
    "of itself": "t: T.float32\nt = 2.0\nt = t\nB[0] = t",
    "bound": "t: T.let = A[0]\nu: T.let[T.float32] = t + 1.0\nB[0] = t * u",
    "bound by a call": "t = T.bind(A[0] + 1.0)\nB[0] = t",
    "another name": "v = A\nB[0] = v[0]",
    "several": "x, y = A[0], A[1]\nx = y\nB[0] = x + y",
    "by words": 't = T.local_scalar("float32")\nu = T.alloc_scalar("int32")\nt = A[0]\nu = 1\nB[u] = t',
    "shared": 't = T.shared_scalar("float32")\nt = A[0]\nB[0] = t',
    "local memory": "t: T.float32[2]\nt[0] = A[0]\nB[0] = t[0]",
    "one element": 't = T.alloc_local((1,), "float32")\nt = A[0]\nB[0] = t[0]',
    "a vector": "t = A[T.Ramp(0, 1, 4)]\nB[T.Ramp(0, 1, 4)] = t",
    "a cast method": 't = A[0].astype("int32")\nB[t % 4] = 1.0',
    "functions": "t = T.exp(A[0])\nu = T.max(t, 0.5)\nv = T.isnan(u)\nif v:\n    B[0] = u",
    "counted bits": "t = T.popcount(N[0])\nB[t % 4] = 1.0",
    "an argument": 't = A[0]\nT.evaluate(t)\nassert t > 0.0, "x"\nB[0] = T.Select(t > 1.0, t, A[1])',
    "hidden in a loop": "t = A[0]\nfor t in range(2):\n    B[t] = A[t]\nB[3] = t",
}
REFUSED = {
    "bound twice": "t: T.let = A[0]\nt: T.let = A[1]\nB[0] = t",
    "bound for good": "t: T.let = A[0]\nt = A[1]\nB[0] = t",
    "declared twice": "t = A[0]\nt: T.int32 = N[0]\nB[0] = t",
    "the wrong type": "t: T.let[T.int64] = N[0]\nB[t] = A[0]",
    "a number of the wrong type": "t: T.let[T.int64] = 1\nB[t] = A[0]",
    "a parameter": "A = A[0]\nB[0] = A",
    "a loop variable": "for i in range(4):\n    i = i + 1\n    B[i] = A[i]",
    "behind its body": "if N[0] > 1:\n    t = A[0]\nB[0] = t",
    "a text": "t = 'x'\nB[0] = A[0]",
    "a type in quotes": 't: "float32" = A[0]\nB[0] = t',
    "a handle": "t: T.handle = A.data\nB[0] = A[0]",
    "indexed": "t: T.float32 = A[0]\nB[0] = t[0]",
    "several again": "x, y = A[0], A[1]\nx, y = y, x\nB[0] = x",
}


def text_of(body: str) -> str:
    return HEAD + indent(body, "    ") + "\n"


def read(text: str) -> Any:
    return tvm.script.from_source(text)


def errors(text: str) -> list[str]:
    return [d.code for d in check_text(text).diagnostics if d.is_error]


def agrees(text: str) -> tir.PrimFunc:
    """The function; TVM reads our printing of it as it reads the text."""
    [module] = parse(text).modules
    printed = print_module(module)
    assert tvm_ffi.structural_equal(read(text), read(printed[printed.index("@T.") :])), printed
    assert "PARSE-opaque" not in [d.code for d in check_text(text).diagnostics]
    [func] = module.functions.values()
    assert isinstance(func, tir.PrimFunc)
    return func


@pytest.mark.parametrize("name", list(READ))
def test_what_tvm_reads(name: str) -> None:
    assert errors(text_of(READ[name])) == []
    agrees(text_of(READ[name]))


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_tvm_refuses(name: str) -> None:
    with pytest.raises(tvm.error.DiagnosticError):
        read(text_of(REFUSED[name]))
    assert len(errors(text_of(REFUSED[name]))) == 1


class Body:
    """Random statements over scalars, all of which have a value wherever they are read."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, str] = {}
        self.fixed: set[str] = set()

    def value(self, kind: str, depth: int = 2) -> str:
        known = [name for name, of in self.names.items() if of == kind]
        at = self.rng.randrange(4)
        leaves = [f"A[{at}]", "0.5", "2.0"] if kind == "float32" else [f"N[{at}]", "3", "1"]
        if not depth or self.rng.random() < 0.3:
            return self.rng.choice([*leaves, *known, *known])
        a, b = self.value(kind, depth - 1), self.value(kind, depth - 1)
        if self.rng.random() < 0.2:
            return f"T.if_then_else({self.condition()}, {a}, {b})"
        return self.rng.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"T.max({a}, {b})"])

    def condition(self) -> str:
        return f"{self.value('int32', 1)} < N[{self.rng.randrange(4)}]"

    def block(self, depth: int, new: bool = True) -> list[str]:
        outer = dict(self.names)
        lines = [line for _ in range(self.rng.randint(1, 4)) for line in self.statement(depth, new)]
        self.names = outer
        return lines

    def statement(self, depth: int, new: bool) -> list[str]:
        kind = self.rng.choice(["float32", "int32"])
        pick = self.rng.random()
        free = [name for name in "stuvw" if name not in self.names]
        if new and free and pick < 0.35:
            value = self.value(kind)
            spelled = self.rng.choice(["", "", f": T.{kind}", ": T.let"])
            # What TVM computes of numbers alone has another type here and there.
            spelled = spelled if "[" in value or self.names else f": T.{kind}"
            self.names[free[0]] = kind
            if "let" in spelled:
                self.fixed.add(free[0])
            else:
                self.fixed.discard(free[0])
            return [f"{free[0]}{spelled} = {value}"]
        known = [n for n in self.names if n not in self.fixed]
        if known and pick < 0.65:
            name = self.rng.choice(known)
            return [f"{name} {self.rng.choice(['=', '+='])} {self.value(self.names[name])}"]
        if depth and pick < 0.75:
            return ["for i in range(2):", *indented(self.block(depth - 1))]
        if depth and pick < 0.85:
            inner = ["else:", *indented(self.block(depth - 1))] if pick < 0.8 else []
            return [f"if {self.condition()}:", *indented(self.block(depth - 1)), *inner]
        return [f"B[{self.rng.randrange(4)}] = {self.value('float32')}"]


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@pytest.mark.parametrize("seed", range(12))
def test_random_bodies(seed: int) -> None:
    rng = random.Random(seed)
    made = Body(rng)
    lines = made.block(2)
    text = text_of("\n".join([*lines, "B[3] = A[3]"]))
    assert errors(text) == []
    func = agrees(text)
    A = np.array([0.5, -1.5, 2.25, 3.0], np.float32)
    N = np.array([2, -3, 5, 1], np.int32)
    ends = []
    for run in (evaluate, lambda f, arrays: native.compile(f)(arrays, 10_000)):
        B = np.full(4, 9.0, np.float32)
        with np.errstate(all="ignore"):
            run(func, [A.copy(), N.copy(), B])
        ends.append(B)
    built = tvm.compile(
        tvm.IRModule({"f": read(text).with_attr("global_symbol", "f")}), target=QUICK
    )
    theirs = [tvm.runtime.tensor(x) for x in (A, N, np.full(4, 9.0, np.float32))]
    built["f"](*theirs)
    for end in ends:
        np.testing.assert_allclose(end, theirs[2].numpy(), rtol=1e-5)
