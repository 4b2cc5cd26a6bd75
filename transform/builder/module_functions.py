"""The functions of a module that is built, finished or under construction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlx.checker.derive.state import DerivationState
from rlx.grammar.ast import Expr, Function, GlobalVar, IRModule, Var
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.equal import structural_equal
from rlx.grammar.node import replace
from rlx.grammar.python_places import Place, described, here
from rlx.grammar.tir import PrimFunc
from rlx.transform.builder import states, taken
from rlx.transform.builder.errors import misuse, violation
from rlx.transform.builder.frame import Frame
from rlx.transform.builder.names import Names


class ModuleFunctions:
    """Puts functions into a module, each checked.

    Parameters
    ----------
    module
        A module to go on with; it is not changed. None for an empty one.
    """

    def __init__(self, module: IRModule | None = None) -> None:
        base = IRModule({}) if module is None else module
        self._table: dict[GlobalVar, Function | PrimFunc] = dict(base.functions)
        self._module = replace(base, functions=self._table)
        self._signatures = states.Signatures(self._module, self._table)
        self._globals = {gv.name_hint: gv for gv in self._table}
        self._names = Names(self._globals)
        self._alike: dict[object, list[GlobalVar]] = {}
        for gv, function in self._table.items():
            if isinstance(function, PrimFunc):
                self._alike.setdefault(_outline(function), []).append(gv)
        self._frames: list[Frame] = []
        self._found: list[Diagnostic] = []

    def add_func(self, function: Function | PrimFunc, name: str) -> GlobalVar:
        """Add a function under a name, with a number behind it where that is taken.

        A function that the module has already, but for its name, is not added again.

        Returns
        -------
        GlobalVar
            Its name, for calls of it.

        Raises
        ------
        BuildError
            If the function breaks a rule.
        """
        place = here()
        taken.function(function, place)
        taken.function_name(name, place)
        if isinstance(function, PrimFunc):
            for gv in self._alike.get(_outline(function), ()):
                known = self._table.get(gv)
                if known is not None and structural_equal(known, _named(function, gv.name_hint)):
                    return gv
        gv = self.declare(name)
        try:
            self.define(gv, function)
        except BaseException:
            self._names.give_back(gv.name_hint, name)
            raise
        if isinstance(function, PrimFunc):
            self._alike.setdefault(_outline(function), []).append(gv)
        return gv

    def update_func(self, gv: GlobalVar | str, function: Function | PrimFunc) -> None:
        """Put another function under a name.

        Raises
        ------
        BuildError
            If there is no function of that name, or the new one breaks a rule.
        """
        place = here()
        name = taken.global_name(gv, place)
        known = self._globals.get(name)
        if known is None or (isinstance(gv, GlobalVar) and gv is not known):
            raise misuse(f"the module has no function {name!r}", place)
        self._set(known, _named(taken.function(function, place), name), place)
        for frame in self._frames:
            frame.state.info_of.pop(known, None)

    def _set(self, gv: GlobalVar, function: Function | PrimFunc, place: Place) -> None:
        before = self._table.get(gv)
        self._signatures.put(gv, function)
        found, info = states.check(self._signatures, gv, function)
        if any(d.severity == "error" for d in found):
            if before is None:
                del self._table[gv]
            else:
                self._signatures.put(gv, before)
            raise violation(found, place)
        self._signatures.put(gv, function, info)
        self._found += found

    def declare(self, name: str) -> GlobalVar:
        """A new name for a function, with a number behind it where that is taken; :meth:`define`
        says which function it is.

        Raises
        ------
        BuildError
            If it is no name.
        """
        new = self.global_name(taken.function_name(name, here()))
        gv = self._globals[new] = GlobalVar(new, here())
        return gv

    def define(self, gv: GlobalVar, function: Function | PrimFunc) -> None:
        """Put a function under a name that :meth:`declare` gave.

        Raises
        ------
        BuildError
            If the function breaks a rule.
        """
        try:
            self._set(gv, _named(function, gv.name_hint), here())
        except BaseException:
            self._globals.pop(gv.name_hint, None)
            raise

    def global_name(self, hint: str) -> str:
        """A name that no function of the module has.

        Raises
        ------
        BuildError
            If the hint is no text.
        """
        return self._names.new(taken.text(hint, "the name of a function", here()))

    def global_var(self, name: str) -> GlobalVar:
        """The name of a function of the module.

        Raises
        ------
        BuildError
            If there is none.
        """
        place = here()
        found = self._globals.get(taken.text(name, "the name of a function", place))
        if found is None:
            raise misuse(f"the module has no function {name!r}", place)
        return found

    def lookup_func(self, gv: GlobalVar) -> Function | PrimFunc | None:
        """The function of a name as it stands; None where the module has none.

        Raises
        ------
        BuildError
            If it is no name.
        """
        if not isinstance(gv, GlobalVar):
            raise misuse(f"expected the name of a function, found {described(gv)}", here())
        return self._table.get(gv)

    def get(self) -> IRModule:
        """The module as it stands: all functions that are finished."""
        building = {frame.name for frame in self._frames if frame.finished is None}
        functions = {gv: f for gv, f in self._table.items() if gv not in building}
        return replace(self._module, functions=functions)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes about all that was emitted so far."""
        return (*self._found, *(d for frame in self._frames for d in frame.diagnostics))

    # ------------------------------------------------------------ for mutators

    @property
    def frame(self) -> Frame:
        """The function at hand."""
        return self._frames[-1]

    def begin_again(
        self,
        gv: GlobalVar,
        head: Function,
        original: Function,
        taken: Iterable[str],
        place: Place,
    ) -> Frame:
        """Begin to build a function of the module anew; until :meth:`put` calls of it see the old
        one.

        Raises
        ------
        BuildError
            If its signature breaks a rule.
        """
        around = states.walk(self._signatures, gv)
        states.recursion(self._signatures, around, gv, original)
        if around.diagnostics:
            raise violation(around.diagnostics, place)
        frame = Frame(self._signatures, gv, head, place, taken)
        self._frames.append(frame)
        return frame

    def end_again(self, frame: Frame) -> None:
        """Leave a function that :meth:`begin_again` began, finished or not."""
        self._frames.remove(frame)
        self._found += frame.diagnostics

    def derivation(self, values: Mapping[Var, Expr] | None = None) -> DerivationState:
        """A derivation in which nothing is bound yet, or the values of these variables are, and the
        functions of the module are known.
        """
        return states.derivation(self._signatures, values or {})

    def put(self, gv: GlobalVar, function: Function, keep: bool) -> None:
        """Put a function that a frame made under its name; ``keep`` says that it is the old one."""
        self._table[gv] = function
        if keep:
            self._signatures.put(gv, function, self._signatures.of(gv))


def _outline(function: PrimFunc) -> object:
    """What equal PrimFuncs have in common, and few others."""
    return tuple((len(b.shape), b.dtype) for b in function.buffer_map.values())


def _named(function: Function | PrimFunc, name: str) -> Function | PrimFunc:
    """A function with the global symbol of its name, where it has one."""
    symbol = function.attrs.get("global_symbol")
    if symbol is None or symbol == name:
        return function
    return replace(function, attrs={**function.attrs, "global_symbol": name})
