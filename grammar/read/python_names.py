"""Names of Python that a Relax function uses and that are unknown when Python evaluates it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.prim_scalars import assigns_lets
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.read.python_syntax import Lines, tree_of

if TYPE_CHECKING:
    from rlx.grammar.read.surroundings import PythonAround, Surroundings

Class = tuple[str, frozenset[str]]
"""The name of a class, and those that it binds."""


def unknown_names(text: str, read: Sequence[Span], around: Surroundings) -> Iterator[Diagnostic]:
    """The names of a class that its functions use bare, `cls` where nothing binds it, `.shape` of a
    variable, and parameters without annotation: running the file ends with an error at each.

    Parameters
    ----------
    text
        The whole source text.
    read
        The definitions in it, with their decorators.
    """
    if is_prototype(text):  # in 2022, variables had a shape
        return
    postponed = postpones_annotations(text)
    types = frozenset(found[1] for found in _lines_with(_TYPE_VAR, "TypeVar(", text))
    for span in read:
        place = Lines(text, span)
        tree = _tree(place.read)
        if tree is None:
            continue
        view = around.view(span[0])
        if _BARE.search(place.read) and view.value("Tensor") is ...:
            continue  # still in 2022, the parser evaluated no names
        for function, holder in _functions(tree):
            yield from _unknown(function, holder, place, view)
            evaluated = () if postponed else tuple(_evaluated(function, types, place))
            if evaluated and not assigns_lets(text):
                yield from evaluated
                postponed = True  # the file ends there, and what helps there helps in all functions


_OF_A_CALL = re.compile(r"^( +)\w+(?:: R\.[^\n#\\]*)? = R\.[^\n#\\]*\)$", re.MULTILINE)
_TENSOR = re.compile(r'(?<=: )()R\.Tensor\(\([\w, ]*\), dtype="\w+"\)')
_SHAPE = re.compile(r"\.shape\b(?!\()")
_BARE = re.compile(r":\s*Tensor\(")
_DEFINED = re.compile(r"^( *)def (\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def _tree(text: str) -> ast.Module | None:
    """The tree of a definition; None if it is not Python.

    Most of a long text are names for calls, `y = R.exp(x)`, and types of tensors. Those that have
    no name of a function are left out, as Python's parser needs most of its time for them.
    """
    if not _SHAPE.search(text) and '"""' not in text and "'''" not in text:
        defined = _DEFINED.findall(text)
        beside = len(defined[0][0]) if defined else 0  # as deep as the functions of a class
        assigned = re.compile(rf"^ {{0,{beside}}}(\w+)\s*[:=]", re.MULTILINE).findall(text)
        words = {"cls", "self", *assigned, *(name for _, name in defined)}

        def brief(part: re.Match[str]) -> str:  # as long as it was: what is behind keeps its column
            plain = words.isdisjoint(_WORD.findall(part[0]))
            return f"{part[1]}0".ljust(len(part[0])) if plain else part[0]

        try:
            return tree_of(_TENSOR.sub(brief, _OF_A_CALL.sub(brief, text)))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            pass
    try:
        return tree_of(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def postpones_annotations(text: str) -> bool:
    """Whether Python evaluates no annotations of a file: it imports them from `__future__`."""
    return any(_lines_with(_POSTPONED, "__future__", text))


def _lines_with(pattern: re.Pattern[str], word: str, text: str) -> Iterator[re.Match[str]]:
    """The lines of a form that has this word: nearly all of a text may be weights."""
    at = text.find(word)
    while at >= 0:
        found = pattern.match(text, text.rfind("\n", 0, at) + 1)
        if found is not None:
            yield found
        at = text.find(word, at + 1)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, Class | None]]:
    """The outermost Relax functions and PrimFuncs, each with the class around it."""
    for statement in tree.body:
        match statement:
            case ast.If(body=body):  # the head that keeps the indentation
                yield from _functions(ast.Module(body, []))
            case ast.ClassDef(name=name, body=body):
                names = frozenset(each for part in body for each in _binds(part))
                found = (part for part in body if isinstance(part, ast.FunctionDef))
                yield from ((part, (name, names)) for part in found if _is(part, *_KINDS))
            case ast.FunctionDef() if _is(statement, *_KINDS):
                yield statement, None


_KINDS = ("function", "prim_func")
_ANY = dialect(DEFAULT).object_info


def _is(function: ast.FunctionDef, *kinds: str) -> bool:
    """Whether a function is decorated with `R.function` or its like, called or not."""
    words = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return any(isinstance(word, ast.Attribute) and word.attr in kinds for word in words)


