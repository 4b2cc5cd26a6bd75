"""Every operator beside TVM's: the same calls, the same struct info."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

import pytest
import tvm
import tvm.relax.op.vm
from tvm import relax, tirx
from tvm.script import relax as script

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.print.printer import show
from rlx.grammar.read.parser import parse
from rlx.operators import lookup
from rlx.operators.parameters import REQUIRED
from rlx.operators.registry import families
from rlx.solver.evaluate import UndefinedError, evaluate
from tests.operators.cases import DIFFERENT, ILLEGAL, LEGAL, OURS, UNKNOWN, WARNED, Case
from tests.operators.context import Recorder, derive, k, m, n

from .translate import Translation

POINTS = [(8, 3, 5), (12, 11, 4), (16, 16, 9), (32, 5, 6)]
"""Values of n, m and k at which dimensions are compared."""

WITHOUT_CALL = {
    "call_tir",
    "call_tir_inplace",
    "call_tir_with_grad",
    "call_dps_packed",
    "call_pure_packed",
    "call_inplace_packed",
    "call_builtin_with_ctx",
    "call_py_func",
    "invoke_closure",
    "invoke_pure_closure",
    "make_closure",
    "vm.call_tir_dyn",
    "dist.annotate_sharding",
    "dist.call_tir_local_view",
    "dist.redistribute",
    "dist.redistribute_replica_to_shard",
    "nn.attention_bias",
    "layout_transform",
    "device",
}
"""Their result is what the call declares; or they are distributed, which is opaque here; ``attention_bias``
is what ``attention`` with a bias becomes, an index map is opaque, and a device is only a value."""


WITHOUT_ANNOTATION = {
    "assert_op",
    "memory.kill_storage",
    "memory.kill_tensor",
    "print",
    "to_vdevice",
    "vm.kill_object",
}
"""Statements, with which TVM prints no struct info; and a device that no module lists, which has no name."""


class Caller:
    """Makes a call of TVM's out of ours."""

    def __init__(self) -> None:
        self.dims = {v: tirx.Var(v.name, "int64") for v in (n, m, k)}
        self.back = {theirs: ours for ours, theirs in self.dims.items()}
        self.shapes: dict[ast.Var, Any] = {}
        self.count = 0

    def prim(self, e: tir.PrimExpr) -> Any:
        match e:
            case tir.IntImm(value=value):
                return value
            case tir.Var():
                return self.dims[e]
            case tir.Mul(a=a, b=b):
                return self.prim(a) * self.prim(b)
            case tir.Add(a=a, b=b):
                return self.prim(a) + self.prim(b)
            case tir.FloorDiv(a=a, b=b):
                return tirx.floordiv(self.prim(a), self.prim(b))
        raise TypeError(f"no TVM form for {e!r}")

    def variable(self, info: ast.StructInfo) -> Any:
        self.count += 1
        return relax.Var(f"x{self.count}", self.type(info))

    def type(self, info: ast.StructInfo) -> Any:
        match info:
            case ast.TensorStructInfo(shape=ast.Var() as holder, dtype=kind):
                return relax.TensorType(self.shape_variable(holder), str(kind))
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values), dtype=kind):
                text = "" if kind.is_void else str(kind)
                return relax.TensorType([self.prim(v) for v in values], text)
            case ast.TensorStructInfo(dtype=kind, ndim=ndim):
                return relax.TensorType(None, "" if kind.is_void else str(kind), ndim=ndim)
            case ast.ShapeStructInfo(values=None, ndim=ndim):
                return relax.ShapeType(ndim=ndim)
            case ast.ShapeStructInfo(values=values):
                return relax.ShapeType([self.prim(v) for v in values or ()])
            case ast.ObjectStructInfo():
                return relax.AnyType()
        raise TypeError(f"no TVM form for {info!r}")

    def shape_variable(self, holder: ast.Var) -> Any:
        if holder not in self.shapes:
            assert holder.struct_info_annotation is not None
            self.shapes[holder] = self.variable(holder.struct_info_annotation)
        return self.shapes[holder]

    def argument(self, value: Any) -> Any:
        match value:
            case ast.StructInfo():
                return self.variable(value)
            case ast.Var():
                return self.shape_variable(value)
            case ast.ShapeExpr(values=values):
                return relax.ShapeExpr([self.prim(v) for v in values])
            case ast.VDevice(target=target):
                return relax.VDevice(target, 0)
            case ast.Constant(data=data):
                return relax.const(data.value, str(data.dtype))
            case tir.PrimExpr():
                return self.prim(value)
            case tuple() if value and isinstance(value[0], ast.StructInfo):
                return relax.Tuple([self.variable(info) for info in value])
            case tuple() | list():
                return [self.argument(item) for item in value]
        return value

    def call(self, name: str, args: tuple[Any, ...], attrs: Mapping[str, Any]) -> Any:
        given = [self.argument(a) for a in args]
        if name in ("take", "one_hot", "add", "less", "multiply") or name.startswith("inspect."):
            given = [relax.prim_value(a) if isinstance(a, int) else a for a in given]
        if name == "index_tensor" or name == "index_put":
            given[1] = list(given[1].fields)
        if name.startswith("inspect."):
            return relax.Call(tvm.ir.Op.get(f"relax.{name}"), given)
        if name == "hint_on_device":
            return relax.op.hint_on_device(*given, tvm.device("cpu"))
        function: Any = relax.op
        for part in name.split("."):
            function = getattr(function, part)
        return function(*given, **{key: self.argument(v) for key, v in attrs.items()})


