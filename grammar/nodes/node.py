"""Base classes of records and syntax tree nodes, which are frozen, slotted and compared by
identity.

The standard ``dataclass(frozen=True, slots=True)`` would take 70 ms at every start of the command
to create about a hundred classes; this metaclass takes 5 ms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import takewhile
from operator import is_
from types import CodeType, FunctionType
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

Span = tuple[int, int]
"""Start and end offset of a node in its source text, in characters, end exclusive."""

T = TypeVar("T", bound="Record")
S = TypeVar("S")


@dataclass_transform(frozen_default=True, eq_default=False)
class RecordMeta(type):
    """Converts a class body of annotated fields to slots, an ``__init__`` and
    ``__match_args__``.
    """

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordMeta:
        own = tuple(f for f in namespace.get("__annotations__", ()) if not f.startswith("_"))
        defaults = {f: namespace.pop(f) for f in own if f in namespace}
        namespace["__slots__"] = (*namespace.get("__slots__", ()), *own)
        cls = super().__new__(mcls, name, bases, namespace)
        inherited: tuple[str, ...] = getattr(bases[0], "__match_args__", ()) if bases else ()
        fields = inherited + own
        type.__setattr__(cls, "__match_args__", fields)
        if own:
            kinds = {**(bases[0]._kinds if bases else {}), **namespace["__annotations__"]}  # type: ignore[attr-defined]
            type.__setattr__(cls, "_kinds", kinds)
            many = tuple(k for k, f in enumerate(fields) if _SEVERAL(kinds[f]))
            named = tuple(k for k, f in enumerate(fields) if kinds[f] == _BY_NAME)
            code = _initialiser(len(fields), many, named).replace(co_varnames=("self", *fields))
            setters = {f"_set_{k}": getattr(cls, f).__set__ for k, f in enumerate(fields)}
            values = tuple(defaults[f] for f in fields if f in defaults)
            scope = {**setters, "_listed": _listed, "__name__": __name__}  # no place is in it
            type.__setattr__(cls, "__init__", FunctionType(code, scope, "__init__", values))
        return cls


_SEVERAL = re.compile(r"tuple\[.*, \.\.\.\]( \| None)?").fullmatch
"""Whether an annotation is that of any number of values."""
_BY_NAME = "Mapping[str, object]"
"""The annotation of attributes."""


@cache
def _initialiser(count: int, many: tuple[int, ...], named: tuple[int, ...]) -> CodeType:
    """The code of an ``__init__`` with so many fields, which get their names in each class: to
    compile a text for each of a hundred classes would take 6 ms more at every start of the command.
    The fields of ``many`` are tuples; a list is made one. In those of ``named``, None is no
    attributes, as for TVM.
    """
    names = [f"f{k}" for k in range(count)]
    lines = [f"_set_{k}(self, {name})" for k, name in enumerate(names)]
    for k in many:
        lines[k] = f"_set_{k}(self, f{k} if f{k}.__class__ is tuple else _listed(self, {k}, f{k}))"
    for k in named:
        lines[k] = f"_set_{k}(self, {{}} if f{k} is None else f{k})"
    text = "".join(f"\n {line}" for line in lines)
    whole = compile(f"def __init__(self, {', '.join(names)}):{text}", "<a record>", "exec")
    [code] = [each for each in whole.co_consts if isinstance(each, CodeType)]
    return code


def _listed(record: Record, at: int, given: object) -> object:
    """The value of a field that has several, from a list; None is what stands for no value, or no
    values. Raises MisuseError if it is a single one.
    """
    names: tuple[str, ...] = type(record).__match_args__
    name = names[at]
    if given is None and type(record)._kinds[name].endswith("None"):
        return None
    make: Any = type(record).__init__
    optional = dict(zip(names[::-1], (make.__defaults__ or ())[::-1], strict=False))
    if given is None and optional.get(name) == ():
        return ()
    if isinstance(given, list | tuple):
        return tuple(given)
    places = import_module("rlx.grammar.nodes.python_places")
    main = ", ".join(takewhile(lambda each: "span" not in each, names))
    words = f"expected a tuple or list as {name}, found {places.described(given)}"
    raise places.MisuseError(f"{words}: write {type(record).__name__}({main})", places.here())


class Record(metaclass=RecordMeta):
    """Base class of plain data: frozen, with equality and hash by identity."""

    _kinds: ClassVar[Mapping[str, str]] = {}
    """The annotation of each field."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")

    def __repr__(self) -> str:
        return _shown(self, _DEPTH)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        names: tuple[str, ...] = type(self).__match_args__
        return type(self), tuple([getattr(self, name) for name in names])  # faster than a generator


