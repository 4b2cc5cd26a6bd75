"""The question whether AFTER refines BEFORE: both are run on terms, and these are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.promises import promises
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.show import show
from rlx.grammar.stack import recursion_room, roomy
from rlx.refine import bit_cases, cut_points, real_sums, terms
from rlx.refine.answer import Counterexample, Refinement
from rlx.refine.contracts import (
    BY_PASS,
    CONTRACTS,
    Interface,
    InterfaceError,
    arguments_of,
    bound_constants,
    compared,
)
from rlx.refine.definitions import (
    LAYOUT_TRANSFORM,
    Definitions,
    SizeOfCall,
    Unopened,
    replaced_sizes,
)
from rlx.refine.execute import (
    CALL_TIR,
    FILLED,
    NEVER,
    NUMBER,
    WRITTEN,
    Execution,
    OutsideTerm,
    Path,
    RunCheck,
    SharedPrimFuncs,
    constant_term,
)
from rlx.refine.explanation import NAMELESS, FunctionProof, Note, TermNames
from rlx.refine.facts import Facts, widens
from rlx.refine.folded import FoldedCalls, same_constants
from rlx.refine.kernels import kinds, with_callers
from rlx.refine.lowered import Unreadable
from rlx.refine.matching import Matcher
from rlx.refine.normal_forms import Exhausted, lowest_and_highest
from rlx.refine.prim_funcs import LoopsOpener
from rlx.refine.runs import RUNS, differing, lengths, scalars
from rlx.refine.suggestion import Missing, numbers_in
from rlx.refine.terms import (
    ApplicationTerm,
    ConstantTerm,
    NumberTerm,
    ResultTerm,
    TensorTerm,
    Term,
    TupleTerm,
    group,
)
from rlx.solver.context import Context
from rlx.solver.prover import Prover
from rlx.solver.verdict import Proved
from rlx.spec.registry import decide, rule

LEVELS = ("bitwise", "real")
FAULTS = ("may vanish", "kept")

UNEQUAL = "the results are not proved to be equal"

BIT_FOR_BIT = '; floats="real" asks for exact real numbers, which may be computed in any order'
"""The advice where bits may depend on the order of operations."""

STUCK = 4_000
"""The most steps of a comparison as a whole, after one of a binding failed."""

DIFFER = "the first runs differ"
"""Why no proof was tried."""

_PARTS = frozenset({"Primitive", "Composite", "Codegen"})
"""Attributes of functions that are parts of others: passes fuse and rename them."""


class _Outcome(Record):
    """The result of the comparison of one function: the level of the proof, or the reason why there is none."""

    level: str | None
    reason: str
    notes: tuple[Note, ...] = ()
    names: TermNames = NAMELESS
    unjoined: tuple[str, str] | None = None
    undecided: tuple[tir.PrimExpr, ...] = ()
    conditions: tuple[Proved, ...] = ()


def entries(before: ast.IRModule, after: ast.IRModule, entry: str | None) -> tuple[str, ...]:
    """The functions to compare: the one of a name, or all public functions of BEFORE. Raises
    InterfaceError if one of them is not in AFTER, or is private there beside public ones.
    """
    ours = {gv.name_hint: f for gv, f in before.functions.items()}
    theirs = {gv.name_hint: f for gv, f in after.functions.items()}
    if entry is not None:
        for side, functions in (("BEFORE", ours), ("AFTER", theirs)):
            if entry not in functions:
                known = ", ".join(functions) or "none"
                raise InterfaceError(f"{side} has no function {entry!r}; it has: {known}")
        return (entry,)
    public = [name for name, f in ours.items() if "global_symbol" in f.attrs] or list(ours)
    relax = [name for name in public if isinstance(ours[name], ast.Function)]
    whole = [name for name in relax if _PARTS.isdisjoint(ours[name].attrs)]
    wanted = whole or relax or public
    for name in wanted:
        if name not in theirs:
            has = ", ".join(theirs) or "none"
            raise InterfaceError(
                f"the interface changed: AFTER has no function {name!r}; it has: {has}"
            )
        hidden = "global_symbol" in ours[name].attrs and "global_symbol" not in theirs[name].attrs
        if hidden and any("global_symbol" in f.attrs for f in theirs.values()):
            raise InterfaceError(f"the interface changed: {name!r} is private in AFTER")
    if not wanted:
        raise InterfaceError("BEFORE has no functions")
    return tuple(wanted)


def known_options(
    floats: str, faults: str, assume: str | Sequence[str], contract: str | None
) -> list[str]:
    """The conditions as a list, once the options are known to be good.

    Raises
    ------
    ValueError
        If an option has no such value.
    TypeError
        If a condition is no text.
    """
    for name, found, choices in (("floats", floats, LEVELS), ("faults", faults, FAULTS)):
        if not isinstance(found, str) or found not in choices:
            raise ValueError(f"{name}: expected {' or '.join(map(repr, choices))}, found {found!r}")
    if contract is not None and not (
        isinstance(contract, str) and contract in {**CONTRACTS, **BY_PASS}
    ):
        known = " or ".join(map(repr, CONTRACTS))
        raise ValueError(f"contract: expected None, {known}, found {contract!r}")
    conditions = [assume] if isinstance(assume, str) else assume
    if not (isinstance(conditions, list | tuple) and all(isinstance(c, str) for c in conditions)):
        raise TypeError(f'assume: expected conditions such as "n % 4 == 0", found {assume!r}')
    return list(conditions)


def _known_sizes(assume: Sequence[str], functions: Sequence[object]) -> None:
    """Make sure that conditions are about sizes of BEFORE. Raises ValueError if one is not."""
    from rlx.solver import question_parser

    sizes = {v.name: v for f in functions if isinstance(f, ast.Function) for v in f.shape_vars}
    for text in assume:
        for var in tir.free_vars(question_parser.parse(text, dict(sizes))):
            if sizes.get(var.name) is not var:
                known = ", ".join(sizes) or "none"
                raise ValueError(f"{text}: BEFORE has no size {var.name!r}; it has: {known}")


@roomy
def compare(
    before: ast.IRModule,
    after: ast.IRModule,
    entry: str | None = None,
    floats: str = "bitwise",
    faults: str = "may vanish",
    assume: Sequence[str] = (),
    contract: str | None = None,
) -> Refinement:
    """Whether AFTER refines BEFORE; both are in normal form and without errors.

    Raises
    ------
    InterfaceError
        If they have other functions or parameters.
    """
    before = compared(contract, before)
    names = entries(before, after, entry)
    as_given, before, after = (before, after), *with_callers(before, after, names)
    _known_sizes(assume, [before[name] for name in names])
    if contract is None and structural_equal(*as_given) and not any(map(_omits_data, as_given)):
        same = FunctionProof(", ".join(names), (), NAMELESS, "the programs are the same")
        return Refinement("proved", "bitwise", names, None, "", (same,))
    level, proofs = "bitwise", list[FunctionProof]()
    todo = [(name, False) for name in names]
    passed = set[str]()  # to what nobody knows, which may call them with anything
    given = {name: (*assume, *_promised(before[name])) for name in names}
    alike = contract is None and not any(given.values())
    with recursion_room():
        for name, called in todo:  # grows by the functions that were taken to mean the same
            # What is assumed or agreed of entries does not hold where a function calls itself.
            known, agreed = ((), None) if called else (given[name], contract)
            question = _FunctionPair(before, after, name, floats, faults, known, agreed, called)
            found = question.answer()
            for each in (*question.recursive, *question.passed):
                if (each, True) not in todo and not (alike and each in names):
                    todo.append((each, True))
            passed.update(question.passed)
            end = found.reason or _ENDS[found.level or ""]
            proofs.append(FunctionProof(name, found.notes, found.names, end, found.conditions))
            if found.level is not None:
                level = "real" if found.level == "real" else level
                continue
            numbers = _numbers(found, before[name], after[name])
            special, real = floats == "bitwise", floats == "real"
            example, reason = None, found.reason
            for run in names if called and name not in passed else (name,):
                if example is None:
                    searched = differing(
                        *(before, after, run, contract, given.get(run, assume), RUNS, numbers),
                        *(special, real, faults == "kept"),
                    )
                    example = searched.example
                    reason = "; ".join(filter(None, [reason, searched.ended]))
            example = question.example if example is None else example
            said = reason if len(todo) == 1 else f"{name}: {reason}"
            status = "unknown" if example is None else "refuted"
            return Refinement(
                status,
                None,
                names,
                example,
                said if example is None else example.difference,
                tuple(proofs),
                found.unjoined if example is None else None,
                None if called else question.missing(found, example),
            )
    promised = tuple(dict.fromkeys(each for name in names for each in _promised(before[name])))
    return Refinement("proved", level, names, None, "", tuple(proofs), promised=promised)


def _promised(function: object) -> list[str]:
    """The conditions on sizes that a function's attributes promise, as texts."""
    return [show(each) for each in promises(function)] if isinstance(function, ast.Function) else []


