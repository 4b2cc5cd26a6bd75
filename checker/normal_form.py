"""Normal form, NF1 to NF5, as judgements that report each deviation."""

from __future__ import annotations

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import bindings_in, is_leaf
from rlx.spec.registry import need, reported, rule


def normal_form(module: ast.IRModule) -> list[Diagnostic]:
    """The violations of normal form in a module."""
    judge = Judge()
    for function in module.relax_functions.values():
        judge.function(function)
    return judge.diagnostics


class Judge:
    """The walk over a program; each rule is a method's call of its function."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def report(self, code: str, message: str, span: Span | None) -> None:
        """Report that a premise fails."""
        self.diagnostics.append(reported(Diagnostic(code, "error", message, span)))

    def function(self, function: ast.Function) -> None:
        """A function, global or local."""
        self._body(function.body, "the body of a function", function.name_span or function.span)

    def _body(self, body: ast.Expr, what: str, span: Span | None) -> None:
        body_is_sequence(self, body, what, span)
        if not isinstance(body, ast.SeqExpr):
            self._value(body, span)
            return
        blocks_are_consolidated(self, body)
        for binding in bindings_in(body):
            if isinstance(binding, ast.MatchCast) and not is_leaf(binding.value):
                value_is_flat(self, binding.value, (binding.value,), binding.value_span)
            self._value(binding.value, binding.value_span)
        result_is_leaf(self, body)

    def _value(self, value: ast.Expr, span: Span | None) -> None:
        match value:
            case ast.SeqExpr():
                sequence_is_body(self, value, span)
            case ast.If(cond=cond, true_branch=then, false_branch=otherwise):
                value_is_flat(self, value, (cond,), value.cond_span or span)
                for branch in (then, otherwise):
                    self._body(branch, "a branch of an if", value.span)
            case ast.Function():
                self.function(value)
            case ast.Call(op=op, args=args, attrs=attrs):
                written = tuple(v for v in attrs.values() if isinstance(v, ast.Expr))
                callee = () if isinstance(op, ast.Op) else (op,)
                value_is_flat(self, value, (*callee, *args, *written), span)
                if isinstance(op, ast.Op):
                    call_has_its_form(self, value, span)
            case ast.Tuple(fields=fields):
                value_is_flat(self, value, fields, span)
            case ast.TupleGetItem(tuple_value=inner):
                value_is_flat(self, value, (inner,), span)


_WORDS: dict[type[ast.Expr], str] = {
    ast.Call: "a call",
    ast.If: "an if",
    ast.Function: "a function",
    ast.Tuple: "a tuple",
    ast.TupleGetItem: "a tuple field",
    ast.Op: "an operator",
}


def _word(expr: ast.Expr) -> str:
    """The name of an expression in a message."""
    return _WORDS.get(type(expr), "an expression")


@rule("NF1", "normal form")
def value_is_flat(
    judge: Judge, value: ast.Expr, inside: tuple[ast.Expr, ...], span: Span | None
) -> None:
    """The operands of a bound value are leaves."""
    for expr in inside:
        if isinstance(expr, ast.SeqExpr):
            sequence_is_body(judge, expr, span)
        elif not need("NF1-nested", is_leaf(expr)):
            kind = _word(expr)
            judge.report(
                "NF1-nested",
                f"{kind} is nested inside another expression: bind it to a variable",
                getattr(expr, "span", None) or span,
            )


@rule("NF2", "normal form", refuses=True)
def sequence_is_body(judge: Judge, seq: ast.SeqExpr, span: Span | None) -> None:
    """A SeqExpr that is neither a body nor a branch."""
    judge.report(
        "NF2-place",
        "a sequence of blocks is neither the body of a function nor a branch of an if",
        seq.span or span,
    )


@rule("NF3", "normal form")
def body_is_sequence(judge: Judge, body: ast.Expr, what: str, span: Span | None) -> None:
    """A body is a SeqExpr."""
    if not need("NF3-body", isinstance(body, ast.SeqExpr)):
        judge.report(
            "NF3-body", f"{what} is not a sequence of blocks", getattr(body, "span", None) or span
        )


def result_is_leaf(judge: Judge, seq: ast.SeqExpr) -> None:
    """The result of a SeqExpr is a leaf (NF3)."""
    if isinstance(seq.body, ast.SeqExpr):
        sequence_is_body(judge, seq.body, seq.body_span)
    elif not need("NF3-result", is_leaf(seq.body)):
        judge.report(
            "NF3-result",
            f"the result is {_word(seq.body)} without a name: bind it to a variable",
            seq.body_span or seq.span,
        )


@rule("NF4", "normal form")
def blocks_are_consolidated(judge: Judge, seq: ast.SeqExpr) -> None:
    """Check that no block is empty, and that no two neighbours are of one kind."""
    before: type | None = None
    for block in seq.blocks:
        if not need("NF4-empty", bool(block.bindings)):
            judge.report("NF4-empty", "a block has no bindings", block.span or seq.span)
        if not need("NF4-neighbours", type(block) is not before):
            judge.report(
                "NF4-neighbours", "two adjacent blocks are of the same kind", block.span or seq.span
            )
        before = type(block)


@rule("NF5", "normal form")
def call_has_its_form(judge: Judge, call: ast.Call, span: Span | None) -> None:
    """The operator's own normalisation leaves a call as it is."""
    from rlx.operators import lookup

    assert isinstance(call.op, ast.Op)
    operator = lookup(call.op.op_name)
    if operator is None or not operator.has_form:
        return
    if not need("NF5-form", operator.normalize(call) is None):
        judge.report(
            "NF5-form",
            f"this call of {call.op.op_name.removeprefix('relax.')} is not in normal form",
            call.span or span,
        )
