"""Witnesses: why the letter of the specification cannot stand, entry by entry of the ledger.

Each test does first what the specification says and shows what is wrong with it, then what these rules do.
"""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import FuncStructInfo, PrimStructInfo, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.solver.order import (
    bind,
    compatibility,
    erase,
    free_shape_vars,
    glb,
    instantiate,
    lub,
    meet_is_empty,
    substitute,
    subtype,
    to_type,
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
    var,
)
from tests.solver.order.model import (
    Closure,
    Prim,
    Shape,
    Tensor,
    Text,
    member,
)

N, M = var("n"), var("m")
AT = {N: 2, M: 3}


def below(a: StructInfo, b: StructInfo) -> bool:
    """Whether ``a <: b`` is proved."""
    return subtype(a, b, prover()).status == "proved"


def refused(a: StructInfo, b: StructInfo) -> str:
    """The way in which a value of ``a`` is received as a ``b``."""
    return compatibility(a, b, prover()).kind


def test_entry_1() -> None:
    """The bound of Object and a tensor: the letter returns the tensor, and a string is none."""
    letter = tensor()
    assert member(Text("x"), obj(), AT) and not member(Text("x"), letter, AT)
    assert structural_equal(lub(obj(), tensor(), prover()), obj())


def test_entry_2() -> None:
    """The bound of two shapes of which one says its values: the letter returns these values."""
    counted, said = shape(ndim=1), shape((N,))
    letter = said
    assert member(Shape((7,)), counted, AT) and not member(Shape((7,)), letter, AT)
    assert structural_equal(lub(counted, said, prover()), counted)
    assert structural_equal(lub(said, shape((M,)), prover()), counted)


def test_entry_3() -> None:
    """The bound of tensors of equal shape: the letter keeps the first one's element type."""
    a, b = tensor((N,), "int8"), tensor((N,), "float32")
    letter = a
    assert member(Tensor((2,)), b, AT) and not member(Tensor((2,)), letter, AT)
    assert structural_equal(lub(a, b, prover()), tensor((N,), "void"))
    assert structural_equal(lub(tensor((N,), on="cuda"), tensor((N,)), prover()), tensor((N,)))


def test_entry_4() -> None:
    """The bound of tensors of one device and different ranks: the letter forgets the device."""
    a, b = tensor((N,), on="cuda"), tensor((N, M), on="cuda")
    letter, least = tensor(), tensor(on="cuda")
    assert below(a, letter) and below(b, letter)
    assert below(least, letter) and not below(letter, least)
    assert structural_equal(lub(a, b, prover()), least)


def test_entry_5_binders() -> None:
    """Without renaming apart two functions equal but for names have the bound Object."""
    a, b = var("a"), var("b")
    f, g = func((tensor((a,)),), tensor((a,)), a), func((tensor((b,)),), tensor((b,)), b)
    assert not structural_equal(f.params[0], g.params[0])  # type: ignore[index]
    assert structural_equal(lub(f, g, prover()), f)


def test_entry_5_purity() -> None:
    """As literally written, the join of opaque functions that derive alike is the first, pure or not."""
    pure, impure = packed(pure=True), packed(pure=False)
    letter = pure
    assert not below(impure, letter)
    assert structural_equal(lub(pure, impure, prover()), impure)


def test_entry_5_parameters() -> None:
    """Parameters that differ give Object by the letter although both functions accept vectors of ``n``."""
    f, g = func((tensor(),), obj()), func((tensor((N,)),), obj())
    least = func((tensor((N,)),), obj())
    assert below(f, least) and below(g, least) and not below(obj(), least)
    assert structural_equal(lub(f, g, prover()), least)


def test_entry_5_a_least_bound_need_not_exist() -> None:
    """Both bounds of generic functions are above both functions, and nothing above both is below both."""
    a = var("a")
    f, g = func((tensor((a,)),), tensor((a,)), a), func((tensor(ndim=1),), tensor((2,)))
    bounds = func((tensor(ndim=1),), tensor(ndim=1)), func((tensor((2,)),), tensor((2,)))
    for bound in bounds:
        assert below(f, bound) and below(g, bound)
    assert not below(*bounds) and not below(bounds[1], bounds[0])
    assert below(lub(f, g, prover()), bounds[0])


def test_entry_6() -> None:
    """Erasing a parameter by widening it promises to accept what the function refuses."""
    info = func((tensor((M,)),), obj())
    letter = func((tensor(ndim=1),), obj())
    picky = Closure("threes", 1, True, lambda x: x if x.shape == (3,) else None)
    assert member(picky, info, AT) and not member(picky, letter, AT)
    assert structural_equal(erase(info, (), (N,)), obj())


