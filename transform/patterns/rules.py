"""Rewrite rules: a pattern with a function, or two Relax functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rlx.checker.derive.naming import signature
from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.python_places import MisuseError, callable_of, described, here, module_of
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import bindings
from rlx.operators.registry import lookup
from rlx.solver.order import bind, free_shape_vars, substitute, substitute_prim, subtype
from rlx.transform.arguments import argument, operands
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.builder.given import ARGUMENTS
from rlx.transform.patterns.attempt import Match
from rlx.transform.patterns.context import PatternContext
from rlx.transform.patterns.expressions import (
    CallPattern,
    ExprPattern,
    ExternFuncPattern,
    GlobalVarPattern,
    OpPattern,
    PrimArrPattern,
    TupleGetItemPattern,
    TuplePattern,
    wildcard,
)
from rlx.transform.patterns.pattern import Pattern
from rlx.transform.patterns.rewriting import replacing, settled
from rlx.transform.patterns.together import TogetherRewriter

Rewriting = TypeVar("Rewriting", IRModule, ast.Function)


class PatternMatchingRewriter:
    """A rewrite rule, which is called with a module or a function.

    Make one with :meth:`from_pattern` or :meth:`from_module`. ``first | second`` applies both rules.
    """

    def __init__(self, rewriters: Sequence[Callable[[IRModule], IRModule]]) -> None:
        if not isinstance(rewriters, list | tuple):
            raise MisuseError("make a rule with from_pattern(…) or from_module(…)", here())
        self._rewriters = tuple(rewriters)

    @staticmethod
    def from_pattern(
        pattern: Pattern, func: Callable[[Expr, Match], Expr | None]
    ) -> PatternMatchingRewriter:
        """The rule of :func:`rewrite_call` with this pattern and this function."""
        asked = callable_of(func, "an expression and a match", 2)
        return PatternMatchingRewriter(
            [replacing(pattern, lambda match: asked(match.value, match))]
        )

    @staticmethod
    def from_module(mod: IRModule) -> FunctionRule:
        """The rule that replaces what the function ``pattern`` of a module computes by what its
        function ``replacement`` computes.

        Both have the same parameters. A parameter matches any value of its annotation, and a shape
        variable any dimension. A function that returns a tuple replaces several values at once.

        Raises
        ------
        MisuseError
            If the module does not have these functions, their parameters differ, or `pattern` has
            branches, casts or local functions.
        """
        return FunctionRule(mod)

    def __call__(self, subject: Rewriting) -> Rewriting:
        """The module or function with all matches replaced, as :func:`rewrite_call` does it.

        Raises
        ------
        BuildError
            If a new value violates a rule.
        """
        return settled(subject, self._rewriters)

    def __or__(self, other: PatternMatchingRewriter) -> PatternMatchingRewriter:
        """This rule and the other one, until none of them matches."""
        if not isinstance(other, PatternMatchingRewriter):
            raise MisuseError(f"expected another rule, found {described(other)}", here())
        return PatternMatchingRewriter((*self._rewriters, *other._rewriters))


class FunctionRule(PatternMatchingRewriter):
    """A rewrite rule given as two Relax functions.

    Attributes
    ----------
    before, after
        The two functions as modules with one function ``main`` each: ``rlx.refines(rule.before,
        rule.after)`` decides whether the rule keeps the meaning of programs.
    """

    def __init__(self, module: IRModule) -> None:
        place, module = here(), module_of(module)
        functions = {gv.name_hint: f for gv, f in module.functions.items()}
        found = [functions.get(name) for name in ("pattern", "replacement")]
        pattern, replacement = found
        if not isinstance(pattern, ast.Function) or not isinstance(replacement, ast.Function):
            raise MisuseError("expected the Relax functions 'pattern' and 'replacement'", place)
        if not structural_equal(signature(pattern, OBJECT), signature(replacement, OBJECT)):
            raise MisuseError("'pattern' and 'replacement' have different parameters", place)
        self._helpers = {gv: f for gv, f in module.functions.items() if f not in found}
        self.before, self.after = _alone(pattern, module), _alone(replacement, module)
        self._read = _FunctionPatterns(normalize_function(pattern))
        self._replacement = normalize_function(replacement)
        super().__init__([self._rewritten])

    def _rewritten(self, module: IRModule) -> IRModule:
        from rlx.transform.passes.simple import without_unreached

        helpers = {gv: f for gv, f in self._helpers.items() if gv not in module.functions}
        if not helpers:
            return self._applied(module)
        for name in {gv.name_hint for gv in module.functions} & {g.name_hint for g in helpers}:
            raise MisuseError(f"the module and the rule have a function {name!r} each", here())
        whole = replace(module, functions={**module.functions, **helpers})
        made = self._applied(whole)
        return module if made is whole else without_unreached(made, tuple(module.functions))

    def _applied(self, module: IRModule) -> IRModule:
        roots = self._read.roots
        if len(roots) == 1:
            return replacing(roots[0], self._made)(module)
        context = PatternContext()
        for root in roots:
            context.add(root)
        return TogetherRewriter(context, lambda match, _: self._several(match), everywhere=True)(
            module
        )

    def _several(self, match: Match) -> Mapping[Pattern | ast.Var, object] | None:
        made = self._made(match)
        if made is None:
            return None
        return {
            root: made.fields[at] if isinstance(made, ast.Tuple) else ast.TupleGetItem(made, at)
            for at, root in enumerate(self._read.roots)
        }

    def _made(self, match: Match) -> Expr | None:
        """The result of the replacement, whose bindings are emitted; None if the shapes or types
        do not match.
        """
        builder = match.builder
        dims = self._read.dimensions(match, builder)
        if dims is None:
            return None
        other = self._replacement
        renamed = _shape_vars_of(other, self._read.function, builder)
        mapping = {theirs: dims[ours] for theirs, ours in renamed.items() if ours in dims}
        values = [match[pattern] for pattern in self._read.params]
        inlined = _Inlined(dict(zip(other.params, values, strict=True)), mapping)
        return inlined.emitted(other.body, builder)


def _alone(function: ast.Function, module: IRModule) -> IRModule:
    """A module with a function under the name `main`, and those that it may call."""
    kept = {
        gv: f
        for gv, f in module.functions.items()
        if gv.name_hint not in ("pattern", "replacement")
    }
    attrs = {**function.attrs, "global_symbol": "main"}
    attrs.pop("private", None)
    return IRModule({ast.GlobalVar("main"): replace(function, attrs=attrs), **kept})


def _shape_vars_of(
    one: ast.Function, other: ast.Function, builder: BlockBuilder
) -> Mapping[object, object]:
    """The shape variables of a function with those of another one at the same place of the
    parameters.
    """
    infos = [
        tuple(p.struct_info_annotation for p in f.params if p.struct_info_annotation is not None)
        for f in (one, other)
    ]
    names = frozenset(v for info in infos[0] for v in free_shape_vars(info))
    if len(infos[0]) != len(infos[1]):
        return {}
    return bind(infos[0], infos[1], names, builder.prover).mapping  # type: ignore[return-value]


class _FunctionPatterns:
    """The patterns of a Relax function.

    Attributes
    ----------
    params, roots
        The patterns of the parameters and of the results.
    """

    def __init__(self, function: ast.Function) -> None:
        self.function = function
        self._known: dict[ast.Var, Pattern] = {param: wildcard() for param in function.params}
        self.params = list(self._known.values())
        self._shapes: list[tuple[Pattern, ast.ShapeExpr]] = []
        for binding in bindings(function):
            if not isinstance(binding, ast.VarBinding):
                raise MisuseError("'pattern' contains a cast, which no pattern matches", here())
            self._known[binding.var] = self.pattern(binding.value)
        body = function.body
        assert isinstance(body, ast.SeqExpr)
        result: Expr = body.body
        values = {b.var: b.value for b in bindings(function) if isinstance(b, ast.VarBinding)}
        while isinstance(result, ast.Var) and isinstance(values.get(result), ast.Var | ast.Tuple):
            result = values[result]
        fields = result.fields if isinstance(result, ast.Tuple) else (result,)
        self.roots = [self.pattern(field) for field in fields]

    def pattern(self, expr: Expr) -> Pattern:
        """The pattern of an expression."""
        if isinstance(expr, ast.Var):
            return self._known[expr]
        if isinstance(expr, ast.Call):
            operator = lookup(expr.op_name)
            if operator is None:
                return CallPattern(self.pattern(expr.op), [self.pattern(arg) for arg in expr.args])
            attributes = [
                p.name for p in operator.parameters if p.kind not in (*ARGUMENTS, "types")
            ]
            given = [self.pattern(operand) for operand in operands(expr)]
            made = CallPattern(OpPattern(operator), given, varg_default_wildcard=False)
            return made.has_attr({name: argument(expr, name) for name in attributes})
        if isinstance(expr, ast.Tuple):
            return TuplePattern([self.pattern(field) for field in expr.fields])
        if isinstance(expr, ast.TupleGetItem):
            return TupleGetItemPattern(self.pattern(expr.tuple_value), expr.index)
        if isinstance(expr, ast.ShapeExpr):
            shape = PrimArrPattern(None)
            self._shapes.append((shape, expr))
            return shape
        if isinstance(expr, ast.GlobalVar):
            return GlobalVarPattern(expr.name_hint)
        if isinstance(expr, ast.ExternFunc):
            return ExternFuncPattern(expr.global_symbol)
        if isinstance(expr, ast.Function | ast.If | ast.SeqExpr):
            raise MisuseError("'pattern' contains a branch or a local function", here())
        return ExprPattern(expr)

    def dimensions(self, match: Match, builder: BlockBuilder) -> Mapping[object, PrimExpr] | None:
        """The dimension for each shape variable; None if a value is not of its annotation."""
        pairs: list[tuple[StructInfo, StructInfo]] = []
        for pattern, param in zip(self.params, self.function.params, strict=True):
            wanted = param.struct_info_annotation
            if pattern not in match:
                raise MisuseError(f"'pattern' does not use {param.name_hint}", here())
            if wanted is not None:
                pairs.append((wanted, builder.struct_info(match[pattern])))
        for pattern, shape in self._shapes:
            found = builder.struct_info(match.bound(pattern))
            pairs.append((ast.ShapeStructInfo(shape.values, len(shape.values)), found))
        wanteds, founds = tuple(w for w, _ in pairs), tuple(f for _, f in pairs)
        names = frozenset(v for wanted in wanteds for v in free_shape_vars(wanted))
        images = bind(wanteds, founds, names, builder.prover).mapping
        if any(name not in images for name in names):
            return None
        for wanted, found in pairs:
            if not subtype(found, substitute(wanted, images), builder.prover).proved:
                return None
        return images  # type: ignore[return-value]


class _Inlined(Rewriter):
    """The body of a function with values for its parameters and dimensions."""

    def __init__(self, values: dict[ast.Var, Expr], dims: Mapping[object, object]) -> None:
        super().__init__()
        self._values, self._dims = values, dims

    def emitted(self, body: Expr, builder: BlockBuilder) -> Expr:
        """The result of the body, whose bindings are emitted."""
        assert isinstance(body, ast.SeqExpr)
        for block in body.blocks:
            for binding in block.bindings:
                value = self.expr(binding.value)
                if isinstance(binding, ast.VarBinding):
                    self._values[binding.var] = value
                    if binding.var is body.body and block is body.blocks[-1]:
                        continue  # the caller binds it
                    if not isinstance(value, ast.Var):
                        self._values[binding.var] = builder.emit(value, binding.var.name_hint)
                elif isinstance(binding, ast.MatchCast):
                    info = self.struct_info(binding.struct_info)
                    made = builder.emit_match_cast(value, info)
                    if binding.var is not None:
                        self._values[binding.var] = made
        return self.expr(body.body)

    def var(self, var: ast.Var) -> Expr:
        return self._values.get(var) or super().var(var)

    def struct_info(self, info: StructInfo) -> StructInfo:
        return substitute(info, self._dims)  # type: ignore[arg-type]

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        return substitute_prim(expr, self._dims)  # type: ignore[arg-type]
