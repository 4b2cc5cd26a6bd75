"""The checks of a lowered program and its calls of PrimFuncs, judged by the known values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rlx.checker.lowered.slot_values import PIECE, KnownValues
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.operators.operator_call import show
from rlx.spec.registry import reported, rule


class RunTimeChecks:
    """The checks and calls of one function, in the order of evaluation."""

    def __init__(self, module: ast.IRModule, values: KnownValues, found: list[Diagnostic]) -> None:
        self._module, self._values, self._found = module, values, found

    def call(self, call: ast.Call, span: Span | None) -> None:
        """Judge a call, as far as its arguments are known."""
        match call:
            case ast.Call(op=ast.ExternFunc(global_symbol=name), args=(value, *rest)):
                if name in _CHECKS:
                    self._check(name, value, rest, span)
                elif name in _PROGRAMS:
                    self._program(name, (value, *rest), call.sinfo_args, span)
            case ast.Call(op=ast.GlobalVar() as callee, args=args):
                self._passed(callee, args, span, typed=True)
            case ast.Call(
                op=ast.Op(op_name="relax.vm.call_tir_dyn"), args=(ast.GlobalVar() as callee, given)
            ):
                self._passed(callee, tuple(self._given(given)), span, typed=False)

    # Checks

    @rule("MEM-check", "memory")
    def _check(
        self, name: str, value: ast.Expr, rest: Sequence[ast.Expr], span: Span | None
    ) -> None:
        """A check of kind, rank and element type may pass."""
        info = self._values.info(value)
        if info is None or isinstance(info, ast.ObjectStructInfo):
            return
        kind, size = _CHECKS[name]
        expected = None if size is None or not rest else self._values.integer(rest[0])
        held = None if size is None or not isinstance(info, kind) else size(info)
        if not isinstance(info, kind):
            self._fails(value, info, f"{_WORDS[kind]}", span)
        elif None not in (expected, held) and expected not in (-1, held) and held != -1:
            self._fails(value, info, f"{expected} {_COUNTED[kind]}", span)
        elif isinstance(info, ast.TensorStructInfo | ast.PrimStructInfo):
            given = rest[1:2] if isinstance(info, ast.TensorStructInfo) else rest[:1]
            for each in given:
                wanted = self._values.data_type(each)
                if not wanted.is_void and not info.dtype.is_void and wanted != info.dtype:
                    self._fails(value, info, f"elements of {wanted}", span)

    def _fails(self, value: ast.Expr, info: ast.StructInfo, wanted: str, span: Span | None) -> None:
        message = f"the check for {wanted} always fails: {_name(value)} is {show(info)}"
        self._tell("MEM-check-passes", self._certain(value), message, span)

    def _certain(self, *values: ast.Expr) -> str:
        """The severity of a certain failure: an error where the types of the values say it."""
        return "error" if all(map(self._values.is_said, values)) else "warning"

    def _program(
        self,
        name: str,
        args: Sequence[ast.Expr],
        declared: Sequence[ast.StructInfo],
        span: Span | None,
    ) -> None:
        """The codes of a match or of a made shape."""
        matches = _PROGRAMS[name]
        integers = [self._values.integer(arg) for arg in args[2 if matches else 1 :]]
        while integers and integers[-1] is None:  # the place in the source comes last
            integers.pop()
        codes = [number for number in integers if number is not None]
        if len(codes) < len(integers) or not codes:
            return
        rank, *codes = codes
        if not self._well_made(name, rank, codes, span):
            return
        if matches:
            self._matched(args[0], rank, span)
        for info in () if matches else declared:
            if isinstance(info, ast.ShapeStructInfo) and info.ndim not in (-1, rank):
                message = f"the call makes a shape of {rank} dimensions, not of {info.ndim}"
                self._tell("MEM-check-form", "error", message, span)

    def _well_made(self, name: str, rank: int, codes: Sequence[int], span: Span | None) -> bool:
        if len(codes) == 2 * rank and all(code in range(4) for code in codes[::2]):
            return True
        message = f"{name} takes a code (0 to 3) and a number for each of the {rank} dimensions"
        self._tell("MEM-check-form", "error", message, span)
        return False

    def _matched(self, value: ast.Expr, rank: int, span: Span | None) -> None:
        info, known = self._values.info(value), self._values.rank(value)
        if info is not None and known not in (None, rank):
            self._fails(value, info, f"{rank} dimensions", span)

    def dimension(
        self, value: ast.Expr, axis: int, wanted: tir.PrimExpr, span: Span | None
    ) -> None:
        """A dimension is compared with a number; afterwards they are known to be equal."""
        found = self._values.axis(value, axis)
        relation = self._values.relation(found, wanted)
        if relation.kind == "never":
            words = f"dimension {axis} of {_name(value)} is {show(found)}"
            message = f"the check for {show(wanted)} always fails: {words}"
            self._tell("MEM-check-passes", self._certain(value), message, span)
        else:
            self._values.learn(value, axis, wanted)

    # Calls of PrimFuncs

    def _given(self, given: ast.Expr) -> Iterator[ast.Expr]:
        """The arguments of `call_tir_dyn`: of a shape its dimensions, one by one."""
        fields = given.fields if isinstance(given, ast.Tuple) else (given,)
        for field in fields:
            dims = self._values.dimensions(field)
            if dims is None:
                yield field
            else:
                yield from map(ast.PrimValue, dims)

    def _passed(
        self, callee: ast.GlobalVar, args: Sequence[ast.Expr], span: Span | None, typed: bool
    ) -> None:
        """The arguments of a PrimFunc; ``typed`` if derivation compared their types already."""
        function = self._module.functions.get(callee)
        if not isinstance(function, tir.PrimFunc):
            return
        if len(args) != len(function.params):
            shapes = (isinstance(self._values.info(a), ast.ShapeStructInfo) for a in args)
            if not typed and not any(shapes):
                expected = f"expects {len(function.params)} arguments, found {len(args)}"
                self._unfit(callee, "error", expected, span)
            return
        binding: dict[tir.Var, _Bound] = {}
        dims = list(self._dimensions(function, args, typed))
        for dim in dims:
            if isinstance(dim.wanted, tir.Var):
                binding.setdefault(dim.wanted, _Bound(dim.arg, dim.found, dim.known))
        for dim in dims:
            self._compare(callee, dim, binding, span)
        for arg in args:
            if self._values.kind(arg) == PIECE:
                words = f"takes tensors and scalars, but {_name(arg)} is {PIECE}"
                self._unfit(callee, "error", words, span)
        if not typed:
            self._ranks(callee, function, args, span)

    def _dimensions(
        self, function: tir.PrimFunc, args: Sequence[ast.Expr], typed: bool
    ) -> Iterator[_Dimension]:
        for param, arg in zip(function.params, args, strict=True):
            buffer = function.buffer_map.get(param)
            if buffer is None:
                number = self._values.number(arg)
                if number is not None:
                    yield _Dimension(arg, None, param, number, typed)
            elif self._values.rank(arg) == len(buffer.shape):
                known = typed and self._values.is_typed(arg)
                for k, wanted in enumerate(buffer.shape):
                    yield _Dimension(arg, k, wanted, self._values.axis(arg, k), known)

    def _compare(
        self,
        callee: ast.GlobalVar,
        dim: _Dimension,
        binding: Mapping[tir.Var, _Bound],
        span: Span | None,
    ) -> None:
        free = tir.free_vars(dim.wanted)
        if dim.axis is None or any(var not in binding for var in free):
            return
        if dim.known and all(binding[var].known for var in free):
            return  # derivation has compared them
        given = {var: binding[var].number for var in free}
        wanted = tir.substitute(dim.wanted, given) if free else dim.wanted
        relation = self._values.relation(dim.found, wanted)
        if relation.kind in ("always", "unknown"):
            return
        name, certain = _name(dim.arg), relation.kind == "never"
        if not certain and (self._values.is_open(dim.found) or self._values.is_open(wanted)):
            return
        words = (
            f"expects {show(wanted)} as dimension {dim.axis} of {name},"
            f" which {'is' if certain else 'may be'} {show(dim.found)}"
        )
        sources = (dim.arg, *(binding[var].arg for var in free))
        severity = self._certain(*sources) if certain else "warning"
        self._unfit(callee, severity, words, span, relation.counterexample)

    def _ranks(
        self,
        callee: ast.GlobalVar,
        function: tir.PrimFunc,
        args: Sequence[ast.Expr],
        span: Span | None,
    ) -> None:
        for param, arg in zip(function.params, args, strict=True):
            buffer, rank = function.buffer_map.get(param), self._values.rank(arg)
            info = self._values.info(arg)
            if buffer is None or not isinstance(info, ast.TensorStructInfo):
                continue
            if rank not in (None, len(buffer.shape)):
                words = f"expects {len(buffer.shape)} dimensions of {_name(arg)}, which has {rank}"
                self._unfit(callee, self._certain(arg), words, span)
            elif not info.dtype.is_void and info.dtype != buffer.dtype:
                words = f"expects elements of {buffer.dtype} in {_name(arg)}: {info.dtype}"
                self._unfit(callee, self._certain(arg), words, span)

    @rule("MEM-kernel", "memory", refuses=True)
    def _unfit(
        self,
        callee: ast.GlobalVar,
        severity: str,
        words: str,
        span: Span | None,
        counterexample: Mapping[str, int] | None = None,
    ) -> None:
        message = f"the PrimFunc {callee.name_hint!r} {words}"
        self._tell("MEM-kernel-fits", severity, message, span, counterexample)

    def _tell(
        self,
        code: str,
        severity: str,
        message: str,
        span: Span | None,
        counterexample: Mapping[str, int] | None = None,
    ) -> None:
        found = Diagnostic(code, severity, message, span, counterexample=counterexample)
        self._found.append(reported(found))


class _Dimension(NamedTuple):
    """A dimension of an argument, or a scalar one (``axis`` is None), beside what a PrimFunc
    expects; ``known`` if derivation knows it, too.
    """

    arg: ast.Expr
    axis: int | None
    wanted: tir.PrimExpr
    found: tir.PrimExpr
    known: bool


class _Bound(NamedTuple):
    """The number that a variable of a PrimFunc stands for in a call: one of an argument; ``known``
    as above.
    """

    arg: ast.Expr
    number: tir.PrimExpr
    known: bool


def _name(value: ast.Expr) -> str:
    return value.name_hint if isinstance(value, ast.Var) else "the value"


def _rank(info: ast.StructInfo) -> int:
    assert isinstance(info, ast.TensorStructInfo | ast.ShapeStructInfo)
    return info.ndim


def _fields(info: ast.StructInfo) -> int:
    assert isinstance(info, ast.TupleStructInfo)
    return len(info.fields)


_CHECKS: Mapping[str, tuple[type[ast.StructInfo], Callable[[ast.StructInfo], int] | None]] = {
    "vm.builtin.check_tensor_info": (ast.TensorStructInfo, _rank),
    "vm.builtin.check_shape_info": (ast.ShapeStructInfo, _rank),
    "vm.builtin.check_tuple_info": (ast.TupleStructInfo, _fields),
    "vm.builtin.check_prim_value_info": (ast.PrimStructInfo, None),
    "vm.builtin.check_func_info": (ast.FuncStructInfo, None),
}
"""The checks of kinds, each with what is counted."""
_WORDS: Mapping[type[ast.StructInfo], str] = {
    ast.TensorStructInfo: "a tensor",
    ast.ShapeStructInfo: "a shape",
    ast.TupleStructInfo: "a tuple",
    ast.PrimStructInfo: "a scalar",
    ast.FuncStructInfo: "a function",
}
_COUNTED: Mapping[type[ast.StructInfo], str] = {
    ast.TensorStructInfo: "dimensions",
    ast.ShapeStructInfo: "dimensions",
    ast.TupleStructInfo: "fields",
}
_PROGRAMS = {"vm.builtin.match_shape": True, "vm.builtin.make_shape": False}
"""Functions that take a rank and a code for each dimension; whether they match."""
