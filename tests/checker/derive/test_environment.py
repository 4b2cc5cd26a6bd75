"""The checker's knowledge at each place: conditions in their branches, casts behind them, results of wrong calls nowhere."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from rlx.checker.derive.environment import AliasProver
from rlx.checker.derive.equations import learn, learn_sizes
from rlx.checker.derive.state import DerivationState
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import FLOAT32
from rlx.solver.budget import Statistics
from rlx.solver.session import Session
from rlx.solver.verdict import Verdict

from .programs import main, module

ZERO = tir.IntImm(0)

X = '(x: R.Tensor(("n",), "float32"))'
RESHAPE = "R.reshape(x, R.shape([4]))"
CONDITIONS = {
    "n == 4": lambda n: n == 4,
    "n != 4": lambda n: n != 4,
    "n < 4": lambda n: n < 4,
    "n <= 4": lambda n: n <= 4,
    "n > 4": lambda n: n > 4,
    "n >= 4": lambda n: n >= 4,
    "T.Not(n == 4)": lambda n: n != 4,
    "T.And(n > 3, n < 5)": lambda n: n == 4,
    "T.Or(n < 4, n > 4)": lambda n: n != 4,
    "T.And(n > 3, n < 6)": lambda n: 3 < n < 6,
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("branch", [True, False])
def test_a_branch_knows_its_condition_and_the_other_its_negation(
    condition: str, branch: bool
) -> None:
    """A vector of length n becomes one of 4 elements: right, wrong or open by the lengths that reach the branch."""
    there, elsewhere = (RESHAPE, "x") if branch else ("x", RESHAPE)
    text = f"if R.prim_value({condition}):\n    y = {there}\nelse:\n    y = {elsewhere}\nreturn y"
    derived = main(X, text)
    reach = [n for n in range(20) if CONDITIONS[condition](n) is branch]
    found = {code.split()[0] for code in derived.codes}
    if reach == [4]:
        assert not found
    elif 4 not in reach:
        assert found == {"error"}
    else:
        assert found and "error" not in found


def test_a_condition_ends_with_its_branches() -> None:
    text = f"if R.prim_value(n == 4):\n    y = x\nelse:\n    y = x\nz = {RESHAPE}\nreturn z"
    (found,) = main(X, text).codes
    assert not found.startswith("error")


@pytest.mark.parametrize(
    ("cast", "known"),
    [
        ("R.match_cast(R.prim_value(n), R.Prim(value=4))", True),
        ("R.match_cast(R.prim_value(n + 1), R.Prim(value=5))", True),
        ("R.match_cast((R.prim_value(n), x), R.Tuple(R.Prim(value=4), R.Any))", True),
        ("R.match_cast(R.shape([n]), R.Shape([4]))", True),
        ('R.match_cast(R.prim_value(n), R.Prim("int64"))', False),
        ("R.match_cast(R.shape([n]), R.Shape(ndim=1))", False),
    ],
)
def test_a_cast_teaches_what_it_compares(cast: str, known: bool) -> None:
    derived = main(X, f"p = {cast}\ny = {RESHAPE}\nreturn y")
    assert (derived.codes == []) is known


def test_what_a_cast_contradicts_is_certain() -> None:
    derived = main(
        X, f"p = R.match_cast(R.prim_value(n), R.Prim(value=5))\ny = {RESHAPE}\nreturn y"
    )
    assert [code.split()[0] for code in derived.codes] == ["error"]


@pytest.mark.parametrize(
    ("parameter", "result", "shown"),
    [
        ('R.Tensor(("k",), "float32")', 'R.Tensor(("k",), "float32")', "Object"),
        ('R.Tensor((4,), "float32")', 'R.Tensor((4,), "int8")', "Tensor((4,), int8)"),
    ],
)
@pytest.mark.parametrize("arguments", ["", "x, x"])
def test_a_call_with_too_few_or_many_arguments_binds_no_shape_variable(
    parameter: str, result: str, shown: str, arguments: str
) -> None:
    """The callee's variables mean nothing to the caller: a result that has them is any object."""
    body = "return a" if "k" in parameter else 'b = R.astype(a, dtype="int8")\n    return b'
    derived = module(
        f"@R.function\ndef callee(a: {parameter}) -> {result}:\n    {body}",
        f'@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    y = cls.callee({arguments})\n    return y',
    )
    assert derived.codes == ["error D14-arity"]
    assert derived.shown("y") == shown


@pytest.mark.parametrize("count", [13, 25])
def test_what_the_last_of_many_casts_says_is_known(count: int) -> None:
    """A vector has 2 * k2, 3 * k3, ... elements; only the last cast says that of the last one."""
    numbers = range(2, count + 2)
    names = ", ".join(f'"k{i}"' for i in numbers)
    signature = f'(x: R.Tensor(("n",), "float32"), p: R.Shape([{names}]))'
    lines = [f'a{i} = R.match_cast(x, R.Tensor((k{i} * {i},), "float32"))\n' for i in numbers]
    rest = f"y = R.reshape(x, R.shape([{count + 1} * k{count + 1}]))\nreturn y"
    assert main(signature, "".join(lines) + rest).codes == []
    assert main(signature, "".join(lines[:-1]) + rest).codes != []


