"""The syntax of Relax: nodes, the parser, the printer and the dialects they know."""
