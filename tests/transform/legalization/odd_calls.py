"""Calls with the attributes and ranks at which definitions take another way: one of the choices between each pair of braces."""

from __future__ import annotations

from random import Random

FLOAT = "{float32|float32|float16|float64|bfloat16}"
NUMBER = "{float32|float32|float16|float64|int8|int32|uint8|int64|bool}"
MODE = "{half_pixel|align_corners|asymmetric|pytorch_half_pixel|tf_half_pixel_for_nn|tf_crop_and_resize}"
ROUND = "{|round|floor|ceil|round_prefer_floor|round_prefer_ceil}"
METHOD = "{linear|cubic|nearest_neighbor}"
WINDOW = "strides={1|2|[2, 1]}, padding={0|1|[1, 0]|[0, 1, 2, 1]}, dilation={1|1|2|[1, 2]}"

CALLS = f"""
x: (2, 3, 8, 6) {FLOAT} | R.image.resize2d(x, ({{4|16|1|8|5}}, {{12|7|1|6}}), method="{METHOD}", coordinate_transformation_mode="{MODE}", rounding_method="{ROUND}", cubic_alpha={{-0.5|-0.75}}, cubic_exclude={{0|0|1}})
x: (2, n, 6, 3) {FLOAT} | R.image.resize2d(x, (4, 12), layout="NHWC", method="{METHOD}", coordinate_transformation_mode="{MODE}", rounding_method="{ROUND}", out_dtype="{{float32|float16}}")
x: (2, 3, {{8|n}}, 6, 4) {FLOAT} | R.image.resize3d(x, (4, {{12|1}}, 5), method="{METHOD}", coordinate_transformation_mode="{MODE}", rounding_method="{ROUND}")
x: (2, {{2|3}}, {{3|4}}) {FLOAT} | R.image.affine_grid(x, size=({{5|1|4}}, {{7|1|2}}), align_corners={{True|False}})
x: (2, {{2|3}}, {{3|4}}) {FLOAT} | R.image.affine_grid(x, size=({{5|1}}, {{7|1}}, {{3|1}}), align_corners={{True|False}})
x: ({{2|n}}, 4, 8, {{8|m}}) {NUMBER}, w: (4, {{4|2|1}}, 3, {{3|2}}) {NUMBER} | R.nn.conv2d(x, w, {WINDOW}, groups={{1|1|2|4}}, out_dtype="{{float32|int32|float16|float64}}")
x: (2, 8, 8, {{4|8}}) {FLOAT}, w: (3, 3, {{4|2|8}}, 4) {FLOAT} | R.nn.conv2d(x, w, {WINDOW}, groups={{1|2}}, data_layout="NHWC", kernel_layout="{{HWIO|HWOI}}", out_layout="{{NHWC|NCHW}}")
x: (2, 2, 8, 8, 4) {FLOAT}, w: (4, {{8|1}}, 3, 3) {FLOAT} | R.nn.conv2d(x, w, data_layout="NCHW4c", kernel_layout="OIHW", out_layout="{{NCHW4c|NCHW|NCHW2c}}")
x: (2, 8, 8, 8) {FLOAT}, w: (2, 2, 3, 3, 4, 4) {FLOAT} | R.nn.conv2d(x, w, padding=1, kernel_layout="OIHW{{4i4o|4o4i}}", out_layout="{{NCHW|NCHW8c}}")
x: (2, 4, 8, {{8|n}}) {FLOAT}, w: (4, {{4|2}}, 3, {{3|2}}) {FLOAT} | R.nn.conv2d_transpose(x, w, {WINDOW}, output_padding={{0|1|[0, 1]}}, groups={{1|1|2}})
x: (2, 4, {{8|n}}) {FLOAT}, w: (4, 4, 3) {FLOAT} | R.nn.conv1d{{|_transpose}}(x, w, strides={{1|2}}, padding={{0|1|[1, 2]}}, dilation={{1|2}}, groups={{1|2}})
x: (2, 4, 8, {{8|n}}) {NUMBER} | R.nn.{{max|avg}}_pool2d(x, pool_size={{2|[3, 2]|1}}, {WINDOW}, ceil_mode={{True|False}}, count_include_pad={{True|False}}, layout="{{NCHW|NHWC}}")
x: (2, 2, 8, 8, 4) {FLOAT} | R.nn.{{max|avg|adaptive_avg}}_pool2d(x, layout="NCHW4c", out_layout="{{NCHW4c|NCHW}}")
x: (2, 4, {{8|n}}) {FLOAT} | R.nn.{{max|avg}}_pool1d(x, pool_size={{2|3}}, strides={{1|2}}, padding={{0|1|[1, 0]}}, ceil_mode={{True|False}}, count_include_pad={{True|False}})
x: (2, 4, 8, {{7|n}}) {FLOAT} | R.nn.adaptive_avg_pool2d(x, output_size={{None|[3, 2]|1|8}})
g: (2, 4, 4, {{4|3}}) {FLOAT}, x: (2, 4, 8, {{8|7}}) {FLOAT} | R.grad.{{max|avg}}_pool2d_backward(g, x, pool_size=[2, 2], strides=[2, 2], padding={{[0, 0]|[1, 1]|[0, 1, 0, 1]}}, ceil_mode={{True|False}}, count_include_pad={{True|False}})
x: ({{n, 5|5|2, 5, m}}) {FLOAT}, t: ({{n||2, m}}) {{int64|int32}}, w: (5) {FLOAT} | R.nn.nll_loss(x, t, {{weights=w, |}}reduction="{{mean|sum|none}}", ignore_index={{-100|1}})
g: ({{n||2, m}}) {FLOAT}, x: ({{n, 5|5|2, 5, m}}) {FLOAT}, t: ({{n||2, m}}) int64, w: (5) {FLOAT} | R.grad.nll_loss_backward(g, x, t, {{weights=w, |}}reduction="{{mean|sum|none}}", ignore_index={{-100|1}})
x: ({{n, 5|5|3, 1}}) {FLOAT}, t: ({{n, 5|5|3, 1}}) {FLOAT} | R.nn.cross_entropy_with_logits(x, t)
x: (4, {{n|3}}) float32, s: ({{|1|4|3}}) float32, z: ({{|1|4|3}}) {{int8|int32}} | R.quantize(x, s, z, axis={{0|1|-1|-2}}, out_dtype="{{int8|uint8|int32|float8_e4m3fn}}")
x: (4, {{n|3}}) {{int8|uint8|int32}}, s: ({{|1|4|3}}) {{float32|float16}}, z: ({{|1|4|3}}) {{int8|int32}} | R.dequantize(x, s, z, axis={{0|1|-1|-2}}, out_dtype="{{float32|float16}}")
x: ({{n, 4|5|2, 3, m}}) {NUMBER}, i: ({{|2|n, 2|1}}) {{int64|int32|uint8}} | R.take(x, i, {{|axis=0, |axis=1, |axis=-1, }}mode="{{fast|wrap|clip|nan|raise}}")
g: ({{2, 4|n, 2|2}}) {FLOAT}, x: ({{n, 4|5}}) {FLOAT}, i: (2) int64 | R.grad.take_backward(g, x, i, axis={{0|1|-1|None}}, mode="{{fast|wrap|clip}}")
x: (4, {{n|5}}, 3) {NUMBER}, i: ({{2|1|n, 2|}}) int64, j: ({{2|1|2, 1}}) int32 | R.index_tensor(x, ({{i, j|i,|i, j, j}}))
x: (4, {{n|5}}) {NUMBER}, i: ({{2|1}}) int64, j: (2) int64, v: ({{2|1|}}) {NUMBER} | R.index_put(x, ({{i, j|i,}}), v, accumulate={{True|False}})
i: ({{n|2, 3|}}) int64 | R.one_hot(i, R.prim_value({{1|1.5}}), R.prim_value({{0|0.5|-1}}), {{1|4|5}}, axis={{-1|0|1}})
x: (n, 4) float32 | R.arange({{0|1|n|0.5|-2}}, {{10|n|m|4.5|8}}, {{1|2|0.5|n|-1|3}}, dtype="{{int64|int32|float32|float16}}")
x: (n, 4) float32 | R.hamming_window(R.prim_value({{1|2|8|n}}), R.prim_value({{True|False|0|1}}), R.prim_value(0.54), R.prim_value({{0.46|0.5}}), dtype="{FLOAT}")
x: (n, {{8|5}}) {NUMBER} | R.strided_slice(x, axes=[{{1|-1}}], begin=[{{0|1|-2|20|-20|n|m|7}}], end=[{{5|-1|20|-20|n|m|0|8}}], strides=[{{1|2|-1|-2|3}}], assume_inbound={{False|False|True}})
x: (n, {{8|5}}, m) {NUMBER} | R.strided_slice(x, axes=[{{0, 1|1, 2|2, 0|1, 1}}], begin=[{{0|1|n}}, {{-3|2|m}}], end=[{{5|n}}, {{-1|20|m}}])
x: ({{8|n}}, 4) {NUMBER}, s: ({{2|3|1}}, 4) {NUMBER} | R.slice_scatter(x, s, {{0|1|-3|n}}, {{4|7|-1|8}}, {{1|2|3}}, axis={{0|0|-2}})
x: (4, n) {NUMBER}, s: (4, {{2|3}}) {NUMBER} | R.slice_scatter(x, s, {{0|1|-3}}, {{2|5|6}}, {{1|2}}, axis={{1|-1}})
x: ({{4|n}}, 5) {NUMBER} | R.nn.pad(x, ({{0|1|2|-1}}, {{0|1|-1|3}}, {{0|2|-2}}, {{0|1|-1}}), pad_mode="{{constant|reflect|replicate|circular|edge}}", pad_value={{0.0|1.5}})
x: (2, {{4|n|1}}, 3) {FLOAT}, a: ({{4|1|n|3}}) {FLOAT} | R.nn.prelu(x, a, axis={{1|-2|2|0}})
x: ({{2|n}}, 4, 3) {FLOAT}, g: ({{4|3}}) {FLOAT}, b: ({{4|3}}) {FLOAT}, m1: ({{4|3}}) {FLOAT}, v: ({{4|3}}) {FLOAT} | R.nn.batch_norm(x, g, b, m1, v, axis={{1|2|-1}}, epsilon={{1e-05|0.1}}, center={{True|False}}, scale={{True|False}}, momentum={{0.1|0.9}}, training={{True|False}})
x: ({{4|n}}, 5) {NUMBER} | R.topk(x, k={{1|2|5|n|0|-1}}, axis={{0|1|-1}}, ret_type="{{both|values|indices}}", largest={{True|False}}, dtype="{{int32|int64}}")
x: ({{4|n|1}}, {{5|0}}, 2) {NUMBER} | R.{{sort|argsort}}(x, axis={{0|1|-1|2}}, descending={{True|False}})
x: ({{n|3}}, 4) {FLOAT}, y: (4, {{5|3}}) {FLOAT} | R.einsum((x, y), "{{ij,jk->ik|ij,jk->ki|ij,jk|ij,jk->i|ij,jl->l|ab,bc->}}")
x: (3, 3) {FLOAT} | R.einsum((x,), "{{ii->i|ii|ij->ji|ij->i|...->...|i...->...i}}")
x: ({{2, 3, 4|n, 3, 4}}) {NUMBER}, i: ({{2, 1|2, 2|5, 2|2, 3}}) int64 | R.gather_nd(x, i, batch_dims={{0|1}})
x: (4, {{n|3}}) {NUMBER}, i: (2, {{1|2}}) int64, u: (2{{|, n|, 3}}) {NUMBER} | R.scatter_nd(x, i, u, reduction="{{update|add|mul|max|min}}")
x: (4, n) {NUMBER}, i: ({{2, 3|2, n|1, 2, 2|}}{{, 1|, 2}}) int64, u: ({{2, 3|2, n|1, 2, 2|}}{{|, n}}) {NUMBER} | R.scatter_nd(x, i, u, reduction="{{update|add|mul|max|min}}")
x: (4, 3) {NUMBER}, i: ({{2|n}}, 3) int64, u: ({{2|n}}, 3) {NUMBER} | R.scatter_elements(x, i, u, axis={{0|1|-1}}, reduction="{{update|add|mul|max|min|mean}}")
x: ({{4|n, 4|2, n, 4|1, 2, n, 4|5, 1, n, 4}}) {NUMBER}, y: ({{4|4, m|2, 4, m|3, 1, 4, 5}}) {NUMBER} | R.matmul(x, y, out_dtype="{{float32|int32|float16|float64}}")
x: ({{4|n, 4|2, n, 4|2, 1, n, 4}}) {FLOAT}, y: ({{4|4, m|2, 4, m|3, 4, 5}}) {FLOAT} | R.matmul(x, y)
x: ({{1|4|n, 1|1, 1|}}) {NUMBER} | R.broadcast_to(x, R.shape([{{3, n, 4|n, 4|2, 3, 4|n, 5}}]))
x: ({{n, 4|3, n, 4}}) {FLOAT} | R.collapse_sum_to(x, R.shape([{{1, 4|4|1|n, 1|n, 4|1, 1|}}]))
x: ({{n, 4|3, n, 4|4, 4}}) {FLOAT}, y: ({{1, 4|4|1|n, 1|n, 4|}}) {FLOAT} | R.collapse_sum_like(x, y)
x: ({{n, 4|3}}) {NUMBER} | R.{{cumsum|cumprod}}(x, axis={{None|0|1|-1}}, dtype="{{float32|int64|int32}}", exclusive={{True|False|None}})
x: ({{1, n, 1|1, 4, 1}}) {NUMBER} | R.squeeze(x{{|, axis=0|, axis=[0, 2]|, axis=-1}})
x: ({{n, 4|3}}) {NUMBER} | R.{{repeat(x, {{1|2|3}}, axis={{None|0|1|-1}})|tile(x, {{2|[1, 2]|[2, 1, 3]}})|flip(x, axis={{0|1|-1|[0, 1]}})}}
x: (n, 4, 3) {FLOAT}, g: ({{4, 3|3|4}}) {FLOAT}, b: ({{4, 3|3|4}}) {FLOAT} | R.nn.layer_norm(x, g, b, axes=[{{1, 2|-1|-2, -1|1}}], epsilon={{1e-05|0.5}}, center={{True|False}}, scale={{True|False}})
x: (n, {{4|6}}, 3, 2) {FLOAT}, g: ({{4|6}}) {FLOAT}, b: ({{4|6}}) {FLOAT} | R.nn.group_norm(x, g, b, num_groups={{1|2|4|3}}, channel_axis={{1|-3}}, axes=[{{2, 3|3|-1, -2}}], center={{True|False}}, scale={{True|False}})
x: ({{n, 4|3, 5|1, 2}}) {FLOAT} | R.{{median|variance|std|mean|max|min|argmax|argmin|sum|prod}}(x, axis={{None|0|1|-1|[0, 1]}}, keepdims={{True|False}})
x: ({{n, 4|3}}) {NUMBER}, b: ({{5|1|n|0}}) {NUMBER} | R.bucketize(x, b, out_int32={{True|False}}, right={{True|False}})
x: ({{n|3|}}) {FLOAT}, y: ({{m|2|}}) {FLOAT}, z: (2) {FLOAT} | R.meshgrid(({{x, y|x,|x, y, z}}), indexing="{{ij|xy}}")
x: (2, {{4|8|n}}, 3, {{2|m}}) {FLOAT} | R.nn.pixel_shuffle(x, {{1|2}})
q: (2, {{n|3}}, 4, 8) {FLOAT}, k: (2, {{m|5}}, 4, 8) {FLOAT}, v: (2, {{m|5}}, 4, 8) {FLOAT} | R.nn.attention(q, k, v, scale={{None|R.prim_value(0.5)|0.125}}, causal_mask={{None|"TopLeft"|"BottomRight"}}, window_size={{None|2}})
x: (3, n, 4) {NUMBER}, s: ({{3|n|4}}) {{int64|int32}} | R.reverse_sequence(x, s, seq_axis={{1|0|2|-1}}, batch_axis={{0|1|-1}})
x: ({{n|3}}, 4) {NUMBER}, y: ({{n|3|1}}, 4) {NUMBER} | R.{{concat|stack}}((x, {{y|x|y, x}}), axis={{0|1|-1|None}})
x: ({{n|6}}, {{4|5|m}}) {NUMBER} | R.split(x, {{2|3|[1, 3]|1|[0]|[5, 2]}}, axis={{0|1|-1}})
x: ({{n, 4|3|}}) {NUMBER}, y: ({{4|n, 1|1|}}) {NUMBER} | R.{{equal|greater|less_equal|not_equal|add|divide|floor_divide|floor_mod|mod|power|atan2|log_add_exp|left_shift|bitwise_xor|logical_xor|maximum|multiply}}(x, {{y|x|R.prim_value(2)|R.const(3, "float32")|R.prim_value(1.5)}})
x: ({{n, 4|3|}}) {NUMBER} | R.{{astype(x, "{NUMBER}")|clip(x, {{0|-1|0.5|300|R.prim_value(n)}}, {{1|6|255|1000|2.5}})|tril(x, {{0|1|-1|n}})|triu(x, {{0|2|-1}})|round(x)|sign(x)|trunc(x)|square(x)|nn.softmax(x, axis={{-1|0}})|nn.log_softmax(x)|nn.gelu_tanh(x)|nn.dropout(x, rate=0.5)|nn.leakyrelu(x, alpha=0.2)|nn.softplus(x, beta={{1.0|2.0}}, threshold={{20.0|1.0}})|nn.selu(x)|full_like(x, R.const(2, "int32"))|eye_like(x, {{0|1|-2}})}}
c: ({{n, 4|4|}}) {{bool|bool|bool|int8}}, x: ({{n, 4|1|}}) {NUMBER}, y: ({{4|n, 1}}) {NUMBER} | R.where(c, x, y)
"""


