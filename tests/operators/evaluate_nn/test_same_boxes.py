"""What is chosen of random boxes stays what it is: on a grid, where overlaps and scores often stand just at a limit.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/operators/evaluate_nn/test_same_boxes.py` writes the digests anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.operators.evaluation import OperatorFault
from tests.operators.evaluate.test_values import run
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "boxes.txt"
CALLS = 150


def corners(pick: random.Random, count: int) -> list[list[float]]:
    """Boxes of few sizes, some of them empty or turned round."""
    return [
        [
            a := pick.randrange(3),
            b := pick.randrange(3),
            a + pick.randrange(-1, 4),
            b + pick.choice([0, 1, 2, 2]),
        ]
        for _ in range(count)
    ]


def rows(pick: random.Random, count: int) -> Any:
    """Rows of class, score and corners, in one of two orders."""
    made = [
        [pick.randrange(-1, 2), pick.choice([0.0, 0.25, 0.5, 0.5, 0.75, -0.5]), *box]
        for box in corners(pick, count)
    ]
    return np.array(made, np.float32).reshape(count, 6)


def suppression(pick: random.Random) -> Any:
    count, batches = pick.randrange(6), pick.randrange(1, 3)
    data = np.stack([rows(pick, count) for _ in range(batches)])
    at_front = pick.random() < 0.5
    if at_front:
        data = np.roll(data, 4, axis=2)
    valid = np.array([pick.randrange(-1, count + 1) for _ in range(batches)], np.int32)
    indices = np.array([pick.sample(range(9), count) for _ in range(batches)], np.int32)
    return run(
        "vision.non_max_suppression",
        data,
        valid,
        indices.reshape(batches, count),
        max_output_size=pick.choice([-1, 0, 1, 2]),
        iou_threshold=pick.choice([0.5, 0.25, 1 / 3, 0.0, 1.0]),
        force_suppress=pick.random() < 0.3,
        top_k=pick.choice([-1, -1, 0, 1, 2, 3]),
        coord_start=0 if at_front else 2,
        score_index=5 if at_front else 1,
        id_index=pick.choice([4 if at_front else 0, -1]),
        return_indices=pick.random() < 0.5,
        invalid_to_bottom=pick.random() < 0.5,
        soft_nms_sigma=pick.choice([0.0, 0.0, 0.5, 2.0]),
        score_threshold=pick.choice([0.0, 0.25, 0.5]),
    )


def of_all_classes(pick: random.Random) -> Any:
    count = pick.randrange(5)
    boxes = np.array([corners(pick, count) for _ in range(2)], np.float32).reshape(2, count, 4)
    scores = [[[pick.randrange(4) / 4 for _ in range(count)] for _ in range(2)] for _ in range(2)]
    return run(
        "vision.all_class_non_max_suppression",
        boxes,
        np.array(scores, np.float32).reshape(2, 2, count),
        np.array(pick.choice([-1, 0, 1, 2, 9])),
        np.array(pick.choice([0.0, 0.25, 0.5, 1.0]), np.float32),
        np.array(pick.choice([0.0, 0.25, 0.5]), np.float32),
        output_format=pick.choice(["onnx", "tensorflow"]),
    )


def counts(pick: random.Random) -> Any:
    return run(
        "vision.get_valid_counts",
        np.stack([rows(pick, 4), rows(pick, 4)]),
        score_threshold=pick.choice([0.0, 0.25, 0.5]),
        id_index=pick.choice([-1, 0]),
        score_index=pick.choice([1, 1, 2]),
    )


def moved(pick: random.Random) -> Any:
    count = pick.randrange(4)
    draw = np.random.default_rng(pick.randrange(10**6))
    return run(
        "vision.multibox_transform_loc",
        draw.integers(-2, 3, (2, 3, count)).astype(np.float32),
        draw.integers(-2, 3, (2, 4 * count)).astype(np.float32),
        np.array(corners(pick, count), np.float32).reshape(1, count, 4) / 4,
        clip=pick.random() < 0.5,
        threshold=pick.choice([0.0, 0.25, 1 / 3]),
        variances=pick.choice([(1.0, 1.0, 1.0, 1.0), (0.5, 0.25, 0.125, 1.0)]),
        keep_background=pick.random() < 0.5,
        apply_softmax=pick.random() < 0.5,
    )


def shown(value: Any) -> str:
    """Arrays with four digits behind the point: the last bits differ between processors."""
    if isinstance(value, tuple | list):
        return " ".join(map(shown, value))
    array = np.asarray(value)
    return f"{array.dtype}{(np.round(array.astype(np.float64), 4) + 0.0).tolist()}"


@pytest.mark.parametrize("make", [suppression, of_all_classes, counts, moved])
def test_what_is_chosen_is_what_was_chosen(make: Callable[[random.Random], Any]) -> None:
    lines = []
    for seed in range(CALLS):
        try:
            lines.append(shown(make(random.Random(seed))))
        except OperatorFault as fault:
            lines.append(fault.code)
    assert_digest(SNAPSHOT, make.__name__, "\n".join(lines))