def _omits_data(module: ast.IRModule) -> bool:
    """Whether the text omits the data of a constant: equal texts may have different ones."""
    return any(
        isinstance(node, ast.Constant) and node.data.content is None and node.data.value is None
        for function in module.functions.values()
        for node in expressions(function)
    )


def _numbers(found: _Outcome, *functions: object) -> list[int]:
    """Numbers behind which sizes may show a difference: those in conditions on sizes that were not
    decided, and in the functions.
    """
    conditions = [each for each in found.undecided if len(tir.free_vars(each)) == 1]
    near = dict.fromkeys(
        number
        for node in tir.postorder(*conditions)
        if isinstance(node, tir.IntImm)
        for number in (node.value - 1, node.value)
        if number > 1
    )
    return [*dict.fromkeys([*list(near)[:CONDITION_NUMBERS], *numbers_in(functions)])]


CONDITION_NUMBERS = 6
"""The most numbers in undecided conditions that are looked at."""

_ENDS = {
    "bitwise": "so the results are equal, bit for bit",
    "real": "so the results are equal as exact real numbers",
}


def _returns_never(ours: Execution) -> str:
    """Why BEFORE returns for no arguments; empty if that is not known."""
    for check in ours.checks:
        if isinstance(check.key, tuple) and check.key[0] == NEVER and not check.path:
            return f"BEFORE returns for no arguments: {check.words} is not defined for them"
    return ""


