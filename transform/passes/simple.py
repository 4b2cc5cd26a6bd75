"""Small passes on bindings: dead code, constants, copies, dataflow blocks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from rlx.checker.memory import IN_PLACE
from rlx.checker.normalize import normalize, normalize_function
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, Expr, IRModule
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import all_same, changed, nodes_in, replace, same
from rlx.grammar.nodes.overloaded import constant
from rlx.grammar.nodes.python_places import MisuseError, described, flag, here, listed, spelt
from rlx.grammar.nodes.rewrite import Rewriter, joined
from rlx.grammar.nodes.visit import (
    bindings,
    called_globals,
    circles,
    evaluated,
    expressions,
    reached_functions,
    result_of,
)
from rlx.operators.registry import lookup
from rlx.semantics.values import ShapeValue, Tensor, TupleValue, Value
from rlx.solver.order import subtype
from rlx.solver.verdict import Proved
from rlx.te.linear import simplified
from rlx.te.scalar import Scalar
from rlx.transform.builder.errors import BuildError
from rlx.transform.builder.states import Signatures, signatures_of
from rlx.transform.certain import FREES, Certainty
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.passes.common_subexpressions import (
    Common,
    may_write,
    overwritable,
    writes,
)
from rlx.transform.passes.dead_code import dead_code
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import callees, uses

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

    @spelt
    def __init__(self, entry_functions: Sequence[str] = (), *, may_fail: bool = False) -> None:
        self._entries = frozenset(listed(entry_functions, "names of functions", str))
        self._may_fail = may_fail

    def apply(self, module: IRModule) -> IRModule:
        """The module without them."""
        names = [gv.name_hint for gv in module.functions]
        for name in self._entries.difference(names):
            words = f"the module has no function {name!r}; it has: {', '.join(names) or 'none'}"
            raise MisuseError(words, here())
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
    live = reached_functions(first, module.relax_functions)
    if not live or all(gv in live for gv in module.functions):
        return module
    return replace(module, functions={g: f for g, f in module.functions.items() if g in live})


def _mentions(module: IRModule) -> dict[ast.GlobalVar, tuple[ast.GlobalVar, ...]]:
    """The functions that each function of a module calls or passes as values."""
    return {
        gv: called_globals(f) if isinstance(f, ast.Function) else ()
        for gv, f in module.functions.items()
    }


class FoldConstant(ModulePass):
    """Replace pure calls on constants by what the evaluator computes, up to
    :data:`LARGEST_CONSTANT` elements, and remove what is then unused; calls that fail are left.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with constants in place of calls."""
        normal = normalize(module)
        try:
            made = _FoldConstants(normal, shapes=True)(normal)
        except BuildError:
            # A shape shows that a call with it fails, which is no error until it runs.
            made = _FoldConstants(normal, shapes=False)(normal)
        return dead_code(module if made is normal else made)


class _FoldConstants(ExprMutator):
    def __init__(self, module: IRModule, shapes: bool) -> None:
        self._module = module
        self._shapes = shapes
        self._names: dict[Expr, Expr] = {}
        self._tuples: dict[Expr, ast.Tuple] = {}
        self._overwritable = overwritable(module)
        # TVM has one tensor for all equal constants, in all calls of a function.
        called = (callee for callee in callees(module) if isinstance(callee, ast.Op))
        in_place = any(callee.op_name in IN_PLACE for callee in called)
        self._stay = self._overwritable if in_place else set()

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value, found = binding.value, None
        if isinstance(value, ast.Call) and binding.var not in self._stay:
            found = self._folded(self.visit_expr(value))
        if found is None:
            super().visit_var_binding(binding)
        else:
            var = self._names[binding.var] = self.rebind(binding, found)
            if binding.var in self._overwritable:
                return
            if isinstance(found, ast.Tuple):
                self._tuples[var] = found
            else:
                self.replace_var(binding.var, found)

    def visit_tuple_get_item(self, expr: ast.TupleGetItem) -> Expr:
        """A field of a tuple that folding made is the constant."""
        made = super().visit_tuple_get_item(expr)
        known = self._tuples.get(made.tuple_value) if isinstance(made, ast.TupleGetItem) else None
        return made if known is None else known.fields[expr.index]

    def visit_call(self, call: ast.Call) -> Expr:
        """A call with constants as operands, but not where the rule of an operator reads the
        expression: a mark may need a name.
        """
        operator, made = lookup(call.op_name), super().visit_call(call)
        if made is call or operator is None or not isinstance(made, ast.Call):
            return made
        is_hidden = operator.name == "relax.tensor_to_shape" and not self._shapes
        named = [
            self._names.get(old, new) if parameter.kind == "expr" or is_hidden else new
            for parameter, old, new in zip(operator.parameters, call.args, made.args, strict=False)
        ]
        return changed(made, args=same(made.args, [*named, *made.args[len(named) :]]))

    def _folded(self, value: Expr) -> Expr | None:
        operator = lookup(value.op_name) if isinstance(value, ast.Call) else None
        if operator is None or not operator.pure or not isinstance(value, ast.Call):
            return None
        if operator.name == "relax.shape_of":
            info = self.builder.struct_info(value)
            dims = info.values if isinstance(info, ast.ShapeStructInfo) else None
            return None if dims is None else self._constant(ast.ShapeExpr(dims))
        args = tuple(self._constant(arg) for arg in value.args)
        if None in args or any(isinstance(a, Expr) for a in value.attrs.values()):
            return None
        size = _elements(self.builder.struct_info(value))
        if size is None or size > LARGEST_CONSTANT:
            return None
        return self._evaluated(replace(value, args=args))

    def _constant(self, expr: Expr) -> Expr | None:
        """An argument as a constant; None if it is none."""
        if isinstance(expr, ast.Var):
            bound = None if expr in self._overwritable else self.lookup_binding(expr)
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
        from rlx.semantics.machine import load
        from rlx.semantics.outcome import Returned

        head = ast.Function((), call, attrs={"global_symbol": "folded"})
        alone = IRModule(
            {**self._module.prim_funcs, ast.GlobalVar("folded"): normalize_function(head)}
        )
        outcome = load(alone, backend="steps").run("folded", [], fuel=1000)
        return self._written(outcome.value) if isinstance(outcome, Returned) else None

    def _written(self, value: Value) -> Expr | None:
        """A value as an expression; None if it has no text."""
        import numpy as np

        match value:
            case Tensor(data=data):
                return constant(data, self.place) if np.all(np.isfinite(data)) else None
            case TupleValue(fields=fields):
                made = [self._written(each) for each in fields]
                return None if None in made else ast.Tuple(tuple(filter(None, made)))
            case ShapeValue(values=values) if self._shapes:
                return ast.ShapeExpr(tuple(map(tir.IntImm, values)))
        return None


def _elements(info: ast.StructInfo) -> int | None:
    """The number of elements of a value of known size; None for another one."""
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
            known = [dim.value for dim in dims if isinstance(dim, tir.IntImm)]
            return math.prod(known) if len(known) == len(dims) else None
        case ast.TupleStructInfo(fields=fields):
            sizes = [_elements(each) for each in fields]
            return None if None in sizes else sum(filter(None, sizes))
        case ast.ShapeStructInfo():
            return 0
    return None


class EliminateCommonSubexpr(ModulePass):
    """Compute equal pure values once; a variable of an equal value becomes a copy, which
    :class:`CanonicalizeBindings` removes. See :func:`rlx.transform.common_subexpressions`.

    Parameters
    ----------
    call_only
        Whether tuples, their fields, and casts stay.
    """

    @spelt
    def __init__(self, call_only: bool = False) -> None:
        self._call_only = flag(call_only, "call_only")

    def apply(self, module: IRModule) -> IRModule:
        """The module with each value computed once."""
        return module if writes(module) else Common(copies=True, calls=self._call_only)(module)


class CanonicalizeBindings(ModulePass):
    """Remove copies of variables, casts that say nothing new, fields of tuples that are known,
    and tuples of all fields of another one. Shape variables of casts become the known dimensions,
    constants stand where they are used, and variables of dataflow blocks that are not used
    behind them become local.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module without them. A program that frees memory stays: a copy may outlive the name
        that is freed.
        """
        normal = normalize(module)
        relax = normal.relax_functions.values()
        every = [b for f in relax for b in bindings(f)]
        called = {b.value.op for b in every if type(b.value) is ast.Call}
        if any(isinstance(c, ast.Op) and c.op_name.startswith(FREES) for c in called):
            return module
        kind = (
            _KnownSizes
            if any(type(b) is ast.MatchCast and b.shape_vars for b in every)
            else _Canonical
        )
        overwrites, goes_on = any(map(may_write, called)), True
        while goes_on:
            over = overwritable(normalize(module)) if overwrites else ()
            module, goes_on = kind(over)(module), False
            functions = dict(module.functions)
            for gv, f in module.relax_functions.items():
                if local := _local(f):
                    inside = _Localized(local)
                    functions[gv] = inside.function(f)
                    goes_on |= inside.copies
            if any(functions[gv] is not f for gv, f in module.functions.items()):
                module = replace(module, functions=functions)
        return module


_COPIES = (ast.Var, ast.DataflowVar, ast.TupleGetItem, ast.Tuple)
"""The values of which a binding is only another name."""


class _Canonical(ExprMutator):
    strengthens = True

    def __init__(self, overwritable: Collection[ast.Var] = ()) -> None:
        self._overwritable = overwritable

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self._outputs: dict[ast.Var, ast.Var] = {}
        self._dims: dict[tir.Var, tir.PrimExpr] = {}
        super().visit_global_function(gv, function)

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        """A local variable whose copy leaves the block gets the copy's name."""
        bound = {b.var: b.value for b in block.bindings if isinstance(b, ast.VarBinding)}
        for b in block.bindings:
            if not isinstance(b, ast.VarBinding) or type(b.var) is not ast.Var:
                continue
            first = _source(b.value, bound)
            if type(first) is ast.DataflowVar and first in bound and _alike(first, b.var):
                self._outputs.setdefault(first, b.var)
        super().visit_dataflow_block(block)

    def visit_binding(self, binding: ast.Binding) -> None:
        var = binding.var
        output = None if var is None else self._outputs.get(var)
        if var is not None and output is not None:
            named = self.visit_var_def(output)  # a dimension of it may be known by now
            self.replace_var(var, named)
            binding = replace(binding, var=named)
        super().visit_binding(binding)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        if isinstance(value, ast.Var | ast.TupleGetItem | ast.Tuple):
            made = self._same_value(self.visit_expr(value))
            if made is binding.var:
                return
            local = type(binding.var) is ast.DataflowVar or type(made) is not ast.DataflowVar
            constant = isinstance(made, ast.Constant) and isinstance(value, ast.Var)
            constant = constant and binding.var not in self._overwritable
            copied = isinstance(made, ast.Var) or constant
            if local and copied and self._says_all(made, binding.var):
                self.replace_var(binding.var, made)
                return
            if not self._overwritable:
                value = made  # a field that is a constant, too
        super().visit_var_binding(binding)
        constant = isinstance(value, ast.Constant) and binding.var not in self._overwritable
        if constant and (value is binding.value or self._says_all(value, binding.var)):
            self.replace_var(binding.var, value)

    def _same_value(self, expr: Expr) -> Expr:
        """A variable that holds the value of a field or of a tuple, if there is one."""
        if isinstance(expr, ast.TupleGetItem):
            fields = self._fields(expr.tuple_value)
            return expr if fields is None else fields[expr.index]
        if isinstance(expr, ast.Tuple) and expr.fields:
            parts = [self.lookup_binding(f) if isinstance(f, ast.Var) else f for f in expr.fields]
            wholes = {
                part.tuple_value
                for index, part in enumerate(parts)
                if isinstance(part, ast.TupleGetItem) and part.index == index
            }
            if len(wholes) == 1 and all(isinstance(part, ast.TupleGetItem) for part in parts):
                (whole,) = wholes
                info = self.builder.struct_info(whole)
                every = [p.index for p in parts if isinstance(p, ast.TupleGetItem)]
                if isinstance(info, ast.TupleStructInfo) and every == [*range(len(info.fields))]:
                    return whole
        return expr

    def _fields(self, expr: Expr) -> tuple[Expr, ...] | None:
        """The fields of a tuple, if they are known."""
        if isinstance(expr, ast.Var):
            bound = self.lookup_binding(expr)
            return None if bound is None else self._fields(bound)
        if isinstance(expr, ast.TupleGetItem):
            found = self._same_value(expr)
            return None if found is expr else self._fields(found)
        return expr.fields if isinstance(expr, ast.Tuple) else None

    def visit_match_cast(self, binding: ast.MatchCast) -> None:
        made = self.visit_expr(binding.value)
        info = self.builder.struct_info(made)
        known = self._frame.walk.shape_vars  # those of a derived shape may have no name
        for size, dim in _determined(binding.struct_info, info):
            if size in binding.shape_vars and known.issuperset(tir.free_vars(dim)):
                self._dims.setdefault(size, self.visit_prim_expr(dim))
        if isinstance(made, ast.Var):
            var = binding.var
            target = self.visit_struct_info(binding.struct_info)
            local = type(var) is ast.DataflowVar or type(made) is not ast.DataflowVar
            if (local or var is None) and structural_equal(info, target):
                if var is None:
                    return
                said = made.struct_info_annotation
                # A cast before this one may say it, but the type of the variable itself does not.
                if said is None or structural_equal(self.visit_struct_info(said), target):
                    self.replace_var(var, made)
                    return
        left = same(binding.shape_vars, [v for v in binding.shape_vars if v not in self._dims])
        super().visit_match_cast(changed(binding, shape_vars=left))

    def _says_all(self, made: Expr, var: ast.Var) -> bool:
        """Whether a copy says nothing that is not known of its value."""
        annotation = var.struct_info_annotation
        if var.shape_var is not None:
            return False  # a dimension may be its name
        if annotation is None:
            return True
        known = made.struct_info_annotation if isinstance(made, ast.Var) else None
        if known is not None and structural_equal(known, annotation):
            return True
        info, said = self.builder.struct_info(made), self.visit_struct_info(annotation)
        return structural_equal(info, said) or isinstance(
            subtype(info, said, self.builder.prover), Proved
        )


