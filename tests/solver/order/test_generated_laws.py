"""The laws of the order over annotations that nobody chose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes.ast import StructInfo
from rlx.solver.order import compatibility, glb, lub, subtype, to_type
from tests.solver.order.build import prover
from tests.solver.order.strategies import EXAMPLES, copied, flat, struct_infos, wider


def below(a: StructInfo, b: StructInfo) -> bool:
    """Whether ``a <: b`` is proved."""
    return subtype(a, b, prover()).status == "proved"


def same(a: StructInfo, b: StructInfo) -> bool:
    """Whether two annotations are equal up to proved equality."""
    return below(a, b) and below(b, a)


@given(struct_infos())
@EXAMPLES
def test_reflexive(info: StructInfo) -> None:
    again = copied(info)
    assert same(info, again)
    assert same(lub(info, again, prover()), info)
    met = glb(info, again, prover())
    assert met is not None and same(met, info)


@given(flat(), flat(), flat())
@EXAMPLES
def test_transitive(a: StructInfo, b: StructInfo, c: StructInfo) -> None:
    """Over bounds, so that the premises hold: they lie above what they bound."""
    p = prover()
    upper = lub(a, b, p)
    top = lub(upper, c, p)
    assert below(a, upper) and below(upper, top) and below(a, top) and below(c, top)
    assert same(top, lub(a, lub(b, c, p), p))


@given(struct_infos(), struct_infos())
@EXAMPLES
def test_commutative(a: StructInfo, b: StructInfo) -> None:
    p = prover()
    assert same(lub(a, b, p), lub(b, a, p))
    one, other = glb(a, b, p), glb(b, a, p)
    assert (one is None) == (other is None)
    assert one is None or other is None or same(one, other)


@given(st.data())
@EXAMPLES
def test_lower_bounds(data: st.DataObject) -> None:
    """Of two annotations above one that is no function a lower bound exists, and lies above that one."""
    low = data.draw(flat())
    a, b = data.draw(wider(low)), data.draw(wider(low))
    met = glb(a, b, prover())
    assert met is not None
    assert below(low, met) and below(met, a) and below(met, b)
    assert same(lub(a, met, prover()), a)


@given(struct_infos(), struct_infos())
@EXAMPLES
def test_compatible_exactly_where_subtype(a: StructInfo, b: StructInfo) -> None:
    found = compatibility(a, b, prover())
    assert (found.kind == "compatible") == below(a, b)
    if found.kind == "compatible":
        assert below(to_type(a), to_type(b))
    else:
        assert found.message
