"""``python -m tests.transform.odd_values COUNT SEED``: any argument of any public function that writes Relax, replaced by
a value that nobody expects there.

Either it is taken, and the program is legal and has a text; or an error of rlx says so, at the line of this file that
gave the value. The builder stays usable.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from inspect import Parameter
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rlx
from rlx import te, transform
from rlx.grammar.nodes import ast, tir
from rlx.operators.registry import every_name, lookup
from rlx.transform import (
    PatternError,
    is_const,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    patterns,
    wildcard,
)
from rlx.transform.builder import struct_info
from rlx.transform.builder.operators import signature

ERRORS = (rlx.BuildError, rlx.MisuseError, te.TensorExpressionError, PatternError)
HERE = f"{Path(__file__).name}:"
FLOATS = 'R.Tensor(("n", 4), "float32")'
MODULE = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((2,), "float32")):
        return x
""")


def shown(x: Any) -> Any:
    """A kernel, for those that take one."""
    return te.compute(x.shape, lambda i, j: x[i, j] + 1.0)


def values() -> list[Any]:
    """Odd values for an argument."""
    x, k, A = rlx.Var("foreign", FLOATS), tir.Var("k"), te.placeholder((2,), "float32", "A")
    return [
        *(
            None,
            0,
            -1,
            2**70,
            1.5,
            float("nan"),
            float("inf"),
            *(1j, True, "", "x y", "n+", "R.Tensor", "R.Tnsor", b"a"),
        ),
        *(
            [],
            (),
            [None],
            {},
            {1: 2},
            {"note": object()},
            {"a"},
            ((1, 2), [3]),
            [[[[]]]],
            range(3),
            object(),
            object,
            sys,
            (i for i in range(0)),
        ),
        *(
            np.float32(1.5),
            np.int64(3),
            np.bool_(True),
            np.zeros((2, 4)),
            np.zeros((0,)),
            np.array([None]),
        ),
        *(
            np.dtype("int8"),
            np.float16,
            ast.op("relax.add"),
            ast.GlobalVar("nothing"),
            ast.ExternFunc("f"),
        ),
        *(
            x,
            [x],
            (x, x),
            rlx.Var("bare"),
            ast.DataflowVar("inner"),
            k,
            tir.IntImm(3),
            tir.LT(k, tir.IntImm(4)),
        ),
        *(
            te.var("n"),
            A,
            A[0],
            te.reduce_axis(4),
            lambda: 1,
            lambda a: a,
            rlx.op.add(x, x),
            rlx.const(1),
        ),
        *(
            struct_info(FLOATS),
            ast.ShapeExpr((tir.IntImm(2),)),
            MODULE,
            next(iter(MODULE.functions.values())),
        ),
        *(ast.VarBinding(x, x), ast.BindingBlock(()), wildcard(), te.sum, te.Tensor),
    ]


class Attempt(NamedTuple):
    """A function with arguments that it takes."""

    name: str
    function: Callable[..., Any]
    args: list[Any]
    named: dict[str, Any]


def of_builder(bb: rlx.BlockBuilder, x: ast.Var, y: ast.Var) -> list[Attempt]:
    """The methods of a builder that has a function open."""
    function = next(iter(MODULE.functions.values()))
    hint: dict[str, Any] = {"primfunc_name_hint": "shown"}
    helper = bb.add_func(function, "helper")
    return [
        Attempt("emit", bb.emit, [rlx.op.add(x, x), "name"], {}),
        Attempt(
            "emit_match_cast", bb.emit_match_cast, [x, 'R.Tensor((3, 4), "float32")', "name"], {}
        ),
        Attempt("normalize", bb.normalize, [rlx.op.add(rlx.op.add(x, x), x)], {}),
        Attempt("emit_te", bb.emit_te, [shown, x], hint),
        Attempt("call_te", bb.call_te, [shown, x], hint),
        Attempt("struct_info", bb.struct_info, [y], {}),
        Attempt("lookup_binding", bb.lookup_binding, [y], {}),
        Attempt("prove", bb.prove, ["n >= 0"], {}),
        Attempt("simplify", bb.simplify, ["n * 2 // 2"], {}),
        Attempt("unique_name", bb.unique_name, ["lv"], {}),
        Attempt("add_func", bb.add_func, [function, "other"], {}),
        Attempt("update_func", bb.update_func, [helper, function], {}),
        Attempt("lookup_func", bb.lookup_func, [helper], {}),
        Attempt("global_var", bb.global_var, ["helper"], {}),
        Attempt("global_name", bb.global_name, ["helper"], {}),
        Attempt("define", bb.define, [bb.declare("more"), function], {}),
    ]


