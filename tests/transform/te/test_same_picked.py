"""What becomes of texts with tensor expressions that were picked because each shows another way through the code stays
what it is: the tensors and where they were made, the PrimFuncs, what is not proved of them, the errors.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/te/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.transform.te.test_same_picked 3000 300 --room transform/te` picks more texts.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar import ast, tir
from rlx.grammar.python_places import Place
from rlx.transform import struct_info, te
from rlx.transform.te.check import check_reads, written_once
from rlx.transform.te.graph import expressions, inputs, operations, unbound
from rlx.transform.te.linear import simplified
from rlx.transform.te.rebuild import reads
from rlx.transform.te.reduction import Reduction
from rlx.transform.te.tensor import indices_of
from tests.snapshots import assert_picked
from tests.transform.scripts import place_of, said

PARTS = 60
TYPES = (
    *("float32", "float32", "float16", "float64", "bfloat16", "int8", "int32", "int64", "int64"),
    *("uint8", "uint32", "bool", "int4", "float8_e4m3fn", "handle", "int8x4", "void", "int33"),
)
DIMS = (
    *("n", "n", "m", "m", "4", "4", "3", "1", "0", "n * 2", "n + 1", '"q"', "n // 2", "-1", "1.5"),
    *("2 ** 31", "2 ** 31 - 1", "2 ** 63", "-(2 ** 31)", '"1a"', "True"),
)
NUMBERS = (
    *(
        "0",
        "1",
        "2",
        "-1",
        "3",
        "7",
        "0.0",
        "0.5",
        "1.0",
        "127",
        "128",
        "-128",
        "-129",
        "255",
        "256",
    ),
    *(
        "1 << 31",
        "(1 << 31) - 1",
        "-(1 << 31)",
        "-(1 << 31) - 1",
        "(1 << 32) - 1",
        "1 << 32",
        "-0.0",
    ),
)
ONE = (
    *(
        "abs",
        "exp",
        "log1p",
        "floor",
        "isnan",
        "isfinite",
        "round",
        "sigmoid",
        "sqrt",
        "all",
        "any",
    ),
    *("tanh", "trunc", "nearbyint", "erf", "isinf", "min_value", "max_value", "infinity"),
)
TWO = (
    *("minimum", "maximum", "truncdiv", "truncmod", "floordiv", "floormod", "ceildiv", "power"),
    *("fmod", "atan2", "all", "any", "sum", "prod", "max", "min"),
)
SYMBOLS = (
    *("+", "+", "-", "-", "*", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"),
    *("<", "<=", ">", ">=", "==", "!="),
)
ODD = (
    *("None", "()", "[]", '"x"', "1.5", "-1", "True", "2 ** 70", "x", "s", "p", "A", "lambda: 1"),
    *("lambda *i: i[0]", "lambda i, *, j: i", "np.float32(1.5)", "np.int64(3)", "np.zeros(2)", "N"),
    *('float("nan")', 'float("inf")', "te.sum", "(1, 2, 3)", "object", "{}", "1j", "k", "T"),
)


class Writer:
    """Writes a text: some tensors, some made of them, and PrimFuncs."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines = ['n, m = te.var("n"), te.var("m")']
        self.shapes: dict[str, list[str]] = {}
        self.ends: dict[str, str] = {}
        self.over: list[str] = []

    def pick(self, *given: str) -> str:
        return self.random.choice(given)

    def odd(self, plain: str, chance: float = 0.02) -> str:
        return self.pick(*ODD) if self.random.random() < chance else plain

    def kind(self) -> str:
        return self.odd(f'"{self.pick(*TYPES[: self.random.choice([5, 9, 9, 9, 12, 12, 18])])}"')

    def shape(self) -> list[str]:
        limit = self.random.choice([5, 7, 12, 12, 12, 12, 21])
        return [self.pick(*DIMS[:limit]) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]

    @staticmethod
    def tuple(parts: list[str]) -> str:
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    def index(self, axes: list[str], dim: str) -> str:
        fitting = [axis for axis in axes if self.ends.get(axis) == dim]
        axis = self.pick(*(fitting or axes or ["0"]))
        if not fitting and self.random.random() < 0.7:
            return self.pick(f"te.maximum(te.minimum({axis}, {dim} - 1), 0)", f"{axis} % ({dim})")
        match self.random.randrange(24 if fitting else 8):
            case 0:
                return f"{axis} {self.pick('+', '-')} {self.pick('1', '2', 'n')}"
            case 1:
                return f"te.minimum(te.maximum({axis}, 0), {dim} - 1)"
            case 2:
                return f"{dim} - 1 - {axis}"
            case 3:
                return f"te.floormod({axis}, te.maximum({dim}, 1))"
            case 4:
                return self.pick("0", "1", "2", "-1", "n", "m - 1")
            case 5:
                return self.odd(self.element(axes, 1), 0.3)
            case 6:
                return f"{axis} {self.pick('*', '//', '%')} {self.pick('2', '3', '1')}"
        return axis

    def read(self, axes: list[str]) -> str:
        name = self.pick(*self.shapes)
        dims = self.shapes[name]
        at = [self.index(axes, dim) for dim in dims]
        if self.random.random() < 0.02:
            at = at[1:] or ["0"]
        if not at:
            return f"{name}()"
        return f"{name}[{', '.join(at)}]"

    def condition(self, axes: list[str]) -> str:
        axis = self.pick(*(axes or ["n"]))
        end = self.ends.get(axis, "4")
        one = [f"{axis} > 0", f"{axis} >= 1", f"{axis} + 1 < {end}", f"{axis} < 3", f"{axis} != 2"]
        one += [f"{axis} == 0", f"{axis} < m", f"1 < {axis}", f"{axis} - 1 >= 0", f"~({axis} < 2)"]
        chosen = self.random.sample(one, self.random.choice([1, 1, 2]))
        if len(chosen) == 2:
            return self.pick(f"te.all({', '.join(chosen)})", f"te.any({', '.join(chosen)})")
        return self.odd(chosen[0])

    def atom(self, axes: list[str]) -> str:
        number = self.pick(*NUMBERS)
        match self.random.randrange(10):
            case 0:
                return number
            case 1:
                return f"te.const({number}, {self.kind()})"
            case 2:
                return self.pick(*(axes or ["n"]), "n", "m", "s", "p", "x", "T", "N")
        match self.random.randrange(8):
            case 0:
                return self.read(axes)
            case 1 | 2 | 3:
                return f'te.cast("int64", {self.read(axes)})'
        return f'te.cast("float32", {self.read(axes)})'

    def element(self, axes: list[str], depth: int) -> str:
        """A text of a scalar."""
        if depth == 0:
            return self.odd(self.atom(axes))
        a, b = self.element(axes, depth - 1), self.element(axes, self.random.randrange(depth))
        match self.random.randrange(14):
            case 0 | 1 | 2 | 3:
                return f"({a} {self.pick('+', '-', '*', *SYMBOLS)} {b})"
            case 4 | 5:
                return f"te.{self.pick(*TWO)}({a}, {b})"
            case 6:
                return f"te.{self.pick(*ONE)}({a})"
            case 7:
                return f"te.cast({self.kind()}, {a})"
            case 8:
                return f"te.if_then_else({self.condition(axes)}, {a}, {b})"
            case 9:
                return f"te.select({self.condition(axes)}, {a}, {b})"
            case 10:
                return f"({self.pick('-', '~', '+', '-')}{a})"
            case 11:
                return f"({a}).astype({self.kind()})"
            case 12:
                return f'te.call("{self.pick("pow", "popcount", "fabs")}", {a}, {b})'
        return a

    def reduced(self, axes: list[str]) -> str:
        """A reduction over axes that are declared before."""
        over = []
        for name in ("k", "l")[: self.random.choice([1, 1, 2])]:
            end = self.pick("m", "m", "n", "4", "3", "0", "n - 1", "n * m", '"q"')
            low = self.pick("0", "0", "0", "0", "1", "n", "2", "-1")
            dom = self.odd(self.pick(f"(0, {end})", f"({low}, {end})", f"[{low}, {end}]", end))
            self.lines.append(f"{name} = te.reduce_axis({dom}, {self.odd(f'{name!r}')})")
            self.ends[name] = end
            over.append(name)
            self.over.append(name)
        inside = [*axes, *over]
        axis = self.odd(self.pick(over[0], f"[{', '.join(over)}]", f"{self.tuple(over)}"), 0.05)
        where = init = ""
        if self.random.random() < 0.3:
            where = f", where={self.odd(self.condition(inside), 0.1)}"
        if self.random.random() < 0.3:
            init = f", init={self.odd(self.pick('1', '0.5', 'n', self.read(axes)), 0.1)}"
        a = self.element(inside, self.random.choice([0, 1, 1, 2]))
        name = self.pick("te.sum", "te.prod", "te.max", "te.min", "argmax", "te.sum", "te.max")
        if name == "argmax" or self.random.random() < 0.03:
            a = f"({self.pick(over[0], '0')}, {a})"
            init = "" if not init or self.random.random() < 0.5 else ", init=(0, 1.0)"
        return self.odd(f"{name}({a}, axis={axis}{where}{init})", 0.03)

    def computed(self, name: str) -> None:
        shape = self.shape()
        names = ["i", "j", "h"][: len(shape)]
        self.ends |= dict(zip(names, shape, strict=True))
        match self.random.randrange(10):
            case 0 | 1 | 2:
                body = self.reduced(names)
            case 3:
                parts = [self.element(names, self.random.randrange(3)) for _ in range(2)]
                body = f"({', '.join(parts)})"
            case _:
                body = self.element(names, self.random.choice([0, 1, 2, 3]))
        call = f"lambda {', '.join(names)}: {body}"
        if self.random.random() < 0.1 and names:
            call = f"lambda *i: {body.replace('i', 'i[0]', 1)}"
        dims = self.odd(self.tuple(shape), 0.03)
        if self.random.random() < 0.12 and shape:
            axis = self.odd(str(self.random.randrange(len(shape))), 0.1)
            join = self.pick("a + b", "te.maximum(a, b)", "a * b + 1", "a", "te.any(a, b)")
            combine = self.odd(f"lambda a, b: {join}", 0.05)
            self.lines.append(f"{name} = te.running({dims}, {call}, {axis}, {combine}, {name!r})")
        else:
            kind = self.pick(f", dtype={self.kind()}", "", "", "")
            title = self.odd(self.pick(f"{name!r}", '"A"', '"compute"'), 0.03)
            self.lines.append(f"{name} = te.compute({dims}, {self.odd(call, 0.02)}, {title}{kind})")
        self.shapes[name] = shape

    def reducer(self) -> None:
        wins = self.pick("a[1] >= b[1]", "a[1] > b[1]")
        both = f"(te.if_then_else({wins}, a[0], b[0]), te.select({wins}, a[1], b[1]))"
        neutral = "lambda p, q: (te.const(-1, p), te.min_value(q))"
        given = self.pick(
            *[f'lambda a, b: {both}, {neutral}, "argmax"'] * 40,
            f"lambda a, b: {both}",
            'lambda a, b: a, lambda p: te.const(0, p), "first"',
            f"{self.pick(*ODD)}, {neutral}",
            f"lambda a, b: {both}, {self.pick(*ODD)}",
            f"lambda a: a, {neutral}",
            "lambda a, b: (a[0], a[1]), lambda *p: te.const(0, p[0])",
        )
        self.lines.append(f"argmax = te.comm_reducer({given})")

    def finished(self) -> None:
        """PrimFuncs of what was computed."""
        made = [name for name in self.shapes if name > "C"]
        for outputs in ([made[-1]], made):
            if self.random.random() < 0.3:
                continue
            shown = [self.odd(each, 0.02) for each in outputs]
            self.lines.append(f"check_reads(operations([{', '.join(shown)}]))")
            given = [*self.random.choice([["A", "B", "C"]] * 6 + [["A", "B"], ["B", "C", "A"]])]
            given += self.random.choice([["n", "m"]] * 5 + [[], ["n"], ["n + 1"], ["te.var('q')"]])
            given += shown
            index = self.odd(self.pick('"int64"', '"int64"', '"int32"', "None", '"float32"'), 0.03)
            ways = self.pick("", "", ", store_identities=True", ", check=False")
            self.lines.append(f"f = te.create_prim_func([{', '.join(given)}], {index}{ways})")
            self.lines.append("written_once(f)")

    def text(self) -> str:
        """The whole."""
        if self.random.random() < 0.12:
            return self.kernel()
        if self.random.random() < 0.15:
            return "\n".join(self.called() for _ in range(self.random.randint(1, 4)))
        for name in "ABC":
            shape = self.shape()
            dims = self.odd(self.pick(self.tuple(shape), self.tuple(shape)), 0.03)
            named = self.odd(f"{name!r}", 0.02)
            self.lines.append(f"{name} = te.placeholder({dims}, {self.kind()}, {named})")
            self.shapes[name] = shape
        if self.random.random() < 0.3:
            info = self.pick("", "", ", None, 'X'", ", struct_info('R.Tensor((2,), \"int8\")')")
            value = self.pick("x", "x", "x", "y", "c")
            self.lines.append(f"B = te.te_tensor({self.odd(value, 0.1)}{info})")
            self.shapes["B"] = ["2"] if value == "c" or "rlx" in info else ["n", "4"]
        self.reducer()
        for name in "DEF"[: self.random.choice([1, 1, 2, 3])]:
            self.computed(name)
        if self.random.random() < 0.3:
            self.lines.append(f"simplified({self.sum()})")
        self.finished()
        return "\n".join(self.lines)

    def called(self) -> str:
        """A call of a function of tensor expressions on values of Relax."""
        values: tuple[str, ...] = (
            "x",
            "y",
            "c",
            "s",
            "p",
            "N",
            "z",
            "t",
            "d",
            "h",
            "b",
            "l",
            "o",
            "[x, c]",
            "t[0]",
        )
        values += (
            "ast.Tuple((x, c))",
            "x + x",
            "rlx.op.exp(x)",
            "np.zeros((2, 3))",
            "C",
            "2",
            "w",
            "v",
        )
        functions = (
            "one",
            "two",
            "both",
            "none",
            "shaped",
            "loose",
            "read",
            "given",
            "scaled",
            "listed",
        )
        args = ", ".join(
            self.odd(self.pick("x", *values)) for _ in range(self.random.choice([1, 1, 2]))
        )
        more = self.pick(
            "",
            "",
            ", k=2",
            f", k={self.pick(*values)}",
            ', primfunc_name_hint="a b"',
            ", primfunc_name_hint=3",
        )
        name = self.pick("te.call_te", "te.emit_te")
        return f"{name}(bb, {self.odd(self.pick(*functions))}, {args}{more})"

    def kernel(self) -> str:
        """A PrimFunc that may not store each element once."""
        e, f = (self.pick("n", "n", "4", "m", "n + 1", "n * 2 // 2") for _ in "ef")
        at = self.pick(
            "vi, vj",
            "vi, vj",
            "vj, vi",
            "vi, vi",
            "vi, vj + 1",
            "vi",
            "0, vj",
            "vi, j",
            "vi, vj, vj",
        )
        kinds = self.pick("SS", "SS", "SR", "RS", "RR")
        over = self.pick("i, j", "i, j", "j, i", "i, i", "i, j + 1")
        dims = self.pick("n, n", "n, 4", "n, m", "n", "4, 4", "n, n, n")
        store = f"B[{at}] = A[vi]"
        more = self.pick(
            "", "", "", "            B[vi, vj] = A[vj]\n", "            C[vi] = A[vi]\n"
        )
        init = self.pick(
            "", "", "            with T.init():\n                B[vi, vj] = T.float32(0)\n"
        )
        outside = self.pick(
            "",
            "",
            "",
            "    B[0, 0] = A[0]\n",
            "    C[0] = A[0]\n",
            "    if n < 4:\n        B[0, 0] = A[0]\n",
        )
        outside += self.pick(
            "",
            "",
            "",
            "    for k in range(n):\n        with T.sblock('C'):\n            v = T.axis.spatial(n, k)\n            C[v] = A[v]\n",
        )
        body = (
            f"    C = T.alloc_buffer((n,))\n    for i, j in T.grid({e}, {f}):\n        with T.sblock('B'):\n"
            f"            vi, vj = T.axis.remap('{kinds}', [{over}])\n{init}            {store}\n{more}"
        )
        head = "@T.prim_func\ndef main(a: T.handle, b: T.handle):\n    n = T.int64()\n    m = T.int64()\n"
        head += f"    A = T.match_buffer(a, (n,))\n    B = T.match_buffer(b, ({dims},))\n"
        return f"written_once(prim({head + body + outside!r}))"

    def sum(self) -> str:
        parts = [
            self.pick("n", "m", "n // 2", "3", "0", "1") for _ in range(self.random.randint(1, 6))
        ]
        found = parts[0]
        for each in parts[1:]:
            found = (
                f"({found} {self.pick('+', '-')} {each} * {self.pick('1', '2', '-1', '-3', '0')})"
            )
        return (
            f"te.Scalar(tir.Sub(({found}).node, (n * 1).node), n.dtype)"
            if self.random.random() < 0.2
            else found
        )