PRINTER = "rlx.grammar.print.printer"
"""The module that prints nodes, given by name, so it is loaded only when a text is requested."""

PASTEABLE = "rlx.grammar.nodes.pasteable"
"""The module that prints nodes as Python expressions, also given by name."""


class _Pretty:
    """The form that IPython shows of a node, and Hypothesis of an example that fails: there, an
    expression to paste.

    IPython takes the method of the class, and Hypothesis that of whatever it prints, classes among
    it.
    """

    def __get__(self, node: Node | None, owner: type) -> Callable[..., None]:
        def shown(*given: Any) -> None:
            *of, printer, _ = given
            [printed] = of or [owner if node is None else node]
            if isinstance(printed, type):
                printer.text(f"{printed.__module__}.{printed.__qualname__}")
            elif type(printer).__module__.startswith("hypothesis"):
                printer.text(import_module(PASTEABLE).pasteable(printed))
            else:
                printer.text(str(printed).rstrip())

        return shown


class ShownAsText(Record):
    """Base class of records that a notebook shows by their text."""

    def _repr_html_(self) -> str:
        from rlx.grammar.streams import preformatted

        return preformatted(str(self))


class Node(ShownAsText):
    """Base class of the syntax tree: a node is a position in a program, so equality is identity.

    Structural comparison is :func:`rlx.grammar.nodes.equal.structural_equal`. ``str`` of a module, a
    function, an expression, struct info or a dimension is its text, which a notebook shows too.

    A class knows its children from the annotations of its fields. It declares what differs:

    - ``_children`` has the fields with children in the order of evaluation, if that is not the
      order of declaration, or if other fields refer to nodes elsewhere (a load to its buffer);
    - ``_binds`` has those of them that hold names bound here, variables and buffers. A name is not
      a child, because its uses are the same object; what the text declares with it is one: the
      annotation of a variable, the shape of a buffer (``_declared``).
    """

    _children: ClassVar[tuple[str, ...] | None] = None
    _binds: ClassVar[tuple[str, ...]] = ()
    _shared: ClassVar[bool] = False
    """Whether one object may be at several places of a program, as annotations and scalars may."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Most classes are never asked in a run of the command: both are made at the first call.
        type.__setattr__(cls, "children", _make_children)
        type.__setattr__(cls, "map_children", _make_map_children)

    def children(self) -> tuple[Node, ...]:
        """The nodes directly below this one, in the order of evaluation."""
        return ()

    def bound(self) -> list[Any]:
        """The names that this node binds: variables and buffers."""
        return nodes_in([getattr(self, name) for name in self._binds]) if self._binds else []

    def declared(self) -> tuple[Node, ...]:
        """The nodes that the text gives with a name where it is bound."""
        return ()

    def map_children(
        self, change: Callable[[Any], Any], define: Callable[[Any], Any] | None = None
    ) -> Self:
        """This node with its children changed, or itself if they are the same objects.

        Parameters
        ----------
        define
            Changes the names that the node binds. Without it they stay, with what is declared with
            them: who replaces a name must replace its uses.
        """
        return self

    def __str__(self) -> str:
        return str(import_module(PRINTER).print_node(self))

    _repr_pretty_ = _Pretty()


_DEPTH = 6
"""The maximum depth of a representation, because nodes may be nested deeper than Python can
recurse.
"""


def tuple_text(parts: list[str]) -> str:
    if len(parts) == 1:
        return f"({parts[0]},)"
    return f"({', '.join(parts)})"


def _shown(value: object, depth: int) -> str:
    if isinstance(value, tuple):
        return tuple_text([_shown(v, depth) for v in value])
    if not isinstance(value, Record) or type(value).__repr__ is not Record.__repr__:
        return repr(value)
    if not depth:
        return f"{type(value).__name__}(…)"
    shown = ", ".join(
        f"{name}={_shown(part, depth - 1)}"
        for name, part in fields(value)
        if name != "span" and part is not None
    )
    return f"{type(value).__name__}({shown})"


def fields(node: Record) -> Iterator[tuple[str, Any]]:
    """Names and values of a node's fields, in order of declaration."""
    names: tuple[str, ...] = type(node).__match_args__
    for name in names:
        yield name, getattr(node, name)


