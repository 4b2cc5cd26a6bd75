"""Programs to terms: a function of Relax is run on terms instead of values.

What a run may fail at, and which packed functions it calls, is collected in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.struct_infos import OBJECT, fields_or_itself
from rlx.operators import lookup
from rlx.refine import terms
from rlx.refine.definitions import Definitions, Unopened, replaced_sizes
from rlx.refine.terms import (
    ApplicationTerm,
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

MOST_BINDINGS = 20_000
"""The most bindings that a run on terms goes through, those of called functions included."""
DEEPEST = 60
"""The most calls and branches that are nested."""


class Unreadable(Exception):
    """A program does something that terms do not describe; the message says what."""


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

    path: tuple[tuple[object, bool], ...]
    key: object
    condition: tir.PrimExpr | None
    words: str


class ClosureTerm(ValueTerm):
    """A function literal with the values that it captures."""

    function: ast.Function
    frame: Frame


class CellTerm(ValueTerm):
    """Memory that the program allocates: a tensor whose content changes.

    Attributes
    ----------
    shape, dtype
        Those of the tensor.
    storage
        The piece of memory that contains it: tensors of one piece overwrite each other.
    """

    shape: tuple[tir.PrimExpr, ...]
    dtype: Any
    storage: object


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
        self.memory: dict[CellTerm, TensorTerm | None] = {}
        self.accepted = 0
        self.applied: list[ApplicationTerm] = []
        self.recursive: list[str] = []
        self._functions = {gv.name_hint: f for gv, f in module.functions.items()}
        self._path: tuple[tuple[object, bool], ...] = ()
        self._stack: list[ast.Function] = []
        self._bindings = 0
        self._inlined: dict[object, Term] = {}

    # ------------------------------------------------------------ functions

    @property
    def function_names(self) -> tuple[str, ...]:
        """The names of the functions of the module."""
        return tuple(self._functions)

    def entry(self, name: str, arguments: Sequence[Term]) -> Term:
        """The result of a function for arguments; its casts and checks are collected.

        Raises
        ------
        Unreadable
            If the function does something that terms do not describe.
        """
        function = self._functions[name]
        assert isinstance(function, ast.Function)
        found = self._called(function, arguments, Frame({}, {}))
        return self.loaded(found)

    def roots(self, result: Term) -> list[Term]:
        """The result, and the arguments of the calls of packed functions."""
        found, call = [result], self.last
        while call is not None:
            found += call.arguments
            call = call.after
        return found[::-1]

    def _called(self, function: ast.Function, arguments: Sequence[Term], outer: Frame) -> Term:
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
            frame.values[param] = self._cast(
                argument, info, frame, f"the type of {param.name_hint}"
            )
        if not self._stack:
            self.accepted = len(self.checks)
            for param in function.params:
                self._call_it(frame.values[param], param.name_hint)
        self._stack.append(function)
        found = self._value(function.body, frame)
        self._stack.pop()
        if function.ret_struct_info is not None and not isinstance(found, CellTerm):
            found = self._cast(found, function.ret_struct_info, frame, "the type of the result")
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
        made = terms.apply("recursive", name, arguments, None)
        self._check(("call", made), None, f"the recursive call of {name}")
        info = function.ret_struct_info
        return self._returned(OBJECT if info is None else self._sized(info, frame), made)

    # ------------------------------------------------------------ casts

    def _bind(self, info: StructInfo, term: Term, frame: Frame, free: set[tir.Var]) -> None:
        """Bind the sizes that stand alone in a type to those of a value."""
        match info, term:
            case ast.TupleStructInfo(fields=fields), TupleTerm(fields=parts):
                for each, part in zip(fields, parts, strict=False):
                    self._bind(each, part, frame, free)
                return
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)), (
                TensorTerm(shape=found) | CellTerm(shape=found)
            ):
                pass
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)), OpaqueTerm():
                found = tuple(
                    self.definitions.size((term.of, term.path), k) for k in range(len(dims))
                )
            case ast.ShapeStructInfo(values=tuple() as dims), ShapeTerm(values=found):
                pass
            case ast.ShapeStructInfo(values=tuple() as dims), OpaqueTerm():
                found = tuple(
                    self.definitions.size((term.of, term.path), k) for k in range(len(dims))
                )
            case ast.PrimStructInfo(value=tir.PrimExpr() as value), NumberTerm(value=number):
                dims, found = (value,), (number,)
            case ast.PrimStructInfo(value=tir.PrimExpr() as value), OpaqueTerm():
                dims, found = (value,), (self.definitions.size((term.of, term.path), 0),)
            case _:
                return
        for dim, known in zip(dims, found, strict=False):
            if isinstance(dim, tir.Var) and dim in free:
                frame.sizes[dim] = known
                free.discard(dim)

    def _cast(self, term: Term, info: StructInfo, frame: Frame, words: str) -> Term:
        """A value that is checked to have a type, whose sizes are bound."""
        definitions = self.definitions
        match info, term:
            case ast.ObjectStructInfo() | ast.FuncStructInfo(), _:
                return term
            case ast.TupleStructInfo(fields=fields), TupleTerm(fields=parts):
                if len(fields) != len(parts):
                    self._check(("arity", term, len(fields)), None, words)
                    return term
                made = [self._cast(p, f, frame, words) for p, f in zip(parts, fields, strict=True)]
                return terms.group(made)
            case ast.TensorStructInfo(), TensorTerm() | CellTerm():
                if not info.dtype.is_void and info.dtype != term.dtype:
                    self._check(("dtype", term, info.dtype), None, words)
                if info.ndim >= 0 and info.ndim != len(term.shape):
                    self._check(("rank", term, info.ndim), None, words)
                elif isinstance(info.shape, ast.ShapeExpr):
                    if len(info.shape.values) != len(term.shape):
                        self._check(("rank", term, len(info.shape.values)), None, words)
                    else:
                        self._equal(info.shape.values, term.shape, frame, words)
                elif isinstance(info.shape, ast.Var):
                    held = self.loaded(frame.values[info.shape])
                    if not isinstance(held, ShapeTerm) or len(held.values) != len(term.shape):
                        self._check(("shape", term, held), None, words)
                    else:
                        self._equal(held.values, term.shape, frame, words)
                return term
            case ast.ShapeStructInfo(), ShapeTerm(values=found):
                if info.values is not None and len(info.values) == len(found):
                    self._equal(info.values, found, frame, words)
                elif info.ndim >= 0 and info.ndim != len(found):
                    self._check(("rank", term, info.ndim), None, words)
                return term
            case ast.PrimStructInfo(), NumberTerm(value=number):
                if info.dtype != tir.type_of(number):
                    self._check(("dtype", term, info.dtype), None, words)
                elif info.value is not None:
                    self._equal((info.value,), (number,), frame, words)
                return term
            case _, OpaqueTerm(of=of, path=path):
                known = definitions.unshaped.get(term)
                wanted = self._over_own_sizes(info, (of, path))
                said = terms.outline(replaced_sizes(wanted, {}))
                if known is None or terms.outline(known) != said:
                    self._check(("type", term, said), None, words)
                for own, dim in self._own_sizes(info, (of, path)):
                    self._equal((dim,), (own,), frame, words)
                return definitions.value_of(wanted, of, path)
        self._check(("type", term, terms.outline(self._sized(info, frame))), None, words)
        return term

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
            case ast.TensorStructInfo():
                return ast.TensorStructInfo(None, info.dtype, info.ndim)
            case ast.ShapeStructInfo(values=tuple()):
                return ast.ShapeStructInfo(tuple(own), len(own))
            case ast.PrimStructInfo(value=tir.PrimExpr()):
                return ast.PrimStructInfo(info.dtype, own[0])
        return info

    def _sized(self, info: StructInfo, frame: Frame) -> StructInfo:
        return replaced_sizes(info, frame.sizes)

    def _equal(
        self,
        dims: Sequence[tir.PrimExpr],
        found: Sequence[tir.PrimExpr],
        frame: Frame,
        words: str,
    ) -> None:
        for dim, known in zip(dims, found, strict=True):
            said = frame.size(dim)
            if said is not known:
                condition = tir.interned(tir.EQ(said, known))
                self._check(("equal", condition), condition, words)

    def _check(self, key: object, condition: tir.PrimExpr | None, words: str) -> None:
        self.checks.append(RunCheck(self._path, key, condition, words))
        if condition is not None and not self._path:
            self.facts.append(condition)
            self.definitions.learn(condition)

    # ------------------------------------------------------------ expressions

    def _value(self, expr: Expr, frame: Frame) -> Term:
        """The value of an expression; a sequence binds its names in the frame."""
        match expr:
            case ast.SeqExpr(blocks=blocks, body=body):
                for block in blocks:
                    for binding in block.bindings:
                        self._binding(binding, frame)
                return self._value(body, frame)
            case ast.Var():
                found = frame.values.get(expr)
                if found is None:
                    if expr.shape_var is not None and expr.shape_var in frame.sizes:
                        return terms.number(frame.sizes[expr.shape_var])
                    raise Unreadable(f"{expr.name_hint} has no value")
                return found
            case ast.Constant(data=data):
                return self._constant(data)
            case ast.Tuple(fields=fields):
                return terms.group([self._value(field, frame) for field in fields])
            case ast.TupleGetItem(tuple_value=whole, index=index):
                return self._item(self._value(whole, frame), index)
            case ast.ShapeExpr(values=values):
                return terms.sizes([frame.size(value) for value in values])
            case ast.PrimValue(value=value):
                return terms.number(frame.size(value))
            case ast.StringImm(value=text):
                return terms.word("string", text)
            case ast.DataTypeImm(value=kind):
                return terms.word("dtype", str(kind))
            case ast.ExternFunc(global_symbol=name):
                return terms.word("packed", name)
            case ast.GlobalVar(name_hint=name):
                return terms.word("function", name)
            case ast.Function():
                return ClosureTerm(expr, frame)
            case ast.If():
                return self._branch(expr, frame)
            case ast.Call():
                return self._call(expr, frame)
        raise Unreadable(f"{type(expr).__name__} is not described by terms")

    def _binding(self, binding: ast.Binding, frame: Frame) -> None:
        self._bindings += 1
        if self._bindings > MOST_BINDINGS:
            raise Unreadable("there are too many bindings")
        match binding:
            case ast.VarBinding(var=var, value=value):
                if isinstance(value, ast.Function):
                    frame.values[var] = ClosureTerm(value, frame)
                    return
                found = self._value(value, frame)
                if var.shape_var is not None and isinstance(found, NumberTerm):
                    frame.sizes[var.shape_var] = found.value
            case ast.MatchCast(var=var, value=value, struct_info=info, shape_vars=free):
                term = self._value(value, frame)
                if isinstance(term, CellTerm):
                    term = self.loaded(term)
                self._bind(info, term, frame, set(free))
                found = self._cast(term, info, frame, "a cast")
                if var is None:
                    return
                if var.shape_var is not None and isinstance(found, NumberTerm):
                    frame.sizes[var.shape_var] = found.value
            case _:
                raise Unreadable("a binding is not described by terms")
        frame.values[var] = found
        self.names.setdefault(found, var.name_hint)

    def _constant(self, data: ast.Literal) -> Term:
        import numpy as np

        from rlx.grammar.nodes.dtype import numpy_type

        kind = numpy_type(data.dtype)
        if kind is None or data.shape is None:
            raise Unreadable("the element type of a constant is not known")
        if data.content is not None:
            return terms.literal(data.shape, data.dtype, data.content)
        if data.value is None:
            raise Unreadable("the text omits the data of a constant")
        content = np.array(data.value, dtype=kind).reshape(data.shape).tobytes()
        return terms.literal(data.shape, data.dtype, content)

    def _item(self, whole: Term, index: int) -> Term:
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

    def loaded(self, term: Term) -> Term:
        """A value with the content of the memory that it refers to."""
        match term:
            case CellTerm():
                content = self.memory.get(term)
                if content is None:
                    raise Unreadable("memory is read that the program has not written")
                return content
            case TupleTerm(fields=fields) if any(
                isinstance(each, CellTerm | TupleTerm) for each in fields
            ):
                return terms.group([self.loaded(each) for each in fields])
        return term

    # ------------------------------------------------------------ branches

    def _branch(self, branch: ast.If, frame: Frame) -> Term:
        condition = self.loaded(self._value(branch.cond, frame))
        match condition:
            case TensorTerm(shape=()):
                chosen = terms.read(condition, ())
            case NumberTerm(value=value):
                chosen = value
            case _:
                raise Unreadable("the condition of a branch is not a scalar")
        if isinstance(chosen, tir.IntImm):
            return self._value(
                branch.true_branch if chosen.value else branch.false_branch,
                Frame(frame.values, frame.sizes),
            )
        if len(self._path) >= DEEPEST:
            raise Unreadable("branches are nested too deep")
        before, outside = self.last, self._path
        found, ends = [], []
        memory = dict(self.memory)
        contents = []
        for taken, body in ((True, branch.true_branch), (False, branch.false_branch)):
            self._path = (*outside, (chosen, taken))
            self.last = before
            self.memory = dict(memory)
            found.append(self.loaded(self._value(body, Frame(frame.values, frame.sizes))))
            ends.append(self.last)
            contents.append(self.memory)
        self._path, self.last = outside, before
        for cell in memory:
            if contents[0][cell] is not contents[1][cell]:
                raise Unreadable("a branch writes memory")
        self.memory = memory
        if ends[0] is not before or ends[1] is not before:
            calls = [terms.unknown(end) for end in ends]
            self.last = terms.apply("if", None, (condition, *calls), None, before)
        return self._chosen(condition, chosen, found[0], found[1])

    def _chosen(self, condition: Term, chosen: tir.PrimExpr, one: Term, other: Term) -> Term:
        if one is other:
            return one
        match one, other:
            case TupleTerm(fields=a), TupleTerm(fields=b) if len(a) == len(b):
                return terms.group(
                    [self._chosen(condition, chosen, x, y) for x, y in zip(a, b, strict=True)]
                )
            case TensorTerm(), TensorTerm() if one.shape == other.shape and (
                one.dtype == other.dtype
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
        callee = call.op
        if isinstance(callee, ast.Op):
            special = _SPECIAL.get(callee.op_name)
            if special is not None:
                made: Term = special(self, call, frame)
                return made
            return self._operator(call, frame)
        arguments = [self._value(arg, frame) for arg in call.args]
        function = self._value(callee, frame)
        match function:
            case WordTerm(kind="function", text=name):
                found = self._functions.get(name)
                if isinstance(found, ast.Function):
                    return self._inline(found, arguments, Frame({}, {}))
                if isinstance(found, tir.PrimFunc):
                    return self._written(found, arguments)
            case WordTerm(kind="packed", text=name):
                return self._packed(name, [self.loaded(a) for a in arguments], call, frame)
            case ClosureTerm(function=literal, frame=outer):
                return self._inline(literal, arguments, outer)
        raise Unreadable("a function is called that is not known")

    def _inline(self, function: ast.Function, arguments: Sequence[Term], outer: Frame) -> Term:
        """The result of a call of a function of the module, or of a closure."""
        args = tuple([self.loaded(argument) for argument in arguments])
        key = (function, args, self._path) if not outer.values else None
        known = None if key is None else self._inlined.get(key)
        if known is not None:
            return known
        before, memory = self.last, dict(self.memory)
        found = self._called(function, args, outer)
        if key is not None and self.last is before and self.memory == memory:
            self._inlined[key] = found
        return found

    def _packed(self, name: str, args: Sequence[Term], call: ast.Call, frame: Frame) -> Term:
        """A call of a packed function: it may do anything, and its result may depend on the calls
        before it.
        """
        if any(isinstance(a, ClosureTerm) for a in args):
            raise Unreadable("a packed function gets a function")
        infos = tuple([self._sized(info, frame) for info in call.sinfo_args])
        made = terms.apply("packed", name, args, None, self.last)
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
        arguments = [self.loaded(self._value(arg, frame)) for arg in call.args]
        if any(isinstance(a, ClosureTerm) for a in arguments):
            raise Unreadable(f"the operator {name.removeprefix('relax.')} gets a function")
        attrs = {key: self._attribute(value, frame) for key, value in call.attrs.items()}
        infos = tuple([self._sized(info, frame) for info in call.sinfo_args])
        try:
            made, known = self.definitions.call(operator, arguments, attrs, infos)
        except Unopened as error:
            raise Unreadable(str(error)) from None
        if not self._path:
            self.applied.append(made)
        for key in _faults(name, arguments, made):
            self._check(key, None, f"R.{name.removeprefix('relax.')}")
        if known.risks:
            self._check(_by_shapes(made), None, known.risks[0])
        return self.definitions.value_of(known.info, made)

    def _attribute(self, value: Any, frame: Frame) -> Any:
        match value:
            case Expr():
                return self.definitions.expression(self.loaded(self._value(value, frame)))
            case tir.PrimExpr():
                return frame.size(value)
            case tuple() | list():
                return type(value)([self._attribute(each, frame) for each in value])
        return value

    # ------------------------------------------------------------ PrimFuncs

    def _call_tir(self, call: ast.Call, frame: Frame) -> Term:
        callee, *rest = [self._value(arg, frame) for arg in call.args]
        function = self._prim_func(callee)
        args, first = self._listed(rest)
        infos = tuple([self._sized(info, frame) for info in call.sinfo_args])
        if len(infos) == 1:
            infos = fields_or_itself(infos[0])
            several = isinstance(call.sinfo_args[0], ast.TupleStructInfo)
        else:
            several = True
        results = self._computed(function, args, infos, first)
        return terms.group(results) if several else results[0]

    def _listed(self, given: Sequence[Term]) -> tuple[list[Term], int]:
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

    def _prim_func(self, callee: Term) -> tir.PrimFunc:
        if isinstance(callee, WordTerm) and callee.kind == "function":
            found = self._functions.get(callee.text)
            if isinstance(found, tir.PrimFunc):
                return self.prim_funcs.shared(found)
        raise Unreadable("call_tir gets something else than a PrimFunc")

    def _computed(
        self,
        function: tir.PrimFunc,
        args: Sequence[Term],
        infos: Sequence[StructInfo],
        first: int | None = None,
    ) -> list[TensorTerm]:
        """The tensors that a PrimFunc fills.

        Parameters
        ----------
        first
            The position of the first of them among the parameters, if arguments follow them.
        """
        outlines = tuple(map(terms.outline, infos))
        first = len(args) if first is None else first
        made = terms.apply(CALL_TIR, (function, outlines, first), args, None)
        self._check(("call", made), None, "call_tir")
        found = []
        for k, info in enumerate(infos):
            value = self.definitions.value_of(info, made, (k,))
            if not isinstance(value, ResultTerm):
                raise Unreadable("the shape of a result of call_tir is not known")
            found.append(value)
        return list(found)

    def _written(self, function: tir.PrimFunc, args: Sequence[Term]) -> Term:
        """A call of a PrimFunc as a statement: it fills the memory of its last arguments."""
        fresh = len(args)
        while fresh and isinstance(args[fresh - 1], NumberTerm):
            fresh -= 1
        behind = args[fresh:]
        args = args[:fresh]
        while fresh and isinstance(args[fresh - 1], CellTerm):
            cell = args[fresh - 1]
            assert isinstance(cell, CellTerm)
            if self.memory[cell] is not None:
                break
            fresh -= 1
        cells = args[fresh:]
        if not cells:
            raise Unreadable("a PrimFunc writes memory that has content")
        infos = [
            ast.TensorStructInfo(ast.ShapeExpr(c.shape), c.dtype, len(c.shape))
            for c in cells
            if isinstance(c, CellTerm)
        ]
        shared = self.prim_funcs.shared(function)
        given = [self.loaded(a) for a in args[:fresh]]
        results = self._computed(shared, [*given, *behind], infos, fresh)
        for cell, content in zip(cells, results, strict=True):
            self._store(cell, content)
        return terms.group(())

    def _store(self, cell: Any, content: TensorTerm) -> None:
        if self._path:
            raise Unreadable("a branch writes memory")
        for other in self.memory:
            if other is not cell and other.storage is cell.storage:
                self.memory[other] = None
        self.memory[cell] = content

    # ------------------------------------------------------------ operators with a meaning here

    def _packed_operator(self, call: ast.Call, frame: Frame) -> Term:
        """`call_pure_packed`, `call_dps_packed`: pure functions of their arguments."""
        callee, *rest = [self.loaded(self._value(arg, frame)) for arg in call.args]
        if not isinstance(callee, WordTerm):
            raise Unreadable("a packed function is called that is not known")
        infos = tuple([self._sized(info, frame) for info in call.sinfo_args])
        outlines = tuple(map(terms.outline, infos))
        made = terms.apply(call.op_name, (callee.kind, callee.text, outlines), rest, None)
        self._check(("call", made), None, f"the packed function {callee.text}")
        info = infos[0] if len(infos) == 1 else ast.TupleStructInfo(infos)
        return self._returned(info, made)

    def _shape_of(self, call: ast.Call, frame: Frame) -> Term:
        found = self._value(call.args[0], frame)
        if isinstance(found, TensorTerm | CellTerm):
            return terms.sizes(found.shape)
        return self._operator(call, frame)

    def _same(self, call: ast.Call, frame: Frame) -> Term:
        """An operator that returns its first argument."""
        return self._value(call.args[0], frame)

    def _null(self, call: ast.Call, frame: Frame) -> Term:
        return terms.word("null", "")

    def _alloc_tensor(self, call: ast.Call, frame: Frame) -> Term:
        shape = self._value(call.args[0], frame)
        kind = call.args[1]
        if not isinstance(shape, ShapeTerm) or not isinstance(kind, ast.DataTypeImm):
            raise Unreadable("the shape of allocated memory is not known")
        return self._cell(shape.values, kind.value, object())

    def _cell(self, shape: tuple[tir.PrimExpr, ...], kind: Any, storage: object) -> Term:
        cell = CellTerm(shape, kind, storage)
        self.memory[cell] = None
        return cell

    def _alloc_storage(self, call: ast.Call, frame: Frame) -> Term:
        return terms.unknown(object())

    def _memory_tensor(self, call: ast.Call, frame: Frame) -> Term:
        storage = self._value(call.args[0], frame)
        shape = self._value(call.args[2], frame)
        kind = call.args[3]
        if not isinstance(shape, ShapeTerm) or not isinstance(kind, ast.DataTypeImm):
            raise Unreadable("the shape of allocated memory is not known")
        return self._cell(shape.values, kind.value, storage)

    def _print(self, call: ast.Call, frame: Frame) -> Term:
        args = [self.loaded(self._value(arg, frame)) for arg in call.args]
        attrs = tuple([(key, str(value)) for key, value in sorted(call.attrs.items())])
        self.last = terms.apply("print", attrs, args, None, self.last)
        return terms.group(())

    def _assert(self, call: ast.Call, frame: Frame) -> Term:
        condition, *_ = [self.loaded(self._value(arg, frame)) for arg in call.args]
        self._check(("assert", condition), None, "an assertion")
        return terms.group(())

    def _nothing(self, call: ast.Call, frame: Frame) -> Term:
        return terms.group(())

    def _closure(self, call: ast.Call, frame: Frame) -> Term:
        """`make_closure`: a function of the module, with its last arguments."""
        function = self._value(call.args[0], frame)
        captured = self._value(call.args[1], frame)
        if not isinstance(captured, TupleTerm):
            raise Unreadable("a closure captures something else than a tuple")
        return PartialTerm(function, captured.fields)

    def _invoke(self, call: ast.Call, frame: Frame) -> Term:
        """`invoke_closure`, `invoke_pure_closure`."""
        closure = self._value(call.args[0], frame)
        given = self._value(call.args[1], frame)
        if not isinstance(given, TupleTerm):
            raise Unreadable("a closure is called with something else than a tuple")
        match closure:
            case PartialTerm(function=WordTerm(kind="function", text=name), captured=captured):
                found = self._functions.get(name)
                if isinstance(found, ast.Function):
                    return self._inline(found, (*given.fields, *captured), Frame({}, {}))
            case ClosureTerm(function=literal, frame=outer):
                return self._inline(literal, given.fields, outer)
        raise Unreadable("a closure is called that is not known")


class PartialTerm(ValueTerm):
    """A function whose last arguments are given."""

    function: Term
    captured: tuple[Term, ...]


CALL_TIR = "relax.call_tir"

_ARITHMETIC = frozenset(
    f"relax.{name}"
    for name in (
        *("divide", "floor_divide", "mod", "floor_mod", "power", "log_add_exp"),
        *("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"),
    )
)
"""Operators that may fail on elements that are not floats."""

_EXTREMA = frozenset(f"relax.{name}" for name in ("max", "min", "argmax", "argmin", "median"))
"""Operators that fail on axes without elements."""

_FAULTING = frozenset(
    f"relax.{name}"
    for name in (
        *("gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "index_put"),
        *("index_tensor", "one_hot", "bucketize", "dynamic_strided_slice", "nn.nll_loss"),
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


def _faults(name: str, arguments: Sequence[Term], made: ApplicationTerm) -> list[object]:
    """What a call of an operator may fail at because of its arguments' elements, as keys of checks."""
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
    if name in _ARITHMETIC:
        kinds = [a.dtype for a in arguments if isinstance(a, TensorTerm)]
        known = len(kinds) == len([a for a in arguments if not isinstance(a, NumberTerm)])
        return [] if known and kinds and all(k.is_float for k in kinds) else [("call", made)]
    if name in _EXTREMA:
        filled = all(
            isinstance(dim, tir.IntImm) and dim.value > 0
            for a in arguments
            if isinstance(a, TensorTerm)
            for dim in a.shape
        )
        return [] if filled else [_by_shapes(made)]
    if name in _FAULTING or name.startswith(("relax.vision.", "relax.image.", "relax.take")):
        return [("call", made)]
    if name.removeprefix("relax.") in _ANY_TYPE:
        return []
    types = [str(a.dtype) for a in arguments if isinstance(a, TensorTerm)]
    return [] if all(each in _USUAL for each in types) else [("types", name, *types)]


_USUAL = ("float32", "float64", "float16", "int32", "int64")
"""Element types that every operator is defined for, if the checker accepts them."""

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
    "relax.call_pure_packed": Execution._packed_operator,
    "relax.call_dps_packed": Execution._packed_operator,
    "relax.shape_of": Execution._shape_of,
    "relax.null_value": Execution._null,
    "relax.to_vdevice": Execution._same,
    "relax.hint_on_device": Execution._same,
    "relax.builtin.stop_lift_params": Execution._same,
    "relax.builtin.alloc_tensor": Execution._alloc_tensor,
    "relax.memory.alloc_storage": Execution._alloc_storage,
    "relax.memory.alloc_tensor": Execution._memory_tensor,
    "relax.memory.kill_storage": Execution._nothing,
    "relax.memory.kill_tensor": Execution._nothing,
    "relax.vm.kill_object": Execution._nothing,
    "relax.print": Execution._print,
    "relax.assert_op": Execution._assert,
    "relax.make_closure": Execution._closure,
    "relax.invoke_closure": Execution._invoke,
    "relax.invoke_pure_closure": Execution._invoke,
}
