"""Checks of a module after each pass, from text to text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.checker.check import Report, check_text
from rlx.generate.campaign.finding import Finding
from rlx.grammar.nodes.node import Record

if TYPE_CHECKING:
    from rlx.comparison.kept import Kept, Ran
    from rlx.generate.campaign.finding_file import FindingFile
    from rlx.generate.campaign.oracles.meaning import Meaning
    from rlx.semantics.outcome import Outcome


# ------------------------------------------------------ passes that change interfaces

_PARAMETERS = "it moves computations of parameters out of the function"
_PRECISION = "it computes with other numbers on purpose"
_MODE = "it gives operators the meaning that they have in inference, or in training"

NOT_COMPARED = {
    "LiftTransformParams": _PARAMETERS,
    "PartitionTransformParams": _PARAMETERS,
    "LazyTransformParams": _PARAMETERS,
    "LazyGetInput": _PARAMETERS,
    "LazySetOutput": _PARAMETERS,
    "BindParams": "it gives parameters their values",
    "BundleModelParams": "it bundles parameters in a tuple",
    "ToMixedPrecision": _PRECISION,
    "FastMathTransform": _PRECISION,
    "DecomposeOps": _MODE,
    "MutateOpsForTraining": _MODE,
}
"""The reason why runs are not compared after a pass, by its name. Other passes that change the parameters of a
function are recognised by the parameters.
"""

CHANGED_ON_PURPOSE = {name: why for name, why in NOT_COMPARED.items() if why in (_PRECISION, _MODE)}
"""Passes whose results mean something else by design."""


ILLEGAL, MEANING = "illegal", "meaning"
SIZES = (3, 1)
"""The numbers that shape variables get by default."""
INPUT = "(the input)"
"""Stands for the pass where the module was wrong before the first one."""


NO_RUN = "no function can be called, or its arguments cannot be generated in these sizes"
"""Why the program itself was not run."""

_WRONG = ("wrong-code", "passes")
"""The kind and the oracle of what a pass does wrong."""


class Problem(Record):
    """A problem that a pass caused.

    Attributes
    ----------
    pass_name
        The pass; :data:`INPUT` if the module was wrong before the first one.
    kind
        ``"illegal"``: the result has new errors. ``"meaning"``: the result returns another value.
    message
        The problem, in a line.
    before, after
        The module's text before and after the pass.
    report
        The checker's report about the result of the pass.
    """

    pass_name: str
    kind: str
    message: str
    before: str
    after: str
    report: Report

    def __str__(self) -> str:
        """``pass: message``"""
        return f"{self.pass_name}: {self.message}"


class Refined(Record):
    """Whether a pass kept the meaning of a module for all sizes.

    Attributes
    ----------
    pass_name
        The pass.
    status
        ``"proved"``, ``"refuted"``, ``"only run"`` (no proof, but runs agree), ``"unknown"`` or
        ``"not compared"``.
    said
        The level of the proof, the difference, or why there is no proof.
    """

    pass_name: str
    status: str
    said: str

    def __str__(self) -> str:
        """``pass: status (said)``"""
        return f"{self.pass_name}: {self.status} ({self.said})"


class Watch:
    """Follows a module through passes.

    Passes contain passes: a problem is attributed to the innermost pass that causes it, since only
    what is new since the last text counts.

    Parameters
    ----------
    sizes
        The numbers that shape variables get in runs before and after each pass; none for no runs.
    seed
        Of the inputs.
    refine
        Whether to prove, after each pass, that the module means the same for all sizes.
    table
        Findings: the differences by choice that no pass is to blame for.
    kept
        The inputs of a run that is done before and after each pass; None for none.

    Attributes
    ----------
    last
        That run of the last form of the module that could be run.
    stopped
        Whether the run of what was built went wrong.
    known
        The paths of those that were met.
    seen
        The names of the passes after which the module was looked at.
    problems
        What went wrong, in order.
    compared
        How many runs were compared.
    not_compared
        Why others were not.
    refined
        Whether each pass that changed the module kept its meaning.
    """

    def __init__(
        self,
        sizes: Sequence[int] = (),
        seed: int = 0,
        table: Sequence[FindingFile] = (),
        refine: bool = False,
        kept: Kept | None = None,
    ) -> None:
        self.sizes, self.seed, self.table, self.refine = sizes, seed, table, refine
        self.kept = kept
        self.last: Ran | None = None
        self.stopped = False
        self.refined: list[Refined] = []
        self.known: list[str] = []
        self.seen: list[str] = []
        self.problems: list[Problem] = []
        self.compared = 0
        self.not_compared: list[str] = []
        self._ended: set[str] = set()
        self._text: str | None = None
        self._errors: frozenset[str] = frozenset()
        self._meanings: Sequence[Meaning] = ()

    def before(self, text: str) -> Problem | None:
        """The text that a pass is given; a problem if it is wrong already and that was not
        reported.
        """
        if self._text is not None:
            return None
        report = check_text(text, "<before all passes>")
        self._remember(text, report)
        if report.ok:
            self._meanings = self._run(text)
            if self.sizes and not self._meanings:
                self.not_compared.append(NO_RUN)
            if self.kept is not None:
                self._keep(self._ran(text, report, self.kept), "the program")
            return None
        return self._problem(INPUT, ILLEGAL, str(report.errors[0]), text, report)

    def after(self, name: str, text: str) -> Problem | None:
        """The text that a pass made, and what is wrong with it."""
        self.seen.append(name)
        if text == self._text:
            return None
        before = self._text or ""
        report = check_text(text, f"<after {name}>")
        known, wrong_before = self._errors, bool(self._errors)
        self._remember(text, report)
        new = [d for d in report.errors if _said(d.code, d.message) not in known]
        if new:
            first = new[0]
            code, words = first.code, first.message
            if not self._chosen(Finding(*_WRONG, name, code, words, code, before, 0)):
                return self._problem(name, ILLEGAL, str(first), before, report, text)
        if wrong_before or not report.ok:
            if self.sizes:
                self.not_compared.append(f"{name}: the module has errors")
            return None
        proved = self._proved(name, before, text, report) if self.refine else None
        if proved is None and self.kept is not None:
            proved = self._other_value(name, before, text, report, self.kept)
        return proved or self._other_meaning(name, before, text, report)

    def _ran(self, text: str, report: Report, kept: Kept) -> Ran | str:
        from rlx.comparison.kept import ran

        return ran(report.modules[0], text, kept, self.last)

    def _keep(self, found: Ran | str, name: str) -> None:
        """Take a run as the one that the next is compared with."""
        from rlx.semantics.outcome import Ended

        if isinstance(found, str):
            self.not_compared.append(f"{name}: {found}")
        elif isinstance(found.outcome, Ended):
            why = f"a run ended without a value: {found.outcome.message}"
            self.not_compared.append(f"{name}: {why}")
            if self.last is None:
                self.last = found
        else:
            self.last = found

    def _other_value(
        self, name: str, before: str, text: str, report: Report, kept: Kept
    ) -> Problem | None:
        """The run with the inputs that were given, if the pass changed what it returns."""
        from rlx.comparison.kept import changed

        if self.last is not None and _has_no_value(self.last.outcome):
            return None  # nor has the program itself, on these inputs
        found = self._ran(text, report, kept)
        contract = NOT_COMPARED.get(name.rpartition(".")[2])
        earlier = self.last
        if contract is not None and not isinstance(found, str):
            self.last = None
            found, contract = self._ran(text, report, kept), f"{name}: {contract}"
            self.not_compared.append(contract)
            self._keep(found, name)
            return None
        if isinstance(found, str) or earlier is None:
            self._keep(found, name)
            return None
        if _is_unknown(found.outcome):
            self._keep(found, name)
            return None
        said = changed(earlier, found)
        if not said:
            self.compared += 1
            self._keep(found, name)
            return None
        return self._problem(name, MEANING, said, before, report, text)

    def _proved(self, name: str, before: str, text: str, report: Report) -> Problem | None:
        """Look for sizes for which a pass is wrong, by proof; any answer is noted."""
        from rlx.api import refines
        from rlx.refine.contracts import BY_PASS

        short = name.rpartition(".")[2]
        if short in CHANGED_ON_PURPOSE:
            self.refined.append(Refined(name, "not compared", CHANGED_ON_PURPOSE[short]))
            return None
        try:
            answer = refines(
                before, text, floats="real", contract=short if short in BY_PASS else None
            )
        except ValueError as error:
            self.refined.append(Refined(name, "not compared", str(error).partition("\n")[0]))
            return None
        if answer.proved:
            how = "bit for bit" if answer.level == "bitwise" else "as exact real numbers"
            self.refined.append(Refined(name, "proved", how))
            return None
        if answer.unknown:
            self.refined.append(Refined(name, "unknown", answer.reason))
            return None
        said = str(answer).removeprefix("refuted: ")
        what = Finding(*_WRONG, name, "another value", said, "E-evaluate", before, 0)
        if self._chosen(what):
            return None
        self.refined.append(Refined(name, "refuted", answer.reason))
        return self._problem(name, MEANING, said, before, report, text)

    def _other_meaning(self, name: str, before: str, text: str, report: Report) -> Problem | None:
        if not self.sizes:
            return None
        from rlx.generate.campaign.oracles.meaning import compared, how, ruling
        from rlx.generate.campaign.oracles.traits import trait

        earlier = self._meanings
        self._meanings = self._run(text, earlier)
        contract = NOT_COMPARED.get(name.rpartition(".")[2])
        if contract is not None:
            self.not_compared.append(f"{name}: {contract}")
            return None
        found = compared(earlier, self._meanings)
        self.compared += found.compared
        if found.compared and self.refined and self.refined[-1].pass_name == name:
            last = self.refined[-1]
            if last.status == "unknown":
                self.refined[-1] = Refined(name, "only run", last.said)
        self.not_compared += (f"{name}: {why}" for why in found.skipped)
        for function, why in found.ended.items():
            if function not in self._ended:
                self._ended.add(function)
                self.not_compared.append(f"a run of {function} ended without a value: {why}")
        if found.difference is None:
            return None
        said = found.difference.said
        what = trait(said, found.difference.size, before)
        if self._chosen(Finding(*_WRONG, name, how(said), said, ruling(said), before, 0, what)):
            return None
        return self._problem(name, MEANING, said, before, report, text)

    def _chosen(self, finding: Finding) -> bool:
        """Whether it is a difference by choice, which is then noted."""
        if not self.table:
            return False
        from rlx.tvm.known import chosen

        entry = chosen(finding, self.table)
        if entry is not None:
            self.known.append(entry.path)
        return entry is not None

    def _run(self, text: str, earlier: Sequence[Meaning] = ()) -> Sequence[Meaning]:
        if not self.sizes:
            return ()
        from rlx.generate.campaign.oracles.meaning import meanings

        return meanings(text, self.seed, earlier, self.sizes)

    def _remember(self, text: str, report: Report) -> None:
        self._text = text
        self._errors = frozenset(_said(d.code, d.message) for d in report.errors)

    def _problem(
        self, name: str, kind: str, message: str, before: str, report: Report, after: str = ""
    ) -> Problem:
        problem = Problem(name, kind, message, before, after, report)
        self.problems.append(problem)
        return problem


def _is_unknown(outcome: Outcome) -> bool:
    """Whether a run ended where the rules end, and another form of the program may go on."""
    from rlx.semantics.outcome import Fault, OutOfFuel, Unsupported

    if isinstance(outcome, Fault):
        return outcome.code == "E-extern-registered"
    return isinstance(outcome, Unsupported | OutOfFuel)


def _has_no_value(outcome: Outcome) -> bool:
    from rlx.semantics.outcome import Ended

    return isinstance(outcome, Ended) and not _is_unknown(outcome)


def _said(code: str, message: str) -> str:
    """An error without its place: passes move what was wrong before."""
    return f"{code}: {message}"
