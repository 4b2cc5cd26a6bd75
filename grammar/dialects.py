"""The spellings of Relax from 0.16 to 0.27, as data.

A :class:`Dialect` has all spellings of one version that differ between versions; the printer uses
nothing else. The parser accepts the spellings of all versions. Its tables below are made from the
dialects, so a new spelling in a dialect is accepted, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes.node import Record, replace


class Dialect(Record):
    """The spelling of Relax in one version of TVM.

    Attributes
    ----------
    version
        ``"0.16"`` … ``"0.27"``.
    out_info, info_args
        Keywords of the type arguments of ``R.call_tir`` and of ``R.call_packed``.
    object_info
        The annotation of any value.
    prim_types
        Whether a scalar without a known value is written ``T.int64`` instead of
        ``R.Prim("int64")``.
    prim_value
        Whether a boxed scalar is written without ``R.prim_value(…)``.
    block, block_attr, alloc_buffer
        The words for a block of a PrimFunc, its attributes, and its buffers.
    tir_module
        The module that the printed header imports as ``T``.
    function_flag, module_flag
        Whether PrimFuncs, and modules with PrimFuncs, are marked ``s_tir=True``.
    direct_buffers
        Whether buffers with a symbolic shape are parameters of a PrimFunc, instead of a handle and
        ``T.match_buffer``.
    mutable_scalars
        Whether `t: T.int32 = e` in a PrimFunc declares a mutable scalar, and `T.let` an immutable
        one. Otherwise `t: T.int32 = e` declares an immutable one.
    type_vars
        Whether shape variables are declared before the class, instead of by ``n = T.int64()``
        inside functions (and quoted in signatures).
    constant_key
        The beginning of a reference to a constant outside the text.
    prototype
        Whether annotations of tensors use brackets, ``R.Tensor[(n, 4), "float32"]``, matches
        compare only shapes, ``R.match_shape(x, (n, 4))``, and shape variables are not declared.
    size_vars
        Whether a shape variable may be declared as a size, ``T.int64(is_size_var=True)``.
    void_dtypes
        Whether ``dtype="void"`` leaves the data type of a result open; otherwise it is void.
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
    size_vars: bool = True
    void_dtypes: bool = True


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
    _V26,
    version="0.27",
    module_flag=False,
    type_vars=True,
    constant_key="ir.GenericConst",
    size_vars=False,
    void_dtypes=False,
)

DIALECTS: Mapping[str, Dialect] = {
    **{f"0.{minor}": replace(_V16, version=f"0.{minor}") for minor in range(16, 24)},
    **{each.version: each for each in (_V24, _V25, _V26, _V27)},
}
"""Every dialect by its version."""

_V2022 = replace(
    _V16, version="2022", info_args="type_args", constant_key="relax.expr.Constant", prototype=True
)
"""The prototype of 2022, which cannot express many constructs of later versions."""

DEFAULT = "0.27"


def dialect(version: str) -> Dialect:
    """The dialect of a version.

    Raises
    ------
    ValueError
        If there is no such version; the message lists the existing ones.
    """
    known = version if isinstance(version, str) else ""
    found = _V2022 if known == _V2022.version else DIALECTS.get(known)
    if found is None:
        raise ValueError(f"unknown dialect {version!r}: expected one of {', '.join(DIALECTS)}")
    return found


def split_key(key: str) -> tuple[str, str]:
    """The word and the number in a reference to a constant outside the text:
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
"""Operators with one type argument, which is the type of the result; the others have a list."""

STRING_OPERATORS = (
    *("relax.call_", "relax.invoke_", "relax.make_closure", "relax.inspect."),
    *("relax.builtin.", "relax.memory.", "relax.vm."),
)
"""The prefixes of operators that take Relax strings; the others take Python strings."""


def _every(*fields: str) -> tuple[str, ...]:
    """What any version writes there, each spelling once, older ones first."""
    return tuple(dict.fromkeys(getattr(d, field) for d in DIALECTS.values() for field in fields))


TYPE_KEYWORDS = (*_every("out_info", "info_args"), "type_args")
"""Keywords for the type arguments of a call; texts of 2022 have their own."""

OBJECT_WORDS = _every("object_info")
"""Spellings of ObjectStructInfo."""

TIR_MODULES = _every("tir_module")
"""Modules that texts import as ``T``."""

BLOCK_WORDS = _every("block")
"""The words that open a block of a PrimFunc."""

BLOCK_ATTR_WORDS = _every("block_attr")
"""The words that give a block its attributes."""

ALLOC_WORDS = _every("alloc_buffer")
"""The words that allocate a buffer at the head of a block."""

CONSTANT_KEYS = _every("constant_key")
"""The beginning of a reference to a constant outside the text."""
