"""User-defined modules given on the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def imported(source: str, folder: str = ".") -> ModuleType:
    """A module by its name, looked for in ``folder`` first, or by the path of a ``.py`` file.

    For what the module imports, the folder is searched last, and only during this import: naming
    one module of a folder lets no other file there stand in for a module that is installed.

    Exceptions of the module, and of the import itself, are propagated.
    """
    if source.endswith(".py"):
        return _of_a_file(Path(source))
    place, before = os.path.abspath(folder), list(sys.path)
    finder = _NamedFinder(source.partition(".")[0], place)
    sys.meta_path.insert(0, finder)
    sys.path.append(place)
    try:
        return import_module(source)
    finally:
        sys.path[:] = before
        sys.meta_path.remove(finder)


class _NamedFinder(MetaPathFinder):
    """Finds one module in a folder."""

    def __init__(self, name: str, folder: str) -> None:
        self.name, self.folder = name, folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of that name in the folder; None for every other one."""
        return PathFinder.find_spec(fullname, [self.folder]) if fullname == self.name else None


def _of_a_file(path: Path) -> ModuleType:
    name = f"rlx_user_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    assert loader is not None
    loader.exec_module(module)
    return module
