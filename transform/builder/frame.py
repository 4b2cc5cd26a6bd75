"""A function under construction: its scopes, its blocks, and the check of each binding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from weakref import proxy

from rlx.checker.derive import module, values
from rlx.checker.derive.bindings import bind, parameter
from rlx.checker.normalize import Blocks, Normalizer
from rlx.checker.well_formed.functions import symbol_is_name
from rlx.checker.well_formed.state import WellFormedCheck
from rlx.checker.well_formed.traversal import begin as enter_function
from rlx.checker.well_formed.traversal import walk_binding, walk_expression
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, DataflowVar, Expr, StructInfo, VarBinding
from rlx.grammar.nodes.by_hand import alone_in
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Span, changed, complete, nodes_in, replace, same
from rlx.grammar.nodes.python_places import Place
from rlx.grammar.nodes.struct_infos import OBJECT, bind_callable, mentioned
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import LEAVES, is_leaf
from rlx.grammar.nodes.visit import free_vars as free_vars_of
from rlx.solver.order import compatibility, free_shape_vars
from rlx.transform.analysis import free_symbolic_vars
from rlx.transform.builder import states
from rlx.transform.builder.apart import AnnotatedScope
from rlx.transform.builder.blocks import GrowingBlocks
from rlx.transform.builder.errors import BuildError, at_python, violation, warn
from rlx.transform.builder.known_calls import (
    ATOMS,
    NOWHERE,
    Key,
    KnownCall,
    KnownCalls,
    SharedInfos,
    call_key,
    has_no_form,
    is_formed,
    is_ordinary,
    is_plain,
    says_all,
    says_shapes,
)
from rlx.transform.builder.numbers import settled

# ---------------------------------------------------------------- the head of a function


def head_of(
    params: Sequence[ast.Var],
    attrs: Mapping[str, object],
    pure: bool,
    place: Place,
    result: StructInfo | None = None,
) -> ast.Function:
    """A function without a body. Its signature binds the shape variables that appear alone in
    it.
    """
    infos = [p.struct_info_annotation for p in params if p.struct_info_annotation is not None]
    alone = alone_in(infos)
    for info in (*infos, *([] if result is None else [result])):
        bind_callable(info, {*alone})
    return ast.Function(
        tuple(params),
        ast.Tuple(()),
        result,
        None if pure else False,
        attrs,
        alone,
        name_span=place,
        span=place,
    )


class Frame:
    """A function under construction.

    Attributes
    ----------
    head
        The function without its body and without the struct info of its result.
    values
        The value that each variable of the function is bound to.
    finished
        The function, once its output is given.
    strengthens
        Whether a rebuilt function gets the derived annotation of its result instead of the old one.
    adopts
        Whether unbound variables become parameters, because the parameters are not given yet.
    adopted, sizes
        The kinds of these variables, and those parameters that only have unbound shape variables.
    diagnostics
        Warnings and notes about what was emitted.
    is_untouched
        Whether only :meth:`keep` has added bindings, and nothing was asked. Not even the signature
        is then checked, if it is that of the old function.
    blocks, known
        The blocks of the current sequence, and its checked calls.
    infos
        One object for equal struct infos.
    in_dataflow
        Whether the current sequence is inside a dataflow block.
    """

    def __init__(
        self,
        signatures: states.Signatures,
        name: ast.GlobalVar,
        head: ast.Function,
        place: Place,
        taken: Iterable[str] = (),
        original: ast.Function | None = None,
    ) -> None:
        self.signatures, self.name, self.head, self.place = signatures, name, head, place
        self.values: dict[ast.Var, Expr] = {}
        self.names = Names(chain(taken, (param.name_hint for param in head.params)))
        self.finished: ast.Function | None = None
        self.strengthens = self.adopts = False
        self.adopted, self.sizes = {ast.Var}, list[ast.Var]()
        self.diagnostics: list[Diagnostic] = []
        self._kept: list[VarBinding | ast.MatchCast | Callable[[Frame], None]] = []
        self.is_untouched = True
        self.known, self.blocks = KnownCalls(), GrowingBlocks(place)
        self.infos = SharedInfos()
        self._plain: dict[StructInfo, tuple[tir.Var, ...]] = {}
        self.in_dataflow = False
        self._normalizer = _Emitting(self)
        self.shared: dict[Expr, Expr] = {}
        """The leaves of what the value at hand has inside; see :class:`Blocks`."""
        self._outermost, self._apart = self.blocks, None
        self._is_begun = original is None or original.params is not head.params
        if self._is_begun:
            self._begin(original)
        else:
            self._kept.append(partial(Frame._begin, original=original))

    def _begin(self, original: ast.Function | None) -> None:
        """Check the signature; ``original`` is the function that is rebuilt."""
        name, head, place = self.name, self.head, self.place
        self._walk = walk = states.walk(self.signatures, name)
        self._state = state = states.derivation(self.signatures, self.values)
        if original is not None:
            states.recursion(self.signatures, walk, name, original)
        symbol_is_name(walk, name, head)
        self.around = enter_function(walk, head, name.name_hint)
        if walk.diagnostics:
            raise violation(walk.diagnostics, place)
        self.opened = module.begin(state, head)
        self.settle(place, len(walk.added), 0)
        self.outer_scope = state.enter()

    # ------------------------------------------------------------ what is known

    _walk: WellFormedCheck
    _state: states.Growing

    @property
    def walk(self) -> WellFormedCheck:
        """The state of the well-formedness check."""
        if self._kept:
            self._replay()
        return self._walk

    @property
    def state(self) -> states.Growing:
        """The state of derivation."""
        if self._kept:
            self._replay()
        return self._state

    def keep(self, binding: VarBinding | ast.MatchCast) -> None:
        """Add a binding of the old program as it is. It is checked when something is asked of what
        is known here: a function that stays as it is costs only its visit.
        """
        self._kept.append(binding)
        if binding.var is not None:
            self.values[binding.var] = binding.value
            if self._apart is not None:
                self._apart.enter([binding.var], self.blocks.last)
        self.blocks.bindings.append(binding)

    def _replay(self) -> None:
        """Check the bindings that were kept."""
        kept, self._kept, self.is_untouched = self._kept, [], False
        self._is_begun, self._apart = True, None
        for each in kept:
            if not isinstance(each, ast.Binding):
                each(self)
            elif type(each) is not VarBinding or not self._stays_legal(each):
                self._check(each, self.place, quiet=True)

    _apart: AnnotatedScope | None
    """What annotations say, from the first new value on until something else is asked."""
    _is_begun: bool
    """Whether the signature is checked, and all bindings so far."""

    def _told_apart(self, value: Expr) -> tuple[Expr, StructInfo | None]:
        """A new value and what it gives, if for this no kept binding has to be checked."""
        if self._is_begun or not self.is_untouched or self.blocks is not self._outermost:
            return value, None
        apart = self._apart
        if apart is None:
            apart = self._apart = AnnotatedScope(
                self.signatures, self.head, self.values, self.infos
            )
            for block in self.blocks:
                apart.enter([b.var for b in block.bindings if b.var is not None], block)
        value = apart.settled(value)
        return value, apart.info(value, self.blocks.last)

    def _is_bound(self, info: StructInfo) -> bool:
        """Whether the signature binds all shape variables of a struct info; a rule may make new ones."""
        return {*self.head.shape_vars}.issuperset(free_shape_vars(info))

    # ------------------------------------------------------------ blocks

    @property
    def is_dataflow(self) -> bool:
        """Whether the current block is a dataflow block."""
        return self.blocks.kind is ast.DataflowBlock

    @property
    def block(self) -> ast.DataflowBlock | None:
        """The current dataflow block."""
        return self.walk.block

    def open_block(
        self,
        kind: type[ast.BindingBlock],
        place: Span | None,
        original: ast.BindingBlock | None = None,
    ) -> None:
        """Continue in a block of this kind; a dataflow block ends the scope of those before it."""
        self.later(partial(Frame._enter_block, kind=kind, place=place))
        self.blocks.open(kind, place, original)

    def later(self, step: Callable[[Frame], None]) -> None:
        """Change the state of the checker, behind the bindings of the old program that were kept:
        when something is asked of it. A step is given the frame, and does not hold it: frames
        without cycles are freed when their function ends.
        """
        if self._kept or self.is_untouched:
            self._kept.append(step)
        else:
            step(self)

    def _enter_block(self, kind: type[ast.BindingBlock], place: Span | None) -> None:
        dataflow = kind is ast.DataflowBlock
        self._walk.block = ast.DataflowBlock((), place) if dataflow else None
        self._state.effects.dataflow = self.in_dataflow or dataflow

    def bindings(self) -> list[Binding]:
        """The bindings of the current block. They may be changed as long as no used binding is
        removed.
        """
        return self.blocks.bindings

    # ------------------------------------------------------------ bindings

    def emit(self, value: Expr, hint: str, place: Place, output: bool = False) -> ast.Var:
        """Bind a value to a new variable. Raises BuildError if the binding violates a rule."""
        if self.adopts:
            self.adopt(value)
        value, info = self._told_apart(value)
        if info is not None and self._is_bound(info):
            local = not output and self.is_dataflow
            unused = self.names.new(hint or ("lv" if local else "gv"))
            var = (DataflowVar if local else ast.Var)(unused, info, place, place)
            self.keep(VarBinding(var, value, place, place))
            return var
        walk = self.walk
        mark, count = len(walk.added), len(self.blocks.bindings)
        local = not output and walk.block is not None
        hint, name = hint or ("lv" if local else "gv"), None
        try:
            key = self._key(value)
            if key is None:
                value = self.flat(value, place)
                key = self._key(value)
            name = self.names.new(hint)
            known = None if key is None else self.known.get(key)
            annotation = None if known is None else known.annotation
            var = (DataflowVar if local else ast.Var)(name, annotation, place, place)
            self._bind_new(VarBinding(var, value, place, place), key, known, place)
        except BuildError:
            if name is not None:
                self.names.give_back(name, hint)
            self._undo(mark, count)
            raise
        return var

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Undo everything emitted in the block if an error is raised."""
        mark, count = len(self.walk.added), len(self.blocks.bindings)
        try:
            yield
        except BuildError:
            self._undo(mark, count)
            raise

    def _undo(self, mark: int, count: int) -> None:
        del self.blocks.bindings[count:]
        self.walk.leave(mark)

    def _key(self, value: Expr) -> Key | None:
        """A key on which the struct info of a call depends here; the state is up to date."""
        walk = self._walk
        return call_key(value, self._state, self.infos, walk.in_scope, walk.block)

    def bind_new(self, binding: VarBinding, place: Place) -> None:
        """Bind a new variable to a value in normal form, and annotate it."""
        if self._kept:
            self._replay()
        key = self._key(binding.value)
        known = None if key is None else self.known.get(key)
        if known is not None:
            complete(binding.var, struct_info_annotation=known.annotation)
        self._bind_new(binding, key, known, place)

    def _bind_new(
        self, binding: VarBinding, key: Key | None, known: KnownCall | None, place: Place
    ) -> None:
        """As :meth:`bind_new`: a value is not checked if a similar one was. ``key`` says what it
        depends on, and ``known`` what is known of it; its variable is then annotated.
        """
        var, walk, state = binding.var, self._walk, self._state
        before = len(state.scope.shape_vars)
        if known is not None or (
            self._copies(binding) if key is None else self.finds_nothing(binding)
        ):
            self.is_untouched = False
            walk.in_scope[var] = walk.block if type(var) is DataflowVar else None
            walk.added.append(var)
            self.values[var] = binding.value
            self.blocks.bindings.append(binding)
            if type(binding.value) is ast.TupleGetItem:
                values.name(state, var, binding.value)
        else:
            self.bind(binding, place)
        if known is not None:
            state.info_of[var] = known.info
            return
        state.info_of[var] = self.infos.shared(state.info_of[var])
        self.annotate(var)
        if key is not None and before == len(state.scope.shape_vars):
            self.known.remember(key, binding.value, var, state)

    def finds_nothing(self, binding: VarBinding) -> bool:
        """Whether a new variable is bound to a tensor of a tuple, or to a call that mentions only
        variables in scope and literals, of which no rule but the operator's own has to be asked, and
        this one has nothing to say. What it derives is then known.
        """
        state, value = self._state, binding.value
        if not (self._takes_tensor(value) or self._asks_operator(value)):
            return False
        known, state.statistics.place = len(state.info_of), binding
        state.bind(binding.var, state.info(value))
        if state.diagnostics or state.doubts:
            state.diagnostics.clear()
            state.doubts.undo()
            self._forget(known)
            return False
        return True

    def _takes_tensor(self, value: Expr) -> bool:
        """Whether a value is a field of a tuple in scope, and a tensor."""
        state = self._state
        if type(value) is not ast.TupleGetItem or state.doubts or state.signed:
            return False
        whole = state.info_of[value.tuple_value]
        fields = whole.fields if type(whole) is ast.TupleStructInfo else ()
        return (
            value.index in range(len(fields)) and type(fields[value.index]) is ast.TensorStructInfo
        )

    def _asks_operator(self, value: Expr) -> bool:
        """Whether no rule but the operator's own has to be asked of a call that has a key."""
        state = self._state
        if type(value) is not ast.Call:
            return False
        if not (
            ATOMS.issuperset(map(type, value.args)) or all(map(self._says_nothing, value.args))
        ):
            return False
        return not (state.doubts or state.signed) and is_plain(value.op.op_name)  # type: ignore[attr-defined]

    def _copies(self, binding: VarBinding) -> bool:
        """Whether a new variable without an annotation is bound to a tensor in scope; it is then
        known.
        """
        state, walk, var, value = self._state, self._walk, binding.var, binding.value
        if not isinstance(value, ast.Var) or var.struct_info_annotation or var.shape_var:
            return False
        home, found = walk.in_scope.get(value, NOWHERE), state.info_of.get(value)
        if home is not None and home is not walk.block:
            return False
        if type(found) is not ast.TensorStructInfo or state.doubts or state.signed:
            return False
        values.name(state, var, value)
        state.info_of[var] = found
        return True

    def _says_nothing(self, arg: Expr) -> bool:
        """Whether no rule has to be asked of an argument whose variables are in scope."""
        kind = type(arg)
        if kind in ATOMS:
            return True
        if kind is ast.Tuple:
            return all(map(self._says_nothing, arg.fields))  # type: ignore[attr-defined]
        if kind is not ast.ShapeExpr:
            return kind is ast.PrimValue and type(arg.value) is tir.IntImm  # type: ignore[attr-defined]
        shape_vars, scalars = self._walk.shape_vars, self._walk.scalars
        stack: list[tir.PrimExpr] = [*arg.values]  # type: ignore[attr-defined]
        while stack:
            dim = stack.pop()
            if type(dim) is tir.IntImm:
                if dim.dtype is not INT64:
                    return False
            elif type(dim) is tir.Add or type(dim) is tir.Mul:
                stack += (dim.a, dim.b)
            elif dim not in shape_vars or dim in scalars:
                return False
        return True

    def bind(self, binding: VarBinding | ast.MatchCast, place: Place, quiet: bool = False) -> None:
        """Check a binding in normal form, and add it to the block at hand. `quiet`: whether to add
        warnings only to :attr:`diagnostics`, as for bindings of the old program. Raises BuildError
        if the binding violates a rule; it is then removed completely.
        """
        self._check(binding, place, quiet)
        info = self._state.casts.get(binding) if type(binding) is ast.MatchCast else None
        self.blocks.bindings.append(binding if info is None else replace(binding, struct_info=info))

    def _check(self, binding: VarBinding | ast.MatchCast, place: Place, quiet: bool) -> None:
        walk, state = self.walk, self._state
        self.is_untouched = False
        said = None
        if type(binding) is ast.MatchCast:
            self.known.clear()  # more is known of dimensions behind it
        elif quiet and type(binding) is VarBinding:
            if self._stays_legal(binding):
                return
            said = says_all(binding, state)
        mark, known, bound = len(walk.added), len(state.info_of), len(walk.bound)
        walk_binding(walk, binding)
        if not walk.diagnostics:
            if said is None:
                bind(state, binding)
            else:
                state.info_of[binding.var] = state.info_of[binding.value] = said  # type: ignore[index]
        try:
            self.settle(place, mark, known, quiet)
        except BuildError:
            while len(walk.bound) > bound:
                walk.bound.popitem()
            raise
        if binding.var is not None:
            self.values[binding.var] = binding.value

    def _stays_legal(self, binding: VarBinding) -> bool:
        """Whether a binding of a legal program is legal here because what it mentions is in scope;
        it is then known. It binds a call, or a field, whose struct info its annotation gives.
        """
        state, walk, value = self._state, self._walk, binding.value
        info = binding.var.struct_info_annotation
        scope, block = walk.in_scope, walk.block
        if type(value) is ast.Call:
            args, callee = value.args, value.op
            if value.sinfo_args or type(callee) is not ast.Op or not is_ordinary(callee.op_name):
                return False
            if value.attrs and nodes_in(value.attrs):
                return False
        elif type(value) is ast.TupleGetItem:
            args = (value.tuple_value,)
        elif type(value) is ast.If:
            args, info = (value.cond,), self._branched(binding.var, value)
        else:
            return self._is_name(binding.var, value)
        for arg in args:
            at = scope.get(arg, NOWHERE)  # type: ignore[call-overload]
            if at is not block and at is not None and not self._is_known(arg):
                return False
        if info is None or state.doubts or state.signed:
            return False
        return self._bound_again(binding.var, value, info)

    def _bound_again(self, var: ast.Var, value: Expr, info: StructInfo) -> bool:
        """Bind a variable of a legal program to a legal value; its annotation is what is known of
        the value. False if that may break a rule.
        """
        walk, plain = self._walk, self._plain
        dims = plain.get(info)
        if dims is None:
            alike = self.infos.shared(info)
            dims = plain.get(alike)
            if dims is None:
                if not is_formed(info) and not (info in walk.sound and says_shapes(info)):
                    return False
                dims = plain[alike] = free_shape_vars(info)
            plain[info] = dims
        local = type(var) is DataflowVar
        if (local and walk.block is None) or var in walk.bound:
            return False
        if not walk.shape_vars.issuperset(dims):
            return False
        if walk.scalars and not walk.scalars.keys().isdisjoint(dims):
            return False
        walk.bound[var] = None
        walk.added.append(var)
        walk.in_scope[var] = walk.block if local else None
        infos = self._state.info_of
        infos[var] = infos[value] = info
        self.values[var] = value
        return True

    def _is_name(self, var: ast.Var, value: Expr) -> bool:
        """Whether a variable of a legal program is bound to another one of the same struct info; it
        is then known.
        """
        state, info = self._state, var.struct_info_annotation
        if not isinstance(value, ast.Var) or info is None or state.doubts or state.signed:
            return False
        home, found = self._walk.in_scope.get(value, NOWHERE), state.info_of.get(value)
        if found is None or (home is not None and home is not self._walk.block):
            return False
        if self.infos.shared(found) is not self.infos.shared(info):
            return False
        if not self._bound_again(var, value, info):
            return False
        values.name(state, var, value)
        return True

    def _branched(self, var: ast.Var, value: ast.If) -> StructInfo | None:
        """The struct info of branches that were closed here, outside of a dataflow block, if it is
        that of both, and of the variable's annotation, and the condition is a Boolean tensor.
        """
        known, said = self._state.info_of, var.struct_info_annotation
        cond, info = known.get(value.cond), known.get(value.true_branch)
        if (
            info is None
            or info is not known.get(value.false_branch)
            or self._walk.block is not None
        ):
            return None
        if type(cond) is not ast.TensorStructInfo or (cond.ndim, cond.dtype) != (0, BOOL):
            return None
        return info if said is None or self.infos.shared(said) is info else None

    def _is_known(self, arg: Expr) -> bool:
        """Whether all that a leaf mentions is in scope."""
        walk, kind = self._walk, type(arg)
        if kind is ast.Constant:
            return True
        if kind is ast.Tuple:
            return all(map(self._is_known, arg.fields))  # type: ignore[attr-defined]
        if kind is ast.ShapeExpr or kind is ast.PrimValue:
            dims = arg.values if kind is ast.ShapeExpr else (arg.value,)  # type: ignore[attr-defined]
            return all(v in walk.shape_vars and v not in walk.scalars for v in tir.free_vars(*dims))
        return walk.in_scope.get(arg, NOWHERE) in (walk.block, None)  # type: ignore[call-overload]

    def rebind(self, binding: VarBinding, value: Expr, place: Place) -> ast.Var:
        """Bind a variable to another value; if the struct info of this value differs, bind a new
        variable. Raises BuildError if the binding violates a rule.
        """
        var, wanted = binding.var, binding.var.struct_info_annotation
        if wanted is not None:
            value, info = self._told_apart(value)
            if info is not None and info is self.infos.shared(wanted):
                self.keep(_with_value(binding, value, place))
                return var
        state, shared = self.state, self.infos.shared
        key = self._key(value)
        if key is None:
            value = self.flat(value, place)
            key = self._key(value)
        self.is_untouched = False
        known = None if key is None or wanted is None else self.known.get(key)
        stays = type(value) is ast.If and self._stays_branched(binding, value)
        if key is None and (stays or self._is_name(var, value)):
            self.blocks.bindings.append(_with_value(binding, value, place))
            return var
        sizes = len(state.scope.shape_vars)
        if wanted is not None:
            before = len(state.info_of)
            found = shared(state.info(value) if known is None else known.info)
            if key is not None and found is shared(wanted):
                says_nothing = known or (not state.diagnostics and self._asks_operator(value))
                if says_nothing and self._bound_again(var, value, wanted):
                    self.blocks.bindings.append(_with_value(binding, value, place))
                    if known is None and sizes == len(state.scope.shape_vars):
                        state.info_of[var] = found
                        self.known.remember(key, value, var, state)
                    return var
            if self._says_else(found, wanted):
                var = type(var)(var.name_hint, None, None, var.span)
            else:
                known = None
            if state.diagnostics:
                self.settle(place, len(self._walk.added), before)
        if var is not binding.var:
            if known is not None:
                complete(var, struct_info_annotation=known.annotation)
            self._bind_new(VarBinding(var, value, place, place), key, known, place)
            return var
        if value is binding.value:
            self.bind(binding, place, quiet=True)
            return var
        self.bind(VarBinding(var, value, place, place), place)
        found = shared(state.info_of[value])
        if (
            key is not None
            and found is shared(state.info_of[var])
            and sizes == len(state.scope.shape_vars)
        ):
            state.info_of[var] = found
            self.known.remember(key, value, var, state)
        return var

    def _stays_branched(self, binding: VarBinding, value: ast.If) -> bool:
        """Whether a variable of a legal program is bound to the same branches but for what is inside
        of them; it is then known.
        """
        old, state = binding.value, self._state
        if type(old) is not ast.If or old.cond is not value.cond or state.doubts or state.signed:
            return False
        info = self._branched(binding.var, value)
        if info is None or self._walk.in_scope.get(value.cond, NOWHERE) is not None:  # type: ignore[call-overload]
            return False
        return self._bound_again(binding.var, value, info)

    def _says_else(self, found: StructInfo, wanted: StructInfo) -> bool:
        """Whether what is known of a value replaces its annotation: it says more, or contradicts
        it. The same in other words is not more: in a branch it may say less behind it.
        """
        if self.infos.shared(found) is self.infos.shared(wanted):
            return False
        if structural_equal(found, wanted):
            return False
        said = compatibility(found, wanted, self.state.prover)
        if said.compatible:
            return not compatibility(wanted, found, self.state.prover).compatible
        return said.never_fits

    def settle(self, place: Place, mark: int, known: int, quiet: bool = False) -> None:
        """Raise the errors that were found and undo the attempt; report warnings."""
        walk, state = self.walk, self._state
        if not walk.diagnostics and not state.diagnostics:
            state.doubts.keep()
            return
        found = [*walk.diagnostics, *state.diagnostics]
        walk.diagnostics.clear()
        state.diagnostics.clear()
        if any(d.is_error for d in found):
            walk.leave(mark)
            walk.reported.clear()
            walk.sound.clear()
            state.unknown_operators.clear()
            self._forget(known)
            state.doubts.undo()
            raise violation(found, place)
        state.doubts.keep()
        for diagnostic in found:
            located = at_python(diagnostic, place)
            self.diagnostics.append(located)
            if located.severity == "warning" and not quiet:
                warn(located, place)

    def _forget(self, known: int) -> None:
        """Forget all struct infos but the first ``known``."""
        while len(self.state.info_of) > known:
            self.state.info_of.popitem()

    def adopt(self, value: Expr) -> None:
        """Make parameters of the unbound variables that an expression uses, and of one more shape,
        which has its other unbound sizes.
        """
        for var in free_vars_of(value):
            if type(var) in self.adopted and var not in self.walk.in_scope:
                self.names.take(var.name_hint)
                self._adopt(var)
        sizes = [size for size in free_symbolic_vars(value) if size not in self.walk.shape_vars]
        if sizes:
            self.sizes.append(ast.Var("", ast.ShapeStructInfo(tuple(sizes), len(sizes))))
            self._adopt(self.sizes[-1])

    def _adopt(self, var: ast.Var) -> None:
        params = (*self.head.params, var)
        grown = head_of(params, self.head.attrs, self.head.is_pure is not False, self.place)
        fresh = grown.shape_vars[len(self.head.shape_vars) :]
        self.head = self.walk.function = grown
        self.walk.enter(var, None)
        self.walk.enter_shapes(fresh)
        inner, self.state.scope = self.state.scope, self.outer_scope
        self.state.bind_scalars(fresh, [var.struct_info_annotation])
        parameter(self.state, var)
        self.state.scope = inner

    def flat(self, value: Expr, place: Place) -> Expr:
        """A value that may be bound directly; nested expressions get their own bindings."""
        state = self.state
        self.shared = {}
        if type(value) is ast.Call and _is_simple(value):
            return settled(self._flat_call(value, place, _NESTED), state)
        if self._normalizer.stays(value, VarBinding):
            return settled(value, state) if isinstance(value, ast.Call) else value
        blocks = _EmittedBlocks(self._normalizer, self, place)
        found = self._normalizer.value(value, blocks)
        return settled(found, state) if isinstance(found, ast.Call) else found

    def _flat_call(self, call: ast.Call, place: Place, depth: int) -> ast.Call:
        """A call with leaves as arguments; what is nested deeper than ``depth`` is flattened
        without recursion.
        """
        if LEAVES.issuperset(map(type, call.args)):
            return call
        args: list[Expr] = []
        for at, arg in enumerate(call.args):
            if arg in self.shared:
                arg = self.shared[arg]
            elif type(arg) not in LEAVES:
                whole = arg
                span = call.arg_spans[at] if at < len(call.arg_spans) else call.span
                if depth and type(arg) is ast.Call and _is_simple(arg):
                    inner = settled(self._flat_call(arg, place, depth - 1), self._state)
                    arg = self._named(inner, span or arg.span, place)
                else:
                    arg = self._inner(arg, place, span)
                self.shared[whole] = arg
            args.append(arg)
        return changed(call, args=same(call.args, args))

    def _named(self, call: ast.Call, span: Span | None, place: Place) -> ast.Var:
        """A new variable that is bound to an inner call."""
        local = self._walk.block is not None
        key = self._key(call)
        known = None if key is None else self.known.get(key)
        annotation = None if known is None else known.annotation
        var = (DataflowVar if local else ast.Var)(
            self.names.new("lv" if local else "gv"), annotation, None, span
        )
        self._bind_new(VarBinding(var, call, span, span), key, known, place)
        return var

    def leaf(self, value: Expr, place: Place) -> Expr:
        """A leaf that has this value."""
        if is_leaf(value):
            return value
        self.shared = {}
        return self._inner(value, place, None)

    def _inner(self, value: Expr, place: Place, span: Span | None) -> Expr:
        return self._normalizer.leaf(value, _EmittedBlocks(self._normalizer, self, place), span)

    def derived(self, value: Expr, place: Place) -> StructInfo:
        """The struct info of an expression, without emitting it. Raises BuildError if it violates a
        rule.
        """
        mark, known = len(self.walk.added), len(self.state.info_of)
        walk_expression(self.walk, value, place)
        info = OBJECT if self.walk.diagnostics else self.state.info(value)
        self.settle(place, mark, known)
        self._forget(known)
        return info

    def annotate(self, var: ast.Var) -> None:
        """Annotate a new variable with its struct info, unless it mentions a variable that no text
        can bind.
        """
        walk, info = self._walk, self._state.info_of[var]
        dims = self._plain.get(info)
        if dims is None and says_shapes(info):
            dims = self._plain[info] = free_shape_vars(info)
        inside = type(var) is DataflowVar
        if (
            walk.shape_vars.issuperset(dims)
            if dims is not None
            else all(
                v in walk.shape_vars
                if type(v) is tir.Var
                else v in walk.in_scope and (inside or type(v) is not DataflowVar)
                for v in mentioned(info)
            )
        ):
            complete(var, struct_info_annotation=info)

    def cast(
        self, value: Expr, target: StructInfo, hint: str, place: Place, output: bool = False
    ) -> ast.Var:
        """Bind the result of a cast; new shape variables denote the dimensions of the value. Raises
        BuildError if the cast violates a rule.
        """
        with self.undone():
            return self._cast(self.leaf(value, place), target, hint, place, output)

    def _cast(
        self, value: Expr, target: StructInfo, hint: str, place: Place, output: bool
    ) -> ast.Var:
        fresh = tuple(v for v in alone_in([target]) if v not in self.walk.shape_vars)
        bind_callable(target, {*self.walk.shape_vars, *fresh})
        local = not output and self.walk.block is not None
        kind = DataflowVar if local else ast.Var
        var = kind(self.names.new(hint or ("lv" if local else "gv")), None, place, place)
        cast = ast.MatchCast(var, value, target, fresh, place, place, place)
        self.bind(cast, place)
        self.annotate(var)
        return var

    def shape_vars(self) -> Mapping[str, tir.Var]:
        """The shape variables in scope, by name."""
        return {var.name: var for var in self.walk.shape_vars}