def _source(value: Expr, bound: Mapping[ast.Var, Expr]) -> Expr:
    """The first name, in a block, of a copy or of a field of a known tuple."""
    while True:
        found: Expr | None = None
        if isinstance(value, ast.TupleGetItem):
            whole = bound.get(_source(value.tuple_value, bound))  # type: ignore[call-overload]
            found = whole.fields[value.index] if isinstance(whole, ast.Tuple) else None
        elif isinstance(value, ast.Var):
            found = bound.get(value)
            if isinstance(found, ast.TupleGetItem):
                known = _source(found, bound)
                found = None if known is found else known
            elif type(found) is not ast.DataflowVar:
                found = None
        if found is None:
            return value
        value = found


class _KnownSizes(_Canonical):
    """Also puts known dimensions in place of the shape variables of casts."""

    def visit_prim_expr(self, value: tir.PrimExpr) -> tir.PrimExpr:
        found = tir.substitute(value, self._dims) if self._dims else value
        return value if found is value else simplified(Scalar(found, tir.type_of(found))).node

    def visit_var(self, var: ast.Var) -> Expr:
        dim = None if var.shape_var is None else self._dims.get(var.shape_var)
        return super().visit_var(var) if dim is None else ast.PrimValue(dim)


def _determined(
    target: ast.StructInfo, info: ast.StructInfo
) -> Iterator[tuple[tir.Var, tir.PrimExpr]]:
    """The variables that are dimensions of a cast's target, with the known dimensions there."""
    match target, info:
        case (
            ast.TensorStructInfo(shape=ast.ShapeExpr(values=wanted)),
            ast.TensorStructInfo(shape=ast.ShapeExpr(values=known)),
        ) | (ast.ShapeStructInfo(values=tuple(wanted)), ast.ShapeStructInfo(values=tuple(known))):
            if len(wanted) == len(known):
                pairs = zip(wanted, known, strict=True)
                yield from ((one, two) for one, two in pairs if isinstance(one, tir.Var))
        case ast.TupleStructInfo(fields=parts), ast.TupleStructInfo(fields=others):
            for one, other in zip(parts, others, strict=False):
                yield from _determined(one, other)


