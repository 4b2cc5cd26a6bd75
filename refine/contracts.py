"""Contracts: changes of a function's interface that keep its meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import VOID
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.wording import counted
from rlx.transform.visitors.mutator import ExprMutator


class InterfaceError(ValueError):
    """The programs cannot be compared: they have other functions, or other parameters."""


class Side(Protocol):
    """The treatment of arguments: as terms in a proof, as values in a run."""

    def group(self, fields: Sequence[Any]) -> Any:
        """A tuple of arguments."""

    def fields(self, whole: Any) -> Sequence[Any] | None:
        """The fields of a tuple; None if it is not one."""

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """The result of a function of AFTER."""

    def getter(self, inputs: Sequence[Any], info: ast.StructInfo) -> Any:
        """A function that gives the input of a number; also the packed function `get_item`."""

    def setter(self, info: ast.StructInfo) -> Any:
        """A function that takes the result of a number; also the packed function `set_item`."""


class Interface(Record):
    """A function before and after a pass.

    Attributes
    ----------
    name
        Its name.
    before, after
        The functions.
    others
        The names of the functions of AFTER.
    """

    name: str
    before: ast.Function
    after: ast.Function
    others: tuple[str, ...]

    def changed(self, words: str) -> InterfaceError:
        """The error that says how the interface changed."""
        return InterfaceError(f"the interface changed: {self.name}: {words}")


def _none(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    one, other = interface.before, interface.after
    lifted = _transform(interface)
    hint = '; see the contract "lifted"' if lifted else ""
    infos = [[p.struct_info_annotation or OBJECT for p in f.params] for f in (one, other)]
    kinds = [[type(info) for info in each] for each in infos]
    if kinds[0] != kinds[1]:
        if ast.FuncStructInfo in kinds[1] or (kinds[0] and not kinds[1]):
            hint = '; see the contract "lazy"'
        elif kinds[1] and kinds[1][-1] is ast.TupleStructInfo:
            hint = '; see the contract "packed"'
        elif len(kinds[0]) > len(kinds[1]) and not lifted:
            hint = '; see the contracts "by-name" and "bound"'
    if len(one.params) != len(other.params):
        raise interface.changed(
            f"it has {counted(len(one.params), 'parameter')} in BEFORE and {len(other.params)} in AFTER{hint}"
        )
    for param, before, after in zip(one.params, *kinds, strict=True):
        if before is not after and OBJECT.__class__ not in (before, after):
            raise interface.changed(f"the type of {param.name_hint} changed{hint}")
    names = [[param.name_hint for param in f.params] for f in (one, other)]
    if lifted and names[0] != names[1]:
        raise interface.changed(f"{lifted} prepares its parameters{hint}")
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
        raise interface.changed('its parameters are reordered; see the contract "by-name"')
    return arguments


def _by_name(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    one, other = interface.before, interface.after
    ours = {p.name_hint: a for p, a in zip(one.params, arguments, strict=True)}
    if len(ours) != len(one.params):
        raise interface.changed("two parameters have one name")
    for param in other.params:
        if param.name_hint not in ours:
            raise interface.changed(f"BEFORE has no parameter {param.name_hint}")
    return [ours[p.name_hint] for p in other.params]


def bound_constants(contract: str | None, interface: Interface) -> dict[int, ast.Constant]:
    """The parameters of BEFORE, by position, that are constants in AFTER under a contract. Raises
    InterfaceError if their values are not found.
    """
    if BY_PASS.get(contract or "", contract) != "bound":
        return {}
    kept = {param.name_hint for param in interface.after.params}
    missing = {p: k for k, p in enumerate(interface.before.params) if p.name_hint not in kept}
    found: dict[int, ast.Constant] = {}
    sides = [list(expressions(f.body)) for f in (interface.before, interface.after)]
    for one, other in zip(*sides, strict=False):
        if isinstance(one, ast.Var) and one in missing:
            if not isinstance(other, ast.Constant):
                raise interface.changed(f"AFTER has no constant where {one.name_hint} is used")
            known = found.setdefault(missing[one], other)
            if not structural_equal(known, other):
                raise interface.changed(f"AFTER has several constants for {one.name_hint}")
            if not _admits(
                interface.before.params[missing[one]].struct_info_annotation, other.data
            ):
                raise interface.changed(f"the constant for {one.name_hint} is of another type")
    return found


def _admits(info: ast.StructInfo | None, data: ast.Literal) -> bool:
    """Whether a constant may be of a type, as far as its dimensions are numbers."""
    if not isinstance(info, ast.TensorStructInfo) or data.shape is None:
        return True
    dims = info.shape.values if isinstance(info.shape, ast.ShapeExpr) else data.shape
    if info.dtype not in (VOID, data.dtype) or info.ndim not in (-1, len(data.shape)):
        return False
    return all(
        not isinstance(dim, tir.IntImm) or dim.value == size
        for dim, size in zip(dims, data.shape, strict=True)
    )


def _lazy(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    functions = [
        param.struct_info_annotation
        for param in interface.after.params
        if isinstance(param.struct_info_annotation, ast.FuncStructInfo)
    ]
    kept = len(interface.after.params) - len(functions)
    inputs = list(arguments[kept:])
    fields = side.fields(inputs[0]) if len(inputs) == 1 else None
    whole = None if len(inputs) != 1 else interface.before.params[kept].struct_info_annotation
    if isinstance(whole, ast.TupleStructInfo) and fields is not None:
        inputs = list(fields)
    side.getter(inputs, OBJECT)
    side.setter(OBJECT)
    given = iter(arguments)
    made = []
    for param in interface.after.params:
        info = param.struct_info_annotation
        if not isinstance(info, ast.FuncStructInfo):
            made.append(next(given))
        elif isinstance(info.ret, ast.TupleStructInfo):
            made.append(side.setter(info))
        else:
            made.append(side.getter(inputs, info))
    return made


def _packed(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    if structural_equal(interface.before, interface.after):
        return arguments  # only some functions have such parameters
    params = interface.after.params
    last = params[-1].struct_info_annotation if params else OBJECT
    if not isinstance(last, ast.TupleStructInfo):
        raise interface.changed("its last parameter in AFTER is not a tuple")
    first = len(params) - 1
    if first + len(last.fields) != len(arguments):
        raise interface.changed(
            f"its last parameter in AFTER has {len(last.fields)} fields, and BEFORE has"
            f" {len(arguments) - first} more parameters"
        )
    return [*arguments[:first], side.group(arguments[first:])]


def _transform(interface: Interface) -> str | None:
    """The function of AFTER that prepares the parameters."""
    for name in (f"{interface.name}_transform_params", "transform_params"):
        if name in interface.others:
            return name
    return None


def _lifted(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    if structural_equal(interface.before, interface.after):
        return arguments  # only some functions share the one that prepares parameters
    name = _transform(interface)
    count = interface.before.attrs.get("num_input")
    if name is None:
        raise interface.changed("AFTER has no function that prepares its parameters")
    if not isinstance(count, int):
        raise interface.changed("it has no attribute num_input")
    prepared = side.fields(side.call(name, [side.group(arguments[count:])]))
    if prepared is None:
        raise interface.changed(f"{name} does not return a tuple")
    made = [*arguments[:count], *prepared]
    if len(made) != len(interface.after.params):
        raise interface.changed(
            f"{name} makes {len(prepared)} parameters, and AFTER has"
            f" {len(interface.after.params) - count}"
        )
    return made


class _BatchNorms(ExprMutator):
    """All batch norms in one mode."""

    def __init__(self, training: bool) -> None:
        super().__init__()
        self._training = training

    def visit_call(self, call: ast.Call) -> ast.Expr:
        made = super().visit_call(call)
        if call.op_name != "relax.nn.batch_norm" or not isinstance(made, ast.Call):
            return made
        return replace(made, attrs={**made.attrs, "training": self._training})


def compared(contract: str | None, before: ast.IRModule) -> ast.IRModule:
    """BEFORE as a contract reads it."""
    wanted = BY_PASS.get(contract or "", contract)
    if wanted not in ("inference", "training"):
        return before
    return normalize(_BatchNorms(wanted == "training")(before))


Match = Callable[[Interface, Sequence[Any], Side], Sequence[Any]]

BY_PASS = {
    "BindParams": "bound",
    "BindSymbolicVars": "sizes",
    "BundleModelParams": "packed",
    "DecomposeOps": "inference",
    "DecomposeOpsForInference": "inference",
    "DecomposeOpsForTraining": "training",
    "LazyGetInput": "lazy",
    "LazySetOutput": "lazy",
    "LazyTransformParams": "lazy",
    "LiftTransformParams": "lifted",
    "MutateOpsForTraining": "training",
    "PartitionTransformParams": "lifted",
}
"""The contracts of TVM's passes."""

CONTRACTS: dict[str, Match] = {
    "by-name": _by_name,
    "bound": _by_name,
    "packed": _packed,
    "lifted": _lifted,
    "lazy": _lazy,
    "sizes": _none,
    "inference": _none,
    "training": _none,
}
"""``by-name``: parameters are reordered or dropped; those of one name are the same. ``bound``: those
that are dropped have the values of the constants that stand in their places. ``packed``: the last
parameters of BEFORE are one tuple in AFTER. ``lifted``: a function of AFTER prepares the parameters
after the first ``num_input``. ``lazy``: functions give the last parameters and take the results, by
number: parameters of function type, or the packed functions ``get_item`` and ``set_item``.
``sizes``: only those sizes are compared that AFTER takes. ``inference``: nothing is trained: a batch
norm of BEFORE uses the statistics that it is given. ``training``: one uses those of its batch.
"""


def arguments_of(
    contract: str | None, interface: Interface, arguments: Sequence[Any], side: Side
) -> list[Any]:
    """The arguments of AFTER for those of BEFORE. Raises InterfaceError if there are none; the
    message says why.
    """
    match = CONTRACTS[BY_PASS.get(contract, contract)] if contract else _none
    return list(match(interface, arguments, side))
