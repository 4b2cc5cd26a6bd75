"""Calls of operators: patterns of their arguments, and the templates that follow."""
