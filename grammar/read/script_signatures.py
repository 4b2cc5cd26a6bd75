"""The arguments of constructs of TVM's scripts, and what literals they cannot be."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import Arguments
from rlx.grammar.read.misspelt import data_type
from rlx.grammar.read.partial_nodes import Sequence, describe
from rlx.grammar.read.prim_scalars import is_number_variable
from rlx.grammar.read.script_vocabulary import ARITY
from rlx.grammar.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.reports import ReadContext

_TABLE = """
Add And BitwiseAnd BitwiseOr BitwiseXor Div EQ FloorDiv FloorMod GE GT LE LShift LT Max Min Mod
 Mul NE Or RShift Sub floordiv floormod max min truncdiv truncmod: a b
BitwiseNot Not: a
abs acos acosh asin asinh atan atanh bitwise_not ceil clz cos cosh erf exp exp10 exp2 fabs floor
 isfinite isinf isnan isnullptr log log10 log1p log2 nearbyint popcount round rsqrt sigmoid sin
 sinh sqrt tan tanh trunc: x
atan2 copysign hypot ldexp nextafter: x1 x2
bitwise_and bitwise_or bitwise_xor fmod pow shift_left shift_right: x y
fma: x y z
ceildiv: lhs rhs
if_then_else: cond t f
likely tvm_thread_invariant: cond
Select: condition true_value false_value
q_multiply_shift: x y q s
q_multiply_shift_per_axis: x y ls rs q is_lshift_required is_rshift_required
Broadcast broadcast: value lanes/number
Ramp ramp: base stride lanes/number
Shuffle: vectors/list indices/list
cast: value/operand dtype/type
Cast: dtype/type value/operand
reinterpret: dtype/type value
infinity max_value min_value type_annotation: dtype/type
call_extern call_pure_extern: dtype/type func_name/text *args/operand
call_packed call_cpacked tvm_call_packed tvm_call_cpacked: *args/operand
call_llvm_intrin call_llvm_pure_intrin: dtype/type name/any *args/operand
tvm_access_ptr: ptype/value data/memory offset extent rw_mask
address_of: obj/place
Assert: condition message/any error_kind/text=
evaluate: value/operand
where: predicate
assume: cond
attr: node/operand attr_key/text value/operand
launch_thread: thread/text extent
env_thread: thread_tag/text dtype/type=
tvm_storage_sync: storage_scope/text is_load/any= num_blocks/any=
serial: start stop= | annotations/attrs= step= unroll/any= dtype/type= thread/text=
parallel unroll vectorized: start stop= | annotations/attrs= step= dtype/type= thread/text=
thread_binding: start stop/operand= thread/text= | annotations/attrs=
grid: *extents/extent | dtype/type=
realize: buffer_slice/operand storage_scope/text condition/any=
sblock: name/text= no_realize/flag= exec_scope/text=
block: *extents/any | name/text= no_realize/flag= exec_scope/text=
sblock_attr block_attr func_attr R.func_attr: attrs/attrs
I.module_attrs: attrs/attrs allow_overwrite/any=
I.vdevice: target/any= vdevice_id/number= memory_scope/text=
R.cpu R.cuda: dev_id/number=
R.dtype: value/type
R.to_vdevice: data/moved dst_vdevice/any
R.tuple: *fields/field
R.match_cast: value/field *rest/any | ty/any= struct_info/any=
axis.spatial axis.reduce axis.scan axis.opaque axis.S axis.R: dom/extent binding dtype/type=
axis.remap: kinds/text bindings/list dtype/type=
Buffer: shape/shape dtype/type= data/memory= *rest/any | strides/any= elem_offset/any=
 byte_offset/any= scope/text= align/number= offset_factor/number= layout/any= buffer_type/any=
 axis_separators/any=
alloc_buffer alloc_shared alloc_local sblock_alloc_buffer decl_buffer: shape/shape dtype/type=
 data/memory= *rest/any | strides/any= elem_offset/any= byte_offset/any= scope/text= align/number=
 offset_factor/number= layout/any= buffer_type/any= axis_separators/any= allocated_addr/any=
 annotations/any= logical_scope/any=
