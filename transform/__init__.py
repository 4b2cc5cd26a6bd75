"""Transformations of modules."""
