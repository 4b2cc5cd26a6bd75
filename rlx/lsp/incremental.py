"""The check of a text after an edit, limited to the affected functions.

The text is cut into functions. What is checked after an edit is an excerpt: the functions that
changed and those to which they mean something else now, beside the heads of what these mention.
Everything else keeps the diagnostics that it had. What cannot be said in this way (another head of
a class, errors of syntax that reach beyond a function) is found by a check of the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from rlx.checker.check import MARK, Report, position
from rlx.checker.driver.configuration import ALWAYS
from rlx.checker.prim_funcs.check import has_old_forms
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.lines import line_start, next_line
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.read.lexer import BREAKS_OUT, LAYOUT
from rlx.grammar.suggest import closest
from rlx.lsp.body import KnownBody, ReducedBody, body
from rlx.lsp.cut import Cut, changed_parameters, cut, recut, words, words_among
from rlx.lsp.excerpt import Excerpt, Move, circle, excerpt, names_of, stand_in
from rlx.lsp.faces import Checked, of_report, report_on
from rlx.lsp.statements import SMALL
from rlx.lsp.texts import difference

# ---------------------------------------------------------------- one version of a text

NO_CLASS_NAME = "is not defined"
"""How the error ends that the name of a class is not known."""


class TextVersion(Record):
    """One version of a text, and the results of its check.

    Attributes
    ----------
    faces
        What functions are to others, by their numbers.
    bodies
        What is known of the statements of functions, by their numbers.
    """

    cut: Cut
    diagnostics: tuple[Diagnostic, ...]
    faces: tuple[str | None, ...]
    bodies: Mapping[int, Derived] = {}

    def told_of(self, chosen: Iterable[Diagnostic]) -> set[int]:
        """The functions that diagnostics are about, or that they stand between."""
        starts = [piece.span[0] for piece in self.cut.pieces]
        found: set[int] = set()
        for diagnostic in chosen:
            if diagnostic.span is not None:
                at = bisect_right(starts, diagnostic.span[0]) - 1
                inside = at >= 0 and diagnostic.span[0] < self.cut.pieces[at].span[1]
                found |= {at} if inside else {at, at + 1} & set(range(len(starts)))
        return found

    def hides(self) -> bool:
        """Whether errors of syntax may hide others: they stand in no function's body."""
        starts = [piece.span[0] for piece in self.cut.pieces]
        for diagnostic in self.diagnostics:
            if diagnostic.code in ALWAYS and diagnostic.span is not None:
                at = diagnostic.span[0]
                piece = self.cut.pieces[bisect_right(starts, at) - 1] if starts else None
                if piece is None or not piece.span[0] + len(piece.head) <= at < piece.span[1]:
                    return True
                if diagnostic.message.endswith(NO_CLASS_NAME):
                    return True
        return False


class Derived:
    """The known statements of a function, derived when they are needed."""

    def __init__(self, make: Callable[[], KnownBody | None]) -> None:
        self._make: Callable[[], KnownBody | None] | None = make
        self._made: KnownBody | None = None

    @classmethod
    def of(cls, body: KnownBody | None) -> Derived:
        """Statements that are known already."""
        return cls(lambda: body)

    @property
    def body(self) -> KnownBody | None:
        """The known statements of the body; None if it has to be checked whole."""
        if self._make is not None:
            self._made, self._make = self._make(), None  # which lets go of the report
        return self._made


def version(at: Cut, found: Checked, report: Report | None = None) -> TextVersion:
    """A version of which all was checked, in this process if there is a report."""
    bodies = {} if report is None else derived(at, report, range(len(at.pieces)))
    return TextVersion(at, found.diagnostics, by_number(at, found), bodies)


def derived(at: Cut, report: Report, numbers: Iterable[int]) -> dict[int, Derived]:
    """The statements of the functions that a checked text has whole."""
    functions = functions_in(at, report)

    def of(number: int, function: ast.Function) -> Derived:
        piece = at.pieces[number]
        start, end = piece.span[0] + len(piece.head), piece.span[1]

        def make() -> KnownBody | None:
            said = [d for d in report.diagnostics if d.span and piece.span[0] <= d.span[0] < end]
            return body(at.text[start:end], start, report, function, said)

        return Derived(make)

    return {n: of(n, functions[n]) for n in numbers if n in functions}


