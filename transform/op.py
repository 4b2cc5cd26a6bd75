"""``rlx.op``: a function for each operator, ``rlx.op.add(x, y)``, ``rlx.op.nn.relu(x)``.

Each function returns an expression, which :meth:`rlx.BlockBuilder.emit` binds and checks. Python
numbers, lists and tuples are converted: ``rlx.op.reshape(x, (n, 4))``. `op.pyi` has the signatures
for editors and type checkers; ``make operators`` generates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.ast import Call, ShapeExpr
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.overloaded import prim
from rlx.grammar.nodes.python_places import MisuseError, described, here
from rlx.transform.builder.given import Dimension
from rlx.transform.builder.operators import member, members


def call_packed(
    func: Any, *args: Any, sinfo_args: Any = (), ty_args: Any = (), **attrs: Any
) -> Call:
    """A call of a packed function that may have effects: ``R.call_packed``.

    Parameters
    ----------
    func
        Its name, or an expression for it.
    sinfo_args
        The struct info of the result; any value if there is none. `ty_args` is TVM's name for it.
    """
    sinfo_args = sinfo_args or ty_args
    made: Call = member("", "call_pure_packed")(func, *args, sinfo_args=sinfo_args)  # type: ignore[assignment]
    callee, *rest = made.args
    infos = made.sinfo_args if sinfo_args else ()
    return replace(made, op=callee, args=tuple(rest), sinfo_args=infos, attrs=attrs)


def linear(data: Any, weight: Any, bias: Any = None, out_dtype: Any = None) -> Call:
    """``data @ permute_dims(weight) + bias``: ``R.linear``."""
    turned = member("", "permute_dims")(weight)  # type: ignore[operator]
    kind = {} if out_dtype is None else {"out_dtype": out_dtype}
    product: Call = member("", "matmul")(data, turned, **kind)  # type: ignore[operator,assignment]
    return product if bias is None else member("", "add")(product, bias)  # type: ignore[operator,return-value]


def shape(values: Sequence[Dimension]) -> ShapeExpr:
    """A shape as a value: ``R.shape``. A function with a shape among its parameters also takes a
    tuple of dimensions.
    """
    if not isinstance(values, list | tuple):
        raise MisuseError(f"expected dimensions in a list, found {described(values)}", here())
    return ShapeExpr(tuple([prim(each) for each in values]))


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("__"):
        raise AttributeError(name)
    found = globals()[name] = member("", name)
    return found


def __dir__() -> list[str]:
    return sorted([*members(""), "call_packed", "linear", "shape"])
