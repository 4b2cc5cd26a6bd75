"""Two runs of a model, side by side, up to the first binding that differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rlx.checker.derive import known_infos
from rlx.comparison.cut import CutOut, constant, cut
from rlx.comparison.difference import Apart, Settled, alike, apart, pairs
from rlx.comparison.follow import BoundVariable, always, computes, followed
from rlx.comparison.own import may_write, own
from rlx.comparison.peer import ProbedValue, TvmError, TvmProcess
from rlx.comparison.probes import probed
from rlx.comparison.rounding import (
    NOTHING,
    RoundingBounds,
    arrays,
    bounds,
    distinct,
    size_of,
    unit,
)
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.encoded import LateBytes
from rlx.grammar.nodes.node import Record, walk
from rlx.grammar.nodes.visit import bindings, bindings_in, expressions, free_vars, result_of
from rlx.semantics.arrays import has_nan, identical
from rlx.semantics.machine import MachineProgram, load
from rlx.semantics.outcome import Ended, Outcome, Returned
from rlx.semantics.values import Closure, Tensor, TupleValue, Value, copied

RULES, TVM = "the rules", "TVM"

Slices = Callable[[], list[ast.Var]]
"""Finds the bindings that belong to one, when they are needed."""


class Spot(Record):
    """A binding of a program.

    Attributes
    ----------
    name
        The variable; ``"the result"`` of the entry itself.
    function
        The function it stands in.
    line
        Its line in the file; None if it has none.
    """

    name: str
    function: str
    line: int | None = None


class Discovery(Record):
    """Something wrong at a binding.

    Attributes
    ----------
    spot
        The binding.
    kind
        ``"differs"``, ``"nan"``, ``"infinite"``, ``"fails"`` or ``"way"``.
    said
        In words.
    apart
        By how much values differ, where they do.
    cut
        The binding as a program with its inputs; None where it cannot be cut out.
    """

    spot: Spot
    kind: str
    said: str
    apart: Apart | None = None
    cut: CutOut | None = None


class RunComparison(Record):
    """The result of a comparison.

    Attributes
    ----------
    entry
        The function that was run.
    sides
        What was compared.
    difference
        The first difference; None if there is none.
    not_finite
        The first binding that makes a NaN or an infinity of finite operands; None if there is none.
    compared
        How many values were compared.
    notes
        What was not compared, and why.
    """

    entry: str
    sides: tuple[str, str]
    difference: Discovery | None
    not_finite: Discovery | None
    compared: int
    notes: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether nothing was found."""
        return self.difference is None and self.not_finite is None


class ComparisonStop(Exception):
    """A difference ends the comparison."""

    def __init__(self, found: Discovery) -> None:
        super().__init__(found.said)
        self.found = found


