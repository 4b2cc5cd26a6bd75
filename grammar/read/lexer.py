"""The lexer for the tokens of `relax.lark`, with Python's layout rule and string literals.

One regular expression finds all tokens. Newlines inside brackets are dropped; others become
_NEWLINE, with _INDENT and _DEDENT tokens according to the indentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import takewhile
from keyword import kwlist

from rlx.grammar.lines import line_end, line_start
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import END, TERMINALS, Token, token

NO_BLOCK = "this line is indented, but no block starts here"
NO_MATCH = "the indentation of this line matches no enclosing block"
MIXED = "tabs and spaces are mixed: the indentation of this line depends on the width of a tab"
NO_QUOTE = "is no quote of Python"
EMPTY = "expected an indented block under this line"
BREAKS_OUT = "this line ends the block, but the next line continues it"
LAYOUT = frozenset([NO_BLOCK, NO_MATCH, MIXED, EMPTY])


MAX_NESTING = 512
"""The maximum nesting depths of brackets and of indented blocks."""

MOST_AHEAD = 200_000
"""The most tokens that are read ahead to see whether brackets are closed: many lines may open one."""

MAX_LINE = 4_000_000
"""The maximum length of a physical line in characters."""

Report = Callable[[str, int, int], None]

_WORD = r"[^\W\d]\w*"
MEMBER = rf"(?:{_WORD}|<lambda>\w*+)"
"""A function of a module, also one that TVM made of a Python lambda, whose name it prints."""
# Four levels of brackets, without backtracking; a deeper annotation is read as ordinary tokens.
# What repeats without backtracking, `(?>...)*+`, is atomic itself: before 3.11.5, Python went wrong
# where the inner part had another way to match.
_BESIDE = r"""(?:\"(?>[^"\\\n]++|\\[^\n])*+\"|'(?>[^'\\\n]++|\\[^\n])*+'|\#[^\n]*+)"""
_FLAT = rf"""[^()\[\]{{}}"'#]*+(?>{_BESIDE}[^()\[\]{{}}"'#]*+)*+"""
_BALANCED = _FLAT
for _ in range(4):
    _BALANCED = rf"{_FLAT}(?>[(\[{{]{_BALANCED}[)\]}}]{_FLAT})*+"

_STRING = (
    r"[rRbBuUfF]{0,2}(?:"
    r'"""(?>[^"\\]++|\\.|"(?!""))*+"""|'
    r"'''(?>[^'\\]++|\\.|'(?!''))*+'''|"
    r'"(?>[^"\\\n]++|\\.)*+"(?!")|""|'
    r"'(?>[^'\\\n]++|\\.)*+'(?!')|'')"
)

TOKEN = re.compile(
    rf"""[ \t\f]*+(?:
      (?P<punct>[()\]{{}},:~;])
    | (?P<NAME>(?!lambda\b){_WORD}(?=[,):\]]))
    | (?P<newline>\r?\n(?>[ \t\f]*+(?:\#[^\n]*+)?\r?\n)*+[ \t\f]*+(?:\#[^\n]*+\Z)?)
    | (?P<INFO>R\.(?:Tensor|Shape|Tuple|Object|Any|Prim|Callable|DTensor)\b(?![\[.])
        (?:\({_BALANCED}\)|(?!\()))
    | (?P<DEF>(?:async[ \t\f]++)?+def(?>[ \t\f]|\\\r?\n)++(?!in[ \t]){MEMBER})
    | (?P<OPAQUE>T\.index_map\(|lambda\b(?![ \t]*:[ \t]*(?:[RT]\.|\r?\n))[^:()\n]*+:)
    | (?P<TARGET>{_WORD}[ \t\f]*+=(?!=))
    | (?P<HEAD>{_WORD}(?>\.{MEMBER})*+\()
    | (?P<STRING>{_STRING})
    | (?P<DOTTED>{_WORD}(?>\.{MEMBER})++)
    | (?P<word>{_WORD})
    | (?P<FLOAT>[0-9][0-9_]*+\.[0-9_]*+(?:[eE][-+]?[0-9]++)?|\.[0-9][0-9_]*+(?:[eE][-+]?[0-9]++)?
        |[0-9][0-9_]*+[eE][-+]?[0-9]++)
    | (?P<INT>0[xX][0-9a-fA-F_]++|0[bB][01_]++|[0-9][0-9_]*+)
    | (?P<INTS>(?<![\w)\]])\[-?[0-9]{{1,18}}(?>,[ ]-?[0-9]{{1,18}})++\])
    | (?P<AUGMENTED>(?:\*\*|//|<<|>>|[-+*/%@&|^])=)
    | (?P<ARROW>->)
    | (?P<PASS>\.\.\.)
    | (?P<OP>\*\*|//|<<|>>|<=|>=|==|!=|[*/%<>&|^])
    | (?P<SIGN>[-+])
    | (?P<other>[\[=@.])
    | (?P<nothing>\#[^\n]*+|\\\r?\n|\Z))
    """,
    re.VERBOSE | re.DOTALL,
)
"""A token and the blanks before it. The most frequent tokens come first, so a name used as an
argument or a target is matched without trying the other tokens that start with a word. Of OPAQUE
it is the beginning.
"""


