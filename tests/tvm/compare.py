"""Our derivation beside TVM's, binding for binding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.print.printer import show
from rlx.solver.context import Context
from rlx.solver.prover import Prover

from .translate import Translation

OneBinding = ast.VarBinding | ast.MatchCast
BINDING = re.compile(r"( +)(\w+): (?=[RI]\.)")


class Difference(Record):
    """One binding of which the two know different things.

    ``cause`` is what it is put under: the operator (or kind of expression), and what differs.
    """

    where: str
    cause: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.where}: {self.cause}\n    ours   {self.ours}\n    theirs {self.theirs}"


class Comparison(Record):
    """The number of compared values, and those that differ."""

    compared: int
    differences: tuple[Difference, ...]


class Site(Record):
    """A value of TVM's and ours: what produced it, where, what each knows."""

    where: str
    producer: str
    theirs: Any
    ours: StructInfo | None


def without_annotations(text: str) -> str:
    """The text with no annotation on any Relax binding, so that all information has to be derived.

    Annotations of prims stay: TVM prints ``a: T.int32 = 7``, and only the annotation tells the type.
    """
    return "\n".join(_bare(line) for line in text.split("\n"))


def _bare(line: str) -> str:
    found = BINDING.match(line)
    if found is None:
        return line
    depth, quoted = 0, False
    for at in range(found.end(), len(line)):
        match line[at]:
            case '"':
                quoted = not quoted
            case "(" | "[" if not quoted:
                depth += 1
            case ")" | "]" if not quoted:
                depth -= 1
            case "=" if depth == 0 and not quoted:
                return f"{found[1]}{found[2]} {line[at:]}"
    return line


def compare(theirs: Any, text: str) -> Comparison:
    """Compare everything TVM knows about a module with what we derive from its text.

    Parameters
    ----------
    theirs
        TVM's module.
    text
        What TVM printed for it, without annotations.
    """
    report = check_text(text, "<tvm>")
    errors = [found.message for found in report.diagnostics if found.is_error]
    assert not errors, errors[:5]
    (ours,) = report.modules
    named = {var.name_hint: (var, function) for var, function in ours.functions.items()}
    compared, differences = 0, []
    for their_var, their_function in theirs.functions.items():
        var, function = named[their_var.name_hint]
        translation = Translation()
        prover = Prover(Context())
        for site in _sites(translation, report.info, (their_var, their_function), (var, function)):
            compared += 1
            expected = translation.info(site.theirs)
            if cause := _difference(expected, site.ours, prover):
                differences.append(
                    Difference(
                        site.where,
                        f"{site.producer}: {cause}",
                        "nothing" if site.ours is None else show(site.ours),
                        show(expected),
                    )
                )
    return Comparison(compared, tuple(differences))


def _sites(translation: Translation, info: Any, theirs: Any, ours: Any) -> Iterator[Site]:
    """Everything that both sides know something about in one global function, in order."""
    _, their_function = theirs  # the type of TVM's GlobalVar is not kept up to date by its passes
    var, function = ours
    name = var.name_hint
    if isinstance(function, tir.PrimFunc):
        found = info.get(var)
        translation.learn_scalars(their_function.params, found)
        translation.learn(their_function.ty, found)
        yield Site(name, "PrimFunc", their_function.ty, found)
        return
    translation.learn(their_function.ty, info.get(var))
    yield Site(name, "Function", their_function.ty, info.get(var))
    yield from _inside(translation, info, name, their_function, function)


def _inside(
    translation: Translation, info: Any, name: str, theirs: Any, ours: ast.Function
) -> Iterator[Site]:
    _parameters(translation, info, theirs, ours)
    mine = cast(list[OneBinding], list(bindings(ours.body)))
    hers = list(_bindings(theirs.body))
    if len(mine) != len(hers):
        raise AssertionError(f"{name}: {len(mine)} bindings of ours, {len(hers)} of TVM's")
    for their_binding, binding in zip(hers, mine, strict=True):
        var, their_var = binding.var, their_binding.var
        if isinstance(binding, ast.MatchCast):
            translation.learn(their_binding.ty, binding.struct_info)
        elif isinstance(binding.value, ast.Function):
            _parameters(translation, info, their_binding.value, binding.value)
        if var is not None:
            translation.variables[their_var] = var
            yield Site(f"{name}.{var.name_hint}", _producer(binding), their_var.ty, info.get(var))


def _parameters(translation: Translation, info: Any, theirs: Any, ours: ast.Function) -> None:
    for their_param, param in zip(theirs.params, ours.params, strict=True):
        translation.learn(their_param.ty, info.get(param) or param.struct_info_annotation)
        translation.variables[their_param] = param


