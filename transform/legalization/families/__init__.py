"""Operators as tensor expressions, one file per family; a function has the name of its operator."""
