"""``python -m rlx.operators.index`` writes `operators/families.py`: which file declares which
operators.

The table is a shortcut: looking an operator up then imports only the file that it stands in, where
importing all of them would take a fifth of a short run. An operator that the table does not list is
found all the same, in the files that mention its name.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from rlx.operators.registry import families

_HEAD = '''"""Which file declares which operators: made from the declarations by `make operators`."""

FAMILIES = {
'''
_TAIL = '''}
"""The operators (without the leading ``relax.``) by the module that declares them."""
'''


def text() -> str:
    """What `operators/families.py` should say."""
    return _HEAD + "".join(_entry(*family) for family in families().items()) + _TAIL


def _entry(family: str, names: list[str]) -> str:
    words = " ".join(names)
    line = f'    "{family}": "{words}",\n'
    if len(line) <= 100:
        return line
    indent = " " * 8
    lines = fill(words, 96, initial_indent=indent, subsequent_indent=indent)
    return f'    "{family}": """\n{lines}\n    """,\n'


def main() -> None:
    """Write the file."""
    Path(__file__).with_name("families.py").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
