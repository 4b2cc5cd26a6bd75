"""Small passes on bindings: dead code, constants, copies, dataflow blocks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.checker.normalize import normalize, normalize_function
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, Expr, IRModule
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import changed, replace
from rlx.grammar.nodes.overloaded import constant
from rlx.grammar.nodes.rewrite import Rewriter, joined
from rlx.grammar.nodes.visit import called_globals, expressions, reached
from rlx.operators.registry import lookup
from rlx.transform.certain import Certainty
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.passes.common_subexpressions import common_subexpressions
from rlx.transform.passes.dead_code import dead_code
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import uses

LARGEST_CONSTANT = 1 << 16
"""The largest number of elements of a constant that folding makes."""


class DeadCodeElimination(ModulePass):
    """Remove unused bindings that cannot fail, and functions that no public function reaches.

    Parameters
    ----------
    entry_functions
        The names of further functions to keep.
    may_fail
        Whether unused pure bindings that may fail go, too.
    """

    def __init__(self, entry_functions: Sequence[str] = (), *, may_fail: bool = False) -> None:
        self._entries, self._may_fail = frozenset(entry_functions), may_fail

    def apply(self, module: IRModule) -> IRModule:
        """The module without them."""
        made = dead_code(module, may_fail=self._may_fail)
        first = [
            gv
            for gv, f in made.functions.items()
            if gv.name_hint in self._entries or "private" not in f.attrs
        ]
        return without_unreached(made, first)


def without_unreached(module: IRModule, first: Sequence[ast.GlobalVar]) -> IRModule:
    """A module without the functions that none of these reach; the module itself if there is
    none of these.
    """
    mentions = {
        gv: called_globals(f) if isinstance(f, ast.Function) else ()
        for gv, f in module.functions.items()
    }
    live = reached(first, lambda gv: mentions.get(gv, ()))
    if not live or all(gv in live for gv in module.functions):
        return module
    return replace(module, functions={g: f for g, f in module.functions.items() if g in live})


class FoldConstant(ModulePass):
    """Replace pure calls on constants by what the evaluator computes, up to
    :data:`LARGEST_CONSTANT` elements; calls that fail are left.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with constants in place of calls."""
        return _FoldConstants(module)(module)


class _FoldConstants(ExprMutator):
    def __init__(self, module: IRModule) -> None:
        self._module = module

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        found = self._folded(self.visit_expr(value)) if isinstance(value, ast.Call) else None
        if found is None:
            super().visit_var_binding(binding)
        else:
            var = self.rebind(binding, found)
            if type(var) is ast.DataflowVar:
                self.replace_var(binding.var, found)

    def _folded(self, value: Expr) -> Expr | None:
        operator = lookup(value.op_name) if isinstance(value, ast.Call) else None
        if operator is None or not operator.pure or not isinstance(value, ast.Call):
            return None
        args = tuple(self._constant(arg) for arg in value.args)
        if not any(isinstance(e, ast.Constant) for arg in args if arg for e in expressions(arg)):
            return None
        if any(arg is None for arg in args) or any(
            isinstance(a, Expr) for a in value.attrs.values()
        ):
            return None
        info = self.builder.struct_info(value)
        shape = info.shape if isinstance(info, ast.TensorStructInfo) else None
        if not isinstance(shape, ast.ShapeExpr):
            return None
        count = 1
        for dim in shape.values:
            if not isinstance(dim, tir.IntImm):
                return None
            count *= dim.value
        return self._evaluated(replace(value, args=args)) if count <= LARGEST_CONSTANT else None

    def _constant(self, expr: Expr) -> Expr | None:
        """An argument as a constant; None if it is none."""
        if isinstance(expr, ast.Var):
            bound = self.lookup_binding(expr)
            return None if bound is None else self._constant(bound)
        if isinstance(expr, ast.Tuple):
            fields = [self._constant(field) for field in expr.fields]
            return None if None in fields else replace(expr, fields=tuple(fields))
        if isinstance(expr, ast.ShapeExpr):
            return expr if all(isinstance(dim, tir.IntImm) for dim in expr.values) else None
        if isinstance(expr, ast.PrimValue):
            return expr if isinstance(expr.value, tir.IntImm | tir.FloatImm) else None
        kinds = (ast.Constant, ast.GlobalVar, ast.StringImm, ast.DataTypeImm)
        return expr if isinstance(expr, kinds) else None

    def _evaluated(self, call: ast.Call) -> Expr | None:
        import numpy as np

        from rlx.semantics.machine import load
        from rlx.semantics.outcome import Returned

        head = ast.Function((), call, attrs={"global_symbol": "folded"})
        kernels = {gv: f for gv, f in self._module.functions.items() if isinstance(f, tir.PrimFunc)}
        alone = IRModule({**kernels, ast.GlobalVar("folded"): normalize_function(head)})
        outcome = load(alone, backend="steps").run("folded", [], fuel=1000)
        found = outcome.numpy() if isinstance(outcome, Returned) else None
        if not isinstance(found, np.ndarray) or not np.all(np.isfinite(found)):
            return None
        return constant(found, self.place)


class EliminateCommonSubexpr(ModulePass):
    """Compute equal pure values once; see
    :func:`rlx.transform.common_subexpressions`.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with each value computed once."""
        return common_subexpressions(module)


class CanonicalizeBindings(ModulePass):
    """Remove copies of variables, casts that say nothing new, and fields of tuples that are known."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without them."""
        return _Canonical()(module)


