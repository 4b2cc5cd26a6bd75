"""The statements of one long function: after an edit, those that it concerns are checked.

The others are left out. Where one that is left out binds a name that is needed, a call of the same
struct info stands in its place. What the statements that are checked now bind is compared with what
was derived before: where it is the same, what uses it is what it was.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise

from rlx.checker.check import Report
from rlx.checker.driver.configuration import ALWAYS
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.print.printer import print_node
from rlx.grammar.suggest import closest_names
from rlx.lsp.cut import mentioned, needed_parts, parameters, words
from rlx.lsp.statements import BodyStatement, Statements, indent_of, opened_in, split

MOST = 0.6
"""The part of its statements of which a function is checked whole where so many are wanted."""

ROUNDS = 12
"""The most rounds that add statements before the function is checked whole."""

WAVES = 8
"""Rounds in which only users of what has changed are added; then all that may depend on it are."""

SOON = 8
"""The largest number of users that are checked together with a changed variable."""

FEW = 16
"""A function of fewer statements is checked whole."""


_QUOTED = re.compile(r"['`](\w+)['`]")


class KnownBody(Record):
    """The known statements of a function.

    Attributes
    ----------
    infos
        What its names were derived to be, when nothing they depend on was wrong.
    wrong
        The names of which an error says what is wrong; what depends on them is wrong, too.
    sound
        Names that are not wrong though they depend on such.
    told
        Texts of statements of which something was said.
    unproven
        Texts of statements that were looked at only while what they depend on was wrong.
    keyword
        What the version of TVM that the text is for calls the type arguments of a call.
    """

    statements: Statements
    infos: Mapping[str, StructInfo]
    wrong: frozenset[str]
    sound: frozenset[str]
    told: frozenset[str]
    unproven: frozenset[str]
    keyword: str

    def hints(self, first: int, last: int) -> list[tuple[int, StructInfo]] | None:
        """Behind which names without an annotation, bound between two offsets of the body, an
        editor shows what; None if the statements must be looked at to know.
        """
        of, found = self.statements, []
        unsure = of.spoiled(self.wrong, self.sound) | of.bound_often
        begin = max(0, bisect_right(of.starts, first) - 1)
        for number in range(begin, bisect_right(of.starts, last)):
            each, start = of[number], of.starts[number]
            if each.is_frame or each.is_annotated:
                continue
            name = _BOUND.match(each.text)
            if name is None or each.names != {name[1]} or name[1] in unsure:
                return None
            if first <= start + name.start(1) and name[1] != "_":
                if name[1] not in self.infos:
                    return None
                found.append((start + name.end(1), self.infos[name[1]]))
        return found


_BOUND = re.compile(r" *(\w+) = ")


def body(
    text: str, start: int, report: Report, function: ast.Function, said: Iterable[Diagnostic]
) -> KnownBody | None:
    """The statements of a function after a check; None if it is checked whole again.

    Parameters
    ----------
    text, start
        Its body, and where that stands in the text that was checked.
    said
        The diagnostics of the function.
    """
    statements = split(text)
    if statements.is_strange or len(statements) < FEW:
        return None
    infos, poisoned = derived(report, function)
    told = {statements[n].text for n in _places(statements, start, said)}
    wrong: set[str] = set()
    reached: set[str] = set()
    sound: set[str] = set()
    unproven: set[str] = set()
    for each in statements:
        if each.is_frame:
            continue
        inherits = not reached.isdisjoint(words(each.text))
        if inherits:
            unproven.add(each.text)
        for name in each.names:
            if name in poisoned:
                reached.add(name)
                if not inherits or each.is_annotated:
                    wrong.add(name)
            elif inherits:
                sound.add(name)
    keyword = (report.words or dialect(DEFAULT)).info_args
    known = frozenset(wrong), frozenset(sound), frozenset(told), frozenset(unproven)
    return KnownBody(statements, infos, *known, keyword)


def derived(report: Report, function: ast.Function) -> tuple[dict[str, StructInfo], set[str]]:
    """The struct infos of the names that a function binds, and those that are wrong."""
    infos: dict[str, StructInfo] = {}
    poisoned: set[str] = set()
    blocks = function.body.blocks if isinstance(function.body, ast.SeqExpr) else ()
    for block in blocks:
        for binding in block.bindings:
            var: ast.Var | None = getattr(binding, "var", None)
            if var is not None:
                info = report.info.get(var)
                if info is not None:
                    infos[var.name_hint] = info
                if var in report.poison or info is None:
                    poisoned.add(var.name_hint)
    return infos, poisoned


def _places(statements: Statements, start: int, said: Iterable[Diagnostic]) -> Iterator[int]:
    for each in said:
        if each.span is not None and each.span[0] >= start:
            yield bisect_right(statements.starts, each.span[0] - start) - 1


class ReducedBody:
    """The statements of a function that are checked after an edit.

    Parameters
    ----------
    head
        The head of the function, and where ``def`` stands in it.
    near
        Where in the head something was said, or is looked at.
    renamed
        Names of functions that mean something else than before.
    shown
        Where an editor shows the body.

    Attributes
    ----------
    wanted
        The numbers of those that are looked at; others stand for what they bind.
    text
        The body that is checked.
    head
        Its head, without parameters that the body does not need.
    parts
        Which parts of the whole head that is.
    """

    def __init__(
        self,
        before: KnownBody,
        text: str,
        head: tuple[str, int],
        near: Iterable[Span] = (),
        renamed: AbstractSet[str] = frozenset(),
        shown: Span | None = None,
    ) -> None:
        self.before = before
        self.infos = dict(before.infos)
        self.wrong, self.sound = set(before.wrong), set(before.sound)
        self.told, self.unproven = set(before.told), set(before.unproven)
        self.near: set[int] = set()
        self.meant: dict[str, list[str]] = {}
        self.statements = before.statements.after(text)
        self.failed = self.statements.is_strange
        self.binders = self.statements.binders
        self.starts = self.statements.starts
        self.whole_head, self.at = head
        self.places = set(near)
        self.wanted: set[int] = set()
        self.rounds = 0
        self.text = text
        for name in self.statements.bound_often:
            self.infos.pop(name, None)  # which of them is meant depends on the place
        declared = self.statements.declared | mentioned(*head)
        if not self.binders.keys().isdisjoint(declared):
            self.failed = True  # struct infos before and behind the binding differ in meaning
        if not self.failed:
            self._begin(renamed)
            if shown is not None:
                self._show(*shown)
            self._arrange()

    # ------------------------------------------------------------ which statements

    def _begin(self, renamed: AbstractSet[str]) -> None:
        """Find what the edit concerns."""
        old, new = self.before.statements, self.statements
        first = _same(old, new)
        most = min(len(old), len(new)) - first
        last = min(_same(reversed(old.items), reversed(new.items)), most)
        gone, come = old.items[first : len(old) - last], new.items[first : len(new) - last]
        if any(each.is_frame and each.text.strip() for each in (*gone, *come)):
            self.failed = True
            return
        at = set(range(first, len(new) - last))
        if any(opened_in(line) for each in come for line in each.text.split("\n")) or not come:
            at |= {n for n in range(first - 1, len(new) - last + 2) if 0 <= n < len(new)}
        was = {name for each in gone for name in each.names}
        now = {name for each in come for name in each.names}
        for name in was - now:
            self.infos.pop(name, None)
            self.wrong.discard(name)
        at |= new.mention((was ^ now) | renamed)
        if self.told:
            at |= {n for n, each in enumerate(new) if each.text in self.told}
        self.wanted = at - new.frames

    def _show(self, first: int, last: int) -> None:
        """Look at what stands between two offsets, and at what it is made from."""
        here = range(bisect_right(self.starts, first) - 1, bisect_right(self.starts, last))
        names = {name for n in here if n >= 0 for name in words(self.statements[n].text)}
        from_these = (n for name in names & self.binders.keys() for n in self.binders[name])
        self.wanted |= {n for n in (*here, *from_these) if not self.statements[n].is_frame}

    def _users(self, numbers: AbstractSet[int]) -> set[int]:
        """The statements that use what some others bind."""
        return self.statements.mention({n for at in numbers for n in self.statements[at].names})

    def _depend(self, numbers: AbstractSet[int]) -> set[int]:
        """The statements whose struct info may follow from that of some others."""
        names = {name for n in numbers for name in self.statements[n].names}
        return self.statements.mention(self.statements.spoiled(names, frozenset()))

    def _arrange(self) -> None:
        """Write the body: the wanted statements, and what they need."""
        statements, binders = self.statements, self.binders
        if self.failed or len(self.wanted) > MOST * len(statements):
            self.failed = True
            return
        spoil = statements.spoiled(self.wrong, self.sound)
        hazy = statements.spoiled(self.wrong, frozenset())
        whole = statements.always_whole | self.wanted
        pending = [*whole]
        made: dict[int, str] = {}
        pending += self.near
        while pending:
            number = pending.pop()
            each = statements[number]
            text = each.text
            if number not in whole:
                text = made[number] = self._stub(each, spoil, hazy) or each.text
            elif number in made:
                continue
            else:
                made[number] = text
            for name in words(text) & binders.keys():
                for other in binders[name]:
                    if other not in made and other not in whole:
                        made[other] = ""
                        pending.append(other)
        self.stubs = {n for n in made if made[n] != statements[n].text}
        self.numbers = sorted(made)
        self.real = [0]
        for number in self.numbers:
            self.real.append(self.real[-1] + len(made[number]))
        self.text = "".join(made[n] for n in self.numbers)
        self._keep(needed_parts(self.whole_head, self.at, words(self.text), self.places))

    def _keep(self, parts: tuple[Span, ...]) -> None:
        self.parts = parts
        self.head = "".join(self.whole_head[start:end] for start, end in parts)

    def keep_head(self) -> None:
        """Have all parameters."""
        self._keep(((0, len(self.whole_head)),))

    def _stub(
        self, each: BodyStatement, spoil: AbstractSet[str], hazy: AbstractSet[str]
    ) -> str | None:
        """A statement that binds a name to something of the same struct info; None if there is
        none.
        """
        if not each.is_call:
            return None
        (name,) = each.names
        indent = " " * indent_of(each.text)
        if name in spoil:
            return f"{indent}{name} = R.add()\n"
        info = self.infos.get(name)
        if info is None or not _is_tensor(info) or name in hazy:
            return None
        written = print_node(info)
        types = f"{self.before.keyword}=({written},)"
        return f'{indent}{name}: {written} = R.call_pure_packed("f", {types})\n'

    def texts(self) -> Iterator[str]:
        """The text to check for each statement of `numbers`."""
        return (self.text[start:end] for start, end in pairwise(self.real))

    # ------------------------------------------------------------ what was found

    def outside(self, offset: int) -> int:
        """An offset of the function that is checked in the whole function."""
        if offset >= len(self.head):
            return len(self.whole_head) + self.back(offset - len(self.head))
        for start, end in self.parts:
            if offset < end - start:
                return start + offset
            offset -= end - start
        raise AssertionError("the parts are all of the head")

    def inside(self, offset: int) -> int:
        """An offset of the whole function in the one that is checked."""
        if offset >= len(self.whole_head):
            return len(self.head) + self.into(offset - len(self.whole_head))
        return sum(min(end, offset) - start for start, end in self.parts if start < offset)

    def back(self, offset: int) -> int:
        """An offset of the text that is checked in the whole body."""
        at = max(0, bisect_right(self.real, offset) - 1)
        if at >= len(self.numbers):
            return self.statements.length
        number = self.numbers[at]
        inside = min(offset - self.real[at], len(self.statements[number].text))
        return self.starts[number] + inside

    def into(self, offset: int) -> int:
        """An offset of the whole body in the text that is checked."""
        number = max(0, bisect_right(self.starts, offset) - 1)
        at = bisect_left(self.numbers, number)
        if at >= len(self.numbers) or self.numbers[at] != number:
            return self.real[at]
        length = self.real[at + 1] - self.real[at]
        return self.real[at] + min(offset - self.starts[number], max(0, length - 1))

    def number(self, offset: int) -> int:
        """The statement at an offset of the text that is checked."""
        at = max(0, bisect_right(self.real, offset) - 1)
        return self.numbers[min(at, len(self.numbers) - 1)]

    def says(self, found: Diagnostic, start: int) -> bool:
        """Whether something that was found is of a statement that is looked at."""
        assert found.span is not None
        if found.code == "VERSION-mixed":  # of the text, or of what stands for its statements
            self.failed = True
        if found.span[0] < start:
            return True
        number = self.number(found.span[0] - start)
        each = self.statements[number]
        if number in self.wanted or each.is_frame:
            if found.code == "PARSE-unused":
                name = found.message.split("'")[1]
                return sum(name in words(s.text) for s in self.statements) < 2
            return True
        stands_for = number in self.stubs and "= R.add()\n" in self.text
        if found.code in ALWAYS or (number in self.stubs and not stands_for):
            self.failed = True
        return False

    def more(
        self,
        report: Report,
        function: ast.Function | None,
        start: int,
        found: Collection[Diagnostic],
    ) -> bool:
        """Whether more statements have to be checked, or more names known.

        Parameters
        ----------
        start
            Where the body stands in the text that was checked.
        found
            What was said of the function.
        """
        if function is None:
            self.failed = True
            return True
        said = [d for d in found if self.says(d, start)]
        if self.failed:
            return True
        infos, poisoned = derived(report, function)
        spoil = self.statements.spoiled(self.wrong, self.sound)
        changed: set[str] = set()
        for number in self.wanted:
            each = self.statements[number]
            inherits = not spoil.isdisjoint(words(each.text) - each.names)
            for name in each.names:
                self._learn(name, each, infos, poisoned, inherits, changed)
        places = {self.number(d.span[0] - start) for d in said if d.span and d.span[0] >= start}
        after = self.statements.spoiled(self.wrong, self.sound)
        for number in self.wanted:
            each = self.statements[number]
            in_doubt = not after.isdisjoint(words(each.text) - each.names)
            (self.unproven.add if in_doubt else self.unproven.discard)(each.text)
            if number in places:
                self.told.add(each.text)
            elif not in_doubt:
                self.told.discard(each.text)
        wanted = self.wanted | self.statements.mention(changed - after)
        if spoil - after:
            freed = self.statements.mention(spoil - after)
            wanted |= {n for n in freed if self.statements[n].text in self.unproven}
        soon = wanted - self.wanted
        for _ in range(self.rounds + 1):  # most of what uses these is concerned, too
            soon = self._users(soon) - wanted
            if len(soon) > SOON:
                break
            wanted |= soon
        if self.rounds >= WAVES and wanted != self.wanted:
            wanted |= self._depend(wanted)
        self.rounds += 1
        if self.rounds > ROUNDS:
            self.failed = True
            return True
        near, meant = self._near(said)
        done = wanted <= self.wanted and near <= self.near and meant <= self.places
        if done and spoil == after:
            return False
        self.wanted, self.near = wanted, self.near | near
        self.places |= meant
        self._arrange()
        return True

    def _learn(
        self,
        name: str,
        each: BodyStatement,
        infos: Mapping[str, StructInfo],
        poisoned: AbstractSet[str],
        inherits: bool,
        changed: set[str],
    ) -> None:
        """Take over what was derived of a name."""
        if name not in infos and name not in poisoned:
            return
        if name in poisoned:
            if inherits and not each.is_annotated:
                self.wrong.discard(name)
                self.sound.discard(name)
            else:
                self.wrong.add(name)
            return
        self.wrong.discard(name)
        (self.sound.add if inherits else self.sound.discard)(name)
        before = self.infos.get(name)
        now = infos[name]
        if before is None or (before is not now and print_node(before) != print_node(now)):
            changed.add(name)
            if len(self.binders[name]) == 1:
                self.infos[name] = now

    def _near(self, said: Collection[Diagnostic]) -> tuple[set[int], set[Span]]:
        """The statements, and the places of parameters, that bind names which may be meant by one
        that is not known.
        """
        unknown = {
            word
            for d in said
            if d.is_error
            for word in _QUOTED.findall(d.message)
            if word not in self.binders
        }
        places = {each.name: each.span for each in parameters(self.whole_head, self.at)}
        for word in unknown - self.meant.keys():
            self.meant[word] = closest_names(word, {**self.binders, **places})
        meant = {name for word in unknown for name in self.meant[word]}
        numbers = {number for name in meant for number in self.binders.get(name, ())}
        return numbers, {places[name] for name in meant & places.keys()}

    def body(self) -> KnownBody:
        """The statements of the function after this check."""
        known = frozenset(self.wrong), frozenset(self.sound), frozenset(self.told)
        unproven = frozenset(self.unproven)
        return KnownBody(self.statements, self.infos, *known, unproven, self.before.keyword)


def _same(old: Iterable[BodyStatement], new: Iterable[BodyStatement]) -> int:
    """The number of equal statements at the beginning."""
    count = 0
    for a, b in zip(old, new, strict=False):
        if a is not b and a.text != b.text:
            break
        count += 1
    return count


def _is_tensor(info: StructInfo | None) -> bool:
    if isinstance(info, ast.TupleStructInfo):
        return bool(info.fields) and all(map(_is_tensor, info.fields))
    return isinstance(info, ast.TensorStructInfo)