def pool(random: Random) -> str:
    """A text."""
    return Writer(random).text()


def _place(given: Place | None) -> object:
    return None if given is None else (given.source.path, *given)


def show(value: Any) -> str:
    """A value, with all that an expression holds."""
    match value:
        case te.Tensor(op=op):
            parts = [f"{value!r} {value.index} {op.name} {op.along} {_place(op.place)}"]
            parts += [f"  {axis.name}: {axis.dtype}" for axis in op.axes]
            parts += [f"  {each} {tir.type_of(each)}" for each in expressions(op)]
            parts += [f"  {r} {_place(r.place)}" for e in expressions(op) for r in reads(e)]
            parts += [f"  reads {[t.name for t in inputs(op)]}, open {unbound([value])}"]
            if op.reduction is not None:
                parts.append(_reduction(op.reduction))
            return "\n".join(parts)
        case te.ReduceAxis():
            return f"{value!r} from {value.low!r} to {value.high!r}"
        case ast.Expr():
            return f"{type(value).__name__} {value} {place_of(value)}"
        case tir.PrimFunc() | te.Scalar() | te.Reducer():
            return f"{value}"
        case list() | tuple():
            return "\n".join(map(show, value))
        case bool() | None:
            return f"{value}"
    if hasattr(value, "reason"):
        return f"{value.read} {value.axis} {value.reason}"
    return type(value).__name__


