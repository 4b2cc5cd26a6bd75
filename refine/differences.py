"""Differences between two programs: of their text up to names and order, then of their meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.encoded import buffer_of
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, Record, fields
from rlx.grammar.nodes.visit import bindings_in, called_globals, reached, result_of
from rlx.operators import lookup
from rlx.refine.answer import Refinement
from rlx.refine.contracts import InterfaceError
from rlx.refine.question import compare

SAME, CHANGED, CALLS, REMOVED, ADDED = "same", "changed", "calls", "only in A", "only in B"


class FunctionDifference(Record):
    """A function of both programs, or of one.

    Attributes
    ----------
    name
        Its name.
    status
        ``"same"``: up to the names of variables and the order of independent bindings.
        ``"changed"``; ``"calls"``: only functions that it calls changed. ``"only in A"`` or
        ``"only in B"``.
    public
        Whether its meaning is a part of that of the program.
    removed, added
        The lines that only one program has: the signature, bindings, the result.
    equal
        Bindings of A and of B whose values are proved to be equal: pairs of their names.
    answer
        Whether B refines A here; None if that was not asked.
    why
        Why it was not asked, if the interface changed.
    """

    name: str
    status: str
    public: bool
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    equal: tuple[tuple[str, str], ...] = ()
    answer: Refinement | None = None
    why: str = ""

    @property
    def verdict(self) -> str:
        """``"proved"``, ``"refuted"`` or ``"unknown"``; ``"differs"`` if there is no such function
        on one side, or its interface changed; empty if it only matters where others call it.
        """
        if self.status == SAME:
            return "proved"
        if self.answer is not None:
            return self.answer.status
        return "differs" if self.public else ""


def differences(
    one: ast.IRModule,
    other: ast.IRModule,
    floats: str = "bitwise",
    assume: Sequence[str] = (),
    contract: str | None = None,
) -> list[FunctionDifference]:
    """The differences of two programs, function by function: first those of A.

    Both are in normal form and without errors.
    """
    ours = {gv.name_hint: f for gv, f in one.functions.items()}
    theirs = {gv.name_hint: f for gv, f in other.functions.items()}
    names = list(dict.fromkeys([*ours, *theirs]))
    both = {name: ours.get(name) or theirs[name] for name in names}
    relax = [name for name in names if isinstance(both[name], ast.Function)]
    public = [name for name in relax if "global_symbol" in both[name].attrs] or relax or names
    lines = {
        name: _lines(ours[name], theirs[name]) for name in names if name in ours and name in theirs
    }
    changed = {name for name in names if name not in lines or any(lines[name])}
    calls: dict[Hashable, list[str]] = {name: _callees(both[name]) for name in names}
    found = []
    for name in names:
        shown = name in public
        if name not in lines:
            status = REMOVED if name in ours else ADDED
            found.append(FunctionDifference(name, status, shown))
            continue
        affected = name in changed or not changed.isdisjoint(reached([name], calls.__getitem__))
        if not affected:
            found.append(FunctionDifference(name, SAME, shown))
            continue
        status = CHANGED if name in changed else CALLS
        removed, added = lines[name]
        answer, why = None, ""
        if shown or name in relax:
            try:
                answer = compare(one, other, name, floats, assume=assume, contract=contract)
            except InterfaceError as error:
                why = str(error)
        proofs = () if answer is None else answer.proofs
        equal = tuple([pair for proof in proofs for pair in proof.equal_bindings()])
        found.append(FunctionDifference(name, status, shown, removed, added, equal, answer, why))
    return found


def _callees(function: ast.Function | tir.PrimFunc) -> list[str]:
    if not isinstance(function, ast.Function):
        return []
    return [gv.name_hint for gv in called_globals(function)]


def _lines(
    one: ast.Function | tir.PrimFunc, other: ast.Function | tir.PrimFunc
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that only one of two functions has."""
    if not (isinstance(one, ast.Function) and isinstance(other, ast.Function)):
        if type(one) is type(other) and structural_equal(one, other):
            return (), ()
        return _text(one), _text(other)
    table: dict[object, int] = {}
    ours, theirs = _Keys(table).lines(one), _Keys(table).lines(other)
    counts = Counter(key for key, _ in ours), Counter(key for key, _ in theirs)
    return _left(ours, counts[1]), _left(theirs, counts[0])


