"""TVM as the peer of a campaign; all requests to it are made here."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from types import FrameType
from typing import Any

import numpy as np

PASSES = [
    "Normalize",
    "CanonicalizeBindings",
    "DeadCodeElimination",
    "ConvertToDataflow",
    "EliminateCommonSubexpr",
    "ExpandTupleArguments",
    "FoldConstant",
    "InlinePrivateFunctions",
    "LambdaLift",
    "RemoveUnusedOutputs",
    "RemoveUnusedParameters",
    "ReorderPermuteDimsAfterConcat",
    "ReorderTakeAfterMatmul",
    "CombineParallelMatmul",
    "AdjustMatmulOrder",
    "ExpandMatmulOfSum",
    "ComputePrimValue",
    "UpdateParamMutation",
    "TopologicalSort",
    "SplitCallTIRByPattern",
    "ToNonDataflow",
    "LegalizeOps",
    "RewriteDataflowReshape",
    "RemovePurityChecking",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
    "LiftTransformParams",
    "NormalizeGlobalVar",
    "BundleModelParams",
    "AnnotateTIROpPattern",
    "FuseOps",
    "FuseTIR",
    "SimplifyExpr",
    "FastMathTransform",
]
"""Passes of TVM that keep the meaning of a program, those that this version has and that need no
arguments; what others call comes first.

`DecomposeOpsForInference` and `DecomposeOpsForTraining` are none: they take `batch_norm` as it is
after or in training, whatever the call says.
"""

BEFORE: dict[str, Sequence[str]] = {
    "AnnotateTIROpPattern": ("LegalizeOps",),
    "FuseOps": ("LegalizeOps", "AnnotateTIROpPattern"),
    "FuseTIR": ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"),
    "RewriteDataflowReshape": ("LegalizeOps",),
    "CallTIRRewrite": ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking"),
    "StaticPlanBlockMemory": (
        "LegalizeOps",
        "ToNonDataflow",
        "RemovePurityChecking",
        "CallTIRRewrite",
    ),
    "RemovePurityChecking": ("ToNonDataflow",),
}
"""Passes that must run before a pass; failures that they cause are not attributed to it."""


def _same(*args: Any) -> Any:
    return args[0]


def _negate(x: Any) -> Any:
    np.negative(x, out=x)
    return x


def _copy(*args: Any) -> None:
    np.copyto(args[-1], args[0])


PACKED: dict[str, Callable[..., Any]] = {
    "test.same": _same,
    "test.first": _same,
    "test.copy": _copy,
    "test.negate_inplace": _negate,
}
"""The packed functions that programs call, over arrays: both sides get them."""


def over_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function over tensors of TVM; what it changes it changes in them."""

    def call(*args: Any) -> Any:
        if function is _same:
            return args[0]
        arrays = [a.numpy() if hasattr(a, "numpy") else a for a in args]
        function(*arrays)
        at = 0 if function is _negate else -1
        args[at].copyfrom(arrays[at])
        return args[at]

    return call


def version() -> str:
    """The version of TVM that is installed; `none` if none is, and rlx is examined alone."""
    try:
        return metadata.version("apache-tvm")
    except metadata.PackageNotFoundError:
        return "none"


class Peer:
    """TVM, imported where it is asked for."""

    def __init__(self) -> None:
        import tvm
        import tvm_ffi
        from tvm import relax

        self.tvm: Any = tvm
        self.ffi: Any = tvm_ffi
        self.relax: Any = relax
        for name, function in PACKED.items():
            tvm.register_global_func(name, over_tensors(function), override=True)

    def read(self, text: str) -> Any:
        """The module of a text; raises whatever TVM raises."""
        with _frames_without_text():
            return self.tvm.script.from_source(text, check_well_formed=False)

    def well_formed(self, module: Any) -> bool:
        """Whether TVM finds a module well-formed."""
        return not self.why_ill_formed(module)

    def why_ill_formed(self, module: Any) -> str:
        """TVM's reason why a module is ill-formed; empty if it is not."""
        try:
            self.relax.analysis.well_formed(module)
        except Exception as error:  # noqa: BLE001 - however it says so
            return str(error).strip() or type(error).__name__
        return ""

    def print(self, module: Any) -> str:
        """The module as TVM writes it."""
        return str(module.script(show_meta=True))

    def difference(self, one: Any, other: Any) -> str:
        """The path to the first difference of two modules in structure; empty if they are equal."""
        found = self.ffi.get_first_structural_mismatch(one, other, map_free_vars=True)
        return "" if found is None else str(found[0])

    def passes(self) -> list[tuple[str, Callable[[Any], Any]]]:
        """The passes that this version has."""
        found = []
        for name in PASSES:
            make = getattr(self.relax.transform, name, None)
            if make is None:
                continue
            try:
                found.append((name, make()))
            except TypeError:
                continue
        return found

    def compiled(self, module: Any, *, without: Sequence[str] = ()) -> Any:
        """The module's virtual machine on the processor. `without`: passes of the pipeline that are
        left out.
        """
        with self.tvm.transform.PassContext(disabled_pass=list(without)):
            # the default pipeline has no place for closures
            lifted = self.relax.transform.LambdaLift()(module)
            executable = self.relax.build(lifted, target="llvm")
        return self.relax.VirtualMachine(executable, self.tvm.cpu())


@contextmanager
def _frames_without_text() -> Iterator[None]:
    """Stacks without files and lines of text: TVM's parser asks for stacks, of which it needs the
    variables alone.

    To look for the text takes a third of its time.
    """
    stack, outer = inspect.stack, inspect.getouterframes
    inspect.stack = lambda context=0: _outer(sys._getframe(1))
    inspect.getouterframes = lambda frame, context=0: _outer(frame)
    try:
        yield
    finally:
        inspect.stack, inspect.getouterframes = stack, outer


def _outer(frame: FrameType | None) -> list[inspect.FrameInfo]:
    """A frame and those around it."""
    found = []
    while frame is not None:
        code = frame.f_code
        info = inspect.FrameInfo(frame, code.co_filename, frame.f_lineno, code.co_name, None, None)
        found.append(info)
        frame = frame.f_back
    return found