def _binds(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (
                part.id for t in targets for part in ast.walk(t) if isinstance(part, ast.Name)
            )
        case ast.Name(id=name, ctx=ast.Store()):
            yield name


def _unknown(
    function: ast.FunctionDef, holder: Class | None, place: Lines, around: PythonAround
) -> Iterator[Diagnostic]:
    if _is(function, "prim_func"):
        for each in function.args.args:
            if each.annotation is None:
                yield _unannotated(each, "T.handle", function.args.args, place)
        return
    nodes = list(ast.walk(function))
    bound = {name for node in nodes for name in _binds(node)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    values = _variables(nodes)
    for node in nodes:
        match node:
            case ast.FunctionDef(args=ast.arguments(args=parameters)) if _is(node, "function"):
                for each in parameters:
                    # The calls of `self` speak of it.
                    if each.annotation is None and (each.arg != "self" or "self" not in names):
                        yield _unannotated(each, _ANY, parameters, place)
            case ast.Attribute(value=ast.Name(id=name), attr="shape") if name in values:
                right = f"R.shape_of({name})"
                words = f"a Relax variable has no attribute 'shape' in TVM: {name}.shape"
                yield _refused("PYTHON-attribute", words, right, place.span(node))
            case ast.Name(id=name, ctx=ast.Load()) if holder is not None and name not in bound:
                if (
                    name not in ("cls", *holder[1])
                    or around.value(name) is not ...
                    or name in around.names()
                ):
                    continue
                if name == "cls":
                    words = f"nothing binds 'cls': write `cls = {holder[0]}` above"
                    yield _refused("PYTHON-name", words, holder[0], place.span(node))
                else:
                    words = f"{name!r} is not defined here: it is a name of the class {holder[0]!r}"
                    yield _refused("PYTHON-name", words, f"{holder[0]}.{name}", place.span(node))


_POSTPONED = re.compile(r"from __future__ import\b[^#\n]*(?:\([^)]*)?\bannotations\b")
_TYPE_VAR = re.compile(r"[ \t]*(\w+)[ \t]*=[ \t]*(?:typing\.)?TypeVar\(")


def _evaluated(
    function: ast.FunctionDef, types: frozenset[str], place: Lines
) -> Iterator[Diagnostic]:
    """Annotations that end with an error when Python evaluates them, where it defines a function."""
    given = (each.annotation for each in function.args.args)
    for annotation in (*given, function.returns):
        for node in ast.walk(annotation) if annotation is not None else ():
            match node:
                case ast.BinOp(left=left, right=right, op=op) if not isinstance(op, ast.BitOr):
                    wrong = _named((left, right), types)
                    words = f"Python does no arithmetic on the TypeVar {wrong!r}"
                case ast.Call(func=ast.Attribute(value=ast.Name(id="T"), attr="Buffer"), args=args):
                    shape = args[0] if args else None
                    dims = shape.elts if isinstance(shape, ast.Tuple | ast.List) else ()
                    wrong = _named(dims, types) or next(
                        (
                            repr(d.value)
                            for d in (*dims, shape)
                            if isinstance(d, ast.Constant) and isinstance(d.value, str)
                        ),
                        None,
                    )
                    words = f"TVM makes no buffer of the dimension {wrong} outside of its parser"
                case _:
                    continue
            if wrong is not None:
                words += ": running the file ends here, as Python evaluates annotations"
                help = "write `from __future__ import annotations` at the top of the file"
                where = place.span(node)
                yield Diagnostic("PYTHON-evaluated", "warning", words, where, help=help)
                return


def _named(nodes: Iterable[ast.expr], types: frozenset[str]) -> str | None:
    return next((n.id for n in nodes if isinstance(n, ast.Name) and n.id in types), None)


def _variables(nodes: Sequence[ast.AST]) -> set[str]:
    """The parameters, and the names that calls are bound to, but for values of Python."""
    found = {each.arg for each in nodes if isinstance(each, ast.arg)}
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=word))
            ):
                if word != "meta_var":
                    found.add(name)
    return found


def _unannotated(
    parameter: ast.arg, annotation: str, parameters: Sequence[ast.arg], place: Lines
) -> Diagnostic:
    """A parameter without annotation; one that stands for an object, as in a class, is too much."""
    name, (start, end) = parameter.arg, place.span(parameter)
    words = f"TVM requires an annotation of the parameter {name!r}"
    if name != "self" or parameter is not parameters[0]:
        return _refused("PYTHON-annotation", words, f"{name}: {annotation}", (start, end))
    words += "; functions of a module take no object"
    behind = place.span(parameters[1])[0] if len(parameters) > 1 else end
    edit = Edit((start, behind), "")
    help = "remove it"
    return Diagnostic("PYTHON-annotation", "error", words, (start, end), help=help, edit=edit)


def _refused(code: str, words: str, right: str, span: Span) -> Diagnostic:
    return Diagnostic(code, "error", words, span, help=f"write `{right}`", edit=Edit(span, right))
