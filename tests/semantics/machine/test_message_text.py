"""Short descriptions of values, however long the values are, and the values inside of others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.semantics.machine.builtin_words import misused
from rlx.semantics.machine.message_text import show
from rlx.semantics.run.value_text import FIELDS, WIDTH, block, line
from rlx.semantics.values import Scalar, StringValue, Tensor, TupleValue, Value, values_inside


@pytest.mark.parametrize("count", range(12))
def test_eight_fields_and_elements_are_shown(count: int) -> None:
    fields = ", ".join(f"{k} (int64)" for k in range(min(count, 8)))
    value = TupleValue(tuple(Scalar(k) for k in range(count)))
    assert show(value) == f"({fields}{', …' if count > 8 else ''})"
    content = f" = {list(range(count))}" if count <= 8 else ""
    assert show(Tensor(np.arange(count))) == f"tensor ({count},) int64{content}"
    assert show(Tensor(np.zeros((count, 2), "int8")), 0).startswith(f"tensor ({count}, 2) int8")


@pytest.mark.parametrize("depth", range(6))
def test_three_tuples_deep_is_shown(depth: int) -> None:
    value: Value = Scalar(1)
    for _ in range(depth):
        value = TupleValue((value,))
    shown = "(" * depth + "1 (int64)" + ")" * depth if depth <= 3 else "(" * 4 + "…" + ")" * 4
    assert show(value) == shown


@pytest.mark.parametrize("length", range(WIDTH - 5, WIDTH + 5))
def test_a_line_has_a_limited_width(length: int) -> None:
    whole = repr("x" * length)
    shown = whole if len(whole) <= WIDTH else whole[: WIDTH - 1] + "…"
    assert line(StringValue("x" * length)) == block(StringValue("x" * length)) == shown
    assert len(shown) <= WIDTH


@pytest.mark.parametrize("count", range(FIELDS + 3))
def test_a_line_has_a_limited_number_of_fields_and_elements(count: int) -> None:
    value = TupleValue(tuple(Scalar(k) for k in range(count)))
    shown = ", ".join(f"{k} int64" for k in range(min(count, FIELDS)))
    more = {1: ","}.get(count, ", …" if count > FIELDS else "")
    assert line(value) == f"({shown}{more})"
    for array in (np.arange(count), np.arange(2 * count)[::2] // 2):
        numbers = " ".join(map(str, range(min(count, FIELDS))))
        end = " …" if count > FIELDS else ""
        assert line(Tensor(array)) == f"int64({count}) [{numbers}{end}]"


TREES: st.SearchStrategy[Value] = st.recursive(
    st.builds(Scalar, st.integers(0, 3)),
    lambda inner: st.lists(inner, max_size=3).map(lambda fields: TupleValue(tuple(fields))),
    max_leaves=8,
)


@given(st.lists(TREES, min_size=1, max_size=3), st.lists(st.integers(0, 5), max_size=5))
def test_values_inside_are_in_order_and_tuples_count_once(
    made: list[Value], order: list[int]
) -> None:
    values = [made[at % len(made)] for at in order]
    seen: set[int] = set()
    wanted: list[Value] = []

    def visit(value: Value) -> None:
        if isinstance(value, TupleValue):
            if id(value) in seen:
                return
            seen.add(id(value))
        wanted.append(value)
        for field in value.fields if isinstance(value, TupleValue) else ():
            visit(field)

    for value in values:
        visit(value)
    assert [*map(id, values_inside(values))] == [*map(id, wanted)]


@pytest.mark.parametrize("count", [0, 1, 11, 12, 13, 14, 25, 40])
def test_twelve_arguments_are_shown(count: int) -> None:
    shown = ", ".join(f"{k} (int64)" for k in range(min(count, 12))) or "nothing"
    more = f" and {count - 12} more" if count > 12 else ""
    stop = misused("name", "two", [Scalar(k) for k in range(count)])
    assert stop.message == f"name takes two; found {shown}{more}"
