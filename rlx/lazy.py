"""Public names of a room that are imported at their first use."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


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
    """The module of each name that a room imports for type checkers: its code is there, its source may not be."""
    from dis import get_instructions

    module: Any = sys.modules[room]
    found: dict[str, str] = {}
    home = ""
    for instruction in get_instructions(module.__loader__.get_code(room)):
        match instruction.opname:
            case "IMPORT_NAME":
                home = instruction.argval
            case "IMPORT_FROM":
                found[instruction.argval] = home
    return {name: home for name, home in found.items() if name in module.__all__}
