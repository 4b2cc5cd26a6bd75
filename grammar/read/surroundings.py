"""The Python code around a Relax definition: its names, and which of them are literal constants.

A Python file is only data and is never executed. Its scopes are found by indentation, line by line,
so a damaged file is read as far as possible.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import islice

from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.lines import line_start
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.outline import logical_lines, width
from rlx.grammar.read.partial_nodes import CAPTURED, Captured
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.read.python_bindings import STAR, bindings, makes_dimension, parameters

IMPORTED = {
    **{f"tvm.script{p}.{m}": "R" for p in ("", ".parser", ".ir_builder") for m in ("relax",)},
    **{
        f"tvm.script{p}.{m}": "T"
        for p in ("", ".parser", ".ir_builder")
        for m in (*TIR_MODULES, "s_tir")
    },
    **{f"tvm.script{p}.ir": "I" for p in ("", ".parser", ".ir_builder")},
    "tvm.script.ir_module": "I.ir_module",
    "tvm.script.parser.ir_module": "I.ir_module",
    "tvm.relax.op": "R",
    "tvm.relax.script": "R",
    "tvm.relax.script.parser": "R",
    **{f"tvm.{m}.script": "T" for m in TIR_MODULES},
}
"""The names of modules and functions in Relax texts, by their import paths in Python."""

ARRAY_LIBRARIES = ("torch", "numpy", "jax", "tensorflow")
"""Libraries whose functions take arrays of their own."""

_BUILT_IN = frozenset(vars(builtins)) - {"_", "display", "get_ipython"}
"""The names that every Python file has; not those that a shell adds."""

_BLOCK_HEADS = ("def", "class", "async")
_BINDING = ("=", "for", "as", "global", "nonlocal", "del", "case")
"""A logical line without one of these binds nothing."""


class BoundName:
    """A binding of a name.

    ``value`` is the text of its value, if that may be a literal and the binding is directly in the
    scope, not in a condition or a loop. ``imported`` is the module path of an import.
    """

    __slots__ = ("at", "imported", "index", "value")

    def __init__(
        self,
        at: int,
        value: str | None = None,
        imported: str | None = None,
        index: int | None = None,
    ) -> None:
        self.at = at
        self.value = value
        self.imported = imported
        self.index = index


class PythonScope:
    """A module, class or function of the surrounding Python code, and the names bound in it.

    Attributes
    ----------
    imports
        The import paths of names.
    unread
        The spans of unread statements, and whether they are directly in the scope. They are read
        when a name is looked up; most of them are bodies of Relax functions.
    """

    __slots__ = (
        *("_names", "body", "imports", "indent", "kind", "outer", "star", "start", "text"),
        "unread",
    )

    def __init__(
        self, kind: str, start: int, indent: int, outer: PythonScope | None, text: str
    ) -> None:
        self.text = text
        self.kind = kind
        self.start = start
        self.indent = indent
        self.body = -1
        self.outer = outer
        self.imports: list[tuple[str, str]] = []
        self.unread: list[tuple[int, int, bool]] = []
        self._names: dict[str, list[BoundName]] = {}
        self.star = False

    @property
    def names(self) -> dict[str, list[BoundName]]:
        if self.unread:
            unread, self.unread = self.unread, []
            for start, end, straight in unread:
                _bind(self, self.text, (start, end), straight)
            for places in self._names.values():
                places.sort(key=lambda place: place.at)
        return self._names

    def bind(self, name: str, bound: BoundName) -> None:
        self._names.setdefault(name, []).append(bound)
        if bound.imported is not None:
            self.imports.append((name, bound.imported))


class Surroundings:
    """The code around the definitions of a Python file."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def scopes(self) -> tuple[PythonScope, list[tuple[int, PythonScope]]]:
        """The module's scope, and every scope with the offset at which it begins."""
        return _scopes(self.text)

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        """Every import path of each name, in whatever scope."""
        found: dict[str, set[str]] = {}
        for _, scope in self.scopes[1]:
            for name, path in scope.imports:
                found.setdefault(name, set()).add(path)
        return found

    @cached_property
    def renames(self) -> bool:
        """Whether the file imports the modules of Relax texts under unusual names."""
        usual = {"R", "T", "I"}
        paths = ((name, path) for name, found in self._aliases.items() for path in found)
        return any(name not in usual and _leads(path) for name, path in paths)

    def canonical(self, dotted: str) -> str:
        """A dotted name whose imported module is replaced by the prefix that Relax texts use for
        it.
        """
        head, dot, rest = dotted.partition(".")
        for path in self._aliases.get(head, ()):
            full = path + dot + rest
            parts = full.split(".")
            for count in range(len(parts), 0, -1):
                word = IMPORTED.get(".".join(parts[:count]))
                if word is not None:
                    return ".".join([word, *parts[count:]])
        return dotted

    def paths(self, name: str) -> AbstractSet[str]:
        return self._aliases.get(name, set())

    def language(self, name: str) -> str:
        """The prefix (``R``, ``T``, ``I``) for which a name is imported from TVMScript, or empty."""
        paths = self._aliases.get(name, ())
        return next((IMPORTED[path] for path in paths if len(IMPORTED.get(path, "")) == 1), "")

    def view(self, start: int) -> PythonAround:
        """The surrounding code as seen by a definition at an offset."""
        return PythonAround(self, start)

    def scope_at(self, at: int) -> PythonScope:
        """The innermost scope that contains an offset at the start of a line."""
        line = line_start(self.text, at)
        column = width(self.text[line:at]) if not self.text[line:at].strip() else 0
        found = self.scopes[0]
        for start, scope in self.scopes[1]:
            if start >= at:
                break
            found = scope
        while found.outer is not None and column <= found.indent:
            found = found.outer
        return found

    def value(self, name: str, scope: PythonScope, at: int, depth: int = 0) -> object:
        """The value of a name for a definition at an offset in a scope.

        Returns
        -------
        object
            A number, string, Boolean, None or a tuple of these; ``CAPTURED`` if the value is only
            known by running the file; ``...`` if the name is not bound.
        """
        holder: PythonScope | None = scope
        star = False
        while holder is not None:
            star = star or holder.star
            places = holder.names.get(name)
            if places is not None and (holder.kind != "class" or holder is scope):
                return self._value(places, holder is scope, at, holder, depth)
            holder = holder.outer
        return CAPTURED if star or name in _BUILT_IN else ...

    def _value(
        self, places: list[BoundName], here: bool, at: int, holder: PythonScope, depth: int
    ) -> object:
        if any(place.value is None for place in places) or depth > 20:
            return CAPTURED
        if here:
            places = [place for place in places if place.at < at]
        if not places or (len(places) > 1 and not here):
            return CAPTURED
        place = places[-1]
        assert place.value is not None
        if makes_dimension(place.value):
            return ...  # a shape variable: what it is, its uses say
        from rlx.grammar.read.literals import NoConstant, constant

        def known(other: str) -> object:
            found = self.value(other, holder, place.at, depth + 1)
            return NoConstant if found is ... or isinstance(found, Captured) else found

        found = constant(place.value, known)
        if place.index is not None and found is not NoConstant:
            if not isinstance(found, tuple) or place.index >= len(found):
                return CAPTURED
            found = found[place.index]
        return CAPTURED if found is NoConstant else found

    def may_bind(self, scope: PythonScope, name: str) -> bool:
        """Whether something around a scope binds a name, or imports names that are not known."""
        holder: PythonScope | None = scope
        while holder is not None and not holder.star and name not in holder.names:
            holder = holder.outer
        return holder is not None

    def names(self, scope: PythonScope) -> Iterator[str]:
        """The names bound around a scope."""
        holder: PythonScope | None = scope
        while holder is not None:
            yield from holder.names
            holder = holder.outer


