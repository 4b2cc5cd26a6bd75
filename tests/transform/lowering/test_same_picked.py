"""What each stage of lowering makes of programs that were picked because each shows another way through the code, in order and
alone, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/lowering/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.transform.lowering.test_same_picked 3000 300 --room transform/lowering`
picks more programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rlx.checker.check import check_text
from rlx.generate.campaign.programs import program
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.programs import Options, random_module
from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.grammar.node import replace
from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from rlx.grammar.visit import walk
from rlx.transform.legalization import legalize
from rlx.transform.lowering.passes import ModulePass, PassError, Sequential
from rlx.vm.compilation import STAGES
from tests.hostile import sources, swaps
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_picked
from tests.transform.changes import changed
from tests.transform.legalization.law import TYPES

PARTS = 60
LEGALIZED = "# legalized\n"
"""Above a text whose module is legalised first."""


@cache
def _kept() -> list[str]:
    """Texts that are made once."""
    found = [*sources.written(), *(text for _, text in swaps.texts(2))]
    return [text for text in found if check_text(text).ok]


def pool(random: Random) -> str:
    """A text that is legal: as somebody writes it, or as it is behind some of the stages; or else an empty one."""
    match random.randrange(9):
        case 0:
            text = program(random.randrange(1 << 30))[0]
        case 1:
            text = of_casts(random)
        case 2:
            text = print_module(random_module(random, Options(8)))
        case 3:
            text = of_shapes(random)
        case 4 | 5:
            text = of_memory(random)
        case 6:
            text = of_closures(random)
        case _:
            text = random.choice(_kept())
    text = _further(text, random)
    if random.random() < 0.3:
        text = _promised(text, random)
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        if random.random() < 0.5:
            text = changed(text, random, TYPES)
        else:
            text = damaged(text, tokens(text) or [(0, len(text))], random)
    return _bare(text) if check_text(text).ok else ""


def of_shapes(random: Random) -> str:
    """A program with shapes and scalars that are computed, cast, passed and returned."""
    dims = ["n", "m", "n", "4", "n * m", "n + 1", "-1", "0", "n // 2", "T.max(n, m)", "n - m"]
    lines: list[str] = []
    values = ["x", "y", "s"]
    for at in range(random.choice([2, 3, 4, 6])):
        a, b = (", ".join(random.choices(dims, k=random.choice([1, 2, 3]))) for _ in "ab")
        value = random.choice(values)
        lines += [
            random.choice(
                [
                    f"v{at} = R.reshape({value}, R.shape([{a}]))",
                    f"v{at} = R.reshape(x, ({a},))",
                    f"v{at} = R.shape([{a}])",
                    f"v{at} = R.ones(R.shape([{a}]), dtype='float32')",
                    f"v{at} = R.match_cast({value}, R.Shape([{b}]))",
                    f"v{at} = R.match_cast({value}, R.Tensor(({a},), 'float32'))",
                    f"v{at} = R.call_packed('test.id', R.shape([{a}]), R.prim_value({random.choice(dims)}), sinfo_args=R.Tensor(({b},)))",
                    f"v{at} = R.shape_of({value})",
                    f"v{at} = R.prim_value({random.choice(dims)})",
                    f"v{at} = R.call_dps_packed('test.copy', (x,), out_sinfo=R.Tensor(({a},), 'float32'))",
                    f"v{at} = R.call_dps_packed('test.two', (x, y), out_sinfo=[R.Tensor(({a},), 'float32'), R.Tensor(({b},), 'int8')])",
                    f"v{at} = (x, R.shape([{a}]), R.prim_value(n))",
                    f"v{at} = {value}",
                    f"v{at} = Module.inner(x, R.shape([{random.choice(dims)}, {random.choice(dims)}]))",
                ]
            )
        ]
        values.append(f"v{at}")
    if random.random() < 0.4:
        lines = [
            "with R.dataflow():",
            *(f"    {line}" for line in lines),
            f"    R.output({values[-1]})",
        ]
    body = "\n".join(f"        {line}" for line in lines)
    last = random.choice([values[-1], f"({values[-1]}, s)", f"({values[-1]}, R.shape([n, m]))"])
    result = random.choice(["", "", ' -> R.Tensor(("n",), "float32")', " -> R.Object"])
    return f"""
