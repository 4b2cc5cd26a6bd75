"""User-defined operators: declared in a module given by the user, or allowed without a
declaration.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from rlx.operators import registry
from rlx.operators.registry import Compute, R, declared
from rlx.operators.registry import operator as declare


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


loaded: set[str] = set()
"""The modules of user-defined operators that were imported."""


_files: set[str] = set()
"""The locations of the rules that users declared."""


class OperatorsError(Exception):
    """The user's module cannot be imported, or one of its declarations is invalid."""


def operator(
    name: str, *, pure: bool = True, calls: str = "", compute: Compute | None = None
) -> Callable[[R], R]:
    """Declare your own operator with the rule for its struct info; texts write it as ``R.`` and its
    name.

    Parameters
    ----------
    name
        Such as ``"my.op"``.
    pure
        Whether a call of it has no side effect.
    calls
        Legal calls of it, one on each line (``"f(a, b), axis=0 | 1"``), from which programs are
        generated; for an operator on tensors only, they follow from the signature.
    compute
        Computes a call with NumPy from a value for each parameter; without it, a run of the
        operator is unsupported.

    Returns
    -------
    Callable
        Takes the rule: a function of the call's :class:`rlx.operators.operator_call.OperatorCall` and one value for
        each parameter, whose signature is the operator's, such as ``(site, x, axis: int = -1)``;
        see :mod:`rlx.operators.parameters`.

    Raises
    ------
    OperatorsError
        If the name is invalid, Relax has an operator of that name, or an annotation is not a kind
        of parameter.
    """
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise OperatorsError(f"expected the name of an operator such as 'my.op', found {name!r}")
    full = name if name.startswith("relax.") else f"relax.{name}"
    if registry.is_built_in(full):
        raise OperatorsError(f"Relax already has an operator {name!r}")

    def add(rule: R) -> R:
        _files.add(rule.__code__.co_filename)
        registry.forget(full)
        declare(full, pure=pure, calls=calls, compute=compute)(rule)
        try:
            assert declared[full].parameters is not None
        except TypeError as error:
            del declared[full]
            raise OperatorsError(f"{name!r}: {error}") from None
        return rule

    return add


def blamed(error: BaseException) -> str | None:
    """The line of a user-defined rule that raised an exception, ``file:line``; None if it was
    raised elsewhere.
    """
    from traceback import extract_tb

    if isinstance(error, registry.RuleError):
        return error.line
    own = [f for f in extract_tb(error.__traceback__) if f.filename in _files]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else None


def load(sources: Sequence[str], allowed: Sequence[str], folder: str = ".") -> None:
    """Import the modules that declare operators, and allow some operators without a declaration.

    Parameters
    ----------
    sources
        Names of modules, looked for in ``folder`` first, or paths of ``.py`` files.
    allowed
        Names or patterns, such as ``my.*``.
    folder
        The directory that has the modules; the current one by default.

    Raises
    ------
    OperatorsError
        If a module cannot be imported.
    """
    for pattern in allowed:
        registry.allow(pattern)
    for source in sources:
        if source not in loaded:
            loaded.add(source)  # before it is imported: it may ask for itself
            try:
                _import(source, folder)
            except OperatorsError:
                loaded.discard(source)
                raise


def _import(source: str, folder: str) -> None:
    before = len(declared)
    try:
        imported(source, folder)
    except OperatorsError:
        raise
    except Exception as error:
        raise OperatorsError(
            f"cannot import {source!r}: {type(error).__name__}: {error}"
        ) from error
    if len(declared) == before:
        raise OperatorsError(f"{source!r} declares no operator: decorate a rule with @rlx.operator")
