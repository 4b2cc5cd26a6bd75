"""Meaning of lowered programs as terms: memory, shape heaps, functions of the virtual machine, and
PrimFuncs that are called as statements or overwrite their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import VOID, DataType, dtype, numpy_type
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators import lookup
from rlx.refine import terms
from rlx.refine.definitions import Unopened
from rlx.refine.terms import (
    ApplicationTerm,
    InputTerm,
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
from rlx.semantics.native.write_analysis import UnknownWritesError, written_parameters

Execution: TypeAlias = Any
Frame: TypeAlias = Any
"""The frame of :mod:`rlx.refine.execute`, which imports this file."""


class Unreadable(Exception):
    """A program does something that terms cannot describe; the message says what."""


class StorageTerm(ValueTerm):
    """A piece of memory that the program allocates.

    Attributes
    ----------
    size
        The number of its bytes; None if it is not known.
    identity
        Distinguishes it from other pieces.
    """

    size: tir.PrimExpr | None
    identity: object


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


class HeapTerm(ValueTerm):
    """A shape heap: a tensor of sizes, each written before it is read."""

    identity: object


class NeverWritten:
    """The content of memory that nothing was written to."""


class Overwritten:
    """The content of memory that another tensor in the same memory overwrote."""


UNWRITTEN, OVERWRITTEN = NeverWritten(), Overwritten()
Content = TensorTerm | NeverWritten | Overwritten

# ---------------------------------------------------------------- memory


def cell(run: Execution, shape: Term, kind: ast.Expr, storage: object) -> Term:
    """New memory for a tensor."""
    found = _element_type(kind)
    if found is None:
        raise Unreadable("the element type of allocated memory is not known")
    if not isinstance(shape, ShapeTerm):
        raise Unreadable("the shape of allocated memory is not known")
    run.exists(shape.values, "the allocation of memory")
    made = CellTerm(shape.values, found, storage)
    run.memory[made] = UNWRITTEN
    return made


def _element_type(kind: ast.Expr) -> DataType | None:
    match kind:
        case ast.DataTypeImm(value=known):
            return known
        case ast.StringImm(value=text):
            return dtype(text)
    return None


def alloc_tensor(run: Execution, call: ast.Call, frame: Frame) -> Term:
    """`R.builtin.alloc_tensor`."""
    return cell(run, run.value(call.args[0], frame), call.args[1], object())


def alloc_storage(run: Execution, call: ast.Call, frame: Frame) -> Term:
    """`R.memory.alloc_storage`, of a number of bytes, and `R.vm.alloc_storage`, of elements."""
    shape = run.value(call.args[0], frame)
    if isinstance(shape, ShapeTerm):
        run.exists(shape.values, "the allocation of memory")
    if call.op_name == "relax.memory.alloc_storage":
        return storage(shape, dtype("uint8"))
    return storage(shape, _element_type(call.args[2]))


def storage(shape: Term, kind: DataType | None) -> Term:
    """A new piece of memory."""
    size: tir.PrimExpr | None = None
    if isinstance(shape, ShapeTerm) and kind is not None:
        size = _bytes(shape.values, kind)
    return StorageTerm(size, object())


def _bytes(shape: Sequence[tir.PrimExpr], kind: DataType) -> tir.PrimExpr | None:
    plain = numpy_type(kind)
    if plain is None:
        return None
    found: tir.PrimExpr = terms.index(plain.itemsize)
    for dim in shape:
        found = tir.Mul(found, dim)
    return tir.interned(found)


def tensor_in_memory(run: Execution, call: ast.Call, frame: Frame) -> Term:
    """`R.memory.alloc_tensor` and `R.vm.alloc_tensor`: it must fit into its memory."""
    of, offset, shape = (run.value(arg, frame) for arg in call.args[:3])
    made = cell(run, shape, call.args[3], of)
    assert isinstance(made, CellTerm)
    needs = _bytes(made.shape, made.dtype)
    if isinstance(of, StorageTerm):
        if needs is None or of.size is None or not isinstance(offset, NumberTerm):
            raise Unreadable("the size of allocated memory is not known")
        begin = offset.value
        if not (isinstance(begin, tir.IntImm) and begin.value >= 0):
            raise Unreadable("the offset of a tensor in its memory is not known")
        end = needs if begin.value == 0 else tir.Add(needs, begin)
        condition = tir.interned(tir.LE(end, of.size))
        run.check(("fits", condition), condition, "a tensor in its memory")
    return made


def load(run: Execution, term: CellTerm) -> TensorTerm:
    """The content of memory."""
    content = run.memory.get(term, OVERWRITTEN)
    if content is OVERWRITTEN:
        raise Unreadable("memory is read that was overwritten")
    if content is UNWRITTEN:
        # Any content is possible, and the other program may have the same.
        run.unwritten += 1
        key = ("unwritten memory", run.unwritten)
        content = terms.input_term(key, "unwritten", term.shape, term.dtype)
        run.check(
            (*key, term.shape, term.dtype), None, "reading memory that nothing was written to"
        )
        run.memory[term] = content
    assert isinstance(content, TensorTerm)
    return content


def store(run: Execution, term: CellTerm, content: TensorTerm) -> None:
    """Write memory: other tensors in the same piece of memory are overwritten."""
    if term.storage in run.chosen:
        raise Unreadable("memory is written that the value of a branch may be")
    for other in run.memory:
        if other is not term and other.storage is term.storage:
            run.memory[other] = OVERWRITTEN
    run.memory[term] = content


def view(run: Execution, of: CellTerm, content: TensorTerm) -> Term:
    """A tensor in the memory of another one."""
    made = CellTerm(content.shape, content.dtype, of.storage)
    run.memory[made] = content
    return made


def kill(run: Execution, call: ast.Call, frame: Frame) -> Term:
    """The end of a variable: it is not read again."""
    for arg in call.args:
        run.value(arg, frame)
        if isinstance(arg, ast.Var):
            frame.values.pop(arg, None)
    return terms.group(())


# ---------------------------------------------------------------- PrimFuncs as statements


def statement(run: Execution, function: tir.PrimFunc, args: Sequence[Term]) -> Term:
    """A call of a PrimFunc as a statement, or as a function of numbers."""
    if len(args) != len(function.params):
        raise Unreadable("a PrimFunc is called with the wrong number of arguments")
    match function.body:
        case tir.Evaluate(value=tir.Call(op="ret", args=(given,))) if not function.buffer_map:
            return _number_of(run, function, given, args)
    if any(isinstance(arg, HeapTerm) for arg in args):
        return _sizes_on_heap(run, function, args)
    try:
        written = sorted(written_parameters(function))
    except UnknownWritesError as error:
        raise Unreadable(str(error)) from None
    last = len(args)
    while last and isinstance(cell := args[last - 1], CellTerm | NumberTerm):
        if isinstance(cell, CellTerm):
            if run.memory[cell] is not UNWRITTEN:
                break
            written = sorted({*written, last - 1})
        last -= 1
    results = overwritten(run, function, args, written)
    for k, content in zip(written, results, strict=True):
        target = args[k]
        if not isinstance(target, CellTerm):
            raise Unreadable("a PrimFunc overwrites a value")
        store(run, target, content)
    return terms.group(())


def overwritten(
    run: Execution, function: tir.PrimFunc, args: Sequence[Term], written: Sequence[int]
) -> list[TensorTerm]:
    """The content of the parameters that a PrimFunc writes, after its call."""
    storages = [target.storage for k in written if isinstance(target := args[k], CellTerm)]
    for k, arg in enumerate(args):
        if isinstance(arg, CellTerm):
            shared = sum(each is arg.storage for each in storages)
            if shared > (k in written):
                raise Unreadable("a PrimFunc gets two tensors in the same memory")
    blank = {k for k in written if run.memory.get(args[k]) in (UNWRITTEN, OVERWRITTEN)}
    last = [k for k, p in enumerate(function.params) if p in function.buffer_map][-len(written) :]
    infos: list[ast.StructInfo] = []
    for k in written:
        target = args[k]
        if not isinstance(target, CellTerm | TensorTerm):
            raise Unreadable("the shape of memory that a PrimFunc writes is not known")
        dims = ast.ShapeExpr(target.shape)
        infos.append(ast.TensorStructInfo(dims, target.dtype, len(target.shape)))
    if blank == set(written) and written == last == [*range(last[0], last[0] + len(last))]:
        inputs = [run.loaded(arg) for k, arg in enumerate(args) if k not in blank]
        made: list[TensorTerm] = run.computed(function, inputs, infos, last[0])
        return made
    given = [
        terms.input_term(("unwritten", k), "unwritten", arg.shape, arg.dtype)
        if k in blank and isinstance(arg, CellTerm)
        else run.loaded(arg)
        for k, arg in enumerate(args)
    ]
    made = run.computed(function, given, infos, tuple(written))
    return made


def _number_of(
    run: Execution, function: tir.PrimFunc, given: tir.PrimExpr, args: Sequence[Term]
) -> Term:
    numbers: dict[tir.Var, tir.PrimExpr] = {}
    for param, arg in zip(function.params, args, strict=True):
        if not isinstance(arg, NumberTerm):
            raise Unreadable("a PrimFunc takes a number that is not known")
        numbers[param] = arg.value
    if any(isinstance(node, tir.BufferLoad | tir.OpaqueExpr) for node in tir.postorder(given)):
        raise Unreadable("the number that a PrimFunc returns is not known")
    return terms.number(_without_wrapping(run, tir.substitute(given, numbers)))


def _without_wrapping(run: Execution, evaluated: tir.PrimExpr) -> tir.PrimExpr:
    """A number that a PrimFunc computes of sizes. Raises Unreadable if it may be another one, as it
    wraps.
    """
    if not run.is_small(tir.interned(evaluated)):
        raise Unreadable("a PrimFunc computes a number that may be too large")
    return terms.substitute(evaluated, {})


def _sizes_on_heap(run: Execution, function: tir.PrimFunc, args: Sequence[Term]) -> Term:
    """A PrimFunc that computes sizes on a shape heap."""
    heaps: dict[object, HeapTerm] = {
        function.buffer_map.get(param): arg
        for param, arg in zip(function.params, args, strict=True)
        if isinstance(arg, HeapTerm)
    }

    def new(node: tir.PrimExpr, operands: list[tir.PrimExpr]) -> tir.PrimExpr:
        if isinstance(node, tir.BufferLoad):
            return place(node.buffer, operands).value
        if isinstance(node, tir.Var | tir.OpaqueExpr):
            raise Unreadable("a size on the shape heap is not known")
        return tir.with_operands(node, operands) if operands else node

    def place(buffer: tir.Buffer, indices: Sequence[tir.PrimExpr]) -> _Slot:
        match heaps.get(buffer), indices:
            case HeapTerm() as heap, [tir.IntImm(value=at)] | (tir.IntImm(value=at),):
                return _Slot(run, heap, at)
        raise Unreadable("a size on the shape heap is not known")

    for stmt in tir.flat(function.body):
        if not isinstance(stmt, tir.BufferStore):
            raise Unreadable("a PrimFunc computes sizes in a way that is not known")
        value = tir.fold(tir.interned(stmt.value), new, {})
        place(stmt.buffer, stmt.indices).value = _without_wrapping(run, value)
    return terms.group(())


class _Slot:
    """A place of a shape heap; a program whose sizes are all numbers has no heap."""

    def __init__(self, run: Execution, heap: Term, at: int) -> None:
        if not isinstance(heap, HeapTerm):
            raise Unreadable("a shape heap is not known")
        self._heap, self._at = run.heaps[heap], at

    @property
    def value(self) -> tir.PrimExpr:
        found: tir.PrimExpr | None = self._heap.get(self._at)
        if found is None:
            raise Unreadable("a shape heap is read where nothing was written")
        return found

    @value.setter
    def value(self, new: tir.PrimExpr) -> None:
        self._heap[self._at] = tir.interned(new)


# ---------------------------------------------------------------- results in the memory of arguments

_VIEWS = frozenset(
    f"relax.{name}"
    for name in (
        *("reshape", "flatten", "squeeze", "expand_dims", "memory.view"),
        *("memory.ensure_zero_offset", "permute_dims", "broadcast_to", "astype"),
    )
)
"""Operators whose result may be in the memory of their argument."""


def call_in_place(run: Execution, call: ast.Call, frame: Frame) -> Term:
    """`R.call_tir_inplace`: results are in the memory of arguments."""
    callee, *rest = [run.value(arg, frame) for arg in call.args]
    args, first = run.listed(rest)
    indices = _overwritten(call)
    function = run.prim_func(callee)
    infos = [run.sized(info, frame) for info in call.sinfo_args]
    several = len(infos) != 1 or isinstance(infos[0], ast.TupleStructInfo)
    if len(infos) == 1 and isinstance(infos[0], ast.TupleStructInfo):
        infos = list(infos[0].fields)
    if len(indices) != len(infos):
        raise Unreadable("the indices of call_tir_inplace are not known")
    fresh = [info for info, k in zip(infos, indices, strict=True) if k == -1]
    given = list(args[:first])
    for info in fresh:
        if not (isinstance(info, ast.TensorStructInfo) and isinstance(info.shape, ast.ShapeExpr)):
            raise Unreadable("the shape of a result of call_tir_inplace is not known")
        at = len(given)
        given.append(
            terms.input_term(("unwritten", at), "unwritten", info.shape.values, info.dtype)
        )
    given += args[first:]
    new = iter(range(first, first + len(fresh)))
    places = [next(new) if k == -1 else k for k in indices]
    reused = [given[k] for k in indices if k >= 0]
    for term in reused:
        _overwrite(run, term)
    found = run.computed(function, given, infos, tuple(places))
    for k, content in zip(indices, found, strict=True):
        if k >= 0:
            argument = run.held.get(given[k], given[k])
            if isinstance(argument, InputTerm):
                run.writes[argument] = content
                run.held[content] = argument
    return terms.group(found) if several else found[0]


def call_packed_in_place(run: Execution, call: ast.Call, frame: Frame) -> Term:
    """`R.call_inplace_packed`: a pure function of its arguments that overwrites some of them."""
    callee, *given = [run.value(arg, frame) for arg in call.args]
    if not (isinstance(callee, WordTerm) and callee.kind == "packed"):
        raise Unreadable("a packed function is called that is not known")
    args = list(map(run.loaded, given))
    infos = tuple([run.sized(info, frame) for info in call.sinfo_args])
    found: Term = run.pure_packed(callee.text, tuple(_overwritten(call)), args, infos)
    return found


def overwrite(
    run: Execution, made: ApplicationTerm, args: Sequence[Term], indices: Sequence[int]
) -> None:
    """A call of a packed function overwrites arguments of its own."""
    for k in indices:
        _overwrite(run, args[k])
        argument = run.held.get(args[k], args[k])
        if isinstance(argument, InputTerm):
            info = run.definitions.info_of(argument)
            run.writes[argument] = run.definitions.value_of(info, made, (-1, k))
        elif isinstance(argument, OpaqueTerm) and not isinstance(argument.of, ApplicationTerm):
            run.writes[argument] = terms.unknown(made, (-1, k))


def _overwritten(call: ast.Call) -> list[int]:
    """The arguments that a call overwrites."""
    said = call.attrs.get("inplace_indices")
    return [k for k in map(_int, said if isinstance(said, tuple | list) else ()) if k is not None]


def _int(value: object) -> int | None:
    if isinstance(value, tir.IntImm):
        return value.value
    return value if isinstance(value, int) else None


def _overwrite(run: Execution, term: Term) -> None:
    """A value is not used again, since its memory is overwritten. Raises Unreadable if other values
    may be in its memory.
    """
    match term:
        case _ if run.path and (isinstance(term, InputTerm | OpaqueTerm) or term in run.held):
            raise Unreadable("a branch overwrites an argument")
        case InputTerm(key=(("parameter", _), _)) | OpaqueTerm():
            pass
        case ResultTerm(of=ApplicationTerm(name=name, arguments=(ResultTerm() as whole, *_))) if (
            name in _VIEWS and whole not in run.held
        ):
            _overwrite(run, whole)  # the view may be in its memory
        case ResultTerm(of=ApplicationTerm(name=name)) if (
            name not in _VIEWS and name.startswith("relax.") and "packed" not in name
        ):
            pass
        case _:
            raise Unreadable("what call_tir_inplace overwrites is not known")
    run.spoiled.add(term)


def is_spoiled(run: Execution, term: Term) -> bool:
    """Whether a value is in memory that was overwritten."""
    stack, seen = [term], set[Term]()
    while stack:
        each = stack.pop()
        if each in run.spoiled:
            return True
        match each:
            case TupleTerm(fields=fields):
                if each not in seen:
                    seen.add(each)
                    stack += fields
            case ResultTerm(of=ApplicationTerm(name=name, arguments=args)) if name in _VIEWS:
                stack += args[:1]
            case (
                ResultTerm(of=ApplicationTerm(name="relax.call_pure_packed", arguments=args))
                | OpaqueTerm(of=ApplicationTerm(name="relax.call_pure_packed", arguments=args))
            ):
                stack += args  # it may be a view of an object
    return False


# ---------------------------------------------------------------- functions of the virtual machine

Builtin = Callable[["Execution", Sequence[Term], "Frame"], Term]


def _numbers(args: Sequence[Term]) -> list[int]:
    found = []
    for arg in args:
        if not (isinstance(arg, NumberTerm) and isinstance(arg.value, tir.IntImm)):
            raise Unreadable("an argument of a function of the virtual machine is not a number")
        found.append(arg.value.value)
    return found


def _heap(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    made = HeapTerm(object())
    run.heaps[made] = {}
    return made


def _matched(
    run: Execution, heap: Term, dims: Sequence[tir.PrimExpr], program: Sequence[Term], words: str
) -> None:
    numbers = _numbers(program)
    for dim, code, operand in zip(dims, numbers[::2], numbers[1::2], strict=True):
        if code == _STORE:
            _Slot(run, heap, operand).value = dim
        elif code != _NOTHING:
            run.equal((_said(run, heap, code, operand),), (dim,), None, words)


def _said(run: Execution, heap: Term, code: int, operand: int) -> tir.PrimExpr:
    """The size that a pair of numbers encodes."""
    return terms.index(operand) if code == _IMMEDIATE else _Slot(run, heap, operand).value


_IMMEDIATE, _STORE, _NOTHING = range(3)
"""The codes of `match_shape`: compare with a number, store, ignore; otherwise compare with what is
stored.
"""


def _match_shape(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    value, heap, rank, *program = args
    if program and isinstance(program[-1], WordTerm):
        program.pop()
    (ndim,) = _numbers([rank])
    dims = run.dims_of(value, ndim)
    if dims is None:
        raise Unreadable("match_shape gets a value of unknown kind")
    if len(dims) != ndim:
        run.check(("rank", value, ndim), None, "the rank of a value")
        return terms.group(())
    _matched(run, heap, dims, program, "a cast")
    return terms.group(())


def _match_number(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    value, heap, *program = args
    if not isinstance(value, NumberTerm):
        raise Unreadable("match_prim_value gets a value that is not a number")
    _matched(run, heap, (value.value,), program[:2], "a cast")
    return terms.group(())


def _made(run: Execution, heap: Term, program: Sequence[Term]) -> list[tir.PrimExpr]:
    numbers = _numbers(program)
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [_said(run, heap, code, operand) for code, operand in pairs]


def _make_shape(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    return terms.sizes(_made(run, args[0], args[2:]))


def _make_number(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    (number,) = _made(run, args[0], args[1:3])
    kind = args[3] if len(args) > 3 else None
    if kind is not None and not (isinstance(kind, WordTerm) and kind.text == "int64"):
        raise Unreadable("make_prim_value makes a number of another type")
    return terms.number(number)


def _check_tensor(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    value, rank, *rest = args
    (ndim,) = _numbers([rank])
    kind = VOID
    match rest:
        case [WordTerm(kind="dtype", text=text), *_]:
            kind = dtype(text)
    run.cast(value, ast.TensorStructInfo(None, kind, ndim), frame, "a cast")
    return terms.group(())


def _check_shape(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    (ndim,) = _numbers(args[1:2])
    run.cast(args[0], ast.ShapeStructInfo(None, ndim), frame, "a cast")
    return terms.group(())


def _check_tuple(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    (count,) = _numbers(args[1:2])
    run.cast(args[0], ast.TupleStructInfo((OBJECT,) * count), frame, "a cast")
    return terms.group(())


def _check_function(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    run.cast(args[0], ast.FuncStructInfo(None, OBJECT, False, "default"), frame, "a cast")
    return terms.group(())


def _check_number(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    if not isinstance(args[1], WordTerm):
        raise Unreadable("check_prim_value_info gets no data type")
    run.cast(args[0], ast.PrimStructInfo(dtype(args[1].text)), frame, "a cast")
    return terms.group(())


def operator_alike(run: Execution, name: str, args: Sequence[Term]) -> Term:
    """The result of the operator that does the same as a function of the virtual machine."""
    operator = lookup(name)
    assert operator is not None
    try:
        made, known = run.definitions.call(operator, list(map(run.loaded, args)), {}, ())
    except Unopened as error:
        raise Unreadable(str(error)) from None
    run.operator_checks(name, args, made, known)
    result: Term = run.definitions.value_of(known.info, made)
    return result


def _reshape(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    found = operator_alike(run, "relax.reshape", args)
    if isinstance(args[0], CellTerm) and isinstance(found, TensorTerm):
        return view(run, args[0], found)
    return found


def _shape_of(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    value = args[0]
    if isinstance(value, TensorTerm | CellTerm):
        return terms.sizes(value.shape)
    return operator_alike(run, "relax.shape_of", args)


def _item(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    (at,) = _numbers(args[1:2])
    made: Term = run.item(args[0], at)
    return made


def _cached(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    """The memory of a graph: the result of the first call of a function."""
    function, *key = args
    known = run.cached.get((function, *key))
    if known is None:
        known = run.cached[(function, *key)] = run.call_by_name(function, ())
    made: Term = known
    return made


def _captured(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    """Call a graph as its function."""
    function, given, *_ = args
    if not isinstance(given, TupleTerm):
        raise Unreadable("a graph gets something else than a tuple")
    made: Term = run.call_by_name(function, given.fields)
    return made


def _ipc_storage(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    if not isinstance(args[1], WordTerm):
        raise Unreadable("the element type of allocated memory is not known")
    return storage(args[0], dtype(args[1].text))


def _first(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    return args[0]


def _nothing(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    return terms.group(())


def _tuple(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    return terms.group(args)


def _null(run: Execution, args: Sequence[Term], frame: Frame) -> Term:
    return terms.word("null", "")


BUILTINS: Mapping[str, Builtin] = {
    **{
        f"vm.builtin.{name}": call
        for name, call in {
            "alloc_shape_heap": _heap,
            "match_shape": _match_shape,
            "match_prim_value": _match_number,
            "make_shape": _make_shape,
            "make_prim_value": _make_number,
            "check_tensor_info": _check_tensor,
            "check_shape_info": _check_shape,
            "check_tuple_info": _check_tuple,
            "check_prim_value_info": _check_number,
            "check_func_info": _check_function,
            "reshape": _reshape,
            "shape_of": _shape_of,
            "tensor_to_shape": lambda run, args, frame: operator_alike(
                run, "relax.tensor_to_shape", args
            ),
            "copy": _first,
            "ensure_zero_offset": _first,
            "make_tuple": _tuple,
            "tuple_getitem": _item,
            "null_value": _null,
            "cuda_graph.get_cached_alloc": _cached,
            "cuda_graph.run_or_capture": _captured,
        }.items()
    },
    "relax.run.shape_to_tensor": lambda run, args, frame: operator_alike(
        run, "relax.shape_to_tensor", args
    ),
    "runtime.disco.cuda_ipc.alloc_storage": _ipc_storage,
}
"""Functions of the virtual machine that have a meaning here. They are no calls of packed functions.
"""
