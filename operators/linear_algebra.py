"""Products that sum over shared axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, VOID, DataType
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import literal, same
from rlx.operators.elementwise import broadcast, convert, equal_or_one
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, te
from rlx.operators.operator_call import Dims, OperatorCall, show
from rlx.operators.parameters import Tensor, Tensors, Type
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import agree, need_known, place, rank, ranked, tensor
from rlx.spec.registry import rule


@operator(
    "relax.matmul",
    calls="""
    f(a, b), f(b, c) | f(b), out_dtype=None | 'float32'
    f(b), f(b) | f(b, a)
    t(a, 3, b), t(b, c)
    f(2, 1, a, b), f(3, b, c)
    int8(a, b), int8(b, c), out_dtype='int32'
    """,
    broken="""
    OBL-agree-dtype: float32(a, b), float16(b, c)
    OBL-rank-operand: f(), f(a)
    OBL-matmul-reduction: f(a, 3), f(4, b)
    OBL-matmul-reduction: f(3), f(4)
    """,
)
def matmul(site: OperatorCall, x1: Tensor, x2: Tensor, out_dtype: Type | None = None) -> StructInfo:
    """The product of two matrices, or of stacks of them; a vector counts as one row or one
    column.
    """
    out_dtype = out_dtype or agree(site, (x1, x2), booleans=True)
    device = place(site, (x1, x2))
    m, n = rank(site, x1, 0, 1, -1), rank(site, x2, 1, 1, -1)
    if m is None or n is None:
        return ranked(None, out_dtype, device)
    size = max(m, n, 2) - (m == 1) - (n == 1)
    a, b = site.dims(x1), site.dims(x2)
    if a is None or b is None:
        return ranked(size, out_dtype, device)
    if not reduces(site, a, b):
        return ranked(size, out_dtype, device)
    batch = broadcast(site, a[:-2], b[:-2]) if m > 2 and n > 2 else a[:-2] or b[:-2]
    if batch is None:
        return ranked(size, out_dtype, device)
    rows, columns = a[-2:-1], () if n == 1 else b[-1:]
    return tensor((*batch, *rows, *columns), out_dtype, device)


@computes("relax.matmul")
def matmul_value(a: Array, b: Array, kind: DataType | None) -> Array:
    _reduces(a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0])
    arrays.broadcast(np.empty(a.shape[:-2]), np.empty(b.shape[:-2]))
    made = arrays.kind_of(kind, a.dtype)
    if kind is not None:
        a, b = convert(a, made), convert(b, made)
    return arrays.back(arrays.quiet(np.matmul, arrays.wide(a), arrays.wide(b)), made)


@defines("relax.matmul")
def matmul_definition(out: Result, a: te.Tensor, b: te.Tensor, dtype: DataType | None) -> te.Tensor:
    """The product of matrices or of stacks of them; a vector counts as one row or column."""
    k = te.reduce_axis((0, a.shape[-1]), name="k")
    lead = out.ndim - (a.ndim > 1) - (b.ndim > 1)

    def factor(x: te.Tensor, outer: Sequence[te.Scalar], own: Sequence[te.Scalar]) -> te.Scalar:
        stacked = list(outer[lead - (x.ndim - len(own)) :]) if x.ndim > len(own) else []
        at = [
            exprs.int64(0) if exprs.is_one(dim) else v
            for dim, v in zip(x.shape[: len(stacked)], stacked, strict=True)
        ]
        value = exprs.wide(x(*at, *own))
        return value if dtype is None else exprs.wide(exprs.convert(value, out.dtype))

    def element(*i: te.Scalar) -> Any:
        outer, rest = i[:lead], list(i[lead:])
        row = [rest.pop(0)] if a.ndim > 1 else []
        left = factor(a, outer, [*row, k])
        right = factor(b, outer, [k, *rest] if b.ndim > 1 else [k])
        if left.dtype == BOOL:
            return exprs.some()(te.all(left, right), axis=k)
        return te.sum(left * right, axis=k)

    made = te.compute(out.shape, element, name="T_matmul")
    return _rounded(out, made)


@rule("OBL-matmul", "obligation")
def reduces(site: OperatorCall, a: Dims, b: Dims) -> bool:
    """Check that the reduction dimensions are equal; False if they never are."""
    x, y = a[-1], b[-2] if len(b) > 1 else b[0]
    return site.equal(
        "OBL-matmul-reduction",
        x,
        y,
        lambda: (
            f"the reduction dimensions differ: {show(x)} {site.of(0)} and {show(y)} {site.of(1)}"
        ),
        1,
    )


@operator("relax.outer", calls="t(a), t(b)", broken="OBL-rank-operand: f(a, b), f(c)")
def outer(site: OperatorCall, x1: Tensor, x2: Tensor) -> StructInfo:
    """The products of all pairs of elements of two vectors."""
    rank(site, x1, 0, 1)
    rank(site, x2, 1, 1)
    need_known(site, "rank", (0, x1), (1, x2))
    device = place(site, (x1, x2))
    a, b = site.dims(x1), site.dims(x2)
    if a is None or b is None:
        return ranked(2, x1.dtype, device)
    return tensor((*a, *b), x1.dtype, device)


@computes("relax.outer")
def outer_value(a: Array, b: Array) -> Array:
    return arrays.back(
        arrays.quiet(np.multiply, arrays.wide(a)[:, None], arrays.wide(b)[None, :]), a.dtype
    )


@defines("relax.outer")
def outer_definition(out: Result, a: te.Tensor, b: te.Tensor) -> te.Tensor:
    exprs.need_numbers(a.dtype)
    if a.dtype != b.dtype:
        decline("its operands have two types")
    return exprs.filled(out, lambda i, j: exprs.wide(a(i)) * exprs.wide(b(j)))


@operator(
    "relax.einsum",
    calls="""
    [f(a, b), f(b, c)], subscripts='ij,jk->ik' | 'ij,jk'
    [f(a, a)], subscripts='ii->i' | 'ii'
    [f(a, b)], subscripts='ij->ji' | 'ij->i'
    [f(a, b, 4), f(a, 4, 5)], subscripts='bij,bjk->bik'
    """,
    broken="""
    OBL-einsum-terms: [f(a, b), f(b, c)], subscripts='ij->i'
    OBL-einsum-rank: [f(a, b)], subscripts='ijk->i'
    OBL-einsum-dims: [f(a, 3), f(4, b)], subscripts='ij,jk->ik'
    """,
)
def einsum(site: OperatorCall, operands: Tensors, subscripts: str) -> StructInfo:
    """A sum of products over the axes that the subscripts name."""
    if operands is None:
        return ranked(None, VOID)
    if not operands:
        site.fail("OBL-rank-operand", "expected at least one operand", 0)
    at = (0,) * len(operands)
    kind, device = agree(site, operands, at), place(site, operands, at)
    need_known(site, "dtype", *((0, x) for x in operands))
    inputs, output = _subscripts(site, subscripts, len(operands))
    for term, x in zip(inputs, operands, strict=True):
        _named(site, term, x)
    before, dots, after = output.partition("...")
    named = "".join(inputs)
    if strange := [label for label in before + after if label not in named]:
        site.fail(
            "OBL-einsum-terms",
            f"the result label {strange[0]!r} appears in no operand of {subscripts!r}",
        )
    rest = [
        _apart(term, dims)
        for term, x in zip(inputs, operands, strict=True)
        if (dims := site.dims(x)) is not None
    ]
    batch: Dims | None = ()
    for _, _, lead in rest:
        batch = None if batch is None else broadcast(site, batch, lead, 0, 0)
    sizes = labelled(site, [term for term, _, _ in rest], [dims for _, dims, _ in rest])
    lengths = [sizes.get(label) for label in (*before, *after)]
    if len(rest) < len(operands) or batch is None or None in lengths:
        spread = _spread(site, inputs, operands) if dots else 0
        return ranked(None if spread is None else len(before + after) + spread, kind, device)
    middle = batch if dots else ()
    known_lengths = [dim for dim in lengths if dim is not None]
    shape = [*known_lengths[: len(before)], *middle, *known_lengths[len(before) :]]
    return tensor(shape, kind, device)


@computes("relax.einsum")
def einsum_value(operands: tuple[Array, ...], subscripts: str) -> Array:
    """A sum of products over the axes that the subscripts name; an axis of length 1 is
    broadcast.
    """
    text = subscripts.replace(" ", "")
    terms = text.partition("->")[0].split(",")
    try:
        # NumPy broadcasts axes of several operands, not those of one
        spread = [_diagonal(*each) for each in zip(terms, operands, strict=True)]
        found = arrays.quiet(lambda: np.einsum(text, *map(arrays.wide, spread)))
    except ValueError as error:
        shapes = ", ".join(str(x.shape) for x in operands)
        _reduces(len(terms), -1 if len(terms) == len(operands) else len(operands))
        raise OperatorFault(
            "E-product-reduction", f"{text} cannot be applied to the shapes {shapes}: {error}"
        ) from None
    return arrays.back(np.array(found), operands[0].dtype)


def _diagonal(term: str, x: Array) -> Array:
    """An operand whose axes with one label have one length: those of length 1 are broadcast."""
    before, _, after = term.partition("...")
    labels = before + "." * (x.ndim - len(before + after)) + after
    lengths = {
        label: dim for label, dim in zip(labels, x.shape, strict=True) if dim != 1 and label != "."
    }
    shape = [lengths.get(label, dim) for label, dim in zip(labels, x.shape, strict=True)]
    return np.broadcast_to(x, shape)


@defines("relax.einsum")
def einsum_definition(out: Result, operands: Sequence[te.Tensor], subscripts: str) -> te.Tensor:
    text = subscripts.replace(" ", "")
    if "." in text:
        decline("its subscripts have an ellipsis")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    exprs.need_numbers(*(x.dtype for x in operands))
    letters = [c for c in dict.fromkeys(inputs) if c != ","]
    if not arrow:
        result = "".join(sorted(c for c in letters if inputs.count(c) == 1))
    sizes: dict[str, te.Scalar] = {}
    for term, x in zip(terms, operands, strict=True):
        for letter, dim in zip(term, x.shape, strict=True):
            known = sizes.get(letter)
            if known is None or exprs.is_one(known):
                sizes[letter] = dim
            elif not (exprs.is_one(dim) or dim.written_as(known)):
                if known.value is None and dim.value is None:
                    decline("which of its axes have the length 1 is known only at run time")
                sizes[letter] = known if dim.value is None else dim
    over = {c: te.reduce_axis((0, sizes[c]), name=f"k_{c}") for c in letters if c not in result}

    def element(*i: te.Scalar) -> Any:
        place: dict[str, te.Scalar] = {**dict(zip(result, i, strict=True)), **over}
        found: te.Scalar | None = None
        for term, x in zip(terms, operands, strict=True):
            at = [[of[letter] for letter in term] for of in (place, sizes)]
            value = exprs.wide(exprs.broadcast(x, *at))
            found = value if found is None else found * value
        assert found is not None
        return te.sum(found, axis=list(over.values())) if over else found

    return _rounded(out, te.compute(out.shape, element, name="T_einsum"))


def _spread(site: OperatorCall, terms: list[str], operands: tuple[Tensor, ...]) -> int | None:
    """The number of axes that the ellipsis stands for, as far as ranks tell; None if one is
    unknown.
    """
    found = 0
    for term, x in zip(terms, operands, strict=True):
        ndim = site.rank(x)
        if "..." in term and ndim is None:
            return None
        if "..." in term:
            found = max(found, (ndim or 0) - len(term.replace("...", "")))
    return found


def _named(site: OperatorCall, term: str, x: TensorStructInfo) -> None:
    """A term names each axis of its operand, where the rank is known."""
    ndim, names = site.rank(x), len(term.replace("...", ""))
    if ndim is not None and (ndim < names if "..." in term else ndim != names):
        site.fail(
            "OBL-einsum-rank",
            f"the term {term!r} names {names} axes, but its operand has rank {ndim}",
            0,
        )


def _apart(term: str, dims: Dims) -> tuple[str, Dims, Dims]:
    """A term without its ellipsis, the dimensions of its labels, and those the ellipsis stands
    for.
    """
    before, dots, after = term.partition("...")
    if not dots:
        return term, dims, ()
    end = max(len(dims) - len(after), len(before))
    return before + after, dims[: len(before)] + dims[end:], dims[len(before) : end]


def _subscripts(site: OperatorCall, text: str, count: int) -> tuple[list[str], str]:
    """The terms of the operands and of the result, without blanks."""
    left, arrow, output = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != count:
        site.fail(
            "OBL-einsum-terms",
            f"the subscripts {text!r} name {len(inputs)} operands, but {count} are given",
        )
    if not arrow:
        letters = "".join(inputs).replace("...", "")
        once = sorted(x for x in set(letters) if letters.count(x) == 1)
        output = ("..." if "..." in left else "") + "".join(once)
    return inputs, output


@rule("OBL-einsum", "obligation")
def labelled(
    site: OperatorCall, terms: list[str], shapes: list[Dims]
) -> dict[str, PrimExpr | None]:
    """The length of each label; every axis with the label must have this length or 1. None if it
    depends on which of them is 1.
    """
    sizes: dict[str, PrimExpr | None] = {}
    met: dict[str, list[PrimExpr]] = {}
    lengths = site.together("OBL-einsum-dims", 0)
    for term, dims in zip(terms, shapes, strict=True):
        for label, dim in zip(term, dims, strict=True):
            if literal(dim) == 1:
                sizes.setdefault(label, dim)
                continue
            others = [each for each in met.setdefault(label, []) if not same(each, dim)]
            met[label].append(dim)
            if not others:
                sizes[label] = dim
                continue
            for other in others:
                lengths.require(
                    equal_or_one(other, dim),
                    lambda label=label, other=other, dim=dim: (  # type: ignore[misc]
                        f"the axes labelled {label!r} have the lengths {show(other)} and"
                        f" {show(dim)}"
                    ),
                )
            numbers = [each for each in met[label] if literal(each) is not None]
            if numbers:
                sizes[label] = numbers[0]
            elif not all(site.ctx.prover.equal(each, dim).status == "proved" for each in others):
                sizes[label] = None
    lengths.settle()
    return sizes


# ---------------------------------------------------------------- values


@rule("E-product", "computation")
def _reduces(x: int, y: int) -> None:
    if x != y:
        raise OperatorFault("E-product-reduction", f"the reduction dimensions differ: {x} and {y}")


# ---------------------------------------------------------------- definitions


def _rounded(out: Result, made: te.Tensor) -> te.Tensor:
    """A result in the type of the operator; as it is where it has that type."""
    if made.dtype == out.dtype:
        return made
    return exprs.filled(out, made, f"T_{out.name}_as")
