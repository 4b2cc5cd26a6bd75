"""Calls of operators on terms: result types, possible failures, and definitions as tensor
expressions.
"""

from __future__ import annotations

import ast as python
from collections.abc import Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import INT64, DataType
from rlx.grammar.nodes.node import Node, Record
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators import index_map
from rlx.operators.binding import plan
from rlx.operators.context import Message, Place, RecordingContext
from rlx.operators.exprs import Declined
from rlx.operators.operator_call import OperatorCall, Violation
from rlx.operators.registry import Operator
from rlx.refine import terms
from rlx.refine.facts import Facts, polynomial
from rlx.refine.loops_content import inverse
from rlx.refine.terms import (
    ApplicationTerm,
    NumberTerm,
    ShapeTerm,
    TensorTerm,
    Term,
    TupleTerm,
    WordTerm,
)
from rlx.solver.context import Context
from rlx.solver.prover import Prover
from rlx.te.convert import Converter
from rlx.te.errors import TensorExpressionError
from rlx.te.external import External
from rlx.te.graph import operations
from rlx.te.tensor import Operation, Read, Tensor, indices_of

SizeOfCall = tuple[ApplicationTerm, object, int]
"""A call, a part of its result, and the position of a size there."""


class Unopened(Exception):
    """A call has no definition that can be compared; the message gives the reason."""


class DerivedCall(Record):
    """A call of an operator on terms.

    Attributes
    ----------
    operator, call
        The operator, and the call with a variable for each argument.
    info
        The struct info of the result.
    risks
        The premises that are not proved: the call may fail. Empty if it cannot.
    conditions
        Conditions on shapes that are not proved, with their words: where one does not hold, the
        call fails.
    """

    operator: Operator
    call: ast.Call
    info: StructInfo
    risks: tuple[str, ...]
    conditions: tuple[tuple[tir.PrimExpr, str], ...] = ()


_NEEDED = frozenset(
    f"OBL-{word}"
    for word in (
        *("broadcast-dims", "concat-dims", "reshape-count", "reshape-divides", "output-size"),
        *("matmul-reduction", "channels-input", "expand-dims", "scatter-updates", "loss-dims"),
        *("attention-batch", "attention-length", "gather-dims", "replace-dims", "output-window"),
    )
)
"""Obligations of which a run fails wherever one does not hold. Of others, some operators need less:
`einsum` broadcasts axes of length 1.
"""


