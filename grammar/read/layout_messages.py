"""Messages about indentation."""

from __future__ import annotations

NO_BLOCK = "this line is indented, but no block starts here"
NO_MATCH = "the indentation of this line matches no enclosing block"
MIXED = "tabs and spaces are mixed: the indentation of this line depends on the width of a tab"
EMPTY = "expected an indented block under this line"
LAYOUT = frozenset([NO_BLOCK, NO_MATCH, MIXED, EMPTY])
