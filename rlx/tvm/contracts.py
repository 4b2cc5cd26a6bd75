"""Passes of TVM that change on purpose what the functions of a module take or return, so that runs
before and after say nothing about them.
"""

from __future__ import annotations

_PARAMETERS = "it moves computations of parameters out of the function"
_PRECISION = "it computes with other numbers on purpose"
_MODE = "it gives operators the meaning that they have in inference, or in training"

NOT_COMPARED = {
    "LiftTransformParams": _PARAMETERS,
    "PartitionTransformParams": _PARAMETERS,
    "LazyTransformParams": _PARAMETERS,
    "LazyGetInput": _PARAMETERS,
    "LazySetOutput": _PARAMETERS,
    "BindParams": "it gives parameters their values",
    "BundleModelParams": "it bundles parameters in a tuple",
    "ToMixedPrecision": _PRECISION,
    "FastMathTransform": _PRECISION,
    "DecomposeOps": _MODE,
    "MutateOpsForTraining": _MODE,
}
"""By the name of a pass, why runs are not compared. Other passes that change the parameters of a
function are recognised by the parameters.
"""

CHANGED_ON_PURPOSE = {name: why for name, why in NOT_COMPARED.items() if why in (_PRECISION, _MODE)}
"""Those passes whose results mean something else by design."""
