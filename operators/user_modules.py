"""User-defined modules given on the command line."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def imported(source: str, folder: str = ".") -> ModuleType:
    """A module by its name, looked for in ``folder`` too, or by the path of a ``.py`` file.

    The folder is searched last, and only during this import: naming one of its modules lets no
    other file there stand in for a module that is installed.

    Exceptions of the module, and of the import itself, are propagated.
    """
    if source.endswith(".py"):
        return _of_a_file(Path(source))
    before = list(sys.path)
    sys.path.append(os.path.abspath(folder))
    try:
        return import_module(source)
    finally:
        sys.path[:] = before


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
