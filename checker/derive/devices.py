"""Virtual devices: where tensors are, as far as some annotation or transfer says it.

A tensor operation runs on one device, so its tensors are all there; a transfer has its result elsewhere. The
devices of a module are thus classes of expressions; one known member places the whole class, in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlx.checker.derive.words import show
from rlx.grammar import ast
from rlx.grammar.ast import Expr, StructInfo, TensorStructInfo, TupleStructInfo, VDevice
from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.node import Node
from rlx.grammar.visit import walk
from rlx.solver.order.parts import same_device
from rlx.spec.registry import refuted, rule

TRANSFERS = frozenset({"relax.to_vdevice", "relax.hint_on_device"})
"""Operators whose result is elsewhere than their argument (ledger 47)."""

Infos = Mapping[Node, StructInfo]


class Placement(Node):
    """What propagation found.

    Attributes
    ----------
    info
        The struct info of expressions whose device is now known.
    diagnostics
        Expressions that would have to be on two devices.
    """

    info: Infos
    diagnostics: tuple[Diagnostic, ...]


class _Classes:
    """Union-find over tensor-valued expressions, with the device of each class."""

    def __init__(self, info: Infos) -> None:
        self.info = info
        self.parent: dict[Node, Node] = {}
        self.device: dict[Node, tuple[VDevice, Node]] = {}
        self.diagnostics: list[Diagnostic] = []

    def root(self, node: Node) -> Node:
        """The representative of a node's class."""
        parent = self.parent
        while node in parent:
            above = parent[node]
            if above in parent:
                parent[node] = parent[above]
            node = above
        return node

    def join(self, a: Expr, b: Expr) -> None:
        """Two expressions are on one device; the fields of a tuple are taken one by one."""
        x, y = self.info.get(a), self.info.get(b)
        if isinstance(a, ast.Tuple):
            for field in a.fields:
                self.join(field, b)
        elif isinstance(b, ast.Tuple):
            self.join(b, a)
        elif isinstance(x, TensorStructInfo) and isinstance(y, TensorStructInfo):
            self._merge(a, b)

    def _merge(self, a: Expr, b: Expr) -> None:
        first, second = self.root(a), self.root(b)
        if first is second:
            return
        left, right = self.device.get(first), self.device.get(second)
        if left and right and not same_device(left[0], right[0]):
            _conflict(self.diagnostics, b, left, right)
            return
        self.parent[second] = first
        if left is None and right is not None:
            self.device[first] = right

    def place(self, node: Expr) -> None:
        """Start with what is already said of an expression."""
        info = self.info.get(node)
        if isinstance(info, TensorStructInfo) and info.vdevice is not None:
            self.device.setdefault(self.root(node), (info.vdevice, node))


def propagate_vdevices(module: ast.IRModule, info: Infos) -> Placement:
    """Place the tensors of a module whose devices follow from others.

    Parameters
    ----------
    info
        The table that derivation gave. Nothing happens where the module declares no virtual devices.
    """
    if not module.global_infos.get("vdevice"):
        return Placement({}, ())
    classes = _Classes(info)
    functions = [f for f in module.functions.values() if isinstance(f, ast.Function)]
    for node in [n for f in functions for n in _values(f)]:
        classes.place(node)
    for function in functions:
        for node in walk(function):
            _relate(node, classes)
    return Placement(_placed(classes), tuple(classes.diagnostics))


def _values(function: ast.Function) -> Iterator[Expr]:
    """Every expression of a function, bound variables and parameters included."""
    for node in walk(function):
        yield node
        if isinstance(node, ast.Function):
            yield from node.params
        elif isinstance(node, ast.SeqExpr):
            for block in node.blocks:
                for binding in block.bindings:
                    assert isinstance(binding, (ast.VarBinding, ast.MatchCast))
                    if binding.var is not None:
                        yield binding.var


@rule("VDEV-propagate", "6a953e46")
def _relate(node: Expr, classes: _Classes) -> None:
    match node:
        case ast.Call(op=ast.Op(op_name=name), args=args) if name not in TRANSFERS:
            for arg in args:
                classes.join(node, arg)
        case ast.If(true_branch=then, false_branch=other):
            classes.join(node, then)
            classes.join(node, other)
        case ast.SeqExpr(blocks=blocks, body=body):
            for block in blocks:
                for binding in block.bindings:
                    assert isinstance(binding, (ast.VarBinding, ast.MatchCast))
                    if binding.var is not None:
                        classes.join(binding.var, binding.value)
            classes.join(node, body)
        case ast.Function(body=body, ret_struct_info=TensorStructInfo(vdevice=VDevice() as said)):
            _return(body, said, classes)


def _return(body: Expr, said: VDevice, classes: _Classes) -> None:
    """The body is where the annotated result is: the function's result, not its type (ledger 47)."""
    root = classes.root(body)
    found = classes.device.setdefault(root, (said, body))
    if not same_device(found[0], said):
        _conflict(classes.diagnostics, body, (said, body), found)


def _placed(classes: _Classes) -> dict[Node, StructInfo]:
    new: dict[Node, StructInfo] = {}
    for node, info in classes.info.items():
        if isinstance(info, TensorStructInfo) and info.vdevice is None:
            known = classes.device.get(classes.root(node))
            if known is not None:
                new[node] = TensorStructInfo(info.shape, info.dtype, info.ndim, known[0])
    for node, info in classes.info.items():
        if isinstance(node, ast.Tuple) and isinstance(info, TupleStructInfo):
            fields = tuple([new.get(f, i) for f, i in zip(node.fields, info.fields, strict=True)])
            if any(n is not i for n, i in zip(fields, info.fields, strict=True)):
                new[node] = TupleStructInfo(fields)
    return new


def _conflict(
    diagnostics: list[Diagnostic],
    at: Expr,
    first: tuple[VDevice, Node],
    second: tuple[VDevice, Node],
) -> None:
    refuted("VDEV-propagate-agree")
    message = f"this would have to be on {show(first[0])} and on {show(second[0])} at once"
    related = [
        Label(span, f"on {show(device)}")
        for device, node in (first, second)
        if (span := getattr(node, "span", None)) is not None
    ]
    span = getattr(at, "span", None)
    help = "copy it there: R.to_vdevice"
    diagnostics.append(
        Diagnostic(
            "VDEV-propagate-agree", "error", message, span, related=tuple(related), help=help
        )
    )
