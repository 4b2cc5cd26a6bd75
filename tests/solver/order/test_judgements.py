"""Subtyping, compatibility and emptiness, judgement by judgement: which premise fails, where, why."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import PrimStructInfo, StructInfo, Var
from rlx.grammar.nodes.dtype import FLOAT32
from rlx.grammar.nodes.equal import structural_equal
from rlx.solver.order import (
    COMPATIBLE,
    NotSubtype,
    UndecidedDims,
    compatibility,
    lub,
    meet_is_empty,
    subtype,
)
from rlx.solver.prover import Prover
from rlx.solver.verdict import Proved, Relation, Unknown, Verdict
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
S = Var("s")

FAILING: list[tuple[str, str, StructInfo, StructInfo]] = [
    ("SUB-kind-same", "incompatible", shape((N,)), tensor((N,))),
    ("SUB-kind-same", "possible", obj(), tensor()),
    ("SUB-kind-same", "incompatible", tup(), tensor()),
    ("SUB-tensor-dtype", "incompatible", tensor((N,), "int8"), tensor((N,))),
    ("SUB-tensor-dtype", "possible", tensor((N,), "void"), tensor((N,))),
    ("SUB-tensor-rank", "incompatible", tensor((N, 4)), tensor(ndim=3)),
    ("SUB-tensor-rank", "possible", tensor(), tensor(ndim=3)),
    ("SUB-tensor-rank", "possible", tensor(), tensor((N, M))),
    ("SUB-tensor-device", "incompatible", tensor((N,), on="llvm"), tensor((N,), on="cuda")),
    ("SUB-tensor-device", "possible", tensor((N,)), tensor((N,), on="cuda")),
    ("SUB-tensor-shape", "possible", tensor(ndim=1), tensor((N,))),
    ("SUB-tensor-shape", "possible", tensor(S, ndim=1), tensor((N,))),
    ("SUB-tensor-shape", "possible", tensor((N,)), tensor(S, ndim=1)),
    ("SUB-tensor-shape", "possible", tensor((N,)), tensor((M,))),
    ("SUB-tensor-shape", "incompatible", tensor((N,)), tensor((add(N, 1),))),
    ("SUB-shape-rank", "incompatible", shape((N,)), shape(ndim=2)),
    ("SUB-shape-rank", "possible", shape(), shape(ndim=2)),
    ("SUB-shape-rank", "possible", shape(), shape((N,))),
    ("SUB-shape-values", "possible", shape(ndim=1), shape((N,))),
    ("SUB-shape-values", "possible", shape((N,)), shape((4,))),
    ("SUB-shape-values", "incompatible", shape((3,)), shape((4,))),
    ("SUB-prim-dtype", "incompatible", prim("int32"), prim("int64")),
    ("SUB-prim-value", "possible", prim(), prim(value=N)),
    ("SUB-prim-value", "possible", prim(value=3), prim(value=N)),
    ("SUB-prim-value", "incompatible", prim(value=3), prim(value=4)),
    ("SUB-tuple-length", "incompatible", tup(obj()), tup(obj(), obj())),
    ("SUB-function-kind", "possible", packed("empty"), func((), obj(), pure=False)),
    ("SUB-opaque-derivation", "possible", func((), obj()), packed()),
    ("SUB-opaque-derivation", "possible", func((), tensor()), packed(None, tensor())),
    ("SUB-function-arity", "incompatible", func((), obj()), func((obj(),), obj())),
    ("SUB-function-purity", "incompatible", func((), obj(), pure=False), func((), obj())),
    ("SUB-opaque-purity", "incompatible", packed(), packed(pure=True)),
    ("SUB-opaque-derivation", "possible", packed("empty"), packed("default")),
    ("SUB-opaque-derivation", "possible", packed(), packed(None, tensor())),
    ("SUB-opaque-derivation", "possible", packed(None, tensor()), packed()),
]


@pytest.mark.parametrize(("code", "kind", "a", "b"), FAILING, ids=range(len(FAILING)))
def test_premise_that_fails(code: str, kind: str, a: StructInfo, b: StructInfo) -> None:
    """Each premise fails by itself, and is weighed."""
    verdict = subtype(a, b, prover())
    assert isinstance(verdict, NotSubtype)
    assert verdict.mismatch is not None and verdict.mismatch.code == code
    found = compatibility(a, b, prover())
    assert found.reason is not None
    assert (found.kind, found.reason.code) == (kind, code.replace("SUB", "COMPAT"))
    assert found.reason.given is a and found.reason.wanted is b


def test_results_of_functions_keep_them_apart() -> None:
    """A function that takes a vector cannot return it and something of another length."""
    a = var("a")
    same = func((tensor((a,)),), tensor((a,)), a)
    assert meet_is_empty(same, func((tensor((4,)),), tensor((5,))), prover())
    assert not meet_is_empty(same, func((tensor((4,)),), tensor((4,))), prover())
    assert not meet_is_empty(same, func((tensor((4, 4)),), tensor((5,))), prover())


def test_identity_is_free() -> None:
    """The same object is compatible at once; no question is asked."""
    p = prover()
    info = tensor((add(N, M), 4))
    assert compatibility(info, info, p) is COMPATIBLE
    assert compatibility(tensor((1, N, 256)), tensor((1, N, 256)), p) is COMPATIBLE
    assert subtype(info, info, p).status == "proved"
    assert p.statistics.questions == 0


def test_division_tells_what_must_not_be_zero() -> None:
    """``n * m // m`` is ``n`` where ``m`` is not 0."""
    quotient = tir.FloorDiv(mul(N, M), M)
    verdict = subtype(tensor((quotient,)), tensor((N,)), prover())
    assert isinstance(verdict, Proved)
    assert M in verdict.divisors


