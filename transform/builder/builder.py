"""BlockBuilder: emits bindings into functions of a module and checks each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.checker.derive.naming import signature
from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, StructInfo
from rlx.grammar.nodes.by_hand import WITH_BLOCKS, with_shape_vars
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.python_places import Place, described, here, spelt
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.budget import undisturbed
from rlx.solver.prover import Prover
from rlx.solver.usage_errors import condition as expect_condition
from rlx.solver.verdict import Verdict
from rlx.transform.builder import taken
from rlx.transform.builder.blocks import OpenBlock
from rlx.transform.builder.errors import misuse
from rlx.transform.builder.finish import finish
from rlx.transform.builder.frame import Frame, head_of
from rlx.transform.builder.module_functions import ModuleFunctions

Given = object
"""Values that convert to an expression: an expression, a number, a text, a tuple or list of such
values, a scalar of arithmetic, or a NumPy array.
"""


_NAME = "the name of a variable"
_TENSORS = "rlx.te.tensor"
"""The module of tensor expressions, which is imported only when it is used."""


_NO_SCOPE = "no scope is needed: outside a function, unbound variables count as parameters"
_OF_TVM = {
    "finalize": "write bb.get()",
    "begin_scope": _NO_SCOPE,
    "end_scope": _NO_SCOPE,
    "testing_scope": _NO_SCOPE,
    "_begin_dataflow_block": "write bb.begin_dataflow_block()",
    "_begin_binding_block": "write bb.begin_binding_block()",
    "_end_block": "write bb.end_block()",
    "call_te_with_grad": "gradients stay TVM's; write bb.call_te(…)",
}
"""What to write instead of TVM's other names."""


_OPEN: list[BlockBuilder] = []
"""The builders whose functions are open, from outside to inside."""