class _FunctionPair:
    """The comparison of one function."""

    def __init__(
        self,
        before: ast.IRModule,
        after: ast.IRModule,
        name: str,
        floats: str,
        faults: str,
        assume: Sequence[str],
        contract: str | None,
        called: bool,
    ) -> None:
        self._contract = contract
        self.recursive: list[str] = []
        self.passed: list[str] = []
        self._run_first = not called  # with any arguments, of which a program may never pass some
        self.example: Counterexample | None = None
        self._modules = (before, after)
        self._name, self._floats, self._faults, self._assume = name, floats, faults, assume
        self._real = floats == "real"
        self._context = Context()
        self._definitions = Definitions()
        self._folded = FoldedCalls(self._definitions)
        self._prim_funcs = SharedPrimFuncs()
        self._loops = LoopsOpener()

    def answer(self) -> _Outcome:
        """The level at which the functions are equal, or why that is not proved."""
        one, other = (module[self._name] for module in self._modules)
        if isinstance(one, tir.PrimFunc) or isinstance(other, tir.PrimFunc):
            if type(one) is not type(other):
                raise InterfaceError(
                    f"the interface changed: {self._name} is a PrimFunc on one side only"
                )
            assert isinstance(one, tir.PrimFunc) and isinstance(other, tir.PrimFunc)
            if kinds(one) != kinds(other):
                shown = [
                    ", ".join(str(each or "buffer") for each in kinds(f)) for f in (one, other)
                ]
                raise InterfaceError(
                    f"the interface changed: the PrimFunc {self._name} has the parameters"
                    f" ({shown[0]}) in BEFORE and ({shown[1]}) in AFTER"
                )
            if self._prim_funcs.shared(one) is self._prim_funcs.shared(other):
                return _Outcome("bitwise", "")
            return _Outcome(
                None,
                "a PrimFunc is only compared by itself if it is known which of its buffers it writes,"
                " its other parameters are numbers, and what its sizes are computed of is a size or"
                " a parameter",
            )
        try:
            return self._functions(one, other)
        except Unreadable as error:
            return _Outcome(None, str(error))
        except RecursionError:
            return _Outcome(None, "terms are nested too deep")

    def missing(self, found: _Outcome, example: Counterexample | None) -> Missing | None:
        """The search for a condition under which the proof succeeds."""
        both = [module[self._name] for module in self._modules]
        functions = [function for function in both if isinstance(function, ast.Function)]
        if len(functions) < len(both):
            return None

        def again(condition: str) -> Refinement:
            assume = (*self._assume, condition)
            before, after = self._modules
            return compare(
                before, after, self._name, self._floats, self._faults, assume, self._contract
            )

        def undecided() -> Sequence[tir.PrimExpr]:
            if found.reason != DIFFER:
                return found.undecided
            return self.answer().undecided  # now a proof is tried

        sizes = None if example is None else example.sizes
        return Missing(again, functions, undecided, sizes)

    def _functions(self, one: ast.Function, other: ast.Function) -> _Outcome:
        """Execute both functions on the same terms, run them on a few inputs, and prove that the terms
        are equal.
        """
        ours, theirs = (
            Execution(module, self._definitions, self._prim_funcs) for module in self._modules
        )
        interface = Interface(self._name, one, other, theirs.function_names)
        arguments = self._arguments(one, interface)
        try:
            before = ours.entry(self._name, arguments)
        except Unreadable as error:
            raise Unreadable(f"BEFORE: {error}") from None
        self._learn(ours.facts)
        measured = self._definitions.of_calls()
        if self._faults == "may vanish" and (why := _returns_never(ours)):
            return _Outcome("bitwise", why)
        after, first = self._result_after(ours, theirs, interface, arguments, before)
        try:
            before, after = self._called(ours, theirs, before, after)
        except Unreadable as error:
            raise Unreadable(f"a result: {error}") from None
        self.recursive += [name for name in ours.recursive if name in theirs.recursive]
        self._accepted(interface, theirs.checks[first : theirs.accepted], ours)
        if self._run_first:
            self._run_first = False
            searched = differing(
                *(*self._modules, self._name, self._contract, self._assume, 1),
                real=self._real,
                kept=self._faults == "kept",
            )
            self.example = searched.example
            if self.example is not None:  # then no proof has to be tried
                return _Outcome(None, DIFFER)
        return self._proof(ours, theirs, before, after, measured)

    def _arguments(self, one: ast.Function, interface: Interface) -> list[Term]:
        """The terms of BEFORE's arguments, and what is known of its sizes."""
        definitions = self._definitions
        dims = [tir.LE(tir.IntImm(0), dim) for dim in lengths(one)]
        for var in _may_be_negative(one, dims):
            definitions.is_scalar(var)
        self._declare_scalars()
        self._learn([condition for condition in dims if not definitions.is_length(condition.b)])
        fixed = self._suppose(one)
        arguments = [
            definitions.value_of(
                replaced_sizes(p.struct_info_annotation or OBJECT, fixed), ("parameter", k)
            )
            for k, p in enumerate(one.params)
        ]
        self._declare_scalars()
        for k, constant in bound_constants(self._contract, interface).items():
            arguments[k] = constant_term(constant.data)
        return arguments

    def _result_after(
        self,
        ours: Execution,
        theirs: Execution,
        interface: Interface,
        arguments: Sequence[Term],
        before: Term,
    ) -> tuple[Term, int]:
        """The result of AFTER, and how many of its checks are about how it takes the arguments."""
        try:
            theirs.destinations |= ours.destinations
            theirs.pure |= ours.pure
            said = [each.key for each in ours.checks if not each.path]
            theirs.exact |= {key[1] for key in said if isinstance(key, tuple) and key[0] == NUMBER}
            side = _Terms(theirs)
            given = arguments_of(self._contract, interface, arguments, side)
            first = len(theirs.checks)
            return side.result(theirs.entry(self._name, given), before), first
        except Unreadable as error:
            self._accepted(interface, theirs.checks[: theirs.accepted], ours)
            raise Unreadable(f"AFTER: {error}") from None

    def _proof(
        self,
        ours: Execution,
        theirs: Execution,
        before: Term,
        after: Term,
        measured: dict[SizeOfCall, tir.Var],
    ) -> _Outcome:
        """The first level at which two results are proved to be equal, or why none is."""
        definitions = self._definitions
        self._declare_scalars()
        names = TermNames(ours.names, theirs.names)
        reason, found = "", list[Note]()
        conditions: list[Proved] = []
        functions: dict[str, None] = {}
        known = same_constants(
            self._folded,
            *(cut_points.in_order(roots) for roots in (ours.roots(before), theirs.roots(after))),
        )
        levels = [*LEVELS[: 1 + LEVELS.index(self._floats)]]
        as_written, exact, exact_notes = False, known, tuple(found)
        for level in (*levels, *levels[1:]):
            judges = (real_sums.equal, bit_cases.equal, real_sums.equal_differences)
            matcher = Matcher(self._context, self._opened, level, *judges, as_written)
            matcher.representatives.update(known)
            matcher.trail.notes += found
            matcher.facts.proofs = conditions
            matcher.functions = functions  # those of a level before, too, as its cut points stay
            matcher.computed = frozenset(ours.applied)
            matcher.filled = [check.key[1:] for check in ours.checks if _is_filled(check)]
            roots = ours.roots(before), theirs.roots(after)
            stuck = cut_points.find(matcher, *roots, measured, definitions.of_calls())
            if stuck is not None:
                matcher.limit = matcher.steps + STUCK
            known, found = matcher.representatives, list(matcher.trail.notes)
            names.learn(known)
            try:
                reason = self._not_equal(matcher, ours, theirs, before, after)
            except Exhausted:
                reason = "the limit of work is reached"
            notes = tuple(matcher.trail.notes)
            if not reason:
                self.passed += functions
                return _Outcome(level, "", notes, names, conditions=tuple(conditions))
            if matcher.real:  # once more, with numbers as they are written, if that differs
                if not matcher.rounded:
                    break
                as_written, known, found = True, exact, list(exact_notes)
            else:
                exact, exact_notes = known, tuple(found)
        undecided = tuple(matcher.facts.undecided)
        if stuck is not None and not reason.startswith(UNEQUAL):
            ours_name, theirs_name = (names.own(each, side) for side, each in enumerate(stuck))
            if ours_name and theirs_name:
                reason += f"; `{theirs_name}` of AFTER is not proved to be `{ours_name}` of BEFORE"
                matcher.explain(*stuck)
        if not matcher.real and (reason == UNEQUAL or stuck is not None):
            reason += BIT_FOR_BIT
        return _Outcome(None, reason, notes, names, _unjoined(matcher, names), undecided)

    def _called(
        self,
        ours: Execution,
        theirs: Execution,
        before: Term,
        after: Term,
        known: dict[tuple[Term, Term], tuple[Term, Term]] | None = None,
    ) -> tuple[Term, Term]:
        """Results with what functions in them return for any arguments.

        A pair of parts that occurs in several places of the results is looked at once.
        """
        known = {} if known is None else known
        if (before, after) not in known:
            known[before, after] = before, after
            known[before, after] = self._call_of(ours, theirs, before, after, known)
        return known[before, after]

    def _call_of(
        self,
        ours: Execution,
        theirs: Execution,
        before: Term,
        after: Term,
        known: dict[tuple[Term, Term], tuple[Term, Term]],
    ) -> tuple[Term, Term]:
        match before, after:
            case TupleTerm(fields=one), TupleTerm(fields=other) if len(one) == len(other):
                pairs = [
                    self._called(ours, theirs, *each, known)
                    for each in zip(one, other, strict=True)
                ]
                return group([a for a, _ in pairs]), group([b for _, b in pairs])
        params, others = ours.params_of(before), theirs.params_of(after)
        if params is None or others is None or len(params) != len(others):
            return before, after
        arguments = [
            self._definitions.value_of(info, ("argument", before, k))
            for k, info in enumerate(params)
        ]
        for info in params:
            if isinstance(info, ast.PrimStructInfo) and isinstance(info.value, tir.Var):
                self._definitions.is_scalar(info.value)
        made = ours.called_later(before, arguments), theirs.called_later(after, arguments)
        return self._called(ours, theirs, *made, known)

    def _declare_scalars(self) -> None:
        """Know that the numbers which are the length of nothing may be negative."""
        for var in self._definitions.scalars - self._context.state.ranges.keys():
            self._context.declare(var, lower=None)

    def _learn(self, conditions: Sequence[tir.PrimExpr]) -> None:
        """Assume conditions on sizes."""
        reading = Facts(self._context)
        for condition in conditions:
            if reading.is_index(condition):
                self._context.assume(condition)

    def _accepted(self, interface: Interface, checks: Sequence[RunCheck], ours: Execution) -> None:
        """Make sure that AFTER takes the arguments of BEFORE. Raises InterfaceError if it may not."""
        for check in checks:
            if any(known.key == check.key for known in ours.checks[: ours.accepted]):
                continue
            if check.condition is None:
                raise interface.changed(f"{check.words} changed")
            if BY_PASS.get(self._contract or "", self._contract) == "sizes":
                self._learn([check.condition])
            elif Facts(self._context).holds(check.condition) is not True:
                raise interface.changed(
                    f'{check.words} requires {check.condition} in AFTER; see the contract "sizes"'
                )

    def _suppose(self, function: ast.Function) -> dict[tir.Var, tir.PrimExpr]:
        """Assume what the caller says about the sizes of BEFORE. Returns those that are numbers."""
        from rlx.solver import question_parser

        named = {var.name: var for var in function.shape_vars}
        fixed: dict[tir.Var, tir.PrimExpr] = {}
        for text in self._assume:
            condition = question_parser.parse(text, named)
            if Prover(self._context).never(condition).proved:
                raise ValueError(f"{text}: no sizes satisfy the assumptions")
            self._context.assume(condition)
            self._definitions.learn(condition)
            match condition:
                case tir.EQ(a=tir.Var() as var, b=tir.IntImm() as number):
                    fixed[var] = tir.interned(number)
        return fixed

    def _not_equal(
        self, matcher: Matcher, ours: Execution, theirs: Execution, before: Term, after: Term
    ) -> str:
        """Why the runs are not proved to be equal; empty if they are."""
        if not _same_calls(matcher, ours, theirs):
            return "the calls of packed functions are not proved to be the same"
        failing = _failing(theirs.checks, lambda check: self._passes(check, ours, matcher))
        if failing is not None:
            return f"AFTER may fail where BEFORE does not: {failing.words}"
        if self._faults == "kept":
            for check in ours.checks:
                if not self._found(check, theirs, matcher):
                    return f"BEFORE may fail where AFTER does not: {check.words}"
        if _same_result(matcher, ours, theirs, before, after):
            return ""
        found = matcher.mismatch
        why = f": {found.reason}" if found is not None and found.reason else ""
        return f"{UNEQUAL}{why}"

    def _passes(self, check: RunCheck, ours: Execution, matcher: Matcher) -> bool:
        """Whether a check of AFTER holds whenever BEFORE returns."""
        if check.condition is not None and matcher.facts.holds(check.condition) is True:
            return True
        if self._found(check, ours, matcher):
            return True
        match check.key:
            case ("index", indices, extent, mode):
                known = [
                    each.key[1]
                    for each in ours.checks
                    if isinstance(each.key, tuple)
                    and each.key[0] == "index"
                    and each.key[3] == mode
                    and each.path == check.path[: len(each.path)]
                    and matcher.facts.equal(each.key[2], extent)
                ]
                return _inside(matcher, indices, extent, list(_with_arguments(known)))
            case (str() as kind, tuple() as dims, tuple() as kept) if kind == FILLED:
                known = [
                    each.key[1:]
                    for each in ours.checks
                    if isinstance(each.key, tuple)
                    and each.key[0] == FILLED
                    and each.path == check.path[: len(each.path)]
                ]
                return _filled(matcher, dims, kept, known)
            case ("call", ApplicationTerm() as made) if made.name == CALL_TIR:
                return self._folded.returns(made) or self._loops.safe(
                    made, matcher, lambda: self._computed(ours)
                )
            case (kind, ResultTerm() as result) if kind == WRITTEN:
                same = matcher.representatives.get(result, result)
                if not (isinstance(same, ResultTerm) and same.of.name == CALL_TIR):
                    return True  # what an operator returns is whole
                wanted = RunCheck(check.path, (WRITTEN, same), None, check.words)
                return self._loops.fills(result, matcher.facts) or self._found(
                    wanted, ours, matcher
                )
            case ("call", ApplicationTerm() as made) if made.name == LAYOUT_TRANSFORM:
                with suppress(Unopened):  # it has an inverse
                    return bool(self._definitions.open(made))
        return False

    def _computed(self, side: Execution) -> Iterator[TensorTerm]:
        """The tensors that operators of a program compute on the way, by their definitions."""
        for made in side.applied:
            with suppress(Unopened):
                yield from self._definitions.stages(made)
        for check in side.checks:
            match check:
                case RunCheck(path=(), key=("call", ApplicationTerm() as made)) if (
                    made.name == CALL_TIR
                ):
                    yield from self._loops.filled_by(made)

    def _found(self, check: RunCheck, side: Execution, matcher: Matcher) -> bool:
        """Whether the other side has the same check on a path that is always taken then, or on both ways
        of a branch.
        """
        if self._found_on_path(check, side, matcher):
            return True
        taken = dict(check.path)
        alike = [known.path for known in side.checks if known.key == check.key]
        branches = dict.fromkeys(test for path in alike for test, _ in path if test not in taken)
        return len(branches) <= BRANCHES and any(
            all(
                self._found(replace(check, path=(*check.path, (test, way))), side, matcher)
                for way in (True, False)
            )
            for test in branches
        )

    def _found_on_path(self, check: RunCheck, side: Execution, matcher: Matcher) -> bool:
        for known in side.checks:
            if known.key == check.key and _taken(matcher, known.path, check.path):
                return True
        match check.key:
            case ("call", ApplicationTerm() as made):
                return any(
                    matcher.attempt(partial(matcher.applications, each, made))
                    or matcher.attempt(partial(_fail_alike, matcher, each, made))
                    for each in self._same_function(made, check.path, side, matcher)
                )
            case ("assert", condition):
                return any(
                    matcher.attempt(partial(matcher.equal, known.key[1], condition))
                    for known in side.checks
                    if isinstance(known.key, tuple)
                    and known.key[0] == "assert"
                    and _taken(matcher, known.path, check.path)
                )
        return False

    def _same_function(
        self, made: ApplicationTerm, path: Path, side: Execution, matcher: Matcher
    ) -> list[ApplicationTerm]:
        """The calls of a function that a side makes whenever a path is taken, those with the same
        arguments first.
        """
        found = [
            known.key[1]
            for known in side.checks
            if isinstance(known.key, tuple)
            and known.key[0] == "call"
            and known.key[1].name == made.name
            and _taken(matcher, known.path, path)
        ]
        own = set(map(matcher.representative, made.arguments))
        found.sort(key=lambda each: len(own.difference(each.arguments)))
        return found

    def _opened(self, result: ResultTerm, level: str) -> TensorTerm:
        application = result.of
        if application.name == CALL_TIR:
            return self._loops.open(result)
        return _by_definition(self._definitions, result, level)


