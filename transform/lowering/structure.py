"""Passes on the structure of functions: normal form, blocks, purity, closures, symbols."""

from __future__ import annotations

from rlx.checker.normalize import normalize
from rlx.checker.settled import settled
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import changed, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import expressions, sequences
from rlx.transform.lowering.emitter import operator_name
from rlx.transform.lowering.passes import ModulePass


class Normalize(ModulePass):
    """Every intermediate result gets a name (NF1 to NF5), and `squeeze` names only axes that go."""

    def apply(self, module: IRModule) -> IRModule:
        """The module in normal form."""
        return settled(normalize(module))


class ToNonDataflow(ModulePass):
    """Dataflow blocks become ordinary blocks, and their variables ordinary variables."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without dataflow blocks."""
        return _Undataflow().module(module)


class _Undataflow(Rewriter):
    def struct_info(self, info: ast.StructInfo) -> ast.StructInfo:
        if type(info) is ast.TensorStructInfo and type(info.shape) in _NO_VAR:
            return info
        return super().struct_info(info)

    def define(self, var: ast.Var) -> ast.Var:
        if not isinstance(var, ast.DataflowVar):
            return super().define(var)
        info = var.struct_info_annotation
        new = None if info is None else self.struct_info(info)
        made = ast.Var(var.name_hint, new, var.annotation_span, var.span, var.shape_var)
        self.renamed[var] = made
        return made

    def block(self, block: ast.BindingBlock) -> ast.BindingBlock:
        made = super().block(block)
        if isinstance(made, ast.DataflowBlock):
            return ast.BindingBlock(made.bindings, made.span)
        return made


_NO_VAR = frozenset({ast.ShapeExpr, type(None)})
"""Tensor shapes that are not given by a Relax variable."""


class RemovePurityChecking(ModulePass):
    """Functions get ``relax.force_pure``; calls that only promise purity become plain calls, but
    for those in dataflow blocks, which contain no others: run :class:`ToNonDataflow` before.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with ``relax.force_pure`` on every function that is declared pure, also on
        local ones.
        """
        promises = bool(_PROMISING & {operator_name(e) for e in expressions(module)})
        if promises or any(map(local_functions, module.relax_functions.values())):
            return _Unwrapped().module(module)
        return module.map_relax_functions(lambda _, function: _forced(function))


def _forced(function: ast.Function) -> ast.Function:
    if function.is_pure is False or function.attrs.get("relax.force_pure"):
        return function
    return replace(function, attrs={**function.attrs, "relax.force_pure": True})


_PROMISING = frozenset(
    {"relax.call_pure_packed", "relax.call_inplace_packed", "relax.invoke_pure_closure"}
)
"""Operators that declare their callees pure."""


def _may_be_no_function(callee: ast.Expr) -> bool:
    return isinstance(callee, ast.Var) and not isinstance(
        callee.struct_info_annotation, ast.FuncStructInfo
    )


class _Unwrapped(Rewriter):
    _dataflow = False

    def function(self, function: ast.Function) -> ast.Function:
        around, self._dataflow = self._dataflow, False
        made = _forced(super().function(function))
        self._dataflow = around
        return made

    def block(self, block: ast.BindingBlock) -> ast.BindingBlock:
        around, self._dataflow = self._dataflow, isinstance(block, ast.DataflowBlock)
        made = super().block(block)
        self._dataflow = around
        return made

    def call(self, call: ast.Call) -> ast.Expr:
        made = super().call(call)
        assert isinstance(made, ast.Call)
        if self._dataflow:
            return made
        name = operator_name(made)
        if name in ("relax.call_pure_packed", "relax.call_inplace_packed"):
            if _may_be_no_function(made.args[0]):  # only such a call takes it (D14)
                return made
            attrs = {k: v for k, v in made.attrs.items() if k != "inplace_indices"}
            return ast.Call(made.args[0], made.args[1:], attrs, made.sinfo_args, span=made.span)
        if name == "relax.invoke_pure_closure":
            return replace(made, op=ast.op("relax.invoke_closure"))
        return made


class AttachGlobalSymbol(ModulePass):
    """Give every function its name as global symbol."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without private functions."""
        functions = {name: _public(f, name.name_hint) for name, f in module.functions.items()}
        return replace(module, functions=functions)


def _public(function: ast.Function | tir.PrimFunc, name: str) -> ast.Function | tir.PrimFunc:
    attrs = {k: v for k, v in function.attrs.items() if k != "private"}
    attrs.setdefault("global_symbol", name)
    return changed(function, attrs=attrs)


def dataflow_blocks(function: ast.Function) -> bool:
    """Whether a function in normal form has dataflow blocks."""
    return any(
        type(block) is ast.DataflowBlock
        for inner in sequences(function)
        if type(inner) is ast.SeqExpr
        for block in inner.blocks
    )


def local_functions(function: ast.Function) -> bool:
    """Whether a function in normal form has local functions."""
    return any(type(i) is ast.Function and i is not function for i in sequences(function))
