"""ExprMutator: transforms programs with a builder that checks all changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from rlx.checker.derive.module import bottom_up
from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo
from rlx.grammar.nodes.by_hand import refuse_wrong_parts
from rlx.grammar.nodes.node import Node, changed, nodes_in, replace, same
from rlx.grammar.nodes.python_places import (
    MisuseError,
    Place,
    described,
    here,
    module_of,
    of_kind,
    spelt,
)
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import bindings, bound_vars, called_globals
from rlx.grammar.stack import recursion_room
from rlx.solver.budget import undisturbed
from rlx.transform.builder import taken
from rlx.transform.builder.apart import is_kept_apart
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.builder.errors import BuildError, misuse
from rlx.transform.builder.finish import finish
from rlx.transform.builder.frame import Frame, head_of
from rlx.transform.builder.nested import (
    assuming,
    close_function,
    close_sequence,
    open_function,
    open_sequence,
)
from rlx.transform.visitors.dispatch import (
    EXPRESSIONS,
    missing_attribute,
    module_around,
    refuse_arguments,
    unknown_method,
    unseen_leaves,
)

Changed = TypeVar("Changed", IRModule, ast.Function)


_OF_INFOS = (
    *("visit_struct_info", "visit_prim_expr", "visit_expr", "visit_var", "visit_dataflow_var"),
    *("visit_shape_expr", "visit_prim_value"),
)
"""The methods that see the parts of an annotation."""


class ExprMutator:
    """Transforms a module or a function into a new one, function by function and binding by binding.

    A subclass overrides the methods for the nodes that it changes. They have the names of
    :class:`ExprVisitor`'s methods and return the replacement of the node. Unchanged parts are
    shared: the same objects, up to the whole module. Changed parts are derived and checked again
    when they are emitted: a violated rule raises :class:`rlx.BuildError`.

    In a method for bindings, or for a node inside one, ``self.builder.emit(…)`` binds further
    values before it: one binding becomes several. A binding whose method binds nothing is removed.
    Its variable must then be unused, or :meth:`replace_var` must give a replacement.

    Attributes
    ----------
    builder
        The builder of the new module.

    Examples
    --------
    >>> import rlx
    >>> class Halve(rlx.ExprMutator):
    ...     def visit_call(self, call):
    ...         if call.op_name == "relax.nn.relu":
    ...             return rlx.op.multiply(call.args[0], rlx.const(0.5))
    ...         return super().visit_call(call)
    """

    strengthens = False
    """Whether result annotations are replaced by more precise derived ones."""
    builder: BlockBuilder
    _keeps_infos = _keeps_vars = True
    """Whether no method of the class looks at annotations, and at variables where they are bound."""
    _plain: frozenset[type[Expr]] = frozenset()
    """The leaves that no method of the class looks at."""
    _changed: set[GlobalVar]
    _retyped: set[GlobalVar]
    """The changed functions, and those of another type."""
    _vars: dict[ast.Var, Expr]
    _place: Place | None
    _opened: tuple[ast.Function, GlobalVar | ast.Var] | None
    """The function that :meth:`visit_function` is to visit next, with its name."""
    _closed: ast.Function
    """What it made of it."""

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        """Set up the state of the walk before ``__init__`` of a subclass, which may not call ours."""
        made = super().__new__(cls)
        made._vars, made._place, made._changed, made._retyped = {}, None, set(), set()
        made._opened = None
        made._inside = _Inside(made)
        return made

    def __init__(self, *args: object, **keywords: object) -> None:
        refuse_arguments(self, ExprMutator, bool(args or keywords), "")

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        problem = unknown_method(cls, ExprMutator)
        if problem is not None:
            raise TypeError(problem)
        own = {name for name in _OF_INFOS if getattr(cls, name) is not getattr(ExprMutator, name)}
        cls._keeps_infos = own.isdisjoint(_OF_INFOS)
        cls._keeps_vars = cls._keeps_infos and all(
            getattr(cls, name) is getattr(ExprMutator, name)
            for name in ("visit_var_def", "visit_dataflow_var_def")
        )
        cls._plain = unseen_leaves(cls, ExprMutator)

    _inside: _Inside

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    # ------------------------------------------------------------ wholes

    def __call__(self, subject: Changed) -> Changed:
        """The module with each of its Relax functions visited, or the function visited; the same
        object if nothing changes.

        Raises
        ------
        BuildError
            If what a method returned breaks a rule.
        MisuseError
            If it is neither a module nor a function.
        """
        if not isinstance(subject, ast.Function):
            return self._of_module(module_of(subject))
        gv, module = module_around(subject)
        return self._of_module(module).functions[gv]  # type: ignore[return-value]

    def _of_module(self, module: IRModule) -> IRModule:
        with self._begun(), recursion_room(), undisturbed():
            self.builder, self._changed, self._retyped = BlockBuilder(module), set(), set()
            relax = module.relax_functions
            for gv in self.in_order(relax):
                self.visit_global_function(gv, relax[gv])
            found = self.builder.get()
        kept = found.functions.keys() == module.functions.keys()
        if kept and all(found.functions[gv] is f for gv, f in module.functions.items()):
            return module
        return found

    def _alone(self, expr: Expr) -> Expr:
        """The replacement of an expression outside a module: its free variables count as
        parameters, and what is emitted comes before it in a sequence.
        """
        of_kind(expr, Expr, "an expression")
        if isinstance(expr, ast.Function):
            return self(expr)
        with self._lone(expr) as frame:
            found = self._method(EXPRESSIONS[type(expr)])(expr)
            made = found if isinstance(found, Expr) else taken.value(found, self.place)
            blocks, place = frame.blocks.finished(), self.place
        return ast.SeqExpr(blocks, made, place, place) if blocks else made

    @contextmanager
    def _lone(self, expr: Expr) -> Iterator[Frame]:
        """Visit what stands outside a module: its free variables count as parameters."""
        called = frozenset(gv.name_hint for gv in called_globals(expr))
        self.builder = BlockBuilder(IRModule({}, lost=called))
        with self._begun() as place, recursion_room():
            head = head_of((), {}, False, place)
            names = (var.name_hint for var in bound_vars(expr))
            frame = self.builder.begin_again(GlobalVar("main"), head, head, names, place)
            frame.adopted = {ast.Var, ast.DataflowVar}
            frame.adopt(expr)
            try:
                yield frame
            finally:
                self.builder.end_again(frame)

    def in_order(self, functions: Mapping[GlobalVar, ast.Function]) -> Iterable[GlobalVar]:
        """The functions in the order of the visit: a function without an annotated result comes
        before its callers.
        """
        return bottom_up(functions, {g for g, f in functions.items() if f.ret_struct_info is None})

    def visit_global_function(self, gv: GlobalVar, function: ast.Function) -> None:
        """Visit a function of the module by :meth:`visit_function`, and replace it by the result."""
        with self._begun():
            self._opened, self._closed = (function, gv), function
            made = self._method("visit_function")(function)
            if not isinstance(made, ast.Function):
                raise self._wrong("visit_function", made, "the function")
            if made is not self._closed:  # the method changed it, or made its own
                self.builder.update_func(gv, made)
                self._changed.add(gv)
                self._retyped.add(gv)

    def _whole(self, gv: GlobalVar, function: ast.Function) -> ast.Function:
        """Make a function of the module anew, and store it; the new function."""
        normal = normalize_function(function)
        with self._begun() as place:
            params = same(normal.params, map(self._bound_var, normal.params))
            head = changed(normal, params=params, body=ast.Tuple(()), ret_struct_info=None)
            frame = self.builder.begin_again(gv, head, normal, _names(normal), place)
            frame.strengthens = self.strengthens
            # A result that is not annotated may follow from itself through other callees.
            others = self._changed if normal.ret_struct_info is None else self._retyped
            if others and not others.isdisjoint(called_globals(normal)):
                frame.is_untouched = False  # its callees are others now
            try:
                body = normal.body
                assert isinstance(body, ast.SeqExpr)
                result = self._sequence(body)
                blocks = same(body.blocks, frame.blocks.finished())
                stands = blocks is body.blocks or (
                    not self.strengthens and is_kept_apart(body.blocks, blocks)
                )
                if frame.is_untouched and stands and result is body.body:
                    new = changed(normal, params=params, body=changed(body, blocks=blocks))
                else:
                    new = finish(frame, result, place, normal)
            finally:
                self.builder.end_again(frame)
            kept = new is normal
            if not kept:
                self._changed.add(gv)
                if not _is_typed_as(new, normal):
                    self._retyped.add(gv)
            self._closed = function if kept else new
            self.builder.put(gv, self._closed, keep=kept)
            return self._closed

    @contextmanager
    def _begun(self) -> Iterator[Place]:
        """The place of the user's call: broken rules are reported there."""
        before, self._place = self._place, self._place or here()
        try:
            yield self._place
        finally:
            self._place = before

    @property
    def place(self) -> Place:
        """The line of user code that called the mutator; violated rules are reported there."""
        return self._place or here()

    @property
    def _frame(self) -> Frame:
        if self._place is None:
            words = (
                f"bindings are visited in a module or a function: call {type(self).__name__}()(…)"
            )
            raise MisuseError(words, here())
        return self.builder.frame

    # ------------------------------------------------------------ variables

    def replace_var(self, var: ast.Var, value: Expr) -> None:
        """Replace all further uses of a variable of the old program by an expression.

        Parameters
        ----------
        value
            A variable of the new program, or another leaf.
        """
        of_kind(var, ast.Var, "a variable")
        self._vars[var] = of_kind(value, Expr, "an expression")

    def lookup_binding(self, var: Expr) -> Expr | None:
        """The new value of a variable; None for parameters and other expressions."""
        return self.builder.lookup_binding(var) if isinstance(var, ast.Var) else None

    def visit_var_def(self, var: ast.Var) -> ast.Var:
        """Return the variable to bind instead; its annotation may differ."""
        if type(var) is ast.DataflowVar:
            return self.visit_dataflow_var_def(var)
        of_kind(var, ast.Var, "a variable")
        return self._defined(var)

    def visit_dataflow_var_def(self, var: ast.DataflowVar) -> ast.Var:
        """Return the variable to bind instead of a variable that is local to its dataflow block."""
        return self._defined(var)

    def _defined(self, var: ast.Var) -> ast.Var:
        info = var.struct_info_annotation
        if info is None or (
            self._keeps_infos and not (self._vars and _may_mention_variables(info))
        ):
            return var
        new = self.visit_struct_info(info)
        if new is info:
            return var
        other = replace(var, struct_info_annotation=new)
        self._vars[var] = other
        return other

    def _bound_var(self, var: ast.Var) -> ast.Var:
        """The variable to bind instead; what is local to a dataflow block stays local in one."""
        new = self.visit_var_def(var)
        if not isinstance(new, ast.Var):
            raise self._wrong("visit_var_def", new, "the variable to bind")
        if new is not var:
            self._vars.setdefault(var, new)
        if type(var) is ast.DataflowVar and type(new) is ast.Var and self._frame.is_dataflow:
            new = ast.DataflowVar(new.name_hint, new.struct_info_annotation, None, new.span)
            self._vars[var] = new
        return new

    # ------------------------------------------------------------ blocks and bindings

    def visit_binding_block(self, block: ast.BindingBlock) -> ast.BindingBlock | None:
        """Visit a block of either kind. Outside a module, return what stands in place of it; a
        block of a function is emitted.
        """
        if self._place is not None:
            self._emitted_block(block)
            return None
        of_kind(block, ast.BindingBlock, "a block")
        with self._lone(ast.SeqExpr((block,), ast.Tuple(()))) as frame:
            self._emitted_block(block)
            made = frame.blocks.finished() or (replace(block, bindings=()),)
            if len(made) > 1:
                raise misuse("the block becomes several: visit the function", self.place)
        return made[0]

    def _emitted_block(self, block: ast.BindingBlock) -> None:
        frame = self._frame
        frame.open_block(type(block), block.span, block)
        if type(block) is ast.DataflowBlock:
            self.visit_dataflow_block(block)
            frame.open_block(ast.BindingBlock, None)
        else:
            self._bindings(block)

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        """Visit the bindings of a dataflow block."""
        self._bindings(block)

    def _bindings(self, block: ast.BindingBlock) -> None:
        visit = self._method("visit_binding")
        if getattr(visit, "__func__", ExprMutator.visit_binding) is not ExprMutator.visit_binding:
            for binding in block.bindings:
                visit(binding)
            return
        bound, cast = self._method("visit_var_binding"), self._method("visit_match_cast")
        for binding in block.bindings:
            (cast if type(binding) is ast.MatchCast else bound)(binding)

    def visit_binding(self, binding: ast.Binding) -> None:
        """Visit a binding of either kind, and emit the result."""
        if type(binding) is ast.MatchCast:
            self._method("visit_match_cast")(binding)
        else:
            self._method("visit_var_binding")(of_kind(binding, ast.VarBinding, "a binding"))

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        """Visit the value, and emit the result under the same variable, or under a new one if its
        struct info differs.
        """
        if type(binding.value) is ast.Function:
            self._local_function(binding, binding.value)
            return
        value = self.visit_expr(binding.value)
        self.rebind(binding, value)

    @spelt
    def rebind(self, binding: ast.VarBinding, value: Expr) -> ast.Var:
        """Emit a value in place of the value of a binding in the old program."""
        var = binding.var
        if not self._keeps_vars or (
            self._vars and _may_mention_variables(var.struct_info_annotation)
        ):
            var = self._bound_var(var)
        if value is binding.value and var is binding.var:
            self._frame.keep(binding)
            return var
        new = self._frame.rebind(changed(binding, var=var), value, self.place)
        if new is not binding.var:
            self._vars[binding.var] = new
        return new

    def visit_match_cast(self, binding: ast.MatchCast) -> None:
        """Visit the value and the target of the cast, and emit the cast."""
        value = self.visit_expr(binding.value)
        info = self.visit_struct_info(binding.struct_info)
        var = binding.var and self._bound_var(binding.var)
        value = self._frame.leaf(value, self.place)
        cast = changed(binding, var=var, value=value, struct_info=info)
        if cast is binding:
            self._frame.keep(cast)
        else:
            self._frame.bind(cast, self.place)

    # ------------------------------------------------------------ expressions

    def visit_expr(self, expr: Expr) -> Expr:
        """Return the replacement of an expression; it may also be outside a module."""
        if self._place is None:
            return self._alone(expr)
        found = self._method(EXPRESSIONS[type(expr)])(expr)
        return found if isinstance(found, Expr) else self._given(found, EXPRESSIONS[type(expr)])

    def _given(self, found: object, name: str) -> Expr:
        """The expression for the result of a method that returned something else."""
        if found is None:
            words = "returned nothing: return what stands in place of the node, or the node itself"
            raise misuse(f"{type(self).__name__}.{name} {words}", self.place)
        return taken.value(found, self.place)

    def _wrong(self, name: str, found: object, wanted: str) -> BuildError:
        words = f"{type(self).__name__}.{name} returned {described(found)}: return {wanted}"
        return misuse(words, self.place)

    def _method(self, name: str) -> Any:
        return getattr(self, name)

    def _sequence(self, seq: ast.SeqExpr) -> Expr:
        """Emit the blocks of a sequence; what stands in place of its result."""
        for block in seq.blocks:
            self.visit_binding_block(block)
        return self.visit_expr(seq.body)

    def visit_seq_expr(self, seq: ast.SeqExpr) -> Expr:
        """A sequence inside a value: a branch, the body of a local function."""
        frame = self._frame
        before = open_sequence(frame, seq.span)
        result = self._sequence(seq)
        return close_sequence(frame, before, result, self.place, seq)

    def visit_function(self, function: ast.Function) -> Expr:
        """A function of the module, or a local one."""
        opened, name = self._opened or (None, None)
        if isinstance(name, GlobalVar):
            self._opened = None
            made = self._whole(name, function)
            if function is not opened:  # the method changed it before
                self._changed.add(name)
                self._retyped.add(name)
                self.builder.update_func(name, made)
            return made
        if function is not opened:
            return self._local(function, None)
        self._opened = None
        self._closed = self._local(function, name)
        return self._closed

    def _local_function(self, binding: ast.VarBinding, function: ast.Function) -> None:
        """A local function may mention itself, so its variable is there first."""
        var = self._bound_var(binding.var)
        self._opened = function, var
        new = self.visit_expr(function)
        if new is not self._closed:
            frame = self._frame
            for param in self._closed.params:  # which the method's function may bind again
                frame.walk.bound.pop(param, None)
        self._frame.bind(changed(binding, var=var, value=new), self.place)

    def _local(self, function: ast.Function, var: ast.Var | None) -> ast.Function:
        frame = self._frame
        params = same(function.params, map(self._bound_var, function.params))
        ret = function.ret_struct_info and self.visit_struct_info(function.ret_struct_info)
        head = changed(function, params=params, ret_struct_info=ret)
        before = open_function(frame, head, var, self.place)
        body = self.visit_expr(function.body)
        return close_function(frame, before, changed(head, body=body), self.place)

    def visit_if(self, expr: ast.If) -> Expr:
        """The condition, then both branches. In each branch the facts about shape variables from
        the condition are known.
        """
        cond = self.visit_expr(expr.cond)
        frame = self._frame
        cond = frame.leaf(cond, self.place)
        with assuming(frame, cond, True):
            then = self.visit_expr(expr.true_branch)
        with assuming(frame, cond, False):
            other = self.visit_expr(expr.false_branch)
        return changed(expr, cond=cond, true_branch=then, false_branch=other)

    def visit_call(self, call: ast.Call) -> Expr:
        """A call: callee, arguments, keyword arguments, type arguments."""
        if type(call) is not ast.Call:
            of_kind(call, ast.Call, "a call")
        try:
            return call if self.is_kept(call) else self._inside.call(call)
        except AttributeError:
            refuse_wrong_parts(call)
            raise

    def is_kept(self, call: ast.Call) -> bool:
        """Whether no method looks at the parts of a call, and no variable in it is replaced."""
        plain, variables = self._plain, self._vars
        if type(call.op) not in plain or not plain.issuperset(map(type, call.args)):
            return False
        if call.sinfo_args or (call.attrs and nodes_in(call.attrs)):
            return False
        return not variables or (
            call.op not in variables and variables.keys().isdisjoint(call.args)
        )

    def visit_tuple(self, expr: ast.Tuple) -> Expr:
        """A tuple."""
        return self._inside.tuple(expr)

    def visit_tuple_get_item(self, expr: ast.TupleGetItem) -> Expr:
        """A field of a tuple."""
        return self._inside.tuple_get_item(expr)

    def visit_shape_expr(self, shape: ast.ShapeExpr) -> Expr:
        """A shape literal."""
        return self._inside.shape(shape)

    def visit_prim_value(self, value: ast.PrimValue) -> Expr:
        """A boxed scalar."""
        return self._inside.prim_value(value)

    def visit_extern_func(self, function: ast.ExternFunc) -> Expr:
        """A packed function."""
        return self._inside.extern_func(function)

    def visit_var(self, var: ast.Var) -> Expr:
        """A variable where it is used."""
        return self._vars.get(var, var)

    def visit_dataflow_var(self, var: ast.DataflowVar) -> Expr:
        """A use of a variable that is local to its dataflow block."""
        return self._method("visit_var")(var)  # type: ignore[no-any-return]

    def visit_global_var(self, gv: GlobalVar) -> Expr:
        """The name of a function of the module."""
        return gv

    def visit_op(self, op: ast.Op) -> Expr:
        """An operator."""
        return op

    def visit_constant(self, constant: ast.Constant) -> Expr:
        """A constant."""
        return constant

    def visit_string_imm(self, text: ast.StringImm) -> Expr:
        """A string."""
        return text

    def visit_data_type_imm(self, kind: ast.DataTypeImm) -> Expr:
        """A data type."""
        return kind

    # ------------------------------------------------------------ annotations

    def visit_struct_info(self, info: StructInfo) -> StructInfo:
        """An annotation: its dimensions, and the variables in them."""
        return Rewriter.struct_info(self._inside, info)

    def visit_prim_expr(self, value: PrimExpr) -> PrimExpr:
        """A scalar: a dimension, an argument."""
        return value


