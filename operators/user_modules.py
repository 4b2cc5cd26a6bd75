"""User-defined modules given on the command line."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def imported(source: str) -> ModuleType:
    """A module by its name, looked for in the current directory too, or by the path of a ``.py``
    file.

    Exceptions of the module, and of the import itself, are propagated.
    """
    if source.endswith(".py"):
        return _of_a_file(Path(source))
    if "" not in sys.path:
        sys.path.insert(0, "")
    return import_module(source)


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