class _Canonical(ExprMutator):
    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self._outputs: dict[ast.Var, ast.Var] = {}
        super().visit_global_function(gv, function)

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        """A local variable whose copy leaves the block gets the copy's name."""
        bound = {b.var: b.value for b in block.bindings if isinstance(b, ast.VarBinding)}
        for b in block.bindings:
            if not isinstance(b, ast.VarBinding) or type(b.var) is not ast.Var:
                continue
            first = b.value
            while type(following := bound.get(first)) is ast.DataflowVar:  # type: ignore[call-overload]
                first = following
            if type(first) is ast.DataflowVar and first in bound and _alike(first, b.var):
                self._outputs.setdefault(first, b.var)
        super().visit_dataflow_block(block)

    def visit_dataflow_var_def(self, var: ast.DataflowVar) -> ast.Var:
        output = self._outputs.get(var)
        if output is None:
            return super().visit_dataflow_var_def(var)
        self.replace_var(var, output)
        return output

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        if isinstance(value, ast.Var):
            made = self.visit_expr(value)
            if made is binding.var:
                return
            local = type(binding.var) is ast.DataflowVar or type(made) is not ast.DataflowVar
            if local and self._same(made, binding.var):
                self.replace_var(binding.var, made)
                return
        if isinstance(value, ast.TupleGetItem):
            whole = self.visit_expr(value.tuple_value)
            bound = self.lookup_binding(whole) if isinstance(whole, ast.Var) else whole
            if isinstance(bound, ast.Tuple):
                made = bound.fields[value.index]
                local = type(binding.var) is ast.DataflowVar or type(made) is not ast.DataflowVar
                if local and isinstance(made, ast.Var) and self._same(made, binding.var):
                    self.replace_var(binding.var, made)
                    return
        super().visit_var_binding(binding)

    def visit_match_cast(self, binding: ast.MatchCast) -> None:
        made = self.visit_expr(binding.value)
        if not binding.shape_vars and isinstance(made, ast.Var) and binding.var is not None:
            target = self.visit_struct_info(binding.struct_info)
            local = type(binding.var) is ast.DataflowVar or type(made) is not ast.DataflowVar
            if local and structural_equal(self.builder.struct_info(made), target):
                self.replace_var(binding.var, made)
                return
        super().visit_match_cast(binding)

    def _same(self, made: Expr, var: ast.Var) -> bool:
        """Whether a copy says nothing else of its value."""
        said = var.struct_info_annotation
        if var.shape_var is not None:
            return False  # a dimension may be its name
        return said is None or structural_equal(self.builder.struct_info(made), said)


