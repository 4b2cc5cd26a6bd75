"""Binding, substitution, erasure, traditional types: what happens to variables."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    Var,
)
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order import (
    bind,
    compatibility,
    erase,
    free_shape_vars,
    free_vars,
    instantiate,
    rename_apart,
    substitute,
    substitute_prim,
    subtype,
)
from tests.solver.order.build import (
    add,
    func,
    imm,
    mul,
    obj,
    packed,
    prim,
    prover,
    shape,
    tensor,
    tup,
    var,
)

N, M, K = var("n"), var("m"), var("k")


def value(expr: object) -> int:
    """The number that an image is."""
    assert isinstance(expr, tir.IntImm)
    return expr.value


def test_binding_positions() -> None:
    """Tensor, shape, scalar and tuple bind where the variable stands alone; two phases."""
    params = (
        tensor((mul(2, N), N)),
        tup(shape((M,)), prim(value=K)),
    )
    args = (tensor((6, 3)), tup(shape((5,)), prim(value=7)))
    binding = bind(params, args, (N, M, K), prover())
    assert {v: value(e) for v, e in binding.mapping.items()} == {N: 3, M: 5, K: 7}
    assert not binding.conflicts and not binding.unbound


def test_n_and_twice_n_against_3_and_6() -> None:
    signature = func((tensor((N, mul(2, N))),), tensor((mul(N, N),)), N)
    instance = instantiate(signature, (tensor((3, 6)),), prover())
    assert compatibility(tensor((3, 6)), instance.params[0], prover()).kind == "compatible"
    assert structural_equal(instance.ret, tensor((9,)))
    wrong = instantiate(signature, (tensor((3, 7)),), prover())
    assert compatibility(tensor((3, 7)), wrong.params[0], prover()).kind == "incompatible"


def test_nothing_is_bound_by_what_does_not_say() -> None:
    params = (
        tensor((N,)),
        shape((N,)),
        prim(value=N),
        tup(tensor((N,))),
        func((tensor((N,)),), obj()),
    )
    silent = (tensor(ndim=1), shape(ndim=1), prim(), tup(), packed())
    ranks = (tensor((1, 2)), shape((1, 2)), prim(), tup(tensor(()), obj()), func((), obj()))
    kinds = (shape((3,)), tensor((3,)), obj(), obj(), obj())
    for args in (silent, ranks, kinds):
        binding = bind(params, args, (N,), prover())
        assert binding.mapping == {} and binding.unbound == (N,)


def test_only_binders_are_bound() -> None:
    binding = bind((tensor((N, M)),), (tensor((2, 3)),), (M,), prover())
    assert list(binding.mapping) == [M]


def test_unbound_variables_get_new_names() -> None:
    """A recursive function is not confused with itself."""
    signature = func((tensor((N,)),), tensor((N,)), N)
    instance = instantiate(signature, (tensor(ndim=1),), prover())
    (fresh,) = instance.unbound
    assert fresh is not N and fresh.name == "n"
    assert free_shape_vars(instance.ret) == (fresh,)
    assert structural_equal(erase(instance.ret, (), (N,)), tensor(ndim=1))


def test_recursive_call_replaces_all_at_once() -> None:
    """``f(x: (n, m))`` called with ``(m, n)`` swaps."""
    signature = func((tensor((N, M)),), tensor((N, M)), N, M)
    instance = instantiate(signature, (tensor((M, N)),), prover())
    assert structural_equal(instance.ret, tensor((M, N)))


def test_function_parameters() -> None:
    """A function in a signature binds by its parameters, not by its result nor by its own variables."""
    a, b = var("a"), var("b")
    pattern = func((tensor((N, a)),), tensor((M,)), a)
    given = func((tensor((3, b)),), tensor((4,)), b)
    binding = bind((pattern,), (given,), (N, M, a), prover())
    assert list(binding.mapping) == [N]
    escaping = bind(
        (func((tensor((N,)),), obj()),), (func((tensor((b,)),), obj(), b),), (N,), prover()
    )
    assert escaping.mapping == {}


def test_variables_that_hold_a_shape_are_bound() -> None:
    s, t = Var("s"), Var("t")
    literal = bind((tensor(s, ndim=1),), (tensor((3,)),), (s,), prover())
    assert isinstance(literal.mapping[s], ShapeExpr)
    assert bind((tensor(s, ndim=1),), (tensor(t, ndim=1),), (s,), prover()).mapping == {s: t}
    assert bind((tensor(s, ndim=1),), (tensor(ndim=1),), (s,), prover()).unbound == (s,)
    twice = bind((tensor(s), tensor(s)), (tensor(t), tensor((3,))), (s,), prover())
    assert [c.relation for c in twice.conflicts] == [None]


def test_substitution_reaches_every_part() -> None:
    info = tup(
        tensor((N, add(N, M))),
        shape((N,)),
        prim(value=N),
        func((tensor((N,)),), shape((N,))),
        packed(None, tensor((N,))),
        obj(),
    )
    expected = tup(
        tensor((K, add(K, M))),
        shape((K,)),
        prim(value=K),
        func((tensor((K,)),), shape((K,))),
        packed(None, tensor((K,))),
        obj(),
    )
    result = substitute(info, {N: K})
    assert structural_equal(result, expected)
    assert free_shape_vars(result) == (K, M)


def test_a_known_shape_in_the_place_of_a_variable_says_the_rank() -> None:
    named = Var("s", ShapeStructInfo())
    result = substitute(TensorStructInfo(named), {named: ShapeExpr((N, imm(2)))})
    assert structural_equal(result, tensor((N, imm(2)), "")) and result.ndim == 2  # type: ignore[attr-defined]


def test_substitution_returns_what_it_leaves_alone() -> None:
    info = tup(
        tensor((N, add(N, 1))), shape((N,)), prim(value=N), func((obj(),), shape((N,))), obj()
    )
    assert substitute(info, {}) is info
    assert substitute(info, {M: imm(3)}) is info
    both = tup(tensor((N,)), tensor((M,)))
    assert substitute(both, {M: imm(3)}).fields[0] is both.fields[0]  # type: ignore[attr-defined]


def test_substitution_is_simultaneous() -> None:
    assert structural_equal(substitute(shape((N, M)), {N: M, M: N}), shape((M, N)))


def test_substitution_computes_with_numbers() -> None:
    def number(expr: PrimExpr) -> int:
        return value(substitute_prim(expr, {N: imm(3)}))

    assert number(add(mul(2, N), 1)) == 7
    assert number(tir.Sub(N, imm(5))) == -2
    huge = mul(mul(N, 2**62), 2**62)
    assert not isinstance(substitute_prim(huge, {N: imm(3)}), tir.IntImm)


def test_bound_variables_are_not_replaced() -> None:
    a = var("a")
    info = func((tensor((a, N)),), tensor((a,)), a)
    assert substitute(info, {a: imm(3)}) is info


def test_substitution_is_not_caught() -> None:
    """Putting ``a`` under a binder of that identity renames the binder."""
    a = var("a")
    info = func((tensor((a, N)),), tensor((add(a, N),)), a)
    result = substitute(info, {N: a})
    assert isinstance(result, FuncStructInfo)
    assert free_shape_vars(result) == (a,)
    b = var("b")
    expected = func((tensor((b, a)),), tensor((add(b, a),)), b)
    assert subtype(result, expected, prover()).status == "proved"
    by_shape = func((tensor((a,)), tensor(s := Var("s"))), obj(), a)
    caught = substitute(by_shape, {s: ShapeExpr((a,))})
    assert free_shape_vars(caught) == (a,)


def test_substitution_of_shapes() -> None:
    s, t = Var("s"), Var("t")
    assert free_vars(substitute(tup(tensor(s), tensor()), {s: t})) == (t,)
    assert free_vars(substitute(tensor(s), {s: ShapeExpr((N,))})) == ()
    assert substitute(tensor(s), {t: s}).shape is s  # type: ignore[attr-defined]


def test_renaming_apart() -> None:
    a = var("a")
    info = func((tensor((a,)),), tensor((a,)), a)
    renamed = rename_apart(info)
    assert renamed.binders[0] is not a
    assert free_shape_vars(renamed) == ()
    assert subtype(renamed, info, prover()).status == "proved"
    assert rename_apart(plain := func((obj(),), obj())) is plain


def test_free_variables() -> None:
    a, s = var("a"), Var("s")
    info = tup(func((tensor((a, M)),), tensor((N,)), a), prim(value=K), tensor(s), shape((N,)))
    assert free_shape_vars(info) == (M, N, K)
    assert free_vars(info) == (s,)


def erased(info: StructInfo, *scope: tir.Var) -> StructInfo:
    """The erased type where only some shape variables are in scope."""
    return erase(info, (), scope)


def test_erasure_keeps_what_mentions_no_variable() -> None:
    assert structural_equal(erased(tensor((N, M), on="cuda"), N), tensor(ndim=2, on="cuda"))
    assert structural_equal(erased(shape((N, M)), N), shape(ndim=2))
    assert structural_equal(erased(prim(value=N)), prim())
    assert structural_equal(
        erased(tup(shape((N,)), shape((M,))), N), tup(shape((N,)), shape(ndim=1))
    )


def test_erasure_returns_what_it_leaves_alone() -> None:
    s = Var("s")
    for info in (
        tensor((N, add(N, 1))),
        tensor((3, 4)),
        tensor(),
        shape((N,)),
        shape(),
        prim(value=N),
        prim(),
        tup(tensor((N,))),
        func((tensor((N,)),), shape((N,)), pure=False),
        packed(None, tensor((N,))),
        obj(),
    ):
        assert erased(info, N) is info
    assert erase(held := tensor(s, ndim=1), (s,), ()) is held


def test_erasure_of_shapes_held_by_variables() -> None:
    s, t = Var("s", shape((N, 2))), Var("t", shape(ndim=2))
    assert structural_equal(erased(tensor(s, ndim=2), N), tensor((N, 2)))
    assert structural_equal(erased(tensor(s, ndim=2)), tensor(ndim=2))
    assert structural_equal(erased(tensor(t)), tensor(ndim=2))


def test_erasure_of_functions() -> None:
    """Results are widened, parameters narrowed or the function given up, purity kept."""
    kept = erased(func((tensor((N,)),), tensor((M,)), pure=False), N)
    assert structural_equal(kept, func((tensor((N,)),), tensor(ndim=1), pure=False))
    assert structural_equal(erased(func((tensor((M,)),), obj()), N), obj())
    assert structural_equal(erased(func((tup(tensor((M,))),), obj()), N), obj())
    opaque = erased(packed(None, tensor((M,)), pure=True))
    assert structural_equal(opaque, packed(None, tensor(ndim=1), pure=True))


def test_erasure_narrows_functions_in_parameters() -> None:
    """Widening the values that a parameter accepts narrows the parameter."""
    inner = func((tensor((M,)),), obj())
    outer = func((tup(inner, obj()),), obj())
    left = erased(outer)
    assert structural_equal(left, func((tup(func((tensor(ndim=1),), obj()), obj()),), obj()))
    assert subtype(outer, left, prover()).status == "proved"
    hopeless = func((func((), tensor((M,))),), obj())
    assert structural_equal(erased(hopeless), obj())


def test_erasure_knows_bound_variables() -> None:
    a = var("a")
    info = func((tensor((a,)),), tensor((a, M)), a)
    left = erased(info)
    assert isinstance(left, FuncStructInfo) and left.binders == (a,)
    assert structural_equal(left.ret, tensor(ndim=2))


def test_erasure_gives_up_functions_whose_variables_lose_their_place() -> None:
    """``a`` stands alone only in the parameter of a parameter, beside what has to go."""
    a = var("a")
    inner = func((tensor((a, M)),), obj())
    assert structural_equal(erased(func((inner,), tensor((a,)), a)), obj())
    generic = func((tensor((a, M)),), tensor((a,)), a)
    assert structural_equal(erased(func((generic,), obj())), obj())
    twice = func((func((generic,), obj()),), obj())
    assert structural_equal(erased(twice), func((func((obj(),), obj()),), obj()))


def test_rank_0_is_read_alike() -> None:
    assert free_shape_vars(tensor(())) == ()
    for one, other in ((tensor(()), tensor(ndim=0)), (shape(()), shape(ndim=0))):
        assert isinstance(one, (TensorStructInfo, ShapeStructInfo))
        assert subtype(one, other, prover()).status == "proved"
        assert subtype(other, one, prover()).status == "proved"