@I.ir_module
class Module:
    @R.function{random.choice(["", "(pure=False)", "(pure=False)"])}
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n * 2", 3), "float32"), s: R.Shape(["m", "n + m"])){result}:
        n, m = T.int64(), T.int64()
{body}
        return {last}
    @R.function(private=True)
    def inner(x: R.Tensor(("a", "b"), "float32"), s: R.Shape(["a", "c"])) -> R.Tensor(("a",), "float32"):
        r = R.sum(x, axis=[1])
        return r
"""


def of_memory(random: Random) -> str:
    """A program with many tensors that are alive for some time, of sizes that are numbers or not."""
    dims = random.choice(
        [
            ["4", "16", "100", "1", "0", "3"],
            ["n", "m", "4", "n * 2", "n + 1"],
            ["n", "4", "m", "n * m", "64"],
        ]
    )
    kinds = ["float32", "float32", "int8", "float16", "float64", "bool"]
    infos = {"x": 'R.Tensor(("n", 4), "float32")'}
    lines: list[str] = []
    for at in range(random.choice([2, 4, 6, 9, 12])):
        used = random.sample([*infos], min(len(infos), random.choice([1, 1, 2, 3])))
        shape = ", ".join(random.choices(dims, k=random.choice([1, 1, 2, 2])))
        infos[f"v{at}"] = f'R.Tensor(({shape},), "{random.choice(kinds)}")'
        args = f"({', '.join(used)},)"
        info = infos[f"v{at}"]
        copied = random.choice([each for each in infos if each != f"v{at}"])
        same = infos[copied].replace('"n"', "n")
        lines.append(
            random.choice(
                [
                    *[f"v{at} = R.call_dps_packed('test.op', {args}, out_sinfo={info})"] * 6,
                    f"v{at} = R.call_packed('test.keep', {', '.join(used)}, sinfo_args={info})",
                    f"v{at} = R.builtin.alloc_tensor(R.shape([{shape}]), R.dtype('float32'), R.prim_value({random.choice([0, 0, 1])}))",
                    f"v{at} = R.match_cast({copied}, {same})",
                    f"v{at} = {copied}",
                    f"v{at} = R.call_inplace_packed('test.in', {copied}, inplace_indices=[0], sinfo_args={same})",
                    f"v{at}_ = R.call_dps_packed('test.two', {args}, out_sinfo=[{info}, {info}])\n        v{at} = v{at}_[{random.randrange(2)}]",
                ]
            )
        )
    names = [*infos]
    last = random.choice([names[-1], f"({names[-1]}, {random.choice(names)})", "x"])
    if random.random() < 0.2:
        lines.insert(len(lines) // 2, "R.print(x, format='{}')")
    body = "\n".join(f"        {line}" for line in lines)
    return f"""
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["m"])):
        n, m = T.int64(), T.int64()
{body}
        return {last}
"""


def of_closures(random: Random) -> str:
    """A program with local functions, which capture, call themselves or each other, or are passed on."""
    captured = random.choice(["x", "y", "x"])
    head = random.choice(["", "", "(pure=False)"])
    inner = random.choice(
        ["R.add(a, x)", "R.add(a, a)", f"R.add(a, {captured})", "R.reshape(a, R.shape([n]))"]
    )
    again = random.choice(["b", "b", "f(b)", "Module.other(b)", "y"])
    other = random.choice(["f", "other", "lifted_func_0", "main_f", "g"])
    use = random.choice(
        [
            "f(x)",
            "f(f(x))",
            "R.invoke_closure(f, (x,), sinfo_args=R.Tensor((n,), 'float32'))",
            "g(x)",
        ]
    )
    second = random.choice(["f(a)", "R.exp(a)", "R.add(a, y)", "g2(a)"])
    result = random.choice(["r", "(r, f)", "g", "r"])
    info = 'R.Tensor((n,), "float32")'
    lines = [
        "n = T.int64()",
        f"@R.function{head}",
        f"def f(a: {info}) -> {info}:",
        f"    b = {inner}",
        f"    c = {again}",
        "    return c",
        f"@R.function{head}",
        f"def g(a: {info}) -> {info}:",
        "    @R.function",
        f"    def g2(a: {info}) -> {info}:",
        f"        b = R.multiply(a, {captured})",
        "        return b",
        f"    c = {second}",
        "    return c",
        f"r = {use}",
        f"return {result}",
    ]
    if random.random() < 0.3:
        del lines[6:14]
    body = "\n".join(f"        {line}" for line in lines)
    return f"""