def _alike(one: ast.Var, other: ast.Var) -> bool:
    """Whether two variables of one value say the same of it."""
    a, b = one.struct_info_annotation, other.struct_info_annotation
    same = a is b or (a is not None and b is not None and structural_equal(a, b))
    return same and one.shape_var is None and other.shape_var is None


class ConvertToDataflow(ModulePass):
    """Put pure bindings that follow each other into dataflow blocks; then
    :class:`CanonicalizeBindings`, as in TVM.

    Parameters
    ----------
    min_size
        The smallest number of bindings for a new block.
    """

    @spelt
    def __init__(self, min_size: int = 2) -> None:
        if not isinstance(min_size, int):
            raise MisuseError(f"expected a number of bindings, found {described(min_size)}", here())
        self._least = min_size

    def apply(self, module: IRModule) -> IRModule:
        """The module with these blocks."""
        normal = normalize(module)
        circle, around = circles(_mentions(normal)), signatures_of(normal)
        made = normal.map_relax_functions(
            lambda gv, f: _Dataflow(f, around, self._least, circle[gv]).function(f)
        )
        return CanonicalizeBindings().apply(module if made is normal else made)


def _local(function: ast.Function) -> set[ast.Var]:
    """The variables that leave a dataflow block, and are used nowhere but in it."""
    if _gives_all(function.body):
        return set()
    every, found = uses(function), set()
    for block in evaluated(function, ast.DataflowBlock):
        names = [b.var for b in block.bindings]
        inside = dict.fromkeys((var for var in names if type(var) is ast.Var), 0)
        for binding in block.bindings if inside else ():
            value = binding.value
            for var in _flat(value) or evaluated(value, ast.Var):
                if var in inside:
                    inside[var] += 1
        found |= {var for var, count in inside.items() if count >= every[var]}
    return found


