"""What patterns find and rewrite in texts that were picked because each shows another way through the code stays what it is,
errors and their places included.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/patterns/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.transform.patterns.test_same_picked 3000 300 --room transform/patterns`
picks more texts.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import rlx
from rlx import transform
from rlx.grammar import ast, tir
from rlx.grammar.ast import IRModule
from rlx.grammar.visit import walk
from rlx.transform import Match, Pattern
from tests.snapshots import assert_picked
from tests.transform.scripts import place_of, said

PARTS = 40

PROGRAMS = (
    """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), q: R.Tensor((4, 2), "float32"), k: R.Tensor((4, 3), "float32"),
         v: R.Tensor((4, 2), "float32")):
    with R.dataflow():
        a = R.matmul(x, q)
        early = R.nn.relu(a)
        kk = R.multiply(k, R.const(2.0, "float32"))
        b = R.matmul(x, kk)
        c = R.matmul(x, v)
        d = R.add(early, c)
        e = R.sum(d, axis=[1], keepdims=True)
        R.output(d, b, e)
    return (d, b, e)
""",
    """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", "n"), "float32"), y: R.Tensor(("m", 4), "int8"), c: R.Tensor((), "bool")):
        a = R.add(x, x)
        t = (a, y)
        b = t[0]
        s = R.shape_of(y)
        w = R.reshape(y, R.shape([4, -1]))
        o = R.ones(R.shape([2, 4]), dtype="float32")
        if c:
            r = R.nn.relu(b)
        else:
            g = R.nn.relu(a)
            r = R.add(g, g)
        h = Module.helper(r)
        p = R.call_packed("test.id", h, sinfo_args=R.Tensor)
        k = R.add(R.const(1, "int8"), y)
        return (h, p, w, k, s, o)
    @R.function(private=True)
    def helper(x: R.Tensor(("n", "n"), "float32")) -> R.Tensor(("n", "n"), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.add(a, b)
            e = R.exp(c)
            z = R.match_cast(e, R.Tensor((3, 3), "float32"))
            R.output(z, b)
        d = R.add(z, b)
        return d
""",
    """
@R.function(pure=False)
def main(x: R.Tensor((3, 3), "float32"), y: R.Tensor, s: R.Shape(["n", 4]), p: R.Prim("int64")):
    @R.function
    def inner(z: R.Tensor((3, 3), "float32")) -> R.Tensor((3, 3), "float32"):
        a = R.permute_dims(z, axes=[1, 0])
        b = R.matmul(a, z, out_dtype="float32")
        return b
    with R.dataflow():
        a = inner(x)
        b = R.split(a, 3, axis=1)
        c = b[0]
        d = b[1]
        e = R.concat((d, c), axis=1)
        f = R.clip(e, 0, 6)
        g = R.subtract(f, R.const([[1.0, 1.0]], "float32"))
        h = R.matmul(c, R.permute_dims(d))
        i = R.matmul(d, R.permute_dims(c))
        R.output(g, h, i)
    u = R.print(g, format="{}")
    j = R.add(h, i)
    w = R.astype(y, dtype="float16")
    return (j, w, u)
""",
)
OPERATORS = (
    *("add", "matmul", "nn.relu", "exp", "multiply", "split", "concat", "permute_dims", "negative"),
    *("sum", "reshape", "ones", "subtract", "clip", "astype", "print", "relax.add", "shape_of"),
)
ODD = (
    *("None", "0", "-1", "1.5", "True", '""', '"ad"', '"n+"', "[]", "()", "{}", "{1: 2}", "object"),
    *(
        "wildcard",
        "x",
        "w",
        "~w",
        "lambda m: m",
        "np.zeros(2)",
        "2 ** 70",
        "tir.Var('k')",
        '"void"',
    ),
    *('"float33"', "(-1, 2)", "(1.5,)", "[w, None]", "ast.ShapeExpr((tir.IntImm(4),))", '"add"'),
)
ATTRIBUTES = (
    *(
        '{"axis": [1]}',
        '{"axis": 1}',
        '{"keepdims": True}',
        '{"out_dtype": "float32"}',
        '{"axes": [1, 0]}',
    ),
    *(
        '{"out_dtype": None}',
        '{"min": 0}',
        '{"dtype": "float32"}',
        '{"x1": 2.0}',
        '{"ax": 1}',
        "{}",
    ),
    *(
        '{"axis": (1,), "keepdims": True}',
        '{"indices_or_sections": 3}',
        '{"format": "{}"}',
        '{"axis": None}',
    ),
    *('{"max": 6.0}', '{"keepdims": 1}', '{"axis": [1.0]}', '{"shape": [4, -1]}', '{"axis": -1}'),
)
SHAPES = (
    *(
        '("n", 4)',
        '("n", "n")',
        '("a", "b")',
        "(3, 3)",
        "()",
        '(4, "n * 2")',
        '("n", "n + 1")',
        "(4, 2)",
    ),
    *("ast.ShapeExpr((tir.IntImm(3), tir.IntImm(3)))", '("m",)', "(3, tir.Var('j'))", '["a", 1]'),
)
INFOS = (
    *("R.Tensor(('a', 'b'), 'float32')", "R.Tensor(('a', 'a'))", "R.Tensor(ndim=2)", "R.Object"),
    *("R.Tensor((3, 3), 'float32')", "R.Tuple(R.Tensor, R.Tensor)", "R.Shape(['a', 4])", "R.Shape"),
    *("R.Tensor('int8')", "R.Tensor(('a + 1',))", "R.Prim('int64')", "R.Tnsor"),
)


class Writer:
    """Writes a text: patterns, and what is done with them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = ["w", "x"]
        self.lines = ["w, x = wildcard(), wildcard()"]

    def pick(self, *given: str) -> str:
        return self.random.choice(given)

    def odd(self, plain: str, chance: float = 0.03) -> str:
        return self.pick(*ODD) if self.random.random() < chance else plain

    def leaf(self) -> str:
        number = self.pick("1", "2.0", "1.0", "None", "True", "'x'")
        return self.pick(
            *(
                "w",
                "x",
                "wildcard()",
                "wildcard()",
                "is_const()",
                f"is_const({number})",
                "is_var()",
            ),
            *(f"is_var({self.odd(self.pick(*map(repr, 'xabcq')))})", "is_shape()", "is_tuple()"),
            f"is_shape([{self.pick('4, -1', chr(34) + 'n' + chr(34) + ', 4', '4')}])",
            f"is_function({self.odd(self.pick(repr('helper'), repr('test.id'), repr('inner')))})",
            f"is_op({self.odd(repr(self.pick(*OPERATORS)))})",
            f"is_expr({self.odd(self.pick('E[0]', 'E[1]', 'E[2]', 'rlx.const(2.0)', 'rlx.const(1)'))})",
            *self.names,
        )

    def pattern(self, depth: int) -> str:
        """A text of a pattern."""
        if depth == 0:
            return self.odd(self.leaf())
        a, b = self.pattern(depth - 1), self.pattern(self.random.randrange(depth))
        op = f"is_op({self.odd(repr(self.pick(*OPERATORS)), 0.01)})"
        match self.random.randrange(22):
            case 0 | 1 | 2 | 3 | 4:
                name = self.pick("add", "matmul", "multiply", "subtract")
                return f"is_op({name!r})({a}, {b})"
            case 5 | 6:
                return f"is_op({self.pick(repr('exp'), repr('nn.relu'), repr('negative'))})({a})"
            case 7:
                given = ", ".join([a, b, "w"][: self.random.randrange(4)])
                return f"{op}({given})"
            case 8:
                return f"is_call({self.pick('w', 'is_function(' + repr('helper') + ')', op)}, {a})"
            case 9:
                return f"is_tuple([{a}, {b}])"
            case 10:
                index = self.pick("", ", 0", ", 1", f", {self.odd('0', 0.3)}")
                return f"is_tuple_get_item({a}{index})"
            case 11:
                return f"({a} | {b})"
            case 12:
                return f"({a} & {b})"
            case 13:
                return f"~{self.pick('', '(' + a + ')') or op}"
            case 14:
                return f"({a} {self.pick('>>', '^')} {b})"
            case 15:
                word = self.pick("used_by", "only_used_by")
                return f"{self.pick(a, op)}.{word}({b}{self.pick('', ', 0', ', 1', ', ' + self.odd('2', 0.3))})"
            case 16:
                return f"{op}.has_attr({self.odd(self.pick(*ATTRIBUTES))})"
            case 17:
                kind = self.pick(*map(repr, ("float32", "int8", "bool", "float16", "int4")))
                return f"({a}).has_dtype({self.odd(kind)})"
            case 18:
                return f"({a}).has_shape({self.odd(self.pick(*SHAPES))})"
            case 19:
                return f"({a}).has_struct_info({self.odd(repr(self.pick(*INFOS)))})"
            case 20:
                condition = self.pick("isinstance(e, ast.Call)", "False", "isinstance(e, ast.Var)")
                return f"({a}).where({self.odd('lambda e: ' + condition, 0.05)})"
        return a

    def fitting(self, module: IRModule) -> str:
        """A text of a pattern that some value of a program fits, or nearly."""
        values = _values(module)
        var = self.random.choice([*values])
        found = self.fits(values[var], values, 2)
        users = [user for user, value in values.items() if var in walk(value)]
        if users and self.random.random() < 0.4:
            other = self.fits(values[self.random.choice(users)], values, 1)
            found = self.pick(
                f"{found} >> {other}", f"({found}) ^ ({other})", f"({found}).used_by({other}, 0)"
            )
        return found

    def fits(self, value: ast.Expr, values: dict[ast.Var, ast.Expr], depth: int) -> str:
        if isinstance(value, ast.Var) and value in values and self.random.random() < 0.7:
            value = values[value]
        if depth == 0 or self.random.random() < 0.1:
            return self.odd(self.pick("w", "x", "wildcard()", self.leaf()), 0.02)

        def parts(exprs: tuple[ast.Expr, ...]) -> str:
            return ", ".join(self.fits(e, values, depth - 1) for e in exprs)

        match value:
            case ast.Call(op=ast.Op() as op, args=args):
                short = op.op_name.removeprefix("relax.")
                found = f"is_op({short!r})" + self.pick("", f"({parts(args)})", f"({parts(args)})")
            case ast.Call(op=callee, args=args):
                found = f"is_call({self.fits(callee, values, 1)}, {parts(args)})"
            case ast.Tuple(fields=fields):
                found = f"is_tuple([{parts(fields)}])"
            case ast.TupleGetItem(tuple_value=whole, index=index):
                found = f"is_tuple_get_item({self.fits(whole, values, depth - 1)}, {index})"
            case ast.GlobalVar(name_hint=name) | ast.ExternFunc(global_symbol=name):
                found = f"is_function({name!r})"
            case ast.Var(name_hint=name):
                found = self.pick(f"is_var({name!r})", "is_var()", "w", "x")
            case ast.Constant():
                found = self.pick("is_const()", "is_const(2.0)", "is_const(1)", "is_const(1.0)")
            case ast.ShapeExpr():
                found = self.pick("is_shape()", "is_shape([2, 4])", "is_shape([4, -1])")
            case _:
                found = "wildcard()"
        match self.random.randrange(12):
            case 0:
                found = f"({found}).has_attr({self.pick(*ATTRIBUTES)})"
            case 1:
                found = f"({found}).has_dtype({self.pick(repr('float32'), repr('int8'))})"
            case 2:
                found = f"({found}).has_shape({self.odd(self.pick(*SHAPES))})"
            case 3:
                found = f"({found}).has_struct_info({self.pick(*INFOS)!r})"
            case 4:
                found = f"({found} {self.pick('|', '&')} {self.pattern(0)})"
            case 5:
                found = f"({found} & ~{self.pick('is_op(' + repr('add') + ')', 'is_const()', 'is_var()')})"
        return found

    def replacement(self) -> str:
        """A function of a match."""
        part = self.pick(*self.names)
        return self.odd(
            "lambda m: "
            + self.pick(
                "None",
                *["m.builder.emit(m.value) if isinstance(m.value, ast.Call) else None"] * 3,
                f"m[{part}]",
                "rlx.op.negative(m.value)",
                "rlx.op.add(m.var, m.var)",
                f"rlx.op.multiply(m[{part}], 2.0)",
                f"m.builder.emit(m.bound({part}) or m.value)",
                "rlx.const(1.0)",
                "m.value",
                "(m.value, m.value)",
            ),
            0.04,
        )

    def text(self) -> str:
        """The whole."""
        at = self.random.randrange(len(PROGRAMS))
        module = self.odd(f"M[{at}]", 0.02)
        for name in ("p", "q", "r")[: self.random.choice([1, 1, 2, 3])]:
            if self.random.random() < 0.75:
                self.lines.append(f"{name} = {self.fitting(MODULES[at])}")
            else:
                self.lines.append(f"{name} = {self.pattern(self.random.choice([1, 1, 2]))}")
            self.names.append(name)
            match self.random.randrange(4):
                case 0 | 2:
                    self.lines.append(f"find({module}, {self.odd(name, 0.02)})")
                case 1:
                    self.lines.append(f"rewrite({module}, {name}, {self.replacement()})")
        if len(self.names) > 3 or self.random.random() < 0.3:
            names = self.names[2:]
            a, b = self.pick(*OPERATORS[:5]), self.pick(*OPERATORS[:5])
            if self.random.random() < 0.5:
                self.lines.append(f"p, q = is_op({a!r})(x, w), is_op({b!r})(x, {self.pattern(0)})")
                names = ["p", "q"]
            values = self.pick(
                f"{{{names[0]}: m[{names[-1]}]}}",
                f"{{{names[0]}: rlx.op.negative(m[{self.pick('x', 'w')}])}}",
                "None",
                f"{{p: m.builder.emit(m.value) for p in [{', '.join(names)}]}}",
                f"{{p: rlx.op.add(m.bound(p), m.bound(p)) for p in [{', '.join(names)}]}}",
                f"{{{names[0]}: rlx.const(1.0)}}",
            )
            given = self.odd(f"[{', '.join(names)}]", 0.05)
            function = self.odd(f"lambda m: {self.odd(values, 0.05)}", 0.02)
            self.lines.append(f"rewrite_bindings({module}, {given}, {function})")
        return "\n".join(self.lines)


def pool(random: Random) -> str:
    """A text."""
    return Writer(random).text()


def show(value: Any) -> str:
    """A value in words."""
    match value:
        case IRModule():
            known = next((i for i, module in enumerate(MODULES) if module is value), None)
            return f"{value}\n{_spans(value)}" if known is None else f"the program {known}"
        case Match():
            parts = [(str(value[k]), value.uses(k), str(value.bound(k))) for k in value]
            return f"{value!r} {value.var} {value.value} {value.in_dataflow} {parts}"
        case Pattern():
            return f"{value!r} {sorted(map(str, value.heads or ()))}"
        case list() | tuple():
            return "\n".join(map(show, value))
    return type(value).__name__


def _spans(module: IRModule) -> list[str]:
    functions = [f for f in module.functions.values() if isinstance(f, ast.Function)]
    return [f"{type(e).__name__} {place_of(e)}" for f in functions for e in walk(f)]


def _module(text: str) -> IRModule:
    report = rlx.check(rlx.parse(text))
    assert report.ok, report
    return report.modules[0]


def _values(module: IRModule) -> dict[ast.Var, ast.Expr]:
    """What the variables of a program are bound to."""
    return {
        binding.var: binding.value
        for function in module.functions.values()
        if isinstance(function, ast.Function)
        for seq in walk(function)
        if isinstance(seq, ast.SeqExpr)
        for block in seq.blocks
        for binding in block.bindings
        if isinstance(binding, ast.VarBinding)
    }


MODULES = [_module(text) for text in PROGRAMS]
WORDS = (
    *("find", "rewrite", "rewrite_bindings", "wildcard", "is_op", "is_call", "is_const", "is_expr"),
    *("is_function", "is_shape", "is_tuple", "is_tuple_get_item", "is_var"),
)


def _names() -> dict[str, Any]:
    """What a text may use."""
    function = next(iter(MODULES[0].functions.values()))
    assert isinstance(function, ast.Function)
    return {
        **{word: getattr(transform, word) for word in WORDS},
        "rlx": rlx,
        "tir": tir,
        "ast": ast,
        "np": np,
        "M": MODULES,
        "E": [e for e in walk(function) if isinstance(e, ast.Call)][:3],
    }


def answers(text: str) -> str:
    """What the statements give."""
    return said(text, _names(), show)


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_patterns(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
