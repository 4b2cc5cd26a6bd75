"""Where values are: virtual devices, workers, meshes; and what concerns only how they are compiled."""

from __future__ import annotations

from rlx.grammar.ast import Expr, StructInfo, TensorStructInfo, TupleStructInfo, VDevice
from rlx.grammar.tir import EQ, FloorMod
from rlx.operators.declare import operator
from rlx.operators.dims import ZERO, const, exact, floordiv, mul
from rlx.operators.evaluation import late
from rlx.operators.messages import show
from rlx.operators.site import OBJECT, Site
from rlx.operators.tensors import axis, ranked, resized
from rlx.spec.registry import rule


@operator("relax.to_vdevice", "data: expr, dst_vdevice: any")
def to_vdevice(site: Site, data: Expr, target: object) -> StructInfo:
    """The value copied to a virtual device."""
    return _placed(site.ctx.info(data), _device(target))


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
    """The value, with a wish where it should be."""
    return data


@operator("relax.builtin.stop_lift_params", "x: expr", evaluate=late("identity.same"))
@operator("relax.grad.no_grad", "input: expr", evaluate=late("identity.same"))
@operator("relax.grad.start_checkpoint", "input: expr", evaluate=late("identity.same"))
@operator("relax.grad.end_checkpoint", "input: expr", evaluate=late("identity.same"))
@operator("relax.dist.annotate_sharding", "value: expr, device_mesh: any, placement: any")
@operator("relax.dist.redistribute", "value: expr, device_mesh: any, placement: any")
@operator("relax.ccl.allreduce", "x: expr, op_type: str = 'sum', in_group: int = True")
@operator("relax.ccl.broadcast_from_worker0", "x: expr")
def unchanged(site: Site, value: Expr, *rest: object) -> StructInfo:
    """A value of the same kind: a mark for the compiler, or an exchange between workers."""
    return site.ctx.info(value)


@operator("relax.dist.redistribute_replica_to_shard", "input: expr, num_workers: int, axis: int")
def to_shard(site: Site, value: Expr, workers: int, given: int) -> StructInfo:
    """A part of a tensor that every worker has whole: a distributed tensor, opaque here."""
    return OBJECT


@operator("relax.ccl.allgather", "x, num_workers: int, in_group: int = True")
def allgather(site: Site, x: TensorStructInfo, workers: int, in_group: int) -> StructInfo:
    """The tensors of all workers one after the other."""
    dims = site.dims(x)
    if not dims:
        return ranked(site.rank(x), x.dtype, x.vdevice)
    return resized(x, (mul(dims[0], const(workers)), *dims[1:]), None)


@operator("relax.ccl.scatter_from_worker0", "x, num_workers: int, axis: int = 0")
def scatter_from_worker0(site: Site, x: TensorStructInfo, workers: int, given: int) -> StructInfo:
    """The tensor of the first worker divided among all along an axis."""
    ndim, dims = site.rank(x), site.dims(x)
    if ndim is None or dims is None:
        return ranked(ndim, x.dtype, x.vdevice)
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
