"""The state of the walk over a PrimFunc: its diagnostics and its names, TIR01 and TIR17."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import evaluated, shape_numbers, shape_vars_of
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.suggest import closest, did_you_mean, effort
from rlx.spec.registry import need, reported, rule

Named = tir.Var | tir.Buffer


COMPARISONS = 100_000
"""The effort that the suggestions for the unknown names of a PrimFunc may take."""

LONG_NAME = 100
"""The letters of a name beyond which only a few typos are looked for."""


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
    type_vars
        The names that the module declares with ``TypeVar``: nothing binds them but the buffers of
        parameters.
    captured
        Says whether a name may come from the Python around the function.
    loops
        How many blocks with iterators were around each loop variable.
    at_once
        The variables of loops whose iterations run at once, with the kinds of the loops.
    depth, block
        How many are around the place, and the innermost.
    scalars
        Parameters, loop variables and iterators: what is a number for certain.
    fixed
        Variables that are bound once, to numbers.
    doubtful
        Variables bound to what is wrong: nothing follows from them.
    from_python
        Variables of which nothing is known.
    incomplete
        Whether syntax errors may have cost bindings: nothing is reported about names.
    mistakes
        Where the text of the function has syntax errors.
    span
        Where the current statement stands.
    """

    def __init__(
        self,
        function: tir.PrimFunc,
        captured: Callable[[str], bool],
        source: str | None,
        type_vars: Collection[str],
    ) -> None:
        self.function = function
        self.captured = captured
        self.source = source
        self.type_vars = type_vars
        self.in_scope: set[Named] = set()
        self.names: dict[str, Named] = {}
        self.added: list[tuple[Named, Named | None]] = []
        self.frame: set[str] = set()
        self.everywhere: dict[str, Named] = {}
        self.text_words: set[str] = set()
        self.loops: dict[tir.Var, int] = {}
        self.at_once: dict[tir.Var, str] = {}
        self.depth = 0
        self.block: tir.Block | None = None
        self.scalars: set[object] = set()
        self.fixed: set[object] = set()
        self.doubtful: set[tir.Var] = set()
        self.incomplete = False
        self.from_python: Collection[Node] = frozenset()
        self.mistakes: Collection[Span | None] = ()
        self.span: Span | None = function.name_span
        self.reported: set[object] = set()
        self.compared = 0
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
        for node, before in reversed(self.added[mark:]):
            self.in_scope.discard(node)
            if before is None:
                self.names.pop(node.name, None)
            else:
                self.names[node.name] = before
        del self.added[mark:]

    def excused(self, name: str) -> bool:
        """Whether a name may be bound by text that is not understood, or by Python."""
        return self.incomplete or name in self.text_words or self.captured(name)

    def is_scalar(self, found: Named | None) -> bool:
        """Whether a name is a number for certain: it cannot be indexed."""
        return found in self.scalars or found in self.fixed

    def rank(self, buffer: tir.Buffer) -> int | None:
        """The number of axes of a buffer; None if its shape as a whole is captured or kept as text."""
        extents = buffer.shape
        if len(extents) == 1 and (
            extents[0] in self.from_python or isinstance(extents[0], tir.OpaqueExpr)
        ):
            return None
        return len(buffer.shape)

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
        where = span or self.span
        found = Diagnostic(code, severity, message, where, related=related, help=help)
        self.diagnostics.append(reported(found))

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
        if self.compared >= COMPARISONS:
            return None
        known = {*names} - {name}
        self.compared += effort(known)
        found = closest(name, known)
        if not found and len(name) <= LONG_NAME:
            from difflib import get_close_matches

            found = get_close_matches(name, sorted(known), 1)
        return did_you_mean([before + each for each in found], quote)


def extent_text(extent: tir.PrimExpr) -> str:
    """A number of elements in messages, in its simplest form."""
    from rlx.solver.expression_text import show
    from rlx.solver.prover import Prover

    return show(Prover().simplify(extent))


def bound_here(node: Named) -> tuple[Label, ...]:
    return () if node.span is None else (Label(node.span, f"{node.name!r} is bound here"),)