def test_entry_7() -> None:
    """Erasure of a shape whose values are in scope: the letter has no result."""
    info = shape((N,))
    assert erase(info, (), (N,)) is info
    assert structural_equal(erase(info, (), ()), shape(ndim=1))


def test_entry_8() -> None:
    """Erasure leaves scalars alone by the letter, so a variable escapes its scope."""
    info = prim(value=N)
    letter = info
    assert free_shape_vars(letter) == (N,)
    left = erase(info, (), ())
    assert isinstance(left, PrimStructInfo) and left.value is None


def test_entry_9() -> None:
    """Erasure drops the device and the purity by the letter, though no variable is in them."""
    placed = tensor((N,), on="cuda")
    letter, least = tensor(ndim=1), tensor(ndim=1, on="cuda")
    assert below(placed, least) and below(least, letter) and not below(letter, least)
    assert structural_equal(erase(placed, (), ()), least)
    assert structural_equal(
        erase(func((), shape((N,)), pure=False), (), ()), func((), shape(ndim=1), pure=False)
    )


def test_entry_10() -> None:
    """A captured variable in a parameter, once it is out of scope, reads like one that a call binds."""
    captured = func((tensor((N,)),), obj())
    letter = func((tensor((N,)),), obj(), N)
    assert refused(captured, func((tensor((5,)),), obj())) == "possible"
    assert below(letter, func((tensor((5,)),), obj()))
    assert structural_equal(erase(captured, (), ()), obj())
    assert erase(letter, (), ()) is letter


def test_entry_11() -> None:
    """A variable in a shape is mapped to itself by the letter, so nothing is learnt from the argument."""
    binding = bind((shape((N,)),), (shape((7,)),), (N,), prover())
    letter: dict[tir.Var, tir.PrimExpr] = {N: N}
    ret = tensor((N,))
    assert free_shape_vars(substitute(ret, letter)) == (N,)
    assert structural_equal(substitute(ret, binding.mapping), tensor((7,)))


def test_entry_12() -> None:
    """Two images of one variable: a union of mappings would pick one and accept."""
    params = (tensor((N,)), tensor((N,)))
    impossible = bind(params, (tensor((16,)), tensor((32,))), (N,), prover())
    assert [c.impossible for c in impossible.conflicts] == [True]
    a, b = var("a"), var("b")
    doubtful = bind(params, (tensor((a,)), tensor((b,))), (N,), prover())
    assert [c.impossible for c in doubtful.conflicts] == [False]
    agreeing = bind(params, (tensor((add(a, a),)), tensor((mul(2, a),))), (N,), prover())
    assert agreeing.conflicts == ()
    f = func(params, obj(), N)
    given = func((tensor((16,)), tensor((32,))), obj())
    assert refused(f, given) == "incompatible"


def test_entry_13() -> None:
    """A parameter's own variable belongs to the parameter; bound from outside it loses generality."""
    a = var("a")
    generic = func((tensor((a,)),), tensor((a,)), a)
    signature = func((generic,), obj())
    fives = func((tensor((5,)),), tensor((5,)))
    assert bind((generic,), (fives,), (a,), prover()).mapping == {}
    letter = func((substitute(func(generic.params or (), generic.ret), {a: imm(5)}),), obj())
    assert below(letter, func((fives,), obj())) and not below(signature, func((fives,), obj()))


def test_entry_14() -> None:
    """The value of a scalar binds: without that ``n`` of this signature is never known."""
    signature = func((prim(value=N),), tensor((N,)), N)
    instance = instantiate(signature, (prim(value=8),), prover())
    assert structural_equal(instance.ret, tensor((8,)))
    assert member(Prim("int64", 2), signature.params[0], {N: 2})  # type: ignore[index]
    letter = signature.ret
    assert free_shape_vars(letter) == (N,) and free_shape_vars(instance.ret) == ()


def test_entry_15() -> None:
    """An argument below the parameter is right; by the letter it is an error, and a wider one is not."""
    argument, parameter = tensor((N,)), tensor()
    assert below(argument, parameter) and not below(parameter, argument)
    assert refused(argument, parameter) == "compatible"
    assert refused(parameter, argument) == "possible"


def test_entry_16() -> None:
    """Subtyping has a "possibly" for two shapes only: a rank that is not known would be an error."""
    assert subtype(tensor(), tensor(ndim=2), prover()).status == "refuted"
    assert refused(tensor(), tensor(ndim=2)) == "possible"
    assert refused(tensor(of="void"), tensor()) == "possible"


