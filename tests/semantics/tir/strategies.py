"""Random PrimFuncs whose accesses are in bounds by construction, and the same with one that need not be.

The core is driven by two functions, one that draws an integer and one that draws an element, so that
`random.Random` and Hypothesis can both run it. What it makes is exact: no function of the C library, no sum of floats
whose order matters. Two ways to run a function must agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol, TypeVar

import numpy as np
from hypothesis import strategies as st

from rlx.grammar.nodes import tir

from .programs import prim_func

T = TypeVar("T")
TYPES = ("int32", "int64", "int8", "uint8", "float32", "float64", "float16", "bool")
SYMBOLS = ("n", "m")
_DEPTH = 3


class Choices(Protocol):
    """Where a program's decisions come from."""

    def integer(self, low: int, high: int) -> int:
        """An integer, both ends included."""
        ...

    def one_of(self, options: Sequence[T]) -> T:
        """An element."""
        ...


class RandomChoices:
    """Decisions of a pseudo-random generator."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def integer(self, low: int, high: int) -> int:
        """An integer, both ends included."""
        return self.random.randint(low, high)

    def one_of(self, options: Sequence[T]) -> T:
        """An element."""
        return self.random.choice(options)


class Drawn:
    """Decisions of Hypothesis."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        """An integer, both ends included."""
        return int(self.draw(st.integers(low, high)))

    def one_of(self, options: Sequence[T]) -> T:
        """An element."""
        return self.draw(st.sampled_from(options))  # type: ignore[no-any-return]


class Array:
    """A buffer of the program: sizes are names of symbols or numbers."""

    def __init__(self, name: str, dtype: str, shape: tuple[str, ...]) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape


class Case:
    """A program and what to run it on.

    Attributes
    ----------
    text
        The function.
    sizes
        The numbers of the symbols.
    """

    def __init__(self, text: str, arrays: list[Array], outputs: int, sizes: dict[str, int]) -> None:
        self.text = text
        self.arrays = arrays
        self.outputs = outputs
        self.sizes = sizes

    def func(self) -> tir.PrimFunc:
        """The function, parsed."""
        return prim_func(self.text)

    def arguments(self, seed: int) -> list[np.ndarray[Any, Any] | int]:
        """Arrays with small numbers, and the scalar at the end."""
        rng = np.random.default_rng(seed)
        made: list[np.ndarray[Any, Any] | int] = []
        for array in self.arrays:
            dims = [self.sizes.get(dim, 0) if dim in SYMBOLS else int(dim) for dim in array.shape]
            low = 0 if array.dtype in ("uint8", "bool") else -9
            high = 2 if array.dtype == "bool" else 10
            made.append(rng.integers(low, high, dims).astype(array.dtype))
        return [*made, int(rng.integers(-3, 4))]

    @property
    def unwritten(self) -> list[int]:
        """The positions of the results."""
        return list(range(len(self.arrays) - self.outputs, len(self.arrays)))


class Builder:
    """Writes one function."""

    def __init__(self, choices: Choices, wild: bool) -> None:
        self.choices = choices
        self.wild = wild
        self.readable: list[Array] = []
        self.loops: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.names = 0

    # -------------------------------------------------------------- names and sizes

    def name(self, hint: str) -> str:
        """A name that is new."""
        self.names += 1
        return f"{hint}{self.names}"

    def size(self) -> str:
        """An extent: a symbol or a number."""
        return self.choices.one_of([*SYMBOLS, "1", "3", "4"])

    def array(self, hint: str) -> Array:
        """A buffer of one or two axes."""
        shape = tuple(self.size() for _ in range(self.choices.integer(1, 2)))
        return Array(self.name(hint), self.choices.one_of(TYPES), shape)

    # -------------------------------------------------------------- indices

    def index(self, size: str) -> str | None:
        """An index that is in range, or None if there is none to be had."""
        options = [var for var, extent in self.loops if extent == size]
        options += [f"T.int64({extent(size)}) - 1 - {var}" for var in options]
        if size not in SYMBOLS:
            options.append(f"T.int64({self.choices.integer(0, int(size) - 1)})")
            if self.loops:
                var = self.choices.one_of(self.loops)[0]
                options += [f"{var} % T.int64({size})", f"T.min({var}, T.int64({int(size) - 1}))"]
        if not options:
            return None
        found = self.choices.one_of(options)
        if self.wild and self.choices.integer(0, 2) == 0:
            found = f"{found} + T.int64({self.choices.one_of([-1, 1, 2])})"
        return found

    def load(self, dtype: str) -> str | None:
        """An element of some buffer of the type, guarded where no index is certainly in range."""
        arrays = [a for a in self.readable if a.dtype == dtype]
        if not arrays:
            return None
        array = self.choices.one_of(arrays)
        indices: list[str] = []
        guards: list[str] = []
        for size in array.shape:
            found = self.index(size)
            if found is None:
                found = self.choices.one_of(self.loops)[0] if self.loops else "T.int64(0)"
                guards.append(f"{found} < {extent(size)}")
            indices.append(found)
        loaded = f"{array.name}[{', '.join(indices)}]"
        if not guards:
            return loaded
        return f"T.if_then_else({' and '.join(guards)}, {loaded}, {self.literal(dtype)})"

    # -------------------------------------------------------------- expressions

    def literal(self, dtype: str) -> str:
        """A constant."""
        if dtype == "bool":
            return self.choices.one_of(["T.bool(True)", "T.bool(False)"])
        low = 0 if dtype == "uint8" else -5
        return f"T.{dtype}({self.choices.integer(low, 5)})"

    def leaf(self, dtype: str) -> str:
        """A load, a loop variable, the scalar parameter or a constant."""
        options = [self.literal(dtype)]
        options += [f'T.Cast("{dtype}", {var})' for var, _ in self.loops[:2]]
        options.append(f'T.Cast("{dtype}", k)')
        loaded = self.load(dtype)
        if loaded is not None:
            options += [loaded] * 4
        return self.choices.one_of(options)

    def expr(self, dtype: str, depth: int = _DEPTH) -> str:
        """An expression of a type."""
        if depth == 0 or self.choices.integer(0, 3) == 0:
            return self.leaf(dtype)
        if self.choices.integer(0, 4) == 0:
            return self.choice(dtype, depth)
        if dtype == "bool":
            return self.condition(depth)
        if self.choices.integer(0, 4) == 0:
            return self.cast(dtype, depth)
        return self.floating(dtype, depth) if "float" in dtype else self.integral(dtype, depth)

    def choice(self, dtype: str, depth: int) -> str:
        """A conditional."""
        word = self.choices.one_of(["T.if_then_else", "T.Select"])
        a, b = self.expr(dtype, depth - 1), self.expr(dtype, depth - 1)
        return f"{word}({self.condition(depth - 1)}, {a}, {b})"

    def condition(self, depth: int) -> str:
        """A truth value."""
        kind = self.choices.integer(0, 3) if depth > 0 else 0
        if kind == 1:
            word = self.choices.one_of(["and", "or"])
            return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        if kind == 2:
            return f"(not {self.condition(depth - 1)})"
        of = self.choices.one_of([t for t in TYPES if t != "bool"])
        sign = self.choices.one_of(["<", "<=", ">", ">=", "==", "!="])
        below = max(depth - 1, 0)
        return f"({self.expr(of, below)} {sign} {self.expr(of, below)})"

    def cast(self, dtype: str, depth: int) -> str:
        """A cast; a float is brought into the range of the integers first."""
        source = self.choices.one_of(TYPES)
        inner = self.expr(source, depth - 1)
        if "float" in source and "float" not in dtype and dtype != "bool":
            low = 0 if dtype == "uint8" else -100
            # The comparison that NaN loses comes last.
            inner = f"T.max(T.min({inner}, T.{source}(100)), T.{source}({low}))"
        return f'T.Cast("{dtype}", {inner})'

    def integral(self, dtype: str, depth: int) -> str:
        """Arithmetic of integers."""
        a, b = self.expr(dtype, depth - 1), self.expr(dtype, depth - 1)
        form = self.choices.one_of(
            [
                "({a} + {b})",
                "({a} - {b})",
                "({a} * {b})",
                "({a} // T.max({b}, {one}))",
                "({a} % T.max({b}, {one}))",
                "T.truncdiv({a}, T.max({b}, {one}))",
                "T.truncmod({a}, T.max({b}, {one}))",
                "T.min({a}, {b})",
                "T.max({a}, {b})",
                "({a} & {b})",
                "({a} | {b})",
                "({a} ^ {b})",
                "({a} << {few})",
                "({a} >> {few})",
            ]
        )
        few = f"T.{dtype}({self.choices.integer(0, 7)})"
        return form.format(a=a, b=b, one=f"T.{dtype}(1)", few=few)

    def floating(self, dtype: str, depth: int) -> str:
        """Arithmetic of floats that is exact but for its rounding."""
        a, b = self.expr(dtype, depth - 1), self.expr(dtype, depth - 1)
        form = self.choices.one_of(
            [
                "({a} + {b})",
                "({a} - {b})",
                "({a} * {b})",
                "({a} / {b})",
                "T.min({a}, {b})",
                "T.max({a}, {b})",
                "T.fabs({a})",
                "T.sqrt({a})",
                "T.floor({a})",
                "T.ceil({a})",
                "T.trunc({a})",
            ]
        )
        return form.format(a=a, b=b)

    # -------------------------------------------------------------- statements

    def stage(self, target: Array) -> None:
        """Loops that write every element of a buffer."""
        pad = "    "
        loops = [(self.name("i"), size) for size in target.shape]
        kind = self.choices.one_of(["grid", "nested", "block", "reduction"])
        reduced = [(self.name("r"), self.size())] if kind == "reduction" else []
        pad = self._heads(loops + reduced, kind, pad)
        self.loops = loops + reduced
        place = f"{target.name}[{', '.join(var for var, _ in loops)}]"
        if kind == "reduction":
            self._reduce(target, loops, reduced, pad)
        elif kind == "block":
            self._block(target, loops, pad)
        elif self.choices.integer(0, 2) == 0:
            self.lines += [
                f"{pad}if {self.condition(1)}:",
                f"{pad}    {place} = {self.expr(target.dtype)}",
                f"{pad}else:",
                f"{pad}    {place} = {self.expr(target.dtype)}",
            ]
        else:
            self.lines += [
                f"{pad}x{self.names}: T.{target.dtype} = {self.expr(target.dtype, 2)}",
                f"{pad}{place} = x{self.names}",
            ]
        self.loops = []
        self.readable.append(target)

    def _heads(self, loops: list[tuple[str, str]], kind: str, pad: str) -> str:
        if kind == "grid" and len(loops) > 1:
            names = ", ".join(var for var, _ in loops)
            extents = ", ".join(extent(size) for _, size in loops)
            self.lines.append(f"{pad}for {names} in T.grid({extents}):")
            return pad + "    "
        for var, size in loops:
            word = self.choices.one_of(["range", "T.serial", "T.parallel", "T.unroll"])
            self.lines.append(f"{pad}for {var} in {word}({extent(size)}):")
            pad += "    "
        return pad

    def _block(self, target: Array, loops: list[tuple[str, str]], pad: str) -> None:
        self.lines.append(f'{pad}with T.sblock("{target.name}"):')
        inner = [(self.name("v"), size) for _, size in loops]
        self._axes(loops, inner, "spatial", pad)
        self.loops = inner
        place = ", ".join(var for var, _ in inner)
        self.lines.append(f"{pad}    {target.name}[{place}] = {self.expr(target.dtype)}")

    def _axes(
        self, loops: list[tuple[str, str]], inner: list[tuple[str, str]], kind: str, pad: str
    ) -> None:
        for (var, size), (axis, _) in zip(loops, inner, strict=True):
            self.lines.append(f"{pad}    {axis} = T.axis.{kind}({extent(size)}, {var})")

    def _reduce(
        self,
        target: Array,
        loops: list[tuple[str, str]],
        reduced: list[tuple[str, str]],
        pad: str,
    ) -> None:
        """A reduction; where its axis may be empty, the result is written before."""
        inner = [(self.name("v"), size) for _, size in loops + reduced]
        place = f"{target.name}[{', '.join(var for var, _ in inner[: len(loops)])}]"
        self._before(target, loops, len(reduced))
        self.lines.append(f'{pad}with T.sblock("{target.name}"):')
        self._axes(loops, inner[: len(loops)], "spatial", pad)
        self._axes(reduced, inner[len(loops) :], "reduce", pad)
        self.loops = inner
        self.lines += [
            f"{pad}    with T.init():",
            f"{pad}        {place} = {self.literal(target.dtype)}",
        ]
        term = self.expr(target.dtype, 2)
        words = ["T.max({}, {})", "T.min({}, {})"]
        if target.dtype == "bool":
            words = ["({} and {})", "({} or {})"]
        elif "float" not in target.dtype:
            words.append("{} + {}")
        self.lines.append(f"{pad}    {place} = {self.choices.one_of(words).format(place, term)}")

    def _before(self, target: Array, loops: list[tuple[str, str]], depth: int) -> None:
        """Write the result in front of the loops that were just opened."""
        heads = len(loops) + depth
        opened = self.lines[-heads:]
        fill = [
            f"    {'    ' * at}for {v}_0 in range({extent(s)}):" for at, (v, s) in enumerate(loops)
        ]
        place = ", ".join(f"{var}_0" for var, _ in loops)
        fill.append(
            f"    {'    ' * len(loops)}{target.name}[{place}] = {self.literal(target.dtype)}"
        )
        self.lines[-heads:] = [*fill, *opened]


def extent(size: str) -> str:
    """A size as an extent."""
    return size if size in SYMBOLS else f"T.int64({size})"


def build(choices: Choices, wild: bool = False) -> Case:
    """One function.

    Parameters
    ----------
    wild
        Whether some indices may be out of range.
    """
    builder = Builder(choices, wild)
    inputs = [
        Array("a0", choices.one_of(TYPES), ("n", "m")),
        *[builder.array("a") for _ in range(choices.integer(1, 2))],
    ]
    outputs = [builder.array("o") for _ in range(choices.integer(1, 2))]
    builder.readable = list(inputs)
    for _ in range(choices.integer(0, 1)):
        local = builder.array("t")
        shape = ", ".join(extent(size) for size in local.shape)
        builder.lines.append(f'    {local.name} = T.alloc_buffer(({shape},), "{local.dtype}")')
        builder.stage(local)
    for output in outputs:
        builder.stage(output)
    params = ", ".join(_parameter(a) for a in [*inputs, *outputs])
    text = "\n".join([f"@T.prim_func\ndef f({params}, k: T.int32):", *builder.lines])
    sizes = {name: choices.integer(0, 4) for name in SYMBOLS}
    return Case(text, [*inputs, *outputs], len(outputs), sizes)


def _parameter(array: Array) -> str:
    dims = [f'"{size}"' if size in SYMBOLS else f"T.int64({size})" for size in array.shape]
    return f'{array.name}: T.Buffer(({", ".join(dims)},), "{array.dtype}")'


@st.composite
def cases(draw: Any, wild: bool = False) -> Case:
    """Functions in bounds, or with indices that need not be."""
    return build(Drawn(draw), wild)
