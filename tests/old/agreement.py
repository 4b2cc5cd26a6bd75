"""The older rules against today's on programs that both have.

``python -m tests.old.agreement COUNT SEED`` makes that many programs, legal ones, ones with one mistake and damaged ones, and translates each to the
words of 2022. What the older rules accept today's accept too, unless `REASONS` names the ledger's entry; what runs has the same value, or fails a
check, by both.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rlx.checker.check import check_modules
from rlx.checker.well_formed.functions import call_graph
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import Options, random_module
from rlx.generate.programs.operators import usable
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.old.check import check_modules as check_older
from rlx.old.conversion import to_2022
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation import run
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.old.well_formed import LATER
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Ended, Fault, Outcome, OutOfFuel, Returned, Stuck
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Value
from tests.long_run import long_run
from tests.values import alike
from tests.vm.agreement import copies, perturbed

FUEL = 20_000
COMMON = frozenset(
    ["symbolic", "match_cast", "tuples", "closures", "higher_order", "recursion", "mutual", "if", "dataflow", "impure", "call_tir", "packed", "loose", "nested"]
)  # fmt: skip
"""The features of generated programs that 2022 may have words for."""

APART = ("MEM", "VM", "OBL-packed")
"""Families of premises about what only the later system has, such as calls of packed values."""

DRAWS = 8
"""How often a program of today alone is drawn again."""

REASONS: dict[str, int] = {"D14-impure": 79, "WF21-pure": 81, "D15-result": 82, "D17-shape": 85}
"""Errors of today's rules in programs that the older ones accept, with the entry of the ledger that says why."""

RUNS: dict[str, int] = {"E-cast-function": 83}
"""Checks that fail by today's rules in runs that go on by the older ones."""


def is_later(name: str) -> bool:
    """Whether an operator belongs to the later system."""
    return name in LATER or name.startswith(("relax.vm.", "relax.memory.", "relax.builtin."))


OPERATORS = tuple(
    name for name in usable(Options(features=COMMON)) if not is_later(f"relax.{name}")
)
"""Operators that 2022 may have; those that only compute."""

LEGAL = Options(6, COMMON, OPERATORS)
MISSED = Options(6, COMMON - {"nested"}, OPERATORS)
BREAKABLE = tuple(code for code in sorted(CODES) if not code.startswith(APART))
"""Premises that a program without what only the later system has can break."""


def source_of(k: int) -> str:
    """The text of program number k."""
    made = program(k)
    return made if isinstance(made, str) else print_module(made, "0.27")


def program(k: int) -> ast.IRModule | str:
    """Program number k: a legal one, one with a mistake, or the text of a damaged one.

    One with what only the later system has is drawn again.
    """
    choose = random.Random(k)
    for _ in range(DRAWS):
        way = k % 8
        if way == 1:
            made = near_miss(choose.choice(BREAKABLE), choose, MISSED)
        else:
            made = random_module(choose, LEGAL)
        if not any(isinstance(e, ast.Call) and is_later(e.op_name) for e in _expressions(made)):
            break
    made = _with_tensors(made)
    return damaged(print_module(made, "0.27"), choose) if way == 2 else made


def _expressions(module: ast.IRModule) -> Iterator[ast.Expr]:
    for function in module.relax_functions.values():
        yield from expressions(function)


def _with_tensors(module: ast.IRModule) -> ast.IRModule:
    """A module whose branches look at tensors: the numbers that they compare become some."""
    return module.map_relax_functions(lambda _, f: rebuild(f, _tensor_condition))


def _tensor_condition(node: Node) -> Node:
    match node:
        case ast.If(cond=ast.PrimValue(value=tir.Comparison() as compared)):
            numbers = _as_tensor(compared.a), _as_tensor(compared.b)
            op = ast.op(f"relax.{COMPARED[type(compared)]}")
            return replace(node, cond=ast.Call(op, numbers))
    return node


COMPARED: dict[type[tir.PrimExpr], str] = {
    tir.GT: "greater",
    tir.LT: "less",
    tir.GE: "greater_equal",
    tir.LE: "less_equal",
    tir.EQ: "equal",
    tir.NE: "not_equal",
}


def _as_tensor(number: tir.PrimExpr) -> ast.Expr:
    """The tensor of rank 0 with the number of a dimension."""
    if isinstance(number, tir.IntImm):
        return ast.Constant(ast.Literal(number.value, INT64, ()))
    tensor = ast.Call(ast.op("relax.shape_to_tensor"), (ast.ShapeExpr((number,)),))
    return ast.Call(ast.op("relax.sum"), (tensor,))