def _gives_all(body: Expr) -> bool:
    """Whether all that leaves the dataflow blocks of a flat body is part of its result."""
    outputs: set[Expr | None] = set()
    for block in body.blocks if isinstance(body, ast.SeqExpr) else ():
        for binding in block.bindings:
            if isinstance(binding.value, _WITH_BLOCKS):
                return False
            if type(block) is ast.DataflowBlock and type(binding.var) is not ast.DataflowVar:
                outputs.add(binding.var)
    return outputs.issubset(expressions(result_of(body)[0]))


_WITH_BLOCKS = (ast.If, ast.Function, ast.SeqExpr)


_LEAVES = frozenset([ast.Var, ast.DataflowVar, ast.Constant])


def _flat(value: Expr) -> Sequence[Expr] | None:
    """The parts of an operator call on variables and constants, of a field of a variable, or of a
    copy; None for other values.
    """
    if type(value) is ast.Call:
        if type(value.op) is not ast.Op or value.sinfo_args or nodes_in(value.attrs):
            return None
        parts = value.args
    else:
        parts = (value.tuple_value if type(value) is ast.TupleGetItem else value,)
    return parts if _LEAVES.issuperset(map(type, parts)) else None


class _Localized(Rewriter):
    def __init__(self, local: AbstractSet[Expr]) -> None:
        super().__init__()
        self._local = local
        self.copies = False
        """Whether a variable that became local is a copy, which may go now."""

    def binding(self, binding: Binding) -> tuple[Binding, ...]:
        """A binding; most do not mention these variables, which is seen at once."""
        value = binding.value
        if binding.var in self._local:
            self.copies |= type(binding) is ast.MatchCast or type(value) in _COPIES
        parts = _flat(value)
        if parts is None or type(binding) is not ast.VarBinding:
            return super().binding(binding)
        if not self.renamed.keys().isdisjoint(parts):
            value = self._renamed(value)
        return (changed(binding, var=self.define(binding.var), value=value),)

    def _renamed(self, flat: Expr) -> Expr:
        """A flat value with the local variables."""
        if type(flat) is ast.Call:
            return replace(flat, args=tuple([self.renamed.get(a, a) for a in flat.args]))  # type: ignore[call-overload]
        return self.expr(flat)

    def define(self, var: ast.Var) -> ast.Var:
        """A variable of a dataflow block in place of one that is used only there."""
        if var not in self._local:
            return super().define(var)
        info = var.struct_info_annotation
        made = ast.DataflowVar(var.name_hint, info, var.annotation_span, var.span)
        self.renamed[var] = made
        return made


