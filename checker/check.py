"""The whole check of a text: parse, well-formedness, normal form, derivation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from rlx.checker.render.files import Obligations
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Node, ShownAsText, Span, complete, replace
from rlx.grammar.stack import roomy
from rlx.solver.budget import Statistics

if TYPE_CHECKING:
    from rlx.grammar.dialects import Dialect
    from rlx.grammar.read.versions import SpellingUse

MARK = "rlx: ignore"
"""A text without it has no comment that silences a diagnostic."""
_ORDER = ("error", "warning", "note")


class Report(ShownAsText):
    """The result of checking a text.

    Attributes
    ----------
    source
        The text that the diagnostics point into.
    diagnostics
        In order of position.
    obligations
        How many proof obligations were proved, refuted, and left unknown.
    modules
        The modules of the text in normal form.
    info
        Struct info of every variable, global variable and expression of these modules.
    statistics
        The questions to the prover, by module.
    poison
        Expressions that are wrong already, of which nothing more is said.
    words
        The spellings of the version of TVM that the text is for; None for modules without a text.
    """

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    obligations: Obligations
    modules: tuple[ast.IRModule, ...]
    info: Mapping[Node, StructInfo]
    statistics: tuple[Statistics, ...] = ()
    poison: frozenset[Node] = frozenset()
    words: Dialect | None = None

    @property
    def ok(self) -> bool:
        """Whether there are no errors; there may be warnings."""
        return not self.errors

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``"error"``: rules that are certainly violated."""
        return self._of("error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``"warning"``: rules that may be violated."""
        return self._of("warning")

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        return self._of("note")

    def _of(self, severity: str) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.diagnostics if d.severity == severity)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a report has no truth value: use report.ok, report.errors or report.warnings"
        )

    def __str__(self) -> str:
        """The report as `relax-check` prints it."""
        from rlx.checker.render import human
        from rlx.checker.render.files import FileReport

        return human.render(
            [FileReport(self.source.path, self.source, self.diagnostics, self.obligations)]
        )

    def __repr__(self) -> str:
        errors, warnings = len(self.errors), len(self.warnings)
        return f"<Report on {self.source.path}: {errors} errors, {warnings} warnings>"


class IllFormedError(ValueError):
    """The checker found errors; ``report`` has them, and the message shows them."""

    def __init__(self, report: Report) -> None:
        super().__init__(f"the program has errors\n{report}")
        self.report = report


_legal: list[tuple[ast.IRModule, Report] | None] = [None]
"""The last module that was checked and of which there was nothing to say, with its report: each
pass on the way to an executable asks for it.
"""


@roomy
def check_text(text: str, path: str = "<text>", target: str | None = None) -> Report:
    """Check a text of any dialect, and find all its errors in one run.

    Parameters
    ----------
    text
        A `.rlx` or Python text, with any number of modules and other code around them.
    path
        The path in diagnostics.
    target
        The version of TVM that is to read the text, ``"0.27"``; None infers it from the text.

    Raises
    ------
    ValueError
        If there is no such version.
    """
    from rlx.grammar.dialects import DIALECTS, dialect
    from rlx.grammar.read.parser import parse
    from rlx.grammar.read.versions import before_purity, is_old, newest, spelling_mistakes, uses

    if target is not None:
        dialect(target)
    parsed = parse(text, path)
    found = uses(parsed.source.text, parsed.modules)
    said = (
        *parsed.diagnostics,
        *spelling_mistakes(parsed.source.text, parsed.modules, found, target),
    )
    if target in DIALECTS and not path.endswith(".py"):
        said = (*said, *_refused_by_python(parsed.source.text, said))
    old = target is None and is_old(found)
    words = dialect(target or newest(found))
    findings = Findings(before_purity(found, target), old, words)
    return check_modules(parsed.modules, parsed.source, said, parsed.captured, findings)


