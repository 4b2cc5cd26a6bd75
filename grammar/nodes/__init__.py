"""Nodes of the syntax tree: their classes, comparison, traversal and rewriting."""
