"""Conversion to normal form: every intermediate result gets a name, in the order of evaluation.

What is in normal form already is returned as it is, the same objects: the programs that TVM prints
cost one look at each binding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span, changed, replace, same
from rlx.grammar.nodes.python_places import module_of
from rlx.grammar.nodes.rewrite import joined
from rlx.grammar.nodes.visit import LEAVES, argument_places, is_leaf

__all__ = ["is_in_normal_form", "keep_as_normal", "normalize", "normalize_function"]


def normalize(module: ast.IRModule) -> ast.IRModule:
    """The module in normal form (NF1 to NF5); the same module where it is so already.

    Raises
    ------
    MisuseError
        If it is no module.
    """
    return module_of(module).map_relax_functions(lambda _, function: normalize_function(function))


def normalize_function(function: ast.Function) -> ast.Function:
    """A function in normal form, the same where it is so already."""
    if function.body in _NORMAL:
        return function
    made = Normalizer(function).function(function)
    keep_as_normal(made)
    return made


_NORMAL: WeakSet[ast.Expr] = WeakSet()
"""Bodies of functions that are in normal form: trees do not change, so one look is enough."""


def keep_as_normal(function: ast.Function) -> None:
    """Remember that a function is in normal form; the caller made it so."""
    if isinstance(function.body, ast.SeqExpr):
        _NORMAL.add(function.body)


def is_in_normal_form(function: ast.Function) -> bool:
    """Whether a function is in normal form, by looking at it anew."""
    body = function.body
    return isinstance(body, ast.SeqExpr) and Normalizer(function).is_normal(body)


class Normalizer:
    """Names for what has none, fresh in one function."""

    def __init__(self, root: ast.Function) -> None:
        self.root = root
        self._names: set[str] | None = None
        self._next = 0

    def function(self, function: ast.Function) -> ast.Function:
        body = self.sequence(function.body, None)
        return changed(function, body=body)

    def sequence(self, expr: ast.Expr, span: Span | None) -> ast.SeqExpr:
        """A body or branch as a SeqExpr in normal form."""
        if isinstance(expr, ast.SeqExpr) and self.is_normal(expr):
            return expr
        blocks = Blocks(self)
        leaf = self.flatten(expr, blocks)
        where = expr.body_span if isinstance(expr, ast.SeqExpr) else span
        return ast.SeqExpr(blocks.finish(), leaf, where, getattr(expr, "span", None))

    def flatten(self, expr: ast.Expr, blocks: Blocks) -> ast.Expr:
        """Add the bindings of an expression to ``blocks``; return the leaf that is its value.

        Inside of a dataflow block all of them join it: its variables must live on behind them.
        """
        within = blocks.kind is ast.DataflowBlock
        while isinstance(expr, ast.SeqExpr):
            for block in expr.blocks:
                if not within:
                    blocks.open(type(block), block.span)
                for binding in block.bindings:
                    self._binding(binding, blocks)
            if not within:
                blocks.end_of_block()
            expr = expr.body
        return self.leaf(expr, blocks)

    def _binding(self, binding: Any, blocks: Blocks) -> None:
        value = self.value(binding.value, blocks)
        if isinstance(binding, ast.MatchCast) and not is_leaf(value):
            value = self.named(value, blocks, binding.value_span)
        blocks.add(changed(binding, value=value))

    # ------------------------------------------------------------ expressions

    def value(self, expr: ast.Expr, blocks: Blocks) -> ast.Expr:
        """An expression that may be bound as it is: a leaf, or one level over leaves."""
        inner = _first(expr)
        if inner is not None and not is_leaf(inner):
            expr = _with_first(expr, self.leaf(inner, blocks))
        if type(expr) is ast.Call and _is_normal_call(expr):
            return expr
        step = _STEPS.get(type(expr))
        return expr if step is None else step(self, expr, blocks)

    def leaf(self, expr: ast.Expr, blocks: Blocks, span: Span | None = None) -> ast.Expr:
        """A leaf with the value of the expression."""
        if is_leaf(expr):
            return expr
        # `x + x + … + x` is as deep as it is long, on the side that is evaluated first.
        spine: list[ast.Expr] = []
        inner: ast.Expr | None = expr
        while inner is not None and not is_leaf(inner) and inner not in blocks.shared:
            spine.append(inner)
            inner = _first(inner)
        leaf = None if inner is None else blocks.shared.get(inner, inner)
        while spine:
            whole = part = spine.pop()
            if leaf is not None and leaf is not _first(whole):
                part = _with_first(whole, leaf)
            leaf = self._leaf(part, blocks, None if spine else span)
            blocks.shared[whole] = leaf
        assert leaf is not None
        return leaf

    def _leaf(self, expr: ast.Expr, blocks: Blocks, span: Span | None) -> ast.Expr:
        value = self.value(expr, blocks)
        if is_leaf(value):
            return value
        return self.named(value, blocks, span or getattr(expr, "span", None))

    def named(self, value: ast.Expr, blocks: Blocks, span: Span | None) -> ast.Var:
        """A new variable bound to a value."""
        kind = ast.DataflowVar if blocks.kind is ast.DataflowBlock else ast.Var
        var = kind(self.fresh(), None, None, span)
        blocks.add(ast.VarBinding(var, value, span, span))
        return var

    def call(self, call: ast.Call, blocks: Blocks) -> ast.Expr:
        if type(call.op) is ast.Op:
            call = custom_form(call)
        op = call.op if type(call.op) is ast.Op else self.leaf(call.op, blocks)
        spans = argument_places(call)
        args = same(
            call.args,
            (
                a if type(a) in LEAVES else self.leaf(a, blocks, span)
                for a, span in zip(call.args, spans, strict=True)
            ),
        )
        attrs = call.attrs
        if any(isinstance(v, ast.Expr) and not is_leaf(v) for v in attrs.values()):
            attrs = {
                k: self.leaf(v, blocks) if isinstance(v, ast.Expr) else v for k, v in attrs.items()
            }
        return changed(call, op=op, args=args, attrs=attrs)

    def tuple(self, expr: ast.Tuple, blocks: Blocks) -> ast.Expr:
        fields = same(expr.fields, (self.leaf(f, blocks) for f in expr.fields))
        return changed(expr, fields=fields)

    def item(self, expr: ast.TupleGetItem, blocks: Blocks) -> ast.Expr:
        return changed(expr, tuple_value=self.leaf(expr.tuple_value, blocks))

    def branch(self, expr: ast.If, blocks: Blocks) -> ast.Expr:
        cond = self.leaf(expr.cond, blocks, expr.cond_span)
        then = self.sequence(expr.true_branch, expr.span)
        otherwise = self.sequence(expr.false_branch, expr.span)
        return changed(expr, cond=cond, true_branch=then, false_branch=otherwise)

    def literal(self, expr: ast.Function, _: Blocks) -> ast.Expr:
        return self.function(expr)

    def nested(self, expr: ast.SeqExpr, blocks: Blocks) -> ast.Expr:
        return self.flatten(expr, blocks)

    # ------------------------------------------------------------ fast path

    def is_normal(self, seq: ast.SeqExpr) -> bool:
        """Whether nothing in a SeqExpr would change."""
        before: type | None = None
        for block in seq.blocks:
            if type(block) is before or not block.bindings:
                return False
            before = type(block)
            for binding in block.bindings:
                if not self.stays(binding.value, type(binding)):
                    return False
        return is_leaf(seq.body)

    def stays(self, value: ast.Expr, binding: type) -> bool:
        """Whether a value may be bound as it is, by a binding of that kind."""
        kind = type(value)
        if kind is ast.Call:
            return binding is ast.VarBinding and _is_normal_call(value)  # type: ignore[arg-type]
        if kind in LEAVES:
            return True
        if kind is ast.Tuple:
            return is_leaf(value)
        if binding is ast.MatchCast:
            return False
        if kind is ast.TupleGetItem:
            return is_leaf(value.tuple_value)  # type: ignore[attr-defined]
        if kind is ast.Function:
            body = value.body  # type: ignore[attr-defined]
            return isinstance(body, ast.SeqExpr) and self.is_normal(body)
        if kind is ast.If:
            assert isinstance(value, ast.If)
            return is_leaf(value.cond) and all(
                isinstance(b, ast.SeqExpr) and self.is_normal(b)
                for b in (value.true_branch, value.false_branch)
            )
        return False

    # ------------------------------------------------------------ names

    def fresh(self) -> str:
        """A name that the function does not have yet."""
        if self._names is None:
            self._names = _names(self.root)
        while True:
            name = f"gv{self._next}" if self._next else "gv"
            self._next += 1
            if name not in self._names:
                return name


class Blocks:
    """The blocks of a SeqExpr under construction, consolidated as they grow.

    Attributes
    ----------
    shared
        The leaves of the expressions of the current block that are not leaves: Python code may use
        one object several times, which is evaluated once.
    """

    def __init__(self, normalizer: Normalizer) -> None:
        self.normalizer = normalizer
        self.shared: dict[ast.Expr, ast.Expr] = {}
        self.done: list[ast.BindingBlock] = []
        self.kind: type[ast.BindingBlock] = ast.BindingBlock
        self.span: Span | None = None
        self.bindings: list[ast.Binding] = []

    def open(self, kind: type[ast.BindingBlock], span: Span | None) -> None:
        """Go on in a block of that kind."""
        if kind is not self.kind:
            self.close()
            self.shared.clear()
            self.kind, self.span = kind, span
        elif self.span is None:
            self.span = span

    def end_of_block(self) -> None:
        """Begin an ordinary block for the result of a SeqExpr."""
        self.open(ast.BindingBlock, None)

    def add(self, binding: ast.Binding) -> None:
        """Add a binding to the current block."""
        self.bindings.append(binding)

    def close(self) -> None:
        """End the current block; an empty one is dropped."""
        if self.bindings:
            self.done.append(self.kind(tuple(self.bindings), self.span))
            self.bindings = []
        self.span = None

    def finish(self) -> tuple[ast.BindingBlock, ...]:
        """The blocks, neighbours of one kind joined."""
        self.close()
        return joined(tuple(self.done))


_STEPS: dict[type, Callable[[Normalizer, Any, Blocks], ast.Expr]] = {
    ast.Call: Normalizer.call,
    ast.Tuple: Normalizer.tuple,
    ast.TupleGetItem: Normalizer.item,
    ast.If: Normalizer.branch,
    ast.Function: Normalizer.literal,
    ast.SeqExpr: Normalizer.nested,
}


def custom_form(call: ast.Call) -> ast.Call:
    """A call in the form that its operator asks for."""
    from rlx.operators import lookup

    assert isinstance(call.op, ast.Op)
    operator = lookup(call.op.op_name)
    if operator is None or not operator.has_form:
        return call
    return operator.normalize(call) or call


def _has_form(name: str) -> bool:
    """Whether an operator has a form of its own; most have none, and are asked for again."""
    found = _FORMS.get(name)
    if found is None:
        from rlx.operators import lookup

        operator = lookup(name)
        if operator is None:
            return False
        found = _FORMS[name] = operator.has_form
    return found


_FORMS: dict[str, bool] = {}


def _first(expr: ast.Expr) -> ast.Expr | None:
    """The operand that is evaluated first, of calls of operators and of projections."""
    if type(expr) is ast.Call:
        return expr.args[0] if expr.args and type(expr.op) is ast.Op else None
    return expr.tuple_value if type(expr) is ast.TupleGetItem else None


def _with_first(expr: ast.Expr, first: ast.Expr) -> ast.Expr:
    if isinstance(expr, ast.Call):
        return replace(expr, args=(first, *expr.args[1:]))
    assert isinstance(expr, ast.TupleGetItem)
    return replace(expr, tuple_value=first)


def _is_normal_call(call: ast.Call) -> bool:
    if not all(map(is_leaf, call.args)):
        return False
    if not all(is_leaf(value) for value in call.attrs.values() if isinstance(value, ast.Expr)):
        return False
    match call.op, call.args:
        # Only forms with a tuple exist so far, so a call with one needs no look at the operator.
        case ast.Op(op_name=name), (_, given, *_) if type(given) is not ast.Tuple:
            return not _has_form(name) or custom_form(call) is call
        case ast.Op(), _:
            return True
    return type(call.op) in LEAVES


def _names(function: ast.Function) -> set[str]:
    """Every variable name in a function."""
    from rlx.grammar.nodes.visit import expressions

    found: set[str] = set()
    for expr in expressions(function):
        if isinstance(expr, (ast.Var, ast.GlobalVar)):
            found.add(expr.name_hint)
        elif isinstance(expr, ast.Function):
            found.update(p.name_hint for p in expr.params)
        elif isinstance(expr, ast.SeqExpr):
            for block in expr.blocks:
                for binding in block.bindings:
                    var = getattr(binding, "var", None)
                    if var is not None:
                        found.add(var.name_hint)
    return found
