"""Visitors, mutators with a builder, and mutators of dataflow blocks."""

from __future__ import annotations

from rlx.transform.visitors.dataflow import DataflowMutator, rewrite_dataflow
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.visitor import ExprVisitor

__all__ = ["DataflowMutator", "ExprMutator", "ExprVisitor", "rewrite_dataflow"]
