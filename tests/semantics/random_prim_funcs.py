"""Random texts with PrimFuncs, and above them in a comment as JSON what they are run with.

`{"seed", "sizes", "fuel", "memory", "unwritten", "odd"}`: the numbers in arrays, the numbers of shape variables, limits, what
holds nothing yet, and arguments that are no such arguments, each a position and a word of `ODD`.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

from rlx.generate.strategies import prim_func_of
from rlx.grammar import tir
from rlx.grammar.ast import GlobalVar, IRModule
from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from rlx.semantics.arrays import numpy_type
from rlx.semantics.tir.intrinsics import BITWISE, REAL
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.transform.legalization import definitions, legalized
from tests.hostile import sources
from tests.hostile.damage import damaged, tokens
from tests.semantics.native.random_programs import Maker
from tests.semantics.native.sanitised.expressions import Expressions, literal
from tests.semantics.native.sanitised.nests import Nest
from tests.semantics.random_special_funcs import special
from tests.semantics.tir.strategies import RandomChoices, build
from tests.transform.legalization.law import case
from tests.transform.legalization.test_same_functions import calls

ODD = (
    *("number", "float", "text", "none", "list", "truth", "other elements", "more axes", "no axes"),
    *("longer", "empty", "backwards", "every other", "columns", "the first", "huge", "negative"),
    *("left out", "one more", "nan"),
)
TYPES = (
    *(
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
    ),
    *("float64", "bfloat16", "bool", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "int1"),
)
COMMON = ("int32", "int64", "float32", "float64", "int8", "uint8", "float16", "bool")
SIGNS = ("+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", ">", ">=", "&", "|", "^", "<<", ">>")
_ARITIES = {
    **dict.fromkeys(("min", "max", "floordiv", "floormod", "truncdiv", "truncmod", "ceildiv"), 2),
    **dict.fromkeys(
        ("atan2", "copysign", "fmod", "hypot", "ldexp", "nextafter", "pow", "power"), 2
    ),
    **dict.fromkeys(("div", "mod", "Div", "Mod", "logical_and", "logical_or", "indexdiv"), 2),
    **dict.fromkeys(("if_then_else", "Select", "fma"), 3),
    "q_multiply_shift": 4,
}
NAMES = (
    *REAL,
    *(name for name in BITWISE if name != "bitwise_not"),
    *("bitwise_not", "popcount", "clz", "abs", "fabs", "isnan", "isinf", "isfinite", "likely"),
    *_ARITIES,
    *("erf", "assume_value", "nothing_like_it"),
)
"""Names behind `T.`; those of bits have two operands but for the inverse."""


def call(random: Random, name: str, operands: list[str]) -> str:
    count = _ARITIES.get(name, 2 if name in BITWISE and name != "bitwise_not" else 1)
    few = [random.choice(operands) for _ in range(count)]
    return f"T.{name}({', '.join(few)})"


def _expression(random: Random) -> str:
    """A function of one expression, of all types and with all functions."""
    kinds = [random.choice(TYPES if random.random() < 0.3 else COMMON) for _ in range(3)]
    if random.random() < 0.4:
        kinds[1] = kinds[0]
    operands = ["a[i]", "b[i]", "a[2 - i]", "k", "i", literal(random, random.choice(COMMON))]
    draw = random.random()
    if draw < 0.35:
        value = call(random, random.choice(sorted(NAMES)), operands)
    elif draw < 0.6:
        value = f"{random.choice(operands)} {random.choice(SIGNS)} {random.choice(operands)}"
    elif draw < 0.75:
        word = random.choice(("Cast", "reinterpret"))
        value = f'T.{word}("{random.choice(TYPES)}", {random.choice(operands)})'
    else:
        made = Expressions(random, {"a": kinds[0], "b": kinds[1], "k": "int64", "i": "int32"})
        wanted = kinds[2] if kinds[2] in COMMON else "float32"
        value = made.of(wanted, ["a[i]", "b[i]"], ["i"], random.choice((1, 2, 3)))
    value = random.choice((value, value, f"({value})", f'T.Cast("{kinds[2]}", {value})'))
    extreme = random.choice(("min_value", "max_value", "infinity"))
    if draw > 0.98:
        value = f'T.{extreme}("{random.choice(TYPES)}")'
    loop = random.choice(("range(3)", "T.parallel(3)", "T.serial(1, 3)", "T.vectorized(3)"))
    return (
        "@I.ir_module\nclass Module:\n    @T.prim_func\n"
        f'    def f(a: T.Buffer((3,), "{kinds[0]}"), b: T.Buffer((3,), "{kinds[1]}"),'
        f' c: T.Buffer((3,), "{kinds[2]}"), k: T.int64):\n'
        f"        for i in {loop}:\n            c[i] = {value}\n"
    )


_LOOPS = (
    *("range(n)", "range(1, n)", "T.serial(n)", "T.serial(0, 4, step=2)", "T.serial(5, 1)"),
    *("T.parallel(n)", "T.unroll(4)", "T.vectorized(4)", "T.serial(n + 1)", "T.serial(-2)"),
    *('T.thread_binding(4, thread="threadIdx.x")', "T.serial(T.int8(120), T.int8(127))"),
    *("T.serial(b[0])", "T.serial(1, n, step=3)", "T.grid(2)", "T.serial(n, step=k)"),
)
_STATEMENTS = (
    *(
        "a[{i}] = b[{i}]",
        "a[{i}] = a[{i}] + {e}",
        "b[{i}] = {e}",
        "a[{i}, {i}] = {e}",
        "m[{i}, {j}] = {e}",
    ),
    *("assert {c}, 'words'", "assert {c}", "T.evaluate({e})", "T.ret({e})", "return {e}", "break"),
    *(
        "continue",
        "pass",
        "T.evaluate(0)",
        "T.evaluate(T.ret({e}))",
        "b[{i}] = T.if_then_else({c}, {e}, b[{j}])",
    ),
    *('T.evaluate(T.call_extern("int32", "sqrtf", {e}))', 'T.call_packed("out.side", a.data, {e})'),
    *('b[{i}] = T.call_extern("float32", "fminf", {e}, {e})', "a[{i}] = T.Cast('int32', {e})"),
    *(
        'b[{i}] = T.call_extern("float64", "floor", {e})',
        "a[T.ramp(0, 1, 4)] = T.broadcast({e}, 4)",
    ),
    *("a[0:4] = b[0:4]", "a[T.ramp({i}, {j}, 2)] = b[T.ramp(0, 2, 2)]", "b[{i}] = m[{i}, {j}]"),
)
_HEADS = (
    *("if {c}:", "while a[0] < {j}:", 'with T.sblock("s"):', 'with T.attr(0, "pragma", 1):'),
    *("for i in {l}:", "for j in {l}:", "for i, j in T.grid(n, 3):", "with T.let(v, {e}):"),
    *("for i in {l}:", "for j in {l}:"),
)
_DECLARED = (
    *(
        't = T.alloc_buffer((n,), "int32")',
        't = T.alloc_buffer((4, {j}), "float32")',
        "v = T.int32()",
    ),
    *(
        't = T.decl_buffer((4,), "int32", data=a.data)',
        't = T.sblock_alloc_buffer((4,), "float32")',
    ),
    *('t = T.decl_buffer((2,), "int64", data=a.data, elem_offset=1)', "v: T.int32 = {e}"),
    *('t = T.match_buffer(a[0:2], (2,), "int32")', "t = T.match_buffer(m[0:2, 1:3], (2, 2))"),
    *('t = T.match_buffer(a[{i}:n], (n,), "int32", strides=(1,))', "x: T.let[T.int32] = {e}"),
)
_AXES = (
    *(
        "vi = T.axis.spatial(4, {i})",
        "vi = T.axis.reduce(4, {i})",
        'vi, vj = T.axis.remap("SR", [{i}, {j}])',
    ),
    *(
        "vi = T.axis.spatial((1, 4), {i})",
        "vi = T.axis.opaque(4, {i})",
        "T.where({c})",
        "T.reads(a[0:4])",
    ),
    *("T.writes(a[{i}])", "vi = T.axis.scan(4, {i})"),
)


_LETTERS = {"i", "j", "k", "vi"}


def _defines(text: str, name: str) -> bool:
    """Whether a line gives a name a value."""
    starts = (f"{name} =", f"{name}:", f"for {name} ", f"for i, {name} ", f"with T.let({name},")
    return text.startswith(starts)


class _Nest:
    """Writes one function of odd statements."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines = random, list[str]()
        self.known = {"n", "k", "0", "1", "2", "3", "n - 1"}

    def filled(self, text: str) -> str:
        random = self.random
        i, j = (random.choice(sorted(self.known & _LETTERS) or ["1"]) for _ in range(2))
        places: tuple[str, ...] = (
            i,
            i,
            j,
            "0",
            "1",
            "3",
            "n - 1",
            f"{i} + {j}",
            f"{i} % 2",
            f"3 - {i}",
            "-1",
            "4",
        )
        if random.random() < 0.7:
            places = places[:5]
        values = (
            *(
                "1",
                f"a[{i}]",
                f"b[{j}]",
                "b[0] + 1",
                "n",
                "k * 2",
                i,
                "T.float32(2.5)",
                f"a[{i}] // 2",
            ),
            *(f"m[{i}, {j}]", "T.max(a[0], 3)", "k % 3", *sorted(self.known & {"x", "v"})),
            *((f"t[{i}]", "t[0]") if "t" in self.known else ()),
        )
        conditions = (
            f"{i} < {j}",
            "n > 2",
            "b[0] > T.float32(1)",
            f"a[{i}] == 1",
            "k < n",
            f"not ({i} == 1)",
        )
        filling = {
            "i": random.choice(places),
            "j": random.choice(places),
            "e": random.choice(values if random.random() < 0.97 else ("x", "v", "t[0]", "vi")),
            "c": random.choice(conditions),
            "l": random.choice(_LOOPS),
        }
        self.known |= {name for name in ("i", "j", "x", "v", "t", "vi") if _defines(text, name)}
        return text.format_map(filling)

    def block(self, depth: int, pad: str) -> None:
        random = self.random
        for _ in range(random.choice((1, 1, 2, 3))):
            draw = random.random()
            known = set(self.known)
            if depth and draw < 0.55:
                head = self.filled(random.choice(_HEADS))
                self.lines.append(f"{pad}{head}")
                if "sblock" in head:
                    few = random.sample(_AXES, random.randint(0, 2))
                    self.lines += [f"{pad}    {self.filled(axis)}" for axis in few]
                    if random.random() < 0.4:
                        init = random.choice(_STATEMENTS[:4])
                        self.lines += [
                            f"{pad}    with T.init():",
                            f"{pad}        {self.filled(init)}",
                        ]
                self.block(depth - 1, pad + "    ")
                if head.startswith("if") and random.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.block(depth - 1, pad + "    ")
                self.known = known
            elif draw < 0.68:
                self.lines.append(f"{pad}{self.filled(random.choice(_DECLARED))}")
            else:
                self.lines.append(f"{pad}{self.filled(random.choice(_STATEMENTS))}")

    def text(self) -> str:
        kinds = [
            self.random.choice(("int32", "int32", "int64", "float32", "int8", "bool")) for _ in "ab"
        ]
        more = self.random.choice(("", ", strides=(1,)", ", strides=(s,)", ", elem_offset=o"))
        declared = "".join(
            f"        {v} = T.int32()\n" for v in "so" if f"={v}" in more or f"({v}," in more
        )
        ends = self.random.choice(("", "", "", " -> T.int32"))
        head = (
            "@I.ir_module\nclass Module:\n    @T.prim_func\n"
            f"    def f(a_h: T.handle, b_h: T.handle, m: T.Buffer((4, 4), 'float32'), k: T.int32){ends}:\n"
            f"        n = T.int32()\n{declared}"
            f"        a = T.match_buffer(a_h, (n,), '{kinds[0]}'{more})\n"
            f"        b = T.match_buffer(b_h, (n,), '{kinds[1]}')\n"
        )
        loops = self.random.choice((0, 1, 2))
        pad = "        "
        for name in "ij"[:loops]:
            self.lines.append(f"{pad}for {name} in {self.random.choice(_LOOPS)}:")
            self.known.add(name)
            pad += "    "
        self.block(2, pad)
        return head + "\n".join(self.lines) + "\n"


