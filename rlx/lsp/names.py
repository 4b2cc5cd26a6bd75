"""The names of a text, with the places of their bindings and uses, read from the tokens alone.

Every function is read by itself, a long one in parts, and only when its text changes, so that an
editor is answered at once however long the text is. Scopes are those of the script: a Relax function binds a name anew
with each assignment, the blocks of a PrimFunc are scopes, and a shape variable belongs to its
function, or to the module that declares it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from rlx.grammar.lines import line_start
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import KEYWORDS, OPENING, VALUES, Lexer
from rlx.grammar.read.source_tokens import parts_of
from rlx.lsp.cut import Cut, words
from rlx.lsp.statements import Statements

MODULES = frozenset(["R", "T", "I", "relax", "tir", "tvm", "Tp", "np"])
"""The modules in front of words of the script."""

Key = tuple[str, ...] | int
"""The meaning of a name: a number of its stretch, ``("before", NAME)``, ``("shape", NAME)``,
``("free", NAME)``, ``("member", CLASS, NAME)`` or ``("class", NAME)``.
"""


class TokenName(Record):
    """A name at a place.

    Attributes
    ----------
    kind
        ``"function"``, ``"parameter"``, ``"variable"``, ``"shape"``, ``"loop"``, ``"buffer"``,
        ``"class"`` or ``"module"``.
    """

    name: str
    span: Span
    key: Key
    kind: str
    is_definition: bool


class Statement(Record):
    """A statement with the block below it.

    Attributes
    ----------
    head
        Without the block.
    kind
        The type of its first token.
    """

    span: Span
    head: Span
    kind: str
    is_block: bool


class Reading(Record):
    """The names and statements of one stretch of text, in order.

    Attributes
    ----------
    bound
        What the function binds there.
    """

    names: tuple[TokenName, ...]
    parts: tuple[Statement, ...]
    tokens: tuple[Token, ...]
    bound: Mapping[str, BoundName]


BoundName = tuple[Key, str, str]
"""The meaning of a name, its kind, and the class that it is another name of."""


@lru_cache(maxsize=4096)
def reading(
    text: str, is_prim: bool = False, before: tuple[tuple[str, str, str], ...] | None = None
) -> Reading:
    """The names of a function, of a part of it, or of what stands between functions.

    Parameters
    ----------
    before
        Of a part behind the first: the names in it that are bound in front of it, with their kinds
        and classes. What they stand for is ``("before", NAME)``.
    """
    return _Resolver(text, is_prim).read(before)


_DIMS = frozenset(["Tensor", "Shape", "shape", "Buffer", "match_buffer", "DTensor", "NDArray"])
"""Words whose first argument lists dimensions, which may be strings."""
_ANNOTATIONS = _DIMS | {"Prim", "Tuple", "Callable", "Object", "Any"}
_SCALARS = re.compile(r"(?:T|tir|relax|R|tvm\.tir)\.(?:u?int\d+|[Vv]ar|SizeVar|dynamic)\($")
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w.(])")
_BUFFERS = re.compile(
    r"\.(?:match_buffer|alloc_buffer|sblock_alloc_buffer|decl_buffer|buffer_decl|allocate|Buffer"
    r"|alloc_\w+)\($"
)
_AXES = re.compile(r"\.axis\.\w+\($")
_NO_NAMES = frozenset([*KEYWORDS, *VALUES, "in", "lambda", "and", "or", "is", "elif", "def", "_"])


class _ScopeOfNames:
    """TextNames that are bound, and the scope around."""

    def __init__(self, around: _ScopeOfNames | None = None) -> None:
        self.bound: dict[str, tuple[Key, str]] = {}
        self.around = around

    def get(self, name: str) -> tuple[Key, str] | None:
        scope: _ScopeOfNames | None = self
        while scope is not None:
            if name in scope.bound:
                return scope.bound[name]
            scope = scope.around
        return None


class _Resolver:
    def __init__(self, text: str, is_prim: bool) -> None:
        self.text = text
        self.names: list[TokenName] = []
        self.parts: list[Statement] = []
        self.same: dict[Key, Key] = {}
        self.classes: dict[Key, str] = {}
        self.count = 0
        self.is_prim = is_prim
        self.tokens = list(self._tokens())
        self.at = 0

    def _tokens(self) -> Iterator[Token]:
        for each in Lexer(self.text, 0, len(self.text), lambda *_: None):
            if each.type in ("INFO", "OPAQUE"):
                yield from parts_of(self.text, each.span)
            else:
                yield each

    def read(self, before: Sequence[tuple[str, str, str]] | None = None) -> Reading:
        scope = self.scope = _ScopeOfNames(None if before is None else _ScopeOfNames())
        for name, kind, of in before or ():
            scope.bound[name] = ("before", name), kind
            if of:
                self.classes["before", name] = of
        self._suite(scope, top=True)
        bound = {
            name: (self._root(key), kind, self.classes.get(key, ""))
            for name, (key, kind) in self.scope.bound.items()
            if isinstance(key, int)
        }
        shapes = {f.name for f in self.names if f.key == ("shape", f.name)}
        found = []
        first: set[str] = set()
        for each in sorted(self.names, key=lambda f: f.span):
            key, kind, defines = self._root(each.key), each.kind, each.is_definition
            if key == ("free", each.name) and each.name in shapes:
                key = ("shape", each.name)
            if key == ("shape", each.name):
                kind = "shape"
                defines |= each.name not in first
                first.add(each.name)
            found.append(TokenName(each.name, each.span, key, kind, defines))
        tokens = tuple(t for t in self.tokens if t.end > t.start)
        return Reading(tuple(found), tuple(self.parts), tokens, bound)

    def _root(self, key: Key) -> Key:
        while key in self.same:
            key = self.same[key]
        return key

    # ------------------------------------------------------------ statements

    def _suite(self, scope: _ScopeOfNames, top: bool = False) -> int:
        """The statements up to the end of a block; where the last one ends."""
        end = 0
        branches: list[_ScopeOfNames] = []
        while self.at < len(self.tokens):
            kind = self.tokens[self.at].type
            if kind in ("_NEWLINE", "SEMICOLON", "_INDENT", "$END") or (top and kind == "_DEDENT"):
                self.at += 1
                continue
            if kind == "_DEDENT":
                self.at += 1
                break
            if kind == "ELSE" or kind == "ELIF":
                branches.append(_ScopeOfNames(scope))
            else:
                branches = [_ScopeOfNames(scope)] if kind == "IF" else []
            end = self._statement(scope, branches[-1] if branches else None)
            if kind == "ELSE" and not self.is_prim:
                # What all branches bind is one variable behind them.
                for name in set.intersection(*(set(branch.bound) for branch in branches)):
                    keys = [branch.bound[name][0] for branch in branches]
                    for key in keys[1:]:
                        if self._root(key) != self._root(keys[0]):
                            self.same[self._root(key)] = self._root(keys[0])
                    scope.bound[name] = branches[0].bound[name]
        return end

    def _statement(self, scope: _ScopeOfNames, branch: _ScopeOfNames | None) -> int:
        start = self.at
        while self.tokens[self.at].type not in ("_NEWLINE", "SEMICOLON", "$END"):
            self.at += 1
        line = self.tokens[start : self.at]
        has_block = self.tokens[self.at + 1 : self.at + 2]
        is_block = self.tokens[self.at].type == "_NEWLINE" and bool(
            has_block and has_block[0].type == "_INDENT"
        )
        was_prim = self.is_prim
        inner = self._line(line, scope, branch)
        head = (line[0].start, line[-1].end)
        place = len(self.parts)
        self.parts.append(Statement(head, head, line[0].type, is_block))
        if is_block:
            self.at += 2
            end = max(head[1], self._suite(inner))
            self.parts[place] = Statement((head[0], end), head, line[0].type, True)
            head = (head[0], end)
        self.is_prim = was_prim
        return head[1]

    def _line(
        self, line: Sequence[Token], scope: _ScopeOfNames, branch: _ScopeOfNames | None
    ) -> _ScopeOfNames:
        """Note the names of one line; the scope of the block below it."""
        kind = line[0].type
        if kind == "AT":
            self._uses(line, scope)
        elif kind == "DEF":
            return self._def(line, scope)
        elif kind == "CLASS":
            if len(line) > 1:
                name = line[1].value.removesuffix("(")
                span = (line[1].start, line[1].start + len(name))
                self._add(name, span, ("class", name), "class", True)
        elif kind == "FOR":
            return self._for(line, scope)
        elif kind == "WITH":
            return self._with(line, scope)
        elif kind in ("IF", "ELIF", "ELSE"):
            self._uses(line, scope)
            return branch or _ScopeOfNames(scope)
        elif kind == "WHILE":
            self._uses(line, scope)
            return _ScopeOfNames(scope)
        elif kind == "NAME" and line[0].value in ("from", "import"):
            for before, each in pairwise(line):
                name = each.value
                if each.type == "NAME" and before.type != "DOT" and name not in _NO_NAMES:
                    scope.bound[name] = ("module", name), "module"
        else:
            self._assignment(line, scope)
        return scope

    def _assignment(self, line: Sequence[Token], scope: _ScopeOfNames) -> None:
        kinds = [each.type for each in line]
        if kinds[:2] == ["NAME", "COLON"]:
            self._uses(line[2:], scope)
            equal = kinds.index("EQUAL") + 1 if "EQUAL" in kinds else len(line)
            self._define(line[0], line[equal : equal + 1], scope)
            return
        at = next((n for n, k in enumerate(kinds) if k in ("TARGET", "EQUAL")), None)
        names = kinds[:at] if at is not None else ["none"]
        if at is None or not set(names) <= {"NAME", "COMMA", "LPAR", "RPAR"}:
            self._uses(line, scope)
            return
        self._uses(line[at + 1 :], scope)
        value = line[at + 1 : at + 2]
        for each in line[: at + 1]:
            if each.type in ("NAME", "TARGET"):
                self._define(each, value, scope)

    def _define(self, word: Token, value: Sequence[Token], scope: _ScopeOfNames) -> None:
        """A name that an assignment binds to a value that begins with some token."""
        name = word.value
        span = (word.start, word.start + len(name))
        head = value[0].value if value and value[0].type == "HEAD" else ""
        known = scope.get(name)
        if _SCALARS.match(head) or head == "TypeVar(":
            scope.bound[name] = ("shape", name), "shape"
            self._add(name, span, ("shape", name), "shape", True)
        elif self.is_prim and known is not None and known[0] != ("free", name):
            self._add(name, span, *known, False)
        else:
            kind = "buffer" if _BUFFERS.search(head) else "loop" if _AXES.search(head) else ""
            self._bind(name, span, kind or "variable", scope)
            if value and value[0].type == "NAME":
                self.classes[scope.bound[name][0]] = value[0].value

    def _bind(self, name: str, span: Span, kind: str, scope: _ScopeOfNames) -> None:
        self.count += 1
        scope.bound[name] = self.count, kind
        self._add(name, span, self.count, kind, True)

    def _def(self, line: Sequence[Token], scope: _ScopeOfNames) -> _ScopeOfNames:
        name = line[0].value.split()[-1]
        span = (line[0].end - len(name), line[0].end)
        if scope.around is None and not scope.bound:  # the function that is read
            self._add(name, span, ("member", "", name), "function", True)
        else:
            self._bind(name, span, "function", scope)
        inner = _ScopeOfNames(scope)
        if self.scope is scope and scope.around is None:
            self.scope = inner
        depth = 0
        for at, (before, each, behind) in enumerate(
            zip(line, line[1:], line[2:], strict=False), start=1
        ):
            depth += OPENING.get(before.type, 0)
            if before.type == "RPAR" and depth == 0:
                break
            starts = before.type in ("LPAR", "COMMA") or before.value in ("*", "**")
            ends = behind.type in ("COLON", "COMMA", "RPAR") or each.type == "TARGET"
            if depth == 1 and starts and ends and each.type in ("NAME", "TARGET"):
                end = each.start + len(each.value)
                kind = "shape" if self._is_scalar(line[at : at + 3]) else "parameter"
                self._bind(each.value, (each.start, end), kind, inner)
        names = {found.span[0] for found in self.names}
        self._uses([t for t in line[1:] if t.start not in names], inner, annotation=True)
        return inner

    def _is_scalar(self, words: Sequence[Token]) -> bool:
        """Whether a parameter is a number of a PrimFunc: ``n: T.int64``."""
        kinds = [t.type for t in words[1:]]
        return kinds == ["COLON", "DOTTED"] and bool(_SCALARS.match(words[2].value + "("))

    def _for(self, line: Sequence[Token], scope: _ScopeOfNames) -> _ScopeOfNames:
        inner = _ScopeOfNames(scope)
        split = next((n for n, t in enumerate(line) if t.value == "in"), len(line))
        for each in line[1:split]:
            if each.type == "NAME":
                self._bind(each.value, each.span, "loop", inner)
        self._uses(line[split + 1 :], scope)
        return inner

    def _with(self, line: Sequence[Token], scope: _ScopeOfNames) -> _ScopeOfNames:
        inner = _ScopeOfNames(scope) if self.is_prim else scope
        taken = False
        used = []
        for each in line:
            taken = each.type == "AS" or (taken and each.type != "HEAD")
            if taken and each.type == "NAME":
                self._bind(each.value, each.span, "loop", inner)
            else:
                used.append(each)
        self._uses(used, scope)
        return inner

    # ------------------------------------------------------------ uses

    def _uses(
        self, tokens: Sequence[Token], scope: _ScopeOfNames, annotation: bool = False
    ) -> None:
        opened: list[str] = []
        before = ""
        skip = -1
        for at, each in enumerate(tokens):
            if at < skip:
                continue
            kind, value = each.type, each.value
            change = OPENING.get(kind, 0)
            if kind == "LAMBDA":
                skip = self._lambda(tokens, at, scope)
            elif kind == "NAME" and before != "DOT":
                behind = tokens[at + 1].type if at + 1 < len(tokens) else ""
                named = opened and behind == "EQUAL"
                is_type = value in _ANNOTATIONS and (annotation or behind == "LSQB")
                if value not in _NO_NAMES and not named and not is_type:
                    inside = annotation or not _ANNOTATIONS.isdisjoint(opened)
                    self._use(value, each.start, scope, inside)
            elif kind in ("DOTTED", "HEAD") and before != "DOT":
                self._dotted(value.removesuffix("("), each.start, scope)
            elif kind == "STRING" and self._holds_dims(opened, before):
                inside = value.strip("\"'")
                shift = each.start + value.index(inside) if inside else 0
                for name in _WORD.finditer(inside):
                    start, dim = shift + name.start(), name[0]
                    self._add(dim, (start, start + len(dim)), ("shape", dim), "shape")
            elif kind == "STRING" and opened[-1:] == ["TypeVar"]:
                name = value.strip("\"'")
                self._add(name, (each.start + 1, each.end - 1), ("shape", name), "shape", True)
            if change > 0:
                word = value.removesuffix("(") if kind == "HEAD" else ""
                if kind == "LSQB" and before in ("NAME", "DOTTED"):
                    word = tokens[at - 1].value
                opened.append(word.rpartition(".")[2])
            elif change < 0 and opened:
                opened.pop()
            before = kind

    def _holds_dims(self, opened: Sequence[str], before: str) -> bool:
        """Whether a string stands for a dimension."""
        if opened[-1:] == ["Prim"]:
            return before == "TARGET"
        return len(opened) > 1 and opened[-1] == "" and opened[-2] in _DIMS

    def _lambda(self, tokens: Sequence[Token], at: int, scope: _ScopeOfNames) -> int:
        """A function without a name; the index behind it."""
        depth, end = 0, at
        while end < len(tokens):
            depth += OPENING.get(tokens[end].type, 0)
            if depth < 0:
                break
            end += 1
        colon = next((n for n in range(at, end) if tokens[n].type == "COLON"), end)
        inner = _ScopeOfNames(scope)
        for each in tokens[at + 1 : colon]:
            if each.type == "NAME":
                self._bind(each.value, each.span, "parameter", inner)
        self._uses(tokens[colon + 1 : end], inner)
        return end

    def _use(self, name: str, start: int, scope: _ScopeOfNames, annotation: bool = False) -> None:
        span = (start, start + len(name))
        known = scope.get(name)
        if known is not None:
            if known[1] != "module":
                self._add(name, span, *known)
        elif annotation and name not in MODULES:
            self._add(name, span, ("shape", name), "shape")
        elif name not in MODULES:
            self._add(name, span, ("free", name), "variable")

    def _dotted(self, word: str, start: int, scope: _ScopeOfNames) -> None:
        first, dot, rest = word.partition(".")
        known = scope.get(first)
        if first in MODULES and known is None:
            return
        self._use(first, start, scope)
        if dot and (known is None or known[1] != "module"):
            name = rest.partition(".")[0]
            at = start + len(first) + 1
            of = self.classes.get(known[0], "") if known is not None else first
            self._add(name, (at, at + len(name)), ("member", of, name), "function")

    def _add(self, name: str, span: Span, key: Key, kind: str, defines: bool = False) -> None:
        self.names.append(TokenName(name, span, key, kind, defines))


# ---------------------------------------------------------------- a whole text


class PlacedName(Record):
    """A name of a text.

    Attributes
    ----------
    subject
        Equal for two places if they stand for the same thing.
    kind
        As for :class:`TokenName`.
    """

    name: str
    span: Span
    subject: tuple[object, ...]
    kind: str
    is_definition: bool


class TextNames:
    """The names of one version of a text.

    Parameters
    ----------
    statements
        Gives those of a long function; None for one that is read at once.

    Attributes
    ----------
    stretches
        Where functions, parts of long functions, and what stands between functions begin; with the
        numbers of the functions.
    gaps
        The numbers of what stands between functions, by their stretches.
    of_function
        The stretches of each function.
    """

    def __init__(
        self, at: Cut, statements: Callable[[int], Statements | None] = lambda _: None
    ) -> None:
        self.cut = at
        self.stretches: list[tuple[int, int | None]] = []
        self.gaps: dict[int, int] = {}
        self.of_function: list[range] = []
        self._long: dict[int, tuple[Statements, list[int]]] = {}
        self._read: dict[int, Reading] = {}
        self._shapes: dict[tuple[int, str], int | None] = {}
        for number, piece in enumerate(at.pieces):
            self.gaps[len(self.stretches)] = number
            self.stretches.append((piece.span[0] - len(at.gap(number)), None))
            first = len(self.stretches)
            self.stretches.append((piece.span[0], number))
            parts = None if piece.is_prim_func else statements(number)
            if parts is not None and parts.is_plain:
                body = piece.span[0] + len(piece.head)
                self._long[number] = parts, [0, *parts.borders]
                self.stretches += ((body + parts.starts[n], number) for n in parts.borders)
            self.of_function.append(range(first, len(self.stretches)))
        self.gaps[len(self.stretches)] = len(at.pieces)
        self.stretches.append((len(at.text) - len(at.gap(len(at.pieces))), None))
        self.starts = [start for start, _ in self.stretches]

    def reading(self, stretch: int) -> Reading:
        """Read a function, a part of one, or a gap."""
        if stretch not in self._read:
            number = self.stretches[stretch][1]
            text = self.cut.text[self.starts[stretch] : self._end(stretch)]
            is_prim = number is not None and self.cut.pieces[number].is_prim_func
            self._read[stretch] = reading(text, is_prim, self._before(stretch, number, text))
        return self._read[stretch]

    def _before(
        self, stretch: int, number: int | None, text: str
    ) -> tuple[tuple[str, str, str], ...] | None:
        """The names of a part of a function that are bound in front of it."""
        if number is None or stretch == self.of_function[number][0]:
            return None
        statements, begins = self._long[number]
        first = self.of_function[number][0]
        begin = begins[stretch - first]
        known = self.reading(first).bound
        found = []
        for word in words(text):
            if word in known:
                _, kind, of = known[word]
                found.append((word, kind, of))
            elif statements.binders.get(word, (begin,))[0] < begin:
                found.append((word, "variable", ""))
        return tuple(sorted(found))

    def _bound_before(self, stretch: int, number: int, name: str) -> tuple[int, BoundName] | None:
        """The part in front of another one in which a name is bound last, and what it is."""
        statements, begins = self._long[number]
        first = self.of_function[number][0]
        begin = begins[stretch - first]
        places = [n for n in statements.binders.get(name, ()) if n < begin]
        parts = [bisect_right(begins, n) - 1 for n in reversed(places)]
        for part in dict.fromkeys([*parts, 0]) if parts else (0,):
            found = self.reading(first + part).bound.get(name)
            if found is not None:
                return first + part, found
        return None

    def _first_shape(self, number: int, name: str) -> int | None:
        """The first part of a function in which a name is a shape variable."""
        key = number, name
        if key not in self._shapes:
            self._shapes[key] = None
            for stretch in self.of_function[number]:
                here = self.cut.text.find(name, self.starts[stretch], self._end(stretch)) >= 0
                if here and any(n.key == ("shape", name) for n in self.reading(stretch).names):
                    self._shapes[key] = stretch
                    break
        return self._shapes[key]

    def blocks(self, stretch: int) -> Iterator[Span]:
        """The statements of a stretch with blocks below them, which may go on behind it."""
        start, number = self.stretches[stretch]
        last = len(self.cut.text[start : self._end(stretch)].rstrip())
        for part in self.reading(stretch).parts:
            if part.is_block:
                begin, end = start + part.span[0], start + part.span[1]
                if number is not None and part.span[1] >= last:
                    column = begin - line_start(self.cut.text, begin)
                    left = re.compile(rf"\n[ ]{{0,{column}}}[^ \n]")
                    behind = left.search(self.cut.text, end, self.cut.pieces[number].span[1])
                    stop = self.cut.pieces[number].span[1] if behind is None else behind.start()
                    end = begin + len(self.cut.text[begin:stop].rstrip())
                yield begin, end

    @cached_property
    def owners(self) -> list[str]:
        """The class that each function stands in; empty at the top of the text."""
        found, owner = [], ""
        for stretch, number in self.gaps.items():
            for each in self.reading(stretch).names:
                owner = each.name if each.kind == "class" else owner
            if number < len(self.cut.pieces):
                start = self.cut.pieces[number].span[0]
                found.append(owner if self.cut.text[start : start + 1] in (" ", "\t") else "")
        return found

    @cached_property
    def functions(self) -> dict[tuple[str, str], list[int]]:
        """The numbers of functions, by class and name."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, piece in enumerate(self.cut.pieces):
            found.setdefault((self.owners[number], piece.name), []).append(number)
        return found

    @cached_property
    def top(self) -> Mapping[str, str]:
        """The kinds of what the text binds outside of functions, by name."""
        found: dict[str, str] = {}
        for stretch in self.gaps:
            for each in self.reading(stretch).names:
                if each.is_definition:
                    found[each.name] = each.kind
        return found

    def of(self, stretch: int, name: str | None = None) -> Iterator[PlacedName]:
        """The names of a stretch that stand for something; those of one word, if it is given."""
        start, number = self.stretches[stretch]
        if name is not None and self.cut.text.find(name, start, self._end(stretch)) < 0:
            return  # most functions need not be read for that
        owner = "" if number is None else self.owners[number]
        for each in self.reading(stretch).names:
            if name is None or each.name == name:
                made = self._placed(each, stretch, owner)
                if made is not None:
                    yield made

    def bound_before(self, offset: int) -> Iterator[PlacedName]:
        """The names that the function at an offset binds before it, the nearest first."""
        last = self.stretch(offset)
        number = self.stretches[last][1]
        first = last if number is None else self.of_function[number][0]
        owner = "" if number is None else self.owners[number]
        for stretch in range(last, first - 1, -1):
            for each in reversed(self.reading(stretch).names):
                if each.is_definition and self.starts[stretch] + each.span[0] < offset:
                    made = self._placed(each, stretch, owner)
                    if made is not None and made.is_definition:
                        yield made

    def outer(self, stretch: int) -> tuple[tuple[Span, str, bool], ...]:
        """The names of a stretch that stand for something outside: their places in it, their kinds, and
        whether they are bound there.
        """
        _, number = self.stretches[stretch]
        owner = "" if number is None else self.owners[number]
        found = (
            (each.span, self._subject(each, stretch, owner))
            for each in self.reading(stretch).names
            if not isinstance(each.key, int)
        )
        return tuple((span, made[1], made[2]) for span, made in found if made is not None)

    def _end(self, stretch: int) -> int:
        return self.starts[stretch + 1] if stretch + 1 < len(self.starts) else len(self.cut.text)

    def _placed(self, each: TokenName, stretch: int, owner: str) -> PlacedName | None:
        made = self._subject(each, stretch, owner)
        if made is None:
            return None
        subject, kind, defines = made
        start, (a, b) = self.starts[stretch], each.span
        return PlacedName(each.name, (start + a, start + b), subject, kind, defines)

    def _subject(
        self, each: TokenName, stretch: int, owner: str
    ) -> tuple[tuple[object, ...], str, bool] | None:
        """The meaning of a name, its kind, and whether it is bound there."""
        name, key, kind, number = each.name, each.key, each.kind, self.stretches[stretch][1]
        if isinstance(key, int):
            return (number, stretch, key), kind, each.is_definition
        if key[0] == "before":
            bound = self._bound_before(stretch, number, name)  # type: ignore[arg-type]
            if bound is not None:
                part, (key, kind, _) = bound
                return (number, part, key), kind, False
            key = ("free", name)
        if key[0] == "class":
            return ("class", name), "class", True
        if key[0] == "member":
            of = owner if each.is_definition or key[1] not in self.top else key[1]
            if (of, name) in self.functions:
                return ("function", of, name), "function", each.is_definition
            return None
        if number is None or name in self.top:
            kind = self.top.get(name, "")
            if not kind:
                return None
            subject = ("class", name) if kind == "class" else ("top", name)
            return subject, kind, each.is_definition and number is None
        defines = each.is_definition
        if number in self._long:
            first = self._first_shape(number, name)
            if first is not None and key[0] in ("free", "shape"):
                key, kind, defines = ("shape", name), "shape", defines and stretch == first
        if key[0] == "free" and (owner, name) in self.functions:
            return ("function", owner, name), "function", False
        return (number, *key), kind, defines

    def stretch(self, offset: int) -> int:
        """The function, part of one, or gap that an offset stands in."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def around(self, offset: int) -> Sequence[int]:
        """All stretches of the function at an offset, or the gap."""
        stretch = self.stretch(offset)
        number = self.stretches[stretch][1]
        return [stretch] if number is None else self.of_function[number]

    def at(self, offset: int) -> PlacedName | None:
        """The name at an offset; behind its last letter counts, too."""
        found = None
        for stretch in dict.fromkeys((self.stretch(offset), self.stretch(max(0, offset - 1)))):
            start, number = self.stretches[stretch]
            owner = "" if number is None else self.owners[number]
            for each in self.reading(stretch).names:
                a, b = start + each.span[0], start + each.span[1]
                if a <= offset <= b and (found is None or a == offset):
                    found = self._placed(each, stretch, owner) or found
        return found

    def places(self, wanted: PlacedName) -> list[PlacedName]:
        """All places of what a name stands for."""
        if isinstance(wanted.subject[0], int):
            stretches: Sequence[int] = self.of_function[wanted.subject[0]]
        else:
            stretches = range(len(self.starts))
        return [
            each
            for stretch in stretches
            for each in self.of(stretch, wanted.name)
            if each.subject == wanted.subject
        ]

    def definition(self, wanted: PlacedName) -> PlacedName | None:
        """The first binding of a name."""
        return next((each for each in self.places(wanted) if each.is_definition), None)
