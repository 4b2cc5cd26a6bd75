"""The comparisons of one check (E-cast), each against what is guaranteed of the value.

E-cast has two phases, and so has this: first the variables that the check binds get their images, then every
part is judged with the images put in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rlx.checker.derive.words import show
from rlx.checker.dynamic_checks.model import Part, PartStatus, Path
from rlx.grammar import ast, tir
from rlx.grammar.ast import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    VDevice,
)
from rlx.grammar.node import Node
from rlx.grammar.tir import PrimExpr
from rlx.solver import walk
from rlx.solver.order import disjoint, substitute, substitute_prim, subtype
from rlx.solver.order.partial import demand
from rlx.solver.order.parts import apart, dimensions, identical, rank, same_text
from rlx.solver.order.subtype import says_nothing
from rlx.solver.prover import Prover, equation
from rlx.spec.registry import refuted, rule

Info = StructInfo | None
Held = Mapping[Node, StructInfo]
"""What is guaranteed of variables, to look up those that hold shapes."""

_KINDS: dict[type[StructInfo], str] = {
    TensorStructInfo: "a tensor",
    ShapeStructInfo: "a shape",
    PrimStructInfo: "a scalar",
    TupleStructInfo: "a tuple",
    FuncStructInfo: "a function",
}
_ZERO = tir.IntImm(0)


class Judgement:
    """Judges the parts of one check.

    Parameters
    ----------
    prover
        Knows what is guaranteed at the place of the check.
    binders
        The shape variables that the check binds.
    held
        What is guaranteed of variables that hold a shape.
    written
        The shape variables that a text can mention here; others only stand for what is not known.

    Attributes
    ----------
    images
        The dimension that each bound variable is known to meet first, None where it is not known.
    sizes
        The bound variables that are the size of a tensor, and so not negative.
    equations
        What holds once the check has succeeded, and did not before.
    contradictory
        Whether dimensions that could each be equal cannot all be.
    """

    def __init__(
        self,
        prover: Prover,
        binders: Collection[tir.Var],
        held: Held,
        written: Collection[tir.Var] = (),
    ) -> None:
        self.prover = prover
        self.binders = frozenset(binders)
        self.held = held
        self.written = written
        self.parts: list[Part] = []
        self.images: dict[tir.Var, PrimExpr | None] = {}
        self.sizes: set[tir.Var] = set()
        self.equations: list[tuple[PrimExpr, PrimExpr]] = []
        self.contradictory = False
        self._first: dict[tir.Var, tuple[Path, int]] = {}
        self._known: dict[tir.Var, PrimExpr] = {}
        self._position = 0

    def judge(self, founds: Sequence[Info], wanteds: Sequence[StructInfo]) -> list[list[Part]]:
        """The parts of each pair, all read together as E-cast does; None stands for any value."""
        for index, (found, wanted) in enumerate(zip(founds, wanteds, strict=True)):
            self._collect(found, wanted, (), index)
        self._known = {v: image for v, image in self.images.items() if image is not None}
        judged: list[list[Part]] = []
        for index, (found, wanted) in enumerate(zip(founds, wanteds, strict=True)):
            self._position = index
            self.parts = []
            self._compare(found, wanted, ())
            judged.append(self.parts)
        several = len(self.equations) > 1
        self.contradictory = several and self._never(equation(self.equations))
        return judged

    # ------------------------------------------------------------ first phase

    def _collect(self, found: Info, wanted: StructInfo, path: Path, index: int) -> None:
        """Note where each variable is bound, and what is known to stand there."""
        match wanted:
            case (
                TensorStructInfo(shape=ast.ShapeExpr(values=dims))
                | ShapeStructInfo(values=tuple() as dims)
            ):
                given = _dimensions_of(found, wanted)
                for at, dim in enumerate(dims):
                    image = given[at] if given is not None and len(given) == len(dims) else None
                    self._bind(dim, image, (*path, f"dimension {at}"), index)
                    if isinstance(dim, tir.Var) and isinstance(wanted, TensorStructInfo):
                        self.sizes.add(dim)
            case PrimStructInfo(value=PrimExpr() as value):
                image = found.value if isinstance(found, PrimStructInfo) else None
                self._bind(value, image, path, index)
            case TupleStructInfo(fields=fields):
                for at, inner in enumerate(fields):
                    self._collect(_field(found, at), inner, (*path, f"field {at}"), index)

    def _bind(self, said: PrimExpr, image: PrimExpr | None, path: Path, index: int) -> None:
        if isinstance(said, tir.Var) and said in self.binders and said not in self._first:
            self._first[said] = (path, index)
            self.images[said] = image

    # ------------------------------------------------------------ second phase

    def _compare(self, found: Info, wanted: StructInfo, path: Path) -> None:
        if isinstance(wanted, ObjectStructInfo):
            return
        kind = self._kind(found, wanted)
        self._add(path, "kind", kind, _KINDS[type(wanted)], "" if _vague(found) else _said(found))
        if kind == "impossible":
            return
        same = found if type(found) is type(wanted) else None
        match wanted:
            case TensorStructInfo():
                assert same is None or isinstance(same, TensorStructInfo)
                self._tensor(same, wanted, path)
            case ShapeStructInfo(values=dims):
                self._ranked(same, rank(wanted), dims, path)
            case PrimStructInfo():
                assert same is None or isinstance(same, PrimStructInfo)
                self._scalar(same, wanted, path)
            case TupleStructInfo(fields=fields):
                self._fields(same, fields, path)
            case FuncStructInfo() if not says_nothing(wanted):
                assert same is None or isinstance(same, FuncStructInfo)
                self._function(same, wanted, path)

    def _kind(self, found: Info, wanted: StructInfo) -> PartStatus:
        known = not (found is None or isinstance(found, ObjectStructInfo))
        if isinstance(found, FuncStructInfo) and isinstance(wanted, FuncStructInfo):
            known = wanted.params is None or found.params is not None
        return _status(known, type(found) is type(wanted))

    def _tensor(self, found: TensorStructInfo | None, wanted: TensorStructInfo, at: Path) -> None:
        if not wanted.dtype.is_void:
            known = found is not None and not found.dtype.is_void
            given = str(found.dtype) if found is not None and known else ""
            same = given == str(wanted.dtype)
            self._add(at, "dtype", _status(known, same), str(wanted.dtype), given)
        if wanted.vdevice is not None:
            device = None if found is None else found.vdevice
            given = "" if device is None else _device(device)
            name = _device(wanted.vdevice)
            self._add(at, "device", _status(bool(given), given == name), name, given)
        shape = wanted.shape
        if isinstance(shape, ast.Var):
            self._held_shape(found, shape, at)
        else:
            dims = shape.values if isinstance(shape, ast.ShapeExpr) else None
            self._ranked(found, wanted.ndim if dims is None else len(dims), dims, at)

    def _held_shape(self, found: TensorStructInfo | None, shape: ast.Var, path: Path) -> None:
        """A shape that a variable holds: the same variable, or dimensions that are known."""
        if found is not None and found.shape is shape:
            return
        info = self.held.get(shape)
        if isinstance(info, ShapeStructInfo) and info.values is not None:
            self._ranked(found, len(info.values), info.values, path)
        else:
            self._add(path, "dimension", "needed", f"the shape {shape.name_hint}", _said(found))

    def _ranked(
        self,
        found: StructInfo | None,
        wanted: int,
        dims: tuple[PrimExpr, ...] | None,
        path: Path,
    ) -> None:
        known = isinstance(found, TensorStructInfo | ShapeStructInfo)
        ndim = rank(found) if known else -1  # type: ignore[arg-type]
        if wanted >= 0:
            status = _status(ndim >= 0, ndim == wanted)
            self._add(path, "rank", status, str(wanted), str(ndim) if ndim >= 0 else "")
            if status == "impossible":
                return
        given = self._spelled(found) if found is not None else None
        tensor = not isinstance(found, ShapeStructInfo)
        for at, dim in enumerate(dims or ()):
            other = given[at] if given is not None else None
            self._number(dim, other, (*path, f"dimension {at}"), "dimension", tensor)

    def _spelled(self, found: StructInfo) -> tuple[PrimExpr, ...] | None:
        """The dimensions of a value, those of a shape that a variable holds included."""
        if isinstance(found, TensorStructInfo) and isinstance(found.shape, ast.Var):
            info = self.held.get(found.shape)
            if isinstance(info, ShapeStructInfo):
                return info.values
        assert isinstance(found, TensorStructInfo | ShapeStructInfo)
        return dimensions(found)

    def _scalar(self, found: PrimStructInfo | None, wanted: PrimStructInfo, path: Path) -> None:
        given = "" if found is None else str(found.dtype)
        same = given == str(wanted.dtype)
        self._add(path, "dtype", _status(bool(given), same), str(wanted.dtype), given)
        if wanted.value is not None and (same or not given):
            value = None if found is None else found.value
            self._number(wanted.value, value, path, "value", False)

    def _fields(self, found: Info, fields: tuple[StructInfo, ...], path: Path) -> None:
        count = len(found.fields) if isinstance(found, TupleStructInfo) else -1
        status = _status(count >= 0, count == len(fields))
        self._add(path, "fields", status, f"{len(fields)} fields", str(count) if count >= 0 else "")
        if status != "impossible":
            for at, inner in enumerate(fields):
                self._compare(_field(found, at), inner, (*path, f"field {at}"))

    @rule("CHECK-function", "517f6898")
    def _function(self, found: FuncStructInfo | None, wanted: FuncStructInfo, path: Path) -> None:
        """A run refuses a closure only if it cannot fit, so what is known of it has to be neither more nor less."""
        known = substitute(wanted, self._known)
        proved = found is not None and all(
            subtype(a, b, self.prover).status == "proved"
            for a, b in ((found, known), (known, found))
        )
        status: PartStatus = "proved"
        if not proved:
            refuted("CHECK-function-same")
            never = found is not None and disjoint(found, known, self.prover) is not None
            status = "impossible" if never else "needed"
        self._add(path, "function", status, show(wanted), _said(found))

    # ------------------------------------------------------------ numbers

    @rule("CHECK-number", "71425d0e")
    def _number(
        self, wanted: PrimExpr, found: PrimExpr | None, path: Path, premise: str, tensor: bool
    ) -> None:
        """One dimension, or the value of a scalar."""
        if isinstance(wanted, tir.Var) and self._first.get(wanted) == (path, self._position):
            self.parts.append(self._bound(wanted, path, premise))
            return
        said = substitute_prim(wanted, self._known) if self._known else wanted
        unknown = self._unknown(wanted)
        if found is None or unknown:
            refuted("CHECK-number-known")
            negative = tensor and not unknown and self._negative(said)
            status: PartStatus = "impossible" if negative else "needed"
            self._add(path, premise, status, show(wanted), "" if found is None else show(found))
            if found is not None:
                self.equations.append((found, said))
            return
        self._equal(said, found, path, premise, show(wanted))

    def _bound(self, var: tir.Var, path: Path, premise: str) -> Part:
        """The position at which a variable gets its number."""
        image = self.images[var]
        if not self._stands_for(var, image):
            return Part(path, premise, "binds", show(var), "", None, var)
        assert image is not None
        return Part(path, premise, "binds", show(var), show(image), None, var, image)

    @rule("CHECK-variable", "dfde6667")
    def _stands_for(self, var: tir.Var, image: PrimExpr | None) -> bool:
        """Whether an expression may be written in place of a variable."""
        if image is None:
            refuted("CHECK-variable-known")
            return False
        nodes = walk.topological(image)
        premises = {
            "CHECK-variable-scope": all(v in self.written for v in nodes if type(v) is tir.Var),
            "CHECK-variable-type": tir.type_of(image) == var.dtype,
            "CHECK-variable-defined": all(
                self._divides(n) for n in nodes if isinstance(n, walk.DIVISIONS)
            ),
        }
        for code, holds in premises.items():
            if not holds:
                refuted(code)
        return all(premises.values())

    def _divides(self, node: tir.Binary) -> bool:
        return self.prover.always(tir.NE(node.b, _ZERO)).status == "proved"

    def _negative(self, size: PrimExpr) -> bool:
        """Whether no tensor has a dimension of this size."""
        if isinstance(size, tir.IntImm):
            return size.value < 0
        return self._never(tir.GE(size, _ZERO))

    def _unknown(self, wanted: PrimExpr) -> bool:
        """Whether a dimension depends on a variable that is bound here to what nobody knows."""
        return bool(self.images) and any(
            v in self.images and self.images[v] is None for v in walk.variables((wanted,))
        )

    def _equal(self, said: PrimExpr, found: PrimExpr, path: Path, premise: str, name: str) -> None:
        if identical(said, found) or same_text(said, found):
            self._add(path, premise, "proved", name, show(found))
            return
        if isinstance(said, tir.FloatImm) or isinstance(found, tir.FloatImm):
            status: PartStatus = "impossible" if apart(said, found) else "needed"
            self._add(path, premise, status, name, show(found))
            return
        verdict = self.prover.equal(said, found)
        if verdict.status == "proved":
            status = "proved" if self._defined(said, found) else "needed"
        else:
            refuted("CHECK-number-equal")
            status = "impossible" if self._never(tir.EQ(said, found)) else "needed"
        if status == "needed":
            self.equations.append((found, said))
        self._add(path, premise, status, name, show(found), verdict.counterexample)

    def _defined(self, said: PrimExpr, found: PrimExpr) -> bool:
        """Whether an expression has a value wherever the one found has."""
        needed = demand(found, said)
        if needed is None or self.prover.always(needed).proved:
            return True
        refuted("CHECK-number-defined")
        return False

    def _never(self, condition: PrimExpr) -> bool:
        return self.prover.never(condition).status == "proved"

    def _add(
        self,
        path: Path,
        premise: str,
        status: PartStatus,
        wanted: str,
        found: str,
        counterexample: Mapping[str, int] | None = None,
    ) -> None:
        example = counterexample if status == "needed" else None
        self.parts.append(Part(path, premise, status, wanted, found, example))


@rule("CHECK-plain", "be8a12af")
def _status(known: bool, same: bool) -> PartStatus:
    """Of a part whose two sides are plain data."""
    if not known:
        refuted("CHECK-plain-known")
        return "needed"
    if not same:
        refuted("CHECK-plain-same")
        return "impossible"
    return "proved"


def _vague(found: Info) -> bool:
    return found is None or isinstance(found, ObjectStructInfo)


def _said(found: Info) -> str:
    return "" if found is None else show(found)


def _device(device: VDevice) -> str:
    return f"{device.target}:{device.index}"


def _dimensions_of(found: Info, wanted: StructInfo) -> tuple[PrimExpr, ...] | None:
    if found is None or type(found) is not type(wanted):
        return None
    assert isinstance(found, TensorStructInfo | ShapeStructInfo)
    return dimensions(found)


def _field(found: Info, at: int) -> Info:
    """A field of a tuple; None where nothing is known of it."""
    if isinstance(found, TupleStructInfo) and at < len(found.fields):
        return found.fields[at]
    return None
