"""A worker that speaks the protocol of campaigns, and dies or hangs over certain seeds."""

import json
import os
import signal
import sys
import time

DIES, HANGS, FINDS = 3, 5, 7
BREAKS, AFTER = 10, 2
"""Over the third program after that one the process dies, whatever that is."""

broken = 0
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    seed = json.loads(line)["seed"]
    print(json.dumps({"text": f"program {seed}"}), flush=True)
    print(json.dumps({"stage": "SomePass"}), flush=True)
    if seed == DIES:
        os.kill(os.getpid(), signal.SIGSEGV)
    broken += seed == BREAKS or broken > 0
    if broken > AFTER:
        os.kill(os.getpid(), signal.SIGABRT)
    if seed == HANGS:
        time.sleep(60)
    found = [
        {
            "kind": "wrong-type",
            "oracle": "derive",
            "stage": "SomePass",
            "cause": "rank",
            "sentence": "ranks differ",
            "rule": "D01-rank",
            "text": f"program {seed}",
            "seed": seed,
            "trait": "",
        }
    ]
    findings = found if seed % FINDS == 0 else []
    answer = {"done": seed, "findings": findings, "operators": ["relax.abs"], "rules": ["D01"]}
    print(json.dumps(answer), flush=True)
