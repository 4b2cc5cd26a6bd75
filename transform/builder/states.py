"""The two states of the checker for a function that is built binding by binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlx.checker.derive.doubts import Doubt, Doubts
from rlx.checker.derive.module import RULES, prim_func
from rlx.checker.derive.naming import signature
from rlx.checker.derive.state import DerivationState
from rlx.checker.normalize import normalize_function
from rlx.checker.well_formed.functions import recursive_result_is_annotated, symbol_is_name
from rlx.checker.well_formed.state import WellFormedCheck
from rlx.checker.well_formed.traversal import RULES as WALK
from rlx.checker.well_formed.traversal import walk_function
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, StructInfo
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import bindings, called_globals, reached
from rlx.grammar.stack import recursion_room


class LastDoubts(Doubts):
    """Doubts of which the last are undone when a binding is rejected."""

    def __init__(self) -> None:
        super().__init__()
        self._before: list[tuple[Node, Doubt | None]] = []

    def mark(self, node: Node, doubt: Doubt) -> None:
        """Doubt a node, unless there is a stronger doubt about it."""
        before = self.get(node)
        super().mark(node, doubt)
        if self.get(node) is not before:
            self._before.append((node, before))

    def keep(self) -> None:
        """Keep what was marked."""
        self._before.clear()

    def undo(self) -> None:
        """Take back what was marked since the last :meth:`keep`."""
        for node, before in reversed(self._before):
            if before is None:
                self.pop(node, None)
            else:
                self[node] = before
        self._before.clear()


class Signatures:
    """The signatures of the functions of a module under construction.

    Attributes
    ----------
    module
        The module; functions are added to its table.
    """

    def __init__(self, module: ast.IRModule, table: dict[GlobalVar, ast.Function | tir.PrimFunc]):
        self.module, self._table = module, table
        self._known: dict[GlobalVar, StructInfo] = {}
        self._mentioned: dict[GlobalVar, tuple[GlobalVar, ...]] = {}
        self._callers: dict[GlobalVar, set[GlobalVar]] | None = None
        self._reaching: dict[GlobalVar, set[GlobalVar]] = {}

    def put(
        self,
        gv: GlobalVar,
        function: ast.Function | tir.PrimFunc,
        info: StructInfo | None = None,
    ) -> None:
        """Store a function under a name; ``info`` is its signature if known."""
        self._forget(gv)
        self._table[gv] = function
        if self._callers is not None:
            self._note(gv, self._callers)
        if info is None:
            self._known.pop(gv, None)
        else:
            self._known[gv] = info

    def remove(self, gv: GlobalVar) -> None:
        """Remove a function, because it breaks a rule."""
        self._forget(gv)
        del self._table[gv]

    def _forget(self, gv: GlobalVar) -> None:
        """Forget whom a function calls."""
        for callee in self._mentioned.pop(gv, ()):
            if self._callers is not None:
                self._callers[callee].discard(gv)
                self._reaching.clear()

    def of(self, gv: GlobalVar) -> StructInfo | None:
        """The signature of a function; None if there is no function of this name."""
        found = self._known.get(gv)
        if found is None:
            function = self._table.get(gv)
            if function is None:
                return None
            if isinstance(function, ast.Function):  # what it calls may ask about it
                self._known[gv] = signature(function)
            found = self._known[gv] = self._derived(function)
        return found

    def _derived(self, function: ast.Function | tir.PrimFunc) -> StructInfo:
        if isinstance(function, tir.PrimFunc):
            return prim_func(function)
        if function.ret_struct_info is not None:
            return signature(function)
        return derivation(self, {}).info(function)

    def reaching(self, goal: GlobalVar) -> set[GlobalVar]:
        """The functions that can reach one by calls, including itself. Hardly any reaches one that
        is new, so they are found from there.
        """
        if self._callers is None:
            self._callers = {}
            for gv in self._table:
                self._note(gv, self._callers)
        known, callers = self._reaching.get(goal), self._callers
        if known is None:
            known = self._reaching[goal] = reached([goal], lambda gv: callers.get(gv, ()))
        return known

    def _note(self, gv: GlobalVar, callers: dict[GlobalVar, set[GlobalVar]]) -> None:
        """Note whom a function calls."""
        for callee in self.mentions(gv):
            callers.setdefault(callee, set()).add(gv)
            self._reaching.clear()

    def mentions(self, gv: GlobalVar) -> tuple[GlobalVar, ...]:
        """The functions that one calls or passes as values."""
        found = self._mentioned.get(gv)
        if found is None:
            function = self._table.get(gv)
            found = called_globals(function) if isinstance(function, ast.Function) else ()
            self._mentioned[gv] = found
        return found


def signatures_of(module: ast.IRModule) -> Signatures:
    """The signatures of a module that stays as it is."""
    table = dict(module.functions)
    return Signatures(replace(module, functions=table), table)


class _Circles(dict[GlobalVar, set[GlobalVar]]):
    """Whether a function can reach the one at hand, found when it is asked."""

    def __init__(self, signatures: Signatures, own: GlobalVar) -> None:
        super().__init__()
        self._signatures, self._own = signatures, own

    def get(self, gv: GlobalVar, default: Any = None) -> Any:
        """The function at hand, if one can reach it."""
        return {self._own} if gv in self._signatures.reaching(self._own) else default


class Growing(DerivationState):
    """A derivation of one function, to which bindings are added one by one.

    Attributes
    ----------
    unproved
        The calls with an obligation that is not proved, or with a diagnostic.
    """

    def __init__(self, signatures: Signatures, values: Mapping[ast.Var, Expr]) -> None:
        super().__init__(signatures.module, {**RULES, GlobalVar: self._global}, set())
        self.signatures, self.values = signatures, values
        self.doubts: LastDoubts = LastDoubts()
        self.unproved: set[ast.Call] = set()

    def require(self, *obligation: Any) -> bool:
        """Prove an obligation, and note the call if it is not proved."""
        before = self.proved
        found = super().require(*obligation)
        if self.proved == before and self.call is not None:
            self.unproved.add(self.call)
        return found

    def report(self, *diagnostic: Any, **extra: Any) -> None:
        """Report a diagnostic of the call at hand, and note the call."""
        if self.call is not None:
            self.unproved.add(self.call)
        super().report(*diagnostic, **extra)

    @staticmethod
    def _global(state: Any, gv: GlobalVar) -> StructInfo:
        found: StructInfo | None = state.signatures.of(gv)
        if found is None:
            state.doubt(gv)
        return OBJECT if found is None else found

    def bound(self, var: ast.Var) -> Expr | None:
        """The value that a variable is bound to."""
        return self.values.get(var)


def derivation(signatures: Signatures, values: Mapping[ast.Var, Expr]) -> Growing:
    """A derivation without bindings; ``values`` is the growing map of variables to values."""
    return Growing(signatures, values)


def walk(signatures: Signatures, own: GlobalVar) -> WellFormedCheck:
    """A walk of the well-formedness rules, positioned at the beginning of a function."""
    state = WellFormedCheck(signatures.module, WALK)
    state.global_name = own
    state.circles, state.global_calls = _Circles(signatures, own), signatures.mentions
    return state


def check(
    signatures: Signatures, gv: GlobalVar, function: ast.Function | tir.PrimFunc
) -> tuple[list[Diagnostic], StructInfo]:
    """All diagnostics of a function under its name, and its signature."""
    if isinstance(function, tir.PrimFunc):
        from rlx.checker.prim_funcs.check import prim_funcs

        return prim_funcs(ast.IRModule({gv: function})), prim_func(function)
    around = walk(signatures, gv)
    symbol_is_name(around, gv, function)
    recursion(signatures, around, gv, function)
    walk_function(around, function, gv.name_hint)
    if any(d.is_error for d in around.diagnostics):
        return around.diagnostics, OBJECT
    normal = normalize_function(function)
    values = {b.var: b.value for b in bindings(normal) if isinstance(b, ast.VarBinding)}
    state = derivation(signatures, values)
    with recursion_room():
        info = state.info(normal)
    return around.diagnostics + state.diagnostics, info


def recursion(
    signatures: Signatures, around: WellFormedCheck, gv: GlobalVar, function: ast.Function
) -> None:
    """Check that a recursive function has an annotated result."""
    recursive = function.ret_struct_info is None and not signatures.reaching(gv).isdisjoint(
        called_globals(function)
    )
    recursive_result_is_annotated(around, gv, function, recursive)