_NESTED = 20
"""The depth up to which nested calls are bound by recursion."""


def _with_value(binding: VarBinding, value: Expr, place: Place) -> VarBinding:
    """A binding of the old program with another value, or itself."""
    if value is binding.value:
        return binding
    return VarBinding(binding.var, value, place, place)


def _is_simple(call: ast.Call) -> bool:
    """Whether an operator without a form of its own is called, and nothing is nested in its
    attributes.
    """
    if type(call.op) is not ast.Op or not has_no_form(call.op.op_name):
        return False
    return not call.attrs or not nodes_in(call.attrs)


class _Emitting(Normalizer):
    """Names for intermediate results: those of the function under construction."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.head)
        self._frame: Frame = proxy(frame)

    def fresh(self) -> str:
        """A name that the function does not have yet."""
        return self._frame.names.new("lv" if self._frame.block is not None else "gv")

    def is_normal(self, seq: ast.SeqExpr) -> bool:
        """As in general; a sequence that the function has closed is in normal form."""
        return seq in self._frame.walk.walked or super().is_normal(seq)

    def flatten(self, expr: Expr, blocks: Blocks) -> Expr:
        """As in general; the bindings of a sequence that the function has closed, such as a branch
        that stands for its If, move out of it.
        """
        walk = self._frame.walk
        if isinstance(expr, ast.SeqExpr) and expr in walk.walked:
            walk.walked.discard(expr)
            for block in expr.blocks:
                for binding in block.bindings:
                    walk.bound.pop(binding.var, None)  # type: ignore[arg-type]
        return super().flatten(expr, blocks)


class _EmittedBlocks(Blocks):
    """Blocks that are emitted as they grow."""

    def __init__(self, normalizer: Normalizer, frame: Frame, place: Place) -> None:
        super().__init__(normalizer)
        self._frame, self._place = frame, place
        self.shared = frame.shared
        if frame.block is not None:
            self.kind = ast.DataflowBlock

    def open(self, kind: type[ast.BindingBlock], span: object) -> None:
        """Go on in a block of that kind."""
        if kind is not self.kind:
            self.shared.clear()
            self.kind = kind
            self._frame.open_block(kind, self._place)

    def add(self, binding: Binding) -> None:
        """Emit a binding."""
        assert isinstance(binding, VarBinding | ast.MatchCast)
        frame, var = self._frame, binding.var
        if isinstance(binding, VarBinding) and isinstance(binding.value, ast.Call):
            if binding.value.spelled:
                binding = changed(binding, value=settled(binding.value, frame.state))
            if binding.var.struct_info_annotation is None:
                frame.bind_new(binding, self._place)
                return
        frame.bind(binding, self._place)
        if var is not None and var.struct_info_annotation is None:
            frame.annotate(var)
