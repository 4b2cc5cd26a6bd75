"""Virtual devices: where tensors are, as far as some annotation or transfer says it.

A tensor operation runs on one device, so its tensors are all there; a transfer has its result
elsewhere. The devices of a module are thus classes of expressions; one known member places the
whole class, in both directions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from rlx.checker.derive.message_text import argument_of, named, of_argument, show
from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo, TensorStructInfo, TupleStructInfo, VDevice
from rlx.grammar.nodes.node import Node, Record
from rlx.grammar.nodes.vdevices import machines
from rlx.grammar.nodes.visit import evaluated, expressions
from rlx.solver.order.substitute import same_device
from rlx.spec.registry import reported, rule

if TYPE_CHECKING:
    from rlx.checker.derive.module import Derivation

TRANSFERS = frozenset({"relax.to_vdevice", "relax.hint_on_device"})
"""Operators whose result is elsewhere than their argument (ledger 47)."""

Infos = Mapping[Node, StructInfo]


class Placement(Record):
    """The result of propagation.

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
    """Union-find over tensor-valued expressions, with the device of each class.

    Nothing follows from what is wrong already, and a class of which a conflict was reported has no
    second one.
    """

    def __init__(
        self, info: Infos, wrong: Collection[Node], machines: Mapping[tuple[str, int], int]
    ) -> None:
        self.info, self.wrong, self.machines = info, wrong, machines
        self.broken: set[Node] = set()
        self.scattered: set[Node] = set()
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

    def join(self, a: Expr, b: Expr, scopes: bool = False) -> None:
        """Two expressions are on one device; the fields of a tuple are taken one by one.

        With ``scopes``, they may be in different memories of one machine.
        """
        if a in self.wrong or b in self.wrong:
            return
        x, y = self.info.get(a), self.info.get(b)
        if isinstance(a, ast.Tuple):
            for field in a.fields:
                self.join(field, b, scopes)
        elif isinstance(b, ast.Tuple):
            self.join(b, a, scopes)
        elif isinstance(x, TensorStructInfo) and isinstance(y, TensorStructInfo):
            self._merge(a, b, scopes)

    def _merge(self, a: Expr, b: Expr, scopes: bool) -> None:
        first, second = self.root(a), self.root(b)
        if first is second:
            return
        match self.device.get(first), self.device.get(second):
            case (one, _) as left, (other, _) as right if not same_device(one, other):
                if not (scopes and self._machine(one) == self._machine(other)):
                    self.conflict(b, left, right)
                return
            case None, (_, _) as right:
                self.device[first] = right
        self.parent[second] = first
        if second in self.broken:
            self.broken.add(first)

    def is_placed(self, node: Node) -> bool:
        """Whether the device of an expression is known."""
        return self.root(node) in self.device

    def join_branches(self, node: ast.If) -> None:
        """An If is where its branches are; of branches on two devices no place follows."""
        branches = node.true_branch, node.false_branch
        roots = [self.root(branch) for branch in branches]
        known = [self.device[root][0] for root in roots if root in self.device]
        apart = len(known) == 2 and not same_device(*known)
        if (apart or not self.scattered.isdisjoint(roots)) and not self.is_placed(node):
            self.scattered.add(self.root(node))
            return
        for branch in branches:
            self.join(node, branch)

    def _machine(self, device: VDevice) -> tuple[str, int]:
        return device.target, self.machines.get((device.target, device.index), device.index)

    def conflict(self, at: Expr, first: tuple[VDevice, Node], second: tuple[VDevice, Node]) -> None:
        """Report that an expression would be on two devices, unless one of them was reported
        already.
        """
        roots = {self.root(node) for _, node in (first, second)}
        if self.broken.isdisjoint(roots):
            _conflict(self.diagnostics, at, first, second)
        self.broken |= roots

    def place(self, node: Expr) -> None:
        """Start with the device that an expression's type names."""
        info = self.info.get(node)
        if isinstance(info, TensorStructInfo) and info.vdevice is not None:
            self.device.setdefault(self.root(node), (info.vdevice, node))