def complete(node: Record, **fields: object) -> None:
    """Set fields of a node that could not be known when it was made: a name is used above the
    signature that gives its type, and every use is the same object.

    Only who made the node may do so. Everybody else makes a copy with :func:`replace`.
    """
    for name, value in fields.items():
        object.__setattr__(node, name, value)


def replace(node: T, **changes: Any) -> T:
    """A copy of ``node`` with some fields changed."""
    kind = type(node)
    copy = _COPIES.get(kind) or _copier(kind)
    copied: T = copy(node, **changes)
    return copied


class Attributed:
    """A node with attributes: a function or a module."""

    __slots__ = ()
    attrs: Mapping[str, object]

    def with_attr(self, name: str | Mapping[str, object], value: object = None) -> Self:
        """This function or module with an attribute, or with several by name. They replace
        attributes of the same names.

        Raises
        ------
        MisuseError
            If a name is not a text, or a value has no text in a program.
        """
        given = {name: value} if isinstance(name, str) else name
        added = import_module("rlx.grammar.nodes.overloaded").attributes(given)
        return replace(self, attrs={**self.attrs, **added})  # type: ignore[type-var]

    def with_attrs(self, attrs: Mapping[str, object]) -> Self:
        """This function or module with several attributes; see :meth:`with_attr`."""
        return self.with_attr(attrs)

    def without_attr(self, name: str) -> Self:
        """This function or module without an attribute."""
        return replace(self, attrs={n: v for n, v in self.attrs.items() if n != name})  # type: ignore[type-var]

    def get_attr(self, name: str, default: object = None) -> object:
        """An attribute, or the default if there is none of the name."""
        return self.attrs.get(name, default)


_COPIES: dict[type, Callable[..., Any]] = {}
_KEPT = object()


def _copier(kind: type) -> Callable[..., Any]:
    """Make the function that copies nodes of a class: one made for its fields takes half as long as
    a loop.
    """
    if not issubclass(kind, Record):
        raise TypeError(f"expected a node, found {kind.__name__}")
    names: tuple[str, ...] = kind.__match_args__
    parameters = "".join(f", {name}=_KEPT" for name in names)
    values = ", ".join(f"_node.{name} if {name} is _KEPT else {name}" for name in names)
    text = f"def copy(_node, /{', *' if names else ''}{parameters}):\n return _kind({values})"
    scope: dict[str, Any] = {"__name__": __name__, "_KEPT": _KEPT, "_kind": kind}
    exec(text, scope)  # noqa: S102 - field names only
    made: Callable[..., Any] = scope["copy"]
    _COPIES[kind] = made
    return made


def changed(node: T, **fields: object) -> T:
    """A copy of a node with other fields, or the node itself if they are the same objects."""
    for name, value in fields.items():
        if getattr(node, name) is not value:
            return replace(node, **fields)
    return node


def same(old: tuple[S, ...], new: Iterable[S]) -> tuple[S, ...]:
    """The old tuple if the new items are the same objects, otherwise a new one."""
    items = tuple(new)
    if len(items) != len(old):
        return items
    return old if all(map(is_, old, items)) else items


def all_same(old: Iterable[object], new: Iterable[object]) -> bool:
    """Whether two sequences have the same objects."""
    before, after = list(old), list(new)
    return len(before) == len(after) and all(map(is_, before, after))


def walk(root: Node) -> Iterator[Node]:
    """A node and everything below it, in preorder.

    An annotation or a scalar that is at several places as one object is visited once, so that the
    time is bounded by the size in memory: `((t, t), (t, t))` may share its halves.
    """
    if not isinstance(root, Node):
        raise TypeError(f"expected a node, found {type(root).__name__}")
    stack = [root]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        below = node.children()
        if below:
            if node._shared:
                if node in seen:
                    continue
                seen.add(node)
            stack.extend(reversed(below))
        yield node


# ---------------------------------------------------------------- children by class

_WITHOUT_NODES = frozenset(
    ["bool", "bytes", "float", "int", "str", "Mapping", "None", "Span", "tuple", "DataType"]
)
"""The words of annotations whose fields hold no nodes."""


def child_fields(kind: type[Node]) -> list[tuple[str, str]]:
    """The fields that hold children, each with its annotation."""
    kinds = kind._kinds
    names = kind._children
    if names is None:
        every: tuple[str, ...] = kind.__match_args__
        names = tuple(
            n for n in every if not _WITHOUT_NODES.issuperset(re.findall(r"\w+", kinds[n]))
        )
    return [(name, kinds[name]) for name in names]


