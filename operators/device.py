"""Placement of values on virtual devices, workers and meshes, and hints for compilers."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    Call,
    Expr,
    ObjectStructInfo,
    Op,
    PrimValue,
    StringImm,
    StructInfo,
    TensorStructInfo,
    Var,
    VDevice,
)
from rlx.grammar.nodes.struct_infos import OBJECT, rebuilt
from rlx.grammar.nodes.tir import EQ, FloorMod, IntImm
from rlx.grammar.nodes.vdevices import NUMBERS, SHORT, numbered
from rlx.operators.dim_arithmetic import ZERO, const, exact, floordiv, mul
from rlx.operators.evaluation_arguments import same as same_value
from rlx.operators.operator_call import OperatorCall, show
from rlx.operators.parameters import Tensor, Whole
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import axis, choice, need_known, rank, ranked, resized
from rlx.spec.registry import rule

_MOVES = "it moves data between devices"
_HINT = "it is a hint for the compiler and returns its operand"


@operator("relax.to_vdevice", kept=_MOVES, calls="x(a, b) | x(a), dst_vdevice='llvm:0'")
def to_vdevice(site: OperatorCall, data: Expr, dst_vdevice: Any) -> StructInfo:
    """The value copied to a virtual device."""
    return _placed(site.ctx.info(data), declared(site, _device(dst_vdevice), data))


@rule("OBL-vdevice", "obligation")
def declared(site: OperatorCall, device: VDevice | None, data: Expr) -> VDevice:
    """Check that the target of a transfer is a virtual device of the module."""
    best = site.ctx.info(data)
    if device is None:
        site.fail("OBL-vdevice-kind", "the target is not a virtual device", 1, _placed(best, None))
    known = site.ctx.vdevices()
    of_list = device.target == "vdevice" and device.index < len(known)
    if not of_list and (device.target, device.index) not in known:
        listed = ", ".join(f"{kind}:{number}" for kind, number in known) or "none"
        words = (
            f"the module does not declare the device '{device.target}:{device.index}'; it"
            f" declares: {listed}"
        )
        site.fail("OBL-vdevice-declared", words, 1, _placed(best, None))
    return device


def _device(target: object) -> VDevice | None:
    """A virtual device, or the text of one: ``"cuda:0"``, ``"llvm"``, ``"cuda:0:shared"``."""
    if isinstance(target, VDevice):
        return target
    text = getattr(target, "value", target)
    if not isinstance(text, str):
        return None
    name, _, rest = text.partition(":")
    index, _, scope = rest.partition(":")
    return VDevice(name, int(index) if index.isdigit() else 0, scope or "global")


def _placed(info: StructInfo, device: VDevice | None) -> StructInfo:
    def placed(part: StructInfo) -> StructInfo:
        if not isinstance(part, TensorStructInfo):
            return part
        return TensorStructInfo(part.shape, part.dtype, part.ndim, device)

    return rebuilt(info, placed)


@operator("relax.device", kept=_MOVES, calls="string('llvm'), prim(0)")
def device(site: OperatorCall, device_type: Any, index: Any = 0) -> StructInfo:
    """A physical device, as an argument of an operator."""
    return OBJECT


@operator(
    "relax.hint_on_device", kept=_MOVES, shares="perhaps", calls="x(a, b), dst_vdevice='llvm:0'"
)
def hint_on_device(
    site: OperatorCall, data: Tensor, dst_vdevice: Any, memory_scope: str = "global"
) -> StructInfo:
    """The value on the named device, if the module has this device."""
    hinted(site, dst_vdevice)
    wanted = _device(dst_vdevice) or _numbered(site, dst_vdevice)
    return data if wanted is None else _placed(data, wanted)


_KINDS = SHORT.keys() | NUMBERS.keys()


@rule("OBL-hint", "obligation")
def hinted(site: OperatorCall, device: object) -> None:
    """Check that a hint gives a device: a virtual one, a text, or ``R.device(…)``."""
    found = site.ctx.bound(device) if isinstance(device, Var) else device
    if isinstance(found, Call) and isinstance(found.op, Op):
        if found.op.op_name == "relax.device":
            return
    elif isinstance(device, Var) and isinstance(site.ctx.info(device), ObjectStructInfo):
        site.warn("OBL-hint-device", f"{site.shown(1)} may not be a device", 1)
        return
    target = _device(device) if site.call.spelled.get(1) != "R.str" else None
    if target is None or (isinstance(device, StringImm | str) and target.target not in _KINDS):
        words = (
            "dst_vdevice is not a device; expected R.device(…), a virtual device, or a string"
            ' such as "cuda:0"'
        )
        site.fail("OBL-hint-device", words, 1)


def _numbered(site: OperatorCall, device: object) -> VDevice | None:
    """The device of the module that `R.device(type, index)` names."""
    if isinstance(device, Var):
        device = site.ctx.bound(device)
    if not isinstance(device, Call) or device.op_name != "relax.device":
        return None
    attrs = device.attrs
    given = [*device.args, *(attrs[k] for k in ("device_type", "index") if k in attrs), 0]
    number, index = map(_integer, given[:2])
    if number is None or index is None:
        return None
    known = numbered(site.ctx.vdevices(), number, index)
    return VDevice(*known) if known else None


def _integer(value: object) -> int | None:
    match value:
        case int():
            return value
        case PrimValue(value=IntImm(value=number)) | IntImm(value=number):
            return number
    return None


@operator("relax.builtin.stop_lift_params", kept=_HINT, shares="surely", compute=same_value)
@operator("relax.ccl.broadcast_from_worker0", kept=_MOVES, calls="x(a, b)")
def same_tensor(site: OperatorCall, x: Tensor) -> StructInfo:
    """A tensor like the one given: a mark for the compiler, or the first worker's."""
    return x


