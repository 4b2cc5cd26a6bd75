"""Programs to terms: a function of Relax is run on terms instead of values.

What a run may fail at, and which packed functions it calls, is collected in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, struct_infos, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.dtype import BOOL, VOID, DataType, array_of, numpy_type
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.struct_infos import OBJECT, fields_or_itself
from rlx.operators import lookup
from rlx.refine import lowered, terms
from rlx.refine.definedness import requirements
from rlx.refine.definitions import (
    LAYOUT_TRANSFORM,
    Definitions,
    DerivedCall,
    Unopened,
    replaced_sizes,
)
from rlx.refine.lowered import CellTerm, HeapTerm, Unreadable
from rlx.refine.normal_forms import lowest_and_highest
from rlx.refine.terms import (
    ApplicationTerm,
    ConstantTerm,
    FunctionTerm,
    NumberTerm,
    OpaqueTerm,
    ResultTerm,
    ShapeTerm,
    TensorTerm,
    Term,
    TupleTerm,
    ValueTerm,
    WordTerm,
)
from rlx.semantics.machine.lowered_calls import as_operator
from rlx.semantics.struct_info_of import declared, declared_by
from rlx.solver import order
from rlx.solver.prover import Prover

MOST_BINDINGS = 20_000
"""The most bindings that a run on terms goes through, those of called functions included."""
DEEPEST = 60
"""The most calls and branches that are nested."""


Path = tuple[tuple[tir.PrimExpr, bool], ...]
"""Conditions of branches, with the branch that is taken."""


class RunCheck(Record):
    """Something at which a run may fail.

    Attributes
    ----------
    path
        The conditions of the branches around it, with the branch that is taken.
    key
        What is checked, in a form that can be compared: equal checks fail together.
    condition
        What must hold, if this is a condition on sizes.
    words
        What is checked, for a person.
    """

    path: Path
    key: Any
    condition: tir.PrimExpr | None
    words: str


class ClosureTerm(ValueTerm):
    """A function literal with the values that it captures."""

    function: ast.Function
    frame: Frame


class OutsideTerm(ValueTerm):
    """A function that the caller gives."""

    call: Callable[[Sequence[Term]], Term]


class Frame:
    """The names of a function while it runs: values, and sizes."""

    def __init__(
        self,
        values: Mapping[ast.Var, Term],
        sizes: Mapping[tir.Var, tir.PrimExpr],
    ) -> None:
        self.values = dict(values)
        self.sizes = dict(sizes)

    def size(self, expr: tir.PrimExpr) -> tir.PrimExpr:
        """A dimension, with the sizes of this run."""
        return terms.substitute(expr, self.sizes)


class SharedPrimFuncs:
    """The PrimFuncs of two modules: equal ones are one object."""

    def __init__(self) -> None:
        self._alike: dict[object, list[tir.PrimFunc]] = {}
        self._known: dict[tir.PrimFunc, tir.PrimFunc] = {}

    def shared(self, function: tir.PrimFunc) -> tir.PrimFunc:
        """The first of the PrimFuncs that are equal to this one."""
        found = self._known.get(function)
        if found is None:
            plain = replace(function, attrs={})
            key = tuple((str(b.dtype), len(b.shape)) for b in function.buffer_map.values())
            alike = self._alike.setdefault((len(function.params), key), [])
            found = next((each for each in alike if structural_equal(each, plain)), None)
            if found is None:
                alike.append(plain)
                found = plain
            self._known[function] = found
        return found


class Execution:
    """One program, run on terms.

    Attributes
    ----------
    checks
        What may fail, in order.
    facts
        Conditions on sizes that hold whenever the run returns.
    last
        The last call of a packed function; each has the one before it.
    names
        The first binding of each term, for a person.
    applied
        The calls of operators outside of branches.
    recursive
        The names of the functions that call themselves.
    memory, heaps
        The contents of the memory that the program allocates, and of its shape heaps.
    unwritten
        How often memory was read that nothing was written to.
    cached
        The memory of graphs.
    writes
        What the program leaves in arguments that it overwrites.
    spoiled
        Values whose memory was overwritten: they are not used again.
    held
        The arguments in whose memory results are.
    outside
        The packed functions that the caller gives.
    destinations
        The packed functions that are pure and fill their last argument.
    pure
        The packed functions that a program calls as pure ones on every way, with the arguments that
        each overwrites; None if calls overwrite different ones.
    exact
        Numbers that are not too large for their types wherever BEFORE returns.
    path
        The conditions of the branches around the present place.
    chosen
        The memory whose content is the value of a branch: it is not written again.
    accepted
        How many checks there were when the parameters of the entry were checked.
    """

    def __init__(
        self, module: ast.IRModule, definitions: Definitions, prim_funcs: SharedPrimFuncs
    ) -> None:
        self.module, self.definitions, self.prim_funcs = module, definitions, prim_funcs
        self.checks: list[RunCheck] = []
        self.facts: list[tir.PrimExpr] = []
        self.last: ApplicationTerm | None = None
        self.names: dict[Term, str] = {}
        self.memory: dict[CellTerm, lowered.Content] = {}
        self.heaps: dict[HeapTerm, dict[int, tir.PrimExpr]] = {}
        self.unwritten = 0
        self.cached: dict[object, Term] = {}
        self.writes: dict[Term, Term] = {}
        self.spoiled: set[Term] = set()
        self.held: dict[Term, Term] = {}
        self.destinations: set[str] = set()
        self.pure: dict[str, tuple[int, ...] | None] = {}
        self.exact: set[tir.PrimExpr] = set()
        self.outside: dict[str, OutsideTerm] = {}
        self.chosen: set[object] = set()
        self.accepted = 0
        self.applied: list[ApplicationTerm] = []
        self.recursive: list[str] = []
        self._functions = {gv.name_hint: f for gv, f in module.functions.items()}
        self._function_terms = {
            name: FunctionTerm(name, function) for name, function in self._functions.items()
        }
        self.path: Path = ()
        self._stack: list[ast.Function] = []
        self._bindings = 0
        self._inlined: dict[object, Term] = {}

    # ------------------------------------------------------------ functions

    @property
    def function_names(self) -> tuple[str, ...]:
        """The names of the functions of the module."""
        return tuple(self._functions)

    def entry(self, name: str, arguments: Sequence[Term]) -> Term:
        """The result of a function for arguments; its casts and checks are collected. Raises
        Unreadable if the function does something that terms do not describe.
        """
        function = self._functions[name]
        assert isinstance(function, ast.Function)
        found = self._called(function, arguments, Frame({}, {}), entry=True)
        return self.loaded(found)

    def roots(self, result: Term) -> list[Term]:
        """The result, and the arguments of the calls of packed functions."""
        found, call = [result], self.last
        while call is not None:
            found += call.arguments
            call = call.after
        return found[::-1]

    def _called(
        self, function: ast.Function, arguments: Sequence[Term], outer: Frame, entry: bool = False
    ) -> Term:
        if function in self._stack:
            return self._recursive(function, arguments)
        if len(self._stack) >= DEEPEST:
            raise Unreadable("calls are nested too deep")
        if len(arguments) != len(function.params):
            raise Unreadable("a function is called with the wrong number of arguments")
        sizes = {k: v for k, v in outer.sizes.items() if k not in function.shape_vars}
        frame = Frame(outer.values, sizes)
        free = set(function.shape_vars)
        for param, argument in zip(function.params, arguments, strict=True):
            if param.shape_var is not None and isinstance(argument, NumberTerm):
                frame.sizes[param.shape_var] = argument.value
                free.discard(param.shape_var)
        infos = [param.struct_info_annotation or OBJECT for param in function.params]
        for info, argument in zip(infos, arguments, strict=True):
            self._bind(info, argument, frame, free)
        for param, info, argument in zip(function.params, infos, arguments, strict=True):
            frame.values[param] = self.cast(argument, info, frame, f"the type of {param.name_hint}")
        if entry:
            self.accepted = len(self.checks)
            for param in function.params:
                self._call_it(frame.values[param], param.name_hint)
        self._stack.append(function)
        found = self.value(function.body, frame)
        self._stack.pop()
        if function.ret_struct_info is not None and not isinstance(found, CellTerm):
            found = self.cast(found, function.ret_struct_info, frame, "the type of the result")
        return found

    def _call_it(self, term: Term, name: str) -> None:
        """Give a name to an argument, and to its fields."""
        self.names.setdefault(term, name)
        if isinstance(term, TupleTerm):
            for k, field in enumerate(term.fields):
                self._call_it(field, f"{name}[{k}]")

    def _recursive(self, function: ast.Function, arguments: Sequence[Term]) -> Term:
        """The result of a recursive call: that of the function of this name on the other side for
        equal arguments, if the functions are proved to be equal.
        """
        name = next((name for name, f in self._functions.items() if f is function), None)
        if name is None or function.is_pure is False:
            raise Unreadable("a function that is not pure, or has no name, is recursive")
        if name not in self.recursive:
            self.recursive.append(name)
        frame, free = Frame({}, {}), set(function.shape_vars)
        for param, argument in zip(function.params, arguments, strict=True):
            self._bind(param.struct_info_annotation or OBJECT, argument, frame, free)
        made = terms.apply("recursive", name, [self.loaded(a) for a in arguments], None)
        self.check(("call", made), None, f"the recursive call of {name}")
        info = function.ret_struct_info
        return self._returned(OBJECT if info is None else self.sized(info, frame), made)

    # ------------------------------------------------------------ casts

    def _bind(self, info: StructInfo, term: Term, frame: Frame, free: set[tir.Var]) -> None:
        """Bind the sizes that stand alone in a type to those of a value."""
        dims: Sequence[tir.PrimExpr]
        match info:
            case ast.TupleStructInfo(fields=fields):
                if isinstance(term, TupleTerm):
                    for each, part in zip(fields, term.fields, strict=False):
                        self._bind(each, part, frame, free)
                return
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
                pass
            case ast.ShapeStructInfo(values=tuple() as dims):
                pass
            case ast.PrimStructInfo(value=tir.PrimExpr() as value):
                dims = (value,)
            case _:
                return
        for dim, known in zip(dims, self.dims_of(term, len(dims)) or (), strict=False):
            if isinstance(dim, tir.Var) and dim in free:
                if isinstance(info, ast.PrimStructInfo) and isinstance(term, OpaqueTerm):
                    assert isinstance(known, tir.Var)
                    self.definitions.is_scalar(known)
                frame.sizes[dim] = known
                free.discard(dim)

    def dims_of(self, term: Term, rank: int) -> Sequence[tir.PrimExpr] | None:
        """The dimensions of a tensor or a shape, or the value of a scalar."""
        match term:
            case TensorTerm(shape=found) | CellTerm(shape=found) | ShapeTerm(values=found):
                return found
            case NumberTerm(value=number):
                return (number,)
            case OpaqueTerm():
                said = self._known_dims(term, VOID)
                if said is not None:
                    return said
                return [self.definitions.size((term.of, term.path), k) for k in range(rank)]
        return None

    def _known_dims(self, term: OpaqueTerm, kind: DataType) -> Sequence[tir.PrimExpr] | None:
        """The dimensions of a tensor whose element type is not known, or a type."""
        match self.definitions.unshaped.get(term):
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims), dtype=known) if (
                kind.is_void or kind == known
            ):
                return dims
        return None

    def cast(
        self,
        term: Term,
        info: StructInfo,
        frame: Frame,
        words: str,
        done: dict[tuple[Term, StructInfo], Term] | None = None,
    ) -> Term:
        """A value that is checked to have a type, whose sizes are bound.

        Tuples and their types may share fields; ``done`` has those that were looked at.
        """
        done = {} if done is None else done
        definitions = self.definitions
        match info, term:
            case ast.ObjectStructInfo(), _:
                return term
            case ast.FuncStructInfo(), _ if self._is_function(term, info, frame):
                return term
            case ast.TupleStructInfo(fields=fields), TupleTerm(fields=parts):
                if len(fields) != len(parts):
                    self.check(("arity", term, len(fields)), None, words)
                    return term
                if (term, info) not in done:
                    pairs = zip(parts, fields, strict=True)
                    made = [self.cast(p, f, frame, words, done) for p, f in pairs]
                    done[term, info] = terms.group(made)
                return done[term, info]
            case ast.TensorStructInfo(), TensorTerm() | CellTerm():
                if not info.dtype.is_void and info.dtype != term.dtype:
                    self.check(("dtype", term, info.dtype), None, words)
                if info.ndim >= 0 and info.ndim != len(term.shape):
                    self.check(("rank", term, info.ndim), None, words)
                elif isinstance(info.shape, ast.ShapeExpr):
                    if len(info.shape.values) != len(term.shape):
                        self.check(("rank", term, len(info.shape.values)), None, words)
                    else:
                        self.equal(info.shape.values, term.shape, frame, words)
                elif isinstance(info.shape, ast.Var):
                    held = self.loaded(frame.values[info.shape])
                    if not isinstance(held, ShapeTerm) or len(held.values) != len(term.shape):
                        self.check(("shape", term, held), None, words)
                    else:
                        self.equal(held.values, term.shape, None, words)
                return term
            case ast.ShapeStructInfo(), ShapeTerm(values=found):
                if info.values is not None and len(info.values) == len(found):
                    self.equal(info.values, found, frame, words)
                elif info.ndim >= 0 and info.ndim != len(found):
                    self.check(("rank", term, info.ndim), None, words)
                return term
            case ast.PrimStructInfo(), NumberTerm(value=number):
                if info.dtype != tir.type_of(number):
                    self.check(("dtype", term, info.dtype), None, words)
                elif info.value is not None:
                    self.equal((info.value,), (number,), frame, words)
                return term
            case ast.TensorStructInfo(shape=shape), OpaqueTerm() if (
                (dims := self._known_dims(term, info.dtype)) is not None
                and (shape is None or isinstance(shape, ast.ShapeExpr))
                and info.ndim in (-1, len(dims))
            ):
                if isinstance(shape, ast.ShapeExpr):
                    self.equal(shape.values, dims, frame, words)
                return term
            case ast.TensorStructInfo(shape=ast.Var()), OpaqueTerm():
                return self.cast(term, self._over_known_shapes(info, frame), frame, words, done)
            case _, OpaqueTerm(of=of, path=path):
                known = definitions.unshaped.get(term)
                wanted = self._over_own_sizes(info, (of, path))
                said = terms.outline(replaced_sizes(wanted, {}))
                if known is None or terms.outline(known) != said:
                    self.check(("type", term, said), None, words)
                for own, dim in self._own_sizes(info, (of, path)):
                    self.equal((dim,), (own,), frame, words)
                return definitions.value_of(wanted, of, path)
        self.check(("type", term, terms.outline(self.sized(info, frame))), None, words)
        return term

    def _is_function(self, term: Term, info: ast.FuncStructInfo, frame: Frame) -> bool:
        """Whether a value is known to be a function of a type."""
        given: StructInfo | None
        match term:
            case WordTerm(kind="packed") | OutsideTerm():
                return True
            case FunctionTerm(function=ast.Function() as function):
                given = declared(function)
            case ClosureTerm(function=function, frame=outer):
                given = order.substitute(declared(function), outer.sizes)
            case PartialTerm(function=FunctionTerm(function=ast.Function() as function)):
                given = _without_last(declared(function), len(term.captured))
            case PartialTerm() | FunctionTerm():
                given = None
            case _:
                return False
        if given is None:
            return info.params is None and isinstance(info.ret, ast.ObjectStructInfo)
        wanted = order.substitute(info, frame.sizes)
        return order.compatibility(given, wanted, Prover()).kind == "compatible"

    def _own_sizes(self, info: StructInfo, of: object) -> list[tuple[tir.Var, tir.PrimExpr]]:
        """The dimensions of a type, each with the size of a value that has it."""
        match info:
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
                pass
            case ast.ShapeStructInfo(values=tuple() as dims):
                pass
            case ast.PrimStructInfo(value=tir.PrimExpr() as value):
                dims = (value,)
            case _:
                return []
        return [(self.definitions.size(of, k), dim) for k, dim in enumerate(dims)]

    def _over_own_sizes(self, info: StructInfo, of: object) -> StructInfo:
        """A type with a value's own sizes as dimensions."""
        own = [size for size, _ in self._own_sizes(info, of)]
        match info:
            case ast.TensorStructInfo(shape=ast.ShapeExpr()):
                return ast.TensorStructInfo(ast.ShapeExpr(tuple(own)), info.dtype, len(own))
            case ast.TensorStructInfo(shape=None, ndim=ndim) if ndim >= 0:
                own = [self.definitions.size(of, k) for k in range(ndim)]
                return ast.TensorStructInfo(ast.ShapeExpr(tuple(own)), info.dtype, ndim)
            case ast.TensorStructInfo():
                return ast.TensorStructInfo(None, info.dtype, info.ndim)
            case ast.ShapeStructInfo(values=tuple()):
                return ast.ShapeStructInfo(tuple(own), len(own))
            case ast.ShapeStructInfo(values=None, ndim=ndim) if ndim >= 0:
                own = [self.definitions.size(of, k) for k in range(ndim)]
                return ast.ShapeStructInfo(tuple(own), ndim)
            case ast.PrimStructInfo(value=tir.PrimExpr()):
                return ast.PrimStructInfo(info.dtype, own[0])
        return info

    def sized(self, info: StructInfo, frame: Frame) -> StructInfo:
        """A type that a program writes, with the sizes of a frame."""
        for part in struct_infos.of_the_value(info):
            for dim in struct_infos.numbers(part):
                self.number(dim, frame)
        return replaced_sizes(self._over_known_shapes(info, frame), frame.sizes)

    def _over_known_shapes(self, info: StructInfo, frame: Frame) -> StructInfo:
        """A type in which the dimensions of a shape stand for the variable that holds it."""
        match info:
            case ast.TupleStructInfo(fields=fields):
                return replace(
                    info, fields=tuple([self._over_known_shapes(f, frame) for f in fields])
                )
            case ast.TensorStructInfo(shape=ast.Var() as var, dtype=kind):
                held = self.loaded(frame.values[var])
                if not isinstance(held, ShapeTerm):
                    raise Unreadable(f"the shape {var.name_hint} is not known")
                return ast.TensorStructInfo(ast.ShapeExpr(held.values), kind, len(held.values))
        return info

    def equal(
        self,
        dims: Sequence[tir.PrimExpr],
        found: Sequence[tir.PrimExpr],
        frame: Frame | None,
        words: str,
    ) -> None:
        """Check that sizes are equal; the first ones are those of a frame, if there is one."""
        for dim, known in zip(dims, found, strict=True):
            said = dim if frame is None else self.number(dim, frame)
            if said is not known:
                condition = tir.interned(tir.EQ(said, known))
                self.check(("equal", condition), condition, words)

    def exists(self, dims: Sequence[tir.PrimExpr], words: str) -> None:
        """Check that no length of a new tensor is negative, where that is not plain."""
        for dim in dims:
            if not self.definitions.is_length(dim):
                condition = tir.interned(tir.LE(tir.IntImm(0), dim))
                self.check(("condition", condition), condition, words)

    def check(self, key: object, condition: tir.PrimExpr | None, words: str) -> None:
        self.checks.append(RunCheck(self.path, key, condition, words))
        if condition is not None and not self.path:
            self.facts.append(condition)
            self.definitions.learn(condition)

    # ------------------------------------------------------------ expressions

    def value(self, expr: Expr, frame: Frame) -> Term:
        """The value of an expression; a sequence binds its names in the frame."""
        match expr:
            case ast.SeqExpr(blocks=blocks, body=body):
                for block in blocks:
                    for binding in block.bindings:
                        self._binding(binding, frame)
                return self.value(body, frame)
            case ast.Var():
                found = frame.values.get(expr)
                if self.spoiled and found is not None and lowered.is_spoiled(self, found):
                    raise Unreadable(f"{expr.name_hint} is used after its memory was overwritten")
                if found is None:
                    if expr.shape_var is not None and expr.shape_var in frame.sizes:
                        return terms.number(frame.sizes[expr.shape_var])
                    raise Unreadable(f"{expr.name_hint} has no value")
                return found
            case ast.Constant(data=data):
                return constant_term(data)
            case ast.Tuple(fields=fields):
                return terms.group([self.value(field, frame) for field in fields])
            case ast.TupleGetItem(tuple_value=whole, index=index):
                return self.item(self.value(whole, frame), index)
            case ast.ShapeExpr(values=values):
                return terms.sizes([self.number(value, frame) for value in values])
            case ast.PrimValue(value=value):
                return terms.number(self.number(value, frame))
            case ast.StringImm(value=text):
                return terms.word("string", text)
            case ast.DataTypeImm(value=kind):
                return terms.word("dtype", str(kind))
            case ast.ExternFunc(global_symbol=name):
                return terms.word("packed", name)
            case ast.GlobalVar(name_hint=name):
                return self._function_terms[name]
            case ast.Function():
                return ClosureTerm(expr, frame)
            case ast.If():
                return self._branch(expr, frame)
            case ast.Call():
                return self._call(expr, frame)
        raise Unreadable(f"{type(expr).__name__} is not described by terms")

    def number(self, written: tir.PrimExpr, frame: Frame) -> tir.PrimExpr:
        """A number that a program computes of sizes; it fails if one that it needs is too large, or a divisor is 0."""
        found = tir.interned(frame.size(written))
        if isinstance(written, tir.Var | tir.IntImm):
            return found
        evaluated = tir.interned(tir.substitute(written, frame.sizes))  # nothing of it is left out
        if not self.is_small(evaluated):
            self.check((NUMBER, evaluated), None, "a number that may be too large")
        return found

    def is_small(self, evaluated: tir.PrimExpr) -> bool:
        """Whether no part of a number that a program computes of sizes is too large for its type; check that it has a value."""
        for condition, words in requirements(evaluated):
            self.check(("condition", condition), condition, words)
        return evaluated in self.exact or all(map(self.definitions.fits, tir.postorder(evaluated)))

    def _binding(self, binding: ast.Binding, frame: Frame) -> None:
        self._bindings += 1
        if self._bindings > MOST_BINDINGS:
            raise Unreadable("there are too many bindings")
        match binding:
            case ast.VarBinding(var=var, value=value):
                if isinstance(value, ast.Function):
                    frame.values[var] = ClosureTerm(value, frame)
                    return
                found = self.value(value, frame)
                if var.shape_var is not None and isinstance(found, NumberTerm):
                    frame.sizes[var.shape_var] = found.value
            case ast.MatchCast(var=var, value=value, struct_info=info, shape_vars=free):
                term = self.value(value, frame)
                self._bind(info, term, frame, set(free))
                found = self.cast(term, info, frame, "a cast")
                if var is None:
                    return
                if var.shape_var is not None and isinstance(found, NumberTerm):
                    frame.sizes[var.shape_var] = found.value
            case _:
                raise Unreadable("a binding is not described by terms")
        frame.values[var] = found
        self.names.setdefault(found, var.name_hint)

    def item(self, whole: Term, index: int) -> Term:
        match whole:
            case TupleTerm(fields=fields):
                if index >= len(fields):
                    raise Unreadable("a tuple has too few fields")
                return fields[index]
            case OpaqueTerm(of=of, path=path):
                info = self.definitions.unshaped.get(whole)
                if isinstance(info, ast.TupleStructInfo) and index < len(info.fields):
                    return self.definitions.value_of(info.fields[index], of, (*path, index))
                return self.definitions.value_of(OBJECT, of, (*path, index))
        raise Unreadable("a value that is not a tuple is indexed")

    def loaded(self, term: Term, done: dict[Term, Term] | None = None) -> Term:
        """A value with the content of the memory that it refers to.

        Tuples may share their fields; ``done`` has those that were looked at.
        """
        done = {} if done is None else done
        match term:
            case CellTerm():
                return lowered.load(self, term)
            case TupleTerm(fields=fields) if any(
                isinstance(each, CellTerm | TupleTerm) for each in fields
            ):
                if term not in done:
                    done[term] = terms.group([self.loaded(each, done) for each in fields])
                return done[term]
        return term

    # ------------------------------------------------------------ branches

    def _branch(self, branch: ast.If, frame: Frame) -> Term:
        condition = self.loaded(self.value(branch.cond, frame))
        match condition:
            case TensorTerm(shape=()):
                chosen = terms.read(condition, ())
            case NumberTerm(value=value):
                chosen = value
            case _:
                raise Unreadable("the condition of a branch is not a scalar")
        if isinstance(chosen, tir.IntImm):
            return self.value(
                branch.true_branch if chosen.value else branch.false_branch,
                Frame(frame.values, frame.sizes),
            )
        if len(self.path) >= DEEPEST:
            raise Unreadable("branches are nested too deep")
        before, outside = self.last, self.path
        values, found, ends = [], [], []
        memory, heaps = self.memory, self.heaps
        contents, sizes = [], []
        for taken, body in ((True, branch.true_branch), (False, branch.false_branch)):
            self.path = (*outside, (chosen, taken))
            self.last = before
            self.memory = dict(memory)
            self.heaps = {heap: dict(slots) for heap, slots in heaps.items()}
            values.append(self.value(body, Frame(frame.values, frame.sizes)))
            found.append(self.loaded(values[-1]))
            ends.append(self.last)
            contents.append(self.memory)
            sizes.append(self.heaps)
        self.path, self.last = outside, before
        self.memory, self.heaps = memory, heaps
        for cell, content in memory.items():
            one, other = (each[cell] for each in contents)
            if one is not content or other is not content:
                if isinstance(one, TensorTerm) and isinstance(other, TensorTerm):
                    merged = self._chosen(condition, chosen, one, other)
                    assert isinstance(merged, TensorTerm)
                    memory[cell] = merged
                else:
                    memory[cell] = lowered.OVERWRITTEN
        for heap, slots in heaps.items():
            for at in [*slots, *sizes[0][heap], *sizes[1][heap]]:
                if sizes[0][heap].get(at) is not sizes[1][heap].get(at):
                    slots.pop(at, None)
                elif at in sizes[0][heap]:
                    slots[at] = sizes[0][heap][at]
        if ends[0] is not before or ends[1] is not before:
            calls = [terms.unknown(end) for end in ends]
            self.last = terms.apply("if", None, (condition, *calls), None, before)
        if values[0] is values[1]:
            return values[0]
        self.chosen.update(cell.storage for value in values for cell in cells_in(value))
        return self._chosen(condition, chosen, found[0], found[1])

    def _chosen(
        self,
        condition: Term,
        chosen: tir.PrimExpr,
        one: Term,
        other: Term,
        done: dict[tuple[Term, Term], Term] | None = None,
    ) -> Term:
        done = {} if done is None else done
        if one is other:
            return one
        match one, other:
            case TupleTerm(fields=a), TupleTerm(fields=b) if len(a) == len(b):
                if (one, other) not in done:
                    pairs = zip(a, b, strict=True)
                    fields = [self._chosen(condition, chosen, x, y, done) for x, y in pairs]
                    done[one, other] = terms.group(fields)
                return done[one, other]
            case TensorTerm(), TensorTerm() if one.dtype == other.dtype and (
                self.definitions.same_sizes(one.shape, other.shape)
            ):
                axes = [tir.Var("i") for _ in one.shape]
                made = tir.Call(
                    "if_then_else",
                    (chosen, terms.read(one, axes), terms.read(other, axes)),
                    one.dtype,
                )
                return terms.lam(one.shape, axes, made, "chosen", one.dtype)
        return terms.unknown(terms.apply("if", None, (condition, one, other), None))

    # ------------------------------------------------------------ calls

    def _call(self, call: ast.Call, frame: Frame) -> Term:
        call = as_operator(call, self.outside)
        callee = call.op
        if isinstance(callee, ast.Op):
            special = _SPECIAL.get(callee.op_name)
            if special is not None:
                made: Term = special(self, call, frame)
                return made
            return self._operator(call, frame)
        arguments = [self.value(arg, frame) for arg in call.args]
        function = self.value(callee, frame)
        match function:
            case FunctionTerm(function=found):
                if isinstance(found, ast.Function):
                    return self._inline(found, arguments, Frame({}, {}))
                if isinstance(found, tir.PrimFunc):
                    return lowered.statement(self, self.prim_funcs.shared(found), arguments)
            case WordTerm(kind="packed", text=name) if name in self.outside:
                return self.outside[name].call([self.loaded(a) for a in arguments])
            case WordTerm(kind="packed", text=name) if name in lowered.BUILTINS:
                return lowered.BUILTINS[name](self, arguments, frame)
            case WordTerm(kind="packed", text=name) if self._fills(name, arguments):
                return self._filled(name, arguments)
            case WordTerm(kind="packed", text=name):
                return self._packed(name, [self.loaded(a) for a in arguments], call, frame)
            case ClosureTerm(function=literal, frame=outer):
                return self._inline(literal, arguments, outer)
            case OutsideTerm(call=outside):
                return outside([self.loaded(a) for a in arguments])
        raise Unreadable("a function is called that is not known")

    def _inline(self, function: ast.Function, arguments: Sequence[Term], outer: Frame) -> Term:
        """The result of a call of a function of the module, or of a closure."""
        if any(cells_in(terms.group(tuple(arguments)))):
            return self._called(function, arguments, outer)  # it may write the memory
        args = tuple(arguments)
        key = (function, args, self.path) if not outer.values else None
        known = None if key is None else self._inlined.get(key)
        if known is not None:
            return known
        before, memory = self.last, dict(self.memory)
        found = self._called(function, args, outer)
        if key is not None and self.last is before and self.memory == memory:
            self._inlined[key] = found
        return found

    def params_of(self, function: Term) -> list[StructInfo] | None:
        """The types of the parameters of a function that a program returns; None if it is none whose
        body is known.
        """
        match function:
            case ClosureTerm(function=literal, frame=frame):
                own = {k: v for k, v in frame.sizes.items() if k not in literal.shape_vars}
                params, sizes = literal.params, own
            case PartialTerm(function=FunctionTerm(function=ast.Function() as found)):
                count = len(found.params) - len(function.captured)
                params, sizes = found.params[:count], {}
            case _:
                return None
        return [replaced_sizes(p.struct_info_annotation or OBJECT, sizes) for p in params]

    def called_later(self, function: Term, arguments: Sequence[Term]) -> Term:
        """The result of a function that the program returns: what it checks is checked if the caller
        calls it.
        """
        outside, before = self.path, self.last
        self.path = (*outside, (CALLED, True))
        match function:
            case ClosureTerm(function=literal, frame=frame):
                found = self._inline(literal, arguments, frame)
            case PartialTerm(function=FunctionTerm(function=ast.Function() as known)):
                found = self._inline(known, (*arguments, *function.captured), Frame({}, {}))
            case _:
                raise Unreadable("a function is returned that is not known")
        if self.last is not before:
            raise Unreadable("a function is returned that has effects")
        self.path = outside
        return self.loaded(found)

    def call_by_name(self, function: Term, arguments: Sequence[Term]) -> Term:
        """The result of a function of the module, which may write the memory that it is given."""
        if isinstance(function, FunctionTerm) and isinstance(function.function, ast.Function):
            return self._called(function.function, arguments, Frame({}, {}))
        raise Unreadable("a function is called that is not known")

    def _fills(self, name: str, arguments: Sequence[Term]) -> bool:
        """Whether a call of a packed function is a pure one that fills its last arguments."""
        return name in self.destinations and any(
            isinstance(arg, CellTerm) and self.memory[arg] is lowered.UNWRITTEN
            for arg in arguments[-1:]
        )

    def _filled(self, name: str, arguments: Sequence[Term]) -> Term:
        first = len(arguments)
        while first and isinstance(cell := arguments[first - 1], CellTerm):
            if self.memory[cell] is not lowered.UNWRITTEN:
                break
            first -= 1
        cells = [cell for cell in arguments[first:] if isinstance(cell, CellTerm)]
        infos = [ast.TensorStructInfo(ast.ShapeExpr(c.shape), c.dtype, len(c.shape)) for c in cells]
        given = [self.loaded(a) for a in arguments[:first]]
        info = infos[0] if len(infos) == 1 else ast.TupleStructInfo(tuple(infos))
        found = self._destination(name, given, info)
        contents = found.fields if isinstance(found, TupleTerm) else (found,)
        for cell, content in zip(cells, contents, strict=True):
            assert isinstance(content, TensorTerm)
            lowered.store(self, cell, content)
        return terms.group(())

    def _destination(self, name: str, given: Sequence[Term], info: StructInfo) -> Term:
        """The tensors of some types that a pure packed function fills."""
        self.destinations.add(name)
        made = terms.apply("relax.call_dps_packed", (name, terms.outline(info)), given, None)
        self.check(("call", made), None, f"the packed function {name}")
        return self._returned(info, made)

    def _packed(self, name: str, args: Sequence[Term], call: ast.Call, frame: Frame) -> Term:
        """A call of a packed function: it may do anything, and its result may depend on the calls
        before it.
        """
        if any(isinstance(a, ClosureTerm) for a in args):
            raise Unreadable("a packed function gets a function")
        infos = tuple([self.sized(info, frame) for info in call.sinfo_args])
        overwritten = self.pure.get(name)
        if overwritten is not None:
            return self.pure_packed(name, overwritten, args, infos)
        said = tuple(map(terms.outline, infos))  # a result of another type is a failure
        made = terms.apply("packed", ("packed", name, said), args, None, self.last)
        self.last = made
        info = infos[0] if len(infos) == 1 else OBJECT
        if len(infos) > 1:
            info = ast.TupleStructInfo(infos)
        return self._returned(info, made)

    def _returned(self, info: StructInfo, made: ApplicationTerm) -> Term:
        """The result of a call that is not opened, of which the program says the type."""
        return self.definitions.value_of(info, made)

    def _operator(self, call: ast.Call, frame: Frame) -> Term:
        name = call.op_name
        operator = lookup(name)
        if operator is None:
            raise Unreadable(f"the operator {name.removeprefix('relax.')} is not known")
        if not operator.pure or name.startswith(("relax.vm.", "relax.memory.", "relax.builtin.")):
            raise Unreadable(
                f"the operator {name.removeprefix('relax.')} has effects that terms do not describe"
            )
        given = [self.value(arg, frame) for arg in call.args]
        arguments = [self.loaded(each) for each in given]
        if any(isinstance(a, ClosureTerm) for a in arguments):
            raise Unreadable(f"the operator {name.removeprefix('relax.')} gets a function")
        attrs = {key: self._attribute(value, frame) for key, value in call.attrs.items()}
        infos = tuple([self.sized(info, frame) for info in call.sinfo_args])
        match arguments:
            case [TensorTerm() as like, *others] if plain := lookup(_OF_SHAPE.get(name, "")):
                # Of the tensor, the shape counts alone: constants stay such.
                operator, arguments = plain, [terms.sizes(like.shape), *others]
                attrs = {"dtype": str(like.dtype), **{k: v for k, v in attrs.items() if v}}
        try:
            made, known = self.definitions.call(operator, arguments, attrs, infos)
        except Unopened as error:
            raise Unreadable(str(error)) from None
        self.operator_checks(name, arguments, made, known)
        found = self.definitions.value_of(known.info, made)
        if name in _OF_SHAPES and isinstance(found, TensorTerm):
            self.exists(found.shape, f"R.{name.removeprefix('relax.')}")
        if given and isinstance(given[0], CellTerm) and name in _IN_PLACE:
            assert isinstance(found, TensorTerm)
            return lowered.view(self, given[0], found)
        return found

    def operator_checks(
        self, name: str, arguments: Sequence[Term], made: ApplicationTerm, known: DerivedCall
    ) -> None:
        """Collect what a call of an operator may fail at."""
        if not self.path:
            self.applied.append(made)
        self._read(arguments)
        said = f"R.{name.removeprefix('relax.')}"
        for key in _faults(name, arguments, made):
            self.check(key, None, said)
        if name == "relax.nn.pad":
            for condition in _long_enough(arguments, made):
                self.check(("condition", condition), condition, said)
        for condition, words in known.conditions:
            self.check(("condition", condition), condition, words)
        if known.risks:
            self.check(_by_shapes(made), None, known.risks[0])

    def _read(self, arguments: Sequence[Term]) -> None:
        """Collect that kernels have written what a call reads."""
        stack, seen = list(arguments), set[Term]()
        while stack:
            term = stack.pop()
            if term in seen:
                continue
            seen.add(term)
            if isinstance(term, TupleTerm):
                stack += term.fields
            elif isinstance(term, ResultTerm) and term.of.name == CALL_TIR:
                self.check((WRITTEN, term), None, "call_tir, whose result is read")

    def _attribute(self, value: Any, frame: Frame) -> Any:
        match value:
            case Expr():
                return self.definitions.expression(self.loaded(self.value(value, frame)))
            case tir.PrimExpr():
                return self.number(value, frame)
            case tuple() | list():
                return type(value)([self._attribute(each, frame) for each in value])
        return value

    # ------------------------------------------------------------ PrimFuncs

    def _call_tir(self, call: ast.Call, frame: Frame) -> Term:
        callee, *rest = [self.value(arg, frame) for arg in call.args]
        function = self.prim_func(callee)
        args, first = self.listed(rest)
        infos = tuple([self.sized(info, frame) for info in call.sinfo_args])
        if len(infos) == 1:
            infos = fields_or_itself(infos[0])
            several = isinstance(call.sinfo_args[0], ast.TupleStructInfo)
        else:
            several = True
        results = self.computed(function, args, infos, first)
        return terms.group(results) if several else results[0]

    def listed(self, given: Sequence[Term]) -> tuple[list[Term], int]:
        """The arguments of `call_tir`: those of the tuple, and behind the results the numbers of a
        shape; and the number of the former.
        """
        whole, *numbers = map(self.loaded, given)
        args = [*whole.fields] if isinstance(whole, TupleTerm) else [whole]
        first = len(args)
        for each in numbers:
            if not isinstance(each, ShapeTerm):
                raise Unreadable("the numbers of call_tir are not known")
            args += [terms.number(value) for value in each.values]
        return args, first

    def prim_func(self, callee: Term) -> tir.PrimFunc:
        if isinstance(callee, FunctionTerm) and isinstance(callee.function, tir.PrimFunc):
            return self.prim_funcs.shared(callee.function)
        raise Unreadable("call_tir gets something else than a PrimFunc")

    def computed(
        self,
        function: tir.PrimFunc,
        args: Sequence[Term],
        infos: Sequence[StructInfo],
        first: int | tuple[int, ...] | None = None,
    ) -> list[TensorTerm]:
        """The tensors that a PrimFunc fills.

        Parameters
        ----------
        first
            The position of the first of them among the parameters, if arguments follow them; or the
            positions of all, if the arguments include what they hold before.
        """
        outlines = tuple(map(terms.outline, infos))
        self._read(args)
        first = len(args) if first is None else first
        made = terms.apply(CALL_TIR, (function, outlines, first), args, None)
        self.check(("call", made), None, "call_tir")
        found = []
        for k, info in enumerate(infos):
            value = self.definitions.value_of(info, made, (k,))
            if not isinstance(value, ResultTerm):
                raise Unreadable("the shape of a result of call_tir is not known")
            self.exists(value.shape, "call_tir")
            found.append(value)
        return list(found)

    # ------------------------------------------------------------ operators with a meaning here

    def _packed_operator(self, call: ast.Call, frame: Frame) -> Term:
        """`call_pure_packed`, `call_dps_packed`: pure functions of their arguments."""
        callee, *given = [self.value(arg, frame) for arg in call.args]
        if not isinstance(callee, WordTerm):
            raise Unreadable("a packed function is called that is not known")
        if call.op_name == "relax.call_builtin_with_ctx":
            if callee.text not in lowered.BUILTINS or not isinstance(given[0], TupleTerm):
                raise Unreadable(f"{callee.text} has effects that terms do not describe")
            given = list(given[0].fields)
        if callee.text in lowered.BUILTINS:
            return lowered.BUILTINS[callee.text](self, given, frame)
        rest = list(map(self.loaded, given))
        infos = tuple([self.sized(info, frame) for info in call.sinfo_args])
        if call.op_name == "relax.call_dps_packed" and callee.kind == "packed":
            return self._destination(callee.text, self.listed(rest)[0], declared_by(infos))
        if callee.kind == "packed":
            return self.pure_packed(callee.text, (), rest, infos)
        return self.pure_result(call.op_name, (callee.kind, callee.text), rest, infos)[1]

    def pure_packed(
        self,
        name: str,
        overwritten: tuple[int, ...],
        args: Sequence[Term],
        infos: tuple[StructInfo, ...],
    ) -> Term:
        """The result of a packed function that depends on its arguments alone and may overwrite some."""
        if not self.path and self.pure.setdefault(name, overwritten) != overwritten:
            self.pure[name] = None
        how = "relax.call_inplace_packed" if overwritten else "relax.call_pure_packed"
        made, found = self.pure_result(how, ("packed", name, overwritten), args, infos)
        lowered.overwrite(self, made, args, overwritten)
        return found

    def pure_result(
        self, how: str, key: tuple[object, ...], args: Sequence[Term], infos: tuple[StructInfo, ...]
    ) -> tuple[ApplicationTerm, Term]:
        """The call of a packed function that is pure, and what it returns: both depend on its arguments alone."""
        made = terms.apply(how, (*key, tuple(map(terms.outline, infos))), args, None)
        self.check(("call", made), None, f"the packed function {key[1]}")
        return made, self._returned(declared_by(infos), made)

    def _shape_of(self, call: ast.Call, frame: Frame) -> Term:
        found = self.value(call.args[0], frame)
        if isinstance(found, TensorTerm | CellTerm):
            return terms.sizes(found.shape)
        return self._operator(call, frame)

    def _same(self, call: ast.Call, frame: Frame) -> Term:
        """An operator that returns its first argument."""
        return self.value(call.args[0], frame)

    def _same_or_copy(self, call: ast.Call, frame: Frame) -> Term:
        """An operator that returns its first argument, or a copy of it."""
        found = self.value(call.args[0], frame)
        if isinstance(found, CellTerm):
            return lowered.view(self, found, lowered.load(self, found))
        return found

    def _null(self, call: ast.Call, frame: Frame) -> Term:
        return terms.word("null", "")

    def _print(self, call: ast.Call, frame: Frame) -> Term:
        args = [self.loaded(self.value(arg, frame)) for arg in call.args]
        words = {k: v.value if isinstance(v, ast.StringImm) else v for k, v in call.attrs.items()}
        attrs = tuple([(key, str(value)) for key, value in sorted(words.items())])
        self.last = terms.apply("print", attrs, args, None, self.last)
        return terms.group(())

    def _assert(self, call: ast.Call, frame: Frame) -> Term:
        condition, *_ = [self.loaded(self.value(arg, frame)) for arg in call.args]
        self.check(("assert", condition), None, "an assertion")
        return terms.group(())

    def _nothing(self, call: ast.Call, frame: Frame) -> Term:
        return terms.group(())

    def _closure(self, call: ast.Call, frame: Frame) -> Term:
        """`make_closure`: a function of the module, with its last arguments."""
        function = self.value(call.args[0], frame)
        captured = self.value(call.args[1], frame)
        if not isinstance(captured, TupleTerm):
            raise Unreadable("a closure captures something else than a tuple")
        return PartialTerm(function, captured.fields)

    def _invoke(self, call: ast.Call, frame: Frame) -> Term:
        """`invoke_closure`, `invoke_pure_closure`."""
        closure = self.value(call.args[0], frame)
        given = self.value(call.args[1], frame)
        if not isinstance(given, TupleTerm):
            raise Unreadable("a closure is called with something else than a tuple")
        match closure:
            case PartialTerm(function=FunctionTerm(function=found), captured=captured):
                if not isinstance(found, ast.Function):
                    raise Unreadable("a closure is called that is not known")
                value = self._inline(found, (*given.fields, *captured), Frame({}, {}))
            case ClosureTerm(function=literal, frame=outer):
                value = self._inline(literal, given.fields, outer)
            case _:
                raise Unreadable("a closure is called that is not known")
        info = declared_by(tuple(call.sinfo_args))
        return self.cast(value, info, frame, "the type of the result") if call.sinfo_args else value