ZERO, ONE = terms.index(0), terms.index(1)

BRANCHES = 3
"""The most branches for which it is looked at whether both ways have a check."""


def _taken(matcher: Matcher, path: Path, when: Path) -> bool:
    """Whether a path is taken whenever another one is: its conditions are among those of that one."""
    return path == when[: len(path)] or all(
        any(value is taken and matcher.elements(known, condition) for condition, taken in when)
        for known, value in path
    )


def _fail_alike(matcher: Matcher, p: ApplicationTerm, q: ApplicationTerm) -> bool:
    """Whether two lookups, or two scatters, fail together: they are at the same places of tensors of one
    shape.
    """
    if not (p.name == q.name in _LOOKUPS and p.attributes == q.attributes):
        return False
    pairs = list(zip(p.arguments, q.arguments, strict=True))
    at, place = pairs.pop(1)

    def alike(one: Term, other: Term) -> bool:
        return (
            isinstance(one, TensorTerm)
            and isinstance(other, TensorTerm)
            and len(one.shape) == len(other.shape)
            and all(map(matcher.facts.equal, one.shape, other.shape))
        )

    return all(alike(*each) for each in pairs) and matcher.equal(at, place)


def _is_filled(check: RunCheck) -> bool:
    """Whether a check is made on each path, and says that something is not empty."""
    return not check.path and isinstance(check.key, tuple) and check.key[0] == FILLED


