"""Checks of values against annotations (E-cast), prepared so that the common ones cost little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar import ast, tir
from rlx.semantics.cast import CheckFailed, check
from rlx.semantics.faults import Refused
from rlx.semantics.machine.configuration import Frame, Reader
from rlx.semantics.machine.scopes import Scope
from rlx.semantics.values import Scalar, ShapeValue, Value


class Check:
    """A check of values against annotations in a scope.

    Attributes
    ----------
    binds
        The shape variables that it binds, in the order in which their numbers are returned.
    """

    __slots__ = ("_known", "_plain", "_shapes", "binds", "infos")

    def __init__(
        self, infos: Sequence[ast.StructInfo], binds: Sequence[tir.Var], scope: Scope
    ) -> None:
        self.infos, self.binds = tuple(infos), tuple(binds)
        self._known: list[tuple[tir.Var, Reader]] = []
        self._shapes: list[tuple[ast.Var, Reader]] = []
        self._plain = None if binds else _plain(infos)
        for info in infos:
            self._look_up(info, scope)

    def _look_up(self, info: ast.StructInfo, scope: Scope) -> None:
        from rlx.solver.order import free_shape_vars, free_vars

        for var in free_shape_vars(info):
            if var not in self.binds and (read := scope.reader(var)) is not None:
                self._known.append((var, read))
        for name in free_vars(info):
            if (read := scope.reader(name)) is not None:
                self._shapes.append((name, read))

    def __call__(self, frame: Frame, values: Sequence[Value]) -> list[int]:
        """The numbers of the shape variables that the check binds.

        Raises
        ------
        Refused
            If a value does not fit.
        """
        plain = self._plain
        if plain is not None:
            for value, kind in zip(values, plain, strict=True):
                if type(value) is not Scalar or value.dtype != kind:
                    break
            else:
                return []
        return self._check(frame, values)

    def _check(self, frame: Frame, values: Sequence[Value]) -> list[int]:
        known = {var: read(frame) for var, read in self._known}
        shapes: dict[ast.Var, Sequence[int]] = {}
        for name, read in self._shapes:
            held: Any = read(frame)
            if isinstance(held, ShapeValue):
                shapes[name] = held.values
        try:
            point = check(values, self.infos, known, shapes)
        except CheckFailed as failed:
            raise Refused(failed.code, str(failed)) from None
        missing = [var.name for var in self.binds if var not in point]
        if missing:
            raise Refused("E-cast-undefined", f"nothing gives {', '.join(missing)} a number")
        return [point[var] for var in self.binds]


def _plain(infos: Sequence[ast.StructInfo]) -> tuple[Any, ...] | None:
    """The element types, if the annotations are scalars of which no value is said."""
    if all(isinstance(info, ast.PrimStructInfo) and info.value is None for info in infos):
        return tuple(info.dtype for info in infos)  # type: ignore[attr-defined]
    return None
