"""The spellings of Relax in the versions of TVM, as data.

A :class:`Dialect` has all spellings of one version that differ between versions; the printer uses
nothing else. The parser accepts the spellings of all versions. Its tables below are made from the
dialects, so a new spelling in a dialect is accepted, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

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
    slice_values
        Whether a slice of a buffer, ``A[0:4]``, may be a value; otherwise it is only a region, and
        the value is ``A[T.Ramp(0, 1, 4)]``.
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
    slice_values: bool = True


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
    slice_values=False,
)

DIALECTS: Mapping[str, Dialect] = {
    **{f"0.{minor}": replace(_V16, version=f"0.{minor}") for minor in range(16, 24)},
    **{each.version: each for each in (_V24, _V25, _V26, _V27)},
}
"""Every dialect by its version."""
SPAN = " to ".join([*DIALECTS][:: len(DIALECTS) - 1])
"""The oldest and the newest version."""

_V2022 = replace(
    _V16, version="2022", info_args="type_args", constant_key="relax.expr.Constant", prototype=True
)
"""The prototype of 2022, which cannot express many constructs of later versions."""

DEFAULT = _V27.version


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
    """The spellings of all versions, each once, older ones first."""
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


SLICE = "B[…] = A[…:…]"
"""How a slice of a buffer is listed that is a value; otherwise it is only a region."""

EXTERN = 'R.call_tir("…", …)'
"""How a call of an extern function is listed that is spelled as the call of a PrimFunc."""


class Change(Record):
    """A spelling that a version replaced by another.

    Attributes
    ----------
    before, after
        The spelling until this version and from it on; empty if it has none. A name may have the
        sign behind it (``out_sinfo=``, ``R.Tensor[``) or the dot in front (``.struct_info``).
    version
        The first version with the newer spelling.
    kept
        Whether the versions from then on read the older spelling, too.
    """

    before: str
    after: str
    version: str
    kept: bool = False


VERSIONS = (_V2022.version, *DIALECTS)
"""Every version, in order of time."""

_KEPT = frozenset(["R.Object", "T.alloc_buffer"])
_SHAPE_OF_WORDS = {
    "out_info": "{}=",
    "info_args": "{}=",
    "object_info": "{}",
    "block": "{}",
    "block_attr": "{}",
    "alloc_buffer": "{}",
    "tir_module": "import {}",
    "constant_key": 'metadata["{}"',
}


def _changes() -> tuple[Change, ...]:
    """The changes between one dialect and the next."""
    found = []
    dialects = [_V2022, *DIALECTS.values()]
    for old, new in pairwise(dialects):
        for field, form in _SHAPE_OF_WORDS.items():
            before, after = getattr(old, field), getattr(new, field)
            if before != after:
                words = form.format(before), form.format(after)
                found.append(Change(*words, new.version, before in _KEPT))
    return tuple(found)


_CHANGES = (
    *_changes(),
    Change("R.func", "R.function", "0.16"),
    Change("R.Tensor[", "R.Tensor(", "0.16"),
    Change("R.match_shape", "R.match_cast", "0.16"),
    Change("R.outputs", "R.output", "0.16"),
    Change("R.dot", "R.matmul", "0.16"),
    Change("R.nn.matmul", "R.matmul", "0.16"),
    Change("R.ewise_add", "R.add", "0.16"),
    Change("", "s_tir=", _V25.version),
    Change("", "T.let[", _V24.version),
    Change("tir_vars=", "", _V26.version),
    Change("R.Prim(value=", "", _V26.version),
    Change(".struct_info", ".ty", _V26.version),
    Change("T.allocate", "T.alloc_buffer", _V26.version),
    Change("T.allocate_const", "", _V26.version),
    Change("T.SizeVar", "T.Var", _V26.version),
    Change("is_size_var=", "", _V27.version),
    Change(SLICE, "", _V27.version),
    Change(EXTERN, "", _V16.version),
    Change("", "TypeVar(", _V27.version),
)
"""All spellings that differ between versions. The words of the dialects come from there."""

NEW_OPERATORS: Mapping[str, str] = {
    **dict.fromkeys(("relax.left_shift", "relax.right_shift"), "0.18"),
    **dict.fromkeys(("relax.nonzero", "relax.scatter_nd"), "0.18"),
    **dict.fromkeys(("relax.eye", "relax.eye_like", "relax.one_hot"), "0.19"),
    **dict.fromkeys(("relax.floor_mod", "relax.mod"), "0.19"),
    **dict.fromkeys(("relax.gather_elements", "relax.gather_nd"), "0.19"),
    "relax.bucketize": "0.21",
    "relax.reverse_sequence": "0.26",
}
"""Operators by their first version, as far as it is certain.

After 0.25 they are those of `tvm.ir.Op.list_op_names()` of each wheel that its predecessor lacks.
There is no wheel with Relax before 0.25: there they are those whose addition TVM's notes on a
release list, or the merged change dates from between two releases.
"""

UNSPOKEN: Mapping[str, str] = {"relax.inspect.": "0.27"}
"""The beginnings of operators for which the parser of TVM has no words, by the first version of which
that is certain; it prints them.
"""

CPUS: Mapping[str, str] = dict.fromkeys(("llvm", "c"), "0.27")
"""Kinds of targets that named the device of the processor, and the first version of which it is
certain that they do not.
"""


LOST_WORDS = frozenset(
    [
        *("Handle", "LetStmt", "Target", "alloc_block_buffer", "buffer_proxy", "buffer_realize"),
        *("call_pure_intrin", "copy_async", "create_barriers", "dma_copy", "dma_end_group"),
        *("dma_start_group", "dma_wait", "dot", "e4m3_float8", "e5m2_float8", "external_kernel"),
        *("frame_scope", "indexdiv", "indexmod", "load", "make_filled_simdgroup_matrix"),
        *("mma_fill", "mma_store", "power", "preflattened_buffer", "ptx_arrive_barrier"),
        *("ptx_arrive_barrier_expect_tx", "ptx_commit_group", "ptx_cp_async"),
        *("ptx_cp_async_barrier", "ptx_cp_async_bulk", "ptx_fence"),
        *("ptx_init_barrier_thread_count", "ptx_ldmatrix", "ptx_ldmatrix_legacy", "ptx_mma"),
        *("ptx_mma_sp", "ptx_wait_barrier", "ptx_wait_barrier_legacy", "ptx_wait_group", "realize"),
        *("ret", "seq_scope", "simdgroup_load", "simdgroup_multiply_accumulate"),
        *("simdgroup_store", "store", "texture2d_load", "texture2d_store", "tgamma"),
        "tvm_thread_context",
    ]
)
"""The words behind `T.` that 0.27 does not have; which version was the last is not known."""


class Readers(Record):
    """The first and the last version that reads a spelling; None at an end that is open."""

    first: str | None = None
    last: str | None = None

    def reads(self, version: str) -> bool:
        """Whether a version reads it."""
        at = VERSIONS.index(version)
        return (self.first is None or VERSIONS.index(self.first) <= at) and (
            self.last is None or at <= VERSIONS.index(self.last)
        )

    def words(self) -> str:
        """The versions in words: ``read since 0.24``, ``read up to 0.25``, ``read from … to …``."""
        if self.first is None:
            return f"read up to {self.last}"
        if self.last is None:
            return f"read since {self.first}"
        return f"read from {self.first} to {self.last}"


def _readers() -> dict[str, Readers]:
    found: dict[str, Readers] = {}
    for change in _CHANGES:
        older = found.get(change.before, Readers())
        newer = found.get(change.after, Readers())
        last = None if change.kept else VERSIONS[VERSIONS.index(change.version) - 1]
        found[change.before] = replace(older, last=last)
        if change.after not in _OF_ALL:
            found[change.after] = replace(newer, first=change.version)
    del found[""]
    return {form: readers for form, readers in found.items() if readers != Readers()}


_OF_ALL = frozenset(
    ["R.function", "R.Tensor(", "R.output", "R.matmul", "R.add", "T.alloc_buffer", "T.Var"]
)
"""Newer spellings that older versions had, too, some with another meaning."""

READERS: Mapping[str, Readers] = _readers()
"""The versions that read each spelling that not all of them read."""


def spelling(form: str, version: str) -> str:
    """A version's spelling of what another version spells like this; empty if it has none."""
    at = VERSIONS.index(version)
    for change in _CHANGES:
        newer = VERSIONS.index(change.version) <= at
        if change.before == form and newer and not change.kept:
            return spelling(change.after, version) if change.after else ""
    for change in reversed(_CHANGES):
        newer = VERSIONS.index(change.version) <= at
        if change.after == form and not newer and form not in _OF_ALL:
            return spelling(change.before, version) if change.before else ""
    return form
