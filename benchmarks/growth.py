"""Growth of a command's time with its input: ``python -m benchmarks.growth [NAME…]``.

Each kind of input is made at 1, 2, 4 and 8 times its size and given to commands, each run in a
fork of a warm process. The table shows seconds of processor time, those for an empty program not
counted, and the exponent of the bytes in the time: 1 is linear. The bytes are those of the text,
and of the program that ``fmt`` and ``lower`` write: lines that are nested are indented, so some
texts grow with the square of their statements. A kind is slow if the exponent of the last doublings
is above :data:`BOUND` and the time above :data:`SMALL`.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from benchmarks import shared_dimensions
from rlx.grammar.nodes.node import Record

FACTORS = 1, 2, 4, 8
BOUND = 1.25
"""The exponent above which growth counts as more than n log n, with some room for noise."""

SMALL = 0.25
"""Seconds below which an exponent says nothing."""

LIMIT = 6
"""Seconds of processor time after which a run is ended."""

Maker = Callable[[int], str]


class InputKind(Record):
    """One kind of input.

    Attributes
    ----------
    make
        The program of a given size.
    size
        The smallest size.
    commands
        The commands to measure; ``LINE`` in their arguments is the line to explain.
    """

    make: Maker
    size: int
    commands: tuple[str, ...]


CHECK, JSON, FMT, WHY, LOWER, RUN = "check", "json", "fmt", "why", "lower", "run"
REFINES, MEMORY, STEP, DIFF = "refines", "memory", "step", "diff"
BUILD, DISASM, PROVE = "build", "disasm", "prove"
GRAPH, COMPARE, DERIVATIONS = "graph", "compare", "derivations"
LATER = GRAPH, COMPARE, DERIVATIONS
ALL = CHECK, JSON, FMT, WHY, LOWER, RUN, REFINES, MEMORY, STEP, DIFF, BUILD, DISASM, *LATER
READ = CHECK, JSON, FMT
HEAD = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n'
KINDS: dict[str, InputKind] = {}


def kind(name: str, size: int, *commands: str) -> Callable[[Maker], Maker]:
    """Register a kind of input."""

    def register(make: Maker) -> Maker:
        KINDS[name] = InputKind(make, size, commands)
        return make

    return register


def indented(lines: Iterable[str]) -> str:
    """The lines of a body."""
    return "".join(f"    {line}\n" for line in lines)


def function(lines: Iterable[str], head: str = HEAD, result: str = "x") -> str:
    """A function with these statements."""
    return f"{head}{indented(lines)}    return {result}\n"


def prim_func(lines: Iterable[str], params: str = 'a: T.Buffer((4,), "int64"), n: T.int64') -> str:
    """A PrimFunc with these statements."""
    return f"@T.prim_func\ndef f({params}):\n{indented(lines)}"


# --- struct info that is shared ---------------------------------------------------------------


def doubled(size: int, first: str = "x") -> list[str]:
    """Bindings, each a tuple of the one before, twice."""
    return [
        f"v{i} = (v{i - 1}, v{i - 1})" if i else f"v0 = ({first}, {first})" for i in range(size)
    ]


kind("tuples that double", 20, CHECK, FMT, WHY, LOWER, *LATER)(
    lambda size: function(doubled(size), result=f"v{size - 1}")
)


@kind("dimensions that square", 4, CHECK, JSON, WHY, DERIVATIONS)
def _(size: int) -> str:
    lines, last = [], "x"
    for k in range(size):
        lines += [f"a{k} = R.concat(({last}, x), axis=0)", f"b{k} = R.outer(a{k}, a{k})"]
        lines.append(f"c{k} = R.flatten(b{k})")
        last = f"c{k}"
    return function(lines, HEAD.replace("(2,)", '("n",)'), last)


kind("tuples that double, run", 6, RUN)(
    lambda size: function([*doubled(size), "y = v5[0]"], result="x")
)
kind("tuples that double, in a message", 20, CHECK, JSON, WHY)(
    lambda size: function([*doubled(size), f"y = R.add(v{size - 1}, x)"], result="y")
)


@kind("tuples that double, against an annotation", 20, CHECK, JSON, WHY)
def _(size: int) -> str:
    lines = [*doubled(size), f"y: R.Tuple(R.Tensor((3,)), R.Object) = v{size - 1}"]
    return function(lines, result="y")


@kind("tuples that double, compared with each other", 20, CHECK, WHY)
def _(size: int) -> str:
    other = [line.replace("v", "w") for line in doubled(size)]
    last = f"if c:\n        y = v{size - 1}\n    else:\n        y = w{size - 1}"
    head = HEAD.replace("main(", "main(c: R.Tensor((), 'bool'), ")
    return function([*doubled(size), *other, last], head, "y")


kind("tuples that double, of symbolic tensors", 20, CHECK, WHY, LOWER)(
    lambda size: function(doubled(size), HEAD.replace("(2,)", '("n",)'), f"v{size - 1}")
)


@kind("tuples that double, through functions", 20, CHECK, WHY, LOWER)
def _(size: int) -> str:
    texts = [HEAD.replace("main", "f0") + "    return (x, x)\n"]
    for i in range(1, size):
        head = HEAD.replace("main", f"f{i}")
        texts.append(function([f"y = f{i - 1}(x)", "z = (y, y)"], head, "z"))
    return "@I.ir_module\nclass M:\n" + "".join(
        f"    {line}\n" for text in texts for line in text.splitlines()
    )


@kind("tuples that double, in closures", 20, CHECK, WHY, LOWER)
def _(size: int) -> str:
    inner = f"@R.function\n    def g(z: R.Object):\n        y = v{size - 1}\n        return y"
    return function([*doubled(size), inner, "r = g(x)"], result="r")


@kind("tuples that double, in a dataflow block", 20, CHECK, WHY, LOWER)
def _(size: int) -> str:
    lines = [f"    {line}" for line in doubled(size)]
    return function(
        ["with R.dataflow():", *lines, f"    R.output(v{size - 1})"], result=f"v{size - 1}"
    )


@kind("tuples that double, returned as declared", 20, CHECK, WHY)
def _(size: int) -> str:
    head = HEAD.replace("):\n", ") -> R.Tensor((2,)):\n")
    return function(doubled(size), head, f"v{size - 1}")


@kind("tuples that double, cast", 20, CHECK, WHY, LOWER)
def _(size: int) -> str:
    cast = f"y = R.match_cast(v{size - 1}, R.Tuple(R.Object, R.Tuple(R.Object, R.Tensor((3,)))))"
    return function([*doubled(size), cast], result="y")


kind("tuples in tuples", 50, *ALL)(
    lambda size: function(
        [f"v{i} = (v{i - 1}, x)" if i else "v0 = (x, x)" for i in range(size)],
        result=f"v{size - 1}",
    )
)


@kind("tuples in tuples, annotated in messages", 50, CHECK, JSON)
def _(size: int) -> str:
    lines = [f"v{i} = (v{i - 1}, x)" if i else "v0 = (x, x)" for i in range(size)]
    lines += [f"w{i} = R.add(v{i}, x)" for i in range(size)]
    return function(lines)


kind("a tuple of many fields", 2_000, CHECK, FMT, WHY, LOWER)(
    lambda size: function([f"y = ({'x, ' * size})", f"z = y[{size - 1}]"], result="z")
)
kind("fields of a tuple of many fields", 250, CHECK, FMT, WHY, LOWER)(
    lambda size: function(
        [f"y = ({'x, ' * size})", *(f"z{i} = y[{i}]" for i in range(size))], result="z0"
    )
)
kind("a call with many arguments", 2_000, *READ)(
    lambda size: function([f"y = R.add({'x, ' * size})"], result="y")
)


@kind("a packed call with many arguments", 2_000, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    args = "x, " * size
    call = f'y = R.call_packed("f", {args}sinfo_args=R.Object)'
    return function(
        [call], "@R.function(pure=False)\ndef main(x: R.Tensor((2,), 'float32')):\n", "y"
    )


# --- names and suggestions --------------------------------------------------------------------
kind("an undefined long name", 2_000, *READ)(
    lambda size: function(
        [f"{'a' * size} = x", f"y = R.add(x, {'a' * (size // 2)}b{'a' * (size // 2)})"]
    )
)
kind("a defined long name", 20_000, *READ)(
    lambda size: function([f"{'a' * size} = x", f"y = {'a' * size}"])
)


@kind("long names, alike", 25, *READ)
def _(size: int) -> str:
    names = [f"{'a' * 200}{i}" for i in range(size)]
    return function(
        [*(f"{name} = x" for name in names), *(f"y{i} = {n}q" for i, n in enumerate(names))]
    )


kind("undefined names", 250, *READ)(
    lambda size: function(f"y{i} = R.add(x, q{i})" for i in range(size))
)


@kind("undefined names beside defined ones", 250, *READ)
def _(size: int) -> str:
    lines = [f"value{i} = x" for i in range(size)]
    return function([*lines, *(f"y{i} = R.add(x, valeu{i}q)" for i in range(size))])


@kind("undefined global functions", 250, *READ)
def _(size: int) -> str:
    texts = "".join(
        f"    @R.function\n    def func{i}(x: R.Object):\n        y = fnuc{i}z(x)\n        return y\n"
        for i in range(size)
    )
    return f"@I.ir_module\nclass M:\n{texts}"


kind("unknown operators", 250, *READ)(
    lambda size: function(f"y{i} = R.addd{i}(x, x)" for i in range(size))
)
kind("an unknown long operator", 2_000, *READ)(
    lambda size: function([f"y = R.{'add' * size}(x, x)"])
)
kind("unknown keywords", 250, *READ)(
    lambda size: function([f"y = R.sum(x, {', '.join(f'axs{i}=0' for i in range(size))})"])
)
kind("undefined names in a PrimFunc", 250, *READ)(
    lambda size: prim_func(f"a[0] = q{i}" for i in range(size))
)
kind("Unicode names", 500, *READ)(
    lambda size: function(
        f"größe{i} = R.add(x, {f'größe{i - 1}' if i else 'x'})" for i in range(size)
    )
)
kind("undefined Unicode names", 250, *READ)(
    lambda size: function(f"größe{i} = R.add(x, grösse{i})" for i in range(size))
)


# --- diagnostics and comments -----------------------------------------------------------------


@kind("errors of shapes", 250, CHECK, JSON)
def _(size: int) -> str:
    head = HEAD.replace("main(", 'main(z: R.Tensor((3,), "float32"), ')
    return function((f"y{i} = R.add(x, z)" for i in range(size)), head)


kind("errors on one line", 250, CHECK, JSON, "github", "sarif")(
    lambda size: function([f"y = ({', '.join(f'q{i}' for i in range(size))})"])
)
kind("unused suppressions", 500, CHECK, JSON)(
    lambda size: function(f"y{i} = R.add(x, x)  # rlx: ignore[D14-arity]" for i in range(size))
)
kind("suppressions", 250, CHECK, JSON)(
    lambda size: function(
        f"y{i} = R.add(x, q{i})  # rlx: ignore[WF02-undefined]" for i in range(size)
    )
)
kind("misspelt suppressions", 125, CHECK, JSON)(
    lambda size: function(f"y{i} = x  # rlx: ignore[WF02-undefind{i}]" for i in range(size))
)
kind("comments that ignore, without their brackets, on one line", 500, CHECK, JSON, FMT)(
    lambda size: function(["y = x  " + "# rlx: ignore[" * size])
)
kind("codes of one suppression", 250, CHECK, JSON)(
    lambda size: function([f"y = x  # rlx: ignore[{', '.join(f'D14-x{i}' for i in range(size))}]"])
)


@kind("suppressed errors on one line", 250, CHECK, JSON)
def _(size: int) -> str:
    names = ", ".join(f"q{i}" for i in range(size))
    return function([f"y = ({names})  # rlx: ignore[WF02-undefined]"])


kind("comments", 5_000, *READ)(lambda size: "# a comment\n" * size + function(["y = x"]))
kind("comments inside a function", 2_000, *READ)(
    lambda size: function("y = x\n    # a comment" for _ in range(size))
)
kind("syntax errors", 250, *READ)(
    lambda size: function(f"y{i} = R.add(x,, x)" for i in range(size))
)
kind("statements behind a wrong indentation", 250, *READ)(
    lambda size: (
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Object):\n    1   y = x\n"
        + indented(f"    y{i} = R.add(x, x)" for i in range(size))
    )
)
kind("strange characters", 500, *READ)(lambda size: function([f"y = x {'? ' * size}"]))
kind("statements on one line", 500, *READ)(
    lambda size: function(["; ".join(f"y{i} = R.add(x, x)" for i in range(size))])
)
kind("unused bindings", 500, CHECK, JSON, FMT, WHY, LOWER)(
    lambda size: function("y = R.add(x, x)" for _ in range(size))
)


# --- literals ---------------------------------------------------------------------------------
kind("a long string", 50_000, *READ)(lambda size: function([f'y = R.str("{"ab" * size}")']))


@kind("a string of escapes", 20_000, *READ)
def _(size: int) -> str:
    text = "\\n\\x00" + "é" * size + "\\t" * size
    return function([f'y = R.str("{text}")'])


kind("a huge integer", 1_250, *READ)(lambda size: function([f"y = R.shape([{'9' * size}])"]))
kind("a huge integer in a PrimFunc", 1_250, *READ)(
    lambda size: prim_func([f"a[0] = T.int64({'9' * size})"])
)
kind("a product of huge integers", 125, *READ)(
    lambda size: function([f"y = R.shape([{' * '.join(['9999999999'] * size)}])"])
)


@kind("long metadata", 1_000, *READ)
def _(size: int) -> str:
    values = ", ".join(map(str, range(size)))
    return f'@I.ir_module\nclass M:\n    I.module_attrs({{"a": [{values}]}})\n' + "".join(
        f"    {line}\n" for line in function(["y = x"]).splitlines()
    )


@kind("attributes with many keys", 500, *READ)
def _(size: int) -> str:
    pairs = ", ".join(f'"k{i}": {i}' for i in range(size))
    return function([f"R.func_attr({{{pairs}}})"])


@kind("keywords of a call", 500, *READ)
def _(size: int) -> str:
    pairs = ", ".join(f"k{i}={i}" for i in range(size))
    call = f'y = R.call_packed("f", x, {pairs}, sinfo_args=R.Object)'
    return function([call], "@R.function(pure=False)\ndef main(x: R.Object):\n", "y")


# --- nesting ----------------------------------------------------------------------------------
kind("parentheses", 60, *READ)(lambda size: function([f"y = {'(' * size}x{')' * size}"]))
kind("open parentheses", 1_000, *READ)(lambda size: function([f"y = {'(' * size}"]))
kind("nested calls", 60, *ALL)(
    lambda size: function([f"y = {'R.add(' * size}x{', x)' * size}"], result="y")
)
kind("a chain of attributes", 500, *READ)(lambda size: function([f"y = x{'.a' * size}"]))
kind("a chain of fields", 60, *READ)(
    lambda size: function([f"y = {'(' * size}x{',)' * size}{'[0]' * size}"])
)
kind("a chain of `-`", 60, *READ)(lambda size: function([f"y = {'- ' * size}x"]))
kind("a chain of `not`", 60, *READ)(lambda size: prim_func([f"T.evaluate({'not ' * size}n)"]))
kind("a chain of `~`", 60, *READ)(lambda size: prim_func([f"T.evaluate({'~' * size}n)"]))
kind("a chain of `-` in a PrimFunc", 60, *READ)(
    lambda size: prim_func([f"T.evaluate({'-' * size}n)"])
)
kind("a chain of `-` in a shape", 60, *READ)(
    lambda size: function([f"y = R.shape([{'-' * size}n])"], HEAD.replace("(2,)", '("n",)'))
)
kind("a long chain of `not`", 1_000, *READ)(
    lambda size: prim_func([f"T.evaluate({'not ' * size}n)"])
)
kind("a long chain of `-`", 1_000, *READ)(lambda size: function([f"y = {'-' * size}x"]))
kind("sums of tensors", 250, CHECK, JSON, FMT, WHY, LOWER)(
    lambda size: function([f"y = {' + '.join(['x'] * size)}"], result="y")
)
kind("`and` of a PrimFunc", 125, *READ)(
    lambda size: prim_func([f"T.evaluate({' and '.join(f'n > {i}' for i in range(size))})"])
)
kind("a chain of comparisons", 125, *READ)(
    lambda size: prim_func([f"T.evaluate({' < '.join(['n'] * size)})"])
)
kind("conditions in conditions", 30, *READ)(
    lambda size: prim_func([f"a[0] = {'(n if n > 0 else ' * size}n{')' * size}"])
)
kind("types in types", 60, *READ)(
    lambda size: function([f"y: {'R.Tuple(' * size}R.Object{')' * size} = x"])
)
kind("types of functions in types", 30, *READ)(
    lambda size: function(
        ["y = x"],
        f"@R.function\ndef main(x: {'R.Callable((' * size}R.Object{',), R.Object)' * size}):\n",
    )
)


@kind("modules in modules", 60, *READ)
def _(size: int) -> str:
    heads = (f"{' ' * i}@I.ir_module\n{' ' * i}class M{i}:\n" for i in range(size))
    space = " " * size
    return f"{''.join(heads)}{space}@R.function\n{space}def f(x: R.Object):\n{space} return x\n"


# --- control flow -----------------------------------------------------------------------------

COND = 'def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):\n'


@kind("ifs in ifs", 50, *ALL)
def _(size: int) -> str:
    lines = [f"{' ' * (i + 1)}if c:\n" for i in range(size)]
    lines.append(f"{' ' * (size + 1)}y = x\n")
    for i in reversed(range(size)):
        lines.append(f"{' ' * (i + 1)}else:\n{' ' * (i + 2)}y = R.add(x, x)\n")
    return f"@R.function\n{COND}{''.join(lines)} return y\n"


@kind("ifs one after the other", 100, *ALL)
def _(size: int) -> str:
    lines = (f"if c:\n        y{i} = x\n    else:\n        y{i} = R.add(x, x)" for i in range(size))
    return function(lines, f"@R.function\n{COND}", "y0")


@kind("elifs", 50, *READ)
def _(size: int) -> str:
    lines = ["if c:\n        y = x", *("elif c:\n        y = x" for _ in range(size))]
    return function([*lines, "else:\n        y = R.add(x, x)"], f"@R.function\n{COND}", "y")


@kind("tuples that double over ifs", 20, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    lines = (
        f"if c:\n        v{i} = ({v}, {v})\n    else:\n        v{i} = ({v}, {v})"
        for i in range(size)
        for v in [f"v{i - 1}" if i else "x"]
    )
    return function(lines, f"@R.function\n{COND}", f"v{size - 1}")


kind("dataflow blocks", 100, *ALL)(
    lambda size: function(
        f"with R.dataflow():\n        y{i} = R.add(x, x)\n        R.output(y{i})"
        for i in range(size)
    )
)


@kind("outputs of a dataflow block", 250, *ALL)
def _(size: int) -> str:
    lines = [f"    y{i} = R.add(x, x)" for i in range(size)]
    outputs = ", ".join(f"y{i}" for i in range(size))
    return function(["with R.dataflow():", *lines, f"    R.output({outputs})"])


kind("loops in a PrimFunc", 100, *READ)(
    lambda size: prim_func(
        f"for i{k} in range(4):\n        a[i{k}] = T.int64(1)" for k in range(size)
    )
)


@kind("loops in loops", 20, *READ)
def _(size: int) -> str:
    heads = "".join(f"{' ' * (k + 1)}for i{k} in range(2):\n" for k in range(size))
    return f'@T.prim_func\ndef f(a: T.Buffer((4,), "int64")):\n{heads}{" " * (size + 1)}a[0] = T.int64(1)\n'


kind("asserts", 100, *READ)(lambda size: prim_func(f'assert n > {k}, "n"' for k in range(size)))
kind("stores", 250, *READ)(
    lambda size: prim_func(f"a[{k % 4}] = n + T.int64({k})" for k in range(size))
)
kind("buffers of a PrimFunc", 100, *READ)(
    lambda size: prim_func(f'b{k} = T.alloc_buffer((4,), "int64")' for k in range(size))
)
kind("lets of a PrimFunc", 100, *READ)(
    lambda size: prim_func(
        f"v{k}: T.int64 = {f'v{k - 1} + v{k - 1}' if k else 'n'}" for k in range(size)
    )
)


# --- functions --------------------------------------------------------------------------------


def module(texts: Iterable[str]) -> str:
    """A module of these functions."""
    inner = "".join(f"    {line}\n" for text in texts for line in text.splitlines())
    return f"@I.ir_module\nclass M:\n{inner}"


kind("global functions", 250, *ALL)(
    lambda size: module(
        function(["y = R.add(x, x)"], HEAD.replace("main", f"f{i}" if i else "main"))
        for i in range(size)
    )
)
kind("classes without a body", 250, *READ)(lambda size: "@I.ir_module\nclass M:\n" * size)
kind("a ring of functions", 60, CHECK, FMT, WHY)(
    lambda size: module(
        function([f"y = f{(i + 1) % size}(x)"], HEAD.replace("main", f"f{i}"), "y")
        for i in range(size)
    )
)


@kind("a ring of annotated functions", 60, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    head = HEAD.replace("):\n", ') -> R.Tensor((2,), "float32"):\n')
    return module(
        function([f"y = f{(i + 1) % size}(x)"], head.replace("main", f"f{i}"), "y")
        for i in range(size)
    )


kind("a chain of functions", 60, CHECK, FMT, WHY, LOWER)(
    lambda size: module(
        function(
            [f"y = f{i + 1}(x)"] if i + 1 < size else ["y = x"], HEAD.replace("main", f"f{i}"), "y"
        )
        for i in range(size)
    )
)
kind("a chain of functions, backwards", 60, CHECK, FMT, WHY, LOWER)(
    lambda size: module(
        function([f"y = f{i - 1}(x)"] if i else ["y = x"], HEAD.replace("main", f"f{i}"), "y")
        for i in range(size)
    )
)


@kind("a chain of symbolic functions", 60, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    head = HEAD.replace("(2,)", '("n",)').replace("):\n", ') -> R.Tensor(("n",), "float32"):\n')
    return module(
        function([f"y = f{i - 1}(x)"] if i else ["y = x"], head.replace("main", f"f{i}"), "y")
        for i in range(size)
    )


def calls_twice(first: str) -> Maker:
    """Functions without annotated results, each of which calls the one before on its own result."""
    head = HEAD.replace("(2,)", '("n",)')
    return lambda size: module(
        function(
            [f"y = f{i - 1}(x)", f"z = f{i - 1}(y)"] if i else [f"z = {first}"],
            head.replace("main", f"f{i}"),
            "z",
        )
        for i in range(size)
    )


COMPOSED = CHECK, FMT, WHY, LOWER, REFINES, MEMORY
kind("functions that call a slice twice", 8, *COMPOSED)(
    calls_twice("R.strided_slice(x, axes=[0], begin=[1], end=[n])")
)
kind("functions that call an irregular slice twice", 8, *COMPOSED)(
    calls_twice("R.strided_slice(x, axes=[0], begin=[n // 3], end=[n - 1])")
)
kind("functions that all call each other", 8, CHECK, WHY)(
    lambda size: module(
        function([f"y{k} = f{k}(x)" for k in range(size)], HEAD.replace("main", f"f{i}"), "y0")
        for i in range(size)
    )
)
kind("PrimFuncs", 100, *ALL)(
    lambda size: module(
        [
            *(prim_func(["a[0] = n"]).replace("def f", f"def f{i}") for i in range(size)),
            function(["y = x"]),
        ]
    )
)


@kind("local functions", 50, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    lines = (
        f"@R.function\n    def g{i}(z: R.Object):\n        w = (z, x)\n        return w"
        for i in range(size)
    )
    return function([*lines, "y = g0(x)"], result="y")


@kind("closures of closures", 15, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    heads = "".join(
        f"{' ' * (k + 1)}@R.function\n{' ' * (k + 1)}def f{k}(y{k}: R.Object):\n"
        for k in range(size)
    )
    ends = "".join(f"{' ' * (k + 1)}return f{k}(x)\n" for k in reversed(range(size)))
    return f"{HEAD}{heads}{' ' * (size + 1)}return x\n{ends}"


@kind("parameters", 250, *ALL)
def _(size: int) -> str:
    params = ", ".join(f'p{i}: R.Tensor((2,), "float32")' for i in range(size))
    return function(["y = p0"], f"@R.function\ndef main({params}):\n", "y")


# --- shapes -----------------------------------------------------------------------------------


@kind("shape variables of a signature", 100, *ALL)
def _(size: int) -> str:
    params = ", ".join(f'p{i}: R.Tensor(("n{i}",), "float32")' for i in range(size))
    return function(["y = p0"], f"@R.function\ndef main({params}):\n", "y")


@kind("slices of a concatenation of unlike tensors", 6, *COMPOSED)
def _(size: int) -> str:
    params = ", ".join(f'p{i}: R.Tensor(("d{i}",), "float32")' for i in range(size))
    whole = f"c = R.concat(({', '.join(f'p{i}' for i in range(size))}), axis=0)"
    sums = [" + ".join(f"d{i}" for i in range(k + 1)) for k in range(size)]
    parts = [
        f"e{k} = R.strided_slice(c, axes=[0], begin=[d{k}], end=[{end}])"
        for k, end in enumerate(sums)
    ]
    return function([whole, *parts], f"@R.function\ndef main({params}):\n", "e0")


@kind("shape variables of one tensor", 100, CHECK, JSON, FMT, WHY, LOWER)
def _(size: int) -> str:
    dims = ", ".join(f'"n{i}"' for i in range(size))
    return function(
        ["y = R.add(x, x)"], f'@R.function\ndef main(x: R.Tensor(({dims}), "float32")):\n', "y"
    )


@kind("calls with many shape variables", 30, CHECK, WHY, LOWER)
def _(size: int) -> str:
    dims = ", ".join(f'"n{i}"' for i in range(size))
    head = f'@R.function\ndef NAME(x: R.Tensor(({dims}), "float32")) -> R.Tensor(({dims}), "float32"):\n'
    return module(
        [
            function([], head.replace("NAME", "f")),
            function((f"y{i} = f(x)" for i in range(size)), head.replace("NAME", "main"), "y0"),
        ]
    )


@kind("casts of one tensor, facts", 30, CHECK, JSON, FMT, WHY, LOWER)
def _(size: int) -> str:
    variables = [f"k{i} = T.int64()" for i in range(size)]
    casts = [f'v{i} = R.match_cast(x, R.Tensor((k{i} * {i + 2},), "float32"))' for i in range(size)]
    last = f"y = R.add(v0, v{size - 1})"
    return function([*variables, *casts, last], HEAD.replace("(2,)", '("n",)'), "y")


@kind("casts of one tensor, questions", 30, CHECK, JSON, WHY, LOWER)
def _(size: int) -> str:
    variables = [f"k{i} = T.int64()" for i in range(size)]
    casts = [f'v{i} = R.match_cast(x, R.Tensor((k{i} * 2,), "float32"))' for i in range(size)]
    sums = [f"y{i} = R.add(v{i}, x)" for i in range(size)]
    return function([*variables, *casts, *sums], HEAD.replace("(2,)", '("n",)'))


@kind("casts of many tensors", 30, CHECK, JSON, FMT, LOWER)
def _(size: int) -> str:
    params = ", ".join(f'x{i}: R.Tensor(("n{i}",), "float32")' for i in range(size))
    dims = ", ".join(f'"k{i}"' for i in range(size))
    casts = [
        f'v{i} = R.match_cast(x{i}, R.Tensor((k{i} * 2,), "float32"))\n'
        f"    y{i} = R.reshape(v{i}, (2, k{i}))"
        for i in range(size)
    ]
    variables = [f"k{i} = T.int64()" for i in range(size)]
    head = f"@R.function\ndef main(s: R.Shape([{dims}]), {params}):\n"
    return function([*variables, *casts], head, "y0")


@kind("casts that bind", 100, CHECK, JSON, FMT, WHY, LOWER)
def _(size: int) -> str:
    variables = [f"k{i} = T.int64()" for i in range(size)]
    casts = [f'v{i} = R.match_cast(x, R.Tensor((k{i},), "float32"))' for i in range(size)]
    sums = [f"y{i} = R.add(v{i}, x)" for i in range(size)]
    return function([*variables, *casts, *sums], HEAD.replace("(2,)", '("n",)'))


@kind("casts of a chain", 60, CHECK, FMT, WHY, LOWER)
def _(size: int) -> str:
    variables = [f"k{i} = T.int64()" for i in range(size)]
    casts = [
        f'v{i} = R.match_cast({v}, R.Tensor((k{i} + {i},), "float32"))'
        for i in range(size)
        for v in [f"v{i - 1}" if i else "x"]
    ]
    return function([*variables, *casts], HEAD.replace("(2,)", '("n",)'))


kind("concatenations", 100, CHECK, FMT, WHY, LOWER)(
    lambda size: function(
        (f"v{i} = R.concat(({f'v{i - 1}' if i else 'x'}, x), axis=0)" for i in range(size)),
        HEAD.replace("(2,)", '("n",)'),
        f"v{size - 1}",
    )
)
kind("tensors joined at once", 60, CHECK, FMT, WHY, LOWER, BUILD, MEMORY)(
    lambda size: function(
        [f"v = R.concat(({'x, ' * size}), axis=0)"], HEAD.replace("(2,)", '("n",)'), "v"
    )
)
kind("many different kernels", 100, LOWER, BUILD)(
    lambda size: function(
        f'v{i} = R.full(R.shape([{i + 1}]), R.const({i}, "float32"))' for i in range(size)
    )
)


@kind("poolings of symbolic sizes", 5, CHECK, LOWER, MEMORY)
def _(size: int) -> str:
    window = "pool_size=[3, 2], strides=[2, 1], padding=[1, 0], ceil_mode=True"
    lines = (f"v{i} = R.nn.max_pool2d({f'v{i - 1}' if i else 'x'}, {window})" for i in range(size))
    return function(lines, HEAD.replace("(2,)", '("n", 4, "h", "w")'), f"v{size - 1}")


kind("kernels of different sizes", 20, LOWER, BUILD, MEMORY)(
    lambda size: function(
        (f"v{i} = R.concat(({f'v{i - 1}' if i else 'x'}, x), axis=0)" for i in range(size)),
        result=f"v{size - 1}",
    )
)
kind("kernels with different constants", 60, LOWER, BUILD, MEMORY)(
    lambda size: function(f"v{i} = R.clip(x, min=0, max={i + 1})" for i in range(size))
)


@kind("tensors of different shape variables", 30, LOWER, BUILD, MEMORY)
def _(size: int) -> str:
    params = ", ".join(f'p{i}: R.Tensor(("n{i}",), "float32")' for i in range(size))
    lines = (f"v{i} = R.add(p{i}, p{i})\n    w{i} = R.exp(v{i})" for i in range(size))
    return function(lines, f"@R.function\ndef main({params}):\n", f"w{size - 1}")


kind("bindings", 500, *ALL)(
    lambda size: function(
        (f"v{i} = R.add({f'v{i - 1}' if i else 'x'}, x)" for i in range(size)),
        HEAD.replace("(2,)", '("n",)'),
        f"v{size - 1}",
    )
)


# --- goals ------------------------------------------------------------------------------------


@kind("a goal with many names", 100, PROVE)
def _(size: int) -> str:
    names = [f"n{i}" for i in range(size)]
    return f"{' + '.join(names)} == {' + '.join(reversed(names))}"


kind("a goal of a long product", 9, PROVE)(lambda size: f"{'n * ' * size}n >= n")
kind("a goal of many comparisons", 30, PROVE)(
    lambda size: " and ".join(f"n + {i} > n" for i in range(size))
)
kind("a goal of many remainders", 30, PROVE)(
    lambda size: f"{' + '.join(f'n{i} % 4' for i in range(size))} <= {3 * size}"
)
kind("a goal in parentheses", 60, PROVE)(lambda size: f"{'(' * size}n{')' * size} == n")


# --- measuring --------------------------------------------------------------------------------


def _seeded(make: Callable[[int, random.Random], str]) -> Maker:
    return lambda size: make(size, random.Random(0))


for _name, _make in shared_dimensions.KINDS.items():
    kind(f"shared dimensions: {_name}", 10, CHECK, FMT, WHY, LOWER)(_seeded(_make))


class Figure(Record):
    """One run: seconds of processor time, the exit status, the bytes of output, and the peak of
    memory in mebibytes."""

    seconds: float
    status: str
    output: int
    mebibytes: float


def argument_lists(path: Path, text: str) -> dict[str, list[str]]:
    """The arguments of each command on a file, whose last statement it explains."""
    line = text.rstrip("\n").count("\n")
    return {
        CHECK: ["check", str(path)],
        JSON: ["check", "--format", "json", str(path)],
        "github": ["check", "--format", "github", str(path)],
        "sarif": ["check", "--format", "sarif", str(path)],
        FMT: ["fmt", "--diff", str(path)],
        WHY: ["why", f"{path}:{max(line, 1)}"],
        LOWER: ["lower", "--legalize", str(path)],
        RUN: ["run", str(path), "--seed", "0"],
        REFINES: ["refines", str(path), str(path)],
        MEMORY: ["memory", str(path)],
        STEP: ["step", str(path), "--seed", "0"],
        DIFF: ["diff", str(path), str(path)],
        BUILD: ["build", "--legalize", str(path), "-o", str(path.with_name("made.rlxexe"))],
        DISASM: ["disasm", str(path.with_name("made.rlxexe"))],
        GRAPH: ["graph", str(path), "--format", "html"],
        COMPARE: ["compare", str(path), str(path)],
        DERIVATIONS: ["check", "--derivations", "--format", "json", str(path)],
        PROVE: ["prove", "--", text.strip()],
    }


def measured(words: list[str], folder: Path) -> Figure:
    """A command in a fork of this process."""
    out, err = folder / "stdout", folder / "stderr"
    child = os.fork()
    if child == 0:
        _become(words, out, err)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    text = err.read_text("utf-8", "replace")
    said = f"signal {-code}" if code < 0 else str(code)
    if "RecursionError" in text or "Traceback" in text or code == 101:
        said += "!"
    return Figure(usage.ru_utime + usage.ru_stime, said, out.stat().st_size, usage.ru_maxrss / 1024)


def _become(words: list[str], out: Path, err: Path) -> None:
    """Run a command in this process, and end it."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    code: int | None = 1
    try:
        with out.open("wb") as one, err.open("wb") as two:
            os.dup2(one.fileno(), 1)
            os.dup2(two.fileno(), 2)
        from rlx import cli

        sys.argv = ["rlx", *words]
        code = cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - whatever a command raises is its answer
        traceback.print_exc()
        code = 101
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code or 0)


