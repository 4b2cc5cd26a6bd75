"""The comparisons of one check (E-cast), each judged by the guarantees about the value.

E-cast has two phases, and so has this: first the variables that the check binds get their images,
then every part is judged with the images put in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from rlx.checker.derive.message_text import show
from rlx.checker.dynamic_checks.model import EXCLUDE, CheckPart, PartStatus, Path, joined
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.struct_infos import numbers, of_the_value
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order import disjoint, substitute, substitute_prim, subtype
from rlx.solver.order.demands import KINDS, Demand, demands, every, repeats_too_much, sizes
from rlx.solver.order.partial import demand as definedness
from rlx.solver.order.substitute import apart, dimensions, identical, rank, same_text
from rlx.solver.prover import Prover, equation
from rlx.solver.verdict import Proved, Verdict
from rlx.spec.registry import decide, rule

Info = ast.StructInfo | None
Held = Mapping[Node, ast.StructInfo]
"""The guaranteed struct info of variables that hold shapes."""

_ZERO = tir.IntImm(0)


class PartJudge:
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
        self.parts: list[CheckPart] = []
        self.images: dict[tir.Var, PrimExpr | None] = {}
        self.sizes: set[tir.Var] = set()
        self.equations: list[tuple[PrimExpr, PrimExpr]] = []
        self.contradictory = False
        self._first: dict[tir.Var, tuple[Path, int]] = {}
        self._known: dict[tir.Var, PrimExpr] = {}
        self._position = 0

    def judge(
        self, founds: Sequence[Info], wanteds: Sequence[ast.StructInfo]
    ) -> list[list[CheckPart]]:
        """The parts of each pair, all read together as E-cast does; None stands for any value."""
        compared = [() if repeats_too_much(wanted) else demands(wanted) for wanted in wanteds]
        for index, (found, wanted) in enumerate(zip(founds, compared, strict=True)):
            self._collect(found, wanted, index)
            if not wanted:
                self._leave_open(wanteds[index], index)
        self._known = {v: image for v, image in self.images.items() if image is not None}
        judged: list[list[CheckPart]] = []
        for index, (found, wanted) in enumerate(zip(founds, compared, strict=True)):
            self._position = index
            self.parts = []
            self._compare(found, wanted)
            if not wanted and not isinstance(wanteds[index], ast.ObjectStructInfo):
                self._add((), "kind", "needed", show(wanteds[index]), _said(found))
            judged.append(self.parts)
        if len(self.equations) > 1:  # a single one was judged above
            self.contradictory = self._never(equation(self.equations))
        return judged

    # ------------------------------------------------------------ first phase

    def _collect(self, found: Info, wanted: Sequence[Demand], index: int) -> None:
        """Record where each variable is bound, and the number that is known at that place."""
        for demand in every(wanted):
            var = demand.wanted
            if isinstance(var, tir.Var) and isinstance(demand.whole, ast.TensorStructInfo):
                self.sizes.add(var)
            if isinstance(var, tir.Var) and var in self.binders and var not in self._first:
                self._first[var] = (demand.path, index)
                self.images[var] = self._given(_inside(found, demand.fields), demand)

    def _leave_open(self, wanted: ast.StructInfo, index: int) -> None:
        """Treat the variables of an annotation that is not compared part by part as unknown."""
        for part in of_the_value(wanted):
            for var in numbers(part):
                if isinstance(var, tir.Var) and var in self.binders and var not in self._first:
                    self._first[var] = (), index
                    self.images[var] = None

    def _given(self, found: Info, demand: Demand) -> PrimExpr | None:
        """The known number at the place that a demand compares."""
        if found is None or type(found) is not type(demand.whole):
            return None
        if isinstance(found, ast.PrimStructInfo):
            return found.value
        given = self._spelled(found)
        return given[demand.axis] if given is not None and len(given) == demand.rank else None

    def _spelled(self, found: ast.StructInfo) -> tuple[PrimExpr, ...] | None:
        """The dimensions of a value, including those of a shape that a variable holds."""
        if isinstance(found, ast.TensorStructInfo) and isinstance(found.shape, ast.Var):
            info = self.held.get(found.shape)
            if isinstance(info, ast.ShapeStructInfo):
                return info.values
        assert isinstance(found, ast.TensorStructInfo | ast.ShapeStructInfo)
        return dimensions(found)

    # ------------------------------------------------------------ second phase

    def _compare(self, found: Info, wanted: Sequence[Demand]) -> None:
        """Judge demands, then the demands that depend on each one that may be met."""
        for demand in wanted:
            status = JUDGED[demand.premise](self, found, demand)
            if status == "impossible":
                continue
            if demand.premise == "fields":
                for inner in demand.then:
                    self._compare(_inside(found, inner.fields[-1:]), (inner,))
            else:
                known = type(found) is type(demand.whole)
                self._compare(found if known else None, demand.then)

    def _kind(self, found: Info, demand: Demand) -> PartStatus:
        wanted = demand.wanted
        known = not _vague(found)
        if isinstance(found, ast.FuncStructInfo) and isinstance(wanted, ast.FuncStructInfo):
            known = wanted.params is None or found.params is not None
        status = _status(known, type(found) is type(wanted))
        given = "" if _vague(found) else _said(found)
        return self._add(demand.path, "kind", status, KINDS[type(wanted)], given)

    def _dtype(self, found: Any, demand: Demand) -> PartStatus:
        given = "" if found is None or found.dtype.is_void else str(found.dtype)
        return self._plain(demand, str(demand.wanted), given)

    def _device(self, found: Any, demand: Demand) -> PartStatus:
        device = None if found is None else found.vdevice
        given = "" if device is None else _device(device)
        return self._plain(demand, _device(demand.wanted), given)

    def _rank(self, found: Any, demand: Demand) -> PartStatus:
        given = "" if found is None else self._known_rank(found)
        return self._plain(demand, str(demand.wanted), given)

    def _known_rank(self, found: ast.TensorStructInfo | ast.ShapeStructInfo) -> str:
        dims = self._spelled(found)
        ndim = rank(found) if dims is None else len(dims)
        return "" if ndim < 0 else str(ndim)

    def _held(self, found: Any, demand: Demand) -> PartStatus:
        """A shape that a variable holds: the same variable, or dimensions that are known."""
        shape, path = demand.wanted, demand.path
        if found is not None and found.shape is shape:
            return "proved"
        info = self.held.get(shape)
        if isinstance(info, ast.ShapeStructInfo) and info.values is not None:
            wanted = sizes(demand.whole, len(info.values), info.values, path, demand.fields)
            self._compare(found, wanted)
            return "needed"
        return self._add(path, "dimension", "needed", f"the shape {shape.name_hint}", _said(found))

    def _fields(self, found: Any, demand: Demand) -> PartStatus:
        given = "" if found is None else str(len(found.fields))
        return self._plain(demand, str(demand.wanted), given, " fields")

    def _plain(self, demand: Demand, wanted: str, given: str, unit: str = "") -> PartStatus:
        """Plain data against plain data, which is empty where it is not known."""
        status = _status(bool(given), given == wanted)
        return self._add(demand.path, demand.premise, status, wanted + unit, given)

    @rule("CHECK-function", "dynamic check")
    def _function(self, found: Any, demand: Demand) -> PartStatus:
        """Whether two function types allow the same closures: a run refuses a closure only if it
        cannot fit.
        """
        wanted = demand.wanted
        known = substitute(wanted, self._known)
        proved = found is not None and all(
            subtype(a, b, self.prover).proved for a, b in ((found, known), (known, found))
        )
        status: PartStatus = "proved"
        if not decide("CHECK-function-same", proved):
            never = found is not None and disjoint(found, known, self.prover) is not None
            status = "impossible" if never else "needed"
        return self._add(demand.path, "function", status, show(wanted), _said(found))

    # ------------------------------------------------------------ numbers

    @rule("CHECK-number", "dynamic check")
    def _number(self, whole: Info, demand: Demand) -> PartStatus:
        """One dimension, or the value of a scalar."""
        wanted, path, premise = demand.wanted, demand.path, demand.premise
        found = self._given(whole, demand)
        if isinstance(wanted, tir.Var) and self._first.get(wanted) == (path, self._position):
            self.parts.append(self._bound(wanted, path, premise))
            return "binds"
        said = substitute_prim(wanted, self._known) if self._known else wanted
        unknown = any(self.images.get(v, v) is None for v in tir.free_vars(wanted))
        if not decide("CHECK-number-known", found is not None and not unknown) or found is None:
            tensor = isinstance(demand.whole, ast.TensorStructInfo)
            negative = tensor and not unknown and self._negative(said)
            status: PartStatus = "impossible" if negative else "needed"
            if found is not None:
                self.equations.append((found, said))
            given = "" if found is None else show(found)
            return self._add(path, premise, status, show(wanted), given)
        return self._equal(said, found, path, premise, show(wanted))

    def _bound(self, var: tir.Var, path: Path, premise: str) -> CheckPart:
        """The position at which a variable gets its number."""
        image = self.images[var]
        if not self._stands_for(var, image):
            image = None
        found = "" if image is None else show(image)
        return CheckPart(path, premise, "binds", show(var), found, var=var, image=image)

    @rule("CHECK-variable", "dynamic check")
    def _stands_for(self, var: tir.Var, image: PrimExpr | None) -> bool:
        """Whether an expression may be written in place of a variable."""
        if not decide("CHECK-variable-known", image is not None) or image is None:
            return False
        nodes = tir.postorder(image)
        premises = {
            "CHECK-variable-scope": all(v in self.written for v in nodes if type(v) is tir.Var),
            "CHECK-variable-type": tir.type_of(image) == var.dtype,
            "CHECK-variable-defined": all(
                self._divides(n) for n in nodes if isinstance(n, INTEGER_DIVISIONS)
            ),
        }
        decided = [decide(code, holds) for code, holds in premises.items()]
        return all(decided)

    def _divides(self, node: tir.Binary) -> bool:
        if isinstance(node.b, tir.IntImm):
            return node.b.value != 0
        return self.prover.always(tir.NE(node.b, _ZERO)).proved

    def _negative(self, size: PrimExpr) -> bool:
        """Whether no tensor has a dimension of this size."""
        if isinstance(size, tir.IntImm):
            return size.value < 0
        return self._never(tir.GE(size, _ZERO))

    def _equal(
        self, said: PrimExpr, found: PrimExpr, path: Path, premise: str, name: str
    ) -> PartStatus:
        if identical(said, found) or same_text(said, found):
            decide("CHECK-number-equal", True)
            decide("CHECK-number-defined", True)
            return self._add(path, premise, "proved", name, show(found))
        if isinstance(said, tir.FloatImm) or isinstance(found, tir.FloatImm):
            status: PartStatus = "impossible" if apart(said, found) else "needed"
            return self._add(path, premise, status, name, show(found))
        verdict = self.prover.equal(said, found)
        if decide("CHECK-number-equal", verdict.proved):
            if self._defined(said, found):
                return self._add(path, premise, "proved", name, show(found), proof=verdict)
        elif (never := self.prover.never(tir.EQ(said, found))).proved:
            return self._add(path, premise, "impossible", name, show(found), proof=never)
        self.equations.append((found, said))
        return self._add(path, premise, "needed", name, show(found), verdict.counterexample)

    def _defined(self, said: PrimExpr, found: PrimExpr) -> bool:
        """Whether an expression has a value wherever the one found has."""
        needed = definedness(found, said)
        follows = needed is None or self.prover.always(needed).proved
        return decide("CHECK-number-defined", follows)

    def _never(self, condition: PrimExpr) -> bool:
        return self.prover.never(condition).proved

    def _add(
        self,
        path: Path,
        premise: str,
        status: PartStatus,
        wanted: str,
        found: str,
        counterexample: Mapping[str, int] | None = None,
        proof: Verdict | None = None,
    ) -> PartStatus:
        kept = proof if isinstance(proof, Proved) else None
        part = CheckPart(path, premise, status, wanted, found, counterexample, proof=kept)
        self.parts.append(part)
        return status


def always_fails(
    prover: Prover,
    binders: Sequence[tir.Var],
    held: Held,
    found: ast.StructInfo,
    wanted: ast.StructInfo,
) -> str | None:
    """Why a cast fails whatever the value is; None where it may succeed."""
    judgement = PartJudge(prover, binders, held)
    (parts,) = judgement.judge([found], [wanted])
    never = [part for part in parts if part.is_impossible]
    if never:
        return joined(never)
    return EXCLUDE if judgement.contradictory else None


@rule("CHECK-plain", "dynamic check")
def _status(known: bool, same: bool) -> PartStatus:
    """The status of a part whose two sides are plain data."""
    if not decide("CHECK-plain-known", known):
        return "needed"
    return "proved" if decide("CHECK-plain-same", same) else "impossible"


def _vague(found: Info) -> bool:
    return found is None or isinstance(found, ast.ObjectStructInfo)


def _said(found: Info) -> str:
    return "" if found is None else show(found)


def _device(device: ast.VDevice) -> str:
    return f"{device.target}:{device.index}"


def _inside(found: Info, fields: Sequence[int]) -> Info:
    """The known type of a field of a tuple; None if it is not known."""
    for at in fields:
        if not isinstance(found, ast.TupleStructInfo) or at >= len(found.fields):
            return None
        found = found.fields[at]
    return found


JUDGED: dict[str, Callable[[PartJudge, Info, Demand], PartStatus]] = {
    "kind": PartJudge._kind,
    "dtype": PartJudge._dtype,
    "device": PartJudge._device,
    "rank": PartJudge._rank,
    "held": PartJudge._held,
    "dimension": PartJudge._number,
    "value": PartJudge._number,
    "fields": PartJudge._fields,
    "function": PartJudge._function,
}
"""The method that judges each kind of comparison."""
