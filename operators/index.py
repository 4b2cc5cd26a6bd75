"""``python -m rlx.operators.index`` writes `operators/families.py`: which file declares which
operators.

Looking an operator up then imports only the file that it stands in; importing all of them would
take a fifth of a short run.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from textwrap import fill

import rlx.operators
from rlx.operators.registry import declared

_HEAD = '''"""Which file declares which operators: made from the declarations by `make operators`."""

FAMILIES = {
'''
_TAIL = '''}
"""The operators (without the leading ``relax.``) by the module that declares them."""
'''


def text() -> str:
    """What `operators/families.py` should say."""
    families: dict[str, list[str]] = {}
    for module in iter_modules(rlx.operators.__path__, "rlx.operators."):
        if not module.ispkg and module.name != __name__:
            import_module(module.name)
    for name, operator in sorted(declared.items()):
        package, _, family = operator.rule.__module__.rpartition(".")
        if package == "rlx.operators":
            families.setdefault(family, []).append(name.removeprefix("relax."))
    return _HEAD + "".join(_entry(*family) for family in sorted(families.items())) + _TAIL


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