REDUCTIONS = ("sum", "prod", "min", "max", "avg")


@operator(
    "relax.ccl.allreduce",
    kept=_MOVES,
    calls="x(a, b), op_type='sum' | 'max' | 'min'",
    broken="OBL-choice-word: f(a), op_type='summe'",
)
def allreduce(
    site: OperatorCall, x: Tensor, op_type: str = "sum", in_group: int = True
) -> StructInfo:
    """The tensors of all workers, reduced element by element."""
    choice(site, "op_type", op_type, REDUCTIONS)
    return x


@operator("relax.grad.start_checkpoint", kept=_HINT, shares="surely", compute=same_value)
@operator("relax.grad.end_checkpoint", kept=_HINT, shares="surely", compute=same_value)
def checkpoint(site: OperatorCall, input_: Expr) -> StructInfo:
    """The begin or end of a part that is recomputed for the gradient; the value is unchanged."""
    scalar = input_.value if isinstance(input_, PrimValue) else None
    if not isinstance(input_, Var) and not isinstance(scalar, tir.Var):
        site.fail("D14-argument", "the input of a checkpoint must be a variable", 0)
    return site.ctx.info(input_)


@operator("relax.grad.no_grad", kept=_HINT, shares="surely", compute=same_value)
def no_grad(site: OperatorCall, input_: Whole) -> StructInfo:
    """A value of the same kind: a mark for the compiler."""
    return site.ctx.info(input_)


@operator(
    "relax.dist.annotate_sharding",
    kept=_MOVES,
    calls="x(a, b), device_mesh='mesh[0]', placement='S[0]' | 'R'",
)
@operator(
    "relax.dist.redistribute",
    kept=_MOVES,
    calls="x(a, b), device_mesh='mesh[0]', placement='S[0]' | 'R'",
)
def distributed(site: OperatorCall, value: Expr, device_mesh: Any, placement: Any) -> StructInfo:
    """The same value, distributed over the devices of a mesh."""
    return site.ctx.info(value)


@operator(
    "relax.dist.redistribute_replica_to_shard", kept=_MOVES, calls="x(a, 4), num_workers=2, axis=1"
)
def to_shard(site: OperatorCall, input_: Expr, num_workers: int, axis: int) -> StructInfo:
    """A part of a tensor that every worker has completely: a distributed tensor, which is opaque
    here.
    """
    return OBJECT


@operator("relax.ccl.allgather", kept=_MOVES, calls="x(a, b), num_workers=2 | 4")
def allgather(site: OperatorCall, x: Tensor, num_workers: int, in_group: int = True) -> StructInfo:
    """The concatenated tensors of all workers."""
    rank(site, x, 0, 1, -1)
    dims = site.dims(x)
    if dims is None:
        return ranked(site.rank(x), x.dtype, x.vdevice)
    return resized(x, (mul(dims[0], const(num_workers)), *dims[1:]), None)


@operator(
    "relax.ccl.scatter_from_worker0",
    kept=_MOVES,
    calls="""
    x(a * 2, b), num_workers=2
    x(a, 4), num_workers=2, axis=1
    """,
    broken="""
    OBL-workers-positive: f(4, a), num_workers=0
    OBL-workers-divide: f(5, a), num_workers=2
    """,
)
def scatter_from_worker0(
    site: OperatorCall, x: Tensor, num_workers: int, axis_: int = 0
) -> StructInfo:
    """The tensor of the first worker, distributed among all workers along an axis."""
    need_known(site, "shape", (0, x))
    ndim, dims = site.rank(x), site.dims(x)
    if ndim is None or dims is None:
        return ranked(ndim, x.dtype, x.vdevice)
    if axis_ < 0:
        site.fail("OBL-axis-range", f"axis {axis_} must not be negative {site.of(0)}", best=x)
    along = axis(site, axis_, ndim, x)
    shared(site, x, along, num_workers)
    part = floordiv(dims[along], const(num_workers))
    return resized(x, (*dims[:along], part, *dims[along + 1 :]), ndim)


@rule("OBL-workers", "obligation")
def shared(site: OperatorCall, x: TensorStructInfo, along: int, workers: int) -> None:
    """Check that the number of workers is positive and divides the length of the axis."""
    if workers < 1:
        site.fail("OBL-workers-positive", f"num_workers is {workers}, expected at least 1")
    length = (site.dims(x) or ())[along]
    if exact(length, workers) is not None:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-workers-divide",
        EQ(FloorMod(length, const(workers)), ZERO),
        lambda: f"the length {show(length)} {site.of(0)} is not a multiple of {workers} workers",
        0,
    )
