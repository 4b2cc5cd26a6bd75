"""Queries on the function that a builder is building."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.python_places import Place, described, here
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.prover import Prover
from rlx.solver.usage_errors import condition as expect_condition
from rlx.solver.verdict import Verdict
from rlx.transform.builder import taken
from rlx.transform.builder.errors import misuse
from rlx.transform.builder.frame import Frame
from rlx.transform.builder.module_functions import ModuleFunctions

Given = object
"""Values that convert to an expression: an expression, a number, a text, a tuple or list of such
values, a scalar of arithmetic, or a NumPy array.
"""


class Asking(ModuleFunctions):
    """Answers queries at the current position."""

    def lookup_binding(self, var: ast.Var) -> Expr | None:
        """The value that a variable of the current function is bound to; None for parameters and
        other variables.

        Raises
        ------
        BuildError
            If it is not a variable.
        """
        if not isinstance(var, ast.Var):
            raise misuse(f"expected a variable, found {described(var)}", here())
        for frame in reversed(self._frames):
            found = frame.values.get(var)
            if found is not None:
                return found
        return None

    def struct_info(self, value: Given) -> StructInfo:
        """The struct info of a value in the current function.

        Raises
        ------
        BuildError
            If the value violates a rule; nothing is emitted.
        """
        place = here()
        frame = self._open("struct_info", place)
        given = taken.value(value, place)
        found = frame.state.info_of.get(given)
        return frame.derived(given, place) if found is None else found

    def prove(self, condition: PrimExpr | str) -> Verdict:
        """Whether a condition on shape variables always holds at the current position.

        Parameters
        ----------
        condition
            ``tir.EQ(n, m)``, ``n < 4``, or a text such as ``"n % 4 == 0"``.

        Raises
        ------
        BuildError
            If it is not a condition.
        """
        place = here()
        frame = self._open("prove", place)
        given = taken.scalar(condition, place, frame.shape_vars())
        try:
            expect_condition(given)
        except TypeError as error:
            raise misuse(str(error), place) from None
        return frame.state.prover.always(given)

    def simplify(self, value: PrimExpr | str) -> PrimExpr:
        """A scalar of the same value, simplified with the facts known at the current position.

        Raises
        ------
        BuildError
            If it is not a scalar.
        """
        place = here()
        frame = self._open("simplify", place)
        return frame.state.prover.simplify(taken.scalar(value, place, frame.shape_vars()))

    @property
    def prover(self) -> Prover:
        """The prover, with all facts known at the current position."""
        return self._open("prover", here()).state.prover

    @property
    def shape_vars(self) -> Mapping[str, tir.Var]:
        """The shape variables in scope, by name."""
        return self._open("shape_vars", here()).shape_vars()

    def unique_name(self, hint: str) -> str:
        """A name that is unused in the current function or, outside functions, in the module.

        Raises
        ------
        BuildError
            If the hint is not a text.
        """
        text = taken.text(hint, "a name", here())
        frame = self._innermost
        return (self._names if frame is None else frame.names).new(text)

    get_unique_name = unique_name
    """TVM's name of :meth:`unique_name`."""

    def current_block_is_dataflow(self) -> bool:
        """Whether the current block is a dataflow block."""
        frame = self._innermost
        return frame is not None and frame.block is not None

    def _open(self, what: str, place: Place) -> Frame:
        """The function at hand."""
        frame = self._innermost
        if frame is None:
            raise misuse(f"{what} must be inside a function: open one with bb.function(…)", place)
        if frame.finished is not None:
            name = frame.name.name_hint
            raise misuse(f"{what}: the function {name!r} already has its output", place)
        return frame