def _filled(
    matcher: Matcher,
    dims: Sequence[tir.PrimExpr],
    kept: Sequence[tir.PrimExpr],
    known: Sequence[tuple[Sequence[tir.PrimExpr], Sequence[tir.PrimExpr]]],
) -> bool:
    """Whether an extremum has elements, or no result. That is looked at for each choice of sizes that are 0.

    Parameters
    ----------
    dims, kept
        The extents that it is taken over, and those of its result.
    known
        Those of extrema for which this is known.
    """
    facts = matcher.facts

    def certain(each: tir.PrimExpr) -> bool:
        return facts.holds(each) is True

    def fails(over: Sequence[tir.PrimExpr], result: Sequence[tir.PrimExpr]) -> bool:
        empty = any(certain(tir.LE(dim, ZERO)) for dim in over)
        return empty and all(certain(tir.LE(ONE, dim)) for dim in result)

    def passes(sizes: Sequence[tir.Var]) -> bool:
        if all(certain(tir.LE(ONE, dim)) for dim in dims):
            return True
        if any(certain(tir.LE(dim, ZERO)) for dim in kept) or any(fails(*each) for each in known):
            return True
        if not sizes:
            return False
        for value in (True, False):
            with matcher.scope():
                facts.assume(tir.LE(ONE, sizes[0]), value)
                if not passes(sizes[1:]):
                    return False
        return True

    used = tir.free_vars(*dims, *kept, *[d for over, result in known for d in (*over, *result)])
    return passes(list(used)[:SIZES_SPLIT])


