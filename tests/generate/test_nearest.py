"""LAW: a label names the value whose label is the next at or above it; behind the greatest comes the least."""

from __future__ import annotations

import random

from rlx.generate.programs.values import KnownValue, nearest
from rlx.grammar.nodes import ast


def test_labels_go_round() -> None:
    info = ast.ObjectStructInfo()
    for seed in range(200):
        pick = random.Random(seed)
        labels = [0, 255, *pick.sample(range(1, 255), 4)]
        values = [KnownValue(label, ast.Tuple(()), info, info) for label in labels]
        label = pick.choice([*labels, pick.randrange(256)])
        found = [value.label for value in nearest(values, label)]
        assert found == sorted(x for x in labels if x >= label) + sorted(
            x for x in labels if x < label
        )