def printed(func: tir.PrimFunc) -> str:
    """A module with one function, as text."""
    return print_module(IRModule({GlobalVar("f"): func}), "0.27")


@cache
def _kept() -> list[str]:
    """Texts that are made once: those with PrimFuncs, and those of legalised calls."""
    found = [text for text in sources.written() if "T.prim_func" in text]
    for name in definitions():
        for template in islice(calls(name), 2):
            try:
                module = legalized(case(name, template).module).module
            except ValueError:
                continue
            found += [printed(f) for f in module.functions.values() if isinstance(f, tir.PrimFunc)]
    return found


def text_of(random: Random) -> str:
    """A text with PrimFuncs."""
    seed = random.randrange(1 << 30)
    match random.randrange(16):
        case 0:
            return printed(Maker(seed).function())
        case 1:
            return printed(Nest(seed).function())
        case 2:
            return printed(prim_func_of(random.randbytes(400), rare=random.random() < 0.5))
        case 3 | 4:
            text = build(RandomChoices(seed), wild=random.random() < 0.5).text
            lines = "\n".join(f"    {line}" for line in text.strip().splitlines())
            return f"@I.ir_module\nclass Module:\n{lines}\n"
        case 5 | 6 | 7:
            return random.choice(_kept())
        case 8 | 9:
            return _expression(random)
        case 10 | 11 | 12 | 13:
            return special(random)
    return _Nest(random).text()


