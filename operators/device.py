"""Where values are: virtual devices, workers, meshes; and what concerns only how they are compiled."""

from __future__ import annotations

from rlx.grammar.ast import (
    Call,
    Expr,
    Op,
    PrimValue,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    Var,
    VDevice,
)
from rlx.grammar.devices import numbered
from rlx.grammar.tir import EQ, FloorMod, IntImm
from rlx.operators.declare import operator
from rlx.operators.dims import ZERO, const, exact, floordiv, mul
from rlx.operators.evaluation import late
from rlx.operators.messages import show
from rlx.operators.site import OBJECT, Site
from rlx.operators.tensors import axis, choice, known, rank, ranked, resized
from rlx.spec.registry import rule


@operator("relax.to_vdevice", "data: expr, dst_vdevice: any")
def to_vdevice(site: Site, data: Expr, target: object) -> StructInfo:
    """The value copied to a virtual device."""
    return _placed(site.ctx.info(data), declared(site, _device(target), data))


@rule("OBL-vdevice", "2e079a9c")
def declared(site: Site, device: VDevice | None, data: Expr) -> VDevice:
    """A transfer goes to a virtual device of the module."""
    best = site.ctx.info(data)
    if device is None:
        site.fail("OBL-vdevice-kind", "the target is no virtual device", 1, _placed(best, None))
    known = site.ctx.vdevices()
    of_list = device.target == "vdevice" and device.index < len(known)
    if not of_list and (device.target, device.index) not in known:
        listed = ", ".join(f"{kind}:{number}" for kind, number in known) or "none"
        words = f"'{device.target}:{device.index}' is no device of the module, which has: {listed}"
        site.fail("OBL-vdevice-declared", words, 1, _placed(best, None))
    return device


def _device(target: object) -> VDevice | None:
    """A virtual device, or the text of one: ``"cuda:0"``, ``"llvm"``, ``"cuda:0:shared"``."""
    text = getattr(target, "value", target)
    if isinstance(target, VDevice) or not isinstance(text, str):
        return target if isinstance(target, VDevice) else None
    name, _, rest = text.partition(":")
    index, _, scope = rest.partition(":")
    return VDevice(name, int(index) if index.isdigit() else 0, scope or "global")


def _placed(info: StructInfo, device: VDevice | None) -> StructInfo:
    match info:
        case TensorStructInfo():
            return TensorStructInfo(info.shape, info.dtype, info.ndim, device)
        case TupleStructInfo(fields=parts):
            return TupleStructInfo(tuple(_placed(part, device) for part in parts))
    return info


@operator("relax.device", "device_type: any, index: any = 0")
def device(site: Site, kind: object, index: object) -> StructInfo:
    """A physical device, as texts write it among the arguments of an operator."""
    return OBJECT


@operator("relax.hint_on_device", "data, dst_vdevice: any, memory_scope: str = 'global'")
def hint_on_device(site: Site, data: TensorStructInfo, device: object, scope: str) -> StructInfo:
    """The value on a device of the module, if it has the one that is named."""
    wanted = _device(device) or _numbered(site, device)
    return data if wanted is None else _placed(data, wanted)


def _numbered(site: Site, device: object) -> VDevice | None:
    """The device of the module that `R.device(type, index)` names."""
    if isinstance(device, Var):
        device = site.ctx.bound(device)
    match device:
        case Call(op=Op(op_name="relax.device"), args=args, attrs=attrs):
            given = [*args, *(attrs[k] for k in ("device_type", "index") if k in attrs)]
            number, index = (_integer(x) for x in ([*given, 0])[:2])
            found = None if number is None or index is None else (number, index)
            known = found and numbered(site.ctx.vdevices(), *found)
            return VDevice(*known) if known else None
    return None


def _integer(value: object) -> int | None:
    match value:
        case int():
            return value
        case PrimValue(value=IntImm(value=number)) | IntImm(value=number):
            return number
    return None


@operator("relax.builtin.stop_lift_params", "x", evaluate=late("identity.same"))
@operator("relax.ccl.broadcast_from_worker0", "x")
def same_tensor(site: Site, x: TensorStructInfo) -> StructInfo:
    """A tensor like the one given: a mark for the compiler, or the first worker's."""
    return x


REDUCTIONS = ("sum", "prod", "min", "max", "avg")


@operator("relax.ccl.allreduce", "x, op_type: str = 'sum', in_group: int = True")
def allreduce(site: Site, x: TensorStructInfo, how: str, in_group: int) -> StructInfo:
    """The tensors of all workers, reduced element by element."""
    choice(site, "op_type", how, REDUCTIONS)
    return x


@operator("relax.grad.start_checkpoint", "input: expr", evaluate=late("identity.same"))
@operator("relax.grad.end_checkpoint", "input: expr", evaluate=late("identity.same"))
def checkpoint(site: Site, value: Expr) -> StructInfo:
    """Where a part begins or ends that is computed again for the gradient: a variable, as it is."""
    if not isinstance(value, Var):
        site.fail("D14-argument", "the input of a checkpoint must be a variable", 0)
    return site.ctx.info(value)


@operator("relax.grad.no_grad", "input: expr", evaluate=late("identity.same"))
@operator("relax.dist.annotate_sharding", "value: expr, device_mesh: any, placement: any")
@operator("relax.dist.redistribute", "value: expr, device_mesh: any, placement: any")
def unchanged(site: Site, value: Expr, *rest: object) -> StructInfo:
    """A value of the same kind: a mark for the compiler."""
    return site.ctx.info(value)


@operator("relax.dist.redistribute_replica_to_shard", "input: expr, num_workers: int, axis: int")
def to_shard(site: Site, value: Expr, workers: int, given: int) -> StructInfo:
    """A part of a tensor that every worker has whole: a distributed tensor, opaque here."""
    return OBJECT


@operator("relax.ccl.allgather", "x, num_workers: int, in_group: int = True")
def allgather(site: Site, x: TensorStructInfo, workers: int, in_group: int) -> StructInfo:
    """The tensors of all workers one after the other."""
    rank(site, x, 0, 1, -1)
    dims = site.dims(x)
    if dims is None:
        return ranked(site.rank(x), x.dtype, x.vdevice)
    return resized(x, (mul(dims[0], const(workers)), *dims[1:]), None)


@operator("relax.ccl.scatter_from_worker0", "x, num_workers: int, axis: int = 0")
def scatter_from_worker0(site: Site, x: TensorStructInfo, workers: int, given: int) -> StructInfo:
    """The tensor of the first worker divided among all along an axis."""
    known(site, "shape", (0, x))
    ndim, dims = site.rank(x), site.dims(x)
    if ndim is None or dims is None:
        return ranked(ndim, x.dtype, x.vdevice)
    if given < 0:
        site.fail("OBL-axis-range", f"axis {given} must not be negative {site.of(0)}", best=x)
    along = axis(site, given, ndim, x)
    shared(site, x, along, workers)
    part = floordiv(dims[along], const(workers))
    return resized(x, (*dims[:along], part, *dims[along + 1 :]), ndim)


@rule("OBL-workers", "3915a610")
def shared(site: Site, x: TensorStructInfo, along: int, workers: int) -> None:
    """The number of workers is positive and divides the length of the axis."""
    if workers < 1:
        site.fail("OBL-workers-positive", f"num_workers is {workers}, expected at least 1")
    length = (site.dims(x) or ())[along]
    if exact(length, workers) is not None:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-workers-divide",
        EQ(FloorMod(length, const(workers)), ZERO),
        lambda: f"{workers} workers do not share the length {show(length)} {site.of(0)} evenly",
        0,
    )
