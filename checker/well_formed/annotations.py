"""Rules about annotations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from rlx.checker.well_formed.state import (
    WellFormedCheck,
    dataflow_variable_stays_inside,
    names_in_scope,
    similar,
)
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, DataType, lacking
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import divides_by_zero
from rlx.grammar.nodes.struct_infos import children, numbers
from rlx.grammar.read import misspelt
from rlx.grammar.streams import visible
from rlx.grammar.suggest import did_you_mean
from rlx.grammar.wording import counted
from rlx.solver import order
from rlx.spec.registry import need, rule


def check_annotation(
    state: WellFormedCheck,
    info: ast.StructInfo,
    use: Span | None,
    may_bind: Collection[tir.Var] = (),
    of_variable: bool = False,
) -> None:
    """Apply the rules to an annotation.

    Parameters
    ----------
    use
        Where this occurrence of the (possibly shared) annotation stands.
    may_bind
        The shape variables that the place binds: a parameter's signature, a cast.
    of_variable
        Whether it is a variable's annotation (WF10) or another one (WF14, WF15).
    """
    if info not in state.sound:
        state.sound.add(info)
        AnnotationForm(state, info, use, of_variable).check(info)
    for var in free_shape_vars(state, info):
        if var not in state.shape_vars and var not in may_bind and var not in state.captured:
            _unbound(state, info, var, use)
        elif var in state.scalars:
            scalar_in_scope(state, var, use)
    if type(info) not in _OF_NUMBERS and type(getattr(info, "shape", None)) is not ast.ShapeExpr:
        for name in order.free_vars(info):
            shape_variable_in_scope(state, name, use)


_OF_NUMBERS = frozenset([ast.ShapeStructInfo, ast.PrimStructInfo])
"""Annotations that mention no variable of Relax."""


def free_shape_vars(state: WellFormedCheck, info: ast.StructInfo) -> tuple[tir.Var, ...]:
    """The shape variables of an annotation, each once."""
    free = state.free.get(info)
    if free is None:
        free = state.free[info] = order.free_shape_vars(info)
    return free


def _unbound(state: WellFormedCheck, info: ast.StructInfo, var: tir.Var, use: Span | None) -> None:
    """Find the innermost annotation that mentions an unbound variable, and report it there."""
    part: ast.StructInfo = info
    while True:
        inside = (field for field in children(part) if var in order.free_shape_vars(field))
        found = next(inside, None)
        if found is None:
            break
        part = found
    if state.once_unbound(var):
        _UNBOUND[type(part)](state, var, _place(part, var, info, use))


def _place(
    part: ast.StructInfo, var: tir.Var, root: ast.StructInfo, use: Span | None
) -> Span | None:
    for value in numbers(part):
        if var in tir.free_vars(value) and value is not var:
            return ast.locate(value, root, use)
    return ast.locate(part, root, use)


HOW_TO_BIND = (
    "a dimension of a parameter or of R.match_cast binds a shape variable if it is that"
    " variable alone"
)


def _not_bound(
    state: WellFormedCheck,
    code: str,
    message: str,
    var: tir.Var,
    span: Span | None,
    note: str = HOW_TO_BIND,
    help: str | None = None,
) -> None:
    """Report a shape variable that is not bound; ``help`` is for one whose name resembles none."""
    meant = similar(state, var.name, names_in_scope(state))
    state.report(code, message, span, notes=(note,), help=meant or help)


@rule("WF14", "well-formed", refuses=True)
def tensor_shape_is_bound(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """The shape variables of a tensor annotation are in scope."""
    words = f"the shape variable {var.name!r} in this tensor's annotation is not bound"
    _not_bound(state, "WF14-unbound", words, var, span)


@rule("WF15", "well-formed", refuses=True)
def shape_values_are_bound(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """The shape variables of a shape annotation are in scope."""
    words = f"the shape variable {var.name!r} in this shape's annotation is not bound"
    _not_bound(state, "WF15-unbound", words, var, span)


@rule("WF16", "well-formed", refuses=True)
def scalar_value_is_bound(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """The shape variables of a scalar annotation are in scope."""
    words = f"the shape variable {var.name!r} in this scalar's annotation is not bound"
    _not_bound(state, "WF16-unbound", words, var, span)


_UNBOUND: dict[type, Callable[[WellFormedCheck, tir.Var, Span | None], None]] = {
    ast.TensorStructInfo: tensor_shape_is_bound,
    ast.ShapeStructInfo: shape_values_are_bound,
    ast.PrimStructInfo: scalar_value_is_bound,
}


def scalar_in_scope(state: WellFormedCheck, var: tir.Var, use: Span | None) -> None:
    """A scalar of a dataflow block is a dimension in its block only (WF01)."""
    scalar = state.scalars.get(var)
    if type(scalar) is ast.DataflowVar and scalar in state.in_scope:
        dataflow_variable_stays_inside(state, scalar, use)


def shape_variable_in_scope(state: WellFormedCheck, var: ast.Var, use: Span | None) -> None:
    """A variable that stands for a tensor's shape is in scope (WF14), one of a dataflow block in
    its block (WF01).
    """
    if type(var) is ast.DataflowVar and var in state.in_scope:
        dataflow_variable_stays_inside(state, var, use)
    elif var not in state.in_scope and var not in state.captured and state.once((var, use)):
        state.may_bind = True  # it may be meant to be a dimension
        state.report(
            "WF14-variable",
            f"{var.name_hint!r} is used as a tensor's shape, but is not bound here",
            use,
            help=similar(state, var.name_hint, names_in_scope(state)),
        )


@rule("WF04", "well-formed", refuses=True)
def result_is_bound(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """The shape variables of a result are those of the signature or of an outer scope."""
    if state.once_unbound(var):
        words = f"no parameter binds the shape variable {var.name!r} of the result"
        note = "a variable that the body binds is not visible to a caller"
        help = (
            "annotate the parameter that has this dimension, or omit the shape: `R.Tensor(ndim=…)`"
        )
        _not_bound(state, "WF04-unbound", words, var, span, note, help)


@rule("WF05", "well-formed", refuses=True)
def dimension_is_bound(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """The shape variables of shapes and scalars are in scope."""
    if state.once_unbound(var):
        words = f"the shape variable {var.name!r} is not bound"
        _not_bound(state, "WF05-unbound", words, var, span)


@rule("WF06", "well-formed", refuses=True)
def signature_binds(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """Every shape variable of a signature stands alone somewhere in it."""
    # A place that binds nothing is one mistake.
    if state.once_unbound(var) and state.once((span, "signature")):
        words = f"no dimension of a parameter is the shape variable {var.name!r} alone"
        note = "a dimension binds a variable only if it is that variable alone"
        _not_bound(state, "WF06-unbound", words, var, span, note)


def dimensions_are_int64(
    state: WellFormedCheck, values: Iterable[tir.PrimExpr], span: Span | None
) -> None:
    """A dimension is an int64 (WF05); a literal becomes one."""
    for value in values:
        kind = INT64 if type(value) is tir.IntImm else _type_of_dimension(value)
        if not need("WF05-dtype", kind is INT64 or kind == INT64) and state.once(
            (_culprit(value), "dtype")
        ):
            from rlx.grammar.print.printer import show

            message = f"a dimension must be an int64, but {show(value)!r} is of type {kind}"
            state.report("WF05-dtype", message, span)


_LEAVES = (tir.Var, tir.IntImm)
_SHIFTS = ("shift_left", "shift_right")


def scalars_have_values(
    state: WellFormedCheck, values: Iterable[tir.PrimExpr], span: Span | None
) -> None:
    """No divisor is the literal 0, and no literal shifts by as many bits as there are (WF05)."""
    parts = [value for value in values if type(value) not in _LEAVES]
    for node in tir.postorder(*parts) if parts else ():
        if not need("WF05-zero", not divides_by_zero(node)) and state.once((span, "zero")):
            state.report("WF05-zero", "the divisor is zero", span)
        if (
            isinstance(node, tir.Call)
            and node.op in _SHIFTS
            and isinstance(node.args[1], tir.IntImm)
        ):
            bits, amount = tir.type_of(node.args[0]).bits, node.args[1].value
            if not need("WF05-shift", 0 <= amount < bits) and state.once((span, "shift")):
                message = f"a number of {bits} bits is shifted by {amount}"
                state.report("WF05-shift", message, span, help=f"shift by 0 to {bits - 1}")


def _culprit(value: tir.PrimExpr) -> tir.PrimExpr:
    """The part that gives a dimension another type: a variable, however often it is used."""
    return next((v for v in tir.free_vars(value) if v.dtype != INT64), value)


def _type_of_dimension(value: tir.PrimExpr) -> DataType:
    """The type of a dimension: the narrower of two integers is widened, a literal is like what
    stands beside it.
    """
    if type(value) is tir.Var:
        return value.dtype
    return tir.fold(value, _dimension_type) or INT64


def _dimension_type(node: tir.PrimExpr, operands: list[DataType | None]) -> DataType | None:
    match node:
        case tir.IntImm():
            return None
        case tir.Comparison() | tir.And() | tir.Or():
            return BOOL
        case tir.Binary() | tir.Select():
            return _wider(*operands[-2:])
    return tir.type_of(node)


def _wider(a: DataType | None, b: DataType | None) -> DataType | None:
    if a is None or b is None:
        return a or b
    return max(a, b, key=lambda kind: (kind.is_float, kind.bits))


def scalar_stands_before(state: WellFormedCheck, var: tir.Var, span: Span | None) -> None:
    """A dimension that is the name of a scalar parameter stands behind it (WF06)."""
    if state.once((var, "order")):
        state.report(
            "WF06-order",
            f"{var.name!r} is used as a dimension before the parameter {var.name!r}",
            span,
            help=f"put the parameter {var.name!r} first",
        )


class AnnotationForm:
    """The rules that need no scope, applied to an annotation and what is inside of it."""

    def __init__(
        self, state: WellFormedCheck, root: ast.StructInfo, use: Span | None, of_variable: bool
    ) -> None:
        self.state = state
        self.root = root
        self.use = use
        self.of_variable = of_variable
        self.seen: set[int] = set()

    def check(self, info: ast.StructInfo) -> None:
        """Apply them, to parts that stand in several places once."""
        if id(info) in self.seen:
            return
        self.seen.add(id(info))
        match info:
            case ast.TensorStructInfo(shape=shape, dtype=data_type, ndim=ndim, vdevice=vdevice):
                self._shape(info, shape, ndim)
                if isinstance(shape, ast.ShapeExpr):
                    dimensions_are_int64(self.state, shape.values, self.use)
                    scalars_have_values(self.state, shape.values, self.use)
                self._dtype(info, data_type)
                if vdevice is not None:
                    device_is_declared(self, vdevice)
            case ast.ShapeStructInfo(values=values, ndim=ndim):
                dimensions_are_int64(self.state, values or (), self.use)
                scalars_have_values(self.state, values or (), self.use)
                if values is not None and ndim != len(values):
                    rank_agrees(self, info, "WF15-rank", ndim, len(values))
            case ast.PrimStructInfo(dtype=data_type, value=value):
                scalar_type(self, info, data_type)
                self._dtype(info, data_type)
                if value is not None:
                    scalars_have_values(self.state, (value,), self.use)
                    value_agrees(self, info, data_type, value)
            case ast.FuncStructInfo():
                function_has_one_kind(self, info)
        for part in children(info):
            self.check(part)

    def _shape(self, info: ast.StructInfo, shape: ast.Expr | None, ndim: int) -> None:
        if isinstance(shape, ast.ShapeExpr):
            if ndim != len(shape.values):
                rank_agrees(self, info, "WF14-rank", ndim, len(shape.values))
        elif shape is not None and not isinstance(shape, ast.Var):
            self.report(
                "WF14-expression",
                "the shape of a tensor annotation is neither a shape literal nor a variable",
                info,
            )

    def _dtype(self, info: ast.StructInfo, data_type: DataType) -> None:
        if data_type is not FLOAT32:
            type_exists(self, info, data_type)

    def report(self, code: str, message: str, at: ast.StructInfo, help: str | None = None) -> None:
        """Report a failing premise at a part of the annotation."""
        self.state.report(code, message, ast.locate(at, self.root, self.use), help=help)


@rule("WF10", "well-formed", refuses=True)
def rank_agrees(
    form: AnnotationForm, info: ast.StructInfo, elsewhere: str, ndim: int, count: int
) -> None:
    """A rank is the number of dimensions; outside of variables' annotations that is WF14's and
    WF15's.
    """
    form.report(
        "WF10-rank" if form.of_variable else elsewhere,
        f"the annotation has {counted(count, 'dimension')}, but says ndim={ndim}",
        info,
        help="remove ndim",
    )


@rule("WF17", "well-formed")
def function_has_one_kind(form: AnnotationForm, info: ast.FuncStructInfo) -> None:
    """A function annotation has parameters or a derivation."""
    if not need("WF17-both", info.params is None or info.derive_func is None):
        form.report("WF17-both", "a function annotation has both parameters and a derivation", info)


@rule("WF19", "well-formed")
def scalar_type(form: AnnotationForm, info: ast.PrimStructInfo, data_type: DataType) -> None:
    """A scalar has a number's type."""
    if not need("WF19-dtype", data_type.code != "handle"):
        form.report("WF19-dtype", f"a scalar cannot have the data type {data_type}", info)