def functions_in(at: Cut, report: Report) -> dict[int, ast.Function]:
    """The functions of Relax that were read, by their numbers."""
    move = Move(at, at, {})
    found = {}
    for module in report.modules:
        for function in module.relax_functions.values():
            if function.name_span is not None:
                number = move.number(function.name_span[0])
                if number is not None:
                    found[number] = function
    return found


def by_number(at: Cut, found: Checked) -> tuple[str | None, ...]:
    """The faces of the functions of a text, by their numbers."""
    faces: list[str | None] = [None] * len(at.pieces)
    move = Move(at, at, {})
    for offset, face in found.faces.items():
        number = move.number(offset)
        if number is not None:
            faces[number] = face
    return tuple(faces)


def unread(found: Iterable[Diagnostic]) -> bool:
    """Whether the text has syntax errors: many diagnostics are left out then."""
    return any(d.code in ALWAYS for d in found)


PART = 0.7
"""The largest part of a text that an excerpt may be; otherwise all of it is checked."""


VERSIONS = 4
"""How many versions of a text are remembered: an edit is often taken back."""


class Checker:
    """Checks the versions of one text, each as cheaply as those before allow.

    Attributes
    ----------
    full
        How many checks were made of a whole text.
    report
        On the last text, if all of it was checked.
    """

    def __init__(self, path: str, target: str | None = None) -> None:
        self.path, self.target = path, target
        self.full = 0
        self.report: Report | None = None
        self._last: TextVersion | None = None
        self._legal: deque[TextVersion] = deque(maxlen=VERSIONS)

    @property
    def cut(self) -> Cut | None:
        """The functions of a long text; None for one that is checked in full."""
        last = self._last
        return None if last is None or len(last.cut.text) < SMALL else last.cut

    @property
    def bodies(self) -> Mapping[int, Derived]:
        """The derived statements of the functions of the last text."""
        return {} if self._last is None else self._last.bodies

    def twin(self) -> Checker:
        """Another one that knows what this one does."""
        made = Checker(self.path, self.target)
        made._last = self._last
        made._legal.extend(self._legal)
        return made

    def known(self, text: str) -> Cut | None:
        """The functions of a text, if it is the last one."""
        last = self._last
        return last.cut if last is not None and last.cut.text == text else None

    def check(self, text: str) -> tuple[Diagnostic, ...]:
        """The diagnostics of the next version."""
        found = self.step(text)
        if found is None:
            self.full += 1
            self.report = report_on(text, self.path, self.target)
            found = self._keep(version(cut(text), of_report(self.report), self.report))
        return found

    def step(self, text: str) -> tuple[Diagnostic, ...] | None:
        """The report by the results of earlier versions; None where the whole text must be checked."""
        made = self.report = None
        for before in self._bases(text) if len(text) >= SMALL else ():
            if before.cut.text == text:
                made = before
            elif made is None:
                made = _Step(before, text, self.path, self.target).take()
        return None if made is None else self._keep(made)

    def _bases(self, text: str) -> Iterator[TextVersion]:
        """The versions to begin with: the most similar one first."""

        def differs(version: TextVersion) -> int:
            start, end = difference(version.cut.text, text)
            return end - start + max(0, len(version.cut.text) - len(text))

        last = [] if self._last is None else [self._last]
        yield from dict.fromkeys([*sorted(self._legal, key=differs)[:2], *last])

    def remember(
        self, text: str, found: Checked, bodies: Mapping[int, KnownBody | None] | None = None
    ) -> tuple[Diagnostic, ...]:
        """Keep the results of a check of a whole version.

        Parameters
        ----------
        bodies
            What that says of the statements of functions; None if that is known.
        """
        last, made = self._last, version(cut(text), found)
        if bodies is not None:
            made = replace(made, bodies={n: Derived.of(each) for n, each in bodies.items()})
        elif last is not None and last.cut.text == text:
            made = replace(made, bodies=last.bodies)
        return self._keep(made)

    def _keep(self, made: TextVersion) -> tuple[Diagnostic, ...]:
        self._last = made
        if not unread(made.diagnostics):
            self._legal.appendleft(made)
        return made.diagnostics