def test_mismatch_names_the_dimension() -> None:
    """The path leads to the dimension, with both values and a counterexample."""
    given = tup(obj(), tensor((N, 4, M)))
    wanted = tup(obj(), tensor((N, 4, K)))
    found = compatibility(given, wanted, prover())
    assert found.kind == "possible"
    assert found.path == (("field", 1), ("dimension", 2))
    assert found.reason is not None
    assert (found.reason.left, found.reason.right) == (M, K)
    assert found.counterexample is not None
    assert found.counterexample["m"] != found.counterexample["k"]


def test_definite_difference_before_a_possible_one() -> None:
    """The last of several failures is reported."""
    given, wanted = tensor((N, 3), "void"), tensor((M, 4), "float32")
    found = compatibility(given, wanted, prover())
    assert found.kind == "incompatible"
    assert found.path == (("dimension", 1),)
    other = compatibility(tup(tensor(), shape()), tup(tensor(ndim=1), tensor()), prover())
    assert (found.kind, other.kind) == ("incompatible", "incompatible")
    assert other.path == (("field", 1),)


def test_all_dimensions_are_solved_together() -> None:
    """Each alone could be equal, both at once not; across fields as well."""
    found = compatibility(tensor((N, N)), tensor((16, 32)), prover())
    assert found.kind == "incompatible"
    assert found.reason is not None and found.reason.code == "COMPAT-joint-solvable"
    given = tup(tensor((N,)), shape((mul(2, N),)))
    assert compatibility(given, tup(tensor((3,)), shape((6,))), prover()).kind == "possible"
    assert compatibility(given, tup(tensor((3,)), shape((7,))), prover()).kind == "incompatible"


def test_zero_would_save_it() -> None:
    """``n == 2 * n`` only for 0: incompatible, with the note."""
    found = compatibility(tensor((N,)), tensor((mul(2, N),)), prover())
    assert found.kind == "incompatible" and found.zero_saves


def test_facts_count() -> None:
    fact = tir.EQ(N, imm(4))
    assert compatibility(tensor((N,)), tensor((4,)), prover(fact)).kind == "compatible"
    assert compatibility(tensor((N,)), tensor((5,)), prover(fact)).kind == "incompatible"
    assert compatibility(tensor((N,)), tensor((4,)), prover()).kind == "possible"


