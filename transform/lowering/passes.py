"""Passes and their composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar.nodes.ast import IRModule
from rlx.solver.budget import undisturbed

Hook = Callable[["ModulePass", IRModule], None]
"""Called with a pass and the module before or after it."""


class PassError(ValueError):
    """A module that a pass rejects; the message says which precondition fails."""


class ModulePass:
    """A named function from modules to modules. The given module is not changed."""

    @property
    def name(self) -> str:
        """The name of the pass."""
        return type(self).__name__

    def __call__(self, module: IRModule) -> IRModule:
        """The module after the pass.

        Raises
        ------
        PassError
            If the module is not one that the pass takes.
        TypeError
            If `module` is none.
        """
        if not isinstance(module, IRModule):
            raise TypeError(
                f"{self.name} takes a module, found {type(module).__name__}: rlx.load reads one"
            )
        with undisturbed():
            return self.apply(module)

    def apply(self, module: IRModule) -> IRModule:
        """The transformed module."""
        raise NotImplementedError(f"{self.name} has no apply")

    def refuse(self, function: str, found: str, mend: str) -> PassError:
        """The error for a failing precondition."""
        return PassError(f"{self.name}: {function} has {found}; {mend}")

    def __repr__(self) -> str:
        return f"{self.name}()"


class Sequential(ModulePass):
    """A sequence of passes.

    Parameters
    ----------
    passes
        The passes, in order.
    before, after
        Called before and after each pass, with the pass and the module.
    """

    def __init__(
        self,
        passes: Sequence[ModulePass],
        *,
        before: Hook | None = None,
        after: Hook | None = None,
    ) -> None:
        if not isinstance(passes, list | tuple):
            raise TypeError(f"Sequential takes a list of passes, found {passes!r}")
        for each in passes:
            if not isinstance(each, ModulePass):
                hint = ": write the parentheses" if isinstance(each, type) else ""
                raise TypeError(f"Sequential takes passes, found {each!r}{hint}")
        self.passes = tuple(passes)
        self._before, self._after = before, after

    def apply(self, module: IRModule) -> IRModule:
        """The module after the last pass."""
        for each in self.passes:
            if self._before is not None:
                self._before(each, module)
            module = each(module)
            if self._after is not None:
                self._after(each, module)
        return module

    def __repr__(self) -> str:
        return f"Sequential([{', '.join(map(repr, self.passes))}])"