def _bindings(theirs: Any) -> Iterator[Any]:
    """TVM's bindings in the order of the text, each before those inside its value."""
    match type(theirs).__name__:
        case "SeqExpr":
            for block in theirs.blocks:
                for binding in block.bindings:
                    yield binding
                    yield from _bindings(binding.value)
        case "If":
            yield from _bindings(theirs.true_branch)
            yield from _bindings(theirs.false_branch)
        case "Function":
            yield from _bindings(theirs.body)


def _producer(binding: OneBinding) -> str:
    match binding:
        case ast.MatchCast():
            return "MatchCast"
        case ast.VarBinding(
            value=ast.Call(op=ast.Op(op_name=name), args=(ast.ExternFunc(global_symbol=of), *_))
        ):
            return f"{name} of {of}"
        case ast.VarBinding(value=ast.Call(op=ast.Op(op_name=name))):
            return name
        case ast.VarBinding(value=ast.Call(op=ast.ExternFunc(global_symbol=name))):
            return f"call of {name}"
        case ast.VarBinding(value=ast.Call(op=callee)):
            return f"call of a {type(callee).__name__}"
        case ast.VarBinding(value=value):
            return type(value).__name__


def _difference(theirs: StructInfo, ours: StructInfo | None, prover: Prover) -> str | None:
    """The difference, in a few words that do not mention this place; None if there is none."""
    match theirs, ours:
        case ast.ObjectStructInfo(), ast.ObjectStructInfo():
            return None
        case ast.TensorStructInfo(), ast.TensorStructInfo():
            return _tensors(theirs, ours, prover)
        case ast.ShapeStructInfo(values=a, ndim=rank), ast.ShapeStructInfo(values=b):
            return "rank" if rank != ours.ndim else _dims(a, b, prover)
        case ast.PrimStructInfo(), ast.PrimStructInfo():
            return None if theirs.dtype == ours.dtype else "dtype"
        case ast.TupleStructInfo(fields=a), ast.TupleStructInfo(fields=b):
            if len(a) != len(b):
                return "fields"
            return _first(_difference(x, y, prover) for x, y in zip(a, b, strict=True))
        case ast.FuncStructInfo(), ast.FuncStructInfo():
            return _functions(theirs, ours, prover)
    mine = "nothing" if ours is None else type(ours).__name__.removesuffix("StructInfo")
    return f"{mine} for {type(theirs).__name__.removesuffix('StructInfo')}"


def _first(causes: Iterator[str | None]) -> str | None:
    return next((cause for cause in causes if cause), None)


def _tensors(
    theirs: ast.TensorStructInfo, ours: ast.TensorStructInfo, prover: Prover
) -> str | None:
    if theirs.dtype != ours.dtype:
        return "dtype"
    if theirs.ndim != ours.ndim:
        return "rank"
    if theirs.vdevice is not None or ours.vdevice is not None:
        one, other = theirs.vdevice, ours.vdevice
        if one is None or other is None:
            return "vdevice"
        if (one.target, one.index) != (other.target, other.index):
            return "vdevice"
    match theirs.shape, ours.shape:
        case ast.ShapeExpr(values=a), ast.ShapeExpr(values=b):
            return _dims(a, b, prover)
        case one_shape, other_shape:
            return None if one_shape is other_shape else _knowledge(one_shape, other_shape)


def _dims(a: Any, b: Any, prover: Prover) -> str | None:
    if a is None or b is None:
        return None if a is b else _knowledge(a, b)
    if len(a) != len(b):
        return "rank"
    equal = all(prover.equal(x, y).status == "proved" for x, y in zip(a, b, strict=True))
    return None if equal else "dimensions"


def _knowledge(theirs: object, ours: object) -> str:
    if theirs is None:
        return "ours knows the shape"
    return "ours does not know the shape" if ours is None else "another shape"


def _functions(theirs: ast.FuncStructInfo, ours: ast.FuncStructInfo, prover: Prover) -> str | None:
    if theirs.purity != ours.purity:
        return "purity"
    a, b = theirs.params, ours.params
    if a is None or b is None:
        return None if a is b else "parameters"
    if len(a) != len(b):
        return "parameters"
    inside = _first(_difference(x, y, prover) for x, y in zip(a, b, strict=True))
    if inside:
        return f"parameters: {inside}"
    result = _difference(theirs.ret, ours.ret, prover)
    return f"result: {result}" if result else None