class PythonAround:
    """The Python code around one definition, as seen by the definition.

    Attributes
    ----------
    used
        The captured names, with the location of the first use of each.
    """

    def __init__(self, around: Surroundings, start: int) -> None:
        self.around = around
        self.start = start
        self.scope = around.scope_at(start)
        self.used: dict[str, Span] = {}
        self._values: dict[str, object] = {}
        self._words: dict[str, str] = {}
        self.renames = around.renames

    def gives(self, name: str) -> bool:
        """Whether the surrounding code gives the value of a name that is not a word of Relax
        texts.
        """
        if name in ("R", "T", "I", "range") or self.canonical(name) != name:
            return False
        return isinstance(self.value(name), Captured)

    def value(self, name: str) -> object:
        """See :meth:`Surroundings.value`."""
        if name not in self._values:
            self._values[name] = self.around.value(name, self.scope, self.start)
        return self._values[name]

    def is_built_in(self, name: str) -> bool:
        """Whether a name is what Python gives to every file, as nothing here binds it anew."""
        return name in _BUILT_IN and not self.around.may_bind(self.scope, name)

    def holds(self, name: str) -> bool:
        """Whether the surrounding code binds a name, but for `relax` of texts of 2022."""
        old = name == "relax" and is_prototype(self.around.text)
        return not old and self.value(name) is not ...

    def library(self, name: str) -> str | None:
        """The array library that a name is imported from; None for any other name."""
        roots = {path.partition(".")[0] for path in self.around.paths(name)}
        return next((root for root in ARRAY_LIBRARIES if root in roots), None)

    def canonical(self, word: str) -> str:
        """See :meth:`Surroundings.canonical`."""
        found = self._words.get(word)
        if found is None:
            found = self._words[word] = self.around.canonical(word)
        return found

    def names(self) -> list[str]:
        """The names that the surrounding code binds."""
        return list(dict.fromkeys(self.around.names(self.scope)))


