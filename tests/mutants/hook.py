"""Loads modules of `rlx` from a text of our own: with probes in it, or with a mistake."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).parents[2]

Change = Callable[[Path, str], CodeType | None]
"""What is run instead of a file's text; nothing leaves the file as it is."""


def compiled(source: ast.Module | str, path: Path) -> CodeType:
    """The code of a file's new text, with the name of the file itself."""
    code = compile(source, str(ROOT / path), "exec", dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


class Loader(importlib.machinery.SourceFileLoader):
    """Gives the code that the change makes of the file, and keeps no byte code of it."""

    def __init__(self, name: str, path: str, change: Change) -> None:
        super().__init__(name, path)
        self.change = change

    def get_code(self, fullname: str) -> CodeType | None:
        path = Path(self.path).resolve()
        if not path.is_relative_to(ROOT):
            return super().get_code(fullname)
        changed = self.change(path.relative_to(ROOT), path.read_text("utf-8"))
        return super().get_code(fullname) if changed is None else changed


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules as all other finders do, and gives those of `rlx` our loader."""

    def __init__(self, change: Change) -> None:
        self.change = change

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "rlx":
            return None
        for finder in sys.meta_path:
            spec = None if type(finder) is Finder else finder.find_spec(fullname, path, target)
            if spec is None:
                continue
            if type(spec.loader) is importlib.machinery.SourceFileLoader:
                spec.loader = Loader(fullname, spec.loader.path, self.change)
            return spec
        return None


def install(change: Change) -> None:
    """Load what is imported from now on through the change."""
    assert not any(name.partition(".")[0] == "rlx" for name in sys.modules), "rlx is loaded already"
    sys.meta_path.insert(0, Finder(change))
