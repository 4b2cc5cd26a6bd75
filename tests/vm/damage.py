"""Damage to saved executables: ``python -m tests.vm.damage COUNT SEED`` loads that many damaged ones, and runs what loads."""

from __future__ import annotations

import random
import struct
import sys
import time
from hashlib import sha256

import numpy as np

from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.values import Scalar, Tensor, Value
from rlx.vm import Executable, LoadError, RunError, VirtualMachine
from rlx.vm.executable_parts import VMFunction
from rlx.vm.saving import from_bytes, to_bytes

HEAD = 8 + 4 + 32


def damaged(content: bytes, choose: random.Random) -> bytes:
    """A few bytes changed, dropped, doubled or exchanged behind the head, and the checksum made right again, mostly."""
    body = bytearray(content[HEAD:])
    for _ in range(choose.randint(1, 3)):
        at = choose.randrange(8, len(body))
        match choose.randrange(5):
            case 0:
                body[at] = choose.randrange(256)
            case 1:
                body[at] ^= 1 << choose.randrange(8)
            case 2:
                del body[at : at + choose.choice([1, 8])]
            case 3:
                body[at:at] = body[at : at + choose.choice([1, 8, 64])]
            case 4:
                body[at] = ord(choose.choice('0123456789-"[]{},:'))
    if choose.random() < 0.7:  # the description is as long as is said
        (length,) = struct.unpack_from("<Q", body)
        spare = len(body) - len(content[HEAD:])
        struct.pack_into("<Q", body, 0, max(0, length + spare))
    return content[:12] + sha256(body).digest() + bytes(body)


def _given(function: VMFunction) -> list[Value]:
    """Arguments that the functions take where they are not damaged."""
    known: dict[str, list[Value]] = {
        "main": [Tensor(np.arange(3, dtype=np.float32)), Scalar(True, BOOL)],
        "fib": [Scalar(6)],
    }
    return known.get(function.name) or [Scalar(1)] * min(function.num_inputs, 100)


def main(count: int, seed: int) -> int:
    """Load damaged files; what is neither refused nor runs to an end in order is a mistake of ours."""
    from .programs import PACKED, by_hand, compiled

    contents = [to_bytes(compiled()), to_bytes(by_hand())]
    begin = time.monotonic()
    loaded = slowest = 0.0
    for k in range(seed, seed + count):
        start = time.monotonic()
        content = damaged(contents[k % 2], random.Random(k))
        try:
            found = Executable.of(from_bytes(content))
            loaded += 1
            machine = VirtualMachine(
                found, PACKED, backend="steps", output=lambda _: None, fuel=1000
            )
            for function in found.functions:
                machine.invoke(function.name, _given(function))
        except (LoadError, RunError):
            pass
        slowest = max(slowest, time.monotonic() - start)
    seconds = time.monotonic() - begin
    print(
        f"{count} damaged files from seed {seed}: {loaded:.0f} load, the rest is refused; "
        f"slowest {slowest:.2f} s, {seconds:.0f} s in all"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