def _refused_by_python(text: str, said: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Mistakes that Python reports while TVM reads a text that is no Python file: unknown names,
    missing annotations. Names of imports are known there.
    """
    from rlx.grammar.read.parser import parse
    from rlx.grammar.read.undecorated import not_imported

    wrong = {each.span for each in said if each.is_error}
    parsed = parse(text, "text.py")
    spans = [module.span for module in parsed.modules if module.span is not None]
    for found in (*parsed.diagnostics, *not_imported(text, spans, prefixes=False)):
        if found.code == "PYTHON-evaluated":  # TVM's parser reads it
            continue
        if found.code.startswith("PYTHON-") and found.span not in wrong:
            yield found


def check_module(module: ast.IRModule, source: Source) -> Report:
    """Check one module. Raises TypeError if it is not a module and a source."""
    if not isinstance(module, ast.IRModule) or not isinstance(source, Source):
        found = f"{type(module).__name__} and {type(source).__name__}"
        raise TypeError(f"expected a module and a source, found {found}")
    return check_modules((module,), source)


def check_alone(module: ast.IRModule) -> Report:
    """Check one module without a text; diagnostics show the module as it is printed.

    A module that was the last one to be checked, or its normal form, is not checked again.
    """
    known = _legal[0]
    if known is not None and (module is known[0] or module in known[1].modules):
        return known[1]
    report = check_module(module, Source("", "<module>"))
    if report.ok:
        return report
    from rlx.grammar.print.printer import print_module

    printed = check_text(print_module(module), "<module>")
    return report if printed.ok else printed


@roomy
def check_modules(
    modules: Sequence[ast.IRModule],
    source: Source,
    found: Sequence[Diagnostic] = (),
    captured: Collection[Node] = (),
    findings: Findings | None = None,
) -> Report:
    """Check modules of one text.

    Parameters
    ----------
    found
        What is known to be wrong already: syntax errors.
    captured
        Variables, shape variables and annotations whose meaning Python around the program gives.
    findings
        Takes what the rules of another specification find.
    """
    gathered = findings or Findings()
    try:
        report = _check(modules, source, found, captured, gathered)
    except RecursionError:
        words = "values are nested deeper, one in another, than the check can follow"
        deep = Diagnostic("PARSE", "error", words, None, source=source)
        return Report(source, (*found, deep), Obligations(), (), {})
    judged_as_today = not (captured or gathered.old or gathered.without_purity)
    if not report.diagnostics and len(modules) == 1 and judged_as_today and MARK not in source.text:
        _legal[0] = modules[0], report
    return report


class Findings:
    """The diagnostics that the rules of a specification, here today's, report on the modules of a
    text.
    """

    def __init__(
        self,
        without_purity: SpellingUse | None = None,
        old: bool = False,
        words: Dialect | None = None,
    ) -> None:
        self.without_purity, self.old, self.words = without_purity, old, words
        self.diagnostics: list[Diagnostic] = []
        self.info: dict[Node, StructInfo] = {}
        self.normal: list[ast.IRModule] = []
        self.unknown_operators: set[str] = set()
        self.poison: set[Node] = set()
        self.statistics: list[Statistics] = []
        self.proved = self.refuted = self.unknown = 0

    def look(self, module: ast.IRModule, captured: Collection[Node]) -> None:
        """Apply the criteria of well-formedness to a module."""
        from rlx.checker.well_formed import well_formed

        self._keep(well_formed(module, captured))

    def derive(self, module: ast.IRModule, captured: Collection[Node]) -> None:
        """Derive a module, and take over what that gives."""
        from rlx.checker.derive import derive, propagate_vdevices
        from rlx.checker.normalize import normalize
        from rlx.checker.settled import with_own_casts

        normal = with_own_casts(normalize(module))
        self.normal.append(normal)
        derivation = derive(normal, self.unknown_operators, captured, self.words)
        for cast, info in derivation.casts.items():
            complete(cast, struct_info=info)
        self._take(derivation.diagnostics)
        self.info.update(derivation.info)
        self.poison |= derivation.poison
        if derivation.overwrites:
            from rlx.checker.overwritten import overwritten

            self.diagnostics += overwritten(normal)
        if derivation.lowered:
            from rlx.checker.lowered.check import lowered

            self.diagnostics += lowered(normal, derivation.info)
        if normal.global_infos.get("vdevice"):
            placement = propagate_vdevices(normal, derivation)
            self.diagnostics += placement.diagnostics
            self.info.update(placement.info)
        self.statistics.append(derivation.statistics)
        self.proved += derivation.proved
        self.refuted += derivation.refuted
        self.unknown += derivation.unknown

    def _take(self, found: Sequence[Diagnostic]) -> None:
        """Take over what derivation found, without purity in a text that is older than it."""
        if self.without_purity is not None:
            from rlx.grammar.read.versions import unpurified

            found = list(unpurified(found, self.without_purity))
        self._keep(found)

    def _keep(self, found: Sequence[Diagnostic]) -> None:
        if self.old:
            from rlx.grammar.read.versions import SINCE_THEN

            found = [d for d in found if d.code not in SINCE_THEN]
        self.diagnostics += found

    @property
    def obligations(self) -> Obligations:
        """The number of proved, refuted and undecided proof obligations of all modules."""
        return Obligations(self.proved, self.refuted, self.unknown)


def _check(
    modules: Sequence[ast.IRModule],
    source: Source,
    found: Sequence[Diagnostic],
    captured: Collection[Node],
    gathered: Findings,
) -> Report:
    gathered.diagnostics += found
    errors = [d.span for d in found if d.is_error]
    for module in modules:
        gathered.look(module, captured)
        if module.prim_funcs:
            from rlx.checker.prim_funcs.check import prim_funcs

            gathered.diagnostics += prim_funcs(module, source, errors, captured)
        gathered.derive(module, captured)
    diagnostics = gathered.diagnostics
    if MARK in source.text:
        from rlx.checker.ignores import without_ignored

        diagnostics = without_ignored(source, diagnostics)
    diagnostics = _one_for_each_mistake(diagnostics)
    if diagnostics:
        from rlx.checker.edits import with_edits

        diagnostics = with_edits(diagnostics, source, modules)
    return Report(
        source,
        tuple(replace(d, source=source, mistake=None) for d in sorted(diagnostics, key=position)),
        gathered.obligations,
        tuple(gathered.normal),
        gathered.info,
        tuple(gathered.statistics),
        frozenset(gathered.poison),
        gathered.words,
    )


def _one_for_each_mistake(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Keep one diagnostic for each mistake and for each word that cannot be read, and drop a note
    on a text that is not understood if an error inside of it says why.
    """
    first: dict[object, Diagnostic] = {}
    for each in diagnostics:
        if each.mistake is not None:
            first.setdefault(each.mistake, each)
    diagnostics = [d for d in diagnostics if d.mistake is None or first[d.mistake] is d]
    unread = {d.span[0]: d.span for d in diagnostics if d.code == "PARSE" and d.is_error and d.span}
    diagnostics = [d for d in diagnostics if d.code == "PARSE" or not _begins_one(d, unread)]
    wrong = [d.span for d in diagnostics if d.is_error and d.span]
    return [d for d in diagnostics if not (d.code == "PARSE-opaque" and _holds_one(d, wrong))]


def _begins_one(found: Diagnostic, words: Mapping[int, Span]) -> bool:
    """Whether a diagnostic is about a word, or the beginning of one, that could not be read."""
    span = found.span
    return span is not None and span[0] in words and span[1] <= words[span[0]][1]


def _holds_one(note: Diagnostic, places: Sequence[Span]) -> bool:
    """Whether one of the places lies inside of the text that a note is about."""
    assert note.span is not None
    first, last = note.span
    return any(first <= start and end <= last for start, end in places)


def position(diagnostic: Diagnostic) -> tuple[Span | tuple[()], int, str]:
    """The order in which diagnostics are told; those without a place come first."""
    return diagnostic.span or (), _ORDER.index(diagnostic.severity), diagnostic.code