@rule("TIR01", "PrimFunc")
def is_bound(state: PrimFuncCheck, node: Named, span: Span | None) -> bool:
    """Whether a name is in scope; if not, that is reported, once for a name."""
    if node in state.in_scope:
        return True
    if node in state.from_python:
        return False
    name = node.name
    if state.excused(name) or not state.once(("name", name)):
        return False
    where = span or node.span
    known = state.everywhere.get(name)
    if known is not None:
        state.report(
            "TIR01-scope",
            f"{name!r} is used outside the scope that binds it",
            where,
            related=bound_here(known),
        )
        return False
    kind = tir.Buffer if isinstance(node, tir.Buffer) else tir.Var
    alike = [n for n, found in state.names.items() if isinstance(found, kind)]
    undefined(state, name, where, alike)
    return False


def undefined(state: PrimFuncCheck, name: str, where: Span | None, alike: Iterable[str]) -> None:
    """Report a name that nothing binds, with the one that was probably meant."""
    hint = state.suggestion(name, alike) or state.suggestion(name, state.names)
    if name in state.type_vars:
        hint = f"the TypeVar {name!r} is no dimension of a parameter of this PrimFunc"
    state.report("TIR01-undefined", f"{name!r} is not defined in this PrimFunc", where, help=hint)


def within(span: Span | None, whole: Span | None) -> bool:
    """Whether a place begins in a part of the text."""
    return span is not None and whole is not None and whole[0] <= span[0] < whole[1]


def name_is_bound(state: PrimFuncCheck, name: str, span: Span | None) -> bool:
    """As :func:`is_bound`, of a name in text."""
    found = state.names.get(name)
    if found is not None:
        return True
    return is_bound(state, tir.Buffer(name, ()), span)


def bind(state: PrimFuncCheck, node: Named, span: Span | None) -> None:
    """A statement binds a name: one that its body has not bound."""
    before = state.names.get(node.name)
    if before is not None and before is not node and node.name in state.frame:
        state.report(
            "TIR01-twice",
            f"{node.name!r} is bound a second time in this body",
            span or node.span,
            related=bound_here(before),
        )
    state.enter(node)


def enter_parameters(state: PrimFuncCheck) -> None:
    """The parameters, their buffers, and the variables in the shapes of these."""
    for param in state.function.params:
        if param not in state.function.buffer_map:
            state.enter(param)
            if param.dtype.code != "handle":
                state.scalars.add(param)
    _dimensions_are_determined(state)
    for param, buffer in state.function.buffer_map.items():
        state.in_scope.add(param)
        state.in_scope.update(shape_vars_of(buffer))
        # What Python lends as a dimension is a number of no type, or a list of them.
        for var in shape_vars_of(buffer):
            (state.doubtful if state.captured(var.name) else state.scalars).add(var)
        state.names.update({v.name: v for v in shape_vars_of(buffer)})
        state.enter(buffer)


@rule("TIR17", "PrimFunc")
def _dimensions_are_determined(state: PrimFuncCheck) -> None:
    """Each variable in the shapes of parameters is a parameter, or one of the numbers that a
    buffer has.
    """
    buffers = state.function.buffer_map.values()
    given = {number for buffer in buffers for number in shape_numbers(buffer)}
    for buffer in buffers:
        for var in shape_vars_of(buffer):
            known = var in given or var in state.scalars or state.excused(var.name)
            if not need("TIR17-alone", known) and state.once(("alone", var)):
                state.report(
                    "TIR17-alone",
                    f"no argument determines {var.name!r}: in the shapes of the parameters it is"
                    " never a dimension by itself",
                    buffer.span,
                    help=f"add a parameter `{var.name}: T.{var.dtype}`",
                )


def survey(state: PrimFuncCheck) -> None:
    """Note what is bound anywhere, and the words of the parts that are not understood."""
    for node in evaluated(state.function.body, Node):
        for name in node.bound():
            state.everywhere.setdefault(name.name, name)
        if isinstance(node, tir.OpaqueStmt):
            for found in kept_names(node.text):
                state.text_words.update(found.name.split("."))
