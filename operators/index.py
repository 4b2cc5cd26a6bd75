"""``python -m rlx.operators.index`` writes `operators/families.py`, which lists the file that
declares each operator.

With the table, the lookup of an operator imports only its own file; importing all files would take
a fifth of a short run. Operators that are not in the table are found in the files that mention
their names.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from rlx.operators.registry import families
from rlx.writing import write

_HEAD = '''"""The file that declares each operator; generated from the declarations by `make operators`."""

FAMILIES = {
'''
_TAIL = '''}
"""The operators (without the leading ``relax.``) by the module that declares them."""
'''


def text() -> str:
    """The expected text of `operators/families.py`."""
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
    write(Path(__file__).with_name("families.py"), text())


if __name__ == "__main__":
    main()
