"""How a room shows its public names without importing them before they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping


def found(room: str, name: str, homes: Mapping[str, str]) -> object:
    """A public name of a room, imported now; what a room's ``__getattr__`` returns. Raises
    AttributeError if there is no such name; the message lists those that there are.

    Parameters
    ----------
    room
        The room's name: ``"rlx.solver"``.
    homes
        For each public name the module in the room that has it; for a name that is a module itself,
        the package that contains it with a dot behind it, or empty if that is the room.
    """
    from importlib import import_module

    if name not in homes:
        # Python asks for modules of the room, too, before it imports them: this must stay cheap.
        raise AttributeError(
            f"module {room!r} has no attribute {name!r}; it has: {', '.join(sorted(homes))}"
        )
    home = homes[name]
    if not home or home.endswith("."):
        return import_module(f"{room}.{home}{name}")
    value: object = getattr(import_module(f"{room}.{home}"), name)
    setattr(sys.modules[room], name, value)
    return value
