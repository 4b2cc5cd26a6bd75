"""Hypothesis strategies: programs that are well-formed by construction, their parts, and inputs for
them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hypothesis import strategies as st

from rlx.generate.inputs import inputs_for
from rlx.generate.programs.choices import SIZE, Choices
from rlx.generate.programs.dims import tensor
from rlx.generate.programs.module import build
from rlx.generate.programs.operators import of_templates
from rlx.generate.programs.plan import FEATURES, FunctionPlan, ModulePlan, Options
from rlx.generate.tir.function import prim_func
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Function, IRModule, StructInfo
from rlx.grammar.nodes.dtype import INT64, VOID, dtype
from rlx.grammar.nodes.tir import PrimExpr, PrimFunc
from rlx.operators.registry import every_name, lookup

__all__ = [
    "functions",
    "inputs_for",
    "modules",
    "prim_exprs",
    "prim_funcs",
    "shapes",
    "struct_infos",
]

_GLOBAL = frozenset(
    {"higher_order", "recursion", "mutual", "call_tir", "inplace", "impure", "runtime", "devices"}
)
_RECORD = st.binary(min_size=SIZE, max_size=SIZE)
_PRIM_BYTES = 128
_ELEMENTS = ("float32", "int64", "bool", "float16", "int8", "float64", "uint8", "int32")
_VARIABLES = (tir.Var("n"), tir.Var("m"))


def modules(
    *, size: int = 10, features: Collection[str] = FEATURES, operators: Sequence[str] = ()
) -> st.SearchStrategy[IRModule]:
    """Modules in which the checker finds neither errors nor warnings.

    Parameters
    ----------
    size
        The largest number of steps that generate a module; a step is about one binding.
    features
        Which of :data:`rlx.generate.programs.FEATURES` may occur.
    operators
        Names of operators (``"nn.relu"``) to use; all that are declared if empty. Features bring
        calls of their own (a branch its ``abs``); without any of them there are only these
        operators, and ``ones`` and ``zeros`` where a tensor has to be made.

    Raises
    ------
    ValueError
        If a feature or an operator is unknown.
    """
    options = _options(size, features, operators)
    return plans(size).map(lambda plan: build(plan, options))


def _options(size: int, features: Collection[str], operators: Sequence[str]) -> Options:
    unknown = set(features) - FEATURES
    if unknown:
        raise ValueError(f"unknown features {sorted(unknown)}; expected some of {sorted(FEATURES)}")
    return Options(size, frozenset(features), tuple(map(operator_name, operators)))


def operator_name(name: str) -> str:
    """The name of an operator that can be asked for, without ``relax.``. Raises ValueError if there
    is none, or its calls come with a feature.
    """
    plain = name.removeprefix("relax.")
    if lookup(f"relax.{plain}") is None:
        from difflib import get_close_matches

        near = get_close_matches(plain, every_name(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown operator {name!r}{hint}")
    if not of_templates(plain):
        raise ValueError(
            f"calls of {name!r} declare their result: they come with features, not by name"
        )
    return plain


def plans(size: int) -> st.SearchStrategy[ModulePlan]:
    """Plans of modules of at most so many steps."""
    few = max(1, size // 4)
    helpers = st.lists(_function(few), max_size=2 if size > 3 else 0)
    return st.builds(lambda before, last: ModulePlan((*before, last)), helpers, _function(size))


def _function(size: int) -> st.SearchStrategy[FunctionPlan]:
    return st.builds(FunctionPlan, _RECORD, st.lists(_RECORD, max_size=size))


def functions(
    *,
    size: int = 10,
    features: Collection[str] = FEATURES - _GLOBAL,
    operators: Sequence[str] = (),
) -> st.SearchStrategy[Function]:
    """Functions that use no other function.

    Raises
    ------
    ValueError
        If a feature or an operator is unknown, or a feature needs other functions.
    """
    needed = set(features) & _GLOBAL
    if needed:
        raise ValueError(f"functions without a module cannot have {sorted(needed)}")
    options = _options(size, features, operators)
    plan = _function(size).map(lambda made: ModulePlan((made,)))
    return plan.map(lambda made: _entry(build(made, options)))


def _entry(module: IRModule) -> Function:
    for function in module.relax_functions.values():
        if "global_symbol" in function.attrs:
            return function
    raise AssertionError("a module has an entry")


def prim_exprs(variables: Sequence[tir.Var] = _VARIABLES) -> st.SearchStrategy[PrimExpr]:
    """Shape arithmetic over these variables, divided only by positive numbers: defined and at least
    0.
    """
    numbers = st.integers(0, 8).map(tir.IntImm)
    leaves = st.one_of(st.sampled_from(variables), numbers) if variables else numbers
    divisors = st.integers(1, 8).map(tir.IntImm)

    def larger(part: st.SearchStrategy[PrimExpr]) -> st.SearchStrategy[PrimExpr]:
        joined = st.sampled_from((tir.Add, tir.Mul, tir.Max, tir.Min))
        divided = st.sampled_from((tir.FloorDiv, tir.FloorMod))
        return st.one_of(
            st.builds(lambda made, a, b: made(a, b), joined, part, part),
            st.builds(lambda made, a, b: made(a, b), divided, part, divisors),
        )

    return st.recursive(leaves, larger, max_leaves=6)


def shapes(
    variables: Sequence[tir.Var] = _VARIABLES, *, max_rank: int = 3
) -> st.SearchStrategy[tuple[PrimExpr, ...]]:
    """Shapes over these variables."""
    return st.lists(prim_exprs(variables), max_size=max_rank).map(tuple)


def struct_infos(
    variables: Sequence[tir.Var] = _VARIABLES, *, max_leaves: int = 4
) -> st.SearchStrategy[StructInfo]:
    """Struct info of every kind over these shape variables, well-formed where they are in scope."""
    dims = shapes(variables)
    kinds = st.sampled_from([dtype(k) for k in _ELEMENTS])
    ranks = st.integers(-1, 3)
    leaves: list[st.SearchStrategy[StructInfo]] = [
        st.builds(tensor, dims, kinds),
        st.builds(lambda n, k: ast.TensorStructInfo(None, k, n), ranks, st.just(VOID) | kinds),
        st.builds(lambda d: ast.ShapeStructInfo(d, len(d)), dims),
        st.builds(lambda n: ast.ShapeStructInfo(None, n), ranks),
        st.builds(lambda e: ast.PrimStructInfo(INT64, e), prim_exprs(variables)),
        st.builds(ast.PrimStructInfo, kinds),
        st.builds(ast.ObjectStructInfo),
    ]

    def larger(part: st.SearchStrategy[StructInfo]) -> st.SearchStrategy[StructInfo]:
        parts = st.lists(part, max_size=3).map(tuple)
        return st.one_of(
            st.builds(ast.TupleStructInfo, parts),
            st.builds(ast.FuncStructInfo, parts, part, st.booleans()),
        )

    return st.recursive(st.one_of(leaves), larger, max_leaves=max_leaves)


def prim_funcs(*, rare: bool = False) -> st.SearchStrategy[PrimFunc]:
    """PrimFuncs that end on all inputs, over buffers of fixed or symbolic shape: loops, blocks,
    reductions, branches, local buffers.

    Parameters
    ----------
    rare
        Whether there may be what TVM's own pipeline does not compile: vectors, `T.Let`, calls of
        functions from outside (`test.first`), an unknown intrinsic.
    """
    return st.binary(max_size=_PRIM_BYTES).map(lambda data: prim_func_of(data, rare))


def prim_func_of(data: bytes, rare: bool) -> PrimFunc:
    """The PrimFunc that these bytes make; see :func:`prim_funcs`."""
    choices = Choices(data)
    kinds = [dtype(name) for name in ("float32", "int64", "float16", "int32")]
    kind = choices.pick(kinds)
    pool = (tir.IntImm(2), tir.Var("n"), tir.IntImm(3), tir.Var("m"), tir.IntImm(0))
    dims = tuple(choices.pick(pool) for _ in range(choices.below(4)))
    shapes = [dims, *(dims[choices.below(len(dims) + 1) :] for _ in range(choices.below(3)))]
    inputs = [tensor(s, choices.pick(kinds) if choices.one_in(3) else kind) for s in shapes]
    outputs = [tensor(dims, kind)] * (1 + choices.one_in(4))
    return prim_func(choices, inputs, outputs, rare)