def propagate_vdevices(module: ast.IRModule, derivation: Derivation) -> Placement:
    """Place the tensors of a module whose devices follow from others.

    Parameters
    ----------
    derivation
        What deriving the module gave. Nothing happens where the module declares no virtual devices.
    """
    if not module.global_infos.get("vdevice"):
        return Placement({}, ())
    classes = _Classes(derivation.info, derivation.poison, machines(module))
    for node in evaluated(module, Node):
        for value in (node, *node.bound()):
            if isinstance(value, Expr):
                classes.place(value)
    found = [*expressions(module)]
    others = [expr for expr in found if not isinstance(expr, ast.If)]
    branching = [expr for expr in found if isinstance(expr, ast.If)]
    # Where an If is known to be, its branches are; then branches place what they are of.
    for expr in chain(others, filter(classes.is_placed, branching), reversed(branching)):
        _relate(expr, classes)
    for call, index, wanted in derivation.places:
        argument_is_there(call, argument_of(module, call, index), index, wanted, classes)
    return Placement(_placed(classes), tuple(classes.diagnostics))


@rule("VDEV-propagate", "placement")
def _relate(node: Expr, classes: _Classes) -> None:
    match node:
        case ast.Call(op=ast.Op(op_name=name), args=args) if name not in TRANSFERS:
            for arg in args:
                classes.join(node, arg, scopes=bool(node.sinfo_args))
        case ast.If():
            classes.join_branches(node)
        case ast.SeqExpr(blocks=blocks, body=body):
            for block in blocks:
                for binding in block.bindings:
                    assert isinstance(binding, (ast.VarBinding, ast.MatchCast))
                    if binding.var is not None:
                        classes.join(binding.var, binding.value)
            classes.join(node, body)
        case ast.Function(body=body, ret_struct_info=TensorStructInfo(vdevice=VDevice() as said)):
            _return(body, said, classes)


def argument_is_there(
    call: ast.Call, argument: str, index: int, wanted: VDevice, classes: _Classes
) -> None:
    """An argument is on the device of its parameter (D14), as far as propagation places it."""
    arg = call.args[index]
    here, _ = classes.device.get(classes.root(arg), (None, arg))
    if here is not None and same_device(here, wanted):
        return
    help = (
        f"copy it there before the call: R.to_vdevice({named(arg)},"
        f' "{wanted.target}:{wanted.index}")'
    )
    if here is None:
        severity = "warning"
        message = f"the device of {argument} is unknown, but {show(wanted)} is expected"
    else:
        severity = "error"
        message = f"{argument} is on {show(here)}, but {show(wanted)} is expected"
    span = of_argument(call, index)
    found = Diagnostic("D14-argument", severity, message, span, help=help)
    classes.diagnostics.append(reported(found))


def _return(body: Expr, said: VDevice, classes: _Classes) -> None:
    """The body is where the annotated result is: the function's result, not its type (ledger
    47).
    """
    if body in classes.wrong:
        return
    root = classes.root(body)
    found = classes.device.setdefault(root, (said, body))
    device, _ = found
    if not same_device(device, said):
        end = body.body if isinstance(body, ast.SeqExpr) else body
        classes.conflict(end, (said, end), found)


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
    places = " and ".join(f"on {show(device)}" for device, _ in (first, second))
    message = f"this value must be {places} at the same time"
    related = [
        Label(span, f"on {show(device)}")
        for device, node in (first, second)
        if (span := getattr(node, "span", None)) is not None
    ]
    span = getattr(at, "span", None)
    help = "copy it to the other device: R.to_vdevice"
    code = "VDEV-propagate-agree"
    found = Diagnostic(code, "error", message, span, related=tuple(related), help=help)
    diagnostics.append(reported(found))
