"""Patterns match the values of a program where TVM's match them, through variables and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("tvm")

import tvm
from tvm.relax import analysis, dpl

import rlx
from rlx import transform
from rlx.transform import annotated, get_var2val

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((32, 32), "float32"), y: R.Tensor((32, 32), "float32"), w: R.Tensor((32, 32), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, y)
            c = R.nn.relu(b)
            d = R.matmul(x, y)
            e = R.nn.relu(d)
            f = R.add(c, e)
            t = (f, c)
            g = t[0]
            h = R.multiply(g, R.const(2.0, "float32"))
            s = R.sum(h, axis=[1], keepdims=True)
            k = R.reshape(s, R.shape([4, 8]))
            q = R.call_dps_packed("ext", (k,), out_ty=R.Tensor((4, 8), "float32"))
            p = R.call_pure_packed("pk", q, ty_args=R.Tensor((4, 8), "float32"))
            u = R.split(p, 2, axis=1)
            l = u[0]
            r = u[1]
            v = R.concat((l, r), axis=1)
            z = R.astype(v, "float16")
            R.output(z)
        return z
"""
Make = Callable[[Any], Any]


def same(api: Any) -> Any:
    operand = api.wildcard()
    return api.is_op("relax.add")(operand, operand)


def halves(api: Any) -> Any:
    whole = api.is_op("relax.split")(api.wildcard())
    left, right = api.is_tuple_get_item(whole, 0), api.is_tuple_get_item(whole, 1)
    return api.is_op("relax.concat")(api.is_tuple([left, right]))


def with_or_without_bias(api: Any) -> Any:
    product = api.is_op("relax.matmul")(api.wildcard(), api.wildcard())
    return api.is_op("relax.nn.relu")(product | api.is_op("relax.add")(product, api.wildcard()))


PATTERNS: dict[str, Make] = {
    "anything": lambda api: api.wildcard(),
    "an operator": lambda api: api.is_op("relax.add")(api.wildcard(), api.wildcard()),
    "all operands": lambda api: api.is_op("relax.matmul")(varg_default_wildcard=True),
    "one operand twice": same,
    "a chain": lambda api: api.is_op("relax.nn.relu")(
        api.is_op("relax.add")(
            api.is_op("relax.matmul")(api.wildcard(), api.wildcard()), api.wildcard()
        )
    ),
    "operands in the other order": lambda api: api.is_op("relax.add")(
        api.is_op("relax.nn.relu")(api.is_op("relax.matmul")(api.wildcard(), api.wildcard())),
        api.is_op("relax.nn.relu")(api.wildcard()),
    ),
    "parameters": lambda api: api.is_op("relax.matmul")(api.is_var("x"), api.is_var("w")),
    "a constant": lambda api: api.is_op("relax.multiply")(api.wildcard(), api.is_const()),
    "a shape": lambda api: api.is_op("relax.reshape")(api.wildcard(), api.is_shape([4, 8])),
    "another shape": lambda api: api.is_op("relax.reshape")(api.wildcard(), api.is_shape([8, 4])),
    "a tuple": lambda api: api.is_tuple([api.wildcard(), api.wildcard()]),
    "a tuple in any order": lambda api: api.is_tuple(
        [
            api.is_op("relax.nn.relu")(api.wildcard()),
            api.is_op("relax.add")(api.wildcard(), api.wildcard()),
        ],
        unordered=True,
    ),
    "a longer tuple": lambda api: api.is_tuple([api.wildcard()] * 3),
    "a field": lambda api: api.is_tuple_get_item(api.wildcard(), 0),
    "any field": lambda api: api.is_tuple_get_item(api.wildcard()),
    "a field of a tuple": lambda api: api.is_tuple_get_item(
        api.is_tuple([api.wildcard(), api.wildcard()]), 0
    ),
    "halves": halves,
    "one of two": lambda api: (
        api.is_op("relax.add")(api.wildcard(), api.wildcard())
        | api.is_op("relax.multiply")(api.wildcard(), api.wildcard())
    ),
    "both": lambda api: (
        api.wildcard().has_dtype("float32") & api.is_op("relax.nn.relu")(api.wildcard())
    ),
    "not": lambda api: ~api.is_op("relax.nn.relu")(api.wildcard()),
    "not an operand": lambda api: api.is_op("relax.nn.relu")(
        ~api.is_op("relax.add")(api.wildcard(), api.wildcard())
    ),
    "with or without a bias": with_or_without_bias,
    "a type": lambda api: api.wildcard().has_dtype("float32"),
    "another type": lambda api: api.wildcard().has_dtype("float16"),
    "dimensions": lambda api: api.wildcard().has_shape((32, 32)),
    "dimensions of an operand": lambda api: api.is_op("relax.nn.relu")(
        api.wildcard().has_shape((32, 32))
    ),
    "other dimensions": lambda api: api.wildcard().has_shape([4, 8]),
    "an attribute": lambda api: api.is_op("relax.sum")(api.wildcard()).has_attr({"axis": [1]}),
    "two attributes": lambda api: api.is_op("relax.sum")(api.wildcard()).has_attr(
        {"axis": [1], "keepdims": True}
    ),
    "another attribute": lambda api: api.is_op("relax.sum")(api.wildcard()).has_attr(
        {"keepdims": False}
    ),
    "an external function": lambda api: api.is_call_dps_packed("ext"),
    "its arguments": lambda api: api.is_call_dps_packed(
        "ext", [api.is_op("relax.reshape")(varg_default_wildcard=True)]
    ),
    "too many arguments": lambda api: api.is_call_dps_packed(
        "ext", [api.wildcard(), api.wildcard()]
    ),
    "a pure external function": lambda api: api.is_op("relax.call_pure_packed")(
        api.ExternFuncPattern("pk"), api.wildcard()
    ),
    "a copy": lambda api: api.is_op("relax.nn.relu")(api.wildcard()).dup(),
}


@pytest.mark.parametrize("make", PATTERNS.values(), ids=PATTERNS)
def test_a_pattern_matches_the_same_values(make: Make) -> None:
    ours, theirs = annotated(rlx.parse(TEXT))["main"], tvm.script.from_source(TEXT)["main"]
    values = get_var2val(ours), analysis.get_var2val(theirs)  # type: ignore[arg-type]
    mine, other = make(transform), make(dpl)
    pairs = {var.name_hint: value for var, value in values[0].items()}
    for var, value in values[1].items():
        own = pairs[var.name]
        assert bool(mine.match(own)) == bool(other.match(value)), var
        assert bool(mine.match(own, values[0])) == bool(other.match(value, values[1])), var