def _method(kind: type[Node], name: str, parameters: str, lines: list[str]) -> Callable[..., Any]:
    """Compile a method for a class; it takes the place of the one that made it."""
    helpers = {"_nodes_in": nodes_in, "_map_data": map_data, "_same": same, "_replace": replace}
    scope: dict[str, Any] = {"__name__": __name__, **helpers}  # an error is not located in it
    text = f"def {name}(self{parameters}):" + "".join(f"\n {line}" for line in lines)
    exec(text, scope)  # noqa: S102 - field names only
    made: Callable[..., Any] = scope[name]
    type.__setattr__(kind, name, made)
    return made


def _make_children(self: Node) -> tuple[Node, ...]:
    kind = type(self)
    items = []
    for name, annotation in child_fields(kind):
        held, binds = f"self.{name}", name in kind._binds
        if binds and annotation.startswith(("tuple", "Mapping")):
            each = f"{held}.values()" if annotation.startswith("Mapping") else held
            items.append(f"*[node for name in {each} for node in name.declared()]")
        elif annotation.startswith("Mapping"):
            items.append(f"*(_nodes_in({held}) if {held} else ())")
        elif annotation.startswith("tuple"):
            items.append(f"*({held} or ())" if annotation.endswith("None") else f"*{held}")
        else:
            item = f"*{held}.declared()" if binds else held
            some = f"{item[1:] if binds else f'({held},)'}"
            items.append(
                f"*(() if {held} is None else {some})" if annotation.endswith("None") else item
            )
    whole = len(items) == 1 and re.fullmatch(r"\*(self\.\w+)", items[0])
    result = whole[1] if whole else f"({', '.join(items)}{',' * bool(items)})"
    found: tuple[Node, ...] = _method(kind, "children", "", [f"return {result}"])(self)
    return found


def _make_map_children(self: Node, change: Any, define: Any = None) -> Node:
    kind = type(self)
    lines, names = [], []
    for name, annotation in child_fields(kind):
        held, many = f"self.{name}", annotation.startswith("tuple")
        empty = f"{held} is None" if annotation.endswith("None") else ""
        if name in kind._binds:
            empty = f"define is None or {empty}" if empty else "define is None"
        by = "define" if name in kind._binds else "change"
        if annotation.startswith("Mapping"):
            new = f"_map_data({held}, {by}) if {held} else {held}"
        else:
            new = f"{held} and _same({held}, map({by}, {held}))" if many else f"{by}({held})"
        lines.append(f"{name} = {held} if {empty} else {new}" if empty else f"{name} = {new}")
        names.append(name)
    kept = " and ".join(f"{name} is self.{name}" for name in names) or "True"
    changed = ", ".join(f"{name}={name}" for name in names)
    lines.append(f"return self if {kept} else _replace(self, {changed})")
    mapped: Node = _method(kind, "map_children", ", change, define=None", lines)(
        self, change, define
    )
    return mapped


def nodes_in(value: Any) -> list[Node]:
    """The nodes in data: in tuples, lists and the values of mappings."""
    kind = type(value)
    if kind in _PLAIN:
        return []
    if kind is not tuple and kind is not list and kind is not dict:
        if isinstance(value, Record):
            return [value] if isinstance(value, Node) else []
        if not isinstance(value, _HOLDING):
            return []
    is_sequence = kind is tuple or kind is list or isinstance(value, _SEQUENCES)
    parts = value if is_sequence else value.values()
    if _PLAIN.issuperset(map(type, parts)):
        return []
    return [node for part in parts if not _is_plain(part) for node in nodes_in(part)]


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return kind in _PLAIN or (kind is tuple and _PLAIN.issuperset(map(type, value)))


_SEQUENCES = (tuple, list)
_HOLDING = (*_SEQUENCES, Mapping)
_PLAIN = frozenset([str, int, float, bool, type(None)])
"""The types of most data, in which there are no nodes."""


def map_data(value: Any, change: Callable[[Any], Any]) -> Any:
    """Data with its nodes changed, or itself if they are the same objects."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if (kind is list or kind is tuple) and _PLAIN.issuperset(map(type, value)):
        return value
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple | list):
        new = [map_data(part, change) for part in value]
        return value if all_same(value, new) else type(value)(new)
    if isinstance(value, Mapping):
        mapped = {key: map_data(part, change) for key, part in value.items()}
        return value if all_same(value.values(), mapped.values()) else mapped
    return value