def _leads(path: str) -> bool:
    """Whether an import path is that of a word of Relax texts, on the way to one, or inside one."""
    return path in IMPORTED or any(
        word.startswith(path + ".") or path.startswith(word + ".") for word in IMPORTED
    )


def _scopes(text: str) -> tuple[PythonScope, list[tuple[int, PythonScope]]]:
    root = PythonScope("module", 0, -1, None, text)
    found = [(0, root)]
    at = root
    for start, end in logical_lines(text):
        line = line_start(text, start)
        column = width(text[line:start])
        while at.outer is not None and column <= at.indent:
            at = at.outer
        if at.body < 0:
            at.body = column
        head = _head(text, (start, end)) if text.startswith(_BLOCK_HEADS, start) else None
        if head is None:
            if text.find("import", start, end) >= 0:
                _bind(at, text, (start, end), column == at.body)
            elif any(text.find(word, start, end) >= 0 for word in _BINDING):
                at.unread.append((start, end, column == at.body))
            continue
        kind, name = head
        at.bind(name, BoundName(start))
        inner = PythonScope(kind, start, column, at, text)
        if kind == "function":
            for parameter in parameters(text, (start, end)):
                inner.bind(parameter, BoundName(start))
        found.append((start, inner))
        at = inner
    return root, found


def _head(text: str, span: Span) -> tuple[str, str] | None:
    """The kind and the name of the class or function that a line begins; None for another line."""
    first, *behind = islice(words_of(text, span), 3)
    if first.value == "async" and behind:
        first, *behind = behind
    if first.type == "DEF":
        return "function", first.value.split()[-1]
    if first.type == "CLASS" and behind:
        return "class", behind[0].value.removesuffix("(")
    return None


def _bind(scope: PythonScope, text: str, span: Span, straight: bool) -> None:
    """Note what a logical line binds."""
    for found in bindings(text, span):
        if found.name == STAR:
            scope.star = True
        else:
            value = found.value if straight else None
            place = BoundName(found.at, value, found.imported, found.among)
            scope.bind(found.name, place)
