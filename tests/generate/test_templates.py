"""Patterns of calls: every one is read, and legal for some choice; every operator has a template."""

from __future__ import annotations

from itertools import islice, product

import pytest

from rlx.generate.calls.pattern import GROUPS, TensorSlot, TupleSlot, parse
from rlx.generate.calls.template import lines
from rlx.generate.programs.operators import family, of_templates
from rlx.operators.registry import Operator, families, lookup

NAMES = [name for names in families().values() for name in names]


def declared(name: str) -> Operator:
    """An operator by its short name."""
    found = lookup(f"relax.{name}")
    assert found is not None
    return found


@pytest.mark.parametrize("name", [n for n in NAMES if lines(declared(n))])
def test_every_pattern_is_legal_somehow(name: str) -> None:
    found = family(name)
    assert len(found.patterns) == len(lines(found.operator))
    for number, pattern in enumerate(found.patterns):
        choices = islice(product(*(range(n) for n in pattern.choices)), 300)
        chosen = (found.choose(number, c) for c in choices)
        assert number == 0 or any(template is not found.first for template in chosen), number


@pytest.mark.parametrize("name", [n for n in NAMES if of_templates(n)])
def test_every_operator_has_a_template(name: str) -> None:
    template = family(name).first
    assert template.operator.op_name == f"relax.{name}"


def test_other_operators_declare_their_result() -> None:
    """Steps make the calls that no template makes: operators that take a function or the types of their results."""
    for name in NAMES:
        operator = lookup(f"relax.{name}")
        assert operator is not None
        if not of_templates(name):
            assert any(p.kind == "types" or p.name == "func" for p in operator.parameters)


def test_a_pattern_is_read() -> None:
    pattern = parse("f(a, 4 * a), [i(2), bool()], axis=None | 0 | [1, 2], keepdims=True")
    tensor, pair = (slots[0] for slots in pattern.args)
    assert isinstance(tensor, TensorSlot)
    assert isinstance(pair, TupleSlot)
    assert len(tensor.dims) == 2
    assert len(pair.fields) == 2
    assert pattern.groups == ("f", "i")
    assert pattern.choices == (len(GROUPS["f"]), len(GROUPS["i"]), 3)


def test_choices_that_are_not_legal_give_the_plainest_call() -> None:
    found = family("nn.softmax")
    axes = found.patterns[0]
    assert all(found.choose(0, choices) for choices in product(*(range(n) for n in axes.choices)))
    one_axis = found.choose(0, (0, 1, 2))
    assert one_axis is not found.first


@pytest.mark.parametrize("text", ["f(a ** b)", "f(a or b)"])
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        parse(text)
