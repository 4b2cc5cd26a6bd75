"""BlockBuilder: emits bindings into functions of a module, each checked as it is emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rlx.checker.derive.state import DerivationState
from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr, Function, GlobalVar, IRModule, StructInfo
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.equal import structural_equal
from rlx.grammar.node import replace
from rlx.grammar.overloaded import expr
from rlx.grammar.python_places import Place, here
from rlx.grammar.tir import PrimExpr, PrimFunc
from rlx.solver.prover import Prover
from rlx.solver.verdict import Verdict
from rlx.transform.builder import states, values
from rlx.transform.builder.errors import misuse, violation
from rlx.transform.builder.finish import finish
from rlx.transform.builder.frame import Frame
from rlx.transform.builder.function_head import head_of
from rlx.transform.builder.names import Names

Given = object
"""What stands for an expression: one, or a number, a text, a tuple or list of such values, a scalar of arithmetic."""

_TENSORS = "rlx.transform.te.tensor"
"""Where the tensors of tensor expressions are, which are imported only where they are used."""


class BlockBuilder:
    """Builds a module, function by function and binding by binding.

    Whatever is emitted is brought into normal form, and its struct info is derived at once, by the rules of the checker. What breaks a
    rule raises :class:`BuildError` at the line that emitted it, and leaves no trace. What may break one is a :class:`BuildWarning`.

    Parameters
    ----------
    module
        A module to go on with; it is not changed. None for an empty one.

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

    def __init__(self, module: IRModule | None = None) -> None:
        base = IRModule({}) if module is None else module
        self._table: dict[GlobalVar, Function | PrimFunc] = dict(base.functions)
        self._module = replace(base, functions=self._table)
        self._signatures = states.Signatures(self._module, self._table)
        self._globals = {gv.name_hint: gv for gv in self._table}
        self._names = Names(self._globals)
        self._alike: dict[object, list[GlobalVar]] = {}
        for gv, function in self._table.items():
            if isinstance(function, PrimFunc):
                self._alike.setdefault(_outline(function), []).append(gv)
        self._frames: list[Frame] = []
        self._found: list[Diagnostic] = []

    # ------------------------------------------------------------ functions

    @contextmanager
    def function(
        self,
        name: str,
        params: Sequence[ast.Var] | ast.Var | None = None,
        *,
        attrs: Mapping[str, object] | None = None,
        private: bool = False,
        pure: bool = True,
        ret_struct_info: StructInfo | str | None = None,
    ) -> Iterator[GlobalVar]:
        """Build a function in a ``with`` statement, whose block ends with :meth:`emit_func_output`.

        Parameters
        ----------
        params
            Its parameters; the shape variables that stand alone in their annotations are in scope. Where they are left out,
            :meth:`emit_func_output` says them, and variables that nothing binds are taken for parameters until then.
        attrs
            Further attributes.
        private
            Whether it can be called only from inside of the module.
        pure
            Whether it promises to have no effects.
        ret_struct_info
            What it promises of its result; by default what is derived. A function that calls itself has to say it.

        Yields
        ------
        GlobalVar
            The function's name, for calls of it.

        Raises
        ------
        BuildError
            If the name is taken, a rule about signatures is broken, or the block ends without an output. The function is then left out.
        """
        place = here()
        given = (params,) if isinstance(params, ast.Var) else tuple(params or ())
        if name in self._globals:
            raise misuse(f"the module has a function {name!r} already", place)
        symbol = {"private": True} if private else {"global_symbol": name}
        ret = None if ret_struct_info is None else values.struct_info(ret_struct_info)
        head = head_of(given, {**(attrs or {}), **symbol}, pure, place, ret)
        gv = GlobalVar(name, place)
        self._signatures.put(gv, head, _promised(head))
        try:
            frame = Frame(self._signatures, gv, head, place)
            frame.adopts = params is None
            self._frames.append(frame)
            self._globals[name] = gv
            self._names.take(name)
            try:
                yield gv
            finally:
                self._frames.pop()
            if frame.finished is None:
                raise misuse(
                    f"the function {name!r} ends without an output: call emit_func_output", place
                )
            self._found += frame.diagnostics
        except BaseException:
            self._globals.pop(name, None)
            del self._table[gv]
            raise

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Open a dataflow block: what :meth:`emit` binds inside of it ends with it, what :meth:`emit_output` binds does not.

        Raises
        ------
        BuildError
            If a dataflow block is open already, or no function is.
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

    # ------------------------------------------------------------ bindings

    def emit(self, value: Given, name_hint: str = "") -> ast.Var:
        """Bind a value to a new variable.

        Parameters
        ----------
        value
            Any expression; what is nested in it gets variables of its own.
        name_hint
            What the variable is called, with a number behind it where that is taken.

        Raises
        ------
        BuildError
            If the binding breaks a rule.
        """
        if self._frames and isinstance(value, Expr):
            frame = self._frames[-1]
            known = None if frame.finished else frame.emit_known(value, name_hint, False)
            if known is not None:
                return known
        place = here()
        frame = self._open("emit", place)
        given = value if isinstance(value, Expr) else self._expr(value, place)
        return frame.emit(given, name_hint, place)

    def emit_output(self, value: Given, name_hint: str = "") -> ast.Var:
        """Bind a value in a dataflow block to a variable that outlives the block.

        Raises
        ------
        BuildError
            If no dataflow block is open, or the binding breaks a rule.
        """
        place = here()
        frame = self._open("emit_output", place)
        if frame.block is None:
            raise misuse(
                "emit_output stands in no dataflow block: open one with bb.dataflow()", place
            )
        return frame.emit(self._expr(value, place), name_hint, place, output=True)

    def emit_match_cast(
        self, value: Given, struct_info: StructInfo | str, name_hint: str = ""
    ) -> ast.Var:
        """Bind the result of a cast, which is checked at run time.

        Parameters
        ----------
        struct_info
            What the value is cast to, as a node or a text. Names of dimensions mean those in scope; new ones are bound by the cast.

        Raises
        ------
        BuildError
            If the cast breaks a rule.
        """
        place = here()
        frame = self._open("emit_match_cast", place)
        target = values.struct_info(struct_info, frame.shape_vars())
        return frame.cast(expr(value, place), target, name_hint, place)

    def emit_func_output(
        self, output: Given, params: Sequence[ast.Var] | ast.Var | None = None
    ) -> GlobalVar:
        """End the function at hand with its result.

        Parameters
        ----------
        params
            The parameters, where :meth:`function` did not say them.

        Raises
        ------
        BuildError
            If a dataflow block is open, the function has an output already, the output breaks a rule, or the parameters are said
            twice, or not all of those that are used.
        """
        place = here()
        frame = self._open("emit_func_output", place)
        if frame.block is not None:
            raise misuse(
                "the dataflow block is still open: call emit_func_output behind its `with` statement",
                place,
            )
        result = expr(output, place)
        if frame.adopts:
            given = (params,) if isinstance(params, ast.Var) else tuple(params or ())
            frame.adopt(ast.Tuple((result, *given)))
            left = [p.name_hint for p in frame.head.params if p not in given]
            if left:
                raise misuse(f"{', '.join(left)}: used, and not among the parameters", place)
            frame.head = replace(frame.head, params=given)
        elif params is not None:
            raise misuse("the parameters are said already, by bb.function(…)", place)
        finish(frame, result, place)
        return frame.name

    def lookup_binding(self, var: ast.Var) -> Expr | None:
        """The value that a variable of a function at hand is bound to; None of parameters and others."""
        for frame in reversed(self._frames):
            found = frame.values.get(var)
            if found is not None:
                return found
        return None

    def normalize(self, value: Given) -> Expr:
        """An expression of which nothing but leaves is nested: what is gets variables, which are emitted.

        Raises
        ------
        BuildError
            If one of these bindings breaks a rule.
        """
        place = here()
        return self._open("normalize", place).flat(expr(value, place), place)

    # ------------------------------------------------------------ tensor expressions

    def call_te(
        self,
        function: Callable[..., Any],
        *args: object,
        primfunc_name_hint: str | None = None,
        **kwargs: object,
    ) -> ast.Call:
        """The call of the PrimFunc that a function of tensor expressions makes; see :func:`rlx.te.call_te`.

        Raises
        ------
        TensorExpressionError
            If an argument has no known shape, or the expression is wrong: at the line that wrote it.
        """
        from rlx.transform.te.calls import call_te

        return call_te(self, function, *args, primfunc_name_hint=primfunc_name_hint, **kwargs)

    def emit_te(
        self,
        function: Callable[..., Any],
        *args: object,
        primfunc_name_hint: str | None = None,
        **kwargs: object,
    ) -> ast.Var:
        """Emit the call of the PrimFunc that a function of tensor expressions makes.

        Parameters
        ----------
        function
            Called with the arguments; gives a tensor of :mod:`rlx.te`, or a tuple of tensors.
        *args, **kwargs
            Values of Relax are converted: tensors to tensors, tuples to tuples, shapes to tuples of scalars, scalars to
            scalars. Everything else is passed as it is.
        primfunc_name_hint
            What the PrimFunc is called; by default as the function.

        Raises
        ------
        TensorExpressionError
            As :meth:`call_te` does.
        """
        call = self.call_te(function, *args, primfunc_name_hint=primfunc_name_hint, **kwargs)
        return self.emit(call)

    # ------------------------------------------------------------ the module

    def add_func(self, function: Function | PrimFunc, name: str) -> GlobalVar:
        """Add a function under a name, with a number behind it where that is taken.

        A function that the module has already, but for its name, is not added again.

        Returns
        -------
        GlobalVar
            Its name, for calls of it.

        Raises
        ------
        BuildError
            If the function breaks a rule.
        """
        if isinstance(function, PrimFunc):
            for gv in self._alike.get(_outline(function), ()):
                known = self._table.get(gv)
                if known is not None and structural_equal(known, _named(function, gv.name_hint)):
                    return gv
        gv = self.declare(name)
        try:
            self.define(gv, function)
        except BaseException:
            self._names.give_back(gv.name_hint, name)
            raise
        if isinstance(function, PrimFunc):
            self._alike.setdefault(_outline(function), []).append(gv)
        return gv

    def update_func(self, gv: GlobalVar | str, function: Function | PrimFunc) -> None:
        """Put another function under a name.

        Raises
        ------
        BuildError
            If there is no function of that name, or the new one breaks a rule.
        """
        place = here()
        name = gv if isinstance(gv, str) else gv.name_hint
        known = self._globals.get(name)
        if known is None or (isinstance(gv, GlobalVar) and gv is not known):
            raise misuse(f"the module has no function {name!r}", place)
        self._set(known, _named(function, name), place)
        for frame in self._frames:
            frame.state.info_of.pop(known, None)

    def _set(self, gv: GlobalVar, function: Function | PrimFunc, place: Place) -> None:
        before = self._table.get(gv)
        self._signatures.put(gv, function)
        found, info = states.check(self._signatures, gv, function)
        if any(d.severity == "error" for d in found):
            if before is None:
                del self._table[gv]
            else:
                self._signatures.put(gv, before)
            raise violation(found, place)
        self._signatures.put(gv, function, info)
        self._found += found

    def declare(self, name: str) -> GlobalVar:
        """A new name for a function, with a number behind it where that is taken; :meth:`define` says which function it is."""
        new = self.global_name(name)
        gv = self._globals[new] = GlobalVar(new, here())
        return gv

    def define(self, gv: GlobalVar, function: Function | PrimFunc) -> None:
        """Put a function under a name that :meth:`declare` gave.

        Raises
        ------
        BuildError
            If the function breaks a rule.
        """
        try:
            self._set(gv, _named(function, gv.name_hint), here())
        except BaseException:
            self._globals.pop(gv.name_hint, None)
            raise

    def global_name(self, hint: str) -> str:
        """A name that no function of the module has."""
        return self._names.new(hint)

    def global_var(self, name: str) -> GlobalVar:
        """The name of a function of the module.

        Raises
        ------
        BuildError
            If there is none.
        """
        found = self._globals.get(name)
        if found is None:
            raise misuse(f"the module has no function {name!r}", here())
        return found

    def lookup_func(self, gv: GlobalVar) -> Function | PrimFunc | None:
        """The function of a name as it stands; None where the module has none."""
        return self._table.get(gv)

    def get(self) -> IRModule:
        """The module as it stands: all functions that are finished."""
        building = {frame.name for frame in self._frames if frame.finished is None}
        functions = {gv: f for gv, f in self._table.items() if gv not in building}
        return replace(self._module, functions=functions)

    # ------------------------------------------------------------ what is known

    def struct_info(self, value: Given) -> StructInfo:
        """What is known of a value of the function at hand.

        Raises
        ------
        BuildError
            If it breaks a rule; nothing is emitted.
        """
        place = here()
        frame = self._open("struct_info", place)
        given = expr(value, place)
        found = frame.state.info_of.get(given)
        return frame.derived(given, place) if found is None else found

    def prove(self, condition: PrimExpr | str) -> Verdict:
        """Whether a condition on shape variables holds wherever the function at hand gets this far.

        Parameters
        ----------
        condition
            ``tir.EQ(n, m)``, ``n < 4``, or a text such as ``"n % 4 == 0"``.
        """
        frame = self._open("prove", here())
        if isinstance(condition, str):
            condition = values.dim(condition, frame.shape_vars())
        return frame.state.prover.always(condition)

    def simplify(self, value: PrimExpr | str) -> PrimExpr:
        """A scalar of the same value, simpler where what is known at this place makes it so."""
        frame = self._open("simplify", here())
        if isinstance(value, str):
            value = values.dim(value, frame.shape_vars())
        return frame.state.prover.simplify(value)

    @property
    def prover(self) -> Prover:
        """The prover, with all that is known at this place."""
        return self._open("prover", here()).state.prover

    @property
    def shape_vars(self) -> Mapping[str, tir.Var]:
        """The shape variables in scope, by name."""
        return self._open("shape_vars", here()).shape_vars()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes about all that was emitted so far."""
        return (*self._found, *(d for frame in self._frames for d in frame.diagnostics))

    def unique_name(self, hint: str) -> str:
        """A name that no variable of the function at hand has, or outside of functions none of the module."""
        return self._frames[-1].names.new(hint) if self._frames else self._names.new(hint)

    # ------------------------------------------------------------ for mutators

    @property
    def frame(self) -> Frame:
        """The function at hand."""
        return self._frames[-1]

    def begin_again(
        self,
        gv: GlobalVar,
        head: Function,
        original: Function,
        taken: Iterable[str],
        place: Place,
    ) -> Frame:
        """Begin to build a function of the module anew; until :meth:`put` calls of it see the old one.

        Raises
        ------
        BuildError
            If its signature breaks a rule.
        """
        around = states.walk(self._signatures, gv)
        states.recursion(self._signatures, around, gv, original)
        if around.diagnostics:
            raise violation(around.diagnostics, place)
        frame = Frame(self._signatures, gv, head, place, taken)
        self._frames.append(frame)
        return frame

    def end_again(self, frame: Frame) -> None:
        """Leave a function that :meth:`begin_again` began, finished or not."""
        self._frames.remove(frame)
        self._found += frame.diagnostics

    def derivation(self) -> DerivationState:
        """A derivation in which nothing is bound yet, and the functions of the module are known."""
        return states.derivation(self._signatures, {})

    def put(self, gv: GlobalVar, function: Function, keep: bool) -> None:
        """Put a function that a frame made under its name; ``keep`` says that it is the old one."""
        self._table[gv] = function
        if keep:
            self._signatures.put(gv, function, self._signatures.of(gv))

    def _expr(self, value: Given, place: Place) -> Expr:
        """What stands for an expression, as one; a tensor of tensor expressions is the call that computes it."""
        if type(value).__module__ != _TENSORS:
            return expr(value, place)
        from rlx.transform.te.calls import call_of

        return call_of(self, value)  # type: ignore[arg-type]

    def _open(self, what: str, place: Place) -> Frame:
        """The function at hand."""
        if not self._frames:
            raise misuse(f"{what} stands in no function: open one with bb.function(…)", place)
        frame = self._frames[-1]
        if frame.finished is not None:
            name = frame.name.name_hint
            raise misuse(f"{what}: the function {name!r} has its output already", place)
        return frame


def _promised(head: Function) -> StructInfo | None:
    """The signature of a function before its body is known."""
    from rlx.checker.derive.naming import signature

    return signature(head)


def _outline(function: PrimFunc) -> object:
    """What equal PrimFuncs have in common, and few others."""
    return tuple((len(b.shape), b.dtype) for b in function.buffer_map.values())


def _named(function: Function | PrimFunc, name: str) -> Function | PrimFunc:
    """A function with the global symbol of its name, where it has one."""
    symbol = function.attrs.get("global_symbol")
    if symbol is None or symbol == name:
        return function
    return replace(function, attrs={**function.attrs, "global_symbol": name})
