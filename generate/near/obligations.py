"""Calls that break one obligation of an operator: patterns by the premise that fails.

A line names the operator and what its arguments look like; there are as many lines as there are
ways to break the premise that differ in more than the operator.
"""

from __future__ import annotations

BROKEN: dict[str, str] = {
    "OBL-element-float": (
        "nn.softmax: int32(a, 4), axis=-1\nnn.layer_norm: int64(a, b), int64(b), int64(b),"
        " axes=[-1]"
    ),
    "OBL-element-integer": "take: f(a, b), float32(c), axis=0\nnn.nll_loss: f(a, b), float32(a)",
    "OBL-element-signed": "gather_elements: f(a, 4), uint8(a, 2), axis=1",
    "OBL-element-type": (
        "gather_nd: f(a, 4), int32(b, 2)\nquantize: float32(a, 4), float32(), int8(),"
        " out_dtype='int32'"
    ),
    "OBL-element-bool": "where: float32(a, b), f(a, b), f(a, b)",
    "OBL-agree-dtype": (
        "add: float32(a, b), float16(a, b)\nmatmul: float32(a, b), float16(b, c)\nconcat: [f(a, 3),"
        " int32(a, 4)], axis=1"
    ),
    "OBL-rank-operand": "matmul: f(), f(a)\nouter: f(a, b), f(c)",
    "OBL-axis-range": (
        "sum: f(a, b), axis=[2]\nconcat: [f(a, b), f(a, b)], axis=2\nnn.softmax: f(a, b),"
        " axis=-3\nsort: f(a), axis=1"
    ),
    "OBL-axis-repeated": (
        "sum: f(a, b), axis=[0, -2]\nexpand_dims: f(a), axis=[0, 0]\nsqueeze: f(1, 1, a),"
        " axis=[0, -3]"
    ),
    "OBL-broadcast-dims": (
        "add: f(a, 3), f(a, 4)\nwhere: bool(3, a), f(2, a), f()\ngreater: t(5), t(a, 2)"
    ),
    "OBL-fused-dims": "ewise_fma: f(a, 3), f(a, 3), f(a, 4)",
    "OBL-reshape-count": "reshape: f(a, 4), shape(a, 5)\nreshape: f(2, 3), shape(7)",
    "OBL-reshape-infer": "reshape: f(a, 4), shape(-1, -1)",
    "OBL-reshape-divides": "reshape: f(7), shape(3, -1)\nreshape: f(2, 5), shape(-1, 4)",
    "OBL-map-rank": (
        "layout_transform: f(a, b), index_map=index_map('lambda i: (i,)'),"
        " pad_value=None\nlayout_transform: f(a), index_map=index_map('lambda i, j: (j, i)'),"
        " pad_value=None"
    ),
    "OBL-map-start": (
        "layout_transform: f(a, b), index_map=index_map('lambda i, j: (i, j + 1)'), pad_value=None"
    ),
    "OBL-sequences-lengths": "reverse_sequence: f(3, a), int64(4), seq_axis=1, batch_axis=0",
    "OBL-permute-axes": "permute_dims: f(a, b), axes=[0]\npermute_dims: f(a, b), axes=[0, 1, 2]",
    "OBL-concat-dims": "concat: [f(a, 3), f(a, 4)], axis=0\nstack: [f(a, 3), f(a, 4)]",
    "OBL-split-sections": "split: f(a, 3), indices_or_sections=0, axis=1",
    "OBL-split-indices": (
        "split: f(10), indices_or_sections=[5, 3], axis=0\nsplit: f(10), indices_or_sections=[-2,"
        " 3], axis=0"
    ),
    "OBL-split-limit": "split: f(a, 4), indices_or_sections=65537, axis=1",
    "OBL-expand-rank": "broadcast_to: f(a, 3), shape(3)",
    "OBL-expand-dims": "broadcast_to: f(3), shape(a, 4)\ncollapse_sum_to: f(a, 4), shape(3)",
    "OBL-repeat-count": "tile: f(a), repeats=[-1]\nrepeat: f(a, b), repeats=-2, axis=0",
    "OBL-shuffle-factor": "nn.pixel_shuffle: f(a, 4, 2, 2), upscale_factor=0",
    "OBL-shuffle-channels": "nn.pixel_shuffle: f(a, 6, 2, 2), upscale_factor=2",
    "OBL-slices-length": "strided_slice: f(a, 8), axes=[1], begin=[0, 1], end=[4]",
    "OBL-listed-axis": "dynamic_strided_slice: f(a, b), int64(3), int64(2), int64(2)",
    "OBL-slice-stride": "strided_slice: f(a, 8), axes=[1], begin=[0], end=[4], strides=[0]",
    "OBL-slice-order": (
        "strided_slice: f(a, 8), axes=[1], begin=[5], end=[2], strides=[1], assume_inbound=True"
    ),
    "OBL-slice-bounds": (
        "strided_slice: f(a, 8), axes=[1], begin=[2], end=[12], strides=[1], assume_inbound=True"
    ),
    "OBL-replace-dims": "slice_scatter: f(a, 8), f(a, 3), prim(1), prim(3), prim(1), axis=1",
    "OBL-ascending-step": "slice_scatter: f(a, 8), f(a, 2), prim(1), prim(3), prim(0), axis=1",
    "OBL-ascending-order": "slice_scatter: f(a, 8), f(a, 2), prim(5), prim(3), prim(1), axis=1",
    "OBL-lengths-negative": "zeros: shape(-3, a), dtype='float32'\nones: shape(-1), dtype='int64'",
    "OBL-arange-step": "arange: prim(0), prim(5), prim(0), dtype='int64'",
    "OBL-arange-length": "arange: prim(9), prim(2), prim(1), dtype='int64'",
    "OBL-weights-size": (
        "hamming_window: prim(0), prim(True), prim(0.5), prim(0.4), dtype='float32'"
    ),
    "OBL-bounds-index": "take: f(a, 3), const(5, 'int64'), axis=1",
    "OBL-gather-dims": "gather_elements: f(3, 4), int64(5, 4), axis=1",
    "OBL-tuples-depth": "gather_nd: f(a, b), int64(c, 3)\nscatter_nd: f(a, 4), int64(c, 3), f(c)",
    "OBL-batches-count": "gather_nd: f(a, 4), int64(b, 2), batch_dims=2",
    "OBL-every-axis": "index_put: f(a, b), [int64(c)], f(c)",
    "OBL-scatter-updates": (
        "scatter_elements: f(8, 4), int64(3, 4), f(2, 4), axis=0\nscatter_nd: f(a, 4), int64(5, 1),"
        " f(3, 4)"
    ),
    "OBL-depth-positive": "one_hot: i(a), prim(1), prim(0), depth=0",
    "OBL-topk-count": "topk: f(a, 3), k=5, axis=-1",
    "OBL-choice-word": (
        "topk: f(a, 4), k=2, ret_type='value'\nccl.allreduce: f(a), op_type='summe'\nnn.nll_loss:"
        " f(a, 4), i(a), reduction='max'"
    ),
    "OBL-draws-column": (
        "multinomial_from_uniform: float32(a, b), float32(c, 2), int64(c, 1), dtype='int64'"
    ),
    "OBL-draws-count": (
        "multinomial_from_uniform: float32(a, b), float32(5, 1), int64(6, 1), dtype='int64'"
    ),
    "OBL-matmul-reduction": "matmul: f(a, 3), f(4, b)\nmatmul: f(3), f(4)",
    "OBL-einsum-terms": "einsum: [f(a, b), f(b, c)], subscripts='ij->i'",
    "OBL-einsum-rank": "einsum: [f(a, b)], subscripts='ijk->i'",
    "OBL-einsum-dims": "einsum: [f(a, 3), f(4, b)], subscripts='ij,jk->ik'",
    "OBL-layout-axes": (
        "nn.conv2d: f(a, 3, 8, 8), f(4, 3, 3, 3), data_layout='NCWW'\nnn.max_pool2d: f(a, 3, 8, 8),"
        " layout='NCH'"
    ),
    "OBL-layout-rank": "nn.conv2d: f(a, 1, 8, 8, 3), f(4, 3, 3, 3)\nnn.max_pool2d: f(a, 3, 8)",
    "OBL-window-length": "nn.conv2d: f(a, 3, 8, 8), f(4, 3, 3, 3), strides=[1, 1, 1]",
    "OBL-window-positive": (
        "nn.conv2d: f(a, 3, 8, 8), f(4, 3, 3, 3), strides=[0, 1]\nnn.max_pool2d: f(a, 3, 8, 8),"
        " pool_size=[0, 1]"
    ),
    "OBL-padding-length": "nn.conv2d: f(a, 3, 8, 8), f(4, 3, 3, 3), padding=[1, 2, 3]",
    "OBL-output-size": (
        "nn.conv2d: f(a, 3, 2, 2), f(4, 3, 5, 5)\nnn.max_pool2d: f(a, 3, 2, 2), pool_size=[6, 6]"
    ),
    "OBL-channels-input": "nn.conv2d: f(a, 3, 8, 8), f(4, 5, 3, 3)",
    "OBL-groups-positive": "nn.conv2d: f(a, 3, 8, 8), f(4, 3, 3, 3), groups=0",
    "OBL-groups-divide": "nn.conv2d: f(a, 4, 8, 8), f(3, 2, 3, 3), groups=2",
    "OBL-grown-padding": (
        "nn.conv2d_transpose: f(a, 3, 8, 8), f(3, 4, 3, 3), strides=[2, 2], output_padding=[2, 0]"
    ),
    "OBL-pad-length": "nn.pad: f(a, b), pad_width=[1, 1]",
    "OBL-pad-negative": "nn.pad: f(a, 4), pad_width=[1, 1, 0, -5]",
    "OBL-scale-length": (
        "nn.layer_norm: f(a, 3), f(4), f(3), axes=[-1]\nnn.batch_norm: f(a, 3), f(4), f(3), f(3),"
        " f(3), axis=1"
    ),
    "OBL-group-positive": (
        "nn.group_norm: f(a, 4, b), f(4), f(4), num_groups=0, channel_axis=1, axes=[2]"
    ),
    "OBL-group-divides": (
        "nn.group_norm: f(a, 4, b), f(4), f(4), num_groups=3, channel_axis=1, axes=[2]"
    ),
    "OBL-attention-batch": "nn.attention: f(2, b, 8, 16), f(3, c, 8, 16), f(3, c, 8, 16)",
    "OBL-attention-length": "nn.attention: f(a, b, 8, 16), f(a, 4, 8, 16), f(a, 5, 8, 16)",
    "OBL-attention-heads": "nn.attention: f(a, b, 8, 16), f(a, c, 4, 16), f(a, c, 2, 16)",
    "OBL-attention-width": "nn.attention: f(a, b, 8, 16), f(a, c, 8, 8), f(a, c, 8, 16)",
    "OBL-attention-groups": "nn.attention: f(a, b, 8, 16), f(a, c, 3, 16), f(a, c, 3, 16)",
    "OBL-bias-dims": (
        "nn.attention_bias: f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 16), f(a, 3, b, c)"
    ),
    "OBL-loss-rank": "nn.nll_loss: f(a, 4, b), i(a)",
    "OBL-loss-dims": "nn.nll_loss: f(3, b), i(4)\nnn.cross_entropy_with_logits: f(a, 3), f(a, 4)",
    "OBL-quantize-length": (
        "quantize: float32(a, 4), float32(3), int8(4), axis=-1, out_dtype='int8'"
    ),
    "OBL-word-known": "image.resize2d: f(a, 3, 8, 8), shape(4, 4), layout='NCHW', method='liner'",
    "OBL-size-length": "image.resize2d: f(a, 3, 8, 8), shape(4, 4, 4), layout='NCHW'",
    "OBL-grid-batch": "image.grid_sample: f(2, 3, 8, 8), f(3, 2, 5, 5)",
    "OBL-grid-coordinates": "image.grid_sample: f(a, 3, 8, 8), f(a, 3, 5, 5)",
    "OBL-affine-matrix": "image.affine_grid: f(a, 2, 4), shape(5, 5)",
    "OBL-gradient-rank": (
        "grad.max_pool2d_backward: f(a, 3, 4), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)"
    ),
    "OBL-gradient-dims": (
        "grad.max_pool2d_backward: f(a, 3, 9, 9), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2,"
        " 2)\ngrad.take_backward: f(5), f(9), i(6)"
    ),
    "OBL-fields-index": (
        "vision.non_max_suppression: f(a, b, 5), int32(a), int32(a, b)\nvision.non_max_suppression:"
        " f(a, b, 6), int32(a), int32(a, b), score_index=6"
    ),
    "OBL-boxes-counts": "vision.non_max_suppression: f(3, b, 6), int32(4), int32(3, b)",
    "OBL-boxes-indices": "vision.non_max_suppression: f(a, 3, 6), int32(a), int32(a, 4)",
    "OBL-scored-boxes": (
        "vision.all_class_non_max_suppression: f(2, a, 4), f(3, b, a), const(5, 'int64'),"
        " const(0.5, 'float32'), const(0.1, 'float32')"
    ),
    "OBL-anchors-edges": "vision.multibox_transform_loc: f(a, 3, b), f(a, b * 4), f(2, b, 4)",
    "OBL-anchors-count": "vision.multibox_transform_loc: f(a, 3, 5), f(a, 20), f(1, 6, 4)",
    "OBL-anchors-offsets": "vision.multibox_transform_loc: f(a, 3, 5), f(a, 19), f(1, 5, 4)",
    "OBL-rois-row": (
        "vision.roi_align: f(a, 3, 8, 8), f(c, 4), pooled_size=[7, 7],"
        " spatial_scale=1.0\nvision.roi_pool: f(a, 3, 8, 8), f(c, 6), pooled_size=[7, 7],"
        " spatial_scale=1.0"
    ),
    "OBL-workers-positive": "ccl.scatter_from_worker0: f(4, a), num_workers=0",
    "OBL-workers-divide": "ccl.scatter_from_worker0: f(5, a), num_workers=2",
    "OBL-view-size": "memory.view: float32(4), shape(9)",
    "D14-arity": "add: f(a, b)\nnn.relu: f(a), f(a), f(a)",
    "D14-argument": "nn.relu: shape(a, b)\nadd: f(a), string('x')\nreshape: f(a, b), f(a)",
}
