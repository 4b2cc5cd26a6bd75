"""The functions of a module under construction, finished or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rlx.checker.derive.state import DerivationState
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import Expr, Function, GlobalVar, IRModule, Var
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.python_places import Place, described, here, module_of, spelt
from rlx.grammar.nodes.tir import PrimFunc
from rlx.grammar.nodes.unused_names import Names
from rlx.transform.builder import states, taken
from rlx.transform.builder.errors import misuse, violation
from rlx.transform.builder.frame import Frame


class ModuleFunctions:
    """Adds functions to a module and checks each one.

    Parameters
    ----------
    module
        A module to extend; it is not changed. None for an empty one.
    """

    def __init__(self, module: IRModule | None = None) -> None:
        base = IRModule({}) if module is None else module_of(module)
        self._table: dict[GlobalVar, Function | PrimFunc] = dict(base.functions)
        self._module = replace(base, functions=self._table)
        self._signatures = states.Signatures(self._module, self._table)
        self._globals = {gv.name_hint: gv for gv in self._table}
        self._names = Names(list(self._globals))
        self._alike: dict[type, dict[object, list[GlobalVar]]] = {}
        self._frames: list[Frame] = []
        self._found: list[Diagnostic] = []

    @spelt
    def add_func(self, func: Function | PrimFunc, func_name: str) -> GlobalVar:
        """Add a function under a name; a number is appended if the name is taken.

        A function that was added before, or that the given module contains, under another name is
        not added again.

        Returns
        -------
        GlobalVar
            Its name, for calls of it.

        Raises
        ------
        BuildError
            If the function violates a rule.
        """
        return self._add(func, func_name, self.define)

    def add_proved(self, function: PrimFunc, name: str) -> GlobalVar:
        """As :meth:`add_func`, for a PrimFunc that is legal because of how it was made: it is not
        checked.
        """
        return self._add(
            function,
            name,
            lambda gv, function: self._signatures.put(gv, _named(function, gv.name_hint)),
        )

    def _add(
        self,
        function: Function | PrimFunc,
        name: str,
        define: Callable[[GlobalVar, PrimFunc], None],
    ) -> GlobalVar:
        place = here()
        taken.function(function, place)
        taken.function_name(name, place)
        alike = self._of_kind(type(function)).setdefault(_outline(function), [])
        for gv in alike:
            known = self._table.get(gv)
            if known is not None and structural_equal(known, _named(function, gv.name_hint)):
                return gv
        gv = self.declare(name)
        try:
            define(gv, function)  # type: ignore[arg-type]
        except BaseException:
            self._names.give_back(gv.name_hint, name)
            raise
        alike.append(gv)
        return gv

    def _of_kind(self, kind: type) -> dict[object, list[GlobalVar]]:
        """The names of the functions of one kind, by what equal ones have in common."""
        found = self._alike.get(kind)
        if found is None:
            found = self._alike[kind] = {}
            building = {frame.name for frame in self._frames}
            for gv, function in self._table.items():
                if type(function) is kind and gv not in building:
                    found.setdefault(_outline(function), []).append(gv)
        return found

    @spelt
    def update_func(self, gv: GlobalVar | str, updated_func: Function | PrimFunc) -> None:
        """Replace the function with this name.

        Raises
        ------
        BuildError
            If there is no function with this name, or the new one violates a rule.
        """
        place = here()
        name = taken.global_name(gv, place)
        known = self._globals.get(name)
        if known is None or (isinstance(gv, GlobalVar) and gv is not known):
            raise misuse(f"the module has no function {name!r}", place)
        self._set(known, _named(taken.function(updated_func, place), name), place)
        for frame in self._frames:
            frame.state.info_of.pop(known, None)

    def _set(self, gv: GlobalVar, function: Function | PrimFunc, place: Place) -> None:
        before = self._table.get(gv)
        self._signatures.put(gv, function)
        found, info = states.check(self._signatures, gv, function)
        if any(d.is_error for d in found):
            if before is None:
                self._signatures.remove(gv)
            else:
                self._signatures.put(gv, before)
            raise violation(found, place)
        self._signatures.put(gv, function, info)
        self._found += found

    def declare(self, name: str) -> GlobalVar:
        """Declare a new name for a function; a number is appended if the name is taken.
        :meth:`define` gives the function.

        Raises
        ------
        BuildError
            If it is not a name.
        """
        new = self.global_name(taken.function_name(name, here()))
        gv = self._globals[new] = GlobalVar(new, here())
        return gv

    @spelt
    def define(self, gv: GlobalVar, function: Function | PrimFunc) -> None:
        """Define the function with a name returned by :meth:`declare`.

        Raises
        ------
        BuildError
            If the function violates a rule.
        """
        place = here()
        if not isinstance(gv, GlobalVar):
            raise misuse(f"expected a name of declare(…), found {described(gv)}", place)
        try:
            self._set(gv, _named(taken.function(function, place), gv.name_hint), place)
        except BaseException:
            self._globals.pop(gv.name_hint, None)
            raise

    def global_name(self, hint: str) -> str:
        """An unused name of a function in the module.

        Raises
        ------
        BuildError
            If the hint is not a text.
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
        """The current function with this name; None if the module has none.

        Raises
        ------
        BuildError
            If it is not a name.
        """
        if not isinstance(gv, GlobalVar):
            raise misuse(f"expected the name of a function, found {described(gv)}", here())
        return self._table.get(gv)

    def get(self) -> IRModule:
        """The module with all finished functions."""
        building = {frame.name for frame in self._frames if frame.finished is None}
        functions = {gv: f for gv, f in self._table.items() if gv not in building}
        return replace(self._module, functions=functions)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes about everything emitted so far."""
        return (*self._found, *(d for frame in self._frames for d in frame.diagnostics))

    # ------------------------------------------------------------ for mutators

    @property
    def frame(self) -> Frame:
        """The function under construction."""
        return self._frames[-1]

    @property
    def _innermost(self) -> Frame | None:
        return self._frames[-1] if self._frames else None

    def begin_again(
        self,
        gv: GlobalVar,
        head: Function,
        original: Function,
        taken: Iterable[str],
        place: Place,
    ) -> Frame:
        """Begin to rebuild a function of the module; until :meth:`put`, its callers see the old
        one.

        Raises
        ------
        BuildError
            If its signature violates a rule; that of the old function is checked later, if at all.
        """
        frame = Frame(self._signatures, gv, head, place, taken, original)
        self._frames.append(frame)
        return frame

    def end_again(self, frame: Frame) -> None:
        """End the rebuilding of a function begun by :meth:`begin_again`, finished or not."""
        self._frames.remove(frame)
        self._found += frame.diagnostics

    @property
    def signatures(self) -> states.Signatures:
        """The signatures of the functions, which follow what is added and changed."""
        return self._signatures

    def derivation(self, values: Mapping[Var, Expr] = {}) -> DerivationState:
        """A new derivation that knows the functions of the module and the given bindings of
        variables.
        """
        return states.derivation(self._signatures, values)

    def put(self, gv: GlobalVar, function: Function, keep: bool) -> None:
        """Store a function made by a frame under its name; ``keep`` means that it is the old
        function.
        """
        if self._table.get(gv) is function:
            return
        self._table[gv] = function
        if keep:
            self._signatures.put(gv, function, self._signatures.of(gv))


def _outline(function: Function | PrimFunc) -> object:
    """A key that equal functions share, and hardly any others: the kinds of their nodes, and their
    literals.
    """
    found: list[object] = [len(function.params)]
    if isinstance(function, PrimFunc):
        found += [(len(b.shape), b.dtype) for b in function.buffer_map.values()]
    stack: list[Node] = [function.body]
    while stack:
        node = stack.pop()
        found.append(type(node))
        if type(node) in _LITERALS:
            found.append(repr(node.value))  # type: ignore[attr-defined]
        stack.extend(node.children())
    return hash(tuple(found))


_LITERALS = frozenset([tir.IntImm, tir.FloatImm, tir.StringImm])


def _named(function: Function | PrimFunc, name: str) -> Function | PrimFunc:
    """A function with the global symbol of its name, where it has one."""
    symbol = function.attrs.get("global_symbol")
    if symbol is None or symbol == name:
        return function
    return replace(function, attrs={**function.attrs, "global_symbol": name})