def _with_arguments(known: Sequence[Term]) -> Iterator[Term]:
    """Terms, and the tensors of which they have all elements."""
    todo = list(known)
    while todo:
        term = todo.pop()
        yield term
        match term:
            case ResultTerm(of=ApplicationTerm(name=name, arguments=arguments)):
                todo += arguments if name in _ARRANGED else ()
            case TupleTerm(fields=fields):
                todo += fields


_MOVES = ("reshape", "permute_dims", "expand_dims", "squeeze", "flatten", "flip", "concat", "stack")
_ARRANGED = frozenset(f"relax.{name}" for name in _MOVES)
"""Operators whose results have all elements of their arguments, and no others."""

SIZES_SPLIT = 6
"""The most sizes for which it is looked at whether they are 0."""

_LOOKUPS = tuple(
    f"relax.{name}" for name in ("gather_elements", "gather_nd", "scatter_elements", "scatter_nd")
)
"""Operators that read or replace elements of their first argument, at the places in the second one."""


def _inside(matcher: Matcher, indices: Term, extent: tir.PrimExpr, known: Sequence[Term]) -> bool:
    """Whether all elements of a tensor, or a number, are indices of an axis.

    Parameters
    ----------
    known
        Tensors whose elements are.
    """
    if isinstance(indices, NumberTerm):
        return _element_inside(matcher, indices.value, extent, known)
    assert isinstance(indices, TensorTerm)
    axes = tuple([tir.Var(f"i{k}") for k in range(len(indices.shape))])
    with matcher.scope():
        matcher.facts.index(axes, indices.shape)
        return _element_inside(matcher, terms.read(indices, axes), extent, known)


