"""What the walk over a PrimFunc knows where it stands, and how its rules report."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from rlx.grammar import tir
from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.node import Node, Span
from rlx.grammar.suggest import did_you_mean
from rlx.spec.registry import refuted

Named = tir.Var | tir.Buffer
_WORD = re.compile(r"[A-Za-z_]\w*")
_STRINGS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")


class PrimFuncCheck:
    """The walk over one PrimFunc.

    Attributes
    ----------
    in_scope
        The variables and buffers that may be used here.
    names
        The names of these, with what has them.
    added
        What came into scope, in order; of each frame, what ``marks`` says.
    everywhere
        What is bound anywhere in the function, by name; of several the first.
    text_words
        The words in the parts that were not understood: they may bind them.
    captured
        Says whether a name may come from the Python around the function.
    loops
        How many blocks with iterators were around each loop variable.
    depth, block
        How many are around the place, and the innermost.
    scalars
        Parameters, loop variables and iterators: what is a number for certain.
    fixed
        Variables that are bound once, to numbers.
    doubtful
        Variables bound to what is wrong: nothing follows from them.
    holes
        Variables of which nothing is known.
    incomplete
        Whether syntax errors may have cost bindings: nothing is said of names.
    span
        Where the statement at hand stands.
    """

    def __init__(
        self,
        function: tir.PrimFunc,
        captured: Callable[[str], bool],
        source: str | None,
        known: Collection[str],
    ) -> None:
        self.function = function
        self.captured = captured
        self.source = source
        self.known = known
        self.in_scope: set[Named] = set()
        self.names: dict[str, Named] = {}
        self.added: list[tuple[Named, Named | None]] = []
        self.frame: set[str] = set()
        self.everywhere: dict[str, Named] = {}
        self.text_words: set[str] = set()
        self.loops: dict[tir.Var, int] = {}
        self.depth = 0
        self.block: tir.Block | None = None
        self.scalars: set[object] = set()
        self.fixed: set[object] = set()
        self.doubtful: set[tir.Var] = set()
        self.incomplete = False
        self.holes: Collection[Node] = frozenset()
        self.span: Span | None = function.name_span
        self.reported: set[object] = set()
        self.diagnostics: list[Diagnostic] = []

    # ------------------------------------------------------------ scopes

    def enter(self, node: Named) -> None:
        """Bring a variable or a buffer into scope."""
        self.added.append((node, self.names.get(node.name)))
        self.in_scope.add(node)
        self.names[node.name] = node
        self.frame.add(node.name)

    def open(self) -> tuple[int, set[str]]:
        """Begin a scope; what :meth:`close` needs."""
        outer = len(self.added), self.frame
        self.frame = set()
        return outer

    def close(self, outer: tuple[int, set[str]]) -> None:
        """End a scope."""
        mark, self.frame = outer
        while len(self.added) > mark:
            node, before = self.added.pop()
            self.in_scope.discard(node)
            if before is None:
                self.names.pop(node.name, None)
            else:
                self.names[node.name] = before

    def excused(self, name: str) -> bool:
        """Whether nothing can be said of a name: text that is not understood may bind it, or
        Python.
        """
        return (
            self.incomplete or name in self.text_words or name in self.known or self.captured(name)
        )

    def is_scalar(self, found: Named | None) -> bool:
        """Whether a name is a number for certain: it cannot be indexed."""
        return found in self.scalars or found in self.fixed

    def rank(self, buffer: tir.Buffer) -> int | None:
        """How many axes a buffer has; None where its shape as a whole is captured or kept as
        text.
        """
        shape = buffer.shape
        if len(shape) == 1 and (shape[0] in self.holes or isinstance(shape[0], tir.OpaqueExpr)):
            return None
        return len(shape)

    # ------------------------------------------------------------ reports

    def report(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        severity: str = "error",
        related: tuple[Label, ...] = (),
        help: str | None = None,
    ) -> None:
        """Report that a premise fails."""
        refuted(code)
        where = span or self.span
        self.diagnostics.append(
            Diagnostic(code, severity, message, where, related=related, help=help)
        )

    def once(self, key: object) -> bool:
        """Whether this is the first report about something: one mistake is one error."""
        if key in self.reported:
            return False
        self.reported.add(key)
        return True

    def suggestion(
        self, name: str, names: Iterable[str], before: str = "", quote: str = "'"
    ) -> str | None:
        """The name that was probably meant, behind the words before it."""
        from difflib import get_close_matches

        found = get_close_matches(name, sorted({*names} - {name}), 1, 0.6)
        return did_you_mean([before + each for each in found], quote)


def words(text: str) -> set[str]:
    """The names in a piece of text, without those in strings and comments."""
    return set(_WORD.findall(_STRINGS.sub("", text)))


def bound_here(node: Named) -> tuple[Label, ...]:
    """A label at the binding of a name."""
    return () if node.span is None else (Label(node.span, f"{node.name!r} is bound here"),)
