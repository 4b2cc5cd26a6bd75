"""Normalisation over axes, with learned scales and offsets; softmax."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators.dim_arithmetic import ZERO, const, literal
from rlx.operators.parameters import Ints, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import agree, axes, axis, elements, fields, known, rank
from rlx.operators.site import Site, show
from rlx.spec.registry import rule


@rule("OBL-scale", "bbcc5738", "obligation")
def scales(site: Site, data: Tensor, parameters: Sequence[Tensor], over: Sequence[int]) -> None:
    """Check that the learned tensors have the lengths of the axes that they belong to."""
    dims = site.dims(data)
    wanted = None if dims is None else [dims[k] for k in over]
    first = 0
    for index, parameter in enumerate(parameters, 1):
        rank(site, parameter, index, len(over))
        found = site.dims(parameter)
        if found is None:
            continue
        if wanted is None:  # then the parameters are compared with each other
            wanted, first = list(found), index
            continue
        fits = site.together("OBL-scale-length", index)
        for k, length, aim in zip(over, found, wanted, strict=True):
            fits.equal(aim, length, partial(_misfit, site, (index, first), k, (aim, length)))
        if not fits.settle():
            return


def _misfit(site: Site, at: tuple[int, int], k: int, lengths: tuple[PrimExpr, PrimExpr]) -> str:
    wanted, found = map(show, lengths)
    first, second = site.of(at[0]), site.of(at[1])
    return f"{found} elements {first} do not match axis {k} of length {wanted} {second}"


def _normed(site: Site, data: Tensor, parameters: Sequence[Tensor], over: Sequence[int]) -> None:
    agree(site, (data, *parameters))
    elements(site, data, 0, "float")
    ndim = site.rank(data)
    operands = list(enumerate((data, *parameters)))
    known(site, "dtype", *operands)
    for index, parameter in operands[1:]:
        rank(site, parameter, index, len(over))
    known(site, "rank", *operands[1:])
    scales(site, data, parameters, over if ndim is None else axes(site, over, ndim, data))


@operator(
    "relax.nn.layer_norm",
    calls="""
    f(a, b), f(b), f(b), axes=[-1] | [1], epsilon=None | 0.01
    f(a, 4, b), f(4, b), f(4, b), axes=[1, 2]
    """,
)
def layer_norm(
    site: Site,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    axes: Ints,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
) -> StructInfo:
    """Zero mean and unit variance over the axes, then scale and offset."""
    _normed(site, data, (gamma, beta), axes)
    return data


@operator("relax.nn.rms_norm", calls="f(a, b), f(b), axes=[-1], epsilon=None | 0.01")
def rms_norm(
    site: Site, data: Tensor, weight: Tensor, axes: Ints = (-1,), epsilon: float = 1e-05
) -> StructInfo:
    """Unit mean square over the axes, then scale."""
    _normed(site, data, (weight,), axes)
    return data


@operator(
    "relax.nn.group_norm",
    calls="f(a, 4, b), f(4), f(4), num_groups=2 | 4 | 1, channel_axis=1, axes=[2]",
)
def group_norm(
    site: Site,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    num_groups: int,
    channel_axis: int,
    axes_: Ints,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
) -> StructInfo:
    """Zero mean and unit variance over groups of channels, then scale and offset."""
    _normed(site, data, (gamma, beta), (channel_axis,))
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is not None:
        axes(site, (channel_axis, *axes_), ndim, data)
    if dims is not None:
        grouped(site, dims[channel_axis], num_groups)
    return data


@rule("OBL-group", "7d8408f8", "obligation")
def grouped(site: Site, count: PrimExpr, groups: int) -> None:
    """Check that the number of groups is positive and divides the normalised channels."""
    if groups < 1:
        site.fail("OBL-group-positive", f"num_groups is {groups}, expected at least 1")
    whole = literal(count)
    if whole is not None and whole % groups == 0:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-group-divides",
        EQ(FloorMod(count, const(groups)), ZERO),
        lambda: f"{groups} groups do not divide {show(count)} channels {site.of(0)}",
        0,
    )


@operator(
    "relax.nn.instance_norm",
    calls="f(a, 4, b), f(4), f(4), channel_axis=1, axes=[2], epsilon=None | 0.01",
)
def instance_norm(
    site: Site,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    channel_axis: int,
    axes_: Ints,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
) -> StructInfo:
    """Zero mean and unit variance for each channel of each example, then scale and offset."""
    _normed(site, data, (gamma, beta), (channel_axis,))
    ndim = site.rank(data)
    if ndim is not None:
        axes(site, (channel_axis, *axes_), ndim, data)
    return data


@operator(
    "relax.nn.batch_norm",
    calls="f(a, 4, b) | f(a, 4), f(4), f(4), f(4), f(4), axis=1, training=None | False",
)
def batch_norm(
    site: Site,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    axis: int,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
    momentum: float = 0.1,
    training: int = True,
) -> StructInfo:
    """Zero mean and unit variance for each channel, and the new running mean and variance."""
    _normed(site, data, (gamma, beta, moving_mean, moving_var), (axis,))
    return fields((data, moving_mean, moving_var))


@operator("relax.nn.softmax", calls="f(a, b) | f(a) | f(a, 3, b), axis=None | 0 | -1")
@operator("relax.nn.log_softmax", calls="f(a, b) | f(a) | f(a, 3, b), axis=None | 0 | -1")
def softmax(site: Site, data: Tensor, axis_: int = -1) -> StructInfo:
    """Positive elements that sum to 1 along an axis (or their logarithms)."""
    elements(site, data, 0, "float")
    ndim = site.rank(data)
    if ndim is not None:
        axis(site, axis_, ndim, data)
    return data


@operator(
    "relax.nn.prelu",
    calls="""
    f(a, 4), f(4)
    f(a, 4), f(1), axis=-1
    f(a, b), f(b)
    """,
)
def prelu(site: Site, data: Tensor, alpha: Tensor, axis_: int = 1) -> StructInfo:
    """Negative elements scaled by a learned slope for each channel."""
    elements(site, data, 0, "float16 float32 float64")
    ndim, dims = site.rank(data), site.dims(data)
    slopes = site.dims(alpha)
    if ndim is None:
        return data
    channel = axis(site, axis_, ndim, data)
    rank(site, alpha, 1, 1)
    if dims is not None and slopes is not None and literal(slopes[0]) != 1:
        scales(site, data, (alpha,), (channel,))
    return data
