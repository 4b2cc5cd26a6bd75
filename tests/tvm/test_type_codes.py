"""The code of an element type, as `R.inspect.tensor_dtype_code` gives it, is the one of TVM."""

from __future__ import annotations

import pytest
import tvm

from rlx.grammar.nodes.dtype import SCALAR_NAMES, dtype, numpy_type
from rlx.operators.memory import TYPE_CODES, type_code

NAMES = [name for name in SCALAR_NAMES if numpy_type(dtype(name)) is not None]


@pytest.mark.parametrize("name", TYPE_CODES)
def test_the_code_of_a_type_is_the_one_of_tvm(name: str) -> None:
    assert TYPE_CODES[name] == tvm.DataType(name).type_code


@pytest.mark.parametrize("name", NAMES)
def test_every_type_of_arrays_has_a_code(name: str) -> None:
    import numpy as np

    assert type_code(np.zeros(1, numpy_type(dtype(name)))) == tvm.DataType(name).type_code


@pytest.mark.parametrize("code", ["int", "uint", "float", "bfloat"])
def test_every_number_of_bits_means_what_tvm_takes_it_for(code: str) -> None:
    """None and 0 stand for the usual number."""
    for bits in ("", 0, 1, 3, 8, 16, 32, 64, 128):
        text = f"{code}{bits}"
        cast = tvm.tirx.Cast(text, tvm.tirx.Var("x", "int32"))
        assert str(dtype(text)) == str(cast.ty), text
