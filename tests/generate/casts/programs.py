"""Random programs of casts, annotations and calls, as text."""

from __future__ import annotations

from random import Random

# Random annotations, as text, of every form; near to what a value is, or not.


KINDS = ("tensor", "tensor", "tensor", "shape", "prim", "tuple", "function", "object")


class AnnotationNames:
    """The names that the current place can mention.

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
    """A cast of a tensor."""
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
    """A cast of a shape."""
    match choose.randrange(4):
        case 0:
            return "R.Shape"
        case 1:
            return f"R.Shape(ndim={choose.randint(0, 2)})"
    return f"R.Shape([{', '.join(_dims(choose, names))}])"


def prim(choose: Random, names: AnnotationNames) -> str:
    """A cast of a scalar."""
    if choose.random() < 0.6:
        return choose.choice(("T.int64", "T.int64", 'R.Prim("int64")', "T.int32", "T.bool"))
    return f"R.Prim(value={dimension(choose, names, True)})"


def function(choose: Random, names: AnnotationNames, depth: int) -> str:
    """A cast of a function; its dimensions are its own, or known around it."""
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
    """A cast of any value, or of one of a kind (sometimes of another one)."""
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


HEAD = """@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda")]})
"""
_STEPS = 5


class CastWriter:
    """A function under construction.

    Attributes
    ----------
    values
        Variables with the kind that they probably are of.
    """

    def __init__(self, choose: Random, callees: list[tuple[str, list[str]]]) -> None:
        self.choose, self.callees = choose, callees
        self.names = AnnotationNames()
        self.values: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.count = 0

    def parameter(self, name: str, kind: str) -> str:
        """A parameter and its annotation; of a scalar and of a shape what follows may mention the
        name.
        """
        written = annotation(self.choose, self.names, kind=kind)
        self._named(name, written)
        self.values.append((name, kind))
        return f"{name}: {written}"

    def _named(self, name: str, written: str) -> None:
        if written in ("T.int64", 'R.Prim("int64")'):
            self.names.dims.append(name)
        elif written.startswith("R.Shape"):
            self.names.shapes.append(name)

    def step(self) -> None:
        """One binding."""
        self.count += 1
        name = f"v{self.count}"
        made = self.choose.choices(
            (self._cast, self._annotated, self._called, self._tuple, self._made, self._local),
            (8, 2, 3, 1, 2, 1),
        )[0]
        made(name)

    def value(self, kind: str = "") -> tuple[str, str]:
        """A variable, of a kind if there is one."""
        fitting = [v for v in self.values if v[1] == kind]
        return self.choose.choice(fitting or self.values)

    def _cast(self, name: str) -> None:
        source, kind = self.value()
        written = annotation(self.choose, self.names, kind=kind)
        if self.choose.random() < 0.15:
            self.lines.append(f"R.match_cast({source}, {written})")
            return
        self.lines.append(f"{name} = R.match_cast({source}, {written})")
        self._bound(name, kind, written)

    def _bound(self, name: str, kind: str, written: str) -> None:
        self.values.append((name, kind))
        self._named(name, written)

    def _annotated(self, name: str) -> None:
        source, kind = self.value()
        names = AnnotationNames()
        names.dims, names.shapes, names.fresh = self.names.dims, self.names.shapes, False
        written = annotation(self.choose, names, kind=kind)
        self.lines.append(f"{name}: {written} = {source}")
        self._bound(name, kind, written)

    def _called(self, name: str) -> None:
        if not self.callees:
            self._cast(name)
            return
        callee, kinds = self.choose.choice(self.callees)
        args = [self.value(kind)[0] for kind in kinds]
        if self.choose.random() < 0.1:
            packed = f'R.call_pure_packed("id", {args[0]}, sinfo_args=(R.Object,))'
            self.lines.append(f"{name} = {packed}")
        else:
            self.lines.append(f"{name} = cls.{callee}({', '.join(args)})")
        self.values.append((name, self.choose.choice(kinds)))

    def _tuple(self, name: str) -> None:
        fields = [self.value() for _ in range(2)]
        self.lines.append(f"{name} = ({fields[0][0]}, {fields[1][0]})")
        self.values.append((name, "tuple"))
        if self.choose.random() < 0.5:
            self.lines.append(f"{name}f = {name}[{self.choose.randrange(2)}]")
            self.values.append((f"{name}f", fields[0][1]))

    def _made(self, name: str) -> None:
        """A shape, a scalar or a tensor of dimensions that are known, a function."""
        dims = [dimension(self.choose, self.names, False) for _ in range(self.choose.randint(1, 2))]
        shape = f"R.shape([{', '.join(dims)}])"
        match self.choose.randrange(5):
            case 0:
                self.lines.append(f"{name} = {shape}")
                self._bound(name, "shape", "R.Shape")
            case 1:
                self.lines.append(f"{name} = R.prim_value({dims[0]})")
                self._bound(name, "prim", "T.int64")
            case 2:
                self.lines.append(f'{name} = R.zeros({shape}, "float32")')
                self.values.append((name, "tensor"))
            case 3 if self.callees:
                self.lines.append(f"{name} = cls.{self.choose.choice(self.callees)[0]}")
                self.values.append((name, "function"))
            case _:
                self.lines.append(f'{name} = R.ExternFunc("id")')
                self.values.append((name, "function"))

    def _local(self, name: str) -> None:
        """A function literal, which sees what stands before it."""
        inner = CastWriter(self.choose, self.callees)
        inner.names.dims = list(self.names.dims)
        inner.names.shapes = list(self.names.shapes)
        kind = self.value()[1]
        param = inner.parameter("a", kind)
        inner.values += [v for v in self.values if v[1] != "function"]
        inner.count = 100 * self.count
        inner.step()
        result = self.choose.choice(("R.Object", annotation(self.choose, inner.names, kind=kind)))
        self.lines += [
            "@R.function",
            f"def {name}({param}) -> {result}:",
            *(f"    {line}" for line in inner.lines),
            f"    return {inner.values[-1][0]}",
        ]
        if self.choose.random() < 0.6:
            self.lines.append(f"{name}r = {name}({self.value(kind)[0]})")
            self.values.append((f"{name}r", kind))
        self.values.append((name, "function"))

    def text(self, name: str, params: list[str], private: bool) -> str:
        """The function as text."""
        result = ""
        source, kind = self.choose.choice(self.values[-3:])
        if self.choose.random() < 0.5:
            names = AnnotationNames()
            names.dims, names.shapes, names.fresh = self.names.dims, self.names.shapes, False
            result = f" -> {annotation(self.choose, names, kind=kind)}"
        head = "@R.function(private=True)" if private else "@R.function"
        lines = [head, f"def {name}({', '.join(params)}){result}:", "    cls = M"]
        lines += [f"    {line}" for line in self.lines] + [f"    return {source}"]
        return "".join(f"    {line}\n" for line in lines)


_PARAMS = ("tensor", "tensor", "tensor", "shape", "prim", "tuple", "object")


def program(choose: Random) -> str:
    """A module with an entry ``main`` and up to two functions that it calls; it may be wrong."""
    text = HEAD
    callees: list[tuple[str, list[str]]] = []
    for name in ("f", "g")[: choose.randint(0, 2)]:
        kinds = [choose.choice(_PARAMS) for _ in range(choose.randint(1, 2))]
        text += _function(choose, name, kinds, [], choose.random() < 0.7, choose.randint(0, 1))
        callees.append((name, kinds))
    kinds = [choose.choice(_PARAMS) for _ in range(choose.randint(1, 3))]
    return text + _function(choose, "main", kinds, callees, False, choose.randint(1, _STEPS))


def _function(
    choose: Random,
    name: str,
    kinds: list[str],
    callees: list[tuple[str, list[str]]],
    private: bool,
    steps: int,
) -> str:
    writer = CastWriter(choose, callees)
    params = [writer.parameter(f"{name}{at}", kind) for at, kind in enumerate(kinds)]
    for _ in range(steps):
        writer.step()
    return writer.text(name, params, private)