def _element_inside(
    matcher: Matcher, element: tir.PrimExpr, extent: tir.PrimExpr, known: Sequence[Term]
) -> bool:
    element = matcher.head(tir.interned(element))
    match element:
        case tir.Cast(dtype=kind, value=inner) if widens(tir.type_of(inner), kind):
            return _element_inside(matcher, inner, extent, known)
        case (
            tir.Select(condition=condition, true_value=a, false_value=b)
            | tir.Call(op="if_then_else", args=(condition, a, b))
        ):
            for value, part in ((True, a), (False, b)):
                with matcher.scope():
                    matcher.facts.assume(condition, value)
                    if not _element_inside(matcher, part, extent, known):
                        return False
            return True
        case tir.BufferLoad(buffer=ConstantTerm() as tensor):
            low, high = lowest_and_highest(tensor)
            inside = (tir.LE(ZERO, tir.IntImm(low)), tir.LT(tir.IntImm(high), extent))
            return all(matcher.facts.holds(each) is True for each in inside)
        case tir.BufferLoad(buffer=TensorTerm() as tensor, indices=at):
            if any(
                isinstance(each, TensorTerm) and matcher.tensors(each, tensor) for each in known
            ):
                return True
            made = matcher.opened(tensor)
            if made is not None:
                return _element_inside(matcher, terms.element(made, at), extent, known)
    while depth := matcher.deepest(element):
        element = matcher.opened_inside(element, depth)
    element = matcher.opened_inside(element, 0)  # constants
    inside = (tir.LE(ZERO, element), tir.LT(element, extent))
    return all(matcher.facts.holds(each) is True for each in inside)


