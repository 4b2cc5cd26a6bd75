"""The words of the script that an editor offers after `R.`, `T.` and `I.`, with their descriptions."""

from __future__ import annotations

from functools import cache

from rlx.grammar.nodes.node import Record
from rlx.grammar.streams import fenced

FORMS = {
    "R.Tensor": ("shape: dims, dtype: dtype, ndim: int = -1", "The type of tensors: dimensions, which may be shape variables and arithmetic over them, and an element type."),
    "R.Shape": ("values: dims, ndim: int = -1", "The type of shapes as values."),
    "R.Tuple": ("*fields: types", "The type of tuples with these fields."),
    "R.Prim": ("dtype: dtype, value: dim = None", "The type of scalars."),
    "R.Callable": ("params: types, ret: type, purity: bool = True", "The type of functions."),
    "R.Object": ("", "The type of every value."),
    "R.Any": ("", "The type of every value, as TVM 0.22 and later write it."),
    "R.function": ("pure: bool = True, private: bool = False", "The decorator of a function of Relax."),
    "R.dataflow": ("", "`with R.dataflow():` begins a block without branches and effects; only what `R.output` lists is seen behind it."),
    "R.output": ("*names: variables", "The variables of a dataflow block that are seen behind it."),
    "R.match_cast": ("value: expr, struct_info: type", "The value, checked at run time to have this type. New shape variables in the type are bound to what is found."),
    "R.func_attr": ("attrs: dict", "Attributes of the function."),
    "R.const": ("value: number, dtype: dtype", "A constant tensor of rank 0, or of the shape of nested lists."),
    "R.shape": ("values: dims", "A shape as a value."),
    "R.prim_value": ("value: dim", "A scalar as a value."),
    "R.str": ("value: str", "A string as a value."),
    "R.dtype": ("value: str", "An element type as a value."),
    "R.tuple": ("*fields: expr", "A tuple."),
    "R.call_packed": ("func: str, *args: expr, sinfo_args: types", "A call of a function outside of the program, which may have effects."),
    "I.ir_module": ("", "The decorator of a module."),
    "I.module_attrs": ("attrs: dict", "Attributes of the module."),
    "I.module_global_infos": ("infos: dict", "The devices that the module names."),
    "T.prim_func": ("private: bool = False, s_tir: bool = False", "The decorator of a PrimFunc: loops over buffers."),
    "T.Buffer": ("shape: dims, dtype: dtype", "The type of a parameter that is a buffer."),
    "T.handle": ("", "The type of a parameter that `T.match_buffer` makes a buffer."),
    "T.match_buffer": ("param: handle, shape: dims, dtype: dtype", "A parameter as a buffer; new shape variables are bound to its dimensions."),
    "T.alloc_buffer": ("shape: dims, dtype: dtype", "A new buffer of the PrimFunc."),
    "T.grid": ("*extents: dims", "Nested loops, one for each extent."),
    "T.serial": ("extent: dim", "A loop."),
    "T.parallel": ("extent: dim", "A loop whose iterations may run at the same time."),
    "T.vectorized": ("extent: dim", "A loop whose iterations become one vector operation."),
    "T.unroll": ("extent: dim", "A loop that is written out."),
    "T.thread_binding": ("extent: dim, thread: str", "A loop whose iterations are threads."),
    "T.block": ("name: str", "A block: a statement with iterators of its own."),
    "T.sblock": ("name: str", "A block, as TVM 0.22 and later write it."),
    "T.axis.spatial": ("extent: dim, value: dim", "An iterator of a block, each value of which writes other elements."),
    "T.axis.reduce": ("extent: dim, value: dim", "An iterator of a block over which it reduces."),
    "T.axis.remap": ("kinds: str, values: dims", "Iterators of a block that are the loops' variables: `S` spatial, `R` reduce."),
    "T.reads": ("*regions: regions", "What a block reads."),
    "T.writes": ("*regions: regions", "What a block writes."),
    "T.init": ("", "What a block does at the first step of its reduction."),
    "T.if_then_else": ("cond: expr, then: expr, otherwise: expr", "One of two values; the other is not computed."),
    "T.Select": ("cond: expr, then: expr, otherwise: expr", "One of two values; both may be computed."),
    "T.cast": ("value: expr, dtype: dtype", "A value in another type."),
    "T.int64": ("value: int = None", "Without a value: a new variable of 64 bits, as shape variables are."),
    "T.func_attr": ("attrs: dict", "Attributes of the PrimFunc."),
    "T.evaluate": ("value: expr", "A value that is computed for its effect."),
}  # fmt: skip
"""Words that are not operators: parameters, and a sentence."""
MODULE_FORMS = {"R": "R", "relax": "R", "T": "T", "tir": "T", "I": "I"}
"""The modules as texts write them."""


