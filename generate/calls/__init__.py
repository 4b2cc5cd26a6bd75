"""Calls of operators: what arguments each takes, and the templates that follow."""