def functions(text: str) -> list[tir.PrimFunc]:
    """The PrimFuncs of a text, none where it has a mistake."""
    result = parse(text)
    if any(found.is_error for found in result.diagnostics):
        return []
    every = [each for module in result.modules for each in module.functions.values()]
    return [each for each in every if isinstance(each, tir.PrimFunc)]


def program(random: Random) -> str:
    """A text with PrimFuncs, and what they are run with."""
    for _ in range(20):
        text = text_of(random)
        if random.random() < 0.35:
            text = damaged(text, tokens(text) or [(0, len(text))], random)
        if functions(text):
            break
    else:
        return ""
    asked: dict[str, Any] = {"seed": random.randrange(100)}
    if random.random() < 0.3:
        asked["sizes"] = random.choice((0, 1, 2, 4, 5, 7, 17))
    if random.random() < 0.1:
        asked["fuel"] = random.choice((0, 1, 3, 10, 40))
    if random.random() < 0.05:
        asked["memory"] = random.choice((0, 8, 64))
    if random.random() < 0.3:
        asked["unwritten"] = random.sample(range(4), random.randint(1, 2))
    if random.random() < 0.25:
        asked["odd"] = [
            [random.randrange(4), random.choice(ODD)] for _ in range(random.choice((1, 1, 2)))
        ]
    return f"# {json.dumps(asked)}\n{text}"


