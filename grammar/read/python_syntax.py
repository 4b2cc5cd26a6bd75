"""Detection of texts that TVM rejects because they are not valid Python, or use other statements."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Callable, Container, Iterator
from itertools import islice

from rlx.grammar.lines import line_end, line_start
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.outline import logical_lines

_LIMITS = ("too many", "too deep")
"""The beginnings of CPython's messages about its own limits, which are not errors of the text."""

CLAUSES = ("try", "except", "finally")
"""The first words of statements that are Python only with others beside them."""

_UNREAD = (
    *(ast.Try, ast.Raise, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal),
    *(ast.Match, ast.Delete, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef),
)
"""Python statements that no version of TVM accepts in a PrimFunc."""


def python_refuses(text: str, span: Span, outer: bool = False) -> tuple[str, Span] | None:
    """The reason why Python rejects a stretch of whole lines, and its location.

    Parameters
    ----------
    text
        The whole source text.
    span
        The stretch.
    outer
        Whether it is at the top level; otherwise the indentation of its first line is removed.

    Returns
    -------
    tuple or None
        The reason and the offending stretch; None if Python accepts the text.
    """
    try:
        tree_of(Lines(text, span, outer).read)
    except SyntaxError as error:
        if error.msg.startswith(_LIMITS):
            return None
        place = Lines(text, span, outer)
        start = place.offset(error.lineno or 1, (error.offset or 1) - 1)
        end = start + 1
        if error.end_lineno == error.lineno and error.end_offset:
            end = place.offset(error.lineno or 1, error.end_offset - 1)
        return f"this is not Python: {error.msg}", (start, max(end, start + 1))
    except (ValueError, MemoryError, RecursionError):
        return None
    return None


def is_head_refused(text: str, start: int) -> bool:
    """Whether Python rejects the head of a block, whatever stands under it."""
    for _, end in islice(logical_lines(text, start), 1):
        try:
            tree_of(f"{text[start:end]} pass")
        except SyntaxError as error:
            is_part = text.startswith(CLAUSES, start)
            return not is_part and not error.msg.startswith(_LIMITS)
        except (ValueError, MemoryError, RecursionError):
            pass
    return False


def is_too_deep(text: str) -> bool:
    """Whether a text is nested deeper than Python's parser follows."""
    try:
        tree_of(text)
    except SyntaxError as error:
        return error.msg.startswith(_LIMITS)
    except (MemoryError, RecursionError):
        return True
    except ValueError:
        pass
    return False


def free_names(text: str, span: Span) -> Iterator[tuple[str, Span]]:
    """The names that a statement, or the body of a function, uses and nothing there binds, nor
    Python.
    """
    place = Lines(text, span)
    try:
        tree: ast.AST = tree_of(place.read)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    nodes = list(ast.walk(tree))
    function = next((node for node in nodes if isinstance(node, ast.FunctionDef)), None)
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    given = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "where"]
    keys = [key for each in given if isinstance(each, ast.Dict) for key in each.keys]
    bound |= {key.id for key in keys if isinstance(key, ast.Name)}  # T.Let binds them
    names = [node for node in nodes if isinstance(node, ast.Name)]
    changed = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    bound |= {n.id for n in names if isinstance(n.ctx, ast.Store) and n not in changed}
    if function is not None:  # its annotations declare dimensions
        head = list(ast.walk(function.args))
        bound |= {node.id for node in head if isinstance(node, ast.Name)} - {"_"}
        bound |= {str(node.value) for node in head if isinstance(node, ast.Constant)}
        inside = (*head, *(each for part in function.body for each in ast.walk(part)))
        names = [node for node in inside if isinstance(node, ast.Name)]
    bound |= {*dir(builtins)} - {"_"}
    yield from ((node.id, place.span(node)) for node in names if node.id not in bound)


def names_bound(text: str, span: Span) -> set[str] | None:
    """The names that a statement binds, or was meant to bind with `==` for `=`; None if Python does
    not read it, or if it is no more than a name.
    """
    try:
        tree = tree_of(text[slice(*span)])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    match tree.body:
        case [ast.Expr(value=ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()]))]:
            return {name}
        case [ast.Expr(value=ast.Name() | ast.Attribute())]:
            return None
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def names_within(text: str, span: Span, name: str, words: Container[str]) -> Iterator[Span]:
    """The places where a name is, or is inside, an argument of a call of `R.word(…)`."""
    place = Lines(text, span)
    try:
        tree = tree_of(place.read)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    found = dict[Span, None]()
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in words:
            inside = (each for each in ast.walk(node) if isinstance(each, ast.Name))
            found |= dict.fromkeys(place.span(each) for each in inside if each.id == name)
    yield from found


