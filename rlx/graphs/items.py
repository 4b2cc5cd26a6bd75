"""The items of a function's graph: parameters, bindings, results, and what each uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, Function, GlobalVar, StructInfo, Var
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import called_globals, free_vars
from rlx.grammar.print.pieces import struct_info_printer
from rlx.grammar.print.show import spelled
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import visible
from rlx.solver.order import free_shape_vars

LONGEST = 44
"""Characters of a line in a box."""

_CALLS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad")


@dataclass
class GraphItem:
    """A box of the graph.

    Attributes
    ----------
    key
        Its number in the function, in the order of the text.
    kind
        ``"parameter"``, ``"binding"``, ``"call"`` (of a function of the module), ``"packed"`` (of a
        function outside), ``"cast"``, ``"branch"``, ``"function"`` or ``"result"``.
    name, value, info
        The variable, what is bound to it, and its struct info.
    group
        The index of its group in the function.
    uses
        The keys of the items whose values it uses.
    callees
        The functions of the module that it mentions.
    binds
        The shape variables that it binds.
    change
        ``"removed"`` or ``"added"`` where two modules are compared and only one has it;
        ``"carried"`` where both have it, of values that differ.
    note
        Further facts about it.
    """

    key: int
    kind: str
    name: str
    value: str
    info: str
    line: int | None
    group: int
    uses: tuple[int, ...] = ()
    callees: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    change: str = ""
    note: str = ""


@dataclass
class FunctionItems:
    """The graph of a function: its items, the groups (blocks and branches) in the order of the text, and
    its shape variables with the keys of the items that bind them.
    """

    name: str
    items: list[GraphItem] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    bound_at: dict[str, int] = field(default_factory=dict)
    status: str = ""


@dataclass
class ModuleItems:
    """The graphs of the functions of a module, in the order of the text.

    Attributes
    ----------
    prim_funcs
        The names of the PrimFuncs, with their signatures.
    other
        A second module to compare with; None if there is one.
    """

    name: str
    functions: Sequence[FunctionItems]
    prim_funcs: Mapping[str, str]
    other: ModuleItems | None = None

    def record(self) -> list[dict[str, Any]]:
        """The functions as data for JSON."""
        return [
            {
                "name": function.name,
                "status": function.status,
                "groups": list(function.groups),
                "shape_vars": dict(function.bound_at),
                "items": [
                    {
                        **{name: value for name, value in vars(item).items() if name != "note"},
                        "uses": list(item.uses),
                        "callees": list(item.callees),
                        "binds": list(item.binds),
                    }
                    for item in function.items
                ],
            }
            for function in self.functions
        ]


def function_items(
    name: str, function: Function, info: Mapping[Node, StructInfo], source: Source
) -> FunctionItems:
    """The graph of a function in normal form."""
    made = _Making(FunctionItems(name), info, source)
    with recursion_room():
        made.parameters(function, "parameters")
        uses = made.body(function.body)
        made.result("return", uses)
    return made.found


class _Making:
    def __init__(
        self, found: FunctionItems, info: Mapping[Node, StructInfo], source: Source
    ) -> None:
        self.found = found
        self._info = info
        self._source = source
        self._printer = struct_info_printer()
        self._keys: dict[Var, int] = {}
        self._unbound: set[str] = set()

    def parameters(self, function: Function, title: str) -> None:
        """The parameters of a function; the first one that mentions a shape variable binds it."""
        self._unbound |= {var.name for var in function.shape_vars}
        self._group(title)
        for param in function.params:
            self._add("parameter", param, "", param.annotation_span)

    def body(self, body: Expr) -> tuple[int, ...]:
        """The bindings of a body; the keys that its result uses."""
        if not isinstance(body, ast.SeqExpr):
            return self._uses(body)
        for block in body.blocks:
            kind = "dataflow block" if isinstance(block, ast.DataflowBlock) else "bindings"
            group = self._group(kind)
            for binding in block.bindings:
                self._binding(binding, group)
        return self._uses(body.body)

    def result(self, name: str, uses: tuple[int, ...]) -> int:
        """The result of a function or a branch."""
        item = GraphItem(
            len(self.found.items), "result", name, "", "", None, self._group(name), uses
        )
        self.found.items.append(item)
        return item.key

    def _group(self, title: str) -> int:
        self.found.groups.append(title)
        return len(self.found.groups) - 1

    def _binding(self, binding: Node, group: int) -> None:
        assert isinstance(binding, ast.VarBinding | ast.MatchCast)
        value, var = binding.value, binding.var
        uses = self._uses(value)
        if isinstance(value, ast.If):
            name = "" if var is None else var.name_hint
            for branch, which in ((value.true_branch, "true"), (value.false_branch, "false")):
                self._group(f"{name}: where the condition is {which}")
                inner = self.body(branch)
                uses = (*uses, self.result(f"{name} if {which}", inner))
            group = self._group("bindings")
        elif isinstance(value, Function):
            name = "" if var is None else var.name_hint
            self.parameters(value, f"function {name}: parameters")
            uses = (*uses, self.result(f"{name} returns", self.body(value.body)))
            group = self._group("bindings")
        kind, text = _shown(value)
        if isinstance(binding, ast.MatchCast):
            self._unbound |= {var.name for var in binding.shape_vars}
            kind, text = "cast", f"match_cast({text})"
        self._add(kind, var, text, binding.span, group, uses, called_globals(value))

    def _add(
        self,
        kind: str,
        var: Var | None,
        text: str,
        span: Span | None,
        group: int | None = None,
        uses: tuple[int, ...] = (),
        callees: tuple[GlobalVar, ...] = (),
    ) -> None:
        info = None if var is None else self._info.get(var, var.struct_info_annotation)
        key = len(self.found.items)
        binds: tuple[str, ...] = ()
        if kind in ("parameter", "cast"):
            names = [] if info is None else [v.name for v in free_shape_vars(info)]
            if var is not None and var.shape_var is not None:
                names.append(var.shape_var.name)
            binds = tuple(dict.fromkeys(name for name in names if name in self._unbound))
            self._unbound -= set(binds)
            self.found.bound_at |= dict.fromkeys(binds, key)
        line = None if span is None or not self._source.text else self._source.position(span[0])[0]
        self.found.items.append(
            GraphItem(
                key,
                kind,
                "_" if var is None else visible(var.name_hint),
                _short(text),
                ""
                if info is None
                else _short(
                    visible(spelled(info, self._printer, 4 * LONGEST).strip()), 2 * LONGEST
                ),
                line,
                len(self.found.groups) - 1 if group is None else group,
                tuple(dict.fromkeys(uses)),
                tuple(gv.name_hint for gv in callees),
                binds,
            )
        )
        if var is not None:
            self._keys[var] = key

    def _uses(self, value: Expr) -> tuple[int, ...]:
        return tuple(self._keys[var] for var in free_vars(value) if var in self._keys)


def _shown(value: Expr) -> tuple[str, str]:
    """The kind of a bound value, and its text without what the struct info says again."""
    match value:
        case ast.If(cond=cond):
            return "branch", f"if {cond}"
        case Function():
            return "function", "a local function"
        case ast.Call(op=ast.Op(op_name=name), args=(GlobalVar() as callee, args, *_)) if (
            name in _CALLS
        ):
            return "call", f"{callee.name_hint}{args}"
        case ast.Call(op=GlobalVar() as callee, args=args):
            return "call", f"{callee.name_hint}({', '.join(map(str, args))})"
        case ast.Call(op=ast.Op(op_name=name)) if "packed" not in name:
            return "binding", _line(value).removeprefix("R.")
        case ast.Call(op=ast.Op() | ast.ExternFunc()):
            return "packed", _line(value)
    return "binding", _line(value)


def _line(value: Expr) -> str:
    return " ".join(str(value).split())


def _short(text: str, longest: int = LONGEST) -> str:
    text = visible(" ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
