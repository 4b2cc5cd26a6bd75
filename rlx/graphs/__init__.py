"""The dataflow graph of a module: its bindings and what they use, as a picture, a page or DOT."""

from __future__ import annotations

from rlx.graphs.graph import Graph, graph

__all__ = ["Graph", "graph"]
