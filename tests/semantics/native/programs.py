"""PrimFuncs of the tests, from text."""

from textwrap import indent

from rlx.grammar.nodes import tir
from rlx.grammar.read.parser import parse


def prim_func(text: str) -> tir.PrimFunc:
    """The function that a text defines."""
    module = f"@I.ir_module\nclass Module:\n{indent(text.strip(), '    ')}\n"
    result = parse(module)
    errors = [d.message for d in result.diagnostics if d.is_error]
    assert not errors, errors
    [func] = [f for f in result.modules[0].functions.values() if isinstance(f, tir.PrimFunc)]
    return func


def of_body(parameters: str, body: str) -> tir.PrimFunc:
    """A function of parameters and statements."""
    return prim_func(f"@T.prim_func\ndef f({parameters}):\n{indent(body.strip(), '    ')}")