def unread_statement(text: str, span: Span) -> tuple[str, Span] | None:
    """The first statement in a PrimFunc that TVM does not accept, in the form of
    :func:`python_refuses`.

    The stretch must be valid Python.
    """
    try:
        tree = tree_of(Lines(text, span).read)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    place = Lines(text, span)
    outermost = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    numbers = () if outermost is None else [*_number_parameters(outermost)]
    for node in ast.walk(tree):
        word = None if node is outermost else _unread_word(node)
        test = node.test if isinstance(node, ast.IfExp) else None
        if isinstance(test, ast.Name) and test.id in numbers:
            word = f"a choice by {test.id!r}, which is a number"
        if word is not None and isinstance(node, ast.stmt | ast.expr):
            start = place.offset(node.lineno, node.col_offset)
            return f"not supported by TVM in a PrimFunc: {word}", (start, start + 1)
    return None


def _number_parameters(function: ast.FunctionDef) -> Iterator[str]:
    """The parameters of a PrimFunc that are integers or floats."""
    for arg in function.args.args:
        said = arg.annotation
        if not isinstance(said, ast.Attribute) or not isinstance(said.value, ast.Name):
            continue
        if said.attr.startswith(("int", "uint", "float")):
            yield arg.arg


def _unread_word(node: ast.AST) -> str | None:
    """The word for a statement that TVM does not accept, whatever its names mean."""
    match node:
        case ast.Assign(targets=[_, _, *_]):
            return "chained assignment"
        case ast.AnnAssign(target=ast.Attribute() | ast.Subscript()):
            return "a type of anything but a name"
        case ast.Assign(targets=[ast.Attribute()]):
            return "assignment to an attribute"
        case ast.Assign(targets=[ast.Tuple() | ast.List() as target]) | ast.For(target=target) if (
            not _binds_names(target)
        ):
            return "assignment to anything but names on the left of a tuple or in a loop"
        case ast.For(
            target=ast.Tuple(elts=parts) | ast.List(elts=parts),
            iter=ast.Call(func=ast.Attribute(attr="grid")),
        ) if any(isinstance(part, ast.Tuple | ast.List) for part in parts):
            return "a tuple among the variables of T.grid"
        case ast.Assign(targets=[ast.Subscript(slice=index)]) if not all(
            map(_is_place, _parts(index))
        ):
            return "storing to a slice without a start or a stop"
        case ast.Assign(targets=[ast.Subscript()], value=value) if _is_no_number(value):
            return f"storing {_article(value)}, where a number is expected"
        case ast.Slice(lower=lower, upper=upper, step=ast.expr()) if not (lower and upper):
            return "a slice with a step that leaves out its start or its stop"
        case ast.BinOp(op=ast.MatMult()):
            return "the operator @, which numbers do not have"
        case ast.FunctionDef(decorator_list=[]):
            return "a function without a decorator"
        case ast.Yield() | ast.YieldFrom() | ast.Await():
            return f"{type(node).__name__.lower()}"
        case ast.With(items=items) if any(
            isinstance(item.context_expr, ast.Constant | _NO_NUMBERS) for item in items
        ):
            return "a `with` statement of what is no frame, such as T.sblock(…)"
        case ast.Assign(targets=[ast.Name()], value=value) if isinstance(
            value, ast.Lambda | ast.Dict | ast.Set | ast.Constant
        ) and not _is_number(value):
            return f"a name for {_article(value)}"
        case ast.For(iter=iterated) if isinstance(iterated, ast.Constant | _NO_NUMBERS):
            return "a loop over anything but T.grid, range or T.serial and its relatives"
        case ast.For(target=ast.Tuple(elts=[_]) | ast.List(elts=[_]), iter=ast.Call(args=[_])):
            return "a tuple of one loop variable"
        case ast.Expr(value=value) if isinstance(value, _NO_NUMBERS):
            return f"{_article(value)} as a statement"
        case ast.Call(func=ast.Attribute(attr="evaluate"), args=[value]) if _is_no_number(
            value
        ) and not isinstance(value, ast.JoinedStr):
            return f"T.evaluate of {_article(value)}"
        case ast.NamedExpr():
            return "an assignment inside an expression"
        case ast.Return(value=ast.Constant(value=None)):
            return "returning None"
    return _word(node) if isinstance(node, _UNREAD) else None


_NO_NUMBERS = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Lambda | ast.ListComp | ast.DictComp
"""Expressions of Python that are no number."""


def _is_no_number(value: ast.expr) -> bool:
    """Whether an expression of Python is certainly nothing that an element of a buffer holds."""
    other = isinstance(value, ast.Constant) and isinstance(value.value, bytes | complex | type(...))
    return other or isinstance(value, _NO_NUMBERS | ast.JoinedStr)


