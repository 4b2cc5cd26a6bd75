"""From text to nodes: lexer, parser, recovery."""
