"""What a project says once for all runs: the table ``[tool.rlx]`` of its pyproject.toml."""

from __future__ import annotations

import os
from pathlib import Path

from rlx.grammar.node import Record

NAME = "pyproject.toml"
KEYS = ("operators", "allow-operators")


class ConfigurationError(Exception):
    """The table says something that rlx does not understand."""


class Configuration(Record):
    """The operators of the project: modules that declare them, and patterns of names that are allowed."""

    operators: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


def configuration(start: str = ".") -> Configuration:
    """The configuration of the nearest project around a directory.

    Raises
    ------
    ConfigurationError
        If the file cannot be read as TOML, or the table has other keys or values.
    """
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        path = each / NAME
        if path.is_file():
            return _read(path)
    return Configuration()


def _read(path: Path) -> Configuration:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Configuration()
    if "tool.rlx" not in text:
        return Configuration()
    import tomllib

    try:
        table = tomllib.loads(text).get("tool", {}).get("rlx", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigurationError(
                f"{path}: [tool.rlx] has no key {key!r}, only {' and '.join(KEYS)}"
            )
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigurationError(f"{path}: {key} of [tool.rlx] must be a list of strings")
    sources = (_source(path.parent, item) for item in table.get("operators", ()))
    return Configuration(tuple(sources), tuple(table.get("allow-operators", ())))


def _source(folder: Path, item: str) -> str:
    """A file is named from where the configuration stands."""
    return str(folder / item) if item.endswith(".py") else item
