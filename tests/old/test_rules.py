"""The types of 2022: their order, their bounds, their texts; `tests/spec/test_examples.py` runs the programs beside the rules."""

from __future__ import annotations

from rlx.grammar.nodes.dtype import dtype
from rlx.old.order import find_glb, find_lub, is_subtype
from rlx.old.types import OBJECT, SHAPE, DynTensorType, FuncType, TupleType, Type
from rlx.spec import registry, rules


def test_every_rule_of_the_room_stands_in_its_chapters() -> None:
    registry.register_all()
    own = {
        name
        for name, found in registry.implementations.items()
        if any(each.function.__module__.startswith("rlx.old") for each in found)
    }
    assert own == {name for name, rule in rules().items() if rule.file.startswith("old/")}
    assert len(own) > 60


F32, I32 = dtype("float32"), dtype("int32")
T2, T1, ANY = DynTensorType(2, F32), DynTensorType(1, F32), DynTensorType()


def func(*taken: Type, ret: Type = OBJECT, pure: bool = True) -> FuncType:
    return FuncType(taken, ret, pure)


SAMPLE: list[Type] = [
    *(OBJECT, SHAPE, ANY, T1, T2, DynTensorType(-1, F32), DynTensorType(2), DynTensorType(2, I32)),
    *(TupleType(()), TupleType((T1,)), TupleType((ANY,)), TupleType((T1, SHAPE))),
    *(func(), func(T1), func(ANY), func(ANY, ret=T1), func(ANY, ret=T2, pure=False), func(T1, T2)),
    *(func(OBJECT, ret=T1, pure=False), func(TupleType((T1,)), ret=TupleType((ANY,)))),
]


def test_subtyping_is_an_order() -> None:
    for a in SAMPLE:
        assert is_subtype(a, a) and is_subtype(a, OBJECT)
        for b in SAMPLE:
            assert not (is_subtype(a, b) and is_subtype(b, a)) or a == b
            for c in SAMPLE:
                assert not (is_subtype(a, b) and is_subtype(b, c)) or is_subtype(a, c)


def test_bounds_are_the_nearest_ones() -> None:
    for a in SAMPLE:
        for b in SAMPLE:
            above, below = find_lub(a, b), find_glb(a, b)
            assert is_subtype(a, above) and is_subtype(b, above)
            assert above == find_lub(b, a) and below == find_glb(b, a)
            assert all(
                is_subtype(above, c) for c in SAMPLE if is_subtype(a, c) and is_subtype(b, c)
            ), (a, b)
            lower = [c for c in SAMPLE if is_subtype(c, a) and is_subtype(c, b)]
            if below is None:
                assert not lower, (a, b)
            else:
                assert is_subtype(below, a) and is_subtype(below, b)
                assert all(is_subtype(c, below) for c in lower)


def test_types_as_texts() -> None:
    assert str(T2) == 'Tensor(ndim=2, dtype="float32")' and str(ANY) == "Tensor"
    assert (
        str(func(T1, SHAPE)) == 'Callable((Tensor(ndim=1, dtype="float32"), Shape), Object, pure)'
    )
    assert str(TupleType((OBJECT, TupleType(())))) == "Tuple(Object, Tuple())"
    assert str(func(pure=False)) == "Callable((), Object)"