def _alike(one: ast.Var, other: ast.Var) -> bool:
    """Whether two variables of one value say the same of it."""
    a, b = one.struct_info_annotation, other.struct_info_annotation
    same = a is b or (a is not None and b is not None and structural_equal(a, b))
    return same and one.shape_var is None and other.shape_var is None


class ConvertToDataflow(ModulePass):
    """Put pure bindings that follow each other into dataflow blocks.

    Parameters
    ----------
    min_size
        The smallest number of bindings for a new block.
    """

    def __init__(self, min_size: int = 2) -> None:
        self._least = min_size

    def apply(self, module: IRModule) -> IRModule:
        """The module with these blocks."""
        normal = normalize(module)

        def callees(gv: ast.GlobalVar) -> tuple[ast.GlobalVar, ...]:
            f = normal.functions.get(gv)
            return called_globals(f) if isinstance(f, ast.Function) else ()

        functions = dict(normal.functions)
        for gv, f in normal.functions.items():
            if isinstance(f, ast.Function):
                circle = {g for g in normal.functions if gv in reached([g], callees)}
                functions[gv] = _Dataflow(f, normal, self._least, circle).function(f)
        if all(functions[gv] is f for gv, f in normal.functions.items()):
            return module
        return replace(normal, functions=functions)


class _Dataflow(Rewriter):
    def __init__(
        self,
        function: ast.Function,
        module: IRModule,
        least: int,
        circle: Collection[ast.GlobalVar],
    ) -> None:
        super().__init__()
        self._circle = circle
        self._certain, self._least = Certainty(function, module), least
        self._uses = uses(function)

    def sequence(self, seq: ast.SeqExpr) -> Expr:
        blocks: list[ast.BindingBlock] = []
        for block in seq.blocks:
            blocks += [block] if isinstance(block, ast.DataflowBlock) else self._split(block)
        if blocks == list(seq.blocks):
            return super().sequence(seq)
        made = super().sequence(changed(seq, blocks=tuple(blocks)))
        assert isinstance(made, ast.SeqExpr)
        return changed(made, blocks=joined(made.blocks))

    def _split(self, block: ast.BindingBlock) -> list[ast.BindingBlock]:
        runs: list[tuple[bool, list[Binding]]] = []
        for binding in block.bindings:
            pure = self._is_pure(binding)
            if not runs or runs[-1][0] is not pure:
                runs.append((pure, []))
            runs[-1][1].append(binding)
        made: list[ast.BindingBlock] = []
        for pure, run in runs:
            if pure and len(run) >= self._least:
                made.append(ast.DataflowBlock(tuple(self._local(run)), block.span))
            else:
                made.append(ast.BindingBlock(tuple(run), block.span))
        return [block] if len(made) == 1 and type(made[0]) is ast.BindingBlock else made

    def _is_pure(self, binding: Binding) -> bool:
        value: Expr = binding.value  # type: ignore[attr-defined]
        if isinstance(value, ast.If | ast.SeqExpr | ast.Function):
            return False
        var = binding.var  # type: ignore[attr-defined]
        if var is not None and var.shape_var is not None:
            return False
        if any(isinstance(e, ast.GlobalVar) and e in self._circle for e in expressions(value)):
            return False  # a dataflow block contains no recursion
        if isinstance(value, ast.Call) and isinstance(value.op, ast.Var):
            return False  # it may be the local function around it
        return self._certain.is_pure(value)

    def _local(self, run: Sequence[Binding]) -> Sequence[Binding]:
        """The bindings of a run; variables that only the run uses are local to it."""
        inside: dict[ast.Var, int] = {}
        for binding in run:
            for each in expressions(binding):
                if isinstance(each, ast.Var):
                    inside[each] = inside.get(each, 0) + 1
        made: list[Binding] = []
        for binding in run:
            var = binding.var  # type: ignore[attr-defined]
            if var is None or type(var) is not ast.Var or inside.get(var, 0) < self._uses[var]:
                made.append(binding)
                continue
            info = var.struct_info_annotation
            local = ast.DataflowVar(var.name_hint, info, var.annotation_span, var.span)
            self.renamed[var] = local
            made.append(replace(binding, var=local))
        return made