class _Inside(Rewriter):
    """Visits the parts of a node by the methods of a mutator."""

    def __init__(self, mutator: ExprMutator) -> None:
        super().__init__()
        self.mutator = mutator

    def part(self, node: Node) -> Node:
        mutator = self.mutator
        if type(node) in mutator._plain:
            return mutator._vars.get(node, node)  # type: ignore[call-overload, no-any-return]
        return mutator.visit_expr(node) if isinstance(node, Expr) else super().part(node)

    def expr(self, expr: Expr) -> Expr:
        return self.mutator.visit_expr(expr)

    def struct_info(self, info: StructInfo) -> StructInfo:
        return self.mutator.visit_struct_info(info)

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        found = self.mutator.visit_prim_expr(expr)
        if not isinstance(found, PrimExpr):
            raise self.mutator._wrong("visit_prim_expr", found, "a scalar")
        return found


def _is_typed_as(new: ast.Function, old: ast.Function) -> bool:
    """Whether a function is annotated as an old one is."""
    said = new.ret_struct_info
    return said is not None and said is old.ret_struct_info and new.params is old.params


def _may_mention_variables(info: StructInfo | None) -> bool:
    """Whether an annotation may mention a variable of Relax, as the shape of a tensor."""
    if type(info) is ast.TensorStructInfo:
        return type(info.shape) is not ast.ShapeExpr
    return info is not None


def _names(function: ast.Function) -> Iterator[str]:
    """The names of all variables of a function."""
    for binding in bindings(function):
        var = binding.var
        if var is not None:
            yield var.name_hint