def test_facts_about_other_variables_take_no_places() -> None:
    names = range(60)
    parameters = ", ".join(f'x{i}: R.Tensor(("n{i}",), "float32")' for i in names)
    lines = "".join(f'a{i} = R.match_cast(x{i}, R.Tensor((4,), "float32"))\n' for i in names)
    text = f"{lines}y = R.reshape(x59, R.shape([4]))\nreturn y"
    assert main(f"({parameters})", text).codes == []


def test_facts_of_a_branch_end_with_it() -> None:
    """The branch has 40 facts of its own; after it, others are the nearest again."""
    cast = 'R.match_cast(x, R.Tensor(({},), "float32"))'
    lines = "".join(f"    a{i} = {cast.format(f'n // {i} * {i}')}\n" for i in range(2, 42))
    branches = f"if c:\n{lines}    y = x\nelse:\n    y = x\n"
    signature = '(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool"))'
    text = f"{branches}b = {cast.format('4')}\nz = {RESHAPE}\nreturn z"
    assert main(signature, text).codes == []


def test_many_facts_cost_a_question_no_more_than_few() -> None:
    """Each cast asks once; the steps of the prover grow with the casts, not with their square."""
    spent = [_spent(count) for count in (10, 20, 40)]
    assert spent[2] - spent[1] < 3 * (spent[1] - spent[0])


def _spent(count: int) -> int:
    """The steps of the prover for casts of one vector to many lengths."""
    total = 0
    decide = Session.always

    def counted(session: Session, condition: tir.PrimExpr) -> Verdict:
        nonlocal total
        before = session.work.used
        found = decide(session, condition)
        total += session.work.used - before
        return found

    names = ", ".join(f'"k{i}"' for i in range(count))
    signature = f'(x: R.Tensor(("n",), "float32"), p: R.Shape([{names}]))'
    lines = (f'a{i} = R.match_cast(x, R.Tensor((k{i} * 2,), "float32"))\n' for i in range(count))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Session, "always", counted)
        main(signature, "".join(lines) + "return x")
    return total


N = tir.Var("n")
SIGNED = {
    "0": (ZERO, False),
    "1": (tir.IntImm(1), False),
    "n": (N, False),
    "n + 0": (tir.Add(N, ZERO), False),
    "n * n": (tir.Mul(N, N), False),
    "max(n, 0)": (tir.Max(N, ZERO), False),
    "n // 2": (tir.FloorDiv(N, tir.IntImm(2)), False),
    "-1": (tir.IntImm(-1), True),
    "n - 1": (tir.Sub(N, tir.IntImm(1)), True),
    "n + -1": (tir.Add(N, tir.IntImm(-1)), True),
    "min(n, 2)": (tir.Min(N, tir.IntImm(2)), True),
}


@pytest.mark.parametrize("size", SIGNED)
def test_only_what_a_size_does_not_show_is_remembered(size: str) -> None:
    """Facts that say nothing would take the places of those that do."""
    expr, remembered = SIGNED[size]
    state = DerivationState(ast.IRModule({}), {}, set())
    learn_sizes(state, ast.TensorStructInfo(ast.ShapeExpr((expr, ZERO)), FLOAT32, 2))
    assert len(state.prover.context.state.facts) == int(remembered)


@pytest.mark.parametrize("given", SIGNED)
def test_only_what_a_cast_does_not_show_is_remembered(given: str) -> None:
    said, (expr, remembered) = tir.Var("m"), SIGNED[given]
    state = DerivationState(ast.IRModule({}), {}, set())
    found, target = (ast.ShapeStructInfo((dim,)) for dim in (expr, said))
    learn(state, found, target, {said: expr})
    plain = isinstance(expr, tir.Var | tir.IntImm) and not remembered
    assert len(state.prover.context.state.facts) == int(not plain)


A = tir.Var("n")
LARGER: dict[str, Callable[[], tir.PrimExpr]] = {
    "a sum": lambda: tir.Add(A, tir.IntImm(1)),
    "a product": lambda: tir.Mul(A, tir.Add(A, tir.IntImm(1))),
    "a product, turned round": lambda: tir.Mul(tir.Add(A, tir.IntImm(1)), A),
    "a comparison": lambda: tir.EQ(tir.FloorDiv(A, tir.IntImm(2)), ZERO),
    "a negation": lambda: tir.Not(tir.LT(A, tir.IntImm(2))),
}


@pytest.mark.parametrize("name", LARGER)
def test_expressions_of_one_text_become_one_object(name: str) -> None:
    prover, make = AliasProver(Statistics()), LARGER[name]
    known = {str(node): node for node in tir.postorder(prover.resolved(make()))}
    again = prover.resolved(make())
    assert all(known[str(node)] is node for node in tir.postorder(again))


@pytest.mark.parametrize("name", LARGER)
def test_parts_that_are_known_are_used_again(name: str) -> None:
    prover, make = AliasProver(Statistics()), LARGER[name]
    parts = [prover.resolved(part) for part in tir.children(make())]
    assert all(map(operator.is_, tir.children(prover.resolved(make())), parts))


@pytest.mark.parametrize(
    ("statement", "flags"),
    [
        ("y = x", (False, False)),
        (
            'y = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Object)',
            (True, False),
        ),
        ("y = R.vm.kill_object(x)", (False, True)),
    ],
)
def test_a_module_that_overwrites_or_handles_memory_is_known(
    statement: str, flags: tuple[bool, bool]
) -> None:
    found = main(X, f"{statement}\nreturn y", "@R.function(pure=False)").derivation
    assert (found.overwrites, found.lowered) == flags
