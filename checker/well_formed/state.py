"""The state of a check of well-formedness, and the rules of variables: bound once, and in scope."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.vdevices import declared, kind_of
from rlx.grammar.nodes.visit import expressions, reached
from rlx.grammar.read.misspelt import is_data_type
from rlx.grammar.suggest import did_you_mean
from rlx.solver.order import free_shape_vars, free_vars
from rlx.spec.registry import need, reported, rule

Next = tuple[ast.Expr, Span | None]
"""An expression that is to be looked at next, and where it is used."""
WalkRule = Callable[[Any, Any, Span | None], Next | None]
"""Takes the state, a node, and the place where it is used; returns the node to visit next, if any."""


class WellFormedCheck:
    """The walk over one module.

    Attributes
    ----------
    rules
        The rule for each kind of expression and of binding.
    in_scope
        The variables in scope, each with the dataflow block that binds it, or None.
    bound
        Every variable bound so far in the module, to find a second binding.
    shape_vars
        Shape variables in scope.
    scalars
        The variable that each shape variable is the value of.
    added
        Variables and shape variables in the order in which they came into scope.
    block
        The current dataflow block, or None.
    later
        The names that the current function binds anywhere, with their variables.
    unread
        Those of ``later`` whose definition has a reported error.
    may_bind
        Whether an unreadable part of the function may have bound further names.
    may_export
        Whether an unreadable part in front of the current place may have exported further names.
    function, global_name
        The current function and the global variable it belongs to.
    pending
        The variables whose values are being walked.
    blocks_around
        The dataflow blocks in which the current function is defined.
    circles, global_calls
        For each global function, the functions on a cycle of calls with it, and its callees.
    as_values, call_values
        The global functions that are used as values, and those that can reach a call of a value.
    holders, local_functions
        The local functions around the current place, and the definitions of all local functions.
    has_form
        Whether an operator prescribes a form for its calls.
    walked
        Sequences and local functions that were checked while they were built, and are not again.
    sound, free
        Annotations whose own form was checked, and their free shape variables: texts repeat
        annotations.
    """

    def __init__(
        self,
        module: ast.IRModule,
        rules: Mapping[type[Node], WalkRule],
        captured: Collection[Node] = frozenset(),
    ) -> None:
        self.rules = rules
        self.module = module
        self.captured = captured
        self.diagnostics: list[Diagnostic] = []
        self.in_scope: dict[ast.Var, ast.DataflowBlock | None] = {}
        self.added: list[ast.Var | tir.Var] = []
        self.bound: dict[ast.Var, None] = {}
        self.shape_vars: set[tir.Var] = set()
        self.scalars: dict[tir.Var, ast.Var] = {}
        self.block: ast.DataflowBlock | None = None
        self.later: dict[str, ast.Var] = {}
        self.unread: set[str] = set()
        self.may_bind = False
        self.may_export = False
        self.function: ast.Function | None = None
        self.global_name: ast.GlobalVar | None = None
        self.pending: set[ast.Var] = set()
        self.blocks_around: tuple[ast.DataflowBlock, ...] = ()
        self.circles: dict[ast.GlobalVar, set[ast.GlobalVar]] = {}
        self.global_calls: Callable[[ast.GlobalVar], Iterable[ast.GlobalVar]] = lambda _: ()
        self.as_values: set[ast.GlobalVar] = set()
        self.call_values: set[ast.GlobalVar] = set()
        self.holders: set[ast.Var] = set()
        self.local_functions: dict[ast.Var, ast.Function] = {}
        self._calls: dict[ast.Var, list[ast.Expr]] = {}
        self.has_form: dict[str, bool] = {}
        self.suggestions: dict[str, str | None] = {}
        self.compared = 0
        self.reported: set[object] = set()
        self.sound: set[ast.StructInfo] = set()
        self.free: dict[ast.StructInfo, tuple[tir.Var, ...]] = {}
        self.walked: set[ast.Expr] = set()

    @cached_property
    def module_names(self) -> list[str]:
        """The names of the module's functions, among which a misspelt one is looked for."""
        return [v.name_hint for v in self.module.functions]

    @cached_property
    def devices(self) -> frozenset[tuple[str, int]]:
        """The devices that the module declares, by kind of target and by position in the list."""
        found: set[tuple[str, int]] = set()
        for at, item in enumerate(self.module.global_infos.get("vdevice", ())):
            found.add(("vdevice", at))
            match item:
                case ast.VDevice(target=target, index=index):
                    found.add((target, index))
                case ("I.vdevice", dict() as target, int() as index, *_):
                    found.add((str(target.get("kind", "")), index))
                case ("I.vdevice", str() as target, int() as index, *_):
                    found.add((kind_of(target), index))
        return frozenset(found.union(declared(self.module)))

    def enter(self, var: ast.Var, block: ast.DataflowBlock | None) -> None:
        """Bring a variable into scope."""
        if var not in self.in_scope:  # else it stays until the scope of its first binding ends
            self.added.append(var)
        self.in_scope[var] = block
        if var.shape_var is not None:
            self.scalars[var.shape_var] = var
            self.enter_shapes((var.shape_var,))

    def enter_shapes(self, variables: tuple[tir.Var, ...]) -> None:
        """Bring shape variables into scope."""
        self.shape_vars.update(variables)
        self.added.extend(variables)

    def leave(self, mark: int) -> None:
        """Remove from the scope what was added since ``added`` had that length."""
        added = self.added
        for var in added[mark:]:
            if isinstance(var, tir.Var):
                self.shape_vars.discard(var)
            else:
                self.in_scope.pop(var, None)
        del added[mark:]

    def calls(self, var: ast.Var) -> list[ast.Expr]:
        """The functions, global and local, that a local function calls."""
        function = self.local_functions.get(var)
        if function is None:
            return []
        if var not in self._calls:
            inside = (e for e in expressions(function) if type(e) is ast.Call)
            self._calls[var] = [callee for call in inside for callee in callees_of(call)]
        return self._calls[var]

    @cached_property
    def called_as_values(self) -> set[ast.GlobalVar]:
        """The global functions that a call of some function value can reach."""
        roots = set(self.as_values)
        for function in self.module.relax_functions.values():
            inner = (e for e in expressions(function) if type(e) is ast.Function)
            for literal in (e for e in inner if e is not function):
                roots.update(e for e in expressions(literal) if isinstance(e, ast.GlobalVar))
        return reached(roots, self.global_calls)

    def report(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        severity: str = "error",
        label: str = "",
        related: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: str | None = None,
        mistake: tuple[object, ...] | None = None,
    ) -> None:
        """Report that a premise fails."""
        found = Diagnostic(
            *(code, severity, message, span, label, related, notes, help), mistake=mistake
        )
        self.diagnostics.append(reported(found))

    def once(self, key: object) -> bool:
        """Whether this is the first report about something: one mistake is one error."""
        if key in self.reported:
            return False
        self.reported.add(key)
        return True

    def once_unbound(self, var: tir.Var) -> bool:
        """Whether this is the first report that a shape variable is not bound, and nothing that
        could not be read may bind it: casts bind them anywhere in a function.
        """
        unread = self.may_bind or var.name in self.unread or var in self.captured
        return not unread and self.once((var, "unbound"))


