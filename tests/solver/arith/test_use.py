"""Questions about shapes go to the prover: checker and operators use nothing else of the solver."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = [*(ROOT / "checker").rglob("*.py"), *(ROOT / "operators").rglob("*.py")]
OPEN = (
    *("prover", "proofs", "context", "verdict", "statistics", "order", "question_parser"),
    *("prim_exprs", "expression_text", "evaluate", "api", "budget", "session"),
)
"""Modules of the solver that others may use: the prover, what it is told, what it says, what it was asked; texts, loops, what constants come to, and the session of one question."""
DECIDES = ("structural_equal", "first_difference")
"""Comparisons of syntax trees, which say nothing about equal values."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_dimensions_are_compared_by_the_prover(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.startswith("rlx.solver."):
                assert node.module.split(".")[2] in OPEN, f"{path.name}: {node.module}"
            names = {alias.name for alias in node.names}
            assert not names & set(DECIDES), f"{path.name} compares trees: {names}"
