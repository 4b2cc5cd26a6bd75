"""The names of variables in printed text.

Variables have identity, but texts have only names. In most programs every variable of a function
has its own name, so nothing is renamed. If two share a name, the later one keeps it only if the
earlier one is not used in its scope; otherwise it gets an unused name: ``x_1``.

Shape variables never share a name with another variable of their function, because older spellings
declare them at the top for the whole function.
"""

from __future__ import annotations

import keyword
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, nodes_in
from rlx.grammar.nodes.struct_infos import all_parts, held_shape, numbers

USE, BIND, OPEN, CLOSE = range(4)
"""Events of names in the order of the text: a use, a binding, the begin and the end of a scope."""

RESERVED = frozenset(
    {*keyword.kwlist, "R", "T", "I", "cls", "metadata", "TypeVar", "range", "float"}
)
"""Names with another meaning in a printed module."""


def usable(name: str) -> bool:
    """Whether a variable may have this name."""
    return name.isidentifier() and name not in RESERVED


def hint_of(node: Node) -> str:
    """The name hint of a variable, buffer or global variable."""
    return str(getattr(node, "name_hint" if isinstance(node, ast.Expr) else "name"))


class Fresh:
    """Makes unused names."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self._count: dict[str, int] = {}

    def __call__(self, hint: str) -> str:
        """``hint`` with a number behind it, or what is usable of it if that is free."""
        base = hint
        if not usable(hint) or hint == "_":
            base = re.sub(r"\W", "_", hint, flags=re.ASCII).strip("_") or "v"
            base = f"v_{base}" if base[0].isdigit() or base in RESERVED else base
            if base not in self.taken:
                self.taken.add(base)
                return base
        number = self._count.get(base, 0) + 1
        while f"{base}_{number}" in self.taken:
            number += 1
        self._count[base] = number
        self.taken.add(f"{base}_{number}")
        return f"{base}_{number}"

    def unless_free(self, hint: str) -> str:
        """``hint`` itself if it is unused."""
        if hint in self.taken or not usable(hint):
            return self(hint)
        self.taken.add(hint)
        return hint


def rename_apart(
    events: list[tuple[int, Node]], fresh: Fresh, barred: set[str], free: Collection[Node] = ()
) -> dict[Node, str]:
    """New names for the variables that cannot keep their names.

    Parameters
    ----------
    events
        Uses, bindings and scopes, in the order of the text.
    fresh
        Makes the new names, and knows every name in the function.
    barred
        Names that no variable bound here may have.
    free
        Variables that are used, but not bound here: a variable may have the name of one that is not
        used in its scope.
    """
    names: dict[Node, str] = {}
    holder = {hint_of(node): node for node in free}
    barred = barred | {hint_of(node) for node in free if holder[hint_of(node)] is not node}
    undo: list[tuple[str, Node | None] | None] = []
    uses, ends = _uses_of(events), _scope_ends(events)
    for at, (kind, node) in enumerate(events):
        if kind == BIND:
            name = hint_of(node)
            held = holder.get(name)
            hides = held is not None and held is not node and _used(uses, held, at, ends[at])
            if hides or name in barred or not usable(name):
                name = names[node] = fresh(name)
            undo.append((name, holder.get(name)))
            holder[name] = node
        elif kind == OPEN:
            undo.append(None)
        elif kind == CLOSE:
            while (entry := undo.pop()) is not None:
                if entry[1] is None:
                    del holder[entry[0]]
                else:
                    holder[entry[0]] = entry[1]
    return names


def _uses_of(events: list[tuple[int, Node]]) -> dict[Node, list[int]]:
    """The uses of each variable, in ascending order."""
    uses: dict[Node, list[int]] = {}
    for at, (kind, node) in enumerate(events):
        if kind == USE:
            uses.setdefault(node, []).append(at)
    return uses


def _scope_ends(events: list[tuple[int, Node]]) -> dict[int, int]:
    """The end of the scope that a binding belongs to."""
    ends: dict[int, int] = {}
    end: list[int] = [len(events)]
    for at in range(len(events) - 1, -1, -1):
        kind = events[at][0]
        if kind == CLOSE:
            end.append(at)
        elif kind == OPEN:
            end.pop()
        elif kind == BIND:
            ends[at] = end[-1]
    return ends


def _used(uses: dict[Node, list[int]], node: Node, after: int, before: int) -> bool:
    places = uses.get(node, [])
    at = bisect_right(places, after)
    return at < len(places) and places[at] < before


class FunctionNames:
    """The names in a Relax function and its local functions.

    Attributes
    ----------
    names
        The new names of renamed variables.
    used
        Relax variables that are used at least once.
    shape_vars
        Shape variables that are bound by a signature or a cast, in order of first appearance.
    binders
        Shape variables bound by the function types among the annotations.
    free_shape_vars
        The free shape variables.
    signature_vars
        The shape variables that the function's signature mentions.
    scalars
        Shape variables that are also Relax variables, or the value of a parameter with the same
        name; both have one name.
    globals
        The global functions that the function mentions.
    fresh
        Makes names that are unused in the function.
    """

    fresh: Fresh

    def __init__(self, function: ast.Function, also: Iterable[str] = ()) -> None:
        self._outermost = function
        self._events: list[tuple[int, Node]] = []
        self._bound: dict[tir.Var, None] = {}
        self._seen: dict[tir.Var, None] = {}
        self._binders: dict[tir.Var, None] = {}
        self.scalars: dict[tir.Var, ast.Var] = {}
        self._infos: set[Node] = set()
        self._info_uses: dict[Node, tuple[ast.Var, ...]] = {}
        self.globals: dict[ast.GlobalVar, None] = {}
        self.signature_vars: frozenset[tir.Var] = frozenset()
        self._nested(function)
        self.used = {node for kind, node in self._events if kind == USE}
        # A statement binds `_`, again and again; one that is used needs a name of its own.
        self._events = [e for e in self._events if e[0] != BIND or not self._is_dropped(e[1])]
        self.binders = tuple(self._binders)
        self.shape_vars = tuple(v for v in self._seen if v in self._bound)
        self.free_shape_vars = tuple(
            v for v in self._seen if v not in self._bound and v not in self._binders
        )
        self.names = self._choose(set(also))

    def _is_dropped(self, node: Node) -> bool:
        return hint_of(node) == "_" and node not in self.used

    def _choose(self, also: set[str]) -> dict[Node, str]:
        bound = {n for kind, n in self._events if kind == BIND}
        unbound = [n for n in self.used if n not in bound]
        outside = {hint_of(n) for n in unbound} | also
        relax = {hint_of(n) for n in bound} | outside
        free = {v.name for v in self.free_shape_vars}
        own = self._dimensions()
        shapes = {v.name for v in own}
        self.fresh = Fresh({*relax, *shapes, *free, *RESERVED})
        everything = relax | shapes | free
        counted = len(bound) + len(outside) + len(own) + len(free)
        fine = "_" not in everything and all(map(usable, everything - free))
        if len(everything) == counted and fine:
            return self._together({})
        names = self._shape_names(relax | free)
        names.update(rename_apart(self._events, self.fresh, also | free | {"_"}, unbound))
        return self._together(names)

    def _together(self, names: dict[Node, str]) -> dict[Node, str]:
        """The names, with those of the shape variables that are Relax variables."""
        for shape_var, var in self.scalars.items():
            name = names.get(var) or var.name_hint
            if name != shape_var.name:
                names[shape_var] = name
        return names

    def _dimensions(self) -> dict[tir.Var, None]:
        """The shape variables that are bound;
        a signature and a function type may bind the same one.
        """
        both = (*self.shape_vars, *self.binders)
        return dict.fromkeys(v for v in both if v not in self.scalars)

    def _shape_names(self, barred: set[str]) -> dict[Node, str]:
        names: dict[Node, str] = {}
        taken = set(barred)
        for var in self._dimensions():
            if var.name in taken or not usable(var.name):
                names[var] = self.fresh(var.name)
            taken.add(names.get(var) or var.name)
        return names

    def _nested(self, node: ast.Expr) -> None:
        """A function, branch or sequence: whatever has a scope of its own."""
        match node:
            case ast.Function():
                self._function(node)
            case ast.If():
                self._expr(node.cond)
                for branch in (node.true_branch, node.false_branch):
                    self._events.append((OPEN, node))
                    self._expr(branch)
                    self._events.append((CLOSE, node))
            case ast.SeqExpr():
                for block in node.blocks:
                    for binding in block.bindings:
                        self._binding(binding)
                    if isinstance(block, ast.DataflowBlock):
                        # The block exports names: none of its other variables may have one.
                        bound = [b.var for b in block.bindings if b.var is not None]
                        out = {v.name_hint for v in bound if type(v) is ast.Var} - {"_"}
                        if len(bound) > len({v.name_hint for v in bound}):
                            self._events += [(USE, v) for v in bound if v.name_hint in out]
                self._expr(node.body)

    def _function(self, node: ast.Function) -> None:
        self._events.append((OPEN, node))
        self._bound.update(dict.fromkeys(node.shape_vars))
        self._events += [(BIND, p) for p in node.params]
        for param in node.params:
            self._scalar(param)
        # No two parameters may share a name, whether they are used or not.
        self._events += [(USE, p) for p in node.params if p.name_hint != "_"]
        for param in node.params:
            if param.struct_info_annotation is not None:
                self._info(param.struct_info_annotation)
        if node.ret_struct_info is not None:
            self._info(node.ret_struct_info)
        if node is self._outermost:
            self.signature_vars = frozenset((*self._seen, *self._binders))
        for value in nodes_in(node.attrs):
            self._expr(value)
        self._expr(node.body)
        self._events.append((CLOSE, node))

    def _binding(self, binding: ast.Binding) -> None:
        match binding:
            case ast.VarBinding(var=var, value=ast.Function() as value):
                self._events.append((BIND, var))
                self._function(value)
            case ast.VarBinding(var=var, value=value):
                self._expr(value)
                self._bind(var)
            case ast.MatchCast(var=cast_var, value=value, struct_info=info):
                self._expr(value)
                self._bound.update(dict.fromkeys(binding.shape_vars))
                self._info(info)
                if cast_var is not None:
                    self._bind(cast_var)

    def _scalar(self, var: ast.Var) -> None:
        """Note the shape variable that a variable is."""
        info, shape_var = var.struct_info_annotation, var.shape_var
        if shape_var is None and isinstance(info, ast.PrimStructInfo):
            value = info.value
            named = isinstance(value, tir.Var) and value.name == var.name_hint
            shape_var = value if named and value in self._bound else None
        if shape_var is not None:
            self._bound[shape_var] = None
            self.scalars[shape_var] = var

    def _bind(self, var: ast.Var) -> None:
        self._scalar(var)
        if var.struct_info_annotation is not None:
            self._info(var.struct_info_annotation)
        self._events.append((BIND, var))

    def _expr(self, root: Node) -> None:
        """An expression, an annotation or a scalar."""
        stack = [root]
        while stack:
            node = stack.pop()
            match node:
                case ast.Var():
                    self._events.append((USE, node))
                case ast.GlobalVar():
                    self.globals[node] = None
                case tir.PrimExpr():
                    self._prims((node,))
                case ast.StructInfo():
                    self._info(node)
                case ast.Function() | ast.If() | ast.SeqExpr():
                    self._nested(node)
                case _:
                    stack.extend(reversed(node.children()))

    def _prims(self, exprs: tuple[tir.PrimExpr, ...]) -> None:
        for expr in exprs:
            if type(expr) is tir.Var:
                found: Iterable[tir.Var] = (expr,)
            elif type(expr) is tir.IntImm:
                continue
            else:
                found = tir.free_vars(expr)
            for var in found:
                self._seen[var] = None
                if var in self.scalars:
                    self._events.append((USE, self.scalars[var]))

    def _info(self, info: ast.StructInfo) -> None:
        # Annotations are shared objects: one is walked once, only its uses of variables count
        # again.
        if info not in self._infos:
            self._infos.add(info)
            at = len(self._events)
            self._walk_info(info)
            self._info_uses[info] = tuple(n for _, n in self._events[at:])  # type: ignore[misc]
        else:
            self._events += [(USE, var) for var in self._info_uses[info]]

    def _walk_info(self, info: ast.StructInfo) -> None:
        for part in all_parts(info):
            held = held_shape(part)
            if held is not None:
                self._events.append((USE, held))
            elif isinstance(part, ast.FuncStructInfo):
                self._binders.update(dict.fromkeys(part.binders))
            else:
                self._prims(numbers(part))