_INVOKE = frozenset(["relax.invoke_closure", "relax.invoke_pure_closure"])
"""The operators that call the function value they are given first."""


def callees_of(call: ast.Call) -> Iterator[ast.Expr]:
    """The callees of a call: its own, and the functions that an operator is given to call."""
    match call.op:
        case ast.Op(op_name="relax.make_closure"):
            pass
        case ast.Op(op_name=name):
            yield from (arg for arg in call.args if type(arg) is ast.GlobalVar)
            if name in _INVOKE and call.args and isinstance(call.args[0], ast.Var):
                yield call.args[0]
        case callee:
            yield callee


def bound_here(var: ast.Var) -> tuple[Label, ...]:
    """A label at a variable's binding."""
    return () if var.span is None else (Label(var.span, f"{var.name_hint!r} is bound here"),)


COMPARISONS = 100_000
"""The effort after which no more unknown names of a module are compared with the known ones, to
suggest the one that was meant.
"""


@rule("WF01", "well-formed")
def dataflow_variable_is_bound_inside(state: WellFormedCheck, var: ast.DataflowVar) -> None:
    """A dataflow variable is bound in a dataflow block."""
    if not need("WF01-bind", state.block is not None):
        state.report(
            "WF01-bind",
            f"the dataflow variable {var.name_hint!r} is bound outside a dataflow block",
            var.span,
        )


def dataflow_variable_stays_inside(
    state: WellFormedCheck, var: ast.DataflowVar, span: Span | None
) -> None:
    """A dataflow variable is used in its own block (WF01); a function's body is WF11's."""
    home = state.in_scope[var]
    if need("WF01-escape", home is None or home is state.block) or state.may_export:
        return
    if state.once((var, "escape")):
        if home in state.blocks_around:
            captured_by_function(state, var, span)
        else:
            state.report(
                "WF01-escape",
                f"the dataflow variable {var.name_hint!r} is used outside its dataflow block",
                span,
                related=bound_here(var),
                help=(
                    f"export it from the dataflow block: add `R.output({var.name_hint})` at its end"
                ),
            )


