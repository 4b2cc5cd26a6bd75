"""A function under construction: its scopes, its blocks, and the check of each binding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from rlx.checker.derive import control, functions
from rlx.checker.derive.bindings import bind, parameter
from rlx.checker.derive.control import branch_facts
from rlx.checker.derive.knowledge import DerivationScope
from rlx.checker.derive.naming import signature
from rlx.checker.normal_form import is_leaf
from rlx.checker.normalize import Blocks, Normalizer
from rlx.checker.overwritten import IN_PLACE, overwritten
from rlx.checker.well_formed.functions import symbol_is_name
from rlx.checker.well_formed.traversal import Around, walk_binding, walk_result
from rlx.checker.well_formed.traversal import begin as enter_function
from rlx.checker.well_formed.traversal import end as leave_function
from rlx.grammar import ast, tir
from rlx.grammar.ast import Binding, DataflowVar, Expr, StructInfo, VarBinding
from rlx.grammar.binders import bind_callable, binding_positions
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.equal import structural_equal
from rlx.grammar.node import Span, all_same, changed, replace, same
from rlx.grammar.python_places import Place
from rlx.grammar.struct_infos import OBJECT
from rlx.grammar.visit import free_vars as free_vars_of
from rlx.operators import lookup
from rlx.solver.order import compatibility, free_shape_vars, free_vars
from rlx.transform.builder import states
from rlx.transform.builder.errors import BuildError, at_python, violation, warn
from rlx.transform.builder.names import Names
from rlx.transform.builder.numbers import settled


class _Block:
    """A block under construction; ``original`` is the block that it stands for, if there is one."""

    __slots__ = ("bindings", "kind", "original", "place")

    def __init__(
        self,
        kind: type[ast.BindingBlock],
        place: Span | None,
        original: ast.BindingBlock | None = None,
    ) -> None:
        self.kind, self.place, self.original = kind, place, original
        self.bindings: list[Binding] = []

    def finished(self) -> ast.BindingBlock:
        """The block; the original one where it has the same bindings."""
        if self.original is not None and all_same(self.original.bindings, self.bindings):
            return self.original
        return self.kind(tuple(self.bindings), self.place)


class _Function(NamedTuple):
    """A local function that is open, and what it replaces."""

    head: ast.Function
    var: ast.Var | None
    outside: bool
    around: Around
    opened: functions.Opened


class _Sequence(NamedTuple):
    """What a sequence replaces when it is opened."""

    blocks: list[_Block]
    block: ast.DataflowBlock | None
    dataflow: bool
    mark: int
    scope: DerivationScope
    memo: dict[Key, tuple[StructInfo, StructInfo | None]]


Key = tuple[object, ...]
NOWHERE = object()
_PLAIN = frozenset([int, bool, float, str, type(None)])


class Frame:
    """A function under construction.

    Attributes
    ----------
    head
        The function as far as it is known: everything but the body and what is known of the result.
    values
        What each variable of the function is bound to.
    finished
        The function, once its output is said.
    strengthens
        Whether a function that is built anew promises all that is known of its result, instead of what it promised.
    adopts
        Whether variables that nothing binds become parameters, because those are not said yet.
    diagnostics
        Warnings and notes about what was emitted.
    """

    def __init__(
        self,
        signatures: states.Signatures,
        name: ast.GlobalVar,
        head: ast.Function,
        place: Place,
        taken: Iterable[str] = (),
    ) -> None:
        self.signatures, self.name, self.head, self.place = signatures, name, head, place
        self.values: dict[ast.Var, Expr] = {}
        self.names = Names((*taken, *(param.name_hint for param in head.params)))
        self.finished: ast.Function | None = None
        self.strengthens = self.adopts = False
        self.diagnostics: list[Diagnostic] = []
        self.walk = states.walk(signatures, name)
        self.state = states.derivation(signatures, self.values)
        self._memo: dict[Key, tuple[StructInfo, StructInfo | None]] = {}
        self._normalizer = _Emitting(self)
        self._blocks = [_Block(ast.BindingBlock, place)]
        self._bindings = self._blocks[0].bindings
        self._outside = False
        symbol_is_name(self.walk, name, head.attrs, head)
        self._around = enter_function(self.walk, head, name.name_hint)
        if self.walk.diagnostics:
            raise violation(self.walk.diagnostics, place)
        self._opened = functions.begin(self.state, head)
        self._settle(place, len(self.walk.added), 0)
        self._scope = self.state.enter()

    # ------------------------------------------------------------ blocks

    @property
    def block(self) -> ast.DataflowBlock | None:
        """The dataflow block at hand."""
        return self.walk.block

    def open_block(
        self,
        kind: type[ast.BindingBlock],
        place: Span | None,
        original: ast.BindingBlock | None = None,
    ) -> None:
        """Go on in a block of that kind; a dataflow block ends the scope of those before it."""
        dataflow = kind is ast.DataflowBlock
        self.walk.block = ast.DataflowBlock((), place) if dataflow else None
        self.state.effects.dataflow = self._outside or dataflow
        last = self._blocks[-1]
        if last.kind is not kind or (original is not None and not last.bindings):
            self._blocks.append(_Block(kind, place, original))
            self._bindings = self._blocks[-1].bindings

    def bindings(self) -> list[Binding]:
        """The bindings of the block at hand, which may be changed as long as nothing that is used is taken out."""
        return self._bindings

    def open_sequence(self, place: Span | None) -> _Sequence:
        """Begin a sequence inside of a value, such as a branch; it is a scope of its own."""
        state, walk = self.state, self.walk
        before = _Sequence(
            self._blocks, walk.block, self._outside, len(walk.added), state.enter(), self._memo
        )
        self._outside, self._memo = state.effects.dataflow, {}
        walk.block = None
        self._blocks = [_Block(ast.BindingBlock, place)]
        self._bindings = self._blocks[0].bindings
        return before

    def close_sequence(
        self, before: _Sequence, result: Expr, place: Place, original: ast.SeqExpr | None = None
    ) -> ast.SeqExpr:
        """End a sequence with its result.

        Raises
        ------
        BuildError
            If the result breaks a rule.
        """
        state, walk = self.state, self.walk
        result = self.leaf(result, place)
        mark, known = len(walk.added), len(state.info_of)
        walk.block = None
        walk_result(walk, result, getattr(original, "body_span", None) or place)
        if not walk.diagnostics:
            state.info(result)
        self._settle(place, mark, known)
        blocks = self.blocks()
        if original is None:
            found = ast.SeqExpr(blocks, result, place, place)
        else:
            found = changed(original, blocks=same(original.blocks, blocks), body=result)
        state.info_of[found] = control.end(state, found, before.scope)
        walk.walked.add(found)
        walk.leave(before.mark)
        self._blocks, walk.block, self._outside, _, _, self._memo = before
        self._bindings = self._blocks[-1].bindings
        state.effects.dataflow = self._outside or walk.block is not None
        return found

    def open_function(self, head: ast.Function, var: ast.Var | None, place: Place) -> _Function:
        """Begin a local function, which knows itself by its variable.

        Raises
        ------
        BuildError
            If its signature breaks a rule.
        """
        walk, state = self.walk, self.state
        mark, known = len(walk.added), len(state.info_of)
        if var is not None:
            walk.enter(var, walk.block if type(var) is DataflowVar else None)
            walk.holders.add(var)
            state.info_of[var] = var.struct_info_annotation or signature(head)
        outside = self._outside
        around = enter_function(walk, head, "" if var is None else var.name_hint)
        opened = functions.begin(state, head)
        self._outside = False
        self._settle(place, mark, known)
        return _Function(head, var, outside, around, opened)

    def close_function(
        self, before: _Function, function: ast.Function, place: Place
    ) -> ast.Function:
        """End a local function whose body is known.

        Raises
        ------
        BuildError
            If its result breaks a rule.
        """
        walk, state = self.walk, self.state
        info = functions.end(state, function, state.info(function.body), before.opened)
        leave_function(walk, before.around)
        self._outside = before.outside
        if before.var is not None:
            walk.holders.discard(before.var)
        state.info_of[function] = info
        walk.walked.add(function)
        self._settle(place, len(walk.added), len(state.info_of))
        return function

    @contextmanager
    def assuming(self, condition: Expr, holds: bool) -> Iterator[None]:
        """What a condition says of shape variables is known for the duration."""
        with branch_facts(self.state, self.state.info(condition), holds):
            yield

    # ------------------------------------------------------------ bindings

    def emit(self, value: Expr, hint: str, place: Place, output: bool = False) -> ast.Var:
        """Bind a value to a new variable.

        Raises
        ------
        BuildError
            If the binding breaks a rule.
        """
        known = self.emit_known(value, hint, output)
        if known is not None:
            return known
        if self.adopts:
            self.adopt(value)
        with self._undone():
            return self._emit_checked(value, hint, place, output)

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """What is emitted before an error is taken back."""
        bindings, mark, count = self._bindings, len(self.walk.added), len(self._bindings)
        try:
            yield
        except BuildError:
            del bindings[count:]
            self.walk.leave(mark)
            raise

    def _emit_checked(self, value: Expr, hint: str, place: Place, output: bool) -> ast.Var:
        local = not output and self.walk.block is not None
        key = self._key(value)
        if key is None:
            value = self.flat(value, place)
        hint = hint or ("lv" if local else "gv")
        name = self.names.new(hint)
        var = (DataflowVar if local else ast.Var)(name, None, place, place)
        before = len(self.state.scope.shape_vars)
        try:
            self.bind(VarBinding(var, value, place, place), place)
        except BuildError:
            self.names.give_back(name, hint)
            raise
        self.annotate(var)
        if key is not None and before == len(self.state.scope.shape_vars):
            self._remember(key, value, var)
        return var

    def emit_known(self, value: Expr, hint: str, output: bool) -> ast.Var | None:
        """Bind a call like one that was checked before, with nothing wrong; None of all others."""
        if type(value) is not ast.Call:
            return None
        key = self._key(value)
        known = None if key is None else self._memo.get(key)
        if known is None:
            return None
        info, annotation = known
        walk, place = self.walk, value.span
        if output or walk.block is None:
            var = ast.Var(self.names.new(hint or "gv"), annotation, place, place)
            walk.in_scope[var] = None
        else:
            var = DataflowVar(self.names.new(hint or "lv"), annotation, place, place)
            walk.in_scope[var] = walk.block
        walk.added.append(var)
        self.state.info_of[var] = info
        self.values[var] = value
        self._bindings.append(VarBinding(var, value, place, place))
        return var

    def _key(self, value: Expr) -> Key | None:
        """What the struct info of a call of an operator on variables depends on; None of all else."""
        if type(value) is not ast.Call or type(value.op) is not ast.Op:
            return None
        if value.sinfo_args or value.spelled:
            return None
        state, scope, block = self.state, self.walk.in_scope, self.walk.block
        info_of, poison, vague = state.info_of, state.poison, state.vague
        key: list[object] = [value.op]
        for arg in value.args:
            # A variable of the block at hand, or one that belongs to no dataflow block.
            if scope.get(arg, NOWHERE) is not block and scope.get(arg, NOWHERE) is not None:  # type: ignore[call-overload]
                return None
            key.append(info_of[arg])
        if (poison or vague) and any(arg in poison or arg in vague for arg in value.args):
            return None
        if value.attrs:
            for name, given in value.attrs.items():
                if type(given) not in _PLAIN:
                    return None
                key += (name, type(given), given)
        return tuple(key)

    def _remember(self, key: Key, value: Expr, var: ast.Var) -> None:
        """Keep what is known of a call for the next one like it, if a check would find nothing there."""
        assert isinstance(value, ast.Call) and isinstance(value.op, ast.Op)
        operator, info = lookup(value.op.op_name), self.state.info_of[var]
        plain = isinstance(info, ast.TensorStructInfo | ast.TupleStructInfo)
        if (
            plain
            and operator is not None
            and operator.pure
            and not operator.has_form
            and operator.name not in IN_PLACE
            and value not in self.state.vague
            and value not in self.state.poison
        ):
            self._memo[key] = info, var.struct_info_annotation

    def bind(self, binding: Binding, place: Place, quiet: bool = False) -> None:
        """Check a binding in normal form, and add it to the block at hand.

        Parameters
        ----------
        quiet
            Whether to keep warnings to :attr:`diagnostics`, as of what was there before.

        Raises
        ------
        BuildError
            If it breaks a rule; nothing of it is left then.
        """
        assert isinstance(binding, VarBinding | ast.MatchCast)
        walk, state = self.walk, self.state
        mark, known = len(walk.added), len(state.info_of)
        walk_binding(walk, binding)
        if not walk.diagnostics:
            bind(state, binding)
        self._settle(place, mark, known, quiet)
        if binding.var is not None:
            self.values[binding.var] = binding.value
        self._bindings.append(binding)

    def rebind(self, binding: VarBinding, value: Expr, place: Place) -> ast.Var:
        """Bind a variable anew, to another value; a new variable if something else is known of that.

        Raises
        ------
        BuildError
            If the binding breaks a rule.
        """
        var, wanted = binding.var, binding.var.struct_info_annotation
        value = self.flat(value, place)
        if wanted is not None:
            known = len(self.state.info_of)
            if self._says_else(self.state.info(value), wanted):
                var = type(var)(var.name_hint, None, None, var.span)
            if self.state.diagnostics:
                self._settle(place, len(self.walk.added), known)
        if var is binding.var and value is binding.value:
            self.bind(binding, place, quiet=True)
            return var
        self.bind(VarBinding(var, value, place, place), place)
        if wanted is not None and var is not binding.var:
            self.annotate(var)
        return var

    def _says_else(self, found: StructInfo, wanted: StructInfo) -> bool:
        """Whether what is known of a value replaces its annotation: it says more, or contradicts it."""
        if structural_equal(found, wanted):
            return False
        return compatibility(found, wanted, self.state.prover).kind != "possible"

    def _settle(self, place: Place, mark: int, known: int, quiet: bool = False) -> None:
        """Raise if something was found, and forget what was tried; warn of what may go wrong."""
        found = [*self.walk.diagnostics, *self.state.diagnostics]
        state = self.state
        marks = (state.poison, state.unsaid, state.vague)
        if not found:
            for each in marks:
                each.keep()
            return
        self.walk.diagnostics.clear()
        state.diagnostics.clear()
        if any(d.severity == "error" for d in found):
            self.walk.leave(mark)
            self.walk.reported.clear()
            self.walk.sound.clear()
            state.unknown_operators.clear()
            while len(state.info_of) > known:
                state.info_of.popitem()
            for each in marks:
                each.undo()
            raise violation(found, place)
        for each in marks:
            each.keep()
        for diagnostic in found:
            located = at_python(diagnostic, place)
            self.diagnostics.append(located)
            if located.severity == "warning" and not quiet:
                warn(located, place)

    def adopt(self, value: Expr) -> None:
        """Make parameters of the variables that an expression uses and nothing binds."""
        for var in free_vars_of(value):
            if type(var) is ast.Var and var not in self.walk.in_scope:
                params = (*self.head.params, var)
                grown = head_of(params, self.head.attrs, self.head.is_pure is not False, self.place)
                fresh = grown.shape_vars[len(self.head.shape_vars) :]
                self.head = self.walk.function = grown
                self.names.take(var.name_hint)
                self.walk.enter(var, None)
                self.walk.enter_shapes(fresh)
                inner, self.state.scope = self.state.scope, self._scope
                self.state.bind_scalars(fresh, [var.struct_info_annotation])
                parameter(self.state, var)
                self.state.scope = inner

    def flat(self, value: Expr, place: Place) -> Expr:
        """A value that may be bound as it is; what is nested in it gets bindings of its own."""
        if self._normalizer.stays(value, VarBinding):
            return settled(value, self.state) if isinstance(value, ast.Call) else value
        blocks = _EmittedBlocks(self._normalizer, self, place)
        found = self._normalizer.value(value, blocks)
        return settled(found, self.state) if isinstance(found, ast.Call) else found

    def leaf(self, value: Expr, place: Place) -> Expr:
        """A leaf with this value."""
        if is_leaf(value):
            return value
        return self._normalizer.leaf(value, _EmittedBlocks(self._normalizer, self, place))

    def derived(self, value: Expr, place: Place) -> StructInfo:
        """The struct info of an expression that is not emitted.

        Raises
        ------
        BuildError
            If it breaks a rule.
        """
        mark, known = len(self.walk.added), len(self.state.info_of)
        walk_result(self.walk, value, place)
        info = OBJECT if self.walk.diagnostics else self.state.info(value)
        self._settle(place, mark, known)
        while len(self.state.info_of) > known:
            self.state.info_of.popitem()
        return info

    def annotate(self, var: ast.Var) -> None:
        """Write down what is known of a new variable, unless it mentions what no text can bind."""
        info, walk = self.state.info_of[var], self.walk
        if all(v in walk.shape_vars for v in free_shape_vars(info)) and all(
            v in walk.in_scope for v in free_vars(info)
        ):
            object.__setattr__(var, "struct_info_annotation", info)

    def cast(
        self, value: Expr, target: StructInfo, hint: str, place: Place, output: bool = False
    ) -> ast.Var:
        """Bind the result of a cast; shape variables that are new stand for what the value has.

        Raises
        ------
        BuildError
            If the cast breaks a rule.
        """
        with self._undone():
            return self._cast(self.leaf(value, place), target, hint, place, output)

    def _cast(
        self, value: Expr, target: StructInfo, hint: str, place: Place, output: bool
    ) -> ast.Var:
        lone = dict.fromkeys(v for v in binding_positions(target) if type(v) is tir.Var)
        fresh = tuple(v for v in lone if v not in self.walk.shape_vars)
        bind_callable(target, {*self.walk.shape_vars, *fresh})
        local = not output and self.walk.block is not None
        kind = DataflowVar if local else ast.Var
        var = kind(self.names.new(hint or ("lv" if local else "gv")), None, place, place)
        cast = ast.MatchCast(var, value, target, fresh, place, place, place)
        self.bind(cast, place)
        self.annotate(var)
        self._memo.clear()
        return var

    # ------------------------------------------------------------ end

    def finish(
        self, output: Expr, place: Place, original: ast.Function | None = None
    ) -> ast.Function:
        """End the function with its output.

        Parameters
        ----------
        original
            The function that is being changed: itself where nothing is new, and its promise as far as that still holds.

        Raises
        ------
        BuildError
            If the output breaks a rule.
        """
        with self._undone():
            leaf = self.leaf(output, place)
            mark, known = len(self.walk.added), len(self.state.info_of)
            walk_result(self.walk, leaf, place)
            if not self.walk.diagnostics:
                self.state.info(leaf)
            self._settle(place, mark, known)
            return self._finish(leaf, place, original)

    def _finish(self, leaf: Expr, place: Place, original: ast.Function | None) -> ast.Function:
        blocks = self.blocks()
        if original is None:
            body = ast.SeqExpr(blocks, leaf, place, place)
        else:
            assert isinstance(original.body, ast.SeqExpr)
            kept = same(original.body.blocks, blocks)
            body = changed(original.body, blocks=kept, body=leaf)
        found = self._ended(body, place)
        said = self._promise(found, original)
        finished = changed(
            original or self.head, params=self.head.params, body=body, ret_struct_info=said
        )
        if self.state.overwrites:
            self.state.diagnostics += overwritten(ast.IRModule({self.name: finished}))
            self._settle(place, len(self.walk.added), len(self.state.info_of))
        self.finished = finished
        self.signatures.put(self.name, finished, found)
        return finished

    def _ended(self, body: ast.SeqExpr, place: Place) -> ast.FuncStructInfo:
        """Leave the scopes of the function; what is known of it. If its result breaks a rule, they are as before."""
        state = self.state
        inner, effects = state.scope, state.effects
        shape_vars, shapes = set(state.shape_vars), set(state.shapes)
        info = control.end(state, body, self._scope)
        found = functions.end(state, replace(self.head, body=body), info, self._opened)
        try:
            self._settle(place, len(self.walk.added), len(state.info_of))
        except BuildError:
            inner.facts = self._scope.facts = 0
            state.scope, state.effects = inner, effects
            state.shape_vars, state.shapes = shape_vars, shapes
            raise
        leave_function(self.walk, self._around)
        assert isinstance(found, ast.FuncStructInfo)
        return found

    def _promise(
        self, found: ast.FuncStructInfo, original: ast.Function | None
    ) -> StructInfo | None:
        """What the function says of its result: what it said before if that still holds, else what is known."""
        said = self.head.ret_struct_info
        before = None if original is None else original.ret_struct_info
        if original is not None and before is None:
            return None
        if before is not None:
            result = compatibility(found.ret, before, self.state.prover)
            stronger = self.strengthens and result.kind == "compatible"
            if result.kind != "incompatible" and not stronger:
                return before
        if said is None and found.binders == self.head.shape_vars and not free_vars(found.ret):
            return found.ret
        return said

    def blocks(self) -> tuple[ast.BindingBlock, ...]:
        """The blocks so far; those without bindings leave no trace."""
        made: list[_Block] = []
        for block in self._blocks:
            if not block.bindings:
                continue
            if made and made[-1].kind is block.kind:
                joined = _Block(block.kind, made[-1].place)
                joined.bindings = made.pop().bindings
                joined.bindings += block.bindings
                made.append(joined)
            else:
                made.append(block)
        return tuple([block.finished() for block in made])

    def shape_vars(self) -> Mapping[str, tir.Var]:
        """The shape variables in scope, by name."""
        return {var.name: var for var in self.walk.shape_vars}


class _Emitting(Normalizer):
    """Names for intermediate results: those of the function under construction."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.head)
        self._frame = frame

    def fresh(self) -> str:
        """A name that the function does not have yet."""
        return self._frame.names.new("lv" if self._frame.block is not None else "gv")