def exponent(times: list[float], sizes: list[int]) -> float:
    """The exponent of the bytes in the time over the last two doublings."""
    first, last = max(times[-3], 0.005), max(times[-1], 0.005)
    return math.log(last / first) / max(math.log(sizes[-1] / sizes[-3]), math.log(2))


def main() -> int:
    """Print the table; 1 if a kind is slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kinds, or parts of their names")
    parser.add_argument("--command", action="append", help="measure these commands alone")
    parser.add_argument("--slow", action="store_true", help="print the slow ones alone")
    options = parser.parse_args()
    slow = 0
    _warm()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = _empty(folder)
        for what, its in KINDS.items():
            if options.names and not any(part in what for part in options.names):
                continue
            for command in its.commands:
                if options.command and command not in options.command:
                    continue
                slow += _row(what, its, command, base[command], folder, options.slow)
    print(f"{slow} slow")
    return 1 if slow else 0


def _row(
    what: str, its: InputKind, command: str, base: float, folder: Path, slow_alone: bool
) -> bool:
    figures = []
    sizes = []
    for factor in FACTORS:
        text = its.make(its.size * factor)
        path = folder / "input.rlx"
        path.write_text(text, "utf-8")
        if command == DISASM:
            measured(argument_lists(path, text)[BUILD], folder)
        figures.append(measured(argument_lists(path, text)[command], folder))
        written = figures[-1].output if command in (FMT, LOWER) else 0
        sizes.append(len(text.encode()) + written)
        if figures[-1].status.startswith("signal"):
            break
    times = [max(figure.seconds - base, 0.0) for figure in figures]
    ended = figures[-1].status.startswith("signal") or "!" in figures[-1].status
    power = exponent(times, sizes) if len(times) == len(FACTORS) else math.inf
    slow = ended or (power > BOUND and times[-1] > SMALL)
    if slow or not slow_alone:
        shown = " ".join(f"{time:7.3f}" for time in times)
        last = figures[-1]
        print(
            f"{what:45} {command:6} {its.size * FACTORS[0]:6} {shown:31} {power:5.2f}"
            f"{' SLOW' if slow else ''}  exit {last.status}, {last.output} B, {last.mebibytes:.0f} MB",
            flush=True,
        )
    return slow


def _warm() -> None:
    """Load what the commands load, so that forks share it."""
    from rlx.checker.check import check_text
    from rlx.cli import COMMANDS
    from rlx.operators.registry import families

    families()
    check_text(function(["y = R.add(x, x)"]))
    for module_name, _ in COMMANDS.values():
        import_module(module_name)


def _empty(folder: Path) -> dict[str, float]:
    """Seconds of each command on a small program."""
    text = function(["y = R.add(x, x)"])
    path = folder / "input.rlx"
    path.write_text(text, "utf-8")
    return {
        command: min(measured(words, folder).seconds for _ in range(3))
        for command, words in argument_lists(path, text).items()
    }


if __name__ == "__main__":
    raise SystemExit(main())
