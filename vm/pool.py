"""The constants and the applied operators that the functions of one executable share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.values import Tensor, Value
from rlx.transform.lowering.passes import PassError
from rlx.transform.lowering.signatures import printed
from rlx.vm.builder import ExecBuilder
from rlx.vm.instructions import Argument


class Pool:
    """A pool of distinct constants and applied operators.

    Attributes
    ----------
    module
        The module that the executable is made from.
    builder
        The builder of the executable, which stores them.
    """

    def __init__(self, module: IRModule, builder: ExecBuilder) -> None:
        self.module, self.builder = module, builder
        self._operators: dict[str, str] = {}
        self._constants: dict[object, Argument] = {}

    def constant(self, key: object, make: Callable[[], Value]) -> Argument:
        """A constant of the pool; values with the same key share one entry."""
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.builder.c(make())
        return found

    def operator(self, op: str, function: ast.Function) -> str:
        """The name of a function that applies an operator; equal ones share it."""
        gv = ast.GlobalVar("apply")
        text = printed({gv: function}, self.module)
        name = self._operators.get(text)
        if name is None:
            name = self._operators[text] = f"{op}:{len(self._operators)}"
            self.builder.add_operator(name, text)
        return name


def constant_tensor(data: ast.Literal) -> Tensor:
    """The tensor of a constant.

    Raises
    ------
    PassError
        If the text omits its elements, or NumPy does not support the element type.
    """
    try:
        kind = numpy_type(data.dtype)
    except UnsupportedStop as stop:
        raise PassError(f"a constant: {stop.message}") from None
    if data.value is not None:
        return Tensor(np.array(data.value, dtype=kind).reshape(data.shape or ()))
    if data.content is not None:
        return Tensor(np.frombuffer(bytearray(data.content), kind).reshape(data.shape or ()))
    raise PassError("the text omits the data of a constant")
