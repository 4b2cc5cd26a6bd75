"""Text in a PrimFunc that is kept as it is: meanings that it cannot have, whatever Python makes of
the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from rlx.grammar.nodes.dtype import SCALAR_NAMES
from rlx.grammar.read.python_syntax import tree_of
from rlx.grammar.read.script_vocabulary import ARITY

_NUMBERS = frozenset(
    [
        *("a", "allocated_addr", "args", "asobject", "astype", "b", "base", "body", "buffer"),
        *("condition", "data", "dtype", "equal", "expr_ty", "false_value", "handle", "id_"),
        *("indices", "is_", "lanes", "name", "name_hint", "op", "predicate", "producer", "same_as"),
        *("script", "show", "source", "span", "stride", "true_value", "ty", "type_annotation"),
        *("value", "var", "vectors"),
    ]
)
_BUFFERS = _NUMBERS | frozenset(
    [
        *("access_ptr", "axis_separators", "buffer_type", "byte_offset", "byte_offset_of", "chunk"),
        *("data_alignment", "elem_offset", "elem_offset_of", "get_flattened_buffer", "is_scalar"),
        *("layout", "local", "offset_factor", "offset_of", "permute", "ptr_to", "rearrange"),
        *("scope", "shape", "strides", "sub", "tile", "view", "vload", "vstore"),
        *("with_allocated_addr", "with_dtype"),
    ]
)
_LISTS = frozenset(["count", "id_", "index", "is_", "same_as"])
_ATTRIBUTES = {
    "a buffer": _BUFFERS,
    "a buffer of one element": _BUFFERS,  # also a number, if it was made by an assignment
    "a number": _NUMBERS,
    "a pointer": _NUMBERS,
    "a list of numbers": _LISTS,
}
"""The attributes of values of a PrimFunc, in any version of TVM."""
_OF_BUFFERS = {"data": "a pointer", "shape": "a list of numbers", "strides": "a list of numbers"}
_TEXTS = frozenset(["dtype", "name"])
_WHOLE = frozenset(["a buffer", "a region"])
_ELEMENTS = "arithmetic is done on the elements of a buffer, in a loop"


class Mistake(NamedTuple):
    """The premise that a text breaks, and what is wrong, in words."""

    code: str
    words: str


def mistake(text: str, kind_of: Callable[[str], str | None], is_statement: bool) -> Mistake | None:
    """The certain mistake in an expression or a statement that nothing else reports.

    Parameters
    ----------
    kind_of
        ``"a buffer"``, ``"a buffer of one element"``, ``"a number"`` or ``"a pointer"`` if a
        name is that, else None.
    """
    try:
        return _mistake(tree_of(text), text, kind_of, is_statement)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _mistake(
    tree: ast.Module, text: str, kind_of: Callable[[str], str | None], is_statement: bool
) -> Mistake | None:
    found = _KeptText(kind_of)
    for statement in tree.body:
        match statement:
            case ast.Expr(value=value):
                found.kind(value)
                if is_statement and isinstance(value, ast.Attribute) and found.root(value):
                    found.refuse(f"the statement has no effect: {text}")
            case ast.Assign(targets=[ast.Subscript(value=target)], value=value):
                match found.kind(target):
                    case "a list of numbers":
                        found.refuse("the shape and strides of a buffer cannot be stored to")
                    case "a number":
                        words = f"{ast.unparse(target)!r} is a number, not a buffer"
                        found.refuse(f"{words}: it cannot be stored to", "TIR04-buffer")
                found.kind(value)
            case ast.AnnAssign(annotation=annotation, value=ast.expr() as value):
                found.bound(annotation, value)
            case ast.Assign(targets=[ast.Name()], value=ast.Compare() as value):
                found.compared(value)
            case ast.Assign(targets=[target], value=value):
                kind = found.kind(value)
                if kind in ("a number", "a pointer") and isinstance(target, ast.Tuple | ast.List):
                    found.refuse(f"{kind} cannot be unpacked")
    for node in ast.walk(tree):
        if isinstance(node, ast.Starred) and found.kind(node.value) == "a number":
            found.refuse("a number cannot be unpacked")
    return found.mistake


class _KeptText:
    """Finds the kinds of the values in a text, and the first mistake."""

    def __init__(self, kind_of: Callable[[str], str | None]) -> None:
        self.kind_of = kind_of
        self.mistake: Mistake | None = None

    def refuse(self, words: str, code: str = "TIR04-attribute") -> None:
        self.mistake = self.mistake or Mistake(code, words)

    def root(self, node: ast.expr) -> str | None:
        """The kind of the value that attributes, elements and calls begin with."""
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            if _is_number(node):
                return "a number"
            node = node.func if isinstance(node, ast.Call) else node.value
        return self.kind_of(node.id) if isinstance(node, ast.Name) else None

    def kind(self, node: ast.expr) -> str | None:
        """The certain kind of a value; None if it is open."""
        match node:
            case ast.Name(id=name):
                return self.kind_of(name)
            case ast.Call(func=ast.Attribute() as called, args=args) if _is_number(node):
                if called.attr in ARITY and not _WHOLE.isdisjoint(map(self.kind, args)):
                    self.refuse(f"`{ast.unparse(called)}` is computed of elements, in a loop")
                return "a number"
            case ast.BinOp(left=left, right=right, op=op):
                kinds = self.kind(left), self.kind(right)
                if not _WHOLE.isdisjoint(kinds):
                    self.refuse(_ELEMENTS)
                # Whatever else is added to a number is one; Python multiplies lists.
                added = isinstance(op, ast.Add | ast.Sub)
                return "a number" if "a number" in kinds and added else None
            case ast.UnaryOp(operand=operand) if self.kind(operand) in _WHOLE:
                self.refuse(_ELEMENTS)
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int() | float()):
                return "a number"
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self.kind(value), name)
            case ast.Subscript(value=value):
                return self._element(node, self.kind(value))
            case ast.Call(func=ast.Attribute(value=value, attr=name) as called):
                owner = self.kind(value)
                made = self._attribute(owner, name)
                if made is not None or (owner in _ATTRIBUTES and name in _TEXTS):
                    self.refuse(f"{made or 'a text'} cannot be called: {ast.unparse(called)}")
                if owner == "a number" and name == "astype":
                    if not node.args and not node.keywords:
                        self.refuse("`astype` takes a data type")
                    return owner
            case ast.Call(func=func) if self.kind(func) is not None:
                self.refuse(f"{self.kind(func)} cannot be called: {ast.unparse(func)}")
        return None

    def bound(self, annotation: ast.expr, value: ast.expr) -> None:
        """A value that `T.let` binds."""
        let = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        if ast.unparse(let) != "T.let":
            return
        kind = self.kind(value)
        if isinstance(value, ast.Attribute) and value.attr in _TEXTS and self.kind(value.value):
            kind = "a text"
        if kind in ("a text", "a list of numbers"):
            self.refuse(f"`T.let` binds a number or a pointer, not {kind}")

    def compared(self, value: ast.Compare) -> None:
        """A comparison that a variable holds."""
        plain = not any(isinstance(op, ast.Is | ast.IsNot) for op in value.ops)
        kinds = map(self.kind, (value.left, *value.comparators))
        if plain and not _WHOLE.isdisjoint(kinds):
            self.refuse("comparisons are of the elements of a buffer, in a loop")

    def _attribute(self, owner: str | None, name: str) -> str | None:
        known = _ATTRIBUTES.get(owner or "")
        if known is not None and name not in known and not name.startswith("_"):
            self.refuse(f"{owner} has no attribute {name!r}")
        return _OF_BUFFERS.get(name) if owner in ("a buffer", "a buffer of one element") else None

    def _element(self, node: ast.Subscript, owner: str | None) -> str | None:
        if owner == "a number":
            words = "only a buffer is indexed; this is a number"
            if isinstance(node.value, ast.Name):
                words = f"{node.value.id!r} is a number, not a buffer: it cannot be indexed"
            self.refuse(words, "TIR04-buffer")
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices = [place for place in places if isinstance(place, ast.Slice)]
        if slices and owner == "a buffer" and all(place.step is None for place in slices):
            return "a region"
        if slices or owner is None:
            return None
        return "a number" if owner != "a pointer" else None


def _is_number(node: ast.expr) -> bool:
    """Whether a call of TVMScript gives a number for certain: ``T.int32(1)``, ``T.exp(x)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="T"), attr=name)):
            return name in ARITY or name in SCALAR_NAMES
    return False