def bound(builder: Any, call: Any) -> Any:
    """The variable that a function of its own binds to the call; parameters that hold shapes come first."""
    free = [v for v in relax.analysis.free_vars(call) if not isinstance(v.ty, tvm.ir.PrimType)]
    held = [getattr(v.ty, "shape", None) for v in free]
    free += {s: None for s in held if isinstance(s, relax.Var) and s not in free}
    params = sorted(free, key=lambda v: not isinstance(v.ty, relax.ShapeType))
    with builder.function("f", params):
        result = builder.emit(call)
        builder.emit_func_output(result)
    return result


def theirs(case: Case) -> tuple[ast.StructInfo, dict[tir.Var, tir.Var]]:
    """The types that TVM derives, translated, and which variable of the translation is which of ours."""
    caller = Caller()
    found = bound(relax.BlockBuilder(), caller.call(*case)).ty
    translation = Translation()
    names: dict[tir.Var, tir.Var] = {}
    for ours, var in caller.dims.items():
        names[translation.prim(var)] = ours  # type: ignore[index]
    for holder, held in caller.shapes.items():
        translation.variables[held] = holder
    return translation.info(found), names


def printed(
    case: Case, values: dict[ast.Var, ast.Expr]
) -> tuple[ast.Call, ast.StructInfo, dict[str, tir.Var]]:
    """A call as TVM prints it and the struct info it prints with it, read by our parser.

    ``values`` receives what the variables of the text are bound to.
    """
    caller = Caller()
    builder = relax.BlockBuilder()
    bound(builder, caller.call(*case))
    (module,) = parse(builder.finalize().script()).modules
    (function,) = module.relax_functions.values()
    assert isinstance(function.body, ast.SeqExpr)
    values |= {b.var: b.value for b in bindings(function.body) if isinstance(b, ast.VarBinding)}
    binding = function.body.blocks[-1].bindings[-1]
    assert isinstance(binding, ast.VarBinding) and isinstance(binding.value, ast.Call)
    assert binding.var.struct_info_annotation is not None
    variables = {v.name: v for v in function.shape_vars}
    for name in "nmk":
        variables.setdefault(name, tir.Var(name))
    return binding.value, binding.var.struct_info_annotation, variables


def value(e: tir.PrimExpr, point: Mapping[tir.Var, int]) -> int | str:
    try:
        return int(evaluate(e, point))
    except UndefinedError:
        return "undefined"


def concrete(info: ast.StructInfo, point: Mapping[tir.Var, int]) -> object:
    """A struct info at a point, as plain data; the dimensions that data decide on are ``"?"``."""
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values), dtype=kind):
            return ("tensor", tuple(value(v, point) for v in values), str(kind))
        case ast.TensorStructInfo(shape=None, dtype=kind, ndim=0):
            return ("tensor", (), str(kind))
        case ast.TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
            return ("tensor", ndim if shape is None else id(shape), str(kind))
        case ast.ShapeStructInfo(values=values, ndim=ndim):
            return ("shape", ndim if values is None else tuple(value(v, point) for v in values))
        case ast.PrimStructInfo(dtype=kind):
            return ("prim", str(kind))
        case ast.TupleStructInfo(fields=fields):
            return tuple(concrete(field, point) for field in fields)
    return type(info).__name__


def agrees(case: Case, ours: ast.StructInfo) -> bool:
    """Whether TVM derives the same, at each of the points."""
    expected, names = theirs(case)
    for point in POINTS:
        at = dict(zip((n, m, k), point, strict=True))
        there = {variable: at[known] for variable, known in names.items()}
        if concrete(ours, at) != concrete(expected, there):
            return False
    return True


@pytest.mark.parametrize("name", sorted({name for name, _, _ in LEGAL}))
def test_derives_what_tvm_derives(name: str) -> None:
    wrong = []
    for case in (c for c in LEGAL if c[0] == name):
        ours = derive(name, *case[1], **case[2])
        if ours.reports or not agrees(case, ours.info):
            wrong.append(f"{case[2]}: {ours} {ours.reports}, TVM {show(theirs(case)[0])}")
    assert wrong == []