def _left(lines: Sequence[tuple[object, str]], others: Counter[object]) -> tuple[str, ...]:
    """The lines without a partner."""
    left = Counter(others)
    found = []
    for key, text in lines:
        if left[key]:
            left[key] -= 1
        else:
            found.append(text)
    return tuple(found)


def _text(function: Node) -> tuple[str, ...]:
    return tuple(str(function).rstrip().splitlines())


class _Keys:
    """Forms of expressions that are equal for equal expressions, whatever variables are called: a
    variable is known by what it is bound to. `table`: the number of each key.
    """

    def __init__(self, table: dict[object, int]) -> None:
        self._table = table
        self._known: dict[Node, object] = {}
        self._effects = 0

    def lines(self, function: ast.Function) -> list[tuple[object, str]]:
        """The key and the text of the signature, of each binding, and of the result."""
        depth = len(self._known)
        for k, var in enumerate((*function.shape_vars, *function.params)):
            self._known[var] = ("bound", depth, k)
            if isinstance(var, ast.Var) and var.shape_var is not None:
                self._known[var.shape_var] = ("bound", depth, k)
        returned = function.ret_struct_info
        head = (
            tuple([self.key(p.struct_info_annotation) for p in function.params]),
            self.key(returned),
            function.is_pure is not False,
        )
        params = ", ".join(f"{p.name_hint}: {p.struct_info_annotation}" for p in function.params)
        found: list[tuple[object, str]] = [
            (head, f"({params})" + (f" -> {returned}" if returned else ""))
        ]
        found += self._bindings(function.body)
        result, _ = result_of(function.body)
        return [*found, (("return", self.key(result)), f"return {str(result).strip()}")]

    def _bindings(self, body: ast.Expr) -> Iterator[tuple[object, str]]:
        for binding in bindings_in(body):
            value = self.key(binding.value)
            if self._has_effect(binding.value):
                self._effects += 1
                value = (value, self._effects)
            text = str(binding.value).strip()
            if isinstance(binding, ast.MatchCast):
                text = f"R.match_cast({text}, {binding.struct_info})"
                for k, size in enumerate(binding.shape_vars):
                    self._known[size] = ("size", k, self._table.setdefault(value, len(self._table)))
                value = ("cast", value, self.key(binding.struct_info))
            value = self._table.setdefault(value, len(self._table))
            if binding.var is not None:
                text = f"{binding.var.name_hint} = {text}"
                self._known[binding.var] = value
                if binding.var.shape_var is not None:
                    self._known[binding.var.shape_var] = value
            yield value, text

    def _has_effect(self, value: ast.Expr) -> bool:
        """Whether the place of a binding among others matters."""
        if not isinstance(value, ast.Call):
            return False
        if isinstance(value.op, ast.Op):
            operator = lookup(value.op.op_name)
            return operator is None or not operator.pure
        return True

    def key(self, value: Any) -> object:
        """The key of an expression, or of a part of it."""
        match value:
            case ast.Var() | tir.Var():
                name = value.name_hint if isinstance(value, ast.Var) else value.name
                return self._known.get(value, ("free", name))
            case ast.GlobalVar(name_hint=name):
                return ("global", name)
            case ast.SeqExpr():
                keys = Counter(key for key, _ in self._bindings(value))
                return ("sequence", frozenset(keys.items()), self.key(result_of(value)[0]))
            case ast.Function():
                return ("function", tuple([key for key, _ in self.lines(value)]))
            case ast.Literal(content=data) if data is not None:
                digest = sha256(buffer_of(data)).digest()
                return ("data", str(value.dtype), value.shape, digest)
            case Node():
                parts = [(n, self.key(v)) for n, v in fields(value) if not _of_text(n)]
                return (type(value).__name__, *parts)
            case Mapping():
                return tuple(sorted([(str(k), self.key(v)) for k, v in value.items()], key=str))
            case tuple() | list():
                return tuple(map(self.key, value))
        return (type(value).__name__, str(value))


def _of_text(field: str) -> bool:
    """Whether a field says how a program is written, not what it is."""
    return field.endswith(("span", "spans")) or field in ("spelled", "struct_info")