def damaged(text: str, choose: random.Random) -> str:
    """A program of which one or two words were exchanged for others of their kind, or dropped."""
    words = re.split(r"(\W)", text)
    kinds = [
        [i for i, word in enumerate(words) if re.fullmatch(pattern, word)]
        for pattern in (r"\d+", r"[a-z]\w*", r"float\d+|int\d+|bool", r"\w+|[(),:=]")
    ]
    for _ in range(choose.randint(1, 2)):
        places = choose.choice([each for each in kinds if each])
        i = choose.choice(places)
        words[i] = "" if choose.random() < 0.1 else words[choose.choice(places)]
    return "".join(words)


def binding_first(module: ast.IRModule) -> ast.IRModule:
    """A module whose entries begin with a tensor that gives each shape variable of the signature a value."""
    called = {name for mentioned in call_graph(module).mentions.values() for name in mentioned}
    functions = dict(module.functions)
    for name, function in module.relax_functions.items():
        if name not in called and function.shape_vars:
            shape = ast.ShapeExpr(function.shape_vars)
            info = ast.TensorStructInfo(shape, dtype("float32"), len(function.shape_vars))
            first = ast.Var("sizes", info)
            functions[name] = replace(function, params=(first, *function.params))
    return replace(module, functions=functions)


def differences(given: ast.IRModule | str, seed: int) -> Iterator[str]:
    """Disagreements of the two systems; first the kind of the program, behind a colon."""
    if isinstance(given, str):
        parsed = parse(given)
        if any(d.is_error for d in parsed.diagnostics) or len(parsed.modules) != 1:
            yield "kind:unreadable"
            return
        given = parsed.modules[0]
    converted = to_2022(binding_first(given))
    again = parse(print_module(converted.module, "2022"))
    older = check_older(again.modules, again.source, again.diagnostics, again.captured)
    if older.errors:
        beyond = any(d.code.startswith("OMIX") for d in older.errors)
        yield "kind:beyond 2022" if beyond else "kind:refused by 2022"
        return
    yield "kind:accepted by 2022"
    today = check_modules(
        again.modules, Source(again.source.text), again.diagnostics, again.captured
    )
    for found in today.errors:
        entry = REASONS.get(found.code) or (
            86 if _unknown_in_2022(older.derivations, again.source.text, found) else None
        )
        if entry is not None:
            yield f"kind:explained by entry {entry}"
        else:
            yield f"2022 accepts, today refuses: {found.code}"
    if not today.errors:
        yield from _runs(again.modules[0], seed)


def _unknown_in_2022(derivations: Sequence[OlderDerivation], text: str, found: Diagnostic) -> bool:
    """Whether an error of shapes is about a variable whose shape the older rules do not know."""
    if found.span is None or not found.code.startswith(("OBL-", "D14-")):
        return False
    words = set(re.findall(r"\w+", text[slice(*found.span)]))
    return any(
        isinstance(node, ast.Var) and node.name_hint in words and isinstance(shape, RuntimeDepShape)
        for derived in derivations
        for node, shape in derived.shape_of.items()
    )


def _runs(module: ast.IRModule, seed: int) -> Iterator[str]:
    choose = random.Random(seed)
    for name, function in module.relax_functions.items():
        if function.attrs.get("private"):
            continue
        try:
            fitting = tuple(inputs(function, {}, seed).values)
        except ValueError:
            continue
        for args in (fitting, perturbed(fitting, choose)):
            difference = compared(module, name.name_hint, args)
            if difference:
                yield difference


def compared(module: ast.IRModule, entry: str, args: tuple[Value, ...]) -> str | None:
    """The difference between the ends of two runs; None if there is none."""
    printed: tuple[list[str], list[str]] = ([], [])
    older = run(module, entry, copies(args), fuel=FUEL, output=printed[0].append)
    today = load(module, output=printed[1].append, backend="steps").run(
        entry, copies(args), fuel=FUEL
    )
    if isinstance(older, OutOfFuel) or isinstance(today, OutOfFuel):
        return None
    if isinstance(today, CheckFailed) and today.code in RUNS and not isinstance(older, Stuck):
        return f"kind:runs explained by entry {RUNS[today.code]}"
    if isinstance(older, Fault) and older.code == "E-return-written":
        # Here a call ends when its result is not whole; today it ends when somebody reads it.
        return "kind:a result that was not written whole"
    if type(older) is not type(today):
        return f"ends: {_words(older)} / {_words(today)}"
    if printed[0] != printed[1]:
        return f"printed {printed[0]} / {printed[1]}"
    if isinstance(older, Returned) and isinstance(today, Returned):
        return None if alike(older.value, today.value) else f"values: {older} / {today}"
    return None


def _words(outcome: Outcome) -> str:
    return f"{outcome.code}: {outcome.message}" if isinstance(outcome, Ended) else "returned"


def disagreement(seed: int, kinds: Counter[str]) -> str:
    """The differences of a program, one a line."""
    found = list(differences(program(seed), seed))
    kinds.update(each[5:] for each in found if each.startswith("kind:"))
    return "\n".join(each[:300] for each in found if not each.startswith("kind:"))


if __name__ == "__main__":
    long_run(disagreement)
