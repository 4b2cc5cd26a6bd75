"""LAW: a Python file's decorated definitions are those that Python's own parser finds in it."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast as relax_ast
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.parser import parse
from tests.grammar.parse.python_definitions import Definition, definitions

IMPORTS = {
    "R": ["from tvm.script import relax as R", "from tvm.script.parser import relax as R"],
    "T": ["from tvm.script import tirx as T", "from tvm.script import tir as T"],
    "I": ["from tvm.script import ir as I", "from tvm.script.parser import ir as I"],
    "RR": ["from tvm.script import relax as RR", "import tvm.script.relax as RR"],
    "TT": ["from tvm.script import tirx as TT", "from tvm.script.parser import tirx as TT"],
    "relax": ["from tvm.script import relax"],
    "ir": ["from tvm.script import ir"],
    "ir_module": ["from tvm.script import ir_module", "from tvm.script.ir import ir_module"],
    "prim_func": ["from tvm.script.tirx import prim_func"],
    "function": ["from tvm.script.relax import function"],
    "script": ["from tvm import script"],
    "tvm": ["import tvm", "import tvm.script"],
}
FUNCTIONS = {
    "@R.function": "R",
    "@R.function()": "R",
    "@R.function(private=True)": "R",
    "@R.function(pure=False)": "R",
    "@R.function(  # why\n    private=True,\n    pure=True,\n)": "R",
    "@ R.function": "R",
    "@R.function  # a comment: @R.function": "R",
    "@RR.function": "RR",
    "@relax.function(private=True)": "relax",
    "@function": "function",
    "@tvm.script.relax.function": "tvm",
    "@R.\\\n    function": "R",
}
PRIMS = {
    "@T.prim_func": "T",
    "@T.prim_func(private=True)": "T",
    "@T.prim_func(\n    private=True\n)": "T",
    "@TT.prim_func": "TT",
    "@prim_func": "prim_func",
    "@script.tirx.prim_func": "script",
}
MODULES = {
    "@I.ir_module": "I",
    "@I.ir_module(check_well_formed=False)": "I",
    "@I.ir_module()": "I",
    "@ir.ir_module": "ir",
    "@ir_module": "ir_module",
    "@tvm.script.ir_module": "tvm",
    "@script.ir_module": "script",
}
HEADS = [
    "def {}(n, m=3):",
    "def {}(\n    n: int,  # one (\n    m: str = ')',\n) -> None:",
    "async def {}(self):",
    "class {}:",
    "class {}(Base, metaclass=Meta):",
    "if n > 3:",
    "for i in range(3):",
    "while True:",
    "with open('@R.function') as file, other():",
    "async with a as b:",
    "try:",
    "@pytest.mark.parametrize('x', [1, 2])\ndef {}(x):",
    "@dataclass\nclass {}:",
]
LINES = [
    "x = 1",
    "# @R.function",
    "'''\n@R.function\ndef hidden(x: R.Tensor):\n    return x\n'''",
    "text = '@R.function' \\\n    'def hidden(): return 1'",
    "check(f(x), {'a': [1,\n2]})",
    "y = [\n    1,\n  ]",
    "pass; z = 3",
    "\f",
    "",
    "# 'it",
    "lambda_ = lambda a: a",
    'doc = r"""\\\\"""',
    "def helper(a): return a",
    "@functools.cache\ndef plain(a):\n    return a",
    "class Empty: pass",
]


def relax(name: str) -> list[str]:
    """Layouts of a function."""
    return [
        f'def {name}(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n    return x',
        f'def {name}(x: R.Tensor((4,), "float32")): return x',
        f'def {name}(\n    x: R.Tensor((4,), "float32"),\n):\n    y = R.add(\n        x,\n    x)\n\n    return y',
        f"def {name}(x: R.Tensor((4,), \"float32\")):\n    # '''\n    y = R.exp(x); z = R.exp(y)\n    return z  # )",
        (
            f'def {name}(x: R.Tensor((4,), "float32")):\n'
            '    @R.function\n    def inner(a: R.Tensor((4,), "float32")):\n        return a\n'
            '    @R.function\n    def other(a: R.Tensor((4,), "float32")):\n        return inner(a)\n'
            "    return other(x)"
        ),
        (
            f'def {name}(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):\n    if c:\n        y = x\n'
            "    else:\n        y = R.exp(x)\n    return y"
        ),
        (
            f'def {name}(x: R.Tensor((4,), "float32")):\n    with R.dataflow():\n        y = R.exp(x)\n'
            "        R.output(y)\n    return y\n    # the end"
        ),
    ]


def prim(name: str) -> list[str]:
    """Layouts of a PrimFunc."""
    return [
        f'def {name}(A: T.Buffer((4,), "float32")):\n    for i in range(4):\n        A[i] = T.float32(0)',
        f"def {name}(a: T.handle): T.evaluate(0)",
        f"def {name}(a: T.handle):\n    A = T.match_buffer(\n        a, (4,)\n    )\n    A[0] = T.float32(1)",
    ]


class Layout:
    """Writes a random file of Python."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.number = 0
        self.needed: set[str] = set()

    def name(self) -> str:
        self.number += 1
        return f"f{self.number}"

    def pick(self, table: dict[str, str]) -> str:
        decorator = self.draw.choice(list(table))
        self.needed.add(table[decorator])
        return decorator

    def function(self) -> str:
        if self.draw.random() < 0.6:
            return f"{self.pick(FUNCTIONS)}\n{self.draw.choice(relax(self.name()))}"
        return f"{self.pick(PRIMS)}\n{self.draw.choice(prim(self.name()))}"

    def module(self) -> str:
        functions = [self.function() for _ in range(self.draw.randint(1, 3))]
        body = self.draw.choice(["\n", "\n\n", "\n# between\n"]).join(functions)
        return f"{self.pick(MODULES)}\nclass {self.name()}:\n{self.indented(body)}"

    def indented(self, text: str) -> str:
        return indented(text, self.draw.choice(["    ", "  ", "\t"]))

    def block(self, depth: int) -> str:
        kind = self.draw.random()
        if kind < 0.4:
            return self.function()
        if kind < 0.55:
            return self.module()
        if kind < 0.75 or depth > 4:
            return self.draw.choice(LINES)
        head = self.draw.choice(HEADS).format(self.name())
        found = f"{head}\n{self.indented(self.blocks(depth + 1))}"
        if head == "try:":
            found += f"\nexcept Exception:\n{self.indented(self.blocks(depth + 1))}"
        elif head.startswith("if") and self.draw.random() < 0.5:
            found += f"\nelse:\n{self.indented(self.blocks(depth + 1))}"
        return found

    def blocks(self, depth: int) -> str:
        found = [self.block(depth) for _ in range(self.draw.randint(1, 5))]
        return "\n".join([*found, self.draw.choice(["pass", self.function(), self.module()])])

    def file(self) -> str:
        body = self.blocks(0)
        imports = [self.draw.choice(IMPORTS[name]) for name in sorted(self.needed)]
        return "\n".join([*imports, body, ""])