def _binds_names(target: ast.expr) -> bool:
    """Whether a target of several values, or of a loop, has only names."""
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_binds_names, parts))
        case ast.Starred(value=inner):
            return _binds_names(inner)
    return isinstance(target, ast.Name)


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _is_place(index: ast.expr) -> bool:
    """Whether a subscript says which elements are stored to."""
    match index:
        case ast.Slice(lower=lower, upper=upper):
            return lower is not None and upper is not None
        case ast.Constant(value=value):
            return value is not ... and value is not None
    return True


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float, str))


def _article(value: ast.expr) -> str:
    """An expression that is no number, in words."""
    names = {ast.Dict: "a dictionary", ast.Set: "a set", ast.Lambda: "a function"}
    names |= {ast.List: "a list", ast.Tuple: "a tuple", ast.Constant: "what is no number"}
    return names.get(type(value), "what is no number")


def refused_by_tvm(
    text: str, span: Span, is_value: Callable[[str], bool], dimensions: Container[str]
) -> tuple[str, str, Span] | None:
    """The part of a legal Python statement that TVM cannot compute: the reason, the help and the
    location.

    Parameters
    ----------
    is_value
        Whether a name is that of a Relax value.
    dimensions
        The names of shape variables.
    """
    place = Lines(text, span)
    try:
        tree = tree_of(place.read)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    for node in ast.walk(tree):
        found = _refused(node, is_value, dimensions)
        if found is not None:
            words, help, part = found
            return words, help, place.span(part)
    return None


_TYPES = ("int", "float", "bool", "str", "complex", "bytes", "list", "tuple", "dict", "set")


def _refused(
    node: ast.AST, is_value: Callable[[str], bool], dimensions: Container[str]
) -> tuple[str, str, ast.expr] | None:
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            by, chosen = _names(test), {*_names(body), *_names(orelse)}
            between = any(name in dimensions for name in by) and any(map(is_value, chosen))
            if not _is_identity(test) and (between or any(map(is_value, by))):
                words = "Python cannot choose by this condition, which only a run knows"
                return words, "write an `if` statement with two branches", test
        case ast.NamedExpr(target=target):
            help = f"bind {target.id!r} with `=` in a line of its own"
            return "TVM does not read `:=`", help, node
        case ast.Await():
            return "TVM does not read `await`", "write the value without it", node
        case ast.Expr(value=ast.Lambda() as value):
            return "TVM does not read a function as a statement", "remove it", value
        case ast.AnnAssign(annotation=ast.Name(id=name) as annotation) if name in _TYPES:
            help = "leave the annotation out, or write a type of Relax, such as R.Tensor"
            return f"{name!r} is a type of Python, not of Relax", help, annotation
        case ast.Call(
            func=ast.Name(id="sum"), args=[ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt)]
        ):
            if any(map(is_value, _names(elt))):
                return "Python's sum begins with 0", "write the sum with `+`", node
        case ast.GeneratorExp(elt=elt, generators=[first, *rest]):
            made = {name for each in (first, *rest) for name in _names(each.target)}
            later = [elt, *first.ifs, *(e for each in rest for e in (each.iter, *each.ifs))]
            if any(made & _names(part) for part in later):
                words = "TVM does not know the variable of a generator inside it"
                return words, "write a list: `[… for … in …]`", node
    return None


def _is_identity(test: ast.expr) -> bool:
    """`x is None`, which Python decides without a run."""
    return isinstance(test, ast.Compare) and all(
        isinstance(operator, ast.Is | ast.IsNot) for operator in test.ops
    )


def _names(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _word(node: ast.stmt) -> str:
    """The name of a kind of statement."""
    return f"{type(node).__name__.removeprefix('Async').removesuffix('Def').lower()} statement"


def tree_of(text: str) -> ast.Module:
    """The tree of a text, as Python's parser reads it, without Python's warnings.

    Raises
    ------
    SyntaxError, ValueError, MemoryError, RecursionError
        If the text is not Python, or nested deeper than Python reads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def expression_of(text: str) -> ast.expr:
    """The tree of a text that is one expression; see :func:`tree_of`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


class Lines:
    """A stretch of text for Python's parser: under an added head, so its lines keep their
    indentation.
    """

    def __init__(self, text: str, span: Span, outer: bool = False) -> None:
        self.start = line_start(text, span[0])
        body = text[self.start : span[1]]
        self.indented = not outer and body[:1] in (" ", "\t")
        self.read = f"if True:\n{body}" if self.indented else body
        self.body = body

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a line and column in the parsed Python text, with lines counted
        from 1.
        """
        at = 0
        for _ in range(line - 1 - self.indented):
            at = self.body.find("\n", at) + 1 or at
        last = line_end(self.body, at) - 1
        return self.start + max(at, min(at + column, last))

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> Span:
        """The span of a node."""
        end = self.offset(node.end_lineno or 1, (node.end_col_offset or 1) - 1)
        return (self.offset(node.lineno, node.col_offset), end + 1)
