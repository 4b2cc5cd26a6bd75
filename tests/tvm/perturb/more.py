"""Legal calls of operators that ``tests.operators.cases`` does not call."""

from __future__ import annotations

from .calls import Group, OneCall, OtherArg, TensorArg, Text

X = TensorArg(("n", "4"), "float32")
OUT = ("out_ty", Text('R.Tensor((n, 4), "float32")'))
ARGS = ("ty_args", Text('(R.Tensor((n, 4), "float32"),)'))

MORE: dict[str, list[OneCall]] = {
    "layout_transform": [
        OneCall(
            "layout_transform",
            (TensorArg(("10", "20"), "float32"),),
            (("index_map", Text("lambda i, j: (j, i)")),),
        ),
        OneCall(
            "layout_transform",
            (TensorArg(("n", "32"), "float32"),),
            (("index_map", Text("lambda i, j: (i, j // 4, j % 4)")),),
        ),
        OneCall(
            "layout_transform",
            (TensorArg(("10",), "float32"),),
            (("index_map", Text("lambda i: (i // 4, i % 4)")), ("pad_value", Text("0.0"))),
        ),
    ],
    "hint_on_device": [OneCall("hint_on_device", (X, Text('R.device("cpu", 0)')))],
    "call_dps_packed": [OneCall("call_dps_packed", (Text('"f"'), Group((X,))), (OUT,))],
    "call_pure_packed": [OneCall("call_pure_packed", (Text('"f"'), X), (ARGS,))],
    "call_inplace_packed": [
        OneCall("call_inplace_packed", (Text('"f"'), X), (("inplace_indices", Text("[0]")), ARGS))
    ],
    "call_builtin_with_ctx": [
        OneCall("call_builtin_with_ctx", (Text('"f"'), Group((X,))), (ARGS,))
    ],
    "call_py_func": [OneCall("call_py_func", (Text('"f"'), Group((X,))), (OUT,))],
    "invoke_closure": [OneCall("invoke_closure", (OtherArg("R.Any"), Group((X,))), (ARGS,))],
    "invoke_pure_closure": [
        OneCall("invoke_pure_closure", (OtherArg("R.Any"), Group((X,))), (ARGS,))
    ],
}