@I.ir_module
class Module:
    @R.function{random.choice(["", "(pure=False)"])}
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
{body}
    @R.function{random.choice(["", "(private=True)"])}
    def {other}(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return x
"""


def _further(text: str, random: Random) -> str:
    """The text of what some of the passes make of a program."""
    report = check_text(text)
    if not report.ok or len(report.modules) != 1 or random.random() < 0.4:
        return text
    (module,) = report.modules
    if random.random() < 0.7:
        return LEGALIZED + text
    with suppress(PassError):
        for stage in STAGES[: random.choice([3, 5, 6, 8])]:
            module = stage()(module)
    return print_module(module)


def _promised(text: str, random: Random) -> str:
    """The text with limits of its shape variables, or another attribute, in its first function."""
    head = text.find("    def ")
    end = text.find(":\n", head)
    if head < 0 or end < 0:
        return text
    names = sorted({text[a:b] for a, b in tokens(text) if text[a:b] in ("n", "m", "a", "b", "k")})
    limits = {name: random.choice([0, 1, 8, 100, 1 << 20]) for name in names}
    attribute = random.choice(
        [f'"tir_var_upper_bound": {limits}'] * 4 + ['"relax.force_pure": True', '"num_input": 1']
    )
    return f"{text[: end + 2]}        R.func_attr({{{attribute}}})\n{text[end + 2 :]}"


def _bare(text: str) -> str:
    """The text without the imports that the printer writes."""
    lines = [line for line in text.splitlines() if not line.startswith("# from ")]
    return "\n".join(lines)


def answers(text: str) -> str:
    """What the stages make of a program one behind the other, and each alone."""
    modules = [*parse(text).modules]
    if text.startswith(LEGALIZED):
        modules = [legalize(module) for module in modules]
    return "\n".join(line for module in modules for line in _answers(module))


def _answers(module: IRModule) -> Iterator[str]:
    yield from _composed(module)
    now = module
    for stage in STAGES:
        if now is not module:
            yield _made(stage(), module)
        made = _made(stage(), now)
        yield made
        if made.startswith("refused"):
            return
        now = stage()(now)


def _composed(module: IRModule) -> Iterator[str]:
    """What hooks of a sequence see, and what is said of one that is none."""
    seen: list[str] = []
    whole = Sequential(
        [STAGES[0](), STAGES[2]()],
        before=lambda each, now: seen.append(f"before {each.name} {len(now.functions)}"),
        after=lambda each, now: seen.append(f"after {each.name} {len(now.functions)}"),
    )
    yield f"{whole!r} {whole(module) is module} {seen}"
    wrong: list[Any] = [None, "ab", [STAGES[0]], [3]]
    for given in wrong:
        try:
            Sequential(given)
        except TypeError as error:
            yield str(error)
    calls: list[tuple[ModulePass, Any]] = [(STAGES[0](), 3), (ModulePass(), module)]
    for stage, subject in calls:
        try:
            stage(subject)
        except (TypeError, NotImplementedError) as error:
            yield str(error)


def _made(stage: ModulePass, module: IRModule) -> str:
    """What a stage makes of a module, with the places of its calls."""
    try:
        found = stage(module)
    except PassError as error:
        return f"refused: {error}"
    if found is module:
        return f"{stage.name}: the same"
    spans = [
        (str(e.span), type(e).__name__)
        for function in found.functions.values()
        if isinstance(function, ast.Function)
        for e in walk(function)
        if isinstance(e, ast.Call | ast.SeqExpr | ast.If | ast.Function)
    ]
    kept = set(map(id, module.functions.values()))
    functions = {
        gv: f
        for gv, f in found.functions.items()
        if isinstance(f, ast.Function) or id(f) not in kept
    }
    names = [gv.name_hint for gv in found.functions]
    return f"{stage.name}:\n{names}\n{replace(found, functions=functions)}\n{spans}"


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
