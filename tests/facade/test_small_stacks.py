"""Deep programs in threads with a small stack: an answer or an exception, and the process lives."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys, threading
import rlx

text = '''@R.function
def main(x: R.Tensor((2,), "float32")):
    v0 = x
''' + "".join(f"    v{i + 1} = (v{i}, x)\\n" for i in range(5000)) + "    return v5000\\n"
nested = "(" * 400 + "x" + ", x)" * 400
tuples = f'''@R.function
def main(x: R.Tensor((2,), "float32")):
    y = {nested}
    return y
'''
goal = "(" * 800 + "n" + " % 7 + 1)" * 800 + " >= 0"

def work():
    print(rlx.check(text).ok, rlx.check(tuples).ok)
    print(rlx.prove(goal).status)
    print(rlx.run(text).ok, rlx.run(tuples).ok)
    print(len(rlx.fmt(text)) > 5000, len(rlx.fmt(tuples)) > 800)
    print(rlx.why(tuples, 3) is not None)

threading.stack_size(131072)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("alive", sys.getrecursionlimit())
"""


def test_deep_programs_in_a_thread_with_a_small_stack() -> None:
    """musl gives threads 128 KiB."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = ["True True", "proved", "True True", "True True", "True", "alive 1000"]
    assert done.stdout.splitlines() == expected, done.stderr


def test_what_a_function_raises_in_the_other_thread_arrives_here() -> None:
    script = (
        "import rlx, threading\n"
        "def work():\n"
        "    try:\n"
        "        rlx.run('@R.function\\ndef main(x: R.Object):\\n    return y\\n')\n"
        "    except rlx.IllFormedError as error:\n"
        "        print(type(error).__name__)\n"
        "threading.stack_size(131072)\n"
        "threading.Thread(target=work).start()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "IllFormedError\n"
