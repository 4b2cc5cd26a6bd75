"""Inference rules in the signs of the literature."""

from __future__ import annotations

import pytest

from rlx.spec import rules
from rlx.spec.typeset import formula, typeset


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("G; S |- e1 : I'", "&Gamma;; &Sigma; ⊢ <i>e<sub>1</sub></i> : <i>I&prime;</i>"),
        ("vk+1, ..., vm ok", "<i>v<sub>k+1</sub></i>, …, <i>v<sub>m</sub></i> ok"),
        ("<X, F, H> -> Y", "&#10216;<i>X</i>, <i>F</i>, <i>H</i>&#10217; → <i>Y</i>"),
        ("0 < i <= k => a", "0 &lt; <i>i</i> ≤ <i>k</i> ⇒ a"),
        ("S |- I <: J[s]", "&Sigma; ⊢ <i>I</i> &lt;: <i>J</i>[&sigma;]"),
    ],
)
def test_signs_of_the_literature(written: str, shown: str) -> None:
    assert formula(written) == shown


def test_no_sign_of_the_source_is_left_in_a_rule() -> None:
    for name, rule in rules().items():
        assert rule.block is not None
        shown = typeset(rule.block.conclusion) + "".join(typeset(t) for _, t in rule.block.premises)
        assert "|-" not in shown and "~>" not in shown, name