match_buffer: param/memory shape/shape= dtype/type= data/memory= *rest/any | strides/any=
 elem_offset/any= byte_offset/any= scope/text= align/number= offset_factor/number= layout/any=
 buffer_type/any= axis_separators/any= type/any=
"""
"""Lines of words and their parameters; a continued line begins with a blank.

A parameter is its name, `/` and the kind of its literals (a scalar if there is none), and `=` if it
may be omitted; behind `|` are those with a name only. What a version has in addition counts for
all. Words that no line has are not judged.
"""

_NO_DEFAULT = frozenset(["flag", "number", "text", "type"])
"""The kinds of parameters that may be omitted, but cannot be None."""

_DIMENSIONS = frozenset(["", "extent", "operand", "shape"])
"""The kinds whose literals may be quoted where dimensions are."""

_REST = 12
"""How many arguments `*rest` stands for: those of a buffer behind its memory differ by version."""

_WRONG: dict[str, tuple[str, tuple[type, ...]]] = {
    "": ("a scalar", (str, Sequence, type(None), dict)),
    "operand": ("a scalar", (Sequence, type(None), dict)),
    "extent": ("the extent of a loop", (str, type(None), dict)),
    "value": ("a value", (int, float, str, Sequence, type(None), dict)),
    "moved": ("a value", (int, float, str, type(None), dict)),
    "field": ("a value", (type(None), dict)),
    "number": ("an integer", (float, str, Sequence, type(None), dict)),
    "flag": ("True or False", (float, str, Sequence, type(None), dict)),
    "text": ("a string", (int, float, Sequence, type(None), dict)),
    "type": ("a data type", (int, float, Sequence, type(None), dict)),
    "list": ("a list", (int, float, str, type(None), dict)),
    "shape": ("a shape", (float, str, type(None), dict)),
    "memory": ("memory", (int, float, str, Sequence, type(None), dict)),
    "place": ("a place in memory", (int, float, str, Sequence, type(None), dict)),
    "attrs": ("a dictionary with strings as keys", (int, float, str, Sequence, type(None))),
    "any": ("", ()),
}
"""For each kind of a parameter what it takes, and the classes of literals that it does not."""

_WITH_SPAN = """
Add And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Broadcast Cast Div EQ FloorDiv FloorMod GE GT LE
 LShift LT Max Min Mod Mul NE Not Or RShift Ramp Select Shuffle Sub abs address_of bitwise_and
 bitwise_not bitwise_or bitwise_xor broadcast call_cpacked call_extern call_llvm_intrin
 call_llvm_pure_intrin call_packed call_pure_extern cast ceil ceildiv fabs floor floordiv floormod
 if_then_else infinity isfinite isinf isnan isnullptr likely max_value min_value nearbyint pow ramp
 reinterpret round shift_left shift_right trunc truncdiv truncmod tvm_call_cpacked tvm_call_packed