def of_functions(x: ast.Var) -> list[Attempt]:
    """Calls that make values, patterns and tensor expressions."""
    A, n = te.placeholder((4, 5), "float32", "A"), te.var("n")
    k, any_of = te.reduce_axis((0, 5), "k"), is_op("add")(wildcard(), wildcard())
    B = te.compute((4, 5), lambda i, j: A[i, j] + 1.0)
    return [
        Attempt("Var", rlx.Var, ["x", FLOATS], {}),
        Attempt("const", rlx.const, [1, "int8"], {}),
        Attempt("dim", rlx.dim, ["n"], {}),
        Attempt("field", lambda index: x[index], [0], {}),
        Attempt("call", lambda given: x(given), [x], {}),
        Attempt("is_op", is_op, ["add"], {}),
        Attempt("OpPattern", transform.OpPattern, [lookup("relax.add")], {}),
        Attempt("CallPattern", transform.CallPattern, [is_op("exp"), [wildcard()]], {"named": {}}),
        Attempt("PatternSeq", transform.PatternSeq, [[wildcard()]], {}),
        Attempt("PatternContext.add", transform.PatternContext().add, [wildcard()], {}),
        Attempt("FunctionRule", transform.FunctionRule, [MODULE], {}),
        Attempt("PatternMatchingRewriter", transform.PatternMatchingRewriter, [[]], {}),
        Attempt("visit_expr", rlx.ExprMutator().visit_expr, [x], {}),
        Attempt("visit_binding", rlx.ExprMutator().visit_binding, [ast.VarBinding(x, x)], {}),
        Attempt("te.call", lambda *a, **k: te.call(*a, **k), ["exp", A[0, 0]], {"dtype": None}),
        Attempt("te.extern", te.extern, [(4, 5), [A], lambda *_: None], {"attrs": None, "tag": ""}),
        Attempt("te.scan", te.scan, [A, B, A], {"attrs": None}),
        Attempt("extern_primfunc", te.extern_primfunc, [[A], te.create_prim_func([A, B])], {}),
        Attempt("is_op()", is_op("add"), [wildcard(), wildcard()], {}),
        Attempt("is_var", is_var, ["x"], {}),
        Attempt("is_const", is_const, [1], {}),
        Attempt("is_shape", is_shape, [["n", 4]], {}),
        Attempt("is_tuple", is_tuple, [[wildcard()]], {}),
        Attempt("is_tuple_get_item", is_tuple_get_item, [wildcard(), 0], {}),
        Attempt("has_attr", any_of.has_attr, [{"x1": x}], {}),
        Attempt("has_dtype", any_of.has_dtype, ["float32"], {}),
        Attempt("has_shape", any_of.has_shape, [("n", 4)], {}),
        Attempt("has_struct_info", any_of.has_struct_info, [FLOATS], {}),
        Attempt("used_by", any_of.used_by, [wildcard(), 0], {}),
        Attempt("find", patterns.find, [MODULE, any_of], {}),
        Attempt("rewrite", patterns.rewrite, [MODULE, any_of, lambda match: None], {}),
        Attempt("placeholder", te.placeholder, [(4, 5), "float32", "A"], {}),
        Attempt("compute", te.compute, [(4, 5), lambda i, j: A[i, j], "B"], {}),
        Attempt("reduce_axis", te.reduce_axis, [(0, 5), "k"], {}),
        Attempt("sum", te.sum, [A[0, k], k, k < 3, 1.0], {}),
        Attempt(
            "comm_reducer",
            te.comm_reducer,
            [lambda a, b: a + b, lambda kind: te.const(0, kind), "add"],
            {},
        ),
        Attempt("te.var", te.var, ["n", "int64"], {}),
        Attempt("te.const", te.const, [1, "float32"], {}),
        Attempt("cast", te.cast, ["float32", n], {}),
        Attempt("te_tensor", te.te_tensor, [x, None, "x"], {}),
        Attempt("create_prim_func", te.create_prim_func, [[A, B], "int64"], {}),
        Attempt("if_then_else", te.if_then_else, [n < 4, A[0, 0], A[1, 1]], {}),
        Attempt("element", lambda i, j: A[i, j], [0, 1], {}),
        Attempt("power", te.power, [A[0, 0], A[1, 0]], {}),
    ]


