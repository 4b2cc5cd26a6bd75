"""The law: a program ends as before without the casts that are redundant, and what is said of casts
is true.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from random import Random

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import DynamicCheck, analyse
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record, Span
from rlx.semantics import values as v
from rlx.semantics.machine import Configuration, MachineProgram, load
from rlx.semantics.outcome import CheckFailed, Ended, Outcome, Returned
from rlx.transform.dynamic_checks import eliminate

FUEL = 4000
RUNS = 6


class CastVerdict(Record):
    """The result of examining a program.

    Attributes
    ----------
    legal
        Whether it has no errors; only then it is run.
    runs, casts
        How many runs were compared, and how many casts they reached.
    removed
        How many checks are redundant.
    broken
        How the law is broken, in words; empty where it holds.
    """

    legal: bool
    runs: int = 0
    casts: int = 0
    removed: int = 0
    broken: str = ""


def examine(text: str, choose: Random, runs: int = RUNS) -> CastVerdict:
    """Check, run, eliminate and run a program again, on inputs that fit its signature and
    others.
    """
    report = check_text(text)
    if any(d.is_error for d in report.diagnostics):
        return CastVerdict(False)
    (module,) = report.modules
    checks = analyse(module)
    warned = {d.span for d in report.diagnostics if d.code == "D11-cast"}
    # What is said of a cast is said of what annotations claim; where they may be wrong, so may that
    # be.
    certain = warned if all(d.code != "D11-annotation" for d in report.diagnostics) else set()
    impossible = [c for c in checks if c.kind == "cast" and c.status == "impossible"]
    told = {id(c.owner): c for c in reversed(impossible)}
    for check in told.values():  # what comes after a cast that always fails is never reached
        if check.span not in warned and not _never_reached(module, check, warned):
            return CastVerdict(True, broken=f"impossible, and nothing is said: {check.reason}")
    packed = {"id": lambda *args: args[0]}
    before = load(module, packed=packed)
    after = load(eliminate(module), packed=packed)
    main = module["main"]
    assert isinstance(main, ast.Function)
    reached = 0
    for _ in range(runs):
        given = [_value(choose, p.struct_info_annotation) for p in main.params]
        broken, casts = _one_run(before, checks, certain, given)
        first, second = _run(before, given), _run(after, given)
        if not broken and not ends_alike(first, second):
            broken = f"{_words(first)} with all checks, {_words(second)} without"
        if broken:
            return CastVerdict(True, broken=f"{broken}; arguments {_shown(given)}")
        reached += casts
    removed = sum(c.status == "redundant" for c in checks)
    return CastVerdict(True, runs, reached, removed)


def _never_reached(
    module: ast.IRModule, check: DynamicCheck, warned: Collection[Span | None]
) -> bool:
    """Whether a cast that always fails stands in front of another in a function around it."""
    return any(
        span is not None
        and around.span is not None
        and check.span is not None
        and around.span[0] <= span[0] < check.span[0] < around.span[1]
        for around in module.functions.values()
        for span in warned
    )


def _run(program: MachineProgram, given: Sequence[v.Value]) -> Outcome:
    return program.run("main", list(given), fuel=FUEL)


def _one_run(
    program: MachineProgram,
    checks: Sequence[DynamicCheck],
    warned: Collection[object],
    given: Sequence[v.Value],
) -> tuple[str, int]:
    """Whether the casts of a run end as the analysis says, and how many there were."""
    said = {c.node.span: c for c in checks if c.kind == "cast"}  # type: ignore[attr-defined]
    casts = 0
    for at, passed in _checks_of(program, given):
        check = said.get(at)
        if check is None:
            continue
        casts += 1
        if passed and check.span in warned:
            return f"it always fails, but it holds: {check.kind} of {check.subject}", casts
        match passed, check.status:
            case True, "impossible":
                return f"impossible, but it holds: {check.reason}", casts
            case False, "redundant":
                return f"redundant, but it fails: {check.kind} of {check.subject}", casts
    return "", casts


def _checks_of(program: MachineProgram, given: Sequence[v.Value]) -> Iterator[tuple[object, bool]]:
    """The casts of a run: where each stands, and whether it was passed."""
    cast: object = None
    for step in islice(program.trace("main", list(given)), FUEL):
        match step:
            case Configuration(at=at):
                if cast is not None:
                    yield cast, True
                cast = {"E-match-cast": at.span}.get(at.rule)
            case CheckFailed() if cast is not None:
                yield cast, False


def ends_alike(one: Outcome, other: Outcome) -> bool:
    """The same kind of end, with the same value, or the same code at the same place."""
    match one, other:
        case Returned(value=a), Returned(value=b):
            return _alike(a, b)
        case Ended(), Ended():
            return (type(one), one.code, one.span) == (type(other), other.code, other.span)
    return False


def _alike(one: v.Value, other: v.Value) -> bool:
    match one, other:
        case v.Tensor(), v.Tensor():
            return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
        case v.ShapeValue(), v.ShapeValue():
            return one.values == other.values
        case v.Scalar(), v.Scalar():
            return (one.dtype, one.value) == (other.dtype, other.value)
        case v.TupleValue(), v.TupleValue():
            return len(one.fields) == len(other.fields) and all(
                _alike(a, b) for a, b in zip(one.fields, other.fields, strict=True)
            )
    return type(one) is type(other)


def _words(outcome: Outcome) -> str:
    if isinstance(outcome, Returned):
        return f"a value {_shown([outcome.value])}"
    assert isinstance(outcome, Ended)
    return f"{outcome.code} at {outcome.span}"


def _shown(values: Sequence[v.Value]) -> str:
    from rlx.semantics.machine.message_text import show

    return ", ".join(show(value) for value in values)


# ---------------------------------------------------------------- inputs


def _value(choose: Random, info: ast.StructInfo | None) -> v.Value:
    """A value that an annotation probably allows, or any."""
    from rlx.grammar.nodes.dtype import BOOL, INT64, dtype

    if choose.random() < 0.06:
        info = None
    match info:
        case ast.TensorStructInfo(shape=shape, dtype=kind, ndim=ndim, vdevice=device):
            if isinstance(shape, ast.ShapeExpr):
                sizes = tuple(_size(choose, dim) for dim in shape.values)
            else:
                rank = ndim if ndim >= 0 else choose.randint(0, 2)
                sizes = tuple(choose.choice((1, 2, 3)) for _ in range(rank))
            name = "float32" if kind.is_void else str(kind)
            place = None if device is None else (device.target, device.index)
            return _tensor(sizes, name, place)
        case ast.ShapeStructInfo(values=dims, ndim=ndim):
            if dims is not None:
                return v.ShapeValue(tuple(_size(choose, dim) for dim in dims))
            count = ndim if ndim >= 0 else choose.randint(0, 2)
            return v.ShapeValue(tuple(choose.choice((1, 2, 3)) for _ in range(count)))
        case ast.PrimStructInfo(dtype=kind, value=value):
            if kind == BOOL:
                return v.Scalar(choose.random() < 0.5, BOOL)
            number = choose.choice((-1, 0, 1, 2, 3)) if value is None else _size(choose, value)
            return v.Scalar(number, kind)
        case ast.TupleStructInfo(fields=fields):
            return v.TupleValue(tuple(_value(choose, field) for field in fields))
    return choose.choice(
        (
            _tensor((2,), "float32", None),
            _tensor((2, 3), "float32", None),
            _tensor((), "int64", None),
            v.ShapeValue((2,)),
            v.ShapeValue((3, 2)),
            v.Scalar(2, INT64),
            v.Scalar(-1, INT64),
            v.Scalar(1, dtype("int32")),
            v.TupleValue((_tensor((2,), "float32", None), v.ShapeValue((2,)))),
            v.StringValue("text"),
        )
    )


def _size(choose: Random, dim: object) -> int:
    literal = getattr(dim, "value", None)
    if isinstance(literal, int) and choose.random() < 0.95:
        return max(literal, 0)
    return choose.choice((2, 2, 2, 2, 3, 3, 1, 0, 4))


def _tensor(sizes: tuple[int, ...], kind: str, device: tuple[str, int] | None) -> v.Tensor:
    import numpy as np

    return v.Tensor(np.zeros(sizes, kind), device)