class _Step:
    """From one version of a text to the next.

    Attributes
    ----------
    to
        Where the functions are in the new version that it still has.
    heads
        Those of them that have another body.
    renamed
        The names that mean something else now.
    wanted
        The functions to be checked, by their numbers in the new version.
    changed
        The names of functions that are something else to others now.
    is_old
        Whether the whole new version has forms of old versions of TVM, by which functions are read.
    entered
        Whether other functions may be called from outside than before.
    left
        The new lines between functions that stand left of everything. Nothing but the functions
        here is concerned if the block around such a line goes on, which is said of it.
    """

    def __init__(
        self, before: TextVersion, text: str, path: str, target: str | None = None
    ) -> None:
        self.before, self.path, self.target = before, path, target
        self.now = recut(before.cut, text)
        self.is_old = _is_old(self.now)
        self.to: dict[int, int] = {}
        self.heads: set[int] = set()
        self.renamed: set[str] = set()
        self.wanted: set[int] = set()
        self.changed: set[str] = set()
        self.entered = False
        self.left: Counter[str] = Counter()
        self.bodies: dict[int, ReducedBody] = {}
        self.bodies_now: dict[int, Derived] = {}

    @cached_property
    def names(self) -> dict[str, list[int]]:
        """The functions of the new version, by name."""
        return names_of(self.now)

    def take(self) -> TextVersion | None:
        """The new version; None where only a check of all of it can tell."""
        if not self._align():
            return None
        self._concerned()
        self._reduce(self.heads)
        self._reduce_callers(self.wanted - {self.to[number] for number in self.heads})
        for _ in range(_ROUNDS):
            made = self._excerpt()
            if made is None:
                return None
            found = self._checked(made)
            if found is None:
                return None
            more, elsewhere = self._more(found)
            if more <= self.wanted and self.bodies.keys().isdisjoint(elsewhere):
                return self._made(found)
            for number in elsewhere:
                self.bodies.pop(number, None)
            self._reduce_callers(more - self.wanted)
            self.wanted |= more
        return None

    # ------------------------------------------------------------ what changed

    def _align(self) -> bool:
        """Find what stayed; False if more than functions changed."""
        old, new = self.before.cut, self.now
        first, last = _ends(old, new)
        was = range(first, len(old.pieces) - last)
        now = range(first, len(new.pieces) - last)
        stray = _lines_left(old, new, first, last)
        if stray is None or self.before.hides():
            return False
        self.left = stray
        if self.is_old != _is_old(old):
            return False
        self.to = {n: n for n in range(first)}
        shift = len(new.pieces) - len(old.pieces)
        self.to.update({n: n + shift for n in range(len(old.pieces) - last, len(old.pieces))})
        left = {new.pieces[n].name: n for n in reversed(now)}
        for number in was:
            name = old.pieces[number].name
            into = left.pop(name, None)
            if into is None or old.pieces[number].head != new.pieces[into].head:
                self.renamed.add(name)
            if into is not None:
                self.to[number] = into
                if name in self.renamed:
                    self.changed.add(name)
                if old.of(number) != new.of(into):
                    self.heads.add(number)
                    if _leaves(new, into):
                        return False
        stayed = set(self.to.values())
        added = [number for number in now if number not in stayed]
        self.renamed.update(new.pieces[number].name for number in added)
        self.wanted = {*added, *(self.to[number] for number in self.heads)}
        return True

    def _concerned(self) -> None:
        """Find what the change concerns beside what changed."""
        before = self.before
        dirty = [d for d in before.diagnostics if d.code.startswith("PARSE")]
        self.wanted |= self._stayed(before.told_of(dirty))
        if {piece.name for piece in before.cut.pieces} != self.names.keys():
            wrong = before.told_of(d for d in before.diagnostics if d.is_error)
            self.wanted |= self._stayed(wrong)
        self.wanted |= self._contradicted(before)
        self.wanted |= self._mention(self.renamed)
        if any(self._calls_others(number) for number in self.heads):
            for number, piece in enumerate(self.now.pieces):
                if not piece.closed and circle(self.now, number, self.names) & self.wanted:
                    self.wanted.add(number)
        self.wanted |= self._mention_unknown(before.diagnostics)

    def _stayed(self, numbers: Iterable[int]) -> set[int]:
        """Functions of the version before, by their numbers now, where they are still there."""
        return {self.to[number] for number in numbers if number in self.to}

    def _calls_others(self, number: int) -> bool:
        """Whether a function that changed mentions other functions than before."""
        was, now = self.before.cut.of(number), self.now.of(self.to[number])
        start, end = difference(was, now)
        first, last = line_start(now, start), next_line(now, end)
        here = words(now[first:last]) ^ words(was[first : last - len(now) + len(was)])
        if here.isdisjoint(self.names):
            return False
        return words(was) & self.names.keys() != words(now) & self.names.keys()

    def _mention(self, names: AbstractSet[str]) -> set[int]:
        """The functions that mention one of some names."""
        if not names:
            return set()
        return {n for n in range(len(self.now.pieces)) if words_among(self.now.of(n), names)}

    def _mention_unknown(self, found: Sequence[Diagnostic]) -> set[int]:
        """The functions with an operator that is not known, or with the name of a function that is
        not there: that is said once for all of them.
        """
        operators = [d.message.split("`")[1] for d in found if d.code == "D14-operator"]
        missing = {d.message.split("'")[1] for d in found if d.code == "WF02-global"}
        return self._mention(missing | {name.rpartition(".")[2] for name in operators})

    def _contradicted(self, version: TextVersion) -> set[int]:
        """The functions that a broken annotation concerns: it is not believed where more is wrong."""
        found = version.diagnostics
        broken = version.told_of(d for d in found if d.code == "D15-result" and d.is_error)
        if not broken:
            return set()
        wrong = self.before.told_of(d for d in self.before.diagnostics if d.is_error)
        names = {version.cut.pieces[number].name for number in broken}
        return self._stayed(wrong) | self._mention(names)

    # ------------------------------------------------------------ checking a part

    def _excerpt(self, kept: Collection[str] = ()) -> Excerpt | None:
        """The text to be checked; None where that is nearly all."""
        kept = {*kept, *self._entry()}
        stand_ins = {n: text for n, text in self.stand_ins.items() if n not in self.wanted}
        made = excerpt(self.now, self.wanted, kept, bodies=self.bodies, stand_ins=stand_ins)
        return None if len(made.text) > PART * len(self.now.text) else made

    @cached_property
    def stand_ins(self) -> dict[int, str]:
        """Short texts of PrimFuncs that the edit does not concern, by their numbers."""
        found = {}
        for old, new in self.to.items():
            face, piece = self.before.faces[old], self.now.pieces[new]
            stored = None if face is None else _STORED.search(face)
            if piece.is_prim_func and stored is not None and self.names[piece.name] == [new]:
                text = stand_in(self.now.of(new), piece, _WORD.findall(stored[0]))
                if text is not None:
                    found[new] = text
        return found

    def _stand(self, made: Excerpt, found: Checked) -> bool:
        """Whether PrimFuncs that others stand in for are to others what they were."""
        was = {new: self.before.faces[old] for old, new in self.to.items()}
        return all(
            face is None
            or number not in self.stand_ins
            or number in self.wanted
            or made.cut.of(number) != self.stand_ins[number]
            or face == was[number]
            for number, face in enumerate(by_number(made.cut, found))
        )

    def _reduce_callers(self, numbers: AbstractSet[int]) -> None:
        """Reduce functions that call a changed one to these calls."""
        callers = self._mention(self.changed) & numbers
        self._reduce(old for old, new in self.to.items() if new in callers)

    def _reduce(self, numbers: Iterable[int]) -> None:
        """Find those of some functions of which the edit concerns only some statements."""
        for number in numbers:
            into, known = self.to[number], self.before.bodies.get(number)
            old, new = self.before.cut.pieces[number], self.now.pieces[into]
            changed = changed_parameters((old.head, old.at), (new.head, new.at))
            if known is None or changed is None or MARK in self.now.text:
                continue
            before, text = known.body, self.now.of(into)[len(new.head) :]
            if before is not None and not words_among(text, {new.name}):
                end = old.span[0] + len(old.head)
                said = [d.span for d in self.before.diagnostics if d.span is not None]
                places = [
                    (first - old.span[0], last - old.span[0])
                    for first, last in said
                    if old.span[0] <= first < end
                ]
                if changed and places:
                    continue
                places += changed.values()
                names = self.renamed | self.changed | changed.keys()
                made = ReducedBody(before, text, (new.head, new.at), places, names)
                if not made.failed:
                    self.bodies[into] = made

    def _statements(self, made: Excerpt, report: Report) -> bool:
        """Whether all that a check of some statements says is known."""
        functions = functions_in(made.cut, report) if self.bodies else {}
        done = True
        for number, each in [*self.bodies.items()]:
            piece = made.cut.pieces[number]
            start, end = piece.span[0] + len(piece.head), piece.span[1]
            said = [d for d in report.diagnostics if d.span and piece.span[0] <= d.span[0] < end]
            if each.more(report, functions.get(number), start, said):
                done = False
            if each.failed:
                del self.bodies[number]
        return done

    def _entry(self) -> Iterator[str]:
        """The name of a function to be called from outside: without one there is a warning."""
        for number, piece in enumerate(self.now.pieces):
            if "@" in piece.head and "private" not in self.now.of(number):
                yield piece.name
                return

    def _checked(self, made: Excerpt) -> TextVersion | None:
        """The results for the wanted functions, and for the text outside functions.

        The names of the others matter only to what is wrong: a misspelt name may be one of theirs.
        """
        found = self._said(made)
        if found is not None and found.diagnostics:
            near = self._near(found)
            again = self._excerpt(near) if near else None
            return found if again is None else self._said(again)
        return found

    def _said(self, made: Excerpt) -> TextVersion | None:
        report = report_on(made.text, self.path, self.target)
        while not self._statements(made, report):
            again = self._excerpt()
            if again is None:
                return None
            made, report = again, report_on(again.text, self.path, self.target)
        found = of_report(report)
        broken = (d.span for d in found.diagnostics if d.message == BREAKS_OUT and d.span)
        if not self.left <= Counter(made.text[start:end] for start, end in broken):
            return None
        if not self._stand(made, found):
            return None
        at = Move(made.cut, self.now, {n: n for n in range(len(self.now.pieces))}, (), self.bodies)
        kept = []
        for diagnostic in found.diagnostics:
            if diagnostic.span is None or diagnostic.code == "WF12-entry":
                return None
            if diagnostic.code == "TIR13-mark" and self.is_old:
                continue
            number = at.number(diagnostic.span[0])
            if number in self.bodies and not self._is_of_a_statement(made, number, diagnostic):
                continue
            if diagnostic.code == "PARSE" and self._scope_broken(diagnostic, at):
                return None
            if number is None or number in self.wanted:
                moved = at.diagnostic(diagnostic)
                assert moved is not None
                kept.append(moved)
            elif diagnostic.code in ALWAYS:
                return None
        whole = self.wanted - self.bodies.keys()
        self.bodies_now = {
            **derived(made.cut, report, whole),
            **{n: Derived(each.body) for n, each in self.bodies.items()},
        }
        return TextVersion(self.now, tuple(kept), by_number(made.cut, found))

    def _is_of_a_statement(self, made: Excerpt, number: int, found: Diagnostic) -> bool:
        """Whether something that was found in a function is of a statement that is looked at."""
        piece = made.cut.pieces[number]
        return self.bodies[number].says(found, piece.span[0] + len(piece.head))

    def _scope_broken(self, found: Diagnostic, at: Move) -> bool:
        """Whether an error is one of what stands around functions, or where it begins."""
        span = at.span(found.span or (0, 0))
        if span is None or found.message.endswith(NO_CLASS_NAME):
            return True
        starts = [piece.span[0] for piece in self.now.pieces]
        number = bisect_right(starts, span[0]) - 1
        if number < 0:
            return True
        piece = self.now.pieces[number]
        if span[0] < piece.span[0] + len(piece.head):
            return not number or _SCOPE.search(self.now.gap(number)) is not None
        return span[0] >= piece.span[1] and _SCOPE.search(self.now.gap(number + 1)) is not None

    def _near(self, found: TextVersion) -> list[str]:
        """The names of functions that something may be told of."""
        text = self.now.text
        said = (
            word
            for d in found.diagnostics
            if d.message not in LAYOUT and d.message != BREAKS_OUT
            for word in words(d.message) | words(text[slice(*d.span or (0, 0))])
        )
        others = self.names.keys()
        return [name for word in set(said) if word not in others for name in closest(word, others)]

    def _more(self, found: TextVersion) -> tuple[set[int], set[int]]:
        """The functions that what was found concerns, and those of them to which another one means
        something else.
        """
        before = self.before.faces
        changed = {
            self.now.pieces[new].name
            for old, new in self.to.items()
            if new in self.wanted and before[old] != found.faces[new]
        }
        errors = (d for d in found.diagnostics if d.code in ALWAYS)
        self.entered = bool(changed or self.renamed)
        fresh = changed - self.changed
        self.changed |= changed
        alone = {n for n in self.bodies if not self._body_mentions(n, fresh)}
        elsewhere = (self._mention(changed) - alone) | self._contradicted(found)
        unknown = self._mention_unknown(found.diagnostics)
        return found.told_of(errors) | unknown | elsewhere, elsewhere

    def _body_mentions(self, number: int, names: AbstractSet[str]) -> bool:
        """Whether the body of a function mentions one of some names."""
        body = self.now.of(number)[len(self.now.pieces[number].head) :]
        return bool(words_among(body, names))

    # ------------------------------------------------------------ the new version

    def _made(self, found: TextVersion) -> TextVersion | None:
        """All that is known of the new version."""
        before, text = self.before, self.now.text
        has_unread = unread(found.diagnostics)
        if (not has_unread and unread(before.diagnostics)) or not self._same_notes(found):
            return None
        if self.entered and any(d.code == "WF12-entry" for d in before.diagnostics):
            return None
        move = Move(before.cut, self.now, self.to, self.heads)
        kept = []
        for diagnostic in before.diagnostics:
            at = None if diagnostic.span is None else move.number(diagnostic.span[0])
            if at is None or at not in self.to or self.to[at] in self.wanted:
                continue
            if has_unread and diagnostic.code in _CERTAIN_IF_READ:
                continue
            moved = move.diagnostic(diagnostic)
            if moved is None:
                return None
            kept.append(moved)
        source = Source(text, self.path)
        all_found = [replace(d, source=source) for d in (*kept, *found.diagnostics)]
        all_found.sort(key=position)
        faces: list[str | None] = list(found.faces)
        for old, new in self.to.items():
            if new not in self.wanted:
                faces[new] = before.faces[old]
        bodies = {self.to[n]: known for n, known in before.bodies.items() if n in self.to}
        return TextVersion(self.now, tuple(all_found), tuple(faces), {**bodies, **self.bodies_now})

    def _same_notes(self, found: TextVersion) -> bool:
        """Whether what is said once for all its places still stands where it stood."""
        was = [d for d in self.before.diagnostics if d.code.startswith("PARSE-")]
        now = {(n, d.message) for d in found.diagnostics for n in found.told_of([d])}
        return all(
            (self.to.get(n), d.message) in now for d in was for n in self.before.told_of([d])
        )


