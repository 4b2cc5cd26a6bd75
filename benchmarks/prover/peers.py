"""Other provers, asked the questions of the benchmark: each loads to a function from case to
status.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from benchmarks.prover.families import FamilyQuestion
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import to_smtlib
from rlx.solver.question_parser import parse

Ask = Callable[[FamilyQuestion], str]
"""From a question, text to verdict, to its status."""
_MILLISECONDS = 500


def read(case: FamilyQuestion) -> tuple[PrimExpr, list[PrimExpr], list[tir.Var]]:
    """Goal, assumptions and variables of a question."""
    names: dict[str, tir.Var] = {}
    goal = parse(case.goal, names)
    return goal, [parse(fact, names) for fact in case.assume], list(names.values())


def _tvm(strong: bool, bind: bool = False) -> Ask:
    """TVM's analyzer: it proves or says nothing.

    With ``bind`` it also has variables bound to the ranges and the values that the assumptions give
    them, as passes do for loops, beside the assumptions themselves.
    """
    from tvm import ir, sym, tirx  # type: ignore[import-not-found,unused-ignore]

    strength = sym.ProofStrength.SYMBOLIC_BOUND if strong else sym.ProofStrength.DEFAULT

    def ask(case: FamilyQuestion) -> str:
        goal, facts, variables = read(case)
        mapping = {v: tirx.Var(v.name, "int64") for v in variables}
        analyzer = sym.Analyzer()
        bound = _bound(facts) if bind else {}
        for var in variables:
            if var not in bound:
                analyzer.update(mapping[var], sym.ConstIntBound(0, sym.ConstIntBound.POS_INF))
        for var, (end, value) in bound.items():
            known: Any = to_tvm(tirx, end if value is None else value, mapping)
            analyzer.bind(mapping[var], ir.Range(0, known) if value is None else known)
        scopes = [analyzer.constraint_scope(to_tvm(tirx, fact, mapping)) for fact in facts]
        for scope in scopes:
            scope.__enter__()
        if not strong and isinstance(goal, tir.EQ):
            sides = (to_tvm(tirx, side, mapping) for side in (goal.a, goal.b))
            proved = analyzer.can_prove_equal(*sides)
        else:
            proved = analyzer.can_prove(to_tvm(tirx, goal, mapping), strength)
        for scope in reversed(scopes):
            scope.__exit__(None, None, None)
        return "proved" if proved else "unknown"

    return ask


_Bound = tuple[PrimExpr, PrimExpr | None]


def _bound(facts: list[PrimExpr]) -> dict[tir.Var, _Bound]:
    """The end of the range, or the value, that assumptions give variables, each at most once; no
    variable in it is bound itself.
    """
    found: dict[tir.Var, _Bound] = {}
    used: set[tir.Var] = set()
    for fact in facts:
        if isinstance(fact, (tir.LT, tir.EQ)) and isinstance(fact.a, tir.Var):
            var, inside = fact.a, set(tir.free_vars(fact.b))
            if var not in found and var not in used | inside and not inside & found.keys():
                found[var] = (fact.b, fact.b if isinstance(fact, tir.EQ) else None)
                used |= inside
    return found


def to_tvm(tirx: Any, expr: PrimExpr, mapping: dict[tir.Var, Any]) -> Any:
    """The same expression as one of TVM's."""
    binary: dict[type[PrimExpr], Any] = {
        tir.Add: operator.add,
        tir.Sub: operator.sub,
        tir.Mul: operator.mul,
        tir.FloorDiv: tirx.floordiv,
        tir.FloorMod: tirx.floormod,
        tir.TruncDiv: tirx.truncdiv,
        tir.TruncMod: tirx.truncmod,
        tir.Min: tirx.min,
        tir.Max: tirx.max,
        tir.EQ: tirx.EQ,
        tir.NE: tirx.NE,
        tir.LT: tirx.LT,
        tir.LE: tirx.LE,
        tir.GT: tirx.GT,
        tir.GE: tirx.GE,
        tir.And: tirx.And,
        tir.Or: tirx.Or,
    }
    done: dict[PrimExpr, Any] = {}
    for node in tir.postorder(expr):
        below = [done[child] for child in tir.children(node)]
        match node:
            case tir.Var():
                done[node] = mapping[node]
            case tir.IntImm(value=value):
                done[node] = tirx.IntImm("int64", value)
            case tir.Not():
                done[node] = tirx.Not(*below)
            case tir.Select():
                done[node] = tirx.Select(*below)
            case tir.Call(op="if_then_else"):
                done[node] = tirx.if_then_else(*below)
            case tir.Cast(dtype=kind):
                narrow = tirx.Cast(str(kind), below[0])
                # Both sides of an operator have one type in TVM; the value is that of the inner
                # cast.
                done[node] = narrow if kind == BOOL else tirx.Cast("int64", narrow)
            case _:
                done[node] = binary[type(node)](*below)
    return done[expr]


def _z3() -> Ask:
    """Z3 on SMT-LIB's own div and mod."""
    import z3  # type: ignore[import-untyped]

    def ask(case: FamilyQuestion) -> str:
        solver = z3.Solver()
        solver.set("timeout", _MILLISECONDS)
        solver.from_string(to_smtlib(case.goal, case.assume, style="raw"))
        return _status(str(solver.check()))

    return ask


