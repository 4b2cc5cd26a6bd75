"""How a room shows its public names without importing them before they are asked for."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

_SHOWN = re.compile(r"(?m)^if TYPE_CHECKING:\n((?:    .*\n|\n)+)")
_IMPORT = re.compile(r"(?m)^    from ([\w.]+) import (\([^)]*\)|.*)$")


def found(room: str, name: str) -> object:
    """A public name of a room, imported now; what a room's ``__getattr__`` returns.

    Where the name comes from is said once, by the imports that the room shows to type checkers.

    Raises
    ------
    AttributeError
        If there is no such name; the message lists those that there are.
    """
    from importlib import import_module

    homes = _homes(room)
    if name not in homes:
        # Python asks for modules of the room, too, before it imports them: this must stay cheap.
        raise AttributeError(
            f"module {room!r} has no attribute {name!r}; it has: {', '.join(sorted(homes))}"
        )
    home = homes[name]
    value: object
    if home == room or not hasattr(module := import_module(home), name):
        value = import_module(f"{home}.{name}")
    else:
        value = getattr(module, name)
    setattr(sys.modules[room], name, value)
    return value


@cache
def _homes(room: str) -> dict[str, str]:
    """The module of each name that the source of a room imports for type checkers."""
    loader: Any = sys.modules[room].__loader__
    shown = _SHOWN.search(loader.get_source(room))
    assert shown is not None, room
    return {
        name: home
        for home, names in _IMPORT.findall(shown[1])
        for name in re.findall(r"\w+", names)
    }