def indented(text: str, lead: str) -> str:
    """A text moved to the right; lines in long strings as well, which changes no definition."""
    return "\n".join(lead + line if line.strip(" ") else line for line in text.split("\n"))


def read(text: str, path: str = "file.py") -> list[Definition]:
    """The definitions that rlx reads."""
    parsed = parse(text, path)
    found = []

    def line(at: int) -> int:
        return parsed.source.position(at)[0]

    for module in parsed.modules:
        if not module.bare:
            assert module.span is not None
            at = text.index(f"class {module.name}", module.span[0])
            found.append(Definition("module", module.name, line(at)))
        for variable, function in module.functions.items():
            kind = "function" if isinstance(function, relax_ast.Function) else "prim_func"
            assert function.name_span is not None
            found.append(Definition(kind, variable.name_hint, line(function.name_span[0])))
    return sorted(found, key=lambda definition: definition.line)


@given(st.integers(0, 2**64))
def test_layouts(seed: int) -> None:
    text = Layout(random.Random(seed)).file()
    assert read(text) == definitions(text), text
    assert not [d for d in parse(text, "file.py").diagnostics if d.is_error], text


def wheel() -> list[Path]:
    """The Python files of TVM that have decorated definitions."""
    tvm = pytest.importorskip("tvm")
    found = []
    for path in sorted(Path(tvm.__file__).parent.rglob("*.py")):
        text = path.read_text()
        if "prim_func" in text or "R.function" in text or "ir_module" in text:
            found.append(path)
    return found


ALONE = '@R.function\ndef f(x: R.Tensor((4,), "float32")):\n    y = R.add(x, x)\n    return y\n'


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + ALONE,
        "\ufefffrom tvm.script import relax as R\n" + ALONE,
        "# -*- coding: utf-8 -*-\n" + ALONE,
        "\f" + ALONE,
        ALONE.replace("def", "\fdef"),
        ALONE.replace(" ", "\f", 1).replace("y =", "y\f="),
        ALONE.replace("    ", "\t"),
        ALONE.replace("\n", "\r\n"),
        ALONE.replace("\n", "\r"),
        ALONE.replace("x)\n", "x);\n").replace("y\n", "y ;\n"),
        ALONE.replace("\n    y", " y").replace("\n    return", "; return") + "\n",
        ALONE.replace("def", "\n# below the decorator\n\ndef"),
        ALONE.replace("x", "größe").replace("f(", "ärger("),
        ALONE.replace("y", "match").replace("x", "case"),
        ALONE.replace("@R.function", "@(R.function)"),
    ],
)
@pytest.mark.parametrize("path", ["file.py", "file.rlx"])
def test_layouts_of_one_function(text: str, path: str) -> None:
    usual = ast.parse(text.lstrip("\ufeff")).body[-1]
    assert isinstance(usual, ast.FunctionDef)
    (module,) = parse(text, path).modules
    assert [gv.name_hint for gv in module.functions] == [usual.name]
    assert check_text(text, path).diagnostics == ()
    if path == "file.py" and "import" in text:  # not formatted: rlx does not write Python
        return
    written = format_text(text, path).text
    assert written is not None and f"def {usual.name}(" in written