def _status(answer: str) -> str:
    return {"unsat": "proved", "sat": "refuted"}.get(answer, "unknown")


def _cvc5() -> Ask:
    import cvc5  # type: ignore[import-untyped]

    def ask(case: FamilyQuestion) -> str:
        solver = cvc5.Solver()
        solver.setOption("tlimit-per", str(_MILLISECONDS))
        parser = cvc5.InputParser(solver)
        script = to_smtlib(case.goal, case.assume, style="raw")
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
        symbols, answer = parser.getSymbolManager(), ""
        while not (command := parser.nextCommand()).isNull():
            answer = command.invoke(solver, symbols).strip() or answer
        return _status(answer)

    return ask


def _isl() -> Ask:
    """Presburger sets of isl: whether the counterexamples are an empty set."""
    import islpy  # type: ignore[import-not-found,unused-ignore]

    binary = {
        tir.Add: "({} + {})",
        tir.Sub: "({} - {})",
        tir.Mul: "({} * {})",
        tir.FloorDiv: "floor(({}) / {})",
        tir.FloorMod: "(({}) mod {})",
        tir.EQ: "({} = {})",
        tir.NE: "({} != {})",
        tir.LT: "({} < {})",
        tir.LE: "({} <= {})",
        tir.GT: "({} > {})",
        tir.GE: "({} >= {})",
        tir.And: "({} and {})",
        tir.Or: "({} or {})",
        tir.Not: "(not {})",
    }

    def ask(case: FamilyQuestion) -> str:
        goal, facts, variables = read(case)
        done: dict[PrimExpr, str] = {}
        for node in tir.postorder(tir.Not(goal), *facts):
            below = [done[child] for child in tir.children(node)]
            match node:
                case tir.Var(name=name):
                    done[node] = name
                case tir.IntImm(value=value):
                    done[node] = str(value)
                case tir.Cast():
                    return "unknown"
                case _ if type(node) not in binary:
                    return "unknown"
                case tir.FloorDiv(b=b) | tir.FloorMod(b=b) if not isinstance(b, tir.IntImm):
                    return "unknown"
                case _:
                    done[node] = binary[type(node)].format(*below)
        *conditions, wanted = [done[each] for each in (*facts, goal)]
        signs = [f"{v.name} >= 0" for v in variables]
        names = ", ".join(v.name for v in variables)
        text = f"{{ [{names}] : {' and '.join([*signs, *conditions, f'not {wanted}'])} }}"
        try:
            return "proved" if islpy.Set(text).is_empty() else "refuted"
        except islpy.Error:  # a product of variables is not in its language
            return "unknown"

    return ask


def _sympy() -> Ask:
    """SymPy: whether it simplifies a condition on integers, none of them negative, to true. It has
    no place for assumptions that relate symbols, so it is told those that are limits of one.
    """
    import sympy

    binary: dict[type[PrimExpr], Callable[..., Any]] = {
        tir.Add: operator.add,
        tir.Sub: operator.sub,
        tir.Mul: operator.mul,
        tir.FloorDiv: lambda a, b: sympy.floor(a / b),
        tir.FloorMod: sympy.Mod,
        tir.Min: sympy.Min,
        tir.Max: sympy.Max,
        tir.EQ: lambda a, b: sympy.Eq(a - b, 0),
        tir.NE: lambda a, b: sympy.Ne(a - b, 0),
        tir.LT: lambda a, b: sympy.Lt(a - b, 0),
        tir.LE: lambda a, b: sympy.Le(a - b, 0),
        tir.GT: lambda a, b: sympy.Gt(a - b, 0),
        tir.GE: lambda a, b: sympy.Ge(a - b, 0),
        tir.And: sympy.And,
        tir.Or: sympy.Or,
        tir.Not: sympy.Not,
        tir.Select: lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
    }
    answers = {sympy.true: "proved", sympy.false: "refuted"}

    def ask(case: FamilyQuestion) -> str:
        goal, facts, variables = read(case)
        positive = {
            fact.a
            for fact in facts
            if isinstance(fact, (tir.GE, tir.GT))
            and isinstance(fact.b, tir.IntImm)
            and fact.b.value + isinstance(fact, tir.GT) >= 1
        }
        done: dict[PrimExpr, Any] = {}
        for var in variables:
            sign = {"positive" if var in positive else "nonnegative": True}
            done[var] = sympy.Symbol(var.name, integer=True, **sign)
        try:
            for node in tir.postorder(goal, known=done):
                below = [done[child] for child in tir.children(node)]
                if isinstance(node, tir.IntImm):
                    done[node] = sympy.Integer(node.value)
                elif type(node) in binary:
                    done[node] = binary[type(node)](*below)
                else:
                    return "unknown"
            # What is false for some values is not simplified to false unless it is for all.
            return answers.get(sympy.simplify(done[goal]), "unknown")
        except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError):
            return "unknown"

    return ask


PEERS: dict[str, Callable[[], Ask]] = {
    "tvm": lambda: _tvm(strong=False),
    "symbolic": lambda: _tvm(strong=True),
    "bind": lambda: _tvm(strong=True, bind=True),
    "isl": _isl,
    "sympy": _sympy,
    "z3": _z3,
    "cvc5": _cvc5,
}