def _reduction(given: Reduction) -> str:
    joined = given.combiner
    ends = [(axis.var.name, str(axis.low), str(axis.high)) for axis in given.axes]
    return f"  over {ends} {joined.left} {joined.right} {joined.results} {joined.identities} {given.several}"


KERNELS = """
x = rlx.Var('x', 'R.Tensor(("n", 4), "float32")')
y = rlx.Var('y', 'R.Tensor(ndim=2, dtype="float32")')
z = rlx.Var('z', "R.Tensor(ndim=0, dtype='int8')")
t = rlx.Var('t', 'R.Tuple(R.Tensor(("n",), "float32"), R.Shape(["n", 2]), R.Prim("int64"), R.Tensor)')
d = rlx.Var('d', "R.Prim('int64')")
h = rlx.Var('h', "R.Shape(['n', 'k'])")
b = rlx.Var('b', 'R.Tensor((2,))')
l = rlx.Var('l', 'R.Shape')
o = rlx.Var('o', 'R.Object')
w = rlx.Var('w', "R.Prim(value='n')")
v = rlx.Var('v', "R.Tensor(('n * 2', 'm'), 'bool')")
bb = rlx.BlockBuilder()
opened = bb.function("main", [x, y, z, t, d, h, b, l, o, w, v])  # kept, or else the function ends here
opened.__enter__()
A, B = te.placeholder((), "float32", "A"), te.placeholder(("n",), "float32", "B")
C, k = te.placeholder(("n", 4), "float32", "C"), te.reduce_axis((0, 4), "k")
c = rlx.const([1, 2])
def one(a):
    return te.compute(a.shape, lambda *i: a(*i) + 1, "plus")
def two(a, b=2):
    return te.compute(a.shape, lambda *i: (a(*i) * b, a(*i) - b), "two")
def both(a, b):
    return [te.compute(a.shape, lambda *i: a(*i), "T"), te.compute(b.shape, lambda *i: b(*i), "T")]
def none(*a, **k):
    return None
def shaped(a):
    return te.compute(a, lambda *i: te.const(1, "int8"), "shaped")
def loose(a, k=1):
    return te.compute((k,), lambda i: te.cast("float32", k) * 2.0 + i, "loose")
def read(a):
    return te.compute((2,), lambda i: A(), "read")
def given(a):
    return a
def scaled(a, k):
    return te.compute(a.shape, lambda *i: te.cast("float32", a(*i)) * k, "scaled")
def listed(a):
    return te.compute((3,), lambda i: a[0](i, 0) + a[1](i), "listed")
"""
"""Values and functions in a text of their own: errors say where they stand."""


def _names() -> dict[str, Any]:
    """What a text may use; new values each time."""
    names: dict[str, Any] = {
        "te": te,
        "tir": tir,
        "np": np,
        "rlx": rlx,
        "T": tir.Add(tir.Var("g"), tir.IntImm(1)),
        "ast": ast,
        "prim": lambda text: next(iter(rlx.parse(text).functions.values())),
        "s": ast.PrimValue(tir.IntImm(3)),
        "p": tir.Var("p"),
        "N": ast.ShapeExpr((tir.IntImm(2), tir.Var("v"))),
        **{
            f.__name__: f
            for f in (check_reads, operations, written_once, simplified, indices_of, struct_info)
        },
    }
    exec(compile(KERNELS, "<kernels>", "exec"), names)  # noqa: S102
    return names


def answers(text: str) -> str:
    """What the statements give, and what is in the module then."""
    names = _names()
    whole = said(text, names, show)
    made = names["bb"].get().functions
    return "\n".join([whole, *(str(f) for f in made.values() if isinstance(f, tir.PrimFunc))])


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_expressions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