@rule("WF20", "well-formed")
def type_exists(form: AnnotationForm, info: ast.StructInfo, data_type: DataType) -> None:
    """A data type has one lane and a width that exists, and is none of handles."""
    found = lacking(data_type)
    if found is None or (found[0] == "handle" and isinstance(info, ast.PrimStructInfo)):
        return
    if form.state.once(("element type", data_type, form.state.function)):
        words = [] if data_type.code == "handle" else misspelt.data_type(str(data_type))
        meant = did_you_mean(words)
        form.report(f"WF20-{found[0]}", found[1], info, meant)


@rule("WF22", "well-formed")
def value_agrees(
    form: AnnotationForm, info: ast.PrimStructInfo, data_type: DataType, value: tir.PrimExpr
) -> None:
    """The value of a scalar annotation has its data type."""
    found = tir.type_of(value)
    if not need("WF22-dtype", found == data_type):
        form.report(
            "WF22-dtype", f"the value is of type {found}, but the annotation says {data_type}", info
        )


@rule("WF24", "well-formed")
def device_is_declared(form: AnnotationForm, device: ast.VDevice) -> None:
    """A virtual device is in the module's list."""
    state = form.state
    if need("WF24-vdevice", (device.target, device.index) in state.devices):
        return
    if state.once(("vdevice", device.target, device.index)):
        known = sorted(f"{t}:{i}" for t, i in state.devices if t and t != "vdevice")
        state.report(
            "WF24-vdevice",
            f"the module does not declare the device '{device.target}:{device.index}'",
            ast.locate(device, form.root, form.use),
            notes=(f"it declares {visible(', '.join(known))}",) if known else (),
            help=None
            if known
            else "declare it with I.module_global_infos({'vdevice': [I.vdevice(…)]})",
        )