def of_passes() -> list[Attempt]:
    """Calls that change a module."""
    passes: list[Any] = [transform.dead_code, transform.common_subexpressions, transform.legalize]
    passes += [transform.fold_shapes, transform.fuse_matmul_add, transform.lambda_lifting]
    passes += [transform.deduce_shapes, transform.propagate_shapes, transform.eliminate]
    passes += [rlx.ExprMutator(), rlx.DataflowMutator(), rlx.ExprVisitor().visit]
    found = [Attempt(str(each), each, [MODULE], {}) for each in passes]

    def around(**options: Any) -> ast.IRModule:
        with transform.PassContext(**options):
            return transform.DeadCodeElimination()(MODULE)

    function = next(iter(MODULE.functions.values()))
    assert isinstance(function, ast.Function)
    options = {"opt_level": 2, "instruments": (), "disabled_pass": (), "required_pass": ()}
    clean, array = transform.DeadCodeElimination(), np.ones(2, "float32")
    hooks = {"before": None, "after": None}
    return [
        *found,
        Attempt("DeadCodeElimination", transform.DeadCodeElimination, [()], {}),
        Attempt("PassContext", around, [], options),
        Attempt(
            "Sequential", lambda *a, **k: transform.Sequential(*a, **k)(MODULE), [[clean]], hooks
        ),
        Attempt("Sequential of", lambda each: transform.Sequential([each]), [clean], {}),
        Attempt("bind_params", transform.bind_params, [function, {"x": array}], {}),
        Attempt("bind_symbolic_vars", transform.bind_symbolic_vars, [function, {}], {}),
        Attempt("BindParams", lambda *a: transform.BindParams(*a)(MODULE), ["f", {"x": array}], {}),
        Attempt("with_attr", lambda *a: rlx.show(function.with_attr(*a)), ["note", 1], {}),
        Attempt("attribute", lambda value: rlx.show(function.with_attr("note", [value])), [1], {}),
        Attempt("argument", transform.argument, [rlx.op.add(1, 2), "x1"], {}),
        Attempt("module_pass", lambda f: transform.module_pass(f)(MODULE), [lambda m, _: m], {}),
        Attempt(
            "name", lambda **k: transform.function_pass(**k), [], {"name": None, "opt_level": 0}
        ),
        Attempt(
            "returned", lambda r: transform.function_pass(lambda *_: r)(MODULE), [function], {}
        ),
    ]


def of_analyses(x: ast.Var) -> list[Attempt]:
    """Calls that look at a program, and calls that edit single bindings and modules."""
    module = rlx.parse("""
@R.function
def f(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.log(a)
        R.output(b)
    return b
""")
    function = module["f"]
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    block = function.body.blocks[0]
    assert isinstance(block, ast.DataflowBlock)
    edit, visitor = transform.DataflowBlockRewrite(block, function), rlx.ExprVisitor()
    a = block.bindings[0]
    assert a.var is not None
    names = "free_vars bound_vars used_vars all_vars all_global_vars name_to_binding"
    names += " defined_symbolic_vars free_symbolic_vars contains_impure_call"
    add = is_op("exp")(wildcard())
    with transform.PatternContext() as context:
        is_op("exp")(wildcard())
    return [
        *(Attempt(name, getattr(transform, name), [function], {}) for name in names.split()),
        Attempt("own_name", transform.contains_impure_call, [function, x], {}),
        Attempt("annotated", transform.annotated, [module], {}),
        Attempt("detect_recursion", transform.detect_recursion, [module], {}),
        Attempt("udchain", transform.udchain, [block], {}),
        Attempt("post_order_visit", lambda e: transform.post_order_visit(e, id), [function], {}),
        Attempt("IRModule", rlx.IRModule, [{"f": function}], {}),
        Attempt("from_expr", rlx.IRModule.from_expr, [function], {}),
        Attempt("shape of Var", rlx.Var, ["x", ["n", 4], "float32"], {}),
        Attempt("add", edit.add, [rlx.op.exp(a.var), "more"], {}),
        Attempt("add_binding", edit.add_binding, [a], {}),
        Attempt("replace_all_uses", edit.replace_all_uses, [a.var, function.params[0]], {}),
        Attempt("remove_unused", edit.remove_unused, [block.bindings[1].var], {}),
        Attempt("mutate_irmodule", edit.mutate_irmodule, [module], {}),
        Attempt("visit_call", visitor.visit_call, [a.value], {}),
        Attempt("visit_function", visitor.visit_function, [function], {}),
        Attempt("visit_binding of visitor", visitor.visit_binding, [a], {}),
        Attempt("visit_binding_block", visitor.visit_binding_block, [block], {}),
        Attempt("visit_var_def", visitor.visit_var_def, [a.var], {}),
        Attempt("replace_var", rlx.ExprMutator().replace_var, [a.var, a.var], {}),
        Attempt("match", add.match, [a.value, transform.get_var2val(function)], {}),
        Attempt("match_dfb", context.match_dfb, [block], {}),
        Attempt("rewrite_call", transform.rewrite_call, [add, lambda call, _: call, function], {}),
        Attempt(
            "rewrite_bindings", transform.rewrite_bindings, [context, lambda *_: {}, function], {}
        ),
        Attempt(
            "new values",
            lambda v: transform.rewrite_bindings(context, lambda *_: v, function),
            [{}],
            {},
        ),
        Attempt("TopologicalSort", transform.TopologicalSort, ["depth-first", "from-inputs"], {}),
        Attempt("has_dtype of", transform.has_dtype, ["float32", wildcard()], {}),
        Attempt("struct_info of", struct_info, ["R.Tensor"], {"scope": None}),
    ]


