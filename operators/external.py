"""Operators of the user's own: declared in a module that the user names, or allowed without a declaration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from rlx.operators import registry
from rlx.operators.declare import R, declared
from rlx.operators.declare import operator as declare

_loaded: set[str] = set()


class OperatorsError(Exception):
    """The module that the user names cannot be imported, or what it declares cannot be."""


def operator(name: str, *, pure: bool = True) -> Callable[[R], R]:
    """Declare an operator of one's own by the rule for its struct info; texts write it ``R.`` and its name.

    Parameters
    ----------
    name
        Such as ``"my.op"``.
    pure
        Whether a call of it has no visible effect.

    Returns
    -------
    Callable
        Takes the rule: a function of the call's :class:`rlx.operators.site.Site` and one value for each parameter, whose
        signature is the operator's, such as ``(site, x, axis: int = -1)``; see :mod:`rlx.operators.parameters`.

    Raises
    ------
    OperatorsError
        If Relax has an operator of that name, or an annotation is no kind of parameter.
    """
    full = name if name.startswith("relax.") else f"relax.{name}"
    if registry.is_built_in(full):
        raise OperatorsError(f"Relax has an operator {name!r} already")

    def add(rule: R) -> R:
        registry.forget(full)
        declare(full, pure=pure)(rule)
        try:
            assert declared[full].parameters is not None
        except TypeError as error:
            del declared[full]
            raise OperatorsError(f"{name!r}: {error}") from None
        return rule

    return add


def load(sources: Sequence[str], allowed: Sequence[str]) -> None:
    """Import the modules that declare operators, and let pass what is allowed without a declaration.

    Parameters
    ----------
    sources
        Names of modules, looked for in the current directory too, or paths of ``.py`` files.
    allowed
        Names or patterns, such as ``my.*``.

    Raises
    ------
    OperatorsError
        If a module cannot be imported.
    """
    for pattern in allowed:
        registry.allow(pattern)
    for source in sources:
        if source not in _loaded:
            _loaded.add(source)
            _import(source)


def _import(source: str) -> None:
    before = len(declared)
    try:
        if source.endswith(".py"):
            _import_file(Path(source))
        else:
            if "" not in sys.path:
                sys.path.insert(0, "")
            import_module(source)
    except OperatorsError:
        raise
    except Exception as error:
        raise OperatorsError(
            f"cannot import {source!r}: {type(error).__name__}: {error}"
        ) from error
    if len(declared) == before:
        raise OperatorsError(f"{source!r} declares no operator: decorate a rule with @rlx.operator")


def _import_file(path: Path) -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"rlx_operators_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