class WordSignature(Record):
    """A word with its parameters."""

    word: str
    parameters: tuple[str, ...]
    result: str = ""

    @property
    def label(self) -> str:
        """``R.sum(x: tensor, axis: ints = None) -> R.Tensor(…)``."""
        end = f" -> {self.result}" if self.result else ""
        return f"{self.word}({', '.join(self.parameters)}){end}"


@cache
def operator_names() -> list[str]:
    """The operators of Relax, without ``R.``."""
    from rlx.operators.registry import every_name

    return sorted(every_name())


def signature_of(word: str) -> WordSignature | None:
    """A word of the script (``R.sum``, ``R.Tensor``) with its parameters; None if there is none."""
    from rlx.operators.parameters import Required
    from rlx.operators.registry import lookup

    module, _, name = word.partition(".")
    plain = f"{MODULE_FORMS.get(module, module)}.{name}"
    if plain in FORMS:
        listed = FORMS[plain][0]
        return WordSignature(word, tuple(listed.split(", ")) if listed else ())
    operator = lookup(f"relax.{name}") if plain.startswith("R.") else None
    if operator is None:
        return None
    shown = []
    for parameter in operator.parameters:
        star = "*" if parameter.variadic else ""
        default = "" if isinstance(parameter.default, Required) else f" = {parameter.default!r}"
        if parameter.optional and not default:
            default = " = None"
        shown.append(f"{star}{parameter.name}: {parameter.kind}{default}")
    return WordSignature(word, tuple(shown))


def signature(name: str) -> str:
    """An operator with its parameters: ``R.sum(x: tensor, axis: ints = None, keepdims: bool =
    False)``.
    """
    found = signature_of(f"R.{name}")
    return f"R.{name}(…)" if found is None else found.label


@cache
def words_behind(module: str) -> tuple[str, ...]:
    """The words that may follow on ``R.``, ``T.`` or ``I.``, without the module."""
    from rlx.grammar.nodes.dtype import SCALAR_NAMES
    from rlx.grammar.read.script_vocabulary import KNOWN

    letter = MODULE_FORMS.get(module)
    found = {form.partition(".")[2] for form in FORMS if form.partition(".")[0] == letter}
    if letter == "R":
        found.update(operator_names())
    if letter == "T":
        found |= KNOWN | set(SCALAR_NAMES)
    return tuple(sorted(found))


@cache
def describe(word: str) -> str:
    """The reference's entry for a word of the script, as Markdown; empty for a word without one."""
    from rlx.operators.reference import obligations, summary
    from rlx.operators.registry import lookup
    from rlx.spec import premise_rule

    module, _, name = word.partition(".")
    plain = f"{MODULE_FORMS.get(module, module)}.{name}"
    if plain in FORMS:
        return FORMS[plain][1]
    operator = lookup(f"relax.{name}") if plain.startswith("R.") else None
    if operator is None:
        return ""
    parts = [summary(operator.rule)]
    asked = []
    for code in sorted(obligations(operator)):
        rule = premise_rule(code)
        if rule is not None:
            asked.append(f"- `{code}`: {rule.premises[code]}")
    if asked:
        parts.append("Obligations:\n" + "\n".join(asked))
    call = legal_call(name)
    if call:
        parts.append("A legal call:\n" + fenced("python", call))
    return "\n\n".join(filter(None, parts))


def legal_call(name: str) -> str:
    """A legal call of an operator, with the types of its operands and of its result; empty for an
    operator whose declaration has none.
    """
    from rlx.generate.calls.written import legal_calls
    from rlx.grammar.print.printer import print_node
    from rlx.operators.registry import lookup

    operator = lookup(f"relax.{name}")
    assert operator is not None
    if name in _CALLS:
        return _CALLS[name]
    for call, result in legal_calls(operator):
        return "\n".join(call.lines) + f"  # {print_node(result)}"
    return ""


_CALLS = {
    "call_tir": 'R.call_tir(cls.kernel, (x, y), out_sinfo=R.Tensor((n, 4), dtype="float32"))',
    "call_tir_inplace": (
        "R.call_tir_inplace(cls.kernel, (x, y), inplace_indices=[0],"
        ' out_sinfo=[R.Tensor((n, 4), dtype="float32")])'
    ),
    "call_dps_packed": (
        'R.call_dps_packed("packed", (x,), out_sinfo=R.Tensor((n, 4), dtype="float32"))'
    ),
    "call_pure_packed": (
        'R.call_pure_packed("packed", x, sinfo_args=(R.Tensor((n, 4), dtype="float32"),))'
    ),
    "make_closure": "R.make_closure(cls.function, (x,))",
    "invoke_closure": (
        'R.invoke_closure(closure, (x,), sinfo_args=(R.Tensor((n, 4), dtype="float32"),))'
    ),
    "invoke_pure_closure": (
        'R.invoke_pure_closure(closure, (x,), sinfo_args=(R.Tensor((n, 4), dtype="float32"),))'
    ),
}
"""Calls of operators whose operands are functions."""