class Run:
    """One program that is followed by the rules.

    Parameters
    ----------
    module, source
        The program, without errors.
    entry, args
        What is called, with which values.
    exact
        Whether whole numbers have to be equal.
    """

    def __init__(
        self,
        module: ast.IRModule,
        source: Source,
        entry: str,
        args: Sequence[Value],
        *,
        exact: bool = False,
    ) -> None:
        from rlx.semantics.run.options import FUEL, ITERATIONS

        self.source, self.entry, self.args, self.exact = source, entry, args, exact
        self.source_module = module
        iterations = {way: FUEL * each for way, each in ITERATIONS.items()}
        self.program: MachineProgram = load(module, output=lambda line: None, iterations=iterations)
        self.module = self.program.module
        self.infos = known_infos(self.module)
        self.bindings = {b.var: b for b in bindings(self.module) if b.var is not None}
        self.compared = 0
        self.notes: dict[str, None] = {}
        self.not_finite: Discovery | None = None
        self.settled = Settled()
        self._stays = not may_write(self.module)
        self._pending: dict[int, list[ast.Var]] = {}
        self._taken: set[ast.Var] = set()  # by the pending ones
        self._frames: list[object] = []
        self._bounds: dict[float, RoundingBounds] = {}

    def accepted(self) -> None:
        """Make sure that the arguments fit the parameters.

        Raises
        ------
        InputsError
            If they do not.
        """
        first = self.program.start(self.entry, self.args, keep=False)  # nothing is written yet
        if isinstance(first, Ended):
            names = self.parameters
            raise InputsError(
                re.sub(r"^argument (\d+)", lambda at: names[int(at[1])], first.message)
            )

    # ------------------------------------------------------------ what is compared

    def follow(self, theirs: Callable[[BoundVariable], Value | None]) -> Outcome:
        """Run to the end; `theirs` gives the other side's value of a binding, or None.

        Raises
        ------
        ComparisonStop
            At the first difference.
        """
        args = own(self.module, self.args)
        for each in followed(
            self.program, self.entry, args, forget=lambda var: var not in self._taken
        ):
            if isinstance(each, Outcome):
                return each
            other = theirs(each)
            if not each.computed:
                self._take_over(each, other)
                continue
            slices = self._slice(each, matched=other is not None)
            if other is not None:
                self._compare(each, other, slices)
                self._adopt(each, other)
                if self._stays:
                    self.settled.add(each.value, other)
            if computes(each.expr):
                self._look(each, slices)
        raise AssertionError("a run ends with its outcome")

    def _take_over(self, bound: BoundVariable, other: Value | None) -> None:
        spot = self.spot(bound)
        if other is None:
            said = f"{bound.var.name_hint} calls an external function, which the rules cannot run"
            raise ComparisonStop(Discovery(spot, "fails", said))
        self.notes[
            f"{spot.name} in {spot.function}: not compared; it is an external function's"
        ] = None
        bound.value = other

    def _compare(self, bound: BoundVariable, other: Value, slices: Slices) -> None:
        self.compared += 1

        def rounding(eps: float) -> RoundingBounds:
            made = self.cut(bound, slices)
            return NOTHING if made is None else bounds(made, eps)

        found = apart(bound.value, other, rounding, exact=self.exact, settled=self.settled)
        if found is not None:
            raise ComparisonStop(
                Discovery(self.spot(bound), "differs", found.said, found, self.cut(bound, slices))
            )

    def _adopt(self, bound: BoundVariable, other: Value) -> None:
        """Go on with the other side's value, in the memory of ours, which others may share."""
        for _, one, two in pairs(bound.value, other, self.settled):
            if identical(one, two):
                continue
            if one.flags.writeable:
                np.copyto(one, two)
            else:
                bound.value = other

    def _slice(self, bound: BoundVariable, *, matched: bool) -> Slices:
        """The bindings since the other side's last values that this one depends on, and itself."""
        pending = self._pending.setdefault(id(bound.frame), [])
        self._frames.append(bound.frame)  # so that its address stays its own
        count = len(pending)
        if not (matched and computes(bound.expr)):
            pending.append(bound.var)
            if bound.var in self.bindings:
                self._taken.update(free_vars(self.bindings[bound.var].value))
        return lambda: self._needed(bound.var, pending[:count])

    def _needed(self, var: ast.Var, pending: list[ast.Var]) -> list[ast.Var]:
        wanted = {var}
        found = []
        for each in (var, *reversed(pending)):
            if each in wanted and each in self.bindings:
                found.append(each)
                wanted.update(free_vars(self.bindings[each].value))
        return found[::-1]

    def _look(self, bound: BoundVariable, slices: Slices) -> None:
        """Note the first infinity that comes of finite operands, or NaN that comes of none."""
        if self.not_finite is not None:
            return
        made = distinct(bound.value)
        kind = "nan" if any(map(has_nan, made)) else "infinite" if any(map(_has_inf, made)) else ""
        if not kind:
            return
        around = bound.around
        binding = self.bindings.get(bound.var)
        taken = [
            array
            for value in _operands(binding, around)
            if isinstance(value, Value)
            for array in distinct(value)
        ]
        finite = not any(map(_has_inf, taken))
        if any(map(has_nan, taken)) or (kind == "infinite" and not finite):
            return
        if kind == "infinite" and not taken:
            return  # a constant, such as that of a mask
        if isinstance(bound.expr, ast.Call) and isinstance(bound.expr.op, ast.GlobalVar):
            return  # it was made inside, or comes from a constant there
        word = "a NaN" if kind == "nan" else "an infinity"
        wrong = next(array for array in made if has_nan(array) or _has_inf(array))
        bad = ~np.isfinite(wrong.astype(np.float64))
        at = [int(i) for i in np.argwhere(bad)[0]] if wrong.ndim else []
        count = f"{int(bad.sum())} of {wrong.size} elements"
        source = "finite operands" if finite else "operands with infinities and without a NaN"
        said = f"{word} at {at} comes of {source} ({count} are not finite)"
        self.not_finite = Discovery(self.spot(bound), kind, said, None, self.cut(bound, slices))

    # ------------------------------------------------------------ the end

    def ended(self, outcome: Ended) -> Discovery:
        """The finding that a run ended without a value."""
        line = None if outcome.span is None else self.source.position(outcome.span[0])[0]
        return Discovery(
            Spot("the run", self.entry, line), "fails", f"the rules end here: {outcome}"
        )

    def comparison(self, sides: tuple[str, str], difference: Discovery | None) -> RunComparison:
        """The result of the comparison."""
        return RunComparison(
            self.entry, sides, difference, self.not_finite, self.compared, (*self.notes,)
        )

    @property
    def _function(self) -> ast.Function:
        return next(
            f for var, f in self.module.relax_functions.items() if var.name_hint == self.entry
        )

    @property
    def parameters(self) -> list[str]:
        """The names of the entry's parameters."""
        return [param.name_hint for param in self._function.params]

    def named_result(self, value: Value) -> dict[ast.Var, Value]:
        """The variables that the entry returns, with their parts of its value."""
        body, _ = result_of(self._function.body)
        if isinstance(body, ast.Var):
            return {body: value}
        if isinstance(body, ast.Tuple) and isinstance(value, TupleValue):
            pairs = zip(body.fields, value.fields, strict=True)
            return {var: field for var, field in pairs if isinstance(var, ast.Var)}
        return {}

    @cached_property
    def size(self) -> int:
        """The bytes of the arguments and of the large constants."""
        return size_of(self.args) + sum(
            len(each.content)
            for each in walk(self.module)
            if isinstance(each, ast.Literal) and isinstance(each.content, LateBytes)
        )

    @cached_property
    def whole(self) -> CutOut | None:
        """The entry with its arguments as a program of its own."""
        function = self._function
        body, _ = result_of(function.body)
        last = ast.VarBinding(ast.Var("result"), body)
        around = dict(zip(function.params, self.args, strict=True))
        taken = [*bindings_in(function.body), last]
        return cut(self.module, taken, around, self.infos)

    def rounding_of_all(self, eps: float) -> RoundingBounds:
        """The values that the entry may return on its arguments."""
        if eps not in self._bounds:
            whole = self.whole
            self._bounds[eps] = NOTHING if whole is None else bounds(whole, eps, whole=True)
        return self._bounds[eps]

    # ------------------------------------------------------------ places

    def spot(self, bound: BoundVariable) -> Spot:
        """The place of a binding."""
        binding = self.bindings.get(bound.var)
        span = None if binding is None else (binding.span or binding.value_span)
        span = span or bound.var.span
        line = None if span is None else self.source.position(span[0])[0]
        return Spot(bound.var.name_hint, bound.function, line)

    def cut(self, bound: BoundVariable, slices: Slices) -> CutOut | None:
        """A binding with its inputs."""
        taken = [self.bindings[var] for var in slices() if var in self.bindings]
        if not taken:
            return None
        return cut(self.module, taken, bound.around, self.infos)


