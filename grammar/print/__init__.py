"""Conversion of nodes to text."""
