"""The pages of the Python interface, one for each room: every public name, by its docstring."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

HEAD = """# Python

What is public is in the `__all__` of `rlx` and of its rooms. Names are imported when they are first asked for, so `import rlx` costs nothing.

| room | |
|---|---|
"""


def pages() -> dict[str, str]:
    """The pages by their addresses."""
    import rlx

    found, index = {}, HEAD
    shown: set[int] = set()
    for room in ("rlx", *(f"rlx.{name}" for name in sorted(rlx.ROOMS))):
        doc = (import_module(room).__doc__ or "").partition("\n\n")[0].strip()
        found[f"reference/python/{room}.md"] = "\n".join(
            [f"# {room}\n\n{doc}\n", *_names(room, shown)]
        )
        index += f"| [`{room}`]({room}.md) | {' '.join(doc.split())} |\n"
    found["reference/python/index.md"] = index
    return found


def _names(room: str, known: set[int]) -> Iterator[str]:
    """The entries of a room; what an earlier room has shown, too, is named with its first sentence."""
    module = import_module(room)
    for name in module.__all__:
        value = getattr(module, name)
        home = getattr(value, "__module__", "")
        if (
            name == "__version__"
            or not (callable(value) and home.startswith("rlx"))
            or _made(value)
            or (id(value) in known and not _in_facade(value))
        ):
            yield _plain(room, name, value)
        elif id(value) not in known:
            known.add(id(value))
            shown = f"heading: {room}.{name}, toc_label: {name}, members: {_members(value)}"
            shown += ", inherited_members: true"
            yield f"::: {home}.{_own_name(value, name)}\n    options: {{{shown}}}\n"


def _made(value: object) -> bool:
    """Whether a function is made by another one, so that no `def` has its name."""
    code = getattr(value, "__code__", None)
    made = code is not None and code.co_name != getattr(value, "__name__", "")
    return made and not hasattr(value, "__wrapped__")


def _in_facade(value: object) -> bool:
    import rlx

    return any(getattr(rlx, name) is value for name in rlx.__all__)


def _members(value: object) -> list[str]:
    """The public methods and properties of a class that say what they do."""
    if not isinstance(value, type):
        return []
    found = [
        name
        for each in reversed(value.__mro__)
        if each.__module__.startswith("rlx.")
        for name, member in vars(each).items()
        if not name.startswith("_")
        and (callable(member) or isinstance(member, property))
        and member.__doc__
    ]
    return list(dict.fromkeys(found))


def _plain(room: str, name: str, value: object) -> str:
    """A module, or a plain value."""
    said = (
        "" if isinstance(value, str | dict | tuple) else (value.__doc__ or "").partition("\n\n")[0]
    )
    return f"## `{room}.{name}`\n\n{said}\n"


def _own_name(value: object, name: str) -> str:
    """The name of a function or class where it is defined; decorators may have hidden it."""
    found = str(getattr(value, "__qualname__", name))
    return name if "<locals>" in found else found
