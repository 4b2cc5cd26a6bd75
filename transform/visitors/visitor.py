"""ExprVisitor: a walk over programs, one method for each kind of node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.python_places import MisuseError, described, here, of_kind
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import kinds_of
from rlx.grammar.stack import recursion_room
from rlx.transform.visitors.dispatch import (
    EXPRESSIONS,
    missing_attribute,
    refuse_arguments,
    unknown_method,
    unseen_leaves,
)


class ExprVisitor:
    """Visits all nodes of a module, a function or an expression, in the order of evaluation.

    A subclass overrides the methods for the nodes that it needs. An overridden method must visit
    the children itself, with ``super()`` or :meth:`visit_expr`. The hierarchy is

    - :meth:`visit_expr`, which calls the method for the kind of expression: ``visit_call``,
    ``visit_if``, ``visit_var``, …;
    - :meth:`visit_binding_block`, and of those that are dataflow blocks
    :meth:`visit_dataflow_block`;
    - :meth:`visit_binding`, which calls :meth:`visit_var_binding` or :meth:`visit_match_cast`;
    - :meth:`visit_var_def`, for each variable where it is bound, and of those that end with their
    dataflow block
      :meth:`visit_dataflow_var_def`;
    - :meth:`visit_struct_info` for annotations, and :meth:`visit_prim_expr` for scalars.

    Blocks are visited in a loop, so a function may have any number of bindings.

    Attributes
    ----------
    scope
        The variables in scope at the current node, with their values; None for parameters.
    function
        The function around the current node, or None.
    block
        The block around the current node, or None.

    Examples
    --------
    >>> import rlx
    >>> class CountVarDef(rlx.ExprVisitor):
    ...     count = 0
    ...     def visit_var_def(self, var):
    ...         self.count += 1
    >>> counter = CountVarDef()
    >>> counter.visit(rlx.load("examples/mlp.rlx"))
    >>> counter.count > 5
    True
    """

    scope: dict[ast.Var, Expr | None]
    function: ast.Function | None
    block: ast.BindingBlock | None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        """Set up the state of the walk before ``__init__`` of a subclass, which may not call ours."""
        made = super().__new__(cls)
        made.scope, made.function, made.block = {}, None, None
        return made

    def __init__(self, *args: object, **keywords: object) -> None:
        refuse_arguments(self, ExprVisitor, bool(args or keywords), ".visit")

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        problem = unknown_method(cls, ExprVisitor)
        if problem is not None:
            raise TypeError(problem)

        def looks(*names: str) -> bool:
            return any(getattr(cls, name) is not getattr(ExprVisitor, name) for name in names)

        infos, scalars = looks("visit_struct_info"), looks("visit_prim_expr")
        unseen: set[type[Node]] = {*unseen_leaves(cls, ExprVisitor)}
        unseen |= set() if infos else set(kinds_of(StructInfo))
        unseen |= set() if scalars else set(kinds_of(PrimExpr))
        cls._unseen = frozenset(unseen)
        cls._sees_calls = looks("visit_call", "visit_expr")
        cls._sees_bindings = looks("visit_binding", "visit_var_binding")
        cls._sees_vars = infos or looks("visit_var_def", "visit_dataflow_var_def")

    _unseen: frozenset[type[Node]]
    """The kinds of leaves, annotations and scalars that no method of the class looks at."""
    _sees_calls: bool
    _sees_bindings: bool
    _sees_vars: bool
    """Whether a method of the class looks at calls, at bindings, and at variables where they are
    bound.
    """

    # ------------------------------------------------------------ wholes

    def visit(self, subject: IRModule | Expr) -> None:
        """Visit a module, its Relax functions one after the other, or an expression.

        Raises
        ------
        MisuseError
            If it is neither.
        """
        if not isinstance(subject, IRModule | Expr):
            raise MisuseError(f"expected a module, found {described(subject)}", here())
        with recursion_room():
            if isinstance(subject, IRModule):
                for function in subject.relax_functions.values():
                    self.visit_expr(function)
            else:
                self.visit_expr(subject)

    def visit_expr(self, expr: Expr) -> None:
        """Visit any expression."""
        if self.function is None and isinstance(expr, ast.Function):
            with recursion_room():
                self.visit_function(expr)
        elif type(expr) in EXPRESSIONS:
            getattr(self, EXPRESSIONS[type(expr)])(expr)
        else:
            raise MisuseError(f"expected an expression, found {described(expr)}", here())

    def _children(self, node: Node) -> None:
        unseen = self._unseen
        for child in node.children():
            if type(child) in unseen:
                continue
            if isinstance(child, Expr):
                self.visit_expr(child)
            elif isinstance(child, StructInfo):
                self.visit_struct_info(child)
            elif isinstance(child, PrimExpr):
                self.visit_prim_expr(child)

    # ------------------------------------------------------------ blocks and bindings

    def visit_binding_block(self, block: ast.BindingBlock) -> None:
        """Visit a block of either kind."""
        of_kind(block, ast.BindingBlock, "a block")
        outer, self.block = self.block, block
        if type(block) is ast.DataflowBlock:
            self.visit_dataflow_block(block)
        else:
            self._bindings(block)
        self.block = outer

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        """Visit a dataflow block; its local variables go out of scope after it."""
        self._bindings(block)
        for binding in block.bindings:
            var = binding.var
            if type(var) is ast.DataflowVar:
                self.scope.pop(var, None)

    def _bindings(self, block: ast.BindingBlock) -> None:
        if self._sees_bindings:
            for binding in block.bindings:
                self.visit_binding(binding)
            return
        scope, skips = self.scope, not self._sees_calls
        for binding in block.bindings:
            if type(binding) is ast.MatchCast:
                self.visit_match_cast(binding)
                continue
            assert isinstance(binding, ast.VarBinding)
            var, value = binding.var, binding.value
            if type(value) is ast.Function:
                scope[var] = value
            if not (skips and type(value) is ast.Call and self._is_unseen(value)):
                self.visit_expr(value)
            scope[var] = value
            if self._sees_vars:
                self.visit_var_def(var)

    def _is_unseen(self, call: ast.Call) -> bool:
        """Whether no method looks at the parts of a call."""
        return self._unseen.issuperset(map(type, call.children()))

    def visit_binding(self, binding: ast.Binding) -> None:
        """Visit a binding of either kind."""
        if type(binding) is ast.MatchCast:
            self.visit_match_cast(binding)
        else:
            self.visit_var_binding(of_kind(binding, ast.VarBinding, "a binding"))

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        """Visit the value, then the variable; a local function is in its own scope."""
        if type(binding.value) is ast.Function:
            self.scope[binding.var] = binding.value
        self.visit_expr(binding.value)
        self.scope[binding.var] = binding.value
        self.visit_var_def(binding.var)

    def visit_match_cast(self, binding: ast.MatchCast) -> None:
        """Visit the value, the target of the cast, then the variable."""
        self.visit_expr(binding.value)
        self.visit_struct_info(binding.struct_info)
        if binding.var is not None:
            self.scope[binding.var] = binding.value
            self.visit_var_def(binding.var)

    def visit_var_def(self, var: ast.Var) -> None:
        """Visit a variable where it is bound."""
        if type(var) is ast.DataflowVar:
            self.visit_dataflow_var_def(var)
            return
        info = of_kind(var, ast.Var, "a variable").struct_info_annotation
        if info is not None:
            self.visit_struct_info(info)

    def visit_dataflow_var_def(self, var: ast.DataflowVar) -> None:
        """Visit the binding of a variable that is local to its dataflow block."""
        if var.struct_info_annotation is not None:
            self.visit_struct_info(var.struct_info_annotation)

    # ------------------------------------------------------------ expressions

    def visit_function(self, function: ast.Function) -> None:
        """Visit parameters, body, and the annotation of the result; they form a scope."""
        of_kind(function, ast.Function, "a function")
        outer, self.function = self.function, function
        block, self.block = self.block, None
        for param in function.params:
            self.scope[param] = None
            self.visit_var_def(param)
        self.visit_expr(function.body)
        if function.ret_struct_info is not None:
            self.visit_struct_info(function.ret_struct_info)
        for param in function.params:
            self.scope.pop(param, None)
        self.function, self.block = outer, block

    def visit_seq_expr(self, seq: ast.SeqExpr) -> None:
        """Visit the blocks, then the result; they form a scope."""
        for block in seq.blocks:
            self.visit_binding_block(block)
        self.visit_expr(seq.body)
        for block in seq.blocks:
            for binding in block.bindings:
                self.scope.pop(binding.var, None)  # type: ignore[arg-type]

    def visit_if(self, expr: ast.If) -> None:
        """Visit the condition, then both branches."""
        self._children(expr)

    def visit_call(self, call: ast.Call) -> None:
        """Visit the callee, the arguments, the expressions among the keyword arguments, the type
        arguments.
        """
        self._children(call if type(call) is ast.Call else of_kind(call, ast.Call, "a call"))

    def visit_tuple(self, expr: ast.Tuple) -> None:
        """Visit the fields."""
        self._children(expr)

    def visit_tuple_get_item(self, expr: ast.TupleGetItem) -> None:
        """Visit the tuple."""
        self._children(expr)

    def visit_shape_expr(self, shape: ast.ShapeExpr) -> None:
        """Visit the dimensions."""
        self._children(shape)

    def visit_prim_value(self, value: ast.PrimValue) -> None:
        """Visit the scalar."""
        self._children(value)

    def visit_extern_func(self, function: ast.ExternFunc) -> None:
        """Visit a packed function."""
        self._children(function)

    def visit_var(self, var: ast.Var) -> None:
        """Visit a variable where it is used."""

    def visit_dataflow_var(self, var: ast.DataflowVar) -> None:
        """Visit a use of a variable that is local to its dataflow block."""
        self.visit_var(var)

    def visit_global_var(self, gv: ast.GlobalVar) -> None:
        """Visit the name of a function of the module."""

    def visit_op(self, op: ast.Op) -> None:
        """Visit an operator."""

    def visit_constant(self, constant: ast.Constant) -> None:
        """Visit a constant."""

    def visit_string_imm(self, text: ast.StringImm) -> None:
        """Visit a string."""

    def visit_data_type_imm(self, kind: ast.DataTypeImm) -> None:
        """Visit a data type."""

    # ------------------------------------------------------------ annotations

    def visit_struct_info(self, info: StructInfo) -> None:
        """Visit an annotation."""

    def visit_prim_expr(self, value: PrimExpr) -> None:
        """Visit a scalar: a dimension, an argument."""


ExprVisitor.__init_subclass__()  # for the class itself, too