@cache  # which takes milliseconds to compile, and most texts have none
def _rest_of_opaque(sign: str) -> re.Pattern[str]:
    """The rest of an index map or a lambda, whose beginning ends with a sign. The body of a lambda
    ends at a comma, or at a bracket that it did not open.
    """
    if sign == "(":
        return re.compile(rf"{_BALANCED}\)")
    return re.compile(rf"""(?>[^,()\[\]{{}}"'#\n]++|(?!\#){_BESIDE}|[(\[{{]{_BALANCED}[)\]}}])*+""")


_HINT = re.compile(r"[ \t]*+:[ \t]*+[RT]\.")
"""The beginning of a variable's annotation; `else` and `try` have none."""


@cache
def _behind_hint() -> re.Pattern[str]:
    """The rest of the annotation, and the `=` behind it."""
    return re.compile(rf"\w++(?:\({_BALANCED}\))?+[ \t]*+=(?!=)")


_KEYWORDS = "class return pass assert if elif else for in while with as not"
KEYWORDS = {word: word.upper() for word in _KEYWORDS.split()}
_RESERVED = {**KEYWORDS, "and": "OP", "or": "OP", "is": "OP"}
VALUES = frozenset(["None", "True", "False"])
"""Keywords that are operands."""
_NO_NAMES = frozenset(kwlist)
_WORDS = frozenset(["DEF", "TARGET", "NAME", *_RESERVED.values()])
_ENDS = (",", ")", ":", "]")
"""Signs that follow directly on a name in an expression or a head, but not on a keyword."""
_BEFORE_OPERANDS = frozenset(["RETURN", "TARGET", "OP", "SIGN"])
_NAMED = frozenset(["FOR", "CLASS", "AS"])
"""A name stands behind these."""
_SIGNS = "LPAR RPAR LSQB RSQB LBRACE RBRACE COMMA COLON EQUAL AT TILDE DOT SEMICOLON"
PUNCTUATION = dict(zip("()[]{},:=@~.;", _SIGNS.split(), strict=True))
"""The terminals that Lark names after their characters."""
OPENING = {
    **dict.fromkeys(["HEAD", "LPAR", "LSQB", "LBRACE"], 1),
    **dict.fromkeys(["RPAR", "RSQB", "RBRACE"], -1),
}
"""The change of the bracket depth by a token."""
UNARY = frozenset({"SIGN", "TILDE", "NOT"})
"""Operators in front of an operand, which nest as brackets do."""


_QUOTES = r"\u2018\u2019\u201c-\u201e\u00b4`"
_QUOTED = re.compile(rf'[ \t\f]*+(?P<sign>[{_QUOTES}])(?P<words>[^{_QUOTES}"\\\n]*+)[{_QUOTES}]')
"""A string in quotes of a word processor."""

_GAPS = re.compile(r"(?:[ \t\f]|\\\r?\n)+")
_GAP = rf"{_GAPS.pattern}+"
_BROKEN_WORD = re.compile(
    rf"(?:{_GAP})?+(?P<word>{_WORD}(?>\.{_WORD})*+(?={_GAP}\.|\.{_GAP})"
    rf"(?:(?:{_GAP})?+\.(?:{_GAP})?+{_WORD})++\(?)"
)
"""The word behind the `@` of a decorator, with blanks or line breaks beside a dot."""