def exported_type_stays_inside(
    state: WellFormedCheck, var: ast.Var, declared: Sequence[ast.StructInfo]
) -> None:
    """The annotation of an exported variable names no variable of the block."""
    for info in declared:
        scalars = (state.scalars.get(size) for size in free_shape_vars(info))
        for name in (*free_vars(info), *scalars):
            if type(name) is ast.DataflowVar and state.once((var, name)):
                state.report(
                    "WF01-type",
                    f"{var.name_hint!r} leaves the dataflow block, but its type mentions the"
                    f" dataflow variable {name.name_hint!r}",
                    var.span,
                    severity="warning",
                    related=bound_here(name),
                    help=f"export it, too: `R.output(…, {name.name_hint})`",
                )


@rule("WF02", "well-formed")
def is_bound_once(state: WellFormedCheck, var: ast.Var) -> None:
    """Check that no variable is bound a second time."""
    if not need("WF02-twice", var not in state.bound) and state.once((var, "twice")):
        state.report("WF02-twice", f"{var.name_hint!r} is bound a second time", var.span)
    state.bound[var] = None


@rule("WF03", "well-formed", refuses=True)
def is_in_scope(state: WellFormedCheck, var: ast.Var, span: Span | None) -> None:
    """Report a variable that is used where it is not in scope: nowhere bound, too early, or too
    late.
    """
    name = var.name_hint
    mistake = (name, state.function)  # however often it is used
    if var in state.captured:
        return
    if var in state.pending:
        _uses_itself(state, var, span, mistake)
        return
    later = state.later.get(name)
    known = next((each for each in (var, later) if each in state.bound), None)
    if known is not None:
        state.report(
            "WF03-scope",
            f"{name!r} is used outside the scope that binds it",
            span,
            related=bound_here(known),
            notes=("a variable that a branch or a function binds is not visible outside it",),
            mistake=mistake,
        )
    elif later is None:
        state.report(
            "WF02-undefined",
            f"{name!r} is not defined",
            span,
            help=f'write "{name}", in quotes'
            if is_data_type(name)
            else similar(state, name, names_in_scope(state)),
            mistake=mistake,
        )
    elif later in state.pending:
        _uses_itself(state, later, span, mistake)
    else:
        state.report(
            "WF03-before",
            f"{name!r} is used before it is bound",
            span,
            related=bound_here(later),
            mistake=mistake,
        )


def _uses_itself(
    state: WellFormedCheck, var: ast.Var, span: Span | None, mistake: tuple[object, ...]
) -> None:
    name = var.name_hint
    state.report(
        "WF02-self",
        f"the value of {name!r} uses {name!r} itself, but only a function can be recursive",
        span,
        related=bound_here(var),
        mistake=mistake,
    )


def is_defined_globally(state: WellFormedCheck, var: ast.GlobalVar, span: Span | None) -> None:
    """A global variable is the name of a function of the module (WF02)."""
    lost, help = state.module.lost, similar(state, var.name_hint, ())
    if var.name_hint in lost or var in state.captured or ("" in lost and not help):
        return
    state.report(
        "WF02-global",
        f"the module has no function {var.name_hint!r}",
        span or var.span,
        help=help,
        mistake=("global", var.name_hint, state.module),
    )


def names_in_scope(state: WellFormedCheck) -> Iterator[str]:
    """The names that mean something at the present place: variables and shape variables."""
    for var in reversed(state.in_scope):
        yield var.name_hint
    signature = state.function.shape_vars if state.function is not None else ()
    for dimension in (*state.shape_vars, *signature):
        yield dimension.name


def similar(state: WellFormedCheck, name: str, in_scope: Iterable[str]) -> str | None:
    """Known names that look like this one; looked for once a name, and not for ever."""
    known = state.suggestions
    if name not in known:
        found: list[str] = []
        if state.compared < COMPARISONS:
            from rlx.grammar.suggest import closest_names, effort

            words = (*in_scope, *state.module_names)  # one name may be bound thousands of times
            names = dict.fromkeys(words)
            state.compared += effort(words)
            others = (other for other in names if other not in ("_", name))
            found = closest_names(name, others)
        known[name] = did_you_mean(found)
    return known[name]


@rule("WF09", "well-formed", refuses=True)
def is_no_value(state: WellFormedCheck, op: ast.Op, span: Span | None) -> None:
    """Report an operator that is not a callee."""
    state.report(
        "WF09-value",
        f"the operator {op.op_name!r} is used as a value",
        span,
        help="an operator can only be called; wrap it in a function",
    )


@rule("WF11", "well-formed", refuses=True)
def captured_by_function(state: WellFormedCheck, var: ast.DataflowVar, span: Span | None) -> None:
    """A function in a dataflow block captures none of its dataflow variables."""
    state.report(
        "WF11-capture",
        f"a function defined in a dataflow block uses its dataflow variable {var.name_hint!r}",
        span,
        related=bound_here(var),
        help=f"export it from the dataflow block, or pass {var.name_hint!r} as an argument",
    )
