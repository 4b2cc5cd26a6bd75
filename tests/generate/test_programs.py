"""Generated programs are well-formed, reach everything, and depend on nothing but their plan."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from rlx.checker.check import Report, check_text
from rlx.generate.programs import FEATURES, Options, build, random_module, random_plan
from rlx.generate.programs.choices import SIZE, Choices
from rlx.generate.programs.plan import FunctionPlan, ModulePlan
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.visit import bindings, expressions
from rlx.grammar.print.printer import print_module


def test_the_checker_finds_nothing() -> None:
    for seed in range(100):
        report = check_text(print_module(random_module(random.Random(seed))))
        assert told(report) == [], seed


def test_large_programs() -> None:
    for seed in range(3):
        module = random_module(random.Random(seed), Options(150))
        report = check_text(print_module(module))
        assert told(report) == [], seed


def told(report: Report) -> list[str]:
    """The diagnostics of a program; that it reads new memory may be: a run says it, too."""
    return [d.code for d in report.diagnostics if d.code != "MEM-written-before"]


@pytest.mark.parametrize("name", ["assert_op", "memory.kill_storage"])
def test_operators_with_effects_alone(name: str) -> None:
    """At a pure place that no operator fits, the program does without one, and generation ends."""

    def late(*_: object) -> None:
        raise TimeoutError(f"no program with {name}")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(30)
    try:
        modules = [random_module(random.Random(s), Options(4, operators=(name,))) for s in range(9)]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert any(ast.op(f"relax.{name}") in set(expressions(module)) for module in modules)


def test_a_program_depends_on_its_plan_alone() -> None:
    for seed in range(50):
        plan = random_plan(random.Random(seed))
        assert print_module(build(plan)) == print_module(build(plan))


def test_everything_is_reached() -> None:
    """Every kind of expression and of function, in few programs."""
    found: Counter[str] = Counter()
    for seed in range(400):
        module = random_module(random.Random(seed))
        found.update(type(f).__name__ for f in module.functions.values())
        for expr in expressions(module):
            found[type(expr).__name__] += 1
            found.update(_marks(expr))
    wanted = """
        If Function Tuple TupleGetItem PrimValue ShapeExpr Constant StringImm DataTypeImm ExternFunc Call PrimFunc
        MatchCast DataflowBlock DataflowVar recursion impure closure call relax.call_tir relax.call_tir_inplace
        relax.call_pure_packed relax.call_dps_packed relax.make_closure relax.invoke_pure_closure relax.print
        symbolic loose
    """
    assert not [word for word in wanted.split() if not found[word]]


def _marks(expr: Expr) -> Iterator[str]:
    match expr:
        case ast.SeqExpr(blocks=blocks):
            for block in blocks:
                yield type(block).__name__
                yield from (type(binding).__name__ for binding in block.bindings)
        case ast.Function(is_pure=False):
            yield "impure"
        case ast.Function(shape_vars=variables) if variables:
            yield "symbolic"
        case ast.Call(op=ast.Op(op_name=name)):
            yield name
        case ast.Call(op=ast.GlobalVar(name_hint=name)):
            yield "recursion" if name.startswith("loop") else "call"
        case ast.Call(op=ast.Var()):
            yield "closure"
        case ast.Var(struct_info_annotation=ast.TensorStructInfo(shape=None)):
            yield "loose"


ABSENT: dict[str, Callable[[Expr], bool]] = {
    "if": lambda e: isinstance(e, ast.If),
    "closures": lambda e: (
        isinstance(e, ast.Call) and isinstance(e.op, ast.Var) and e.op.name_hint[:2] == "fn"
    ),
    "dataflow": lambda e: isinstance(e, ast.DataflowVar),
    "impure": lambda e: isinstance(e, ast.Function) and e.is_pure is False,
    "call_tir": lambda e: isinstance(e, ast.Op) and e.op_name == "relax.call_tir",
    "match_cast": lambda e: (
        isinstance(e, ast.SeqExpr)
        and any(isinstance(b, ast.MatchCast) for block in e.blocks for b in block.bindings)
    ),
    "symbolic": lambda e: (
        isinstance(e, ast.ShapeExpr)
        and any(isinstance(d, tir.Var) and d.name == "n" for d in e.values)
    ),
    "tuples": lambda e: isinstance(e, ast.TupleGetItem),
    "nested": lambda e: isinstance(e, ast.Call) and any(isinstance(a, ast.Call) for a in e.args),
}


@pytest.mark.parametrize("feature", sorted(ABSENT))
def test_a_feature_can_be_left_out(feature: str) -> None:
    has = ABSENT[feature]
    without = Options(10, FEATURES - {feature})
    for seed in range(60):
        assert not any(map(has, expressions(random_module(random.Random(seed), without)))), seed
    assert any(has(e) for s in range(400) for e in expressions(random_module(random.Random(s))))


def test_operators_can_be_chosen() -> None:
    options = Options(10, frozenset({"symbolic", "tuples"}), ("nn.relu", "add", "matmul"))
    used = {
        expr.op_name
        for seed in range(60)
        for expr in expressions(random_module(random.Random(seed), options))
        if isinstance(expr, ast.Op)
    }
    filled = {"relax.ones", "relax.zeros"}
    assert used - filled == {"relax.nn.relu", "relax.add", "relax.matmul"}


def test_deleting_a_step_keeps_a_program_right() -> None:
    for seed in range(6):
        plan = random_plan(random.Random(seed))
        last = plan.functions[-1]
        for k in range(len(last.steps)):
            steps = [*last.steps[:k], *last.steps[k + 1 :]]
            smaller = ModulePlan([*plan.functions[:-1], FunctionPlan(last.head, steps)])
            assert check_text(print_module(build(smaller))).diagnostics == (), (seed, k)


def test_a_record_of_zeros_is_a_call_of_relu() -> None:
    module = build(ModulePlan([FunctionPlan(bytes(SIZE), [bytes(SIZE)])]))
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function)
    (binding,) = bindings(function)
    assert isinstance(binding, ast.VarBinding)
    assert isinstance(binding.value, ast.Call)
    assert binding.value.op is ast.op("relax.nn.relu")


def test_a_record_ends_in_zeros() -> None:
    choices = Choices(b"\x05\x07")
    assert [choices.below(4), choices.below(1), choices.below(300), choices.below(9)] == [
        1,
        0,
        7 * 256 % 300,
        0,
    ]
    assert not choices.one_in(3)
    assert choices.pick("ab") == "a"
