"""The code of an element type, as `R.inspect.tensor_dtype_code` gives it, is the one of TVM."""

from __future__ import annotations

import pytest
import tvm

from rlx.grammar.dtype import SCALAR_NAMES, dtype
from rlx.operators.element_types import numpy_type
from rlx.operators.evaluate.memory import _CODES, _code

NAMES = [name for name in SCALAR_NAMES if numpy_type(dtype(name)) is not None]


@pytest.mark.parametrize("name", _CODES)
def test_the_code_of_a_type_is_the_one_of_tvm(name: str) -> None:
    assert _CODES[name] == tvm.DataType(name).type_code


@pytest.mark.parametrize("name", NAMES)
def test_every_type_of_arrays_has_a_code(name: str) -> None:
    import numpy as np

    assert _code(np.zeros(1, numpy_type(dtype(name)))) == tvm.DataType(name).type_code
