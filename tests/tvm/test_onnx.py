"""ONNX models: bindings have the names of what nodes compute, and onnxruntime's values are compared node by node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tvm")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper, numpy_helper

from rlx.commands.compare import main
from rlx.tvm.onnx_names import identifiers


def graph(activation: str, **attributes: Any) -> Any:
    """A convolution, an activation, and two halves that are added, with such names as exporters write."""
    random = np.random.default_rng(0)
    weight = numpy_helper.from_array(
        random.standard_normal((4, 3, 3, 3)).astype(np.float32), "conv.weight"
    )
    nodes = [
        helper.make_node("Conv", ["input.1", "conv.weight"], ["/conv/Conv_output_0"]),
        helper.make_node(activation, ["/conv/Conv_output_0"], ["/act/0"], **attributes),
        helper.make_node("Split", ["/act/0"], ["7", "x-y"], axis=1, num_outputs=2),
        helper.make_node("Add", ["7", "x-y"], ["out"]),
    ]
    given = helper.make_tensor_value_info("input.1", onnx.TensorProto.FLOAT, [1, 3, 6, 6])
    made = helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, [1, 2, 4, 4])
    return helper.make_graph(nodes, "g", [given], [made], [weight])


def test_values_have_names_that_bindings_can_have() -> None:
    assert identifiers(graph("Relu")) == {
        "/conv/Conv_output_0": "conv_Conv_output_0",
        "/act/0": "act_0",
        "7": "v_7",
        "x-y": "x_y",
        "out": "out",
    }
    nodes = [helper.make_node("Relu", ["x"], [name]) for name in ("a.b", "a_b", "x", "lambda", "")]
    assert [*identifiers(helper.make_graph(nodes, "g", [], [])).values()] == [
        *("a_b", "a_b_1", "x", "lambda_1"),
    ]


def test_the_first_node_that_differs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opset = [helper.make_opsetid("", 18)]
    for name, activation in (
        ("ours", graph("Relu")),
        ("theirs", graph("LeakyRelu", alpha=0.25)),
    ):
        model = helper.make_model(activation, opset_imports=opset, ir_version=9)
        onnx.save(model, tmp_path / f"{name}.onnx")
    words = [str(tmp_path / "ours.onnx"), str(tmp_path / "theirs.onnx"), "--format", "json"]
    assert main(words) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["sides"] == ["the rules", "onnxruntime"]
    assert found["compared"] == 2  # the convolution is right
    wrong = found["difference"]
    assert wrong["name"] == "act_0" and [*wrong["inputs"]] == ["conv_Conv_output_0"]
    assert wrong["found"] < wrong["expected"] == 0


def test_why_a_model_is_not_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TVM logs warnings behind its error."""
    tensor = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4])
    power = helper.make_node("Pow", ["x", "e"], ["y"])
    made = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])
    three = numpy_helper.from_array(np.array(3, np.int64), "e")
    opset = [helper.make_opsetid("", 18)]
    model = helper.make_model(
        helper.make_graph([power], "g", [tensor], [made], [three]),
        opset_imports=opset,
        ir_version=9,
    )
    onnx.save(model, tmp_path / "power.onnx")
    assert main([str(tmp_path / "power.onnx")]) == 2
    said = capsys.readouterr().err
    assert "power.onnx: TypeError" in said and "R.power(x, R.const(3" in said