class Lexer:
    """Yields the tokens of one stretch of text.

    Parameters
    ----------
    text, start, end
        The text, and the part of it to tokenise.
    report
        Called with a message and a span for text that is not a token; the lexer continues after it.
    layout
        Whether indentation matters. If not (inside an annotation), newlines are white space.

    Attributes
    ----------
    whole_info
        False to split the annotation at the start into tokens instead of one INFO token.
    canonical
        Maps names imported by Python code to the names in Relax texts, if there is such code.
    """

    def __init__(
        self, text: str, start: int, end: int, report: Report, layout: bool = True
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.report = report
        self.layout = layout
        self.stopped = end
        self.whole_info = True
        self.canonical: Callable[[str], str] | None = None
        self._refused: set[str] = set()
        self._closed = 0  # up to where it is known that an open bracket is closed
        self._ahead = MOST_AHEAD

    def __iter__(self) -> Iterator[Token]:
        return self._with_layout() if self.layout else self._flat()

    def _flat(self) -> Iterator[Token]:
        last = ""
        for found in self._raw(self.start):
            kind = found.type
            if kind == "newline":
                continue
            wrong = kind in _WORDS and last in CONTINUED
            if wrong and self._is_wrong_name(found, last, loop=False):
                self._refuse_keyword(found)
                kind = "TARGET" if kind == "TARGET" else "NAME"
                found = token(kind, found.value, found.start, found.end)
            last = kind
            yield found
        yield token(END, "", self.end, self.end)

    def _raw(self, at: int) -> Iterator[Token]:
        """Tokens without layout: `newline` for every line end."""
        text, end, match = self.text, self.end, TOKEN.match
        reserved, terminals, new = _RESERVED, TERMINALS, tuple.__new__
        if not self.whole_info:
            head = _INFO_HEAD.match(text, at, end)
            if head is not None:
                kind = "HEAD" if head[0].endswith("(") else "DOTTED"
                at = head.end()
                yield token(kind, head[0], head.start(), at)
        while at < end:
            found = match(text, at, end)
            if found is None:
                quoted = _QUOTED.match(text, at, end)
                at = self._unknown(at) if quoted is None else quoted.end()
                if quoted is not None:
                    start = quoted.start("sign")
                    self.report(f"{quoted['sign']!r} {NO_QUOTE}", start, start + 1)
                    yield new(terminals["STRING"], (f'"{quoted["words"]}"', start, at))
                continue
            kind = found.lastgroup or ""
            value, at = found[kind], found.end()
            start = at - len(value)
            if kind == "OPAQUE":
                rest = _rest_of_opaque(value[-1]).match(text, at, end)
                if rest is None:
                    kind = "HEAD"
                else:
                    at = rest.end()
                    value = text[start:at]
            if self.canonical is not None and kind in _IMPORTABLE:
                value = self.canonical(value.removesuffix("(")) + "(" * (kind == "HEAD")
                kind = "DOTTED" if kind in ("NAME", "word") and "." in value else kind
            match kind:
                case "punct" | "other":
                    kind = PUNCTUATION[value]
                case "NAME" | "word":
                    kind = reserved.get(value, "NAME")
                    if value == "is" and (rest := _IS_NOT.match(text, at, end)) is not None:
                        at, value = rest.end(), "is not"
                case "HEAD" | "TARGET":
                    # A keyword in front of a bracket or `=` stays one: `return (a, b)`, `not(x)`.
                    # Nothing else stands in front of `=`, so that it is there a wrong name.
                    word = value.rstrip("(= \t\f")
                    if kind == "TARGET":
                        value = word
                    elif word in reserved:
                        kind, value, at = reserved[word], word, start + len(word)
                case "INFO" if "\n" in value and _DEFINITION.search(value) is not None:
                    kind, value = "HEAD", value[: value.index("(") + 1]
                    at = start + len(value)
                case "nothing":
                    continue
            if kind == "AT" and (word := _BROKEN_WORD.match(text, at, end)) is not None:
                yield new(terminals[kind], (value, start, at))
                start, at = word.start("word"), word.end()
                value = "".join(_GAPS.split(word["word"]))
                kind = "HEAD" if value.endswith("(") else "DOTTED"
                if self.canonical is not None:
                    value = self.canonical(value.removesuffix("(")) + "(" * (kind == "HEAD")
            yield new(terminals[kind], (value, start, at))

    def _unknown(self, at: int) -> int:
        """Report what stands behind the blanks at ``at`` and is no token; return where to go on."""
        text = self.text
        while text[at] in " \t\f":
            at += 1
        char = text[at]
        if char in "\"'":
            self.report("this string is not closed on its line", at, at + 1)
            return min(line_end(text, at), self.end)
        stop = at + 1
        while stop < self.end and text[stop] == char:
            stop += 1
        name = repr(char) if char.isprintable() else f"the character U+{ord(char):04X}"
        self.report(f"{name} is not allowed in a Relax text", at, stop)
        return stop

    def _with_layout(self) -> Iterator[Token]:
        """Tokens with layout: _NEWLINE ends a statement, _INDENT and _DEDENT enclose a block."""
        layout = _Layout(self)
        opened = 0  # brackets
        unary = 0  # operators in front of one operand
        too_deep = False  # they are, in this statement
        last = ""  # token on this line
        skip_line = loop = False
        for found in self._raw(self.start):
            kind = found.type
            if kind == "newline":
                _, start, end = found
                if opened and not self._is_statement(end):
                    continue
                too_deep = False
                opened = 0  # if not yet: far more likely unclosed than a statement inside brackets
                if last:
                    yield token("_NEWLINE", "", start, start)
                    layout.last, last = last, ""
                    if layout.lacks_block(end):
                        yield from self._no_block(start)
                skip_line = end < self.end and layout.breaks_out(end)
                if end < self.end and not skip_line:
                    yield from layout.line(end)
                if layout.too_deep:
                    self.stopped = end
                    break
                continue
            if skip_line:
                continue
            if kind in _WORDS and self._is_wrong_name(found, last, loop=loop):
                self._refuse_keyword(found)
                kind = kind if kind in ("DEF", "TARGET") else "NAME"
                found = token(kind, found.value, found.start, found.end)
            if not last:
                layout.starts_with(kind)
                loop = kind == "FOR"
            elif kind == "IN":
                loop = False
            last = kind
            unary = unary + 1 if kind in UNARY else 0
            if unary > MAX_NESTING and not too_deep:
                words = f"more than {MAX_NESTING} operators stand in front of one operand"
                self.report(words, found.start, found.end)
                too_deep = True
            if kind in OPENING:
                opened = max(0, opened + OPENING[kind])
                if opened > MAX_NESTING and not too_deep:
                    words = f"brackets are nested deeper than {MAX_NESTING} levels"
                    self.report(words, found.start, found.end)
                    too_deep = True
            if not too_deep:
                yield found
        closing = ["_NEWLINE"] if last else []
        if layout.head and last == "COLON":
            yield token("_NEWLINE", "", self.stopped, self.stopped)
            yield from self._no_block(len(self.text[: self.stopped].rstrip()))
            closing = []
        for kind in (*closing, *["_DEDENT" for _ in layout.indents[1:]], END):
            yield token(kind, "", self.stopped, self.stopped)

    def _is_wrong_name(self, found: Token, last: str, *, loop: bool) -> bool:
        """Whether a keyword of Python stands where a name does, behind the token ``last`` of its
        line; ``loop`` between `for` and `in`.
        """
        kind = found.type
        word: str = found.value
        if kind == "DEF":
            word = word.split()[-1]
        if word not in _NO_NAMES:
            return False
        if kind in ("DEF", "TARGET") or last in _NAMED:
            return True
        text, end = self.text, found.end
        known = word in self._refused
        if not last:
            if text.startswith((",", "[") if known else ",", end):
                return True
            begun = _HINT.match(text, end, self.end)
            return (
                begun is not None and _behind_hint().match(text, begun.end(), self.end) is not None
            )
        if loop and last == "COMMA":
            return word != "in" or text.startswith(" in", end)
        if known and last in _BEFORE_OPERANDS:
            return word != "not"
        return word not in VALUES and text.startswith(_ENDS, end)

    def _refuse_keyword(self, name: Token) -> None:
        """Report a name that Python does not allow, once."""
        word = name.value.split()[-1]
        if word not in self._refused:
            self._refused.add(word)
            start = self.text.rindex(word, name.start, name.end)
            self.report(no_name(word), start, start + len(word))

    def _no_block(self, at: int) -> Iterator[Token]:
        """Report a head without a block that ends at an offset, and give it one."""
        self.report(EMPTY, at - 1, at)
        for kind in ("_INDENT", "PASS", "_NEWLINE", "_DEDENT"):
            yield token(kind, "", at, at)

    def _column(self, at: int) -> int:
        """The width of the white space in front of ``at``; a tab goes to the next multiple of 8."""
        lead = self.text[line_start(self.text, at) : at].rpartition("\f")[
            2
        ]  # as Python: a form feed begins anew
        return len(lead.expandtabs(8)) if "\t" in lead else len(lead)

    def _is_statement(self, at: int) -> bool:
        """Whether the line at ``at`` is a new statement although a bracket is open: it looks like
        one, and nothing behind it closes the bracket.
        """
        if _STATEMENT.match(self.text, at, self.end) is None or at < self._closed:
            return False
        self._closed = self._closing(at)
        return not self._closed

    def _closing(self, at: int) -> int:
        """The end of the bracket that is open at the start of a line; 0 if something comes first
        that no bracket holds, or the search would be too long.
        """
        depth, before = 1, ""
        for found in Lexer(self.text, at, self.end, _ignore)._raw(at):
            kind = found.type
            self._ahead -= 1
            if self._ahead < 0:
                return 0
            if kind in _IN_NO_BRACKET or (before == "AT" and is_decorator(found.value)):
                return 0
            depth += OPENING.get(kind, 0)
            if not depth:
                return found.start
            before = kind
        return 0


def no_name(word: str) -> str:
    """The message on a keyword of Python where a name stands."""
    return f"{word!r} is a keyword of Python: nothing can have this name"


def words_of(text: str, span: Span) -> Iterator[Token]:
    """The tokens of a stretch of text, without layout; an annotation at its start word by word."""
    lexer = Lexer(text, *span, _ignore, layout=False)
    lexer.whole_info = False
    return (found for found in lexer if found.type != END)


@lru_cache(maxsize=8)
def words_of_line(text: str, line: int) -> tuple[Token, ...]:
    """The tokens of the line that begins at an offset; kept, since a long line may have many
    mistakes.
    """
    return tuple(words_of(text, (line, line_end(text, line))))


class _Layout:
    """The open blocks, by their indentation;
    what does not fit is reported once and then put up with.
    """

    def __init__(self, lexer: Lexer) -> None:
        self.lexer = lexer
        self.indents = [lexer._column(lexer.start)]
        self.last = ""
        self.head = False
        self.odd: int | None = None
        self.too_deep = False
        self.characters: dict[int, int] | None = {} if "\t" in lexer.text else None

    def starts_with(self, kind: str) -> None:
        """The first token of a line: does the line open a block?"""
        self.head = kind in HEADS

    def lacks_block(self, at: int) -> bool:
        """Whether the last line opens a block that the line at ``at`` is not in."""
        opens = self.head and self.last == "COLON"
        ends = at >= self.lexer.end
        return opens and (ends or self.lexer._column(at) <= self.indents[-1])

    def line(self, at: int) -> Iterator[Token]:
        """The tokens that the indentation of the line at ``at`` means."""
        width, indents = self.lexer._column(at), self.indents
        opens = self.head or self.last == "COLON"
        if self.characters is not None:
            self._refuse_mixed(at, width, self.characters)
        if width == indents[-1] or (width == self.odd and not opens):
            return
        if self.odd is not None and width < self.odd:
            self.odd = None
        if width > indents[-1]:
            if not opens:
                self.lexer.report(NO_BLOCK, at, at + 1)
                self.odd = width
                return
            if len(indents) >= MAX_NESTING:
                self.lexer.report(f"blocks are nested deeper than {MAX_NESTING} levels", at, at + 1)
                self.too_deep = True
                return
            indents.append(width)
            self.odd = None
            yield token("_INDENT", "", at, at)
            return
        if width not in indents and width > indents[0]:
            self.lexer.report(NO_MATCH, at, at + 1)
            if self._next_width(at) == indents[-1]:
                return
            self.odd = width
        while len(indents) > 1 and indents[-2] >= width:
            indents.pop()
            yield token("_DEDENT", "", at, at)

    def _refuse_mixed(self, at: int, width: int, known: dict[int, int]) -> None:
        """Report, once, a line that is as wide as its block only if a tab is eight columns wide:
        Python refuses it.
        """
        count = at - line_start(self.lexer.text, at)
        if width > self.indents[-1]:
            known[width] = count
        elif width in self.indents and known.setdefault(width, count) != count:
            self.lexer.report(MIXED, at, at + 1)
            self.characters = None

    def _next_width(self, at: int) -> int | None:
        """The indentation of the line after the one at ``at``."""
        lexer = self.lexer
        found = _NEXT_LINE.match(lexer.text, line_end(lexer.text, at), lexer.end)
        return None if found is None else len(found[1].rpartition("\f")[2].expandtabs(8))

    def breaks_out(self, at: int) -> bool:
        """Whether the line at ``at`` stands left of everything although the block around it goes
        on.

        Python refuses such a text too, wherever it stands: what follows is indented under no head.
        """
        lexer, indents = self.lexer, self.indents
        if len(indents) < 2 or lexer._column(at) > indents[0]:
            return False
        stop = min(line_end(lexer.text, at), lexer.end)
        tokens = Lexer(lexer.text, at, lexer.end, _ignore)._raw(at)
        match [*takewhile(lambda found: found.type != "newline", tokens)]:
            case [] | [Token(type="AT"), *_]:
                return False
            case [*_, last] as line:
                depth = sum(OPENING.get(found.type, 0) for found in line)
                if depth or last.type in _GOES_ON or last.end > stop:
                    return False
        if self._next_width(at) not in indents[1:]:
            return False
        lexer.report(BREAKS_OUT, at, stop)
        return True


_IMPORTABLE = frozenset(["NAME", "word", "DOTTED", "HEAD"])
HEADS = frozenset(["DEF", "CLASS", "IF", "ELIF", "ELSE", "FOR", "WHILE", "WITH", "AT"])
_IN_NO_BRACKET = frozenset(["DEF", "CLASS", "RETURN", "ASSERT", "WHILE", "WITH"])
CONTINUED = frozenset(["COMMA", "HEAD", "LPAR", "LSQB", "LBRACE"])
"""The ends of lines whose statements continue in the next line."""
_GOES_ON = CONTINUED | {"COLON"}
_DECORATORS = frozenset(["function", "func", "prim_func", "ir_module", "pyfunc"])


def is_decorator(word: str) -> bool:
    """Whether a word after `@` can only be a decorator."""
    return word.removesuffix("(").rpartition(".")[2] in _DECORATORS


def _ignore(message: str, start: int, end: int) -> None:
    """Ignore a character that begins no token: the lexer that looks ahead reports it."""


_IS_NOT = re.compile(r"[ \t]++not\b")
_NEXT_LINE = re.compile(r"(?>[ \t]*(?:#[^\n]*)?\r?\n)++([ \t]*)(?=\S)")
_DEFINITION = re.compile(r"\n[ \t]*(?:@|def[ \t]|class[ \t]|return[ \t])")
"""The beginning of a line that no annotation contains."""
_INFO_HEAD = re.compile(r"R\.\w+\(?")
_STATEMENT = re.compile(
    rf"@|def[ \t]+{MEMBER}[ \t]*\(|class[ \t]+{_WORD}|return[ \t]|with[ \t]+R\.|R\.outputs?\(|"
    r"(?:else|(?:for|with|while|if|elif)[ \t][^\n#]*):[ \t]*(?:#[^\n]*)?\r?\n|"
    rf"{_WORD}(?:[ \t]*:[ \t]*R\.[^\n=#]*(?:=[^ \n#][^\n=#]*)*)?[ ]=[ ]"
)
