"""The spellings of Relax from 0.16 to 0.27, as data.

A :class:`Dialect` holds how one version writes what the versions write differently; the printer
reads nothing else. The tables below are made from the dialects for the parser, which reads every
spelling that any version ever used: a word that is added to a dialect is read, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.node import Record, replace


class Dialect(Record):
    """How one version of TVM spells Relax.

    Attributes
    ----------
    version
        ``"0.16"`` … ``"0.27"``.
    out_info, info_args
        Keywords of the type arguments of ``R.call_tir`` and of ``R.call_packed``.
    object_info
        The annotation of any value.
    prim_types
        Whether a scalar without a known value is written ``T.int64``, else ``R.Prim("int64")``.
    prim_value
        Whether a boxed scalar stands as it is, else inside ``R.prim_value(…)``.
    block, block_attr, alloc_buffer
        The words of a block of a PrimFunc.
    tir_module
        What the printed header imports as ``T``.
    function_flag, module_flag
        Whether PrimFuncs, and modules that hold some, are marked ``s_tir=True``.
    direct_buffers
        Whether buffers are parameters of a PrimFunc even where their shape is symbolic, else a
        handle and ``T.match_buffer``.
    mutable_scalars
        Whether a PrimFunc writes `t: T.int32 = e` for a scalar that can be assigned to again, and
        `T.let` for one that cannot; else that is how the latter is written.
    type_vars
        Whether shape variables are declared before the class, else ``n = T.int64()`` inside
        functions (and quoted in signatures).
    constant_key
        What a reference to a constant outside the text begins with.
    prototype
        Whether annotations of tensors have brackets, ``R.Tensor[(n, 4), "float32"]``, matches
        compare shapes alone, ``R.match_shape(x, (n, 4))``, and nothing declares shape variables.
    """

    version: str
    out_info: str
    info_args: str
    object_info: str
    prim_types: bool
    prim_value: bool
    block: str
    block_attr: str
    alloc_buffer: str
    tir_module: str
    function_flag: bool
    module_flag: bool
    direct_buffers: bool
    mutable_scalars: bool
    type_vars: bool
    constant_key: str
    prototype: bool = False


_V16 = Dialect(
    version="0.16",
    out_info="out_sinfo",
    info_args="sinfo_args",
    object_info="R.Object",
    prim_types=False,
    prim_value=False,
    block="T.block",
    block_attr="T.block_attr",
    alloc_buffer="T.alloc_buffer",
    tir_module="tir",
    function_flag=False,
    module_flag=False,
    direct_buffers=False,
    mutable_scalars=False,
    type_vars=False,
    constant_key="relax.expr.Constant",
)
_V24 = replace(
    _V16,
    version="0.24",
    block="T.sblock",
    block_attr="T.sblock_attr",
    alloc_buffer="T.sblock_alloc_buffer",
    tir_module="tirx",
    mutable_scalars=True,
)
_V25 = replace(_V24, version="0.25", function_flag=True, module_flag=True)
_V26 = replace(
    _V25,
    version="0.26",
    out_info="out_ty",
    info_args="ty_args",
    object_info="R.Any",
    prim_types=True,
    prim_value=True,
    direct_buffers=True,
)
_V27 = replace(
    _V26, version="0.27", module_flag=False, type_vars=True, constant_key="ir.GenericConst"
)

DIALECTS: Mapping[str, Dialect] = {
    **{f"0.{minor}": replace(_V16, version=f"0.{minor}") for minor in range(16, 24)},
    **{each.version: each for each in (_V24, _V25, _V26, _V27)},
}
"""Every dialect by its version."""

_V2022 = replace(
    _V16, version="2022", info_args="type_args", constant_key="relax.expr.Constant", prototype=True
)
"""The prototype of 2022, which has no words for much of what later versions say."""

DEFAULT = "0.27"


def dialect(version: str) -> Dialect:
    """The dialect of a version.

    Raises
    ------
    ValueError
        If there is none of that name; the message lists those there are.
    """
    known = version if isinstance(version, str) else ""
    found = _V2022 if known == _V2022.version else DIALECTS.get(known)
    if found is None:
        raise ValueError(f"unknown dialect {version!r}: expected one of {', '.join(DIALECTS)}")
    return found


def split_key(key: str) -> tuple[str, str]:
    """The word and the number of a reference to something outside the text:
    ``metadata["word"][0]``.
    """
    word, _, number = key.removeprefix("metadata[").rpartition("[")
    return word.rstrip("]").strip("\"'"), number.rstrip("]").strip()


OUT_OPERATORS = frozenset(
    f"relax.{name}"
    for name in (
        "call_tir",
        "call_tir_inplace",
        "call_tir_with_grad",
        "call_dps_packed",
        "call_py_func",
        "dist.call_tir",
        "dist.call_tir_local_view",
    )
)
"""Operators whose type argument says what the call returns; the others list theirs."""

STRING_OPERATORS = (
    *("relax.call_", "relax.invoke_", "relax.make_closure", "relax.inspect."),
    *("relax.builtin.", "relax.memory.", "relax.vm."),
)
"""What the names of operators begin with that take strings of Relax;
the others take those of Python.
"""


def _every(*fields: str) -> tuple[str, ...]:
    """What any version writes there, each spelling once, older ones first."""
    return tuple(dict.fromkeys(getattr(d, field) for d in DIALECTS.values() for field in fields))


TYPE_KEYWORDS = (*_every("out_info", "info_args"), "type_args")
"""Keywords that carry the type arguments of a call; 2022 had its own."""

OBJECT_WORDS = _every("object_info")
"""Spellings of ObjectStructInfo."""

TIR_MODULES = _every("tir_module")
"""Modules that texts import as ``T``."""

BLOCK_WORDS = _every("block")
"""What opens a block of a PrimFunc."""

BLOCK_ATTR_WORDS = _every("block_attr")
"""What gives a block its attributes."""

ALLOC_WORDS = _every("alloc_buffer")
"""What allocates a buffer at the head of a block."""

CONSTANT_KEYS = _every("constant_key")
"""What a reference to a constant outside the text begins with."""
