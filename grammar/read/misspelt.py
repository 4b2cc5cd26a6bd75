"""Misspelt heads of forms, decorators and data types: the text is parsed with the suggested word,
with one error.
"""

from __future__ import annotations

from functools import cache

from rlx.grammar.dialects import OBJECT_WORDS, TIR_MODULES
from rlx.grammar.suggest import closest

ANNOTATIONS = ("R.Tensor", "R.Shape", "R.Tuple", *OBJECT_WORDS, "R.Prim", "R.Callable", "R.DTensor")
STATEMENTS = ("R.output", "R.outputs", "R.dataflow", "R.func_attr", "R.match_cast", "R.match_shape")
"""Forms that are not similar to any operator, so a similar word must be a misspelling of the
form.
"""
_BOTH = ("Shape", "Tuple")
DECORATORS = (
    *("I.ir_module", "R.function", "T.prim_func"),
    *("tvm.script.ir_module", "ir_module", "R.func", "relax.function"),
    *(f"{module}.prim_func" for module in TIR_MODULES),
)
DATA_TYPES = (
    *(
        "float32",
        "float16",
        "float64",
        "int64",
        "int32",
        "int8",
        "int16",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ),
    *(
        "bool",
        "bfloat16",
        "void",
        "handle",
        "int4",
        "uint4",
        "float8_e4m3fn",
        "float8_e5m2",
        "float4_e2m1fn",
    ),
    *("f32", "f16", "f64", "i32", "i64"),
)


@cache
def form(head: str) -> list[str]:
    """The annotations or statements similar to an unknown word, such as ``R.Tensr``."""
    letter, _, word = head.partition(".")
    if letter != "R" or not word or "." in word:
        return []
    found = closest(word, [other[2:] for other in (*STATEMENTS, *ANNOTATIONS)])
    if (
        word[0].islower()
    ):  # of an annotation only the first letter, or it is another word: `R.any`, `R.tuple`
        found = [
            o for o in found if o[0].islower() or (o not in _BOTH and o[1:] in (word, word[1:]))
        ]
    return [f"R.{other}" for other in found]


def decorator(word: str) -> list[str]:
    """The decorators similar to an unknown one."""
    return closest(word, DECORATORS)


def data_type(text: str) -> list[str]:
    """The data types meant by an unknown one: by its name elsewhere, or similar to it."""
    return [ELSEWHERE[text.lower()]] if text.lower() in ELSEWHERE else closest(text, DATA_TYPES)


ELSEWHERE = {
    "half": "float16",
    "double": "float64",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "boolean": "bool",
    **{f"fp{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
}
"""Data types by their names in PyTorch, C, ONNX and StableHLO."""


_PYTHON = {
    "print": "`R.print(x)` prints when the program runs; its function is `@R.function(pure=False)`",
    "len": "write the dimension, as the annotation names it",
    "range": "write the tensor `R.arange(…)`",
    "float": 'convert it: `R.astype(x, "float32")`',
    "int": 'convert it: `R.astype(x, "int64")`',
    "bool": 'convert it: `R.astype(x, "bool")`',
    "list": "write a tuple: `(x, y)`",
}
"""Replacements for calls of Python."""

_ATTRIBUTES = {
    "T": "transpose it: `R.permute_dims(x)`",
    "mT": "exchange its axes: `R.permute_dims(x, axes)`",
    "dtype": "write the element type that its annotation names",
    "ndim": "write the number of dimensions that its annotation has",
    "size": "`R.size(x)` computes it",
}
"""Replacements for attributes of an array."""


def call_of_python(head: str, in_kernel: bool = False) -> str | None:
    """The replacement for a call of Python, or of another library's function."""
    first, dot, rest = head.rpartition(".")
    if not dot:
        return _PYTHON.get(head)
    if first in ("T", "I", "cls"):
        return None
    if in_kernel:
        return f"a function of numbers is written `T.{rest}(…)`"
    return f"an operator of Relax is written `{_operator(rest)}(…)`"


def _operator(name: str) -> str:
    """An operator by its name in other libraries, where layers are not apart."""
    return f"R.nn.{name}" if name in _LAYERS else f"R.{name}"


_LAYERS = frozenset(
    [
        *("relu", "relu6", "leakyrelu", "prelu", "gelu", "gelu_tanh", "selu", "silu", "softplus"),
        *("softmax", "log_softmax", "dropout", "layer_norm", "batch_norm", "group_norm"),
        *("instance_norm", "rms_norm", "nll_loss", "pad", "pixel_shuffle", "attention"),
        *(f"conv{n}d{kind}" for n in (1, 2, 3) for kind in ("", "_transpose")),
        *(f"{kind}_pool{n}d" for n in (1, 2, 3) for kind in ("max", "avg", "adaptive_avg")),
    ]
)
"""Operators of Relax whose names begin with `nn.`."""


def attribute(name: str) -> str:
    """The replacement for an attribute of a value."""
    return _ATTRIBUTES.get(name, "operators are functions: `R.NAME(x)`")


_METHODS = {
    **dict.fromkeys(
        ("item", "numpy", "asnumpy", "tolist", "cpu", "detach", "clone", "copy", "contiguous"),
        "remove it: a program describes a computation, and only a run has numbers",
    ),
    **{
        name: f'`R.astype(x, "{dtype}")` converts it'
        for name, dtype in (
            *(("float", "float32"), ("double", "float64"), ("half", "float16"), ("bool", "bool")),
            *(("int", "int32"), ("long", "int64"), ("type", "float32")),
        )
    },
    "to": '`R.astype(x, "float32")` converts it, `R.to_vdevice` moves it',
    "cuda": "`R.to_vdevice` moves it",
    "view": "`R.reshape(x, (…))` reshapes it",
    **dict.fromkeys(("t", "transpose", "permute"), "`R.permute_dims(x, axes)` exchanges its axes"),
    **dict.fromkeys(
        ("size", "dim"), "its annotation names the dimensions; `R.shape_of(x)` has them"
    ),
}


def method(name: str) -> str:
    """The replacement for a method of an array or a tensor of another library."""
    return _METHODS.get(name, f"write it as an operator: {_operator(name)}(…)")


def is_data_type(word: str) -> bool:
    """Whether a word is the name of a data type."""
    return word in DATA_TYPES