def test_entry_18() -> None:
    """The value goes where the annotation is: the other way round widening is refused."""
    annotation, value = tensor(ndim=1), tensor((N,))
    assert refused(value, annotation) == "compatible"
    assert refused(annotation, value) == "possible"


def test_entry_20() -> None:
    """Neither is below the other, and yet the cast can succeed: a common value exists."""
    a, b = tensor((N,), "void"), tensor(ndim=1, on="cuda")
    assert not below(a, b) and not below(b, a)
    common = Tensor((2,), "float32", "cuda")
    assert member(common, a, AT) and member(common, b, AT)
    assert not meet_is_empty(a, b, prover())
    assert meet_is_empty(tensor((N, 3)), tensor((N, 4)), prover())


def test_entry_21() -> None:
    """A shape of unknown rank may have the rank expected; by the letter it is an error."""
    assert member(Shape((2,)), shape(), AT) and member(Shape((2,)), shape(ndim=1), AT)
    assert refused(shape(), shape(ndim=1)) == "possible"


def test_entry_22() -> None:
    """A tensor of unknown rank may have another one than expected; by the letter it is compatible."""
    assert member(Tensor((2, 3)), tensor(), AT) and not member(Tensor((2, 3)), tensor(ndim=1), AT)
    assert refused(tensor(), tensor(ndim=1)) == "possible"


def test_entry_23() -> None:
    """A tensor of unknown device may be on the device expected; the letter says both."""
    assert refused(tensor((N,)), tensor((N,), on="cuda")) == "possible"
    assert refused(tensor((N,), on="llvm"), tensor((N,), on="cuda")) == "incompatible"
    assert refused(tensor((N,), on="llvm"), tensor((N,))) == "compatible"


def test_entry_24() -> None:
    """Types of possibly compatible annotations need not be subtypes."""
    a, b = tensor(), tensor(ndim=1)
    assert refused(a, b) == "possible"
    assert not below(to_type(a), to_type(b))


def test_entry_25() -> None:
    """Purity of opaque functions is ignored by the letter: an impure one passes for pure."""
    assert refused(packed(pure=False), packed(pure=True)) == "incompatible"
    assert refused(packed(pure=True), packed(pure=False)) == "compatible"


def test_entry_26() -> None:
    """``n`` of the expected type is not the ``n`` that the given one mentions."""
    captured = func((tensor((N,)),), obj())
    expected = func((tensor((N,)),), obj(), N)
    letter_params = compatibility(tensor((N,)), tensor((N,)), prover())
    assert letter_params.kind == "compatible"
    only_two = Closure("twos", 1, True, lambda x: x if x.shape == (2,) else None)
    assert member(only_two, captured, AT) and not member(only_two, expected, AT)
    assert refused(captured, expected) == "possible"


def test_entry_27() -> None:
    """A tensor of rank 0 has the empty shape, said or not; by the letter one is not below the other."""
    counted, said = tensor(ndim=0), tensor(())
    for value in (Tensor(()), Tensor((1,)), Text("x")):
        assert member(value, counted, AT) == member(value, said, AT)
    assert below(counted, said) and below(said, counted)
    assert refused(counted, said) == "compatible"
    assert below(shape(ndim=0), shape(()))
    met = glb(counted, said, prover())
    assert met is not None and below(met, said)


def test_entry_40() -> None:
    """An opaque function that only says its result is more than one that says nothing."""
    said = packed(None, tensor())
    assert below(said, packed("empty")) and not below(packed("empty"), said)
    assert refused(packed(None, shape()), said) == "incompatible"


def test_entry_50() -> None:
    """Without purity in types, an impure function's type is below that of a pure one."""
    pure, impure = func((), obj()), func((), obj(), pure=False)
    letter_pure, letter_impure = func((), obj()), func((), obj())
    assert below(letter_impure, letter_pure)
    assert below(to_type(pure), to_type(impure)) and not below(to_type(impure), to_type(pure))
    kinds = to_type(packed(pure=True)), to_type(packed(pure=False))
    assert all(isinstance(k, FuncStructInfo) for k in kinds) and not below(kinds[1], kinds[0])


def test_entry_99() -> None:
    """By the letter of compatibility a subtype is not certainly accepted."""
    typed, weakest = packed(derive="default"), packed(derive="empty")
    assert below(typed, weakest) and refused(typed, weakest) == "compatible"
    assert not below(weakest, typed) and refused(weakest, typed) == "possible"
