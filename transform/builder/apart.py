"""Values of a function that is rebuilt, checked without what is around them.

As long as a function stays as it is, its old bindings are not checked again. A new value that calls
a plain operator on tensors need not change this: their annotations say all that its rule asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, BindingBlock, DataflowVar, Expr, StructInfo, Var
from rlx.transform.builder import states
from rlx.transform.builder.known_calls import (
    ATOMS,
    Key,
    KnownCall,
    KnownCalls,
    SharedInfos,
    call_key,
    is_ordinary,
    is_plain,
    says_shapes,
)
from rlx.transform.builder.numbers import settled


class AnnotatedScope:
    """The struct info that annotations give the variables in scope of a function.

    Facts about dimensions are left out: a rule that finds nothing wrong without them finds nothing
    wrong with them.
    """

    def __init__(
        self,
        signatures: states.Signatures,
        head: ast.Function,
        values: Mapping[Var, Expr],
        infos: SharedInfos,
    ) -> None:
        self._state = states.derivation(signatures, values)
        self._state.bind_shape_vars(head.shape_vars)
        self._infos, self._known = infos, KnownCalls()
        self._scope: dict[Var, object] = {}
        self.enter(head.params, None)

    def enter(self, variables: Iterable[Var], block: object) -> None:
        """Variables are in scope; those that are local to their dataflow block in this one."""
        for var in variables:
            info = var.struct_info_annotation
            if info is not None and _says_all(info):
                self._scope[var] = block if type(var) is DataflowVar else None
                self._state.info_of[var] = self._infos.shared(info)

    def settled(self, value: Expr) -> Expr:
        """A call in which numbers beside tensors are constants."""
        known = self._state.info_of
        if type(value) is not ast.Call or not all(
            type(arg) in (ast.PrimValue, ast.Constant) or arg in known for arg in value.args
        ):
            return value
        return settled(value, self._state)

    def info(self, value: Expr, block: object) -> StructInfo | None:
        """The struct info of a call of a plain operator; None if more must be asked, or it may
        break a rule.
        """
        if type(value) is not ast.Call or type(value.op) is not ast.Op:
            return None
        if not is_plain(value.op.op_name) or not all(map(_is_atom, value.args)):
            return None
        key = call_key(value, self._state, self._infos, self._scope, block)  # type: ignore[arg-type]
        if key is None:
            return None
        known = self._known.get(key)
        return self._derived(key, value) if known is None else known.info

    def _derived(self, key: Key, value: ast.Call) -> StructInfo | None:
        state = self._state
        found = self._infos.shared(state.info(value))
        if state.diagnostics or state.doubts or state.unknown_operators:
            state.diagnostics.clear()
            state.unknown_operators.clear()
            state.doubts.undo()
            del state.info_of[value]
            return None
        state.doubts.keep()
        self._known[key] = KnownCall(found, None)
        return found


def _is_atom(arg: Expr) -> bool:
    """Whether an argument mentions nothing but variables of Relax and literals."""
    if type(arg) is ast.Tuple:
        return all(map(_is_atom, arg.fields))
    return type(arg) in ATOMS


def _says_all(info: StructInfo) -> bool:
    """Whether an annotation gives element types and dimensions, and nothing else is to be known."""
    if type(info) is ast.TupleStructInfo:
        return all(map(_says_all, info.fields))
    return says_shapes(info) and not info.vdevice and not info.distribution  # type: ignore[attr-defined]


def is_kept_apart(old: Sequence[BindingBlock], new: Sequence[BindingBlock]) -> bool:
    """Whether blocks bind all that the old ones did, in the same order, so that every use of it
    still finds it; and nothing in them is remembered beside struct infos, such as what is written to.
    """
    if len(old) != len(new):
        return False
    for before, after in zip(old, new, strict=True):
        wanted = [binding.var for binding in before.bindings]
        known = {*wanted}
        found = [binding.var for binding in after.bindings if binding.var in known]
        if type(before) is not type(after) or found != wanted:
            return False
    return not any(_is_remembered(binding) for block in new for binding in block.bindings)


def _is_remembered(binding: Binding) -> bool:
    value = binding.value
    if type(value) is not ast.Call or type(value.op) is not ast.Op:
        return False
    return not is_ordinary(value.op.op_name)
