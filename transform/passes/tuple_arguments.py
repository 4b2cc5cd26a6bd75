"""Fields of tuples in place of tuples, as arguments of private functions."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo
from rlx.grammar.nodes.node import replace
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.passes.private_functions import Functions, cleaned, private_functions
from rlx.transform.visitors.mutator import ExprMutator


class ExpandTupleArguments(ModulePass):
    """Private functions take the fields of tuples, also of nested ones, in place of the tuples.

    A function stays as it is if one of its calls passes a value that is not known to be such a
    tuple. Then copies go, and what is unused, as by TVM's pass.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with fields in place of tuples."""
        normal = normalize(module)
        asked = _Arguments(
            {
                gv: function
                for gv, function in private_functions(normal).items()
                if any(
                    type(p.struct_info_annotation) is ast.TupleStructInfo for p in function.params
                )
            }
        )
        asked(normal)
        flat = normal.map_relax_functions(lambda gv, f: _flat(f) if gv in asked.functions else f)
        made = _Expanded(asked.functions)(flat)
        return cleaned(made if asked.functions else module)


class _Arguments(ExprMutator):
    """Leaves the functions whose calls all pass tuples with the fields of the parameters."""

    def __init__(self, functions: Mapping[GlobalVar, ast.Function]) -> None:
        self.functions = dict(functions)

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        assert isinstance(made, ast.Call)
        function = self.functions.get(made.op) if isinstance(made.op, GlobalVar) else None
        if function is not None and not (
            len(function.params) == len(made.args)
            and all(
                _fits(self.builder.struct_info(arg), param.struct_info_annotation)
                for arg, param in zip(made.args, function.params, strict=True)
            )
        ):
            del self.functions[made.op]  # type: ignore[arg-type]
        return made


def _fits(info: StructInfo, wanted: StructInfo | None) -> bool:
    """Whether a value has the fields of a parameter, if this is a tuple."""
    if not isinstance(wanted, ast.TupleStructInfo):
        return True
    return (
        isinstance(info, ast.TupleStructInfo)
        and len(info.fields) == len(wanted.fields)
        and all(map(_fits, info.fields, wanted.fields))
    )


class _Expanded(ExprMutator):
    """Calls pass fields."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        assert isinstance(made, ast.Call)
        function = self._functions.get(made.op) if isinstance(made.op, GlobalVar) else None
        if function is None:
            return made
        args: list[Expr] = []
        for arg, param in zip(made.args, function.params, strict=True):
            args += self._fields(arg, param.struct_info_annotation)
        return replace(made, args=tuple(args))

    def _fields(self, value: Expr, info: StructInfo | None) -> list[Expr]:
        if not isinstance(info, ast.TupleStructInfo):
            return [value]
        found: list[Expr] = []
        for at, part in enumerate(info.fields):
            if isinstance(value, ast.Tuple):
                field = value.fields[at]
            else:
                field = self.builder.emit(ast.TupleGetItem(value, at))
            found += self._fields(field, part)
        return found


def _flat(function: ast.Function) -> ast.Function:
    """A function that takes fields, and makes its tuples of them."""
    params: list[ast.Var] = []
    bindings: list[ast.VarBinding] = []
    for param in function.params:
        value = _taken(param, params)
        if value is not param:
            bindings.append(ast.VarBinding(param, value))
    body = function.body
    assert isinstance(body, ast.SeqExpr)
    blocks = (ast.BindingBlock(tuple(bindings)), *body.blocks)
    return replace(function, params=tuple(params), body=replace(body, blocks=blocks))


def _taken(param: ast.Var, params: list[ast.Var]) -> Expr:
    """A parameter as a value of the parameters for its fields, which are added."""
    info = param.struct_info_annotation
    if not isinstance(info, ast.TupleStructInfo):
        params.append(param)
        return param
    fields = (ast.Var(f"{param.name_hint}_{at}", part) for at, part in enumerate(info.fields))
    return ast.Tuple(tuple(_taken(field, params) for field in fields))