@pytest.mark.parametrize("name", sorted({name for name, _, _ in LEGAL} - WITHOUT_ANNOTATION))
def test_reads_what_tvm_prints(name: str) -> None:
    operator = lookup(f"relax.{name}")
    assert operator is not None
    wrong = []
    for case in (c for c in LEGAL if c[0] == name):
        recorder = Recorder()
        call, expected, variables = printed(case, recorder.values)
        ours = operator.derive(call, recorder)
        for point in POINTS:
            at = {variables[v]: number for v, number in zip("nmk", point, strict=True)}
            if list(filter(_of_the_call, recorder.reports)) or concrete(ours, at) != concrete(
                expected, at
            ):
                wrong.append(f"{case[2]}: {show(ours)} {recorder.reports}, TVM {show(expected)}")
                break
    assert wrong == []


def _of_the_call(report: tuple[str, str, str]) -> bool:
    """Whether a report is about the call and not about how TVM prints it: without the width of its numbers."""
    return "TVM reads the number" not in report[2]


@pytest.mark.parametrize(("code", "case"), WARNED, ids=[f"{c}:{x[0]}" for c, x in WARNED])
def test_warns_and_derives_what_tvm_derives(code: str, case: Case) -> None:
    name, args, attrs = case
    ours = derive(name, *args, **attrs)
    assert [r[:2] for r in ours.reports] == [(code, "warning")]
    assert agrees(case, ours.info), f"{ours}, TVM {show(theirs(case)[0])}"


@pytest.mark.parametrize(
    ("case", "ours", "tvm_says", "why"), DIFFERENT, ids=[c[0][0] for c in DIFFERENT]
)
def test_difference_is_as_described(case: Case, ours: str, tvm_says: str, why: str) -> None:
    name, args, attrs = case
    assert str(derive(name, *args, **attrs)) == ours, why
    assert show(theirs(case)[0]) == tvm_says, why


@pytest.mark.parametrize(("code", "case"), ILLEGAL, ids=[f"{c}:{x[0]}" for c, x in ILLEGAL])
def test_refuses_what_tvm_refuses(code: str, case: Case) -> None:
    name, args, attrs = case
    assert [r[:2] for r in derive(name, *args, **attrs).reports] == [(code, "error")]
    with pytest.raises(Exception):  # noqa: B017 - TVM raises many kinds
        theirs(case)


def accepted_elsewhere(case: Case) -> bool:
    """Whether TVM takes a call, asked in a process of its own: some of these end TVM's (attention
    whose bias has no known shape).
    """
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            theirs(case)
        except BaseException:  # noqa: BLE001 - the answer is the exit status
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(("code", "case"), UNKNOWN, ids=[f"{c}:{x[0]}" for c, x in UNKNOWN])
def test_warns_of_what_tvm_refuses(code: str, case: Case) -> None:
    name, args, attrs = case
    assert [r[:2] for r in derive(name, *args, **attrs).reports] == [(code, "warning")]
    assert not accepted_elsewhere(case)


@pytest.mark.parametrize(("code", "case"), OURS, ids=[f"{c}:{x[0]}" for c, x in OURS])
def test_refuses_what_tvm_lets_pass(code: str, case: Case) -> None:
    name, args, attrs = case
    assert [r[:2] for r in derive(name, *args, **attrs).reports] == [(code, "error")]
    assert theirs(case)


def test_every_operator_of_tvm_is_declared() -> None:
    registered = {name for name in tvm.ir.Op.list_op_names() if name.startswith("relax.")}
    declared = {f"relax.{name}" for names in families().values() for name in names}
    assert (
        declared - {"relax.device"} == registered
    )  # which is not an operator, but a value in texts


OTHERWISE_DECLARED = {
    "grad.take_backward": "prints one attribute more than its function takes",
    "layout_transform": "took separators of axes until 0.24, which its texts may still have",
}


@pytest.mark.parametrize(
    "name",
    sorted(
        {name for names in families().values() for name in names}
        - WITHOUT_CALL.difference({"nn.attention_bias"})
        - OTHERWISE_DECLARED.keys()
        - {name for name in families()["memory"] if name.startswith("inspect.")}
    ),
)
def test_parameters_are_those_of_the_function_that_texts_call(name: str) -> None:
    function: Any = script
    for part in name.split("."):
        function = getattr(function, part)
    theirs_ = inspect.signature(inspect.unwrap(function)).parameters.values()
    operator = lookup(f"relax.{name}")
    assert operator is not None
    assert [p.name for p in operator.parameters] == [p.name for p in theirs_]
    for ours, their in zip(operator.parameters, theirs_, strict=True):
        assert (ours.default is REQUIRED and not ours.variadic) == (
            their.default is inspect.Parameter.empty and not ours.variadic
        ), ours.name
        if isinstance(their.default, (bool, int, float, str)):
            assert ours.default in (their.default, (their.default,)) or ours.kind == "any", (
                ours.name
            )


def test_every_operator_is_compared() -> None:
    compared = {name for name, _, _ in LEGAL} | {c[0][0] for c in DIFFERENT}
    declared = {name for names in families().values() for name in names}
    assert sorted(declared - compared - WITHOUT_CALL) == []
