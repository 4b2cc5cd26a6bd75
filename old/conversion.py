"""Conversion of programs between the two specifications, with notes on everything that one of them
cannot express.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.node import Node, Record, Span, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.formatting import CHANGED, Formatted, nested_too_deeply, translated
from rlx.grammar.stack import recursion_room
from rlx.old.annotations import type_of
from rlx.old.calls import is_pure
from rlx.old.derivation_state import OlderDerivation
from rlx.old.functions import declared_purity, derive
from rlx.old.types import DynTensorType, FuncType, ShapeType
from rlx.old.well_formed import well_formed
from rlx.solver.order import free_shape_vars


def effectful(state: OlderDerivation) -> set[ast.Function]:
    """The functions that say that they are impure, or that call what has effects."""
    functions = list(state.module.relax_functions.values())
    for function in list(functions):
        functions += [e for e in expressions(function) if isinstance(e, ast.Function)]
    found = {f for f in functions if declared_purity(f) is False}
    silent = [f for f in dict.fromkeys(functions) if declared_purity(f) is None]
    calls = {f: [e for e in expressions(f) if isinstance(e, ast.Call)] for f in silent}
    more = True
    while more:
        new = {
            function
            for function in silent
            if function not in found and any(_has_effects(state, c, found) for c in calls[function])
        }
        more = bool(new)
        found |= new
    return found


def _has_effects(state: OlderDerivation, call: ast.Call, found: set[ast.Function]) -> bool:
    callee = state.functions.get(call.op)
    if callee is None or declared_purity(callee) is not None:
        return not is_pure(state, call)
    return callee in found


class Loss(Record):
    """Something that a program says and its translation does not.

    Attributes
    ----------
    message
        What it is, and what stands in its place.
    span
        Where in the source.
    """

    message: str
    span: Span | None = None


class Converted(Record):
    """A translated module, and what was lost."""

    module: ast.IRModule
    lost: tuple[Loss, ...] = ()


def to_today(module: ast.IRModule) -> Converted:
    """Translate a module of 2022 to today's specification.

    Matches of shapes become casts, and functions declare whether they are pure.
    """
    with recursion_room():
        return _ToToday(derive(module)).converted()


def to_2022(module: ast.IRModule) -> Converted:
    """Translate a module to the specification of 2022.

    Casts that only compare shapes become `match_shape`; annotations say what types and shape
    annotations of 2022 can say.
    """
    with recursion_room():
        return _To2022(derive(module)).converted()


class _Conversion:
    """One translation of a module; subclasses say what becomes of a node."""

    def __init__(self, known: OlderDerivation) -> None:
        self.known = known
        self.lost: list[Loss] = []
        self.module = known.module

    def converted(self) -> Converted:
        made = self.module.map_relax_functions(lambda _, function: rebuild(function, self.change))
        seen = {(loss.message, loss.span): loss for loss in self.lost}
        return Converted(made, tuple(seen.values()))

    def change(self, node: Node) -> Node:
        raise NotImplementedError

    def inferred_pure(self, node: ast.Function) -> bool:
        """Whether the older rules infer that a function is pure."""
        found = self.known.types.get(node) or next(
            (self.known.type(g) for g, f in self.module.functions.items() if f is node), None
        )
        return not (isinstance(found, FuncType) and not found.pure)

    def lose(self, message: str, node: Any) -> None:
        """Note what cannot be said."""
        self.lost.append(Loss(message, getattr(node, "span", None)))


class _ToToday(_Conversion):
    def change(self, node: Node) -> Node:
        match node:
            case ast.MatchCast(by_shape=True):
                return self._match(node)
            case ast.Function():
                return self._function(node)
            case ast.Call(op=ast.ExternFunc() as callee) if node.attrs.get("pure"):
                attrs = {k: v for k, v in node.attrs.items() if k != "pure"}
                spans = (callee.span or node.span or (0, 0), *node.arg_spans)
                op, args = ast.op("relax.call_pure_packed"), (callee, *node.args)
                return replace(node, op=op, args=args, attrs=attrs, arg_spans=spans)
        return node

    def _match(self, node: ast.MatchCast) -> Node:
        values, found = node.compared_dims, self.known.type(node.value)
        if values is None:
            return node
        info: StructInfo
        if isinstance(found, ShapeType):
            info = ast.ShapeStructInfo(values, len(values), node.struct_info_span)
        else:
            if not isinstance(found, DynTensorType):
                words = "the match of a tensor or a shape: it becomes a cast to a tensor"
                self.lose(words, node)
            shape = ast.ShapeExpr(values, node.struct_info_span)
            kind = found.dtype if isinstance(found, DynTensorType) else DynTensorType().dtype
            info = ast.TensorStructInfo(shape, kind, len(values), None, node.struct_info_span)
        return replace(node, struct_info=info, by_shape=False)

    def _function(self, node: ast.Function) -> Node:
        """A function that says what the older rules infer of its purity (ledger 79)."""
        attrs = {k: v for k, v in node.attrs.items() if k not in ("pure", "force_pure")}
        if node.attrs.get("force_pure"):
            attrs["relax.force_pure"] = True
        pure = declared_purity(node)
        if pure is None:
            pure = self.inferred_pure(node)
        said = node.is_pure if pure else False
        return replace(node, attrs=attrs, is_pure=said)


class _To2022(_Conversion):
    def __init__(self, known: OlderDerivation) -> None:
        super().__init__(known)
        self.patterns: dict[int, StructInfo] = {}
        self.plain: dict[int, StructInfo] = {}
        self.effectful = effectful(known)

    def change(self, node: Node) -> Node:
        match node:
            case ast.MatchCast():
                return self._match(node)
            case ast.Function():
                return self._function(node)
            case ast.Call(op=ast.Op(op_name="relax.call_pure_packed"), args=(ast.ExternFunc(), *_)):
                attrs, spans = {**node.attrs, "pure": True}, node.arg_spans[1:]
                return replace(
                    node, op=node.args[0], args=node.args[1:], attrs=attrs, arg_spans=spans
                )
            case StructInfo() if id(node) in self.plain:
                return self.plain[id(node)]
            case StructInfo() if id(node) not in self.patterns:
                return self._info(node)
        return node

    def _match(self, node: ast.MatchCast) -> Node:
        """A cast that keeps type and element type only compares shapes."""
        if not (node.by_shape or self._compares_shapes(node)):
            return node
        return replace(node, struct_info=self._pattern(node.struct_info), by_shape=True)

    def _pattern(self, info: StructInfo) -> StructInfo:
        """The annotation that a match compares with: a copy that the conversion leaves as it is."""
        pattern = replace(info)
        self.patterns[id(pattern)] = pattern
        return pattern

    def _compares_shapes(self, node: ast.MatchCast) -> bool:
        found = self.known.type(node.value)
        match node.struct_info:
            case ast.TensorStructInfo(shape=ast.ShapeExpr(), dtype=kind, vdevice=None):
                return isinstance(found, DynTensorType) and (kind.is_void or kind == found.dtype)
            case ast.ShapeStructInfo(values=tuple()):
                return isinstance(found, ShapeType)
        return False

    def _function(self, node: ast.Function) -> Node:
        """A parameter that is a shape with dimensions is matched where the body begins; so is one
        whose dimensions need what such a shape gives. A function that is impure by the older rules
        because it calls itself alone says that it is pure.
        """
        if not self.inferred_pure(node) and declared_purity(node) is None:
            if node in self.effectful:
                self.lose("the purity of the function: a call in it may have side effects", node)
            else:
                node = replace(node, attrs={**node.attrs, "pure": True})
        if not any(_given_dims(p.struct_info_annotation) for p in node.params):
            return node
        known, moved = _bound_by_tensors(node)
        kept = tuple(v for v in node.shape_vars if v in known)
        matched: list[ast.Binding] = []
        for param in sorted(moved, key=lambda p: not _given_dims(p.struct_info_annotation)):
            info = param.struct_info_annotation
            assert info is not None
            if not _given_dims(info):
                self.lose("dimensions of a parameter that only a shape among them gives", info)
                self.plain[id(info)] = _without_shapes(info)
            if isinstance(info, ast.TupleStructInfo):
                continue
            pattern = self._pattern(info)
            bound = tuple(v for v in free_shape_vars(pattern) if v not in known)
            known.update(bound)
            matched.append(ast.MatchCast(None, param, pattern, bound, by_shape=True))
        ret = self._result(node.ret_struct_info, set(node.shape_vars) - set(kept))
        body = _begun(node.body, matched)
        return replace(node, body=body, shape_vars=kept, ret_struct_info=ret)

    def _result(self, info: StructInfo | None, unbound: Collection[tir.Var]) -> StructInfo | None:
        """The annotation of a result, without dimensions that the body binds."""
        if info is None or not any(v in unbound for v in free_shape_vars(info)):
            return info
        words = "dimensions of a result that only a shape among the parameters gives"
        self.lose(words, info)
        found: StructInfo = _without_shapes(info)
        return found

    def _info(self, info: StructInfo) -> StructInfo:
        """Translate an annotation into types and shape annotations of 2022."""
        match info:
            case ast.ShapeStructInfo(values=tuple()):
                self.lose("the dimensions of a shape: `R.Shape` has none", info)
                return ast.ShapeStructInfo(span=info.span)
            case ast.ShapeStructInfo(ndim=ndim) if ndim >= 0:
                self.lose("the rank of a shape: `R.Shape` has none", info)
                return ast.ShapeStructInfo(span=info.span)
            case ast.TensorStructInfo(vdevice=device) if device is not None:
                self.lose("a virtual device: the specification of 2022 has none", info)
                return replace(info, vdevice=None)
            case ast.FuncStructInfo(params=None):
                self.lose("the type of a function without parameters' types: `R.Object`", info)
                return ast.ObjectStructInfo(info.span)
            case ast.FuncStructInfo() if _has_shapes(info):
                self.lose("dimensions in the type of a function: its types have none", info)
                plain: StructInfo = _without_shapes(info)
                return plain
        return info


def _begun(body: Expr, first: list[ast.Binding]) -> ast.SeqExpr:
    """A body with bindings in front."""
    if not isinstance(body, ast.SeqExpr):
        return ast.SeqExpr((ast.BindingBlock(tuple(first)),), body)
    match body.blocks:
        case [] | [ast.DataflowBlock(), *_]:
            blocks = (ast.BindingBlock(tuple(first)), *body.blocks)
        case [block, *rest]:
            blocks = (replace(block, bindings=(*first, *block.bindings)), *rest)
    return replace(body, blocks=blocks)


def _given_dims(info: StructInfo | None) -> bool:
    """Whether an annotation is a shape with dimensions."""
    return isinstance(info, ast.ShapeStructInfo) and info.values is not None


def _bound_by_tensors(node: ast.Function) -> tuple[set[tir.Var], list[ast.Var]]:
    """The shape variables that the signature binds in 2022, and the parameters whose annotations
    it can't have: shapes with dimensions, and what needs other variables.
    """
    moved = [p for p in node.params if _given_dims(p.struct_info_annotation)]
    while True:
        infos = [p.struct_info_annotation for p in node.params if p not in moved]
        bound = {v for info in infos if info is not None for v in _alone(info)}
        open_ = set(node.shape_vars) - bound
        more = [
            p
            for p, info in zip((p for p in node.params if p not in moved), infos, strict=True)
            if info is not None and not open_.isdisjoint(free_shape_vars(info))
        ]
        if not more:
            return bound, moved
        moved += more


def _alone(info: StructInfo) -> Iterator[tir.Var]:
    """The shape variables that are dimensions by themselves."""
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            yield from (v for v in values if isinstance(v, tir.Var))
        case ast.TupleStructInfo(fields=fields):
            for field in fields:
                yield from _alone(field)


def _has_shapes(info: StructInfo) -> bool:
    from rlx.grammar.nodes.struct_infos import all_parts

    return any(isinstance(p, ast.TensorStructInfo) and p.shape is not None for p in all_parts(info))


def _without_shapes(info: StructInfo) -> Any:
    match info:
        case ast.TensorStructInfo():
            ndim = getattr(type_of(info), "ndim", -1)
            return ast.TensorStructInfo(None, info.dtype, ndim, None, info.span)
        case ast.TupleStructInfo(fields=fields):
            return replace(info, fields=tuple(map(_without_shapes, fields)))
        case ast.FuncStructInfo(params=tuple() as params):
            taken = tuple(map(_without_shapes, params))
            return replace(info, params=taken, ret=_without_shapes(info.ret), binders=())
    return info


@recursion_room()
def convert_text(text: str, path: str, system: str) -> Formatted:
    """Translate the text of modules to another system.

    Parameters
    ----------
    path
        The path in complaints.
    system
        The system to translate to: ``"2022"`` or ``"0.27"``.

    Returns
    -------
    Formatted
        The text, with a complaint for each fact that it loses; no text if something has no
        translation.
    """
    try:
        return _converted(text, path, system)
    except RecursionError:
        return nested_too_deeply(path)


def _converted(text: str, path: str, system: str) -> Formatted:
    from rlx.grammar.read.parser import parse

    parsed = parse(text, path)
    errors = [d for d in parsed.diagnostics if d.is_error]
    if errors:
        return Formatted(None, tuple(map(str, _at(errors, Source(text, path)))), CHANGED)
    translate = to_2022 if system == "2022" else to_today
    made = [translate(module) for module in parsed.modules]
    source = Source(text, path)
    lost = [
        Diagnostic("LOST", "note", f"not expressible in {system}: {loss.message}", loss.span)
        for each in made
        for loss in each.lost
    ]
    beyond = (
        [d for each in made for d in well_formed(each.module) if d.code.startswith("OMIX")]
        if system == "2022"
        else []
    )
    if beyond:
        return Formatted(None, tuple(map(str, _at([*lost, *beyond], source))), CHANGED)
    formatted = translated(parsed, [each.module for each in made], path, system)
    return replace(formatted, complaints=(*map(str, _at(lost, source)), *formatted.complaints))


def _at(found: Sequence[Diagnostic], source: Source) -> list[Diagnostic]:
    return [replace(d, source=source) for d in found]