def arguments(func: tir.PrimFunc, asked: dict[str, Any]) -> list[Any]:
    """Arguments, some of which may be odd."""
    rng = np.random.default_rng(asked["seed"])
    size = asked.get("sizes", 4)
    made: list[Any] = []
    for param in func.params:
        buffer = func.buffer_map.get(param)
        made.append(_scalar(param, rng, size) if buffer is None else _array(buffer, rng, size))
    for at, word in asked.get("odd", ()):
        if at < len(made):
            made[at] = _odd(made[at], word, made)
            if word == "left out":
                del made[at:]
            elif word == "one more":
                made.append(3)
    return made


def _scalar(param: tir.Var, rng: Any, size: int) -> Any:
    if param.dtype.is_float:
        return float(rng.choice([0.0, 1.5, -2.25, 3.0]))
    return int(rng.choice([0, 1])) if param.dtype.bits == 1 else size


def _array(buffer: tir.Buffer, rng: Any, size: int) -> Any:
    from rlx.grammar.visit import shape_vars_of

    point = {var: size for var in shape_vars_of(buffer)}
    try:
        dims = [min(max(evaluate(dim, point), 0), 32) for dim in buffer.shape]
    except UndefinedError:
        dims = [0] * len(buffer.shape)
    kind = numpy_type(buffer.dtype) if buffer.dtype.lanes == 1 else np.dtype("int32")
    if kind is None:
        return np.zeros(dims, "int32")
    kind = np.dtype(kind)
    if kind.kind == "b":
        return rng.integers(0, 2, dims).astype(kind)
    low = 0 if kind.name.startswith("u") else -5
    made = rng.integers(low, 6, dims).astype(kind)
    if made.size and kind.kind in "iuf":
        limits: Any = np.iinfo(kind) if kind.kind in "iu" else ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]
        special = [limits.min, limits.max, limits.max]
        if kind.kind == "f":
            special = [np.nan, np.inf, -np.inf, -0.0, 0.5, 1.5, limits.max, limits.tiny]
        for at in rng.integers(0, made.size, rng.integers(0, 3)):
            made.reshape(-1)[at] = special[int(rng.integers(len(special)))]
    return made


def _odd(value: Any, word: str, made: list[Any]) -> Any:
    array = value if isinstance(value, np.ndarray) else np.arange(4, dtype="int32")
    doubled = np.repeat(array, 2, -1) if array.ndim else array
    table: dict[str, Any] = {
        "number": 3,
        "float": 2.5,
        "text": "words",
        "none": None,
        "list": [1, 2],
        "truth": True,
        "other elements": np.zeros(array.shape, "int16"),
        "more axes": array[..., None],
        "no axes": np.array(1, array.dtype),
        "longer": doubled,
        "empty": array[:0] if array.ndim else array,
        "backwards": array[::-1] if array.ndim else array,
        "every other": doubled[..., ::2] if array.ndim else array,
        "columns": np.asfortranarray(array),
        "the first": made[0],
        "huge": 1 << 62,
        "negative": -1,
        "nan": float("nan"),
    }
    return table.get(word, value)