_ROUNDS = 4
_STORED = re.compile(r"(?<= )\[(?:'\w+'(?:, )?)*\]$")
"""The buffers that a PrimFunc with loops stores to, at the end of its face."""
_WORD = re.compile(r"\w+")
_CERTAIN_IF_READ = frozenset(["IGNORE-unused", "WF02-global"])
"""The diagnostics that are left out where a part of the text could not be read."""


def _ends(old: Cut, new: Cut) -> tuple[int, int]:
    """The number of equal functions at the beginning and at the end, with what is between."""
    most = min(len(old.pieces), len(new.pieces))
    first = 0
    while first < most and old.gap(first) == new.gap(first) and old.of(first) == new.of(first):
        first += 1
    last, a, b = 0, len(old.pieces), len(new.pieces)
    while (
        last < most - first
        and old.gap(a - last) == new.gap(b - last)
        and old.of(a - last - 1) == new.of(b - last - 1)
    ):
        last += 1
    return first, last


def _is_old(cut: Cut) -> bool:
    """Whether a text with blocks has forms of old versions, by its parts."""
    spans = (*(piece.span for piece in cut.pieces), *cut.gaps())
    return "T.sblock" in cut.text and any(has_old_forms(cut.text[slice(*s)]) for s in spans)


def _leaves(new: Cut, number: int) -> bool:
    """Whether a line of a function in a class stands further left than the class."""
    return new.pieces[number].head[:1] in " \t" and _LEFT.search(new.of(number)) is not None


_LEFT = re.compile(r"^\S", re.MULTILINE)


def _lines_left(old: Cut, new: Cut, first: int, last: int) -> Counter[str] | None:
    """The lines out of place that touch the left margin, if outside of functions nothing else
    changed; otherwise None.
    """

    def lines(of: Cut, gaps: range) -> list[str]:
        found = (line.rstrip() for n in gaps for line in of.gap(n).split("\n"))
        return [line for line in found if line]

    was = lines(old, range(first, len(old.pieces) - last + 1))
    now = lines(new, range(first, len(new.pieces) - last + 1))
    if was == now:
        return Counter()
    changed = (Counter(was) - Counter(now)) + (Counter(now) - Counter(was))
    stood, stand = ([line for line in some if line[0] not in " \t"] for some in (was, now))
    left = Counter(stand) - Counter(stood)
    for line in left.elements():
        stand.remove(line)
    if (not (first and last) and not left) or stand != stood or any(map(_SCOPE.match, changed)):
        return None
    return left


_SCOPE = re.compile(r"^[ \t]*(?:class|def|async|import|from)\b", re.MULTILINE)