class _Dataflow(Rewriter):
    def __init__(
        self,
        function: ast.Function,
        around: Signatures,
        least: int,
        circle: Collection[ast.GlobalVar],
    ) -> None:
        super().__init__()
        self._circle = circle
        self._certain, self._least = Certainty(function, around), least
        self._params: set[ast.Var] = set()

    def function(self, function: ast.Function) -> ast.Function:
        self._params.update(function.params)
        return super().function(function)

    def binding(self, binding: Binding) -> tuple[Binding, ...]:
        """A binding; only what has blocks of its own may change."""
        if isinstance(binding.value, _WITH_BLOCKS):
            return super().binding(binding)
        return (binding,)

    def sequence(self, seq: ast.SeqExpr) -> Expr:
        blocks = self._joined(seq.blocks)
        if blocks is None:
            return super().sequence(seq)
        made = super().sequence(changed(seq, blocks=blocks))
        assert isinstance(made, ast.SeqExpr)
        return changed(made, blocks=joined(made.blocks))

    def _joined(self, given: Sequence[ast.BindingBlock]) -> tuple[ast.BindingBlock, ...] | None:
        """The blocks with pure bindings in dataflow blocks, those of a neighbouring one in the same;
        None if they stay.
        """
        runs: list[tuple[bool, list[Binding], set[ast.BindingBlock]]] = []
        for block in given:
            for binding in block.bindings:
                pure = isinstance(block, ast.DataflowBlock) or self._is_pure(binding)
                if not runs or runs[-1][0] is not pure:
                    runs.append((pure, [], set()))
                runs[-1][1].append(binding)
                runs[-1][2].add(block)
        made: list[ast.BindingBlock] = []
        for pure, run, sources in runs:
            span = next(iter(sources)).span
            first = any(isinstance(block, ast.DataflowBlock) for block in sources)
            kind = ast.DataflowBlock if pure and (first or len(run) >= self._least) else None
            made.append((kind or ast.BindingBlock)(tuple(run), span))
        whole = joined(tuple(made))
        alike = len(whole) == len(given) and all(
            type(a) is type(b) and all_same(a.bindings, b.bindings)
            for a, b in zip(whole, given, strict=True)
        )
        return None if alike else whole

    def _is_pure(self, binding: Binding) -> bool:
        value = binding.value
        if isinstance(value, _WITH_BLOCKS):
            return False
        var = binding.var
        if var is not None and var.shape_var is not None:
            return False
        if _flat(value) is None and any(
            isinstance(e, ast.GlobalVar) and e in self._circle for e in expressions(value)
        ):
            return False  # a dataflow block contains no recursion
        callee = value.op if isinstance(value, ast.Call) else None
        if isinstance(callee, ast.Var) and callee not in self._params:
            return False  # it may be the local function around it
        return self._certain.is_pure(value)