def cells_in(value: Term) -> Iterator[CellTerm]:
    """The memory that a value refers to."""
    stack, seen = [value], set[Term]()
    while stack:
        term = stack.pop()
        if isinstance(term, CellTerm):
            yield term
        elif isinstance(term, TupleTerm) and term not in seen:
            seen.add(term)
            stack += term.fields


def _without_last(info: ast.FuncStructInfo, count: int) -> ast.FuncStructInfo | None:
    """The type of a function whose last arguments are given; None if their sizes are in it."""
    params = info.params or ()
    kept, given = params[: len(params) - count], params[len(params) - count :]
    fixed = {var for each in given for var in order.free_shape_vars(each)}
    if not fixed.isdisjoint(
        var for each in (*kept, info.ret) for var in order.free_shape_vars(each)
    ):
        return None
    binders = tuple(var for var in info.binders if var not in fixed)
    return replace(info, params=kept, binders=binders)


def constant_term(data: ast.Literal) -> ConstantTerm:
    """The term of a constant. Raises Unreadable if its data are not known."""
    if data.content is None and data.value is None:
        raise Unreadable("the text omits the data of a constant")
    kind = numpy_type(data.dtype)
    if kind is None or data.shape is None:
        raise Unreadable("the element type of a constant is not known")
    if data.content is not None:
        return terms.literal(data.shape, data.dtype, bytes(data.content))
    content = array_of(data.value, kind).reshape(data.shape).tobytes()
    return terms.literal(data.shape, data.dtype, content)