class _Alone(RecordingContext):
    """The context of a call among the facts of the program."""

    def __init__(self, prover: Prover, info: Mapping[ast.Expr, StructInfo]) -> None:
        super().__init__(info)
        self._own = prover
        self.conditions: list[tuple[tir.PrimExpr, str]] = []
        self.dims: list[tir.Var] = []

    @property
    def prover(self) -> Prover:
        """The prover with the facts of the program."""
        return self._own

    def require(
        self,
        code: str,
        conditions: Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Remember the conditions that are not proved."""
        if code not in _NEEDED:
            return super().require(code, conditions, message, at)
        for each in conditions:
            if not self.prover.always(each).proved:
                self.conditions.append((tir.interned(each), message()))
        return True

    def fresh_dim(self, hint: str) -> tir.Var:
        """A new dimension that depends on data."""
        self.dims.append(tir.Var(hint))
        return self.dims[-1]


def _unless_empty(
    condition: tir.PrimExpr, operator: Operator, arguments: Sequence[Term], info: StructInfo
) -> tir.PrimExpr:
    """The condition that a reshape keeps the number of elements, with what its rule leaves out:
    where an axis that both shapes have is empty, there are none, whatever the other axes are.
    """
    match operator.name, condition, arguments, info:
        case (
            "relax.reshape",
            tir.EQ(a=a),
            [TensorTerm(shape=old), *_],
            ast.TensorStructInfo(shape=ast.ShapeExpr(values=new)),
        ) if not isinstance(a, tir.FloorMod):
            for dim in dict.fromkeys(old):
                if dim in new and not isinstance(dim, tir.IntImm):
                    condition = tir.Or(tir.EQ(dim, tir.IntImm(0)), condition)
    return tir.interned(condition)


class Definitions:
    """The calls of operators that two programs make; each distinct one is looked at once."""

    def __init__(self) -> None:
        self._facts = Facts(Context())
        self._prover = self._facts.prover
        self._variables: dict[Term, ast.Expr] = {}
        self._info: dict[ast.Expr, StructInfo] = {}
        self._infos: dict[Term, StructInfo] = {}
        self._terms: dict[object, Term] = {}
        self._calls: dict[ApplicationTerm, DerivedCall] = {}
        self._known: dict[object, tuple[ApplicationTerm, DerivedCall]] = {}
        self._opened: dict[ApplicationTerm, dict[tuple[int, ...], TensorTerm] | str] = {}
        self._rounding: set[ApplicationTerm] = set()
        self._stages: dict[ApplicationTerm, list[TensorTerm]] = {}
        self._sizes: dict[tuple[object, int], tir.Var] = {}
        self.unshaped: dict[Term, StructInfo] = {}
        self.scalars: set[tir.Var] = set()

    def is_scalar(self, var: tir.Var) -> None:
        """Know that a number is the length of nothing: it may be negative."""
        if var not in self.scalars:
            self.scalars.add(var)
            self._facts.context.declare(var, lower=None)

    def is_length(self, dim: tir.PrimExpr) -> bool:
        """Whether a number is plainly not negative: a sum of products of lengths."""
        return all(
            factor >= 0 and all(isinstance(v, tir.Var) and v not in self.scalars for v in mono)
            for mono, factor in polynomial(tir.interned(dim)).items()
        )

    def fits(self, number: tir.PrimExpr) -> bool:
        """Whether a number that is computed of sizes is not too large for its type."""
        return self._facts.fits(number)

    def learn(self, condition: tir.PrimExpr) -> None:
        """Assume a condition on sizes that a program has checked, for the types of later calls."""
        if self._facts.is_index(condition):
            self._facts.assume(condition)

    def same_sizes(self, one: Sequence[tir.PrimExpr], other: Sequence[tir.PrimExpr]) -> bool:
        """Whether two shapes are equal under the known facts about sizes."""
        return len(one) == len(other) and all(map(self._facts.equal, one, other))

    # ------------------------------------------------------------ types of terms

    def info_of(self, term: Term) -> StructInfo:
        """The struct info of a term."""
        found = self._infos.get(term)
        if found is None:
            found = self._infos[term] = self._made_info(term)
        return found

    def _made_info(self, term: Term) -> StructInfo:
        match term:
            case TensorTerm(shape=shape, dtype=kind):
                return ast.TensorStructInfo(ast.ShapeExpr(shape), kind, len(shape))
            case TupleTerm(fields=fields):
                return ast.TupleStructInfo(tuple(map(self.info_of, fields)))
            case ShapeTerm(values=values):
                return ast.ShapeStructInfo(values, len(values))
            case NumberTerm(value=value):
                return ast.PrimStructInfo(tir.type_of(value), value)
        return self.unshaped.get(term, OBJECT)

    def value_of(self, info: StructInfo, of: object, path: tuple[int, ...] = ()) -> Term:
        """The term of a value of which only the type is known.

        Parameters
        ----------
        of, path
            Where it comes from: a key of a parameter, or an application.
        """
        match info:
            case ast.TupleStructInfo(fields=fields):
                parts = [self.value_of(each, of, (*path, k)) for k, each in enumerate(fields)]
                return terms.group(parts)
            case ast.TensorStructInfo(dtype=kind) if not kind.is_void:
                dims: Sequence[tir.PrimExpr] | None = None
                if isinstance(info.shape, ast.ShapeExpr):
                    dims = info.shape.values
                elif info.shape is None and info.ndim >= 0:
                    dims = [self.size((of, path), k) for k in range(info.ndim)]
                if dims is not None:
                    if isinstance(of, ApplicationTerm):
                        return terms.result(of, path, of.name.rpartition(".")[2], dims, kind)
                    return terms.input_term((of, path), str(of), dims, kind)
            case ast.ShapeStructInfo(values=values) if values is not None:
                return terms.sizes(values)
            case ast.ShapeStructInfo(ndim=ndim) if ndim >= 0:
                return terms.sizes([self.size((of, path), k) for k in range(ndim)])
            case ast.PrimStructInfo(value=value) if value is not None:
                return terms.number(value)
            case ast.PrimStructInfo(dtype=kind) if kind.is_integer and not isinstance(
                of, ApplicationTerm
            ):
                var = self.size((of, path), 0, kind)
                self.is_scalar(var)
                return terms.number(var)
        found = terms.unknown(of, path)
        self.unshaped.setdefault(found, info)
        return found

    def size(self, of: object, position: int, kind: DataType = INT64) -> tir.Var:
        """A size that is known by where it comes from alone."""
        found = self._sizes.get((of, position))
        if found is None:
            found = self._sizes[(of, position)] = tir.Var(f"d{position}", kind)
        return found

    def of_calls(self) -> dict[SizeOfCall, tir.Var]:
        """The sizes that are known by the calls that they come from alone: by call, by the part of its
        result, and by their position there.
        """
        found: dict[SizeOfCall, tir.Var] = {}
        for (of, position), size in self._sizes.items():
            made, path = of if isinstance(of, tuple) else (of, None)
            if isinstance(made, ApplicationTerm):
                found[made, path, position] = size
        return found

    def expression(self, term: Term) -> ast.Expr:
        """An expression of Relax that stands for a term in a call."""
        found = self._variables.get(term)
        if found is None:
            found = self._variables[term] = self._expression(term)
            if isinstance(found, ast.Var):
                self._terms[found] = term
                self._info[found] = self.info_of(term)
        return found

    def _expression(self, term: Term) -> ast.Expr:
        match term:
            case TupleTerm(fields=fields):
                return ast.Tuple(tuple(map(self.expression, fields)))
            case ShapeTerm(values=values):
                return ast.ShapeExpr(values)
            case NumberTerm(value=value):
                return ast.PrimValue(value)
            case WordTerm(kind="string", text=text):
                return ast.StringImm(text)
            case WordTerm(kind="dtype", text=text):
                from rlx.grammar.nodes.dtype import dtype

                return ast.DataTypeImm(dtype(text))
            case WordTerm(kind="null"):
                return ast.Call(ast.op("relax.null_value"), ())
        name = term.name if isinstance(term, TensorTerm) else "x"
        return ast.Var(name, self.info_of(term))

    # ------------------------------------------------------------ calls

    def call(
        self,
        operator: Operator,
        arguments: Sequence[Term],
        attrs: Mapping[str, object],
        sinfo_args: tuple[StructInfo, ...] = (),
    ) -> tuple[ApplicationTerm, DerivedCall]:
        """The application of an operator, and what its rule derives. Raises Unopened if the call
        has errors.
        """
        call = ast.Call(
            ast.op(operator.name), tuple(map(self.expression, arguments)), attrs, sinfo_args
        )
        context = _Alone(self._prover, self._info)
        site = OperatorCall(operator, call, context)
        try:
            values = [read(site) for read in plan(site)]
        except Violation as error:
            raise Unopened(f"{site.name}: {error.message}") from None
        # A scalar of unknown value is read as a new variable each time: the arguments say which it is.
        scalars = {
            arg.name_hint
            for arg in call.args
            if isinstance(arg, ast.Var) and isinstance(self._info.get(arg), ast.PrimStructInfo)
        }
        attributes = tuple(
            [
                "scalar"
                if isinstance(value, tir.Var) and value.name in scalars
                else self._key(value)
                for value in values
            ]
        )
        outlines = tuple(map(terms.outline, sinfo_args))
        key = (operator.name, attributes, tuple(arguments), outlines)
        known = self._known.get(key)
        if known is None:
            info = operator.derive(call, context)
            made = terms.apply(operator.name, (attributes, outlines), arguments, None)
            # Sizes that depend on data are those of the call.
            fresh: dict[tir.Var, tir.PrimExpr] = {
                var: self.size(made, k) for k, var in enumerate(context.dims)
            }
            info = replaced_sizes(info, fresh) if fresh else info
            conditions = [
                (terms.substitute(_unless_empty(c, operator, arguments, info), fresh), words)
                for c, words in context.conditions
            ]
            risks = tuple(dict.fromkeys(context.open))
            found = DerivedCall(operator, call, info, risks, tuple(conditions))
            known = self._known[key] = (made, found)
            self._calls[made] = found
        return known

    def _key(self, value: Any) -> object:
        """The value of a parameter in a form that can be compared; tensors are arguments."""
        match value:
            case ast.TensorStructInfo():
                return "tensor"
            case tir.PrimExpr():
                return tir.interned(value)
            case StructInfo():
                return terms.outline(value)
            case ast.ShapeExpr(values=values):
                return ("shape", *map(tir.interned, values))
            case tuple() | list():
                return tuple([self._key(each) for each in value])
            case ast.Expr():
                return "expression"
            case Node():
                return value
        return (type(value).__name__, str(value))

    def call_of(self, application: ApplicationTerm) -> DerivedCall | None:
        """The call of an operator that an application is; None if it is something else."""
        return self._calls.get(application)

    # ------------------------------------------------------------ opening

    def open(self, application: ApplicationTerm) -> dict[tuple[int, ...], TensorTerm]:
        """The tensors that a call of an operator returns, by path, as its definition says. Raises
        Unopened if it has no definition for these arguments.
        """
        found = self._opened.get(application)
        if found is None:
            try:
                found = self._definition(application)
            except (Declined, TensorExpressionError) as error:
                found = getattr(error, "message", None) or str(error)
            except Unopened as error:
                found = str(error)
            self._opened[application] = found
        if isinstance(found, str):
            raise Unopened(found)
        return found

    def _definition(self, application: ApplicationTerm) -> dict[tuple[int, ...], TensorTerm]:
        from rlx.transform.legalization.arguments import arguments, results

        made = self._calls.get(application)
        if made is not None and application.name == LAYOUT_TRANSFORM:
            return {(): self._moved(application, made)}
        short = application.name.removeprefix("relax.")
        match application.attributes:
            case ("packed", str() as name, *_):
                raise Unopened(f"what the packed function {name} computes is not known")
        if made is None or made.operator.definition is None:
            raise Unopened(f"{short} has no definition as a tensor expression")
        context = _Alone(self._prover, self._info)
        convert = Converter(context.info)
        with indices_of(INT64):
            targets = results(made.info, short.rpartition(".")[2])
            values = arguments(made.operator, made.call, context, convert)
            outputs = made.operator.definition(targets, *values)
        several = isinstance(outputs, tuple | list)
        given = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        known: dict[Operation, TensorTerm] = {
            tensor.op: self._argument(tensor.value) for tensor in convert.tensors
        }
        built = _TensorGraph(known)
        found: dict[tuple[int, ...], TensorTerm] = {
            (k,) if several else (): built.tensor(t) for k, t in enumerate(given)
        }
        if built.roundings() > 1:
            self._rounding.add(application)
        self._stages[application] = built.made()
        return found

    def _moved(self, application: ApplicationTerm, made: DerivedCall) -> TensorTerm:
        """The tensor whose elements an index map moved: the map is inverted."""
        (source, *_) = application.arguments
        site = OperatorCall(made.operator, made.call, _Alone(self._prover, self._info))
        _, given, pad, *_ = (read(site) for read in plan(site))
        text = getattr(given.value if isinstance(given, ast.PrimValue) else given, "text", "")
        found, info = index_map.read(text), made.info
        if (
            found is None
            or not isinstance(source, TensorTerm)
            or not isinstance(info, ast.TensorStructInfo)
            or not isinstance(info.shape, ast.ShapeExpr)
        ):
            raise Unopened("its index map is not known")
        number = pad.value if isinstance(pad, ast.PrimValue) else pad
        value = getattr(number, "value", number)
        if value is not None and not isinstance(value, int | float):
            raise Unopened("its padding is not a number")
        kind = source.dtype
        blank: tir.PrimExpr = (
            tir.FloatImm(float(value or 0), kind)
            if kind.is_float
            else tir.IntImm(int(value or 0), kind)
        )
        axes = tuple([tir.Var(name) for name in found.names])
        names = dict(zip(found.names, axes, strict=True))
        indices = [tir.interned(_index(each, names)) for each in found.results]
        targets = tuple([tir.Var(f"i{k}") for k in range(len(indices))])
        with self._facts.scope():
            self._facts.index(targets, info.shape.values)
            back = inverse(axes, source.shape, indices, targets, self._facts)
        if back is None:
            raise Unopened("its index map is not inverted")
        element = terms.read(source, [back.values[axis] for axis in axes])
        for condition in back.conditions:
            element = tir.Call("if_then_else", (condition, element, blank), kind)
        return terms.lam(info.shape.values, targets, element, "layout_transform", kind)

    def stages(self, application: ApplicationTerm) -> list[TensorTerm]:
        """The tensors that the definition of a call computes, one after the other.

        Raises
        ------
        Unopened
            As :meth:`open`.
        """
        self.open(application)
        return self._stages.get(application, [])

    def exact(self, application: ApplicationTerm) -> bool:
        """Whether the definition of a call gives the bits that the operator gives: nothing in it is
        rounded, or one operation is.
        """
        self.open(application)
        return application not in self._rounding

    def _argument(self, value: object) -> TensorTerm:
        """The term of a value that a definition reads."""
        term = self._terms.get(value)
        if term is None and isinstance(value, ast.TupleGetItem):
            whole = self._terms[value.tuple_value]
            assert isinstance(whole, TupleTerm)
            term = whole.fields[value.index]
        if not isinstance(term, TensorTerm):
            raise Unopened("an argument is not a tensor of known shape")
        return term


LAYOUT_TRANSFORM = "relax.layout_transform"


def _index(e: python.expr, names: Mapping[str, tir.PrimExpr]) -> tir.PrimExpr:
    """An index that an index map gives. Raises Unopened if it is no arithmetic of indices and
    numbers.
    """
    match e:
        case python.Name(id=name) if name in names:
            return names[name]
        case python.Constant(value=int(value)):
            return terms.index(value)
        case python.UnaryOp(op=python.USub(), operand=inner):
            return tir.Sub(terms.index(0), _index(inner, names))
        case python.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            made: tir.PrimExpr = _ARITHMETIC[type(op)](_index(left, names), _index(right, names))
            return made
    raise Unopened("its index map is not known")


_ARITHMETIC: dict[type[python.operator], Any] = {
    python.Add: tir.Add,
    python.Sub: tir.Sub,
    python.Mult: tir.Mul,
    python.FloorDiv: tir.FloorDiv,
    python.Mod: tir.FloorMod,
}


def replaced_sizes(info: StructInfo, sizes: Mapping[tir.Var, tir.PrimExpr]) -> StructInfo:
    """A type with sizes replaced in its dimensions."""
    from rlx.grammar.nodes import struct_infos

    made = struct_infos.with_children(info, lambda part: replaced_sizes(part, sizes))
    return struct_infos.with_numbers(made, lambda number: terms.substitute(number, sizes))


class _TensorGraph:
    """Tensor expressions as terms."""

    def __init__(self, known: dict[Operation, TensorTerm]) -> None:
        self._known = known
        self._made: dict[Operation, list[TensorTerm]] = {}

    def tensor(self, tensor: Tensor) -> TensorTerm:
        """The term of a tensor."""
        for op in operations([tensor]):
            if op not in self._known and op not in self._made:
                self._made[op] = self._operation(op)
        return self._of(tensor)

    def _of(self, tensor: Tensor) -> TensorTerm:
        known = self._known.get(tensor.op)
        return self._made[tensor.op][tensor.index] if known is None else known

    def made(self) -> list[TensorTerm]:
        """The tensors that were made."""
        return [tensor for made in self._made.values() for tensor in made]

    def roundings(self) -> int:
        """The number of operations whose results are rounded, or not specified to the bit."""
        count = 0
        for tensor in self.made():
            body = getattr(tensor, "element", None)
            nodes = [] if body is None else tir.postorder(body)
            count += sum(_rounds(node) for node in nodes)
        return count

    def _operation(self, op: Operation) -> list[TensorTerm]:
        if isinstance(op, External):
            raise Unopened(f"{op.name} is defined by a statement")
        shape = [extent.node for extent in op.extents]
        if op.along is not None:
            (body,) = op.bodies
            kind = tir.type_of(
                terms.rebuilt(body, tir.children(body))
            )  # a choice may have none yet
            hole = terms.previous(shape, kind)
            self._made[op] = [hole]
            made = self._expr(body)
            del self._made[op]
            return [terms.scan(shape, op.axes, made, op.along, op.name)]
        if op.reduction is None:
            if not op.bodies:
                raise Unopened(f"{op.name} is not an argument")
            return [terms.lam(shape, op.axes, self._expr(b), op.name) for b in op.bodies]
        reduction = op.reduction
        combine = terms.combiner(
            reduction.combiner.left,
            reduction.combiner.right,
            [each.node for each in reduction.combiner.results],
        )
        # Axes begin at 0.
        lows = {
            axis.var: tir.Add(axis.var, axis.low.node)
            for axis in reduction.axes
            if axis.low.value != 0
        }
        extents = [
            axis.high.node if axis.low.value == 0 else tir.Sub(axis.high.node, axis.low.node)
            for axis in reduction.axes
        ]
        sources = [terms.substitute(self._expr(s.node), lows) for s in reduction.sources]
        guard: tir.PrimExpr = terms.TRUE
        if reduction.where is not None:
            guard = terms.substitute(self._expr(reduction.where.node), lows)
        init = [self._expr(s.node) for s in reduction.init or reduction.combiner.identities]
        return [
            terms.lam(
                shape,
                op.axes,
                terms.reduce_over(
                    combine,
                    [axis.var for axis in reduction.axes],
                    extents,
                    sources,
                    init,
                    guard=guard,
                    output=k,
                    ordered=False,
                ),
                op.name,
            )
            for k in range(len(sources))
        ]

    def _expr(self, root: tir.PrimExpr) -> tir.PrimExpr:
        def new(node: tir.PrimExpr, operands: list[tir.PrimExpr]) -> tir.PrimExpr:
            if isinstance(node, Read):
                return terms.read(self._of(node.tensor), operands)
            return tir.with_operands(node, operands) if operands else node

        return tir.interned(tir.fold(root, new, {}))


def _rounds(node: tir.PrimExpr) -> int:
    """The number of roundings that a node counts for: 2 if its bits are not specified."""
    match node:
        case terms.Reduce():
            return 2 * any(v.dtype.is_float for v in node.combiner.left)
        case tir.Add() | tir.Sub() | tir.Mul() | tir.Div():
            return int(tir.type_of(node).is_float)
        case tir.Call(op=op):
            return 0 if op in _EXACT or not tir.type_of(node).is_float else 2
    return 0


_EXACT = frozenset(
    ["if_then_else", "likely", "fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"]
)