@rule("REFINE-result", "refinement")
def _same_result(
    matcher: Matcher, ours: Execution, theirs: Execution, before: Term, after: Term
) -> bool:
    """Whether the results are equal, and what is left in arguments that are overwritten."""
    written = {**ours.writes, **theirs.writes}
    pairs = [(before, after)]
    pairs += [(ours.writes.get(each, each), theirs.writes.get(each, each)) for each in written]
    return decide("REFINE-result-equal", all(matcher.equal(*pair) for pair in pairs))


@rule("REFINE-checks", "refinement")
def _failing(checks: Sequence[RunCheck], passes: Callable[[RunCheck], bool]) -> RunCheck | None:
    """The first check of AFTER that may fail where BEFORE returns."""
    found = next((check for check in checks if not passes(check)), None)
    decide("REFINE-checks-hold", found is None)
    return found


@rule("REFINE-calls", "refinement")
def _may_be_negative(function: ast.Function, dims: Sequence[tir.PrimExpr]) -> list[tir.Var]:
    """The numbers that are the length of nothing, but for those of which a dimension says that they are
    not negative, as ``2 * m`` does of m.
    """
    numbers = scalars(function)
    if not numbers:
        return []
    known = Context()
    for var in numbers:
        known.declare(var, lower=None)
    for condition in dims:  # dimensions are exact: a run in which one is no int64 ends there
        known.assume(condition)
    prover = Prover(known)
    return [var for var in numbers if not prover.always(tir.LE(tir.IntImm(0), var)).proved]


def _same_calls(matcher: Matcher, ours: Execution, theirs: Execution) -> bool:
    """Whether both call the same packed functions with the same arguments, in the same order."""
    return decide("REFINE-calls-same", matcher.applications(ours.last, theirs.last))


@rule("REFINE-definition", "refinement")
def _by_definition(definitions: Definitions, result: ResultTerm, level: str) -> TensorTerm:
    """The tensor that an operator returns, by its definition. Raises Unopened if it has none, or
    none that gives its bits.
    """
    exact = level == "real" or definitions.exact(result.of)
    if not decide("REFINE-definition-bits", exact):
        raise Unopened("its definition rounds more than once")
    return definitions.open(result.of)[result.path]


class _Terms:
    """Arguments as terms."""

    def __init__(self, after: Execution) -> None:
        self._after = after
        self._results: dict[int, Term] = {}

    def group(self, fields: Sequence[Term]) -> Term:
        """A tuple."""
        return group(fields)

    def fields(self, whole: Term) -> Sequence[Term] | None:
        """The fields of a tuple."""
        return whole.fields if isinstance(whole, TupleTerm) else None

    def call(self, name: str, arguments: Sequence[Term]) -> Term:
        """The result of a function of AFTER."""
        return self._after.entry(name, arguments)

    def getter(self, inputs: Sequence[Term], info: ast.StructInfo) -> Term:
        """A function that gives the inputs."""

        def get(arguments: Sequence[Term]) -> Term:
            match arguments:
                case [NumberTerm(value=tir.IntImm(value=k)), *_] if 0 <= k < len(inputs):
                    return inputs[k]
            raise Unreadable("the number of an input is not known")

        made = self._after.outside["get_item"] = OutsideTerm(get)
        return made

    def setter(self, info: ast.StructInfo) -> Term:
        """A function that takes the results."""

        def put(arguments: Sequence[Term]) -> Term:
            match arguments:
                case [NumberTerm(value=tir.IntImm(value=k)), value] if not self._after.path:
                    self._results[k] = value
                    return group(())
            raise Unreadable("the number of a result is not known")

        made = self._after.outside["set_item"] = OutsideTerm(put)
        return made

    def result(self, found: Term, before: Term) -> Term:
        """The result, which a function may have taken."""
        if not self._results:
            return found
        if sorted(self._results) != list(range(len(self._results))):
            raise Unreadable("a result is missing")
        if isinstance(before, TupleTerm) and not 1 == len(self._results) != len(before.fields):
            return group([self._results[k] for k in range(len(self._results))])
        if len(self._results) > 1:
            raise Unreadable("there are several results")
        return self._results[0]


def _unjoined(matcher: Matcher, names: TermNames) -> tuple[str, str] | None:
    """The two terms that could not be joined, for a person."""
    found = matcher.mismatch
    if found is None:
        return None

    def shown(term: object, side: int) -> str:
        if isinstance(term, tir.PrimExpr):
            return names.element(term)
        why = matcher.reasons.get(term)
        return names.called(term, side) + (f": {why}" if why else "")

    return shown(found.before, 0), shown(found.after, 1)
