"""The elements of a tensor as cells of small tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from rlx.semantics.run.value_text import number
from rlx.semantics.store import Blank
from rlx.semantics.values import Tensor, Value

ROWS, COLUMNS, SLICES = 8, 8, 4
"""The maximum numbers of shown rows, columns, and tables of a tensor of rank 3 or more."""


UNWRITTEN = "·"
"""The mark of an unwritten element."""


def cells(value: Value, blank: Blank | None = None) -> dict[str, object] | None:
    """The elements of a tensor, as text.

    Parameters
    ----------
    blank
        The unwritten elements, if any.

    Returns
    -------
    dict or None
        ``rank``; ``slices``, each a label (``"[0, :, :]"``) and rows of texts; ``left``: the
        numbers of omitted rows, columns and slices. None for tensors of at most one element, and
        for other values.
    """
    if not isinstance(value, Tensor) or value.data.size == 0 or value.data.ndim == 0:
        return None
    array = np.atleast_2d(value.data)
    *outer, rows, columns = array.shape
    written = _written(array, blank)
    shown = [
        [label, [_row(*lines) for lines in zip(part[:ROWS], known[:ROWS], strict=True)]]
        for (label, part), (_, known) in islice(
            zip(_slices(array), _slices(written), strict=True), SLICES
        )
    ]
    left = [max(0, rows - ROWS), max(0, columns - COLUMNS), max(0, prod(outer) - SLICES)]
    return {"rank": value.data.ndim, "slices": shown, "left": left}


def _row(line: Any, written: Any) -> list[str]:
    pairs = zip(line[:COLUMNS], written[:COLUMNS], strict=True)
    return [number(element) if known else UNWRITTEN for element, known in pairs]


def _written(array: Any, blank: Blank | None) -> Any:
    """For each element whether it was written."""
    if blank is None:
        return np.ones(array.shape, np.bool_)
    if blank.written is None:
        return np.zeros(array.shape, np.bool_)
    return np.asarray(blank.written, np.bool_).reshape(array.shape)


def _slices(array: Any) -> Iterator[tuple[str, Any]]:
    """The matrices of the last two axes, with where they are."""
    outer = array.shape[:-2]
    for index in product(*map(range, outer)):
        label = f"[{', '.join([*map(str, index), ':', ':'])}]" if outer else ""
        yield label, array[index]