def plausible(parameter: Parameter, x: ast.Var) -> Any:
    """Plausible values of a parameter of an operator."""
    if parameter.default is not Parameter.empty:
        return parameter.default
    kinds = {
        "Sequence[Value]": [x, x],
        "Value": x,
        "Operand": x,
        "ShapeLike": (2, 2),
        "Type": "float32",
    }
    kinds |= {"Info": "R.Tensor", "str": "s", "int": 0, "Scalar": 1, "float": 1.0}
    return next((value for word, value in kinds.items() if word in str(parameter.annotation)), x)


def of_operator(pick: random.Random, x: ast.Var) -> Attempt:
    """The function of an operator."""
    name = pick.choice(sorted(every_name()))
    operator = lookup(f"relax.{name}")
    assert operator is not None
    function: Any = rlx.op
    for part in name.split("."):
        function = getattr(function, f"{part}_" if iskeyword(part) else part)
    taken = [
        p for p in signature(operator).parameters.values() if p.kind is not Parameter.VAR_POSITIONAL
    ]
    return Attempt(name, function, [], {p.name: plausible(p, x) for p in taken})


def tried(attempt: Attempt, at: int | str, value: Any, use: Callable[[Any], object]) -> str:
    """The problem with a call that has another argument; empty if there is none."""
    args, named = list(attempt.args), dict(attempt.named)
    if isinstance(at, int):
        args[at] = value
    else:
        named[at] = value
    try:
        made = attempt.function(*args, **named)
        if isinstance(made, ast.Expr) and not isinstance(made, ast.GlobalVar | ast.Var):
            use(made)
    except ERRORS as error:
        return "" if HERE in str(error) else f"no place: {error}"
    except Exception as error:  # noqa: BLE001  (any other is what is looked for)
        return f"{type(error).__name__}: {error}"
    return ""


def trial(seed: int) -> str:
    """The problem with one replaced argument; empty if there is none."""
    pick = random.Random(seed)
    bb, x = rlx.BlockBuilder(), rlx.Var("x", FLOATS)
    with bb.function("main", [x]):
        y = bb.emit(x + 1)
        attempts = pick.choice(
            [
                *(of_builder(bb, x, y), of_functions(x), of_passes(), of_analyses(x)),
                [of_operator(pick, x)],
            ]
        )
        attempt = pick.choice(attempts)
        places = [*range(len(attempt.args)), *attempt.named]
        if not places:
            bb.emit_func_output(y)
            return ""
        at, value = pick.choice(places), pick.choice(values())
        wrong = tried(attempt, at, value, bb.emit)
        bb.emit_func_output(bb.emit(x + y))
    where = f"{seed}: {attempt.name}, argument {at} = {value!r:.60}"
    if wrong:
        return f"{where}: {wrong}"
    report = rlx.check(bb.get())
    return "" if report.ok else f"{where}: not legal: {report.errors[0]}\n{rlx.show(bb.get())}"


def head(seed: int) -> str:
    """The problem with a function whose head or result is odd; empty if there is none."""
    pick = random.Random(seed)
    bb, x = rlx.BlockBuilder(), rlx.Var("x", FLOATS)
    given: dict[str, Any] = {"name": "main", "params": [x]}
    at = pick.choice(
        ["name", "params", "attrs", "private", "pure", "ret_struct_info", "output", "behind"]
    )
    value = pick.choice(values())
    given |= {at: value} if at not in ("output", "behind") else {}
    where = f"{seed}: function, {at} = {value!r:.60}"
    try:
        with bb.function(**given):
            named = {"params": value} if at == "behind" else {}
            bb.emit_func_output(value if at == "output" else rlx.const(1.0), **named)
    except ERRORS as error:
        if HERE not in str(error):
            return f"{where}: no place: {error}"
    except Exception as error:  # noqa: BLE001  (any other is what is looked for)
        return f"{where}: {type(error).__name__}: {error}"
    with bb.function("again", [x]):
        bb.emit_func_output(bb.emit(x + x))
    report = rlx.check(bb.get())
    return "" if report.ok else f"{where}: not legal: {report.errors[0]}"


def failures(count: int, seed: int) -> list[str]:
    """The problems with so many trials."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            (head if number % 8 == 0 else trial)(number) for number in range(seed, seed + count)
        ]
    return [each for each in found if each]


def main() -> None:
    """Try so many."""
    found = failures(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(found[:20]))
    print(f"{sys.argv[1]} trials, {len(found)} failures")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