def chosen(text: str, random: Random) -> str:
    """The text with one of the choices between each pair of braces; those inside of others come first."""
    while "{" in text:
        head, _, rest = text.rpartition("{")
        choices, _, tail = rest.partition("}")
        text = head + random.choice(choices.split("|")) + tail
    return text


def odd_call(random: Random) -> str:
    """A program of one such call."""
    line = random.choice(CALLS.strip().splitlines())
    if random.random() < 0.92:  # most calls want one element type
        for kinds in (FLOAT, NUMBER):
            line = line.replace(kinds, chosen(kinds, random))
    params, _, call = line.partition(" | ")
    infos = []
    for param in _split(chosen(params, random)):
        name, _, rest = param.partition(": (")
        dims, _, kind = rest.partition(") ")
        comma = "," if dims else ""
        infos.append(f'{name}: R.Tensor(({dims}{comma}), "{kind}")')
    head = 'm = TypeVar("m")\nn = TypeVar("n")\n@I.ir_module\nclass Module:\n    @R.function\n'
    sizes = "sizes: R.Shape([n, m])"
    body = f"        r = {chosen(call, random)}\n        return r\n"
    return f"{head}    def main({sizes}, {', '.join(infos)}):\n{body}"


def _split(params: str) -> list[str]:
    """The parameters: each is a name, dimensions and an element type."""
    found: list[str] = []
    for part in params.split(", "):
        if ": (" in part:
            found.append(part)
        else:
            found[-1] += f", {part}"
    return found