"""
"""The constructs that take a place in a text, `span=None`."""


class _Parameter(NamedTuple):
    name: str
    kind: str
    optional: bool


class _Signature(NamedTuple):
    placed: tuple[_Parameter, ...]
    rest: _Parameter | None
    named: tuple[_Parameter, ...]

    def get(self, name: str) -> _Parameter | None:
        return next((each for each in (*self.placed, *self.named) if each.name == name), None)


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    found = {}
    for line in _TABLE.strip().replace("\n ", " ").split("\n"):
        words, _, parameters = line.partition(":")
        found.update(dict.fromkeys(words.split(), parameters))
    return found


@lru_cache(maxsize=256)
def _signature(word: str) -> _Signature | None:
    line = _lines().get(word)
    if line is None:
        return None
    placed, _, named = line.partition("|")
    found = [_parameter(each) for each in placed.split()]
    rest = next((each for each in found if each.name.startswith("*")), None)
    return _Signature(
        tuple(each for each in found if each is not rest),
        rest,
        tuple(_parameter(each) for each in named.split()),
    )


def _parameter(text: str) -> _Parameter:
    name, _, kind = text.rstrip("=").partition("/")
    return _Parameter(name, kind, text.endswith("="))


_FORWARDED = _Parameter("dtype", "type", False)
"""The type in front of the arguments, which may be given by name behind them."""


def bind(context: ReadContext, given: Arguments, quoted: bool) -> None:
    """Hold the arguments of a construct against its parameters; required ones move to their places.

    An argument by name that it does not have or cannot take is reported and left out, so that the
    rest is read.

    Parameters
    ----------
    context
        Where errors are reported.
    given
        The arguments; words of `T.` have no prefix in the table.
    quoted
        Whether a string may be a dimension, as in the head of a function.

    Raises
    ------
    Rejected
        For an argument that is missing, one too many, or a literal that its place does not take.
    """
    signature = _signature(given.head.removeprefix("T."))
    if signature is None:
        return
    if given.head == "T.attr" and [type(each.value) for each in given.positional] == [dict]:
        return
    if given.positional and "dtype" in given.keywords and signature.placed[:1] == (_FORWARDED,):
        signature = signature._replace(placed=signature.placed[1:], named=(_FORWARDED,))
    placed = signature.placed
    counted = given.head.removeprefix("T.") in ARITY  # whose operands the checker judges
    quoted = quoted or counted
    if not counted and (signature.rest is None or signature.named):
        given.at_most(len(placed) if signature.rest is None else _REST)
    for name, entry in list(given.keywords.items()):
        try:
            _refuse_keyword(context, given, signature, name, entry, quoted)
        except Rejected as error:
            context.reports.error(error.message, error.span, error.help)
            del given.keywords[name]
    given.place(each.name for each in placed if not each.optional)
    for at, entry in enumerate(given.positional):
        parameter = placed[at] if at < len(placed) else signature.rest
        if parameter is not None:
            _judge(context, given, parameter, entry, quoted)
    for parameter in placed[len(given.positional) :]:
        if not (counted or parameter.optional or parameter.name in given.keywords):
            words = f"{given.head} needs an argument {parameter.name!r}"
            raise Rejected(words, *given.span, certain=True)


def _refuse_keyword(
    context: ReadContext,
    given: Arguments,
    signature: _Signature,
    name: str,
    entry: Entry,
    quoted: bool,
) -> None:
    placed = [each.name for each in signature.placed]
    if name in placed[: len(given.positional)]:
        raise Rejected(f"{name!r} is given twice", *entry.span)
    parameter = signature.get(name)
    if parameter is not None:
        _judge(context, given, parameter, entry, quoted)
    elif not _is_ignored(given.head.removeprefix("T."), name, entry.value):
        names = [*placed, *(each.name for each in signature.named)]
        given.asked = names if signature.rest is None or closest(name, names) else []
        error = given.unknown(name)
        given.asked = []
        raise error


def _is_ignored(word: str, name: str, value: object) -> bool:
    """Whether a construct takes such an argument without need: a data type that follows from the
    operands, or no place in a text.
    """
    if name == "dtype":
        return word[:1].islower() and word not in ("max", "min")
    return name == "span" and value is None and word in _WITH_SPAN.split()


def _judge(
    context: ReadContext, given: Arguments, parameter: _Parameter, entry: Entry, quoted: bool
) -> None:
    value: Any = entry.value
    takes, wrong = _WRONG[parameter.kind]
    if value is None and parameter.optional and parameter.kind not in _NO_DEFAULT:
        return
    if quoted and isinstance(value, str) and parameter.kind in _DIMENSIONS:
        return
    if isinstance(value, tir.Var) and value in context.coerce.captured:
        return
    if isinstance(value, wrong) or _has_wrong_value(parameter.kind, value):
        name = parameter.name.lstrip("*")
        words = f"{given.head} takes {takes} as {name!r}, found {describe(value)}"
        meant = data_type(value) if parameter.kind == "type" and isinstance(value, str) else []
        raise Rejected(words, *entry.span, did_you_mean(meant), certain=True)


def _has_wrong_value(kind: str, value: Any) -> bool:
    match kind, value:
        case "attrs", dict():
            return not all(isinstance(key, str) for key in value)
        case "type", str():
            return bool(value) and not _is_type(value)
        case "text" | "type", tir.Buffer():
            return True
        case "text" | "type" | "number", tir.Var():
            return is_number_variable(value)
        case "memory", tir.Var():  # 64 bits of an integer may be an address
            return is_number_variable(value) and value.dtype.bits < 64
    return False


def _is_type(text: str) -> bool:
    try:
        dtype(text)
    except ValueError:
        return "[" in text  # a type that a program registers: custom[name]32
    return True