def _operands(
    binding: ast.VarBinding | ast.MatchCast | None, around: Mapping[Any, Any]
) -> Iterator[object]:
    """The values of what a binding uses: variables, and constants written in it."""
    if binding is not None:
        yield from map(around.get, free_vars(binding.value))
        for node in expressions(binding.value):
            if isinstance(node, ast.Constant):
                yield constant(node.data)


def _has_inf(array: Any) -> bool:
    return array.dtype.kind not in "biu" and bool(np.isinf(array.astype(np.float64)).any())


# ---------------------------------------------------------------- against TVM


def against_tvm(run: Run, tvm: TvmProcess) -> RunComparison:
    """Compare the rules with TVM's virtual machine, binding by binding, and then the program as it
    is built without probes.

    Raises
    ------
    TvmError
        If TVM is not installed.
    TypeError
        If an argument is a function.
    """
    module, numbers = probed(run.module, run.infos)
    shown = tvm.run(module, run.entry, run.args)
    last: list[BoundVariable] = []

    def theirs(bound: BoundVariable) -> Value | None:
        number = numbers.get(bound.var)
        if number is None:
            return None
        last[:] = [bound]
        now = next(shown)
        if now.number != number:
            names = {at: var.name_hint for var, at in numbers.items()}
            went = "returns" if now.number is None else f"computes {names[now.number]}"
            said = f"the rules compute {bound.var.name_hint} here; TVM {went}"
            raise ComparisonStop(Discovery(run.spot(bound), "way", said))
        return now.value

    result: list[Value] = []
    try:
        outcome = run.follow(theirs)
        difference = _ending(run, outcome, shown, result)
        if difference is None and result:
            difference = _as_built(run, tvm, result[0])
    except ComparisonStop as stop:
        difference = stop.found
    except TvmError as error:
        if not error.stage:
            raise
        difference = _without_probes(run, tvm, error, [] if result else last)
    finally:
        shown.close()
    return run.comparison((RULES, TVM), difference)


