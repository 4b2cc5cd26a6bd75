"""Types of functions that lowered programs keep as text, and the check against them.

A lowered program has no shape variables, so that annotations no longer say what a function takes.
"""

from __future__ import annotations

from functools import lru_cache

from rlx.grammar import ast
from rlx.grammar.parser import parse
from rlx.grammar.struct_infos import OBJECT
from rlx.semantics.cast import CastFailed, check
from rlx.semantics.faults import CheckStop
from rlx.semantics.values import NULL, UNIT, ShapeValue, StringValue, Value
from rlx.spec.registry import rule

SIGNATURE = "relax.run.signature"
"""The attribute of a function that holds what it took and gave before it was lowered."""


@lru_cache(maxsize=1024)
def head_of(text: str) -> ast.Function:
    """The function without a body that a text holds.

    Raises
    ------
    ValueError
        If it holds anything else.
    """
    parsed = parse(text, "<type of a function>")
    found = [f for module in parsed.modules for f in module.functions.values()]
    heads = [function for function in found if isinstance(function, ast.Function)]
    if any(d.severity == "error" for d in parsed.diagnostics) or len(found) != 1 or not heads:
        raise ValueError(text)
    return heads[0]


def known_of(head: ast.Function) -> ast.FuncStructInfo:
    """What is known of a function when it runs: what it takes and gives, and its purity."""
    params = tuple(param.struct_info_annotation or OBJECT for param in head.params)
    pure = head.is_pure is not False
    return ast.FuncStructInfo(
        params, head.ret_struct_info or OBJECT, pure, binders=tuple(head.shape_vars)
    )


def declared(function: ast.Function) -> ast.FuncStructInfo:
    """What is known of a function; of a lowered one, what its attribute keeps."""
    kept = function.attrs.get(SIGNATURE)
    if isinstance(kept, str):
        try:
            return known_of(head_of(kept))
        except ValueError:  # anyone may write an attribute
            pass
    return known_of(function)


@rule("E-builtin-function", "23a5686f", "step")
def check_function(value: Value, text: StringValue, sizes: ShapeValue, _: Value = NULL) -> Value:
    """Check a function against a type: the second parameter of a function without a body, whose
    first has the shape variables of that type.
    """
    if not isinstance(text, StringValue) or not isinstance(sizes, ShapeValue):
        raise TypeError
    infos = [param.struct_info_annotation or OBJECT for param in head_of(text.value).params]
    try:
        check([sizes, value], infos, {})
    except CastFailed as failed:
        words = f"expected {failed.expected}, found {failed.found}"
        raise CheckStop(failed.code, words, value=value) from None
    return UNIT