class BlockBuilder(ModuleFunctions):
    """Builds a module, function by function and binding by binding.

    Every emitted value is brought into normal form, and its struct info is derived at once, by the
    rules of the checker. A violated rule raises :class:`BuildError` at the line that emitted the
    value, and the module stays unchanged. A possible violation is a :class:`BuildWarning`.

    Parameters
    ----------
    module
        A module to extend; it is not changed. None for an empty one.

    Examples
    --------
    >>> import rlx
    >>> bb = rlx.BlockBuilder()
    >>> x = rlx.Var("x", 'R.Tensor(("n", 4), "float32")')
    >>> with bb.function("main", [x]):
    ...     with bb.dataflow():
    ...         lv = bb.emit(rlx.op.add(x, x))
    ...         gv = bb.emit_output(rlx.op.nn.relu(lv))
    ...     bb.emit_func_output(gv)
    >>> rlx.check(bb.get()).ok
    True
    """

    @spelt
    def __init__(self, module: ast.IRModule | None = None) -> None:
        super().__init__(module)
        self._begun: list[tuple[Frame | None, int]] = []
        """The blocks that are begun: the frame of one that stands by itself, and the number of
        blocks before it.
        """
        self._ended: set[OpenBlock] = set()

    # ------------------------------------------------------------ functions

    @spelt
    @contextmanager
    def function(
        self,
        name: str,
        params: Sequence[ast.Var] | ast.Var | None = None,
        attrs: Mapping[str, object] | None = None,
        pure: bool = True,
        private: bool = False,
        ret_struct_info: StructInfo | str | None = None,
    ) -> Iterator[GlobalVar]:
        """Build a function in a ``with`` statement, whose block ends with :meth:`emit_func_output`.

        Parameters
        ----------
        params
            Its parameters; the shape variables that are dimensions of their annotations are in
            scope. If they are omitted, :meth:`emit_func_output` gives them, and unbound variables
            count as parameters until then.
        attrs
            Further attributes.
        private
            Whether it can be called only from inside the module.
        pure
            Whether it is declared to have no side effects.
        ret_struct_info
            The annotation of its result; by default the derived one. A function that calls itself
            needs it.

        Yields
        ------
        GlobalVar
            The function's name, for calls of it.

        Raises
        ------
        BuildError
            If the name is taken, the signature violates a rule, or the block ends without an
            output. The function is then omitted.
        """
        place = here()
        given = taken.parameters(params, place)
        if taken.function_name(name, place) in self._globals:
            raise misuse(f"the module already has a function {name!r}", place)
        taken.flag(pure, "pure", place)
        inside = taken.flag(private, "private", place)
        symbol = {"private": True} if inside else {"global_symbol": name}
        ret = None if ret_struct_info is None else taken.struct_info(ret_struct_info, place)
        head = head_of(given, {**taken.attributes(attrs, place), **symbol}, pure, place, ret)
        gv = GlobalVar(name, place)
        self._signatures.put(gv, head, signature(head))
        try:
            frame = Frame(self._signatures, gv, head, place)
            frame.adopts = params is None
            self._frames.append(frame)
            self._globals[name] = gv
            self._names.take(name)
            _OPEN.append(self)
            try:
                with undisturbed():
                    yield gv
            finally:
                _OPEN.remove(self)
                self._frames.pop()
            if frame.finished is None:
                raise misuse(
                    f"the function {name!r} ends without an output: call emit_func_output", place
                )
            self._found += frame.diagnostics
        except BaseException:
            self._globals.pop(name, None)
            self._signatures.remove(gv)
            raise

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Open a dataflow block. Variables of :meth:`emit` are local to the block; those of
        :meth:`emit_output` are visible after it.

        Raises
        ------
        BuildError
            If a dataflow block is already open, or no function is open.
        """
        place = here()
        frame = self._open("dataflow", place)
        if frame.block is not None:
            raise misuse("a dataflow block is open already: they do not nest", place)
        frame.open_block(ast.DataflowBlock, place)
        try:
            yield
        finally:
            frame.open_block(ast.BindingBlock, place)

    @staticmethod
    def current() -> BlockBuilder | None:
        """The builder whose function is being built in the innermost ``with`` statement."""
        return _OPEN[-1] if _OPEN else None

    def begin_dataflow_block(self) -> None:
        """Open a dataflow block, which :meth:`end_block` ends; :meth:`dataflow` does both.

        Outside a function, the block stands by itself: unbound variables count as parameters.
        """
        self._begin(ast.DataflowBlock, here())

    def begin_binding_block(self) -> None:
        """As :meth:`begin_dataflow_block`, for an ordinary block."""
        self._begin(ast.BindingBlock, here())

    def _begin(self, kind: type[ast.BindingBlock], place: Place) -> None:
        frame = self._innermost
        if frame is not None and frame.block is not None:
            raise misuse("a dataflow block is open already: they do not nest", place)
        if frame is None or frame.finished is not None:
            frame = alone = self._lone(place)
        else:
            alone = None
        frame.open_block(kind, place)
        frame.blocks.begin(OpenBlock(kind, place))
        self._begun.append((alone, len(list(frame.blocks)) - 1))

    def end_block(self) -> ast.BindingBlock:
        """End a block that was begun by :meth:`begin_dataflow_block` or
        :meth:`begin_binding_block`.

        Returns
        -------
        BindingBlock
            The block with its bindings, without those of blocks inside of it.

        Raises
        ------
        BuildError
            If there is none.
        """
        place = here()
        if not self._begun:
            raise misuse("there is no block to end: begin one with begin_dataflow_block()", place)
        (lone, first), frame = self._begun.pop(), self.frame
        kind = ast.BindingBlock if frame.block is None else ast.DataflowBlock
        own = [each for each in list(frame.blocks)[first:] if each not in self._ended]
        self._ended = {*self._ended, *own} if self._begun else set()
        made = kind(tuple(binding for each in own for binding in each.bindings), place)
        if lone is None:
            frame.open_block(ast.BindingBlock, place)
            frame.blocks.begin(OpenBlock(ast.BindingBlock, place))
        else:
            self.end_again(lone)
        return made

    def _lone(self, place: Place) -> Frame:
        """Begin an expression or a block outside of functions; its unbound variables count as
        parameters.
        """
        head = head_of((), {}, False, place)
        frame = self.begin_again(GlobalVar(self.unique_name("main")), head, head, (), place)
        frame.adopts, frame.adopted = True, {ast.Var, ast.DataflowVar}
        return frame

    # ------------------------------------------------------------ bindings

    @spelt
    def emit(self, expr: Given, name_hint: str = "") -> ast.Var:
        """Bind a value to a new variable.

        Parameters
        ----------
        expr
            Any expression; nested expressions are bound to variables of their own.
        name_hint
            The name of the variable; a number is appended if the name is taken.

        Raises
        ------
        BuildError
            If the binding violates a rule.
        """
        place = here()
        frame = self._open("emit", place)
        given = expr if isinstance(expr, Expr) else self._expr(expr, place)
        if type(given) in WITH_BLOCKS:
            given = with_shape_vars(given, frame.walk.shape_vars)
        hint = name_hint if type(name_hint) is str else taken.text(name_hint, _NAME, place)
        return frame.emit(given, hint, place)

    @spelt
    def emit_output(self, output: Given, name_hint: str = "") -> ast.Var:
        """Bind a value in a dataflow block to a variable that outlives the block.

        Raises
        ------
        BuildError
            If no dataflow block is open, or the binding violates a rule.
        """
        place = here()
        frame = self._open("emit_output", place)
        if frame.block is None:
            raise misuse(
                "emit_output must be inside a dataflow block: open one with bb.dataflow()", place
            )
        hint = taken.text(name_hint, _NAME, place)
        return frame.emit(self._expr(output, place), hint, place, output=True)

    @spelt
    def emit_match_cast(
        self, value: Given, struct_info: StructInfo | str, name_hint: str = ""
    ) -> ast.Var:
        """Bind the result of a cast, which is checked at run time.

        Parameters
        ----------
        struct_info
            The target of the cast, as a node or a text. Names of dimensions refer to those in
            scope; the cast binds new ones.

        Raises
        ------
        BuildError
            If the cast violates a rule.
        """
        place = here()
        frame = self._open("emit_match_cast", place)
        target = taken.struct_info(struct_info, place, frame.shape_vars())
        hint = taken.text(name_hint, _NAME, place)
        given = taken.value(value, place)
        if frame.adopts:
            frame.adopt(given)
        return frame.cast(given, target, hint, place)

    match_cast = emit_match_cast
    """TVM's name of :meth:`emit_match_cast`."""

    @spelt
    def emit_normalized(self, binding: ast.Binding) -> None:
        """Emit a binding in normal form under its own variable.

        Raises
        ------
        BuildError
            If it is not a binding in normal form, or violates a rule.
        """
        place = here()
        frame = self._open("emit_normalized", place)
        if not isinstance(binding, ast.VarBinding | ast.MatchCast):
            raise misuse(f"expected a binding, found {described(binding)}", place)
        if frame.adopts:
            frame.adopt(binding.value)
        binding = with_shape_vars(binding, frame.walk.shape_vars)
        if frame.flat(binding.value, place) is not binding.value:
            raise misuse(f"the value is not in normal form: {binding.value}", place)
        with frame.undone():
            frame.bind(binding, place)
        if binding.var is not None:
            frame.names.take(binding.var.name_hint)
            if binding.var.struct_info_annotation is None:
                frame.annotate(binding.var)

    @spelt
    def emit_func_output(
        self, output: Given, params: Sequence[ast.Var] | ast.Var | None = None
    ) -> GlobalVar:
        """End the current function with its result.

        Parameters
        ----------
        params
            The parameters, if :meth:`function` did not give them.

        Raises
        ------
        BuildError
            If a dataflow block is open, the function already has an output, the output violates a
            rule, or the parameters are given twice or are incomplete.
        """
        place = here()
        frame = self._open("emit_func_output", place)
        if frame.block is not None:
            raise misuse(
                "the dataflow block is still open: "
                "call emit_func_output after its `with` statement",
                place,
            )
        result = taken.value(output, place)
        if frame.adopts:
            given = taken.parameters(params, place)
            frame.adopt(ast.Tuple((result, *given)))
            known = (*given, *frame.sizes)
            left = [p.name_hint for p in frame.head.params if p not in known]
            if left:
                raise misuse(f"{', '.join(left)}: used, but not a parameter", place)
            sizes = head_of(given, {}, True, place).shape_vars
            for size in frame.head.shape_vars:
                if size not in sizes:
                    raise misuse(f"{size.name}: used, but not a dimension of a parameter", place)
            frame.head = replace(frame.head, params=given, shape_vars=sizes)
        elif params is not None:
            raise misuse("the parameters are already given to bb.function(…)", place)
        finish(frame, result, place)
        return frame.name

    @spelt
    def normalize(self, expr: Given) -> Expr:
        """An expression in normal form. In a function, nested expressions are bound to new
        variables, which are emitted; outside, they are bound in a sequence, and a function is
        returned in normal form.

        Raises
        ------
        BuildError
            If one of these bindings violates a rule.
        """
        place = here()
        given = taken.value(expr, place)
        frame = self._innermost
        if frame is not None and frame.finished is None:
            if frame.adopts:
                frame.adopt(given)
            with frame.undone():
                return frame.flat(given, place)
        if isinstance(given, ast.Function):
            return normalize_function(with_shape_vars(given))
        frame = self._lone(place)
        try:
            frame.adopt(given)
            found = frame.flat(given, place)
            blocks = frame.blocks.finished()
        finally:
            self.end_again(frame)
        return ast.SeqExpr(blocks, found, place, place) if blocks else found

    # ------------------------------------------------------------ queries

    def lookup_binding(self, var: ast.Var) -> Expr | None:
        """The value that a variable of the current function is bound to; None for parameters and
        other variables.

        Raises
        ------
        BuildError
            If it is not a variable.
        """
        if not isinstance(var, ast.Var):
            raise misuse(f"expected a variable, found {described(var)}", here())
        for frame in reversed(self._frames):
            found = frame.values.get(var)
            if found is not None:
                return found
        return None

    @spelt
    def struct_info(self, value: Given) -> StructInfo:
        """The struct info of a value in the current function, or outside of functions.

        Raises
        ------
        BuildError
            If the value violates a rule; nothing is emitted.
        """
        place = here()
        given, frame = taken.value(value, place), self._innermost
        if frame is not None and frame.finished is None:
            if frame.adopts:
                frame.adopt(given)
            found = frame.state.info_of.get(given)
            return frame.derived(given, place) if found is None else found
        frame = self._lone(place)
        try:
            frame.adopt(given)
            return frame.derived(given, place)
        finally:
            self.end_again(frame)

    def prove(self, condition: PrimExpr | str) -> Verdict:
        """Whether a condition on shape variables always holds at the current position.

        Parameters
        ----------
        condition
            ``tir.EQ(n, m)``, ``n < 4``, or a text such as ``"n % 4 == 0"``.

        Raises
        ------
        BuildError
            If it is not a condition.
        """
        place = here()
        frame = self._open("prove", place)
        given = taken.scalar(condition, place, frame.shape_vars())
        try:
            expect_condition(given)
        except TypeError as error:
            raise misuse(str(error), place) from None
        return frame.state.prover.always(given)

    def simplify(self, value: PrimExpr | str) -> PrimExpr:
        """A scalar of the same value, simplified with the facts known at the current position.

        Raises
        ------
        BuildError
            If it is not a scalar.
        """
        place = here()
        frame = self._open("simplify", place)
        return frame.state.prover.simplify(taken.scalar(value, place, frame.shape_vars()))

    @property
    def prover(self) -> Prover:
        """The prover, with all facts known at the current position."""
        return self._open("prover", here()).state.prover

    @property
    def shape_vars(self) -> Mapping[str, tir.Var]:
        """The shape variables in scope, by name."""
        return self._open("shape_vars", here()).shape_vars()

    def unique_name(self, name_prefix: str) -> str:
        """A name that is unused in the current function or, outside functions, in the module.

        Raises
        ------
        BuildError
            If it is not a text.
        """
        text = taken.text(name_prefix, "a name", here())
        frame = self._innermost
        return (self._names if frame is None else frame.names).new(text)

    get_unique_name = unique_name
    """TVM's name of :meth:`unique_name`."""

    def current_block_is_dataflow(self) -> bool:
        """Whether the current block is a dataflow block."""
        frame = self._innermost
        return frame is not None and frame.block is not None

    def _open(self, what: str, place: Place) -> Frame:
        """The open function. Raises BuildError if there is none, or it has its output already."""
        frame = self._frames[-1] if self._frames else None
        if frame is None:
            raise misuse(f"{what} must be inside a function: open one with bb.function(…)", place)
        if frame.finished is not None:
            name = frame.name.name_hint
            raise misuse(f"{what}: the function {name!r} already has its output", place)
        return frame

    # ------------------------------------------------------------ tensor expressions

    def call_te(
        self,
        func: Callable[..., Any],
        *args: object,
        primfunc_name_hint: str | None = None,
        primfunc_attrs: Mapping[str, object] | None = None,
        **kwargs: object,
    ) -> ast.Call:
        """The call of the PrimFunc that a function of tensor expressions makes; see
        :func:`rlx.te.call_te`.

        Raises
        ------
        TensorExpressionError
            If an argument has no known shape, or the expression is wrong. The error has the line
            that wrote it.
        """
        from rlx.te.calls import call_te

        named = {"primfunc_name_hint": primfunc_name_hint, "primfunc_attrs": primfunc_attrs}
        return call_te(self, func, *args, **named, **kwargs)  # type: ignore[arg-type]

    def emit_te(
        self,
        func: Callable[..., Any],
        *args: object,
        name_hint: str = "",
        primfunc_name_hint: str | None = None,
        primfunc_attrs: Mapping[str, object] | None = None,
        **kwargs: object,
    ) -> ast.Var:
        """Emit the call of the PrimFunc that a function of tensor expressions makes.

        Parameters
        ----------
        func
            Called with the arguments; returns a tensor of :mod:`rlx.te`, or a tuple of tensors.
        *args, **kwargs
            Values of Relax are converted: tensors to tensors, tuples to tuples, shapes to tuples of
            scalars, scalars to scalars. Everything else is passed as it is.
        name_hint
            The name of the variable.
        primfunc_name_hint, primfunc_attrs
            The name of the PrimFunc, by default that of the function, and further attributes.

        Raises
        ------
        TensorExpressionError
            As :meth:`call_te` does.
        """
        named = {"primfunc_name_hint": primfunc_name_hint, "primfunc_attrs": primfunc_attrs}
        return self.emit(self.call_te(func, *args, **named, **kwargs), name_hint)  # type: ignore[arg-type]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            hint = f"; {_OF_TVM[name]}" if name in _OF_TVM else ""
            raise AttributeError(f"BlockBuilder has no attribute {name!r}{hint}")

    def _expr(self, value: Given, place: Place) -> Expr:
        """A value as an expression; a tensor of tensor expressions is the call that computes it."""
        if value is None:
            raise misuse("expected a value, found None; null is rlx.op.null_value()", place)
        if type(value).__module__ != _TENSORS:
            return taken.value(value, place)
        from rlx.te.calls import call_of

        return call_of(self, value)  # type: ignore[arg-type]