class PartialTerm(ValueTerm):
    """A function whose last arguments are given."""

    function: Term
    captured: tuple[Term, ...]


CALLED = tir.Var("called", BOOL)
"""The condition of what happens if a caller calls a function that a program returned."""
CALL_TIR = "relax.call_tir"
FILLED = "filled"
"""The kind of a check that the axes of an extremum have elements, unless the result has none; its key has
their extents, and those of the result."""
NEVER = "never"
"""The kind of a check that always fails: the operator is not defined for these elements."""
NUMBER = "number"
"""The kind of a check that a number which a program computes of sizes is not too large."""
WRITTEN = "written"
"""The kind of a check that a tensor which a PrimFunc fills is written as a whole."""
_IN_PLACE = ("relax.reshape", "relax.memory.ensure_zero_offset", "relax.memory.view")
"""Operators whose result is in the memory of their argument, where the program allocates memory."""

_ARITHMETIC = frozenset(
    f"relax.{name}"
    for name in (
        *("divide", "floor_divide", "mod", "floor_mod", "power", "log_add_exp"),
        *("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"),
    )
)
"""Operators that may fail on elements that are not floats."""

_OF_SHAPES = frozenset(
    f"relax.{name}" for name in ("zeros", "ones", "full", "eye", "broadcast_to", "arange")
)
"""Operators whose results have lengths that the program computes."""