def test_definitions_in_a_match() -> None:
    text = f"match n:\n    case 1:\n{indented(ALONE, '        ')}    case _:\n"
    text += indented(ALONE.replace("f(", "g("), "        ")
    assert read(text) == definitions(text)


def test_the_files_of_tvm() -> None:
    number = 0
    for path in wheel()[::3]:
        text = path.read_text()
        wanted = definitions(text)
        number += len(wanted)
        assert read(text, str(path)) == wanted, path
    assert number > 30


VICTIMS = [
    """@R.function
def victim(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        y = R.add(x, x)
        z = R.multiply(y, x)
        R.output(y)
    t = R.multiply(y, z)
    return t""",
    """@R.function
def victim(x: R.Tensor((4,), "float32")) -> R.Tensor((5,), "float32"):
    y = R.add(x, nothing)
    z = R.no_such(nobody)
    return x""",
    """@R.function
def victim(x: R.Tensor(("n + 1",), "float32"), w: R.Tensor((4,), "float32"), v: R.Tensor((5,))):
    y = R.add(w, v)
    return y""",
    """@R.function
def victim(x: R.Tensor((4,), "float32")):
    y = R.match_cast(x, R.Tensor((m,), "float32"))
    return y""",
    """@R.function
def victim(x: R.Tensor((4,), "float32")):
    cls = Module
    y = cls.absent(x)
    return y""",
    """@T.prim_func
def victim(A: T.Buffer((4,), "float32")):
    for i in range(9):
        A[i] = T.float32(0)""",
    """@R.function
def victim(x: R.Tensor((4,), "float32")):
    y = R.add(x, x)""",
]
"""Functions with mistakes that are found when the whole function is read."""
HEAD = '@R.function\ndef bad(x: R.Tensor((4,), "float32"))'
UNREADABLE = [
    f"{HEAD}:\n    gv = R.add(x, x)\n    R.output(gv)\n    return gv",
    f"{HEAD}:\n    y = R.add(x x)\n    z = = 3\n    return z",
    f"{HEAD}\n    y = R.add(x, x)\n    return y",
    f"{HEAD}:",
    "@R.function\ndef bad(x y):\n    return x",
    "@R.function\nasync def bad(x: R.Tensor((4,))):\n    return x",
    f"{HEAD}:\n    y = R.add(x, (x\n    return y",
    f'{HEAD}:\n    y = R.add(x, "x)\n    return y',
    f"{HEAD}:\n" + "    y = = R.add(x, x)\n" * 80 + "    return y",
    HEAD.replace("function", "function(1, 2)") + ":\n    return x",
    f"{HEAD}:\n    for i in range(3):\n        x = R.add(x, x)\n    raise ValueError\n    return x",
    f"{HEAD}:\n    y = R.add(x, x)\n      z = R.add(x, y)\n   w = R.add(x, y)\n    return y",
    f"{HEAD}:\n    y = R.add($x, ?)\n    return y",
    f"{HEAD}:\n    y = {'(' * 600}x{')' * 600}\n    return y",
    "@T.prim_func\ndef bad(A: T.Buffer((4,))):\n    for i in range(4)\n        A[i] = = 3",
    "@R.function\nclass bad(x):\n    pass",
]
READABLE = f"{HEAD}:\n    return x"


def side_by_side(functions: list[str]) -> str:
    return "\n\n".join(functions) + "\n"


def in_one_class(functions: list[str]) -> str:
    return "@I.ir_module\nclass Module:\n" + indented(side_by_side(functions), "    ")


def in_functions(functions: list[str]) -> str:
    return side_by_side(
        [f"def t{at}():\n    with a():\n" + indented(f, " " * 8) for at, f in enumerate(functions)]
    )


def said_of_victim(text: str, path: str) -> list[tuple[str, str, int]]:
    """The diagnostics in the function ``victim``, with lines counted from its head."""
    start = text.index("def victim")
    end = text.find("\n\n", start)
    end = len(text) if end < 0 else end
    return [
        (d.code, d.message, text.count("\n", start, d.span[0]))
        for d in check_text(text, path).diagnostics
        if d.span is not None and start <= d.span[0] < end
    ]


@pytest.mark.parametrize("bad", range(len(UNREADABLE)))
def test_an_unreadable_function_hides_nothing_of_another(
    bad: int,
) -> None:
    layout = (side_by_side, in_one_class, in_functions)[bad % 3]
    path = "file.py" if layout is in_functions or bad % 2 else "file.rlx"
    for victim in VICTIMS:
        for order in (1, -1):
            text = layout([UNREADABLE[bad], victim][::order])
            assert any(d.is_error for d in parse(text, path).diagnostics), text
            alone = layout([READABLE, victim][::order])
            assert said_of_victim(text, path) == said_of_victim(alone, path), text
