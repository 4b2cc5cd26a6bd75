"""The values that onnxruntime computes for a model, node by node: `python -m rlx.tvm.onnx_values`, in a process of
its own, takes the model, a folder and the arguments as JSON on standard input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlx.comparison.exchange import read, written
from rlx.grammar.streams import complain_line, write_data
from rlx.semantics.values import Tensor, TupleValue, Value
from rlx.tvm.apart import answer
from rlx.tvm.importing import onnx_model
from rlx.tvm.onnx_names import identifiers
from rlx.writing import scratch

PATIENCE = 600.0
"""Seconds that a run may take."""


class OnnxError(ValueError):
    """onnxruntime is not installed, or fails; the message says how."""


def values_of(path: str, args: Sequence[Value]) -> Mapping[str, Sequence[Value]]:
    """The values that the nodes of a model compute, by the names that :func:`identifiers` gives.

    Parameters
    ----------
    args
        The inputs of the graph, in order.

    Raises
    ------
    OnnxError
        If it cannot be run.
    """
    with scratch() as folder:
        given = [written(each, folder, []) for each in args]
        task = json.dumps({"model": path, "folder": str(folder), "args": given})
        said = answer(
            "rlx.tvm.onnx_values",
            given=task,
            seconds=PATIENCE,
            fails=lambda why: OnnxError(f"{path}: {why}"),
        )
        return {name: [read(made, remove=True)] for name, made in json.loads(said).items()}


def main() -> int:
    """Run a model."""
    task = json.loads(sys.stdin.read())
    try:
        found = _run(task["model"], Path(task["folder"]), [read(made) for made in task["args"]])
    except ModuleNotFoundError as error:
        complain_line(f"a .onnx file needs the extra `onnx`, which has the package {error.name}")
        return 1
    except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises is the reason
        complain_line(f"onnxruntime: {' '.join(str(error).split())}")
        return 1
    write_data(json.dumps(found))
    return 0


def _run(path: str, folder: Path, args: Sequence[Value]) -> dict[str, Any]:
    import onnx
    import onnxruntime

    model = onnx_model(str(path))
    graph = model.graph
    names = identifiers(graph)
    constant = {each.name for each in graph.initializer}
    inputs = [each.name for each in graph.input if each.name not in constant]
    if len(inputs) != len(args):
        raise ValueError(f"expected {len(inputs)} inputs ({', '.join(inputs)}), found {len(args)}")
    shown = {each.name for each in graph.output}
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in shown)
    copy = folder / "model.onnx"
    onnx.save(model, copy, save_as_external_data=True, location="weights")
    del model, graph
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(copy), options, providers=["CPUExecutionProvider"])
    feed = {name: _fed(value) for name, value in zip(inputs, args, strict=True)}
    outputs = [each.name for each in session.get_outputs()]
    made = zip(outputs, session.run(outputs, feed), strict=True)
    return {
        names.get(name, name): written(Tensor(array), folder, [])
        for name, array in made
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf"
    }


def _fed(value: Value) -> Any:
    if isinstance(value, TupleValue):
        return [_fed(field) for field in value.fields]
    assert isinstance(value, Tensor)
    return value.data


if __name__ == "__main__":
    sys.exit(main())
