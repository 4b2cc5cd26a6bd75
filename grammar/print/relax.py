"""Relax functions as text: signatures, bindings, branches."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from rlx.grammar.dialects import Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.struct_infos import of_the_value
from rlx.grammar.print.calls import ExprPrinter
from rlx.grammar.print.names import FunctionNames
from rlx.grammar.print.tir_head import declaration
from rlx.grammar.read.comments import Remarks, attach, put

_INDENT = "    "
_BLOCKS = (ast.Function, ast.If, ast.SeqExpr)


class FunctionPrinter:
    """Prints one global function with everything inside it.

    Parameters
    ----------
    function
        The function.
    dialect
        The spelling.
    module
        The name of the enclosing class, or None.
    global_names
        Names of functions of the module, if there is no class.
    remarks
        Comments of the source between statements, which are printed at the same positions.
    """

    def __init__(
        self,
        function: ast.Function,
        dialect: Dialect,
        module: str | None,
        global_names: Iterable[str] = (),
        remarks: Remarks | None = None,
    ) -> None:
        self.function = function
        self.dialect = dialect
        self.module = module
        self.scope = FunctionNames(function, global_names)
        self.names = self.scope.names
        self.lines: list[str] = []
        self.remarks = remarks or Remarks()
        alias = "cls." if module is not None else ""
        self.exprs = ExprPrinter(self.names, dialect, alias, self.remarks.text)

    def print(self, name: str, pad: str) -> list[str]:
        """The lines of the function, each prefixed with ``pad``."""
        self._function(name, self.function, pad, outermost=True)
        return self.lines

    def _before(self, span: Span | None, pad: str) -> None:
        """Print the comments that stand in front of a statement."""
        if span is not None and self.remarks.left:
            self.lines += [pad + text for text in self.remarks.before(span[0])]

    def _inside(self, span: Span | None, last: Span | None, pad: str) -> None:
        """Print the comments that are left in a stretch of the source, as deep as its last line."""
        if span is not None and last is not None and self.remarks.left:
            self.lines += [pad + text for text in self.remarks.inside(span[1], last[0])]

    def type_vars(self) -> tuple[str, ...]:
        """Names of the shape variables that are declared before the class, if the dialect does
        so.
        """
        if not self.dialect.type_vars:
            return ()
        outside = [v for v in self._bound_shape_vars() if self._is_type_var(v)]
        return tuple(self.names.get(v) or v.name for v in outside)

    def body_vars(self) -> dict[str, tir.Var]:
        """The shape variables that are declared in the body, by their names."""
        if self.dialect.prototype:
            return {}
        inside = [v for v in self._bound_shape_vars() if not self._is_type_var(v)]
        return {self.names.get(v) or v.name: v for v in inside}

    def rename_declared(self, outside: AbstractSet[str]) -> None:
        """Rename the shape variables that the body declares and that have the name of one that is
        declared before the class.
        """
        for name, var in self.body_vars().items():
            if name in outside:
                self.names[var] = self.scope.fresh(name)

    def _bound_shape_vars(self) -> tuple[tir.Var, ...]:
        found = self.scope.shape_vars + self.scope.binders
        if not self.dialect.prim_types:
            return found
        scalars = self.scope.scalars
        return tuple(v for v in found if v not in scalars or scalars[v].shape_var is not v)

    def _is_type_var(self, var: tir.Var) -> bool:
        # What only a cast in the body binds is declared there, in every dialect.
        return self.dialect.type_vars and var in self.scope.signature_vars and var.dtype == INT64

    def _function(self, name: str, node: ast.Function, pad: str, outermost: bool) -> None:
        out, info = self.lines, self.exprs.info
        (above, behind), definition = self.remarks.heads("def ", node.span)
        self._before(node.span, pad)
        out += [f"{pad}{line}" for line in (*above, *node.comments)]
        put(out, f"@R.function{_flags(node)}", pad, ([], behind))
        params = [
            self.exprs.text(p)
            if p.struct_info_annotation is None
            else f"{self.exprs.text(p)}: {info.parameter(p)}"
            for p in node.params
        ]
        ret = " -> None" if node.returns_none else ""
        if node.ret_struct_info is not None:
            ret = f" -> {info.signature(node.ret_struct_info)}"
        head = f"def {name}({', '.join(params)}){ret}:"
        put(out, head, pad, definition)
        inner = pad + _INDENT
        if outermost:
            declared = self.body_vars()
            for key, var in declared.items():
                found = self.remarks.named(f"{var.name} = T.", node.span)
                put(out, f"{key} = {declaration(var, self.dialect)}", inner, found)
        attrs = {
            k: v
            for k, v in node.attrs.items()
            if k != "private" and not (k == "global_symbol" and v == name)
        }
        if attrs:
            found = self.remarks.named("R.func_attr", node.span)
            put(out, f"R.func_attr({self.exprs.value(attrs)})", inner, found)
        if outermost and self.scope.globals and self.module is not None:
            put(out, f"cls = {self.module}", inner, self.remarks.named("cls =", node.span))
        self._return(node.body, inner)

    def _blocks(self, expr: Expr, pad: str) -> Expr:
        """Print the blocks that lead to an expression; it is the result."""
        while isinstance(expr, ast.SeqExpr):
            for block in expr.blocks:
                self._block(block, pad)
            expr = expr.body
        return expr

    def _return(self, body: Expr, pad: str) -> None:
        value = self._blocks(body, pad)
        span = getattr(body, "body_span", None)
        comment = self._behind(value, span)
        self._before(span, pad)
        if isinstance(value, ast.If):
            self._condition(value, pad, comment)
            self._return(value.true_branch, pad + _INDENT)
            put(self.lines, "else:", pad, self.remarks.named("else", value.span))
            self._return(value.false_branch, pad + _INDENT)
        else:
            shown = self._inline(value, pad)
            self.lines.append(f"{pad}return {shown}")
            attach(self.lines, len(self.lines) - 1, comment, pad)
            self._inside(getattr(body, "span", None), span, pad)

    def _behind(self, value: Expr, span: Span | None) -> str | None:
        """Take the comment behind a statement, or behind the head of a branch."""
        if isinstance(value, ast.If):
            return None if value.cond_span is None else self.remarks.line(value.cond_span[0])
        return None if isinstance(value, _BLOCKS) else self.remarks.behind(span)

    def _condition(self, node: ast.If, pad: str, comment: str | None) -> None:
        put(self.lines, f"if {self._inline(node.cond, pad)}:", pad, ([], comment))

    def _inline(self, expr: Expr, pad: str) -> str:
        """The text of an expression; what has none on one line is bound to a variable first."""
        if not isinstance(expr, _BLOCKS):
            return self.exprs.text(expr)
        var = ast.Var("gv")
        self.names[var] = self.scope.fresh.unless_free("gv")
        self._var_binding(ast.VarBinding(var, expr), pad)
        return self.exprs.text(var)

    def _block(self, block: ast.BindingBlock, pad: str) -> None:
        if not isinstance(block, ast.DataflowBlock):
            for binding in block.bindings:
                self._binding(binding, pad)
            return
        head = self.remarks.named("with ", block.span)
        self._before(block.span, pad)
        put(self.lines, "with R.dataflow():", pad, head)
        outputs = []
        for binding in block.bindings:
            self._binding(binding, pad + _INDENT)
            var = binding.var
            alone = isinstance(binding, ast.VarBinding) and self._is_statement(binding)
            if type(var) is ast.Var and not alone:
                outputs.append(self.exprs.text(var))
        last = block.bindings[-1].span if block.bindings else None
        found = self.remarks.named("R.output", block.span)
        self._inside(block.span, last, pad + _INDENT)
        word = "R.outputs" if self.dialect.prototype else "R.output"
        put(self.lines, f"{word}({', '.join(outputs)})", pad + _INDENT, found)

    def _binding(self, binding: ast.Binding, pad: str) -> None:
        span = binding.span
        value = binding.value
        comment = self._behind(value, span)
        self._before(span, pad)
        if isinstance(binding, ast.VarBinding) and isinstance(value, ast.If):
            self._if(binding.var, value, pad, comment)
            return
        at = len(self.lines)
        self._statement(binding, pad)
        attach(self.lines, at, comment, pad)

    def _statement(self, binding: ast.Binding, pad: str) -> None:
        match binding:
            case ast.VarBinding():
                self._var_binding(binding, pad)
            case ast.MatchCast(var=var, value=value, struct_info=info):
                pattern = binding.compared_dims if self.dialect.prototype else None
                if pattern is not None:
                    word, said = "R.match_shape", self.exprs.info.pattern(pattern)
                elif self.dialect.prototype and not compares_shapes(info):
                    word, said = "R.cast", f"type_args={self.exprs.info.body(info)}"
                else:
                    word, said = "R.match_cast", self.exprs.info.body(info)
                match = f"{word}({self._inline(value, pad)}, {said})"
                target = "_" if var is None else self._target(var)
                bare = var is None and pattern is not None
                self.lines.append(f"{pad}{match}" if bare else f"{pad}{target} = {match}")

    def _var_binding(self, binding: ast.VarBinding, pad: str) -> None:
        var, value = binding.var, binding.value
        if isinstance(value, ast.Function):
            self._function(self.exprs.text(var), value, pad, outermost=False)
            self.lines.append("")
        elif isinstance(value, ast.If):
            self._if(var, value, pad, None)
        elif isinstance(value, ast.Call) and self._is_statement(binding):
            self.lines.append(pad + self.exprs.text(value))
        else:
            shown = self._inline(self._blocks(value, pad), pad)
            match var.struct_info_annotation, value:
                case ast.PrimStructInfo(dtype=dtype), ast.PrimValue(value=tir.IntImm() as literal):
                    # A bare literal would be read as of the annotation's type.
                    shown = self.exprs.prim.alone(literal, dtype)
                case _, ast.PrimValue(value=tir.IntImm() as literal) if self.dialect.prim_value:
                    # A bare literal without an annotation is a tensor.
                    shown = self.exprs.prim.alone(literal)
                case ast.ShapeStructInfo(), ast.Tuple(fields=fields):
                    # A bare tuple would be read as a shape.
                    shown = self.exprs.made_tuple(fields)
            self.lines.append(f"{pad}{self._target(var)} = {shown}")

    def _is_statement(self, binding: ast.VarBinding) -> bool:
        var = binding.var
        # `_ = …` stays, because TVM reads a call with a value only if it is bound.
        return (
            binding.span == binding.value_span
            and var.name_hint == "_"
            and var.struct_info_annotation is None
            and var not in self.scope.used
        )

    def _target(self, var: ast.Var) -> str:
        name = self.names.get(var) or var.name_hint
        info = var.struct_info_annotation
        return name if info is None else f"{name}: {self.exprs.info.body(info)}"

    def _if(self, var: ast.Var, node: ast.If, pad: str, comment: str | None) -> None:
        self._condition(node, pad, comment)
        self._branch(var, node.true_branch, pad + _INDENT)
        put(self.lines, "else:", pad, self.remarks.named("else", node.span))
        self._branch(var, node.false_branch, pad + _INDENT)

    def _branch(self, var: ast.Var, branch: Expr, pad: str) -> None:
        """A branch ends by giving its value the name of what the ``if`` binds."""
        value = self._blocks(branch, pad)
        last = getattr(branch, "body_span", None)
        if not (isinstance(value, ast.Var) and self._ends_in(branch, value, var)):
            comment = self.remarks.behind(last)
            self._before(last, pad)
            at = len(self.lines)
            self._var_binding(ast.VarBinding(var, value), pad)
            attach(self.lines, at, comment, pad)
        self._inside(branch.span, last, pad)  # type: ignore[attr-defined]

    def _ends_in(self, branch: Expr, value: ast.Var, var: ast.Var) -> bool:
        """Whether a branch has ended by binding its value under the very name already."""
        if not isinstance(branch, ast.SeqExpr) or not branch.blocks or branch.body is not value:
            return False
        last = branch.blocks[-1]
        if isinstance(last, ast.DataflowBlock):
            bindings: tuple[Any, ...] = last.bindings
            kept = [binding.var for binding in bindings if type(binding.var) is ast.Var]
            bound = kept[-1] if kept else None
        else:
            final: Any = last.bindings[-1] if last.bindings else None
            stays = isinstance(final, ast.MatchCast) or (
                final is not None and final.var.struct_info_annotation is not None
            )
            bound = final.var if stays else None
        if bound is not value or var.struct_info_annotation is not None:
            return False
        return (self.names.get(bound) or bound.name_hint) == (self.names.get(var) or var.name_hint)


def _flags(node: ast.Function) -> str:
    """The arguments of the decorator."""
    flags = ["pure=False"] if node.is_pure is False else []
    if node.attrs.get("private"):
        flags.append("private=True")
    return f"({', '.join(flags)})" if flags else ""


def compares_shapes(info: ast.StructInfo) -> bool:
    """Whether a cast to this annotation compares more than the types of 2022."""
    return any(
        isinstance(part, ast.PrimStructInfo)
        or (isinstance(part, ast.TensorStructInfo) and part.shape is not None)
        or (isinstance(part, ast.ShapeStructInfo) and part.ndim >= 0)
        for part in of_the_value(info)
    )