def _without_probes(
    run: Run, tvm: TvmProcess, refused: TvmError, last: list[BoundVariable]
) -> Discovery | None:
    """Compare the results alone, where TVM does not take the probes; if it fails without them, too,
    the last binding is to blame.
    """
    try:
        shown = list(tvm.run(run.module, run.entry, run.args))
    except TvmError as error:
        return _failed(run, error, last)
    run.notes[f"only results were compared: with probes, TVM says: {refused}"] = None
    outcome = run.follow(lambda bound: None)
    run.compared += 1
    return _ending(run, outcome, iter(shown), [])


def _as_built(run: Run, tvm: TvmProcess, expected: Value) -> Discovery | None:
    """The difference between the program that TVM builds without probes and the one with them."""
    for now in tvm.run(run.module, run.entry, run.args):
        if now.value is None:
            return None
        found = apart(expected, now.value, run.rounding_of_all, exact=run.exact)
        if found is not None:
            said = (
                f"each binding by itself is right, but not the program as TVM builds it: "
                f"{found.said}; a pass that joins bindings or plans memory is to blame, and"
                " `rlx bisect` names it"
            )
            return Discovery(Spot("the result", run.entry), "joined", said, found, run.whole)
    return None


def _failed(run: Run, error: TvmError, last: list[BoundVariable]) -> Discovery:
    stage = {"parser": "TVM refuses the program", "build": "TVM does not build the program"}
    if error.stage in stage or not last:
        said = f"{stage.get(error.stage, 'TVM fails')}: {error}"
        if error.stage in stage:
            run.notes[
                "`relax-check --for tvm` says which calls TVM does not build, and what to do"
            ] = None
        return Discovery(Spot("the program", run.entry), "fails", said)
    return Discovery(run.spot(last[-1]), "fails", f"TVM fails here: {error}")


def _ending(
    run: Run, outcome: Outcome, shown: Iterator[ProbedValue], returned: list[Value]
) -> Discovery | None:
    """The difference between the ends of the runs; TVM's results are added to a list."""
    result = Spot("the result", run.entry)
    if isinstance(outcome, Ended):
        return run.ended(outcome)
    assert isinstance(outcome, Returned)
    try:
        now = next(shown)
    except TvmError as error:
        return Discovery(result, "fails", f"TVM fails at the end: {error}")
    if now.number is not None:
        return Discovery(result, "way", "the rules return; TVM goes on")
    if now.value is None or isinstance(outcome.value, Closure):
        return None
    returned.append(now.value)
    found = apart(outcome.value, now.value, run.rounding_of_all, exact=run.exact)
    return None if found is None else Discovery(result, "differs", found.said, found)


# ---------------------------------------------------------------- against values with names


