"""In the SMT-LIB text every operand has the sort that its operation asks for: Z3 takes a truth for a number, others do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.solver import smt
from rlx.solver.prim_exprs import expand
from tests.solver.arith.test_encodings import terms
from tests.solver.arith.test_small_terms import M, N, number

_NUMBERS = {"+", "-", "*", "div", "mod", "abs"}
_ORDERS = {"<", "<=", ">", ">="}
_TRUTHS = {"and", "or", "not", "=>"}


def read(text: str) -> list[Any]:
    """The expressions of a text, as nested lists of words."""
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0]


def sort_of(expr: Any, sorts: dict[str, str]) -> str:
    if isinstance(expr, str):
        return "Int" if expr.isdigit() else sorts[expr]
    head, *operands = expr
    found = [sort_of(each, sorts) for each in operands]
    if head == "ite":
        assert found[0] == "Bool" and found[1] == found[2], expr
        return found[1]
    if head in _NUMBERS | _ORDERS | _TRUTHS:
        assert set(found) == {"Bool" if head in _TRUTHS else "Int"}, expr
    else:
        assert head in ("=", "distinct") and len(set(found)) == 1, expr
    return "Int" if head in _NUMBERS else "Bool"


def check(text: str) -> None:
    sorts = {"true": "Bool", "false": "Bool"}
    for command, *parts in read(text):
        match command:
            case "declare-const":
                sorts[parts[0]] = parts[1]
            case "define-fun":
                assert sort_of(parts[3], sorts) == parts[2], parts
                sorts[parts[0]] = parts[2]
            case "assert":
                assert sort_of(parts[0], sorts) == "Bool", parts


def more() -> Iterator[tir.PrimExpr]:
    """Truths made of numbers and numbers made of truths, in each place."""
    truths = [tir.Cast(BOOL, N), tir.Cast(BOOL, tir.LT(N, M)), tir.Not(tir.Cast(BOOL, M)), N]
    for a in truths:
        yield tir.Not(a)
        for b in truths:
            yield from (tir.And(a, b), tir.EQ(a, b), tir.LT(a, b), tir.Add(a, b))
            yield from (tir.Select(a, b, M), tir.Select(a, b, tir.Not(b)), tir.Mul(a, number(3)))


@pytest.mark.parametrize("style", smt.STYLES)
def test_operands_have_the_sorts_that_operations_ask_for(style: str) -> None:
    for term in [*terms(), *more()]:
        (whole,) = expand([term])
        check(smt.encode(smt.Query((N, M), ((0, 9), (None, 9)), (), whole, frozenset()), style))
