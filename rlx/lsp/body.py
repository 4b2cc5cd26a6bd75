"""The statements of one long function: after an edit, those that it concerns are checked.

The others are left out. Where one that is left out binds a name that is needed, a call of the same
struct info stands in its place. What the statements that are checked now bind is compared with what
was derived before: where it is the same, what uses it is what it was.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise

from rlx.checker.check import Report
from rlx.checker.driver.configuration import ALWAYS
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.print.printer import print_node
from rlx.grammar.suggest import closest
from rlx.lsp.cut import parameters, without, words

MOST = 0.6
"""The part of its statements of which a function is checked whole where so many are wanted."""

ROUNDS = 12
"""How often further statements are added before the function is checked whole."""

WAVES = 8
"""Rounds in which only users of what has changed are added; then all that may depend on it are."""

FEW = 60
"""A function of fewer statements is checked whole."""


class BodyStatement(Record):
    """One statement of a body.

    Attributes
    ----------
    text
        Its lines, with the blank ones behind it.
    names
        What it may bind.
    is_frame
        Whether all others may depend on it: a declaration, a block, what is returned.
    is_call
        Whether it binds one name to the result of an operator, of which nothing is known but its
        struct info.
    is_annotated
        Whether that name has an annotation.
    """

    text: str
    names: frozenset[str]
    is_frame: bool
    is_call: bool
    is_annotated: bool


_TOKEN = re.compile(r"#.*|\"(?:\\.|[^\"\\])*(?:\"|$)|'(?:\\.|[^'\\])*(?:'|$)|[()\[\]{}]")
_START = re.compile(r" *\w+ *(?::|=(?!=))")
_FRAME = re.compile(
    r" *(?:with\b|return\b|#|R\.output\b|R\.func_attr\b|cls *=|\w+ *= *(?:T\.|TypeVar\b|I\.))"
)
_DECLARED = re.compile(r"^ *(\w+) *= *(?:T\.|TypeVar\b)")
_CALL = re.compile(r" *(\w+)( *:.*?)? = R\.([\w.]+)\(", re.DOTALL)
_TARGETS = re.compile(r"^\s*(?:def +)?(\w[\w, ]*?)\s*(?::|=(?!=)|\()", re.MULTILINE)
_QUOTED = re.compile(r"['`](\w+)['`]")
_FIRST = re.compile(r"\s*(\w+)")
_KEPT = frozenset(
    [
        "match_cast",
        "match_shape",
        "shape_of",
        "shape_to_tensor",
        "tensor_to_shape",
        "const",
        "shape",
        "prim_value",
        "str",
        "dtype",
        "tuple",
        "null_value",
        "to_vdevice",
        "hint_on_device",
        "ExternFunc",
        "call_inplace_packed",
        "call_tir_inplace",
        "make_closure",
        "assert_op",
        "nonzero",
        "unique",
        "dynamic_strided_slice",
    ]
)
"""Operators of which more is known than the struct info of their result."""
_STRANGE = re.compile(
    r"\"\"\"|'''|\\\n|\t|\f|force_pure|vdevice|_storage|alloc_|inplace|meta_var|match_shape"
)
"""What a function may say that lets its statements depend on each other in other ways."""
_KEYWORDS = frozenset(
    [
        "R",
        "T",
        "I",
        "if",
        "else",
        "for",
        "while",
        "with",
        "def",
        "return",
        "cls",
        "pass",
        "True",
        "False",
        "None",
    ]
)


@lru_cache(maxsize=16_384)
def _statement(text: str) -> BodyStatement:
    call = _CALL.match(text)
    if call is not None and call[3] not in _KEPT:
        names = frozenset([call[1]])
        return BodyStatement(text, names, False, True, call[2] is not None)
    if _FRAME.match(text) is not None:
        return BodyStatement(text, frozenset(), True, False, False)
    found = {n.strip() for part in _TARGETS.findall(text) for n in part.split(",")}
    first = _FIRST.match(text)
    found |= {first[1]} if first else set()
    names = frozenset(name for name in found - _KEYWORDS if name.isidentifier())
    return BodyStatement(text, names, not text.strip(), False, False)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


@lru_cache(maxsize=16_384)
def _opened(line: str) -> int:
    """How many more brackets a line opens than it closes."""
    found = [t for t in _TOKEN.findall(line) if len(t) == 1]
    return sum(1 if t in "([{" else -1 for t in found if t in "()[]{}")


def split(body: str) -> tuple[BodyStatement, ...]:
    """The statements of a body, all of its text; none if it has more than bindings and dataflow
    blocks show.
    """
    parts: list[list[str]] = [[]]
    base = level = None
    opened = 0
    for line in body.splitlines(keepends=True):
        indent = _indent(line)
        blank = line.isspace()
        if base is None and not blank and parts != [[]]:
            base = level = indent
        if base is not None and not blank:
            if level is None:
                level = max(base, indent)
            if indent <= base:
                level = base
            begun = "".join(parts[-1])
            starts = indent == level and (opened <= 0 or _START.match(line) is not None)
            goes_on = line.lstrip().startswith(("else:", "elif ")) or (
                begun.lstrip().startswith("@") and "def " not in begun
            )
            if starts and not goes_on:
                parts.append([])
                opened = 0
                if indent == base and line.lstrip().startswith("with R.dataflow():"):
                    level = None
        parts[-1].append(line)
        opened += _opened(line)
    return tuple(_statement("".join(part)) for part in parts if part)


class KnownBody(Record):
    """What is known of the statements of a function.

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

    statements: tuple[BodyStatement, ...]
    infos: Mapping[str, StructInfo]
    wrong: frozenset[str]
    sound: frozenset[str]
    told: frozenset[str]
    unproven: frozenset[str]
    keyword: str


