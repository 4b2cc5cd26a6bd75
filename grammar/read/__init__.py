"""Conversion of text to nodes: lexer, parser, recovery."""