class _EmittedBlocks(Blocks):
    """Blocks that are emitted as they grow."""

    def __init__(self, normalizer: Normalizer, frame: Frame, place: Place) -> None:
        super().__init__(normalizer)
        self._frame, self._place = frame, place
        if frame.block is not None:
            self.kind = ast.DataflowBlock

    def open(self, kind: type[ast.BindingBlock], span: object) -> None:
        """Go on in a block of that kind."""
        if kind is not self.kind:
            self.kind = kind
            self._frame.open_block(kind, self._place)

    def add(self, binding: Binding) -> None:
        """Emit a binding."""
        assert isinstance(binding, VarBinding | ast.MatchCast)
        if isinstance(binding, VarBinding) and isinstance(binding.value, ast.Call):
            binding = replace(binding, value=settled(binding.value, self._frame.state))
        self._frame.bind(binding, self._place)
        if binding.var is not None and binding.var.struct_info_annotation is None:
            self._frame.annotate(binding.var)


def head_of(
    params: Sequence[ast.Var],
    attrs: Mapping[str, object],
    pure: bool,
    place: Place,
    result: StructInfo | None = None,
) -> ast.Function:
    """A function without a body, whose signature binds the shape variables that stand alone in it."""
    infos = [p.struct_info_annotation for p in params if p.struct_info_annotation is not None]
    alone = dict.fromkeys(
        v for info in infos for v in binding_positions(info) if type(v) is tir.Var
    )
    for info in (*infos, *([] if result is None else [result])):
        bind_callable(info, alone.keys())
    return ast.Function(
        tuple(params),
        ast.Tuple(()),
        result,
        None if pure else False,
        attrs,
        tuple(alone),
        name_span=place,
        span=place,
    )


__all__ = ["Frame", "head_of"]