def binders(statements: Sequence[BodyStatement]) -> dict[str, list[int]]:
    """The statements that bind names."""
    found: dict[str, list[int]] = {}
    for number, each in enumerate(statements):
        for name in each.names:
            found.setdefault(name, []).append(number)
    return found


def spoiled(
    statements: Sequence[BodyStatement], wrong: AbstractSet[str], sound: AbstractSet[str]
) -> set[str]:
    """The names that are wrong, and those that depend on them."""
    found = set(wrong)
    if not found:
        return found
    for each in statements:
        may = not each.is_frame and not each.is_annotated and not each.names <= found
        if may and not found.isdisjoint(words(each.text)):
            found |= each.names - sound
    return found


def body(
    text: str, start: int, report: Report, function: ast.Function, said: Iterable[Diagnostic]
) -> KnownBody | None:
    """What is known of a function after a check; None if it is checked whole again.

    Parameters
    ----------
    text, start
        Its body, and where that stands in the text that was checked.
    said
        The diagnostics of the function.
    """
    if _STRANGE.search(text) is not None:
        return None
    statements = split(text)
    if len(statements) < FEW:
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


def _places(
    statements: Sequence[BodyStatement], start: int, said: Iterable[Diagnostic]
) -> Iterator[int]:
    starts = _starts(statements)
    for each in said:
        if each.span is not None and each.span[0] >= start:
            yield bisect_right(starts, each.span[0] - start) - 1


def _starts(statements: Sequence[BodyStatement]) -> list[int]:
    found, at = [], 0
    for each in statements:
        found.append(at)
        at += len(each.text)
    return found


