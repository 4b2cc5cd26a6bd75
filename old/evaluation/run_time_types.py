"""The types of values at run time, which `cast` asks."""

from __future__ import annotations

from rlx.grammar.nodes.dtype import dtype
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation.scopes import OlderClosure
from rlx.old.functions import signature
from rlx.old.types import OBJECT, SHAPE, DynTensorType, FuncType, TupleType, Type
from rlx.semantics.values import Closure, ShapeValue, Tensor, TupleValue, Value


def type_of_value(value: Value, known: OlderDerivation) -> Type:
    """The most specific type of a value; of a closure that of its function."""
    match value:
        case Tensor(data=data):
            return DynTensorType(data.ndim, dtype(value.dtype))
        case ShapeValue():
            return SHAPE
        case TupleValue(fields=fields):
            return TupleType(tuple(type_of_value(field, known) for field in fields))
        case Closure(code=OlderClosure() as code):
            found = known.types.get(code.function)
            return found if isinstance(found, FuncType) else signature(code.function)
    return OBJECT
