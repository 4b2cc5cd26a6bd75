"""The operators, as functions that make calls of them; written by `make operators`."""

from collections.abc import Sequence

from rlx.grammar.nodes.ast import Call
from rlx.transform.builder.given import (
    Dimension,
    Info,
    Operand,
    Scalar,
    ShapeLike,
    Type,
    Value,
)

def abs(
    x: Value,
) -> Call:
    """Any element type, kept."""

def acos(
    x: Value,
) -> Call:
    """Floats to floats."""

def acosh(
    x: Value,
) -> Call:
    """Floats to floats."""

def add(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def arange(
    start: Scalar,
    end: Scalar | None = None,
    step: Scalar = 1,
    dtype: Type | None = None,
) -> Call:
    """The numbers from a start (0 by default) to an exclusive end."""

def argmax(
    x: Value,
    axis: int | None = None,
    keepdims: int = False,
) -> Call:
    """The index of the extremum along an axis (of all elements if no axis is named)."""

def argmin(
    x: Value,
    axis: int | None = None,
    keepdims: int = False,
) -> Call:
    """The index of the extremum along an axis (of all elements if no axis is named)."""

def argsort(
    data: Value,
    axis: int = -1,
    descending: int = False,
    dtype: Type | None = "int32",
) -> Call:
    """The indices of the sorted elements along an axis."""

def asin(
    x: Value,
) -> Call:
    """Floats to floats."""

def asinh(
    x: Value,
) -> Call:
    """Floats to floats."""

def assert_op(
    condition: object,
    *format_args: object,
    format: str | Value = "",
) -> Call:
    """Stops the program if a Boolean scalar is false."""

def astype(
    x: Value,
    dtype: Type,
) -> Call:
    """The elements converted to another type."""

def atan(
    x: Value,
) -> Call:
    """Floats to floats."""

def atan2(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def atanh(
    x: Value,
) -> Call:
    """Floats to floats."""

def bitwise_and(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def bitwise_not(
    x: Value,
) -> Call:
    """Any element type, kept."""

def bitwise_or(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def bitwise_xor(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def broadcast_to(
    x: Value,
    shape: ShapeLike,
) -> Call:
    """The tensor repeated along axes of length 1 and new leading axes."""

def bucketize(
    input_tensor: Value,
    boundaries: Value,
    out_int32: int = False,
    right: int = False,
) -> Call:
    """The number of boundaries below each element."""

def call_builtin_with_ctx(
    func: object,
    args: Value | Sequence[object],
    sinfo_args: Info | Sequence[Info],
) -> Call:
    """A run-time function, which also gets the state of the run time."""

def call_dps_packed(
    func: object,
    args: object,
    out_sinfo: Info | Sequence[Info],
) -> Call:
    """A packed function, or a PrimFunc, called on the arguments and on newly allocated results."""

def call_inplace_packed(
    func: object,
    *args: object,
    inplace_indices: int | Sequence[int],
    sinfo_args: Info | Sequence[Info],
) -> Call:
    """A packed function that overwrites arguments that nothing else uses."""

def call_pure_packed(
    func: object,
    *args: object,
    sinfo_args: Info | Sequence[Info],
) -> Call:
    """A packed function that is assumed to have no visible effect."""

def call_py_func(
    py_func_name: object,
    args: Value | Sequence[object],
    out_sinfo: Info | Sequence[Info],
) -> Call:
    """A function of the host, called by its name."""

def call_tir(
    func: object,
    args: object,
    out_sinfo: Info | Sequence[Info],
    tir_vars: object | None = None,
) -> Call:
    """A PrimFunc called on the arguments and on newly allocated results."""

def call_tir_inplace(
    func: object,
    args: object,
    tir_vars: object | None = None,
    *,
    inplace_indices: int | Sequence[int],
    out_sinfo: Info | Sequence[Info],
) -> Call:
    """Like ``call_tir``, with results that overwrite arguments."""

def call_tir_with_grad(
    func: object,
    args: object,
    out_sinfo: Info | Sequence[Info],
    tir_vars: object | None = None,
    te_grad_name: str = "",
    te_grad_kwargs: object | None = None,
) -> Call:
    """Like ``call_tir``, with the name of the function that computes the gradient."""

def ceil(
    x: Value,
) -> Call:
    """Any element type, kept."""

def clip(
    x: Value,
    min: Scalar,
    max: Scalar,
) -> Call:
    """Elements clamped between two scalars."""

def collapse_sum_like(
    data: Value,
    collapse_target: Value,
) -> Call:
    """The reverse of a broadcast, to the shape of another tensor."""

def collapse_sum_to(
    data: Value,
    shape: ShapeLike,
) -> Call:
    """The reverse of a broadcast: sums over the axes that it would repeat."""

def concat(
    tensors: Value | Sequence[Value],
    axis: int | None = 0,
) -> Call:
    """The tensors concatenated along an axis; vectors if no axis is given."""

def cos(
    x: Value,
) -> Call:
    """Floats to floats."""

def cosh(
    x: Value,
) -> Call:
    """Floats to floats."""

def cumprod(
    data: Value,
    axis: int | None = None,
    dtype: Type | None = None,
    exclusive: int | None = False,
) -> Call:
    """Cumulative sums or products along an axis, or of the flattened tensor if no axis is named."""

def cumsum(
    data: Value,
    axis: int | None = None,
    dtype: Type | None = None,
    exclusive: int | None = False,
) -> Call:
    """Cumulative sums or products along an axis, or of the flattened tensor if no axis is named."""

def dequantize(
    data: Value,
    scale: Value,
    zero_point: Value,
    axis: int = -1,
    out_dtype: Type = "float32",
) -> Call:
    """Quantised or dequantised elements."""

def device(
    device_type: object,
    index: object = 0,
) -> Call:
    """A physical device, as an argument of an operator."""

def divide(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def dynamic_strided_slice(
    x: Value,
    begin: Value,
    end: Value,
    strides: Value,
) -> Call:
    """Like ``strided_slice``, with bounds that are known only at run time."""

def einsum(
    operands: Value | Sequence[Value],
    subscripts: str,
) -> Call:
    """A sum of products over the axes that the subscripts name."""

def equal(
    x1: Operand,
    x2: Operand,
) -> Call:
    """A comparison of any element types; the result is Boolean."""

def erf(
    x: Value,
) -> Call:
    """Floats to floats."""

def ewise_fma(
    x1: Value,
    x2: Value,
    x3: Value,
) -> Call:
    """``x1 * x2 + x3`` of equal shapes."""

def exp(
    x: Value,
) -> Call:
    """Floats to floats."""

def expand_dims(
    x: Value,
    axis: int | Sequence[int],
) -> Call:
    """Axes of length 1 inserted."""

def eye(
    n: Scalar,
    m: Scalar | None = None,
    k: Scalar = 0,
    dtype: Type = "float32",
) -> Call:
    """Ones on a diagonal."""

def eye_like(
    x: Value,
    k: Scalar = 0,
    dtype: Type | None = None,
) -> Call:
    """Ones on a diagonal, in the shape of another tensor."""

def flatten(
    x: Value,
) -> Call:
    """All elements along one axis."""

def flip(
    data: Value,
    axis: int,
) -> Call:
    """The elements in reverse order along an axis."""

def floor(
    x: Value,
) -> Call:
    """Any element type, kept."""

def floor_divide(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def floor_mod(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def full(
    shape: ShapeLike,
    fill_value: Value,
    dtype: Type | None = None,
) -> Call:
    """One value everywhere."""

def full_like(
    x: Value,
    fill_value: Value,
    dtype: Type | None = None,
) -> Call:
    """One value everywhere, in the shape of another tensor."""

def gather_elements(
    data: Value,
    indices: Value,
    axis: int = 0,
) -> Call:
    """For each index, the element at its own position, except along the axis, where the index selects."""

def gather_nd(
    data: Value,
    indices: Value,
    batch_dims: int = 0,
) -> Call:
    """The slices that the tuples along the indices' last axis select."""

def greater(
    x1: Operand,
    x2: Operand,
) -> Call:
    """A comparison of any element types; the result is Boolean."""

def greater_equal(
    x1: Operand,
    x2: Operand,
) -> Call:
    """A comparison of any element types; the result is Boolean."""

def hamming_window(
    window_size: Scalar,
    periodic: Scalar,
    alpha: Scalar,
    beta: Scalar,
    dtype: Type,
) -> Call:
    """The weights of a Hamming window."""

def hint_on_device(
    data: Value,
    dst_vdevice: object,
    memory_scope: str = "global",
) -> Call:
    """The value on the named device, if the module has this device."""

def index_put(
    data: Value,
    indices: Value | Sequence[Value],
    values: Value,
    accumulate: int = False,
) -> Call:
    """The data with values at positions given by one index for every axis."""

def index_tensor(
    data: Value,
    indices: Value | Sequence[Value],
) -> Call:
    """Leading axes replaced by the common shape of the indices into them."""

def invoke_closure(
    closure: object,
    args: Value | Sequence[object],
    sinfo_args: Info | Sequence[Info],
) -> Call:
    """A closure called on the fields of a tuple."""

def invoke_pure_closure(
    closure: object,
    args: Value | Sequence[object],
    sinfo_args: Info | Sequence[Info],
) -> Call:
    """A closure called on the fields of a tuple."""

def isfinite(
    x: Value,
) -> Call:
    """A Boolean for each element."""

def isinf(
    x: Value,
) -> Call:
    """A Boolean for each element."""

def isnan(
    x: Value,
) -> Call:
    """A Boolean for each element."""

def layout_transform(
    x: Value,
    index_map: object,
    pad_value: object | None = None,
    axis_separators: int | Sequence[int] | None = None,
    input_axis_separators: int | Sequence[int] | None = None,
) -> Call:
    """The elements moved to the indices given by an index map; the separators of axes say how the result lies in memory."""

def left_shift(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def less(
    x1: Operand,
    x2: Operand,
) -> Call:
    """A comparison of any element types; the result is Boolean."""

def less_equal(
    x1: Operand,
    x2: Operand,
) -> Call:
    """A comparison of any element types; the result is Boolean."""

def log(
    x: Value,
) -> Call:
    """Floats to floats."""

def log_add_exp(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def logical_and(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def logical_not(
    x: Value,
) -> Call:
    """Any element type, kept."""

def logical_or(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def logical_xor(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def make_closure(
    func: object,
    args: Value | Sequence[object],
) -> Call:
    """A function together with the values it captures."""

def matmul(
    x1: Value,
    x2: Value,
    out_dtype: Type | None = None,
) -> Call:
    """The product of two matrices, or of stacks of them; a vector counts as one row or one column."""

def max(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def maximum(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def mean(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def median(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The median; along one axis, also its index."""

def meshgrid(
    tensors: Value | Sequence[Value],
    indexing: str | None = "ij",
) -> Call:
    """The coordinates of the grid that the vectors span."""

def min(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def minimum(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def mod(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def multinomial_from_uniform(
    prob: Value,
    uniform_sample: Value,
    sample_indices: Value,
    dtype: Type = "int64",
) -> Call:
    """One draw from a row's distribution for each uniform sample."""

def multiply(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def negative(
    x: Value,
) -> Call:
    """Any element type, kept."""

def nonzero(
    x: Value,
) -> Call:
    """The indices of the nonzero elements: one row per axis, one column per element."""

def not_equal(
    x1: Operand,
    x2: Operand,
) -> Call:
    """A comparison of any element types; the result is Boolean."""

def null_value() -> Call:
    """The absence of a value, for optional arguments."""

def one_hot(
    indices: Value,
    on_value: Scalar,
    off_value: Scalar,
    depth: int,
    axis: int = -1,
) -> Call:
    """A new axis that has one value at the index and another elsewhere."""

def ones(
    shape: ShapeLike,
    dtype: Type,
) -> Call:
    """All zeros or all ones."""

def ones_like(
    x: Value,
    dtype: Type | None = None,
) -> Call:
    """All zeros or all ones, in the shape of another tensor."""

def outer(
    x1: Value,
    x2: Value,
) -> Call:
    """The products of all pairs of elements of two vectors."""

def permute_dims(
    x: Value,
    axes: Sequence[int] | None = None,
) -> Call:
    """The axes in another order; reversed if none is given."""

def power(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def print(
    *values: object,
    format: str | Value = "",
) -> Call:
    """Writes values to the console."""

def prod(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def quantize(
    data: Value,
    scale: Value,
    zero_point: Value,
    axis: int = -1,
    out_dtype: Type = "int8",
) -> Call:
    """Quantised or dequantised elements."""

def repeat(
    data: Value,
    repeats: int,
    axis: int | None = None,
) -> Call:
    """Each element repeated along an axis, or in the flattened tensor if no axis is given."""

def reshape(
    x: Value,
    shape: ShapeLike,
) -> Call:
    """The elements in row-major order in another shape."""

def reverse_sequence(
    data: Value,
    seq_lengths: Value,
    seq_axis: int = 1,
    batch_axis: int = 0,
) -> Call:
    """The first elements of each sequence reversed, up to its length."""

def right_shift(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def round(
    x: Value,
) -> Call:
    """Any element type, kept."""

def rsqrt(
    x: Value,
) -> Call:
    """Floats to floats."""

def scatter_elements(
    data: Value,
    indices: Value,
    updates: Value,
    axis: int = 0,
    reduction: str = "update",
) -> Call:
    """The data with each update at the index along the axis."""

def scatter_nd(
    data: Value,
    indices: Value,
    updates: Value,
    reduction: str = "update",
) -> Call:
    """The data with each update at its tuple of indices."""

def shape_of(
    expr: Value,
) -> Call:
    """The shape of a tensor."""

def shape_to_tensor(
    expr: ShapeLike,
) -> Call:
    """A vector of the dimensions of a shape."""

def sigmoid(
    x: Value,
) -> Call:
    """Floats to floats."""

def sign(
    x: Value,
) -> Call:
    """Any element type, kept."""

def sin(
    x: Value,
) -> Call:
    """Floats to floats."""

def sinh(
    x: Value,
) -> Call:
    """Floats to floats."""

def size(
    expr: Value,
) -> Call:
    """The number of elements of a tensor, as a tensor."""

def slice_scatter(
    input_tensor: Value,
    src: Value,
    start: Scalar,
    end: Scalar,
    step: Scalar,
    axis: int = 0,
) -> Call:
    """The tensor with a slice along an axis replaced by another tensor."""

def sort(
    x: Value,
    axis: int = -1,
    descending: int = False,
) -> Call:
    """The elements in order along an axis."""

def split(
    x: Value,
    indices_or_sections: int | Sequence[int],
    axis: int = 0,
) -> Call:
    """An axis split into equal sections (the last may be shorter), or at indices. A single part is the tensor itself."""

def sqrt(
    x: Value,
) -> Call:
    """Floats to floats."""

def square(
    x: Value,
) -> Call:
    """Any element type, kept."""

def squeeze(
    x: Value,
    axis: int | Sequence[int] | None = None,
) -> Call:
    """Axes of length 1 removed: the named ones, or all."""

def stack(
    tensors: Value | Sequence[Value],
    axis: int | None = 0,
) -> Call:
    """Tensors of the same shape stacked along a new axis."""

def std(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def strided_slice(
    x: Value,
    axes: Value | Sequence[Scalar],
    begin: Value | Sequence[Scalar],
    end: Value | Sequence[Scalar],
    strides: Value | Sequence[Scalar] | None = None,
    assume_inbound: int = False,
) -> Call:
    """The elements from begin to end, in steps of the stride, along the axes."""

def subtract(
    x1: Operand,
    x2: Operand,
) -> Call:
    """Arithmetic on operands of the same element type. A literal number takes the width of the other operand."""

def sum(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def take(
    x: Value,
    indices: Operand,
    axis: int | None = None,
    mode: str = "fast",
) -> Call:
    """The slices of an axis that the indices select, in the indices' shape."""

def tan(
    x: Value,
) -> Call:
    """Floats to floats."""

def tanh(
    x: Value,
) -> Call:
    """Floats to floats."""

def tensor_to_shape(
    expr: Value,
) -> Call:
    """The shape whose dimensions are the elements of a vector of integers."""

def tile(
    data: Value,
    repeats: int | Sequence[int],
) -> Call:
    """The tensor repeated along its axes, and along new leading ones."""

def to_vdevice(
    data: object,
    dst_vdevice: object,
) -> Call:
    """The value copied to a virtual device."""

def topk(
    data: Value,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    largest: int = True,
    dtype: Type | None = "int32",
) -> Call:
    """The first ``k`` sorted elements along an axis (all, if ``k`` is not positive), and their indices."""

def tril(
    x: Value,
    k: Scalar = 0,
) -> Call:
    """The lower or upper triangle of the last two axes; the rest is zero."""

def triu(
    x: Value,
    k: Scalar = 0,
) -> Call:
    """The lower or upper triangle of the last two axes; the rest is zero."""

def trunc(
    x: Value,
) -> Call:
    """Any element type, kept."""

def unique(
    x: Value,
    sorted: Scalar = 1,
    return_index: int | Value = False,
    return_inverse: int | Value = False,
    return_counts: int | Value = False,
    axis: int | Value | None = None,
) -> Call:
    """The distinct elements (or slices along an axis), and optionally their indices and counts."""

def variance(
    x: Value,
    axis: int | Sequence[int] | None = None,
    keepdims: int = False,
) -> Call:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""

def where(
    condition: Value,
    x1: Value,
    x2: Value,
) -> Call:
    """Elements of one tensor where a condition holds, of another elsewhere."""

def wrap_param(
    data: Value,
    dtype: Type = "float32",
) -> Call:
    """A parameter of a model, converted to another type."""

def zeros(
    shape: ShapeLike,
    dtype: Type,
) -> Call:
    """All zeros or all ones."""

def zeros_like(
    x: Value,
    dtype: Type | None = None,
) -> Call:
    """All zeros or all ones, in the shape of another tensor."""

class _Builtin:
    @staticmethod
    def alloc_tensor(
        shape: ShapeLike,
        dtype: Type | Value,
        runtime_device_index: Scalar,
        storage_scope: str | Value = "global",
    ) -> Call:
        """A new tensor."""

    @staticmethod
    def stop_lift_params(
        x: Value,
    ) -> Call:
        """A tensor like the one given: a mark for the compiler, or the first worker's."""

builtin: _Builtin

class _Ccl:
    @staticmethod
    def allgather(
        x: Value,
        num_workers: int,
        in_group: int = True,
    ) -> Call:
        """The concatenated tensors of all workers."""

    @staticmethod
    def allreduce(
        x: Value,
        op_type: str = "sum",
        in_group: int = True,
    ) -> Call:
        """The tensors of all workers, reduced element by element."""

    @staticmethod
    def broadcast_from_worker0(
        x: Value,
    ) -> Call:
        """A tensor like the one given: a mark for the compiler, or the first worker's."""

    @staticmethod
    def scatter_from_worker0(
        x: Value,
        num_workers: int,
        axis: int = 0,
    ) -> Call:
        """The tensor of the first worker, distributed among all workers along an axis."""

ccl: _Ccl

class _Dist:
    @staticmethod
    def annotate_sharding(
        value: object,
        device_mesh: object,
        placement: object,
    ) -> Call:
        """The same value, distributed over the devices of a mesh."""

    @staticmethod
    def call_tir_local_view(
        func: object,
        args: object,
        out: Info | Sequence[Info],
        tir_vars: object | None = None,
    ) -> Call:
        """A PrimFunc called on a worker's parts of distributed tensors."""

    @staticmethod
    def redistribute(
        value: object,
        device_mesh: object,
        placement: object,
    ) -> Call:
        """The same value, distributed over the devices of a mesh."""

    @staticmethod
    def redistribute_replica_to_shard(
        input: object,
        num_workers: int,
        axis: int,
    ) -> Call:
        """A part of a tensor that every worker has completely: a distributed tensor, which is opaque here."""

dist: _Dist

class _Grad:
    @staticmethod
    def avg_pool2d_backward(
        output_grad: Value,
        data: Value,
        pool_size: Sequence[int] = (1,),
        strides: Sequence[int] = (1,),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Call:
        """The gradient of a pool with respect to its input."""

    @staticmethod
    def end_checkpoint(
        input: object,
    ) -> Call:
        """The begin or end of a part that is recomputed for the gradient; the value is unchanged."""

    @staticmethod
    def max_pool2d_backward(
        output_grad: Value,
        data: Value,
        pool_size: Sequence[int] = (1,),
        strides: Sequence[int] = (1,),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Call:
        """The gradient of a pool with respect to its input."""

    @staticmethod
    def nll_loss_backward(
        output_grad: Value,
        predictions: Value,
        targets: Value,
        weights: Value | None = None,
        reduction: str = "mean",
        ignore_index: int = -100,
    ) -> Call:
        """The gradient of the negative log likelihood with respect to the predictions."""

    @staticmethod
    def no_grad(
        input: object,
    ) -> Call:
        """A value of the same kind: a mark for the compiler."""

    @staticmethod
    def start_checkpoint(
        input: object,
    ) -> Call:
        """The begin or end of a part that is recomputed for the gradient; the value is unchanged."""

    @staticmethod
    def take_backward(
        output_grad: Value,
        x: Value,
        indices: Value,
        axis: int | None = None,
        mode: str = "fast",
    ) -> Call:
        """The gradient of `take` with respect to the data."""

grad: _Grad

class _Image:
    @staticmethod
    def affine_grid(
        data: Value,
        size: ShapeLike | Dimension,
        align_corners: int = True,
    ) -> Call:
        """The image of a regular grid under an affine transformation (2 by 3, or 3 by 4)."""

    @staticmethod
    def grid_sample(
        data: Value,
        grid: Value,
        method: str = "bilinear",
        layout: str = "NCHW",
        padding_mode: str = "zeros",
        align_corners: int = False,
    ) -> Call:
        """The image sampled at the points of a grid, whose axis 1 has their coordinates."""

    @staticmethod
    def resize2d(
        data: Value,
        size: ShapeLike | Dimension,
        roi: object | None = None,
        layout: str = "NCHW",
        method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel",
        rounding_method: str = "round",
        cubic_alpha: float = -0.75,
        cubic_exclude: int = 0,
        extrapolation_value: float = 0.0,
        out_dtype: Type | None = None,
    ) -> Call:
        """The image at another size."""

    @staticmethod
    def resize3d(
        data: Value,
        size: ShapeLike | Dimension,
        roi: object | None = None,
        layout: str = "NCDHW",
        method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel",
        rounding_method: str = "",
        cubic_alpha: float = -0.75,
        cubic_exclude: int = 0,
        extrapolation_value: float = 0.0,
        out_dtype: Type | None = None,
    ) -> Call:
        """The image at another size."""

image: _Image

class _Inspect:
    @staticmethod
    def tensor_byte_offset(
        tensor: Value,
    ) -> Call:
        """A field of the tensor's descriptor."""

    @staticmethod
    def tensor_dtype_bits(
        tensor: Value,
    ) -> Call:
        """A field of the tensor's descriptor."""

    @staticmethod
    def tensor_dtype_code(
        tensor: Value,
    ) -> Call:
        """A field of the tensor's descriptor."""

    @staticmethod
    def tensor_dtype_lanes(
        tensor: Value,
    ) -> Call:
        """A field of the tensor's descriptor."""

    @staticmethod
    def tensor_elem_offset(
        tensor: Value,
    ) -> Call:
        """A field of the tensor's descriptor."""

    @staticmethod
    def tensor_ndim(
        tensor: Value,
    ) -> Call:
        """The rank."""

    @staticmethod
    def tensor_shape_i(
        tensor: Value,
        axis: Scalar,
    ) -> Call:
        """The length of an axis."""

    @staticmethod
    def tensor_stride_i(
        tensor: Value,
        axis: Scalar,
    ) -> Call:
        """The stride of an axis in elements."""

inspect: _Inspect

class _Memory:
    @staticmethod
    def alloc_storage(
        size: ShapeLike,
        virtual_device_index: Scalar,
        storage_scope: str | Value,
        dtype: Type | Value,
    ) -> Call:
        """A new piece of memory."""

    @staticmethod
    def alloc_tensor(
        storage: object,
        offset: Scalar,
        shape: ShapeLike,
        dtype: Type | Value,
        runtime_device_ind: Scalar = 0,
    ) -> Call:
        """A tensor in a piece of memory."""

    @staticmethod
    def ensure_zero_offset(
        data: Value,
    ) -> Call:
        """The tensor at the start of its memory, copied if necessary."""

    @staticmethod
    def kill_storage(
        storage: object,
    ) -> Call:
        """The end of the lifetime of a piece of memory."""

    @staticmethod
    def kill_tensor(
        tensor: object,
    ) -> Call:
        """The end of the lifetime of a tensor."""

    @staticmethod
    def view(
        data: Value,
        shape: ShapeLike | None = None,
        dtype: Type | Value | None = None,
        relative_byte_offset: Scalar | None = None,
    ) -> Call:
        """The memory of a tensor from an offset on, reinterpreted with another shape or element type."""

memory: _Memory

class _Nn:
    @staticmethod
    def adaptive_avg_pool1d(
        data: Value,
        output_size: int | Sequence[int] | None = None,
        layout: str = "NCW",
        out_layout: str | None = None,
    ) -> Call:
        """Windows chosen so that the result has the size asked for (the input's, if none is)."""

    @staticmethod
    def adaptive_avg_pool2d(
        data: Value,
        output_size: int | Sequence[int] | None = None,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Call:
        """Windows chosen so that the result has the size asked for (the input's, if none is)."""

    @staticmethod
    def adaptive_avg_pool3d(
        data: Value,
        output_size: int | Sequence[int] | None = None,
        layout: str = "NCDHW",
        out_layout: str | None = None,
    ) -> Call:
        """Windows chosen so that the result has the size asked for (the input's, if none is)."""

    @staticmethod
    def attention(
        query: Value,
        key: Value,
        value: Value,
        bias: Value | None = None,
        scale: float | None = None,
        causal_mask: str | None = None,
        window_size: int | None = None,
    ) -> Call:
        """For each query, the mean of the values, weighted by the similarity of the query and their keys."""

    @staticmethod
    def attention_bias(
        query: Value,
        key: Value,
        value: Value,
        bias: Value | None = None,
        scale: float | None = None,
        causal_mask: str | None = None,
        window_size: int | None = None,
    ) -> Call:
        """For each query, the mean of the values, weighted by the similarity of the query and their keys."""

    @staticmethod
    def attention_var_len(
        queries: Value,
        keys: Value,
        values: Value,
        seqstart_q: Value,
        max_seqlen_q: Value,
        seqstart_k: Value | None = None,
        max_seqlen_k: Value | None = None,
        scale: float | None = None,
        causal_mask: str | None = None,
        window_size: int | None = None,
    ) -> Call:
        """Attention over sequences of different lengths, concatenated along one axis."""

    @staticmethod
    def avg_pool1d(
        data: Value,
        pool_size: int | Sequence[int] = (1,),
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = True,
        layout: str = "NCW",
        out_layout: str | None = None,
    ) -> Call:
        """One result for each position of a window over the spatial axes."""

    @staticmethod
    def avg_pool2d(
        data: Value,
        pool_size: int | Sequence[int] = (1,),
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Call:
        """One result for each position of a window over the spatial axes."""

    @staticmethod
    def avg_pool3d(
        data: Value,
        pool_size: int | Sequence[int] = (1,),
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = True,
        layout: str = "NCDHW",
        out_layout: str | None = None,
    ) -> Call:
        """One result for each position of a window over the spatial axes."""

    @staticmethod
    def batch_flatten(
        data: Value,
    ) -> Call:
        """All axes except the first merged into one."""

    @staticmethod
    def batch_norm(
        data: Value,
        gamma: Value,
        beta: Value,
        moving_mean: Value,
        moving_var: Value,
        axis: int,
        epsilon: float = 1e-05,
        center: int = True,
        scale: int = True,
        momentum: float = 0.1,
        training: int = True,
    ) -> Call:
        """Zero mean and unit variance for each channel, and the new running mean and variance."""

    @staticmethod
    def conv1d(
        data: Value,
        weight: Value,
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        groups: int = 1,
        data_layout: str = "NCW",
        kernel_layout: str = "OIW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> Call:
        """Each output element is a weighted sum over a window of all input channels of its group."""

    @staticmethod
    def conv1d_transpose(
        data: Value,
        weight: Value,
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        output_padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        groups: int = 1,
        data_layout: str = "NCW",
        kernel_layout: str = "IOW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> Call:
        """Each input element adds a weighted window to the output: the reverse of a convolution."""

    @staticmethod
    def conv2d(
        data: Value,
        weight: Value,
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        groups: int = 1,
        data_layout: str = "NCHW",
        kernel_layout: str = "OIHW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> Call:
        """Each output element is a weighted sum over a window of all input channels of its group."""

    @staticmethod
    def conv2d_transpose(
        data: Value,
        weight: Value,
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        output_padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        groups: int = 1,
        data_layout: str = "NCHW",
        kernel_layout: str = "IOHW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> Call:
        """Each input element adds a weighted window to the output: the reverse of a convolution."""

    @staticmethod
    def conv3d(
        data: Value,
        weight: Value,
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        groups: int = 1,
        data_layout: str = "NCDHW",
        kernel_layout: str = "OIDHW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> Call:
        """Each output element is a weighted sum over a window of all input channels of its group."""

    @staticmethod
    def conv3d_transpose(
        data: Value,
        weight: Value,
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        output_padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        groups: int = 1,
        data_layout: str = "NCDHW",
        kernel_layout: str = "IODHW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> Call:
        """Each input element adds a weighted window to the output: the reverse of a convolution."""

    @staticmethod
    def cross_entropy_with_logits(
        predictions: Value,
        labels: Value,
    ) -> Call:
        """The mean cross entropy of two distributions: a scalar."""

    @staticmethod
    def dropout(
        data: Value,
        rate: float = 0.5,
    ) -> Call:
        """The tensor with elements dropped, and the mask."""

    @staticmethod
    def gelu(
        data: Value,
    ) -> Call:
        """An activation function, from floats to floats."""

    @staticmethod
    def gelu_tanh(
        data: Value,
    ) -> Call:
        """An activation function, from floats to floats."""

    @staticmethod
    def group_norm(
        data: Value,
        gamma: Value,
        beta: Value,
        num_groups: int,
        channel_axis: int,
        axes: int | Sequence[int],
        epsilon: float = 1e-05,
        center: int = True,
        scale: int = True,
    ) -> Call:
        """Zero mean and unit variance over groups of channels, then scale and offset."""

    @staticmethod
    def instance_norm(
        data: Value,
        gamma: Value,
        beta: Value,
        channel_axis: int,
        axes: int | Sequence[int],
        epsilon: float = 1e-05,
        center: int = True,
        scale: int = True,
    ) -> Call:
        """Zero mean and unit variance for each channel of each example, then scale and offset."""

    @staticmethod
    def layer_norm(
        data: Value,
        gamma: Value,
        beta: Value,
        axes: int | Sequence[int],
        epsilon: float = 1e-05,
        center: int = True,
        scale: int = True,
    ) -> Call:
        """Zero mean and unit variance over the axes, then scale and offset."""

    @staticmethod
    def leakyrelu(
        data: Value,
        alpha: float = 0.01,
    ) -> Call:
        """Negative elements shrink by a factor."""

    @staticmethod
    def log_softmax(
        data: Value,
        axis: int = -1,
    ) -> Call:
        """Positive elements that sum to 1 along an axis (or their logarithms)."""

    @staticmethod
    def max_pool1d(
        data: Value,
        pool_size: int | Sequence[int] = (1,),
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout: str = "NCW",
        out_layout: str | None = None,
    ) -> Call:
        """One result for each position of a window over the spatial axes."""

    @staticmethod
    def max_pool2d(
        data: Value,
        pool_size: int | Sequence[int] = (1,),
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout: str = "NCHW",
        out_layout: str | None = None,
    ) -> Call:
        """One result for each position of a window over the spatial axes."""

    @staticmethod
    def max_pool3d(
        data: Value,
        pool_size: int | Sequence[int] = (1,),
        strides: int | Sequence[int] = (1,),
        padding: int | Sequence[int] = (0,),
        dilation: int | Sequence[int] = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout: str = "NCDHW",
        out_layout: str | None = None,
    ) -> Call:
        """One result for each position of a window over the spatial axes."""

    @staticmethod
    def nll_loss(
        predictions: Value,
        targets: Value,
        weights: Value | None = None,
        reduction: str = "mean",
        ignore_index: int = -100,
    ) -> Call:
        """The negative log likelihood of the targets' classes: for each, or their mean or sum."""

    @staticmethod
    def pad(
        data: Value,
        pad_width: int | Sequence[int],
        pad_mode: str = "constant",
        pad_value: float = 0.0,
    ) -> Call:
        """The tensor with padding before and after along its axes."""

    @staticmethod
    def pixel_shuffle(
        data: Value,
        upscale_factor: int,
    ) -> Call:
        """Groups of channels moved to the two spatial axes."""

    @staticmethod
    def prelu(
        data: Value,
        alpha: Value,
        axis: int = 1,
    ) -> Call:
        """Negative elements scaled by a learned slope for each channel."""

    @staticmethod
    def relu(
        data: Value,
    ) -> Call:
        """Negative elements become zero."""

    @staticmethod
    def rms_norm(
        data: Value,
        weight: Value,
        axes: int | Sequence[int] = (-1,),
        epsilon: float = 1e-05,
    ) -> Call:
        """Unit mean square over the axes, then scale."""

    @staticmethod
    def selu(
        data: Value,
    ) -> Call:
        """An activation function, from floats to floats."""

    @staticmethod
    def silu(
        data: Value,
    ) -> Call:
        """An activation function, from floats to floats."""

    @staticmethod
    def softmax(
        data: Value,
        axis: int = -1,
    ) -> Call:
        """Positive elements that sum to 1 along an axis (or their logarithms)."""

    @staticmethod
    def softplus(
        data: Value,
        beta: float = 1.0,
        threshold: float = 20.0,
    ) -> Call:
        """A smooth maximum with zero; above a threshold, the element itself."""

nn: _Nn

class _Vision:
    @staticmethod
    def all_class_non_max_suppression(
        boxes: Value,
        scores: Value,
        max_output_boxes_per_class: Value,
        iou_threshold: Value,
        score_threshold: Value,
        output_format: str = "onnx",
    ) -> Call:
        """The remaining boxes of each class: rows of (batch, class, box), of which the first ones are filled, and their number."""

    @staticmethod
    def get_valid_counts(
        data: Value,
        score_threshold: float = 0.0,
        id_index: int = 0,
        score_index: int = 1,
    ) -> Call:
        """The number of boxes of each batch above the threshold, these boxes first, and their indices."""

    @staticmethod
    def multibox_transform_loc(
        cls_pred: Value,
        loc_pred: Value,
        anchor: Value,
        clip: int = False,
        threshold: float = 0.0,
        variances: object = None,
        keep_background: int = True,
        apply_softmax: int = True,
    ) -> Call:
        """The boxes given by anchors and predicted offsets, and the scores of their classes."""

    @staticmethod
    def non_max_suppression(
        data: Value,
        valid_count: Value,
        indices: Value,
        max_output_size: int = -1,
        iou_threshold: float = 0.5,
        force_suppress: int = False,
        top_k: int = -1,
        coord_start: int = 2,
        score_index: int = 1,
        id_index: int = 0,
        return_indices: int = True,
        invalid_to_bottom: int = False,
        soft_nms_sigma: float = 0.0,
        score_threshold: float = 0.0,
    ) -> Call:
        """The boxes that do not overlap better ones, or their indices and their number."""

    @staticmethod
    def roi_align(
        data: Value,
        rois: Value,
        pooled_size: int | Sequence[int],
        spatial_scale: float,
        sample_ratio: int = -1,
        aligned: int = False,
        layout: str = "NCHW",
        mode: str = "avg",
    ) -> Call:
        """Each region of interest resized by interpolation."""

    @staticmethod
    def roi_pool(
        data: Value,
        rois: Value,
        pooled_size: int | Sequence[int],
        spatial_scale: float,
        layout: str = "NCHW",
    ) -> Call:
        """Each region of interest resized to the maximum of each cell."""

vision: _Vision

class _Vm:
    @staticmethod
    def alloc_storage(
        shape: ShapeLike,
        runtime_device_index: Scalar,
        dtype: Type | Value,
        storage_scope: str | Value = "global",
    ) -> Call:
        """A new piece of memory."""

    @staticmethod
    def alloc_tensor(
        storage: object,
        offset: Scalar,
        shape: ShapeLike,
        dtype: Type | Value,
        runtime_device_ind: Scalar = 0,
    ) -> Call:
        """A tensor in a piece of memory; if its shape is computed at run time, only the rank is known."""

    @staticmethod
    def call_tir_dyn(
        func: object,
        args: Value | Sequence[object],
    ) -> Call:
        """A PrimFunc called on arguments and on results that are already allocated."""

    @staticmethod
    def kill_object(
        obj: object,
    ) -> Call:
        """The end of the lifetime of any object."""

vm: _Vm