class ReducedBody:
    """The statements of a function that are checked after an edit.

    Parameters
    ----------
    head, at
        The head of the function, and where ``def`` stands in it.
    near
        Where in the head something was said, or is looked at.
    renamed
        Names of functions that mean something else than before.
    shown
        Where an editor shows the body; then each line keeps its number.

    Attributes
    ----------
    wanted
        The numbers of those that are looked at; others stand for what they bind.
    text
        The body that is checked.
    head
        Its head, without parameters that the body does not need.
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
        self.failed = _STRANGE.search(text) is not None
        same = text == "".join(each.text for each in before.statements)
        self.statements = before.statements if same else split(text)
        self.binders = binders(self.statements)
        self.starts = _starts(self.statements)
        self.whole_head, self.at = head
        self.places = set(near)
        self.wanted: set[int] = set()
        self.rounds = 0
        self.text = text
        for name, places in self.binders.items():
            if len(places) > 1:
                self.infos.pop(name, None)  # which of them is meant depends on the place
        declared = {n for s in self.statements if s.is_frame for n in _DECLARED.findall(s.text)}
        declared.update(*(each.names for each in parameters(*head)))
        if declared & self.binders.keys():
            self.failed = True  # struct infos before and behind the binding differ in meaning
        if not self.failed:
            self._begin(renamed)
            if shown is not None:
                self._show(*shown)
            self._arrange(lines=shown is not None)

    # ------------------------------------------------------------ which statements

    def _begin(self, renamed: AbstractSet[str]) -> None:
        """Find what the edit concerns."""
        old, new = self.before.statements, self.statements
        first = _same(old, new)
        last = min(_same(old[::-1], new[::-1]), len(old) - first, len(new) - first)
        gone, come = old[first : len(old) - last], new[first : len(new) - last]
        if any(each.is_frame and each.text.strip() for each in (*gone, *come)):
            self.failed = True
            return
        at = set(range(first, len(new) - last))
        if any(_opened(line) for each in come for line in each.text.split("\n")) or not come:
            at |= {n for n in range(first - 1, len(new) - last + 2) if 0 <= n < len(new)}
        was = {name for each in gone for name in each.names}
        now = {name for each in come for name in each.names}
        for name in was - now:
            self.infos.pop(name, None)
            self.wrong.discard(name)
        at |= self._mention((was ^ now) | renamed)
        at |= {n for n, each in enumerate(new) if each.text in self.told}
        self.wanted = {n for n in at if not new[n].is_frame}

    def _show(self, first: int, last: int) -> None:
        """Look at what stands between two offsets, and at what it is made from."""
        here = range(bisect_right(self.starts, first) - 1, bisect_right(self.starts, last))
        names = {name for n in here if n >= 0 for name in words(self.statements[n].text)}
        from_these = (n for name in names & self.binders.keys() for n in self.binders[name])
        self.wanted |= {n for n in (*here, *from_these) if not self.statements[n].is_frame}

    def _depend(self, numbers: AbstractSet[int]) -> set[int]:
        """The statements whose struct info may follow from that of some others."""
        names = {name for n in numbers for name in self.statements[n].names}
        reached = spoiled(self.statements, names, frozenset())
        return self._mention(reached)

    def _mention(self, names: AbstractSet[str]) -> set[int]:
        if not names:
            return set()
        return {
            n
            for n, each in enumerate(self.statements)
            if not each.is_frame and not names.isdisjoint(words(each.text))
        }

    def _arrange(self, lines: bool = False) -> None:
        """Write the body: the wanted statements, and what they need."""
        statements, binders = self.statements, self.binders
        if self.failed or len(self.wanted) > MOST * len(statements):
            self.failed = True
            return
        spoil = spoiled(statements, self.wrong, self.sound)
        hazy = spoiled(statements, self.wrong, frozenset())
        whole = {n for n, each in enumerate(statements) if each.is_frame or _binds_more(each)}
        pending = [*(whole | self.wanted)]
        whole.update(self.wanted)
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
        for n, each in enumerate(statements) if lines else ():
            kept = made.get(n, "")
            made[n] = kept + "\n" * (each.text.count("\n") - kept.count("\n"))
        self.numbers = sorted(made)
        self.real = [0]
        for number in self.numbers:
            self.real.append(self.real[-1] + len(made[number]))
        self.text = "".join(made[n] for n in self.numbers)
        self.head = without(self.whole_head, self.at, words(self.text), self.places)

    def _stub(
        self, each: BodyStatement, spoil: AbstractSet[str], hazy: AbstractSet[str]
    ) -> str | None:
        """A statement that binds a name to something of the same struct info; None if there is
        none.
        """
        if not each.is_call:
            return None
        (name,) = each.names
        indent = " " * _indent(each.text)
        if name in spoil:
            return f"{indent}{name} = R.add()\n"
        info = self.infos.get(name)
        if info is None or not _is_tensor(info) or name in hazy:
            return None
        written = print_node(info)
        types = f"{self.before.keyword}=({written},)"
        return f'{indent}{name}: {written} = R.call_pure_packed("f", {types})\n'

    def texts(self) -> Iterator[str]:
        """What is checked of each statement of `numbers`."""
        return (self.text[start:end] for start, end in pairwise(self.real))

    # ------------------------------------------------------------ what was found

    def back(self, offset: int) -> int:
        """An offset of the text that is checked in the whole body."""
        at = max(0, bisect_right(self.real, offset) - 1)
        if at >= len(self.numbers):
            return self.starts[-1] + len(self.statements[-1].text)
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
        """Whether further statements are to be looked at, or names to be known, after a check.

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
        spoil = spoiled(self.statements, self.wrong, self.sound)
        changed: set[str] = set()
        for number in self.wanted:
            each = self.statements[number]
            inherits = not spoil.isdisjoint(words(each.text) - each.names)
            for name in each.names:
                self._learn(name, each, infos, poisoned, inherits, changed)
        places = {self.number(d.span[0] - start) for d in said if d.span and d.span[0] >= start}
        after = spoiled(self.statements, self.wrong, self.sound)
        for number in self.wanted:
            each = self.statements[number]
            in_doubt = not after.isdisjoint(words(each.text) - each.names)
            (self.unproven.add if in_doubt else self.unproven.discard)(each.text)
            if number in places:
                self.told.add(each.text)
            elif not in_doubt:
                self.told.discard(each.text)
        wanted = self.wanted | self._mention(changed - after)
        if spoil - after:
            freed = self._mention(spoil - after)
            wanted |= {n for n in freed if self.statements[n].text in self.unproven}
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
        if before is None or not _alike(before, infos[name]):
            changed.add(name)
            if len(self.binders[name]) == 1:
                self.infos[name] = infos[name]

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
        meant = {name for word in unknown for name in closest(word, {**self.binders, **places})}
        numbers = {number for name in meant for number in self.binders.get(name, ())}
        return numbers, {places[name] for name in meant & places.keys()}

    def body(self) -> KnownBody:
        """What is known of the function afterwards."""
        known = frozenset(self.wrong), frozenset(self.sound), frozenset(self.told)
        unproven = frozenset(self.unproven)
        return KnownBody(self.statements, self.infos, *known, unproven, self.before.keyword)


def _same(old: Sequence[BodyStatement], new: Sequence[BodyStatement]) -> int:
    """How many statements are the same at the beginning."""
    count = 0
    for a, b in zip(old, new, strict=False):
        if a is not b and a.text != b.text:
            break
        count += 1
    return count


def _binds_more(each: BodyStatement) -> bool:
    """Whether a statement says something of shape variables to those behind it."""
    return "match_cast" in each.text or "assert_op" in each.text


def _is_tensor(info: StructInfo | None) -> bool:
    if isinstance(info, ast.TupleStructInfo):
        return bool(info.fields) and all(map(_is_tensor, info.fields))
    return isinstance(info, ast.TensorStructInfo)


def _alike(a: StructInfo, b: StructInfo) -> bool:
    return a is b or print_node(a) == print_node(b)
