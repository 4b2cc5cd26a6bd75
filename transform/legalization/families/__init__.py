"""Operators as tensor expressions, one file a family; a function has the name of its operator."""
