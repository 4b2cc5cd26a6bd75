"""Pick the inputs that show most of the code: `python -m tests.mutants.pick MODULE COUNT [SEED]`.

The module, of tests that keep digests, has `pool(random)`, which makes an input (a text), and `answers(text)`, what is
said of it. Of COUNT inputs those are picked that show a way which a condition, an index or a loop can go and which those
before them do not (`conditions`), the shortest for it first. They are written beside the module, as `picked.txt`.
"""

from __future__ import annotations

import builtins
import importlib
import json
import sys
import time
import traceback
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from pathlib import Path
from random import Random

from . import hook
from .conditions import Seen, watched

SECONDS = 1.0
"""An input that takes longer is not kept: the tests ask all of them."""

LONGEST = 6_000
"""Characters of an input that is kept."""


def chosen(made: dict[str, set[int]]) -> Iterator[str]:
    """Inputs of which each shows what those before it do not, as much as can be for its length."""
    seen = set[int]()
    heap = [(-len(found) / (len(text) + 200), text) for text, found in made.items()]
    heapify(heap)
    while heap:
        _, text = heappop(heap)
        new = len(made[text] - seen)
        gain = -new / (len(text) + 200)
        if heap and gain > heap[0][0]:
            if new:
                heappush(heap, (gain, text))
        elif new:
            seen |= made[text]
            yield text


def main() -> int:
    """Make, ask, pick, write."""
    name, count, *rest = sys.argv[1:]
    seed = int(rest[0]) if rest else 0
    seen = Seen()
    for function, told in seen.functions().items():
        setattr(builtins, function, told)
    hook.install(watched)
    module = importlib.import_module(name)
    numbers: dict[tuple[str, object], int] = {}
    made: dict[str, set[int]] = {}
    for at in range(int(count)):
        text = module.pool(Random(f"{seed}/{at}"))
        if not text or len(text) > LONGEST or text in made:
            continue
        seen.taken()
        started = time.process_time()
        try:
            module.answers(text)
        except Exception:  # noqa: BLE001 - a mistake of ours, to be shown
            print(f"{text}\n{traceback.format_exc(limit=-3)}", flush=True)
            continue
        if time.process_time() - started < SECONDS:
            made[text] = {numbers.setdefault(each, len(numbers)) for each in seen.taken()}
        if at % 100 == 99:
            print(f"{at + 1} of {count}: {len(numbers)} ways", flush=True)
    kept = [*chosen(made)]
    path = Path(module.__file__ or "").with_name("picked.txt")
    path.write_text("".join(f"{json.dumps(text, ensure_ascii=False)}\n" for text in kept), "utf-8")
    print(f"{len(kept)} inputs of {len(made)} show {len(numbers)} ways: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
