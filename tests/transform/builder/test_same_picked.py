"""What a builder makes of texts that were picked because each shows another way through the code stays what it is: values,
modules and where they were made, warnings, errors.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/builder/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.transform.builder.test_same_picked 3000 300 --room transform/builder`
picks more texts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter
from keyword import iskeyword
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar import ast, tir
from rlx.grammar.dtype import dtype
from rlx.grammar.printer import show as printed
from rlx.grammar.visit import walk
from rlx.operators.registry import every_name, lookup
from rlx.transform import struct_info, te
from rlx.transform.builder import stub
from rlx.transform.builder.operators import signature
from tests.snapshots import assert_picked
from tests.transform.scripts import failed, place_of, said

PARTS = 60
INFOS = (
    *("R.Tensor(('n', 4), 'float32')", "R.Tensor(('n', 4), 'float32')", "R.Tensor(('n', 'm'))"),
    *("R.Tensor((4, 'n'), 'float32')", "R.Tensor(('m', 4), 'float32')", "R.Tensor((2, 3), 'int8')"),
    *(
        "R.Tensor(ndim=2, dtype='float32')",
        "R.Tensor('float32')",
        "R.Tensor",
        "R.Tensor((), 'bool')",
    ),
    *(
        "R.Tensor(('n',), 'int64')",
        "R.Tensor(('n * 2',), 'int32')",
        "R.Shape(['n', 'm'])",
        "R.Shape",
    ),
    *("R.Prim('int64')", "R.Prim(value='n')", "R.Object", "R.Tuple(R.Tensor(('n',)), R.Shape)"),
    *("R.Callable((R.Tensor(('k',)),), R.Tensor(('k',)))", "R.Tensor((5,), 'float32')", "R.Tuple"),
)
ODD = (
    *(
        "None",
        "0",
        "-1",
        "2 ** 70",
        "1.5",
        "1j",
        "True",
        '""',
        '"x y"',
        '"n+"',
        '"R.Tnsor"',
        "b'a'",
    ),
    *("[]", "()", "[None]", "{}", "{1: 2}", "((1, 2), [3])", "range(3)", "object", "gv", "ext"),
    *("np.float32(1.5)", "np.int64(3)", "np.zeros((2, 4))", "np.zeros((0,))", 'np.array(["a"])'),
    *("np.float16", "foreign", "[foreign]", "bare", "inner", "k", "tir.LT(k, tir.IntImm(4))", "lt"),
    *("te.var('n')", "A", "A[0]", "lambda: 1", "lambda a: a", "rlx.const(1)", "module", "function"),
    *("info", "ast.ShapeExpr((n,))", "kernel", "float('nan')", '"main"', '"n"', '"n // 2"', "bb"),
)
NAMES = ("main", "other", "x", "lv", "gv", "a", "a1", "")
TEXTS = ("n >= 0", "n == m", "n * 2 // 2", "n + 1 > n", "m - m", "n % 4 == 0", "n", "4", "k < 3")


@cache
def _operators() -> list[str]:
    return sorted(every_name())


class Writer:
    """Writes a text: values, and one or two functions."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.values: list[str] = []
        self.indent = ""
        self.count = 0

    def pick(self, *given: str) -> str:
        return self.random.choice(given)

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def odd(self, plain: str, chance: float = 0.03) -> str:
        return self.pick(*ODD) if self.maybe(chance) else plain

    def add(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def name(self) -> str:
        return self.odd(f'"{self.pick(*NAMES)}"')

    def info(self) -> str:
        return self.odd(f'"{self.pick(*INFOS)}"')

    def value(self, depth: int = 1) -> str:
        """A text of a value of Relax."""
        if depth == 0:
            return self.odd(self.pick(*self.values))
        a, b = self.value(depth - 1), self.value(depth - 1)
        match self.random.randrange(22):
            case 0 | 1 | 2:
                return f"{a} {self.pick('+', '-', '*', '/', '//', '%', '@', '**', '<', '>=')} {b}"
            case 3:
                return f"{a} {self.pick('+', '*', '<')} {self.pick('1', '2.5', 'n', 'True', '-3')}"
            case 4:
                return f"{self.pick('-', 'abs', '~')}({a})"
            case 5:
                return f"({a}, {b})"
            case 6:
                return f"ast.Tuple(({a}, {b}))"
            case 7:
                return f"({a})[{self.pick('0', '1', '-1', '5')}]"
            case 8:
                return f"ast.TupleGetItem({a}, {self.pick('0', '1', '2')})"
            case 9:
                return f"ast.ShapeExpr(({self.pick('n', 'm', 'k', 'n * 2', 'tir.IntImm(3)')},))"
            case 10:
                kind = self.odd(self.pick("None", '"float32"', '"int8"', '"bool"', '"uint8"'))
                given = self.pick(
                    "1", "1.5", "[1, 2]", "[[1.5]]", "[]", "300", "True", "[1, 2.5]", "-1"
                )
                return f"rlx.const({self.odd(given)}, {kind})"
            case 11:
                return f"{self.pick('f', 'gv', 'ext', a)}({a})"
            case 12:
                return f"ast.If({a}, {b}, {b})"
            case 13:
                return self.pick("n", "4", "k", "ast.PrimValue(n)", "n + m", "1.5", "lt")
            case _:
                return self.operator(a, b)

    def operator(self, a: str, b: str) -> str:
        """A call of an operator, with arguments that it may take."""
        plain = ("add", "multiply", "nn.relu", "exp", "matmul", "sum", "reshape", "concat", "split")
        name = self.random.choice([*plain, *plain, *plain, *plain, *_operators()])
        declared = lookup(f"relax.{name}")
        assert declared is not None
        given = []
        for number, parameter in enumerate(signature(declared).parameters.values()):
            if parameter.kind is Parameter.VAR_POSITIONAL:
                continue
            optional = parameter.default is not Parameter.empty
            if optional and self.maybe(0.6):
                continue
            text = self.odd(self.argument(str(parameter.annotation), a if number == 0 else b), 0.04)
            given.append(text if not optional and self.maybe(0.9) else f"{parameter.name}={text}")
        words = ".".join(f"{word}_" if iskeyword(word) else word for word in name.split("."))
        positional = [each for each in given if "=" not in each.partition("(")[0]]
        rest = [each for each in given if each not in positional]
        return f"rlx.op.{words}({', '.join([*positional, *rest])})"

    def argument(self, kind: str, value: str) -> str:
        kinds = {
            "Sequence[Value]": f"[{value}, {self.pick(*self.values)}]",
            "Value": value,
            "Operand": self.pick(value, value, "1", "2.5"),
            "ShapeLike": self.pick(
                "(4, 2)", "(n, 4)", "(n, -1)", "[8]", "ast.ShapeExpr((n,))", "s", "()"
            ),
            "Type": self.pick('"float32"', '"int8"', 'dtype("float16")', '"void"'),
            "Info": self.pick("info", '"R.Tensor"', "\"R.Tensor((2,), 'int8')\""),
            "str": self.pick('"s"', '"NCHW"', '"sum"', '"clip"'),
            "Sequence[int]": self.pick("[0]", "[0, 1]", "(1,)", "[1, 0]", "-1"),
            "int": self.pick("0", "1", "-1", "2", "5", "True"),
            "Scalar": self.pick("1", "2", "n", "1.5", "ast.PrimValue(k)", "-1"),
            "float": self.pick("1.0", "0.5", "1", "-2.5"),
            "bool": self.pick("True", "False"),
        }
        found = [text for word, text in kinds.items() if word in kind]
        return found[0] if found else value

    def tried(self, call: str, bind: bool = True) -> None:
        """A line that goes on behind an error."""
        if not bind:
            self.add(f"t(lambda: {call})")
            return
        self.count += 1
        name = f"v{self.count}"
        self.add(f"{name} = t(lambda: {call})")
        self.values.append(name)

    def step(self) -> None:
        """A call of a method of the builder."""
        a = self.value(self.random.choice([0, 1, 1, 1, 2]))
        match self.random.randrange(24):
            case 0:
                target = self.pick(
                    self.info(), self.info(), "\"R.Tensor(('n', 'r'))\"", "\"R.Tensor(('n + 1',))\""
                )
                self.tried(f"bb.emit_match_cast({a}, {target}, {self.name()})")
            case 1:
                function = self.odd(
                    self.pick("kernel", "twice", "two", "scaled", "broken", "lambda a: a")
                )
                more = self.pick(
                    "",
                    "",
                    f", {self.pick(*self.values)}",
                    ", 2",
                    ", n",
                    f", factor={self.odd('3')}",
                )
                hint = self.pick("", "", f", primfunc_name_hint={self.name()}")
                self.tried(f"bb.{self.pick('emit_te', 'call_te')}({function}, {a}{more}{hint})")
            case 2:
                self.tried(f"bb.normalize({a})")
            case 3:
                self.tried(f"bb.struct_info({a})", False)
            case 4:
                self.tried(f"bb.lookup_binding({self.odd(self.pick(*self.values))})", False)
            case 5:
                text = self.odd(f'"{self.pick(*TEXTS)}"', 0.15)
                self.tried(f"bb.{self.pick('prove', 'simplify')}({text})", False)
            case 6:
                self.tried(f"bb.unique_name({self.name()})", False)
            case 7:
                given = self.odd(
                    self.pick("function", "kernel_of", "helper_of", "bad_of", "function")
                )
                self.tried(f"bb.add_func({given}, {self.name()})", False)
            case 8:
                target = self.odd(self.pick("f", '"f"', "gv", "g"))
                given = self.odd(self.pick("function", "kernel_of", "helper_of", "bad_of"))
                self.tried(f"bb.update_func({target}, {given})", False)
            case 9:
                method = self.pick("lookup_func", "global_var", "global_name", "lookup_func")
                self.tried(
                    f"bb.{method}({self.odd(self.pick('f', chr(34) + 'f' + chr(34), 'gv'), 0.1)})",
                    False,
                )
            case 10:
                self.add(f"g = t(lambda: bb.declare({self.name()}))")
                if self.maybe(0.7):
                    self.tried(
                        f"bb.define({self.odd('g')}, {self.odd(self.pick('function', 'helper_of', 'bad_of', 'kernel_of'))})",
                        False,
                    )
            case 11:
                self.tried(
                    self.pick(
                        "bb.shape_vars",
                        "bb.prover.simplify(n * 2 // 2)",
                        "bb.get()",
                        "bb.diagnostics",
                    ),
                    False,
                )
            case 12:
                self.tried(f"bb.emit(tensor({a}))")
            case 13:
                self.tried(f"bb.emit_output({a}, {self.name()})")
            case _:
                self.tried(f"bb.emit({a}{self.pick('', '', ', ' + self.name())})")

    def function(self, name: str) -> None:
        """A function of some steps."""
        known = list(self.values)
        params = self.random.sample(["x", "y", "z", "s", "p"], self.random.choice([1, 2, 3, 5]))
        given = self.odd(
            self.pick(f"[{', '.join(params)}]", f"[{', '.join(params)}]", "None", params[0])
        )
        more = ""
        if self.maybe(0.3):
            more += f", {self.pick('private=True', 'pure=False', f'ret_struct_info={self.info()}', 'private=1')}"
        if self.maybe(0.15):
            more += f", attrs={self.odd(self.pick('{}', '{chr(97): 1}', '{chr(97): n}', '{chr(97): [1, None]}'), 0.2)}"
        self.add(f"with bb.function({self.odd(name)}, {given}{more}) as f:")
        self.indent = "    "
        if self.maybe(0.9):
            self.values = params * 2
        for _ in range(self.random.choice([1, 2, 4, 7])):
            if self.maybe(0.2) and len(self.indent) == 4:
                self.add("with bb.dataflow():")
                self.indent = "        "
                for _ in range(self.random.choice([1, 2, 4])):
                    self.step()
                if self.maybe(0.05):
                    self.tried(f"bb.emit_func_output({self.pick(*self.values)})", False)
                self.tried(f"bb.emit_output({self.value(1)}, {self.name()})")
                self.indent = "    "
            else:
                self.step()
        if self.maybe(0.95):
            behind = self.pick(
                "", "", "", "", "", "", f", {given}", f", params=[{', '.join(params)}]"
            )
            self.tried(
                f"bb.emit_func_output({self.value(self.random.choice([0, 0, 1]))}{behind})", False
            )
            again = f", [{', '.join(params)}]" if given == "None" else ""
            self.tried(f"bb.emit_func_output({params[0]}{again})", False)
        if self.maybe(0.05):
            self.step()
        self.indent = ""
        self.values = [*known, *self.values[-2:]] if self.maybe(0.2) else known

    def text(self) -> str:
        """The whole."""
        for name in "xyz":
            self.add(f"{name} = t(lambda: rlx.Var({self.odd(repr(name), 0.02)}, {self.info()}))")
        self.values += ["x", "y", "z", "x", "y"]
        self.add(
            f"bb = rlx.BlockBuilder({self.pick('', '', 'module', 'module', self.odd('', 0.1))})"
        )
        if self.maybe(0.2):
            self.step()
        if self.maybe(0.2):
            scope = self.odd(self.pick("None", "{'n': k}", "{'q': n}", "{1: n}"))
            method = self.pick(
                f"dim({self.odd(repr(self.pick(*TEXTS)))}, {scope})",
                f"Var({self.info()}, {self.info()})",
            )
            self.tried(f"rlx.{method}", False)
        if self.maybe(0.1):
            self.tried(
                f"struct_info({self.info()}, {self.pick('None', chr(123) + chr(39) + 'n' + chr(39) + ': k}')})",
                False,
            )
        self.function('"main"')
        if self.maybe(0.3):
            self.function(self.pick('"other"', '"main"', '"x"'))
        self.add("bb.get()")
        self.add("bb.diagnostics")
        return "\n".join(self.lines)


def pool(random: Random) -> str:
    """A text; or the name of an operator whose signature is shown."""
    if random.random() < 0.02:
        return f"signature({random.choice(_operators())!r})"
    return Writer(random).text()


def show(value: Any) -> str:
    """A value with the places of its parts."""
    match value:
        case ast.IRModule():
            spans = [
                f"{type(e).__name__} {place_of(e)}"
                for f in value.functions.values()
                if isinstance(f, ast.Function)
                for e in walk(f)
                if not isinstance(e, ast.Op)
            ]
            return f"{value}\n{spans}"
        case ast.Expr():
            known = getattr(value, "struct_info_annotation", None)
            return f"{type(value).__name__} {_text(value)} {known and printed(known)} {place_of(value)}"
        case ast.StructInfo() | tir.PrimExpr() | te.Scalar() | te.Tensor():
            return f"{type(value).__name__} {value}"
        case str() | bool() | int() | float() | None:
            return f"{value!r}"
        case list() | tuple():
            return "\n".join(map(show, value))
        case dict():
            return f"{sorted(value)}"
    if type(value).__module__.startswith("rlx.solver") or type(value).__name__ == "Diagnostic":
        return f"{value}"
    return type(value).__name__


def _text(value: ast.Expr) -> str:
    try:
        return printed(value)
    except (TypeError, ValueError) as error:
        return type(error).__name__


MODULE = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        gv = R.nn.relu(x)
        return gv
    @R.function(private=True)
    def helper(a: R.Tensor(("n",), "float32"), b: R.Shape(["m"])):
        m = T.int64()
        gv = R.reshape(a, (m,))
        return gv
    @R.function(private=True)
    def bad(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        gv = R.add(a, b)
        return gv
    @T.prim_func(private=True)
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("B"):
                v = T.axis.spatial(4, i)
                B[v] = A[v]
""")


KERNELS = """
foreign = rlx.Var("foreign", 'R.Tensor(("n", 4), "float32")')
bare = rlx.Var("bare")
s, p = rlx.Var("s", 'R.Shape(["n", "m"])'), rlx.Var("p", 'R.Prim("int64")')
A = te.placeholder((2,), "float32", "A")
def kernel(a):
    return te.compute(a.shape, lambda *i: a(*i) + 1, "plus")
def twice(a):
    return kernel(kernel(a))
def two(a, b=2):
    return te.compute(a.shape, lambda *i: (a(*i) * b, a(*i) - b), "two")
def scaled(a, *, factor=1):
    return te.compute(a.shape, lambda *i: a(*i) * factor, "scaled")
def broken(a):
    return a.shape[0]
def tensor(value):
    return te.compute((2,), lambda i: te.te_tensor(value)(i, 0), "made")
"""
"""Values and functions in a text of their own: errors say where they stand."""


def signed(name: str) -> str:
    """How the stub file declares an operator."""
    space, _, last = name.rpartition(".")
    return stub._function(space, last, "    " if space else "")


def _names(lines: list[str]) -> dict[str, Any]:
    """What a text may use; new values each time."""

    def t(call: Callable[[], Any]) -> Any:
        try:
            made = call()
        except Exception as error:  # noqa: BLE001 - any is an answer
            lines.append(failed(error))
            return names.get("x")
        lines.append(show(made))
        return made

    functions = {gv.name_hint: f for gv, f in MODULE.functions.items()}
    names = {
        "rlx": rlx,
        "te": te,
        "tir": tir,
        "np": np,
        "ast": ast,
        "dtype": dtype,
        "struct_info": struct_info,
        "t": t,
        "module": ast.IRModule(
            {gv: f for gv, f in MODULE.functions.items() if gv.name_hint == "f"}
        ),
        "function": functions["f"],
        "helper_of": functions["helper"],
        "bad_of": functions["bad"],
        "kernel_of": functions["copy"],
        "f": next(iter(MODULE.functions)),
        "g": ast.GlobalVar("g"),
        "gv": ast.GlobalVar("nothing"),
        "ext": ast.ExternFunc("test.ext"),
        "inner": ast.DataflowVar("inner"),
        "n": rlx.dim("n"),
        "m": rlx.dim("m"),
        "k": tir.Var("k"),
        "lt": tir.LT(rlx.dim("n"), tir.IntImm(4)),
        "info": struct_info('R.Tensor(("n", 4), "float32")'),
        "signature": signed,
    }
    exec(compile(KERNELS, "<kernels>", "exec"), names)  # noqa: S102
    return names


def answers(text: str) -> str:
    """What the statements give, and in functions the tried ones."""
    lines: list[str] = []
    whole = said(text, _names(lines), show)
    return "\n".join([whole, *lines])


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_texts(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
