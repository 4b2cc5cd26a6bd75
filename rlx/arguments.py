"""What the calls of the facade say of arguments of another kind than they take."""

from __future__ import annotations

from collections.abc import Mapping


def whole_number(name: str, found: object, least: int | None = None) -> None:
    """Make sure that an argument is an integer, at least so large.

    Raises
    ------
    TypeError
        If it is something else.
    ValueError
        If it is smaller.
    """
    if not isinstance(found, int) or isinstance(found, bool):
        raise TypeError(f"{name}: expected an integer, found {shown(found)}")
    if least is not None and found < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, found {found}")


def flag(name: str, found: object) -> None:
    """Make sure that an argument is True or False.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if not isinstance(found, bool):
        raise TypeError(f"{name}: expected True or False, found {shown(found)}")


def name_or_none(name: str, found: object) -> None:
    """Make sure that an argument is a name, if there is one.

    Raises
    ------
    TypeError
        If it is something else than a text.
    """
    if found is not None and not isinstance(found, str):
        raise TypeError(f"{name}: expected a name, found {shown(found)}")


def functions_by_name(name: str, found: object) -> None:
    """Make sure that an argument is a mapping from names to functions, if there is one.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if found is None:
        return
    if not isinstance(found, Mapping):
        raise TypeError(f"{name}: expected a mapping from names to functions, found {shown(found)}")
    for key, value in found.items():
        if not isinstance(key, str):
            raise TypeError(f"{name}: expected names of functions, found {shown(key)}")
        if not callable(value):
            raise TypeError(f"{name}: expected a function for {key!r}, found {shown(value)}")


def shown(value: object) -> str:
    """A value with its type, in one short line."""
    if value is None:
        return "None"
    text = repr(value)
    text = text if len(text) <= _SHOWN and "\n" not in text else f"{text[: _SHOWN - 3]!r}..."
    return f"{type(value).__name__} {text}"


_SHOWN = 60