def test_shape_variables_with_annotation() -> None:
    """A shape held by a variable has the dimensions of the variable's annotation."""
    held = Var("s", shape((N, 2)))
    assert subtype(tensor(held, ndim=2), tensor((N, 2)), prover()).status == "proved"
    assert subtype(tensor((N, 2)), tensor(held, ndim=2), prover()).status == "proved"
    assert compatibility(tensor(held, ndim=2), tensor((N, 3)), prover()).kind == "incompatible"
    assert subtype(tensor(S, ndim=2), tensor(S, ndim=2), prover()).status == "proved"
    ranked = Var("r", shape(ndim=2))
    assert subtype(tensor(ranked), tensor(ndim=2), prover()).status == "proved"
    assert compatibility(tensor(ranked), tensor(ndim=3), prover()).kind == "incompatible"


def test_functions_are_contravariant() -> None:
    wide, narrow = tensor(), tensor((N,))
    accepts_all, accepts_some = func((wide,), obj()), func((narrow,), obj())
    assert subtype(accepts_all, accepts_some, prover()).status == "proved"
    found = compatibility(accepts_some, accepts_all, prover())
    assert found.kind == "possible"
    assert found.path == (("parameter", 0),)
    assert found.reason is not None
    assert found.reason.given is wide and found.reason.wanted is narrow


def test_result_is_covariant() -> None:
    found = compatibility(func((), tensor((3,))), func((), tensor((4,))), prover())
    assert found.kind == "incompatible"
    assert found.path == (("result", 0), ("dimension", 0))


def test_generic_functions_are_instantiated() -> None:
    """A function for every ``a`` is one for 4, and one for vectors of any length; not the reverse."""
    a = var("a")
    generic = func((tensor((a,)),), tensor((a,)), a)
    four = func((tensor((4,)),), tensor((4,)))
    vectors = func((tensor(ndim=1),), tensor(ndim=1))
    for narrower in (four, vectors):
        assert subtype(generic, narrower, prover()).status == "proved"
        assert subtype(narrower, generic, prover()).status == "refuted"
    assert compatibility(four, generic, prover()).kind == "possible"


def test_generic_functions_with_one_variable_twice() -> None:
    a, b, c = var("a"), var("b"), var("c")
    square = func((tensor((a, a)),), tensor((a,)), a)
    matrix = func((tensor((b, c)),), tensor((b,)), b, c)
    assert subtype(matrix, square, prover()).status == "proved"
    assert compatibility(square, matrix, prover()).kind == "possible"
    assert compatibility(square, func((tensor((2, 3)),), obj()), prover()).kind == "incompatible"


def test_generic_parameters_inside_tuples_and_shapes() -> None:
    a = var("a")
    generic = func((tup(shape((a,)), tensor((a,))),), tensor((a,)), a)
    known = func((tup(shape((3,)), tensor((3,))),), tensor((3,)))
    counted = func((tup(shape(ndim=1), tensor((3,))),), tensor((3,)))
    assert subtype(generic, known, prover()).status == "proved"
    assert compatibility(generic, counted, prover()).kind == "possible"
    ranks = func((tup(shape(ndim=1), obj()),), obj())
    just_shape = func((tup(shape((a,)), obj()),), obj(), a)
    assert subtype(just_shape, ranks, prover()).status == "proved"


def test_a_function_used_inside_itself() -> None:
    """Facts about ``n`` say nothing of the ``n`` that the function binds."""
    n = var("n")
    generic = func((tensor((n,)),), tensor((n,)), n)
    four = func((tensor((4,)),), tensor((4,)))
    inside = prover(tir.EQ(n, imm(4)))
    assert subtype(four, generic, inside).status == "refuted"
    assert subtype(generic, four, inside).status == "proved"


