"""The constructs of a module at a line and a column, each with its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, Record, Span
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.source_tokens import parts_of
from rlx.grammar.wording import counted, shortened

_STATEMENTS = frozenset(["binding", "parameter", "result", "function", "primfunc"])


class Construct(Record):
    """Something that has struct info, and where it stands.

    Attributes
    ----------
    kind
        ``"binding"``, ``"parameter"``, ``"result"`` (what a function returns), ``"function"`` (its
        signature), ``"primfunc"`` or ``"expression"``.
    subject
        The binding, the expression or the PrimFunc; of a parameter its variable, of a result the
        returned expression.
    span
        The text that is its own.
    """

    kind: str
    subject: Node
    span: Span

    @property
    def is_statement(self) -> bool:
        """Whether a line alone means it."""
        return self.kind in _STATEMENTS


class PlaceError(ValueError):
    """Raised if no node with struct info is at a place; the message names nearby nodes."""


def constructs(modules: Iterable[ast.IRModule], source: Source) -> list[Construct]:
    """Everything that has struct info and a place, outer before inner.

    Parameters
    ----------
    modules
        In normal form, as the checker derives them.
    """
    found: list[Construct] = []
    for module in modules:
        for function in module.functions.values():
            if isinstance(function, ast.Function):
                _walk(function, source, found)
            elif function.span is not None:
                found.append(Construct("primfunc", function, function.span))
    return found


def _walk(root: ast.Function, source: Source, found: list[Construct]) -> None:
    for node in expressions(root):
        found += [Construct("expression", used, span) for span, used in _uses(node, source)]
        if isinstance(node, ast.Function):
            found += _of_function(node)
        elif isinstance(node, ast.If):
            found += _of_branches(node)
        elif isinstance(node, ast.SeqExpr):
            for block in node.blocks:
                found += [_of_binding(b) for b in block.bindings if _is_written(b, source)]


def _of_function(function: ast.Function) -> Iterator[Construct]:
    """A function's signature, its parameters and what it returns."""
    if function.span is not None:
        head = function.span[0], _head_end(function)
        yield Construct("function", function, head)
    for param in function.params:
        if param.span is not None:
            annotation = param.annotation_span or param.span
            span = param.span[0], max(param.span[1], annotation[1])
            yield Construct("parameter", param, span)
    body = function.body
    if isinstance(body, ast.SeqExpr) and body.body_span is not None:
        yield Construct("result", body, body.body_span)


def _of_branches(node: ast.If) -> Iterator[Construct]:
    """The results of the branches of an If, where the text binds the variable of the whole."""
    for branch in (node.true_branch, node.false_branch):
        if isinstance(branch, ast.SeqExpr) and branch.body_span is not None:
            yield Construct("result", branch, branch.body_span)


def _head_end(function: ast.Function) -> int:
    """The end of the signature."""
    assert function.span is not None
    ends = [function.name_span, function.ret_span]
    ends += [span for p in function.params for span in (p.span, p.annotation_span)]
    return max((span[1] for span in ends if span is not None), default=function.span[1])


def _of_binding(binding: ast.Binding) -> Construct:
    assert binding.span is not None
    return Construct("binding", binding, binding.span)


def _is_written(binding: ast.Binding, source: Source) -> bool:
    """Whether the text has this binding; others name the parts of expressions."""
    if binding.span is None:
        return False
    return not (isinstance(binding, ast.VarBinding) and is_nameless(binding.var, source))


def is_nameless(var: ast.Var, source: Source) -> bool:
    """Whether a variable stands for a part of an expression that the text does not name."""
    if var.span is None:
        return False
    return source.text[slice(*var.span)] != var.name_hint and var.annotation_span is None


def _uses(node: ast.Expr, source: Source) -> Iterator[tuple[Span, ast.Expr]]:
    """The places of an expression and of those directly inside it, as far as the text tells."""
    own: Span | None = getattr(node, "span", None)
    match node:
        case ast.Var() | ast.GlobalVar() | ast.Op() | ast.SeqExpr() | ast.Function():
            pass
        case _ if own is not None:
            yield own, node
    match node:
        case ast.Call():
            yield from _uses_of_call(node, source)
        case ast.Tuple():
            yield from zip(node.field_spans, node.fields, strict=False)
        case ast.If(cond=cond, cond_span=span) if span is not None:
            yield span, cond
        case ast.TupleGetItem(tuple_value=ast.Var() as value, span=span) if span is not None:
            yield (span[0], span[0] + len(value.name_hint)), value
        case ast.SeqExpr():
            for block in node.blocks:
                for binding in block.bindings:
                    if binding.value_span is not None:
                        yield binding.value_span, binding.value
            if node.body_span is not None:
                yield node.body_span, node.body


def _uses_of_call(call: ast.Call, source: Source) -> Iterator[tuple[Span, ast.Expr]]:
    callee = _callee_span(call, source)
    if callee is not None:
        yield callee, call.op
    yield from zip(call.arg_spans, call.args, strict=False)
    for name, (_, span) in call.attr_spans.items():
        value = call.attrs.get(name)
        if isinstance(value, ast.Expr):
            yield span, value


