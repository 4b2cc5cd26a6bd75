"""Random annotations, as text, of every form; near to what a value is, or not."""

from __future__ import annotations

from random import Random

KINDS = ("tensor", "tensor", "tensor", "shape", "prim", "tuple", "function", "object")


class AnnotationNames:
    """What the place at hand can mention.

    Attributes
    ----------
    dims
        Shape variables and scalars that may stand in dimensions.
    shapes
        Variables that hold a shape.
    fresh
        Whether new shape variables may be bound.
    """

    def __init__(self) -> None:
        self.dims: list[str] = []
        self.shapes: list[str] = []
        self.fresh = True


def dimension(choose: Random, names: AnnotationNames, alone: bool) -> str:
    """A dimension; one that binds its variable stands alone."""
    if names.fresh and alone and choose.random() < 0.35:
        name = choose.choice("nmk")
        if name not in names.dims:
            names.dims.append(name)
        return name
    if not names.dims or choose.random() < 0.4:
        return str(choose.choice((0, 1, 2, 2, 3, 3, 4)))
    a = choose.choice(names.dims)
    b = choose.choice((*names.dims, "2", "1"))
    forms = ("{a}", "{a}", "{a}", "{a} + {b}", "{a} * 2", "{a} // 2", "{a} % {b}", "{a} - {b}")
    return choose.choice((*forms, "T.max({a}, 0)", "T.min({a}, {b})")).format(a=a, b=b)


def _dims(choose: Random, names: AnnotationNames) -> list[str]:
    return [dimension(choose, names, True) for _ in range(choose.choice((0, 1, 1, 1, 2, 2)))]


def _listed(dims: list[str]) -> str:
    return f"({', '.join(dims)}{',' * (len(dims) == 1)})"


def tensor(choose: Random, names: AnnotationNames) -> str:
    """Of a tensor."""
    kind = choose.choice(('"float32"', '"float32"', '"int64"', None))
    device = ', vdevice="llvm:0"' if choose.random() < 0.05 else ""
    dtype = "" if kind is None else f", dtype={kind}"
    match choose.randrange(8):
        case 0:
            return f"R.Tensor({f'dtype={kind}' if kind else ''}{device if kind else ''})"
        case 1 | 2:
            return f"R.Tensor(ndim={choose.randint(0, 2)}{dtype}{device})"
        case 3 if names.shapes:
            rank = f", ndim={choose.randint(0, 2)}" if choose.random() < 0.2 else ""
            return f"R.Tensor({choose.choice(names.shapes)}{dtype}{rank}{device})"
    return f"R.Tensor({_listed(_dims(choose, names))}{dtype}{device})"


def shape(choose: Random, names: AnnotationNames) -> str:
    """Of a shape."""
    match choose.randrange(4):
        case 0:
            return "R.Shape"
        case 1:
            return f"R.Shape(ndim={choose.randint(0, 2)})"
    return f"R.Shape([{', '.join(_dims(choose, names))}])"


def prim(choose: Random, names: AnnotationNames) -> str:
    """Of a scalar."""
    if choose.random() < 0.6:
        return choose.choice(("T.int64", "T.int64", 'R.Prim("int64")', "T.int32", "T.bool"))
    return f"R.Prim(value={dimension(choose, names, True)})"


def function(choose: Random, names: AnnotationNames, depth: int) -> str:
    """Of a function; its dimensions are its own, or known around it."""
    pure = choose.choice((True, True, False))
    match choose.randrange(5):
        case 0 | 1:
            return "R.Callable"
        case 2:
            return f"R.Callable(ret={annotation(choose, _closed(names), depth + 2)}, purity={pure})"
    inner = _closed(names)
    count = choose.choice((1, 1, 1, 2))
    params = [annotation(choose, inner, depth + 2) for _ in range(count)]
    return f"R.Callable({_listed(params)}, {annotation(choose, inner, depth + 2)}, {pure})"


def _closed(names: AnnotationNames) -> AnnotationNames:
    inner = AnnotationNames()
    inner.dims, inner.shapes, inner.fresh = list(names.dims), list(names.shapes), False
    return inner


def annotation(choose: Random, names: AnnotationNames, depth: int = 0, kind: str = "") -> str:
    """Of any value, or of one of a kind (at times of another one)."""
    if not kind or choose.random() < 0.12:
        kind = choose.choice(KINDS)
    if choose.random() < 0.08:
        kind = "object"
    match kind:
        case "tensor":
            return tensor(choose, names)
        case "shape":
            return shape(choose, names)
        case "prim":
            return prim(choose, names)
        case "tuple" if depth < 2:
            fields = [annotation(choose, names, depth + 1) for _ in range(choose.choice((1, 2, 2)))]
            return f"R.Tuple({', '.join(fields)})"
        case "function" if depth < 2:
            return function(choose, names, depth)
    return "R.Object"