def test_functions_of_functions() -> None:
    """Two turns make a parameter of a parameter covariant again."""
    wide = func((func((tensor((N,)),), obj()),), obj())
    narrow = func((func((tensor(),), obj()),), obj())
    assert subtype(wide, narrow, prover()).status == "proved"
    assert subtype(narrow, wide, prover()).status == "refuted"


def test_opaque_functions() -> None:
    p = prover()
    assert subtype(packed(), packed("empty"), p).status == "proved"
    assert subtype(packed(None, tensor((N,))), packed(None, tensor()), p).status == "proved"
    assert subtype(packed(None, tensor()), packed("empty"), p).status == "proved"
    assert subtype(packed("empty"), packed(None, obj()), p).status == "proved"
    assert compatibility(packed(None, shape()), packed(None, tensor()), p).kind == "incompatible"
    assert subtype(packed("vm.f"), packed("vm.f"), p).status == "proved"
    assert compatibility(packed("vm.f"), packed("vm.g"), p).kind == "possible"


class Silent(Prover):
    """A prover that never knows."""

    def equal(self, a: tir.PrimExpr, b: tir.PrimExpr) -> Verdict:
        return Unknown("asked not to")

    def relate_all(self, pairs: object) -> Relation:
        return Relation("unknown", reason="asked not to")


def test_what_the_prover_does_not_know_is_possible() -> None:
    """Unknown arithmetic gives neither a proof nor an error."""
    silent = Silent()
    a, b = tensor((N, M)), tensor((M, N))
    verdict = subtype(a, b, silent)
    assert isinstance(verdict, UndecidedDims)
    assert verdict.mismatch is not None and verdict.mismatch.path == (("dimension", 0),)
    assert verdict.reason == "asked not to"
    found = compatibility(a, b, silent)
    assert found.kind == "possible" and found.counterexample is None
    assert not meet_is_empty(a, b, silent)
    refuted = subtype(tup(a, tensor(ndim=1)), tup(b, tensor(ndim=2)), silent)
    assert refuted.status == "refuted"


def test_assumption_is_handed_on() -> None:
    """The prover names the condition that would make it hold."""
    found = compatibility(tensor((N,)), tensor((M,)), prover())
    assert found.assumption is not None
    assert compatibility(tensor((N,)), tensor((M,)), prover(found.assumption)).kind == "compatible"


def test_large_annotations() -> None:
    """A sum of 10,000 terms, a tuple of 2,000 tensors."""
    total: tir.PrimExpr = N
    for _ in range(10_000):
        total = tir.Add(total, M)
    assert compatibility(tensor((total,)), tensor((total,)), prover()).kind == "compatible"
    many = tup(*(tensor((i, N)) for i in range(2_000)))
    again = tup(*(tensor((i, N)) for i in range(2_000)))
    assert compatibility(many, again, prover()).kind == "compatible"


def test_floating_point_values() -> None:
    """Numbers are compared; expressions that the prover does not know, by how they are written."""
    p = prover()
    x = tir.Var("x", FLOAT32)

    def real(value: float) -> PrimStructInfo:
        return PrimStructInfo(FLOAT32, tir.FloatImm(value))

    def half() -> PrimStructInfo:
        return PrimStructInfo(FLOAT32, tir.Div(x, tir.FloatImm(2.0)))

    nan = float("nan")
    for a, b in ((real(1.5), real(1.5)), (real(nan), real(nan)), (half(), half())):
        assert compatibility(a, b, p).kind == "compatible"
        assert subtype(a, b, p).status == "proved"
        assert structural_equal(lub(a, b, p), a)
    for a, b in ((real(1.5), real(2.5)), (real(nan), real(1.0)), (real(1.0), real(nan))):
        assert compatibility(a, b, p).kind == "incompatible"
        assert subtype(a, b, p).status == "refuted"
        assert meet_is_empty(a, b, p)
    assert compatibility(half(), real(1.0), p).kind == "possible"
    assert subtype(half(), real(1.0), p).status == "unknown"
    mixed = tup(half(), tensor((N,))), tup(half(), tensor((M,)))
    assert compatibility(*mixed, p).path == (("field", 1), ("dimension", 0))
