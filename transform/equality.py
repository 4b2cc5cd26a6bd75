"""Whether two programs are the same: names, what is derived, and how calls are spelled do not count.

Each program is spelled out, and then they are compared node by node.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.derive import known_infos
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.dtype import array_of, numpy_type
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.nodes.node import Node, changed, replace
from rlx.grammar.nodes.python_places import MisuseError, described, flag, here, spelt
from rlx.grammar.nodes.rewrite import Rewriter, rebuild
from rlx.grammar.nodes.tir import PrimFunc
from rlx.operators.registry import Operator, lookup
from rlx.te.linear import simplified
from rlx.te.scalar import Scalar
from rlx.transform.arguments import argument, operands
from rlx.transform.builder.given import ARGUMENTS
from rlx.transform.visitors.dispatch import module_around

Program = IRModule | PrimFunc | Expr | StructInfo | ast.BindingBlock | ast.Binding
"""A module, a function, or a part of one."""


@spelt
def structural_equal(one: Program, other: Program, map_free_vars: bool = False) -> bool:
    """Whether two modules or functions are the same program, or two expressions, blocks, bindings
    or struct infos the same.

    The names of variables do not count, nor do annotations that say what is derived anyway,
    ``T.reads`` and ``T.writes``, and how a call or a dimension is spelled: positions, keywords,
    defaults, ``2`` for ``[2, 2]``, ``n + n`` for ``n * 2``. Nor do the names of two functions.

    Parameters
    ----------
    map_free_vars
        Whether variables that are not bound may be paired one to one. They are otherwise the same
        objects.

    Raises
    ------
    MisuseError
        If they are not of one of these kinds, or only one is a module.
    """
    return difference(one, other, map_free_vars) is None


@spelt
def assert_structural_equal(one: Program, other: Program, map_free_vars: bool = False) -> None:
    """Check that two programs are the same, as :func:`structural_equal` says.

    Raises
    ------
    AssertionError
        If they differ; the message has the first difference.
    MisuseError
        As :func:`structural_equal`.
    """
    found = difference(one, other, map_free_vars)
    if found is not None:
        raise AssertionError(found)


def difference(one: Program, other: Program, map_free_vars: bool = False) -> str | None:
    """The first difference of two programs, or None if they are the same.

    Raises
    ------
    MisuseError
        As :func:`structural_equal`.
    """
    for given in (one, other):
        if not isinstance(given, Program):
            words = "expected a module, a function or a part of one, found"
            raise MisuseError(f"{words} {described(given)}", here())
    if isinstance(one, IRModule) != isinstance(other, IRModule):
        raise MisuseError("expected two modules, or two functions, found one of each", here())
    is_whole = isinstance(one, IRModule | ast.Function | PrimFunc)
    free = flag(map_free_vars, "map_free_vars") or is_whole
    return first_difference(_spelled_out(one), _spelled_out(other), free)


def _spelled_out(program: Program) -> Program:
    """A program with all annotations, in which equal calls are spelled equally."""
    match program:
        case IRModule():
            return _module(program)
        case StructInfo():
            return _Spelled({}).struct_info(program)
        case ast.BindingBlock():
            return _Spelled({}).block(program)
        case ast.Binding():
            return _Spelled({}).block(ast.BindingBlock((program,)))
        case PrimFunc():
            found: ast.Function | PrimFunc = _without_regions(program)
        case ast.Function():
            gv, around = module_around(program)
            found = _module(around).functions[gv]
        case _:
            return _Spelled({}).expr(program)
    attrs = {k: v for k, v in found.attrs.items() if k not in ("global_symbol", "private")}
    return replace(found, attrs=attrs)


def _module(module: IRModule) -> IRModule:
    normal = normalize(module)
    found = _Spelled(known_infos(normal)).module(normal)
    functions = {
        gv: _without_regions(f) if isinstance(f, PrimFunc) else f
        for gv, f in found.functions.items()
    }
    return replace(found, functions=functions)


def _without_regions(function: PrimFunc) -> PrimFunc:
    def change(node: Node) -> Node:
        if isinstance(node, tir.Call) and node.op == "if_then_else":
            return replace(node, dtype=None)  # that of its values
        return replace(node, reads=None, writes=None) if isinstance(node, tir.Block) else node

    return changed(function, body=rebuild(function.body, change))


class _Spelled(Rewriter):
    """Writes annotations, operands and attributes.

    Parameters
    ----------
    infos
        What is derived of the variables and functions.
    """

    def __init__(self, infos: Mapping[Node, StructInfo]) -> None:
        super().__init__()
        self._infos = infos

    def define(self, var: ast.Var) -> ast.Var:
        info = var.struct_info_annotation or self._infos.get(var)
        made = replace(var, struct_info_annotation=None if info is None else self.struct_info(info))
        self.renamed[var] = made
        return made

    def var(self, var: ast.Var) -> Expr:
        info = self._infos.get(var)
        is_unit = isinstance(info, ast.TupleStructInfo) and not info.fields
        return ast.Tuple(()) if is_unit else super().var(var)

    def function(self, function: ast.Function) -> ast.Function:
        known = self._infos.get(function)
        made = super().function(function)
        if made.ret_struct_info is None and isinstance(known, ast.FuncStructInfo):
            made = replace(made, ret_struct_info=self.struct_info(known.ret))
        return made

    def struct_info(self, info: StructInfo) -> StructInfo:
        if isinstance(info, ast.PrimStructInfo):  # texts since 0.26 do not say the value
            return changed(info, value=None)
        return super().struct_info(info)

    def prim_expr(self, expr: tir.PrimExpr) -> tir.PrimExpr:
        return simplified(Scalar(expr, tir.type_of(expr))).node

    def if_(self, expr: ast.If) -> Expr:
        made = super().if_(expr)
        assert isinstance(made, ast.If)
        branches = (_without_last_copies(made.true_branch), _without_last_copies(made.false_branch))
        return replace(made, true_branch=branches[0], false_branch=branches[1])

    def expr(self, expr: Expr) -> Expr:
        return _plain(expr) if isinstance(expr, ast.Constant) else super().expr(expr)

    def call(self, call: ast.Call) -> Expr:
        made = super().call(call)
        operator = lookup(call.op_name)
        assert isinstance(made, ast.Call)
        if operator is None:
            return made
        known, args = self._infos.get(call), operands(made, defaults=True)
        shape = known.shape if isinstance(known, ast.TensorStructInfo) else None
        if call.op_name == "relax.reshape" and {type(args[1]), type(shape)} == {ast.ShapeExpr}:
            args = (args[0], shape)  # type: ignore[assignment]  # with a length for -1
        return replace(made, args=args, attrs=_attributes(made, operator), arg_spans=(), spelled={})


def _attributes(call: ast.Call, operator: Operator) -> dict[str, object]:
    """All attributes of a call, with one spelling for each value."""
    found: dict[str, object] = {}
    for parameter in operator.parameters:
        name, kind = parameter.name, parameter.kind
        if kind not in (*ARGUMENTS, "types"):
            value = argument(call, name, None)
            found[name] = value if kind == "int_or_ints" else _short(value, name in _WINDOWS)
    layout = found.get("data_layout", found.get("layout"))
    if found.get("out_layout") in (None, ""):
        found["out_layout"] = layout
    return {name: None if value in ("", "void") else value for name, value in found.items()}


_WINDOWS = frozenset(["strides", "padding", "dilation", "output_padding", "pool_size"])
"""Attributes of which one integer counts for all axes."""


def _short(value: object, window: bool) -> object:
    """The integer of a list of one, or of a Boolean. Of a window, the integer that counts for all axes, and the
    padding of the first sides if the second ones have the same.
    """
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, tuple) or not all(type(part) is int for part in value):
        return value
    if len(value) == 1 or (window and len(set(value)) == 1):
        return value[0]
    half = len(value) // 2
    return value[:half] if window and value[:half] == value[half:] else value


def _without_last_copies(branch: Expr) -> Expr:
    """A branch whose result is not bound to one more variable at its end."""
    while isinstance(branch, ast.SeqExpr) and branch.blocks:
        *before, block = branch.blocks
        last = block.bindings[-1]
        if not (isinstance(last, ast.VarBinding) and last.var is branch.body):
            break
        if not isinstance(last.value, ast.Var):
            break
        kept = replace(block, bindings=block.bindings[:-1])
        blocks = (*before, kept) if kept.bindings else tuple(before)
        branch = replace(branch, blocks=blocks, body=last.value)
    return branch


def _plain(constant: ast.Constant) -> ast.Constant:
    """A constant with its elements as bytes, where they are known."""
    data = constant.data
    if data.value is None and data.content is None:
        return constant
    if data.value is None:
        content = bytes(data.content or b"")
    else:
        content = array_of(data.value, numpy_type(data.dtype)).tobytes()
    return replace(constant, data=ast.Literal(content, data.dtype, data.shape))
