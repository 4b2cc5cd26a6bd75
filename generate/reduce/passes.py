"""Passes that make a module smaller.

A pass finds sites in a module, and makes the module that is left when some of them are gone. Sites
of a pass are independent of each other: any set of them may go at once. Nothing here asks whether
the result is legal; only the test knows what is interesting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, replace, walk
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.visit import bindings, expressions

Site = Any
Info = Mapping[ast.Var, ast.StructInfo]


class Pass:
    """A way to make a module smaller.

    Attributes
    ----------
    name
        What it does.
    sites
        Where it can be done in a module.
    without
        The module with the chosen sites gone.
    """

    __slots__ = ("name", "sites", "without")

    def __init__(
        self,
        name: str,
        sites: Callable[[ast.IRModule], list[Site]],
        without: Callable[[ast.IRModule, Sequence[Site]], ast.IRModule],
    ) -> None:
        self.name, self.sites, self.without = name, sites, without


def _mapped(module: ast.IRModule, table: Mapping[Node, Node]) -> ast.IRModule:
    made: ast.IRModule = rebuild(module, lambda node: table.get(node, node))
    return made


def _without_functions(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    dropped = set(gone)
    return replace(
        module, functions={k: v for k, v in module.functions.items() if k not in dropped}
    )


def _unused(module: ast.IRModule) -> list[Site]:
    used = {expr for expr in expressions(module) if isinstance(expr, ast.Var)}
    return [b for b in reversed(list(bindings(module))) if b.var is None or b.var not in used]


def _without_bindings(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    dropped = set(gone)

    def change(node: Node) -> Node:
        if isinstance(node, ast.BindingBlock):
            return replace(node, bindings=tuple(b for b in node.bindings if b not in dropped))
        if isinstance(node, ast.SeqExpr) and len(node.blocks) > 1:
            kept = tuple(b for b in node.blocks if any(x not in dropped for x in b.bindings))
            return replace(node, blocks=kept)
        return node

    made: ast.IRModule = rebuild(module, change)
    return made


def _aliases(module: ast.IRModule) -> list[Site]:
    return [b for b in bindings(module) if b.var is not None and isinstance(b.value, ast.Var)]


def _without_aliases(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    table: dict[Node, Node] = {}
    for binding in gone:
        # In the order of the text a value is mended before it is used to mend others.
        table[binding.var] = table.get(binding.value, binding.value)
    return _mapped(_without_bindings(module, gone), table)


def cutting(info: Info) -> Pass:
    """Variables of functions become parameters, and with them goes what they were computed from."""

    def sites(module: ast.IRModule) -> list[Site]:
        return [
            (name, binding)
            for name, function in module.relax_functions.items()
            if isinstance(function.body, ast.SeqExpr)
            for block in function.body.blocks
            for binding in block.bindings
            if getattr(binding, "var", None) in info
        ]

    def without(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
        table: dict[Node, Node] = {}
        more: dict[ast.GlobalVar, list[ast.Var]] = {}
        for name, binding in gone:
            param = ast.Var(binding.var.name_hint, info[binding.var])
            table[binding.var] = param
            more.setdefault(name, []).append(param)
        made = _mapped(_without_bindings(module, [b for _, b in gone]), table)
        functions = dict(made.functions)
        for name, params in more.items():
            function = functions[name]
            assert isinstance(function, ast.Function)
            functions[name] = replace(function, params=(*function.params, *params))
        return replace(made, functions=functions)

    return Pass("cut", sites, without)


def _simpler(expr: ast.Expr) -> Iterator[ast.Expr]:
    match expr:
        case ast.If(true_branch=then, false_branch=otherwise):
            yield from (then, otherwise)
        case ast.Call(args=args):
            yield from (arg for arg in args if isinstance(arg, (ast.Var, ast.Constant)))
        case ast.TupleGetItem(tuple_value=inner):
            yield inner
        case ast.SeqExpr(blocks=(), body=body):
            yield body


def _alternatives(module: ast.IRModule) -> list[Site]:
    return [(expr, other) for expr in expressions(module) for other in _simpler(expr)]


def _earlier_results(module: ast.IRModule) -> list[Site]:
    found = []
    for expr in expressions(module):
        if isinstance(expr, ast.SeqExpr):
            bound = [b.var for block in expr.blocks for b in block.bindings]
            found += [
                (expr, replace(expr, body=var)) for var in bound if var not in (None, expr.body)
            ]
    return found


def _ending_earlier(module: ast.IRModule, chosen: Sequence[Site]) -> ast.IRModule:
    """End a function at an earlier binding; bindings that only the later result needed go with it."""
    made = _replaced(module, chosen)
    while unused := _unused(made):
        made = _without_bindings(made, unused)
    return made


def _replaced(module: ast.IRModule, chosen: Sequence[Site]) -> ast.IRModule:
    return _mapped(module, dict(chosen))


def _attributes(module: ast.IRModule) -> list[Site]:
    return [
        (expr, key)
        for expr in expressions(module)
        if isinstance(expr, (ast.Call, ast.Function))
        for key in expr.attrs
    ]


def _without_attributes(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    dropped: dict[Node, set[str]] = {}
    for expr, key in gone:
        dropped.setdefault(expr, set()).add(key)

    def change(node: Node) -> Node:
        keys = dropped.get(node)
        if keys is None:
            return node
        kept = {k: v for k, v in node.attrs.items() if k not in keys}  # type: ignore[attr-defined]
        return replace(node, attrs=kept)

    made: ast.IRModule = rebuild(module, change)
    return made


def _annotations(module: ast.IRModule) -> list[Site]:
    found: list[Site] = []
    for function in module.relax_functions.values():
        if function.ret_struct_info is not None:
            found.append((function, replace(function, ret_struct_info=None)))
    for binding in bindings(module):
        var = binding.var
        if var is not None and var.struct_info_annotation is not None:
            found.append((var, replace(var, struct_info_annotation=None)))
    return found


def _unused_parameters(module: ast.IRModule) -> list[Site]:
    found = []
    for name, function in module.relax_functions.items():
        used = set(expressions(function.body))
        found += [(name, at) for at, p in enumerate(function.params) if p not in used]
    return found


def _without_parameters(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    dropped: dict[ast.GlobalVar, set[int]] = {}
    for name, at in gone:
        dropped.setdefault(name, set()).add(at)

    def kept(name: ast.GlobalVar, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(item for at, item in enumerate(items) if at not in dropped[name])

    def change(node: Node) -> Node:
        if isinstance(node, ast.Call) and node.op in dropped:
            assert isinstance(node.op, ast.GlobalVar)
            return replace(node, args=kept(node.op, node.args), arg_spans=())
        return node

    made: ast.IRModule = rebuild(module, change)
    functions = dict(made.functions)
    for name in dropped:
        function = functions[name]
        assert isinstance(function, ast.Function)
        functions[name] = replace(function, params=kept(name, function.params))
    return replace(made, functions=functions)


def _dataflow_blocks(module: ast.IRModule) -> list[Site]:
    return [
        block
        for expr in expressions(module)
        if isinstance(expr, ast.SeqExpr)
        for block in expr.blocks
        if isinstance(block, ast.DataflowBlock)
    ]


def _without_dataflow(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    table: dict[Node, Node] = {}
    for block in gone:
        table[block] = ast.BindingBlock(block.bindings, block.span)
        for binding in block.bindings:
            if isinstance(binding.var, ast.DataflowVar):
                var = binding.var
                table[var] = ast.Var(var.name_hint, var.struct_info_annotation)
    return _mapped(module, table)


_SMALL = 2


def _numbers(module: ast.IRModule) -> list[Site]:
    found = {node.value for node in walk(module) if isinstance(node, tir.IntImm)}
    return sorted(value for value in found if abs(value) > _SMALL)


def _with_small_numbers(module: ast.IRModule, chosen: Sequence[Site]) -> ast.IRModule:
    large = set(chosen)

    def change(node: Node) -> Node:
        if isinstance(node, tir.IntImm) and node.value in large:
            return replace(node, value=_SMALL if node.value > 0 else -1)
        return node

    made: ast.IRModule = rebuild(module, change)
    return made


def _operands(module: ast.IRModule) -> list[Site]:
    return [
        (node, operand)
        for node in walk(module)
        if isinstance(node, tir.Binary)
        for operand in (node.a, node.b)
    ]


def _statements(module: ast.IRModule) -> list[Site]:
    return [stmt for node in walk(module) if isinstance(node, tir.SeqStmt) for stmt in node.stmts]


def _without_statements(module: ast.IRModule, gone: Sequence[Site]) -> ast.IRModule:
    dropped = set(gone)

    def change(node: Node) -> Node:
        if isinstance(node, tir.SeqStmt):
            return replace(node, stmts=tuple(s for s in node.stmts if s not in dropped))
        return node

    made: ast.IRModule = rebuild(module, change)
    return made


def size(module: ast.IRModule) -> tuple[int, int, int]:
    """The measure that every step must make smaller: functions, bindings and statements; then the
    text; then the numbers.
    """
    from rlx.grammar.print.printer import print_module

    parts = len(module.functions) + sum(1 for _ in bindings(module)) + len(_statements(module))
    numbers = sum(abs(n.value) for n in walk(module) if isinstance(n, tir.IntImm))
    return parts, len(print_module(module)), numbers


PASSES: tuple[Pass, ...] = (
    Pass("functions", lambda m: list(m.functions), _without_functions),
    Pass("unused bindings", _unused, _without_bindings),
    Pass("aliases", _aliases, _without_aliases),
    Pass("bindings", lambda module: list(bindings(module)), _without_bindings),
    Pass("earlier results", _earlier_results, _ending_earlier),
    Pass("expressions", _alternatives, _replaced),
    Pass("unused parameters", _unused_parameters, _without_parameters),
    Pass("annotations", _annotations, _replaced),
    Pass("attributes", _attributes, _without_attributes),
    Pass("dataflow", _dataflow_blocks, _without_dataflow),
    Pass("statements", _statements, _without_statements),
    Pass("numbers", _numbers, _with_small_numbers),
    Pass("operands", _operands, _replaced),
)
"""The passes in the order of trial: those that take most away come first."""
