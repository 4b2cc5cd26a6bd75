"""Known values of operators' string options, and suggestions for misspelt ones."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.suggest import closest, did_you_mean
from rlx.operators.site import Site
from rlx.spec.registry import rule

WORDS: Mapping[str, tuple[str, ...]] = {
    "method": ("nearest_neighbor", "linear", "cubic", "nearest", "bilinear", "bicubic"),
    "coordinate_transformation_mode": ("half_pixel", "align_corners", "asymmetric"),
    "rounding_method": ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"),
    "padding_mode": ("zeros", "border", "reflection"),
    "pad_mode": ("constant", "reflect", "replicate", "circular"),
    "reduction": ("mean", "sum", "none", "update", "add", "mul", "min", "max"),
    "mode": ("clip", "wrap", "fast", "nan"),
    "indexing": ("ij", "xy"),
    "causal_mask": ("TopLeft", "BottomRight"),
}
"""The words that some operator accepts, by the name of the option."""


@rule("OBL-word", "obligation")
def is_meant(site: Site, text: str, option: str, index: int) -> None:
    """Check that the value of a string option is not a misspelling of a known word."""
    known = WORDS.get(option, ())
    near = () if text in known else closest(text, known)
    if near:
        words = f"{site.name}: {text!r} is not a known value of {option}"
        site.ctx.report("OBL-word-known", "warning", words, index, help=did_you_mean(near))