def _callee_span(call: ast.Call, source: Source) -> Span | None:
    """The place of a called function's name."""
    if call.span is None or not isinstance(call.op, ast.Var | ast.GlobalVar):
        return None
    start = call.span[0]
    end = source.text.find("(", start, call.span[1])
    written = source.text[start:end].rstrip()
    return (start, start + len(written)) if written.endswith(call.op.name_hint) else None


# ---------------------------------------------------------------- at a place


def at_column(found: Sequence[Construct], source: Source, line: int, column: int) -> Construct:
    """The innermost construct at a column.

    Raises
    ------
    PlaceError
        If there is no such place, or nothing there.
    """
    text = _line(source, line)
    if not 1 <= column <= max(len(text), 1):
        raise PlaceError(
            f"line {line} of {source.path} has {counted(len(text), 'column')}: there is no column {column}"
        )
    innermost = innermost_at(found, source.line_starts[line - 1] + column - 1)
    if innermost is None:
        empty = _nothing(text)
        told = f"no struct info belongs to column {column} of line {line}"
        what = f"line {line} of {source.path} {empty}" if empty else f"{told} of {source.path}"
        raise PlaceError(f"{what}{_nearest(found, source, line)}")
    return innermost


def innermost_at(found: Sequence[Construct], offset: int) -> Construct | None:
    """The innermost construct that holds a character; None if there is none."""
    here = [c for c in found if c.span[0] <= offset < max(c.span[1], c.span[0] + 1)]
    # Of two that own the same text, the later one is the inner one.
    return min(reversed(here), key=lambda c: c.span[1] - c.span[0]) if here else None


def on_line(found: Sequence[Construct], source: Source, line: int) -> list[Construct]:
    """The statements on a line: whole bindings, parameters, a signature, what is returned.

    Raises
    ------
    PlaceError
        If there is no such line, or nothing on it.
    """
    text = _line(source, line)
    while text.lstrip().startswith("@") and line < len(source.line_starts):
        line += 1  # a decorator belongs to what it decorates
        text = source.line(line)
    empty = _nothing(text)
    if empty:
        raise PlaceError(f"line {line} of {source.path} {empty}{_nearest(found, source, line)}")
    start = source.line_starts[line - 1]
    first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    here = [c for c in found if c.is_statement and c.span[0] < last and first < c.span[1]]
    heads = [c for c in here if c.kind == "function" and _is_headed(c, first, last)]
    here = heads or [c for c in here if not any(_inside(other, c) for other in here)]
    if not here:
        raise PlaceError(
            f"nothing on line {line} of {source.path} has struct info"
            f"{_nearest(found, source, line)}"
        )
    return sorted({c.subject: c for c in here}.values(), key=lambda c: c.span)


def _is_headed(construct: Construct, first: int, last: int) -> bool:
    """Whether the name of the function stands on the line, or its decorator."""
    function = construct.subject
    assert isinstance(function, ast.Function)
    name, line = function.name_span, range(first, last)
    return construct.span[0] in line or (name is not None and name[0] in line)


def _inside(inner: Construct, outer: Construct) -> bool:
    """Whether one statement is a part of another one."""
    (first, last), (start, end) = outer.span, inner.span
    return inner.span != outer.span and first <= start and end <= last


def _line(source: Source, line: int) -> str:
    count = len(source.line_starts)
    if source.text.endswith("\n"):
        count -= 1
    if not 1 <= line <= count:
        raise PlaceError(f"{source.path} has {counted(count, 'line')}: there is no line {line}")
    return source.line(line)


def _nothing(text: str) -> str:
    """Why a line has nothing on it, or nothing."""
    stripped = text.strip()
    if not stripped:
        return "is blank"
    return "is a comment" if stripped.startswith("#") else ""


def _nearest(found: Sequence[Construct], source: Source, line: int) -> str:
    """The construct nearest to a line, in words to add to a sentence."""
    near = [(source.position(c.span[0])[0] - line, c) for c in found if c.is_statement]
    if not near:
        return ""
    construct = min(near, key=lambda pair: (abs(pair[0]), pair[0] < 0))[1]
    at, column = source.position(construct.span[0])
    return f"; the nearest is {_named(construct, source)}, at {at}:{column}"


def _named(construct: Construct, source: Source) -> str:
    """A construct in a few words."""
    match construct.kind, construct.subject:
        case "binding", ast.VarBinding(var=ast.Var(name_hint=name)) | ast.MatchCast(
            var=ast.Var(name_hint=name)
        ):
            return f"the binding of {name!r}"
        case "binding", _:
            return "a match_cast"
        case "parameter", ast.Var(name_hint=name):
            return f"the parameter {name!r}"
        case "result", _:
            return "the result of a function"
        case (
            ("function" | "primfunc"),
            ast.Function(name_span=span) | tir.PrimFunc(name_span=span),
        ):
            name = "" if span is None else f" {source.text[slice(*span)]!r}"
            return f"the {'signature of' if construct.kind == 'function' else 'PrimFunc'}{name}"
    return "an expression"


def on_one_line(text: str, span: Span, most: int) -> str:
    """A piece of source text on one line, without its comments, and with `…` for what is behind so
    many characters: what stands there is not read.
    """
    line, end = "", span[0]
    for token in parts_of(text, span):
        line += " " * bool(line and token.start > end) + text[token.start : token.end]
        end = token.end
        if len(line) > most:
            break
    return shortened(line, most)