_EXTREMA = frozenset(f"relax.{name}" for name in ("max", "min", "argmax", "argmin", "median"))
"""Operators that fail on axes without elements."""

_MEANS = frozenset(f"relax.{name}" for name in ("mean", "variance", "std"))
"""Operators that fail on axes without elements that are not floats."""

_FAULTING = frozenset(
    f"relax.{name}"
    for name in (
        *("gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "index_put"),
        *("index_tensor", "one_hot", "bucketize", "dynamic_strided_slice", "nn.nll_loss"),
        *("reverse_sequence", "grad.take_backward", "grad.nll_loss_backward"),
        *("slice_scatter", "unique", "arange", "bincount", "nonzero", "topk", "view"),
        *("multinomial_from_uniform", "tensor_to_shape", "tensor_to_shape_value"),
    )
)
"""Operators that may fail because of the elements of their arguments."""


def _by_shapes(made: ApplicationTerm) -> object:
    """The key of a check that depends on the shapes of a call's arguments alone; of the whole call
    if it has other arguments than tensors.
    """
    if not all(isinstance(a, TensorTerm) for a in made.arguments):
        return ("call", made)
    shapes = [(a.shape, a.dtype) for a in made.arguments if isinstance(a, TensorTerm)]
    return ("shapes", made.name, made.attributes, *shapes)


def _reduced(shape: Sequence[tir.PrimExpr], made: ApplicationTerm) -> list[int]:
    """The axes that an extremum is taken over."""
    attributes: Any = made.attributes
    axes = attributes[0][1]
    positions = [_number(axes)] if axes[:1] == ("int",) else [_number(axis) for axis in axes]
    rank = len(shape)
    picked = [k % rank for k in positions if k is not None and -rank <= k < rank]
    return picked if picked and len(picked) == len(positions) else list(range(rank))


def _faults(name: str, arguments: Sequence[Term], made: ApplicationTerm) -> list[object]:
    """The ways in which a call may fail because of its arguments' elements, as keys of checks."""
    match arguments:
        case [TensorTerm(shape=shape), TensorTerm() | NumberTerm() as indices, *_] if (
            name == "relax.take"
        ):
            attributes: Any = made.attributes
            axis = attributes[0][2]
            mode = attributes[0][3] if len(attributes[0]) > 3 else None
            position = axis.value if isinstance(axis, tir.IntImm) else _number(axis)
            if position is None and len(shape) == 1:
                position = 0
            if position is not None and -len(shape) <= position < len(shape):
                return [("index", indices, shape[position], mode)]
    kinds = [a.dtype for a in arguments if isinstance(a, TensorTerm)]
    if name == "relax.subtract" and kinds and set(kinds) == {BOOL}:
        return [(NEVER, name)]
    if name in _ARITHMETIC:
        known = len(kinds) == len([a for a in arguments if not isinstance(a, NumberTerm)])
        if known and kinds and all(k.is_float for k in kinds):
            return []
        return [] if _cannot_fail(name, arguments) else [("call", made)]
    if name in _EXTREMA or (name in _MEANS and not all(kind.is_float for kind in kinds)):
        (shape,) = (a.shape for a in arguments if isinstance(a, TensorTerm))
        reduced = _reduced(shape, made)
        dims = tuple([shape[k] for k in reduced])
        kept = tuple([dim for k, dim in enumerate(shape) if k not in reduced])
        filled = all(isinstance(dim, tir.IntImm) and dim.value > 0 for dim in dims)
        return [] if filled else [(FILLED, dims, kept)]
    if name in ("relax.arange", "relax.one_hot") and _is_constant(name, made):
        return []
    if (
        name == LAYOUT_TRANSFORM
        or name in _FAULTING
        or name.startswith(("relax.vision.", "relax.image.", "relax.take"))
    ):
        return [("call", made)]
    if name.removeprefix("relax.") in _ANY_TYPE:
        return []
    types = [str(a.dtype) for a in arguments if isinstance(a, TensorTerm)]
    return [] if all(each in _USUAL for each in types) else [("types", name, *types)]


def _long_enough(arguments: Sequence[Term], made: ApplicationTerm) -> Iterator[tir.PrimExpr]:
    """The conditions under which axes have the elements that a padding repeats."""
    attributes: Any = made.attributes
    _, widths, (_, mode), *_ = attributes[0]
    (shape,) = [a.shape for a in arguments if isinstance(a, TensorTerm)]
    each = [_number(width) or 0 for width in widths]
    for dim, before, after in zip(shape, each[::2], each[1::2], strict=True):
        added = max(before, after, 0)
        least = {"reflect": added + 1, "circular": added, "replicate": min(added, 1)}.get(mode, 0)
        if least > 0 and not (isinstance(dim, tir.IntImm) and dim.value >= least):
            yield tir.interned(tir.LE(terms.index(least), dim))


def _cannot_fail(name: str, arguments: Sequence[Term]) -> bool:
    """Whether arithmetic of integers has a constant on the right with which it never fails."""
    match arguments:
        case [TensorTerm(dtype=kind), ConstantTerm(dtype=right) as constant] if (
            kind == right and kind.is_integer
        ):
            low, high = lowest_and_highest(constant)
            if low > high:
                return False
            if name.endswith("_shift"):
                return 0 <= low and high < kind.bits
            return name != "relax.log_add_exp" and (
                low > 0 or (high < -1 and name != "relax.power")
            )
    return False


def _is_constant(name: str, made: ApplicationTerm) -> bool:
    """Whether the step of a range, or the depth of `one_hot`, is a number that cannot fail."""
    attributes: Any = made.attributes
    if name == "relax.one_hot":
        return any((_number(each) or 0) > 0 for each in attributes[0][3:4])
    step = attributes[0][2]
    return isinstance(step, tir.IntImm | tir.FloatImm) and step.value != 0


_USUAL = (
    *("float32", "float64", "float16", "int32", "int64"),
    *("int8", "int16", "uint8", "uint16", "uint32", "uint64"),
)
"""Element types that every operator is defined for, if the checker accepts them."""

_OF_SHAPE = {f"relax.{name}_like": f"relax.{name}" for name in ("full", "zeros", "ones")}
"""Operators that take a tensor for its shape and type, and those that take the shape."""

_ANY_TYPE = frozenset(
    [
        *("reshape", "permute_dims", "concat", "split", "expand_dims", "squeeze", "flatten"),
        *("broadcast_to", "where", "astype", "strided_slice", "zeros", "ones", "full", "flip"),
        *("repeat", "tile", "zeros_like", "ones_like", "full_like", "equal", "not_equal"),
        *("logical_and", "logical_or", "logical_not", "stack", "collapse_sum_to"),
    ]
)
"""Operators that are defined for all element types."""


def _number(key: object) -> int | None:
    """The number of an attribute's key."""
    match key:
        case ("int", str() as text):
            return int(text)
    return None


_SPECIAL: dict[str, Any] = {
    CALL_TIR: Execution._call_tir,
    "relax.call_tir_with_grad": Execution._call_tir,
    "relax.call_pure_packed": Execution._packed_operator,
    "relax.call_dps_packed": Execution._packed_operator,
    "relax.shape_of": Execution._shape_of,
    "relax.null_value": Execution._null,
    "relax.to_vdevice": Execution._same_or_copy,
    "relax.hint_on_device": Execution._same_or_copy,
    "relax.builtin.stop_lift_params": Execution._same,
    "relax.builtin.alloc_tensor": lowered.alloc_tensor,
    "relax.memory.alloc_storage": lowered.alloc_storage,
    "relax.vm.alloc_storage": lowered.alloc_storage,
    "relax.memory.alloc_tensor": lowered.tensor_in_memory,
    "relax.vm.alloc_tensor": lowered.tensor_in_memory,
    "relax.memory.kill_storage": lowered.kill,
    "relax.memory.kill_tensor": lowered.kill,
    "relax.vm.kill_object": lowered.kill,
    "relax.call_tir_inplace": lowered.call_in_place,
    "relax.call_inplace_packed": lowered.call_packed_in_place,
    "relax.call_builtin_with_ctx": Execution._packed_operator,
    "relax.print": Execution._print,
    "relax.assert_op": Execution._assert,
    "relax.make_closure": Execution._closure,
    "relax.invoke_closure": Execution._invoke,
    "relax.invoke_pure_closure": Execution._invoke,
}