def recorded(run: Run) -> tuple[dict[str, list[Value]], Outcome]:
    """The values of a run by the names of their bindings in the entry, and how it ends."""
    found: dict[str, list[Value]] = {}
    kept = copied if may_write(run.module) else lambda value: value
    counts: dict[int, int] = {}
    alive: list[TupleValue] = []  # so that their ids stay theirs
    for each in followed(run.program, run.entry, own(run.module, run.args)):
        if isinstance(each, Outcome):
            return found, each
        if each.computed and each.function == run.entry:
            if isinstance(each.value, TupleValue):
                alive.append(each.value)
            if run.settled.count(each.value, counts):
                found.setdefault(each.var.name_hint, []).append(kept(each.value))
    raise AssertionError("a run ends with its outcome")


def outcome_of(run: Run) -> Outcome:
    """The end of a run."""
    for each in followed(run.program, run.entry, own(run.module, run.args), forget=always):
        if isinstance(each, Outcome):
            return each
    raise AssertionError("a run ends with its outcome")


def against_named(
    run: Run, values: Mapping[str, Sequence[Value]], other: str, result: Value | None = None
) -> RunComparison:
    """Compare a run with values that have the names of bindings of its entry.

    Parameters
    ----------
    values
        For each name the values in the order in which its binding gets them.
    other
        What the other side is called.
    result
        What the other side returns; None if that is not known.

    Raises
    ------
    NoNameError
        If no binding that is reached has one of the names.
    """
    left = {name: list(each) for name, each in values.items()}
    final = {} if result is None else run.named_result(result)

    def theirs(bound: BoundVariable) -> Value | None:
        if bound.function != run.entry:
            return None
        name = bound.var.name_hint
        waiting = left.get(name)
        value = waiting.pop(0) if waiting else None
        value = final.get(bound.var, value)
        if value is None or not bound.computed or bound.var in final:
            return value
        value = _typed(value, bound.value)
        if not alike(bound.value, value, run.settled):
            kinds = [
                ", ".join(f"{a.dtype}{list(a.shape)}" for a in arrays(each))
                for each in (bound.value, value)
            ]
            said = f"it is {kinds[0]} here, and {kinds[1]} there"
            found = [*arrays(bound.value), *arrays(value)]
            whole = all(each.dtype.kind in "iu" for each in found)
            if whole and len(found) == 2 and found[0].shape == found[1].shape:
                said = f"{said}, with numbers that {found[0].dtype} does not have"
                raise ComparisonStop(Discovery(run.spot(bound), "differs", said))
            run.notes[f"{name}: not compared; {said}"] = None
            return None
        return value

    difference: Discovery | None = None
    try:
        outcome = run.follow(theirs)
        if isinstance(outcome, Ended):
            difference = run.ended(outcome)
    except ComparisonStop as stop:
        difference = stop.found
    if not run.compared and difference is None:
        raise NoNameError(values, run)
    return run.comparison((RULES, other), difference)


def _typed(value: Value, like: Value) -> Value:
    """A tensor with the element type of another one, where kind and shape are the same and no whole
    number is lost: references are often more precise than the program.
    """
    if not isinstance(value, Tensor) or not isinstance(like, Tensor):
        return value
    one, kind = value.data, like.data.dtype
    if one.shape != like.data.shape or "b" in one.dtype.kind + kind.kind:
        return value
    if (unit(one) > 0) != (unit(like.data) > 0):
        return value
    with np.errstate(over="ignore"):
        made = one.astype(kind)
    return Tensor(made) if unit(one) > 0 or (made == one).all() else value


class InputsError(ValueError):
    """The arguments do not fit the parameters; the message says why."""


class NoNameError(ValueError):
    """Raised if no value has the name of a binding."""

    def __init__(self, values: Mapping[str, object], run: Run) -> None:
        names = [b.var.name_hint for b in run.bindings.values() if b.var is not None]
        some = [", ".join(list(each)[:10]) or "none" for each in (values, names)]
        super().__init__(
            f"no value has the name and the type of a binding of {run.entry}; values: {some[0]};"
            f" bindings: {some[1]}"
        )
